// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/synth/design"
	"incforge/synth/liberty"
)

// Another flow gets the macros that a run of ours would make, and the leaf chooses them by size.
func TestPlanMacros(t *testing.T) {
	d, err := design.Load("testdata/standin")
	require.NoError(t, err)
	tech, err := builtIn("")
	require.NoError(t, err)
	ours, err := planMemories(d, tech, Options{ClockMHz: 700})
	require.NoError(t, err)
	plan, err := PlanMacros(d, MacroOptions{Cell: liberty.DenseCell(), Corner: liberty.Typical(), Gate: liberty.NAND2Area, ClockMHz: 700})
	require.NoError(t, err)
	macros := plan.Macros()
	require.Len(t, macros, 1)
	assert.Equal(t, 128, plan.LargestFlops())
	for _, m := range ours {
		if m.macro != nil {
			assert.Equal(t, *m.macro, macros[0].SRAM)
			assert.Equal(t, m.Size, macros[0].Size)
		}
	}
	leaf, err := plan.Leaf(design.RAM)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(leaf, "\nmodule "+design.RAM+" #("), leaf)
	assert.Contains(t, leaf, "module "+design.RAM+"_flops")
	assert.Contains(t, leaf, "if (WORDS == 256 && BITS == 64) begin : gen_256x64\n            inc_sram_1r1w_256x64 u_macro (")
	assert.Equal(t, "gen_256x64.u_macro", MacroInstance(macros[0].Size))
	assert.Equal(t, plan.BlackBoxes(), plan.BlackBox(macros[0]))
	_, err = plan.Leaf(design.OnePortRAM)
	assert.ErrorContains(t, err, "no file defines inc_ram_1rw")
	_, err = PlanMacros(d, MacroOptions{Cell: liberty.DenseCell(), Corner: liberty.Typical(), Gate: liberty.NAND2Area})
	assert.ErrorContains(t, err, "clock of 0 MHz")
}
