// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/host"
	"incforge/network/ranges"
	"incforge/roce"
)

// GroupConfig is a communicator. As YAML it has no Fixed and no Rate.
type GroupConfig struct {
	// Message is M, the packets of a message; 0 is 1, in Mode I as many as a slot holds. Window is W, the messages under way; 0 is the configuration's window, or what the buffer
	// has left of it.
	Message int `yaml:"message"`
	Window  int `yaml:"window"`
	// Pipe is N, the slots of a pipe in Mode III, or the messages of a pool in Mode I, where it need not be as large as the window; 0 is the
	// configuration's window, or what the buffer has left of it. Window is then as large. Mode II has no pipes.
	Pipe int `yaml:"pipe,omitempty"`
	// PathMTU is the payload of a full packet in bytes, a multiple of 4; 0 is the switches' MTU.
	PathMTU int `yaml:"path_mtu,omitempty"`
	// PathMTUs are the ranks' own path MTUs in Mode I; where there is none, or 0, PathMTU holds. Mixed draws them instead, those of links between
	// switches too, and how often a rank asks for acknowledgements.
	PathMTUs []int `yaml:"path_mtus,omitempty,flow"`
	Mixed    bool  `yaml:"mixed,omitempty"`
	// Whole and Release are GROUP_MESSAGES of Mode I. Iteration is the messages of every call of a fixed group with Release; no other group has one.
	Whole     bool `yaml:"whole,omitempty"`
	Release   bool `yaml:"release,omitempty"`
	Iteration int  `yaml:"iteration,omitempty"`
	// Fixed makes a group without controls, for requests like this one, whose data does not matter: AllReduce, which does Barriers too, Reduce,
	// Broadcast or Barrier. nil is in-band.
	Fixed *Request `yaml:"-"`
	// BigEndian is the byte order of the elements.
	BigEndian bool `yaml:"big_endian,omitempty"`
	// RootLocal: the root of a Reduce does not send; its host adds its contribution to what comes.
	RootLocal bool `yaml:"root_local,omitempty"`
	// Start is the first PSN of all connections; nil draws one, often close before the wrap.
	Start *roce.PSN `yaml:"start,omitempty"`
	// Timeout is the NICs' in cycles; 0 is several round trips of full windows.
	Timeout uint64 `yaml:"timeout,omitempty"`
	// RangePackets bounds the packets of a range; 0 is 2^20−1, which is the largest.
	RangePackets int `yaml:"range_packets,omitempty"`
	// Rate has the NICs answer CNPs; nil: they only count them. A Line of 0 is the rank's link.
	Rate *host.RateControl `yaml:"-"`
}

const rnrCode = 1 // 10 µs

// Group is one communicator. Make it with World.NewGroup.
type Group struct {
	w      *World
	index  int
	cfg    GroupConfig
	set    inc.Group // what all switches have in common
	start  roce.PSN
	turn   uint32           // how often it was started; gives fresh QPNs
	ends   [][]inc.Endpoint // by switch and endpoint
	edges  []Edge
	mtus   []int // of the edges
	ranks  []*rank
	calls  int    // how many were queued
	base   []int  // the first of its slots, by switch
	parked []bool // by switch
}

// NewGroup puts one more group on every switch, joins its hosts and starts it; time passes meanwhile. In-band groups need the engine's
// in_band.
func (w *World) NewGroup(cfg GroupConfig) (_ *Group, err error) {
	g := &Group{w: w, index: len(w.groups), cfg: cfg}
	defer fail.Catch(&err, "group %d", g.index)
	g.fill()
	left := g.left()
	fail.If(g.units() > left, "a window of %d packets takes %d units of the buffer, of %d are %d left", g.window(), g.units(), w.p.Slots(), left)
	g.set = inc.Group{Log2N: bits.Len(uint(g.window())), BigEndian: cfg.BigEndian, PipeSlots: g.cfg.Pipe}
	if w.pipes() {
		w.needTimeout(g.paths(1, g.inPipe())) // a pipe's hop
	}
	g.parked = make([]bool, len(w.drv))
	for s := range w.drv {
		base, _ := g.free(s, false)
		g.base = append(g.base, base)
	}
	g.newNumbers()
	g.program()
	for i, edge := range g.edges {
		up := g.ends[edge.Switch][edge.Endpoint]
		if edge.Rank < 0 {
			down := g.ends[edge.Child][w.topo.Degree(edge.Child)]
			w.net.Join(edge.Switch, up.Port, up.LocalMAC, edge.Child, down.Port, down.LocalMAC, edge.link)
			continue
		}
		r := g.newRank(edge, up, g.mtus[i])
		g.ranks = append(g.ranks, r)
		w.net.AddHost(edge.Switch, up.Port, r.host, edge.link)
	}
	fail.On(w.catchUp())
	w.groups = append(w.groups, g)
	return g, nil
}

// fill sets the defaults of the configuration and rejects what is impossible.
func (g *Group) fill() {
	c, p := &g.cfg, g.w.p
	fit := func(size *int, most int) { // the most, or half of it as often as the buffer asks
		if *size == 0 {
			for *size = most; *size > 1 && g.units() > g.left(); {
				*size /= 2
			}
		}
	}
	if g.w.messages() {
		g.fillMessages(fit)
	}
	c.Message = max(c.Message, 1)
	if g.w.messages() {
		c.Window = cmp.Or(c.Window, c.Pipe)
	} else if g.w.pipes() {
		fit(&c.Pipe, p.WindowPackets)
		c.Window = cmp.Or(c.Window, max(c.Pipe/c.Message, 1))
	} else if c.Pipe != 0 {
		fail.Now("pipes of %d slots: Mode II has none", c.Pipe)
	}
	fit(&c.Window, max(p.WindowPackets/c.Message, 1))
	c.PathMTU, c.RangePackets = cmp.Or(c.PathMTU, p.MTUBytes), cmp.Or(c.RangePackets, ranges.Most)
	fail.If(g.index >= p.AllGroups(), "the switch has %d groups", p.AllGroups())
	fail.If(c.Window < 1 || c.Message*c.Window > inc.MaxSlots/4, "a window of %d messages of %d packets", c.Window, c.Message)
	fail.If(g.w.pipes() && (c.Pipe < 1 || c.Pipe > inc.MaxSlots/4), "pipes of %d slots", c.Pipe)
	fail.If(!g.w.messages() && (len(c.PathMTUs) > 0 || c.Mixed || c.Whole || c.Release || c.Iteration != 0), "path MTUs of ranks, whole messages and releases are Mode I's")
	mtu := c.PathMTU
	fail.If(mtu < 4 || mtu%4 != 0 || mtu > p.MTUBytes, "path MTU %d: must be a multiple of 4 up to %d", mtu, p.MTUBytes)
	most := c.RangePackets
	fail.If(most < 1 || most > ranges.Most, "ranges of %d packets: 1 to %d are possible", most, ranges.Most)
	if f := c.Fixed; f != nil {
		fail.If(f.Root < 0 || f.Root >= g.Ranks(), "root %d of %d ranks", f.Root, g.Ranks())
		fail.If(f.Collective > Barrier, "a group cannot be fixed to %s", f.Collective)
	}
	if len(g.w.cfg.Others) > 0 {
		g.mixes()
	}
	g.edges = g.findEdges()
	g.mtus = g.pathMTUs()
	c.Timeout = cmp.Or(c.Timeout, g.timeout())
}

// window is half of the group's slots, a power of two: MW, the packets under way, rounded up, or, in Mode III, the slots of a pipe.
func (g *Group) window() int {
	n := g.cfg.Message * g.cfg.Window
	if g.w.pipes() {
		n = g.cfg.Pipe
	}
	return 1 << bits.Len(uint(n-1))
}

// units is the number of buffer units that the group takes.
func (g *Group) units() int {
	packet := g.w.p.MostUnits()
	if f := g.cfg.Fixed; f != nil {
		packet = g.w.p.Units(uint8(f.DType), false)
	}
	return 2 * g.window() * packet
}

// timeout is some round trips of full windows of all hosts through the tree, several groups at a time.
func (g *Group) timeout() uint64 {
	packets := g.cfg.Message * g.cfg.Window
	if g.w.pipes() { // its hop is as far as a host hears, but its packets wait for whole pipes on the way
		packets = max(packets, g.inPipe())
	}
	return g.paths(g.w.cfg.Tree.Levels, packets)
}

// inPipe is how many packets there are in a full pipe, or pool.
func (g *Group) inPipe() int {
	if g.w.messages() {
		return max(g.cfg.Pipe, g.cfg.Window) * g.cfg.Message * g.cfg.PathMTU / slices.Min(g.mtus)
	}
	return g.cfg.Pipe
}

// paths is some round trips over so many levels, with so many packets of each endpoint through one switch, at the pace of the slowest of link,
// bus and adders.
func (g *Group) paths(levels, packets int) uint64 {
	p, degree := g.w.p, g.w.cfg.Tree.Degree
	pace, latency, jitter := float64(p.BusBytes)/float64(p.CyclesPerBeat()), 1, 0
	for _, e := range g.edges {
		if e.link.BytesPerCycle > 0 {
			pace = min(pace, e.link.BytesPerCycle)
		}
		latency, jitter = max(latency, e.link.Latency), max(jitter, e.link.Up.Jitter, e.link.Down.Jitter)
	}
	mtu := g.cfg.PathMTU
	if g.w.messages() { // inPipe counts the shortest
		mtu = slices.Min(g.mtus)
	}
	perPacket := uint64(float64(mtu+90)/pace) + 30
	return uint64(4*levels*(latency+200)+2*levels*jitter) + perPacket*uint64(packets*(degree+1)*2*min(p.AllGroups(), 4))
}

// findEdges lists the edges, those of a switch together.
func (g *Group) findEdges() (all []Edge) {
	nodes := g.w.topo.Nodes
	for _, n := range nodes[1:] {
		edge := Edge{Group: g.index, Switch: nodes[n.Parent].Switch, Endpoint: n.Slot, Child: n.Switch, Rank: n.Rank}
		edge.link = g.w.link(edge)
		all = append(all, edge)
	}
	return all
}

// newNumbers draws the first PSN and makes the endpoints with QPNs that nobody has used yet.
func (g *Group) newNumbers() {
	w, t := g.w, g.w.topo
	switch {
	case g.cfg.Start != nil:
		g.start = *g.cfg.Start & roce.PSNMask
	default:
		g.start = g.firstPSN()
	}
	g.turn++
	records := uint32(w.p.Records())
	fail.If(g.turn*records > roce.PSNMask, "no QPN is left that was not used before")
	g.ends = nil
	for s := range t.Switches {
		ends := make([]inc.Endpoint, bits.Len32(t.EdgeMask(s)))
		for e := range ends {
			ei := uint32(g.index*w.p.EPS() + e)
			ends[e] = inc.Endpoint{Valid: true, Port: w.port(e), LocalQPN: g.turn*records | ei, LocalIP: switchIP(s),
				LocalMAC: switchMAC(g.index, s, e), UDPSourcePort: 0xC000 | uint16(w.rng.Uint32()&0x3FFF), TTL: 64}
		}
		g.ends = append(g.ends, ends)
	}
	for i, edge := range g.edges { // both ends of an edge know each other
		up := &g.ends[edge.Switch][edge.Endpoint]
		if w.messages() {
			up.RQPSN, up.SQPSN, up.PathMTU = g.firstPSN(), g.firstPSN(), g.mtus[i]
		}
		if !w.terminates(edge.Switch) || edge.Child >= 0 && !w.terminates(edge.Child) { // START is both ends'
			up.RQPSN, up.SQPSN = g.start, g.start
		}
		if edge.Rank >= 0 {
			up.Host, up.RemoteQPN, up.RemoteIP, up.RemoteMAC = true, g.hostQPN(), hostIP(edge.Rank), hostMAC(g.index, edge.Rank)
			continue
		}
		down := &g.ends[edge.Child][t.Degree(edge.Child)]
		down.RQPSN, down.SQPSN, down.PathMTU = up.SQPSN, up.RQPSN, up.PathMTU
		up.RemoteQPN, up.RemoteIP, up.RemoteMAC = down.LocalQPN, down.LocalIP, down.LocalMAC
		down.RemoteQPN, down.RemoteIP, down.RemoteMAC = up.LocalQPN, up.LocalIP, up.LocalMAC
	}
}

// firstPSN draws a first PSN, often close before the wrap.
func (g *Group) firstPSN() roce.PSN {
	if g.w.rng.IntN(2) == 0 {
		return roce.PSN(0).Add(-1 - g.w.rng.IntN(40))
	}
	return roce.PSN(g.w.rng.Uint32() & roce.PSNMask)
}

// hostQPN is the QPN of the group's connections on every host: they count up from 17.
func (g *Group) hostQPN() uint32 { return 17 + uint32(g.index) + (g.turn-1)*uint32(g.w.p.AllGroups()) }

// newRank makes the host at the far end of ep.
func (g *Group) newRank(edge Edge, ep inc.Endpoint, mtu int) *rank {
	rate := g.cfg.Rate
	if rate != nil && rate.Line == 0 {
		own := *rate
		own.Line = edge.link.BytesPerCycle
		rate = &own
	}
	cfg := host.Config{MAC: ep.RemoteMAC, PeerMAC: ep.LocalMAC, IP: ep.RemoteIP, PeerIP: ep.LocalIP, QPN: ep.RemoteQPN,
		PeerQPN: ep.LocalQPN, UDPPort: 0xC000 | uint16(g.w.rng.Uint32()&0x3FFF), TTL: 64, Start: g.start, PathMTU: mtu,
		Window: host.NICWindow, Timeout: g.cfg.Timeout, RNRCode: rnrCode, CyclesPerMicrosecond: g.w.p.CyclesPerMicrosecond(), Rate: rate}
	if g.w.messages() {
		cfg.Start, cfg.Expect, cfg.Strict = ep.RQPSN, &ep.SQPSN, true
	}
	if g.cfg.Mixed {
		cfg.AskEvery = 1 + g.w.rng.IntN(64)
	}
	h := fail.Must(host.New(cfg))
	h.SetReceives(0)
	r := &rank{g: g, n: edge.Rank, edge: edge, host: h}
	h.OnCompletion = r.completion
	return r
}

// program writes the group's registers on every switch and enables it.
func (g *Group) program() {
	for s := range g.w.drv {
		fail.On(g.programSwitch(s))
	}
}

func (g *Group) programSwitch(s int) (err error) {
	defer fail.Catch(&err, "switch %d", s)
	drv := g.w.drv[s]
	fail.On(drv.Disable(g.index))
	for e, ep := range g.ends[s] {
		err := drv.SetEndpoint(g.index*g.w.p.EPS()+e, ep)
		fail.If(err != nil, "endpoint %d: %w", e, err)
	}
	fail.On(drv.SetGroup(g.index, g.settings(s)))
	fail.If(!fail.Must(drv.Enable(g.index)), "the engine refuses the group's settings")
	return nil
}

// settings are the group's registers on switch s: those of the AllReduce tree, or of the tree re-rooted for a fixed Reduce or Broadcast.
func (g *Group) settings(s int) inc.Group {
	t, set := g.w.topo, g.set
	set.SlotBase = g.base[s]
	set.Start, set.WholeMessages, set.Release, set.Iteration = g.start, g.cfg.Whole, g.cfg.Release, g.cfg.Iteration
	set.InMask, set.OutMask, set.AckMask = t.ChildMask(s), t.ChildMask(s), t.HostMask(s)
	if s > 0 {
		set.Parent, set.HasParent = t.Degree(s), true
	}
	f := g.cfg.Fixed
	if f == nil {
		k := g.w.kinds()[0]
		set.DType, set.Op = uint8(k.DType), uint8(k.Op)
		set.InBand, set.RootSends = true, !g.cfg.RootLocal
		for root := range min(g.Ranks(), inc.Roots) {
			set.Route[root] = inc.Route{Valid: true, Endpoint: uint8(t.Toward(s, root))}
		}
		return set
	}
	set.Collective, set.DType, set.Op = uint8(f.Collective), uint8(f.DType), uint8(f.Op)
	to := t.Toward(s, f.Root)
	rest := t.EdgeMask(s) &^ (1 << to)
	switch f.Collective {
	case Reduce:
		set.InMask, set.OutMask, set.AckMask = rest, 0, 1<<to
		if !g.cfg.RootLocal {
			set.InMask |= 1 << to & t.HostMask(s) // its own, where it is
		}
		set.Parent, set.HasParent = to, true
	case Broadcast:
		set.InMask, set.OutMask, set.AckMask = 0, rest, rest
		set.Parent, set.HasParent = to, true
	}
	return set
}

// Config is the configuration with nothing left out.
func (g *Group) Config() GroupConfig { return g.cfg }

// Ranks is the number of ranks.
func (g *Group) Ranks() int { return g.w.topo.Ranks() }

// Host is a rank's NIC. Calls that need one that was killed never end; Reset brings it back.
func (g *Group) Host(rank int) *host.Host { return g.ranks[rank].host }

// Reset ends all calls of the group with ErrReset and starts it over on all switches and hosts, with fresh QPNs and another first PSN. What
// is still on the links for the old connections is then ignored. Other groups are not affected.
func (g *Group) Reset() (err error) {
	defer fail.Catch(&err, "group %d", g.index)
	for _, r := range g.ranks {
		for _, s := range r.queue {
			if !s.call.done {
				s.call.end(ErrReset)
			}
		}
	}
	g.newNumbers()
	g.program()
	for _, r := range g.ranks {
		ep := g.ends[r.edge.Switch][r.edge.Endpoint]
		r.reset(ep)
	}
	g.w.err = nil
	for _, other := range g.w.groups { // whose errors stay
		for _, r := range other.ranks {
			g.w.err = cmp.Or(g.w.err, r.err)
		}
	}
	return nil
}

// rest returns an error for each host that is not idle.
func (g *Group) rest() error {
	var errs []error
	for _, r := range g.ranks {
		h := r.host
		if err := h.Err(); err != nil {
			errs = append(errs, fmt.Errorf("group %d rank %d: %w", g.index, r.n, err))
		}
		if !h.Dead() && (!h.Drained() || h.Receives() != 0 || len(r.queue) > 0) {
			errs = append(errs, fmt.Errorf("group %d %s: its queues are not empty", g.index, r))
		}
	}
	return errors.Join(errs...)
}
