// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/control/lock"
)

// newTable reads the turns that the store has.
func (a *Agent) newTable() error {
	a.table = lock.Table{Slots: a.cfg.Shared, Store: a.cfg.Store, Now: a.cfg.Now, Evict: a.evict}
	if a.table.Slots == 0 {
		a.table.Slots = a.p.Slots()
	}
	return a.table.Load()
}

// evict stops a group whose turn is over, for others to have what it had. To the manager it is lost.
func (a *Agent) evict(group string) error {
	g := a.find(group)
	if g < 0 || a.records[g].State != pb.State_STATE_INSTALLED {
		return nil
	}
	a.cfg.Log.Errorf("agent %s: group %s has kept its turn for too long and is stopped", a.cfg.Name, group)
	if err := a.stop(g); err != nil {
		return err
	}
	return a.save(g, func(r *record) { r.State = pb.State_STATE_LOST })
}

// turnError is a Table's error as a caller hears it.
func turnError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lock.ErrBusy):
		return status.Error(codes.ResourceExhausted, err.Error())
	case errors.Is(err, lock.ErrStale):
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return internal(err)
}

// Lock gives an installed group a turn.
func (a *Agent) Lock(_ context.Context, r *pb.LockRequest) (*pb.LockResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.find(r.Group)
	switch {
	case g < 0 || a.records[g].State != pb.State_STATE_INSTALLED:
		return nil, status.Errorf(codes.NotFound, "group %q is not installed here", r.Group)
	case r.Fence == 0 || r.LeaseMs < 1 || r.LeaseMs > uint32(mostLease/time.Millisecond):
		return nil, invalid("fence %d, a lease of %d ms: it can have %d", r.Fence, r.LeaseMs, mostLease.Milliseconds())
	case a.records[g].Slots > a.table.Slots:
		return nil, status.Errorf(codes.OutOfRange, "group %s has %d slots, only %d are shared: it never has a turn", r.Group, a.records[g].Slots, a.table.Slots)
	}
	return &pb.LockResponse{}, turnError(a.table.Lock(r.Group, r.Fence, a.records[g].Slots, time.Duration(r.LeaseMs)*time.Millisecond))
}

// Unlock ends a turn.
func (a *Agent) Unlock(_ context.Context, r *pb.UnlockRequest) (*pb.UnlockResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.find(r.Group) < 0 {
		return &pb.UnlockResponse{}, nil
	}
	return &pb.UnlockResponse{}, turnError(a.table.Unlock(r.Group, r.Fence))
}

// listTurns says who has turns.
func (a *Agent) listTurns(out *pb.ListResponse) {
	out.FreeShared = uint32(a.table.Free())
	for _, t := range a.table.Turns() {
		left := max(t.Expires.Sub(a.cfg.Now()), 0)
		out.Turns = append(out.Turns, &pb.Turn{Group: t.Group, Slots: uint32(t.Slots), Fence: t.Fence, LeaseMs: uint32(left.Milliseconds())})
	}
}
