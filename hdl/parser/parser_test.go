// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/parser"
	"incforge/internal/testcost"
	"incforge/roce"
	"incforge/sim"
	"incforge/sim/axis"
)

// shape is a parser of t_parser: its width, its MTU_BYTES and its EOF_DELAY.
type shape struct{ width, mtu, delay int }

func narrow() []shape {
	return []shape{{8, 256, 0}, {16, 256, 3}, {32, 256, 0}, {64, 256, 0}, {128, 256, 2}}
}

func wide() []shape { return []shape{{128, 4096, 1}, {512, 4096, 2}} }

func widest() []shape { return []shape{{2048, 4096, 5}} }

// covered is the cycle of a covered beat after that of the beat on raw_*.
func (s shape) covered() uint64 {
	if s.width > 64 {
		return 1
	}
	return 0
}

// header is what the parser must say of a frame. Fields without meaning (not RoCEv2, too long) are zero.
type header struct {
	Port                             uint64
	RoCEv2                           bool
	QPN, SrcIP, DstIP                uint64
	PKeyOK, CE, SumOK, LenOK, TVerOK bool
	Opcode                           uint64
	SE                               bool
	Pad, PSN, Ext                    uint64
	TooLong                          bool
	PLen, Words                      uint64
}

// model is the plain model: docs/engine.md section 3, rule by rule, on the whole frame.
type model struct {
	header
	hasExt   bool // the frame reaches to the end of the AETH or immediate
	hasPLen  bool // a send of good lengths
	imm      bool // the opcode has an immediate
	whole    bool // the frame reaches to the end of the datagram
	end      int  // of the IP datagram
	complete bool // a good frame
}

func modelOf(f []byte, port uint64, s shape) model {
	width, mtu := s.width, s.mtu
	var m model
	m.Port = port
	be := binary.BigEndian
	if len(f) < 54 || be.Uint16(f[12:]) != 0x0800 || f[14] != 0x45 || f[23] != 17 || be.Uint16(f[20:])&0x3FFF != 0 || be.Uint16(f[36:]) != 4791 {
		return m
	}
	m.RoCEv2 = true
	m.QPN, m.SrcIP, m.DstIP = uint64(be.Uint32(f[46:])&0xFFFFFF), uint64(be.Uint32(f[26:])), uint64(be.Uint32(f[30:]))
	m.PKeyOK, m.CE, m.TVerOK = be.Uint16(f[44:]) == 0xFFFF, f[15]&3 == 3, f[43]&15 == 0
	sum := 0
	for i := 14; i < 34; i += 2 {
		sum += int(be.Uint16(f[i:]))
	}
	for sum > 0xFFFF {
		sum = sum&0xFFFF + sum>>16
	}
	m.SumOK = sum == 0xFFFF
	m.Opcode, m.SE, m.Pad, m.PSN = uint64(f[42]), f[43]&0x80 != 0, uint64(f[43]>>4&3), uint64(be.Uint32(f[50:])&0xFFFFFF)
	if len(f) >= 58 {
		m.hasExt, m.Ext = true, uint64(be.Uint32(f[54:]))
	}

	total, udp := int(be.Uint16(f[16:])), int(be.Uint16(f[38:]))
	op, ext := f[42], 0
	switch op {
	case 0x03, 0x05, 0x11:
		ext = 4
	case 0x81:
		ext = 16
	}
	send := op <= 0x05
	body := udp - 24 - ext
	plen := body - int(m.Pad)
	m.LenOK = total == udp+20 && body >= 0
	if op == 0x11 || op == 0x81 {
		m.LenOK = m.LenOK && body == 0
	}
	if send {
		m.LenOK = m.LenOK && body%4 == 0 && plen >= 0
		m.TooLong = plen > mtu
		m.Words = uint64(min(max(plen+width-1, 0), mtu) / width)
	}
	m.end = total + 14
	m.whole = len(f) >= m.end
	m.imm = op == 0x03 || op == 0x05
	if send && m.LenOK && !m.TooLong {
		m.hasPLen, m.PLen = true, uint64(plen)
	}
	m.complete = m.LenOK && m.whole
	return m
}

// bench is one parser of t_parser and all that it said, with the cycle in which it did.
type bench struct {
	shape
	m    *sim.Model
	port map[string]*sim.Port
	src  *axis.Source
	mon  *axis.Monitor

	taken    []uint64 // cycle of every beat
	raw, crc []beat
	seek     []said[sought]
	hdr      []said[header]
	eof      []said[ending]
	tails    map[uint64]uint64 // crc_tail by cycle
	lastRoom bool
	stalls   int
	behind   int // beats since room fell
	most     int
}

func b2i(v bool) int {
	if v {
		return 1
	}
	return 0
}

type beat struct {
	cycle       uint64
	data, keep  []byte
	first, last bool
	err         bool
	store, imm  bool
}

type said[T any] struct {
	cycle uint64
	v     T
}

// sought is by what a header's records are found.
type sought struct {
	QPN, Root uint64
}

type ending struct {
	Err, LenOK bool
}

func newBench(t *testing.T, m *sim.Model, s shape, idle axis.Pause, full axis.Pause) *bench {
	t.Helper()
	b := &bench{shape: s, tails: map[uint64]uint64{}, m: m, port: map[string]*sim.Port{}}
	prefix := fmt.Sprintf("p%d_", s.width)
	for _, p := range m.Lib().Ports() {
		if len(p.Name) > len(prefix) && p.Name[:len(prefix)] == prefix {
			port, err := m.Port(p.Name)
			require.NoError(t, err)
			b.port[p.Name[len(prefix):]] = port
		}
	}
	var err error
	b.src, err = axis.NewSource(m, prefix+"s_axis")
	require.NoError(t, err)
	b.src.SetPause(idle)
	b.mon, err = axis.NewMonitor(m, prefix+"s_axis")
	require.NoError(t, err)
	m.OnSample(b.sample)
	m.OnDrive(func() { b.port["room"].SetBool(full == nil || !full()) })
	return b
}

func (b *bench) is(name string) bool    { return b.port[name].Bool() }
func (b *bench) get(name string) uint64 { return b.port[name].Uint64() }
func (b *bench) bytes(name string) []byte {
	return append([]byte(nil), b.port[name].Bytes()...)
}

func (b *bench) sample() {
	now := b.m.Now()
	rst, err := b.m.Port("rst")
	if err != nil || rst.Bool() {
		if now >= 2 && b.is("s_axis_tready") {
			b.m.Fail(fmt.Errorf("cycle %d: ready in reset", now))
		}
		b.lastRoom = false
		return
	}
	if b.is("s_axis_tready") != b.lastRoom {
		b.m.Fail(fmt.Errorf("cycle %d, %d bytes: ready is %t, room was %t in the cycle before", now, b.width, b.is("s_axis_tready"), b.lastRoom))
	}
	b.lastRoom = b.is("room")
	if b.lastRoom {
		b.behind = 0
	} else if b.behind += b2i(b.is("raw_valid")); b.behind > parser.BeatsBehind {
		b.m.Fail(fmt.Errorf("cycle %d, %d bytes: %d beats behind the fall of room", now, b.width, b.behind))
	}
	b.most = max(b.most, b.behind)
	if b.is("s_axis_tvalid") {
		if b.is("s_axis_tready") {
			b.taken = append(b.taken, now)
		} else {
			b.stalls++
		}
	}
	if b.is("raw_valid") {
		b.raw = append(b.raw, beat{cycle: now, data: b.bytes("raw_data"), keep: b.bytes("raw_keep"), last: b.is("raw_last"), err: b.is("raw_err"),
			store: b.is("raw_store"), imm: b.is("raw_imm")})
	}
	if b.is("crc_valid") {
		b.crc = append(b.crc, beat{cycle: now, data: b.bytes("crc_data"), first: b.is("crc_first")})
	}
	if b.is("seek_valid") {
		b.seek = append(b.seek, said[sought]{now, sought{QPN: b.get("seek_qpn"), Root: b.get("seek_root")}})
	}
	if b.is("hdr_valid") {
		b.hdr = append(b.hdr, said[header]{now, header{
			Port: b.get("hdr_port"), RoCEv2: b.is("hdr_rocev2"), QPN: b.get("hdr_qpn"), SrcIP: b.get("hdr_src_ip"), DstIP: b.get("hdr_dst_ip"),
			PKeyOK: b.is("hdr_pkey_ok"), CE: b.is("hdr_ce"), SumOK: b.is("hdr_sum_ok"), LenOK: b.is("hdr_len_ok"), TVerOK: b.is("hdr_tver_ok"),
			Opcode: b.get("hdr_opcode"), SE: b.is("hdr_se"), Pad: b.get("hdr_pad"), PSN: b.get("hdr_psn"), Ext: b.get("hdr_ext"),
			TooLong: b.is("hdr_too_long"), PLen: b.get("hdr_plen"), Words: b.get("hdr_words"),
		}})
	}
	if b.is("eof_valid") {
		b.eof = append(b.eof, said[ending]{now, ending{Err: b.is("eof_err"), LenOK: b.is("eof_len_ok")}})
	}
	b.tails[now] = b.get("crc_tail")
}

// check holds all that was said against the model, to the cycle. The faults of a wrong latency are planted by late.
func (b *bench) check(frames []axis.Frame, late uint64) error {
	w := b.width
	if len(b.seek) != len(frames) || len(b.hdr) != len(frames) || len(b.eof) != len(frames) || len(b.raw) != len(b.taken) {
		return fmt.Errorf("%d frames of %d beats gave %d headers, %d ends, %d beats", len(frames), len(b.taken), len(b.hdr), len(b.eof), len(b.raw))
	}
	at := 0
	for i, f := range frames {
		n := (len(f.Data) + w - 1) / w
		taken, raw := b.taken[at:at+n], b.raw[at:at+n]
		at += n
		want := modelOf(f.Data, f.User>>1, b.shape)
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%d bytes wide, frame %d of %d bytes %x: %s", w, i, len(f.Data), f.Data[:min(len(f.Data), 60)], fmt.Sprintf(format, args...))
		}
		for j, r := range raw {
			part := f.Data[j*w : min((j+1)*w, len(f.Data))]
			switch {
			case r.cycle != taken[j]+1+late:
				return bad("beat %d was taken in cycle %d and is raw in %d", j, taken[j], r.cycle)
			case !bytes.Equal(r.data[:len(part)], part) || ones(r.keep) != len(part) || r.last != (j == n-1) || (r.last && r.err != (f.User&1 != 0)):
				return bad("raw beat %d is %+v", j, r)
			case !r.store:
				return bad("raw beat %d is not to be kept", j)
			case want.RoCEv2 && j >= 42/w && r.imm != want.imm:
				return bad("raw beat %d says %t of an immediate", j, r.imm)
			}
		}

		got := b.hdr[i]
		if c := taken[min(57/w, n-1)] + 2; got.cycle != c {
			return bad("header in cycle %d, want %d", got.cycle, c)
		}
		seek := b.seek[i]
		if d := cmp.Diff(sought{QPN: got.v.QPN, Root: got.v.Ext >> 20 & 31}, seek.v); d != "" || seek.cycle != got.cycle-1 {
			return bad("header in cycle %d, sought in %d (-header +sought):\n%s", got.cycle, seek.cycle, d)
		}
		if !want.RoCEv2 {
			got.v = header{Port: got.v.Port, RoCEv2: got.v.RoCEv2}
		}
		if !want.hasExt {
			got.v.Ext = 0
		}
		if !want.hasPLen {
			got.v.PLen = 0
		}
		if d := cmp.Diff(want.header, got.v); d != "" {
			return bad("header (-want +got):\n%s", d)
		}

		end := b.eof[i]
		if c := taken[n-1] + 2 + uint64(b.delay); end.cycle != c || end.v.Err != (f.User&1 != 0) {
			return bad("end %+v, want it in cycle %d", end, c)
		}
		if want.RoCEv2 && end.v.LenOK != want.whole {
			return bad("eof_len_ok is %t", end.v.LenOK)
		}

		// what covers the CRC: of frames whose lengths are good
		first, last := taken[0]+1, taken[n-1]+1
		var crc []beat
		for len(b.crc) > 0 && b.crc[0].cycle <= last+b.covered() {
			if c := b.crc[0].cycle - b.covered(); c < first || b.crc[0].first != (c == first) {
				return bad("covered beat %+v", b.crc[0])
			}
			crc, b.crc = append(crc, b.crc[0]), b.crc[1:]
		}
		if want.RoCEv2 && want.complete {
			if tail := b.tails[taken[(want.end-1)/w]+1+2*b.covered()]; int(tail) != (w-want.end%w)%w {
				return bad("crc_tail is %d, the datagram ends at %d", tail, want.end)
			}
			masked := mask(f.Data[:want.end])
			if len(crc) != (want.end+w-1)/w {
				return bad("%d covered beats, the datagram ends at %d", len(crc), want.end)
			}
			for j, c := range crc {
				if part := padded(masked, j*w, w); c.cycle != taken[j]+1+b.covered() || !bytes.Equal(c.data, part) {
					return bad("covered beat %d in cycle %d is\n%x, want in cycle %d\n%x", j, c.cycle, c.data, taken[j]+1+b.covered(), part)
				}
			}
		}
	}
	if len(b.crc) != 0 {
		return fmt.Errorf("%d bytes wide: %d covered beats too many", w, len(b.crc))
	}
	return nil
}

func ones(keep []byte) (n int) {
	for i := range 8 * len(keep) {
		n += int(keep[i/8] >> (i % 8) & 1)
	}
	return n
}

// mask is the frame as the ICRC sees it, with zeros for the Ethernet header.
func mask(f []byte) []byte {
	m := bytes.Clone(f)
	clear(m[:14])
	for _, i := range []int{15, 22, 24, 25, 40, 41, 46} {
		m[i] = 0xFF
	}
	return m
}

// flip is a copy in which every record was spoilt.
func flip[T any](records []T, spoil func(*T)) []T {
	out := slices.Clone(records)
	for i := range out {
		spoil(&out[i])
	}
	return out
}

func padded(b []byte, from, n int) []byte {
	out := make([]byte, n)
	copy(out, b[min(from, len(b)):])
	return out
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func packet(r *rand.Rand, op roce.Opcode, payload int) *roce.Packet {
	p := &roce.Packet{
		DstMAC: roce.MACFromUint64(r.Uint64()), SrcMAC: roce.MACFromUint64(r.Uint64()), TOS: uint8(r.Uint32()), TTL: uint8(r.Uint32()),
		IPID: uint16(r.Uint32()), DF: r.IntN(2) == 0, SrcIP: roce.IP4FromUint32(r.Uint32()), DstIP: roce.IP4FromUint32(r.Uint32()),
		SrcPort: uint16(r.Uint32()), Op: op, SE: r.IntN(2) == 0, MigReq: r.IntN(2) == 0, TVer: uint8(r.IntN(4) / 3 * r.IntN(16)), PKey: 0xFFFF,
		FECN: r.IntN(2) == 0, BECN: r.IntN(2) == 0, ReservedQP: uint8(r.IntN(64)), DestQP: r.Uint32() >> 8, AckReq: r.IntN(2) == 0,
		ReservedPSN: uint8(r.IntN(128)), PSN: roce.PSN(r.Uint32() >> 8), Syndrome: uint8(r.Uint32()), MSN: r.Uint32() >> 8, Imm: r.Uint32(),
	}
	if r.IntN(8) == 0 {
		p.PKey = uint16(r.Uint32())
	}
	switch {
	case op.IsSend():
		p.Payload = random(r, payload)
		p.Pad = uint8(-payload & 3)
	case op == roce.CNP:
		p.Payload = random(r, 16)
	case op != roce.Acknowledge:
		p.Payload = random(r, payload)
	}
	return p
}

// traffic is every payload length and opcode, every frame length, and frames with faults in all places. With an MTU above 256
// it is the lengths about the ends of beats, and a sample of the rest.
func traffic(r *rand.Rand, mtu int) []axis.Frame {
	few := mtu > 256
	share := func(n int) int {
		if few {
			return n / 4
		}
		return n
	}
	sends := []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast, roce.SendLastImm, roce.SendOnly, roce.SendOnlyImm}
	var out [][]byte
	add := func(p *roce.Packet, o roce.FrameOptions) { out = append(out, p.AppendFrameWith(nil, o)) }
	good, bare := roce.GoodFrame(), roce.GoodFrame()
	bare.MinFrame = 0
	for n := range mtu + 20 { // also too long
		if at := (n + 64) % 128; few && (at < 4 || at >= 16) && n%37 != 0 { // headers and ICRC are 58 or 62 bytes
			continue
		}
		add(packet(r, sends[n%len(sends)], n), good)
		if n%4 == 0 {
			add(packet(r, roce.SendOnlyImm, n), bare)
			add(packet(r, roce.SendOnly, n), bare)
		}
	}
	for op := range 256 {
		add(packet(r, roce.Opcode(op), 4*r.IntN(30)), good)
		add(packet(r, roce.Opcode(op), r.IntN(8)), bare)
	}
	for n := 1; n <= 400; n++ { // a frame cut off, or with Ethernet padding behind it
		f := packet(r, sends[r.IntN(6)], r.IntN(mtu)).AppendFrame(nil)
		if n <= len(f) {
			out = append(out, f[:n])
		} else {
			out = append(out, append(f, random(r, n-len(f))...))
		}
	}
	for range share(400) { // lengths that lie, alone or together
		p := packet(r, sends[r.IntN(6)], r.IntN(80))
		if r.IntN(4) == 0 {
			p = packet(r, []roce.Opcode{roce.Acknowledge, roce.CNP, 0x0A}[r.IntN(3)], 20)
		}
		f := p.AppendFrame(nil)
		be := binary.BigEndian
		udp, total := be.Uint16(f[38:]), be.Uint16(f[16:])
		delta := uint16(r.IntN(90) - 45)
		switch r.IntN(4) {
		case 0:
			udp += delta
		case 1:
			total += delta
		case 2:
			udp, total = udp+delta, total+delta
		case 3:
			udp = uint16(r.Uint32())
			total = udp + 20
		}
		be.PutUint16(f[38:], udp)
		be.PutUint16(f[16:], total)
		if r.IntN(2) == 0 {
			roce.Reseal(f)
		}
		out = append(out, f)
	}
	for range share(600) { // one bit of the headers
		f := packet(r, sends[r.IntN(6)], r.IntN(40)).AppendFrame(nil)
		bit := 8*12 + r.IntN(8*(54-12))
		f[bit/8] ^= 1 << (bit % 8)
		out = append(out, f)
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if few { // bypassed frames, or too long
		for _, n := range []int{8940, 9000, 9001} {
			add(packet(r, roce.SendOnly, n), good)
		}
	}
	// Jumbo frames: as long as IP allows, and far longer than that.
	add(packet(r, roce.SendOnly, 60000), good)
	out = append(out, append(packet(r, roce.SendOnly, 16).AppendFrame(nil), random(r, 140000)...), packet(r, roce.SendOnly, 16).AppendFrame(nil))
	var frames []axis.Frame
	for _, f := range out {
		user := r.Uint64N(16)
		if r.IntN(4) != 0 {
			user &^= 1
		}
		frames = append(frames, axis.Frame{Data: f, User: user, FirstUser: user})
	}
	return frames
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	t.Run("narrow", func(t *testing.T) { t.Parallel(); againstModel(t, narrow(), nil) })
	t.Run("wide", func(t *testing.T) { t.Parallel(); againstModel(t, wide(), map[string]string{"WIDE": ""}) })
	if os.Getenv("INCFORGE_LONG") != "" { // takes a compiler minutes: make long
		t.Run("widest", func(t *testing.T) { t.Parallel(); againstModel(t, widest(), map[string]string{"WIDEST": ""}) })
	}
}

func againstModel(t *testing.T, shapes []shape, defines map[string]string) {
	lib, err := sim.Build{Top: "t_parser", Brief: true, Files: []string{"testdata/t_parser.sv", "inc_parser.v"}, Defines: defines}.Compile(testcost.Context(t))
	require.NoError(t, err)
	none := func(uint64) axis.Pause { return nil }
	half := func(s uint64) axis.Pause { return axis.Probability(s, 0.5) }
	bursts := func(s uint64) axis.Pause { return axis.Bursts(s, 9, 4) }
	for i, c := range []struct {
		name       string
		idle, full func(uint64) axis.Pause
	}{{"back to back", none, none}, {"both", bursts, half}, {"idle", half, none}, {"pressure", none, bursts}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(i)
			frames := traffic(rand.New(rand.NewPCG(seed, 4)), shapes[0].mtu)
			if i > 1 {
				frames = frames[:len(frames)/2] // without the jumbo frames
			}
			m, err := lib.New(sim.Options{Random: true, Seed: seed})
			require.NoError(t, err)
			t.Cleanup(m.Close)
			var benches []*bench
			for _, s := range shapes {
				w := uint64(s.width)
				b := newBench(t, m, s, c.idle(seed+w), c.full(seed+w+1))
				benches = append(benches, b)
				for _, f := range frames {
					require.NoError(t, b.src.Send(f))
				}
			}
			require.NoError(t, m.ResetFor(2))
			require.NoError(t, m.Run(1000000, func() bool { return benches[0].src.Pending() == 0 }))
			for range 10 {
				require.NoError(t, m.Tick())
			}
			for _, b := range benches {
				require.Zero(t, b.src.Pending())
				if c.name == "back to back" {
					require.Equal(t, uint64(len(b.taken)), b.taken[len(b.taken)-1]-b.taken[0]+1, "a beat a cycle")
				} else if c.name != "idle" {
					require.Positive(t, b.stalls)
					require.Equal(t, parser.BeatsBehind, b.most, "%d bytes: beats behind the fall of room", b.width)
				}
				late := *b
				require.ErrorContains(t, late.check(frames, 1), "and is raw in", "a latency one too long must be found")
				for want, plant := range map[string]func(b *bench){
					"header (-want +got)": func(b *bench) { b.hdr = flip(b.hdr, func(h *said[header]) { h.v.PSN ^= 1 }) },
					"of an immediate":     func(b *bench) { b.raw = flip(b.raw, func(x *beat) { x.imm = !x.imm }) },
					"not to be kept":      func(b *bench) { b.raw = flip(b.raw, func(x *beat) { x.store = false }) },
					"covered beat":        func(b *bench) { b.crc = flip(b.crc, func(x *beat) { x.data = padded(x.data, 1, b.width) }) },
					"end {":               func(b *bench) { b.eof = flip(b.eof, func(e *said[ending]) { e.v.Err = !e.v.Err }) },
				} {
					broken := *b
					plant(&broken)
					require.ErrorContains(t, broken.check(frames, 0), want, "a planted fault must be found")
				}
				require.NoError(t, b.check(frames, 0))
			}
		})
	}
}

// TestModelAgreesWithRoCE holds the plain model of this test against package roce, over the same traffic.
func TestModelAgreesWithRoCE(t *testing.T) {
	t.Parallel()
	good, notOurs := 0, 0
	for _, f := range traffic(rand.New(rand.NewPCG(1, 1)), 256) {
		m := modelOf(f.Data, 0, shape{width: 8, mtu: 256})
		p, err := roce.Decode(f.Data)
		reason := roce.ReasonOf(err)
		require.Equal(t, !m.RoCEv2, reason.NotRoCE(), "%v", err)
		if reason.NotRoCE() {
			notOurs++
			continue
		}
		require.Equal(t, []any{m.QPN, m.PSN, m.Opcode, m.SE, m.Pad, m.CE, m.TVerOK, m.PKeyOK},
			[]any{uint64(p.DestQP), uint64(p.PSN), uint64(p.Op), p.SE, uint64(p.Pad), p.CE(), p.TVer == 0, p.PKey == roce.DefaultPKey})
		require.Equal(t, []uint64{m.SrcIP, m.DstIP}, []uint64{uint64(p.SrcIP.Uint32()), uint64(p.DstIP.Uint32())})
		require.Equal(t, m.SumOK, reason != roce.ReasonIPChecksum)
		if !m.SumOK || p.Op.IsWrite() { // Decode stops, or knows more of an RDMA WRITE than the engine does
			continue
		}
		require.Equal(t, m.LenOK && m.whole, err == nil, "%v", err)
		if err == nil && m.hasPLen {
			good++
			require.Equal(t, int(m.PLen), len(p.Payload))
			start := parser.Start
			if m.imm {
				start = parser.StartImm
			}
			require.Equal(t, p.Payload, f.Data[start:start+len(p.Payload)])
		}
	}
	require.Greater(t, good, 400)
	require.Greater(t, notOurs, 100)
}

func TestGate(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "inc_gate", Brief: true, Files: []string{"inc_gate.v"}, Params: map[string]string{"WIDTH": "5"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	m, err := lib.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	each, err := m.Port("each")
	require.NoError(t, err)
	all, err := m.Port("all")
	require.NoError(t, err)
	for v := range uint64(32) {
		each.SetUint64(v)
		require.NoError(t, m.Eval())
		require.Equal(t, v == 31, all.Bool(), "%05b", v)
	}
}
