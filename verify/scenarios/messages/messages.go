// SPDX-License-Identifier: Apache-2.0

// Package messages has the scenarios of what only a Mode I engine does: messages that every rank cuts in its own way, releases, and ranks that
// differ in everything but what they send (docs/termination.md).
package messages

import (
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/rig"
)

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "message-cuts", Run: cuts, Needs: rig.ModeI(),
			Doc: "messages of all lengths, cut by path MTUs and under PSNs of each rank's own: every rank gets the result in cuts and PSNs of its own, acknowledged when it must be; with equal cuts each packet leaves with the last that it needs, and none where a message may end"},
		{Name: "message-release", Run: releases, Needs: rig.ModeI(rig.NeedReleases),
			Doc: "iterations of two messages with releases: each host gets an empty message when all have acknowledged an iteration, and not before"},
		{Name: "message-iterations", Run: iterations, Needs: rig.ModeI(rig.NeedReleases, rig.NeedMembers(2), rig.NeedParentPort),
			Doc: "iterations of three messages over a tree that loses frames, every collective: every host that sent gets a release behind each, in its place, and results are exact"},
		{Name: "message-ranges-released", Run: rangesReleased, Needs: rig.ModeI(rig.NeedReleases, rig.NeedInBand(2), rig.NeedParentPort),
			Doc: "Every range of an in-band group over a tree is followed by releases, which are repeated until they are acknowledged; the next one opens then."},
		{Name: "message-settings", Run: settings, Needs: rig.ModeI(),
			Doc: "a group with a path MTU that is no power of two, too short or too long stays disabled; in one where each endpoint is sent PSNs of its own a result has its parent's"},
		{Name: "message-answers", Run: answers, Needs: rig.ModeI(),
			Doc: "packets that nobody asks about, with several ACK_EVERY: the packet that is so many after the last answer is acknowledged, and no other but a message's last; a NAK right ahead of a packet with which one of the result could leave at once"},
		{Name: "message-asks", Run: asks, Needs: rig.ModeI(rig.NeedMembers(3), needLong),
			Doc: "long results, of which one rank repeats some while more of them come: each rank is asked with the 16th packet since it was asked last, with a message's last, and with no other"},
		{Name: "message-flood", Run: flood, Needs: rig.ModeI(),
			Doc: "all messages that a pool takes come while nothing leaves, so that packets wait wherever they can: all results are right; what waits until a rank is ready is a message and the first packet of another: both are sent"},
		{Name: "message-mixed", Run: mixed, Needs: rig.ModeI(rig.NeedMembers(2), rig.NeedParentPort),
			Doc: "ranks with the least and the largest path MTU, one that loses 1 %, one at a tenth of the rate, PSNs across the wrap: results are exact, nobody sees another's loss"},
	}
}

func releases(t *rig.T) {
	const iteration = 2
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.Set.Release, g.Set.Iteration = true, iteration
	g.Program()
	m := g.Members()
	for k := range 3 * iteration {
		r := g.Round(g.PSN(k), 16).Draw(m...)
		psn := g.PSN(k + k/iteration) // every iteration before took one more
		want := rig.Copies(rig.DataTo(0, psn, r.Result()), m...)
		if k%iteration == iteration-1 {
			want = append(want, rig.Copies(rig.DataTo(0, psn.Next(), nil), m...)...)
		}
		g.Check(r.Send(m...).Out(), want...)
	}
	g.E.Counted("releases", map[inc.Counter]uint64{inc.TxRelease: uint64(3 * len(m)), inc.TxFanout: uint64((3*iteration + 3) * len(m))})
	t.In("held back", func() { held(t, t.Params.MTUBytes) })
	t.In("held back, one by one", func() { held(t, t.Params.LeastPathMTU()) })
}

// held checks that a result of the next iteration waits until every release is acknowledged, while contributions to it are taken. One endpoint has a path MTU
// that may be its own.
func held(t *rig.T, mtu int) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.Set.Release, g.Set.Iteration = true, 1
	g.Ends[len(g.Members())-1].PathMTU = mtu
	g.Program()
	e, m := g.E, g.Members()
	e.Mute = true
	g.Round(g.PSN(0), 16).Send(m...).Out()
	var want []rig.Want
	acknowledge := func(psn roce.PSN, next ...rig.Want) {
		for i, c := range m {
			if want = nil; i == len(m)-1 {
				want = next
			}
			g.Send(g.Ack(c, psn)).As("ACK(%v) of endpoint %d", psn, c).Expect(want...)
		}
	}
	acknowledge(g.PSN(0), rig.Copies(rig.DataTo(0, g.PSN(1), nil), m...)...)
	second := g.Round(g.PSN(1), 16)
	for _, o := range second.Send(m...).Out() {
		if p := t.Packet(o); p.Op.IsSend() {
			t.Fatalf("a result of the next iteration left before the releases were acknowledged: %v", p)
		}
	}
	acknowledge(g.PSN(1), rig.Copies(rig.DataTo(0, g.PSN(2), second.Result()), m...)...)
}

func settings(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	last := len(g.Ends) - 1
	for _, mtu := range []int{t.Params.LeastPathMTU() / 2, 2 * t.Params.MTUBytes, t.Params.MTUBytes - 4, 3 * t.Params.LeastPathMTU()} {
		if mtu > 4096 && mtu > t.Params.MTUBytes { // more than the field holds
			continue
		}
		g.Ends[last].PathMTU = mtu
		g.ProgramRefused()
	}
	g.Ends[last].PathMTU = t.Params.LeastPathMTU()
	g.Program()
	g.Complete(g.Start())
	g.Disable()
	g.E.Write("GROUP_ROUTE_1", g.Index, t.Rand.Uint32()) // of what a fixed group does not look at, last of all
	if !fail.Must(g.E.Ctl.Enable(g.Index)) {
		t.Fatalf("a group does not enable when GROUP_ROUTE_1 was written")
	}
	g.Complete(g.Start())
	t.In("PSNs of each endpoint's own", func() { apart(t) })
}

// apart has a group with all the endpoints that there are, each of which is sent PSNs of its own: a result leaves with the parent's.
func apart(t *rig.T) {
	const between = 0x1000
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, true)
	g.Own = true
	for i := range g.Ends {
		g.Ends[i].RQPSN, g.Ends[i].SQPSN = g.Start(), g.Start().Add(between*(i+1))
	}
	g.Program()
	m := g.Members()
	for k := range 2 {
		r := g.Round(g.PSN(k), 16).Draw(m...)
		r.Send(m...).Expect(rig.DataTo(g.Parent, g.Ends[g.Parent].SQPSN.Add(k), r.Result()))
	}
}
