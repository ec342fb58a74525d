// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
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
	"incforge/verify/dut"
	"incforge/verify/replay"
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

// configuration is what scenarios run on, by the name that the golden list has.
type configuration struct {
	name   string
	params params.Params
	// rare is a configuration that takes long, or is much like another: it runs with -every-config.
	rare bool
	// elsewhere is one that other tests or other commands run.
	elsewhere bool
	// scenario is a pattern of those that run; with -every-config all do.
	scenario string
	// only says that these alone run, with -every-config too: the others have another configuration like it.
	only bool
	// short: those that run without -every-config take less time than the compiler would need for a model that is as fast as it can be.
	short bool
}

const (
	// notChaos leaves out collectives over trees under faults of every kind. They take a third of a configuration's time. On one
	// configuration of either mode they run always, and TestCampaignOnVerilog draws more.
	notChaos = "!chaos-*"
	// shorter leaves out the two longest scenarios of ranges, too: what they go through depends on neither bus nor lanes, and mini and the
	// fault model tree have them.
	shorter = notChaos + ",!in-band,!in-band-before"
	// brief leaves out the longest of the others, too, which find no more where members are many.
	brief = shorter + ",!*mutate,!arith-*,!checksum-carry,!resets-in-*,!held-up*"
)

// configurations are all on which scenarios run: the presets; all element types and operations in place, reproducible, and with errors in
// the payload memory, on more beats than lanes, and with twice the lanes; mini as small as it can be without losing a block, and with 16
// members, so that its stars are Tree-2-16; and shapes drawn in both modes.
func configurations(t *testing.T) []configuration {
	t.Helper()
	var all []configuration
	presets, err := params.Presets()
	require.NoError(t, err)
	for _, preset := range presets {
		c := configuration{name: preset, params: named(t, preset), scenario: shorter}
		switch preset {
		case "mini", "mini3":
			c.scenario = ""
		case "lone", "minmax", "trio", "trio3", "wide16": // mini, mini3 and mini1 have what brief leaves out
			c.scenario, c.short = brief, preset == "wide16"
		case "agilex8m", "fpga100g", "fpga100g1", "fpga100g3": // minmax is as wide, with fewer lanes and a short window
			c.rare = true
		case "chip28lean", "fpga100g256": // wide16 adds in place too, and chip28 is as wide
			c.rare = true
		case "quint": // TestFaultsAreCaught has as many members, the same order of addition and ECC on a narrower bus
			c.rare = true
		case "chip28", "chip28x8": // take a compiler minutes, and their scenarios hours: make chip28, make chip28x8
			c.elsewhere = true
		}
		all = append(all, c)
	}
	for _, c := range []struct {
		name     string
		sets     []string
		rare     bool
		scenario string
		preset   string // mini if empty
		only     bool
	}{
		{name: "few-lanes", sets: append(endtoend.Every(), "bus_bytes=32", "lanes=2"), rare: true},                     // minmax has a quarter of the lanes
		{name: "many-lanes", sets: append(endtoend.Every(), "bus_bytes=16", "lanes=8", "payload_banks=4"), rare: true}, // wide16 has twice the lanes
		{name: "every", sets: endtoend.Every(), rare: true},
		{name: "protected", sets: endtoend.Protected(), rare: true},
		{name: "reproducible", sets: endtoend.Reproducible(), rare: true},                                                                               // TestFaultsAreCaught runs it with no fault chosen
		{name: "ports", sets: []string{"port_bytes=2"}, rare: true},                                                                                     // its blocks have benches, and the core is that of mini
		{name: "port-clocks", sets: []string{"port_bytes=4", "port_clock_mhz=[125, 322.265625, 156.25, 390.625]", "port_cut_through=true"}, rare: true}, // hdl/cdc has the crossings' benches
		{name: "ports-drop", sets: []string{"port_bytes=8", "port_drop=true"}, scenario: "groups,group-reset,arith-types,bypass,chaos-tree"},            // which bring four times what the engine takes, and drop frames
		{name: "port-widths", sets: []string{"port_bytes=8", "port_widths=[1, 2, 8, 4]", "port_clock_mhz=[400, 322.265625, 156.25, 90]"}, rare: true},
		{name: "engines", sets: []string{"engines=4", "groups=1"}, rare: true},                   // hdl/engines has benches, TestEngines the reference
		{name: "engines-tags", sets: []string{"engines=2", "groups=1", "vlan=true"}, rare: true}, // TestFaultsAreCaught plants faults in it
		{name: "engines-queues", sets: []string{"engines=3", "groups=2", "port_bytes=4", "port_clock_mhz=[322.265625]"}, rare: true},
		{name: "park", sets: []string{"park=true"}, rare: true},            // TestFaultsAreCaught runs all but the longest with no fault chosen
		{name: "park3", sets: []string{"mode=3", "park=true"}, rare: true}, // and all but chaos
		{name: "park-engines", sets: []string{"engines=2", "groups=2", "park=true"}, rare: true},
		{name: "park1", preset: "mini1", sets: []string{"park=true"}, rare: true}, // RareModels plants faults in it
		// Two groups of which memory holds one: park has the rest of such an engine.
		{name: "turns", sets: []string{"park=true", "buffer_bytes=11264"}, rare: true, scenario: "park-share", only: true},
		{name: "turns3", preset: "mini3", sets: []string{"park=true", "buffer_bytes=11264"}, rare: true, scenario: "park-share", only: true},
		{name: "turns1", preset: "mini1", sets: []string{"park=true", "buffer_bytes=22528"}, rare: true, scenario: "park-share", only: true},
		{name: "tags", sets: []string{"vlan=true"}, rare: true},     // hdl/vlan has the blocks' benches, and the core inside is that of mini
		{name: "operation", sets: endtoend.Operation(), rare: true}, // hdl/interrupts, hdl/priority and hdl/vlan have the blocks' benches
		{name: "releases1", preset: "mini1", sets: []string{"no_releases=false", "ecc=true", "park=true"}, rare: true},
		{name: "rangereleases1", preset: "mini1", sets: []string{"in_band=true", "no_releases=false", "ecc=true", "park=true"}, rare: true},
		{name: "ranges1", preset: "mini1", sets: []string{"in_band=true"}, rare: true},                                // RareModels plants faults in it
		{name: "engines1", preset: "mini1", sets: []string{"engines=2", "groups=1"}, rare: true},                      // and engines those of the switch round them
		{name: "operation1", preset: "mini1", sets: []string{"vlan=true", "interrupts=true", "ecc=true"}, rare: true}, // poison1 has the faults of the last
		{name: "small", sets: []string{"members=2", "ports=3", "mtu_bytes=256", "window_packets=2", "buffer_bytes=2048"}, rare: true},
		{name: "sixteen", sets: []string{"members=16", "ports=16", "buffer_bytes=65536"}, scenario: brief},
	} {
		all = append(all, configuration{name: c.name, params: named(t, cmp.Or(c.preset, "mini"), append(c.sets, "name=mini_"+strings.ReplaceAll(c.name, "-", "_"))...), rare: c.rare,
			scenario: cmp.Or(c.scenario, shorter), only: c.only})
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i, preset := range []string{"mini", "mini", "mini3", "mini", "mini", "mini", "mini3", "mini3", "mini3"} {
		p := shape(t, rng, preset, i)
		all = append(all, configuration{name: p.Name, params: p, rare: i > 0, scenario: shorter})
	}
	return all
}

// configured is the configuration of that name.
func configured(t *testing.T, name string) configuration {
	t.Helper()
	all := configurations(t)
	i := slices.IndexFunc(all, func(c configuration) bool { return c.name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// TestConfigurationsPass: on the Verilog of every configuration the scenarios that it runs.
func TestConfigurationsPass(t *testing.T) {
	t.Parallel()
	for _, c := range configurations(t) {
		if c.elsewhere || c.rare && !*everyConfig {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%s", c.params.YAML())
			var how implementation
			if !*everyConfig || c.only {
				how.scenario = c.scenario
			}
			passes(t, c, generate(t, c.params), 11, how)
		})
	}
}

// TestCorePasses: scenarios on the top without ports of its own. It stands in the other top as it is, where the longest have run on it; chaos
// is about what is round it.
func TestCorePasses(t *testing.T) {
	t.Parallel()
	c := configured(t, "mini")
	passes(t, c, generate(t, c.params), 12, implementation{core: true, scenario: brief})
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

// TestNetlistPasses: what synthesis makes of mini, down to gates and flip-flops, behaves like its source, in all scenarios but chaos and
// trees of ten engines, which take long at gate level and add nothing to what their source passed. It runs with -every-config (make
// configs); synth's own tests simulate netlists of blocks.
func TestNetlistPasses(t *testing.T) {
	t.Parallel()
	if !*everyConfig {
		t.Skip("synthesis to gates and their compilation take minutes: make configs")
	}
	const scenarios = "[^ct]*"
	c := configured(t, "mini")
	dir := generate(t, c.params)
	netlist, err := synth.Netlist(testcost.Context(t), dir, synth.NetlistOptions{Top: "switch", OutDir: t.TempDir()})
	require.NoError(t, err)
	passes(t, c, dir, 14, implementation{netlist: netlist, scenario: scenarios})
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
			report, err := replay.Run(testcost.Context(t), replay.Options{Source: dut.Source{ManifestDir: dir}, Input: inputs[0], Output: out, Ranks: 4,
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
