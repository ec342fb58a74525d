// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// reshape is a packet's frame with something done to its bytes, IP checksum and ICRC made good afterwards.
func reshape(t testing.TB, p roce.Packet, change func(frame []byte)) []byte {
	t.Helper()
	frame := bytesOf(p)
	change(frame)
	require.True(t, roce.Reseal(frame))
	return frame
}

// TestNotOurs is rule 1 of docs/engine.md section 3: such frames leave unchanged by the bypass port.
func TestNotOurs(t *testing.T) {
	set := func(at int, b ...byte) func([]byte) []byte {
		return func(f []byte) []byte { copy(f[at:], b); return f }
	}
	tests := []struct {
		name   string
		change func(f []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"53 bytes", func(f []byte) []byte { return f[:53] }},
		{"ARP", set(12, 0x08, 0x06)},
		{"IPv6", set(12, 0x86, 0xDD)},
		{"VLAN tag", set(12, 0x81, 0x00)},
		{"IP version 6", set(14, 0x65)},
		{"IP options", set(14, 0x46)},
		{"short IHL", set(14, 0x44)},
		{"TCP", set(23, 6)},
		{"more fragments", set(20, 0x20, 0)},
		{"a later fragment", set(20, 0, 1)},
		{"a late fragment", set(20, 0x10, 0)},
		{"UDP to 4790", set(36, 0x12, 0xB6)},
		{"QPN of no valid record", set(47, 0xAB, 0, 7)},
		{"QPN with a valid record's index only", set(47, 0xAC, 0, 0)},
	}
	for _, tt := range tests {
		for _, rxErr := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				w := newStar(t)
				w.configure(func(e *Engine) error { return e.SetBypassPort(0, 3) })
				before := w.e.AppendState(nil)
				frame := tt.change(bytesOf(w.data(0, 0, 0, le(1, 2))))
				assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "BYPASS": 1}, w.counted(func() {
					outs := w.frame(0, frame, rxErr)
					require.Len(t, outs, 1)
					assert.True(t, outs[0].Bypass)
					assert.Equal(t, 3, outs[0].Port)
					assert.Equal(t, rxErr, outs[0].Err)
				}))
				assert.Equal(t, before, w.e.AppendState(nil))
			})
		}
	}
	t.Run("the bypass port is the ingress port at first", func(t *testing.T) {
		w := newStar(t)
		assert.Equal(t, 2, w.frame(2, []byte("no frame at all"), false)[0].Port)
	})
	t.Run("a port that does not exist", func(t *testing.T) {
		w := newStar(t)
		for _, port := range []int{-1, 5} {
			w.nothing(w.frame(port, bytesOf(w.data(0, 0, 0, nil)), false))
		}
		assert.Equal(t, Counters{}, w.e.Counters())
	})
}

// TestStepBypasses: a decoded packet for a QPN that is not ours, or from someone else if so configured, comes back as it is.
func TestStepBypasses(t *testing.T) {
	w := newStar(t)
	w.configure(func(e *Engine) error { e.SetForeignBypass(true); return e.SetBypassPort(1, 4) })
	stranger, foreign := w.data(0, 1, 0, le(1)), w.data(0, 1, 0, le(1))
	stranger.DestQP, foreign.PKey = 0xAC0001, 0x7FFF
	for i, p := range []roce.Packet{stranger, foreign} {
		assert.Equal(t, []Out{{Port: 4, Bypass: true, Packet: p}}, w.e.Step(0, 1, p))
		assert.Equal(t, Counters{RxFrames: uint64(i + 1), Bypass: uint64(i + 1)}, w.e.Counters())
	}
	assert.Empty(t, w.e.Step(0, -1, w.data(0, 1, 0, le(1))))
	assert.Empty(t, w.e.Step(0, 5, w.data(0, 1, 0, le(1))))
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "BYPASS": 1}, w.counted(func() { w.frame(1, bytesOf(foreign), false) }))
}

// TestDrops reaches every DROP counter, each in several ways, and each drop by itself changes nothing.
func TestDrops(t *testing.T) {
	good := func(w *world) roce.Packet { return w.data(0, 1, 0, le(1, 2, 3, 4)) }
	type scene struct {
		port  int
		frame []byte
		rxErr bool
	}
	packet := func(change func(p *roce.Packet)) func(*testing.T, *world) scene {
		return func(_ *testing.T, w *world) scene {
			p := good(w)
			change(&p)
			return scene{port: 1, frame: bytesOf(p)}
		}
	}
	raw := func(change func(f []byte)) func(*testing.T, *world) scene {
		return func(t *testing.T, w *world) scene {
			return scene{port: 1, frame: reshape(t, good(w), change)}
		}
	}
	udpLength := func(n uint16) func(f []byte) { // and the IP length to match
		return func(f []byte) {
			binary.BigEndian.PutUint16(f[38:], n)
			binary.BigEndian.PutUint16(f[16:], n+20)
		}
	}
	syndrome := func(s uint8) func(p *roce.Packet) {
		return func(p *roce.Packet) { p.Op, p.Syndrome, p.Payload = roce.Acknowledge, s, nil }
	}
	first := func(change func(p *roce.Packet)) func(*testing.T, *world) scene { // after another rank's contribution
		return func(t *testing.T, w *world) scene {
			w.nothing(w.send(w.data(0, 0, 0, le(1, 2, 3, 4))))
			p := good(w)
			change(&p)
			return scene{port: 1, frame: bytesOf(p)}
		}
	}
	badIP := func(f []byte) []byte { f[24] ^= 1; return f }

	tests := []struct {
		want, name string
		scene      func(t *testing.T, w *world) scene
	}{
		{"DROP_FOREIGN", "source IP", packet(func(p *roce.Packet) { p.SrcIP[3]++ })},
		{"DROP_FOREIGN", "destination IP", packet(func(p *roce.Packet) { p.DstIP[0]++ })},
		{"DROP_FOREIGN", "P_Key", packet(func(p *roce.Packet) { p.PKey = 0x7FFF })},
		{"DROP_FOREIGN", "port", func(_ *testing.T, w *world) scene {
			return scene{port: 2, frame: bytesOf(good(w))}
		}},
		{"DROP_FOREIGN", "before everything about the frame", func(_ *testing.T, w *world) scene {
			p := good(w)
			p.PKey = 1
			return scene{port: 1, frame: badIP(bytesOf(p)), rxErr: true}
		}},
		{"DROP_GROUP_DISABLED", "disabled, before everything about the frame", func(_ *testing.T, w *world) scene {
			w.configure(func(e *Engine) error { return e.Disable(0) })
			p := good(w)
			return scene{port: 1, frame: badIP(bytesOf(p)), rxErr: true}
		}},
		{"DROP_RX_ERROR", "before the IP checksum", func(_ *testing.T, w *world) scene {
			p := good(w)
			return scene{port: 1, frame: badIP(bytesOf(p)), rxErr: true}
		}},
		{"DROP_IP_CHECKSUM", "before the lengths", func(_ *testing.T, w *world) scene {
			p := good(w)
			f := bytesOf(p)
			f[17]++
			return scene{port: 1, frame: f}
		}},
		{"DROP_LENGTH_MISMATCH", "UDP and IP disagree", raw(func(f []byte) { f[39]-- })},
		{"DROP_LENGTH_MISMATCH", "frame cut short", func(_ *testing.T, w *world) scene {
			p := good(w)
			f := bytesOf(p)
			return scene{port: 1, frame: f[:len(f)-1]}
		}},
		{"DROP_LENGTH_MISMATCH", "UDP length 23", func(t *testing.T, w *world) scene {
			p := good(w)
			f := bytesOf(p)
			udpLength(23)(f)
			fixIPChecksum(f)
			return scene{port: 1, frame: f}
		}},
		{"DROP_LENGTH_MISMATCH", "UDP length 0", func(t *testing.T, w *world) scene {
			p := good(w)
			f := bytesOf(p)
			udpLength(0)(f)
			fixIPChecksum(f)
			return scene{port: 1, frame: f}
		}},
		{"DROP_LENGTH_MISMATCH", "no room for the immediate", raw(func(f []byte) { f[42] = 0x05; udpLength(27)(f) })},
		{"DROP_LENGTH_MISMATCH", "no whole words", raw(udpLength(24 + 15))},
		{"DROP_LENGTH_MISMATCH", "more pad than body", raw(func(f []byte) { f[43] = 0x10; udpLength(24)(f) })},
		{"DROP_LENGTH_MISMATCH", "an ACK with a payload", raw(func(f []byte) { f[42] = 0x11 })},
		{"DROP_LENGTH_MISMATCH", "an ACK without AETH", raw(func(f []byte) { f[42] = 0x11; udpLength(24)(f) })},
		{"DROP_LENGTH_MISMATCH", "a CNP without its sixteen bytes", raw(func(f []byte) { f[42] = 0x81; udpLength(36)(f) })},
		{"DROP_ICRC", "before TVer and opcode", func(_ *testing.T, w *world) scene {
			p := good(w)
			p.TVer, p.Op = 1, roce.WriteOnly
			f := bytesOf(p)
			f[len(f)-1] ^= 0x80
			return scene{port: 1, frame: f}
		}},
		{"DROP_TVER", "before the opcode", packet(func(p *roce.Packet) { p.TVer, p.Op = 1, 0x40 })},
		{"DROP_OPCODE", "RDMA WRITE", packet(func(p *roce.Packet) { p.Op = roce.WriteOnly })},
		{"DROP_OPCODE", "READ request", packet(func(p *roce.Packet) { p.Op = 0x0C })},
		{"DROP_OPCODE", "UC SEND, before the length", packet(func(p *roce.Packet) { p.Op, p.Payload = 0x24, make([]byte, 67) })},
		{"DROP_TOO_LONG", "one word more than a slot", packet(func(p *roce.Packet) { p.Payload = make([]byte, 68) })},
		{"DROP_TOO_LONG", "before the element size", packet(func(p *roce.Packet) { p.Payload, p.Pad = make([]byte, 65), 3 })},
		{"DROP_BAD_LENGTH", "half an element", packet(func(p *roce.Packet) { p.Payload, p.Pad = make([]byte, 62), 2 })},
		{"DROP_BAD_LENGTH", "before the role", func(_ *testing.T, w *world) scene {
			p := w.data(0, 4, 0, make([]byte, 3))
			p.Pad = 1
			return scene{port: 4, frame: bytesOf(p)}
		}},
		{"DROP_WRONG_ROLE", "data on an endpoint without a role", func(_ *testing.T, w *world) scene {
			return scene{port: 4, frame: bytesOf(w.data(0, 4, 0, le(1)))}
		}},
		{"DROP_WRONG_ROLE", "an ACK from another switch", func(_ *testing.T, w *world) scene {
			regroup(w, func(g *Group) { g.AckMask = 0x1F })
			return scene{port: 4, frame: bytesOf(w.ack(0, 4, 0, 0x1F))}
		}},
		{"DROP_WRONG_ROLE", "an ACK from outside ack_mask, before its syndrome", func(_ *testing.T, w *world) scene {
			regroup(w, func(g *Group) { g.AckMask = 0xD })
			return scene{port: 1, frame: bytesOf(w.ack(0, 1, 0, 0xFF))}
		}},
		{"DROP_WRONG_ROLE", "a CNP from outside ack_mask", func(_ *testing.T, w *world) scene {
			regroup(w, func(g *Group) { g.AckMask = 0xD })
			p := w.from(0, 1)
			p.Op = roce.CNP
			return scene{port: 1, frame: bytesOf(p)}
		}},
		{"DROP_SYNDROME", "0x40", packet(syndrome(0x40))},
		{"DROP_SYNDROME", "0x5F", packet(syndrome(0x5F))},
		{"DROP_SYNDROME", "invalid RD request", packet(syndrome(0x64))},
		{"DROP_SYNDROME", "0x80", packet(syndrome(0x80))},
		{"DROP_SYNDROME", "0xFF", packet(syndrome(0xFF))},
		{"DROP_GAP", "one ahead", func(_ *testing.T, w *world) scene {
			w.configure(func(e *Engine) error { e.SetGapNAK(false); return nil })
			return scene{port: 1, frame: bytesOf(w.data(0, 1, 1, le(1)))}
		}},
		{"DROP_STALE", "from before the start", packet(func(p *roce.Packet) { p.PSN = 0xFFFFFF })},
		{"DROP_STALE", "half the PSN space away", packet(func(p *roce.Packet) { p.PSN = 0x800000 })},
		{"DROP_WINDOW", "after the window, from START on", func(_ *testing.T, w *world) scene {
			for psn := range roce.PSN(4) {
				w.nothing(w.send(w.data(0, 1, psn, le(1))))
			}
			return scene{port: 1, frame: bytesOf(w.data(0, 1, 4, le(1)))}
		}},
		{"DROP_WINDOW", "before the shape", func(_ *testing.T, w *world) scene {
			for psn := range roce.PSN(4) {
				w.nothing(w.round(psn, 0, 1))
			}
			return scene{port: 1, frame: bytesOf(w.data(0, 1, 4, le(1, 2, 3)))}
		}},
		{"DROP_SHAPE", "another opcode", first(func(p *roce.Packet) { p.Op = roce.SendLast })},
		{"DROP_SHAPE", "with an immediate", first(func(p *roce.Packet) { p.Op = roce.SendOnlyImm })},
		{"DROP_SHAPE", "another length", first(func(p *roce.Packet) { p.Payload = le(1, 2, 3) })},
		{"DROP_SHAPE", "nothing in it", first(func(p *roce.Packet) { p.Payload = nil })},
	}
	reached := map[string]bool{}
	for _, tt := range tests {
		reached[tt.want] = true
		t.Run(tt.want+" "+tt.name, func(t *testing.T) {
			w := newStar(t)
			s := tt.scene(t, w)
			before := w.e.AppendState(nil)
			got := w.counted(func() { w.nothing(w.frame(s.port, s.frame, s.rxErr)) })
			want := map[string]uint64{"RX_FRAMES": 1, tt.want: 1}
			switch tt.want {
			case "DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE": // found out only after counting it as data
				want["UP_DATA"] = 1
			}
			assert.Equal(t, want, got)
			assert.Equal(t, before, w.e.AppendState(nil))
		})
	}
	for c := DropForeign; c <= DropShape; c++ { // those of ranges: control_test.go
		assert.True(t, reached[c.String()], "no test reaches %v", c)
	}
}

// fixIPChecksum repairs the header checksum where the lengths are too wrong for roce.Reseal.
func fixIPChecksum(f []byte) {
	f[24], f[25] = 0, 0
	binary.BigEndian.PutUint16(f[24:], ^headerSum(f[14:34]))
}

// regroup changes the settings of group 0 and starts it again.
func regroup(w *world, change func(g *Group)) {
	w.t.Helper()
	settings := w.e.groups[0].Group
	change(&settings)
	w.configure(func(e *Engine) error { return e.Disable(0) })
	w.configure(func(e *Engine) error { return e.SetGroup(0, settings) })
	w.configure(func(e *Engine) error { return e.Enable(0) })
}

func TestForeignBypass(t *testing.T) {
	w := newStar(t)
	w.configure(func(e *Engine) error { e.SetForeignBypass(true); return nil })
	p := w.data(0, 1, 0, le(1))
	p.SrcIP[3]++
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "BYPASS": 1}, w.counted(func() {
		outs := w.frame(1, bytesOf(p), true)
		require.Len(t, outs, 1)
		assert.True(t, outs[0].Bypass)
	}))
}

func TestICRCCheckSwitchedOff(t *testing.T) {
	params := smallParams()
	params.ICRCCheck = false
	w := newWorld(t, params, starGroup(0, 0))
	f := bytesOf(w.data(0, 1, 0, le(1)))
	f[len(f)-1] ^= 1
	assert.Equal(t, uint64(1), w.counted(func() { w.nothing(w.frame(1, f, false)) })["AGG"])
}

func TestLongestPayload(t *testing.T) {
	w := newStar(t)
	var outs []Out
	for r := range 4 {
		outs = w.send(w.data(0, r, 0, contribution(r, 0, 16)))
	}
	require.Len(t, outs, 4)
	for _, out := range outs {
		assert.Equal(t, sumOf(4, 0, 16), out.Packet.Payload)
	}
	for psn := roce.PSN(1); psn <= 8; psn++ { // PSN 8 is a short packet in the slot that held the long one
		for r := range int32(4) {
			outs = w.send(w.data(0, int(r), psn, le(r, 10*r)))
		}
	}
	assert.Equal(t, le(0+1+2+3, 0+10+20+30), outs[0].Packet.Payload, "the first contribution overwrites")
}

// TestGapNAK is about the only number a NAK may carry in Mode II (A5).
func TestGapNAK(t *testing.T) {
	wide := starGroup(0, 0)
	wide.Log2N = 4
	w := newWorld(t, smallParams(), wide)
	nak := func(psn roce.PSN, want roce.PSN, msn uint32) {
		t.Helper()
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_GAP": 1, "TX_GAP_NAK": 1, "TX_FRAMES": 1},
			w.counted(func() {
				p := w.one(w.round(psn, 0))
				assert.Equal(t, roce.Acknowledge, p.Op)
				assert.Equal(t, uint8(0x60), p.Syndrome)
				assert.Equal(t, want, p.PSN)
				assert.Equal(t, msn, p.MSN)
				assert.Equal(t, uint32(0x1100), p.DestQP)
			}))
	}
	silent := func(psn roce.PSN) {
		t.Helper()
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_GAP": 1},
			w.counted(func() { w.nothing(w.round(psn, 0)) }))
	}
	w.round(0, 0)
	w.round(1, 0)
	nak(3, 0, 2) // 2 is missing, but no result has been acknowledged: 2 would acknowledge 0 and 1
	silent(3)
	silent(4)
	w.round(2, 0) // progress
	nak(4, 0, 3)
	silent(4)
	w.round(0, 1, 2, 3)
	w.send(w.ack(0, 0, 0, 0x1F))
	silent(4) // an ACK is no progress of the child's data
	w.round(3, 0)
	nak(5, 1, 4)
	w.round(4, 0)
	w.send(w.ack(0, 0, 3, 0x60)) // NAK(3) acknowledges 2
	nak(6, 3, 5)
	w.round(5, 0)
	w.send(w.ack(0, 0, 5, 0x21)) // and RNR NAK(5) acknowledges 4
	nak(7, 5, 6)
	w.send(w.ack(0, 0, 2, 0x60)) // an old one takes nothing back
	w.round(6, 0)
	nak(8, 5, 7)

	w = newStar(t)
	w.configure(func(e *Engine) error { e.SetGapNAK(false); return nil })
	silent(1)
	w.configure(func(e *Engine) error { e.SetGapNAK(true); return nil })
	nak(1, 0, 0)
}

func TestGapFromAnotherSwitchIsNotAnswered(t *testing.T) {
	settings := starGroup(0, 0)
	settings.InMask = 0x1F // endpoint 4 is a switch
	w := newWorld(t, smallParams(), settings)
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_GAP": 1},
		w.counted(func() { w.nothing(w.round(1, 4)) }))
}

// TestMessageOfSeveralPackets: results keep the boundaries, and the MSN counts messages, not packets.
func TestMessageOfSeveralPackets(t *testing.T) {
	w := newStar(t)
	ops := []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast, roce.SendOnlyImm,
		roce.SendFirst, roce.SendLastImm, roce.SendOnly}
	for psn, op := range ops {
		var outs []Out
		for r := range 4 {
			p := w.data(0, r, roce.PSN(psn), contribution(r, roce.PSN(psn), 16))
			p.Op, p.SE, p.Imm = op, psn%2 == 1, 0x12345678
			outs = w.send(p)
		}
		require.Len(t, outs, 4)
		for _, out := range outs {
			assert.Equal(t, op, out.Packet.Op)
			assert.Equal(t, psn%2 == 1, out.Packet.SE)
			assert.Equal(t, sumOf(4, roce.PSN(psn), 16), out.Packet.Payload)
			if op.HasImm() {
				assert.Equal(t, uint32(0x12345678), out.Packet.Imm)
			}
		}
	}
	for r := range 4 {
		assert.Equal(t, uint32(4), w.e.groups[0].ends[r].msn)
	}
	w.e.groups[0].ends[0].msn, w.twin.groups[0].ends[0].msn = 0xFFFFFF, 0xFFFFFF
	w.round(7, 0)
	assert.Zero(t, w.e.groups[0].ends[0].msn, "an MSN has 24 bits")
}

func TestImmediateMismatch(t *testing.T) {
	w := newStar(t)
	var outs []Out
	for r, contribution := range []struct {
		imm        uint32
		se         bool
		mismatches uint64
	}{{7, false, 0}, {7, false, 0}, {8, false, 1}, {8, true, 1}} {
		p := w.data(0, r, 0, nil)
		p.Op, p.Imm, p.SE = roce.SendOnlyImm, contribution.imm, contribution.se
		counted := w.counted(func() { outs = w.send(p) })
		assert.Equal(t, contribution.mismatches, counted["IMM_MISMATCH"], "rank %d", r)
		assert.Equal(t, uint64(1), counted["AGG"])
	}
	require.Len(t, outs, 4)
	assert.Equal(t, uint32(7), outs[0].Packet.Imm, "the first one's stays")
	assert.False(t, outs[0].Packet.SE)
	// Opcodes without an immediate have none to differ in, only SE.
	for r := range 4 {
		p := w.data(0, r, 1, nil)
		p.SE = r == 1
		differs := uint64(0)
		if r == 1 {
			differs = 1
		}
		assert.Equal(t, differs, w.counted(func() { w.send(p) })["IMM_MISMATCH"])
	}
}

// TestCongestion: CE of any contribution is CE of the result, until the slot is used again.
func TestCongestion(t *testing.T) {
	for congested := range 4 {
		w := newStar(t)
		var outs []Out
		for psn := range roce.PSN(9) {
			for r := range 4 {
				p := w.data(0, r, psn, nil)
				p.TOS = 0x02 // ECT
				if r == congested && psn == 0 {
					p.TOS = 0x03
				}
				outs = w.send(p)
			}
			for r, out := range outs {
				assert.Equal(t, psn == 0, out.Packet.CE())
				assert.Equal(t, w.e.table[r].TOS>>2, out.Packet.TOS>>2)
			}
			if psn == 0 {
				again := w.one(w.send(w.data(0, 2, 0, nil)))
				assert.True(t, again.CE(), "sent again")
			}
		}
	}
}

// TestCongestionMarks: RX_CE counts what came marked and undamaged, whether it is dropped or not.
func TestCongestionMarks(t *testing.T) {
	plain := func(*roce.Packet) {}
	tests := []struct {
		name   string
		packet func(p *roce.Packet)
		frame  func(f []byte)
		want   uint64
	}{
		{"data", plain, nil, 1},
		{"ECT", func(p *roce.Packet) { p.TOS = 0xFE }, nil, 0},
		{"dropped for its version", func(p *roce.Packet) { p.TVer = 1 }, nil, 1},
		{"a CNP", func(p *roce.Packet) { p.Op, p.Payload = roce.CNP, make([]byte, 16) }, nil, 1},
		{"foreign", func(p *roce.Packet) { p.SrcIP[0]++ }, nil, 0},
		{"bypassed", func(p *roce.Packet) { p.DestQP ^= 1 << 23 }, nil, 0},
		{"IP checksum", plain, func(f []byte) { f[24]++ }, 0},
		{"ICRC", plain, func(f []byte) { f[len(f)-1]++ }, 0},
	}
	for _, tt := range tests {
		for _, w := range []*world{newStar(t), newPipeStar(t, 3, 0).world} {
			p := w.data(0, 1, 0, le(1, 2))
			p.TOS = 3
			tt.packet(&p)
			f := bytesOf(p)
			if tt.frame != nil {
				tt.frame(f)
			}
			w.e.Handle(0, 1, f, false)
			assert.Equal(t, tt.want, w.e.Counters()[RxCe], "%s in Mode %d", tt.name, w.e.params.Mode)
		}
	}
}

// TestNodeWithParent is a switch that is not the root.
func TestNodeWithParent(t *testing.T) {
	w := newWorld(t, smallParams(), childGroup(0, 0))
	w.nothing(w.round(0, 0, 1, 2))
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "TX_RESULT": 1, "WIPE": 1, "TX_FRAMES": 1},
		w.counted(func() { w.result(w.round(0, 3), 0, 4) }))
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "TX_RESEND": 1, "TX_FRAMES": 1},
		w.counted(func() { w.result(w.round(0, 2), 0, 4) }), "a retransmission climbs to the root (A6)")

	before := w.e.AppendState(nil)
	down := w.data(0, 4, 0, le(5, 6, 7))
	down.Op, down.Imm, down.SE, down.TOS = roce.SendLastImm, 0xCAFE, true, 3
	for range 2 { // no state, so nothing is a duplicate
		counted := w.counted(func() {
			outs := w.send(down)
			require.Len(t, outs, 4)
			for r, out := range outs {
				assert.Equal(t, r, out.Port)
				assert.Equal(t, down.Payload, out.Packet.Payload)
				assert.Equal(t, roce.SendLastImm, out.Packet.Op)
				assert.Equal(t, uint32(0xCAFE), out.Packet.Imm)
				assert.True(t, out.Packet.SE && out.Packet.AckReq && out.Packet.CE())
			}
		})
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_CE": 1, "DOWN_DATA": 1, "TX_FANOUT": 4, "TX_FRAMES": 4}, counted)
	}
	down.PSN = 0x654321
	require.Len(t, w.send(down), 4, "whatever its PSN")
	assert.Equal(t, before, w.e.AppendState(nil))
}

// TestParentThatIsAChild: an endpoint both in in_mask and the parent is a child.
func TestParentThatIsAChild(t *testing.T) {
	settings := childGroup(0, 0)
	settings.InMask = 0x11
	w := newWorld(t, smallParams(), settings)
	counted := w.counted(func() { w.nothing(w.round(0, 4)) })
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "BUFFERED": 1}, counted)
	assert.Equal(t, 4, w.round(0, 0)[0].Port)
}

// TestOneContributor: a node with one contributor passes the payload bit for bit.
func TestOneContributor(t *testing.T) {
	settings := starGroup(0, 0)
	settings.InMask, settings.OutMask = 4, 0xB
	w := newWorld(t, smallParams(), settings)
	outs := w.round(0, 2)
	require.Len(t, outs, 3)
	for i, port := range []int{0, 1, 3} {
		assert.Equal(t, port, outs[i].Port, "in ascending order")
		assert.Equal(t, contribution(2, 0, 4), outs[i].Packet.Payload)
	}
	assert.Equal(t, 2, w.one(w.round(0, 2)).PSN.Diff(0xFFFFFE), "sent again to the one who asks, out_mask or not")
}

// TestNobodyGetsTheResult: an empty out_mask completes slots and sends nothing.
func TestNobodyGetsTheResult(t *testing.T) {
	settings := starGroup(0, 0)
	settings.OutMask = 0
	w := newWorld(t, smallParams(), settings)
	w.nothing(w.round(0, 0, 1, 2, 3))
	assert.Equal(t, Counters{RxFrames: 4, UpData: 4, Agg: 4, Buffered: 3, TxResult: 1, Wipe: 1}, w.e.Counters())
}

func TestIPID(t *testing.T) {
	w := newStar(t)
	w.e.SetIPID(0xBEEF)
	out := w.e.Handle(0, 1, bytesOf(w.ack(0, 1, 0, 0x1F)), false)[0]
	assert.Equal(t, []byte{0xBE, 0xEF}, out.Frame[18:20])
	assert.True(t, roce.CheckICRC(out.Frame))
}

func TestNoTimers(t *testing.T) {
	w := newStar(t)
	w.round(0, 0)
	_, any := w.e.NextDeadline()
	assert.False(t, any)
	assert.Empty(t, w.e.Tick(1<<60))
}

// TestAckTouchesNoSlot: an ACK of whatever PSN finds the slots as it leaves them (A20).
func TestAckTouchesNoSlot(t *testing.T) {
	w := newStar(t)
	w.round(0, 0, 1, 2, 3)
	w.round(1, 0, 1)
	w.round(2, 2)
	slots, words := append([]slot(nil), w.e.slots...), append([]uint32(nil), w.e.words...)
	for _, psn := range []roce.PSN{0, 1, 2, 7, 8, 9, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF} {
		for _, s := range []uint8{0x1F, 0x60, 0x2C} {
			w.one(w.send(w.ack(0, 1, psn, s)))
			require.Equal(t, slots, w.e.slots)
			require.Equal(t, words, w.e.words)
		}
	}
}

// TestOutputsAreTheCallers: what was returned does not change when the engine goes on, nor the engine when it is written.
func TestOutputsAreTheCallers(t *testing.T) {
	w := newStar(t)
	outs := w.round(0, 0, 1, 2, 3)
	kept := append([]byte(nil), outs[0].Frame...)
	for i := range outs[1].Frame {
		outs[1].Frame[i] = 0xEE
	}
	_ = append(outs[0].Frame, 1, 2, 3, 4)
	assert.Equal(t, byte(0xEE), outs[1].Frame[0])
	w.result(w.round(0, 1), 0, 1)
	for psn := roce.PSN(1); psn < 9; psn++ {
		w.round(psn, 0, 1, 2, 3)
	}
	assert.Equal(t, kept, outs[0].Frame)

	frame := bytesOf(w.data(0, 0, 9, le(1)))
	w.frame(0, frame, false)
	state := w.e.AppendState(nil)
	clear(frame)
	assert.Equal(t, state, w.e.AppendState(nil))

	steps := func() []Out {
		var outs []Out
		for r := range 4 {
			outs = w.twin.Step(0, r, w.data(1, r, 0, le(1)))
		}
		return outs
	}()
	clear(steps[0].Packet.Payload)
	assert.Equal(t, []uint32{4}, w.twin.kept(&w.twin.groups[1].Group, 8, 0, DTypeINT32))
}

// TestImports: the reference shares no code with what it judges.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	var ours []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "incforge") {
			ours = append(ours, strings.TrimSpace(line))
		}
	}
	assert.ElementsMatch(t, []string{"incforge/roce", "incforge/inc/internal/message", "incforge/inc"}, ours)
}

func TestCounterNames(t *testing.T) {
	const inOrder = `RX_FRAMES, BYPASS, UP_DATA, AGG, BUFFERED, WIPE, TX_RESULT, TX_FANOUT, TX_RESEND, DOWN_DATA, RX_ACK,
		RX_NAK, RX_RNR, RX_CNP, RX_CE, TX_REFLECT, TX_GAP_NAK, TX_CNP, TX_FRAMES, IMM_MISMATCH, DROP_FOREIGN, DROP_GROUP_DISABLED,
		DROP_RX_ERROR, DROP_IP_CHECKSUM, DROP_LENGTH_MISMATCH, DROP_ICRC, DROP_TVER, DROP_OPCODE, DROP_TOO_LONG,
		DROP_BAD_LENGTH, DROP_WRONG_ROLE, DROP_SYNDROME, DROP_GAP, DROP_STALE, DROP_WINDOW, DROP_SHAPE, ECC_CORRECTED, ECC_DOUBLE,
		RANGE_OPEN, TX_ACK_COPY, TX_ACK_UP, TX_REACK, DROP_RANGE, DROP_BAD_CONTROL, DROP_CONTROL, DROP_STALE_ACK`
	var names []string
	for c := range NumCounters {
		names = append(names, c.String())
	}
	assert.Equal(t, strings.Join(strings.Fields(inOrder), " "), strings.Join(names, ", "))
	assert.Equal(t, "DROP_VLAN", DropVLAN.String())
	assert.Equal(t, "Counter(62)", AllCounters.String())

	with := slices.Collect(Params{Mode: 2, VLAN: true}.Counters())
	require.Equal(t, DropVLAN, with[len(with)-1])
	for _, c := range with { // a counter that is off by one is noticed, if it is in an equation
		counters := Counters{RxFrames: 4, UpData: 4, Agg: 4, Buffered: 3, Wipe: 1, TxResult: 1, TxFanout: 4, TxFrames: 4}
		require.NoError(t, counters.CheckIdentities(false, true))
		counters[c]++
		err := counters.CheckIdentities(false, true)
		switch c {
		case RxCe, ImmMismatch, EccCorrected, EccDouble, RangeOpen:
			assert.NoError(t, err)
		default:
			assert.Error(t, err, c.String())
		}
	}

	// Of 10 results some went up, some down: 6 copies and up to 10 more.
	mixed := Counters{RxFrames: 10, UpData: 10, Agg: 10, Wipe: 10, TxResult: 10, TxFanout: 6}
	for sent, ok := range map[uint64]bool{5: false, 6: true, 16: true, 17: false} {
		mixed[TxFrames] = sent
		assert.Equal(t, ok, mixed.CheckIdentities(true, true) == nil, "%d frames", sent)
		assert.Equal(t, sent == 6, mixed.CheckIdentities(false, true) == nil, "%d frames", sent)
		assert.Equal(t, sent == 16, mixed.CheckIdentities(true, false) == nil, "%d frames", sent)
	}
}
