// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/verify/dut"
)

// TestRate: without an answer a full pipe costs time-outs; RNR NAKs mend that, and hosts that heed CNPs send less of it again.
func TestRate(t *testing.T) {
	p := synthetic.Mini()
	p.Members, p.Ports, p.BusBytes, p.WindowPackets, p.BufferBytes = 8, 8, 512, 16, 1<<18
	d := designOf(3, p)
	run := func(jobs int) RateResult {
		o := RateOptions{StarOptions: StarOptions{Options: Options{Seed: 1}, DUT: dut.KindReference, Packets: 600, Jobs: jobs}, Pipes: []int{16}}
		b, err := benchRate(t.Context(), o, d)
		require.NoError(t, err)
		return b
	}
	b := run(2)
	if diff := cmp.Diff(b, run(1)); diff != "" {
		t.Errorf("another number of jobs, another result:\n%s", diff)
	}
	assert.InDelta(t, 25*1024/1106.0, b.Metrics["bound_gbps"], 1e-9)
	at := map[string]RatePoint{}
	for _, x := range b.Rate {
		at[x.Call.String()+" "+x.Policy] = x
		assert.Positive(t, x.Full, "%+v", x)
		assert.Positive(t, x.Gbps)
		assert.LessOrEqual(t, x.OfBound, 1.0)
		assert.InDelta(t, x.OfBound, b.Metrics[x.Call.String()+"_"+x.Policy+"_16_of_bound"], 1e-12)
	}
	require.Len(t, at, 12)
	for _, call := range []string{"allreduce", "reduce", "broadcast"} {
		silent, rnr, both := at[call+" silent"], at[call+" rnr"], at[call+" rnr-cnp"]
		assert.Positive(t, silent.Timeouts, call)
		assert.Zero(t, silent.RNRs+silent.CNPs, call)
		assert.Zero(t, rnr.Timeouts+both.Timeouts, call)
		assert.Equal(t, rnr.Full, rnr.RNRs, call)
		assert.Equal(t, both.Full, both.CNPs, call)
		assert.Positive(t, both.Cuts, call)
		assert.Greater(t, rnr.Gbps, 2*silent.Gbps, call)
		assert.Less(t, both.Resent, rnr.Resent/2, call)
		assert.Greater(t, both.Gbps, 0.8*rnr.Gbps, call)
	}
}

func TestRateRefuses(t *testing.T) {
	o := RateOptions{StarOptions: StarOptions{Packets: 1}, Pipes: []int{4}}
	d := designOf(2, synthetic.Mini())
	_, err := benchRate(t.Context(), o, d)
	require.ErrorContains(t, err, "synthetic is of Mode 2")
	d = designOf(3, synthetic.Mini())
	_, err = benchRate(t.Context(), o, d)
	require.ErrorContains(t, err, "synthetic has 4")
}
