// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/splitmix"
	"incforge/mutate/mutant"
	"incforge/sim"
)

// design writes one file and reads it.
func design(t *testing.T, text string) *mutant.Design {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.v"), []byte(text), 0o600))
	d, err := mutant.Read(dir, []string{"m.v"})
	require.NoError(t, err)
	return d
}

// short is a mutant in a line.
func short(m mutant.Mutant) string {
	return fmt.Sprintf("%s: %s → %s", m.Operator, m.Before, m.After)
}

// of are the mutants of a module with these ports and this body.
func of(t *testing.T, body string) (all []string) {
	t.Helper()
	head := "module m #(\n    parameter W = 4, N = 2\n) (\n    input wire clk, rst,\n    input wire [W-1:0] a, b,\n    input wire c, e, f\n);\n"
	for _, m := range design(t, head+body+"\nendmodule\n").Mutants() {
		all = append(all, short(m))
	}
	slices.Sort(all)
	return all
}

func TestOperators(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a condition": {"wire x = c;", []string{"width: c → ((c) << 1) >> 1"}},
		"a comparison": {"wire x = a < b;", []string{"comparison: a < b → a <= b", "negated: a < b → !(a < b)", "stuck: a < b → 1'b0",
			"stuck: a < b → 1'b1"}},
		"conjuncts": {"wire x = c && !e;", []string{"dropped: c && !e → 1'b1 && !e", "dropped: c && !e → 1'b1 && c", "logic: c && !e → c || !e",
			"negated: !e → 1'b1 && e", "negated: c && !e → !(c && !e)", "negated: c → !c", "stuck: c && !e → 1'b0", "stuck: c && !e → 1'b1"}},
		"what binds more": {"always @* x = a | b | a;", []string{"logic: a | b | a → (a | b) & a", "logic: a | b → a & b",
			"width: a | b | a → ((a | b | a) << 1) >> 1"}},
		"arms": {"assign x = c ? a : b;", []string{"negated: c → !c", "stuck: c → 1'b0", "stuck: c → 1'b1", "swapped: c ? a : b → c ? b : a",
			"width: c ? a : b → ((c ? a : b) << 1) >> 1"}},
		"arithmetic": {"assign x = a + 4'd9 - b;", []string{"arithmetic: a + 4'd9 - b → a + 4'd9 + b", "arithmetic: a + 4'd9 → a - 4'd9",
			"constant: 4'd9 → 4'd8", "width: a + 4'd9 - b → ((a + 4'd9 - b) << 1) >> 1"}},
		"reductions": {"assign x = ^(~a);", []string{"logic: ^(~a) → |(~a)", "logic: ~a → a", "width: ^(~a) → ((^(~a)) << 1) >> 1"}},
		"literals":   {"assign x = {12'h0ff, 3'b010, {W{1'b1}}};", []string{"constant: 1'b1 → 1'b0", "constant: 12'h0ff → 12'h0fe", "constant: 3'b010 → 3'b011"}},
		"separated digits": {"assign x = {12'h00_ff, 8'b0000_0010, 20'd1_000, 4'b10x0};", []string{"constant: 12'h00_ff → 12'h00fe", "constant: 20'd1_000 → 20'd1001",
			"constant: 8'b0000_0010 → 8'b00000011"}},
		"a register": {"always @(posedge clk) begin if (rst) x <= 1'b0; end", []string{"constant: 1'b0 → 1'b1", "negated: rst → !rst",
			"reset: x <= 1'b0; → ", "stuck: rst → 1'b0", "stuck: rst → 1'b1"}},
		"an address": {"always @(posedge clk) m[a + 1] <= b;", []string{"arithmetic: a + 1 → a - 1", "constant: 1 → 0", "lost: m[a + 1] <= b; → ",
			"width: b → ((b) << 1) >> 1"}},
		"what the configuration says": {"genvar i; generate for (i = 0; i < N; i = i + 1) begin : g if (N > 1) assign x[i] = y[W-1:i]; end endgenerate",
			[]string{"width: y[W-1:i] → ((y[W-1:i]) << 1) >> 1"}},
		"a choice of the configuration": {"assign x = N > 1 ? a : b;", []string{"swapped: N > 1 ? a : b → N > 1 ? b : a",
			"width: N > 1 ? a : b → ((N > 1 ? a : b) << 1) >> 1"}},
		"loops":                {"integer i; always @* for (i = 0; i < N; i = i + 1) x[i] = a[i];", []string{"width: a[i] → ((a[i]) << 1) >> 1"}},
		"functions":            {"function f; input g; f = !g; endfunction\nlocalparam L = h(3);\nfunction h; input k; h = !k; endfunction", []string{"negated: !g → 1'b1 && g", "stuck: !g → 1'b0", "stuck: !g → 1'b1"}},
		"a memory's beginning": {"initial x = a + b;", nil},
		"a case":               {"always @* case (a & b) 4'd1: x = 1'b0; default: ; endcase", []string{"constant: 1'b0 → 1'b1", "logic: a & b → a | b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, cmp.Diff(tt.want, of(t, tt.text)))
		})
	}
}

// Inputs of instances are changed, outputs and clocks are not.
func TestInstances(t *testing.T) {
	t.Parallel()
	d := design(t, `module low (input wire clk, input wire i, output wire o);
    assign o = i;
endmodule
module top (input wire clk, input wire a, output wire z);
    wire y;
    low u (.clk(clk), .i(a), .o(y));
    other v (.i(a));
    assign z = y;
endmodule
`)
	var all []string
	for _, m := range d.Mutants() {
		all = append(all, fmt.Sprintf("%s:%d %s", m.Module, m.Line, m.Before))
	}
	assert.Equal(t, []string{"low:2 i", "top:6 a", "top:8 y"}, all)
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		`line 2: "3", want an item of a module`: "module m (input wire a);\n3\nendmodule\n",
		"line 1: a comment does not end":        "/* module",
		`line 2: ";", want an expression`:       "module m (input wire a);\nassign b = ;\nendmodule\n",
		"module m has a mutant of its own":      "module m (input wire a);\nwire mutant;\nendmodule\n",
		`line 3: "", want an item of a module`:  "module m (input wire a);\nwire b;\n",
		`line 2: "initial", want =`:             "module m (input wire a);\nassign b initial\nendmodule\n",
		`line 2: ";", want (`:                   "module m (input wire a);\noutput b;\nendmodule\n",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "m.v"), []byte(text), 0o600))
		_, err := mutant.Read(dir, []string{"m.v"})
		assert.ErrorContains(t, err, want)
	}
}

// counter counts what is enabled, up to a top, and tells when it wraps.
const counter = `// a comment with a < b in it
` + "`default_nettype none" + `
module counter #(
    parameter W = 3
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         en, up,
    output wire [W-1:0] n,
    output wire         wraps
);
    reg  [W-1:0] n_reg;
    wire         go = en && !(up && hold);
    wire         hold = n_reg == 3'd5;
    wire [W-1:0] next = up ? n_reg + 3'd1 : n_reg - 3'd1;
    assign n     = n_reg;
    assign wraps = go && next == 3'd0;
    always @(posedge clk) begin
        if (go) n_reg <= next;
        else if (en) n_reg <= 3'd0;
        if (rst) n_reg <= 3'd0;
    end
endmodule
` + "`default_nettype wire\n"

// trace is what the counter shows, with a mutant on.
func trace(t *testing.T, lib *sim.Lib, number int) (shown []uint64) {
	t.Helper()
	o := sim.Options{Random: true, Seed: 3}
	if number != 0 {
		o.PlusArgs = []string{mutant.Choose(number)}
	}
	m, err := lib.New(o)
	require.NoError(t, err)
	defer m.Close()
	var p struct {
		Rst   *sim.Port `port:"rst"`
		En    *sim.Port `port:"en"`
		Up    *sim.Port `port:"up"`
		N     *sim.Port `port:"n"`
		Wraps *sim.Port `port:"wraps"`
	}
	require.NoError(t, m.Bind(&p))
	for i := range uint64(256) {
		p.Rst.SetBool(i < 2 || i == 40)
		drawn := splitmix.Mix(i + 1)
		p.En.SetBool(drawn&7 != 0)
		p.Up.SetBool(drawn&24 != 0)
		require.NoError(t, m.Cycles(1))
		if i >= 2 {
			shown = append(shown, p.N.Uint64()<<1|p.Wraps.Uint64())
		}
	}
	return shown
}

// A model with all mutants of a small module behaves as the module with none chosen, and differently with each but those that change nothing.
func TestPlanted(t *testing.T) {
	t.Parallel()
	d := design(t, counter)
	all := d.Mutants()
	require.Greater(t, len(all), 30)
	compile := func(dir string) *sim.Lib {
		lib, err := sim.Build{Top: "counter", Files: []string{filepath.Join(dir, "m.v")}}.Compile(t.Context())
		require.NoError(t, err)
		return lib
	}
	original, planted := t.TempDir(), t.TempDir()
	require.NoError(t, d.Plant(original, nil))
	text, err := os.ReadFile(filepath.Join(original, "m.v"))
	require.NoError(t, err)
	require.Equal(t, counter, string(text), "without mutants the text stays what it is")
	require.NoError(t, d.Plant(planted, all))
	lib := compile(planted)
	healthy := trace(t, compile(original), 0)
	require.Equal(t, healthy, trace(t, lib, 0))
	var alike []string
	for _, m := range all {
		if slices.Equal(healthy, trace(t, lib, m.Number)) {
			alike = append(alike, short(m))
		}
	}
	assert.Empty(t, alike)
}

func TestContext(t *testing.T) {
	t.Parallel()
	d := design(t, "module m #(\n    parameter W = 4\n) (\n    input wire clk, c, e,\n    output reg x\n);\n    always @(posedge clk) begin\n        if (c &&\n            e) begin\n            x <= 1'b1;\n        end\n    end\nendmodule\n")
	contexts := map[string]string{}
	for _, m := range d.Mutants() {
		contexts[short(m)] = m.Context
	}
	assert.Equal(t, "«x <= 1'b1;»", contexts["lost: x <= 1'b1; → "])
	assert.Equal(t, "x <= «1'b1»;", contexts["constant: 1'b1 → 1'b0"])
	assert.Equal(t, "if («c &&»", contexts["stuck: c && e → 1'b0"], "of two lines the first")
}
