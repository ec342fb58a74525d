// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// network is some links with flows on them, as a test draws them.
type network struct {
	rates []float64
	flows []*flow
}

func drawNetwork(t *rapid.T) network {
	n := network{}
	for range rapid.IntRange(1, 5).Draw(t, "links") {
		n.rates = append(n.rates, float64(rapid.IntRange(1, 100).Draw(t, "rate")))
	}
	for id := range rapid.IntRange(1, 7).Draw(t, "flows") {
		f := &flow{id: id, cap: math.Inf(1)}
		for l := range n.rates {
			if times := rapid.IntRange(0, 2).Draw(t, "times"); times > 0 {
				f.uses = append(f.uses, use{l, float64(times)})
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "bounded") == 0 || len(f.uses) == 0 {
			f.cap = float64(rapid.IntRange(1, 60).Draw(t, "cap"))
		}
		n.flows = append(n.flows, f)
	}
	return n
}

// load is what flows with these rates put on a link.
func (n network) load(link int, rates []float64) float64 {
	sum := 0.0
	for i, f := range n.flows {
		for _, u := range f.uses {
			if u.link == link {
				sum += u.times * rates[i]
			}
		}
	}
	return sum
}

// slow shares by small steps: every flow that can still grow gets a little more, until none can.
func (n network) slow(step float64) []float64 {
	rates, stopped := make([]float64, len(n.flows)), make([]bool, len(n.flows))
	for slices.Contains(stopped, false) {
		grown := slices.Clone(rates)
		for i := range grown {
			if !stopped[i] {
				grown[i] += step
			}
		}
		for i, f := range n.flows {
			full := slices.ContainsFunc(f.uses, func(u use) bool { return n.load(u.link, grown) > n.rates[u.link] })
			stopped[i] = stopped[i] || full || grown[i] > f.cap
		}
		for i := range rates {
			if !stopped[i] {
				rates[i] = grown[i]
			}
		}
	}
	return rates
}

func (n network) share() (*links, []float64) {
	l := newLinks(n.rates)
	for _, f := range n.flows {
		l.add(f)
	}
	flows, used := l.touched()
	l.fill(flows, used)
	for _, f := range n.flows { // a flow on no link is nobody's neighbour
		if len(f.uses) == 0 {
			f.rate = f.cap
		}
	}
	var rates []float64
	for _, f := range n.flows {
		rates = append(rates, f.rate)
	}
	return l, rates
}

// Rates are those that filling by small steps finds, no link carries more than it can, and each flow is held up by its bound or by a full link on
// which nobody has more.
func TestMaxMin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t)
		_, rates := n.share()
		const step = 0.02
		for i, slow := range n.slow(step) {
			// A stop that comes a step early leaves at most that to each of the others.
			assert.InDelta(t, slow, rates[i], step*float64(4*len(n.flows)), "flow %d", i)
		}
		for i, f := range n.flows {
			held := rates[i] >= f.cap*(1-1e-9)
			for _, u := range f.uses {
				assert.LessOrEqual(t, n.load(u.link, rates), n.rates[u.link]*(1+1e-9), "link %d", u.link)
				most := 0.0
				for j, other := range n.flows {
					if slices.ContainsFunc(other.uses, func(v use) bool { return v.link == u.link }) {
						most = max(most, rates[j])
					}
				}
				held = held || n.load(u.link, rates) >= n.rates[u.link]*(1-1e-9) && rates[i] >= most*(1-1e-9)
			}
			assert.True(t, held, "flow %d could have more than %g", i, rates[i])
		}
	})
}

// Sharing anew only where a flow came or went gives the rates of sharing everything anew.
func TestShareInPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t)
		l, _ := n.share()
		gone := rapid.IntRange(0, len(n.flows)-1).Draw(t, "gone")
		l.remove(n.flows[gone])
		n.flows = slices.Delete(n.flows, gone, gone+1)
		flows, used := l.touched()
		l.fill(flows, used)
		var part []float64
		for _, f := range n.flows {
			part = append(part, f.rate)
		}
		_, whole := n.share()
		assert.InDeltaSlice(t, whole, part, 1e-9)
	})
}

func TestShareByHand(t *testing.T) {
	inf := math.Inf(1)
	n := network{rates: []float64{10, 100, 30}, flows: []*flow{
		{id: 0, cap: inf, uses: []use{{0, 1}, {1, 1}}}, // 0 and 1 share the link of 10
		{id: 1, cap: inf, uses: []use{{0, 1}}},
		{id: 2, cap: inf, uses: []use{{1, 1}, {2, 2}}}, // crosses the link of 30 twice
		{id: 3, cap: 7, uses: []use{{1, 1}}},
		{id: 4, cap: inf, uses: []use{{1, 1}}}, // has what is left of 100
	}}
	_, rates := n.share()
	require.Equal(t, []float64{5, 5, 15, 7, 73}, rates)
}
