// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"incforge/control/placement"
	"incforge/internal/yamlpos"
)

// Cluster is what a topology file says: a network whose engines are not known yet, and where the switches' agents are.
type Cluster struct {
	Network *placement.Network
	// Agents are HOST:PORT by switch.
	Agents map[string]string
}

// The file. A link's end is NAME:PORT at a switch, NAME at a host.
type clusterFile struct {
	HopRTTNS int  `yaml:"hop_rtt_ns"`
	Levels   bool `yaml:"levels"`
	Switches []struct {
		Name  string `yaml:"name"`
		Level int    `yaml:"level"`
		Agent string `yaml:"agent"`
	} `yaml:"switches"`
	Hosts []string `yaml:"hosts"`
	Links []struct {
		A    string `yaml:"a"`
		B    string `yaml:"b"`
		Mbps int    `yaml:"mbps"`
	} `yaml:"links"`
}

// ReadCluster reads a topology file.
func ReadCluster(path string) (*Cluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("topology: %w", err)
	}
	return ParseCluster(path, text)
}

// ParseCluster is ReadCluster of a text; file names it in messages.
func ParseCluster(file string, text []byte) (*Cluster, error) {
	var f clusterFile
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		what, at := yamlpos.Error(err)
		return nil, fmt.Errorf("topology %v: %s", at.In(file), what)
	}
	c := &Cluster{Agents: map[string]string{},
		Network: &placement.Network{Levels: f.Levels, HopRTT: time.Duration(f.HopRTTNS) * time.Nanosecond}}
	var errs []error
	index := map[string]int{}
	add := func(n placement.Node) {
		index[n.Name] = len(c.Network.Nodes)
		c.Network.Nodes = append(c.Network.Nodes, n)
	}
	for _, s := range f.Switches {
		add(placement.Node{Name: s.Name, Level: s.Level})
		if s.Agent != "" {
			c.Agents[s.Name] = s.Agent
		}
	}
	for _, h := range f.Hosts {
		add(placement.Node{Name: h, Host: true})
	}
	for i, l := range f.Links {
		link := placement.Link{Mbps: l.Mbps}
		for j, text := range []string{l.A, l.B} {
			end, err := parseEnd(text, c.Network, index)
			if err != nil {
				errs = append(errs, fmt.Errorf("link %d: %w", i+1, err))
			}
			link.Ends[j] = end
		}
		c.Network.Links = append(c.Network.Links, link)
	}
	if len(errs) == 0 {
		errs = append(errs, c.Network.Validate())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("topology %s: %w", file, err)
	}
	return c, nil
}

func parseEnd(text string, net *placement.Network, index map[string]int) (end placement.End, err error) {
	name, port, hasPort := text, "", false
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		name, port, hasPort = text[:i], text[i+1:], true
	}
	n, ok := index[name]
	if !ok {
		return end, fmt.Errorf("no node is called %q", name)
	}
	end.Node = n
	if !hasPort {
		if !net.Nodes[n].Host {
			return end, fmt.Errorf("%s is a switch: its end must be %s:PORT", name, name)
		}
		return end, nil
	}
	if end.Port, err = strconv.Atoi(port); err != nil || end.Port < 0 {
		return end, fmt.Errorf("%q: %q is no port", text, port)
	}
	return end, nil
}
