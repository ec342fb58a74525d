// SPDX-License-Identifier: Apache-2.0

// Package pace keeps an engine's time and the hosts' together: its clock, and the waits that RNR NAKs ask for.
package pace

import (
	"math"
	"time"

	"incforge/roce"
)

// Clock paces an engine's cycles by the hosts' time. While the engine works it runs as fast as it can and the hosts' time does not count;
// while it rests, its clock goes as the hosts', scaled. So a timer of the engine never runs faster than the hosts see it run, however
// slow the model is.
type Clock struct {
	perNano float64 // cycles in a nanosecond of the hosts
	last    time.Time
	step    float64
	credit  float64 // cycles that the hosts' time has allowed and that have not been run
}

// most is how much of the hosts' time may be made up for at once while timers run in a model.
const most = 100 * time.Millisecond

// New makes a clock of so many cycles in a microsecond of the engine, of which scale pass in one of the hosts. An engine runs at least step cycles at once.
func New(perMicrosecond uint64, scale float64, step uint64) Clock {
	return Clock{step: float64(step), perNano: float64(perMicrosecond) * scale / 1000, last: time.Now()}
}

// Rest lets the hosts' time count.
func (c *Clock) Rest(now time.Time) {
	c.credit += float64(now.Sub(c.last)) * c.perNano
	c.last = now
}

// Work forgets the time since the last look.
func (c *Clock) Work(now time.Time) { c.last, c.credit = now, 0 }

// Spend takes cycles from what is allowed.
func (c *Clock) Spend(cycles uint64) { c.credit -= float64(cycles) }

// Bound keeps the credit to what may be made up for.
func (c *Clock) Bound() { c.credit = min(c.credit, max(float64(most)*c.perNano, c.step)) }

// Until is how long it takes until so many cycles are allowed.
func (c *Clock) Until(cycles uint64) time.Duration {
	return time.Duration(min(max(float64(cycles)-c.credit, 0)/c.perNano+1, math.MaxInt64/2))
}

// Allowed is the number of whole cycles that may be run.
func (c *Clock) Allowed() uint64 { return uint64(max(c.credit, 0)) }

// Where a RoCEv2 frame without IP options has its opcode and syndrome.
const (
	opcodeAt   = 42
	syndromeAt = 54
)

// Dilate translates the wait that an RNR NAK asks for into another time: factor times as long, as near as codes come to it. Other frames
// stay as they are. An RNR NAK is changed in place and sealed again.
func Dilate(frame []byte, factor float64) {
	wait := RNRWait(frame)
	if factor == 1 || wait == 0 || !roce.CheckICRC(frame) {
		return
	}
	if p, err := roce.Decode(frame); err != nil || p.Op != roce.Acknowledge {
		return
	}
	code, err := roce.RNRCode(time.Duration(min(float64(wait)*factor, float64(time.Second))))
	if err != nil {
		code = 0 // the longest there is
	}
	frame[syndromeAt] = frame[syndromeAt]&^0x1F | code
	roce.Reseal(frame)
}

// RNRWait is the wait that a frame asks for if it is an RNR NAK, 0 otherwise.
func RNRWait(frame []byte) time.Duration {
	if len(frame) <= syndromeAt || roce.Opcode(frame[opcodeAt]) != roce.Acknowledge || roce.SyndromeKindOf(frame[syndromeAt]) != roce.SyndromeRNR {
		return 0
	}
	return roce.RNRDuration(frame[syndromeAt])
}
