// SPDX-License-Identifier: Apache-2.0

package hdltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
)

// Bus is a block of registers between a register bus, s_axil, and whoever is behind it, m_axil.
type Bus struct {
	// Here is an address of its own, Behind one that is not.
	Here, Behind uint64
	// More is how many cycles an access behind it takes more than there.
	More int
	// High are further inputs that are high all the time; others are 0.
	High []string
}

// BusLatency measures the cycles from an access to its answer: a write of its own takes 2, a read 4, and one behind it b.More more than whoever has it takes.
func BusLatency(t *testing.T, lib *sim.Lib, b Bus) {
	t.Helper()
	for _, c := range []struct {
		name            string
		ask, answer     string // of the channel at the front
		asked, answered string // of the one behind
		address         uint64
		after, want     int // what is behind answers so late; the whole takes so long
	}{
		{"write", "s_axil_awvalid", "s_axil_bvalid", "", "", b.Here, 0, 2},
		{"read", "s_axil_arvalid", "s_axil_rvalid", "", "", b.Here, 0, 4},
		{"write behind", "s_axil_awvalid", "s_axil_bvalid", "m_axil_awvalid", "m_axil_bvalid", b.Behind, 2, 2 + b.More},
		{"read behind", "s_axil_arvalid", "s_axil_rvalid", "m_axil_arvalid", "m_axil_rvalid", b.Behind, 4, 4 + b.More},
		{"slow read behind", "s_axil_arvalid", "s_axil_rvalid", "m_axil_arvalid", "m_axil_rvalid", b.Behind, 9, 9 + b.More},
	} {
		m, err := lib.New(sim.Options{Random: true, Seed: 1})
		require.NoError(t, err)
		port := func(name string) *sim.Port {
			p, err := m.Port(name)
			require.NoError(t, err)
			return p
		}
		for _, name := range append([]string{"s_axil_bready", "s_axil_rready", "m_axil_awready", "m_axil_wready", "m_axil_arready"}, b.High...) {
			port(name).SetBool(true)
		}
		for _, name := range []string{"s_axil_awvalid", "s_axil_wvalid", "s_axil_arvalid", "m_axil_bvalid", "m_axil_rvalid"} {
			port(name).SetBool(false)
		}
		port("s_axil_wstrb").SetUint64(15)
		port("s_axil_awaddr").SetUint64(c.address)
		port("s_axil_araddr").SetUint64(c.address)
		require.NoError(t, m.ResetFor(3))
		require.NoError(t, m.Cycles(3))
		port(c.ask).SetBool(true)
		port("s_axil_wvalid").SetBool(c.ask == "s_axil_awvalid")
		passed, took := -1, -1
		for n := 0; n < 40 && took < 0; n++ { // cycle 0 takes the access
			if c.answered != "" {
				port(c.answered).SetBool(passed >= 0 && n == passed+c.after)
			}
			require.NoError(t, m.Cycle())
			port(c.ask).SetBool(false)
			port("s_axil_wvalid").SetBool(false)
			if c.asked != "" && passed < 0 && port(c.asked).Bool() {
				passed = n
			}
			if port(c.answer).Bool() {
				took = n
			}
		}
		require.Equal(t, c.want, took, c.name)
		m.Close()
	}
}
