// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"bytes"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// random carries out ranges back to back, several packets at once, contributors in any order, among frames that must change nothing.
func random(t *rig.T) {
	for _, parent := range []bool{false, true} {
		g := newGroup(t, parent)
		for range t.Count(12, 200) {
			old := g.current
			s := g.enter(g.anything())
			t.In(s.String(), func() { s.burst(old, false, false) })
		}
	}
}

// amongDamaged is random with damaged frames among the others, and behind those frames of a group that has no ranges. In every other range the ports take little while
// frames come in, so that one waits for room and others behind it.
func amongDamaged(t *rig.T) {
	for _, parent := range []bool{false, true} {
		g := newGroup(t, parent, rig.WithLog2N(t.MaxLog2N(2, t.Params.MostUnits())))
		if !parent && rig.MaxGroups(t.Params) > 1 && rig.RoomForTwo(t.Params) {
			g.beside = g.E.Group(1, 2, t.Params.Members, false)
		}
		for i := range t.Count(12, 200) {
			old := g.current
			s := g.enter(g.anything())
			t.In(s.String(), func() { s.burst(old, true, i%2 > 0) })
		}
	}
}

// burst carries out a range as many packets at a time as the window allows; old is the range before. Damaged: some come in damaged first. Held: the ports take little while
// they come in; some of them after more answers than wait inside, during which the ports take nothing.
func (s *span) burst(old *span, damaged, held bool) {
	const most = 32
	g, t := s.g, s.g.T
	end := slices.Clone(g.in) // where the next range begins on each wire
	for _, c := range s.senders() {
		end[c] = end[c].Add(s.control.Packets + 1)
	}
	for done := 0; done <= s.control.Packets; {
		count := 1 // a control alone: others' would be data before it
		if done > 0 {
			count = min(1+t.Rand.IntN(g.MW()), s.control.Packets+1-done)
		}
		queues := s.queues(count)
		who := t.Shuffled(turns(queues))
		fill := 0
		if held && (done == 0 || t.Rand.IntN(4) == 0) {
			fill = t.Rand.IntN(2 * most)
		}
		for range fill {
			g.E.Put(s.junk(old, end))
		}
		odds := 6
		if damaged && done == 0 && t.Rand.IntN(2) == 0 {
			odds = 1 // all that would open the range come in damaged first
		}
		for _, c := range who {
			if damaged && t.Rand.IntN(odds) == 0 {
				cut := queues[c][0]
				cut.Data = slices.Clone(cut.Data[:len(cut.Data)-1])
				g.E.Put(cut)
				if o := g.beside; o != nil && slices.Contains(o.Members(), c) {
					g.E.Put(o.NAK(c, o.Start()))
				}
			}
			g.E.Put(t.Marked(queues[c][0]))
			queues[c] = queues[c][1:]
			for t.Rand.IntN(3) == 0 {
				g.E.Put(t.Marked(s.junk(old, end)))
			}
		}
		if held {
			g.E.SetPauses(dut.Pauses{Ready: 1})
			g.E.StepTo(g.E.Now() + uint64(most*fill))
			g.E.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.9, Burst: most})
			g.E.StepTo(g.E.Now() + uint64(most*(fill+2*len(who))))
			g.E.SetPauses(dut.Pauses{})
		}
		s.arrived(old, done)
		done += count
		if t.Rand.IntN(3) == 0 || done > s.control.Packets {
			for _, c := range s.acks {
				g.E.Put(g.Ack(c, s.last().out[c]))
			}
		}
	}
}

// queues are the frames of the range's next packets, by endpoint.
func (s *span) queues(count int) [][]rig.Frame {
	g, t := s.g, s.g.T
	queues := make([][]rig.Frame, len(g.Ends))
	for range count {
		p := s.plan(t.Rand.IntN(min(t.Params.MTUBytes, 200) + 1))
		for _, c := range s.senders() {
			queues[c] = append(queues[c], g.frame(p, c))
		}
	}
	return queues
}

// turns has every endpoint once for each frame in its queue.
func turns(queues [][]rig.Frame) []int {
	var who []int
	for c, q := range queues {
		for range q {
			who = append(who, c)
		}
	}
	return who
}

// junk is a frame that changes nothing of what a range does, but may be answered. At end no control may be, since it would open a range.
func (s *span) junk(old *span, end []roce.PSN) rig.Frame {
	g, t := s.g, s.g.T
	c := t.Rand.IntN(len(g.Ends))
	near := func(psn roce.PSN) roce.PSN { return psn.Add(t.Rand.IntN(9) - 6) }
	cnp := func() rig.Frame { return g.CNP(c, near(g.in[c])) }
	switch t.Rand.IntN(8) {
	case 0, 1: // a packet of an earlier burst, of this range or the one before
		from := s
		if t.Rand.IntN(2) == 0 {
			from = old
		}
		if i := len(from.packets) - 1 - g.MW() - t.Rand.IntN(4); i >= 0 && slices.Contains(from.senders(), c) {
			return g.frame(from.packets[i], c)
		}
		return cnp()
	case 2: // ahead of what this burst sends; the source's would be copied
		if c == s.source {
			return cnp()
		}
		return g.Data(c, g.in[c].Add(1+t.Rand.IntN(3)), g.Values(8))
	case 3:
		return cnp()
	case 4, 5: // an answer to what was heard before this burst
		psn := g.out[c].Add(-1 - g.MW() - t.Rand.IntN(4))
		syndromes := []uint8{roce.AckSyndrome, roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 5, 0x40}
		return g.AETH(c, psn, syndromes[t.Rand.IntN(5)])
	}
	if len(s.packets) == 1 {
		return cnp() // a control might arrive first and open the range
	}
	control := inc.ControlOf(t.Rand.Uint32())
	if t.Rand.IntN(2) == 0 {
		control = s.control
		control.Packets ^= t.Rand.IntN(2)
	}
	psn := near(g.in[c])
	if psn == end[c] {
		psn = psn.Next()
	}
	return g.controlFrame(c, psn, control)
}

// heard is a packet on the wire to an endpoint.
type heard struct {
	by  int
	psn roce.PSN
}

// arrived settles the engine: all who must hear the packets from number done on have heard them, and whatever data left, now or once more,
// is right.
func (s *span) arrived(old *span, done int) {
	g, t := s.g, s.g.T
	right, due := map[heard][]byte{}, []heard{}
	for _, x := range []*span{old, s} {
		for i, p := range x.packets {
			for _, c := range x.hearers() {
				at := heard{c, p.out[c]}
				right[at] = p.copied
				if c == x.toward || x.source < 0 {
					right[at] = p.sum
				}
				if x == s && i >= done {
					due = append(due, at)
				}
			}
		}
	}
	came := map[heard]bool{}
	for _, o := range g.E.Settle() {
		p := t.Packet(o)
		if !p.Op.IsSend() {
			continue
		}
		at := heard{g.Addressee(o.Port, p), p.PSN}
		if want, ok := right[at]; !ok || !bytes.Equal(want, p.Payload) {
			t.Fatalf("endpoint %d got PSN %v with %d bytes that nobody's sum is", at.by, p.PSN, len(p.Payload))
		}
		came[at] = true
	}
	for _, at := range due {
		if !came[at] {
			t.Fatalf("PSN %v never came to endpoint %d", at.psn, at.by)
		}
	}
}
