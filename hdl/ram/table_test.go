// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/ram"
)

func TestTableDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{
		ram.Table{Words: 2, Bits: 1, AddrW: 1}, ram.Table{Words: 17, Bits: 48, AddrW: 5},
		ram.Table{Words: 2, Bits: 1, AddrW: 1, OnePort: 1}, ram.Table{Words: 1088, Bits: 32, AddrW: 11, OnePort: 1},
		ram.Table{Words: 9, Bits: 5, AddrW: 4, Block: 1},
	}, []hdltest.Refused{
		{Leaf: ram.Table{Words: 2, Bits: 1, AddrW: 1, OnePort: 2}, Params: param("ONE_PORT", 2), Rule: "ONE_PORT must be 0 or 1"},
		{Leaf: ram.Table{Words: 2, Bits: 1, AddrW: 1, Block: 2}, Params: param("BLOCK", 2), Rule: "BLOCK must be 0 or 1, and 0 with ONE_PORT"},
	})
}

// TestTable: a table of one port keeps what is written and shows what was read last; a read that comes with a write is lost.
func TestTable(t *testing.T) {
	t.Parallel()
	p := ram.Table{Words: 5, Bits: 9, AddrW: 3, OnePort: 1}
	dut := rig.New(t, rig.Lib(t, p), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	data, lost := make([]uint64, p.Words), 0
	for a := range data {
		data[a] = rng.Uint64N(1 << p.Bits)
		dut.Set("we", 1)
		dut.Set("waddr", uint64(a))
		dut.Set("wdata", data[a])
		dut.Clock()
	}
	shown, known := uint64(0), false
	for range 500 {
		we, re := rng.IntN(3) == 0, rng.IntN(2) == 0
		w, r, v := rng.IntN(p.Words), rng.IntN(p.Words), rng.Uint64N(1<<p.Bits)
		dut.SetBool("we", we)
		dut.SetBool("re", re)
		dut.Set("waddr", uint64(w))
		dut.Set("raddr", uint64(r))
		dut.Set("wdata", v)
		dut.Clock()
		if known {
			require.Equal(t, shown, dut.Get("rdata"))
		}
		switch {
		case we:
			data[w] = v
			if re {
				lost++
			}
		case re:
			shown, known = data[r], true
		}
	}
	require.Greater(t, lost, 50)
}

// TestEndpointIndex: every endpoint that there is has a place of its own, and no other is said to be there.
func TestEndpointIndex(t *testing.T) {
	t.Parallel()
	for _, p := range []ram.EndpointIndex{{EPW: 4, EIW: 6, MaskW: 9, Groups: 4}, {EPW: 3, EIW: 5, MaskW: 5, Groups: 3}} {
		dut := rig.New(t, rig.Lib(t, p), 1)
		taken := map[uint64]int{}
		for ei := range 1 << p.EIW {
			dut.Set("ei", uint64(ei))
			require.NoError(t, dut.Eval())
			there := ei>>p.EPW < p.Groups && ei&(1<<p.EPW-1) < p.MaskW
			require.Equal(t, there, dut.Is("present"), "endpoint %d of %+v", ei, p)
			if there {
				index := dut.Get("index")
				require.Less(t, index, uint64(p.Words()))
				require.NotContains(t, taken, index, "endpoint %d of %+v", ei, p)
				taken[index] = ei
			}
		}
	}
}
