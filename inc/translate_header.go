// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// dataPacket is what a data packet carries from one connection to another; all else is the out endpoint's.
type dataPacket struct {
	op      roce.Opcode
	psn     roce.PSN // the group's
	pad     uint8
	se, ce  bool
	imm     uint32
	payload []byte
}

// translate begins a packet that leaves by the endpoint of table index ei, with everything that depends on the endpoint
// alone (docs/engine.md section 4), and counts it. ce marks congestion experienced; without it the packet carries the
// endpoint's ECN bits. Whether the record is valid does not matter: that is about what comes in.
func (e *Engine) translate(ei int, ce bool) Out {
	e.count(TxFrames)
	to := &e.table[ei]
	tos := to.TOS
	if ce {
		tos |= roce.ECNCE
	}
	return Out{Port: e.params.exit(to.Port), Packet: roce.Packet{
		DstMAC: to.RemoteMAC, SrcMAC: to.LocalMAC, VLAN: e.tag(to),
		TOS: tos, TTL: to.TTL, IPID: e.ipID, DF: true,
		SrcIP: to.LocalIP, DstIP: to.RemoteIP, SrcPort: to.UDPSourcePort,
		PKey: roce.DefaultPKey, DestQP: to.RemoteQPN,
	}}
}

// tag is the 802.1Q tag of what leaves by an endpoint.
func (e *Engine) tag(to *Endpoint) roce.VLAN {
	if !e.params.VLAN || !to.VLAN.Tagged {
		return roce.VLAN{}
	}
	return roce.VLAN{Tagged: true, PCP: to.VLAN.PCP, VID: to.VLAN.VID}
}

// dataTo is a data packet of in's range on its way to an endpoint of in's group. AckReq is always set: the receivers' ACKs are
// what Mode II lives by (A12).
func (e *Engine) dataTo(in *incoming, to int, d dataPacket) Out {
	out := e.translate(e.params.EndpointIndex(in.group, to), d.ce)
	p := &out.Packet
	p.Op, p.Pad, p.SE, p.AckReq, p.Payload = d.op, d.pad, d.se, true, d.payload
	p.PSN = d.psn.Add(in.span.offsets[to].out)
	if d.op.HasImm() {
		p.Imm = d.imm
	}
	return out
}

// aeth is an ACK, NAK or RNR NAK on its way to the endpoint of table index ei; its number is the wire's already.
func (e *Engine) aeth(ei int, wire roce.PSN, syndrome uint8, msn uint32, ce bool) Out {
	out := e.translate(ei, ce)
	out.Packet.Op, out.Packet.PSN = roce.Acknowledge, wire
	out.Packet.Syndrome, out.Packet.MSN = syndrome, msn
	return out
}
