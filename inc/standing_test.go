// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// TestStanding: what is said of a group changes when it advances, and only then.
func TestStanding(t *testing.T) {
	for _, mode := range []int{2, 3} {
		p := smallParams()
		p.Mode = mode
		e, err := New(p)
		require.NoError(t, err)
		_, ok := e.Standing(0)
		assert.False(t, ok, "disabled")
		_, ok = e.Standing(2)
		assert.False(t, ok, "no such group")
		for i := range 4 {
			require.NoError(t, e.SetEndpoint(i, endpointAt(p, 0, i)))
		}
		require.NoError(t, e.SetGroup(0, starGroup(0, 0xFFFFFF)))
		require.NoError(t, e.Enable(0))
		send := func(c int, psn roce.PSN, length int) Standing {
			ep := endpointAt(p, 0, c)
			e.Step(0, c, roce.Packet{SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, Op: roce.SendOnly, PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: psn, Payload: make([]byte, length)})
			s, ok := e.Standing(0)
			require.True(t, ok)
			return s
		}
		s := send(0, 0xFFFFFF, 8)
		assert.True(t, s.Ranged)
		assert.Equal(t, 1, s.Partial)
		assert.Equal(t, roce.PSN(0xFFFFFF), s.Next)
		assert.Equal(t, roce.PSN(0), s.Ends[0].Sent)
		assert.Equal(t, roce.PSN(0xFFFFFF), s.Ends[1].Sent)
		assert.True(t, s.Ends[1].Sends && s.Ends[1].Hears)
		assert.False(t, s.Ends[4].Sends)
		assert.Equal(t, s, send(0, 0xFFFFFF, 8), "a repeat")
		assert.Equal(t, s, send(1, 0xFFFFFF, 4), "another shape")
		assert.Equal(t, s, send(1, 5, 8), "a gap")
		for c := 1; c < 4; c++ {
			s = send(c, 0xFFFFFF, 8)
		}
		assert.Zero(t, s.Partial)
		assert.Equal(t, roce.PSN(0), s.Next)
		for c := range 4 {
			assert.Equal(t, roce.PSN(0xFFFFFF), s.Ends[c].Unacknowledged)
			assert.Equal(t, mode-2, s.Ends[c].Owed, "Mode III waits for the ACK of what it sent")
		}
	}
}
