// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"

	"incforge/roce"
)

// MaxEngines is how many engines a switch may have.
const MaxEngines = 8

// Switch is several engines alike behind one set of ports (docs/engines.md). The bits of a frame's QPN above those that an engine looks at name
// the engine; what is nobody's by its bytes alone, or names no engine, goes round all of them. Groups and table indices are numbered through:
// engine e has groups from e·Params.Groups and records from e·Params.TableSize on. A switch of one engine is that engine.
type Switch struct {
	engines []*Engine
	round   struct {
		exits    []int
		counters Counters
	}
}

// NewSwitch makes a switch of engines as after New. Several engines need a power of two of groups each.
func NewSwitch(engines int, p Params) (*Switch, error) {
	if engines < 1 || engines > MaxEngines || engines > 1 && ceilPow2(max(p.Groups, 1)) != p.Groups {
		return nil, fmt.Errorf("%d engines of %d groups, a switch has 1 to %d, several with a power of two of groups: %w", engines, p.Groups, MaxEngines, ErrRange)
	}
	s := &Switch{}
	for range engines {
		e, err := New(p)
		if err != nil {
			return nil, err
		}
		s.engines = append(s.engines, e)
	}
	for i := range p.Ports {
		s.round.exits = append(s.round.exits, i)
	}
	return s, nil
}

// Engines is how many engines there are.
func (s *Switch) Engines() int { return len(s.engines) }

// Params are those of each engine.
func (s *Switch) Params() Params { return s.engines[0].params }

// Steer is the number of the engine that a frame is given to; Engines if it goes round them.
func (s *Switch) Steer(frame []byte) int {
	if len(s.engines) == 1 {
		return 0
	}
	if s.Params().VLAN {
		frame, _ = untag(frame)
	}
	var p roce.Packet
	if !parseHeaders(frame, &p) {
		return len(s.engines)
	}
	return s.named(&p)
}

// named is the number of the engine that a packet's QPN names; Engines if there is none.
func (s *Switch) named(p *roce.Packet) int {
	return min(int(p.DestQP)/s.Params().TableSize()%ceilPow2(len(s.engines)), len(s.engines))
}

// Handle gives a frame to its engine, or sends it round them. Out.Engine says who made or passed what leaves.
func (s *Switch) Handle(now Time, port int, frame []byte, rxErr bool) []Out {
	to := s.Steer(frame)
	if to < len(s.engines) {
		return s.by(to, s.engines[to].Handle(now, port, frame, rxErr))
	}
	p := s.Params()
	if port < 0 || port >= p.Ports {
		return nil
	}
	s.round.counters[RxFrames]++
	s.round.counters[Bypass]++
	exit := p.exit(s.round.exits[port])
	if exit >= p.Ports {
		return nil
	}
	return []Out{{Port: exit, Frame: frame, Err: rxErr, Bypass: true, Engine: to}}
}

// HandleStale is Handle for a frame that came in before its group was started and is decided later.
func (s *Switch) HandleStale(now Time, port int, frame []byte, rxErr bool) []Out {
	if to := s.Steer(frame); to < len(s.engines) {
		return s.by(to, s.engines[to].HandleStale(now, port, frame, rxErr))
	}
	return s.Handle(now, port, frame, rxErr)
}

// GroupOf is the group that a frame names, if it is of any; Engines·Groups or more if there is none.
func (s *Switch) GroupOf(frame []byte) int {
	p := s.Params()
	if p.VLAN {
		frame, _ = untag(frame)
	}
	var packet roce.Packet
	if !parseHeaders(frame, &packet) {
		return len(s.engines) * p.Groups
	}
	return s.named(&packet)*p.Groups + int(packet.DestQP)%p.TableSize()/p.EPS()
}

// by says which engine something comes from.
func (s *Switch) by(engine int, outs []Out) []Out {
	for i := range outs {
		outs[i].Engine = engine
	}
	return outs
}

// Step is Handle for a decoded packet, whose QPN alone names the engine.
func (s *Switch) Step(now Time, port int, p roce.Packet) []Out {
	to := s.named(&p)
	if to == len(s.engines) {
		return nil
	}
	return s.by(to, s.engines[to].Step(now, port, p))
}

// Counters are the sums over all engines and of what went round them.
func (s *Switch) Counters() Counters {
	sum := s.round.counters
	for _, e := range s.engines {
		for i, n := range e.counters {
			sum[i] += n
		}
	}
	return sum
}

// EngineCounters are those of one engine.
func (s *Switch) EngineCounters(engine int) Counters { return s.engines[engine].counters }

// Round is how many frames went round the engines.
func (s *Switch) Round() uint64 { return s.round.counters[Bypass] }

// group is the engine that has a group, and the group's number there. The number of a group that does not exist does not exist there.
func (s *Switch) group(g int) (engine, number int) {
	each := s.Params().Groups
	if engine = g / each; g < 0 || engine >= len(s.engines) {
		return 0, each
	}
	return engine, g % each
}

// record is the engine that has a table index, and the index there.
func (s *Switch) record(ei int) (engine, index int) {
	each := s.Params().TableSize()
	if engine = ei / each; ei < 0 || engine >= len(s.engines) {
		return 0, -1
	}
	return engine, ei % each
}

// numbered is an error of an engine's with the number of the group for the switch, if that is another one.
func numbered(engine, g int, err error) error {
	if err == nil || engine == 0 {
		return err
	}
	return fmt.Errorf("group %d, of engine %d: %w", g, engine, err)
}

// SetEndpoint, SetGroup, Enable, Disable and Reset are the engine's of the endpoint or group.
func (s *Switch) SetEndpoint(ei int, ep Endpoint) error {
	engine, index := s.record(ei)
	return numbered(engine, ei/s.Params().EPS(), s.engines[engine].SetEndpoint(index, ep))
}

// SetGroup writes the settings of a group.
func (s *Switch) SetGroup(g int, settings Group) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].SetGroup(number, settings))
}

// Enable starts a group; the slots of other engines are not its engine's.
func (s *Switch) Enable(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Enable(number))
}

// Disable stops a group.
func (s *Switch) Disable(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Disable(number))
}

// Reset starts a group again.
func (s *Switch) Reset(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Reset(number))
}

// Park takes a group's slots away.
func (s *Switch) Park(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Park(number))
}

// Unpark gives a parked group the slots of its settings.
func (s *Switch) Unpark(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Unpark(number))
}

// SetSlots writes which slots a parked group will have.
func (s *Switch) SetSlots(g, base, log2N, pipeSlots int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].SetSlots(number, base, log2N, pipeSlots))
}

// Parked tells whether a group is parked.
func (s *Switch) Parked(g int) bool {
	engine, number := s.group(g)
	return s.engines[engine].Parked(number)
}

// Enabled tells whether a group is enabled.
func (s *Switch) Enabled(g int) bool {
	engine, number := s.group(g)
	return s.engines[engine].Enabled(number)
}

// SetBypassPort, SetIPID, SetGapNAK, SetForeignBypass, SetParkAnswer, SetManual, SetPipeCtrl, SetPipeTimeout and SetAckEvery reach all engines; the bypass
// ports also count for what goes round them.
func (s *Switch) SetBypassPort(in, out int) error {
	if err := s.all(func(e *Engine) error { return e.SetBypassPort(in, out) }); err != nil {
		return err
	}
	s.round.exits[in] = out
	return nil
}

// all has every engine do the same, up to the first that refuses.
func (s *Switch) all(do func(*Engine) error) error {
	for _, e := range s.engines {
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// each has every engine do the same.
func (s *Switch) each(do func(*Engine)) {
	for _, e := range s.engines {
		do(e)
	}
}

// SetIPID sets the IPv4 identification of the frames that the engines make.
func (s *Switch) SetIPID(id uint16) { s.each(func(e *Engine) { e.SetIPID(id) }) }

// SetGapNAK switches CTRL.gap_nak.
func (s *Switch) SetGapNAK(on bool) { s.each(func(e *Engine) { e.SetGapNAK(on) }) }

// SetForeignBypass switches CTRL.foreign_bypass.
func (s *Switch) SetForeignBypass(on bool) { s.each(func(e *Engine) { e.SetForeignBypass(on) }) }

// SetParkAnswer writes CTRL.park_rnr and CTRL.park_timer.
func (s *Switch) SetParkAnswer(rnr bool, timer uint8) {
	s.each(func(e *Engine) { e.SetParkAnswer(rnr, timer) })
}

// SetManual says who takes the engines' actions.
func (s *Switch) SetManual(on bool) { s.each(func(e *Engine) { e.SetManual(on) }) }

// SetPipeCtrl writes PIPE_CTRL.
func (s *Switch) SetPipeCtrl(c PipeCtrl) { s.each(func(e *Engine) { e.SetPipeCtrl(c) }) }

// SetPipeTimeout writes PIPE_TIMEOUT.
func (s *Switch) SetPipeTimeout(microseconds uint16) {
	s.each(func(e *Engine) { e.SetPipeTimeout(microseconds) })
}

// SetAckEvery writes ACK_EVERY.
func (s *Switch) SetAckEvery(packets uint8) { s.each(func(e *Engine) { e.SetAckEvery(packets) }) }

// Actions appends all actions that may be taken now, engine after engine.
func (s *Switch) Actions(dst []Action) []Action {
	return s.actions(dst, func(e *Engine, dst []Action) []Action { return e.Actions(dst) })
}

// Due appends those that are due.
func (s *Switch) Due(now Time, dst []Action) []Action {
	return s.actions(dst, func(e *Engine, dst []Action) []Action { return e.Due(now, dst) })
}

func (s *Switch) actions(dst []Action, of func(*Engine, []Action) []Action) []Action {
	for i, e := range s.engines {
		from := len(dst)
		dst = of(e, dst)
		for k := from; k < len(dst); k++ {
			dst[k].Group += i * e.params.Groups
		}
	}
	return dst
}

// action is the engine of an action's group, and the action as that knows it.
func (s *Switch) action(a Action) (int, Action) {
	engine, number := s.group(a.Group)
	a.Group = number
	return engine, a
}

// Deadline is the time from which on a time-out or resume is due.
func (s *Switch) Deadline(a Action) (Time, bool) {
	engine, a := s.action(a)
	return s.engines[engine].Deadline(a)
}

// NextDeadline is the earliest of the engines'.
func (s *Switch) NextDeadline() (at Time, ok bool) {
	for _, e := range s.engines {
		if t, has := e.NextDeadline(); has && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Tick lets every engine take what is due, one after the other.
func (s *Switch) Tick(now Time) (outs []Out) {
	for i, e := range s.engines {
		outs = append(outs, s.by(i, e.Tick(now))...)
	}
	return outs
}

// Act has the engine of its group take an action.
func (s *Switch) Act(now Time, a Action) ([]Out, error) {
	engine, own := s.action(a)
	outs, err := s.engines[engine].Act(now, own)
	return s.by(engine, outs), numbered(engine, a.Group, err)
}

// Failed and Refused are GROUP_FAILED and GROUP_REFUSED of a group.
func (s *Switch) Failed(g int) uint32 {
	engine, number := s.group(g)
	return s.engines[engine].Failed(number)
}

// Refused is GROUP_REFUSED of a group.
func (s *Switch) Refused(g int) uint32 {
	engine, number := s.group(g)
	return s.engines[engine].Refused(number)
}

// Poison tells a group that a double error of the payload memory was read for it.
func (s *Switch) Poison(g int) error {
	engine, number := s.group(g)
	return numbered(engine, g, s.engines[engine].Poison(number))
}

// Poisoned is GROUP_REFUSED.poisoned of a group.
func (s *Switch) Poisoned(g int) bool {
	engine, number := s.group(g)
	return s.engines[engine].Poisoned(number)
}

// Look, Standing, Unfinished and Discarded are for those who watch, as the engine has them.
func (s *Switch) Look(ei int, wire roce.PSN) (Sight, bool) {
	engine, index := s.record(ei)
	if index < 0 {
		return Sight{}, false
	}
	return s.engines[engine].Look(index, wire)
}

// Standing tells how far a group is.
func (s *Switch) Standing(g int) (Standing, bool) {
	engine, number := s.group(g)
	return s.engines[engine].Standing(number)
}

// Unfinished is how many slots of a group, which must exist, are.
func (s *Switch) Unfinished(g int) int {
	engine, number := s.group(g)
	return s.engines[engine].Unfinished(number)
}

// Discarded is how many slots of a group, which must exist, were emptied before they were complete.
func (s *Switch) Discarded(g int) int {
	engine, number := s.group(g)
	return s.engines[engine].Discarded(number)
}

// CheckInvariants verifies those of every engine.
func (s *Switch) CheckInvariants() error {
	for i, e := range s.engines {
		if err := e.CheckInvariants(); err != nil {
			return numbered(i, i*e.params.Groups, err)
		}
	}
	return nil
}

// AppendGroupState appends that of a group, which must exist.
func (s *Switch) AppendGroupState(b []byte, g int) []byte {
	engine, number := s.group(g)
	return s.engines[engine].AppendGroupState(b, number)
}

// AppendState appends the state of every engine.
func (s *Switch) AppendState(b []byte) []byte {
	s.each(func(e *Engine) { b = e.AppendState(b) })
	return b
}
