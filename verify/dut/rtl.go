// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
	"incforge/verify/ctrl"
	"incforge/verify/dut/upset"
)

// The lengths of resets in cycles: of the first, and of those amid traffic, where one cycle must do. In a longer one what a block forgets to reset would be
// flushed by its neighbours, and nobody would notice.
const (
	firstReset = 4
	laterReset = 1
)

// RTL is a Verilated engine: the top with one stream per port, or the one with a single stream. A netlist is an RTL
// too.
type RTL struct {
	man    *contract.Manifest
	model  *sim.Model
	bus    *axil.Master
	srcs   []*axis.Source // one per port, or a single one
	sinks  []*axis.Sink
	tvalid []*sim.Port // of the outputs
	rst    *sim.Port
	irq    *sim.Port   // nil if there is none
	pause  []*sim.Port // of the ports' queues, one for all or one a port; none without queues
	core   bool

	// what several engines report lies side by side, engine 0 lowest; of mon_valid and mon_port what goes round them is the highest
	mon struct {
		Valid *sim.Port `port:"mon_valid,out"`
		Port  *sim.Port `port:"mon_port,out"`
	}
	act struct { // of Modes III and I
		Valid *sim.Port `port:"mon_act_valid,out"`
		Kind  *sim.Port `port:"mon_act_kind,out"`
		EI    *sim.Port `port:"mon_act_ei,out"`
	}

	ends                    // its queues are those of srcs
	clocks     []*portClock // of the queues of ends; nil for those in the engine's clock
	quietUntil []uint64     // cycles of those clocks up to which a report is of before the reset
	offset     uint64       // Now − the model's cycles: time skipped
	sent       []int        // how many of each queue the source has sent
	kept       []int        // of ports with queues: how many of those sent are known not to have been dropped
	moved      uint64
	answered   uint64       // the cycle up to which the last write has taken effect: of its answer, of a start the next
	enabled    map[int]bool // groups for which enable was written last, though the engine may have refused the start
	hits       []uint64     // of a model that counts them, when it was closed
	err        error
}

// NewRTL makes an instance of a compiled top and resets it. core says which top it is.
// before, if given, gets the model before its first cycle.
func NewRTL(lib *sim.Lib, m *contract.Manifest, core bool, o sim.Options, before ...func(*sim.Model) error) (*RTL, error) {
	model, err := lib.New(o)
	if err != nil {
		return nil, fmt.Errorf("rtl: %w", err)
	}
	d := &RTL{man: m, model: model, core: core}
	if err := d.start(before, o.Seed); err != nil {
		model.Close()
		return nil, fmt.Errorf("rtl: %w", err)
	}
	return d, nil
}

func (d *RTL) start(before []func(*sim.Model) error, seed uint64) (err error) {
	defer fail.Catch(&err, "")
	for _, f := range before {
		fail.On(f(d.model))
	}
	if len(d.man.Params.PortClockMHz) > 0 { // a reset that begins high has no edge, by which it could set anything without a clock
		fail.On(d.model.Cycle())
	}
	d.attach(seed)
	return d.resetFor(firstReset)
}

// attach binds sources, sinks, the register bus and the monitor.
func (d *RTL) attach(seed uint64) {
	names := []string{""}
	if !d.core {
		names = nil
		for p := range d.man.Params.Ports {
			names = append(names, "_p"+strconv.Itoa(p))
		}
		fail.On(d.model.Bind(&d.mon))
	}
	if d.man.Params.Pipes() {
		fail.On(d.model.Bind(&d.act))
	}
	d.queued, d.sent, d.kept = make([][]Frame, len(names)), make([]int, len(names)), make([]int, len(names))
	d.quietUntil = slices.Repeat([]uint64{Never}, len(names))
	d.addClocks(seed)
	d.rst = fail.Must(d.model.Port(d.man.Clock.Reset))
	if d.man.Params.Interrupts {
		d.irq = fail.Must(d.model.Port("irq"))
	}
	for i, name := range names {
		src, sink := d.streams(i, name)
		src.OnSent(func(f *axis.Frame) { d.onSent(i, f.First) })
		sink.OnFrame(func(f *axis.Frame) { d.onFrame(i, f) })
		v := fail.Must(d.model.Port("m_axis" + name + "_tvalid"))
		d.srcs, d.sinks, d.tvalid = append(d.srcs, src), append(d.sinks, sink), append(d.tvalid, v)
	}
	if d.queues() {
		for i, name := range names {
			d.gapless(i, name)
		}
		d.watchQueues()
		d.pauses()
	}
	if !d.core {
		d.model.OnReact(d.onMonitor) // after every source has reported what it sent
	}
	if d.man.Params.Pipes() {
		d.model.OnReact(d.onAct)
	}
	d.bus = fail.Must(axil.New(d.model, "s_axil"))
	d.bus.SetTimeout(axil.DefaultTimeout + clearCycles)
}

// clearCycles is how long the first access may wait after reset: the largest tables, of 64 groups with 32 endpoints
// of 16 words, are cleared one word per cycle.
const clearCycles = 64 * 32 * 16

// Spotless is false: the payload memory is Verilog, and ECC_INJECT writes errors into it.
func (d *RTL) Spotless() bool { return false }

// TakesErrors is false for ports with queues, which drop frames with err.
func (d *RTL) TakesErrors() bool { return !d.queues() }

// Interrupt tells whether the interrupt line is high.
func (d *RTL) Interrupt() bool { return d.irq != nil && d.irq.Bool() }

// queues tells whether frames wait in queues between the ports and the engine, and may be dropped there.
func (d *RTL) queues() bool { return !d.core && d.man.Params.PortBytes > 0 }

// Model returns the simulation model, for benchmarks.
func (d *RTL) Model() *sim.Model { return d.model }

// Upset tells the memories a command (Source.Upsets) and then nothing, each until every clock has had an edge; one that says nothing passes the time.
func (d *RTL) Upset(c upset.Command) (err error) {
	defer fail.Catch(&err, "upset a memory")
	pins := fail.Must(d.model.Port(contract.MemoryPort))
	cycles := uint64(1)
	for _, k := range d.clocks {
		if k != nil {
			cycles = max(cycles, uint64(math.Ceil(k.ratio))+1)
		}
	}
	pins.SetUint64(c.Encode())
	fail.On(d.StepTo(d.Now() + cycles))
	pins.SetUint64(0)
	return d.StepTo(d.Now() + cycles)
}

// Now is the current cycle.
func (d *RTL) Now() uint64 { return d.model.Now() + d.offset }

// Offer queues a frame at a port.
func (d *RTL) Offer(port int, f Frame) {
	i, first := port, uint64(0)
	if d.core { // its tuser has the port above the error bit, which is on the last beat alone
		i, first = 0, uint64(port)<<1
	}
	a := axis.Frame{Data: f.Data, User: first | uint64(flag(f.Err)), FirstUser: first, NotBefore: d.until(i, f.First)}
	if err := d.srcs[i].Send(a); err != nil && d.err == nil {
		d.err = err
		return
	}
	f.Port = port
	d.queued[i] = append(d.queued[i], f)
	d.moved = d.model.Now()
}

// onSent records that a source has sent a frame. On the single stream the frame is then accepted.
func (d *RTL) onSent(i int, first uint64) {
	d.moved = d.model.Now()
	d.queued[i][d.sent[i]].First = d.at(i, first)
	d.sent[i]++
	if d.core {
		d.accept(0)
	}
}

// onMonitor records that an engine, or the way round them, took a frame's last beat.
func (d *RTL) onMonitor() {
	valid := d.mon.Valid.Uint64()
	if valid == 0 || d.rst.Bool() {
		return
	}
	d.moved = d.model.Now()
	for i := range d.mon.Valid.Width() {
		if valid>>i&1 == 0 {
			continue
		}
		p := int(part(d.mon.Port, i, d.mon.Valid.Width()))
		if p >= len(d.queued) || d.sent[p] == 0 {
			d.fail(fmt.Errorf("mon_port reports port %d in cycle %d, but no frame of that port is on its way to the core", p, d.Now()))
			return
		}
		d.accept(p)
	}
}

// part is the i-th of n equal parts of a port, at most 8 bytes wide.
func part(p *sim.Port, i, n int) (v uint64) {
	width, bytes := p.Width()/n, p.Bytes()
	for bit := range width {
		at := i*width + bit
		v |= uint64(bytes[at/8]>>(at%8)&1) << bit
	}
	return v
}

// onAct records what the engines decided in this cycle.
func (d *RTL) onAct() {
	valid := d.act.Valid.Uint64()
	if valid == 0 || d.rst.Bool() {
		return
	}
	n, records := d.act.Valid.Width(), d.man.Params.EngineRecords()
	for i := range n {
		if valid>>i&1 == 0 {
			continue
		}
		a := Act{At: d.Now(), Kind: uint8(part(d.act.Kind, i, n)), EI: i*records + int(part(d.act.EI, i, n))}
		if a.Kind != ActFrame {
			d.moved = d.model.Now()
		}
		d.acts = append(d.acts, a)
	}
}

// Acts returns what the engines decided since the last call. A write takes effect some cycles before it is answered. What is decided in these comes
// behind the write: whoever asks in the cycle of the answer is not told of it before the next.
func (d *RTL) Acts() []Act {
	if d.Now() != d.answered {
		return d.ends.Acts()
	}
	n := len(d.acts)
	for n > 0 && d.acts[n-1].At+d.registerBlocks() > d.answered {
		n--
	}
	known := d.acts[:n:n]
	d.acts = slices.Clone(d.acts[n:])
	return known
}

// registerBlocks is the number of blocks of registers through which an answer of the core's registers comes, each a cycle later.
func (d *RTL) registerBlocks() (n uint64) {
	p := d.man.Params
	all := []bool{p.Mode == 1, p.VLAN, p.Interrupts, p.ECCAll}
	if !d.core {
		all = append(all, p.EngineCount() > 1)
	}
	if d.queues() {
		all = append(all, true, p.Priorities > 1, p.Interrupts, p.ECCAll)
	}
	for _, has := range all {
		n += uint64(flag(has))
	}
	return n
}

func (d *RTL) accept(i int) {
	f := d.queued[i][0]
	d.queued[i] = d.queued[i][1:]
	d.sent[i]--
	if d.queues() {
		d.kept[i]--
	}
	d.accepted = append(d.accepted, Frame{Port: f.Port, First: f.First, Last: d.Now(), Data: f.Data, Err: f.Err})
}

func (d *RTL) onFrame(i int, f *axis.Frame) {
	d.moved = d.model.Now()
	o := Frame{Port: i, First: d.at(i, f.First), Last: d.at(i, f.Last), Data: slices.Clone(f.Data), Err: f.User&1 != 0}
	if d.core {
		o.Port = int(f.User >> 1)
		if o.Port >= d.man.Params.Ports {
			return // for a port that does not exist: whoever has the ports loses it, as the other top's demultiplexer does
		}
		if f.FirstUser>>1 != f.User>>1 && len(f.Data) > d.man.Params.BusBytes {
			d.fail(fmt.Errorf("tuser names port %d on the first beat and %d on the last, frame of cycle %d", f.FirstUser>>1, f.User>>1, d.Now()))
		}
	}
	d.out = append(d.out, o)
}

func (d *RTL) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// StepTo runs until Now is cycle.
func (d *RTL) StepTo(cycle uint64) error {
	for d.err == nil && d.Now() < cycle {
		if err := d.model.Tick(); err != nil { // what was found on the way came before
			d.fail(err)
		}
	}
	return d.err
}

// SkipTo advances the time.
func (d *RTL) SkipTo(cycle uint64) {
	if now := d.Now(); cycle > now {
		d.offset += cycle - now
	}
}

// Still is the number of cycles since anything moved at a port; 0 while a frame waits on either side.
func (d *RTL) Still() uint64 {
	if d.Waiting() > 0 {
		return 0
	}
	for i, s := range d.sinks {
		if s.InFrame() || d.tvalid[i].Bool() {
			return 0
		}
	}
	return d.model.Now() - d.moved
}

// Timers reports that timers count the model's clock; in Mode II there are none.
func (d *RTL) Timers() (uint64, bool) { return Never, !d.man.Params.Pipes() }

// Read reads a register over AXI4-Lite.
func (d *RTL) Read(addr uint32) (uint32, error) {
	if d.err != nil {
		return 0, d.err
	}
	v, err := d.bus.ReadReg(uint64(addr))
	return v, refused(err)
}

// Write writes some bytes of a register over AXI4-Lite.
func (d *RTL) Write(addr, value uint32, strobes uint8) error {
	if d.err != nil {
		return d.err
	}
	err := d.bus.WriteRegStrobe(uint64(addr), value, strobes)
	if err == nil && d.starts(addr, value) { // which takes effect a cycle later than a stop
		err = d.model.Tick()
	}
	d.answered = d.Now()
	return refused(err)
}

// starts tells whether a write asks for a start of a group in an engine that reports its decisions, and notes that enable was written.
func (d *RTL) starts(addr, value uint32) bool {
	reg, i, ok := d.man.Find(addr)
	if !ok || reg.Name != "GROUP_CTRL" || !d.man.Params.Pipes() {
		return false
	}
	set := func(name string) bool {
		f, _ := reg.Field(name)
		return value&f.Mask() != 0
	}
	before := d.enabled[i]
	d.enabled[i] = set("enable")
	return set("enable") && (set("reset") || !before)
}

// Together has several accesses under way at once over AXI4-Lite.
func (d *RTL) Together(accesses []Access) ([]Answer, error) {
	if d.err != nil {
		return nil, d.err
	}
	var all []axil.Access
	for _, a := range accesses {
		all = append(all, axil.Access{Addr: uint64(a.Addr), Write: a.Write, Data: a.Value, Strobe: ctrl.AllBytes})
	}
	got, err := d.bus.Together(all)
	if err != nil {
		return nil, err
	}
	var answers []Answer
	for _, g := range got {
		answers = append(answers, Answer{Value: g.Data, Refused: g.Err != nil})
	}
	return answers, nil
}

// refused makes an answer that is no OKAY an ErrRefused.
func refused(err error) error {
	var answer *axil.ResponseError
	if errors.As(err, &answer) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// SetPauses gives every interface its own generator of pauses.
func (d *RTL) SetPauses(p Pauses) {
	coin := func(which int, prob float64) axis.Pause {
		if prob <= 0 {
			return nil
		}
		r, left := rand.New(rand.NewPCG(p.Seed, uint64(which))), 0
		return func() bool {
			if left == 0 {
				if r.Float64() >= prob {
					return false
				}
				left = 1 + r.IntN(max(p.Burst, 1))
			}
			left--
			return true
		}
	}
	for i := range d.srcs {
		d.srcs[i].SetPause(coin(2*i, p.In))
		d.sinks[i].SetPause(coin(2*i+1, p.Ready))
	}
	d.bus.SetPause(coin(2*len(d.srcs), p.Registers))
}

// Stop has a port take nothing from now on, until SetPauses.
func (d *RTL) Stop(port int) { d.sinks[port].SetPause(axis.Always()) }

// Reset asserts reset. Frames inside are lost; a source starts again with a frame that it had not completely sent.
func (d *RTL) Reset() error { return d.resetFor(laterReset) }

// ResetIn asserts reset so many cycles into an access, or behind one that is over by then. Otherwise the bus offers it again.
func (d *RTL) ResetIn(a Access, cycles uint64) (again bool, err error) {
	if d.err != nil {
		return false, d.err
	}
	d.bus.SetTick(func() error {
		if cycles == 0 && !again {
			again = true
			return d.Reset()
		}
		cycles -= min(cycles, 1)
		return d.model.Tick()
	})
	if a.Write {
		err = d.bus.WriteReg(uint64(a.Addr), a.Value)
	} else {
		_, err = d.bus.ReadReg(uint64(a.Addr))
	}
	d.bus.SetTick(d.model.Tick)
	if err = refused(err); !again {
		return false, errors.Join(err, d.Reset())
	}
	return true, err
}

func (d *RTL) resetFor(cycles int) error {
	if d.err != nil {
		return d.err
	}
	d.err = d.model.ResetFor(cycles)
	for i := range d.queued {
		d.queued[i] = d.queued[i][d.sent[i]:]
		d.sent[i], d.kept[i] = 0, 0
		if c := d.clocks[i]; c != nil {
			d.quietUntil[i] = c.Now() + 1
		}
	}
	d.accepted, d.acts, d.out = nil, nil, nil
	d.enabled = map[int]bool{}
	d.moved = d.model.Now()
	return d.err
}

// Close ends the model. One that counts what it comes through is asked for its counts before.
func (d *RTL) Close() (err error) {
	if d.hits == nil && d.model.Lib().Covered() {
		_, d.hits, err = d.model.Coverage()
	}
	d.model.Close()
	return err
}

// Hits are the counts of a closed engine of a source with Cover, in the order of its model's points.
func (d *RTL) Hits() []uint64 { return d.hits }
