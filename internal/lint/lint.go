// SPDX-License-Identifier: Apache-2.0

// Package lint has independent readers look at a generated folder: Verilator with every warning on, Icarus Verilog, Yosys (hierarchy,
// drivers, latches), and, where they are installed, slang (a strict SystemVerilog front end, as those of commercial tools are) and Verible's
// parser. It reads the folder's manifest for files and tops and knows nothing else about the generator. There are no waivers: whatever a
// reader says is a finding, of slang its errors.
package lint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"incforge/contract"
	"incforge/internal/tool"
)

// Finding is one complaint of one reader.
type Finding struct {
	Tool string `json:"tool"`           // verilator, iverilog, yosys, slang or verible
	Top  string `json:"top"`            // the top module that was being read
	Code string `json:"code"`           // the reader's class: WIDTH, LATCH, error, …
	File string `json:"file,omitempty"` // relative to the generated folder; empty if the reader named none
	Line int    `json:"line,omitempty"` // from 1; 0 if the reader named none
	Text string `json:"text"`
}

// String returns file:line: text [tool code], the form editors jump to.
func (f Finding) String() string {
	place := f.File
	switch {
	case place == "":
		place = f.Top
	case f.Line > 0:
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s: %s [%s %s]", place, f.Text, f.Tool, f.Code)
}

// Run is one reader over one top.
type Run struct {
	Tool    string  `json:"tool"`
	Version string  `json:"version"` // as the program prints it
	Top     string  `json:"top"`
	Files   int     `json:"files"`   // Verilog files read
	Seconds float64 `json:"seconds"` // wall time
}

// Report is what all readers said about one folder.
type Report struct {
	Name     string    `json:"name"`
	Digest   string    `json:"digest"` // of parameters and Verilog, from the manifest
	Runs     []Run     `json:"runs"`
	Findings []Finding `json:"findings"`
}

// Clean reports whether no reader complained.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// reader is one program and how to understand it.
type reader struct {
	name    string
	program string   // what runs; a name in PATH or a path
	version []string // arguments that print the version
	args    func(top string, files []string) []string
	parse   func(output string) []Finding
}

// readers are those that must be there, and of the others those that are.
func readers(ctx context.Context) []reader {
	all := []reader{
		{"verilator", "verilator", []string{"--version"}, verilatorArgs, parseVerilator},
		{"iverilog", "iverilog", []string{"-V"}, icarusArgs, parseIcarus},
		{"yosys", "yosys", []string{"-V"}, yosysArgs, parseYosys},
	}
	if python, ok := slangPython(ctx); ok {
		all = append(all, reader{"slang", python, slangVersion(), slangArgs, parseSlang})
	}
	if verible, ok := optional("verible-verilog-syntax"); ok {
		all = append(all, reader{"verible", verible, []string{"--version"}, veribleArgs, parseVerible})
	}
	return all
}

// outermost are the names of the tops that no other top has in it.
func outermost(dir string, m *contract.Manifest) ([]string, error) {
	inside := map[string]bool{}
	for _, outer := range m.Tops {
		i := slices.IndexFunc(m.Files, func(file string) bool { return path.Base(file) == outer.Module+".v" })
		if i < 0 {
			continue // a folder that was not generated may call its files as it likes
		}
		text, err := os.ReadFile(filepath.Join(dir, m.Files[i]))
		if err != nil {
			return nil, err
		}
		for name, top := range m.Tops {
			if top.Module != outer.Module && regexp.MustCompile(`(?m)^\s*`+regexp.QuoteMeta(top.Module)+`\s+\w+\s*\(`).Match(text) {
				inside[name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.Tops)), func(name string) bool { return inside[name] }), nil
}

// limit bounds one reader over one top: Icarus takes four minutes over the switch of chip28x8, alone on a core.
const limit = 20 * time.Minute

// Dir reads the generated folder dir with every reader, two at a time, from each of the tops with these names in the manifest ("switch");
// no names are all of them but those that stand in another and are read there, as the core is in the switch. The error is about linting itself (no manifest, a top that is not there, a missing program); what the readers
// found is in the Report.
func Dir(ctx context.Context, dir string, names ...string) (Report, error) {
	m, err := contract.Read(dir)
	if err != nil {
		return Report{}, fmt.Errorf("lint %s: %w", dir, err)
	}
	rep := Report{Name: m.Name, Digest: m.Digest}
	if len(names) == 0 {
		if names, err = outermost(dir, m); err != nil {
			return Report{}, fmt.Errorf("lint %s: %w", dir, err)
		}
	}
	var tops []string
	for _, name := range names {
		t, ok := m.Tops[name]
		if !ok {
			return Report{}, fmt.Errorf("lint %s: the design has no top %q", dir, name)
		}
		tops = append(tops, t.Module)
	}
	err = rep.read(ctx, dir, readers(ctx), tops, m.Files)
	return rep, err
}

// Bound has slang, if it is installed, read the folder's Verilog with the assertions bound to it, as a simulator that knows bind reads them, and
// elaborate them: each connection finds what it names, in every instance. Without slang the Report has no run.
func Bound(ctx context.Context, dir string) (Report, error) {
	m, err := contract.Read(dir)
	if err != nil {
		return Report{}, fmt.Errorf("lint %s: %w", dir, err)
	}
	rep := Report{Name: m.Name, Digest: m.Digest}
	names, err := outermost(dir, m)
	if err != nil {
		return Report{}, fmt.Errorf("lint %s: %w", dir, err)
	}
	var tops []string
	for _, name := range names {
		tops = append(tops, m.Tops[name].Module)
	}
	list, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(contract.AssertionFiles)))
	if err != nil {
		return Report{}, fmt.Errorf("lint %s: %w", dir, err)
	}
	files := slices.Clone(m.Files)
	for _, name := range strings.Fields(string(list)) {
		files = append(files, path.Join(path.Dir(contract.AssertionFiles), name))
	}
	slang := slices.DeleteFunc(readers(ctx), func(rd reader) bool { return rd.name != "slang" })
	err = rep.read(ctx, dir, slang, tops, files)
	return rep, err
}

// read has readers read files from each of the tops, two at a time.
func (rep *Report) read(ctx context.Context, dir string, readers []reader, tops, files []string) error {
	type job struct {
		rd       reader
		top      string
		run      Run
		findings []Finding
	}
	var jobs []*job
	for _, rd := range readers {
		version, err := tool.Version(ctx, rd.program, rd.version...)
		if err != nil {
			return fmt.Errorf("lint %s: %w", dir, err)
		}
		for _, top := range tops {
			jobs = append(jobs, &job{rd: rd, top: top, run: Run{Tool: rd.name, Version: version, Top: top, Files: len(files)}})
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for _, j := range jobs {
		g.Go(func() error {
			out, err := tool.Run(ctx, tool.Command{Name: j.rd.program, Args: j.rd.args(j.top, files), Dir: dir, Timeout: limit})
			j.run.Seconds = out.Elapsed.Seconds()
			var failed *tool.ExitError
			if err != nil && !errors.As(err, &failed) {
				return fmt.Errorf("lint %s: %w", dir, err)
			}
			j.findings = j.rd.parse(string(out.Output))
			if failed != nil && len(j.findings) == 0 { // it failed and we did not understand why
				j.findings = []Finding{{Code: "failed", Text: failed.Error()}}
			}
			for i := range j.findings {
				j.findings[i].Tool, j.findings[i].Top = j.rd.name, j.top
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	seen := map[string]bool{} // the two tops share their modules: say each thing once
	for _, j := range jobs {
		rep.Runs = append(rep.Runs, j.run)
		for _, f := range j.findings {
			key := f.String()
			if !seen[key] {
				seen[key] = true
				rep.Findings = append(rep.Findings, f)
			}
		}
	}
	return nil
}
