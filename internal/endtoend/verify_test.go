// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/testcost"
	"incforge/rtlgen/params"
	"incforge/verify"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/scenarios"
)

// This file is where the tests meet package verify.

// run runs scenarios; a failed one is the caller's to judge.
func run(t *testing.T, o verify.Options) verify.Report {
	t.Helper()
	report, err := verify.Run(testcost.Context(t), o)
	if !errors.Is(err, verify.ErrFailed) {
		require.NoError(t, err)
	}
	return report
}

// implementation is what stands for a configuration in passes: the top with ports of its own, and all scenarios, if nothing else is said.
type implementation struct {
	core     bool
	netlist  string // a Verilog file
	scenario string // a pattern of names
}

// passes runs scenarios on the Verilog generated in dir: all that the golden list says of the configuration, and that match, must run and
// pass. A failed one is told with the line that repeats it.
func passes(t *testing.T, c configuration, dir string, seed uint64, how implementation) {
	t.Helper()
	o := verify.Options{Source: dut.Source{ManifestDir: dir, Short: c.short && !*everyConfig}, Config: c.params.Name, Seed: seed, Scenario: how.scenario}
	switch {
	case how.core:
		o.Source.Kind = dut.KindCore
	case how.netlist != "":
		o.Source.Kind, o.Source.Sources = dut.KindNetlist, []string{how.netlist}
	}
	report := run(t, o)
	passed := []string{}
	for _, r := range report.Tests {
		assert.NotEqual(t, result.Fail, r.Verdict, "%s seed %d: %s\n%s", r.Scenario, r.Seed, r.Message, r.Replay)
		if r.Verdict == result.Pass {
			passed = append(passed, r.Scenario)
		}
	}
	want := slices.DeleteFunc(readGolden(t).runs(c.name), func(name string) bool { return !matches(t, how.scenario, name) })
	assert.ElementsMatch(t, want, passed, "the scenarios of %s", goldenFile)
}

// matches tells whether a scenario is one of those that a pattern names.
func matches(t *testing.T, pattern, scenario string) bool {
	t.Helper()
	ok, err := scenarios.Matches(pattern, scenario)
	require.NoError(t, err)
	return ok
}

// fails runs a scenario on a planted model and returns why it failed, or nothing. No args means no fault.
func fails(t *testing.T, source dut.Source, scenario string, args ...string) string {
	t.Helper()
	why, err := failure(testcost.Context(t), source, scenario, args...)
	require.NoError(t, err)
	return why
}

// failure is fails with a context and an error.
func failure(ctx context.Context, source dut.Source, scenario string, args ...string) (why string, err error) {
	source.PlusArgs = args
	report, err := verify.Run(ctx, verify.Options{Source: source, Seed: 1, Scenario: scenario})
	if err != nil && !errors.Is(err, verify.ErrFailed) {
		return "", err
	}
	if report.Failed() == 0 {
		return "", nil
	}
	return report.Tests[0].Message, nil
}

// timed is how long a scenario took.
type timed struct {
	name    string
	seconds float64
}

// times runs all scenarios on a model and says how long those took that passed.
func times(t *testing.T, source dut.Source) []timed {
	t.Helper()
	var all []timed
	for _, r := range run(t, verify.Options{Source: source, Seed: 1}).Tests {
		assert.NotEqual(t, result.Fail, r.Verdict, "%s: %s", r.Scenario, r.Message)
		if r.Verdict == result.Pass {
			all = append(all, timed{r.Scenario, r.WallSeconds})
		}
	}
	return all
}

// judged is a scenario and why a configuration cannot hold it, or nothing.
type judged struct{ scenario, reason string }

// judge says of every scenario, in the order in which they run, whether it is for these parameters.
func judge(t *testing.T, p params.Params) []judged {
	t.Helper()
	m, err := contract.Load(generate(t, p))
	require.NoError(t, err)
	var all []judged
	for _, s := range scenarios.All() {
		j := judged{scenario: s.Name}
		if s.Needs != nil {
			j.reason = s.Needs(m.Params)
		}
		all = append(all, j)
	}
	return all
}
