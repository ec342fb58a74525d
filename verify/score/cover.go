// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/cover"
)

// sight is what a data packet meets, now that the reference is about to handle it. Nil if there is nothing for it to meet.
func (b *Board) sight(p *roce.Packet) *inc.Sight {
	if s, ok := b.ref.Engine().Look(int(p.DestQP%uint32(b.man.Params.Records())), p.PSN); ok && p.Op.IsSend() {
		return &s
	}
	return nil
}

// cover counts the point of a frame, which decoded as p, or is nothing that could be if p is nil; saw is what it met.
func (b *Board) cover(p *roce.Packet, changed []inc.Counter, saw *inc.Sight) {
	pt := cover.Point{Opcode: "-", Class: "invalid", Slot: "-"}
	has := func(c inc.Counter) bool { return slices.Contains(changed, c) }
	for _, c := range changed {
		switch {
		case c == inc.RxAck, c == inc.RxNak, c == inc.RxRnr, // a Broadcast may send nothing for it
			c == inc.Bypass, strings.HasPrefix(c.String(), "DROP_"), c == inc.TxResend, c == inc.TxResult, c == inc.Buffered,
			c == inc.DownData && pt.Outcome == "", c == inc.TxReflect, c == inc.TxCnp, c == inc.RangeOpen, c == inc.TxAckCopy, c == inc.TxAckUp,
			c == inc.TxReack, c == inc.RxDuplicate, c == inc.DownTaken:
			pt.Outcome = c.String()
		}
	}
	for _, class := range []struct {
		of   inc.Counter
		name string
	}{{inc.Bypass, "bypass"}, {inc.UpData, "up"}, {inc.DownData, "down"}, {inc.TxReack, "old"}, {inc.RxAck, "ack"}, {inc.RxNak, "nak"},
		{inc.RxRnr, "rnr"}, {inc.RxCnp, "cnp"}} {
		if has(class.of) {
			pt.Class = class.name
			break
		}
	}
	if p == nil {
		b.Cover.Add(pt)
		return
	}
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
	if saw != nil && (has(inc.UpData) || has(inc.DownData)) {
		pt.Class += map[uint8]string{inc.CollectiveReduce: "-reduce", inc.CollectiveBroadcast: "-broadcast"}[saw.Collective]
	}
	if saw != nil && has(inc.UpData) {
		if !b.pipes() { // where the state is not looked up by PSN
			pt.Slot = map[inc.SlotState]string{inc.SlotEmpty: "empty", inc.SlotPartial: "partial", inc.SlotComplete: "complete", inc.SlotOther: "other"}[saw.Slot]
		}
		if has(inc.TxResult) && len(p.Payload) > 0 {
			kind := arith.Kind{DType: arith.DType(saw.DType), Op: arith.Op(saw.Op), BigEndian: saw.BigEndian}
			b.Cover.Add(cover.Point{Arith: cover.Arith{Kind: kind.String(), Accumulate: b.man.Params.Accumulate}})
		}
	}
	b.Cover.Add(pt)
}
