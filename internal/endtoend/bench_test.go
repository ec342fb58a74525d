// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/bench"
	"incforge/internal/testcost"
)

// TestMessageRates: mini1's Verilog takes messages of several packets as fast as docs/termination.md section 11 says, and reads the payload as often:
// once where path MTUs are equal, and once for each rank that has another than the lowest one.
func TestMessageRates(t *testing.T) {
	t.Parallel()
	dir := generate(t, named(t, "mini1"))
	measure := func(l bench.MessageLoads) map[string]float64 {
		b, err := bench.Throughput(testcost.Context(t), bench.Options{ManifestDir: dir, Seed: 1, Messages: l})
		require.NoError(t, err)
		return b.Metrics
	}
	longest := measure(bench.MessageLoads{PathMTUs: [][]int{{256}, {1024}, {256, 1024}}})
	for _, want := range []struct {
		load        string
		rate, reads float64
	}{{"2048_256_", 0.999, 1}, {"2048_1024_", 0.97, 1}, {"2048_256+1024_", 0.66, 3}} {
		for _, order := range []string{"best_acks1", "worst_acks1"} {
			assert.GreaterOrEqual(t, longest["beats_per_cycle_"+want.load+order], want.rate, want.load+order)
			assert.InDelta(t, want.reads, longest["payload_reads_"+want.load+order], 1e-9, want.load+order)
		}
	}
	shortest := measure(bench.MessageLoads{Bytes: []int{64}, Every: []int{2}})
	assert.LessOrEqual(t, shortest["cycles_per_result_64_1024_worst_acks2"], 87.0)
	assert.Len(t, shortest, 6, "nothing else is measured")
}
