// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"

	"incforge/contract"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needPriorities is for scenarios of ports that have several queues on the way out.
func needPriorities(p contract.Params) string {
	if p.PriorityCount() == 1 {
		return "needs priorities"
	}
	return ""
}

// pausedCycles is how long a port is paused: more than frames take that may leave, and less than what the scoreboard takes for a frame that never leaves.
const pausedCycles = 1200

// priorities sends frames of every priority out of one port: what is paused waits, the rest leaves, a port that is free again sends the highest first,
// and a group whose members' frames have another priority than what is paused is not held up. The scoreboard knows the order within each.
func priorities(t *rig.T) {
	e := t.Engine()
	p := t.Params
	n := p.PriorityCount()
	for d := range 64 {
		e.Write("PRIORITY_DSCP", d, uint32(d%n))
	}
	for c := range 8 {
		e.Write("PRIORITY_PCP", c, uint32((c+1)%n))
	}
	port := t.Rand.IntN(p.Ports)
	for from := range p.Ports {
		t.Check(e.Ctl.SetBypassPort(from, port))
	}
	if !e.Pause(port, 0) { // the reference: what leaves is all that there is to see
		e.Exchange(ofPriority(t, 1, n))
		return
	}
	for round := range 6 {
		t.In(fmt.Sprintf("round %d", round), func() {
			paused := uint32(1)<<n - 1
			if round%2 == 0 { // some, not all
				paused = 1 + uint32(t.Rand.IntN(1<<n-2))
			}
			e.Pause(port, paused)
			sent := make([]int, n)
			for range 8 * n {
				k := t.Rand.IntN(n)
				if paused>>k&1 != 0 && sent[k] > 0 { // a queue has room for one frame and a bit
					continue
				}
				sent[k]++
				e.Put(ofPriority(t, k, n))
			}
			left := count(e, n, pausedCycles)
			for k := range n {
				if want := sent[k] * int(^paused>>k&1); left[k] != want {
					t.Fatalf("priorities %#x are paused: %d frames of priority %d left, expected %d", paused, left[k], k, want)
				}
			}
			e.Pause(port, 0)
			rest := order(e.Settle(), n)
			for i := 1; i < len(rest); i++ {
				if rest[i] > rest[i-1] {
					t.Fatalf("of frames that waited, priorities %v left in that order", rest)
				}
			}
		})
	}
	for from := range p.Ports {
		t.Check(e.Ctl.SetBypassPort(from, from))
	}
}

// ofPriority is a frame that is nobody's, of a priority that the tables of the scenario give it: by DSCP, PCP, or neither.
func ofPriority(t *rig.T, k, n int) rig.Frame {
	f := rig.Frame{Port: t.Rand.IntN(t.Params.Ports), Data: t.Words(16 + t.Rand.IntN(8))}
	way := t.Rand.IntN(3)
	if way == 2 && k != 1%n {
		way = 0
	}
	switch way {
	case 0:
		f.Data[12], f.Data[13], f.Data[14], f.Data[15] = 0x08, 0, 0x46, byte(k+n*t.Rand.IntN(64/n))<<2
	case 1:
		f.Data[12], f.Data[13], f.Data[14] = 0x81, 0, byte((k+n-1)%n+n*t.Rand.IntN(8/n))<<5|f.Data[14]&0x1F
	case 2:
		f.Data[12], f.Data[13] = 0x88, 0xCC
	}
	return f
}

// count runs for a time and counts what left by priority.
func count(e *rig.Engine, n int, cycles uint64) []int {
	left := make([]int, n)
	for end := e.Now() + cycles; e.Now() < end; {
		e.StepTo(e.Now() + 64)
		for _, k := range order(e.Out(), n) {
			left[k]++
		}
	}
	return left
}

// order are the priorities of frames that ofPriority made.
func order(outs []dut.Frame, n int) (all []int) {
	for _, o := range outs {
		switch {
		case o.Data[12] == 0x08:
			all = append(all, int(o.Data[15]>>2)%n)
		case o.Data[12] == 0x81:
			all = append(all, int(o.Data[14]>>5+1)%n)
		default:
			all = append(all, 1%n)
		}
	}
	return all
}
