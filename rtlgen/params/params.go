// SPDX-License-Identifier: Apache-2.0

// Package params holds what a user says about an engine: a typed struct, the YAML it is read from, the presets, the limits,
// and every width that follows from it, computed once.
//
// A parameter set is made by Load (preset name or file, with --set overrides), Parse (YAML text) or Preset. All three refuse
// illegal input with every problem at once, each with its key, value, allowed range, reason and place in the file.
// The package knows nothing about graphs, Verilog or registers.
//
// Long: a fifth is the table of the keys, an eighth the table of widths; what refuses a key must see both, and the other keys.
package params

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"incforge/contract"
)

// DType is an element type of the reduction.
type DType string

// DTypes returns all element types in the order of their codes.
func DTypes() []DType { return named[DType](contract.ElementNames()) }

// Element returns what the type is, the zero Element for none.
func (t DType) Element() contract.Element {
	e, _, _ := contract.ElementNamed(string(t))
	return e
}

// Wide tells that elements are widened to FP32 and kept and added as such.
func (t DType) Wide() bool { return t.Element().Widened() }

// String returns the name used in parameter files.
func (t DType) String() string { return string(t) }

// Op is a reduction.
type Op string

// Ops returns all reductions in the order of their codes.
func Ops() []Op { return named[Op](contract.OperationNames()) }

// String returns the name used in parameter files.
func (o Op) String() string { return string(o) }

// Accumulate says in which order contributions are added.
type Accumulate string

const (
	// InPlace adds in the order in which packets are accepted.
	InPlace Accumulate = contract.InPlace
	// Reproducible adds by a fixed tree over the endpoints, whatever the order of arrival.
	Reproducible Accumulate = contract.Reproducible
)

// String returns the name used in parameter files.
func (a Accumulate) String() string { return string(a) }

// Memory says how arrays are built.
type Memory string

const (
	// MemoryAuto leaves the choice to the generator and the synthesis tool.
	MemoryAuto Memory = "auto"
	// MemoryRAM asks for RAM macros or block RAM.
	MemoryRAM Memory = "ram"
	// MemoryRegisters asks for flip-flops.
	MemoryRegisters Memory = "registers"
)

// String returns the name used in parameter files.
func (m Memory) String() string { return string(m) }

// Technology says what the engine is meant to be built in.
type Technology string

const (
	// FPGA is programmable logic.
	FPGA Technology = "fpga"
	// ASIC is standard cells of a 28 nm-class process.
	ASIC Technology = "asic"
)

// String returns the name used in parameter files.
func (t Technology) String() string { return string(t) }

// Params is one engine's parameters, as resolved: every key has a value. Only values that Validate accepts mean anything
// to the rest of the generator.
type Params struct {
	// Name is the prefix of the generated modules and files: a Verilog identifier.
	Name string `yaml:"name" json:"name"`
	// Mode is EPIC's mode: 1 connection terminated, 2 translated, 3 augmented. Of 1 there is Verilog with messages up to 8 MiB.
	Mode int `yaml:"mode" json:"mode"`
	// BusBytes is the width of the datapath in bytes a beat.
	BusBytes int `yaml:"bus_bytes" json:"bus_bytes"`
	// Lanes is the number of 32-bit adders side by side; with Reproducible half of them add pairs and half reduce the tree.
	Lanes int `yaml:"lanes" json:"lanes"`
	// DTypes are the element types built in, in the order of their codes.
	DTypes []DType `yaml:"dtypes" json:"dtypes"`
	// Ops are the reductions built in, in the order of their codes.
	Ops []Op `yaml:"ops" json:"ops"`
	// Accumulate is the order of addition.
	Accumulate Accumulate `yaml:"accumulate" json:"accumulate"`
	// BufferBytes is the payload memory in bytes, without check bits: a whole number of MTUBytes. Derived.Planes of these make a slot; in Mode I
	// as many MessageBytes do.
	BufferBytes int `yaml:"buffer_bytes" json:"buffer_bytes"`
	// Groups is the number of groups.
	Groups int `yaml:"groups" json:"groups"`
	// Members is the number of children a group may have; endpoints run from 0 to Members.
	Members int `yaml:"members" json:"members"`
	// Ports is the number of Ethernet ports.
	Ports int `yaml:"ports" json:"ports"`
	// MTUBytes is the largest payload of a packet in bytes.
	MTUBytes int `yaml:"mtu_bytes" json:"mtu_bytes"`
	// WindowPackets is MW, the window in packets that a sender is expected to keep; a group then takes 2·MW slots, twice as many
	// for a 16-bit type. In Mode III that is two pipes of MW slots. Mode I has WindowMessages instead.
	WindowPackets int `yaml:"window_packets" json:"window_packets"`
	// MessageBytes is the longest message in bytes, WindowMessages the messages of a pool, in Mode I; 0 in other modes.
	MessageBytes   int `yaml:"message_bytes" json:"message_bytes,omitempty"`
	WindowMessages int `yaml:"window_messages" json:"window_messages,omitempty"`
	// WholeMessages says that a Mode I engine keeps every message until it is complete, NoReleases that it makes no releases.
	WholeMessages bool `yaml:"whole_messages" json:"whole_messages,omitempty"`
	NoReleases    bool `yaml:"no_releases" json:"no_releases,omitempty"`
	// HopRTTNS is the time in nanoseconds in which a packet and its acknowledgement cross one link, in Modes III and I; 0 in Mode II.
	HopRTTNS int `yaml:"hop_rtt_ns" json:"hop_rtt_ns,omitempty"`
	// ClockMHz is the clock the engine is meant for, in MHz.
	ClockMHz int `yaml:"clock_mhz" json:"clock_mhz"`
	// ICRCCheck says whether packets with a wrong invariant CRC are dropped.
	ICRCCheck bool `yaml:"icrc_check" json:"icrc_check"`
	// Memory says how arrays are built.
	Memory Memory `yaml:"memory" json:"memory"`
	// Technology is what the engine is meant to be built in.
	Technology Technology `yaml:"technology" json:"technology"`
	// AdderStages is the number of pipeline registers in an adder; 0 leaves the choice to Technology and ClockMHz, and
	// Derived.AdderStages has what was chosen.
	AdderStages int `yaml:"adder_stages" json:"adder_stages"`
	// DecisionStages is the number of register stages from what a frame's header finds to its work for the adders, in Mode II; 0 leaves the choice to
	// Technology, BusBytes and ClockMHz, and Derived.DecisionStages has what was chosen.
	DecisionStages int `yaml:"decision_stages" json:"decision_stages"`
	// ECC says whether the payload memory corrects single and detects double errors.
	ECC bool `yaml:"ecc" json:"ecc"`
	// ECCAll says, beside ECC, whether tables, slot state, queues and the ring of frames do so too.
	ECCAll bool `yaml:"-" json:"-"`
	// PayloadBanks is 1 for a payload memory with a read and a write port, more for that many memories of a single port each.
	PayloadBanks int `yaml:"payload_banks" json:"payload_banks"`
	// InBand says whether a group's ranks may choose its collectives, by control messages among their packets.
	InBand bool `yaml:"in_band" json:"in_band"`
	// Park says whether groups can be parked: give up their slots and keep their connections.
	Park bool `yaml:"park" json:"park,omitempty"`
	// EagerTree says whether the tree of a Reproducible engine merges siblings as soon as both are complete.
	EagerTree bool `yaml:"eager_tree" json:"eager_tree,omitempty"`
	// PortBytes is the width of a port in bytes a beat, with a queue of frames in either direction; 0 for ports as wide as the bus, without queues.
	PortBytes int `yaml:"port_bytes" json:"port_bytes,omitempty"`
	// PortWidths are the widths of the ports in bytes a beat, one a port, where they are not all PortBytes. What is no whole number is refused.
	PortWidths []float64 `yaml:"port_widths" json:"port_widths,omitempty"`
	// PortDrop says whether a port's queue without room drops a frame, instead of keeping the sender waiting.
	PortDrop bool `yaml:"port_drop" json:"port_drop,omitempty"`
	// PortCutThrough says whether a port begins to send a frame as soon as it can no longer run dry, instead of when it is whole.
	PortCutThrough bool `yaml:"port_cut_through" json:"port_cut_through,omitempty"`
	// PortClockMHz are the clocks of the ports in MHz: one for all, or one a port; nil if they have that of the engine.
	PortClockMHz []float64 `yaml:"port_clock_mhz" json:"port_clock_mhz,omitempty"`
	// VLAN says whether frames may have an 802.1Q tag, and endpoints' records say which.
	VLAN bool `yaml:"vlan" json:"vlan,omitempty"`
	// Priorities is how many queues a port has on the way out, one a priority: 1, 2, 4 or 8.
	Priorities int `yaml:"priorities" json:"priorities,omitempty"`
	// Interrupts says whether there is an interrupt line, with registers of what happened and what of it raises the line.
	Interrupts bool `yaml:"interrupts" json:"interrupts,omitempty"`
	// MemoryPins is how many input pins every memory has beside its own, led through from the tops.
	MemoryPins int `yaml:"memory_pins" json:"memory_pins,omitempty"`
	// Engines is how many engines the switch has, each of which has what the other parameters say; 0 stands for 1.
	Engines int `yaml:"engines" json:"engines,omitempty"`
}

// OneEngine are the parameters of each of the engines, alone: what a core is made from.
func (p Params) OneEngine() Params {
	p.Engines = 1
	return p
}

// defaultLanes is the number of lanes that keeps up with the bus on 32-bit elements.
func (p Params) defaultLanes() int {
	if p.Accumulate == Reproducible {
		return min(p.BusBytes/2, maxLanes)
	}
	return p.BusBytes / 4
}

// YAML returns the canonical text of p: every key that its mode has, in the order of the documentation, LF line ends; of quiet keys, the ports'
// and park, those that are not at their default, so that the digest of an engine without what they add is what it was before there was any.
// Parsing it gives p again.
func (p Params) YAML() []byte {
	var b bytes.Buffer
	for _, f := range fields() {
		if f.in(p.Mode) && !(f.quiet && f.get(&p) == f.def) {
			fmt.Fprintf(&b, "%s: %s\n", f.key, f.get(&p))
		}
	}
	return b.Bytes()
}

// Digest returns the SHA-256 of the canonical YAML in lower-case hexadecimal. Two files that say the same have the same digest.
func (p Params) Digest() string {
	sum := sha256.Sum256(p.YAML())
	return hex.EncodeToString(sum[:])
}

// Contract returns p as it crosses to everybody else.
func (p Params) Contract() contract.Params {
	engines, priorities := p.Engines, p.Priorities
	if engines == 1 {
		engines = 0
	}
	if priorities == 1 {
		priorities = 0
	}
	return contract.Params{
		Engines: engines,
		Name:    p.Name, Mode: p.Mode, BusBytes: p.BusBytes, Lanes: p.Lanes, DTypes: words(p.DTypes), Ops: words(p.Ops),
		Accumulate: string(p.Accumulate), BufferBytes: p.BufferBytes, Groups: p.Groups, Members: p.Members, Ports: p.Ports, MTUBytes: p.MTUBytes,
		WindowPackets: p.WindowPackets, MessageBytes: p.MessageBytes, WindowMessages: p.WindowMessages, WholeMessages: p.WholeMessages, NoReleases: p.NoReleases, HopRTTNS: p.HopRTTNS, ClockMHz: p.ClockMHz, ICRCCheck: p.ICRCCheck, Memory: string(p.Memory),
		Technology: string(p.Technology), AdderStages: p.AdderStages, DecisionStages: p.DecisionStages, ECC: p.ECC, PayloadBanks: p.PayloadBanks, InBand: p.InBand, Park: p.Park, EagerTree: p.EagerTree,
		PortBytes: p.PortBytes, PortWidths: p.portWidths(), PortDrop: p.PortDrop, PortCutThrough: p.PortCutThrough, VLAN: p.VLAN, Interrupts: p.Interrupts, Priorities: priorities, PortClockMHz: p.PortClockMHz,
		ECCAll: p.ECCAll, MemoryPins: p.MemoryPins,
	}
}

func (p Params) portWidths() (out []int) {
	for _, bytes := range p.PortWidths {
		out = append(out, int(bytes))
	}
	return out
}

// named turns names into those of a kind.
func named[To ~string](list []string) []To {
	out := make([]To, len(list))
	for i, n := range list {
		out[i] = To(n)
	}
	return out
}

// numbers prints them as a YAML flow sequence.
func numbers(v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// list prints a slice as a YAML flow sequence.
func list[T ~string](v []T) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = string(x)
	}
	return "[" + strings.Join(s, ", ") + "]"
}
