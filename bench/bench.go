// SPDX-License-Identifier: Apache-2.0

// Package bench measures the figures of incforge bench: latency and throughput in cycles, the simulator's speed,
// isolation of groups, and the cost of loss and congestion.
package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/clocked"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// Options say what a benchmark measures.
type Options struct {
	// ManifestDir is the generated folder.
	ManifestDir string
	// NoICRCDir is the same configuration with icrc_check false, for Latency's result_min_cycles; may be empty.
	NoICRCDir string
	// BuildDir is where models are cached; empty means the simulator's default.
	BuildDir string
	// Seed determines the model's random initial state.
	Seed uint64
	// Found is the clock that a flow found for this design; the zero value gives figures in cycles alone.
	Found clocked.Clock
}

// Result is what a benchmark measured.
type Result struct {
	Bench   string             `json:"bench"`
	Config  string             `json:"config"`
	Digest  string             `json:"digest,omitempty"` // of the design, from its manifest
	Clock   clocked.Clock      `json:"clock,omitzero"`
	Metrics map[string]float64 `json:"metrics"`
}

// result begins a record about a design. The clock asked for is the configuration's, whatever a flow was asked.
func (o Options) result(name string, m *contract.Manifest) Result {
	clock := o.Found
	clock.AskedMHz = float64(m.Params.ClockMHz)
	return Result{Bench: name, Config: m.Name, Digest: m.Digest, Clock: clock, Metrics: map[string]float64{}}
}

// What the paper prints for its FPGA engine (EPIC, SIGCOMM '26), in ns. Their basis is unstated.
const (
	paperResultNS  = 244 // last contribution in to result out, VU13P, FP32
	paperForwardNS = 96  // a packet that is only forwarded
	paperCoreNS    = 53  // the aggregation core alone, Agilex, 8 ranks
)

// benchPayload is the payload of latency figures in bytes.
const benchPayload = 1024

// cycles adds a time in cycles, and in ns if the clock is known.
func (b *Result) cycles(name string, cycles uint64) {
	b.Metrics[name+"_cycles"] = float64(cycles)
	if ns, ok := clocked.Cycles(float64(cycles), b.Clock).Real(); ok {
		b.Metrics[name+"_ns"] = ns
	}
}

// rate adds a rate in bits a cycle, and in Gbit/s if the clock is known.
func (b *Result) rate(name string, bits float64) {
	b.Metrics[name+"_bits_per_cycle"] = bits
	if gbps, ok := clocked.BitsPerCycle(bits, b.Clock).Real(); ok {
		b.Metrics[name+"_gbps"] = gbps
	}
}

// Latency measures the core with its single stream, an idle output, payloads of 1,024 bytes and up to eight members.
// Of several copies the first counts:
//
//	result_cycles             last contribution's first beat in to result's first beat out
//	result_after_last_cycles  last contribution's last beat in to result's first beat out
//	result_total_cycles       last contribution's first beat in to result's last beat out
//	ack_cycles                Mode III: last contribution's first beat in to the first beat out of its ACK, which leaves before the result
//	forward_cycles            bypassed frame's first beat in to first beat out
//	result_min_cycles         result_cycles of the configuration without ICRC check
//	core_cycles               the aggregator alone: last contribution's payload word in to sum out; core_CLASS_cycles by element type
//
// each also in ns if Options.Found has a clock, and the paper's figures. Several runs must agree to the cycle; the worst counts.
func Latency(ctx context.Context, o Options) (Result, error) {
	m, err := contract.Load(o.ManifestDir)
	if err != nil {
		return Result{}, err
	}
	b := o.result("latency", m)
	b.Metrics["paper_result_ns"], b.Metrics["paper_forward_ns"] = paperResultNS, paperForwardNS
	l, err := latency(ctx, o, o.ManifestDir)
	if err != nil {
		return b, err
	}
	b.Metrics["members"], b.Metrics["payload_bytes"] = float64(l.members), float64(l.payload)
	b.cycles("result", l.result)
	b.cycles("result_after_last", l.afterLast)
	b.cycles("result_total", l.total)
	if m.Params.Mode == 3 {
		b.cycles("ack", l.ack)
	}
	b.cycles("forward", l.forward)
	if o.NoICRCDir != "" {
		n, err := latency(ctx, o, o.NoICRCDir)
		if err != nil {
			return b, err
		}
		b.cycles("result_min", n.result)
	}
	return b, core(rig.New(ctx, m, "bench", o.Seed, nil), o.BuildDir, &b)
}

type latencies struct {
	result, afterLast, total, ack, forward uint64
	members, payload                       int
}

// open makes a test outside a verification run, over engines of the kind in a generated folder; the caller closes it.
func open(ctx context.Context, dir string, kind dut.Kind, o Options) (*rig.T, error) {
	m, engines, err := dut.Source{ManifestDir: dir, Kind: kind, BuildDir: o.BuildDir}.Open(ctx)
	if err != nil {
		return nil, err
	}
	return rig.New(ctx, m, "bench", o.Seed, func(seed uint64, _ int) (dut.DUT, error) { return engines.New(seed) }), nil
}

func latency(ctx context.Context, o Options, dir string) (l latencies, err error) {
	t, err := open(ctx, dir, dut.KindCore, o)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	err = rig.Catch(func() {
		e := t.Engine()
		e.Mute = true // the benchmark itself sends all acknowledgements
		l.members, l.payload = min(t.Params.Members, 8), min(benchPayload, t.Params.MTUBytes)
		g := e.Group(0, 1, l.members, false)
		l.measure(g)
	})
	return l, err
}

// measure has the group complete one PSN after the other, with bypassed frames in between.
func (l *latencies) measure(g *rig.Group) {
	t, e := g.T, g.E
	var in dut.Frame
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) error {
		in = a
		return nil
	}
	for k := range 3 * g.MW() {
		var outs []dut.Frame
		for _, c := range g.Members() {
			outs = e.Exchange(g.Data(c, g.Start().Add(k), g.Noise(l.payload)))
		}
		last := in
		if t.Pipes() {
			if len(outs) == 0 {
				t.Fatalf("no ACK")
			}
			l.ack = max(l.ack, outs[0].First-last.First)
			outs = outs[1:]
			for _, c := range g.Members() {
				e.Exchange(g.Ack(c, g.Start().Add(k)))
			}
		}
		if len(outs) != l.members {
			t.Fatalf("%d results instead of %d", len(outs), l.members)
		}
		l.result = max(l.result, outs[0].First-last.First)
		l.afterLast = max(l.afterLast, outs[0].First-min(last.Last, outs[0].First))
		l.total = max(l.total, outs[0].Last-last.First)
	}
	for range 8 {
		outs := e.Exchange(g.Data(0, 0, g.Noise(l.payload), func(p *roce.Packet) { p.DestQP ^= 0x800000 }))
		if len(outs) != 1 {
			t.Fatalf("a stranger left %d times", len(outs))
		}
		l.forward = max(l.forward, outs[0].First-in.First)
	}
}

// throughputRounds is the number of packets that each member sends in a measurement: a multiple of every window.
const throughputRounds = 96

// Throughput measures how many input beats per cycle the core accepts while its input never pauses and its output is
// never stalled, for an AllReduce over up to eight members with payloads from 64 bytes to the MTU. The keys are
// beats_per_cycle_SIZE_ORDER[_acks]: ORDER is worst (all members' packets of one slot back to back) or best (members
// in turn, each at its own slot). With acks, every member also acknowledges every result, a window later, between the
// data. raw_bits_per_cycle is the bus; ingress_bits_per_cycle and egress_bits_per_cycle are what frames take of it at the largest payload
// up to 1,024 bytes in the worst order, each also in Gbit/s if Options.Found has a clock. In Mode III results must be acknowledged, so all measurements are with acks, three quarters of a window after the data, and
// members are at most half a window apart. Then no packet finds its pipe full and no result waits for an ACK.
func Throughput(ctx context.Context, o Options) (b Result, err error) {
	t, err := open(ctx, o.ManifestDir, dut.KindCore, o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	b = o.result("throughput", t.Manifest)
	bus := float64(8 * t.Params.BusBytes)
	b.rate("raw", bus)
	order := map[bool]string{false: "_best", true: "_worst"}
	for size := 64; size <= t.Params.MTUBytes; size *= 2 {
		for _, worst := range []bool{false, true} {
			for _, acks := range []bool{false, true} {
				if t.Pipes() && !acks {
					continue
				}
				name := strconv.Itoa(size) + order[worst] + map[bool]string{true: "_acks"}[acks]
				in, out, err := throughput(t, size, worst, acks)
				if err != nil {
					return b, fmt.Errorf("throughput %s: %w", name, err)
				}
				b.Metrics["beats_per_cycle_"+name] = in
				if worst && acks == t.Pipes() && size <= 1024 {
					b.rate("ingress", in*bus)
					b.rate("egress", out*bus)
				}
			}
		}
	}
	return b, nil
}

// throughput runs one measurement and returns input and output beats per cycle.
func throughput(t *rig.T, size int, worst, acks bool) (in, out float64, err error) {
	err = rig.Catch(func() {
		e := t.Engine()
		e.Mute = true
		g := e.Group(0, 1, min(t.Params.Members, 8), false)
		rounds := queue(g, size, worst, acks)
		w := watch(g)
		outs := e.Settle()
		w.finish(t)
		outBeats := 0
		for _, o := range outs {
			if o.Last > w.first && o.Last <= w.last {
				outBeats += t.Beats(len(o.Data))
			}
		}
		if t.Pipes() {
			for _, c := range g.Members() {
				e.Exchange(g.Ack(c, g.Start().Add(rounds-1)))
			}
			e.Counted("throughput", map[inc.Counter]uint32{inc.DropFull: 0, inc.DropGap: 0, inc.DropStaleAck: 0})
		}
		_, err := e.Finish()
		t.Check(err)
		in, out = float64(w.beats)/w.cycles(), float64(outBeats)/w.cycles()
	})
	return in, out, err
}

// queue offers the data of all members and the ACKs of earlier results, and returns the number of PSNs.
func queue(g *rig.Group, size int, worst, acks bool) (rounds int) {
	spread, lag := g.MW(), g.MW() // in packets: how far apart members are at most, and how far ACKs follow the data
	if g.T.Pipes() {
		spread, lag = spread/2, lag-lag/4
	}
	if worst {
		spread = 0
	}
	rounds = max(throughputRounds/g.MW(), 3) * g.MW()
	inTurn(g, rounds, spread, func(c, k int) {
		g.E.Put(g.Data(c, g.Start().Add(k), g.Noise(size)))
		if acks && k >= lag {
			g.E.Put(g.Ack(c, g.Start().Add(k-lag)))
		}
	})
	return rounds
}

// inTurn calls send for packets 0 to rounds−1 of every member, the members in turn: all at one packet, or, with a spread, each at one of
// its own, so many packets apart at most.
func inTurn(g *rig.Group, rounds, spread int, send func(c, k int)) {
	members := len(g.Members())
	for step := range rounds + g.MW() {
		for c := range members {
			if k := step - c*spread/members; k >= 0 && k < rounds {
				send(c, k)
			}
		}
	}
}

// window measures between the first and the last window of what was offered: the pipe fills and empties.
type window struct {
	seen, beats, packets int
	first, last          uint64
}

// watch measures what the engine accepts of what waits.
func watch(g *rig.Group) *window {
	w := &window{}
	skip, total := len(g.Members())*g.MW(), g.E.Waiting()
	w.packets = total - 2*skip
	g.E.OnAccept = func(a dut.Frame, _ []inc.Counter) error {
		if w.seen++; w.seen == skip {
			w.first = a.Last
		} else if w.seen > skip && w.seen <= total-skip {
			w.beats += g.T.Beats(len(a.Data))
			w.last = a.Last
		}
		return nil
	}
	return w
}

// finish fails if nothing was measured.
func (w *window) finish(t *rig.T) {
	if w.last <= w.first {
		t.Fatalf("nothing was measured")
	}
}

// cycles is how long it took.
func (w *window) cycles() float64 { return float64(w.last - w.first) }
