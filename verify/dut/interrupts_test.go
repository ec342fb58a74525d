// SPDX-License-Identifier: Apache-2.0

package dut_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/rtlgen/params"
	"incforge/verify/dut"
)

// TestCauses: the reference has the contract's causes by name, each with the contract's counters: a step of each of them, and nothing else, sets it.
func TestCauses(t *testing.T) {
	t.Parallel()
	for _, sets := range [][]string{{"mini"}, {"mini", "vlan=true", "park=true"}, {"mini3"}, {"mini1"}} {
		p, err := params.Preset(sets[0], append(sets[1:], "interrupts=true")...)
		require.NoError(t, err)
		c := p.Contract()
		model, err := contract.NewModel(c)
		require.NoError(t, err)
		var names []string
		for _, cause := range c.Causes() {
			names = append(names, cause.Name)
		}
		var own []string
		for cause := range inc.NumCauses {
			if len(own) < len(names) {
				own = append(own, cause.String())
			}
		}
		require.Empty(t, cmp.Diff(names, own))
		r, err := dut.NewReference(&contract.Manifest{Params: c, Registers: model.Registers, Counters: c.CounterNames()})
		require.NoError(t, err)
		for _, name := range c.CounterNames() {
			var want uint32
			for bit, cause := range c.Causes() {
				for _, n := range cause.Counters {
					if n == name {
						want |= 1 << bit
					}
				}
			}
			var got uint32
			for cause := range inc.NumCauses {
				if cause.Follows(name) {
					got |= 1 << cause
				}
			}
			require.Equal(t, want, got, name)
		}
		require.False(t, r.Interrupt())
		require.Zero(t, r.Causes(0))
	}
}
