// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"slices"

	"incforge/inc"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// fairFrames is how many frames may be decided while an action waits that may be taken.
const fairFrames = 1

func fair(t *rig.T) {
	const rounds = 6
	g := star(t)
	e, m, n := g.E, g.Members(), g.MW()
	for k := range n {
		g.offer(g.PSN(k), 4)
	}
	e.Settle()
	f := watchTurns(e)
	for range rounds {
		for _, c := range t.Shuffled(m) {
			e.Put(g.NAK(c, g.PSN(0)))
		}
		for range 3 * n {
			for _, c := range m {
				e.Put(g.Data(c, g.PSN(0), nil)) // short, and answered
			}
		}
		e.Settle()
	}
	t.Values["fair_frames_in_a_row"] = uint64(f.frames)
	t.Values["fair_actions_waited"] = uint64(f.turns)
	t.Values["fair_wanted"] = uint64(f.most)
	if want := min(len(m), n); f.most < want && !t.OneQueue { // who has little to send again has sent it before the last one asks
		t.Fatalf("no more than %d wanted to send at once, at least %d should have", f.most, want)
	}
	if f.frames > fairFrames && !t.OneQueue {
		t.Fatalf("an action waited for %d frames, at most %d may pass", f.frames, fairFrames)
	}
	e.Counted("everything sent again", map[inc.Counter]uint64{inc.RxDuplicate: uint64(rounds * 3 * n * len(m))})
	if !t.Messages() {
		g.strangers(f)
	}
	e.OnAccept, e.OnAct = nil, nil
	crowd(t)
	if len(m) >= 2 {
		t.In("one asks several times", func() { asksOften(t) })
		t.In("one asks while the pipe has more", func() { asksBeside(t) })
	}
}

// asksOften has one endpoint ask several times for what it has not acknowledged, and another once behind that: each has one turn after the other.
func asksOften(t *rig.T) {
	const rounds, times = 6, 6
	g := star(t)
	for k := range g.MW() {
		g.offer(g.PSN(k), 4)
	}
	g.E.Settle()
	watchTurns(g.E)
	for range rounds {
		m := t.Shuffled(g.Members())
		for range times {
			g.E.Put(g.NAK(m[0], g.PSN(0)))
		}
		g.E.Put(g.NAK(m[1], g.PSN(0)))
		g.E.Settle()
	}
	g.E.OnAccept, g.E.OnAct = nil, nil
}

// asksBeside has the last ACK make room in a pipe, and another endpoint ask for the first result that leaves then: the others do not all leave before it.
func asksBeside(t *rig.T) {
	const rounds = 4
	g := star(t)
	n := g.MW()
	for range rounds {
		m := t.Shuffled(g.Members())
		g.fillBoth()
		g.Acknowledge(g.PSN(n-1), m[1:]...)
		watchTurns(g.E)
		g.E.Put(g.Ack(m[0], g.PSN(n-1)), g.NAK(m[1], g.PSN(n)), g.NAK(m[1], g.PSN(n)))
		g.E.Settle()
		g.E.OnAccept, g.E.OnAct = nil, nil
		g.Reset()
	}
}

// strangers has one frame or another of nobody, of one beat each, right behind a NAK: they are decided one a cycle, but pass no action.
func (g group) strangers(f *turns) {
	const rounds, each = 6, 4
	for range rounds {
		for _, c := range g.T.Shuffled(g.Members()) {
			g.E.Put(g.NAK(c, g.PSN(g.MW()-1)))
			for range each {
				g.E.Put(rig.Frame{Port: g.Ends[c].Port, Data: g.T.Words(2)})
			}
			g.E.Settle()
		}
	}
	if f.frames > fairFrames && !g.T.OneQueue {
		g.T.Fatalf("an action waited for %d frames of nobody, at most %d may pass", f.frames, fairFrames)
	}
}

// crowd has all but one ask over and over for what is in a full pipe, behind which more is complete. So its pipe may be of those that want to send at every
// turn, as somebody keeps up, and is found to have no room.
func crowd(t *rig.T) {
	const rounds = 120
	g := star(t)
	m, n := g.Members(), g.MW()
	results := g.fillBoth()
	watchTurns(g.E)
	for range rounds {
		for _, c := range m[1:] {
			g.E.Put(g.NAK(c, g.PSN(0)))
		}
	}
	g.E.Settle()
	g.E.OnAccept, g.E.OnAct = nil, nil
	g.Acknowledge(g.PSN(n-1), m[1:]...)
	var rest []rig.Want
	for k := n; k < 2*n; k++ {
		rest = append(rest, rig.Copies(rig.DataTo(0, g.PSN(k), results[k]), m...)...)
	}
	g.Send(g.Ack(m[0], g.PSN(n-1))).As("the last ACK").Expect(rest...)
}

// turns watches the order of what an engine decides: who wants to send waits for no more actions than others want to take.
type turns struct {
	e       *rig.Engine
	wants   []inc.Action
	waited  map[inc.Action]int // for how many actions of others
	company map[inc.Action]int // the most that wanted to at once since it wants to
	row     int                // frames decided since the last action while there were any that wanted to
	// the longest that was seen
	frames, turns, most int
}

// watchTurns watches an engine from now on.
func watchTurns(e *rig.Engine) *turns {
	f := &turns{e: e, waited: map[inc.Action]int{}, company: map[inc.Action]int{}}
	e.OnAccept, e.OnAct = f.accepted, f.acted
	return f
}

func (f *turns) accepted(dut.Frame, []inc.Counter) {
	if len(f.wants) > 0 {
		f.row++
		f.frames = max(f.frames, f.row)
	}
	f.look()
}

func (f *turns) acted(at uint64, a inc.Action) {
	f.row = 0
	for _, w := range f.wants {
		if w != a {
			f.waited[w]++
		}
	}
	f.forget(a)
	f.look()
	for _, w := range f.wants {
		n := f.waited[w]
		f.turns = max(f.turns, n)
		if n >= f.company[w] {
			f.e.T.Fatalf("cycle %d: %v has waited for %d actions though no more than %d wanted to send", at, w, n, f.company[w])
		}
	}
}

// look sees who wants to send now.
func (f *turns) look() {
	was := f.wants
	f.wants = nil
	for _, a := range f.e.Reference().Engine().Actions(nil) {
		if sends(a) {
			f.wants = append(f.wants, a)
		}
	}
	f.most = max(f.most, len(f.wants))
	for _, a := range was {
		if !slices.Contains(f.wants, a) {
			f.forget(a)
		}
	}
	for _, a := range f.wants {
		f.company[a] = max(f.company[a], len(f.wants))
	}
	if len(f.wants) == 0 {
		f.row = 0
	}
}

func (f *turns) forget(a inc.Action) {
	delete(f.waited, a)
	delete(f.company, a)
}
