// SPDX-License-Identifier: Apache-2.0

// Package rtlgen is the generator's front door: parameters in, a design out. A design is a graph of modules (core.go, switch.go),
// printed as Verilog, with the files that other tools want beside it and one manifest that everything after generation reads.
package rtlgen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"incforge/hdl/graph"
	"incforge/hdl/ram"
	"incforge/hdl/verilog"
	"incforge/rtlgen/params"
	"incforge/rtlgen/regs"
)

// ManifestFile is the manifest's name in a generated folder.
const ManifestFile = "manifest.json"

// Design is a generated engine.
type Design struct {
	Params params.Params
	// Core has one stream in and one out, Switch one pair a port.
	Core, Switch *graph.Module
	// Registers is the register map of both.
	Registers regs.Model
	// Files are all files, in an order that does not vary; the manifest is the last.
	Files verilog.Files
	// Manifest is the content of ManifestFile.
	Manifest Manifest
}

// Manifest is docs/engine.md section 8.
type Manifest struct {
	Schema    int                  `json:"schema"`
	Name      string               `json:"name"`
	Digest    string               `json:"digest"`
	Params    params.Params        `json:"params"`
	Derived   params.Derived       `json:"derived"`
	Clock     Clock                `json:"clock"`
	Tops      map[string]Top       `json:"tops"`
	Files     []string             `json:"files"`
	Registers []regs.Register      `json:"registers"`
	Counters  []string             `json:"counters"`
	Memories  []verilog.MemoryInfo `json:"memories"`
}

// Clock names the clock and reset ports of every top, and the frequency the design is meant for.
type Clock struct {
	Port  string `json:"port"`
	Reset string `json:"reset"`
	MHz   int    `json:"mhz"`
}

// Top is a module to build on.
type Top struct {
	Module string             `json:"module"`
	Ports  []verilog.PortInfo `json:"ports"`
}

// Generate builds the design for p. Illegal parameters are refused with all their problems (params.Problems) before anything is made.
func Generate(p params.Params) (*Design, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	model, err := regs.New(p)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	core, err := composeCore(p, model)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	top, err := withPorts(p, model, core)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	d := &Design{Params: p, Core: core, Switch: top, Registers: model}
	if err := d.print(); err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	return d, nil
}

// Write writes all files below dir, which is made when missing.
func (d *Design) Write(dir string) error { return d.Files.Write(dir) }

func (d *Design) print() error {
	rtl, err := verilog.Collect(d.Switch)
	if err != nil {
		return err
	}
	if err := style(rtl, d.Params.Memory); err != nil {
		return err
	}
	d.Files = append(d.Files, rtl...)
	add := func(name string, data []byte) {
		d.Files = append(d.Files, verilog.File{Path: name, Data: data})
	}
	add("files.f", verilog.FileList(rtl))
	constraints := d.Params.Name + ".sdc"
	sdc, err := verilog.SDC(d.Switch, verilog.Clock{Port: "clk", MHz: float64(d.Params.ClockMHz)})
	if err != nil {
		return err
	}
	add(constraints, sdc)
	core, err := verilog.FuseSoC(verilog.Core{
		Name: d.Params.Name, Version: fmt.Sprintf("%d.%d.0", regs.VersionMajor, regs.VersionMinor), Description: d.Switch.Purpose, Toplevel: d.Switch.Name,
		Files: rtl.Paths(), Constraints: []string{constraints},
	})
	if err != nil {
		return err
	}
	add(d.Params.Name+".core", core)
	for _, m := range []*graph.Module{d.Core, d.Switch} {
		svg, err := verilog.Diagram(m)
		if err != nil {
			return err
		}
		add("docs/"+m.Name+".svg", svg)
	}
	add("params.yaml", d.Params.YAML())

	add("regs/"+d.Params.Name+"_regs.h", d.Registers.CHeader())
	add("regs/"+d.Params.Name+".rdl", d.Registers.SystemRDL())
	add("regs/"+d.Params.Name+"_regs.md", d.Registers.Markdown())
	driver, err := d.Registers.GoDriver()
	if err != nil {
		return err
	}
	add("regs/"+d.Registers.DriverPackage()+"/driver.go", driver)

	d.Manifest = Manifest{
		Schema: 1, Name: d.Params.Name, Params: d.Params, Derived: d.Params.Derived(),
		Clock: Clock{Port: "clk", Reset: "rst", MHz: d.Params.ClockMHz},
		Tops: map[string]Top{
			"core":   {d.Core.Name, verilog.Ports(d.Core)},
			"switch": {d.Switch.Name, verilog.Ports(d.Switch)},
		},
		Files: rtl.Paths(), Registers: d.Registers.Registers, Counters: regs.CounterNames(d.Params.Mode),
		Memories: verilog.Memories(d.Switch),
	}
	d.Manifest.Digest = digest(d.Params, rtl)
	text, err := json.MarshalIndent(d.Manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	add(ManifestFile, append(text, '\n'))
	return nil
}

// style makes the design's memories be built as the parameter memory says.
func style(rtl verilog.Files, memory params.Memory) error {
	styles := map[params.Memory]int{params.MemoryAuto: 0, params.MemoryRAM: 1, params.MemoryRegisters: 2}
	for i, f := range rtl {
		if !slices.Contains(ram.Styled(), strings.TrimSuffix(path.Base(f.Path), ".v")) {
			continue
		}
		text, err := ram.Default(f.Data, styles[memory])
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		rtl[i].Data = text
	}
	return nil
}

// digest names the parameters and every byte of Verilog.
func digest(p params.Params, rtl verilog.Files) string {
	h := sha256.New()
	h.Write(p.YAML())
	for _, f := range rtl {
		fmt.Fprintf(h, "%s %d\n", f.Path, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
