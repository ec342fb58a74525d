// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"flag"
	"fmt"
	mrand "math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"incforge/control/agent"
	"incforge/control/agentpb"
	"incforge/control/manager"
	pb "incforge/control/managerpb"
	"incforge/control/member"
	"incforge/control/placement"
	"incforge/control/rpc"
	"incforge/control/rpc/rpctest"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
)

// cluster is a manager and two leaves and a spine, each with an agent, all behind TLS on this machine.
type cluster struct {
	t       *testing.T
	certs   *rpctest.Authority
	own     rpc.Files // the manager's
	config  manager.Config
	address string
	kill    func()
	engines map[string]*dut.Reference
	stop    map[string]func()
	agents  map[string]*agent.Agent
	m       *manager.Manager
}

func serve(t *testing.T, at string, files rpc.Files, register func(*grpc.Server), roles ...string) (address string, stop func()) {
	s, err := rpc.Server(files, roles...)
	require.NoError(t, err)
	register(s)
	l, err := rpc.Listen(at, files)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	stop = sync.OnceFunc(func() { s.Stop(); assert.NoError(t, <-done) })
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, certs: rpctest.New(t), engines: map[string]*dut.Reference{}, stop: map[string]func(){}, agents: map[string]*agent.Agent{}}
	shape := placement.LeafSpine(2, 1, 2)
	shape.Mbps, shape.HopRTT = 100_000, 100*time.Nanosecond
	network, err := shape.Network()
	require.NoError(t, err)
	log, _ := logtest.NewNullLogger()
	own := c.certs.Issue(rpc.Manager, "m", time.Hour)
	agents := map[string]agentpb.AgentClient{}
	for i, n := range network.Nodes {
		if n.Host {
			continue
		}
		man := synthetic.Manifest(synthetic.Mini())
		engine, err := dut.NewReference(man)
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Name: n.Name, Manifest: man, Bus: engine, Store: store.NewMemory(), IP: roce.IP4{10, 0, 0, byte(i)},
			MAC: roce.MAC{2, 0, 0, 0, byte(i), 0}, Lifetime: time.Millisecond, Log: log})
		require.NoError(t, err)
		address, stop := serve(t, "127.0.0.1:0", c.certs.Issue(rpc.Agent, n.Name, time.Hour), func(s *grpc.Server) { agentpb.RegisterAgentServer(s, a) }, rpc.Manager)
		conn, err := rpc.Dial(address, rpc.Agent, own)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close()) })
		agents[n.Name], c.engines[n.Name], c.stop[n.Name], c.agents[n.Name] = agentpb.NewAgentClient(conn), engine, stop, a
	}
	c.own = own
	c.config = manager.Config{Network: network, Agents: agents, Store: store.NewMemory(), Lease: 5 * time.Second, Gather: 2 * time.Second,
		Call: time.Second, Patience: 2 * time.Second, Groups: 2, Now: time.Now, Random: rand.Reader, Log: log}
	c.address = "unix:" + filepath.Join(t.TempDir(), "manager") // a port could be somebody else's when the manager starts again
	c.manage()
	return c
}

// manage starts a manager, after another or as the first.
func (c *cluster) manage() {
	c.t.Helper()
	var err error
	c.m, err = manager.New(c.config)
	require.NoError(c.t, err)
	c.m.Poll(context.Background())
	_, stop := serve(c.t, c.address, c.own, func(s *grpc.Server) { pb.RegisterManagerServer(s, c.m) }, rpc.Tenant, rpc.Operator)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { c.m.Run(ctx, 100*time.Millisecond); close(done) }()
	c.kill = sync.OnceFunc(func() { stop(); cancel(); <-done })
	c.t.Cleanup(c.kill)
}

// client speaks to the manager as somebody.
func (c *cluster) client(unit, name string) pb.ManagerClient {
	c.t.Helper()
	conn, err := rpc.Dial(c.address, rpc.Manager, c.certs.Issue(unit, name, time.Hour))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { assert.NoError(c.t, conn.Close()) })
	return pb.NewManagerClient(conn)
}

// everybody runs all members of a group at once. Their queue pairs are numbers.
func everybody(ctx context.Context, m pb.ManagerClient, name string, hosts ...string) (groups []*member.Group, errs []error) {
	n := len(hosts)
	groups, errs = make([]*member.Group, n), make([]error, n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			r := &pb.JoinRequest{Name: name, Members: hosts, Rank: uint32(rank), Options: &pb.Options{Mbps: 1000, Dtype: 3}}
			groups[rank], errs[rank] = member.Init(ctx, m, r, func(*pb.JoinResponse) (*pb.QueuePair, error) {
				return &pb.QueuePair{Qpn: 100 + r.Rank, Ip: 0x0A000100 + r.Rank, Mac: 0x020000000100 + uint64(r.Rank)}, nil
			})
		})
	}
	all.Wait()
	return groups, errs
}

func hosts() []string { return []string{"h2", "h0", "h1", "h3"} }

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The whole way, over the network: four members make a group at once, others cannot see or end it, its end reaches all.
func TestServer(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme, rival, ann := c.client("acme", "trainer"), c.client("rival", "trainer"), c.client(rpc.Operator, "ann")
	groups, errs := everybody(ctx, acme, "ring", hosts()...)
	for rank, g := range groups {
		require.NoError(t, errs[rank])
		require.Equal(t, groups[0].Offer.Group, g.Offer.Group)
		require.Equal(t, groups[0].Offer.Start, g.Offer.Start)
		require.NotNil(t, g.Offer.Peer)
	}
	for _, e := range c.engines {
		require.True(t, e.Engine().Enabled(0))
	}
	id := groups[0].Offer.Group
	s, err := acme.Status(ctx, &pb.StatusRequest{})
	require.NoError(t, err)
	require.Len(t, s.Groups, 1)
	assert.Equal(t, []string{"ready", "acme/trainer", "spine0"}, []string{s.Groups[0].State, s.Groups[0].Tenant, s.Groups[0].Switches[0]})
	assert.Empty(t, s.Switches)
	assert.Empty(t, s.Events)

	s, err = rival.Status(ctx, &pb.StatusRequest{})
	require.NoError(t, err)
	assert.Empty(t, s.Groups)
	_, err = rival.Destroy(ctx, &pb.DestroyRequest{Group: id})
	assert.Equal(t, codes.NotFound, status.Code(err))
	_, err = rival.Report(ctx, &pb.ReportRequest{Group: id})
	assert.Equal(t, codes.NotFound, status.Code(err))
	w, err := rival.Watch(ctx, &pb.WatchRequest{Group: id})
	require.NoError(t, err)
	_, err = w.Recv()
	assert.Equal(t, codes.NotFound, status.Code(err))
	_, err = acme.Join(ctx, &pb.JoinRequest{Name: "ring", Members: hosts(), Options: &pb.Options{Mbps: 1000, Dtype: 3}})
	assert.ErrorContains(t, err, "group ring is in use")
	_, err = acme.Join(ctx, &pb.JoinRequest{Name: "ring", Members: []string{"h0", "h1"}})
	assert.ErrorContains(t, err, "is there already, with other members or options")

	s, err = ann.Status(ctx, &pb.StatusRequest{})
	require.NoError(t, err)
	assert.Len(t, s.Groups, 1)
	assert.Len(t, s.Switches, 3)
	assert.NotEmpty(t, s.Events)
	require.Empty(t, groups[1].Reason())
	require.NoError(t, groups[0].Destroy(ctx))
	for _, g := range groups[1:] {
		<-g.Ended()
		assert.Equal(t, "destroyed by tenant acme/trainer", g.Reason())
	}
	for _, e := range c.engines {
		assert.False(t, e.Engine().Enabled(0))
	}
	_, err = acme.Destroy(ctx, &pb.DestroyRequest{Group: id})
	assert.Equal(t, codes.NotFound, status.Code(err))
	late, err := acme.Watch(ctx, &pb.WatchRequest{Group: id})
	require.NoError(t, err)
	why, err := late.Recv()
	require.NoError(t, err)
	assert.Equal(t, "destroyed by tenant acme/trainer", why.Ended, "who asks late hears it, too")
	_, err = acme.Report(ctx, &pb.ReportRequest{Group: id})
	assert.Equal(t, codes.Aborted, status.Code(err))
	other, err := rival.Watch(ctx, &pb.WatchRequest{Group: id})
	require.NoError(t, err)
	_, err = other.Recv()
	assert.Equal(t, codes.NotFound, status.Code(err), "but nobody else")
}

// A member that goes away and an agent that goes away end the group within five seconds for all the others.
func TestGoneWithinFiveSeconds(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme, ann := c.client("acme", "trainer"), c.client(rpc.Operator, "ann")
	low, errs := everybody(ctx, acme, "low", "h0", "h1")
	require.NoError(t, errs[0])
	high, errs := everybody(ctx, ann, "high", hosts()...)
	require.NoError(t, errs[0])
	began := time.Now()
	low[0].Leave()
	require.Equal(t, "this member has left", low[0].Reason())
	<-low[1].Ended()
	require.Equal(t, "rank 0, h0, is gone", low[1].Reason())
	require.Less(t, time.Since(began), 5*time.Second)
	require.Empty(t, high[0].Reason())
	began = time.Now()
	c.stop["leaf1"]()
	for _, g := range high {
		<-g.Ended()
		assert.Contains(t, g.Reason(), "switch leaf1 is down")
	}
	assert.Less(t, time.Since(began), 5*time.Second)
	_, errs = everybody(ctx, acme, "again", "h0", "h1")
	require.NoError(t, errs[0])
}

// ending is the stream of a call to a manager that is being stopped.
type ending struct{ grpc.ServerStream }

func (ending) Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A manager that is being stopped does not tell its members that their group has ended, nor that their calls were cancelled: they look for the next one.
func TestManagerStops(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	groups, errs := everybody(ctx, c.client("acme", "trainer"), "ring", "h0", "h1")
	require.NoError(t, errs[0])
	err := c.m.Watch(&pb.WatchRequest{Group: groups[0].Offer.Group}, &grpc.GenericServerStream[pb.WatchRequest, pb.WatchResponse]{ServerStream: ending{}})
	require.Equal(t, codes.Unavailable, status.Code(err))
	offer, err := c.m.Join(within(t), &pb.JoinRequest{Name: "other", Members: []string{"h0", "h1"}, Options: &pb.Options{Mbps: 1000, Dtype: 3}})
	require.NoError(t, err)
	_, err = c.m.Report(ending{}.Context(), &pb.ReportRequest{Group: offer.Group, Own: &pb.QueuePair{Qpn: 9, Ip: 1, Mac: 1}})
	require.Equal(t, codes.Unavailable, status.Code(err))
}

// clock is the machine's, and can leap.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// The manager is killed and another takes over: members watch again, their group goes on, and members that were about to join do so.
func TestManagerRestarts(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme := c.client("acme", "trainer")
	groups, errs := everybody(ctx, acme, "ring", hosts()...)
	require.NoError(t, errs[0])
	c.kill()
	var late []*member.Group
	done := make(chan struct{})
	go func() {
		late, errs = everybody(ctx, acme, "late", "h0", "h1")
		close(done)
	}()
	time.Sleep(300 * time.Millisecond) // in which all members find nobody
	var ahead clock
	c.config.Now, c.config.Lease, c.config.Gather, c.config.Patience = ahead.now, time.Minute, 20*time.Second, 20*time.Second
	c.manage()
	<-done
	require.NoError(t, errors.Join(errs...))
	require.Eventually(t, func() bool { return c.m.Watches() == 6 }, 20*time.Second, time.Millisecond)
	ahead.ahead.Store(int64(time.Hour)) // more than any patience
	for range 3 {
		<-c.m.Round()
	}
	for _, g := range append(groups, late...) {
		require.Empty(t, g.Reason())
	}
	require.NoError(t, late[0].Destroy(ctx))
	require.NoError(t, groups[3].Destroy(ctx))
	require.NoError(t, groups[3].Destroy(ctx), "again")
}

// A member that cannot make its queue pair ends the group at once.
func TestNoQueuePair(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme := c.client("acme", "trainer")
	errs := make([]error, 2)
	var all sync.WaitGroup
	for rank := range 2 {
		all.Go(func() {
			r := &pb.JoinRequest{Name: "ring", Members: []string{"h0", "h1"}, Rank: uint32(rank), Options: &pb.Options{Mbps: 1000, Dtype: 3}}
			_, errs[rank] = member.Init(ctx, acme, r, func(*pb.JoinResponse) (*pb.QueuePair, error) {
				if rank == 1 {
					return nil, errors.New("no memory")
				}
				return &pb.QueuePair{Qpn: 9, Ip: 1, Mac: 1}, nil
			})
		})
	}
	all.Wait()
	require.EqualError(t, errs[1], "group ring: queue pair: no memory")
	require.Error(t, errs[0]) // it heard of the end while it reported, or before it joined
}

var messages = flag.Int("messages", 20_000, "messages to each call of the service that TestEveryCall sends")

// Twenty thousand messages to each call of the service, drawn field by field and byte by byte, by a tenant: every answer is one that the caller can understand, what
// it may not see it does not see, and another tenant's group is not disturbed.
func TestEveryCall(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	groups, errs := everybody(ctx, c.client("acme", "trainer"), "ring", hosts()...)
	require.NoError(t, errs[0])
	rival := &x509.Certificate{Subject: pkix.Name{CommonName: "rival"}}
	as := peer.NewContext(ctx, &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{rival}}}}})
	f := rpctest.Fuzzer{Service: &pb.Manager_ServiceDesc, Server: c.m, Random: mrand.New(mrand.NewPCG(1, 9)), Patience: time.Second,
		Words: append(hosts(), "ring", groups[0].Offer.Group, "spatial")}
	f.Run(as, t, *messages)
	t.Logf("%v", f.Answers)
	require.Len(t, f.Answers, 7, "all calls")
	for name, answers := range f.Answers {
		total := 0
		for code, n := range answers {
			total += n
			require.Contains(t, []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.ResourceExhausted, codes.FailedPrecondition, 100}, code, name)
		}
		require.Equal(t, *messages, total, name)
	}
	s, err := c.m.Status(as, &pb.StatusRequest{})
	require.NoError(t, err)
	for _, g := range s.Groups {
		require.Equal(t, "rival", g.Tenant)
	}
	require.Empty(t, s.Switches)
	for _, g := range groups {
		require.Empty(t, g.Reason())
	}
	require.NoError(t, groups[0].Destroy(ctx))
}

// The manager does not listen to certificates of another authority.
func TestStrangers(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	conn, err := rpc.Dial(c.address, rpc.Manager, rpctest.New(t).Issue(rpc.Operator, "mallory", time.Hour))
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	_, err = pb.NewManagerClient(conn).Status(ctx, &pb.StatusRequest{})
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

// A hundred thousand requests that make no sense, or not enough: every one is answered with a reason, a group that lives is not disturbed, and what
// others have begun comes to nothing.
func TestNonsense(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme := c.client("acme", "trainer")
	groups, errs := everybody(ctx, acme, "ring", hosts()...)
	require.NoError(t, errs[0])
	rng := mrand.New(mrand.NewPCG(3, 4))
	names := []string{"", "a", "b", "ring", "x y", "ä", "../..", string(make([]byte, 300))}
	nodes := []string{"h0", "h1", "h2", "h3", "h9", "", "leaf0", "spine0"}
	answers := map[codes.Code]int{}
	// Another tenant asks, without the network in between, which would take most of the time.
	rival := &x509.Certificate{Subject: pkix.Name{CommonName: "rival"}}
	ctx = peer.NewContext(ctx, &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{rival}}}}})
	for range 100_000 {
		call, cancel := context.WithTimeout(ctx, 5*time.Second)
		var err error
		id := []string{"", "x", groups[0].Offer.Group, "rival/a/1"}[rng.IntN(4)]
		switch rng.IntN(6) {
		case 0:
			_, err = c.m.Destroy(call, &pb.DestroyRequest{Group: id})
		case 1:
			r := &pb.ReportRequest{Group: id, Rank: rng.Uint32N(6)}
			if rng.IntN(2) == 0 {
				r.Own = &pb.QueuePair{Qpn: rng.Uint32(), Ip: rng.Uint32(), Mac: rng.Uint64()}
			}
			_, err = c.m.Report(call, r)
		default:
			r := &pb.JoinRequest{Name: names[rng.IntN(len(names))], Rank: rng.Uint32N(6)}
			for range rng.IntN(6) {
				r.Members = append(r.Members, nodes[rng.IntN(len(nodes))])
			}
			o := &pb.Options{Mbps: rng.Uint32() >> rng.IntN(32), LeastMbps: rng.Uint32() >> rng.IntN(32), Mtu: rng.Uint32() >> rng.IntN(32), InBand: rng.IntN(2) == 0,
				Collective: rng.Uint32N(6), Op: rng.Uint32N(5), Dtype: rng.Uint32N(6), Root: rng.Uint32N(6), Policy: []string{"", "spatial", "edge-disjoint", "?"}[rng.IntN(4)]}
			if rng.IntN(2) == 0 {
				o.Collective, o.Op, o.Dtype, o.Root, o.Mtu, o.LeastMbps = 0, 0, 3, 0, 0, 1
			}
			r.Options = o
			_, err = c.m.Join(call, r)
		}
		cancel()
		answers[status.Code(err)]++
		if err != nil {
			require.NotEmpty(t, status.Convert(err).Message())
		}
	}
	t.Logf("%v", answers)
	require.Positive(t, answers[codes.OK], "some were meant well enough to be reserved")
	for code := range answers {
		require.Contains(t, []codes.Code{codes.OK, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.ResourceExhausted, codes.FailedPrecondition}, code, fmt.Sprint(answers))
	}
	require.Empty(t, groups[0].Reason())
	for name, a := range c.agents {
		require.Eventually(t, func() bool {
			l, err := a.List(ctx, &agentpb.ListRequest{})
			return err == nil && len(l.Groups) == 1
		}, 10*time.Second, 50*time.Millisecond)
		require.True(t, c.engines[name].Engine().Enabled(0))
	}
}
