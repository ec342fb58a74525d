// SPDX-License-Identifier: Apache-2.0

package registers

import (
	"bytes"
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
// With park, foreign groups are parked and unparked at any time, too.
//
// CTRL, IP_ID and BYPASS_PORT are left alone, as they are everybody's, and so is ECC_INJECT where there are check bits: it is made to
// spoil whatever is written next.
func registersRandom(t *rig.T) {
	e := t.Engine()
	v := &vandal{t: t, e: e, next: map[int]roce.PSN{}, absent: map[int]inc.Endpoint{}, asked: map[int]bool{}, want: map[roce.PSN][]byte{}, got: map[roce.PSN]uint32{}}
	v.watched = e.Group(0, 2, t.Params.Members, false, rig.WithStart(roce.PSN(0).Add(-100)))
	v.findTargets()
	for total := t.Count(3000, 100_000); v.writes < total; {
		t.In(fmt.Sprintf("after %d writes", v.writes), func() {
			if t.Rand.IntN(4) == 0 {
				v.arrange()
			}
			v.contribute()
			for range min(1+t.Rand.IntN(40), total-v.writes) {
				if t.Params.Park && t.Rand.IntN(16) == 0 {
					v.turn()
				} else {
					v.write(v.draw())
				}
				if t.Rand.IntN(4) == 0 {
					v.read()
				}
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
	// targets are the addresses of registers that may be written, foreign those of other groups' among them, favoured those of favourites
	// among these, last is the last of all.
	targets, foreign, favoured []uint32
	last                       uint32

	answers []rig.Frame          // of the watched group's hosts to what left
	offered [][]byte             // frames to foreign groups that are on their way
	asked   map[int]bool         // from which endpoints they are
	next    map[int]roce.PSN     // what foreign endpoints send next, if it is not START
	absent  map[int]inc.Endpoint // what was written to records that no endpoint has

	sent int                 // PSNs of the watched group whose contributions were sent
	want map[roce.PSN][]byte // their results
	got  map[roce.PSN]uint32 // who has which

	writes, refused int
	started         int // foreign groups that were live after a write of GROUP_CTRL
	overlaps        int // those that were refused for their slots
	parks, unparks  int // foreign groups that gave up their slots, and that got some again
	undrained       int // those that would not give them up
	made            int // frames that left for foreign endpoints
}

// findTargets lists the registers that may be written: all but those that are everybody's and those of the watched group.
func (v *vandal) findTargets() {
	p := v.t.Params
	for _, reg := range v.t.Manifest.Registers {
		for i := range reg.Size() {
			addr, group := reg.At(i), -1
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
			if group > 0 && group <= favourites {
				v.favoured = append(v.favoured, addr)
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
	from := v.foreign
	if v.favours() {
		from = v.favoured
	}
	addr = from[r.IntN(len(from))]
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
		ctrl := []uint32{enable, enable, reset, enable | reset}[r.IntN(4)]
		if p.Park {
			ctrl |= put("park", r.Uint32N(2))
		}
		return ctrl
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

// turn writes what parks or unparks a foreign group, whether it can be or not. Of those that refuse to be parked some start anew, for who has
// sent something that others do not may never be drained.
func (v *vandal) turn() {
	g := 1 + v.t.Rand.IntN(v.t.Params.AllGroups()-1)
	addr, err := v.t.Manifest.Addr("GROUP_CTRL", g)
	v.t.Check(err)
	put := func(field string, value uint32) uint32 { return v.t.Field("GROUP_CTRL", field).Put(value) }
	v.write(addr, put("enable", 1)|put("park", v.t.Rand.Uint32N(2)), 0xF)
	if v.field("GROUP_STATUS", g, "undrained") != 0 && v.t.Rand.IntN(3) == 0 {
		v.write(addr, put("enable", 1)|put("reset", 1), 0xF)
	}
}

// write writes a register in both engines. What it stops or changes for all is first, or at once, let out of the engine.
func (v *vandal) write(addr, value uint32, strobes uint8) {
	reg, i, ok := v.t.Manifest.Find(addr &^ 3)
	works := ok && strobes == 0xF
	if works && strings.HasPrefix(reg.Name, "PIPE_") { // an answer under way may take the old value or the new one
		v.drain()
	}
	v.writes++
	controls := works && reg.Name == "GROUP_CTRL"
	parked := controls && v.parked(i)
	if err := v.e.Board.Write(addr, value, strobes); errors.Is(err, dut.ErrRefused) {
		v.refused++
	} else {
		v.t.Check(err)
	}
	if !controls {
		return
	}
	for v.e.Field("GROUP_STATUS", i, "busy") != 0 { // every slot is visited
	}
	v.tally(i, parked, v.t.Field("GROUP_CTRL", "reset").Get(value) != 0)
	v.drain() // what a group that was stopped had sent leaves by the records as they are
}

// tally counts what became of a write of a foreign group's GROUP_CTRL. A group that was parked, or is, goes on with the PSNs that it had.
func (v *vandal) tally(g int, parked, reset bool) {
	v.overlaps += int(v.field("GROUP_STATUS", g, "overlap"))
	enabled, undrained := v.field("GROUP_STATUS", g, "enabled") != 0, v.t.Params.Park && v.field("GROUP_STATUS", g, "undrained") != 0
	switch now := v.parked(g); {
	case now && !parked:
		v.parks++
	case undrained:
		v.undrained++
	case parked && !now && enabled && !reset:
		v.unparks++
	case !now: // a start, a stop, or nothing
		if enabled {
			v.started++
		}
		for c := range v.t.Params.EPS() {
			delete(v.next, g*v.t.Params.EPS()+c)
		}
	}
}

// parked tells whether a group is parked.
func (v *vandal) parked(g int) bool {
	return v.t.Params.Park && v.field("GROUP_STATUS", g, "parked") != 0
}

// read reads a word of any endpoint's record, the watched group's among them, which frames need meanwhile. The board compares it.
func (v *vandal) read() {
	var words []contract.Register
	for _, reg := range v.t.Manifest.Registers {
		if strings.HasPrefix(reg.Name, "EP_") {
			words = append(words, reg)
		}
	}
	reg, i := words[v.t.Rand.IntN(len(words))], v.t.Rand.IntN(v.t.Params.Records())
	if v.t.Rand.IntN(2) == 0 {
		i = v.watched.Index*v.t.Params.EPS() + v.t.Rand.IntN(v.t.Params.EPS())
	}
	v.e.Read(reg.Name, i%reg.Size())
}

// favourites are how many foreign groups most of what is tried is about, where there are more: among hundreds of endpoints what is sent
// would hardly ever come to one of a group that was started, and a group that was started would hardly ever be stopped.
const favourites = 4

// favours draws whether the next thing that is tried is about favourites alone.
func (v *vandal) favours() bool {
	return v.t.Params.AllGroups()-1 > favourites && v.t.Rand.IntN(4) != 0
}

// foreigner is a group other than the one watched.
func (v *vandal) foreigner() int {
	if v.favours() {
		return 1 + v.t.Rand.IntN(favourites)
	}
	return 1 + v.t.Rand.IntN(v.t.Params.AllGroups()-1)
}

// arrange gives a foreign group that is not enabled settings that may work, and records to all of its places in the table, those that no
// endpoint has too, and starts it. Its slots may be somebody's.
func (v *vandal) arrange() {
	t, r, p := v.t, v.t.Rand, v.t.Params
	index := v.foreigner()
	if v.e.Reference().Engine().Enabled(index) {
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
	// Where the watched group has half of all slots, hardly any of these would lie beside it.
	end := v.watched.Set.SlotBase + 2<<v.watched.Set.Log2N
	if beside := p.Slots() - end - 2<<g.Set.Log2N; 2*end >= p.Slots() && beside >= 0 {
		g.Set.SlotBase = end + r.IntN(beside+1)
	}
	if r.IntN(4) == 0 || v.overlaps == 0 { // on the watched group's; that is refused, as long as it fits the buffer
		g.Set.SlotBase = v.watched.Set.SlotBase + r.IntN(1<<v.watched.Set.Log2N)
	}
	for c := range p.EPS() {
		ep, record := g.Ends[c%len(g.Ends)], index*p.EPS()+c
		ep.LocalQPN = ep.LocalQPN&^uint32(p.Records()-1) | uint32(record)
		ep.RemoteQPN = v.t.Field("EP_REMOTE_QPN", "qpn").Get(r.Uint32())
		t.Check(v.e.Ctl.SetEndpoint(record, ep))
		if c > p.Members {
			v.absent[record] = ep
		}
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
	for i := 1; i < t.Params.AllGroups(); i++ {
		t.Check(v.e.Ctl.Disable(i))
	}
	if t.Pipes() {
		v.e.SetTimeout(rig.LongTimeout)
	}
	v.drain()
	for k := range v.sent {
		if psn := g.PSN(k); v.got[psn] != g.Set.OutMask {
			t.Fatalf("the watched group's result of PSN %v reached endpoints %#x of %#x", psn, v.got[psn], g.Set.OutMask)
		}
	}
	type figure struct {
		name string
		n    int
	}
	figures := []figure{{"writes", v.writes}, {"refused", v.refused}, {"foreign_starts", v.started}, {"foreign_frames", v.made}, {"overlaps", v.overlaps},
		{"results", v.sent}}
	if t.Params.Park {
		figures = append(figures, figure{"parks", v.parks}, figure{"unparks", v.unparks}, figure{"undrained", v.undrained})
	}
	for _, x := range figures {
		t.Values["registers_random_"+x.name] = uint64(x.n)
		if x.n == 0 && !(x.name == "overlaps" && t.Params.Groups < 2) { // slots are an engine's own
			t.Fatalf("no %s: nothing was tried", x.name)
		}
	}
}

// contribute sends the watched group's next packets, one or two PSNs of each member, as far as its window lets it.
func (v *vandal) contribute() {
	g := v.watched
	for range 1 + v.t.Rand.IntN(2) {
		first := g.PSN(v.sent - max(g.MW()/2, 1))
		if v.want[first] != nil && v.got[first] != g.Set.OutMask {
			return
		}
		psn := g.PSN(v.sent)
		n := 4 * (1 + v.t.Rand.IntN(16))
		r := g.Round(psn, n)
		for _, c := range g.Members() {
			v.e.Put(r.Frame(c))
		}
		v.want[psn] = r.Result()
		v.sent++
	}
}

// offer sends a foreign endpoint something, as its record wants it, valid or not, one that no endpoint has among them.
func (v *vandal) offer() {
	p, r := v.t.Params, v.t.Rand
	g := v.foreigner()
	record := g*p.EPS() + r.IntN(p.EPS())
	packet := v.packetTo(g, record)
	port := v.e.Reference().Endpoint(record).Port
	if port >= p.Ports || r.IntN(16) == 0 {
		port = r.IntN(p.Ports)
	}
	f := rig.Frame{Port: port, Data: packet.AppendFrame(nil)}
	v.offered, v.asked[record] = append(v.offered, v.e.Tagged(f.Data)), true
	v.e.Put(f)
}

// packetTo is what somebody sends to an endpoint of group g: data most of the time, a control, an answer, a CNP, or data out of turn.
func (v *vandal) packetTo(g, record int) *roce.Packet {
	r := v.t.Rand
	ep, set := v.e.Reference().Endpoint(record), v.e.Reference().Group(g)
	if wrote, ok := v.absent[record]; ok {
		ep = wrote
	}
	psn, ok := v.next[record]
	if !ok {
		psn = set.Start
	}
	p := &roce.Packet{TTL: 64, DF: true, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, Op: roce.SendOnly, PKey: roce.DefaultPKey, DestQP: ep.LocalQPN,
		PSN: psn, AckReq: true}
	switch r.IntN(10) {
	case 0:
		p.Op, p.AckReq, p.Syndrome = roce.Acknowledge, false, []uint8{roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 1}[r.IntN(3)]
		p.PSN = psn.Add(-1 - r.IntN(3))
	case 1:
		p.Op, p.AckReq = roce.CNP, false
	case 2: // behind or ahead
		p.PSN = psn.Add(r.IntN(7) - 3)
		p.Payload = v.t.Words(r.IntN(4))
	case 3, 4: // a control, if the group is in-band
		p.Op = roce.SendOnlyImm
		p.Imm = inc.Control{Collective: uint8(r.Uint32N(4)), Op: set.Op, DType: set.DType, Root: uint8(r.Uint32N(inc.Roots)),
			Packets: 1 + r.IntN(5)}.Immediate()
		v.next[record] = psn.Next()
	default:
		p.Payload = v.t.Words(4)
		v.next[record] = psn.Next()
	}
	return p
}

// drainCycles lets everything that was offered leave: some ten short packets, each copied to everybody.
const drainCycles = 1200

// drain runs the engine until what was offered is through, and looks at what left. It does not wait for the engine to rest: endpoints of
// foreign groups may never answer.
func (v *vandal) drain() {
	for answered := true; answered; answered = len(v.answers) > 0 {
		v.e.Put(v.answers...)
		v.answers = v.answers[:0]
		limit := v.e.Now() + 100*drainCycles
		for v.e.StepTo(v.e.Now() + 64); v.e.Waiting() > 0; v.e.StepTo(v.e.Now() + 64) {
			if v.e.Now() > limit {
				v.t.Fatalf("%d frames wait and are not taken", v.e.Waiting())
			}
		}
		v.e.StepTo(v.e.Now() + drainCycles)
		for _, out := range v.e.Out() {
			v.see(&out)
		}
	}
	v.offered = v.offered[:0]
	clear(v.asked)
}

// see judges a frame that left, by nothing but the registers, and has the watched group's hosts answer it.
func (v *vandal) see(out *dut.Frame) {
	if slices.ContainsFunc(v.offered, func(b []byte) bool { return bytes.Equal(b, out.Data) }) {
		return // it was nobody's
	}
	p, err := out.Packet()
	if err != nil {
		v.t.Fatalf("a frame that nobody sent left by port %d: %x", out.Port, out.Data)
	}
	if c := v.watched.Addressee(out.Port, p); c >= 0 {
		v.result(c, p)
		return
	}
	if v.made++; !v.hasPart(p) {
		v.t.Fatalf("a frame left by port %d for somebody who has no part in any group: %v", out.Port, p)
	}
}

// result notes what endpoint c of the watched group gets, and in Mode III acknowledges it.
func (v *vandal) result(c int, p *roce.Packet) {
	if !p.Op.IsSend() {
		if p.Syndrome != roce.AckSyndrome {
			v.t.Fatalf("the watched group's endpoint %d was sent %v", c, p)
		}
		return
	}
	if want := v.want[p.PSN]; want == nil || !bytes.Equal(p.Payload, want) {
		v.t.Fatalf("the watched group's result of PSN %v is %x, expected %x", p.PSN, p.Payload, want)
	}
	if v.got[p.PSN] |= 1 << c; v.t.Pipes() {
		v.answers = append(v.answers, v.watched.Ack(c, p.PSN))
	}
}

// hasPart tells whether a packet is for an endpoint that its group's registers give a part, or for one that it answers: an in-band group
// answers whoever of its endpoints it hears.
func (v *vandal) hasPart(p *roce.Packet) bool {
	for g := 1; g < v.t.Params.AllGroups(); g++ {
		roles := v.roles(g)
		for c := range v.t.Params.Members + 1 {
			record := g*v.t.Params.EPS() + c
			ep := v.e.Reference().Endpoint(record)
			answer := !p.Op.IsSend() && v.asked[record] && ep.Valid
			if (roles>>c&1 != 0 || answer) && ep.RemoteQPN == p.DestQP && ep.RemoteIP == p.DstIP {
				return true
			}
		}
	}
	return false
}

// roles are the endpoints that a group's registers give a part.
func (v *vandal) roles(g int) uint32 {
	set := v.e.Reference().Group(g)
	roles := set.InMask | set.OutMask | set.AckMask
	if set.HasParent {
		roles |= 1 << set.Parent
	}
	for _, route := range set.Route { // of a fixed group none is valid
		if route.Valid && v.t.Params.InBand {
			roles |= 1 << route.Endpoint
		}
	}
	return roles
}
