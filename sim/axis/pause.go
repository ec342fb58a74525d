// SPDX-License-Identifier: Apache-2.0

package axis

// Pause says, once a cycle, whether a source or sink holds back (true). Each source
// and sink needs a Pause of its own; nil never pauses.
type Pause func() bool

// random is xorshift64*: one multiplication a draw, the same on every machine.
type random uint64

func newRandom(seed uint64) random {
	// Neighbouring seeds must not begin alike, and zero is no state.
	z := (seed + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9
	return random((z ^ z>>31) | 1)
}

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = random(x)
	return x * 0x2545F4914F6CDD1D
}

// upTo draws from 1 to n.
func (r *random) upTo(n int) int { return 1 + int(r.next()>>33)%max(1, n) }

// Always pauses in every cycle.
func Always() Pause { return func() bool { return true } }

// Probability pauses in each cycle with probability p, 0 to 1.
func Probability(seed uint64, p float64) Pause {
	r := newRandom(seed)
	limit := uint64(min(max(p, 0), 1) * (1 << 53))
	return func() bool { return r.next()>>11 < limit }
}

// Bursts alternates runs of 1 to run cycles that go with runs of 1 to stop cycles that
// pause, lengths drawn evenly.
func Bursts(seed uint64, run, stop int) Pause {
	r := newRandom(seed)
	paused := false
	left := r.upTo(run)
	return func() bool {
		if left == 0 {
			paused = !paused
			if paused {
				left = r.upTo(stop)
			} else {
				left = r.upTo(run)
			}
		}
		left--
		return paused
	}
}

// Pattern repeats the given cycles; true pauses. An empty pattern never pauses.
func Pattern(cycles ...bool) Pause {
	i := -1
	return func() bool {
		if len(cycles) == 0 {
			return false
		}
		i = (i + 1) % len(cycles)
		return cycles[i]
	}
}
