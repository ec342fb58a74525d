// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Reason is why Decode rejected a frame. The reasons for which NotRoCE is true say that it is no RoCEv2 packet, and
// the engine bypasses it; the others are faults of a RoCEv2 packet. A Reason is an error, so errors.Is(err,
// ReasonLength) works on what Decode returns.
type Reason uint8

// The reasons, in the order in which Decode looks for them.
const (
	ReasonNone        Reason = iota
	ReasonShort              // fewer than 54 bytes: Ethernet, IPv4, UDP, BTH
	ReasonEtherType          // not 0x0800, behind the first VLAN tag if there is one
	ReasonIPVersion          // not 4
	ReasonIPOptions          // IHL not 5
	ReasonProtocol           // not UDP
	ReasonFragment           // MF set or fragment offset not 0
	ReasonUDPPort            // destination not 4791
	ReasonIPChecksum         // IPv4 header checksum wrong
	ReasonLength             // IP total length, UDP length, pad count, opcode and bytes there are disagree
	ReasonWriteLength        // an RDMA WRITE too short for its RETH, immediate or pad count, or not whole words
)

// NotRoCE reports whether the frame is no RoCEv2 packet at all, rather than a faulty one.
func (r Reason) NotRoCE() bool { return r >= ReasonShort && r <= ReasonUDPPort }

// String is a short lower-case phrase.
func (r Reason) String() string {
	switch r {
	case ReasonNone:
		return "good"
	case ReasonShort:
		return "shorter than the headers"
	case ReasonEtherType:
		return "not IPv4 by EtherType"
	case ReasonIPVersion:
		return "IP version not 4"
	case ReasonIPOptions:
		return "IP header length not 20 bytes"
	case ReasonProtocol:
		return "not UDP"
	case ReasonFragment:
		return "an IP fragment"
	case ReasonUDPPort:
		return "UDP destination port not 4791"
	case ReasonIPChecksum:
		return "wrong IP header checksum"
	case ReasonLength:
		return "lengths disagree"
	case ReasonWriteLength:
		return "RDMA WRITE of impossible length"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Error makes a Reason an error.
func (r Reason) Error() string { return "roce: " + r.String() }

// DecodeError is what Decode returns: the reason, and a detail with the numbers that led to it.
type DecodeError struct {
	Reason Reason
	Detail string
}

// Error is the reason and its detail.
func (e *DecodeError) Error() string { return e.Reason.Error() + ": " + e.Detail }

// Unwrap gives the reason to errors.Is.
func (e *DecodeError) Unwrap() error { return e.Reason }

// ReasonOf is the Reason that err wraps, or ReasonNone.
func ReasonOf(err error) Reason {
	var r Reason
	if errors.As(err, &r) {
		return r
	}
	return ReasonNone
}

func fault(r Reason, format string, args ...any) error {
	return &DecodeError{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// Decode decodes a frame. Payload refers to the frame's bytes; everything else is copied.
//
// The error wraps a Reason; with several faults, the first in the order of the constants. If the reason is NotRoCE
// the packet's contents are meaningless. Otherwise every header up to and including the BTH is decoded, so that the
// packet can be looked up and its drop counted in the engine's order; on ReasonIPChecksum the rest is too if the
// lengths allow. The extended headers and Payload are empty if the lengths are bad.
//
// One 802.1Q tag is decoded into VLAN; a second one is an EtherType like any other.
//
// Decode checks neither the ICRC (CheckICRC does) nor the UDP checksum, nor whether TVer, Syndrome or Op are known.
func Decode(frame []byte) (Packet, error) {
	p, whole := Packet{VLAN: VLANOf(frame)}, frame
	frame = frame[HeaderAt(frame):]
	if len(frame) < minDecode {
		return p, fault(ReasonShort, "%d bytes, want %d or more", len(frame), minDecode)
	}
	be := binary.BigEndian
	ip, udp, bth := frame[ethLen:udpAt], frame[udpAt:bthAt], frame[bthAt:extAt]
	flags := be.Uint16(ip[6:])
	switch {
	case be.Uint16(frame[12:]) != etherTypeIPv4:
		return p, fault(ReasonEtherType, "0x%04x", be.Uint16(frame[12:]))
	case ip[0]>>4 != 4:
		return p, fault(ReasonIPVersion, "%d", ip[0]>>4)
	case ip[0]&0x0F != ipv4Len/4:
		return p, fault(ReasonIPOptions, "IHL %d", ip[0]&0x0F)
	case ip[9] != protocolUDP:
		return p, fault(ReasonProtocol, "IP protocol %d", ip[9])
	case flags&(flagMF|fragOffset) != 0:
		return p, fault(ReasonFragment, "more fragments %t, offset %d", flags&flagMF != 0, flags&fragOffset*8)
	case be.Uint16(udp[2:]) != UDPPort:
		return p, fault(ReasonUDPPort, "%d", be.Uint16(udp[2:]))
	}

	p.DstMAC, p.SrcMAC = MAC(whole[0:6]), MAC(whole[6:12])
	p.TOS, p.TTL = ip[1], ip[8]
	p.IPID = be.Uint16(ip[4:])
	p.DF, p.IPReserved = flags&flagDF != 0, flags&flagReserved != 0
	p.SrcIP, p.DstIP = IP4(ip[12:16]), IP4(ip[16:20])
	p.SrcPort = be.Uint16(udp[0:])
	p.Op = Opcode(bth[0])
	p.SE, p.MigReq = bth[1]&0x80 != 0, bth[1]&0x40 != 0
	p.Pad, p.TVer = bth[1]>>4&3, bth[1]&0x0F
	p.PKey = be.Uint16(bth[2:])
	p.FECN, p.BECN, p.ReservedQP = bth[4]&0x80 != 0, bth[4]&0x40 != 0, bth[4]&0x3F
	p.DestQP = be.Uint32(bth[4:]) & PSNMask
	p.AckReq, p.ReservedPSN = bth[8]&0x80 != 0, bth[8]&0x7F
	p.PSN = PSN(be.Uint32(bth[8:]) & PSNMask)

	err := p.decodeBody(frame)
	if sum := onesSum(ip); sum != 0xFFFF {
		err = fault(ReasonIPChecksum, "0x%04x, want 0x%04x", be.Uint16(ip[10:]), wantChecksum(ip))
	}
	return p, err
}

// decodeBody checks the lengths (the rules of DROP_LENGTH_MISMATCH in docs/engine.md) and fills what follows the BTH.
func (p *Packet) decodeBody(frame []byte) error {
	be := binary.BigEndian
	ipLength, udpLength := int(be.Uint16(frame[ethLen+2:])), int(be.Uint16(frame[udpAt+4:]))
	ext := p.Op.extLen()
	body := udpLength - udpLen - bthLen - icrcLen - ext
	badData := body%4 != 0 || int(p.Pad) > body
	switch {
	case ipLength != udpLength+ipv4Len:
		return fault(ReasonLength, "IP total length %d, UDP length %d", ipLength, udpLength)
	case len(frame) < ethLen+ipLength:
		return fault(ReasonLength, "frame of %d bytes, IP total length %d", len(frame), ipLength)
	case p.Op.IsWrite() && body+ext < 0, !p.Op.IsWrite() && body < 0:
		return fault(ReasonLength, "UDP length %d is too short for %v", udpLength, p.Op)
	case p.Op == Acknowledge && body != 0, p.Op == CNP && body != cnpLen:
		return fault(ReasonLength, "UDP length %d is too long or short for %v", udpLength, p.Op)
	case p.Op.IsSend() && badData:
		return fault(ReasonLength, "%d bytes after the headers of %v with pad count %d", body, p.Op, p.Pad)
	case p.Op.IsWrite() && (body < 0 || badData):
		return fault(ReasonWriteLength, "UDP length %d, %v with pad count %d", udpLength, p.Op, p.Pad)
	}

	x := frame[extAt:]
	if p.Op.HasRETH() {
		p.RETH = RETHFields{be.Uint64(x[0:]), be.Uint32(x[8:]), be.Uint32(x[12:])}
		x = x[rethLen:]
	}
	switch {
	case p.Op.HasImm():
		p.Imm = be.Uint32(x)
		x = x[immLen:]
	case p.Op.HasAETH():
		p.Syndrome, p.MSN = x[0], be.Uint32(x)&PSNMask
		x = x[immLen:]
	}
	n := body - p.padLen()
	p.Payload = x[:n:n]
	return nil
}

func wantChecksum(ip []byte) uint16 {
	var h [ipv4Len]byte
	copy(h[:], ip)
	h[10], h[11] = 0, 0
	return ^onesSum(h[:])
}
