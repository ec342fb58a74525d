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

	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// proof is a property of the lane, and a fault that breaks it.
type proof struct {
	property  int
	op, isInt int
	align     bool   // of the alignment instead of the result
	fault     string // replacement in inc_lane.v, old and new divided by " => "
}

func proofs() map[string]proof {
	return map[string]proof{
		"FP32 MIN":          {op: minimum, fault: "(a[31] && !int_op) ^ max_op => (a[31] && int_op) ^ max_op"},
		"FP32 MAX":          {op: maximum, fault: "b_ones && |b[22:0] => b_ones && |b[21:0]"},
		"INT32 SUM":         {op: sum, isInt: 1, fault: "{8{int_sum_b}} => {8{1'b0}}"},
		"INT32 MIN":         {op: minimum, isInt: 1, fault: "| {5{far}} => "},
		"INT32 MAX":         {op: maximum, isInt: 1, fault: "!(a[31] ^ max_op) => (a[31] ^ max_op)"},
		"SUM commutes":      {property: 1, fault: "swap_b ? b_high : a_high => a_high"},
		"SUM with zero":     {property: 2, fault: "AT = 26 - i => AT = 27 - i"},
		"SUM of infinities": {property: 3, fault: "norm[26] || nan_s => norm[26]"},
		"SUM's sign":        {property: 4, fault: "sub_s && sum_s == 28'd0 => sum_s == 28'd0"},
		"SUM's exponent":    {property: 5, fault: "!large_bh} + 8'd1 => !large_bh} + 8'd2"},
		"alignment":         {align: true, fault: "|align4[7:0] => |align4[6:0]"},
	}
}

// prove has Yosys look for operands that break the property: ABC makes the gates few, MiniSat does the rest. Where a fault is put in,
// MiniSat finds it before ABC would be done. The operands do not change and the lane has one stage, so two steps are all there is. Of the
// alignment it is one step, of any contents whatever of the registers before it.
func (p proof) prove(t *testing.T, fault string) error {
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
	top, steps := "f_lane", 2
	params := fmt.Sprintf("chparam -set PROPERTY %d -set OP %d -set IS_INT %d f_lane", p.property, p.op, p.isInt)
	if p.align {
		const next = "            wire [34:0] small_aligned"
		require.Equal(t, 1, strings.Count(lane, next))
		lane = strings.Replace(lane, next, read("testdata/align.vh")+next, 1)
		top, steps = "inc_lane", 1
		params = "chparam -set STAGES 4 inc_lane"
	}
	for name, text := range map[string]string{
		"inc_lane.v": lane, "inc_lane_cut.v": read("inc_lane_cut.v"), "f_lane.v": read("testdata/f_lane.v"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	lines := []string{"read_verilog -formal inc_lane.v inc_lane_cut.v f_lane.v", params, "prep -top " + top + " -flatten", "async2sync", "dffunmap"}
	if fault == "" {
		lines = append(lines, "techmap", "abc -g AND,XOR,MUX -script +strash;dc2;dfraig;dc2;dfraig;strash;map", "opt_clean -purge")
	}
	script := strings.Join(append(lines, fmt.Sprintf("sat -verify -prove-asserts -set-assumes -seq %d %s", steps, top)), "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prove.ys"), []byte(script+"\n"), 0o644))
	_, err := tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", "prove.ys"}, Dir: dir})
	return err
}

// TestProofs proves the lane for any operands whatever, and that a fault put in is found.
func TestProofs(t *testing.T) {
	t.Parallel()
	for name, p := range proofs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, p.prove(t, ""))

			err := p.prove(t, p.fault)
			var exit *tool.ExitError
			require.True(t, errors.As(err, &exit), "the fault was not found: %v", err)
			require.Contains(t, exit.Tail, "proof did fail")
		})
	}
}
