// SPDX-License-Identifier: Apache-2.0

package translateheader_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/translateheader"
	"incforge/roce"
	"incforge/sim"
)

func mini() translateheader.TranslateHeader {
	return translateheader.TranslateHeader{PortW: 2, LenW: 13, WordsW: 11, EPW: 2, EIW: 3, MaskW: 3, Groups: 2, InBand: 1}
}

// fixed has no in-band groups.
func fixed() translateheader.TranslateHeader {
	p := mini()
	p.InBand = 0
	return p
}

// block has block RAM.
func block(p translateheader.TranslateHeader) translateheader.TranslateHeader {
	p.Block = 1
	return p
}

// oneBeat has a header popped in each cycle.
func oneBeat(p translateheader.TranslateHeader) translateheader.TranslateHeader {
	p.OneBeat = 1
	return p
}

// late adds behind the register.
func late() translateheader.TranslateHeader {
	p := mini()
	p.Late = 1
	return p
}

// lateFixed has no offsets to add.
func lateFixed() translateheader.TranslateHeader {
	p := late()
	p.InBand = 0
	return p
}

// single has one offset an endpoint.
func single(p translateheader.TranslateHeader) translateheader.TranslateHeader {
	p.Single = 1
	return p
}

// onePort has tables that are read or written.
func onePort(p translateheader.TranslateHeader) translateheader.TranslateHeader {
	p.OnePort = 1
	return p
}

// record is an endpoint's words as the register map numbers them.
type record [regs.Words]uint32

// Registers of an endpoint: those with fields that are not the whole word, and the others' words.
var (
	ctrl, headerReg, remoteQPN    = regs.Of("EP_CTRL"), regs.Of("EP_HEADER"), regs.Of("EP_REMOTE_QPN")
	localMACHi, remoteMACHi       = regs.Of("EP_LOCAL_MAC_HI"), regs.Of("EP_REMOTE_MAC_HI")
	epCtrl, epHeader, epRemoteQPN = ctrl.Word(), headerReg.Word(), remoteQPN.Word()
	epLocalMACHi, epRemoteMACHi   = localMACHi.Word(), remoteMACHi.Word()
	epLocalIP, epRemoteIP         = regs.Word("EP_LOCAL_IP"), regs.Word("EP_REMOTE_IP")
	epLocalMACLo, epRemoteMACLo   = regs.Word("EP_LOCAL_MAC_LO"), regs.Word("EP_REMOTE_MAC_LO")
)

// three has groups and members that are no powers of two.
func three() translateheader.TranslateHeader {
	p := mini()
	p.EPW, p.EIW, p.MaskW, p.Groups = 3, 5, 5, 3
	return p
}

// alone is one group with all endpoints that its numbers have room for.
func alone() translateheader.TranslateHeader {
	p := mini()
	p.EPW, p.EIW, p.MaskW, p.Groups = 2, 2, 4, 1
	return p
}

// request is a header to be made.
type request struct {
	ei      int
	opcode  roce.Opcode
	se, ce  bool
	pad     uint8
	psn     uint32
	inBand  bool
	rng     int
	dir     int // 1: the offset of what the endpoint sends
	ext     uint32
	payload int
}

// header is what came out.
type header struct {
	port, plen, words, covered, total uint64
	long                              bool
	bytes                             []byte // 54, or 58 if long
}

// offset is an endpoint's in a range: of what it hears and of what it sends.
type offset [2]uint32

// want is the header that roce writes for the request, with the offset of the endpoint in its range.
func want(r record, q request, ipID uint16, o offset) header {
	if q.inBand {
		q.psn = (q.psn + o[q.dir]) & 0xFFFFFF
	}
	data := q.opcode.IsSend()
	p := roce.Packet{
		DstMAC: roce.MACFromUint64(remoteMACHi.Get("octets", r[epRemoteMACHi])<<32 | uint64(r[epRemoteMACLo])),
		SrcMAC: roce.MACFromUint64(localMACHi.Get("octets", r[epLocalMACHi])<<32 | uint64(r[epLocalMACLo])),
		TOS:    uint8(headerReg.Get("tos", r[epHeader])), TTL: uint8(headerReg.Get("ttl", r[epHeader])), IPID: ipID, DF: true,
		SrcIP: roce.IP4FromUint32(r[epLocalIP]), DstIP: roce.IP4FromUint32(r[epRemoteIP]), SrcPort: uint16(headerReg.Get("udp_source_port", r[epHeader])),
		Op: q.opcode, SE: q.se, Pad: q.pad, PKey: roce.DefaultPKey, BECN: q.opcode == roce.CNP, DestQP: uint32(remoteQPN.Get("qpn", r[epRemoteQPN])),
		AckReq: data, PSN: roce.PSN(q.psn), Syndrome: uint8(q.ext >> 24), MSN: q.ext & 0xFFFFFF, Imm: q.ext,
		Payload: make([]byte, q.payload),
	}
	if q.ce {
		p.TOS |= roce.ECNCE
	}
	if q.opcode == roce.CNP {
		p.Payload = make([]byte, 16)
	}
	frame := p.AppendFrame(nil)
	ipLength := uint64(frame[16])<<8 | uint64(frame[17])
	h := header{port: ctrl.Get("port", r[epCtrl]) & 3, plen: uint64(q.payload), words: words(q.payload), covered: 14 + ipLength - 4,
		total: uint64(len(frame)), long: q.opcode.HasAETH() || q.opcode.HasImm()}
	h.bytes = frame[:54]
	if h.long {
		h.bytes = frame[:58]
	}
	return h
}

func words(bytes int) uint64 { return uint64(bytes+7) / 8 }

type bench struct {
	*rig.Rig
	t        *testing.T
	rng      *rand.Rand
	ipID     uint16
	p        translateheader.TranslateHeader
	table    []record
	offsets  [][4]offset // by endpoint and range
	requests []request
	next     int
	ask, pop func() bool
	change   func() bool // the control plane writes a word
	look     func() bool // the registers read one
	looking  bool        // they ask
	given    bool        // they get it in this cycle
	at, nth  int         // of whom, which
	word     uint32      // what it is
	lost     bool        // what the tables show is no longer the record of the header that waits
	looked   int         // how many they got
	waited   int         // cycles in which a write kept requests or registers waiting
	again    int         // records that were read again
	want     []header
	got      []header
	askedAt  []uint64
	gotAt    []uint64
}

func newBench(t *testing.T, lib *sim.Lib, p translateheader.TranslateHeader, seed uint64) *bench {
	yes, no := func() bool { return true }, func() bool { return false }
	b := &bench{Rig: rig.New(t, lib, seed), t: t, rng: rand.New(rand.NewPCG(seed, 1)), ask: yes, pop: yes, change: no, look: no, p: p,
		table: make([]record, 1<<p.EIW), offsets: make([][4]offset, 1<<p.EIW)}
	b.ipID = []uint16{0x1111, 0, 0xFFFF}[seed%3]
	b.Set("cfg_ip_id", uint64(b.ipID))
	for ei := range b.table {
		for w := range b.table[ei] {
			b.write(ei, w, b.rng.Uint32())
			b.Clock()
		}
	}
	b.Set("tbl_ep_we", 0)
	for ei := range b.offsets {
		for rng := range 4 {
			keep := b.move(ei, rng)
			b.Clock()
			keep()
		}
	}
	b.Set("off_we", 0)
	return b
}

func (b *bench) write(ei, w int, v uint32) {
	b.drive(ei, w, v)
	b.table[ei][w] = v
}

// drive offers a word of an endpoint's record.
func (b *bench) drive(ei, w int, v uint32) {
	b.Set("tbl_ep_we", 1)
	b.Set("tbl_index", uint64(ei))
	b.Set("tbl_word", uint64(w))
	b.Set("tbl_data", uint64(v))
}

// move offers an endpoint new offsets in a range; keep is called when they are in.
func (b *bench) move(ei, rng int) (keep func()) {
	o := offset{b.rng.Uint32N(1 << 24), b.rng.Uint32N(1 << 24)}
	b.Set("off_we", 1)
	b.Set("off_ei", uint64(ei))
	b.Set("off_rng", uint64(rng))
	b.Set("off_out", uint64(o[0]))
	b.Set("off_in", uint64(o[1]))
	return func() {
		switch {
		case b.p.InBand == 0:
		case b.p.Single != 0:
			one := offset{o[0], o[0]}
			b.offsets[ei] = [4]offset{one, one, one, one}
		default:
			b.offsets[ei][rng] = o
		}
	}
}

// changes offers a word and offsets, or one of the two; keep is called when they are in.
func (b *bench) changes() (keep func()) {
	word, offsets := func() {}, func() {}
	which := b.rng.IntN(3)
	if which > 0 {
		offsets = b.move(b.rng.IntN(len(b.table)), b.rng.IntN(4))
	}
	if which < 2 || b.p.InBand == 0 {
		ei, w, v := b.rng.IntN(len(b.table)), b.rng.IntN(regs.Words), b.rng.Uint32()
		b.drive(ei, w, v)
		word = func() { b.table[ei][w] = v }
	}
	return func() {
		word()
		offsets()
	}
}

func (b *bench) cycle() {
	asks := b.next < len(b.requests) && b.ask()
	b.SetBool("req_valid", asks)
	if asks {
		q := b.requests[b.next]
		b.Set("req_ei", uint64(q.ei))
		b.Set("req_opcode", uint64(q.opcode))
		b.SetBool("req_se", q.se)
		b.SetBool("req_ce", q.ce)
		b.Set("req_pad", uint64(q.pad))
		b.Set("req_psn", uint64(q.psn))
		b.SetBool("req_in_band", q.inBand)
		b.Set("req_rng", uint64(q.rng))
		b.Set("req_dir", uint64(q.dir))
		b.Set("req_ext", uint64(q.ext))
		b.Set("req_plen", uint64(q.payload))
		b.Set("req_words", words(q.payload))
	}
	b.Set("hdr_pop", 0)
	b.Set("tbl_ep_we", 0)
	b.Set("off_we", 0)
	keep := func() {}
	changes := b.change()
	if changes {
		keep = b.changes()
	}
	if !b.looking && b.look() {
		b.looking, b.at, b.nth = true, b.present(), 2+b.rng.IntN(8)
		b.Set("get_index", uint64(b.at))
		b.Set("get_word", uint64(b.nth))
	}
	b.SetBool("get_valid", b.looking)
	b.Settle()
	pops := b.Is("hdr_valid") && b.pop()
	b.SetBool("hdr_pop", pops)
	b.Settle() // with ONE_BEAT req_ready follows hdr_pop
	gets := b.looking && !b.given && !(b.p.OnePort != 0 && changes)
	word := b.table[b.at][b.nth] & mask(b.nth)
	require.False(b.t, gets && b.Is("req_ready"), "a request and the registers at once")
	if b.p.OnePort != 0 && changes {
		require.False(b.t, b.Is("req_ready"), "a request and a write at once")
		b.waited++
	}
	b.waits(pops, gets, b.p.OnePort != 0 && changes)
	if asks && b.Is("req_ready") { // a record that is written in this cycle is the old one
		q := b.requests[b.next]
		b.want = append(b.want, want(b.table[q.ei], q, b.ipID, b.offsets[q.ei][q.rng]))
		b.askedAt = append(b.askedAt, b.Now()+1)
		b.next++
	}
	b.Clock()
	keep()
	require.Equal(b.t, b.given, b.Is("got"))
	if b.given {
		require.Equal(b.t, uint64(b.word), b.Get("got_data"))
		b.looked++
		b.looking = false
	}
	if b.given = gets; gets {
		b.word = word
	}
	if pops {
		h := header{port: b.Get("hdr_port"), plen: b.Get("hdr_plen"), words: b.Get("hdr_words"), covered: b.Get("hdr_covered"),
			total: b.Get("hdr_total"), long: b.Is("hdr_long"), bytes: b.Bytes("hdr_bytes")}
		h.bytes[24] |= byte(b.checksum() >> 8) // zeros leave it as it is
		h.bytes[25] |= byte(b.checksum())
		if !h.long {
			h.bytes = h.bytes[:54]
		}
		b.got = append(b.got, h)
		b.gotAt = append(b.gotAt, b.Now())
	}
}

// waits follows the header that waits for the register, if there is one: when the registers get a word it has to read its record again, unless it
// goes on in that cycle. Offsets and the port are read once.
func (b *bench) waits(pops, gets, taken bool) {
	headers := len(b.want) - len(b.got)
	if b.Is("hdr_valid") {
		headers--
	}
	switch {
	case headers == 0 || (!b.lost && (!b.Is("hdr_valid") || pops)):
	case gets:
		b.lost = true
	case b.lost && !taken:
		b.lost = false
		b.again++
		q := b.requests[b.next-1]
		was := b.want[len(b.want)-1]
		h := want(b.table[q.ei], q, b.ipID, offset{})
		h.port = was.port
		copy(h.bytes[51:54], was.bytes[51:54])
		b.want[len(b.want)-1] = h
	}
}

// checksum is the IP checksum that the head's two numbers make.
func (b *bench) checksum() uint16 {
	sum := b.Get("hdr_sum_a") + b.Get("hdr_sum_b")
	return ^uint16(sum + sum>>16)
}

func (b *bench) run(t *testing.T) {
	t.Helper()
	for n := 0; len(b.got) < len(b.requests); n++ {
		require.Less(t, n, 100000, "%d headers of %d", len(b.got), len(b.requests))
		b.cycle()
	}
	for i := range b.want {
		require.Equal(t, b.want[i], b.got[i], "request %d: %+v", i, b.requests[i])
	}
	for range 10 {
		b.cycle()
	}
	require.Len(t, b.got, len(b.requests))
}

// present is an endpoint that a group has; the control plane writes others too.
func (b *bench) present() int { return b.rng.IntN(b.p.Groups)<<b.p.EPW | b.rng.IntN(b.p.MaskW) }

func (b *bench) some() request {
	ops := []roce.Opcode{0, 1, 2, 3, 4, 5, roce.Acknowledge, roce.CNP}
	q := request{ei: b.present(), opcode: ops[b.rng.IntN(len(ops))], ce: b.rng.IntN(3) == 0, psn: b.rng.Uint32N(1 << 24), ext: b.rng.Uint32(),
		inBand: b.rng.IntN(2) == 0, rng: b.rng.IntN(4), dir: b.rng.IntN(2)}
	if q.opcode.IsSend() {
		q.se = b.rng.IntN(2) == 0
		q.payload = 4 * b.rng.IntN(2048)
		if b.rng.IntN(4) == 0 {
			q.payload = 4 * b.rng.IntN(4)
		}
		q.pad = uint8(b.rng.IntN(4))
	}
	return q
}

// TestAgainstRoce: headers of all kinds at any pace, endpoints' records and offsets changing meanwhile.
func TestAgainstRoce(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]translateheader.TranslateHeader{
		"in-band": mini(), "fixed": fixed(), "late": late(), "late, fixed": lateFixed(), "three groups": three(), "one group": alone(),
		"block RAM": block(mini()), "one beat": oneBeat(block(mini())), "one beat, late": oneBeat(onePort(late())), "one port": onePort(late()), "one port, fixed": onePort(lateFixed()), "one offset": single(mini()), "one offset, one port": single(onePort(late())),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anything(t, p)
		})
	}
}

func anything(t *testing.T, p translateheader.TranslateHeader) {
	lib, again := rig.Lib(t, p), 0
	for seed := range uint64(6) {
		b := newBench(t, lib, p, seed)
		pace := func() func() bool {
			percent := []int{100, 60, 25}[b.rng.IntN(3)]
			return func() bool { return b.rng.IntN(100) < percent }
		}
		b.ask, b.pop = pace(), pace()
		if seed != 2 {
			b.look = func() bool { return b.rng.IntN(5) == 0 }
		}
		if seed%2 == 1 {
			b.change = func() bool { return b.rng.IntN(3) == 0 }
		}
		for range 500 {
			b.requests = append(b.requests, b.some())
		}
		b.run(t)
		require.Equal(t, seed != 2, b.looked > 50)
		again += b.again
		require.Equal(t, p.OnePort != 0 && seed%2 == 1, b.waited > 50)
	}
	require.Greater(t, again, 20)
}

// mask are the bits that exist in a word of an endpoint's record.
func mask(word int) uint32 {
	for _, r := range regs.Map() {
		if r.Index == "ei" && r.Word() == word {
			return r.Mask()
		}
	}
	return 0
}

// TestChecksumCarries: IP headers whose sum folds into one that must be folded again, and their neighbours.
func TestChecksumCarries(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	b := newBench(t, lib, mini(), 2)
	twice := 0
	for n := range 400 {
		q := b.some()
		q.ei = 5
		r := &b.table[q.ei]
		for w := range r {
			b.write(q.ei, w, b.rng.Uint32())
			if n%2 == 0 && w != epRemoteIP {
				b.write(q.ei, w, 0xFFFFFFFF)
			}
			b.Clock()
		}
		// the last 16 bits are chosen so that the sum's own end in `low`
		r[epRemoteIP] &= 0xFFFF0000
		low := uint32(0x10003-n%8) & 0xFFFF
		ip := want(*r, q, b.ipID, offset{}).bytes[14:34]
		sum := uint32(0)
		for i := 0; i < 20; i += 2 {
			if i != 10 {
				sum += uint32(ip[i])<<8 | uint32(ip[i+1])
			}
		}
		r[epRemoteIP] |= (low - sum) & 0xFFFF
		b.write(q.ei, epRemoteIP, r[epRemoteIP])
		b.Clock()
		sum += (low - sum) & 0xFFFF
		if sum&0xFFFF+sum>>16 > 0xFFFF {
			twice++
		}
		b.requests = append(b.requests, q)
		b.run(t)
	}
	require.Greater(t, twice, 100)
}

// TestTiming: the cycles that the head of the file states.
func TestTiming(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	b := newBench(t, lib, mini(), 3)
	for range 40 {
		b.requests = append(b.requests, b.some())
	}
	b.run(t)
	require.Equal(t, b.askedAt[0]+2, b.gotAt[0])
	require.Equal(t, uint64(19*3+1), b.gotAt[39]-b.gotAt[0], "two in 3 cycles")

	// one a cycle
	b = newBench(t, rig.Lib(t, oneBeat(mini())), oneBeat(mini()), 3)
	for range 40 {
		b.requests = append(b.requests, b.some())
	}
	b.run(t)
	require.Equal(t, b.askedAt[0]+2, b.gotAt[0])
	require.Equal(t, uint64(39), b.gotAt[39]-b.gotAt[0], "bubbles")

	// one in 2 cycles
	b, odd := newBench(t, lib, mini(), 3), false
	b.pop = func() bool { odd = !odd; return odd }
	for range 40 {
		b.requests = append(b.requests, b.some())
	}
	b.run(t)
	require.Equal(t, uint64(39*2), b.gotAt[39]-b.gotAt[0], "bubbles")

	// nobody takes headers: two wait, a request is not lost, and the registers get their words
	b = newBench(t, lib, mini(), 4)
	b.pop = func() bool { return false }
	for range 6 {
		b.requests = append(b.requests, b.some())
	}
	b.look = func() bool { return b.looked < 10 }
	for range 40 {
		b.cycle()
	}
	require.Equal(t, 2, b.next)
	require.Equal(t, 10, b.looked)
	b.pop = func() bool { return true }
	b.run(t)
}
