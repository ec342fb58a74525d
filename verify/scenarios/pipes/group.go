// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// group is a group whose other ends are mute.
type group struct{ *rig.Group }

// star is an engine with one group over all members, in which nobody is ever late.
func star(t *rig.T, opts ...rig.GroupOption) group {
	return group{t.PipeEngine(rig.LongTimeout).Group(0, 1, t.Params.Members, false, opts...)}
}

// under is a group with a parent, on an engine in which nobody is ever late.
func under(e *rig.Engine, opts ...rig.GroupOption) group {
	return group{e.Group(0, 1, e.T.Children(), true, opts...)}
}

// refusalTo is the RNR NAK for data that found its pipe full, with the timer that rig.T.PipeEngine sets.
func refusalTo(c int, psn roce.PSN) rig.Want { return rig.AETHTo(c, psn, roce.RNRSyndrome|1) }

// collective has all members contribute to a PSN in random order. The result leaves to those named and is returned.
func (g group) collective(psn roce.PSN, to ...int) []byte {
	order := g.T.Shuffled(g.Members())
	r := g.Round(psn, 16).Draw(order...)
	g.contribute(r, order, to...)
	return r.Result()
}

// contribute has the last contributors of a round send, each acknowledged at once. The last one makes the result leave to those named.
func (g group) contribute(r *rig.Round, last []int, to ...int) {
	for i, c := range last {
		want := []rig.Want{rig.AckTo(c, r.PSN)}
		if i == len(last)-1 {
			want = append(want, rig.Copies(rig.DataTo(0, r.PSN, r.Result()), to...)...)
		}
		g.Send(r.Frame(c)).As("PSN %v of endpoint %d", r.PSN, c).Expect(want...)
	}
}

// roundTrip has all contribute to a PSN, get the result and acknowledge it.
func (g group) roundTrip(psn roce.PSN) {
	g.collective(psn, g.Members()...)
	g.Acknowledge(psn, g.Members()...)
}

// offer has all members contribute n bytes to a PSN at once. Nothing runs yet.
func (g group) offer(psn roce.PSN, n int) {
	for _, c := range g.Members() {
		g.E.Put(g.Data(c, psn, g.Values(n)))
	}
}

// act is what an engine did by itself, and in which cycle.
type act struct {
	at     uint64
	action inc.Action
}

// String is for messages.
func (a act) String() string { return fmt.Sprintf("%v in cycle %d", a.action, a.at) }

// history is what an engine did by itself, in order.
type history []act

// watch keeps what the engine does by itself from now on. It takes the place of an earlier watch.
func watch(e *rig.Engine) *history {
	h := &history{}
	e.OnAct = func(at uint64, a inc.Action) { *h = append(*h, act{at, a}) }
	return h
}

// of are the actions of a kind.
func (h history) of(kind inc.ActionKind) history {
	return slices.DeleteFunc(slices.Clone(h), func(a act) bool { return a.action.Kind != kind })
}

// ofGroup are the actions of a group.
func (h history) ofGroup(index int) history {
	return slices.DeleteFunc(slices.Clone(h), func(a act) bool { return a.action.Group != index })
}

// lastSend is the cycle in which the last send was decided.
func (h history) lastSend() uint64 {
	for _, a := range slices.Backward(h) {
		if sends(a.action) {
			return a.at
		}
	}
	return 0
}

// once checks that one action of a kind was taken, no more, that it was for endpoint c, and no earlier than due nor more than slack
// cycles later.
func (h history) once(t *rig.T, kind inc.ActionKind, c int, due, slack uint64) {
	all := h.of(kind)
	if len(all) != 1 || all[0].action.Endpoint != c {
		t.Fatalf("%v: was %v, expected one of endpoint %d", kind, all, c)
	}
	all[0].inTime(t, due, slack)
}

// inTime checks that an action was taken no earlier than due nor more than slack cycles later.
func (a act) inTime(t *rig.T, due, slack uint64) {
	if a.at < due || a.at > due+slack {
		t.Fatalf("%v, expected in cycle %d to %d", a, due, due+slack)
	}
}

// wait runs the engine until a cycle and returns what left. The scoreboard looks at short intervals for what is due and does not come.
func wait(e *rig.Engine, cycle uint64) (outs []dut.Frame) {
	for e.Now() < cycle {
		e.StepTo(min(cycle, e.Now()+4096))
		outs = append(outs, e.Out()...)
	}
	return outs
}

// microseconds is how many cycles n microseconds are.
func microseconds(t *rig.T, n uint64) uint64 { return n * t.Params.CyclesPerMicrosecond() }

// lateness is how many cycles after its time a timer that is up may be found in an engine that has nothing else to do: a microsecond, a
// walk over all endpoints, and what it takes to look and to begin.
func lateness(t *rig.T) uint64 {
	return microseconds(t, 1) + uint64(t.Params.AllGroups()*(t.Params.Members+3)) + 64
}
