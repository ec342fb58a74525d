// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// star is one engine with one group over all members.
func (t *T) star(opts ...groupOption) (*group, error) {
	e, err := t.newEngine()
	if err != nil {
		return nil, err
	}
	return e.newGroup(0, 1, t.p.Members, false, opts...)
}

// expectTo checks that exactly the endpoints of to got one frame each, in any order, with this opcode, PSN and payload, and
// the headers of their endpoint. It is written apart from the reference, from docs/engine.md section 4.
func (g *group) expectTo(outs []dut.Out, to []int, op roce.Opcode, psn roce.PSN, payload []byte) error {
	if len(outs) != len(to) {
		return failf("%d frames left, expected %d %v with PSN %v", len(outs), len(to), op, psn)
	}
	seen := map[uint32]int{}
	for _, o := range outs {
		p, err := roce.Decode(o.Data)
		if err != nil {
			return failf("a frame left that does not decode: %w", err)
		}
		if !roce.CheckICRC(o.Data) || len(o.Data) < 60 || o.Err {
			return failf("a frame left with a bad ICRC, fewer than 60 bytes (%d), or error bit (%v)", len(o.Data), o.Err)
		}
		c := g.addressee(o.Port, &p)
		if c < 0 {
			return failf("a frame left by port %d that has no endpoint's headers: %v", o.Port, &p)
		}
		seen[uint32(c)]++
		if p.Op != op || p.PSN != psn || !bytes.Equal(p.Payload, payload) || !p.DF || p.PKey != 0xFFFF || p.MigReq || p.TVer != 0 {
			return failf("endpoint %d got %v, expected %v PSN %v with %d bytes", c, &p, op, psn, len(payload))
		}
		if p.AckReq != op.IsSend() {
			return failf("endpoint %d got %v with AckReq %v", c, op, p.AckReq)
		}
	}
	for _, c := range to {
		if seen[uint32(c)] != 1 {
			return failf("endpoint %d got %d frames with PSN %v, expected 1", c, seen[uint32(c)], psn)
		}
	}
	return nil
}

// addressee is the endpoint whose headers a packet has that left by a port; −1 if there is none.
func (g *group) addressee(port int, p *roce.Packet) int {
	return slices.IndexFunc(g.ends, func(ep inc.Endpoint) bool {
		return p.DstMAC == ep.RemoteMAC && p.SrcMAC == ep.LocalMAC && p.SrcIP == ep.LocalIP && p.DstIP == ep.RemoteIP &&
			p.DestQP == ep.RemoteQPN && port == ep.Port && p.SrcPort == ep.UDPSourcePort && p.TTL == ep.TTL
	})
}

// leaving is a packet that must leave: to which endpoint, and what it carries.
type leaving struct {
	to       int
	op       roce.Opcode
	psn      roce.PSN
	payload  []byte
	imm      uint32
	syndrome uint8
	// ce: it is marked as one that met congestion. step takes the mark from the frame that it sends, unless own is set: then the slot has
	// it, or nobody.
	ce, own bool
}

// String is for messages.
func (l leaving) String() string {
	return fmt.Sprintf("%v PSN %v to endpoint %d, syndrome %#02x, immediate %#x, %d bytes, CE %v", l.op, l.psn, l.to, l.syndrome, l.imm, len(l.payload), l.ce)
}

// marked gives a frame any ECN now and then, CE among them.
func (t *T) marked(f portFrame) portFrame {
	if t.rng.IntN(2) == 0 {
		f.data[15] = f.data[15]&^roce.ECNMask | uint8(t.rng.IntN(4))
		roce.Reseal(f.data)
	}
	return f
}

// ce tells whether an IPv4 frame met congestion.
func (f portFrame) ce() bool { return f.data[15]&roce.ECNMask == roce.ECNCE }

// own are the same packets with a mark that does not depend on the frame that makes them leave.
func own(ce bool, list ...leaving) []leaving {
	for i := range list {
		list[i].ce, list[i].own = ce, true
	}
	return list
}

// expect checks that exactly these packets left, in any order, with the headers of their endpoints.
func (g *group) expect(outs []dut.Out, want ...leaving) error {
	rest := slices.Clone(want)
	for _, o := range outs {
		p, err := roce.Decode(o.Data)
		if err != nil || !roce.CheckICRC(o.Data) || o.Err {
			return failf("a frame left that does not decode, has a bad ICRC or the error bit (%v): %v", o.Err, err)
		}
		got := leaving{to: g.addressee(o.Port, &p), op: p.Op, psn: p.PSN, payload: p.Payload, imm: p.Imm, syndrome: p.Syndrome, ce: p.CE()}
		i := slices.IndexFunc(rest, func(l leaving) bool {
			return l.to == got.to && l.op == got.op && l.psn == got.psn && l.imm == got.imm && l.syndrome == got.syndrome && l.ce == got.ce &&
				bytes.Equal(l.payload, got.payload)
		})
		if i < 0 {
			return failf("what left is %v; expected are %v", got, want)
		}
		if tos := g.ends[got.to].TOS; !got.ce && p.TOS != tos {
			return failf("what left is %v with ToS %#02x, its endpoint's is %#02x", got, p.TOS, tos)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) > 0 {
		return failf("%d of %d frames never left: %v", len(rest), len(want), rest)
	}
	return nil
}

// step sends a frame of ours and checks what leaves for it.
func (g *group) step(what string, f portFrame, want ...leaving) error {
	want = slices.Clone(want)
	for i := range want {
		if !want[i].own {
			want[i].ce = f.ce()
		}
	}
	outs, err := g.e.exchange(f)
	if err == nil {
		err = g.expect(outs, want...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// copies are the same packet to several endpoints.
func copies(l leaving, to ...int) []leaving {
	var all []leaving
	for _, c := range to {
		l.to = c
		all = append(all, l)
	}
	return all
}

// ackOf is an ACK, NAK or RNR NAK that must leave.
func ackOf(to int, psn roce.PSN, syndrome uint8) leaving {
	return leaving{to: to, op: roce.Acknowledge, psn: psn, syndrome: syndrome}
}

// dropped sends a frame and checks that nothing leaves and what it is counted under.
func (g *group) dropped(want inc.Counter, what string, f portFrame) error {
	before, err := g.e.counter(want.String())
	if err != nil {
		return err
	}
	if err := g.step(what, f); err != nil {
		return err
	}
	after, err := g.e.counter(want.String())
	if err == nil && after != before+1 {
		err = failf("%s: %v was %d and is %d", what, want, before, after)
	}
	return err
}

// cnp is a congestion notification from endpoint c.
func (g *group) cnp(c int, psn roce.PSN) portFrame {
	p := g.packet(c, roce.CNP, psn)
	p.Payload, p.BECN = make([]byte, 16), true
	return portFrame{g.ends[c].Port, p.AppendFrame(nil)}
}

// contribute sends one payload an endpoint of who, in that order, and returns what left.
func (g *group) contribute(who []int, psn roce.PSN, payload func(c int) []byte) ([]dut.Out, error) {
	var frames []portFrame
	for _, c := range who {
		frames = append(frames, g.data(c, psn, payload(c)))
	}
	return g.e.exchange(frames...)
}

// complete has all members contribute random words and checks the result.
func (g *group) complete(psn roce.PSN) error {
	_, err := g.completed(psn)
	return err
}

// completed is complete, and gives the result.
func (g *group) completed(psn roce.PSN) ([]byte, error) {
	m := g.members()
	data := map[int][]byte{}
	var all [][]byte
	for _, c := range m {
		data[c] = g.values(16)
		all = append(all, data[c])
	}
	outs, err := g.contribute(m, psn, func(c int) []byte { return data[c] })
	if err != nil {
		return nil, err
	}
	result := g.reduce(all...)
	return result, g.expectTo(outs, m, roce.SendOnly, psn, result)
}

// scenOnePSN is scenario 2: element i = i·(r+1), nothing until the last rank, then one result a rank, worked out by hand.
func scenOnePSN(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	k, m := g.kind(), g.members()
	period := 64
	if k.DType == arith.BF16 {
		period = 8 // it has no more than 256 whole numbers in a row
	}
	n := min(g.whole(t.p.MTUBytes), 256)
	pattern := func(times int) []byte {
		b := make([]byte, n)
		for i := range k.Elements(n) {
			k.Set(b, i, float64(i%period*times))
		}
		return b
	}
	contribution := func(c int) []byte { return pattern(c + 1) }
	outs, err := g.contribute(m[:len(m)-1], g.set.Start, contribution)
	if err != nil {
		return err
	}
	if len(outs) != 0 {
		return failf("%d frames left before the last rank contributed", len(outs))
	}
	if outs, err = g.contribute(m[len(m)-1:], g.set.Start, contribution); err != nil {
		return err
	}
	times := map[arith.Op]int{arith.Sum: len(m) * (len(m) + 1) / 2, arith.Min: 1, arith.Max: len(m)}[k.Op]
	return g.expectTo(outs, m, roce.SendOnly, g.set.Start, pattern(times))
}

// scenBarrier is scenario 3: zero-length releases, padded to 60 bytes; the next barrier takes the next PSN.
func scenBarrier(t *T) error {
	g, err := t.star(withBarrier())
	if err != nil {
		return err
	}
	m := g.members()
	for k := range 2*g.mw() + 2 {
		psn := g.set.Start.Add(k)
		outs, err := g.contribute(m, psn, func(int) []byte { return nil })
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m, roce.SendOnly, psn, nil); err != nil {
			return err
		}
		for _, o := range outs {
			if len(o.Data) != 60 {
				return failf("a release has %d bytes, expected 60", len(o.Data))
			}
		}
	}
	outs, err := g.e.exchange(g.data(0, g.set.Start.Add(2*g.mw()+2), g.values(4)))
	if err != nil {
		return err
	}
	if len(outs) != 0 {
		return failf("a barrier with payload was answered")
	}
	return nil
}

// scenReflect is scenarios 4 and 5: ACK, NAK and RNR NAK come back to the same endpoint and to no other, as they are; a
// repeated one comes back again; a cumulative one once.
func scenReflect(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	count := min(10, g.mw())
	for k := range count {
		if err := g.complete(g.set.Start.Add(k)); err != nil {
			return err
		}
	}
	last := g.set.Start.Add(count - 1)
	syndromes := []uint8{0x1F, 0x00, 0x0A, 0x60, 0x61, 0x62, 0x63, 0x20, 0x21, 0x2C, 0x3F}
	for _, c := range g.members() {
		for _, s := range syndromes {
			for range 2 {
				f := g.aeth(c, last, s)
				outs, err := g.e.exchange(f)
				if err != nil {
					return err
				}
				if err := g.expectTo(outs, []int{c}, roce.Acknowledge, last, nil); err != nil {
					return err
				}
				in, _ := roce.Decode(f.data)
				out, _ := roce.Decode(outs[0].Data)
				if out.Syndrome != s || out.MSN != in.MSN {
					return failf("syndrome %#02x MSN %d came back as %#02x MSN %d", s, in.MSN, out.Syndrome, out.MSN)
				}
			}
		}
	}
	return nil
}

// scenDuplicateBefore is scenario 6: a contribution sent twice counts once.
func scenDuplicateBefore(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m := g.members()
	for k := range min(6, g.mw()) {
		psn := g.set.Start.Add(k)
		data := map[int][]byte{}
		var all [][]byte
		for _, c := range m {
			data[c] = g.values(32)
			all = append(all, data[c])
		}
		who := append([]int(nil), m...)
		if len(m) > 1 {
			who = append([]int{m[0], m[0]}, m[1:]...)
		}
		outs, err := g.contribute(who, psn, func(c int) []byte { return data[c] })
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m, roce.SendOnly, psn, g.reduce(all...)); err != nil {
			return err
		}
	}
	return nil
}

// scenDuplicateAfter is scenario 7: a retransmission of a complete PSN gets the result again, to the sender alone, even
// when another rank has gone on to the slot half a ring ahead.
func scenDuplicateAfter(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m, mw := g.members(), g.mw()
	results := map[int][]byte{}
	data := map[[2]int][]byte{}
	round := func(k int, who []int) ([]dut.Out, error) {
		return g.contribute(who, g.set.Start.Add(k), func(c int) []byte {
			if data[[2]int{k, c}] == nil {
				data[[2]int{k, c}] = g.values(16)
			}
			return data[[2]int{k, c}]
		})
	}
	finish := func(k int) {
		var all [][]byte
		for _, c := range m {
			all = append(all, data[[2]int{k, c}])
		}
		results[k] = g.reduce(all...)
	}
	for k := range mw {
		if _, err := round(k, m); err != nil {
			return err
		}
		finish(k)
	}
	again := func(k, c int) error {
		outs, err := round(k, []int{c})
		if err != nil {
			return err
		}
		return g.expectTo(outs, []int{c}, roce.SendOnly, g.set.Start.Add(k), results[k])
	}
	slow := m[len(m)-1]
	if err := again(0, slow); err != nil {
		return err
	}
	for k := range mw { // the others run a window ahead; each old result must still be there
		if len(m) > 1 {
			outs, err := round(mw+k, m[:len(m)-1])
			if err != nil {
				return err
			}
			if len(outs) != 0 {
				return failf("%d frames left at PSN %v before rank %d contributed", len(outs), g.set.Start.Add(mw+k), slow)
			}
		}
		if err := again(k, slow); err != nil {
			return err
		}
	}
	for k := range mw {
		outs, err := round(mw+k, []int{slow})
		if err != nil {
			return err
		}
		finish(mw + k)
		if err := g.expectTo(outs, m, roce.SendOnly, g.set.Start.Add(mw+k), results[mw+k]); err != nil {
			return err
		}
	}
	return nil
}

// scenNoDoubleRecycle is scenario 8: a retransmission of a complete PSN must not recycle the slot half a ring ahead, which
// already holds a fast rank's contribution.
func scenNoDoubleRecycle(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m, mw := g.members(), g.mw()
	for k := range mw {
		if err := g.complete(g.set.Start.Add(k)); err != nil {
			return err
		}
	}
	for k := range 2 * mw {
		psn := g.set.Start.Add(mw + k)
		data := map[int][]byte{}
		var all [][]byte
		for _, c := range m {
			data[c] = g.values(24)
			all = append(all, data[c])
		}
		if _, err := g.contribute(m[:1], psn, func(c int) []byte { return data[c] }); err != nil {
			return err
		}
		if len(m) == 1 {
			continue
		}
		outs, err := g.contribute(m[1:2], psn.Add(-mw), func(int) []byte { return g.values(24) })
		if err != nil {
			return err
		}
		if len(outs) != 1 {
			return failf("a retransmission of PSN %v was answered by %d frames, expected 1", psn.Add(-mw), len(outs))
		}
		outs, err = g.contribute(m[1:], psn, func(c int) []byte { return data[c] })
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m, roce.SendOnly, psn, g.reduce(all...)); err != nil {
			return err
		}
	}
	return nil
}

// scenStaleAlias is scenario 10: a very late duplicate of a PSN gets its own result as long as nobody uses its slot again; from
// then on it neither gets the younger result nor disturbs its sum. And a host that overruns its window is not let into a slot
// whose result may still be wanted, at the start as little as later.
func scenStaleAlias(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m, mw := g.members(), g.mw()
	n := 2 * mw
	at := func(k int) roce.PSN { return g.set.Start.Add(k) }
	var results [][]byte
	for k := range n {
		result, err := g.completed(at(k))
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	silence := func(what string, f portFrame) error {
		outs, err := g.e.exchange(f)
		if err == nil && len(outs) != 0 {
			err = failf("%s was answered by %d frames", what, len(outs))
		}
		return err
	}
	for k := range n + 2 {
		psn := at(n + k)
		data := map[int][]byte{}
		var all [][]byte
		for _, c := range m {
			data[c] = g.values(16)
			all = append(all, data[c])
		}
		alias := at(k) // same slot as psn
		outs, err := g.e.exchange(g.data(m[0], alias, g.values(16)))
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m[:1], roce.SendOnly, alias, results[k]); err != nil {
			return err
		}
		for i, c := range m[:len(m)-1] {
			if _, err := g.e.exchange(g.data(c, psn, data[c])); err != nil {
				return err
			}
			if err := silence("a stale duplicate", g.data(m[i], alias, g.values(16))); err != nil {
				return err
			}
		}
		last := m[len(m)-1]
		if outs, err = g.e.exchange(g.data(last, psn, data[last])); err != nil {
			return err
		}
		results = append(results, g.reduce(all...))
		if err := g.expectTo(outs, m, roce.SendOnly, psn, results[n+k]); err != nil {
			return err
		}
		if err := silence("a stale duplicate of a complete slot", g.data(m[0], alias, g.values(16))); err != nil {
			return err
		}
	}
	// Every bit of the tag counts: complete slots, asked for by PSNs that differ in one bit above the slot's number.
	end := 2*n + 2
	for j := g.set.Log2N; j < 23; j++ {
		for _, c := range m {
			if err := silence("a stale duplicate from long ago", g.data(c, at(end-1).Add(-1<<j), g.values(16))); err != nil {
				return err
			}
		}
	}
	if len(m) == 1 {
		return nil
	}
	overrun := func(from int) error { // rank 0 alone fills its window, then one packet more
		for k := range mw {
			if _, err := g.e.exchange(g.data(m[0], at(from+k), g.values(16))); err != nil {
				return err
			}
		}
		return silence("a window overrun", g.data(m[0], at(from+mw), g.values(16)))
	}
	if err := overrun(end); err != nil {
		return err
	}
	if err := g.e.drv.ResetGroup(g.index); err != nil {
		return err
	}
	if err := overrun(0); err != nil {
		return err
	}
	c, err := g.e.counters()
	if err != nil {
		return err
	}
	if c["DROP_WINDOW"] != 2 || c["DROP_STALE"] == 0 {
		return failf("DROP_WINDOW is %d and DROP_STALE %d, expected 2 and more than 0", c["DROP_WINDOW"], c["DROP_STALE"])
	}
	return nil
}

// scenSlotReuse is scenario 9: ten rings of slots, ranks interleaved at random within the window.
func scenSlotReuse(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	return g.stream(10*2*g.mw(), func() int { return 4 * (1 + t.rng.IntN(8)) })
}

// scenWrap is scenario 18: the PSN passes 2^24 with a slot ring, duplicates and gaps on the way.
func scenWrap(t *T) error {
	for _, start := range []roce.PSN{0xFFFFF0, 0xFFFFFF, 0xFFFFFE, 0x7FFFF8} {
		e, err := t.newEngine()
		if err != nil {
			return err
		}
		g, err := e.newGroup(0, 1, t.p.Members, false, withStart(start))
		if err != nil {
			return err
		}
		if err := g.stream(64, func() int { return 8 }); err != nil {
			return err
		}
		if t.pipes() { // what it asks for is another number there: see pipe-wrap
			continue
		}
		for _, c := range g.members() { // ACK 0xFFFFFF, then 0, then an old one: the gap NAK must follow the newest
			psns := []roce.PSN{start.Add(15), start.Add(16), start.Add(14)}
			for _, psn := range psns {
				if _, err := g.e.exchange(g.aeth(c, psn, 0x1F)); err != nil {
					return err
				}
			}
			outs, err := g.e.exchange(g.data(c, start.Add(64+2), g.values(8)))
			if err != nil {
				return err
			}
			if err := g.expectTo(outs, []int{c}, roce.Acknowledge, start.Add(17), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream sends count PSNs from Start on, every rank in order, at most mw behind the slowest, random turns, now and then a
// duplicate or a gap; frames go in back to back. Sums are checked by plain arithmetic.
func (g *group) stream(count int, size func() int) error {
	t, m := g.t, g.members()
	data := make([][][]byte, len(m))
	for range count {
		n := size()
		for i := range m {
			data[i] = append(data[i], g.values(n))
		}
	}
	pos := make([]int, len(m))
	results := map[roce.PSN][]byte{}
	check := func() error {
		outs, err := g.e.settle()
		if err != nil {
			return err
		}
		for _, o := range outs {
			p, err := roce.Decode(o.Data)
			if err != nil {
				return err
			}
			if p.Op.IsSend() {
				results[p.PSN] = p.Payload
			}
		}
		return nil
	}
	done := 0
	for done < count {
		for range g.mw() * len(m) {
			i := t.rng.IntN(len(m))
			if pos[i] < count && pos[i] < done+g.mw() {
				f := g.data(m[i], g.set.Start.Add(pos[i]), data[i][pos[i]])
				g.e.send(f.port, f.data)
				pos[i]++
				switch t.rng.IntN(12) {
				case 0:
					g.e.send(f.port, append([]byte(nil), f.data...))
				case 1:
					if pos[i]+1 < count {
						ahead := g.data(m[i], g.set.Start.Add(pos[i]+1), data[i][pos[i]+1])
						g.e.send(ahead.port, ahead.data)
					}
				}
			}
		}
		if err := check(); err != nil {
			return err
		}
		done = count
		for _, p := range pos {
			done = min(done, p)
		}
	}
	for k := range count {
		var all [][]byte
		for i := range m {
			all = append(all, data[i][k])
		}
		psn := g.set.Start.Add(k)
		want := g.reduce(all...)
		if got, ok := results[psn]; !ok || !bytes.Equal(got, want) {
			return failf("PSN %v (number %d) of %s: result %x, expected %x", psn, k, g.kind(), got, want)
		}
	}
	return nil
}

// scenGapNAK: the one NAK that Mode II makes itself: once a gap, PSN after the last ACK reflected, off by register, never
// on a link to another switch.
func scenGapNAK(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m, start := g.members(), g.set.Start
	expect := func(c int, psn roce.PSN, send ...roce.PSN) error {
		var outs []dut.Out
		for _, s := range send {
			o, err := g.e.exchange(g.data(c, s, g.values(8)))
			if err != nil {
				return err
			}
			outs = append(outs, o...)
		}
		if err := g.expectTo(outs, []int{c}, roce.Acknowledge, psn, nil); err != nil {
			return err
		}
		if p, _ := roce.Decode(outs[0].Data); p.Syndrome != roce.NAKSequence {
			return failf("the gap was answered with syndrome %#02x", p.Syndrome)
		}
		return nil
	}
	for _, c := range m {
		if err := expect(c, start, start.Add(1), start.Add(2), start.Add(1)); err != nil {
			return err
		}
	}
	if err := g.complete(start); err != nil {
		return err
	}
	for _, c := range m { // nothing reflected yet: the NAK must not claim that the result of START was received
		if err := expect(c, start, start.Add(5), start.Add(6)); err != nil {
			return err
		}
	}
	if err := g.complete(start.Add(1)); err != nil {
		return err
	}
	for i, c := range m {
		syndrome, want := uint8(0x1F), start.Add(2)
		if i%3 == 1 { // a NAK or RNR NAK of p acknowledges p−1
			syndrome, want = roce.NAKSequence, start.Add(1)
		} else if i%3 == 2 {
			syndrome, want = 0x21, start.Add(1)
		}
		if _, err := g.e.exchange(g.aeth(c, start.Add(1), syndrome)); err != nil {
			return err
		}
		if err := expect(c, want, start.Add(3), start.Add(4)); err != nil {
			return err
		}
	}
	if err := g.complete(start.Add(2)); err != nil {
		return err
	}
	if err := g.e.drv.Write("CTRL", 0, 0); err != nil {
		return err
	}
	for _, c := range m {
		if outs, err := g.e.exchange(g.data(c, start.Add(9), g.values(8))); err != nil || len(outs) != 0 {
			return failf("gap_nak is off, %d frames left (%v)", len(outs), err)
		}
	}
	if err := g.e.drv.Write("CTRL", 0, 1); err != nil {
		return err
	}
	for _, c := range m { // silent gaps did not use up the one NAK
		if err := expect(c, map[bool]roce.PSN{true: start.Add(1), false: start.Add(2)}[c%3 != 0], start.Add(9), start.Add(9)); err != nil {
			return err
		}
	}
	g.ends[m[0]].Host = false // now a switch is at the other end
	if err := g.program(); err != nil {
		return err
	}
	if outs, err := g.e.exchange(g.data(m[0], start.Add(1), g.values(8))); err != nil || len(outs) != 0 {
		return failf("a gap on a link between switches was answered by %d frames (%v)", len(outs), err)
	}
	return nil
}

// scenBigEndian: every type and operation in both byte orders, full packets; integers with carries out of every byte.
func scenBigEndian(t *T) error {
	for range t.kinds() {
		g, err := t.star()
		if err != nil {
			return err
		}
		m := g.members()
		for k := range 4 {
			data := map[int][]byte{}
			var all [][]byte
			for _, c := range m {
				b := g.values(t.p.MTUBytes)
				if g.kind().DType == arith.INT32 { // ones and small numbers: the carry runs through the whole word, in every lane
					for i := range t.p.MTUBytes / 4 {
						word := []uint32{0xFFFFFFFF, 1, 0x00FFFFFF, 0x01, 0x7FFFFFFF, 0x80000000, 0x0000FFFF, 0xFF}[t.rng.IntN(8)]
						binary.BigEndian.PutUint32(b[4*i:], word)
						if t.rng.IntN(2) == 0 {
							binary.LittleEndian.PutUint32(b[4*i:], word)
						}
					}
				}
				data[c] = b
				all = append(all, b)
			}
			psn := g.set.Start.Add(k)
			outs, err := g.contribute(m, psn, func(c int) []byte { return data[c] })
			if err != nil {
				return err
			}
			if err := g.expectTo(outs, m, roce.SendOnly, psn, g.reduce(all...)); err != nil {
				return failf("%s: %w", g.kind(), err)
			}
		}
	}
	return nil
}

// scenLengths sends every payload length from 0 to the MTU (in whole elements; a sample of long ones unless long), with and
// without immediate, Ethernet padding and trailing bytes, and all data opcodes in messages of several packets.
func scenLengths(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m, k := g.members(), 0
	one := func(length int, op roce.Opcode, trail int) error {
		data := map[int][]byte{}
		var all [][]byte
		var outs []dut.Out
		imm, se := t.rng.Uint32(), t.rng.IntN(2) == 0
		psn := g.set.Start.Add(k)
		k++
		for _, c := range m {
			data[c] = g.values(length)
			all = append(all, data[c])
			f := g.data(c, psn, data[c], func(p *roce.Packet) {
				p.Op, p.Imm, p.SE = op, imm, se
				p.AckReq = op.EndsMessage()
			})
			for i := range trail {
				f.data = append(f.data, byte(i*37+1))
			}
			g.e.send(f.port, f.data)
			if len(m) > 1 && c < m[len(m)-1] && t.rng.IntN(8) != 0 {
				continue
			}
			o, err := g.e.settle()
			if err != nil {
				return err
			}
			outs = append(outs, o...)
		}
		if err := g.expectTo(outs, m, op, psn, g.reduce(all...)); err != nil {
			return failf("payload of %d bytes, %d bytes behind it: %w", length, trail, err)
		}
		for _, o := range outs {
			if p, _ := roce.Decode(o.Data); p.SE != se || op.HasImm() && p.Imm != imm {
				return failf("SE %v immediate %#x became SE %v immediate %#x", se, imm, p.SE, p.Imm)
			}
		}
		return nil
	}
	full := 4 * t.p.BusBytes
	for length := 0; length <= t.p.MTUBytes; length += g.size() {
		if !t.long && length > full && length < t.p.MTUBytes-full && t.rng.IntN(16) != 0 {
			continue
		}
		op := roce.SendOnly
		if t.rng.IntN(2) == 0 {
			op = roce.SendOnlyImm
		}
		if err := one(length, op, 0); err != nil {
			return err
		}
		if t.rng.IntN(4) == 0 || length < 2*t.p.BusBytes {
			if err := one(length, op, 1+t.rng.IntN(2*t.p.BusBytes)); err != nil {
				return err
			}
		}
	}
	for _, op := range []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast, roce.SendFirst, roce.SendLastImm, roce.SendOnlyImm} {
		for _, length := range []int{t.p.MTUBytes, t.p.MTUBytes, g.size() * (1 + t.rng.IntN(t.p.MTUBytes/g.size()))} {
			if err := one(length, op, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// scenSimultaneousAcks: ACKs of all endpoints enter in the same cycles while sinks hesitate; each must come back once, by
// its own port, under its own name.
func scenSimultaneousAcks(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	if err := g.complete(g.set.Start); err != nil {
		return err
	}
	for _, pauses := range []dut.Pauses{{}, {Ready: 0.5, Burst: 4}, {Ready: 0.9, Burst: 20, In: 0.1}, {In: 0.5, Burst: 3}} {
		pauses.Seed = t.rng.Uint64()
		g.e.SetPauses(pauses)
		for round := range 24 {
			at := g.e.Now() + 40
			want := map[uint32]int{}
			for _, c := range g.members() {
				for range 1 + round%3 {
					f := g.aeth(c, g.set.Start, []uint8{0x1F, 0x60, 0x2A}[t.rng.IntN(3)])
					g.e.Offer(f.port, dut.Frame{Data: f.data, At: at})
					want[g.ends[c].RemoteQPN]++
				}
			}
			outs, err := g.e.settle()
			if err != nil {
				return err
			}
			for _, o := range outs {
				p, err := roce.Decode(o.Data)
				if err != nil {
					return err
				}
				want[p.DestQP]--
			}
			for qp, n := range want {
				if n != 0 {
					return failf("%d ACKs for QP %#x are missing (negative: too many)", n, qp)
				}
			}
		}
	}
	return g.ackStorm()
}

// ackStorm lets every queue inside fill up: more ACKs than any holds, with retransmissions among them, while all sinks stand still.
func (g *group) ackStorm() error {
	t := g.t
	const each = 120
	for range 2 {
		g.e.SetPauses(dut.Pauses{Ready: 1})
		for k := range each {
			for _, c := range g.members() {
				f := g.aeth(c, g.set.Start, roce.AckSyndrome)
				if k%20 == 19 {
					f = g.data(c, g.set.Start, g.values(16))
				}
				g.e.send(f.port, f.data)
			}
		}
		if err := g.e.StepTo(g.e.Now() + 6000); err != nil {
			return err
		}
		early := g.e.Out()
		g.e.SetPauses(dut.Pauses{Seed: t.rng.Uint64(), Ready: 0.2, Burst: 3})
		outs, err := g.e.settle()
		if err != nil {
			return err
		}
		if got, want := len(early)+len(outs), each*len(g.members()); got != want {
			return failf("%d answers to %d frames", got, want)
		}
	}
	g.e.SetPauses(dut.Pauses{})
	return nil
}

// scenChecksumCarry makes IPv4 header sums whose folding carries twice, on what goes in (by the IP id) and on what comes
// out (by addresses, IP_ID and length), and the numbers beside them.
func scenChecksumCarry(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	for round := range 40 {
		g, err := e.newGroup(0, 1, t.p.Members, false)
		if err != nil {
			return err
		}
		length := 4 * t.rng.IntN(t.p.MTUBytes/4+1)
		id := uint16(t.rng.Uint32())
		for i := range g.ends { // pick the local address's last octets so that result headers carry twice
			ep := &g.ends[i]
			base := headerSum(ep.TOS, 44+length, id, ep.TTL, ep.LocalIP, ep.RemoteIP) - uint32(ep.LocalIP[2])<<8 - uint32(ep.LocalIP[3])
			want := carryTarget(base, round+i)
			binary.BigEndian.PutUint16(ep.LocalIP[2:], uint16(want-base))
		}
		if err := g.program(); err != nil {
			return err
		}
		if err := e.drv.Write("IP_ID", 0, uint32(id)); err != nil {
			return err
		}
		m := g.members()
		data := map[int][]byte{}
		var all [][]byte
		var frames []portFrame
		for _, c := range m {
			data[c] = g.values(length)
			all = append(all, data[c])
			frames = append(frames, g.data(c, g.set.Start, data[c], func(p *roce.Packet) {
				base := headerSum(p.TOS, 44+length, 0, p.TTL, p.SrcIP, p.DstIP)
				p.IPID = uint16(carryTarget(base, round+c) - base)
			}))
		}
		outs, err := e.exchange(frames...)
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m, roce.SendOnly, g.set.Start, g.reduce(all...)); err != nil {
			return err
		}
		var acks []portFrame
		for _, c := range m {
			acks = append(acks, g.aeth(c, g.set.Start, 0x1F))
		}
		if _, err := e.exchange(acks...); err != nil {
			return err
		}
	}
	return nil
}

// headerSum adds the sixteen-bit words of an IPv4 header with DF and UDP, checksum 0, without folding.
func headerSum(tos uint8, total int, id uint16, ttl uint8, src, dst roce.IP4) uint32 {
	s := 0x4500 + uint32(tos) + uint32(total) + uint32(id) + 0x4000 + uint32(ttl)<<8 + 17
	for _, a := range []roce.IP4{src, dst} {
		s += uint32(binary.BigEndian.Uint16(a[:])) + uint32(binary.BigEndian.Uint16(a[2:]))
	}
	return s
}

// carryTarget is a sum not less than base and less than base+65536 that lies at the edge where folding carries twice: on
// it, just below, or just above.
func carryTarget(base uint32, which int) uint32 {
	for high := base >> 16; ; high++ {
		edge := high<<16 | (0x10000-high)&0xFFFF // the least sum with this upper part that carries twice
		target := edge + uint32([]int{0, 0, -1, 1, 0}[which%5]&0xFFFFFFFF)
		if target >= base {
			if target-base > 0xFFFF {
				return base
			}
			return target
		}
	}
}

// scenECN: congestion marks of any contribution reach the result, those of ACKs and parent data their copies; a CNP comes
// back as a CNP with BECN set; differing immediates and SE are counted and the first one's stay.
func scenECN(t *T) error {
	g, err := t.star()
	if err != nil {
		return err
	}
	m := g.members()
	for k := range 2*g.mw() + 3 {
		psn := g.set.Start.Add(k)
		var frames []portFrame
		marked := t.rng.IntN(len(m) + 1)
		var all [][]byte
		for i, c := range m {
			b := g.values(12)
			all = append(all, b)
			frames = append(frames, g.data(c, psn, b, func(p *roce.Packet) {
				p.Op, p.Imm, p.SE = roce.SendOnlyImm, uint32(i), i%2 == 0
				if p.TOS = uint8(t.rng.IntN(3)); i == marked {
					p.TOS = 3
				}
			}))
		}
		outs, err := g.e.exchange(frames...)
		if err != nil {
			return err
		}
		if err := g.expectTo(outs, m, roce.SendOnlyImm, psn, g.reduce(all...)); err != nil {
			return err
		}
		for _, o := range outs {
			if p, _ := roce.Decode(o.Data); p.CE() != (marked < len(m)) || p.Imm != 0 || !p.SE {
				return failf("PSN %v: CE %v SE %v immediate %d, expected %v true 0", psn, p.CE(), p.SE, p.Imm, marked < len(m))
			}
		}
	}
	for _, c := range m {
		for _, tos := range []uint8{0, 1, 2, 3, 0xFF} {
			cnp := g.packet(c, roce.CNP, roce.PSN(t.rng.Uint32()&0xFFFFFF))
			cnp.TOS = tos
			cnp.Payload = make([]byte, 16)
			outs, err := g.e.exchange(portFrame{g.ends[c].Port, cnp.AppendFrame(nil)})
			if err != nil {
				return err
			}
			if t.pipes() { // the switch is who sent what was congested
				if len(outs) != 0 {
					return failf("a CNP was answered by %d frames", len(outs))
				}
				continue
			}
			if len(outs) != 1 {
				return failf("a CNP was answered by %d frames", len(outs))
			}
			p, err := roce.Decode(outs[0].Data)
			if err != nil || p.Op != roce.CNP || !p.BECN || p.PSN != cnp.PSN || p.DestQP != g.ends[c].RemoteQPN {
				return failf("a CNP came back as %v (%v)", &p, err)
			}
			f := g.aeth(c, g.set.Start, 0x1F)
			f.data[15] = tos
			roce.Reseal(f.data)
			if outs, err = g.e.exchange(f); err != nil {
				return err
			}
			if p, _ := roce.Decode(outs[0].Data); p.CE() != (tos&3 == 3) {
				return failf("an ACK with ToS %#x came back with ToS %#x", tos, p.TOS)
			}
		}
	}
	c, err := g.e.counters()
	if err != nil {
		return err
	}
	if want := uint32((2*g.mw() + 3) * (len(m) - 1)); c["IMM_MISMATCH"] != want {
		return failf("IMM_MISMATCH is %d, expected %d", c["IMM_MISMATCH"], want)
	}
	return nil
}

// scenInner is an inner node: results go to the parent, parent data goes to the children, retransmissions climb.
func scenInner(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	children := min(t.p.Members, 3)
	g, err := e.newGroup(0, 1, children, true)
	if err != nil {
		return err
	}
	m := g.members()
	for k := range 3 * g.mw() {
		psn := g.set.Start.Add(k)
		var all [][]byte
		var frames []portFrame
		for _, c := range m {
			b := g.values(20)
			all = append(all, b)
			frames = append(frames, g.data(c, psn, b))
		}
		outs, err := e.exchange(frames...)
		if err != nil {
			return err
		}
		total := g.reduce(all...)
		if err := g.expectTo(outs, []int{g.parent}, roce.SendOnly, psn, total); err != nil {
			return err
		}
		again, err := e.exchange(g.data(m[k%len(m)], psn, g.values(20)))
		if err != nil {
			return err
		}
		if err := g.expectTo(again, []int{g.parent}, roce.SendOnly, psn, total); err != nil {
			return err
		}
		final := g.values(20)
		for range 1 + k%2 {
			down, err := e.exchange(g.data(g.parent, psn, final))
			if err != nil {
				return err
			}
			if err := g.expectTo(down, m, roce.SendOnly, psn, final); err != nil {
				return err
			}
		}
		if outs, err := e.exchange(g.aeth(g.parent, psn, 0x1F)); err != nil || len(outs) != 0 {
			return failf("an ACK from the parent was answered by %d frames (%v)", len(outs), err)
		}
	}
	if t.p.Members < 2 {
		return nil
	}
	if t.p.Reproducible() && g.parent == t.p.Members && g.parent%2 == 0 {
		return nil // the buffer has no room for its contributions
	}
	// A member that is child and parent at once is a child.
	g.set.InMask |= 1 << g.parent
	if err := g.program(); err != nil {
		return err
	}
	outs, err := e.exchange(g.data(g.parent, g.set.Start, g.values(20)))
	if err != nil {
		return err
	}
	if len(outs) != 0 {
		return failf("a child's contribution was taken for parent data")
	}
	return nil
}

// illegalGroups are settings that must not be enabled, each one step away from legal ones.
func illegalGroups(t *T, legal inc.Group) []inc.Group {
	var all []inc.Group
	change := func(f func(g *inc.Group)) {
		g := legal
		f(&g)
		all = append(all, g)
	}
	for c := range uint8(8) {
		switch {
		case c > inc.CollectiveBarrier:
			change(func(g *inc.Group) { g.Collective = c })
		case c == inc.CollectiveReduce, c == inc.CollectiveBroadcast: // without the way to the root rank
			change(func(g *inc.Group) { g.Collective, g.HasParent = c, false })
		}
		if c != inc.CollectiveAllReduce {
			change(func(g *inc.Group) { g.Collective, g.HasParent, g.InBand = c, true, true })
		}
	}
	if !t.p.InBand {
		change(func(g *inc.Group) { g.Collective, g.InBand = inc.CollectiveAllReduce, true })
	}
	for v := range uint8(4) {
		if t.p.OpMask()>>v&1 == 0 {
			change(func(g *inc.Group) { g.Op = v })
		}
		if t.p.DTypeMask()>>v&1 == 0 {
			change(func(g *inc.Group) { g.DType = v })
		}
	}
	units := 1 << legal.Log2N
	if arith.DType(legal.DType).Wide() {
		units *= 2
	}
	change(func(g *inc.Group) { g.SlotBase = t.p.Slots() })
	change(func(g *inc.Group) { g.SlotBase = t.p.Slots() - units + 1 })
	change(func(g *inc.Group) { g.SlotBase, g.Log2N = 0, 31 })
	change(func(g *inc.Group) { g.SlotBase, g.Log2N = 0, bits.Len(uint(t.p.Slots())) })
	change(func(g *inc.Group) { g.Log2N = 0 })
	change(func(g *inc.Group) { g.Parent, g.HasParent = t.p.Members+1, true })
	if t.p.Reproducible() && t.p.Members%2 == 0 { // the endpoint without a partner in the pairs of the buffer
		last := uint32(1) << t.p.Members
		change(func(g *inc.Group) { g.InMask |= last })
		change(func(g *inc.Group) { g.OutMask, g.InBand, g.Collective = g.OutMask|last, true, inc.CollectiveAllReduce })
		change(func(g *inc.Group) {
			g.Parent, g.HasParent, g.InBand, g.Collective = t.p.Members, true, true, inc.CollectiveAllReduce
		})
	}
	if t.p.InBand && t.p.DTypeMask()&wideTypes != 0 { // in-band, a packet takes two units whatever the type
		change(func(g *inc.Group) {
			g.InBand, g.Collective, g.SlotBase = true, inc.CollectiveAllReduce, t.p.Slots()-2<<g.Log2N+1
		})
	}
	return all
}
