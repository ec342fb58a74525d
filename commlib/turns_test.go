// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/commlib"
	"incforge/control/managerpb"
	"incforge/internal/synthetic"
	"incforge/live"
)

// Two groups of the same hosts take turns at memory that is enough for one: whatever a collective gets, a turn at the switches or the ring of the members, its result
// is exact. The lossy wires carry the ring, too.
func TestTurns(t *testing.T) {
	p := params()
	const shared = 48
	c, ctx := newSharing(t, p, live.Faults{Loss: 0.003}, shared), within(t, time.Minute)
	_, err := c.init(ctx, "large", []string{"h0", "h1"}, func(cfg *commlib.Config) { cfg.Policy = "?" })
	require.ErrorContains(t, err, "no policy")
	var both [2][]*commlib.Group
	for i := range both {
		both[i], err = c.init(ctx, fmt.Sprint("g", i), []string{"h0", "h2", "h1", "h3"}[i:], func(cfg *commlib.Config) {
			cfg.Policy, cfg.TurnWait, cfg.Tuning.QPTimeout = "temporal", time.Duration(i)*100*time.Microsecond, 12
		})
		require.NoError(t, err)
	}
	l, err := c.switches["leaf0"].agent.List(ctx, nil)
	require.NoError(t, err)
	for _, g := range l.Groups {
		require.Less(t, g.Slots, uint32(shared+1))
		require.Greater(t, g.Slots, uint32(shared/2), "there is room for one at a time")
	}
	var wait sync.WaitGroup
	for i, all := range both {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			for j := range 24 {
				kind, types := commlib.Collectives()[j%6], commlib.Types()
				x := draw(t, rng, kind, len(all), 1+rng.IntN(3000), types[rng.IntN(len(types))], []commlib.Op{commlib.Sum, commlib.Max}[rng.IntN(2)])
				if !assert.NoError(t, x.run(ctx, all)) {
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
	with, without := 0, 0
	for _, all := range both {
		a, b := all[0].Turns()
		for _, g := range all {
			again, alone := g.Turns()
			require.Equal(t, []int{a, b}, []int{again, alone}, "all ranks get the same answer")
		}
		with, without = with+a, without+b
	}
	t.Logf("%d collectives had a turn, %d had none", with, without)
	require.Equal(t, 48, with+without)
	require.Positive(t, min(with, without))
	for _, all := range both {
		require.NoError(t, everybody(len(all), func(rank int) error { return all[rank].Destroy(ctx) }))
	}
	c.empty()
}

// deaf is a manager that answers everything but what is asked about turns.
type deaf struct{ managerpb.ManagerClient }

func (deaf) Lock(context.Context, *managerpb.LockRequest, ...grpc.CallOption) (*managerpb.LockResponse, error) {
	return nil, status.Error(codes.Unavailable, "no way")
}

// A group that never gets a turn does everything over its ring: all collectives, types and operations, from nothing to what needs several pieces. A member that dies ends
// it, and the others hear why within five seconds.
func TestRing(t *testing.T) {
	t.Parallel()
	c, ctx := newSharing(t, params(), live.Faults{}, 48), within(t, time.Minute)
	members := []string{"h3", "h0", "h2", "h1"}
	all, err := c.init(ctx, "ring", members, func(cfg *commlib.Config) { cfg.Policy, cfg.Manager = "temporal", deaf{cfg.Manager} })
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 3))
	calls := 0
	for _, kind := range commlib.Collectives() {
		for i, elements := range []int{0, 1, 3, 5, 1000, 70_000} {
			x := draw(t, rng, kind, len(all), elements, commlib.Types()[i%4], []commlib.Op{commlib.Sum, commlib.Max}[i%2])
			require.NoError(t, x.run(ctx, all), "%v of %d elements", kind, elements)
			x.check(t, fmt.Sprint(kind, " of ", elements, " elements"))
			calls++
		}
	}
	for _, g := range all {
		with, without := g.Turns()
		require.Equal(t, []int{0, calls}, []int{with, without})
	}
	pair, err := c.init(ctx, "pair", []string{"h0", "h2"}, func(cfg *commlib.Config) { cfg.Policy, cfg.Manager = "temporal", deaf{cfg.Manager} })
	require.NoError(t, err)
	other := everybody(2, func(rank int) error {
		if rank == 0 {
			_ = pair[0].AllReduce(ctx, make([]byte, 8), make([]byte, 8), commlib.INT32, commlib.Sum)
			return nil
		}
		return pair[1].AllReduce(ctx, make([]byte, 8), make([]byte, 8), commlib.FP32, commlib.Sum)
	})
	require.ErrorIs(t, other, commlib.ErrMismatch)
	<-pair[0].Ended()
	require.ErrorContains(t, pair[0].Err(), "the rank before makes call 1")
	require.ErrorContains(t, pair[1].Err(), "toward rank 0 (h0): ")
	with, without := pair[1].Turns()
	require.Zero(t, with+without)
	for _, g := range pair {
		require.NoError(t, g.Abort(ctx, ""))
	}
	ended := make(chan []error)
	go func() {
		errs, _ := use(ctx, t, rng, all, nil)
		ended <- errs
	}()
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	require.NoError(t, c.hosts["h1"].kill())
	for rank, err := range <-ended {
		if members[rank] != "h1" {
			require.ErrorIs(t, err, commlib.ErrEnded)
			require.ErrorContains(t, err, "rank 3, h1, is gone")
		}
	}
	require.Less(t, time.Since(began), 5*time.Second)
	for _, g := range all {
		_ = g.Abort(ctx, "") // of h1 nobody hears
	}
	for _, name := range members[:3] {
		qps, regions := c.hosts[name].nic.InUse()
		require.Zero(t, qps+regions, name)
	}
}

// strict is a manager that finds no sense in what is asked about turns.
type strict struct{ managerpb.ManagerClient }

func (strict) Lock(context.Context, *managerpb.LockRequest, ...grpc.CallOption) (*managerpb.LockResponse, error) {
	return nil, status.Error(codes.InvalidArgument, "a wait of a year")
}

// slow is a manager that takes its time to say no.
type slow struct{ managerpb.ManagerClient }

func (slow) Lock(context.Context, *managerpb.LockRequest, ...grpc.CallOption) (*managerpb.LockResponse, error) {
	time.Sleep(time.Second)
	return &managerpb.LockResponse{}, nil
}

// forgetful is a manager whose answers can be lost: that to a Lock, and the next few to an Unlock, which it does not hear either.
type forgetful struct {
	managerpb.ManagerClient
	lock    atomic.Bool
	unlocks atomic.Int32
}

func (f *forgetful) Lock(ctx context.Context, r *managerpb.LockRequest, o ...grpc.CallOption) (*managerpb.LockResponse, error) {
	out, err := f.ManagerClient.Lock(ctx, r, o...)
	if f.lock.Load() && err == nil {
		return nil, status.Error(codes.Unavailable, "the answer is lost")
	}
	return out, err
}

func (f *forgetful) Unlock(ctx context.Context, r *managerpb.UnlockRequest, o ...grpc.CallOption) (*managerpb.UnlockResponse, error) {
	if f.unlocks.Add(-1) >= 0 {
		return nil, status.Error(codes.DeadlineExceeded, "not heard")
	}
	return f.ManagerClient.Unlock(ctx, r, o...)
}

// A turn of which no member knows, because the answer was lost, or whose end the manager has not heard at once, is given back while the group does nothing.
func TestTurnIsGivenBack(t *testing.T) {
	t.Parallel()
	c, ctx := newSharing(t, params(), live.Faults{}, 48), within(t, time.Minute)
	f := &forgetful{}
	all, err := c.init(ctx, "g", []string{"h0", "h2"}, func(cfg *commlib.Config) {
		cfg.Policy = "temporal"
		if cfg.Rank == 0 {
			f.ManagerClient = cfg.Manager
			cfg.Manager = f
		}
	})
	require.NoError(t, err)
	sum := func() error {
		return everybody(2, func(rank int) error {
			return all[rank].AllReduce(ctx, make([]byte, 8), make([]byte, 8), commlib.INT32, commlib.Sum)
		})
	}
	free := func() bool {
		for _, s := range c.switches {
			if l, err := s.agent.List(ctx, nil); err != nil || l.FreeShared != 48 {
				return false
			}
		}
		return true
	}
	for i, lost := range []bool{true, false} {
		f.lock.Store(lost)
		f.unlocks.Store(2)
		require.NoError(t, sum())
		with, without := all[1].Turns()
		require.Equal(t, []int{i, 1}, []int{with, without})
		require.Eventually(t, free, 5*time.Second, 10*time.Millisecond)
		require.Negative(t, f.unlocks.Load(), "the manager was told")
	}
	for _, g := range all {
		require.NoError(t, g.Abort(ctx, ""))
	}

	for _, wait := range []time.Duration{-1, time.Minute + 1} {
		_, err = c.init(ctx, "h", []string{"h0", "h2"}, func(cfg *commlib.Config) { cfg.Policy, cfg.TurnWait = "temporal", wait })
		require.ErrorContains(t, err, "it can be 0 to 1m0s")
	}
	all, err = c.init(ctx, "h", []string{"h0", "h2"}, func(cfg *commlib.Config) {
		cfg.Policy, cfg.TurnWait, cfg.Tuning.Timeout, cfg.Manager = "temporal", time.Second, time.Second/2, slow{cfg.Manager}
	})
	require.NoError(t, err)
	require.NoError(t, sum(), "a member may wait as long as rank 0 asks, whatever its timeout is")
	for _, g := range all {
		require.NoError(t, g.Abort(ctx, ""))
	}
	all, err = c.init(ctx, "i", []string{"h0", "h2"}, func(cfg *commlib.Config) { cfg.Policy, cfg.Manager = "temporal", strict{cfg.Manager} })
	require.NoError(t, err)
	require.Error(t, sum())
	for _, g := range all {
		<-g.Ended()
		require.ErrorContains(t, g.Err(), "the manager gives no turn: a wait of a year")
	}
}

// Two groups of the same hosts, each of which needs 72 % of every switch's slots: with engines that park groups both do all their collectives, in turns on the tree or on the ring of their
// members, and every result is exact. Lossy wires have acknowledgements come late. With two engines there are four groups, and two share the slots of each.
func TestParkedBetweenTurns(t *testing.T) {
	for _, of := range [][2]int{{1, 1}, {2, 1}, {3, 1}, {2, 2}} {
		mode, engines := of[0], of[1]
		t.Run(fmt.Sprintf("Mode %d, %d engines", mode, engines), func(t *testing.T) {
			t.Parallel()
			p := synthetic.Mini()
			p.Mode, p.Park, p.BufferBytes, p.Engines = mode, true, 11*1024, engines
			if mode == 1 {
				p.MessageBytes, p.WindowMessages = p.MTUBytes, 4
			}
			c, ctx := newSharing(t, p, live.Faults{Loss: 0.003}, 8), within(t, time.Minute)
			both, at := make([][]*commlib.Group, 2*engines), map[uint32]int{}
			for i := range both {
				var err error
				both[i], err = c.init(ctx, fmt.Sprint("g", i), []string{"h0", "h2", "h1", "h3"}, func(cfg *commlib.Config) {
					cfg.Policy, cfg.TurnWait, cfg.Tuning.QPTimeout = "temporal", 20*time.Millisecond, 12
				})
				require.NoError(t, err)
			}
			l, err := c.switches["leaf0"].agent.List(ctx, nil)
			require.NoError(t, err)
			require.Len(t, l.Groups, len(both))
			for _, g := range l.Groups {
				at[g.Engine]++
				require.True(t, g.InTurn)
				require.Greater(t, float64(g.Slots)/float64(p.Slots()), 0.72)
			}
			for engine := range engines {
				require.Equal(t, 2, at[uint32(engine)])
			}
			calls := make([]int, len(both)) // 40, and more until the group has had a turn: when the other is done nobody else wants the memory
			var wait sync.WaitGroup
			for i, all := range both {
				wait.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(mode), uint64(i)))
					for with, j := 0, 0; j < 40 || with == 0; j++ {
						x := draw(t, rng, commlib.Collectives()[j%6], len(all), 1+rng.IntN(3000), commlib.INT32, commlib.Sum)
						if !assert.NoError(t, x.run(ctx, all)) {
							return
						}
						x.check(t, fmt.Sprint("group ", i, ", call ", j))
						with, _ = all[0].Turns()
						calls[i]++
					}
				})
			}
			wait.Wait()
			for i, all := range both {
				with, without := all[0].Turns()
				t.Logf("group %d: %d collectives had a turn, %d had none", i, with, without)
				require.Equal(t, calls[i], with+without)
				require.Positive(t, with)
				require.NoError(t, everybody(len(all), func(rank int) error { return all[rank].Destroy(ctx) }))
			}
			c.empty()
		})
	}
}

// hasty is a manager whose turns are short, and over when they are prolonged.
type hasty struct{ managerpb.ManagerClient }

func (h hasty) Lock(ctx context.Context, r *managerpb.LockRequest, o ...grpc.CallOption) (*managerpb.LockResponse, error) {
	if r.Prolong {
		return nil, status.Error(codes.Aborted, "switch leaf0: the turn is over")
	}
	out, err := h.ManagerClient.Lock(ctx, r, o...)
	if err == nil {
		out.LeaseMs = 30
	}
	return out, err
}

// A group whose turn has run out while it was at work ends, and all members hear why.
func TestTurnRunsOut(t *testing.T) {
	t.Parallel()
	c, ctx := newSharing(t, params(), live.Faults{}, 48), within(t, time.Minute)
	all, err := c.init(ctx, "g", []string{"h0", "h2"}, func(cfg *commlib.Config) { cfg.Policy, cfg.Manager = "temporal", hasty{cfg.Manager} })
	require.NoError(t, err)
	err = all[0].AllReduce(ctx, make([]byte, 8), make([]byte, 8), commlib.INT32, commlib.Sum) // of which rank 1 knows nothing
	require.ErrorIs(t, err, commlib.ErrEnded)
	for _, g := range all {
		<-g.Ended()
		require.ErrorContains(t, g.Err(), "its turn has run out: switch leaf0: the turn is over")
	}
}
