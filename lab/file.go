// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"incforge/contract"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/wire"
	"incforge/roce"
	"incforge/verify/dut"
)

// ErrFile is what everything that is wrong with a topology file wraps.
var ErrFile = errors.New("topology file")

// Topology is what a topology file says, checked against the switches' designs. docs/lab.md describes the file.
type Topology struct {
	Name      string
	Bridge    bool
	TimeScale float64 // 0: for each switch what fits it
	Seed      uint64
	Switches  []Switch
	Hosts     []Host
	Links     []Link
	Groups    []Group
	// Manager is nil where the file has the groups, and no manager.
	Manager *Manager
	// Programs are paths of files that all hosts can run by their names; see AddProgram.
	Programs []string

	ports [][]port // by switch, ascending
}

// Manager says how a manager sees the network.
type Manager struct {
	// HopRTT is the round trip over a link and the switch at its end. Mbps is the rate of links that have none of their own.
	HopRTT time.Duration
	Mbps   int
	// Page is HOST:PORT of its page; empty means none.
	Page string
}

// Switch is a switch of a lab.
type Switch struct {
	Name, Config, DUT string
	Check             bool
	IP                roce.IP4
	Manifest          *contract.Manifest
	// Shared is how many slots groups that take turns share, where there is a manager.
	Shared int
	// Setup has the groups as they are at the start.
	Setup *groups.Setup
}

// Host is a guest.
type Host struct {
	Name     string
	IP       roce.IP4
	MAC      roce.MAC
	MemoryMB int
}

// End is an end of a link: of a host, or port of a switch. The other of Host and Switch is -1.
type End struct{ Host, Switch, Port int }

// Link joins a host and a switch, or two switches.
type Link struct {
	Name    string
	A, B    End
	Faults  live.Faults
	Shape   wire.Shape
	Capture string // a path, or nothing
}

// port is a port of a switch with a link.
type port struct{ number, link int }

// The file as it is.
type (
	fileLab struct {
		Name      strictyaml.Value[string]
		Bridge    strictyaml.Value[bool]
		TimeScale strictyaml.Value[float64] `yaml:"time_scale"`
		Seed      strictyaml.Value[int]
		Switches  []fileSwitch
		Hosts     []fileHost
		Links     []fileLink
		Groups    []fileGroup
		Programs  strictyaml.Value[[]string]
		Manager   fileManager
	}
	fileManager struct {
		HopRTTUS strictyaml.Value[int] `yaml:"hop_rtt_us"`
		Mbps     strictyaml.Value[int]
		Page     strictyaml.Value[string]
	}
	fileSwitch struct {
		Name, Config, DUT strictyaml.Value[string]
		Check             strictyaml.Value[bool]
		IP                strictyaml.Value[roce.IP4]
		Shared            strictyaml.Value[int]
	}
	fileHost struct {
		Name     strictyaml.Value[string]
		IP       strictyaml.Value[roce.IP4]
		MAC      strictyaml.Value[roce.MAC]
		MemoryMB strictyaml.Value[int] `yaml:"memory_mb"`
	}
	fileLink struct {
		A, B, Capture      strictyaml.Value[string]
		Loss, Dup, Reorder strictyaml.Value[float64]
		RateMbit           strictyaml.Value[float64] `yaml:"rate_mbit"`
		DelayUS            strictyaml.Value[float64] `yaml:"delay_us"`
	}
	fileGroup struct {
		Name, Collective, DType, Op, Root strictyaml.Value[string]
		BigEndian                         strictyaml.Value[bool] `yaml:"big_endian"`
		InBand                            strictyaml.Value[bool] `yaml:"in_band"`
		Start, Window                     strictyaml.Value[int]
		Hosts                             strictyaml.Value[[]string]
	}
)

// Bounds of a lab. Names become parts of paths of sockets, which are short.
const (
	MaxHosts      = 64
	MaxSwitches   = 64
	maxName       = 24
	leastMemoryMB = 40
	mostMemoryMB  = 4096
	defaultMemory = 64
)

// Loader reads the design of a switch: its CONFIG, and which implementation of it.
type Loader func(config, dut string) (*contract.Manifest, error)

// reader reads a topology file.
type reader struct {
	strictyaml.Mistakes
	t     *Topology
	dir   string
	load  Loader
	names map[string]End
	ends  []yamlpos.Pos // of the links
	ips   map[roce.IP4]string
	macs  map[roce.MAC]string
}

// Read reads a topology file. Paths in it are relative to its folder. The error wraps ErrFile and tells everything that is wrong, each with
// its line.
func Read(path string, load Loader) (*Topology, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	r := &reader{Mistakes: strictyaml.Mistakes{File: path}, dir: filepath.Dir(path), load: load, names: map[string]End{},
		ips: map[roce.IP4]string{}, macs: map[roce.MAC]string{}}
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	var f fileLab
	if r.Read(text, &f) {
		r.topology(&f, base)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return r.t, nil
}

func (r *reader) topology(f *fileLab, base string) {
	r.t = &Topology{Name: f.Name.Or(base), Bridge: f.Bridge.Or(true), TimeScale: f.TimeScale.V, Seed: uint64(f.Seed.Or(1))}
	if !wellNamed(r.t.Name) {
		r.Addf(f.Name.Pos, "name %q: %s", r.t.Name, nameRule)
	}
	if s := f.TimeScale.V; f.TimeScale.Given && !(s >= 1/live.MaxTimeScale && s <= live.MaxTimeScale) {
		r.Addf(f.TimeScale.Pos, "time_scale is %g, allowed are %g to %g", s, 1/live.MaxTimeScale, live.MaxTimeScale)
	}
	if len(f.Switches) == 0 || len(f.Switches) > MaxSwitches {
		r.Addf(yamlpos.Pos{}, "there are %d switches, allowed are 1 to %d", len(f.Switches), MaxSwitches)
	}
	if len(f.Hosts) == 0 || len(f.Hosts) > MaxHosts {
		r.Addf(yamlpos.Pos{}, "there are %d hosts, allowed are 1 to %d", len(f.Hosts), MaxHosts)
	}
	for i := range f.Switches {
		r.aSwitch(i, &f.Switches[i])
	}
	for i := range f.Hosts {
		r.host(i, &f.Hosts[i])
	}
	r.t.ports = make([][]port, len(r.t.Switches))
	for i := range f.Links {
		r.link(&f.Links[i])
	}
	r.connected(f)
	for _, path := range f.Programs.V {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.dir, path)
		}
		if err := r.t.AddProgram(path); err != nil {
			r.Addf(f.Programs.Pos, "%v", err)
		}
	}
	r.manager(f)
	r.groups(f.Groups)
}

// manager takes how the manager sees the network, if there is one.
func (r *reader) manager(f *fileLab) {
	m := &f.Manager
	none := !m.HopRTTUS.Given && !m.Mbps.Given && !m.Page.Given
	r.shared(f, none)
	if none {
		return
	}
	r.t.Manager = &Manager{HopRTT: time.Duration(m.HopRTTUS.V) * time.Microsecond, Mbps: m.Mbps.Or(1000), Page: m.Page.V}
	if m.HopRTTUS.V < 1 {
		r.Addf(cmp.Or(m.HopRTTUS.Pos, m.Mbps.Pos, m.Page.Pos), "a manager needs hop_rtt_us, the round trip over a link and the switch at its end, of at least 1")
	}
	if r.t.Manager.Mbps < 1 {
		r.Addf(m.Mbps.Pos, "mbps is 0, it must be more")
	}
	if len(f.Groups) > 0 {
		r.Addf(f.Groups[0].Name.Pos, "there is a manager: hosts ask it for groups, and the file can have none")
	}
}

// shared checks how many slots groups have in turn. What a design can share beside those in which groups start its agent knows.
func (r *reader) shared(f *fileLab, noManager bool) {
	for i := range f.Switches {
		at, s := &f.Switches[i].Shared, &r.t.Switches[i]
		if at.Given && noManager {
			r.Addf(at.Pos, "switch %s shares slots, and there is no manager that would give groups their turns", s.Name)
		}
		if m := s.Manifest; m != nil && at.V > m.Params.Slots() {
			r.Addf(at.Pos, "shared is %d, allowed are 0 to %d, the slots of %s", at.V, m.Params.Slots(), m.Name)
		}
	}
}

// AddProgram adds a program for all hosts. What it is linked with must be among the guest's libraries, or be none.
func (t *Topology) AddProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("program: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("program %s: it is no file that can be run", path)
	case slices.ContainsFunc(t.Programs, func(other string) bool { return filepath.Base(other) == filepath.Base(path) }):
		return fmt.Errorf("program %s: there is one of that name already", path)
	}
	t.Programs = append(t.Programs, path)
	return nil
}

// nameRule is what wellNamed asks for.
var nameRule = fmt.Sprintf("must be letters, digits and hyphens, a letter or digit first, at most %d", maxName)

func wellNamed(name string) bool {
	return len(name) <= maxName && regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`).MatchString(name)
}

// name notes the name of a switch or a host.
func (r *reader) name(what string, i int, v *strictyaml.Value[string], at yamlpos.Pos, is End) {
	_, twice := r.names[v.V]
	switch {
	case !v.Given:
		r.Addf(at, "%s %d has no name", what, i)
		return
	case v.V == "": // which was said already
		return
	case !wellNamed(v.V):
		r.Addf(v.Pos, "name %q: %s", v.V, nameRule)
	case twice:
		r.Addf(v.Pos, "%s is there already", v.V)
		return
	}
	r.names[v.V] = is
}

// address notes an address, which must be nobody else's.
func address[A comparable](r *reader, has map[A]string, a A, who string, at yamlpos.Pos) {
	if first, taken := has[a]; taken {
		r.Addf(at, "%v is the address of %s", a, first)
		return
	}
	has[a] = who
}

func (r *reader) aSwitch(i int, f *fileSwitch) {
	at := cmp.Or(f.Name.Pos, f.Config.Pos)
	r.name("switch", i, &f.Name, at, End{Host: -1, Switch: i})
	s := Switch{Name: f.Name.V, Config: f.Config.V, DUT: f.DUT.Or("reference"), IP: f.IP.Or(roce.IP4{10, 77, 255, byte(i + 1)}), Shared: f.Shared.V}
	s.Check = f.Check.Or(s.DUT != "reference")
	if strings.HasSuffix(s.Config, ".yaml") && !filepath.IsAbs(s.Config) {
		s.Config = filepath.Join(r.dir, s.Config)
	}
	address(r, r.ips, s.IP, s.Name, cmp.Or(f.IP.Pos, at))
	known := slices.Contains(dut.Kinds(), dut.Kind(s.DUT))
	if !known {
		r.Addf(f.DUT.Pos, "dut is %q, allowed are %v", s.DUT, dut.Kinds())
	}
	switch {
	case !f.Config.Given:
		r.Addf(at, "switch %d has no config", i)
	case known && s.Config != "":
		var err error
		if s.Manifest, err = r.load(s.Config, s.DUT); err != nil {
			r.Addf(cmp.Or(f.Config.Pos, at), "%v", err)
		}
	}
	r.t.Switches = append(r.t.Switches, s)
}

func (r *reader) host(i int, f *fileHost) {
	at := cmp.Or(f.Name.Pos, f.IP.Pos, f.MAC.Pos)
	r.name("host", i, &f.Name, at, End{Host: i, Switch: -1})
	h := Host{Name: f.Name.V, IP: f.IP.Or(roce.IP4{10, 77, 0, byte(i + 1)}), MAC: f.MAC.Or(roce.MAC{0x52, 0x54, 0, 0x77, 0, byte(i + 1)}),
		MemoryMB: f.MemoryMB.Or(defaultMemory)}
	if h.MemoryMB < leastMemoryMB || h.MemoryMB > mostMemoryMB {
		r.Addf(f.MemoryMB.Pos, "memory_mb is %d, allowed are %d to %d", h.MemoryMB, leastMemoryMB, mostMemoryMB)
	}
	if h.MAC[0]&1 != 0 {
		r.Addf(f.MAC.Pos, "mac %v is an address of many", h.MAC)
	}
	address(r, r.ips, h.IP, h.Name, cmp.Or(f.IP.Pos, at))
	address(r, r.macs, h.MAC, h.Name, cmp.Or(f.MAC.Pos, at))
	r.t.Hosts = append(r.t.Hosts, h)
}

func (r *reader) link(f *fileLink) {
	at := cmp.Or(f.A.Pos, f.B.Pos)
	l := Link{Faults: live.ReadFaults(&r.Mistakes, &f.Loss, &f.Dup, &f.Reorder), Shape: wire.Read(&r.Mistakes, &f.RateMbit, &f.DelayUS),
		Capture: f.Capture.V}
	if l.Capture != "" && !filepath.IsAbs(l.Capture) {
		l.Capture = filepath.Join(r.dir, l.Capture)
	}
	if !f.A.Given || !f.B.Given {
		r.Addf(at, "a link needs a and b, each a HOST, a SWITCH or SWITCH:PORT")
		return
	}
	n := len(r.t.Links)
	a, aok := r.end(n, &f.A)
	b, bok := r.end(n, &f.B)
	switch {
	case !aok || !bok:
		return
	case a.Host >= 0 && b.Host >= 0:
		r.Addf(at, "a link between two hosts: there must be a switch at one end")
		return
	case a.Host < 0 && a.Switch == b.Switch:
		r.Addf(at, "both ends are of %s", r.t.Switches[a.Switch].Name)
		return
	}
	l.A, l.B, l.Name = a, b, r.t.nameOf(a)+"-"+r.t.nameOf(b)
	r.t.Links, r.ends = append(r.t.Links, l), append(r.ends, at)
}

// nameOf is the name of who is at an end.
func (t *Topology) nameOf(e End) string {
	if e.Host >= 0 {
		return t.Hosts[e.Host].Name
	}
	return t.Switches[e.Switch].Name
}

// end reads HOST, SWITCH or SWITCH:PORT. A switch without port has the first that is free.
func (r *reader) end(link int, f *strictyaml.Value[string]) (e End, ok bool) {
	name, number, numbered := strings.Cut(f.V, ":")
	e, known := r.names[name]
	switch {
	case f.V == "": // which was said already
		return e, false
	case !known:
		r.Addf(f.Pos, "there is no host and no switch %q", name)
		return e, false
	case e.Host >= 0 && numbered:
		r.Addf(f.Pos, "%q: a host has one port, and no number for it", f.V)
		return e, false
	case e.Host >= 0:
		for _, l := range r.t.Links {
			if l.A.Host == e.Host || l.B.Host == e.Host {
				r.Addf(f.Pos, "%s has a link already: a host has one", name)
				return e, false
			}
		}
		return e, true
	}
	sw, has := &r.t.Switches[e.Switch], r.t.ports[e.Switch]
	for slices.ContainsFunc(has, func(p port) bool { return p.number == e.Port }) {
		e.Port++
	}
	if numbered {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			r.Addf(f.Pos, "%q must be HOST, SWITCH or SWITCH:PORT", f.V)
			return e, false
		}
		e.Port = int(n)
		if slices.ContainsFunc(has, func(p port) bool { return p.number == e.Port }) {
			r.Addf(f.Pos, "port %d of %s has a link already", e.Port, name)
			return e, false
		}
	}
	if m := sw.Manifest; m != nil && e.Port >= m.Params.Ports {
		r.Addf(f.Pos, "port %d: %s has ports 0 to %d", e.Port, m.Name, m.Params.Ports-1)
		return e, false
	}
	at, _ := slices.BinarySearchFunc(has, e.Port, func(p port, n int) int { return p.number - n })
	r.t.ports[e.Switch] = slices.Insert(has, at, port{e.Port, link})
	return e, true
}

// connected refuses hosts without a link and, among switches that bridge, loops, in which frames to all would go round for ever.
func (r *reader) connected(f *fileLab) {
	linked := make([]bool, len(r.t.Hosts))
	root := make([]int, len(r.t.Switches))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	for i, l := range r.t.Links {
		for _, e := range []End{l.A, l.B} {
			if e.Host >= 0 {
				linked[e.Host] = true
			}
		}
		if l.A.Host >= 0 || l.B.Host >= 0 {
			continue
		}
		a, b := find(l.A.Switch), find(l.B.Switch)
		if a == b && r.t.Bridge {
			r.Addf(r.ends[i], "this link closes a loop, in which bridged frames would go round for ever: take one away, or set bridge: false")
		}
		root[a] = b
	}
	for i, yes := range linked {
		if !yes {
			r.Addf(cmp.Or(f.Hosts[i].Name.Pos, f.Hosts[i].IP.Pos), "host %s has no link", r.t.Hosts[i].Name)
		}
	}
}
