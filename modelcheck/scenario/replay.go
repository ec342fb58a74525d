// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/modelcheck/model"
	"incforge/network/topology"
)

// World is a model in which things happen one by one, without tables, names or symmetry: what Replay runs, and a second opinion on
// the search.
type World struct {
	Config   model.Config
	Topo     *topology.Topology
	Roles    []*model.HostRole
	Hosts    []model.Host
	Engines  []*model.Engine
	States   [][]byte
	Up, Down [][]model.Packet
	Budget   map[string]int
}

// NewWorld starts a model.
func NewWorld(c model.Config) (*World, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	t, err := model.ParseTree(c.Tree)
	if err != nil {
		return nil, err
	}
	n := len(t.Nodes)
	w := &World{Config: c, Topo: t, Roles: make([]*model.HostRole, n), Hosts: make([]model.Host, n), Engines: make([]*model.Engine, n), States: make([][]byte, n),
		Up: make([][]model.Packet, n), Down: make([][]model.Packet, n),
		Budget: map[string]int{"lose": c.Loss, "duplicate": c.Dup, "reorder": c.Reorder, "early": c.Early, "not-ready": c.RNR}}
	for i := range n {
		if t.Nodes[i].Rank < 0 {
			if w.Engines[i], err = model.NewEngine(c, t, i); err != nil {
				return nil, err
			}
			w.States[i] = w.Engines[i].Initial()
			continue
		}
		w.Roles[i] = c.Role(t, t.Nodes[i].Rank)
		w.Up[i] = w.Hosts[i].Fresh(w.Roles[i], nil)
	}
	return w, nil
}

// Happening is what happened in a step of a world.
type Happening struct {
	step   Step
	node   int
	packet model.Packet
	from   int // node, -1 without a packet
	action model.Action
	sent   []sending
	Fault  error
}

// sending is a packet that was put on a link.
type sending struct {
	to     int
	packet model.Packet
}

// ErrScenario means that a scenario asks for what cannot happen.
var ErrScenario = errors.New("this cannot happen here")

// nodeOf is the node of a name.
func nodeOf(t *topology.Topology, name string) (int, error) {
	for n := range t.Nodes {
		if t.Name(n) == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("there is no %q: %w", name, ErrScenario)
}

// Do takes one step.
func (w *World) Do(s Step) (Happening, error) {
	h := Happening{step: s, from: -1}
	var err error
	if h.node, err = nodeOf(w.Topo, s.At); err != nil {
		return h, err
	}
	kind := slices.Index(MoveNames(), s.Do)
	if kind <= 0 {
		return h, fmt.Errorf("%q is nothing that happens: %w", s.Do, ErrScenario)
	}
	spend := func(what string) error {
		if w.Budget[what] == 0 {
			return fmt.Errorf("%s once more than the model allows: %w", what, ErrScenario)
		}
		w.Budget[what]--
		return nil
	}
	switch kind {
	case MoveEarly:
		if w.Budget["early"] == 0 {
			return h, fmt.Errorf("early once more than the model allows: %w", ErrScenario)
		}
		if err := w.own(&h, s); err != nil {
			return h, err
		}
		return h, spend("early")
	case MoveSend:
		return h, w.own(&h, s)
	case MoveTimeout:
		if !w.Quiet() {
			return h, fmt.Errorf("a time-out while something is on its way: %w", ErrScenario)
		}
		return h, w.own(&h, s)
	}

	if h.from, err = nodeOf(w.Topo, s.From); err != nil {
		return h, err
	}
	queue, endpoint := &w.Down[h.node], len(w.Topo.Nodes[h.node].Children)
	switch {
	case w.Topo.Nodes[h.node].Parent == h.from:
	case w.Topo.Nodes[h.from].Parent == h.node:
		queue, endpoint = &w.Up[h.from], w.Topo.Nodes[h.from].Slot
	default:
		return h, fmt.Errorf("%s and %s are no neighbours: %w", s.From, s.At, ErrScenario)
	}
	if s.Index < 0 || s.Index >= len(*queue) {
		return h, fmt.Errorf("from %s to %s there are %d packets: %w", s.From, s.At, len(*queue), ErrScenario)
	}
	h.packet = (*queue)[s.Index]
	if s.Packet != "" && s.Packet != h.packet.String() {
		return h, fmt.Errorf("from %s to %s comes %s, not %s: %w", s.From, s.At, h.packet, s.Packet, ErrScenario)
	}
	if s.Index > 0 {
		if err := spend("reorder"); err != nil {
			return h, err
		}
	}
	if kind != MoveDeliver {
		if err := spend(s.Do); err != nil {
			return h, err
		}
	}
	if kind != MoveDuplicate {
		*queue = slices.Delete(slices.Clone(*queue), s.Index, s.Index+1)
	}
	if kind == MoveLose {
		return h, nil
	}
	if role := w.Roles[h.node]; role != nil {
		out, err := w.Hosts[h.node].Take(role, h.packet, kind == MoveNotReady, nil)
		h.Fault = err
		w.hostSends(&h, out)
		return h, nil
	}
	done, err := w.Engines[h.node].Take(w.States[h.node], endpoint, h.packet)
	return h, w.switchDid(&h, done, err)
}

// own is a step that a node takes by itself.
func (w *World) own(h *Happening, s Step) error {
	if role := w.Roles[h.node]; role != nil {
		if s.Do == MoveNames()[MoveSend] || !w.Hosts[h.node].Outstanding() {
			return fmt.Errorf("%s has no timer that runs: %w", s.At, ErrScenario)
		}
		w.hostSends(h, w.Hosts[h.node].Timeout(role, nil))
		return nil
	}
	acts, err := w.Engines[h.node].Actions(w.States[h.node])
	if err != nil {
		return err
	}
	i := slices.IndexFunc(acts, func(a model.Action) bool {
		return model.ActionName(w.Topo, h.node, a) == s.Action && a.Wait == (s.Do != MoveNames()[MoveSend])
	})
	if i < 0 {
		return fmt.Errorf("%s may not do %q: %w", s.At, s.Action, ErrScenario)
	}
	h.action = acts[i]
	done, err := w.Engines[h.node].Act(w.States[h.node], acts[i])
	return w.switchDid(h, done, err)
}

// hostSends puts on its link what a host sends.
func (w *World) hostSends(h *Happening, out []model.Packet) {
	for _, p := range out {
		w.Up[h.node] = append(w.Up[h.node], p)
		h.sent = append(h.sent, sending{w.Topo.Nodes[h.node].Parent, p})
	}
}

// switchDid takes over what a switch did.
func (w *World) switchDid(h *Happening, done model.Stepped, err error) error {
	if err != nil {
		return err
	}
	w.States[h.node], h.Fault = done.State, done.Err
	for e, out := range done.Outs {
		for _, p := range out {
			to := w.Topo.Neighbour(h.node, e)
			if to == w.Topo.Nodes[h.node].Parent {
				w.Up[h.node] = append(w.Up[h.node], p)
			} else {
				w.Down[to] = append(w.Down[to], p)
			}
			h.sent = append(h.sent, sending{to, p})
		}
	}
	return nil
}

// Quiet tells whether nothing is on its way and no switch wants to send.
func (w *World) Quiet() bool {
	for n := range w.Topo.Nodes {
		if len(w.Up[n])+len(w.Down[n]) > 0 {
			return false
		}
		if w.Engines[n] != nil {
			acts, err := w.Engines[n].Actions(w.States[n])
			if err != nil || slices.ContainsFunc(acts, func(a model.Action) bool { return !a.Wait }) {
				return false
			}
		}
	}
	return true
}

// Stalled says what is missing if nothing can happen any more and not all is done.
func (w *World) Stalled() (string, bool) {
	if !w.Quiet() {
		return "", false
	}
	missing := ""
	for n := range w.Topo.Nodes {
		if r := w.Roles[n]; r != nil {
			if w.Hosts[n].Outstanding() {
				return "", false
			}
			if !w.Hosts[n].Done(r) {
				missing = w.Topo.Name(n) + " is not done"
			}
			continue
		}
		acts, err := w.Engines[n].Actions(w.States[n])
		if err != nil || len(acts) > 0 {
			return "", false
		}
		if !w.Engines[n].Idle() {
			missing = w.Topo.Name(n) + " holds unfinished slots"
		}
	}
	return missing, missing != ""
}

// Replay runs a scenario on the reference and draws what happens. It tells whether what the scenario leads to has come about: its fault, or
// its deadlock. A livelock is about what can follow, which one run does not show: it has come about if the last step was possible.
func Replay(t *Trace, out io.Writer) (bool, error) {
	w, err := NewWorld(t.Config)
	if err != nil {
		return false, err
	}
	c := newChart(w.Topo)
	fmt.Fprintf(out, "%s\n\n%s\n", w.Config, c.head())
	for n := range w.Topo.Nodes {
		for _, p := range w.Up[n] {
			c.note(n, fmt.Sprintf("sends %s", p))
		}
	}
	fmt.Fprint(out, c.flush())
	for i, s := range t.Steps {
		h, err := w.Do(s)
		if err != nil {
			return false, fmt.Errorf("step %d: %w", i+1, err)
		}
		fmt.Fprint(out, c.row(&h))
		if h.Fault != nil {
			fmt.Fprintf(out, "\nfault: %v\n", h.Fault)
			return t.Kind == KindFault && strings.Contains(h.Fault.Error(), t.Text), nil
		}
	}
	if missing, stalled := w.Stalled(); stalled {
		fmt.Fprintf(out, "\ndeadlock: nothing is on its way, no timer runs, and %s\n", missing)
		return t.Kind == KindDeadlock, nil
	}
	if t.Kind == KindLivelock {
		fmt.Fprintf(out, "\nlivelock: %s\n", t.Text)
	}
	return t.Kind == KindLivelock || t.Kind == "", nil
}

// Exchange is something that happens at a switch, and what leaves because of it.
type Exchange struct {
	// Port is the port a frame comes in by, and Frame the frame; Frame is nil if the switch does something by itself.
	Port  int
	Frame []byte
	// Action is what it does.
	Action inc.Action
	// Outs are the frames that leave, in order, with their ports.
	Outs []Frame
}

// Frame is a frame at a port.
type Frame struct {
	Port int
	Data []byte
}

// Script is what one switch sees in a scenario: what a DUT is to be given, and what it should answer.
type Script struct {
	Params    inc.Params
	Group     inc.Group
	Endpoints []inc.Endpoint
	// Free tells that sends are where the scenario has them, not at once.
	Free      bool
	Exchanges []Exchange
}

// Switches are the names of the switches in the scenario's tree.
func (t *Trace) Switches() ([]string, error) {
	topo, err := model.ParseTree(t.Config.Tree)
	if err != nil {
		return nil, err
	}
	var names []string
	for n := range topo.Nodes {
		if topo.Nodes[n].Rank < 0 {
			names = append(names, topo.Name(n))
		}
	}
	return names, nil
}

// Script gives what the switch of a name sees in the scenario. In Mode III the sends that follow a frame at once are exchanges of their
// own. The answers are those of an engine without the wrong rules of the configuration, which may differ from what the scenario's own
// switches did: what comes in is the scenario's, what goes out is right.
func (t *Trace) Script(name string) (*Script, error) {
	w, err := NewWorld(t.Config)
	if err != nil {
		return nil, err
	}
	n, err := nodeOf(w.Topo, name)
	if err != nil {
		return nil, err
	}
	if w.Engines[n] == nil {
		return nil, fmt.Errorf("%s is a host: %w", name, ErrScenario)
	}
	right := w.Config
	right.Bad = nil
	e, err := model.NewEngine(right, w.Topo, n)
	if err != nil {
		return nil, err
	}
	s := &Script{Params: e.Reference.Params(), Group: e.Group, Free: e.Free}
	for i := range e.Members + 1 {
		s.Endpoints = append(s.Endpoints, model.EndpointRecord(i, e.HostAt>>i&1 != 0))
	}
	for i, step := range t.Steps {
		h, err := w.Do(step)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if h.node != n || step.Do == MoveNames()[MoveLose] {
			continue
		}
		if h.from < 0 {
			if err := s.act(e, h.action.Action); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
		} else {
			port := len(w.Topo.Nodes[n].Children)
			if h.from != w.Topo.Nodes[n].Parent {
				port = w.Topo.Nodes[h.from].Slot
			}
			p := h.packet.Wire(port, e.HostAt>>port&1 != 0, make([]byte, 8))
			frame := p.AppendFrame(nil)
			s.Exchanges = append(s.Exchanges, Exchange{Port: port, Frame: frame, Outs: FramesOf(e.Reference.Handle(0, port, frame, false))})
		}
		if err := s.settle(e); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return s, nil
}

// Act takes an action and notes what leaves; one that a right engine may not take here is left out.
func (s *Script) act(e *model.Engine, a inc.Action) error {
	outs, err := e.Reference.Act(0, a)
	if errors.Is(err, inc.ErrAction) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v: %w", a, err)
	}
	s.Exchanges = append(s.Exchanges, Exchange{Action: a, Outs: FramesOf(outs)})
	return nil
}

// settle takes the sends that may be taken.
func (s *Script) settle(e *model.Engine) error {
	if e.Mode == 2 || e.Free {
		return nil
	}
	for {
		acts := e.Reference.Actions(nil)
		if len(acts) == 0 || acts[0].Kind != inc.ActSend && acts[0].Kind != inc.ActSendOne {
			return nil
		}
		if err := s.act(e, acts[0]); err != nil {
			return err
		}
	}
}

// FramesOf copies the frames of what leaves.
func FramesOf(outs []inc.Out) []Frame {
	var frames []Frame
	for _, o := range outs {
		frames = append(frames, Frame{o.Port, slices.Clone(o.Frame)})
	}
	return frames
}
