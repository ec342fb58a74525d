// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"incforge/contract"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/live/groups"
	"incforge/live/wire"
	"incforge/roce"
	"incforge/verify/dut"
)

// ErrTopology is what everything that is wrong with a topology file wraps.
var ErrTopology = errors.New("topology file")

// Topology is what a topology file says: switches, whose designs are named and not yet read, and links. README.md describes the file.
type Topology struct {
	Switches []Wanted
	Links    []Link

	file  string
	ports []map[int]yamlpos.Pos // by switch: those with somebody at the far end, and where the file says so
}

// Wanted is a switch of a topology file.
type Wanted struct {
	Name string
	// Config and DUT name the design and its implementation; an empty DUT leaves it to the command line. Groups is the path of the groups file.
	Config, DUT, Groups string
	// Check runs the reference beside the engine, TimeScale is as in Switch; nil leaves either to the command line.
	Check     *bool
	TimeScale *float64
	Bridge    bool
	Ports     []Port
	// Agent is who has the groups, in the place of a groups file; nil: nobody has.
	Agent *WantedAgent
}

// WantedAgent is an agent that is to run beside a switch.
type WantedAgent struct {
	// Listen is HOST:PORT, Own the engine's addresses, Store the path of the agent's file; empty is memory alone.
	Listen string
	Own    groups.Address
	Store  string
	// Shared is how many slots groups that take turns share; 0 is as in agent.Config.
	Shared int
	// Neighbours are the nodes at the other ends of the ports, as far as the file says.
	Neighbours map[int]string
}

// The file as it is.
type (
	fileTopology struct {
		Bridge    strictyaml.Value[bool]
		TimeScale strictyaml.Value[float64] `yaml:"time_scale"`
		Switches  []fileSwitch
		Links     []fileLink
	}
	fileSwitch struct {
		Name, Config, DUT, Groups strictyaml.Value[string]
		Check, Bridge             strictyaml.Value[bool]
		TimeScale                 strictyaml.Value[float64] `yaml:"time_scale"`
		Ports                     []filePort
		Agent                     fileAgent
	}
	fileAgent struct {
		Listen, Store strictyaml.Value[string]
		IP            strictyaml.Value[roce.IP4]
		MAC           strictyaml.Value[roce.MAC]
		Shared        strictyaml.Value[int]
	}
	filePort struct {
		Port               strictyaml.Value[int]
		Host, Mine, Peer   strictyaml.Value[string]
		Card               strictyaml.Value[string]
		Loss, Dup, Reorder strictyaml.Value[float64]
		RateMbit           strictyaml.Value[float64] `yaml:"rate_mbit"`
		DelayUS            strictyaml.Value[float64] `yaml:"delay_us"`
	}
	fileLink struct {
		A, B               strictyaml.Value[string]
		Loss, Dup, Reorder strictyaml.Value[float64]
		RateMbit           strictyaml.Value[float64] `yaml:"rate_mbit"`
		DelayUS            strictyaml.Value[float64] `yaml:"delay_us"`
	}
)

// MaxTimeScale bounds time scales, and their inverse.
const MaxTimeScale = 1e6

// topologist reads a topology file.
type topologist struct {
	strictyaml.Mistakes
	t     *Topology
	dir   string
	mine  map[string]bool
	links [][2]int // pairs of switches
}

// ReadTopology reads a topology file. Paths in it are relative to the file's folder. The error wraps ErrTopology and tells everything that is
// wrong, each with its line.
func ReadTopology(path string) (*Topology, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	r := &topologist{Mistakes: strictyaml.Mistakes{File: path}, t: &Topology{file: path}, dir: filepath.Dir(path), mine: map[string]bool{}}
	var f fileTopology
	if r.Read(text, &f) {
		if len(f.Switches) == 0 {
			r.Addf(yamlpos.Pos{}, "there are no switches")
		}
		for i := range f.Switches {
			r.wanted(&f.Switches[i], &f)
		}
		for i := range f.Links {
			r.link(i, &f.Links[i])
		}
		r.loops(&f)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	return r.t, nil
}

// wanted takes a switch.
func (r *topologist) wanted(f *fileSwitch, all *fileTopology) {
	at := cmp.Or(f.Name.Pos, f.Config.Pos, f.Groups.Pos)
	for _, must := range []struct {
		what  string
		given bool
	}{{"name", f.Name.Given}, {"config", f.Config.Given}, {"groups, and no agent", f.Groups.Given || f.Agent.given()}} {
		if !must.given {
			r.Addf(at, "switch %d has no %s", len(r.t.Switches), must.what)
		}
	}
	w := Wanted{Name: f.Name.V, Config: f.Config.V, DUT: f.DUT.V, Groups: r.path(f.Groups.V), Bridge: f.Bridge.Or(all.Bridge.Or(false))}
	if f.Name.V != "" && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`).MatchString(w.Name) {
		r.Addf(f.Name.Pos, "name %q: must be letters, digits, points, hyphens and underscores, a letter or digit first", w.Name)
	}
	if f.Name.V != "" && r.named(w.Name) >= 0 {
		r.Addf(f.Name.Pos, "switch %s is there already", w.Name)
	}
	if f.DUT.Given && !slices.Contains(dut.Kinds(), dut.Kind(w.DUT)) {
		r.Addf(f.DUT.Pos, "dut is %q, allowed are %v", w.DUT, dut.Kinds())
	}
	if strings.HasSuffix(w.Config, ".yaml") {
		w.Config = r.path(w.Config)
	}
	if f.Check.Given {
		w.Check = &f.Check.V
	}
	for _, s := range []*strictyaml.Value[float64]{&all.TimeScale, &f.TimeScale} {
		if !s.Given {
			continue
		}
		if w.TimeScale = &s.V; !(s.V >= 1/MaxTimeScale && s.V <= MaxTimeScale) {
			r.Addf(s.Pos, "time_scale is %g, allowed are %g to %g", s.V, 1/MaxTimeScale, MaxTimeScale)
		}
	}
	w.Agent = r.agent(f)
	taken := map[int]yamlpos.Pos{}
	for i := range f.Ports {
		p := r.port(&f.Ports[i], i, taken)
		w.Ports = append(w.Ports, p)
		if name := f.Ports[i].Host.V; name != "" && w.Agent != nil {
			w.Agent.Neighbours[p.Number] = name
		}
	}
	r.t.Switches, r.t.ports = append(r.t.Switches, w), append(r.t.ports, taken)
}

// given tells whether the file has an agent.
func (f *fileAgent) given() bool {
	return f.Listen.Given || f.IP.Given || f.MAC.Given || f.Store.Given || f.Shared.Given
}

// agent takes a switch's agent, if it has one.
func (r *topologist) agent(f *fileSwitch) *WantedAgent {
	a := &f.Agent
	at := cmp.Or(a.Listen.Pos, a.IP.Pos, a.MAC.Pos, a.Store.Pos, a.Shared.Pos)
	switch {
	case !a.given():
		return nil
	case f.Groups.Given:
		r.Addf(f.Groups.Pos, "switch %s has an agent: it has the groups, and there can be no file of them", f.Name.V)
	}
	for _, must := range []struct {
		what  string
		given bool
	}{{"listen", a.Listen.Given}, {"ip", a.IP.Given}, {"mac", a.MAC.Given}} {
		if !must.given {
			r.Addf(at, "the agent of switch %s has no %s", f.Name.V, must.what)
		}
	}
	if _, _, err := net.SplitHostPort(a.Listen.V); a.Listen.Given && err != nil {
		r.Addf(a.Listen.Pos, "%q must be HOST:PORT", a.Listen.V)
	}
	if a.MAC.V[0]&1 != 0 {
		r.Addf(a.MAC.Pos, "mac %v is an address of many", a.MAC.V)
	}
	return &WantedAgent{Listen: a.Listen.V, Own: groups.Address{IP: a.IP.V, MAC: a.MAC.V}, Store: r.path(a.Store.V), Shared: a.Shared.V, Neighbours: map[int]string{}}
}

// path is a path of the file, relative to its folder.
func (r *topologist) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(r.dir, p)
}

// named is the switch with a name, -1 if there is none.
func (r *topologist) named(name string) int {
	return slices.IndexFunc(r.t.Switches, func(w Wanted) bool { return w.Name == name })
}

// port takes a port with a socket.
func (r *topologist) port(f *filePort, i int, taken map[int]yamlpos.Pos) Port {
	at := cmp.Or(f.Port.Pos, f.Mine.Pos, f.Peer.Pos, f.Card.Pos)
	p := Port{Number: f.Port.Or(i), Mine: r.path(f.Mine.V), Peer: r.path(f.Peer.V), Card: f.Card.V,
		Faults: ReadFaults(&r.Mistakes, &f.Loss, &f.Dup, &f.Reorder), Shape: wire.Read(&r.Mistakes, &f.RateMbit, &f.DelayUS)}
	switch own := cmp.Or(p.Mine, "eth:"+p.Card); {
	case p.Card != "" && (f.Mine.Given || f.Peer.Given):
		r.Addf(f.Card.Pos, "port %d has a card, and can have no mine and peer", p.Number)
	case p.Card == "" && !(f.Mine.Given && f.Peer.Given):
		r.Addf(at, "port %d needs mine and peer, the paths of its socket and of the far end's, or card, the name of a network card", p.Number)
	case p.Card == "" && p.Mine == p.Peer:
		r.Addf(at, "port %d: mine and peer are the same", p.Number)
	case r.mine[own]:
		r.Addf(cmp.Or(f.Mine.Pos, f.Card.Pos), "%s %s is given twice", map[bool]string{true: "card", false: "socket"}[p.Card != ""], cmp.Or(f.Mine.V, p.Card))
	default:
		r.mine[own] = true
	}
	r.take(taken, p.Number, at)
	return p
}

// take notes that a port has a socket or a link.
func (r *topologist) take(taken map[int]yamlpos.Pos, port int, at yamlpos.Pos) {
	if first, twice := taken[port]; twice {
		r.Addf(at, "port %d is taken by line %d already", port, first.Line)
		return
	}
	taken[port] = at
}

// ReadFaults takes faults from a file, and notes what is wrong with them.
func ReadFaults(m *strictyaml.Mistakes, loss, dup, reorder *strictyaml.Value[float64]) Faults {
	f := Faults{Loss: loss.V, Duplicate: dup.V, Reorder: reorder.V}
	for _, p := range []struct {
		name string
		v    *strictyaml.Value[float64]
	}{{"loss", loss}, {"dup", dup}, {"reorder", reorder}} {
		if !(p.v.V >= 0 && p.v.V <= 1) {
			m.Addf(p.v.Pos, "%s is %g, it must be 0 to 1", p.name, p.v.V)
		}
	}
	return f
}

// link takes link number i.
func (r *topologist) link(i int, f *fileLink) {
	link := Link{A: r.end(i, "a", &f.A, &f.B), B: r.end(i, "b", &f.B, &f.A),
		Faults: ReadFaults(&r.Mistakes, &f.Loss, &f.Dup, &f.Reorder), Shape: wire.Read(&r.Mistakes, &f.RateMbit, &f.DelayUS)}
	if link.A.Switch < 0 || link.B.Switch < 0 {
		return
	}
	r.t.Links = append(r.t.Links, link)
	for _, ends := range [][2]End{{link.A, link.B}, {link.B, link.A}} {
		if a := r.t.Switches[ends[0].Switch].Agent; a != nil {
			a.Neighbours[ends[0].Port] = r.t.Switches[ends[1].Switch].Name
		}
	}
	r.links = append(r.links, [2]int{link.A.Switch, link.B.Switch})
}

// end reads SWITCH:PORT.
func (r *topologist) end(link int, what string, f, other *strictyaml.Value[string]) End {
	none := End{Switch: -1}
	if !f.Given {
		r.Addf(other.Pos, "link %d has no %s", link, what)
		return none
	}
	name, number, ok := strings.Cut(f.V, ":")
	port, err := strconv.Atoi(number)
	sw := r.named(name)
	switch {
	case !ok, err != nil, port < 0:
		r.Addf(f.Pos, "%q must be SWITCH:PORT", f.V)
		return none
	case sw < 0:
		r.Addf(f.Pos, "there is no switch %q", name)
		return none
	}
	r.take(r.t.ports[sw], port, f.Pos)
	return End{sw, port}
}

// loops refuses loops of links whose switches all bridge: frames to all would go round for ever.
func (r *topologist) loops(f *fileTopology) {
	root := make([]int, len(r.t.Switches))
	for i := range root {
		root[i] = i
	}
	var find func(i int) int
	find = func(i int) int {
		if root[i] != i {
			root[i] = find(root[i])
		}
		return root[i]
	}
	for i, l := range r.links {
		if !r.t.Switches[l[0]].Bridge || !r.t.Switches[l[1]].Bridge {
			continue
		}
		a, b := find(l[0]), find(l[1])
		if a == b {
			at := yamlpos.Pos{}
			if len(r.links) == len(f.Links) {
				at = f.Links[i].A.Pos
			}
			r.Addf(at, "this link closes a loop, in which bridged frames would go round for ever: take one away, or set bridge: false for a switch of it")
		}
		root[a] = b
	}
}

// Attached are the numbers of a switch's ports that have a socket or a link. It refuses those that the design has not.
func (t *Topology) Attached(sw int, m *contract.Manifest) ([]int, error) {
	mistakes := strictyaml.Mistakes{File: t.file}
	all := sortedKeys(t.ports[sw])
	for _, n := range all {
		if n >= m.Params.Ports {
			mistakes.Addf(t.ports[sw][n], "port %d: %s has ports 0 to %d", n, m.Name, m.Params.Ports-1)
		}
	}
	if err := mistakes.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	return append([]int{}, all...), nil
}
