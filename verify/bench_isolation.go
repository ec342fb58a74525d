// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"incforge/verify/arith"
	commlib "incforge/verify/comm"
	"incforge/verify/dut"
	"incforge/verify/host"
	"incforge/verify/manifest"
	"incforge/verify/net"
)

// neighbour is what the second group on the switch does meanwhile.
type neighbour int

const (
	absent neighbour = iota
	// busy sends what the first group sends, again and again, over links without faults.
	busy
	// troubled does the same over links that lose, double, reorder, delay and damage frames.
	troubled
)

// isolationPackets is how many packets each rank of the measured group sends, isolationRounds how often its neighbour does that.
const (
	isolationPackets = 256
	isolationRounds  = 3
)

// BenchIsolation measures what a group notices of another one on the same switch: an AllReduce and a Barrier on a star with all
// members, alone, beside a busy group, and beside a group under chaos. Every result is checked.
//
//	alone_cycles, beside_busy_cycles, beside_chaos_cycles   from the first packet to the last rank's end
//	chaos_over_busy      a group in trouble takes no more from its neighbour than one that is well
//	busy_over_alone      both share the engine's one stream
//	chaos_resent, chaos_timeouts, chaos_naks   what the measured group's NICs sent again, waited for, obeyed, beside chaos: all 0
//	counters_moved       how many of its NICs' counters differ between alone and beside chaos
//	neighbour_resent     packets that the group under chaos sent again
func BenchIsolation(ctx context.Context, o BenchOptions) (Bench, error) {
	man, open, err := Open(ctx, Options{ManifestDir: o.ManifestDir, DUT: KindRTL, BuildDir: o.BuildDir})
	if err != nil {
		return Bench{}, err
	}
	b := Bench{Bench: "isolation", Config: man.Name, Metrics: map[string]float64{}}
	if man.Params.Groups < 2 {
		return b, fmt.Errorf("isolation: two groups are needed, %s has one", man.Name)
	}
	runs := map[neighbour]isolated{}
	for _, n := range []neighbour{absent, busy, troubled} {
		if runs[n], err = isolation(ctx, o, man, open, n); err != nil {
			return b, err
		}
	}
	alone, quiet, chaos := runs[absent], runs[busy], runs[troubled]
	b.Metrics["alone_cycles"], b.Metrics["beside_busy_cycles"] = float64(alone.cycles), float64(quiet.cycles)
	b.Metrics["beside_chaos_cycles"] = float64(chaos.cycles)
	b.Metrics["chaos_over_busy"] = float64(chaos.cycles) / float64(quiet.cycles)
	b.Metrics["busy_over_alone"] = float64(quiet.cycles) / float64(alone.cycles)
	b.Metrics["neighbour_resent"] = float64(chaos.neighbour)
	moved := 0
	var total host.Stats
	for rank, s := range chaos.nics {
		if s != alone.nics[rank] {
			moved++
		}
		total.Resent += s.Resent
		total.Timeouts += s.Timeouts
		total.NAKsObeyed += s.NAKsObeyed
	}
	b.Metrics["counters_moved"] = float64(moved)
	b.Metrics["chaos_resent"], b.Metrics["chaos_timeouts"] = float64(total.Resent), float64(total.Timeouts)
	b.Metrics["chaos_naks"] = float64(total.NAKsObeyed)
	return b, nil
}

// isolated is what was measured of a group beside another.
type isolated struct {
	cycles    uint64
	nics      []host.Stats
	neighbour int
}

func isolation(ctx context.Context, o BenchOptions, man *manifest.Manifest, open func(uint64) (dut.DUT, error), n neighbour) (res isolated, err error) {
	p := man.Params
	link := func(e commlib.Edge) *net.Link {
		l := &net.Link{Latency: 40, BytesPerCycle: float64(p.BusBytes)}
		if e.Group == 1 && n == troubled {
			f := net.Faults{Loss: 0.02, Duplicate: 0.02, Reorder: 0.02, Corrupt: 0.02, Jitter: 500, Burst: net.Burst{Enter: 0.001, Leave: 0.2}}
			l.Up, l.Down = f, f
		}
		return l
	}
	w, err := commlib.New(commlib.Config{Manifest: man, Tree: commlib.Tree{Levels: 2, Degree: p.Members}, Link: link, Seed: o.Seed,
		Switch: func(int) (dut.DUT, error) { return open(o.Seed) }})
	if err != nil {
		return res, fmt.Errorf("isolation: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	kind := arith.Kinds(p.DTypeMask(), p.OpMask())[0]
	rng := rand.New(rand.NewPCG(o.Seed, 0x69736f))
	queue := func(g *commlib.Group) (calls []*commlib.Call, err error) {
		r := commlib.Request{Collective: commlib.AllReduce, DType: kind.DType, Op: kind.Op}
		for range p.Members {
			r.In = append(r.In, kind.Values(rng, o.Seed, p.Members, isolationPackets*p.MTUBytes))
		}
		for _, r := range []commlib.Request{r, {Collective: commlib.Barrier}} {
			c, err := g.Queue(r)
			if err != nil {
				return nil, err
			}
			calls = append(calls, c)
		}
		return calls, nil
	}
	window := p.GroupSlots() / 4
	var groups []*commlib.Group
	var calls []*commlib.Call
	for i := range 2 {
		g, err := w.NewGroup(commlib.GroupConfig{Message: 1, Window: window})
		if err != nil {
			return res, fmt.Errorf("isolation: %w", err)
		}
		groups = append(groups, g)
		rounds := 1
		if i == 1 {
			rounds = isolationRounds
			if n == absent {
				rounds = 0
			}
		}
		for range rounds {
			more, err := queue(g)
			if err != nil {
				return res, fmt.Errorf("isolation: %w", err)
			}
			calls = append(calls, more...)
		}
	}
	err = w.Run(ctx)
	for _, c := range calls {
		if err == nil {
			err = c.Check()
		}
	}
	if err == nil {
		err = w.Finish(ctx)
	}
	if err != nil {
		return res, fmt.Errorf("isolation: %w", err)
	}
	res.cycles = calls[1].End - calls[0].Start
	for rank := range groups[0].Ranks() {
		res.nics = append(res.nics, groups[0].Host(rank).Stats)
		res.neighbour += groups[1].Host(rank).Stats.Resent
	}
	return res, nil
}
