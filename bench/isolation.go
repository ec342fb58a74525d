// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"incforge/internal/fail"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/report"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
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
func Isolation(ctx context.Context, o Options) (report.Bench, error) {
	d, err := load(ctx, o.ManifestDir, dut.KindRTL)
	if err != nil {
		return report.Bench{}, err
	}
	return benchIsolation(ctx, o.Seed, d)
}

func benchIsolation(ctx context.Context, seed uint64, d design) (b report.Bench, err error) {
	b = report.Bench{Bench: "isolation", Config: d.man.Name}
	if d.man.Params.Groups < 2 {
		return b, fmt.Errorf("isolation: two groups are needed, %s has one", d.man.Name)
	}
	defer fail.Catch(&err, "")
	alone := fail.Must(isolation(ctx, seed, d, 0, fabric.Faults{}))
	busy := fail.Must(isolation(ctx, seed, d, isolationRounds, fabric.Faults{}))
	chaos := fail.Must(isolation(ctx, seed, d, isolationRounds, fabric.Faults{Loss: 0.02, Duplicate: 0.02, Reorder: 0.02, Corrupt: 0.02,
		Jitter: 500, Burst: fabric.Burst{Enter: 0.001, Leave: 0.2}}))
	bound := alone.cycles + chaos.beats
	moved := 0
	for rank, s := range chaos.nics {
		if s != alone.nics[rank] {
			moved++
		}
	}
	ratio := func(x, y uint64) float64 { return float64(x) / float64(y) }
	b.Metrics = map[string]float64{"alone_cycles": float64(alone.cycles), "beside_busy_cycles": float64(busy.cycles),
		"beside_chaos_cycles": float64(chaos.cycles), "bound_cycles": float64(bound), "busy_over_alone": ratio(busy.cycles, alone.cycles),
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
	design
	world  *commlib.World
	kind   arith.Kind
	seed   uint64
	rng    *rand.Rand
	groups []*commlib.Group
	// calls are the two of the measured group, followed by those of its neighbour.
	calls []*commlib.Call
}

// isolation measures beside a neighbour that does so many rounds over links with these faults.
func isolation(ctx context.Context, seed uint64, d design, rounds int, faults fabric.Faults) (res isolated, err error) {
	p := d.man.Params
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: 40, BytesPerCycle: float64(p.BusBytes)}
		if e.Group == 1 {
			l.Up, l.Down = faults, faults
		}
		return l
	}
	defer fail.Catch(&err, "isolation")
	w := fail.Must(d.star(p.Members, seed, commlib.Config{Link: link}))
	defer w.Close()
	two := &pair{design: d, world: w, kind: arith.Kinds(p.DTypeMask(), p.OpMask())[0], seed: seed, rng: rand.New(rand.NewPCG(seed, 0x69736f))}
	two.add(1)
	two.add(rounds)
	two.watch(&res)
	fail.On(complete(ctx, w, two.calls...))
	res.cycles = two.calls[1].End - two.calls[0].Start
	res.ended = two.calls[len(two.calls)-1].End < two.calls[1].End
	for rank := range p.Members {
		res.nics = append(res.nics, two.groups[0].Host(rank).Stats)
	}
	return res, w.Close()
}

// add makes the next group and queues its calls: an AllReduce and a Barrier, rounds times.
func (t *pair) add(rounds int) {
	p := t.man.Params
	cfg := commlib.GroupConfig{Message: 1, Window: p.GroupSlots() / 4}
	if p.Mode == 3 {
		// No controls: one that comes before the previous call's last ACK is resent, and the counters would depend
		// on timing.
		cfg.Fixed = &commlib.Fixed{Collective: commlib.AllReduce, DType: t.kind.DType, Op: t.kind.Op}
	}
	g := fail.Must(t.world.NewGroup(cfg))
	t.groups = append(t.groups, g)
	for range rounds {
		sum := commlib.Request{Collective: commlib.AllReduce, DType: t.kind.DType, Op: t.kind.Op}
		for range p.Members {
			sum.In = append(sum.In, t.kind.Values(t.rng, t.seed, p.Members, isolationPackets*p.MTUBytes))
		}
		t.calls = append(t.calls, fail.Must(g.Queue(sum)), fail.Must(g.Queue(commlib.Request{Collective: commlib.Barrier})))
	}
}

// watch counts the frames and resent packets of the neighbour until the measured group is done.
func (t *pair) watch(res *isolated) {
	other := t.groups[1]
	of := map[roce.IP4]bool{} // the neighbour's hosts
	for rank := range other.Ranks() {
		of[other.Host(rank).Config().IP] = true
	}
	p := t.man.Params
	beats := func(size int) uint64 { return uint64((size + p.BusBytes - 1) / p.BusBytes) }
	over := false
	t.world.Net().OnDeliver = func(_ uint64, _, _ int, frame []byte, _ bool) {
		if over = t.calls[1].Done(); !over && len(frame) > 34 && (of[roce.IP4(frame[26:30])] || of[roce.IP4(frame[30:34])]) {
			res.beats += beats(len(frame))
		}
	}
	t.world.Net().OnFault = func(e fabric.Event) { // a frame lost on its way down has left the engine, too
		if !over && e.Kind == fabric.Lose && e.Down {
			res.beats += beats(p.MTUBytes + frameOverhead)
		}
		if !over {
			res.resent = 0
			for rank := range other.Ranks() {
				res.resent += other.Host(rank).Stats.Resent
			}
		}
	}
}
