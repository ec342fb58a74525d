// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/internal/splitmix"
	"incforge/modelcheck/model"
)

// system is a model in the making: everything its parts have ever been is interned, and every step any part has ever taken is
// remembered, so that most transitions are table look-ups.
//
// A global state is one number a node, that of the node's component: the state of the host or engine, and the contents of the two
// queues between it and its parent.
type system struct {
	*model.Network
	perms []model.Automorphism
	start []uint32

	packets table[model.Packet, model.Packet]
	queues  table[queueKey, []uint32]
	nodes   table[nodeKey, node]
	comps   table[compKey, component]

	steps  memo[*outcome] // of components, by ask.key
	pushed memo[uint32]   // component, queue: component

	mu          sync.Mutex // held by whoever adds to what is above and below
	engineSteps map[ask]*engineStep
	executed    int // steps of engines
}

// queueKey is a sequence of packets: what is on a link, or what a step sends. It is the first packet, and the queue of the others;
// number 0 is the empty queue. A table keeps of it its packets.
type queueKey struct{ Head, Rest uint32 }

// nodeKey is the state of a host or a switch.
type nodeKey struct {
	At    int
	State string
}

// node is what follows from a nodeKey.
type node struct {
	nodeKey
	host  model.Host
	acts  []inc.Action // what an engine may do by itself
	sends int          // how many of these, the first, are sends, which are free; the others may be taken apart from time
	idle  bool         // an engine holds nothing unfinished, a host is done
}

// The two queues between a node and its parent, by the direction they go in.
const (
	up = iota
	down
)

// compKey is a component: a node's state and its queues.
type compKey struct {
	Node   uint32
	Queues [2]uint32
}

// component is what follows from a compKey.
type component struct {
	compKey
	n     *node
	taken [2][]atomic.Uint32 // for each packet of the queues, the component without it plus one, when it is known
	head  [2]uint32          // the first packets
	own   hash128            // of the content
	hash  []hash128          // of the images
}

func (c *component) length(direction int) int { return len(c.taken[direction]) }

// ask is what is asked of a component or of a node: to do the step of a code with a packet, which has been taken off its queue already.
type ask struct{ of, code, packet uint32 }

// key is it in a word; packets are known to be few.
func (a ask) key() uint64 { return uint64(a.of)<<32 | uint64(a.code)<<24 | uint64(a.packet) }

// Codes of steps: below codeAction the endpoint that the packet came to.
const (
	codeAction   = 0x40 // plus the action's number in the node's list
	codeDeliver  = 0x80 // to a host
	codeNotReady = 0x81 // the same without a receive posted
	codeTimeout  = 0x82 // of a host
	codeNothing  = 0x83 // the packet is lost
)

// outcome is what a step does: the node's own component becomes comp, and the children get something sent.
type outcome struct {
	comp  uint32
	down  []sent
	fault error // what it breaks
}

type sent struct {
	node  int
	queue uint32
}

// engineStep is an outcome without the component's queues.
type engineStep struct {
	node  uint32
	outs  []uint32 // a queue an endpoint
	fault error
}

// newSystem makes a model.
func newSystem(config model.Config, symmetry bool) (_ *system, err error) {
	defer fail.Catch(&err, "")
	w := fail.Must(model.NewNetwork(config))
	c := &w.Config
	limit := model.MaxAutomorphisms
	if !symmetry {
		limit = 0
	}
	perms := model.Automorphisms(w.Topo, c.Fixed(w.Topo), limit, c.Kind)
	s := &system{
		Network: w, perms: perms,
		packets: newTable[model.Packet, model.Packet](perms), queues: newTable[queueKey, []uint32](perms),
		nodes: newTable[nodeKey, node](perms), comps: newTable[compKey, component](perms),
		steps: newMemo[*outcome](), pushed: newMemo[uint32](), engineSteps: map[ask]*engineStep{},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	empty := queueKey{Head: ^uint32(0)}
	s.queues.intern(empty, func(int) queueKey { return empty }, func(queueKey, *[]uint32) {})
	// Switches that an automorphism exchanges begin in the same state, hosts too: the initial state is its own image.
	for n, e := range s.Engines {
		var state []byte
		var sends []model.Packet
		if e != nil {
			state = e.Initial()
		} else {
			var h model.Host
			sends = h.Fresh(s.Roles[n])
			state = h.Append(nil)
		}
		id := fail.Must(s.internNode(s.evenly(n, state)))
		s.start = append(s.start, s.internComp(compKey{id, [2]uint32{up: s.internPackets(sends)}}))
	}
	s.start = append(s.start, uint32(c.Loss|c.Dup<<dupAt|c.Reorder<<reorderAt|c.Early<<earlyAt|c.RNR<<rnrAt|c.Park<<parkAt))
	return s, nil
}

// evenly is a state of a node that is its own image, for each automorphism.
func (s *system) evenly(n int, state []byte) (images []nodeKey) {
	for _, p := range s.perms {
		images = append(images, nodeKey{p.To[n], string(state)})
	}
	return images
}

func (s *system) internPacket(p model.Packet) uint32 {
	image := func(g int) model.Packet { return p.Permute(s.perms[g].Lane) }
	return s.packets.intern(p, image, func(k model.Packet, v *model.Packet) { *v = k })
}

// internPackets is the queue of these packets.
func (s *system) internPackets(ps []model.Packet) (queue uint32) {
	for _, p := range slices.Backward(ps) {
		queue = s.internQueue(queueKey{s.internPacket(p), queue})
	}
	return queue
}

func (s *system) internQueue(k queueKey) uint32 {
	image := func(g int) queueKey { return queueKey{s.packets.image(k.Head, g), s.queues.image(k.Rest, g)} }
	return s.queues.intern(k, image, func(k queueKey, v *[]uint32) { *v = slices.Concat([]uint32{k.Head}, *s.queues.at(k.Rest)) })
}

// concat is one sequence after another.
func (s *system) concat(packets []uint32, queue uint32) uint32 {
	for _, p := range slices.Backward(packets) {
		queue = s.internQueue(queueKey{p, queue})
	}
	return queue
}

// errAsymmetric means that an engine treats endpoints differently that nobody should be able to tell apart.
var errAsymmetric = errors.New("the engine is not symmetric: run without symmetry")

// internNode gives a node's state its number, by it and its images. A state reached by two ways has its images compared.
func (s *system) internNode(images []nodeKey) (id uint32, err error) {
	image := func(g int) nodeKey { return images[g] }
	id = s.nodes.intern(images[0], image, func(k nodeKey, v *node) { err = errors.Join(err, s.fill(k, v)) })
	for g, k := range images {
		if known, ok := s.nodes.ids[k]; !ok || known != s.nodes.image(id, g) || s.nodes.uneven {
			return 0, fmt.Errorf("state %x of switch %d and its image %x: %w", images[0].State, images[0].At, k.State, errAsymmetric)
		}
	}
	return id, err
}

// fill makes what follows from a node's state.
func (s *system) fill(k nodeKey, n *node) (err error) {
	n.nodeKey = k
	if role := s.Roles[k.At]; role != nil {
		n.host = model.HostOf([]byte(k.State))
		n.idle = n.host.Done(role)
		return nil
	}
	n.acts, n.idle, err = s.Engines[k.At].Look([]byte(k.State))
	for n.sends < len(n.acts) && !model.Waits(n.acts[n.sends]) {
		n.sends++
	}
	return err
}

// internComp gives a component its number.
func (s *system) internComp(k compKey) uint32 {
	image := func(g int) compKey {
		return compKey{s.nodes.image(k.Node, g), [2]uint32{s.queues.image(k.Queues[up], g), s.queues.image(k.Queues[down], g)}}
	}
	id := s.comps.intern(k, image, s.connect)
	if s.comps.at(id).hash == nil {
		for _, x := range *s.comps.images.at(id) {
			var hash []hash128
			for _, y := range *s.comps.images.at(x) {
				hash = append(hash, s.comps.at(y).own)
			}
			s.comps.at(x).hash = hash
		}
	}
	return id
}

// connect makes what follows from a component but for its images.
func (s *system) connect(k compKey, c *component) {
	c.compKey, c.n = k, s.nodes.at(k.Node)
	// What is hashed does not depend on numbers, which are given by chance.
	b := binary.BigEndian.AppendUint32([]byte{byte(c.n.At)}, uint32(len(c.n.State)))
	b = append(b, c.n.State...)
	for d, q := range k.Queues {
		packets := *s.queues.at(q)
		if len(packets) > 0 {
			c.taken[d], c.head[d] = make([]atomic.Uint32, len(packets)), packets[0]
		}
		b = append(b, byte(len(packets)))
		for _, p := range packets {
			b = s.packets.at(p).Append(b)
		}
	}
	sum := sha256.Sum256(b)
	c.own = hash128{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
}

// step is what a component does when asked.
func (s *system) step(a ask) *outcome {
	return s.steps.get(s, a.key(), func() *outcome {
		c := s.comps.at(a.of)
		if s.Roles[c.n.At] != nil {
			return s.hostStep(c, a)
		}
		return s.switchStep(c, a)
	})
}

func (s *system) hostStep(c *component, a ask) *outcome {
	h, role := c.n.host, s.Roles[c.n.At]
	var err error
	var sends []model.Packet
	if a.code == codeTimeout {
		sends = h.Timeout(role)
	} else {
		sends, err = h.Take(role, *s.packets.at(a.packet), a.code == codeNotReady)
	}
	n, nodeErr := s.internNode(s.evenly(c.n.At, h.Append(nil)))
	k := c.compKey
	k.Node, k.Queues[up] = n, s.concat(*s.queues.at(k.Queues[up]), s.internPackets(sends))
	return &outcome{comp: s.internComp(k), fault: errors.Join(err, nodeErr)}
}

func (s *system) switchStep(c *component, a ask) *outcome {
	e := s.engineStep(ask{c.Node, a.code, a.packet})
	o := &outcome{fault: e.fault}
	k, children := c.compKey, s.Topo.Nodes[c.n.At].Children
	k.Node = e.node
	for i, q := range e.outs {
		switch {
		case q == 0:
		case i == len(children):
			k.Queues[up] = s.concat(*s.queues.at(k.Queues[up]), q)
		default:
			o.down = append(o.down, sent{children[i], q})
		}
	}
	o.comp = s.internComp(k)
	return o
}

// engineStep runs the engine, once for each image of what is asked for: so the images of the state that results are known, without
// anybody having to know what is in it.
func (s *system) engineStep(a ask) *engineStep {
	if e, ok := s.engineSteps[a]; ok {
		return e
	}
	asks, states, done := make([]ask, len(s.perms)), make([]nodeKey, len(s.perms)), make([]model.Stepped, len(s.perms))
	for g := range s.perms {
		var err error
		if asks[g], err = s.imageOf(a, g); err == nil {
			if first := slices.Index(asks[:g], asks[g]); first >= 0 && a.code < codeAction {
				done[g], states[g] = done[first], states[first]
				continue
			}
			done[g], err = s.run(asks[g])
		}
		if err != nil {
			s.engineSteps[a] = &engineStep{node: a.of, fault: fmt.Errorf("the model broke down: %w", err)}
			return s.engineSteps[a]
		}
		states[g] = nodeKey{s.nodes.at(asks[g].of).At, string(done[g].State)}
	}
	id, err := s.internNode(states)
	for g, a := range asks {
		if s.engineSteps[a] != nil {
			continue
		}
		e := &engineStep{node: id, fault: errors.Join(done[g].Err, err)}
		if err == nil {
			e.node = s.nodes.image(id, g)
		}
		for _, sends := range done[g].Outs {
			e.outs = append(e.outs, s.internPackets(sends))
		}
		s.engineSteps[a] = e
	}
	return s.engineSteps[a]
}

// imageOf is what an automorphism makes of what is asked of a switch.
func (s *system) imageOf(a ask, g int) (ask, error) {
	from, endpoints := s.nodes.at(a.of), s.perms[g].Endpoints[s.nodes.at(a.of).At]
	to := ask{of: s.nodes.image(a.of, g)}
	if a.code < codeAction {
		to.code, to.packet = uint32(endpoints[a.code]), s.packets.image(a.packet, g)
		return to, nil
	}
	i := slices.Index(s.nodes.at(to.of).acts, model.Permute(from.acts[a.code-codeAction], endpoints))
	if i < 0 {
		return to, errAsymmetric
	}
	to.code = codeAction + uint32(i)
	return to, nil
}

// run has a switch do what is asked.
func (s *system) run(a ask) (model.Stepped, error) {
	s.executed++
	n := s.nodes.at(a.of)
	if a.code < codeAction {
		return s.Engines[n.At].Take([]byte(n.State), int(a.code), *s.packets.at(a.packet))
	}
	return s.Engines[n.At].Act([]byte(n.State), n.acts[a.code-codeAction])
}

// push is a component with something more on its way down to it.
func (s *system) push(comp, queue uint32) uint32 {
	return s.pushed.get(s, uint64(comp)<<32|uint64(queue), func() uint32 {
		k := s.comps.at(comp).compKey
		k.Queues[down] = s.concat(*s.queues.at(k.Queues[down]), queue)
		return s.internComp(k)
	})
}

// take is a component without a packet of a queue.
func (s *system) take(comp uint32, direction, index int) uint32 {
	c := s.comps.at(comp)
	known := &c.taken[direction][index]
	if id := known.Load(); id != 0 {
		return id - 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := c.compKey
	packets := *s.queues.at(k.Queues[direction])
	k.Queues[direction] = s.concat(packets[:index], s.concat(packets[index+1:], 0))
	id := s.internComp(k)
	known.Store(id + 1)
	return id
}

// canonical is the name of a state and the representative of all its images, into rep.
func (s *system) canonical(state, rep []uint32) hash128 {
	n := len(state) - 1
	best, least := 0, hash128{^uint64(0), ^uint64(0)}
	var recs [model.MaxNodes]*component
	for i, c := range state[:n] {
		recs[i] = s.comps.at(c)
	}
	for g := range s.perms {
		var h hash128
		for _, r := range recs[:n] {
			p := &r.hash[g]
			h.hi += p.hi
			h.lo += p.lo
		}
		if h.less(least) {
			best, least = g, h
		}
	}
	if best == 0 {
		copy(rep, state)
	} else {
		to := s.perms[best].To
		for i, c := range state[:n] {
			rep[to[i]] = s.comps.image(c, best)
		}
		rep[n] = state[n]
	}
	b := uint64(state[n]) + 1
	least.hi += splitmix.Mix(b)
	least.lo += splitmix.Mix(b << 32)
	return hash128{splitmix.Mix(least.hi), splitmix.Mix(least.lo + least.hi)}
}
