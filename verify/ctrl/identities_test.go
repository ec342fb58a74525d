// SPDX-License-Identifier: Apache-2.0

package ctrl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIdentities: every counter that a relation has is missed when it is one off.
func TestIdentities(t *testing.T) {
	good := func() map[string]uint64 {
		return map[string]uint64{"RX_FRAMES": 31, "BYPASS": 1, "UP_DATA": 11, "DOWN_DATA": 4, "RX_ACK": 5, "RX_NAK": 1, "RX_RNR": 1, "RX_CNP": 1, "TX_REACK": 2,
			"DROP_ICRC": 2, "DROP_RANGE": 3, "DROP_GAP": 1, "DROP_STALE": 1, "DROP_WINDOW": 1, "DROP_SHAPE": 1, "AGG": 5, "TX_RESEND": 2, "BUFFERED": 3,
			"TX_RESULT": 2, "WIPE": 2, "TX_FANOUT": 4, "TX_FRAMES": 10}
	}
	require.NoError(t, Identities(2, good()))
	for _, name := range []string{"RX_FRAMES", "UP_DATA", "AGG", "BUFFERED", "WIPE", "TX_RESULT", "TX_FRAMES", "DROP_ICRC", "DROP_GAP", "TX_REACK", "TX_RESEND"} {
		c := good()
		c[name] += 3
		assert.Error(t, Identities(2, c), name)
	}
	pipes := func() map[string]uint64 {
		return map[string]uint64{"RX_FRAMES": 44, "BYPASS": 1, "UP_DATA": 11, "DOWN_DATA": 7, "RX_ACK": 9, "RX_NAK": 2, "RX_RNR": 3, "RX_CNP": 1, "DROP_ICRC": 4,
			"DROP_RANGE": 6, "DROP_GAP": 3, "DROP_FULL": 2, "DROP_SHAPE": 1, "AGG": 6, "DOWN_TAKEN": 4, "RX_DUPLICATE": 2, "TX_ACK": 12, "BUFFERED": 4, "TX_RESULT": 2,
			"WIPE": 1, "TX_FANOUT": 8, "TX_GAP_NAK": 2, "TX_RNR": 2, "TX_CNP": 1, "TX_FRAMES": 25}
	}
	require.NoError(t, Identities(3, pipes()))
	for name := range pipes() {
		if name == "WIPE" { // those that are still to be freed are nowhere
			continue
		}
		c := pipes()
		c[name] += 5
		assert.Error(t, Identities(3, c), name)
	}
	c := pipes()
	c["TX_RESEND"]++
	assert.ErrorContains(t, Identities(3, c), "TX_RESEND + TX_REFLECT", "which Mode III never does")
}
