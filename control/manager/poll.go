// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "incforge/control/agentpb"
	"incforge/control/placement"
)

// answer is what a switch said when it was asked how it is.
type answer struct {
	describe *pb.DescribeResponse
	list     *pb.ListResponse
	err      error
}

// Poll looks after everything once: asks the switches, removes what nobody decided, finishes what was, ends what cannot go on. It is to be called
// a few times in the time that a failure may go unseen, by one caller at a time.
func (m *Manager) Poll(ctx context.Context) {
	m.mu.Lock()
	m.rounds++
	m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.switches))
	answers := make([]answer, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { answers[i] = m.ask(ctx, m.switches[name]) })
	}
	all.Wait()
	for i, name := range names {
		m.hear(ctx, m.switches[name], answers[i])
	}
	m.mu.Lock()
	err := m.account()
	if err == nil {
		err = m.wires()
	}
	lost, groups := m.lost, m.sorted()
	m.lost = map[string]string{}
	close(m.round)
	m.round = make(chan struct{})
	m.mu.Unlock()
	if err != nil {
		m.cfg.Log.Errorf("manager: %v", err)
		return
	}
	for _, g := range groups {
		m.look(ctx, g, lost[g.ID])
	}
}

// Run polls until ctx ends.
func (m *Manager) Run(ctx context.Context, period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for ctx.Err() == nil {
		m.Poll(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (m *Manager) ask(ctx context.Context, s *node) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Call)
	defer cancel()
	if a.describe, a.err = s.agent.Describe(ctx, &pb.DescribeRequest{}); a.err == nil {
		a.list, a.err = s.agent.List(ctx, &pb.ListRequest{})
	}
	return a
}

// hear takes a switch's answer.
func (m *Manager) hear(ctx context.Context, s *node, a answer) {
	if a.err == nil && a.describe.Name != s.name {
		a.err = fmt.Errorf("its agent is %s's", a.describe.Name)
	}
	if a.err == nil {
		a.err = m.learn(s, a.describe)
	}
	if a.err == nil {
		a.err = m.tidy(ctx, s, a.list)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	up, trouble := a.err == nil, ""
	if a.err != nil {
		trouble = status.Convert(a.err).Message()
	}
	if up != s.up {
		m.event("switch %s: %s", s.name, map[bool]string{true: "up", false: "down: " + trouble}[up])
	}
	s.up, s.trouble = up, trouble
	if up {
		m.tell(s, a.list.Troubles)
		s.since, s.ports, s.qpns, s.expired = m.cfg.Now(), a.describe.Ports, a.list.FreeQpns, nil
		for _, turn := range a.list.Turns {
			if turn.LeaseMs == 0 {
				s.expired = append(s.expired, turn.Group)
			}
		}
	}
	if m.placer != nil {
		if err := m.placer.SetDown(s.name, !up); err != nil {
			m.cfg.Log.Errorf("manager: %v", err)
		}
	}
}

// tell notes what a switch has to report, each when it comes and again when it has doubled. Called with mu held.
func (m *Manager) tell(s *node, troubles []*pb.Trouble) {
	told := map[string]uint64{}
	for _, t := range troubles {
		where := fmt.Sprintf("engine %d", t.GetEngine())
		if t.Port != nil {
			where = fmt.Sprintf("port %d", *t.Port)
		}
		what := where + " reports " + t.Cause
		if told[what] = s.told[what]; t.Times >= 2*told[what] {
			m.event("switch %s: %s, %d times since its agent began", s.name, what, t.Times)
			told[what] = t.Times
		}
	}
	s.told = told
}

// learn keeps what a switch says of its engine, for the time when it cannot be asked.
func (m *Manager) learn(s *node, d *pb.DescribeResponse) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.meet(s, d.Ports); err != nil {
		return err
	}
	if err := m.learnShare(s, d); err != nil || s.params == d.Params {
		return err
	}
	if err := m.cfg.Store.Put(switchPrefix+s.name, []byte(d.Params)); err != nil {
		return err
	}
	return m.describe(s, d.Params)
}

// wires compares the ports with the network: a link is down if either end says so, or sees somebody else. Called with mu held.
func (m *Manager) wires() error {
	net := m.network()
	for i, l := range net.Links {
		down := false
		for j, e := range l.Ends {
			s := m.switches[net.Nodes[e.Node].Name]
			if s == nil || e.Port >= len(s.ports) {
				continue
			}
			other, port := net.Nodes[l.Ends[1-j].Node].Name, s.ports[e.Port]
			if port.Neighbour != "" && port.Neighbour != other {
				s.trouble = fmt.Sprintf("port %d leads to %s, in the topology file to %s", e.Port, port.Neighbour, other)
				down = true
			}
			down = down || port.Down
		}
		if err := m.placer.SetLinkDown(i, down); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the groups of a switch that nobody decided, after those that were decided had the chance to claim theirs, and ends
// those that the switch should have and has not.
func (m *Manager) tidy(ctx context.Context, s *node, l *pb.ListResponse) error {
	has := map[string]*pb.Group{}
	for _, g := range l.Groups {
		has[g.Group] = g
	}
	m.mu.Lock()
	groups := m.sorted()
	m.mu.Unlock()
	known := map[string]bool{}
	for _, g := range groups {
		known[g.ID] = true
		m.missing(ctx, g, s, has[g.ID])
	}
	for _, held := range l.Groups {
		r := &pb.RemoveRequest{Group: held.Group}
		switch {
		case held.State == pb.State_STATE_UNCLAIMED:
			r.Record = proto.Uint32(held.Record)
		case known[held.Group]:
			continue
		}
		if err := m.removeStray(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

// removeStray removes a group of which the manager still knows nothing.
func (m *Manager) removeStray(ctx context.Context, s *node, r *pb.RemoveRequest) error {
	m.mu.Lock()
	known := r.Group != "" && m.groups[r.Group] != nil // since it was asked
	if !known {
		m.event("switch %s: removes a group that nobody decided, %q", s.name, r.Group)
	}
	m.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Call)
	defer cancel()
	_, err := s.agent.Remove(ctx, r)
	return err
}

// missing ends a group that a switch should have installed and has not, unless it can be claimed there, and one that cannot go on there.
func (m *Manager) missing(ctx context.Context, g *group, s *node, has *pb.Group) {
	at := slices.IndexFunc(g.Tree.Switches, func(sw placement.Switch) bool { return sw.Name == s.name })
	installed := has.GetState() == pb.State_STATE_INSTALLED
	if at < 0 || installed && has.Trouble == "" {
		return
	}
	g.work.Lock()
	defer g.work.Unlock()
	m.mu.Lock()
	state := g.state
	m.mu.Unlock()
	if state != Ready && state != Committing {
		return
	}
	if installed {
		m.end(ctx, g, fmt.Sprintf("switch %s: %s", s.name, has.Trouble))
		return
	}
	if err := m.commitAt(ctx, g, at); err != nil && !unheard(err) && state == Ready {
		m.end(ctx, g, fmt.Sprintf("switch %s has lost the group: %s", s.name, strings.TrimPrefix(status.Convert(err).Message(), "switch "+s.name+": ")))
	}
}

// look does what a group needs.
func (m *Manager) look(ctx context.Context, g *group, lost string) {
	g.work.Lock()
	defer g.work.Unlock()
	m.mu.Lock()
	state, now, why := g.state, m.cfg.Now(), lost
	if why == "" && state != Removing {
		why = m.fate(g)
	}
	renew := state == Gathering && now.Sub(g.renewed) > m.cfg.Lease/3
	m.mu.Unlock()
	switch {
	case state == Removing:
		m.remove(ctx, g)
	case why != "":
		m.end(ctx, g, why)
	case state == Committing:
		m.commit(ctx, g)
	case state == Ready && g.Options.Policy == temporal:
		m.keeper(g).Settle(ctx, m.forgotten(g))
	case renew:
		for i := range g.Tree.Switches {
			if err := m.reserveAt(ctx, g, i); err != nil {
				if !unheard(err) {
					m.end(ctx, g, err.Error())
				}
				return
			}
		}
		m.mu.Lock()
		g.renewed = now
		m.mu.Unlock()
	}
}

// fate is why a group cannot go on; empty if it can.
func (m *Manager) fate(g *group) string {
	now := m.cfg.Now()
	for _, sw := range g.Tree.Switches {
		if s := m.switches[sw.Name]; !s.up && now.Sub(s.since) >= m.cfg.Patience {
			return fmt.Sprintf("switch %s is down: %s", s.name, s.trouble)
		}
	}
	switch g.state {
	case Committing:
		if now.After(g.deadline) {
			return "its switches were not written in time"
		}
	case Gathering:
		if rank := slices.Index(g.reported, false); now.After(g.deadline) && rank >= 0 {
			return fmt.Sprintf("rank %d, %s, has made no queue pair in %v", rank, g.Members[rank], m.cfg.Gather)
		}
	case Ready:
		for rank, n := range g.watched {
			if n == 0 && now.Sub(g.seen[rank]) >= m.cfg.Patience {
				return fmt.Sprintf("rank %d, %s, is gone", rank, g.Members[rank])
			}
		}
	}
	if g.placedIn == m.rounds { // what switches said in this round of a link may be from before its host was there
		return ""
	}
	return m.placer.Broken(g.ID)
}
