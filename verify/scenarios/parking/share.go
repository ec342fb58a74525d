// SPDX-License-Identifier: Apache-2.0

package parking

import (
	"fmt"

	"incforge/contract"
	"incforge/verify/rig"
)

// needTurns is for two groups of which each takes at least needPercent of the slots.
func needTurns(p contract.Params) string {
	if need := p.GroupSlots() * p.MostUnits(); p.Groups < 2 || need > p.Slots() || 100*need < needPercent*p.Slots() {
		return fmt.Sprintf("needs two groups that each take at least %d %% of the slots; the configuration has %d groups, %d of %d slots each", needPercent, p.Groups, need, p.Slots())
	}
	return ""
}

// What a group must need of the slots for its turns to show anything, and what it must get then of half of what it gets alone.
const (
	needPercent = 70
	halfPercent = 90
)

// Turns of a group, the messages in each and their packets.
const (
	turnsEach   = 4
	messages    = 24
	packetsEach = 8
	settleStep  = 16 // cycles between two looks whether a group is drained
)

// share has two groups take turns at memory that holds one of them, and compares what each gets done with what it does alone: in Mode I
// the path MTUs of two groups differ, and so does what they can do.
func share(t *rig.T) {
	n := t.Tree(2, t.Params.Members, t.DefaultLink())
	first := n.AddComm(0, 1)
	post := func(c *rig.Comm) {
		for range messages {
			c.Post(packetsEach*t.Params.MTUBytes, false, false)
		}
	}
	e := n.Nodes[0].E
	run := func(c *rig.Comm) { n.RunUntil(c.Done) }
	alone := func(c *rig.Comm) uint64 {
		post(c)
		run(c) // links and windows as in the turns
		began := e.Now()
		for range turnsEach {
			post(c)
		}
		run(c)
		return e.Now() - began
	}
	firstAlone := alone(first)

	drained := func(c *rig.Comm) uint64 {
		from := e.Now()
		// Mode I decides a frame in some 30 cycles, and a park waits for it: what it decides meanwhile must not be what the park is for.
		for t.Params.Mode == 1 && e.Reference().Engine().Unfinished(c.Groups[0].Index) > 0 {
			n.Idle(settleStep)
		}
		for !try(c.Groups[0]) {
			n.Idle(settleStep)
		}
		return e.Now() - from
	}
	drained(first)
	second := n.AddComm(1, 1)
	secondAlone := alone(second)
	drained(second)
	unpark(first.Groups[0])
	var parking, unparking uint64
	turn := func(c, next *rig.Comm) uint64 {
		began := e.Now()
		post(c)
		run(c)
		parking += drained(c)
		from := e.Now()
		unpark(next.Groups[0])
		unparking += e.Now() - from
		return e.Now() - began
	}
	var firstTurns, secondTurns uint64
	for range turnsEach {
		firstTurns += turn(first, second)
		secondTurns += turn(second, first)
	}
	percent := min(100*firstAlone/firstTurns, 100*secondAlone/secondTurns)
	t.Values["memory_percent"] = uint64(100 * t.Params.GroupSlots() * first.Groups[0].Units() / t.Params.Slots())
	t.Values["first_alone_cycles"], t.Values["first_turns_cycles"] = firstAlone, firstTurns
	t.Values["second_alone_cycles"], t.Values["second_turns_cycles"] = secondAlone, secondTurns
	t.Values["goodput_percent_of_half"] = percent
	t.Values["park_cycles_a_turn"], t.Values["unpark_cycles_a_turn"] = parking/(2*turnsEach), unparking/(2*turnsEach)
	if percent < halfPercent {
		t.Fatalf("a group got %d %% of half of what it gets alone, expected at least %d", percent, halfPercent)
	}
}
