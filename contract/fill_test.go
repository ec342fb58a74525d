// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
)

// TestPrinted: what the contract prints into modules and documents is up to date in every file that has its marks.
func TestPrinted(t *testing.T) {
	t.Parallel()
	var marked []string
	for _, pattern := range []string{"../hdl/*/*.v", "../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := contract.Fill(text)
			if !assert.NoError(t, err, file) {
				continue
			}
			again, err := contract.Fill(want)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(again), "%s: printed once more it is the same", file)
			if len(want) != len(text) || &want[0] != &text[0] {
				marked = append(marked, filepath.Base(file))
			}
			if *update && string(want) != string(text) {
				require.NoError(t, os.WriteFile(file, want, 0o644))
				continue
			}
			if d := cmp.Diff(string(text), string(want)); d != "" {
				t.Errorf("%s is behind the contract (-file +contract); `go generate ./contract` prints it anew:\n%s", file, d)
			}
		}
	}
	assert.Subset(t, marked, []string{"inc_check_duplicate.v", "inc_check_pipe.v", "inc_csr.v", "engine.md", "pipes.md", "termination.md"})
}

// TestFill: what is printed follows from what a file uses, and mistakes are named.
func TestFill(t *testing.T) {
	t.Parallel()
	text := func(section, body string) string {
		return "module m;\n    // contract: " + section + "\n    stale\n    // contract: end\n    " + body + "\nendmodule\n"
	}
	last := contract.Counters(2)[len(contract.Counters(2))-1].Name
	for _, c := range []struct{ name, in, want string }{
		{"no marks", "module m; // C_NONE\nendmodule\n", "module m; // C_NONE\nendmodule\n"},
		{"what is used, in the list's order, and comments use nothing", text("counters 2", "assign x = {C_BYPASS, C_RX_FRAMES}; // C_AGG"),
			"    localparam C_RX_FRAMES = 0, C_BYPASS = 1;\n"},
		{"the last", text("counters 2", "C_"+last), fmt.Sprintf("localparam C_%s = %d;", last, len(contract.Counters(2))-1)},
		{"by mode", text("counters 2 3", "C_COUNT"), fmt.Sprintf("localparam C_COUNT = MODE == 2 ? %d : %d;", len(contract.Counters(2)), len(contract.Counters(3)))},
		{"of one mode alone", text("counters 2 3", "C_TX_RNR"), fmt.Sprintf("localparam C_TX_RNR = %d;", contract.CounterIndex(3, "TX_RNR"))},
		{"a place", text("registers 2", "AT_GROUP_START WORD_GROUP_START"), "localparam [3:0] WORD_GROUP_START = 4'd2;\n    localparam [15:0] AT_GROUP_START = 16'h0402;\n"},
		{"a field", text("registers 3", "F_PIPE_CTRL_CNP W_EP_HEADER_TTL R_IP_ID_VALUE"),
			"localparam F_PIPE_CTRL_CNP = 9, W_EP_HEADER_TTL = 8;\n    localparam [15:0] R_IP_ID_VALUE = 16'd4369;\n"},
		{"bits", text("registers 2", "M_CTRL M_GROUP_CTRL M_GROUP_IN_MASK"),
			"localparam [31:0] M_CTRL = 32'h0000_0003, M_GROUP_CTRL = 32'h0000_0001, M_GROUP_IN_MASK = 32'hFFFF_FFFF >> (32 - MASK_W);\n"},
		{"a function", text("registers 2", "x = endpoint_bits(w);"), "4'd0:  endpoint_bits = 32'h0000_FF03; // EP_CTRL\n"},
		{"a parameter in the middle", text("parameter 2", "parameter X = 1"), fmt.Sprintf("parameter COUNTERS = %d,\n", len(contract.Counters(2)))},
		{"a parameter at the end", text("parameter 3", ") (input x);"), fmt.Sprintf("parameter COUNTERS = %d\n", len(contract.Counters(3)))},
		{"a document", "x\n<!-- contract: counters 3 over 2 -->\n<!-- contract: end -->\ny\n", "| TX_RNR | RNR NAKs made for data that found its pipe full. |"},
	} {
		got, err := contract.Fill([]byte(c.in))
		require.NoError(t, err, c.name)
		assert.Contains(t, string(got), c.want, c.name)
		assert.NotContains(t, string(got), "stale", c.name)
	}
	for want, in := range map[string]string{
		"nothing is called C_NONE":                       text("counters 2", "C_NONE"),
		"nothing is called C_TX_RNR":                     text("counters 2", "C_TX_RNR"),
		"nothing is called F_CTRL_GAP":                   text("registers 2", "F_CTRL_GAP"),
		`"4" is no mode`:                                 text("counters 4", ""),
		"no mode is named":                               text("counters", ""),
		"there is no such section":                       text("colours 2", ""),
		"a mark has no end, or an end no mark":           "    // contract: counters 2\nmodule\n",
		"a mark has no end, or an end no mark (another)": text("counters 2", "") + "// contract: end\n",
	} {
		_, err := contract.Fill([]byte(in))
		assert.ErrorContains(t, err, strings.TrimSuffix(want, " (another)"))
	}
}
