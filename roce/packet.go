// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// UDPPort is the destination port that makes a UDP datagram RoCEv2.
const UDPPort = 4791

// MinFrame is the shortest Ethernet frame without its FCS, in bytes; AppendFrame pads to it.
const MinFrame = 60

// DefaultPKey is the P_Key of full membership in the default partition.
const DefaultPKey uint16 = 0xFFFF

// ECNMask covers the two ECN bits of the ToS byte, and ECNCE is congestion experienced in them (RFC 3168).
const (
	ECNMask uint8 = 3
	ECNCE   uint8 = 3
)

const (
	ethLen    = 14
	ipv4Len   = 20
	udpLen    = 8
	bthLen    = 12
	rethLen   = 16
	immLen    = 4 // the AETH is as long
	cnpLen    = 16
	icrcLen   = 4
	minDecode = ethLen + ipv4Len + udpLen + bthLen

	udpAt = ethLen + ipv4Len
	bthAt = udpAt + udpLen
	extAt = bthAt + bthLen

	etherTypeIPv4 = 0x0800
	protocolUDP   = 17

	flagReserved = 0x8000
	flagDF       = 0x4000
	flagMF       = 0x2000
	fragOffset   = 0x1FFF
)

// RETHFields say where an RDMA WRITE goes (IBTA 9.3.3).
type RETHFields struct {
	VirtualAddress uint64
	RKey           uint32
	DMALength      uint32 // bytes of the whole message
}

// Packet is one RoCEv2 frame, decoded. It is a value; Payload is its only reference. The IP header length, protocol,
// UDP destination port and the lengths are not in it because they follow from the rest.
type Packet struct {
	DstMAC, SrcMAC MAC
	VLAN           VLAN

	TOS, TTL     uint8
	IPID         uint16
	DF           bool
	IPReserved   bool // the flag bit that must be zero; kept so that frames with it set are reproduced exactly
	SrcIP, DstIP IP4
	SrcPort      uint16

	Op          Opcode
	SE, MigReq  bool
	Pad         uint8 // 0 to 3: pad bytes after the payload of SENDs and WRITEs
	TVer        uint8 // 0 to 15
	PKey        uint16
	FECN, BECN  bool
	ReservedQP  uint8  // six reserved bits beside FECN and BECN
	DestQP      uint32 // 24 bits
	AckReq      bool
	ReservedPSN uint8 // seven reserved bits beside AckReq
	PSN         PSN

	Syndrome uint8      // of the AETH, if Op.HasAETH
	MSN      uint32     // of the AETH, 24 bits
	Imm      uint32     // immediate data, if Op.HasImm; first byte on the wire is the most significant
	RETH     RETHFields // if Op.HasRETH

	// Payload is what follows the headers, without pad bytes and ICRC. A CNP's is its sixteen reserved bytes; nil
	// stands for zeros there. For opcodes without a name in this package it is everything after the BTH, pad bytes
	// included.
	Payload []byte
}

// CE reports congestion experienced in the IP header.
func (p *Packet) CE() bool { return p.TOS&ECNMask == ECNCE }

// String is one line for logs and failing tests.
func (p Packet) String() string {
	s := fmt.Sprintf("%v:%d > %v qp 0x%06x %v psn %v", p.SrcIP, p.SrcPort, p.DstIP, p.DestQP, p.Op, p.PSN)
	if p.Op.HasAETH() {
		s += fmt.Sprintf(" %v 0x%02x msn %d", SyndromeKindOf(p.Syndrome), p.Syndrome, p.MSN)
	}
	if p.Op.HasImm() {
		s += fmt.Sprintf(" imm 0x%08x", p.Imm)
	}
	if p.AckReq {
		s += " ackreq"
	}
	return fmt.Sprintf("%s %d bytes", s, len(p.Payload))
}

// padded reports whether Pad bytes follow the payload: only where the opcode's layout is known and carries data.
func (p *Packet) padded() bool { return p.Op.IsSend() || p.Op.IsWrite() }

// payloadLen and padLen are what AppendFrame writes between the headers and the ICRC.
func (p *Packet) payloadLen() int {
	if p.Op == CNP && p.Payload == nil {
		return cnpLen
	}
	return len(p.Payload)
}

func (p *Packet) padLen() int {
	if p.padded() {
		return int(p.Pad & 3)
	}
	return 0
}

// FrameLen is the number of bytes AppendFrame appends.
func (p *Packet) FrameLen() int {
	n := max(MinFrame, extAt+p.Op.extLen()+p.payloadLen()+p.padLen()+icrcLen)
	if p.VLAN.Tagged {
		n += tagLen
	}
	return n
}

// FrameOptions are for frames that are wrong on purpose, in the manner of gopacket.SerializeOptions: with a Fix
// option the field is computed, without it the given value is written. The zero value writes zeros into every field
// and pads nothing.
type FrameOptions struct {
	FixLengths  bool // IP total length and UDP length from the payload; else IPLength and UDPLength
	FixChecksum bool // IPv4 header checksum over the header as written; else IPChecksum
	FixICRC     bool // ICRC over the datagram as written; else ICRC

	IPLength, UDPLength uint16
	IPChecksum          uint16
	UDPChecksum         uint16 // always as given; RoCEv2 sends 0, none
	ICRC                uint32

	MinFrame int // pad with zeros to this many bytes
}

// GoodFrame is what AppendFrame uses: everything fixed, padded to MinFrame.
func GoodFrame() FrameOptions {
	return FrameOptions{FixLengths: true, FixChecksum: true, FixICRC: true, MinFrame: MinFrame}
}

// AppendFrame appends the whole frame to b and returns the longer slice: lengths, IPv4 checksum and ICRC right, UDP
// checksum 0, pad bytes 0, padded with zeros to 60 bytes, to 64 with a tag. It allocates nothing if b has the capacity. Fields wider than
// on the wire lose their upper bits, and so do the lengths of a payload that no IPv4 datagram can hold.
func (p *Packet) AppendFrame(b []byte) []byte { return p.AppendFrameWith(b, GoodFrame()) }

// AppendFrameWith is AppendFrame with the faults that o asks for. The ICRC lies after the payload and pad bytes,
// where good lengths would have it, even if the lengths say otherwise. A tag comes in addition to MinFrame.
func (p *Packet) AppendFrameWith(b []byte, o FrameOptions) []byte {
	if p.VLAN.Tagged {
		plain := *p
		plain.VLAN = VLAN{}
		return append(b, p.VLAN.Tag(plain.AppendFrameWith(nil, o))...)
	}
	ext := p.Op.extLen()
	body := ext + p.payloadLen() + p.padLen()
	end := extAt + body + icrcLen
	total := max(end, o.MinFrame)
	b = slices.Grow(b, total)
	f := b[len(b) : len(b)+total]
	be := binary.BigEndian

	ipLength, udpLength := o.IPLength, o.UDPLength
	if o.FixLengths {
		udpLength = uint16(udpLen + bthLen + body + icrcLen)
		ipLength = ipv4Len + udpLength
	}

	copy(f[0:], p.DstMAC[:])
	copy(f[6:], p.SrcMAC[:])
	be.PutUint16(f[12:], etherTypeIPv4)
	ip, udp, bth := f[ethLen:udpAt], f[udpAt:bthAt], f[bthAt:extAt]
	p.putIPv4(ip, ipLength)
	be.PutUint16(udp[0:], p.SrcPort)
	be.PutUint16(udp[2:], UDPPort)
	be.PutUint16(udp[4:], udpLength)
	p.putBTH(bth)
	p.putExt(f[extAt : extAt+ext])
	n := copy(f[extAt+ext:], p.Payload)
	clear(f[extAt+ext+n:])

	icrc := o.ICRC
	if o.FixICRC {
		// The masked bytes are ones during the CRC and get their values afterwards, which avoids a copy.
		ip[1], ip[8], ip[10], ip[11], udp[6], udp[7], bth[4] = 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF
		icrc = crc32.Update(icrcSeed, crc32.IEEETable, f[ethLen:end-icrcLen])
	}
	binary.LittleEndian.PutUint32(f[end-icrcLen:], icrc)
	ip[1], ip[8] = p.TOS, p.TTL
	be.PutUint16(udp[6:], o.UDPChecksum)
	bth[4] = bit(p.FECN, 7) | bit(p.BECN, 6) | p.ReservedQP&0x3F
	checksum := o.IPChecksum
	if o.FixChecksum {
		ip[10], ip[11] = 0, 0
		checksum = ^onesSum(ip)
	}
	be.PutUint16(ip[10:], checksum)
	return b[:len(b)+total]
}

// putIPv4 writes the IPv4 header but for what the ICRC takes as ones: TOS, TTL and checksum.
func (p *Packet) putIPv4(ip []byte, length uint16) {
	be := binary.BigEndian
	var flags uint16
	if p.DF {
		flags |= flagDF
	}
	if p.IPReserved {
		flags |= flagReserved
	}
	ip[0] = 4<<4 | ipv4Len/4
	be.PutUint16(ip[2:], length)
	be.PutUint16(ip[4:], p.IPID)
	be.PutUint16(ip[6:], flags)
	ip[9] = protocolUDP
	copy(ip[12:], p.SrcIP[:])
	copy(ip[16:], p.DstIP[:])
}

// putBTH writes the BTH but for the byte that the ICRC takes as ones: FECN, BECN and the reserved bits beside them.
func (p *Packet) putBTH(bth []byte) {
	be := binary.BigEndian
	be.PutUint32(bth[4:], p.DestQP)
	be.PutUint32(bth[8:], uint32(p.PSN))
	bth[0] = byte(p.Op)
	bth[1] = bit(p.SE, 7) | bit(p.MigReq, 6) | p.Pad&3<<4 | p.TVer&0x0F
	be.PutUint16(bth[2:], p.PKey)
	bth[8] = bit(p.AckReq, 7) | p.ReservedPSN&0x7F
}

// putExt writes the extension headers that the opcode has.
func (p *Packet) putExt(x []byte) {
	be := binary.BigEndian
	if p.Op.HasRETH() {
		be.PutUint64(x[0:], p.RETH.VirtualAddress)
		be.PutUint32(x[8:], p.RETH.RKey)
		be.PutUint32(x[12:], p.RETH.DMALength)
		x = x[rethLen:]
	}
	switch {
	case p.Op.HasImm():
		be.PutUint32(x, p.Imm)
	case p.Op.HasAETH():
		be.PutUint32(x, p.MSN)
		x[0] = p.Syndrome
	}
}

func bit(v bool, n uint) byte {
	if v {
		return 1 << n
	}
	return 0
}
