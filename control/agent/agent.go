// SPDX-License-Identifier: Apache-2.0

// Package agent is the control plane's hand at a switch. It owns the engine, or the engines that the switch has: it alone writes the registers, by the manifest, hands out
// slots, group records and queue pair numbers, and knows from a file and from the registers what each engine holds.
//
// An Agent is the server of the service in agentpb. docs/control.md has the states of a group.
package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/contract"
	pb "incforge/control/agentpb"
	"incforge/control/lock"
	"incforge/control/store"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// Config is what an agent works with.
type Config struct {
	Name     string
	Manifest *contract.Manifest
	// Bus reaches the registers. It is used by one call at a time.
	Bus   ctrl.Bus
	Store store.Store
	// IP is the engine's address. Port p has MAC + p.
	IP  roce.IP4
	MAC roce.MAC
	// Neighbours are the nodes at the other ends of the ports, as far as known.
	Neighbours map[int]string
	// Shared is how many slots the groups that take turns may have at work at one time. In an engine that parks groups these are the last of the buffer, and groups have
	// them in their turns alone. 0: each such group has slots of its own. Each of several engines shares so many.
	Shared int
	// Lifetime is the longest time for which a packet can be under way. A queue pair number rests as long before it is used again.
	Lifetime time.Duration
	// Now is the clock; nil is the system's. Seed begins the queue pair numbers of an engine that nothing is known about.
	Now  func() time.Time
	Seed uint32
	Log  *logrus.Logger
	// Switch is what is around the engine, where that can say and hear something; nil where there are registers alone.
	Switch Switch
}

// Switch is what is around an engine. It is called by one goroutine at a time, except for Down.
type Switch interface {
	// Down are the ports that carry nothing.
	Down() []int
	// Installed and Removed tell what a group record of the engine has from now on.
	Installed(record int, set inc.Group, ends []inc.Endpoint)
	Removed(record int)
}

// alone is a Switch that says nothing.
type alone struct{}

func (alone) Down() []int                              { return nil }
func (alone) Installed(int, inc.Group, []inc.Endpoint) {}
func (alone) Removed(int)                              {}

// Limits of a request.
const (
	mostLease = 10 * time.Minute
	mostName  = 200
)

// Agent is an agent. Make it with New.
type Agent struct {
	pb.UnimplementedAgentServer

	cfg Config
	p   contract.Params
	drv *ctrl.Driver

	mu      sync.Mutex
	records []record
	tables  []*lock.Table // by engine
	sources []*source
	looks   int // at the sources
}

// New reads what the store and the engine hold. Of a group whose registers were being written when the last agent ended, the writing begins
// anew with the next Commit; a group that the engine no longer holds as it was installed is lost and stopped; one that nobody has a name for
// goes on, unclaimed.
func New(cfg Config) (a *Agent, err error) {
	defer fail.Catch(&err, "agent %s", cfg.Name)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = logrus.StandardLogger()
	}
	if cfg.Switch == nil {
		cfg.Switch = alone{}
	}
	a = &Agent{cfg: cfg, p: cfg.Manifest.Params, drv: ctrl.New(cfg.Bus, cfg.Manifest), records: make([]record, cfg.Manifest.Params.AllGroups())}
	fail.If(cfg.Lifetime <= 0, "a packet's lifetime of %v", cfg.Lifetime)
	fail.If(a.turns() < 2, "of %d queue pair numbers a turn there are not two turns", a.p.Records())
	fail.On(a.identify())
	fail.On(a.load())
	fail.On(a.newTables())
	fail.On(a.newSources())
	for g := range a.records {
		fail.On(a.compare(g))
		if r := &a.records[g]; r.State == pb.State_STATE_INSTALLED || r.State == pb.State_STATE_UNCLAIMED {
			cfg.Switch.Installed(g, r.Settings, r.Ends)
		}
	}
	return a, nil
}

// identify asks the registers whether this is the manifest's engine.
func (a *Agent) identify() (err error) {
	defer fail.Catch(&err, "the engine at these registers")
	arith, err := a.cfg.Manifest.Registers.Register("PARAM_ARITH") // what the engine computes with, and whether it parks groups
	fail.On(err)
	for _, want := range []struct {
		register string
		value    int
	}{{"ID", contract.Magic}, {"PARAM_MODE", a.p.Mode}, {"PARAM_GROUPS", a.p.Groups}, {"PARAM_MEMBERS", a.p.Members},
		{"PARAM_PORTS", a.p.Ports}, {"PARAM_SLOTS", a.p.Slots()}, {"PARAM_ARITH", int(arith.ResetValue(0))}} {
		got := fail.Must(a.drv.Read(want.register, 0))
		fail.If(got != uint32(want.value), "%s is %d, the manifest has %d", want.register, got, want.value)
	}
	if n := a.p.EngineCount(); n > 1 {
		got := fail.Must(a.drv.Read("ENGINES", 0))
		fail.If(got != uint32(n), "ENGINES is %d, the manifest has %d", got, n)
	}
	return nil
}

// engineOf is the engine that has a group record.
func (a *Agent) engineOf(g int) int { return g / a.p.Groups }

// Describe says what the switch can do.
func (a *Agent) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	params, err := a.params()
	if err != nil {
		return nil, internal(err)
	}
	out := &pb.DescribeResponse{Name: a.cfg.Name, Digest: a.cfg.Manifest.Digest, Params: params, Shared: uint32(a.sharedRuns()), SetAside: uint32(a.setAside())}
	down := a.cfg.Switch.Down()
	for p := range a.p.Ports {
		out.Ports = append(out.Ports, &pb.Port{Port: uint32(p), Neighbour: a.cfg.Neighbours[p], Down: slices.Contains(down, p)})
	}
	return out, nil
}

// Counters reads the engine's counters.
func (a *Agent) Counters(context.Context, *pb.CountersRequest) (*pb.CountersResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, err := a.drv.Counters()
	if err != nil {
		return nil, internal(err)
	}
	out := &pb.CountersResponse{}
	for _, name := range a.cfg.Manifest.Counters {
		out.Counters = append(out.Counters, &pb.Counter{Name: name, Count: all[name]})
	}
	return out, nil
}

// List says what the engine holds. It asks the engine whether installed groups are still enabled and can go on: where there are interrupts, after one, and now and then.
func (a *Agent) List(context.Context, *pb.ListRequest) (*pb.ListResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.lapse(); err != nil {
		return nil, err
	}
	if err := a.attend(); err != nil {
		return nil, internal(err)
	}
	out := &pb.ListResponse{Troubles: a.listTroubles(), FreeSlots: uint32(a.p.EngineCount() * (a.p.Slots() - a.setAside()))}
	for g := range a.records {
		r := &a.records[g]
		if r.State == free {
			out.FreeRecords++
			if !a.cfg.Now().Before(r.Freed.Add(a.rest())) {
				out.FreeQpns += uint32(a.p.EPS())
			}
			continue
		}
		if !r.InTurn {
			out.FreeSlots -= uint32(r.Slots)
		}
		group := &pb.Group{Group: r.Group, Record: uint32(g), State: r.State, Base: uint32(r.Base), Slots: uint32(r.Slots), Start: uint32(r.Settings.Start), InTurn: r.InTurn,
			Engine: uint32(a.engineOf(g)), Trouble: r.trouble}
		if r.State == pb.State_STATE_RESERVED {
			group.LeaseMs = uint32(r.Expires.Sub(a.cfg.Now()).Milliseconds())
		}
		out.Groups = append(out.Groups, group)
	}
	a.listTurns(out)
	return out, nil
}

// Reserve sets slots, a record and queue pair numbers aside.
func (a *Agent) Reserve(_ context.Context, r *pb.ReserveRequest) (*pb.ReserveResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.checkReserve(r); err != nil {
		return nil, err
	}
	if err := a.lapse(); err != nil {
		return nil, err
	}
	lease := time.Duration(r.LeaseMs) * time.Millisecond
	g := a.find(r.Group)
	if g < 0 {
		return a.reserve(r, lease)
	}
	rec := &a.records[g]
	if a.engineOf(g) != int(r.Engine) || rec.InTurn != r.InTurn || rec.Base != int(r.Base) || rec.Slots != int(r.Slots) || !slices.Equal(rec.Ports, r.Ports) {
		return nil, status.Errorf(codes.AlreadyExists, "group %s is there already, and is another", r.Group)
	}
	if rec.State == pb.State_STATE_RESERVED {
		if err := a.save(g, func(rec *record) { rec.Expires = a.cfg.Now().Add(lease) }); err != nil {
			return nil, err
		}
	}
	return a.ends(g), nil
}

// reserve takes a record of the engine that the request names for a group that has none.
func (a *Agent) reserve(r *pb.ReserveRequest, lease time.Duration) (*pb.ReserveResponse, error) {
	base, end := int(r.Base), int(r.Base)+int(r.Slots)
	g, wait := -1, time.Duration(0)
	now := a.cfg.Now()
	for i := range a.records {
		rec := &a.records[i]
		if a.engineOf(i) != int(r.Engine) {
			continue
		}
		if rec.State != free {
			if !r.InTurn && !rec.InTurn && base < rec.Base+rec.Slots && rec.Base < end {
				return nil, status.Errorf(codes.ResourceExhausted, "slots %d to %d are not free: %s has %d to %d", base, end-1, rec.name(), rec.Base, rec.Base+rec.Slots-1)
			}
			continue
		}
		rest := rec.Freed.Add(a.rest()).Sub(now)
		if g < 0 || rest < wait {
			g, wait = i, rest
		}
	}
	switch {
	case g < 0:
		return nil, status.Errorf(codes.ResourceExhausted, "all %d groups of the engine are in use", a.p.Groups)
	case wait > 0:
		return nil, status.Errorf(codes.ResourceExhausted, "the queue pair numbers of the last group must rest for %v", wait.Round(time.Microsecond))
	}
	err := a.save(g, func(rec *record) {
		*rec = record{Turn: rec.Turn%a.turns() + 1, State: pb.State_STATE_RESERVED, Group: r.Group, InTurn: r.InTurn, Base: base, Slots: int(r.Slots),
			Ports: slices.Clone(r.Ports), Expires: now.Add(lease)}
	})
	if err != nil {
		return nil, err
	}
	return a.ends(g), nil
}

// Commit installs a group.
func (a *Agent) Commit(_ context.Context, r *pb.CommitRequest) (*pb.CommitResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.lapse(); err != nil {
		return nil, err
	}
	set, err := a.settings(r.Settings)
	if err != nil {
		return nil, err
	}
	g := a.find(r.Group)
	if g < 0 {
		return a.adopt(r, set)
	}
	rec := &a.records[g]
	set.SlotBase = rec.Base
	ends, err := a.endpoints(g, r.Remotes)
	if err != nil {
		return nil, err
	}
	if err := a.checkCommit(rec, &set); err != nil {
		return nil, err
	}
	same := rec.Settings == set && slices.Equal(rec.Ends, ends)
	switch {
	case rec.State == pb.State_STATE_INSTALLED && same:
		return &pb.CommitResponse{}, nil
	case rec.State == pb.State_STATE_LOST:
		return nil, status.Errorf(codes.DataLoss, "the engine has lost group %s", r.Group)
	case rec.State != pb.State_STATE_RESERVED && !same:
		return nil, status.Errorf(codes.AlreadyExists, "group %s is installed with other settings", r.Group)
	}
	return a.install(g, set, ends)
}

// install writes the settings into the file, then into the engine.
func (a *Agent) install(g int, set inc.Group, ends []inc.Endpoint) (*pb.CommitResponse, error) {
	err := a.save(g, func(r *record) { r.State, r.Settings, r.Ends = pb.State_STATE_COMMITTING, set, ends })
	if err != nil {
		return nil, err
	}
	started, err := a.program(g)
	if err != nil {
		return nil, internal(err)
	}
	if !started {
		// The lease goes on where it was; whoever asked may ask for something else.
		if err := a.save(g, func(r *record) { r.State, r.Settings, r.Ends = pb.State_STATE_RESERVED, inc.Group{}, nil }); err != nil {
			return nil, err
		}
		return nil, status.Errorf(codes.FailedPrecondition, "the engine refuses the settings of group %s", a.records[g].Group)
	}
	if err := a.save(g, func(r *record) { r.State = pb.State_STATE_INSTALLED }); err != nil {
		return nil, err
	}
	return &pb.CommitResponse{}, nil
}

// adopt gives an unclaimed group its name, if the registers have what the request says.
func (a *Agent) adopt(r *pb.CommitRequest, set inc.Group) (*pb.CommitResponse, error) {
	for g := range a.records {
		rec := &a.records[g]
		if rec.State != pb.State_STATE_UNCLAIMED {
			continue
		}
		set.SlotBase = rec.Base
		ends, err := a.endpoints(g, r.Remotes)
		same := rec.Settings == set || rec.InTurn && unslotted(rec.Settings) == unslotted(set)
		if err == nil && same && slices.Equal(rec.Ends, ends) {
			a.cfg.Log.Infof("agent %s: group %s was found in the engine", a.cfg.Name, r.Group)
			return &pb.CommitResponse{}, a.save(g, func(rec *record) {
				rec.State, rec.Group, rec.Settings, rec.Slots = pb.State_STATE_INSTALLED, r.Group, set, a.p.Units(set.DType, set.InBand)<<set.Log2N
			})
		}
	}
	return nil, status.Errorf(codes.NotFound, "group %s is not reserved here, or its lease has run out", r.Group)
}

// Remove stops a group and frees what it has.
func (a *Agent) Remove(_ context.Context, r *pb.RemoveRequest) (*pb.RemoveResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.find(r.Group)
	if r.Record != nil {
		if r.Group != "" || *r.Record >= uint32(len(a.records)) {
			return nil, status.Errorf(codes.InvalidArgument, "record %d of group %q: an unclaimed group has a record and no name", *r.Record, r.Group)
		}
		if g = int(*r.Record); a.records[g].State != pb.State_STATE_UNCLAIMED {
			g = -1
		}
	}
	if g < 0 {
		return &pb.RemoveResponse{}, nil
	}
	if err := a.stop(g); err != nil {
		return nil, internal(err)
	}
	if err := a.table(g).Forget(a.records[g].Group); err != nil {
		return nil, internal(err)
	}
	return &pb.RemoveResponse{}, a.save(g, cleared(a.cfg.Now()))
}

// lapse frees the reservations whose leases have run out.
func (a *Agent) lapse() error {
	now := a.cfg.Now()
	for g := range a.records {
		r := &a.records[g]
		if r.State != pb.State_STATE_RESERVED || now.Before(r.Expires) {
			continue
		}
		a.cfg.Log.Warnf("agent %s: the lease of group %s has run out", a.cfg.Name, r.Group)
		if err := a.save(g, cleared(now)); err != nil {
			return err
		}
	}
	return nil
}

// internal is an error of the engine or the file.
func internal(err error) error { return status.Error(codes.Internal, err.Error()) }
