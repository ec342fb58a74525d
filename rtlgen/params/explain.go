// SPDX-License-Identifier: Apache-2.0

package params

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"incforge/contract"
)

// Explanation is what a configuration's numbers come to: how far the buffer reaches, what the lanes do, and why the adders are
// as deep as they are.
type Explanation struct {
	Buffer BufferUse `json:"buffer"`
	// Pipes is nil in Mode II.
	Pipes *PipeUse `json:"pipes,omitempty"`
	Lanes LaneUse  `json:"lanes"`
	Adder AdderUse `json:"adder"`
}

// BufferUse is the way from buffer_bytes to groups.
type BufferUse struct {
	Accumulate  Accumulate `json:"accumulate"`
	BufferBytes int        `json:"buffer_bytes"`
	MTUBytes    int        `json:"mtu_bytes"`
	// MessageBytes is the size of a place in Mode I; elsewhere it is MTUBytes.
	MessageBytes int `json:"message_bytes,omitempty"`
	Members      int `json:"members"`
	// Places are payloads of the buffer, Planes of them make a slot; LeftOver places make none and are not built.
	Places   int `json:"places"`
	Planes   int `json:"planes"`
	Slots    int `json:"slots"`
	LeftOver int `json:"left_over_places"`
	// The payload memory: rows, their data bytes, and banks of one port (1: a memory of two ports).
	Rows     int  `json:"rows"`
	RowBytes int  `json:"row_bytes"`
	Banks    int  `json:"banks"`
	ECC      bool `json:"ecc"`
	// Groups has an entry for the 32-bit types built in and one for the 16-bit types.
	Groups []GroupUse `json:"groups"`
	// InBand is what an in-band group takes, where that is more than a fixed one of a 32-bit type: its ranges may be of any type.
	InBand *GroupUse `json:"in_band,omitempty"`
}

// PipeUse is how far a pipe of Mode III, or a pool of Mode I, reaches.
type PipeUse struct {
	// Slots is N, MessageBytes the size of a slot in Mode I, Packets the full packets of all slots, HopRTTNS the round trip of a link in nanoseconds.
	Slots        int `json:"slots"`
	MessageBytes int `json:"message_bytes,omitempty"`
	Packets      int `json:"packets"`
	HopRTTNS     int `json:"hop_rtt_ns"`
	// HopCycles is the round trip in cycles of the clock asked for, HopPackets the full packets that the bus moves in that time, TimeoutUS
	// the time-out after reset in microseconds.
	HopCycles  int `json:"hop_cycles"`
	HopPackets int `json:"hop_packets"`
	TimeoutUS  int `json:"timeout_us"`
}

// GroupUse is what a group takes of the buffer.
type GroupUse struct {
	DTypes []DType `json:"dtypes"`
	Wide   bool    `json:"wide"`
	// Window is window_packets; in Mode I the window is Messages, window_messages. Slots is what a group takes at it, and AtOnce how many of
	// Groups find room then.
	Window   int `json:"window_packets"`
	Messages int `json:"window_messages,omitempty"`
	Slots    int `json:"slots"`
	Groups   int `json:"groups"`
	AtOnce   int `json:"at_once"`
	// LargestWindow is the largest window in packets, in Mode I in messages, at which one group fits; 0 if none does.
	LargestWindow int `json:"largest_window_packets"`
	// MemoryBits is the number of bits of buffer, without check bits, for each bit of payload in flight.
	MemoryBits int `json:"memory_bits_per_payload_bit"`
}

// LaneUse is what the lanes do.
type LaneUse struct {
	Lanes int `json:"lanes"`
	// Adding of them add contributions, Reducing reduce the tree.
	Adding   int `json:"adding"`
	Reducing int `json:"reducing"`
	Planes   int `json:"planes"`
	// Beats has an entry for the 32-bit types built in and one for the 16-bit types.
	BusBytes int       `json:"bus_bytes"`
	Beats    []BeatUse `json:"beats"`
}

// BeatUse is how long a beat takes.
type BeatUse struct {
	DTypes []DType `json:"dtypes"`
	// Cycles is the time of a full beat, Busy the number of adding lanes at work in each.
	Cycles int `json:"cycles"`
	Busy   int `json:"busy_lanes"`
}

// AdderUse is the choice of the adders' depth.
type AdderUse struct {
	Stages     int        `json:"stages"`
	Chosen     bool       `json:"chosen"` // else given by adder_stages
	Technology Technology `json:"technology"`
	ClockMHz   int        `json:"clock_mhz"`
	// StageMHz is the highest clock at 1, 2, … stages for the types built in.
	StageMHz []int `json:"stage_mhz"`
	// ECCRegister tells that the memory's check bits take a pipeline register beside the stages.
	ECCRegister bool `json:"ecc_register"`
}

// Explain works the configuration out. p must have passed Validate; for parameters that it refuses the zero Explanation is returned.
func (p Params) Explain() Explanation {
	if len(p.check(nil)) > 0 {
		return Explanation{}
	}
	d := p.Derived()
	e := Explanation{
		Buffer: BufferUse{Accumulate: p.Accumulate, BufferBytes: p.BufferBytes, MTUBytes: p.MTUBytes, MessageBytes: p.MessageBytes, Members: p.Members, Places: d.Places,
			Planes: d.Planes, Slots: d.Slots, LeftOver: d.Places - d.Slots*d.Planes, Rows: d.PayloadRows, RowBytes: d.RowBytes,
			Banks: p.PayloadBanks, ECC: p.ECC},
		Lanes: LaneUse{Lanes: p.Lanes, Adding: p.Lanes, Planes: d.Planes, BusBytes: p.BusBytes},
		Adder: AdderUse{Stages: d.AdderStages, Chosen: p.AdderStages == 0, Technology: p.Technology, ClockMHz: p.ClockMHz,
			StageMHz: stageMHz(p.Technology, d.HasFP), ECCRegister: p.ECC},
	}
	if p.Mode != 2 {
		e.Pipes = &PipeUse{Slots: d.PipeSlots, MessageBytes: p.MessageBytes, Packets: d.PipeSlots * p.placeBytes() / p.MTUBytes, HopRTTNS: p.HopRTTNS, HopCycles: (p.HopRTTNS*p.ClockMHz + 999) / 1000, HopPackets: d.HopPackets, TimeoutUS: d.PipeTimeoutUS}
	}
	if p.Accumulate == Reproducible {
		e.Lanes.Adding, e.Lanes.Reducing = p.Lanes/2, p.Lanes/2
	}
	for _, units := range p.units() {
		types := slices.DeleteFunc(slices.Clone(p.DTypes), func(t DType) bool { return t.Element().Units() != units })
		g := GroupUse{DTypes: types, Wide: units > 1, Window: p.WindowPackets, Messages: p.WindowMessages, Slots: units * d.GroupSlots, Groups: p.Groups, MemoryBits: units * d.Planes}
		b := BeatUse{DTypes: types, Cycles: p.BusBytes / d.RowBytes, Busy: d.RowBytes / 4}
		if g.Wide {
			b.Cycles, b.Busy = units*b.Cycles/d.LaneBanks, b.Busy*d.LaneBanks
		}
		g.AtOnce = min(d.Slots/g.Slots, p.Groups)
		g.LargestWindow = 1 << bits.Len(uint(d.Slots/units)) >> 2 // half the largest power of two of packets
		e.Buffer.Groups = append(e.Buffer.Groups, g)
		e.Lanes.Beats = append(e.Lanes.Beats, b)
	}
	if groups := e.Buffer.Groups; p.InBand && len(groups) > 1 {
		g := groups[len(groups)-1]
		g.DTypes = p.DTypes
		e.Buffer.InBand = &g
	}
	return e
}

// units are the numbers of units of the payload memory that packets of the types built in take, ascending.
func (p Params) units() []int {
	var out []int
	for _, t := range p.DTypes {
		out = append(out, t.Element().Units())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Text returns the explanation in words, a few lines that end in LF.
func (e Explanation) Text() string {
	var s strings.Builder
	u := e.Buffer
	fmt.Fprintf(&s, "buffer: %s / %s = %s", size(u.BufferBytes), size(cmp.Or(u.MessageBytes, u.MTUBytes)), count(u.Places, "place"))
	if u.Accumulate == Reproducible {
		fmt.Fprintf(&s, "; reproducible with %s keeps %s a slot, one for every pair", count(u.Members, "member"), count(u.Planes, "payload"))
	} else {
		fmt.Fprintf(&s, "; in_place keeps 1 payload a slot")
	}
	fmt.Fprintf(&s, ": %s", count(u.Slots, "slot"))
	if u.LeftOver > 0 {
		fmt.Fprintf(&s, "; %s (%s) left over, not built", count(u.LeftOver, "place"), size(u.LeftOver*cmp.Or(u.MessageBytes, u.MTUBytes)))
	}
	s.WriteString("\n")
	for _, g := range u.Groups {
		memory := ""
		if g.Wide {
			memory = "partials are FP32, twice the memory: "
			if units := contract.LaneBits / g.DTypes[0].Element().Bits; units > 2 {
				memory = fmt.Sprintf("partials are FP32, %d times the memory: ", units)
			}
		}
		fmt.Fprintf(&s, "  %s: %s%s; memory bits per payload bit: %d.0\n", names(g.DTypes, ", "), memory, g.text(), g.MemoryBits)
	}
	if u.InBand != nil {
		fmt.Fprintf(&s, "  in-band, any type: %s\n", u.InBand.text())
	}
	ports := "a read and a write port"
	if u.Banks > 1 {
		ports = fmt.Sprintf("%d banks of one port", u.Banks)
	}
	fmt.Fprintf(&s, "  %s of %s, %s", count(u.Rows, "row"), count(u.RowBytes, "byte"), ports)
	if u.ECC {
		s.WriteString(", check bits besides")
	}
	s.WriteString("\n")
	if e.Pipes != nil {
		name := "pipes"
		if e.Pipes.MessageBytes > 0 {
			name = "pools"
		}
		fmt.Fprintf(&s, "%s: %s\n", name, e.Pipes.text())
	}
	fmt.Fprintf(&s, "lanes: %s\nadders: %s\n", e.Lanes.text(), e.Adder.text())
	return s.String()
}

func (g GroupUse) text() string {
	var s strings.Builder
	window := func(n int) string { return "window " + commas(n) }
	if g.Messages > 0 {
		window = func(n int) string { return "a window of " + count(n, "message") }
	}
	fmt.Fprintf(&s, "a group at %s takes %s: ", window(cmp.Or(g.Messages, g.Window)), count(g.Slots, "slot"))
	switch {
	case g.AtOnce > 0:
		fmt.Fprintf(&s, "%d of %s at a time", g.AtOnce, count(g.Groups, "group"))
	case g.LargestWindow > 0:
		fmt.Fprintf(&s, "none fits, one does at %s", window(g.LargestWindow))
	default:
		s.WriteString("none fits at any window")
	}
	return s.String()
}

func (u PipeUse) text() string {
	reach := "as many as a link of the bus's rate needs"
	switch {
	case u.Packets < u.HopPackets:
		reach = "a link of the bus's rate waits for acknowledgements"
	case u.Packets > u.HopPackets:
		reach = "enough for a link of the bus's rate"
	}
	slots := count(u.Slots, "slot") + " each"
	if u.MessageBytes > 0 {
		slots = fmt.Sprintf("%s of %s each, %s", count(u.Slots, "message"), size(u.MessageBytes), count(u.Packets, "full packet"))
	}
	return fmt.Sprintf("%s; in %s cycles of the clock asked for, a round trip of a link, the bus moves %s: %s; a time-out takes %s µs",
		slots, commas(u.HopCycles), count(u.HopPackets, "packet"), reach, commas(u.TimeoutUS))
}

func (l LaneUse) text() string {
	var s strings.Builder
	switch {
	case l.Reducing == 0:
		fmt.Fprintf(&s, "%d add to the slot", l.Lanes)
	case l.Planes == 1:
		fmt.Fprintf(&s, "%d: %d add pairs, %d are for the tree, which one pair does not have", l.Lanes, l.Adding, l.Reducing)
	default:
		fmt.Fprintf(&s, "%d: %d add pairs, %d reduce the tree", l.Lanes, l.Adding, l.Reducing)
	}
	for i, b := range l.Beats {
		if i == 0 {
			article := "a"
			if l.BusBytes == 8 {
				article = "an"
			}
			fmt.Fprintf(&s, "; %s %s-byte beat of %s takes %s", article, commas(l.BusBytes), names(b.DTypes, " or "), count(b.Cycles, "cycle"))
		} else {
			fmt.Fprintf(&s, ", of %s %d", names(b.DTypes, " or "), b.Cycles)
		}
		if b.Busy < l.Adding {
			fmt.Fprintf(&s, " and %d of the lanes", b.Busy)
		}
	}
	return s.String()
}

func (a AdderUse) text() string {
	var s strings.Builder
	reach := func(stages int) string {
		if stages == 1 {
			return fmt.Sprintf("1 reaches %s MHz", commas(a.StageMHz[0]))
		}
		return fmt.Sprintf("%d reach %s MHz", stages, commas(a.StageMHz[stages-1]))
	}
	if stages := count(a.Stages, "stage"); a.Chosen {
		fmt.Fprintf(&s, "%s, the fewest for %s MHz on %s (", stages, commas(a.ClockMHz), a.Technology)
		if a.Stages > 1 {
			fmt.Fprintf(&s, "%s, ", reach(a.Stages-1))
		}
		fmt.Fprintf(&s, "%s)", reach(a.Stages))
	} else {
		fmt.Fprintf(&s, "%s as given for %s MHz on %s (%s)", stages, commas(a.ClockMHz), a.Technology, reach(min(a.Stages, len(a.StageMHz))))
	}
	if a.ECCRegister {
		s.WriteString("; ecc adds a register beside them")
	}
	return s.String()
}

// names joins types.
func names(types []DType, by string) string { return strings.Join(words(types), by) }

// count prints a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return commas(n) + " " + noun
}

// size prints bytes in the largest unit that divides them.
func size(n int) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{20, "MB"}, {10, "KB"}} {
		if n >= 1<<u.shift && n%(1<<u.shift) == 0 {
			return commas(n>>u.shift) + " " + u.name
		}
	}
	return commas(n) + " B"
}

// commas prints a number with a comma every three digits.
func commas(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
