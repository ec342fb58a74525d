// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/contract"
	"incforge/live"
	"incforge/roce"
)

// In Mode I members have whatever path MTU and first PSN they like, across the wrap too, on wires that lose frames: in-band groups and fixed ones do everything, whole messages
// or not, and results are exact.
func TestMembersOfTheirOwn(t *testing.T) {
	c, ctx := newCluster(t, paramsOf(1), live.Faults{Loss: 0.005}), within(t, time.Minute)
	rng := rand.New(rand.NewPCG(21, 22))
	members := []string{"h2", "h0", "h3", "h1"}
	own := func(cfg *commlib.Config) {
		first := []roce.PSN{0xFFFFF0, 0, 0xFFFFFF, 0x800000}[cfg.Rank]
		cfg.Tuning.FirstPSN, cfg.Tuning.PathMTU, cfg.Tuning.QPTimeout = &first, []int{256, 1024, 512, 0}[cfg.Rank], 12
	}
	psns := map[roce.PSN]bool{}
	for i, whole := range []bool{false, true} {
		all, err := c.init(ctx, fmt.Sprint("g", i), members, func(cfg *commlib.Config) { own(cfg); cfg.WholeMessages = whole })
		require.NoError(t, err)
		for rank, g := range all {
			e := g.Endpoint()
			require.Equal(t, 4096, e.Message)
			require.Equal(t, []roce.PSN{0xFFFFF0, 0, 0xFFFFFF, 0x800000}[rank], e.OwnStart)
			require.False(t, psns[e.PeerStart], "each switch's end has one of its own")
			psns[e.PeerStart] = true
		}
		for _, what := range commlib.Collectives() {
			for _, elements := range []int{0, 1, 6000} {
				x := draw(t, rng, what, 4, elements, commlib.Types()[rng.IntN(4)], commlib.Sum)
				require.NoError(t, x.run(ctx, all), what)
				x.check(t, what.String())
			}
		}
		many(ctx, t, rng, all)
		require.NoError(t, everybody(4, func(rank int) error { return all[rank].Destroy(ctx) }))
	}
	for _, what := range []commlib.Collective{commlib.AllReduce, commlib.Reduce, commlib.Broadcast, commlib.Barrier} {
		x := draw(t, rng, what, 4, 6000, commlib.BF16, commlib.Sum)
		fixed := commlib.Request{Collective: what, Root: x.requests[0].Root, Type: commlib.BF16}
		all, err := c.init(ctx, "fixed", members, func(cfg *commlib.Config) { own(cfg); cfg.Fixed = &fixed; cfg.Tuning.Packets = 3 })
		require.NoError(t, err)
		require.NoError(t, x.run(ctx, all), what)
		x.check(t, what.String())
		require.NoError(t, all[1].Abort(ctx, "enough"))
		for _, g := range all {
			require.NoError(t, g.Abort(ctx, ""))
		}
	}
	for want, change := range map[string]func(cfg *commlib.Config){
		"a path MTU of 128 bytes, it can be a power of two from 256 to 1024":          func(cfg *commlib.Config) { cfg.Tuning.PathMTU = 128 },
		"messages of 5 packets of 1024 bytes, they can have 4096 bytes":               func(cfg *commlib.Config) { cfg.Tuning.Packets = 5 },
		"an MTU of 768 bytes, messages of 4096: in Mode I both must be powers of two": func(cfg *commlib.Config) { cfg.MTU = 768 },
	} {
		_, err := c.init(ctx, "refused", members, change)
		require.ErrorContains(t, err, want)
	}
	c.empty()
}

// What Mode I alone has is refused elsewhere.
func TestNotOfTheirOwn(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	_, err := c.init(ctx, "g", []string{"h0", "h1"}, func(cfg *commlib.Config) { cfg.Tuning.PathMTU = 256 })
	require.ErrorContains(t, err, "a path MTU and a first PSN of its own: Mode I alone has them")
	_, err = c.init(ctx, "g", []string{"h0", "h1"}, func(cfg *commlib.Config) { cfg.WholeMessages = true })
	require.ErrorContains(t, err, "whole messages are Mode I's")
	c.empty()
}

// A host whose packet breaks the protocol of Mode I loses its connection at the switch, which does nothing more with it. The group ends for all, with the reason, within five
// seconds, and the others go on.
func TestRefusedBySwitch(t *testing.T) {
	for _, interrupts := range []bool{false, true} {
		t.Run(fmt.Sprintf("interrupts %v", interrupts), func(t *testing.T) {
			p := paramsOf(1)
			p.Interrupts = interrupts
			refusedBySwitch(t, newCluster(t, p, live.Faults{}))
		})
	}
}

func refusedBySwitch(t *testing.T, c *cluster) {
	ctx := within(t, time.Minute)
	good, err := c.init(ctx, "good", []string{"h3", "h1"}, nil)
	require.NoError(t, err)
	all, err := c.init(ctx, "bad", []string{"h0", "h1", "h2"}, nil)
	require.NoError(t, err)
	e := all[0].Endpoint()
	at := c.hosts["h0"].nic.Address()
	middle := roce.Packet{SrcMAC: at.MAC, DstMAC: e.Peer.MAC, SrcIP: at.IP, DstIP: e.Peer.IP, TTL: 64, SrcPort: 50000, Op: roce.SendMiddle, MigReq: true, PKey: roce.DefaultPKey,
		DestQP: e.PeerQPN, PSN: e.OwnStart, Payload: make([]byte, 1024)}
	began := time.Now()
	require.NoError(t, c.hosts["h0"].wire.Send(middle.AppendFrame(nil)))
	for _, g := range all {
		select {
		case <-g.Ended():
		case <-time.After(5 * time.Second):
			t.Fatal("nobody says anything")
		}
		require.ErrorIs(t, g.Err(), commlib.ErrEnded)
		require.ErrorContains(t, g.Err(), "switch leaf0: the engine has ended the connection, for what it sent, of "+at.IP.String())
	}
	t.Logf("after %v", time.Since(began))
	require.NoError(t, everybody(2, func(rank int) error { return good[rank].Barrier(ctx) }))
	require.NoError(t, everybody(2, func(rank int) error { return good[rank].Destroy(ctx) }))
	c.empty()
}

// Switches of four engines with one group each: four groups of the same hosts work at once, each at an engine of its own, and a fifth has no place. One that fails, fails alone.
func TestGroupsOfEngines(t *testing.T) {
	for _, mode := range contract.Modes() {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			p := paramsOf(mode)
			p.Engines, p.Groups, p.BufferBytes = 4, 1, 1<<17
			c, ctx := newCluster(t, p, live.Faults{Loss: 0.002}), within(t, time.Minute)
			var all [4][]*commlib.Group
			for i := range all {
				var err error
				all[i], err = c.init(ctx, fmt.Sprint("g", i), []string{"h2", "h0", "h1", "h3"}, func(cfg *commlib.Config) { cfg.Tuning.QPTimeout = 12 })
				require.NoError(t, err)
			}
			_, err := c.init(ctx, "fifth", []string{"h0", "h1"}, nil)
			require.ErrorContains(t, err, "leaf0 serves 4 groups and can serve no more")
			for name, n := range c.switches {
				l, err := n.agent.List(ctx, nil)
				require.NoError(t, err)
				served := map[uint32]int{}
				for _, g := range l.Groups {
					served[g.Engine]++
				}
				require.Equal(t, map[uint32]int{0: 1, 1: 1, 2: 1, 3: 1}, served, name)
			}
			work := func(groups [][]*commlib.Group) {
				var wait sync.WaitGroup
				for i, group := range groups {
					wait.Go(func() {
						rng := rand.New(rand.NewPCG(31, uint64(i)))
						for _, kind := range commlib.Collectives() {
							x := draw(t, rng, kind, 4, 2000, commlib.INT32, commlib.Sum)
							if !assert.NoError(t, x.run(ctx, group), kind) {
								return
							}
							for rank, want := range x.want {
								if want != nil {
									assert.Equal(t, want, x.requests[rank].Recv, "group %d, %v, rank %d", i, kind, rank)
								}
							}
						}
					})
				}
				wait.Wait()
			}
			work(all[:])
			require.NoError(t, all[1][0].Abort(ctx, "enough"))
			work([][]*commlib.Group{all[0], all[2], all[3]})
			again, err := c.init(ctx, "fifth", []string{"h0", "h1", "h2", "h3"}, func(cfg *commlib.Config) { cfg.Tuning.QPTimeout, cfg.Wait = 12, 5*time.Second })
			require.NoError(t, err)
			work([][]*commlib.Group{again})
			for _, group := range [][]*commlib.Group{again, all[0], all[2], all[3]} {
				require.NoError(t, everybody(4, func(rank int) error { return group[rank].Destroy(ctx) }))
			}
			for _, g := range all[1][1:] {
				require.NoError(t, g.Abort(ctx, ""))
			}
			c.empty()
		})
	}
}
