// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"slices"

	"incforge/roce"
)

// Where things are in a frame. IHL is always 5 in what the engine takes, so every offset is fixed.
const (
	ipAt  = 14
	udpAt = ipAt + 20
	bthAt = udpAt + 8
	extAt = bthAt + 12

	icrcBytes = 4
	cnpBytes  = 16 // reserved bytes of a CNP
)

// parseHeaders decides by the bytes alone whether a frame may be for the engine, rule 1 of docs/engine.md section 3 but
// for the QPN, and reads the headers up to the end of the BTH into p. It does not look at the lengths or the checksum:
// a damaged frame is dropped under the name of its damage, but only once it is known to be ours.
//
// The parser is this package's own and not roce.Decode, so that one misreading does not hide in both.
func parseHeaders(frame []byte, p *roce.Packet) bool {
	if len(frame) < extAt {
		return false
	}
	be := binary.BigEndian
	ip, udp, bth := frame[ipAt:udpAt], frame[udpAt:bthAt], frame[bthAt:extAt]
	const versionAndIHL, protocolUDP, moreFragmentsAndOffset = 0x45, 17, 0x3FFF
	switch {
	case be.Uint16(frame[12:]) != 0x0800, // without Params.VLAN a tag stands here too, with it a second one
		ip[0] != versionAndIHL,
		ip[9] != protocolUDP,
		be.Uint16(ip[6:])&moreFragmentsAndOffset != 0,
		be.Uint16(udp[2:]) != roce.UDPPort:
		return false
	}

	copy(p.DstMAC[:], frame[0:])
	copy(p.SrcMAC[:], frame[6:])
	p.TOS, p.TTL, p.IPID, p.DF = ip[1], ip[8], be.Uint16(ip[4:]), ip[6]&0x40 != 0
	copy(p.SrcIP[:], ip[12:])
	copy(p.DstIP[:], ip[16:])
	p.SrcPort = be.Uint16(udp)
	p.Op = roce.Opcode(bth[0])
	p.SE, p.MigReq, p.Pad, p.TVer = bth[1]>>7 != 0, bth[1]>>6&1 != 0, bth[1]>>4&3, bth[1]&15
	p.PKey = be.Uint16(bth[2:])
	p.FECN, p.BECN = bth[4]>>7 != 0, bth[4]>>6&1 != 0
	p.DestQP = be.Uint32(bth[4:]) & roce.PSNMask
	p.AckReq = bth[8]>>7 != 0
	p.PSN = roce.PSN(be.Uint32(bth[8:]) & roce.PSNMask)
	return true
}

// checkFrame is the first half of rule 4: what can be wrong with the frame whatever the packet means. If nothing is, it
// reads the extended header into p and lets p.Payload point to the payload in the frame.
//
// All of it comes before any state changes: a packet of ours that is damaged must leave no trace but its counter
// (protocol.md section 2, ICRC).
func (e *Engine) checkFrame(at place, frame []byte, rxErr bool, p *roce.Packet) (reason Counter, bad bool) {
	if rxErr {
		return DropRxError, true
	}
	if e.wrongTag(at, p) {
		return DropVLAN, true
	}
	if headerSum(frame[ipAt:udpAt]) != 0xFFFF {
		return DropIPChecksum, true
	}

	ext := extBytes(p.Op)
	ipLength := int(binary.BigEndian.Uint16(frame[ipAt+2:]))
	udpLength := int(binary.BigEndian.Uint16(frame[udpAt+4:]))
	body := udpLength - (extAt - udpAt) - ext - icrcBytes
	switch {
	case ipLength != udpLength+(udpAt-ipAt),
		len(frame) < ipAt+ipLength,
		body < 0:
		return DropLengthMismatch, true
	case p.Op == roce.Acknowledge || p.Op == roce.CNP:
		if body != 0 {
			return DropLengthMismatch, true
		}
	case p.Op.IsSend():
		// The pad count is part of the length: the payload ends where it says, not at the end of the frame, which may be
		// padded by Ethernet besides.
		if body%4 != 0 || int(p.Pad) > body {
			return DropLengthMismatch, true
		}
		p.Payload = frame[extAt+ext:][:body-int(p.Pad)]
	}

	if e.params.ICRCCheck && !roce.CheckICRC(frame) {
		return DropICRC, true
	}

	switch word := binary.BigEndian.Uint32(frame[extAt:]); {
	case p.Op.HasImm():
		p.Imm = word
	case p.Op == roce.Acknowledge:
		p.Syndrome, p.MSN = uint8(word>>24), word&roce.PSNMask
	}
	return 0, false
}

// Where an 802.1Q tag is in a frame, and what it begins with.
const (
	tagAt, tagBytes = 12, 4
	tagProtocol     = 0x8100
)

// untag takes the outermost 802.1Q tag off a frame, of which that changes a copy. A tag that is cut off is none.
func untag(frame []byte) ([]byte, roce.VLAN) {
	be := binary.BigEndian
	if len(frame) < tagAt+tagBytes || be.Uint16(frame[tagAt:]) != tagProtocol {
		return frame, roce.VLAN{}
	}
	tag := be.Uint16(frame[tagAt+2:])
	return slices.Concat(frame[:tagAt], frame[tagAt+tagBytes:]),
		roce.VLAN{Tagged: true, PCP: uint8(tag >> 13), DEI: tag&0x1000 != 0, VID: tag & 0xFFF}
}

// wrongTag tells whether a packet has not the tag that its endpoint's record asks for. DEI may be either. A tag with VID 0 carries a priority
// and belongs to no VLAN, so an endpoint without a tag takes it.
func (e *Engine) wrongTag(at place, p *roce.Packet) bool {
	want, got := e.table[at.ei].VLAN, p.VLAN
	switch {
	case !e.params.VLAN:
		return false
	case !want.Tagged:
		return got.Tagged && got.VID != 0
	}
	return !got.Tagged || got.VID != want.VID || e.table[at.ei].CheckPCP && got.PCP != want.PCP
}

// extBytes is the length of what stands between BTH and payload: immediate, AETH, or a CNP's reserved bytes. Opcodes the
// engine does not take have none as far as it is concerned; they are dropped by name later.
func extBytes(op roce.Opcode) int {
	switch op {
	case roce.SendLastImm, roce.SendOnlyImm, roce.Acknowledge:
		return 4
	case roce.CNP:
		return cnpBytes
	}
	return 0
}

// headerSum is the ones' complement sum of an IPv4 header of 20 bytes, 0xFFFF if its checksum is right (RFC 1071).
func headerSum(ip []byte) uint16 {
	var sum uint32
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	for sum > 0xFFFF {
		sum = sum&0xFFFF + sum>>16
	}
	return uint16(sum)
}
