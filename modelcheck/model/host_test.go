// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// roleOf is host 0 of a star of two in an AllReduce of four packets with a window of two, in Mode II.
func roleOf() *HostRole {
	return &HostRole{Send: 4, Receive: 4, lanes: 3, window: 2, length: 4, ackIsResult: true}
}

// result is what such a host should get.
func result(psn int16) Packet {
	return Packet{Op: roce.SendOnly, PSN: psn, Length: 4, Payload: lanesOf(3, psn)}
}

func ack(psn int16, syndrome uint8) Packet {
	return Packet{Op: roce.Acknowledge, PSN: psn, Syndrome: syndrome}
}

// What hosts refuse is what the search finds: each wrong packet is an error, in words.
func TestHostSeesWhatIsWrong(t *testing.T) {
	for want, c := range map[string]struct {
		h Host
		p Packet
	}{
		"should have 4 bytes [00000101": {Host{next: 2}, Packet{Op: roce.SendOnly, Length: 4, Payload: lanesOf(1, 0)}},
		"DATA(1) has 4 bytes [00000101": {Host{next: 2, Expected: 1}, Packet{Op: roce.SendOnly, PSN: 1, Length: 4, Payload: lanesOf(3, 0)}},
		"DATA(0) has 0 bytes":           {Host{next: 2}, Packet{Op: roce.SendOnly}},
		"DATA(0) has 4 bytes [00000201": {Host{next: 2}, Packet{Op: roce.SendOnly, Length: 4, Payload: Elements{0x0201}}},
		"that gets 4 packets":           {Host{next: 4, Base: 4, Expected: 4}, result(4)},
		"more than the 2 packets sent":  {Host{next: 2}, ack(2, roce.AckSyndrome)},
		"of whose results 0 are there":  {Host{next: 2}, ack(0, roce.AckSyndrome)},
	} {
		_, err := c.h.Take(roleOf(), c.p, false)
		require.ErrorContains(t, err, want)
	}
	silent := roleOf()
	silent.Send = 0
	_, err := new(Host).Take(silent, ack(0, roce.AckSyndrome), false)
	require.ErrorContains(t, err, "sends nothing")
}

func TestHost(t *testing.T) {
	r, data := roleOf(), (&Host{}).Fresh(roleOf())
	require.Len(t, data, 2)
	assert.Equal(t, Packet{Op: roce.SendOnly, PSN: 1, Length: 4, Payload: Elements{2}}, data[1])
	for name, c := range map[string]struct {
		before, after Host
		in            Packet
		notReady      bool
		out           []string
	}{
		"result":              {Host{next: 2}, Host{next: 2, Expected: 1}, result(0), false, []string{"ACK(0)"}},
		"result after a gap":  {Host{next: 2, naked: true}, Host{next: 2, Expected: 1}, result(0), false, []string{"ACK(0)"}},
		"gap":                 {Host{next: 2}, Host{next: 2, naked: true}, result(1), false, []string{"NAK(0)"}},
		"gap again":           {Host{next: 2, naked: true}, Host{next: 2, naked: true}, result(1), false, nil},
		"duplicate":           {Host{next: 2, Expected: 2}, Host{next: 2, Expected: 2}, result(0), false, []string{"ACK(1)"}},
		"no receive":          {Host{next: 2}, Host{next: 2}, result(0), true, []string{"RNR(0)"}},
		"ACK":                 {Host{next: 2, Expected: 2}, Host{Base: 1, next: 3, Expected: 2}, ack(0, roce.AckSyndrome), false, []string{"DATA(2)"}},
		"ACK of both":         {Host{next: 2, Expected: 2}, Host{Base: 2, next: 4, Expected: 2}, ack(1, roce.AckSyndrome), false, []string{"DATA(2)", "DATA(3)"}},
		"old ACK":             {Host{Base: 1, next: 3, Expected: 2}, Host{Base: 1, next: 3, Expected: 2}, ack(-1, roce.AckSyndrome), false, nil},
		"NAK":                 {Host{next: 2, Expected: 1}, Host{Base: 1, next: 3, Expected: 1}, ack(1, roce.NAKSequence), false, []string{"DATA(1)", "DATA(2)"}},
		"RNR NAK":             {Host{next: 2, Expected: 1}, Host{Base: 1, next: 2, Expected: 1, waiting: true}, ack(1, roce.RNRSyndrome|1), false, nil},
		"NAK while waiting":   {Host{next: 2, waiting: true}, Host{next: 2, waiting: true}, ack(0, roce.NAKSequence), false, nil},
		"RNR NAK of all sent": {Host{next: 2, Expected: 2}, Host{Base: 2, next: 4, Expected: 2}, ack(2, roce.RNRSyndrome|1), false, []string{"DATA(2)", "DATA(3)"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.before
			out, err := h.Take(r, c.in, c.notReady)
			require.NoError(t, err)
			assert.Equal(t, c.after, h)
			var got []string
			for _, p := range out {
				got = append(got, p.String())
			}
			assert.Equal(t, c.out, got)
			assert.Equal(t, h, HostOf(h.Append(nil)))
		})
	}
	h := Host{Base: 1, next: 3, Expected: 1, waiting: true}
	assert.Len(t, h.Timeout(r), 2)
	assert.False(t, h.waiting)
}

// Exchanging hosts exchanges their lanes.
func TestPermute(t *testing.T) {
	p := Packet{Payload: lanesOf(1<<0|1<<5, 4)}
	assert.Equal(t, lanesOf(1<<5|1<<3, 4), p.Permute([]int{3, 1, 2, 0, 4, 5, 6, 7}).Payload)
}
