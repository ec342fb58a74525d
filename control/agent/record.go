// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "incforge/control/agentpb"
	"incforge/control/lock"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// free is the state of a record that no group has.
const free = pb.State_STATE_UNSPECIFIED

// record is what is known of a group record of the engine. The file has it as JSON.
type record struct {
	// Turn is how often the record was given to a group, from 1, and the high part of the queue pair numbers. Freed is when the last
	// group left.
	Turn  uint32    `json:"turn"`
	Freed time.Time `json:"freed"`

	State pb.State `json:"state,omitempty"`
	Group string   `json:"group,omitempty"`
	// InTurn: the group has its slots in turn, and Base is 0; otherwise they are its own.
	InTurn bool     `json:"in_turn,omitempty"`
	Base   int      `json:"base,omitempty"`
	Slots  int      `json:"slots,omitempty"`
	Ports  []uint32 `json:"ports,omitempty"`
	// Expires is the end of a reservation's lease.
	Expires time.Time `json:"expires"`
	// What is installed, or to be.
	Settings inc.Group      `json:"settings"`
	Ends     []inc.Endpoint `json:"ends,omitempty"`

	trouble string // why it cannot go on, of an installed one
}

// name is the group's in words.
func (r *record) name() string {
	if r.Group == "" {
		return "a group that nobody has claimed"
	}
	return "group " + r.Group
}

// cleared is the change that frees a record.
func cleared(now time.Time) func(*record) {
	return func(r *record) { *r = record{Turn: r.Turn, Freed: now} }
}

// turns is how often a record can be given away before a queue pair number comes again. Turn 0 has the numbers that InfiniBand reserves.
func (a *Agent) turns() uint32 { return (roce.PSNMask+1)/uint32(a.p.Records()) - 1 }

// rest is how long a record rests between two groups: after all turns that is a packet's lifetime, however short the groups live.
func (a *Agent) rest() time.Duration { return a.cfg.Lifetime/time.Duration(a.turns()) + 1 }

// find is the record of a group, -1 if there is none.
func (a *Agent) find(group string) int {
	for g := range a.records {
		if r := &a.records[g]; group != "" && r.Group == group && r.State != free {
			return g
		}
	}
	return -1
}

// save changes a record, in the file first. After an error the file may have the change or not; both are states that a restart brings in order.
func (a *Agent) save(g int, change func(*record)) error {
	next := a.records[g]
	change(&next)
	text, err := json.Marshal(&next)
	if err == nil {
		err = a.cfg.Store.Put(key(g), text)
	}
	if err != nil {
		return status.Errorf(codes.Internal, "group record %d: %v", g, err)
	}
	a.records[g] = next
	return nil
}

func key(g int) string { return fmt.Sprintf("record/%04d", g) }

// load reads the file. A record that is not in it begins at a turn that others are unlikely to have had.
func (a *Agent) load() (err error) {
	defer fail.Catch(&err, "")
	for g := range a.records {
		a.records[g].Turn = a.cfg.Seed%a.turns() + 1
	}
	for _, r := range fail.Must(a.cfg.Store.All()) {
		if lock.Owns(r.Name) {
			continue
		}
		var g int
		_, err := fmt.Sscanf(r.Name, "record/%d", &g)
		fail.If(err != nil || g < 0 || g >= len(a.records), "the store has a record %q: is it another engine's?", r.Name)
		err = json.Unmarshal(r.Data, &a.records[g])
		fail.If(err != nil, "%s of the store: %w", r.Name, err)
	}
	return nil
}

// compare brings a record and the registers together, after a restart.
func (a *Agent) compare(g int) (err error) {
	defer fail.Catch(&err, "group record %d", g)
	r := &a.records[g]
	enabled := fail.Must(a.drv.Get("GROUP_STATUS", g, "enabled")) != 0
	var set inc.Group
	var ends []inc.Endpoint
	if enabled {
		set, ends = fail.Must(a.readGroup(g)), fail.Must(a.readEnds(g))
	}
	same := enabled && set == r.Settings
	if enabled && r.InTurn {
		same = fail.Must(a.holds(g, set))
	}
	same = same && equalEnds(ends, r.Ends)
	switch {
	case r.State == pb.State_STATE_INSTALLED && !same:
		a.cfg.Log.Errorf("agent %s: the engine has lost group %s", a.cfg.Name, r.Group)
		fail.On(a.stop(g))
		fail.On(a.save(g, func(r *record) { r.State = pb.State_STATE_LOST }))
	case r.State == pb.State_STATE_COMMITTING && same:
		fail.On(a.save(g, func(r *record) { r.State = pb.State_STATE_INSTALLED }))
	case r.State == free && enabled && len(ends) > 0:
		fail.On(a.unclaimed(g, set, ends))
	case enabled && !same:
		fail.On(a.stop(g))
	}
	return nil
}

// unclaimed keeps a group that the store does not know, for somebody to claim it.
func (a *Agent) unclaimed(g int, set inc.Group, ends []inc.Endpoint) (err error) {
	defer fail.Catch(&err, "")
	a.cfg.Log.Warnf("agent %s: the engine holds a group that is not in the store", a.cfg.Name)
	inTurn := a.parks() && set.SlotBase >= a.p.Slots()-a.setAside()
	if inTurn && !fail.Must(a.orphan(g, set, ends)) {
		return nil
	}
	r := &a.records[g]
	*r = record{Turn: ends[0].LocalQPN / uint32(a.p.Records()), State: pb.State_STATE_UNCLAIMED, InTurn: inTurn, Base: set.SlotBase,
		Slots: a.p.Units(set.DType, set.InBand) << set.Log2N, Settings: set, Ends: ends}
	if inTurn {
		r.Base = 0
	}
	for _, e := range ends {
		r.Ports = append(r.Ports, uint32(e.Port))
	}
	return nil
}

func equalEnds(a, b []inc.Endpoint) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// readGroup reads a group's settings.
func (a *Agent) readGroup(g int) (set inc.Group, err error) {
	defer fail.Catch(&err, "")
	a.fill(g, ctrl.GroupFields(&set, a.p.Mode))
	if set.InBand {
		a.fill(g, ctrl.RouteFields(&set))
	}
	return set, nil
}

// readEnds reads the endpoints that are valid; they begin with 0.
func (a *Agent) readEnds(g int) (all []inc.Endpoint, err error) {
	defer fail.Catch(&err, "")
	for e := range a.p.Members + 1 {
		var end inc.Endpoint
		a.fill(g*a.p.EPS()+e, ctrl.EndpointFields(&end))
		if !end.Valid {
			break
		}
		if a.p.Mode == 1 {
			a.fill(g*a.p.EPS()+e, ctrl.ConnectionFields(&end))
		}
		all = append(all, end)
	}
	return all, nil
}

func (a *Agent) fill(i int, fields []ctrl.Field) {
	for _, f := range fields {
		f.Set(fail.Must(a.drv.Get(f.Register, i, f.Name)))
	}
}

// program writes a record into the registers and starts the group. It reports whether the engine takes it.
func (a *Agent) program(g int) (started bool, err error) {
	defer fail.Catch(&err, "group record %d", g)
	r := &a.records[g]
	fail.On(a.stop(g))
	for e, end := range r.Ends {
		fail.On(a.drv.SetEndpoint(g*a.p.EPS()+e, end))
	}
	if r.InTurn {
		started = fail.Must(a.startParked(g))
	} else {
		fail.On(a.drv.SetGroup(g, r.Settings))
		started = fail.Must(a.drv.Enable(g))
	}
	if started {
		a.cfg.Switch.Installed(g, r.Settings, r.Ends)
	}
	return started, nil
}

// stop disables a group and closes its endpoints.
func (a *Agent) stop(g int) (err error) {
	defer fail.Catch(&err, "group record %d", g)
	fail.On(a.drv.Disable(g))
	for e := range a.p.Members + 1 {
		fail.On(a.drv.Write("EP_CTRL", g*a.p.EPS()+e, 0))
	}
	a.cfg.Switch.Removed(g)
	return nil
}
