// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/internal/tool"
	"incforge/synth/design"
	"incforge/synth/liberty"
	"incforge/synth/yosys"
)

// Derate is applied to late delays: the library averages rise and fall, which
// real planar libraries do not, and is 12-22 % optimistic against them.
const Derate = 1.15

// Scripts for ABC, see abcScript.
const (
	ScriptAuto    = ""    // m17, and m14 for modules that are mostly exclusive or; harder where paths fail
	ScriptArea    = "def" // smallest; ignores the clock
	ScriptXOR     = "m14" // parity trees: a fifth smaller
	ScriptDefault = "m17" // obeys the clock
	ScriptFast    = "m20"
	ScriptFastest = "m10" // a quarter to a half more area
)

// Options say how to synthesise.
type Options struct {
	// Top is "core", "switch" or a module name; "" is the core. A module has the parameters that it has in the design; where it has
	// several sets of them, the name is one of a report's, as inc_fifo__2.
	Top string
	// Tech is "generic28" (also ""), "osu018", or the path of a .lib or .lib.gz file.
	Tech string
	// Corner of generic28: "typical" (also "") or "slow".
	Corner string
	// ClockMHz is the target; 0 is the manifest's.
	ClockMHz float64
	// BitCell is "dense" or "high-current"; "" takes the dense cell up to 700 MHz.
	BitCell string
	// Flatten dissolves the hierarchy: a little smaller, slower to run, no area by module.
	Flatten bool
	// Script is one of the Script constants.
	Script string
	// WorkDir keeps the tools' files; "" uses a temporary folder that is removed.
	WorkDir string
	// Timeout bounds each run of a tool; 0 is two hours.
	Timeout time.Duration
}

// flow is one synthesis under way.
type flow struct {
	o        Options
	d        *design.Design
	choice   design.Choice
	top      string // the module's name, of its parameters if there are several sets
	clocked  bool   // it has the clock
	t        *technology
	rams     []*design.RAMSource
	memories []memory
	dir      string
	tree     yosys.Tree
	log      *logrus.Entry
}

// Run synthesises the design beside the manifest in dir and measures it. A
// missing program or library is a *tool.NotFoundError; cells without an area are
// an error, because leaving them out would make the result too small.
func Run(ctx context.Context, dir string, o Options) (*Metrics, error) {
	f, done, err := start(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer done()
	began := time.Now()
	stat, timing, err := f.close(ctx)
	if err != nil {
		return nil, err
	}
	m, err := f.measure(stat, timing)
	if err != nil {
		return nil, err
	}
	if m.Tools, err = versions(ctx); err != nil {
		return nil, err
	}
	f.log.WithField("seconds", int(time.Since(began).Seconds())).Info("synthesised")
	return m, nil
}

func versions(ctx context.Context) (map[string]string, error) {
	y, err := yosys.Version(ctx)
	if err != nil {
		return nil, err
	}
	s, err := tool.Version(ctx, "sta", "-version")
	if err != nil {
		return nil, err
	}
	return map[string]string{"yosys": tool.Number(y), "opensta": tool.Number(s)}, nil
}

// start reads the manifest, makes the working folder and the libraries.
func start(ctx context.Context, dir string, o Options) (*flow, func(), error) {
	d, err := design.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	choice, err := d.Choose(o.Top)
	if err != nil {
		return nil, nil, err
	}
	if o.ClockMHz == 0 {
		o.ClockMHz = d.Clock.MHz
	}
	if o.ClockMHz <= 0 {
		return nil, nil, fmt.Errorf("synth: clock of %g MHz", o.ClockMHz)
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Hour
	}
	if _, err := abcScript(o.Script, false); o.Script != ScriptAuto && err != nil {
		return nil, nil, err
	}
	top := choice.Inside
	if top == "" {
		top = choice.Tops[0].Module
	}
	f := &flow{o: o, d: d, choice: choice, top: top, dir: o.WorkDir, log: logrus.WithFields(logrus.Fields{"design": d.Name, "top": top})}
	done := func() {}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "incforge-synth-"); err != nil {
			return nil, nil, fmt.Errorf("synth: %w", err)
		}
		done = func() {
			if err := os.RemoveAll(f.dir); err != nil {
				f.log.WithError(err).Warn("working folder stays")
			}
		}
	} else if f.dir, err = filepath.Abs(f.dir); err != nil {
		return nil, nil, fmt.Errorf("synth: %w", err)
	} else if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("synth: %w", err)
	}
	if err := f.prepare(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

func (f *flow) prepare(ctx context.Context) error {
	var err error
	if f.t, err = loadTechnology(ctx, f.dir, f.o.Tech, f.o.Corner); err != nil {
		return err
	}
	if f.rams, err = f.d.RAMs(); err != nil {
		return err
	}
	if f.memories, err = planMemories(f.d, f.t, f.o); err != nil {
		return err
	}
	var macros []liberty.SRAM
	for _, m := range f.memories {
		if m.macro != nil {
			macros = append(macros, *m.macro)
		}
	}
	files := map[string][]byte{
		"cells.lib": f.t.text,
		"sram.lib":  liberty.GenerateSRAM(f.t.sram, macros),
		// ABC takes the driving cell by name and the load in fF.
		"abc.constr": fmt.Appendf(nil, "set_driving_cell %s\nset_load %.4f\n", f.t.driver.Name, f.t.loadFF),
	}
	if len(f.rams) > 0 {
		files["ram.v"] = []byte(ramVerilog(f.rams, f.memories))
		files["macros.v"] = []byte(macroOutlines(f.memories))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o644); err != nil {
			return fmt.Errorf("synth: %w", err)
		}
	}
	return nil
}

// abcScript returns the ABC script of a name as Yosys wants it: a plus, commas
// for blanks. {D} becomes "-D <ps>" with the flag, so it stands alone. Other
// things learnt the hard way: Yosys's own script maps with &nf, which does not
// look at -D at all; there is no abc.rc, so no aliases such as resyn2; ABC counts
// the library's wire load only in the commands that are given -c.
func abcScript(name string, wires bool) (string, error) {
	front := map[string]string{
		ScriptXOR:     "strash;&get,-n;&b;&dch,-f;&nf;&put;",
		ScriptDefault: "strash;balance;resub;rewrite;balance;dch;map,-B,0.7,{D};",
		ScriptFast:    "strash;ifraig;if,-g;strash;resub;rewrite;balance;dch;map,-B,0.9,{D};",
		// The second strash is needed: dch after a mapped network fails.
		ScriptFastest: "strash;dch;if,-g,-K,6,-C,8;strash;dch;if,-g,-K,6;strash;dch;map,-B,0.9,{D};",
	}
	if name == ScriptArea {
		return "", nil
	}
	script, ok := front[name]
	if !ok {
		return "", fmt.Errorf("synth: unknown ABC script %q (def, m14, m17, m20, m10)", name)
	}
	c := ""
	if wires {
		c = ",-c"
	}
	return "+" + script + "topo;buffer,-c,-N,16;topo;upsize" + c + ",{D};dnsize" + c + ",{D};stime" + c + ",-p", nil
}

// A module whose gates are mostly exclusive or is a parity tree (CRC, ECC).
const (
	xorShare = 0.5
	xorGates = 100
)

func mostlyXOR(cells map[string]int) bool {
	gates, xors := 0, 0
	for cell, n := range cells {
		if !strings.HasPrefix(cell, "$_") || strings.Contains(cell, "DFF") {
			continue
		}
		gates += n
		if cell == "$_XOR_" || cell == "$_XNOR_" {
			xors += n
		}
	}
	return gates >= xorGates && float64(xors) >= xorShare*float64(gates)
}

// ffFO4 is what a clock period loses to the flops: clock to output with a load,
// and setup. ABC sees only what lies between.
const ffFO4 = 6

// effort is how hard ABC tries on a module: its script and the part of the
// clock period it is given.
type effort struct {
	script string
	part   float64
}

// efforts returns the ladder that a module climbs while paths through it fail.
func efforts(script string, xor bool) []effort {
	if script != ScriptAuto {
		return []effort{{script, 1}}
	}
	ladder := []effort{{ScriptDefault, 1}, {ScriptDefault, 0.8}, {ScriptFast, 0.7}, {ScriptFastest, 0.6}}
	if xor {
		ladder = append([]effort{{ScriptXOR, 1}}, ladder...)
	}
	return ladder
}

// maxRounds bounds how often the design is mapped.
const maxRounds = 5

// close maps and times the design. While it misses its clock, the modules on
// failing paths are mapped again with more effort: ABC sees one module at a
// time, so only the whole design's timing tells which of them must be fast. The
// files and figures left are those of the best round.
func (f *flow) close(ctx context.Context) (*yosys.Stat, *timing, error) {
	gates, err := f.elaborate(ctx)
	if err != nil {
		return nil, nil, err
	}
	ladders := map[string][]effort{}
	for module, cells := range gates.Modules {
		ladders[module] = efforts(f.o.Script, mostlyXOR(cells))
	}
	var bestStat *yosys.Stat
	var best *timing
	var again []string // modules to map again; at first all
	for round := range maxRounds {
		stat, err := f.synthesise(ctx, ladders, again)
		if err != nil {
			return nil, nil, err
		}
		t, err := f.time(ctx)
		if err != nil {
			return nil, nil, err
		}
		f.log.WithFields(logrus.Fields{"round": round + 1, "slack_ps": int(t.slack), "failing_modules": len(t.failing)}).Info("mapped")
		if best == nil || t.slack > best.slack {
			bestStat, best = stat, t
			if err := os.Rename(filepath.Join(f.dir, "map.v"), filepath.Join(f.dir, "net.v")); err != nil {
				return nil, nil, fmt.Errorf("synth: %w", err)
			}
		}
		again = nil
		for _, module := range t.failing {
			if l := ladders[module]; len(l) > 1 {
				ladders[module] = l[1:]
				again = append(again, module)
			}
		}
		if len(again) == 0 {
			break
		}
	}
	return bestStat, best, nil
}

// synthesise writes map.v with each module mapped by the first step of its
// ladder, and returns the mapped design's statistics. If again is not empty, only
// those modules are mapped, the others are as the last call left them.
func (f *flow) synthesise(ctx context.Context, ladders map[string][]effort, again []string) (*yosys.Stat, error) {
	classes := map[effort][]string{}
	for module, l := range ladders {
		if len(again) == 0 || slices.Contains(again, module) {
			classes[l[0]] = append(classes[l[0]], module)
		}
	}
	order := make([]effort, 0, len(classes))
	for e := range classes {
		order = append(order, e)
	}
	slices.SortFunc(order, func(a, b effort) int {
		return cmp.Or(strings.Compare(a.script, b.script), cmp.Compare(b.part, a.part))
	})
	// The cells' ports must be known: there are buffers between modules already.
	cells := "read_liberty -lib -ignore_miss_func cells.lib"
	script := []string{cells, "read_rtlil gates.il"}
	if len(again) > 0 {
		text, err := os.ReadFile(filepath.Join(f.dir, "gates.il"))
		if err != nil {
			return nil, fmt.Errorf("synth: %w", err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, "again.il"), yosys.Extract(text, again), 0o644); err != nil {
			return nil, fmt.Errorf("synth: %w", err)
		}
		script = []string{cells, "read_rtlil -overwrite map.il", "delete " + strings.Join(again, " "), "read_rtlil again.il"}
	}
	script = append(script,
		// One library only: dfflibmap and abc take no second one. Enables and
		// synchronous resets become logic in front of D, so plain flops suffice.
		"dfflibmap -liberty cells.lib",
		// Never opt -full from here on: it would run opt_share and leave $mux
		// cells, which abc skips and whose area is then missing.
		"opt",
	)
	for _, e := range order {
		slices.Sort(classes[e])
		s, err := abcScript(e.script, f.t.hasWire)
		if err != nil {
			return nil, err
		}
		if s != "" {
			s = " -script " + s
		}
		script = append(script, "select -none")
		for _, m := range classes[e] {
			script = append(script, "select -add "+m)
		}
		// Smaller than one gate the budget means nothing to ABC.
		budget := max(1e6/f.o.ClockMHz/Derate-ffFO4*f.t.fo4, f.t.fo4) * e.part
		script = append(script, fmt.Sprintf("abc -liberty cells.lib -constr abc.constr -D %.0f%s", budget, s), "select -clear")
	}
	script = append(script,
		// OpenSTA reads no concatenation on the left of an assign.
		"splitnets", "setundef -zero", "opt_clean -purge",
		// Cells are called after what they drive, so that paths can be read. The suffix is one that no net has:
		// Yosys stops where a cell would get the name of a net, as with `live` beside `live_reg`.
		"rename -wire -suffix _cell",
		"tee -q -o mapped.json stat -json",
		"write_rtlil map.il", "write_verilog -simple-lhs -noattr -noexpr -nohex -nodec map.v",
	)
	if err := yosys.Run(ctx, f.dir, "map", script, f.o.Timeout); err != nil {
		return nil, err
	}
	return yosys.ReadStat(filepath.Join(f.dir, "mapped.json"))
}

// elaborate turns the sources into generic gates, gates.il, whose derived
// modules have readable names.
func (f *flow) elaborate(ctx context.Context) (*yosys.Stat, error) {
	e := elaboration{dir: f.dir, d: f.d, choice: f.choice, leaves: f.rams, ram: []string{"read_verilog macros.v", "read_verilog -sv -defer ram.v"},
		flat: f.o.Flatten, raw: true, limit: f.o.Timeout}
	done, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	f.top, f.tree, f.clocked = done.top, done.tree, done.clocked
	file := filepath.Join(f.dir, "gates.il")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	text = fanout(text, f.t.fanout.Name, pin(f.t.fanout, "input"), pin(f.t.fanout, "output"), f.d.Clock.Port, f.d.Clock.Reset)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	return done.stat, nil
}

// pipelineCut is a place for registers inside a lane, which may be wires. Paths run through those, and ABC, which sees one module at
// a time, would give a whole period to the logic on either side; so the module is dissolved into the lane.
const pipelineCut = "inc_lane_cut"

// genericSteps are those of Yosys's own synth before and after techmap, which synth runs over all modules until none of them changes
// any more; here each module is done when it does not change. Left out is share: it asks a SAT solver about every pair of a word's
// shifters, and finds nothing.
func genericSteps() (before, after []string) {
	return []string{
		"opt_expr", "opt_clean", "check", "opt -nodffe -nosdff", "fsm", "opt", "wreduce", "peepopt", "opt_clean", "alumacc", "opt", "memory -nomap", "opt_clean",
		"opt -fast -full", "memory_map", "opt -full",
	}, []string{"opt -fast"}
}

// elaboration is generic synthesis of a design.
type elaboration struct {
	dir    string // to work in
	d      *design.Design
	choice design.Choice
	leaves []*design.RAMSource
	ram    []string // commands in place of reading the leaves' files
	flat   bool
	raw    bool // leaves out ABC's pass over the generic gates, which mapping does again
	limit  time.Duration
}

// elaborated is what an elaboration comes to, with gates.il in its folder.
type elaborated struct {
	top     string
	stat    *yosys.Stat
	tree    yosys.Tree
	clocked bool // the top has the design's clock
}

// read leaves the chosen top and what is below it in yosys.ReadFile.
func (e *elaboration) read(ctx context.Context) (top string, modules []yosys.Module, err error) {
	var script []string
	for _, s := range e.d.Sources() {
		if i := slices.IndexFunc(e.leaves, func(r *design.RAMSource) bool { return r.File == s }); i >= 0 {
			if i == 0 {
				script = append(script, e.ram...)
			}
			continue
		}
		// Deferred, or Yosys would also elaborate every module with its default
		// parameters, and with it memories of sizes that nobody uses.
		script = append(script, "read_verilog -sv -defer "+s)
	}
	then := []string{"proc", "flatten t:*" + pipelineCut + "*"}
	var flatten []string
	if e.flat {
		flatten = []string{"flatten"}
	}
	if e.choice.Inside == "" {
		top = e.choice.Tops[0].Module
		modules, err = yosys.Elaborate(ctx, e.dir, script, top, append(then, flatten...), e.limit)
		return top, modules, err
	}
	for _, t := range e.choice.Tops {
		if modules, err = yosys.Elaborate(ctx, e.dir, script, t.Module, then, e.limit); err != nil {
			return "", nil, err
		}
		if top, modules, err = yosys.Enter(ctx, e.dir, modules, e.choice.Inside, flatten, e.limit); err == nil || !errors.Is(err, yosys.ErrAbsent) {
			break
		}
	}
	return top, modules, err
}

// run reads the sources, runs generic synthesis and writes gates.il.
func (e *elaboration) run(ctx context.Context) (*elaborated, error) {
	top, modules, err := e.read(ctx)
	if err != nil {
		return nil, err
	}
	script := []string{"read_rtlil " + yosys.ReadFile}
	each := func(steps []string) {
		for _, m := range modules {
			// One line, because Yosys checks the whole design after each line of a script.
			script = append(script, "select "+m.Name+"; "+strings.Join(steps, "; ")+"; select -clear")
		}
	}
	before, after := genericSteps()
	if !e.raw {
		after = append(after, "abc -fast", "opt -fast")
	}
	each(before)
	// For all at once: it works out its own modules for every width again in each call.
	script = append(script, "techmap")
	each(after)
	script = append(script, "hierarchy -check -top "+top, "check", "opt_clean -purge", "tee -q -o elaborated.json stat -json", "write_rtlil gates.il")
	if err := yosys.Run(ctx, e.dir, "elaborate", script, e.limit); err != nil {
		return nil, err
	}
	stat, err := yosys.ReadStat(filepath.Join(e.dir, "elaborated.json"))
	if err != nil {
		return nil, err
	}
	rtlil, err := os.ReadFile(filepath.Join(e.dir, "gates.il"))
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	return &elaborated{top: top, stat: stat, tree: yosys.Instances(rtlil), clocked: yosys.HasInput(rtlil, top, e.d.Clock.Port)}, nil
}
