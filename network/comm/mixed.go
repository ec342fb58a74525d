// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"cmp"
	"maps"
	"slices"

	"incforge/contract"
	"incforge/internal/fail"
)

// Trees whose switches are of different modes (docs/termination.md section 9). A switch of Mode III passes packets on as they are, under the PSNs that they
// have: what it joins must be cut alike and numbered alike on all its links. A switch of Mode I does that for its links if they all have one path MTU and,
// where they lead to a switch of Mode III, begin at START. Mode II has the ranks repeat what any link lost, which a switch that answers for itself never
// asks them to.

// manifest describes switch s.
func (w *World) manifest(s int) *contract.Manifest {
	return cmp.Or(w.cfg.Others[s], w.cfg.Manifest)
}

// terminates tells whether switch s is of Mode I.
func (w *World) terminates(s int) bool { return w.manifest(s).Params.Mode == 1 }

// mixes refuses modes that do not go with each other, and switches that differ in more than their mode.
func (w *World) mixes() {
	for _, s := range slices.Sorted(maps.Keys(w.cfg.Others)) {
		o := w.cfg.Others[s].Params
		fail.If(s < 0 || s >= len(w.topo.Switches), "there is no switch %d", s)
		fail.If(o.Mode == 2 || w.p.Mode == 2, "switch %d is of mode %d, others of mode %d: Mode II goes with no other mode in a tree", s, o.Mode, w.p.Mode)
		fail.If(o.Mode != 3 || w.p.Mode != 1, "switch %d is of mode %d, others of mode %d: the others of a tree of Mode I are of Mode III", s, o.Mode, w.p.Mode)
		fail.If(o.Groups != w.p.Groups || o.Members != w.p.Members || o.MTUBytes != w.p.MTUBytes || o.Slots() < w.p.Slots() || o.EngineCount() != w.p.EngineCount(),
			"switch %d has other groups, members, mtu_bytes or engines than those of Mode I, or fewer slots", s)
	}
}

// mixes refuses groups that a tree of Modes I and III does not take.
func (g *Group) mixes() {
	c := &g.cfg
	fail.If(c.Fixed == nil, "an in-band group in a tree of Modes I and III: a range counts messages in one and packets in the other")
	fail.If(c.Mixed || len(c.PathMTUs) > 0, "path MTUs of ranks in a tree of Modes I and III: a switch of Mode III passes packets on as they are cut")
	fail.If(c.Release, "releases in a tree of Modes I and III: hosts at a switch of Mode III would get none")
}
