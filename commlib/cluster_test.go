// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"incforge/commlib"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/contract"
	"incforge/control/agent"
	"incforge/control/agentpb"
	"incforge/control/manager"
	"incforge/control/managerpb"
	"incforge/control/placement"
	"incforge/control/rpc"
	"incforge/control/store"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/peer"
	"incforge/roce"
	"incforge/verify/dut"
)

// cluster is two leaves with two hosts each below a spine, every switch a run of package live of its own with its agent, a manager, and a NIC on
// every host. All of it talks as it would on machines of its own, over sockets.
type cluster struct {
	t        *testing.T
	dir      string
	log      *logrus.Logger
	params   contract.Params
	faults   live.Faults
	net      *placement.Network
	switches map[string]*node
	hosts    map[string]*machine
	manager  string // its address
	shared   int    // slots of groups that take turns; not 0: the switches pass what hosts send each other
	stop     []func()
}

// node is a switch.
type node struct {
	name    string
	address string // its agent's
	agent   *agent.Agent
	mute    func() // ends the agent's server, and nothing else
	off     func() // ends all of it
	control *live.Client
	ports   map[string]int // by neighbour
}

// machine is a host.
type machine struct {
	nic  *softnic.NIC
	wire *tap
	conn *grpc.ClientConn
	api  managerpb.ManagerClient
	dead bool
}

// kill ends a host as a crash does: nobody hears a word from it.
func (m *machine) kill() error {
	m.dead = true
	m.wire.cut.Store(true)
	return m.conn.Close()
}

// tap is a wire that a test can listen at, and cut.
type tap struct {
	softnic.Wire
	cut    atomic.Bool // frames are lost
	broken atomic.Bool // sending fails

	mu   sync.Mutex
	keep bool     // what passes is kept in sent and came
	sent [][]byte // to the switch
	came [][]byte // to the host
	late [][]byte // that are to come to the host once more, before the next one that comes
	held []byte   // the one that waits meanwhile
}

func (w *tap) Send(frame []byte) error {
	if w.broken.Load() {
		return errors.New("broken")
	}
	if w.cut.Load() {
		return nil
	}
	w.mu.Lock()
	if w.keep {
		w.sent = append(w.sent, slices.Clone(frame))
	}
	w.mu.Unlock()
	return w.Wire.Send(frame)
}

// next is a frame that need not be waited for.
func (w *tap) next() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.late) > 0 && w.held != nil {
		f := w.late[0]
		w.late = w.late[1:]
		return f
	}
	f := w.held
	w.held = nil
	return f
}

func (w *tap) Receive(buf []byte) (int, error) {
	for {
		if f := w.next(); f != nil {
			return copy(buf, f), nil
		}
		n, err := w.Wire.Receive(buf)
		if err != nil {
			return n, err
		}
		if w.cut.Load() {
			continue
		}
		w.mu.Lock()
		w.held = slices.Clone(buf[:n])
		if w.keep {
			w.came = append(w.came, w.held)
		}
		w.mu.Unlock()
	}
}

// params are of an engine that has everything, in-band too.
func params() contract.Params {
	p := synthetic.Full()
	p.InBand, p.BufferBytes, p.WindowPackets, p.Groups = true, 1<<18, 16, 4
	return p
}

// paramsOf are params in a mode.
func paramsOf(mode int) contract.Params {
	p := params()
	if p.Mode = mode; p.Pipes() {
		p.HopRTTNS = 2000
	}
	if mode == 1 {
		p.MessageBytes, p.WindowMessages = 4096, 8
	}
	return p
}

// between are the sockets of two ends of a wire, by who is at them.
func (c *cluster) between(at, to string) string { return filepath.Join(c.dir, at+"-"+to) }

// newCluster starts everything; faults befall the frames of every wire.
func newCluster(t *testing.T, p contract.Params, faults live.Faults) *cluster {
	t.Helper()
	return newSharing(t, p, faults, 0)
}

// newSharing is newCluster of switches that share so many slots in time.
func newSharing(t *testing.T, p contract.Params, faults live.Faults, shared int) *cluster {
	t.Helper()
	log, _ := logtest.NewNullLogger()
	c := &cluster{t: t, dir: t.TempDir(), log: log, params: p, switches: map[string]*node{}, hosts: map[string]*machine{}, faults: faults, shared: shared}
	shape := placement.LeafSpine(2, 1, 2)
	shape.Mbps, shape.HopRTT = 10_000, 20*time.Microsecond
	var err error
	c.net, err = shape.Network()
	require.NoError(t, err)
	t.Cleanup(c.close)
	for i, n := range c.net.Nodes {
		if !n.Host {
			c.addSwitch(n.Name, roce.IP4{10, 0, 0, byte(i + 1)}, byte(i), "127.0.0.1:0")
		}
	}
	c.manage()
	for i, n := range c.net.Nodes {
		if n.Host {
			c.addHost(n.Name, byte(i))
		}
	}
	return c
}

func (c *cluster) close() {
	for _, h := range c.hosts {
		assert.NoError(c.t, h.nic.Close())
		if !h.dead {
			assert.NoError(c.t, h.conn.Close())
		}
	}
	for i := len(c.stop) - 1; i >= 0; i-- {
		c.stop[i]()
	}
	for _, n := range c.switches {
		n.off()
	}
}

// background serves until stopped.
func (c *cluster) background(server *grpc.Server, at string) (address string, stop func()) {
	l, err := rpc.Listen(at, rpc.Files{})
	require.NoError(c.t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	return l.Addr().String(), sync.OnceFunc(func() { server.Stop(); assert.NoError(c.t, <-done) })
}

// addSwitch starts a switch, for the first time or again.
func (c *cluster) addSwitch(name string, ip roce.IP4, number byte, listen string) {
	man := synthetic.Manifest(c.params)
	engine, err := dut.NewReference(man)
	require.NoError(c.t, err)
	n := &node{name: name, ports: map[string]int{}}
	own := groups.Address{IP: ip, MAC: roce.MAC{2, 0, 0, number, 0, 0}}
	sw := live.Switch{Name: name, Manifest: man, Engine: engine, Setup: groups.Managed(man, own), Unchecked: true, Bridge: c.shared > 0}
	names := map[int]string{}
	for _, l := range c.net.Links {
		for i, e := range l.Ends {
			if other := c.net.Nodes[l.Ends[1-i].Node].Name; c.net.Nodes[e.Node].Name == name {
				sw.Ports = append(sw.Ports, live.Port{Number: e.Port, Mine: c.between(name, other), Peer: c.between(other, name), Faults: c.faults})
				n.ports[other], names[e.Port] = e.Port, other
			}
		}
	}
	up := make(chan struct{})
	sw.Agent = func(ctx context.Context, h *live.Hand) error {
		a, err := agent.New(agent.Config{Name: name, Manifest: man, Bus: h, Switch: h, Store: store.NewMemory(), IP: own.IP, MAC: own.MAC,
			Neighbours: names, Shared: c.shared, Lifetime: time.Second, Log: c.log})
		if err != nil {
			return err
		}
		server := grpc.NewServer()
		agentpb.RegisterAgentServer(server, a)
		n.agent = a
		n.address, n.mute = c.background(server, listen)
		close(up)
		<-ctx.Done()
		n.mute()
		return nil
	}
	control := filepath.Join(c.dir, name+".ctl")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := live.Run(ctx, live.Options{Switches: []live.Switch{sw}, Control: control, Log: c.log})
		done <- errors.Join(err, engine.Close())
	}()
	n.off = sync.OnceFunc(func() { cancel(); assert.NoError(c.t, <-done) })
	n.control = live.NewClient(control)
	c.switches[name] = n
	select {
	case <-up:
	case <-time.After(10 * time.Second):
		c.t.Fatalf("switch %s does not start", name)
	}
}

// manage starts the manager.
func (c *cluster) manage() {
	agents := map[string]agentpb.AgentClient{}
	for name, n := range c.switches {
		conn, err := rpc.Dial(n.address, rpc.Agent, rpc.Files{})
		require.NoError(c.t, err)
		c.stop = append(c.stop, func() { assert.NoError(c.t, conn.Close()) })
		agents[name] = agentpb.NewAgentClient(conn)
	}
	m, err := manager.New(manager.Config{Network: c.net, Agents: agents, Store: store.NewMemory(), Lease: 15 * time.Second, Gather: 10 * time.Second,
		Call: 2 * time.Second, Patience: 3 * time.Second, Now: time.Now, Random: rand.Reader, Log: c.log})
	require.NoError(c.t, err)
	server := grpc.NewServer()
	managerpb.RegisterManagerServer(server, m)
	address, stop := c.background(server, "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { m.Run(ctx, 200*time.Millisecond); close(done) }()
	c.stop = append(c.stop, stop, func() { cancel(); <-done })
	c.manager = address
}

// addHost starts a host.
func (c *cluster) addHost(name string, number byte) {
	var leaf string
	for _, l := range c.net.Links {
		if c.net.Nodes[l.Ends[1].Node].Name == name {
			leaf = c.net.Nodes[l.Ends[0].Node].Name
		}
	}
	w, err := peer.Dial(c.between(name, leaf), c.between(leaf, name))
	require.NoError(c.t, err)
	wire := &tap{Wire: w}
	h := &machine{wire: wire, nic: softnic.New(wire, verbs.Address{IP: roce.IP4{10, 0, 1, number}, MAC: roce.MAC{2, 0, 1, 0, 0, number}})}
	h.conn, err = rpc.Dial(c.manager, rpc.Manager, rpc.Files{})
	require.NoError(c.t, err)
	h.api = managerpb.NewManagerClient(h.conn)
	c.hosts[name] = h
}

// config is what a host asks for.
func (c *cluster) config(name string, members []string, rank int) commlib.Config {
	h := c.hosts[members[rank]]
	return commlib.Config{Manager: h.api, Device: h.nic, Name: name, Members: members, Rank: rank, Mbps: 1000, LeastMbps: 1}
}

// everybody does something on all ranks at once.
func everybody(n int, do func(rank int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			if err := do(rank); err != nil {
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// init makes a group of these hosts.
func (c *cluster) init(ctx context.Context, name string, members []string, change func(*commlib.Config)) ([]*commlib.Group, error) {
	all := make([]*commlib.Group, len(members))
	return all, everybody(len(members), func(rank int) (err error) {
		cfg := c.config(name, members, rank)
		if change != nil {
			change(&cfg)
		}
		all[rank], err = commlib.InitGroup(ctx, cfg)
		return err
	})
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// own is how many slots of a switch groups can have for as long as they live.
func (c *cluster) own() int {
	if c.params.Park {
		return c.params.EngineCount() * (c.params.Slots() - c.shared - 2*c.params.MostUnits())
	}
	return c.params.EngineCount() * c.params.Slots()
}
