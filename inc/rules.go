// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// Rules are rules known to be wrong, for model checking: whoever searches an engine's states for faults can see by them that he would
// find one. Each is what a published description or implementation of the protocol does; an engine for anything else has none. They are for
// fixed groups, those about ranges for in-band ones.
type Rules uint32

// The rules known to be wrong. The names are those of the findings.
const (
	// RuleA1: the bits that say who has contributed to a slot are never cleared, so that whatever comes when the slot is used again
	// passes for a duplicate. Both modes.
	RuleA1 Rules = 1 << iota
	// RuleA2: every contribution that is accepted, not the one that completes its slot, empties the slot a window ahead, where a result lies
	// that somebody may still ask for. Mode II.
	RuleA2
	// RuleA9: in a Broadcast an acknowledgement goes up only when the minimum rises, and so never again if it is lost. Mode II.
	RuleA9
	// RuleA10: in a Broadcast a NAK goes up as it is, although it acknowledges what comes before it, which others may not have. Mode II.
	RuleA10
	// RuleB6Ack: a NAK counts as an ACK of its number. Mode III.
	RuleB6Ack
	// RuleB6Assert: a NAK's number must be that of the oldest PSN that is not acknowledged; with any other CheckInvariants fails from then
	// on. Mode III.
	RuleB6Assert
	// RuleB9: at a root a complete slot is a packet to itself. If it finds the broadcast pipe full it is dropped, and the next one finds a
	// gap, which the root answers with a NAK to itself; CheckInvariants fails from then on. Mode III.
	RuleB9
	// RuleB10: duplicates are not acknowledged again. Mode III; the identities of TX_ACK do not hold.
	RuleB10
	// RuleB15: slots are recycled as in Mode II, when the slot half a pipe ahead is complete, and not when everybody has acknowledged
	// them. Discarded counts those that somebody had not. Mode III; CheckInvariants says nothing of pipes and slots.
	RuleB15
	// RuleByPSN joins packets of one number and not messages: every packet ends what it is in. Mode I.
	RuleByPSN
	// RuleAckFull: a packet that finds no room is acknowledged, as if it were kept. Mode I.
	RuleAckFull
	// RuleFreeFirst: a slot is free when the first out endpoint has acknowledged it, and not the last; the others cannot be sent it again. Mode I.
	RuleFreeFirst
	// RuleKeepRefused: the bytes of a packet that finds no room are joined all the same, to what is in its slot. Mode I.
	RuleKeepRefused
	// RuleParkBusy: a group is parked though it is not drained. All modes.
	RuleParkBusy
	// RuleOldPSN: a group that is parked no more expects PSNs from START on, in Mode I those of its endpoints' registers, and not from where it was. All modes.
	RuleOldPSN
	// RuleSameOffsets: an endpoint's offsets stay when a range opens, whether or not it had a part in the one before. In-band groups, Modes II and III.
	RuleSameOffsets
	// RuleOneRange: packets of the range before the current one belong to no range. In-band groups, Mode II.
	RuleOneRange
	// RuleNoReack: data of the range before the current one that every receiver has is judged like any other. In-band groups, Mode II.
	RuleNoReack
	// RuleNakSpeaks: a NAK of a range's first PSN acknowledges the range before it. In-band groups, Mode II.
	RuleNakSpeaks
	// RuleUndrained: a range opens though not all of the one before has been acknowledged. In-band groups, Mode III.
	RuleUndrained

	allRules = 1<<iota - 1
)

// follows tells whether the engine follows one of these rules.
func (p Params) follows(r Rules) bool { return p.Rules&r != 0 }

// arrivedBefore is RuleA1's mistake: the endpoint's bit in the slot is that of the PSN that the slot was used for before.
func (e *Engine) arrivedBefore(in *incoming, s int) bool {
	slot := &e.slots[s]
	return e.params.follows(RuleA1) && (slot.mask&in.bit() != 0 && slot.tag != in.psn || slot.arrived&in.bit() != 0)
}

// turnAround is RuleB9's packet to itself.
func (g *group) turnAround(psn roce.PSN) {
	switch room := psn.Diff(g.pipes[PipeBroadcast].start) < g.pipeSlots(); {
	case psn != g.turned:
		g.broken = true
	case room:
		g.turned = psn.Next()
	}
}

// recycleByCompletion is RuleB15 for a pipe in which a slot has just completed.
func (e *Engine) recycleByCompletion(g *group, p Pipe) {
	_, slots := g.ring(p)
	pipe := &g.pipes[p]
	for pipe.done.Diff(pipe.start) > g.pipeSlots()/2 {
		e.count(Wipe)
		pipe.start = pipe.start.Next()
		if pipe.head++; pipe.head == slots {
			pipe.head = 0
		}
	}
}

// overwrites notes that a slot is about to be used for another PSN while somebody has not acknowledged what is in it.
func (g *group) overwrites(s *slot, p Pipe, psn roce.PSN) {
	if s.mask == 0 || s.tag == psn {
		return
	}
	for mask := g.current.outs(p); mask != 0; mask &= mask - 1 {
		if !s.tag.Before(g.sends[lowest(mask)].nextUnacked) {
			g.discarded++
			return
		}
	}
}

// fromOldPSN is RuleOldPSN.
func (e *Engine) fromOldPSN(number int) {
	g := &e.groups[number]
	for i := range g.ends {
		g.ends[i].ePSN = g.Start
	}
	g.done = g.Start.Prev()
	if e.params.pipes() {
		e.beginPipes(g, g.Start)
	}
	if e.params.terminates() {
		e.startMessages(number)
	}
}
