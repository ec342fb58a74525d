// SPDX-License-Identifier: Apache-2.0

package reuse

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/verilog"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

func generated(t *testing.T, name string, sets ...string) *rtlgen.Design {
	t.Helper()
	p, err := params.Preset(name, sets...)
	require.NoError(t, err)
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	return d
}

// TestReuse: Mode III is Mode II's modules but for few: of every pair of presets that differ in the mode alone at least nine tenths, in modules
// and in lines.
func TestReuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		sets     []string
	}{{"mini", "mini3", nil}, {"fpga100g", "fpga100g3", nil}, {"trio", "trio3", []string{"accumulate=reproducible", "buffer_bytes=4096"}}} {
		from, in := generated(t, c.name, c.sets...), generated(t, c.in)
		p := in.Params
		p.Name, p.Mode, p.HopRTTNS = from.Params.Name, 2, 0
		require.Equal(t, from.Params, p, "%s and %s are to differ in the mode alone", c.name, c.in)
		r := Of(from, in)
		t.Log(r.Text())
		assert.GreaterOrEqual(t, r.ModuleShare(), 0.9, r.Text())
		assert.GreaterOrEqual(t, r.LineShare(), 0.9, r.Text())
		assert.NotEmpty(t, r.Added, "Mode III has something of its own")
		assert.NotEmpty(t, r.Dropped)

		same := Of(from, from)
		assert.Equal(t, []int{same.Modules, same.Lines}, []int{same.SameModules, same.SameLines})
		assert.Empty(t, append(append(same.Changed, same.Dropped...), same.Added...))
	}
}

// TestReuseOfMessages: of Mode I's lines at least seven tenths are Mode III's unchanged, and it lacks none that another mode could share but those of what
// it does in another way.
func TestReuseOfMessages(t *testing.T) {
	t.Parallel()
	r := Of(generated(t, "mini1"), generated(t, "mini3", "in_band=false", "buffer_bytes=32768"))
	t.Log(r.Text())
	assert.GreaterOrEqual(t, r.ModuleShare(), 0.8, r.Text())
	assert.GreaterOrEqual(t, r.LineShare(), 0.7, r.Text())
	assert.Empty(t, r.Changed)
	assert.Equal(t, []string{"inc_check_pipe", "inc_send_ack", "inc_start_turn"}, r.Added)
}

// TestReuseAmong: the three modes in one table. What two designs share is the same from either side, and what all share no more than any two do;
// of every mode's lines more are common to all three than of the paper's software, 61 %.
func TestReuseAmong(t *testing.T) {
	t.Parallel()
	table := Among(generated(t, "mini"), generated(t, "mini3"), generated(t, "mini1"))
	t.Log(table.Text())
	require.Equal(t, []string{"mini", "mini3", "mini1"}, table.Designs)
	lines := 0
	for i, row := range table.Pairs {
		for k, r := range row {
			assert.Equal(t, []int{r.SameModules, r.SameLines}, []int{table.Pairs[k][i].SameModules, table.Pairs[k][i].SameLines}, "%s and %s", r.From, r.In)
			assert.LessOrEqual(t, table.CommonLines, r.SameLines)
			assert.Empty(t, r.Changed)
		}
		assert.Equal(t, row[i].Lines, row[i].SameLines)
		assert.Greater(t, share(table.CommonLines, row[i].Lines), 0.61, "of %s", row[i].From)
		lines += row[i].Lines
	}
	pairs := table.Pairs[0][1].SameLines + table.Pairs[0][2].SameLines + table.Pairs[1][2].SameLines
	assert.Equal(t, lines-pairs+table.CommonLines, table.AllLines, "each line that some have, once")
}

// TestReuseCounts works a small case out by hand.
func TestReuseCounts(t *testing.T) {
	t.Parallel()
	design := func(files ...verilog.File) *rtlgen.Design {
		d := generated(t, "mini")
		return &rtlgen.Design{Params: d.Params, Core: d.Core, Switch: d.Switch, Files: files}
	}
	file := func(name, text string) verilog.File { return verilog.File{Path: "rtl/" + name, Data: []byte(text)} }
	r := Of(
		design(file("mini_core.v", "x"), file("a.v", "// c\nmodule a;\n\n  /* b */ wire w; // d\n/*\n x\n*/ endmodule\n"), file("b.v", "b\nb / b\n"), file("c.v", "c\n"),
			verilog.File{Path: "files.f", Data: []byte("x")}),
		design(file("mini_core.v", "y"), file("a.v", "// c\nmodule a;\n\n  /* b */ wire w; // d\n/*\n x\n*/ endmodule\n"), file("b.v", "b\nb\n"), file("e.v", "e\ne\n")))
	assert.Equal(t, Pair{From: "mini", In: "mini", Modules: 3, Lines: 6, SameModules: 1, SameLines: 3, Changed: []string{"b"}, Dropped: []string{"c"},
		Added: []string{"e"}, AddedLines: 2}, r)
	assert.InDelta(t, 0.5, r.LineShare(), 0)
	assert.Zero(t, Pair{}.LineShare())
	figures, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(figures), `"from":"mini","in":"mini","modules":3,"lines":6,"same_modules":1,`)
	assert.Contains(t, string(figures), `,"line_share":0.5}`)
}
