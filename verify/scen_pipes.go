// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"fmt"
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// The scenarios of Mode III (docs/pipes.md). Whoever is at the other ends does what the scenario says, and nothing else: nothing is
// acknowledged unless it is written here.

// modeIII is for scenarios of what only Mode III does, besides what else they need.
func modeIII(needs ...func(p contract.Params) string) func(p contract.Params) string {
	return func(p contract.Params) string {
		if p.Mode != 3 {
			return "is about Mode III, the configuration is of Mode II"
		}
		for _, n := range needs {
			if why := n(p); why != "" {
				return why
			}
		}
		return ""
	}
}

// withPipe gives the group's pipes n slots; 0 leaves what there is.
func withPipe(n int) groupOption { return func(g *group) { g.set.PipeSlots = n } }

// pipeEngine is an engine whose other ends are silent. Its time-out is so many microseconds.
func (t *T) pipeEngine(timeout uint16) (*engine, error) {
	e, err := t.newEngine()
	if err != nil {
		return nil, err
	}
	e.mute, e.timers = true, true
	return e, e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, timeout)
}

// pipeStar is such an engine with one group over all members and nobody in a hurry.
func (t *T) pipeStar(opts ...groupOption) (*group, error) {
	e, err := t.pipeEngine(longTimeout)
	if err != nil {
		return nil, err
	}
	return e.newGroup(0, 1, t.p.Members, false, opts...)
}

// ack is an ACK of a PSN from endpoint c.
func (g *group) ack(c int, psn roce.PSN) portFrame { return g.aeth(c, psn, roce.AckSyndrome) }

// resultTo is a data packet that must leave to endpoint c.
func resultTo(c int, psn roce.PSN, payload []byte) leaving {
	return leaving{to: c, op: roce.SendOnly, psn: psn, payload: payload}
}

// contributed has endpoints contribute to a PSN one after the other, each acknowledged at once, and returns the result. Only the last one's
// lets anything else leave: want, without payload.
func (g *group) contributed(who []int, psn roce.PSN, want ...leaving) ([]byte, error) {
	var all [][]byte
	for range who {
		all = append(all, g.values(16))
	}
	sum := g.reduce(all...)
	for i, c := range who {
		expect := []leaving{ackOf(c, psn, roce.AckSyndrome)}
		if i == len(who)-1 {
			for _, l := range want {
				l.payload = sum
				expect = append(expect, l)
			}
		}
		if err := g.step(fmt.Sprintf("PSN %v of endpoint %d", psn, c), g.data(c, psn, all[i]), expect...); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// toAll are results to several endpoints, without payload.
func toAll(psn roce.PSN, to ...int) []leaving { return copies(resultTo(0, psn, nil), to...) }

// quiet sends frames for which nothing must leave.
func (g *group) quiet(what string, frames ...portFrame) error {
	for _, f := range frames {
		if err := g.step(what, f); err != nil {
			return err
		}
	}
	return nil
}

// acked has endpoints acknowledge a PSN, for which nothing leaves.
func (g *group) acked(psn roce.PSN, who ...int) error {
	for _, c := range who {
		if err := g.quiet(fmt.Sprintf("ACK(%v) of endpoint %d", psn, c), g.ack(c, psn)); err != nil {
			return err
		}
	}
	return nil
}

// counted checks counters of a settled engine.
func (e *engine) counted(what string, want map[inc.Counter]uint32) error {
	got, err := e.counters()
	if err != nil {
		return err
	}
	for c, n := range want {
		if got[c.String()] != n {
			return failf("%s: %v is %d, expected %d", what, c, got[c.String()], n)
		}
	}
	return nil
}

// shuffled are the same endpoints in another order.
func (t *T) shuffled(who []int) []int {
	who = slices.Clone(who)
	t.rng.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	return who
}

// scenPipeAnswers is scenarios 2, 6 and 11: every contribution is acknowledged to its sender alone and at once, with its number and
// the messages that are complete; a duplicate again, before and after its PSN is complete; a gap once, until something is taken.
func scenPipeAnswers(t *T) error {
	g, err := t.pipeStar()
	if err != nil {
		return err
	}
	m, start := g.members(), g.set.Start
	messages := make([]uint32, len(g.ends))
	take := func(c int, psn roce.PSN, answer uint32, want ...leaving) error {
		f := g.data(c, psn, g.values(0), func(p *roce.Packet) { p.AckReq = t.rng.IntN(2) == 0 })
		outs, err := g.e.exchange(f)
		if err != nil {
			return err
		}
		if err := g.expect(outs, want...); err != nil {
			return failf("PSN %v of endpoint %d: %w", psn, c, err)
		}
		for _, o := range outs {
			if p, _ := roce.Decode(o.Data); p.Op == roce.Acknowledge && p.MSN != answer {
				return failf("PSN %v of endpoint %d was answered with MSN %d, expected %d", psn, c, p.MSN, answer)
			}
		}
		return nil
	}
	const rounds = 6
	for k := range rounds {
		psn := start.Add(k)
		order := t.shuffled(m)
		for i, c := range order {
			want := []leaving{ackOf(c, psn, 0x1F)}
			if i == len(order)-1 {
				want = append(want, toAll(psn, m...)...)
			}
			messages[c]++
			if err := take(c, psn, messages[c], want...); err != nil {
				return err
			}
			again := psn.Add(-t.rng.IntN(min(k, 3) + 1)) // this one or an older one: what is acknowledged is all that was taken
			if err := take(c, again, messages[c], ackOf(c, psn, 0x1F)); err != nil {
				return err
			}
		}
		if err := g.acked(psn, t.shuffled(m)...); err != nil {
			return err
		}
	}
	if err := g.e.counted("after rounds of contributions sent twice", map[inc.Counter]uint32{inc.RxDuplicate: uint32(rounds * len(m)), inc.Agg: uint32(rounds * len(m)),
		inc.UpData: uint32(2 * rounds * len(m)), inc.TxAck: uint32(2 * rounds * len(m)), inc.TxResult: rounds, inc.TxFanout: uint32(rounds * len(m)),
		inc.Wipe: 2 * rounds, inc.RxAck: uint32(rounds * len(m)), inc.TxRetransmit: 0}); err != nil {
		return err
	}
	if g.mw() < 3 || len(m) < 2 { // with one member nothing stays in the pipe
		return nil
	}
	c, p := m[0], start.Add(rounds)
	for _, x := range []struct {
		psn  roce.PSN
		want []leaving
	}{
		{p, []leaving{ackOf(c, p, 0x1F)}},
		{p.Add(2), []leaving{ackOf(c, p.Add(1), roce.NAKSequence)}},
		{p.Add(2), nil}, {p.Add(3), nil}, {p.Add(1 << 22), nil},
		{p, []leaving{ackOf(c, p, 0x1F)}}, // a duplicate does not end the silence
		{p.Add(2), nil},
		{p.Add(1), []leaving{ackOf(c, p.Add(1), 0x1F)}},
		{p.Add(3), []leaving{ackOf(c, p.Add(2), roce.NAKSequence)}}, // another gap
		{p.Add(2), []leaving{ackOf(c, p.Add(2), 0x1F)}},
	} {
		if err := g.step(fmt.Sprintf("a gap, PSN %v after %v", x.psn, p), g.data(c, x.psn, g.values(8)), x.want...); err != nil {
			return err
		}
	}
	return g.e.counted("gaps", map[inc.Counter]uint32{inc.TxGapNak: 2, inc.DropGap: 6})
}

// scenPipeCumulative is scenario 5: one ACK for a pipe full of results frees all of it, when the last endpoint has sent its own.
func scenPipeCumulative(t *T) error {
	g, err := t.pipeStar()
	if err != nil {
		return err
	}
	m, n := g.members(), g.mw()
	for round := range 3 {
		first := g.set.Start.Add(round * n)
		for k := range n {
			if _, err := g.contributed(t.shuffled(m), first.Add(k), toAll(first.Add(k), m...)...); err != nil {
				return err
			}
		}
		order := t.shuffled(m)
		if err := g.acked(first.Add(n-1), order[1:]...); err != nil {
			return err
		}
		if err := g.e.counted("one endpoint has not acknowledged", map[inc.Counter]uint32{inc.Wipe: uint32((2*round + 1) * n)}); err != nil {
			return err
		}
		if err := g.acked(first.Add(n-1), order[0]); err != nil {
			return err
		}
		if err := g.e.counted("all have acknowledged", map[inc.Counter]uint32{inc.Wipe: uint32((2*round + 2) * n), inc.RxAck: uint32((round + 1) * len(m))}); err != nil {
			return err
		}
	}
	return nil
}

// scenPipeNAK is scenario 12: a NAK acknowledges what is before it and has the rest sent again to who sent it and to nobody else; an old one,
// and one of what was never sent, do nothing.
func scenPipeNAK(t *T) error {
	g, err := t.pipeStar()
	if err != nil {
		return err
	}
	m, start, n := g.members(), g.set.Start, g.mw()
	c := m[len(m)-1]
	sums := make([][]byte, n)
	for k := range n {
		if sums[k], err = g.contributed(t.shuffled(m), start.Add(k), toAll(start.Add(k), m...)...); err != nil {
			return err
		}
	}
	if err := g.acked(start.Add(n-1), m[:len(m)-1]...); err != nil {
		return err
	}
	from := n / 2
	rest := func() []leaving {
		var all []leaving
		for k := from; k < n; k++ {
			all = append(all, resultTo(c, start.Add(k), sums[k]))
		}
		return all
	}
	nak := func(k int) portFrame { return g.aeth(c, start.Add(k), roce.NAKSequence) }
	for range 2 { // the second time nothing new is acknowledged, and it was sent all the same
		if err := g.step("NAK", nak(from), rest()...); err != nil {
			return err
		}
	}
	stale := func(what string, f portFrame) error { return g.dropped(inc.DropStaleAck, what, f) }
	if from > 0 {
		if err := stale("an old NAK", nak(from-1)); err != nil {
			return err
		}
		if err := stale("an old ACK", g.ack(c, start.Add(from-1))); err != nil {
			return err
		}
	}
	for _, f := range []portFrame{nak(n + 1), g.ack(c, start.Add(n)), g.aeth(c, start.Add(n+1), 0x21), g.ack(c, start.Add(1<<23-1))} {
		if err := stale("of what was never sent", f); err != nil {
			return err
		}
	}
	if err := g.quiet("NAK of the next PSN, which acknowledges all", nak(n)); err != nil {
		return err
	}
	if err := g.e.counted("NAKs", map[inc.Counter]uint32{inc.RxNak: 3, inc.TxRetransmit: uint32(2 * (n - from)), inc.Wipe: uint32(2 * n)}); err != nil {
		return err
	}
	_, err = g.contributed(t.shuffled(m), start.Add(n), toAll(start.Add(n), m...)...)
	return err
}

// scenPipeFull is scenario 13: data that finds its pipe full is never acknowledged; an RNR NAK with the register's timer, a CNP to hosts, or nothing
// says so, once, and when the others have caught up it is taken.
func scenPipeFull(t *T) error {
	for round, ctrl := range []inc.PipeCtrl{{RNRTimer: 1, RNR: true}, {RNRTimer: 31, RNR: true, CNP: true}, {RNRTimer: 0, RNR: true}, {RNR: false, CNP: true}, {}} {
		for _, host := range []bool{true, false} {
			g, err := t.pipeStar(withPipe(t.pipeSize(round)))
			if err != nil {
				return err
			}
			m, start, n := g.members(), g.set.Start, g.mw()
			fast, others := m[0], m[1:]
			g.ends[fast].Host = host
			if err := g.program(); err != nil {
				return err
			}
			if err := g.e.drv.SetPipes(ctrl, longTimeout); err != nil {
				return err
			}
			data := make([][]byte, n+3)
			for k := range data {
				data[k] = g.values(12)
			}
			send := func(what string, k int, want ...leaving) error {
				return g.step(what, g.data(fast, start.Add(k), data[k]), want...)
			}
			for k := range n {
				if err := send("within the pipe", k, ackOf(fast, start.Add(k), 0x1F)); err != nil {
					return err
				}
			}
			var refusal []leaving
			if ctrl.RNR {
				refusal = append(refusal, ackOf(fast, start.Add(n), 0x20|ctrl.RNRTimer))
			}
			if ctrl.CNP && host {
				refusal = append(refusal, leaving{to: fast, op: roce.CNP, psn: start.Add(n), payload: make([]byte, 16)})
			}
			for range 2 { // it is told so each time that it tries
				if err := send("beyond the pipe", n, refusal...); err != nil {
					return err
				}
				for k := n + 1; k < n+3; k++ {
					if err := send("behind what was refused", k); err != nil {
						return err
					}
				}
			}
			sums := make([][]byte, n)
			for k := range n {
				parts := [][]byte{data[k]}
				for i, c := range others {
					b := g.values(12)
					parts = append(parts, b)
					want := []leaving{ackOf(c, start.Add(k), 0x1F)}
					if i == len(others)-1 {
						sums[k] = g.reduce(parts...)
						want = append(want, copies(resultTo(0, start.Add(k), sums[k]), m...)...)
					}
					if err := g.step("the others catch up", g.data(c, start.Add(k), b), want...); err != nil {
						return err
					}
				}
				if err := g.acked(start.Add(k), m...); err != nil {
					return err
				}
			}
			for k := n; k < min(n+3, 2*n); k++ {
				if err := send("sent again", k, ackOf(fast, start.Add(k), 0x1F)); err != nil {
					return err
				}
			}
			full := map[inc.Counter]uint32{inc.DropFull: 2, inc.DropGap: 4, inc.TxRnr: 0, inc.TxCnp: 0, inc.TxGapNak: 0}
			for _, l := range refusal {
				if l.op == roce.CNP {
					full[inc.TxCnp] = 2
				} else {
					full[inc.TxRnr] = 2
				}
			}
			if err := g.e.counted(fmt.Sprintf("%+v, host %v", ctrl, host), full); err != nil {
				return err
			}
		}
	}
	return nil
}

// pipeSize takes sizes of pipes in turn: 1, 2, 3, all there is, whatever of them fits.
func (t *T) pipeSize(i int) int {
	most := 1 << t.maxLog2N(1, t.p.DTypeMask()&wideTypes != 0) >> 1
	return []int{0, 1, min(2, most), min(3, most)}[i%4]
}

// scenPipeTurn is scenario 14: at a root whose results nobody acknowledges the broadcast pipe fills, and then the aggregation pipe behind it;
// no NAK comes of it, and when acknowledgements come all leaves in order.
func scenPipeTurn(t *T) error {
	for round := range 4 {
		size := t.pipeSize(round)
		// The PSN wraps between what is in one pipe and what is in the other: 2^24 is a multiple of few sizes.
		g, err := t.pipeStar(withPipe(size), withStart(roce.PSN(0).Add(-size)))
		if err != nil {
			return err
		}
		m, start, n := g.members(), g.set.Start, g.mw()
		sums := make([][]byte, 2*n)
		for k := range 2 * n {
			var want []leaving
			if k < n {
				want = toAll(start.Add(k), m...)
			}
			if sums[k], err = g.contributed(t.shuffled(m), start.Add(k), want...); err != nil {
				return err
			}
		}
		for _, c := range m { // both are full now
			if err := g.step("beyond both pipes", g.data(c, start.Add(2*n), g.values(16)), ackOf(c, start.Add(2*n), 0x21)); err != nil {
				return err
			}
		}
		var again []leaving // what nobody has acknowledged is still there, whole
		for k := range n {
			again = append(again, resultTo(m[0], start.Add(k), sums[k]))
		}
		if err := g.step("a NAK with both pipes full", g.aeth(m[0], start, roce.NAKSequence), again...); err != nil {
			return err
		}
		for k := range n {
			order := t.shuffled(m)
			if err := g.acked(start.Add(k), order[1:]...); err != nil {
				return err
			}
			if err := g.step("the last ACK", g.ack(order[0], start.Add(k)), copies(resultTo(0, start.Add(n+k), sums[n+k]), m...)...); err != nil {
				return err
			}
		}
		if err := g.acked(start.Add(2*n-1), m...); err != nil {
			return err
		}
		if err := g.e.counted("both pipes filled and emptied", map[inc.Counter]uint32{inc.Wipe: uint32(4 * n), inc.TxResult: uint32(2 * n),
			inc.TxFanout: uint32(2*n*len(m) + n), inc.TxRetransmit: uint32(n), inc.DropFull: uint32(len(m)), inc.TxGapNak: 0}); err != nil {
			return err
		}
	}
	return nil
}

// tick is what an engine did by itself, and when.
type tick struct {
	at uint64
	a  inc.Action
}

// watch keeps what the engine does by itself.
func (e *engine) watch() *[]tick {
	var all []tick
	e.OnAct = func(at uint64, a inc.Action) error {
		all = append(all, tick{at, a})
		return nil
	}
	return &all
}

// wait lets the engine run to a cycle and returns what left.
func (e *engine) wait(cycle uint64) ([]dut.Out, error) {
	var all []dut.Out
	for e.Now() < cycle {
		if err := e.t.ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.StepTo(min(cycle, e.Now()+4096)); err != nil {
			return nil, err
		}
		all = append(all, e.Out()...)
	}
	return all, nil
}

// lateness is how many cycles after its time a timer that is up may be found in an engine that has nothing else to do: a microsecond, a walk
// over all endpoints, and what it takes to look and to begin.
func (t *T) lateness() uint64 {
	return t.p.CyclesPerMicrosecond() + uint64(t.p.Groups*(t.p.Members+3)) + 64
}

// inTime checks a tick against the cycle at which it was due.
func (t *T) inTime(what string, x tick, due uint64) error {
	if x.at < due || x.at > due+t.lateness() {
		return failf("%s: %v in cycle %d, expected %d to %d", what, x.a, x.at, due, due+t.lateness())
	}
	return nil
}

// sent is the cycle in which the send that was seen last was decided.
func sent(all []tick) uint64 {
	for _, x := range slices.Backward(all) {
		if x.a.Kind == inc.ActSend || x.a.Kind == inc.ActSendOne {
			return x.at
		}
	}
	return 0
}

// only returns the ticks of a kind.
func only(all []tick, kind inc.ActionKind) []tick {
	return slices.DeleteFunc(slices.Clone(all), func(x tick) bool { return x.a.Kind != kind })
}

// scenPipeLostAck is scenario 15: in a pipe of one slot the ACK is lost; the switch sends again, to who did not acknowledge and to
// nobody else, the ACK comes again, the slot is free and the next PSN flows.
func scenPipeLostAck(t *T) error {
	const timeout = 12
	e, err := t.pipeEngine(timeout)
	if err != nil {
		return err
	}
	g, err := e.newGroup(0, 1, t.p.Members, false, withPipe(1))
	if err != nil {
		return err
	}
	m := g.members()
	for k := range 4 {
		c := m[t.rng.IntN(len(m))]
		g.set.Start = roce.PSN(t.rng.Uint32() & 0xFFFFFF)
		if err := g.program(); err != nil {
			return err
		}
		psn, seen := g.set.Start, e.watch()
		sum, err := g.contributed(t.shuffled(m), psn, toAll(psn, m...)...)
		if err != nil {
			return err
		}
		due := sent(*seen) + timeout*t.p.CyclesPerMicrosecond()
		if err := g.acked(psn, allBut(m, c)...); err != nil {
			return err
		}
		outs, err := e.wait(due + t.lateness() + 4*uint64(t.mtuBeats()))
		if err != nil {
			return err
		}
		if err := g.expect(outs, resultTo(c, psn, sum)); err != nil {
			return failf("after a time-out: %w", err)
		}
		ups := only(*seen, inc.ActTimeout)
		if len(ups) != 1 || ups[0].a.Endpoint != c {
			return failf("time-outs are %v, expected one of endpoint %d", ups, c)
		}
		if err := t.inTime("time-out", ups[0], due); err != nil {
			return err
		}
		if err := g.acked(psn, c); err != nil {
			return err
		}
		if _, err := g.contributed(t.shuffled(m), psn.Next(), toAll(psn.Next(), m...)...); err != nil {
			return err
		}
		if err := g.acked(psn.Next(), m...); err != nil {
			return err
		}
		if err := e.counted("lost ACK", map[inc.Counter]uint32{inc.Timeout: uint32(k + 1), inc.TxRetransmit: uint32(k + 1), inc.Wipe: uint32(4 * (k + 1))}); err != nil {
			return err
		}
	}
	return nil
}

// scenPipeTimers: a time-out comes PIPE_TIMEOUT after the packet, never before and no later than a walk over all timers; again after twice, four
// times, eight times and eight times as long, and after as long as at first once something is acknowledged; progress starts it anew.
func scenPipeTimers(t *T) error {
	for _, timeout := range []uint16{0, 3, 25} { // 0 stands for 1
		e, err := t.pipeEngine(timeout)
		if err != nil {
			return err
		}
		g, err := e.newGroup(0, 1, t.p.Members, false)
		if err != nil {
			return err
		}
		m, start, n := g.members(), g.set.Start, g.mw()
		last := m[len(m)-1]
		unit := uint64(max(timeout, 1)) * t.p.CyclesPerMicrosecond()
		e.SetPauses(dut.Pauses{})
		// As fast as can be, or the time-out comes before the scenario is ready for it.
		complete := func(psn roce.PSN) error {
			for _, c := range m {
				f := g.data(c, psn, g.values(4))
				e.send(f.port, f.data)
			}
			_, err := e.settleRaw()
			return err
		}
		ack := func(psn roce.PSN, who ...int) error {
			for _, c := range who {
				f := g.ack(c, psn)
				e.send(f.port, f.data)
			}
			_, err := e.settleRaw()
			return err
		}
		for round := range 2 {
			seen := e.watch()
			psn := start.Add(round)
			if err := complete(psn); err != nil {
				return err
			}
			at := sent(*seen)
			if err := ack(psn, m[:len(m)-1]...); err != nil {
				return err
			}
			for k, times := range []uint64{1, 2, 4, 8, 8} {
				due := at + times*unit
				if _, err := e.wait(due + t.lateness()); err != nil {
					return err
				}
				ups := slices.DeleteFunc(only(*seen, inc.ActTimeout), func(x tick) bool { return x.a.Endpoint != last })
				if len(ups) != k+1 {
					return failf("time-out %d µs: %d time-outs by cycle %d, expected %d: %v", timeout, len(ups), e.Now(), k+1, *seen)
				}
				if err := t.inTime(fmt.Sprintf("time-out %d µs, time %d", timeout, k), ups[k], due); err != nil {
					return err
				}
				at = ups[k].at // the timer starts again then
			}
			if err := ack(psn, last); err != nil {
				return err
			}
		}
		if n < 2 || timeout < 25 {
			continue
		}
		seen := e.watch()
		var decided uint64 // of the ACK that is progress
		e.OnAccept = func(a dut.Accepted, changed []inc.Counter) error {
			decided = a.At
			return nil
		}
		for k := range 2 {
			if err := complete(start.Add(2 + k)); err != nil {
				return err
			}
		}
		if err := ack(start.Add(3), m[:len(m)-1]...); err != nil {
			return err
		}
		if _, err := e.wait(e.Now() + unit/2); err != nil {
			return err
		}
		if err := ack(start.Add(2), last); err != nil {
			return err
		}
		due := decided + unit
		if _, err := e.wait(e.Now() + unit/4); err != nil {
			return err
		}
		f := g.aeth(last, start.Add(3), roce.NAKSequence) // sends again, but is no progress
		e.send(f.port, f.data)
		if _, err := e.settleRaw(); err != nil {
			return err
		}
		if _, err := e.wait(due + t.lateness() + 64); err != nil {
			return err
		}
		ups := only(*seen, inc.ActTimeout)
		if len(ups) != 1 || ups[0].a.Endpoint != last || ups[0].at < due || ups[0].at > due+t.lateness()+64 {
			return failf("progress in cycle %d, time-outs %v, expected one from cycle %d on", decided, ups, due)
		}
		if err := ack(start.Add(3), last); err != nil {
			return err
		}
	}
	return nil
}

// settleRaw is settle without checks of what leaves but the scoreboard's.
func (e *engine) settleRaw() ([]dut.Out, error) {
	if err := e.Settle(); err != nil {
		return nil, err
	}
	return e.Out(), nil
}

// scenPipeRNR: an endpoint that answers RNR NAK is left alone for the coded time, to the microsecond, while the others go on; then it gets what
// it missed, in order, and keeps up again. A NAK while it waits is for later.
func scenPipeRNR(t *T) error {
	g, err := t.pipeStar()
	if err != nil {
		return err
	}
	e, m, start, n := g.e, g.members(), g.set.Start, g.mw()
	c := m[t.rng.IntN(len(m))]
	others := allBut(m, c)
	// burst has all contribute to a PSN at once, so that it is soon over.
	burst := func(psn roce.PSN, to []int) ([]byte, error) {
		var want []leaving
		var parts [][]byte
		for _, c := range t.shuffled(m) {
			parts = append(parts, g.values(8))
			f := g.data(c, psn, parts[len(parts)-1])
			e.send(f.port, f.data)
			want = append(want, ackOf(c, psn, 0x1F))
		}
		outs, err := e.settle()
		if err != nil {
			return nil, err
		}
		sum := g.reduce(parts...)
		return sum, g.expect(outs, append(want, copies(resultTo(0, psn, sum), to...)...)...)
	}
	codes := []uint8{1}
	for code := uint8(1); len(codes) < 6; code++ { // those that leave time for what happens meanwhile
		if uint64(roce.RNRDuration(code).Microseconds())*t.p.CyclesPerMicrosecond() > uint64(10*t.mtuBeats()+2000) {
			codes = append(codes, code)
		}
	}
	next := 0
	for i, code := range codes {
		first := start.Add(next)
		count := min(n, 3)
		if i == 0 {
			count = 1
		}
		next += count
		seen := e.watch()
		sums := make([][]byte, count)
		if sums[0], err = burst(first, m); err != nil {
			return err
		}
		var decided uint64
		e.OnAccept = func(a dut.Accepted, changed []inc.Counter) error {
			if slices.Contains(changed, inc.RxRnr) {
				decided = a.At
			}
			return nil
		}
		if err := g.quiet("RNR NAK", g.aeth(c, first, roce.RNRSyndrome|code)); err != nil {
			return err
		}
		e.OnAccept = nil
		for k := 1; k < count; k++ {
			if sums[k], err = burst(first.Add(k), others); err != nil {
				return err
			}
		}
		if len(others) > 0 && i > 0 {
			if err := g.quiet("a NAK of who waits", g.aeth(c, first, roce.NAKSequence)); err != nil {
				return err
			}
		}
		due := decided + uint64(roce.RNRDuration(code).Microseconds())*t.p.CyclesPerMicrosecond()
		if e.Now()+64 < due {
			if outs, err := e.wait(due - 1); err != nil || len(outs) > 0 {
				return failf("code %d: %d frames left before the wait was over (%v)", code, len(outs), err)
			}
		}
		outs, err := e.wait(max(due, e.Now()) + t.lateness() + uint64(count*8*t.mtuBeats()))
		if err != nil {
			return err
		}
		ups := only(*seen, inc.ActResume)
		if len(ups) != 1 || ups[0].a.Endpoint != c || ups[0].at < due || ups[0].at > due+t.lateness()+64 {
			return failf("code %d, decided in cycle %d: resumes %v, expected one from cycle %d on", code, decided, ups, due)
		}
		var want []leaving
		for k := range count {
			if sums[k] != nil {
				want = append(want, resultTo(c, first.Add(k), sums[k]))
			}
		}
		if err := g.expect(outs, want...); err != nil {
			return failf("code %d: after the wait: %w", code, err)
		}
		if err := g.acked(first.Add(count-1), m...); err != nil {
			return err
		}
	}
	last := start.Add(next)
	if _, err = g.contributed(t.shuffled(m), last, toAll(last, m...)...); err != nil { // in one frame each, together
		return err
	}
	if err := g.quiet("RNR NAK of 655.36 ms", g.aeth(c, last, roce.RNRSyndrome)); err != nil {
		return err
	}
	shortest := uint64(roce.RNRDuration(1).Microseconds()) * t.p.CyclesPerMicrosecond()
	if outs, err := e.wait(e.Now() + 2*shortest + t.lateness()); err != nil || len(outs) > 0 {
		return failf("code 0, the longest: %d frames left after the shortest wait (%v)", len(outs), err)
	}
	return nil
}

// scenPipeFailed: NAK 0x61, 0x62 and 0x63 end an endpoint: GROUP_FAILED shows it, nothing more is sent to it, the others get what there is until the
// pipe is full; a start of the group makes it whole.
func scenPipeFailed(t *T) error {
	const timeout = 10
	for _, syndrome := range []uint8{0x61, 0x62, 0x63} {
		e, err := t.pipeEngine(timeout)
		if err != nil {
			return err
		}
		g, err := e.newGroup(0, 1, t.p.Members, false)
		if err != nil {
			return err
		}
		m, start, n := g.members(), g.set.Start, g.mw()
		c := m[t.rng.IntN(len(m))]
		others := allBut(m, c)
		failed := func(want uint32) error {
			got, err := e.drv.Read("GROUP_FAILED", g.index)
			if err == nil && got != want {
				err = failf("GROUP_FAILED is %#x, expected %#x", got, want)
			}
			return err
		}
		if err := failed(0); err != nil {
			return err
		}
		if err := e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, longTimeout); err != nil {
			return err
		}
		if _, err := g.contributed(t.shuffled(m), start, toAll(start, m...)...); err != nil {
			return err
		}
		if err := g.quiet("a NAK that ends the connection", g.aeth(c, start, syndrome)); err != nil {
			return err
		}
		if err := failed(1 << c); err != nil {
			return err
		}
		if err := g.acked(start, others...); err != nil {
			return err
		}
		for k := 1; k < n; k++ {
			if _, err := g.contributed(t.shuffled(m), start.Add(k), toAll(start.Add(k), others...)...); err != nil {
				return err
			}
			if err := g.acked(start.Add(k), others...); err != nil {
				return err
			}
		}
		for k := n; k < 2*n; k++ { // complete, but it cannot move
			if _, err := g.contributed(t.shuffled(m), start.Add(k)); err != nil {
				return err
			}
		}
		if err := g.step("beyond the pipes", g.data(m[0], start.Add(2*n), g.values(16)), ackOf(m[0], start.Add(2*n), 0x21)); err != nil {
			return err
		}
		if err := g.quiet("a NAK of who failed", g.aeth(c, start, roce.NAKSequence)); err != nil {
			return err
		}
		if err := e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, timeout); err != nil {
			return err
		}
		if outs, err := e.wait(e.Now() + 3*timeout*t.p.CyclesPerMicrosecond()); err != nil || len(outs) > 0 {
			return failf("%d frames left to an endpoint that failed (%v)", len(outs), err)
		}
		if err := e.drv.ResetGroup(g.index); err != nil {
			return err
		}
		if err := failed(0); err != nil {
			return err
		}
		if err := e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, longTimeout); err != nil {
			return err
		}
		if _, err := g.contributed(t.shuffled(m), start, toAll(start, m...)...); err != nil {
			return err
		}
		if err := g.acked(start, m...); err != nil {
			return err
		}
	}
	return nil
}

// scenPipeInner is a node with a parent: two pipes that know nothing of each other. Each fills, refuses and empties by itself.
func scenPipeInner(t *T) error {
	for round := range 4 {
		e, err := t.pipeEngine(longTimeout)
		if err != nil {
			return err
		}
		g, err := e.newGroup(0, 1, t.children(), true, withPipe(t.pipeSize(round)))
		if err != nil {
			return err
		}
		m, start, n := g.members(), g.set.Start, g.mw()
		down := func(k int, b []byte, want ...leaving) error {
			return g.step(fmt.Sprintf("PSN %d from the parent", k), g.data(g.parent, start.Add(k), b), want...)
		}
		for lap := range 3 {
			first := lap * n
			for k := first; k < first+n; k++ {
				if _, err := g.contributed(t.shuffled(m), start.Add(k), resultTo(g.parent, start.Add(k), nil)); err != nil {
					return err
				}
			}
			if err := g.step("beyond the aggregation pipe", g.data(m[0], start.Add(first+n), g.values(8)), ackOf(m[0], start.Add(first+n), 0x21)); err != nil {
				return err
			}
			for k := first; k < first+n; k++ {
				b := g.noise(24)
				if err := down(k, b, append(copies(resultTo(0, start.Add(k), b), m...), ackOf(g.parent, start.Add(k), 0x1F))...); err != nil {
					return err
				}
				if err := down(k, b, ackOf(g.parent, start.Add(k), 0x1F)); err != nil { // again
					return err
				}
			}
			if err := down(first+n, g.noise(8), ackOf(g.parent, start.Add(first+n), 0x21)); err != nil { // full
				return err
			}
			if err := down(first+n+1, g.noise(8)); err != nil { // a gap behind that
				return err
			}
			if err := g.acked(start.Add(first+n-1), g.parent); err != nil { // the aggregation pipe alone is empty now
				return err
			}
			if err := down(first+n, g.noise(8), ackOf(g.parent, start.Add(first+n), 0x21)); err != nil {
				return err
			}
			if err := g.acked(start.Add(first+n-1), t.shuffled(m)...); err != nil {
				return err
			}
			if err := down(first+n+1, g.noise(8)); err != nil {
				return err
			}
		}
		if err := e.counted("an inner node", map[inc.Counter]uint32{inc.Agg: uint32(3 * n * len(m)), inc.DownTaken: uint32(3 * n), inc.TxResult: uint32(3 * n),
			inc.Wipe: uint32(6 * n), inc.TxFanout: uint32(3 * n * (len(m) + 1)), inc.DownData: uint32(3 * (2*n + 4)), inc.DropFull: 9}); err != nil {
			return err
		}
	}
	return nil
}

// scenPipeOneWay is Reduce and Broadcast fixed by registers: one pipe each, roles, results to the root alone, copies to all others.
func scenPipeOneWay(t *T) error {
	for round := range 4 {
		for _, host := range []bool{true, false} {
			e, err := t.pipeEngine(longTimeout)
			if err != nil {
				return err
			}
			g, err := e.newGroup(0, 1, t.children(), true, withCollective(inc.CollectiveReduce, host), withPipe(t.pipeSize(round)))
			if err != nil {
				return err
			}
			m, start, n := g.members(), g.set.Start, g.mw()
			for lap := range 2 {
				for k := lap * n; k < (lap+1)*n; k++ {
					if _, err := g.contributed(t.shuffled(m), start.Add(k), resultTo(g.parent, start.Add(k), nil)); err != nil {
						return err
					}
				}
				if err := g.step("beyond the pipe", g.data(m[0], start.Add((lap+1)*n), g.values(8)), ackOf(m[0], start.Add((lap+1)*n), 0x21)); err != nil {
					return err
				}
				for _, x := range []namedFrame{{"data from the parent of a Reduce", g.data(g.parent, start, g.values(8))}, {"an ACK from a child of a Reduce", g.ack(m[0], start)}} {
					if err := g.dropped(inc.DropWrongRole, x.what, x.frame); err != nil {
						return err
					}
				}
				if err := g.acked(start.Add((lap+1)*n-1), g.parent); err != nil {
					return err
				}
			}
			if err := e.counted("Reduce", map[inc.Counter]uint32{inc.Wipe: uint32(2 * n), inc.TxFanout: uint32(2 * n), inc.DownTaken: 0}); err != nil {
				return err
			}

			g, err = e.newGroup(0, 1, t.children(), true, withCollective(inc.CollectiveBroadcast, host), withPipe(t.pipeSize(round)))
			if err != nil {
				return err
			}
			start = g.set.Start
			var heard []int
			for c := range g.ends {
				if g.set.OutMask>>c&1 != 0 {
					heard = append(heard, c)
				}
			}
			for lap := range 2 {
				for k := lap * n; k < (lap+1)*n; k++ {
					b := g.noise(20)
					if err := g.step("parent data", g.data(g.parent, start.Add(k), b),
						append(copies(resultTo(0, start.Add(k), b), heard...), ackOf(g.parent, start.Add(k), 0x1F))...); err != nil {
						return err
					}
				}
				if err := g.step("beyond the pipe", g.data(g.parent, start.Add((lap+1)*n), nil), ackOf(g.parent, start.Add((lap+1)*n), 0x21)); err != nil {
					return err
				}
				for _, x := range []namedFrame{{"data from a child of a Broadcast", g.data(heard[0], start, g.values(8))}, {"an ACK from the parent of a Broadcast", g.ack(g.parent, start)}} {
					if err := g.dropped(inc.DropWrongRole, x.what, x.frame); err != nil {
						return err
					}
				}
				if err := g.acked(start.Add((lap+1)*n-1), t.shuffled(heard)...); err != nil {
					return err
				}
			}
			if err := e.counted("Reduce and Broadcast", map[inc.Counter]uint32{inc.Wipe: uint32(4 * n), inc.DownTaken: uint32(2 * n),
				inc.TxFanout: uint32(2*n + 2*n*len(heard))}); err != nil {
				return err
			}
		}
	}
	return nil
}

// needClock is for scenarios that must be faster than a few microseconds.
func needClock(p contract.Params) string {
	if p.ClockMHz < 100 {
		return fmt.Sprintf("needs a clock of 100 MHz, so that a microsecond is not over before a frame, the configuration has %d", p.ClockMHz)
	}
	return ""
}

// newPipeRail is newRail with silent other ends.
func (t *T) newPipeRail(parent bool, opts ...groupOption) (*rail, error) {
	r, err := t.newRail(parent, opts...)
	if err == nil {
		r.g.e.mute = true
	}
	return r, err
}

// pass carries out the range's next packet frame by frame in Mode III: senders in random order, all acknowledged at once.
func (r *rail) pass(size int) (*packet, error) {
	t, p := r.g.t, r.make(size)
	what := fmt.Sprintf("range %d (%+v), packet %d", r.ranges-1, r.span, len(r.past)-1)
	order := t.shuffled(r.parts.up)
	for i, e := range order {
		f := t.marked(r.frame(p, e))
		p.ce = p.ce || f.ce()
		want := own(false, ackOf(e, p.in[e], 0x1F))
		if i == len(order)-1 {
			want = append(want, r.results(p)...)
		}
		if err := r.g.step(fmt.Sprintf("%s of endpoint %d", what, e), f, want...); err != nil {
			return nil, err
		}
	}
	if e := r.parts.source; e >= 0 {
		f := t.marked(r.frame(p, e))
		want := append(own(f.ce(), p.heard(p.down, r.parts.to...)...), own(false, ackOf(e, p.in[e], 0x1F))...)
		if err := r.g.step(what+" of the parent", f, want...); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// hearers are the endpoints that hear in the current range.
func (r *rail) hearers() []int {
	var all []int
	for e := range r.g.ends {
		if r.parts.hears(e) {
			all = append(all, e)
		}
	}
	return all
}

// passRange carries out a range: every packet acknowledged now and then, all of them at its end.
func (r *rail) passRange(c inc.Control) error {
	t := r.g.t
	r.enter(c)
	for i := range c.Packets + 1 {
		p, err := r.pass(t.rng.IntN(min(t.p.MTUBytes, 96) + 1))
		if err != nil {
			return err
		}
		if i%r.g.mw() != r.g.mw()-1 && i < c.Packets && t.rng.IntN(2) == 0 {
			continue
		}
		for _, e := range t.shuffled(r.hearers()) {
			if err := r.g.quiet("ACK", r.g.ack(e, p.out[e])); err != nil {
				return err
			}
		}
	}
	return nil
}

// scenPipeInBand is scenario 19: collectives of every kind one after the other on one set of connections; each endpoint's numbers go on from where
// they were, whether it sent or heard or not; a control that comes before all is acknowledged is told to wait, old data is acknowledged.
func scenPipeInBand(t *T) error {
	for round := range 4 {
		parent := round%2 == 1
		r, err := t.newPipeRail(parent, withPipe(t.pipeSize(round)))
		if err != nil {
			return err
		}
		g := r.g
		list := []inc.Control{r.draw(inc.CollectiveAllReduce, 0, 10), r.draw(inc.CollectiveBroadcast, 1, 7), r.draw(inc.CollectiveAllReduce, 0, 5),
			r.draw(inc.CollectiveReduce, 0, 6), r.draw(inc.CollectiveBarrier, 0, 2)}
		for range 5 {
			list = append(list, r.anything())
		}
		for _, c := range list {
			if err := r.passRange(c); err != nil {
				return err
			}
			if err := r.early(r.anything()); err != nil {
				return err
			}
			if err := r.wrong(); err != nil {
				return err
			}
			for e := range g.ends { // what was sent in any range before
				if !r.parts.sends(e) {
					continue
				}
				back := t.rng.IntN(min(len(r.past), 3))
				p := &r.past[len(r.past)-1-back]
				if err := g.step("data taken before", r.frame(p, e), ackOf(e, r.in[e].Prev(), 0x1F)); err != nil {
					return err
				}
			}
		}
		if err := r.failed(); err != nil {
			return err
		}
	}
	return nil
}

// failed has one end its connection, and acknowledge what it has all the same, so that the range is over. The next one goes to the others
// alone; a start of the group makes that one whole.
func (r *rail) failed() error {
	g, m := r.g, r.g.members()
	c := m[g.t.rng.IntN(len(m))]
	r.enter(r.draw(inc.CollectiveAllReduce, 0, 0))
	p, err := r.pass(0)
	if err != nil {
		return err
	}
	if err := g.quiet("a NAK that ends the connection", g.aeth(c, p.out[c], 0x61)); err != nil {
		return err
	}
	for _, e := range g.t.shuffled(r.hearers()) {
		if err := g.quiet("ACK", g.ack(e, p.out[e])); err != nil {
			return err
		}
	}
	r.enter(r.draw(inc.CollectiveAllReduce, 0, 0))
	r.parts.to = allBut(r.parts.to, c)
	if _, err := r.pass(0); err != nil {
		return err
	}
	if err := g.e.drv.ResetGroup(g.index); err != nil {
		return err
	}
	r.restart()
	return r.passRange(r.draw(inc.CollectiveAllReduce, 0, 2))
}

// wrong tries what must not be: between two ranges, and within a range that it has pass.
func (r *rail) wrong() error {
	g, m := r.g, r.g.members()
	if len(m) < 2 {
		return nil
	}
	a, b := m[0], m[1]
	c := r.draw(inc.CollectiveAllReduce, 0, 1)
	control := func(e int, change func(c *inc.Control)) portFrame {
		x := c
		change(&x)
		return r.control(e, r.in[e], x)
	}
	for _, x := range []struct {
		what string
		why  inc.Counter
		f    portFrame
	}{
		{"data where a control must be", inc.DropRange, g.data(a, r.in[a], g.noise(8))},
		{"a collective that there is not", inc.DropBadControl, control(a, func(c *inc.Control) { c.Collective = 5 })},
		{"a Broadcast of nothing", inc.DropBadControl, control(a, func(c *inc.Control) { c.Collective, c.Root, c.Packets = inc.CollectiveBroadcast, uint8(a), 0 })},
		{"a root that is nowhere", inc.DropBadControl, control(a, func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, inc.Roots-1 })},
		{"a Broadcast of somebody else's", inc.DropWrongRole, control(a, func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, uint8(b) })},
		{"an ACK of the next range", inc.DropStaleAck, g.ack(a, r.out[a])},
		{"a CNP", inc.RxCnp, g.cnp(a, r.out[a])},
	} {
		if err := g.dropped(x.why, x.what, x.f); err != nil {
			return err
		}
	}
	r.enter(c)
	p := r.make(0)
	step := func(e int, want ...leaving) error {
		return g.step("a control among wrong ones", r.frame(p, e), append(want, ackOf(e, p.in[e], 0x1F))...)
	}
	if err := step(a); err != nil {
		return err
	}
	for _, x := range []namedFrame{{"another control", r.control(b, p.in[b], r.draw(inc.CollectiveBarrier, 0, 2))}, {"data in the place of the control", g.data(b, p.in[b], g.noise(8))}, {"a control within the range", r.control(a, p.in[a].Next(), c)}} {
		if err := g.dropped(inc.DropControl, x.what, x.frame); err != nil {
			return err
		}
	}
	up := r.parts.up
	for i, e := range up[1:] {
		var want []leaving
		if i == len(up)-2 {
			want = r.results(p)
		}
		if err := step(e, want...); err != nil {
			return err
		}
	}
	if e := r.parts.source; e >= 0 {
		if err := step(e, p.heard(p.down, r.parts.to...)...); err != nil {
			return err
		}
	}
	heard := func(p *packet) error {
		for _, e := range r.hearers() {
			if err := g.quiet("ACK", g.ack(e, p.out[e])); err != nil {
				return err
			}
		}
		return nil
	}
	if err := heard(p); err != nil {
		return err
	}
	last, err := r.pass(8)
	if err != nil {
		return err
	}
	return heard(last)
}

// early has one more packet of the range pass, one endpoint of those that hear it say nothing, and somebody begin the next range: it must wait.
// Then the ACK comes, the range is over, and the numbers are those of before.
func (r *rail) early(next inc.Control) error {
	g, t := r.g, r.g.t
	c := r.draw(inc.CollectiveAllReduce, 0, 0)
	r.enter(c)
	p, err := r.pass(0)
	if err != nil {
		return err
	}
	order := t.shuffled(r.hearers())
	for _, e := range order[1:] {
		if err := g.quiet("ACK", g.ack(e, p.out[e])); err != nil {
			return err
		}
	}
	parts := r.partsOf(next)
	for e := range g.ends {
		if parts.sends(e) {
			if err := g.step("a control before all is acknowledged", r.control(e, r.in[e], next), ackOf(e, r.in[e], 0x21)); err != nil {
				return err
			}
			break
		}
	}
	return g.quiet("the last ACK", g.ack(order[0], p.out[order[0]]))
}

// far is what is at the other end of an endpoint in scenPipeRandom: it loses what it gets and what it sends, answers late or not at all, and
// believes nobody but the numbers.
type far struct {
	c            int
	data         [][]byte // what it sends
	next, acked  int      // of data: what it sends next, what it knows to be taken
	hears        bool
	got          [][]byte
	naked        bool // it has sent a NAK and taken nothing since
	answerEvery  int  // of 10 answers so many leave
	loss, refuse int  // of 100
}

// done tells whether everything it sends is taken, and everything it hears is there.
func (f *far) done(count int) bool {
	return f.acked == len(f.data) && (!f.hears || len(f.got) == count)
}

// take is what it does with a packet that left for it: answers, if there are any.
func (f *far) take(g *group, p *roce.Packet) []portFrame {
	t, k := g.t, p.PSN.Diff(g.set.Start)
	if p.Op == roce.Acknowledge {
		upTo := k
		if p.Syndrome == roce.AckSyndrome {
			upTo++
		} else {
			f.next = k
		}
		f.acked = max(f.acked, upTo)
		f.next = max(f.next, f.acked)
		return nil
	}
	if !p.Op.IsSend() || t.rng.IntN(100) < f.loss {
		return nil
	}
	at := len(f.got)
	switch {
	case k == at && t.rng.IntN(100) < f.refuse:
		return []portFrame{g.aeth(f.c, p.PSN, roce.RNRSyndrome|1)}
	case k == at:
		f.got = append(f.got, bytes.Clone(p.Payload))
		f.naked = false
	case k > at:
		if f.naked {
			return nil
		}
		f.naked = true
		return []portFrame{g.aeth(f.c, g.set.Start.Add(at), roce.NAKSequence)}
	}
	if t.rng.IntN(10) >= f.answerEvery {
		return nil
	}
	return []portFrame{g.ack(f.c, g.set.Start.Add(len(f.got)-1))}
}

// send is what it sends now: some of what is next, some of it lost on the way, some twice.
func (f *far) send(g *group) []portFrame {
	var all []portFrame
	rng := g.t.rng
	for range rng.IntN(g.mw() + 2) {
		if f.next >= len(f.data) {
			break
		}
		k := f.next
		f.next++
		if rng.IntN(100) < f.loss {
			continue
		}
		all = append(all, g.data(f.c, g.set.Start.Add(k), f.data[k]))
		if rng.IntN(20) == 0 {
			k = rng.IntN(k + 1)
			all = append(all, g.data(f.c, g.set.Start.Add(k), f.data[k]))
		}
	}
	return all
}

// scenPipeRandom is scenario 20 without hosts, and scenarios 9 and 18: pipes of every size, at the root and under a parent, across the wrap, with
// everything lost now and then, answers late, receivers that refuse: all data exact and in order, nothing left in the end.
func scenPipeRandom(t *T) error {
	laps := 5
	if t.long {
		laps = 40
	}
	for round := range 8 {
		e, err := t.pipeEngine(uint16(2 + t.rng.IntN(6)))
		if err != nil {
			return err
		}
		parent := round >= 4
		members := t.p.Members
		if parent {
			members = t.children()
		}
		opts := []groupOption{withPipe(t.pipeSize(round))}
		if round%2 == 0 {
			opts = append(opts, withStart(roce.PSN(0).Add(-1-t.rng.IntN(12))))
		}
		g, err := e.newGroup(0, 1, members, parent, opts...)
		if err != nil {
			return err
		}
		if err := g.shaken(max(laps*g.mw(), 12)); err != nil {
			return failf("pipes of %d slots, parent %v, START %v: %w", g.mw(), parent, g.set.Start, err)
		}
	}
	return nil
}

// shaken sends count PSNs through a group among all kinds of trouble, in both directions if there is a parent.
func (g *group) shaken(count int) error {
	t, e := g.t, g.e
	var fars []*far
	sums, down := make([][]byte, count), make([][]byte, count)
	parts := make([][][]byte, count)
	for c := range g.ends {
		f := &far{c: c, answerEvery: 5 + t.rng.IntN(6), loss: t.rng.IntN(15), refuse: t.rng.IntN(4), hears: c == g.parent || g.set.OutMask>>c&1 != 0}
		fars = append(fars, f)
	}
	for k := range count {
		n := 4 * (1 + t.rng.IntN(8))
		for _, f := range fars {
			b := g.values(n)
			f.data = append(f.data, b)
			if f.c != g.parent {
				parts[k] = append(parts[k], b)
			} else {
				down[k] = b
			}
		}
		sums[k] = g.reduce(parts[k]...)
	}
	done := func() bool {
		for _, f := range fars {
			if !f.done(count) {
				return false
			}
		}
		next, _ := e.Reference().Timers()
		return next == dut.Never
	}
	const limit = 4000
	for turn, moved := 0, true; !done(); turn++ {
		if turn > limit {
			return failf("not done after %d turns: %+v", limit, fars)
		}
		outs, err := e.settle()
		if err != nil {
			return err
		}
		if !moved { // nothing comes of waiting but time-outs, there and here
			for _, f := range fars {
				f.next = f.acked
			}
			late, err := e.wait(e.Now() + uint64(1+t.rng.IntN(12))*t.p.CyclesPerMicrosecond())
			if err != nil {
				return err
			}
			outs = append(outs, late...)
		}
		moved = len(outs) > 0
		var frames []portFrame
		for _, o := range outs {
			p, err := roce.Decode(o.Data)
			if err != nil {
				return err
			}
			if c := g.addressee(o.Port, &p); c >= 0 {
				frames = append(frames, fars[c].take(g, &p)...)
			}
		}
		for _, f := range fars {
			if t.rng.IntN(3) > 0 {
				frames = append(frames, f.send(g)...)
			}
		}
		for _, f := range frames {
			e.send(f.port, f.data)
			moved = true
		}
	}
	for _, f := range fars {
		want := sums
		if g.parent >= 0 && f.c != g.parent {
			want = down
		}
		for k := range want {
			if f.hears && !bytes.Equal(f.got[k], want[k]) {
				return failf("endpoint %d, number %d: got %x, expected %x", f.c, k, f.got[k], want[k])
			}
		}
	}
	return e.drv.Disable(g.index)
}

// fairness watches the order of what an engine decides: an action that may be taken waits for no more than frames frames, and who wants to send
// for no more actions than others want to.
type fairness struct {
	e       *engine
	wants   []inc.Action
	waited  map[inc.Action]int
	company map[inc.Action]int // the most that wanted to since it wants to
	row     int
	// the longest that was seen
	frames, turns, most int
}

func (e *engine) fair() *fairness {
	f := &fairness{e: e, waited: map[inc.Action]int{}, company: map[inc.Action]int{}}
	e.OnAccept = func(dut.Accepted, []inc.Counter) error {
		if len(f.wants) > 0 {
			f.row++
			f.frames = max(f.frames, f.row)
		}
		f.look()
		return nil
	}
	e.OnAct = func(at uint64, a inc.Action) error {
		f.row = 0
		for _, w := range f.wants {
			if w != a {
				f.waited[w]++
			}
		}
		delete(f.waited, a)
		delete(f.company, a)
		f.look()
		for w, n := range f.waited {
			f.turns = max(f.turns, n)
			if n >= f.company[w] {
				return failf("cycle %d: %v has waited for %d actions though no more than %d wanted to send", at, w, n, f.company[w])
			}
		}
		return nil
	}
	return f
}

// look sees who wants to send now.
func (f *fairness) look() {
	was := f.wants
	f.wants = f.wants[len(f.wants):]
	for _, a := range f.e.Reference().Engine().Actions(nil) {
		if a.Kind == inc.ActSend || a.Kind == inc.ActSendOne {
			f.wants = append(f.wants, a)
		}
	}
	f.most = max(f.most, len(f.wants))
	for _, a := range was {
		if !slices.Contains(f.wants, a) {
			delete(f.waited, a)
			delete(f.company, a)
		}
	}
	for _, a := range f.wants {
		f.company[a] = max(f.company[a], len(f.wants))
	}
	if len(f.wants) == 0 {
		f.row = 0
	}
}

// scenPipeFair: all endpoints want all of a full pipe again while frames come in as fast as they can: frames and actions take turns, and so do
// the endpoints.
func scenPipeFair(t *T) error {
	g, err := t.pipeStar()
	if err != nil {
		return err
	}
	e, m, start, n := g.e, g.members(), g.set.Start, g.mw()
	for k := range n {
		for _, c := range m {
			f := g.data(c, start.Add(k), g.values(4))
			e.send(f.port, f.data)
		}
	}
	if _, err := e.settle(); err != nil {
		return err
	}
	f := e.fair()
	const rounds = 6
	for range rounds {
		for _, c := range t.shuffled(m) {
			nak := g.aeth(c, start, roce.NAKSequence)
			e.send(nak.port, nak.data)
		}
		for range 3 * n {
			for _, c := range m { // data taken before: short, and answered
				d := g.data(c, start, nil)
				e.send(d.port, d.data)
			}
		}
		if _, err := e.settle(); err != nil {
			return err
		}
	}
	t.values["fair_frames_in_a_row"], t.values["fair_actions_waited"], t.values["fair_wanted"] = uint64(f.frames), uint64(f.turns), uint64(f.most)
	if want := min(len(m), n); f.most < want && !t.oneQueue { // who has little to send again has sent it before the last one asks
		return failf("no more than %d wanted to send at once, at least %d should have", f.most, want)
	}
	if f.frames > fairFrames && !t.oneQueue {
		return failf("an action waited for %d frames, at most %d may pass", f.frames, fairFrames)
	}
	return e.counted("everything sent again", map[inc.Counter]uint32{inc.RxDuplicate: uint32(rounds * 3 * n * len(m))})
}

// fairFrames is how many frames may be decided while an action waits that may be taken.
const fairFrames = 1

// scenPipeReset: a group with packets outstanding, endpoints that lag, wait and have failed is stopped, or started again, in the middle: nothing
// more comes of what was, and the timers of another group go on as they should.
func scenPipeReset(t *T) error {
	const timeout = 20
	for round := range 4 {
		e, err := t.pipeEngine(timeout)
		if err != nil {
			return err
		}
		var gs [2]*group
		for i := range gs {
			if gs[i], err = e.newGroup(i, 2, t.p.Members, false); err != nil {
				return err
			}
		}
		a, b := gs[0], gs[1]
		m := a.members()
		seen := e.watch()
		for _, g := range gs {
			for k := range min(g.mw(), 2) {
				for _, c := range m {
					f := g.data(c, g.set.Start.Add(k), g.values(8))
					e.send(f.port, f.data)
				}
			}
		}
		if _, err := e.settle(); err != nil {
			return err
		}
		// when the other group's timers began: with the first packet
		at := only(slices.DeleteFunc(slices.Clone(*seen), func(x tick) bool { return x.a.Group != 1 }), inc.ActSend)[0].at
		for i, f := range []portFrame{a.aeth(m[0], a.set.Start, 0x21), a.aeth(m[len(m)-1], a.set.Start, 0x62)} {
			if i == 0 || len(m) > 1 {
				e.send(f.port, f.data)
			}
		}
		if _, err := e.settle(); err != nil {
			return err
		}
		switch round % 3 {
		case 0:
			err = e.drv.ResetGroup(a.index)
		case 1:
			err = e.drv.Disable(a.index)
		case 2:
			a.set.Start = roce.PSN(t.rng.Uint32() & 0xFFFFFF)
			err = a.program()
		}
		if err != nil {
			return err
		}
		*seen = nil
		first := at + timeout*t.p.CyclesPerMicrosecond()
		if _, err := e.wait(first + timeout*t.p.CyclesPerMicrosecond()); err != nil {
			return err
		}
		ups := only(*seen, inc.ActTimeout)
		for _, x := range *seen {
			if x.a.Group != 1 {
				return failf("%v, of before the group was stopped or started", x)
			}
		}
		if len(ups) != len(m) {
			return failf("the other group had %d time-outs, expected one of each of %d endpoints: %v", len(ups), len(m), ups)
		}
		for i, x := range ups { // one after the other: each sends before the next is found
			if late := t.lateness() + uint64(i)*64*uint64(t.beats(128)); x.at < first || x.at > first+late {
				return failf("time-out %d, of endpoint %d, in cycle %d, expected %d to %d", i, x.a.Endpoint, x.at, first, first+late)
			}
		}
		if err := b.acked(b.set.Start.Add(min(b.mw(), 2)-1), m...); err != nil {
			return err
		}
		if round%3 == 1 {
			if err := a.program(); err != nil {
				return err
			}
		}
		if failed, err := e.drv.Read("GROUP_FAILED", a.index); err != nil || failed != 0 {
			return failf("GROUP_FAILED is %#x after a start (%v)", failed, err)
		}
		for k := range 2 { // it works, and so does the other one
			for _, g := range gs {
				psn := g.set.Start.Add(k)
				if g == b {
					psn = psn.Add(min(b.mw(), 2))
				}
				if _, err := g.contributed(t.shuffled(m), psn, toAll(psn, m...)...); err != nil {
					return err
				}
				if err := g.acked(psn, m...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// scenPipeSettings: sizes of pipes from none to more than fits: those that do not fit leave the group disabled, those that do work as sized.
func scenPipeSettings(t *T) error {
	e, err := t.pipeEngine(longTimeout)
	if err != nil {
		return err
	}
	g := e.makeGroup(0, 1, t.p.Members, false)
	most := 1 << g.set.Log2N >> 1
	for _, n := range []int{0, 1, 2, 3, most - 1, most, most + 1, 2 * most, 1 << 23, 1<<24 - 1} {
		if n < 0 {
			continue
		}
		g.set.PipeSlots = n
		if n <= most {
			if err := g.program(); err != nil {
				return failf("pipes of %d slots: %w", n, err)
			}
			m := g.members()
			for k := range 2 * g.mw() {
				var want []leaving
				if k < g.mw() {
					want = toAll(g.set.Start.Add(k), m...)
				}
				if _, err := g.contributed(t.shuffled(m), g.set.Start.Add(k), want...); err != nil {
					return failf("pipes of %d slots: %w", n, err)
				}
			}
			end := g.set.Start.Add(2 * g.mw())
			if err := g.step("beyond both pipes", g.data(m[0], end, nil), ackOf(m[0], end, 0x21)); err != nil {
				return failf("pipes of %d slots: %w", n, err)
			}
			continue
		}
		if err := e.drv.Disable(g.index); err != nil {
			return err
		}
		if err := e.drv.SetGroup(g.index, g.set); err != nil {
			return err
		}
		if ok, err := e.drv.Enable(g.index); err != nil || ok {
			return failf("pipes of %d slots, of at most %d, were enabled (%v)", n, most, err)
		}
	}
	return nil
}
