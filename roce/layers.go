// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// The InfiniBand headers as gopacket layers. gopacket.NewPacket(frame, layers.LayerTypeEthernet, …) finds them behind UDP
// port 4791. Numbers of 1000 to 1999 are gopacket's range for applications.
var (
	LayerTypeBTH   = gopacket.RegisterLayerType(1791, gopacket.LayerTypeMetadata{Name: "BTH", Decoder: gopacket.DecodeFunc(decodeBTH)})
	LayerTypeRETH  = gopacket.RegisterLayerType(1792, gopacket.LayerTypeMetadata{Name: "RETH", Decoder: gopacket.DecodeFunc(decodeRETH)})
	LayerTypeAETH  = gopacket.RegisterLayerType(1793, gopacket.LayerTypeMetadata{Name: "AETH", Decoder: gopacket.DecodeFunc(decodeAETH)})
	LayerTypeImmDt = gopacket.RegisterLayerType(1794, gopacket.LayerTypeMetadata{Name: "ImmDt", Decoder: gopacket.DecodeFunc(decodeImmDt)})
)

func init() { layers.RegisterUDPPortLayerType(UDPPort, LayerTypeBTH) }

// BTH is the base transport header (IBTA 9.2), together with the pad bytes and ICRC at the packet's end. Its payload
// includes neither.
type BTH struct {
	layers.BaseLayer

	Op          Opcode
	SE, MigReq  bool
	Pad         uint8 // 0 to 3
	TVer        uint8 // 0 to 15
	PKey        uint16
	FECN, BECN  bool
	ReservedQP  uint8  // six bits
	DestQP      uint32 // 24 bits
	AckReq      bool
	ReservedPSN uint8 // seven bits
	PSN         PSN

	ICRC uint32 // as read; SerializeTo writes it unless it computes checksums

	ip  *layers.IPv4
	udp *layers.UDP
}

// LayerType is LayerTypeBTH.
func (h *BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// SetLayersForICRC gives SerializeTo the headers outside the BTH, which the ICRC covers: with ComputeChecksums the layer
// needs them, as gopacket's TCP and UDP need their network layer. Both are read, not changed.
func (h *BTH) SetLayersForICRC(ip *layers.IPv4, udp *layers.UDP) { h.ip, h.udp = ip, udp }

// trailingPad is the pad bytes this opcode carries; as in Packet only SENDs and WRITEs have any.
func (h *BTH) trailingPad() int {
	if h.Op.IsSend() || h.Op.IsWrite() {
		return int(h.Pad & 3)
	}
	return 0
}

func decodeBTH(data []byte, p gopacket.PacketBuilder) error {
	if len(data) < bthLen+icrcLen {
		p.SetTruncated()
		return fmt.Errorf("roce: BTH and ICRC need %d bytes, there are %d", bthLen+icrcLen, len(data))
	}
	be := binary.BigEndian
	qp, psn := be.Uint32(data[4:]), be.Uint32(data[8:])
	h := &BTH{
		Op:     Opcode(data[0]),
		SE:     data[1]>>7 == 1,
		MigReq: data[1]>>6&1 == 1,
		Pad:    data[1] >> 4 & 3,
		TVer:   data[1] & 0x0F,
		PKey:   be.Uint16(data[2:]),
		FECN:   qp>>31 == 1, BECN: qp>>30&1 == 1, ReservedQP: uint8(qp >> 24 & 0x3F), DestQP: qp & PSNMask,
		AckReq: psn>>31 == 1, ReservedPSN: uint8(psn >> 24 & 0x7F), PSN: PSN(psn & PSNMask),
		ICRC: binary.LittleEndian.Uint32(data[len(data)-icrcLen:]),
	}
	rest := data[bthLen : len(data)-icrcLen]
	if h.trailingPad() > len(rest) {
		return fmt.Errorf("roce: %v with pad count %d and %d bytes", h.Op, h.Pad, len(rest))
	}
	h.BaseLayer = layers.BaseLayer{Contents: data[:bthLen], Payload: rest[:len(rest)-h.trailingPad()]}
	p.AddLayer(h)
	switch {
	case h.Op == WriteOnlyImm: // a RETH does not say what follows it; only this opcode has two extended headers
		return p.NextDecoder(gopacket.DecodeFunc(decodeRETHImm))
	case h.Op.HasRETH():
		return p.NextDecoder(LayerTypeRETH)
	case h.Op.HasAETH():
		return p.NextDecoder(LayerTypeAETH)
	case h.Op.HasImm():
		return p.NextDecoder(LayerTypeImmDt)
	}
	return p.NextDecoder(gopacket.LayerTypePayload)
}

// SerializeTo writes the header before and the pad bytes and ICRC behind what the buffer holds. With ComputeChecksums the
// ICRC is computed, over the IP and UDP headers of SetLayersForICRC, whose lengths are taken as they will be with
// FixLengths. The pad count is never changed.
func (h *BTH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	tail, err := b.AppendBytes(h.trailingPad() + icrcLen)
	if err != nil {
		return err
	}
	clear(tail)
	bytes, err := b.PrependBytes(bthLen)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	bytes[0] = byte(h.Op)
	bytes[1] = bit(h.SE, 7) | bit(h.MigReq, 6) | h.Pad&3<<4 | h.TVer&0x0F
	be.PutUint16(bytes[2:], h.PKey)
	be.PutUint32(bytes[4:], h.DestQP&PSNMask|uint32(bit(h.FECN, 7)|bit(h.BECN, 6)|h.ReservedQP&0x3F)<<24)
	be.PutUint32(bytes[8:], uint32(h.PSN)&PSNMask|uint32(bit(h.AckReq, 7)|h.ReservedPSN&0x7F)<<24)

	if opts.ComputeChecksums {
		icrc, err := h.computeICRC(b.Bytes(), opts.FixLengths)
		if err != nil {
			return err
		}
		h.ICRC = icrc
	}
	all := b.Bytes()
	binary.LittleEndian.PutUint32(all[len(all)-icrcLen:], h.ICRC)
	return nil
}

// computeICRC builds the datagram around the transport bytes, which end in room for the ICRC, and follows IBTA A17.3.4
// literally: mask a copy, put eight 0xFF before it, CRC-32. It shares no code with the faster ICRC and AppendFrame.
func (h *BTH) computeICRC(transport []byte, fixLengths bool) (uint32, error) {
	if h.ip == nil || h.udp == nil {
		return 0, errors.New("roce: the ICRC covers the IP and UDP headers: call SetLayersForICRC")
	}
	ip, udp := *h.ip, *h.udp
	ip.TOS, ip.TTL, ip.Checksum, udp.Checksum = 0xFF, 0xFF, 0xFFFF, 0xFFFF
	opts := gopacket.SerializeOptions{FixLengths: fixLengths}
	buf := gopacket.NewSerializeBuffer()
	for _, l := range []gopacket.SerializableLayer{gopacket.Payload(transport), &udp, &ip} {
		if err := l.SerializeTo(buf, opts); err != nil {
			return 0, fmt.Errorf("roce: headers for the ICRC: %w", err)
		}
	}
	masked := append([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, buf.Bytes()...)
	masked[len(masked)-len(transport)+4] = 0xFF
	return crc32.ChecksumIEEE(masked[:len(masked)-icrcLen]), nil
}

// RETH is the RDMA extended transport header of an RDMA WRITE (IBTA 9.3.3).
type RETH struct {
	layers.BaseLayer
	RETHFields
}

// LayerType is LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

func decodeRETH(data []byte, p gopacket.PacketBuilder) error {
	return addRETH(data, p, gopacket.LayerTypePayload)
}

func decodeRETHImm(data []byte, p gopacket.PacketBuilder) error {
	return addRETH(data, p, LayerTypeImmDt)
}

func addRETH(data []byte, p gopacket.PacketBuilder, next gopacket.Decoder) error {
	if err := need(data, rethLen, "RETH", p); err != nil {
		return err
	}
	be := binary.BigEndian
	p.AddLayer(&RETH{
		BaseLayer:  layers.BaseLayer{Contents: data[:rethLen], Payload: data[rethLen:]},
		RETHFields: RETHFields{be.Uint64(data[0:]), be.Uint32(data[8:]), be.Uint32(data[12:])},
	})
	return p.NextDecoder(next)
}

// SerializeTo writes the header before what the buffer holds.
func (h *RETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	bytes, err := b.PrependBytes(rethLen)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	be.PutUint64(bytes[0:], h.VirtualAddress)
	be.PutUint32(bytes[8:], h.RKey)
	be.PutUint32(bytes[12:], h.DMALength)
	return nil
}

// AETH is the acknowledge extended transport header (IBTA 9.3.5).
type AETH struct {
	layers.BaseLayer
	Syndrome uint8
	MSN      uint32 // 24 bits
}

// LayerType is LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

func decodeAETH(data []byte, p gopacket.PacketBuilder) error {
	if err := need(data, immLen, "AETH", p); err != nil {
		return err
	}
	p.AddLayer(&AETH{
		BaseLayer: layers.BaseLayer{Contents: data[:immLen], Payload: data[immLen:]},
		Syndrome:  data[0], MSN: binary.BigEndian.Uint32(data) & PSNMask,
	})
	return p.NextDecoder(gopacket.LayerTypePayload)
}

// SerializeTo writes the header before what the buffer holds.
func (h *AETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend32(b, uint32(h.Syndrome)<<24|h.MSN&PSNMask)
}

// ImmDt is immediate data (IBTA 9.3.6). Its meaning is the application's; the first byte on the wire is the most significant.
type ImmDt struct {
	layers.BaseLayer
	Imm uint32
}

// LayerType is LayerTypeImmDt.
func (h *ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

func decodeImmDt(data []byte, p gopacket.PacketBuilder) error {
	if err := need(data, immLen, "immediate data", p); err != nil {
		return err
	}
	p.AddLayer(&ImmDt{
		BaseLayer: layers.BaseLayer{Contents: data[:immLen], Payload: data[immLen:]},
		Imm:       binary.BigEndian.Uint32(data),
	})
	return p.NextDecoder(gopacket.LayerTypePayload)
}

// SerializeTo writes the header before what the buffer holds.
func (h *ImmDt) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend32(b, h.Imm)
}

func prepend32(b gopacket.SerializeBuffer, v uint32) error {
	bytes, err := b.PrependBytes(4)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(bytes, v)
	return nil
}

func need(data []byte, n int, what string, p gopacket.PacketBuilder) error {
	if len(data) < n {
		p.SetTruncated()
		return fmt.Errorf("roce: %s needs %d bytes, there are %d", what, n, len(data))
	}
	return nil
}

// SerializeLayers builds the frame that AppendFrame builds, from gopacket layers; it clears b first. It is slow, but
// further layers can be added to b.
func (p *Packet) SerializeLayers(b gopacket.SerializeBuffer) error {
	ip := &layers.IPv4{
		Version: 4, TOS: p.TOS, TTL: p.TTL, Id: p.IPID, Protocol: layers.IPProtocolUDP,
		SrcIP: net.IP(p.SrcIP[:]), DstIP: net.IP(p.DstIP[:]),
	}
	if p.DF {
		ip.Flags |= layers.IPv4DontFragment
	}
	if p.IPReserved {
		ip.Flags |= layers.IPv4EvilBit
	}
	udp := &layers.UDP{SrcPort: layers.UDPPort(p.SrcPort), DstPort: UDPPort}
	bth := &BTH{
		Op: p.Op, SE: p.SE, MigReq: p.MigReq, Pad: p.Pad, TVer: p.TVer, PKey: p.PKey,
		FECN: p.FECN, BECN: p.BECN, ReservedQP: p.ReservedQP, DestQP: p.DestQP,
		AckReq: p.AckReq, ReservedPSN: p.ReservedPSN, PSN: p.PSN,
	}
	bth.SetLayersForICRC(ip, udp)
	eth := &layers.Ethernet{
		DstMAC: net.HardwareAddr(p.DstMAC[:]), SrcMAC: net.HardwareAddr(p.SrcMAC[:]),
		EthernetType: layers.EthernetTypeIPv4,
	}

	payload := p.Payload
	if p.Op == CNP && payload == nil {
		payload = make([]byte, cnpLen)
	}
	good := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	noChecksum := gopacket.SerializeOptions{FixLengths: true} // gopacket would fill in UDP's, which RoCEv2 leaves 0
	type step struct {
		layer gopacket.SerializableLayer
		opts  gopacket.SerializeOptions
	}
	steps := []step{{gopacket.Payload(payload), good}}
	switch {
	case p.Op.HasImm():
		steps = append(steps, step{&ImmDt{Imm: p.Imm}, good})
	case p.Op.HasAETH():
		steps = append(steps, step{&AETH{Syndrome: p.Syndrome, MSN: p.MSN}, good})
	}
	if p.Op.HasRETH() {
		steps = append(steps, step{&RETH{RETHFields: p.RETH}, good})
	}
	steps = append(steps, step{bth, good}, step{udp, noChecksum}, step{ip, good}, step{eth, good})

	if err := b.Clear(); err != nil {
		return fmt.Errorf("roce: serialise %v: %w", p.Op, err)
	}
	for _, s := range steps {
		if err := s.layer.SerializeTo(b, s.opts); err != nil {
			return fmt.Errorf("roce: serialise %v: %w", p.Op, err)
		}
	}
	if !p.VLAN.Tagged {
		return nil
	}
	// the frame as it is, then four bytes before it: its addresses move to the front
	if _, err := b.PrependBytes(tagLen); err != nil {
		return fmt.Errorf("roce: tag of %v: %w", p.Op, err)
	}
	frame := b.Bytes()
	copy(frame, frame[tagLen:tagLen+tagAt])
	binary.BigEndian.PutUint16(frame[tagAt:], etherTypeVLAN)
	binary.BigEndian.PutUint16(frame[tagAt+2:], p.VLAN.TCI())
	return nil
}
