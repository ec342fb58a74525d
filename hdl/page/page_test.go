// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/page"
	"incforge/internal/testcost"
	"incforge/sim"
)

// TestDescription: what a page does on the bus is tested with registers inside, by hdl/interrupts and hdl/priority.
func TestDescription(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	hdltest.Check(t, []graph.Describer{page.At(16, 0x2800, 4), page.At(22, 0x4C00, 10), page.At(16, 0, 3)}, []hdltest.Refused{
		{Leaf: page.Page{AxilW: 23, PageW: 4, Page: 640}, Params: param("AXIL_W", 23), Rule: "AXIL_W must be 16 to 22"},
		{Leaf: page.Page{AxilW: 16, PageW: 13, Page: 1}, Params: param("PAGE_W", 13), Rule: "PAGE_W must be 3 to 12"},
		{Leaf: page.Page{AxilW: 16, PageW: 4, Page: 4096}, Params: param("PAGE", 4096), Rule: "PAGE must be one of the pages of AXIL_W bits"},
	})
}

// TestLatency: the cycles from an access to its answer, of a word of the page and of one behind it that whoever has it answers after a while.
func TestLatency(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "inc_page", Brief: true, Files: []string{"inc_page.v"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	const here, behind, more = 40 << 8, 0x40, 3
	for _, c := range []struct {
		name            string
		ask, answer     string // of the channel at the front
		asked, answered string // of the one behind
		address         uint64
		after, want     int // what is behind answers so late; the whole takes so long
	}{
		{"write", "s_axil_awvalid", "s_axil_bvalid", "", "", here, 0, 2},
		{"read", "s_axil_arvalid", "s_axil_rvalid", "", "", here, 0, 4},
		{"write behind", "s_axil_awvalid", "s_axil_bvalid", "m_axil_awvalid", "m_axil_bvalid", behind, 2, 2 + more},
		{"read behind", "s_axil_arvalid", "s_axil_rvalid", "m_axil_arvalid", "m_axil_rvalid", behind, 4, 4 + more},
		{"slow read behind", "s_axil_arvalid", "s_axil_rvalid", "m_axil_arvalid", "m_axil_rvalid", behind, 9, 9 + more},
	} {
		m, err := lib.New(sim.Options{Random: true, Seed: 1})
		require.NoError(t, err)
		port := func(name string) *sim.Port {
			p, err := m.Port(name)
			require.NoError(t, err)
			return p
		}
		for _, name := range []string{"s_axil_bready", "s_axil_rready", "m_axil_awready", "m_axil_wready", "m_axil_arready", "exists", "known"} {
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
