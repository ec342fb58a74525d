// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	mrand "math/rand/v2"
	"sync"
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
	address string
	engines map[string]*dut.Reference
	stop    map[string]func()
	agents  map[string]*agent.Agent
	m       *manager.Manager
}

func serve(t *testing.T, files rpc.Files, register func(*grpc.Server), roles ...string) (address string, stop func()) {
	s, err := rpc.Server(files, roles...)
	require.NoError(t, err)
	register(s)
	l, err := rpc.Listen("127.0.0.1:0", files)
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
		address, stop := serve(t, c.certs.Issue(rpc.Agent, n.Name, time.Hour), func(s *grpc.Server) { agentpb.RegisterAgentServer(s, a) }, rpc.Manager)
		conn, err := rpc.Dial(address, rpc.Agent, own)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close()) })
		agents[n.Name], c.engines[n.Name], c.stop[n.Name], c.agents[n.Name] = agentpb.NewAgentClient(conn), engine, stop, a
	}
	m, err := manager.New(manager.Config{Network: network, Agents: agents, Store: store.NewMemory(), Lease: 5 * time.Second, Gather: 2 * time.Second,
		Call: time.Second, Patience: time.Second, Groups: 2, Now: time.Now, Random: rand.Reader, Log: log})
	require.NoError(t, err)
	c.m = m
	c.address, _ = serve(t, own, func(s *grpc.Server) { pb.RegisterManagerServer(s, m) })
	m.Poll(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { m.Run(ctx, 100*time.Millisecond); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

// client speaks to the manager as somebody.
func (c *cluster) client(role, name string) pb.ManagerClient {
	c.t.Helper()
	conn, err := rpc.Dial(c.address, rpc.Manager, c.certs.Issue(role, name, time.Hour))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { assert.NoError(c.t, conn.Close()) })
	return pb.NewManagerClient(conn)
}

// member does what CommLib does on a host: joins, reports, watches. The end of the watch comes through the channel.
func member(ctx context.Context, m pb.ManagerClient, r *pb.JoinRequest) (offer *pb.JoinResponse, end chan string, err error) {
	if offer, err = m.Join(ctx, r); err != nil {
		return nil, nil, err
	}
	own := &pb.QueuePair{Qpn: 100 + r.Rank, Ip: 0x0A000100 + r.Rank, Mac: 0x020000000100 + uint64(r.Rank)}
	if _, err = m.Report(ctx, &pb.ReportRequest{Group: offer.Group, Rank: r.Rank, Own: own}); err != nil {
		return offer, nil, err
	}
	watch, err := m.Watch(ctx, &pb.WatchRequest{Group: offer.Group, Rank: r.Rank})
	if err != nil {
		return offer, nil, err
	}
	end = make(chan string, 1)
	go func() {
		if w, err := watch.Recv(); err == nil {
			end <- w.Ended
		} else {
			end <- "error: " + err.Error()
		}
	}()
	return offer, end, nil
}

// everybody runs all members of a group at once.
func everybody(ctx context.Context, m pb.ManagerClient, name string, hosts ...string) (offers []*pb.JoinResponse, ends []chan string, errs []error) {
	n := len(hosts)
	offers, ends, errs = make([]*pb.JoinResponse, n), make([]chan string, n), make([]error, n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			r := &pb.JoinRequest{Name: name, Members: hosts, Rank: uint32(rank), Options: &pb.Options{Mbps: 1000, Dtype: 3}}
			offers[rank], ends[rank], errs[rank] = member(ctx, m, r)
		})
	}
	all.Wait()
	return offers, ends, errs
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
	acme, rival, ann := c.client(rpc.Tenant, "acme"), c.client(rpc.Tenant, "rival"), c.client(rpc.Operator, "ann")
	offers, ends, errs := everybody(ctx, acme, "ring", hosts()...)
	for rank := range offers {
		require.NoError(t, errs[rank])
		require.Equal(t, offers[0].Group, offers[rank].Group)
		require.Equal(t, offers[0].Start, offers[rank].Start)
		require.NotNil(t, offers[rank].Peer)
	}
	for _, e := range c.engines {
		require.True(t, e.Engine().Enabled(0))
	}
	id := offers[0].Group
	s, err := acme.Status(ctx, &pb.StatusRequest{})
	require.NoError(t, err)
	require.Len(t, s.Groups, 1)
	assert.Equal(t, []string{"ready", "acme", "spine0"}, []string{s.Groups[0].State, s.Groups[0].Tenant, s.Groups[0].Switches[0]})
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
	_, err = acme.Destroy(ctx, &pb.DestroyRequest{Group: id})
	require.NoError(t, err)
	for _, end := range ends {
		assert.Equal(t, "destroyed by tenant acme", <-end)
	}
	for _, e := range c.engines {
		assert.False(t, e.Engine().Enabled(0))
	}
	_, err = acme.Destroy(ctx, &pb.DestroyRequest{Group: id})
	assert.Equal(t, codes.NotFound, status.Code(err))
}

// A member that goes away and an agent that goes away end the group within five seconds for all the others.
func TestGoneWithinFiveSeconds(t *testing.T) {
	c, ctx := newCluster(t), within(t)
	acme, ann := c.client(rpc.Tenant, "acme"), c.client(rpc.Operator, "ann")
	short, cancel := context.WithCancel(ctx)
	_, ends, errs := everybody(short, acme, "low", "h0", "h1")
	require.NoError(t, errs[0])
	_, high, errs := everybody(ctx, ann, "high", hosts()...)
	require.NoError(t, errs[0])
	cancel()
	<-ends[0]
	began := time.Now()
	for {
		s, err := acme.Status(ctx, &pb.StatusRequest{})
		require.NoError(t, err)
		if len(s.Groups) == 0 {
			break
		}
		require.Less(t, time.Since(began), 5*time.Second)
		time.Sleep(20 * time.Millisecond)
	}
	select {
	case why := <-high[0]:
		t.Fatalf("the other group has ended: %s", why)
	default:
	}
	began = time.Now()
	c.stop["leaf1"]()
	for _, end := range high {
		assert.Contains(t, <-end, "switch leaf1 is down")
	}
	assert.Less(t, time.Since(began), 5*time.Second)
	_, _, errs = everybody(ctx, acme, "again", "h0", "h1")
	require.NoError(t, errs[0])
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
	acme := c.client(rpc.Tenant, "acme")
	offers, ends, errs := everybody(ctx, acme, "ring", hosts()...)
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
		id := []string{"", "x", offers[0].Group, "rival/a/1"}[rng.IntN(4)]
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
	select {
	case why := <-ends[0]:
		t.Fatalf("the group has ended: %s", why)
	default:
	}
	for name, a := range c.agents {
		require.Eventually(t, func() bool {
			l, err := a.List(ctx, &agentpb.ListRequest{})
			return err == nil && len(l.Groups) == 1
		}, 10*time.Second, 50*time.Millisecond)
		require.True(t, c.engines[name].Engine().Enabled(0))
	}
}
