// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needVLAN is for scenarios of 802.1Q tags.
func needVLAN(p contract.Params) string {
	if !p.VLAN {
		return "needs vlan"
	}
	return ""
}

// wire sends a frame as it is, without the tag that the rig would give it, and returns what left and the counters that changed.
func wire(e *rig.Engine, f rig.Frame) (outs []dut.Frame, counted []inc.Counter) {
	_, counted = e.FirstAccepted(func() {
		e.Board.Offer(f.Port, dut.Frame{Data: slices.Clone(f.Data), Err: f.Err})
		outs = e.Settle()
	})
	return outs, counted
}

func tags(t *rig.T) {
	own := roce.VLAN{Tagged: true, VID: uint16(1 + t.Rand.IntN(4094)), PCP: uint8(t.Rand.IntN(8))}
	kinds := []struct {
		tag   roce.VLAN
		check bool
	}{{roce.VLAN{}, false}, {own, false}, {own, true}}
	for each := min(len(kinds), rig.MaxGroups(t.Params)); len(kinds) > 0; { // on as many engines as that takes
		e := t.Engine()
		each = min(each, len(kinds))
		var groups []*rig.Group
		for i, x := range kinds[:each] {
			g := e.MakeGroup(i, each, t.Params.Members, false)
			for k := range g.Ends {
				g.Ends[k].VLAN, g.Ends[k].CheckPCP = x.tag, x.check
			}
			g.Program()
			groups = append(groups, g)
		}
		for _, g := range groups {
			tagsOf(g)
		}
		passedOn(groups[len(groups)-1])
		kinds = kinds[each:]
	}
}

// tagsOf sends a group's first endpoint every kind of tag: what is wrong is dropped under that name, and the same contribution is taken afterwards.
func tagsOf(g *rig.Group) {
	t, want, check := g.T, g.Ends[0].VLAN, g.Ends[0].CheckPCP
	f := first(g)
	tagged := func(vid uint16, pcp uint8, dei bool) rig.Frame {
		return damaged(f, func(f *rig.Frame) { f.Data = roce.VLAN{Tagged: true, VID: vid, PCP: pcp, DEI: dei}.Tag(f.Data) })
	}
	other := want.VID ^ 1<<t.Rand.IntN(12)
	tries := []struct {
		what  string
		frame rig.Frame
		drop  bool
	}{
		{"no tag", f, want.Tagged},
		{"another VID", tagged(other, want.PCP, false), true},
		{"VID 0", tagged(0, want.PCP, false), want.Tagged},
		{"another priority", tagged(want.VID, want.PCP^1<<t.Rand.IntN(3), false), check},
		{"its tag, and damage", damaged(tagged(want.VID, want.PCP, false), func(f *rig.Frame) { f.Data[len(f.Data)-1] ^= 1 }), false},
		{"its tag", tagged(want.VID, want.PCP, false), false},
		{"its tag, drop eligible", tagged(want.VID, want.PCP, true), false},
	}
	for _, x := range tries {
		t.In(x.what, func() {
			_, counted := wire(g.E, x.frame)
			if dropped := slices.Contains(counted, inc.DropVLAN); dropped != x.drop {
				t.Fatalf("%v; dropped for its tag: %v, expected %v", counted, dropped, x.drop)
			}
			if x.drop && slices.ContainsFunc(counted, func(c inc.Counter) bool { return c != inc.DropVLAN && c != inc.RxFrames }) {
				t.Fatalf("%v, expected no more than DROP_VLAN", counted)
			}
		})
	}
	if err := g.E.Ctl.Set("EP_VLAN", g.Index*t.Params.EPS(), "vid", 5); err == nil {
		t.Fatalf("EP_VLAN of an enabled group was written")
	}
	if got := g.E.Field("EP_VLAN", g.Index*t.Params.EPS(), "vid"); got != uint32(want.VID) {
		t.Fatalf("EP_VLAN.vid reads %d, expected %d", got, want.VID)
	}
	if e := g.E; e.TakesErrors() {
		t.In("err and a wrong tag", func() {
			if _, counted := wire(e, damaged(tagged(other, 0, false), func(f *rig.Frame) { f.Err = true })); !slices.Contains(counted, inc.DropRxError) {
				t.Fatalf("%v, expected DROP_RX_ERROR", counted)
			}
		})
	}
	collective(g)
}

// collective sends what is missing of the group's first contributions, and some more; the scoreboard knows what must leave, tags included.
func collective(g *rig.Group) {
	for k := range 3 {
		for _, c := range g.Members() {
			f := g.Data(c, g.Start().Add(k), g.Noise(4*(1+g.T.Rand.IntN(20))))
			g.E.Put(f)
		}
		g.E.Settle()
	}
}

// passedOn sends what is not the engine's, of all lengths round a tag and a header, with no tag, one, two, or one that is cut: it leaves as it came.
func passedOn(g *rig.Group) {
	t := g.T
	tag := roce.VLAN{Tagged: true, VID: 7, PCP: 3, DEI: true}
	for n := 14; n < 90; n++ {
		f := rig.Frame{Port: t.Rand.IntN(t.Params.Ports), Data: t.Words(n/4 + 1)[:n]}
		copy(f.Data, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06})
		switch n % 3 {
		case 1:
			f.Data = tag.Tag(f.Data)[:n]
		case 2:
			f.Data = tag.Tag(tag.Tag(f.Data))[:n]
		}
		outs, _ := wire(g.E, f)
		if len(outs) != 1 || !slices.Equal(outs[0].Data, f.Data) {
			t.Fatalf("a frame of %d bytes that is not the engine's did not leave as it came: %d left", n, len(outs))
		}
	}
	double := damaged(first(g), func(f *rig.Frame) { f.Data = tag.Tag(tag.Tag(f.Data)) })
	if outs, counted := wire(g.E, double); len(outs) != 1 || !slices.Equal(outs[0].Data, double.Data) {
		t.Fatalf("a frame with two tags: %v, %d left", counted, len(outs))
	}
}
