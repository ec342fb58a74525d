// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"incforge/contract"
	"incforge/sim"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// aggregator is the module that adds, as the core instantiates it.
const aggregator = "inc_aggregate_data"

// aggregatorParams reads the aggregator's parameters where the generated core sets them: the manifest has no place for them.
func aggregatorParams(m *contract.Manifest) (map[string]string, error) {
	for _, f := range m.Files {
		text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(f)))
		if err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", aggregator, err)
		}
		found := regexp.MustCompile(`(?s)\b` + aggregator + `\s*#\((.*?)\)\s*u_aggregate\b`).FindSubmatch(text)
		if found == nil {
			continue
		}
		params := map[string]string{}
		for _, p := range regexp.MustCompile(`\.(\w+)\s*\(([^()]*)\)`).FindAllSubmatch(found[1], -1) {
			params[string(p[1])] = string(bytes.TrimSpace(p[2]))
		}
		return params, nil
	}
	return nil, fmt.Errorf("no file of %s instantiates %s", m.Name, aggregator)
}

// coreCycles measures the aggregator alone: cycles from the one in which the last contribution's payload word is written into the
// packet buffer to the one in which the result's word is emitted. Contributions are one word each, from as many members as
// there are, up to eight; the work is known when the word comes, and nothing waits for an ICRC. The sum is checked.
func coreCycles(t *rig.T, buildDir string, k arith.Kind) (uint64, error) {
	params, err := aggregatorParams(t.Manifest)
	if err != nil {
		return 0, err
	}
	build, err := sim.FromManifest(t.Manifest.Dir, "core")
	if err != nil {
		return 0, err
	}
	build.Top, build.Ports, build.Params, build.CacheDir = aggregator, nil, params, buildDir
	lib, err := build.Compile(t.Context())
	if err != nil {
		return 0, fmt.Errorf("build %s: %w", aggregator, err)
	}
	model, err := lib.New(sim.Options{Random: true, Seed: t.Rand.Uint64()})
	if err != nil {
		return 0, err
	}
	defer model.Close()
	r := &coreRig{model: model, ports: map[string]*sim.Port{}, tree: t.Params.Reproducible()}
	for _, p := range lib.Ports() {
		if r.ports[p.Name], err = model.Port(p.Name); err != nil {
			return 0, err
		}
	}
	if err := model.ResetFor(4); err != nil {
		return 0, err
	}
	for name, p := range r.ports {
		if p.Dir() == sim.In && name != lib.Clock() && name != lib.Reset() {
			p.Set(make([]byte, (p.Width()+7)/8))
		}
	}
	r.set("emit_room", 1)
	members := min(t.Params.Members, 8)
	worst := uint64(0)
	for unit := range 4 { // and again, over what is there already
		cycles, err := r.measure(t, k, 2*(unit%2), members)
		if err != nil {
			return 0, err
		}
		worst = max(worst, cycles)
	}
	return worst, nil
}

// coreRig drives the aggregator.
type coreRig struct {
	model *sim.Model
	ports map[string]*sim.Port
	tree  bool

	written uint64 // words in the packet buffer so far
	words   [][]byte
	emitted []byte
}

// set drives an input, if the module has it.
func (r *coreRig) set(name string, v uint64) {
	if p, ok := r.ports[name]; ok {
		p.SetUint64(v)
	}
}

// cycle passes one clock. Outputs are then those of that cycle.
func (r *coreRig) cycle() error {
	size := uint64(1) << r.ports["newest"].Width()
	r.set("newest", r.written%size)
	if err := r.model.Tick(); err != nil {
		return err
	}
	r.set("op_valid", 0)
	if r.ports["rd_en"].Bool() {
		r.ports["rd_data"].Set(r.words[r.ports["rd_addr"].Uint64()])
	}
	r.emitted = nil
	if r.ports["emit_valid"].Bool() {
		r.emitted = slices.Clone(r.ports["emit_data"].Bytes())
	}
	return nil
}

func (r *coreRig) cycles(n int) error {
	for range n {
		if err := r.cycle(); err != nil {
			return err
		}
	}
	return nil
}

// measure has members contribute to a slot, and returns the latency of the last one.
func (r *coreRig) measure(t *rig.T, k arith.Kind, unit, members int) (uint64, error) {
	const patience = 200
	size := uint64(1) << r.ports["newest"].Width()
	if r.words == nil {
		r.words = make([][]byte, size)
	}
	var all [][]byte
	for c := range members {
		last, first := c == members-1, c == 0
		if r.tree {
			first = c%2 == 0
		}
		r.set("pkt_start", r.written%size)
		r.set("op_valid", 1)
		r.set("op_start", r.written%size)
		r.set("op_words", 1)
		r.set("op_slot", uint64(unit))
		if r.tree {
			r.set("op_pair", uint64(c/2))
			r.set("op_pairs", 1<<((members+1)/2)-1)
		}
		flag := func(name string, v bool) { r.set(name, map[bool]uint64{true: 1}[v]) }
		flag("op_read", !first)
		flag("op_take", true)
		flag("op_write", true)
		flag("op_emit", last && !r.tree)
		flag("op_reduce", last && r.tree)
		r.set("op_function", uint64(k.Op))
		r.set("op_dtype", uint64(k.DType))
		flag("op_big_endian", k.BigEndian)
		if err := r.cycles(2); err != nil { // the work is known and waits for its word
			return 0, err
		}
		word := k.Values(t.Rand, 1, members, t.Params.BusBytes)
		all = append(all, word)
		r.words[r.written%size] = word
		if err := r.cycle(); err != nil { // the word is at the packet buffer's write port
			return 0, err
		}
		offered := r.model.Now()
		r.written++
		if !last { // done with before the next one comes
			if err := r.cycles(patience); err != nil {
				return 0, err
			}
			continue
		}
		for r.emitted == nil {
			if err := r.cycle(); err != nil {
				return 0, err
			}
			if r.model.Now() > offered+patience {
				return 0, errors.New("the aggregator never emits")
			}
		}
		want := k.InOrder(all...)
		if r.tree {
			want = k.Tree(all)
		}
		if !bytes.Equal(r.emitted, want) {
			return 0, fmt.Errorf("the aggregator alone, %s: %s", k, k.Difference(r.emitted, want))
		}
		return r.model.Now() - offered, nil
	}
	return 0, errors.New("nobody contributes")
}

// core adds core_cycles to b: of FP32, as the paper's figure is, or else the slowest 32-bit type, or what there is.
func core(t *rig.T, buildDir string, b *Result) error {
	for _, class := range dtypeClasses() {
		k, ok := classKind(t, class)
		if !ok {
			continue
		}
		cycles, err := coreCycles(t, buildDir, k)
		if err != nil {
			return err
		}
		b.cycles("core_"+class.name, cycles)
		if _, ok := b.Metrics["core_cycles"]; !ok || class.name == "fp32" {
			b.cycles("core", cycles)
		}
	}
	b.Metrics["paper_core_ns"] = paperCoreNS
	return nil
}
