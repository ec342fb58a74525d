// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"slices"

	"incforge/internal/fail"
)

// Switches is the number of switches, numbered so that a switch comes before those below it. In Mode II a tree is parked from the highest number
// down, and unparked from 0 up (docs/parking.md section 2).
func (w *World) Switches() int { return len(w.drv) }

// Parked tells whether some switch has the group parked.
func (g *Group) Parked() bool { return slices.Contains(g.parked, true) }

// Park asks a switch to park the group, and reports whether it has: not if the group is not drained there.
func (g *Group) Park(s int) (parked bool, err error) {
	defer fail.Catch(&err, "park group %d at switch %d", g.index, s)
	g.parked[s] = fail.Must(g.w.drv[s].Park(g.index))
	return g.parked[s], nil
}

// Unpark gives the group slots at a switch, the first that nobody has or, with last set, the last. Without as many in a row it stays parked, and so it
// reports.
func (g *Group) Unpark(s int, last bool) (done bool, err error) {
	defer fail.Catch(&err, "unpark group %d at switch %d", g.index, s)
	base, ok := g.free(s, last)
	if !ok {
		return false, nil
	}
	set := g.set
	set.SlotBase = base
	fail.On(g.w.drv[s].SetSlots(g.index, set))
	if fail.Must(g.w.drv[s].Unpark(g.index)) {
		return false, fmt.Errorf("slots %d to %d are nobody's, and were refused", base, base+g.units()-1)
	}
	g.base[s], g.parked[s] = base, false
	return true, nil
}

// gap is a run of slots that nobody has.
type gap struct{ base, n int }

// gaps are those of the buffer of the group's engine at a switch, as the group finds them: its own slots are among them.
func (g *Group) gaps(s int) (all []gap) {
	var taken []gap
	for _, o := range g.w.groups {
		if o != g && o.index/g.w.p.Groups == g.index/g.w.p.Groups && !o.parked[s] {
			taken = append(taken, gap{o.base[s], o.units()})
		}
	}
	slices.SortFunc(taken, func(a, b gap) int { return a.base - b.base })
	at := 0
	for _, t := range append(taken, gap{g.w.p.Slots(), 0}) {
		if t.base > at {
			all = append(all, gap{at, t.base - at})
		}
		at = t.base + t.n
	}
	return all
}

// free is the first, or the last, place in a switch's buffer where the group's slots have room.
func (g *Group) free(s int, last bool) (base int, ok bool) {
	for _, gap := range g.gaps(s) {
		switch {
		case gap.n < g.units():
		case last:
			base, ok = gap.base+gap.n-g.units(), true
		default:
			return gap.base, true
		}
	}
	return base, ok
}

// left is how many slots the group can have, at every switch.
func (g *Group) left() int {
	least := g.w.p.Slots()
	for s := range g.w.drv {
		most := 0
		for _, gap := range g.gaps(s) {
			most = max(most, gap.n)
		}
		least = min(least, most)
	}
	return least
}
