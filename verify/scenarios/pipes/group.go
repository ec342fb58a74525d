// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// group is a group whose other ends are mute.
type group struct{ *rig.Group }

// star is an engine with one group over all members, in which nobody is ever late.
func star(t *rig.T, opts ...rig.GroupOption) group { return group{t.PipeStar(opts...)} }

// under is a group with a parent, on an engine in which nobody is ever late.
func under(e *rig.Engine, opts ...rig.GroupOption) group {
	return group{e.Group(0, 1, e.T.Children(), true, opts...)}
}

// setTimeout sets PIPE_TIMEOUT, in microseconds.
func setTimeout(e *rig.Engine, timeout uint16) {
	e.T.Check(e.Ctl.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, timeout))
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

// offer has all members contribute n bytes to a PSN at once. Nothing runs yet.
func (g group) offer(psn roce.PSN, n int) {
	for _, c := range g.Members() {
		g.E.Put(g.Data(c, psn, g.Values(n)))
	}
}
