// SPDX-License-Identifier: Apache-2.0

package vlan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/vlan"
)

func regs() vlan.Regs {
	return vlan.Regs{Table: small(), AxilW: 16, Counters: 46, AtEP: 0x8000, AtCounter: 0x800, AtCounterHigh: 0xC00, AtSnapshot: 60, Word: 13}
}

// TestRegsLatency: what the head of inc_vlan_regs.v says of an access to it, and to what is behind it.
func TestRegsLatency(t *testing.T) {
	t.Parallel()
	hdltest.BusLatency(t, lib(t, regs()), hdltest.Bus{Here: 0x8000 + 4*13, Behind: 0x40, More: 3, High: []string{"ready"}})
}

// TestRegsClear: whatever the cycle in which the other registers clear a word, as they do with the last one while they are ready, both it and
// a write of a tag get to the tables.
func TestRegsClear(t *testing.T) {
	t.Parallel()
	l := lib(t, regs())
	for at := range 6 { // cycle of the clear; the write comes in cycle 2
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			const cleared, written, tag = 12, 1, 0x1ABCD
			b := rig.New(t, l, uint64(at)+1)
			b.SetBool("ready", true)
			b.SetBool("s_axil_bready", true)
			b.Set("s_axil_awaddr", 0x8000+4*(16*written+13))
			b.Set("s_axil_wdata", tag)
			b.Set("s_axil_wstrb", 15)
			b.Set("clr_index", cleared)
			b.Set("clr_word", 13)
			b.Clock() // the first cycle out of reset takes no access
			var left [][2]uint64
			answers := 0
			for n := range 10 {
				b.SetBool("s_axil_awvalid", n == 2)
				b.SetBool("s_axil_wvalid", n == 2)
				b.SetBool("clr_we", n == at)
				b.Clock()
				if b.Is("tbl_we") {
					left = append(left, [2]uint64{b.Get("tbl_index"), b.Get("tbl_data")})
				}
				if b.Is("s_axil_bvalid") {
					answers++
					require.Zero(t, b.Get("s_axil_bresp"))
				}
			}
			require.Equal(t, 1, answers)
			require.ElementsMatch(t, [][2]uint64{{cleared, 0}, {written, tag}}, left)
		})
	}
}
