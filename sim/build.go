// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"incforge/contract"
	"incforge/sim/verilate"
)

// Dir is the direction of a port, seen from the model.
type Dir int

// Directions of ports.
const (
	In Dir = iota
	Out
)

func (d Dir) String() string {
	if d == In {
		return "in"
	}
	return "out"
}

// PortSpec is what a bench or a manifest expects of a port.
type PortSpec struct {
	Name  string
	Dir   Dir
	Width int // bits
}

func (p PortSpec) String() string { return fmt.Sprintf("%s %s, %d bits", p.Dir, p.Name, p.Width) }

// Build says what to compile. Everything down to Brief, and the contents of the
// files, determines the cached library; the rest does not.
type Build struct {
	Top         string            // name of the top module; required
	Files       []string          // Verilog or SystemVerilog sources, in order; required
	IncludeDirs []string          // folders whose files `include finds (not their sub-folders)
	Defines     map[string]string // `define NAME VALUE
	Params      map[string]string // parameters of the top module, as Verilog literals
	Flags       []string          // further Verilator arguments
	Once        []string          // modules compiled once each behind a wrapper, however many of them there are (verilate.Design)
	Trace       bool              // build a model that can write waves; slower
	Cover       bool              // build a model that counts which lines, branches and bits it comes through (Model.Coverage); slower
	Short       bool              // the model runs for no longer than a compiler takes to optimise it as far as it can
	Brief       bool              // the model runs for less time than a compiler takes to optimise it

	Ports    []PortSpec // when not nil: the ports the model must have, no more and no less
	Clock    string     // clock input; "" means "clk" if there is one, "-" means none
	Reset    string     // active-high synchronous reset input; "" means "rst" if there is one, "-" means none
	PeriodNS float64    // clock period in ns, for waves, $time and timers; 0 means 10
	CacheDir string     // "" means $INCFORGE_CACHE, else incforge/models in the user's cache folder
	Jobs     int        // C++ compilers at a time; 0 means one a processor
	Log      io.Writer  // receives what Verilator and the compiler say; may be nil
}

// FromManifest returns the build of a generated design: path is its manifest.json or
// the folder that holds it, top the key ("core", "switch") or the module name of one
// of its tops. Ports, clock, reset and clock period come from the manifest, and
// Compile checks the model against them.
func FromManifest(path, top string) (Build, error) {
	m, err := contract.Read(path)
	if err != nil {
		return Build{}, err
	}
	t, err := m.Top(top)
	if err != nil {
		return Build{}, fmt.Errorf("manifest %s: %w", contract.Path(path), err)
	}
	b := Build{Top: t.Module, Files: m.Sources(), Clock: m.Clock.Port, Reset: m.Clock.Reset}
	if m.Clock.MHz > 0 {
		b.PeriodNS = 1000 / m.Clock.MHz
	}
	for _, p := range t.Ports {
		spec := PortSpec{Name: p.Name, Width: p.Width}
		switch p.Dir {
		case "in":
		case "out":
			spec.Dir = Out
		default:
			return Build{}, fmt.Errorf("manifest %s: port %s has direction %q, want in or out", contract.Path(path), p.Name, p.Dir)
		}
		b.Ports = append(b.Ports, spec)
	}
	return b, nil
}

// FromFileList returns the build of a plain file list (files.f): one path a line,
// relative to the list's folder, with +incdir+DIR, +define+NAME=VALUE and // or #
// comments. Other options are refused, because guessing at them would build
// something else than the list says.
func FromFileList(path, top string) (Build, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Build{}, fmt.Errorf("reading file list: %w", err)
	}
	dir := filepath.Dir(path)
	at := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, filepath.FromSlash(p))
	}
	b := Build{Top: top}
	for n, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			switch {
			case strings.HasPrefix(word, "+incdir+"):
				for _, d := range strings.Split(strings.TrimPrefix(word, "+incdir+"), "+") {
					b.IncludeDirs = append(b.IncludeDirs, at(d))
				}
			case strings.HasPrefix(word, "+define+"):
				for _, d := range strings.Split(strings.TrimPrefix(word, "+define+"), "+") {
					if b.Defines == nil {
						b.Defines = map[string]string{}
					}
					name, value, _ := strings.Cut(d, "=")
					b.Defines[name] = value
				}
			case strings.HasPrefix(word, "+") || strings.HasPrefix(word, "-"):
				return Build{}, fmt.Errorf("%s:%d: option %s is not understood in a file list", path, n+1, word)
			default:
				b.Files = append(b.Files, at(word))
			}
		}
	}
	if len(b.Files) == 0 {
		return Build{}, fmt.Errorf("file list %s names no files", path)
	}
	return b, nil
}

// Compile returns the compiled model, from the cache when the same Verilog was built
// before with the same tools. Errors: a missing tool (*tool.NotFoundError), a missing
// file, what Verilator or the compiler says against the Verilog, and ports that
// differ from b.Ports.
func (b Build) Compile(ctx context.Context) (*Lib, error) {
	lib, err := b.compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("building a model of %s: %w", b.Top, err)
	}
	return lib, nil
}

func (b Build) compile(ctx context.Context) (*Lib, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	made, err := verilate.Design{Top: b.Top, Files: b.Files, IncludeDirs: b.IncludeDirs, Defines: b.Defines, Params: b.Params, Flags: b.Flags, Once: b.Once,
		Trace: b.Trace, Cover: b.Cover, Short: b.Short, Brief: b.Brief, CacheDir: b.CacheDir, Jobs: b.Jobs, Log: b.Log}.Compile(ctx)
	if err != nil {
		return nil, err
	}
	lib, err := load(made.Path)
	if err != nil {
		return nil, err
	}
	lib.Digest, lib.Cached, lib.sources, lib.top = made.Digest, made.Cached, made.Sources, b.Top
	lib.clock, lib.reset, lib.periodNS = b.Clock, b.Reset, b.PeriodNS
	if err := lib.settleClock(); err != nil {
		return nil, err
	}
	if b.Ports != nil {
		if err := lib.checkPorts(b.Ports); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

func (b *Build) validate() error {
	var errs []error
	if b.Top == "" {
		errs = append(errs, errors.New("build has no Top module"))
	}
	if len(b.Files) == 0 {
		errs = append(errs, errors.New("build has no Files"))
	}
	if b.PeriodNS != 0 && !(b.PeriodNS >= minPeriodNS && b.PeriodNS <= maxPeriodNS) {
		errs = append(errs, fmt.Errorf("build has PeriodNS %v, want %v to %v", b.PeriodNS, minPeriodNS, float64(maxPeriodNS)))
	}
	return errors.Join(errs...)
}

// Limits of a clock period in ns: a period must be two steps of the 1 ps resolution
// at least, and simulated picoseconds must fit 64 bits over any run.
const (
	minPeriodNS     = 0.002
	maxPeriodNS     = 1e6
	defaultPeriodNS = 10
)
