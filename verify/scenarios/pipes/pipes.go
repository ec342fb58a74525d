// SPDX-License-Identifier: Apache-2.0

// Package pipes has the scenarios of what only engines of Modes III and I do: answers of its own, pipes that fill, time-outs, what is sent again
// (docs/pipes.md). The other ends are mute: nothing is acknowledged unless a scenario has it acknowledged.
package pipes

import (
	"fmt"

	"incforge/contract"
	"incforge/verify/rig"
)

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "pipe-answers", Run: answers, Needs: rig.Pipes(),
			Doc: "every contribution is acknowledged to its sender at once, a duplicate is acknowledged again, and a gap draws one NAK"},
		{Name: "pipe-cumulative", Run: cumulative, Needs: rig.Pipes(),
			Doc: "one ACK from every endpoint frees a whole pipe, when the last of them arrives and not before"},
		{Name: "pipe-nak", Run: nak, Needs: rig.Pipes(),
			Doc: "a NAK has the rest sent again to its sender alone, but for what an ACK right behind it names; old NAKs and those of what was never sent are dropped"},
		{Name: "pipe-full", Run: full, Needs: rig.Pipes(rig.NeedMembers(2)),
			Doc: "data that finds its pipe full draws an RNR NAK, a CNP, both or nothing, as the register says, and is taken when sent again"},
		{Name: "pipe-turn", Run: turn, Needs: rig.Pipes(),
			Doc: "nobody acknowledges a root's results: its broadcast pipe fills, then the aggregation pipe; with the ACKs all leaves in order"},
		{Name: "pipe-lost-ack", Run: lostACK, Needs: rig.Pipes(rig.NeedClock),
			Doc: "the ACK for a pipe of one slot is lost: after the time-out the result is sent again, only to who did not acknowledge it"},
		{Name: "pipe-timers", Run: timers, Needs: rig.Pipes(rig.NeedClock),
			Doc: "nobody acknowledges: time-outs come when they are due, back off, and start anew with progress"},
		{Name: "pipe-late", Run: late, Needs: rig.ModeIII(rig.NeedBare, rig.NeedClock, rig.NeedMembers(2), needPipe),
			Doc: "timers end while others send without a pause, while nothing can leave, or all at once: each has its turn"},
		{Name: "pipe-rnr", Run: rnr, Needs: rig.Pipes(rig.NeedClock),
			Doc: "an endpoint that answers RNR NAK gets nothing for the coded time while the others go on, then all that it missed, in order; nothing if it has acknowledged all meanwhile"},
		{Name: "pipe-failed", Run: failed, Needs: rig.Pipes(rig.NeedClock),
			Doc: "a NAK that ends a connection: the register shows it, and nothing more is sent there until the group is started"},
		{Name: "pipe-inner", Run: inner, Needs: rig.Pipes(),
			Doc: "a node with a parent: each of its two pipes fills, refuses and empties by itself"},
		{Name: "pipe-one-way", Run: oneWay, Needs: rig.Pipes(rig.NeedMembers(2)),
			Doc: "a Reduce and a Broadcast fixed by registers: results go to the root alone, copies to all others, other roles are dropped"},
		{Name: "pipe-random", Run: random, Needs: rig.Pipes(),
			Doc: "pipes of every size, frames and answers lost, late or refused, PSNs across the wrap: all data arrives exact and in order"},
		{Name: "pipe-fair", Run: fair, Needs: rig.Pipes(rig.NeedOneWidth),
			Doc: "everybody wants a full pipe again while frames come at full rate: frames and sends take turns, and so do the endpoints"},
		{Name: "pipe-reset", Run: reset, Needs: rig.Pipes(rig.NeedClock, rig.NeedGroups(2)),
			Doc: "a group is stopped or started with packets unacknowledged: nothing more comes of them, and another group's timers go on; one starts while another sends without a pause"},
		{Name: "pipe-stopped", Run: stopped, Needs: rig.Pipes(rig.NeedBare, rig.NeedGroups(2)),
			Doc: "a group is stopped while no port takes anything: its frames that wait are dropped, another group's among them are answered"},
		{Name: "pipe-held-up", Run: heldUp, Needs: rig.Pipes(rig.NeedBare, rig.NeedMembers(2)),
			Doc: "frames wait behind answers that no port takes: data behind a stranger that looks like it, and beside a damaged contribution"},
		{Name: "pipe-pace", Run: pace, Needs: rig.ModeIII(rig.NeedBare),
			Doc: "cycles that are promised: from a result to its send, from one waiting frame to the next, sends while a frame comes in, frames between two sends"},
		{Name: "pipe-pace-messages", Run: paceMessages, Needs: rig.ModeI(rig.NeedBare),
			Doc: "cycles that are promised of messages: packets that leave at once, ACKs that wait, a result behind them, frames behind a NAK, turns of a group that is stopped"},
		{Name: "pipe-beside", Run: beside, Needs: rig.ModeIII(rig.NeedGroups(2)),
			Doc: "a group sends again and again while another's ACKs, the data that they make room for, and its starts come in"},
		{Name: "pipe-settings", Run: settings, Needs: rig.Pipes(),
			Doc: "pipes of sizes that fit work as sized; a group with a size that does not fit stays disabled"},
	}
}

// needPipe is for scenarios in which a pipe has four slots, whatever the type of its group's registers.
func needPipe(p contract.Params) string {
	if n := 8 * p.MostUnits(); p.Slots() < n {
		return fmt.Sprintf("needs %d slots for a pipe of four, the configuration has %d", n, p.Slots())
	}
	return ""
}
