// SPDX-License-Identifier: Apache-2.0

package ether

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"incforge/roce"
)

func TestBridge(t *testing.T) {
	b, now := NewBridge(), time.Now()
	mac := roce.MAC{0x52, 0, 0, 0, 0, 1}
	_, known := b.Find(mac, now)
	assert.False(t, known)
	b.Learn(mac, 3, now)
	port, known := b.Find(mac, now)
	assert.True(t, known)
	assert.Equal(t, 3, port)
	b.Learn(mac, 2, now.Add(time.Second))
	port, _ = b.Find(mac, now.Add(time.Second))
	assert.Equal(t, 2, port, "it has moved")
	_, known = b.Find(mac, now.Add(time.Second+bridgeAge+1))
	assert.False(t, known, "too long ago")
	b.Learn(roce.MAC{0xFF, 1}, 1, now)
	_, known = b.Find(roce.MAC{0xFF, 1}, now)
	assert.False(t, known, "nobody sends from an address of many")
	for i := range bridgeSize {
		b.Learn(roce.MACFromUint64(uint64(i)), 0, now)
	}
	assert.Len(t, b.seen, bridgeSize)
	b.Learn(roce.MAC{2, 2}, 1, now)
	assert.Len(t, b.seen, bridgeSize, "full")
	b.Learn(roce.MAC{2, 2}, 1, now.Add(2*bridgeAge))
	_, known = b.Find(roce.MAC{2, 2}, now.Add(2*bridgeAge))
	assert.True(t, known, "the old are forgotten")
}
