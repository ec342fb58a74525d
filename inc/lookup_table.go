// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// place says which endpoint a packet came to.
type place struct {
	ei     int // index in the table
	group  int
	member int // endpoint within the group, 0 to Members
}

// bit is the endpoint's bit in masks.
func (at place) bit() uint32 { return 1 << at.member }

// fate is what LookupTable decides.
type fate uint8

const (
	fateOurs   fate = iota // goes on
	fateBypass             // leaves unchanged
	fateDrop               // is dropped and has been counted
)

// lookup is the rest of rule 1 (is the destination QPN ours) and rules 2 and 3 of docs/engine.md section 3. The low bits
// of the QPN are the index of the one record that can match; the record's whole QPN then decides. The UDP source port and
// the MAC addresses are no part of it: a NIC picks the one freely and routers change the others. A stale packet came in before its group's
// last start: it is dropped as one of a group that is not enabled.
func (e *Engine) lookup(port int, p *roce.Packet, stale bool) (place, fate) {
	ei := int(p.DestQP) % len(e.table)
	record := &e.table[ei]
	if !record.Valid || record.LocalQPN != p.DestQP {
		return place{}, fateBypass
	}
	// A known QPN alone is no proof of who sent it. The ingress port belongs to the proof: otherwise a host could speak
	// for another one by forging its IP address.
	if p.SrcIP != record.RemoteIP || p.DstIP != record.LocalIP || port != record.Port || p.PKey != roce.DefaultPKey {
		if e.foreignBypass {
			return place{}, fateBypass
		}
		e.count(DropForeign)
		return place{}, fateDrop
	}
	at := place{ei: ei, group: ei / e.params.EPS(), member: ei % e.params.EPS()}
	if !e.groups[at.group].enabled || stale {
		e.count(DropGroupDisabled)
		return place{}, fateDrop
	}
	return at, fateOurs
}

// checkPacket is the second part of rule 4: what can be wrong with a packet that arrived whole, whatever it belongs to. The
// order is that of docs/engine.md, so that each packet is counted under one reason and every engine picks the same. What comes this
// far arrived whole, so here its congestion mark counts.
func (e *Engine) checkPacket(p *roce.Packet) (reason Counter, bad bool) {
	if p.CE() {
		e.count(RxCe)
	}
	switch {
	case p.TVer != 0:
		return DropTVer, true
	case p.Op == roce.Acknowledge || p.Op == roce.CNP:
		return 0, false
	case !p.Op.IsSend():
		return DropOpcode, true
	case len(p.Payload) > e.params.MTU:
		return DropTooLong, true
	}
	return 0, false
}

// checkRole is the last part of rule 4: whether a packet has a place in what it belongs to.
func (e *Engine) checkRole(in *incoming) (reason Counter, bad bool) {
	s := in.span
	if in.Op == roce.Acknowledge || in.Op == roce.CNP {
		// In AllReduce an ACK from another switch means nothing: only a host's ACK answers this switch's results.
		if s.ack&in.bit() == 0 || s.reflects() && !e.table[in.ei].Host {
			return DropWrongRole, true
		}
		// Taking every syndrome for an ACK loses data for good (A11), so those without a meaning are not passed on.
		if in.Op == roce.Acknowledge && roce.SyndromeKindOf(in.Syndrome) == roce.SyndromeReserved {
			return DropSyndrome, true
		}
		return 0, false
	}
	switch {
	case len(in.Payload)%ElementBytes(s.dtype) != 0, s.collective == CollectiveBarrier && len(in.Payload) != 0:
		return DropBadLength, true
	case s.senders()&in.bit() == 0:
		return DropWrongRole, true
	}
	return 0, false
}
