// SPDX-License-Identifier: Apache-2.0

package perf

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/verify/arith"
)

// The tensors and their results are what arithmetic that shares nothing with this package makes of them.
func TestExpected(t *testing.T) {
	for _, dtype := range commlib.Types() {
		for _, op := range []commlib.Op{commlib.Sum, commlib.Min, commlib.Max} {
			r := &runner{Plan: Plan{Op: op, Seed: 3}, dtype: dtype, n: 32, sequence: 5}
			var parts [][]byte
			for rank := range r.n {
				parts = append(parts, r.tensor(rank, 2, 50))
			}
			want, err := arith.Kind{DType: arith.DType(dtype), Op: arith.Op(op)}.Exact(parts...)
			require.NoError(t, err)
			require.Equal(t, want, r.reduced(2, 50), "%v %v", dtype, op)
		}
	}
}

// A wrong byte counts, one that is missing too.
func TestDiffer(t *testing.T) {
	assert.Equal(t, 0, differ([]byte{1, 2}, []byte{1, 2}))
	assert.Equal(t, 2, differ([]byte{1, 3}, []byte{1, 2, 3}))
	assert.Equal(t, 0, differ([]byte{9}, nil))
}

// overlap tells that two pieces of memory have bytes in common.
func overlap(a, b []byte) bool {
	for i := range a {
		for j := range b {
			if &a[i] == &b[j] {
				return true
			}
		}
	}
	return false
}

// Every rank's part of a call fits the others', and so it does with the output in the input's place.
func TestRequests(t *testing.T) {
	for _, c := range commlib.Collectives() {
		length := map[int]int{}
		for rank := range 3 {
			r := &runner{dtype: commlib.FP16, n: 3, rank: rank}
			q, want := r.request(c, 100, 1)
			if want != nil {
				assert.Len(t, want, len(q.Recv), c)
			}
			length[len(q.Send)]++
			sent := slices.Clone(q.Send)
			r.join(&q)
			assert.Equal(t, sent, q.Send, c)
			if want != nil && c != commlib.Broadcast {
				assert.Len(t, want, len(q.Recv), c)
				assert.True(t, overlap(q.Send, q.Recv), c)
			}
		}
		assert.LessOrEqual(t, len(length), 2, c)
	}
	assert.InDelta(t, 1.5, factor(commlib.AllReduce, 4), 1e-9)
	assert.InDelta(t, 0.75, factor(commlib.AllGather, 4), 1e-9)
	assert.InDelta(t, 1, factor(commlib.Broadcast, 4), 1e-9)
}
