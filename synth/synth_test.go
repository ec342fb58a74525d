// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/clocked"
	"incforge/internal/tool"
	"incforge/synth/design"
	"incforge/synth/liberty"
	"incforge/synth/netlist"
	"incforge/synth/yosys"
)

const standin = "testdata/standin"

func TestRunGeneric28(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	m, err := Run(context.Background(), standin, Options{WorkDir: work})
	require.NoError(t, err)
	v := m.Metrics
	assert.Equal(t, "synth", m.Bench)
	assert.Equal(t, "standin", m.Config)
	assert.Equal(t, "standin_core", m.Top)

	// One macro of the model, dense because 700 MHz is its limit; the small memory is flops.
	macro, err := liberty.CompileSRAM(256, 64, liberty.SRAMOptions{Ports: liberty.OneR1W, Cell: liberty.DenseCell(), Corner: liberty.Typical(), MaxCycle: 1e6 / 700})
	require.NoError(t, err)
	assert.InDelta(t, macro.Area, v["synth__design__instance__area__macros"], 1e-3)
	assert.Equal(t, 1.0, v["synth__design__instance__count__macros"])
	// 2 + 72 + 32 + 73 registers, 16 x 8 bits and their output register.
	assert.Equal(t, 315.0, v["synth__design__instance__count__flops"])
	assert.Equal(t, 256.0*64+16*8, v["synth__memory__bits"])
	assert.InDelta(t, (256.0*64+16*8)/(2048*8), v["synth__memory__bits_per_payload_bit"], 1e-6)

	// The three areas and their relation.
	cells, macros := v["synth__design__instance__area__stdcell"], v["synth__design__instance__area__macros"]
	assert.InDelta(t, cells+macros, v["synth__design__instance__area"], 1e-3)
	assert.InDelta(t, cells*1.08/0.75+macros/0.95, v["synth__design__instance__area__placed"], 1e-3)
	assert.InDelta(t, cells/0.378, v["synth__design__nand2_equivalents"], 0.01)
	// 315 flops of 5.33 and at least a gate for each.
	assert.Greater(t, v["synth__design__nand2_equivalents"], 315*(5.33+1))
	assert.Less(t, v["synth__design__nand2_equivalents"], 8000.0)

	assert.GreaterOrEqual(t, v["synth__timing__setup__ws"], 0.0, "700 MHz is met")
	assert.GreaterOrEqual(t, v["synth__timing__fmax__mhz"], 700.0)
	assert.Zero(t, v["synth__timing__setup__tns"])
	// The critical path holds at least the macro's access with the derate.
	assert.Greater(t, m.CriticalPath.DelayPS, macro.Access*Derate)
	assert.Contains(t, m.CriticalPath.Start, "u_payload")
	assert.Greater(t, m.CriticalPath.Stages, 5)

	area := map[string]ModuleArea{}
	for _, a := range m.Modules {
		area[a.Module] = a
		assert.InDelta(t, a.Area*float64(a.Instances), a.Total, 1e-6)
	}
	assert.InDelta(t, v["synth__design__instance__area"], area["standin_core"].Area, 1e-3)
	own := 0.0
	for _, a := range m.Modules {
		own += a.Own * float64(a.Instances)
	}
	assert.InDelta(t, v["synth__design__instance__area"], own, 1e-3, "the modules' own areas add up")
	assert.Equal(t, 4, strings.Count(strings.Join(modules(m), " "), "standin_reg__"))

	assert.Equal(t, []MemoryArea{
		{Words: 16, Bits: 8, Ports: "1r1w", Listed: 1, Instances: 1, Storage: "flops"},
		{Words: 256, Bits: 64, Ports: "1r1w", Listed: 1, Instances: 1, Storage: "macro", Shape: "1 x 1 macros 256x64 mux 2, dense",
			Area: macro.Area, AccessNS: macro.Access / 1e3, CycleNS: macro.Cycle / 1e3},
	}, m.Memories)
	assert.Empty(t, m.Warnings)
	for _, e := range m.Estimates {
		assert.Less(t, e.Low, e.Value, e.Key)
		assert.Greater(t, e.High, e.Value, e.Key)
		assert.NotEmpty(t, e.Basis)
	}
	assert.False(t, m.Paper.Comparable)
	assert.NotEmpty(t, m.Tools["yosys"])
	assert.NotEmpty(t, m.Tools["opensta"])

	var b bytes.Buffer
	require.NoError(t, m.WriteJSON(&b))
	var back Metrics
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	assert.Empty(t, cmp.Diff(*m, back))
	table := m.Table()
	assert.Contains(t, table, "not the same configuration: 2 lanes")
	assert.Nil(t, m.Lanes)
	assert.NotContains(t, m.Metrics, "synth__lane__area")
	assert.Contains(t, table, "256 x 64")
	assert.FileExists(t, filepath.Join(work, "net.v"))
}

func modules(m *Metrics) []string {
	var names []string
	for _, a := range m.Modules {
		names = append(names, a.Module)
	}
	return names
}

// The slow corner is slower by the FO4's ratio, within what another mapping
// does; an impossible clock is reported, not hidden.
func TestRunSlowMissesTheClock(t *testing.T) {
	t.Parallel()
	m, err := Run(context.Background(), standin, Options{Corner: "slow", ClockMHz: 2500, Script: ScriptDefault, BitCell: "high-current", Flatten: true})
	require.NoError(t, err)
	assert.Equal(t, "slow", m.Corner)
	assert.Less(t, m.Metrics["synth__timing__setup__ws"], 0.0)
	assert.Less(t, m.Metrics["synth__timing__setup__tns"], m.Metrics["synth__timing__setup__ws"]+1e-9)
	assert.Less(t, m.Metrics["synth__timing__fmax__mhz"], 900.0)
	assert.Contains(t, strings.Join(m.Warnings, "\n"), "an SRAM macro needs")
	assert.Contains(t, m.Paper.Because, "the clock of 2500 MHz is not met")
	assert.True(t, m.Clock.Missed())
	assert.Regexp(t, `2500 .* \d+\.\d ! `, m.Table(), "a missed clock is marked")
	// Flat: one module and what is in it.
	assert.Equal(t, []string{"standin_core"}, modules(m))
	assert.Contains(t, m.Memories[1].Shape, "high-current")
}

// The built-in library, written to a file and compressed, is a library like any
// other: its FO4 is measured, its wire load is left out.
func TestRunLibertyFile(t *testing.T) {
	t.Parallel()
	text, err := liberty.Generate(liberty.Options{Corner: liberty.Slow(), WireLoad: liberty.WireLoad})
	require.NoError(t, err)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	file := filepath.Join(t.TempDir(), "cells.lib.gz")
	require.NoError(t, os.WriteFile(file, z.Bytes(), 0o644))
	work := t.TempDir()
	m, err := Run(context.Background(), standin, Options{Tech: file, ClockMHz: 200, Script: ScriptArea, WorkDir: work})
	require.NoError(t, err)
	assert.InEpsilon(t, 0.027, m.Metrics["synth__timing__fo4"], 0.02)
	assert.Equal(t, 315.0, m.Metrics["synth__design__instance__count__flops"])
	assert.Contains(t, m.Basis, "wire-free")
	assert.Contains(t, m.Paper.Because, "technology "+file+", the paper's is 28 nm")
	cells, err := os.ReadFile(filepath.Join(work, "cells.lib"))
	require.NoError(t, err)
	assert.NotContains(t, string(cells), "default_wire_load :")
}

func TestRunOSU018(t *testing.T) {
	m, err := Run(context.Background(), standin, Options{Tech: OSU018, ClockMHz: 50})
	var missing *tool.NotFoundError
	if _, statErr := os.Stat(osu018File); statErr != nil {
		require.ErrorAs(t, err, &missing)
		assert.Contains(t, err.Error(), "qflow-tech-osu018")
		return
	}
	require.NoError(t, err)
	assert.InDelta(t, 24, m.Metrics["synth__design__nand2__area"], 1e-6)
	assert.InEpsilon(t, 0.0992, m.Metrics["synth__timing__fo4"], 0.03)
}

// A cell whose area is unknown must not vanish from the sum.
func TestCellsWithoutAreaAreAnError(t *testing.T) {
	t.Parallel()
	f, done, err := start(context.Background(), standin, Options{})
	require.NoError(t, err)
	defer done()
	require.NoError(t, f.elaborate(context.Background()))
	gates := &yosys.Stat{Modules: map[string]map[string]int{}}
	for _, p := range f.parts {
		text, err := f.shop.gatesOf(context.Background(), p)
		require.NoError(t, err)
		m, err := netlist.Parse(text, p.id, func(typ string) string {
			if name, ok := f.names[typ]; ok {
				return name
			}
			return typ
		})
		require.NoError(t, err)
		gates.Modules[p.name] = m.Count()
	}
	_, err = f.measure(gates, &timing{})
	assert.ErrorContains(t, err, "cells without an area")
	assert.ErrorContains(t, err, "$_XOR_ in standin_parity")
}

// A memory that the manifest does not list must stop the flow, not become flops.
func TestUnlistedMemoryIsAnError(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(standin)))
	file := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte(`"words": 256`), []byte(`"words": 512`), 1), 0o644))
	_, err = Run(context.Background(), dir, Options{})
	assert.ErrorContains(t, err, design.RAM+unlisted)
}

// onePort is a design of two memories of one size, u_one with one port and u_two with two.
func onePort(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"schema": 1, "name": "ports", "clock": {"port": "clk", "reset": "rst", "mhz": 500},
			"params": {"memory": "auto"}, "tops": {"core": {"module": "ports_core", "ports": []}},
			"files": ["inc_ram_1r1w.v", "inc_ram_1rw.v", "ports_core.v"], "memories": [
			{"module": "inc_ram_1rw", "path": "u_one", "words": 512, "bits": 64, "role": "payload", "ports": 1},
			{"module": "inc_ram_1r1w", "path": "u_two", "words": 512, "bits": 64, "role": "replay", "ports": 2}]}`,
		"ports_core.v": `module ports_core (input wire clk, input wire en, input wire we, input wire [8:0] addr, input wire [63:0] wdata,
				output wire [63:0] one, output wire [63:0] two);
			inc_ram_1rw #(.WORDS(512), .BITS(64), .ADDR_W(9)) u_one (.clk(clk), .en(en), .we(we), .addr(addr), .wdata(wdata), .rdata(one));
			inc_ram_1r1w #(.WORDS(512), .BITS(64), .ADDR_W(9)) u_two (.clk(clk), .we(en && we), .waddr(addr), .wdata(wdata),
				.re(en && !we), .raddr(addr), .rdata(two));
			endmodule`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, name := range []string{"inc_ram_1r1w.v", "inc_ram_1rw.v"} {
		text, err := os.ReadFile("../hdl/ram/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return dir
}

// TestOnePort: a memory with one port costs less than one of the same size with two, and a netlist has both.
func TestOnePort(t *testing.T) {
	t.Parallel()
	dir := onePort(t)
	m, err := Run(context.Background(), dir, Options{})
	require.NoError(t, err)
	require.Empty(t, m.Warnings)
	require.Len(t, m.Memories, 2)
	for i, ports := range []liberty.SRAMPorts{liberty.OneR1W, liberty.OneRW} {
		macro, err := liberty.CompileSRAM(512, 64, liberty.SRAMOptions{Ports: ports, Cell: liberty.DenseCell(), Corner: liberty.Typical(), MaxCycle: 2000})
		require.NoError(t, err)
		assert.Equal(t, ports.String(), m.Memories[i].Ports)
		assert.Equal(t, 1, m.Memories[i].Instances)
		assert.InDelta(t, macro.Area+macro.BankMuxArea, m.Memories[i].Area, 1e-3)
	}
	assert.Less(t, m.Memories[1].Area, 0.7*m.Memories[0].Area)
	assert.InDelta(t, m.Memories[0].Area+m.Memories[1].Area, m.Metrics["synth__design__instance__area__macros"], 1e-3)

	const bench = `module bench;
		reg clk = 0, en = 0, we = 0; reg [8:0] addr = 0; reg [63:0] wdata = 0; wire [63:0] one, two;
		ports_core dut (.clk(clk), .en(en), .we(we), .addr(addr), .wdata(wdata), .one(one), .two(two));
		always #5 clk = ~clk;
		integer i, same = 0, seed = 7;
		initial begin
			for (i = 0; i < 2000; i = i + 1) begin
				en = $random(seed); we = i < 32 || $random(seed) % 2 == 0; addr = i < 32 ? i : $random(seed) & 31; wdata = {$random(seed), $random(seed)};
				en = en || i < 32;
				@(negedge clk);
				if (i > 40 && one === two && ^one !== 1'bx) same = same + 1;
			end
			$display("same %0d", same);
			$finish;
		end
		endmodule`
	for _, mapped := range []bool{false, true} {
		out := t.TempDir()
		file, err := Netlist(context.Background(), dir, NetlistOptions{Mapped: mapped, OutDir: out})
		require.NoError(t, err)
		tb, exe := filepath.Join(out, "bench.v"), filepath.Join(out, "sim.vvp")
		require.NoError(t, os.WriteFile(tb, []byte(bench), 0o644))
		_, err = tool.Run(context.Background(), tool.Command{Name: "iverilog", Args: []string{"-g2012", "-s", "bench", "-o", exe, tb, file}, Timeout: time.Minute})
		require.NoError(t, err)
		res, err := tool.Run(context.Background(), tool.Command{Name: "vvp", Args: []string{"-n", exe}, Timeout: time.Minute})
		require.NoError(t, err)
		assert.Contains(t, string(res.Stdout), "same 1959\n", "mapped %v", mapped)
	}
}

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"unknown corner":       {Corner: "fast"},
		"a library file is":    {Corner: "slow", Tech: "x.lib"},
		"generic28, osu018 or": {Tech: "x.lib"},
		"unknown ABC script":   {Script: "m99"},
		"unknown memory cell":  {BitCell: "tiny"},
		`no top "nothing"`:     {Top: "nothing"},
		"clock of -1 MHz":      {ClockMHz: -1},
	} {
		_, err := Run(context.Background(), standin, o)
		assert.ErrorContains(t, err, want)
	}
	_, err := Run(context.Background(), t.TempDir(), Options{})
	assert.ErrorContains(t, err, "manifest.json")
}

func TestComparable(t *testing.T) {
	tech, err := builtIn("")
	require.NoError(t, err)
	slow, err := builtIn("slow")
	require.NoError(t, err)
	same := func() (*flow, *Metrics) {
		return &flow{o: Options{ClockMHz: 1000}, t: tech, top: "c", d: &design.Design{Manifest: contract.Manifest{Tops: map[string]contract.Top{"core": {Module: "c"}}, Params: contract.Params{
				Lanes: 512, DTypes: []string{"FP32", "INT32"}, Ops: []string{"SUM"}, Accumulate: "reproducible", BufferBytes: 1 << 20, BusBytes: 1024, ECC: true}}}},
			&Metrics{Clock: clocked.Clock{AskedMHz: 1000, FoundMHz: 1010}, Metrics: map[string]float64{"synth__design__instance__area": 3.1e6}}
	}
	f, m := same()
	m.compare(f)
	require.Empty(t, m.Paper.Because)
	assert.InDelta(t, 3.1/4.89, m.Paper.Ratio, 1e-9)
	assert.Contains(t, m.Table(), "(28 nm, basis unstated); raw here 3.10 mm2, 0.63 of it")

	for _, c := range []struct {
		name   string
		change func(f *flow)
		want   []string
	}{
		{"more types, operations and bus are more hardware", func(f *flow) {
			f.d.Params.DTypes, f.d.Params.Ops = []string{"FP32", "FP16", "BF16", "INT32"}, []string{"SUM", "MIN", "MAX"}
		}, nil},
		{"256 lanes in place on a bus that a beat crosses in two cycles", func(f *flow) {
			f.d.Params.Lanes, f.d.Params.Accumulate = 256, "in_place"
		}, []string{"256 lanes, the paper has 512 FP32 and 512 UINT"}},
		{"few pairs a cycle", func(f *flow) {
			f.d.Params.Lanes = 128
		}, []string{"128 lanes, the paper has 512 FP32 and 512 UINT", "2048 bits a cycle, 2048 Gbit/s at 1010 MHz found, 1000 asked; the paper has 3,200 Gb/s"}},
		{"narrow bus", func(f *flow) { f.d.Params.BusBytes = 256 }, []string{"2048 bits a cycle, 2048 Gbit/s at 1010 MHz found, 1000 asked; the paper has 3,200 Gb/s"}},
		{"slow clock", func(f *flow) { f.o.ClockMHz = 300 }, []string{"8192 bits a cycle, 2457.6 Gbit/s at 1010 MHz found, 300 asked; the paper has 3,200 Gb/s"}},
		{"no integers", func(f *flow) { f.d.Params.DTypes = []string{"FP32", "FP16"} }, []string{"no INT32 (types FP32, FP16), the paper has FP32 and UINT"}},
		{"no FP32", func(f *flow) { f.d.Params.DTypes = []string{"INT32"} }, []string{"no FP32 (types INT32), the paper has FP32 and UINT"}},
		{"no sums", func(f *flow) { f.d.Params.Ops = []string{"MIN"} }, []string{"no SUM (operations MIN)"}},
		{"small buffer", func(f *flow) { f.d.Params.BufferBytes = 1 << 19 }, []string{"512 KiB of payload, the paper has 1 MB"}},
		{"no ecc", func(f *flow) { f.d.Params.ECC = false }, []string{"no ecc; the paper does not say, a chip's buffer has it"}},
		{"clock missed", func(f *flow) { f.o.ClockMHz = 1020 }, []string{"the clock of 1020 MHz is not met"}},
		{"slow corner", func(f *flow) { f.t = slow }, []string{"slow corner"}},
		{"a part", func(f *flow) { f.top = "inc_lane" }, []string{"inc_lane is not the core"}},
	} {
		f, m := same()
		c.change(f)
		m.Clock.AskedMHz = f.o.ClockMHz
		m.compare(f)
		assert.Equal(t, c.want, m.Paper.Because, c.name)
		assert.Equal(t, c.want == nil, m.Paper.Comparable, c.name)
	}
}

const bench = `
module bench;
  reg clk = 0, rst = 1, v = 0, first = 0; reg [7:0] slot = 0; reg [63:0] data = 0;
  wire ov; wire [63:0] od; wire [7:0] oc; wire [31:0] crc;
  standin_core dut (.clk(clk), .rst(rst), .in_valid(v), .in_first(first), .in_slot(slot), .in_data(data),
                    .out_valid(ov), .out_data(od), .out_count(oc), .out_crc(crc));
  always #5 clk = ~clk;
  integer i, seed = 7;
  initial begin
    repeat (3) @(negedge clk);
    rst = 0;
    // Every slot is written before it is added to.
    for (i = 0; i < 1200; i = i + 1) begin
      v = i < 256 || $random(seed) % 4 != 0;
      first = i < 256 || $random(seed) % 8 == 0;
      slot = i < 256 ? i : $random(seed);
      data = {$random(seed), $random(seed)};
      @(negedge clk);
      $display("%b %h %h %h", ov, ov ? od : 64'h0, ov ? oc : 8'h0, crc);
    end
    $finish;
  end
endmodule
`

// The netlists do what the RTL does, cycle by cycle, and Verilator takes them.
func TestNetlistsBehaveAsTheRTL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := filepath.Join(dir, "bench.v")
	require.NoError(t, os.WriteFile(tb, []byte(bench), 0o644))
	simulate := func(files ...string) string {
		exe := filepath.Join(dir, "sim.vvp")
		_, err := tool.Run(context.Background(), tool.Command{Name: "iverilog", Args: append([]string{"-g2012", "-s", "bench", "-o", exe, tb}, files...), Timeout: time.Minute})
		require.NoError(t, err)
		res, err := tool.Run(context.Background(), tool.Command{Name: "vvp", Args: []string{"-n", exe}, Timeout: time.Minute})
		require.NoError(t, err)
		return string(res.Stdout)
	}
	d, err := design.Load(standin)
	require.NoError(t, err)
	want := simulate(d.Sources()...)
	require.Equal(t, 1200, strings.Count(want, "\n"))
	require.NotContains(t, want, "x")
	for _, mapped := range []bool{false, true} {
		o := NetlistOptions{Mapped: mapped, OutDir: dir}
		file, err := Netlist(context.Background(), standin, o)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(strings.Split(want, "\n"), strings.Split(simulate(file), "\n")), "mapped %v", mapped)
		_, err = tool.Run(context.Background(), tool.Command{Name: "verilator", Args: []string{"--lint-only", "--top-module", "standin_core", file}, Timeout: time.Minute})
		assert.NoError(t, err)

		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Regexp(t, regexp.MustCompile(`(?m)^module standin_core\(`), string(text))
		assert.Equal(t, mapped, bytes.Contains(text, []byte("NAND2_X1")))
		// The second call takes the file as it is.
		before, err := os.Stat(file)
		require.NoError(t, err)
		again, err := Netlist(context.Background(), standin, o)
		require.NoError(t, err)
		after, err := os.Stat(again)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after))
	}
}
