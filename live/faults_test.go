// SPDX-License-Identifier: Apache-2.0

package live

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live/groups"
	"incforge/roce"
)

// frames goes through a lane with frames 0 to n−1, of one byte each, and returns what goes on and how often each fate befell.
func frames(f Faults, seed uint64, n int) (on []byte, count [held + 1]int) {
	l := newLane(f, seed, 3)
	for i := range n {
		out, what := l.pass([]byte{byte(i)})
		count[what]++
		for _, o := range out {
			on = append(on, o...)
		}
	}
	for _, o := range l.overdue() {
		on = append(on, o...)
	}
	return on, count
}

func TestLane(t *testing.T) {
	const n = 200
	straight := make([]byte, n)
	for i := range straight {
		straight[i] = byte(i)
	}
	on, _ := frames(Faults{}, 1, n)
	assert.Equal(t, straight, on)
	on, count := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 1, n)
	assert.Len(t, on, n-count[lost]+count[doubled])
	for what, want := range map[fate]int{lost: 50, doubled: 20, held: 20} {
		assert.InDelta(t, want, count[what], float64(want)/2, "%d", what)
	}
	again, _ := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 1, n)
	assert.Equal(t, on, again, "the same seed")
	other, _ := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 2, n)
	assert.NotEqual(t, on, other)
	on, count = frames(Faults{Reorder: 0.25}, 1, n)
	assert.False(t, slices.IsSorted(on))
	slices.Sort(on)
	assert.Equal(t, straight, on, "nothing is lost or doubled")
	assert.Positive(t, count[held])
	// The frames that are lost are the same with other faults beside the loss.
	alone, _ := frames(Faults{Loss: 0.25}, 1, n)
	both, _ := frames(Faults{Loss: 0.25, Duplicate: 0.5}, 1, n)
	assert.Equal(t, alone, slices.Compact(both))

	l := newLane(Faults{Reorder: 1}, 1, 0)
	assert.Zero(t, l.due())
	out, what := l.pass([]byte{1})
	assert.Empty(t, out)
	assert.Equal(t, held, what)
	assert.InDelta(t, float64(holdTime), float64(time.Until(l.due())), float64(holdTime))
	assert.Equal(t, [][]byte{{1}}, l.overdue())
	assert.Zero(t, l.due())
	for _, bad := range []Faults{{Loss: 1.5}, {Duplicate: -1}, {Reorder: math.NaN()}} {
		require.Error(t, bad.Validate())
	}
}

func TestDilate(t *testing.T) {
	nak := func(syndrome uint8) []byte {
		p := roce.Packet{TTL: 64, Op: roce.Acknowledge, PKey: roce.DefaultPKey, Syndrome: syndrome, PSN: 5}
		return p.AppendFrame(nil)
	}
	syndrome := func(frame []byte, factor float64) uint8 {
		dilate(frame, factor)
		require.True(t, roce.CheckICRC(frame))
		p, err := roce.Decode(frame)
		require.NoError(t, err)
		return p.Syndrome
	}
	assert.Equal(t, roce.RNRSyndrome|1, syndrome(nak(roce.RNRSyndrome|1), 1))
	assert.Equal(t, roce.RNRSyndrome|20, syndrome(nak(roce.RNRSyndrome|1), 1000), "10 µs to 10.24 ms")
	assert.Equal(t, roce.RNRSyndrome|2, syndrome(nak(roce.RNRSyndrome|20), 0.001), "and back, rounded up")
	assert.Equal(t, roce.RNRSyndrome, syndrome(nak(roce.RNRSyndrome|31), 10), "not more than 655.36 ms")
	assert.Equal(t, roce.AckSyndrome, syndrome(nak(roce.AckSyndrome), 1000))
	bad := nak(roce.RNRSyndrome | 1)
	bad[60] ^= 1
	same := slices.Clone(bad)
	dilate(bad, 1000)
	assert.Equal(t, same, bad, "what is damaged stays so")
}

// TestClock: the engine's clock goes as the hosts' while it rests, and what it misses while it works is not made up for.
func TestClock(t *testing.T) {
	c := newClock(250, 0.001)
	now := c.last
	c.rest(now.Add(time.Second))
	assert.Equal(t, uint64(250_000), c.allowed())
	c.spend(200_000)
	assert.Equal(t, uint64(50_000), c.allowed())
	assert.InDelta(t, 0.2e9, float64(c.until(100_000)), 1e6)
	c.bound()
	assert.Equal(t, uint64(25_000), c.allowed(), "100 ms at the most")
	c.work(now.Add(2 * time.Second))
	assert.Zero(t, c.allowed())
	assert.Equal(t, uint16(20), (&groups.Pipes{TimeoutUS: 20_000}).Timeout(0.001))
	assert.Equal(t, uint16(1), (&groups.Pipes{TimeoutUS: 7}).Timeout(0.001))
	assert.Equal(t, uint16(math.MaxUint16), (&groups.Pipes{TimeoutUS: 1000}).Timeout(1e6))
}

func TestBridge(t *testing.T) {
	b, now := newBridge(), time.Now()
	mac := roce.MAC{0x52, 0, 0, 0, 0, 1}
	_, known := b.find(mac, now)
	assert.False(t, known)
	b.learn(mac, 3, now)
	port, known := b.find(mac, now)
	assert.True(t, known)
	assert.Equal(t, 3, port)
	b.learn(mac, 2, now.Add(time.Second))
	port, _ = b.find(mac, now.Add(time.Second))
	assert.Equal(t, 2, port, "it has moved")
	_, known = b.find(mac, now.Add(time.Second+bridgeAge+1))
	assert.False(t, known, "too long ago")
	b.learn(roce.MAC{0xFF, 1}, 1, now)
	_, known = b.find(roce.MAC{0xFF, 1}, now)
	assert.False(t, known, "nobody sends from an address of many")
	for i := range bridgeSize {
		b.learn(roce.MACFromUint64(uint64(i)), 0, now)
	}
	assert.Len(t, b.seen, bridgeSize)
	b.learn(roce.MAC{2, 2}, 1, now)
	assert.Len(t, b.seen, bridgeSize, "full")
	b.learn(roce.MAC{2, 2}, 1, now.Add(2*bridgeAge))
	_, known = b.find(roce.MAC{2, 2}, now.Add(2*bridgeAge))
	assert.True(t, known, "the old are forgotten")
}
