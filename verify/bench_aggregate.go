// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"

	"incforge/verify/arith"
	"incforge/verify/dut"

	"incforge/inc"
)

// dtypeClass is a set of element types that take the same way through the engine.
type dtypeClass struct {
	name  string
	types []arith.DType
}

func dtypeClasses() []dtypeClass {
	return []dtypeClass{{"int32", []arith.DType{arith.INT32}}, {"fp32", []arith.DType{arith.FP32}},
		{"16bit", []arith.DType{arith.FP16, arith.BF16}}}
}

// BenchAggregate measures what the aggregator's read-after-write hazard costs: on the core with its single stream, input without a
// rest, output never held up, every member's packet for one slot back to back, of payloads as short as there are. The keys are
// FIGURE_SIZE_CLASS_ORDER:
//
//	FIGURE  beats_per_cycle     input beats the core accepts a cycle
//	        cycles_per_packet   the same for packets
//	SIZE    min_payload         one element
//	        word                as many bytes as the bus has
//	CLASS   int32, fp32, 16bit  of what the configuration includes, SUM if there is one
//	ORDER   (none)              every member's packet for one slot, then the next slot's
//	        turns               the members in turn, each at a slot of its own
//
// and beats_per_cycle_min_payload, beats_per_cycle_word, the least over the classes. Each result is compared with the reference's.
// core_cycles, core_CLASS_cycles and the same in ns are of the aggregator alone: payload word in to sum out.
func BenchAggregate(ctx context.Context, o BenchOptions) (Bench, error) {
	t, err := single(ctx, Options{ManifestDir: o.ManifestDir, DUT: KindCore, BuildDir: o.BuildDir}, "bench", o.Seed)
	if err != nil {
		return Bench{}, err
	}
	defer t.close()
	b := Bench{Bench: "aggregate", Config: t.man.Name, Metrics: map[string]float64{"clock_mhz": float64(t.p.ClockMHz),
		"members": float64(t.p.Members)}}
	if err := t.benchAggregate(&b); err != nil {
		return b, err
	}
	return b, t.core(ctx, o.BuildDir, &b)
}

func (t *T) benchAggregate(b *Bench) error {
	for _, class := range dtypeClasses() {
		k, ok := t.classKind(class)
		if !ok {
			continue
		}
		for _, size := range []struct {
			name  string
			bytes int
		}{{"min_payload", k.DType.Size()}, {"word", t.p.BusBytes}} {
			for _, turns := range []bool{false, true} {
				name := size.name + "_" + class.name
				if turns {
					name += "_turns"
				}
				beats, packets, err := t.packetRate(k, size.bytes, turns)
				if err != nil {
					return fmt.Errorf("aggregate %s: %w", name, err)
				}
				b.Metrics["beats_per_cycle_"+name], b.Metrics["cycles_per_packet_"+name] = beats, 1/packets
				if least, ok := b.Metrics["beats_per_cycle_"+size.name]; !turns && (!ok || beats < least) {
					b.Metrics["beats_per_cycle_"+size.name] = beats
				}
			}
		}
	}
	return nil
}

// classKind is what a group of a class computes: SUM if it is included.
func (t *T) classKind(class dtypeClass) (arith.Kind, bool) {
	for _, k := range t.fitting(1) { // SUM comes first
		for _, d := range class.types {
			if k.DType == d {
				return k, true
			}
		}
	}
	return arith.Kind{}, false
}

// packetRate is how many beats and packets a cycle the engine accepts.
func (t *T) packetRate(k arith.Kind, size int, turns bool) (beats, packets float64, err error) {
	e, err := t.newEngine()
	if err != nil {
		return 0, 0, err
	}
	members := t.p.Members
	g, err := e.newGroup(0, 1, members, false, withKind(k), withLog2N(6))
	if err != nil {
		return 0, 0, err
	}
	rounds := max(throughputRounds/g.mw(), 3) * g.mw()
	for step := range rounds + g.mw() {
		for c := range members {
			ahead := 0
			if turns {
				ahead = c * g.mw() / members
			}
			if n := step - ahead; n >= 0 && n < rounds {
				f := g.data(c, g.set.Start.Add(n), g.noise(size))
				e.send(f.port, f.data)
			}
		}
	}
	// The first and the last window are left out: the pipe fills and empties.
	skip := members * g.mw()
	total := e.Waiting()
	n, sum := 0, 0
	var first, last uint64
	e.OnAccept = func(a dut.Accepted, changed []inc.Counter) error {
		if n++; n == skip {
			first = a.At
		} else if n > skip && n <= total-skip {
			sum += t.beats(len(a.Data))
			last = a.At
		}
		return nil
	}
	if _, err := e.settle(); err != nil {
		return 0, 0, err
	}
	if last <= first {
		return 0, 0, errors.New("nothing was measured")
	}
	counters, err := e.Finish()
	if err != nil {
		return 0, 0, err
	}
	if want := uint64(rounds); counters["TX_RESULT"] != want || counters["AGG"] != want*uint64(members) {
		return 0, 0, failf("%d results of %d contributions, expected %d of %d", counters["TX_RESULT"], counters["AGG"], want, want*uint64(members))
	}
	cycles := float64(last - first)
	return float64(sum) / cycles, float64(total-2*skip) / cycles, nil
}
