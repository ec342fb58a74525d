// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/verify/ctrl"
)

// referenceLatency is the reference's delay in cycles from a frame's last beat in to the first beat out. Its value
// does not matter.
const referenceLatency = 20

// Reference is the engine of package inc, or several of them behind the same ports, as a DUT. Frames enter one at a time at the width of the bus, take effect at
// their last beat, and what they cause leaves a fixed delay later. In Modes III and I it takes all sends that are allowed
// after each frame, and time-outs as soon as they are due.
type Reference struct {
	man  *contract.Manifest
	eng  *inc.Switch
	regs map[uint32]uint32
	// copy are the counters as COUNTER and COUNTER_HIGH read them.
	copy inc.Counters
	// copies are those of each engine, roundCopy of what went round them.
	copies    [inc.MaxEngines]inc.Counters
	roundCopy uint64
	// priorities are those of frames that leave.
	priorities inc.Priorities
	// overlap: the group's last start was refused because of its slots.
	overlap []bool
	// undrained: the group's last park was refused because it was not drained.
	undrained []bool

	ends
	now, free uint64
	turn      int
	portFree  []uint64
	leaving   []Frame

	// OnAccept, if not nil, is called by StepTo with every frame that was handled and the counters that it changed.
	OnAccept func(f Frame, changed []inc.Counter)

	wants []inc.Action // scratch: actions that may be taken
	turns []inc.Action // sends in the order of their last turn, since no send was allowed
}

// NewReference makes a reference engine with the parameters and registers of m, as after reset.
func NewReference(m *contract.Manifest) (*Reference, error) {
	r := &Reference{man: m, portFree: make([]uint64, m.Params.Ports)}
	if err := r.Reset(); err != nil {
		return nil, err
	}
	return r, nil
}

// Engine is the switch inside, of one engine or several.
func (r *Reference) Engine() *inc.Switch { return r.eng }

// Handle gives the engine a frame and returns the frames that it causes; in Modes III and I only the answers to it.
func (r *Reference) Handle(cycle uint64, port int, frame []byte, rxErr bool) []inc.Out {
	return r.eng.Handle(r.time(cycle), port, frame, rxErr)
}

// HandleStale is Handle for a frame that came in before its group was started and is decided later.
func (r *Reference) HandleStale(cycle uint64, port int, frame []byte, rxErr bool) []inc.Out {
	return r.eng.HandleStale(r.time(cycle), port, frame, rxErr)
}

// Act has an engine of Mode III or I take an action and returns the frames that it causes. The error is inc.ErrAction if the
// action is not allowed now.
func (r *Reference) Act(cycle uint64, a inc.Action) ([]inc.Out, error) {
	return r.eng.Act(r.time(cycle), a)
}

// Action converts an Act that is no frame.
func (r *Reference) Action(a Act) (inc.Action, error) {
	eps := r.man.Params.EPS()
	action := inc.Action{Kind: inc.ActionKind(a.Kind), Group: a.EI / eps, Endpoint: a.EI % eps}
	if action.Kind == inc.ActSend {
		action.Pipe, action.Endpoint = inc.Pipe(action.Endpoint), 0
	}
	if action.Kind < inc.ActSend || action.Kind > inc.ActResume {
		return action, fmt.Errorf("kind %d, ei %d: %w", a.Kind, a.EI, inc.ErrAction)
	}
	return action, nil
}

// picoseconds of a second over those of a cycle at 1 MHz.
const psPerCycleMHz = 1_000_000

// time is the reference's time at a cycle, rounded down.
func (r *Reference) time(cycle uint64) inc.Time {
	return inc.Time(cycle * psPerCycleMHz / r.man.Params.CyclesPerMicrosecond())
}

// Cycle is the first cycle that is not before a time of the engine inside.
func (r *Reference) Cycle(at inc.Time) uint64 {
	return (uint64(max(at, 0))*r.man.Params.CyclesPerMicrosecond() + psPerCycleMHz - 1) / psPerCycleMHz
}

// Now is the current cycle.
func (r *Reference) Now() uint64 { return r.now }

// Offer queues a frame at a port.
func (r *Reference) Offer(port int, f Frame) {
	f.Port, f.First = port, max(f.First, r.now)
	r.queued[port] = append(r.queued[port], f)
}

// StepTo handles every frame whose last beat enters by cycle, and every action due by then.
func (r *Reference) StepTo(cycle uint64) error {
	for {
		due, _ := r.Timers()
		best, at := -1, uint64(0)
		for i := range r.queued {
			p := (r.turn + i) % len(r.queued)
			if len(r.queued[p]) == 0 {
				continue
			}
			if t := max(r.queued[p][0].First, r.free); best < 0 || t < at {
				best, at = p, t
			}
		}
		var f Frame
		end := uint64(Never)
		if best >= 0 {
			f = r.queued[best][0]
			end = at + uint64(r.man.Params.Beats(len(f.Data)))
		}
		if due < end && due <= cycle {
			r.wake(max(due, r.now))
			continue
		}
		if end > cycle {
			break
		}
		r.queued[best] = r.queued[best][1:]
		r.turn = best + 1
		r.free = end
		r.accepted = append(r.accepted, Frame{Port: best, First: at, Last: end, Data: f.Data, Err: f.Err})
		if r.man.Params.Pipes() {
			if by := r.eng.Steer(f.Data); by < r.eng.Engines() {
				ei := by * r.man.Params.EngineRecords()
				if p, err := f.Packet(); err == nil {
					ei += int(p.DestQP) % r.man.Params.EngineRecords()
				}
				r.acts = append(r.acts, Act{At: end, Kind: ActFrame, EI: ei})
			}
		}
		r.leave(end, r.handle(end, best, f))
		r.sendAll(end)
	}
	r.now = max(r.now, cycle)
	slices.SortStableFunc(r.leaving, func(a, b Frame) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Port, b.Port)) })
	k := sort.Search(len(r.leaving), func(i int) bool { return r.leaving[i].Last > r.now })
	r.out = append(r.out, r.leaving[:k]...)
	r.leaving = r.leaving[k:]
	return nil
}

// handle gives the engine a frame of a port's queue, and tells of it.
func (r *Reference) handle(cycle uint64, port int, f Frame) []inc.Out {
	if r.OnAccept == nil {
		return r.Handle(cycle, port, f.Data, f.Err)
	}
	before := r.eng.Counters()
	outs := r.Handle(cycle, port, f.Data, f.Err)
	after := r.eng.Counters()
	var changed []inc.Counter
	for c := range after {
		if after[c] != before[c] {
			changed = append(changed, inc.Counter(c))
		}
	}
	r.OnAccept(Frame{Port: port, Data: f.Data, Err: f.Err}, changed)
	return outs
}

// leave queues the frames made in a cycle to leave.
func (r *Reference) leave(cycle uint64, outs []inc.Out) {
	for _, made := range outs {
		o := Frame{Port: made.Port, Data: made.Frame, Err: made.Err}
		o.First = max(cycle+referenceLatency, r.portFree[o.Port])
		o.Last = o.First + uint64(r.man.Params.Beats(len(o.Data)))
		r.portFree[o.Port] = o.Last
		r.leaving = append(r.leaving, o)
	}
}

// wake takes the time-outs and resumes that are due in a cycle.
func (r *Reference) wake(cycle uint64) {
	r.wants = r.eng.Due(r.time(cycle), r.wants[:0])
	for _, a := range slices.Clone(r.wants) {
		if a.Kind == inc.ActTimeout || a.Kind == inc.ActResume {
			r.do(cycle, a)
		}
	}
	r.sendAll(cycle)
}

// sendAll takes sends until none is allowed. Pipes and endpoints take turns: the one whose last turn is longest ago
// is next.
func (r *Reference) sendAll(cycle uint64) {
	if !r.man.Params.Pipes() {
		return
	}
	r.turns = r.turns[:0]
	for {
		if r.wants = r.eng.Due(math.MinInt64, r.wants[:0]); len(r.wants) == 0 { // sends alone
			return
		}
		a := slices.MinFunc(r.wants, func(a, b inc.Action) int { return slices.Index(r.turns, a) - slices.Index(r.turns, b) })
		r.turns = append(slices.DeleteFunc(r.turns, func(b inc.Action) bool { return a == b }), a)
		r.do(cycle, a)
	}
}

// do takes an action that may be taken.
func (r *Reference) do(cycle uint64, a inc.Action) {
	outs, err := r.Act(cycle, a)
	if err != nil {
		return // an earlier one revoked it: a time-out of an endpoint that waits now
	}
	r.acts = append(r.acts, Act{cycle, uint8(a.Kind), a.Group*r.man.Params.EPS() + a.Endpoint + int(a.Pipe)}) // one of the last two is 0
	r.leave(cycle, outs)
}

// Timers returns the cycle in which the next time-out or wait ends.
func (r *Reference) Timers() (uint64, bool) {
	at, ok := r.eng.NextDeadline()
	if !ok {
		return Never, true
	}
	return r.Cycle(at), true
}

// SkipTo advances the time.
func (r *Reference) SkipTo(cycle uint64) { r.now = max(r.now, cycle) }

// Still is unlimited when no frame is inside: apart from timers, which Timers reports, the reference changes nothing
// without a frame.
func (r *Reference) Still() uint64 {
	if r.Waiting() > 0 || len(r.leaving) > 0 || len(r.out) > 0 {
		return 0
	}
	return math.MaxUint64
}

// SetPauses does nothing: the reference has no interfaces that could pause.
func (r *Reference) SetPauses(Pauses) {}

// Close does nothing.
func (r *Reference) Close() error { return nil }

// Reset makes a new engine and sets every register to its reset value.
func (r *Reference) Reset() error {
	p := r.man.Params
	eng, err := inc.NewSwitch(p.EngineCount(), inc.Params{Groups: p.Groups, Members: p.Members, Ports: p.Ports, MTU: p.MTUBytes, Slots: p.Slots(),
		ICRCCheck: p.ICRCCheck, DTypes: cmp.Or(uint8(p.DTypeMask()), 1<<inc.DTypeINT32), Ops: cmp.Or(uint8(p.OpMask()), 1<<inc.OpSum),
		Reproducible: p.Reproducible(), InBand: p.InBand, VLAN: p.VLAN, Mode: p.Mode, MessageBytes: p.MessageBytes, LeastPathMTU: leastPathMTU(p), WholeMessages: p.WholeMessages, NoReleases: p.NoReleases, Park: p.Park})
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	eng.SetManual(true)
	r.eng, r.priorities = eng, inc.Priorities{}
	r.copy, r.copies, r.roundCopy = inc.Counters{}, [inc.MaxEngines]inc.Counters{}, 0
	r.regs = map[uint32]uint32{}
	r.overlap, r.undrained = make([]bool, p.AllGroups()), make([]bool, p.AllGroups())
	for i := range r.man.Registers {
		reg := &r.man.Registers[i]
		if reg.Access != "rw" {
			continue
		}
		for k := range reg.Size() {
			r.regs[reg.At(k)] = reg.ResetValue(k)
		}
	}
	r.ends, r.leaving = ends{queued: make([][]Frame, p.Ports)}, nil
	if p.Pipes() {
		r.pipes()
	}
	return nil
}

// ResetIn is Reset: an access takes no time.
func (r *Reference) ResetIn(Access, uint64) (again bool, err error) { return false, r.Reset() }

// leastPathMTU is what Mode I takes; no other has one.
func leastPathMTU(p contract.Params) int {
	if p.Mode == 1 {
		return p.LeastPathMTU()
	}
	return 0
}

// pipes passes PIPE_CTRL and PIPE_TIMEOUT to the engine.
func (r *Reference) pipes() {
	var c inc.PipeCtrl
	r.fill(0, ctrl.PipeFields(&c))
	r.eng.SetPipeCtrl(c)
	r.eng.SetPipeTimeout(uint16(r.get("PIPE_TIMEOUT", 0, "microseconds")))
}

// Read returns a register as software sees it.
func (r *Reference) Read(addr uint32) (uint32, error) {
	addr &^= 3 // nobody looks at them
	reg, i, ok := r.man.Find(addr)
	if !ok {
		return 0, fmt.Errorf("%w: %w at address %#x", ErrRefused, contract.ErrUnknownRegister, addr)
	}
	switch reg.Name {
	case "ID":
		return contract.Magic, nil
	case "COUNTER":
		if !r.held() {
			r.snapshot()
		}
		v, err := r.counter(i, &r.copy)
		return uint32(v), err
	case "COUNTER_HIGH":
		v, err := r.counter(i, &r.copy)
		return uint32(v >> 32), err
	case "ENGINE_COUNTER", "ENGINE_COUNTER_HIGH":
		return r.engineCounter(reg, i)
	case "ENGINES":
		return uint32(r.eng.Engines()), nil
	case "ROUND_FRAMES", "ROUND_FRAMES_HIGH":
		if reg.Name == "ROUND_FRAMES" {
			return uint32(r.roundCopy), nil
		}
		return uint32(r.roundCopy >> 32), nil
	case "GROUP_STATUS":
		return r.put(reg.Name, "enabled", flag(r.eng.Enabled(i))) | r.put(reg.Name, "overlap", flag(r.overlap[i])) |
			r.put(reg.Name, "parked", flag(r.eng.Parked(i))) | r.put(reg.Name, "undrained", flag(r.undrained[i])), nil
	case "GROUP_CTRL":
		return r.put(reg.Name, "enable", flag(r.eng.Enabled(i))) | r.put(reg.Name, "park", flag(r.eng.Parked(i))), nil
	case "IRQ_CAUSE":
		return r.Causes(i), nil
	case "IRQ_CLEAR", "PORT_IRQ_CLEAR", "ECC_CLEAR":
		return 0, nil
	case "GROUP_FAILED":
		return r.eng.Failed(i), nil
	case "GROUP_REFUSED":
		return r.put(reg.Name, "mask", r.eng.Refused(i)) | r.put(reg.Name, "poisoned", flag(r.eng.Poisoned(i))), nil
	}
	if v, ok := r.param(reg.Name); ok {
		return v, nil
	}
	if v, ok := r.regs[addr]; ok {
		return v, nil
	}
	return reg.ResetValue(i), nil
}

// Together takes the accesses one after the other, in no time.
func (r *Reference) Together(accesses []Access) ([]Answer, error) {
	var answers []Answer
	for _, a := range accesses {
		var value uint32
		var err error
		if a.Write {
			err = r.Write(a.Addr, a.Value, ctrl.AllBytes)
		} else {
			value, err = r.Read(a.Addr)
		}
		if err != nil && !errors.Is(err, ErrRefused) {
			return nil, err
		}
		answers = append(answers, Answer{Value: value, Refused: err != nil})
	}
	return answers, nil
}

// Spotless is true: the reference's payload never has errors, and none can be injected.
func (r *Reference) Spotless() bool { return true }

// TakesErrors is true: the reference's ports have no queues.
func (r *Reference) TakesErrors() bool { return true }

// Interrupt tells whether the interrupt line is high.
func (r *Reference) Interrupt() bool { return r.man.Params.Interrupts && r.eng.Interrupt() }

// Causes is IRQ_CAUSE of an engine.
func (r *Reference) Causes(engine int) (v uint32) {
	for c := range inc.NumCauses {
		v |= r.put("IRQ_CAUSE", c.String(), flag(r.eng.OfEngine(engine).HasCause(c)))
	}
	return v
}

// call writes IRQ_ENABLE or IRQ_CLEAR of an engine.
func (r *Reference) call(register string, engine int, v uint32) {
	for c := range inc.NumCauses {
		on := v&r.put(register, c.String(), 1) != 0
		if register == "IRQ_ENABLE" {
			r.eng.OfEngine(engine).EnableCause(c, on)
		} else if on {
			r.eng.OfEngine(engine).ClearCause(c)
		}
	}
}

// Priority is that of a frame on the way out of a port, as the registers say.
func (r *Reference) Priority(frame []byte) int { return int(r.priorities.Of(frame)) }

// Pause is not for the reference, whose ports have no queues.
func (r *Reference) Pause(int, uint32) bool { return false }

// Trouble is not for the reference, whose ports are perfect.
func (r *Reference) Trouble(int, Trouble) bool { return false }

// param computes a PARAM_* register from the manifest's parameters, not from the reset value that the manifest gives
// it.
func (r *Reference) param(name string) (uint32, bool) {
	if !strings.HasPrefix(name, "PARAM_") {
		return 0, false
	}
	p := r.man.Params
	arith := func(field string, v uint32) int { return int(r.put("PARAM_ARITH", field, v)) }
	arithmetic := arith("dtypes", p.DTypeMask()) | arith("ops", p.OpMask()) | arith("planes", uint32(p.Planes())) |
		arith("reproducible", flag(p.Reproducible())) | arith("ecc", flag(p.ECC)) | arith("park", flag(p.Park))
	v, ok := map[string]int{
		"PARAM_MODE": p.Mode, "PARAM_BUS_BYTES": p.BusBytes, "PARAM_LANES": p.Lanes, "PARAM_GROUPS": p.Groups,
		"PARAM_MEMBERS": p.Members, "PARAM_PORTS": p.Ports, "PARAM_MTU_BYTES": p.MTUBytes, "PARAM_SLOTS": p.Slots(),
		"PARAM_WINDOW_PACKETS": p.WindowPackets, "PARAM_ARITH": arithmetic, "PARAM_MESSAGE_BYTES": p.MessageBytes,
		"PARAM_WINDOW_MESSAGES": p.WindowMessages,
	}[name]
	return uint32(v), ok
}

// held tells whether COUNTER reads a copy that was taken before.
func (r *Reference) held() bool { return r.get("COUNTER_SNAPSHOT", 0, "hold") != 0 }

// snapshot copies all counters.
func (r *Reference) snapshot() {
	r.copy, r.roundCopy = r.eng.Counters(), r.eng.Round()
	for e := range r.eng.Engines() {
		r.copies[e] = r.eng.EngineCounters(e)
	}
}

// engineCounter is a counter of one engine, a word of it. A read of the low word copies those of that engine first, unless a copy is held.
func (r *Reference) engineCounter(reg *contract.Register, i int) (uint32, error) {
	e, i := i/len(r.man.Counters), i%len(r.man.Counters)
	if reg.Name == "ENGINE_COUNTER" {
		if !r.held() {
			r.copies[e] = r.eng.EngineCounters(e)
		}
		v, err := r.counter(i, &r.copies[e])
		return uint32(v), err
	}
	v, err := r.counter(i, &r.copies[e])
	return uint32(v >> 32), err
}

// counter is what a copy of the counters has for the register of that index.
func (r *Reference) counter(i int, of *inc.Counters) (uint64, error) {
	if i >= len(r.man.Counters) {
		return 0, fmt.Errorf("reference: counter %d, the manifest names %d", i, len(r.man.Counters))
	}
	for c := range r.eng.Params().Counters() {
		if c.String() == r.man.Counters[i] {
			return of[c], nil
		}
	}
	return 0, fmt.Errorf("reference: no counter has the name %q", r.man.Counters[i])
}

// locked tells whether a register is a setting of a group that is enabled, or of one of its endpoints.
func (r *Reference) locked(reg *contract.Register, i int) bool {
	switch {
	case reg.Access != "rw" || reg.Name == "GROUP_CTRL":
		return false
	case reg.Name == "GROUP_SLOTS" || reg.Name == "GROUP_PIPE":
		return r.eng.Enabled(i) && !r.eng.Parked(i)
	case strings.HasPrefix(reg.Name, "GROUP_"):
		return r.eng.Enabled(i)
	case strings.HasPrefix(reg.Name, "EP_"):
		return r.eng.Enabled(i / r.man.Params.EPS())
	}
	return false
}

// Write is a register write by software. Settings of a group that is enabled stand still, and there are no writes of single bytes
// (docs/engine.md section 6).
func (r *Reference) Write(addr, value uint32, strobes uint8) error {
	addr &^= 3
	reg, i, ok := r.man.Find(addr)
	switch {
	case !ok:
		return fmt.Errorf("%w: %w at address %#x", ErrRefused, contract.ErrUnknownRegister, addr)
	case strobes != ctrl.AllBytes:
		return fmt.Errorf("%w: %s[%d], bytes %04b", ErrRefused, reg.Name, i, strobes)
	case r.locked(reg, i):
		return fmt.Errorf("%w: %s[%d]: %w", ErrRefused, reg.Name, i, inc.ErrEnabled)
	case reg.Access != "rw":
		return nil
	}
	v := value & reg.Mask()
	if strings.HasPrefix(reg.Name, "EP_") && i%r.man.Params.EPS() > r.man.Params.Members {
		return nil // there is no such endpoint
	}
	if reg.Name == "GROUP_CTRL" {
		return r.groupCtrl(i, v)
	}
	r.regs[addr] = v
	switch name := reg.Name; {
	case name == "COUNTER_SNAPSHOT":
		if r.held() {
			r.snapshot()
		}
	case name == "PRIORITY_DSCP":
		r.priorities.DSCP[i] = uint8(v)
	case name == "PRIORITY_PCP":
		r.priorities.PCP[i] = uint8(v)
	case name == "IRQ_ENABLE", name == "IRQ_CLEAR":
		r.call(name, i, v)
	case name == "CTRL":
		r.eng.SetGapNAK(r.get(name, 0, "gap_nak") != 0)
		r.eng.SetForeignBypass(r.get(name, 0, "foreign_bypass") != 0)
		r.eng.SetParkAnswer(r.get(name, 0, "park_rnr") != 0, uint8(r.get(name, 0, "park_timer")))
	case name == "IP_ID":
		r.eng.SetIPID(uint16(r.get(name, 0, "value")))
	case name == "BYPASS_PORT":
		return r.eng.SetBypassPort(i, int(r.get(name, i, "port")))
	case name == "PIPE_CTRL", name == "PIPE_TIMEOUT":
		r.pipes()
	case name == "ACK_EVERY":
		r.eng.SetAckEvery(uint8(r.get(name, 0, "packets")))
	case strings.HasPrefix(name, "EP_"):
		return r.eng.SetEndpoint(i, r.Endpoint(i))
	case strings.HasPrefix(name, "GROUP_"):
		set := r.Group(i)
		if r.eng.Parked(i) {
			return r.eng.SetSlots(i, set.SlotBase, set.Log2N, set.PipeSlots)
		}
		return r.eng.SetGroup(i, set)
	}
	return nil
}

func (r *Reference) groupCtrl(g int, v uint32) error {
	enable, reset := v&r.put("GROUP_CTRL", "enable", 1) != 0, v&r.put("GROUP_CTRL", "reset", 1) != 0
	park := v&r.put("GROUP_CTRL", "park", 1) != 0
	r.overlap[g], r.undrained[g] = false, false
	var err error
	switch {
	case !enable:
		err = r.eng.Disable(g)
	case reset && r.eng.Enabled(g):
		err = r.eng.Reset(g)
	case !r.eng.Enabled(g):
		err = r.eng.Enable(g)
	case park:
		err = r.eng.Park(g)
	default:
		err = r.eng.Unpark(g)
	}
	r.overlap[g], r.undrained[g] = errors.Is(err, inc.ErrOverlap), errors.Is(err, inc.ErrUndrained)
	if r.overlap[g] || r.undrained[g] || errors.Is(err, inc.ErrIllegalGroup) {
		return nil // what was written does not stick
	}
	return err
}

// get is a field of the stored value of a register element; 0 if the manifest lacks it.
func (r *Reference) get(register string, i int, field string) uint32 {
	reg, err := r.man.Register(register)
	if err != nil {
		return 0
	}
	f, _ := reg.Field(field) // a field of no bits otherwise
	return f.Get(r.regs[reg.At(i)])
}

// put is a value of a field in place; 0 if the manifest lacks it.
func (r *Reference) put(register, field string, v uint32) uint32 {
	f, _ := r.man.Registers.Field(register, field)
	return f.Put(v)
}

// fill sets what fields are bound to as the registers' element i holds it.
func (r *Reference) fill(i int, fields []ctrl.Field) {
	for _, f := range fields {
		f.Set(r.get(f.Register, i, f.Name))
	}
}

// Endpoint is the record that the registers hold.
func (r *Reference) Endpoint(ei int) (e inc.Endpoint) {
	r.fill(ei, ctrl.EndpointFields(&e))
	if r.man.Params.Mode == 1 {
		r.fill(ei, ctrl.ConnectionFields(&e))
	}
	if r.man.Params.VLAN {
		r.fill(ei, ctrl.TagFields(&e))
	}
	return e
}

// Group are the settings that the registers hold. A fixed group does not use routes.
func (r *Reference) Group(g int) (set inc.Group) {
	r.fill(g, ctrl.GroupFields(&set, r.man.Params.Mode))
	if set.InBand {
		r.fill(g, ctrl.RouteFields(&set))
	}
	return set
}
