// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// orderCycles is how far TestOrderProof looks: three works on one slot, each built on the one before, and the result of the last,
// come to their end in eight. Every further cycle takes the solver ten times as long.
const orderCycles = 9

// proveOrder has Yosys look for works, of any kind and at any time, after which something else is emitted than the contributions
// joined in the order of their works.
func proveOrder(t *testing.T, from, to string) error {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"testdata/f_order.v", "inc_aggregate_data.v", "inc_take_row.v", "inc_emit_word.v",
		"../ram/inc_payload_memory.v", "../ram/inc_mem_payload_2p.v", "../ram/inc_mem_payload_1p.v", "../ram/inc_ram_1r1w.v", "../ram/inc_ram_1rw.v"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if name == "inc_aggregate_data.v" && from != "" {
			require.Equal(t, 1, strings.Count(string(text), from), "%q", from)
			text = []byte(strings.Replace(string(text), from, to, 1))
		}
		files = append(files, filepath.Base(name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644))
	}
	script := strings.Join([]string{
		"read_verilog -sv -formal " + strings.Join(files, " "), "hierarchy -top f_order", "proc", "flatten", "opt -full", "memory -nordff",
		"opt -full", "chformal -early", "async2sync", "opt_clean",
		fmt.Sprintf("sat -verify -prove-asserts -set-assumes -tempinduct -tempinduct-baseonly -maxsteps %d f_order", orderCycles),
	}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prove.ys"), []byte(script+"\n"), 0o644))
	_, err := tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", "prove.ys"}, Dir: dir})
	return err
}

// TestOrderProof: for all traffic of nine cycles the sum in place is that of the contributions in the order of their works, and
// faults of the hazard's logic are found.
func TestOrderProof(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string][2]string{
		"sound":           {},
		"no forwarding":   {"wire x_take_sum = same[DEPTH-1];", "wire x_take_sum = 1'b0;"},
		"no waiting":      {"assign x_wait = x_read && same[DEPTH-2:0] != {(DEPTH-1){1'b0}};", "assign x_wait = 1'b0;"},
		"read in writing": {"wire g_late  = g_read && s_go && s_write && s_addr == g_addr;", "wire g_late  = 1'b0;"},
		"word not waited": {"assign x_lacks    = needs_reg && !rd_there;", "assign x_lacks    = 1'b0;"},
		"killed counts":   {"wire [DEPTH-1:0] v_kept    = v_reg & ~({DEPTH{op_kill}} & spec_reg);", "wire [DEPTH-1:0] v_kept    = v_reg;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := proveOrder(t, fault[0], fault[1])
			if fault[0] == "" {
				require.NoError(t, err)
				return
			}
			var exit *tool.ExitError
			require.True(t, errors.As(err, &exit), "the fault was not found: %v", err)
			require.Contains(t, exit.Tail, "proof did fail")
		})
	}
}
