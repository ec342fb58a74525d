// SPDX-License-Identifier: Apache-2.0

package checkduplicate_test

import (
	"math/bits"
	"slices"

	"incforge/contract"
)

// counterNames are the counters that this model knows, by names alone. One that is added later is the scenarios' to check.
var counterNames = []string{"RX_FRAMES", "BYPASS", "UP_DATA", "AGG", "BUFFERED", "WIPE", "TX_RESULT", "TX_FANOUT", "TX_RESEND", "DOWN_DATA",
	"RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_FRAMES", "IMM_MISMATCH", "DROP_FOREIGN",
	"DROP_GROUP_DISABLED", "DROP_RX_ERROR", "DROP_IP_CHECKSUM", "DROP_LENGTH_MISMATCH", "DROP_ICRC", "DROP_TVER", "DROP_OPCODE",
	"DROP_TOO_LONG", "DROP_BAD_LENGTH", "DROP_WRONG_ROLE", "DROP_SYNDROME", "DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE",
	"ECC_CORRECTED", "ECC_DOUBLE", "RANGE_OPEN", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK", "DROP_RANGE", "DROP_BAD_CONTROL", "DROP_CONTROL",
	"DROP_STALE_ACK"}

// Collectives.
const (
	allReduce = iota
	reduce
	broadcast
	barrier
)

// allCounters are those of the mode, in the order of their bits.
var allCounters = contract.CounterNames(2)

// among are the counters of these names in `count`.
func among(names ...string) uint64 {
	set := uint64(0)
	for _, n := range names {
		set |= 1 << slices.Index(allCounters, n)
	}
	return set
}

// count is what a frame steps: these counters and RX_FRAMES.
func count(names ...string) uint64 { return among(append(names, "RX_FRAMES")...) }

// frame is an entry of LookupTable's and its verdict.
type frame struct {
	bypass, foreign, host                  bool
	sumOK, lenOK, tverOK, tooLong, whole   bool
	se, ce                                 bool
	err, bodyOK, icrcOK                    bool
	group, endpoint                        int
	opcode, pad, psn, ext, plen, start     uint64
	looked                                 bool // its group was live from when it was looked up to the cycle before the decision
	live                                   bool // the group is live at the decision
	opened                                 bool // it has opened its range
	read, asked                            bool // its state, and what was acknowledged
	at                                     place
	entryWait, verdictWait, entered, ended int
}

// group is a group's configuration; a frame's entry carries it.
type group struct {
	base, log2       uint64
	in, out, ack     uint64
	parent           int // -1: none
	collective       uint64
	function, dtype  uint64
	bigEndian        bool
	start            uint64
	live             bool
	inited           int // endpoints that have their state, of a start under way
	starting, fenced bool
	salt             uint64 // of the shape of each PSN's payload
	inBand, halves   bool   // of in-band groups; of types of 16 bits
	ranges           []span // the current one last
}

// span is a range of an in-band group: its PSNs, what it computes, and the offsets of what endpoints send.
type span struct {
	begin, end, rng             uint64
	collective, function, dtype uint64
	in, out, ack, parent        uint64
	offset                      []uint64
}

// place is what Control says of a frame of an in-band group.
type place struct {
	current, previous, opens, opensUp, bad, wrong, contradicts bool
	base, psn                                                  uint64
	span
}

func (p place) inside() bool { return p.current || p.previous }

// view is what a frame's group computes: by registers, or by the range that the frame belongs to.
func (m *model) view(f *frame) (v span, psn uint64, up, down, ackable bool) {
	g := m.groups[f.group]
	v, psn = span{collective: g.collective, function: g.function, dtype: g.dtype, in: g.in, out: g.out, ack: g.ack, parent: g.parentMask()}, f.psn
	if g.inBand {
		v, psn = f.at.span, f.at.psn
	}
	self := uint64(1) << f.endpoint
	up, down, ackable = v.in&self != 0, v.parent&self != 0, v.ack&self != 0
	switch v.collective {
	case reduce:
		down = false
	case broadcast:
		up = false
	default:
		ackable = ackable && f.host
	}
	return v, psn, up, down && !up, ackable
}

func (g *group) n() uint64 { return 1 << g.log2 }

func (g *group) slot(psn uint64) int { return int(g.base + psn%g.n()) }

// wide: elements of 16 bits, FP16 and BF16, kept as FP32 in twice the room, which the ranges of an in-band group may ask for.
func (g *group) wide() bool { return g.inBand && g.halves || g.dtype == 1 || g.dtype == 2 }

// units is how many units of payload the group's slots take.
func (g *group) units() uint64 {
	if g.wide() {
		return 2 * g.n()
	}
	return g.n()
}

// unit is where the payload of a PSN's slot begins.
func (g *group) unit(psn uint64) uint64 {
	if g.wide() {
		return g.base + 2*(psn%g.n())
	}
	return g.base + psn%g.n()
}

func (g *group) parentMask() uint64 {
	if g.parent < 0 {
		return 0
	}
	return 1 << g.parent
}

// endpoint is an endpoint's state.
type endpoint struct {
	psn, msn uint64
	nakSent  bool
	acked    uint64 // group PSN, and the MSN that came with it
	ackedMSN uint64
}

// word is a slot's state.
type word struct {
	tag, mask, opcode, plen, pad, ext uint64
	complete, se, ce                  bool
}

// seen drops what has no meaning while there is no contribution.
func (w word) seen() word {
	if w.mask == 0 {
		return word{tag: w.tag, complete: w.complete, ce: w.ce}
	}
	return w
}

// work is what is to be done with payload.
type work struct {
	start, words, slot, function, dtype        uint64
	read, take, write, emit, reduce, bigEndian bool
	pair                                       uint64 // that is read and written
	pairs                                      uint64 // that are reduced
}

// seen drops what has no meaning: the pair of a work that touches no memory, pairs of one that reduces none, and both in place.
func (w work) seen(tree bool) work {
	if !tree || !w.read && !w.write {
		w.pair = 0
	}
	if !w.reduce {
		w.pairs = 0
	}
	return w
}

// pairsOf has a bit for each pair of endpoints of which one is in the mask.
func pairsOf(mask uint64) (out uint64) {
	for _, e := range members(mask) {
		out |= 1 << (e / 2)
	}
	return out
}

// send is a decision for ReplicateData.
type send struct {
	kind                                         uint64 // 1 copies of data, 2 of acknowledgements
	ei, mask, opcode, pad, psn, ext, plen, words uint64
	inBand, rng, dir                             uint64
	se, ce                                       bool
}

// verdict is what a frame does.
type verdict struct {
	counts uint64
	send   *send
	work   *work
	ack    *[2]uint64 // number and MSN that ReceiveACK is to keep
}

// model is docs/engine.md sections 3.2 to 3.8, frame by frame, and of 3.3 what begins where Control ends.
type model struct {
	bytes  uint64 // of a payload word
	epW    int
	icrc   bool
	tree   bool // contributions are kept by pairs
	gapNAK bool
	groups []*group
	ep     map[int]*endpoint // by index in the table
	slots  map[int]word
	done   []uint64
}

func serial(a, b uint64) int { return int(int32(uint32(a-b)<<8) >> 8) }

const mask24 = 1<<24 - 1

func (m *model) words(plen uint64) uint64 { return (plen + m.bytes - 1) / m.bytes }

// opens tells that the frame is a control that opens a range, whatever its verdict.
func (m *model) opens(f *frame) bool {
	ep := m.ep[f.group<<m.epW|f.endpoint]
	return m.groups[f.group].inBand && f.opcode <= 5 && !f.at.inside() && f.at.opens && (!f.at.opensUp || f.psn == ep.psn)
}

// drop is the reason why the frame is dropped, or "".
func (m *model) drop(f *frame) string {
	g := m.groups[f.group]
	v, _, up, down, ackable := m.view(f)
	data, ack := f.opcode <= 5, f.opcode == 0x11
	whole := f.whole
	outside := g.inBand && !f.at.inside()
	if g.inBand && !outside {
		whole = f.plen%[]uint64{4, 2, 2, 4}[v.dtype] == 0
		if v.collective == barrier {
			whole = f.plen == 0
		}
	}
	for _, d := range []struct {
		is   bool
		name string
	}{
		{f.foreign, "DROP_FOREIGN"},
		{!f.live || !f.looked, "DROP_GROUP_DISABLED"},
		{f.err, "DROP_RX_ERROR"},
		{!f.sumOK, "DROP_IP_CHECKSUM"},
		{!f.lenOK || !f.bodyOK, "DROP_LENGTH_MISMATCH"},
		{m.icrc && !f.icrcOK, "DROP_ICRC"},
		{!f.tverOK, "DROP_TVER"},
		{!data && !ack && f.opcode != 0x81, "DROP_OPCODE"},
		{f.tooLong, "DROP_TOO_LONG"},
		{outside && data && !f.at.bad && !f.at.wrong && !m.opens(f), "DROP_RANGE"},
		{outside && data && f.at.bad, "DROP_BAD_CONTROL"},
		{g.inBand && !outside && data && f.at.contradicts, "DROP_CONTROL"},
		{outside && ack, "DROP_STALE_ACK"},
		{outside && data && f.at.wrong, "DROP_WRONG_ROLE"},
		{outside && data, ""}, // it opens its range
		{data && !whole, "DROP_BAD_LENGTH"},
		{data && !up && !down || !data && !ackable, "DROP_WRONG_ROLE"},
		{ack && kind(f) == "", "DROP_SYNDROME"},
	} {
		if d.is {
			return d.name
		}
	}
	return ""
}

// kind is how an acknowledgement counts, "" if its syndrome means nothing.
func kind(f *frame) string {
	switch syndrome := f.ext >> 24; {
	case syndrome <= 0x1F:
		return "RX_ACK"
	case syndrome <= 0x3F:
		return "RX_RNR"
	case syndrome >= 0x60 && syndrome <= 0x63:
		return "RX_NAK"
	}
	return ""
}

func (m *model) decide(f *frame) verdict {
	if f.bypass {
		return verdict{counts: count("BYPASS")}
	}
	ei := f.group<<m.epW | f.endpoint
	g, ep := m.groups[f.group], m.ep[ei]
	self := uint64(1) << f.endpoint
	v, p, up, _, _ := m.view(f)
	to := func(s send) *send { // a frame of the range
		if g.inBand {
			s.inBand, s.rng = 1, v.rng
		}
		s.ei = uint64(ei)
		return &s
	}
	if f.opened {
		m.done[f.group] = later(m.done[f.group], (f.at.begin-1)&mask24)
	}
	drop := m.drop(f)
	if drop == "DROP_RANGE" && m.gapNAK && f.host && !ep.nakSent && serial(f.psn, ep.psn) > 0 && ep.psn == f.at.base {
		ep.nakSent = true
		return verdict{counts: count(drop, "TX_GAP_NAK"),
			send: &send{ei: uint64(ei), mask: self, opcode: 0x11, psn: f.at.base, ext: 0x60<<24 | ep.msn, dir: 1}}
	}
	if drop != "" {
		return verdict{counts: count(drop)}
	}
	switch {
	case f.opcode == 0x81:
		s := send{ei: uint64(ei), mask: self, opcode: f.opcode, psn: f.psn, ce: f.ce}
		counts := count("RX_CNP")
		switch v.collective {
		case reduce:
			s.mask, s.kind = v.in, 2
		case broadcast:
			s.mask = v.parent
			counts |= count("TX_CNP")
		default:
			counts |= count("TX_CNP")
		}
		if s.mask == 0 {
			return verdict{counts: counts}
		}
		return verdict{counts: counts, send: &s}
	case f.opcode == 0x11:
		return m.acknowledge(f, g, v, p, ei, to)
	}

	// data of the range before that everybody has
	if g.inBand && f.at.previous {
		have, msn := false, uint64(0)
		switch {
		case v.collective == reduce:
			parent := m.ep[f.group<<m.epW|members(v.parent)[0]]
			have, msn = serial(f.psn, ep.psn) < 0 && serial(parent.acked, v.end) >= 0, parent.ackedMSN
		case v.collective == broadcast && v.ack&^self != 0:
			least, with := m.least(f.group, v.ack&^self)
			have, msn = serial(least, v.end) >= 0, with
		}
		if have {
			return verdict{counts: count("TX_REACK"), send: to(send{mask: self, opcode: 0x11, psn: v.end, ext: 0x1F<<24 | msn, dir: 1})}
		}
	}
	if up {
		return m.up(f, g, ep, v, p, self, to)
	}
	if g.inBand && serial(f.psn, ep.psn) >= 0 {
		ep.psn = (f.psn + 1) & mask24
		ep.nakSent = false
		if v.collective == broadcast {
			m.done[f.group] = later(m.done[f.group], p)
			m.slots[g.slot(p)] = word{tag: p}
		}
	}
	out := verdict{counts: count("DOWN_DATA")}
	if v.out != 0 {
		out.send = to(send{kind: 1, mask: v.out, opcode: f.opcode, pad: f.pad, psn: p, ext: f.ext, plen: f.plen,
			words: m.words(f.plen), se: f.se, ce: f.ce})
		if f.plen > 0 {
			out.work = &work{start: f.start, words: m.words(f.plen), slot: g.unit(p), take: true, emit: true, function: v.function, dtype: v.dtype,
				bigEndian: g.bigEndian}
		}
	}
	return out
}

// least is the smallest number acknowledged by an endpoint of the mask, and the MSN beside it, of equals of the lowest endpoint.
func (m *model) least(group int, mask uint64) (psn, msn uint64) {
	for i, e := range members(mask) {
		ep := m.ep[group<<m.epW|e]
		if i == 0 || serial(ep.acked, psn) < 0 {
			psn, msn = ep.acked, ep.ackedMSN
		}
	}
	return psn, msn
}

func (m *model) acknowledge(f *frame, g *group, v span, p uint64, ei int, to func(send) *send) verdict {
	clamp := func(psn uint64) uint64 {
		if !g.inBand {
			return psn
		}
		before := (v.begin - 1) & mask24
		switch {
		case serial(psn, before) < 0:
			return before
		case serial(psn, v.end) > 0:
			return v.end
		}
		return psn
	}
	plain := kind(f) == "RX_ACK"
	number := p
	if !plain {
		number = (p - 1) & mask24
	}
	ep := m.ep[ei]
	old, _ := m.least(f.group, v.ack)
	old = clamp(old)
	out := verdict{counts: count(kind(f))}
	if !g.inBand || plain || p != v.begin {
		out.ack = &[2]uint64{number, f.ext & mask24}
		if serial(number, ep.acked) >= 0 {
			ep.acked, ep.ackedMSN = number, f.ext&mask24
		}
	}
	answer := send{mask: 1 << f.endpoint, opcode: f.opcode, psn: p, ext: f.ext, ce: f.ce, dir: 1}
	switch v.collective {
	case reduce:
		answer.mask, answer.kind = v.in, 2
	case broadcast:
		least, msn := m.least(f.group, v.ack)
		least = clamp(least)
		if plain && serial(least, old) <= 0 && serial(p, old) > 0 {
			return out
		}
		out.counts |= count("TX_ACK_UP")
		answer.mask, answer.psn, answer.ext = v.parent, least, 0x1F<<24|msn
		if !plain && serial(p, least) > 0 {
			answer.psn, answer.ext = (least+1)&mask24, f.ext&^mask24|msn
		}
	default:
		out.counts |= count("TX_REFLECT")
	}
	if answer.mask != 0 {
		out.send = to(answer)
	}
	return out
}

func (m *model) up(f *frame, g *group, ep *endpoint, v span, p, self uint64, to func(send) *send) verdict {
	at := g.slot(p)
	s := m.slots[at]
	d := serial(f.psn, ep.psn)
	switch {
	case d > 0:
		if !m.gapNAK || !f.host || ep.nakSent {
			return verdict{counts: count("UP_DATA", "DROP_GAP")}
		}
		acked := ep.acked
		if v.collective == reduce {
			acked = m.ep[f.group<<m.epW|members(v.parent)[0]].acked
		}
		if g.inBand {
			acked = later(acked, (v.begin-1)&mask24)
		}
		ep.nakSent = true
		return verdict{counts: count("UP_DATA", "DROP_GAP", "TX_GAP_NAK"),
			send: to(send{mask: self, opcode: 0x11, psn: (acked + 1) & mask24, ext: 0x60<<24 | ep.msn, dir: 1})}
	case d < 0:
		if !s.complete || s.tag != p {
			return verdict{counts: count("UP_DATA", "DROP_STALE")}
		}
		mask := self
		if v.parent != 0 {
			mask = v.parent
		}
		out := verdict{counts: count("UP_DATA", "TX_RESEND"), send: to(send{mask: mask, opcode: s.opcode, pad: s.pad, psn: p,
			ext: s.ext, plen: s.plen, words: m.words(s.plen), se: s.se, ce: s.ce})}
		if s.plen > 0 {
			out.work = &work{start: f.start, words: m.words(s.plen), slot: g.unit(p), function: v.function, dtype: v.dtype, bigEndian: g.bigEndian}
			if m.tree {
				out.work.reduce, out.work.pairs = true, pairsOf(s.mask)
			} else {
				out.work.read, out.work.emit = true, true
			}
		}
		return out
	case serial(p, m.done[f.group]) > int(g.n()/2):
		return verdict{counts: count("UP_DATA", "DROP_WINDOW")}
	}
	first := s.tag != p || s.mask == 0
	if !first && (f.opcode != s.opcode || f.plen != s.plen || f.pad != s.pad) {
		return verdict{counts: count("UP_DATA", "DROP_SHAPE")}
	}
	counts := count("UP_DATA", "AGG")
	if first {
		s = word{tag: p, opcode: f.opcode, plen: f.plen, pad: f.pad, ext: f.ext, se: f.se}
	} else if s.se != f.se || (f.opcode == 3 || f.opcode == 5) && s.ext != f.ext {
		counts |= count("IMM_MISMATCH")
	}
	builds := !first // on what lies in the slot already
	if m.tree {
		builds = s.mask>>(f.endpoint^1)&1 != 0
	}
	ep.psn = (ep.psn + 1) & mask24
	ep.nakSent = false
	if f.opcode >= 2 {
		ep.msn = (ep.msn + 1) & mask24
	}
	s.mask |= self
	s.ce = s.ce || f.ce
	s.complete = s.mask&v.in == v.in
	m.slots[at] = s
	out := verdict{counts: counts | count("BUFFERED")}
	if f.plen > 0 {
		out.work = &work{start: f.start, words: m.words(f.plen), slot: g.unit(p), read: builds, take: true, write: true, function: v.function,
			dtype: v.dtype, pair: uint64(f.endpoint / 2), bigEndian: g.bigEndian}
	}
	if !s.complete {
		return out
	}
	out.counts = counts | count("WIPE", "TX_RESULT")
	m.done[f.group] = later(m.done[f.group], p)
	mask, kind := v.out, uint64(1)
	if v.parent != 0 {
		mask, kind = v.parent, 0
	}
	if mask != 0 {
		out.send = to(send{kind: kind, mask: mask, opcode: s.opcode, pad: s.pad, psn: p, ext: s.ext, plen: s.plen,
			words: m.words(s.plen), se: s.se, ce: s.ce})
		switch {
		case out.work == nil:
		case m.tree:
			out.work.reduce, out.work.pairs = true, pairsOf(s.mask)
		default:
			out.work.emit = true
		}
	}
	return out
}

// later is the serial maximum.
func later(a, b uint64) uint64 {
	if serial(b, a) > 0 {
		return b
	}
	return a
}

// begin sets the state of a group and of its slots at its start; endpoints have theirs already.
func (m *model) begin(g *group) {
	for i, other := range m.groups {
		if other == g {
			m.done[i] = (g.start - 1) & mask24
		}
	}
	g.ranges = nil
	for i := range g.n() {
		psn := (g.start + i) & mask24
		m.slots[g.slot(psn)] = word{tag: psn}
	}
}

func members(mask uint64) []int {
	var out []int
	for ; mask != 0; mask &= mask - 1 {
		out = append(out, bits.TrailingZeros64(mask))
	}
	return out
}
