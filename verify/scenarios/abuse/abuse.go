// SPDX-License-Identifier: Apache-2.0

// Package abuse has the scenarios of what an engine must survive: damaged and foreign frames, wrong settings, registers written at random.
package abuse

import (
	"strings"

	"incforge/inc"
	"incforge/verify/dut"
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
		{Name: "bypass", Run: bypass,
			Doc: "frames that are not the engine's leave unchanged and in order, and share the output fairly with the engine's own"},
		{Name: "registers", Run: registers,
			Doc: "every register has its reset value, reads back what is written under its mask, and is reset in the middle of traffic"},
		{Name: "registers-random", Run: registersRandom, Needs: rig.All(rig.NeedGroups(2), rig.NeedSlots(16)),
			Doc: "registers written at random, any address, value and strobes: one group stays exact, and nobody without a part is sent anything"},
		{Name: "control", Run: control,
			Doc: "a group gets random settings while others carry traffic: it works with legal ones and stays disabled with illegal ones"},
		{Name: "random", Run: random,
			Doc: "contributions, duplicates, gaps, overruns and ACKs in bursts on all ports: the engine does as the reference"},
		{Name: "mutate", Run: mutate,
			Doc: "mutated frames: those bypassed or dropped as invalid change no group's state, and the engine does as the reference with all"},
		{Name: "in-band-mutate", Run: inBandMutate, Needs: rig.NeedInBand(1),
			Doc: "the same for in-band groups that are reset now and then; a spoilt control can open a range that nobody wants"},
	}
}

// witness notes what each frame is counted as.
type witness struct {
	e    *rig.Engine
	seen [][]inc.Counter
}

// watch has a witness see what e accepts.
func watch(e *rig.Engine) *witness {
	w := &witness{e: e}
	e.OnAccept = func(_ dut.Frame, changed []inc.Counter) error {
		w.seen = append(w.seen, changed)
		return nil
	}
	return w
}

// fate sends one frame and returns the counters that it changed. What others answer to its result comes later and does not count.
func (w *witness) fate(f rig.Frame) []inc.Counter {
	w.seen = nil
	w.e.Exchange(f)
	if len(w.seen) == 0 {
		w.e.T.Fatalf("the engine never took the frame")
	}
	return w.seen[0]
}

// isDrop tells whether a counter stands for a reason to drop.
func isDrop(c inc.Counter) bool { return strings.HasPrefix(c.String(), "DROP_") }

// stateless counters stand for frames that must not change any group's state. A gap is not among them, nor data out of any range or for
// which there is no room: the engine remembers that it sent a NAK for it.
func stateless(c inc.Counter) bool {
	switch c {
	case inc.DropGap, inc.DropRange, inc.DropFull:
		return false
	}
	return c == inc.Bypass || isDrop(c)
}
