// SPDX-License-Identifier: Apache-2.0

// Package dut is what a scenario knows of an engine: frames go in at ports and times, frames come out of ports with times,
// there are registers, and the engine tells in which order it accepted frames. The Verilated RTL, the synthesised netlist and
// the reference engine all are one.
//
// Times are clock cycles since the engine was made. Nothing happens between two calls of StepTo; what a call did is
// collected with Accepted and Out. A DUT is used by one goroutine.
package dut

import (
	"errors"
	"math"
)

// Frame is an Ethernet frame without FCS, offered to a port.
type Frame struct {
	// Data is the frame. It belongs to the DUT from Offer on.
	Data []byte
	// Err sets tuser's error bit on the last beat: whoever received the frame found it damaged.
	Err bool
	// At is the first cycle in which the frame may begin. A cycle that has passed means at once.
	At uint64

	port  int    // where it was offered
	first uint64 // when it went in
}

// Accepted tells that the engine took a frame. The order of these is the order in which the engine handled the frames.
type Accepted struct {
	Port int
	// First is the cycle in which the first beat went in at the port, At that in which the last beat entered the core.
	First, At uint64
	Data      []byte
	Err       bool
}

// Out is a frame that left.
type Out struct {
	Port int
	// First and Last are the cycles of its first and last beat.
	First, Last uint64
	Data        []byte
	Err         bool
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

// ErrRefused means that the register bus answered an access with SLVERR, and that nothing else came of it.
var ErrRefused = errors.New("the engine refused the access")

// Never is a cycle that does not come.
const Never = math.MaxUint64

// DUT is an engine under test.
type DUT interface {
	// Ports is the number of ports.
	Ports() int
	// Now is the current cycle.
	Now() uint64
	// Offer queues a frame at a port. Frames of a port go in in the order of Offer.
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
	Accepted() []Accepted
	// Acts returns, once, what a Mode III engine decided since the last call, in that order; Mode II engines tell nothing.
	Acts() []Act
	// Timers returns the first cycle in which the engine may act by itself if no frame comes before, Never if it does not. ok is
	// false if its timers count its own clock, which nobody can see and SkipTo does not move.
	Timers() (next uint64, ok bool)
	// Out returns, once, what left since the last call, ordered by Last, then port.
	Out() []Out
	// Read and Write use the register bus; time passes meanwhile. An access that the engine refuses is ErrRefused.
	Read(addr uint32) (uint32, error)
	Write(addr, value uint32) error
	// WriteStrobes is Write of the bytes whose bit is set in strobes, one bit a byte, the lowest first.
	WriteStrobes(addr, value uint32, strobes uint8) error
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
