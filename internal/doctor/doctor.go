// SPDX-License-Identifier: Apache-2.0

// Package doctor looks for the foreign programs that IncForge calls: which are there, which versions, what is missing and how
// to get it.
package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

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
	Line     string `json:"line,omitempty"`    // what it says of itself
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
		f.Line = line
		if f.Version = tool.Number(line); f.Version == "" {
			f.Version = line
		}
		if p.Name == "verilator" {
			f.Version = verilatorVersion(ctx, line)
		}
		all = append(all, f)
	}
	return all, nil
}

// verilatorVersion returns the number in Verilator's line. The Python package's builds do not know theirs ("rev vUNKNOWN-built20260516").
// Its headers do.
func verilatorVersion(ctx context.Context, line string) string {
	if !strings.Contains(line, "UNKNOWN") {
		return tool.Number(line)
	}
	res, err := tool.Run(ctx, tool.Command{Name: "verilator", Args: []string{"--getenv", "VERILATOR_ROOT"}})
	if err != nil {
		return line
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(res.Stdout)), "include", "verilated_config.h"))
	if err != nil {
		return line
	}
	if m := headerVersion.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return line
}

var headerVersion = regexp.MustCompile(`(?m)^#define VERILATOR_VERSION\s+"([^"]+)"`)

// Advice says in a line how the Verilator found compares with the other one that is tried with the project, or "" without a Verilator.
// What it says was measured with both, in processor time (sim/README.md).
func Advice(all []Finding) string {
	for _, f := range all {
		switch {
		case f.Name != "verilator" || !f.Found:
		case f.Version == f.Tested:
			return "Verilator " + f.Version + " is in use, recommended for tests; 5.048 (Python package) builds a model slower by a tenth to a fifth and runs it faster by a tenth."
		default:
			return "Verilator " + f.Version + " is in use; " + f.Tested + " (Debian) is recommended for tests: 5.048 (Python package) built a model slower by a tenth to a fifth and ran it faster by a tenth."
		}
	}
	return ""
}

// Digest is one word that changes whenever a program appears, goes or says another version. See tool.VersionsEnv.
func Digest(all []Finding) string {
	h := sha256.New()
	for _, f := range all {
		fmt.Fprintf(h, "%q %t %q\n", f.Name, f.Found, f.Line)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
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
