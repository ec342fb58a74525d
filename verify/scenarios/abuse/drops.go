// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// fault is a frame that must be counted under one name and under no other reason to drop.
type fault struct {
	what  string
	want  inc.Counter
	frame rig.Frame
}

// faulty is a group that gets frames with faults.
type faulty struct {
	*rig.Group
	old     inc.Counter // what data counts as that was taken before and is not in the buffer
	before  inc.Counter // the same of data before START, which an engine that parks knows that nobody waits for
	reached map[inc.Counter]bool
}

func drops(t *rig.T) {
	d := &faulty{Group: t.Star(), old: rig.ByMode(t, inc.DropStale, inc.RxDuplicate), reached: map[inc.Counter]bool{}}
	if d.before = d.old; t.Reacks() {
		d.before = inc.TxReack
	}
	d.count(d.inHeaders()...)
	d.count(d.inContents()...)
	d.count(d.twoFaults()...)
	if t.Params.Members > 1 { // or every contribution completes its slot
		d.slots()
	}
	if t.Messages() {
		d.cuts()
	}
	d.roles()
	d.reachedAll()
}

// count sends frames with faults.
func (d *faulty) count(list ...fault) {
	for _, x := range list {
		d.T.In(x.what, func() {
			if x.frame.Err && !d.E.TakesErrors() {
				before := d.E.Counter(inc.RxFrames)
				d.E.Exchange(x.frame)
				if d.E.Counter(inc.RxFrames) != before {
					d.T.Fatalf("a frame with err passed its port")
				}
				return
			}
			got := fate(d.E, x.frame)
			others := slices.ContainsFunc(got, func(c inc.Counter) bool { return c != x.want && (isDrop(c) || c == inc.Bypass) })
			if !slices.Contains(got, x.want) || others {
				d.T.Fatalf("%v, expected %v", got, x.want)
			}
			if slices.Contains(got, inc.TxInvalid) { // which ended the connection
				d.ended(x.frame.Port)
			}
		})
		d.reached[x.want] = true
	}
}

// ended checks that the register shows the one endpoint at a port whose connection was ended, and makes all connections anew.
func (d *faulty) ended(port int) {
	if refused := d.E.Read("GROUP_REFUSED", d.Index); bits.OnesCount32(refused) != 1 || d.Ends[bits.TrailingZeros32(refused)].Port != port {
		d.T.Fatalf("GROUP_REFUSED is %#x", refused)
	}
	d.Program()
}

// Total length of IPv4, length of UDP and IPv4's checksum of a contribution without a fault: where they are, and what the lengths say.
const (
	totalLengthAt, totalLength = 16, 20 + udpLength
	udpLengthAt, udpLength     = 38, 8 + 12 + 16 + 4
)

// setLengths has a contribution say other lengths.
func setLengths(total, udp uint16) func(f *rig.Frame) {
	return func(f *rig.Frame) {
		binary.BigEndian.PutUint16(f.Data[totalLengthAt:], total)
		binary.BigEndian.PutUint16(f.Data[udpLengthAt:], udp)
	}
}

// saysLess has a contribution say that it ends with its BTH, and has no ICRC. What the total length loses the IP ID gains, so that the checksum stays right.
func saysLess(f *rig.Frame) {
	const idAt, ip, udp = 18, 20, 8 + 12
	setLengths(ip+udp, udp)(f)
	binary.BigEndian.PutUint16(f.Data[idAt:], binary.BigEndian.Uint16(f.Data[idAt:])+totalLength-ip-udp)
}

// inHeaders are faults of a frame's headers.
func (d *faulty) inHeaders() []fault {
	return []fault{
		{"source IP", inc.DropForeign, first(d.Group, func(p *roce.Packet) { p.SrcIP[3] ^= 1 })},
		{"destination IP", inc.DropForeign, first(d.Group, func(p *roce.Packet) { p.DstIP[0] ^= 0x80 })},
		{"P_Key", inc.DropForeign, first(d.Group, func(p *roce.Packet) { p.PKey = 0x7FFF })},
		{"error bit", inc.DropRxError, damaged(first(d.Group), func(f *rig.Frame) { f.Err = true })},
		{"IP checksum", inc.DropIPChecksum, damaged(first(d.Group), func(f *rig.Frame) { f.Data[24] ^= 1 })},
		{"TTL alone", inc.DropIPChecksum, damaged(first(d.Group), func(f *rig.Frame) { f.Data[22]++ })},
		{"IP total length", inc.DropLengthMismatch, resealed(first(d.Group), setLengths(totalLength-4, udpLength))},
		{"UDP length", inc.DropLengthMismatch, resealed(first(d.Group), setLengths(totalLength, udpLength-4))},
		{"body no multiple of 4", inc.DropLengthMismatch, resealed(first(d.Group), setLengths(totalLength-2, udpLength-2))},
		{"no room for an ICRC", inc.DropLengthMismatch, damaged(first(d.Group), saysLess)},
		{"pad beyond the body", inc.DropLengthMismatch, resealed(d.Data(0, d.Start(), nil), func(f *rig.Frame) { f.Data[43] |= 0x30 })},
		{"TVer", inc.DropTVer, first(d.Group, func(p *roce.Packet) { p.TVer = 1 })},
		{"opcode", inc.DropOpcode, first(d.Group, func(p *roce.Packet) { p.Op = roce.WriteMiddle })},
	}
}

// inContents are faults of numbers, lengths and what depends on the configuration.
func (d *faulty) inContents() []fault {
	t, start := d.T, d.Start()
	list := []fault{
		{"half an element", inc.DropBadLength, d.Data(0, start, t.Words(2)[:4+d.Size()/2])},
		{"an element and a byte", inc.DropBadLength, d.Data(0, start, t.Words(2)[:d.Size()+1])},
		{"a reserved syndrome", inc.DropSyndrome, d.AETH(0, start, 0x40)},
		{"a syndrome between", inc.DropSyndrome, d.AETH(0, start, 0x64)},
		{"a gap", inc.DropGap, d.Data(0, start.Add(1), d.Noise(16))},
		{"before START", d.before, d.Data(0, start.Prev(), d.Noise(16))},
	}
	if t.Pipes() {
		list = append(list, fault{"an ACK of nothing", inc.DropStaleAck, d.Ack(0, start)})
	}
	cut := func(f *rig.Frame) { f.Data = f.Data[:len(f.Data)-1] }
	list = append(list, fault{"a frame cut short", inc.DropLengthMismatch, damaged(first(d.Group), cut)})
	if t.Params.ICRCCheck {
		list = append(list,
			fault{"ICRC", inc.DropICRC, damaged(first(d.Group), func(f *rig.Frame) { f.Data[len(f.Data)-1] ^= 0x80 })},
			fault{"payload", inc.DropICRC, damaged(first(d.Group), func(f *rig.Frame) { f.Data[60] ^= 1 })})
	}
	list = append(list, fault{"payload above the MTU", inc.DropTooLong, d.Data(0, start, d.Noise(4*(t.Params.MTUBytes/4+1)))})
	if t.Params.Ports > 1 {
		next := func(f *rig.Frame) { f.Port = (f.Port + 1) % t.Params.Ports }
		list = append(list, fault{"port", inc.DropForeign, damaged(first(d.Group), next)})
	}
	return list
}

// twoFaults are frames with two faults each, the first of which counts.
func (d *faulty) twoFaults() []fault {
	tVer := func(p *roce.Packet) { p.TVer = 3 }
	errored := func(f *rig.Frame) { f.Err = true }
	list := []fault{
		{"TVer before opcode", inc.DropTVer, first(d.Group, func(p *roce.Packet) { p.TVer, p.Op = 3, roce.WriteOnlyImm })},
		{"foreign before error bit", inc.DropForeign, damaged(first(d.Group, func(p *roce.Packet) { p.SrcIP[1] ^= 2 }), errored)},
		{"error bit before TVer", inc.DropRxError, damaged(first(d.Group, tVer), errored)},
		{"TVer before a payload above the MTU", inc.DropTVer, d.Data(0, d.Start(), d.Noise(4*(d.T.Params.MTUBytes/4+1)), tVer)},
		{"ICRC before TVer", inc.DropICRC, damaged(first(d.Group, tVer), func(f *rig.Frame) { f.Data[len(f.Data)-2] ^= 4 })},
	}
	if !d.T.Params.ICRCCheck {
		list = list[:4]
	}
	return list
}

// slots fills endpoint 0's window while the others wait: a slot's first contribution says what shape the rest must have, and there is no
// slot beyond the window.
func (d *faulty) slots() {
	contribute := func(k int) { d.Send(d.Data(0, d.PSN(k), d.Noise(16))).As("contribution %d", k).Expect() }
	contribute(0)
	if d.T.Messages() {
		d.count(fault{"another length", inc.DropMessageLength, d.Data(1, d.Start(), d.Noise(20))})
		contribute(0) // anew
	} else {
		d.count(
			fault{"another opcode", inc.DropShape, d.Data(1, d.Start(), d.Noise(16), func(p *roce.Packet) { p.Op = roce.SendFirst })},
			fault{"another length", inc.DropShape, d.Data(1, d.Start(), d.Noise(20))})
	}
	for k := 1; k < d.MW(); k++ {
		contribute(k)
	}
	d.count(
		fault{"beyond the window", rig.ByMode(d.T, inc.DropWindow, inc.DropFull), d.Data(0, d.PSN(d.MW()), d.Noise(16))},
		fault{"again, the slot not complete", d.old, d.Data(0, d.Start(), d.Noise(16))})
}

// cuts sends what no RC requester sends, in Mode I: packets of a message in another order or of other lengths, and messages that are too long.
func (d *faulty) cuts() {
	mtu, size := d.T.Params.MTUBytes, d.Size()
	part := func(k int, op roce.Opcode, bytes int) rig.Frame {
		return d.Data(0, d.PSN(k), d.Noise(bytes), func(p *roce.Packet) { p.Op = op })
	}
	d.Program()
	d.count(
		fault{"MIDDLE outside a message", inc.DropSequence, part(0, roce.SendMiddle, mtu)},
		fault{"LAST outside a message", inc.DropSequence, part(0, roce.SendLast, size)},
		fault{"FIRST of less than the path MTU", inc.DropSegment, part(0, roce.SendFirst, mtu-size)})
	if half := mtu / 2; half >= d.T.Params.LeastPathMTU() {
		d.Ends[0].PathMTU = half
		d.Program()
		d.count(fault{"ONLY above the path MTU", inc.DropSegment, part(0, roce.SendOnly, half+size)})
		d.Ends[0].PathMTU = mtu
	}
	for _, x := range []fault{
		{"FIRST inside a message", inc.DropSequence, part(1, roce.SendFirst, mtu)},
		{"ONLY inside a message", inc.DropSequence, part(1, roce.SendOnly, 0)},
		{"MIDDLE of less", inc.DropSegment, part(1, roce.SendMiddle, mtu-size)},
		{"LAST of nothing", inc.DropSegment, part(1, roce.SendLast, 0)},
	} {
		d.Program()
		d.Send(part(0, roce.SendFirst, mtu)).Out()
		d.count(x)
	}
	d.Program()
	packets := d.T.Params.MessageBytes / mtu
	d.Send(part(0, roce.SendFirst, mtu)).Out()
	for k := 1; k < packets; k++ {
		d.Send(part(k, roce.SendMiddle, mtu)).Out()
	}
	d.count(fault{"a message above message_bytes", inc.DropMessageSize, part(packets, roce.SendLast, size)})
	d.E.Exchange(part(0, roce.SendMiddle, mtu))
	d.count(fault{"in order, the connection ended", inc.DropRefused, part(0, roce.SendOnly, size)})
}

// roles sends data, ACKs and CNPs from an endpoint that has no such role, payload to a barrier, and anything to a disabled group.
func (d *faulty) roles() {
	d.Set.InMask, d.Set.AckMask = d.Set.InMask&^1, d.Set.AckMask&^1
	d.Program()
	cnp := d.Packet(0, roce.CNP, 0)
	if d.T.Pipes() {
		d.rolesOfPipes()
		return
	}
	d.count(
		fault{"data without the role", inc.DropWrongRole, first(d.Group)},
		fault{"ACK without the role", inc.DropWrongRole, d.Ack(0, d.Start())},
		fault{"CNP without the role", inc.DropWrongRole, d.Frame(0, &cnp)})
	d.Set.InMask, d.Set.AckMask, d.Ends[0].Host = d.Set.InMask|1, d.Set.AckMask|1, false
	d.Program()
	d.count(fault{"ACK from a switch", inc.DropWrongRole, d.Ack(0, d.Start())})
	d.Set.Collective = inc.CollectiveBarrier
	d.Program()
	d.count(fault{"payload in a barrier", inc.DropBadLength, first(d.Group)})
	d.Disable()
	bad := damaged(first(d.Group), func(f *rig.Frame) { f.Data[25] ^= 1 }) // whatever else is wrong with it
	d.count(
		fault{"to a disabled group", inc.DropGroupDisabled, first(d.Group)},
		fault{"damaged, to a disabled group", inc.DropGroupDisabled, bad})
}

// rolesOfPipes does so in Mode III: first the endpoint hears and does not contribute, then it contributes and does not hear.
func (d *faulty) rolesOfPipes() {
	d.count(
		fault{"data without the role", inc.DropWrongRole, first(d.Group)},
		fault{"TVer before the role", inc.DropTVer, first(d.Group, func(p *roce.Packet) { p.TVer = 1 })})
	d.Set.InMask, d.Set.OutMask = d.Set.InMask|1, d.Set.OutMask&^1
	d.Program()
	for _, syndrome := range []uint8{roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 1, 0x40} {
		d.count(fault{"an answer without the role", inc.DropWrongRole, d.AETH(0, d.Start(), syndrome)})
	}
	d.count(fault{"a CNP, which is not dropped", inc.RxCnp, d.CNP(0, 0)})
	d.Set.OutMask, d.Set.Collective = d.Set.OutMask|1, inc.CollectiveBarrier
	d.Program()
	d.count(fault{"payload in a barrier", inc.DropBadLength, first(d.Group)})
	d.Disable()
	d.count(
		fault{"data to a disabled group", inc.DropGroupDisabled, first(d.Group)},
		fault{"an ACK to a disabled group", inc.DropGroupDisabled, d.Ack(0, d.Start())})
}

// reachedAll checks that no reason to drop was left out.
func (d *faulty) reachedAll() {
	t := d.T
	several, pipes := t.Params.Members > 1, t.Pipes()
	never := map[inc.Counter]bool{inc.DropICRC: !t.Params.ICRCCheck, inc.DropShape: !several || t.Messages(), inc.DropMessageLength: !several, inc.DropWindow: !several || pipes,
		inc.DropStale: pipes || t.Reacks() && !several, inc.DropFull: !several || !pipes, inc.DropStaleAck: !pipes, inc.RxDuplicate: !pipes}
	all := []inc.Counter{inc.DropFull, inc.DropStaleAck, inc.RxDuplicate}
	for c := inc.DropForeign; c <= inc.DropShape; c++ {
		all = append(all, c)
	}
	for c := inc.DropRefused; t.Messages() && c <= inc.DropMessageLength; c++ {
		all = append(all, c)
	}
	for _, c := range all {
		if !d.reached[c] && !never[c] {
			t.Fatalf("%v was not reached", c)
		}
	}
}

// marking is a frame with some ECN, and whether RX_CE counts it if that is CE.
type marking struct {
	what   string
	counts bool
	frame  rig.Frame
}

func marks(t *rig.T) {
	g := t.Star()
	for ecn := range uint8(4) {
		m := &marked{g: g, tos: uint8(t.Rand.Uint32())&^roce.ECNMask | ecn}
		m.send(m.whole()...)
		m.send(m.damaged()...)
	}
	g.Disable()
	m := &marked{g: g, tos: roce.ECNCE}
	m.send(marking{"data to a disabled group", false, m.first()}, marking{"an ACK to a disabled group", false, m.mark(g.Ack(0, g.Start()))})
}

// marked makes frames with one type of service and checks what they count as.
type marked struct {
	g   *rig.Group
	tos uint8
}

// send sends frames one after the other and reads the counter after each.
func (m *marked) send(list ...marking) {
	e := m.g.E
	for _, x := range list {
		m.g.T.In(x.what, func() {
			want := e.Counter(inc.RxCe)
			if x.counts && x.frame.CE() {
				want++
			}
			m.g.Send(x.frame).Out()
			if got := e.Counter(inc.RxCe); got != want {
				m.g.T.Fatalf("with ToS %#02x %v is %d, expected %d", m.tos, inc.RxCe, got, want)
			}
		})
	}
}

// mark gives a frame the type of service.
func (m *marked) mark(f rig.Frame) rig.Frame {
	return resealed(f, func(f *rig.Frame) { f.Data[15] = m.tos })
}

// first is endpoint 0's first contribution, marked.
func (m *marked) first(opts ...func(p *roce.Packet)) rig.Frame { return m.mark(first(m.g, opts...)) }

// whole are frames that arrived undamaged, though most of them are dropped or taken for repetitions.
func (m *marked) whole() []marking {
	g, start := m.g, m.g.Start()
	long := g.Noise(4 * (g.T.Params.MTUBytes/4 + 1))
	return []marking{
		{"a contribution", true, m.first()},
		{"a contribution sent again", true, m.first()},
		{"a gap", true, m.mark(g.Data(0, start.Add(2*g.MW()), g.Noise(16)))},
		{"an ACK", true, m.mark(g.Ack(0, start))},
		{"a NAK", true, m.mark(g.NAK(0, start))},
		{"a reserved syndrome", true, m.mark(g.AETH(0, start, 0x40))},
		{"a CNP", true, m.mark(g.CNP(0, start))},
		{"half an element", true, m.mark(g.Data(0, start, long[:4+g.Size()/2]))},
		{"payload above the MTU", true, m.mark(g.Data(0, start, long))},
		{"TVer", true, m.first(func(p *roce.Packet) { p.TVer = 1 })},
		{"opcode", true, m.first(func(p *roce.Packet) { p.Op = roce.WriteMiddle })},
	}
}

// damaged are frames that are not the engine's, not the group's, or damaged.
func (m *marked) damaged() []marking {
	list := []marking{
		{"another QPN", false, m.first(func(p *roce.Packet) { p.DestQP ^= 1 << 23 })},
		{"source IP", false, m.first(func(p *roce.Packet) { p.SrcIP[3] ^= 1 })},
		{"error bit", false, damaged(m.first(), func(f *rig.Frame) { f.Err = true })},
		{"IP checksum", false, damaged(m.first(), func(f *rig.Frame) { f.Data[24] ^= 1 })},
		{"a frame cut short", false, damaged(m.first(), func(f *rig.Frame) { f.Data = f.Data[:len(f.Data)-1] })},
	}
	if m.g.T.Params.ICRCCheck {
		list = append(list, marking{"payload", false, damaged(m.first(), func(f *rig.Frame) { f.Data[60] ^= 1 })})
	}
	return list
}
