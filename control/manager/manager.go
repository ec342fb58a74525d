// SPDX-License-Identifier: Apache-2.0

// Package manager is the control plane's head: it knows the network, places groups, and has the agents of the switches install and remove
// them, all or nothing. What it has decided is in a store; what is installed the agents know better, and it asks them.
//
// A Manager is the server of the service in managerpb. docs/control.md has the order of calls and the states of a group.
package manager

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/control/managerpb"
	"incforge/control/placement"
	"incforge/control/store"
)

// Config is what a manager works with.
type Config struct {
	Network *placement.Network
	// ReportedMbps is the rate of links that agents report and Network does not have; 0: there are none but Network's.
	ReportedMbps int
	// Agents are the switches' agents, by switch.
	Agents map[string]pb.AgentClient
	Store  store.Store
	// Lease is how long switches keep what is reserved, Gather how long members may take to report.
	Lease, Gather time.Duration
	// Call bounds a call to an agent. Patience is how long an agent, or a member, may be silent.
	Call, Patience time.Duration
	// Groups is how many groups a tenant may have; 0 is any number.
	Groups int
	Now    func() time.Time
	Random io.Reader
	Log    *logrus.Logger
}

// Manager is a manager. Make it with New, and have somebody call Poll.
type Manager struct {
	managerpb.UnimplementedManagerServer

	cfg Config

	mu       sync.Mutex
	groups   map[string]*group
	switches map[string]*node
	placer   *placement.Placer
	stale    bool              // the placer does not know what the switches said last
	lost     map[string]string // groups that it could not hold, and why
	engines  map[string]*contract.Params
	events   []string
	round    chan struct{} // closed when all switches have been asked, and made anew
	rounds   int           // that were begun
	past     []past        // the groups that were removed last, the oldest first
	// fenced is the highest number that turns have had, fenceBound what the store has for it.
	fenced, fenceBound uint64
	began              time.Time
}

// past is a group that is no more. A member that asks late still hears why it has ended.
type past struct{ id, tenant, reason string }

// mostPast is how many are remembered.
const mostPast = 1000

// node is a switch that has an agent.
type node struct {
	name   string
	agent  pb.AgentClient
	params string
	share  share
	ports  []*pb.Port
	// neighbours by port, if links are reported.
	neighbours map[int]string
	qpns       uint32   // that it could give out when it was asked last
	expired    []string // groups whose turns had run out then, and were not ended
	told       map[string]uint64
	engine     *contract.Params
	// up: the agent answered last time, and has no group that the manager does not know. since is when it was last seen so.
	up      bool
	since   time.Time
	trouble string
}

// mostEvents is how many events are kept.
const mostEvents = 200

// New reads the store. Groups that were decided are finished, or ended, by Poll.
func New(cfg Config) (*Manager, error) {
	m := &Manager{cfg: cfg, groups: map[string]*group{}, switches: map[string]*node{}, engines: map[string]*contract.Params{}, lost: map[string]string{}, stale: true,
		round: make(chan struct{}), began: cfg.Now()}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		n, ok := cfg.Network.Find(name)
		if !ok || cfg.Network.Nodes[n].Host {
			return nil, fmt.Errorf("manager: an agent of %s, which is no switch of the network", name)
		}
		m.switches[name] = &node{name: name, agent: cfg.Agents[name], since: cfg.Now(), trouble: "not asked yet"}
	}
	if err := m.load(); err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	return m, nil
}

// event notes what an operator would want to know.
func (m *Manager) event(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.cfg.Log.Info("manager: " + text)
	m.events = append(m.events, m.cfg.Now().UTC().Format(time.RFC3339)+" "+text)
	m.events = m.events[max(0, len(m.events)-mostEvents):]
}

// describe takes what a switch says of its engine.
func (m *Manager) describe(s *node, params string) error {
	if s.params == params {
		return nil
	}
	e, ok := m.engines[params]
	if !ok {
		e = &contract.Params{}
		if err := json.Unmarshal([]byte(params), e); err != nil {
			return fmt.Errorf("switch %s: %w", s.name, err)
		}
		m.engines[params] = e
	}
	s.params, s.engine, m.stale = params, e, true
	return nil
}

// account is the placer, made anew if the switches have said something else. Groups that the network no longer holds are lost.
func (m *Manager) account() error {
	if !m.stale {
		return nil
	}
	net := *m.cfg.Network
	net.Nodes, net.Links = slices.Clone(net.Nodes), slices.Concat(net.Links, m.reported())
	for i := range net.Nodes {
		if s := m.switches[net.Nodes[i].Name]; s != nil {
			net.Nodes[i].Engine = s.engine
			if s.engine != nil && s.share.SetAside <= s.engine.Slots() { // else it was another engine's, and is learnt anew
				net.Nodes[i].Shared, net.Nodes[i].SetAside = s.share.Shared, s.share.SetAside
			}
		}
	}
	placer, err := placement.New(&net)
	if err != nil {
		return err
	}
	for _, g := range m.sorted() {
		if !g.live() {
			continue
		}
		if err := placer.Hold(g.Tree); err != nil {
			m.lost[g.ID] = err.Error()
		}
	}
	for _, g := range m.sorted() {
		if g.live() {
			continue
		}
		if err := placer.HoldRest(g.Tree, slices.Sorted(maps.Keys(g.gone))); err != nil {
			m.event("group %s, which is being removed: %v", g.ID, err)
		}
	}
	m.placer, m.stale = placer, false
	for _, s := range m.switches {
		if err := placer.SetDown(s.name, !s.up); err != nil {
			return err
		}
	}
	return nil
}

// random is a random number.
func (m *Manager) random() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(m.cfg.Random, b[:]); err != nil {
		return 0, fmt.Errorf("random number: %w", err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// create places a group and has the switches set aside what it needs. A group that cannot be is undone, and the error says why.
func (m *Manager) create(ctx context.Context, tenant, name string, members []string, o Options) (*group, error) {
	m.mu.Lock()
	g, err := m.place(tenant, name, members, o)
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return g, m.reserve(ctx, g)
}

// reserve asks the switches of a group that was placed.
func (m *Manager) reserve(ctx context.Context, g *group) error {
	g.work.Lock()
	defer g.work.Unlock()
	for i := range g.Tree.Switches {
		if err := m.reserveAt(ctx, g, i); err != nil {
			m.end(ctx, g, err.Error())
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g.state, g.renewed, g.deadline = Gathering, m.cfg.Now(), m.cfg.Now().Add(m.cfg.Gather)
	close(g.reserved)
	return nil
}

// place makes a group and finds its tree. Called with mu held.
func (m *Manager) place(tenant, name string, members []string, o Options) (*group, error) {
	own := 0
	for _, g := range m.groups {
		if g.Tenant == tenant && g.live() {
			own++
		}
	}
	if m.cfg.Groups > 0 && own >= m.cfg.Groups {
		return nil, status.Errorf(codes.ResourceExhausted, "tenant %s has %d groups and may have no more", tenant, own)
	}
	if err := m.account(); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	sharing := o.Policy
	if sharing == temporal { // links and numbers are shared out as usual: only the memory is had in turn
		sharing = placement.Spatial{}.String()
	}
	policy, err := placement.PolicyOf(sharing)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	id, err := m.random()
	start, err2 := m.random()
	if err := errors.Join(err, err2); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	r := record{ID: fmt.Sprintf("%s/%s/%08x", tenant, name, id), Name: name, Tenant: tenant, Members: members, Options: o,
		Start: start & 0xFFFFFF, Ends: map[string][]End{}}
	e := m.engineNear(members[0])
	if e == nil {
		return nil, status.Errorf(codes.FailedPrecondition, "no switch beside %s has an engine that is known", members[0])
	}
	r.Mode, o.MTU = e.Mode, cmp.Or(o.MTU, e.MTUBytes)
	r.Options.MTU = o.MTU
	message := 0
	if e.Mode == 1 {
		message = e.MessageBytes
	}
	if o.Whole && e.Mode != 1 {
		return nil, status.Errorf(codes.InvalidArgument, "whole messages are Mode I's, the engine beside %s is of mode %d", members[0], e.Mode)
	}
	r.Kind = Kind{DType: uint32(slices.Index(contract.ElementNames(), e.DTypes[0])), Op: uint32(slices.Index(contract.OperationNames(), e.Ops[0]))}
	r.Tree, err = m.placer.Place(placement.Request{Group: r.ID, Members: members, Policy: policy, Mbps: o.Mbps, Least: o.Least, MTU: o.MTU,
		Mode: e.Mode, Message: message, DType: uint8(o.DType), InBand: o.InBand, InTurn: o.Policy == temporal})
	var refused *placement.Refusal
	switch {
	case errors.As(err, &refused):
		return nil, status.Error(codes.ResourceExhausted, err.Error())
	case err != nil:
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	g := newGroup(r, m.cfg.Now())
	g.placedIn = m.rounds
	m.groups[g.ID] = g
	return g, nil
}

// engineNear is the engine of a switch beside a host; nil if none is known.
func (m *Manager) engineNear(host string) *contract.Params {
	net := m.network()
	for _, l := range net.Links {
		for i, e := range l.Ends {
			if net.Nodes[e.Node].Name != host {
				continue
			}
			if s := m.switches[net.Nodes[l.Ends[1-i].Node].Name]; s != nil && s.engine != nil {
				return s.engine
			}
		}
	}
	return nil
}

// reserveAt asks one switch.
func (m *Manager) reserveAt(ctx context.Context, g *group, i int) error {
	at := &g.Tree.Switches[i]
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Call)
	defer cancel()
	out, err := m.switches[at.Name].agent.Reserve(ctx, &pb.ReserveRequest{Group: g.ID, Engine: uint32(at.Engine), Base: uint32(at.Base), Slots: uint32(at.Slots), InTurn: at.InTurn,
		Ports: ports(at), LeaseMs: uint32(m.cfg.Lease.Milliseconds())})
	if err != nil {
		return status.Errorf(status.Code(err), "switch %s: %s", at.Name, status.Convert(err).Message())
	}
	if len(out.Ends) != len(ports(at)) {
		return status.Errorf(codes.Internal, "switch %s: %d ends for %d endpoints", at.Name, len(out.Ends), len(ports(at)))
	}
	ends := make([]End, len(out.Ends))
	for e, end := range out.Ends {
		ends[e] = End{QPN: end.Qpn, IP: end.Ip, MAC: end.Mac}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, ok := g.Ends[at.Name]; ok && !slices.Equal(was, ends) {
		return status.Errorf(codes.Aborted, "switch %s has let the reservation lapse", at.Name)
	}
	g.Ends[at.Name] = ends
	return nil
}

// report takes a member's queue pair. When all have reported, the group is decided.
func (m *Manager) report(ctx context.Context, g *group, rank int, own End, ring ...End) error {
	m.mu.Lock()
	if g.reported[rank] && (g.Hosts[rank] != own || len(ring) == 2 && g.Ring[rank] != [2]End(ring)) {
		m.mu.Unlock()
		return status.Errorf(codes.AlreadyExists, "rank %d of group %s has reported another queue pair", rank, g.ID)
	}
	if g.state == Gathering {
		g.reported[rank], g.Hosts[rank] = true, own
		if len(ring) == 2 {
			g.Ring[rank] = [2]End(ring)
		}
	}
	complete := !slices.Contains(g.reported, false)
	m.mu.Unlock()
	if complete {
		m.decide(ctx, g)
	}
	return nil
}

// decide makes the decision durable and carries it out.
func (m *Manager) decide(ctx context.Context, g *group) {
	g.work.Lock()
	defer g.work.Unlock()
	m.mu.Lock()
	if g.state != Gathering {
		m.mu.Unlock()
		return
	}
	g.state, g.decided, g.deadline = Committing, true, m.cfg.Now().Add(m.cfg.Patience)
	m.mu.Unlock()
	if err := m.save(&g.record); err != nil {
		m.end(ctx, g, err.Error())
		return
	}
	m.commit(ctx, g)
}

// commit has the switches install a group that was decided. What a switch refuses ends the group; one that does not answer is asked again by
// Poll.
func (m *Manager) commit(ctx context.Context, g *group) {
	for i := range g.Tree.Switches {
		if err := m.commitAt(ctx, g, i); err != nil {
			if !unheard(err) {
				m.end(ctx, g, err.Error())
			}
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.state == Committing {
		g.state = Ready
		for rank := range g.seen {
			g.seen[rank] = m.cfg.Now()
		}
		close(g.ready)
		m.event("group %s is ready", g.ID)
	}
}

// unheard tells that a switch did not refuse a call: it may not have heard of it, or the manager is being stopped. That ends no group; the next round
// or the next manager asks again, and a switch that stays silent is down after Patience.
func unheard(err error) bool {
	return slices.Contains([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Canceled}, status.Code(err))
}

func (m *Manager) commitAt(ctx context.Context, g *group, i int) error {
	name := g.Tree.Switches[i].Name
	m.mu.Lock()
	up := m.switches[name].up
	m.mu.Unlock()
	if !up {
		return status.Errorf(codes.Unavailable, "switch %s is down", name)
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Call)
	defer cancel()
	if _, err := m.switches[name].agent.Commit(ctx, g.request(i)); err != nil {
		return status.Errorf(status.Code(err), "switch %s: %s", name, status.Convert(err).Message())
	}
	return nil
}

// end ends a group. Its members hear the reason at once; the switches are told in turn. Called with the group's work held.
func (m *Manager) end(ctx context.Context, g *group, reason string) {
	m.mu.Lock()
	if g.state == Removing {
		m.mu.Unlock()
		return
	}
	g.state, g.reason, g.Ended = Removing, reason, reason
	g.deadline = m.cfg.Now().Add(m.cfg.Lease + m.cfg.Call)
	close(g.over)
	m.event("group %s has ended: %s", g.ID, reason)
	m.mu.Unlock()
	m.remove(ctx, g)
}

// remove has the switches remove a group that has ended. When all have, or a reservation that never was decided has lapsed, what it held is free.
func (m *Manager) remove(ctx context.Context, g *group) {
	if g.decided && !g.noted {
		// If this fails, the store still says that the group lives. The next manager then finds it gone at some switch, or its members silent,
		// and ends it.
		if err := m.save(&g.record); err != nil {
			m.cfg.Log.Errorf("manager: %v", err)
		} else {
			g.noted = true
		}
	}
	for i := range g.Tree.Switches {
		m.removeAt(ctx, g, g.Tree.Switches[i].Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if gone := len(g.gone) == len(g.Tree.Switches); !gone && (g.decided || m.cfg.Now().Before(g.deadline)) {
		return
	}
	if g.decided {
		if err := m.cfg.Store.Delete(groupPrefix + g.ID); err != nil {
			m.cfg.Log.Errorf("manager: %v", err)
			return
		}
	}
	delete(m.groups, g.ID)
	m.past = append(m.past[max(0, len(m.past)-mostPast+1):], past{g.ID, g.Tenant, g.reason})
	if m.placer != nil {
		m.placer.Release(g.ID)
	}
}

// removeAt has one switch remove a group, unless it has. A switch that is down is asked when it is up again: every call to it takes long, and
// what fails elsewhere must be seen meanwhile.
func (m *Manager) removeAt(ctx context.Context, g *group, name string) {
	s := m.switches[name]
	m.mu.Lock()
	if s == nil { // no longer in the file
		g.gone[name] = true
		m.mu.Unlock()
		return
	}
	skip := g.gone[name] || !s.up
	m.mu.Unlock()
	if skip {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Call)
	defer cancel()
	if _, err := s.agent.Remove(ctx, &pb.RemoveRequest{Group: g.ID}); err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g.gone[name] = true
	if m.placer != nil {
		m.placer.Vacate(g.ID, name)
	}
}
