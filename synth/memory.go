// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"fmt"
	"math"
	"strings"

	"incforge/synth/design"
	"incforge/synth/liberty"
)

const (
	// minMacroBits is the size below which a memory is made of flops: a macro's
	// periphery would be larger.
	minMacroBits = 1024
)

// Names made of a leaf's: the leaf itself as flops, a macro's model, and a module that does not exist.
const (
	asFlops  = "_flops"
	asModel  = "_model"
	unlisted = "_not_listed_in_manifest"
)

// memory is one parameter set of a RAM leaf.
type memory struct {
	design.Size
	count int // instances by the manifest
	macro *liberty.SRAM
}

// ports are those of the memory's leaf.
func (m memory) ports() liberty.SRAMPorts {
	if m.Module == design.OnePortRAM {
		return liberty.OneRW
	}
	return liberty.OneR1W
}

// connections names the ports of a leaf and of its macros, which are the same; slice cuts addresses.
func connections(module, slice string) string {
	if module == design.OnePortRAM {
		return fmt.Sprintf(".clk(clk), .en(en), .we(we), .addr(addr%s), .wdata(wdata), .rdata(rdata)", slice)
	}
	return fmt.Sprintf(".clk(clk), .we(we), .waddr(waddr%[1]s), .wdata(wdata), .re(re), .raddr(raddr%[1]s), .rdata(rdata)", slice)
}

// planMemories decides for every parameter set whether it is a macro or flops.
func planMemories(d *design.Design, t *technology, o Options) ([]memory, error) {
	cell, err := bitCell(o)
	if err != nil {
		return nil, err
	}
	return chooseMacros(d, liberty.SRAMOptions{Cell: cell, Corner: t.sram, MaxCycle: 1e6 / o.ClockMHz}, func(s *liberty.SRAM) {
		s.Area *= t.sramUp
		s.BankMuxArea *= t.sramUp
		s.Macro.Area *= t.sramUp
	})
}

// chooseMacros is planMemories for any memory cell; scale takes a macro from 28 nm to another node.
func chooseMacros(d *design.Design, o liberty.SRAMOptions, scale func(*liberty.SRAM)) ([]memory, error) {
	sizes, count := d.Sizes()
	memories := make([]memory, 0, len(sizes))
	least := minMacroBits
	switch d.Params.Memory { // the parameter of that name; a manifest without it means auto
	case "ram":
		least = 1
	case "registers":
		least = math.MaxInt
	}
	for _, s := range sizes {
		m := memory{Size: s, count: count[s]}
		if s.Words*s.Bits >= least {
			o.Ports = m.ports()
			macro, err := liberty.CompileSRAM(s.Words, s.Bits, o)
			if err != nil {
				return nil, err
			}
			scale(&macro)
			m.macro = &macro
		}
		memories = append(memories, m)
	}
	return memories, nil
}

func bitCell(o Options) (liberty.BitCell, error) {
	switch o.BitCell {
	case "":
		return liberty.CellFor(o.ClockMHz), nil
	case liberty.DenseCell().Name:
		return liberty.DenseCell(), nil
	case liberty.HighCurrentCell().Name:
		return liberty.HighCurrentCell(), nil
	}
	return liberty.BitCell{}, fmt.Errorf("synth: unknown memory cell %q (dense, high-current)", o.BitCell)
}

// ramVerilog returns what replaces the RAM leaves' files: each leaf under another
// name for flop memories and the leaf's own header round a choice of macros. A
// size that the manifest does not list ends in a module that does not exist, so
// that Yosys stops instead of making a megabyte of flops.
func ramVerilog(leaves []*design.RAMSource, memories []memory) string {
	var b strings.Builder
	for _, src := range leaves {
		b.WriteString(src.Renamed(src.Module + asFlops))
		b.WriteString("\n`default_nettype wire\n")
		b.WriteString(src.Header)
		b.WriteString("\ngenerate\n")
		params := make([]string, len(src.Parameters))
		for i, p := range src.Parameters {
			params[i] = fmt.Sprintf(".%[1]s(%[1]s)", p)
		}
		listed := []string{"0"}
		for _, m := range memories {
			if m.Module != src.Module {
				continue
			}
			condition := fmt.Sprintf("WORDS == %d && BITS == %d", m.Words, m.Bits)
			listed = append(listed, condition)
			fmt.Fprintf(&b, "if (%s) begin : gen_%dx%d\n", condition, m.Words, m.Bits)
			if m.macro != nil {
				fmt.Fprintf(&b, "  %s u_macro (%s);\n", m.macro.Name(), connections(m.Module, fmt.Sprintf("[%d:0]", liberty.AddressBits(m.Words)-1)))
			} else {
				fmt.Fprintf(&b, "  %s #(%s) u_flops (%s);\n", src.Module+asFlops, strings.Join(params, ", "), connections(m.Module, ""))
			}
			b.WriteString("end\n")
		}
		fmt.Fprintf(&b, "if (!(%s)) begin : gen_unlisted\n  %s u_unlisted ();\nend\nendgenerate\nendmodule\n", strings.Join(listed, " || "), src.Module+unlisted)
	}
	return b.String()
}

// macroOutlines returns the macros as black boxes. They have no parameters
// because OpenSTA 2.0.17 reads no parametrised cells.
func macroOutlines(memories []memory) string {
	var b strings.Builder
	for _, m := range memories {
		if m.macro != nil {
			fmt.Fprintf(&b, "(* blackbox *) %sendmodule\n", macroHeader(m))
		}
	}
	return b.String()
}

func macroHeader(m memory) string {
	a, d := liberty.AddressBits(m.Words)-1, m.Bits-1
	if m.ports() == liberty.OneRW {
		return fmt.Sprintf("module %s (input wire clk, input wire en, input wire we, input wire [%d:0] addr, input wire [%d:0] wdata,"+
			" output wire [%d:0] rdata);\n", m.macro.Name(), a, d, d)
	}
	return fmt.Sprintf("module %s (input wire clk, input wire we, input wire [%d:0] waddr, input wire [%d:0] wdata,"+
		" input wire re, input wire [%d:0] raddr, output wire [%d:0] rdata);\n", m.macro.Name(), a, d, a, d)
}

// macroModels returns simulation models of the macros: the RAM leaves themselves,
// under other names because the netlist holds modules called like the leaves.
func macroModels(leaves []*design.RAMSource, memories []memory) string {
	var b strings.Builder
	for _, src := range leaves {
		used := false
		for _, m := range memories {
			if m.macro == nil || m.Module != src.Module {
				continue
			}
			used = true
			params := fmt.Sprintf(".WORDS(%d), .BITS(%d)", m.Words, m.Bits)
			for _, p := range src.Parameters {
				// The leaf's third parameter is the address width; it is the macro's own here.
				if p == "ADDR_W" {
					params += fmt.Sprintf(", .ADDR_W(%d)", liberty.AddressBits(m.Words))
				}
			}
			fmt.Fprintf(&b, "%s  %s #(%s) u_ram (%s);\nendmodule\n", macroHeader(m), src.Module+asModel, params, connections(m.Module, ""))
		}
		if used {
			b.WriteString(src.Renamed(src.Module + asModel))
		}
	}
	return b.String()
}
