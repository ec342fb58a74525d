// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"cmp"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/internal/jobs"
	"incforge/internal/testcost"
	"incforge/verify/dut"
)

var recordKills = flag.Bool("record-kills", false, "find which scenario catches a fault that testdata/kills.yaml does not know, or no longer, and write that file")

// killsFile says by model and fault which scenario catches it.
const killsFile = "testdata/kills.yaml"

// kills are the scenarios by model and fault.
type kills map[string]map[string]string

func readKills(t *testing.T) kills {
	t.Helper()
	text, err := os.ReadFile(killsFile)
	require.NoError(t, err)
	var k kills
	require.NoError(t, yaml.Unmarshal(text, &k))
	return k
}

// order is that in which scenarios are tried on a fault: the one that is known to catch it, those that catch others, the most first, and
// the rest as they are listed.
func (k kills) order(model, fault string, scenarios []string) []string {
	caught := map[string]int{}
	for _, s := range k[model] {
		caught[s]++
	}
	rank := func(s string) int {
		if s == k[model][fault] {
			return len(k[model]) + 1
		}
		return caught[s]
	}
	sorted := slices.Clone(scenarios)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
	return sorted
}

// plantedModel generates a model's configuration and plants all its faults.
func plantedModel(t *testing.T, m endtoend.Model) dut.Source {
	t.Helper()
	dir := generate(t, named(t, m.Preset, m.Sets...))
	require.NoError(t, endtoend.Plant(dir, m.Faults))
	return dut.Source{ManifestDir: dir, Short: m.Few}
}

// planted is a model with all its faults in it, and the scenarios that its configuration can hold.
type planted struct {
	endtoend.Model
	source    dut.Source
	scenarios []string
	known     kills
}

func plantAll(t *testing.T, models []endtoend.Model) []*planted {
	t.Helper()
	known := readKills(t)
	var all []*planted
	for _, m := range models {
		p := &planted{Model: m, source: plantedModel(t, m), known: known}
		for _, j := range judge(t, named(t, m.Preset, m.Sets...)) {
			if j.reason == "" {
				p.scenarios = append(p.scenarios, j.scenario)
			}
		}
		all = append(all, p)
	}
	return all
}

// catch is the first scenario that fails with a fault chosen, and why it does. Missed counts those that passed before; there is no scenario if
// the fault went unnoticed.
type catch struct {
	Scenario, Why string
	Missed        int
}

func (p *planted) catch(ctx context.Context, i int) (catch, error) {
	for n, s := range p.known.order(p.Name, p.Faults[i].Name, p.scenarios) {
		if why, err := failure(ctx, p.source, s, endtoend.Choose(i)); err != nil || why != "" {
			return catch{s, why, n}, err
		}
	}
	return catch{}, nil
}

// TestFaultsAreCaught: with each fault chosen, some scenario fails, and the first failure is enough. With none, the scenarios that caught one
// pass, and all but chaos of a model that is Whole.
func TestFaultsAreCaught(t *testing.T) {
	t.Parallel()
	if *recordKills {
		t.Skip("recording")
	}
	models := endtoend.Models()
	if *everyConfig {
		models = append(models, endtoend.RareModels()...)
	}
	all := plantAll(t, models)
	find := func(t *testing.T, p *planted, i int) (catch, error) { return p.catch(testcost.Context(t), i) }
	if where := anywhere(); where.Slurm != nil || jobs.Shard() {
		found := caughtOn(t, where, all, nil)
		find = func(_ *testing.T, p *planted, i int) (catch, error) { return found[p][i], nil }
	}
	if jobs.Shard() {
		return
	}
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			used := map[string]bool{}
			t.Run("faults", func(t *testing.T) {
				for i, f := range p.Faults {
					t.Run(f.Name, func(t *testing.T) {
						t.Parallel()
						c, err := find(t, p, i)
						require.NoError(t, err)
						require.NotEmpty(t, c.Scenario, "the fault went unnoticed")
						if t.Logf("caught by %s: %s", c.Scenario, c.Why); c.Missed > 0 {
							t.Logf("%s does not know that (-record-kills)", killsFile)
						}
						mu.Lock()
						defer mu.Unlock()
						used[c.Scenario] = true
					})
				}
			})
			if p.Whole {
				pattern := notChaos
				if p.Brief {
					pattern = brief
				}
				for _, s := range p.scenarios {
					used[s] = used[s] || matches(t, pattern, s)
				}
			}
			healthy := slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(s string) bool { return !used[s] })
			for _, s := range healthy {
				t.Run("none/"+s, func(t *testing.T) {
					t.Parallel()
					assert.Empty(t, fails(t, p.source, s), "without a fault")
				})
			}
		})
	}
}

// TestHalfAChoice: half of a chain of ?: is refused, since what is planted stands in parentheses.
func TestHalfAChoice(t *testing.T) {
	t.Parallel()
	const module = "module m (\n    input wire sel_a\n);\n    assign out = sel_a ? 1'b0 : sel_b ? in_c : in_d;\nendmodule\n"
	for _, tt := range []struct {
		old     string
		refused bool
	}{
		{"sel_a ? 1'b0 : sel_b", true},
		{"sel_a ? 1'b0 : sel_b ? in_c : in_d", false},
		{"sel_b", false},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "m.v"), []byte(module), 0o600))
		err := endtoend.Plant(dir, []endtoend.Fault{{Name: "half", File: "m.v", Old: tt.old, New: "1'b1"}})
		if tt.refused {
			require.ErrorContains(t, err, "take the whole expression", tt.old)
		} else {
			require.NoError(t, err, tt.old)
		}
	}
}

// TestFaultInText: a fault that stands in the Verilog for good is caught, too: what is changed in the generated files is what runs.
func TestFaultInText(t *testing.T) {
	t.Parallel()
	m := endtoend.Models()[0]
	i := slices.IndexFunc(m.Faults, func(f endtoend.Fault) bool { return f.Name == "no slot tag (A4)" })
	require.GreaterOrEqual(t, i, 0)
	dir := generate(t, named(t, m.Preset, m.Sets...))
	require.NoError(t, m.Faults[i].Replace(dir))
	assert.NotEmpty(t, fails(t, dut.Source{ManifestDir: dir}, readKills(t)[m.Name][m.Faults[i].Name]), "the fault went unnoticed")
}

// TestFaultsFit: the faults of a model have names of their own, and killsFile has those names and no others.
func TestFaultsFit(t *testing.T) {
	t.Parallel()
	known := readKills(t)
	for _, m := range slices.Concat(endtoend.Models(), endtoend.RareModels()) {
		plantedModel(t, m)
		var names []string
		for _, f := range m.Faults {
			assert.NotContains(t, names, f.Name, "two faults of one name")
			names = append(names, f.Name)
		}
		assert.ElementsMatch(t, names, slices.Collect(maps.Keys(known[m.Name])), "%s: %s has other faults (-record-kills)", m.Name, killsFile)
	}
}

// TestRecordKills is no test: it writes killsFile. A scenario that stands there and still catches its fault stays; for other faults it tries
// all, the quickest first.
func TestRecordKills(t *testing.T) {
	if !*recordKills {
		t.Skip("for -record-kills")
	}
	before, known := readKills(t), kills{}
	var mu sync.Mutex
	t.Run("models", func(t *testing.T) {
		for _, m := range slices.Concat(endtoend.Models(), endtoend.RareModels()) {
			known[m.Name] = map[string]string{}
			source := plantedModel(t, m)
			scenarios := sync.OnceValue(func() []string { return quickest(t, source) })
			for i, f := range m.Faults {
				t.Run(m.Name+"/"+f.Name, func(t *testing.T) {
					t.Parallel()
					if s := before[m.Name][f.Name]; s != "" && fails(t, source, s, endtoend.Choose(i)) != "" {
						mu.Lock()
						defer mu.Unlock()
						known[m.Name][f.Name] = s
						return
					}
					for _, s := range scenarios() {
						if why := fails(t, source, s, endtoend.Choose(i)); why != "" {
							mu.Lock()
							defer mu.Unlock()
							known[m.Name][f.Name] = s
							return
						}
					}
					t.Error("the fault went unnoticed")
				})
			}
		}
	})
	text, err := yaml.Marshal(known)
	require.NoError(t, err)
	head := "# Which scenario catches which fault, by model: the quickest that does. Written by go test ./internal/endtoend -run RecordKills -record-kills.\n"
	require.NoError(t, os.MkdirAll(filepath.Dir(killsFile), 0o755))
	require.NoError(t, os.WriteFile(killsFile, append([]byte(head), text...), 0o644))
}

// quickest are the scenarios that the configuration can hold, the quickest first.
func quickest(t *testing.T, source dut.Source) []string {
	t.Helper()
	all := times(t, source)
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}
