// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/replicatedata"
	"incforge/hdl/sendmessage"
	"incforge/hdl/translateheader"
)

// TestCut: every path MTU at every place of messages of all kinds of lengths, two cycles later.
func TestCut(t *testing.T) {
	t.Parallel()
	p := sendmessage.CutMessage{Bytes: 16, LenW: 13, WordsW: 9, OffW: 15, PosW: 7, UnitBytes: 256}
	r := rig.New(t, rig.Lib(t, p), 1)
	rng := rand.New(rand.NewPCG(1, 2))
	type cut struct{ pos, code, length int }
	var under []cut
	for range 20000 {
		c := cut{code: rng.IntN(5), length: []int{0, 1, 255, 256, 257, 4096, 16383, 16384, rng.IntN(16385)}[rng.IntN(9)]}
		mtu := 256 << c.code
		packets := max((c.length+mtu-1)/mtu, 1)
		c.pos = rng.IntN(packets) << c.code
		r.Set("pos", uint64(c.pos))
		r.Set("code", uint64(c.code))
		r.Set("length", uint64(c.length))
		r.Clock()
		if under = append(under, c); len(under) < 3 {
			continue
		}
		c, under = under[0], under[1:]
		mtu = 256 << c.code
		from := 256 * c.pos
		size := min(c.length-from, mtu)
		require.Equal(t, from+mtu >= c.length, r.Is("last"), "%+v", c)
		require.EqualValues(t, size, r.Get("plen"), "%+v", c)
		require.EqualValues(t, (size+15)/16, r.Get("words"), "%+v", c)
		require.EqualValues(t, -size&3, r.Get("pad"), "%+v", c)
	}
}

// asker is ReplicateData, TranslateHeader and, between its headers and who takes them, inc_ask_ack.
func asker() (*graph.Module, error) {
	const members, depth = 5, 3
	c := graph.NewComposite("bench_ask", "the way of a decision to its headers")
	c.Clock("clk")
	c.Reset("rst")
	replicate := c.Add("u_replicate", replicatedata.ReplicateData{Bytes: 8, LenW: 11, WordsW: 8, EPW: 3, EIW: 4, MaskW: members, AddrW: 7, DepthW: depth, InBand: 1})
	translate := c.Add("u_translate", translateheader.TranslateHeader{PortW: 2, LenW: 11, WordsW: 8, EPW: 3, EIW: 4, MaskW: members, Groups: 2, InBand: 1})
	ask := c.Add("u_ask", sendmessage.AskAck{EPW: 3, EIW: 4, MaskW: members, DepthW: depth})
	c.Link(replicate, translate, "req_")
	c.Link(translate, replicate, "req_")
	c.Connect(translate.Pin("req_ready"), ask.Pin("req_ready"))
	c.Connect(replicate.Pin("req_valid"), ask.Pin("req_valid"))
	c.Connect(replicate.Pin("req_ei"), ask.Pin("req_ei"))
	c.Connect(translate.Pin("hdr_bytes"), ask.Pin("hdr_bytes"))
	rig.Expose(c, []string{"req_", "hdr_bytes"}, replicate, translate, ask)
	return c.Build()
}

type describer func() (*graph.Module, error)

func (d describer) Module() (*graph.Module, error) { return d() }

// TestAsk: of each decision's copies those that are asked, and no others, have AckReq, whatever waits for what; nothing else of a header changes.
func TestAsk(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Lib(t, describer(asker)), 3)
	rng := rand.New(rand.NewPCG(3, 4))
	type copied struct {
		ask bool
		psn uint64
	}
	var want []copied
	asked := [2]int{}
	psn := uint64(0)
	for sent := 0; sent < 3000 || len(want) > 0; {
		r.SetBool("tx_valid", false)
		r.SetBool("hdr_pop", false)
		r.Settle()
		if r.Is("tx_room") && sent < 3000 && rng.IntN(3) == 0 {
			mask, ask, op := 1+rng.Uint64N(31), rng.Uint64()&31, []uint64{0, 1, 2, 4, 5, 0x11}[rng.IntN(6)]
			r.SetBool("tx_valid", true)
			r.Set("tx_mask", mask)
			r.Set("tx_ask", ask)
			r.Set("tx_opcode", op)
			r.Set("tx_psn", psn)
			for e := range 5 {
				if mask>>e&1 != 0 {
					want = append(want, copied{ask: ask>>e&1 != 0 && op != 0x11, psn: psn})
				}
			}
			psn++
			sent++
		}
		if r.Is("hdr_valid") && rng.IntN(3) > 0 {
			r.SetBool("hdr_pop", true)
			w := want[0]
			want = want[1:]
			b := r.Bytes("asked_bytes")
			require.Equal(t, w, copied{ask: b[50]&0x80 != 0, psn: uint64(b[51])<<16 | uint64(b[52])<<8 | uint64(b[53])})
			require.Zero(t, b[50]&0x7F)
			asked[b[50]>>7]++
		}
		r.Clock()
	}
	assert.Greater(t, asked[0], 1000)
	assert.Greater(t, asked[1], 1000)
}
