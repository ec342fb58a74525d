// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/control/lock"
	"incforge/control/managerpb"
	"incforge/control/placement"
)

// temporal is the policy of groups that take turns.
const temporal = "temporal"

// between is the time between two attempts.
const between = 5 * time.Millisecond

// place is a switch of a group's tree, as the keeper of its turns sees it.
type place struct {
	m    *Manager
	name string
}

func (p place) Name() string { return p.name }

func (p place) Lock(ctx context.Context, group string, fence uint64, lease time.Duration, prolong bool) error {
	return p.call(ctx, func(ctx context.Context, a pb.AgentClient) error {
		_, err := a.Lock(ctx, &pb.LockRequest{Group: group, Fence: fence, LeaseMs: uint32(lease.Milliseconds()), Prolong: prolong})
		return err
	})
}

func (p place) Unlock(ctx context.Context, group string, fence uint64) error {
	return p.call(ctx, func(ctx context.Context, a pb.AgentClient) error {
		_, err := a.Unlock(ctx, &pb.UnlockRequest{Group: group, Fence: fence})
		return err
	})
}

// call asks the agent. What was begun goes on if the caller has gone: another will ask what has become of it.
func (p place) call(ctx context.Context, do func(ctx context.Context, a pb.AgentClient) error) error {
	p.m.mu.Lock()
	s := p.m.switches[p.name]
	up := s != nil && s.up
	p.m.mu.Unlock()
	if !up {
		return errors.New("it is down")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.m.cfg.Call)
	defer cancel()
	err := do(ctx, s.agent)
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return fmt.Errorf("%w: %s", lock.ErrBusy, status.Convert(err).Message())
	case codes.FailedPrecondition:
		return fmt.Errorf("%w: %s", lock.ErrStale, status.Convert(err).Message())
	case codes.Aborted:
		return fmt.Errorf("%w: %s", lock.ErrUndrained, status.Convert(err).Message())
	case codes.OutOfRange: // the group is larger than what is shared
		return errors.New(status.Convert(err).Message())
	}
	return err
}

// keeper is that of a group. Its switches are in the order of their names, which all groups share.
func (m *Manager) keeper(g *group) *lock.Keeper {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.keeper == nil {
		k := &lock.Keeper{Group: g.ID, Lease: m.cfg.Lease, Next: m.fence, Pause: pause}
		order := slices.SortedFunc(slices.Values(g.Tree.Switches), func(a, b placement.Switch) int { return cmp.Compare(a.Name, b.Name) })
		for _, sw := range order {
			k.Sites = append(k.Sites, place{m, sw.Name})
			if g.Mode != 2 || !slices.ContainsFunc(order, func(sw placement.Switch) bool { return sw.InTurn }) {
				continue // it knows by itself when it is drained, or keeps its slots
			}
			k.Parents = append(k.Parents, slices.IndexFunc(order, func(up placement.Switch) bool { return sw.Parent >= 0 && up.Name == g.Tree.Switches[sw.Parent].Name }))
		}
		g.keeper = k
	}
	return g.keeper
}

// share is what a switch sets aside for groups that take turns.
type share struct {
	Shared   int `json:"shared"`
	SetAside int `json:"set_aside"`
}

// learnShare keeps what a switch says of it, for the time when it cannot be asked. Called with mu held.
func (m *Manager) learnShare(s *node, d *pb.DescribeResponse) error {
	is := share{int(d.Shared), int(d.SetAside)}
	if s.share == is {
		return nil
	}
	text, err := json.Marshal(is)
	if err == nil {
		err = m.cfg.Store.Put(sharePrefix+s.name, text)
	}
	if err != nil {
		return fmt.Errorf("switch %s: %w", s.name, err)
	}
	s.share, m.stale = is, true
	return nil
}

// forgotten tells whether some switch has a turn of the group's that has run out although this manager was there for as long as a lease: whoever is at work would have
// prolonged it.
func (m *Manager) forgotten(g *group) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cfg.Now().Sub(m.began) >= m.cfg.Lease && slices.ContainsFunc(g.Tree.Switches, func(sw placement.Switch) bool {
		s := m.switches[sw.Name]
		return s != nil && slices.Contains(s.expired, g.ID)
	})
}

// The store has a number that fences stay below; it is written anew, so much higher, when they come to it.
const (
	fenceRecord = "fence"
	fencesAhead = uint64(time.Minute / time.Microsecond)
)

// fence is a number that no manager of this store has had before, even if the clock was set back.
func (m *Manager) fence() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fenced = max(m.fenced+1, uint64(m.cfg.Now().UnixMicro()))
	if m.fenced >= m.fenceBound {
		bound := m.fenced + fencesAhead
		if err := m.cfg.Store.Put(fenceRecord, strconv.AppendUint(nil, bound, 10)); err != nil {
			m.cfg.Log.Errorf("manager: %v", err) // the next manager has the clock alone
		} else {
			m.fenceBound = bound
		}
	}
	return m.fenced
}

// loadFence begins where the manager before may have ended.
func (m *Manager) loadFence(text []byte) (err error) {
	m.fenceBound, err = strconv.ParseUint(string(text), 10, 64)
	m.fenced = m.fenceBound
	return err
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(between):
		return nil
	}
}

// turns is a group of the caller's that takes turns and is ready.
func (m *Manager) turns(ctx context.Context, id string, sequence uint64) (*lock.Keeper, error) {
	g, err := m.find(ctx, id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	state := g.state
	m.mu.Unlock()
	switch {
	case g.Options.Policy != temporal:
		return nil, status.Errorf(codes.FailedPrecondition, "group %s takes no turns: its policy is not %s", id, temporal)
	case state != Ready:
		return nil, status.Errorf(codes.FailedPrecondition, "group %s is %s", id, state)
	case sequence == 0:
		return nil, invalid("collectives count from 1")
	}
	return m.keeper(g), nil
}

// neighbours are the far ends of a member's queue pairs in the ring.
func (g *group) neighbours(rank int) *managerpb.ReportResponse {
	if g.Options.Policy != temporal {
		return &managerpb.ReportResponse{}
	}
	n := len(g.Members)
	pair := func(e End) *managerpb.QueuePair { return &managerpb.QueuePair{Qpn: e.QPN, Ip: e.IP, Mac: e.MAC} }
	return &managerpb.ReportResponse{Next: pair(g.Ring[(rank+1)%n][1]), Previous: pair(g.Ring[(rank+n-1)%n][0])}
}

// Lock gets a group its turn, or says why it has none.
func (m *Manager) Lock(ctx context.Context, r *managerpb.LockRequest) (*managerpb.LockResponse, error) {
	if most := managerpb.MostWait.Milliseconds(); int64(r.WaitMs) > most {
		return nil, invalid("a wait of %d ms: it can have %d", r.WaitMs, most)
	}
	k, err := m.turns(ctx, r.Group, r.Sequence)
	if err != nil {
		return nil, err
	}
	var a lock.Answer
	if r.Prolong {
		a, err = k.Prolong(ctx, r.Sequence)
	} else {
		until := time.Now().Add(time.Duration(r.WaitMs) * time.Millisecond)
		a, err = k.Ask(ctx, r.Sequence, func() bool { return !time.Now().Before(until) })
	}
	switch {
	case errors.Is(err, lock.ErrStale):
		return nil, status.Error(codes.Aborted, err.Error())
	case err != nil:
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &managerpb.LockResponse{Granted: a.Granted, Reason: a.Reason, LeaseMs: uint32(m.cfg.Lease.Milliseconds())}, nil
}

// Unlock ends a turn.
func (m *Manager) Unlock(ctx context.Context, r *managerpb.UnlockRequest) (*managerpb.UnlockResponse, error) {
	k, err := m.turns(ctx, r.Group, r.Sequence)
	if err != nil {
		return nil, err
	}
	k.Done(ctx, r.Sequence)
	return &managerpb.UnlockResponse{}, nil
}
