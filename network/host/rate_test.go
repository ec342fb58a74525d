// SPDX-License-Identifier: Apache-2.0

package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// paced is a host with a line of 2 bytes a cycle that holds for 100 cycles and updates every 200.
func paced(t *testing.T) *Host {
	t.Helper()
	cfg := newHost(t, 100).Config()
	cfg.Timeout = 1 << 40
	cfg.Rate = &RateControl{Line: 2, Least: 0.25, Increase: 0.5, Hold: 100, Update: 200, Gain: 0.5, FastSteps: 2}
	h, err := New(cfg)
	require.NoError(t, err)
	return h
}

// cnp gives the host a CNP.
func cnp(t *testing.T, h *Host, now uint64) {
	t.Helper()
	require.True(t, h.Receive(now, peer(roce.CNP, 0)))
}

// TestRateCut: requests are spaced by what they take at the rate, answers are not; CNPs within the hold cut once; the rate has a floor.
func TestRateCut(t *testing.T) {
	h := paced(t)
	post(h, 20)
	first := h.Next(0)
	require.NotNil(t, first)
	require.True(t, h.Ready(), "at the line's rate nothing is spaced but by the link")
	cnp(t, h, 10)
	assert.Equal(t, 1.0, h.rate)
	cnp(t, h, 50)
	assert.Equal(t, 1.0, h.rate, "held")
	assert.Equal(t, 2, h.Stats.CNPs)
	assert.Equal(t, 1, h.Stats.RateCuts)

	n := uint64(len(h.Next(60)) + WireOverhead)
	require.False(t, h.Ready())
	require.Equal(t, 60+n, h.Deadline())
	require.True(t, h.Receive(61, peer(roce.SendOnly, start)))
	require.True(t, h.Ready(), "an answer does not wait")
	require.NotNil(t, h.Next(61))
	require.False(t, h.Ready())
	h.Tick(60 + n)
	require.True(t, h.Ready())

	for i := range uint64(10) { // alpha stays 1 with a CNP at every hold
		cnp(t, h, 200+100*i)
	}
	assert.Equal(t, 0.25, h.rate)
}

// TestRateRecovery: halves of the way to the target, then the target rises, up to the line's rate, where the timer ends.
func TestRateRecovery(t *testing.T) {
	h := paced(t)
	cnp(t, h, 0)
	cnp(t, h, 100)
	require.Equal(t, 0.5, h.rate)
	require.Equal(t, uint64(300), h.Deadline())
	var rates []float64
	for h.Deadline() != Never {
		h.Tick(h.Deadline())
		rates = append(rates, h.rate)
		require.Less(t, len(rates), 30)
	}
	assert.Equal(t, []float64{0.75, 0.875, 1.1875, 1.59375}, rates[:4], "the target is 1, 1, 1.5, 2")
	assert.Equal(t, 2.0, rates[len(rates)-1])
	cnp(t, h, 1e6)
	assert.Greater(t, h.rate, 1.0, "alpha has fallen: the cut is smaller")
}

// TestRateForgotten: without rate control CNPs are counted alone; a fresh connection is at the line's rate; a dead host has no timer.
func TestRateForgotten(t *testing.T) {
	h := newHost(t, 4)
	cnp(t, h, 5)
	assert.Equal(t, 1, h.Stats.CNPs)
	assert.Zero(t, h.Stats.RateCuts)
	assert.Equal(t, uint64(Never), h.Deadline())

	h = paced(t)
	cnp(t, h, 0)
	h.Kill()
	assert.Equal(t, uint64(Never), h.Deadline())
	h.Reconnect(17, 0xEE0001, start)
	assert.Equal(t, 2.0, h.rate)
}

func TestRateControlRefused(t *testing.T) {
	good := DCQCN(50, 250)
	require.NoError(t, good.validate())
	for name, change := range map[string]func(*RateControl){
		"line": func(c *RateControl) { c.Line = 0 }, "least": func(c *RateControl) { c.Least = 51 }, "hold": func(c *RateControl) { c.Hold = 0 },
		"update": func(c *RateControl) { c.Update = 0 }, "gain": func(c *RateControl) { c.Gain = 1.5 }, "increase": func(c *RateControl) { c.Increase = 0 },
		"steps": func(c *RateControl) { c.FastSteps = -1 },
	} {
		cfg := newHost(t, 4).Config()
		bad := DCQCN(50, 250)
		change(&bad)
		cfg.Rate = &bad
		_, err := New(cfg)
		require.ErrorContains(t, err, "rate control", name)
	}
}
