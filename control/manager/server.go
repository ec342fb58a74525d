// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/control/managerpb"
	"incforge/control/placement"
	"incforge/control/rpc"
	"incforge/inc"
	"incforge/roce"
)

// Limits of a request.
const (
	mostName    = 64
	mostMembers = 1 << 16
	mostMbps    = 1 << 30
	mostReason  = 500 // bytes; more is cut off
)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// checkJoin checks what placement does not.
func checkJoin(r *managerpb.JoinRequest) (Options, error) {
	o := r.GetOptions()
	if o == nil {
		o = &managerpb.Options{}
	}
	out := Options{Policy: o.Policy, Mbps: int(o.Mbps), Least: int(o.LeastMbps), MTU: int(o.Mtu), InBand: o.InBand, Collective: o.Collective, Op: o.Op,
		DType: o.Dtype, Root: o.Root, BigEndian: o.BigEndian, Whole: o.WholeMessages}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	switch {
	case r.Name == "" || len(r.Name) > mostName || slices.ContainsFunc([]rune(r.Name), func(c rune) bool { return !plain(c) }):
		return out, invalid("a group's name has 1 to %d letters, digits, points, dashes and underscores", mostName)
	case len(r.Members) > mostMembers || uint64(r.Rank) >= uint64(len(r.Members)):
		return out, invalid("rank %d of %d members", r.Rank, len(r.Members))
	case len(r.Members) < 2:
		return out, invalid("%d members: a group has at least 2", len(r.Members))
	case o.Mbps > mostMbps || o.LeastMbps > mostMbps || o.Mtu > 1<<16:
		return out, invalid("%d Mbit/s, at least %d, an MTU of %d: that is too much", o.Mbps, o.LeastMbps, o.Mtu)
	case o.Collective > inc.CollectiveBarrier || o.Op > inc.OpMax || o.Dtype > inc.DTypeINT32:
		return out, invalid("collective %d, operation %d, type %d: there is no such thing", o.Collective, o.Op, o.Dtype)
	case o.InBand && (o.Collective != 0 || o.Op != 0 || o.Dtype != 0 || o.Root != 0):
		return out, invalid("an in-band group has no collective, operation, type or root of its own")
	case uint64(o.Root) >= uint64(len(r.Members)):
		return out, invalid("root %d of %d members", o.Root, len(r.Members))
	}
	return out, nil
}

// Join makes the group for the member that comes first, and waits with the others until it is reserved.
func (m *Manager) Join(ctx context.Context, r *managerpb.JoinRequest) (*managerpb.JoinResponse, error) {
	o, err := checkJoin(r)
	if err != nil {
		return nil, err
	}
	tenant := rpc.CallerOf(ctx).Tenant
	g, own, err := m.joined(tenant, r, o)
	if err != nil && m.wait(ctx, r.Members) {
		g, own, err = m.joined(tenant, r, o)
	}
	if err != nil {
		return nil, err
	}
	if own {
		// The group is everybody's, so it does not end with the call of who came first.
		if err := m.reserve(context.WithoutCancel(ctx), g); err != nil {
			return nil, err
		}
	}
	select {
	case <-g.reserved:
	case <-g.over:
	case <-ctx.Done():
		return nil, cut(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.state == Removing {
		return nil, status.Error(codes.Aborted, g.reason)
	}
	out := g.offer(int(r.Rank))
	out.Dtypes, out.Ops = m.abilities(g)
	out.Turns, out.LeastMtu = g.Options.Policy == temporal, m.least(g, int(r.Rank))
	return out, nil
}

// cut is the error of a call whose context has ended. It is the manager that ends, if it is not the caller: the next one will answer.
func cut(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Error(codes.Unavailable, "the manager ends")
}

// wait waits until all switches have been asked again, if something that a refusal may come from is known from before: a switch or a member's
// link that was down. A host that has just come up would be refused otherwise.
func (m *Manager) wait(ctx context.Context, members []string) bool {
	m.mu.Lock()
	stale := m.placer == nil
	for _, s := range m.switches {
		stale = stale || !s.up
	}
	net := m.network()
	for i, l := range net.Links {
		for _, e := range l.Ends {
			stale = stale || m.placer != nil && m.placer.LinkDown(i) && slices.Contains(members, net.Nodes[e.Node].Name)
		}
	}
	m.mu.Unlock()
	if !stale {
		return false
	}
	late := time.NewTimer(2 * m.cfg.Patience)
	defer late.Stop()
	for range 2 { // the round that is on its way may have asked already
		m.mu.Lock()
		round := m.round
		m.mu.Unlock()
		select {
		case <-round:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// abilities are the element types and operations that all engines of a group's tree have. Called with mu held.
func (m *Manager) abilities(g *group) (types, ops uint32) {
	types, ops = math.MaxUint32, math.MaxUint32
	for i := range g.Tree.Switches {
		if s := m.switches[g.Tree.Switches[i].Name]; s != nil && s.engine != nil {
			types, ops = types&s.engine.DTypeMask(), ops&s.engine.OpMask()
		}
	}
	return types, ops
}

// joined finds the group of a call, or makes it; own tells that the caller is to reserve it.
func (m *Manager) joined(tenant string, r *managerpb.JoinRequest, o Options) (g *group, own bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.sorted() {
		if g.Tenant != tenant || g.Name != r.Name || !g.live() {
			continue
		}
		was := g.Options
		if o.MTU == 0 {
			was.MTU = 0
		}
		switch {
		case !slices.Equal(g.Members, r.Members) || was != o:
			return nil, false, status.Errorf(codes.AlreadyExists, "group %s is there already, with other members or options", r.Name)
		case g.state != Reserving && g.state != Gathering:
			return nil, false, status.Errorf(codes.AlreadyExists, "group %s is in use", r.Name)
		}
		return g, false, nil
	}
	g, err = m.place(tenant, r.Name, slices.Clone(r.Members), o)
	return g, true, err
}

// offer is what a member must know to make its queue pair.
func (g *group) offer(rank int) *managerpb.JoinResponse {
	out := &managerpb.JoinResponse{Group: g.ID, Start: g.Start, Mtu: uint32(g.Tree.MTU), Window: uint32(g.Tree.Window), Mbps: uint32(g.Tree.Mbps),
		MessageBytes: uint32(g.Tree.Message)}
	for i := range g.Tree.Switches {
		sw := &g.Tree.Switches[i]
		for e, c := range sw.Children {
			if c.Rank == rank {
				end := g.Ends[sw.Name][e]
				out.Peer = &managerpb.QueuePair{Qpn: end.QPN, Ip: end.IP, Mac: end.MAC}
				if g.Mode == 1 {
					out.Peer.Psn = g.psn(i, e)
				}
			}
		}
	}
	return out
}

// find is a group of the caller's.
func (m *Manager) find(ctx context.Context, id string) (*group, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[id]
	if c := rpc.CallerOf(ctx); g == nil || g.Tenant != c.Tenant && c.Role != rpc.Operator {
		return nil, status.Errorf(codes.NotFound, "there is no group %s", id)
	}
	return g, nil
}

// ended is why a group of the caller's has ended that is no more.
func (m *Manager) ended(ctx context.Context, id string) (reason string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := rpc.CallerOf(ctx)
	for _, p := range m.past {
		if p.id == id && (p.tenant == c.Tenant || c.Role == rpc.Operator) {
			return p.reason, true
		}
	}
	return "", false
}

// member is find with a rank.
func (m *Manager) member(ctx context.Context, id string, rank uint32) (*group, error) {
	g, err := m.find(ctx, id)
	if err == nil && uint64(rank) >= uint64(len(g.Members)) {
		return nil, invalid("rank %d of %d members", rank, len(g.Members))
	}
	return g, err
}

// Report takes a member's queue pair and waits until the group is ready.
func (m *Manager) Report(ctx context.Context, r *managerpb.ReportRequest) (*managerpb.ReportResponse, error) {
	g, err := m.member(ctx, r.Group, r.Rank)
	if err != nil {
		if reason, known := m.ended(ctx, r.Group); known {
			return nil, status.Error(codes.Aborted, reason)
		}
		return nil, err
	}
	ends := []*managerpb.QueuePair{r.Own}
	if g.Options.Policy == temporal {
		ends = append(ends, r.Next, r.Previous)
	}
	var own []End
	for _, q := range ends {
		if q == nil || q.Qpn < 2 || q.Qpn > roce.PSNMask || q.Ip == 0 || q.Mac >= 1<<48 {
			return nil, invalid("rank %d: a queue pair is missing, has no address, or one of too many bits", r.Rank)
		}
		own = append(own, End{QPN: q.Qpn, IP: q.Ip, MAC: q.Mac})
	}
	if err := m.connection(g, int(r.Rank), r.Own, &own[0]); err != nil {
		return nil, err
	}
	if err := m.report(context.WithoutCancel(ctx), g, int(r.Rank), own[0], own[1:]...); err != nil {
		return nil, err
	}
	select {
	case <-g.ready:
		return g.neighbours(int(r.Rank)), nil
	case <-g.over:
		return nil, status.Error(codes.Aborted, m.reasonOf(g))
	case <-ctx.Done():
		return nil, cut(ctx)
	}
}

// connection takes what a member's queue pair toward its switch has of its own in Mode I: the first PSN that it sends, and its path MTU.
func (m *Manager) connection(g *group, rank int, q *managerpb.QueuePair, own *End) error {
	if g.Mode != 1 {
		if q.Psn != 0 || q.PathMtu != 0 {
			return invalid("rank %d: a first PSN and a path MTU of its own: the switches are of mode %d", rank, g.Mode)
		}
		return nil
	}
	least, most := m.leastMTU(g, rank), uint32(g.Tree.MTU)
	own.PSN, own.PathMTU = q.Psn, cmp.Or(q.PathMtu, most)
	switch {
	case own.PSN > roce.PSNMask:
		return invalid("rank %d: its first PSN is %d, it can be %d at most", rank, own.PSN, uint32(roce.PSNMask))
	case own.PathMTU < least || own.PathMTU > most || own.PathMTU&(own.PathMTU-1) != 0:
		return invalid("rank %d: a path MTU of %d bytes, it can be a power of two from %d to %d", rank, own.PathMTU, least, most)
	}
	return nil
}

// leastMTU is the smallest path MTU that the switch beside a member takes in Mode I; 0 in other modes.
func (m *Manager) leastMTU(g *group, rank int) uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.least(g, rank)
}

// least is leastMTU with mu held.
func (m *Manager) least(g *group, rank int) uint32 {
	for i := range g.Tree.Switches {
		sw := &g.Tree.Switches[i]
		if slices.ContainsFunc(sw.Children, func(c placement.Child) bool { return c.Rank == rank }) {
			if s := m.switches[sw.Name]; g.Mode == 1 && s != nil && s.engine != nil {
				return uint32(s.engine.LeastPathMTU())
			}
		}
	}
	return 0
}

func (m *Manager) reasonOf(g *group) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return g.reason
}

// Watch tells a member when the group ends, and the manager that the member is there.
func (m *Manager) Watch(r *managerpb.WatchRequest, s grpc.ServerStreamingServer[managerpb.WatchResponse]) error {
	g, err := m.member(s.Context(), r.Group, r.Rank)
	if err != nil {
		if reason, known := m.ended(s.Context(), r.Group); known {
			return s.Send(&managerpb.WatchResponse{Ended: reason})
		}
		return err
	}
	m.mu.Lock()
	g.watched[r.Rank]++
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		g.watched[r.Rank]--
		g.seen[r.Rank] = m.cfg.Now()
	}()
	select {
	case <-g.over:
		if err := s.Send(&managerpb.WatchResponse{Ended: m.reasonOf(g)}); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		return nil
	case <-s.Context().Done():
		return cut(s.Context())
	}
}

// Destroy ends a group.
func (m *Manager) Destroy(ctx context.Context, r *managerpb.DestroyRequest) (*managerpb.DestroyResponse, error) {
	g, err := m.find(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	reason := fmt.Sprintf("destroyed by %v", rpc.CallerOf(ctx))
	if r.Reason != "" {
		reason += ": " + strings.ToValidUTF8(r.Reason[:min(len(r.Reason), mostReason)], "")
	}
	m.destroy(context.WithoutCancel(ctx), g, reason)
	return &managerpb.DestroyResponse{}, nil
}

func (m *Manager) destroy(ctx context.Context, g *group, reason string) {
	g.work.Lock()
	defer g.work.Unlock()
	m.end(ctx, g, reason)
}

// Status says what there is: all of it to the operator, a tenant's own groups to a tenant.
func (m *Manager) Status(ctx context.Context, _ *managerpb.StatusRequest) (*managerpb.StatusResponse, error) {
	c := rpc.CallerOf(ctx)
	operator := c.Role == rpc.Operator
	return m.status(func(g *group) bool { return operator || g.Tenant == c.Tenant }, operator), nil
}

// status lists the groups that show, and the switches and events if all is to be seen.
func (m *Manager) status(show func(*group) bool, all bool) *managerpb.StatusResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &managerpb.StatusResponse{}
	for _, g := range m.sorted() {
		if !show(g) {
			continue
		}
		s := &managerpb.GroupStatus{Group: g.ID, Name: g.Name, Tenant: g.Tenant, State: string(g.state), Reason: g.reason, Members: slices.Clone(g.Members),
			Mbps: uint32(g.Tree.Mbps), Tree: g.Tree.String()}
		for i := range g.Tree.Switches {
			at := &g.Tree.Switches[i]
			s.Switches, s.Slots, s.Engines = append(s.Switches, at.Name), append(s.Slots, uint32(at.Slots)), append(s.Engines, uint32(at.Engine))
		}
		out.Groups = append(out.Groups, s)
	}
	if !all {
		return out
	}
	out.Events = slices.Clone(m.events)
	var usage []placement.Usage
	if m.placer != nil {
		usage = m.placer.Usage()
	}
	for _, name := range slices.Sorted(maps.Keys(m.switches)) {
		s := &managerpb.SwitchStatus{Name: name, Trouble: m.switches[name].trouble, Qpns: m.switches[name].qpns}
		if i := slices.IndexFunc(usage, func(u placement.Usage) bool { return u.Name == name }); i >= 0 {
			u := usage[i]
			s.Slots, s.Free, s.Groups, s.Records, s.SlotBytes = uint32(u.Slots), uint32(u.Free), uint32(u.Groups), uint32(u.Limit), uint32(u.SlotBytes)
			for _, e := range u.Engines {
				s.Engines = append(s.Engines, &managerpb.EngineStatus{Free: uint32(e.Free), Groups: uint32(e.Groups)})
			}
		}
		out.Switches = append(out.Switches, s)
	}
	return out
}
