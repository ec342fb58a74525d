// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/modelcheck/model"
)

// World is a model in which things happen one by one, without tables, names or symmetry: what Replay runs, and a second opinion on
// the search.
type World struct {
	*model.Network
	Hosts    []model.Host
	States   [][]byte // of the engines
	Up, Down [][]model.Packet
	Budget   map[string]int // of moves, and of reorder; a move that is not there costs nothing
}

// moveReorder is the budget for packets that overtake others.
const moveReorder = "reorder"

// NewWorld starts a model.
func NewWorld(c model.Config) (*World, error) {
	m, err := model.NewNetwork(c)
	if err != nil {
		return nil, err
	}
	n := len(m.Topo.Nodes)
	w := &World{
		Network: m, Hosts: make([]model.Host, n), States: make([][]byte, n), Up: make([][]model.Packet, n), Down: make([][]model.Packet, n),
		Budget: map[string]int{MoveLose: c.Loss, MoveDuplicate: c.Dup, moveReorder: c.Reorder, MoveEarly: c.Early, MoveNotReady: c.RNR, MovePark: c.Park},
	}
	for i, e := range m.Engines {
		if e != nil {
			w.States[i] = e.Initial()
		} else {
			w.Up[i] = w.Hosts[i].Fresh(w.Roles[i])
		}
	}
	return w, nil
}

// Happening is what happened in a step of a world.
type Happening struct {
	step   Step
	node   int
	packet model.Packet
	from   int // node, -1 without a packet
	port   int // of a switch, that the packet came to
	action inc.Action
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

// refuse ends a step that cannot happen.
func refuse(bad bool, format string, args ...any) {
	fail.If(bad, "%s: %w", fmt.Sprintf(format, args...), ErrScenario)
}

// node is the node of a name.
func (w *World) node(name string) int {
	for n := range w.Topo.Nodes {
		if w.Topo.Name(n) == name {
			return n
		}
	}
	refuse(true, "there is no %q", name)
	return 0
}

// spend takes one from a budget.
func (w *World) spend(what string) {
	left, limited := w.Budget[what]
	refuse(limited && left == 0, "%s once more than the model allows", what)
	if limited {
		w.Budget[what]--
	}
}

// Do takes one step.
func (w *World) Do(s Step) (h Happening, err error) {
	defer fail.Catch(&err, "")
	h = Happening{step: s, node: w.node(s.At), from: -1}
	switch s.Do {
	case MoveSend, MoveTimeout, MoveEarly, MovePark:
		w.own(&h)
	case MoveDeliver, MoveLose, MoveDuplicate, MoveNotReady:
		w.arrive(&h)
	default:
		refuse(true, "%q is nothing that happens", s.Do)
	}
	return h, nil
}

// arrive is a step of a packet.
func (w *World) arrive(h *Happening) {
	s := h.step
	h.from = w.node(s.From)
	var queue *[]model.Packet
	switch {
	case w.Topo.Nodes[h.node].Parent == h.from:
		queue, h.port = &w.Down[h.node], len(w.Topo.Nodes[h.node].Children)
	case w.Topo.Nodes[h.from].Parent == h.node:
		queue, h.port = &w.Up[h.from], w.Topo.Nodes[h.from].Slot
	default:
		refuse(true, "%s and %s are no neighbours", s.From, s.At)
	}
	refuse(s.Index < 0 || s.Index >= len(*queue), "from %s to %s there are %d packets", s.From, s.At, len(*queue))
	h.packet = (*queue)[s.Index]
	another := s.Packet != "" && s.Packet != h.packet.String()
	refuse(another, "from %s to %s comes %s, not %s", s.From, s.At, h.packet, s.Packet)
	if s.Index > 0 {
		w.spend(moveReorder)
	}
	w.spend(s.Do)
	if s.Do != MoveDuplicate {
		*queue = slices.Delete(slices.Clone(*queue), s.Index, s.Index+1)
	}
	if s.Do == MoveLose {
		return
	}
	if role := w.Roles[h.node]; role != nil {
		out, fault := w.Hosts[h.node].Take(role, h.packet, s.Do == MoveNotReady)
		w.hostDid(h, out, fault)
		return
	}
	w.switchDid(h, fail.Must(w.Engines[h.node].Take(w.States[h.node], h.port, h.packet)))
}

// own is a step that a node takes by itself.
func (w *World) own(h *Happening) {
	s, role := h.step, w.Roles[h.node]
	refuse(s.Do == MoveTimeout && !w.Quiet(), "a time-out while something is on its way")
	if role != nil {
		refuse(s.Do == MoveSend || !w.Hosts[h.node].Outstanding(), "%s has no timer that runs", s.At)
		w.spend(s.Do)
		w.hostDid(h, w.Hosts[h.node].Timeout(role), nil)
		return
	}
	e, state := w.Engines[h.node], w.States[h.node]
	acts, _, err := e.Look(state)
	fail.On(err)
	i := slices.IndexFunc(acts, func(a inc.Action) bool {
		return model.ActionName(w.Topo, h.node, a) == s.Action && model.Waits(a) == (s.Do != MoveSend)
	})
	refuse(i < 0, "%s may not do %q", s.At, s.Action)
	w.spend(s.Do)
	h.action = acts[i]
	w.switchDid(h, fail.Must(e.Act(state, h.action)))
}

// send puts a packet on the link from the step's node to another.
func (w *World) send(h *Happening, to int, p model.Packet) {
	h.sent = append(h.sent, sending{to, p})
	if to == w.Topo.Nodes[h.node].Parent {
		w.Up[h.node] = append(w.Up[h.node], p)
	} else {
		w.Down[to] = append(w.Down[to], p)
	}
}

// hostDid takes over what a host did.
func (w *World) hostDid(h *Happening, out []model.Packet, fault error) {
	h.Fault = fault
	for _, p := range out {
		w.send(h, w.Topo.Nodes[h.node].Parent, p)
	}
}

// switchDid takes over what a switch did.
func (w *World) switchDid(h *Happening, done model.Stepped) {
	w.States[h.node], h.Fault = done.State, done.Err
	for e, out := range done.Outs {
		for _, p := range out {
			w.send(h, w.Topo.Neighbour(h.node, e), p)
		}
	}
}

// Quiet tells whether nothing is on its way and no switch wants to send.
func (w *World) Quiet() bool {
	for n, e := range w.Engines {
		if len(w.Up[n])+len(w.Down[n]) > 0 {
			return false
		}
		if e == nil {
			continue
		}
		if acts, _, err := e.Look(w.States[n]); err != nil || len(acts) > 0 && !model.Waits(acts[0]) { // sends come first
			return false
		}
	}
	return true
}

// Stalled says what is missing if nothing can happen any more and not all is done.
func (w *World) Stalled() (missing string, stalled bool) {
	if !w.Quiet() {
		return "", false
	}
	for n, e := range w.Engines {
		if e == nil {
			if w.Hosts[n].Outstanding() {
				return "", false
			}
			if !w.Hosts[n].Done(w.Roles[n]) {
				missing = w.Topo.Name(n) + " is not done"
			}
			continue
		}
		acts, idle, err := e.Look(w.States[n])
		if err != nil || len(acts) > 0 && (acts[0].Kind != model.ActPark || w.Budget[MovePark] > 0) {
			return "", false
		}
		if !idle {
			missing = w.Topo.Name(n) + " holds unfinished slots"
		}
	}
	return missing, missing != ""
}
