// SPDX-License-Identifier: Apache-2.0

package score

import (
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/cover"
	"incforge/verify/dut"
)

// bthEnd is where the BTH of a frame ends, the least that a packet of ours has.
const bthEnd = 14 + 20 + 8 + 12

// cover counts the frame's point and follows the slots it changed.
func (b *Board) cover(a dut.Accepted, changed []inc.Counter) {
	pt := cover.Point{Opcode: "-", Class: "invalid", Slot: "-"}
	has := map[inc.Counter]bool{}
	for _, c := range changed {
		has[c] = true
		switch {
		case c == inc.Bypass, strings.HasPrefix(c.String(), "DROP_"), c == inc.TxResend, c == inc.TxResult, c == inc.Buffered,
			c == inc.DownData && pt.Outcome == "", c == inc.TxReflect, c == inc.TxCnp:
			pt.Outcome = c.String()
		}
	}
	switch {
	case has[inc.Bypass]:
		pt.Class = "bypass"
	case has[inc.UpData]:
		pt.Class = "up"
	case has[inc.DownData]:
		pt.Class = "down"
	case has[inc.RxAck]:
		pt.Class = "ack"
	case has[inc.RxNak]:
		pt.Class = "nak"
	case has[inc.RxRnr]:
		pt.Class = "rnr"
	case has[inc.RxCnp]:
		pt.Class = "cnp"
	}
	if p, err := roce.Decode(a.Data); err == nil {
		if pt.Opcode = p.Op.String(); strings.HasPrefix(pt.Opcode, "opcode") {
			pt.Opcode = "other"
		}
		if p.Op.IsSend() && len(p.Payload) > 0 {
			end := bthEnd + len(p.Payload)
			if p.Op.HasImm() {
				end += 4
			}
			pt.End = (end-1)%b.man.Params.BusBytes + 1
		}
		if has[inc.UpData] {
			b.follow(&p, has, &pt)
		}
	}
	b.Cover.Add(pt)
}

// follow notes the state of the slot that up data aims at, and what the packet made of it.
func (b *Board) follow(p *roce.Packet, has map[inc.Counter]bool, pt *cover.Point) {
	eps := b.man.Params.EPS()
	g := int(p.DestQP%uint32(b.man.Params.Records())) / eps
	a, err := b.man.Addr("GROUP_SLOTS", g)
	if err != nil {
		return
	}
	word, err := b.ref.Read(a)
	if err != nil {
		return
	}
	n := uint32(1) << (word >> 24 & 31)
	key := func(psn roce.PSN) slotKey { return slotKey{g, uint32(psn) & (n - 1)} }
	pt.Slot = "empty"
	if s, ok := b.slots[key(p.PSN)]; ok {
		if pt.Slot = s.state; s.tag != p.PSN {
			pt.Slot = "other"
		}
	}
	switch {
	case has[inc.TxResult]:
		if len(p.Payload) > 0 {
			b.Cover.Add(cover.Point{Arith: cover.Arith{Kind: b.kind(g).String(), Accumulate: b.man.Params.Accumulate}})
		}
		b.slots[key(p.PSN)] = slotState{p.PSN, "complete"}
		ahead := p.PSN.Add(int(n / 2))
		b.slots[key(ahead)] = slotState{ahead, "empty"}
	case has[inc.Buffered]:
		b.slots[key(p.PSN)] = slotState{p.PSN, "partial"}
	}
}

// kind is what a group computes, by its register.
func (b *Board) kind(g int) arith.Kind {
	a, err := b.man.Addr("GROUP_COLLECTIVE", g)
	if err != nil {
		return arith.Kind{}
	}
	v, err := b.ref.Read(a)
	if err != nil {
		return arith.Kind{}
	}
	return arith.Kind{DType: arith.DType(v >> 16 & 3), Op: arith.Op(v >> 8 & 3), BigEndian: v>>24&1 != 0}
}
