// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/testcost"
	"incforge/rtlgen"
	"incforge/verify"
	"incforge/verify/dut"
	"incforge/verify/result"
)

// TestEngines: scenarios take a switch of several reference engines without knowing of it. One group an engine, so that those of a scenario are on
// several; or two, in Mode III, so that they share one. The Verilog of such switches runs with -every-config.
func TestEngines(t *testing.T) {
	t.Parallel()
	for name, sets := range map[string][]string{"mini": {"engines=4", "groups=1"}, "mini3": {"engines=3", "groups=2"}} {
		m, err := rtlgen.Describe(named(t, name, append(sets, "name=several")...))
		require.NoError(t, err)
		rep, err := verify.RunAll(testcost.Context(t), []verify.Engine{{Source: dut.Source{Manifest: m, Kind: dut.KindReference}, Config: name}},
			verify.Options{Scenario: brief, Seed: 3})
		require.NoError(t, err)
		passed := 0
		for _, r := range rep.Tests {
			assert.NotEqual(t, result.Fail, r.Verdict, "%s: %s", r.Scenario, r.Message)
			if r.Verdict == result.Pass {
				passed++
			} else {
				assert.NotContains(t, strings.ToLower(r.Message), "group", "%s: there are groups enough", r.Scenario)
			}
		}
		assert.Greater(t, passed, 30, name)
	}
}
