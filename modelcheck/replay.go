// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/network/topology"
)

// world is a model in which things happen one by one, without tables, names or symmetry: what Replay runs, and a second opinion on
// the search.
type world struct {
	cfg      Config
	topo     *topology.Topology
	roles    []*hostRole
	hosts    []host
	engines  []*engine
	states   [][]byte
	up, down [][]packet
	budget   map[string]int
}

// newWorld starts a model.
func newWorld(c Config) (*world, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	t, err := parseTree(c.Tree)
	if err != nil {
		return nil, err
	}
	n := len(t.Nodes)
	w := &world{cfg: c, topo: t, roles: make([]*hostRole, n), hosts: make([]host, n), engines: make([]*engine, n), states: make([][]byte, n),
		up: make([][]packet, n), down: make([][]packet, n),
		budget: map[string]int{"lose": c.Loss, "duplicate": c.Dup, "reorder": c.Reorder, "early": c.Early, "not-ready": c.RNR}}
	for i := range n {
		if t.Nodes[i].Rank < 0 {
			if w.engines[i], err = newEngine(c, t, i); err != nil {
				return nil, err
			}
			w.states[i] = w.engines[i].initial()
			continue
		}
		w.roles[i] = c.role(t, t.Nodes[i].Rank)
		w.up[i] = w.hosts[i].fresh(w.roles[i], nil)
	}
	return w, nil
}

// happening is what a step of a world was.
type happening struct {
	step   Step
	node   int
	packet packet
	from   int // node, -1 without a packet
	action action
	sent   []sending
	fault  error
}

// sending is a packet that was put on a link.
type sending struct {
	to     int
	packet packet
}

// errScenario means that a scenario asks for what cannot happen.
var errScenario = errors.New("this cannot happen here")

// nodeOf is the node of a name.
func nodeOf(t *topology.Topology, name string) (int, error) {
	for n := range t.Nodes {
		if t.Name(n) == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("there is no %q: %w", name, errScenario)
}

// do takes one step.
func (w *world) do(s Step) (happening, error) {
	h := happening{step: s, from: -1}
	var err error
	if h.node, err = nodeOf(w.topo, s.At); err != nil {
		return h, err
	}
	kind := slices.Index(moveNames(), s.Do)
	if kind <= 0 {
		return h, fmt.Errorf("%q is nothing that happens: %w", s.Do, errScenario)
	}
	spend := func(what string) error {
		if w.budget[what] == 0 {
			return fmt.Errorf("%s once more than the model allows: %w", what, errScenario)
		}
		w.budget[what]--
		return nil
	}
	switch kind {
	case moveEarly:
		if w.budget["early"] == 0 {
			return h, fmt.Errorf("early once more than the model allows: %w", errScenario)
		}
		if err := w.own(&h, s); err != nil {
			return h, err
		}
		return h, spend("early")
	case moveSend:
		return h, w.own(&h, s)
	case moveTimeout:
		if !w.quiet() {
			return h, fmt.Errorf("a time-out while something is on its way: %w", errScenario)
		}
		return h, w.own(&h, s)
	}

	if h.from, err = nodeOf(w.topo, s.From); err != nil {
		return h, err
	}
	queue, endpoint := &w.down[h.node], len(w.topo.Nodes[h.node].Children)
	switch {
	case w.topo.Nodes[h.node].Parent == h.from:
	case w.topo.Nodes[h.from].Parent == h.node:
		queue, endpoint = &w.up[h.from], w.topo.Nodes[h.from].Slot
	default:
		return h, fmt.Errorf("%s and %s are no neighbours: %w", s.From, s.At, errScenario)
	}
	if s.Index < 0 || s.Index >= len(*queue) {
		return h, fmt.Errorf("from %s to %s there are %d packets: %w", s.From, s.At, len(*queue), errScenario)
	}
	h.packet = (*queue)[s.Index]
	if s.Packet != "" && s.Packet != h.packet.String() {
		return h, fmt.Errorf("from %s to %s comes %s, not %s: %w", s.From, s.At, h.packet, s.Packet, errScenario)
	}
	if s.Index > 0 {
		if err := spend("reorder"); err != nil {
			return h, err
		}
	}
	if kind != moveDeliver {
		if err := spend(s.Do); err != nil {
			return h, err
		}
	}
	if kind != moveDuplicate {
		*queue = slices.Delete(slices.Clone(*queue), s.Index, s.Index+1)
	}
	if kind == moveLose {
		return h, nil
	}
	if role := w.roles[h.node]; role != nil {
		out, err := w.hosts[h.node].take(role, h.packet, kind == moveNotReady, nil)
		h.fault = err
		w.hostSends(&h, out)
		return h, nil
	}
	done, err := w.engines[h.node].take(w.states[h.node], endpoint, h.packet)
	return h, w.switchDid(&h, done, err)
}

// own is a step that a node takes by itself.
func (w *world) own(h *happening, s Step) error {
	if role := w.roles[h.node]; role != nil {
		if s.Do == moveNames()[moveSend] || !w.hosts[h.node].outstanding() {
			return fmt.Errorf("%s has no timer that runs: %w", s.At, errScenario)
		}
		w.hostSends(h, w.hosts[h.node].timeout(role, nil))
		return nil
	}
	acts, err := w.engines[h.node].actions(w.states[h.node])
	if err != nil {
		return err
	}
	i := slices.IndexFunc(acts, func(a action) bool {
		return actionName(w.topo, h.node, a) == s.Action && a.wait == (s.Do != moveNames()[moveSend])
	})
	if i < 0 {
		return fmt.Errorf("%s may not do %q: %w", s.At, s.Action, errScenario)
	}
	h.action = acts[i]
	done, err := w.engines[h.node].act(w.states[h.node], acts[i])
	return w.switchDid(h, done, err)
}

// hostSends puts on its link what a host sends.
func (w *world) hostSends(h *happening, out []packet) {
	for _, p := range out {
		w.up[h.node] = append(w.up[h.node], p)
		h.sent = append(h.sent, sending{w.topo.Nodes[h.node].Parent, p})
	}
}

// switchDid takes over what a switch did.
func (w *world) switchDid(h *happening, done stepped, err error) error {
	if err != nil {
		return err
	}
	w.states[h.node], h.fault = done.state, done.err
	for e, out := range done.outs {
		for _, p := range out {
			to := w.topo.Neighbour(h.node, e)
			if to == w.topo.Nodes[h.node].Parent {
				w.up[h.node] = append(w.up[h.node], p)
			} else {
				w.down[to] = append(w.down[to], p)
			}
			h.sent = append(h.sent, sending{to, p})
		}
	}
	return nil
}

// quiet tells whether nothing is on its way and no switch wants to send.
func (w *world) quiet() bool {
	for n := range w.topo.Nodes {
		if len(w.up[n])+len(w.down[n]) > 0 {
			return false
		}
		if w.engines[n] != nil {
			acts, err := w.engines[n].actions(w.states[n])
			if err != nil || slices.ContainsFunc(acts, func(a action) bool { return !a.wait }) {
				return false
			}
		}
	}
	return true
}

// stalled says what is missing if nothing can happen any more and not all is done.
func (w *world) stalled() (string, bool) {
	if !w.quiet() {
		return "", false
	}
	missing := ""
	for n := range w.topo.Nodes {
		if r := w.roles[n]; r != nil {
			if w.hosts[n].outstanding() {
				return "", false
			}
			if !w.hosts[n].done(r) {
				missing = w.topo.Name(n) + " is not done"
			}
			continue
		}
		acts, err := w.engines[n].actions(w.states[n])
		if err != nil || len(acts) > 0 {
			return "", false
		}
		if !w.engines[n].idle() {
			missing = w.topo.Name(n) + " holds unfinished slots"
		}
	}
	return missing, missing != ""
}

// Replay runs a scenario on the reference and draws what happens. It tells whether what the scenario leads to has come about: its fault, or
// its deadlock. A livelock is about what can follow, which one run does not show: it has come about if the last step was possible.
func Replay(t *Trace, out io.Writer) (bool, error) {
	w, err := newWorld(t.Config)
	if err != nil {
		return false, err
	}
	c := newChart(w.topo)
	fmt.Fprintf(out, "%s\n\n%s\n", w.cfg, c.head())
	for n := range w.topo.Nodes {
		for _, p := range w.up[n] {
			c.note(n, fmt.Sprintf("sends %s", p))
		}
	}
	fmt.Fprint(out, c.flush())
	for i, s := range t.Steps {
		h, err := w.do(s)
		if err != nil {
			return false, fmt.Errorf("step %d: %w", i+1, err)
		}
		fmt.Fprint(out, c.row(&h))
		if h.fault != nil {
			fmt.Fprintf(out, "\nfault: %v\n", h.fault)
			return t.Kind == kindFault && strings.Contains(h.fault.Error(), t.Text), nil
		}
	}
	if missing, stalled := w.stalled(); stalled {
		fmt.Fprintf(out, "\ndeadlock: nothing is on its way, no timer runs, and %s\n", missing)
		return t.Kind == kindDeadlock, nil
	}
	if t.Kind == kindLivelock {
		fmt.Fprintf(out, "\nlivelock: %s\n", t.Text)
	}
	return t.Kind == kindLivelock || t.Kind == "", nil
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
	topo, err := parseTree(t.Config.Tree)
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
	w, err := newWorld(t.Config)
	if err != nil {
		return nil, err
	}
	n, err := nodeOf(w.topo, name)
	if err != nil {
		return nil, err
	}
	if w.engines[n] == nil {
		return nil, fmt.Errorf("%s is a host: %w", name, errScenario)
	}
	right := w.cfg
	right.Bad = nil
	e, err := newEngine(right, w.topo, n)
	if err != nil {
		return nil, err
	}
	s := &Script{Params: e.inc.Params(), Group: e.group, Free: e.free}
	for i := range e.members + 1 {
		s.Endpoints = append(s.Endpoints, endpointRecord(i, e.hostAt>>i&1 != 0))
	}
	for i, step := range t.Steps {
		h, err := w.do(step)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if h.node != n || step.Do == moveNames()[moveLose] {
			continue
		}
		if h.from < 0 {
			if err := s.act(e, h.action.Action); err != nil {
				return nil, fmt.Errorf("step %d: %w", i+1, err)
			}
		} else {
			port := len(w.topo.Nodes[n].Children)
			if h.from != w.topo.Nodes[n].Parent {
				port = w.topo.Nodes[h.from].Slot
			}
			p := h.packet.wire(port, e.hostAt>>port&1 != 0, make([]byte, 8))
			frame := p.AppendFrame(nil)
			s.Exchanges = append(s.Exchanges, Exchange{Port: port, Frame: frame, Outs: framesOf(e.inc.Handle(0, port, frame, false))})
		}
		if err := s.settle(e); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return s, nil
}

// act takes an action and notes what leaves; one that a right engine may not take here is left out.
func (s *Script) act(e *engine, a inc.Action) error {
	outs, err := e.inc.Act(0, a)
	if errors.Is(err, inc.ErrAction) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v: %w", a, err)
	}
	s.Exchanges = append(s.Exchanges, Exchange{Action: a, Outs: framesOf(outs)})
	return nil
}

// settle takes the sends that may be taken.
func (s *Script) settle(e *engine) error {
	if e.mode == 2 || e.free {
		return nil
	}
	for {
		acts := e.inc.Actions(nil)
		if len(acts) == 0 || acts[0].Kind != inc.ActSend && acts[0].Kind != inc.ActSendOne {
			return nil
		}
		if err := s.act(e, acts[0]); err != nil {
			return err
		}
	}
}

// framesOf copies the frames of what leaves.
func framesOf(outs []inc.Out) []Frame {
	var frames []Frame
	for _, o := range outs {
		frames = append(frames, Frame{o.Port, slices.Clone(o.Frame)})
	}
	return frames
}
