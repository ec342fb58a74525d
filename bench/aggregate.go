// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"slices"

	"incforge/inc"
	"incforge/report"
	"incforge/verify/arith"
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
// the reference's. core_cycles, core_CLASS_cycles and the same in ns are the aggregator's own latency: payload word
// in to sum out.
func Aggregate(ctx context.Context, o Options) (report.Bench, error) {
	return onCore(ctx, "aggregate", o.ManifestDir, o.Seed, func(t *rig.T, m metrics) {
		m["members"] = float64(t.Params.Members)
		for _, class := range dtypeClasses() {
			k, ok := classKind(t, class)
			if !ok {
				continue
			}
			for _, turns := range []bool{false, true} {
				aggregate(t, m, k, "min_payload", class.name, k.DType.Size(), turns)
				aggregate(t, m, k, "word", class.name, t.Params.BusBytes, turns)
			}
		}
		core(t, m)
	})
}

// classKind is what a group of a class computes: SUM if it is included.
func classKind(t *rig.T, class dtypeClass) (arith.Kind, bool) {
	for _, k := range t.Fitting(1) { // SUM comes first
		if slices.Contains(class.types, k.DType) {
			return k, true
		}
	}
	return arith.Kind{}, false
}

// aggregate measures how many beats and packets per cycle the engine accepts.
func aggregate(t *rig.T, m metrics, k arith.Kind, size, class string, bytes int, turns bool) {
	name := size + "_" + class
	if turns {
		name += "_turns"
	}
	t.In("aggregate "+name, func() {
		e := t.Engine()
		members := t.Params.Members
		g := e.Group(0, 1, members, false, rig.WithKind(k), rig.WithLog2N(6))
		rounds, spread := max(throughputRounds/g.MW(), 3)*g.MW(), 0
		if turns {
			spread = g.MW()
		}
		inTurn(g, rounds, spread, func(c, n int) { e.Put(g.Data(c, g.Start().Add(n), g.Noise(bytes))) })
		w := watch(g)
		e.Settle()
		e.Counted("all that was offered", map[inc.Counter]uint32{inc.TxResult: uint32(rounds), inc.Agg: uint32(rounds * members)})
		beats, least := w.rate(w.beats), "beats_per_cycle_"+size
		m["beats_per_cycle_"+name], m["cycles_per_packet_"+name] = beats, 1/w.rate(w.packets)
		if so, ok := m[least]; !turns && (!ok || beats < so) {
			m[least] = beats
		}
	})
}
