// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// SlotState is what a slot is to a PSN.
type SlotState uint8

// The states of a slot.
const (
	// SlotEmpty has no contribution.
	SlotEmpty SlotState = iota
	// SlotPartial has some of the PSN's contributions.
	SlotPartial
	// SlotComplete has the PSN's result.
	SlotComplete
	// SlotOther has contributions of another PSN; in Modes III and I there is no slot at all, as the PSN or message is not in its pipe or pool.
	SlotOther
)

// Sight is what a data packet meets.
type Sight struct {
	// Collective, Op and DType are those of the packet's range.
	Collective, Op, DType uint8
	// BigEndian is the byte order of the group's elements.
	BigEndian bool
	// PSN is the group's, in Mode I the message's number; Slot is the state of its slot.
	PSN  roce.PSN
	Slot SlotState
}

// Look tells what data with this PSN on the wire of table index ei would meet, for those who watch an engine; it changes
// nothing. ok is false if the group is not enabled, the PSN is in no range that the endpoint sends in, or, in Mode I, it is not the next.
func (e *Engine) Look(ei int, wire roce.PSN) (s Sight, ok bool) {
	number, member := ei/e.params.EPS(), ei%e.params.EPS()
	if number >= len(e.groups) || member > e.params.Members || !e.groups[number].enabled {
		return Sight{}, false
	}
	g := &e.groups[number]
	if g.messages != nil {
		return g.lookMessages(member, wire)
	}
	at, psn := &g.current, wire
	if g.InBand {
		if at, psn = g.sent(member, wire); at == nil {
			return Sight{}, false
		}
	}
	s = Sight{Collective: at.collective, Op: at.op, DType: at.dtype, BigEndian: g.BigEndian, PSN: psn}
	if g.parked {
		s.Slot = SlotOther
		return s, true
	}
	index := g.slotOf(psn)
	if e.params.pipes() {
		p := at.pipeFrom(1 << member)
		if psn.Before(g.pipes[p].start) || !psn.Before(g.room(p)) {
			s.Slot = SlotOther
			return s, true
		}
		index = g.pipeSlot(p, psn)
	}
	switch slot := &e.slots[index]; {
	case slot.mask == 0:
	case slot.tag != psn:
		s.Slot = SlotOther
	case slot.complete:
		s.Slot = SlotComplete
	default:
		s.Slot = SlotPartial
	}
	return s, true
}
