// SPDX-License-Identifier: Apache-2.0

package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

const start = roce.PSN(0xFFFFFE)

func newHost(t *testing.T, window int) *Host {
	t.Helper()
	h, err := New(Config{MAC: roce.MAC{2, 1}, PeerMAC: roce.MAC{2, 2}, IP: roce.IP4{10, 0, 0, 2}, PeerIP: roce.IP4{10, 0, 0, 1}, QPN: 17,
		PeerQPN: 0xEE0001, UDPPort: 0xC001, TTL: 64, Start: start, PathMTU: 256, Window: window, Timeout: 1000, RNRCode: 12, CyclesPerMicrosecond: 250})
	require.NoError(t, err)
	return h
}

// peer makes a frame from the engine's side.
func peer(op roce.Opcode, psn roce.PSN, change ...func(*roce.Packet)) []byte {
	p := roce.Packet{DstMAC: roce.MAC{2, 1}, SrcMAC: roce.MAC{2, 2}, TTL: 64, SrcIP: roce.IP4{10, 0, 0, 1}, DstIP: roce.IP4{10, 0, 0, 2},
		SrcPort: 49152, Op: op, PKey: 0xFFFF, DestQP: 17, PSN: psn, AckReq: op.IsSend()}
	for _, c := range change {
		c(&p)
	}
	return p.AppendFrame(nil)
}

func aeth(psn roce.PSN, syndrome uint8) []byte {
	return peer(roce.Acknowledge, psn, func(p *roce.Packet) { p.Syndrome = syndrome })
}

// sent takes everything the host has to send.
func sent(t *testing.T, h *Host, now uint64) []roce.Packet {
	t.Helper()
	var all []roce.Packet
	for h.Ready() {
		p, err := roce.Decode(h.Next(now))
		require.NoError(t, err)
		all = append(all, p)
	}
	require.Nil(t, h.Next(now))
	return all
}

func psns(all []roce.Packet) []int {
	var n []int
	for i := range all {
		n = append(n, all[i].PSN.Diff(start))
	}
	return n
}

func post(h *Host, n int) {
	for i := range n {
		h.Post(Message{Payload: []byte{byte(i), 0, 0, 0}})
	}
}

// TestSegments: FIRST and MIDDLE have exactly the path MTU; AckReq is on the last packet of a message; a message without payload is
// one ONLY.
func TestSegments(t *testing.T) {
	h := newHost(t, 100)
	h.Post(Message{Payload: make([]byte, 600), HasImm: true, Imm: 7, SE: true})
	h.Post(Message{})
	h.Post(Message{Payload: make([]byte, 256)})
	all := sent(t, h, 0)
	var ops []roce.Opcode
	var lengths []int
	var ack, se []bool
	for _, p := range all {
		ops, lengths, ack, se = append(ops, p.Op), append(lengths, len(p.Payload)), append(ack, p.AckReq), append(se, p.SE)
	}
	assert.Equal(t, []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLastImm, roce.SendOnly, roce.SendOnly}, ops)
	assert.Equal(t, []int{256, 256, 88, 0, 256}, lengths)
	assert.Equal(t, []bool{false, false, true, true, true}, ack)
	assert.Equal(t, []bool{false, false, true, false, false}, se)
	assert.Equal(t, []int{0, 1, 2, 3, 4}, psns(all))
}

// TestAckReqEvery66th: a packet in a row of 66 without AckReq asks; a NIC's own window is 129 packets.
func TestAckReqEvery66th(t *testing.T) {
	h := newHost(t, 1000)
	h.Post(Message{Payload: make([]byte, 256*200)})
	all := sent(t, h, 0)
	require.Len(t, all, NICWindow)
	for i, p := range all {
		assert.Equal(t, i == 65, p.AckReq, "packet %d", i+1)
	}
}

func TestWindowAndCumulativeAcks(t *testing.T) {
	h := newHost(t, 4)
	post(h, 10)
	assert.Equal(t, []int{0, 1, 2, 3}, psns(sent(t, h, 0)))
	h.Receive(10, aeth(start.Add(2), roce.AckSyndrome))
	assert.Equal(t, 3, h.Completed())
	assert.Equal(t, []int{4, 5, 6}, psns(sent(t, h, 10)))
	h.Receive(11, aeth(start.Add(1), roce.AckSyndrome))
	assert.Equal(t, 3, h.Completed(), "an old ACK means nothing")
	h.Receive(12, aeth(start.Add(6), 0x00))
	assert.Equal(t, 7, h.Completed(), "credits are ignored")
	require.NoError(t, h.Err())
	h.Receive(13, aeth(start.Add(7), roce.AckSyndrome))
	require.Error(t, h.Err(), "an ACK for a packet that was never sent")
}

// TestNAK: it acknowledges all before and makes the host go back once; another one is ignored until an ACK came.
func TestNAK(t *testing.T) {
	h := newHost(t, 8)
	post(h, 8)
	sent(t, h, 0)
	h.Receive(5, aeth(start.Add(3), roce.NAKSequence))
	assert.Equal(t, 3, h.Completed())
	assert.Equal(t, []int{3, 4, 5, 6, 7}, psns(sent(t, h, 5)))
	h.Receive(6, aeth(start.Add(3), roce.NAKSequence))
	assert.Empty(t, sent(t, h, 6), "a second NAK before any ACK")
	h.Receive(7, aeth(start.Add(3), roce.AckSyndrome))
	h.Receive(8, aeth(start.Add(5), roce.NAKSequence))
	assert.Equal(t, []int{5, 6, 7}, psns(sent(t, h, 8)))
	h.Receive(9, aeth(start.Add(2), roce.NAKSequence))
	assert.Empty(t, sent(t, h, 9), "a NAK older than what is acknowledged")
	require.NoError(t, h.Err())
	h.Receive(10, aeth(start.Add(6), roce.NAKRemoteOperational))
	require.Error(t, h.Err(), "0x63 ends the QP")
}

// TestTimer: an ACK within a message moves where the retransmission begins and does not restart the timer; one that completes a
// message does.
func TestTimer(t *testing.T) {
	h := newHost(t, 8)
	h.Post(Message{Payload: make([]byte, 1024)})
	sent(t, h, 100)
	assert.EqualValues(t, 1100, h.Deadline())
	h.Receive(600, aeth(start.Add(1), roce.AckSyndrome))
	assert.EqualValues(t, 1100, h.Deadline())
	h.Tick(1099)
	assert.Empty(t, sent(t, h, 1099))
	h.Tick(1100)
	assert.Equal(t, []int{2, 3}, psns(sent(t, h, 1100)))
	assert.Equal(t, 1, h.Stats.Timeouts)
	h.Receive(1200, aeth(start.Add(3), roce.AckSyndrome))
	assert.EqualValues(t, uint64(Never), h.Deadline())
	post(h, 2)
	sent(t, h, 2000)
	h.Receive(2500, aeth(start.Add(4), roce.AckSyndrome))
	assert.EqualValues(t, 3500, h.Deadline())
}

func TestRNRWaits(t *testing.T) {
	h := newHost(t, 8)
	post(h, 4)
	sent(t, h, 0)
	h.Receive(50, aeth(start.Add(1), roce.RNRSyndrome|1)) // 10 µs at 250 cycles each
	assert.Equal(t, 1, h.Completed())
	h.Receive(60, aeth(start.Add(1), roce.NAKSequence))
	assert.Empty(t, sent(t, h, 60), "waiting")
	h.Tick(2549)
	assert.Empty(t, sent(t, h, 2549))
	h.Tick(2550)
	assert.Equal(t, []int{1, 2, 3}, psns(sent(t, h, 2550)))
}

func TestResponder(t *testing.T) {
	h := newHost(t, 8)
	answer := func(frame []byte) []roce.Packet {
		t.Helper()
		h.Receive(0, frame)
		return sent(t, h, 0)
	}
	one := func(all []roce.Packet, psn int, syndrome uint8, msn uint32) {
		t.Helper()
		require.Len(t, all, 1)
		assert.Equal(t, psn, all[0].PSN.Diff(start))
		assert.Equal(t, syndrome, all[0].Syndrome)
		assert.Equal(t, msn, all[0].MSN)
		assert.EqualValues(t, 0xEE0001, all[0].DestQP)
	}
	data := func(psn int, op roce.Opcode, ackReq bool, payload ...byte) []byte {
		return peer(op, start.Add(psn), func(p *roce.Packet) { p.AckReq, p.Payload = ackReq, payload })
	}
	assert.Empty(t, answer(data(0, roce.SendFirst, false, 1, 2, 3, 4)), "no AckReq, no ACK")
	one(answer(data(2, roce.SendLast, true)), 1, roce.NAKSequence, 0)
	assert.Empty(t, answer(data(3, roce.SendOnly, true)), "one NAK a gap")
	one(answer(data(1, roce.SendLastImm, true, 5, 6, 7, 8)), 1, roce.AckSyndrome, 1)
	one(answer(data(0, roce.SendFirst, false)), 1, roce.AckSyndrome, 1)
	one(answer(data(1, roce.SendLastImm, true)), 1, roce.AckSyndrome, 1)
	one(answer(data(4, roce.SendOnly, true)), 2, roce.NAKSequence, 1)
	require.Len(t, h.Received(), 1)
	assert.Equal(t, Message{Payload: []byte{1, 2, 3, 4, 5, 6, 7, 8}, HasImm: true}, h.Received()[0])

	h.SetReceives(0)
	one(answer(data(2, roce.SendOnly, true)), 2, roce.RNRSyndrome|12, 1)
	h.SetReceives(1)
	one(answer(data(2, roce.SendOnly, true)), 2, roce.AckSyndrome, 2)
	assert.Zero(t, h.Receives())
	h.SetReceives(-1)

	for name, frame := range map[string][]byte{
		"ICRC":      func() []byte { f := data(3, roce.SendOnly, true, 1, 2, 3, 4); f[60] ^= 1; return f }(),
		"source IP": peer(roce.SendOnly, start.Add(3), func(p *roce.Packet) { p.SrcIP[0]++ }),
		"QPN":       peer(roce.SendOnly, start.Add(3), func(p *roce.Packet) { p.DestQP++ }),
		"TVer":      peer(roce.SendOnly, start.Add(3), func(p *roce.Packet) { p.TVer = 1 }),
		"P_Key":     peer(roce.SendOnly, start.Add(3), func(p *roce.Packet) { p.PKey = 1 }),
		"MAC":       peer(roce.SendOnly, start.Add(3), func(p *roce.Packet) { p.DstMAC[5]++ }),
		"WRITE":     peer(roce.WriteOnly, start.Add(3)),
	} {
		assert.Empty(t, answer(frame), name)
	}
	require.NoError(t, h.Err())
	h.Receive(0, data(3, roce.SendMiddle, true))
	require.Error(t, h.Err(), "MIDDLE without FIRST")
}

func TestKilledHostIsSilent(t *testing.T) {
	h := newHost(t, 4)
	post(h, 4)
	h.Kill()
	assert.False(t, h.Ready())
	assert.False(t, h.Receive(0, peer(roce.SendOnly, start)))
	assert.EqualValues(t, uint64(Never), h.Deadline())
}

// TestCompletions: sends and receives are told of in the order of posting, messages told of are not kept, and whoever is told may post.
func TestCompletions(t *testing.T) {
	h := newHost(t, 8)
	h.SetReceives(0)
	var got []Completion
	h.OnCompletion = func(c Completion) {
		got = append(got, c)
		if c.Sent && c.Index == 0 {
			h.PostReceive(8)
			h.Post(Message{Payload: []byte{9, 9, 9, 9}})
		}
	}
	post(h, 2)
	assert.Equal(t, []int{0, 1}, psns(sent(t, h, 0)))
	h.Receive(5, aeth(start.Add(1), roce.AckSyndrome))
	assert.Equal(t, []Completion{{true, 0, 5, Message{Payload: []byte{0, 0, 0, 0}}}, {true, 1, 5, Message{Payload: []byte{1, 0, 0, 0}}}}, got)
	assert.Equal(t, []int{2}, psns(sent(t, h, 6)))
	assert.False(t, h.Drained())
	got = nil
	data := func(psn int) []byte {
		return peer(roce.SendOnly, start.Add(psn), func(p *roce.Packet) { p.Payload = []byte{1, 2, 3, 4} })
	}
	h.Receive(7, data(0))
	assert.Equal(t, []Completion{{false, 0, 7, Message{Payload: []byte{1, 2, 3, 4}}}}, got)
	assert.Empty(t, h.Received())
	h.Receive(8, data(1))
	all := sent(t, h, 8)
	require.Len(t, all, 2)
	assert.Equal(t, roce.RNRSyndrome|12, all[1].Syndrome, "the one receive is used up")
	h.Receive(9, aeth(start.Add(2), roce.AckSyndrome))
	assert.True(t, h.Drained())
}

// TestManyMessages: completed messages are forgotten, and counts and PSNs go on.
func TestManyMessages(t *testing.T) {
	h := newHost(t, 16)
	for i := range 50 {
		post(h, 10)
		all := sent(t, h, uint64(i))
		require.Equal(t, 10*i, all[0].PSN.Diff(start))
		require.Len(t, all, 10)
		h.Receive(uint64(i), aeth(start.Add(10*i+9), roce.AckSyndrome))
		require.Equal(t, 10*i+10, h.Completed())
		require.Equal(t, 10*i+10, h.Posted())
	}
	assert.Empty(t, h.pieces)
	assert.Less(t, cap(h.pieces), 64)
}

// TestReceiveBuffers: a message longer than its receive ends the connection with NAK 0x63.
func TestReceiveBuffers(t *testing.T) {
	h := newHost(t, 8)
	h.SetReceives(1)
	h.PostReceive(8)
	h.PostReceive(8)
	data := func(psn int, op roce.Opcode, n int) {
		h.Receive(0, peer(op, start.Add(psn), func(p *roce.Packet) { p.Payload = make([]byte, n) }))
	}
	data(0, roce.SendOnly, 100)
	data(1, roce.SendOnly, 8)
	require.NoError(t, h.Err())
	data(2, roce.SendFirst, 4)
	data(3, roce.SendLast, 8)
	require.Error(t, h.Err())
	all := sent(t, h, 0)
	assert.Equal(t, roce.NAKRemoteOperational, all[len(all)-1].Syndrome)
	assert.EqualValues(t, uint64(Never), h.Deadline())
}

// TestReconnect: a host that died comes back with nothing of what was, at other numbers.
func TestReconnect(t *testing.T) {
	h := newHost(t, 4)
	h.SetReceives(3)
	post(h, 6)
	sent(t, h, 0)
	h.Kill()
	require.True(t, h.Dead())
	h.Reconnect(18, 0xEE0002, 100)
	assert.False(t, h.Dead())
	assert.Zero(t, h.Posted())
	assert.Zero(t, h.Receives())
	assert.Empty(t, sent(t, h, 10))
	assert.False(t, h.Receive(10, peer(roce.SendOnly, start)), "the old QPN is gone")
	post(h, 1)
	all := sent(t, h, 10)
	require.Len(t, all, 1)
	assert.Equal(t, roce.PSN(100), all[0].PSN)
	assert.EqualValues(t, 0xEE0002, all[0].DestQP)
	h.PostReceive(-1)
	assert.True(t, h.Receive(11, peer(roce.SendOnly, 100, func(p *roce.Packet) { p.DestQP = 18 })))
	assert.Len(t, h.Received(), 1)
}
