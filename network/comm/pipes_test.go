// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/verify/arith"
)

// pipes is engine in Mode III.
func pipes(degree int) contract.Params { return inMode(3, engine(degree)) }

// counters of every switch.
func counters(t *testing.T, w *World) []map[string]uint64 {
	t.Helper()
	var all []map[string]uint64
	for s := range w.Tree().Switches() {
		c, err := w.Driver(s).Counters()
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}

// TestOnlyTheLossyHopRepeats: where one hop loses frames its two ends send again, nobody else does: no host, no other switch.
func TestOnlyTheLossyHopRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	in := values(rng, arith.Kind{}, 8, 60_000)
	for _, k := range []Collective{AllReduce, Reduce, Broadcast} {
		w := world(t, shape(4, 2), pipes(2), func(c *Config) {
			c.Link = func(e Edge) *fabric.Link {
				l := &fabric.Link{Latency: 40, BytesPerCycle: 8}
				if e.Child == 2 { // between switch 0 and switch 2
					l.Up, l.Down = fabric.Faults{Loss: 0.05}, fabric.Faults{Loss: 0.05}
				}
				return l
			}
		})
		g, err := w.NewGroup(GroupConfig{Window: 8, Pipe: 16})
		require.NoError(t, err)
		call, err := g.Queue(Request{Collective: k, Root: 7, In: in})
		require.NoError(t, err)
		finish(t, w, call)
		require.Positive(t, w.Net().Stats.Lost)
		if k == AllReduce { // the sender of a Broadcast and those of a Reduce run ahead until a pipe is full
			assert.Zero(t, call.Total.Resent, k)
		}
		assert.Zero(t, call.Total.Timeouts, k)
		repeated := 0
		for s, c := range counters(t, w) {
			if s != 0 && s != 2 {
				assert.Zero(t, c["TX_RETRANSMIT"]-min(c["TX_RETRANSMIT"], c["RX_RNR"]*16), "%s: switch %d", k, s) // more than full pipes explain
				if k == AllReduce {
					assert.Zero(t, c["TX_RETRANSMIT"]+c["TIMEOUT"]+c["RX_NAK"], "switch %d", s)
				}
				continue
			}
			repeated += int(c["TX_RETRANSMIT"])
		}
		assert.Positive(t, repeated, k)
	}
}

// TestPipesAndWindows: windows of AllReduce that fit the pipes fill none; larger ones do, and are told so by RNR NAKs, by time-outs or, besides, by CNPs;
// the result is the same.
func TestPipesAndWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	in := values(rng, arith.Kind{}, 4, 40_000)
	slow := func(c *Config) {
		c.Link = func(e Edge) *fabric.Link {
			if e.Rank == 3 {
				return &fabric.Link{Latency: 40, BytesPerCycle: 1}
			}
			return &fabric.Link{Latency: 40, BytesPerCycle: 8}
		}
	}
	for _, tc := range []struct {
		name         string
		pipe, window int
		pipes        Pipes
		rate         bool
	}{
		{"a window as large as the pipe", 8, 8, Pipes{}, false},
		{"a pipe of one", 1, 1, Pipes{}, false},
		{"RNR NAKs", 5, 32, Pipes{}, false},
		{"RNR NAKs with a longer wait", 5, 32, Pipes{RNRTimer: 5}, false},
		{"time-outs", 5, 8, Pipes{NoRNR: true}, false},
		{"CNPs that nobody heeds", 5, 32, Pipes{CNP: true}, false},
		{"CNPs", 5, 32, Pipes{CNP: true}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(t, shape(2, 4), pipes(4), slow, func(c *Config) { c.Pipes = tc.pipes })
			cfg := GroupConfig{Window: tc.window, Pipe: tc.pipe}
			if tc.rate {
				cfg.Rate = &host.RateControl{Least: 0.1, Increase: 0.1, Hold: 1000, Update: 2000, Gain: 0.1, FastSteps: 3} // Line is each link's
			}
			g, err := w.NewGroup(cfg)
			require.NoError(t, err)
			call, err := g.Queue(Request{Collective: AllReduce, In: in})
			require.NoError(t, err)
			finish(t, w, call)
			c, total, cuts := counters(t, w)[0], call.Total, 0
			for r := range g.Ranks() {
				cuts += g.Host(r).Stats.RateCuts
			}
			if tc.window <= tc.pipe {
				assert.Zero(t, c["DROP_FULL"]+c["TX_RNR"]+c["TX_CNP"]+c["TX_RETRANSMIT"]+uint64(total.Resent))
				return
			}
			require.Positive(t, c["DROP_FULL"])
			assert.Equal(t, tc.pipes.NoRNR, c["TX_RNR"] == 0)
			assert.Equal(t, tc.pipes.NoRNR, total.Timeouts > 0)
			assert.Equal(t, tc.pipes.CNP, c["TX_CNP"] > 0)
			assert.Equal(t, tc.rate, cuts > 0)
		})
	}
}

// TestPipesRefused: settings of pipes that cannot be.
func TestPipesRefused(t *testing.T) {
	_, err := world(t, shape(2, 4), engine(4)).NewGroup(GroupConfig{Pipe: 3})
	require.ErrorContains(t, err, "Mode II has none")
	_, err = world(t, shape(2, 4), pipes(4)).NewGroup(GroupConfig{Pipe: -1})
	require.ErrorContains(t, err, "pipes of -1 slots")
	_, err = world(t, shape(2, 4), pipes(4)).NewGroup(GroupConfig{Pipe: 600})
	require.ErrorContains(t, err, "units of the buffer")
	w := world(t, shape(2, 4), pipes(4))
	for _, bad := range []Pipes{{RNRTimer: 32}, {TimeoutUS: -1}, {TimeoutUS: 1 << 16}} {
		cfg := w.cfg
		cfg.Pipes = bad
		_, err := New(cfg)
		require.ErrorContains(t, err, "at most 31 and 65535")
	}
}

// TestPipeDefaults: pipes that nobody gave are as large as the configuration's window, or as the buffer allows; the window follows; PIPE_TIMEOUT is what
// the slowest group needs, or what it was set to.
func TestPipeDefaults(t *testing.T) {
	p := pipes(4)
	p.BufferBytes = 24 * p.MTUBytes // two units a slot
	w := world(t, shape(2, 4), p)
	g, err := w.NewGroup(GroupConfig{Message: 2})
	require.NoError(t, err)
	assert.Equal(t, []int{4, 2}, []int{g.Config().Pipe, g.Config().Window})
	timeout := w.PipeTimeout()
	assert.Positive(t, timeout)
	odd, err := w.NewGroup(GroupConfig{Pipe: 1, Window: 5})
	require.NoError(t, err)
	assert.Equal(t, 1, odd.Config().Pipe)
	assert.Equal(t, timeout, w.PipeTimeout(), "a small pipe needs no more")
	us, err := w.Driver(0).Get("PIPE_TIMEOUT", 0, "microseconds")
	require.NoError(t, err)
	assert.Equal(t, timeout, uint64(us)*250)

	w = world(t, shape(2, 4), p, func(c *Config) { c.Pipes.TimeoutUS = 3 })
	_, err = w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	assert.Equal(t, uint64(750), w.PipeTimeout())
	assert.Zero(t, world(t, shape(2, 4), engine(4)).PipeTimeout())
}
