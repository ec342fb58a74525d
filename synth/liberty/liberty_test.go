// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/tool"
)

func generate(t *testing.T, o Options) (*Library, []byte) {
	t.Helper()
	text, err := Generate(o)
	require.NoError(t, err)
	l, err := Parse(text)
	require.NoError(t, err)
	return l, text
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, text, 0o644))
	return path
}

func TestGeneratedLibraryParsesBack(t *testing.T) {
	for _, c := range []Corner{Typical(), Slow()} {
		l, text := generate(t, Options{Corner: c, WireLoad: WireLoad})
		assert.Equal(t, LibraryName(c), l.Name)
		assert.Equal(t, c.Voltage, l.Voltage)
		assert.Equal(t, c.Temperature, l.Temp)
		assert.InDelta(t, 1e-12, l.TimeUnit, 1e-18)
		assert.InDelta(t, 1e-15, l.CapUnit, 1e-21)
		assert.Equal(t, "per_sink", l.WireLoad)
		want := 0
		for _, tm := range templates() {
			for _, x := range tm.drives {
				cell, ok := l.Cell(CellName(tm.name, x))
				require.True(t, ok, "%s X%d", tm.name, x)
				assert.InDelta(t, tm.areaNAND2(x)*NAND2Area, cell.Area, 1e-4)
				if tm.kind == clockGate {
					assert.True(t, cell.ClockGate)
					assert.Equal(t, "clock gate", cell.Unusable, "the mapper must not take it for logic")
					assert.Equal(t, []string{"CK", "E", "GCK"}, []string{cell.GateClock, cell.GateEnable, cell.GateOut})
				} else {
					assert.Empty(t, cell.Unusable)
					assert.Len(t, cell.Pins, len(tm.inputs)+len(tm.outputs))
				}
				want++
			}
		}
		assert.Len(t, l.Cells, want)
		again, err := Generate(Options{Corner: c, WireLoad: WireLoad})
		require.NoError(t, err)
		assert.True(t, bytes.Equal(text, again), "the same options give the same bytes")
	}
}

func TestAreasOfTheTemplate(t *testing.T) {
	l, _ := generate(t, Options{Corner: Typical()})
	for name, um2 := range map[string]float64{
		"NAND2_X1": 0.378, // 3 x 0.14 x 0.9
		"NAND2_X2": 0.630, // two more pitches
		"INV_X1":   0.3062,
		"INV_X4":   0.6842,
		"DFF_X1":   2.0147, // the literature's flop: 5 to 5.7 NAND2
		"DFFR_X1":  2.5213,
		"XOR2_X1":  0.8278,
		"MUX2_X2":  1.2613,
		"FA_X1":    2.0147,
	} {
		cell, ok := l.Cell(name)
		require.True(t, ok, name)
		assert.InDelta(t, um2, cell.Area, 2e-4, name)
	}
	nand, ok := l.NAND2()
	require.True(t, ok)
	assert.Equal(t, "NAND2_X1", nand.Name)
	inv, ok := l.Inverter()
	require.True(t, ok)
	assert.Equal(t, "INV_X1", inv.Name)
	buf, ok := l.Buffer()
	require.True(t, ok)
	assert.Equal(t, "BUF_X1", buf.Name)
}

func TestCornerByName(t *testing.T) {
	c, err := CornerByName("")
	require.NoError(t, err)
	assert.Equal(t, Typical(), c)
	c, err = CornerByName("slow")
	require.NoError(t, err)
	assert.InDelta(t, 1.69, c.FO4/Typical().FO4, 0.01)
	_, err = CornerByName("fast")
	assert.ErrorContains(t, err, `unknown corner "fast"`)
}

// The chain: ten INV X1, each driving the next and three more, behind a few
// stages that settle the slew. OpenSTA's delay of the ten over ten is the FO4.
func TestFO4InOpenSTA(t *testing.T) {
	const lead, stages = 4, 10
	var v strings.Builder
	v.WriteString("module chain (input a, output y);\n")
	for i := range lead + stages {
		from := "a"
		if i > 0 {
			from = fmt.Sprintf("n%d", i-1)
		}
		fmt.Fprintf(&v, "wire n%d; INV_X1 u%d (.A(%s), .Y(n%d));\n", i, i, from, i)
		for k := range 3 {
			fmt.Fprintf(&v, "INV_X1 d%d_%d (.A(n%d), .Y());\n", i, k, i)
		}
	}
	fmt.Fprintf(&v, "INV_X1 last (.A(n%d), .Y(y));\nendmodule\n", lead+stages-1)
	netlist := write(t, "chain.v", []byte(v.String()))
	for _, c := range []Corner{Typical(), Slow()} {
		t.Run(c.Name, func(t *testing.T) {
			// The figure is defined without wires.
			_, text := generate(t, Options{Corner: c})
			script := write(t, "s.tcl", []byte(strings.Join([]string{
				"read_liberty " + write(t, "l.lib", text), "read_verilog " + netlist, "link_design chain",
				"create_clock -name v -period 10000", "set_input_delay 0 -clock v [get_ports a]",
				"set_output_delay 0 -clock v [get_ports y]", "report_checks -path_delay max -digits 5",
			}, "\n")))
			res, err := tool.Run(context.Background(), tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", script}, Timeout: time.Minute})
			require.NoError(t, err)
			at := func(cell string) float64 {
				m := regexp.MustCompile(`([0-9.]+) [v^] ` + cell + `/Y`).FindSubmatch(res.Output)
				require.NotNil(t, m, "%s", res.Output)
				x, err := strconv.ParseFloat(string(m[1]), 64)
				require.NoError(t, err)
				return x
			}
			fo4 := (at(fmt.Sprintf("u%d", lead+stages-1)) - at(fmt.Sprintf("u%d", lead-1))) / stages
			t.Logf("FO4 %.3f ps, target %g", fo4, c.FO4)
			assert.InEpsilon(t, c.FO4, fo4, 0.02)
		})
	}
}

// Yosys maps a few gates and both kinds of flop onto the library; OpenSTA reads
// cells and macros without a warning and times a path through a macro.
func TestYosysAndOpenSTARead(t *testing.T) {
	c := Typical()
	_, text := generate(t, Options{Corner: c, WireLoad: WireLoad})
	lib := write(t, "l.lib", text)
	s, err := CompileSRAM(512, 64, SRAMOptions{Ports: OneR1W, Cell: HighCurrentCell(), Corner: c})
	require.NoError(t, err)
	sram := write(t, "m.lib", GenerateSRAM(c, []SRAM{s}))
	dir := t.TempDir()
	rtl := write(t, "t.v", []byte(`
(* blackbox *) module inc_sram_1r1w_512x64 (input clk, we, input [8:0] waddr, input [63:0] wdata, input re, input [8:0] raddr, output [63:0] rdata); endmodule
module t (input clk, rn, we, re, input [8:0] a, input [63:0] d, output reg [63:0] q, output reg p, r);
  wire [63:0] m;
  inc_sram_1r1w_512x64 u (.clk(clk), .we(we), .waddr(a), .wdata(d), .re(re), .raddr(a), .rdata(m));
  always @(posedge clk) q <= m + d;
  always @(posedge clk or negedge rn) if (!rn) p <= 0; else p <= ^d;
  always @(posedge clk or negedge rn) if (!rn) r <= 1; else r <= ^d[8:0] & a[0];
endmodule
`))
	net := filepath.Join(dir, "net.v")
	_, err = tool.Run(context.Background(), tool.Command{Name: "yosys", Timeout: time.Minute, Args: []string{"-q", "-p", strings.Join([]string{
		"read_liberty -lib " + lib, "read_verilog " + rtl, "synth -top t", "dfflibmap -liberty " + lib, "abc -liberty " + lib,
		"splitnets", "setundef -zero", "opt_clean -purge", "check -assert -mapped", "write_verilog -simple-lhs -noattr -noexpr -nohex -nodec " + net}, "; ")}})
	require.NoError(t, err)
	script := write(t, "s.tcl", []byte(strings.Join([]string{"read_liberty " + lib, "read_liberty " + sram, "read_verilog " + net, "link_design t",
		"create_clock -name clk -period 1000 [get_ports clk]", "report_checks -path_delay max -from u -digits 4"}, "\n")))
	res, err := tool.Run(context.Background(), tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", script}, Timeout: time.Minute})
	require.NoError(t, err)
	out := string(res.Output)
	assert.NotContains(t, out, "Warning")
	assert.NotContains(t, out, "Error")
	assert.Regexp(t, `u/rdata\[\d+\] \(inc_sram_1r1w_512x64\)`, out)
}

func TestSRAMTable(t *testing.T) {
	// The published-cell bracket: um2 with the dense and the high-current cell; access and cycle in ns.
	for _, k := range []struct {
		ports           SRAMPorts
		words, bits     int
		dense, high     float64
		access, cycleNS float64
	}{
		{OneRW, 512, 64, 7076, 8637, 0.46, 0.64},
		{OneRW, 512, 128, 12883, 15723, 0.52, 0.72},
		{OneRW, 1024, 128, 23254, 28380, 0.58, 0.79},
		{OneRW, 1024, 137, 24727, 30179, 0.59, 0.80},
		{OneRW, 2048, 137, 47162, 57560, 0.65, 0.87},
		{OneRW, 4096, 128, 86137, 105128, 0.71, 0.94},
		{OneR1W, 512, 64, 13851, 16904, 0.50, 0.64},
		{OneR1W, 1024, 137, 46282, 56485, 0.65, 0.80},
	} {
		t.Run(fmt.Sprintf("%v %dx%d", k.ports, k.words, k.bits), func(t *testing.T) {
			for _, c := range []struct {
				cell BitCell
				area float64
			}{{DenseCell(), k.dense}, {HighCurrentCell(), k.high}} {
				s, err := CompileSRAM(k.words, k.bits, SRAMOptions{Ports: k.ports, Cell: c.cell, Corner: Typical()})
				require.NoError(t, err)
				assert.Equal(t, 1, s.Banks*s.Slices)
				assert.InEpsilon(t, c.area, s.Area, 0.03)
				assert.InEpsilon(t, k.access*1000, s.Access, 0.03)
				assert.InEpsilon(t, k.cycleNS*1000, s.Cycle, 0.03)
			}
		})
	}
}

func TestSRAMBanks(t *testing.T) {
	o := SRAMOptions{Ports: OneRW, Cell: HighCurrentCell(), Corner: Typical()}
	for _, k := range []struct{ words, bits int }{{1, 1}, {3, 1}, {64, 512}, {100, 7}, {8192, 4}, {16384, 512}, {20000, 1096}, {131072, 64}} {
		s, err := CompileSRAM(k.words, k.bits, o)
		require.NoError(t, err)
		m := s.Macro
		assert.GreaterOrEqual(t, m.Words*s.Banks, k.words)
		assert.GreaterOrEqual(t, m.Bits*s.Slices, k.bits)
		assert.LessOrEqual(t, m.Rows, 512)
		assert.GreaterOrEqual(t, m.Rows*m.Mux, m.Words)
		assert.Contains(t, []int{2, 4, 8, 16}, m.Mux)
		assert.InDelta(t, float64(s.Banks*s.Slices)*m.Area, s.Area, 1e-6)
	}
	// One megabyte of single-port macros: 1.5 to 1.9 mm2 by the choice of cell; two-port twice that.
	mb, err := CompileSRAM(16384, 512, o)
	require.NoError(t, err)
	assert.InDelta(t, 1.68e6, mb.Area, 0.1e6)
	o.Ports = OneR1W
	two, err := CompileSRAM(16384, 512, o)
	require.NoError(t, err)
	assert.InDelta(t, 1.8, two.Area/mb.Area, 0.1)
	// A bound on the cycle buys speed with area.
	o.MaxCycle = 700
	fast, err := CompileSRAM(16384, 512, o)
	require.NoError(t, err)
	assert.LessOrEqual(t, fast.Cycle, 700.0)
	assert.Greater(t, fast.Area, two.Area)
	o.MaxCycle = 1
	fastest, err := CompileSRAM(16384, 512, o)
	require.NoError(t, err)
	assert.Less(t, fastest.Cycle, fast.Cycle)

	_, err = CompileSRAM(0, 8, o)
	assert.ErrorContains(t, err, "0 words of 8 bits")
	_, err = CompileSRAM(8, 8, SRAMOptions{})
	assert.ErrorContains(t, err, "without a cell or a corner")
}

func TestSRAMLibraryParsesBack(t *testing.T) {
	s, err := CompileSRAM(1024, 137, SRAMOptions{Ports: OneRW, Cell: DenseCell(), Corner: Slow()})
	require.NoError(t, err)
	l, err := Parse(GenerateSRAM(Slow(), []SRAM{s}))
	require.NoError(t, err)
	c, ok := l.Cell("inc_sram_1rw_1024x137")
	require.True(t, ok)
	assert.InDelta(t, s.Area+s.BankMuxArea, c.Area, 0.01)
	assert.Equal(t, "dont_use", c.Unusable)
	var pins []string
	for _, p := range c.Pins {
		pins = append(pins, p.Name)
	}
	assert.Equal(t, []string{"clk", "en", "we", "addr", "wdata", "rdata"}, pins)
}

func TestFunctions(t *testing.T) {
	for _, k := range []struct {
		text, verilog, senseA string
		table                 string // input 0 is the lowest bit of the index
	}{
		{"!A", "~A", "negative_unate", "10"},
		{"A'", "~A", "negative_unate", "10"},
		{"(A B)'", "~(A & B)", "negative_unate", "1110"},
		{"A*B+C", "((A & B) | C)", "positive_unate", "00011111"},
		{"A ^ B & C", "((A ^ B) & C)", "non_unate", "00000110"},
		{"!(A|B) | 0", "(~(A | B) | 1'b0)", "negative_unate", "1000"},
		{"(A & !S) | (B & S)", "((A & ~S) | (B & S))", "positive_unate", "01010011"},
		{"A !B", "(A & ~B)", "positive_unate", "0100"},
	} {
		f, err := ParseFunction(k.text)
		require.NoError(t, err, k.text)
		assert.Equal(t, k.verilog, f.Verilog(), k.text)
		assert.Equal(t, k.senseA, f.Sense("A"), k.text)
		var table strings.Builder
		for _, b := range f.Table() {
			table.WriteByte("01"[map[bool]int{true: 1}[b]])
		}
		assert.Equal(t, k.table, table.String(), k.text)
	}
	for _, bad := range []string{"", "A &", "(A", "A)", "A $ B", "!"} {
		_, err := ParseFunction(bad)
		assert.Error(t, err, "%q", bad)
	}
}

const small = `/* a library with everything to drop */
library (small) {
  time_unit : "1ns"; capacitive_load_unit (1, pf);
  nom_voltage : 1.8
  default_wire_load : "big";
  cell (NAND) { area : 4; pin(A) { direction : input; capacitance : 0.01; } pin(B) { direction : input; } pin(Y) { direction : output; function : "(A B)'"; } }
  cell ("SCAN") { area : 9; ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; } pin(D, SI) { direction : input; } pin(Q) { direction : output; function : "IQ"; } test_cell () { } }
  cell (GATE) { area : 9; clock_gating_integrated_cell : "latch_posedge"; pin(G) { direction : output; } }
  cell (TRI) { area : 5; pin(A) { direction : input; } pin(Y) { direction : output; function : "A"; three_state : "!E"; } }
  cell (FILL) { area : 1; }
  cell (HIDE) { area : 2; dont_use : true; pin(Y) { direction : output; function : "1"; } }
  cell (NOAREA) { pin(A) { direction : input; } pin(Y) { direction : output; function : "A"; } }
  cell (DLY4) { area : 3; pin(A) { direction : input; } pin(Y) { direction : output; function : "A"; } }
  cell (AOI33) { area : 8; pin(A, B, C, D, E, F) { direction : input; } pin(Y) { direction : output; function : "!((A B C) + (D E F))"; } }
  cell (DFF) { area : 20; ff (IQ, IQN) { next_state : "D"; clocked_on : "!CK"; clear : "!R"; } pin(D) { direction : input; } pin(CK) { direction : input; } pin(R) { direction : input; } pin(Q) { direction : output; function : "IQ"; } }
}`

func TestReaderDropsWhatSynthesisMustNotUse(t *testing.T) {
	check := func(l *Library) {
		why := map[string]string{}
		for _, c := range l.Cells {
			why[c.Name] = c.Unusable
		}
		assert.Equal(t, map[string]string{"NAND": "", "SCAN": "scan", "GATE": "clock gate", "TRI": "tri-state", "FILL": "no output",
			"HIDE": "dont_use", "NOAREA": "no area", "DLY4": "delay cell", "AOI33": "too many inputs", "DFF": ""}, why)
		assert.InDelta(t, 1e-9, l.TimeUnit, 1e-15)
		assert.InDelta(t, 1e-12, l.CapUnit, 1e-18)
		assert.Equal(t, 1.8, l.Voltage)
	}
	l, err := Parse([]byte(small))
	require.NoError(t, err)
	check(l)
	kept, err := Parse(l.ForSynthesis(true))
	require.NoError(t, err)
	assert.Len(t, kept.Cells, 2)
	assert.Empty(t, kept.WireLoad)
	kept, err = Parse(l.ForSynthesis(false))
	require.NoError(t, err)
	assert.Equal(t, "big", kept.WireLoad)
	_, ok := l.Inverter()
	assert.False(t, ok)

	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err = w.Write([]byte(small))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	zipped, err := Open(write(t, "small.lib.gz", z.Bytes()))
	require.NoError(t, err)
	check(zipped)
	_, err = Open(write(t, "bad.lib.gz", []byte(small)))
	assert.ErrorContains(t, err, "gzip")
	_, err = Open(filepath.Join(t.TempDir(), "none.lib"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no library group",
		"library (a) {":             "file ends inside group library",
		"library (a) { }":           "has no cells",
		"library (a) {\n x = 3;\n}": `line 2: "=" after "x"`,
		"library (a) { time_unit : \"1 furlong\"; cell (b) { } }": "not understood",
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// The models behave as the functions say; the flop's clock and clear are active low.
func TestModels(t *testing.T) {
	l, err := Parse([]byte(small))
	require.NoError(t, err)
	v, err := l.Models(map[string]bool{"NAND": true, "DFF": true})
	require.NoError(t, err)
	bench := `
module bench;
  reg a, b, ck, d, r; wire y, q; integer bad = 0;
  NAND n (.A(a), .B(b), .Y(y));
  DFF f (.D(d), .CK(ck), .R(r), .Q(q));
  initial begin
    {a, b} = 0;
    repeat (4) begin #1 if (y !== ~(a & b)) bad = bad + 1; {a, b} = {a, b} + 1; end
    r = 1; ck = 1; d = 1; #1 r = 0; #1 if (q !== 0) bad = bad + 1;
    r = 1; #1 ck = 0; #1 if (q !== 1) bad = bad + 1;
    d = 0; ck = 1; #1 if (q !== 1) bad = bad + 1;
    ck = 0; #1 if (q !== 0) bad = bad + 1;
    $display("bad=%0d", bad);
  end
endmodule
`
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "m.v"), filepath.Join(dir, "m.vvp")
	require.NoError(t, os.WriteFile(file, append(v, bench...), 0o644))
	_, err = tool.Run(context.Background(), tool.Command{Name: "iverilog", Args: []string{"-g2012", "-o", exe, file}, Timeout: time.Minute})
	require.NoError(t, err)
	res, err := tool.Run(context.Background(), tool.Command{Name: "vvp", Args: []string{"-n", exe}, Timeout: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, "bad=0", strings.TrimSpace(string(res.Stdout)))
}

// At another node loads and capacitances follow its inverter, and nothing else changes.
func TestSRAMOfAnotherNode(t *testing.T) {
	at := Typical()
	s, err := CompileSRAM(64, 8, SRAMOptions{Ports: OneR1W, Cell: DenseCell(), Corner: at})
	require.NoError(t, err)
	own := string(GenerateSRAM(at, []SRAM{s}))
	at.Inverter = C0
	assert.Equal(t, own, string(GenerateSRAM(at, []SRAM{s})), "the built-in library's inverter is the default")
	at.Inverter = 2 * C0
	other := string(GenerateSRAMLibrary("sram", "no basis", at, []SRAM{s}))
	assert.Contains(t, own, "capacitance : 1.800;")
	assert.Contains(t, own, "max_capacitance : 60.0;")
	assert.Contains(t, other, "capacitance : 3.600;")
	assert.Contains(t, other, "max_capacitance : 120.0;")
	assert.Contains(t, other, "library (sram)")
	assert.Contains(t, other, "/* no basis */")
}
