// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Geometry of the 9-track 28 nm-class cells. Public contacted gate pitches at
// 28 nm are 113.4 nm (Samsung, GlobalFoundries) and 117 nm (TSMC); commercial
// 28 nm libraries are drawn on 130-140 nm. A NAND2 is three pitches wide, which
// agrees with 0.49 um2 for ST's 12-track cell (3 x 0.136 x 1.2) and with half of
// the 0.7056 um2 quoted for TSMC's 40 nm NAND2. Range 0.294 (7-track) to 0.504.
const (
	CPP        = 0.14 // um, contacted gate pitch of the library
	CellHeight = 0.90 // um, nine tracks
	// NAND2Area is the area of NAND2_X1 in um2.
	NAND2Area = 3 * CPP * CellHeight
	// C0 is the input capacitance of INV_X1 in fF (0.7-1.1 is plausible; it
	// cancels wherever wires do not matter).
	C0 = 0.9
	// WireLoad is the capacitance of a net in fF for each of its sinks: 11 to 17 um
	// of wire an instance in published 45 nm layouts, two sinks a net, 0.17-0.2 fF/um,
	// which is 0.5-0.9 of an input; range 0.5-1.4.
	WireLoad = 0.9
)

// Timing constants of flops and latches in FO4, common to the libraries looked at.
const (
	setupFO4 = 1.4
	holdFO4  = 0.15
	// gateSetupFO4 is that of a clock gate's enable. The gate stands before the leaves of the clock tree, and the flow's clocks are
	// ideal, which puts gate and leaf at the same time: the gate's own delay with 32 flops, some 4 FO4, is in its setup instead.
	gateSetupFO4 = setupFO4 + 4
)

// Corner holds the node figures that depend on process, voltage and temperature.
type Corner struct {
	Name        string
	Process     float64 // Liberty nom_process, 1
	Voltage     float64 // V
	Temperature float64 // degrees Celsius
	FO4         float64 // ps, delay of an INV X1 driving four of its kind, no wires
	Leakage     float64 // nW a NAND2 of area
	Energy      float64 // fJ inside the cell an output toggle and NAND2 of area
	Inverter    float64 // fF at the input of the smallest inverter; 0 is C0
}

func (c Corner) inverter() float64 { return cmp.Or(c.Inverter, C0) }

// Typical is 0.9 V and 25 C. FO4: the published fits of Stillmaker and Baas
// (Integration, 2017) give 8.3 ps for 32 nm high performance and 39.3 ps for
// low power; their geometric mean times 28/32 is 15.8 ps. Range 13-20.
func Typical() Corner {
	return Corner{Name: "typical", Process: 1, Voltage: 0.9, Temperature: 25, FO4: 16, Leakage: 6, Energy: 0.35}
}

// Slow is 0.81 V and 125 C on slow silicon: FO4 1.69 times the typical one.
func Slow() Corner {
	return Corner{Name: "slow", Process: 1, Voltage: 0.81, Temperature: 125, FO4: 27, Leakage: 25, Energy: 0.28}
}

// CornerByName returns the corner "typical" or "slow"; "" is typical.
func CornerByName(name string) (Corner, error) {
	switch name {
	case "", "typical":
		return Typical(), nil
	case "slow":
		return Slow(), nil
	}
	return Corner{}, fmt.Errorf("liberty: unknown corner %q (typical, slow)", name)
}

// Options choose what Generate writes.
type Options struct {
	Corner Corner
	// WireLoad in fF a sink; 0 leaves the library without a wire load.
	WireLoad float64
}

// LibraryName is the name of the generated library at a corner.
func LibraryName(c Corner) string { return "incforge_generic28_" + c.Name }

// slews are the tables' input slews in FO4 (full swing) and loads their output
// loads in C0 per unit of drive strength.
func slews() []float64 { return []float64{0.15, 0.4, 0.8, 1.4, 2.2, 4, 8} }
func loads() []float64 { return []float64{0.25, 1, 2, 4, 8, 16, 32} }

// calibration returns n of the delay formula such that, in a long chain of INV
// X1 each driving four, the delay a stage is exactly one FO4. In such a chain
// the slew is the same at every stage, s = n (t0 + 4 tr + tk s), so with
// d(n) = n (d0 + 4 r + k s) growing in n, bisection finds d(n) = 1.
func calibration() float64 {
	inv := templates()[0]
	delay := func(n float64) float64 {
		s := n * (inv.t0 + 4*inv.tr) / (1 - n*inv.tk)
		return n * (inv.d0 + 4*inv.r + inv.k*s)
	}
	lo, hi := 0.5, 2.0
	for range 60 {
		if mid := (lo + hi) / 2; delay(mid) < 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// areaNAND2 returns a cell's area in NAND2: every unit of drive strength above
// the first adds addCPP pitches, a NAND2 being three.
func (t template) areaNAND2(x int) float64 {
	return t.area + t.addCPP*float64(x-1)/3
}

// pinLoad returns the capacitance of an input in fF.
func (t template) pinLoad(x int) float64 {
	if t.twoStage {
		return t.pin * C0 * (1 + float64(x-1)/2)
	}
	return t.pin * C0 * float64(x)
}

// CellName returns the name of a family's cell of drive strength x.
func CellName(family string, x int) string { return fmt.Sprintf("%s_X%d", family, x) }

// writer prints Liberty; errors cannot happen on a bytes.Buffer.
type writer struct {
	bytes.Buffer
	indent int
}

func (w *writer) line(format string, args ...any) {
	w.WriteString(strings.Repeat("  ", w.indent))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *writer) open(format string, args ...any) {
	w.line(format+" {", args...)
	w.indent++
}

func (w *writer) close() {
	w.indent--
	w.line("}")
}

func numbers(format string, v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = fmt.Sprintf(format, x)
	}
	return strings.Join(s, ", ")
}

// header prints the library attributes shared by cells and macros. Debian's
// OpenSTA 2.0.17 refuses a library that lacks the slew or threshold attributes.
func (w *writer) header(name string, c Corner) {
	w.open("library (%s)", name)
	for _, l := range []string{
		`technology (cmos)`, `delay_model : table_lookup`, `time_unit : "1ps"`, `voltage_unit : "1V"`,
		`current_unit : "1uA"`, `pulling_resistance_unit : "1kohm"`, `leakage_power_unit : "1nW"`,
		`capacitive_load_unit (1,ff)`,
		`slew_lower_threshold_pct_rise : 20`, `slew_upper_threshold_pct_rise : 80`,
		`slew_lower_threshold_pct_fall : 20`, `slew_upper_threshold_pct_fall : 80`,
		`slew_derate_from_library : 1`,
		`input_threshold_pct_rise : 50`, `input_threshold_pct_fall : 50`,
		`output_threshold_pct_rise : 50`, `output_threshold_pct_fall : 50`,
	} {
		w.line("%s;", l)
	}
	w.line("nom_process : %g;", c.Process)
	w.line("nom_voltage : %g;", c.Voltage)
	w.line("nom_temperature : %g;", c.Temperature)
	w.line("operating_conditions (%s) { process : %g; voltage : %g; temperature : %g; tree_type : balanced_tree; }",
		c.Name, c.Process, c.Voltage, c.Temperature)
	w.line("default_operating_conditions : %s;", c.Name)
}

// swing is the part of a full transition between the 20 % and 80 % thresholds:
// slews are written as times between the thresholds.
const swing = 0.6

// Generate returns the text of the standard-cell library. The same options give
// the same bytes.
//
//	area  = (template + addCPP (X-1)/3) NAND2
//	delay = FO4 n (d0 + r C/(X C0) + k sf/FO4)
//	slew  = 0.6 FO4 n (t0 + tr C/(X C0) + tk sf/FO4)      20-80 %, sf = s/0.6
//
// Rise and fall are the same: the template is their average.
func Generate(o Options) ([]byte, error) {
	c := o.Corner
	n := calibration()
	w := new(writer)
	w.line("/* Predictive 28 nm-class cells, generated by IncForge from public figures; no foundry data. */")
	w.header(LibraryName(c), c)
	w.line("default_max_transition : %.1f;", 8*swing*c.FO4)
	w.line("default_fanout_load : 1;")
	w.line("default_inout_pin_cap : %g;", C0)
	w.line("default_input_pin_cap : %g;", C0)
	w.line("default_output_pin_cap : 0;")
	if o.WireLoad > 0 {
		w.open(`wire_load ("per_sink")`)
		w.line("resistance : 0;")
		w.line("capacitance : %g;", o.WireLoad)
		w.line("area : 0;")
		w.line("slope : 1;")
		for f := 1; f <= 32; f++ {
			w.line("fanout_length (%d, %d);", f, f)
		}
		w.close()
		w.line(`default_wire_load : "per_sink";`)
		w.line(`default_wire_load_mode : "top";`)
	}
	full := slews()
	s2080 := make([]float64, len(full))
	for i, s := range full {
		s2080[i] = s * swing * c.FO4
	}
	x1 := loads()
	for i := range x1 {
		x1[i] *= C0
	}
	w.line(`lu_table_template (delay) { variable_1 : input_net_transition; variable_2 : total_output_net_capacitance; index_1 ("%s"); index_2 ("%s"); }`,
		numbers("%.4f", s2080), numbers("%.4f", x1))
	corners := []float64{s2080[1], s2080[3], s2080[5]}
	w.line(`lu_table_template (constraint) { variable_1 : related_pin_transition; variable_2 : constrained_pin_transition; index_1 ("%s"); index_2 ("%s"); }`,
		numbers("%.4f", corners), numbers("%.4f", corners))
	w.line(`power_lut_template (energy) { variable_1 : input_transition_time; variable_2 : total_output_net_capacitance; index_1 ("%s"); index_2 ("%s"); }`,
		numbers("%.4f", []float64{s2080[0], s2080[6]}), numbers("%.4f", []float64{x1[0], x1[6]}))
	for _, t := range templates() {
		for _, x := range t.drives {
			if err := w.cell(t, x, c, n, s2080); err != nil {
				return nil, err
			}
		}
	}
	w.close()
	return w.Bytes(), nil
}

func (w *writer) cell(t template, x int, c Corner, n float64, s2080 []float64) error {
	area := t.areaNAND2(x)
	w.open("cell (%s)", CellName(t.name, x))
	w.line("area : %.4f;", area*NAND2Area)
	w.line("cell_footprint : \"%s\";", t.name)
	w.line("cell_leakage_power : %.4f;", c.Leakage*area)
	switch t.kind {
	case flop:
		w.line(`ff (IQ, IQN) { clocked_on : "CK"; next_state : "D"; }`)
	case flopClear:
		w.line(`ff (IQ, IQN) { clocked_on : "CK"; next_state : "D"; clear : "!RN"; }`)
	case flopSet:
		w.line(`ff (IQ, IQN) { clocked_on : "CK"; next_state : "D"; preset : "!SN"; }`)
	case latch:
		w.line(`latch (IQ, IQN) { enable : "G"; data_in : "D"; }`)
	case clockGate:
		w.line(`clock_gating_integrated_cell : "latch_posedge";`)
		w.line(`statetable ("CK E", "IQ") { table : "L L : - : L, L H : - : H, H - : - : N"; }`)
		w.line(`pin (IQ) { direction : internal; internal_node : "IQ"; }`)
	}
	for _, in := range t.inputs {
		w.input(t, in, c, t.pinLoad(x))
	}
	ld := loads()
	for i := range ld {
		ld[i] *= C0 * float64(x)
	}
	for _, out := range t.outputs {
		w.open("pin (%s)", out.name)
		w.line("direction : output;")
		if t.kind == clockGate {
			w.line("clock_gate_out_pin : true;")
			w.line("state_function : \"%s\";", out.function)
		} else {
			w.line("function : \"%s\";", out.function)
		}
		w.line("max_capacitance : %.4f;", ld[len(ld)-1])
		if t.kind == tie {
			w.close()
			continue
		}
		arcs, err := t.arcs(out)
		if err != nil {
			return err
		}
		for _, a := range arcs {
			w.arc(t, a, c, n, s2080, ld)
		}
		for _, in := range t.toggles() {
			// Energy inside the cell when this input makes the output toggle.
			e := c.Energy * area / math.Sqrt(float64(len(t.toggles())))
			v := fmt.Sprintf(`values ("%.4f, %.4f", "%.4f, %.4f");`, e, e, e, e)
			w.line(`internal_power () { related_pin : "%s"; rise_power (energy) { %s } fall_power (energy) { %s } }`, in, v, v)
		}
		w.close()
	}
	w.close()
	return nil
}

// input prints an input pin with the checks that belong to it.
func (w *writer) input(t template, name string, c Corner, load float64) {
	w.open("pin (%s)", name)
	w.line("direction : input;")
	w.line("capacitance : %.4f;", load)
	w.line("fanout_load : 1;")
	check := func(related, kind string, fo4 float64) {
		v := fmt.Sprintf(`"%[1]s, %[1]s, %[1]s"`, fmt.Sprintf("%.3f", fo4*c.FO4))
		table := strings.Join([]string{v, v, v}, ", ")
		w.line(`timing () { related_pin : "%s"; timing_type : %s; rise_constraint (constraint) { values (%s); } fall_constraint (constraint) { values (%s); } }`,
			related, kind, table, table)
	}
	// Recovery and removal follow setup and hold: the libraries show no more than that.
	// Their Liberty form has only the edge that releases the flop, here the rising one.
	async := func(kind string, fo4 float64) {
		v := fmt.Sprintf(`"%[1]s, %[1]s, %[1]s"`, fmt.Sprintf("%.3f", fo4*c.FO4))
		w.line(`timing () { related_pin : "CK"; timing_type : %s; rise_constraint (constraint) { values (%s); } }`,
			kind, strings.Join([]string{v, v, v}, ", "))
	}
	switch {
	case name == "CK" || name == "G":
		w.line("clock : true;")
		if t.kind == clockGate {
			w.line("clock_gate_clock_pin : true;")
		}
	case name == "E" && t.kind == clockGate:
		w.line("clock_gate_enable_pin : true;")
		check("CK", "setup_rising", gateSetupFO4)
		check("CK", "hold_rising", holdFO4)
	case name == "D" && t.kind == latch:
		check("G", "setup_falling", setupFO4)
		check("G", "hold_falling", holdFO4)
	case name == "D" && t.kind != combinational:
		check("CK", "setup_rising", setupFO4)
		check("CK", "hold_rising", holdFO4)
	case name == "RN" || name == "SN":
		async("recovery_rising", setupFO4)
		async("removal_rising", holdFO4)
	}
	w.close()
}

// arc is a delay from an input to an output.
type arc struct {
	from, sense, kind string
}

// arcs lists the delays to an output; senses follow from the function.
func (t template) arcs(out output) ([]arc, error) {
	switch t.kind {
	case flop:
		return []arc{{"CK", "non_unate", "rising_edge"}}, nil
	case flopClear:
		return []arc{{"CK", "non_unate", "rising_edge"}, {"RN", "positive_unate", "clear"}}, nil
	case flopSet:
		return []arc{{"CK", "non_unate", "rising_edge"}, {"SN", "negative_unate", "preset"}}, nil
	case latch:
		return []arc{{"G", "non_unate", "rising_edge"}, {"D", "positive_unate", ""}}, nil
	case clockGate:
		return []arc{{"CK", "positive_unate", ""}}, nil
	}
	f, err := ParseFunction(out.function)
	if err != nil {
		return nil, err
	}
	var arcs []arc
	for _, in := range t.inputs {
		arcs = append(arcs, arc{in, f.Sense(in), ""})
	}
	return arcs, nil
}

// toggles lists the inputs whose change makes an output toggle: all of a gate,
// the clock of a flop.
func (t template) toggles() []string {
	if t.kind == combinational {
		return t.inputs
	}
	return t.inputs[:1]
}

func (w *writer) arc(t template, a arc, c Corner, n float64, s2080, ld []float64) {
	index := fmt.Sprintf(`index_1 ("%s"); index_2 ("%s");`, numbers("%.4f", s2080), numbers("%.4f", ld))
	table := func(k0, kl, ks, scale float64) string {
		rows := make([]string, 0, len(s2080))
		for _, s := range slews() {
			row := make([]float64, 0, len(ld))
			for _, l := range loads() {
				row = append(row, scale*c.FO4*n*(k0+kl*l+ks*s))
			}
			rows = append(rows, `"`+numbers("%.4f", row)+`"`)
		}
		return strings.Join(rows, ", ")
	}
	w.open("timing ()")
	w.line(`related_pin : "%s";`, a.from)
	w.line("timing_sense : %s;", a.sense)
	if a.kind != "" {
		w.line("timing_type : %s;", a.kind)
	}
	delay, slew := table(t.d0, t.r, t.k, 1), table(t.t0, t.tr, t.tk, swing)
	for _, e := range [][2]string{{"cell_rise", delay}, {"cell_fall", delay}, {"rise_transition", slew}, {"fall_transition", slew}} {
		// A clear can only make the output fall, a preset only rise.
		if a.kind == "clear" && (e[0] == "cell_rise" || e[0] == "rise_transition") ||
			a.kind == "preset" && (e[0] == "cell_fall" || e[0] == "fall_transition") {
			continue
		}
		w.line("%s (delay) { %s values (%s); }", e[0], index, e[1])
	}
	w.close()
}
