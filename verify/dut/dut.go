// SPDX-License-Identifier: Apache-2.0

// Package dut is what a scenario knows of an engine: frames go in at ports and times, frames come out of ports with times,
// there are registers, and the engine tells in which order it accepted frames. The Verilated RTL, the synthesised netlist and
// the reference engine all are one.
//
// Times are clock cycles since the engine was made. Nothing happens between two calls of StepTo; what a call did is
// collected with Accepted and Out. A DUT is used by one goroutine.
package dut

import (
	"math"

	"incforge/roce"
)

// Frame is an Ethernet frame without FCS at a port of an engine: offered to it, accepted by it, or sent by it.
type Frame struct {
	Port int
	// First and Last are cycles. Of a frame that left: its first and last beat. Of an accepted one: its first beat at the port, and the one in
	// which its last beat entered the core. Of one that is offered, First is the earliest at which it may begin: one that has passed means at once.
	First, Last uint64
	// Data is the frame. It belongs to the DUT from Offer on.
	Data []byte
	// Err is tuser's error bit on the last beat: whoever received the frame found it damaged.
	Err bool

	packet *roce.Packet
	bad    error
}

// Packet is the frame decoded; the work is done once, and copies of the frame made from then on have it too. Nobody may change it.
func (f *Frame) Packet() (*roce.Packet, error) {
	if f.packet == nil && f.bad == nil {
		p, err := roce.Decode(f.Data)
		f.packet, f.bad = &p, err
	}
	return f.packet, f.bad
}

// Pauses makes interfaces hesitate, each by its own seeded coin. The zero value never hesitates.
type Pauses struct {
	// Seed makes the pattern repeatable.
	Seed uint64
	// In is the probability, a cycle, that a source begins a pause between beats; Ready that a sink withdraws tready;
	// Registers that the register bus hesitates. 0 to 1.
	In, Ready, Registers float64
	// Burst is the longest pause in cycles; 0 means 1.
	Burst int
}

// Act is something that a Mode III engine decided, in the cycle in which it took effect (docs/pipes.md section 7).
type Act struct {
	At uint64
	// Kind is ActFrame or the value of an inc.ActionKind.
	Kind uint8
	// EI is the endpoint's table index, for a send group·EPS + pipe. It means nothing for a frame.
	EI int
}

// ActFrame is the kind of an Act that decided a frame: the next of those that were accepted.
const ActFrame = 0

// Never is a cycle that does not come.
const Never = math.MaxUint64

// DUT is an engine under test.
type DUT interface {
	// Ports is the number of ports.
	Ports() int
	// Now is the current cycle.
	Now() uint64
	// Offer queues a frame at a port, whatever its Port says. Frames of a port go in in the order of Offer.
	Offer(port int, f Frame)
	// StepTo runs until Now is at least cycle. An error means that the engine or a protocol checker failed; no further
	// call will do anything useful.
	StepTo(cycle uint64) error
	// SkipTo sets Now forward without running; for engines that are idle.
	SkipTo(cycle uint64)
	// Still is the number of cycles since a frame was offered or a beat moved at any port; 0 while a frame waits to go in
	// or out.
	Still() uint64
	// Waiting is the number of offered frames not yet accepted.
	Waiting() int
	// Accepted returns, once, what was accepted since the last call.
	Accepted() []Frame
	// Acts returns, once, what a Mode III engine decided since the last call, in that order; Mode II engines tell nothing.
	Acts() []Act
	// Timers returns the first cycle in which the engine may act by itself if no frame comes before, Never if it does not. ok is
	// false if its timers count its own clock, which nobody can see and SkipTo does not move.
	Timers() (next uint64, ok bool)
	// Out returns, once, what left since the last call, ordered by Last, then port.
	Out() []Frame
	// Read and Write use the register bus; time passes meanwhile. A bus error is an error.
	Read(addr uint32) (uint32, error)
	Write(addr, value uint32) error
	// SetPauses changes the hesitation of all interfaces.
	SetPauses(p Pauses)
	// Reset holds the reset for some cycles. Frames inside are lost; frames waiting to go in may be lost or stay.
	Reset() error
	// Spotless is true for an engine whose payload memory cannot err: there register ECC_INJECT does nothing, whatever the parameters
	// say of ecc.
	Spotless() bool
	// Close frees the model and returns what its checkers found last.
	Close() error
}
