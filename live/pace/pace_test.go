// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

func TestDilate(t *testing.T) {
	nak := func(syndrome uint8) []byte {
		p := roce.Packet{TTL: 64, Op: roce.Acknowledge, PKey: roce.DefaultPKey, Syndrome: syndrome, PSN: 5}
		return p.AppendFrame(nil)
	}
	syndrome := func(frame []byte, factor float64) uint8 {
		Dilate(frame, factor)
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
	Dilate(bad, 1000)
	assert.Equal(t, same, bad, "what is damaged stays so")
}

// TestClock: the engine's clock goes as the hosts' while it rests, and what it misses while it works is not made up for.
func TestClock(t *testing.T) {
	c := New(250, 0.001, 64)
	now := c.last
	c.Rest(now.Add(time.Second))
	assert.Equal(t, uint64(250_000), c.Allowed())
	c.Spend(200_000)
	assert.Equal(t, uint64(50_000), c.Allowed())
	assert.InDelta(t, 0.2e9, float64(c.Until(100_000)), 1e6)
	c.Bound()
	assert.Equal(t, uint64(25_000), c.Allowed(), "100 ms at the most")
	c.Work(now.Add(2 * time.Second))
	assert.Zero(t, c.Allowed())
}
