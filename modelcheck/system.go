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

	"incforge/modelcheck/model"
	"incforge/network/topology"
)

// hash128 names a state or a part of one.
type hash128 struct{ hi, lo uint64 }

func (h hash128) less(o hash128) bool { return h.hi < o.hi || h.hi == o.hi && h.lo < o.lo }

// system is a model in the making: everything its parts have ever been is interned, and every step any part has ever taken is
// remembered, so that most transitions are table look-ups.
//
// A global state is one number a node, that of the node's component: the state of the host or engine, and the contents of the two
// queues between it and its parent. Records carry the images of what they name under every automorphism of the tree.
type system struct {
	cfg     model.Config
	topo    *topology.Topology
	perms   []model.Automorphism
	compose [][]int // compose[h][g] is first g, then h
	hosts   []*model.HostRole
	engines []*model.Engine
	start   []uint32

	packets store[packetRecord]
	queues  store[queueRecord]
	nodes   store[nodeRecord]
	comps   store[compRecord]
	steps   store[outcome]

	stepMemo memo // component, code, packet: number of the outcome
	pushMemo memo // component, queue: component
	takeMemo memo // component, direction, index: component

	mu        sync.Mutex // held by whoever adds to what is above and below
	packetIDs map[model.Packet]uint32
	queueIDs  map[string]uint32
	nodeIDs   map[string]uint32
	compIDs   map[[3]uint32]uint32
	engineIDs map[uint64]*engineStep
	faults    []string       // what outcomes break
	executed  int            // steps of engines
	sends     []model.Packet // scratch of hostStep
}

type packetRecord struct {
	model.Packet
	image []uint32
}

// queueRecord is a sequence of packets: what is on a link, or what a step sends. Number 0 is the empty one.
type queueRecord struct {
	packets []uint32
	image   []uint32
}

type nodeRecord struct {
	at    int
	state string
	host  model.Host
	waits []model.Action // time-outs and resumptions that may be taken apart from time
	sends []model.Action // sends, if they are free
	idle  bool           // an engine holds nothing unfinished, a host is done
	image []uint32
}

type compRecord struct {
	at             int
	node, up, down uint32 // up is on its way from the node to its parent, down the other way
	ups, downs     uint8  // lengths
	headUp         uint32
	headDown       uint32
	popUp, popDown atomic.Uint32 // the component without that packet, plus one
	image          []uint32
	hash           []hash128 // of the images
	n              *nodeRecord
}

// outcome is what a step does: the node's own component becomes comp, and the children get something sent.
type outcome struct {
	comp  uint32
	down  []sent
	fault uint32 // number in faults plus one
}

type sent struct {
	node  int
	queue uint32
}

// engineStep is an outcome without the component's queues.
type engineStep struct {
	node  uint32
	outs  []uint32 // a queue an endpoint
	fault uint32
}

// Codes of steps in stepMemo: below codeAction the endpoint that the packet came to.
const (
	codeAction   = 0x40 // plus the action's number in the node's waits, or …
	codeSend     = 0x60 // … sends
	codeDeliver  = 0x80 // to a host
	codeNotReady = 0x81 // the same without a receive posted
	codeTimeout  = 0x82 // of a host
)

// newSystem makes a model of a complete configuration.
func newSystem(c model.Config, symmetry bool) (*system, error) {
	t, err := model.ParseTree(c.Tree)
	if err != nil {
		return nil, err
	}
	s := &system{
		cfg: c, topo: t, packetIDs: map[model.Packet]uint32{}, queueIDs: map[string]uint32{}, nodeIDs: map[string]uint32{},
		compIDs: map[[3]uint32]uint32{}, engineIDs: map[uint64]*engineStep{},
		hosts: make([]*model.HostRole, len(t.Nodes)), engines: make([]*model.Engine, len(t.Nodes)),
	}
	fixed, limit := -1, model.MaxAutomorphisms
	if c.Collective != model.AllReduce {
		fixed = model.CommRoot(t)
	}
	if !symmetry {
		limit = 0
	}
	s.perms = model.Automorphisms(t, fixed, limit)
	for _, h := range s.perms {
		var row []int
		for _, g := range s.perms {
			row = append(row, slices.IndexFunc(s.perms, func(x model.Automorphism) bool {
				for n := range x.To {
					if x.To[n] != h.To[g.To[n]] {
						return false
					}
				}
				return true
			}))
		}
		s.compose = append(s.compose, row)
	}

	for n := range t.Nodes {
		if t.Nodes[n].Rank < 0 {
			if s.engines[n], err = model.NewEngine(c, t, n); err != nil {
				return nil, err
			}
			continue
		}
		s.hosts[n] = c.Role(t, t.Nodes[n].Rank)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, empty := s.queues.add()
	empty.image = make([]uint32, len(s.perms))
	s.queueIDs[""] = 0
	s.comps.add() // number 0 is nobody's
	// Switches that an automorphism exchanges begin in the same state, hosts too: the initial state is its own image.
	for n := range t.Nodes {
		var state []byte
		var sends []model.Packet
		if r := s.hosts[n]; r != nil {
			var h model.Host
			sends = h.Fresh(r, nil)
			state = h.Append(nil)
		} else {
			state = s.engines[n].Initial()
		}
		id, err := s.internNode(n, s.statesOf(n, state))
		if err != nil {
			return nil, err
		}
		s.start = append(s.start, s.internComp(id, s.internQueue(s.internPackets(sends)), 0))
	}
	s.start = append(s.start, uint32(c.Loss|c.Dup<<4|c.Reorder<<8|c.Early<<12|c.RNR<<16))
	return s, nil
}

// statesOf is a state that is its own image, for each automorphism.
func (s *system) statesOf(n int, state []byte) (states []imageState) {
	for g := range s.perms {
		states = append(states, imageState{at: s.perms[g].To[n], state: string(state)})
	}
	return states
}

type imageState struct {
	at    int
	state string
}

// internPackets gives packets their numbers.
func (s *system) internPackets(ps []model.Packet) []uint32 {
	var ids []uint32
	for _, p := range ps {
		ids = append(ids, s.internPacket(p))
	}
	return ids
}

func (s *system) internPacket(p model.Packet) uint32 {
	if id, ok := s.packetIDs[p]; ok {
		return id
	}
	ids := make([]uint32, len(s.perms))
	for g := range s.perms {
		q := p.Permute(s.perms[g].Lane)
		id, ok := s.packetIDs[q]
		if !ok {
			var r *packetRecord
			id, r = s.packets.add()
			r.Packet = q
			s.packetIDs[q] = id
		}
		ids[g] = id
	}
	for g, id := range ids {
		s.packets.at(id).image = s.imagesFrom(ids, g)
	}
	return ids[0]
}

// imagesFrom turns the images of one thing into those of its g-th image.
func (s *system) imagesFrom(ids []uint32, g int) []uint32 {
	if len(ids) == 1 {
		return ids
	}
	image := make([]uint32, len(ids))
	for h := range image {
		image[h] = ids[s.compose[h][g]]
	}
	return image
}

// internQueue gives a sequence of packets its number.
func (s *system) internQueue(packets []uint32) uint32 {
	var b [128]byte
	key := func(ps []uint32) []byte { return queueKey(b[:0], ps) }
	if id, ok := s.queueIDs[string(key(packets))]; ok {
		return id
	}
	ids := make([]uint32, len(s.perms))
	for g := range s.perms {
		ps := make([]uint32, len(packets))
		for i, p := range packets {
			ps[i] = s.packets.at(p).image[g]
		}
		id, ok := s.queueIDs[string(key(ps))]
		if !ok {
			var r *queueRecord
			id, r = s.queues.add()
			r.packets = ps
			s.queueIDs[string(key(ps))] = id
		}
		ids[g] = id
	}
	for g, id := range ids {
		s.queues.at(id).image = s.imagesFrom(ids, g)
	}
	return ids[0]
}

// queueKey appends the key of a sequence in queueIDs.
func queueKey(b []byte, packets []uint32) []byte {
	for _, p := range packets {
		b = binary.BigEndian.AppendUint32(b, p)
	}
	return b
}

// nodeKey is the key of a node's state in nodeIDs.
func nodeKey(st imageState) string { return string(rune(st.at)) + st.state }

// fill makes the record of a node's state all but its images.
func (s *system) fill(r *nodeRecord, st imageState) error {
	r.at, r.state = st.at, st.state
	if role := s.hosts[st.at]; role != nil {
		r.host = model.HostOf([]byte(st.state))
		r.idle = r.host.Done(role)
		return nil
	}
	e := s.engines[st.at]
	acts, err := e.Actions([]byte(st.state))
	if err != nil {
		return err
	}
	for _, a := range acts {
		if a.Wait {
			r.waits = append(r.waits, a)
		} else {
			r.sends = append(r.sends, a)
		}
	}
	r.idle = e.Idle()
	return nil
}

// errAsymmetric means that an engine treats endpoints differently that nobody should be able to tell apart.
var errAsymmetric = errors.New("the engine is not symmetric: run without symmetry")

// internNode gives a node's state its number; states are its images. A state reached by two ways has its images compared.
func (s *system) internNode(n int, states []imageState) (uint32, error) {
	ids := make([]uint32, len(s.perms))
	added := false
	for g, st := range states {
		key := nodeKey(st)
		id, ok := s.nodeIDs[key]
		if !ok {
			var r *nodeRecord
			id, r = s.nodes.add()
			s.nodeIDs[key] = id
			if err := s.fill(r, st); err != nil {
				return 0, err
			}
			added = true
		}
		ids[g] = id
	}
	for g, id := range ids {
		image := s.imagesFrom(ids, g)
		if r := s.nodes.at(id); r.image == nil {
			r.image = image
		} else if !slices.Equal(r.image, image) {
			return 0, fmt.Errorf("states %x and %x of switch %d: %w", r.state, s.nodes.at(ids[0]).state, n, errAsymmetric)
		} else if !added {
			break
		}
	}
	return ids[0], nil
}

// internComp gives a component its number.
func (s *system) internComp(node, up, down uint32) uint32 {
	if id, ok := s.compIDs[[3]uint32{node, up, down}]; ok {
		return id
	}
	ids := make([]uint32, len(s.perms))
	hashes := make([]hash128, len(s.perms))
	for g := range s.perms {
		k := [3]uint32{s.nodes.at(node).image[g], s.queues.at(up).image[g], s.queues.at(down).image[g]}
		id, ok := s.compIDs[k]
		if !ok {
			var r *compRecord
			id, r = s.comps.add()
			s.compIDs[k] = id
			s.connect(r, k)
		}
		ids[g] = id
		hashes[g] = s.contentHash(s.comps.at(id))
	}
	for g, id := range ids {
		r := s.comps.at(id)
		r.image = s.imagesFrom(ids, g)
		r.hash = make([]hash128, len(ids))
		for h := range r.hash {
			r.hash[h] = hashes[s.compose[h][g]]
		}
	}
	return ids[0]
}

// connect makes the record of a component all but its images.
func (s *system) connect(r *compRecord, k [3]uint32) {
	r.node, r.up, r.down, r.n = k[0], k[1], k[2], s.nodes.at(k[0])
	r.at = r.n.at
	if q := s.queues.at(r.up).packets; len(q) > 0 {
		r.ups, r.headUp = uint8(len(q)), q[0]
	}
	if q := s.queues.at(r.down).packets; len(q) > 0 {
		r.downs, r.headDown = uint8(len(q)), q[0]
	}
}

// content is all that makes a component, in bytes that do not depend on numbers given by chance.
func (s *system) content(r *compRecord) []byte {
	b := []byte{byte(r.at)}
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.n.state)))
	b = append(b, r.n.state...)
	for _, q := range []uint32{r.up, r.down} {
		ps := s.queues.at(q).packets
		b = append(b, byte(len(ps)))
		for _, p := range ps {
			b = s.packets.at(p).Append(b)
		}
	}
	return b
}

func (s *system) contentHash(r *compRecord) hash128 {
	sum := sha256.Sum256(s.content(r))
	return hash128{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
}

// step is what node's component does by a code with a packet; the packet has been taken off its queue already.
func (s *system) step(comp uint32, code uint8, packet uint32) *outcome {
	key := uint64(comp)<<32 | uint64(code)<<24 | uint64(packet)
	if id, ok := s.stepMemo.get(key); ok {
		return s.steps.at(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.stepMemo.get(key); ok {
		return s.steps.at(id)
	}
	c := s.comps.at(comp)
	var o outcome
	if s.hosts[c.at] != nil {
		o = s.hostStep(c, code, packet)
	} else {
		o = s.switchStep(c, code, packet)
	}
	id, r := s.steps.add()
	*r = o
	s.stepMemo.put(key, id)
	return r
}

// breaks notes what an outcome breaks.
func (s *system) breaks(err error) uint32 {
	if err == nil {
		return 0
	}
	text := err.Error()
	i := slices.Index(s.faults, text)
	if i < 0 {
		i = len(s.faults)
		s.faults = append(s.faults, text)
	}
	return uint32(i) + 1
}

func (s *system) hostStep(c *compRecord, code uint8, packet uint32) outcome {
	h, role := c.n.host, s.hosts[c.at]
	var err error
	sends := s.sends[:0]
	switch code {
	case codeTimeout:
		sends = h.Timeout(role, sends)
	default:
		sends, err = h.Take(role, s.packets.at(packet).Packet, code == codeNotReady, sends)
	}
	s.sends = sends
	node, nodeErr := s.internNode(c.at, s.statesOf(c.at, h.Append(nil)))
	return outcome{comp: s.internComp(node, s.concat(c.up, s.internQueue(s.internPackets(sends))), c.down), fault: s.breaks(errors.Join(err, nodeErr))}
}

// concat is one sequence after another.
func (s *system) concat(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return s.internQueue(slices.Concat(s.queues.at(a).packets, s.queues.at(b).packets))
}

func (s *system) switchStep(c *compRecord, code uint8, packet uint32) outcome {
	e := s.engineStep(c.node, code, packet)
	o := outcome{fault: e.fault}
	up := c.up
	children := s.topo.Nodes[c.at].Children
	for i, q := range e.outs {
		switch {
		case q == 0:
		case i == len(children):
			up = s.concat(up, q)
		default:
			o.down = append(o.down, sent{children[i], q})
		}
	}
	o.comp = s.internComp(e.node, up, c.down)
	return o
}

// engineStep runs the engine, once for each image of what is asked for: so the images of the state that results are known, without
// anybody having to know what is in it.
func (s *system) engineStep(node uint32, code uint8, packet uint32) *engineStep {
	key := func(node uint32, code uint8, packet uint32) uint64 {
		return uint64(node)<<32 | uint64(code)<<24 | uint64(packet)
	}
	if e, ok := s.engineIDs[key(node, code, packet)]; ok {
		return e
	}
	rec := s.nodes.at(node)
	type image struct {
		key  uint64
		done model.Stepped
		node uint32
	}
	images := make([]image, len(s.perms))
	states := make([]imageState, len(s.perms))
	var failed error
	for g := range s.perms {
		im := &images[g]
		n, at := rec.image[g], s.perms[g].To[rec.at]
		endpoints := s.perms[g].Endpoints[rec.at]
		state := s.nodes.at(n).state
		im.node = n
		var err error
		if code < codeAction {
			p := packet
			p = s.packets.at(p).image[g]
			im.key = key(n, uint8(endpoints[code]), p)
			if first := slices.IndexFunc(images[:g], func(o image) bool { return o.key == im.key }); first >= 0 {
				im.done, states[g] = images[first].done, states[first]
				continue
			}
			im.done, err = s.engines[at].Take([]byte(state), endpoints[code], s.packets.at(p).Packet)
		} else {
			a := rec.waits
			base := uint8(codeAction)
			if code >= codeSend {
				a, base = rec.sends, codeSend
			}
			want := a[code-base].Permute(endpoints)
			b := s.nodes.at(n).waits
			if code >= codeSend {
				b = s.nodes.at(n).sends
			}
			i := slices.IndexFunc(b, func(x model.Action) bool { return x.Same(want) })
			if i < 0 {
				failed = errAsymmetric
				i = int(code - base)
			}
			im.key = key(n, base+uint8(i), 0)
			im.done, err = s.engines[at].Act([]byte(state), b[i])
		}
		s.executed++
		if err != nil && failed == nil {
			failed = err
		}
		states[g] = imageState{at, string(im.done.State)}
	}
	if failed != nil {
		e := &engineStep{node: node, fault: s.breaks(fmt.Errorf("the model broke down: %w", failed))}
		s.engineIDs[key(node, code, packet)] = e
		return e
	}
	id, err := s.internNode(rec.at, states)
	for g := range images {
		im := &images[g]
		if _, ok := s.engineIDs[im.key]; ok {
			continue
		}
		e := &engineStep{node: id, fault: s.breaks(errors.Join(im.done.Err, err))}
		if err == nil {
			e.node = s.nodes.at(id).image[g]
		}
		for _, sends := range im.done.Outs {
			e.outs = append(e.outs, s.internQueue(s.internPackets(sends)))
		}
		s.engineIDs[im.key] = e
	}
	return s.engineIDs[key(node, code, packet)]
}

// push is a component with something more on its way down to it.
func (s *system) push(comp, queue uint32) uint32 {
	key := uint64(comp)<<32 | uint64(queue)
	if id, ok := s.pushMemo.get(key); ok {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.comps.at(comp)
	id := s.internComp(c.node, c.up, s.concat(c.down, queue))
	s.pushMemo.put(key, id)
	return id
}

// popUp and popDown are a component without the packet at the head of a queue.
func (s *system) popUp(comp uint32) uint32 {
	c := s.comps.at(comp)
	if id := c.popUp.Load(); id != 0 {
		return id
	}
	id := s.take(comp, true, 0)
	c.popUp.Store(id)
	return id
}

func (s *system) popDown(comp uint32) uint32 {
	c := s.comps.at(comp)
	if id := c.popDown.Load(); id != 0 {
		return id
	}
	id := s.take(comp, false, 0)
	c.popDown.Store(id)
	return id
}

// take is a component without packet i of a queue.
func (s *system) take(comp uint32, up bool, i int) uint32 {
	key := uint64(comp)<<32 | uint64(i)<<1
	if up {
		key |= 1
	}
	if id, ok := s.takeMemo.get(key); ok {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.comps.at(comp)
	q := c.down
	if up {
		q = c.up
	}
	rest := s.internQueue(slices.Delete(slices.Clone(s.queues.at(q).packets), i, i+1))
	id := uint32(0)
	if up {
		id = s.internComp(c.node, rest, c.down)
	} else {
		id = s.internComp(c.node, c.up, rest)
	}
	s.takeMemo.put(key, id)
	return id
}

// canonical is the name of a state and the representative of all its images, into rep.
func (s *system) canonical(state, rep []uint32) hash128 {
	n := len(state) - 1
	best, least := 0, hash128{^uint64(0), ^uint64(0)}
	var recs [model.MaxNodes]*compRecord
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
		for i, r := range recs[:n] {
			rep[to[i]] = r.image[best]
		}
		rep[n] = state[n]
	}
	b := uint64(state[n]) + 1
	least.hi += mix(b)
	least.lo += mix(b << 32)
	return hash128{mix(least.hi), mix(least.lo + least.hi)}
}
