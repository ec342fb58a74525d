// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/internal/testcost"
	"incforge/internal/tool"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/synth"
	"incforge/verify"
)

var everyConfig = flag.Bool("every-config", false, "run the configurations that take long, or are much like others, too")

// named is a preset.
func named(t *testing.T, preset string, sets ...string) params.Params {
	t.Helper()
	p, err := params.Preset(preset, sets...)
	require.NoError(t, err)
	return p
}

// generate writes a design to a folder of the test's own.
func generate(t *testing.T, p params.Params) string {
	t.Helper()
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, d.Write(dir))
	return dir
}

// run runs scenarios; a failed one is the caller's to judge.
func run(t *testing.T, o verify.Options) verify.Report {
	t.Helper()
	report, err := verify.Run(testcost.Context(t), o)
	if !errors.Is(err, verify.ErrFailed) {
		require.NoError(t, err)
	}
	return report
}

// passes runs all scenarios that match and says which failed, with the line that repeats it.
func passes(t *testing.T, o verify.Options) {
	t.Helper()
	report := run(t, o)
	for _, r := range report.Tests {
		assert.NotEqual(t, "fail", string(r.Verdict), "%s seed %d: %s\n%s", r.Scenario, r.Seed, r.Message, r.Replay)
	}
	assert.Positive(t, report.Passed())
}

// TestPresetsPass: all scenarios on the Verilog of every preset but chip28, which takes a compiler minutes (make chip28), and those whose
// shape another has too.
func TestPresetsPass(t *testing.T) {
	t.Parallel()
	presets := []string{"mini", "trio", "quint", "wide16", "lone", "minmax", "fpga100g", "mini3", "trio3"}
	if *everyConfig {
		presets = append(presets, "agilex8m", "fpga100g3")
	}
	for _, preset := range presets {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			passes(t, verify.Options{ManifestDir: generate(t, named(t, preset)), Config: preset, Seed: 11})
		})
	}
}

// TestCorePasses: the same scenarios on the top without ports of its own.
func TestCorePasses(t *testing.T) {
	t.Parallel()
	passes(t, verify.Options{ManifestDir: generate(t, named(t, "mini")), Config: "mini", DUT: verify.KindCore, Seed: 12})
}

// TestArithmeticPasses: and on all element types and operations, in place, reproducible, and with errors in the payload memory; on a bus
// of the same width as the lanes, on more beats than lanes, and with twice the lanes.
func TestArithmeticPasses(t *testing.T) {
	t.Parallel()
	configs := map[string][]string{
		"reproducible": append(endtoend.Reproducible(), "ecc=true", "payload_banks=2"),
		"few lanes":    append(endtoend.Every(), "bus_bytes=32", "lanes=2"),
		"many lanes":   append(endtoend.Every(), "bus_bytes=16", "lanes=8", "payload_banks=4"),
	}
	if *everyConfig {
		configs["every"], configs["protected"] = endtoend.Every(), endtoend.Protected()
	}
	for name, sets := range configs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := named(t, "mini", sets...)
			passes(t, verify.Options{ManifestDir: generate(t, p), Config: "mini", Seed: 15})
		})
	}
}

// shape is number i of the shapes drawn from the whole range of parameters, in the preset's mode.
func shape(t *testing.T, rng *rand.Rand, preset string, i int) params.Params {
	t.Helper()
	pick := func(from ...int) int { return from[rng.IntN(len(from))] }
	word := func(from ...string) string { return from[rng.IntN(len(from))] }
	bus, mtu, window, members := pick(8, 16, 32, 128), pick(256, 512, 2048, 4096), pick(1, 2, 8), pick(2, 3, 7, 16)
	dtypes := word("[FP32]", "[FP16, BF16]", "[FP32, INT32]", "[FP32, BF16]", "[FP32, FP16, BF16, INT32]")
	accumulate, lanes, payloads := "in_place", bus/4, 2*window*pick(1, 3)+pick(0, 1, 3)
	if i%2 == 1 {
		accumulate, lanes, payloads = "reproducible", bus/2, payloads*((members+1)/2)
	}
	if strings.Contains(dtypes, "16") {
		payloads *= 2
	}
	return named(t, preset, fmt.Sprintf("name=shape%d", i), fmt.Sprintf("bus_bytes=%d", bus), fmt.Sprintf("mtu_bytes=%d", mtu),
		fmt.Sprintf("window_packets=%d", window), fmt.Sprintf("buffer_bytes=%d", mtu*payloads), fmt.Sprintf("groups=%d", pick(1, 3, 5)),
		fmt.Sprintf("members=%d", members), fmt.Sprintf("ports=%d", pick(1, 2, 3, 7)), "dtypes="+dtypes,
		"ops="+word("[SUM]", "[SUM, MIN, MAX]"), "accumulate="+accumulate, fmt.Sprintf("lanes=%d", max(lanes/pick(1, 2, 4), 2)),
		fmt.Sprintf("adder_stages=%d", pick(1, 2, 3, 5)), "ecc="+word("true", "false"), fmt.Sprintf("payload_banks=%d", pick(1, 2, 4)))
}

// TestShapesPass: so does what is drawn, in both modes.
func TestShapesPass(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	presets := []string{"mini", "mini", "mini3"}
	if *everyConfig {
		presets = append(presets, "mini", "mini", "mini", "mini3", "mini3", "mini3")
	}
	for i, preset := range presets {
		p := shape(t, rng, preset, i)
		t.Run(strings.ReplaceAll(strings.TrimSpace(string(p.YAML())), "\n", " "), func(t *testing.T) {
			t.Parallel()
			passes(t, verify.Options{ManifestDir: generate(t, p), Config: p.Name, Seed: 13})
		})
	}
}

// TestNetlistPasses: what synthesis makes of mini, down to gates and flip-flops, behaves like its source; here in the scenarios of data,
// barriers, gaps, broken frames and registers, with -every-config in all but chaos and trees of ten engines, which take long at gate level and
// add nothing to what their source passed.
func TestNetlistPasses(t *testing.T) {
	t.Parallel()
	dir := generate(t, named(t, "mini"))
	netlist, err := synth.Netlist(testcost.Context(t), dir, synth.NetlistOptions{Top: "switch", OutDir: t.TempDir()})
	require.NoError(t, err)
	scenarios := "[bdgmr]*"
	if *everyConfig {
		scenarios = "[^ct]*"
	}
	passes(t, verify.Options{ManifestDir: dir, Config: "mini", DUT: verify.KindNetlist, Sources: []string{netlist}, Seed: 14, Scenario: scenarios})
}

// TestCapturesReplay: frames that two Linux hosts exchanged go through the Verilog as four ranks.
func TestCapturesReplay(t *testing.T) {
	t.Parallel()
	dir := generate(t, named(t, "mini"))
	for name, want := range map[string]struct {
		sums  bool
		drops []string // the reasons for which frames may be dropped, each with at least one
	}{
		"send-64k":         {sums: true},
		"send-64b":         {sums: true},
		"send-imm-1packet": {sums: true},
		"loss-delivered":   {sums: true, drops: []string{"DROP_GAP"}},
		"send-imm-3packet": {sums: true, drops: []string{"DROP_BAD_LENGTH", "DROP_GAP"}},
		"write-64k":        {drops: []string{"DROP_OPCODE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, err := filepath.Glob("../../roce/testdata/" + name + ".pcap*")
			require.NoError(t, err)
			require.Len(t, inputs, 1)
			out := filepath.Join(t.TempDir(), name+".pcapng")
			report, err := verify.Replay(testcost.Context(t), verify.ReplayOptions{ManifestDir: dir, Input: inputs[0], Output: out, Ranks: 4,
				Seed: 1})
			require.NoError(t, err)
			assert.Equal(t, want.sums, report.Sums > 0)
			require.NotEmpty(t, report.Predicted)
			for counter, n := range report.Predicted {
				assert.Equal(t, n, report.Counters[counter], counter)
			}
			for _, reason := range want.drops {
				assert.Positive(t, report.Counters[reason], reason)
			}
			dissected(t, out)
		})
	}
}

// dissected has tshark read a capture: nothing malformed. Its RPC-over-RDMA heuristic takes any SEND for RPC and is left out.
func dissected(t *testing.T, file string) {
	t.Helper()
	if _, err := tool.Find("tshark"); err != nil {
		t.Skip("tshark is not installed: nobody else reads the capture")
	}
	result, err := tool.Run(testcost.Context(t), tool.Command{Name: "tshark",
		Args: []string{"-r", file, "--disable-protocol", "rpcordma", "-Y", "_ws.malformed || _ws.expert.severity == error", "-T", "fields", "-e", "frame.number"}})
	require.NoError(t, err)
	assert.Empty(t, strings.TrimSpace(string(result.Stdout)), "frames that tshark calls malformed")
}
