// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/network/fabric"
	"incforge/verify/arith"
)

// messages is engine in Mode I: messages of 16 KiB, packets of up to 4,096 bytes.
func messages(degree int) contract.Params {
	p := inMode(1, engine(degree))
	p.MTUBytes, p.MessageBytes, p.WindowMessages, p.BufferBytes = 4096, 16384, 4, 64*16384
	return p
}

// TestMixedPathMTUs: ranks with path MTUs from 256 to 4,096, PSNs at random and before the wrap and habits of their own, one that loses 1 % and one at a
// tenth of the rate. Results are exact, and nobody sees what the lossy rank's link repeats.
func TestMixedPathMTUs(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 5))
	const lossy, slow = 2, 3
	for _, tc := range []struct {
		name   string
		change func(g *GroupConfig)
	}{
		{"bytes as they come", func(*GroupConfig) {}},
		{"whole messages", func(g *GroupConfig) { g.Whole = true }},
		{"releases", func(g *GroupConfig) { g.Release = true }},
		{"a pool of one", func(g *GroupConfig) { g.Pipe, g.Window = 1, 2 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(t, shape(3, 2), messages(2), func(c *Config) {
				c.Link = func(e Edge) *fabric.Link {
					l := &fabric.Link{Latency: 40, BytesPerCycle: 8}
					switch e.Rank {
					case lossy:
						l.Up, l.Down = fabric.Faults{Loss: 0.01}, fabric.Faults{Loss: 0.01}
					case slow:
						l.BytesPerCycle = 0.8
					}
					return l
				}
			})
			cfg := GroupConfig{PathMTUs: []int{256, 4096, 1024, 512}, Mixed: true}
			tc.change(&cfg)
			g, err := w.NewGroup(cfg)
			require.NoError(t, err)
			for _, k := range Collectives() {
				var in [][]byte
				if k != Barrier {
					in = values(rng, arith.Kind{}, 4, 40_000)
				}
				call, err := g.Queue(Request{Collective: k, Root: 1, In: in})
				require.NoError(t, err)
				require.NoError(t, w.Run(t.Context()))
				require.NoError(t, call.Check(), k)
			}
			require.NoError(t, w.Finish(t.Context()))
			require.Positive(t, w.Net().Stats.Lost)
			lossyResent := g.Host(lossy).Stats.Resent
			if all := counters(t, w); tc.name == "bytes as they come" {
				assert.Positive(t, all[2]["TX_RETRANSMIT"], "the lossy rank's switch")
				assert.Positive(t, lossyResent)
			}
			for s, c := range counters(t, w) {
				assert.Zero(t, c["TX_INVALID"]+c["RX_NAK"]*uint64(min(s, 1)^1), "switch %d", s) // the root has no lossy link
				assert.Equal(t, cfg.Release && s > 0, c["TX_RELEASE"] > 0, "the root has no host")
			}
			for r := range g.Ranks() {
				if st := g.Host(r).Stats; r != lossy {
					assert.Zero(t, st.NAKsObeyed+st.DupSeen+st.NAKsSent, "rank %d sees a loss", r)
				}
			}
		})
	}
}

// TestMessagesRefused: settings that Mode I does not take, and those that others do not.
func TestMessagesRefused(t *testing.T) {
	for i, tc := range []struct {
		cfg   GroupConfig
		words string
	}{
		{GroupConfig{PathMTU: 1000}, "path MTU 1000: must be a power of two from 256 to 4096"},
		{GroupConfig{PathMTUs: []int{0, 128}}, "path MTU 128"},
		{GroupConfig{Message: 5}, "messages of 5 packets of 4096 bytes: the engine takes 16384 bytes"},
		{GroupConfig{PathMTUs: []int{256, 256, 256, 256, 256}}, "path MTUs of 5 ranks, the tree has 4"},
		{GroupConfig{Release: true, Fixed: &Request{}}, "iterations of 0 messages: 1 to 8388607 are possible in a fixed group with releases"},
		{GroupConfig{Release: true, Iteration: 2}, "and in no other"},
		{GroupConfig{Pipe: 33}, "units of the buffer"},
	} {
		_, err := world(t, shape(2, 4), messages(4)).NewGroup(tc.cfg)
		assert.ErrorContains(t, err, tc.words, fmt.Sprint(i))
	}
	_, err := world(t, shape(2, 4), pipes(4)).NewGroup(GroupConfig{Whole: true})
	assert.ErrorContains(t, err, "are Mode I's")
}

// TestFixedReleases: every call of a fixed group is an iteration, after which the hosts that sent in it get a release; calls of another length are refused.
func TestFixedReleases(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 7))
	for _, collective := range []Collective{AllReduce, Reduce, Broadcast} {
		t.Run(collective.String(), func(t *testing.T) {
			w := world(t, shape(3, 2), messages(2))
			fixed := Request{Collective: collective, Root: 1, DType: arith.INT32}
			g, err := w.NewGroup(GroupConfig{Mixed: true, Release: true, Iteration: 3, Fixed: &fixed})
			require.NoError(t, err)
			const calls = 4
			for range calls {
				r := fixed
				r.In = values(rng, arith.Kind{DType: arith.INT32}, 4, 40_000) // two messages of 16 KiB and a shorter one
				call, err := g.Queue(r)
				require.NoError(t, err)
				require.NoError(t, w.Run(t.Context()))
				require.NoError(t, call.Check())
			}
			short := fixed
			short.In = values(rng, arith.Kind{DType: arith.INT32}, 4, 4)
			_, err = g.Queue(short)
			require.ErrorContains(t, err, "it has 1 messages in 1 ranges, an iteration of this group has 3 in one")
			require.NoError(t, w.Finish(t.Context()))
			released, senders := uint64(0), map[Collective]uint64{AllReduce: 4, Reduce: 4, Broadcast: 1}[collective]
			for _, c := range counters(t, w) {
				released += c["TX_RELEASE"]
			}
			assert.Equal(t, calls*senders, released)
		})
	}
}

// TestOneLossyRank: what a rank that loses 1 % costs the others in each mode, with memory for 64 packets of 1,024 bytes in each pipe or pool: where the
// connection ends at the switch, hardly anything. docs/termination.md has the figures.
func TestOneLossyRank(t *testing.T) {
	const lossy = 2
	for _, mode := range []int{2, 3, 1} {
		clean := uint64(0)
		for _, loss := range []float64{0, 0.01} {
			p := inMode(mode, engine(2))
			p.MTUBytes, p.BufferBytes = 1024, 1<<20
			if mode == 1 {
				p.MessageBytes, p.WindowMessages = 16384, 4
			}
			w := world(t, shape(3, 2), p, func(c *Config) {
				c.Link = func(e Edge) *fabric.Link {
					l := &fabric.Link{Latency: 40, BytesPerCycle: 8}
					if e.Rank == lossy {
						l.Up, l.Down = fabric.Faults{Loss: loss}, fabric.Faults{Loss: loss}
					}
					return l
				}
			})
			cfg := GroupConfig{Message: 16, Window: 4, Timeout: 40_000}
			g, err := w.NewGroup(cfg)
			require.NoError(t, err)
			call, err := g.Queue(Request{Collective: AllReduce, In: values(rand.New(rand.NewPCG(31, 6)), arith.Kind{}, 4, 1<<18)})
			require.NoError(t, err)
			finish(t, w, call)
			others := 0
			for r := range g.Ranks() {
				if r != lossy {
					others += g.Host(r).Stats.Resent
				}
			}
			own, sent := g.Host(lossy).Stats.Resent, uint64(0)
			for _, c := range counters(t, w) {
				sent += c["TX_RETRANSMIT"] + c["TX_RESEND"]
			}
			t.Logf("mode %d, loss %.0f %%: %d cycles, %d frames, ranks sent again: the lossy one %d, the others %d; switches %d", mode, 100*loss, call.Cycles(),
				w.Net().Stats.Frames, own, others, sent)
			assert.Zero(t, others)
			if loss == 0 {
				clean = call.Cycles()
				continue
			}
			assert.Positive(t, uint64(own)+sent)
			assert.Equal(t, mode == 2, call.Cycles() > clean+clean/10, "mode %d: %d cycles without loss, %d with", mode, clean, call.Cycles())
		}
	}
}
