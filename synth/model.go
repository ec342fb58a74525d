// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"

	"incforge/contract"
	"incforge/synth/design"
)

// MemoryModel says what the memories of designs take in a technology. No tool is run for the built-in one.
type MemoryModel struct {
	o Options
	t *technology
}

// NewMemoryModel reads o.Tech, o.Corner, o.BitCell. Other libraries than the built-in one are measured in the folder dir.
func NewMemoryModel(ctx context.Context, dir string, o Options) (*MemoryModel, error) {
	t, err := loadTechnology(ctx, dir, o.Tech, o.Corner)
	if err != nil {
		return nil, err
	}
	return &MemoryModel{o, t}, nil
}

// NAND2 is the area of the smallest two-input NAND in um2.
func (m *MemoryModel) NAND2() float64 { return m.t.nand2 }

// Memories are the sizes of memory that a manifest lists, with the areas that Run would find. clockMHz is the clock asked for.
func (m *MemoryModel) Memories(man *contract.Manifest, clockMHz float64) ([]MemoryArea, error) {
	o := m.o
	if o.ClockMHz = clockMHz; clockMHz <= 0 {
		return nil, fmt.Errorf("synth: clock of %g MHz", clockMHz)
	}
	all, err := planMemories(&design.Design{Manifest: *man}, m.t, o)
	if err != nil {
		return nil, err
	}
	var areas []MemoryArea
	for _, k := range all {
		areas = append(areas, k.area())
	}
	return areas, nil
}

// Placed is the area that cells and macros take once they are placed, by the factors of the package.
func Placed(cells, macros float64) float64 { return cells*cellGrowth/cellDensity + macros/macroDensity }

// area is the record of a size of memory.
func (m memory) area() MemoryArea {
	a := MemoryArea{Words: m.Words, Bits: m.Bits, Ports: m.ports().String(), Listed: m.count, Instances: m.count, Storage: "flops"}
	if s := m.macro; s != nil {
		a.Storage = "macro"
		a.Shape = fmt.Sprintf("%d x %d macros %dx%d mux %d, %s", s.Banks, s.Slices, s.Macro.Words, s.Macro.Bits, s.Macro.Mux, s.Cell.Name)
		a.Area, a.AccessNS, a.CycleNS = s.Area+s.BankMuxArea, s.Access/1e3, s.Cycle/1e3
	}
	return a
}
