// SPDX-License-Identifier: Apache-2.0

// Package vendor writes what a vendor's tool needs to place and route an engine, for a user who has that tool, and reads the reports that it
// leaves. The scripts have been run through a Tcl parser and no further: the tools are not to be had here.
package vendor

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"incforge/contract"
)

// Tool is a vendor's tool.
type Tool string

const (
	// Vivado is AMD's.
	Vivado Tool = "vivado"
	// Quartus is Altera's, for Agilex the Pro edition.
	Quartus Tool = "quartus"
)

// Tools lists the tools.
func Tools() []Tool { return []Tool{Vivado, Quartus} }

// The parts that scripts are for unless told otherwise: the paper's VU13P, and an Agilex 7 of a common board.
const (
	vivadoPart    = "xcvu13p-fhga2104-2-e"
	quartusPart   = "AGFB014R24B2E2V"
	quartusFamily = "Agilex 7"
)

// Options say what the scripts are for.
type Options struct {
	// Top is the key of a top in the manifest; "" is the core.
	Top string
	// Part is the device; "" is a default of the tool. Family is Quartus's.
	Part, Family string
}

// Record lies beside the scripts, so that reports can be told whose they are.
type Record struct {
	Vendor   Tool    `json:"vendor"`
	Config   string  `json:"config"`
	Digest   string  `json:"digest"`
	Top      string  `json:"top"`
	Part     string  `json:"part"`
	AskedMHz float64 `json:"asked_mhz"`
	Lanes    int     `json:"lanes"`
}

// RecordFile is its name.
const RecordFile = "vendor.json"

//go:embed *.tmpl
var templates embed.FS

// script is what the templates print.
type script struct {
	Top, Part, Family, Clock, Period string
	Files, Virtual                   []string
}

// ErrTool means that a tool is not known.
var ErrTool = errors.New("unknown vendor's tool")

// Write writes scripts, constraints and the Verilog of the design in the manifest's folder into a folder of their own.
func Write(m *contract.Manifest, to string, tool Tool, o Options) error {
	if !slices.Contains(Tools(), tool) {
		return fmt.Errorf("vendor: %w %q", ErrTool, tool)
	}
	if o.Top == "" {
		o.Top = contract.TopCore
	}
	top, err := m.Top(o.Top)
	if err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(to, "rtl"), 0o755); err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	s := script{Top: top.Module, Part: o.Part, Family: o.Family, Clock: m.Clock.Port, Period: strconv.FormatFloat(1e3/m.Clock.MHz, 'f', 3, 64)}
	for _, f := range m.Files {
		text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(f)))
		if err != nil {
			return fmt.Errorf("vendor: %w", err)
		}
		name := "rtl/" + filepath.Base(f)
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
			return fmt.Errorf("vendor: %w", err)
		}
		s.Files = append(s.Files, name)
	}
	for _, p := range top.Ports {
		if p.Name != m.Clock.Port {
			s.Virtual = append(s.Virtual, p.Name)
		}
	}
	files := []string{"vivado.tcl", "clock.xdc"}
	if tool == Quartus {
		files = []string{"quartus.tcl", "clock.sdc"}
	}
	s.defaults(tool)
	for _, f := range files {
		if err := s.write(to, f); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(Record{tool, m.Name, m.Digest, top.Module, s.Part, m.Clock.MHz, m.Params.Lanes}, "", "  ")
	if err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	if err := os.WriteFile(filepath.Join(to, RecordFile), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	return nil
}

func (s *script) defaults(tool Tool) {
	part := vivadoPart
	if tool == Quartus {
		part = quartusPart
	}
	if s.Part == "" {
		s.Part = part
	}
	if s.Family == "" {
		s.Family = quartusFamily
	}
}

func (s *script) write(to, file string) error {
	t, err := template.New(file+".tmpl").Funcs(template.FuncMap{"tcl": quote}).ParseFS(templates, file+".tmpl")
	if err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	var text strings.Builder
	if err := t.Execute(&text, s); err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	if err := os.WriteFile(filepath.Join(to, file), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("vendor: %w", err)
	}
	return nil
}

// quote makes a word of Tcl of any text.
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./", r)
	}) < 0 {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(s) + `"`
}
