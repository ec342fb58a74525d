// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// roleOf is host 0 of a star of two in an AllReduce of four packets with a window of two, in Mode II.
func roleOf() *hostRole {
	return &hostRole{send: 4, receive: 4, lanes: 3, window: 2, length: 4, rules: hostRules{ackIsResult: true}}
}

// result is what such a host should get.
func result(psn int16) packet {
	return packet{op: roce.SendOnly, psn: psn, length: 4, payload: lanesOf(3, psn)}
}

func ack(psn int16, syndrome uint8) packet {
	return packet{op: roce.Acknowledge, psn: psn, syndrome: syndrome}
}

// What hosts refuse is what the search finds: each wrong packet is an error, in words.
func TestHostSeesWhatIsWrong(t *testing.T) {
	for want, c := range map[string]struct {
		h host
		p packet
	}{
		"should have 4 bytes [00000101": {host{next: 2}, packet{op: roce.SendOnly, length: 4, payload: lanesOf(1, 0)}},
		"DATA(1) has 4 bytes [00000101": {host{next: 2, expected: 1}, packet{op: roce.SendOnly, psn: 1, length: 4, payload: lanesOf(3, 0)}},
		"DATA(0) has 0 bytes":           {host{next: 2}, packet{op: roce.SendOnly}},
		"DATA(0) has 4 bytes [00000201": {host{next: 2}, packet{op: roce.SendOnly, length: 4, payload: [2]uint32{0x0201}}},
		"that gets 4 packets":           {host{next: 4, base: 4, expected: 4}, result(4)},
		"more than the 2 packets sent":  {host{next: 2}, ack(2, roce.AckSyndrome)},
		"of whose results 0 are there":  {host{next: 2}, ack(0, roce.AckSyndrome)},
	} {
		_, err := c.h.take(roleOf(), c.p, false, nil)
		require.ErrorContains(t, err, want)
	}
	silent := roleOf()
	silent.send = 0
	_, err := new(host).take(silent, ack(0, roce.AckSyndrome), false, nil)
	require.ErrorContains(t, err, "sends nothing")
}

func TestHost(t *testing.T) {
	r, data := roleOf(), (&host{}).fresh(roleOf(), nil)
	require.Len(t, data, 2)
	assert.Equal(t, packet{op: roce.SendOnly, psn: 1, length: 4, payload: [2]uint32{2}}, data[1])
	for name, c := range map[string]struct {
		before, after host
		in            packet
		notReady      bool
		out           []string
	}{
		"result":              {host{next: 2}, host{next: 2, expected: 1}, result(0), false, []string{"ACK(0)"}},
		"result after a gap":  {host{next: 2, naked: true}, host{next: 2, expected: 1}, result(0), false, []string{"ACK(0)"}},
		"gap":                 {host{next: 2}, host{next: 2, naked: true}, result(1), false, []string{"NAK(0)"}},
		"gap again":           {host{next: 2, naked: true}, host{next: 2, naked: true}, result(1), false, nil},
		"duplicate":           {host{next: 2, expected: 2}, host{next: 2, expected: 2}, result(0), false, []string{"ACK(1)"}},
		"no receive":          {host{next: 2}, host{next: 2}, result(0), true, []string{"RNR(0)"}},
		"ACK":                 {host{next: 2, expected: 2}, host{base: 1, next: 3, expected: 2}, ack(0, roce.AckSyndrome), false, []string{"DATA(2)"}},
		"ACK of both":         {host{next: 2, expected: 2}, host{base: 2, next: 4, expected: 2}, ack(1, roce.AckSyndrome), false, []string{"DATA(2)", "DATA(3)"}},
		"old ACK":             {host{base: 1, next: 3, expected: 2}, host{base: 1, next: 3, expected: 2}, ack(-1, roce.AckSyndrome), false, nil},
		"NAK":                 {host{next: 2, expected: 1}, host{base: 1, next: 3, expected: 1}, ack(1, roce.NAKSequence), false, []string{"DATA(1)", "DATA(2)"}},
		"RNR NAK":             {host{next: 2, expected: 1}, host{base: 1, next: 2, expected: 1, waiting: true}, ack(1, roce.RNRSyndrome|1), false, nil},
		"NAK while waiting":   {host{next: 2, waiting: true}, host{next: 2, waiting: true}, ack(0, roce.NAKSequence), false, nil},
		"RNR NAK of all sent": {host{next: 2, expected: 2}, host{base: 2, next: 4, expected: 2}, ack(2, roce.RNRSyndrome|1), false, []string{"DATA(2)", "DATA(3)"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.before
			out, err := h.take(r, c.in, c.notReady, nil)
			require.NoError(t, err)
			assert.Equal(t, c.after, h)
			var got []string
			for _, p := range out {
				got = append(got, p.String())
			}
			assert.Equal(t, c.out, got)
			assert.Equal(t, h, hostOf(h.append(nil)))
		})
	}
	h := host{base: 1, next: 3, expected: 1, waiting: true}
	assert.Len(t, h.timeout(r, nil), 2)
	assert.False(t, h.waiting)
}

// Packets go to bytes and back, and exchanging hosts exchanges their lanes.
func TestPackets(t *testing.T) {
	for _, p := range []packet{result(3), ack(-1, roce.NAKSequence), {op: roce.SendOnly, psn: 7, length: 8, payload: lanesOf(0xA5, 7), msn: 9}} {
		assert.Equal(t, p, packetOf(p.append(nil)))
		assert.Len(t, p.append(nil), packetBytes)
	}
	p := packet{payload: lanesOf(1<<0|1<<5, 4)}
	assert.Equal(t, lanesOf(1<<5|1<<3, 4), p.permute([]int{3, 1, 2, 0, 4, 5, 6, 7}).payload)
}
