// SPDX-License-Identifier: Apache-2.0

package resets

import (
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// startsTogether starts all groups anew without waiting for one another, so that they wait in the engine, and each works afterwards.
func startsTogether(t *rig.T) {
	const rounds, most = 6, 8
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), most)
	var groups []*rig.Group
	var order []int
	for i := range count {
		groups = append(groups, e.Group(i, count, t.Params.Members, false))
		order = append(order, i)
	}
	again := t.StartsGroup()
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			for range 2 { // the first is still under way when all are started once more
				for _, i := range t.Shuffled(order) {
					e.Write("GROUP_CTRL", i, again)
				}
			}
			for _, i := range order {
				awaitStarted(e, i)
			}
			for _, g := range groups {
				g.CompleteFrom(0, 2)
			}
		})
	}
	t.In("two groups change places", func() { changePlaces(groups[0], groups[1]) })
}

// changePlaces has two groups that are stopped take each other's slots. The first is started once more while it starts and the second waits, whose old
// slots it has: they are nobody's until the second starts.
func changePlaces(a, b *rig.Group) {
	t, e, both := a.T, a.E, []*rig.Group{a, b}
	for _, g := range both {
		g.Disable()
	}
	a.Set.SlotBase, b.Set.SlotBase = b.Set.SlotBase, a.Set.SlotBase
	for _, g := range both {
		t.Check(e.Ctl.SetGroup(g.Index, g.Set))
	}
	again := t.StartsGroup()
	for _, g := range []*rig.Group{a, b, a} {
		e.Write("GROUP_CTRL", g.Index, again)
	}
	for _, g := range both {
		awaitStarted(e, g.Index)
		g.CompleteFrom(0, 2)
	}
}

// startsAmongTraffic starts one group over and over while another's ACKs and data come in. In some start each write of what it sets finds the memory
// taken by a frame's: half of the starts find traffic at all ports, the others none, so that the frame that comes then may meet any cycle of theirs.
func startsAmongTraffic(t *rig.T) {
	const rounds, spread = 80, 32
	e := t.Engine()
	busy, again := e.Group(0, 2, t.Params.Members, false), e.Group(1, 2, t.Params.Members, false)
	start := t.StartsGroup()
	for k := range rounds {
		if !t.Pipes() { // what nobody has acknowledged yet is seen in a NAK, below
			again.Disable()
			again.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
			e.Set("GROUP_START", again.Index, "psn", uint32(again.Set.Start))
		}
		round := busy.Round(busy.PSN(k), 4*t.Rand.IntN(33))
		var frames []rig.Frame
		for _, c := range t.Shuffled(busy.Members()) {
			if k > 0 {
				frames = append(frames, busy.Ack(c, busy.PSN(k-1)))
			}
			frames = append(frames, round.Frame(c))
		}
		before := k % 2 * len(frames)
		e.Put(frames[:before]...)
		e.Write("GROUP_CTRL", again.Index, start)
		e.StepTo(e.Now() + uint64(t.Rand.IntN(spread)))
		e.Put(frames[before:]...)
		awaitStarted(e, again.Index)
		e.Settle() // ports that have two members would fall behind by more than a window
		if !t.Pipes() {
			for _, c := range again.Members() {
				e.Put(again.Data(c, again.PSN(1), nil))
			}
			e.Settle()
		}
	}
	again.CompleteFrom(0, 2)
	busy.CompleteFrom(rounds, 2)
	t.In("without a pause", func() { startsWithoutPause(again) })
	t.In("beside frames of three beats", func() { startsHoldNobodyUp(again) })
}

// startsWithoutPause starts a group while strangers' frames come in one behind the other: it does not wait until they pause.
func startsWithoutPause(g *rig.Group) {
	const cycles = 6000
	t, e := g.T, g.E
	stranger := func(p *roce.Packet) { p.SrcIP[3] ^= 1 }
	f := g.Data(g.Members()[0], g.PSN(0), nil, stranger)
	for range cycles / max(t.Params.Beats(len(f.Data)), 2) {
		e.Put(f)
	}
	e.Write("GROUP_CTRL", g.Index, t.StartsGroup())
	awaitStarted(e, g.Index)
	if e.Waiting() == 0 {
		t.Fatalf("group %d did not start before all frames had come in", g.Index)
	}
	e.Settle()
	g.CompleteFrom(0, 2)
}

// startsHoldNobodyUp has strangers' frames of three beats and more come in one behind the other, without a start and beside one, which finds a cycle between
// them: they take as long, or with tables of one port a cycle longer. From one start to the next it is any number of cycles modulo 16, for which a start may wait:
// triangular numbers differ by each.
func startsHoldNobodyUp(g *rig.Group) {
	const frames, period = 200, 16
	t, e := g.T, g.E
	f := g.Data(g.Members()[0], g.PSN(0), g.Noise(min(2*max(t.Params.BusBytes, 16), t.Params.MTUBytes)), func(p *roce.Packet) { p.SrcIP[3] ^= 1 })
	cycles := func(ctrl uint32, wait uint64) uint64 {
		at := e.Now()
		e.Put(slices.Repeat([]rig.Frame{f}, frames)...)
		e.StepTo(at + wait)
		e.Write("GROUP_CTRL", g.Index, ctrl)
		for e.Waiting() > 0 {
			e.StepTo(e.Now() + 1)
		}
		took := e.Now() - at
		awaitStarted(e, g.Index)
		e.Settle()
		return took
	}
	enable := t.Field("GROUP_CTRL", "enable").Put(1)
	start := t.StartsGroup()
	cycles(start, 0) // nothing is unacknowledged then
	alone := cycles(enable, 0)
	for k := range uint64(period) {
		beside := cycles(start, k*(k+1)/2%period)
		t.Promise(beside <= alone+1, "%d frames take %d cycles beside a start, %d without", frames, beside, alone)
	}
	g.CompleteFrom(0, 2)
}

// startsHeldUp starts a group while no port takes anything and data for it waits that came in before: it is dropped, however long it waits. In Mode III
// nothing is set while a frame waits for room, so that the start goes on among those ahead of the data, as they are answered.
func startsHeldUp(t *rig.T) {
	const rounds, most, more, wait = 4, 8, 4, 1000
	e := t.Engine()
	busy, again := e.Group(0, 2, t.Params.Members, false), e.Group(1, 2, t.Params.Members, false)
	busy.Complete(busy.PSN(0))
	room := comeIn(busy, rounds*more+most)
	if room == 0 {
		t.Fatalf("no frame comes in while one waits for room: nothing to start the group behind")
	}
	who := again.Members()[:min(len(again.Members()), most, room)]
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			again.Disable()
			e.SetPauses(dut.Pauses{Ready: 1})
			holdUp(busy)
			e.Put(slices.Repeat([]rig.Frame{busy.Data(busy.Members()[0], busy.PSN(0), nil)}, min(round*more, room-len(who)))...)
			for _, c := range who {
				e.Put(again.Data(c, again.PSN(0), again.Noise(16)))
			}
			e.StepTo(e.Now() + wait)
			if n := e.Waiting(); n > 0 {
				t.Fatalf("%d frames did not come in", n)
			}
			t.Check(e.Ctl.Start(again.Index))
			e.StepTo(e.Now() + wait)
			e.SetPauses(dut.Pauses{})
			awaitStarted(e, again.Index)
			e.Settle()
			again.CompleteFrom(0, 2)
		})
	}
}

// holdUp repeats data whose result is sent again, until one is not decided as its answer finds no room. The reference has room for any number.
func holdUp(g *rig.Group) {
	const most, wait = 128, 200
	e := g.E
	for range most {
		before := e.Counter(inc.RxFrames)
		e.Put(g.Data(g.Members()[0], g.PSN(0), nil))
		if e.StepTo(e.Now() + wait); e.Counter(inc.RxFrames) == before {
			return
		}
	}
}

// comeIn is how many frames come in while one waits for room for its answer, most at most: an entrance for short packets holds fewer.
func comeIn(g *rig.Group, most int) (n int) {
	const wait = 200
	e := g.E
	e.SetPauses(dut.Pauses{Ready: 1})
	holdUp(g)
	for ; n < most; n++ {
		e.Put(g.Data(g.Members()[0], g.PSN(0), g.Noise(16)))
		if e.StepTo(e.Now() + wait); e.Waiting() > 0 {
			break
		}
	}
	e.SetPauses(dut.Pauses{})
	e.Settle()
	return n
}

// stopsHeldUp stops a group while no port takes anything and more of its frames wait than can be answered: those that were not decided are dropped, however
// late. Another group's frames, which wait among them, are answered. It is now this, now that, what finds no room any more: a result, one that is sent again, or
// an answer that is passed on.
func stopsHeldUp(t *rig.T) {
	const rounds, all = 8, 40
	e, each := t.Engine(), max(all/t.Params.Members, 3)
	a, b := e.Group(0, 2, t.Params.Members, false), e.Group(1, 2, t.Params.Members, false)
	b.Complete(b.PSN(0))
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			a.Complete(a.PSN(0))
			e.HoldUp()
			var cycles uint64
			put := func(frames ...rig.Frame) {
				for _, f := range frames {
					cycles += uint64(t.Params.Beats(len(f.Data)) + 16)
					e.Put(f)
				}
			}
			put(slices.Repeat([]rig.Frame{b.Data(b.Members()[0], b.PSN(round), nil)}, t.Rand.IntN(all))...)
			for i := range each {
				for _, c := range t.Shuffled(a.Members()) {
					frames := []rig.Frame{a.Data(c, a.PSN(0), nil), b.Data(c, b.PSN(round), nil), a.Data(c, a.PSN(1+i), a.Noise(16)), a.NAK(c, a.PSN(0))}
					put(frames[t.Rand.IntN(3):]...)
				}
			}
			e.StepTo(e.Now() + cycles + e.Patience()) // until nothing moves any more
			a.Disable()
			t.Check(e.LetGo())
			e.Settle()
			a.Program()
			b.CompleteFrom(1+round, 1)
		})
	}
	a.CompleteFrom(0, 2)
}

// startsOfAllSlots starts a group that has all the slots there are anew, when some of its members have filled a window: nothing of that counts any more.
func startsOfAllSlots(t *rig.T) {
	const rounds, most = 3, 7
	e := t.Engine()
	g := e.MakeGroup(0, 1, t.Params.Members, false)
	g.Set.Log2N = min(bits.Len(uint(t.Params.Slots()/g.Units()))-1, most)
	g.Program()
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			for k := range g.MW() {
				for _, c := range g.Members()[1:] {
					e.Put(g.Data(c, g.PSN(k), g.Noise(8)))
				}
				e.Settle()
			}
			g.Reset()
			results := g.CompleteFrom(0, g.MW())
			if ahead, late := g.Members()[1:], g.Members()[:1]; len(ahead) > 0 && !t.Pipes() {
				for _, c := range ahead {
					g.Send(g.Data(c, g.PSN(g.MW()), g.Noise(8))).As("a member that is a window ahead").Expect()
				}
				g.Send(g.Data(late[0], g.PSN(0), g.Noise(8))).As("one that asks for the first result").ExpectAt(late, roce.SendOnly, g.PSN(0), results[0])
			}
			g.Reset()
		})
	}
	if !t.Pipes() {
		afterFewer(g)
	}
}

// afterFewer starts a group as it was after one of two slots: it has all of its slots anew.
func afterFewer(g *rig.Group) {
	const most = 3
	all := min(g.Set.Log2N, most)
	for _, n := range []int{all, 1, all} {
		g.Set.Log2N = n
		g.Program()
		g.CompleteFrom(0, 2*g.MW())
	}
}

// startReads is how often GROUP_STATUS is read at most before a group must have started.
const startReads = 10_000

func awaitStarted(e *rig.Engine, group int) {
	for range startReads {
		if e.Field("GROUP_STATUS", group, "busy") == 0 {
			if e.Field("GROUP_STATUS", group, "enabled") == 0 {
				e.T.Fatalf("group %d was started and is not enabled", group)
			}
			return
		}
	}
	e.T.Fatalf("group %d is still busy after %d reads of GROUP_STATUS", group, startReads)
}
