// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"incforge/roce"
	"incforge/verify/rig"
)

func control(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 4)
	groups := make([]*busy, count)
	for i := range groups {
		groups[i] = &busy{Group: e.Group(i, count, t.Params.Members, false)}
	}
	groups[0].refused()
	groups[0].Program()
	for range 60 {
		i := t.Rand.IntN(count)
		if count > 1 {
			groups[(i+1)%count].contribute()
		}
		g := groups[i]
		switch t.Rand.IntN(6) {
		case 0:
			g.Reset()
			g.done = 0
		case 1, 2:
			g.change(count)
		case 3:
			e.Settle() // a packet inside the engine may leave with either value
			e.Write("IP_ID", 0, t.Rand.Uint32())
			e.Settle()
		case 4:
			t.Check(e.Ctl.Start(i)) // enabled as it is: this does nothing
		case 5:
			e.Counters()
		}
		e.Settle()
		g.Complete(g.PSN(g.done))
		g.done++
	}
}

// busy is a group that completes one PSN after the other.
type busy struct {
	*rig.Group
	done int
}

// contribute has all members send for the next PSN, and does not wait.
func (g *busy) contribute() {
	for _, c := range g.Members() {
		g.E.Put(g.Data(c, g.PSN(g.done), g.Noise(16)))
	}
	g.done++
}

// refused writes illegal settings: the group stays disabled and answers nothing.
func (g *busy) refused() {
	legal := g.Set
	for _, bad := range g.T.IllegalSettings(legal) {
		g.Set = bad
		if g.Disable(); g.TryEnable() {
			g.T.Fatalf("illegal settings were enabled: %+v", bad)
		}
		g.Set = legal
		g.Send(g.Data(0, g.Start(), g.Noise(8))).As("to a group with illegal settings %+v", bad).Expect()
	}
}

// change gives the group, one of count, another START, kind and subset of members, and another place among its slots of the buffer.
func (g *busy) change(count int) {
	t := g.T
	g.Set.InMask = uint32(1 + t.Rand.IntN(1<<t.Params.Members-1))
	g.Set.OutMask, g.Set.AckMask = g.Set.InMask, g.Set.InMask
	g.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
	g.SetKind(t.NextKind(count))
	g.Set.Log2N = 1 + t.Rand.IntN(t.MaxLog2N(count, g.Units()))
	room := t.Room(count)
	g.Set.SlotBase = g.Index*room + t.Rand.IntN(room-g.Units()<<g.Set.Log2N+1)
	g.Program()
	g.done = 0
}
