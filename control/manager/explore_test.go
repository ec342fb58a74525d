// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/control/placement"
)

// chooser goes through all sequences of choices, the last choice of a sequence first.
type chooser struct {
	taken, of []int // the sequence, and how many there are to choose from at each place
	at        int
}

// choose is a choice of n; 0 unless the sequence says otherwise.
func (c *chooser) choose(n int) int {
	if c.at == len(c.taken) {
		c.taken, c.of = append(c.taken, 0), append(c.of, n)
	}
	c.at++
	return c.taken[c.at-1]
}

// next goes to the next sequence, if there is one.
func (c *chooser) next() bool {
	for c.at = 0; len(c.taken) > 0; {
		last := len(c.taken) - 1
		if c.taken[last]++; c.taken[last] < c.of[last] {
			return true
		}
		c.taken, c.of = c.taken[:last], c.of[:last]
	}
	return false
}

// explorer runs a group's life with two crashes of managers and one of an agent at any places, and the agent's return at any later one.
type explorer struct {
	chooser
	t        *testing.T
	shape    placement.Clos
	seen     map[string]bool // what was left when a manager crashed
	runs     int
	pruned   int
	finished int // groups that were whole at the end

	// Of the run.
	w       *world
	site    *site // whose agent can crash
	crashes int   // of managers, so far
	failed  bool  // the agent has crashed
	back    bool  // and has returned
	members bool  // stay
}

// managerStep is asked before a manager changes anything: does it crash, does the agent return?
func (e *explorer) managerStep() (crash bool) {
	options := []string{"go on"}
	if e.crashes < 2 {
		options = append(options, "crash")
	}
	if e.failed && !e.back {
		options = append(options, "return")
	}
	switch options[e.choose(len(options))] {
	case "crash":
		e.crashes++
		return true
	case "return":
		e.restart()
		return e.managerStep()
	}
	return false
}

// agentStep is asked before the agent changes anything, and before it answers.
func (e *explorer) agentStep() (crash bool) {
	if e.failed || e.choose(2) == 0 {
		return false
	}
	e.failed = true
	return true
}

// restart brings the agent back.
func (e *explorer) restart() {
	e.back = true
	require.NoError(e.t, e.site.start(&life{left: -1}))
}

// left is what does not die with a manager, with times from now.
func (e *explorer) left() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v %v ", e.crashes, e.failed, e.back, e.members)
	records, err := e.w.file.All()
	require.NoError(e.t, err)
	for _, r := range records {
		fmt.Fprintf(&b, "%s=%s ", r.Name, r.Data)
	}
	for _, n := range e.w.net.Nodes {
		s := e.w.sites[n.Name]
		if s == nil {
			continue
		}
		records, err := s.file.All()
		require.NoError(e.t, err)
		for _, r := range records {
			fields := map[string]any{}
			require.NoError(e.t, json.Unmarshal(r.Data, &fields))
			for _, key := range []string{"freed", "expires"} {
				at, err := time.Parse(time.RFC3339Nano, fields[key].(string))
				require.NoError(e.t, err)
				fields[key] = max(at.Sub(e.w.now), -time.Hour) // beyond that it is all the same
			}
			text, err := json.Marshal(fields)
			require.NoError(e.t, err)
			fmt.Fprintf(&b, "%s.%s=%s ", s.name, r.Name, text)
		}
		// Registers of a group that is stopped are all written before it starts.
		fmt.Fprintf(&b, "dead %v enabled %v ", s.life.dead, s.engine.Engine().Enabled(0))
	}
	return b.String()
}

// run is one life. The manager that lives runs until it crashes, or ends; then the next one does.
func (e *explorer) run() {
	e.runs++
	e.w = newWorldOf(e.t, kinds(*kind), e.shape)
	e.site = e.w.sites["leaf0"]
	e.site.life.ask = e.agentStep
	e.w.wire.ask = e.managerStep
	e.crashes, e.failed, e.back = 0, false, false
	e.members = e.choose(2) == 0
	what := func() string { return fmt.Sprint("choices ", e.taken[:e.at]) }
	g, err := e.w.make("ring")
	told := g != nil && g.state == Ready // what the members heard
	if err == nil && !e.w.wire.dead && e.choose(2) == 1 {
		told = false
		e.w.m.destroy(e.w.ctx, g, "")
	}
	for e.settle(); e.w.wire.dead; e.settle() {
		state := e.left()
		if e.seen[state] {
			e.pruned++
			return
		}
		e.seen[state] = true
		if e.choose(2) == 1 { // the leases run out before there is another
			e.w.now = e.w.now.Add(11 * time.Second)
		}
		e.w.manage(&wire{life: &life{left: -1, ask: e.managerStep}})
	}
	if e.failed && !e.back {
		e.restart()
	}
	e.w.wire.ask, e.site.life.ask = nil, nil
	for round := 0; round < 2 || round < 15 && !e.calm(); round++ {
		e.w.poll(1, e.members)
	}
	whole := e.w.agree(what())
	e.finished += whole
	require.False(e.t, !e.members && whole > 0, what())
	if told && e.members && !e.failed {
		require.Equal(e.t, 1, whole, what())
	}
	next, err := e.w.make("next")
	require.NoError(e.t, err, what())
	require.Equal(e.t, Ready, next.state, what())
	require.Equal(e.t, whole+1, e.w.agree(what()))
}

// settle lets the manager look until there is nothing more for it to do, or it crashes. An agent that is dead returns after any of the first
// looks, or after the leases have run out, or never while this manager lives.
func (e *explorer) settle() {
	for round := range 14 {
		if e.w.wire.dead {
			return
		}
		if e.failed && !e.back && (round < 5 || round == 13) && e.choose(2) == 1 {
			e.restart()
		}
		if e.w.poll(1, e.members); e.calm() {
			return
		}
	}
}

// calm tells that time changes nothing any more, nor does the manager.
func (e *explorer) calm() bool {
	if e.failed && !e.back || !e.members && len(e.w.m.groups) > 0 {
		return false
	}
	for _, g := range e.w.m.groups {
		if g.state != Ready {
			return false
		}
	}
	return true
}

var wide = flag.Bool("wide", false, "all interleavings on two leaves and a spine, where one of three agents crashes, instead of on one switch")

var kind = flag.Int("kind", 0, "the switches of the interleavings: 0 of Mode II with one engine, 1 with two, 2 of Mode I")

// All interleavings of two managers' crashes and one agent's: whatever is left is whole or gone, agents and manager agree, and another group can be made.
func TestAllInterleavings(t *testing.T) {
	e := &explorer{t: t, seen: map[string]bool{}, shape: placement.Clos{Down: []int{2}}}
	if *wide {
		e.shape = placement.LeafSpine(2, 1, 1)
	}
	for more := true; more; more = e.next() {
		e.run()
	}
	t.Logf("%d lives, of which %d were seen to their end, with %d states that crashes leave; in %d the group has lived", e.runs, e.runs-e.pruned, len(e.seen), e.finished)
	require.Greater(t, e.finished, 40)
	require.Greater(t, len(e.seen), 100)
}
