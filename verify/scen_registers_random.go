// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// Writes of scenRegistersRandom, in its usual form and its long one.
const (
	randomWrites     = 3000
	randomWritesLong = 100_000
)

// vandal is who writes registers at random, and what it takes to see that one group is left alone by that.
type vandal struct {
	t *T
	e *engine
	o *group // the group that is watched; its registers nobody writes
	// targets are the registers that may be written, foreign those of groups among them.
	targets, foreign []target

	offered [][]byte     // frames to foreign groups that are on their way
	asked   map[int]bool // from which endpoints they are
	next    map[int]roce.PSN
	sent    int                 // PSNs of the watched group whose contributions were sent
	want    map[roce.PSN][]byte // their results
	got     map[roce.PSN]uint32 // who has which
	refused int
	started int // foreign groups that were live after a write of GROUP_CTRL
	overlap int // those that were refused for their slots
	made    int // frames for foreign endpoints
}

// target is an element of a register.
type target struct {
	reg  *contract.Register
	i    int
	addr uint32
}

// scenRegistersRandom writes registers at random, any address, value and strobes, while one group computes and the others, as their registers
// happen to stand, are sent data, answers and controls. The watched group's results are exact and complete; what leaves for others goes to
// endpoints that have a part in their group; every frame and every refusal is the reference's.
//
// CTRL, IP_ID and BYPASS_PORT are left alone, as they are everybody's, and so is ECC_INJECT where there are check bits: it is made to
// spoil whatever is written next.
func scenRegistersRandom(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	v := &vandal{t: t, e: e, next: map[int]roce.PSN{}, asked: map[int]bool{}, want: map[roce.PSN][]byte{}, got: map[roce.PSN]uint32{}}
	if v.o, err = e.newGroup(0, 2, t.p.Members, false, withStart(roce.PSN(0).Add(-100))); err != nil {
		return err
	}
	v.findTargets()
	total := randomWrites
	if t.long {
		total = randomWritesLong
	}
	for writes := 0; writes < total; {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if t.rng.IntN(4) == 0 {
			if err := v.arrange(); err != nil {
				return fmt.Errorf("after %d writes: %w", writes, err)
			}
		}
		v.contribute()
		for range min(1+t.rng.IntN(40), total-writes) {
			if err := v.write(); err != nil {
				return fmt.Errorf("after %d writes: %w", writes, err)
			}
			writes++
		}
		for range t.rng.IntN(8) {
			v.offer()
		}
		if err := v.drain(); err != nil {
			return fmt.Errorf("after %d writes: %w", writes, err)
		}
	}
	return v.finish(total)
}

// findTargets lists the registers that may be written: all but those that are everybody's and those of the watched group.
func (v *vandal) findTargets() {
	for i := range v.t.man.Registers {
		reg := &v.t.man.Registers[i]
		switch {
		case slices.Contains([]string{"CTRL", "IP_ID", "BYPASS_PORT"}, reg.Name), reg.Name == "ECC_INJECT" && v.t.p.ECC:
			continue
		}
		for k := range reg.Size() {
			at := target{reg, k, reg.Offset + uint32(k)*reg.Stride}
			g := -1
			switch {
			case strings.HasPrefix(reg.Name, "GROUP_"):
				g = k
			case strings.HasPrefix(reg.Name, "EP_"):
				g = k / v.t.p.EPS()
			}
			if g == v.o.index {
				continue
			}
			v.targets = append(v.targets, at)
			if g > 0 {
				v.foreign = append(v.foreign, at)
			}
		}
	}
}

// draw is the next write: anything anywhere, or something that may make a foreign group work.
func (v *vandal) draw() (addr, value uint32, strobes uint8) {
	rng := v.t.rng
	value, strobes = rng.Uint32(), 0xF
	if rng.IntN(10) == 0 {
		strobes = uint8(rng.IntN(16))
	}
	switch rng.IntN(8) {
	case 0: // any address of the bus but those that are left alone
		for {
			addr = rng.Uint32N(1 << v.addrBits())
			reg, _, ok := v.t.man.Find(addr &^ 3)
			if !ok || slices.ContainsFunc(v.targets, func(x target) bool { return x.reg == reg && x.addr == addr&^3 }) {
				return addr, value, strobes
			}
		}
	case 1, 2:
		addr = v.targets[rng.IntN(len(v.targets))].addr
		return addr | rng.Uint32N(4), value, strobes
	}
	at := v.foreign[rng.IntN(len(v.foreign))]
	return at.addr, v.sensible(at, value), strobes
}

// arrange gives a foreign group that is not enabled settings that may work, and records to all of its places in the table, those that no
// endpoint has too, and starts it. Its slots may be somebody's.
func (v *vandal) arrange() error {
	t, rng := v.t, v.t.rng
	index := 1 + rng.IntN(t.p.Groups-1)
	if v.reg("GROUP_CTRL", index) != 0 {
		return nil
	}
	g := v.e.makeGroup(index, 2, 1+rng.IntN(t.p.Members), rng.IntN(2) == 0)
	if g.parent < 0 && t.p.InBand && rng.IntN(2) == 0 {
		withInBand()(g)
	}
	g.set.Log2N = min(g.set.Log2N, 1+rng.IntN(3))
	if room := t.p.Slots() - 2<<g.set.Log2N; room > 0 {
		g.set.SlotBase = rng.IntN(room)
	}
	if rng.IntN(4) == 0 { // on the watched group's; that is refused, as long as it fits the buffer
		g.set.SlotBase = v.o.set.SlotBase + rng.IntN(1<<v.o.set.Log2N)
	}
	for member := range t.p.EPS() {
		ep := g.ends[member%len(g.ends)]
		ei := index*t.p.EPS() + member
		ep.LocalQPN = ep.LocalQPN&^uint32(t.p.Records()-1) | uint32(ei)
		ep.RemoteQPN = rng.Uint32() & 0xFFFFFF
		if err := v.e.drv.SetEndpoint(ei, ep); err != nil {
			return err
		}
		delete(v.next, ei)
	}
	if err := v.e.drv.SetGroup(index, g.set); err != nil {
		return err
	}
	ok, err := v.e.drv.Enable(index)
	if ok {
		v.started++
	}
	v.overlap += int(v.reg("GROUP_STATUS", index) >> 2 & 1)
	return err
}

// addrBits is the width of an address on the register bus.
func (v *vandal) addrBits() int {
	for _, p := range v.t.man.Tops["core"].Ports {
		if p.Name == "s_axil_awaddr" {
			return p.Width
		}
	}
	return 16
}

// sensible is a value that has a meaning in a register, now and then not.
func (v *vandal) sensible(at target, value uint32) uint32 {
	t, rng := v.t, v.t.rng
	ports, slots := uint32(t.p.Ports), uint32(t.p.Slots())
	if rng.IntN(8) == 0 {
		return value
	}
	switch at.reg.Name {
	case "GROUP_CTRL":
		return uint32(1 + 2*rng.IntN(4)/3)
	case "GROUP_SLOTS":
		return rng.Uint32N(slots) | uint32(1+rng.IntN(3))<<24
	case "GROUP_PARENT":
		return value&(1<<31) | rng.Uint32N(uint32(t.p.Members)+2)
	case "GROUP_COLLECTIVE":
		k := t.kinds()[rng.IntN(len(t.kinds()))]
		return value&(1<<26|1<<25)&rng.Uint32() | rng.Uint32N(4) | uint32(k.Op)<<8 | uint32(k.DType)<<16 | value&(1<<24)
	case "GROUP_PIPE":
		return rng.Uint32N(3)
	case "EP_CTRL":
		return rng.Uint32N(2) | 1 | value&2 | rng.Uint32N(ports)<<8
	case "EP_LOCAL_QPN":
		return value&0xFFFFFF&^uint32(t.p.Records()-1) | uint32(at.i)
	case "EP_REMOTE_IP":
		return value | 1<<31 // none of a watched host by accident
	}
	return value
}

// write writes a register in both engines. What it stops or changes for all is first, or at once, let out of the engine.
func (v *vandal) write() error {
	addr, value, strobes := v.draw()
	reg, i, ok := v.t.man.Find(addr &^ 3)
	works := ok && strobes == 0xF
	if works && strings.HasPrefix(reg.Name, "PIPE_") { // an answer under way may take the old value or the new one
		if err := v.drain(); err != nil {
			return err
		}
	}
	switch err := v.e.WriteStrobes(addr, value, strobes); {
	case errors.Is(err, dut.ErrRefused):
		v.refused++
	case err != nil:
		return err
	}
	if !works || reg.Name != "GROUP_CTRL" {
		return nil
	}
	for k := i * v.t.p.EPS(); k < (i+1)*v.t.p.EPS(); k++ {
		delete(v.next, k)
	}
	for {
		s, err := v.e.drv.Read("GROUP_STATUS", i)
		if err != nil {
			return err
		}
		if s&1 == 0 {
			v.started += int(s >> 1 & 1)
			v.overlap += int(s >> 2 & 1)
			break
		}
	}
	return v.drain() // what a group that was stopped had sent leaves by the records as they are
}

// reg is what a register holds.
func (v *vandal) reg(name string, i int) uint32 {
	addr, err := v.t.man.Addr(name, i)
	if err != nil {
		return 0
	}
	x, err := v.e.Reference().Read(addr)
	if err != nil {
		return 0
	}
	return x
}

// offer sends a foreign endpoint something, as its record wants it, valid or not, one that no endpoint has among them.
func (v *vandal) offer() {
	t, rng := v.t, v.t.rng
	g := 1 + rng.IntN(t.p.Groups-1)
	member := rng.IntN(t.p.EPS())
	ei := g*t.p.EPS() + member
	start := roce.PSN(v.reg("GROUP_START", g) & roce.PSNMask)
	psn, ok := v.next[ei]
	if !ok {
		psn = start
	}
	p := roce.Packet{TTL: 64, DF: true, SrcIP: roce.IP4FromUint32(v.reg("EP_REMOTE_IP", ei)), DstIP: roce.IP4FromUint32(v.reg("EP_LOCAL_IP", ei)),
		Op: roce.SendOnly, PKey: roce.DefaultPKey, DestQP: v.reg("EP_LOCAL_QPN", ei), PSN: psn, AckReq: true}
	switch rng.IntN(10) {
	case 0:
		p.Op, p.AckReq, p.Syndrome = roce.Acknowledge, false, []uint8{0x1F, 0x60, 0x21}[rng.IntN(3)]
		p.PSN = psn.Add(-1 - rng.IntN(3))
	case 1:
		p.Op, p.AckReq = roce.CNP, false
	case 2: // behind or ahead
		p.PSN = psn.Add(rng.IntN(7) - 3)
		p.Payload = t.words(rng.IntN(4))
	case 3, 4: // a control, if the group is in-band
		p.Op = roce.SendOnlyImm
		c := v.reg("GROUP_COLLECTIVE", g)
		p.Imm = rng.Uint32N(4)<<29 | (c>>8&3)<<27 | (c>>16&3)<<25 | rng.Uint32N(32)<<20 | uint32(1+rng.IntN(5))
		v.next[ei] = psn.Next()
	default:
		p.Payload = t.words(4)
		v.next[ei] = psn.Next()
	}
	port := int(v.reg("EP_CTRL", ei) >> 8 & 0xFF)
	if port >= t.p.Ports || rng.IntN(16) == 0 {
		port = rng.IntN(t.p.Ports)
	}
	frame := p.AppendFrame(nil)
	v.offered, v.asked[ei] = append(v.offered, frame), true
	v.e.send(port, frame)
}

// contribute sends the watched group's next packets, one or two PSNs of each member, as far as its window lets it.
func (v *vandal) contribute() {
	for range 1 + v.t.rng.IntN(2) {
		first := v.o.set.Start.Add(v.sent - max(v.o.mw()/2, 1))
		if v.want[first] != nil && v.got[first] != v.o.set.OutMask {
			return
		}
		psn := v.o.set.Start.Add(v.sent)
		n := 4 * (1 + v.t.rng.IntN(16))
		var all [][]byte
		for _, c := range v.o.members() {
			payload := v.o.values(n)
			all = append(all, payload)
			f := v.o.data(c, psn, payload)
			v.e.send(f.port, f.data)
		}
		v.want[psn] = v.o.reduce(all...)
		v.sent++
	}
}

// drainCycles lets everything that was offered leave: some ten short packets, each copied to everybody.
const drainCycles = 1200

// drain runs the engine until what was offered is through, and looks at what left.
func (v *vandal) drain() error {
	for answers := true; answers; {
		for limit := v.e.Now() + 100*drainCycles; ; {
			if err := v.e.StepTo(v.e.Now() + 64); err != nil {
				return err
			}
			if v.e.Waiting() == 0 {
				break
			}
			if v.e.Now() > limit {
				return failf("%d frames wait and are not taken", v.e.Waiting())
			}
		}
		if err := v.e.StepTo(v.e.Now() + drainCycles); err != nil {
			return err
		}
		answers = false
		for _, out := range v.e.Out() {
			answered, err := v.see(out)
			if err != nil {
				return err
			}
			answers = answers || answered
		}
	}
	v.offered = v.offered[:0]
	clear(v.asked)
	return nil
}

// see judges a frame that left, by nothing but the registers. It tells whether the watched group answers it.
func (v *vandal) see(out dut.Out) (answered bool, err error) {
	if slices.ContainsFunc(v.offered, func(f []byte) bool { return bytes.Equal(f, out.Data) }) {
		return false, nil // it was nobody's
	}
	p, err := roce.Decode(out.Data)
	if err != nil {
		return false, failf("a frame that nobody sent left by port %d: %x", out.Port, out.Data)
	}
	if c := v.o.addressee(out.Port, &p); c >= 0 {
		if !p.Op.IsSend() {
			if p.Syndrome != roce.AckSyndrome {
				return false, failf("the watched group's endpoint %d was sent %v", c, &p)
			}
			return false, nil
		}
		if want := v.want[p.PSN]; want == nil || !bytes.Equal(p.Payload, want) {
			return false, failf("the watched group's result of PSN %v is %x, expected %x", p.PSN, p.Payload, want)
		}
		v.got[p.PSN] |= 1 << c
		if !v.t.pipes() {
			return false, nil
		}
		f := v.o.aeth(c, p.PSN, roce.AckSyndrome)
		v.e.send(f.port, f.data)
		return true, nil
	}
	v.made++
	for g := 1; g < v.t.p.Groups; g++ {
		roles := v.roles(g)
		for member := range v.t.p.Members + 1 {
			ei := g*v.t.p.EPS() + member
			// an in-band group answers whoever of its endpoints it hears; it is no secret to him what he sent
			answers := !p.Op.IsSend() && v.asked[ei] && v.reg("EP_CTRL", ei)&1 != 0
			if (roles>>member&1 != 0 || answers) && v.reg("EP_REMOTE_QPN", ei) == p.DestQP && v.reg("EP_REMOTE_IP", ei) == p.DstIP.Uint32() {
				return false, nil
			}
		}
	}
	return false, failf("a frame left by port %d for somebody who has no part in any group: %v", out.Port, &p)
}

// roles are the endpoints that a group's registers give a part.
func (v *vandal) roles(g int) uint32 {
	roles := v.reg("GROUP_IN_MASK", g) | v.reg("GROUP_OUT_MASK", g) | v.reg("GROUP_ACK_MASK", g)
	if parent := v.reg("GROUP_PARENT", g); parent>>31 != 0 {
		roles |= 1 << (parent & 0xFF)
	}
	if v.reg("GROUP_COLLECTIVE", g)>>25&1 == 0 {
		return roles
	}
	for i := range (inc.Roots + 4) / 5 {
		for word := v.reg(fmt.Sprintf("GROUP_ROUTE_%d", i), g); word != 0; word >>= 6 {
			if word>>5&1 != 0 {
				roles |= 1 << (word & 31)
			}
		}
	}
	return roles
}

// finish stops the foreign groups and sees that the watched one has got everything, with registers that worked meanwhile.
func (v *vandal) finish(writes int) error {
	for g := 1; g < v.t.p.Groups; g++ {
		if err := v.e.drv.Disable(g); err != nil {
			return err
		}
	}
	if v.t.pipes() {
		if err := v.e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, longTimeout); err != nil {
			return err
		}
	}
	if err := v.drain(); err != nil {
		return err
	}
	for k := range v.sent {
		if psn := v.o.set.Start.Add(k); v.got[psn] != v.o.set.OutMask {
			return failf("the watched group's result of PSN %v reached endpoints %#x of %#x", psn, v.got[psn], v.o.set.OutMask)
		}
	}
	for name, n := range map[string]int{"writes": writes, "refused": v.refused, "foreign_starts": v.started, "foreign_frames": v.made, "overlaps": v.overlap, "results": v.sent} {
		v.t.values["registers_random_"+name] = uint64(n)
		if n == 0 {
			return failf("no %s: nothing was tried", name)
		}
	}
	return nil
}
