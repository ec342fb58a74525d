// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"errors"
	"fmt"

	"incforge/roce"
)

// A group that is parked has no slots (docs/parking.md). Whatever needs one is refused; PSNs, offsets, what was acknowledged and the endpoints'
// records stay, and what needs no slot goes on: answers to what was seen before, acknowledgements, copies of what comes down.

// Errors of Park, Unpark and SetSlots.
var (
	// ErrUndrained means that a group was not parked because something in its slots is still wanted.
	ErrUndrained = errors.New("group is not drained")
	// ErrParked means that a group is parked, or is not, where it must be the other.
	ErrParked = errors.New("parked groups")
)

// Park takes the slots of group g away, as a write of GROUP_CTRL.park to a group that is enabled. One that is not drained is refused with
// ErrUndrained and goes on as it was. A parked group stays as it is.
func (e *Engine) Park(g int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	group := &e.groups[g]
	switch {
	case !e.params.Park:
		return fmt.Errorf("group %d: this engine has none: %w", g, ErrParked)
	case !group.enabled:
		return fmt.Errorf("group %d is disabled: %w", g, ErrParked)
	case group.parked:
		return nil
	case !e.Drained(g) && !e.params.follows(RuleParkBusy):
		return fmt.Errorf("group %d: %w", g, ErrUndrained)
	}
	group.parked = true
	if e.params.pipes() {
		for p := range group.pipes {
			group.pipes[p].head = 0 // they are empty, so they may begin anywhere
		}
	}
	return nil
}

// Unpark gives group g the slots that its settings name, all of them empty: a PSN finds nothing in them before the next one of the group has
// come. It is refused as Enable would, and the group stays parked then. A group that is not parked stays as it is.
func (e *Engine) Unpark(g int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	group := &e.groups[g]
	if !group.parked {
		return nil
	}
	if err := e.mayHaveSlots(g); err != nil {
		if errors.Is(err, ErrOverlap) {
			e.raise(CauseRefused)
		}
		return err
	}
	group.parked = false
	if group.messages != nil {
		group.messages.Move(group.pipeSlots(), e.messageMemory(group))
	}
	for i := range group.slotsOf(e) {
		group.slotsOf(e)[i] = emptySlot()
	}
	if e.params.follows(RuleOldPSN) {
		e.fromOldPSN(g)
	}
	return nil
}

// Parked tells whether group g is parked, GROUP_STATUS.parked. It is false for a group that does not exist.
func (e *Engine) Parked(g int) bool { return g >= 0 && g < len(e.groups) && e.groups[g].parked }

// SetSlots writes GROUP_SLOTS and GROUP_PIPE of group g, which is parked: the only settings of a group that may change while it is enabled.
func (e *Engine) SetSlots(g, base, log2N, pipeSlots int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	group := &e.groups[g]
	if !group.parked {
		return fmt.Errorf("group %d: %w", g, ErrEnabled)
	}
	group.SlotBase, group.Log2N, group.PipeSlots = base, log2N, pipeSlots
	return nil
}

// Drained tells whether nothing in the slots of group g, which must exist, is wanted any more (docs/parking.md section 2). In Modes III and I no slot is
// in use, and in Mode I no release is under way. In Mode II, which keeps results for those who ask again, every PSN that somebody contributed to is complete, and everybody whose
// acknowledgements count has acknowledged all of them.
func (e *Engine) Drained(number int) bool {
	g := &e.groups[number]
	if !g.enabled || g.parked {
		return true
	}
	if e.params.acts() {
		return g.empty()
	}
	s := &g.current
	if !g.InBand && s.collective == CollectiveBroadcast {
		return true // it keeps nothing of what it copies
	}
	for mask := s.in; mask != 0; mask &= mask - 1 {
		if g.expected(lowest(mask)).Prev().Diff(g.done) > 0 {
			return false
		}
	}
	for mask := s.ack; mask != 0; mask &= mask - 1 {
		if g.ends[lowest(mask)].acked.Diff(g.done) < 0 {
			return false
		}
	}
	return true
}

// empty tells whether a group of Mode III or I has nothing that its slots are for.
func (g *group) empty() bool {
	if g.messages != nil {
		return g.messages.Empty()
	}
	return g.emptyPipes()
}

// emptyPipes tells whether no slot of a group of Mode III is in use.
func (g *group) emptyPipes() bool {
	for p := range numPipes {
		if g.current.uses(p) && g.filled(p) != 0 {
			return false
		}
	}
	return true
}

// mayHaveSlots reports why a group may not have the slots that its settings name: it is illegal, which comes first, or somebody has some of them.
func (e *Engine) mayHaveSlots(g int) error {
	if err := e.groups[g].legal(e.params); err != nil {
		return fmt.Errorf("group %d: %w", g, err)
	}
	if err := e.legalMessages(g); err != nil {
		return err
	}
	first, beyond := e.groups[g].units(e.params)
	for other := range e.groups {
		has := other != g && e.groups[other].enabled && !e.groups[other].parked
		if from, to := e.groups[other].units(e.params); has && first < to && from < beyond {
			return fmt.Errorf("group %d: slots %d to %d, group %d has %d to %d: %w", g, first, beyond-1, other, from, to-1, ErrOverlap)
		}
	}
	return nil
}

// withoutSlot is Mode II's answer to new data of a parked group: it is dropped and never acknowledged. The one that is next in order draws an RNR
// NAK of its own number if CTRL.park_rnr is set and a host sent it. That acknowledges what comes before it, which everybody has, as the group
// is drained.
func (e *Engine) withoutSlot(at place, p *roce.Packet) []Out {
	e.count(DropParked)
	g := &e.groups[at.group]
	end := &g.ends[at.member]
	followed := g.InBand || g.current.in&at.bit() != 0 // nobody counts what comes down in a fixed group
	if !e.parkRNR || !e.table[at.ei].Host || !followed || p.PSN != end.ePSN {
		return nil
	}
	end.nakSent = true
	e.count(TxRnr)
	return []Out{e.aeth(at.ei, p.PSN, roce.RNRSyndrome|e.parkTimer, end.msn, false)}
}

// keepsNot tells whether down data finds no place in a parked group: a Broadcast that is new. Nothing else that comes down needs one.
func (e *Engine) keepsNot(in *incoming) bool {
	g := &e.groups[in.group]
	return g.parked && in.span.collective == CollectiveBroadcast && (!g.InBand || in.PSN.Diff(g.ends[in.member].ePSN) >= 0)
}

// acknowledgedBefore answers a retransmission whose result is gone with its slot, if its receiver has acknowledged the result: the ACK that
// told its sender so must have been lost. Without parking a result outlives every question for it. ok tells whether it is such data.
func (e *Engine) acknowledgedBefore(in *incoming) (outs []Out, ok bool) {
	g, told := &e.groups[in.group], in.member
	reduces := in.span.collective == CollectiveReduce // whose ACKs go down the tree, and who hears one from a switch may be a switch
	if !e.params.Park || !reduces && !e.table[in.ei].Host {
		return nil, false
	}
	if reduces {
		told = lowest(in.span.parent)
	}
	psn := g.ends[told].acked
	if g.InBand && psn.Diff(in.span.last()) > 0 {
		psn = in.span.last()
	}
	if psn.Diff(in.psn) < 0 {
		return nil, false
	}
	e.count(TxReack)
	return []Out{e.answer(in, in.member, psn, roce.AckSyndrome, g.ends[told].ackMSN, false)}, true
}

// SetParkAnswer writes CTRL.park_rnr and CTRL.park_timer, how Mode II answers new data of a parked group; before that RNR NAKs are on and the timer
// code is 1. Upper bits of the code are dropped. Modes III and I do as PIPE_CTRL says.
func (e *Engine) SetParkAnswer(rnr bool, timer uint8) { e.parkRNR, e.parkTimer = rnr, timer&0x1F }
