// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/checkmessage"
	"incforge/hdl/hdltest/rig"
)

// ranging drives inc_check_message with in-band groups in the places of Control, inc_frame_steps and SendMessage: those of parking, whose first range begins
// with message 100.
type ranging struct {
	*parking
	left int // cycles to the end of a job of SendMessage
	// with releases, what data said of its range: group, last message, who sends, pools
	release bool
	said    [][5]uint64
}

// moment is what a frame does that is decided, or opens a range.
type moment struct {
	Cycle    int
	Opens    bool
	Answer   string
	Counters []string
}

// at is a frame's place: what Control says of it, and the range that its group is in.
type at struct {
	opens, bad, norole, differs, outside bool
	begin, end                           uint64
	up, whole                            bool
	opcode, length                       uint64
}

func newRanging(t *testing.T, release int) *ranging {
	lib := rig.Lib(t, with(func(p *checkmessage.CheckMessage) {
		p.Park, p.InBand, p.Release, p.Counters = 1, 1, release, p.Counters+1
	}))
	return &ranging{parking: startParking(t, lib), release: release != 0}
}

// tick passes a cycle, with SendMessage as far as it matters: a job takes 4.
func (b *ranging) tick() {
	b.SetBool("snd_done", b.left == 1)
	b.SetBool("snd_next", b.left == 1)
	b.left = max(b.left-1, 0)
	b.Clock()
	if b.release && b.Is("rng_we") {
		b.said = append(b.said, [5]uint64{b.Get("rng_group"), b.Get("rng_last"), b.Get("rng_senders"), b.Get("rng_a"), b.Get("rng_b")})
	}
	for _, name := range []string{"snd_open", "snd_look", "snd_note", "snd_ack"} {
		if b.Is(name) {
			b.left = 4
		}
	}
}

// frame has a packet come to B at the end of cycle 0, and to C with its verdict.
func (b *ranging) frame(ei, psn uint64, f at) (m moment) {
	b.t.Helper()
	control := bit(f.opens || f.bad || f.norole)
	values := map[string]uint64{"b_ei": ei, "c_ei": ei, "c_self": 1 << (ei % 8), "b_wire_psn": psn, "c_wire_psn": psn, "c_ranged": 1, "c_rng": 2, "c_begin": f.begin, "c_end": f.end,
		"b_in_range": bit(!f.outside && control == 0), "b_opens": bit(f.opens), "b_bad_control": bit(f.bad), "b_wrong_role": bit(f.norole), "b_contradicts": bit(f.differs),
		"b_up": bit(f.up), "b_whole": bit(f.whole), "c_opcode": f.opcode, "c_plen": f.length, "c_words": (f.length + 7) / 8,
		"b_data": bit(f.opcode < 6), "b_ack": bit(f.opcode == 0x11), "b_ends": bit(f.opcode >= 2 && f.opcode < 6)}
	b.set(values)
	for cycle := 0; ; cycle++ {
		require.Less(b.t, cycle, 60)
		goes := b.goes(cycle, ei)
		b.tick()
		if goes {
			b.set(map[string]uint64{"b_go": 0, "b_valid": 0, "c_valid": 1, "vrd_valid": 1})
		}
		if b.Is("tx_valid") {
			m.Answer = fmt.Sprintf("%#x", b.Get("tx_ext"))
		}
		m.Counters = append(m.Counters, b.counted()...)
		if done, opens := b.Is("c_done"), b.Is("c_opening"); done || opens {
			require.Equal(b.t, []bool{opens, true, done}, []bool{b.Is("ctl_open"), b.Is("c_leaves"), b.Is("vrd_pop")})
			m.Cycle, m.Opens = cycle, opens
			b.set(map[string]uint64{"c_valid": 0, "vrd_valid": 0})
			break
		}
	}
	b.tick()
	m.Counters = append(m.Counters, b.counted()...)
	slices.Sort(m.Counters)
	return m
}

// counted are the counters that step in a cycle.
func (b *ranging) counted() (names []string) {
	for i, c := range (contract.Params{Mode: 1, Park: true}).Counters() {
		if b.Get("count")>>i&1 != 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// begun follows how the endpoints of a group come to a range, from the cycle behind ctl_open on: each is handed to SendMessage in its turn, and behind the last
// what was acknowledged is lifted to what lies before the range. It gives the number of cycles.
func (b *ranging) begun(group int, last uint64) (cycles int) {
	var handed []uint64
	lifts := 0
	for cycles = 1; b.Is("ctl_busy"); cycles++ {
		require.Less(b.t, cycles, 60)
		if b.Is("snd_open") {
			handed = append(handed, b.Get("snd_ei"))
		}
		if b.Is("ack_lift") {
			lifts++
			require.Equal(b.t, last, b.Get("ack_psn"))
			require.Len(b.t, handed, 5)
		}
		b.tick()
	}
	require.Equal(b.t, 1, lifts)
	base := uint64(group << 3)
	require.Equal(b.t, []uint64{base, base + 1, base + 2, base + 3, base + 4}, handed)
	return cycles - 1
}

// TestRanges: what a group's endpoints send before, in and behind its first range: what belongs nowhere is dropped under its name without an answer, a
// control opens the range once everything is acknowledged and comes again, one that is too early, or of a parked group, finds no room.
func TestRanges(t *testing.T) {
	t.Parallel()
	const (
		look = 4 // cycles until data is decided
		step = 3 // and anything else
		rnr  = "0x21000000"
	)
	b := newRanging(t, 0)
	before, in := at{begin: 99, end: 99, up: true, whole: true, opcode: 5}, at{begin: 100, end: 101, up: true, whole: true, opcode: 5}
	with := func(f at, change func(*at)) at { change(&f); return f }
	opens := func(f *at) { f.opens = true }
	control, again := with(before, opens), with(in, opens)
	data := with(in, func(f *at) { f.opcode, f.length = 4, 8 })
	drop := func(name, answer string, more ...string) moment {
		return moment{look, false, answer, slices.Sorted(slices.Values(append(more, name, "RX_FRAMES")))}
	}
	taken := drop("AGG", "0x1f000001", "BUFFERED", "UP_DATA", "TX_ACK")
	check := func(what string, want, got moment) { t.Helper(); assert.Empty(t, cmp.Diff(want, got), what) }

	check("data before the first range", drop("DROP_RANGE", ""), b.frame(0, 7, with(before, func(f *at) { f.opcode, f.length = 4, 8 })))
	check("half an element is not looked at outside", drop("DROP_RANGE", ""), b.frame(0, 7, with(before, func(f *at) { f.opcode, f.length, f.whole = 4, 3, false })))
	check("bad control", drop("DROP_BAD_CONTROL", ""), b.frame(0, 7, with(before, func(f *at) { f.bad = true })))
	check("nobody who sends", drop("DROP_WRONG_ROLE", ""), b.frame(0, 7, with(before, func(f *at) { f.norole = true })))
	check("an answer before the first range", moment{step, false, "", []string{"DROP_STALE_ACK", "RX_FRAMES"}},
		b.frame(0, 7, with(before, func(f *at) { f.opcode, f.outside = 0x11, true })))
	b.Set("grp_parked", 1)
	check("parked", drop("DROP_PARKED", rnr, "TX_RNR"), b.frame(0, 7, control))
	b.Set("grp_parked", 0)
	check("a control not at its PSN", drop("DROP_GAP", "0x60000000", "TX_GAP_NAK", "UP_DATA"), b.frame(1, 8, control))
	b.Set("park_valid", 1) // it waits until the control is decided
	b.Set("park_group", 0)
	b.tick()
	b.Set("park_valid", 0)
	b.tick()
	check("the range opens", moment{look, true, "", []string{"RANGE_OPEN"}}, b.frame(0, 7, control))
	b.Set("park_valid", 1)
	require.Equal(t, 5*6, b.begun(0, 99))
	require.False(t, b.Is("park_take"))
	check("the control comes again", taken, b.frame(0, 7, again))
	for !b.Is("park_take") {
		b.tick()
	}
	require.False(t, b.Is("park_drained"))
	b.Set("park_valid", 0)

	check("data in the place of a control", drop("DROP_CONTROL", ""), b.frame(1, 7, data))
	check("another control", drop("DROP_CONTROL", ""), b.frame(1, 7, with(again, func(f *at) { f.differs = true })))
	check("a control in the place of data", drop("DROP_CONTROL", ""), b.frame(0, 8, again))
	check("who does not send", drop("DROP_RANGE", ""), b.frame(2, 7, with(data, func(f *at) { f.up = false })))
	check("data, the last", drop("AGG", "0x1f000002", "BUFFERED", "UP_DATA", "TX_ACK"), b.frame(0, 8, data))
	check("data behind the range", drop("DROP_RANGE", ""), b.frame(0, 9, data))
	check("the next range too early", drop("DROP_FULL", "0x21000002", "TX_RNR", "UP_DATA"), b.frame(0, 9, again))
	check("a word of who hears nothing", moment{step, false, "", []string{"DROP_STALE_ACK", "RX_FRAMES"}}, b.frame(4, 10, with(in, func(f *at) { f.opcode = 0x11 })))
	check("the other one's control", taken, b.frame(1, 7, again))
}

// TestRangesReleased: as long as a group owes releases a control that would open its next range finds no room; what other groups owe does not matter. Data that is
// taken, and nothing else, says what its range is.
func TestRangesReleased(t *testing.T) {
	t.Parallel()
	b := newRanging(t, 1)
	before, in := at{begin: 99, end: 99, up: true, whole: true, opcode: 5, opens: true}, at{begin: 100, end: 101, up: true, whole: true, opcode: 5, opens: true}
	full := moment{4, false, "0x21000000", []string{"DROP_FULL", "RX_FRAMES", "TX_RNR", "UP_DATA"}}
	for range 2 {
		b.Set("grp_owes", 1)
		assert.Equal(t, full, b.frame(0, 7, before))
	}
	b.Set("grp_owes", 2)
	assert.Equal(t, moment{4, true, "", []string{"RANGE_OPEN"}}, b.frame(0, 7, before))
	require.Equal(t, 5*6, b.begun(0, 99))
	require.Empty(t, b.said)
	for _, roles := range []struct {
		psn, ei, reduces, spreads, in, parent, senders, up, down uint64
	}{{7, 0, 0, 0, 0b01111, 0b10000, 0b11111, 1, 1}, {8, 0, 1, 0, 0b01111, 0b10000, 0b01111, 1, 0}} {
		b.set(map[string]uint64{"c_reduces": roles.reduces, "c_spreads": roles.spreads, "c_in_mask": roles.in, "c_parent_mask": roles.parent})
		f := in
		if roles.psn != 7 {
			f.opens, f.opcode, f.length = false, 4, 8
		}
		b.said = nil
		require.Contains(t, b.frame(roles.ei, roles.psn, f).Counters, "AGG")
		assert.Equal(t, [][5]uint64{{0, 101, roles.senders, roles.up, roles.down}}, b.said)
	}
}
