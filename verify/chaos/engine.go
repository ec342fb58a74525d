// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"io"

	"incforge/sim"
	"incforge/verify/dut"
	"incforge/verify/manifest"
)

// OpenReference makes reference engines.
func OpenReference(m *manifest.Manifest) Opener {
	return func(uint64) (dut.DUT, error) { return dut.NewReference(m) }
}

// OpenRTL compiles the generated folder's top with a stream a port, or takes it from the simulator's cache, and makes instances of it.
// Registers hold random values before reset.
func OpenRTL(ctx context.Context, m *manifest.Manifest, log io.Writer) (Opener, error) {
	b, err := sim.FromManifest(m.Dir, "switch")
	if err != nil {
		return nil, fmt.Errorf("build the model of %s: %w", m.Name, err)
	}
	b.Log = log
	lib, err := b.Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("build the model of %s: %w", m.Name, err)
	}
	return func(seed uint64) (dut.DUT, error) {
		return dut.NewRTL(lib, m, false, sim.Options{Random: true, Seed: seed})
	}, nil
}
