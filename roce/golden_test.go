// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

type golden struct {
	name   string
	packet Packet
	hex    string
	zeros  int // bytes of payload, all zero, before the last four of hex
	frame  int // bytes before Ethernet padding
}

// goldenFrames are EPIC's emulation's frames, their CRCs confirmed with zlib.
func goldenFrames(t testing.TB) []golden {
	t.Helper()
	base := Packet{
		DstMAC: MAC{2, 0, 0, 0, 0, 2}, SrcMAC: MAC{2, 0, 0, 0, 0, 1},
		TTL: 64, IPID: 0x1111, DF: true, SrcIP: IP4{10, 0, 0, 101}, DstIP: IP4{10, 0, 0, 1},
		SrcPort: 4791, PKey: DefaultPKey, DestQP: 0x11,
	}
	ack, words, barrier, big := base, base, base, base
	ack.Op, ack.PSN, ack.Syndrome, ack.MSN, ack.Payload = Acknowledge, 5, AckSyndrome, 6, []byte{}
	words.Op, words.PSN, words.AckReq = SendOnly, 5, true
	words.Payload = []byte{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}
	barrier.Op, barrier.PSN, barrier.AckReq, barrier.Payload = SendOnly, 0xFFFFFF, true, []byte{}
	big.Op, big.PSN, big.AckReq, big.Payload = SendOnly, 5, true, make([]byte, 4096)
	return []golden{
		{"ack", ack, `0200000000020200000000010800 4500003011114000401115470a0000650a000001
			12b712b7001c0000 1100ffff0000001100000005 1f000006 ab491b31`, 0, 62},
		{"four words", words, `0200000000020200000000010800 4500003c111140004011153b0a0000650a000001
			12b712b700280000 0400ffff0000001180000005 00000001000000020000000300000004 4175a087`, 0, 74},
		{"zero length", barrier, `0200000000020200000000010800 4500002c111140004011154b0a0000650a000001
			12b712b700180000 0400ffff0000001180ffffff 4297b9e7`, 0, 58},
		{"4096 zeros", big, `0200000000020200000000010800 4500102c111140004011054b0a0000650a000001
			12b712b710180000 0400ffff0000001180000005 7c79c00d`, 4096, 4154},
	}
}

func (g golden) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(g.hex), ""))
	require.NoError(t, err)
	tail := append([]byte{}, b[len(b)-4:]...)
	b = append(append(b[:len(b)-4], make([]byte, g.zeros)...), tail...)
	require.Len(t, b, g.frame)
	return b
}

func TestGoldenFrames(t *testing.T) {
	for _, g := range goldenFrames(t) {
		t.Run(g.name, func(t *testing.T) {
			want := g.bytes(t)
			unpadded := GoodFrame()
			unpadded.MinFrame = 0
			require.Empty(t, cmp.Diff(want, g.packet.AppendFrameWith(nil, unpadded)))

			framed := g.packet.AppendFrame([]byte("before"))
			require.Equal(t, "before", string(framed[:6]))
			framed = framed[6:]
			require.Len(t, framed, max(len(want), MinFrame))
			require.Len(t, framed, g.packet.FrameLen())
			require.Empty(t, cmp.Diff(want, framed[:len(want)]))
			require.Equal(t, make([]byte, len(framed)-len(want)), framed[len(want):], "Ethernet padding")

			for _, f := range [][]byte{want, framed} {
				require.True(t, CheckICRC(f))
				p, err := Decode(f)
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(g.packet, p))
			}
		})
	}
}
