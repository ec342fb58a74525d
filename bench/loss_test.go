// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/report"
	"incforge/verify/dut"
)

// smallLoss is the benchmark on the reference engine with packets of 1 KB and a bus that carries all links.
func smallLoss(t *testing.T, packets, jobs int, variants ...string) *lossBench {
	t.Helper()
	return lossAt(t, nil, packets, jobs, variants...)
}

// lossAt is smallLoss at some of the rates.
func lossAt(t *testing.T, rates []float64, packets, jobs int, variants ...string) *lossBench {
	t.Helper()
	p := synthetic.Mini()
	p.Members, p.Ports, p.BusBytes, p.WindowPackets, p.BufferBytes = 8, 8, 512, 32, 1<<18
	b, err := newLossBench(t.Context(), LossOptions{StarOptions: StarOptions{Options: Options{Seed: 3}, DUT: dut.KindReference, Packets: packets, Jobs: jobs},
		Seeds: 4, Variants: variants, Rates: rates},
		map[int]design{2: designOf(2, p), 3: designOf(3, p), 1: designOf(1, p)})
	require.NoError(t, err)
	require.NoError(t, b.measure(t.Context()))
	return b
}

func designOf(mode int, p contract.Params) design {
	if p.Mode = mode; mode == 1 {
		p.MessageBytes, p.WindowMessages = 4*p.MTUBytes, p.WindowPackets/4
	}
	m := synthetic.Manifest(p)
	return design{m, func(uint64) (dut.DUT, error) { return dut.NewReference(m) }}
}

func TestLoss(t *testing.T) {
	b, some := smallLoss(t, 60, 2), []string{"all", "pipes-all", "messages-all-100us"}
	if diff := cmp.Diff(smallLoss(t, 8, 1, some...).Loss, smallLoss(t, 8, 3, some...).Loss); diff != "" {
		t.Errorf("another number of jobs, another result:\n%s", diff)
	}
	m := b.Metrics
	// 1,106 bytes at 50 a cycle; 1,024 bytes of payload in that time; 8 frames of 3 beats and 8 ACKs at 250 MHz.
	assert.InDelta(t, 22.12, m["packet_cycles"]*22.12/32, 1e-9, "8·(3+1) cycles: the engine is slower than the link")
	assert.InDelta(t, 92.586, m["link_percent"], 0.001)
	assert.InDelta(t, 64, m["engine_percent"], 0.001)
	assert.InDelta(t, 1+(32+500+9)/32.0, m["gobackn_packets"], 1e-9)
	assert.LessOrEqual(t, m["lossless_percent"], m["engine_percent"])
	assert.Greater(t, m["lossless_percent"], m["engine_percent"]/2, "the window is large enough")

	at := map[string]report.LossPoint{}
	for _, p := range b.Points {
		if p.Sweep == "links" && p.Links == 8 || p.Sweep == "rate" && (p.Rate == 0 || p.Rate == 0.01) {
			at[p.Variant+" "+p.Sweep+map[bool]string{true: " none"}[p.Rate == 0]] = p
		}
		assert.LessOrEqual(t, p.Percent, m[losslessMetric(b.variant(p.Variant).Mode)]+1e-9, "%+v", p)
		assert.Positive(t, p.Percent)
	}
	for _, v := range b.Variants {
		none := at[v.Name+" rate none"]
		assert.Zero(t, none.Lost+none.Resent+none.Timeouts+none.Deviation+none.Retransmitted+none.EngineTimeouts, v.Name)
		assert.InDelta(t, m[losslessMetric(v.Mode)], none.Percent, 1e-9, v.Name)
		some := at[v.Name+" rate"]
		assert.Positive(t, some.Lost, v.Name)
		assert.Positive(t, some.Resent, v.Name)
		assert.Less(t, some.Percent, none.Percent, v.Name)
	}
	assert.Zero(t, at["all rate"].Bound)
	assert.InDelta(t, m["lossless_percent"]/(1+0.01/0.99*m["gobackn_packets"]), at["nak rate"].Bound, 1e-9)
	assert.InDelta(t, m["lossless_percent"]/(1+0.01/0.99*(1+250000/32.0)), at["timeout rate"].Bound, 1e-9)
	assert.InDelta(t, m["lossless_percent"]/(1+0.01/0.99*(m["gobackn_packets"]+0.01*250000/32)), at["nak rate"].Expected, 1e-9)
	assert.InDelta(t, at["timeout rate"].Bound, at["timeout rate"].Expected, 1e-9, "the bound has its time-outs")
	assert.Positive(t, at["timeout rate"].Timeouts)
	assert.Less(t, at["timeout rate"].Percent, at["nak rate"].Percent, "a time-out costs more than a NAK")
	assert.Zero(t, at["pipes rate"].Retransmitted, "data is lost on its way up alone: only that hop sends again")
	assert.Positive(t, at["pipes-all rate"].Retransmitted)
	assert.Zero(t, at["messages rate"].Retransmitted, "so it is where messages are joined")
	assert.Positive(t, at["messages-all-100us rate"].Retransmitted)
	assert.Zero(t, at["messages rate"].Paper, "it has no such mode")
	assert.InDelta(t, m["pipes_lossless_percent"]/(1+(1/(0.99*0.99)-1)*m["gobackn_packets"]), at["pipes-all rate"].Bound, 1e-9)
	assert.InDelta(t, m["pipes_lossless_percent"]/(m["pipes_lossless_percent"]/at["pipes-all rate"].Bound+0.02*(0.01/0.99*250000/32+(1/(0.99*0.99)-1/0.99)*4000/32)),
		at["pipes-all rate"].Expected, 1e-9, "hosts wait 1 ms, the engine 16 µs")
	assert.InDelta(t, at["pipes-100us rate"].Percent/at["pipes-100us rate"].Bound, m["pipes_100us_of_bound"], 0.2)
	assert.Contains(t, m, "pipes_drop")
	assert.Contains(t, m, "messages_100us_of_mode2")
	assert.Greater(t, m["pipes_all_of_mode2"], 1.0, "results that are lost are sent again by the engine alone")
	assert.InDelta(t, 52.7*1.073741824, at["nak rate"].Paper, 1e-9)
	assert.InDelta(t, 56.4*1.073741824, at["nak links"].Paper, 1e-9)
	assert.InDelta(t, 87.6*1.073741824, at["pipes rate"].Paper, 1e-9)
	assert.Equal(t, []report.LossVariant{b.variant("all"), b.variant("pipes")}, smallLoss(t, 2, 2, "pipes", "all").Variants)
}

// TestLossRates: of the sweeps only the rates that were asked for, and none.
func TestLossRates(t *testing.T) {
	var got []float64
	for _, p := range lossAt(t, []float64{0.01}, 4, 2, "pipes").Points {
		got = append(got, p.Rate)
	}
	assert.Equal(t, []float64{0, 0.01}, got)
}

// TestLossRefuses: designs that cannot be measured, or not beside each other.
func TestLossRefuses(t *testing.T) {
	o := LossOptions{StarOptions: StarOptions{Packets: 1}, Seeds: 1}
	_, err := newLossBench(t.Context(), o, map[int]design{2: designOf(2, synthetic.Mini())})
	require.ErrorContains(t, err, "a star of 8 ranks needs as many members, synthetic has 4")
	_, err = newLossBench(t.Context(), o, nil)
	require.ErrorIs(t, err, errNoDesign)
	p := synthetic.Mini()
	p.Members, p.Ports = 8, 8
	wide := p
	wide.BusBytes = 64
	_, err = newLossBench(t.Context(), o, map[int]design{2: designOf(2, p), 3: designOf(3, wide)})
	require.ErrorContains(t, err, "differ in more than their mode")
	_, err = newLossBench(t.Context(), o, map[int]design{2: designOf(3, p)})
	require.ErrorContains(t, err, "is of Mode 3, expected 2")
	o.Variants = []string{"nac"}
	_, err = newLossBench(t.Context(), o, map[int]design{2: designOf(2, p)})
	require.ErrorContains(t, err, "no variant of [nac]")
}
