// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"incforge/contract"
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
// Where there are several engines, another one's abuse is measured too: engineIsolation.
//
// It is an error if a NIC's counters differ, if the bound is exceeded, or if the neighbour had no trouble or finished
// too early.
func Isolation(ctx context.Context, o Options) (report.Bench, error) {
	d, err := load(ctx, o.ManifestDir, dut.KindRTL)
	if err != nil {
		return report.Bench{}, err
	}
	return benchIsolation(ctx, o, d)
}

func benchIsolation(ctx context.Context, o Options, d design) (b report.Bench, err error) {
	b = o.record("isolation", d.man)
	if d.man.Params.AllGroups() < 2 {
		return b, fmt.Errorf("isolation: two groups are needed, %s has one", d.man.Name)
	}
	defer fail.Catch(&err, "")
	alone := fail.Must(isolation(ctx, o.Seed, d, 0, fabric.Faults{}))
	busy := fail.Must(isolation(ctx, o.Seed, d, isolationRounds, fabric.Faults{}))
	chaos := fail.Must(isolation(ctx, o.Seed, d, isolationRounds, fabric.Faults{Loss: 0.02, Duplicate: 0.02, Reorder: 0.02, Corrupt: 0.02,
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
		return b, fmt.Errorf("%w: %d cycles, alone %d, and the neighbour's frames take %d", ErrNotIsolated, chaos.cycles, alone.cycles,
			chaos.beats)
	case chaos.resent == 0 || chaos.ended:
		return b, errors.New("isolation: the neighbour was not in trouble all the time")
	case d.man.Params.EngineCount() > 1:
		return b, engineIsolation(ctx, o, d, metrics(b.Metrics))
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
	rng := rand.New(rand.NewPCG(seed, 0x69736f))
	mine, calls := d.busy(w, rng, seed, 1)
	other, more := d.busy(w, rng, seed, rounds)
	last := calls[len(calls)-1]
	res.watch(w, p, other, last)
	fail.On(complete(ctx, w, append(calls, more...)...))
	res.cycles = last.End - calls[0].Start
	res.ended = len(more) > 0 && more[len(more)-1].End < last.End
	for rank := range p.Members {
		res.nics = append(res.nics, mine.Host(rank).Stats)
	}
	return res, w.Close()
}

// busy makes a group and queues its calls: an AllReduce and a Barrier, rounds times.
func (d design) busy(w *commlib.World, rng *rand.Rand, seed uint64, rounds int) (g *commlib.Group, calls []*commlib.Call) {
	p := d.man.Params
	k := arith.Kinds(p.DTypeMask(), p.OpMask())[0]
	cfg := commlib.GroupConfig{Message: 1, Window: p.GroupSlots() / 4}
	if p.Pipes() {
		// No controls: one that comes before the previous call's last ACK is resent, and the counters would depend
		// on timing.
		cfg.Fixed = &commlib.Request{Collective: commlib.AllReduce, DType: k.DType, Op: k.Op}
	}
	g = fail.Must(w.NewGroup(cfg))
	for range rounds {
		sum := commlib.Request{Collective: commlib.AllReduce, DType: k.DType, Op: k.Op}
		for range p.Members {
			sum.In = append(sum.In, k.Values(rng, seed, p.Members, isolationPackets*p.MTUBytes))
		}
		calls = append(calls, fail.Must(g.Queue(sum)), fail.Must(g.Queue(commlib.Request{Collective: commlib.Barrier})))
	}
	return g, calls
}

// watch counts the frames and resent packets of the neighbour until the measured group's last call is done.
func (res *isolated) watch(w *commlib.World, p contract.Params, other *commlib.Group, last *commlib.Call) {
	of := map[roce.IP4]bool{} // the neighbour's hosts
	for rank := range other.Ranks() {
		of[other.Host(rank).Config().IP] = true
	}
	over := false
	w.Net().OnDeliver = func(_ uint64, _, _ int, frame []byte, _ bool) {
		if over = last.Done(); !over && len(frame) > 34 && (of[roce.IP4(frame[26:30])] || of[roce.IP4(frame[30:34])]) {
			res.beats += uint64(p.Beats(len(frame)))
		}
	}
	w.Net().OnFault = func(e fabric.Event) {
		if over {
			return
		}
		if e.Kind == fabric.Lose && e.Down { // a frame lost on its way down has left the engine, too
			res.beats += uint64(p.Beats(p.MTUBytes + frameOverhead))
		}
		res.resent = 0
		for rank := range other.Ranks() {
			res.resent += other.Host(rank).Stats.Resent
		}
	}
}
