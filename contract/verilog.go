// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// lineWidth is where lists of constants are wrapped.
const lineWidth = 132

// verilogSection prints what stands between a pair of marks in a module. byHand is the rest of the file, after what follows the marks.
func verilogSection(what string, byHand, after []byte) ([]string, error) {
	kind, rest, _ := strings.Cut(what, " ")
	modes, err := modesOf(strings.Fields(rest))
	if err != nil {
		return nil, err
	}
	parks := bytes.Contains(after, []byte("// contract: parking ")) // prints what this one does not know
	switch kind {
	case "parameter":
		comma := ","
		if bytes.HasPrefix(bytes.TrimSpace(after), []byte(")")) {
			comma = ""
		}
		return []string{fmt.Sprintf("parameter COUNTERS = %d%s", len(Counters(modes[0])), comma)}, nil
	case "counters":
		return counterSection(modes, byHand, parks)
	case "registers":
		return registerSection(modes, byHand, parks)
	case "parking":
		return parkingSection(modes, byHand)
	case "identity":
		return identitySection(modes)
	}
	return nil, errors.New("there is no such section")
}

// perMode is a constant of the Verilog: its value in each mode that has it, as the text of an expression.
type perMode struct {
	width int // of the constant; 0 for a plain integer
	text  map[int]string
}

// expression is the value, by MODE if it is not the same in all of them.
func (c perMode) expression(modes []int) string {
	var seen []int
	for _, m := range modes {
		if c.text[m] != "" {
			seen = append(seen, m)
		}
	}
	last := seen[len(seen)-1]
	out := c.text[last]
	for _, m := range slices.Backward(seen[:len(seen)-1]) {
		if c.text[m] != c.text[last] {
			out = fmt.Sprintf("MODE == %d ? %s : %s", m, c.text[m], out)
		}
	}
	return out
}

// constants are those that a section can print, by name, and the names in the order in which they are printed.
type constants struct {
	modes []int
	of    map[string]perMode
	names []string
	// other are names that another section prints, if it is there.
	other map[string]perMode
}

func newConstants(modes []int) *constants { return &constants{modes: modes, of: map[string]perMode{}} }

func (c *constants) set(mode int, name string, width int, text string) {
	if _, ok := c.of[name]; !ok {
		c.of[name] = perMode{width: width, text: map[int]string{}}
		c.names = append(c.names, name)
	}
	c.of[name].text[mode] = text
}

// print declares those that byHand uses, those of one width together. A name of one of these prefixes that is not among them, and that the
// file does not declare itself, is a mistake.
func (c *constants) print(byHand []byte, prefixes ...string) ([]string, error) {
	used := map[string]bool{}
	declared := map[string]bool{}
	for name, rest := range identifiers(byHand) {
		if prefix, _, _ := strings.Cut(name, "_"); name != strings.ToUpper(name) || !slices.Contains(prefixes, prefix) {
			continue
		}
		used[name] = true
		if is, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " \t\n"), []byte("=")); ok && !bytes.HasPrefix(is, []byte("=")) {
			declared[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		_, ok := c.of[name]
		if _, elsewhere := c.other[name]; !ok && !elsewhere && !declared[name] {
			return nil, fmt.Errorf("nothing is called %s", name)
		}
	}
	var widths []int
	byWidth := map[int][]string{}
	for _, name := range c.names {
		if !used[name] {
			continue
		}
		v := c.of[name]
		if len(byWidth[v.width]) == 0 {
			widths = append(widths, v.width)
		}
		byWidth[v.width] = append(byWidth[v.width], name+" = "+v.expression(c.modes))
	}
	slices.Sort(widths)
	var out []string
	for _, w := range widths {
		head := "localparam "
		if w > 0 {
			head += fmt.Sprintf("[%d:0] ", w-1)
		}
		out = append(out, wrap(head, byWidth[w], ";")...)
	}
	return out, nil
}

// identifiers are the names and keywords of Verilog, comments apart, each with the text behind it.
func identifiers(text []byte) iter.Seq2[string, []byte] {
	part := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	return func(yield func(string, []byte) bool) {
		for i := 0; i < len(text); i++ {
			if bytes.HasPrefix(text[i:], []byte("//")) {
				n := bytes.IndexByte(text[i:], '\n')
				if n < 0 {
					return
				}
				i += n
			}
			from := i
			for i < len(text) && part(text[i]) {
				i++
			}
			if i > from && !yield(string(text[from:i]), text[i:]) {
				return
			}
		}
	}
}

// wrap prints a list in lines of at most lineWidth columns, the second and later ones below the first item.
func wrap(head string, items []string, end string) []string {
	var out []string
	line := head
	for i, item := range items {
		tail := ","
		if i == len(items)-1 {
			tail = end
		}
		switch {
		case line == head:
			line += item + tail
		case len(line)+1+len(item)+len(tail) <= lineWidth:
			line += " " + item + tail
		default:
			out = append(out, line)
			line = strings.Repeat(" ", len(head)) + item + tail
		}
	}
	return append(out, line)
}

// counterSection prints the indices of counters.
func counterSection(modes []int, byHand []byte, parks bool) ([]string, error) {
	c := newConstants(modes)
	for _, mode := range modes {
		for i, n := range Counters(mode) {
			c.set(mode, "C_"+n.Name, 0, fmt.Sprint(i))
		}
		c.set(mode, "C_COUNT", 0, fmt.Sprint(len(Counters(mode))))
	}
	added, err := parked(modes)
	if err != nil {
		return nil, err
	}
	if parks {
		c.other = added.of
	}
	return c.print(byHand, "C")
}

// parked are the constants that parking adds: counters and what stands in registers. C_PARKED_COUNT is the number of counters with them.
func parked(modes []int) (*constants, error) {
	added := newConstants(modes)
	for _, mode := range modes {
		plain := newConstants(modes)
		for _, park := range []bool{false, true} {
			p := everything(mode)
			p.Park = park
			m, err := NewModel(p)
			if err != nil {
				return nil, err
			}
			c := newConstants(modes)
			m.constants(c, mode)
			for i, n := range m.Counters {
				c.set(mode, "C_"+n.Name, 0, fmt.Sprint(i))
			}
			if !park {
				plain = c
				continue
			}
			c.set(mode, "C_PARKED_COUNT", 0, fmt.Sprint(len(m.Counters)))
			for _, name := range c.names {
				if _, ok := plain.of[name]; !ok {
					added.set(mode, name, c.of[name].width, c.of[name].text[mode])
				}
			}
		}
	}
	return added, nil
}

// parkingSection prints what a module uses of what parking adds.
func parkingSection(modes []int, byHand []byte) ([]string, error) {
	c, err := parked(modes)
	if err != nil {
		return nil, err
	}
	c.other = map[string]perMode{}
	for name := range identifiers(byHand) {
		c.other[name] = perMode{} // the file's own, or another section's
	}
	return c.print(byHand, "F", "W", "R", "C")
}

// registerSection prints of the register map what a module uses:
//
//	AT_REG            where a register lies, or the first of an array: its byte address / 4
//	WORD_REG          the table word as which a register of a group or of an endpoint goes out
//	F_REG_FIELD       the lowest bit of a field, W_REG_FIELD its width, R_REG_FIELD its value after reset
//	M_REG             the bits of a register that are in some field
//	NUM_SINGLE        the number of registers that are no arrays; they lie at the beginning without a gap
//	NUM_EP_WORDS      the number of words of an endpoint's record
//	group_bits(w)     the bits that exist in the table word w of a group, endpoint_bits(w) in that of an endpoint
func registerSection(modes []int, byHand []byte, parks bool) ([]string, error) {
	c := newConstants(modes)
	var widest Model
	for _, mode := range modes {
		m, err := NewModel(everything(mode))
		if err != nil {
			return nil, err
		}
		if len(m.Registers) > len(widest.Registers) {
			widest = m
		}
		m.constants(c, mode)
	}
	added, err := parked(modes)
	if err != nil {
		return nil, err
	}
	if parks {
		c.other = added.of
	}
	out, err := c.print(byHand, "AT", "WORD", "F", "W", "R", "M", "NUM")
	if err != nil {
		return nil, err
	}
	called := map[string]bool{}
	for name := range identifiers(byHand) {
		called[name] = true
	}
	if called["group_bits"] {
		out = append(out, widest.wordBits("group", "g")...)
	}
	if called["endpoint_bits"] {
		out = append(out, widest.wordBits("endpoint", "ei")...)
	}
	return out, nil
}

// constants adds what a mode's map has.
func (m Model) constants(c *constants, mode int) {
	single, endpointWords := 0, 0
	for _, r := range m.Registers {
		c.set(mode, "AT_"+r.Name, 16, fmt.Sprintf("16'h%04X", r.Offset/4))
		switch {
		case r.Index == "":
			single++
		case r.Index == "ei":
			endpointWords++
		}
		if r.Index == "g" || r.Index == "ei" {
			c.set(mode, "WORD_"+r.Name, 4, fmt.Sprintf("4'd%d", r.word))
		}
		for _, f := range r.Fields {
			name := r.Name + "_" + strings.ToUpper(f.Name)
			c.set(mode, "F_"+name, 0, fmt.Sprint(f.LSB))
			if f.widthParam == "" {
				c.set(mode, "W_"+name, 0, fmt.Sprint(f.Width))
				c.set(mode, "R_"+name, f.Width, fmt.Sprintf("%d'd%d", f.Width, f.Reset))
			}
		}
		c.set(mode, "M_"+r.Name, 32, r.stored())
	}
	c.set(mode, "NUM_SINGLE", 16, fmt.Sprintf("16'd%d", single))
	c.set(mode, "NUM_EP_WORDS", 4, fmt.Sprintf("4'd%d", endpointWords))
}

// stored is the Verilog for the bits of a register that keep what is written: those of all fields that do not clear themselves.
func (r Register) stored() string {
	var fixed uint32
	for _, f := range r.Fields {
		switch {
		case f.widthParam != "": // from bit 0, the only one of its register
			return fmt.Sprintf("32'hFFFF_FFFF >> (32 - %s)", f.widthParam)
		case !f.SelfClearing:
			fixed |= f.Mask()
		}
	}
	return fmt.Sprintf("32'h%04X_%04X", fixed>>16, fixed&0xFFFF)
}

// wordBits is the function with the bits that exist in the table words of an array. What the hardware changes is in no table.
func (m Model) wordBits(array, index string) []string {
	name := array + "_bits"
	out := []string{"", fmt.Sprintf("// bits that exist in the words of a table: a %s a record", array), fmt.Sprintf("function [31:0] %s(input [3:0] word);", name), "    case (word)"}
	for _, r := range m.Registers {
		if r.Index == index && r.Stride > 4 && r.Access == RW && !r.Volatile {
			out = append(out, fmt.Sprintf("        4'd%-3s %s = %s; // %s", fmt.Sprint(r.word)+":", name, r.stored(), r.Name))
		}
	}
	return append(out, fmt.Sprintf("        default: %s = 32'd0;", name), "    endcase", "endfunction")
}

// identitySection prints the registers that say what the engine is, as items of a case over a register's place that sets value. (As a
// function it would keep Verilator 5.006 from seeing latches, in any module.)
func identitySection(modes []int) ([]string, error) {
	var out []string
	for _, mode := range modes {
		m, err := NewModel(everything(mode))
		if err != nil {
			return nil, err
		}
		var items []string
		for _, r := range m.Registers {
			if r.valueParam != "" {
				items = append(items, fmt.Sprintf("16'h%04X: value = %s; // %s", r.Offset/4, r.valueParam, r.Name))
			}
		}
		if out != nil && !slices.Equal(out, items) {
			return nil, errors.New("the modes differ in the registers that say what the engine is")
		}
		out = items
	}
	return out, nil
}
