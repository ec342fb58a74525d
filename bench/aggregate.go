// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"

	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// dtypeClass is a set of element types that take the same path through the engine.
type dtypeClass struct {
	name  string
	types []arith.DType
}

func dtypeClasses() []dtypeClass {
	return []dtypeClass{{"int32", []arith.DType{arith.INT32}}, {"fp32", []arith.DType{arith.FP32}},
		{"16bit", []arith.DType{arith.FP16, arith.BF16}}}
}

// Aggregate measures the cost of the aggregator's read-after-write hazard. The core's single input stream never
// pauses, its output is never stalled, all members' packets for one slot come back to back, and payloads are as short
// as possible. The keys are FIGURE_SIZE_CLASS_ORDER:
//
//	FIGURE  beats_per_cycle     input beats that the core accepts per cycle
//	        cycles_per_packet   cycles per accepted packet
//	SIZE    min_payload         one element
//	        word                as many bytes as the bus has
//	CLASS   int32, fp32, 16bit  those that the configuration includes, with SUM if it includes that
//	ORDER   (none)              every member's packet for one slot, then the next slot's
//	        turns               the members in turn, each at its own slot
//
// and beats_per_cycle_min_payload, beats_per_cycle_word, the lowest over the classes. Each result is compared with
// the reference's. core_cycles and core_CLASS_cycles are the aggregator's own latency: payload word
// in to sum out.
func Aggregate(ctx context.Context, o Options) (b Result, err error) {
	t, err := open(ctx, o.ManifestDir, dut.KindCore, o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	b = o.result("aggregate", t.Manifest)
	b.Metrics["members"] = float64(t.Params.Members)
	if err := aggregate(t, &b); err != nil {
		return b, err
	}
	return b, core(t, o.BuildDir, &b)
}

func aggregate(t *rig.T, b *Result) error {
	for _, class := range dtypeClasses() {
		k, ok := classKind(t, class)
		if !ok {
			continue
		}
		for _, size := range []struct {
			name  string
			bytes int
		}{{"min_payload", k.DType.Size()}, {"word", t.Params.BusBytes}} {
			for _, turns := range []bool{false, true} {
				name := size.name + "_" + class.name
				if turns {
					name += "_turns"
				}
				beats, packets, err := packetRate(t, k, size.bytes, turns)
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
func classKind(t *rig.T, class dtypeClass) (arith.Kind, bool) {
	for _, k := range t.Fitting(1) { // SUM comes first
		for _, d := range class.types {
			if k.DType == d {
				return k, true
			}
		}
	}
	return arith.Kind{}, false
}

// packetRate measures how many beats and packets per cycle the engine accepts.
func packetRate(t *rig.T, k arith.Kind, size int, turns bool) (beats, packets float64, err error) {
	err = rig.Catch(func() {
		e := t.Engine()
		members := t.Params.Members
		g := e.Group(0, 1, members, false, rig.WithKind(k), rig.WithLog2N(6))
		rounds, spread := max(throughputRounds/g.MW(), 3)*g.MW(), 0
		if turns {
			spread = g.MW()
		}
		inTurn(g, rounds, spread, func(c, n int) { e.Put(g.Data(c, g.Start().Add(n), g.Noise(size))) })
		w := watch(g)
		e.Settle()
		w.finish(t)
		counters, err := e.Finish()
		t.Check(err)
		if want := uint64(rounds); counters["TX_RESULT"] != want || counters["AGG"] != want*uint64(members) {
			t.Fatalf("%d results of %d contributions, expected %d of %d", counters["TX_RESULT"], counters["AGG"], want, want*uint64(members))
		}
		beats, packets = float64(w.beats)/w.cycles(), float64(w.packets)/w.cycles()
	})
	return beats, packets, err
}
