// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/internal/names"
	"incforge/network/topology"
	"incforge/roce"
)

// Collective is the operation that the hosts do.
type Collective uint8

// The collectives, with the engine's numbers.
const (
	AllReduce Collective = inc.CollectiveAllReduce
	Reduce    Collective = inc.CollectiveReduce
	Broadcast Collective = inc.CollectiveBroadcast
	// Barrier is a range's alone; Config.Empty is what a fixed group does in one.
	Barrier Collective = inc.CollectiveBarrier
)

func collectives() names.List[Collective] {
	return names.Of[Collective]("collective", []string{AllReduce: "allreduce", Reduce: "reduce", Broadcast: "broadcast", Barrier: "barrier"}...)
}

// String is the collective's name on command lines.
func (c Collective) String() string { return collectives().Name(c) }

// MarshalText makes it that name in files.
func (c Collective) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads that name, in letters of either case.
func (c *Collective) UnmarshalText(b []byte) (err error) {
	if *c, err = collectives().Parse(strings.ToLower(string(b))); err != nil {
		return fmt.Errorf("%w: %w", err, ErrConfig)
	}
	return nil
}

// ErrConfig means that a configuration describes no model.
var ErrConfig = errors.New("no such model")

// Limits of a model. They keep a payload's lanes apart (see packet.go) and counts in their bytes.
const (
	maxHosts    = 16
	maxRequests = 100
	maxBudget   = 15
	MaxNodes    = 24
)

// defaultStart is the first PSN, so that PSNs wrap after two packets.
const defaultStart roce.PSN = 1<<24 - 2

// Config is one model: the network, what the hosts do, what the links may do to it. The zero value of a field is its default where one
// is named.
type Config struct {
	// Mode is the engine's, 1, 2 or 3.
	Mode int `yaml:"mode" json:"mode"`
	// Collective is done once, by Requests packets, in Mode I messages.
	Collective Collective `yaml:"collective" json:"collective"`
	// Ranges make the group in-band: the hosts do one after the other, each announced by controls, of Requests packets from each sender (a Barrier of
	// none). Collective is allreduce then, which says nothing.
	Ranges []Range `yaml:"ranges,omitempty,flow" json:"ranges,omitempty"`
	// Tree is the topology: "star-S" is one switch with S hosts, "chain-S" a root with S hosts and one switch below it with S more, "L-Y"
	// EPIC's Tree-L-Y, L levels counting the hosts, Y children each.
	Tree string `yaml:"tree" json:"tree"`
	// Requests is the number of packets, in Mode I messages, each sender sends, 1 to 100.
	Requests int `yaml:"requests" json:"requests"`
	// Window is the most packets, in Mode I messages, a sender has unacknowledged, 1 to 100.
	Window int `yaml:"window" json:"window"`
	// Slots is N: in Mode II a power of two, at least 2, default twice the power of two at or above Window; in Modes III and I any
	// number from 1, default Window.
	Slots int `yaml:"slots" json:"slots"`
	// Bytes is the length of a message in Mode I, a multiple of 4, default 8. PathMTUs are the hosts' path MTUs there, 4 or 8 bytes, one after the
	// other and again from the first, default 4 and 8; links between switches have the first.
	Bytes    int   `yaml:"bytes,omitempty" json:"bytes,omitempty"`
	PathMTUs []int `yaml:"path_mtus,omitempty,flow" json:"path_mtus,omitempty"`
	// Loss, Dup, Reorder, Early and RNR say how often in a whole run a packet is lost, delivered twice, delivered before packets sent
	// earlier on its link; a timer expires although something is still on its way; a host has no receive posted. 0 to 15 each.
	Loss    int `yaml:"loss" json:"loss"`
	Dup     int `yaml:"dup" json:"dup"`
	Reorder int `yaml:"reorder" json:"reorder"`
	Early   int `yaml:"early" json:"early"`
	RNR     int `yaml:"rnr" json:"rnr"`
	// Park says how often in a whole run a switch is parked, whenever it is drained; it is unparked at any time afterwards. In Mode II the tree must be
	// a star: those below a switch would have to be parked first (docs/parking.md section 2).
	Park int `yaml:"park,omitempty" json:"park,omitempty"`
	// Free lets the sends of an engine of Mode III or I happen at any time, interleaved with everything else. Otherwise they follow the frame
	// or timer that made them possible at once.
	Free bool `yaml:"free,omitempty" json:"free,omitempty"`
	// Empty sends packets without payload, as a Barrier does.
	Empty bool `yaml:"empty,omitempty" json:"empty,omitempty"`
	// Bad names rules known to be wrong, which the search should find: those of badRules.
	Bad []string `yaml:"bad,omitempty" json:"bad,omitempty"`
}

// refuse ends the making of a model that cannot be.
func refuse(bad bool, format string, args ...any) {
	fail.If(bad, "%s: %w", fmt.Sprintf(format, args...), ErrConfig)
}

// withDefaults sets the defaults and refuses what cannot be modelled.
func (c Config) withDefaults() Config {
	if c.Slots == 0 {
		c.Slots = c.Window
		if c.Mode == 2 {
			c.Slots = 2 << bits.Len(uint(c.Window-1))
		}
	}
	refuse(c.Mode < 1 || c.Mode > 3, "mode %d, modes are 1, 2 and 3", c.Mode)
	refuse(c.Collective > Broadcast, "%v: a fixed group does an AllReduce, a Reduce or a Broadcast", c.Collective)
	refuse(c.Requests < 1 || c.Requests > maxRequests, "%d requests, allowed are 1 to %d", c.Requests, maxRequests)
	refuse(c.Window < 1 || c.Window > maxRequests, "a window of %d, allowed are 1 to %d", c.Window, maxRequests)
	refuse(c.Slots < 1 || c.Slots > 1024, "%d slots, allowed are 1 to 1024", c.Slots)
	if c.Mode == 2 {
		refuse(c.Slots < 2 || c.Slots&(c.Slots-1) != 0, "%d slots in Mode II, where they are a power of two and at least 2", c.Slots)
		refuse(c.Slots < 2*c.Window, "%d slots in Mode II for a window of %d, which takes twice as many", c.Slots, c.Window)
		refuse(c.Free, "free sends in Mode II, whose engines send nothing by themselves")
	}
	c.messages()
	c.inBand()
	refuse(c.Park > 0 && c.Mode == 2 && !strings.HasPrefix(c.Tree, "star-"), "parking in tree %s in Mode II, where it must be a star", c.Tree)
	for _, b := range []int{c.Loss, c.Dup, c.Reorder, c.Early, c.RNR, c.Park} {
		refuse(b < 0 || b > maxBudget, "a budget of %d, allowed are 0 to %d", b, maxBudget)
	}
	for _, name := range c.Bad {
		rule, ok := BadRules()[name]
		refuse(!ok, "rule %s is none of %s", name, strings.Join(slices.Sorted(maps.Keys(BadRules())), ", "))
		refuse(!rule.In(c.Mode), "rule %s is one of mode %s", name, strings.Join(strings.Split(rule.modes, ""), " and "))
		refuse(rule.about == ranges && len(c.Ranges) == 0, "rule %s is about ranges, of which the model has none", name)
		refuse(rule.about != ranges && rule.engine != 0 && len(c.Ranges) > 0, "rule %s is about fixed groups, and the model has ranges", name)
	}
	return c
}

// The lengths of a packet's payload in Mode I, and the longest message.
const (
	shortMTU    = 4
	longMTU     = 8
	longMessage = 64
)

// messages sets the defaults of what Mode I alone has.
func (c *Config) messages() {
	if c.Mode != 1 {
		refuse(c.Bytes != 0 || len(c.PathMTUs) > 0, "messages of %d bytes, path MTUs %v: they are Mode I's", c.Bytes, c.PathMTUs)
		return
	}
	if c.Bytes == 0 && !c.Empty {
		c.Bytes = longMTU
	}
	if len(c.PathMTUs) == 0 {
		c.PathMTUs = []int{shortMTU, longMTU}
	}
	refuse(c.Bytes < 0 || c.Bytes > longMessage || c.Bytes%4 != 0 || c.Empty && c.Bytes != 0, "messages of %d bytes, allowed are multiples of 4 up to %d, 0 if they are empty",
		c.Bytes, longMessage)
	for _, mtu := range c.PathMTUs {
		refuse(mtu != shortMTU && mtu != longMTU, "a path MTU of %d, allowed are %d and %d", mtu, shortMTU, longMTU)
	}
	refuse(max(c.Requests, c.Window)*c.parts(shortMTU) > maxRequests, "%d messages of %d bytes, a window of %d: more than %d packets", c.Requests, c.Bytes, c.Window, maxRequests)
}

// PathMTU is that of a host in Mode I; in other modes, which have none, it is 0.
func (c *Config) PathMTU(host int) int {
	if len(c.PathMTUs) == 0 {
		return 0
	}
	return c.PathMTUs[host%len(c.PathMTUs)]
}

// parts is how many packets a message has on a path.
func (c *Config) parts(mtu int) int { return max((c.Bytes+mtu-1)/mtu, 1) }

// badRule is a rule known to be wrong: the engine's, or the hosts'.
type badRule struct {
	engine inc.Rules
	modes  string // in which it is one, by their numbers
	about  subject
}

// subject is what a rule is about: it is wrong only in models that have that.
type subject uint8

const (
	anything subject = iota
	parking
	ranges
)

// Rules of hosts that are wrong.
const (
	// BadSilentHost is the host's half of B10: it does not acknowledge again what it has.
	BadSilentHost = "B10-host"
	// BadEagerHost begins a range before its part of the one before is complete.
	BadEagerHost = "eager-host"
	// BadImpatientRoot sends the last packet of a Broadcast before its control is acknowledged.
	BadImpatientRoot = "impatient-root"
	// BadEarlyReceives posts receives for the next range before its part of this one is complete.
	BadEarlyReceives = "early-receives"
)

// BadRules are the rules known to be wrong, by their names in Config.Bad, which are those of the findings.
func BadRules() map[string]badRule {
	return map[string]badRule{
		"A1": {inc.RuleA1, "23", anything}, "A2": {inc.RuleA2, "2", anything}, "A9": {inc.RuleA9, "2", anything}, "A10": {inc.RuleA10, "2", anything},
		"B6-ack": {inc.RuleB6Ack, "3", anything}, "B6-assert": {inc.RuleB6Assert, "3", anything}, "B9": {inc.RuleB9, "3", anything}, "B10": {inc.RuleB10, "3", anything},
		"B15": {inc.RuleB15, "3", anything}, BadSilentHost: {0, "123", anything},
		"by-psn": {inc.RuleByPSN, "1", anything}, "ack-full": {inc.RuleAckFull, "1", anything}, "free-first": {inc.RuleFreeFirst, "1", anything},
		"keep-refused": {inc.RuleKeepRefused, "1", anything}, "park-busy": {inc.RuleParkBusy, "123", parking}, "old-psn": {inc.RuleOldPSN, "123", parking},
		"same-offsets": {inc.RuleSameOffsets, "23", ranges}, "one-range": {inc.RuleOneRange, "2", ranges}, "no-reack": {inc.RuleNoReack, "2", ranges},
		"nak-speaks": {inc.RuleNakSpeaks, "2", ranges}, "undrained": {inc.RuleUndrained, "3", ranges},
		BadEagerHost: {0, "2", ranges}, BadImpatientRoot: {0, "2", ranges}, BadEarlyReceives: {0, "2", ranges},
	}
}

// String is the configuration in one line.
func (c Config) String() string {
	does := c.Collective.String()
	if len(c.Ranges) > 0 {
		does = "ranges"
		for _, r := range c.Ranges {
			does += " " + r.String()
		}
	}
	s := fmt.Sprintf("mode %d %s tree %s requests %d window %d slots %d loss %d", c.Mode, does, c.Tree, c.Requests, c.Window, c.Slots, c.Loss)
	for _, f := range []struct {
		name string
		n    int
	}{{"dup", c.Dup}, {"reorder", c.Reorder}, {"early", c.Early}, {"rnr", c.RNR}, {"park", c.Park}} {
		if f.n > 0 {
			s += fmt.Sprintf(" %s %d", f.name, f.n)
		}
	}
	if c.Mode == 1 {
		s += fmt.Sprintf(" bytes %d path MTUs %v", c.Bytes, c.PathMTUs)
	}
	if c.Free {
		s += " free sends"
	}
	if c.Empty {
		s += " empty"
	}
	for _, b := range c.Bad {
		s += " bad " + b
	}
	return s
}

// Network is the nodes of a model, by their numbers: Roles has those of hosts, Engines the switches.
type Network struct {
	Config  Config
	Topo    *topology.Topology
	Roles   []*HostRole
	Engines []*Engine
}

// NewNetwork makes the network of a configuration.
func NewNetwork(c Config) (_ *Network, err error) {
	defer fail.Catch(&err, "")
	c = c.withDefaults()
	t, err := topology.Parse(c.Tree)
	fail.If(err != nil, "%w: %w", err, ErrConfig)
	c.roots(t)
	refuse(len(t.Nodes) > MaxNodes, "tree %q: more than %d nodes", c.Tree, MaxNodes)
	most := maxHosts
	if c.Mode == 1 {
		most = lanes // in every element
	}
	refuse(t.Ranks() < 2 || t.Ranks() > most, "tree %q: %d hosts, allowed are 2 to %d", c.Tree, t.Ranks(), most)
	w := &Network{c, t, make([]*HostRole, len(t.Nodes)), make([]*Engine, len(t.Nodes))}
	for n := range t.Nodes {
		if rank := t.Nodes[n].Rank; rank >= 0 {
			w.Roles[n] = c.role(t, rank)
		} else {
			w.Engines[n] = fail.Must(NewEngine(c, t, n))
		}
	}
	return w, nil
}
