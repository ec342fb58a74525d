// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"encoding/binary"
	"hash/crc32"
)

// icrcSeed is the CRC-32 of eight 0xFF bytes: RoCEv2 puts them where InfiniBand's local route header would be, all of
// whose fields change on the way (IBTA A17.3.4).
const icrcSeed = 0x2144DF1C

// ICRC is the invariant CRC of an IP datagram given without its last four bytes, which is where the ICRC goes, least
// significant byte first. It is CRC-32 as Ethernet's over eight 0xFF bytes and the datagram, in which the fields that
// routers may change count as ones: IPv4 ToS, TTL, header checksum, UDP checksum, and the first byte of the BTH's QP
// word. The header length is taken from the datagram. The result for anything shorter than the headers is
// meaningless.
func ICRC(ipDatagram []byte) uint32 {
	udp := ipv4Len
	if len(ipDatagram) > 0 {
		udp = max(udp, int(ipDatagram[0]&0x0F)*4)
	}
	// Byte by byte over the headers, where the masked bytes are, with no copy: the standard library's fast path would
	// make a copy on the stack escape. It then takes the rest.
	head := min(udp+udpLen+5, len(ipDatagram))
	crc := ^uint32(icrcSeed)
	for i, b := range ipDatagram[:head] {
		switch i {
		case 1, 8, 10, 11, udp + 6, udp + 7, udp + udpLen + 4:
			b = 0xFF
		}
		crc = crc32.IEEETable[byte(crc)^b] ^ crc>>8
	}
	return crc32.Update(^crc, crc32.IEEETable, ipDatagram[head:])
}

// CheckICRC reports whether a frame's ICRC is right. It lies at the end of the IP datagram as the IP total length
// says; Ethernet padding after it does not matter. For a frame too short for its headers or its total length it
// reports false.
func CheckICRC(frame []byte) bool {
	ip, ok := datagram(frame)
	if !ok {
		return false
	}
	body := len(ip) - icrcLen
	return ICRC(ip[:body]) == binary.LittleEndian.Uint32(ip[body:])
}

// Reseal recomputes, in place, the IP checksum and the ICRC of a frame whose bytes were changed, using the lengths in
// its headers. If these leave no room for headers and ICRC it changes nothing and reports false. It is for tests that
// need one thing wrong and everything else right.
func Reseal(frame []byte) bool {
	ip, ok := datagram(frame)
	if !ok {
		return false
	}
	hdr := int(ip[0]&0x0F) * 4
	if hdr < ipv4Len || hdr > len(ip)-icrcLen {
		return false
	}
	ip[10], ip[11] = 0, 0
	binary.BigEndian.PutUint16(ip[10:], ^onesSum(ip[:hdr]))
	body := len(ip) - icrcLen
	binary.LittleEndian.PutUint32(ip[body:], ICRC(ip[:body]))
	return true
}

// datagram cuts the IP datagram out of a frame by the total length; false if the frame has fewer bytes than that or the
// datagram fewer than the smallest RoCEv2 packet's. An 802.1Q tag before it does not count.
func datagram(frame []byte) ([]byte, bool) {
	frame = frame[HeaderAt(frame):]
	if len(frame) < minDecode {
		return nil, false
	}
	n := int(binary.BigEndian.Uint16(frame[ethLen+2:]))
	if n < ipv4Len+udpLen+bthLen+icrcLen || n > len(frame)-ethLen {
		return nil, false
	}
	return frame[ethLen : ethLen+n], true
}

// onesSum is the ones' complement sum of RFC 1071 over an even number of bytes.
func onesSum(b []byte) uint16 {
	var s uint32
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	s = s>>16 + s&0xFFFF
	return uint16(s + s>>16)
}
