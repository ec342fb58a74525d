// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Model is one instance of a compiled model. It belongs to one goroutine at a time;
// different instances may run at the same time.
type Model struct {
	inst     instance
	now      uint64 // rising edges so far
	err      error  // first failure; sticks
	onSample []func()
	onReact  []func()
	onDrive  []func()

	busy     bool // callbacks are running: no Tick inside a Tick
	closed   bool
	failures int
	lib      *Lib
	ports    []*Port
	periodPS uint64
	out      io.Writer

	clocks []*Clock // beside the first
	edgePS uint64   // time of the last edge of one of them
	kept   []byte   // the outputs' samples, while one of them rises
}

// StopError says that the model ended the simulation.
type StopError struct {
	Finish  bool   // $finish; else $error, $fatal, $stop, a failed assertion
	Message string // what the model said
	File    string // Verilog file as it was given to Build, "" if unknown
	Line    int
	Cycle   uint64
}

func (e *StopError) Error() string {
	where := ""
	if e.File != "" {
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	}
	return fmt.Sprintf("%s%s (cycle %d)", where, e.Message, e.Cycle)
}

var errClosed = errors.New("model is closed")

// Close ends the instance and completes its waves. Further calls do nothing.
func (m *Model) Close() {
	if m.closed {
		return
	}
	m.closed = true
	if m.err == nil {
		m.err = errClosed
	}
	m.flush()
	m.inst.destroy()
	m.ports = nil
}

// Lib returns the library the instance was made from.
func (m *Model) Lib() *Lib { return m.lib }

// Now returns the number of rising clock edges since the instance was made.
func (m *Model) Now() uint64 { return m.now }

// Skipped returns how many of those cycles were not evaluated; see Options.SkipStill.
func (m *Model) Skipped() uint64 {
	if m.closed {
		return 0
	}
	return m.inst.numSkipped()
}

// PeriodNS returns the clock period in ns.
func (m *Model) PeriodNS() float64 { return float64(m.periodPS) / 1000 }

// Port returns a port by name; the error lists names that come near.
func (m *Model) Port(name string) (*Port, error) {
	if m.closed {
		return nil, errClosed
	}
	i := m.lib.index(name)
	if i < 0 {
		return nil, fmt.Errorf("model %s has no port %q; %s", m.lib.top, name, m.lib.near(name))
	}
	return m.ports[i], nil
}

// Need returns a port that must have this direction and width.
func (m *Model) Need(want PortSpec) (*Port, error) {
	if m.closed {
		return nil, errClosed
	}
	if err := m.lib.check(want); err != nil {
		return nil, err
	}
	return m.Port(want.Name)
}

// Has reports whether the model has a port of this name.
func (m *Model) Has(name string) bool { return m.lib.index(name) >= 0 }

// Bind fills the *Port fields of the struct that dst points to. A tag says what each
// field expects: `port:"s_data,in,64"`, of which direction and width may be left out.
// All misfits are reported together, before the first cycle.
func (m *Model) Bind(dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("bind: want a pointer to a struct, got %T", dst)
	}
	v = v.Elem()
	var errs []error
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, ok := field.Tag.Lookup("port")
		if !ok {
			continue
		}
		if field.Type != reflect.TypeFor[*Port]() || !field.IsExported() {
			errs = append(errs, fmt.Errorf("bind: field %s must be exported and of type *sim.Port", field.Name))
			continue
		}
		port, err := m.bindOne(tag)
		if err != nil {
			errs = append(errs, fmt.Errorf("bind: field %s: %w", field.Name, err))
			continue
		}
		v.Field(i).Set(reflect.ValueOf(port))
	}
	return errors.Join(errs...)
}

func (m *Model) bindOne(tag string) (*Port, error) {
	parts := strings.Split(tag, ",")
	port, err := m.Port(parts[0])
	if err != nil {
		return nil, err
	}
	want := port.spec
	for _, p := range parts[1:] {
		switch p {
		case "in":
			want.Dir = In
		case "out":
			want.Dir = Out
		default:
			if want.Width, err = strconv.Atoi(p); err != nil {
				return nil, fmt.Errorf("tag %q: %q is neither in, out nor a width", tag, p)
			}
		}
	}
	return m.Need(want)
}

// OnSample attaches a callback to the first phase of every Tick: look at what happened
// at the edge, drive nothing.
func (m *Model) OnSample(f func()) { m.onSample = append(m.onSample, f) }

// OnReact attaches a callback to the second phase: decide, queue, let tasks run.
func (m *Model) OnReact(f func()) { m.onReact = append(m.onReact, f) }

// OnDrive attaches a callback to the third phase: drive the inputs of the next cycle.
func (m *Model) OnDrive(f func()) { m.onDrive = append(m.onDrive, f) }

// Cycle performs one clock without callbacks and returns the first error so far.
func (m *Model) Cycle() error {
	if m.err != nil {
		return m.err
	}
	if len(m.clocks) > 0 {
		return m.cycleClocks()
	}
	m.now++
	if st := m.inst.cycle(); st != 0 {
		return m.attend(st)
	}
	return nil
}

// Cycles performs n clocks without callbacks, all inputs held.
func (m *Model) Cycles(n uint64) error {
	if m.err != nil {
		return m.err
	}
	if len(m.clocks) > 0 {
		for ; n > 0 && m.err == nil; n-- {
			m.cycleClocks()
		}
		return m.err
	}
	st := m.inst.cycles(n)
	m.now = m.inst.numCycles()
	if st != 0 {
		return m.attend(st)
	}
	return nil
}

// Tick performs one clock and the callbacks, and returns the first error so far. It
// must not be called from a callback or a task.
func (m *Model) Tick() error {
	if m.busy {
		return m.Fail(errors.New("Tick called from a callback or a task; wait for the clock instead"))
	}
	if err := m.Cycle(); err != nil {
		return err
	}
	m.dispatch(m.onSample, m.onReact, m.onDrive)
	return m.err
}

// dispatch runs the callbacks of an edge, phase by phase.
func (m *Model) dispatch(sample, react, drive []func()) {
	m.busy = true
	for _, f := range sample {
		f()
	}
	for _, f := range react {
		f()
	}
	for _, f := range drive {
		f()
	}
	m.busy = false
}

// Run ticks until done returns true (asked after every Tick), an error, or limit
// ticks, which is an error too.
func (m *Model) Run(limit uint64, done func() bool) error {
	for range limit {
		if err := m.Tick(); err != nil {
			return err
		}
		if done() {
			return nil
		}
	}
	return m.Fail(fmt.Errorf("not done after %d cycles (cycle %d)", limit, m.now))
}

// ResetFor holds the reset input high for n ticks and lowers it for the next.
func (m *Model) ResetFor(n int) error {
	if m.lib.reset == "" {
		return m.Fail(fmt.Errorf("model %s has no reset", m.lib.top))
	}
	rst, err := m.Port(m.lib.reset)
	if err != nil {
		return err
	}
	rst.SetBool(true)
	for range n {
		if err := m.Tick(); err != nil {
			return err
		}
	}
	rst.SetBool(false)
	return nil
}

// Eval lets combinational outputs follow the inputs without a clock edge, and samples
// them: how a model without a clock is used. Time does not pass.
func (m *Model) Eval() error {
	if m.err != nil {
		return m.err
	}
	if st := m.inst.settle(m.now * m.periodPS); st != 0 {
		return m.attend(st)
	}
	return nil
}

// Fail records a failure and returns the first one. The next Tick returns it.
func (m *Model) Fail(err error) error {
	m.failures++
	if m.err == nil {
		m.err = err
	}
	return m.err
}

// Err returns the first failure, or nil.
func (m *Model) Err() error { return m.err }

// Failures counts the failures recorded so far.
func (m *Model) Failures() int { return m.failures }

// verilogSays strips what Verilator puts before a message: time, %Error:, place.
var verilogSays = regexp.MustCompile(`^(?:\[[^\]]*\] )?%(?:Error|Fatal|Warning)[^:]*: (?:[^ :]+:\d+: )?`)

// attend hands on what the model printed and turns a status that ends the
// simulation into the error it stands for.
func (m *Model) attend(st uint32) error {
	if st&statusPrinted != 0 {
		m.flush()
	}
	if st&(statusFinished|statusFailed) == 0 {
		return m.err
	}
	text, file, line := m.inst.message()
	text = strings.TrimSpace(text)
	return m.Fail(&StopError{
		Finish: st&statusFailed == 0, Message: verilogSays.ReplaceAllString(text, ""), File: m.lib.sources.Given(file), Line: line, Cycle: m.now,
	})
}

// flush hands on what the model printed.
func (m *Model) flush() {
	text := m.inst.output()
	if m.out == nil || len(text) == 0 {
		return
	}
	if _, err := io.WriteString(m.out, m.lib.sources.Restore(string(text))); err != nil && m.err == nil {
		m.err = fmt.Errorf("writing what the model printed: %w", err)
	}
}

// OpenWaves begins to write an FST file; a file written before is completed first.
func (m *Model) OpenWaves(path string) error {
	if !m.lib.Traced() {
		return fmt.Errorf("model %s: waves need a model built with Trace", m.lib.top)
	}
	if m.closed {
		return errClosed
	}
	if !m.inst.waveOpen(path) {
		return fmt.Errorf("model %s: cannot write waves to %s", m.lib.top, path)
	}
	return nil
}

// CloseWaves completes the FST file; simulation goes on.
func (m *Model) CloseWaves() {
	if !m.closed {
		m.inst.waveClose()
	}
}
