// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"fmt"
	"strings"

	"incforge/synth/design"
	"incforge/synth/liberty"
)

// MacroPlan is what becomes of the memories of a design in a flow that is not ours: the same ones are macros, under the same names and
// with the same ports, as in Run.
type MacroPlan struct {
	memories []memory
	leaves   []*design.RAMSource
}

// Macro is a size of memory that is a macro.
type Macro struct {
	liberty.SRAM
	design.Size
	Count int // by the manifest
}

// MacroOptions say what macros are made of. Gate is the area of a NAND2 in um2, in which bank multiplexers are counted.
type MacroOptions struct {
	Cell     liberty.BitCell
	Corner   liberty.Corner
	Gate     float64
	ClockMHz float64
}

// PlanMacros decides which memories of a design are macros.
func PlanMacros(d *design.Design, o MacroOptions) (*MacroPlan, error) {
	if o.ClockMHz <= 0 {
		return nil, fmt.Errorf("synth: clock of %g MHz", o.ClockMHz)
	}
	leaves, err := d.RAMs()
	if err != nil {
		return nil, err
	}
	memories, err := chooseMacros(d, liberty.SRAMOptions{Cell: o.Cell, Corner: o.Corner, MaxCycle: 1e6 / o.ClockMHz},
		func(s *liberty.SRAM) { s.BankMuxArea *= o.Gate / liberty.NAND2Area })
	if err != nil {
		return nil, err
	}
	return &MacroPlan{memories, leaves}, nil
}

// Macros are the sizes that are macros, in ascending order.
func (p *MacroPlan) Macros() []Macro {
	var all []Macro
	for _, m := range p.memories {
		if m.macro != nil {
			all = append(all, Macro{*m.macro, m.Size, m.count})
		}
	}
	return all
}

// LargestFlops is the largest memory in bits that is made of flops, 0 if none is.
func (p *MacroPlan) LargestFlops() int {
	largest := 0
	for _, m := range p.memories {
		if m.macro == nil {
			largest = max(largest, m.Words*m.Bits)
		}
	}
	return largest
}

// MacroInstance is the path of the macro inside an instance of a RAM leaf of that size.
func MacroInstance(s design.Size) string {
	return fmt.Sprintf("%s.u_macro", sizeBlock(s))
}

// sizeBlock names the generate block of a size.
func sizeBlock(s design.Size) string { return fmt.Sprintf("gen_%dx%d", s.Words, s.Bits) }

// Leaf returns the Verilog that replaces the file of a RAM leaf: the leaf's own header round a choice of macros, and the leaf itself
// under another name for all other sizes.
func (p *MacroPlan) Leaf(module string) (string, error) {
	for _, src := range p.leaves {
		if src.Module != module {
			continue
		}
		var b strings.Builder
		b.WriteString(src.Renamed(module + asFlops))
		b.WriteString("\n`default_nettype wire\n\n// The memories of this design that are macros, and all others.\n")
		b.WriteString(src.Header)
		b.WriteString("\n\n    generate\n")
		params := make([]string, len(src.Parameters))
		for i, name := range src.Parameters {
			params[i] = fmt.Sprintf(".%[1]s(%[1]s)", name)
		}
		listed := []string{"0"}
		for _, m := range p.memories {
			if m.Module == module && m.macro != nil { // no chain of else: each would be one more level in the instances' paths
				condition := fmt.Sprintf("WORDS == %d && BITS == %d", m.Words, m.Bits)
				listed = append(listed, condition)
				fmt.Fprintf(&b, "        if (%s) begin : %s\n            %s u_macro (%s);\n        end\n", condition, sizeBlock(m.Size), m.macro.Name(),
					connections(module, fmt.Sprintf("[%d:0]", liberty.AddressBits(m.Words)-1)))
			}
		}
		fmt.Fprintf(&b, "        if (!(%s)) begin : gen_flops\n            %s #(%s) u_flops (%s);\n        end\n    endgenerate\n\nendmodule\n",
			strings.Join(listed, " || "), module+asFlops, strings.Join(params, ", "), connections(module, ""))
		return b.String(), nil
	}
	return "", fmt.Errorf("synth: no file defines %s", module)
}

// BlackBoxes returns the macros as modules without contents.
func (p *MacroPlan) BlackBoxes() string { return macroOutlines(p.memories) }

// BlackBox returns one of them.
func (p *MacroPlan) BlackBox(m Macro) string {
	for _, k := range p.memories {
		if k.macro != nil && k.Size == m.Size {
			return macroOutlines([]memory{k})
		}
	}
	return ""
}

// Leaves are the files of the RAM leaves, by path.
func (p *MacroPlan) Leaves() []*design.RAMSource { return p.leaves }
