// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"cmp"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func bypass(t *rig.T) {
	g := t.Star()
	e := g.E
	s := &strangers{e: e}
	for round := range 3 {
		if round > 0 {
			for p := range t.Params.Ports {
				t.Check(e.Ctl.SetBypassPort(p, t.Rand.IntN(t.Params.Ports)))
			}
			e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), In: 0.2, Ready: 0.3, Burst: 5})
		}
		s.short()
		for _, b := range kinds(g) {
			s.send(s.byAny(b))
			s.send(damaged(s.byAny(slices.Clone(b)), func(f *rig.Frame) { f.Err = true }))
		}
		s.long()
		if t.Params.PortBytes == 0 { // one that is the engine's, and dropped for its length
			e.Put(g.Data(0, g.Start(), g.Noise(jumbo(t))))
		}
		s.long()
		s.allBypassed("strangers")
	}
	t.Check(e.Ctl.SetOptions(true, true))
	for _, foreign := range []func(p *roce.Packet){func(p *roce.Packet) { p.SrcIP[3] ^= 1 }, func(p *roce.Packet) { p.DstIP[3] ^= 1 },
		func(p *roce.Packet) { p.PKey ^= 1 }} {
		s.send(first(g, foreign))
		s.allBypassed("a foreign frame, though foreign_bypass is set")
	}
	t.Check(e.Ctl.SetOptions(true, false))
	if t.Params.PortDrop { // what follows has more wait for a port than its queue holds
		return
	}
	fairness(g)
	withoutGaps(g)
	ofOneBeat(g)
	rightBehind(g)
	besideAdders(g)
	amongCopies(g)
	aheadOfWords(t)
	behindPayload(e)
	if t.Pipes() && !t.Messages() && !t.OneQueue && rig.NeedBare(t.Params) == "" {
		shortest(t)
	}
}

// strangers are frames that are not the engine's, and how many were sent.
type strangers struct {
	e    *rig.Engine
	sent uint64
}

// send sends a frame. One that the ports would drop goes without its error bit.
func (s *strangers) send(f rig.Frame) {
	f.Err = f.Err && s.e.TakesErrors()
	if s.e.Full(f) {
		s.e.Settle()
	}
	s.e.Put(f)
	s.sent++
}

// byAny is a frame that comes in by any port.
func (s *strangers) byAny(b []byte) rig.Frame {
	return rig.Frame{Data: b, Port: s.e.T.Rand.IntN(s.e.T.Params.Ports)}
}

func (s *strangers) allBypassed(what string) {
	s.e.Settle()
	if n := s.e.Reference().Engine().Counters()[inc.Bypass]; n != s.sent {
		s.e.T.Fatalf("%s: %d of %d frames so far were bypassed", what, n, s.sent)
	}
}

// short sends every length from 1 byte on, some frames with the error bit.
func (s *strangers) short() {
	t := s.e.T
	for n := 1; n <= 200+t.Params.BusBytes; n++ {
		b := t.Words(n/4 + 1)[:n]
		if n > 12 {
			b[12] = 0x88
		}
		s.send(damaged(s.byAny(b), func(f *rig.Frame) { f.Err = t.Rand.IntN(20) == 0 }))
		if n%16 == 0 {
			s.e.Settle()
		}
	}
}

// long sends IPv6 about as long as Ethernet's and the engine's longest frames; and where the ports take any, longer than what the engine
// keeps of all that came in.
func (s *strangers) long() {
	t := s.e.T
	lengths := []int{1514, 1518, t.Params.MTUBytes + 62, t.Params.MTUBytes + 100}
	if t.Params.PortBytes == 0 {
		lengths = append(lengths, jumbo(t), jumbo(t)+t.Params.BusBytes/2)
	}
	for _, n := range lengths {
		b := t.Words(n/4 + 1)[:n]
		b[12], b[13] = 0x86, 0xDD
		s.send(s.byAny(b))
	}
}

// jumbo is the length of a frame that is longer than the ring of what came in, if IP allows such.
func jumbo(t *rig.T) int { return min(5*t.Params.MTUBytes+100, 60000) }

// kinds are frames that are not the engine's, one of each kind that docs/engine.md section 3 names.
func kinds(g *rig.Group) [][]byte {
	with := func(change func(b []byte)) []byte {
		return resealed(first(g), func(f *rig.Frame) { change(f.Data) }).Data
	}
	vlan := slices.Insert(first(g).Data, 12, 0x81, 0x00, 0x00, 0x05)
	if g.T.Params.VLAN { // which takes one tag
		vlan = slices.Insert(vlan, 12, 0x81, 0x00, 0x00, 0x05)
	}
	arp := append(slices.Clone(first(g).Data[:12]), 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1)
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
		first(g).Data[:53], first(g).Data[:14], first(g).Data[:1],
		with(func(b []byte) { b[22] = 0; b[47] ^= 0x40 }), // TTL 0 is nobody's business here
	}
}

func isARP(b []byte) bool { return b[12] == 0x08 && b[13] == 0x06 }

// fairness loads one port with frames that the engine answers and strangers, in turns, while its sink is slow; in no stretch of the output
// may one kind keep the other out.
func fairness(g *rig.Group) {
	const each, longestRun = 200, 32
	t, e := g.T, g.E
	port := g.Ends[0].Port
	t.Check(e.Ctl.SetBypassPort(port, port))
	e.SetPauses(dut.Pauses{Seed: 1, Ready: 0.5, Burst: 4})
	for range each {
		e.Put(drawsAnswer(g), t.ARP(port))
	}
	outs := e.SettleAsIs()
	run, longest, last := 0, 0, false
	for _, o := range outs {
		if run++; isARP(o.Data) != last {
			run = 1
		}
		last = isARP(o.Data)
		longest = max(longest, run)
	}
	t.Values["bypass_longest_run"] = uint64(longest)
	if len(outs) != 2*each || longest > longestRun {
		t.Fatalf("of %d frames that came in in turns, %d left, the longest run of one kind has %d", 2*each, len(outs), longest)
	}
	e.SetPauses(dut.Pauses{})
}

// withoutGaps has strangers, and then answers, wait until a port takes something: then one leaves right behind the other, with no cycle lost. A frame has so
// many beats that the next can be made meanwhile.
func withoutGaps(g *rig.Group) {
	const rounds, frames, least = 4, 8, 8
	t, e := g.T, g.E
	if t.OneQueue || rig.NeedBare(t.Params) != "" || t.Params.Beats(62) < least { // the reference has cycles of its own
		return
	}
	for range rounds {
		answered := drawsAnswer(g)
		for _, f := range []rig.Frame{t.ARP(g.Ends[0].Port), answered} {
			e.SetPauses(dut.Pauses{Ready: 1})
			for range frames {
				e.Put(f)
			}
			e.StepTo(e.Now() + uint64(frames*(t.Params.Beats(len(f.Data))+32)+t.Rand.IntN(4)))
			e.SetPauses(dut.Pauses{})
			outs := e.SettleAsIs()
			for i, o := range outs {
				if last := o.First + uint64(t.Params.Beats(len(o.Data))) - 1; o.Last != last || i > 0 && o.First != outs[i-1].Last+1 {
					t.Fatalf("frame %d of %d that waited left in cycles %d to %d, the one before until %d", i, len(outs), o.First, o.Last, outs[max(i-1, 0)].Last)
				}
			}
			if len(outs) != frames {
				t.Fatalf("%d frames left, expected %d", len(outs), frames)
			}
		}
	}
}

// ofOneBeat has strangers of one beat come in without a pause: each takes one cycle of the decision, so one leaves in nearly every cycle; on a bus so narrow that no
// frame of Ethernet's is so short each takes two.
func ofOneBeat(g *rig.Group) {
	const frames = 120
	t, e := g.T, g.E
	most := uint64(136 * (t.Params.FramePace() - 1))
	if t.OneQueue || rig.NeedBare(t.Params) != "" {
		return
	}
	e.SetPauses(dut.Pauses{})
	for range frames {
		e.Put(rig.Frame{Port: g.Ends[0].Port, Data: t.Words(2)})
	}
	outs := e.SettleAsIs()
	if len(outs) != frames {
		t.Fatalf("%d frames of a beat left, expected %d", len(outs), frames)
	}
	if took := outs[frames-1].Last - outs[0].First; took >= most {
		t.Fatalf("%d frames of a beat left within %d cycles, expected fewer than %d", frames, took, most)
	}
}

// rightBehind has a stranger of one beat some cycles behind the begin of a frame that is answered, so that it once leaves in the cycle before the answer is
// there: the answer leaves as long after its frame as ever, or in the cycle behind the stranger.
func rightBehind(g *rig.Group) {
	const cycles = 48
	t, e := g.T, g.E
	if t.OneQueue || rig.NeedBare(t.Params) != "" {
		return
	}
	answered := drawsAnswer(g)
	takes := uint64(0)
	for wait := range uint64(cycles) {
		came := uint64(0)
		e.OnAccept = func(a dut.Frame, _ []inc.Counter) { came = cmp.Or(came, a.Last) }
		e.Put(answered)
		if wait > 0 {
			e.Offer(answered.Port, dut.Frame{First: e.Now() + wait, Data: t.Words(2)})
		}
		outs := e.SettleAsIs()
		i := slices.IndexFunc(outs, func(o dut.Frame) bool { return len(o.Data) > 8 })
		if len(outs) != int(min(wait, 1))+1 || i < 0 {
			t.Fatalf("%d frames left, expected a stranger and an answer", len(outs))
		}
		answer, want := outs[i], came+takes
		for _, o := range outs[:i] {
			want = max(want, o.Last+1)
		}
		if wait == 0 {
			takes = answer.First - came
		} else if answer.First > want {
			t.Fatalf("with a stranger %d cycles behind its frame's begin an answer left in cycle %d, expected %d", wait, answer.First, want)
		}
	}
	e.OnAccept = nil
}

// besideAdders has contributions come in while strangers of one beat wait until a port takes something. The adders have nothing to wait for: so the first copy of
// the result that the last of them completes leaves without a bubble, but for one for each stranger, whose beat is read in place of a word. Adders that take no
// word a cycle, or get one in place of another's write, have bubbles of their own.
func besideAdders(g *rig.Group) {
	const strangers, more = 8, 2
	t, e, m := g.T, g.E, g.Members()
	slow := t.Params.Reproducible() || g.Size()*t.Params.Lanes < t.Params.BusBytes || t.Params.PayloadBanks > 1
	if slow || t.OneQueue || rig.NeedBare(t.Params) != "" || g.MW() <= more || len(m) < 2 {
		return
	}
	last := len(m) - 1
	for _, c := range m[:last] {
		e.Put(g.Data(c, g.PSN(0), g.Noise(t.Params.MTUBytes)))
	}
	e.Settle()
	e.SetPauses(dut.Pauses{Ready: 1})
	for range strangers {
		e.Put(rig.Frame{Port: g.Ends[0].Port, Data: t.Words(2)})
	}
	for k := range more {
		e.Put(g.Data(m[0], g.PSN(1+k), g.Noise(t.Params.MTUBytes)))
	}
	comeIn(e)
	e.Put(g.Data(m[last], g.PSN(0), g.Noise(t.Params.MTUBytes)))
	comeIn(e)
	e.SetPauses(dut.Pauses{})
	outs := e.Settle()
	i := slices.IndexFunc(outs, func(o dut.Frame) bool { return len(o.Data) > t.Params.MTUBytes })
	if i < 0 {
		t.Fatalf("of %d frames that left none is a result", len(outs))
	}
	if o := outs[i]; o.Last-o.First >= uint64(t.Params.Beats(len(o.Data))+strangers) {
		t.Fatalf("a result of %d bytes left in cycles %d to %d, with %d strangers that were read meanwhile at most", len(o.Data), o.First, o.Last, strangers)
	}
	g.Reset()
}

// comeIn runs the engine until all frames have come in, or no more do.
func comeIn(e *rig.Engine) {
	for end := e.Now() + uint64(8*e.T.MTUBeats()); e.Waiting() > 0 && e.Now() < end; {
		e.StepTo(e.Now() + 1)
	}
}

// aheadOfWords has contributions of one word come in while a long stranger, which reads what came in in their place, waits until a port takes something: when it
// has left, they are added one right behind the other.
func aheadOfWords(t *rig.T) {
	const rounds = 4
	g := t.Star()
	e := g.E
	for k := range rounds {
		m := t.Shuffled(g.Members())
		r := g.Round(g.PSN(k), 4).Draw(m...)
		e.SetPauses(dut.Pauses{Ready: 1})
		e.Put(rig.Frame{Port: g.Ends[m[0]].Port, Data: t.Words(t.Params.MTUBytes / 4 / (1 + k))})
		comeIn(e)
		for _, c := range m {
			e.Put(r.Frame(c))
		}
		comeIn(e)
		e.SetPauses(dut.Pauses{})
		e.Settle()
	}
}

// amongCopies has a few strangers arrive behind contributions whose results are many more frames than came in: they must leave among the
// copies, not behind them all.
func amongCopies(g *rig.Group) {
	const count = 3
	t, e := g.T, g.E
	window, last := g.MW(), len(g.Ends)-1
	backlog := window * (len(g.Ends) - 1) // copies that wait when the strangers arrive
	if backlog < 4*count || t.OneQueue {
		return
	}
	for k := range window {
		for c := range last {
			e.Put(g.Data(c, g.PSN(k), g.Noise(4)))
		}
	}
	e.Settle()
	for k := range window {
		e.Put(g.Data(last, g.PSN(k), g.Noise(4)))
	}
	var arrived uint64 // the last stranger
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) {
		if isARP(a.Data) {
			arrived = a.Last
		}
	}
	for range count {
		e.Put(t.ARP(g.Ends[last].Port))
	}
	outs := e.Settle()
	if want := window*len(g.Ends) + count; len(outs) != want {
		t.Fatalf("%d frames left, expected %d", len(outs), want)
	}
	slices.SortStableFunc(outs, func(a, b dut.Frame) int { return cmp.Compare(a.First, b.First) })
	waiting, behind := 0, 0 // copies that left after the last stranger had come in, and after it had left
	for _, o := range outs {
		switch {
		case isARP(o.Data):
			behind = 0
		case o.First > arrived:
			waiting++
			behind++
		}
	}
	t.Values["bypass_copies_behind"] = uint64(behind)
	if waiting > count+1 && behind == 0 {
		t.Fatalf("the last of %d strangers left behind all of the %d copies that waited when it came in", count, waiting)
	}
}

// behindPayload mixes the longest packets from a parent with long strangers while the sinks are slow, so that the buffers are full of
// packets whose copies cannot leave before a stranger that is still coming in.
func behindPayload(e *rig.Engine) {
	const packets = 16
	t := e.T
	g := e.Group(0, 1, t.Params.Members, true)
	e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.3, Burst: 8})
	var outs []dut.Frame
	for k := range packets {
		if t.Pipes() && k > 0 && k%g.MW() == 0 { // a pipe is full until its copies are acknowledged
			outs = append(outs, e.Settle()...)
		}
		own := g.Data(g.Parent, g.PSN(k), g.Noise(t.Params.MTUBytes))
		// RDMA of somebody else's: to the engine it looks like its own until its QPN is looked up
		stranger := g.Data(g.Parent, g.Start(), g.Noise(t.Params.MTUBytes), func(p *roce.Packet) { p.DestQP ^= 0x800000 })
		stranger.Port = (own.Port + k) % t.Params.Ports
		e.Put(own, stranger)
	}
	outs = append(outs, e.Settle()...)
	if want := packets * (t.Params.Members + 1); len(outs) != want {
		t.Fatalf("%d frames left, expected %d", len(outs), want)
	}
	e.SetPauses(dut.Pauses{})
}

// shortest has strangers of one beat come in behind contributions of the longest whose results wait for one another: from its decision on, which a Mode III
// engine tells, each waits for the copy that leaves, and for one that began meanwhile, and no longer.
func shortest(t *rig.T) {
	const most = 2 // copies
	g := t.Star()
	e, m := g.E, g.Members()
	last := m[len(m)-1]
	e.Mute = true
	for k := range g.MW() {
		for _, c := range m[:len(m)-1] {
			e.Put(g.Data(c, g.PSN(k), g.Noise(t.Params.MTUBytes)))
		}
	}
	e.SettleAsIs()
	for k := range g.MW() {
		e.Put(g.Data(last, g.PSN(k), g.Noise(t.Params.MTUBytes)), rig.Frame{Port: g.Ends[last].Port, Data: t.Words(2)})
	}
	var decided []uint64
	e.OnAccept = func(_ dut.Frame, changed []inc.Counter) {
		if slices.Contains(changed, inc.Bypass) {
			decided = append(decided, e.Now())
		}
	}
	for end := e.Now() + uint64(g.MW()*(len(m)+2)*(t.MTUBeats()+32)); e.Now() < end; {
		e.StepTo(e.Now() + 1)
	}
	e.OnAccept = nil
	copies, left := []uint64{}, 0
	for _, o := range e.SettleAsIs() {
		if len(o.Data) > t.Params.MTUBytes {
			copies = append(copies, o.First)
			continue
		}
		if len(o.Data) > 8 {
			continue // an answer
		}
		waited := 0
		for _, first := range copies {
			if first > decided[left] && first < o.First {
				waited++
			}
		}
		if left++; waited > most {
			t.Fatalf("stranger %d, decided in cycle %d, left in cycle %d, behind %d copies that began meanwhile", left, decided[left-1], o.First, waited)
		}
	}
	if left != g.MW() {
		t.Fatalf("%d strangers left, expected %d", left, g.MW())
	}
}

// drawsAnswer is a frame that draws an answer whenever it comes: an ACK, which Mode II returns; in Modes III and I data taken before.
func drawsAnswer(g *rig.Group) rig.Frame {
	if g.T.Pipes() {
		return g.Data(0, g.Start().Prev(), nil)
	}
	return g.Ack(0, g.Start())
}
