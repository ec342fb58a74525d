// SPDX-License-Identifier: Apache-2.0

// Package score compares an engine with the reference while it runs. A Board stands between a scenario and an engine
// and is itself a DUT. Every register write goes to both. The reference is fed the frames that the engine accepted,
// in that order, and every frame that leaves must be the next one that the reference expects: engine-made frames in
// order on each port, bypassed frames in order on each port, the two kinds interleaved in any way.
//
// A Mode III engine reports the frames it decides and the actions it takes in order, and the reference repeats them
// in that order. An action must be allowed at that point and a time-out must not come early. When the engine rests,
// no action may be due.
package score

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/cover"
	"incforge/verify/dut"
)

// ErrMismatch is what every difference between engine and reference wraps.
var ErrMismatch = errors.New("engine and reference differ")

// Recorded is one frame in a Board's log.
type Recorded struct {
	dut.Frame
	Out bool
}

// want is a frame that is expected to leave.
type want struct {
	data []byte
	err  bool
}

// place is a hypothesis on how far the two queues of a port have been matched: when the same frame is next in both,
// only later frames tell which of the two it was.
type place struct{ made, passed int }

// port holds the frames that must still leave by one port.
type port struct {
	made, passed         []want
	madeBase, passedBase int
	places               []place
}

// Board is the scoreboard of one engine.
type Board struct {
	dut.DUT
	ref   *dut.Reference
	man   *contract.Manifest
	ports []port

	// Cover collects functional coverage. The Boards of one test may share it.
	Cover cover.Map
	// OnAccept, if not nil, is called with every accepted frame and the counters it changed in the reference.
	OnAccept func(a dut.Frame, changed []inc.Counter) error
	// OnAct, if not nil, is called with every action that a Mode III engine took, and its cycle.
	OnAct func(at uint64, a inc.Action) error

	pending []dut.Frame  // accepted and not yet decided, in Mode III
	acts    []dut.Act    // reported, waiting for frames not accepted yet
	early   []dut.Frame  // left, before the report that explains them
	wants   []inc.Action // scratch
	resting bool         // no action was due, and nothing has changed since

	waiting map[uint32]int // frames offered and not accepted, by destination QPN
	moved   uint64         // last cycle in which a frame was accepted or left, or none waited
	frames  uint64
	outs    []dut.Frame
	err     error
	log     []Recorded
	logSize int
	// injected: errors were injected into the payload memory (register ECC_INJECT); doubled: some were double errors.
	injected, doubled bool
}

// logBytes bounds a Board's log of frames; the oldest are dropped first.
const logBytes = 16 << 20

// New puts a board in front of d, which must be as after reset.
func New(d dut.DUT, m *contract.Manifest) (*Board, error) {
	ref, err := dut.NewReference(m)
	if err != nil {
		return nil, err
	}
	b := &Board{DUT: d, ref: ref, man: m, Cover: cover.Map{}, waiting: map[uint32]int{}}
	b.forget()
	return b, nil
}

// pipes reports whether the engine is of Mode III.
func (b *Board) pipes() bool { return b.man.Params.Mode == 3 }

func (b *Board) forget() {
	b.pending, b.acts, b.early, b.resting = nil, nil, nil, false
	b.ports = make([]port, b.man.Params.Ports)
	for i := range b.ports {
		b.ports[i].places = []place{{}}
	}
}

// Reference returns the reference engine.
func (b *Board) Reference() *dut.Reference { return b.ref }

// Frames is the number of frames the engine accepted.
func (b *Board) Frames() uint64 { return b.frames }

// Log returns the most recent frames in and out, in the order in which they were seen.
func (b *Board) Log() []Recorded { return b.log }

// Offer queues a frame at a port of the engine.
func (b *Board) Offer(port int, f dut.Frame) {
	b.waiting[destination(f.Data)]++
	b.DUT.Offer(port, f)
}

// WaitingFor is the number of frames offered and not yet accepted that have this destination QPN.
func (b *Board) WaitingFor(qpn uint32) int { return b.waiting[qpn] }

// destination is the value at the place of a RoCEv2 frame's destination QPN.
func destination(frame []byte) uint32 {
	if len(frame) < bthEnd {
		return 0
	}
	return uint32(frame[47])<<16 | uint32(frame[48])<<8 | uint32(frame[49])
}

// Accepted returns nothing: the Board consumes the accepted frames. OnAccept shows them.
func (b *Board) Accepted() []dut.Frame { return nil }

// Out returns what left since the last call, all of it as expected.
func (b *Board) Out() []dut.Frame {
	o := b.outs
	b.outs = nil
	return o
}

// Idle reports that SkipTo is safe: the engine rests, and no timer runs that SkipTo does not advance.
func (b *Board) Idle() bool {
	if !b.Rests() {
		return false
	}
	if _, ok := b.Timers(); ok {
		return true
	}
	_, runs := b.ref.Timers()
	return !runs || b.deadline() == dut.Never
}

// Deadline is the cycle at which a timer makes an idle engine act if no frame comes before; dut.Never if none runs.
func (b *Board) Deadline() uint64 {
	if next, ok := b.Timers(); ok {
		return next
	}
	return dut.Never
}

// deadline is the cycle in which the reference's next time-out or wait ends.
func (b *Board) deadline() uint64 {
	next, _ := b.ref.Timers()
	return next
}

// Rests reports that nothing can happen before a timer expires: no frame waits, and the engine has been still, for a
// short time if all expected frames have left, for a long time if not.
func (b *Board) Rests() bool {
	if len(b.outs) > 0 {
		return false
	}
	words := uint64(b.man.Params.MTUBytes / b.man.Params.BusBytes)
	still := b.DUT.Still()
	return still >= words+quietCycles && (still >= b.patience() || b.complete())
}

// Bounds on how long an engine may work without moving a beat at a port. quietCycles covers frames that make nothing
// leave. After stuckCycles, expected frames count as missing. Both come on top of the time for whole packets.
const (
	quietCycles = 64
	stuckCycles = 2000
)

// complete reports that everything expected has left and that no action is due at once.
func (b *Board) complete() bool {
	if len(b.pending) > 0 || len(b.acts) > 0 || len(b.early) > 0 || len(b.sends()) > 0 {
		return false
	}
	for i := range b.ports {
		if !b.ports[i].empty() {
			return false
		}
	}
	return true
}

// sends are the actions of a Mode III engine that are due at once.
func (b *Board) sends() []inc.Action {
	if !b.pipes() || b.resting {
		return nil
	}
	b.wants = b.ref.Engine().Due(math.MinInt64, b.wants[:0])
	b.resting = len(b.wants) == 0
	return b.wants
}

// empty reports that no more frames are expected at the port.
func (p *port) empty() bool {
	return slices.ContainsFunc(p.places, func(x place) bool {
		return x.made-p.madeBase == len(p.made) && x.passed-p.passedBase == len(p.passed)
	})
}

// StepTo runs the engine and compares. The first difference found is returned by every later call, too.
func (b *Board) StepTo(cycle uint64) error {
	if b.err != nil {
		return b.err
	}
	if err := b.DUT.StepTo(cycle); err != nil {
		b.err = err
		return err
	}
	if err := b.collect(); err != nil {
		return err
	}
	return b.alive()
}

// SkipTo advances the time. Skipped cycles do not count as cycles in which the engine was still.
func (b *Board) SkipTo(cycle uint64) {
	if now := b.Now(); cycle > now {
		b.moved += cycle - now
	}
	b.DUT.SkipTo(cycle)
}

// alive returns an error if the engine is still though frames are expected, or accepts none though frames wait.
func (b *Board) alive() error {
	switch still := b.DUT.Still(); {
	case b.Waiting() == 0:
		b.moved = b.Now()
		if still >= b.patience() {
			if err := b.Missing(); err != nil {
				return err
			}
			return b.late(still)
		}
	case b.Now()-b.moved > settleCycles:
		b.err = fmt.Errorf("%w: %d frames wait at the inputs and nothing has moved for %d cycles", ErrMismatch, b.Waiting(), settleCycles)
	}
	return b.err
}

// late returns an error if the engine is still long after a time-out or wait has ended.
func (b *Board) late(still uint64) error {
	if !b.pipes() || b.err != nil {
		return b.err
	}
	if next := b.deadline(); next != dut.Never && next+b.patience() < b.Now() {
		var all []inc.Action
		for _, a := range b.ref.Engine().Actions(nil) {
			if at, ok := b.ref.Engine().Deadline(a); ok && b.ref.Cycle(at) == next {
				all = append(all, a)
			}
		}
		b.err = fmt.Errorf("%w: cycle %d: actions due since cycle %d were not taken, though nothing has moved for %d cycles: %v",
			ErrMismatch, b.Now(), next, still, all)
	}
	return b.err
}

// patience is the number of still cycles after which nothing more will leave.
func (b *Board) patience() uint64 {
	return uint64(4*b.man.Params.MTUBytes/b.man.Params.BusBytes) + stuckCycles
}

// collect feeds the reference with what the engine accepted and compares what left.
func (b *Board) collect() error {
	if b.err != nil {
		return b.err
	}
	for _, a := range b.DUT.Accepted() {
		b.moved = b.Now()
		b.waiting[destination(a.Data)]--
		b.record(Recorded{Frame: a})
		if b.pipes() {
			b.pending = append(b.pending, a)
			continue
		}
		if err := b.accept(a, a.Last); err != nil {
			b.err = err
			return err
		}
	}
	if err := b.decide(); err != nil {
		b.err = err
		return err
	}
	early := b.early
	b.early = nil
	for _, o := range append(early, b.DUT.Out()...) {
		b.moved = b.Now()
		if len(early) > 0 {
			early = early[1:]
		} else {
			b.record(Recorded{Frame: o, Out: true})
		}
		if err := b.see(o); err != nil {
			b.err = err
			return err
		}
	}
	return nil
}

// see compares a frame that left. A bypassed frame may leave before the engine reports its decision. The comparison
// is then put off until the report, and so is that of frames leaving later by the same port.
func (b *Board) see(o dut.Frame) error {
	if !slices.ContainsFunc(b.early, func(x dut.Frame) bool { return x.Port == o.Port }) {
		err := b.check(o)
		if err == nil {
			b.outs = append(b.outs, o)
			return nil
		}
		if len(b.pending) == 0 {
			return err
		}
	}
	b.early = append(b.early, o)
	return nil
}

// decide has the reference repeat, in order, what a Mode III engine reported.
func (b *Board) decide() error {
	b.acts = append(b.acts, b.DUT.Acts()...)
	for len(b.acts) > 0 {
		a := b.acts[0]
		if a.Kind == dut.ActFrame && len(b.pending) == 0 {
			return nil // the frame's end is not in yet
		}
		b.acts = b.acts[1:]
		b.resting = false
		if a.Kind == dut.ActFrame {
			f := b.pending[0]
			b.pending = b.pending[1:]
			if err := b.accept(f, a.At); err != nil {
				return err
			}
			continue
		}
		if err := b.act(a); err != nil {
			return err
		}
	}
	return nil
}

// act has the reference take an action. It must be allowed and not early.
func (b *Board) act(a dut.Act) error {
	action, err := b.ref.Action(a)
	if err != nil {
		return fmt.Errorf("%w: cycle %d: %w", ErrMismatch, a.At, err)
	}
	if at, ok := b.ref.Engine().Deadline(action); ok && a.At < b.ref.Cycle(at) {
		return fmt.Errorf("%w: cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow before cycle %d", ErrMismatch, a.At, action, b.ref.Cycle(at))
	}
	outs, err := b.ref.Act(a)
	if err != nil {
		return fmt.Errorf("%w: cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow now; it allows %v", ErrMismatch, a.At, action,
			b.ref.Engine().Actions(nil))
	}
	b.expect(outs)
	b.Cover.Add(cover.Point{Opcode: "-", Class: "action", Slot: "-", Outcome: action.Kind.String()})
	if b.OnAct != nil {
		return b.OnAct(a.At, action)
	}
	return nil
}

// expect records frames that must leave.
func (b *Board) expect(outs []inc.Out) {
	for _, o := range outs {
		p := &b.ports[o.Port]
		if w := (want{data: o.Frame, err: o.Err}); o.Bypass {
			p.passed = append(p.passed, w)
		} else {
			p.made = append(p.made, w)
		}
	}
}

func (b *Board) record(r Recorded) {
	b.log = append(b.log, r)
	for b.logSize += len(r.Data); b.logSize > logBytes; {
		b.logSize -= len(b.log[0].Data)
		b.log = b.log[1:]
	}
}

// accept gives the reference a frame that the engine accepted and, if it reports decisions, decided in cycle at.
func (b *Board) accept(a dut.Frame, at uint64) error {
	b.frames++
	var packet *roce.Packet
	var saw *inc.Sight
	if p, err := a.Packet(); err == nil {
		packet, saw = p, b.sight(p)
	}
	before := b.ref.Engine().Counters()
	b.expect(b.ref.Handle(at, a.Port, a.Data, a.Err))
	after := b.ref.Engine().Counters()
	var changed []inc.Counter
	for c := range b.ref.Engine().Params().Counters() {
		if after[c] != before[c] {
			changed = append(changed, c)
		}
	}
	b.cover(packet, changed, saw)
	if b.OnAccept != nil {
		return b.OnAccept(a, changed)
	}
	return nil
}

// check looks for a frame that left among those expected.
func (b *Board) check(o dut.Frame) error {
	p := &b.ports[o.Port]
	var next []place
	add := func(x place) {
		if !slices.Contains(next, x) {
			next = append(next, x)
		}
	}
	is := func(q []want, i int) bool {
		return i < len(q) && q[i].err == o.Err && bytes.Equal(q[i].data, o.Data)
	}
	spoilt := func(q []want, i int) bool {
		return b.doubled && i < len(q) && !o.Err && Spoilt(o.Data) && alike(q[i].data, o.Data)
	}
	for _, x := range p.places {
		if is(p.made, x.made-p.madeBase) || spoilt(p.made, x.made-p.madeBase) {
			add(place{x.made + 1, x.passed})
		}
		if is(p.passed, x.passed-p.passedBase) {
			add(place{x.made, x.passed + 1})
		}
	}
	if len(next) == 0 {
		return b.mismatch(o)
	}
	p.places = next
	made, passed := next[0].made, next[0].passed
	for _, x := range next[1:] {
		made, passed = min(made, x.made), min(passed, x.passed)
	}
	p.made, p.madeBase = p.made[made-p.madeBase:], made
	p.passed, p.passedBase = p.passed[passed-p.passedBase:], passed
	return nil
}

// Spoilt reports whether all bits of a frame's ICRC are inverted, as they must be if it holds a word that the memory
// could not correct: receivers then drop it.
func Spoilt(frame []byte) bool {
	good := slices.Clone(frame)
	roce.Reseal(good)
	at, ok := icrcAt(frame)
	if !ok {
		return false
	}
	for i := range 4 {
		if frame[at+i] != ^good[at+i] {
			return false
		}
	}
	return true
}

// icrcAt is the offset of the ICRC in a frame that the engine made.
func icrcAt(frame []byte) (int, bool) {
	if len(frame) < bthEnd {
		return 0, false
	}
	at := 14 + (int(frame[16])<<8 | int(frame[17])) - 4
	return at, at >= bthEnd && at+4 <= len(frame)
}

// alike compares frames without payload and ICRC.
func alike(a, b []byte) bool {
	p, err := roce.Decode(a)
	if err != nil || len(a) != len(b) || !p.Op.IsSend() {
		return false
	}
	end, ok := icrcAt(a)
	if !ok {
		return false
	}
	from := end - int(p.Pad) - len(p.Payload)
	return bytes.Equal(a[:from], b[:from]) && bytes.Equal(a[end-int(p.Pad):end], b[end-int(p.Pad):end]) && bytes.Equal(a[end+4:], b[end+4:])
}

func (b *Board) mismatch(o dut.Frame) error {
	p := &b.ports[o.Port]
	var s strings.Builder
	fmt.Fprintf(&s, "port %d, cycle %d: unexpected frame %s", o.Port, o.Last, describe(o.Data, o.Err))
	x := p.places[0]
	if i := x.made - p.madeBase; i < len(p.made) {
		fmt.Fprintf(&s, "\nnext engine-made frame expected %s%s", describe(p.made[i].data, p.made[i].err), diff(p.made[i].data, o.Data))
	} else {
		s.WriteString("\nno engine-made frame expected")
	}
	if i := x.passed - p.passedBase; i < len(p.passed) {
		fmt.Fprintf(&s, "\nnext bypassed frame expected %s%s", describe(p.passed[i].data, p.passed[i].err), diff(p.passed[i].data, o.Data))
	} else {
		s.WriteString("\nno bypassed frame expected")
	}
	return fmt.Errorf("%w: %s", ErrMismatch, s.String())
}

// describe shows a frame in words and its first bytes.
func describe(data []byte, rxErr bool) string {
	head := hex.EncodeToString(data[:min(len(data), 80)])
	text := fmt.Sprintf("(%d bytes, err %v)", len(data), rxErr)
	if p, err := roce.Decode(data); err == nil {
		text += " " + p.String()
	}
	return text + "\n  " + head
}

// diff describes the first difference of two frames.
func diff(a, b []byte) string {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return fmt.Sprintf("\n  first difference at byte %d: expected %#02x, got %#02x", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("\n  same up to byte %d; expected %d bytes, got %d", n, len(a), len(b))
	}
	return ""
}

// Read reads a register of the engine and compares it with the reference's, except STATUS.busy and counters, which
// lag while frames are inside.
func (b *Board) Read(addr uint32) (uint32, error) {
	v, err := b.DUT.Read(addr)
	if err != nil {
		return 0, err
	}
	if err := b.collect(); err != nil {
		return 0, err
	}
	reg, i, ok := b.man.Find(addr)
	if !ok || reg.Name == "COUNTER" || reg.Name == "VERSION" || !b.ref.Known(addr) {
		return v, nil
	}
	w, err := b.ref.Read(addr)
	if err != nil {
		return 0, err
	}
	bits := func(field string) uint32 {
		f, _ := reg.Field(field) // a field of no bits otherwise
		return f.Mask()
	}
	mask := ^uint32(0)
	switch {
	case reg.Name == "GROUP_STATUS" && v&bits("busy") != 0:
		return v, nil
	case reg.Name == "GROUP_CTRL":
		mask = bits("enable") // reset clears itself in its own time
	case reg.Name == "ECC_INJECT":
		mask = 0 // clears itself when a row is written
	}
	if v&mask != w&mask {
		b.err = fmt.Errorf("%w: register %s[%d] reads %#x, expected %#x", ErrMismatch, reg.Name, i, v, w)
		return 0, b.err
	}
	return v, nil
}

// Write writes a register of both. Frames that the engine accepted before take effect before the write.
func (b *Board) Write(addr, value uint32) error { return b.WriteStrobes(addr, value, 0xF) }

// WriteStrobes writes some bytes of a register of both. The error is dut.ErrRefused if both refuse the write.
func (b *Board) WriteStrobes(addr, value uint32, strobes uint8) error {
	if err := b.collect(); err != nil {
		return err
	}
	write := func(d dut.DUT) error {
		if strobes == 0xF {
			return d.Write(addr, value)
		}
		return d.WriteStrobes(addr, value, strobes)
	}
	refused := write(b.DUT)
	if refused != nil && !errors.Is(refused, dut.ErrRefused) {
		return refused
	}
	if b.pipes() { // actions reported while the bus was busy came before the write
		if err := b.collect(); err != nil {
			return err
		}
		b.resting = false
	}
	switch err := write(b.ref); {
	case err != nil && !errors.Is(err, dut.ErrRefused):
		return err
	case (err != nil) != (refused != nil):
		b.err = fmt.Errorf("%w: a write of %#x to address %#x, strobes %04b: the engine says %v, expected %v", ErrMismatch, value, addr, strobes, refused, err)
		return b.err
	case err != nil:
		return refused
	}
	if reg, _, ok := b.man.Find(addr); ok && reg.Name == "ECC_INJECT" && b.man.Params.ECC {
		b.injected = b.injected || value != 0
		b.doubled = b.doubled || value > 1
	}
	return b.collect()
}

// Reset resets both and discards what was expected.
func (b *Board) Reset() error {
	if err := b.collect(); err != nil {
		return err
	}
	if err := b.DUT.Reset(); err != nil {
		return err
	}
	b.DUT.Accepted()
	b.DUT.Acts()
	b.DUT.Out()
	b.outs = nil
	b.forget()
	return b.ref.Reset()
}

// settleCycles is how long Settle lets an engine work before it counts as stuck.
const settleCycles = 400000

// Settle runs until the engine rests and everything expected has left; Out then returns what left. It does not wait
// for timers: a Mode III engine whose results are not acknowledged rests between retransmissions.
func (b *Board) Settle() error {
	var outs []dut.Frame
	for limit := b.Now() + settleCycles; ; {
		if err := b.StepTo(b.Now() + 64); err != nil {
			return err
		}
		outs = append(outs, b.Out()...)
		if b.Rests() {
			break
		}
		if b.Now() > limit {
			return fmt.Errorf("%w: not at rest after %d cycles; %d frames wait at its inputs", ErrMismatch, settleCycles, b.Waiting())
		}
	}
	b.outs = outs
	return b.Missing()
}

// Missing returns an error if the reference sent frames that the idle engine did not.
func (b *Board) Missing() error {
	if b.err != nil {
		return b.err
	}
	switch sends := b.sends(); {
	case len(b.early) > 0:
		b.err = b.mismatch(b.early[0])
	case len(b.acts) > 0:
		b.err = fmt.Errorf("%w: the engine decided a frame in cycle %d and has taken none", ErrMismatch, b.acts[0].At)
	case len(b.pending) > 0:
		b.err = fmt.Errorf("%w: %d frames were taken and never decided, the first in cycle %d: %s", ErrMismatch, len(b.pending), b.pending[0].Last,
			describe(b.pending[0].Data, b.pending[0].Err))
	case len(sends) > 0:
		b.err = fmt.Errorf("%w: the engine rests, but docs/pipes.md section 3 requires the actions %v", ErrMismatch, sends)
	}
	if b.err != nil {
		return b.err
	}
	for i := range b.ports {
		p := &b.ports[i]
		if p.empty() {
			continue
		}
		x := p.places[0]
		made, passed := p.made[x.made-p.madeBase:], p.passed[x.passed-p.passedBase:]
		var first string
		if len(made) > 0 {
			first += "\nengine-made: " + describe(made[0].data, made[0].err)
		}
		if len(passed) > 0 {
			first += "\nbypassed: " + describe(passed[0].data, passed[0].err)
		}
		b.err = fmt.Errorf("%w: port %d: %d engine-made and %d bypassed frames never left; the first:%s", ErrMismatch, i,
			len(made), len(passed), first)
		return b.err
	}
	return nil
}

// Finish settles, compares every counter with the reference's and checks the identities of docs/engine.md section 7 or, in Mode III,
// docs/pipes.md section 6, and then the reference's invariants too. Groups of a Mode III engine with something outstanding are disabled
// first: time-outs would step counters while they are read.
func (b *Board) Finish() (map[string]uint64, error) {
	outs := b.outs
	if err := b.Settle(); err != nil {
		return nil, err
	}
	b.outs = append(outs, b.outs...)
	if b.pipes() {
		if err := b.stop(); err != nil {
			return nil, err
		}
	}
	all := map[string]uint64{}
	expect := b.ref.Engine().Counters()
	names := map[string]uint32{}
	for c := range b.ref.Engine().Params().Counters() {
		names[c.String()] = expect[c]
	}
	var wrong []string
	for i, name := range b.man.Counters {
		a, err := b.man.Addr("COUNTER", i)
		if err != nil {
			return nil, err
		}
		v, err := b.DUT.Read(a)
		if err != nil {
			return nil, fmt.Errorf("read counter %s: %w", name, err)
		}
		all[name] = uint64(v)
		if b.injected && strings.HasPrefix(name, "ECC_") {
			delete(names, name)
			continue // the scenario knows what it wrote
		}
		if want, ok := names[name]; !ok || v != want {
			wrong = append(wrong, fmt.Sprintf("%s is %d, expected %d", name, v, want))
		}
		delete(names, name)
	}
	for name := range names {
		wrong = append(wrong, "the manifest has no counter "+name)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		b.err = fmt.Errorf("%w: counters: %s", ErrMismatch, strings.Join(wrong, "; "))
		return all, b.err
	}
	check := identities
	if b.pipes() {
		check = pipeIdentities
	}
	if err := check(all); err != nil {
		b.err = fmt.Errorf("%w: %w", ErrMismatch, err)
		return all, b.err
	}
	return all, nil
}

// stop checks the invariants and disables groups for which a timer runs.
func (b *Board) stop() error {
	if err := b.ref.Engine().CheckInvariants(); err != nil {
		b.err = fmt.Errorf("%w: %w", ErrMismatch, err)
		return b.err
	}
	if b.deadline() == dut.Never {
		return nil
	}
	outs := b.outs
	b.outs = nil
	for g := range b.man.Params.Groups {
		if !b.ref.Engine().Enabled(g) {
			continue
		}
		addr, err := b.man.Addr("GROUP_CTRL", g)
		if err != nil {
			return err
		}
		if err := b.Write(addr, 0); err != nil {
			return err
		}
	}
	err := b.Settle()
	b.outs = append(outs, b.outs...)
	return err
}

// pipeIdentities checks the equations of docs/pipes.md section 6 that hold for any run, by the names of the engine's own counters.
func pipeIdentities(c map[string]uint64) error {
	sum := func(names ...string) uint64 {
		var s uint64
		for _, n := range names {
			s += c[n]
		}
		return s
	}
	dataDrops := sum("DROP_GAP", "DROP_FULL", "DROP_SHAPE")
	var drops uint64
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			drops += v
		}
	}
	for _, e := range []struct {
		name        string
		left, right uint64
	}{
		{"RX_FRAMES", c["RX_FRAMES"], sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP") + drops - dataDrops},
		{"UP_DATA + DOWN_DATA", sum("UP_DATA", "DOWN_DATA"), sum("AGG", "DOWN_TAKEN", "RX_DUPLICATE") + dataDrops},
		{"TX_ACK", c["TX_ACK"], sum("AGG", "DOWN_TAKEN", "RX_DUPLICATE")},
		{"AGG", c["AGG"], sum("BUFFERED", "TX_RESULT")},
		{"TX_FRAMES", c["TX_FRAMES"], sum("TX_FANOUT", "TX_ACK", "TX_GAP_NAK", "TX_RNR", "TX_CNP")},
	} {
		if e.left != e.right {
			return fmt.Errorf("counter identity of %s fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	for _, name := range []string{"TX_RESEND", "TX_REFLECT", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK", "DROP_STALE", "DROP_WINDOW"} {
		if c[name] != 0 {
			return fmt.Errorf("counter %s is %d in Mode III, which does not have that", name, c[name])
		}
	}
	return nil
}

// identities checks the equations that hold for any run, by the names of the engine's own counters. TX_RESULT is part of
// TX_FRAMES only on a node with a parent, which a switch may be in one group and not in another: the sum lies between.
func identities(c map[string]uint64) error {
	sum := func(names ...string) uint64 {
		var s uint64
		for _, n := range names {
			s += c[n]
		}
		return s
	}
	upDrops := sum("DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE")
	var drops uint64
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			drops += v
		}
	}
	for _, e := range []struct {
		name        string
		left, right uint64
	}{
		{"RX_FRAMES", c["RX_FRAMES"], sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REACK") + drops - upDrops},
		{"UP_DATA", c["UP_DATA"], sum("AGG", "TX_RESEND") + upDrops},
		{"AGG", c["AGG"], sum("BUFFERED", "TX_RESULT")},
		{"TX_RESULT", c["TX_RESULT"], c["WIPE"]},
	} {
		if e.left != e.right {
			return fmt.Errorf("counter identity of %s fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	low := sum("TX_FANOUT", "TX_RESEND", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK")
	if c["TX_FRAMES"] < low || c["TX_FRAMES"] > low+c["TX_RESULT"] {
		return fmt.Errorf("counter identity of TX_FRAMES fails: %d is not within %d to %d", c["TX_FRAMES"], low, low+c["TX_RESULT"])
	}
	return nil
}
