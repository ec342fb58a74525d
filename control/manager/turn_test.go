// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/control/managerpb"
	"incforge/internal/synthetic"
)

// turn makes a group that takes turns.
func (w *world) turn(name string) *group {
	w.t.Helper()
	g, err := w.m.create(w.ctx, name, name, []string{"h0", "h1", "h2", "h3"}, Options{Mbps: 1000, DType: 3, Policy: temporal})
	require.NoError(w.t, err)
	for rank := range 4 {
		require.NoError(w.t, w.m.report(w.ctx, g, rank, End{QPN: uint32(9 + rank), IP: 7, MAC: 7}, End{QPN: uint32(20 + rank), IP: 7, MAC: 7}, End{QPN: uint32(30 + rank), IP: 7, MAC: 7}))
	}
	require.Equal(w.t, Ready, g.state, g.reason)
	return g
}

func (w *world) lock(g *group, sequence uint64, prolong bool) *managerpb.LockResponse {
	w.t.Helper()
	out, err := w.m.Lock(w.ctx, &managerpb.LockRequest{Group: g.ID, Sequence: sequence, Prolong: prolong})
	require.NoError(w.t, err)
	return out
}

// held is how many switches say that a group has its turn.
func (w *world) held(g *group) (n int) {
	w.t.Helper()
	for _, s := range w.sites {
		l, err := s.agent.List(w.ctx, &pb.ListRequest{})
		require.NoError(w.t, err)
		for _, turn := range l.Turns {
			if turn.Group == g.ID {
				n++
			}
		}
	}
	return n
}

// Two groups share the switches: one has its turn, the other hears who has the memory; a manager that comes later prolongs and ends what the one before has given; an
// agent that starts again still knows; and a group that keeps its turn for too long is ended when the other asks, and not before.
func TestTurns(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	for _, s := range w.sites {
		s.shared = 2 // what one of the groups has
		require.NoError(t, s.start(&life{left: -1}))
	}
	a, b := w.turn("a"), w.turn("b")
	around := a.neighbours(3)
	require.Equal(t, []uint32{30, 22}, []uint32{around.Next.Qpn, around.Previous.Qpn})
	require.True(t, w.lock(a, 1, false).Granted)
	require.Equal(t, 3, w.held(a))
	refused := w.lock(b, 1, false)
	require.False(t, refused.Granted)
	require.Contains(t, refused.Reason, "switch leaf0: the memory is in use")
	require.Contains(t, refused.Reason, "group "+a.ID+" has 2")
	require.Zero(t, w.held(b))
	require.Equal(t, refused.Reason, w.lock(b, 1, false).Reason, "the same answer")
	_, err := w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: a.ID, Sequence: 1})
	require.NoError(t, err)
	require.True(t, w.lock(b, 2, false).Granted)

	w.manage(&wire{life: &life{left: -1}})
	w.poll(2, true)
	a, b = w.m.groups[a.ID], w.m.groups[b.ID]
	require.NoError(t, w.sites["leaf1"].start(&life{left: -1}))
	require.True(t, w.lock(b, 2, true).Granted)
	require.False(t, w.lock(a, 2, false).Granted)
	_, err = w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: b.ID, Sequence: 2})
	require.NoError(t, err)
	require.True(t, w.lock(a, 3, false).Granted)

	w.sites["spine0"].lost = true
	_, err = w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: a.ID, Sequence: 3})
	require.NoError(t, err)
	require.Equal(t, 1, w.held(a), "it has not heard")
	w.sites["spine0"].lost = false
	w.poll(1, true)
	require.Zero(t, w.held(a))

	require.True(t, w.lock(a, 4, false).Granted)
	w.poll(11, true)
	require.Equal(t, Ready, a.state, "nobody needs it")
	require.True(t, w.lock(b, 3, false).Granted)
	w.poll(1, true)
	require.Equal(t, Removing, a.state)
	require.Contains(t, a.reason, "has lost the group")
	require.Equal(t, Ready, b.state)

	w.now = w.now.Add(-time.Hour)
	w.manage(&wire{life: &life{left: -1}})
	w.poll(2, true)
	b = w.m.groups[b.ID]
	require.True(t, w.lock(b, 4, false).Granted, "a clock that was set back")
	_, err = w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: b.ID, Sequence: 4})
	require.NoError(t, err)
	require.Zero(t, w.held(b))
	w.now = w.now.Add(time.Hour)
	w.m.destroy(w.ctx, b, "")
	for _, s := range w.sites {
		l, err := s.agent.List(w.ctx, &pb.ListRequest{})
		require.NoError(t, err)
		require.Equal(t, uint32(2), l.FreeShared)
	}

	for _, s := range w.sites {
		s.shared = 1
		require.NoError(t, s.start(&life{left: -1}))
	}
	w.poll(1, true) // numbers rest
	c := w.turn("c")
	require.Equal(t, "switch leaf0: group "+c.ID+" has 2 slots, only 1 are shared: it never has a turn", w.lock(c, 1, false).Reason)
	w.m.destroy(w.ctx, c, "")

	w.poll(1, true) // numbers rest
	plain, err := w.make("plain")
	require.NoError(t, err)
	text, err := json.Marshal(&plain.record)
	require.NoError(t, err)
	require.NotContains(t, string(text), "ring")
	for _, r := range []*managerpb.LockRequest{{Group: plain.ID, Sequence: 1}, {Group: "x"}, {Group: plain.ID, WaitMs: uint32(time.Hour.Milliseconds())}} {
		_, err := w.m.Lock(w.ctx, r)
		require.Contains(t, []codes.Code{codes.FailedPrecondition, codes.NotFound, codes.InvalidArgument}, status.Code(err))
	}
}

// share has every switch set slots aside for groups that take turns.
func (w *world) share(slots int) {
	for _, s := range w.sites {
		s.shared = slots
		require.NoError(w.t, s.start(&life{left: -1}))
	}
	w.poll(1, true)
}

// unparked is how many switches have a group in slots.
func (w *world) unparked(g *group) (n int) {
	w.t.Helper()
	for _, s := range w.sites {
		l, err := s.agent.List(w.ctx, &pb.ListRequest{})
		require.NoError(w.t, err)
		for _, at := range l.Groups {
			require.Equal(w.t, pb.State_STATE_INSTALLED, at.State)
			if at.Group == g.ID && !s.engine.Engine().Parked(int(at.Record)) {
				n++
			}
		}
	}
	return n
}

// Engines that park groups: two groups are placed at memory that is enough for one, and have it in turn. In Mode II a switch gives it up after those below it. A turn that a
// manager has left behind is ended once nobody prolongs it, and the group lives on.
func TestTurnsParked(t *testing.T) {
	p := synthetic.Mini()
	p.Park = true
	w := newWorld(t, p)
	w.share(2)
	a, b := w.turn("a"), w.turn("b")
	for _, sw := range a.Tree.Switches {
		require.True(t, sw.InTurn)
	}
	for _, u := range w.m.placer.Usage() {
		require.Equal(t, []int{12, 12}, []int{u.Slots, u.Free}, "four are set aside, two of these for groups that start")
	}
	unlock := func(g *group, sequence uint64) {
		_, err := w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: g.ID, Sequence: sequence})
		require.NoError(t, err)
	}
	require.Zero(t, w.unparked(a)+w.unparked(b))
	require.True(t, w.lock(a, 1, false).Granted)
	require.Equal(t, 3, w.unparked(a))
	require.False(t, w.lock(b, 1, false).Granted)
	unlock(a, 1)
	require.True(t, w.lock(b, 2, false).Granted)
	require.Equal(t, []int{0, 3}, []int{w.unparked(a), w.unparked(b)})

	w.manage(&wire{life: &life{left: -1}})
	w.poll(1, true)
	a, b = w.m.groups[a.ID], w.m.groups[b.ID]
	require.NoError(t, w.sites["leaf1"].start(&life{left: -1}))
	require.True(t, w.lock(b, 2, true).Granted)
	w.sites["leaf0"].lost = true
	unlock(b, 2)
	w.sites["leaf0"].lost = false
	require.Equal(t, 2, w.unparked(b), "the spine waits for the leaf that has not heard")
	w.poll(1, true)
	require.Zero(t, w.unparked(b))

	require.True(t, w.lock(a, 2, false).Granted)
	w.manage(&wire{life: &life{left: -1}})
	w.poll(9, true)
	a, b = w.m.groups[a.ID], w.m.groups[b.ID]
	require.Equal(t, 3, w.unparked(a), "its leader may be at work")
	w.poll(2, true)
	require.Zero(t, w.unparked(a))
	require.Equal(t, []State{Ready, Ready}, []State{a.state, b.state})
	_, err := w.m.Lock(w.ctx, &managerpb.LockRequest{Group: a.ID, Sequence: 2, Prolong: true})
	require.Equal(t, codes.Aborted, status.Code(err))
	require.True(t, w.lock(b, 3, false).Granted)
	require.Equal(t, 3, w.unparked(b))

	w.m.destroy(w.ctx, a, "")
	w.m.destroy(w.ctx, b, "")
	w.share(1)
	_, err = w.m.create(w.ctx, "c", "c", []string{"h0", "h1", "h2", "h3"}, Options{Mbps: 1000, DType: 3, Policy: temporal})
	require.ErrorContains(t, err, "leaf0 shares 1 KiB, 2 KiB asked")
}

// A manager is killed at every step of two turns, before the step and after it: the groups live on, the next manager gives back what was left, and both have turns again.
func TestManagerKilledInTurns(t *testing.T) {
	p := synthetic.Mini()
	p.Park = true
	for _, late := range []bool{false, true} {
		for n := 0; ; n++ {
			w := newWorld(t, p)
			w.share(2)
			a, b := w.turn("a"), w.turn("b")
			w.manage(&wire{life: &life{left: -1}})
			w.poll(1, true)
			w.wire.left, w.wire.late = n, late
			over := func(g *group, sequence uint64) {
				w.lock(g, sequence, false)
				_, err := w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: g.ID, Sequence: sequence})
				require.NoError(t, err)
			}
			over(w.m.groups[a.ID], 1)
			over(w.m.groups[b.ID], 1)
			died := w.wire.dead
			w.manage(&wire{life: &life{left: -1}})
			w.poll(12, true)
			require.Zero(t, w.unparked(a)+w.unparked(b), "step %d", n)
			for i, id := range []string{a.ID, b.ID} {
				g := w.m.groups[id]
				require.Equal(t, Ready, g.state)
				require.True(t, w.lock(g, 2, false).Granted, "group %d", i)
				require.Equal(t, 3, w.unparked(g))
				_, err := w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: g.ID, Sequence: 2})
				require.NoError(t, err)
			}
			if !died {
				require.Greater(t, n, 10)
				break
			}
		}
	}
}
