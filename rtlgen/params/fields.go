// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"incforge/contract"
)

// kind is the type of a key's value.
type kind int

const (
	kindInt kind = iota
	kindBool
	kindString
	kindList
	kindNumbers
	// kindSwitch is true, false or the last of the field's words.
	kindSwitch
)

// eccAll is the third value of ecc.
const eccAll = "all"

// String names the kind as messages do.
func (k kind) String() string {
	switch k {
	case kindInt:
		return "an integer"
	case kindBool:
		return "true or false"
	case kindString:
		return "a string"
	case kindList:
		return "a list of names"
	case kindNumbers:
		return "a list of numbers"
	case kindSwitch:
		return "true, false or all"
	default:
		return fmt.Sprintf("kind(%d)", int(k))
	}
}

// Limits of the generator. Where a limit is more than a field's width, the field's reason says what it comes from.
const (
	minBusBytes  = 8
	maxBusBytes  = 2048
	minLanes     = 2
	maxLanes     = 512
	maxGroups    = 64
	maxMembers   = 16
	maxPorts     = 32
	maxWindow    = 1024
	maxClockMHz  = 2000
	maxStages    = 6
	maxBanks     = 16
	maxSlots     = 65536
	maxRegBuffer = 65536
	maxNameLen   = 48
	maxHopRTT    = 8_000_000
	maxMessage   = 1 << 24
)

// field is one key: its type, its limits and its words. The decoder, --set, Validate, the schema and the canonical YAML all
// read this one table.
type field struct {
	key  string
	kind kind
	doc  string
	// req marks a key that a file must have; the others have a default, def, in YAML.
	req bool
	def string
	// modes are those that have the key, none if all have. In others its value is 0.
	modes []int
	// quiet keys are left out of the canonical text at their default.
	quiet bool

	// Integers: the range, and whether only powers of two (lo is one) are meant.
	lo, hi int
	pow2   bool
	// Strings: the values, or a pattern and its words.
	words   []string
	pattern string
	// allowed overrides the words made from the limits.
	allowed string
	// reason says why the limit is there; the refused value may change it.
	reason func(v string) string

	get     func(*Params) string
	setInt  func(*Params, int)
	setBool func(*Params, bool)
	setStr  func(*Params, string)
	setList func(*Params, []string)
	setNums func(*Params, []float64)
}

// because makes a reason that does not depend on the value.
func because(s string) func(string) string { return func(string) string { return s } }

// namePattern keeps names safe in Verilog, C, Go, file systems and Verilator's symbol names, where __ is an escape.
const namePattern = `^[A-Za-z](_?[A-Za-z0-9])*$`

// fields returns the keys in their documented order.
//
// Long: it is the table of the keys, one entry each; in pieces, nobody would see their order, or that none is missing.
func fields() []field {
	integer := func(get func(*Params) *int, f field) field {
		f.kind = kindInt
		f.get = func(p *Params) string { return strconv.Itoa(*get(p)) }
		f.setInt = func(p *Params, v int) { *get(p) = v }
		return f
	}
	return []field{
		{
			key: "name", kind: kindString, req: true,
			doc:     "Prefix of the generated modules and files: letters, digits and single underscores, beginning with a letter, no Verilog keyword, not inc or inc_*.",
			pattern: namePattern,
			allowed: fmt.Sprintf("letters, digits and single underscores, beginning with a letter, at most %d characters, no Verilog keyword", maxNameLen),
			reason:  nameReason,
			get:     func(p *Params) string { return scalar(p.Name) },
			setStr:  func(p *Params, v string) { p.Name = v },
		},
		integer(func(p *Params) *int { return &p.Mode }, field{
			key: "mode", def: "2", lo: 1, hi: 3,
			doc: "EPIC's mode: 1 connection terminated (messages are joined), 2 connection translated (hosts repeat what is lost), 3 connection augmented (each link repeats " +
				"what it lost).",
			reason: because("EPIC has these modes"),
		}),
		integer(func(p *Params) *int { return &p.BusBytes }, field{
			key: "bus_bytes", req: true, lo: minBusBytes, hi: maxBusBytes, pow2: true,
			doc: "Width of the datapath in bytes a beat.",
			reason: func(v string) string {
				if n, err := strconv.Atoi(v); err == nil && n > maxBusBytes {
					return "the largest payload, 4096 bytes, is two beats of 2048"
				}
				return "a payload must be a whole number of beats and a beat a whole number of elements"
			},
		}),
		integer(func(p *Params) *int { return &p.Lanes }, field{
			key: "lanes", lo: minLanes, hi: maxLanes, pow2: true,
			doc: "Number of 32-bit adders side by side. Left out, it follows bus_bytes and accumulate: one for every 4 bytes in place, " +
				"one for every 2 bytes if reproducible (half of them add pairs, half reduce the tree), at most 512. Fewer take several cycles a beat; " +
				"one for every 2 bytes in place, with a 16-bit type, takes a beat of it in one cycle.",
			reason: because("a beat is split evenly among them, and more than 512 are not built"),
		}),
		{
			key: "dtypes", kind: kindList, def: "[INT32]", words: words(DTypes()),
			doc:     "Element types built in; a group uses one of them. Two of them, FP16 and BF16, are kept and added as FP32.",
			reason:  listReason(words(DTypes()), "an engine without an element type computes nothing"),
			get:     func(p *Params) string { return list(p.DTypes) },
			setList: func(p *Params, v []string) { p.DTypes = ordered[DType](v, words(DTypes())) },
		},
		{
			key: "ops", kind: kindList, def: "[SUM]", words: words(Ops()),
			doc:     "Reductions built in; a group uses one of them.",
			reason:  listReason(words(Ops()), "an engine without a reduction computes nothing"),
			get:     func(p *Params) string { return list(p.Ops) },
			setList: func(p *Params, v []string) { p.Ops = ordered[Op](v, words(Ops())) },
		},
		{
			key: "accumulate", kind: kindString, def: string(InPlace), words: []string{string(InPlace), string(Reproducible)},
			doc: "Order of addition: in_place adds in the order of acceptance; reproducible by a fixed tree over the endpoints, whatever " +
				"the order of arrival, and keeps a payload for every pair of members.",
			reason: because("these are the orders of addition"),
			get:    func(p *Params) string { return scalar(string(p.Accumulate)) },
			setStr: func(p *Params, v string) { p.Accumulate = Accumulate(v) },
		},
		integer(func(p *Params) *int { return &p.BufferBytes }, field{
			key: "buffer_bytes", req: true, lo: 2 * 256, hi: maxSlots * 4096,
			doc: "Payload memory in bytes, without check bits: a multiple of mtu_bytes, room for one group at the full window and at most 65536 slots. " +
				"A slot is one payload in place, one for every pair of members if reproducible; a 16-bit type takes two slots for each packet. In Mode I a slot has " +
				"message_bytes, and the window is window_messages.",
			reason: because("a slot is one MTU of payload, and a group needs two slots for each packet of the window"),
		}),
		integer(func(p *Params) *int { return &p.Groups }, field{
			key: "groups", req: true, lo: 1, hi: maxGroups,
			doc:    "Number of groups.",
			reason: because("the register map has room for 64 groups"),
		}),
		integer(func(p *Params) *int { return &p.Members }, field{
			key: "members", req: true, lo: 1, hi: maxMembers,
			doc:    "Number of children a group may have; endpoints run from 0 to members.",
			reason: because("the endpoint mask of a slot has at most 17 bits"),
		}),
		integer(func(p *Params) *int { return &p.Ports }, field{
			key: "ports", req: true, lo: 1, hi: maxPorts,
			doc:    "Number of Ethernet ports; it need not match the number of endpoints.",
			reason: because("the arbiter in front of the core takes at most 32 streams"),
		}),
		integer(func(p *Params) *int { return &p.MTUBytes }, field{
			key: "mtu_bytes", req: true, lo: 256, hi: 4096, pow2: true,
			doc:    "Largest payload of a packet in bytes, the path MTU of the queue pairs.",
			reason: because("these are the path MTUs of InfiniBand and RoCE"),
		}),
		integer(func(p *Params) *int { return &p.WindowPackets }, field{
			key: "window_packets", req: true, lo: 1, hi: maxWindow, pow2: true,
			doc: "MW, the window in packets that a sender is expected to keep; a group takes 2·MW slots, 4·MW for a 16-bit type. In Mode III these are two pipes " +
				"of MW packets, and what should fit one is the traffic of hop_rtt_ns. In Mode I memory follows from window_messages instead.",
			reason: because("a group's slots, 2·window_packets, are a power of two"),
		}),
		integer(func(p *Params) *int { return &p.MessageBytes }, field{
			key: "message_bytes", modes: []int{1}, def: "4096", lo: 256, hi: maxMessage, pow2: true,
			doc:    "Longest message in bytes and the size of a slot, in Mode I: at least mtu_bytes.",
			reason: because("a slot is a message, from the least path MTU to 16 MiB"),
		}),
		integer(func(p *Params) *int { return &p.WindowMessages }, field{
			key: "window_messages", modes: []int{1}, def: "2", lo: 1, hi: maxWindow, pow2: true,
			doc:    "Messages of a pool that a group is meant to have, in Mode I; it then takes 2·window_messages slots, twice as many for a 16-bit type.",
			reason: because("a group's slots, 2·window_messages, are a power of two"),
		}),
		{
			key: "whole_messages", kind: kindBool, modes: []int{1}, def: "false", quiet: true,
			doc:     "Whether an engine of Mode I keeps every message until it is complete, whatever GROUP_MESSAGES says.",
			get:     func(p *Params) string { return strconv.FormatBool(p.WholeMessages) },
			setBool: func(p *Params, v bool) { p.WholeMessages = v },
		},
		{
			key: "no_releases", kind: kindBool, modes: []int{1}, def: "false", quiet: true,
			doc:     "Whether an engine of Mode I makes no releases, and refuses groups that ask for them.",
			get:     func(p *Params) string { return strconv.FormatBool(p.NoReleases) },
			setBool: func(p *Params, v bool) { p.NoReleases = v },
		},
		integer(func(p *Params) *int { return &p.HopRTTNS }, field{
			key: "hop_rtt_ns", modes: []int{1, 3}, def: "2000", lo: 1, hi: maxHopRTT,
			doc: "Time in nanoseconds in which a packet and its acknowledgement cross one link, in Modes III and I: what pipes are sized by, and an eighth of the time-out " +
				"that PIPE_TIMEOUT has after reset.",
			reason: because("PIPE_TIMEOUT holds at most 65,535 µs"),
		}),
		integer(func(p *Params) *int { return &p.ClockMHz }, field{
			key: "clock_mhz", req: true, lo: 1, hi: maxClockMHz,
			doc:    "Clock the engine is meant for, in MHz; it goes to the timing constraints, and with adder_stages 0 it chooses the adders' depth.",
			reason: because("constraints and reports are made for clocks in this range"),
		}),
		{
			key: "icrc_check", kind: kindBool, def: "true",
			doc:     "Whether packets with a wrong invariant CRC are dropped. Emitted packets always carry a right one.",
			get:     func(p *Params) string { return strconv.FormatBool(p.ICRCCheck) },
			setBool: func(p *Params, v bool) { p.ICRCCheck = v },
		},
		{
			key: "memory", kind: kindString, def: string(MemoryAuto),
			words:  []string{string(MemoryAuto), string(MemoryRAM), string(MemoryRegisters)},
			doc:    "How arrays are built: auto leaves it to the generator and the tools, ram asks for RAM, registers for flip-flops.",
			reason: because("these are the ways to build an array"),
			get:    func(p *Params) string { return scalar(string(p.Memory)) },
			setStr: func(p *Params, v string) { p.Memory = Memory(v) },
		},
		{
			key: "technology", kind: kindString, def: string(FPGA), words: []string{string(FPGA), string(ASIC)},
			doc:    "What the engine is meant to be built in: fpga for programmable logic, asic for standard cells of a 28 nm class.",
			reason: because("the adders' depth is known for these"),
			get:    func(p *Params) string { return scalar(string(p.Technology)) },
			setStr: func(p *Params, v string) { p.Technology = Technology(v) },
		},
		integer(func(p *Params) *int { return &p.AdderStages }, field{
			key: "adder_stages", def: "0", lo: 0, hi: maxStages,
			doc:    "Pipeline stages of an adder, 1 to 6; 0 takes the fewest that technology and clock_mhz need.",
			reason: because("a floating-point addition has 6 steps that a register can part; 0 leaves the choice to clock_mhz"),
		}),
		integer(func(p *Params) *int { return &p.DecisionStages }, field{
			key: "decision_stages", def: "0", lo: 0, hi: mostDecisionStages, quiet: true,
			doc: "Register stages from what a frame's header finds to its work for the adders, in Mode II: 4, or 5, where the work waits in a register of its own; a " +
				"stage more in Modes III and I. 0 takes 4 where technology, bus_bytes and clock_mhz leave the time, else 5.",
			reason: because("the decision has 4 steps, and its work may wait in a register more; 0 leaves the choice to technology, bus_bytes and clock_mhz"),
		}),
		{
			key: "ecc", kind: kindSwitch, def: "false", words: []string{"false", "true", eccAll},
			doc: "Which memories have check bits: single errors are corrected, double errors never leave in a frame that passes its ICRC. true: the payload memory; " +
				"all: tables, slot state, queues and the ring of frames too (docs/memories.md).",
			get: func(p *Params) string {
				if p.ECCAll {
					return eccAll
				}
				return strconv.FormatBool(p.ECC)
			},
			setBool: func(p *Params, v bool) { p.ECC, p.ECCAll = v, false },
			setStr:  func(p *Params, _ string) { p.ECC, p.ECCAll = true, true },
		},
		integer(func(p *Params) *int { return &p.PayloadBanks }, field{
			key: "payload_banks", def: "1", lo: 1, hi: maxBanks, pow2: true,
			doc:    "1 builds the payload memory with a read and a write port, more build that many memories of one port each, rows interleaved.",
			reason: because("the lowest bits of a row's address choose the bank"),
		}),
		{
			key: "in_band", kind: kindBool, def: "true",
			doc: "Whether the ranks of a group may choose its collective, operation, type and root while it runs, by control messages among their " +
				"packets. Without, each group is fixed to one collective by its registers.",
			get:     func(p *Params) string { return strconv.FormatBool(p.InBand) },
			setBool: func(p *Params, v bool) { p.InBand = v },
		},
		{
			key: "park", kind: kindBool, def: "false", quiet: true,
			doc:     "Whether groups can be parked: give up their slots and get others later, while their queue pairs live (docs/parking.md).",
			get:     func(p *Params) string { return strconv.FormatBool(p.Park) },
			setBool: func(p *Params, v bool) { p.Park = v },
		},
		{
			key: "eager_tree", kind: kindBool, def: "false", quiet: true,
			doc: "With accumulate: reproducible, in Modes II and III: whether siblings of the tree are merged as soon as both are complete, while nothing else is added, so that " +
				"the last contribution waits for one addition a level. Without, the tree is reduced when a slot is complete. Sums are the same.",
			get:     func(p *Params) string { return strconv.FormatBool(p.EagerTree) },
			setBool: func(p *Params, v bool) { p.EagerTree = v },
		},
		integer(func(p *Params) *int { return &p.PortBytes }, field{
			key: "port_bytes", def: "0", quiet: true, lo: 0, hi: maxBusBytes, pow2: true,
			doc: "Width of a port of the switch in bytes a beat, up to bus_bytes, with a queue of whole frames in either direction (docs/ports.md). 0: ports as " +
				"wide as the bus, without queues.",
			allowed: fmt.Sprintf("0, or a power of two from 1 to %d", maxBusBytes),
			reason:  because("a beat of the bus is a whole number of beats of a port"),
		}),
		{
			key: "port_widths", kind: kindNumbers, def: "[]", quiet: true, lo: 1, hi: maxBusBytes,
			doc:     "Widths of the ports in bytes a beat, one a port, where they are not all port_bytes, which is then the widest that there may be.",
			allowed: fmt.Sprintf("powers of two from 1 to %d", maxBusBytes),
			reason:  because("a beat of the bus is a whole number of beats of a port"),
			get:     func(p *Params) string { return numbers(p.PortWidths) },
			setNums: func(p *Params, v []float64) { p.PortWidths = v },
		},
		{
			key: "port_drop", kind: kindBool, def: "false", quiet: true,
			doc: "Whether a port's queue without room drops a frame and counts it, as a MAC needs that cannot wait. Without, it keeps the sender or the engine " +
				"waiting.",
			get:     func(p *Params) string { return strconv.FormatBool(p.PortDrop) },
			setBool: func(p *Params, v bool) { p.PortDrop = v },
		},
		{
			key: "port_cut_through", kind: kindBool, def: "false", quiet: true,
			doc: "With port_bytes: whether a port begins to send a frame before it is whole, as soon as it can no longer run dry. Widths and clocks must allow that " +
				"(docs/ports.md).",
			get:     func(p *Params) string { return strconv.FormatBool(p.PortCutThrough) },
			setBool: func(p *Params, v bool) { p.PortCutThrough = v },
		},
		{
			key: "port_clock_mhz", kind: kindNumbers, def: "[]", quiet: true, lo: 1, hi: maxClockMHz,
			doc: "Clocks of the ports in MHz, if they are not that of the engine: one for all ports, or one a port. The queues of a port are then where clocks " +
				"meet (docs/ports.md).",
			allowed: fmt.Sprintf("numbers from 1 to %d", maxClockMHz),
			reason:  because("constraints and reports are made for clocks in this range"),
			get:     func(p *Params) string { return numbers(p.PortClockMHz) },
			setNums: func(p *Params, v []float64) { p.PortClockMHz = v },
		},
		{
			key: "vlan", kind: kindBool, def: "false", quiet: true,
			doc: "Whether frames may have an 802.1Q tag: an endpoint's record then says which one its frames have, or none (docs/vlan.md). Without, a frame " +
				"with a tag is not the engine's and is bypassed.",
			get:     func(p *Params) string { return strconv.FormatBool(p.VLAN) },
			setBool: func(p *Params, v bool) { p.VLAN = v },
		},
		integer(func(p *Params) *int { return &p.Priorities }, field{
			key: "priorities", def: "1", quiet: true, lo: 1, hi: contract.MaxPriorities, pow2: true,
			doc: "Queues that a port has on the way out, one a priority, with port_bytes: a table of registers gives a frame its priority by DSCP or " +
				"PCP, and each is paused by itself (docs/ports.md).",
			reason: because("a priority's number is up to three bits of a table's word"),
		}),
		{
			key: "interrupts", kind: kindBool, def: "false", quiet: true,
			doc:     "Whether both tops have an interrupt line, with registers of what happened and what of it raises the line (docs/interrupts.md).",
			get:     func(p *Params) string { return strconv.FormatBool(p.Interrupts) },
			setBool: func(p *Params, v bool) { p.Interrupts = v },
		},
		integer(func(p *Params) *int { return &p.MemoryPins }, field{
			key: "memory_pins", def: "0", quiet: true, lo: 0, hi: contract.MaxMemoryPins,
			doc:    "Input pins that every memory has beside its own, for tests and power, led through from mem_pins of both tops (docs/memories.md). 0: none.",
			reason: because("all memories share them, so they are settings and a test's bus, not data"),
		}),
		integer(func(p *Params) *int { return &p.Engines }, field{
			key: "engines", def: "1", quiet: true, lo: 1, hi: contract.MaxEngines,
			doc:    "How many engines the switch has, each of which has what the other keys say (docs/engines.md). With several, groups is a power of two.",
			reason: because("three bits of a queue pair number name the engine"),
		}),
	}
}

// in tells whether parameters of the mode have the key.
func (f field) in(mode int) bool { return len(f.modes) == 0 || slices.Contains(f.modes, mode) }

// only says which modes have the key.
func (f field) only() string {
	if len(f.modes) == 1 {
		return fmt.Sprintf("only mode %d has it", f.modes[0])
	}
	return fmt.Sprintf("only modes %d and %d have it", f.modes[0], f.modes[1])
}

// must returns the words for the legal values.
func (f field) must() string {
	switch {
	case f.allowed != "":
		return f.allowed
	case f.kind == kindList:
		return "a list of one or more of " + strings.Join(f.words, ", ")
	case len(f.words) > 0:
		return or(f.words)
	case f.kind != kindInt:
		return f.kind.String()
	case f.lo == f.hi:
		return strconv.Itoa(f.lo)
	case f.pow2:
		return fmt.Sprintf("a power of two from %d to %d", f.lo, f.hi)
	default:
		return fmt.Sprintf("from %d to %d", f.lo, f.hi)
	}
}

// accepts tells whether p's value of this key is legal by itself.
func (f field) accepts(p *Params) bool {
	switch v := f.get(p); f.key {
	case "dtypes":
		return subset(words(p.DTypes), f.words)
	case "ops":
		return subset(words(p.Ops), f.words)
	case "name":
		return nameProblem(p.Name) == ""
	case "port_widths":
		return !slices.ContainsFunc(p.PortWidths, func(v float64) bool {
			return !(v >= float64(f.lo) && v <= float64(f.hi)) || math.Exp2(math.Round(math.Log2(v))) != v
		})
	case "port_clock_mhz":
		return !slices.ContainsFunc(p.PortClockMHz, func(mhz float64) bool { return !(mhz >= float64(f.lo) && mhz <= float64(f.hi)) })
	default:
		if f.kind == kindInt {
			n, err := strconv.Atoi(v)
			return err == nil && n >= f.lo && n <= f.hi && (!f.pow2 || n&(n-1) == 0)
		}
		return f.kind == kindBool || slices.Contains(f.words, v)
	}
}

// nameProblem returns why a name is refused, or "".
func nameProblem(name string) string {
	switch {
	case len(name) > maxNameLen:
		return "file and symbol names grow from it"
	case !regexp.MustCompile(namePattern).MatchString(name):
		return "it becomes part of module, file and symbol names"
	case slices.Contains(keywords(), name):
		return "this is a keyword of Verilog or SystemVerilog"
	case name == "inc" || strings.HasPrefix(name, "inc_"):
		return "names beginning with inc_ belong to the module library"
	default:
		return ""
	}
}

// nameReason is nameProblem of a value as YAML prints it.
func nameReason(v string) string { return nameProblem(strings.Trim(v, `"`)) }

// or joins words as prose does.
func or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// words turns names of type T into strings.
func words[T ~string](v []T) []string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = string(x)
	}
	return out
}

// subset tells that v is one or more of all, each once and in the order of all.
func subset(v, all []string) bool {
	last := -1
	for _, x := range v {
		i := slices.Index(all, x)
		if i <= last {
			return false
		}
		last = i
	}
	return last >= 0
}

// ordered turns strings into names of type T, in the order of all. A list with a name that is not of all stays as it was
// written, for the message that refuses it.
func ordered[T ~string](v, all []string) []T {
	out := make([]T, len(v))
	for i, s := range v {
		out[i] = T(s)
	}
	if !slices.ContainsFunc(v, func(s string) bool { return !slices.Contains(all, s) }) {
		slices.SortStableFunc(out, func(a, b T) int { return slices.Index(all, string(a)) - slices.Index(all, string(b)) })
	}
	return out
}

// entries splits a list as YAML prints it.
func entries(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("[], ", r) })
}

// listReason makes the reason of a list of names out of all.
func listReason(all []string, empty string) func(string) string {
	return func(v string) string {
		names := entries(v)
		if len(names) == 0 {
			return empty
		}
		for i, n := range names {
			switch {
			case !slices.Contains(all, n):
				return "there is no " + n
			case slices.Contains(names[:i], n):
				return n + " is there twice"
			}
		}
		return "they are kept in the order of their codes"
	}
}

// hint returns a word that may have been meant by the refused value v.
func (f field) hint(v string) string {
	if f.kind == kindList {
		for _, n := range entries(v) {
			if !slices.Contains(f.words, n) {
				return nearest(n, f.words)
			}
		}
		return ""
	}
	return nearest(v, f.words)
}
