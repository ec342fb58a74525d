// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"math"
	"time"

	"incforge/roce"
)

// clock paces an engine's cycles by the hosts' time. While the engine works it runs as fast as it can and the hosts' time does not count;
// while it rests, its clock goes as the hosts', scaled. So a timer of the engine never runs faster than the hosts see it run, however
// slow the model is.
type clock struct {
	perNano float64 // cycles in a nanosecond of the hosts
	last    time.Time
	credit  float64 // cycles that the hosts' time has allowed and that have not been run
}

// most is how much of the hosts' time may be made up for at once while timers run in a model.
const most = 100 * time.Millisecond

func newClock(perMicrosecond uint64, scale float64) clock {
	return clock{perNano: float64(perMicrosecond) * scale / 1000, last: time.Now()}
}

// rest lets the hosts' time count.
func (c *clock) rest(now time.Time) {
	c.credit += float64(now.Sub(c.last)) * c.perNano
	c.last = now
}

// work forgets the time since the last look.
func (c *clock) work(now time.Time) { c.last, c.credit = now, 0 }

// spend takes cycles from what is allowed.
func (c *clock) spend(cycles uint64) { c.credit -= float64(cycles) }

// bound keeps the credit to what may be made up for.
func (c *clock) bound() { c.credit = min(c.credit, max(float64(most)*c.perNano, quantum)) }

// until is how long it takes until so many cycles are allowed.
func (c *clock) until(cycles uint64) time.Duration {
	return time.Duration(min(max(float64(cycles)-c.credit, 0)/c.perNano+1, math.MaxInt64/2))
}

// allowed is the number of whole cycles that may be run.
func (c *clock) allowed() uint64 { return uint64(max(c.credit, 0)) }

// Where a RoCEv2 frame without IP options has its opcode and syndrome.
const (
	opcodeAt   = 42
	syndromeAt = 54
)

// dilate translates the wait that an RNR NAK asks for into another time: factor times as long, as near as codes come to it. Other frames
// stay as they are. An RNR NAK is changed in place and sealed again.
func dilate(frame []byte, factor float64) {
	wait := rnrWait(frame)
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

// rnrWait is the wait that a frame asks for if it is an RNR NAK, 0 otherwise.
func rnrWait(frame []byte) time.Duration {
	if len(frame) <= syndromeAt || roce.Opcode(frame[opcodeAt]) != roce.Acknowledge || roce.SyndromeKindOf(frame[syndromeAt]) != roce.SyndromeRNR {
		return 0
	}
	return roce.RNRDuration(frame[syndromeAt])
}

// Timers says how long the engine's time-out is, in the hosts' time and in its own; nothing in Mode II, which has none.
func (s *Switch) Timers() string {
	if s.Setup.Pipes == nil {
		return ""
	}
	us := s.Setup.Pipes.Timeout(s.TimeScale)
	return fmt.Sprintf("; its time-out of %d µs of the hosts is %d µs of its own, %d cycles", s.Setup.Pipes.TimeoutUS, us, uint64(us)*s.Manifest.Params.CyclesPerMicrosecond())
}
