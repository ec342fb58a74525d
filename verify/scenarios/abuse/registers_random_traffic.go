// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"bytes"
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

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
	g := 1 + r.IntN(p.Groups-1)
	record := g*p.EPS() + r.IntN(p.EPS())
	packet := v.packetTo(g, record)
	port := int(v.field("EP_CTRL", record, "port"))
	if port >= p.Ports || r.IntN(16) == 0 {
		port = r.IntN(p.Ports)
	}
	f := rig.Frame{Port: port, Data: packet.AppendFrame(nil)}
	v.offered, v.asked[record] = append(v.offered, f.Data), true
	v.e.Put(f)
}

// packetTo is what somebody sends to an endpoint of group g: data most of the time, a control, an answer, a CNP, or data out of turn.
func (v *vandal) packetTo(g, record int) *roce.Packet {
	r := v.t.Rand
	psn, ok := v.next[record]
	if !ok {
		psn = roce.PSN(v.field("GROUP_START", g, "psn"))
	}
	p := &roce.Packet{TTL: 64, DF: true, SrcIP: roce.IP4FromUint32(v.field("EP_REMOTE_IP", record, "address")),
		DstIP: roce.IP4FromUint32(v.field("EP_LOCAL_IP", record, "address")), Op: roce.SendOnly, PKey: roce.DefaultPKey,
		DestQP: v.field("EP_LOCAL_QPN", record, "qpn"), PSN: psn, AckReq: true}
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
		setting := func(field string) uint8 { return uint8(v.field("GROUP_COLLECTIVE", g, field)) }
		p.Imm = inc.Control{Collective: uint8(r.Uint32N(4)), Op: setting("op"), DType: setting("dtype"), Root: uint8(r.Uint32N(inc.Roots)),
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
	for g := 1; g < v.t.Params.Groups; g++ {
		roles := v.roles(g)
		for c := range v.t.Params.Members + 1 {
			record := g*v.t.Params.EPS() + c
			answer := !p.Op.IsSend() && v.asked[record] && v.field("EP_CTRL", record, "valid") != 0
			if (roles>>c&1 != 0 || answer) && v.field("EP_REMOTE_QPN", record, "qpn") == p.DestQP &&
				v.field("EP_REMOTE_IP", record, "address") == p.DstIP.Uint32() {
				return true
			}
		}
	}
	return false
}

// roles are the endpoints that a group's registers give a part.
func (v *vandal) roles(g int) uint32 {
	roles := v.field("GROUP_IN_MASK", g, "mask") | v.field("GROUP_OUT_MASK", g, "mask") | v.field("GROUP_ACK_MASK", g, "mask")
	if v.field("GROUP_PARENT", g, "valid") != 0 {
		roles |= 1 << v.field("GROUP_PARENT", g, "endpoint")
	}
	if !v.t.Params.InBand || v.field("GROUP_COLLECTIVE", g, "in_band") == 0 {
		return roles
	}
	for root := range contract.Roots {
		if register, endpoint, valid := contract.RouteOf(root); v.field(register, g, valid) != 0 {
			roles |= 1 << v.field(register, g, endpoint)
		}
	}
	return roles
}
