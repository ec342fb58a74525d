// SPDX-License-Identifier: Apache-2.0

package checkpipe_test

import "fmt"

// Collectives.
const (
	allReduce = iota
	reduce
	broadcast
	barrier
)

const mask24 = 1<<24 - 1

// ahead is how far b is ahead of a, serially.
func ahead(a, b uint64) int { return int(int32(uint32(b-a)<<8) >> 8) }

func next(a uint64) uint64 { return (a + 1) & mask24 }

func prev(a uint64) uint64 { return (a - 1) & mask24 }

// frame is an entry of LookupTable's and its verdict; what it is of is right unless it says so.
type frame struct {
	bypass, foreign, host, icrcOK, whole bool
	group, endpoint                      int
	opcode, psn, ext, plen               uint64
	se, ce                               bool
	entryWait, verdictWait               int
	entered, ended                       int
	start                                uint64 // of its payload in the packet buffer
}

// slot is what lies in a slot.
type slot struct {
	mask, opcode, plen, ext uint64
	se, ce                  bool
}

// pipe is a ring of slots, at a root both pipes in one.
type pipe struct {
	start, done, sent uint64
	head              int
	slots             map[uint64]*slot // by PSN
}

// endpoint is both sides of one.
type endpoint struct {
	ePSN, msn                     uint64
	nakSent                       bool
	nextUnacked, sendNext, beyond uint64
	waits, failed                 bool
}

func (e *endpoint) outstanding() bool { return e.nextUnacked != e.beyond }

// group is a group's settings and state.
type group struct {
	base, log2, n            uint64 // n: GROUP_PIPE
	in, out, parent          uint64 // masks
	collective, dtype, start uint64
	bigEndian, live          bool
	pipes                    [2]pipe
	ends                     []endpoint
}

func (g *group) slots() uint64 {
	if g.n == 0 {
		return 1 << g.log2 / 2
	}
	return g.n
}

func (g *group) root() bool {
	return (g.collective == allReduce || g.collective == barrier) && g.parent == 0
}

func (g *group) begin() {
	for i := range g.pipes {
		g.pipes[i] = pipe{start: g.start, done: g.start, sent: g.start, slots: map[uint64]*slot{}}
	}
	for i := range g.ends {
		g.ends[i] = endpoint{ePSN: g.start, nextUnacked: g.start, sendNext: g.start, beyond: g.start}
	}
}

// up and down tell what data of an endpoint would be.
func (g *group) up(e int) bool { return g.collective != broadcast && g.in>>e&1 != 0 }

func (g *group) down(e int) bool { return !g.up(e) && g.collective != reduce && g.parent>>e&1 != 0 }

// outs are a pipe's out endpoints.
func (g *group) outs(p int) uint64 {
	switch {
	case g.collective == reduce:
		return []uint64{g.parent, 0}[p]
	case g.collective == broadcast:
		return []uint64{0, g.out}[p]
	case p == 0:
		return g.parent
	}
	return g.out &^ g.parent
}

// pipeTo is the pipe that an endpoint hears from, or -1.
func (g *group) pipeTo(e int) int {
	for p := range g.pipes {
		if g.outs(p)>>e&1 != 0 {
			return p
		}
	}
	return -1
}

// moved is the first PSN that is not in the broadcast pipe.
func (g *group) limit(p int) uint64 {
	q := &g.pipes[p]
	if n := g.slots(); g.root() && ahead(q.start, q.done) > int(n) {
		return (q.start + n) & mask24
	}
	return q.done
}

// room is the first PSN that does not fit.
func (g *group) room(p int) uint64 {
	from := g.pipes[p].start
	if g.root() {
		from = g.limit(p)
	}
	return (from + g.slots()) & mask24
}

// index is a PSN's slot in the group's.
func (g *group) index(p int, psn uint64) uint64 {
	size, first := int(g.slots()), 0
	switch {
	case g.root():
		size *= 2
	case p == 1:
		first = size
	}
	return uint64(first + (g.pipes[p].head+ahead(g.pipes[p].start, psn))%size)
}

func (g *group) keep(p int) (mask uint64) {
	for e := range g.ends {
		if s := &g.ends[e]; g.outs(p)>>e&1 != 0 && !s.waits && !s.failed && s.sendNext == g.pipes[p].sent {
			mask |= 1 << e
		}
	}
	return mask
}

// send is what is pushed for ReplicateData.
type send struct {
	Kind, EI, Mask, Opcode, PSN, Ext, PLen, Words uint64
	SE, CE                                        bool
}

// work is what is to be done with payload.
type work struct {
	Start, Words, Slot, DType, Pairs                   uint64
	Read, Take, Write, Emit, Reduce, BigEndian, Placed bool // Placed: Pair has a meaning
	Pair                                               uint64
}

// model is docs/pipes.md for fixed groups, frame by frame and action by action.
type model struct {
	bytes    uint64
	epW      int
	tree     bool
	halves   bool
	rnr, cnp bool
	timer    uint64
	groups   []*group
	counts   map[string]int
	sends    []send
	works    []work
	fused    int // the pipe that the frame decided last sends from at once, or -1
	fusedOf  int // its group
}

func (m *model) count(names ...string) {
	for _, n := range names {
		m.counts[n]++
	}
}

func (m *model) words(plen uint64) uint64 { return (plen + m.bytes - 1) / m.bytes }

// answer pushes one to data.
func (m *model) answer(f *frame, psn, syndrome uint64) {
	m.sends = append(m.sends, send{EI: uint64(f.group), Mask: 1 << f.endpoint, Opcode: 0x11, PSN: psn,
		Ext: syndrome<<24 | m.groups[f.group].ends[f.endpoint].msn})
}

// decide takes a frame.
func (m *model) decide(f *frame) {
	g := m.groups[f.group]
	m.fused = -1
	m.count("RX_FRAMES")
	switch {
	case f.bypass:
		m.count("BYPASS")
	case f.foreign:
		m.count("DROP_FOREIGN")
	case !g.live:
		m.count("DROP_GROUP_DISABLED")
	case !f.icrcOK:
		m.count("DROP_ICRC")
	case f.opcode == 0x81:
		m.count("RX_CNP")
	case f.opcode == 0x11:
		m.acknowledge(f, g)
	default:
		m.data(f, g)
	}
}

func (m *model) data(f *frame, g *group) {
	e := &g.ends[f.endpoint]
	if !g.up(f.endpoint) && !g.down(f.endpoint) {
		m.count("DROP_WRONG_ROLE")
		return
	}
	class := "UP_DATA"
	if g.down(f.endpoint) {
		class = "DOWN_DATA"
	}
	switch d := ahead(e.ePSN, f.psn); {
	case d < 0:
		m.count(class, "RX_DUPLICATE", "TX_ACK")
		m.answer(f, prev(e.ePSN), 0x1F)
		return
	case d > 0:
		m.count(class, "DROP_GAP")
		if !e.nakSent {
			m.count("TX_GAP_NAK")
			m.answer(f, e.ePSN, 0x60)
			e.nakSent = true
		}
		return
	}
	if !f.whole {
		m.count("DROP_BAD_LENGTH")
		return
	}
	p := 1
	if g.up(f.endpoint) && !g.root() {
		p = 0
	}
	q := &g.pipes[p]
	m.count(class)
	if ahead(g.room(p), f.psn) >= 0 {
		m.count("DROP_FULL")
		e.nakSent = true
		if m.rnr {
			m.count("TX_RNR")
			m.answer(f, f.psn, 0x20|m.timer)
		}
		if m.cnp && f.host {
			m.count("TX_CNP")
			m.sends = append(m.sends, send{EI: uint64(f.group), Mask: 1 << f.endpoint, Opcode: 0x81, PSN: f.psn})
		}
		return
	}
	s, first := q.slots[f.psn], false
	if s == nil {
		s, first = &slot{opcode: f.opcode, plen: f.plen, ext: f.ext, se: f.se}, true
	}
	if s.opcode != f.opcode || s.plen != f.plen {
		m.count("DROP_SHAPE")
		return
	}
	q.slots[f.psn] = s
	if s.se != f.se || s.ext != f.ext && (f.opcode == 3 || f.opcode == 5) {
		m.count("IMM_MISMATCH")
	}
	s.ce = s.ce || f.ce
	pair, sibling := uint64(f.endpoint/2), s.mask>>(f.endpoint^1)&1 != 0
	s.mask |= 1 << f.endpoint
	e.ePSN, e.nakSent = next(e.ePSN), false
	if f.opcode >= 2 {
		e.msn = next(e.msn)
	}
	complete := true
	if g.up(f.endpoint) {
		complete = s.mask&g.in == g.in
		m.count("AGG")
		if complete {
			m.count("TX_RESULT")
		} else {
			m.count("BUFFERED")
		}
	} else {
		m.count("DOWN_TAKEN")
		pair, sibling = 0, false
	}
	m.count("TX_ACK")
	m.answer(f, f.psn, 0x1F)
	w := work{Start: f.start, Words: m.words(f.plen), Slot: m.unit(g, p, f.psn), DType: g.dtype, Read: !first, Take: true, Write: true, BigEndian: g.bigEndian}
	if m.tree {
		w.Read, w.Pair, w.Placed = sibling, pair, true
	}
	if complete {
		before := g.limit(p)
		q.done = next(f.psn)
		if g.root() {
			m.counts["WIPE"] += ahead(before, g.limit(p))
		}
		if before == f.psn && q.sent == f.psn && g.limit(p) != f.psn && g.keep(p) != 0 {
			m.fused, m.fusedOf = p, f.group
			if m.tree {
				w.Reduce, w.Pairs = true, m.pairs(g, p, s)
			} else {
				w.Emit = true
			}
		}
	}
	if w.Words > 0 {
		m.works = append(m.works, w)
	}
}

// pairs are those that make a slot's result.
func (m *model) pairs(g *group, p int, s *slot) (mask uint64) {
	if p == 1 && !g.root() {
		return 1
	}
	for e := range g.ends {
		if s.mask>>e&1 != 0 {
			mask |= 1 << (e / 2)
		}
	}
	return mask
}

// unit is where a slot's payload lies.
func (m *model) unit(g *group, p int, psn uint64) uint64 {
	i := g.index(p, psn)
	if m.halves && (g.dtype == 1 || g.dtype == 2) {
		i *= 2
	}
	return g.base + i
}

func (m *model) acknowledge(f *frame, g *group) {
	p := g.pipeTo(f.endpoint)
	syndrome := f.ext >> 24
	isAck, isRNR, isNak := syndrome>>5 == 0, syndrome>>5 == 1, syndrome>>2 == 0x18
	switch {
	case p < 0:
		m.count("DROP_WRONG_ROLE")
		return
	case !isAck && !isRNR && !isNak:
		m.count("DROP_SYNDROME")
		return
	}
	e := &g.ends[f.endpoint]
	to := f.psn
	if isAck {
		to = next(to)
	}
	gain := ahead(e.nextUnacked, to)
	if gain < 0 || gain == 0 && isAck || ahead(e.beyond, to) > 0 {
		m.count("DROP_STALE_ACK")
		return
	}
	switch {
	case isAck:
		m.count("RX_ACK")
	case isRNR:
		m.count("RX_RNR")
	default:
		m.count("RX_NAK")
		if syndrome != 0x60 {
			e.failed = true
			return
		}
	}
	again := ahead(to, e.beyond) > 0
	if gain > 0 {
		e.nextUnacked = to
		if ahead(e.sendNext, to) > 0 {
			e.sendNext = to
		}
		m.free(g, p)
	}
	if isNak && again && !e.waits {
		e.sendNext = to
	}
	e.waits = e.waits || isRNR && again
}

// free lets a pipe's start follow its out endpoints.
func (m *model) free(g *group, p int) {
	q := &g.pipes[p]
	least, known := uint64(0), false
	for e := range g.ends {
		if u := g.ends[e].nextUnacked; g.outs(p)>>e&1 != 0 && (!known || ahead(least, u) < 0) {
			least, known = u, true
		}
	}
	before := g.limit(p)
	size := int(g.slots())
	if g.root() {
		size *= 2
	}
	for q.start != least {
		delete(q.slots, q.start)
		q.start = next(q.start)
		q.head = (q.head + 1) % size
		m.counts["WIPE"]++
	}
	if g.root() {
		m.counts["WIPE"] += ahead(before, g.limit(p))
	}
}

// act takes an action, which must be allowed.
func (m *model) act(kind, group, e int) error {
	g := m.groups[group]
	if !g.live {
		return fmt.Errorf("action %d of group %d, which is not live", kind, group)
	}
	fused := m.fused
	m.fused = -1
	if kind == 1 {
		if fused >= 0 && (fused != e || m.fusedOf != group) {
			return fmt.Errorf("pipe %d of group %d sends before the frame's result is out", e, group)
		}
		q, keep := &g.pipes[e], g.keep(e)
		if q.sent == g.limit(e) || keep == 0 {
			return fmt.Errorf("pipe %d of group %d has nothing to send", e, group)
		}
		psn := q.sent
		q.sent = next(psn)
		for i := range g.ends {
			if keep>>i&1 != 0 {
				g.ends[i].sendNext, g.ends[i].beyond = q.sent, q.sent
			}
		}
		m.slotOut(group, e, psn, keep, fused >= 0)
		return nil
	}
	if fused >= 0 {
		return fmt.Errorf("action %d before the frame's result is out", kind)
	}
	p := g.pipeTo(e)
	if p < 0 {
		return fmt.Errorf("action %d of endpoint %d of group %d, which does not hear", kind, e, group)
	}
	s := &g.ends[e]
	switch {
	case kind == 2 && !s.waits && !s.failed && s.sendNext != g.pipes[p].sent:
		psn := s.sendNext
		s.sendNext = next(psn)
		if ahead(s.beyond, s.sendNext) > 0 {
			s.beyond = s.sendNext
		} else {
			m.count("TX_RETRANSMIT")
		}
		m.slotOut(group, p, psn, 1<<e, false)
	case kind == 3 && !s.waits && !s.failed && s.outstanding():
		m.count("TIMEOUT")
		s.sendNext = s.nextUnacked
	case kind == 4 && s.waits:
		s.waits, s.sendNext = false, s.nextUnacked
	default:
		return fmt.Errorf("action %d of endpoint %d of group %d: %+v", kind, e, group, *s)
	}
	return nil
}

// slotOut sends a slot; its payload is read for that, unless it went with the frame.
func (m *model) slotOut(group, p int, psn, mask uint64, fused bool) {
	g := m.groups[group]
	s := g.pipes[p].slots[psn]
	m.sends = append(m.sends, send{Kind: 1, EI: uint64(group), Mask: mask, Opcode: s.opcode, PSN: psn, Ext: s.ext, PLen: s.plen,
		Words: m.words(s.plen), SE: s.se, CE: s.ce})
	if fused || s.plen == 0 {
		return
	}
	w := work{Words: m.words(s.plen), Slot: m.unit(g, p, psn), DType: g.dtype, BigEndian: g.bigEndian}
	if m.tree {
		w.Reduce, w.Pairs = true, m.pairs(g, p, s)
	} else {
		w.Emit, w.Read = true, true
	}
	m.works = append(m.works, w)
}
