// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rooms are the house, from the ground up. Some are planned and still empty.
func rooms() []Room {
	return []Room{
		{"internal/tool", 0, "runs foreign programs"},
		{"internal/cache", 0, "keeps what they made"},
		{"internal/progress", 0, "says how far something is"},
		{"internal/yamlpos", 0, "says where in a YAML file something is"},
		{"internal/strictyaml", 1, "reads YAML into structs and says all that is wrong with it"},
		{"internal/arch", 0, "these rules"},
		{"internal/names", 0, "names of enumerations"},
		{"internal/fail", 0, "ends a function of many steps at the first failure"},
		{"internal/clocked", 0, "cycles and the clock that holds"},
		{"internal/splitmix", 0, "spreads numbers over 64 bits"},
		{"internal/testlog", 0, "output that a test reads while it is written"},
		{"configs", 0, "the presets' files"},
		{"contract", 0, "what crosses from the generator to everybody else: all may read it, so it reads nobody"},
		{"roce", 0, "the wire: knows packets, not engines"},
		{"network/topology", 0, "trees: knows shapes, not engines"},

		{"hdl/graph", 1, "the construction kit: knows modules and connections, not EPIC"},
		{"hdl/verilog", 2, "prints what the kit built"},
		{"hdl/...", 3, "the blocks, and what blocks share"},

		{"rtlgen/params", 4, "what a user says"},
		{"rtlgen", 6, "the modes as graphs over the blocks"},
		{"rtlgen/reuse", 7, "how much Verilog designs share"},

		{"inc/...", 1, "the reference engine: written from the specification, over the wire alone"},
		{"sim/...", 1, "Verilated models: knows Verilog, not EPIC"},
		{"hdl/hdltest/...", 7, "what the blocks' tests share: blocks in a simulator"},
		{"internal/synthetic", 2, "manifests without a generator, for tests"},

		{"verify/arith", 1, "plain arithmetic, independent of the reference"},
		{"verify/cover", 1, "coverage points"},
		{"verify/code", 1, "lines, branches and bits of the Verilog that were reached"},
		{"verify/result", 2, "results as JSON lines and JUnit"},
		{"verify/ctrl", 3, "writes an engine's registers"},
		{"verify/dut/upset", 3, "models of memories whose bits can be inverted"},
		{"verify/dut", 4, "an engine behind one interface: Verilog, netlist or reference"},
		{"verify/score", 5, "judges an engine by the reference"},

		{"network/host", 2, "a NIC, over the wire alone"},
		{"network/ranges", 2, "cuts collectives into what engines do: knows neither NICs nor memory"},
		{"network/fabric", 6, "links between engines and NICs"},
		{"network/comm", 7, "collectives over a tree of engines"},
		{"network/tensors", 8, "files of tensors through collectives"},
		{"network/chaos", 8, "collectives drawn at random"},

		{"verify/flips", 8, "bits inverted in an engine's memories, and what comes of it"},
		{"verify/rig", 8, "an engine with its endpoints, as scenarios use it"},
		{"verify/scenarios/...", 9, "what is tried, by subject; the registry and the runner above know the list"},
		{"verify/replay", 9, "captures through an engine"},
		{"verify", 10, "the runner: which scenarios apply, how they are run, what came of it"},
		{"bench", 11, "measures with the harness"},
		{"mutate/mutant", 0, "mistakes in the text of Verilog, and nothing else"},
		{"mutate/score", 1, "what is noticed of them, in JSON"},
		{"mutate", 11, "how good the harness is: what it notices of them"},

		{"prove", 3, "properties of the Verilog, without a harness"},

		{"evidence", 10, "the paper's figures beside ours, from what commands wrote: computes nothing"},

		{"modelcheck/model", 6, "hosts, switches and links of a model"},
		{"modelcheck/scenario", 8, "a model step by step; what a switch gets there can be given to any engine"},
		{"modelcheck", 9, "explores a model's states"},
		{"live/...", 9, "an engine at real sockets"},
		{"lab/folder", 4, "where a lab keeps its files"}, {"lab/relay", 4, "byte streams of guests over one terminal"}, {"lab/taps", 10, "captures of links"},
		{"lab", 11, "guests around engines at sockets"},
		{"control/placement", 1, "trees for groups: knows networks and what an engine can hold, and talks to nobody"},
		{"flows", 2, "training jobs on a cluster, flow by flow: places groups as the manager does"},
		{"flows/paper", 3, "the paper's clusters, and its figures beside ours"},
		{"control/store", 0, "records that outlive a crash"},
		{"control/mmio", 0, "registers in a file"},
		{"control/agentpb", 0, "what an agent is asked"},
		{"control/managerpb", 0, "what a manager is asked"},
		{"control/rpc", 1, "connections and who is at the other end"},
		{"control/rpc/rpctest", 2, "certificates for tests"},
		{"control/lock", 1, "turns: knows what outlives a crash, and neither engines nor the network"},
		{"control/member", 1, "a host's side: knows the manager by its service alone"},
		{"commlib/verbs", 1, "a NIC's queue pairs, by the names of libibverbs"},
		{"commlib/ibverbs", 2, "a NIC of libibverbs behind them"},
		{"commlib/softnic", 3, "a NIC of models behind them"},
		{"commlib/rendezvous", 4, "groups of a lab, without a manager"},
		{"commlib/perf", 4, "what collectives cost, and whether they are right"},
		{"commlib", 3, "collectives for a program on a host: knows queue pairs, and the manager through member"},
		{"commlib/nic", 10, "one name for NICs of either kind"},
		{"commlib/capi", 20, "the library for C"},
		{"commlib/examples/...", 20, "as users write it"},
		{"control/agent", 10, "a switch's hand: knows its engine, and no network"},
		{"control/manager", 10, "the cluster: knows agents by their service alone"},

		{"synth/design", 1, "the manifest, as synthesis reads it"},
		{"synth/liberty", 1, "cell libraries"},
		{"synth/yosys", 1, "scripts and statistics of Yosys"},
		{"synth/rtlil", 2, "the text of Yosys's designs"},
		{"synth/netlist", 2, "mapped modules in memory: counts, sizes, Verilog"},
		{"synth", 3, "area and timing"},
		{"synth/openroad", 4, "folders for OpenROAD's flows"},
		{"fpga/...", 2, "resources of an FPGA, levels, place and route"},
		{"sweep/scale", 0, "predicts a quantity from a few samples"},
		{"sweep/front", 1, "what a sweep found, and its drawings"},
		{"sweep", 12, "many configurations priced"},
		{"report", 4, "draws what was found, and computes nothing"},

		{"internal/lint", 4, "foreign programs over generated Verilog"},
		{"internal/doctor", 4, "which foreign programs there are"},
		{"internal/testcost", 1, "what the programs cost that a test runs"},
		{"internal/testtimes", 2, "what tests cost, as a program"},
		{"internal/fourstate", 8, "simulates with X"},
		{"internal/jobs", 1, "runs independent pieces of work, here or on a cluster"},
		{"internal/jobs/slurmtest", 0, "a cluster for tests"},
		{"internal/endtoend", 20, "tests over the whole house"},
		{"cmd/...", 20, "flags in, calls of packages out"},
	}
}

// bans are what must not be reached by any way.
func bans() []Ban {
	const independent = "the reference shares no code with what it judges"
	const computes = "a report draws what others found"
	return []Ban{
		{"inc/...", "rtlgen/...", independent}, {"inc/...", "hdl/...", independent}, {"inc/...", "contract", independent},
		{"inc/...", "sim/...", independent}, {"inc/...", "verify/...", independent},
		{"verify/arith", "inc", "plain arithmetic is a second opinion on the reference"},
		{"report", "sim/...", computes}, {"report", "mutate", computes}, {"report", "inc", computes}, {"report", "verify/dut", computes}, {"report", "network/...", computes},
		{"report", "modelcheck/...", computes}, {"report", "live/...", computes}, {"report", "rtlgen/...", computes},
		{"sim/...", "inc", "a model runs any Verilog"}, {"sim/...", "roce", "a model runs any Verilog"},
		{"rtlgen/...", "inc", "the generator shares no code with its judge"}, {"hdl/...", "inc", "blocks share no code with their judge"},
		{"rtlgen/...", "sim/...", "generating takes no simulator"}, {"rtlgen/...", "internal/tool", "generating takes no foreign program"},
		{"verify/...", "rtlgen/...", "what checks a design knows the files that were generated, not how"},
		{"network/...", "rtlgen/...", "as for verify"}, {"modelcheck/...", "rtlgen/...", "as for verify"}, {"live/...", "rtlgen/...", "as for verify"},
		{"control/...", "rtlgen/...", "as for verify"}, {"lab", "rtlgen/...", "as for verify"}, {"mutate/...", "rtlgen/...", "as for verify"},
		{"prove", "rtlgen/...", "as for verify"},
	}
}

func tree(t *testing.T) []Package {
	t.Helper()
	all, err := Load("../..")
	require.NoError(t, err)
	require.Greater(t, len(all), 40)
	return all
}

func TestImportsRunDownwards(t *testing.T) {
	require.NoError(t, CheckImports(tree(t), rooms(), bans()))
}

func TestLengths(t *testing.T) {
	require.NoError(t, CheckLengths(tree(t), Limits{Package: 2500, File: 700, Function: 80}))
}

// Every room and ban has a reason, and no room stands in the table twice.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms() {
		assert.NotEmpty(t, r.Why, r.Path)
		assert.False(t, seen[r.Path], r.Path)
		seen[r.Path] = true
	}
	for _, b := range bans() {
		assert.NotEmpty(t, b.Why, b.From)
	}
}

// The rules see what they are there for.
func TestBrokenRules(t *testing.T) {
	house := []Room{{"low", 0, "x"}, {"mid/...", 1, "x"}, {"mid/own", 2, "x"}, {"high", 3, "x"}, {"high2", 3, "x"}}
	pkg := func(path string, imports ...string) Package { return Package{Path: path, Imports: imports} }
	for want, all := range map[string][]Package{
		"":                               {pkg("low"), pkg("mid", "low"), pkg("mid/a", "mid", "low"), pkg("mid/own", "mid/a"), pkg("high", "mid/own", "low")},
		"new has no room":                {pkg("new")},
		"low imports mid/a":              {pkg("low", "mid/a")},
		"mid/a imports mid/own":          {pkg("mid/a", "mid/own")},
		"high imports high2":             {pkg("high", "high2")},
		"high → mid/a → low":             {pkg("high", "mid/a", "mid/b"), pkg("mid/b", "mid/a"), pkg("mid/a", "low")},
		"mid/b must not reach mid/own (": {pkg("mid/b", "low"), pkg("low", "mid/own")},
	} {
		var against []Ban
		switch {
		case strings.Contains(want, "→"):
			against = []Ban{{"high", "low", "it is banned"}}
		case strings.Contains(want, "reach"):
			against = []Ban{{"mid/...", "mid/own", "it is banned"}}
		}
		err := CheckImports(all, house, against)
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module m\n\ngo 1.26\n",
		"a/a.go":            "// Package a is long.\n//\n// Long: because.\npackage a\n\nimport (\n\t\"fmt\"\n\n\t\"m/b\"\n)\n\n// F is long.\n//\n// Long: because.\nfunc F() {\n\tfmt.Println(b.T{})\n}\n",
		"a/two.go":          "// Long: this file.\n\npackage a\n\nfunc G() {\n}\n",
		"a/a_test.go":       "package a\n\nimport _ \"m/c\"\n",
		"b/b.go":            "package b\n\n// T is a type.\ntype T struct{}\n\n// M is a method; Long: is not at the head of a line.\nfunc (t *T) M() {\n}\n",
		"b/testdata/x/x.go": "not Go\n",
		"other/go.mod":      "module other\n",
		"other/o.go":        "package other\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	all, err := Load(dir)
	require.NoError(t, err)
	require.Equal(t, []Package{
		{Path: "a", Imports: []string{"b"}, Lines: 23, Long: true, Files: []File{
			{Name: "a.go", Lines: 17, Long: true, Functions: []Function{{"F", 3, true}}},
			{Name: "two.go", Lines: 6, Long: true, Functions: []Function{{"G", 2, false}}}}},
		{Path: "b", Lines: 8, Files: []File{{Name: "b.go", Lines: 8, Functions: []Function{{"T.M", 2, false}}}}},
	}, all)

	assert.NoError(t, CheckLengths(all, Limits{23, 17, 3}))
	err = CheckLengths(all, Limits{7, 7, 1})
	for _, want := range []string{"a.G has 2 lines", "b has 8 lines, 7 are allowed", "b/b.go has 8 lines", "b.T.M has 2 lines"} {
		assert.ErrorContains(t, err, want)
	}
	for _, not := range []string{"a.F", "a/", "a has"} {
		assert.NotContains(t, err.Error(), not)
	}
}
