// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"fmt"
	"strings"

	"incforge/fpga/netlist"
)

// Family names an FPGA family.
type Family string

const (
	// XCUP is AMD's UltraScale+ (the paper's VU13P).
	XCUP Family = "xcup"
	// ECP5 is Lattice's ECP5.
	ECP5 Family = "ecp5"
	// ICE40 is Lattice's iCE40.
	ICE40 Family = "ice40"
	// Nexus is Lattice's Nexus (CrossLink-NX, Certus-NX).
	Nexus Family = "nexus"
)

// Families lists the families that Run knows.
func Families() []Family { return []Family{XCUP, ECP5, ICE40, Nexus} }

// synthesis is Yosys's commands for a family.
type synthesis struct {
	before []string
	// ways are what logic is mapped by, one or the other, each from the same state; Options.Levels says of what comes out which is kept. A family
	// with none is mapped in before.
	ways []way
	// after follows behind either.
	after []string
}

// way is a command that maps logic.
type way struct{ name, command string }

// synthesis is how a family is mapped. The engine is a part of a device, so pads and clock buffers are left out for the device that is not placed here.
func (f Family) synthesis(top string) synthesis {
	synth := fmt.Sprintf("synth_%s -top %s", f, top)
	switch f {
	case XCUP:
		return xilinx(top)
	case ECP5:
		// Three rounds of mapping, each from what the one before made of the logic, in place of one: 6 % fewer LUTs of mini3.
		return synthesis{before: []string{"scratchpad -copy abc9.script.flow3 abc9.script", synth}}
	default:
		return synthesis{before: []string{synth}}
	}
}

// xilinx is synth_xilinx with its stage map_luts written out, for three changes to it. A flop's inverted enable comes out of the
// stage before as an inverter a flop: equal ones are merged. Logic is mapped a second time, from what the first mapping made
// of it, which takes some 2 % of the LUTs. And it is mapped in two ways. ABC takes the ends of a carry chain for those of a path, and spends LUTs
// where that makes no path longer than the longest it sees: a path through a chain may so have that many before it and behind. That is the smaller.
// The other has each path's levels as few as they can be (if -t), for some 2 % more LUTs.
func xilinx(top string) synthesis {
	// MUXF7-9 cost more LUTs than they save here.
	synth := "synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -flatten -top " + top
	const (
		prepare = "strash;&get,-n;&fraig,-x;&put;scorr;dc2;dretime" // Yosys's own
		luts    = ";strash;dch,-f;if;mfs2"
		short   = ";strash;dch,-f;if,-t,-F,3,-A,4;mfs2"
	)
	abc := "abc -luts 2:2,3,6:5 -script +" + prepare + luts
	return synthesis{
		before: []string{synth + " -run begin:map_luts", "opt_merge", "opt_expr -mux_undef -noclkinv"},
		ways:   []way{{"area", abc + luts}, {"levels", abc + short}},
		after: []string{"clean", "techmap -map +/xilinx/ff_map.v", "xilinx_srl -fixed -minlen 3",
			"techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6", "xilinx_dffopt", "opt_lut_ins -tech xilinx",
			synth + " -run finalize:edif"},
	}
}

// multiplierLevels is what a path through a multiplier without registers counts: a convention, as a carry chain's two.
const multiplierLevels = 4

// kinds are the primitives that a path runs through.
func (f Family) kinds() netlist.Kinds {
	all := netlist.Kinds{"INV": {}}
	lut, multiplier := netlist.Kind{Levels: 1}, netlist.Kind{Levels: multiplierLevels}
	// A memory in LUTs is read without a clock: from the address of the same port, or from a named one.
	read := func(ports ...string) netlist.Kind {
		return netlist.Kind{Levels: 1, From: func(string) []string { return ports }}
	}
	switch f {
	case XCUP:
		for _, n := range []string{"1", "2", "3", "4", "5", "6", "6_2"} {
			all["LUT"+n] = lut
		}
		for _, n := range []string{"7", "8", "9"} {
			all["MUXF"+n] = netlist.Kind{} // within the slice
		}
		all["CARRY4"] = netlist.Kind{CarryIn: "CI", CarryOut: "CO", Bits: 4}
		all["CARRY8"] = netlist.Kind{CarryIn: "CI", CarryOut: "CO", Bits: 8}
		for _, n := range []string{"RAM32M", "RAM64M", "RAM32M16", "RAM64M8", "RAM32X16DR8"} {
			all[n] = netlist.Kind{Levels: 1, From: func(output string) []string { return []string{strings.Replace(output, "DO", "ADDR", 1)} }}
		}
		for _, n := range []string{"32", "64", "128", "256"} {
			all["RAM"+n+"X1D"] = netlist.Kind{Levels: 1, From: func(output string) []string {
				if output == "DPO" {
					return []string{"DPRA"}
				}
				return []string{"A"}
			}}
			all["RAM"+n+"X1S"] = read("A")
		}
		all["RAM512X1S"], all["RAM64X8SW"], all["SRL16E"], all["SRLC32E"] = read("A"), read("A"), read("A"), read("A")
	case ECP5:
		all["LUT4"], all["PFUMX"], all["L6MUX21"] = lut, netlist.Kind{}, netlist.Kind{}
		all["CCU2C"] = netlist.Kind{CarryIn: "CIN", CarryOut: "COUT", Bits: 2}
		all["TRELLIS_DPR16X4"] = read("RAD")
		all["MULT18X18D"], all["ALU54B"] = multiplier, multiplier
	case ICE40:
		all["SB_LUT4"] = lut
		all["SB_CARRY"] = netlist.Kind{CarryIn: "CI", CarryOut: "CO", Bits: 1}
		all["SB_MAC16"] = multiplier
	case Nexus:
		all["LUT4"], all["WIDEFN9"], all["IB"], all["OB"] = lut, lut, netlist.Kind{}, netlist.Kind{} // pads are no levels
		all["CCU2"] = netlist.Kind{CarryIn: "CIN", CarryOut: "COUT", Bits: 2}
		all["DPR16X4"] = read("RAD")
		for _, n := range []string{"MULT9X9", "MULT18X18", "MULT18X36", "MULT36X36"} {
			all[n] = multiplier
		}
	}
	return all
}

// primitives says what each primitive occupies.
func (f Family) primitives() map[string]Resources {
	lut, ff, latch, carry, mux, dsp := Resources{LUT: 1}, Resources{FF: 1}, Resources{Latch: 1}, Resources{Carry: 1}, Resources{Mux: 1}, Resources{DSP: 1}
	mem := func(n float64) Resources { return Resources{LUT: n, LUTRAM: n} }
	block := func(n float64) Resources { return Resources{BRAM36: n} }
	none := Resources{}
	switch f {
	case XCUP:
		return map[string]Resources{
			// An inverter is absorbed by a LUT or a flop in placement; counting it errs upwards.
			"INV": lut, "LUT1": lut, "LUT2": lut, "LUT3": lut, "LUT4": lut, "LUT5": lut, "LUT6": lut, "LUT6_2": lut,
			"FDRE": ff, "FDSE": ff, "FDCE": ff, "FDPE": ff, "FDRE_1": ff, "FDSE_1": ff, "FDCE_1": ff, "FDPE_1": ff,
			"LDCE": latch, "LDPE": latch, "CARRY4": carry, "CARRY8": carry, "MUXF7": mux, "MUXF8": mux, "MUXF9": mux, "DSP48E2": dsp,
			// A SLICEM has eight LUTs of 64 bits; dual-port shapes spend one set on each port (UG574).
			"RAM32M": mem(4), "RAM64M": mem(4), "RAM32M16": mem(8), "RAM64M8": mem(8), "RAM32X16DR8": mem(8), "RAM64X8SW": mem(8),
			"RAM32X1D": mem(2), "RAM64X1D": mem(2), "RAM128X1D": mem(4), "RAM256X1D": mem(8),
			"RAM32X1S": mem(1), "RAM64X1S": mem(1), "RAM128X1S": mem(2), "RAM256X1S": mem(4), "RAM512X1S": mem(8),
			"SRL16E": mem(1), "SRLC32E": mem(1),
			"RAMB18E2": block(0.5), "RAMB36E2": block(1), "URAM288": {URAM: 1}, "BUFG": none, "VCC": none, "GND": none,
		}
	case ECP5:
		return map[string]Resources{
			"LUT4": lut, "INV": lut, "TRELLIS_FF": ff, "PFUMX": mux, "L6MUX21": mux,
			// Two LUTs work as a pair of adder bits.
			"CCU2C": {LUT: 2, Carry: 1},
			// Two slices of two LUTs hold the bits, a third one steers the writes.
			"TRELLIS_DPR16X4": mem(6),
			"DP16KD":          block(0.5), "PDPW16KD": block(0.5), "MULT18X18D": dsp, "ALU54B": dsp, "VLO": none, "VHI": none,
		}
	case Nexus:
		return map[string]Resources{
			"LUT4": lut, "INV": lut, "FD1P3BX": ff, "FD1P3DX": ff, "FD1P3IX": ff, "FD1P3JX": ff,
			// Two LUTs and the multiplexer between them; two LUTs as a pair of adder bits; memory as in ECP5.
			"WIDEFN9": {LUT: 2, Mux: 1}, "CCU2": {LUT: 2, Carry: 1}, "DPR16X4": mem(6),
			"DP16K": block(0.5), "PDP16K": block(0.5), "PDPSC16K": block(0.5),
			// Large memory of 512 Kbit, in units of URAM's 288.
			"LRAM": {URAM: 512.0 / 288}, "DPSC512K": {URAM: 512.0 / 288}, "PDPSC512K": {URAM: 512.0 / 288}, "SP512K": {URAM: 512.0 / 288},
			"IB": none, "OB": none, "OBZ": none, "BB": none,
			"MULT9X9": dsp, "MULT18X18": dsp, "MULT18X36": {DSP: 2}, "MULT36X36": {DSP: 4}, "VLO": none, "VHI": none,
		}
	case ICE40:
		all := map[string]Resources{
			"SB_LUT4": lut, "SB_CARRY": carry, "SB_RAM40_4K": block(4.0 / 36), "SB_SPRAM256KA": {URAM: 1}, "SB_MAC16": dsp, "SB_GB": none,
		}
		for _, edge := range []string{"", "N"} {
			for _, kind := range []string{"", "E", "R", "S", "ER", "ES", "SR", "SS", "ESR", "ESS"} {
				all["SB_DFF"+edge+kind] = ff
			}
		}
		return all
	}
	return nil
}
