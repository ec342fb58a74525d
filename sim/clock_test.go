// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
)

// TestClocks: a second clock has as many edges as its frequency says, its callbacks obey the timing rule, and it can stand still.
func TestClocks(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "clocks", Files: []string{"testdata/clocks.v"}, PeriodNS: 4, Brief: true}.Compile(context.Background())
	require.NoError(t, err)
	for _, o := range []sim.ClockOptions{{MHz: 250, PPM: 100}, {MHz: 322.265625, JitterPS: 700, Seed: 3}, {MHz: 50, PhaseNS: 1}, {MHz: 1000}} {
		m, err := lib.New(sim.Options{})
		require.NoError(t, err)
		var p struct {
			In     *sim.Port `port:"b_in,in,8"`
			Out    *sim.Port `port:"b_out,out,8"`
			ACount *sim.Port `port:"a_count,out,32"`
			BCount *sim.Port `port:"b_count,out,32"`
			BOfA   *sim.Port `port:"b_of_a,out,32"`
		}
		require.NoError(t, m.Bind(&p))
		c, err := m.AddClock("clk_b", o)
		require.NoError(t, err)
		drove := byte(0)
		var lastOfA uint64
		c.OnSample(func() {
			require.Equal(t, c.Now()-1, p.BCount.Uint64(), "the value before the edge")
			if c.Now() > 1 {
				require.Equal(t, drove-1, byte(p.Out.Uint64()), "what was driven behind the edge before the last")
			}
			require.GreaterOrEqual(t, p.BOfA.Uint64(), lastOfA)
			lastOfA = p.BOfA.Uint64()
		})
		c.OnDrive(func() {
			drove++
			p.In.SetUint64(uint64(drove))
		})
		m.OnSample(func() { require.Equal(t, m.Now()-1, p.ACount.Uint64(), "the first clock keeps its rule") })
		const cycles = 20000
		for range cycles {
			require.NoError(t, m.Tick())
		}
		want := cycles * 4 / c.PeriodNS()
		require.InDelta(t, want, float64(c.Now()), 2, "%+v", o)
		require.InDelta(t, cycles, float64(lastOfA), 16, "two edges of the slowest at most")
		c.Stop()
		before := c.Now()
		require.NoError(t, m.Cycles(100))
		require.Equal(t, before, c.Now())
		c.Start()
		require.NoError(t, m.Cycles(100))
		require.InDelta(t, 400/c.PeriodNS(), float64(c.Now()-before), 2)
		m.Close()
	}
	m, err := lib.New(sim.Options{})
	require.NoError(t, err)
	defer m.Close()
	for want, o := range map[string]sim.ClockOptions{
		"clock clk_b: 0 MHz, 0 ppm off": {}, "clock clk_b: a jitter of 4000 ps": {MHz: 250, JitterPS: 4000}, "comes after -1 ns": {MHz: 1, PhaseNS: -1},
	} {
		_, err := m.AddClock("clk_b", o)
		require.ErrorContains(t, err, want)
	}
	_, err = m.AddClock("clk", sim.ClockOptions{MHz: 1})
	require.ErrorContains(t, err, "it is the model's first")
	_, err = m.AddClock("clk_c", sim.ClockOptions{MHz: 1})
	require.ErrorContains(t, err, `no port "clk_c"`)
	tb := sim.NewTB(m)
	_, err = m.AddClock("clk_b", sim.ClockOptions{MHz: 100})
	require.NoError(t, err)
	tb.Start("waits", func(t *sim.Task) { t.Await(sim.Timer(1)) })
	require.ErrorContains(t, tb.Run(10), "model with several clocks")
}
