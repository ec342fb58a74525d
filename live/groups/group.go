// SPDX-License-Identifier: Apache-2.0

package groups

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/roce"
)

// Number is that of a switch's group i, where nobody chooses it: of several engines one after the other gets a group. If there are not so many it is too high a number.
func Number(p contract.Params, i int) int {
	if n := p.EngineCount(); i < p.AllGroups() {
		return i%n*p.Groups + i/n
	}
	return i
}

func (r *resolver) group(i int, f *fileGroup) Group {
	g := Group{Index: r.number("group", &f.Group, Number(r.p, i), 0, r.p.AllGroups()-1), Ends: map[int]inc.Endpoint{}, file: *f,
		pos: cmp.Or(f.Group.Pos, f.Start.Pos, f.Collective.Pos, f.InBand.Pos)}
	if !g.pos.Known() && len(f.Endpoints) > 0 {
		g.pos = cmp.Or(f.Endpoints[0].Endpoint.Pos, f.Endpoints[0].Remote.IP.Pos, f.Endpoints[0].Local.IP.Pos)
	}
	if g.Index >= r.p.AllGroups() && !f.Group.Given {
		r.Addf(g.pos, "group %d: this design has %d groups", g.Index, r.p.AllGroups())
	}
	set := &g.Set
	set.Collective = r.code("collective", &f.Collective, contract.CollectiveNames(), math.MaxUint32, inc.CollectiveAllReduce)
	set.DType, set.Op = r.kind(g.Index, g.pos, f)
	set.BigEndian, set.Start = f.BigEndian.Or(false), roce.PSN(r.number("start", &f.Start, 0, 0, roce.PSNMask))
	set.Parent, set.HasParent = r.number("parent", &f.Parent, 0, 0, r.p.Members), f.Parent.Given
	set.InBand, set.RootSends = f.InBand.Or(false), f.RootSends.Or(false)
	switch {
	case set.InBand && !r.p.InBand:
		r.Addf(f.InBand.Pos, "in_band is not built into this design")
	case set.InBand && set.Collective != inc.CollectiveAllReduce:
		r.Addf(f.Collective.Pos, "collective %s: an in-band group's ranks say what they do, so its registers say allreduce", f.Collective.V)
	}
	if set.WholeMessages = f.Whole.Or(false); f.Whole.Given && r.p.Mode != 1 {
		r.Addf(f.Whole.Pos, "whole_messages is Mode I's, this design is of Mode %d", r.p.Mode)
	}
	r.roles(&g, f)
	r.slots(&g, f)
	return g
}

// kind is the type and the operation. Where the design has several types, a group whose ranks do not tell theirs must say which: with the
// wrong one sums are wrong and nothing else is. The operation is SUM unless the design has none.
func (r *resolver) kind(group int, pos yamlpos.Pos, f *fileGroup) (dtype, op uint8) {
	types, ops := r.p.DTypeMask(), r.p.OpMask()
	dtype, op = uint8(bits.TrailingZeros32(types)), inc.OpSum
	if ops>>inc.OpSum&1 == 0 {
		op = uint8(bits.TrailingZeros32(ops))
	}
	reduces := !f.InBand.Or(false) && f.Collective.V != contract.CollectiveNames()[inc.CollectiveBarrier]
	if bits.OnesCount32(types) > 1 && !f.DType.Given && reduces {
		r.Addf(pos, "group %d has no dtype: this design has %s", group, listed(contract.ElementNames(), types))
	}
	if bits.OnesCount32(ops) > 1 && ops>>inc.OpSum&1 == 0 && !f.Op.Given && reduces {
		r.Addf(pos, "group %d has no op: this design has %s", group, listed(contract.OperationNames(), ops))
	}
	return r.code("dtype", &f.DType, contract.ElementNames(), types, dtype), r.code("op", &f.Op, contract.OperationNames(), ops, op)
}

// Kind says what a group computes, in words.
func (g *Group) Kind() string {
	if g.Set.InBand {
		return "in-band"
	}
	name := contract.CollectiveNames()[g.Set.Collective]
	switch g.Set.Collective {
	case inc.CollectiveBarrier:
		return name
	case inc.CollectiveBroadcast:
		return name + " " + contract.ElementNames()[g.Set.DType]
	}
	return name + " " + contract.ElementNames()[g.Set.DType] + " " + contract.OperationNames()[g.Set.Op]
}

// roles fills in endpoints and masks.
func (r *resolver) roles(g *Group, f *fileGroup) {
	set := &g.Set
	oneWay := set.Collective == inc.CollectiveReduce || set.Collective == inc.CollectiveBroadcast
	if oneWay && !set.HasParent {
		r.Addf(cmp.Or(f.Collective.Pos, g.pos), "a %s needs a parent: the endpoint toward the root", f.Collective.V)
	}
	if len(f.Endpoints) == 0 {
		r.Addf(g.pos, "group %d has no endpoints", g.Index)
	}
	var tree, hosts uint32
	for i := range f.Endpoints {
		// In an AllReduce the parent is a switch; in the others whoever is the root.
		e, ep := r.endpoint(g.Index, i, &f.Endpoints[i], func(e int) bool { return !set.HasParent || e != set.Parent || oneWay })
		r.connection(&f.Endpoints[i], set.Start, &ep)
		if _, twice := g.Ends[e]; twice {
			r.Addf(f.Endpoints[i].Endpoint.Pos, "endpoint %d is there already", e)
		}
		g.Ends[e] = ep
		if e > r.p.Members {
			continue
		}
		tree |= 1 << e
		if ep.Host {
			hosts |= 1 << e
		}
	}
	parent := uint32(0)
	if set.HasParent && set.Parent <= r.p.Members {
		if parent = 1 << set.Parent; tree&parent == 0 {
			r.Addf(f.Parent.Pos, "parent %d is not among the endpoints", set.Parent)
		}
	}
	children := tree &^ parent
	set.InMask, set.OutMask, set.AckMask = children, children, hosts&children
	switch set.Collective {
	case inc.CollectiveReduce:
		set.AckMask = parent
	case inc.CollectiveBroadcast:
		set.AckMask = children
	}
	r.mask("in", &f.In, tree, &set.InMask)
	r.mask("out", &f.Out, tree, &set.OutMask)
	r.mask("ack", &f.Ack, tree, &set.AckMask)
	r.routes(g, f, tree)
	sends := set.InMask
	if set.InBand {
		sends = tree
	}
	if r.p.Reproducible() && r.p.Members%2 == 0 && sends>>r.p.Members&1 != 0 {
		r.Addf(cmp.Or(f.In.Pos, g.pos), "a reproducible engine of %d members takes contributions of endpoints 0 to %d", r.p.Members,
			r.p.Members-1)
	}
}

// routes says where the root ranks of an in-band group are: as listed, or, without a parent, rank by rank the endpoints ascending.
func (r *resolver) routes(g *Group, f *fileGroup, tree uint32) {
	to := f.Routes.V
	switch {
	case f.Routes.Given && !g.Set.InBand:
		r.Addf(f.Routes.Pos, "routes are for in-band groups")
		return
	case len(to) > inc.Roots:
		r.Addf(f.Routes.Pos, "there are %d routes, allowed are %d", len(to), inc.Roots)
		return
	case !f.Routes.Given && g.Set.InBand && !g.Set.HasParent:
		to = slices.Sorted(maps.Keys(g.Ends))
	}
	for rank, e := range to {
		if tree>>e&1 == 0 {
			r.Addf(f.Routes.Pos, "routes: rank %d is at endpoint %d, which is not among the group's", rank, e)
		}
		g.Set.Route[rank] = inc.Route{Valid: true, Endpoint: uint8(e)}
	}
}

// mask takes a list of endpoints in the place of a default.
func (r *resolver) mask(what string, a *strictyaml.Value[[]int], tree uint32, m *uint32) {
	if !a.Given {
		return
	}
	*m = 0
	for _, e := range a.V {
		if tree>>e&1 == 0 {
			r.Addf(a.Pos, "%s: endpoint %d is not among the group's", what, e)
		}
		*m |= 1 << e
	}
}

func (r *resolver) endpoint(group, i int, f *fileEndpoint, host func(e int) bool) (int, inc.Endpoint) {
	where := cmp.Or(f.Endpoint.Pos, f.Remote.IP.Pos, f.Local.IP.Pos, f.Remote.MAC.Pos, f.Remote.QPN.Pos)
	e := f.Endpoint.Or(i)
	if e > r.p.Members {
		r.Addf(where, "endpoint is %d, allowed are 0 to %d", e, r.p.Members)
	}
	for _, must := range []struct {
		what  string
		given bool
	}{{"local ip", f.Local.IP.Given}, {"remote ip", f.Remote.IP.Given}, {"remote mac", f.Remote.MAC.Given},
		{"remote qpn", f.Remote.QPN.Given}} {
		if !must.given {
			r.Addf(where, "group %d, endpoint %d has no %s", group, e, must.what)
		}
	}
	ei := group*r.p.EPS() + e
	if q := &f.Local.QPN; q.Given && q.V%r.p.Records() != ei {
		r.Addf(q.Pos, "local qpn %#x: the engine finds endpoint %d of group %d only if the low %d bits are %#x, as in %#x", q.V, e, group,
			bits.Len(uint(r.p.Records()-1)), ei, q.V-q.V%r.p.Records()+ei)
	}
	port := r.number("port", &f.Port, e%r.p.Ports, 0, r.p.Ports-1)
	if r.ports != nil && !slices.Contains(r.ports, port) && port < r.p.Ports {
		r.Addf(cmp.Or(f.Port.Pos, where), "group %d, endpoint %d is on port %d, where nobody is: it has no socket and no link (--port %d=unix:MINE,PEER)",
			group, e, port, port)
	}
	if far := (remote{f.Remote.IP.V, uint32(f.Remote.QPN.V)}); f.Remote.IP.V != (roce.IP4{}) && f.Remote.QPN.V != 0 {
		if who, has := r.remotes[far]; has {
			r.Addf(cmp.Or(f.Remote.QPN.Pos, where), "group %d, endpoint %d: %s has the remote %v, qpn %#x already", group, e, who, far.ip, far.qpn)
		}
		r.remotes[far] = fmt.Sprintf("group %d, endpoint %d", group, e)
	}
	return e, inc.Endpoint{Valid: true, Host: f.Host.Or(host(e)), Port: port,
		LocalIP: f.Local.IP.V, LocalMAC: f.Local.MAC.Or(roce.MACFromUint64(defaultMAC + uint64(port))),
		RemoteIP: f.Remote.IP.V, RemoteMAC: f.Remote.MAC.V,
		LocalQPN:      uint32(r.number("local qpn", &f.Local.QPN, defaultQPN+ei, 0, roce.PSNMask)),
		RemoteQPN:     uint32(r.number("remote qpn", &f.Remote.QPN, 0, 0, roce.PSNMask)),
		UDPSourcePort: uint16(r.number("udp_source_port", &f.UDPSourcePort, defaultSourcePort, 0, math.MaxUint16)),
		TTL:           uint8(r.number("ttl", &f.TTL, defaultTTL, 1, 255)), TOS: uint8(r.number("tos", &f.TOS, 0, 0, 255))}
}

// connection fills in what only Mode I's endpoints have: first PSNs, by default the group's as in Mode III, and a path MTU.
func (r *resolver) connection(f *fileEndpoint, start roce.PSN, ep *inc.Endpoint) {
	if r.p.Mode != 1 {
		if pos := cmp.Or(f.RQPSN.Pos, f.SQPSN.Pos, f.PathMTU.Pos); pos.Known() {
			r.Addf(pos, "rq_psn, sq_psn and path_mtu are Mode I's, this design is of Mode %d", r.p.Mode)
		}
		return
	}
	ep.RQPSN = roce.PSN(r.number("rq_psn", &f.RQPSN, int(start), 0, roce.PSNMask))
	ep.SQPSN = roce.PSN(r.number("sq_psn", &f.SQPSN, int(start), 0, roce.PSNMask))
	least, most := r.p.LeastPathMTU(), r.p.MTUBytes
	if ep.PathMTU = f.PathMTU.Or(most); ep.PathMTU < least || ep.PathMTU > most || ep.PathMTU&(ep.PathMTU-1) != 0 {
		r.Addf(f.PathMTU.Pos, "path_mtu is %d, it must be a power of two from %d to %d", ep.PathMTU, least, most)
	}
}

// slots gives the group its part of the buffer: the design's window in the first gap between the groups before, less if there is no room.
// In Modes III and I the window is how many slots a pipe, or messages a pool, has room for, and it may have fewer.
func (r *resolver) slots(g *Group, f *fileGroup) {
	set, per := &g.Set, r.p.Units(g.Set.DType, g.Set.InBand)
	window, what := r.p.WindowPackets, "packets"
	if r.p.Mode == 1 {
		window, what = r.p.WindowMessages, "messages"
	}
	switch {
	case f.Pipe.Given && !r.p.Pipes():
		r.Addf(f.Pipe.Pos, "pipe: this design is of Mode %d, which has none", r.p.Mode)
		return
	case f.Pipe.Given && f.Pipe.V < 1:
		r.Addf(f.Pipe.Pos, "pipe is %d, it must be at least 1", f.Pipe.V)
		return
	case f.Pipe.Given && !f.Window.Given:
		window = 1 << bits.Len(uint(f.Pipe.V-1))
	case f.Window.Given:
		if window = f.Window.V; window < 1 || window&(window-1) != 0 {
			r.Addf(f.Window.Pos, "window is %d, it must be a power of two", window)
			return
		}
		if f.Pipe.Given && f.Pipe.V > window {
			r.Addf(f.Pipe.Pos, "pipe is %d, a window of %d has no room for it", f.Pipe.V, window)
		}
	default:
		for window > 1 && r.gap(g.Index, f, 2*window*per) < 0 {
			window /= 2
		}
	}
	set.Log2N, set.PipeSlots = bits.Len(uint(window)), f.Pipe.Or(0) // 2·window slots
	units := 2 * window * per
	base := r.gap(g.Index, f, units)
	if set.SlotBase = max(base, f.SlotBase.Or(0)); base < 0 {
		r.Addf(cmp.Or(f.SlotBase.Pos, f.Window.Pos, f.Pipe.Pos, g.pos), "group %d: a window of %d %s takes %d units%s; the buffer has %d, %s",
			g.Index, window, what, units, map[bool]string{true: fmt.Sprintf(" from %d on", f.SlotBase.V)}[f.SlotBase.Given], r.p.Slots(), r.used())
		return
	}
	r.take(g)
}

// take notes what a group has of the buffer.
func (r *resolver) take(g *Group) {
	units := r.p.Units(g.Set.DType, g.Set.InBand) << g.Set.Log2N
	r.taken = append(r.taken, taken{g.Index, g.Index / r.p.Groups, g.Set.SlotBase, g.Set.SlotBase + units})
	slices.SortFunc(r.taken, func(a, b taken) int { return a.first - b.first })
}

// gap is the first of so many units of its engine that nobody has, from where the file says, or anywhere; -1 if there are none.
func (r *resolver) gap(group int, f *fileGroup, units int) int {
	base, engine := f.SlotBase.Or(0), group/r.p.Groups
	for _, t := range r.taken {
		if t.engine != engine || base+units <= t.first || base >= t.beyond {
			continue
		}
		if f.SlotBase.Given {
			return -1
		}
		base = t.beyond
	}
	if base+units > r.p.Slots() {
		return -1
	}
	return base
}

// used says which units are taken.
func (r *resolver) used() string {
	var all []string
	for _, t := range r.taken {
		all = append(all, fmt.Sprintf("group %d has %d to %d", t.group, t.first, t.beyond-1))
	}
	if all == nil {
		return "all free"
	}
	return strings.Join(all, ", ")
}
