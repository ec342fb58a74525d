// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/fpga/netlist"
	"incforge/synth/yosys"
)

const standin = "../synth/testdata/standin"

func TestRun(t *testing.T) {
	for _, k := range []struct {
		family Family
		bram   float64 // the 256 x 64 memory
		lutram bool    // the 16 x 8 one
	}{
		{XCUP, 1, true},        // one RAMB36 of 512 x 72
		{ECP5, 1, true},        // two 18 Kbit blocks of 36 bits
		{ICE40, 5. / 9, false}, // four blocks of 256 x 16 and one for the small memory
		{Nexus, 1, true},       // two 18 Kbit blocks of 36 bits
	} {
		t.Run(string(k.family), func(t *testing.T) {
			m, err := Run(context.Background(), standin, k.family, Options{Over: 1})
			require.NoError(t, err)
			r := m.Resources
			assert.InDelta(t, k.bram, r.BRAM36, 1e-9)
			assert.Equal(t, k.lutram, r.LUTRAM > 0)
			// Two 32-bit and one 8-bit sum, a CRC and multiplexers; 179 registers in the source.
			assert.Greater(t, r.LUT, 150.0)
			assert.Less(t, r.LUT, 600.0)
			assert.GreaterOrEqual(t, r.FF, 179.0)
			assert.Less(t, r.FF, 360.0)
			assert.Positive(t, r.Carry)
			assert.Zero(t, r.DSP)
			assert.Zero(t, r.Latch)
			assert.Nil(t, m.Paper)
			assert.Contains(t, m.NotPaper, "2 KiB of payload, the paper's rows have 1 MB")
			assert.NotEmpty(t, m.Tools["yosys"])
			table := m.Table()
			assert.Contains(t, table, "before placement, +/-15 %")
			assert.Regexp(t, `paper, VU13P, FP32, 1 MB .* 987308 .* probably 256`, table, "the paper's rows with their lanes")
			// A sum of 32 bits between registers: a LUT before the chain at least, and the chain.
			require.NotNil(t, m.Longest)
			assert.GreaterOrEqual(t, m.Longest.Levels, 2)
			assert.Less(t, m.Longest.Levels, 20)
			assert.Equal(t, m.Longest.LUTs+2*m.Longest.Chains, m.Longest.Levels, "no chain is longer than 32 bits")
			assert.NotEmpty(t, m.Longest.Blocks)
			assert.Contains(t, table, "by block: "+m.Longest.String())
			require.NotEmpty(t, m.Pairs)
			assert.Equal(t, m.Longest.Levels, m.Pairs[0].Levels, "the longest path is one of those listed")
			assert.Contains(t, table, "paths of more than 1 levels")
			if k.family == XCUP {
				require.Len(t, m.Ways, 2)
				for _, w := range m.Ways {
					assert.False(t, w.Levels < m.Longest.Levels || (w.Levels == m.Longest.Levels && w.LUT < r.LUT), "the best of %v is kept", m.Ways)
					assert.Equal(t, w.Name == m.Way, strings.Contains(table, fmt.Sprintf("mapped for %s: %d levels, %s LUT, kept", w.Name, w.Levels, count(w.LUT))))
				}
			} else {
				assert.Empty(t, m.Ways)
			}
			assert.False(t, m.Clock.Found(), "Yosys finds no clock")
			assert.Contains(t, table, "MHz asked, none found")

			var b bytes.Buffer
			require.NoError(t, m.WriteJSON(&b))
			var back Metrics
			require.NoError(t, json.Unmarshal(b.Bytes(), &back))
			assert.Equal(t, *m, back)
			assert.InDelta(t, r.LUT*0.85, back.Metrics["fpga__lut__low"], 1e-6)
		})
	}
}

// Of two mappings the one with the shorter longest path is kept, or, if both are short enough, the smaller.
func TestBetterThan(t *testing.T) {
	t.Parallel()
	of := func(levels int, lut float64) *mapped {
		return &mapped{levels: &netlist.Path{Levels: levels}, resources: Resources{LUT: lut}}
	}
	small, short := of(8, 100), of(7, 102)
	for levels, want := range map[int]bool{0: false, 6: false, 7: false, 8: true, 9: true} {
		assert.Equal(t, want, small.betterThan(short, levels), "%d levels", levels)
		assert.Equal(t, !want, short.betterThan(small, levels), "%d levels", levels)
	}
	assert.True(t, of(7, 101).betterThan(short, 0), "as short, and smaller")
}

// A module has the parameters that it has in the design.
func TestModuleAsTop(t *testing.T) {
	m, err := Run(context.Background(), standin, ICE40, Options{Top: "standin_parity"})
	require.NoError(t, err)
	assert.Equal(t, "standin_parity", m.Top)
	assert.Positive(t, m.Resources.LUT)
	assert.Zero(t, m.Resources.FF)
	assert.Equal(t, []string{"standin_parity is not the core"}, m.NotPaper)
	flops := map[float64]bool{}
	for _, top := range []string{"standin_reg__1", "standin_reg__4"} {
		m, err := Run(context.Background(), standin, ICE40, Options{Top: top})
		require.NoError(t, err)
		flops[m.Resources.FF] = true
	}
	assert.Len(t, flops, 2, "of different widths")
	_, err = Run(context.Background(), standin, ICE40, Options{Top: "standin_reg"})
	require.ErrorIs(t, err, yosys.ErrModule)
}

func TestCount(t *testing.T) {
	r, err := Count(XCUP, map[string]int{"LUT6": 10, "LUT2": 5, "RAM64M8": 2, "SRL16E": 3, "FDRE": 7, "FDSE": 1, "RAMB18E2": 3, "RAMB36E2": 2, "URAM288": 4, "CARRY8": 6})
	require.NoError(t, err)
	assert.Equal(t, Resources{LUT: 34, LUTRAM: 19, FF: 8, BRAM36: 3.5, URAM: 4, Carry: 6}, r)
	_, err = Count(XCUP, map[string]int{"LUT6": 1, "MYSTERY": 2, "$mux": 1})
	assert.ErrorContains(t, err, "does not know: $mux, MYSTERY")
	_, err = Count("max10", nil)
	assert.ErrorIs(t, err, ErrFamily)
}

func TestPublished(t *testing.T) {
	same := contract.Params{Mode: 2, BusBytes: 64, ClockMHz: 250, BufferBytes: 1 << 20, DTypes: []string{"FP32", "INT32"}}
	row, why := published(XCUP, same)
	require.Empty(t, why)
	assert.Equal(t, 987308.0, row.LUT)
	same.DTypes = []string{"INT32"}
	row, why = published(XCUP, same)
	require.Empty(t, why)
	assert.Equal(t, 867479.0, row.LUT)
	m := &Metrics{Config: "c", Family: XCUP, Resources: Resources{LUT: 86747.9}, Paper: row}
	assert.Contains(t, m.Table(), "x 0.100")
	row, why = published(ECP5, contract.Params{Mode: 3, BusBytes: 8, ClockMHz: 250, DTypes: []string{"FP16"}})
	assert.Nil(t, row)
	assert.Len(t, why, 5)
}

func TestErrors(t *testing.T) {
	_, err := Run(context.Background(), standin, "max10", Options{})
	assert.ErrorIs(t, err, ErrFamily)
	_, err = Run(context.Background(), t.TempDir(), XCUP, Options{})
	assert.ErrorContains(t, err, "manifest.json")
	_, err = Run(context.Background(), standin, XCUP, Options{Top: "nothing"})
	assert.ErrorContains(t, err, `no top "nothing"`)
}

// What a path runs through is counted, and what only stores starts and ends paths.
func TestFamilies(t *testing.T) {
	for _, f := range Families() {
		table := f.primitives()
		for name, kind := range f.kinds() {
			if _, counted := table[name]; !counted && name != "INV" {
				t.Errorf("%s: %s is on paths and not counted", f, name)
			}
			if kind.Bits > 0 {
				assert.Positive(t, table[name].Carry, "%s %s", f, name)
			}
		}
		for name, r := range table {
			if _, through := f.kinds()[name]; through {
				assert.Zero(t, r.FF+r.BRAM36+r.URAM+r.Latch, "%s: %s", f, name)
			}
			if r.LUTRAM > 0 {
				assert.Contains(t, f.kinds(), name, "%s: memory in LUTs is read without a clock", f)
			}
		}
		assert.NotEmpty(t, f.synthesis("top").before)
	}
	assert.Nil(t, Family("virtex").primitives())
}
