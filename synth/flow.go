// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/internal/cache"
	"incforge/internal/jobs"
	"incforge/internal/tool"
	"incforge/synth/design"
	"incforge/synth/liberty"
	"incforge/synth/netlist"
	"incforge/synth/yosys"
)

// Derate is applied to late delays: the library averages rise and fall, which
// real planar libraries do not, and is 12-22 % optimistic against them.
const Derate = 1.15

// Scripts for ABC, see abcScript.
const (
	ScriptAuto    = ""      // quick, and m14 for modules that are mostly exclusive or; harder where paths fail
	ScriptArea    = "def"   // smallest; ignores the clock
	ScriptQuick   = "quick" // area first, then sizes for the clock: about a quarter of the time of m17
	ScriptXOR     = "m14"   // parity trees: a fifth smaller
	ScriptDefault = "m17"   // obeys the clock
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
	// Flatten dissolves the hierarchy, to compare with: slower to run, nothing is cached by module, no area by module.
	Flatten bool
	// NoClockGates leaves every enable a multiplexer in front of its flop.
	NoClockGates bool
	// Script is one of the Script constants.
	Script string
	// WorkDir keeps the tools' files; "" uses a temporary folder that is removed.
	WorkDir string
	// Timeout bounds each run of a tool; 0 is two hours.
	Timeout time.Duration
	// Rounds is how often at most the design is mapped and timed; 0 is maxRounds.
	Rounds int
	// Place is where modules are synthesised; Jobs of 0 is one per processor. On Slurm all machines must see the cache.
	Place jobs.Place
	// CacheDir keeps synthesised modules; "" is the folder that INCFORGE_CACHE names, or incforge/synth in the user's cache folder.
	CacheDir string
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
	shop     *shop
	tools    map[string]string // versions
	sizer    *netlist.Library
	parts    []*part           // the top first, every module before those in it
	gates    []string          // of each part, in front of mapping
	names    map[string]string // readable, by the parts' ids
	constr   string            // ABC's constraints
	abc      string            // version
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
	m.Tools = f.tools
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
	if f.tools, err = versions(ctx); err != nil {
		done()
		return nil, nil, err
	}
	if err := f.prepare(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

func (f *flow) prepare(ctx context.Context) error {
	store, err := cache.Open(f.o.CacheDir, "synth")
	if err != nil {
		return fmt.Errorf("synth: %w", err)
	}
	f.shop = &shop{store: store, yosys: f.tools["yosys"], limit: f.o.Timeout}
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
	sram := liberty.GenerateSRAM(f.t.sram, macros)
	wire := 0.0
	if f.t.hasWire {
		wire = liberty.WireLoad / f.t.capFF
	}
	if len(macros) == 0 {
		f.sizer = netlist.NewLibrary(f.t.lib, wire)
	} else if lib, err := liberty.Parse(sram); err == nil {
		f.sizer = netlist.NewLibrary(f.t.lib, wire, lib)
	} else {
		return err
	}
	f.sizer.BufferGain = briskGain
	// ABC takes the driving cell by name and the load in fF.
	f.constr = fmt.Sprintf("set_driving_cell %s\nset_load %.4f\n", f.t.driver.Name, f.t.loadFF)
	files := map[string][]byte{
		"cells.lib":  f.t.text,
		"map.lib":    f.t.mapText,
		"flops.lib":  f.t.flopText,
		"sram.lib":   sram,
		"abc.constr": []byte(f.constr),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o644); err != nil {
			return fmt.Errorf("synth: %w", err)
		}
	}
	return nil
}
