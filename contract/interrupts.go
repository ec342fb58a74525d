// SPDX-License-Identifier: Apache-2.0

package contract

import "slices"

// The interrupts' pages of 16 bytes: an engine's, and that of the ports' queues in the switch top. The words are CAUSE, ENABLE and CLEAR.
const (
	InterruptBase     = 0x2800
	PortInterruptBase = 0x4800
)

// Cause is a bit of IRQ_CAUSE or PORT_IRQ_CAUSE: something that software may want to be called for.
type Cause struct {
	Name string
	Doc  string
	// Counters are those whose step is the event. None: the event is no counter's.
	Counters []string
	// Pipes tells that only engines of Modes III and I have the cause.
	Pipes bool
}

// Causes whose event is no counter's.
const (
	CauseRefused = "group_refused"
	CauseFailed  = "endpoint_failed"
)

// causes are those of an engine, by bit.
func causes() []Cause {
	return []Cause{
		{Name: "ecc_corrected", Doc: "A single error of the payload memory was corrected.", Counters: []string{"ECC_CORRECTED"}},
		{Name: "ecc_double", Doc: "A double error of the payload memory was read.", Counters: []string{"ECC_DOUBLE"}},
		{Name: CauseRefused, Doc: "A group's start was refused, or its unparking because of slots of another: GROUP_STATUS says which group, and why."},
		{Name: "damaged", Doc: "A frame was dropped as damaged: by the MAC's word, checksum, length or ICRC.",
			Counters: []string{"DROP_RX_ERROR", "DROP_IP_CHECKSUM", "DROP_LENGTH_MISMATCH", "DROP_ICRC"}},
		{Name: "foreign", Doc: "A frame was dropped that names a queue pair and is not of its other end: address, port, P_Key, tag.",
			Counters: []string{"DROP_FOREIGN", "DROP_VLAN"}},
		{Name: "illegal", Doc: "A packet was dropped or refused that breaks the protocol.",
			Counters: []string{"DROP_TVER", "DROP_OPCODE", "DROP_TOO_LONG", "DROP_BAD_LENGTH", "DROP_WRONG_ROLE", "DROP_SYNDROME", "DROP_SHAPE", "DROP_BAD_CONTROL",
				"DROP_CONTROL", "TX_INVALID"}},
		{Name: "overrun", Doc: "A sender overran its window.", Counters: []string{"DROP_WINDOW", "DROP_FULL"}},
		{Name: "timeout", Doc: "An endpoint did not acknowledge in time.", Counters: []string{"TIMEOUT"}, Pipes: true},
		{Name: CauseFailed, Doc: "An endpoint ended its connection: GROUP_FAILED says which.", Pipes: true},
	}
}

// Causes are the bits of IRQ_CAUSE from bit 0, each with the counters that the engine has.
func (p Params) Causes() []Cause {
	var out []Cause
	names := p.CounterNames()
	for _, c := range causes() {
		if c.Pipes && !p.Pipes() {
			continue
		}
		c.Counters = slices.DeleteFunc(c.Counters, func(name string) bool { return !slices.Contains(names, name) })
		out = append(out, c)
	}
	return out
}

// PortCauses are the bits of PORT_IRQ_CAUSE from bit 0: one for each kind of frame that a port's queue dropped, and, with check bits on the queues' memories, for their errors.
func (p Params) PortCauses() []Cause {
	all := portCauses()
	if !p.ECCAll {
		return all[:len(all)-2]
	}
	return all
}

// portCauses are those of ports whose queues have check bits, the memories' last.
func portCauses() []Cause {
	var out []Cause
	for _, c := range []struct{ name, doc, counter string }{
		{"rx_error", "A port dropped a frame that the MAC marked bad.", "PORT_RX_ERROR"},
		{"rx_long", "A port dropped a frame that is longer than its queue takes.", "PORT_RX_LONG"},
		{"rx_hung", "A port gave up a frame that stood still.", "PORT_RX_HUNG"},
		{"rx_full", "A port's queue on the way in had no room.", "PORT_RX_FULL"},
		{"tx_full", "A port's queue on the way out had no room.", "PORT_TX_FULL"},
		{"ecc_corrected", "A single error of the memory of a port's queue was corrected; with `ecc: all`.", PortMemories().CorrectedRegister()},
		{"ecc_lost", "A word of the memory of a port's queue was lost; with `ecc: all`.", PortMemories().LostRegister()},
	} {
		out = append(out, Cause{Name: c.name, Doc: c.doc, Counters: []string{c.counter}})
	}
	return out
}

// interrupts adds the registers of the interrupt line.
func (b *builder) interrupts() {
	if !b.p.Interrupts {
		return
	}
	b.interruptPage("IRQ", "", InterruptBase, b.p.Causes(), "what happened in the engine")
	if b.p.PortBytes > 0 {
		b.interruptPage("PORT_IRQ", TopSwitch, PortInterruptBase, b.p.PortCauses(), "what the ports' queues dropped or lost; their counters say at which port")
	}
}

func (b *builder) interruptPage(name, top string, at uint32, causes []Cause, what string) {
	fields := func(doc func(Cause) string, clears bool) (out []Field) {
		for i, c := range causes {
			out = append(out, Field{Name: c.Name, LSB: i, Width: 1, SelfClearing: clears, Doc: doc(c)})
		}
		return out
	}
	single := Register{Count: 1, Stride: 4, Top: top}
	cause, enable, clear := single, single, single
	cause.Name, cause.Offset, cause.Access, cause.Volatile = name+"_CAUSE", at, RO, true
	cause.Doc, cause.Fields = "Since they were cleared: "+what+".", fields(func(c Cause) string { return c.Doc }, false)
	enable.Name, enable.Offset, enable.Access = name+"_ENABLE", at+4, RW
	enable.Doc, enable.Fields = "Which causes of "+name+"_CAUSE raise the interrupt line.", fields(func(c Cause) string { return "The line is high while " + c.Name + " is set." }, false)
	clear.Name, clear.Offset, clear.Access = name+"_CLEAR", at+8, RW
	clear.Doc, clear.Fields = "Clears causes of "+name+"_CAUSE.", fields(func(c Cause) string { return "Written 1: clear " + c.Name + "." }, true)
	b.add(cause)
	b.add(enable)
	b.add(clear)
}
