// SPDX-License-Identifier: Apache-2.0

package axis

import (
	"bytes"
	"fmt"
)

// Rule is a numbered rule of the protocol checker. Rules 1 to 5 are those of AMBA
// AXI4-Stream (IHI 0051) and of this project's streams; 6 is IHI 0051 section 2.8.2
// (tvalid low in reset); 7 and 8 are bounds that a bench may set.
type Rule int

// The rules.
const (
	RuleValidHeld      Rule = 1 // tvalid stays high until tready
	RulePayloadHeld    Rule = 2 // tdata, tkeep, tlast and tuser stay the same until tready
	RuleKeepContiguous Rule = 3 // tkeep is contiguous from bit 0
	RuleKeepFull       Rule = 4 // tkeep is all ones but on the last beat
	RuleKeepNotZero    Rule = 5 // no beat without a byte
	RuleReset          Rule = 6 // tvalid is low in the cycle after one with reset
	RuleLength         Rule = 7 // no frame longer than SetMaxFrame
	RuleStall          Rule = 8 // no beat waits longer than SetStallLimit
)

// String says what broke.
func (r Rule) String() string {
	switch r {
	case RuleValidHeld:
		return "tvalid fell before tready"
	case RulePayloadHeld:
		return "payload changed while waiting for tready"
	case RuleKeepContiguous:
		return "tkeep is not contiguous from bit 0"
	case RuleKeepFull:
		return "tkeep is not full on a beat that is not the last"
	case RuleKeepNotZero:
		return "a beat without a byte"
	case RuleReset:
		return "tvalid is high in the cycle after reset"
	case RuleLength:
		return "frame too long"
	case RuleStall:
		return "a beat waits too long for tready"
	}
	return fmt.Sprintf("rule %d", int(r))
}

// Violation is a broken rule.
type Violation struct {
	Rule   Rule
	Prefix string // of the interface
	Cycle  uint64
	Detail string
}

func (v *Violation) Error() string {
	text := fmt.Sprintf("%s: AXI4-Stream rule %d broken in cycle %d: %s", v.Prefix, int(v.Rule), v.Cycle, v.Rule)
	if v.Detail != "" {
		text += ": " + v.Detail
	}
	return text
}

// checker watches the rules of one interface, once a cycle.
type checker struct {
	bus
	report func(*Violation) // nil: Model.Fail

	own       bool  // the payload is a Source's, which makes tkeep itself
	saw       *bool // in another clock than the first: reset was high since the edge before; nil in the first
	armed     bool  // a reset was seen, or there is none
	wasReset  bool  // reset was high for at least grace consecutive cycles up to the previous one
	resets    int   // cycles with reset so far, one behind the other
	lastReset uint64
	grace     int  // cycles with reset until tvalid is low
	holding   bool // a beat waited in the cycle before
	heldLast  bool
	heldUser  uint64
	heldData  []byte
	heldKeep  []byte
	waited    uint64
	stall     uint64 // 0: any wait is allowed
	maxFrame  int    // 0: any length is allowed
	violation int
}

func newChecker(b bus) checker {
	var saw *bool
	grace := 1
	if b.clk != clock(b.m) && b.rst != nil { // the reset crosses first, and may be over before this clock's next edge
		saw, grace = new(bool), 4
		b.m.OnSample(func() { *saw = *saw || *b.rst != 0 })
	}
	return checker{
		bus: b, armed: b.rst == nil, saw: saw, grace: grace,
		heldData: make([]byte, len(b.data)), heldKeep: make([]byte, len(b.full)),
	}
}

// OnViolation makes broken rules go to f instead of failing the test.
func (c *checker) OnViolation(f func(*Violation)) { c.report = f }

// Violations counts the broken rules so far.
func (c *checker) Violations() int { return c.violation }

// SetStallLimit lets no beat wait more than n cycles for tready (rule 8); 0 lifts it.
func (c *checker) SetStallLimit(n uint64) { c.stall = n }

// SetMaxFrame lets no frame be longer than n bytes (rule 7); 0 lifts it.
func (c *checker) SetMaxFrame(n int) { c.maxFrame = n }

func (c *checker) broken(r Rule, detail string) {
	c.violation++
	v := &Violation{Rule: r, Prefix: c.prefix, Cycle: c.clk.Now(), Detail: detail}
	if c.report != nil {
		c.report(v)
		return
	}
	c.m.Fail(v)
}

// idle is the case in which there is nothing to check: no beat, none owed.
func (c *checker) idle() bool {
	return *c.valid == 0 && !c.holding && !c.wasReset && !c.inReset()
}

// inReset reports whether the reset was high in this cycle.
func (c *checker) inReset() bool {
	return c.rst != nil && (*c.rst != 0 || c.saw != nil && *c.saw)
}

// straight reports the commonest case of all, in which no rule about waiting or reset
// can break: a beat was offered and taken in this very cycle.
func (c *checker) straight() bool {
	return *c.valid != 0 && *c.ready != 0 && !c.holding && !c.wasReset && c.armed && !c.inReset()
}

// check applies the rules to the cycle just sampled and reports whether a beat was
// taken. In a cycle with reset none is, and inReset is true.
func (c *checker) check() (beat, inReset bool) {
	if c.inReset() {
		if c.saw != nil {
			*c.saw = false
		}
		if c.wasReset && *c.valid != 0 {
			c.broken(RuleReset, "")
		}
		now := c.clk.Now()
		if c.lastReset+1 != now {
			c.resets = 0
		}
		c.resets, c.lastReset = c.resets+1, now
		c.armed, c.wasReset, c.holding = true, c.resets >= c.grace, false
		return false, true
	}
	if *c.valid == 0 {
		if c.holding {
			c.holding = false
			c.broken(RuleValidHeld, "")
		}
		c.wasReset = false
		return false, false
	}
	if !c.armed {
		return false, false
	}
	if c.wasReset {
		c.wasReset = false
		c.broken(RuleReset, "")
	}
	if c.holding {
		if !c.own { // a source's payload is its own, and it touches none that waits
			c.compare()
		}
	} else if !c.own {
		c.checkKeep()
	}
	if *c.ready != 0 {
		c.holding = false
		return true, false
	}
	c.hold()
	return false, false
}

// hold remembers a beat that waits.
func (c *checker) hold() {
	if c.holding {
		if c.waited++; c.waited == c.stall {
			c.broken(RuleStall, fmt.Sprintf("%d cycles", c.waited))
		}
		return
	}
	c.holding, c.waited = true, 1
	copy(c.heldData, c.data)
	c.heldLast, c.heldUser = c.isLast(), c.userValue()
	if c.keep != nil {
		copy(c.heldKeep, c.keeps)
	}
	if c.stall == 1 {
		c.broken(RuleStall, "1 cycle")
	}
}

// compare holds a waiting beat against what it was in the cycle before.
func (c *checker) compare() {
	detail := ""
	switch {
	case !bytes.Equal(c.heldData, c.data):
		i := 0
		for c.heldData[i] == c.data[i] {
			i++
		}
		detail = fmt.Sprintf("tdata byte %d was %#02x, is %#02x", i, c.heldData[i], c.data[i])
	case c.heldLast != c.isLast():
		detail = fmt.Sprintf("tlast was %t, is %t", c.heldLast, c.isLast())
	case c.heldUser != c.userValue():
		detail = fmt.Sprintf("tuser was %#x, is %#x", c.heldUser, c.userValue())
	case c.keep != nil && !bytes.Equal(c.heldKeep, c.keeps):
		detail = fmt.Sprintf("tkeep bytes were %x, are %x", c.heldKeep, c.keeps)
	default:
		return
	}
	c.broken(RulePayloadHeld, detail)
	c.holding = false // the beat as it is now is what must hold from here on
}

func (c *checker) checkKeep() {
	if c.keptFull() {
		return
	}
	n, contiguous := c.kept()
	switch {
	case n == 0:
		c.broken(RuleKeepNotZero, "")
	case !contiguous:
		c.broken(RuleKeepContiguous, fmt.Sprintf("it is %s", c.keep.Hex()))
	case !c.isLast():
		c.broken(RuleKeepFull, fmt.Sprintf("it is %s", c.keep.Hex()))
	}
}
