// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/internal/yamlpos"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// Setup is what a groups file says, with defaults filled in and checked against a design. README.md describes the file.
type Setup struct {
	// ARP makes requests for an endpoint's local IP answered on its port with its local MAC.
	ARP bool
	// GapNAK and ForeignBypass are register CTRL, IPID is IP_ID.
	GapNAK, ForeignBypass bool
	IPID                  uint16
	// Bypass is BYPASS_PORT by port. What is not in it is returned by the engine to its own port, and ends there.
	Bypass map[int]int
	// Pipes are the registers of Mode III, nil in Mode II.
	Pipes *Pipes
	// Groups are in the order of the file.
	Groups []Group

	eps int                     // records of the endpoint table that a group takes
	arp []map[roce.IP4]roce.MAC // by port
}

// Pipes are registers PIPE_CTRL and PIPE_TIMEOUT.
type Pipes struct {
	inc.PipeCtrl
	TimeoutUS uint16
}

// defaultPipeTimeoutUS is PIPE_TIMEOUT where nobody says: a process at the far end of a socket takes milliseconds where a NIC takes
// microseconds.
const defaultPipeTimeoutUS = 20_000

// Group is a group with its endpoints.
type Group struct {
	Index int
	Set   inc.Group
	// Ends are by endpoint number.
	Ends map[int]inc.Endpoint

	pos yamlpos.Pos
}

// The file as it is. A key is its field's name in lower case, unless the tag says otherwise.
type (
	fileSetup struct {
		ARP           at[bool]
		GapNAK        at[bool] `yaml:"gap_nak"`
		ForeignBypass at[bool] `yaml:"foreign_bypass"`
		IPID          at[int]  `yaml:"ip_id"`
		Bypass        []fileBypass
		Pipes         filePipes
		Groups        []fileGroup
	}
	filePipes struct {
		RNR, CNP  at[bool]
		RNRTimer  at[int] `yaml:"rnr_timer"`
		TimeoutUS at[int] `yaml:"timeout_us"`
	}
	fileBypass struct{ From, To at[int] }
	fileGroup  struct {
		Group, Parent, Start, Window, Pipe at[int]
		SlotBase                           at[int] `yaml:"slot_base"`
		Collective, DType, Op              at[string]
		BigEndian                          at[bool] `yaml:"big_endian"`
		InBand                             at[bool] `yaml:"in_band"`
		RootSends                          at[bool] `yaml:"root_sends"`
		In, Out, Ack, Routes               at[[]int]
		Endpoints                          []fileEndpoint
	}
	fileEndpoint struct {
		Endpoint, Port, TTL, TOS at[int]
		UDPSourcePort            at[int] `yaml:"udp_source_port"`
		Host                     at[bool]
		Local, Remote            fileEnd
	}
	fileEnd struct {
		MAC at[roce.MAC]
		IP  at[roce.IP4]
		QPN at[int]
	}
)

// What endpoints have unless the file says otherwise.
const (
	defaultSourcePort = 49152
	defaultTTL        = 64
	defaultQPN        = 0x100000         // plus the endpoint's table index
	defaultMAC        = 0x0249_4E43_0000 // locally administered; plus the port
)

// ReadSetup reads a groups file for the design that m describes. The error wraps ErrSetup and tells everything that is wrong,
// each with its line.
func ReadSetup(path string, m *contract.Manifest) (*Setup, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return ParseSetup(path, text, m)
}

// ParseSetup is ReadSetup of a text; file names it in messages.
func ParseSetup(file string, text []byte, m *contract.Manifest) (*Setup, error) {
	r := &resolver{mistakes: mistakes{file: file}, p: m.Params}
	var f fileSetup
	r.decode(text, &f)
	if err := r.err(); err != nil {
		return nil, err
	}
	s := r.setup(&f)
	return s, r.err()
}

// resolver fills in defaults and checks.
type resolver struct {
	mistakes
	p     contract.Params
	units int // of the buffer, taken by the groups so far
}

// number is a number of the file, which must be in low … high, or def where the file has none.
func (r *resolver) number(what string, a *at[int], def, low, high int) int {
	if a.given && (a.v < low || a.v > high) {
		r.addf(a.pos, "%s is %d, allowed are %d to %d", what, a.v, low, high)
	}
	return a.or(def)
}

// code is the place of a word among names, those of the design being in built; its first one where the file has none.
func (r *resolver) code(what string, a *at[string], names []string, built uint32) uint8 {
	switch c := slices.Index(names, a.v); {
	case !a.given:
	case c < 0:
		r.addf(a.pos, "%s is %q, allowed are %s", what, a.v, strings.Join(names, ", "))
	case built>>c&1 == 0:
		r.addf(a.pos, "%s %s is not built into this design", what, a.v)
	default:
		return uint8(c)
	}
	return uint8(bits.TrailingZeros32(built))
}

func (r *resolver) setup(f *fileSetup) *Setup {
	s := &Setup{eps: r.p.EPS(), ARP: f.ARP.or(false), GapNAK: f.GapNAK.or(true), ForeignBypass: f.ForeignBypass.or(false),
		IPID: uint16(r.number("ip_id", &f.IPID, contract.DefaultIPID, 0, math.MaxUint16)), Bypass: map[int]int{}, Pipes: r.pipes(&f.Pipes)}
	for i, b := range f.Bypass {
		if !b.From.given || !b.To.given {
			r.addf(cmp.Or(b.From.pos, b.To.pos), "bypass %d needs from and to", i)
			continue
		}
		from := r.number("from", &b.From, 0, 0, r.p.Ports-1)
		if _, twice := s.Bypass[from]; twice {
			r.addf(b.From.pos, "port %d has a bypass already", from)
		}
		s.Bypass[from] = r.number("to", &b.To, 0, 0, r.p.Ports-1)
	}
	for _, b := range f.Bypass {
		if _, ok := s.Bypass[b.To.v]; b.To.given && !ok {
			r.addf(b.To.pos, "port %d must have a bypass of its own: without one, what is bypassed ends there", b.To.v)
		}
	}
	if len(f.Groups) == 0 {
		r.addf(yamlpos.Pos{}, "there are no groups")
	}
	for i := range f.Groups {
		g := r.group(i, &f.Groups[i])
		if slices.ContainsFunc(s.Groups, func(o Group) bool { return o.Index == g.Index }) {
			r.addf(g.pos, "group %d is there already", g.Index)
		}
		s.Groups = append(s.Groups, g)
	}
	r.addresses(s)
	return s
}

// pipes are Mode III's, and nothing in Mode II.
func (r *resolver) pipes(f *filePipes) *Pipes {
	p := &Pipes{inc.PipeCtrl{RNR: f.RNR.or(true), CNP: f.CNP.or(false), RNRTimer: uint8(r.number("rnr_timer", &f.RNRTimer, 1, 0, 31))},
		uint16(r.number("timeout_us", &f.TimeoutUS, defaultPipeTimeoutUS, 0, math.MaxUint16))}
	if r.p.Mode == 3 {
		return p
	}
	if pos := cmp.Or(f.RNR.pos, f.CNP.pos, f.RNRTimer.pos, f.TimeoutUS.pos); pos.Known() {
		r.addf(pos, "pipes are Mode III's, this design is of Mode %d", r.p.Mode)
	}
	return nil
}

func (r *resolver) group(i int, f *fileGroup) Group {
	g := Group{Index: r.number("group", &f.Group, i, 0, r.p.Groups-1), Ends: map[int]inc.Endpoint{}, pos: f.Group.pos}
	if !g.pos.Known() && len(f.Endpoints) > 0 {
		g.pos = f.Endpoints[0].Remote.IP.pos
	}
	if g.Index >= r.p.Groups && !f.Group.given {
		r.addf(g.pos, "group %d: this design has %d groups", g.Index, r.p.Groups)
	}
	set := &g.Set
	set.Collective = r.code("collective", &f.Collective, contract.CollectiveNames(), math.MaxUint32)
	set.DType = r.code("dtype", &f.DType, contract.ElementNames(), r.p.DTypeMask())
	set.Op = r.code("op", &f.Op, contract.OperationNames(), r.p.OpMask())
	set.BigEndian, set.Start = f.BigEndian.or(false), roce.PSN(r.number("start", &f.Start, 0, 0, roce.PSNMask))
	set.Parent, set.HasParent = r.number("parent", &f.Parent, 0, 0, r.p.Members), f.Parent.given
	set.InBand, set.RootSends = f.InBand.or(false), f.RootSends.or(false)
	switch {
	case set.InBand && !r.p.InBand:
		r.addf(f.InBand.pos, "in_band is not built into this design")
	case set.InBand && set.Collective != inc.CollectiveAllReduce:
		r.addf(f.Collective.pos, "collective %s: an in-band group's ranks say what they do, so its registers say allreduce", f.Collective.v)
	}
	r.roles(&g, f)
	r.slots(&g, f)
	return g
}

// roles fills in endpoints and masks.
func (r *resolver) roles(g *Group, f *fileGroup) {
	set := &g.Set
	oneWay := set.Collective == inc.CollectiveReduce || set.Collective == inc.CollectiveBroadcast
	if oneWay && !set.HasParent {
		r.addf(cmp.Or(f.Collective.pos, g.pos), "a %s needs a parent: the endpoint toward the root", f.Collective.v)
	}
	if len(f.Endpoints) == 0 {
		r.addf(g.pos, "group %d has no endpoints", g.Index)
	}
	var tree, hosts uint32
	for i := range f.Endpoints {
		// In an AllReduce the parent is a switch; in the others whoever is the root.
		e, ep := r.endpoint(g.Index, i, &f.Endpoints[i], func(e int) bool { return !set.HasParent || e != set.Parent || oneWay })
		if _, twice := g.Ends[e]; twice {
			r.addf(f.Endpoints[i].Endpoint.pos, "endpoint %d is there already", e)
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
			r.addf(f.Parent.pos, "parent %d is not among the endpoints", set.Parent)
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
		r.addf(cmp.Or(f.In.pos, g.pos), "a reproducible engine of %d members takes contributions of endpoints 0 to %d", r.p.Members,
			r.p.Members-1)
	}
}

// routes says where the root ranks of an in-band group are: as listed, or, without a parent, rank by rank the endpoints ascending.
func (r *resolver) routes(g *Group, f *fileGroup, tree uint32) {
	to := f.Routes.v
	switch {
	case f.Routes.given && !g.Set.InBand:
		r.addf(f.Routes.pos, "routes are for in-band groups")
		return
	case len(to) > inc.Roots:
		r.addf(f.Routes.pos, "there are %d routes, allowed are %d", len(to), inc.Roots)
		return
	case !f.Routes.given && g.Set.InBand && !g.Set.HasParent:
		to = sortedKeys(g.Ends)
	}
	for rank, e := range to {
		if tree>>e&1 == 0 {
			r.addf(f.Routes.pos, "routes: rank %d is at endpoint %d, which is not among the group's", rank, e)
		}
		g.Set.Route[rank] = inc.Route{Valid: true, Endpoint: uint8(e)}
	}
}

// mask takes a list of endpoints in the place of a default.
func (r *resolver) mask(what string, a *at[[]int], tree uint32, m *uint32) {
	if !a.given {
		return
	}
	*m = 0
	for _, e := range a.v {
		if tree>>e&1 == 0 {
			r.addf(a.pos, "%s: endpoint %d is not among the group's", what, e)
		}
		*m |= 1 << e
	}
}

func (r *resolver) endpoint(group, i int, f *fileEndpoint, host func(e int) bool) (int, inc.Endpoint) {
	where := cmp.Or(f.Endpoint.pos, f.Remote.IP.pos, f.Local.IP.pos, f.Remote.MAC.pos, f.Remote.QPN.pos)
	e := f.Endpoint.or(i)
	if e > r.p.Members {
		r.addf(where, "endpoint is %d, allowed are 0 to %d", e, r.p.Members)
	}
	for _, must := range []struct {
		what  string
		given bool
	}{{"local ip", f.Local.IP.given}, {"remote ip", f.Remote.IP.given}, {"remote mac", f.Remote.MAC.given},
		{"remote qpn", f.Remote.QPN.given}} {
		if !must.given {
			r.addf(where, "group %d, endpoint %d has no %s", group, e, must.what)
		}
	}
	ei := group*r.p.EPS() + e
	if q := &f.Local.QPN; q.given && q.v%r.p.Records() != ei {
		r.addf(q.pos, "local qpn %#x: the engine finds endpoint %d of group %d only if the low %d bits are %#x, as in %#x", q.v, e, group,
			bits.Len(uint(r.p.Records()-1)), ei, q.v-q.v%r.p.Records()+ei)
	}
	port := r.number("port", &f.Port, e%r.p.Ports, 0, r.p.Ports-1)
	return e, inc.Endpoint{Valid: true, Host: f.Host.or(host(e)), Port: port,
		LocalIP: f.Local.IP.v, LocalMAC: f.Local.MAC.or(roce.MACFromUint64(defaultMAC + uint64(port))),
		RemoteIP: f.Remote.IP.v, RemoteMAC: f.Remote.MAC.v,
		LocalQPN:      uint32(r.number("local qpn", &f.Local.QPN, defaultQPN+ei, 0, roce.PSNMask)),
		RemoteQPN:     uint32(r.number("remote qpn", &f.Remote.QPN, 0, 0, roce.PSNMask)),
		UDPSourcePort: uint16(r.number("udp_source_port", &f.UDPSourcePort, defaultSourcePort, 0, math.MaxUint16)),
		TTL:           uint8(r.number("ttl", &f.TTL, defaultTTL, 1, 255)), TOS: uint8(r.number("tos", &f.TOS, 0, 0, 255))}
}

// slots gives the group its part of the buffer: the design's window behind the groups before, less if there is no room. In Mode III
// the window is how many slots a pipe has room for, and the pipe may have fewer.
func (r *resolver) slots(g *Group, f *fileGroup) {
	set, per := &g.Set, r.p.Units(g.Set.DType, g.Set.InBand)
	set.SlotBase = f.SlotBase.or(r.units)
	room := (r.p.Slots() - set.SlotBase) / per
	window := r.p.WindowPackets
	switch {
	case f.Pipe.given && r.p.Mode != 3:
		r.addf(f.Pipe.pos, "pipe: this design is of Mode %d, which has none", r.p.Mode)
		return
	case f.Pipe.given && f.Pipe.v < 1:
		r.addf(f.Pipe.pos, "pipe is %d, it must be at least 1", f.Pipe.v)
		return
	case f.Pipe.given && !f.Window.given:
		window = 1 << bits.Len(uint(f.Pipe.v-1))
	case f.Window.given:
		if window = f.Window.v; window < 1 || window&(window-1) != 0 {
			r.addf(f.Window.pos, "window is %d, it must be a power of two", window)
			return
		}
		if f.Pipe.given && f.Pipe.v > window {
			r.addf(f.Pipe.pos, "pipe is %d, a window of %d has no room for it", f.Pipe.v, window)
		}
	default:
		for window > 1 && 2*window > room {
			window /= 2
		}
	}
	set.Log2N = bits.Len(uint(window)) // 2·window slots
	set.PipeSlots = f.Pipe.or(0)
	if 2*window > room {
		r.addf(cmp.Or(f.Window.pos, f.Pipe.pos, f.SlotBase.pos, g.pos),
			"group %d: a window of %d packets takes %d units from %d on, the buffer has %d",
			g.Index, window, 2*window*per, set.SlotBase, r.p.Slots())
	}
	if set.SlotBase < r.units {
		r.addf(f.SlotBase.pos, "slot_base is %d: the groups before take up to %d", set.SlotBase, r.units-1)
	}
	r.units = max(r.units, set.SlotBase+2*window*per)
}

// addresses lists what ARP answers for on each port. There an IP means one MAC.
func (r *resolver) addresses(s *Setup) {
	s.arp = make([]map[roce.IP4]roce.MAC, r.p.Ports)
	for _, g := range s.Groups {
		for _, e := range sortedKeys(g.Ends) {
			ep := g.Ends[e]
			if !s.ARP || ep.Port >= r.p.Ports {
				continue
			}
			if mac, has := s.arp[ep.Port][ep.LocalIP]; has && mac != ep.LocalMAC {
				r.addf(g.pos, "group %d, endpoint %d: with arp, %v on port %d can have one MAC only; it has %v and %v", g.Index, e, ep.LocalIP, ep.Port,
					mac, ep.LocalMAC)
				continue
			}
			if s.arp[ep.Port] == nil {
				s.arp[ep.Port] = map[roce.IP4]roce.MAC{}
			}
			s.arp[ep.Port][ep.LocalIP] = ep.LocalMAC
		}
	}
}

// Program writes everything into an engine and enables the groups.
func (s *Setup) Program(d *ctrl.Driver) (err error) {
	defer fail.Catch(&err, "")
	fail.On(d.SetOptions(s.GapNAK, s.ForeignBypass))
	fail.On(d.SetIPID(s.IPID))
	if s.Pipes != nil {
		fail.On(d.SetPipes(s.Pipes.PipeCtrl, s.Pipes.TimeoutUS))
	}
	for _, from := range sortedKeys(s.Bypass) {
		fail.On(d.SetBypassPort(from, s.Bypass[from]))
	}
	for _, g := range s.Groups {
		fail.On(d.Disable(g.Index))
		for _, e := range sortedKeys(g.Ends) {
			fail.On(d.SetEndpoint(g.Index*s.eps+e, g.Ends[e]))
		}
		fail.On(d.SetGroup(g.Index, g.Set))
		if !fail.Must(d.Enable(g.Index)) {
			fail.Now("group %d: the engine refuses it (docs/engine.md section 6 says why it may)", g.Index)
		}
	}
	return nil
}
