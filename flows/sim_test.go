// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/control/placement"
)

func parse(t testing.TB, text string) *Spec {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	require.NoError(t, err)
	return s
}

func run(t testing.TB, s *Spec) *Result {
	t.Helper()
	r, err := Run(t.Context(), "test", s)
	require.NoError(t, err)
	return r
}

// small is two leaves of four hosts below two spines, links of 8 Gbit/s, which is 1 GB/s. The model has 6·10⁹ bytes of gradients, computes
// 6·6e9·64/1e12 = 2.304 rank seconds an iteration, and has 2·64·1000·1 = 128 kB of activations a layer in all.
const small = `network: {down: [4, 2], up: [2], gbps: 8, hop_rtt_us: 1, server: 2%s}
memory: {units: [%d]}
policies: [%s]
ring: %s
jobs:
  - {name: j, tp: %d, dp: %d, pp: %d, micro_batches: %d, iterations: 2, count: %d, model: {parameters_b: 6, layers: 2, hidden: 1000, sequence: 32, batch: 2, element_bytes: 1, tflops: 1}}
`

// Times of one job that can be reckoned on paper, by iteration.
func TestByHand(t *testing.T) {
	const ranked = 6 * 6e9 * 64 / 1e12
	const activations = 64 * 1000 / 1e9 // seconds at 1 GB/s
	for _, c := range []struct {
		name, policy, ring, more string
		units, tp, dp, pp, micro int
		want                     float64
	}{
		{"a ring in a leaf sends 2·3/4", None, Exact, "", 4, 1, 4, 1, 1, ranked/4 + 6*1.5},
		{"a ring that sends twice", None, Twice, "", 4, 1, 4, 1, 1, ranked/4 + 6*2},
		{"a tree in a leaf sends once", Spatial, Exact, "", 4, 1, 4, 1, 1, ranked/4 + 6},
		{"a tree over both leaves", EdgeDisjoint, Exact, "", 4, 1, 8, 1, 1, ranked/8 + 6},
		{"a ring over both leaves", None, Exact, "", 4, 1, 8, 1, 1, ranked/8 + 6*2*7./8},
		// Four groups of two, one rank in either leaf: four rings of 2·½, two on each uplink; then trees of once the tensor, the same.
		{"rings share uplinks", None, Exact, "", 4, 4, 2, 1, 1, ranked/8 + 4*2*activations/2*1.5 + 1.5*2},
		{"trees share uplinks", Temporal, Exact, "", 8, 4, 2, 1, 1, ranked/8 + 4*2*activations/2 + 1.5*2},
		// One unit: spatial spends it on tensor parallelism; temporal has it for one of the four groups of gradients as well.
		{"spatial with one unit", Spatial, Twice, "", 1, 4, 2, 1, 1, ranked/8 + 4*2*activations/2 + 1.5*4},
		{"temporal with two units", Temporal, Twice, "", 2, 4, 2, 1, 1, ranked/8 + 4*2*activations/2 + 1.5*3},
		{"servers", None, Exact, ", scale_up_gbps: 80", 4, 2, 1, 1, 1, ranked/2 + 4*2*activations/10},
		// Two stages: one micro batch takes twice the time of its own; activations go one way, gradients the other, at once.
		{"stages", None, Exact, "", 4, 1, 1, 2, 1, ranked/2*2 + activations},
		{"stages with micro batches", None, Exact, "", 4, 1, 1, 2, 4, ranked/2*5/4 + activations},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, parse(t, fmt.Sprintf(small, c.more, c.units, c.policy, c.ring, c.tp, c.dp, c.pp, c.micro, 1)))
			assert.InEpsilon(t, 2*c.want, r.Cases[0].Mean, 1e-9)
		})
	}
}

// Jobs wait for hosts in the order in which they come, and a job that has the network to itself takes what it takes alone.
func TestQueue(t *testing.T) {
	alone := run(t, parse(t, fmt.Sprintf(small, "", 4, None, Exact, 1, 8, 1, 1, 1))).Cases[0].Mean
	r := run(t, parse(t, fmt.Sprintf(small, "", 4, None, Exact, 1, 8, 1, 1, 3)))
	for i, j := range r.Cases[0].Jobs {
		assert.InEpsilon(t, alone, j.Seconds, 1e-9)
		assert.InDelta(t, float64(i)*alone, j.Waited, 1e-6)
	}
}

// A buffer smaller than the window of a full link slows a tree down, to the window over the round trip.
func TestSmallBuffer(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(small, "", 4, "spatial, temporal", Exact, 1, 4, 1, 1, 1), "units: [4]", "buffer_kib: [64, 1], payload: 128", 1)
	text = strings.Replace(text, "gbps: 8,", "gbps: 8, ", 1)
	r := run(t, parse(t, text))
	const computing = 6 * 6e9 * 64 / 1e12 / 4
	// 1 KiB is 8 packets of 128 bytes, a window of 4: 512 bytes a microsecond. 64 KiB is more than the link needs, 1,000 bytes.
	for i, want := range []float64{6, 6 / 0.512, 6, 6 / 0.512} {
		assert.InEpsilon(t, 2*(computing+want), r.Cases[i].Mean, 1e-9, "%+v", r.Cases[i].Case)
	}
}

// crowd is jobs of many shapes that come one after the other on a cluster too small for them.
const crowd = `network: {down: [4, 4, 4], up: [2, 2], gbps: 100, server: 2, scale_up_gbps: 2400}
memory: {units: [2]}
policies: [none, edge-disjoint, spatial, temporal]
routes: %s
hosts: scattered
order: shuffled
seed: %d
jobs:
  - {count: 4, tp: 4, dp: 4, iterations: 2, model: {parameters_b: 1, layers: 8, hidden: 1024, sequence: 512, batch: 16, element_bytes: 2, tflops: 300}}
  - {count: 3, tp: 2, dp: 3, pp: 2, micro_batches: 4, start_s: 0.1, iterations: 3, model: {parameters_b: 2, layers: 6, hidden: 2048, sequence: 512, batch: 12, element_bytes: 2, tflops: 300}}
  - {count: 5, dp: 16, start_s: 0.3, iterations: 2, model: {parameters_b: 0.3, layers: 6, hidden: 512, sequence: 512, batch: 32, element_bytes: 4, tflops: 300}}
`

// At no time does a link carry more than it can, or a switch serve more groups than it has memory for; every flow ends when its bytes are sent.
func TestConservation(t *testing.T) {
	s := parse(t, fmt.Sprintf(crowd, Balanced, 3))
	for _, c := range s.Cases() {
		m, err := prepare(s, c)
		require.NoError(t, err)
		sent, size := map[*flow]float64{}, map[*flow]float64{}
		contended := 0
		for m.agenda.Len() > 0 {
			before := m.now
			rates := map[*flow]float64{}
			for _, on := range m.on {
				for _, f := range on {
					rates[f] = f.rate
				}
			}
			require.NoError(t, m.step())
			for f, rate := range rates {
				sent[f] += rate * (m.now - before)
			}
			for link, on := range m.on {
				load := 0.0
				for _, f := range on {
					if _, known := size[f]; !known {
						size[f] = f.left
					}
					for _, u := range f.uses {
						if u.link == link {
							load += u.times * f.rate
						}
					}
				}
				require.LessOrEqual(t, load, m.rate[link]*(1+1e-9))
				if len(on) > 1 {
					contended++
				}
			}
			for node, free := range m.engines.free {
				require.GreaterOrEqual(t, free, 0, m.net.Nodes[node].Name)
			}
		}
		require.Len(t, m.done, 12)
		require.Positive(t, contended)
		for f, bytes := range size {
			require.InEpsilon(t, bytes, sent[f], 1e-6)
		}
		for node, free := range m.engines.free {
			require.Equal(t, m.limit, free, "%s is locked after the end", m.net.Nodes[node].Name)
			require.Zero(t, m.onNode[node])
		}
		require.Empty(t, m.placer.Groups())
	}
}

// The same file gives the same bytes, another seed others.
func TestDeterminism(t *testing.T) {
	document := func(seed int) string {
		var b bytes.Buffer
		require.NoError(t, run(t, parse(t, fmt.Sprintf(crowd, ECMP, seed))).Write(&b))
		return b.String()
	}
	first := document(1)
	assert.Equal(t, first, document(1))
	assert.NotEqual(t, first, document(2))
}

// Links by their numbers are those of the placement's network, and ways go from the one host to the other.
func TestWays(t *testing.T) {
	c, err := newCluster(placement.Clos{Down: []int{2, 3, 2}, Up: []int{2, 3}, Mbps: 1, HopRTT: 1}, 1)
	require.NoError(t, err)
	for a := range c.shape.Hosts() {
		for b := range c.shape.Hosts() {
			if a == b {
				continue
			}
			level := c.meet(a, b)
			for s := range c.width[level] {
				next := map[int]int{} // by node: where the way goes on
				for _, l := range c.way(nil, a, b, level, s) {
					ends := c.net.Links[l/2].Ends
					from, to := ends[0].Node, ends[1].Node
					if l%2 == up {
						from, to = to, from
					}
					require.NotContains(t, next, from)
					next[from] = to
				}
				at, hops := a, 0
				for ; at != b; hops++ {
					require.Contains(t, next, at, "from %d to %d", a, b)
					at = next[at]
				}
				require.Equal(t, 2*level, hops)
			}
		}
	}
}

func TestDraw(t *testing.T) {
	svg, err := run(t, parse(t, fmt.Sprintf(small, "", 4, "none, spatial", Exact, 1, 4, 1, 1, 1))).Draw()
	require.NoError(t, err)
	assert.Contains(t, string(svg), "spatial_4u")
}

// Every mistake of a file is reported at once, with its line.
func TestMistakes(t *testing.T) {
	_, err := Parse("bad.yaml", []byte(`network: {down: [8, 0], up: [4], gbps: fast, servers: 8}
memory: {units: [4], buffer_kib: 64, payload: 6}
policies: [temporal, greedy]
ring: once
colour: red
jobs:
  - name: a
    tp: 2.5
    iterations: 3
    model: {parameters_b: 1, layers: 2, hidden: 8, sequence: 8, batch: 1, element_bytes: 2}
  - tp: 4
    tp: 5
    dp: 100
    iterations: -1
    model: none
`))
	var all Problems
	require.ErrorAs(t, err, &all)
	text := err.Error()
	for _, want := range []string{
		"bad.yaml:1:21: network.down is 0: it must be a number from 1 to", "bad.yaml:1:40: network.gbps is fast", "network.servers means nothing: there are down, up,",
		"memory.payload is 6 bytes", "memory has both units and buffer_kib", "bad.yaml:3:22: policies is greedy: it must be one of none, edge-disjoint, spatial, temporal",
		"bad.yaml:4:7: ring is once", "bad.yaml:5:9: colour means nothing", "bad.yaml:8:9: jobs[0].tp is 2.5: it must be a whole number", "jobs[0].model.tflops is missing",
		"bad.yaml:12:5: jobs[1].tp is there twice", "bad.yaml:14:17: jobs[1].iterations is -1", "bad.yaml:15:12: jobs[1].model is a string: a mapping is needed",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "jobs[1].model.layers", "what is missing of nothing")
	for i := 1; i < len(all); i++ {
		assert.LessOrEqual(t, all[i-1].Line, all[i].Line)
	}
	for name, c := range map[string][2]string{
		"too many ranks":            {"a job of 1024 ranks", "tp·dp·pp = 4·32·8 = 1024 ranks: the network has 8 hosts"},
		"no YAML":                   {"jobs: [", "bad.yaml:"},
		"empty":                     {"", "one is needed"},
		"a scale-up network of one": {"server: 1, scale_up_gbps: 100", "a scale-up network joins at least 2 hosts"},
	} {
		text := c[0]
		switch name {
		case "too many ranks":
			text = fmt.Sprintf(small, "", 4, None, Exact, 4, 32, 8, 1, 1)
		case "a scale-up network of one":
			text = strings.Replace(fmt.Sprintf(small, "", 4, None, Exact, 1, 2, 1, 1, 1), "server: 2", c[0], 1)
		}
		_, err := Parse("bad.yaml", []byte(text))
		assert.ErrorContains(t, err, c[1], name)
	}
}
