// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"fmt"
	"math"
	"math/bits"
)

// BitCell is the 6T memory cell a macro is made of.
type BitCell struct {
	Name string
	Area float64 // um2
}

// DenseCell is the smallest 6T cell published for 28 nm at TSMC, 0.127 um2
// (0.120 at Samsung, GlobalFoundries and ST, 0.124 at UMC). It is slow.
func DenseCell() BitCell { return BitCell{"dense", 0.127} }

// HighCurrentCell is the larger published cell, 0.152-0.155 um2; above about
// 700 MHz at the slow corner it is the one to assume.
func HighCurrentCell() BitCell { return BitCell{"high-current", 0.155} }

// SRAMPorts says how a macro is accessed.
type SRAMPorts int

const (
	// OneRW has one port that reads or writes.
	OneRW SRAMPorts = iota
	// OneR1W has a read port and a write port, made of 8T cells.
	OneR1W
)

func (p SRAMPorts) String() string {
	if p == OneR1W {
		return "1r1w"
	}
	return "1rw"
}

// The shape of a macro, in cells, fitted to the 28 outlines of IHP's 130 nm
// compiler (18.3 + columns by 40.6 + rows for one port, 28.7 and 41.9 for two,
// all within 10 %), with the periphery 1.5 times larger because logic shrinks
// less than memory cells do.
const (
	edgeColumns1, edgeRows1 = 28, 62
	edgeColumns2, edgeRows2 = 43, 63
	// twoPortCell is the area of an 8T cell over a 6T one: 1.78 in that compiler;
	// the published 28 nm 8T cell is larger (0.424 um2, for low voltage).
	twoPortCell = 1.78
	// straps are well taps and dummy cells inside the array.
	straps = 1.04
	// overhead is redundancy, built-in self test and the keep-out ring.
	overhead = 1.08

	minMux, maxMux = 2, 16
	minRows        = 8
	maxRows        = 512
	// maxColumns keeps word lines at the length of the largest macro of the published fit.
	maxColumns = 1152
)

// Access and cycle time in FO4 of the corner, log-linear in the macro's bits:
// 0.458 ns and 0.640 ns at 32 Kbit, 62.5 ps and 75 ps more each time the bits
// double, at a FO4 of 16 ps; a read through the 8T cell's single-ended bit line
// costs a tenth more. The order is that of published 28 nm two-port macros
// (0.36 ns access); +/-40 %.
const (
	accessBase, accessSlope = 28.625, 3.906
	cycleBase, cycleSlope   = 40.0, 4.6875
	twoPortAccess           = 1.10
	// The law is a fit above 1 Kbit; decoder, word line and sense amplifier never take less.
	accessFloor, cycleFloor = 12.0, 18.0
	// Bank multiplexer: one MUX2 stage with its load.
	muxDelay = 2.8
	// Setup and hold of every input, own estimate (decoder flops and their clock skew).
	sramSetup, sramHold = 6.0, 1.0
)

// Leakage and energy: own estimates, worth a factor of four and two. Memory
// cells use high-threshold transistors: 2 % of a NAND2's leakage a bit.
const (
	leakageBit     = 0.02
	bitLineCap     = 0.15 // fF a row on each bit line
	wordLineCap    = 0.20 // fF a column
	bitLineSwing   = 0.15 // of the supply
	senseEnergyBit = 5.0  // fJ a bit read or written: sense amplifier, latch, driver
)

// Macro is one physical SRAM block.
type Macro struct {
	Ports         SRAMPorts
	Words, Bits   int
	Mux           int
	Rows, Columns int
	Area          float64 // um2
	Access, Cycle float64 // ps
	Leakage       float64 // nW
	Energy        float64 // fJ an access
}

// SRAM is a memory of any size built of equal macros: Banks deep, Slices wide.
type SRAM struct {
	Words, Bits   int
	Cell          BitCell
	Corner        string
	Ports         SRAMPorts
	Macro         Macro
	Banks, Slices int
	Area          float64 // um2, macros only
	BankMuxArea   float64 // um2 of standard cells that choose the bank
	Access, Cycle float64 // ps, access with the bank multiplexer
	Setup, Hold   float64 // ps
	Leakage       float64 // nW
	Energy        float64 // fJ an access, one bank at work
}

// Name is the Liberty cell's name.
func (s SRAM) Name() string { return SRAMName(s.Ports, s.Words, s.Bits) }

// SRAMName is the name of the Liberty cell that stands for a memory.
func SRAMName(p SRAMPorts, words, bits int) string {
	return fmt.Sprintf("inc_sram_%s_%dx%d", p, words, bits)
}

// SRAMOptions say what to compile a memory for.
type SRAMOptions struct {
	Ports  SRAMPorts
	Cell   BitCell
	Corner Corner
	// MaxCycle in ps bounds the macro's cycle time; 0 is no bound. When no
	// macro is fast enough the fastest is taken.
	MaxCycle float64
}

// macro applies the geometry law; ok is false when the shape cannot be built.
func macro(words, width, mux int, o SRAMOptions) (Macro, bool) {
	rows := max((words+mux-1)/mux, minRows)
	columns := width * mux
	if rows > maxRows || columns > maxColumns {
		return Macro{}, false
	}
	m := Macro{Ports: o.Ports, Words: words, Bits: width, Mux: mux, Rows: rows, Columns: columns}
	edgeC, edgeR, cell, factor := float64(edgeColumns1), float64(edgeRows1), o.Cell.Area, 1.0
	if o.Ports == OneR1W {
		edgeC, edgeR, cell, factor = edgeColumns2, edgeRows2, o.Cell.Area*twoPortCell, twoPortAccess
	}
	m.Area = (edgeC + float64(columns)) * (edgeR + float64(rows)) * cell * straps * overhead
	doublings := math.Log2(float64(rows*columns)) - 15
	m.Access = o.Corner.FO4 * factor * max(accessBase+accessSlope*doublings, accessFloor)
	m.Cycle = o.Corner.FO4 * max(cycleBase+cycleSlope*doublings, cycleFloor)
	m.Leakage = leakageBit * o.Corner.Leakage * float64(rows*columns)
	v2 := o.Corner.Voltage * o.Corner.Voltage
	m.Energy = float64(columns)*(float64(rows)*bitLineCap*bitLineSwing+wordLineCap)*v2 + senseEnergyBit*float64(width)
	return m, true
}

// CompileSRAM chooses the arrangement of smallest area, macros and bank
// multiplexer together, whose cycle time is within the bound. Words and bits
// are at least 1.
func CompileSRAM(words, width int, o SRAMOptions) (SRAM, error) {
	if words < 1 || width < 1 {
		return SRAM{}, fmt.Errorf("liberty: SRAM of %d words of %d bits", words, width)
	}
	if o.Cell.Area <= 0 || o.Corner.FO4 <= 0 {
		return SRAM{}, fmt.Errorf("liberty: SRAM without a cell or a corner")
	}
	var best, fastest SRAM
	for banks := 1; ; banks *= 2 {
		depth := (words + banks - 1) / banks
		for slices := 1; slices <= width; slices *= 2 {
			for mux := minMux; mux <= maxMux; mux *= 2 {
				m, ok := macro(depth, (width+slices-1)/slices, mux, o)
				if !ok {
					continue
				}
				s := assemble(words, width, banks, slices, m, o)
				if fastest.Words == 0 || s.Cycle < fastest.Cycle {
					fastest = s
				}
				if (o.MaxCycle == 0 || s.Cycle <= o.MaxCycle) && (best.Words == 0 || s.Area+s.BankMuxArea < best.Area+best.BankMuxArea) {
					best = s
				}
			}
		}
		// More banks than this only add periphery.
		if depth <= 64 {
			break
		}
	}
	if best.Words == 0 {
		best = fastest
	}
	return best, nil
}

func assemble(words, width, banks, slices int, m Macro, o SRAMOptions) SRAM {
	n := float64(banks * slices)
	levels := float64(bits.Len(uint(banks - 1)))
	mux := NAND2Area * 2.67 // MUX2 of the cell template
	return SRAM{
		Words: words, Bits: width, Cell: o.Cell, Corner: o.Corner.Name, Ports: o.Ports, Macro: m, Banks: banks, Slices: slices,
		Area: n * m.Area, BankMuxArea: float64((banks-1)*width) * mux,
		Access: m.Access + levels*muxDelay*o.Corner.FO4, Cycle: m.Cycle,
		Setup: sramSetup * o.Corner.FO4, Hold: sramHold * o.Corner.FO4,
		Leakage: n * m.Leakage, Energy: float64(slices) * m.Energy,
	}
}

// A bit of a queue in flip-flops, in NAND2 equivalents: a flop behind a gate for 32 of them, and its part of the multiplexer that reads it and
// of the buffers before it, as measured on inc_fifo of 8 x 578 bits mapped for 1 GHz: 3.0 um2 a bit.
const (
	flopBit  = 5.33 + 4.33/32 + flopRead
	flopRead = 2.47
)

// FlopsArea returns the area in um2 of a queue in flip-flops.
func FlopsArea(words, bits int) float64 { return NAND2Area * flopBit * float64(words*bits) }

// denseBelowMHz is the clock up to which the dense memory cell is believed.
const denseBelowMHz = 700

// CellFor returns the memory cell to assume at a clock.
func CellFor(clockMHz float64) BitCell {
	if clockMHz > denseBelowMHz {
		return HighCurrentCell()
	}
	return DenseCell()
}

// AddressBits returns the width of an address into so many words, at least 1.
func AddressBits(words int) int { return max(1, bits.Len(uint(words-1))) }

// GenerateSRAM returns the library of memories that belongs to Generate's cells.
func GenerateSRAM(c Corner, memories []SRAM) []byte {
	return GenerateSRAMLibrary("incforge_sram28_"+c.Name, "Predictive 28 nm-class SRAM macros, generated by IncForge from public figures; no foundry data.", c, memories)
}

// GenerateSRAMLibrary returns a library of memories, one cell each, under a name and with a comment that says what it rests on. The
// area of a cell includes the bank multiplexer. Two-port cells have the ports clk, we, waddr, wdata, re, raddr, rdata; one-port cells
// clk, en, we, addr, wdata, rdata.
func GenerateSRAMLibrary(name, basis string, c Corner, memories []SRAM) []byte {
	w := new(writer)
	w.line("/* %s */", basis)
	w.header(name, c)
	w.line(`lu_table_template (delay) { variable_1 : input_net_transition; variable_2 : total_output_net_capacitance; index_1 ("1, 200"); index_2 ("0, %g"); }`, c.sramLoad())
	w.line(`lu_table_template (constraint) { variable_1 : related_pin_transition; variable_2 : constrained_pin_transition; index_1 ("1, 200"); index_2 ("1, 200"); }`)
	for _, s := range memories {
		w.memory(s, c)
	}
	w.close()
	return w.Bytes()
}

// sramLoad is the largest load of a memory's output in fF, that of 67 inverters.
func (c Corner) sramLoad() float64 { return 60 / C0 * c.inverter() }

func (w *writer) memory(s SRAM, c Corner) {
	name, address := s.Name(), AddressBits(s.Words)
	for _, b := range []struct {
		suffix string
		width  int
	}{{"a", address}, {"d", s.Bits}} {
		w.line("type (%s_%s) { base_type : array; data_type : bit; bit_width : %d; bit_from : %d; bit_to : 0; downto : true; }",
			name, b.suffix, b.width, b.width-1)
	}
	w.open("cell (%s)", name)
	w.line("area : %.3f;", s.Area+s.BankMuxArea)
	w.line("dont_use : true;")
	w.line("dont_touch : true;")
	w.line("interface_timing : true;")
	w.line("is_macro_cell : true;")
	w.line("cell_leakage_power : %.3f;", s.Leakage)
	w.open("pin (clk)")
	w.line("direction : input;")
	w.line("clock : true;")
	w.line("capacitance : %.3f;", 6*c.inverter()*float64(s.Banks*s.Slices))
	w.line("min_period : %.3f;", s.Cycle)
	w.line(`internal_power () { rise_power (scalar) { values ("%.3f"); } fall_power (scalar) { values ("0"); } }`, s.Energy)
	w.close()
	input := func(pin, suffix string) {
		if suffix == "" {
			w.open("pin (%s)", pin)
		} else {
			w.open("bus (%s)", pin)
			w.line("bus_type : %s_%s;", name, suffix)
		}
		w.line("direction : input;")
		w.line("capacitance : %.3f;", 2*c.inverter())
		for _, check := range []struct {
			kind string
			time float64
		}{{"setup_rising", s.Setup}, {"hold_rising", s.Hold}} {
			v := fmt.Sprintf(`values ("%[1]s, %[1]s", "%[1]s, %[1]s");`, fmt.Sprintf("%.3f", check.time))
			w.line(`timing () { related_pin : "clk"; timing_type : %s; rise_constraint (constraint) { %s } fall_constraint (constraint) { %s } }`, check.kind, v, v)
		}
		w.close()
	}
	if s.Ports == OneRW {
		input("en", "")
		input("we", "")
		input("addr", "a")
	} else {
		input("we", "")
		input("waddr", "a")
		input("re", "")
		input("raddr", "a")
	}
	input("wdata", "d")
	w.open("bus (rdata)")
	w.line("bus_type : %s_d;", name)
	w.line("direction : output;")
	w.line("max_capacitance : %.1f;", c.sramLoad())
	// The output driver is a BUF_X4: r and tr of the template over that load.
	drive := 60 / (4 * C0) * c.FO4
	v := fmt.Sprintf(`values ("%[1]s, %[2]s", "%[1]s, %[2]s");`, fmt.Sprintf("%.3f", s.Access), fmt.Sprintf("%.3f", s.Access+0.150*drive))
	t := fmt.Sprintf(`values ("%[1]s, %[2]s", "%[1]s, %[2]s");`, fmt.Sprintf("%.3f", swing*0.33*c.FO4), fmt.Sprintf("%.3f", swing*(0.33*c.FO4+0.339*drive)))
	w.line(`timing () { related_pin : "clk"; timing_type : rising_edge; timing_sense : non_unate; cell_rise (delay) { %s } cell_fall (delay) { %s } rise_transition (delay) { %s } fall_transition (delay) { %s } }`, v, v, t, t)
	w.close()
	w.close()
}
