// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/internal/cache"
	"incforge/synth/netlist"
	"incforge/synth/rtlil"
	"incforge/synth/yosys"
)

// genericSteps are those of Yosys's own synth without what finds nothing here, or what a later step does again: share, which asks a SAT
// solver about every pair of a word's shifters; fsm, which finds one machine in mini; and folding and merging of
// single gates, which ABC and Simplify do. remembers says that the module has memories that become flops.
func genericSteps(remembers bool) []string {
	steps := []string{"opt_clean", "opt", "wreduce", "peepopt", "opt_clean", "alumacc"}
	if remembers {
		steps = append(steps, "opt", "memory -nomap", "opt_clean", "opt -fast -full")
	} else {
		steps = append(steps, "memory -nomap") // proc makes tables of large case statements
	}
	return append(steps, "memory_map", "opt -full", "techmap", "opt_dff")
}

// shop runs Yosys on modules, one process each, and keeps what comes out by what went in.
type shop struct {
	store cache.Store
	yosys string // version
	limit time.Duration
}

// gatesOf returns a module in Yosys's own gates. One that only holds others is that already.
func (s *shop) gatesOf(ctx context.Context, p *part) ([]byte, error) {
	if p.wrapper {
		return []byte(p.text), nil
	}
	dir, err := s.generic(ctx, p)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.il"))
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	return text, nil
}

// generic synthesises a module to Yosys's own gates and returns the folder of what came out: out.il and
// the files that the last commands write.
func (s *shop) generic(ctx context.Context, p *part, last ...string) (dir string, err error) {
	script := []string{"read_rtlil in.il", "proc"}
	if len(p.gone) > 0 {
		script = append(script, "flatten", "delete "+strings.Join(p.gone, " "))
	}
	script = append(append(script, genericSteps(p.remembers)...), last...)
	script = append(script, "opt_clean -purge", "write_rtlil out.il")
	k := cache.NewKey()
	k.Add("incforge generic 1", s.yosys)
	k.Add(script...)
	k.Add(p.text)
	dir, _, err = s.store.Get(ctx, "generic-"+k.Sum(), func(dir string) error {
		return s.run(ctx, dir, "generic", script, []byte(p.text))
	})
	if err != nil {
		return "", fmt.Errorf("synth: %s: %w", p.name, err)
	}
	return dir, nil
}

// run gives the text to a script as in.il.
func (s *shop) run(ctx context.Context, dir, name string, script []string, text []byte) error {
	file := filepath.Join(dir, "in.il")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	if err := yosys.Run(ctx, dir, name, script, s.limit); err != nil {
		return err
	}
	return os.Remove(file)
}

// clockGate is the clock gate that a technology offers, nil if it has none.
func (f *flow) clockGate() *rtlil.ClockGate {
	g := f.t.gate
	if g.Name == "" || f.o.NoClockGates {
		return nil
	}
	return &rtlil.ClockGate{Cell: g.Name, Clock: g.GateClock, Enable: g.GateEnable, Out: g.GateOut, Least: leastGated, Most: mostGated}
}

// A bank of fewer flops than leastGated keeps its multiplexers. A gate takes 1.6 um2 and a multiplexer 1.0 um2 a flop, so two flops
// would do for the cells' area; but every gate is a branch of the clock tree, which nothing here counts. TestGatePays measures both
// sides. mostGated is what a gate's setup time allows for.
const (
	leastGated = 4
	mostGated  = 32
)

// mapped maps a module's gates onto cells and returns its text.
func (f *flow) mapped(ctx context.Context, p *part, gates string, e effort) ([]byte, error) {
	if !strings.Contains(gates, "\n  cell $") {
		return []byte(gates), nil
	}
	s, err := abcScript(e.script, f.t.hasWire)
	if err != nil {
		return nil, err
	}
	if s != "" {
		s = " -script " + s
	}
	// Smaller than one gate the budget means nothing to ABC.
	budget := max(1e6/f.o.ClockMHz/Derate-ffFO4*f.t.fo4, f.t.fo4) * e.part
	// One library only: dfflibmap and abc take no second one. Enables that no clock gate replaced and synchronous resets become logic
	// in front of D, so plain flops suffice.
	script := []string{
		"read_rtlil in.il",
		"dfflibmap -liberty " + filepath.Join(f.dir, "flops.lib"),
		// ABC folds and merges gates itself. Never opt -full from here on: it would run
		// opt_share and leave $mux cells, which abc skips and whose area is then missing.
		"opt_clean",
		fmt.Sprintf("abc -liberty %s -constr %s -D %.0f%s", filepath.Join(f.dir, "map.lib"), filepath.Join(f.dir, "abc.constr"), budget, s),
		"setundef -zero", "opt_clean -purge",
		// Cells are called after what they drive, so that paths can be read. The suffix is one that no net has:
		// Yosys stops where a cell would get the name of a net, as with `live` beside `live_reg`.
		"rename -wire -suffix _cell",
		"write_rtlil out.il",
	}
	k := cache.NewKey()
	k.Add("incforge mapped 1", f.shop.yosys, f.abc, gates)
	for _, line := range script {
		k.Add(strings.ReplaceAll(line, f.dir, ""))
	}
	k.Add(string(f.t.mapText), string(f.t.flopText), f.constr)
	dir, _, err := f.shop.store.Get(ctx, "mapped-"+k.Sum(), func(dir string) error {
		return f.shop.run(ctx, dir, "map", script, []byte(gates))
	})
	if err != nil {
		return nil, fmt.Errorf("synth: %s: %w", p.name, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.il"))
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	return text, nil
}

// prepared gives a module of gates its clock gates and the trees that drive the modules in it.
func (f *flow) prepared(p *part, m *netlist.Module, all map[string]*netlist.Module) string {
	text := m.RTLIL()
	if gates := f.clockGate(); gates != nil {
		gated := rtlil.Split([]byte(text))[0]
		gated.GateClocks(*gates)
		text = gated.Text(gated.Name)
	}
	// The ports of what is in the module must be known; of cells, those of the clock gates and of the trees' buffers.
	text = "autoidx 1000000\n" + text
	for _, id := range slices.Sorted(maps.Keys(p.boxes)) {
		if below, ok := all[id]; ok { // with the ports that Merge gave it
			text += below.Interface()
		} else {
			text += p.boxes[id]
		}
	}
	text += f.t.gate.BlackBox() + f.t.fanout.BlackBox()
	return string(rtlil.Fanout([]byte(text), f.t.fanout.Name, pin(f.t.fanout, "input"), pin(f.t.fanout, "output"), f.d.Clock.Port, f.d.Clock.Reset))
}

// abcScript returns the ABC script of a name as Yosys wants it: a plus, commas
// for blanks. {D} becomes "-D <ps>" with the flag, so it stands alone. Other
// things learnt the hard way: Yosys's own script maps with &nf, which does not
// look at -D at all; there is no abc.rc, so no aliases such as resyn2; ABC counts
// the library's wire load only in the commands that are given -c.
func abcScript(name string, wires bool) (string, error) {
	front := map[string]string{
		// Without ifraig, which merges gates of one function, inc_csr takes a fifth more; -m maps multiplexers as such.
		ScriptQuick:   "strash;ifraig;balance;rewrite;balance;amap,-m,-Q,10;",
		ScriptXOR:     "strash;&get,-n;&b;&dch,-f;&nf;&put;",
		ScriptDefault: "strash;balance;resub;rewrite;balance;dch,-f;map,-B,0.7,{D};",
		ScriptFast:    "strash;ifraig;if,-g;strash;resub;rewrite;balance;dch;map,-B,0.9,{D};",
		// The second strash is needed: dch after a mapped network fails.
		ScriptFastest: "strash;dch;if,-g,-K,6,-C,8;strash;dch;if,-g,-K,6;strash;dch;map,-B,0.9,{D};",
	}
	if name == ScriptArea {
		return "", nil
	}
	script, ok := front[name]
	if !ok {
		return "", fmt.Errorf("synth: unknown ABC script %q (def, quick, m14, m17, m20, m10)", name)
	}
	c := ""
	if wires {
		c = ",-c"
	}
	return "+" + script + "topo;buffer,-c,-N,16;topo;upsize" + c + ",{D};dnsize" + c + ",{D};stime" + c + ",-p", nil
}
