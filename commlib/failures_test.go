// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/commlib/rendezvous"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/peer"
	"incforge/roce"
	"incforge/verify/dut"
)

var manyGroups = flag.Int("groups", 60, "groups that TestGroupsComeAndGo makes, uses and destroys")

// open counts this process's descriptors.
func open(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// Groups are made, used and destroyed, one after the other, by hosts that change. While one is used, every frame of the two before comes once more, at switches
// and at hosts, as if it had been under way all the time: no result is wrong, and in the end nothing is left of any group.
func TestGroupsComeAndGo(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, 10*time.Minute)
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"h0", "h1", "h2", "h3"}
	for _, h := range c.hosts {
		h.wire.keep = true
	}
	type past struct{ sent, came [][]byte }
	before := map[string][]past{}
	late, goroutines, files := 0, 0, 0
	for i := range *manyGroups {
		rng.Shuffle(4, func(a, b int) { names[a], names[b] = names[b], names[a] })
		members := names[:2+rng.IntN(3)]
		all, err := c.init(ctx, fmt.Sprint("g", i), members, nil)
		require.NoError(t, err)
		for name, h := range c.hosts {
			h.wire.mu.Lock()
			for _, p := range before[name] {
				h.wire.late = append(h.wire.late, p.came...)
				for _, f := range p.sent {
					require.NoError(t, h.wire.Wire.Send(f))
					late++
				}
			}
			h.wire.mu.Unlock()
		}
		x := draw(t, rng, commlib.Collectives()[i%6], len(members), 100, commlib.INT32, commlib.Sum)
		require.NoError(t, x.run(ctx, all))
		x.check(t, fmt.Sprint("group ", i))
		require.NoError(t, everybody(len(all), func(rank int) error { return all[rank].Destroy(ctx) }))
		for name, h := range c.hosts {
			h.wire.mu.Lock()
			before[name] = append(before[name][max(0, len(before[name])-1):], past{h.wire.sent, h.wire.came})
			h.wire.sent, h.wire.came = nil, nil
			h.wire.mu.Unlock()
		}
		if i == 9 { // connections and pools have come to what they need
			c.empty()
			goroutines, files = runtime.NumGoroutine(), open(t)
		}
	}
	c.empty()
	t.Logf("%d groups, %d late frames at switches", *manyGroups, late)
	require.Greater(t, late, 10**manyGroups)
	// Connections between the programs come and go with a few goroutines of their own; a leak would be one a group, at least.
	most := *manyGroups / 5
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < goroutines+most && open(t) < files+most }, 10*time.Second, 50*time.Millisecond,
		"there were %d goroutines and %d descriptors after 10 groups, there are %d and %d", goroutines, files, runtime.NumGoroutine(), open(t))
	bypassed := func() (n uint64) {
		for _, sw := range c.switches {
			if s, err := sw.control.State(ctx); err == nil {
				n += s.Switches[0].Counters["BYPASS"]
			}
		}
		return n
	}
	// A socket whose reader is slow loses frames, on a loaded machine these, too.
	require.Eventually(t, func() bool { return bypassed() > uint64(late)*9/10 }, 10*time.Second, 50*time.Millisecond, "late frames are nobody's")
}

// use has a group's members do AllReduces until all have failed, or it is stopped; it returns what each ended with, and when.
func use(ctx context.Context, t *testing.T, rng *rand.Rand, all []*commlib.Group, stop <-chan struct{}) (errs []error, ends []time.Time) {
	n := len(all)
	errs, ends = make([]error, n), make([]time.Time, n)
	for running := true; running; {
		x := draw(t, rng, commlib.AllReduce, n, 300, commlib.INT32, commlib.Sum)
		_ = everybody(n, func(rank int) error {
			if errs[rank] == nil {
				errs[rank], ends[rank] = all[rank].Do(ctx, x.requests[rank]), time.Now()
			}
			return nil
		})
		if errors.Join(errs...) == nil {
			x.check(t, "while something fails")
		}
		select {
		case <-stop:
			running = false
		default:
			running = slices.Contains(errs, nil)
		}
	}
	return errs, ends
}

// loss is something that fails.
type loss struct {
	name string
	do   func(c *cluster) error
	// reason is what the members hear, or one of the words in it; deaf are those that hear nothing, because they are what fails.
	reason string
	deaf   []string
	// left are the hosts that a new group can be made of at once.
	left []string
}

func losses() []loss {
	port := func(c *cluster, sw, to string) error {
		_, err := c.switches[sw].control.SetPort(context.Background(), sw, c.switches[sw].ports[to], true)
		return err
	}
	return []loss{
		{"host", func(c *cluster) error { return c.hosts["h3"].kill() }, "rank 3, h3, is gone", []string{"h3"}, []string{"h2", "h1", "h0"}},
		{"host's link", func(c *cluster) error { return port(c, "leaf1", "h3") }, "the link leaf1–h3 is down", nil, []string{"h0", "h2"}},
		{"link of switches", func(c *cluster) error { return port(c, "spine0", "leaf1") }, "the link spine0–leaf1 is down", nil, []string{"h3", "h2"}},
		{"agent", func(c *cluster) error { c.switches["leaf1"].mute(); return nil }, "switch leaf1 is down", nil, []string{"h1", "h0"}},
		{"switch", func(c *cluster) error { c.switches["leaf1"].off(); return nil }, "leaf1", nil, []string{"h1", "h0"}},
	}
}

// A host, a link, an agent, a switch is lost: within five seconds every member of the group has an error that says why, a group beside it goes on with exact
// results, and a new group of those that are left works at once.
func TestSomethingIsLost(t *testing.T) {
	for _, l := range losses() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
			members := []string{"h0", "h1", "h2", "h3"}
			all, err := c.init(ctx, "all", members, nil)
			require.NoError(t, err)
			beside, err := c.init(ctx, "beside", members[:2], nil)
			require.NoError(t, err)
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				errs, _ := use(ctx, t, rand.New(rand.NewPCG(1, 1)), beside, stop)
				assert.NoError(t, errors.Join(errs...), "beside")
			}()
			ended := make(chan struct{})
			var errs []error
			var ends []time.Time
			go func() {
				defer close(ended)
				errs, ends = use(ctx, t, rand.New(rand.NewPCG(2, 2)), all, nil)
			}()
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			require.NoError(t, l.do(c))
			<-ended
			for rank, name := range members {
				if len(l.deaf) > 0 && l.deaf[0] == name {
					continue
				}
				var why *commlib.Error
				require.ErrorAs(t, errs[rank], &why, name)
				require.ErrorIs(t, why, commlib.ErrEnded)
				assert.Contains(t, why.Reason, l.reason, name)
				assert.Contains(t, why.Error(), fmt.Sprintf("rank %d (%s)", rank, name))
				assert.Less(t, ends[rank].Sub(began), 5*time.Second, name)
			}
			next, err := c.init(ctx, "next", l.left, nil)
			require.NoError(t, err)
			x := draw(t, rand.New(rand.NewPCG(5, 5)), commlib.AllGather, len(l.left), 500, commlib.INT32, commlib.Sum)
			require.NoError(t, x.run(ctx, next))
			x.check(t, "on those that are left")
			close(stop)
			<-done
			for _, gs := range [][]*commlib.Group{next, beside} {
				require.NoError(t, everybody(len(gs), func(rank int) error { return gs[rank].Destroy(ctx) }))
			}
			for rank, g := range all {
				if err := g.Abort(ctx, ""); len(l.deaf) == 0 || l.deaf[0] != members[rank] {
					require.NoError(t, err, "a group that has ended can be left")
				}
			}
		})
	}
}

// A member that makes another call than the others, or none, is found out: who waits says what for, and all hear of it.
func TestMembersDisagree(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	for i, other := range []*commlib.Request{nil, {Collective: commlib.Broadcast, Root: 1, Send: make([]byte, 8)}, {Collective: commlib.AllReduce, Type: commlib.FP32, Send: make([]byte, 8), Recv: make([]byte, 8)}} {
		all, err := c.init(ctx, fmt.Sprint("g", i), []string{"h0", "h1", "h2"}, func(cfg *commlib.Config) { cfg.Tuning.Timeout = 700 * time.Millisecond })
		require.NoError(t, err)
		errs := make([]error, 3)
		_ = everybody(3, func(rank int) error {
			r := commlib.Request{Collective: commlib.AllReduce, Type: commlib.INT32, Send: make([]byte, 8), Recv: make([]byte, 8)}
			if rank == 1 {
				if other == nil {
					return nil
				}
				r = *other
			}
			errs[rank] = all[rank].Do(ctx, r)
			return nil
		})
		found := 0
		for rank := range 3 {
			switch {
			case rank == 1 && other == nil:
			case errors.Is(errs[rank], commlib.ErrStands), errors.Is(errs[rank], commlib.ErrMismatch):
				assert.Contains(t, errs[rank].Error(), "toward 10.0.0.")
				found++
			default:
				require.ErrorIs(t, errs[rank], commlib.ErrEnded)
				assert.True(t, strings.Contains(errs[rank].Error(), "is not acknowledged") || strings.Contains(errs[rank].Error(), "was expected"), errs[rank])
			}
		}
		require.Positive(t, found)
		for _, g := range all {
			require.NoError(t, g.Abort(ctx, ""))
			require.ErrorIs(t, g.Err(), g.Err())
			_, err := g.Start(commlib.Request{Collective: commlib.Barrier})
			require.Error(t, err)
		}
	}
	c.empty()
}

// Where data comes from one member, who waits for it says from whom; otherwise whom to ask.
func TestWaitsFor(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	for i, w := range []struct {
		request commlib.Request
		missing int
		want    string
	}{
		{commlib.Request{Collective: commlib.Broadcast, Root: 1, Recv: make([]byte, 8)}, 1, " has not come from rank 1 (h1), its root: a member"},
		{commlib.Request{Collective: commlib.AllGather, Send: make([]byte, 8), Recv: make([]byte, 24)}, 0, " has not come from rank 0 (h0), its root: a member"},
		{commlib.Request{Collective: commlib.Barrier}, 2, " has not come: a member has not made this call, or made another one, or the way to it is cut; incforge live ctl state says"},
	} {
		all, err := c.init(ctx, fmt.Sprint("w", i), []string{"h0", "h1", "h2"}, func(cfg *commlib.Config) { cfg.Tuning.Timeout = 300 * time.Millisecond })
		require.NoError(t, err)
		errs := make([]error, 3)
		_ = everybody(3, func(rank int) error {
			if rank != w.missing {
				errs[rank] = all[rank].Do(ctx, w.request)
			}
			return nil
		})
		for rank := range errs {
			if rank != w.missing {
				require.ErrorContains(t, errs[rank], w.want, w.request.Collective)
			}
		}
		for _, g := range all {
			require.NoError(t, g.Abort(ctx, ""))
		}
	}
	c.empty()
}

// A NIC that fails ends the group: its own member is told by the queue pair, the others by that member.
func TestNICFails(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	members := []string{"h0", "h1", "h2"}
	all, err := c.init(ctx, "g", members, nil)
	require.NoError(t, err)
	ended := make(chan []error)
	go func() {
		errs, _ := use(ctx, t, rand.New(rand.NewPCG(1, 2)), all, nil)
		ended <- errs
	}()
	time.Sleep(50 * time.Millisecond)
	c.hosts["h1"].wire.broken.Store(true)
	errs := <-ended
	require.ErrorIs(t, errs[1], commlib.ErrQueuePair)
	assert.Contains(t, errs[1].Error(), "toward 10.0.0.")
	assert.Contains(t, errs[1].Error(), "wire: broken")
	for _, rank := range []int{0, 2} {
		require.ErrorIs(t, errs[rank], commlib.ErrEnded)
		assert.Contains(t, errs[rank].Error(), "rank 1 (h1)")
		assert.Contains(t, errs[rank].Error(), "the queue pair has failed")
	}
	for _, g := range all {
		require.NoError(t, g.Abort(ctx, ""))
	}
	next, err := c.init(ctx, "g", []string{"h2", "h0"}, nil)
	require.NoError(t, err, "the name is free again")
	require.NoError(t, everybody(2, func(rank int) error { return next[rank].Destroy(ctx) }))
}

// playLab answers members that meet in a folder, as package lab does.
func playLab(ctx context.Context, folder string, ends []commlib.Endpoint) error {
	for _, step := range []struct {
		take, give string
		text       func(e *commlib.Endpoint) string
	}{
		{"join", "go", func(e *commlib.Endpoint) string { return fmt.Sprintf("%v %d %d\n", e.Peer.IP, e.PeerQPN, e.Start) }},
		{"ready", "run", func(*commlib.Endpoint) string { return "run\n" }},
	} {
		for rank := range ends {
			for {
				text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%d.%s", rank, step.take)))
				if err == nil && step.take == "join" && string(text) != "17\n" {
					return fmt.Errorf("rank %d joins with %q", rank, text)
				}
				if err == nil {
					break
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				time.Sleep(time.Millisecond)
			}
		}
		for rank := range ends {
			path := filepath.Join(folder, fmt.Sprintf("%d.%s", rank, step.give))
			if err := errors.Join(os.WriteFile(path+".tmp", []byte(step.text(&ends[rank])), 0o600), os.Rename(path+".tmp", path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A group of a file, without a control plane: members connect to what the file says, and meet in a folder as on hosts of a lab.
func TestWithoutManager(t *testing.T) {
	dir, ctx := t.TempDir(), within(t, time.Minute)
	man := synthetic.Manifest(params())
	engine, err := dut.NewReference(man)
	require.NoError(t, err)
	setup, err := groups.Parse("g.yaml", []byte(`
groups:
  - start: 0xFFFFF0
    in_band: true
    root_sends: true
    endpoints:
      - {local: {ip: 10.0.0.1}, remote: {mac: 02:00:00:00:00:02, ip: 10.0.0.2, qpn: 17}}
      - {local: {ip: 10.0.0.1}, remote: {mac: 02:00:00:00:00:03, ip: 10.0.0.3, qpn: 17}}
`), man, nil)
	require.NoError(t, err)
	at := func(what string, rank int) string { return filepath.Join(dir, fmt.Sprint(what, rank)) }
	sw := live.Switch{Name: "leaf", Manifest: man, Engine: engine, Setup: setup}
	for rank := range 2 {
		sw.Ports = append(sw.Ports, live.Port{Number: rank, Mine: at("s", rank), Peer: at("h", rank)})
	}
	log, _ := logtest.NewNullLogger()
	run, stop := context.WithCancel(ctx)
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := live.Run(run, live.Options{Switches: []live.Switch{sw}, Log: log, Ready: func() { close(ready) }})
		done <- err
	}()
	<-ready
	all := make([]*commlib.Group, 2)
	var nics []verbs.Device
	var ends []commlib.Endpoint
	for rank := range all {
		wire, err := peer.Dial(at("h", rank), at("s", rank))
		require.NoError(t, err)
		nic := softnic.New(wire, verbs.Address{IP: roce.IP4{10, 0, 0, byte(2 + rank)}, MAC: roce.MAC{2, 0, 0, 0, 0, byte(2 + rank)}})
		far := setup.Groups[0].Ends[rank]
		e := commlib.Endpoint{Name: "file", Members: []string{"a", "b"}, Rank: rank, Peer: verbs.Address{IP: far.LocalIP, MAC: far.LocalMAC}, PeerQPN: far.LocalQPN,
			Start: setup.Groups[0].Set.Start, PathMTU: 1024, Window: 1 << setup.Groups[0].Set.Log2N / 2, Types: commlib.Types(), Ops: []commlib.Op{commlib.Sum, commlib.Max}}
		_, err = commlib.Connect(nic, e, commlib.Tuning{}, func(qpn uint32, _ *commlib.Endpoint) error { return fmt.Errorf("not %d", qpn) })
		require.EqualError(t, err, "group file: not 17")
		for _, change := range []func(e *commlib.Endpoint){func(e *commlib.Endpoint) { e.Rank = 2 }, func(e *commlib.Endpoint) { e.PathMTU = 0 }, func(e *commlib.Endpoint) { e.Types = nil },
			func(e *commlib.Endpoint) { e.PathMTU = 8192 }} {
			bad := e
			change(&bad)
			_, err := commlib.Connect(nic, bad, commlib.Tuning{}, nil)
			require.ErrorContains(t, err, "group file: ")
		}
		require.NoError(t, nic.Close())
		wire, err = peer.Dial(at("h", rank), at("s", rank))
		require.NoError(t, err)
		again := softnic.New(wire, nic.Address()) // whose first queue pair is number 17
		defer func() { assert.NoError(t, again.Close()) }()
		nics, ends = append(nics, again), append(ends, e)
	}
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("group", "hosts a b\ncollective in-band\ndtype \nop SUM\nwindow 16\nmtu 1024\ndtypes FP32 FP16 BF16 INT32\nops SUM MAX\n")
	write("0.run", "a program that was killed has left this")
	meet := make(chan error, 1)
	go func() { meet <- playLab(ctx, folder, ends) }()
	require.NoError(t, everybody(2, func(rank int) (err error) {
		all[rank], err = rendezvous.Join(ctx, nics[rank], folder, ends[rank].Members[rank], commlib.Tuning{})
		return err
	}))
	require.NoError(t, <-meet)
	rng := rand.New(rand.NewPCG(3, 3))
	for _, what := range commlib.Collectives() {
		x := draw(t, rng, what, 2, 3000, commlib.BF16, commlib.Max)
		require.NoError(t, x.run(ctx, all))
		x.check(t, what.String())
	}
	for _, g := range all {
		g.Close()
		require.ErrorIs(t, g.Err(), commlib.ErrEnded)
	}
	stop()
	require.NoError(t, <-done)
}
