// SPDX-License-Identifier: Apache-2.0

// Package abuse has the scenarios of what an engine must survive: damaged and foreign frames, at random and one by one, and ports in trouble.
package abuse

import (
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "parse-icrc", Run: parse,
			Doc: "golden frames are accepted; with any bit flipped a frame is dropped under the right name, or accepted if nothing covers it"},
		{Name: "drops", Run: drops,
			Doc: "a frame for every reason to drop is counted under that name alone; of two faults the first in the documented order counts"},
		{Name: "ecn-marks", Run: marks,
			Doc: "frames of every kind and fault with every ECN: RX_CE counts those marked CE that are of a group and undamaged, and no others"},
		{Name: "vlan", Run: tags, Needs: needVLAN,
			Doc: "frames with the tag of their endpoint are taken; with none, another, one too many or a priority that is not its own they are dropped under that name " +
				"and change nothing; what is not the engine's leaves with its tags"},
		{Name: "bypass", Run: bypass,
			Doc: "frames that are not the engine's leave unchanged and in order, those of one beat in nearly every cycle, and share the output fairly with the engine's own"},
		{Name: "interrupts", Run: interrupts, Needs: needInterrupts,
			Doc: "what can happen to an engine sets its cause alone, and raises the line while it is set and enabled"},
		{Name: "priorities", Run: priorities, Needs: needPriorities,
			Doc: "frames of every priority leave by one port: what is paused waits and holds nothing else up, and of what waited the highest leaves first"},
		{Name: "port-turns", Run: portTurns, Needs: rig.All(needPorts(2), needOneClock, rig.NeedOneWidth),
			Doc: "frames wait at all ports at once: a port that waits is served after at most one frame of each other port"},
		{Name: "port-troubles", Run: portTroubles, Needs: rig.ModeII(needQueues),
			Doc: "one port has errors in every frame, frames too long, a frame that stops, a clock that stands still: the others' group is not held up"},
		{Name: "random", Run: random,
			Doc: "contributions, duplicates, gaps, overruns and ACKs in bursts on all ports: the engine does as the reference"},
		{Name: "mutate", Run: mutate,
			Doc: "mutated frames: those bypassed or dropped as invalid change no group's state, and the engine does as the reference with all"},
		{Name: "in-band-mutate", Run: inBandMutate, Needs: rig.NeedInBand(1),
			Doc: "the same for in-band groups that are reset now and then; a spoilt control can open a range that nobody wants"},
	}
}

// first is endpoint 0's first contribution; opts change it before its checksums are made.
func first(g *rig.Group, opts ...func(*roce.Packet)) rig.Frame {
	return g.Data(0, g.Start(), g.Noise(16), opts...)
}

// damaged is a frame with something changed, and resealed one whose checksums are made good after that.
func damaged(f rig.Frame, change func(f *rig.Frame)) rig.Frame {
	change(&f)
	return f
}

func resealed(f rig.Frame, change func(f *rig.Frame)) rig.Frame {
	change(&f)
	roce.Reseal(f.Data)
	return f
}

// fate sends one frame and returns the counters that it changed.
func fate(e *rig.Engine, f rig.Frame) []inc.Counter {
	_, counted := e.FirstAccepted(func() { e.Exchange(f) })
	return counted
}

// isDrop tells whether a counter stands for a reason to drop.
func isDrop(c inc.Counter) bool { return strings.HasPrefix(c.String(), "DROP_") }

// stateless counters stand for frames that must not change any group's state. A gap is not among them, nor data out of any range or for
// which there is no room: the engine remembers that it sent a NAK for it. What ends a connection of Mode I changes its state too.
func stateless(c inc.Counter) bool {
	remembered := c == inc.DropGap || c == inc.DropRange || c == inc.DropFull
	return !remembered && (c == inc.Bypass || isDrop(c))
}
