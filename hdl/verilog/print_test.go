// SPDX-License-Identifier: Apache-2.0

package verilog_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// golden compares text with testdata/golden/NAME.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update once")
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func TestPrintGolden(t *testing.T) {
	t.Parallel()
	p := verilog.Printer{Command: "incforge gen t"}
	for _, m := range []*graph.Module{core(t, "t_core", 64), top(t)} {
		text, err := p.Print(m)
		require.NoError(t, err)
		golden(t, m.Name+".v", text)
		for i, line := range strings.Split(string(text), "\n") {
			assert.Equal(t, strings.TrimRight(line, " "), line, "line %d ends in blanks", i+1)
			assert.LessOrEqual(t, len(line), 100, "line %d", i+1)
		}
	}
}

func TestSameModuleSameBytes(t *testing.T) {
	t.Parallel()
	a, err := verilog.Collect(top(t))
	require.NoError(t, err)
	b, err := verilog.Collect(top(t))
	require.NoError(t, err)
	require.Equal(t, a, b)
}

// TestLint reads the printed files with the real tools, at several widths.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, m := range []*graph.Module{top(t), core(t, "t_core8", 32), core(t, "t_core512", 512)} {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files, err := verilog.Collect(m)
			require.NoError(t, err)
			require.NoError(t, files.Write(dir))
			lint(t, dir, m.Name, files.Paths())
		})
	}
}

func lint(t *testing.T, dir, top string, paths []string) {
	t.Helper()
	run := func(name string, args ...string) {
		res, err := tool.Run(testcost.Context(t), tool.Command{Name: name, Args: args, Dir: dir})
		require.NoError(t, err)
		assert.NotContains(t, strings.ToLower(string(res.Output)), "warning", name)
	}
	run("verilator", append([]string{"--lint-only", "-Wall", "--top-module", top}, paths...)...)
	run("iverilog", append([]string{"-g2005", "-Wall", "-t", "null", "-s", top}, paths...)...)
	run("yosys", "-q", "-p", "read_verilog "+strings.Join(paths, " ")+"; hierarchy -check -top "+top+
		"; proc; check -assert; select -assert-none t:$dlatch t:$_DLATCH*")
}

// TestLintSeesMistakes: the gates above must be able to fail.
func TestLintSeesMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := verilog.Collect(top(t))
	require.NoError(t, err)
	for i, f := range files {
		if f.Path == "rtl/t_core.v" {
			broken := strings.Replace(string(f.Data), "(table_seen[7:0])", "(table_seen[8:0])", 1)
			broken = strings.Replace(broken, "(seen[7:0])", "(seen[8:0])", 1)
			require.NotEqual(t, string(f.Data), broken)
			files[i].Data = []byte(broken)
		}
	}
	require.NoError(t, files.Write(dir))
	_, err = tool.Run(testcost.Context(t), tool.Command{Name: "verilator", Dir: dir,
		Args: append([]string{"--lint-only", "-Wall", "--top-module", "t_top"}, files.Paths()...)})
	require.ErrorContains(t, err, "WIDTH")
}

func TestCollect(t *testing.T) {
	t.Parallel()
	files, err := verilog.Collect(top(t))
	require.NoError(t, err)
	require.Equal(t, []string{"rtl/t_reg.v", "rtl/t_header.v", "rtl/t_ram.v", "rtl/t_table.v", "rtl/t_flip.v", "rtl/t_core.v", "rtl/t_top.v"}, files.Paths())
	require.Equal(t, strings.Join(files.Paths(), "\n")+"\n", string(verilog.FileList(files)))
	require.Len(t, files.Map(), len(files))
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	build := func(a, b *graph.Module) *graph.Module {
		c := graph.NewComposite("t_pair", "two words turned")
		for i, m := range []*graph.Module{a, b} {
			inst := c.Instance([]string{"u_a", "u_b"}[i], m)
			c.Connect(c.Input([]string{"a_in", "b_in"}[i], 8), inst.Pin("in_word"))
			c.Connect(inst.Pin("out_word"), c.Output([]string{"a_out", "b_out"}[i], 8))
		}
		m, err := c.Build()
		require.NoError(t, err)
		return m
	}
	other := *flipModule(t, 8)
	other.Source = append([]byte("// changed\n"), other.Source...)
	_, err := verilog.Collect(build(flipModule(t, 8), &other))
	require.EqualError(t, err, "collect t_flip: two different texts for file rtl/t_flip.v")

	moved := *flipModule(t, 8)
	moved.File = "other.v"
	_, err = verilog.Collect(build(flipModule(t, 8), &moved))
	require.EqualError(t, err, "collect t_flip: module is in two files, rtl/t_flip.v and rtl/other.v")

	_, err = verilog.Print(&graph.Module{Name: "wire"})
	require.ErrorContains(t, err, `"wire" is a Verilog keyword`)
	_, err = verilog.Print(nil)
	require.EqualError(t, err, "print: no module")
}

func TestManifestParts(t *testing.T) {
	t.Parallel()
	m := top(t)
	require.Equal(t, contract.Port{Name: "seen", Dir: "out", Width: 32}, verilog.Ports(m)[len(m.Ports)-1])
	require.Equal(t, []contract.Memory{
		{Module: "t_ram", Path: "u_first.u_table.u_counts", Words: 16, Bits: 32, Role: "counts", Ports: 2},
		{Module: "t_ram", Path: "u_second.u_table.u_counts", Words: 16, Bits: 32, Role: "counts", Ports: 2},
	}, verilog.Memories(m))
	require.NotNil(t, verilog.Memories(regModule(t, 8)), "an empty list is [] in JSON")
}

// TestNames: nets never collide with ports, instances or each other.
func TestNames(t *testing.T) {
	t.Parallel()
	c := graph.NewComposite("t_names", "names that want to collide")
	in := c.Input("a_out_word", 8)
	a, b := c.Instance("u_a", flipModule(t, 8)), c.Instance("a", flipModule(t, 8))
	c.Connect(in, a.Pin("in_word"))
	c.Connect(a.Pin("out_word"), b.Pin("in_word"))
	c.Connect(b.Pin("out_word").Slice(7, 4), c.Output("x", 4))
	c.Open(b.Pin("out_word").Slice(3, 0), "the upper half is enough")
	m, err := c.Build()
	require.NoError(t, err)
	text, err := verilog.Print(m)
	require.NoError(t, err)
	for _, want := range []string{
		"wire [7:0] a_out_word_2;", "wire [7:0] a_out_word_3;", ".in_word  (a_out_word_2)", "assign x = a_out_word_3[7:4];",
	} {
		assert.Contains(t, string(text), want)
	}
	dir := t.TempDir()
	files, err := verilog.Collect(m)
	require.NoError(t, err)
	require.NoError(t, files.Write(dir))
	lint(t, dir, m.Name, files.Paths())
}

func TestConstantsAndParameters(t *testing.T) {
	t.Parallel()
	c := graph.NewComposite("t_const", "literals")
	wide := flipModule(t, 8)
	wide.Params = append(wide.Params, graph.Param{Name: "BIG", Value: 1 << 40}, graph.Param{Name: "NEG", Value: -3})
	u := c.Instance("u_flip", wide)
	c.Tie(u.Pin("in_word"), 0xFF)
	c.Connect(u.Pin("out_word"), c.Output("w", 8))
	c.Connect(graph.Const(1, 1), c.Output("one", 1))
	c.Connect(graph.Const(48, 1<<40), c.Output("big", 48))
	c.Connect(graph.Concat(graph.Const(70, 1), graph.Const(2, 3)).Slice(71, 1), c.Output("wide", 71))
	m, err := c.Build()
	require.NoError(t, err)
	text, err := verilog.Print(m)
	require.NoError(t, err)
	for _, want := range []string{
		".BIG   (64'd1099511627776)", ".NEG   (-3)", ".in_word  (8'd255)", "assign one = 1'b1;",
		"assign big = 48'h10000000000;", "assign wide = {70'd1, 1'b1};",
	} {
		assert.Contains(t, string(text), want)
	}
}
