// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/mutate/mutant"
	"incforge/verify/rig"
)

// half is a module of which a parameter leaves a part unused, and another constant.
const half = `module half #(
    parameter WIDE = 0
) (
    input  wire       clk,
    input  wire [3:0] a,
    input  wire [3:0] b,
    output wire [3:0] y
);
    wire [3:0] sum = a + b;
    wire [3:0] off = WIDE != 0 ? a : 4'd0;
    wire       unused = &{1'b0, off};
    wire       on = WIDE != 0 && a == b;
    reg  [3:0] y_reg;
    assign y = y_reg;
    always @(posedge clk) begin
        y_reg <= on ? a - b : sum;
    end
endmodule
module top (
    input  wire       clk,
    input  wire [3:0] a,
    input  wire [3:0] b,
    output wire [3:0] y
);
    half u_half (.clk(clk), .a(a), .b(b), .y(y));
endmodule
`

func read(t *testing.T, text string) *mutant.Design {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.v"), []byte(text), 0o600))
	d, err := mutant.Read(dir, []string{"m.v"})
	require.NoError(t, err)
	return d
}

// What the configuration leaves unused or constant is proven to be; what can be seen is not.
func TestProve(t *testing.T) {
	t.Parallel()
	d := read(t, half)
	all := d.Mutants()
	proven, err := prove(t.Context(), []string{"m.v"}, "top", d, all)
	require.NoError(t, err)
	verdicts := map[string]bool{}
	for _, m := range all {
		verdicts[m.Before+" → "+m.After] = proven[m.Number] != ""
	}
	for change, equivalent := range map[string]bool{
		"a + b → a - b": false,
		"on ? a - b : sum → ((on ? a - b : sum) << 1) >> 1": false,
		"a == b → a != b":               true, // WIDE != 0 never holds
		"4'd0 → 4'd1":                   true, // nobody looks
		"&{1'b0, off} → |{1'b0, off}":   true,
		"WIDE != 0 && a == b → 1'b1":    false,
		"y_reg <= on ? a - b : sum; → ": false,
	} {
		got, there := verdicts[change]
		if assert.True(t, there, change) {
			assert.Equal(t, equivalent, got, change)
		}
	}
}

// sure is a module in which some conditions say the same twice, and two registers are never both high.
const sure = `module sure (
    input  wire       clk,
    input  wire       rst,
    input  wire       a,
    input  wire       b,
    output wire       y
);
    wire x = a && (a || b);
    reg  y_reg, left_reg, right_reg;
    reg  mem [0:1];
    reg  spare_reg;
    assign y = y_reg && a && !(left_reg && right_reg) && spare_reg;
    always @(posedge clk) begin
        if (a) mem[b] <= b && a;
        if (b) spare_reg <= mem[a];
        y_reg <= x != b;
        left_reg  <= a;
        right_reg <= !a;
        if (rst) begin
            left_reg  <= 1'b0;
            right_reg <= 1'b0;
        end
    end
endmodule
`

// What is the same in all states after a reset is proven to be; what is not stays.
func TestSame(t *testing.T) {
	t.Parallel()
	d := read(t, sure)
	all := d.Mutants()
	proven, err := same(t.Context(), []string{"m.v"}, "sure", d, all, 2)
	require.NoError(t, err)
	verdicts := map[string]bool{}
	for _, m := range all {
		verdicts[m.Before+" → "+m.After] = proven[m.Number] != ""
	}
	for change, equivalent := range map[string]bool{
		"a || b → 1'b1 && a":                       true,
		"a && (a || b) → 1'b1 && a":                true,
		"a || b → a && b":                          false,
		"a && (a || b) → 1'b1 && (a || b)":         false,
		"x != b → x == b":                          false,
		"y_reg <= x != b; → ":                      false,
		"b && a → 1'b1 && b":                       true,  // it is written while a is high
		"b && a → 1'b1 && a":                       false, // a memory holds something else then
		"left_reg && right_reg → 1'b1 && left_reg": false,
		"left_reg <= 1'b0; → ":                     true, // right_reg is reset, and what is left stands for a cycle
		"spare_reg <= mem[a]; → ":                  false,
	} {
		got, there := verdicts[change]
		if assert.True(t, there, change) {
			assert.Equal(t, equivalent, got, change)
		}
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	all := read(t, half).Mutants()
	require.Greater(t, len(all), 12)
	numbers := func(o Options) (ns []int) {
		drawn, err := draw(all, o)
		require.NoError(t, err)
		for _, m := range drawn {
			ns = append(ns, m.Number)
		}
		return ns
	}
	few, more := numbers(Options{Seed: 7, Count: 5}), numbers(Options{Seed: 7, Count: 9})
	assert.Len(t, few, 5)
	assert.Equal(t, few, more[:5])
	assert.NotEqual(t, few, numbers(Options{Seed: 8, Count: 5}))
	assert.Len(t, numbers(Options{}), len(all))
	assert.Equal(t, []int{3, 1}, numbers(Options{Only: []int{3, 1}}))
	for _, m := range numbers(Options{Block: "t*"}) {
		assert.Equal(t, "top", all[m-1].Module)
	}
	for want, o := range map[string]Options{"no block matches": {Block: "x"}, "there is no number": {Only: []int{1, len(all) + 1}}, "block pattern": {Block: "["},
		"operator \"none\"": {Operator: "none"}, "operator pattern": {Operator: "["}} {
		_, err := draw(all, o)
		assert.ErrorContains(t, err, want)
	}
}

// Scenarios come in the order of what they kill a second: of the block, if much is known of it.
func TestOrder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sub", "learned.json")
	e, err := LoadExperience(file)
	require.NoError(t, err)
	all := []rig.Scenario{{Name: "slow"}, {Name: "good"}, {Name: "quick"}}
	seconds := map[string]float64{"slow": 10, "good": 1, "quick": 0.5}
	names := func(block string) (out []string) {
		for _, s := range e.order(block, all, seconds) {
			out = append(out, s.Name)
		}
		return out
	}
	assert.Equal(t, []string{"quick", "good", "slow"}, names("a"), "without experience the quickest first")
	for range 20 {
		e.note("a", []string{"quick"}, "good")
	}
	for range 40 {
		e.note("b", []string{"quick", "good"}, "slow")
	}
	require.NoError(t, e.Save(file))
	reader, err := os.Open(file)
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, (&Experience{}).Save(file))
	old, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Contains(t, string(old), "quick", "who reads the file while it is replaced reads it whole")
	require.NoError(t, e.Save(file))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	e, err = LoadExperience(file)
	require.NoError(t, err)
	assert.Equal(t, []string{"good", "slow", "quick"}, names("a"))
	assert.Equal(t, []string{"slow", "good", "quick"}, names("b"))
}
