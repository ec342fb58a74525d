// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/verify"
	"incforge/verify/result"
)

var every = flag.Bool("every-fault", false, "plant the rare faults too")

// planted are the faults by the preset that they are planted in.
func planted() map[string][]endtoend.Fault {
	return map[string][]endtoend.Fault{"mini": endtoend.Faults(), "mini3": endtoend.PipeFaults()}
}

// TestFaultsAreCaught: without a fault everything passes (TestPresetsPass); with each, something fails. The first failure is enough.
func TestFaultsAreCaught(t *testing.T) {
	t.Parallel()
	for preset, faults := range planted() {
		for _, fault := range faults {
			if fault.Rare && !*every {
				continue
			}
			t.Run(preset+"/"+fault.Name, func(t *testing.T) {
				t.Parallel()
				dir := generate(t, named(t, preset, fault.Sets...))
				require.NoError(t, fault.Plant(dir, preset))
				report := run(t, verify.Options{ManifestDir: dir, Seed: 1, FirstFailure: true})
				assert.NotZero(t, report.Failed(), "the fault went unnoticed")
				for _, r := range report.Tests {
					if r.Verdict == result.Fail {
						t.Logf("caught by %s: %s", r.Scenario, r.Message)
					}
				}
			})
		}
	}
}

// TestFaultsStillFit: every fault, the rare ones too, finds the line that it changes.
func TestFaultsStillFit(t *testing.T) {
	t.Parallel()
	for preset, faults := range planted() {
		names := map[string]bool{}
		for _, fault := range faults {
			assert.NoError(t, fault.Plant(generate(t, named(t, preset, fault.Sets...)), preset))
			assert.False(t, names[fault.Name], "two faults of %s are called %q", preset, fault.Name)
			names[fault.Name] = true
		}
	}
}
