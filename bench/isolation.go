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
	b := o.result("isolation", man)
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

// pair is the measured group and its neighbour on one switch.
type pair struct {
	params contract.Params
	world  *commlib.World
	kind   arith.Kind
	seed   uint64
	rng    *rand.Rand
	groups []*commlib.Group
	// calls are the two of the measured group, followed by those of its neighbour.
	calls []*commlib.Call
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
	two := &pair{params: p, world: w, kind: arith.Kinds(p.DTypeMask(), p.OpMask())[0], seed: o.Seed,
		rng: rand.New(rand.NewPCG(o.Seed, 0x69736f))}
	rounds := isolationRounds
	if n == absent {
		rounds = 0
	}
	for _, rounds := range []int{1, rounds} {
		if err := two.add(rounds); err != nil {
			return res, fmt.Errorf("isolation: %w", err)
		}
	}
	two.watch(&res)
	if err := two.run(ctx); err != nil {
		return res, fmt.Errorf("isolation: %w", err)
	}
	res.cycles = two.calls[1].End - two.calls[0].Start
	res.ended = two.calls[len(two.calls)-1].End < two.calls[1].End
	for rank := range two.groups[0].Ranks() {
		res.nics = append(res.nics, two.groups[0].Host(rank).Stats)
	}
	return res, nil
}

// add makes the next group and queues its calls, rounds times.
func (t *pair) add(rounds int) error {
	cfg := commlib.GroupConfig{Message: 1, Window: t.params.GroupSlots() / 4}
	if t.params.Mode == 3 {
		// No controls: one that comes before the previous call's last ACK is resent, and the counters would depend
		// on timing.
		cfg.Fixed = &commlib.Fixed{Collective: commlib.AllReduce, DType: t.kind.DType, Op: t.kind.Op}
	}
	g, err := t.world.NewGroup(cfg)
	if err != nil {
		return err
	}
	t.groups = append(t.groups, g)
	for range rounds {
		if err := t.queue(g); err != nil {
			return err
		}
	}
	return nil
}

// queue queues one round of a group: an AllReduce and a Barrier.
func (t *pair) queue(g *commlib.Group) error {
	r := commlib.Request{Collective: commlib.AllReduce, DType: t.kind.DType, Op: t.kind.Op}
	for range t.params.Members {
		r.In = append(r.In, t.kind.Values(t.rng, t.seed, t.params.Members, isolationPackets*t.params.MTUBytes))
	}
	for _, r := range []commlib.Request{r, {Collective: commlib.Barrier}} {
		c, err := g.Queue(r)
		if err != nil {
			return err
		}
		t.calls = append(t.calls, c)
	}
	return nil
}

// watch counts the frames and resent packets of the neighbour until the measured group is done.
func (t *pair) watch(res *isolated) {
	other := t.groups[1]
	of := map[roce.IP4]bool{} // the neighbour's hosts
	for rank := range other.Ranks() {
		of[other.Host(rank).Config().IP] = true
	}
	beats := func(size int) uint64 { return uint64((size + t.params.BusBytes - 1) / t.params.BusBytes) }
	over := false
	t.world.Net().OnDeliver = func(_ uint64, _, _ int, frame []byte, _ bool) {
		if over = t.calls[1].Done(); !over && len(frame) > 34 && (of[roce.IP4(frame[26:30])] || of[roce.IP4(frame[30:34])]) {
			res.beats += beats(len(frame))
		}
	}
	t.world.Net().OnFault = func(e fabric.Event) { // a frame lost on its way down has left the engine, too
		if !over && e.Kind == fabric.Lose && e.Down {
			res.beats += beats(t.params.MTUBytes + lossFrame)
		}
		if !over {
			res.resent = 0
			for rank := range other.Ranks() {
				res.resent += other.Host(rank).Stats.Resent
			}
		}
	}
}

// run runs all calls to their end and checks every result and counter.
func (t *pair) run(ctx context.Context) error {
	if err := t.world.Run(ctx); err != nil {
		return err
	}
	for _, c := range t.calls {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return t.world.Finish(ctx)
}
