// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"os"
	"path/filepath"

	"incforge/sim/verilate"
)

// CoverPoint is a place in the Verilog that a model built with Build.Cover counts, one for all instances of the module.
type CoverPoint = verilate.CoverPoint

// Coverage returns the points of the model's library, the same for all of its instances, and how often this one came to each.
func (m *Model) Coverage() ([]CoverPoint, []uint64, error) {
	switch {
	case m.closed:
		return nil, nil, errClosed
	case !m.lib.Covered():
		return nil, nil, fmt.Errorf("model %s was not built to be covered", m.lib.top)
	}
	dir, err := os.MkdirTemp("", "incsim-cover-")
	if err != nil {
		return nil, nil, fmt.Errorf("coverage: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "counts")
	if !m.inst.coverWrite(file) {
		return nil, nil, fmt.Errorf("coverage: model %s cannot write to %s", m.lib.top, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("coverage: %w", err)
	}
	points, counts, err := m.lib.cover.Counts(text)
	if err != nil {
		return nil, nil, fmt.Errorf("coverage of %s: %w", m.lib.top, err)
	}
	return points, counts, nil
}
