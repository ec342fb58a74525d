// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// world is an engine under test, with a twin that is fed the same packets through Step. Whatever it is sent, it checks
// what must hold always: what leaves is a frame that an independent decoder accepts with the right headers, Handle and
// Step agree, and the counters add up.
type world struct {
	t        testing.TB
	e, twin  *Engine
	up, down bool // results may go to a parent, or to out_mask
}

// smallParams is two groups of four members, 16 slots of 64 bytes, INT32 sums in place.
func smallParams() Params {
	return Params{Groups: 2, Members: 4, Ports: 5, MTU: 64, Slots: 16, ICRCCheck: true, DTypes: 1 << DTypeINT32, Ops: 1 << OpSum}
}

// starGroup is the root of a star with hosts at endpoints 0 to 3, a window of 4 packets and 8 slots.
func starGroup(g int, start roce.PSN) Group {
	return Group{Start: start, SlotBase: 8 * g, Log2N: 3, InMask: 0xF, OutMask: 0xF, AckMask: 0xF, DType: DTypeINT32}
}

// childGroup is the same with a parent at endpoint 4.
func childGroup(g int, start roce.PSN) Group {
	s := starGroup(g, start)
	s.Parent, s.HasParent = 4, true
	return s
}

// typedParams is two groups of members members, with every type and operation and room for two groups of 8 packets.
func typedParams(members int, reproducible bool) Params {
	return Params{Groups: 2, Members: members, Ports: members + 1, MTU: 64, Slots: 32, ICRCCheck: true,
		DTypes: 0xF, Ops: 7, Reproducible: reproducible}
}

// typedGroup is the root of a star with hosts at endpoints 0 to 3, whose slots end where the next group's begin if they
// are those of a 16-bit type.
func typedGroup(g int, start roce.PSN, dtype, op uint8) Group {
	s := starGroup(g, start)
	s.SlotBase, s.DType, s.Op = 16*g, dtype, op
	return s
}

// endpointAt is the record the tests use for endpoint e of group g: every field different from every other record's,
// endpoint e on port e, endpoint 4 a switch and all others hosts.
func endpointAt(p Params, g, e int) Endpoint {
	ei := p.EndpointIndex(g, e)
	return Endpoint{
		Valid: true, Host: e != 4, Port: e,
		LocalQPN: 0xAB0000 | uint32(ei), RemoteQPN: 0x001100 | uint32(ei),
		LocalIP: roce.IP4{10, byte(g), 1, byte(e)}, RemoteIP: roce.IP4{10, byte(g), 2, byte(e)},
		LocalMAC: roce.MAC{2, 1, 0, 0, byte(g), byte(e)}, RemoteMAC: roce.MAC{2, 2, 0, 0, byte(g), byte(e)},
		UDPSourcePort: 0xC000 + uint16(ei), TTL: 64 - uint8(ei), TOS: uint8(ei)<<2 | uint8(ei)&1<<1,
	}
}

// newWorld makes an engine with these groups, all of them enabled.
func newWorld(t testing.TB, p Params, groups ...Group) *world {
	t.Helper()
	w := &world{t: t}
	for _, into := range []**Engine{&w.e, &w.twin} {
		e, err := New(p)
		require.NoError(t, err)
		for g, settings := range groups {
			for m := range p.Members + 1 {
				require.NoError(t, e.SetEndpoint(p.EndpointIndex(g, m), endpointAt(p, g, m)))
			}
			require.NoError(t, e.SetGroup(g, settings))
			require.NoError(t, e.Enable(g))
			w.up, w.down = w.up || settings.HasParent || settings.InBand, w.down || !settings.HasParent || settings.InBand
		}
		*into = e
	}
	return w
}

// newStar is smallParams with two roots that start at PSN 0.
func newStar(t testing.TB) *world {
	return newWorld(t, smallParams(), starGroup(0, 0), starGroup(1, 0))
}

// configure does the same to the engine and its twin.
func (w *world) configure(f func(e *Engine) error) {
	w.t.Helper()
	require.NoError(w.t, f(w.e))
	require.NoError(w.t, f(w.twin))
}

// from is a packet from the other end of endpoint e of group g, complete but for opcode, PSN and content.
func (w *world) from(g, e int) roce.Packet {
	to := w.e.table[w.e.params.EndpointIndex(g, e)]
	return roce.Packet{
		DstMAC: to.LocalMAC, SrcMAC: to.RemoteMAC, TTL: 60, IPID: 7, SrcIP: to.RemoteIP, DstIP: to.LocalIP,
		SrcPort: 50000, PKey: roce.DefaultPKey, MigReq: true, DestQP: to.LocalQPN, AckReq: true, ReservedPSN: 1,
	}
}

// data is a SEND ONLY from endpoint e of group g.
func (w *world) data(g, e int, psn roce.PSN, payload []byte) roce.Packet {
	p := w.from(g, e)
	p.Op, p.PSN, p.Payload = roce.SendOnly, psn, payload
	return p
}

// ack is an ACK, NAK or RNR NAK from endpoint e of group g.
func (w *world) ack(g, e int, psn roce.PSN, syndrome uint8) roce.Packet {
	p := w.from(g, e)
	p.Op, p.PSN, p.Syndrome, p.MSN, p.AckReq = roce.Acknowledge, psn, syndrome, uint32(psn)+77, false
	return p
}

// send offers a packet on the port its endpoint is reached by.
func (w *world) send(p roce.Packet) []Out {
	w.t.Helper()
	port := w.e.table[int(p.DestQP)%len(w.e.table)].Port
	return w.frame(port, bytesOf(p), false)
}

// frame offers a frame and checks what must hold always.
func (w *world) frame(port int, frame []byte, rxErr bool) []Out {
	w.t.Helper()
	given := string(frame)
	outs := w.e.Handle(0, port, frame, rxErr)
	require.Equal(w.t, given, string(frame), "the engine changed the caller's frame")

	packet, err := roce.Decode(frame)
	if err == nil && !rxErr && (roce.CheckICRC(frame) || !w.e.params.ICRCCheck) {
		steps := w.twin.Step(0, port, packet)
		require.Len(w.t, steps, len(outs), "Step and Handle differ")
		for i, step := range steps {
			require.Nil(w.t, step.Frame)
			require.Equal(w.t, outs[i].Port, step.Port)
			require.Equal(w.t, outs[i].Bypass, step.Bypass)
			if !step.Bypass {
				require.Equal(w.t, outs[i].Frame, bytesOf(step.Packet))
			}
		}
	}
	require.Equal(w.t, w.e.AppendState(nil), w.twin.AppendState(nil), "Step and Handle leave different states")

	for _, out := range outs {
		if out.Bypass {
			require.Equal(w.t, given, string(out.Frame))
			require.Equal(w.t, rxErr, out.Err)
			continue
		}
		w.checkFrame(out)
	}
	counters := w.e.Counters()
	require.NoError(w.t, counters.CheckIdentities(w.up, w.down))
	return outs
}

// checkFrame compares an engine-made frame with docs/engine.md section 4, by the decoder the engine does not use.
func (w *world) checkFrame(out Out) {
	w.t.Helper()
	require.False(w.t, out.Err)
	require.GreaterOrEqual(w.t, len(out.Frame), 60)
	require.True(w.t, roce.CheckICRC(out.Frame))
	p, err := roce.Decode(out.Frame) // the IPv4 checksum and the lengths too
	require.NoError(w.t, err)
	require.Equal(w.t, p, out.Packet)

	to := w.e.table[int(p.DestQP-0x1100)]
	ecn := p.TOS & 3
	require.True(w.t, ecn == 3 || ecn == to.TOS&3)
	want := roce.Packet{ // everything that is the endpoint's, or fixed
		DstMAC: to.RemoteMAC, SrcMAC: to.LocalMAC, TOS: to.TOS&^3 | ecn, TTL: to.TTL, IPID: 0x1111, DF: true,
		SrcIP: to.LocalIP, DstIP: to.RemoteIP, SrcPort: to.UDPSourcePort, PKey: 0xFFFF, DestQP: to.RemoteQPN,
		AckReq: p.Op.IsSend(), BECN: p.Op == roce.CNP,
		Op: p.Op, Pad: uint8(-len(p.Payload) & 3), SE: p.SE && p.Op.IsSend(), PSN: p.PSN, Syndrome: p.Syndrome, MSN: p.MSN, Imm: p.Imm, Payload: p.Payload,
	}
	require.Equal(w.t, want, p)
	require.Equal(w.t, to.Port, out.Port)
	require.Zero(w.t, out.Frame[40], "UDP checksum")
	require.Zero(w.t, out.Frame[41], "UDP checksum")
}

// counted runs f and gives what it added to each counter.
func (w *world) counted(f func()) map[string]uint64 {
	before := w.e.Counters()
	f()
	diff := map[string]uint64{}
	for c, v := range w.e.Counters() {
		if v != before[c] {
			diff[Counter(c).String()] = v - before[c]
		}
	}
	return diff
}

// one asserts that exactly one frame left, and returns its packet.
func (w *world) one(outs []Out) roce.Packet {
	w.t.Helper()
	require.Len(w.t, outs, 1)
	require.False(w.t, outs[0].Bypass)
	return outs[0].Packet
}

// nothing asserts that a call made nothing leave.
func (w *world) nothing(outs []Out) {
	w.t.Helper()
	require.Empty(w.t, outs)
}

// bytesOf is a packet's frame.
func bytesOf(p roce.Packet) []byte { return p.AppendFrame(nil) }

// words is a payload of INT32 in the given byte order.
func words(order binary.ByteOrder, values ...int32) []byte {
	b := make([]byte, 4*len(values))
	for i, v := range values {
		order.PutUint32(b[4*i:], uint32(v))
	}
	return b
}

// le is words in the default byte order.
func le(values ...int32) []byte { return words(binary.LittleEndian, values...) }

// value is what rank r contributes at PSN p in element i: full 32 bits, different at every place.
func value(r int, p roce.PSN, i int) int32 {
	x := uint64(r+1)*0x9E3779B97F4A7C15 ^ uint64(p)*0xC2B2AE3D27D4EB4F ^ uint64(i)*0x165667B19E3779F9
	x ^= x >> 29
	x *= 0xBF58476D1CE4E5B9
	return int32(x >> 32)
}

// contribution is rank r's payload at PSN p.
func contribution(r int, p roce.PSN, n int) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(value(r, p, i)))
	}
	return b
}

// sumOf is the expected result by plain arithmetic in wide integers, cut to 32 bits at the end.
func sumOf(ranks int, p roce.PSN, n int) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		var sum int64
		for r := range ranks {
			sum += int64(value(r, p, i))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(sum&0xFFFFFFFF))
	}
	return b
}
