// SPDX-License-Identifier: Apache-2.0

// Package axil drives an AXI4-Lite slave (32-bit data) of a simulated model: a
// [Master] with a protocol checker on the slave's answers.
//
// The interface is bound by its prefix: "s_axil" finds s_axil_awaddr and the others;
// wstrb, awprot, arprot, bresp and rresp are used where the model has them. One access
// is under way at a time, but those of Together: they are all offered as early as
// AXI4-Lite lets them be. Tasks use Read and Write; code that runs between Ticks uses
// ReadReg and WriteReg, which tick until the answer is there.
package axil

import (
	"errors"
	"fmt"
	"slices"

	"incforge/sim"
	"incforge/sim/axis"
)

// DefaultTimeout is the number of cycles an access may take.
const DefaultTimeout = 10000

// Rule is a numbered rule of the protocol checker (AMBA AXI, IHI 0022, A3.1.2 and
// A3.2.1).
type Rule int

// The rules.
const (
	RuleValidHeld   Rule = 1 // bvalid, rvalid stay high until ready
	RulePayloadHeld Rule = 2 // bresp, rdata, rresp stay the same until ready
	RuleUnasked     Rule = 3 // no answer before its request was taken
	RuleReset       Rule = 4 // bvalid, rvalid are low in the cycle after one with reset
)

// String says what broke.
func (r Rule) String() string {
	switch r {
	case RuleValidHeld:
		return "valid fell before ready"
	case RulePayloadHeld:
		return "payload changed while waiting for ready"
	case RuleUnasked:
		return "an answer that nobody asked for"
	case RuleReset:
		return "valid is high in the cycle after reset"
	}
	return fmt.Sprintf("rule %d", int(r))
}

// Violation is a broken rule.
type Violation struct {
	Rule    Rule
	Channel string // "s_axil_b" or "s_axil_r"
	Cycle   uint64
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%s: AXI4-Lite rule %d broken in cycle %d: %s", v.Channel, int(v.Rule), v.Cycle, v.Rule)
}

// Responses of a slave.
const (
	OKAY   = 0
	SLVERR = 2
	DECERR = 3
)

// ResponseError says that the slave refused an access.
type ResponseError struct {
	Write    bool
	Addr     uint64
	Response int // SLVERR, DECERR, or 1 (EXOKAY, which AXI4-Lite does not have)
}

func (e *ResponseError) Error() string {
	what, how := "read of", fmt.Sprintf("response %d", e.Response)
	if e.Write {
		what = "write to"
	}
	switch e.Response {
	case SLVERR:
		how = "SLVERR"
	case DECERR:
		how = "DECERR"
	}
	return fmt.Sprintf("%s %#x answered %s", what, e.Addr, how)
}

// access is a read or a write under way.
type access struct {
	write bool
	addr  uint64
	data  uint32
	strb  uint8

	beside             bool // begins without waiting for those ahead of it that are beside, too
	addrDone, dataDone bool // taken by the slave
	begun              bool
	left               bool // given up by the caller
	resp               int
	done               sim.Event
}

// request is a channel from master to slave.
type request struct {
	valid, ready *sim.Port
	of           *access // whose it is while it is offered
}

// answer is a channel from slave to master.
type answer struct {
	name         string
	valid, ready *sim.Port
	data, resp   *sim.Port // nil where there is none

	held     bool
	heldData uint64
	heldResp uint64
}

// Master drives the slave.
type Master struct {
	m       *sim.Model
	prefix  string
	tick    func() error
	timeout uint64
	pause   axis.Pause
	report  func(*Violation)

	aw, w, ar            request
	awaddr, araddr       *sim.Port
	wdata, wstrb         *sim.Port
	b, r                 answer
	rst                  *sim.Port
	armed, wasReset      bool
	rested               bool // nothing to offer, and driven so
	queue                []*access
	accesses, violations uint64
}

// New binds a master to the slave with this prefix.
func New(m *sim.Model, prefix string) (*Master, error) {
	x := &Master{m: m, prefix: prefix, tick: m.Tick, timeout: DefaultTimeout}
	var errs []error
	port := func(name string, dir sim.Dir, width int) *sim.Port {
		p, err := m.Port(prefix + "_" + name)
		if err == nil {
			if width == 0 {
				width = p.Width()
			}
			p, err = m.Need(sim.PortSpec{Name: prefix + "_" + name, Dir: dir, Width: width})
		}
		if err != nil {
			errs = append(errs, err)
		}
		return p
	}
	maybe := func(name string, dir sim.Dir, width int) *sim.Port {
		if !m.Has(prefix + "_" + name) {
			return nil
		}
		return port(name, dir, width)
	}
	asks := func(ch string) request {
		return request{valid: port(ch+"valid", sim.In, 1), ready: port(ch+"ready", sim.Out, 1)}
	}
	x.aw, x.w, x.ar = asks("aw"), asks("w"), asks("ar")
	x.awaddr, x.araddr = port("awaddr", sim.In, 0), port("araddr", sim.In, 0)
	x.wdata, x.wstrb = port("wdata", sim.In, 32), maybe("wstrb", sim.In, 4)
	x.b = answer{
		name: prefix + "_b", valid: port("bvalid", sim.Out, 1), ready: port("bready", sim.In, 1),
		resp: maybe("bresp", sim.Out, 2),
	}
	x.r = answer{
		name: prefix + "_r", valid: port("rvalid", sim.Out, 1), ready: port("rready", sim.In, 1),
		data: port("rdata", sim.Out, 32), resp: maybe("rresp", sim.Out, 2),
	}
	if name := m.Lib().Reset(); name != "" {
		var err error
		if x.rst, err = m.Port(name); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("binding AXI4-Lite %s: %w", prefix, err)
	}
	x.armed = x.rst == nil
	m.OnSample(x.sample)
	m.OnDrive(x.drive)
	return x, nil
}

// SetTick makes ReadReg and WriteReg pass time by f instead of the model's Tick: a
// bench of several models ticks them all.
func (x *Master) SetTick(f func() error) { x.tick = f }

// SetTimeout sets the number of cycles an access may take.
func (x *Master) SetTimeout(cycles uint64) { x.timeout = cycles }

// SetPause makes each channel's valid or ready come late whenever p says so, so that
// address and data arrive in either order; nil is as fast as can be.
func (x *Master) SetPause(p axis.Pause) { x.pause = p }

// OnViolation makes broken rules go to f instead of failing the test.
func (x *Master) OnViolation(f func(*Violation)) { x.report = f }

// Accesses returns the number of accesses answered.
func (x *Master) Accesses() uint64 { return x.accesses }

// ReadReg reads a register, ticking until the answer is there. Errors: the test's
// failure, *ResponseError, *sim.TimeoutError.
func (x *Master) ReadReg(addr uint64) (uint32, error) {
	a := &access{addr: addr}
	err := x.sync(a)
	return a.data, err
}

// WriteReg writes a register, ticking until the answer is there.
func (x *Master) WriteReg(addr uint64, v uint32) error {
	return x.sync(&access{write: true, addr: addr, data: v, strb: 0xF})
}

// WriteRegStrobe writes the bytes of a register whose bit in strb is set, ticking until the answer is there.
func (x *Master) WriteRegStrobe(addr uint64, v uint32, strb uint8) error {
	return x.sync(&access{write: true, addr: addr, data: v, strb: strb})
}

// Read reads a register in a task.
func (x *Master) Read(t *sim.Task, addr uint64) (uint32, error) {
	a := &access{addr: addr}
	err := x.wait(t, a)
	return a.data, err
}

// Write writes a register in a task.
func (x *Master) Write(t *sim.Task, addr uint64, v uint32) error {
	return x.WriteStrobe(t, addr, v, 0xF)
}

// WriteStrobe writes the bytes of a register whose bit in strb is set.
func (x *Master) WriteStrobe(t *sim.Task, addr uint64, v uint32, strb uint8) error {
	return x.wait(t, &access{write: true, addr: addr, data: v, strb: strb})
}

// Access is a read of a register, or a write of the bytes whose bit in Strobe is set.
type Access struct {
	Addr   uint64
	Write  bool
	Data   uint32
	Strobe uint8
}

// Answer is what an access got: the data of a read, and *ResponseError for anything but OKAY.
type Answer struct {
	Data uint32
	Err  error
}

// Together has all accesses under way at once and ticks until all are answered. Reads are
// begun in their order, and so are writes; a read and a write do not wait for each other. Each address is
// offered as soon as the one of its kind before it was taken, while that is not yet answered, and so are a write's data,
// which may come ahead of its address. Errors: the test's failure, *sim.TimeoutError.
func (x *Master) Together(accesses []Access) ([]Answer, error) {
	all := make([]*access, len(accesses))
	for i, a := range accesses {
		all[i] = &access{write: a.Write, addr: a.Addr, data: a.Data, strb: a.Strobe, beside: true}
		if err := x.check(all[i]); err != nil {
			return nil, err
		}
	}
	x.queue = append(x.queue, all...)
	x.drive()
	answers := make([]Answer, len(all))
	for i, a := range all {
		if err := x.answered(a); err != nil {
			for _, other := range all[i+1:] {
				_ = x.giveUp(other)
			}
			return nil, err
		}
		answers[i] = Answer{Data: a.data, Err: a.result()}
	}
	return answers, nil
}

func (x *Master) check(a *access) error {
	p := x.araddr
	if a.write {
		p = x.awaddr
	}
	if p.Width() < 64 && a.addr>>p.Width() != 0 {
		return fmt.Errorf("%s: address %#x is wider than %s (%d bits)", x.prefix, a.addr, p.Name(), p.Width())
	}
	if a.write && a.strb != 0xF && (x.wstrb == nil || a.strb > 0xF) {
		return fmt.Errorf("%s: strobe %#x cannot be driven", x.prefix, a.strb)
	}
	return nil
}

func (x *Master) sync(a *access) error {
	if err := x.check(a); err != nil {
		return err
	}
	x.queue = append(x.queue, a)
	x.drive() // the next edge may already take it
	if err := x.answered(a); err != nil {
		return err
	}
	return a.result()
}

// answered ticks until an access is answered.
func (x *Master) answered(a *access) error {
	for cycles := uint64(0); !a.done.IsSet(); cycles++ {
		if cycles == x.timeout {
			return x.giveUp(a)
		}
		if err := x.tick(); err != nil {
			return fmt.Errorf("%s: %w", a.describe(), err)
		}
	}
	return nil
}

func (x *Master) wait(t *sim.Task, a *access) error {
	if err := x.check(a); err != nil {
		return err
	}
	a.done.Name = "answer to " + a.describe()
	x.queue = append(x.queue, a)
	if err := t.WithTimeout(&a.done, x.timeout); err != nil {
		return x.giveUp(a)
	}
	return a.result()
}

func (a *access) describe() string {
	if a.write {
		return fmt.Sprintf("write to %#x", a.addr)
	}
	return fmt.Sprintf("read of %#x", a.addr)
}

func (a *access) result() error {
	if a.resp != OKAY {
		return &ResponseError{Write: a.write, Addr: a.addr, Response: a.resp}
	}
	return nil
}

// giveUp leaves an access that got no answer. If the slave has seen any of it, the bus
// stays occupied, as it would in hardware; else it is taken back.
func (x *Master) giveUp(a *access) error {
	a.left = true
	err := &sim.TimeoutError{For: x.prefix + " answer to " + a.describe(), Cycles: x.timeout}
	if !a.begun {
		x.remove(a)
	}
	return err
}

// remove takes an access out of the queue.
func (x *Master) remove(a *access) {
	if i := slices.Index(x.queue, a); i >= 0 {
		x.queue = slices.Delete(x.queue, i, i+1)
	}
}

// underWay are the accesses that may be with the slave: the first, and those that go beside it.
func (x *Master) underWay() []*access {
	n := min(1, len(x.queue))
	for n > 0 && n < len(x.queue) && x.queue[n-1].beside && x.queue[n].beside {
		n++
	}
	return x.queue[:n]
}

// first is the first read, or write, under way for which that holds.
func (x *Master) first(write bool, holds func(*access) bool) *access {
	for _, a := range x.underWay() {
		if a.write == write && holds(a) {
			return a
		}
	}
	return nil
}

// What first looks for.
func isThere(*access) bool        { return true }
func wantsAddress(a *access) bool { return !a.addrDone }
func wantsData(a *access) bool    { return !a.dataDone }

// sample learns what the slave took and answered at this edge.
func (x *Master) sample() {
	if x.rst != nil && x.rst.Bool() {
		if x.wasReset && (x.b.valid.Bool() || x.r.valid.Bool()) {
			x.resetBroken()
		}
		x.armed, x.wasReset, x.b.held, x.r.held = true, true, false, false
		for _, a := range x.underWay() { // begins again after reset
			a.addrDone, a.dataDone, a.begun = false, false, false
		}
		return
	}
	if !x.armed {
		return
	}
	if len(x.queue) == 0 && !x.wasReset && !x.b.held && !x.r.held && !x.b.valid.Bool() && !x.r.valid.Bool() {
		return // most cycles of most tests
	}
	if x.wasReset && (x.b.valid.Bool() || x.r.valid.Bool()) {
		x.resetBroken()
	}
	x.wasReset = false

	write, read := x.first(true, isThere), x.first(false, isThere)
	gotB, gotR := x.watch(&x.b), x.watch(&x.r)
	if x.b.valid.Bool() && (write == nil || !write.addrDone || !write.dataDone) {
		x.broken(RuleUnasked, x.b.name)
		gotB = false
	}
	if x.r.valid.Bool() && (read == nil || !read.addrDone) {
		x.broken(RuleUnasked, x.r.name)
		gotR = false
	}
	for _, q := range []*request{&x.aw, &x.ar} {
		if q.of != nil && q.taken() {
			q.of.addrDone = true
		}
	}
	if x.w.of != nil && x.w.taken() {
		x.w.of.dataDone = true
	}
	if gotB {
		x.finish(write, &x.b)
	}
	if gotR {
		read.data = uint32(x.r.data.Uint64())
		x.finish(read, &x.r)
	}
}

func (x *Master) resetBroken() {
	for _, ch := range []*answer{&x.b, &x.r} {
		if ch.valid.Bool() {
			x.broken(RuleReset, ch.name)
		}
	}
}

func (q *request) taken() bool { return q.valid.Bool() && q.ready.Bool() }

// watch applies the rules of a channel and reports whether its answer was taken.
func (x *Master) watch(ch *answer) bool {
	if !ch.valid.Bool() {
		if ch.held {
			x.broken(RuleValidHeld, ch.name)
		}
		ch.held = false
		return false
	}
	var data, resp uint64
	if ch.data != nil {
		data = ch.data.Uint64()
	}
	if ch.resp != nil {
		resp = ch.resp.Uint64()
	}
	if ch.held && (data != ch.heldData || resp != ch.heldResp) {
		x.broken(RulePayloadHeld, ch.name)
	}
	ch.heldData, ch.heldResp = data, resp
	ch.held = !ch.ready.Bool()
	return !ch.held
}

func (x *Master) broken(r Rule, channel string) {
	x.violations++
	v := &Violation{Rule: r, Channel: channel, Cycle: x.m.Now()}
	if x.report != nil {
		x.report(v)
		return
	}
	x.m.Fail(v)
}

// Violations counts the broken rules so far.
func (x *Master) Violations() uint64 { return x.violations }

func (x *Master) finish(a *access, ch *answer) {
	if ch.resp != nil {
		a.resp = int(ch.resp.Uint64())
	}
	x.accesses++
	x.remove(a)
	if !a.left {
		a.done.Set()
	}
}

// drive offers what the accesses under way still need.
func (x *Master) drive() {
	if len(x.queue) == 0 && x.pause == nil {
		if x.rested {
			return
		}
		x.rested = true
	} else {
		x.rested = false
	}
	if a := x.offer(&x.aw, true, wantsAddress); a != nil {
		x.awaddr.SetUint64(a.addr)
	}
	if a := x.offer(&x.w, true, wantsData); a != nil {
		x.wdata.SetUint64(uint64(a.data))
		if x.wstrb != nil {
			x.wstrb.SetUint64(uint64(a.strb))
		}
	}
	if a := x.offer(&x.ar, false, wantsAddress); a != nil {
		x.araddr.SetUint64(a.addr)
	}
	// Ready is the master's to give; it is given early unless a pause takes it away.
	x.b.ready.SetBool(!x.paused())
	x.r.ready.SetBool(!x.paused())
}

// offer raises a valid for the first read, or write, that needs what the channel carries, or lowers it. Once raised it stays
// until that is taken. It returns whose it is.
func (x *Master) offer(q *request, write bool, wants func(*access) bool) *access {
	var a *access
	if !x.wasReset {
		a = x.first(write, wants)
	}
	if a != nil && a != q.of && x.paused() {
		a = nil
	}
	q.valid.SetBool(a != nil)
	if q.of = a; a != nil {
		a.begun = true
	}
	return a
}

func (x *Master) paused() bool { return x.pause != nil && x.pause() }
