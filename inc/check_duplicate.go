// SPDX-License-Identifier: Apache-2.0

package inc

// arrival is what CheckDuplicate makes of a contribution.
type arrival uint8

const (
	inOrder       arrival = iota // the next one from this child, and its slot is free for it
	ahead                        // something before it is missing
	retransmitted                // seen before, and its result is in the buffer
	stale                        // seen before, and its result is not in the buffer, not yet or no longer
	slotless                     // the next one from this child, and its group is parked
	overrun                      // the next one from this child, but its slot may still be wanted for an older PSN
)

// checkDuplicate compares a contribution's PSN with what is expected of its child, with the tag of slot s, the PSN's slot,
// and with what is complete: the case distinction on d in docs/engine.md section 3, rule 5. It changes nothing.
//
// ePSN counts on the wire, slots by group PSN. Both comparisons are needed (A4). Without ePSN a late duplicate would be added
// to a slot that was recycled for another PSN. Without the tag a late duplicate would be answered with a younger result under
// the old PSN. The difference is serial, so that PSN 0 follows PSN 0xFFFFFF (A18).
func (e *Engine) checkDuplicate(in *incoming, s int) arrival {
	g := &e.groups[in.group]
	d := in.PSN.Diff(g.ends[in.member].ePSN)
	switch {
	case d > 0:
		return ahead
	case d == 0 && g.parked:
		return slotless
	case g.parked: // its settings may name slots that there are not
		return stale
	}
	slot := &e.slots[s]
	switch {
	case d < 0 && slot.complete && slot.tag == in.psn:
		return retransmitted
	case d < 0, e.arrivedBefore(in, s):
		return stale
	case in.psn.Diff(g.done) > g.window():
		return overrun
	}
	return inOrder
}
