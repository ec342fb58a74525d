// SPDX-License-Identifier: Apache-2.0

// Package groups reads what an engine at sockets is set up with: the groups file, and the groups that come, change and go later. It fills in
// defaults, checks everything against the design and against the groups that there are, and writes it into the engine.
package groups

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// Setup is what a groups file says, with defaults filled in and checked against a design. The README of package live describes the file.
type Setup struct {
	// ARP makes requests for an endpoint's local IP answered on its port with its local MAC.
	ARP bool
	// GapNAK and ForeignBypass are register CTRL, IPID is IP_ID.
	GapNAK, ForeignBypass bool
	IPID                  uint16
	// Bypass is BYPASS_PORT by port. What is not in it is returned by the engine to its own port, and ends there.
	Bypass map[int]int
	// Pipes are the registers of Modes III and I, nil in Mode II.
	Pipes *Pipes
	// AckEvery is ACK_EVERY of Mode I; 0 leaves it as after reset.
	AckEvery uint8
	// Groups are in the order of the file.
	Groups []Group

	p     contract.Params
	ports []int                   // that have somebody at the far end; nil are all
	arp   []map[roce.IP4]roce.MAC // what ARP answers, by port
	local map[roce.MAC]bool       // the engine's addresses
	own   *Address                // that the engine has without a group, too
}

// Address is an engine's that an agent has: port p has MAC + p.
type Address struct {
	IP  roce.IP4
	MAC roce.MAC
}

// At is the MAC of a port.
func (a *Address) At(port int) roce.MAC { return roce.MACFromUint64(a.MAC.Uint64() + uint64(port)) }

// Managed is a setup without groups: an agent has them. The engine answers ARP for its address on all ports.
func Managed(m *contract.Manifest, own Address) *Setup {
	s := &Setup{p: m.Params, Bypass: map[int]int{}, ARP: true, GapNAK: true, IPID: contract.DefaultIPID, own: &own}
	if m.Params.Pipes() {
		s.Pipes = &Pipes{inc.PipeCtrl{RNR: true, RNRTimer: 1}, defaultPipeTimeoutUS}
	}
	s.list()
	return s
}

// Pipes are registers PIPE_CTRL and PIPE_TIMEOUT, the time-out in the hosts' time.
type Pipes struct {
	inc.PipeCtrl
	TimeoutUS uint16
}

// Timeout is the time-out as an engine has it whose time is scaled so much: at least 1.
func (p *Pipes) Timeout(scale float64) uint16 {
	return uint16(min(max(math.Ceil(float64(p.TimeoutUS)*scale), 1), math.MaxUint16))
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

	pos  yamlpos.Pos
	file fileGroup
}

// The file as it is. A key is its field's name in lower case, unless the tag says otherwise.
type (
	fileSetup struct {
		ARP           strictyaml.Value[bool]
		GapNAK        strictyaml.Value[bool] `yaml:"gap_nak"`
		ForeignBypass strictyaml.Value[bool] `yaml:"foreign_bypass"`
		IPID          strictyaml.Value[int]  `yaml:"ip_id"`
		Bypass        []fileBypass
		Pipes         filePipes
		Groups        []fileGroup
	}
	filePipes struct {
		RNR, CNP  strictyaml.Value[bool]
		RNRTimer  strictyaml.Value[int] `yaml:"rnr_timer"`
		TimeoutUS strictyaml.Value[int] `yaml:"timeout_us"`
		AckEvery  strictyaml.Value[int] `yaml:"ack_every"`
	}
	fileBypass struct{ From, To strictyaml.Value[int] }
	fileGroup  struct {
		Group, Parent, Start, Window, Pipe strictyaml.Value[int]
		SlotBase                           strictyaml.Value[int] `yaml:"slot_base"`
		Collective, DType, Op              strictyaml.Value[string]
		BigEndian                          strictyaml.Value[bool] `yaml:"big_endian"`
		InBand                             strictyaml.Value[bool] `yaml:"in_band"`
		RootSends                          strictyaml.Value[bool] `yaml:"root_sends"`
		Whole                              strictyaml.Value[bool] `yaml:"whole_messages"`
		In, Out, Ack, Routes               strictyaml.Value[[]int]
		Endpoints                          []fileEndpoint
	}
	fileEndpoint struct {
		Endpoint, Port, TTL, TOS strictyaml.Value[int]
		UDPSourcePort            strictyaml.Value[int] `yaml:"udp_source_port"`
		RQPSN                    strictyaml.Value[int] `yaml:"rq_psn"`
		SQPSN                    strictyaml.Value[int] `yaml:"sq_psn"`
		PathMTU                  strictyaml.Value[int] `yaml:"path_mtu"`
		Host                     strictyaml.Value[bool]
		Local, Remote            fileEnd
	}
	fileEnd struct {
		MAC strictyaml.Value[roce.MAC]
		IP  strictyaml.Value[roce.IP4]
		QPN strictyaml.Value[int]
	}
)

// What endpoints have unless the file says otherwise.
const (
	defaultSourcePort = 49152
	defaultTTL        = 64
	defaultQPN        = 0x100000         // plus the endpoint's table index
	defaultMAC        = 0x0249_4E43_0000 // locally administered; plus the port
)

// ErrSetup is what everything that is wrong with a groups file wraps.
var ErrSetup = errors.New("groups file")

// Read reads a groups file for the design that m describes, of which ports have somebody at the far end; nil are all. The error wraps
// ErrSetup and tells everything that is wrong, each with its line.
func Read(path string, m *contract.Manifest, ports []int) (*Setup, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return Parse(path, text, m, ports)
}

// Parse is Read of a text; file names it in messages.
func Parse(file string, text []byte, m *contract.Manifest, ports []int) (*Setup, error) {
	s := &Setup{p: m.Params, ports: ports, Bypass: map[int]int{}}
	r := s.resolver(file, -1)
	var f fileSetup
	if r.Read(text, &f) {
		r.setup(s, &f)
	}
	return s, r.failure()
}

// ParseGroup reads the mapping of one more group, as groups files have it, and checks it against the groups that there are.
func (s *Setup) ParseGroup(file string, text []byte) (g Group, err error) {
	r := s.resolver(file, -1)
	var f fileGroup
	if !r.Read(text, &f) {
		return g, r.failure()
	}
	place := 0
	for s.At(Number(s.p, place)) >= 0 {
		place++
	}
	return s.checked(r, place, &f)
}

// ParseChange is the group with that index, as it would be if its file had in places what text has: keys of a group, all that are not to
// stay as they are.
func (s *Setup) ParseChange(index int, file string, text []byte) (g Group, err error) {
	at := s.At(index)
	if at < 0 {
		return g, fmt.Errorf("%w: there is no group %d", ErrSetup, index)
	}
	r := s.resolver(file, index)
	f := s.Groups[at].file
	ends := f.Endpoints
	f.Endpoints = nil
	if !r.Read(text, &f) {
		return g, r.failure()
	}
	if f.Endpoints == nil {
		f.Endpoints = ends
	}
	if f.Group.Or(index) != index {
		r.Addf(f.Group.Pos, "group is %d: a group's number cannot be changed, this is %d", f.Group.V, index)
	}
	f.Group.V, f.Group.Given = index, true
	return s.checked(r, index, &f)
}

// checked is the group that f makes, at that place among those of the switch unless f has its number.
func (s *Setup) checked(r *resolver, place int, f *fileGroup) (Group, error) {
	g := r.group(place, f)
	if at := s.At(g.Index); at >= 0 && g.Index != r.but {
		r.Addf(g.pos, "group %d is there already", g.Index)
	}
	r.addresses(append(s.others(r.but), g), s.ARP)
	return g, r.failure()
}

// At is where in Groups a group is, -1 if there is none with that index.
func (s *Setup) At(index int) int {
	return slices.IndexFunc(s.Groups, func(g Group) bool { return g.Index == index })
}

// others are the groups but one.
func (s *Setup) others(but int) []Group {
	return slices.DeleteFunc(slices.Clone(s.Groups), func(g Group) bool { return g.Index == but })
}

// Put puts a group in the place of the one with its index, or behind the others.
func (s *Setup) Put(g Group) {
	if at := s.At(g.Index); at >= 0 {
		s.Groups[at] = g
	} else {
		s.Groups = append(s.Groups, g)
	}
	s.list()
}

// Remove takes a group away.
func (s *Setup) Remove(index int) {
	s.Groups = s.others(index)
	s.list()
}

// resolver fills in defaults and checks.
type resolver struct {
	strictyaml.Mistakes
	p       contract.Params
	ports   []int
	but     int // the group that is about to be replaced, -1 if none is
	taken   []taken
	remotes map[remote]string
}

// taken are the units of the buffer that a group has, and remote is who is at the far end of an endpoint.
type (
	taken  struct{ group, engine, first, beyond int }
	remote struct {
		ip  roce.IP4
		qpn uint32
	}
)

// Answers are the addresses for which ARP answers on a port.
func (s *Setup) Answers(port int) map[roce.IP4]roce.MAC { return s.arp[port] }

// Local tells whether an address is the engine's.
func (s *Setup) Local(mac roce.MAC) bool { return s.local[mac] }

// EndpointOf is the endpoint with a local QPN.
func (s *Setup) EndpointOf(qpn uint32) (g *Group, e int, ok bool) {
	ei := int(qpn) % s.p.Records()
	at := s.At(ei / s.p.EPS())
	if at < 0 {
		return nil, 0, false
	}
	g, e = &s.Groups[at], ei%s.p.EPS()
	ep, has := g.Ends[e]
	return g, e, has && ep.LocalQPN == qpn
}

// resolver knows what the groups have, but for one.
func (s *Setup) resolver(file string, but int) *resolver {
	r := &resolver{Mistakes: strictyaml.Mistakes{File: file}, p: s.p, ports: s.ports, but: but, remotes: map[remote]string{}}
	for _, g := range s.others(but) {
		r.take(&g)
		for _, e := range slices.Sorted(maps.Keys(g.Ends)) {
			r.remotes[remote{g.Ends[e].RemoteIP, g.Ends[e].RemoteQPN}] = fmt.Sprintf("group %d, endpoint %d", g.Index, e)
		}
	}
	return r
}

// failure is everything that was found wrong.
func (r *resolver) failure() error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return nil
}

// number is a number of the file, which must be in low … high, or def where the file has none.
func (r *resolver) number(what string, a *strictyaml.Value[int], def, low, high int) int {
	if a.Given && (a.V < low || a.V > high) {
		r.Addf(a.Pos, "%s is %d, allowed are %d to %d", what, a.V, low, high)
	}
	return a.Or(def)
}

// code is the place of a word among names, those of the design being in built; def where the file has none.
func (r *resolver) code(what string, a *strictyaml.Value[string], names []string, built uint32, def uint8) uint8 {
	switch c := slices.Index(names, a.V); {
	case !a.Given, a.V == "": // which was said already
	case c < 0:
		r.Addf(a.Pos, "%s is %q, allowed are %s", what, a.V, strings.Join(names, ", "))
	case built>>c&1 == 0:
		r.Addf(a.Pos, "%s %s is not built into this design, which has %s", what, a.V, listed(names, built))
	default:
		return uint8(c)
	}
	return def
}

// listed are the names whose bits are set.
func listed(names []string, set uint32) string {
	var has []string
	for i, name := range names {
		if set>>i&1 != 0 {
			has = append(has, name)
		}
	}
	return strings.Join(has, ", ")
}

func (r *resolver) setup(s *Setup, f *fileSetup) {
	s.ARP, s.GapNAK, s.ForeignBypass = f.ARP.Or(false), f.GapNAK.Or(true), f.ForeignBypass.Or(false)
	s.AckEvery = uint8(r.number("ack_every", &f.Pipes.AckEvery, 0, 1, math.MaxUint8))
	s.IPID, s.Pipes = uint16(r.number("ip_id", &f.IPID, contract.DefaultIPID, 0, math.MaxUint16)), r.pipes(&f.Pipes)
	for i, b := range f.Bypass {
		if !b.From.Given || !b.To.Given {
			r.Addf(cmp.Or(b.From.Pos, b.To.Pos), "bypass %d needs from and to", i)
			continue
		}
		from := r.number("from", &b.From, 0, 0, r.p.Ports-1)
		if _, twice := s.Bypass[from]; twice {
			r.Addf(b.From.Pos, "port %d has a bypass already", from)
		}
		s.Bypass[from] = r.number("to", &b.To, 0, 0, r.p.Ports-1)
	}
	for _, b := range f.Bypass {
		if _, ok := s.Bypass[b.To.V]; b.To.Given && !ok {
			r.Addf(b.To.Pos, "port %d must have a bypass of its own: without one, what is bypassed ends there", b.To.V)
		}
	}
	if f.Groups == nil {
		r.Addf(yamlpos.Pos{}, "there are no groups")
	}
	for i := range f.Groups {
		g := r.group(i, &f.Groups[i])
		if s.At(g.Index) >= 0 {
			r.Addf(g.pos, "group %d is there already", g.Index)
		}
		s.Groups = append(s.Groups, g)
	}
	r.addresses(s.Groups, s.ARP)
	s.list()
}

// pipes are Mode III's and I's, and nothing in Mode II.
func (r *resolver) pipes(f *filePipes) *Pipes {
	p := &Pipes{inc.PipeCtrl{RNR: f.RNR.Or(true), CNP: f.CNP.Or(false), RNRTimer: uint8(r.number("rnr_timer", &f.RNRTimer, 1, 0, 31))},
		uint16(r.number("timeout_us", &f.TimeoutUS, defaultPipeTimeoutUS, 0, math.MaxUint16))}
	if pos := f.AckEvery.Pos; pos.Known() && r.p.Mode != 1 {
		r.Addf(pos, "ack_every is Mode I's, this design is of Mode %d", r.p.Mode)
	}
	if r.p.Pipes() {
		return p
	}
	if pos := cmp.Or(f.RNR.Pos, f.CNP.Pos, f.RNRTimer.Pos, f.TimeoutUS.Pos); pos.Known() {
		r.Addf(pos, "pipes are Mode III's and I's, this design is of Mode %d", r.p.Mode)
	}
	return nil
}

// addresses checks that ARP answers for an IP with one MAC on each port.
func (r *resolver) addresses(groups []Group, arp bool) {
	has := map[int]map[roce.IP4]roce.MAC{}
	for _, g := range groups {
		for _, e := range slices.Sorted(maps.Keys(g.Ends)) {
			ep := g.Ends[e]
			if mac, known := has[ep.Port][ep.LocalIP]; arp && known && mac != ep.LocalMAC {
				r.Addf(g.pos, "group %d, endpoint %d: with arp, %v on port %d can have one MAC only; it has %v and %v", g.Index, e, ep.LocalIP, ep.Port,
					mac, ep.LocalMAC)
				continue
			}
			if has[ep.Port] == nil {
				has[ep.Port] = map[roce.IP4]roce.MAC{}
			}
			has[ep.Port][ep.LocalIP] = ep.LocalMAC
		}
	}
}

// list lists the addresses that the engine has on each port.
func (s *Setup) list() {
	s.arp, s.local = make([]map[roce.IP4]roce.MAC, s.p.Ports), map[roce.MAC]bool{}
	for i := range s.arp {
		s.arp[i] = map[roce.IP4]roce.MAC{}
		if s.own != nil {
			s.arp[i][s.own.IP] = s.own.At(i)
			s.local[s.own.At(i)] = true
		}
	}
	for _, g := range s.Groups {
		for _, ep := range g.Ends {
			s.local[ep.LocalMAC] = true
			if s.ARP && ep.Port < s.p.Ports {
				s.arp[ep.Port][ep.LocalIP] = ep.LocalMAC
			}
		}
	}
}

// Program writes everything into an engine whose time is scaled so much, and enables the groups.
func (s *Setup) Program(d *ctrl.Driver, scale float64) (err error) {
	defer fail.Catch(&err, "")
	fail.On(d.SetOptions(s.GapNAK, s.ForeignBypass))
	fail.On(d.SetIPID(s.IPID))
	if s.Pipes != nil {
		fail.On(d.SetPipes(s.Pipes.PipeCtrl, s.Pipes.Timeout(scale)))
	}
	if s.AckEvery > 0 {
		fail.On(d.SetAckEvery(s.AckEvery))
	}
	for _, from := range slices.Sorted(maps.Keys(s.Bypass)) {
		fail.On(d.SetBypassPort(from, s.Bypass[from]))
	}
	for i := range s.Groups {
		fail.On(s.Groups[i].Program(d, s.p.EPS()))
	}
	return nil
}

// Program writes the group's registers and enables it.
func (g *Group) Program(d *ctrl.Driver, eps int) (err error) {
	defer fail.Catch(&err, "")
	fail.On(d.Disable(g.Index))
	for _, e := range slices.Sorted(maps.Keys(g.Ends)) {
		fail.On(d.SetEndpoint(g.Index*eps+e, g.Ends[e]))
	}
	fail.On(d.SetGroup(g.Index, g.Set))
	if !fail.Must(d.Enable(g.Index)) {
		fail.Now("group %d: the engine refuses it (docs/engine.md section 6 says why it may)", g.Index)
	}
	return nil
}
