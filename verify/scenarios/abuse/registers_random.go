// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// registersRandom writes registers at random, any address, value and strobes, while one group computes and the others, as their registers
// happen to stand, are sent data, answers and controls. The watched group's results are exact and complete; what leaves for others goes to
// endpoints that have a part in their group; every frame and every refusal is the reference's.
//
// CTRL, IP_ID and BYPASS_PORT are left alone, as they are everybody's, and so is ECC_INJECT where there are check bits: it is made to
// spoil whatever is written next.
func registersRandom(t *rig.T) {
	e := t.Engine()
	v := &vandal{t: t, e: e, next: map[int]roce.PSN{}, asked: map[int]bool{}, want: map[roce.PSN][]byte{}, got: map[roce.PSN]uint32{}}
	v.watched = e.Group(0, 2, t.Params.Members, false, rig.WithStart(roce.PSN(0).Add(-100)))
	v.findTargets()
	total := 3000
	if t.Long {
		total = 100_000
	}
	for v.writes < total {
		t.In(fmt.Sprintf("after %d writes", v.writes), func() {
			if t.Rand.IntN(4) == 0 {
				v.arrange()
			}
			v.contribute()
			for range min(1+t.Rand.IntN(40), total-v.writes) {
				v.write()
			}
			for range t.Rand.IntN(8) {
				v.offer()
			}
			v.drain()
		})
	}
	v.finish()
}

// vandal is who writes registers at random, and what it takes to see that one group is left alone by that.
type vandal struct {
	t       *rig.T
	e       *rig.Engine
	watched *rig.Group // its registers nobody writes
	// targets are the addresses of registers that may be written, foreign those of other groups' among them, last is the last of all.
	targets, foreign []uint32
	last             uint32

	answers []rig.Frame      // of the watched group's hosts to what left
	offered [][]byte         // frames to foreign groups that are on their way
	asked   map[int]bool     // from which endpoints they are
	next    map[int]roce.PSN // what foreign endpoints send next, if it is not START

	sent int                 // PSNs of the watched group whose contributions were sent
	want map[roce.PSN][]byte // their results
	got  map[roce.PSN]uint32 // who has which

	writes, refused int
	started         int // foreign groups that were live after a write of GROUP_CTRL
	overlaps        int // those that were refused for their slots
	made            int // frames that left for foreign endpoints
}

// findTargets lists the registers that may be written: all but those that are everybody's and those of the watched group.
func (v *vandal) findTargets() {
	p := v.t.Params
	for _, reg := range v.t.Manifest.Registers {
		for i := range reg.Size() {
			addr, group := reg.Offset+uint32(i)*reg.Stride, -1
			switch {
			case strings.HasPrefix(reg.Name, "GROUP_"):
				group = i
			case strings.HasPrefix(reg.Name, "EP_"):
				group = i / p.EPS()
			case slices.Contains([]string{"CTRL", "IP_ID", "BYPASS_PORT"}, reg.Name), reg.Name == "ECC_INJECT" && p.ECC:
				group = v.watched.Index
			}
			if v.last = max(v.last, addr); group == v.watched.Index {
				continue
			}
			v.targets = append(v.targets, addr)
			if group > 0 {
				v.foreign = append(v.foreign, addr)
			}
		}
	}
}

// draw is the next write: anything anywhere, or something that may make a foreign group work.
func (v *vandal) draw() (addr, value uint32, strobes uint8) {
	r := v.t.Rand
	value, strobes = r.Uint32(), 0xF
	if r.IntN(10) == 0 {
		strobes = uint8(r.IntN(16))
	}
	switch r.IntN(8) {
	case 0: // any address of the bus but those that are left alone
		for {
			addr = r.Uint32N(1 << bits.Len32(v.last))
			if _, _, ok := v.t.Manifest.Find(addr &^ 3); !ok || slices.Contains(v.targets, addr&^3) {
				return addr, value, strobes
			}
		}
	case 1, 2:
		return v.targets[r.IntN(len(v.targets))] | r.Uint32N(4), value, strobes
	}
	addr = v.foreign[r.IntN(len(v.foreign))]
	return addr, v.sensible(addr, value), strobes
}

// sensible is a value that has a meaning in a register, now and then not.
func (v *vandal) sensible(addr, value uint32) uint32 {
	p, r := v.t.Params, v.t.Rand
	if r.IntN(8) == 0 {
		return value
	}
	reg, i, _ := v.t.Manifest.Find(addr)
	is := func(field string) contract.Field { return v.t.Field(reg.Name, field) }
	put := func(field string, v uint32) uint32 { return is(field).Put(v) }
	switch reg.Name {
	case "GROUP_CTRL":
		enable, reset := put("enable", 1), put("reset", 1)
		return []uint32{enable, enable, reset, enable | reset}[r.IntN(4)]
	case "GROUP_SLOTS":
		return put("base", r.Uint32N(uint32(p.Slots()))) | put("log2_n", uint32(1+r.IntN(3)))
	case "GROUP_PARENT":
		return value&is("valid").Mask() | put("endpoint", r.Uint32N(uint32(p.Members)+2))
	case "GROUP_COLLECTIVE":
		k := v.t.Kinds()[r.IntN(len(v.t.Kinds()))]
		return value&(is("in_band").Mask()|is("root_sends").Mask())&r.Uint32() | value&is("big_endian").Mask() |
			put("collective", r.Uint32N(4)) | put("op", uint32(k.Op)) | put("dtype", uint32(k.DType))
	case "GROUP_PIPE":
		return put("n", r.Uint32N(3))
	case "EP_CTRL":
		return put("valid", r.Uint32N(2)|1) | value&is("host").Mask() | put("port", r.Uint32N(uint32(p.Ports)))
	case "EP_LOCAL_QPN":
		return put("qpn", is("qpn").Get(value)&^uint32(p.Records()-1)|uint32(i))
	case "EP_REMOTE_IP":
		return value | 1<<31 // none of a watched host by accident
	}
	return value
}

// write writes a register in both engines. What it stops or changes for all is first, or at once, let out of the engine.
func (v *vandal) write() {
	addr, value, strobes := v.draw()
	reg, i, ok := v.t.Manifest.Find(addr &^ 3)
	works := ok && strobes == 0xF
	if works && strings.HasPrefix(reg.Name, "PIPE_") { // an answer under way may take the old value or the new one
		v.drain()
	}
	v.writes++
	if err := v.e.WriteStrobes(addr, value, strobes); errors.Is(err, dut.ErrRefused) {
		v.refused++
	} else {
		v.t.Check(err)
	}
	if !works || reg.Name != "GROUP_CTRL" {
		return
	}
	for c := range v.t.Params.EPS() {
		delete(v.next, i*v.t.Params.EPS()+c)
	}
	for v.e.Field("GROUP_STATUS", i, "busy") != 0 { // every slot is visited
	}
	v.started += int(v.field("GROUP_STATUS", i, "enabled"))
	v.overlaps += int(v.field("GROUP_STATUS", i, "overlap"))
	v.drain() // what a group that was stopped had sent leaves by the records as they are
}

// arrange gives a foreign group that is not enabled settings that may work, and records to all of its places in the table, those that no
// endpoint has too, and starts it. Its slots may be somebody's.
func (v *vandal) arrange() {
	t, r, p := v.t, v.t.Rand, v.t.Params
	index := 1 + r.IntN(p.Groups-1)
	if v.field("GROUP_CTRL", index, "enable") != 0 {
		return
	}
	g := v.e.MakeGroup(index, 2, 1+r.IntN(p.Members), r.IntN(2) == 0)
	if g.Parent < 0 && p.InBand && r.IntN(2) == 0 {
		rig.WithInBand()(g)
	}
	g.Set.Log2N = min(g.Set.Log2N, 1+r.IntN(3))
	if room := p.Slots() - 2<<g.Set.Log2N; room > 0 {
		g.Set.SlotBase = r.IntN(room)
	}
	if r.IntN(4) == 0 { // on the watched group's; that is refused, as long as it fits the buffer
		g.Set.SlotBase = v.watched.Set.SlotBase + r.IntN(1<<v.watched.Set.Log2N)
	}
	for c := range p.EPS() {
		ep, record := g.Ends[c%len(g.Ends)], index*p.EPS()+c
		ep.LocalQPN = ep.LocalQPN&^uint32(p.Records()-1) | uint32(record)
		ep.RemoteQPN = v.t.Field("EP_REMOTE_QPN", "qpn").Get(r.Uint32())
		t.Check(v.e.Ctl.SetEndpoint(record, ep))
		delete(v.next, record)
	}
	if g.TryEnable() {
		v.started++
	}
	v.overlaps += int(v.field("GROUP_STATUS", index, "overlap"))
}

// field is what a field of a register holds, without an access that takes time.
func (v *vandal) field(register string, i int, field string) uint32 {
	addr, err := v.t.Manifest.Addr(register, i)
	v.t.Check(err)
	value, err := v.e.Reference().Read(addr)
	v.t.Check(err)
	return v.t.Field(register, field).Get(value)
}

// finish stops the foreign groups and sees that the watched one has got everything, and that the writes did something.
func (v *vandal) finish() {
	t, g := v.t, v.watched
	for i := 1; i < t.Params.Groups; i++ {
		t.Check(v.e.Ctl.Disable(i))
	}
	if t.Pipes() {
		t.Check(v.e.Ctl.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, rig.LongTimeout))
	}
	v.drain()
	for k := range v.sent {
		if psn := g.PSN(k); v.got[psn] != g.Set.OutMask {
			t.Fatalf("the watched group's result of PSN %v reached endpoints %#x of %#x", psn, v.got[psn], g.Set.OutMask)
		}
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"writes", v.writes}, {"refused", v.refused}, {"foreign_starts", v.started}, {"foreign_frames", v.made}, {"overlaps", v.overlaps},
		{"results", v.sent}} {
		t.Values["registers_random_"+x.name] = uint64(x.n)
		if x.n == 0 {
			t.Fatalf("no %s: nothing was tried", x.name)
		}
	}
}
