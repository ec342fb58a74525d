// SPDX-License-Identifier: Apache-2.0

package rig_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// run runs a scenario on the reference engine, which may be clocked for limit cycles.
func run(t *testing.T, ctx context.Context, limit uint64, scenario func(t *rig.T)) error {
	t.Helper()
	m := synthetic.Manifest(synthetic.Mini())
	budget := dut.NewBudget(ctx, limit)
	r := rig.New(ctx, m, t.Name(), 1, func(uint64, int) (dut.DUT, error) {
		d, err := dut.NewReference(m)
		if err != nil {
			return nil, err
		}
		return dut.Watch(d, budget), nil
	})
	return r.Run(scenario)
}

// TestWhatEndsAScenario: what is not as expected ends it where it stands, with what was being done.
func TestWhatEndsAScenario(t *testing.T) {
	for _, c := range []struct {
		name     string
		scenario func(t *rig.T)
		want     string
	}{
		{"Fatalf", func(t *rig.T) { t.In("outer", func() { t.In("inner", func() { t.Fatalf("broken %d", 7) }) }) }, "outer: inner: broken 7"},
		{"a panic", func(*rig.T) { panic("oh") }, "the scenario panicked: oh"},
		{"a result that never leaves", func(t *rig.T) {
			g := t.Star()
			g.Send(g.Data(0, g.Start(), g.Values(16))).As("first").Expect(rig.DataTo(0, g.Start(), nil))
		}, "first: 1 of 1 frames never left"},
		{"a result too many", func(t *rig.T) {
			g := t.Star()
			var frames []rig.Frame
			for _, c := range g.Members() {
				frames = append(frames, g.Data(c, g.Start(), g.Values(16)))
			}
			g.Send(frames...).Expect()
		}, "what left is"},
		{"not dropped", func(t *rig.T) {
			g := t.Star()
			g.Send(g.Data(0, g.Start(), g.Values(16)).Named("good data")).Dropped(inc.DropGap)
		}, "good data: DROP_GAP was 0 and is 0"},
		{"a Send of which nothing is expected", func(t *rig.T) {
			g := t.Star()
			g.Send(g.Data(0, g.Start(), g.Values(16))).As("forgotten")
		}, "forgotten: a Send without Expect"},
		{"a group that must not enable does", func(t *rig.T) { t.Star().ProgramRefused() }, "illegal settings were enabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorContains(t, run(t, t.Context(), rig.MaxCycles, c.scenario), c.want)
		})
	}
}

// TestSkip: a scenario that finds that the engine lacks something is not applicable.
func TestSkip(t *testing.T) {
	err := run(t, t.Context(), rig.MaxCycles, func(t *rig.T) { t.Skipf("needs %s", "wings") })
	var lacks rig.NotApplicable
	require.ErrorAs(t, err, &lacks)
	assert.Equal(t, "needs wings", lacks.Error())
}

// TestLimit: more members and a longer window have more cycles, in whole steps.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		members, window int
		want            uint64
	}{{8, 128, 1}, {9, 0, 2}, {2, 257, 3}, {16, 512, 8}} {
		got := rig.Limit(contract.Params{Members: c.members, WindowPackets: c.window})
		assert.Equal(t, c.want*rig.MaxCycles, got, "%d members, %d packets", c.members, c.window)
	}
}

// TestNoScenarioIsWithoutEnd: whatever a scenario waits for, its engines are clocked no longer than it may take, nor after the run has ended.
func TestNoScenarioIsWithoutEnd(t *testing.T) {
	forever := func(t *rig.T) {
		e := t.Engine()
		for {
			e.StepTo(e.Now() + 1<<20)
		}
	}
	require.ErrorIs(t, run(t, t.Context(), 100_000, forever), dut.ErrLimit)

	reading := func(t *rig.T) {
		e := t.Engine()
		for {
			e.Read("GROUP_STATUS", 0)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	require.ErrorIs(t, run(t, ctx, 1<<60, func(t *rig.T) {
		e := t.Engine()
		for {
			if steps++; steps == 10 {
				cancel()
			}
			e.StepTo(e.Now() + 100)
		}
	}), context.Canceled)
	assert.Equal(t, 10, steps)
	require.ErrorIs(t, run(t, ctx, 1<<60, reading), context.Canceled)
}

// TestComplete: a scenario in this language passes on a right engine.
func TestComplete(t *testing.T) {
	require.NoError(t, run(t, t.Context(), rig.MaxCycles, func(t *rig.T) {
		g := t.Star()
		for k := range 2*g.MW() + 1 {
			g.Complete(g.Start().Add(k))
		}
		g.Send(g.Data(0, g.Start().Add(2*g.MW()+2), g.Values(16))).Out()
	}))
}
