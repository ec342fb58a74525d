// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/binary"

	"incforge/roce"
)

// The fields of an ARP packet over Ethernet (RFC 826) that are looked at, as offsets in the frame.
const (
	arpType     = 0x0806
	arpFixedAt  = 14 // hardware type, protocol type, lengths, operation
	arpSenderAt = 22 // MAC, then IP
	arpTargetAt = 32
	arpEnd      = 42
	arpRequest  = 1
	arpReply    = 2
)

// arpAnswer is the reply to a frame that is an ARP request for one of the addresses, nil to any other frame.
func arpAnswer(frame []byte, addresses map[roce.IP4]roce.MAC) []byte {
	if len(frame) < arpEnd || binary.BigEndian.Uint16(frame[12:]) != arpType {
		return nil
	}
	const ethernetIPv4 = 0x0001_0800_06_04 // hardware type 1, protocol type 0x0800, lengths 6 and 4
	fixed := binary.BigEndian.Uint64(frame[arpFixedAt:])
	mac, ok := addresses[roce.IP4(frame[arpTargetAt+6:arpEnd])]
	if fixed != ethernetIPv4<<16|arpRequest || !ok {
		return nil
	}
	sender := frame[arpSenderAt:arpTargetAt] // MAC and IP of who asks
	reply := make([]byte, 0, roce.MinFrame)
	reply = append(reply, sender[:6]...)
	reply = append(reply, mac[:]...)
	reply = binary.BigEndian.AppendUint16(reply, arpType)
	reply = binary.BigEndian.AppendUint64(reply, ethernetIPv4<<16|arpReply)
	reply = append(reply, mac[:]...)
	reply = append(reply, frame[arpTargetAt+6:arpEnd]...)
	reply = append(reply, sender...)
	return append(reply, make([]byte, roce.MinFrame-len(reply))...)
}
