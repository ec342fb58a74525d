// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/verify"
)

var every = flag.Bool("every-fault", false, "plant the rare faults too")

// TestFaultsAreCaught: without a fault everything passes (TestPresetsPass); with each, something fails. The first failure is enough.
func TestFaultsAreCaught(t *testing.T) {
	t.Parallel()
	const preset = "mini"
	for _, fault := range endtoend.Faults() {
		if fault.Rare && !*every {
			continue
		}
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			dir := generate(t, named(t, preset, fault.Sets...))
			require.NoError(t, fault.Plant(dir, preset))
			report := run(t, verify.Options{ManifestDir: dir, Seed: 1, Quick: true, FirstFailure: true})
			assert.NotZero(t, report.Failed(), "the fault went unnoticed")
		})
	}
}

// TestFaultsStillFit: every fault, the rare ones too, finds the line that it changes.
func TestFaultsStillFit(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, fault := range endtoend.Faults() {
		assert.NoError(t, fault.Plant(generate(t, named(t, "mini", fault.Sets...)), "mini"))
		assert.False(t, names[fault.Name], "two faults are called %q", fault.Name)
		names[fault.Name] = true
	}
}
