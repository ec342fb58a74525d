// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"incforge/verify/dut"
)

// TestPace: a faster port gets its rounds, data and acknowledgement together, so many ahead of the slowest and no more.
func TestPace(t *testing.T) {
	t.Parallel()
	data, ack := dut.Frame{Data: make([]byte, 100)}, dut.Frame{Data: make([]byte, 60)}
	w := offered{rounds: 5, data: 100, pacers: []int{0, 1}, lead: 2, paced: []*pacedPort{{port: 2, rounds: [][]dut.Frame{{data}, {data}, {data, ack}, {data, ack}, {data, ack}}}}}
	var given []int
	offer := func(port int, f dut.Frame) {
		assert.Equal(t, 2, port)
		given = append(given, len(f.Data))
	}
	sent := func(port, n int) (all []dut.Frame) {
		for range n {
			all = append(all, dut.Frame{Port: port, Data: data.Data}, dut.Frame{Port: port, Data: ack.Data})
		}
		return all
	}
	w.pace(nil, offer)
	assert.Equal(t, []int{100, 100}, given)
	w.pace(sent(0, 3), offer)
	assert.Len(t, given, 2, "the other of the slowest has sent nothing")
	w.pace(append(sent(0, 3), sent(1, 1)...), offer)
	assert.Equal(t, []int{100, 100, 100, 60}, given)
	w.pace(append(sent(0, 5), sent(1, 5)...), offer)
	assert.Equal(t, []int{100, 100, 100, 60, 100, 60, 100, 60}, given)
}
