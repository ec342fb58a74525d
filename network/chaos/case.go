// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"incforge/internal/fail"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// Case is everything about a run. Times are in cycles.
type Case struct {
	// Seed seeds the links' faults, the engines' initial state and the first PSNs that are not given.
	Seed uint64 `yaml:"seed"`
	// Config and Set name the engine: a preset or parameter file, and the parameters overridden in it.
	Config string   `yaml:"config"`
	Set    []string `yaml:"set,omitempty,flow"`
	// DUT is what runs: reference, rtl or mixed.
	DUT           string `yaml:"dut"`
	topology.Tree `yaml:",inline"`
	// NoGapNAK clears CTRL.gap_nak.
	NoGapNAK bool `yaml:"no_gap_nak,omitempty"`
	// Pipes are the settings of engines of Modes III and I; Mode II ignores them.
	Pipes comm.Pipes `yaml:"pipes,omitempty"`
	// Link is what every link looks like, Up being toward the root.
	fabric.Link `yaml:",inline"`
	// Events are single faults, in addition to the random ones of Up and Down.
	Events []fabric.Event `yaml:"events,omitempty"`
	// Pauses make the interfaces of an RTL engine hesitate.
	Pauses dut.Pauses `yaml:"pauses,omitempty"`
	// Groups work at the same time.
	Groups []Group `yaml:"groups"`
	// Resets abort a group's calls and repeat them.
	Resets []Reset `yaml:"resets,omitempty"`
	// Parks take groups' slots away for a time, in engines that have it.
	Parks []Park `yaml:"parks,omitempty"`
}

// Group is one communicator and its calls, made one after the other.
type Group struct {
	comm.GroupConfig `yaml:",inline"`
	// Paced: NICs slow down at CNPs.
	Paced bool `yaml:"paced,omitempty"`
	// Fixed groups are set up by registers: all calls are like the first.
	Fixed bool   `yaml:"fixed,omitempty"`
	Calls []Call `yaml:"calls"`
}

// Call is one collective. Seed decides the data.
type Call struct {
	Call  comm.Collective `yaml:"call"`
	Root  int             `yaml:"root,omitempty"`
	DType string          `yaml:"dtype,omitempty"`
	Op    string          `yaml:"op,omitempty"`
	// Bytes is a rank's tensor: what it gives.
	Bytes int `yaml:"bytes"`
	// Smooth uses numbers whose float sum is inexact, so that the result is compared with float64 within a tolerance.
	Smooth bool   `yaml:"smooth,omitempty"`
	Seed   uint64 `yaml:"seed"`
}

// Reset restarts a group in the middle: At cycles after the calls began a rank's host dies, or nobody if Rank is −1; For cycles later the
// group is reset on all switches, the host is back, and the calls that had not ended begin again.
type Reset struct {
	Group int    `yaml:"group"`
	Rank  int    `yaml:"rank"`
	At    uint64 `yaml:"at"`
	For   uint64 `yaml:"for"`
}

// packets is M·W, rounded up as the switches do.
func (g *Group) packets() int { return 1 << bits.Len(uint(max(g.Message*g.Window, 1)-1)) }

// kind is the arithmetic of a call, which must be valid.
func (g *Group) kind(c *Call) arith.Kind {
	k, _ := g.find(c)
	return k
}

// find reads the names of a call's type and operation; where there is none it is the first.
func (g *Group) find(c *Call) (arith.Kind, error) {
	all := arith.Kinds(math.MaxUint32, math.MaxUint32)
	i := slices.IndexFunc(all, func(k arith.Kind) bool {
		return k.BigEndian == g.BigEndian && (c.DType == "" || k.DType.String() == c.DType) && (c.Op == "" || k.Op.String() == c.Op)
	})
	if i < 0 {
		return arith.Kind{BigEndian: g.BigEndian}, fmt.Errorf("type %q, operation %q: there is no such arithmetic", c.DType, c.Op)
	}
	return all[i], nil
}

// Parse reads a case from YAML. Unknown keys are errors.
func Parse(text []byte) (Case, error) {
	var c Case
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("case: %w", err)
	}
	return c, c.validate()
}

// YAML writes the case as Parse reads it.
func (c *Case) YAML() ([]byte, error) { return yaml.Marshal(c) }

// validate rejects cases that make no sense. Whether the engine has room for them shows when the world is made.
func (c *Case) validate() (err error) {
	defer fail.Catch(&err, "case")
	fail.On(c.Tree.Validate())
	fail.If(len(c.Groups) == 0, "no group")
	c.validateLinks()
	ranks := c.Tree.Ranks()
	for i := range c.Groups {
		g := &c.Groups[i]
		fail.If(len(g.Calls) == 0, "group %d has no call", i)
		if g.Start != nil {
			fail.If(*g.Start > roce.PSNMask, "group %d: start %#x has more than 24 bits", i, *g.Start)
		}
		for j := range g.Calls {
			call := &g.Calls[j]
			k, err := g.find(call)
			fail.If(err != nil, "group %d call %d: %w", i, j, err)
			whole := !call.Call.Reduces() || call.Bytes%k.DType.Size() == 0
			fail.If(call.Bytes < 0 || !whole, "group %d call %d: %d bytes of %s", i, j, call.Bytes, k.DType)
			fail.If(call.Root < 0 || call.Root >= ranks, "group %d call %d: root %d of %d ranks", i, j, call.Root, ranks)
		}
	}
	for i, r := range c.Resets {
		known := r.Group >= 0 && r.Group < len(c.Groups) && r.Rank >= -1 && r.Rank < ranks
		fail.If(!known, "reset %d: there is no group %d with a rank %d", i, r.Group, r.Rank)
	}
	for i, p := range c.Parks {
		fail.If(p.Group < 0 || p.Group >= len(c.Groups), "park %d: there is no group %d", i, p.Group)
	}
	return nil
}

// validateLinks is validate for links, their faults and the engines' interfaces.
func (c *Case) validateLinks() {
	positive := c.Latency >= 0 && c.BytesPerCycle >= 0 // NaN is not
	fail.If(!positive, "latency %d, bytes_per_cycle %g: must not be negative", c.Latency, c.BytesPerCycle)
	fail.On(errors.Join(c.Up.Validate(), c.Down.Validate()))
	for i, e := range c.Events {
		fail.If(e.Link < 0 || e.Link >= c.links(), "event %d: link %d, there are %d", i, e.Link, c.links())
		negative := slices.ContainsFunc(e.Bits, func(b int) bool { return b < 0 })
		fail.If(negative, "event %d: bits %v: must not be negative", i, e.Bits)
	}
	for _, p := range []float64{c.Pauses.In, c.Pauses.Ready, c.Pauses.Registers} {
		fail.If(!(p >= 0 && p <= 1), "pauses: probability %g: must be 0 to 1", p)
	}
	fail.If(c.Pauses.Burst < 0, "pauses: burst %d: must not be negative", c.Pauses.Burst)
}

// links is how many links the case has: those between switches are shared by the groups, each group has hosts of its own.
func (c *Case) links() int { return c.Tree.Switches() - 1 + c.Tree.Ranks()*len(c.Groups) }

// clone makes a deep copy.
func (c *Case) clone() Case {
	n := *c
	n.Events, n.Resets, n.Parks, n.Groups = slices.Clone(c.Events), slices.Clone(c.Resets), slices.Clone(c.Parks), slices.Clone(c.Groups)
	for i := range n.Groups {
		n.Groups[i].Calls = slices.Clone(n.Groups[i].Calls)
	}
	return n
}

// String is the case in one line.
func (c *Case) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s", strings.Join(append([]string{c.Config}, c.Set...), " "), c.Tree)
	for i := range c.Groups {
		g := &c.Groups[i]
		fmt.Fprintf(&s, "; %dx%d", g.Window, g.Message)
		if g.Pipe > 0 {
			fmt.Fprintf(&s, " pipes of %d", g.Pipe)
		}
		if g.Fixed {
			s.WriteString(" fixed")
		}
		for j := range g.Calls {
			fmt.Fprintf(&s, " %s/%d", g.Calls[j].Call, g.Calls[j].Bytes)
		}
	}
	fmt.Fprintf(&s, "; up loss %.3g; down loss %.3g", c.Up.Loss, c.Down.Loss)
	if n := len(c.Events); n > 0 {
		fmt.Fprintf(&s, "; %d events", n)
	}
	return s.String()
}
