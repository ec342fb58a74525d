// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// scenMutate sends mutated frames: those that are dropped by name or bypassed change no group's state, the engine agrees with
// the reference on all of them, and lives.
func scenMutate(t *T) error { return t.mutate(30000, 200000, min(maxGroups(t.p), 2)) }

// scenInBandMutate is the same with in-band groups, which begin anew now and then: a control spoilt into another legal one opens a
// range that nobody wants.
func scenInBandMutate(t *T) error {
	count := min(maxGroups(t.p), 2)
	if t.p.DTypeMask()&wideTypes != 0 { // whatever the type of their registers
		count = min(count, t.p.Slots()/wideSlots)
	}
	return t.mutate(12000, 200000, count, withInBand())
}

// mutate sends so many frames, or in the long form so many, to so many groups.
func (t *T) mutate(frames, long, count int, opts ...groupOption) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	var muts []*mutator
	for i := range count {
		members := t.p.Members
		parent := i == 1
		if parent {
			members = max(1, t.children()-1)
		}
		g, err := e.newGroup(i, count, members, parent, append([]groupOption{withLog2N(3)}, opts...)...)
		if err != nil {
			return err
		}
		muts = append(muts, newMutator(t, g))
	}
	ref := e.Reference().Engine()
	state := ref.AppendState(nil)
	var next []byte
	invalid := uint64(0)
	e.OnAccept = func(a dut.Accepted, changed []inc.Counter) error {
		next = ref.AppendState(next[:0])
		if slices.ContainsFunc(changed, stateless) {
			invalid++
			if !bytes.Equal(state, next) {
				return failf("a frame counted under %v changed a group's state: %x", changed, a.Data)
			}
		}
		state, next = next, state
		return nil
	}
	e.OnAct = func(uint64, inc.Action) error {
		state = ref.AppendState(state[:0])
		return nil
	}
	n := frames
	if t.long {
		n = long
	}
	for sent := 0; sent < n; {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		for range 64 {
			f := muts[t.rng.IntN(len(muts))].next()
			e.Offer(f.port, f.frame)
			sent++
		}
		for e.Waiting() > 16 {
			if err := e.StepTo(e.Now() + 64); err != nil {
				return err
			}
			e.Out()
		}
		if m := muts[t.rng.IntN(len(muts))]; m.g.set.InBand && t.rng.IntN(4) == 0 {
			if _, err := e.settle(); err != nil {
				return err
			}
			if err := e.drv.ResetGroup(m.g.index); err != nil {
				return err
			}
			clear(m.psn)
			state = ref.AppendState(state[:0])
		}
		if t.rng.IntN(20) == 0 {
			e.SetPauses(dut.Pauses{Seed: t.rng.Uint64(), In: 0.3 * t.rng.Float64(), Ready: 0.4 * t.rng.Float64(), Burst: 1 + t.rng.IntN(6)})
		}
	}
	e.SetPauses(dut.Pauses{})
	if _, err := e.settle(); err != nil {
		return err
	}
	if muts[0].g.set.InBand {
		c, err := e.counters()
		if err != nil {
			return err
		}
		late := c["DROP_RANGE"] // data of a range that is over; pipes answer it as a duplicate
		if t.pipes() {
			late = c["RX_DUPLICATE"]
		}
		if c["RANGE_OPEN"] < 10 || c["TX_RESULT"] < 10 || c["DROP_CONTROL"] == 0 || late == 0 || c["DROP_STALE_ACK"] == 0 {
			return failf("too little happened: %v", c)
		}
	}
	t.values["mutated_frames"], t.values["invalid_frames"] = uint64(n), invalid
	for _, m := range muts { // it lives
		if err := m.g.program(); err != nil {
			return err
		}
		if m.g.parent < 0 && !m.g.set.InBand {
			if err := m.g.complete(m.g.set.Start); err != nil {
				return err
			}
		}
	}
	return nil
}

// stateless counters stand for frames that must not change any group's state. A gap is not among them, nor data out of any range:
// they may set nakSent.
func stateless(c inc.Counter) bool {
	return c == inc.Bypass || c != inc.DropGap && c != inc.DropRange && c != inc.DropFull && strings.HasPrefix(c.String(), "DROP_")
}

// scenDrops reaches every reason to drop, one frame each, and sees it counted under that name alone.
func scenDrops(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	g, err := e.newGroup(0, 1, t.p.Members, false)
	if err != nil {
		return err
	}
	var fate []inc.Counter
	e.OnAccept = func(_ dut.Accepted, changed []inc.Counter) error {
		fate = changed
		return nil
	}
	reached := map[inc.Counter]bool{}
	try := func(what string, want inc.Counter, f portFrame, rxErr bool) error {
		e.Offer(f.port, dut.Frame{Data: f.data, Err: rxErr})
		if _, err := e.settle(); err != nil {
			return failf("%s: %w", what, err)
		}
		if !slices.Contains(fate, want) {
			return failf("%s: %v, expected %v", what, fate, want)
		}
		reached[want] = true
		return nil
	}
	start, c := g.set.Start, 0
	good := func() portFrame { return g.data(c, start, g.noise(16)) }
	edit := func(change func(b []byte), seal bool) portFrame {
		f := good()
		change(f.data)
		if seal {
			roce.Reseal(f.data)
		}
		return f
	}
	packet := func(change func(p *roce.Packet)) portFrame { return g.data(c, start, g.noise(16), change) }
	set16 := func(at int, v uint16) func(b []byte) { return func(b []byte) { binary.BigEndian.PutUint16(b[at:], v) } }
	type try1 struct {
		what string
		want inc.Counter
		f    portFrame
		err  bool
	}
	total := uint16(14 + 20 + 8 + 12 + 16 + 4 - 14)
	list := []try1{
		{"source IP", inc.DropForeign, packet(func(p *roce.Packet) { p.SrcIP[3] ^= 1 }), false},
		{"destination IP", inc.DropForeign, packet(func(p *roce.Packet) { p.DstIP[0] ^= 0x80 }), false},
		{"P_Key", inc.DropForeign, packet(func(p *roce.Packet) { p.PKey = 0x7FFF }), false},
		{"error bit", inc.DropRxError, good(), true},
		{"IP checksum", inc.DropIPChecksum, edit(func(b []byte) { b[24] ^= 1 }, false), false},
		{"TTL alone", inc.DropIPChecksum, edit(func(b []byte) { b[22]++ }, false), false},
		{"IP total length", inc.DropLengthMismatch, edit(set16(16, total-4), true), false},
		{"UDP length", inc.DropLengthMismatch, edit(set16(38, total-20-4), true), false},
		{"body no multiple of 4", inc.DropLengthMismatch, edit(func(b []byte) { set16(16, total-2)(b); set16(38, total-22)(b) }, true), false},
		{"pad beyond the body", inc.DropLengthMismatch, func() portFrame {
			f := g.data(c, start, nil)
			f.data[43] |= 0x30
			roce.Reseal(f.data)
			return f
		}(), false},
		{"TVer", inc.DropTVer, packet(func(p *roce.Packet) { p.TVer = 1 }), false},
		{"opcode", inc.DropOpcode, packet(func(p *roce.Packet) { p.Op = roce.WriteMiddle }), false},
		{"half an element", inc.DropBadLength, g.data(c, start, t.words(2)[:4+g.size()/2]), false},
		{"an element and a byte", inc.DropBadLength, g.data(c, start, t.words(2)[:g.size()+1]), false},
		{"a reserved syndrome", inc.DropSyndrome, g.aeth(c, start, 0x40), false},
		{"a syndrome between", inc.DropSyndrome, g.aeth(c, start, 0x64), false},
		{"a gap", inc.DropGap, g.data(c, start.Add(1), g.noise(16)), false},
		{"before START", t.old(), g.data(c, start.Prev(), g.noise(16)), false},
	}
	if t.pipes() {
		list = append(list, try1{"an ACK of nothing", inc.DropStaleAck, g.aeth(c, start, 0x1F), false})
	}
	short := good()
	short.data = short.data[:len(short.data)-1]
	list = append(list, try1{"a frame cut short", inc.DropLengthMismatch, short, false})
	if t.p.ICRCCheck {
		list = append(list,
			try1{"ICRC", inc.DropICRC, edit(func(b []byte) { b[len(b)-1] ^= 0x80 }, false), false},
			try1{"payload", inc.DropICRC, edit(func(b []byte) { b[60] ^= 1 }, false), false})
	}
	if t.p.MTUBytes <= 4096 {
		list = append(list, try1{"payload above the MTU", inc.DropTooLong, g.data(c, start, g.noise(4*(t.p.MTUBytes/4+1))), false})
	}
	if t.p.Ports > 1 {
		f := good()
		f.port = (f.port + 1) % t.p.Ports
		list = append(list, try1{"port", inc.DropForeign, f, false})
	}
	for _, x := range list {
		if err := try(x.what, x.want, x.f, x.err); err != nil {
			return err
		}
	}
	// Two faults: the first in the documented order counts.
	pairs := []struct {
		name   string
		want   inc.Counter
		change func(p *roce.Packet)
		rxErr  bool
		icrc   bool
	}{
		{"TVer before opcode", inc.DropTVer, func(p *roce.Packet) { p.TVer, p.Op = 3, roce.WriteOnlyImm }, false, true},
		{"foreign before error bit", inc.DropForeign, func(p *roce.Packet) { p.SrcIP[1] ^= 2 }, true, true},
		{"error bit before TVer", inc.DropRxError, func(p *roce.Packet) { p.TVer = 3 }, true, true},
		{"ICRC before TVer", inc.DropICRC, func(p *roce.Packet) { p.TVer = 3 }, false, false},
	}
	for _, x := range pairs {
		f := packet(x.change)
		if !x.icrc {
			if !t.p.ICRCCheck {
				continue
			}
			f.data[len(f.data)-2] ^= 4
		}
		if err := try(x.name, x.want, f, x.rxErr); err != nil {
			return err
		}
	}
	// Shape: the slot's first contribution decides.
	if t.p.Members > 1 {
		if _, err := e.exchange(g.data(0, start, g.noise(16))); err != nil {
			return err
		}
		c = 1
		for _, x := range []namedFrame{
			{"another opcode", packet(func(p *roce.Packet) { p.Op = roce.SendFirst })},
			{"another length", g.data(c, start, g.noise(20))},
		} {
			if err := try(x.what, inc.DropShape, x.frame, false); err != nil {
				return err
			}
		}
		for k := range g.mw() - 1 {
			if _, err := e.exchange(g.data(0, start.Add(1+k), g.noise(16))); err != nil {
				return err
			}
		}
		overrun := inc.DropWindow
		if t.pipes() {
			overrun = inc.DropFull
		}
		if err := try("window", overrun, g.data(0, start.Add(g.mw()), g.noise(16)), false); err != nil {
			return err
		}
		if err := try("stale, slot partial", t.old(), g.data(0, start, g.noise(16)), false); err != nil {
			return err
		}
	}
	// Role: data from an endpoint that has none, ACKs and CNPs where they do not count.
	c = 0
	g.set.InMask, g.set.AckMask = g.set.InMask&^1, g.set.AckMask&^1
	if err := g.program(); err != nil {
		return err
	}
	cnp := g.packet(0, roce.CNP, 0)
	if t.pipes() {
		return g.dropsOfRoles(try, reached)
	}
	for _, x := range []namedFrame{{"data", good()}, {"ACK", g.aeth(0, start, 0x1F)}, {"CNP", portFrame{g.ends[0].Port, cnp.AppendFrame(nil)}}} {
		if err := try(x.what+" without the role", inc.DropWrongRole, x.frame, false); err != nil {
			return err
		}
	}
	g.set.InMask, g.set.AckMask, g.ends[0].Host = g.set.InMask|1, g.set.AckMask|1, false
	if err := g.program(); err != nil {
		return err
	}
	if err := try("ACK from a switch", inc.DropWrongRole, g.aeth(0, start, 0x1F), false); err != nil {
		return err
	}
	g.set.Collective = inc.CollectiveBarrier
	if err := g.program(); err != nil {
		return err
	}
	if err := try("payload in a barrier", inc.DropBadLength, good(), false); err != nil {
		return err
	}
	if err := e.drv.Disable(0); err != nil {
		return err
	}
	bad := good()
	bad.data[25] ^= 1 // whatever else is wrong with it
	for _, f := range []portFrame{good(), bad} {
		if err := try("disabled group", inc.DropGroupDisabled, f, false); err != nil {
			return err
		}
	}
	for r := inc.DropForeign; r <= inc.DropShape; r++ {
		switch {
		case reached[r], r == inc.DropICRC && !t.p.ICRCCheck, (r == inc.DropShape || r == inc.DropWindow) && t.p.Members == 1:
		default:
			return failf("%v was not reached", r)
		}
	}
	return nil
}

// old is what becomes of data that was taken before.
func (t *T) old() inc.Counter {
	if t.pipes() {
		return inc.RxDuplicate
	}
	return inc.DropStale
}

// dropsOfRoles ends scenDrops in Mode III: endpoint 0 contributes no more, but hears.
func (g *group) dropsOfRoles(try func(what string, want inc.Counter, f portFrame, rxErr bool) error, reached map[inc.Counter]bool) error {
	t, start := g.t, g.set.Start
	if err := try("data without the role", inc.DropWrongRole, g.data(0, start, g.noise(16)), false); err != nil {
		return err
	}
	g.set.InMask, g.set.OutMask = g.set.InMask|1, g.set.OutMask&^1
	if err := g.program(); err != nil {
		return err
	}
	for _, syndrome := range []uint8{0x1F, 0x60, 0x21, 0x40} {
		if err := try("an answer without the role", inc.DropWrongRole, g.aeth(0, start, syndrome), false); err != nil {
			return err
		}
	}
	if err := try("a CNP", inc.RxCnp, g.cnp(0, 0), false); err != nil {
		return err
	}
	g.set.OutMask, g.set.Collective = g.set.OutMask|1, inc.CollectiveBarrier
	if err := g.program(); err != nil {
		return err
	}
	if err := try("payload in a barrier", inc.DropBadLength, g.data(0, start, g.noise(16)), false); err != nil {
		return err
	}
	if err := g.e.drv.Disable(g.index); err != nil {
		return err
	}
	for _, f := range []portFrame{g.data(0, start, g.noise(16)), g.aeth(0, start, 0x1F)} {
		if err := try("disabled group", inc.DropGroupDisabled, f, false); err != nil {
			return err
		}
	}
	for r := inc.DropForeign; r <= inc.DropShape; r++ {
		switch {
		case reached[r], r == inc.DropStale, r == inc.DropWindow, r == inc.DropICRC && !t.p.ICRCCheck, r == inc.DropShape && t.p.Members == 1:
		default:
			return failf("%v was not reached", r)
		}
	}
	if t.p.Members > 1 && !reached[inc.DropFull] || !reached[inc.DropStaleAck] || !reached[inc.RxDuplicate] {
		return failf("not all was reached: %v", reached)
	}
	return nil
}

// scenBypass sends what is not the engine's: it leaves unchanged by the port the register says, in order, between engine
// traffic, and neither kind waits for the other.
func scenBypass(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	g, err := e.newGroup(0, 1, t.p.Members, false)
	if err != nil {
		return err
	}
	bypassed := 0
	e.OnAccept = func(a dut.Accepted, changed []inc.Counter) error {
		if slices.Contains(changed, inc.Bypass) {
			bypassed++
		}
		return nil
	}
	sent := 0
	offer := func(port int, b []byte, rxErr bool) {
		e.Offer(port, dut.Frame{Data: b, Err: rxErr})
		sent++
	}
	for round := range 3 {
		if round > 0 {
			for p := range t.p.Ports {
				if err := e.drv.Write("BYPASS_PORT", p, uint32(t.rng.IntN(t.p.Ports))); err != nil {
					return err
				}
			}
			e.SetPauses(dut.Pauses{Seed: t.rng.Uint64(), In: 0.2, Ready: 0.3, Burst: 5})
		}
		for n := 1; n <= 200+t.p.BusBytes; n++ { // every short length
			b := t.words(n/4 + 1)[:n]
			if n > 12 {
				b[12] = 0x88
			}
			offer(t.rng.IntN(t.p.Ports), b, t.rng.IntN(20) == 0)
			if n%16 == 0 {
				if _, err := e.settle(); err != nil {
					return err
				}
			}
		}
		for _, b := range t.strangers(g) {
			offer(t.rng.IntN(t.p.Ports), b, false)
			offer(t.rng.IntN(t.p.Ports), slices.Clone(b), true)
		}
		for _, n := range []int{1514, 1518, t.p.MTUBytes + 62, t.p.MTUBytes + 100} {
			b := t.words(n/4 + 1)[:n]
			b[12], b[13] = 0x86, 0xDD
			offer(t.rng.IntN(t.p.Ports), b, false)
		}
		if _, err := e.settle(); err != nil {
			return err
		}
		if bypassed != sent {
			return failf("%d of %d strangers were bypassed", bypassed, sent)
		}
	}
	// Foreign frames by register.
	if err := e.drv.Write("CTRL", 0, 3); err != nil {
		return err
	}
	f := g.data(0, g.set.Start, g.noise(16), func(p *roce.Packet) { p.SrcIP[3] ^= 1 })
	offer(f.port, f.data, false)
	if _, err := e.settle(); err != nil {
		return err
	}
	if bypassed != sent {
		return failf("foreign_bypass is set and a foreign frame was not bypassed")
	}
	if err := e.drv.Write("CTRL", 0, 1); err != nil {
		return err
	}
	return t.bypassFairness(e, g)
}

// bypassFairness loads one port with reflected ACKs and strangers while its sink is slow; in no stretch of the output may one
// kind keep the other out.
func (t *T) bypassFairness(e *engine, g *group) error {
	port := g.ends[0].Port
	if err := e.drv.Write("BYPASS_PORT", port, uint32(port)); err != nil {
		return err
	}
	e.SetPauses(dut.Pauses{Seed: 1, Ready: 0.5, Burst: 4})
	const each = 200
	e.mute = true
	for range each {
		f := g.aeth(0, g.set.Start, 0x1F)
		if t.pipes() { // data taken before, which is answered
			f = g.data(0, g.set.Start.Prev(), nil)
		}
		e.Offer(port, dut.Frame{Data: f.data})
		b := t.words(16)[:62]
		b[12] = 0x08
		b[13] = 0x06
		e.Offer(port, dut.Frame{Data: b})
	}
	outs, err := e.settle()
	if err != nil {
		return err
	}
	e.mute = false
	run, longest, last := 0, 0, false
	for _, o := range outs {
		if o.Port != port {
			continue
		}
		arp := o.Data[13] == 0x06
		if run++; arp != last {
			run = 1
		}
		last = arp
		longest = max(longest, run)
	}
	t.values["bypass_longest_run"] = uint64(longest)
	if len(outs) != 2*each || longest > 32 {
		return failf("of %d frames that came in in turns, %d left, the longest run of one kind has %d", 2*each, len(outs), longest)
	}
	e.SetPauses(dut.Pauses{})
	if err := t.bypassAmongCopies(e, g); err != nil {
		return err
	}
	return t.bypassBehindPayload(e)
}

// bypassBehindPayload mixes the longest packets from a parent with long strangers while the sinks are slow, so that the buffers
// are full of packets whose copies cannot leave before a stranger that is still coming in.
func (t *T) bypassBehindPayload(e *engine) error {
	const packets = 16
	g, err := e.newGroup(0, 1, t.p.Members, true)
	if err != nil {
		return err
	}
	e.SetPauses(dut.Pauses{Seed: t.rng.Uint64(), Ready: 0.3, Burst: 8})
	var outs []dut.Out
	for k := range packets {
		if t.pipes() && k > 0 && k%g.mw() == 0 { // a pipe is full until its copies are acknowledged
			o, err := e.settle()
			if err != nil {
				return err
			}
			outs = append(outs, o...)
		}
		f := g.data(g.parent, g.set.Start.Add(k), g.noise(t.p.MTUBytes))
		e.send(f.port, f.data)
		// RDMA of somebody else's: to the engine it looks like its own until its QPN is looked up
		b := g.data(g.parent, g.set.Start, g.noise(t.p.MTUBytes), func(p *roce.Packet) { p.DestQP ^= 0x800000 })
		e.send((f.port+k)%t.p.Ports, b.data)
	}
	o, err := e.settle()
	if err != nil {
		return err
	}
	outs = append(outs, o...)
	if want := packets * (t.p.Members + 1); len(outs) != want {
		return failf("%d frames left, expected %d", len(outs), want)
	}
	e.SetPauses(dut.Pauses{})
	return nil
}

// bypassAmongCopies has a few strangers arrive behind contributions whose results are many more frames than came in: they must
// leave among the copies, not behind them all.
func (t *T) bypassAmongCopies(e *engine, g *group) error {
	const strangers = 3
	window, last := g.mw(), len(g.ends)-1
	backlog := window * (len(g.ends) - 1) // copies that wait when the strangers arrive
	if backlog < 4*strangers || t.oneQueue {
		return nil
	}
	for k := range window {
		for c := range last {
			f := g.data(c, g.set.Start.Add(k), g.noise(4))
			e.send(f.port, f.data)
		}
	}
	if _, err := e.settle(); err != nil {
		return err
	}
	for k := range window {
		f := g.data(last, g.set.Start.Add(k), g.noise(4))
		e.send(f.port, f.data)
	}
	isStranger := func(b []byte) bool { return b[12] == 0x08 && b[13] == 0x06 }
	var arrived uint64 // the last stranger
	e.OnAccept = func(a dut.Accepted, _ []inc.Counter) error {
		if isStranger(a.Data) {
			arrived = a.At
		}
		return nil
	}
	port := g.ends[last].Port
	for range strangers {
		b := t.words(16)[:62]
		b[12], b[13] = 0x08, 0x06
		e.send(port, b)
	}
	outs, err := e.settle()
	if err != nil {
		return err
	}
	if want := window*len(g.ends) + strangers; len(outs) != want {
		return failf("%d frames left, expected %d", len(outs), want)
	}
	slices.SortStableFunc(outs, func(a, b dut.Out) int { return cmp.Compare(a.First, b.First) })
	waiting, behind := 0, 0 // copies that left after the last stranger had come in, and after it had left
	for _, o := range outs {
		switch {
		case isStranger(o.Data):
			behind = 0
		case o.First > arrived:
			waiting++
			behind++
		}
	}
	t.values["bypass_copies_behind"] = uint64(behind)
	if waiting > strangers+1 && behind == 0 {
		return failf("the last of %d strangers left behind all of the %d copies that waited when it came in", strangers, waiting)
	}
	return nil
}

// strangers are frames that are not the engine's, one of each kind that docs/engine.md section 3 names.
func (t *T) strangers(g *group) [][]byte {
	good := func() []byte { return g.data(0, g.set.Start, g.noise(16)).data }
	with := func(change func(b []byte)) []byte {
		b := good()
		change(b)
		roce.Reseal(b)
		return b
	}
	vlan := slices.Insert(good(), 12, 0x81, 0x00, 0x00, 0x05)
	arp := append(slices.Clone(good()[:12]), 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1)
	arp = append(arp, make([]byte, 38)...)
	return [][]byte{
		vlan, arp,
		with(func(b []byte) { b[12], b[13] = 0x86, 0xDD }), // IPv6 by EtherType
		with(func(b []byte) { b[14] = 0x65 }),              // version 6 in IPv4's EtherType
		with(func(b []byte) { b[14] = 0x46 }),              // options
		with(func(b []byte) { b[23] = 6 }),                 // TCP
		with(func(b []byte) { b[20] |= 0x20 }),             // more fragments
		with(func(b []byte) { b[21] = 1 }),                 // an offset
		with(func(b []byte) { b[20] |= 0x10 }),             // the offset's uppermost bit
		with(func(b []byte) { b[36], b[37] = 0x12, 0xB6 }), // port 4790
		with(func(b []byte) { b[34], b[36] = 0x12, 0 }),    // source port alone does not make it RoCE
		with(func(b []byte) { b[47] ^= 0x80 }),             // the record exists, its QPN is another
		good()[:53], good()[:14], good()[:1],
		with(func(b []byte) { b[22] = 0; b[47] ^= 0x40 }), // TTL 0 is nobody's business here
	}
}

// scenControl writes settings at random, legal and illegal, to one group while the others, if any, carry traffic, and checks
// what enabling makes of them by sending something.
func scenControl(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	count := min(maxGroups(t.p), 4)
	groups := make([]*group, count)
	for i := range groups {
		if groups[i], err = e.newGroup(i, count, t.p.Members, false); err != nil {
			return err
		}
	}
	progress := make([]int, count)
	legal := groups[0].set
	for _, bad := range illegalGroups(t, legal) {
		if err := e.drv.Disable(0); err != nil {
			return err
		}
		if err := e.drv.SetGroup(0, bad); err != nil {
			return err
		}
		ok, err := e.drv.Enable(0)
		if err != nil {
			return err
		}
		if ok {
			return failf("illegal settings were enabled: %+v", bad)
		}
		if outs, err := e.exchange(groups[0].data(0, legal.Start, groups[0].noise(8))); err != nil || len(outs) > 0 {
			return failf("a group with illegal settings answered with %d frames (%v)", len(outs), err)
		}
	}
	if err := groups[0].program(); err != nil {
		return err
	}
	for range 60 {
		i := t.rng.IntN(count)
		g := groups[i]
		if count > 1 { // traffic of another group goes on meanwhile
			o := groups[(i+1)%count]
			k := (i + 1) % count
			for _, c := range o.members() {
				f := o.data(c, o.set.Start.Add(progress[k]), o.noise(16))
				e.send(f.port, f.data)
			}
			progress[k]++
		}
		switch t.rng.IntN(6) {
		case 0:
			if err := e.drv.ResetGroup(i); err != nil {
				return err
			}
			progress[i] = 0
		case 1, 2: // new settings, a subset of members, another place in the buffer
			g.set.InMask = uint32(1+t.rng.IntN(1<<t.p.Members-1)) & (1<<t.p.Members - 1)
			g.set.OutMask, g.set.AckMask = g.set.InMask, g.set.InMask
			g.set.Start = roce.PSN(t.rng.Uint32() & 0xFFFFFF)
			g.setKind(t.nextKind(count))
			room, wide := max(t.room(count), 2), g.kind().DType.Wide()
			g.set.Log2N = 1 + t.rng.IntN(t.maxLog2N(count, wide))
			units := 1 << g.set.Log2N
			if wide {
				units *= 2
			}
			g.set.SlotBase = i*room + t.rng.IntN(room-units+1)
			if err := g.program(); err != nil {
				return err
			}
			progress[i] = 0
		case 3:
			if _, err := e.settle(); err != nil { // a packet inside the engine may leave with either value
				return err
			}
			if err := e.drv.Write("IP_ID", 0, t.rng.Uint32()); err != nil {
				return err
			}
			if _, err := e.settle(); err != nil {
				return err
			}
		case 4: // writing enable to an enabled group does nothing
			if err := e.drv.Write("GROUP_CTRL", i, 1); err != nil {
				return err
			}
		case 5:
			if _, err := e.drv.Counters(); err != nil {
				return err
			}
		}
		if _, err := e.settle(); err != nil {
			return err
		}
		if err := g.complete(g.set.Start.Add(progress[i])); err != nil {
			return err
		}
		progress[i]++
	}
	return nil
}

// scenRegisters reads and writes every register: values after reset, read-back of random values under the fields' masks, read-only
// ones unmoved, and values after a second reset that comes in the middle of traffic.
func scenRegisters(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	for addr := uint32(0); ; addr += 4 { // the first address that is no register's answers with an error and does no harm
		if _, _, ok := t.man.Find(addr); ok {
			continue
		}
		if _, err := e.DUT.Read(addr); err == nil {
			return failf("reading address %#x, where no register is, succeeds", addr)
		}
		if err := e.DUT.Write(addr, t.rng.Uint32()); err == nil {
			return failf("writing address %#x, where no register is, succeeds", addr)
		}
		break
	}
	readAll := func(when string) error {
		for i := range t.man.Registers {
			r := &t.man.Registers[i]
			for k := range r.Size() {
				if r.Size() > 64 && k >= 8 && k < r.Size()-8 && t.rng.IntN(16) != 0 {
					continue // a sample of long tables
				}
				if _, err := e.drv.Read(r.Name, k); err != nil { // the board compares
					return failf("%s: %w", when, err)
				}
			}
		}
		return nil
	}
	if err := readAll("after reset"); err != nil {
		return err
	}
	written := func() error {
		for i := range t.man.Registers {
			r := &t.man.Registers[i]
			for k := range r.Size() {
				if r.Name == "GROUP_CTRL" {
					continue
				}
				v := t.rng.Uint32()
				if r.Name == "ECC_INJECT" {
					v = 0 // anything else is the business of scenario ecc
				}
				if err := e.drv.Write(r.Name, k, v); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for range 2 {
		if err := written(); err != nil {
			return err
		}
		if err := readAll("after writing"); err != nil {
			return err
		}
	}
	for round := range 3 { // reset with everything away from its reset value, in the middle of traffic
		// Before the traffic: what a packet inside the engine makes of a new value is nobody's business.
		if err := e.drv.Write("IP_ID", 0, 0xFFFF); err != nil {
			return err
		}
		if err := e.drv.Write("CTRL", 0, 2); err != nil {
			return err
		}
		for p := range t.p.Ports {
			if err := e.drv.Write("BYPASS_PORT", p, uint32((p+1)%t.p.Ports)); err != nil {
				return err
			}
		}
		g, err := e.newGroup(0, 1, t.p.Members, false)
		if err != nil {
			return err
		}
		for k := range min(2*g.mw(), 64) { // more than goes in before the reset
			for _, c := range g.members() {
				f := g.data(c, g.set.Start.Add(k), g.noise(4*(t.rng.IntN(t.p.MTUBytes/4))))
				e.send(f.port, f.data)
			}
			e.send(0, t.words(20))
		}
		if round == 2 {
			e.SetPauses(dut.Pauses{Seed: 3, Ready: 0.9, Burst: 30})
		}
		for step := t.rng.IntN(30); step >= 0; step-- {
			if err := e.StepTo(e.Now() + uint64(1+t.rng.IntN(8*t.mtuBeats()))); err != nil {
				return err
			}
			e.Out()
		}
		if err := e.Reset(); err != nil {
			return err
		}
		e.SetPauses(dut.Pauses{})
		if err := readAll("after a reset in traffic"); err != nil {
			return err
		}
		if _, err := e.settle(); err != nil { // what still waited at the ports finds no group
			return err
		}
		if g, err = e.newGroup(0, 1, t.p.Members, false); err != nil {
			return err
		}
		for k := range 3 {
			if err := g.complete(g.set.Start.Add(k)); err != nil {
				return failf("after a reset in traffic: %w", err)
			}
		}
		if _, err := e.Finish(); err != nil {
			return err
		}
		if err := e.drv.Disable(0); err != nil {
			return err
		}
	}
	return nil
}

// scenRandom drives one group with frames chosen by what the reference's slots might be in: duplicates, gaps, stale ones, ACKs of
// all kinds, in bursts on all ports at once, with hesitating interfaces.
func scenRandom(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	g, err := e.newGroup(0, 1, t.p.Members, false, withStart(roce.PSN(0).Add(-40)), withLog2N(1+t.rng.IntN(4)))
	if err != nil {
		return err
	}
	pos := make([]int, len(g.ends))
	rounds := 200
	if t.long {
		rounds = 1000
	}
	for range rounds {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		e.SetPauses(dut.Pauses{Seed: t.rng.Uint64(), In: 0.5 * t.rng.Float64(), Ready: 0.6 * t.rng.Float64(), Burst: 1 + t.rng.IntN(10)})
		for range 10 + t.rng.IntN(40) {
			c := t.rng.IntN(len(g.ends))
			slowest := slices.Min(pos)
			var f portFrame
			switch k := t.rng.IntN(12); {
			case k < 7 && pos[c] < slowest+g.mw():
				f = g.shaped(c, pos[c])
				pos[c]++
			case k == 7:
				f = g.shaped(c, pos[c]-1-t.rng.IntN(2*g.mw()+1))
			case k == 8:
				f = g.shaped(c, pos[c]+1+t.rng.IntN(4*g.mw()))
			case k == 9:
				f = g.shaped(c, pos[c]+1<<t.rng.IntN(24))
			default:
				f = g.aeth(c, g.set.Start.Add(pos[c]-1-t.rng.IntN(3)), []uint8{0x1F, 0x60, 0x3F}[t.rng.IntN(3)])
			}
			e.send(f.port, f.data)
		}
		if _, err := e.settle(); err != nil {
			return err
		}
		// What the endpoints believe may be wrong by now (a packet ahead of its window was dropped): ask the reference.
		slowest := slices.Min(pos)
		for c := range pos {
			pos[c] = min(pos[c], slowest+g.mw()-1)
		}
	}
	return nil
}

// shaped is packet k of endpoint c, its shape a function of k.
func (g *group) shaped(c, k int) portFrame {
	r := rand.New(rand.NewPCG(uint64(int64(k)), g.t.seed))
	op, elements := roce.Opcode(r.IntN(6)), r.IntN(min(g.t.p.MTUBytes/g.size(), 2*g.t.p.BusBytes)+1)
	return g.data(c, g.set.Start.Add(k), g.noise(elements*g.size()), func(p *roce.Packet) { p.Op = op })
}
