// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream has frames come without a pause, each with its verdict, as inc_frame_steps takes them through A, B and C; true is data, taken before, false an
// ACK, whose job takes SendMessage 3 cycles. They are of two endpoints, so many of one in a row. It gives the cycles from the first decision to the last.
func (b *parking) stream(kinds []bool, row int) int {
	b.t.Helper()
	inB, inC, age, left := -1, -1, 0, 0
	next, first, last := 0, -1, -1
	there := func(i int) bool { return i >= 0 }
	for cycle := 0; next < len(kinds) || there(inB) || there(inC); cycle++ {
		require.Less(b.t, cycle, 20*len(kinds))
		for prefix, i := range map[string]int{"b_": inB, "c_": inC} {
			if !there(i) {
				continue
			}
			ei := uint64(i / row % 2)
			b.set(map[string]uint64{prefix + "ei": ei, prefix + "self": 1 << ei})
			if prefix == "b_" {
				b.set(map[string]uint64{"b_data": bit(kinds[i]), "b_ack": bit(!kinds[i]), "b_wire_psn": 6})
			} else {
				b.set(map[string]uint64{"c_opcode": map[bool]uint64{true: 4, false: 0x11}[kinds[i]], "c_syn_ack": bit(!kinds[i]), "c_wire_psn": 6})
			}
		}
		b.set(map[string]uint64{"b_valid": bit(there(inB)), "c_valid": bit(there(inC)), "vrd_valid": bit(there(inC)), "a_ei": uint64(next / row % 2),
			"snd_done": bit(left == 1), "snd_next": bit(left == 1), "b_go": 0, "a_go": 0})
		b.Settle()
		leaves := b.Is("c_leaves")
		goes := there(inB) && age > 0 && b.Is("c_free") && (!there(inC) || leaves)
		comes := next < len(kinds) && (!there(inB) || goes)
		b.set(map[string]uint64{"b_go": bit(goes), "a_go": bit(comes)})
		b.Clock()
		if leaves {
			inC, last = -1, cycle
			if first < 0 {
				first = cycle
			}
		}
		if age++; goes {
			inC, inB = inB, -1
		}
		if comes {
			inB, age = next, 0
			next++
		}
		if left = max(left-1, 0); b.Is("snd_ack") {
			left = 3
		}
	}
	return last - first
}

// TestRate: data behind data is decided every 4 cycles, data and an ACK every 4 the two of them, ACKs of different endpoints alone every 3.
func TestRate(t *testing.T) {
	t.Parallel()
	const frames = 40
	for name, tt := range map[string]struct {
		data        func(i int) bool
		row, cycles int
	}{
		"data":          {func(int) bool { return true }, 1, 4 * (frames - 1)},
		"data and ACKs": {func(i int) bool { return i%2 == 0 }, 2, 4*(frames/2-1) + 1},
		"ACKs":          {func(int) bool { return false }, 1, 3 * (frames - 1)},
	} {
		kinds := make([]bool, frames)
		for i := range kinds {
			kinds[i] = tt.data(i)
		}
		assert.Equal(t, tt.cycles, newParking(t).stream(kinds, tt.row), name)
	}
}

// TestSeenBefore: a packet that completes a message comes right behind an answer, its verdict up to six cycles later. What was seen of its pool before an ACK
// stands; before a NAK it does not, whether SendMessage has that already or not.
func TestSeenBefore(t *testing.T) {
	t.Parallel()
	for delay := range 7 {
		for _, nak := range []bool{false, true} {
			b := newParking(t)
			b.frame(0, 7, 1, 20)
			b.set(map[string]uint64{"see_there": 1, "see_full": 1, "see_ok": 1, "see_ei": 1, "see_msg": 100, "see_keep": 3, "slot_mask": 1, "slot_complete": 1,
				"c_ei": 0, "c_self": 1, "c_syn_ack": bit(!nak), "c_syn_nak": bit(nak), "b_ei": 0, "b_self": 1, "b_wire_psn": 7, "c_wire_psn": 7})
			looks, moves, left, since := 0, 0, 0, -1
			looking := false
			for cycle := 0; moves == 0; cycle++ {
				require.Less(t, cycle, 60)
				switch cycle {
				case 0:
					b.set(map[string]uint64{"a_go": 1, "a_ei": 0})
				case 1:
					b.set(map[string]uint64{"a_go": 0, "b_valid": 1, "b_data": 0, "b_ack": 1})
				case 2:
					b.set(map[string]uint64{"b_go": 1, "a_go": 1, "a_ei": 1})
				case 3:
					b.set(map[string]uint64{"b_go": 0, "a_go": 0, "b_ei": 1, "b_self": 2, "b_data": 1, "b_ack": 0, "c_valid": 1, "c_opcode": 0x11})
				case 4:
					b.set(map[string]uint64{"b_go": 1, "vrd_valid": 1})
				case 5:
					b.set(map[string]uint64{"b_go": 0, "b_valid": 0, "c_ei": 1, "c_self": 2, "c_opcode": 4})
				}
				if cycle > 4 {
					b.Set("vrd_valid", bit(cycle >= 5+delay))
				}
				b.set(map[string]uint64{"snd_done": bit(left == 1), "snd_next": bit(left == 1 && !looking)})
				if left == 1 && looking || since == 1 && nak {
					b.Set("see_there", bit(left == 1 && looking))
				}
				b.Clock()
				if left = max(left-1, 0); since >= 0 {
					since++
				}
				if b.Is("snd_ack") {
					left, looking, since = 3, false, 0
				}
				if b.Is("snd_look") {
					left, looking = 3, true
					looks++
				}
				if b.Is("snd_moves") {
					moves++
				}
			}
			assert.Equal(t, int(bit(nak)), looks, "NAK %t, verdict %d cycles later", nak, delay)
		}
	}
}
