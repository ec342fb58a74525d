// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// Standing is how far an enabled group is, for those who watch. Two that are equal show that nothing has advanced. In Mode I the group's PSNs
// are the numbers of messages.
type Standing struct {
	// Ranged is false in an in-band group before its first control; what follows but Ends means nothing then.
	Ranged bool
	// Collective is that of the current range. First and Last are the range's, in group PSNs; both START in a fixed group.
	Collective  uint8
	First, Last roce.PSN
	// Partial is the number of slots with some contributions and not all; Next is the first PSN that is not complete, in group PSNs.
	Partial int
	Next    roce.PSN
	// Ends are by endpoint, those that the group does not have included.
	Ends []EndStanding
}

// EndStanding is what the engine knows of an endpoint.
type EndStanding struct {
	// Sends and Hears say what the endpoint does in the current range.
	Sends, Hears bool
	// Expected is the next PSN on its wire; Sent the one behind what it has contributed, in group PSNs.
	Expected, Sent roce.PSN
	// Unacknowledged is the first PSN, on its wire, that it has not acknowledged, and Owed how many were sent to it from there on. Mode II
	// counts for ranks whose acknowledgements it adds up, the receivers of a Reduce or Broadcast, and knows no Owed.
	Unacknowledged roce.PSN
	Owed           int
	// Waits: for the end of an RNR NAK's time. Failed: it ended the connection by a NAK.
	Waits, Failed bool
}

// Standing tells how far a group is; ok is false if it is not enabled or does not exist. It changes nothing.
func (e *Engine) Standing(number int) (s Standing, ok bool) {
	if !e.Enabled(number) {
		return s, false
	}
	g := &e.groups[number]
	c := &g.current
	s = Standing{Ranged: c.open || !g.InBand, Collective: c.collective, First: g.Start, Last: g.Start, Next: g.done.Next()}
	if c.open {
		s.First, s.Last = c.first, c.last()
	}
	if e.params.pipes() {
		p := PipeAggregation
		if c.in == 0 || c.turnsAround() {
			p = PipeBroadcast
		}
		s.Next = g.pipes[p].done
	}
	if g.messages != nil {
		g.messageStanding(&s)
		return s, true
	}
	if !g.parked { // else its settings may name slots that there are not
		for i := range g.slotsOf(e) {
			if g.slotsOf(e)[i].partial() {
				s.Partial++
			}
		}
	}
	for member := range g.ends {
		bit, o := uint32(1)<<member, c.offsets[member]
		end := EndStanding{Sends: c.senders()&bit != 0, Hears: c.hearers()&bit != 0, Expected: g.ends[member].ePSN, Sent: g.expected(member),
			Unacknowledged: g.ends[member].acked.Next().Add(o.out)}
		if e.params.pipes() {
			side := &g.sends[member]
			end.Unacknowledged, end.Owed = side.nextUnacked.Add(o.out), side.beyond.Diff(side.nextUnacked)
			end.Waits, end.Failed = side.waits, side.failed
		}
		s.Ends = append(s.Ends, end)
	}
	return s, true
}
