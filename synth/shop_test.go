// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kept counts the entries of a cache by kind.
func kept(t *testing.T, dir string) map[string]int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	n := map[string]int{}
	for _, e := range entries {
		if kind, _, ok := strings.Cut(e.Name(), "-"); ok && e.IsDir() {
			n[kind]++
		}
	}
	return n
}

// change rewrites a file of a design.
func change(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o644))
}

// TestOneLeafChanged: what was synthesised is not synthesised again; a comment and moved lines change nothing; after a change in one
// leaf that leaf alone is, and the design is timed again.
func TestOneLeafChanged(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(standin)))
	run := func() *Metrics {
		m, err := Run(context.Background(), dir, Options{CacheDir: store, ClockMHz: 300})
		require.NoError(t, err)
		return m
	}
	first := run()
	before := kept(t, store)
	// A memory of flops is a part of the module that holds it, and one that is a macro has nothing else in it.
	assert.Equal(t, map[string]int{"read": 1, "generic": 6, "mapped": 6, "timed": 1}, before)

	again := run()
	assert.Equal(t, before, kept(t, store), "nothing runs a second time")
	assert.Equal(t, first, again)

	leaf := filepath.Join(dir, "rtl", "standin_parity.v")
	change(t, leaf, "integer i;", "// A comment\n\n    integer i;")
	assert.Equal(t, first, run())
	after := maps.Clone(before)
	after["read"]++
	assert.Equal(t, after, kept(t, store), "the sources are read, and give the same modules")

	change(t, leaf, "32'hEDB88320", "32'h82F63B78")
	run()
	for _, kind := range []string{"read", "generic", "mapped", "timed"} {
		after[kind]++
	}
	assert.Equal(t, after, kept(t, store), "one module and the timing")
}

// TestSameModulesElsewhere: a module is taken from the cache in another design too, wherever that numbers it.
func TestSameModulesElsewhere(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(standin)))
	_, err := Run(context.Background(), dir, Options{CacheDir: store, ClockMHz: 300})
	require.NoError(t, err)
	before := kept(t, store)
	// One more width of the register, and with it other numbers for the others.
	change(t, filepath.Join(dir, "rtl", "standin_core.v"), "    wire [31:0] crc;",
		"    wire spare; standin_reg #(.WIDTH(1)) u_spare (.clk(clk), .rst(rst), .en(v1), .d(in_first), .q(spare));\n    wire [31:0] crc;")
	_, err = Run(context.Background(), dir, Options{CacheDir: store, ClockMHz: 300})
	require.NoError(t, err)
	after := kept(t, store)
	assert.Equal(t, before["generic"]+2, after["generic"], "the new register and the core")
}

// bank is a design of registers with one enable.
func bank(t *testing.T, width int) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"schema": 1, "name": "bank", "clock": {"port": "clk", "reset": "rst", "mhz": 250}, "tops": {"core": {"module": "bank", "ports": []}},
			"files": ["bank.v"], "memories": []}`,
		"bank.v": fmt.Sprintf(`module bank (input wire clk, input wire en, input wire [%[1]d:0] d, output reg [%[1]d:0] q);
			always @(posedge clk) if (en) q <= d;
			endmodule`, width-1),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// TestGatePays: a bank of leastGated flops takes less with a clock gate than with multiplexers, and one flop fewer does not take much
// less; wider banks save a third.
func TestGatePays(t *testing.T) {
	t.Parallel()
	area := func(width int, without bool) float64 {
		m, err := Run(context.Background(), bank(t, width), Options{NoClockGates: without, CacheDir: t.TempDir()})
		require.NoError(t, err)
		assert.Equal(t, float64(width), m.Metrics["synth__design__instance__count__flops"])
		return m.Metrics["synth__design__instance__area__stdcell"]
	}
	for _, width := range []int{leastGated, 32} {
		with, without := area(width, false), area(width, true)
		t.Logf("%d flops: %.2f um2 with a clock gate, %.2f with multiplexers", width, with, without)
		assert.Less(t, with, without, "%d flops", width)
		if width == 32 {
			assert.Less(t, with, 0.75*without)
		}
	}
	assert.InDelta(t, area(leastGated-1, false), area(leastGated-1, true), 1e-9, "too few for a gate")
}

// TestGatedNetlistTiming: the enable must be there before the clock rises, by more than a flop's data; so the path to it is checked.
func TestGatedNetlistTiming(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	m, err := Run(context.Background(), bank(t, 40), Options{WorkDir: work, CacheDir: t.TempDir()})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(work, "net.v"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(text), "  CLKGATE_X"), "32 flops and 8")
	assert.Equal(t, 2.0, m.Metrics["synth__design__instance__count__clock_gates"])
	assert.Regexp(t, `/E \(CLKGATE_X\d+\)`, m.CriticalPath.Trace)
}

// TestBetter: a round is kept only if it is closer to the clock.
func TestBetter(t *testing.T) {
	r := func(slack, tns float64) *round { return &round{timing: &timing{slack: slack, tns: tns}} }
	assert.True(t, r(-100, -500).better(r(-101, -1)))
	assert.False(t, r(-674, -1).better(r(-115, -9)))
	assert.True(t, r(-100, -400).better(r(-100, -500)))
	assert.False(t, r(-100, -500).better(r(-100, -500)))
}

// TestRoundsNeverEndWorse: with a clock that cannot be met, the result is the best of the rounds.
func TestRoundsNeverEndWorse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := Options{ClockMHz: 2500, CacheDir: t.TempDir(), Top: "standin_parity"}
	m, err := Run(ctx, standin, o)
	require.NoError(t, err)
	f, done, err := start(ctx, standin, o)
	require.NoError(t, err)
	defer done()
	require.NoError(t, f.elaborate(ctx))
	ladders, err := f.ladders(ctx)
	require.NoError(t, err)
	first, err := f.try(ctx, ladders, state{})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, m.Metrics["synth__timing__setup__ws"], first.timing.slack/1e3-1e-6)
	require.Greater(t, len(ladders["standin_parity"]), 2)
	for _, l := range ladders {
		assert.True(t, slices.IsSortedFunc(l, func(a, b effort) int { return int(b.gain - a.gain) }), "a step never makes cells weaker")
	}
}

// TestClimb: a step that was taken back is not tried again, and modules that were not on failing paths stay where they are.
func TestClimb(t *testing.T) {
	ladders := map[string][]effort{"a": make([]effort, 3), "b": make([]effort, 2), "c": make([]effort, 4)}
	next := state{}
	var none *round
	at, moved := none.climb(next, ladders)
	assert.True(t, moved)
	assert.Empty(t, at)
	best := &round{at: at, timing: &timing{failing: []string{"a", "b"}}}
	at, moved = best.climb(next, ladders)
	assert.True(t, moved)
	assert.Equal(t, state{"a": 1, "b": 1}, at)
	// That round was worse: from the best one again, with the step after it. b has no other.
	at, moved = best.climb(next, ladders)
	assert.True(t, moved)
	assert.Equal(t, state{"a": 2}, at)
	_, moved = best.climb(next, ladders)
	assert.False(t, moved)
}
