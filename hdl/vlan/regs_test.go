// SPDX-License-Identifier: Apache-2.0

package vlan_test

import (
	"testing"

	"incforge/hdl/hdltest"
	"incforge/hdl/vlan"
)

// TestRegsLatency: what the head of inc_vlan_regs.v says of an access to it, and to what is behind it.
func TestRegsLatency(t *testing.T) {
	t.Parallel()
	regs := vlan.Regs{Table: small(), AxilW: 16, Counters: 46, AtEP: 0x8000, AtCounter: 0x800, AtCounterHigh: 0xC00, AtSnapshot: 60, Word: 13}
	hdltest.BusLatency(t, lib(t, regs), hdltest.Bus{Here: 0x8000 + 4*13, Behind: 0x40, More: 3, High: []string{"ready"}})
}
