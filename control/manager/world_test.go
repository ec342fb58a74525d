// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	"incforge/control/agent"
	pb "incforge/control/agentpb"
	"incforge/control/placement"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
)

// world is a cluster in a test: switches with engines and agents, a file for the manager, a clock that the test moves.
type world struct {
	t     testing.TB
	net   *placement.Network
	sites map[string]*site
	file  store.Store
	now   time.Time
	rng   io.Reader
	m     *Manager
	wire  *wire // of the manager that lives
	ctx   context.Context
	// order is that of the members of the groups that are made, and the other way round that in which they report.
	order []int
	mbps  int // of links that are reported
}

// orders are those that the campaigns have: of members, and with them of the tree's endpoints, and of reports.
func orders() [][]int { return [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {1, 3, 2, 0}} }

var everyOrder = flag.Bool("orders", false, "every case of the campaigns in every order of members, instead of in one")

// kinds are the switches that the campaigns have, of two groups each: one engine, two, and one of Mode I.
func kinds(number int) contract.Params {
	p := synthetic.Mini()
	switch number % 3 {
	case 1:
		p.Engines, p.Groups = 2, 1
	case 2:
		p = messages()
	}
	return p
}

// messages are parameters of Mode I: 16 slots of two of the longest packets.
func messages() contract.Params {
	p := synthetic.Mini()
	p.Mode, p.HopRTTNS, p.MessageBytes, p.WindowMessages, p.BufferBytes = 1, 2000, 2048, 4, 32768
	return p
}

// each runs a case in every order, or in the one whose turn it is.
func each(number int, run func(order []int)) {
	all := orders()
	if !*everyOrder {
		i := number % len(all)
		all = all[i : i+1]
	}
	for _, order := range all {
		run(order)
	}
}

// site is a switch. Its agent can be killed at a step, as the manager can.
type site struct {
	w      *world
	name   string
	ip     byte
	man    *contract.Manifest
	engine *dut.Reference
	file   store.Store
	agent  *agent.Agent
	life   *life
	ports  []*pb.Port
	lost   bool // the network to it is cut
	shared int  // slots of groups that take turns
	// then happens when it has said how it is, before that is heard; says changes what it says that it holds.
	then func()
	says func(*pb.ListResponse)
}

var errKilled = errors.New("killed")

// life counts steps until death. A step is done, or, if late, the last one is done although nobody hears of it.
type life struct {
	left int // negative: without end
	late bool
	dead bool
	made int
	// ask decides instead, if there is one. It is not asked in the midst of a series of registers, but where one starts or stops the group.
	ask    func() (die bool)
	series int
}

func (l *life) step(do func() error) error {
	if l.dead {
		return errKilled
	}
	if l.ask != nil && l.ask() {
		l.dead = true
		return errKilled
	}
	if l.left == 0 {
		l.dead = true
		if l.late {
			_ = do()
		}
		return errKilled
	}
	l.left--
	l.made++
	return do()
}

// hands are what an agent has its engine and its file by.
type hands struct {
	*site
	*life
}

func (h hands) Read(addr uint32) (uint32, error) {
	if h.dead {
		return 0, errKilled
	}
	return h.engine.Read(addr)
}
func (h hands) Write(addr, v uint32, strobes uint8) error {
	was := h.engine.Engine().Enabled(0)
	write := func() error { return h.engine.Write(addr, v, strobes) }
	defer func() {
		if h.series++; h.engine.Engine().Enabled(0) != was {
			h.series = 0
		}
	}()
	if h.ask != nil && h.series > 1 && !h.dead {
		return write()
	}
	return h.step(write)
}
func (h hands) Put(name string, text []byte) error {
	h.series = 0
	return h.step(func() error { return h.file.Put(name, text) })
}
func (h hands) Delete(name string) error     { return h.step(func() error { return h.file.Delete(name) }) }
func (h hands) All() ([]store.Record, error) { return h.file.All() }
func (h hands) Close() error                 { return nil }

// start starts an agent that has so many steps.
func (s *site) start(l *life) error {
	log, _ := logtest.NewNullLogger()
	h := hands{s, l}
	a, err := agent.New(agent.Config{Name: s.name, Manifest: s.man, Bus: h, Store: h, IP: roce.IP4{10, 0, 0, s.ip}, MAC: roce.MAC{2, 0, 0, s.ip, 0, 0},
		Shared: s.shared, Lifetime: time.Second, Now: func() time.Time { return s.w.now }, Log: log})
	s.agent, s.life = a, l
	return err
}

// wire is the network between a manager and the agents, and what the manager has its file by. Calls that change something are the manager's
// steps.
type wire struct {
	w *world
	*life
	// cut loses the request of step cutAt, or its answer, and count−1 calls to the same switch after it.
	cutAt, count int
	answers      bool
	cutSite      *site
}

func (x *wire) Put(name string, text []byte) error {
	return x.step(func() error { return x.w.file.Put(name, text) })
}
func (x *wire) Delete(name string) error {
	return x.step(func() error { return x.w.file.Delete(name) })
}
func (x *wire) All() ([]store.Record, error) { return x.w.file.All() }
func (x *wire) Close() error                 { return nil }

// client is an agent as the manager sees it.
type client struct {
	*wire
	*site
}

func call[Q, A any](c client, changes bool, do func(context.Context, Q) (A, error), r Q) (a A, err error) {
	unavailable := status.Error(codes.Unavailable, "no way")
	if c.wire.dead {
		return a, unavailable
	}
	run := func() error {
		lose := c.site.lost
		if changes && c.wire.count > 0 && (c.wire.cutAt == c.wire.made-1 || c.wire.cutSite == c.site) {
			c.wire.cutSite, lose = c.site, true
			c.wire.count--
		}
		if lose && !c.wire.answers {
			err = unavailable
			return nil
		}
		if c.site.agent == nil || c.site.life.dead {
			err = unavailable
			return nil
		}
		a, err = do(c.wire.w.ctx, r)
		if c.site.life.ask != nil && !c.site.life.dead {
			_ = c.site.life.step(func() error { return nil }) // it can die before it answers, too
		}
		if c.site.life.dead || lose {
			err = unavailable
		}
		return nil
	}
	if !changes {
		_ = run()
	} else if killed := c.wire.step(run); killed != nil {
		err = unavailable
	}
	return a, err
}

func (c client) Describe(_ context.Context, r *pb.DescribeRequest, _ ...grpc.CallOption) (*pb.DescribeResponse, error) {
	d, err := call(c, false, func(ctx context.Context, r *pb.DescribeRequest) (*pb.DescribeResponse, error) {
		return c.site.agent.Describe(ctx, r)
	}, r)
	if err == nil && c.site.ports != nil {
		d.Ports = c.site.ports
	}
	if c.site.then != nil {
		c.site.then()
	}
	return d, err
}
func (c client) List(_ context.Context, r *pb.ListRequest, _ ...grpc.CallOption) (*pb.ListResponse, error) {
	l, err := call(c, false, func(ctx context.Context, r *pb.ListRequest) (*pb.ListResponse, error) {
		return c.site.agent.List(ctx, r)
	}, r)
	if err == nil && c.site.says != nil {
		c.site.says(l)
	}
	return l, err
}
func (c client) Counters(_ context.Context, r *pb.CountersRequest, _ ...grpc.CallOption) (*pb.CountersResponse, error) {
	return call(c, false, func(ctx context.Context, r *pb.CountersRequest) (*pb.CountersResponse, error) {
		return c.site.agent.Counters(ctx, r)
	}, r)
}
func (c client) Reserve(_ context.Context, r *pb.ReserveRequest, _ ...grpc.CallOption) (*pb.ReserveResponse, error) {
	return call(c, true, func(ctx context.Context, r *pb.ReserveRequest) (*pb.ReserveResponse, error) {
		return c.site.agent.Reserve(ctx, r)
	}, r)
}
func (c client) Commit(_ context.Context, r *pb.CommitRequest, _ ...grpc.CallOption) (*pb.CommitResponse, error) {
	return call(c, true, func(ctx context.Context, r *pb.CommitRequest) (*pb.CommitResponse, error) {
		return c.site.agent.Commit(ctx, r)
	}, r)
}
func (c client) Remove(_ context.Context, r *pb.RemoveRequest, _ ...grpc.CallOption) (*pb.RemoveResponse, error) {
	return call(c, true, func(ctx context.Context, r *pb.RemoveRequest) (*pb.RemoveResponse, error) {
		return c.site.agent.Remove(ctx, r)
	}, r)
}

func (c client) Lock(_ context.Context, r *pb.LockRequest, _ ...grpc.CallOption) (*pb.LockResponse, error) {
	return call(c, true, func(ctx context.Context, r *pb.LockRequest) (*pb.LockResponse, error) {
		return c.site.agent.Lock(ctx, r)
	}, r)
}
func (c client) Unlock(_ context.Context, r *pb.UnlockRequest, _ ...grpc.CallOption) (*pb.UnlockResponse, error) {
	return call(c, true, func(ctx context.Context, r *pb.UnlockRequest) (*pb.UnlockResponse, error) {
		return c.site.agent.Unlock(ctx, r)
	}, r)
}

// chacha makes the manager's random numbers repeatable.
type chacha struct{ *rand.ChaCha8 }

// newWorld is two leaves with two hosts each under a spine, with a manager that has heard of all switches.
func newWorld(t testing.TB, p contract.Params) *world {
	t.Helper()
	return newWorldOf(t, p, placement.LeafSpine(2, 1, 2))
}

func newWorldOf(t testing.TB, p contract.Params, c placement.Clos) *world {
	t.Helper()
	c.Mbps, c.HopRTT = 100_000, 100*time.Nanosecond
	net, err := c.Network()
	require.NoError(t, err)
	w := &world{t: t, net: net, sites: map[string]*site{}, file: store.NewMemory(), now: time.Unix(1_800_000_000, 0), rng: chacha{rand.NewChaCha8([32]byte{1})},
		ctx: context.Background(), order: orders()[0]}
	man := synthetic.Manifest(p)
	for i, n := range net.Nodes {
		if n.Host {
			continue
		}
		engine, err := dut.NewReference(man)
		require.NoError(t, err)
		s := &site{w: w, name: n.Name, ip: byte(i), man: man, engine: engine, file: store.NewMemory()}
		require.NoError(t, s.start(&life{left: -1}))
		w.sites[n.Name] = s
	}
	w.manage(&wire{life: &life{left: -1}})
	w.m.Poll(w.ctx)
	return w
}

// manage starts a manager.
func (w *world) manage(x *wire) {
	w.t.Helper()
	x.w, w.wire = w, x
	agents := map[string]pb.AgentClient{}
	for name, s := range w.sites {
		agents[name] = client{x, s}
	}
	log, _ := logtest.NewNullLogger()
	m, err := New(Config{Network: w.net, Agents: agents, Store: x, Lease: 10 * time.Second, Gather: 30 * time.Second, Call: time.Second, Patience: 3 * time.Second,
		Groups: 2, ReportedMbps: w.mbps, Now: func() time.Time { return w.now }, Random: w.rng, Log: log})
	require.NoError(w.t, err)
	w.m = m
}

// poll lets time pass and the manager look, with hosts that watch, or without.
func (w *world) poll(rounds int, watch bool) {
	for range rounds {
		w.now = w.now.Add(time.Second)
		w.m.mu.Lock()
		for _, g := range w.m.groups {
			for rank := range g.watched {
				g.watched[rank] = 0
				if watch {
					g.watched[rank] = 1
				}
			}
		}
		w.m.mu.Unlock()
		w.m.Poll(w.ctx)
	}
}

// make makes a group of all hosts, as their calls would.
func (w *world) make(name string) (*group, error) {
	members, all := []string{}, []string{"h2", "h0", "h1", "h3"}
	if _, ok := w.net.Find("h2"); ok {
		for _, i := range w.order {
			members = append(members, all[i])
		}
	} else {
		members = []string{"h1", "h0"}
	}
	g, err := w.m.create(w.ctx, "acme", name, members, Options{Mbps: 1000, DType: 3})
	if err != nil {
		return nil, err
	}
	for _, rank := range slices.Backward(w.order) {
		if rank >= len(members) {
			continue
		}
		own := End{QPN: uint32(100 + rank), IP: uint32(0x0A000100 + rank), MAC: uint64(0x020000000100 + rank)}
		if g.Mode == 1 {
			own.PSN, own.PathMTU = uint32(0xFFFFF0+rank), 256<<(rank%3)
		}
		if err := w.m.report(w.ctx, g, rank, own); err != nil {
			return g, err
		}
	}
	return g, nil
}

// installed counts the switches that serve a group, after having compared their lists with their engines.
func (w *world) installed(id string) (n int) {
	w.t.Helper()
	for name, s := range w.sites {
		l, err := s.agent.List(w.ctx, &pb.ListRequest{})
		require.NoError(w.t, err)
		free := s.man.Params.EngineCount() * s.man.Params.Slots()
		for _, g := range l.Groups {
			enabled := s.engine.Engine().Enabled(int(g.Record))
			require.Equal(w.t, g.State == pb.State_STATE_INSTALLED, enabled, "%s: %v", name, g)
			free -= int(g.Slots)
			if enabled && g.Group == id {
				n++
			}
		}
		require.Equal(w.t, free, int(l.FreeSlots))
	}
	return n
}

// agree checks that a group is whole or gone, that manager and agents have the same groups, and that memory adds up.
func (w *world) agree(what string) (whole int) {
	w.t.Helper()
	want := map[string]map[string]uint32{} // slots by switch and group
	for _, g := range w.m.sorted() {
		require.Equal(w.t, Ready, g.state, "%s: group %s: %s", what, g.ID, g.reason)
		require.Equal(w.t, len(g.Tree.Switches), w.installed(g.ID), what)
		whole++
		for _, sw := range g.Tree.Switches {
			if want[sw.Name] == nil {
				want[sw.Name] = map[string]uint32{}
			}
			want[sw.Name][g.ID] = uint32(sw.Slots)
		}
	}
	for _, u := range w.m.placer.Usage() {
		l, err := w.sites[u.Name].agent.List(w.ctx, &pb.ListRequest{})
		require.NoError(w.t, err)
		require.Len(w.t, l.Groups, len(want[u.Name]), "%s: %s", what, u.Name)
		for _, g := range l.Groups {
			require.Equal(w.t, want[u.Name][g.Group], g.Slots, what)
		}
		require.Equal(w.t, []int{int(l.FreeSlots), int(l.FreeRecords)}, []int{u.Free, u.Limit - u.Groups}, what)
	}
	records, err := w.file.All()
	require.NoError(w.t, err)
	require.Len(w.t, records, whole+len(w.sites), "%s: records of groups, and one a switch", what)
	return whole
}

// Watches is how many watches there are.
func (m *Manager) Watches() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.groups {
		for _, w := range g.watched {
			n += w
		}
	}
	return n
}

// Round is closed when all switches have been asked again.
func (m *Manager) Round() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.round
}

func (w *world) String() string { return fmt.Sprint(w.now) }
