// SPDX-License-Identifier: Apache-2.0

package roce

import "fmt"

// Opcode is the first byte of the BTH: transport service in bits 7:5, operation in 4:0 (IBTA 9.2.1, table of opcodes).
type Opcode uint8

// The reliable-connection opcodes that this project speaks, and RoCEv2's congestion notification (IBTA A17.9.3).
const (
	SendFirst    Opcode = 0x00
	SendMiddle   Opcode = 0x01
	SendLast     Opcode = 0x02
	SendLastImm  Opcode = 0x03
	SendOnly     Opcode = 0x04
	SendOnlyImm  Opcode = 0x05
	WriteFirst   Opcode = 0x06
	WriteMiddle  Opcode = 0x07
	WriteLast    Opcode = 0x08
	WriteLastImm Opcode = 0x09
	WriteOnly    Opcode = 0x0A
	WriteOnlyImm Opcode = 0x0B
	Acknowledge  Opcode = 0x11
	CNP          Opcode = 0x81
)

// IsSend reports an RC SEND, the engine's data packets (0x00 to 0x05).
func (o Opcode) IsSend() bool { return o <= SendOnlyImm }

// IsWrite reports an RC RDMA WRITE (0x06 to 0x0B).
func (o Opcode) IsWrite() bool { return o >= WriteFirst && o <= WriteOnlyImm }

// HasImm reports whether four bytes of immediate data follow the headers.
func (o Opcode) HasImm() bool {
	return o == SendLastImm || o == SendOnlyImm || o == WriteLastImm || o == WriteOnlyImm
}

// HasAETH reports whether an AETH follows the BTH. READ responses and atomic acknowledges have one too, but this
// package keeps those whole, as payload.
func (o Opcode) HasAETH() bool { return o == Acknowledge }

// HasRETH reports whether a RETH follows the BTH. READ requests have one too, but this package keeps those whole.
func (o Opcode) HasRETH() bool { return o == WriteFirst || o == WriteOnly || o == WriteOnlyImm }

// StartsMessage reports FIRST and ONLY of SEND and WRITE.
func (o Opcode) StartsMessage() bool {
	return o == SendFirst || o == SendOnly || o == SendOnlyImm || o.HasRETH()
}

// EndsMessage reports LAST and ONLY of SEND and WRITE, with immediate or without: the packets an MSN counts.
func (o Opcode) EndsMessage() bool {
	return o >= SendLast && o <= SendOnlyImm || o >= WriteLast && o <= WriteOnlyImm
}

// extLen is the bytes of headers between BTH and payload.
func (o Opcode) extLen() int {
	n := 0
	if o.HasRETH() {
		n += rethLen
	}
	if o.HasImm() || o.HasAETH() {
		n += immLen
	}
	return n
}

// String is the operation's name, or "opcode 0x.." for one that this package has no name for.
func (o Opcode) String() string {
	switch o {
	case SendFirst:
		return "SEND_FIRST"
	case SendMiddle:
		return "SEND_MIDDLE"
	case SendLast:
		return "SEND_LAST"
	case SendLastImm:
		return "SEND_LAST_IMM"
	case SendOnly:
		return "SEND_ONLY"
	case SendOnlyImm:
		return "SEND_ONLY_IMM"
	case WriteFirst:
		return "WRITE_FIRST"
	case WriteMiddle:
		return "WRITE_MIDDLE"
	case WriteLast:
		return "WRITE_LAST"
	case WriteLastImm:
		return "WRITE_LAST_IMM"
	case WriteOnly:
		return "WRITE_ONLY"
	case WriteOnlyImm:
		return "WRITE_ONLY_IMM"
	case Acknowledge:
		return "ACK"
	case CNP:
		return "CNP"
	}
	return fmt.Sprintf("opcode 0x%02x", uint8(o))
}
