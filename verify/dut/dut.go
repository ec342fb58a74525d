// SPDX-License-Identifier: Apache-2.0

// Package dut defines the interface through which scenarios use an engine: frames enter ports at given cycles and
// leave ports at reported cycles, registers are read and written, and the engine reports the order in which it
// accepted frames. Verilated RTL, a synthesised netlist and the reference engine implement it.
//
// Times are clock cycles since the engine was made. Time passes only during StepTo, SkipTo, Reset and register
// accesses; Accepted, Acts and Out collect what happened meanwhile. A DUT must be used by one goroutine at a time.
package dut

import (
	"errors"
	"iter"
	"math"

	"incforge/roce"
	"incforge/verify/ctrl"
)

// Frame is an Ethernet frame without FCS at a port of an engine: offered to it, accepted by it, or sent by it.
type Frame struct {
	Port int
	// First and Last are cycles. For a frame that left they are those of its first and last beat. For an accepted
	// frame they are the cycle in which its first beat entered the port and the cycle in which its last beat entered
	// the core. For an offered frame, First is the first cycle in which it may begin; one in the past means as soon
	// as possible.
	First, Last uint64
	// Data is the frame. It belongs to the DUT from Offer on.
	Data []byte
	// Err is tuser's error bit on the last beat: the MAC that received the frame found it damaged.
	Err bool

	packet *roce.Packet
	bad    error
}

// Packet is the decoded frame, which must not be changed. It is decoded once; later copies of the frame share it.
func (f *Frame) Packet() (*roce.Packet, error) {
	if f.packet == nil && f.bad == nil {
		p, err := roce.Decode(f.Data)
		f.packet, f.bad = &p, err
	}
	return f.packet, f.bad
}

// Pauses makes interfaces pause at random, each with its own seeded generator. The zero value never pauses.
type Pauses struct {
	// Seed makes the pattern repeatable.
	Seed uint64
	// Probabilities per cycle, 0 to 1: In that a source begins a pause between beats, Ready that a sink withdraws
	// tready, Registers that the register bus pauses.
	In, Ready, Registers float64
	// Burst is the longest pause in cycles; 0 means 1.
	Burst int
}

// Act is a frame decided or an action taken by an engine of Mode III or I, with the cycle in which it took effect
// (docs/pipes.md section 7).
type Act struct {
	At uint64
	// Kind is ActFrame, ActPoisoned or the value of an inc.ActionKind.
	Kind uint8
	// EI is the endpoint's table index; for a send, group·EPS + pipe; for a frame, its endpoint's, or any of the engine that decided it if it is no
	// endpoint's.
	EI int
}

// ActFrame is the kind of an Act that decided a frame: the oldest accepted frame that was not decided yet.
const ActFrame = 0

// ActPoisoned is the kind of an Act by which a Mode I engine says that a double error of its payload memory ends what a group sends.
const ActPoisoned = 5

// Access is a read of a register, or a write of all its bytes.
type Access struct {
	Addr  uint32
	Write bool
	Value uint32
}

// Answer is what an access got: the value that a read gave, and whether the engine refused it.
type Answer struct {
	Value   uint32
	Refused bool
}

// ErrRefused means that the register bus answered an access with SLVERR and that the access had no effect.
var ErrRefused = errors.New("the engine refused the access")

// Never is later than any cycle.
const Never = math.MaxUint64

// Trouble is what may be wrong at a port with queues.
type Trouble int

const (
	// Sound ends all trouble.
	Sound Trouble = iota
	// Hangs: the next frame in stops behind its second beat.
	Hangs
	// StandsStill: the port's own clock has no edges.
	StandsStill
)

// DUT is an engine under test.
type DUT interface {
	// Now is the current cycle.
	Now() uint64
	// Offer queues a frame at a port; the frame's own Port is ignored. Frames of a port enter in the order of Offer.
	Offer(port int, f Frame)
	// StepTo runs until Now is at least cycle. An error means that the engine or a protocol checker failed; no further
	// call will do anything useful.
	StepTo(cycle uint64) error
	// SkipTo advances Now without running the engine, which must be idle.
	SkipTo(cycle uint64)
	// Still is the number of cycles since a frame was offered or a beat moved at any port; 0 while a frame waits to
	// enter or leave.
	Still() uint64
	// Waiting is the number of offered frames that were neither accepted nor dropped by a port. Queued are they, with their ports.
	Waiting() int
	Queued() iter.Seq[Frame]
	// Accepted returns the frames accepted since the last call, in the order in which the engine handled them.
	Accepted() []Frame
	// Acts returns, in order, what an engine of Mode III or I decided since the last call. In the cycle in which a write is answered it
	// leaves out what was decided after the write took effect; the next cycle has it. Engines of Mode II report nothing.
	Acts() []Act
	// Timers returns the first cycle in which a timer makes the engine act if no frame comes before; Never if none
	// runs or ok is false: that cycle is unknown, because the timers count the model's own clock, which SkipTo does
	// not advance.
	Timers() (next uint64, ok bool)
	// Out returns the frames that left since the last call, ordered by Last, then port.
	Out() []Frame
	// Read and Write use the register bus; time passes meanwhile. The error is ErrRefused if the engine refuses the
	// access. Write writes only the bytes whose bit is set in strobes; bit 0 is for the lowest byte.
	ctrl.Bus
	// Together has several accesses under way at once: reads one after the other, writes one after the other, and the two kinds beside each other, so that
	// a read sees what any number of the writes has done, though no fewer than the read before. Every address is offered before the access ahead of it is
	// answered. It returns their answers in the order of the accesses.
	Together(accesses []Access) ([]Answer, error)
	// SetPauses changes the random pauses of all interfaces.
	SetPauses(p Pauses)
	// Reset asserts reset for some cycles. Frames inside are lost; frames waiting to enter may be lost or stay queued.
	Reset() error
	// ResetIn resets so many cycles into an access to a register. One that was not answered by then is begun once more, and again is true; nobody looks
	// at what a read gives.
	ResetIn(a Access, cycles uint64) (again bool, err error)
	// Spotless is true for an engine whose payload memory cannot have errors. Register ECC_INJECT then does nothing,
	// even if the configuration has ecc.
	Spotless() bool
	// TakesErrors is true if a frame offered with Err reaches the engine. Behind ports with queues it does not: it is dropped there, and
	// never Accepted.
	TakesErrors() bool
	// Trouble has something be wrong with what is at a port from now on, and false if that cannot be with this engine.
	Trouble(port int, what Trouble) bool
	// Interrupt tells whether the interrupt line is high; false if there is none.
	Interrupt() bool
	// Pause has a port begin no frame of the priorities whose bits are set, until it is called again; false if a port cannot pause.
	Pause(port int, priorities uint32) bool
	// Close frees the model and returns any error that its checkers still report.
	Close() error
}
