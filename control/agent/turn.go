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
	"incforge/inc"
	"incforge/internal/fail"
)

// startLog2N is the size with which a group starts that has its slots in turn: the least that there is.
const startLog2N = 1

// parks tells whether groups that take turns are parked between them, and have slots of those at the end of the buffer that are set aside for it.
func (a *Agent) parks() bool { return a.p.Park && a.cfg.Shared > 0 }

// setAside is how many slots at the end of an engine's buffer no group has for as long as it lives: those that are shared, and before them a few in which groups start, as
// the shared ones may all be in use then.
func (a *Agent) setAside() int {
	if !a.parks() {
		return 0
	}
	return a.cfg.Shared + a.p.MostUnits()<<startLog2N
}

// newTables reads the turns that the store has. Every engine has its own: what its groups share is its own slots.
func (a *Agent) newTables() (err error) {
	defer fail.Catch(&err, "")
	most := a.p.Slots() - (a.setAside() - a.cfg.Shared)
	fail.If(a.cfg.Shared < 0 || a.cfg.Shared > most, "%d slots to share: it can be 0 to %d", a.cfg.Shared, most)
	for g := range a.records {
		r := &a.records[g]
		fail.If(r.State != free && r.InTurn && (!a.parks() || r.Slots > a.cfg.Shared), "group %s needs %d slots that are shared, there are to be %d", r.Group, r.Slots, a.cfg.Shared)
		fail.If(r.State != free && !r.InTurn && r.Base+r.Slots > a.p.Slots()-a.setAside(), "group %s has slots %d to %d for itself, the last %d are to be set aside to share %d",
			r.Group, r.Base, r.Base+r.Slots-1, a.setAside(), a.cfg.Shared)
	}
	for engine := range a.p.EngineCount() {
		t := &lock.Table{Engine: engine, Slots: a.cfg.Shared, Store: a.cfg.Store, Now: a.cfg.Now, Memory: budget{a}}
		switch {
		case a.parks():
			t.First, t.Runs, t.Memory = a.p.Slots()-a.cfg.Shared, true, parked{a}
		case t.Slots == 0:
			t.Slots = a.p.Slots()
		}
		fail.On(t.Load())
		for _, turn := range t.Turns() {
			fail.If(a.parks() && turn.Base < t.First, "group %s has slots %d to %d in its turn, the last %d are to be shared", turn.Group, turn.Base, turn.Base+turn.Slots-1, t.Slots)
		}
		a.tables = append(a.tables, t)
	}
	return nil
}

// table has the turns of the engine that has a group record.
func (a *Agent) table(g int) *lock.Table { return a.tables[a.engineOf(g)] }

// budget is the memory of an engine in which groups keep their slots between turns: a turn takes none.
type budget struct{ *Agent }

func (budget) Give(string, int, int) error { return nil }
func (budget) Take(string) (bool, error)   { return true, nil }

// Evict stops a group whose turn is over, for others to have what it had. To the manager it is lost.
func (b budget) Evict(group string) error {
	g := b.find(group)
	if g < 0 || b.records[g].State != pb.State_STATE_INSTALLED {
		return nil
	}
	b.cfg.Log.Errorf("agent %s: group %s has kept its turn for too long and is stopped", b.cfg.Name, group)
	if err := b.stop(g); err != nil {
		return err
	}
	return b.save(g, func(r *record) { r.State = pb.State_STATE_LOST })
}

// parked is the memory of an engine in which groups have slots only while it is their turn.
type parked struct{ *Agent }

// Give unparks a group, at these slots.
func (m parked) Give(group string, base, _ int) (err error) {
	defer fail.Catch(&err, "give group %s slots from %d on", group, base)
	g := m.find(group)
	fail.If(g < 0, "it is not installed")
	fail.If(fail.Must(m.drv.Get("GROUP_STATUS", g, "enabled")) == 0, "the engine has lost it")
	if fail.Must(m.drv.Get("GROUP_STATUS", g, "parked")) == 0 {
		return nil
	}
	set := m.records[g].Settings
	set.SlotBase = base
	fail.On(m.drv.SetSlots(g, set))
	fail.If(fail.Must(m.drv.Unpark(g)), "the engine refuses them")
	return nil
}

// Take parks a group if it is drained. One that the engine has not has no slots.
func (m parked) Take(group string) (drained bool, err error) {
	g := m.find(group)
	if g < 0 || m.records[g].State != pb.State_STATE_INSTALLED {
		return true, nil
	}
	if drained, err = m.drv.Park(g); err != nil || drained {
		return drained, err
	}
	enabled, err := m.drv.Get("GROUP_STATUS", g, "enabled")
	return enabled == 0, err
}

// Evict parks a group whose turn is over if that harms nobody, or else stops it.
func (m parked) Evict(group string) error {
	if g := m.find(group); g >= 0 && m.knows(m.records[g].Settings, m.records[g].Ends) {
		drained, err := m.Take(group)
		if err != nil {
			return err
		}
		if drained {
			m.cfg.Log.Warnf("agent %s: group %s has kept its turn for too long and is parked", m.cfg.Name, group)
			return nil
		}
	}
	return budget(m).Evict(group)
}

// knows tells whether the engine knows by itself that nobody wants a group's results any more: in Mode II a switch above others does not (docs/parking.md section 2).
func (a *Agent) knows(set inc.Group, ends []inc.Endpoint) bool {
	upward := set.HasParent && (set.Collective == inc.CollectiveAllReduce || set.Collective == inc.CollectiveBarrier) // else the parent is the way to the root rank
	for e, end := range ends {
		if !end.Host && !(upward && e == set.Parent) && a.p.Mode == 2 {
			return false
		}
	}
	return true
}

// startParked starts a group without slots of its own. It reports whether the engine takes it.
func (a *Agent) startParked(g int) (started bool, err error) {
	defer fail.Catch(&err, "")
	set := a.records[g].Settings
	set.SlotBase, set.Log2N, set.PipeSlots = a.p.Slots()-a.setAside(), startLog2N, min(set.PipeSlots, 1)
	fail.On(a.drv.SetGroup(g, set))
	if !fail.Must(a.drv.Enable(g)) {
		return false, nil
	}
	if !fail.Must(a.drv.Park(g)) {
		return false, a.stop(g) // somebody has sent it data already
	}
	return true, nil
}

// unslotted are settings without what a parked group is free to change.
func unslotted(set inc.Group) inc.Group {
	set.SlotBase, set.Log2N, set.PipeSlots = 0, 0, 0
	return set
}

// holds tells whether a group that takes turns is in the engine as the store has it: parked, or at the slots of its turn.
func (a *Agent) holds(g int, set inc.Group) (same bool, err error) {
	r := &a.records[g]
	if unslotted(set) != unslotted(r.Settings) {
		return false, nil
	}
	parked, err := a.drv.Get("GROUP_STATUS", g, "parked")
	if err != nil || parked != 0 {
		return parked != 0, err
	}
	turn, ok := a.table(g).Turn(r.Group)
	want := r.Settings
	want.SlotBase = turn.Base
	return ok && set == want, nil
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
	case errors.Is(err, lock.ErrUndrained):
		return status.Error(codes.Aborted, err.Error())
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
	case a.records[g].Slots > a.table(g).Slots:
		return nil, status.Errorf(codes.OutOfRange, "group %s has %d slots, only %d are shared: it never has a turn", r.Group, a.records[g].Slots, a.table(g).Slots)
	case a.parks() && !a.records[g].InTurn:
		return nil, status.Errorf(codes.OutOfRange, "group %s has slots of its own and takes no turns", r.Group)
	}
	return &pb.LockResponse{}, turnError(a.table(g).Lock(r.Group, r.Fence, a.records[g].Slots, time.Duration(r.LeaseMs)*time.Millisecond, r.Prolong))
}

// Unlock ends a turn.
func (a *Agent) Unlock(_ context.Context, r *pb.UnlockRequest) (*pb.UnlockResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.find(r.Group)
	if g < 0 {
		return &pb.UnlockResponse{}, nil
	}
	return &pb.UnlockResponse{}, turnError(a.table(g).Unlock(r.Group, r.Fence))
}

// listTurns says who has turns.
func (a *Agent) listTurns(out *pb.ListResponse) {
	for _, table := range a.tables {
		out.FreeShared += uint32(max(table.Free(), 0))
		for _, t := range table.Turns() {
			left := max(t.Expires.Sub(a.cfg.Now()), 0)
			out.Turns = append(out.Turns, &pb.Turn{Group: t.Group, Slots: uint32(t.Slots), Fence: t.Fence, LeaseMs: uint32(left.Milliseconds()), Base: uint32(t.Base), Over: t.Over,
				Engine: uint32(t.Engine)})
		}
	}
}

// checkTurns refuses a group whose slots there cannot be.
func (a *Agent) checkTurns(r *pb.ReserveRequest) error {
	switch {
	case !r.InTurn && uint64(r.Base)+uint64(r.Slots) > uint64(a.p.Slots()-a.setAside()):
		return invalid("%d slots from %d on: the last %d of %d are shared in time", r.Slots, r.Base, a.setAside(), a.p.Slots())
	case r.InTurn && (!a.parks() || int(r.Slots) > a.cfg.Shared || r.Base != 0):
		return invalid("%d slots in turn, from %d on: %d are shared, wherever there is room", r.Slots, r.Base, a.sharedRuns())
	}
	return nil
}

// sharedRuns is how many slots are shared by groups that are parked between turns.
func (a *Agent) sharedRuns() int {
	if !a.parks() {
		return 0
	}
	return a.cfg.Shared
}

// orphan parks an unclaimed group in the slots that are shared, if that harms nobody, or else stops it: whose turn it was nobody knows. It reports whether the engine has it still.
func (a *Agent) orphan(g int, set inc.Group, ends []inc.Endpoint) (stays bool, err error) {
	defer fail.Catch(&err, "")
	already := fail.Must(a.drv.Get("GROUP_STATUS", g, "parked")) != 0
	if already || a.knows(set, ends) && fail.Must(a.drv.Park(g)) {
		return true, nil
	}
	return false, a.stop(g)
}
