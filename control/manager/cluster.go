// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"incforge/control/placement"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
)

// Cluster is what a topology file says: a network whose engines are not known yet, and where the switches' agents are.
type Cluster struct {
	Network *placement.Network
	// Agents are HOST:PORT by switch.
	Agents map[string]string
	// ReportedMbps is the rate of links that agents report and the file does not have; 0: they are not used.
	ReportedMbps int
}

// ErrTopology is what everything that is wrong with a topology file wraps.
var ErrTopology = errors.New("topology file")

// The file. A link's end is NAME:PORT at a switch, NAME at a host.
type (
	fileCluster struct {
		HopRTTNS strictyaml.Value[int] `yaml:"hop_rtt_ns"`
		Levels   strictyaml.Value[bool]
		Reported strictyaml.Value[int] `yaml:"reported_mbps"`
		Switches []fileSwitch
		Hosts    []strictyaml.Value[string]
		Links    []fileLink
	}
	fileSwitch struct {
		Name, Agent strictyaml.Value[string]
		Level       strictyaml.Value[int]
	}
	fileLink struct {
		A, B strictyaml.Value[string]
		Mbps strictyaml.Value[int]
	}
)

// ReadCluster reads a topology file. The error tells everything that is wrong with it, each mistake with its line and column.
func ReadCluster(path string) (*Cluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	return ParseCluster(path, text)
}

// ParseCluster is ReadCluster of a text; file names it in messages.
func ParseCluster(file string, text []byte) (*Cluster, error) {
	r := &surveyor{Mistakes: strictyaml.Mistakes{File: file}, index: map[string]int{}, agents: map[string]string{}, ports: map[placement.End]yamlpos.Pos{},
		c: &Cluster{Agents: map[string]string{}, Network: &placement.Network{}}}
	var f fileCluster
	if r.Read(text, &f) {
		r.survey(&f)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	if err := r.c.Network.Validate(); err != nil { // which has nothing to say that was not said
		return nil, fmt.Errorf("%w: %s: %w", ErrTopology, file, err)
	}
	return r.c, nil
}

// surveyor checks a topology file.
type surveyor struct {
	strictyaml.Mistakes
	c      *Cluster
	index  map[string]int
	where  []yamlpos.Pos                 // of the nodes
	agents map[string]string             // switches by address
	ports  map[placement.End]yamlpos.Pos // that have a link
}

// mostPort bounds the numbers of ports, so that a typing error is found here.
const mostPort = 1<<16 - 1

func (r *surveyor) survey(f *fileCluster) {
	net := r.c.Network
	net.Levels, net.HopRTT = f.Levels.V, time.Duration(f.HopRTTNS.V)*time.Nanosecond
	switch {
	case !f.HopRTTNS.Given:
		r.Addf(yamlpos.Pos{}, "hop_rtt_ns is missing: the round trip over a link and the switch at its end")
	case f.HopRTTNS.V == 0:
		r.Addf(f.HopRTTNS.Pos, "the round trip of a hop is 0: it must be more")
	}
	if r.c.ReportedMbps = f.Reported.V; f.Reported.Given && f.Reported.V == 0 {
		r.Addf(f.Reported.Pos, "links that are reported have a rate of 0 Mbit/s")
	}
	if len(f.Switches) == 0 {
		r.Addf(yamlpos.Pos{}, "there are no switches")
	}
	for i := range f.Switches {
		r.addSwitch(i, &f.Switches[i], f.Levels.V)
	}
	for i := range f.Hosts {
		r.add(placement.Node{Name: f.Hosts[i].V, Host: true}, f.Hosts[i].Pos)
	}
	for i := range f.Links {
		r.link(i, &f.Links[i])
	}
	linked := map[int]bool{}
	for e := range r.ports {
		linked[e.Node] = true
	}
	for i, n := range net.Nodes {
		if !linked[i] && !f.Reported.Given && n.Name != "" && r.index[n.Name] == i {
			r.Addf(r.where[i], "%s has no link", n.Name)
		}
	}
}

// add adds a node.
func (r *surveyor) add(n placement.Node, at yamlpos.Pos) {
	_, twice := r.index[n.Name]
	switch {
	case n.Name == "": // which was said already
	case !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`).MatchString(n.Name):
		r.Addf(at, "name %q: must be letters, digits, points, hyphens and underscores, a letter or digit first", n.Name)
	case twice:
		r.Addf(at, "there are two nodes %s", n.Name)
	}
	if !twice {
		r.index[n.Name] = len(r.c.Network.Nodes)
	}
	r.c.Network.Nodes, r.where = append(r.c.Network.Nodes, n), append(r.where, at)
}

func (r *surveyor) addSwitch(i int, f *fileSwitch, levels bool) {
	at := cmp.Or(f.Name.Pos, f.Agent.Pos, f.Level.Pos)
	who := f.Name.V
	if !f.Name.Given {
		who = fmt.Sprintf("number %d", i+1)
		r.Addf(at, "switch %s has no name", who)
	}
	switch {
	case levels && !f.Level.Given:
		r.Addf(at, "switch %s has no level: with levels every switch has one, counted from 1 beside the hosts", who)
	case levels && f.Level.V < 1:
		r.Addf(f.Level.Pos, "switch %s is on level %d: levels count from 1", who, f.Level.V)
	case !levels && f.Level.Given:
		r.Addf(f.Level.Pos, "switch %s is on level %d, and the network has none: set levels", who, f.Level.V)
	}
	r.add(placement.Node{Name: f.Name.V, Level: f.Level.V}, at)
	if !f.Agent.Given {
		return
	}
	other, twice := r.agents[f.Agent.V]
	host, port, err := net.SplitHostPort(f.Agent.V)
	switch {
	case f.Agent.V != "" && (err != nil || host == "" || port == ""):
		r.Addf(f.Agent.Pos, "agent %q must be HOST:PORT", f.Agent.V)
	case twice:
		r.Addf(f.Agent.Pos, "the agent at %s is %s's", f.Agent.V, other)
	}
	r.agents[f.Agent.V], r.c.Agents[f.Name.V] = f.Name.V, f.Agent.V
}

func (r *surveyor) link(i int, f *fileLink) {
	link := placement.Link{Mbps: f.Mbps.V}
	at := cmp.Or(f.A.Pos, f.B.Pos, f.Mbps.Pos)
	whole := true
	for j, end := range []*strictyaml.Value[string]{&f.A, &f.B} {
		ok := false
		link.Ends[j], ok = r.end(i, []string{"a", "b"}[j], end, at)
		whole = whole && ok
	}
	switch {
	case !f.Mbps.Given:
		r.Addf(at, "link %d has no mbps", i+1)
	case f.Mbps.V == 0:
		r.Addf(f.Mbps.Pos, "link %d has a rate of 0 Mbit/s", i+1)
	}
	if !whole {
		return
	}
	r.c.Network.Links = append(r.c.Network.Links, link)
	a, b := r.c.Network.Nodes[link.Ends[0].Node], r.c.Network.Nodes[link.Ends[1].Node]
	switch {
	case a.Name == b.Name:
		r.Addf(at, "a link joins %s to itself", a.Name)
	case a.Host && b.Host:
		r.Addf(at, "a link joins two hosts, %s and %s", a.Name, b.Name)
	case r.c.Network.Levels && !a.Host && !b.Host && a.Level == b.Level:
		r.Addf(at, "a link joins %s and %s, which are both on level %d", a.Name, b.Name, a.Level)
	}
}

// end reads an end of link number i.
func (r *surveyor) end(i int, what string, f *strictyaml.Value[string], at yamlpos.Pos) (end placement.End, ok bool) {
	if !f.Given {
		r.Addf(at, "link %d has no %s", i+1, what)
		return end, false
	}
	name, port, hasPort := strings.Cut(f.V, ":")
	n, known := r.index[name]
	if !known || name == "" {
		r.Addf(f.Pos, "link %d: no node is called %q", i+1, name)
		return end, false
	}
	end.Node = n
	host := r.c.Network.Nodes[n].Host
	if !hasPort {
		if !host {
			r.Addf(f.Pos, "link %d: %s is a switch: its end must be %s:PORT", i+1, name, name)
		}
		r.ports[end] = f.Pos
		return end, host
	}
	var err error
	if end.Port, err = strconv.Atoi(port); err != nil || end.Port < 0 || end.Port > mostPort {
		r.Addf(f.Pos, "link %d: %q: %q is no port", i+1, f.V, port)
		return end, false
	}
	if first, twice := r.ports[end]; twice && !host {
		r.Addf(f.Pos, "two links are at port %d of %s: line %d has the other", end.Port, name, first.Line)
	}
	r.ports[end] = f.Pos
	return end, true
}
