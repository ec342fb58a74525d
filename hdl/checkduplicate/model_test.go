// SPDX-License-Identifier: Apache-2.0

package checkduplicate_test

import "math/bits"

// Counters in the order of docs/engine.md section 7.
var counterNames = []string{"RX_FRAMES", "BYPASS", "UP_DATA", "AGG", "BUFFERED", "WIPE", "TX_RESULT", "TX_FANOUT", "TX_RESEND", "DOWN_DATA",
	"RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_FRAMES", "IMM_MISMATCH", "DROP_FOREIGN",
	"DROP_GROUP_DISABLED", "DROP_RX_ERROR", "DROP_IP_CHECKSUM", "DROP_LENGTH_MISMATCH", "DROP_ICRC", "DROP_TVER", "DROP_OPCODE",
	"DROP_TOO_LONG", "DROP_BAD_LENGTH", "DROP_WRONG_ROLE", "DROP_SYNDROME", "DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE",
	"ECC_CORRECTED", "ECC_DOUBLE"}

func count(names ...string) uint64 {
	set := uint64(0)
	for _, n := range names {
		for i, c := range counterNames {
			if c == n {
				set |= 1 << i
			}
		}
	}
	return set | 1 // every frame counts in RX_FRAMES
}

// frame is an entry of LookupTable's and its verdict.
type frame struct {
	bypass, foreign, host, ackable         bool
	sumOK, lenOK, tverOK, tooLong, whole   bool
	se, ce                                 bool
	err, bodyOK, icrcOK                    bool
	group, endpoint                        int
	opcode, pad, psn, ext, plen, start     uint64
	looked                                 bool // its state was read while the group was live
	live                                   bool // the group is live at the decision
	entryWait, verdictWait, entered, ended int
}

// group is a group's configuration; a frame's entry carries it.
type group struct {
	base, log2       uint64
	in, out, ack     uint64
	parent           int // -1: none
	function, dtype  uint64
	bigEndian        bool
	start            uint64
	live             bool
	inited           int // endpoints that have their state, of a start under way
	starting, fenced bool
	salt             uint64 // of the shape of each PSN's payload
}

func (g *group) n() uint64 { return 1 << g.log2 }

func (g *group) slot(psn uint64) int { return int(g.base + psn%g.n()) }

// wide: elements of 16 bits, FP16 and BF16, kept as FP32 in twice the room.
func (g *group) wide() bool { return g.dtype == 1 || g.dtype == 2 }

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
	psn, acked, msn uint64
	nakSent         bool
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
	fanout                                       bool
	ei, mask, opcode, pad, psn, ext, plen, words uint64
	se, ce                                       bool
}

// verdict is what a frame does.
type verdict struct {
	counts uint64
	send   *send
	work   *work
}

// model is docs/engine.md sections 3.2 to 3.8, frame by frame.
type model struct {
	bytes  uint64 // of a payload word
	epW    int
	icrc   bool
	tree   bool // contributions are kept by pairs
	gapNAK bool
	groups []*group
	ep     map[int]*endpoint // by index in the table
	slots  map[int]word
}

func serial(a, b uint64) int { return int(int32(uint32(a-b)<<8) >> 8) }

const mask24 = 1<<24 - 1

func (m *model) words(plen uint64) uint64 { return (plen + m.bytes - 1) / m.bytes }

func (m *model) decide(f *frame) verdict {
	if f.bypass {
		return verdict{counts: count("BYPASS")}
	}
	g := m.groups[f.group]
	self := uint64(1) << f.endpoint
	up := g.in&self != 0
	down := !up && g.parent == f.endpoint
	data := f.opcode <= 5
	syndrome := f.ext >> 24
	kind := "DROP_SYNDROME"
	switch {
	case syndrome <= 0x1F:
		kind = "RX_ACK"
	case syndrome <= 0x3F:
		kind = "RX_RNR"
	case syndrome >= 0x60 && syndrome <= 0x63:
		kind = "RX_NAK"
	}
	drops := []struct {
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
		{!data && f.opcode != 0x11 && f.opcode != 0x81, "DROP_OPCODE"},
		{f.tooLong, "DROP_TOO_LONG"},
		{data && !f.whole, "DROP_BAD_LENGTH"},
		{data && !up && !down || !data && !f.ackable, "DROP_WRONG_ROLE"},
		{f.opcode == 0x11 && kind == "DROP_SYNDROME", "DROP_SYNDROME"},
	}
	for _, d := range drops {
		if d.is {
			return verdict{counts: count(d.name)}
		}
	}
	ei := f.group<<m.epW | f.endpoint
	ep := m.ep[ei]
	switch {
	case f.opcode == 0x81:
		return verdict{counts: count("RX_CNP", "TX_CNP"), send: &send{ei: uint64(ei), mask: self, opcode: f.opcode, psn: f.psn, ce: f.ce}}
	case f.opcode == 0x11:
		to := f.psn
		if kind != "RX_ACK" {
			to = (f.psn - 1) & mask24
		}
		if serial(to, ep.acked) > 0 {
			ep.acked = to
		}
		return verdict{counts: count(kind, "TX_REFLECT"), send: &send{ei: uint64(ei), mask: self, opcode: f.opcode, psn: f.psn, ext: f.ext, ce: f.ce}}
	case down:
		v := verdict{counts: count("DOWN_DATA")}
		if g.out != 0 {
			v.send = &send{fanout: true, ei: uint64(ei), mask: g.out, opcode: f.opcode, pad: f.pad, psn: f.psn, ext: f.ext, plen: f.plen,
				words: m.words(f.plen), se: f.se, ce: f.ce}
			if f.plen > 0 {
				v.work = &work{start: f.start, words: m.words(f.plen), slot: g.unit(f.psn), take: true, emit: true, function: g.function, dtype: g.dtype,
					bigEndian: g.bigEndian}
			}
		}
		return v
	}
	return m.up(f, g, ep, ei, self)
}

func (m *model) up(f *frame, g *group, ep *endpoint, ei int, self uint64) verdict {
	at := g.slot(f.psn)
	s := m.slots[at]
	d := serial(f.psn, ep.psn)
	switch {
	case d > 0:
		if !m.gapNAK || !f.host || ep.nakSent {
			return verdict{counts: count("UP_DATA", "DROP_GAP")}
		}
		ep.nakSent = true
		return verdict{counts: count("UP_DATA", "DROP_GAP", "TX_GAP_NAK"),
			send: &send{ei: uint64(ei), mask: self, opcode: 0x11, psn: (ep.acked + 1) & mask24, ext: 0x60<<24 | ep.msn}}
	case d < 0:
		if !s.complete || s.tag != f.psn {
			return verdict{counts: count("UP_DATA", "DROP_STALE")}
		}
		to := self
		if g.parent >= 0 {
			to = g.parentMask()
		}
		v := verdict{counts: count("UP_DATA", "TX_RESEND"), send: &send{ei: uint64(ei), mask: to, opcode: s.opcode, pad: s.pad, psn: f.psn,
			ext: s.ext, plen: s.plen, words: m.words(s.plen), se: s.se, ce: s.ce}}
		if s.plen > 0 {
			v.work = &work{start: f.start, words: m.words(s.plen), slot: g.unit(f.psn), function: g.function, dtype: g.dtype, bigEndian: g.bigEndian}
			if m.tree {
				v.work.reduce, v.work.pairs = true, pairsOf(s.mask)
			} else {
				v.work.read, v.work.emit = true, true
			}
		}
		return v
	case s.tag != f.psn:
		return verdict{counts: count("UP_DATA", "DROP_WINDOW")}
	case s.mask != 0 && (f.opcode != s.opcode || f.plen != s.plen || f.pad != s.pad):
		return verdict{counts: count("UP_DATA", "DROP_SHAPE")}
	}
	counts := count("UP_DATA", "AGG")
	first := s.mask == 0
	builds := !first // on what lies in the slot already
	if m.tree {
		builds = s.mask>>(f.endpoint^1)&1 != 0
	}
	if first {
		s = word{tag: s.tag, opcode: f.opcode, plen: f.plen, pad: f.pad, ext: f.ext, se: f.se}
	} else if s.se != f.se || (f.opcode == 3 || f.opcode == 5) && s.ext != f.ext {
		counts |= count("IMM_MISMATCH")
	}
	ep.psn = (ep.psn + 1) & mask24
	ep.nakSent = false
	if f.opcode >= 2 {
		ep.msn = (ep.msn + 1) & mask24
	}
	s.mask |= self
	s.ce = s.ce || f.ce
	s.complete = s.mask&g.in == g.in
	m.slots[at] = s
	v := verdict{counts: counts | count("BUFFERED")}
	if f.plen > 0 {
		v.work = &work{start: f.start, words: m.words(f.plen), slot: g.unit(f.psn), read: builds, take: true, write: true, function: g.function,
			dtype: g.dtype, pair: uint64(f.endpoint / 2), bigEndian: g.bigEndian}
	}
	if !s.complete {
		return v
	}
	v.counts = counts | count("WIPE", "TX_RESULT")
	next := (f.psn + g.n()/2) & mask24
	m.slots[g.slot(next)] = word{tag: next}
	to := g.out
	if g.parent >= 0 {
		to = g.parentMask()
	}
	if to != 0 {
		v.send = &send{fanout: g.parent < 0, ei: uint64(ei), mask: to, opcode: s.opcode, pad: s.pad, psn: f.psn, ext: s.ext, plen: s.plen,
			words: m.words(s.plen), se: s.se, ce: s.ce}
		switch {
		case v.work == nil:
		case m.tree:
			v.work.reduce, v.work.pairs = true, pairsOf(s.mask)
		default:
			v.work.emit = true
		}
	}
	return v
}

// begin sets the state of an endpoint and of the slots at the start of a group.
func (m *model) begin(g *group) {
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
