// SPDX-License-Identifier: Apache-2.0

package cover

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Coverage travels as JSON from the machine where a test ran.
func TestJSON(t *testing.T) {
	m := Map{}
	m.Add(Point{Opcode: "SEND_ONLY", Class: "up", End: 8, Slot: "empty", Outcome: "accepted"})
	m.Add(Point{Opcode: "SEND_ONLY", Class: "up", End: 8, Slot: "empty", Outcome: "accepted"})
	m.Add(Point{Opcode: "ACK", Class: "ack", Slot: "-", Outcome: "forwarded"})
	m.Expect(Arith{Kind: "FP32/SUM", Accumulate: "in place"})
	text, err := json.Marshal(m)
	require.NoError(t, err)
	var back Map
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, m, back)
	again, err := json.Marshal(back)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
}
