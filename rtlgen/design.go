// SPDX-License-Identifier: Apache-2.0

// Package rtlgen is the generator's front door: parameters in, a design out. A design is a graph of modules (core.go, switch.go),
// printed as Verilog, with the files that other tools want beside it and one manifest that everything after generation reads.
package rtlgen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/hdl/cdc"
	"incforge/hdl/graph"
	"incforge/hdl/ram"
	"incforge/hdl/sva"
	"incforge/hdl/verilog"
	"incforge/rtlgen/params"
)

// Design is a generated engine.
type Design struct {
	Params params.Params
	// Core has one stream in and one out, Switch one pair a port.
	Core, Switch *graph.Module
	// Registers is the register map of both.
	Registers contract.Model
	// Files are all files, in an order that does not vary; the manifest is the last.
	Files verilog.Files
	// Manifest is the content of contract.FileName.
	Manifest contract.Manifest
	// attach: the checkers stand in the text of their blocks.
	attach bool
}

// ErrNoVerilog means that the parameters are legal, and that the reference engine alone has what they ask for.
var ErrNoVerilog = errors.New("of this there is no Verilog yet, only the reference engine (docs/termination.md): verify, collective and chaos take it with --dut reference")

// Generate builds the design for p. Illegal parameters are refused with all their problems (params.Problems) before anything is made, and what
// there is no Verilog of in Mode I (messages above 8 MiB) with ErrNoVerilog.
func Generate(p params.Params) (*Design, error) { return generate(p, false) }

// GenerateAsserted is Generate with the assertions in the text of the blocks, for tools that have no bind.
func GenerateAsserted(p params.Params) (*Design, error) { return generate(p, true) }

func generate(p params.Params, attach bool) (*Design, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := noVerilog(p); err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	model, err := contract.NewModel(p.Contract())
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	one, err := contract.NewModel(p.OneEngine().Contract())
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	core, err := composeCore(p.OneEngine(), one)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	top, err := withPorts(p, model, core)
	if err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	d := &Design{Params: p, Core: core, Switch: top, Registers: model, attach: attach}
	if err := d.print(); err != nil {
		return nil, fmt.Errorf("generate %s: %w", p.Name, err)
	}
	return d, nil
}

// Describe returns the manifest of an engine of p without any Verilog, which is all that the reference engine needs. It has no files and no tops.
func Describe(p params.Params) (*contract.Manifest, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	model, err := contract.NewModel(p.Contract())
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", p.Name, err)
	}
	derived, err := json.Marshal(p.Derived())
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", p.Name, err)
	}
	m := manifest(p, model, derived, nil)
	return &m, nil
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
	var asserted verilog.Files
	if d.attach {
		rtl, err = sva.Attach(rtl)
	} else {
		asserted, err = sva.Files(rtl)
	}
	if err != nil {
		return err
	}
	d.Files = append(append(d.Files, rtl...), asserted...)
	d.add("files.f", verilog.FileList(rtl))
	sdc, xdc, err := d.constrain()
	if err != nil {
		return err
	}
	core, err := verilog.FuseSoC(verilog.Core{
		Name: d.Params.Name, Version: fmt.Sprintf("%d.%d.0", contract.VersionMajor, contract.VersionMinor), Description: d.Switch.Purpose, Toplevel: d.Switch.Name,
		Files: rtl.Paths(), SDC: sdc, XDC: xdc,
	})
	if err != nil {
		return err
	}
	d.add(d.Params.Name+".core", core)
	if err := d.draw(); err != nil {
		return err
	}
	d.add("params.yaml", d.Params.YAML())

	d.add("regs/"+d.Params.Name+"_regs.h", d.Registers.CHeader())
	d.add("regs/"+d.Params.Name+".rdl", d.Registers.SystemRDL())
	d.add("regs/"+d.Params.Name+"_regs.md", d.Registers.Markdown())
	driver, err := d.Registers.GoDriver()
	if err != nil {
		return err
	}
	d.add("regs/"+d.Registers.DriverPackage()+"/driver.go", driver)

	if err := d.describe(rtl); err != nil {
		return err
	}
	text, err := d.Manifest.JSON()
	if err != nil {
		return err
	}
	d.add(contract.FileName, text)
	return nil
}

// add puts a file into the design's folder.
func (d *Design) add(name string, data []byte) {
	d.Files = append(d.Files, verilog.File{Path: name, Data: data})
}

// constrain prints the clocks and what crosses between them: SDC for either top, XDC where ports have clocks of their own. It returns the
// names of the switch's; xdc is "" where there is none.
func (d *Design) constrain() (sdc, xdc string, err error) {
	clocks := d.clocks()
	sdc = d.Params.Name + ".sdc"
	text, err := verilog.SDC(d.Switch, clocks...)
	if err != nil {
		return "", "", err
	}
	d.add(sdc, text)
	if text, err = verilog.SDC(d.Core, clocks[0]); err != nil {
		return "", "", err
	}
	d.add(d.Core.Name+".sdc", text)
	if len(d.Params.PortClockMHz) > 0 {
		if text, err = cdc.XDC(d.Switch, clocks...); err != nil {
			return "", "", err
		}
		xdc = d.Params.Name + ".xdc"
		d.add(xdc, text)
	}
	return sdc, xdc, nil
}

// draw prints either top as a diagram, and the core by its stages.
func (d *Design) draw() error {
	for _, m := range []*graph.Module{d.Core, d.Switch} {
		svg, err := verilog.Diagram(m)
		if err != nil {
			return err
		}
		d.add("docs/"+m.Name+".svg", svg)
	}
	overview, err := verilog.Overview(d.Core, stages())
	if err != nil {
		return err
	}
	d.add("docs/"+d.Core.Name+"_stages.svg", overview)
	return nil
}

// clocks are the engine's clock, and those of the switch's ports, where they have their own.
func (d *Design) clocks() []verilog.Clock {
	clocks := []verilog.Clock{{Port: contract.ClockPort, MHz: float64(d.Params.ClockMHz)}}
	for i := range d.Params.Ports {
		if mhz := d.Params.Contract().PortMHz(i); mhz > 0 {
			clocks = append(clocks, verilog.Clock{Port: contract.PortClock(i), MHz: mhz})
		}
	}
	return clocks
}

// describe makes the manifest of the design whose Verilog is rtl.
func (d *Design) describe(rtl verilog.Files) error {
	derived, err := json.Marshal(d.Params.Derived())
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	d.Manifest = manifest(d.Params, d.Registers, derived, rtl)
	d.Manifest.Tops = map[string]contract.Top{
		contract.TopCore:   {Module: d.Core.Name, Ports: verilog.Ports(d.Core)},
		contract.TopSwitch: {Module: d.Switch.Name, Ports: verilog.Ports(d.Switch)},
	}
	d.Manifest.Memories = verilog.Memories(d.Switch)
	return nil
}

// manifest is what a manifest has that does not follow from the graph.
func manifest(p params.Params, model contract.Model, derived json.RawMessage, rtl verilog.Files) contract.Manifest {
	return contract.Manifest{
		Schema: contract.Schema, Name: p.Name, Digest: digest(p, rtl), Params: p.Contract(), Derived: derived,
		Clock: contract.Clock{Port: contract.ClockPort, Reset: contract.ResetPort, MHz: float64(p.ClockMHz)},
		Files: rtl.Paths(), Registers: model.Registers, Counters: p.Contract().CounterNames(),
	}
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
