// SPDX-License-Identifier: Apache-2.0

package contract

import "strings"

// MaxMemoryPins is how many further pins a memory may have.
const MaxMemoryPins = 256

// MemoryPort is the input of both tops that leads to the further pins of all memories.
const MemoryPort = "mem_pins"

// MemoryBase is where an engine's page of its protected memories is, of 64 bytes.
const MemoryBase = 0x2A00

// PortMemoryBase is where the counters of the ports' queues are, in the switch's own registers: those of corrected words, a word a port, and PortStride
// behind them those of lost ones.
const PortMemoryBase = 0x4A00

// The words of that page: STATUS, CLEAR, and from these on one a kind of memory.
const (
	correctedWord = 4
	lostWord      = 10
)

// MemoryKind is a kind of memories of an engine whose errors are counted together.
type MemoryKind struct {
	Name string
	Doc  string
	// Halts tells that an engine which lost a word of it stops.
	Halts bool
}

// MemoryKinds are the kinds that ecc: all protects beside the payload memory, by number.
func MemoryKinds() []MemoryKind {
	return []MemoryKind{
		{Name: "tables", Doc: "the tables of endpoints and groups that frames are looked up by and headers made of", Halts: true},
		{Name: "state", Doc: "the state of groups, endpoints and slots", Halts: true},
		{Name: "packets", Doc: "the ring of frames that came in"},
		{Name: "replay", Doc: "the queue of results that are sent to several endpoints"},
	}
}

// PortMemories are the memories of the ports' queues, which ecc: all protects too. They belong to no engine, and stop none.
func PortMemories() MemoryKind {
	return MemoryKind{Name: "ports", Doc: "the queues of the ports, on either side"}
}

// Unprotected is the block whose memories have no check bits: the registers' read-back copy and the counters, which no frame is made of.
const Unprotected = "inc_csr"

// MemoryKindOf is the kind of the memories in a block, by the name of its instance in the core, or in the switch top.
func MemoryKindOf(instance string) string {
	switch {
	case strings.HasPrefix(instance, "u_rx_p") || strings.HasPrefix(instance, "u_tx_p"):
		return PortMemories().Name
	case instance == "u_lookup" || instance == "u_translate" || strings.HasPrefix(instance, "u_vlan"):
		return "tables"
	case instance == "u_packets":
		return "packets"
	case instance == "u_replicate":
		return "replay"
	default:
		return "state"
	}
}

// CorrectedRegister names the counter of a kind's words that were corrected.
func (k MemoryKind) CorrectedRegister() string {
	return "ECC_" + strings.ToUpper(k.Name) + "_CORRECTED"
}

// LostRegister names the counter of a kind's words that could not be corrected.
func (k MemoryKind) LostRegister() string { return "ECC_" + strings.ToUpper(k.Name) + "_LOST" }

// memories adds the registers of protected memories.
func (b *builder) memories() {
	if !b.p.ECCAll {
		return
	}
	single := Register{Count: 1, Stride: 4}
	status, clear := single, single
	status.Name, status.Offset, status.Access, status.Volatile = "ECC_STATUS", MemoryBase, RO, true
	status.Doc = "What was lost of the memories' words since ECC_CLEAR."
	status.Fields = []Field{{Name: "halted", LSB: 0, Width: 1, Doc: "The engine stopped: no group is live, and nothing that it makes leaves."}}
	clear.Name, clear.Offset, clear.Access = "ECC_CLEAR", MemoryBase+4, RW
	clear.Doc = "Clears ECC_STATUS, tables and state."
	clear.Fields = []Field{{Name: "clear", LSB: 0, Width: 1, SelfClearing: true, Doc: "Written 1 while no group is enabled: once nothing is inside, clear ECC_STATUS and all tables and state, which read 0 then as after reset; the engine goes on."}}
	var counters []Register
	for i, k := range MemoryKinds() {
		status.Fields = append(status.Fields, Field{Name: k.Name, LSB: 8 + i, Width: 1, Doc: "A word was lost of " + k.Doc + "."})
		corrected, lost := single, single
		corrected.Name, corrected.Offset, corrected.Access, corrected.Volatile = k.CorrectedRegister(), MemoryBase+4*(correctedWord+uint32(i)), RO, true
		corrected.Doc = "Reads in which a wrong bit was corrected, of " + k.Doc + "."
		corrected.Fields = []Field{{Name: "count", Width: 32, Doc: "Reads since reset, modulo 2^32."}}
		lost.Name, lost.Offset, lost.Access, lost.Volatile = k.LostRegister(), MemoryBase+4*(lostWord+uint32(i)), RO, true
		lost.Doc = "Reads in which more bits were wrong than can be corrected, of " + k.Doc + "."
		lost.Fields = []Field{{Name: "count", Width: 32, Doc: "Reads since reset, modulo 2^32."}}
		counters = append(counters, corrected, lost)
	}
	b.add(status)
	b.add(clear)
	for _, r := range counters {
		b.add(r)
	}
	b.portMemories()
}

// portMemories adds the counters of the ports' queues.
func (b *builder) portMemories() {
	if b.p.PortBytes == 0 {
		return
	}
	k := PortMemories()
	one := Register{Count: b.p.Ports, Stride: 4, Access: RO, Volatile: true, Index: "port", Top: TopSwitch,
		Fields: []Field{{Name: "count", Width: 32, Doc: "Reads since reset, modulo 2^32."}}}
	corrected, lost := one, one
	corrected.Name, corrected.Offset, corrected.Doc = k.CorrectedRegister(), PortMemoryBase, "Reads in which a wrong bit was corrected, of "+k.Doc+"."
	lost.Name, lost.Offset, lost.Doc = k.LostRegister(), PortMemoryBase+PortStride, "Reads in which more bits were wrong than can be corrected, of "+k.Doc+"."
	b.add(corrected)
	b.add(lost)
}
