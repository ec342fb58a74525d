// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/inc"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// pace holds a Mode III engine to numbers of cycles.
func pace(t *rig.T) {
	star(t).sentAtOnce()
	star(t).sentWhileOneComes()
	g := star(t)
	fit := g.answersThatFit(mostAnswers)
	g.Reset()
	g.decidedOneByOne(fit)
	g.Reset()
	g.passWhatWaits(fit)
}

// promise is T.Promise.
func (g group) promise(holds bool, format string, args ...any) { g.T.Promise(holds, format, args...) }

// sentAtOnce has results leave while everybody keeps up: each is sent in the cycle behind its last contribution.
func (g group) sentAtOnce() {
	seen := watch(g.E)
	var completed []uint64
	g.E.OnAccept = func(_ dut.Frame, counted []inc.Counter) {
		for _, c := range counted {
			if c == inc.TxResult {
				completed = append(completed, g.E.Decided)
			}
		}
	}
	for k := range g.MW() {
		g.collective(g.PSN(k), g.Members()...)
	}
	for k, a := range *seen {
		g.promise(a.at == completed[k]+1, "PSN %v was complete in cycle %d, and %v", g.PSN(k), completed[k], a)
	}
}

// sentWhileOneComes asks for the last packets once more, right ahead of a long frame: they leave while that comes in, not behind it.
func (g group) sentWhileOneComes() {
	const each = 24 // cycles, of which a short packet takes 9 to leave by 8 bytes
	t, m, n := g.T, g.Members(), g.MW()
	again := min(n, t.MTUBeats()/each)
	if again < 2 {
		return
	}
	for k := range n {
		g.offer(g.PSN(k), 4)
	}
	g.E.Settle()
	seen, before := watch(g.E), 0
	g.E.OnAccept = func(dut.Frame, []inc.Counter) { before = len(seen.of(inc.ActSendOne)) }
	g.E.Put(g.NAK(m[0], g.PSN(n-again)), g.Data(m[0], g.PSN(n), g.Values(g.Whole(t.Params.MTUBytes))))
	g.E.Settle()
	g.promise(before == again, "%d packets of %d were sent again before a frame of %d beats was decided", before, again, t.MTUBeats())
}

// waitBehind has that many answers fill the queues while no port takes anything, one more wait for room, and frames behind that. Then the ports take
// everything.
func (g group) waitBehind(fill int, frames ...rig.Frame) {
	g.E.SetPauses(dut.Pauses{Ready: 1})
	for range fill + 1 {
		g.E.Put(g.Data(g.Members()[0], g.PSN(0), nil))
	}
	g.soak(fill)
	g.E.Put(frames...)
	g.soak(len(frames))
	g.release()
}

// decidedOneByOne has ACKs wait that say nothing new, with more complete than may be sent: they are decided at the promised pace, and no send that cannot be takes
// turns with them.
func (g group) decidedOneByOne(fill int) {
	const count = 3
	g.fillBoth()
	var at []uint64
	g.E.OnAccept = func(_ dut.Frame, counted []inc.Counter) {
		for _, c := range counted {
			if c == inc.DropStaleAck {
				at = append(at, g.E.Decided)
			}
		}
	}
	var frames []rig.Frame
	for range count {
		frames = append(frames, g.Ack(g.Members()[0], g.PSN(-1)))
	}
	g.waitBehind(fill, frames...)
	g.E.OnAccept = nil
	apart := uint64(g.E.T.Params.FramePace())
	for k := 1; k < count; k++ {
		g.promise(at[k] == at[k-1]+apart, "frames that wait were decided in cycles %d, expected one in %d", at, apart)
	}
}

// passWhatWaits asks for all once more, with frames behind that which need no room: one of them passes each send that waits.
func (g group) passWhatWaits(fill int) {
	const count = 8
	for k := range g.MW() {
		g.offer(g.PSN(k), 4)
	}
	g.E.Settle()
	c := g.Members()[0]
	frames := []rig.Frame{g.NAK(c, g.PSN(0))}
	for range count {
		frames = append(frames, g.Ack(c, g.PSN(-1)))
	}
	f := watchTurns(g.E)
	g.waitBehind(fill, frames...)
	g.promise(f.frames <= fairFrames, "a send waited for %d frames, at most %d may pass", f.frames, fairFrames)
}
