// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/sim"
	"incforge/verify/dut/upset"
)

// Kind names an implementation of DUT.
type Kind string

// The kinds. RTL is the top with one stream per port, Core the top with a single stream; Netlist is RTL from other
// sources.
const (
	KindRTL       Kind = "rtl"
	KindCore      Kind = "core"
	KindNetlist   Kind = "netlist"
	KindReference Kind = "reference"
)

// Kinds lists the kinds in the order of the command line's help.
func Kinds() []Kind { return []Kind{KindRTL, KindCore, KindNetlist, KindReference} }

// Source says which engines to make, and from which files.
type Source struct {
	// ManifestDir is the generated folder; Manifest, if not nil, replaces the one there.
	ManifestDir string
	Manifest    *contract.Manifest
	// Kind is empty for KindRTL.
	Kind Kind
	// Sources replaces the manifest's files, for KindNetlist: paths of Verilog files.
	Sources []string
	// Assert has the design's assertions live: a cycle in which one does not hold is an error.
	Assert bool
	// Cover has the engines count which lines, branches and bits of the Verilog they come through: RTL.Hits.
	Cover bool
	// Short says that the engines run for no longer than a compiler takes to optimise them as far as it can.
	Short bool
	// Brief says that the engines run for less time than a compiler takes to optimise them.
	Brief bool
	// Upsets has memories whose stored bits RTL.Upset inverts.
	Upsets bool
	// PlusArgs are seen by the Verilog of every engine, as sim.Options has them.
	PlusArgs []string
	// Log receives what tools print; nil means none.
	Log *logrus.Logger
}

// Maker makes one more engine, as after reset. Its registers start at random values drawn from seed. The caller
// closes it.
type Maker func(seed uint64) (DUT, error)

// Engines makes engines of one source as a Maker does. They write their waves to a file, if a name is given and they have any.
type Engines func(seed uint64, waves string) (DUT, error)

// New is a Maker.
func (e Engines) New(seed uint64) (DUT, error) { return e(seed, "") }

// Open reads the manifest and prepares what all engines of the source share, the compiled model for instance.
func (s Source) Open(ctx context.Context) (m *contract.Manifest, e Engines, err error) {
	defer fail.Catch(&err, "")
	s.load()
	switch s.Kind = cmp.Or(s.Kind, KindRTL); s.Kind {
	case KindReference:
		return s.Manifest, func(uint64, string) (DUT, error) { return NewReference(s.Manifest) }, nil
	case KindRTL, KindCore, KindNetlist:
		return s.Manifest, s.models(ctx), nil
	}
	return nil, nil, fmt.Errorf("unknown kind of DUT %q, known are %v", s.Kind, Kinds())
}

// Model reads the manifest and compiles its switch top or, for KindCore, its core, for those who drive the model themselves.
func (s Source) Model(ctx context.Context) (m *contract.Manifest, lib *sim.Lib, err error) {
	defer fail.Catch(&err, "")
	s.load()
	return s.Manifest, fail.Must(s.compile(ctx, false)), nil
}

// load reads the manifest. A core's has the registers that the core has.
func (s *Source) load() {
	if s.Manifest == nil {
		s.Manifest = fail.Must(contract.Load(s.ManifestDir))
	}
	if s.Kind == KindCore {
		core := *s.Manifest
		if core.Params.EngineCount() > 1 { // a core is one of them
			core.Params = core.Params.OneEngine()
			core.Registers = fail.Must(contract.NewModel(core.Params)).Registers
		}
		core.Registers = core.Registers.On(contract.TopCore)
		s.Manifest = &core
	}
}

// models compiles the Verilog. The traced model is compiled when the first one is requested.
func (s Source) models(ctx context.Context) Engines {
	plain := fail.Must(s.compile(ctx, false))
	traced := sync.OnceValues(func() (*sim.Lib, error) { return s.compile(ctx, true) })
	return func(seed uint64, waves string) (DUT, error) {
		lib, o := plain, sim.Options{Random: true, Seed: seed, WavePath: waves, SkipStill: true, PlusArgs: s.PlusArgs}
		if waves != "" {
			var err error
			if lib, err = traced(); err != nil {
				return nil, err
			}
		}
		return NewRTL(lib, s.Manifest, s.Kind == KindCore, o)
	}
}

// flatBytes is how many bytes a cycle the engines of a model in one piece may take together. For one engine of 1,024 bytes Verilator takes 10 GB
// of memory, and for a second as much again.
const flatBytes = 1024

// once are the modules to compile once: the engine, if several in one piece were too much. Coverage, assertions and upsets reach into engines, and
// want them in one piece at any price.
func (s Source) once() []string {
	p := s.Manifest.Params
	if s.Kind == KindCore || s.Kind == KindNetlist || s.Cover || s.Assert || s.Upsets || p.EngineCount() == 1 || p.EngineCount()*p.BusBytes <= flatBytes {
		return nil
	}
	return []string{fail.Must(s.Manifest.Top(contract.TopCore)).Module}
}

// compile has the simulator compile the top that is wanted.
func (s Source) compile(ctx context.Context, trace bool) (lib *sim.Lib, err error) {
	defer fail.Catch(&err, "build the model")
	top := contract.TopSwitch
	if s.Kind == KindCore {
		top = contract.TopCore
	}
	b := fail.Must(sim.FromManifest(s.Manifest.Dir, top))
	b.Trace, b.Cover, b.Short, b.Brief = trace, s.Cover && !trace, s.Short, s.Brief
	b.Once = s.once()
	if s.Log != nil {
		b.Log = logWriter{s.Log}
	}
	if s.Kind == KindNetlist {
		if len(s.Sources) == 0 {
			fail.Now("a netlist needs its Verilog files and those of its cells")
		}
		b.Files, b.IncludeDirs = s.Sources, nil
		b.Flags = append(b.Flags, "-Wno-fatal")
	}
	if s.Upsets {
		dir := fail.Must(os.MkdirTemp("", "incforge-upset"))
		defer os.RemoveAll(dir)
		b.Files = fail.Must(upset.Replace(s.Manifest, b.Files, dir))
	}
	if s.Assert {
		checkers := fail.Must(sim.FromFileList(filepath.Join(s.Manifest.Dir, filepath.FromSlash(contract.AssertionFiles)), b.Top))
		b.Files = append(b.Files, checkers.Files...)
	}
	return b.Compile(ctx)
}

// logWriter passes the output of tools to the log, one entry per write.
type logWriter struct{ log *logrus.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}
