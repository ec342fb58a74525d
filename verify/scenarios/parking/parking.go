// SPDX-License-Identifier: Apache-2.0

// Package parking has the scenarios of groups that give up their slots and get others (docs/parking.md).
package parking

import (
	"errors"
	"fmt"
	"sort"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// Scenarios are the package's.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "park-turns", Run: turns, Needs: rig.All(needPark, needRoomForOne(2)),
			Doc: "Two groups have the same slots in turn: whoever has none is refused a start, each parked one goes on where it was, and no result of one is seen by the other."},
		{Name: "park-refused", Run: refused, Needs: rig.All(needPark, rig.NeedMembers(2)),
			Doc: "A group is asked to park while a contribution, a result or an acknowledgement is missing: it refuses, says so, and goes on as if nothing had been asked."},
		{Name: "park-answers", Run: answers, Needs: needPark,
			Doc: "New data of a parked group draws RNR NAKs with the timer code in force, or silence, and is counted; nothing of it is kept."},
		{Name: "park-late", Run: late, Needs: needPark,
			Doc: "Duplicates and acknowledgements of before a park come while the group is parked, and after: hosts hear what they had heard, no slot is looked at."},
		{Name: "park-moves", Run: moves, Needs: rig.All(needPark, rig.NeedSlots(8)),
			Doc: "A group gets other slots, more and fewer, wherever they are, across the wrap of the PSN; what lies there is never seen."},
		{Name: "park-illegal", Run: illegal, Needs: rig.All(needPark, needRoomForOne(2), rig.NeedGroups(2)),
			Doc: "Slots that do not exist or are another group's leave a group parked; only its slots may be written; stopping and starting it afresh work."},
		{Name: "park-cycles", Run: cycles, Needs: needPark,
			Doc: "Parking and unparking an engine at rest take exactly the cycles that docs/parking.md says, whatever the number of slots."},
		{Name: "park-ranges", Run: ranges, Needs: rig.All(needPark, rig.NeedInBand(2)),
			Doc: "An in-band group is parked between and within ranges: offsets and ranges stay, a control is refused while it is parked and opens its range afterwards."},
		{Name: "park-messages", Run: inMessages, Needs: rig.ModeI(needPark),
			Doc: "A group of Mode I is parked between messages of several packets, never within one, and gets pools of other sizes elsewhere; PSNs, message numbers and MSNs go on."},
		{Name: "park-releases", Run: withReleases, Needs: rig.ModeI(needPark, rig.NeedReleases),
			Doc: "A group whose iteration is acknowledged is not parked while a host owes it the ACK of its release, and is as soon as the last has come; the next iteration follows when it has slots again."},
		{Name: "park-share", Run: share, Needs: rig.All(needPark, needTurns),
			Doc: "Two groups of which each needs most of the memory take turns: both complete, each with 0.9 or more of half of what one does alone."},
		{Name: "park-random", Run: random, Needs: needPark,
			Doc: "Mutated frames of groups that are parked and unparked at any time: engine and reference agree, and each group works in the end."},
	}
}

// needPark is for groups that can be parked.
func needPark(p contract.Params) string {
	if !p.Park {
		return "needs park"
	}
	return ""
}

// needRoomForOne is for so many groups of one engine, of which one at a time has slots.
func needRoomForOne(groups int) rig.Needs {
	return func(p contract.Params) string {
		if p.Groups < groups {
			return fmt.Sprintf("needs %d groups, the configuration has %d", groups, p.Groups)
		}
		return ""
	}
}

// park has the engine park a group that is drained.
func park(g *rig.Group) {
	if !try(g) {
		g.T.Fatalf("group %d is drained, and is not parked", g.Index)
	}
	status(g, true, false)
}

// try asks the engine to park a group, and tells whether it has.
func try(g *rig.Group) bool {
	parked, err := g.E.Ctl.Park(g.Index)
	g.T.Check(err)
	return parked
}

// tryUnpark asks the engine to give a group its slots, and tells whether it is parked still.
func tryUnpark(g *rig.Group) bool {
	parked, err := g.E.Ctl.Unpark(g.Index)
	g.T.Check(err)
	return parked
}

// unpark gives a group the slots of its settings, which must be free.
func unpark(g *rig.Group) {
	g.T.Check(g.E.Ctl.SetSlots(g.Index, g.Set))
	if tryUnpark(g) {
		g.T.Fatalf("group %d is still parked", g.Index)
	}
	status(g, false, false)
}

// status checks what GROUP_STATUS and GROUP_CTRL say.
func status(g *rig.Group, parked, undrained bool) {
	for _, f := range []struct {
		register, field string
		want            bool
	}{{"GROUP_STATUS", "parked", parked}, {"GROUP_CTRL", "park", parked}, {"GROUP_STATUS", "undrained", undrained}, {"GROUP_STATUS", "enabled", true}} {
		if got := g.E.Field(f.register, g.Index, f.field) != 0; got != f.want {
			g.T.Fatalf("group %d: %s.%s is %v, expected %v", g.Index, f.register, f.field, got, f.want)
		}
	}
}

// acknowledge has all members acknowledge a result, which Mode II returns to them. In Mode III they have done so when the engine had settled.
func acknowledge(g *rig.Group, psn roce.PSN, who ...int) {
	for _, c := range who {
		if !g.T.Pipes() {
			g.Send(g.Ack(c, psn)).As("ACK(%v) of endpoint %d", psn, c).Expect(rig.AckTo(c, psn))
		}
	}
}

// complete has all members contribute to n PSNs from number k on and acknowledge the results.
func complete(g *rig.Group, k, n int) {
	for i := range n {
		g.Complete(g.PSN(k + i))
		acknowledge(g, g.PSN(k+i), g.Members()...)
	}
}

// refusal is what a host's new data of a parked group draws.
func refusal(c int, psn roce.PSN) []rig.Want {
	return []rig.Want{rig.AETHTo(c, psn, roce.RNRSyndrome|1)}
}

// star is a group over all members in a slice of the buffer.
func star(t *rig.T, opts ...rig.GroupOption) *rig.Group {
	return t.Engine().Group(0, 1, t.Params.Members, false, opts...)
}

func turns(t *rig.T) {
	e := t.Engine()
	first := e.Group(0, 1, t.Params.Members, false, rig.WithStart(roce.PSN(0).Add(-3)))
	second := e.MakeGroup(1, 1, t.Params.Members, false)
	second.Set.SlotBase = first.Set.SlotBase
	complete(first, 0, 2)
	if second.TryProgram() {
		t.Fatalf("a group was started with slots of another")
	}
	park(first)
	second.Program()
	at := [2]int{2, 0}
	for round := range 6 {
		busy, idle := second, first
		if round%2 == 1 {
			busy, idle = first, second
		}
		t.In(fmt.Sprintf("round %d", round), func() {
			if round > 0 {
				if !tryUnpark(busy) || e.Field("GROUP_STATUS", busy.Index, "overlap") == 0 {
					t.Fatalf("a group was given slots of another")
				}
				park(idle)
				unpark(busy)
			}
			n := 1 + t.Rand.IntN(2*busy.MW())
			complete(busy, at[busy.Index], n)
			at[busy.Index] += n
			c := idle.Members()[0]
			idle.Send(idle.Data(c, idle.PSN(at[idle.Index]), idle.Values(16))).As("data of the group without slots").Expect(refusal(c, idle.PSN(at[idle.Index]))...)
		})
	}
}

func refused(t *rig.T) {
	g := star(t)
	m := g.Members()
	r := g.Round(g.PSN(0), 16).Draw(m...)
	g.E.Mute = true // nobody acknowledges by itself
	no := func(why string) {
		t.In(why, func() {
			if try(g) {
				t.Fatalf("the group was parked")
			}
			status(g, false, true)
		})
	}
	if t.Pipes() {
		r.Send(m[0]).As("a contribution").Expect(rig.AckTo(m[0], r.PSN))
	} else {
		r.Send(m[0]).As("a contribution").Expect()
	}
	no("a contribution is there, others are not")
	for _, c := range m[1:] {
		r.Send(c).Out()
	}
	no("nobody has acknowledged the result")
	for i, c := range m {
		if i > 0 {
			no("some have not acknowledged the result")
		}
		if t.Pipes() {
			g.Acknowledge(r.PSN, c)
		} else {
			g.Send(g.Ack(c, r.PSN)).Expect(rig.AckTo(c, r.PSN))
		}
	}
	g.E.Mute = false
	park(g)
	unpark(g)
	complete(g, 1, 2)
}

func answers(t *rig.T) {
	g := star(t)
	e, c := g.E, g.Members()[0]
	complete(g, 0, 1)
	next := g.PSN(1)
	data := func() rig.Frame { return g.Data(c, next, g.Values(12)) }
	park(g)
	for _, a := range []struct {
		rnr   bool
		timer uint8
	}{{true, 1}, {true, 31}, {false, 0}, {true, 0}} {
		if t.Pipes() {
			t.Check(e.Ctl.SetPipeCtrl(inc.PipeCtrl{RNRTimer: a.timer, RNR: a.rnr}))
		} else {
			v := t.Field("CTRL", "gap_nak").Put(1) | t.Field("CTRL", "park_timer").Put(uint32(a.timer))
			if a.rnr {
				v |= t.Field("CTRL", "park_rnr").Put(1)
			}
			e.Write("CTRL", 0, v)
		}
		before := e.Counter(inc.DropParked)
		for range 2 {
			if a.rnr {
				g.Send(data()).As("with an answer").Expect(rig.AETHTo(c, next, roce.RNRSyndrome|a.timer))
			} else {
				g.Send(data()).As("without an answer").Expect()
			}
		}
		g.Send(g.Data(c, next.Next(), g.Values(8))).As("behind it").Expect()
		if n := e.Counter(inc.DropParked) - before; n != 2 {
			t.Fatalf("DROP_PARKED rose by %d, expected 2", n)
		}
	}
	unpark(g)
	complete(g, 1, 2)
	park(g)
	half := g.Send(g.Data(c, g.PSN(3), []byte{1}, func(p *roce.Packet) { p.Pad = 3 })).As("half an element")
	if t.Params.Mode == 1 { // which ends its connection
		half.Expect(rig.AETHTo(c, g.PSN(3), roce.NAKInvalidRequest))
	} else {
		half.Dropped(inc.DropBadLength)
	}
	if n := e.Counter(inc.DropParked); n != 8 {
		t.Fatalf("DROP_PARKED is %d, expected 8", n)
	}
}

func late(t *rig.T) {
	g := star(t)
	m, c := g.Members(), g.Members()[len(g.Members())-1]
	const n = 2
	complete(g, 0, n)
	duplicate := func(when string) {
		for k := range n {
			frame := g.Data(c, g.PSN(k), g.Values(16))
			counter := rig.ByMode(t, inc.TxReack, inc.RxDuplicate)
			before := g.E.Counter(counter)
			g.E.Mute = true
			g.Send(frame).As("PSN %d again, %s", k, when).Expect(rig.AckTo(c, g.PSN(n-1)))
			g.E.Mute = false
			if g.E.Counter(counter) != before+1 {
				t.Fatalf("%s: %v did not count it", when, counter)
			}
		}
	}
	acks := func(when string) {
		for k := range n {
			if t.Pipes() {
				g.Send(g.Ack(c, g.PSN(k))).As("ACK of PSN %d again, %s", k, when).Dropped(inc.DropStaleAck)
			} else {
				g.Send(g.Ack(c, g.PSN(k))).As("ACK of PSN %d again, %s", k, when).Expect(rig.AckTo(c, g.PSN(k)))
			}
		}
	}
	park(g)
	duplicate("while it is parked")
	acks("while it is parked")
	unpark(g)
	duplicate("when it has slots again")
	acks("when it has slots again")
	complete(g, n, 1)
	if !t.Pipes() { // what has a result again is sent again
		r := g.Round(g.PSN(n+1), 16).Draw(m...)
		r.CompleteBy(m...)
		g.Send(r.Frame(c)).As("a retransmission").Expect(rig.Own(false, rig.DataTo(c, r.PSN, r.Result()))...)
	}
}

func moves(t *rig.T) {
	g := star(t, rig.WithStart(roce.PSN(0).Add(-20)), rig.WithLog2N(2))
	at, full := 0, 1
	for 2<<full*g.Units() <= t.Params.Slots() {
		full++
	}
	for round := range t.Count(12, 60) {
		complete(g, at, 1+t.Rand.IntN(3))
		at = int(lastOf(g).Diff(g.Start())) + 1
		park(g)
		g.Set.Log2N = 1 + t.Rand.IntN(full)
		g.Set.SlotBase = t.Rand.IntN(t.Params.Slots() - g.Units()<<g.Set.Log2N + 1)
		if t.Pipes() {
			g.Set.PipeSlots = 1 + t.Rand.IntN(1<<g.Set.Log2N>>1)
		}
		t.In(fmt.Sprintf("round %d, slots %d to %d", round, g.Set.SlotBase, g.Set.SlotBase+g.Units()<<g.Set.Log2N-1), func() {
			unpark(g)
			neighbour(g, at)
		})
		at = int(lastOf(g).Diff(g.Start())) + 1
	}
	complete(g, at, 2)
}

// neighbour starts a group in the slots next to a group's, and has the one work while the other is in the middle of a result.
func neighbour(g *rig.Group, at int) {
	t, e := g.T, g.E
	if t.Params.Groups < 2 {
		return
	}
	o := e.MakeGroup(1, 1, t.Params.Members, false, rig.WithLog2N(1))
	o.SetKind(g.Kind())
	if beyond := g.Set.SlotBase + g.Units()<<g.Set.Log2N; beyond+2*o.Units() <= t.Params.Slots() {
		o.Set.SlotBase = beyond
	} else if o.Set.SlotBase = g.Set.SlotBase - 2*o.Units(); o.Set.SlotBase < 0 {
		return
	}
	o.Program()
	m := o.Members()
	r := o.Round(o.Start(), 16).Draw(m...)
	for _, c := range m[1:] {
		r.Send(c).Out()
	}
	complete(g, at, 2*g.MW()+1)
	r.CompleteBy(m[0])
	o.Disable()
}

// lastOf is the last PSN that the reference takes for complete.
func lastOf(g *rig.Group) roce.PSN {
	s, _ := g.E.Reference().Engine().Standing(g.Index)
	return s.Next.Prev()
}

func illegal(t *rig.T) {
	e := t.Engine()
	g, other := e.Group(0, 2, t.Params.Members, false), e.Group(1, 2, t.Params.Members, false)
	complete(g, 0, 1)
	park(g)
	own := g.Set
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"slots beyond the buffer", func() { g.Set.SlotBase = t.Params.Slots() - 1 }},
		{"a single slot", func() { g.Set.Log2N = 0 }},
		{"slots of another", func() { g.Set.SlotBase = other.Set.SlotBase }},
		{"more slots than there are", func() { g.Set.Log2N = 23 }},
		{"some of the slots of another", func() { g.Set.SlotBase = max(other.Set.SlotBase-1, 0) }},
	} {
		t.In(c.what, func() {
			g.Set = own
			c.change()
			t.Check(e.Ctl.SetSlots(g.Index, g.Set))
			if !tryUnpark(g) {
				t.Fatalf("it was unparked")
			}
			status(g, true, false)
		})
	}
	for _, name := range []string{"GROUP_START", "GROUP_IN_MASK", "GROUP_COLLECTIVE"} {
		refuses(g, name, 1)
	}
	g.Set = own
	t.Check(e.Ctl.SetSlots(g.Index, g.Set))
	slots := e.Read("GROUP_SLOTS", g.Index)
	enable := t.Field("GROUP_CTRL", "enable").Put(1)
	e.Write("GROUP_CTRL", g.Index, enable) // unparks it, and its slots are locked at once
	refuses(g, "GROUP_SLOTS", slots)
	idle(g)
	status(g, false, false)
	complete(g, 1, 1)
	park(g)
	g.Disable()
	if e.Field("GROUP_STATUS", g.Index, "parked") != 0 {
		t.Fatalf("a group that was stopped is parked")
	}
	g.Program()
	complete(g, 0, 1)
	park(g)
	g.Reset() // its slots are nobody's
	status(g, false, false)
	complete(g, 0, 1)
	reset, parks := t.Field("GROUP_CTRL", "reset").Put(1), t.Field("GROUP_CTRL", "park").Put(1)
	e.Write("GROUP_CTRL", g.Index, enable|reset|parks) // a start and no park
	idle(g)
	status(g, false, false)
	e.Write("GROUP_CTRL", g.Index, enable|parks)
	e.Write("GROUP_CTRL", g.Index, enable|reset) // takes the place of a park that waits
	idle(g)
	status(g, false, false)
	complete(g, 0, 1)
	complete(other, 0, 1)
}

// refuses has the engine refuse a write.
func refuses(g *rig.Group, register string, v uint32) {
	if err := g.E.Ctl.Write(register, g.Index, v); err == nil {
		g.T.Fatalf("%s was written", register)
	} else if !errors.Is(err, dut.ErrRefused) {
		g.T.Check(err)
	}
}

// idle waits until a group is not busy.
func idle(g *rig.Group) {
	for g.E.Field("GROUP_STATUS", g.Index, "busy") != 0 {
	}
}

// cycles measures how long parking and unparking an engine at rest take, for slots of every size: exactly as many cycles as docs/parking.md
// section 6 says.
func cycles(t *rig.T) {
	g := star(t)
	complete(g, 0, 1)
	for g.Set.Log2N = min(g.Set.Log2N, 6); g.Set.Log2N > 0; g.Set.Log2N-- {
		g.Set.PipeSlots = min(g.Set.PipeSlots, 1<<g.Set.Log2N>>1)
		park(g)
		unpark(g)
		t.In(fmt.Sprintf("%d slots", 1<<g.Set.Log2N), func() {
			exactly(g, "park_cycles", true, parkCycles(t))
			exactly(g, "unpark_cycles", false, unparkCycles(g))
		})
	}
}

// parkCycles and unparkCycles are those of docs/parking.md section 6.
func parkCycles(t *rig.T) uint64 {
	switch {
	case t.Messages():
		return 4
	case t.Pipes():
		return 5
	case t.Params.Members+1 > 9:
		return 8 + 4
	}
	return 8 + 2
}

func unparkCycles(g *rig.Group) uint64 {
	return 20 + uint64(g.T.Params.Groups) + 1<<g.Set.Log2N
}

// exactly parks a group, or unparks it, and reads after ever other waits whether it is busy: the shortest after which it is not says how long
// it took from the cycle of the write's answer on.
func exactly(g *rig.Group, what string, parks bool, want uint64) {
	t, e := g.T, g.E
	request := t.Field("GROUP_CTRL", "enable").Put(1)
	undo := request
	if park := t.Field("GROUP_CTRL", "park").Put(1); parks {
		request |= park
	} else {
		undo |= park
		e.Write("GROUP_CTRL", g.Index, undo)
		idle(g)
	}
	untimed := false
	wait := uint64(sort.Search(int(2*want), func(wait int) bool {
		before := e.Now()
		e.Write("GROUP_CTRL", g.Index, request)
		untimed = e.Now() == before
		e.StepTo(e.Now() + uint64(wait))
		busy := e.Field("GROUP_STATUS", g.Index, "busy") != 0
		idle(g)
		status(g, parks, false)
		e.Write("GROUP_CTRL", g.Index, undo)
		idle(g)
		return !busy
	}))
	if untimed { // registers of the reference take no time, and what they ask for is done at once
		return
	}
	earliest := uint64(3) // the answer is taken a cycle after it is there, and a read looks in its third cycle
	if t.Params.EngineCount() > 1 {
		earliest += 3 // both go through the registers of several engines
	}
	for _, there := range []bool{t.Messages(), t.Params.ECCAll, t.Params.Interrupts, t.Params.VLAN} {
		if there {
			earliest += 3 // and through those of messages, memories, interrupts and tags
		}
	}
	took := wait + earliest
	if t.Values[what] = took; took != max(want, earliest) {
		t.Fatalf("%s: %d, expected %d", what, took, max(want, earliest))
	}
}

// ranges takes an in-band group through AllReduces of one packet, and parks it wherever it is drained.
func ranges(t *rig.T) {
	g := star(t, rig.WithInBand())
	m := g.Members()
	control := inc.Control{Collective: inc.CollectiveAllReduce, DType: g.Set.DType, Op: g.Set.Op, Packets: 1}.Immediate()
	opens := func(c int, psn roce.PSN) rig.Frame {
		return g.Data(c, psn, nil, func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, control })
	}
	again := func() {
		park(g)
		g.Set.SlotBase = t.Rand.IntN(t.Params.Slots() - g.Units()<<g.Set.Log2N + 1)
		unpark(g)
	}
	for k := range 4 {
		first := g.PSN(2 * k)
		again()
		park(g)
		for _, c := range m {
			g.Send(opens(c, first)).As("a control without slots").Expect(refusal(c, first)...)
		}
		unpark(g)
		for _, c := range m {
			g.Send(opens(c, first)).As("control %d of endpoint %d", k, c).Out()
		}
		acknowledge(g, first, m...)
		again()
		g.Complete(first.Next())
		acknowledge(g, first.Next(), m...)
	}
	g.E.Counted("in the end", map[inc.Counter]uint64{inc.RangeOpen: 4, inc.DropParked: uint64(4 * len(m)), inc.TxRnr: uint64(4 * len(m))})
}

// random sends mutated frames, and parks and unparks whenever the engine rests.
func random(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	var groups []*rig.Group
	var mutators []*rig.Mutator
	for i := range count {
		members, parent := t.Params.Members, i == 1
		if parent {
			members = max(1, t.Children()-1)
		}
		opts := []rig.GroupOption{rig.WithLog2N(3)}
		if t.Params.InBand && t.Rand.IntN(2) == 0 && t.Params.Slots() >= 2*count*t.Params.MostUnits() {
			opts = append(opts, rig.WithInBand())
		}
		groups = append(groups, e.Group(i, count, members, parent, opts...))
		mutators = append(mutators, rig.NewMutator(groups[i]))
	}
	parks := uint64(0)
	for range t.Count(60, 600) {
		for range 16 + t.Rand.IntN(48) {
			e.Put(mutators[t.Rand.IntN(count)].Next())
		}
		e.SettleAsIs()
		i := t.Rand.IntN(count)
		switch g := groups[i]; {
		case e.Field("GROUP_STATUS", i, "parked") != 0:
			unpark(g)
		case try(g):
			parks++
		case t.Rand.IntN(3) == 0: // or it would never be drained again
			g.Reset()
			mutators[i].Restart()
			if t.Rand.IntN(2) == 0 {
				park(g)
				parks++
			}
		}
	}
	t.Values["parks"] = parks
	for _, g := range groups {
		g.Program()
		if g.Parent < 0 && !g.Set.InBand {
			complete(g, 0, 1)
		}
	}
}
