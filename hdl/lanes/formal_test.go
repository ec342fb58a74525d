// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/internal/tool"
)

// proof is a property of the lane and a fault that breaks it.
type proof struct {
	op, isInt int
	align     bool   // of the alignment instead of the result
	fault     string // replacement in inc_lane.v, old and new divided by " => "
}

func proofs() map[string]proof {
	return map[string]proof{
		"FP32 MIN":  {op: minimum, fault: "(a[31] && !int_op) ^ max_op => (a[31] && int_op) ^ max_op"},
		"FP32 MAX":  {op: maximum, fault: "b_ones && |b[22:0] => b_ones && |b[21:0]"},
		"INT32 SUM": {op: sum, isInt: 1, fault: "{8{int_op && sum_op}} => {8{1'b0}}"},
		"INT32 MIN": {op: minimum, isInt: 1, fault: "| {5{far}} => "},
		"INT32 MAX": {op: maximum, isInt: 1, fault: "!(a[31] ^ max_op) => (a[31] ^ max_op)"},
		"alignment": {align: true, fault: "|align4[7:0] => |align4[6:0]"},
	}
}

// smt2 writes the lane with its property as a transition system of gates, which ABC has simplified.
func (p proof) smt2(t *testing.T, fault string) string {
	t.Helper()
	dir := t.TempDir()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	lane := read("inc_lane.v")
	if fault != "" {
		from, to, _ := strings.Cut(fault, " => ")
		require.Equal(t, 1, strings.Count(lane, from), "%q", from)
		lane = strings.Replace(lane, from, to, 1)
	}
	if p.align {
		const next = "            wire [34:0] small_aligned"
		require.Equal(t, 1, strings.Count(lane, next))
		lane = strings.Replace(lane, next, read("testdata/align.vh")+next, 1)
	}
	for name, text := range map[string]string{
		"inc_lane.v": lane, "inc_lane_cut.v": read("inc_lane_cut.v"), "f_lane.v": read("testdata/f_lane.v"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	top, params := "f_lane", fmt.Sprintf("chparam -set OP %d -set IS_INT %d f_lane", p.op, p.isInt)
	if p.align {
		top, params = "inc_lane", "chparam -set STAGES 1 inc_lane"
	}
	script := strings.Join([]string{
		"read_verilog -formal inc_lane.v inc_lane_cut.v f_lane.v", params, "prep -top " + top + " -flatten", "async2sync",
		"opt -full", "techmap", "opt -full", "abc -g AND,XOR,MUX -script +strash;dc2;dfraig;dc2;dfraig;strash;map", "opt_clean -purge", "dffunmap", "simplemap",
		"write_smt2 -wires model.smt2",
	}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.ys"), []byte(script+"\n"), 0o644))
	_, err := tool.Run(t.Context(), tool.Command{Name: "yosys", Args: []string{"-q", "-s", "model.ys"}, Dir: dir})
	require.NoError(t, err)
	return filepath.Join(dir, "model.smt2")
}

func smtbmc(t *testing.T, args ...string) error {
	t.Helper()
	_, err := tool.Run(t.Context(), tool.Command{Name: "yosys-smtbmc", Args: append([]string{"-s", "z3"}, args...)})
	return err
}

// TestProofs proves the lane for any operands whatever. Its operands do not change and it has one stage, so two steps are all
// there is. The cover shows that there is something to prove, and a fault put in is found.
func TestProofs(t *testing.T) {
	t.Parallel()
	for name, p := range proofs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := p.smt2(t, "")
			require.NoError(t, smtbmc(t, "-t", "2", model))
			require.NoError(t, smtbmc(t, "-c", "-t", "2", model), "cover")

			err := smtbmc(t, "-t", "2", p.smt2(t, p.fault))
			var exit *tool.ExitError
			require.True(t, errors.As(err, &exit), "the fault was not found: %v", err)
			require.Contains(t, exit.Tail, "Assert failed in")
		})
	}
}
