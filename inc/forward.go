// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"slices"

	"incforge/roce"
)

// bypassFrame lets a frame that is not ours leave unchanged, its ICRC and its error bit included.
func (e *Engine) bypassFrame(port int, frame []byte, rxErr bool) []Out {
	e.count(Bypass)
	return []Out{{Port: e.params.exit(e.bypassPort[port]), Frame: frame, Err: rxErr, Bypass: true}}
}

// bypassPacket is bypassFrame for a decoded packet.
func (e *Engine) bypassPacket(port int, p *roce.Packet) []Out {
	e.count(Bypass)
	return []Out{{Port: e.params.exit(e.bypassPort[port]), Bypass: true, Packet: *p}}
}

// exit is the port that a register names for what leaves: as many of its low bits count as a port's number has (docs/engine.md section 6).
func (p Params) exit(port int) int { return port & (ceilPow2(max(p.Ports, 2)) - 1) }

// leaving leaves out what is sent to ports that do not exist.
func (e *Engine) leaving(outs []Out) []Out {
	return slices.DeleteFunc(outs, func(o Out) bool { return o.Port >= e.params.Ports })
}

// serialise writes the frames of packets the engine made and lets the packets' payloads point into them, so that nothing
// returned refers to a slot or to the caller's frame. The copies of one call share one allocation but no byte of it.
func serialise(outs []Out) []Out {
	size := 0
	for i := range outs {
		size += outs[i].Packet.FrameLen()
	}
	memory := make([]byte, 0, size)
	for i := range outs {
		p, start := &outs[i].Packet, len(memory)
		memory = p.AppendFrame(memory)
		frame := memory[start:len(memory):len(memory)]
		at := extAt
		if p.VLAN.Tagged {
			at += tagBytes
		}
		if p.Op != roce.CNP { // a CNP's reserved bytes are its payload
			at += extBytes(p.Op)
		}
		end := at + len(p.Payload)
		outs[i].Frame, p.Payload = frame, frame[at:end:end]
	}
	return outs
}

// detach gives the packets of one call, which all carry the same payload, a copy of their own.
func detach(outs []Out) []Out {
	if len(outs) == 0 {
		return outs
	}
	payload := slices.Clone(outs[0].Packet.Payload)
	for i := range outs {
		outs[i].Packet.Payload = payload
	}
	return outs
}

// detachAll gives the packets of one call copies of their payloads, those that carry the same one copy.
func detachAll(outs []Out) []Out {
	var of, clone []byte
	for i := range outs {
		p := &outs[i].Packet
		if len(p.Payload) == 0 {
			continue
		}
		if len(of) != len(p.Payload) || &of[0] != &p.Payload[0] {
			of, clone = p.Payload, slices.Clone(p.Payload)
		}
		p.Payload = clone
	}
	return outs
}
