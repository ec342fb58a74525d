// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"incforge/contract"
)

// Validate returns nil for parameters that the generator builds, and otherwise Problems: all of them.
func (p Params) Validate() error {
	return p.check(nil).err()
}

// check returns every illegal value. Keys in bad have been reported already; rules that need them are left out, so that one
// mistake makes one message.
func (p Params) check(bad map[string]bool) Problems {
	c := &checker{p: p, wrong: maps.Clone(bad)}
	if c.wrong == nil {
		c.wrong = map[string]bool{}
	}
	c.each()
	c.engines()
	c.priorities()
	c.datapath()
	c.buffer()
	c.payload()
	c.adders()
	c.decision()
	c.ports()
	c.cutThrough()
	c.tree()
	return c.out
}

// checker collects problems.
type checker struct {
	p     Params
	out   Problems
	wrong map[string]bool // keys that were refused, and those that had been before
}

func (c *checker) refuse(key, value, allowed, reason string) {
	c.out = append(c.out, Problem{Key: key, Value: value, Allowed: allowed, Reason: reason})
	c.wrong[key] = true
}

// ok tells whether no rule so far has refused one of the keys.
func (c *checker) ok(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return c.wrong[k] })
}

// each looks at every value by itself.
func (c *checker) each() {
	p := c.p
	for _, f := range fields() {
		if !c.ok(f.key) {
			continue
		}
		v := f.get(&p)
		if !f.in(p.Mode) {
			if c.ok("mode") && v != "0" && v != "false" {
				c.refuse(f.key, v, fmt.Sprintf("left out with mode %d", p.Mode), f.only())
			}
			continue
		}
		if f.accepts(&p) {
			continue
		}
		reason := ""
		if f.reason != nil {
			reason = f.reason(v)
		}
		c.out = append(c.out, Problem{Key: f.key, Value: v, Allowed: f.must(), Reason: reason, Hint: f.hint(v)})
		c.wrong[f.key] = true
	}
}

// engines looks at what several of them need.
func (c *checker) engines() {
	if !c.ok("groups", "engines") {
		return
	}
	if p := c.p; p.Engines > 1 && pow2(p.Groups) != p.Groups {
		c.refuse("groups", strconv.Itoa(p.Groups), fmt.Sprintf("a power of two with engines: %d", p.Engines),
			"the bits of a queue pair number above those that name the group name the engine")
	}
}

// tree looks at what an eager tree does not go with.
func (c *checker) tree() {
	switch p := c.p; {
	case !p.EagerTree || !c.ok("eager_tree"):
	case p.Accumulate != Reproducible && c.ok("accumulate"):
		c.refuse("eager_tree", "true", fmt.Sprintf("false with accumulate: %s", p.Accumulate), "sums in the order of arrival have no tree")
	case p.Mode == 1 && c.ok("mode"):
		c.refuse("eager_tree", "true", "false with mode 1", "pairs of a message's packets are not known to be complete")
	}
}

// priorities looks at what several of them need.
func (c *checker) priorities() {
	switch p := c.p; {
	case p.Priorities == 1 || !c.ok("priorities"):
	case p.PortBytes == 0 && c.ok("port_bytes"):
		c.refuse("priorities", strconv.Itoa(p.Priorities), "1 with port_bytes: 0", "a port without queues has no order to choose")
	}
}

// datapath looks at the bus and the lanes.
func (c *checker) datapath() {
	p := c.p
	if c.ok("bus_bytes", "mtu_bytes") && p.BusBytes > p.MTUBytes/2 {
		c.refuse("bus_bytes", strconv.Itoa(p.BusBytes), fmt.Sprintf("at most %d, half of mtu_bytes (%d)", p.MTUBytes/2, p.MTUBytes),
			"a payload of the MTU is two beats at least: the number of a beat within it has a bit or more")
	}
	if c.ok("bus_bytes", "lanes", "accumulate", "dtypes") {
		if most, reason := p.mostLanes(); p.Lanes > most {
			c.refuse("lanes", strconv.Itoa(p.Lanes), fmt.Sprintf("at most %d for bus_bytes %d and accumulate %s", most, p.BusBytes, p.Accumulate), reason)
		}
	}
}

// buffer looks at the size of the buffer.
func (c *checker) buffer() {
	p := c.p
	if c.ok("buffer_bytes", "mtu_bytes") && p.BufferBytes%p.MTUBytes != 0 {
		c.refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("a multiple of mtu_bytes (%d)", p.MTUBytes),
			"it is made of places for one MTU of payload")
	}
	if c.ok("mode", "message_bytes", "mtu_bytes") && p.Mode == 1 && p.MessageBytes < p.MTUBytes {
		c.refuse("message_bytes", strconv.Itoa(p.MessageBytes), fmt.Sprintf("at least %d, mtu_bytes", p.MTUBytes), "the shortest message is one packet")
	}
	if c.ok("mode", "buffer_bytes", "message_bytes", "mtu_bytes", "members", "accumulate") {
		slot, of := p.planes()*p.placeBytes(), fmt.Sprintf("mtu_bytes (%d)", p.MTUBytes)
		window, key := p.WindowPackets, "window_packets"
		if p.Mode == 1 {
			of, window, key = fmt.Sprintf("message_bytes (%d)", p.MessageBytes), p.WindowMessages, "window_messages"
		}
		if p.Accumulate == Reproducible {
			of += fmt.Sprintf(" · %d payloads, one for every pair of members (%d)", p.planes(), p.Members)
		}
		if p.BufferBytes/slot > maxSlots {
			c.refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at most %d, %d slots of %s", maxSlots*slot+slot-p.MTUBytes, maxSlots, of),
				"slot numbers have at most 16 bits")
		}
		need, factors := 2*window, fmt.Sprintf("2 · %s (%d)", key, window)
		if units := p.Contract().LeastUnits(); units > 1 {
			need, factors = units*need, fmt.Sprintf("%d slots of FP32 a packet of a %d-bit type · %s", units, contract.LaneBits/units, factors)
		}
		if c.ok("buffer_bytes", key, "dtypes") && p.BufferBytes/slot < need {
			c.refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at least %d, %s · %s", need*slot, factors, of), "not one group would fit")
		}
	}
}

// payload looks at the memory that holds the payloads.
func (c *checker) payload() {
	p := c.p
	if c.ok("buffer_bytes", "memory") && p.Memory == MemoryRegisters && p.BufferBytes > maxRegBuffer {
		c.refuse("buffer_bytes", strconv.Itoa(p.BufferBytes), fmt.Sprintf("at most %d with memory: registers", maxRegBuffer),
			"tools do not finish on more flip-flops; use memory: ram")
	}
	if c.ok("payload_banks", "memory") && p.Memory == MemoryRegisters && p.PayloadBanks > 1 {
		c.refuse("payload_banks", strconv.Itoa(p.PayloadBanks), "1 with memory: registers",
			"banks make up for memories of a single port, and flip-flops have as many ports as they are given")
	}
	if c.ok("mode", "payload_banks", "buffer_bytes", "bus_bytes", "lanes", "accumulate", "mtu_bytes", "message_bytes", "members") {
		if rows := p.payloadRows(); p.PayloadBanks > rows/2 {
			c.refuse("payload_banks", strconv.Itoa(p.PayloadBanks), fmt.Sprintf("at most half of the %d rows of the payload memory", rows),
				"a bank is a memory of two rows or more")
		}
	}
}

// adders looks for adders that reach the clock.
func (c *checker) adders() {
	p := c.p
	if _, found := p.resolveStages(); !found && c.ok("clock_mhz", "technology", "adder_stages", "dtypes") {
		all := stageMHz(p.Technology, p.hasFloat())
		c.refuse("clock_mhz", strconv.Itoa(p.ClockMHz), fmt.Sprintf("at most %d with technology: %s and adder_stages: 0", all[len(all)-1], p.Technology),
			fmt.Sprintf("a floating-point adder of %d stages, the most there are, reaches no more; adder_stages from 1 to %d is taken at any clock", len(all), maxStages))
	}
}

// decision looks at the stages of a decision.
func (c *checker) decision() {
	if n := c.p.DecisionStages; c.ok("decision_stages") && n > 0 && n < leastDecisionStages {
		c.refuse("decision_stages", strconv.Itoa(n), fmt.Sprintf("0, %d or %d", leastDecisionStages, mostDecisionStages), "a decision has so many steps, in each of which a frame may be")
	}
}

// ports looks at the ports' queues.
func (c *checker) ports() {
	p := c.p
	if c.ok("port_bytes", "bus_bytes") && p.PortBytes > p.BusBytes {
		c.refuse("port_bytes", strconv.Itoa(p.PortBytes), fmt.Sprintf("at most %d, bus_bytes", p.BusBytes), "a beat of the bus is made of those of a port")
	}
	if c.ok("port_bytes", "port_drop") && p.PortBytes == 0 && p.PortDrop {
		c.refuse("port_drop", "true", "false without port_bytes", "there are no queues that could be full")
	}
	widths := numbers(p.PortWidths)
	if n := len(p.PortWidths); c.ok("ports", "port_widths") && n > 0 && n != p.Ports {
		c.refuse("port_widths", widths, fmt.Sprintf("%d numbers", p.Ports), "a width is that of one port")
	}
	if c.ok("port_bytes", "port_widths") && len(p.PortWidths) > 0 && slices.Max(p.PortWidths) > float64(p.PortBytes) {
		c.refuse("port_widths", widths, fmt.Sprintf("at most %d, port_bytes", p.PortBytes), "that is the widest port that there may be; without it ports have no queues")
	}
	clocks := numbers(p.PortClockMHz)
	if c.ok("port_bytes", "port_clock_mhz") && p.PortBytes == 0 && len(p.PortClockMHz) > 0 {
		c.refuse("port_clock_mhz", clocks, "left out without port_bytes", "clocks meet in the ports' queues")
	}
	if n := len(p.PortClockMHz); c.ok("ports", "port_clock_mhz") && n > 1 && n != p.Ports {
		c.refuse("port_clock_mhz", clocks, fmt.Sprintf("one number, or %d", p.Ports), "a clock is that of all ports, or of one")
	}
}

// mostLanes returns the largest number of lanes that have work in every cycle of some element type, and why more would not.
func (p Params) mostLanes() (most int, reason string) {
	switch {
	case p.Accumulate == Reproducible:
		most = p.BusBytes / 2
		return most, fmt.Sprintf("half of %d lanes add pairs and half reduce the tree, and a beat of 32-bit elements takes 1 cycle: more would stand idle", most)
	case p.hasWide():
		most = p.BusBytes / 2
		return most, fmt.Sprintf("with %d lanes a beat of 16-bit elements takes 1 cycle: more would stand idle", most)
	default:
		most = p.BusBytes / 4
		return most, fmt.Sprintf("with %d lanes a beat of 32-bit elements takes 1 cycle: more would stand idle, and there is no 16-bit type to use them", most)
	}
}
