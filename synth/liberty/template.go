// SPDX-License-Identifier: Apache-2.0

package liberty

// kind says what a template's cell does beyond its outputs' functions.
type kind int

const (
	combinational kind = iota
	flop
	flopClear
	flopSet
	latch
	clockGate
	tie
)

// output is one output pin and its Liberty function.
type output struct {
	name     string
	function string
}

// template is one cell family, dimensionless: areas in NAND2 of the same
// library, pin loads in C0 (the input of INV X1), delays and full-swing slews
// in FO4, loads in C0 per unit of drive strength X.
type template struct {
	name    string
	kind    kind
	inputs  []string
	outputs []output
	drives  []int

	area float64 // of X1
	pin  float64 // input load of X1
	d0   float64 // delay without load and with a step at the input
	r    float64 // delay per load
	k    float64 // delay per input slew
	t0   float64 // output slew without load
	tr   float64 // output slew per load
	tk   float64 // output slew per input slew

	// addCPP is how many contacted gate pitches one more unit of drive strength costs.
	addCPP float64
	// twoStage cells have an output inverter: only that one grows fully with X.
	twoStage bool
}

// templates returns the cell families. The figures are means over the Nangate
// 45 nm, ASAP7 and SkyWater 130 nm libraries after division by each library's
// own NAND2 area, INV X1 pin load and FO4; the three agree within a few per
// cent for simple gates (logical effort of NAND2: 1.17, 1.37, 1.25).
func templates() []template {
	one := func(f string) []output { return []output{{"Y", f}} }
	x1, x2, x4, x16 := []int{1}, []int{1, 2}, []int{1, 2, 4}, []int{1, 2, 4, 8, 16}
	ab, abc, abcd := []string{"A", "B"}, []string{"A", "B", "C"}, []string{"A", "B", "C", "D"}
	return []template{
		{name: "INV", inputs: []string{"A"}, outputs: one("!A"), drives: x16, area: 0.81, pin: 1, d0: 0.13, r: 0.132, k: 0.206, t0: 0.17, tr: 0.301, tk: 0.127, addCPP: 1},
		{name: "BUF", inputs: []string{"A"}, outputs: one("A"), drives: x16, area: 1.08, pin: 0.75, d0: 0.71, r: 0.150, k: 0.218, t0: 0.33, tr: 0.339, tk: 0.010, addCPP: 1.2, twoStage: true},
		{name: "NAND2", inputs: ab, outputs: one("!(A & B)"), drives: x4, area: 1, pin: 1, d0: 0.24, r: 0.165, k: 0.201, t0: 0.33, tr: 0.380, tk: 0.100, addCPP: 2},
		{name: "NAND3", inputs: abc, outputs: one("!(A & B & C)"), drives: x2, area: 1.31, pin: 1, d0: 0.39, r: 0.195, k: 0.200, t0: 0.57, tr: 0.455, tk: 0.073, addCPP: 3},
		{name: "NAND4", inputs: abcd, outputs: one("!(A & B & C & D)"), drives: x2, area: 1.61, pin: 1, d0: 0.53, r: 0.223, k: 0.197, t0: 0.83, tr: 0.523, tk: 0.055, addCPP: 4},
		{name: "NOR2", inputs: ab, outputs: one("!(A | B)"), drives: x4, area: 1, pin: 1, d0: 0.31, r: 0.222, k: 0.199, t0: 0.43, tr: 0.514, tk: 0.087, addCPP: 2},
		{name: "NOR3", inputs: abc, outputs: one("!(A | B | C)"), drives: x2, area: 1.31, pin: 1, d0: 0.54, r: 0.306, k: 0.189, t0: 0.80, tr: 0.693, tk: 0.084, addCPP: 3},
		{name: "NOR4", inputs: abcd, outputs: one("!(A | B | C | D)"), drives: x1, area: 1.64, pin: 1, d0: 0.87, r: 0.416, k: 0.189, t0: 1.20, tr: 0.943, tk: 0.084, addCPP: 4},
		{name: "AND2", inputs: ab, outputs: one("A & B"), drives: x4, area: 1.50, pin: 0.60, d0: 1.02, r: 0.144, k: 0.211, t0: 0.44, tr: 0.311, tk: 0.007, addCPP: 1.2, twoStage: true},
		{name: "AND3", inputs: abc, outputs: one("A & B & C"), drives: x2, area: 1.80, pin: 0.60, d0: 1.24, r: 0.144, k: 0.211, t0: 0.70, tr: 0.311, tk: 0.007, addCPP: 1.2, twoStage: true},
		{name: "AND4", inputs: abcd, outputs: one("A & B & C & D"), drives: x2, area: 2.10, pin: 0.60, d0: 1.47, r: 0.144, k: 0.211, t0: 0.98, tr: 0.311, tk: 0.007, addCPP: 1.2, twoStage: true},
		{name: "OR2", inputs: ab, outputs: one("A | B"), drives: x4, area: 1.50, pin: 0.60, d0: 1.22, r: 0.150, k: 0.203, t0: 0.51, tr: 0.312, tk: 0.007, addCPP: 1.2, twoStage: true},
		{name: "OR3", inputs: abc, outputs: one("A | B | C"), drives: x2, area: 1.80, pin: 0.60, d0: 1.64, r: 0.150, k: 0.203, t0: 1.01, tr: 0.312, tk: 0.007, addCPP: 1.2, twoStage: true},
		{name: "AOI21", inputs: abc, outputs: one("!((A & B) | C)"), drives: x4, area: 1.31, pin: 1, d0: 0.45, r: 0.231, k: 0.199, t0: 0.64, tr: 0.529, tk: 0.081, addCPP: 3},
		{name: "OAI21", inputs: abc, outputs: one("!((A | B) & C)"), drives: x4, area: 1.31, pin: 1, d0: 0.40, r: 0.204, k: 0.197, t0: 0.59, tr: 0.470, tk: 0.078, addCPP: 3},
		{name: "AOI22", inputs: abcd, outputs: one("!((A & B) | (C & D))"), drives: x2, area: 1.72, pin: 1, d0: 0.60, r: 0.244, k: 0.192, t0: 0.92, tr: 0.565, tk: 0.061, addCPP: 4},
		{name: "OAI22", inputs: abcd, outputs: one("!((A | B) & (C | D))"), drives: x2, area: 1.61, pin: 1, d0: 0.56, r: 0.248, k: 0.192, t0: 0.88, tr: 0.572, tk: 0.062, addCPP: 4},
		{name: "AOI211", inputs: abcd, outputs: one("!((A & B) | C | D)"), drives: x2, area: 1.83, pin: 1, d0: 0.96, r: 0.367, k: 0.179, t0: 1.41, tr: 0.803, tk: 0.044, addCPP: 4},
		{name: "OAI211", inputs: abcd, outputs: one("!((A | B) & C & D)"), drives: x2, area: 1.83, pin: 1, d0: 0.71, r: 0.241, k: 0.184, t0: 1.08, tr: 0.540, tk: 0.017, addCPP: 4},
		{name: "XOR2", inputs: ab, outputs: one("A ^ B"), drives: x2, area: 2.19, pin: 1.60, d0: 0.89, r: 0.243, k: 0.185, t0: 0.81, tr: 0.558, tk: 0.032, addCPP: 3},
		{name: "XNOR2", inputs: ab, outputs: one("!(A ^ B)"), drives: x2, area: 2.19, pin: 1.65, d0: 0.77, r: 0.220, k: 0.192, t0: 0.66, tr: 0.511, tk: 0.032, addCPP: 3},
		{name: "MUX2", inputs: []string{"A", "B", "S"}, outputs: one("(A & !S) | (B & S)"), drives: x2, area: 2.67, pin: 0.90, d0: 2.06, r: 0.168, k: 0.180, t0: 0.72, tr: 0.310, tk: 0, addCPP: 2, twoStage: true},
		{name: "HA", inputs: ab, outputs: []output{{"CO", "A & B"}, {"S", "A ^ B"}}, drives: x1, area: 3.33, pin: 1.70, d0: 1.62, r: 0.190, k: 0.189, t0: 0.80, tr: 0.383, tk: 0.005, addCPP: 2},
		{name: "FA", inputs: []string{"A", "B", "CI"}, outputs: []output{{"CO", "(A & B) | (A & CI) | (B & CI)"}, {"S", "A ^ B ^ CI"}}, drives: x1, area: 5.33, pin: 2, d0: 3.39, r: 0.184, k: 0.164, t0: 0.91, tr: 0.324, tk: 0, addCPP: 2},
		{name: "DFF", kind: flop, inputs: []string{"CK", "D"}, outputs: []output{{"Q", "IQ"}}, drives: x2, area: 5.33, pin: 0.80, d0: 2.91, r: 0.148, k: 0.210, t0: 0.66, tr: 0.306, tk: 0, addCPP: 1.2, twoStage: true},
		{name: "DFFR", kind: flopClear, inputs: []string{"CK", "D", "RN"}, outputs: []output{{"Q", "IQ"}}, drives: x2, area: 6.67, pin: 0.90, d0: 3.61, r: 0.159, k: 0.193, t0: 0.67, tr: 0.305, tk: 0, addCPP: 1.2, twoStage: true},
		// The preset flop is given the clear flop's figures: the libraries make them alike.
		{name: "DFFS", kind: flopSet, inputs: []string{"CK", "D", "SN"}, outputs: []output{{"Q", "IQ"}}, drives: x1, area: 6.67, pin: 0.90, d0: 3.61, r: 0.159, k: 0.193, t0: 0.67, tr: 0.305, tk: 0, addCPP: 1.2, twoStage: true},
		{name: "DLH", kind: latch, inputs: []string{"G", "D"}, outputs: []output{{"Q", "IQ"}}, drives: x1, area: 3.69, pin: 0.70, d0: 2.17, r: 0.146, k: 0.192, t0: 0.52, tr: 0.308, tk: 0.002, addCPP: 1.2, twoStage: true},
		// Area from Nangate's CLKGATE family, 4.33 NAND2 at X1 and 6.67 at X8; delay of an AND2 behind the latch.
		{name: "CLKGATE", kind: clockGate, inputs: []string{"CK", "E"}, outputs: []output{{"GCK", "CK & IQ"}}, drives: []int{1, 2, 4, 8}, area: 4.33, pin: 0.90, d0: 1.02, r: 0.144, k: 0.211, t0: 0.44, tr: 0.311, tk: 0.007, addCPP: 1, twoStage: true},
		// Tie cells: two transistors and the spacing to the neighbour, half a NAND2.
		{name: "TIEHI", kind: tie, outputs: one("1"), drives: x1, area: 0.5},
		{name: "TIELO", kind: tie, outputs: one("0"), drives: x1, area: 0.5},
	}
}
