// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Widths that the protocol fixes, in bits (IBTA volume 1: BTH).
const (
	PSNBits = 24
	QPNBits = 24
	// Log2NBits is the width of GROUP_SLOTS.log2_n, whatever the size of the buffer.
	Log2NBits = 5
)

// Reproducible is the value of Params.Accumulate that makes sums independent of the order of arrival; InPlace is the other.
const (
	InPlace      = "in_place"
	Reproducible = "reproducible"
)

// Params are the parameters of a design as the generator resolved them. docs/engine.md section 1 says what they mean.
type Params struct {
	Name     string `json:"name"`
	Mode     int    `json:"mode"`
	BusBytes int    `json:"bus_bytes"`
	Lanes    int    `json:"lanes"`
	// DTypes are the element types built in, Ops the operations, in the order of their codes.
	DTypes        []string `json:"dtypes"`
	Ops           []string `json:"ops"`
	Accumulate    string   `json:"accumulate"`
	BufferBytes   int      `json:"buffer_bytes"`
	Groups        int      `json:"groups"`
	Members       int      `json:"members"`
	Ports         int      `json:"ports"`
	MTUBytes      int      `json:"mtu_bytes"`
	WindowPackets int      `json:"window_packets"`
	// MessageBytes is the size of a slot in Mode I, WindowMessages the messages of a pool that a group is meant to have there; 0 in other modes.
	MessageBytes   int `json:"message_bytes,omitempty"`
	WindowMessages int `json:"window_messages,omitempty"`
	// WholeMessages tells that a Mode I engine keeps every message until it is complete, NoReleases that it makes no releases.
	WholeMessages bool   `json:"whole_messages,omitempty"`
	NoReleases    bool   `json:"no_releases,omitempty"`
	HopRTTNS      int    `json:"hop_rtt_ns,omitempty"`
	ClockMHz      int    `json:"clock_mhz"`
	ICRCCheck     bool   `json:"icrc_check"`
	Memory        string `json:"memory"`
	Technology    string `json:"technology"`
	AdderStages   int    `json:"adder_stages"`
	// DecisionStages are those of a decision, as given.
	DecisionStages int `json:"decision_stages,omitempty"`
	// ECC tells that the payload memory corrects single errors.
	ECC          bool `json:"ecc"`
	PayloadBanks int  `json:"payload_banks"`
	// InBand tells that groups may be told by their ranks what to do next.
	InBand bool `json:"in_band"`
	// Park tells that groups can be parked (docs/parking.md).
	Park bool `json:"park,omitempty"`
	// EagerTree tells that a reproducible engine's tree merges siblings as soon as both are complete.
	EagerTree bool `json:"eager_tree,omitempty"`
	// PortBytes is the width of a port of the switch top in bytes a beat, with a queue of frames in either direction; 0 if a port is as wide
	// as the bus and has none. PortDrop tells that a queue without room drops a frame, instead of keeping the sender waiting.
	PortBytes int `json:"port_bytes,omitempty"`
	// PortWidths are the widths of the ports, where they are not all PortBytes, which none of them exceeds.
	PortWidths []int `json:"port_widths,omitempty"`
	PortDrop   bool  `json:"port_drop,omitempty"`
	// PortCutThrough tells that a port begins to send a frame before it is whole.
	PortCutThrough bool `json:"port_cut_through,omitempty"`
	// VLAN tells that endpoints' records have 802.1Q tags.
	VLAN bool `json:"vlan,omitempty"`
	// Interrupts tells that there is an interrupt line (docs/interrupts.md).
	Interrupts bool `json:"interrupts,omitempty"`
	// ECCAll tells, beside ECC, that all other memories of an engine correct single errors too (docs/memories.md).
	ECCAll bool `json:"ecc_all,omitempty"`
	// MemoryPins is how many input pins every memory has beside its own; the tops have them as mem_pins.
	MemoryPins int `json:"memory_pins,omitempty"`
	// Priorities is how many queues a port has on the way out, one a priority; 0 stands for 1.
	Priorities int `json:"priorities,omitempty"`
	// PortClockMHz are the clocks of the ports, one for all or one a port; none if they have that of the engine.
	PortClockMHz []float64 `json:"port_clock_mhz,omitempty"`
	// Engines is how many engines the switch has (docs/engines.md), each of which has what the other parameters say; 0 stands for 1.
	Engines int `json:"engines,omitempty"`
}

// Values are the parameters by their keys, as JSON.
func (p Params) Values() map[string]json.RawMessage {
	text, err := json.Marshal(p)
	out := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("parameters as JSON: %v", err)) // strings, numbers and flags always have that form
	}
	return out
}

// check refuses parameters that cannot be an engine's, whoever wrote them.
func (p Params) check() error {
	for _, v := range []struct {
		name  string
		value int
	}{{"bus_bytes", p.BusBytes}, {"groups", p.Groups}, {"members", p.Members}, {"ports", p.Ports}, {"mtu_bytes", p.MTUBytes},
		{"window_packets", p.WindowPackets}, {"buffer_bytes", p.BufferBytes}} {
		if v.value < 1 {
			return fmt.Errorf("params.%s is %d, it must be at least 1", v.name, v.value)
		}
	}
	if p.Mode != 0 && !slices.Contains(Modes(), p.Mode) { // 0: a manifest that does not say
		return fmt.Errorf("params.mode is %d, this program knows 1, 2 and 3", p.Mode)
	}
	if p.DTypeMask() == 0 || p.OpMask() == 0 || bits.OnesCount32(p.DTypeMask()) != len(p.DTypes) || bits.OnesCount32(p.OpMask()) != len(p.Ops) {
		return fmt.Errorf("params.dtypes is %v and params.ops %v, known are %v and %v", p.DTypes, p.Ops, ElementNames(), OperationNames())
	}
	if p.Mode == 1 && (p.MessageBytes < p.MTUBytes || p.MessageBytes&(p.MessageBytes-1) != 0 || p.WindowMessages < 1) {
		return fmt.Errorf("params.message_bytes is %d, params.window_messages %d: Mode I takes a power of two from mtu_bytes (%d) on, and at least 1 message",
			p.MessageBytes, p.WindowMessages, p.MTUBytes)
	}
	if p.Slots() < 1 {
		return errors.New("params: the buffer holds no slot")
	}
	if p.PortBytes < 0 || p.PortBytes > p.BusBytes {
		return fmt.Errorf("params.port_bytes is %d, it must be from 0 to bus_bytes", p.PortBytes)
	}
	if n := len(p.PortWidths); n > 0 && n != p.Ports || slices.ContainsFunc(p.PortWidths, func(bytes int) bool { return bytes < 1 || bytes > p.PortBytes }) {
		return fmt.Errorf("params.port_widths is %v: it takes a number from 1 to port_bytes for each port", p.PortWidths)
	}
	if n := len(p.PortClockMHz); n > 0 && (p.PortBytes == 0 || n > 1 && n != p.Ports) || slices.ContainsFunc(p.PortClockMHz, func(mhz float64) bool { return !(mhz > 0) }) {
		return fmt.Errorf("params.port_clock_mhz is %v: it takes port_bytes, and a positive number for all ports or one for each", p.PortClockMHz)
	}
	if n := p.PriorityCount(); p.Priorities < 0 || n > MaxPriorities || n&(n-1) != 0 || n > 1 && p.PortBytes == 0 {
		return fmt.Errorf("params.priorities is %d: 1, 2, 4 or %d, and more than 1 with port_bytes", p.Priorities, MaxPriorities)
	}
	if p.ECCAll && !p.ECC {
		return errors.New("params.ecc_all is true, with ecc false: it goes with ecc")
	}
	if p.MemoryPins < 0 || p.MemoryPins > MaxMemoryPins {
		return fmt.Errorf("params.memory_pins is %d, it must be from 0 to %d", p.MemoryPins, MaxMemoryPins)
	}
	if n := p.EngineCount(); p.Engines < 0 || n > MaxEngines || n > 1 && ceilPow2(p.Groups) != p.Groups {
		return fmt.Errorf("params.engines is %d, params.groups %d: from 1 to %d engines, several with a power of two of groups", p.Engines, p.Groups, MaxEngines)
	}
	return nil
}

// Elements are the element types built in, in the order of their codes.
func (p Params) Elements() []Element {
	return slices.DeleteFunc(Elements(), func(e Element) bool { return !slices.Contains(p.DTypes, e.Name) })
}

// DTypeMask has bit i set if the element type of code i is included, OpMask likewise for operations.
func (p Params) DTypeMask() uint32 { return mask(p.DTypes, ElementNames()) }

// OpMask has bit i set if the operation of code i is included.
func (p Params) OpMask() uint32 { return mask(p.Ops, OperationNames()) }

// Reproducible tells that sums do not depend on the order of arrival.
func (p Params) Reproducible() bool { return p.Accumulate == Reproducible }

// Widened tells that some element type built in is kept wider than it is sent.
func (p Params) Widened() bool { return slices.ContainsFunc(p.Elements(), Element.Widened) }

// LeastUnits is the number of units of the payload memory that a packet of the widest element type built in takes; 1 if there is none.
func (p Params) LeastUnits() int {
	least := 0
	for _, e := range p.Elements() {
		if least == 0 || e.Units() < least {
			least = e.Units()
		}
	}
	return max(least, 1)
}

// MostUnits is the number of units that a packet of the narrowest element type built in takes.
func (p Params) MostUnits() int {
	most := 1
	for _, e := range p.Elements() {
		most = max(most, e.Units())
	}
	return most
}

// Units is the number of units of the payload memory that a packet of a group takes: those of the element type of that code, which must be
// one of Elements; in an in-band group, which may be told any type, those of the type built in that takes most.
func (p Params) Units(dtype uint8, inBand bool) int {
	if inBand {
		return p.MostUnits()
	}
	return elements()[dtype].Units()
}

// Planes is how many payloads a slot holds: one, or one for every pair of members where sums are reproducible.
func (p Params) Planes() int {
	if p.Reproducible() {
		return (p.Members + 1) / 2
	}
	return 1
}

// RowBytes is the width of the payload memory in data bytes: what the lanes take in a cycle of 32-bit elements.
func (p Params) RowBytes() int {
	if p.Reproducible() {
		return min(LaneBits/8*p.Lanes/2, p.BusBytes)
	}
	return min(LaneBits/8*p.Lanes, p.BusBytes)
}

// LaneBanks is 2 if there are lanes for two rows in a cycle, which elements of half a lane's width use, else 1.
func (p Params) LaneBanks() int {
	if !p.Reproducible() && LaneBits/8*p.Lanes > p.BusBytes {
		return 2
	}
	return 1
}

// Beats is the number of beats of a frame of n bytes.
func (p Params) Beats(n int) int { return (n + p.BusBytes - 1) / p.BusBytes }

// CyclesPerBeat is how many cycles a beat of payload keeps the adders busy at most, the reduction of a result that is sent
// again included.
func (p Params) CyclesPerBeat() int {
	cycles := max(p.BusBytes/max(p.RowBytes(), 1), 1)
	if LaneBits/8*p.Lanes <= p.BusBytes {
		cycles *= p.MostUnits()
	}
	if p.Reproducible() {
		cycles += cycles * 3 * ceilPow2(p.Planes()) / 2
	}
	return cycles
}

// shortestFrame is how many bytes a frame of Ethernet's has at least, without its FCS.
const shortestFrame = 60

// OneBeatFrames tells whether a frame may be of one beat.
func (p Params) OneBeatFrames() bool { return p.BusBytes >= shortestFrame }

// FramePace is in how many cycles a frame is decided when several wait: 2, or 3 where none has fewer beats, as that leaves a cycle in which no frame moves (docs/engine.md 9).
// A bypassed frame takes one cycle less.
func (p Params) FramePace() int {
	if 3*p.BusBytes <= shortestFrame {
		return 3
	}
	return 2
}

// EPS is the number of endpoint records of a group: MEMBERS+1 rounded up to a power of two.
func (p Params) EPS() int { return ceilPow2(p.Members + 1) }

// MaskBits is the width of an endpoint mask: endpoints are 0 to MEMBERS.
func (p Params) MaskBits() int { return p.Members + 1 }

// Records is the size of the endpoint table, those of all engines together: GROUPS rounded up to a power of two, times EPS, and that times
// ENGINES rounded up to a power of two. QPN mod Records is the index.
func (p Params) Records() int { return ceilPow2(p.EngineCount()) * p.EngineRecords() }

// Slots is the number of slots in the buffer.
func (p Params) Slots() int { return p.BufferBytes / max(p.SlotBytes(), 1) / max(p.Planes(), 1) }

// SlotBytes is the payload of a slot: a packet, in Mode I a message.
func (p Params) SlotBytes() int {
	if p.Mode == 1 {
		return p.MessageBytes
	}
	return p.MTUBytes
}

// Pipes tells that endpoints acknowledge what they are sent and keep what they send until it is acknowledged: Modes III and I.
func (p Params) Pipes() bool { return p.Mode == 3 || p.Mode == 1 }

// LeastPathMTU is the smallest path MTU that an endpoint of Mode I takes.
func (p Params) LeastPathMTU() int { return max(256, 2*p.BusBytes) }

// MaxLog2N is the largest legal GROUP_SLOTS.log2_n: that of a group of the element type that takes the fewest units.
func (p Params) MaxLog2N() int { return bits.Len(uint(p.Slots()/p.LeastUnits())) - 1 }

// CyclesPerMicrosecond are those of the clock, at least 1. PIPE_TIMEOUT counts microseconds.
func (p Params) CyclesPerMicrosecond() uint64 { return uint64(max(p.ClockMHz, 1)) }

// PipeTimeoutUS is the reset value of PIPE_TIMEOUT in microseconds, in Modes III and I: eight round trips of a hop, rounded up.
func (p Params) PipeTimeoutUS() int {
	if !p.Pipes() {
		return 0
	}
	return (8*p.HopRTTNS + 999) / 1000
}

// GroupSlots is the number of slots a group needs for its window: 2·window_packets, in Mode I 2·window_messages, times the units of its
// element type.
func (p Params) GroupSlots() int {
	if p.Mode == 1 {
		return 2 * p.WindowMessages
	}
	return 2 * p.WindowPackets
}

// ceilPow2 rounds up to a power of two; n is at least 1.
func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }
