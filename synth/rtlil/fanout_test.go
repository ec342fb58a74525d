// SPDX-License-Identifier: Apache-2.0

package rtlil

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/synth/yosys"
)

// TestFanout: a control word of 70 instances reaches each through a tree, is still the same word there, and no buffer drives more
// than it may; a clock and a word of few instances stay as they are.
func TestFanout(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.v"), []byte(`
		module leaf (input wire clk, input wire [1:0] op, input wire few, input wire a, output wire y); assign y = a ? op[0] : op[1] ^ few ^ clk; endmodule
		module top (input wire clk, input wire [1:0] op, input wire few, input wire [69:0] a, output wire [69:0] y);
			genvar i;
			generate for (i = 0; i < 70; i = i + 1) begin : g
				if (i < 8) begin : lo leaf u (.clk(clk), .op(op), .few(few), .a(a[i]), .y(y[i])); end
				else begin : hi leaf u (.clk(clk), .op(op), .few(1'b0), .a(a[i]), .y(y[i])); end
			end endgenerate
		endmodule
		module BUF (input wire A, output wire Y); assign Y = A; endmodule`), 0o644))
	require.NoError(t, yosys.Run(ctx, dir, "read", []string{"read_verilog t.v", "hierarchy -top top", "proc", "opt_clean", "write_rtlil t.il"}, time.Minute))
	text, err := os.ReadFile(filepath.Join(dir, "t.il"))
	require.NoError(t, err)
	changed := string(Fanout(text, "BUF", "A", "Y", "clk", "rst"))
	// 18 buffers drive 4 instances each, 3 drive those, 1 drives the three; two bits.
	assert.Equal(t, 2*(18+3+1), strings.Count(changed, "cell \\BUF "))
	assert.Equal(t, 0, strings.Count(changed, "connect \\op \\op\n"))
	assert.Equal(t, 70, strings.Count(changed, "connect \\clk \\clk\n"))
	assert.Equal(t, 8, strings.Count(changed, "connect \\few \\few\n"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "u.il"), []byte(changed), 0o644))
	// Flat, both are the same.
	require.NoError(t, yosys.Run(ctx, dir, "same", []string{
		"read_rtlil t.il", "hierarchy -top top", "flatten", "opt_clean", "rename top gold", "write_rtlil gold.il", "design -reset",
		"read_verilog t.v", "delete top", "delete leaf", "read_rtlil u.il", "hierarchy -top top", "flatten", "opt_clean", "rename top gate", "read_rtlil gold.il",
		"equiv_make gold gate both", "hierarchy -top both", "equiv_simple -undef", "equiv_status -assert"}, time.Minute))
}
