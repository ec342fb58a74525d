// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// tagged draws a packet with a tag.
func tagged(r *rand.Rand) Packet {
	payload := make([]byte, 4*r.IntN(20))
	for i := range payload {
		payload[i] = byte(r.Uint32())
	}
	return Packet{DstMAC: MAC{2, 1}, SrcMAC: MAC{2, 2}, TTL: 64, SrcIP: IP4{10, 0, 0, 1}, DstIP: IP4{10, 0, 0, 2}, SrcPort: 0xC000, Op: SendOnly, PKey: DefaultPKey,
		DestQP: r.Uint32() & 0xFFFFFF, PSN: PSN(r.Uint32() & PSNMask), Payload: payload,
		VLAN: VLAN{Tagged: true, VID: uint16(r.IntN(4096)), PCP: uint8(r.IntN(8)), DEI: r.IntN(2) == 0}}
}

// TestVLAN: a frame with a tag is the one without, four bytes longer; it is decoded to what it was made from, by this package and by gopacket, and neither checksum
// covers the tag.
func TestVLAN(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := tagged(r)
		frame := p.AppendFrame(nil)
		require.Len(t, frame, p.FrameLen())
		plain := p
		plain.VLAN = VLAN{}
		require.Equal(t, plain.AppendFrame(nil), Untag(frame))
		require.True(t, CheckICRC(frame))
		got, err := Decode(frame)
		require.NoError(t, err)
		got.Payload = slices.Clone(got.Payload)
		require.Empty(t, cmp.Diff(p, got))

		other := slices.Clone(frame)
		other[14], other[15] = byte(r.Uint32()), byte(r.Uint32())
		require.True(t, CheckICRC(other), "a switch may change the tag")
		require.True(t, Reseal(other))
		require.Equal(t, frame[16:], other[16:])

		foreign := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
		tag, ok := foreign.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q)
		require.True(t, ok)
		require.Equal(t, []any{p.VLAN.PCP, p.VLAN.DEI, p.VLAN.VID}, []any{tag.Priority, tag.DropEligible, tag.VLANIdentifier})

		b := gopacket.NewSerializeBuffer()
		require.NoError(t, p.SerializeLayers(b))
		require.Equal(t, frame, b.Bytes())
	}
}

// TestVLANCut: bytes that only begin like a tag, and a second tag, are none.
func TestVLANCut(t *testing.T) {
	t.Parallel()
	p := tagged(rand.New(rand.NewPCG(3, 4)))
	frame := p.AppendFrame(nil)
	for n := range 16 {
		require.False(t, VLANOf(frame[:n]).Tagged, "%d bytes", n)
		require.Zero(t, HeaderAt(frame[:n]))
	}
	_, err := Decode(p.VLAN.Tag(frame))
	require.ErrorIs(t, err, ReasonEtherType)
	_, err = Decode(frame[:57])
	require.ErrorIs(t, err, ReasonShort)
}
