// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Marks around what is printed into a file that people write. What stands between them is whatever the section says:
//
//	// contract: counters 2                          indices C_NAME of the counters that the file uses, and C_COUNT, their number
//	// contract: parameter 2                         parameter COUNTERS with the number of Mode II's counters as its default
//	// contract: registers 2 3                       what the file uses of the register map (see names)
//	// contract: parking 2 3                         what the file uses of what parking adds to the counters and the register map
//	// contract: identity 2 3                        items of a case: the registers that say what the engine is
//	<!-- contract: registers 2 --> … 3 over 2        a table of the registers of Mode II, or of those that Mode III adds to it
//	<!-- contract: counters 2 --> … 3 over 2         a table of counters
//	<!-- contract: ports -->                         a table of the ports' counters
//	<!-- contract: interrupts --> … port interrupts  a table of the causes of interrupts
//
// In Verilog a name that is not the same in all modes listed becomes an expression over the parameter MODE.
var (
	verilogMark  = regexp.MustCompile(`(?m)^([ \t]*)// contract: (.*)\n((?:.*\n)*?)[ \t]*// contract: end\n`)
	markdownMark = regexp.MustCompile(`(?m)^()<!-- contract: (.*) -->\n((?:.*\n)*?)<!-- contract: end -->\n`)
	anyMark      = regexp.MustCompile(`(?m)^[ \t]*(?://|<!--) contract: `)
)

// Fill returns a file's text with everything between the contract's marks printed anew: Verilog or Markdown, by its marks. A text without
// marks comes back as it is.
func Fill(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte(" contract: ")) || !anyMark.Match(text) {
		return text, nil
	}
	mark, section, comment := verilogMark, verilogSection, "// contract: %s"
	if markdownMark.Match(text) {
		mark, section, comment = markdownMark, markdownSection, "<!-- contract: %s -->"
	}
	marks := mark.FindAllSubmatchIndex(text, -1)
	var byHand, out bytes.Buffer
	at := 0
	for _, m := range marks {
		byHand.Write(text[at:m[0]])
		at = m[1]
	}
	byHand.Write(text[at:])
	at = 0
	for _, m := range marks {
		indent, what := string(text[m[2]:m[3]]), strings.TrimSpace(string(text[m[4]:m[5]]))
		lines, err := section(what, byHand.Bytes(), text[m[1]:])
		if err != nil {
			return nil, fmt.Errorf("contract: %s: %w", what, err)
		}
		out.Write(text[at:m[0]])
		for _, line := range append(append([]string{fmt.Sprintf(comment, what)}, lines...), fmt.Sprintf(comment, "end")) {
			out.WriteString(strings.TrimRight(indent+line, " ") + "\n")
		}
		at = m[1]
	}
	out.Write(text[at:])
	if begins := len(anyMark.FindAll(out.Bytes(), -1)); begins != 2*len(mark.FindAll(out.Bytes(), -1)) {
		return nil, fmt.Errorf("contract: a mark has no end, or an end no mark")
	}
	return out.Bytes(), nil
}

// modesOf reads the modes that a section names.
func modesOf(words []string) ([]int, error) {
	var out []int
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || !slices.Contains(Modes(), n) {
			return nil, fmt.Errorf("%q is no mode", w)
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no mode is named")
	}
	return out, nil
}

// everything are parameters with which every register, field and named value of a mode is there.
func everything(mode int) Params {
	p := Params{Name: "everything", Mode: mode, BusBytes: 64, Lanes: 16, DTypes: ElementNames(), Ops: OperationNames(), Accumulate: InPlace,
		BufferBytes: 1 << 20, Groups: 2, Members: 15, Ports: 4, MTUBytes: 4096, WindowPackets: 16, HopRTTNS: 2000, ClockMHz: 250, InBand: true}
	if mode == 1 {
		p.MessageBytes, p.WindowMessages = 16384, 4
	}
	return p
}
