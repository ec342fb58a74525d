// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fromLayers decodes a good frame by gopacket alone: the second opinion on Decode.
func fromLayers(t require.TestingT, frame []byte) Packet {
	g := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	require.Nil(t, g.ErrorLayer())
	eth := g.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	ip := g.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	udp := g.Layer(layers.LayerTypeUDP).(*layers.UDP)
	bth, ok := g.Layer(LayerTypeBTH).(*BTH)
	require.True(t, ok, "gopacket finds a BTH behind UDP port 4791")
	p := Packet{
		DstMAC: MAC(eth.DstMAC), SrcMAC: MAC(eth.SrcMAC),
		TOS: ip.TOS, TTL: ip.TTL, IPID: ip.Id,
		DF: ip.Flags&layers.IPv4DontFragment != 0, IPReserved: ip.Flags&layers.IPv4EvilBit != 0,
		SrcIP: IP4(ip.SrcIP.To4()), DstIP: IP4(ip.DstIP.To4()), SrcPort: uint16(udp.SrcPort),
		Op: bth.Op, SE: bth.SE, MigReq: bth.MigReq, Pad: bth.Pad, TVer: bth.TVer, PKey: bth.PKey,
		FECN: bth.FECN, BECN: bth.BECN, ReservedQP: bth.ReservedQP, DestQP: bth.DestQP,
		AckReq: bth.AckReq, ReservedPSN: bth.ReservedPSN, PSN: bth.PSN, Payload: []byte{},
	}
	require.Equal(t, bth.ICRC, ICRC(frame[ethLen:ethLen+int(ip.Length)-icrcLen]))
	if l, ok := g.Layer(LayerTypeAETH).(*AETH); ok {
		p.Syndrome, p.MSN = l.Syndrome, l.MSN
	}
	if l, ok := g.Layer(LayerTypeRETH).(*RETH); ok {
		p.RETH = l.RETHFields
	}
	if l, ok := g.Layer(LayerTypeImmDt).(*ImmDt); ok {
		p.Imm = l.Imm
	}
	if l := g.ApplicationLayer(); l != nil {
		p.Payload = l.Payload()
	}
	return p
}

// packets draws packets whose frames are good: every field free, the payload as the opcode and pad count allow.
func packets() *rapid.Generator[Packet] {
	return rapid.Custom(func(t *rapid.T) Packet {
		u8, b := rapid.Uint8(), rapid.Bool()
		p := Packet{
			DstMAC: MACFromUint64(rapid.Uint64Max(1<<48-1).Draw(t, "dmac")),
			SrcMAC: MACFromUint64(rapid.Uint64Max(1<<48-1).Draw(t, "smac")),
			TOS:    u8.Draw(t, "tos"), TTL: u8.Draw(t, "ttl"), IPID: rapid.Uint16().Draw(t, "id"),
			DF: b.Draw(t, "df"), IPReserved: b.Draw(t, "evil"),
			SrcIP: IP4FromUint32(rapid.Uint32().Draw(t, "sip")), DstIP: IP4FromUint32(rapid.Uint32().Draw(t, "dip")),
			SrcPort: rapid.Uint16().Draw(t, "sport"),
			Op:      Opcode(rapid.OneOf(rapid.Uint8Range(0, 0x11), rapid.Just(uint8(CNP)), u8).Draw(t, "op")),
			SE:      b.Draw(t, "se"), MigReq: b.Draw(t, "m"), Pad: rapid.Uint8Max(3).Draw(t, "pad"), TVer: rapid.Uint8Max(15).Draw(t, "tver"),
			PKey: rapid.Uint16().Draw(t, "pkey"), FECN: b.Draw(t, "fecn"), BECN: b.Draw(t, "becn"),
			ReservedQP: rapid.Uint8Max(63).Draw(t, "rqp"), DestQP: rapid.Uint32Max(PSNMask).Draw(t, "qp"),
			AckReq: b.Draw(t, "a"), ReservedPSN: rapid.Uint8Max(127).Draw(t, "rpsn"), PSN: psns().Draw(t, "psn"),
		}
		if p.Op.HasRETH() {
			p.RETH = RETHFields{rapid.Uint64().Draw(t, "va"), rapid.Uint32().Draw(t, "rkey"), rapid.Uint32().Draw(t, "dma")}
		}
		if p.Op.HasImm() {
			p.Imm = rapid.Uint32().Draw(t, "imm")
		}
		n := rapid.IntRange(0, 300).Draw(t, "length")
		switch {
		case p.Op == Acknowledge:
			p.Syndrome, p.MSN = u8.Draw(t, "syndrome"), rapid.Uint32Max(PSNMask).Draw(t, "msn")
			n = 0
		case p.Op == CNP:
			n = cnpLen
		case p.Op.IsSend() || p.Op.IsWrite():
			n = (n+3)&^3 + 4 - int(p.Pad)
		}
		p.Payload = rapid.SliceOfN(u8, n, n).Draw(t, "payload")
		return p
	})
}

// Both serialisers agree byte for byte, and both decoders give back what went in.
func TestSerialisersAndDecodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := packets().Draw(t, "packet")
		frame := p.AppendFrame(nil)
		require.Len(t, frame, p.FrameLen())
		buf := gopacket.NewSerializeBuffer()
		require.NoError(t, p.SerializeLayers(buf))
		require.Empty(t, cmp.Diff(frame, buf.Bytes()))
		require.True(t, CheckICRC(frame))
		got, err := Decode(frame)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(p, got))
		require.Empty(t, cmp.Diff(p, fromLayers(t, frame)))
	})
}

func TestLayerErrors(t *testing.T) {
	p := Packet{Op: SendOnly, Payload: []byte{1, 2, 3, 4}}
	short := func(op Opcode, pad uint8, n int) gopacket.Packet {
		f := p.AppendFrame(nil)
		bth := append([]byte{byte(op), pad << 4}, f[bthAt+2:extAt]...)
		return gopacket.NewPacket(append(bth, make([]byte, n)...), LayerTypeBTH, gopacket.Default)
	}
	for name, g := range map[string]gopacket.Packet{
		"no ICRC":              short(SendOnly, 0, 3),
		"half an AETH":         short(Acknowledge, 0, 7),
		"half a RETH":          short(WriteFirst, 0, 19),
		"half an immediate":    short(SendOnlyImm, 0, 7),
		"RETH, no immediate":   short(WriteOnlyImm, 0, 23),
		"more pad than packet": short(SendOnly, 3, 6),
	} {
		require.NotNil(t, g.ErrorLayer(), name)
	}
	require.Nil(t, short(WriteOnlyImm, 0, 24).ErrorLayer())

	bth := &BTH{Op: SendOnly, ICRC: 0x01020304}
	buf := gopacket.NewSerializeBuffer()
	require.ErrorContains(t, bth.SerializeTo(buf, gopacket.SerializeOptions{ComputeChecksums: true}), "SetLayersForICRC")
	require.NoError(t, buf.Clear())
	require.NoError(t, bth.SerializeTo(buf, gopacket.SerializeOptions{}))
	require.Equal(t, []byte{4, 3, 2, 1}, buf.Bytes()[bthLen:], "without ComputeChecksums the ICRC goes out as given")

	bth.SetLayersForICRC(&layers.IPv4{}, &layers.UDP{})
	require.NoError(t, buf.Clear())
	require.Error(t, bth.SerializeTo(buf, gopacket.SerializeOptions{ComputeChecksums: true}), "no addresses")
}
