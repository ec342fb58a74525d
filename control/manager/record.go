// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"incforge/control/lock"
	"incforge/control/placement"
	"incforge/control/store"
)

// End is one end of a queue pair: IPv4 address and MAC with the first octet in the highest byte.
type End struct {
	QPN uint32 `json:"qpn"`
	IP  uint32 `json:"ip"`
	MAC uint64 `json:"mac"`
	// PSN is the first PSN that it sends and PathMTU the queue pair's, both of a member in Mode I; otherwise 0.
	PSN     uint32 `json:"psn,omitempty"`
	PathMTU uint32 `json:"path_mtu,omitempty"`
}

// Options are what the members of a group ask for alike.
type Options struct {
	Policy     string `json:"policy"`
	Mbps       int    `json:"mbps"`
	Least      int    `json:"least"`
	MTU        int    `json:"mtu"`
	InBand     bool   `json:"in_band"`
	Collective uint32 `json:"collective"`
	Op         uint32 `json:"op"`
	DType      uint32 `json:"dtype"`
	Root       uint32 `json:"root"`
	BigEndian  bool   `json:"big_endian"`
	Whole      bool   `json:"whole_messages,omitempty"`
}

// Kind is an operation and an element type, by their codes.
type Kind struct {
	Op    uint32 `json:"op"`
	DType uint32 `json:"dtype"`
}

// record is what is known of a group. From the decision on the store has it, until nothing of the group is left.
type record struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Tenant  string         `json:"tenant"`
	Members []string       `json:"members"`
	Options Options        `json:"options"`
	Mode    int            `json:"mode"`
	Kind    Kind           `json:"kind"`
	Tree    placement.Tree `json:"tree"`
	Start   uint32         `json:"start"`
	// Ends are the switches' ends, by switch and endpoint; Hosts those of the members, by rank.
	Ends  map[string][]End `json:"ends"`
	Hosts []End            `json:"hosts"`
	// Ring are the members' queue pairs toward the next rank and the one before, of a group that takes turns.
	Ring [][2]End `json:"ring,omitempty"`
	// Ended is why the group is being removed; empty while it is to live.
	Ended string `json:"ended,omitempty"`
}

// State of a group in the manager.
type State string

// The states; docs/control.md has what leads from one to another.
const (
	// Reserving: switches are asked to set aside what the group needs.
	Reserving State = "reserving"
	// Gathering: members make their queue pairs.
	Gathering State = "gathering"
	// Committing: the decision is in the store, and switches are being written.
	Committing State = "committing"
	Ready      State = "ready"
	// Removing: the group has ended; switches are told so.
	Removing State = "removing"
)

// group is a record at work.
type group struct {
	record

	// work is held by who talks to switches about the group. What follows is guarded by the manager's mu, unless it says otherwise.
	work sync.Mutex
	// noted: the store knows that the group has ended. Guarded by work.
	noted bool
	state State
	// keeper asks for the group's turns; nil until it is needed.
	keeper *lock.Keeper
	// decided: there may be a record in the store.
	decided bool
	// deadline is until when members may report; of a group that was removed without a decision, when the last lease has run out.
	deadline, renewed time.Time
	reported          []bool
	// gone are the switches that have removed the group.
	gone map[string]bool
	// watched counts the watches of a member; seen is when there was one last.
	watched []int
	seen    []time.Time
	// placedIn is the round of Poll in which, or after which, it was placed.
	placedIn int

	reserved, ready, over chan struct{} // closed when it is so
	reason                string        // of the end
}

func newGroup(r record, now time.Time) *group {
	n := len(r.Members)
	g := &group{record: r, state: Reserving, reported: make([]bool, n), watched: make([]int, n), seen: make([]time.Time, n), gone: map[string]bool{},
		reserved: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{})}
	if g.Hosts == nil {
		g.Hosts = make([]End, n)
		if g.Options.Policy == temporal {
			g.Ring = make([][2]End, n)
		}
	}
	for i := range g.seen {
		g.seen[i] = now
	}
	return g
}

// live tells that the group has its name: a group that has ended does not.
func (g *group) live() bool { return g.state != Removing }

const (
	groupPrefix  = "group/"
	switchPrefix = "switch/"
	sharePrefix  = "share/"
)

// save writes the record into the store.
func (m *Manager) save(r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("group %s: %w", r.ID, err)
	}
	return m.cfg.Store.Put(groupPrefix+r.ID, text)
}

// load reads the store: groups that were decided, what switches said of their engines, and how far fences may have come.
func (m *Manager) load() error {
	all, err := m.cfg.Store.All()
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := m.loadOne(r); err != nil {
			return fmt.Errorf("store: %s: %w", r.Name, err)
		}
	}
	return nil
}

func (m *Manager) loadOne(r store.Record) error {
	if r.Name == fenceRecord {
		return m.loadFence(r.Data)
	}
	if name, ok := strings.CutPrefix(r.Name, switchPrefix); ok {
		if s := m.switches[name]; s != nil {
			return m.describe(s, string(r.Data))
		}
		return nil // no longer in the file
	}
	if name, ok := strings.CutPrefix(r.Name, sharePrefix); ok {
		if s := m.switches[name]; s != nil {
			return json.Unmarshal(r.Data, &s.share)
		}
		return nil
	}
	if name, ok := strings.CutPrefix(r.Name, portsPrefix); ok {
		if s := m.switches[name]; s != nil {
			return json.Unmarshal(r.Data, &s.neighbours)
		}
		return nil
	}
	var rec record
	if err := json.Unmarshal(r.Data, &rec); err != nil {
		return err
	}
	g := newGroup(rec, m.cfg.Now())
	g.decided, g.deadline = true, m.cfg.Now().Add(2*m.cfg.Patience)
	close(g.reserved)
	for i := range g.reported {
		g.reported[i] = true
	}
	if g.state = Committing; rec.Ended != "" {
		g.state, g.reason, g.noted = Removing, rec.Ended, true
		close(g.over)
	}
	m.groups[g.ID] = g
	return nil
}

// sorted are the groups in the order of their names.
func (m *Manager) sorted() []*group {
	var all []*group
	for _, g := range m.groups { // sorted below
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int { return strings.Compare(a.ID, b.ID) })
	return all
}
