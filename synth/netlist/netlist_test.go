// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/synth/liberty"
)

func same(typ string) string { return typ }

func parse(t *testing.T, name, text string) *Module {
	t.Helper()
	m, err := Parse([]byte(text), name, same)
	require.NoError(t, err)
	return m
}

const sample = `
autoidx 5
attribute \blackbox 1
module \ram
  wire width 4 input 1 \d
  wire width 4 output 2 \q
end
module \top
  wire input 1 \clk
  wire width 4 input 2 \d
  wire width 4 output 3 \q
  wire width 4 $x
  wire \a.b
  attribute \src "a.v:1"
  cell \INV_X1 $1
    connect \A \d [0]
    connect \Y $x [0]
  end
  cell \ram \u_ram
    connect \d { \d [3:2] 1'1 $x [0] }
    connect \q \q
  end
  cell \DFF_X1 \end
    connect \CK \clk
    connect \D 1'0
    connect \Q \a.b
  end
  connect $x [3:1] { \a.b 2'0x }
end
`

func TestParseAndWrite(t *testing.T) {
	m := parse(t, "top", sample)
	assert.Equal(t, map[string]int{"INV_X1": 1, "ram": 1, "DFF_X1": 1}, m.Count())
	assert.Equal(t, "ram", m.Instances()["u_ram"])
	var b bytes.Buffer
	require.NoError(t, WriteVerilog(&b, []*Module{m}))
	assert.Equal(t, `module top(clk, d, q);
  input clk;
  input [3:0] d;
  output [3:0] q;
  wire [3:0] _1_;
  wire \a.b ;
  INV_X1 _2_ (.A(d[0]), .Y(_1_[0]));
  ram u_ram (.d({d[3], d[2], 1'b1, _1_[0]}), .q(q));
  DFF_X1 \end  (.CK(clk), .D(1'b0), .Q(\a.b ));
  assign _1_[1] = 1'b0;
  assign _1_[2] = 1'b0;
  assign _1_[3] = \a.b ;
endmodule
`, b.String())
	// What RTLIL writes is read back as the same.
	var again bytes.Buffer
	require.NoError(t, WriteVerilog(&again, []*Module{parse(t, "top", m.RTLIL())}))
	assert.Equal(t, b.String(), again.String())
}

func TestParseErrors(t *testing.T) {
	for want, body := range map[string]string{
		"unknown wire":      "  connect \\a \\b\n",
		"it has 1 bits":     "  wire \\a\n  connect \\a [3] \\a\n",
		"connect of 1 and":  "  wire \\a\n  connect \\a 2'00\n",
		"in a mapped":       "  process $p\n",
		"is not understood": "  wire \\a\n  connect \\a 2'000\n",
	} {
		_, err := Parse([]byte("module \\m\n"+body+"end\n"), "m", same)
		assert.ErrorContains(t, err, want)
	}
	_, err := Parse(nil, "m", same)
	assert.ErrorContains(t, err, "no module m")
}

// A gate with many loads gets a stronger cell, one in another module too; one with few stays, and so does every module without a gain.
func TestSize(t *testing.T) {
	text, err := liberty.Generate(liberty.Options{Corner: liberty.Typical()})
	require.NoError(t, err)
	lib, err := liberty.Parse(text)
	require.NoError(t, err)
	l := NewLibrary(lib, 0)
	build := func() []*Module {
		loads := ""
		for i := range 40 {
			loads += strings.ReplaceAll("  wire \\y#\n  cell \\INV_X1 \\load#\n    connect \\A \\n\n    connect \\Y \\y#\n  end\n", "#", string(rune('a'+i%26))+string(rune('a'+i/26)))
		}
		top := parse(t, "top", "module \\top\n  wire input 1 \\a\n  wire output 2 \\z\n  wire \\n\n"+
			"  cell \\leaf \\u\n    connect \\a \\a\n    connect \\y \\n\n  end\n"+loads+"  cell \\BUF_X1 \\few\n    connect \\A \\a\n    connect \\Y \\z\n  end\nend\n")
		leaf := parse(t, "leaf", "module \\leaf\n  wire input 1 \\a\n  wire output 2 \\y\n  cell \\BUF_X1 \\b\n    connect \\A \\a\n    connect \\Y \\y\n  end\nend\n")
		return []*Module{top, leaf}
	}
	modules := build()
	// 40 inverters are 40 units: at 5 a unit the drive is 8.
	assert.Equal(t, 1, l.Size(modules, lib.Cells[0].Pins[0].Cap, func(string) float64 { return 5 }))
	assert.Equal(t, map[string]int{"BUF_X8": 1}, modules[1].Count())
	assert.Equal(t, 1, modules[0].Count()["BUF_X1"])

	modules = build()
	assert.Equal(t, 0, l.Size(modules, 0, func(m string) float64 { return map[string]float64{"top": 5}[m] }))
	// What drives more than anything can gets the strongest.
	modules = build()
	assert.Equal(t, 1, l.Size(modules, 0, func(m string) float64 { return map[string]float64{"leaf": 0.1}[m] }))
	assert.Equal(t, map[string]int{"BUF_X16": 1}, modules[1].Count())
}

// What its whole family is too weak for drives a buffer that is strong enough, and nothing is lost on the way; a cell that its family is
// strong enough for does not, nor does one in a module with a gain above BufferGain, nor what drives a clock.
func TestSizeBuffers(t *testing.T) {
	text, err := liberty.Generate(liberty.Options{Corner: liberty.Typical()})
	require.NoError(t, err)
	lib, err := liberty.Parse(text)
	require.NoError(t, err)
	l := NewLibrary(lib, 0)
	l.BufferGain = 8
	build := func(cell string) []*Module {
		loads := ""
		for i := range 40 {
			loads += strings.ReplaceAll("  wire \\y#\n  cell \\INV_X1 \\load#\n    connect \\A \\n\n    connect \\Y \\y#\n  end\n", "#", strconv.Itoa(i))
		}
		top := parse(t, "top", "module \\top\n  wire input 1 \\a\n  wire \\n\n  cell \\leaf \\u\n    connect \\a \\a\n    connect \\y \\n\n  end\n"+loads+"end\n")
		return []*Module{top, parse(t, "leaf", "module \\leaf\n  wire input 1 \\a\n  wire output 2 \\y\n"+cell+"end\n")}
	}
	const nor = "  cell \\NOR4_X1 \\g\n    connect \\A \\a\n    connect \\B \\a\n    connect \\C \\a\n    connect \\D \\a\n    connect \\Y \\y\n  end\n"
	modules := build(nor)
	assert.Positive(t, l.Size(modules, 0, func(string) float64 { return 5 }))
	assert.Equal(t, map[string]int{"NOR4_X1": 1, "BUF_X8": 1}, modules[1].Count())
	var out strings.Builder
	require.NoError(t, WriteVerilog(&out, modules[1:]))
	assert.Regexp(t, `(?s)NOR4_X1 g \([^;]*\.Y\(_(\d+)_\)\);.*BUF_X8 _\d+_ \(\s*\.A\(_\d+_\),\s*\.Y\(y\)`, out.String())

	modules = build(nor)
	assert.Zero(t, l.Size(modules, 0, func(string) float64 { return 12 }))
	assert.Equal(t, map[string]int{"NOR4_X1": 1}, modules[1].Count())

	modules = build("  cell \\INV_X1 \\g\n    connect \\A \\a\n    connect \\Y \\y\n  end\n")
	l.Size(modules, 0, func(string) float64 { return 5 })
	assert.Equal(t, map[string]int{"INV_X8": 1}, modules[1].Count())

	modules = build("  cell \\CLKGATE_X1 \\g\n    connect \\CK \\a\n    connect \\E \\a\n    connect \\GCK \\y\n  end\n")
	l.Size(modules, 0, func(string) float64 { return 1 })
	assert.Equal(t, map[string]int{"CLKGATE_X8": 1}, modules[1].Count())
}

// TestSimplify: a constant goes down into a module when all its instances have it, up out of it, through flops that hold nothing
// else; what nobody reads goes, across modules too; the rest stays.
func TestSimplify(t *testing.T) {
	leaf := `module \leaf
  wire input 1 \clk
  wire input 2 \mode
  wire input 3 \some
  wire input 4 \a
  wire output 5 \y
  wire output 6 \held
  wire output 7 \spare
  wire \m
  cell $_AND_ \and_mode
    connect \A \a
    connect \B \mode
    connect \Y \y
  end
  cell $_AND_ \and_some
    connect \A \some
    connect \B \mode
    connect \Y \m
  end
  cell $_DFF_P_ \flop_held
    connect \C \clk
    connect \D \m
    connect \Q \held
  end
  cell $_DFF_P_ \flop_spare
    connect \C \clk
    connect \D \a
    connect \Q \spare
  end
end
`
	top := `module \top
  wire input 1 \clk
  wire input 2 \a
  wire output 3 \y
  wire output 4 \z
  wire \h
  wire \s0
  wire \s1
  wire \only
  wire \y1
  cell \leaf \u0
    connect \clk \clk
    connect \mode 1'1
    connect \some 1'0
    connect \a \a
    connect \y \y
    connect \held \h
    connect \spare \s0
  end
  cell \leaf \u1
    connect \clk \clk
    connect \mode 1'1
    connect \some \only
    connect \a \y
    connect \y \y1
    connect \held \s1
  end
  cell $_NOT_ \not_only
    connect \A \a
    connect \Y \only
  end
  cell $_XOR_ \xor
    connect \A \h
    connect \B \y1
    connect \Y \z
  end
end
`
	outputs := func(string) []string { return nil }
	m := []*Module{parse(t, "top", top), parse(t, "leaf", leaf)}
	Simplify(m, outputs)
	// held differs between the instances, so it stays, and so does what makes it; spare is read nowhere.
	assert.Equal(t, map[string]int{"leaf": 2, "$_NOT_": 1, "$_XOR_": 1}, m[0].Count())
	assert.Equal(t, map[string]int{"$_AND_": 2, "$_DFF_P_": 1}, m[1].Count())
	assert.NotContains(t, m[1].RTLIL(), `connect \B \mode`, "it is 1 at both instances")

	// With the same constant at both, the flop holds nothing else and the exclusive or has a constant input.
	m = []*Module{parse(t, "top", strings.ReplaceAll(top, `connect \some \only`, `connect \some 1'0`)), parse(t, "leaf", leaf)}
	Simplify(m, outputs)
	assert.Equal(t, map[string]int{"leaf": 2, "$_XOR_": 1}, m[0].Count())
	assert.Equal(t, map[string]int{"$_AND_": 1}, m[1].Count())
	assert.Contains(t, m[0].RTLIL(), "cell $_XOR_ \\xor\n    connect \\A 1'0\n")
	assert.Contains(t, m[1].RTLIL(), "connect \\held 1'0\n")
}

func TestFlopValue(t *testing.T) {
	for _, c := range []struct {
		typ  string
		pins map[string]uint8
		want uint8
	}{
		{"$_DFF_P_", map[string]uint8{"D": isOne}, isOne},
		{"$_DFF_P_", map[string]uint8{}, varies},
		{"$_DFFE_PP_", map[string]uint8{"E": isZero}, isZero},
		{"$_DFFE_PN_", map[string]uint8{"E": isZero}, varies},
		{"$_SDFF_PP0_", map[string]uint8{"D": isZero}, isZero},
		{"$_SDFF_PP0_", map[string]uint8{"D": isOne}, varies},
		{"$_SDFFE_PP1P_", map[string]uint8{"E": isZero}, isOne},
		{"$_SDFFCE_PP1P_", map[string]uint8{"E": isZero}, isZero},
		{"$_DFF_PN1_", map[string]uint8{"D": isOne}, isOne},
	} {
		kind := flop.FindStringSubmatch(c.typ)
		require.NotNil(t, kind, c.typ)
		assert.Equal(t, c.want, flopValue(kind, func(pin string) uint8 { return c.pins[pin] }), "%s %v", c.typ, c.pins)
	}
}

func TestMostlyXOR(t *testing.T) {
	assert.True(t, MostlyXOR(map[string]int{"$_XOR_": 60, "$_AND_": 50, "$_XNOR_": 20, "$_DFF_P_": 900}))
	assert.False(t, MostlyXOR(map[string]int{"$_XOR_": 60, "$_AND_": 90, "$_MUX_": 10}))
	assert.False(t, MostlyXOR(map[string]int{"$_XOR_": 60}), "too small to matter")
}
