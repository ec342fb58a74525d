// SPDX-License-Identifier: Apache-2.0

// Package cover counts which kinds of packet met which state of the engine: functional coverage.
package cover

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Point is one combination: what the packet was, where in a beat it ended, what it met and what became of it.
type Point struct {
	// Opcode is the BTH opcode's name; "-" for frames that have none.
	Opcode string
	// Class is bypass, up, down, up-reduce, down-broadcast, old (data of a range that everybody has), ack, nak, rnr, cnp or invalid.
	Class string
	// End is the number of valid bytes in the beat that holds the payload's last byte, 0 if there is no payload.
	End int
	// Slot is the state of the slot the packet aims at: empty, partial, complete, other (another PSN's); "-" for none.
	Slot string
	// Outcome is the counter of the action or of the reason to drop.
	Outcome string
	// Arith is set in points of its own, which have nothing else: one for each slot with payload that was completed.
	Arith Arith
}

// Arith is what was computed: element type, operation and byte order as arith.Kind has them, and how contributions accumulate.
type Arith struct {
	Kind, Accumulate string
}

// Map counts points. It is not safe for concurrent use; merge one per test.
type Map map[Point]uint64

// Add counts p once.
func (m Map) Add(p Point) { m[p]++ }

// Expect notes that the configuration can compute this: if it never does, that is a hole.
func (m Map) Expect(a Arith) { m[Point{Arith: a}] += 0 }

// Merge adds all of o.
func (m Map) Merge(o Map) {
	for p, n := range o {
		m[p] += n
	}
}

// point is a Point as JSON sees one.
type point Point

// MarshalText makes a point a key in JSON.
func (p Point) MarshalText() ([]byte, error) { return json.Marshal(point(p)) }

// UnmarshalText reads what MarshalText writes.
func (p *Point) UnmarshalText(text []byte) error { return json.Unmarshal(text, (*point)(p)) }

// Summary is coverage as results carry it.
type Summary struct {
	// Points is the number of distinct combinations seen.
	Points int `json:"points"`
	// Outcomes, Opcodes and Slots count frames by one coordinate.
	Outcomes map[string]uint64 `json:"outcomes"`
	Opcodes  map[string]uint64 `json:"opcodes"`
	Slots    map[string]uint64 `json:"slots"`
	// Ends counts frames by where in a beat the payload ended.
	Ends map[string]uint64 `json:"ends"`
	// Arith counts completed slots by type/operation/byte order/accumulate; those that the configuration includes and nothing
	// computed are there with 0.
	Arith map[string]uint64 `json:"arith,omitempty"`
	// Crosses counts frames by opcode/class/end/slot/outcome, ordered by that name.
	Crosses []Cross `json:"crosses"`
}

// Cross is one combination and how often it was seen.
type Cross struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

// Summary reduces the map.
func (m Map) Summary() Summary {
	s := Summary{Arith: map[string]uint64{}, Outcomes: map[string]uint64{}, Opcodes: map[string]uint64{}, Slots: map[string]uint64{},
		Ends: map[string]uint64{}}
	for p, n := range m {
		if p.Arith != (Arith{}) {
			s.Arith[p.Arith.Kind+"/"+p.Arith.Accumulate] += n
			continue
		}
		s.Points++
		s.Outcomes[p.Outcome] += n
		s.Opcodes[p.Opcode] += n
		s.Slots[p.Slot] += n
		end := strconv.Itoa(p.End)
		s.Ends[end] += n
		s.Crosses = append(s.Crosses, Cross{strings.Join([]string{p.Opcode, p.Class, end, p.Slot, p.Outcome}, "/"), n})
	}
	slices.SortFunc(s.Crosses, func(a, b Cross) int { return cmp.Compare(a.Name, b.Name) })
	return s
}
