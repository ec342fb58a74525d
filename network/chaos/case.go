// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

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
	DUT string `yaml:"dut"`
	// Levels and Degree are the tree's.
	Levels int `yaml:"levels"`
	Degree int `yaml:"degree"`
	// NoGapNAK clears CTRL.gap_nak.
	NoGapNAK bool `yaml:"no_gap_nak,omitempty"`
	// Pipes are the settings of Mode III engines; Mode II ignores them.
	Pipes Pipes `yaml:"pipes,omitempty"`
	// Latency and BytesPerCycle are those of every link; see fabric.Link.
	Latency       int     `yaml:"latency"`
	BytesPerCycle float64 `yaml:"bytes_per_cycle"`
	// Up and Down are the faults of each link toward the root, and away from it.
	Up   fabric.Faults `yaml:"up,omitempty"`
	Down fabric.Faults `yaml:"down,omitempty"`
	// Events are single faults, in addition to the random ones of Up and Down.
	Events []fabric.Event `yaml:"events,omitempty"`
	// Pauses make the interfaces of an RTL engine hesitate.
	Pauses dut.Pauses `yaml:"pauses,omitempty"`
	// Groups work at the same time.
	Groups []Group `yaml:"groups"`
	// Resets abort a group's calls and repeat them.
	Resets []Reset `yaml:"resets,omitempty"`
}

// Pipes is how engines answer packets that find a pipe full, and their time-out; see comm.Pipes.
type Pipes struct {
	NoRNR     bool  `yaml:"no_rnr,omitempty"`
	RNRTimer  uint8 `yaml:"rnr_timer,omitempty"`
	CNP       bool  `yaml:"cnp,omitempty"`
	TimeoutUS int   `yaml:"timeout_us,omitempty"`
}

// Group is one communicator and its calls, made one after the other.
type Group struct {
	// Message is in packets, Window in messages.
	Message int `yaml:"message"`
	Window  int `yaml:"window"`
	// Pipe is the number of slots of a pipe in Mode III; 0 is the configuration's, or as many as the buffer still has.
	Pipe int `yaml:"pipe,omitempty"`
	// Paced: NICs slow down at CNPs.
	Paced bool `yaml:"paced,omitempty"`
	// PathMTU is the payload of a full packet in bytes; 0 is the switches' MTU.
	PathMTU int `yaml:"path_mtu,omitempty"`
	// Fixed groups are set up by registers: all calls are like the first.
	Fixed     bool `yaml:"fixed,omitempty"`
	BigEndian bool `yaml:"big_endian,omitempty"`
	RootLocal bool `yaml:"root_local,omitempty"`
	// Start is the first PSN; nil draws one.
	Start *uint32 `yaml:"start,omitempty"`
	// Timeout is the NICs' retransmission time-out in cycles; 0 is comm's default, which is never too short.
	Timeout uint64 `yaml:"timeout,omitempty"`
	// RangePackets limits a range; 0 is the protocol's limit.
	RangePackets int    `yaml:"range_packets,omitempty"`
	Calls        []Call `yaml:"calls"`
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

// Tree is the case's tree.
func (c *Case) Tree() topology.Tree { return topology.Tree{Levels: c.Levels, Degree: c.Degree} }

// packets is M·W, rounded up as the switches do.
func (g *Group) packets() int { return ceilPow2(max(g.Message*g.Window, 1)) }

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// kind is the arithmetic of a call.
func (g *Group) kind(c *Call) (arith.Kind, error) {
	k := arith.Kind{BigEndian: g.BigEndian}
	var ok bool
	if k.DType, ok = find(c.DType, arith.FP32, arith.INT32); !ok {
		return k, fmt.Errorf("type %q", c.DType)
	}
	if k.Op, ok = find(c.Op, arith.Sum, arith.Max); !ok {
		return k, fmt.Errorf("operation %q", c.Op)
	}
	return k, nil
}

// find returns the value between first and last with this name; an empty name is the first.
func find[T interface {
	~uint8
	String() string
}](name string, first, last T) (T, bool) {
	for v := first; v <= last; v++ {
		if v.String() == name || name == "" {
			return v, true
		}
	}
	return first, false
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
func (c *Case) YAML() ([]byte, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("case: %w", err)
	}
	return text, nil
}

// validate rejects cases that make no sense. Whether the engine has room for them shows when the world is made.
func (c *Case) validate() error {
	if err := c.Tree().Validate(); err != nil {
		return fmt.Errorf("case: %w", err)
	}
	if len(c.Groups) == 0 {
		return errors.New("case: no group")
	}
	if err := c.validateLinks(); err != nil {
		return fmt.Errorf("case: %w", err)
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		if len(g.Calls) == 0 {
			return fmt.Errorf("case: group %d has no call", i)
		}
		if g.Start != nil && *g.Start > roce.PSNMask {
			return fmt.Errorf("case: group %d: start %#x has more than 24 bits", i, *g.Start)
		}
		for j := range g.Calls {
			call := &g.Calls[j]
			k, err := g.kind(call)
			if err != nil {
				return fmt.Errorf("case: group %d call %d: %w", i, j, err)
			}
			if call.Bytes < 0 || call.Call.Reduces() && call.Bytes%k.DType.Size() != 0 {
				return fmt.Errorf("case: group %d call %d: %d bytes of %s", i, j, call.Bytes, k.DType)
			}
			if call.Root < 0 || call.Root >= c.Tree().Ranks() {
				return fmt.Errorf("case: group %d call %d: root %d of %d ranks", i, j, call.Root, c.Tree().Ranks())
			}
		}
	}
	for i, r := range c.Resets {
		if r.Group < 0 || r.Group >= len(c.Groups) || r.Rank < -1 || r.Rank >= c.Tree().Ranks() {
			return fmt.Errorf("case: reset %d: there is no group %d with a rank %d", i, r.Group, r.Rank)
		}
	}
	return nil
}

// validateLinks is validate for links, their faults and the engines' interfaces.
func (c *Case) validateLinks() error {
	if c.Latency < 0 || !(c.BytesPerCycle >= 0) { // NaN is neither
		return fmt.Errorf("latency %d, bytes_per_cycle %g: must not be negative", c.Latency, c.BytesPerCycle)
	}
	if err := errors.Join(c.Up.Validate(), c.Down.Validate()); err != nil {
		return err
	}
	for i, e := range c.Events {
		if e.Link < 0 || e.Link >= c.links() {
			return fmt.Errorf("event %d: link %d, there are %d", i, e.Link, c.links())
		}
		if slices.ContainsFunc(e.Bits, func(b int) bool { return b < 0 }) {
			return fmt.Errorf("event %d: bits %v: must not be negative", i, e.Bits)
		}
	}
	for _, p := range []float64{c.Pauses.In, c.Pauses.Ready, c.Pauses.Registers} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("pauses: probability %g: must be 0 to 1", p)
		}
	}
	if c.Pauses.Burst < 0 {
		return fmt.Errorf("pauses: burst %d: must not be negative", c.Pauses.Burst)
	}
	return nil
}

// links is how many links the case has: those between switches are shared by the groups, each group has hosts of its own.
func (c *Case) links() int { return c.Tree().Switches() - 1 + c.Tree().Ranks()*len(c.Groups) }

// clone makes a deep copy.
func (c *Case) clone() Case {
	n := *c
	n.Events, n.Resets, n.Groups = slices.Clone(c.Events), slices.Clone(c.Resets), slices.Clone(c.Groups)
	for i := range n.Groups {
		n.Groups[i].Calls = slices.Clone(n.Groups[i].Calls)
	}
	return n
}

// String is the case in one line.
func (c *Case) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s", strings.Join(append([]string{c.Config}, c.Set...), " "), c.Tree())
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
	for _, d := range []struct {
		name string
		f    *fabric.Faults
	}{{"up", &c.Up}, {"down", &c.Down}} {
		fmt.Fprintf(&s, "; %s loss %.3g", d.name, d.f.Loss)
	}
	if n := len(c.Events); n > 0 {
		fmt.Fprintf(&s, "; %d events", n)
	}
	return s.String()
}
