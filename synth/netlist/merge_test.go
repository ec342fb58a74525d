// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// flopText is a flop behind an enable that a gate makes of two nets.
func flopText(name, a, b, q string) string {
	return fmt.Sprintf("  wire \\en_%[1]s\n  cell $_AND_ \\and_%[1]s\n    connect \\A %[2]s\n    connect \\B %[3]s\n    connect \\Y \\en_%[1]s\n  end\n"+
		"  cell $_DFFE_PP_ \\%[1]s\n    connect \\C \\clk\n    connect \\D \\d\n    connect \\E \\en_%[1]s\n    connect \\Q %[4]s\n  end\n", name, a, b, q)
}

// twins are two blocks in two shells, which hold the same in a flop, and one block apart whose flop has another enable.
func twins(t *testing.T) []*Module {
	t.Helper()
	ports := "  wire input 1 \\clk\n  wire input 2 \\d\n  wire input 3 \\a\n  wire input 4 \\b\n  wire output 5 \\q\n"
	pins := "    connect \\clk \\clk\n    connect \\d \\d\n    connect \\a \\a\n    connect \\b \\b\n"
	cell := func(typ, name, q string) string {
		return "  cell \\" + typ + " \\" + name + "\n" + pins + "    connect \\q " + q + "\n  end\n"
	}
	top := "module \\top\n" + strings.Replace(ports, "output 5 \\q\n", "output 5 \\q1\n  wire output 6 \\q2\n  wire output 7 \\q3\n", 1) +
		cell("shell", "u_shell", "\\q1") + cell("other", "u_other", "\\q2") + cell("apart", "u_apart", "\\q3") + "end\n"
	shell := "module \\shell\n" + ports + cell("inner", "u_inner", "\\q") + "end\n"
	// The output is behind a gate, so nobody outside knows the flop's own net.
	inner := "module \\inner\n" + ports + "  wire \\r\n" + flopText("held", "\\a", "\\b", "\\r") + "  cell $_NOT_ \\n\n    connect \\A \\r\n    connect \\Y \\q\n  end\nend\n"
	other := "module \\other\n" + ports + flopText("twin", "\\b", "\\a", "\\q") + "end\n"
	apart := "module \\apart\n" + ports + flopText("alone", "\\b", "\\b", "\\q") + "end\n"
	var all []*Module
	for _, m := range [][2]string{{"top", top}, {"apart", apart}, {"other", other}, {"shell", shell}, {"inner", inner}} {
		all = append(all, parse(t, m[0], m[1]))
	}
	return all
}

// TestMerge: of equal flops in two blocks one stays, and the other's block gets its value through ports; what only looks alike stays.
func TestMerge(t *testing.T) {
	m := twins(t)
	assert.Equal(t, 1, Merge(m))
	assert.Zero(t, m[4].Count()["$_DFFE_PP_"], "the first of the equal flops stays: the one in other")
	assert.Equal(t, 1, m[2].Count()["$_DFFE_PP_"])
	assert.Equal(t, 1, m[1].Count()["$_DFFE_PP_"], "another enable")
	// other drives q2 itself, so the top knows the net; from there it goes down through shell.
	assert.Len(t, m[2].Ports, 5)
	assert.Len(t, m[3].Ports, 6)
	assert.Len(t, m[4].Ports, 6)
	assert.Contains(t, m[0].RTLIL(), "    connect \\merged$1 \\q2\n")
	assert.Contains(t, m[4].RTLIL(), "  connect \\r \\merged$2\n")
	assert.Contains(t, m[4].Interface(), "  wire width 1 input 6 \\merged$2\n")
	// What made the enable of the flop that went is read no more.
	Simplify(m, func(string) []string { return nil })
	assert.Equal(t, map[string]int{"$_NOT_": 1}, m[4].Count())
	assert.Zero(t, Merge(m), "nothing is left to merge")
}

// TestMergeUp: a net that nobody outside knows goes up through new ports.
func TestMergeUp(t *testing.T) {
	m := twins(t)
	m[2], m[4] = m[4], m[2] // the modules in another order: inner's flop comes first; shell, which holds it, is after it, so it is alone
	assert.Zero(t, Merge(m), "every module must come before those in it")
	m = twins(t)
	order := []*Module{m[0], m[1], m[3], m[4], m[2]}
	assert.Equal(t, 1, Merge(order))
	assert.Equal(t, 1, m[4].Count()["$_DFFE_PP_"])
	assert.Zero(t, m[2].Count()["$_DFFE_PP_"])
	assert.Len(t, m[4].Ports, 6)
	assert.True(t, m[4].Ports[5].Output)
	assert.True(t, m[3].Ports[5].Output)
	assert.True(t, m[2].Ports[5].Input)
}

// TestMergeNotTwice: a module with two instances takes no part, as their flops may differ.
func TestMergeNotTwice(t *testing.T) {
	m := twins(t)
	top := strings.Replace(m[0].RTLIL(), "cell \\apart \\u_apart", "cell \\other \\u_apart", 1)
	m[0] = parse(t, "top", top)
	assert.Zero(t, Merge(m))
}

// TestSweep: a mapped flop that nobody reads goes with what feeds it alone; a macro stays.
func TestSweep(t *testing.T) {
	leaf := `module \leaf
  wire input 1 \clk
  wire input 2 \a
  wire output 3 \y
  wire output 4 \spare
  wire \n
  cell \INV_X1 \inv
    connect \A \a
    connect \Y \n
  end
  cell \DFF_X1 \dead
    connect \CK \clk
    connect \D \n
    connect \Q \spare
  end
  cell \DFF_X1 \live
    connect \CK \clk
    connect \D \a
    connect \Q \y
  end
  cell \ram \u_ram
    connect \clk \clk
    connect \d \n
  end
end
`
	top := `module \top
  wire input 1 \clk
  wire input 2 \a
  wire output 3 \y
  wire \s
  cell \leaf \u
    connect \clk \clk
    connect \a \a
    connect \y \y
    connect \spare \s
  end
end
`
	outputs := func(typ string) []string {
		return map[string][]string{"INV_X1": {"Y"}, "DFF_X1": {"Q"}, "ram": {"q"}}[typ]
	}
	for macro, want := range map[bool]map[string]int{
		true:  {"INV_X1": 1, "DFF_X1": 1, "ram": 1},
		false: {"DFF_X1": 1},
	} {
		m := []*Module{parse(t, "top", top), parse(t, "leaf", leaf)}
		gone := Sweep(m, outputs, func(typ string) bool { return macro && typ == "ram" })
		assert.Equal(t, want, m[1].Count())
		assert.Equal(t, map[bool]int{true: 1, false: 3}[macro], gone)
		assert.Equal(t, map[string]int{"leaf": 1}, m[0].Count())
	}
}
