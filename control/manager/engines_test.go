// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "incforge/control/agentpb"
	"incforge/control/managerpb"
	"incforge/internal/synthetic"
)

// Switches of four engines with two groups each: groups go round the engines, a group that no single engine has room for is refused by the names of what lacks, and what
// ends at one engine makes room there.
func TestEngines(t *testing.T) {
	p := synthetic.Mini()
	p.Engines = 4
	w := newWorld(t, p)
	w.m.cfg.Groups = 0
	all := []string{"h0", "h1", "h2", "h3"}
	var groups []*group
	place := func(name string, o Options) (*group, error) {
		g, err := w.m.create(w.ctx, "acme", name, all, o)
		if err == nil {
			groups = append(groups, g)
		}
		return g, err
	}
	for i := range 8 {
		g, err := place(fmt.Sprint("g", i), Options{Mbps: 1000, DType: 3})
		require.NoError(t, err)
		for _, sw := range g.Tree.Switches {
			require.Equal(t, i%4, sw.Engine, sw.Name)
			require.Equal(t, i/4*2, sw.Base, "each engine's slots begin at 0")
		}
	}
	_, err := place("ninth", Options{Mbps: 1000, DType: 3})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "leaf0 serves 8 groups and can serve no more")
	w.m.destroy(w.ctx, groups[6], "")
	w.now = w.now.Add(time.Second)

	status := w.m.status(func(*group) bool { return true }, true)
	for _, s := range status.Switches {
		require.Equal(t, []uint32{64, 50, 7, 8}, []uint32{s.Slots, s.Free, s.Groups, s.Records})
		var each [][2]uint32
		for _, e := range s.Engines {
			each = append(each, [2]uint32{e.Groups, e.Free})
		}
		require.Equal(t, [][2]uint32{{2, 12}, {2, 12}, {1, 14}, {2, 12}}, each)
	}
	require.Equal(t, []uint32{3, 3, 3}, status.Groups[3].Engines)

	// 32 slots are in no engine, though four have 50 left; 16 would be in one that nobody uses.
	_, err = place("large", Options{Mbps: 100_000, MTU: 128, DType: 3})
	require.ErrorContains(t, err, "leaf0, above h0, has 16 KiB in each of its 4 engines, 32 KiB asked of one")
	_, err = place("less", Options{Mbps: 80_000, MTU: 256, DType: 3})
	require.ErrorContains(t, err, "has no engine with 16 KiB, which are asked of one: engine 0 serves 2 groups and can serve no more, engine 1 serves 2 groups and can serve no more, "+
		"engine 2 has 14 KiB left, engine 3 serves 2 groups and can serve no more")
	g, err := place("fits", Options{Mbps: 40_000, MTU: 256, DType: 3})
	require.NoError(t, err)
	for _, sw := range g.Tree.Switches {
		require.Equal(t, []int{2, 2, 8}, []int{sw.Engine, sw.Base, sw.Slots})
	}
	for i, g := range groups {
		if i != 6 {
			w.m.destroy(w.ctx, g, "")
		}
	}
	require.Zero(t, w.agree("all are gone"))
}

// A switch fails, its agent comes back with an empty engine or as it was, a new manager takes over: groups are where they were, at the same engines, or gone.
func TestEnginesFail(t *testing.T) {
	w := newWorld(t, kinds(1))
	a, err := w.make("a")
	require.NoError(t, err)
	b, err := w.make("b")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{a.Tree.Switches[0].Engine, b.Tree.Switches[0].Engine})
	for _, s := range w.sites {
		require.NoError(t, s.start(&life{left: -1}))
	}
	w.manage(&wire{life: &life{left: -1}})
	w.poll(3, true)
	require.Equal(t, 2, w.agree("all have started again"))
	require.Equal(t, 1, w.m.groups[b.ID].Tree.Switches[2].Engine)

	require.NoError(t, w.sites["leaf1"].engine.Engine().Disable(1))
	w.poll(2, true)
	require.Equal(t, 1, w.agree("one engine has lost its group"))
	require.NotNil(t, w.m.groups[a.ID])
	c, err := w.make("c")
	require.NoError(t, err)
	require.Equal(t, 1, c.Tree.Switches[0].Engine)

	w.sites["spine0"].lost = true
	w.poll(6, true)
	require.NoError(t, w.sites["spine0"].engine.Reset())
	require.NoError(t, w.sites["spine0"].start(&life{left: -1}))
	w.sites["spine0"].lost = false
	w.poll(6, true)
	require.Zero(t, w.agree("a switch was lost"))
	w.again("after all", 0)
}

// Groups that take turns share the slots of their own engine: those of another do not hold them up.
func TestTurnsOfEngines(t *testing.T) {
	p := synthetic.Mini()
	p.Park, p.Engines = true, 2
	w := newWorld(t, p)
	w.share(2)
	w.m.cfg.Groups = 0
	var all []*group
	for i := range 4 {
		g := w.turn(fmt.Sprint("g", i))
		require.Equal(t, i%2, g.Tree.Switches[0].Engine)
		all = append(all, g)
	}
	for i, want := range []bool{true, true, false, false} {
		require.Equal(t, want, w.lock(all[i], 1, false).Granted, i)
	}
	_, err := w.m.Unlock(w.ctx, &managerpb.UnlockRequest{Group: all[1].ID, Sequence: 1})
	require.NoError(t, err)
	require.False(t, w.lock(all[2], 2, false).Granted)
	require.True(t, w.lock(all[3], 2, false).Granted)
	require.Equal(t, []int{3, 0, 0, 3}, []int{w.unparked(all[0]), w.unparked(all[1]), w.unparked(all[2]), w.unparked(all[3])})
}

// What a switch reports is told to operators when it begins and when there is twice as much of it. A group that cannot go on ends for all.
func TestTroubles(t *testing.T) {
	w := newWorld(t, messages())
	g, err := w.make("ring")
	require.NoError(t, err)
	times := uint64(0)
	w.sites["leaf1"].says = func(l *pb.ListResponse) {
		if times > 0 {
			l.Troubles = []*pb.Trouble{{Cause: "ecc_double", Engine: proto.Uint32(0), Times: times}, {Cause: "rx_hung", Port: proto.Uint32(2), Times: 1}}
		}
	}
	told := func() (n int) {
		had := len(w.m.events)
		w.poll(2, true)
		return len(w.m.events) - had
	}
	require.Zero(t, told())
	for i, want := range []int{2, 1, 0, 1, 0} {
		times = uint64(i + 1)
		require.Equal(t, want, told(), "%d times", times)
	}
	assert.Contains(t, w.m.events[len(w.m.events)-1], "switch leaf1: engine 0 reports ecc_double, 4 times since its agent began")
	assert.Equal(t, 1, w.agree("it goes on"))

	w.sites["leaf1"].says = func(l *pb.ListResponse) {
		for _, g := range l.Groups {
			g.Trouble = "it is poisoned: a double error of the payload memory"
		}
	}
	w.poll(1, true)
	require.Equal(t, Removing, g.state)
	require.Equal(t, "switch leaf1: it is poisoned: a double error of the payload memory", g.reason)
	w.sites["leaf1"].says = nil
	w.poll(2, true)
	w.again("after it", 0)
}

// In Mode I the two ends of every connection of a tree agree in two first PSNs, each of which is one end's own, and a path MTU: a member's is what it has reported, within what there
// can be.
func TestOwnPSNs(t *testing.T) {
	w := newWorld(t, messages())
	members := []string{"h2", "h0", "h1", "h3"}
	g, err := w.m.create(w.ctx, "acme", "g", members, Options{Mbps: 1000, DType: 3, Whole: true})
	require.NoError(t, err)
	report := func(rank int, psn, mtu uint32) error {
		q := &managerpb.QueuePair{Qpn: 17, Ip: uint32(0x0A000100 + rank), Mac: 5, Psn: psn, PathMtu: mtu}
		own := End{QPN: q.Qpn, IP: q.Ip, MAC: q.Mac}
		if err := w.m.connection(g, rank, q, &own); err != nil {
			return err
		}
		return w.m.report(w.ctx, g, rank, own)
	}
	require.ErrorContains(t, report(0, 1<<24, 256), "rank 0: its first PSN is 16777216, it can be 16777215 at most")
	for _, mtu := range []uint32{128, 768, 2048} {
		require.ErrorContains(t, report(0, 7, mtu), fmt.Sprintf("a path MTU of %d bytes, it can be a power of two from 256 to 1024", mtu))
	}
	for rank, mtu := range []uint32{0, 256, 512, 1024} {
		require.NoError(t, report(rank, uint32(0xFFFFFF-rank), mtu))
	}
	require.Equal(t, Ready, g.state, g.reason)
	seen := map[uint32]bool{}
	for i := range g.Tree.Switches {
		sw := &g.Tree.Switches[i]
		s := w.sites[sw.Name]
		require.True(t, s.engine.Group(0).WholeMessages)
		require.Equal(t, g.Tree.Window, s.engine.Group(0).PipeSlots)
		for e, c := range sw.Children {
			near := s.engine.Endpoint(e)
			require.False(t, seen[uint32(near.SQPSN)])
			seen[uint32(near.SQPSN)] = true
			if c.Rank >= 0 {
				require.Equal(t, g.offer(c.Rank).Peer.Psn, uint32(near.SQPSN))
				require.Equal(t, 0xFFFFFF-c.Rank, int(near.RQPSN))
				require.Equal(t, []int{1024, 256, 512, 1024}[c.Rank], near.PathMTU)
				continue
			}
			far := w.sites[g.Tree.Switches[c.Switch].Name].engine.Endpoint(len(g.Tree.Switches[c.Switch].Children))
			require.Equal(t, []any{near.RQPSN, near.SQPSN, near.PathMTU, 1024}, []any{far.SQPSN, far.RQPSN, far.PathMTU, far.PathMTU})
		}
	}
	require.Len(t, seen, 6)

	two := newWorld(t, synthetic.Mini())
	h, err := two.m.create(two.ctx, "acme", "g", members, Options{Mbps: 1000, DType: 3})
	require.NoError(t, err)
	require.ErrorContains(t, two.m.connection(h, 1, &managerpb.QueuePair{Psn: 3}, &End{}), "rank 1: a first PSN and a path MTU of its own: the switches are of mode 2")
	require.Zero(t, h.offer(0).Peer.Psn)
}
