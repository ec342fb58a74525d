// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/live/ether"
	"incforge/live/groups"
	"incforge/live/pace"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// loop is one switch at work. Its engine belongs to the goroutine of run; others ask by calls.
type loop struct {
	whole *run
	sw    *Switch
	man   *contract.Manifest
	setup *groups.Setup
	scale float64

	eng   dut.DUT      // what frames and register accesses go through: the board, or the engine itself
	board *score.Board // nil: unchecked
	look  *inc.Switch  // the reference beside the engine, or the engine that is one; nil if there is neither
	ctl   *ctrl.Driver

	ports  map[int]*port // by number
	in     chan datagram
	calls  chan func()
	ended  chan struct{}
	now    chan struct{} // closed: can be received from at once
	clock  pace.Clock
	bridge *ether.Bridge
	watch  *watch

	skipped    uint64
	longestRNR uint64 // cycles of the longest wait that an endpoint asked for
	rep        SwitchReport
	last       struct { // the line of state before
		at        time.Time
		simulated uint64
	}
}

// newLoop programs a switch's engine.
func newLoop(r *run, sw *Switch) (l *loop, err error) {
	defer fail.Catch(&err, "")
	l = &loop{whole: r, sw: sw, man: sw.Manifest, setup: sw.Setup, scale: sw.TimeScale, eng: sw.Engine, ports: map[int]*port{},
		in: make(chan datagram, inQueue), calls: make(chan func()), ended: make(chan struct{}), now: make(chan struct{})}
	close(l.now)
	if l.scale == 0 {
		l.scale = 1
	}
	if ref, ok := sw.Engine.(*dut.Reference); ok {
		l.look = ref.Engine()
	}
	if !sw.Unchecked {
		l.board = fail.Must(score.New(sw.Engine, sw.Manifest))
		l.eng, l.look = l.board, l.board.Reference().Engine()
	}
	if sw.Bridge {
		l.bridge = ether.NewBridge()
	}
	l.watch = newWatch(l)
	l.ctl = ctrl.New(l.eng, l.man)
	fail.On(l.setup.Program(l.ctl, l.scale))
	l.clock = pace.New(l.man.Params.CyclesPerMicrosecond(), l.scale, quantum)
	l.rep = SwitchReport{Name: sw.Name, Config: l.man.Name, Checked: l.board != nil, TimeScale: l.scale}
	return l, nil
}

// run passes frames until ctx ends.
func (l *loop) run(ctx context.Context) (err error) {
	defer fail.Catch(&err, "%s", l.whole.of(l))
	flush := time.NewTicker(flushTime * time.Second)
	defer flush.Stop()
	look := time.NewTicker(watchTime)
	defer look.Stop()
	var status <-chan time.Time // never, unless asked for
	if l.whole.o.Status > 0 {
		t := time.NewTicker(l.whole.o.Status)
		defer t.Stop()
		status = t.C
	}
	l.last.at = time.Now()
	l.clock.Work(time.Now())
	for {
		ready, due := l.next()
		select {
		case <-ctx.Done():
			return nil
		case <-status:
			l.status()
		case <-look.C:
			l.watch.check(time.Now())
		case <-flush.C:
			fail.On(l.whole.flush())
		case call := <-l.calls:
			call()
		case d := <-l.in:
			l.follow()
			l.take(d)
		case <-due:
		case <-ready:
		}
		l.step()
	}
}

// next says when the engine runs on if nothing comes: ready can be received from at once, due later; neither if it waits for frames.
func (l *loop) next() (ready <-chan struct{}, due <-chan time.Time) {
	switch {
	case !l.rests():
		return l.now, nil
	case l.idle():
		if at := l.deadline(); at != dut.Never {
			return nil, time.After(l.clock.Until(at - min(at, l.eng.Now())))
		}
		return nil, nil
	case l.clock.Allowed() >= quantum: // timers run in the model, which no cycle can be skipped of
		return l.now, nil
	}
	return nil, time.After(l.clock.Until(quantum))
}

// step takes what waits and runs the engine a little, if there is anything for it.
func (l *loop) step() {
	l.follow()
	for n := min(len(l.in), perRound); n > 0 && l.eng.Waiting() < inEngine; n-- {
		l.take(<-l.in)
	}
	now := time.Now()
	switch {
	case !l.rests():
		l.forward()
		l.clock.Work(now)
	case l.idle():
		l.clock.Rest(now)
		if l.deadline() <= l.eng.Now()+quantum {
			l.clock.Spend(quantum)
			l.forward()
		}
	default:
		l.clock.Rest(now)
		l.clock.Bound()
		if l.clock.Allowed() >= quantum {
			l.clock.Spend(quantum)
			l.forward()
		}
	}
}

// forward runs the engine a little and passes on what left.
func (l *loop) forward() {
	fail.On(l.eng.StepTo(l.eng.Now() + l.cycles()))
	l.leave()
}

// cycles is how long the engine runs between two looks at the sockets. A reference alone takes no time for cycles, but for frames.
func (l *loop) cycles() uint64 {
	if l.board == nil && l.look != nil && l.eng.Waiting() > 0 {
		return alone
	}
	return quantum
}

// follow lets an idle engine's clock catch up with the hosts', as far as nothing is due before.
func (l *loop) follow() {
	if !l.rests() || !l.idle() {
		return
	}
	l.clock.Rest(time.Now())
	now := l.eng.Now()
	if to := min(now+l.clock.Allowed(), l.deadline()); to > now {
		l.eng.SkipTo(to)
		l.skipped += to - now
		l.clock.Spend(to - now)
	}
}

// rests reports that nothing moves in the engine, and idle, of an engine that rests, that its clock may skip cycles.
func (l *loop) rests() bool {
	if l.board != nil {
		return l.board.Rests()
	}
	return l.eng.Waiting() == 0 && l.eng.Still() >= uint64(l.man.Params.MTUBytes/l.man.Params.BusBytes)+quietCycles
}

func (l *loop) idle() bool {
	if l.board != nil {
		return l.board.Idle()
	}
	// A timer in the model that ran would have made a frame leave within its longest time.
	_, known := l.eng.Timers()
	return known || l.eng.Still() > l.longestTimer()
}

// quietCycles is how long an engine that is not compared with the reference may work without moving a beat at a port.
const quietCycles = 512

// longestTimer is the most that a timer of a Mode III engine can take, in cycles: its time-out, doubled three times, or a wait.
func (l *loop) longestTimer() uint64 {
	longest := uint64(0)
	if l.setup.Pipes != nil {
		longest = 8 * uint64(l.setup.Pipes.Timeout(l.scale)+1) * l.man.Params.CyclesPerMicrosecond()
	}
	return max(longest, l.longestRNR) + quietCycles + uint64(l.man.Params.Groups*(l.man.Params.Members+3))
}

// deadline is the cycle in which an idle engine acts by itself, dut.Never if it does not or that is not known.
func (l *loop) deadline() uint64 {
	at, _ := l.eng.Timers()
	if l.board != nil {
		at, _ = l.board.Reference().Timers()
	}
	return at
}

// take takes a datagram in: ARP requests are answered, what is not for the engine goes over the bridge, the rest to the engine. A socket's
// error is the run's.
func (l *loop) take(d datagram) {
	fail.On(d.err)
	l.whole.record(d.port, d.when, d.data)
	if reply := ether.Answer(d.data, l.setup.Answers(d.port.number)); reply != nil {
		atomic.AddUint64(&d.port.counts.ARP, 1)
		if l.bridge != nil {
			l.bridge.Learn(roce.MAC(d.data[6:12]), d.port.number, d.when)
		}
		l.put(d.port, reply)
		return
	}
	if l.bridge != nil && !l.setup.Local(roce.MAC(d.data[:6])) {
		l.pass(d)
		return
	}
	atomic.AddUint64(&d.port.counts.In, 1)
	if wait := pace.RNRWait(d.data); wait > 0 {
		l.longestRNR = max(l.longestRNR, uint64(float64(wait.Microseconds()+1)*l.scale)*l.man.Params.CyclesPerMicrosecond())
	}
	pace.Dilate(d.data, l.scale)
	l.watch.came(d.port.number, d.data, d.when)
	l.eng.Offer(d.port.number, dut.Frame{Data: d.data})
}

// pass sends a frame over the bridge, to the port behind which its receiver is, or to all others.
func (l *loop) pass(d datagram) {
	atomic.AddUint64(&d.port.counts.BridgeIn, 1)
	l.bridge.Learn(roce.MAC(d.data[6:12]), d.port.number, d.when)
	to, known := l.bridge.Find(roce.MAC(d.data[:6]), d.when)
	for _, n := range sortedKeys(l.ports) {
		if n != d.port.number && (!known || n == to) {
			l.rep.Bridged++
			l.put(l.ports[n], slices.Clone(d.data))
		}
	}
}

// leave passes on what left the engine.
func (l *loop) leave() {
	if l.board == nil {
		l.eng.Accepted() // nobody else takes them
		l.eng.Acts()
	}
	for _, o := range l.eng.Out() {
		p := l.ports[o.Port]
		_, bypass := l.setup.Bypass[o.Port]
		data := o.Data
		switch {
		case p == nil:
			l.rep.Unattached++
		case !bypass && len(data) >= MinFrame && !l.setup.Local(roce.MAC(data[6:12])):
			atomic.AddUint64(&p.counts.Returned, 1)
		default:
			l.watch.left(o.Port, data)
			if l.scale != 1 {
				data = slices.Clone(data) // the scoreboard keeps it
				pace.Dilate(data, 1/l.scale)
			}
			l.put(p, data)
		}
	}
}

// put hands a frame to the port's sender, or loses it if that is far behind.
func (l *loop) put(p *port, frame []byte) {
	l.whole.record(p, time.Now(), frame)
	if p.hurry(frame) {
		return
	}
	p.behind.Add(1)
	select {
	case p.out <- frame:
	default:
		p.behind.Add(-1)
		atomic.AddUint64(&p.counts.Full, 1)
	}
}

// finish lets everything leave and reads the counters; of a run that failed it reads nothing.
func (l *loop) finish(failed error) (err error) {
	defer func() { err = errors.Join(failed, err) }()
	defer fail.Catch(&err, "%s", l.whole.of(l))
	if failed == nil {
		if l.board != nil {
			l.rep.Counters = fail.Must(l.board.Finish())
		} else {
			for n := 0; !l.rests() && n < finishSteps; n++ {
				l.forward()
			}
			l.rep.Counters = fail.Must(l.ctl.Counters())
		}
	}
	l.leave()
	return nil
}

// finishSteps bounds how long an engine that is not compared with the reference is waited for at the end.
const finishSteps = 4096

// counters are the engine's. Those of the reference beside it are the same, and reading them takes no cycles.
func (l *loop) counters() map[string]uint64 {
	if l.look == nil {
		return fail.Must(l.ctl.Counters())
	}
	all, has := map[string]uint64{}, l.look.Counters()
	for c := range l.look.Params().Counters() {
		all[c.String()] = has[c]
	}
	return all
}

// simulated is the number of cycles that were not skipped.
func (l *loop) simulated() uint64 { return l.eng.Now() - l.skipped }

// report is what was seen so far.
func (l *loop) report() SwitchReport {
	rep := l.rep
	rep.Cycles, rep.Simulated, rep.Standstills = l.eng.Now(), l.simulated(), l.watch.found
	rep.Ports = nil
	for _, n := range sortedKeys(l.ports) {
		rep.Ports = append(rep.Ports, l.ports[n].report())
	}
	return rep
}

// status says in a line how it goes.
func (l *loop) status() {
	var in, out, lost, faults uint64
	for _, p := range l.ports {
		r := p.counts.load()
		in, out, faults = in+r.In, out+r.Out, faults+r.LostIn+r.LostOut
		lost += r.Short + r.Long + r.Nobody + r.Full + r.Failed
	}
	now := time.Now()
	rate := float64(l.simulated()-l.last.simulated) / now.Sub(l.last.at).Seconds()
	l.last.at, l.last.simulated = now, l.simulated()
	text := fmt.Sprintf("live: %s%.0f s, cycle %d, %.0f simulated a second, %d frames in, %d out, %d lost at sockets", l.whole.of(l),
		time.Since(l.whole.start).Seconds(), l.eng.Now(), rate, in, out, lost)
	if faults > 0 {
		text += fmt.Sprintf(", %d by faults", faults)
	}
	l.whole.o.Log.Infof("%s, %d dropped by the engine, %d wait", text, drops(l.counters()), l.eng.Waiting())
}
