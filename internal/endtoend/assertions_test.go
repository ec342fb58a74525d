// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
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
	"incforge/verify/result"
)

var tryAssertions = flag.Bool("assertions", false, "plant all faults that the shipped assertions have to see, and have every reader read them (make assertions)")

// seen is a fault, the scenario that brings it about, and the assertion that must be the first to fail.
type seen struct {
	fault               endtoend.Fault
	scenario, assertion string
}

func rtlFile(module string) string { return filepath.Join("rtl", module+".v") }

// assertedFaults are faults by configuration, each of another rule; the first ones are a part of make test.
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
		"mini1": {
			{endtoend.Fault{Name: "a damaged packet is taken", File: rtlFile("inc_check_message"),
				At: "wire commits =", Old: "data_goes && good", New: "data_goes"}, "parse-icrc", "dropped_changes_nothing"},
			{endtoend.Fault{Name: "a message without a slot is taken", File: rtlFile("inc_check_message"),
				Old: "d_starts && !fits", New: "1'b0"}, "pipe-settings", "message_fits"},
			{endtoend.Fault{Name: "a duplicate is not counted", File: rtlFile("inc_check_message"),
				At: "data_reg[C_RX_DUPLICATE]          <=", Old: "is_duplicate", New: "1'b0"}, "duplicate-before", "data_comes_to_one"},
			{endtoend.Fault{Name: "the last packet is as long as the others", File: rtlFile("inc_cut_message"),
				Old: "ends ? {{(31-TOP_W){1'b0}}, left_reg} : mtu", New: "mtu"}, "message-cuts", "packet_in_message"},
			{endtoend.Fault{Name: "bytes leave that have not come", File: rtlFile("inc_send_message"),
				Old: "past_tail[POS_W]", New: "1'b1"}, "message-cuts", "packet_may_leave"},
			{endtoend.Fault{Name: "what one lacks goes to all", File: rtlFile("inc_send_message"),
				Old: "own_reg ? snd_self : keep", New: "own_reg ? ctx_outs : keep"}, "pipe-nak", "sends_by_role"},
		},
	}
}

// TestAssertionsSeeFaults: without a fault all assertions hold; with one chosen, the assertion that it breaks ends the simulation, before the
// scoreboard notices anything.
func TestAssertionsSeeFaults(t *testing.T) {
	for config, all := range assertedFaults() {
		t.Run(config, func(t *testing.T) {
			dir := generate(t, named(t, config))
			var faults []endtoend.Fault
			for _, s := range all {
				faults = append(faults, s.fault)
			}
			require.NoError(t, endtoend.Plant(dir, faults))
			source := dut.Source{Kind: dut.KindCore, ManifestDir: dir, Assert: true, Short: true}
			for _, r := range run(t, verify.Options{Source: source, Seed: 1, Scenario: "allreduce-1psn,duplicate-before"}).Tests {
				assert.Equal(t, result.Pass, r.Verdict, "%s: %s", r.Scenario, r.Message)
			}
			if !*tryAssertions {
				all = all[:1]
			}
			for i, s := range all {
				source.PlusArgs = []string{endtoend.Choose(i)}
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
		t.Skip("five readers over three configurations; make assertions")
	}
	for _, config := range []string{"mini", "mini3", "mini1"} {
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

// TestAssertionsAreBound: a simulator that knows bind finds all that the checkers read, in the design as it is shipped.
func TestAssertionsAreBound(t *testing.T) {
	if !*tryAssertions {
		t.Skip("slang over three configurations; make assertions")
	}
	for _, config := range []string{"mini", "mini3", "mini1"} {
		dir := generate(t, named(t, config))
		rep, err := lint.Bound(testcost.Context(t), dir)
		require.NoError(t, err)
		if len(rep.Runs) == 0 {
			t.Skip("slang is not installed; make tools installs it")
		}
		assert.True(t, rep.Clean(), "%v", rep.Findings)

		bindings := filepath.Join(dir, "sva", "bind.sv")
		text, err := os.ReadFile(bindings)
		require.NoError(t, err)
		wrong := strings.Replace(string(text), ".push(push)", ".push(pushed)", 1)
		require.NotEqual(t, string(text), wrong)
		require.NoError(t, os.WriteFile(bindings, []byte(wrong), 0o644))
		rep, err = lint.Bound(testcost.Context(t), dir)
		require.NoError(t, err)
		assert.False(t, rep.Clean(), "a checker that reads what its block has not")
	}
}
