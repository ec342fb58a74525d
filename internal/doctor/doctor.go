// SPDX-License-Identifier: Apache-2.0

// Package doctor looks for the foreign programs that IncForge calls: which are there, which versions, what is missing and how
// to get it.
package doctor

import (
	"context"
	"errors"
	"fmt"

	"incforge/internal/tool"
)

// Program is one foreign program.
type Program struct {
	Name     string   // as looked up in PATH
	Need     string   // what IncForge does with it
	Package  string   // Debian 12 package
	Tested   string   // the release the project is tested with
	Optional bool     // nothing but an extra check is lost without it
	version  []string // arguments that make it print its version
}

// Programs returns everything IncForge may call, in the order in which a newcomer meets it.
func Programs() []Program {
	return []Program{
		{Name: "verilator", Need: "simulation, lint", Package: "verilator", Tested: "5.006", version: []string{"--version"}},
		{Name: "g++", Need: "compiles simulation models", Package: "g++", Tested: "12", version: []string{"--version"}},
		{Name: "make", Need: "compiles simulation models", Package: "make", Tested: "4.3", version: []string{"--version"}},
		{Name: "iverilog", Need: "lint", Package: "iverilog", Tested: "11", version: []string{"-V"}},
		{Name: "yosys", Need: "lint, synthesis, FPGA estimates, netlists", Package: "yosys", Tested: "0.23", version: []string{"-V"}},
		{Name: "sta", Need: "static timing (OpenSTA)", Package: "opensta", Tested: "2.0.17", version: []string{"-version"}},
		{Name: "z3", Need: "proofs", Package: "z3", Tested: "4.8.12", Optional: true, version: []string{"--version"}},
		{Name: "tshark", Need: "opens captures in a test", Package: "tshark", Tested: "4.0", Optional: true, version: []string{"--version"}},
	}
}

// Finding is what was found of one program.
type Finding struct {
	Name     string `json:"name"`
	Need     string `json:"need"`
	Found    bool   `json:"found"`
	Optional bool   `json:"optional"`
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"` // the number; the whole line if there is none in it
	Tested   string `json:"tested"`
	Install  string `json:"install"` // command that installs it on Debian 12
}

// State says in a word how the program is.
func (f Finding) State() string {
	switch {
	case f.Found:
		return "ok"
	case f.Optional:
		return "missing (optional)"
	}
	return "MISSING"
}

// Look examines every program. A program that is there but cannot say its version counts as found, with its words as version.
func Look(ctx context.Context, programs []Program) ([]Finding, error) {
	var all []Finding
	for _, p := range programs {
		f := Finding{Name: p.Name, Need: p.Need, Optional: p.Optional, Tested: p.Tested, Install: "apt-get install " + p.Package}
		path, err := tool.Find(p.Name)
		var absent *tool.NotFoundError
		switch {
		case errors.As(err, &absent):
			all = append(all, f)
			continue
		case err != nil:
			return nil, fmt.Errorf("look for %s: %w", p.Name, err)
		}
		f.Found, f.Path = true, path
		line, err := tool.Version(ctx, p.Name, p.version...)
		if err != nil {
			line = err.Error()
		}
		if f.Version = tool.Number(line); f.Version == "" {
			f.Version = line
		}
		all = append(all, f)
	}
	return all, nil
}

// Missing returns the first required program that is not there, as the error that every command without it would give.
func Missing(all []Finding) error {
	for _, f := range all {
		if !f.Found && !f.Optional {
			return &tool.NotFoundError{Name: f.Name, Hint: tool.InstallHint}
		}
	}
	return nil
}
