// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Faults are what a port or a link does to frames, each way. Probabilities are per frame, 0 to 1.
type Faults struct {
	Loss      float64 `json:"loss,omitempty"`
	Duplicate float64 `json:"dup,omitempty"`
	// Reorder holds a frame back until one to four others have passed, or for 5 ms.
	Reorder float64 `json:"reorder,omitempty"`
}

// Validate reports a probability that is none.
func (f *Faults) Validate() error {
	for _, p := range []struct {
		name string
		v    float64
	}{{"loss", f.Loss}, {"dup", f.Duplicate}, {"reorder", f.Reorder}} {
		if !(p.v >= 0 && p.v <= 1) { // NaN is neither
			return fmt.Errorf("%s %g: must be 0 to 1", p.name, p.v)
		}
	}
	return nil
}

// holdTime is how long a frame that is held back waits for others.
const holdTime = 5 * time.Millisecond

// fate is what happens to a frame.
type fate uint8

const (
	passes fate = iota
	lost
	doubled
	held
)

// lane is one way through a port with faults. The fates of the frames of a lane depend on the seed and on their number alone. The zero
// pointer is a lane without faults, which holds nothing back.
type lane struct {
	faults Faults
	rng    *rand.Rand
	held   []byte // the frame that is held back
	behind int    // how many are to pass it still
	since  time.Time
}

func newLane(f Faults, seed, number uint64) *lane {
	return &lane{faults: f, rng: rand.New(rand.NewPCG(seed, number))}
}

// pass is what goes on now that a frame has come, in order. Every frame tosses the same coins, so no fault that is switched on or off
// moves another one's.
func (l *lane) pass(frame []byte) (on [][]byte, what fate) {
	lose, twice, hold := l.rng.Float64() < l.faults.Loss, l.rng.Float64() < l.faults.Duplicate, l.rng.Float64() < l.faults.Reorder
	behind := 1 + l.rng.IntN(4)
	switch {
	case lose:
		what = lost
	case hold && l.held == nil:
		l.held, l.behind, l.since = frame, behind, time.Now()
		return nil, held
	case twice:
		on, what = [][]byte{frame, append([]byte(nil), frame...)}, doubled // the receiver owns each
	default:
		on = [][]byte{frame}
	}
	if l.held != nil {
		if l.behind--; l.behind <= 0 {
			on = append(on, l.overdue()...)
		}
	}
	return on, what
}

// due is when a frame that is held back goes on at the latest; zero if there is none.
func (l *lane) due() time.Time {
	if l == nil || l.held == nil {
		return time.Time{}
	}
	return l.since.Add(holdTime)
}

// overdue is the frame that was held back.
func (l *lane) overdue() [][]byte {
	if l == nil || l.held == nil {
		return nil
	}
	on := [][]byte{l.held}
	l.held = nil
	return on
}
