// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func sample(op Opcode, payload int) Packet {
	p := Packet{
		DstMAC: MAC{2, 0, 0, 0, 0, 2}, SrcMAC: MAC{2, 0, 0, 0, 0, 1}, TOS: 0x68, TTL: 63, IPID: 0x1234, DF: true,
		SrcIP: IP4{10, 0, 0, 101}, DstIP: IP4{10, 0, 0, 1}, SrcPort: 0xC123,
		Op: op, SE: true, PKey: DefaultPKey, DestQP: 0xABCDEF, AckReq: true, PSN: 0x123456,
		Payload: make([]byte, payload),
	}
	for i := range p.Payload {
		p.Payload[i] = byte(i*7 + 1)
	}
	return p
}

// Every bit of the datagram, ICRC included, is covered but for the masked ones and those that say where the datagram is.
func TestICRCCoversEachBit(t *testing.T) {
	masked := map[int]bool{ethLen + 1: true, ethLen + 8: true, ethLen + 10: true, ethLen + 11: true,
		udpAt + 6: true, udpAt + 7: true, bthAt + 4: true}
	for _, op := range []Opcode{SendOnly, SendLastImm, Acknowledge, CNP, WriteOnlyImm} {
		t.Run(op.String(), func(t *testing.T) {
			p := sample(op, 0)
			switch {
			case op == CNP:
				p = sample(op, cnpLen)
			case op != Acknowledge:
				p = sample(op, 257)
				p.Pad = 3
			}
			frame := p.AppendFrameWith(nil, FrameOptions{FixLengths: true, FixChecksum: true, FixICRC: true})
			require.True(t, CheckICRC(frame))
			kept := 0
			for i := ethLen; i < len(frame); i++ {
				for b := range 8 {
					frame[i] ^= 1 << b
					require.Equal(t, masked[i], CheckICRC(frame), "byte %d bit %d", i, b)
					if masked[i] {
						kept++
					}
					frame[i] ^= 1 << b
				}
			}
			require.Equal(t, 8*7, kept)
			for i := range ethLen {
				frame[i] ^= 0xFF
				require.True(t, CheckICRC(frame), "the Ethernet header is outside")
			}
		})
	}
}

func TestICRCOfOddInputs(t *testing.T) {
	require.Equal(t, uint32(icrcSeed), ICRC(nil))
	for n := range 64 {
		for _, first := range []byte{0x45, 0x4F, 0x40, 0xFF} {
			b := make([]byte, n)
			if n > 0 {
				b[0] = first
			}
			require.NotPanics(t, func() { ICRC(b) })
		}
	}
	p := sample(SendOnly, 8)
	frame := p.AppendFrame(nil)
	for n := range frame {
		want := n >= int(binary.BigEndian.Uint16(frame[ethLen+2:]))+ethLen
		require.Equal(t, want, CheckICRC(frame[:n]), "first %d bytes", n)
		if !want {
			before := bytes.Clone(frame[:n])
			require.False(t, Reseal(frame[:n]))
			require.Equal(t, before, frame[:n])
		}
	}
}

// A frame with IP options has its ICRC where its header length puts the UDP header; gopacket's road agrees.
func TestICRCWithIPOptions(t *testing.T) {
	p := sample(SendOnly, 16)
	plain := p.AppendFrame(nil)
	frame := append([]byte{}, plain[:udpAt]...)
	frame = append(frame, 1, 1, 1, 0) // NOP, NOP, NOP, end
	frame = append(frame, plain[udpAt:]...)
	frame[ethLen] = 0x46
	binary.BigEndian.PutUint16(frame[ethLen+2:], uint16(len(frame)-ethLen))
	require.True(t, Reseal(frame))
	require.True(t, CheckICRC(frame))
	for _, at := range []int{udpAt + 4 + 6, udpAt + 4 + 7, bthAt + 4 + 4, ethLen + 1, ethLen + 8} {
		frame[at] ^= 0x55
		require.True(t, CheckICRC(frame), "byte %d is masked", at)
	}
	frame[bthAt+4] ^= 1 // where the mask would lie without options
	require.False(t, CheckICRC(frame))
	_, err := Decode(frame)
	require.ErrorIs(t, err, ReasonIPOptions)
}

func TestDecodeReasons(t *testing.T) {
	put16 := func(at int, v uint16) func([]byte) []byte {
		return func(f []byte) []byte { binary.BigEndian.PutUint16(f[at:], v); return f }
	}
	put8 := func(at int, v byte) func([]byte) []byte {
		return func(f []byte) []byte { f[at] = v; return f }
	}
	cut := func(n int) func([]byte) []byte { return func(f []byte) []byte { return f[:n] } }
	// lengths writes an IP total length and a UDP length that agree with each other.
	lengths := func(udp uint16) func([]byte) []byte {
		return func(f []byte) []byte { return put16(udpAt+4, udp)(put16(ethLen+2, udp+20)(f)) }
	}
	for _, tc := range []struct {
		name   string
		packet Packet
		change func([]byte) []byte
		want   Reason
	}{
		{"good", sample(SendOnly, 64), cut(122), ReasonNone},
		{"53 bytes", sample(SendOnly, 64), cut(53), ReasonShort},
		{"nothing", sample(SendOnly, 64), cut(0), ReasonShort},
		{"VLAN", sample(SendOnly, 64), put16(12, 0x8100), ReasonEtherType},
		{"IPv6", sample(SendOnly, 64), put16(12, 0x86DD), ReasonEtherType},
		{"version 6", sample(SendOnly, 64), put8(ethLen, 0x65), ReasonIPVersion},
		{"IHL 6", sample(SendOnly, 64), put8(ethLen, 0x46), ReasonIPOptions},
		{"IHL 4", sample(SendOnly, 64), put8(ethLen, 0x44), ReasonIPOptions},
		{"TCP", sample(SendOnly, 64), put8(ethLen+9, 6), ReasonProtocol},
		{"more fragments", sample(SendOnly, 64), put16(ethLen+6, 0x2000), ReasonFragment},
		{"last fragment", sample(SendOnly, 64), put16(ethLen+6, 0x0001), ReasonFragment},
		{"last offset bit", sample(SendOnly, 64), put16(ethLen+6, 0x1000), ReasonFragment},
		{"DF clear", sample(SendOnly, 64), put16(ethLen+6, 0), ReasonNone},
		{"another port", sample(SendOnly, 64), put16(udpAt+2, 4790), ReasonUDPPort},
		{"UDP checksum", sample(SendOnly, 64), put16(udpAt+6, 0xBEEF), ReasonNone},
		{"IP longer than UDP", sample(SendOnly, 64), put16(ethLen+2, 109), ReasonLength},
		{"UDP longer than IP", sample(SendOnly, 64), put16(udpAt+4, 92), ReasonLength},
		{"frame cut", sample(SendOnly, 64), cut(121), ReasonLength},
		{"frame cut to the BTH", sample(SendOnly, 64), cut(54), ReasonLength},
		{"lengths longer than frame", sample(SendOnly, 64), lengths(92), ReasonLength},
		{"lengths of the maximum", sample(SendOnly, 64), lengths(65515), ReasonLength},
		{"lengths of nothing", sample(SendOnly, 64), lengths(0), ReasonLength},
		{"lengths shorter, payload with them", sample(SendOnly, 64), lengths(84), ReasonNone},
		{"not whole words", sample(SendOnly, 64), lengths(86), ReasonLength},
		{"no room for the ICRC", sample(SendOnly, 64), lengths(20), ReasonLength},
		{"empty SEND", sample(SendOnly, 64), lengths(24), ReasonNone},
		{"no room for the immediate", sample(SendOnlyImm, 64), lengths(24), ReasonLength},
		{"empty SEND with immediate", sample(SendOnlyImm, 64), lengths(28), ReasonNone},
		{"pad of nothing", sample(SendOnly, 0), put8(bthAt+1, 0x10), ReasonLength},
		{"nothing but pad", sample(SendOnly, 4), put8(bthAt+1, 0x30), ReasonNone},
		{"ACK", sample(Acknowledge, 0), lengths(28), ReasonNone},
		{"ACK without AETH", sample(Acknowledge, 0), lengths(24), ReasonLength},
		{"ACK with more", sample(Acknowledge, 4), lengths(32), ReasonLength},
		{"ACK with pad count", sample(Acknowledge, 0), put8(bthAt+1, 0x30), ReasonNone},
		{"CNP", sample(CNP, 16), lengths(40), ReasonNone},
		{"CNP too short", sample(CNP, 16), lengths(36), ReasonLength},
		{"CNP too long", sample(CNP, 20), lengths(44), ReasonLength},
		{"unknown opcode", sample(0xFF, 5), put8(bthAt+1, 0x30), ReasonNone},
		{"unknown opcode, empty", sample(0x64, 0), put8(bthAt+1, 0x30), ReasonNone},
		{"unknown opcode, no room for the ICRC", sample(0x64, 0), lengths(23), ReasonLength},
		{"WRITE", sample(WriteFirst, 64), lengths(104), ReasonNone},
		{"WRITE without RETH", sample(WriteFirst, 64), lengths(36), ReasonWriteLength},
		{"WRITE without ICRC", sample(WriteFirst, 64), lengths(20), ReasonLength},
		{"WRITE not whole words", sample(WriteMiddle, 64), lengths(25), ReasonWriteLength},
		{"WRITE with pad of nothing", sample(WriteMiddle, 0), put8(bthAt+1, 0x10), ReasonWriteLength},
	} {
		t.Run(tc.name, func(t *testing.T) {
			frame := tc.change(tc.packet.AppendFrame(nil))
			Reseal(frame) // so that nothing but the change is wrong; it cannot where lengths are
			if len(frame) >= minDecode {
				fixIPChecksum(frame)
			}
			p, err := Decode(frame)
			require.Equal(t, tc.want, ReasonOf(err), "%v", err)
			require.Equal(t, tc.want != ReasonNone, err != nil)
			if tc.want == ReasonNone {
				require.True(t, CheckICRC(frame))
				return
			}
			require.ErrorIs(t, err, tc.want)
			require.ErrorContains(t, fmt.Errorf("wrapped: %w", err), tc.want.String())
			require.Equal(t, tc.want <= ReasonUDPPort, tc.want.NotRoCE())
			require.Empty(t, p.Payload)
			if tc.want.NotRoCE() {
				return
			}
			// The headers are there all the same, for whoever must look the packet up before dropping it.
			require.Equal(t, tc.packet.DestQP, p.DestQP)
			require.Equal(t, tc.packet.SrcIP, p.SrcIP)
			require.Equal(t, tc.packet.PKey, p.PKey)
			require.Equal(t, tc.packet.PSN, p.PSN)

			frame[ethLen+10] ^= 1
			_, err = Decode(frame)
			require.ErrorIs(t, err, ReasonIPChecksum, "the checksum comes before the lengths")
		})
	}
	require.Equal(t, ReasonNone, ReasonOf(errors.New("another's error")))
	require.Equal(t, ReasonNone, ReasonOf(nil))
	require.False(t, ReasonNone.NotRoCE())
	require.Equal(t, "reason 99", Reason(99).String())
	require.Equal(t, "good", ReasonNone.String())
}

func fixIPChecksum(frame []byte) {
	ip := frame[ethLen:udpAt]
	binary.BigEndian.PutUint16(ip[10:], wantChecksum(ip))
}

// A bad checksum or ICRC hides nothing.
func TestDecodeInSpiteOf(t *testing.T) {
	want := sample(SendOnlyImm, 32)
	want.Imm = 0xCAFEF00D
	frame := want.AppendFrame(nil)
	frame[len(frame)-1] ^= 1
	p, err := Decode(frame)
	require.NoError(t, err, "Decode leaves the ICRC to CheckICRC")
	require.False(t, CheckICRC(frame))
	require.Empty(t, cmp.Diff(want, p))

	frame[ethLen+10] ^= 1
	p, err = Decode(frame)
	require.ErrorIs(t, err, ReasonIPChecksum)
	require.Empty(t, cmp.Diff(want, p))
}

// Ethernet padding, and an FCS somebody left on, change nothing.
func TestBytesAfterTheDatagram(t *testing.T) {
	want := sample(SendOnly, 0)
	frame := append(want.AppendFrame(nil), 1, 2, 3, 4)
	p, err := Decode(frame)
	require.NoError(t, err)
	require.True(t, CheckICRC(frame))
	require.Empty(t, cmp.Diff(want, p))
}

func TestFrameOptions(t *testing.T) {
	p := sample(SendOnly, 64)
	good := p.AppendFrame(nil)
	be := binary.BigEndian
	for _, tc := range []struct {
		name   string
		change func(*FrameOptions)
		want   Reason
		icrc   bool
		value  uint16
		at     int
	}{
		{"lengths", func(o *FrameOptions) { o.FixLengths, o.IPLength, o.UDPLength = false, 111, 88 }, ReasonLength, false, 111, ethLen + 2},
		{"checksum", func(o *FrameOptions) { o.FixChecksum, o.IPChecksum = false, 0x1234 }, ReasonIPChecksum, true, 0x1234, ethLen + 10},
		{"UDP checksum", func(o *FrameOptions) { o.UDPChecksum = 0xBEEF }, ReasonNone, true, 0xBEEF, udpAt + 6},
		{"ICRC", func(o *FrameOptions) { o.FixICRC, o.ICRC = false, 0x01020304 }, ReasonNone, false, 0x0201, len(good) - 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := GoodFrame()
			tc.change(&o)
			frame := p.AppendFrameWith(nil, o)
			require.Len(t, frame, len(good))
			require.Equal(t, tc.value, be.Uint16(frame[tc.at:]))
			_, err := Decode(frame)
			require.Equal(t, tc.want, ReasonOf(err))
			require.Equal(t, tc.icrc, CheckICRC(frame))
			if Reseal(frame); tc.name == "checksum" || tc.name == "ICRC" {
				require.Empty(t, cmp.Diff(good, frame), "Reseal repairs")
			}
		})
	}
	// Disagreeing lengths with an ICRC made over them: only the lengths are wrong.
	o := GoodFrame()
	o.FixLengths, o.IPLength, o.UDPLength = false, uint16(len(good)-ethLen), 84
	frame := p.AppendFrameWith(nil, o)
	_, err := Decode(frame)
	require.ErrorIs(t, err, ReasonLength)
	require.True(t, CheckICRC(frame))
}

func TestCNPPayload(t *testing.T) {
	p := sample(CNP, 0)
	p.Payload = nil
	frame := p.AppendFrame(nil)
	got, err := Decode(frame)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 16), got.Payload)
	p.Payload = []byte{}
	_, err = Decode(p.AppendFrame(nil))
	require.ErrorIs(t, err, ReasonLength, "an empty payload that is not nil is taken at its word")
}

// Fields wider than the wire lose upper bits and spill into no neighbour, whatever memory the frame is written over.
func TestAppendFrameMasks(t *testing.T) {
	wide := Packet{Op: SendOnly, Pad: 0xFC, TVer: 0xF0, ReservedQP: 0xC0, DestQP: 0xFF000000, ReservedPSN: 0x80, PSN: 0xFF000000}
	narrow := Packet{Op: SendOnly}
	dirty := bytes.Repeat([]byte{0xAA}, 200)
	require.Empty(t, cmp.Diff(narrow.AppendFrame(nil), wide.AppendFrame(dirty[:0])))
	wide = Packet{Op: Acknowledge, MSN: 0xFF000001, Syndrome: 0x1F}
	narrow = Packet{Op: Acknowledge, MSN: 1, Syndrome: 0x1F}
	require.Empty(t, cmp.Diff(narrow.AppendFrame(nil), wide.AppendFrame(nil)))

	huge := Packet{Op: SendOnly, Payload: make([]byte, 70000)}
	frame := huge.AppendFrame(nil)
	require.Len(t, frame, huge.FrameLen())
	_, err := Decode(frame)
	require.NoError(t, err, "lengths wrapped together still agree")
	require.False(t, CheckICRC(frame))
}

func TestAllocations(t *testing.T) {
	p := sample(SendOnly, 1024)
	buf := make([]byte, 0, 2048)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = p.AppendFrame(buf[:0]) }), "AppendFrame")
	var got Packet
	var err error
	require.Zero(t, testing.AllocsPerRun(100, func() { got, err = Decode(buf) }), "Decode")
	require.NoError(t, err)
	require.Equal(t, p.PSN, got.PSN)
	ok := false
	require.Zero(t, testing.AllocsPerRun(100, func() { ok = CheckICRC(buf) }), "CheckICRC")
	require.True(t, ok)
}

// FuzzDecode: no input panics, and whatever decodes comes back from its own frame unchanged. A good frame without padding
// or unusual pad bytes comes back byte for byte.
func FuzzDecode(f *testing.F) {
	for _, g := range goldenFrames(f)[:3] {
		f.Add(g.bytes(f))
	}
	for name := range captureCases() {
		frames := testCapture(f, name)
		for _, i := range []int{0, 1, 2, len(frames) - 1} {
			f.Add(frames[i].Frame)
		}
	}
	p := sample(WriteOnlyImm, 13)
	p.Pad = 3
	f.Add(p.AppendFrame(nil))
	p = sample(0xFF, 13)
	f.Add(p.AppendFrame(nil))
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		p, err := Decode(frame)
		good := CheckICRC(frame)
		if err != nil {
			if ReasonOf(err) == ReasonNone {
				t.Fatalf("error without a reason: %v", err)
			}
			return
		}
		again := p.AppendFrame(nil)
		q, err := Decode(again)
		if err != nil {
			t.Fatalf("own frame does not decode: %v", err)
		}
		if d := cmp.Diff(p, q); d != "" {
			t.Fatal(d)
		}
		if !CheckICRC(again) {
			t.Fatal("own frame has a bad ICRC")
		}
		n := ethLen + int(binary.BigEndian.Uint16(frame[ethLen+2:]))
		plain := good && binary.BigEndian.Uint16(frame[udpAt+6:]) == 0 && binary.BigEndian.Uint16(frame[ethLen+10:]) != 0xFFFF
		for _, b := range frame[n-icrcLen-p.padLen() : n-icrcLen] {
			plain = plain && b == 0
		}
		if plain && !bytes.Equal(frame[:n], again[:n]) {
			t.Fatal(cmp.Diff(frame[:n], again[:n]))
		}
		Reseal(bytes.Clone(frame))
		if !bytes.Equal(before, frame) {
			t.Fatal("decoding wrote into the frame")
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		p := sample(SendOnly, n)
		frame := p.AppendFrame(nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if _, err := Decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		p := sample(SendOnly, n)
		buf := p.AppendFrame(nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				buf = p.AppendFrame(buf[:0])
			}
		})
	}
}

func BenchmarkCheckICRC(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		p := sample(SendOnly, n)
		frame := p.AppendFrame(nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if !CheckICRC(frame) {
					b.Fatal("bad ICRC")
				}
			}
		})
	}
}
