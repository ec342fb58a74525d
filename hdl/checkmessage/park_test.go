// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/checkmessage"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

// parking drives inc_check_message with groups that can be parked: two of them, with hosts at endpoints 0 and 1, pools of two messages, PSNs from 7 on.
type parking struct {
	*rig.Rig
	t  *testing.T
	in bool // the frame is in B
}

func newParking(t *testing.T) *parking {
	return startParking(t, rig.Lib(t, with(func(p *checkmessage.CheckMessage) { p.Park, p.Counters = 1, p.Counters+1 })))
}

func startParking(t *testing.T, lib *sim.Lib) *parking {
	b := &parking{Rig: rig.New(t, lib, 1), t: t}
	b.Set("rst", 1)
	b.Clock()
	b.Set("rst", 0)
	b.set(map[string]uint64{"grp_live": 3, "cfg_ack_every": 16, "cfg_rnr": 1, "cfg_rnr_timer": 1, "tx_room": 1, "init_clean": 1, "s_log2_n": 2, "s_root": 1,
		"b_data": 1, "b_fine": 1, "b_ends": 1, "b_up": 1, "b_whole": 1, "b_in_mask": 3, "c_live": 1, "c_intact": 1, "c_passed": 1, "c_opcode": 4, "c_in_mask": 3, "c_out_mask": 3})
	for group := range uint64(2) { // GROUP_PIPE: half of its slots for each pool
		b.set(map[string]uint64{"tbl_grp_we": 1, "tbl_index": group, "tbl_word": 1, "tbl_data": 0})
		b.Clock()
	}
	b.Set("tbl_grp_we", 0)
	for ei := range uint64(16) {
		b.set(map[string]uint64{"tbl_ep_we": 1, "tbl_index": ei, "tbl_word": 10, "tbl_data": 7})
		b.Clock()
		b.set(map[string]uint64{"tbl_word": 12, "tbl_data": 64})
		b.Clock()
		b.set(map[string]uint64{"tbl_ep_we": 0, "init_valid": 1, "init_ei": ei, "init_psn": 100})
		for b.Clock(); !b.Is("init_take"); b.Clock() {
		}
		b.Set("init_valid", 0)
	}
	for _, name := range []string{"s_go", "a_go"} { // every frame's facts
		b.Set(name, 1)
		b.Clock()
		b.Set(name, 0)
	}
	return b
}

func (b *parking) set(all map[string]uint64) {
	for name, v := range all {
		b.Set(name, v)
	}
}

// decided is what came of a frame, and of a question in one of its cycles.
type decided struct {
	// Done is the cycle in which it was, Took that of the answer.
	Done, Took int
	Drained    bool
	Answer     string
	Counters   []string
}

// goes shows what comes to B at the end of cycle 0, and has it go to C as inc_frame_steps does. It says whether it goes in this cycle.
func (b *parking) goes(cycle int, ei uint64) bool {
	b.set(map[string]uint64{"a_go": bit(cycle == 0), "a_ei": ei, "b_ei": ei, "b_self": 1 << (ei % 8)})
	if cycle == 1 {
		b.Set("b_valid", 1)
	}
	b.Settle()
	goes := cycle > 1 && b.Is("c_free") && b.in
	b.Set("b_go", bit(goes))
	b.in = cycle <= 1 || b.in && !goes
	return goes
}

// frame has a message of one empty packet come to B at the end of cycle 0, and to C with its verdict, and asks in cycle ask whether a group can be parked.
func (b *parking) frame(ei, psn uint64, group, ask int) (d decided) {
	b.t.Helper()
	b.set(map[string]uint64{"c_ei": ei, "c_self": 1 << (ei % 8), "b_wire_psn": psn, "c_wire_psn": psn, "park_group": uint64(group)})
	d.Done, d.Took = -1, -1
	for cycle := 0; d.Done < 0 || d.Took < 0 || cycle < d.Done+2; cycle++ {
		require.Less(b.t, cycle, 40)
		if cycle == ask {
			b.Set("park_valid", 1)
		}
		goes := b.goes(cycle, ei)
		b.Clock()
		if goes {
			b.set(map[string]uint64{"b_valid": 0, "c_valid": 1, "vrd_valid": 1})
		}
		if b.Is("tx_valid") {
			d.Answer = fmt.Sprintf("%#x", b.Get("tx_ext"))
		}
		for i, c := range (contract.Params{Mode: 1, Park: true}).Counters() {
			if b.Get("count")>>i&1 != 0 {
				d.Counters = append(d.Counters, c.Name)
			}
		}
		if b.Is("park_take") {
			require.Negative(b.t, d.Took, "two answers")
			d.Took, d.Drained = cycle, b.Is("park_drained")
			b.Set("park_valid", 0)
		}
		if b.Is("c_done") {
			d.Done = cycle
			b.set(map[string]uint64{"c_valid": 0, "vrd_valid": 0})
		}
	}
	slices.Sort(d.Counters)
	return d
}

// TestParking: an engine at rest answers in the cycle after it is asked, before any frame; one that decides a frame does when that is done. A group with
// a message that is not acknowledged is not drained, another one is. What begins a message of a parked group is refused and counted.
func TestParking(t *testing.T) {
	t.Parallel()
	const alone, ack, rnr = 4, "0x1f000001", "0x21000000"
	taken, refused := []string{"AGG", "BUFFERED", "RX_FRAMES", "TX_ACK", "UP_DATA"}, []string{"DROP_PARKED", "RX_FRAMES", "TX_RNR"}
	b := newParking(t)
	assert.Equal(t, decided{alone + 2, 1, true, ack, taken}, b.frame(0, 7, 0, 0), "asked before the message is begun")
	for ask := 1; ask < alone+3; ask++ {
		b.Set("grp_parked", 2)
		want := decided{alone, max(ask, alone+1) + 1, ask%2 == 0, rnr, refused}
		assert.Equal(t, want, b.frame(8, 7, (ask+1)%2, ask), "asked in cycle %d of a frame of a parked group", ask)
	}
	b.Set("grp_parked", 0)
	assert.Equal(t, decided{alone, alone + 2, false, ack, taken}, b.frame(8, 7, 1, 1), "what was refused is taken when the group is parked no more")
}
