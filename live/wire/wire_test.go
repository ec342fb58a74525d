// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestShape(t *testing.T) {
	assert.Nil(t, New(Shape{}))
	start := time.Now()
	w := New(Shape{RateMbit: 8, DelayUS: 500}) // a byte a microsecond
	after := func(d time.Duration) time.Time { return start.Add(d * time.Microsecond) }
	assert.Equal(t, after(1500), w.arrival(start, 1000))
	assert.Equal(t, after(1600), w.arrival(after(10), 100), "behind the one before")
	assert.Equal(t, after(5510), w.arrival(after(5000), 10), "the wire was free")
	assert.Equal(t, after(300), New(Shape{DelayUS: 300}).arrival(start, 9000), "as fast as one likes")
	assert.Equal(t, start.Add(800*time.Nanosecond), New(Shape{RateMbit: 1e4}).arrival(start, 1000), "less than a nanosecond a byte")
}

// TestWire: frames arrive in order and no earlier than they may; after stop nobody waits.
func TestWire(t *testing.T) {
	stop := make(chan struct{})
	w := New(Shape{RateMbit: 1, DelayUS: 2000})
	start := time.Now()
	for i := range byte(5) {
		assert.True(t, w.Put(append(make([]byte, 124), i), stop)) // 1 ms each
	}
	w.Close()
	var got []byte
	w.Run(func(f []byte) {
		got = append(got, f[124])
		assert.GreaterOrEqual(t, time.Since(start), time.Duration(len(got)+2)*time.Millisecond)
	}, stop)
	assert.Equal(t, []byte{0, 1, 2, 3, 4}, got)

	w = New(Shape{DelayUS: MostDelayUS})
	assert.True(t, w.Put(nil, stop))
	close(stop)
	w.Run(func([]byte) { t.Error("it was stopped") }, stop)
	for w.Put(nil, stop) { // either way counts as long as there is room
	}
}
