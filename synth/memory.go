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
	// denseBelowMHz is the clock up to which the dense memory cell is believed.
	denseBelowMHz = 700

	flopRAM  = design.RAM + "_flops"
	modelRAM = design.RAM + "_model"
	unlisted = design.RAM + "_not_listed_in_manifest"
)

// memory is one parameter set of the RAM leaf.
type memory struct {
	design.Size
	count int // instances by the manifest
	macro *liberty.SRAM
}

// planMemories decides for every parameter set whether it is a macro or flops.
func planMemories(d *design.Design, t *technology, o Options) ([]memory, error) {
	cell, err := bitCell(o)
	if err != nil {
		return nil, err
	}
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
			macro, err := liberty.CompileSRAM(s.Words, s.Bits, liberty.SRAMOptions{
				Ports: liberty.OneR1W, Cell: cell, Corner: t.sram, MaxCycle: 1e6 / o.ClockMHz})
			if err != nil {
				return nil, err
			}
			macro.Area *= t.sramUp
			macro.BankMuxArea *= t.sramUp
			macro.Macro.Area *= t.sramUp
			m.macro = &macro
		}
		memories = append(memories, m)
	}
	return memories, nil
}

func bitCell(o Options) (liberty.BitCell, error) {
	switch o.BitCell {
	case "":
		if o.ClockMHz > denseBelowMHz {
			return liberty.HighCurrentCell(), nil
		}
		return liberty.DenseCell(), nil
	case liberty.DenseCell().Name:
		return liberty.DenseCell(), nil
	case liberty.HighCurrentCell().Name:
		return liberty.HighCurrentCell(), nil
	}
	return liberty.BitCell{}, fmt.Errorf("synth: unknown memory cell %q (dense, high-current)", o.BitCell)
}

// ramVerilog returns what replaces the RAM leaf's file: the leaf under another
// name for flop memories and the leaf's own header round a choice of macros. A
// size that the manifest does not list ends in a module that does not exist, so
// that Yosys stops instead of making a megabyte of flops.
func ramVerilog(src *design.RAMSource, memories []memory) string {
	var b strings.Builder
	b.WriteString(src.Renamed(flopRAM))
	b.WriteString("\n`default_nettype wire\n")
	b.WriteString(src.Header)
	b.WriteString("\ngenerate\n")
	ports := func(slice string) string {
		return fmt.Sprintf(".clk(clk), .we(we), .waddr(waddr%[1]s), .wdata(wdata), .re(re), .raddr(raddr%[1]s), .rdata(rdata)", slice)
	}
	params := make([]string, len(src.Parameters))
	for i, p := range src.Parameters {
		params[i] = fmt.Sprintf(".%[1]s(%[1]s)", p)
	}
	listed := []string{"0"}
	for _, m := range memories {
		condition := fmt.Sprintf("WORDS == %d && BITS == %d", m.Words, m.Bits)
		listed = append(listed, condition)
		fmt.Fprintf(&b, "if (%s) begin : gen_%dx%d\n", condition, m.Words, m.Bits)
		if m.macro != nil {
			fmt.Fprintf(&b, "  %s u_macro (%s);\n", m.macro.Name(), ports(fmt.Sprintf("[%d:0]", liberty.AddressBits(m.Words)-1)))
		} else {
			fmt.Fprintf(&b, "  %s #(%s) u_flops (%s);\n", flopRAM, strings.Join(params, ", "), ports(""))
		}
		b.WriteString("end\n")
	}
	fmt.Fprintf(&b, "if (!(%s)) begin : gen_unlisted\n  %s u_unlisted ();\nend\nendgenerate\nendmodule\n", strings.Join(listed, " || "), unlisted)
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
	return fmt.Sprintf("module %s (input wire clk, input wire we, input wire [%d:0] waddr, input wire [%d:0] wdata,"+
		" input wire re, input wire [%d:0] raddr, output wire [%d:0] rdata);\n", m.macro.Name(), a, d, a, d)
}

// macroModels returns simulation models of the macros: the RAM leaf itself,
// under another name because the netlist holds modules called like the leaf.
func macroModels(src *design.RAMSource, memories []memory) string {
	var b strings.Builder
	used := false
	for _, m := range memories {
		if m.macro == nil {
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
		fmt.Fprintf(&b, "%s  %s #(%s) u_ram (.clk(clk), .we(we), .waddr(waddr), .wdata(wdata), .re(re), .raddr(raddr), .rdata(rdata));\nendmodule\n",
			macroHeader(m), modelRAM, params)
	}
	if used {
		b.WriteString(src.Renamed(modelRAM))
	}
	return b.String()
}
