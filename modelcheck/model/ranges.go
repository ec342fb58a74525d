// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/topology"
	"incforge/roce"
)

// Range is a collective of an in-band group, which its ranks announce by a control.
type Range struct {
	Collective Collective
	// Root is the number of the host that a Reduce leads to and a Broadcast comes from.
	Root int
}

// String is the collective, of one with a root with the root: "allreduce", "reduce:1".
func (r Range) String() string {
	if r.rooted() {
		return fmt.Sprintf("%v:%d", r.Collective, r.Root)
	}
	return r.Collective.String()
}

// MarshalText is String.
func (r Range) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String writes. Without a number the root is host 0.
func (r *Range) UnmarshalText(text []byte) error {
	name, root, named := strings.Cut(string(text), ":")
	if err := r.Collective.UnmarshalText([]byte(name)); err != nil {
		return err
	}
	r.Root = 0
	if !named {
		return nil
	}
	n, err := strconv.ParseUint(root, 10, 8)
	if err != nil || !r.rooted() {
		return fmt.Errorf("range %q: a Reduce and a Broadcast have a root, which is a host's number: %w", text, ErrConfig)
	}
	r.Root = int(n)
	return nil
}

// ParseRanges reads ranges, for a command line.
func ParseRanges(texts []string) (all []Range, err error) {
	for _, text := range texts {
		var r Range
		if err := r.UnmarshalText([]byte(text)); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (r Range) rooted() bool { return r.Collective == Reduce || r.Collective == Broadcast }

// packets is how many follow the control.
func (r Range) packets(c *Config) int {
	if r.Collective == Barrier {
		return 0
	}
	return c.Requests
}

// sends tells whether a host sends in the range, its control first.
func (r Range) sends(host int) bool {
	return !r.rooted() || (r.Collective == Reduce) == (host != r.Root)
}

// hears tells whether a host gets what is sent in the range.
func (r Range) hears(host int) bool {
	return !r.rooted() || (r.Collective == Broadcast) == (host != r.Root)
}

// lanes are those who contribute to what is heard.
func (r Range) lanes(hosts int) uint32 {
	all, root := uint32(1)<<hosts-1, uint32(1)<<r.Root
	switch r.Collective {
	case Reduce:
		return all &^ root
	case Broadcast:
		return root
	}
	return all
}

// control is the packet that opens the range, on a wire of the group's own numbers.
func (r Range) control(c *Config, psn int) Packet {
	says := inc.Control{Collective: uint8(r.Collective), Op: inc.OpSum, DType: inc.DTypeINT32, Root: uint8(r.Root), Packets: r.packets(c)}
	return Packet{Op: roce.SendOnlyImm, PSN: int16(psn), Imm: says.Immediate()}
}

// inBand refuses ranges that cannot be modelled.
func (c *Config) inBand() {
	if len(c.Ranges) == 0 {
		return
	}
	refuse(c.Mode == 1, "ranges in Mode I, whose in-band groups are not modelled")
	refuse(c.Collective != AllReduce, "ranges %v and collective %v: a group is in-band or does one collective", c.Ranges, c.Collective)
	refuse(c.Park > 0, "ranges and parking together")
	packets := 0
	for _, r := range c.Ranges {
		packets += 1 + r.packets(c)
	}
	refuse(packets > maxRequests, "%d ranges of %d packets: %d packets, allowed are %d with the controls", len(c.Ranges), c.Requests, packets, maxRequests)
}

// roots refuses roots that are no hosts of the tree.
func (c *Config) roots(t *topology.Topology) {
	for _, r := range c.Ranges {
		refuse(r.Root >= len(t.Hosts), "range %v: %s has hosts 0 to %d", r, c.Tree, len(t.Hosts)-1)
	}
}

// Kind tells hosts apart that no symmetry exchanges: those of equal kinds do the same. In Mode I it is the path MTU, with ranges who is a root.
func (c *Config) Kind(host int) int {
	if slices.ContainsFunc(c.Ranges, func(r Range) bool { return r.rooted() && r.Root == host }) {
		return 1 + host
	}
	return c.PathMTU(host)
}

// Fixed is the host that no symmetry exchanges with another, -1 if there is none.
func (c *Config) Fixed(t *topology.Topology) int {
	if c.Collective == AllReduce {
		return -1
	}
	return CommRoot(t)
}

// ranged makes a group of an engine in-band: its roles are those of an AllReduce, and it knows the way to every host.
func (e *Engine) ranged(t *topology.Topology, s int) {
	e.Group.InBand = true
	for rank := range t.Hosts {
		e.Group.Route[rank] = inc.Route{Valid: true, Endpoint: uint8(t.Toward(s, rank))}
	}
}

// plan is what a host sends and hears in the ranges of an in-band group. Its PSNs are those of the host's wire: whoever has no part in a range spends none.
type plan struct {
	sends, hears []Packet
	// sendAt and hearAt are where in these each range begins, and behind the last one where they end.
	sendAt, hearAt []uint8
	// confirmed are the ranges whose last packet waits for the control's acknowledgement: the sender's of a Broadcast.
	confirmed []bool
	// exchanged are the ranges in which a host hears as many packets as it sends, one for one.
	exchanged []bool

	eager     bool // wrong: the next range begins before this one is complete
	impatient bool // wrong: the last packet of a Broadcast waits for nothing
	ready     bool // wrong: there are receives for all ranges from the first on
}

// planOf is a host's.
func (c *Config) planOf(t *topology.Topology, host int) *plan {
	p := &plan{
		eager: slices.Contains(c.Bad, BadEagerHost), impatient: slices.Contains(c.Bad, BadImpatientRoot), ready: slices.Contains(c.Bad, BadEarlyReceives),
	}
	group := 0
	note := func() {
		p.sendAt, p.hearAt = append(p.sendAt, uint8(len(p.sends))), append(p.hearAt, uint8(len(p.hears)))
	}
	for _, r := range c.Ranges {
		note()
		p.confirmed = append(p.confirmed, r.Collective == Broadcast && r.sends(host))
		p.exchanged = append(p.exchanged, !r.rooted())
		packets := r.packets(c)
		if r.sends(host) {
			p.sends = append(p.sends, r.stream(c, t, len(p.sends), group, 1<<host)...)
		}
		if r.hears(host) {
			p.hears = append(p.hears, r.stream(c, t, len(p.hears), group, r.lanes(len(t.Hosts)))...)
		}
		group += 1 + packets
	}
	note()
	return p
}

// stream is the range's packets on a wire from a PSN on, with the contributions of some. group is the group's own number of the control.
func (r Range) stream(c *Config, t *topology.Topology, wire, group int, from uint32) []Packet {
	all := []Packet{r.control(c, wire)}
	for i := 1; i <= r.packets(c); i++ {
		data := Packet{Op: roce.SendOnly, PSN: int16(wire + i)}
		if !c.Empty {
			data.Length, data.Payload = uint8(payloadBytes(t)), lanesOf(from, int16(group+i))
		}
		all = append(all, data)
	}
	return all
}

// at is the range that a host is in: all before it are complete for it, which is when all that it sent is acknowledged and all it was to get is
// there. It is their number if all are.
func (p *plan) at(h *Host) int {
	k := 0
	for k+1 < len(p.sendAt) && h.Base >= p.sendAt[k+1] && h.Expected >= p.hearAt[k+1] {
		k++
	}
	return k
}

// maySend is the number of packets that a host may have sent by now: the rules for hosts of docs/engine.md section 3.3.
func (p *plan) maySend(h *Host) uint8 {
	all := uint8(len(p.sends))
	k := p.at(h)
	switch {
	case k == len(p.confirmed):
		return all
	case p.confirmed[k] && h.Base == p.sendAt[k] && !p.impatient:
		return p.sendAt[k+1] - 1
	case p.eager:
		return all
	}
	return p.sendAt[k+1]
}

// posted tells whether a host has a receive for a number: one for each packet of the range that it is in.
func (p *plan) posted(h *Host, number uint8) bool {
	k := p.at(h)
	return p.ready || k == len(p.confirmed) || number < p.hearAt[k+1]
}

// unheard says of which of the packets before Base a host has no result though it was acknowledged, in an AllReduce or Barrier of Mode II.
func (p *plan) unheard(h *Host) error {
	for k, both := range p.exchanged {
		if !both || h.Base <= p.sendAt[k] {
			continue
		}
		if acked := min(h.Base, p.sendAt[k+1]) - p.sendAt[k]; p.hearAt[k]+acked > h.Expected {
			return fmt.Errorf("%d packets of range %d are acknowledged, of whose results %d are there", acked, k, max(h.Expected, p.hearAt[k])-p.hearAt[k])
		}
	}
	return nil
}

// planned gives a role the ranges.
func (r *HostRole) planned(c *Config, t *topology.Topology) {
	r.plan = c.planOf(t, r.number)
	r.Send, r.Receive = uint8(len(r.plan.sends)), uint8(len(r.plan.hears))
	fail.If(r.Send == 0 && r.Receive == 0, "host %d has nothing to do: %w", r.number, ErrConfig)
}
