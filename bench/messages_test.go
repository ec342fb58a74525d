// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// messageDesign is of Mode I: messages of 4,096 bytes, a window of four of them, path MTUs of 256, 512 and 1,024. Its one port takes all frames in
// order, as a core's stream does.
func messageDesign() design {
	p := synthetic.Mini()
	p.BufferBytes, p.WindowPackets, p.InBand, p.Ports = 32768, 16, false, 1
	return designOf(1, p)
}

// TestMessages: messages of several packets are all added, in either order and with ACKs that pass several, and a payload is read once for those that
// have the lowest endpoint's path MTU, and once for each of the others.
func TestMessages(t *testing.T) {
	d := messageDesign()
	r := rig.New(t.Context(), d.man, "bench", 1, func(seed uint64, _ int) (dut.DUT, error) { return d.open(seed) })
	require.NoError(t, r.Run(func(r *rig.T) {
		m := metrics{}
		throughMessages(r, m, MessageLoads{})
		for load, reads := range map[string]float64{"4096_256": 1, "4096_512": 1, "4096_1024": 1, "4096_256+1024": 3, "4096_256+512+1024": 3} {
			for _, order := range []string{"_best_acks1", "_worst_acks1"} {
				assert.InDelta(t, reads, m["payload_reads_"+load+order], 1e-9, load)
				assert.Positive(t, m["beats_per_cycle_"+load+order], load)
			}
		}
		assert.Len(t, m, 3*2*(5+2), "and messages of 64 and 128 bytes of which an ACK passes two")
		// Each packet of 256 bytes has 40 beats, an ACK 8.
		assert.InDelta(t, 4*(16*40+8), m["beats_per_cycle_4096_256_worst_acks1"]*m["cycles_per_result_4096_256_worst_acks1"], 1e-6)
		assert.InDelta(t, 4*(16+8/2), m["beats_per_cycle_64_1024_best_acks2"]*m["cycles_per_result_64_1024_best_acks2"], 1e-6)
	}))
}

// TestMessageOrder: in the worst order all ranks are at the same bytes, each in packets of its own size.
func TestMessageOrder(t *testing.T) {
	d := messageDesign()
	r := rig.New(t.Context(), d.man, "bench", 1, func(seed uint64, _ int) (dut.DUT, error) { return d.open(seed) })
	require.NoError(t, r.Run(func(r *rig.T) {
		g := r.Engine().Group(0, 1, 2, false, func(g *rig.Group) { g.Ends[0].PathMTU, g.Ends[1].PathMTU = 256, 512 })
		tr := traffic{bytes: 1024, worst: true, every: 1}
		type sent struct {
			op    roce.Opcode
			psn   int
			bytes int
			asks  bool
		}
		var got []sent
		for _, f := range tr.frames(g)[:6] {
			p, err := roce.Decode(f.Data)
			require.NoError(t, err)
			got = append(got, sent{p.Op, p.PSN.Diff(g.Start()), len(p.Payload), p.AckReq})
		}
		assert.Equal(t, []sent{{roce.SendFirst, 0, 256, false}, {roce.SendMiddle, 1, 256, false}, {roce.SendFirst, 0, 512, false},
			{roce.SendMiddle, 2, 256, false}, {roce.SendLast, 3, 256, true}, {roce.SendLast, 1, 512, true}}, got)
		g.Disable()
	}))
}

// TestMessageLoadsRefused: by name, value and reason.
func TestMessageLoadsRefused(t *testing.T) {
	p := messageDesign().man.Params
	three := p
	three.Mode = 3
	for _, c := range []struct {
		l   MessageLoads
		p   contract.Params
		why string
	}{
		{MessageLoads{}, three, ""},
		{MessageLoads{Bytes: []int{64, 4096}, PathMTUs: [][]int{{256}, {512, 1024}}, Every: []int{1, 2}}, p, ""},
		{MessageLoads{Every: []int{1}}, three, "it is of Mode 3: --message, --mtu and --ack-every are of Mode I"},
		{MessageLoads{Bytes: []int{8192}}, p, "--message 8192: must be a multiple of 4, at most message_bytes of it, 4096"},
		{MessageLoads{Bytes: []int{66}}, p, "--message 66: must be a multiple of 4"},
		{MessageLoads{PathMTUs: [][]int{{256}, {256, 128}}}, p, "--mtu 128: must be a power of two from 256 to mtu_bytes of it, 1024"},
		{MessageLoads{PathMTUs: [][]int{{768}}}, p, "--mtu 768: must be a power of two"},
		{MessageLoads{Bytes: []int{1280}, PathMTUs: [][]int{{256, 1024}}}, p, "--message 1280: is longer than a packet of --mtu 1024"},
		{MessageLoads{Every: []int{3}}, p, "--ack-every 3: must be from 1 to half of window_messages of it, 2"},
		{MessageLoads{Every: []int{0}}, p, "--ack-every 0: must be from 1"},
	} {
		err := c.l.Check("it", c.p)
		if c.why == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.why)
		}
	}
}
