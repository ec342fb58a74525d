// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/internal/synthetic"
	"incforge/verify/manifest"
	"incforge/verify/net"
)

// engine are parameters of an engine that has everything, for trees of that degree.
func engine(degree int) manifest.Params {
	p := synthetic.Full()
	p.Members, p.Ports, p.MTUBytes, p.WindowPackets = degree+1, degree+1, 256, 64
	p.BufferBytes = p.MTUBytes * 1024
	return p
}

// world is a tree of reference engines.
func world(t *testing.T, tree Tree, p manifest.Params, change ...func(*Config)) *World {
	t.Helper()
	m := synthetic.Manifest(p)
	cfg := Config{Manifest: m, Tree: tree, Seed: 1, Switch: func(int) (dut.DUT, error) { return dut.NewReference(m) }}
	for _, c := range change {
		c(&cfg)
	}
	w, err := New(cfg)
	require.NoError(t, err)
	return w
}

// lossy loses frames on every link in both directions.
func lossy(p float64) func(*Config) {
	return func(c *Config) {
		c.Link = func(Edge) *net.Link {
			return &net.Link{Latency: 40, BytesPerCycle: 8, Up: net.Faults{Loss: p}, Down: net.Faults{Loss: p}}
		}
	}
}

// values are tensors of so many bytes whose reduction is exact.
func values(rng *rand.Rand, k arith.Kind, ranks, n int) [][]byte {
	all := make([][]byte, ranks)
	salt := rng.Uint64()
	for r := range all {
		all[r] = k.Values(rng, salt, ranks, n)
	}
	return all
}

func TestFirst(t *testing.T) {
	w := world(t, Tree{2, 4}, engine(4))
	g, err := w.NewGroup(GroupConfig{Message: 2, Window: 4})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	c, err := g.Queue(Request{Collective: AllReduce, In: values(rng, arith.Kind{}, 4, 4000)})
	require.NoError(t, err)
	require.NoError(t, w.Run(context.Background()))
	require.NoError(t, c.Check())
	t.Logf("%+v %v", c.Ranks, c.Throughput(250))
	require.NoError(t, w.Finish(context.Background()))
}
