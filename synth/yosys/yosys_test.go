// SPDX-License-Identifier: Apache-2.0

package yosys

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const source = `
module leaf #(parameter W = 3) (input wire [W-1:0] a, output wire y); assign y = ^a; endmodule
module mid (input wire [8:0] a, output wire y);
  wire p, q; leaf #(.W(4)) u (.a(a[3:0]), .y(p)); leaf #(.W(5)) v (.a(a[8:4]), .y(q)); assign y = p & q;
endmodule
module top (input wire [17:0] a, output wire y);
  wire p, q; mid m0 (.a(a[8:0]), .y(p)); mid m1 (.a(a[17:9]), .y(q)); assign y = p | q;
endmodule
`

// From Verilog to counts, through what Yosys really prints.
func TestRunStatRename(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.v"), []byte(source), 0o644))
	require.NoError(t, Run(ctx, dir, "one", []string{"read_verilog -defer t.v", "synth -noabc -top top", "tee -q -o s.json stat -json", "write_rtlil t.il"}, time.Minute))
	stat, err := ReadStat(filepath.Join(dir, "s.json"))
	require.NoError(t, err)
	var modules []string
	for m := range stat.Modules {
		modules = append(modules, m)
	}
	names := ReadableNames(modules)
	rtlil, err := os.ReadFile(filepath.Join(dir, "t.il"))
	require.NoError(t, err)
	renamed := Rename(rtlil, names)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "r.il"), renamed, 0o644))
	require.NoError(t, Run(ctx, dir, "two", []string{"read_rtlil r.il", "hierarchy -check -top top", "tee -q -o s.json stat -json"}, time.Minute))
	stat, err = ReadStat(filepath.Join(dir, "s.json"))
	require.NoError(t, err)
	totals, err := stat.Hierarchy("top")
	require.NoError(t, err)
	got := map[string]int{}
	for m, total := range totals {
		got[m] = total.Instances
	}
	assert.Equal(t, map[string]int{"top": 1, "mid": 2, "leaf__1": 2, "leaf__2": 2}, got)
	// Three and four exclusive ors in each pair of leaves.
	assert.Equal(t, map[string]int{"$_XOR_": 14, "$_AND_": 2, "$_OR_": 1}, totals["top"].All)
	assert.Equal(t, map[string]int{"$_OR_": 1}, totals["top"].Own)

	tree := Instances(renamed)
	assert.Equal(t, "leaf__2", tree.Module("top", []string{"m1", "v"}))
	assert.Equal(t, "mid", tree.Module("top", []string{"m0", "no_instance"}))

	assert.ErrorContains(t, Run(ctx, dir, "bad", []string{"read_verilog nothing.v"}, time.Minute), "step bad")
	v, err := Version(ctx)
	require.NoError(t, err)
	assert.Regexp(t, `^Yosys \d`, v)
}

func TestHierarchyErrors(t *testing.T) {
	s := &Stat{Modules: map[string]map[string]int{"a": {"b": 1}, "b": {"a": 1}}}
	_, err := s.Hierarchy("a")
	assert.ErrorContains(t, err, "contains itself")
	_, err = s.Hierarchy("c")
	assert.ErrorContains(t, err, "no module c")
}

func TestReadableNames(t *testing.T) {
	assert.Equal(t, map[string]string{
		`$paramod$00ff\fifo`:            "fifo__1",
		`$paramod\fifo\W=s32'00000001`:  "fifo__2",
		`$paramod\skid\WIDTH=s32'00001`: "skid_",
	}, ReadableNames([]string{`$paramod\fifo\W=s32'00000001`, "top", "skid", `$paramod$00ff\fifo`, `$paramod\skid\WIDTH=s32'00001`}))
}
