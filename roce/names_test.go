// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAddresses(t *testing.T) {
	m, err := ParseMAC("02:00:5E:10:00:ff")
	require.NoError(t, err)
	require.Equal(t, MAC{2, 0, 0x5e, 0x10, 0, 0xff}, m)
	require.Equal(t, "02:00:5e:10:00:ff", m.String())
	require.Equal(t, uint64(0x02005e1000ff), m.Uint64())
	require.Equal(t, m, MACFromUint64(0xFFFF_0200_5e10_00ff), "the upper 16 bits are ignored")
	a, err := ParseIP4("10.77.0.2")
	require.NoError(t, err)
	require.Equal(t, IP4{10, 77, 0, 2}, a)
	require.Equal(t, "10.77.0.2", a.String())
	require.Equal(t, uint32(0x0A4D0002), a.Uint32())
	require.Equal(t, a, IP4FromUint32(0x0A4D0002))

	for _, s := range []string{"", "02:00:00:00:00", "02:00:00:00:00:00:00:01", "zz:00:00:00:00:00"} {
		_, err := ParseMAC(s)
		require.ErrorContains(t, err, "MAC address", s)
	}
	for _, s := range []string{"", "10.0.0", "10.0.0.256", "::1", "::ffff:10.0.0.1", "010.0.0.1"} {
		_, err := ParseIP4(s)
		require.ErrorContains(t, err, "IPv4 address", s)
	}

	type both struct {
		M MAC
		A IP4
	}
	b, err := json.Marshal(both{m, a})
	require.NoError(t, err)
	require.JSONEq(t, `{"M":"02:00:5e:10:00:ff","A":"10.77.0.2"}`, string(b))
	var got both
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, both{m, a}, got)
	require.Error(t, json.Unmarshal([]byte(`{"M":"x"}`), &got))
	require.Error(t, json.Unmarshal([]byte(`{"A":"x"}`), &got))
	require.Equal(t, both{m, a}, got, "a failed parse changes nothing")
}

func TestOpcodes(t *testing.T) {
	type row struct {
		op                                       Opcode
		name                                     string
		send, write, imm, aeth, reth, start, end bool
	}
	rows := []row{
		{op: 0x00, name: "SEND_FIRST", send: true, start: true},
		{op: 0x01, name: "SEND_MIDDLE", send: true},
		{op: 0x02, name: "SEND_LAST", send: true, end: true},
		{op: 0x03, name: "SEND_LAST_IMM", send: true, imm: true, end: true},
		{op: 0x04, name: "SEND_ONLY", send: true, start: true, end: true},
		{op: 0x05, name: "SEND_ONLY_IMM", send: true, imm: true, start: true, end: true},
		{op: 0x06, name: "WRITE_FIRST", write: true, reth: true, start: true},
		{op: 0x07, name: "WRITE_MIDDLE", write: true},
		{op: 0x08, name: "WRITE_LAST", write: true, end: true},
		{op: 0x09, name: "WRITE_LAST_IMM", write: true, imm: true, end: true},
		{op: 0x0A, name: "WRITE_ONLY", write: true, reth: true, start: true, end: true},
		{op: 0x0B, name: "WRITE_ONLY_IMM", write: true, imm: true, reth: true, start: true, end: true},
		{op: 0x11, name: "ACK", aeth: true},
		{op: 0x81, name: "CNP"},
	}
	known := map[Opcode]row{}
	for _, r := range rows {
		known[r.op] = r
	}
	for i := range 256 {
		o := Opcode(i)
		want, ok := known[o]
		if !ok {
			want = row{op: o, name: o.String()}
			require.Contains(t, want.name, "opcode 0x")
		}
		require.Equal(t, want, row{o, o.String(), o.IsSend(), o.IsWrite(), o.HasImm(), o.HasAETH(), o.HasRETH(), o.StartsMessage(), o.EndsMessage()})
	}
}

func TestSyndromes(t *testing.T) {
	for i := range 256 {
		want := SyndromeReserved
		switch {
		case i < 0x20:
			want = SyndromeAck
		case i < 0x40:
			want = SyndromeRNR
		case i >= 0x60 && i < 0x64:
			want = SyndromeNAK
		}
		require.Equal(t, want, SyndromeKindOf(uint8(i)), "0x%02x", i)
	}
	require.Equal(t, []string{"reserved", "ACK", "RNR NAK", "NAK"},
		[]string{SyndromeReserved.String(), SyndromeAck.String(), SyndromeRNR.String(), SyndromeNAK.String()})
}

// The timer's table has a shape: from 10 µs up, two codes to a doubling, 2^k and 1.5·2^k hundredths of a millisecond.
func TestRNRTimer(t *testing.T) {
	us := time.Microsecond
	for code, want := range map[uint8]time.Duration{0: 655360 * us, 1: 10 * us, 12: 640 * us, 20: 10240 * us, 31: 491520 * us} {
		require.Equal(t, want, RNRDuration(code), "code %d", code)
		require.Equal(t, want, RNRDuration(RNRSyndrome|code), "a whole syndrome will do")
	}
	for code := uint8(4); code <= 31; code++ {
		require.Equal(t, 2*RNRDuration(code-2), RNRDuration(code), "code %d", code)
	}
	require.Equal(t, []time.Duration{20 * us, 30 * us}, []time.Duration{RNRDuration(2), RNRDuration(3)})
	for code := uint8(0); code <= 31; code++ {
		got, err := RNRCode(RNRDuration(code))
		require.NoError(t, err)
		require.Equal(t, code, got)
		if code > 1 {
			got, err = RNRCode(RNRDuration(code-1) + 1)
			require.NoError(t, err)
			require.Equal(t, code, got, "the next longer wait")
		}
	}
	got, err := RNRCode(-1)
	require.NoError(t, err)
	require.Equal(t, uint8(1), got)
	got, err = RNRCode(RNRDuration(31) + 1)
	require.NoError(t, err)
	require.Equal(t, uint8(0), got)
	_, err = RNRCode(RNRDuration(0) + 1)
	require.ErrorContains(t, err, "longer than the longest")
}

func TestPacketString(t *testing.T) {
	p := Packet{SrcIP: IP4{10, 0, 0, 1}, DstIP: IP4{10, 0, 0, 2}, SrcPort: 7, DestQP: 0x11, Op: SendOnlyImm, PSN: 5, Imm: 9, AckReq: true, Payload: make([]byte, 8)}
	require.Equal(t, "10.0.0.1:7 > 10.0.0.2 qp 0x000011 SEND_ONLY_IMM psn 0x000005 imm 0x00000009 ackreq 8 bytes", p.String())
	p = Packet{Op: Acknowledge, Syndrome: NAKSequence, MSN: 3}
	require.Contains(t, p.String(), "ACK psn 0x000000 NAK 0x60 msn 3")
	p.TOS = 0x6B
	require.True(t, p.CE())
	p.TOS = 0x6A
	require.False(t, p.CE())
}
