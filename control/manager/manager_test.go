// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/inc"
	"incforge/internal/synthetic"
)

func TestLife(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	require.Equal(t, Ready, g.state)
	require.Equal(t, 1, w.agree("made"))

	// Either end of an edge knows the other, and all begin at the same PSN.
	for i, sw := range g.Tree.Switches {
		s := w.sites[sw.Name]
		assert.Equal(t, g.Start, uint32(s.engine.Group(0).Start))
		for e, c := range sw.Children {
			near := s.engine.Endpoint(e)
			require.True(t, near.Valid)
			if c.Rank >= 0 {
				assert.True(t, near.Host)
				assert.Equal(t, uint32(100+c.Rank), near.RemoteQPN)
				assert.Equal(t, near.LocalQPN, g.offer(c.Rank).Peer.Qpn)
				assert.Equal(t, near.LocalIP.Uint32(), g.offer(c.Rank).Peer.Ip)
				continue
			}
			below := &g.Tree.Switches[c.Switch]
			require.Equal(t, i, below.Parent)
			far := w.sites[below.Name].engine.Endpoint(len(below.Children))
			assert.Equal(t, []any{near.LocalQPN, near.LocalIP, near.LocalMAC}, []any{far.RemoteQPN, far.RemoteIP, far.RemoteMAC})
			assert.Equal(t, []any{far.LocalQPN, far.LocalIP, far.LocalMAC}, []any{near.RemoteQPN, near.RemoteIP, near.RemoteMAC})
			assert.False(t, near.Host || far.Host)
		}
	}
	w.poll(20, true)
	require.Equal(t, 1, w.agree("kept"))
	w.m.destroy(w.ctx, g, "no longer needed")
	require.Equal(t, 0, w.agree("destroyed"))
}

// A thousand groups come and go: nothing leaks anywhere, and every one has another START and other queue pair numbers.
func TestManyGroups(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	qpns, starts := map[uint32]bool{}, map[uint32]bool{}
	for i := range 1000 {
		g, err := w.make(fmt.Sprint("g", i))
		require.NoError(t, err)
		require.Equal(t, Ready, g.state)
		starts[g.Start] = true
		for _, e := range g.Ends["spine0"] {
			require.False(t, qpns[e.QPN])
			qpns[e.QPN] = true
		}
		w.m.destroy(w.ctx, g, "")
		w.now = w.now.Add(time.Millisecond)
	}
	require.Greater(t, len(starts), 990)
	require.Equal(t, 0, w.agree("after a thousand"))
}

func TestTenantLimit(t *testing.T) {
	p := synthetic.Mini()
	p.Groups = 4
	w := newWorld(t, p)
	for _, name := range []string{"a", "b"} {
		_, err := w.make(name)
		require.NoError(t, err)
	}
	_, err := w.make("c")
	require.ErrorContains(t, err, "tenant acme has 2 groups and may have no more")
	require.Equal(t, 2, w.agree("refused"))
}

// The manager is killed before every step of a group's life, the next one too, and a third one finds the group whole or removes it, whether the members
// have stayed or not. Killed after a step is killed before the next: what is in between nobody else sees.
func TestManagerKilledAtEveryStep(t *testing.T) {
	cases, runs := 0, 0
	for n := 0; ; n++ {
		finished := false
		for second := range 9 {
			for _, watch := range []bool{false, true} {
				each(cases/2, func(order []int) {
					what := fmt.Sprintf("killed at %d, then at %d, members stay: %v, order %v", n, second, watch, order)
					w := newWorld(t, kinds(cases))
					w.wire.left, w.order = n, order
					g, err := w.make("ring")
					told := g != nil && g.state == Ready && w.wire.dead // the last that the members heard
					if err == nil && !w.wire.dead {
						w.m.destroy(w.ctx, g, "")
					}
					finished = finished || !w.wire.dead
					runs++
					w.manage(&wire{life: &life{left: second}})
					w.poll(3, watch)
					w.manage(&wire{life: &life{left: -1}})
					w.poll(15, watch)
					whole := w.agree(what)
					if !watch {
						require.Zero(t, whole, what)
					} else if told {
						require.Equal(t, 1, whole, what)
					}
					w.again(what, whole)
				})
				cases++
			}
		}
		if finished {
			break
		}
	}
	t.Logf("%d cases", runs)
	require.Greater(t, runs, 200)
}

// again makes another group, which a campaign leaves possible.
func (w *world) again(what string, whole int) {
	w.t.Helper()
	next, err := w.make("next")
	require.NoError(w.t, err, what)
	require.Equal(w.t, Ready, next.state, what)
	require.Equal(w.t, whole+1, w.agree(what))
}

// The network loses a call or its answer, and some more to the same switch, at every step. The manager lives on.
func TestNetworkCutAtEveryStep(t *testing.T) {
	cases, cut := 0, 0
	for n := range 13 { // a group's life has as many
		for _, count := range []int{1, 2, 3, 8} {
			for variant := range 4 {
				answers, watch := variant&1 > 0, variant&2 > 0
				each(cases/4, func(order []int) {
					what := fmt.Sprintf("cut at %d, %d calls, answers %v, members stay: %v, order %v", n, count, answers, watch, order)
					w := newWorld(t, kinds(cases))
					w.wire.made, w.wire.cutAt, w.wire.count, w.wire.answers, w.order = 0, n, count, answers, order
					g, err := w.make("ring")
					if err == nil && g.state == Ready {
						w.m.destroy(w.ctx, g, "")
					}
					if w.wire.cutSite != nil { // at some steps the manager writes its file
						cut++
					}
					w.poll(15, watch)
					w.wire.count = 0
					w.poll(15, watch)
					w.again(what, w.agree(what))
				})
				cases++
			}
		}
	}
	t.Logf("%d cases", cut)
	of := 1
	if *everyOrder {
		of = len(orders())
	}
	require.Equal(t, cut, of*9*16, "three calls to three switches")
}

// An agent is killed at every step of a group's life and starts again soon, or too late.
func TestAgentKilledAtEveryStep(t *testing.T) {
	runs := 0
	for _, name := range []string{"spine0", "leaf1"} {
		for n := 0; ; n++ {
			died := false
			for variant := range 8 {
				late, watch, soon := variant&1 > 0, variant&2 > 0, variant&4 > 0
				each(n+variant, func(order []int) {
					what := fmt.Sprintf("%s killed at %d (late %v), members stay: %v, soon back: %v, order %v", name, n, late, watch, soon, order)
					w := newWorld(t, kinds(n/3+variant))
					s := w.sites[name]
					s.life.left, s.life.late, w.order = n, late, order
					g, err := w.make("ring")
					if err == nil && g.state == Ready {
						w.m.destroy(w.ctx, g, "")
					}
					died = died || s.life.dead
					runs++
					if !soon {
						w.poll(6, watch)
					}
					require.NoError(t, s.start(&life{left: -1}))
					w.poll(15, watch)
					w.again(what, w.agree(what))
				})
			}
			if !died {
				break
			}
		}
	}
	t.Logf("%d cases", runs)
	require.Greater(t, runs, 500)
}

// A switch that is down holds nobody up: whatever is to be removed there waits, and takes none of the tenant's groups.
func TestDownSwitch(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	for range 2 {
		g, err := w.make("ring")
		require.NoError(t, err)
		w.sites["spine0"].lost = true
		w.poll(5, true)
		require.Equal(t, Removing, g.state)
		calls := w.wire.made
		w.poll(10, true)
		require.Equal(t, calls, w.wire.made)
		w.sites["spine0"].lost = false
		w.poll(1, true)
		require.Zero(t, w.agree("up again"))
	}
}

// A host that comes up asks for a group at once, when the switches of a round of Poll have been asked before it was there: that round does not end the group.
// The next one does, if the link is still down.
func TestPlacedInARound(t *testing.T) {
	for _, comes := range []bool{true, false} {
		w := newWorld(t, synthetic.Mini())
		leaf := w.sites["leaf1"]
		leaf.ports = []*pb.Port{{Down: true}, {Port: 1}, {Port: 2}, {Port: 3}}
		var g *group
		leaf.then = func() {
			leaf.then = nil
			var err error
			g, err = w.make("ring")
			assert.NoError(t, err)
		}
		w.poll(1, true)
		require.Equal(t, Ready, g.state, g.reason)
		leaf.ports[0].Down = !comes
		w.poll(1, true)
		if comes {
			require.Equal(t, Ready, g.state, g.reason)
			continue
		}
		require.Equal(t, Removing, g.state)
		assert.Equal(t, "the link leaf1–h2 is down", g.reason)
	}
}

// stopping is an agent whom the manager has asked for its groups before one was installed, and cannot ask more because it is being stopped.
type stopping struct{ pb.AgentClient }

func (stopping) List(context.Context, *pb.ListRequest, ...grpc.CallOption) (*pb.ListResponse, error) {
	return &pb.ListResponse{}, nil
}

func (stopping) Commit(context.Context, *pb.CommitRequest, ...grpc.CallOption) (*pb.CommitResponse, error) {
	return nil, status.FromContextError(context.Canceled).Err()
}

// A manager that is being stopped ends no group because it could not ask.
func TestStoppedAmidARound(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	leaf := w.m.switches["leaf1"]
	own := leaf.agent
	leaf.agent = stopping{own}
	w.poll(1, true)
	require.Equal(t, Ready, g.state, g.reason)
	leaf.agent = own
	w.poll(1, true)
	require.Equal(t, Ready, g.state, g.reason)
}

// What fails ends the groups on it, with the reason, within five seconds, and no others; a new group on what is left works at once.
func TestFailures(t *testing.T) {
	for name, f := range map[string]struct {
		fail  func(w *world)
		watch bool
		want  string
	}{
		"a member":  {func(*world) {}, false, "rank 0, h2, is gone"},
		"an agent":  {func(w *world) { w.sites["leaf1"].life.dead = true }, true, "switch leaf1 is down: no way"},
		"a network": {func(w *world) { w.sites["spine0"].lost = true }, true, "switch spine0 is down: no way"},
		"an engine": {func(w *world) { require.NoError(w.t, w.sites["leaf1"].engine.Reset()) }, true, "switch leaf1 has lost the group: the engine has lost group "},
		"a link": {func(w *world) {
			w.sites["leaf1"].ports = []*pb.Port{{}, {Port: 1}, {Port: 2, Down: true}, {Port: 3}}
		}, true, "the link spine0–leaf1 is down"},
		"a cable": {func(w *world) {
			w.sites["leaf1"].ports = []*pb.Port{{Neighbour: "h3"}, {Port: 1}, {Port: 2}, {Port: 3}}
		}, true, "the link leaf1–h2 is down"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, synthetic.Mini())
			g, err := w.make("ring")
			require.NoError(t, err)
			other, err := w.m.create(w.ctx, "other", "low", []string{"h0", "h1"}, Options{Mbps: 1000, DType: 3})
			require.NoError(t, err)
			for rank := range 2 {
				require.NoError(t, w.m.report(w.ctx, other, rank, End{QPN: uint32(9 + rank), IP: 0x0A000200, MAC: 5}))
			}
			f.fail(w)
			for range 4 {
				w.now = w.now.Add(time.Second)
				w.m.mu.Lock()
				for rank := range 2 {
					other.watched[rank] = 1
				}
				for rank := range 4 {
					if f.watch {
						g.watched[rank] = 1
					}
				}
				w.m.mu.Unlock()
				w.m.Poll(w.ctx)
			}
			require.Equal(t, Removing, g.state)
			assert.Contains(t, g.reason, f.want)
			select {
			case <-g.over:
			default:
				t.Error("its members were not told")
			}
			require.Equal(t, Ready, other.state)
			again, err := w.m.create(w.ctx, "other", "again", []string{"h1", "h0"}, Options{Mbps: 1000, DType: 3})
			require.NoError(t, err)
			require.Equal(t, Gathering, again.state)
		})
	}
}

// Members that do not report end the group when their time is over, until which the reservation is renewed.
func TestGather(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.m.create(w.ctx, "acme", "slow", []string{"h0", "h3"}, Options{Mbps: 1000, DType: 3})
	require.NoError(t, err)
	require.NoError(t, w.m.report(w.ctx, g, 0, End{QPN: 7, IP: 7, MAC: 7}))
	require.ErrorContains(t, w.m.report(w.ctx, g, 0, End{QPN: 8, IP: 7, MAC: 7}), "rank 0 of group "+g.ID+" has reported another queue pair")
	w.poll(29, true)
	require.Equal(t, Gathering, g.state)
	w.poll(3, true)
	require.Equal(t, Removing, g.state)
	require.Equal(t, "rank 1, h3, has made no queue pair in 30s", g.reason)
	require.Equal(t, 0, w.agree("given up"))
}

// What a manager had reserved when it died its successor removes at once, long before the leases run out.
func TestPresumedAbort(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	_, err := w.m.create(w.ctx, "acme", "ring", []string{"h0", "h3"}, Options{Mbps: 1000, DType: 3})
	require.NoError(t, err)
	w.manage(&wire{life: &life{left: -1}})
	w.m.Poll(w.ctx)
	require.Zero(t, w.agree("at once"))
}

// A manager that dies while it removes, or before it has heard that all is removed, leaves it to its successor.
func TestRemovalGoesOn(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	w.sites["leaf1"].lost = true
	w.m.destroy(w.ctx, g, "no longer needed")
	require.Equal(t, Removing, g.state)
	w.manage(&wire{life: &life{left: -1}})
	w.poll(20, true)
	require.Equal(t, Removing, w.m.groups[g.ID].state)
	require.Equal(t, "no longer needed", w.m.groups[g.ID].reason)
	w.sites["leaf1"].lost = false
	w.m.Poll(w.ctx)
	require.Zero(t, w.agree("removed"))
}

// An agent that has lost its file gives its groups back to the manager, which knows them by their registers.
func TestUnclaimed(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	s := w.sites["leaf0"]
	for _, r := range []string{"record/0000", "record/0001"} {
		require.NoError(t, s.file.Delete(r))
	}
	require.NoError(t, s.start(&life{left: -1}))
	w.poll(1, true)
	require.Equal(t, Ready, g.state)
	require.Equal(t, 1, w.agree("claimed"))

	// One that nobody decided is removed.
	require.NoError(t, w.file.Delete(groupPrefix+g.ID))
	for _, s := range w.sites {
		require.NoError(t, s.file.Delete("record/0000"))
		require.NoError(t, s.start(&life{left: -1}))
	}
	w.manage(&wire{life: &life{left: -1}})
	w.poll(2, true)
	require.Equal(t, 0, w.agree("removed"))
}

// The registers that a tree gets are those that the reference's own control plane would write.
func TestSettings(t *testing.T) {
	w := newWorld(t, synthetic.Full())
	type masks struct{ in, out, ack, parent uint32 }
	none := uint32(99)
	for name, c := range map[string]struct {
		o    Options
		want map[string]masks // rank 0 is h2, below leaf1
	}{
		"allreduce": {Options{}, map[string]masks{"spine0": {3, 3, 0, none}, "leaf0": {3, 3, 3, 2}, "leaf1": {3, 3, 3, 2}}},
		"reduce":    {Options{Collective: inc.CollectiveReduce}, map[string]masks{"spine0": {1, 0, 2, 1}, "leaf0": {3, 0, 4, 2}, "leaf1": {7, 0, 1, 0}}},
		"broadcast": {Options{Collective: inc.CollectiveBroadcast}, map[string]masks{"spine0": {0, 1, 1, 1}, "leaf0": {0, 3, 3, 2}, "leaf1": {0, 6, 6, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Mbps = 1000
			g, err := w.m.create(w.ctx, name, "g", []string{"h2", "h0", "h1", "h3"}, c.o)
			require.NoError(t, err)
			for i, sw := range g.Tree.Switches {
				s := g.settings(i)
				got := masks{s.InMask, s.OutMask, s.AckMask, s.Parent}
				if !s.HasParent {
					got.parent = none
				}
				assert.Equal(t, c.want[sw.Name], got, sw.Name)
			}
			w.m.destroy(w.ctx, g, "")
			w.now = w.now.Add(time.Millisecond) // numbers rest
		})
	}
	g, err := w.m.create(w.ctx, "acme", "in-band", []string{"h2", "h0", "h1", "h3"}, Options{Mbps: 1000, InBand: true})
	require.NoError(t, err)
	routes := map[string][]uint32{"spine0": {1, 0, 0, 1}, "leaf0": {2, 0, 1, 2}, "leaf1": {0, 2, 2, 1}}
	for i, sw := range g.Tree.Switches {
		assert.Equal(t, routes[sw.Name], g.settings(i).Routes, sw.Name)
	}
	for rank := range 4 {
		require.NoError(t, w.m.report(w.ctx, g, rank, End{QPN: uint32(9 + rank), IP: 7, MAC: 7}))
	}
	require.Equal(t, Ready, g.state, g.reason)
}

func TestModeThree(t *testing.T) {
	p := synthetic.Mini()
	p.Mode, p.HopRTTNS = 3, 2000
	w := newWorld(t, p)
	g, err := w.make("ring")
	require.NoError(t, err)
	require.Equal(t, Ready, g.state, g.reason)
	require.Equal(t, g.Tree.Window, w.sites["leaf0"].engine.Group(0).PipeSlots)
}

// A switch comes back with an engine that cannot hold what was placed there.
func TestEngineOfAnotherKind(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	small := synthetic.Mini()
	small.BufferBytes = small.MTUBytes
	text, err := json.Marshal(small)
	require.NoError(t, err)
	require.NoError(t, w.m.describe(w.m.switches["leaf0"], string(text)))
	w.m.mu.Lock()
	require.NoError(t, w.m.account())
	w.m.mu.Unlock()
	require.Contains(t, w.m.lost[g.ID], "slots 0 to 1 of leaf0 are not free")
}
