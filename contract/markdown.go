// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"fmt"
	"strings"
)

// markdownSection prints what stands between a pair of marks in a document: "registers 2" or "registers 3 over 2", the same of counters, and
// "ports", the ports' counters; "interrupts" and "port interrupts", the causes of interrupts.
func markdownSection(what string, _, _ []byte) ([]string, error) {
	switch what {
	case "ports":
		return portTable(), nil
	case "interrupts":
		return causeTable("IRQ_CAUSE", causes()), nil
	case "port interrupts":
		return causeTable("PORT_IRQ_CAUSE", portCauses()), nil
	}
	kind, rest, _ := strings.Cut(what, " ")
	of, over, adds := strings.Cut(rest, " over ")
	modes, err := modesOf(append(strings.Fields(of), strings.Fields(over)...))
	if err != nil {
		return nil, err
	}
	known := 0
	if adds {
		known = modes[1]
	}
	switch kind {
	case "counters":
		return counterTable(modes[0], known), nil
	case "registers":
		return registerTable(modes[0], known)
	}
	return nil, errors.New("there is no such section")
}

// counterTable lists the counters of a mode, those of the other mode left out.
func counterTable(mode, known int) []string {
	out := []string{"| i | counter | counts |", "|---|---|---|"}
	for i, c := range Counters(mode) {
		if known == 0 || CounterIndex(known, c.Name) < 0 {
			out = append(out, fmt.Sprintf("| %d | %s | %s |", i, c.Name, c.Doc))
		}
	}
	return out
}

// portTable lists the counters of a port with the address of port 0's.
func portTable() []string {
	out := []string{"| address | register | counts |", "|---|---|---|"}
	for k, c := range PortCounters() {
		out = append(out, fmt.Sprintf("| 0x%04X + 4·port | %s[port] | %s |", PortBase+PortStride*k, c.Name, c.Doc))
	}
	return out
}

// causeTable lists the causes of a register by bit.
func causeTable(register string, of []Cause) []string {
	out := []string{"| bit of " + register + " | cause | what | counters |", "|---|---|---|---|"}
	for i, c := range of {
		out = append(out, fmt.Sprintf("| %d | %s | %s | %s |", i, c.Name, c.Doc, strings.Join(c.Counters, ", ")))
	}
	return out
}

// registerTable lists the registers of a mode, those of the other mode left out.
func registerTable(mode, known int) ([]string, error) {
	m, err := NewModel(everything(mode))
	if err != nil {
		return nil, err
	}
	var others Registers
	if known != 0 {
		o, err := NewModel(everything(known))
		if err != nil {
			return nil, err
		}
		others = o.Registers
	}
	out := []string{"| register | access | fields |", "|---|---|---|"}
	for i := 0; i < len(m.Registers); i++ {
		r := m.Registers[i]
		if _, err := others.Register(r.Name); err == nil {
			continue
		}
		name := r.Name
		if base, ok := strings.CutSuffix(r.Name, "_0"); ok { // a run of registers alike
			for i+1 < len(m.Registers) && strings.HasPrefix(m.Registers[i+1].Name, base+"_") {
				i++
			}
			name = r.Name + " … " + m.Registers[i].Name
		}
		if r.Index != "" {
			name += "[" + r.Index + "]"
		}
		out = append(out, fmt.Sprintf("| %s | %s | %s |", name, r.Access, r.fieldsText()))
	}
	return out, nil
}

// fieldsText says what is in a register, in a line.
func (r Register) fieldsText() string {
	doc, fields, more := r.Doc, r.Fields, ""
	if r.general != "" {
		doc = r.general
	}
	if n := len(fields); n > 6 { // places that repeat
		fields, more = fields[:4], "; … to "+fields[n-1].Name+"["+fields[n-1].place()+"]"
	}
	var parts []string
	for _, f := range fields {
		if f.Width == 32 && len(r.Fields) == 1 {
			continue // the whole register
		}
		part := fmt.Sprintf("%s[%s]", f.Name, f.place())
		switch {
		case f.SelfClearing:
			part += " (reads 0)"
		case f.resetText != "":
			part += " (reset: " + f.resetText + ")"
		case f.Reset != 0 && r.Access == RW:
			part += fmt.Sprintf(" (reset %#x)", f.Reset)
		}
		if f.Doc != r.Doc {
			part += ": " + strings.TrimSuffix(f.Doc, ".")
		}
		if len(f.Values) > 0 {
			var values []string
			for _, v := range f.Values {
				values = append(values, fmt.Sprintf("%d %s", v.Value, v.Name))
			}
			part += " (" + strings.Join(values, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.TrimSpace(doc + " " + strings.Join(parts, "; ") + more)
}

// place is where a field lies, with MEMBERS for the highest bit of an endpoint mask.
func (f Field) place() string {
	switch {
	case f.widthParam != "":
		return "MEMBERS:0"
	case f.Width > 1:
		return fmt.Sprintf("%d:%d", f.LSB+f.Width-1, f.LSB)
	}
	return fmt.Sprint(f.LSB)
}
