// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"errors"
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/internal/lint"
	"incforge/internal/testcost"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/verify"
	"incforge/verify/dut"
)

var tryAssertions = flag.Bool("assertions", false, "plant faults that the shipped assertions have to see, and have every reader read them (make assertions)")

// seen is a fault, the scenario that brings it about, and the assertion that must be the first to fail.
type seen struct {
	fault               endtoend.Fault
	scenario, assertion string
}

func rtlFile(module string) string { return filepath.Join("rtl", module+".v") }

// assertedFaults are faults by configuration, each of another rule.
func assertedFaults() map[string][]seen {
	return map[string][]seen{
		"mini": {
			{endtoend.Fault{Name: "the first copy is not that of the lowest endpoint", File: rtlFile("inc_replicate_data"),
				Old: "number_of(lowest_of(tx_mask))", New: "number_of(tx_mask)"}, "allreduce-1psn", "copy_in_order"},
			{endtoend.Fault{Name: "a damaged frame is written into its slot", File: rtlFile("inc_check_duplicate"),
				At: "assign wr_en    =", Old: "good && t_wr", New: "c_leaves && t_wr"}, "parse-icrc", "dropped_changes_nothing"},
			{endtoend.Fault{Name: "a gap is not counted", File: rtlFile("inc_check_duplicate"),
				Old: "c_up && !reack && c_ahead", New: "1'b0"}, "gap-nak", "data_comes_to_one"},
			{endtoend.Fault{Name: "a result goes to everybody", File: rtlFile("inc_check_duplicate"),
				Old: "has_parent ? b_parent_mask : b_out_mask", New: "{MASK_W{1'b1}}"}, "allreduce-1psn", "sends_by_role"},
			{endtoend.Fault{Name: "a beat is read while the adders read", File: rtlFile("inc_forward"),
				Old: "!(rd_ready && rd_wants)", New: "1'b1"}, "slot-reuse", "one_reader"},
			{endtoend.Fault{Name: "a work that was taken is offered again", File: rtlFile("inc_hold_work"),
				Old: "held_reg && !op_ready && !dies", New: "held_reg && !dies"}, "allreduce-1psn", "offered_once"},
			{endtoend.Fault{Name: "all groups that wait are started as one", File: rtlFile("inc_recycle_buffer"),
				At: "W_IDLE: begin current_reg <=", Old: "lowest", New: "pending_reg"}, "starts-together", "one_is_started"},
		},
		"mini3": {
			{endtoend.Fault{Name: "a damaged frame is written into its slot", File: rtlFile("inc_check_pipe"),
				At: "assign wr_en    =", Old: "good && c_accept", New: "decided && c_accept"}, "parse-icrc", "dropped_changes_nothing"},
			{endtoend.Fault{Name: "a duplicate is not counted", File: rtlFile("inc_check_pipe"),
				At: "steps[C_RX_DUPLICATE] =", Old: "duplicate", New: "1'b0"}, "duplicate-before", "data_comes_to_one"},
			{endtoend.Fault{Name: "a timer runs on while an endpoint rests", File: rtlFile("inc_retransmission"),
				Old: "!rt_is_rnr && (on_reg || progress_reg)", New: "on_reg || progress_reg"}, "rnr", "timer_by_reason"},
		},
	}
}

// TestAssertionsSeeFaults: with a fault chosen, the assertion that it breaks ends the simulation, before the scoreboard notices anything.
func TestAssertionsSeeFaults(t *testing.T) {
	if !*tryAssertions {
		t.Skip("two more models; make assertions")
	}
	for config, all := range assertedFaults() {
		t.Run(config, func(t *testing.T) {
			dir := generate(t, named(t, config))
			var faults []endtoend.Fault
			for _, s := range all {
				faults = append(faults, s.fault)
			}
			require.NoError(t, endtoend.Plant(dir, faults))
			for i, s := range all {
				source := dut.Source{ManifestDir: dir, PlusArgs: []string{endtoend.Choose(i)}, Assert: true}
				rep, err := verify.Run(testcost.Context(t), verify.Options{Source: source, Seed: 1, Scenario: s.scenario})
				if err != nil && !errors.Is(err, verify.ErrFailed) {
					require.NoError(t, err, s.fault.Name)
				}
				assert.Contains(t, rep.Tests[0].Message, "."+s.assertion+":", s.fault.Name)
			}
		})
	}
}

// TestAssertionsAreRead: every reader takes the Verilog with its assertions.
func TestAssertionsAreRead(t *testing.T) {
	if !*tryAssertions {
		t.Skip("five readers over two configurations; make assertions")
	}
	for _, config := range []string{"mini", "mini3"} {
		p, err := params.Preset(config)
		require.NoError(t, err)
		d, err := rtlgen.GenerateAsserted(p)
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, d.Write(dir))
		rep, err := lint.Dir(testcost.Context(t), dir)
		require.NoError(t, err)
		assert.True(t, rep.Clean(), "%v", rep.Findings)
	}
}
