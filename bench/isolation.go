// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"incforge/contract"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// neighbour says what the second group on the switch does during the measurement.
type neighbour int

const (
	absent neighbour = iota
	// busy repeats the first group's collectives over links without faults.
	busy
	// troubled does the same over links that lose, duplicate, reorder, delay and corrupt frames.
	troubled
)

// isolationPackets is the number of packets that each rank of the measured group sends. Its neighbour sends
// isolationRounds times as many, so that it is still busy when the measured group is done.
const (
	isolationPackets = 256
	isolationRounds  = 4
)

// ErrNotIsolated means that faults of one group affected its neighbour more than the neighbour's own traffic explains.
var ErrNotIsolated = errors.New("a group under chaos disturbs its neighbour")

// Isolation measures how one group on a switch affects another. The measured group runs an AllReduce and a Barrier on
// a star with all members: alone, beside a busy group, and beside a group with faulty links ("under chaos"). Every
// result is checked.
//
//	alone_cycles, beside_busy_cycles, beside_chaos_cycles   from the first packet to the last rank's end
//	bound_cycles         alone_cycles plus the engine's time for all frames of the neighbour under chaos that went in or
//	                     out meanwhile: a neighbour may cost the time of its own frames and no more
//	busy_over_alone, chaos_over_alone, chaos_over_bound
//	counters_moved       NICs of the measured group with any counter (packets sent and resent, time-outs, NAKs,
//	                     RNR NAKs, duplicates, …) that differs between alone and beside chaos
//	neighbour_resent     packets that the group under chaos resent meanwhile
//
// It is an error if a NIC's counters differ, if the bound is exceeded, or if the neighbour had no trouble or finished
// too early.
func Isolation(ctx context.Context, o Options) (Result, error) {
	man, engines, err := dut.Source{ManifestDir: o.ManifestDir, Kind: dut.KindRTL, BuildDir: o.BuildDir}.Open(ctx)
	if err != nil {
		return Result{}, err
	}
	return benchIsolation(ctx, o, man, engines.New)
}

func benchIsolation(ctx context.Context, o Options, man *contract.Manifest, open dut.Maker) (Result, error) {
	b := Result{Bench: "isolation", Config: man.Name, Metrics: map[string]float64{}}
	if man.Params.Groups < 2 {
		return b, fmt.Errorf("isolation: two groups are needed, %s has one", man.Name)
	}
	runs := map[neighbour]isolated{}
	for _, n := range []neighbour{absent, busy, troubled} {
		run, err := isolation(ctx, o, man, open, n)
		if err != nil {
			return b, err
		}
		runs[n] = run
	}
	alone, quiet, chaos := runs[absent], runs[busy], runs[troubled]
	bound := alone.cycles + chaos.beats
	moved := 0
	for rank, s := range chaos.nics {
		if s != alone.nics[rank] {
			moved++
		}
	}
	ratio := func(x, y uint64) float64 { return float64(x) / float64(y) }
	b.Metrics = map[string]float64{"alone_cycles": float64(alone.cycles), "beside_busy_cycles": float64(quiet.cycles),
		"beside_chaos_cycles": float64(chaos.cycles), "bound_cycles": float64(bound), "busy_over_alone": ratio(quiet.cycles, alone.cycles),
		"chaos_over_alone": ratio(chaos.cycles, alone.cycles), "chaos_over_bound": ratio(chaos.cycles, bound), "counters_moved": float64(moved),
		"neighbour_resent": float64(chaos.resent)}
	switch {
	case moved > 0:
		return b, fmt.Errorf("%w: counters of %d NICs differ", ErrNotIsolated, moved)
	case chaos.cycles > bound:
		return b, fmt.Errorf("%w: %d cycles, alone %d, and the neighbour's frames take %d", ErrNotIsolated, chaos.cycles, alone.cycles, chaos.beats)
	case chaos.resent == 0 || chaos.ended:
		return b, errors.New("isolation: the neighbour was not in trouble all the time")
	}
	return b, nil
}

// isolated is one measurement of a group beside another.
type isolated struct {
	cycles uint64
	nics   []host.Stats
	// Of the neighbour while the measured group ran: beats of its frames into and out of the engine, packets resent,
	// and whether it finished first.
	beats  uint64
	resent int
	ended  bool
}

func isolation(ctx context.Context, o Options, man *contract.Manifest, open dut.Maker, n neighbour) (res isolated, err error) {
	p := man.Params
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: 40, BytesPerCycle: float64(p.BusBytes)}
		if e.Group == 1 && n == troubled {
			f := fabric.Faults{Loss: 0.02, Duplicate: 0.02, Reorder: 0.02, Corrupt: 0.02, Jitter: 500, Burst: fabric.Burst{Enter: 0.001, Leave: 0.2}}
			l.Up, l.Down = f, f
		}
		return l
	}
	w, err := commlib.New(commlib.Config{Manifest: man, Tree: topology.Tree{Levels: 2, Degree: p.Members}, Link: link, Seed: o.Seed,
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
		cfg := commlib.GroupConfig{Message: 1, Window: window}
		if p.Mode == 3 {
			// No controls: one that comes before the previous call's last ACK is resent, and the counters would depend
			// on timing.
			cfg.Fixed = &commlib.Fixed{Collective: commlib.AllReduce, DType: kind.DType, Op: kind.Op}
		}
		g, err := w.NewGroup(cfg)
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
	of := map[roce.IP4]bool{} // the neighbour's hosts
	for rank := range groups[1].Ranks() {
		of[groups[1].Host(rank).Config().IP] = true
	}
	beats := func(size int) uint64 { return uint64((size + p.BusBytes - 1) / p.BusBytes) }
	over := false
	w.Net().OnDeliver = func(_ uint64, _, _ int, frame []byte, _ bool) {
		if over = calls[1].Done(); !over && len(frame) > 34 && (of[roce.IP4(frame[26:30])] || of[roce.IP4(frame[30:34])]) {
			res.beats += beats(len(frame))
		}
	}
	w.Net().OnFault = func(e fabric.Event) { // a frame lost on its way down has left the engine, too
		if !over && e.Kind == fabric.Lose && e.Down {
			res.beats += beats(p.MTUBytes + lossFrame)
		}
		if !over {
			res.resent = 0
			for rank := range groups[1].Ranks() {
				res.resent += groups[1].Host(rank).Stats.Resent
			}
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
	res.ended = calls[len(calls)-1].End < calls[1].End
	for rank := range groups[0].Ranks() {
		res.nics = append(res.nics, groups[0].Host(rank).Stats)
	}
	return res, nil
}
