// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
)

// TestWords: an endpoint's word stands until it is taken, and what is written next waits for it; a group's word is read a cycle later where one
// is written in the cycle in which it is looked up.
func TestWords(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Lib(t, mini()), 3)
	for !r.Is("ready") {
		r.Clock()
	}
	r.Set("s_axil_wstrb", 0xF)
	r.Set("s_axil_bready", 1)
	r.Set("s_axil_rready", 1)
	// write has an access taken, and tells in which cycle.
	write := func(addr, v uint64) uint64 {
		r.Set("s_axil_awaddr", addr)
		r.Set("s_axil_wdata", v)
		r.Set("s_axil_awvalid", 1)
		r.Set("s_axil_wvalid", 1)
		for r.Clock(); !r.Is("s_axil_awready"); r.Clock() {
		}
		r.Set("s_axil_awvalid", 0)
		r.Set("s_axil_wvalid", 0)
		return r.Now()
	}
	// until waits for a pin and tells how long after.
	until := func(pin string, since uint64) uint64 {
		for r.Clock(); !r.Is(pin); r.Clock() {
			require.Less(t, r.Now()-since, uint64(100), pin)
		}
		return r.Now() - since
	}
	ip, another := atEndpoint+uint64(4*regs.Word("EP_LOCAL_IP")), atEndpoint+stride+uint64(4*regs.Word("EP_REMOTE_IP"))
	r.Set("tbl_waits", 1)
	require.Equal(t, uint64(answered), until("s_axil_bvalid", write(ip, 0x11)))
	since := write(another, 0x22)
	for range 20 {
		r.Clock()
		require.True(t, r.Is("tbl_ep_we") && !r.Is("s_axil_bvalid"))
		require.Equal(t, []uint64{0, uint64(regs.Word("EP_LOCAL_IP")), 0x11}, []uint64{r.Get("tbl_index"), r.Get("tbl_word"), r.Get("tbl_data")})
	}
	r.Set("tbl_waits", 0)
	r.Clock()
	require.True(t, r.Is("tbl_ep_we"), "the cycle in which it is taken")
	require.Equal(t, r.Now()+1-since, until("s_axil_bvalid", since))
	require.True(t, r.Is("tbl_ep_we"))
	require.Equal(t, []uint64{1, uint64(regs.Word("EP_REMOTE_IP")), 0x22}, []uint64{r.Get("tbl_index"), r.Get("tbl_word"), r.Get("tbl_data")})

	// a read whose look comes in each of the cycles about that in which a group's word goes out
	mask := atGroup + uint64(4*regs.Word("GROUP_IN_MASK"))
	var took []uint64
	for after := range uint64(6) {
		write(mask, after)
		for range after {
			r.Clock()
		}
		r.Set("s_axil_araddr", mask)
		r.Set("s_axil_arvalid", 1)
		for r.Clock(); !r.Is("s_axil_arready"); r.Clock() {
		}
		r.Set("s_axil_arvalid", 0)
		took = append(took, until("s_axil_rvalid", r.Now()))
		require.Contains(t, []uint64{after - 1, after}, r.Get("s_axil_rdata"), "before or after the write")
		for range 8 {
			r.Clock()
		}
	}
	require.Equal(t, []uint64{4, 5, 4, 4, 4, 4}, took)
}
