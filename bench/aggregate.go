// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"incforge/hdl/parser"
	"incforge/report"
	"incforge/sim"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// eachClass calls f for every class of element types that take the same path through the engine and are built in, with what a group of the
// class computes: SUM if that is built in.
func eachClass(t *rig.T, f func(class string, k arith.Kind)) {
	kinds := t.Fitting(1) // SUM comes first
	for _, class := range []struct {
		name  string
		types []arith.DType
	}{{"int32", []arith.DType{arith.INT32}}, {"fp32", []arith.DType{arith.FP32}}, {"16bit", []arith.DType{arith.FP16, arith.BF16}}} {
		i := slices.IndexFunc(kinds, func(k arith.Kind) bool { return slices.Contains(class.types, k.DType) })
		if i >= 0 {
			f(class.name, kinds[i])
		}
	}
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
	return onCore(ctx, "aggregate", o.ManifestDir, o, func(t *rig.T, m metrics) {
		m["members"] = float64(t.Params.Members)
		eachClass(t, func(class string, k arith.Kind) {
			for _, turns := range []bool{false, true} {
				aggregate(t, m, k, "min_payload", class, k.DType.Size(), turns)
				aggregate(t, m, k, "word", class, t.Params.BusBytes, turns)
			}
		})
		core(t, m, o)
	})
}

// aggregate measures how many beats and packets per cycle the engine accepts.
func aggregate(t *rig.T, m metrics, k arith.Kind, size, class string, bytes int, turns bool) {
	name := size + "_" + class
	if turns {
		name += "_turns"
	}
	t.In("aggregate "+name, func() {
		g := t.Engine().Group(0, 1, t.Params.Members, false, rig.WithKind(k), rig.WithLog2N(6))
		s := stream(g, traffic{bytes: bytes, worst: !turns, every: one(t.Pipes())})
		beats := float64(s.beats) / s.cycles
		m["beats_per_cycle_"+name], m["cycles_per_packet_"+name] = beats, 1/(float64(s.frames)/s.cycles)
		if !turns {
			m.lower("beats_per_cycle_"+size, beats)
		}
	})
}

// aggregator is the module that adds, as the core instantiates it.
const aggregator = "inc_aggregate_data"

// aggregatorParams reads the aggregator's parameters where the generated core sets them: the manifest has no place for them.
func aggregatorParams(t *rig.T) map[string]string {
	for _, f := range t.Manifest.Files {
		text, err := os.ReadFile(filepath.Join(t.Manifest.Dir, filepath.FromSlash(f)))
		t.Check(err)
		found := regexp.MustCompile(`(?s)\b` + aggregator + `\s*#\((.*?)\)\s*u_aggregate\b`).FindSubmatch(text)
		if found == nil {
			continue
		}
		params := map[string]string{}
		for _, p := range regexp.MustCompile(`\.(\w+)\s*\(([^()]*)\)`).FindAllSubmatch(found[1], -1) {
			params[string(p[1])] = string(bytes.TrimSpace(p[2]))
		}
		return params
	}
	t.Fatalf("no file of %s instantiates %s", t.Manifest.Name, aggregator)
	return nil
}

// coreCycles measures the aggregator alone: cycles from the one in which the last contribution's payload word is written into the
// packet buffer to the one in which the result's word is emitted. Contributions are one word each, from so many members; the work is
// known when the word comes, and nothing waits for an ICRC. The sum is checked.
func coreCycles(t *rig.T, k arith.Kind, members int) uint64 {
	build, err := sim.FromManifest(t.Manifest.Dir, "core")
	t.Check(err)
	build.Top, build.Ports, build.Params = aggregator, nil, aggregatorParams(t)
	lib, err := build.Compile(t.Context())
	t.Check(err)
	model, err := lib.New(sim.Options{Random: true, Seed: t.Rand.Uint64()})
	t.Check(err)
	defer model.Close()
	r := &coreRig{T: t, model: model, ports: map[string]*sim.Port{}, tree: t.Params.Reproducible(), members: members}
	t.Check(model.ResetFor(4))
	for _, p := range lib.Ports() {
		r.ports[p.Name], err = model.Port(p.Name)
		t.Check(err)
		if p.Dir == sim.In && p.Name != lib.Clock() && p.Name != lib.Reset() {
			r.set(p.Name, 0)
		}
	}
	r.set("emit_room", 1)
	r.words = make([][]byte, 1<<r.ports["newest"].Width())
	worst := uint64(0)
	for unit := range 4 { // and again, over what is there already
		worst = max(worst, r.measure(k, 2*(unit%2)))
	}
	return worst
}

// coreRig drives the aggregator.
type coreRig struct {
	*rig.T
	model   *sim.Model
	ports   map[string]*sim.Port
	tree    bool
	members int

	words   [][]byte // the packet buffer
	written int      // words written so far
	emitted []byte
}

// patience is how many cycles the aggregator has for a contribution.
const patience = 200

func (r *coreRig) set(name string, v uint64) { r.ports[name].SetUint64(v) }

// cycles passes clocks. Outputs are then those of the last one.
func (r *coreRig) cycles(n int) {
	for range n {
		r.set("newest", r.place())
		r.Check(r.model.Tick())
		r.set("op_valid", 0)
		if r.ports["rd_en"].Bool() {
			r.ports["rd_data"].Set(r.words[r.ports["rd_addr"].Uint64()])
		}
		r.emitted = nil
		if r.ports["emit_valid"].Bool() {
			r.emitted = slices.Clone(r.ports["emit_data"].Bytes())
		}
	}
}

// place is where the next word comes in the packet buffer.
func (r *coreRig) place() uint64 { return uint64(r.written % len(r.words)) }

// measure has all members contribute to a slot, and returns the latency of the last one.
func (r *coreRig) measure(k arith.Kind, slot int) uint64 {
	var all [][]byte
	for c := range r.members {
		r.cycles(min(c, 1) * patience) // the one before is done with
		all = append(all, r.contribute(k, slot, c))
	}
	offered := r.model.Now()
	for r.emitted == nil {
		r.cycles(1)
		if r.model.Now() > offered+patience {
			r.Fatalf("the aggregator never emits")
		}
	}
	want := k.InOrder(all...)
	if r.tree {
		want = k.Tree(all)
	}
	if !bytes.Equal(r.emitted, want) {
		r.Fatalf("the aggregator alone, %s: %s", k, k.Difference(r.emitted, want))
	}
	return r.model.Now() - offered
}

// start is where a packet begins in the packet buffer whose payload begins there: so many beats before as its header fills.
func (r *coreRig) start() uint64 {
	return (r.place() - uint64(parser.Start/r.Params.BusBytes)) % uint64(len(r.words))
}

// contribute has a member's word written, and returns it.
func (r *coreRig) contribute(k arith.Kind, slot, c int) []byte {
	first, last := c == 0, c == r.members-1
	if r.tree {
		first = c%2 == 0
		r.set("op_pair", uint64(c/2))
		r.set("op_pairs", 1<<(c/2+1)-1)
	}
	flag := map[bool]uint64{true: 1}
	for _, in := range []struct {
		port string
		v    uint64
	}{{"pkt_start", r.place()}, {"op_start", r.start()}, {"rd_ready", 1}, {"rd_there", 1}, {"op_words", 1}, {"op_slot", uint64(slot)}, {"op_valid", 1},
		{"op_function", uint64(k.Op)}, {"op_dtype", uint64(k.DType)}, {"op_big_endian", flag[k.BigEndian]}, {"op_take", 1},
		{"op_write", 1}, {"op_read", flag[!first]}, {"op_emit", flag[last && !r.tree]}, {"op_reduce", flag[last && r.tree]}} {
		r.set(in.port, in.v)
	}
	r.cycles(2) // the work is known and waits for its word
	word := k.Values(r.Rand, 1, r.members, r.Params.BusBytes)
	r.words[r.place()] = word
	r.cycles(1) // the word is at the packet buffer's write port
	r.written++
	return word
}

// core adds core_cycles to m: of FP32, as the paper's figure is, or else the slowest 32-bit type, or what there is.
func core(t *rig.T, m metrics, o Options) {
	eachClass(t, func(class string, k arith.Kind) {
		cycles := coreCycles(t, k, o.members(t.Params.Members))
		m["core_"+class+"_cycles"] = float64(cycles)
		if _, ok := m["core_cycles"]; !ok || class == "fp32" {
			m["core_cycles"] = float64(cycles)
		}
	})
	m["paper_core_ns"] = paperCoreNS
}
