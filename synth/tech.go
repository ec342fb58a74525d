// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"incforge/internal/tool"
	"incforge/synth/liberty"
)

const (
	// Generic28 names the built-in predictive library.
	Generic28 = "generic28"
	// OSU018 names Debian's copy of Oklahoma State University's 180 nm library.
	OSU018 = "osu018"

	osu018File = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
)

// technology is a library ready for the tools.
type technology struct {
	name     string // as asked for
	basis    string // one line for the reader
	node28   bool   // the built-in library: figures are 28 nm-class
	lib      *liberty.Library
	text     []byte       // what the tools read
	flopText []byte       // of that, the flops
	mapText  []byte       // what may be mapped onto: without clock gates
	gate     liberty.Cell // clock gate; none without a name
	corner   string
	wires    string // how wires are counted
	nand2    float64
	fo4      float64 // ps
	sram     liberty.Corner
	sramUp   float64 // macro area over the 28 nm-class macro's
	driver   liberty.Cell
	fanout   liberty.Cell // of trees between modules
	loadFF   float64
	timePS   float64 // one library time unit in ps
	capFF    float64 // one library capacitance unit in fF
	hasWire  bool
}

// loadTechnology finds a library by name or path.
func loadTechnology(ctx context.Context, dir, name, corner string) (*technology, error) {
	if name == "" || name == Generic28 {
		return builtIn(corner)
	}
	if corner != "" {
		return nil, fmt.Errorf("synth: corner %q: only %s has corners, a library file is one", corner, Generic28)
	}
	path := name
	if name == OSU018 {
		path = osu018File
		if _, err := os.Stat(path); err != nil {
			return nil, &tool.NotFoundError{Name: OSU018 + " library (" + path + ")", Hint: "apt-get install qflow-tech-osu018"}
		}
	}
	lib, err := liberty.Open(path)
	if err != nil {
		return nil, fmt.Errorf("synth: technology %q (%s, %s or a Liberty file): %w", name, Generic28, OSU018, err)
	}
	t := &technology{name: name, lib: lib, text: lib.ForSynthesis(true), mapText: lib.ForSynthesis(true), corner: lib.Name, wires: "none"}
	t.basis = fmt.Sprintf("library %s, wire-free; SRAM by the 28 nm-class model scaled by NAND2 area and FO4", lib.Name)
	t.flopText = liberty.Flops(t.mapText)
	if err := t.gates(); err != nil {
		return nil, err
	}
	if t.fo4, err = t.measureFO4(ctx, dir); err != nil {
		return nil, err
	}
	typical := liberty.Typical()
	t.sramUp = t.nand2 / liberty.NAND2Area
	t.sram = liberty.Corner{Name: "scaled", Process: 1, Voltage: lib.Voltage, Temperature: lib.Temp, FO4: t.fo4,
		Leakage: typical.Leakage * t.sramUp, Energy: typical.Energy * t.sramUp}
	return t, nil
}

func builtIn(corner string) (*technology, error) {
	c, err := liberty.CornerByName(corner)
	if err != nil {
		return nil, err
	}
	text, err := liberty.Generate(liberty.Options{Corner: c, WireLoad: liberty.WireLoad})
	if err != nil {
		return nil, err
	}
	lib, err := liberty.Parse(text)
	if err != nil {
		return nil, err
	}
	t := &technology{name: Generic28, node28: true, lib: lib, text: text, mapText: lib.ForSynthesis(false), corner: c.Name, hasWire: true,
		wires: fmt.Sprintf("%g fF a sink", liberty.WireLoad), fo4: c.FO4, sram: c, sramUp: 1}
	t.basis = fmt.Sprintf("predictive 28 nm-class library, 9-track, %s corner (%g V, %g C, FO4 %g ps); no foundry data", c.Name, c.Voltage, c.Temperature, c.FO4)
	t.flopText = liberty.Flops(t.mapText)
	t.gate, _ = lib.ClockGate()
	return t, t.gates()
}

// gates finds the reference cells.
func (t *technology) gates() error {
	nand, ok := t.lib.NAND2()
	if !ok || nand.Area <= 0 {
		return fmt.Errorf("synth: library %s has no two-input NAND with an area: nothing to count gates in", t.lib.Name)
	}
	inv, ok := t.lib.Inverter()
	if !ok {
		return fmt.Errorf("synth: library %s has no inverter", t.lib.Name)
	}
	t.driver = inv
	if buf, ok := t.lib.Buffer(); ok {
		t.driver = buf
	}
	if x2, ok := t.lib.Cell("BUF_X2"); ok && t.node28 {
		t.driver = x2
	}
	t.fanout = t.driver
	if x8, ok := t.lib.Cell("BUF_X8"); ok && t.node28 {
		t.fanout = x8
	}
	t.nand2 = nand.Area
	t.timePS, t.capFF = t.lib.TimeUnit*1e12, t.lib.CapUnit*1e15
	t.loadFF = 4 * inputCap(inv) * t.capFF
	return nil
}

func inputCap(c liberty.Cell) float64 {
	for _, p := range c.Pins {
		if p.Direction == "input" {
			return p.Cap
		}
	}
	return 0
}

func pin(c liberty.Cell, direction string) string {
	for _, p := range c.Pins {
		if p.Direction == direction {
			return p.Name
		}
	}
	return ""
}

// measureFO4 times, in OpenSTA and without wires, a chain of the smallest
// inverter in which each drives four, and returns the delay of a stage in ps.
func (t *technology) measureFO4(ctx context.Context, dir string) (float64, error) {
	const lead, stages = 4, 10
	inv, ok := t.lib.Inverter()
	if !ok {
		return 0, fmt.Errorf("synth: library %s has no inverter", t.lib.Name)
	}
	in, out := pin(inv, "input"), pin(inv, "output")
	var v strings.Builder
	v.WriteString("module chain (a, y);\ninput a;\noutput y;\n")
	from := "a"
	for i := range lead + stages + 1 {
		to := fmt.Sprintf("n%d", i)
		if i == lead+stages {
			to = "y"
		} else {
			fmt.Fprintf(&v, "wire %s;\n", to)
			for k := range 3 {
				fmt.Fprintf(&v, "%s d%d_%d (.%s(%s));\n", inv.Name, i, k, in, to)
			}
		}
		fmt.Fprintf(&v, "%s u%d (.%s(%s), .%s(%s));\n", inv.Name, i, in, from, out, to)
		from = to
	}
	v.WriteString("endmodule\n")
	files := map[string][]byte{"cells.lib": t.text, "chain.v": []byte(v.String()), "chain.tcl": []byte(strings.Join([]string{
		"read_liberty cells.lib", "read_verilog chain.v", "link_design chain", "create_clock -name v -period 1000",
		"set_input_delay 0 -clock v [get_ports a]", "set_output_delay 0 -clock v [get_ports y]", "report_checks -path_delay max -digits 6"}, "\n"))}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return 0, fmt.Errorf("synth: %w", err)
		}
	}
	res, err := tool.Run(ctx, tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", "chain.tcl"}, Dir: dir})
	if err != nil {
		return 0, fmt.Errorf("synth: FO4 of %s: %w", t.lib.Name, err)
	}
	at := func(stage int) float64 {
		m := regexp.MustCompile(fmt.Sprintf(`([0-9.]+) [v^] u%d/`, stage)).FindSubmatch(res.Output)
		if m == nil {
			return math.NaN()
		}
		x, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}
	fo4 := (at(lead+stages-1) - at(lead-1)) / stages * t.timePS
	if math.IsNaN(fo4) || fo4 <= 0 {
		return 0, fmt.Errorf("synth: FO4 of %s: OpenSTA reported no path:\n%s", t.lib.Name, tool.Tail(res.Output))
	}
	return fo4, nil
}
