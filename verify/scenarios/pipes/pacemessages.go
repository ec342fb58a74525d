// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// What docs/termination.md section 11 promises of answers, in cycles: from one to the next of another endpoint, and how many more one takes for each
// end of a message that it goes beyond.
const answerPace, messagePace = 3, 3

// stoppedTurn is how many cycles apart frames are decided, at most, that have a turn of an endpoint between them whose group was stopped.
const stoppedTurn = 7

// lookBeats is from how many beats on a frame's look is over before its last beat.
const lookBeats = 16

// passing is how many frames that are bypassed may pass a NAK that has something sent again.
const passing = 2

// paceMessages holds a Mode I engine to numbers of cycles.
func paceMessages(t *rig.T) {
	t.In("what leaves at once", func() { leavesAtOnce(t) })
	for strangers := range 6 {
		t.In("frames behind a NAK", func() { star(t).movedBehindNAK(strangers) })
	}
	if t.Params.Members < 2 {
		return
	}
	t.In("ACKs that wait", func() { star(t).answeredOneByOne() })
	t.In("a result behind ACKs", func() { wideStar(t).resultBehindAnswers() })
	t.In("strangers behind a NAK", func() { wideStar(t).strangersBehindNAK() })
	if rig.NeedGroups(2)(t.Params) == "" {
		t.In("a group that is stopped", func() { stoppedTurns(t) })
	}
}

// wideStar is a star with as many slots as there are, so that an ACK is for many messages.
func wideStar(t *rig.T) group {
	const most = 5
	g := group{t.PipeEngine(rig.LongTimeout).MakeGroup(0, 1, t.Params.Members, false)}
	g.Set.Log2N = min(bits.Len(uint(t.Params.Slots()/g.Units()))-1, most)
	g.Program()
	return g
}

// taken is a frame that was decided, and how many cycles behind its last beat that was.
type taken struct{ at, late uint64 }

// leavesAtOnce has ranks send messages of one packet and of two, packet by packet in turn: each of a result leaves in the cycle behind the decision of the last rank's,
// which is as late behind its last beat as any other packet's. Lengths of messages differ, so that what is done beside would end in another cycle.
func leavesAtOnce(t *rig.T) {
	g := star(t)
	m, mtu, word := g.Members(), t.Params.MTUBytes, max(t.Params.BusBytes, 16)
	seen, all, last := watch(g.E), []taken(nil), []taken(nil)
	g.E.OnAccept = func(f dut.Frame, _ []inc.Counter) { all = append(all, taken{g.E.Decided, g.E.Decided - f.Last}) }
	psn := g.PSN(0)
	send := func(op roce.Opcode, bytes int) {
		for _, c := range t.Shuffled(m) {
			g.E.Put(g.Data(c, psn, g.Values(bytes), func(p *roce.Packet) { p.Op, p.AckReq = op, false }))
			g.E.SettleAsIs()
		}
		last, psn = append(last, all[len(all)-1]), psn.Next()
	}
	for k := range g.MW() {
		short := g.Whole(mtu - word*(1+k%(mtu/word/2)))
		if k%2 == 0 || t.Params.WholeMessages || t.Params.MessageBytes < 2*mtu {
			send(roce.SendOnly, short)
		} else {
			send(roce.SendFirst, mtu)
			send(roce.SendLast, short)
		}
	}
	for i, x := range last {
		g.promise(i < len(*seen) && (*seen)[i].at == x.at+1, "the last rank's packet %d was decided in cycle %d, and then: %v", i, x.at, *seen)
	}
	for _, x := range all { // what a short one asks about takes longer than it does to come in
		g.promise(t.MTUBeats() < lookBeats || x.late == all[0].late, "a packet was decided %d cycles behind its last beat, another %d", x.late, all[0].late)
	}
	g.E.OnAccept, g.E.OnAct = nil, nil
}

// answeredOneByOne has ACKs of two ranks in turn wait that say nothing new.
func (g group) answeredOneByOne() {
	const count = 6
	fit, m := g.answersThatFit(mostAnswers), g.Members()
	var frames []rig.Frame
	for k := range count {
		frames = append(frames, g.Ack(m[k%2], g.PSN(-1)))
	}
	var at []uint64
	g.E.OnAccept = func(_ dut.Frame, counted []inc.Counter) {
		if !slices.Contains(counted, inc.RxDuplicate) {
			at = append(at, g.E.Decided)
		}
	}
	g.waitBehind(fit, frames...)
	g.E.OnAccept = nil
	g.promise(len(at) == count, "%d of %d ACKs were decided", len(at), count)
	for k := 1; k < len(at); k++ {
		g.promise(at[k] == at[k-1]+answerPace, "ACKs that wait were decided in cycles %d, expected one in %d", at, answerPace)
	}
}

// resultBehindAnswers has two ranks acknowledge all that has left, and one complete the last message that a pool takes right behind them. The first ACK takes
// so long that the second waits for it, and the result for that: it leaves beside the second one's job. (With releases it takes a look, behind that.)
func (g group) resultBehindAnswers() {
	const margin = 6 // cycles that a short frame's decision may differ by
	m, k := g.T.Shuffled(g.Members()), g.MW()-1
	takes := uint64(answerPace + messagePace*k)
	if !g.T.Params.NoReleases || takes < 2*uint64(g.T.Params.Beats(64))+margin {
		return
	}
	for i := range k {
		g.collective(g.PSN(i), g.Members()...)
	}
	r := g.Round(g.PSN(k), 16).Draw(m...)
	g.contribute(r, m[1:])
	var at []uint64
	g.E.OnAccept = func(dut.Frame, []inc.Counter) { at = append(at, g.E.Decided) }
	g.oneAfterTheOther(g.Ack(m[0], g.PSN(k-1)), g.Ack(m[1], g.PSN(k-1)), r.Frame(m[0]))
	g.E.SettleAsIs()
	g.E.OnAccept = nil
	g.promise(at[2] == at[0]+takes, "two ACKs for %d messages and a result behind them were decided in cycles %d", k, at)
}

// oneAfterTheOther has short frames come right behind each other, in this order, whatever ports they come by.
func (g group) oneAfterTheOther(frames ...rig.Frame) {
	for i, f := range frames {
		if i > 0 {
			g.E.StepTo(g.E.Now() + uint64(g.T.Params.Beats(64)))
		}
		g.E.Put(f)
	}
}

// strangersBehindNAK has strangers of one beat come behind a NAK that waits for another rank's ACK to be through.
func (g group) strangersBehindNAK() {
	const count = 16
	m, n := g.Members(), g.MW()-1 // with a full pool an ACK lets no answer come behind it
	if n == 0 {
		return
	}
	for k := range n {
		g.offer(g.PSN(k), 4)
	}
	g.E.Settle()
	f := watchTurns(g.E)
	g.oneAfterTheOther(g.Ack(m[0], g.PSN(n-1)), g.NAK(m[1], g.PSN(0)))
	for range count {
		g.E.Put(g.stranger(m[1]))
	}
	g.E.SettleAsIs()
	g.E.OnAccept, g.E.OnAct = nil, nil
	g.promise(f.frames <= passing, "%d frames passed a NAK, at most %d may", f.frames, passing)
}

// stranger is a frame of nobody, of one beat, at an endpoint's port.
func (g group) stranger(c int) rig.Frame {
	return rig.Frame{Port: g.Ends[c].Port, Data: g.T.Words(g.T.Params.BusBytes / 4)}
}

// movedBehindNAK has all but one acknowledge a full pool, and that one send a NAK for what comes next, which is the last ACK. Behind it come some strangers, which the NAK
// holds up, and the last contribution to the message that the NAK makes room for: it was looked up before that, and is counted as moved behind it.
func (g group) movedBehindNAK(strangers int) {
	m, n := g.Members(), g.MW()
	for k := range n {
		g.collective(g.PSN(k), m...)
	}
	g.Acknowledge(g.PSN(n-1), m[1:]...)
	r := g.Round(g.PSN(n), 16).Draw(m...)
	g.contribute(r, m[1:])
	frames := []rig.Frame{g.NAK(m[0], g.PSN(n))}
	for range strangers {
		frames = append(frames, g.stranger(m[0]))
	}
	g.E.Put(append(frames, r.Frame(m[0]))...)
	g.E.SettleAsIs()
	g.E.Counted("a full pool is freed, and one more moved", map[inc.Counter]uint64{inc.Wipe: uint64(2*n + 1)})
}

// stoppedTurns stops a group while all of its members are to be sent more than there is room for. Their turns come, one between two of the strangers that wait, and end with a look.
func stoppedTurns(t *rig.T) {
	fit := star(t).answersThatFit(mostAnswers)
	e := t.PipeEngine(rig.LongTimeout)
	a, b := group{e.Group(0, 2, t.Params.Members, false)}, group{e.Group(1, 2, t.Params.Members, false)}
	const each = 2
	m := a.Members()
	if b.MW() <= each || fit < each*len(m) {
		return
	}
	a.roundTrip(a.PSN(0))
	for k := range b.MW() {
		b.offer(b.PSN(k), 0)
	}
	e.Settle()
	e.SetPauses(dut.Pauses{Ready: 1})
	for range fit - each*len(m) {
		e.Put(a.Data(m[0], a.PSN(0), nil))
	}
	a.soak(fit)
	for _, c := range m {
		e.Put(b.NAK(c, b.PSN(0)))
	}
	a.soak(each * len(m))
	var at []uint64
	e.OnAccept = func(dut.Frame, []inc.Counter) { at = append(at, e.Decided) }
	for range m {
		e.Put(a.stranger(m[0]))
	}
	a.soak(len(m))
	a.promise(len(at) == 0, "%d frames were decided while a send waited for room", len(at))
	b.Disable()
	a.soak(len(m))
	e.OnAccept = nil
	a.promise(len(at) == len(m), "%d of %d frames were decided when the group was stopped", len(at), len(m))
	for k := 1; k < len(at); k++ {
		a.promise(at[k] <= at[k-1]+stoppedTurn, "frames between the turns of a group that was stopped were decided in cycles %d, expected one in %d at most", at, stoppedTurn)
	}
	a.release()
}
