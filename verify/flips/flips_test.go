// SPDX-License-Identifier: Apache-2.0

package flips_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/testcost"
	"incforge/verify/dut"
	"incforge/verify/dut/upset"
	"incforge/verify/flips"
)

// TestNeeds: memories that nobody can reach, or that have no check bits, are refused before anything is compiled.
func TestNeeds(t *testing.T) {
	t.Parallel()
	_, err := upset.Replace(&contract.Manifest{}, nil, t.TempDir())
	require.ErrorContains(t, err, "memories are reached by 64 pins")
}

func TestIDs(t *testing.T) {
	t.Parallel()
	m := &contract.Manifest{Tops: map[string]contract.Top{contract.TopCore: {Module: "x_core"}},
		Memories: []contract.Memory{{Path: "u_core.u_a"}, {Path: "u_rx_p0.u_mem"}}}
	got, err := upset.Targets(m, contract.TopCore)
	require.NoError(t, err)
	require.Len(t, got, 1, "what is outside the core")
	assert.Equal(t, upset.ID("TOP.x_core.u_a"), got[0].ID)
	m.Memories = append(m.Memories, contract.Memory{Path: "u_core.u_a"})
	_, err = upset.Targets(m, contract.TopCore)
	require.ErrorContains(t, err, "have one number")
}

// long skips what takes a compiler minutes: make long. It needs, in the folder INCFORGE_FLIPS, mini and mini1, generated with ecc: all, memory_pins: 64
// and interrupts, mini with port_bytes too.
func long(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("INCFORGE_FLIPS")
	if dir == "" {
		t.Skip("compiles mini and mini1 some twenty times: make long")
	}
	return filepath.Join(dir, name)
}

func run(t *testing.T, dir string, kinds ...string) error {
	t.Helper()
	m, err := contract.Load(dir)
	require.NoError(t, err)
	top := dut.KindCore
	if slices.Contains(kinds, contract.PortMemories().Name) {
		top = dut.KindRTL
	}
	count := 400
	if slices.Contains(kinds, "state") { // two wrong bits of it that nobody finds reach a frame once in some thousand
		count = 2000
	}
	_, err = flips.Run(testcost.Context(t), flips.Options{Source: dut.Source{Manifest: m, Kind: top}, Count: count, Seed: 1, Kinds: kinds})
	return err
}

// TestLongFaults: mistakes in what protects the memories are found, each by what it lets out or does not count.
func TestLongFaults(t *testing.T) {
	dir := long(t, "mini")
	require.NoError(t, run(t, dir))
	require.NoError(t, run(t, dir, "ports"))
	faults(t, dir, map[string]fault{
		"double not found, state":      {"inc_ecc_out.v", "assign part_bad[PARTS-1]   = poison || beyond;", "assign part_bad[PARTS-1]   = 1'b0;", "state"},
		"double not found, tables":     {"inc_ecc_out.v", "assign part_bad[PARTS-1]   = poison || beyond;", "assign part_bad[PARTS-1]   = 1'b0;", "tables"},
		"single not counted":           {"inc_ecc_out.v", "assign fixed = (fresh_reg", "assign fixed = (1'b0 && fresh_reg", "tables"},
		"check bit not stored":         {"inc_ecc_in.v", "{whole[38:32], whole[REST-1:0]}", "{1'b0, whole[37:32], whole[REST-1:0]}", "tables"},
		"frames of a halted engine":    {"inc_ecc_contain.v", "inside_reg ? sunk_reg : halt", "inside_reg ? sunk_reg : 1'b0", "tables"},
		"bypass of a lost record":      {"inc_ecc_contain.v", "bypass_in && !look_lost", "bypass_in", "tables"},
		"lost word of the ring":        {"inc_aggregate_data.v", "|| (x_take && word_bad_reg)", "", "packets"},
		"lost word of a result":        {"inc_ecc_out.v", "data | ({BITS{data_bad}}", "data | ({BITS{1'b0}}", "replay"},
		"lost beat of a bypassed":      {"inc_forward.v", "spoilt_reg || byp_bad", "spoilt_reg", "packets"},
		"ports, check bit not stored":  {"inc_ecc_in.v", "{whole[71:64], whole[REST-1:0]}", "{1'b0, whole[70:64], whole[REST-1:0]}", "ports"},
		"ports, lost word leaves":      {"inc_ecc_leave.v", "stands_reg ? user_reg : err_reg", "1'b0", "ports"},
		"ports, err that entered":      {"inc_ecc_port.v", "{ecc_mark, wdata}", "{1'b0, wdata}", "ports"},
		"ports, lost not counted":      {"inc_ecc_port_regs.v", "if (lost[g]) begin", "if (1'b0 && lost[g]) begin", "ports"},
		"nothing waits for CLEAR":      {"inc_ecc_regs.v", "&& !moves && &idle_reg", "", "tables"},
		"cause of a lost word":         {"mini_core.v", "ecc_any_lost}", "1'b0}", "state"},
		"ports, cause of a lost word":  {"mini_switch.v", ".from    ({lost_p0_any, lost_p1_any, lost_p2_any, lost_p3_any})", ".from    (4'd0)", "ports"},
		"ports, cause of a right word": {"mini_switch.v", ".from    ({fixed_p0_any, fixed_p1_any, fixed_p2_any, fixed_p3_any})", ".from    ({fixed_p0_any, fixed_p1_any, fixed_p2_any, 1'b1})", "ports"},
	})
}

// TestLongFaultsOfMessages: the same of Mode I.
func TestLongFaultsOfMessages(t *testing.T) {
	dir := long(t, "mini1")
	require.NoError(t, run(t, dir))
	faults(t, dir, map[string]fault{
		"double not found, state":              {"inc_ecc_out.v", "assign part_bad[PARTS-1]   = poison || beyond;", "assign part_bad[PARTS-1]   = 1'b0;", "state"},
		"frames of a halted engine":            {"inc_ecc_contain.v", "inside_reg ? sunk_reg : halt", "inside_reg ? sunk_reg : 1'b0", "state"},
		"turns of a loop that are not led out": {"inc_send_message.v", "assign ecc_lost = |each_ecc_lost;", "assign ecc_lost = |each_ecc_lost[1:0];", "state"},
		"state that does not halt":             {"mini1_core.v", "HALTS  (3)", "HALTS  (1)", "state"},
	})
}

// fault is a mistake in the text of a file, and the kind of memories in which it is looked for.
type fault struct{ file, from, to, kind string }

// faults plants each alone, and has it found.
func faults(t *testing.T, dir string, all map[string]fault) {
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			with := copied(t, dir)
			at := filepath.Join(with, "rtl", c.file)
			text, err := os.ReadFile(at)
			require.NoError(t, err)
			require.Contains(t, string(text), c.from)
			require.NoError(t, os.WriteFile(at, []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o644))
			if strings.HasPrefix(name, "double not found") { // in codewords of all widths
				require.NoError(t, os.WriteFile(at, []byte(strings.ReplaceAll(string(text), c.from, c.to)), 0o644))
			}
			err = run(t, with, c.kind)
			require.ErrorIs(t, err, flips.ErrWrong)
			require.NotErrorIs(t, err, context.Canceled)
			t.Log(err)
		})
	}
}

// copied is a copy of a generated folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
