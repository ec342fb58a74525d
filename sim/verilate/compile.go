// SPDX-License-Identifier: Apache-2.0

// Package verilate compiles Verilog into shared libraries, by Verilator and a C++ compiler, and keeps them in a cache,
// where they are found again by content. What such a library offers is in shim/abi.h; package sim loads it.
package verilate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/internal/cache"
	"incforge/internal/tool"
)

//go:embed shim
var shimFiles embed.FS

const libName = "model.so"

// scheme names the way this file puts a library together; it changes whenever the same
// inputs would give another library.
const scheme = "4"

// expandLimit is the size in 32-bit words up to which Verilator makes a statement a word of an operation on a vector. What is longer goes
// through functions; with those a concatenation of n parts copies n/2 times what it makes. Verilator's own limit, 64, is a bus of 256 bytes. What
// is left round modules of Once mostly moves data: for a crossbar of 1,024 bytes the higher limit makes six times as much code.
const (
	expandLimit = "512"
	aroundLimit = "64"
)

// verilatorFlags are what every model is built with: assertions live, unknowns are
// random per instance, # delays are ignored (the bench owns the clock), and warnings
// do not stop (linting is another command's business).
func verilatorFlags(limit string, trace, cover bool) []string {
	flags := []string{
		"--cc", "-O3", "--expand-limit", limit, "--assert", "--x-assign", "unique", "--x-initial", "unique",
		"--timescale", "1ns/1ps", "--no-timing", "-Wno-fatal",
	}
	if trace {
		flags = append(flags, "--trace-fst")
	}
	if cover {
		flags = append(flags, "--coverage-line", "--coverage-toggle")
	}
	return flags
}

// commonFlags hold for every C++ file: nothing but incsim_api may be visible outside
// the library, or two models in one process would share symbols. -fno-gnu-unique is
// part of that: unique symbols ignore RTLD_LOCAL.
func commonFlags(trace bool) []string {
	traced := "0"
	if trace {
		traced = "1"
	}
	return []string{
		"-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-gnu-unique",
		"-fno-semantic-interposition", "-fno-plt", "-fcf-protection=none", "-march=native", "-w",
		"-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=" + traced, "-DVM_TRACE_FST=" + traced, "-DVM_TRACE_VCD=0",
		"-DINCSIM_TRACED=" + traced,
	}
}

// buildTimeout bounds one run of Verilator or the compiler.
const buildTimeout = 15 * time.Minute

// libOpt is the optimisation of Verilator's run-time library: printing, waves, nothing a clock needs.
const libOpt = "-O1"

// Design says what to compile. Everything down to Brief, and the contents of the files, determines the library; the
// rest does not.
//
// A module of Once has no parameters set by whoever holds it, and a file of its name. It becomes a model behind a wrapper in DPI, as with
// Verilator's --hierarchical, so that many of a large module take one's memory and time to compile. Waves and coverage do not reach into it.
type Design struct {
	Top         string            // name of the top module
	Files       []string          // sources, in order
	IncludeDirs []string          // folders whose files `include finds
	Defines     map[string]string // `define NAME VALUE
	Params      map[string]string // parameters of the top module
	Flags       []string          // further Verilator arguments
	Once        []string          // modules compiled once each, however often they stand in the design; see below
	Trace       bool              // the model can write waves
	Cover       bool              // the model counts which lines, branches and bits it came through
	Short       bool              // it is optimised no further than a small model, whatever its size
	Brief       bool              // nothing is optimised

	CacheDir string    // "" means $INCFORGE_CACHE, else incforge/models in the user's cache folder
	Jobs     int       // C++ compilers at a time; 0 means one a processor
	Log      io.Writer // receives what Verilator and the compiler say; may be nil
}

// Library is a finished shared library.
type Library struct {
	Path    string
	Digest  string // of everything it was made from
	Cached  bool   // it was there already
	Sources Sources
}

// source is a file of the design as the build sees it.
type source struct {
	local string // path in the build folder: no absolute path may reach the library
	given string // path the user gave
	text  []byte
}

// Sources map the files of the build folder, which messages name, to the paths that the user gave.
type Sources struct{ all []source }

// Given is the user's path of a file of the build folder; a file that is none of the design's stays as it is.
func (s Sources) Given(local string) string {
	for _, f := range s.all {
		if local == f.local {
			return f.given
		}
	}
	return local
}

// Restore replaces files of the build folder by the user's: Verilator names the
// path ("src/a.v:3"), what $error prints only the file ("%Error: a.v:3").
func (s Sources) Restore(text string) string {
	for _, f := range s.all {
		text = strings.ReplaceAll(text, f.local+":", f.given+":")
		for _, word := range []string{"%Error: ", "%Fatal: "} {
			text = strings.ReplaceAll(text, word+filepath.Base(f.local)+":", word+f.given+":")
		}
	}
	return text
}

// Compile returns the library, from the cache when the same Verilog was built before with the same tools. Errors: a
// missing tool (*tool.NotFoundError), a missing file, and what Verilator or the compiler says against the Verilog.
func (d Design) Compile(ctx context.Context) (Library, error) {
	sources, includes, err := d.read()
	if err != nil {
		return Library{}, err
	}
	st, err := cache.Open(d.CacheDir, "models")
	if err != nil {
		return Library{}, err
	}
	tools, err := probeTools(ctx)
	if err != nil {
		return Library{}, err
	}
	args := d.arguments()
	all := slices.Concat(sources, includes)
	digest, err := d.digest(tools, args, all)
	if err != nil {
		return Library{}, err
	}
	paths := Sources{all: slices.Clone(all)}
	for i := range paths.all {
		paths.all[i].text = nil
	}
	dir, hit, err := st.Get(ctx, digest, func(dir string) error {
		c := compiler{d: &d, ctx: ctx, store: st, tools: tools, dir: dir, prefix: "V" + digest[:16]}
		return c.run(args, sources, includes)
	})
	if err != nil {
		var exit *tool.ExitError
		if errors.As(err, &exit) {
			exit.Tail = paths.Restore(exit.Tail)
		}
		return Library{}, err
	}
	return Library{Path: filepath.Join(dir, libName), Digest: digest, Cached: hit, Sources: paths}, nil
}

// arguments are Verilator's, but for the files and where they lie.
func (d *Design) arguments() []string {
	limit := expandLimit
	if len(d.Once) > 0 {
		limit = aroundLimit
	}
	args := append(verilatorFlags(limit, d.Trace, d.Cover), "--top-module", d.Top)
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		args = append(args, "-G"+name+"="+d.Params[name])
	}
	return append(args, d.further()...)
}

// onceArguments are those for a module of Once.
func (d *Design) onceArguments(module string) []string {
	return append(append(verilatorFlags(expandLimit, false, false), "--lib-create", module, "--top-module", module), d.further()...)
}

// further are arguments that hold for all modules.
func (d *Design) further() []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(d.Defines)) {
		args = append(args, "+define+"+name+"="+d.Defines[name])
	}
	return append(args, d.Flags...)
}

// digest is that of all that the library depends on.
func (d *Design) digest(tools toolset, args []string, all []source) (string, error) {
	key := cache.NewKey()
	tools.addTo(key)
	if err := key.AddFS(shimFiles); err != nil {
		return "", err
	}
	key.Add(scheme, libOpt, d.level(0), d.level(largeModel+1))
	key.Add(commonFlags(d.Trace)...)
	key.Add(args...)
	for _, name := range d.Once {
		key.Add("--lib-create", name)
	}
	for _, s := range all {
		key.Add(s.local, string(s.text))
	}
	return key.Sum(), nil
}

// read loads all files of the design and gives them names in the build folder:
// the base name, preceded by a number where two files share it.
func (d *Design) read() (sources, includes []source, err error) {
	var errs []error
	used := map[string]bool{}
	for i, path := range d.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		local := "src/" + filepath.Base(path)
		if used[local] {
			local = fmt.Sprintf("src/%d_%s", i, filepath.Base(path))
		}
		used[local] = true
		sources = append(sources, source{local: local, given: path, text: text})
	}
	for i, folder := range d.IncludeDirs {
		entries, err := os.ReadDir(folder)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			path := filepath.Join(folder, e.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			includes = append(includes, source{local: fmt.Sprintf("inc%d/%s", i, e.Name()), given: path, text: text})
		}
	}
	return sources, includes, errors.Join(errs...)
}
