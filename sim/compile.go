// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/internal/tool"
)

//go:embed shim
var shimFiles embed.FS

const libName = "model.so"

// scheme names the way this file puts a library together; it changes whenever the same
// inputs would give another library.
const scheme = "3"

// verilatorFlags are what every model is built with: assertions live, unknowns are
// random per instance, # delays are ignored (the bench owns the clock), and warnings
// do not stop (linting is another command's business).
func verilatorFlags(trace bool) []string {
	flags := []string{
		"--cc", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique",
		"--timescale", "1ns/1ps", "--no-timing", "-Wno-fatal",
	}
	if trace {
		flags = append(flags, "--trace-fst")
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
const libOpt = "-O2"

// source is a file of the design as the build sees it.
type source struct {
	local string // path in the build folder: no absolute path may reach the library
	given string // path the user gave
	text  []byte
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
	sources, includes, err := b.read()
	if err != nil {
		return nil, err
	}
	st, err := openStore(b.CacheDir)
	if err != nil {
		return nil, err
	}
	tools, err := probeTools(ctx)
	if err != nil {
		return nil, err
	}

	args := append(verilatorFlags(b.Trace), "--top-module", b.Top)
	for _, name := range slices.Sorted(maps.Keys(b.Params)) {
		args = append(args, "-G"+name+"="+b.Params[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.Defines)) {
		args = append(args, "+define+"+name+"="+b.Defines[name])
	}
	args = append(args, b.Flags...)

	key := newKey()
	tools.addTo(key)
	if err := key.addFS(shimFiles); err != nil {
		return nil, err
	}
	key.add(scheme, libOpt, smallOpt, largeOpt)
	key.add(commonFlags(b.Trace)...)
	key.add(args...)
	for _, s := range append(slices.Clone(sources), includes...) {
		key.add(s.local, string(s.text))
	}
	digest := key.sum()

	dir, hit, err := st.get(ctx, digest, func(dir string) error {
		c := compiler{b: &b, ctx: ctx, store: st, tools: tools, dir: dir, prefix: "V" + digest[:16]}
		return c.run(args, sources, includes)
	})
	if err != nil {
		return nil, restorePaths(err, sources, includes)
	}
	lib, err := load(filepath.Join(dir, libName))
	if err != nil {
		return nil, err
	}
	lib.Digest, lib.Cached, lib.top = digest, hit, b.Top
	lib.clock, lib.reset, lib.periodNS = b.Clock, b.Reset, b.PeriodNS
	lib.sources = append(sources, includes...)
	for i := range lib.sources {
		lib.sources[i].text = nil
	}
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

// read loads all files of the design and gives them names in the build folder:
// the base name, preceded by a number where two files share it.
func (b *Build) read() (sources, includes []source, err error) {
	var errs []error
	used := map[string]bool{}
	for i, path := range b.Files {
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
	for i, dir := range b.IncludeDirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			path := filepath.Join(dir, e.Name())
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

// restorePaths puts the user's paths into a tool's message.
func restorePaths(err error, sources, includes []source) error {
	var exit *tool.ExitError
	if errors.As(err, &exit) {
		exit.Tail = givenPaths(exit.Tail, append(slices.Clone(sources), includes...))
	}
	return err
}

// givenPaths replaces files of the build folder by the user's: Verilator names the
// path ("src/a.v:3"), what $error prints only the file ("%Error: a.v:3").
func givenPaths(text string, sources []source) string {
	for _, s := range sources {
		text = strings.ReplaceAll(text, s.local+":", s.given+":")
		for _, word := range []string{"%Error: ", "%Fatal: "} {
			text = strings.ReplaceAll(text, word+filepath.Base(s.local)+":", word+s.given+":")
		}
	}
	return text
}
