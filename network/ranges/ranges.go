// SPDX-License-Identifier: Apache-2.0

// Package ranges cuts collectives as EPIC's host software does (docs/engine.md section 3.3): a call is a few steps that an engine knows, a step is
// cut into ranges, a range into messages. It knows neither NICs nor memory: package commlib and package network/comm bring these.
package ranges

import (
	"incforge/inc"
	"incforge/internal/names"
)

// Collective is what a call does.
type Collective uint8

// The collectives. The first four are steps: an engine does them in one go, so that a group can be fixed to them by registers; they have the engine's
// numbers.
const (
	AllReduce     Collective = inc.CollectiveAllReduce
	Reduce        Collective = inc.CollectiveReduce
	Broadcast     Collective = inc.CollectiveBroadcast
	Barrier       Collective = inc.CollectiveBarrier
	ReduceScatter Collective = iota
	AllGather
)

func collectives() names.List[Collective] {
	return names.Of[Collective]("collective", "allreduce", "reduce", "broadcast", "barrier", "reducescatter", "allgather")
}

// Collectives are all of them.
func Collectives() []Collective { return collectives().Values() }

// String is the name in small letters.
func (c Collective) String() string { return collectives().Name(c) }

// MarshalText is String.
func (c Collective) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what String writes.
func (c *Collective) UnmarshalText(text []byte) error { return collectives().Unmarshal(text, c) }

// Rooted tells that it has a root.
func (c Collective) Rooted() bool { return c == Reduce || c == Broadcast }

// Reduces tells that elements are reduced, so that type and operation matter.
func (c Collective) Reduces() bool { return c == AllReduce || c == Reduce || c == ReduceScatter }

// Last is the highest root of a collective's steps in a group of so many ranks; controls can name no more than inc.Roots.
func (c Collective) Last(root, ranks int) int {
	switch c {
	case ReduceScatter, AllGather:
		return ranks - 1
	case AllReduce, Barrier:
		return 0
	}
	return root
}

// Part is the part of a tensor of so many elements that a rank gets in a ReduceScatter: elements from first to beyond.
func Part(elements, ranks, rank int) (first, beyond int) {
	return elements * rank / ranks, elements * (rank + 1) / ranks
}

// Most is the most packets that a range can have: what a control has room for.
const Most = 1<<20 - 1

// Shape is how a group cuts.
type Shape struct {
	// MTU is a packet's bytes, Packets a message's packets, RangePackets a range's.
	MTU, Packets, RangePackets int
	// Fixed groups do one collective, by registers; others begin a range with a control.
	Fixed bool
}

// Range is a part of a step.
type Range struct {
	Kind Collective
	Root int
	// From and To are its bytes in the step's data.
	From, To int
	// Control is the immediate of the message that opens the range, if it has one.
	Control    uint32
	HasControl bool
	// Messages counts the control's, too.
	Messages int

	size int // bytes of a message
}

// Cut cuts n bytes of elements into ranges. Where nothing is reduced, type and operation are any that the engine has.
func (s Shape) Cut(kind Collective, root int, dtype, op uint8, n int) (all []Range) {
	most := s.RangePackets * s.MTU
	for from := 0; from == 0 || from < n; from += most {
		r := Range{Kind: kind, Root: root, From: from, To: min(n, from+most), size: s.Packets * s.MTU}
		packets := (r.Bytes() + s.MTU - 1) / s.MTU
		if packets == 0 && (kind == Broadcast || s.Fixed) {
			packets = 1 // nothing is a packet without payload; a control alone would not do
		}
		r.Messages = (packets + s.Packets - 1) / s.Packets
		if !s.Fixed {
			c := inc.Control{Collective: uint8(kind), Op: op, DType: dtype, Packets: packets}
			if kind.Rooted() {
				c.Root = uint8(root)
			}
			r.Control, r.HasControl = c.Immediate(), true
			r.Messages++
		}
		all = append(all, r)
	}
	return all
}

// Bytes is how many it has.
func (r *Range) Bytes() int { return r.To - r.From }

// Bounds are the bytes of message i, from the range's first. A control has none.
func (r *Range) Bounds(i int) (from, to int) {
	if r.HasControl {
		if i == 0 {
			return 0, 0
		}
		i--
	}
	return min(i*r.size, r.Bytes()), min((i+1)*r.size, r.Bytes())
}

// Sends tells whether a rank sends in the range.
func (r *Range) Sends(rank int) bool { return r.Kind != Broadcast || rank == r.Root }

// Hears tells whether a rank receives in it.
func (r *Range) Hears(rank int) bool {
	switch r.Kind {
	case Reduce:
		return rank == r.Root
	case Broadcast:
		return rank != r.Root
	}
	return true
}
