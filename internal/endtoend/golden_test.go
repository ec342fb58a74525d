// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var recordScenarios = flag.Bool("record-scenarios", false, "write testdata/scenarios.txt anew")

const (
	// goldenFile says of every configuration which scenarios run on it, and why the others do not.
	goldenFile = "testdata/scenarios.txt"
	// runsOn stands in it where there is no reason against.
	runsOn = "runs"
)

// golden is the content of goldenFile: a line holds a scenario, a reason and the configurations for which that is so.
type golden []goldenLine

type goldenLine struct {
	scenario, reason string
	configs          []string
}

// goldenFields separates scenario, reason and configurations.
const goldenFields = " | "

func (g golden) String() string {
	var b strings.Builder
	b.WriteString("# Which scenarios run on which configurations of internal/endtoend, and why not on the others.\n" +
		"# Written by go test ./internal/endtoend -run Golden -record-scenarios; a scenario that vanishes here wants a reason.\n")
	for _, l := range g {
		fmt.Fprintf(&b, "%s%s%s%s%s\n", l.scenario, goldenFields, l.reason, goldenFields, strings.Join(l.configs, " "))
	}
	return b.String()
}

func readGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	var g golden
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), goldenFields)
		require.Len(t, fields, 3, line)
		g = append(g, goldenLine{fields[0], fields[1], strings.Fields(fields[2])})
	}
	return g
}

// runs are the scenarios that run on a configuration.
func (g golden) runs(config string) []string {
	var names []string
	for _, l := range g {
		if l.reason == runsOn && slices.Contains(l.configs, config) {
			names = append(names, l.scenario)
		}
	}
	return names
}

// TestScenariosAreGolden: what scenarios need keeps none from a configuration but those that goldenFile says.
func TestScenariosAreGolden(t *testing.T) {
	t.Parallel()
	var got golden
	for _, c := range configurations(t) {
		for _, j := range judge(t, c.params) {
			if j.reason == "" {
				j.reason = runsOn
			}
			i := slices.IndexFunc(got, func(l goldenLine) bool { return l.scenario == j.scenario && l.reason == j.reason })
			if i < 0 {
				i = len(got)
				got = append(got, goldenLine{scenario: j.scenario, reason: j.reason})
			}
			got[i].configs = append(got[i].configs, c.name)
		}
	}
	slices.SortStableFunc(got, func(a, b goldenLine) int { return strings.Compare(a.scenario, b.scenario) })
	if *recordScenarios {
		require.NoError(t, os.WriteFile(goldenFile, []byte(got.String()), 0o644))
	}
	assert.Empty(t, cmp.Diff(readGolden(t).String(), got.String()))
	for _, c := range configurations(t) {
		assert.NotEmpty(t, got.runs(c.name), "nothing runs on %s", c.name)
	}
}
