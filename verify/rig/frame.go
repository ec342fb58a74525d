// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
)

// Frame is a frame that an endpoint sends: the port where it comes in, and its bytes.
type Frame struct {
	Port int
	Data []byte
	// Err sets the error bit of the MAC that received it.
	Err bool
	// What it is, for messages; may be empty.
	What string
}

// Named is the frame with another name in messages.
func (f Frame) Named(format string, args ...any) Frame {
	f.What = fmt.Sprintf(format, args...)
	return f
}

// CE tells whether an IPv4 frame is marked as one that met congestion.
func (f Frame) CE() bool { return f.Data[15]&roce.ECNMask == roce.ECNCE }

// Packet is a packet from the far end of endpoint c, for scenarios that change fields.
func (g *Group) Packet(c int, op roce.Opcode, psn roce.PSN) roce.Packet {
	ep := g.Ends[c]
	return roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, IPID: uint16(g.T.Rand.Uint32()), DF: true,
		SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: uint16(g.T.Rand.Uint32()), Op: op, PKey: roce.DefaultPKey,
		DestQP: ep.LocalQPN, PSN: psn}
}

// Frame is the frame of a packet from endpoint c.
func (g *Group) Frame(c int, p *roce.Packet) Frame {
	return Frame{Port: g.Ends[c].Port, Data: p.AppendFrame(nil)}
}

// Data is SEND ONLY from endpoint c; opts change it before it becomes a frame.
func (g *Group) Data(c int, psn roce.PSN, payload []byte, opts ...func(*roce.Packet)) Frame {
	p := g.Packet(c, roce.SendOnly, psn)
	p.AckReq, p.Payload = true, payload
	p.Pad = uint8(-len(payload) & 3)
	for _, o := range opts {
		o(&p)
	}
	return g.Frame(c, &p)
}

// AETH is an ACK, NAK or RNR NAK from endpoint c.
func (g *Group) AETH(c int, psn roce.PSN, syndrome uint8) Frame {
	p := g.Packet(c, roce.Acknowledge, psn)
	p.Syndrome, p.MSN = syndrome, g.T.Rand.Uint32()&0xFFFFFF
	return g.Frame(c, &p)
}

// Ack is an ACK from endpoint c.
func (g *Group) Ack(c int, psn roce.PSN) Frame { return g.AETH(c, psn, roce.AckSyndrome) }

// CNP is a congestion notification from endpoint c.
func (g *Group) CNP(c int, psn roce.PSN) Frame {
	p := g.Packet(c, roce.CNP, psn)
	p.Payload, p.BECN = make([]byte, 16), true
	return g.Frame(c, &p)
}

// Marked gives a frame any ECN now and then, CE among them.
func (t *T) Marked(f Frame) Frame {
	if t.Rand.IntN(2) == 0 {
		f.Data[15] = f.Data[15]&^roce.ECNMask | uint8(t.Rand.IntN(4))
		roce.Reseal(f.Data)
	}
	return f
}

// address draws one end of an edge, which nobody has yet.
func (t *T) address() (ip roce.IP4, mac roce.MAC, qpn uint32) {
	ip = roce.IP4FromUint32(t.Rand.Uint32())
	if t.Rand.IntN(4) == 0 { // octets of 255 make checksums carry
		ip[t.Rand.IntN(4)], ip[2] = 0xFF, 0xFF
	}
	mac = roce.MACFromUint64(t.Rand.Uint64())
	mac[0] = mac[0]&^1 | 2
	return ip, mac, t.Rand.Uint32() & 0xFFFFFF
}

// newEndpoint is endpoint c of a group with addresses drawn for it. The low bits of its own QPN are the record's index.
func (t *T) newEndpoint(index, c int, host bool) inc.Endpoint {
	e := inc.Endpoint{Valid: true, Host: host, Port: c % t.Params.Ports}
	e.LocalIP, e.LocalMAC, e.LocalQPN = t.address()
	e.LocalQPN = e.LocalQPN&^uint32(t.Params.Records()-1) | uint32(index*t.Params.EPS()+c)
	e.RemoteIP, e.RemoteMAC, e.RemoteQPN = t.address()
	e.UDPSourcePort, e.TTL, e.TOS = uint16(t.Rand.Uint32())|0xC000, uint8(1+t.Rand.IntN(255)), uint8(t.Rand.IntN(256))&^3
	if t.Params.VLAN && t.Rand.IntN(3) > 0 {
		e.VLAN = roce.VLAN{Tagged: true, VID: uint16(t.Rand.IntN(4096)), PCP: uint8(t.Rand.IntN(8))}
		e.CheckPCP = t.Rand.IntN(2) == 0
	}
	return e
}

// ARP is a short frame, 62 bytes, that is nobody's: it is told by its EtherType.
func (t *T) ARP(port int) Frame {
	b := t.Words(16)[:62]
	b[12], b[13] = 0x08, 0x06
	return Frame{Port: port, Data: b}
}
