// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/checkmessage"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

// receiver has two groups of five endpoints, messages of 2,048 bytes in units of 256, path MTUs up to 1,024.
func receiver() checkmessage.CheckMessage {
	return with(func(p *checkmessage.CheckMessage) {
		p.LenW, p.WordsW, p.SlotW, p.Halves, p.MessageBytes, p.UnitBytes = 11, 8, 4, 0, 2048, 256
	})
}

const mask24 = 1<<24 - 1

// endpoint is a receive side, as docs/termination.md section 2 has it; acked is the first message that it has not acknowledged.
type endpoint struct {
	psn, message, msn, acked uint64
	offset, unanswered, mtu  int
	inside, nakSent, refused bool
}

// slot is what there is of a message.
type slot struct {
	Mark   int
	Mask   uint64
	Known  bool
	SE, CE bool
	HasImm bool
	Imm    uint64
}

// frame is a data packet.
type frame struct {
	end, op, length int
	psn, imm        uint64
	se, ce, asks    bool
}

// effect is what a frame does: an answer, what becomes of its slot, work on its payload, a CNP, and its counters.
type effect struct {
	Syndrome, PSN, MSN uint64
	Answers, CNP       bool
	Slot               int
	Written            slot
	Unit, Words, Adds  int
	Result             result
	Counters           []string
}

// result is a packet that leaves with the one that completes its message.
type result struct {
	Emits, SE, CE bool // Emits: its payload goes with the work
	To            uint64
	Op, PSN, Imm  uint64
	Size          int
}

// bench holds the module, as the root of an AllReduce, against a model of what it does.
type bench struct {
	*rig.Rig
	t                  *testing.T
	rng                *rand.Rand
	p                  checkmessage.CheckMessage
	group              int
	base, n            int
	ends               []endpoint
	first, start, done uint64
	slots              map[uint64]slot // by message
	memory             map[int]slot    // as RecycleBuffer has it
	every              int
	rnr, cnp           bool
	got                effect
	counted            map[string]int
	isAnswer           bool // it is an answer that is counted
	wrong              bool // some send what nobody should
	met                map[string]int
	job                job
	freed              uint64 // slots that start has passed, and that the root moves
	wiped              uint64 // what the module counted of that
	work               *work  // put, and neither committed nor killed
	puts               int    // works put while the frame was in C, and the cycle of the first
	cycle, put         int
	action             int  // cycles to an action; 0: none
	moves              int  // results that left at once
	doubt, handed      bool // an answer may change who keeps up, and SendMessage has it; nobody has looked since
	ahead              *frame
	aheadAt            int  // the cycle in which the frame ahead is in A
	aheadFree          bool // and nothing was under way to start then
}

// work is one on the payload.
type work struct {
	unit, words int
	emits, job  bool // job: SendMessage's
}

// job is one of SendMessage and what it makes of an acknowledgement, which go on while frames are decided.
type job struct {
	left    int  // cycles to its end; 0: none
	ack     bool // an answer
	act     bool // an action
	fuse    bool // what has left at once
	moved   bool
	message uint64
	rest    uint64
	quiet   int // cycles since it has ended
	put     []uint64
	notes   int
	look    result // what a look at the pool says: who would get a packet with which PSN, and where the pool is
	looked  bool
	looking bool // it is a look
	limit   uint64
	sees    bool // somebody keeps up, and all go along
	at      uint64
	offset  int
	mtu     int
}

func newBench(t *testing.T, lib *sim.Lib, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), t: t, rng: rand.New(rand.NewPCG(seed, 9)), p: receiver(), group: int(seed % 2), n: 2, every: 3, met: map[string]int{},
		slots: map[uint64]slot{}, memory: map[int]slot{}, ends: make([]endpoint, 4)}
	b.base = b.rng.IntN(8)
	b.OnSample(b.sample)
	b.SetBool("tx_room", true)
	b.SetBool("c_intact", true)
	b.Set("ack_rest_any", 1)
	first := []uint64{mask24 - 2, b.rng.Uint64() & mask24}[seed%2]
	b.first, b.start, b.done = first, first, first
	for e := range 1 << b.p.EPW {
		rq := b.rng.Uint64() & mask24
		if b.rng.IntN(2) == 0 {
			rq = mask24 - b.rng.Uint64N(10)
		}
		mtu := 256 << b.rng.IntN(3)
		for word, v := range map[int]uint64{10: rq, 12: uint64(mtu)} {
			b.SetBool("tbl_ep_we", true)
			b.Set("tbl_index", uint64(b.group<<b.p.EPW|e))
			b.Set("tbl_word", uint64(word))
			b.Set("tbl_data", v)
			b.Clock()
			b.SetBool("tbl_ep_we", false)
		}
		if e < len(b.ends) {
			b.ends[e] = endpoint{psn: rq, message: first, acked: first, mtu: mtu}
		}
	}
	b.SetBool("tbl_grp_we", true) // all of its slots: pools of half of them
	b.Set("tbl_index", uint64(b.group))
	b.Set("tbl_word", 1)
	b.Set("tbl_data", 0)
	b.Clock()
	b.SetBool("tbl_grp_we", false)
	b.SetBool("init_valid", true)
	b.SetBool("init_clean", true)
	b.Set("init_psn", first)
	for e := range 1 << b.p.EPW {
		b.Set("init_ei", uint64(b.group<<b.p.EPW|e))
		for b.Clock(); !b.Is("init_take"); b.Clock() {
		}
	}
	b.SetBool("init_valid", false)
	b.Clock()
	b.Set("grp_live", 3)
	return b
}

// sample is RecycleBuffer, whose word stands until the next is asked for, and notes what the module does.
func (b *bench) sample() {
	if b.Is("wr_en") {
		s := slot{Mark: int(b.Get("wr_tag")), Mask: b.Get("wr_mask"), Known: b.Is("wr_complete"), SE: b.Is("wr_se"), CE: b.Is("wr_ce"), HasImm: b.Get("wr_opcode")&1 != 0, Imm: b.Get("wr_ext")}
		b.got.Slot, b.got.Written = int(b.Get("wr_slot")), s
		b.memory[b.got.Slot] = s
	}
	if b.Is("tx_valid") {
		if op := b.Get("tx_opcode"); op == 0x81 {
			b.got.CNP = true
		} else if op != 0x11 {
			emits := b.got.Result.Emits
			b.got.Result = result{To: b.Get("tx_mask"), Op: op, PSN: b.Get("tx_psn"), Imm: b.Get("tx_ext"), Size: int(b.Get("tx_plen")), SE: b.Is("tx_se"),
				CE: b.Is("tx_ce"), Emits: emits && b.Get("copies_asked") == b.Get("tx_mask")}
		} else {
			b.got.Answers, b.got.Syndrome, b.got.PSN, b.got.MSN = true, b.Get("tx_ext")>>24, b.Get("tx_psn"), b.Get("tx_ext")&mask24
		}
	}
	b.sampleWork()
	for i, c := range contract.Counters(1) {
		if b.Get("count")>>i&1 == 0 {
			continue
		}
		if c.Name == "WIPE" {
			b.wiped++
		} else if b.counted != nil && slices.Contains(answerCounters, c.Name) == b.isAnswer {
			b.counted[c.Name]++
		}
	}
	if b.Is("snd_moves") {
		b.moves++
		require.False(b.t, b.doubt, "a result leaves as was seen before an answer that may change that")
	}
	if b.doubt = b.doubt && !b.Is("snd_look"); b.doubt && b.Is("snd_ack") {
		b.handed = true
		b.SetBool("see_there", false)
	}
	if b.Is("ack_we") {
		b.job.put = append(b.job.put, b.Get("ack_psn"))
	}
	if j := &b.job; b.Is("snd_ack") || b.Is("snd_note") || b.Is("snd_fuse") {
		j.left, j.ack, j.act, j.fuse = 3+b.rng.IntN(3), b.Is("snd_ack"), false, b.Is("snd_fuse")
		j.looking = false
		j.notes += int(bit(b.Is("snd_note")))
	} else if b.Is("snd_look") {
		j.left, j.ack, j.act, j.fuse, j.looked = 3+b.rng.IntN(3), false, false, false, true
		j.looking = true
	} else if b.Is("snd_act") {
		j.looking = false
		j.left, j.ack, j.act, j.fuse = 3+b.rng.IntN(3), false, true, false
	}
}

// sampleWork notes works: one at a time, each committed or killed before the next is put; what counts of a frame's is what was committed.
func (b *bench) sampleWork() {
	commits, kills, puts := b.Is("work_commits"), b.Is("work_kills"), b.Is("work_put")
	if commits || kills {
		require.NotNil(b.t, b.work, "a verdict on no work")
		require.False(b.t, commits && kills, "two verdicts")
		switch w := b.work; {
		case commits && !w.job:
			b.got.Unit, b.got.Words, b.got.Result.Emits, b.got.Adds = w.unit, w.words, w.emits, int(b.Get("adds"))
		case commits:
			b.met["works of actions"]++
		default:
			b.met["works killed"]++
		}
		b.work = nil
	}
	if puts {
		require.Nil(b.t, b.work, "a work before the verdict on the last")
		b.work = &work{unit: int(b.Get("work_unit")), words: int(b.Get("work_words")), emits: b.Is("work_emit"), job: !b.Is("work_take")}
		if b.puts++; b.puts == 1 {
			b.put = b.cycle
		}
	}
}

// offer draws what looks at the pool of an endpoint's message will see.
func (b *bench) offer(e endpoint) {
	j, code := &b.job, b.rng.Uint64N(3)
	j.looked, j.sees, j.at, j.offset, j.mtu = false, b.rng.IntN(4) > 0, e.message, e.offset, 256<<code
	if b.rng.IntN(4) == 0 {
		j.at = (j.at - 1) & mask24
	}
	if b.rng.IntN(4) == 0 {
		j.offset = (j.offset + 256) % b.p.MessageBytes
	}
	j.look = result{To: 1 + b.rng.Uint64N(15), PSN: b.rng.Uint64() & mask24}
	b.SetBool("see_ok", j.sees)
	b.Set("see_msg", j.at)
	b.Set("see_pos", uint64(j.offset/256))
	b.Set("see_psn", j.look.PSN)
	b.Set("see_code", code)
	b.Set("see_keep", j.look.To)
	// it may stand since an earlier look, at this pool or at another
	b.SetBool("see_there", b.rng.IntN(2) == 0 && !(b.doubt && b.handed))
	b.Set("see_ei", uint64(b.group<<b.p.EPW|1))
	if b.rng.IntN(4) == 0 {
		b.Set("see_ei", b.rng.Uint64N(1<<b.p.EIW))
	}
}

// tick passes a cycle, with SendMessage and ReceiveACK as far as they matter.
func (b *bench) tick() {
	j := &b.job
	ends := j.left == 1
	b.SetBool("snd_done", ends)
	b.SetBool("snd_next", ends && (j.ack || j.fuse))
	if ends && j.looking {
		b.SetBool("see_there", true)
		b.Set("see_ei", uint64(b.group<<b.p.EPW|1))
	}
	b.SetBool("snd_work_put", ends && j.act)
	b.SetBool("act_valid", b.action == 1)
	if b.action > 1 {
		b.action--
	}
	b.SetBool("snd_moved", ends && j.ack && j.moved)
	b.Set("snd_message", j.message)
	b.Set("ack_rest", (j.rest-1)&mask24)
	if j.left == 0 {
		j.quiet++
	} else if j.left--; j.left == 0 {
		j.quiet = 0
	}
	b.Clock()
	if ends && j.ack {
		j.limit = b.Get("ctx_limit")
	}
	if b.Is("snd_act") {
		b.action = 0
	}
	b.answerSlot(b.Is("rd_en"), int(b.Get("rd_slot")))
}

// rest lets all come to its end.
func (b *bench) rest() {
	for b.job.left > 0 || b.job.quiet < 12 {
		b.tick()
	}
}

// answerSlot shows the word that was asked for in the cycle before.
func (b *bench) answerSlot(asked bool, at int) {
	if !asked {
		return
	}
	s := b.memory[at]
	b.Set("slot_tag", uint64(s.Mark))
	b.Set("slot_mask", s.Mask)
	b.SetBool("slot_complete", s.Known)
	b.Set("slot_opcode", uint64(map[bool]int{true: 1}[s.HasImm]))
	b.SetBool("slot_se", s.SE)
	b.Set("slot_ext", s.Imm)
	b.SetBool("slot_ce", s.CE)
}

// enter has a frame go from A to B.
func (b *bench) enter(end int, facts map[string]bool, psn uint64) {
	b.Set("s_base", uint64(b.base))
	b.SetBool("s_root", true)
	b.Set("s_log2_n", uint64(bits.Len(uint(b.n))))
	b.SetBool("s_go", true)
	b.tick()
	b.SetBool("s_go", false)
	b.Set("a_ei", uint64(b.group<<b.p.EPW|end))
	b.SetBool("a_go", true)
	b.tick()
	b.SetBool("a_go", false)
	b.inB(end, facts, psn)
}

// inB shows a frame in B.
func (b *bench) inB(end int, facts map[string]bool, psn uint64) {
	for name, v := range facts {
		b.SetBool("b_"+name, v)
	}
	for name, v := range map[string]uint64{"b_valid": 1, "b_ei": uint64(b.group<<b.p.EPW | end), "b_self": 1 << end, "b_in_mask": 1<<len(b.ends) - 1, "b_dtype": 3, "b_wire_psn": psn} {
		b.Set(name, v)
	}
}

// present puts a frame into C by way of A and B, as inc_frame_steps does; one that is in B already goes on.
func (b *bench) present(end int, facts map[string]bool, values map[string]uint64) {
	if b.ahead == nil {
		b.enter(end, facts, values["c_wire_psn"])
		b.tick()
	}
	if b.ahead == nil {
		b.aheadFree = true
	}
	b.ahead = nil
	for b.Settle(); !b.Is("c_free"); b.Settle() {
		b.tick()
	}
	b.SetBool("b_go", true)
	b.tick()
	b.SetBool("b_go", false)
	b.SetBool("b_valid", false)
	all := uint64(1)<<len(b.ends) - 1
	for name, v := range map[string]uint64{"c_ei": uint64(b.group<<b.p.EPW | end), "c_self": 1 << end, "c_in_mask": all, "c_out_mask": all, "c_passed": 1, "c_live": 1, "c_dtype": 3} {
		b.Set(name, v)
	}
	for _, name := range []string{"c_syn_ack", "c_syn_rnr", "c_syn_nak", "c_parent_mask", "c_reduces", "c_spreads", "c_drops", "c_plen", "c_words", "frm_asks", "c_ce", "c_se", "c_ext"} {
		b.Set(name, 0)
	}
	for name, v := range values {
		b.Set(name, v)
	}
}

// decide passes cycles until the frame is done; it returns how many. Its verdict comes in one of them.
func (b *bench) decide(verdict int, each func(cycle int)) int {
	b.got, b.counted, b.puts, b.moves = effect{Slot: -1}, map[string]int{}, 0, 0
	b.SetBool("c_valid", true)
	for cycle := 1; ; cycle++ {
		b.cycle = cycle
		each(cycle)
		b.SetBool("vrd_valid", cycle >= verdict)
		comes := b.ahead != nil && cycle == b.aheadAt
		if comes {
			b.Set("a_ei", uint64(b.group<<b.p.EPW|b.ahead.end))
		}
		b.SetBool("a_go", comes)
		b.tick()
		b.SetBool("a_go", false)
		if comes {
			b.inB(b.ahead.end, dataFacts(*b.ahead), b.ahead.psn)
			b.aheadFree = !b.isAnswer && b.job.left == 0 && b.job.quiet > 6
			b.met["a frame comes behind one that is not decided"]++
		}
		if b.Is("c_done") {
			if b.aheadAt > cycle { // it is not there yet
				b.ahead = nil
			}
			b.SetBool("c_valid", false)
			b.SetBool("vrd_valid", false)
			b.SetBool("work_held", false)
			b.action = 0
			b.SetBool("tx_room", true) // a CNP may follow, in the cycle of the counters
			b.tick()
			b.tick()
			return cycle
		}
		require.Less(b.t, cycle, 200)
	}
}

// moved is how much of the aggregation pool has gone on to the broadcast pool.
func (b *bench) moved() int { return min(ahead(b.start, b.done), b.n) }

func ahead(from, to uint64) int { return int(int32(uint32(to-from)<<8) >> 8) }

// expect is docs/termination.md section 3 from rule 2 on, for the root of an AllReduce whose bytes go out with whole messages alone.
func (b *bench) expect(f frame) (out effect) {
	e := &b.ends[f.end]
	out.Slot = -1
	count := func(names ...string) { out.Counters = append(out.Counters, names...) }
	answer := func(syndrome, psn uint64) {
		out.Answers, out.Syndrome, out.PSN, out.MSN = true, syndrome, psn, e.msn
		e.unanswered = 0
	}
	starts, ends := f.op == 0 || f.op >= 4, f.op >= 2
	refuse := func(why string) {
		e.refused = true
		answer(0x61, e.psn)
		count("TX_INVALID", why)
	}
	place := ahead(b.start, e.message)
	to := e.offset + f.length
	old, begun := b.slots[e.message]
	switch d := ahead(e.psn, f.psn); {
	case d < 0:
		answer(0x1F, (e.psn-1)&mask24)
		count("UP_DATA", "RX_DUPLICATE", "TX_ACK")
		return out
	case d > 0:
		if count("UP_DATA", "DROP_GAP"); !e.nakSent {
			answer(0x60, e.psn)
			count("TX_GAP_NAK")
		}
		e.nakSent = true
		return out
	case e.refused:
		refuse("DROP_REFUSED")
		return out
	case starts == e.inside:
		refuse("DROP_SEQUENCE")
		return out
	case !ends && f.length != e.mtu || ends && f.length > e.mtu || ends && !starts && f.length == 0:
		refuse("DROP_SEGMENT")
		return out
	case f.length%4 != 0:
		refuse("DROP_BAD_LENGTH")
		return out
	case starts && place >= b.moved()+b.n:
		count("UP_DATA", "DROP_FULL")
		if e.nakSent = true; b.rnr {
			answer(0x20|7, e.psn)
			count("TX_RNR")
		}
		if out.CNP = b.cnp; b.cnp {
			count("TX_CNP")
		}
		return out
	case to > b.p.MessageBytes:
		refuse("DROP_MESSAGE_SIZE")
		return out
	case begun && old.Known && to > old.Mark || ends && to < old.Mark:
		refuse("DROP_MESSAGE_LENGTH")
		return out
	}
	count("UP_DATA", "AGG")
	s := old
	imm := f.imm
	if f.op%2 == 0 || f.op < 3 {
		imm = 0
	}
	if hasImm := f.op == 3 || f.op == 5; ends && !old.Known {
		s.SE, s.HasImm, s.Imm = f.se, hasImm, imm
	} else if ends && (old.SE != f.se || old.HasImm != hasImm || old.Imm != imm) {
		count("IMM_MISMATCH")
	} else if !old.Known { // nobody looks yet
		s.SE, s.HasImm, s.Imm = f.se, false, 0
	}
	out.Slot = b.base + ahead(b.first, e.message)%(2*b.n)
	if f.length > 0 {
		out.Words = (f.length + b.p.Bytes - 1) / b.p.Bytes
		out.Unit = (out.Slot*b.p.MessageBytes + e.offset) / b.p.UnitBytes
		if below := s.Mark - e.offset; below > 0 {
			out.Adds = (below + b.p.UnitBytes - 1) / b.p.UnitBytes
		}
	}
	s.Mark, s.CE = max(s.Mark, to), s.CE || f.ce
	if ends {
		s.Known, s.Mask = true, s.Mask|1<<f.end
	}
	b.slots[e.message] = s
	out.Written = s
	e.psn, e.nakSent = (e.psn+1)&mask24, false
	e.unanswered++
	e.offset, e.inside = to, true
	message := e.message
	if ends {
		e.offset, e.inside, e.message, e.msn = 0, false, (e.message+1)&mask24, (e.msn+1)&mask24
	}
	if f.asks || ends || e.unanswered >= b.every {
		answer(0x1F, f.psn)
		count("TX_ACK")
	}
	if ends && s.Mask == 1<<len(b.ends)-1 {
		moves := b.moved()
		b.done = (message + 1) & mask24
		if j := &b.job; place < b.n && j.sees && j.at == message && j.offset == to-f.length && f.length <= j.mtu {
			first := to == f.length
			out.Result = result{Emits: f.length > 0, SE: s.SE, CE: s.CE, To: j.look.To, Op: uint64(4*bit(first) + 2*bit(!first) + bit(s.HasImm)), PSN: j.look.PSN, Size: f.length}
			if s.HasImm {
				out.Result.Imm = s.Imm
			}
			b.met["a result that leaves at once"]++
		}
		b.freed += uint64(b.moved() - moves)
		count("TX_RESULT")
	} else {
		count("BUFFERED")
	}
	return out
}

// dataFacts are what the steps know of a data packet in B.
func dataFacts(f frame) map[string]bool {
	return map[string]bool{"host": true, "data": true, "ack": false, "cnp": false, "ends": f.op >= 2, "fine": true, "bad_tver": false, "bad_opcode": false,
		"too_long": false, "up": true, "down": false, "whole": f.length%4 == 0}
}

// follow has a packet come to B while another is decided, or does not.
func (b *bench) follow() {
	b.ahead, b.aheadAt = nil, 0
	if b.rng.IntN(2) == 0 {
		f := b.draw(b.rng.IntN(len(b.ends)))
		b.ahead, b.aheadAt = &f, 1+b.rng.IntN(4)
	}
}

// data sends a packet and holds what came of it against the model.
func (b *bench) data(f frame) error {
	b.every = 1 + b.rng.IntN(5)
	b.rnr, b.cnp = b.rng.IntN(4) > 0, b.rng.IntN(2) == 0
	b.Set("cfg_ack_every", uint64(b.every))
	b.Set("cfg_rnr_timer", 7)
	b.SetBool("cfg_rnr", b.rnr)
	b.SetBool("cfg_cnp", b.cnp)
	b.present(f.end, dataFacts(f),
		map[string]uint64{"c_opcode": uint64(f.op), "c_se": bit(f.se), "c_ce": bit(f.ce), "frm_asks": bit(f.asks), "c_wire_psn": f.psn, "c_ext": f.imm,
			"c_plen": uint64(f.length), "c_words": uint64((f.length + b.p.Bytes - 1) / b.p.Bytes)})
	b.offer(b.ends[f.end])
	want := effect{Slot: -1} // of a frame that is dropped
	if intact := b.rng.IntN(12) > 0; intact {
		want = b.expect(f)
	} else {
		b.met["a frame that is dropped"]++
		b.SetBool("c_intact", false)
		b.Set("c_passed", 0)
		f.ce = false // what counts
	}
	quick, verdict := b.rng.IntN(2) == 0, 1+b.rng.IntN(9)
	free := b.job.left == 0 && b.job.quiet > 6 && b.aheadFree
	if b.rng.IntN(12) == 0 {
		free, b.action = false, 1+b.rng.IntN(9)
	}
	b.isAnswer = false
	b.follow()
	cycles := b.decide(verdict, func(int) {
		b.SetBool("tx_room", quick || b.rng.IntN(3) == 0)
		b.SetBool("work_held", !quick && b.rng.IntN(3) == 0)
	})
	b.SetBool("c_intact", true)
	latency := max(verdict, frameCycles)
	free = free && !b.job.looked // what may complete a message waits for a look
	if quick && !free && cycles > latency {
		b.met["waits for the send side"]++
	}
	if quick && free && want.Words > 0 && (b.puts != 1 || b.put != frameCycles) {
		return fmt.Errorf("%+v: %d works, the first in cycle %d, not %d", f, b.puts, b.put, frameCycles)
	}
	if b.puts > 0 && b.put < cycles {
		b.met["a work ahead of its verdict"]++
	}
	got := b.got
	if want.Counters = append(want.Counters, "RX_FRAMES"); f.ce {
		want.Counters = append(want.Counters, "RX_CE")
	}
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Counters" }, cmp.Ignore())); diff != "" {
		return fmt.Errorf("%+v (-want +got):\n%s", f, diff)
	}
	if left := int(bit(want.Result.To != 0)); b.moves != left {
		return fmt.Errorf("%+v: %d results are told of, not %d", f, b.moves, left)
	}
	if diff := counted(want.Counters, b.counted); diff != "" {
		return fmt.Errorf("%+v: counters %s", f, diff)
	}
	if quick && (free && cycles != latency || cycles < latency || cycles > latency+20) {
		return fmt.Errorf("%+v, %+v: %d cycles, not %d", f, want, cycles, latency)
	}
	for _, name := range want.Counters {
		b.met[name]++
	}
	return nil
}

// counted holds counters that stepped against those that were to.
func counted(want []string, steps map[string]int) string {
	all := map[string]int{}
	for _, name := range want {
		all[name]++
	}
	return cmp.Diff(all, steps)
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// answerCounters step when an answer's job has ended.
var answerCounters = []string{"RX_ACK", "RX_NAK", "RX_RNR"}

// frameCycles are the cycles that a data packet that was looked up in B takes in C, in which it may be decided in the last.
const frameCycles = 2

// reply has an endpoint acknowledge all before a message, which frames behind it need not wait for. What stands for SendMessage and ReceiveACK says what that moves.
func (b *bench) reply(end int, message uint64) error {
	for b.job.left > 0 { // what answers it is that of the next
		b.tick()
	}
	kind := []string{"ack", "ack", "nak", "rnr"}[b.rng.IntN(4)]
	b.present(end, map[string]bool{"host": true, "data": false, "ack": true, "cnp": false, "ends": false, "fine": true, "bad_tver": false, "bad_opcode": false, "too_long": false,
		"up": true, "down": false, "whole": true}, map[string]uint64{"c_opcode": 0x11, "c_syn_" + kind: 1, "c_ext": map[string]uint64{"ack": 0x1F000000, "nak": 0x60000000, "rnr": 0x21000000}[kind]})
	full := b.rng.IntN(2) == 0 // none lags of the pool that was seen
	b.SetBool("see_full", full)
	if kind != "ack" || !full {
		b.doubt, b.handed = true, false
		b.met["an answer that may change who keeps up"]++
	}
	b.follow()
	limit, moved := (b.start+uint64(b.moved()))&mask24, b.ends[end].acked != message
	b.ends[end].acked = message
	least, others := message, false
	for i, e := range b.ends {
		if i == end {
			continue
		}
		if !others || ahead(least, e.acked) < 0 {
			least = e.acked
		}
		others = true
	}
	b.job.moved, b.job.message, b.job.rest, b.job.put = moved, message, least, nil
	b.isAnswer = true
	verdict := 1 + b.rng.IntN(4)
	free := b.job.quiet > 6 // no news of the pool follows what was acknowledged before
	if cycles, latency := b.decide(verdict, func(int) {}), verdict; free && cycles != latency || cycles < latency || cycles > latency+20 {
		return fmt.Errorf("an answer took %d cycles, not %d", cycles, latency)
	}
	if !b.job.ack || b.job.left == 0 {
		return fmt.Errorf("an answer is not handed on")
	}
	for m := range b.slots {
		if ahead(m, message) > 0 && ahead(m, least) > 0 {
			delete(b.slots, m)
		}
	}
	start, before := b.start, b.moved()
	if b.start = least; ahead(least, message) < 0 {
		b.start = message
	}
	b.freed += uint64(2*ahead(start, b.start) + b.moved() - before)
	b.met["answers"]++
	if b.ahead != nil || b.rng.IntN(2) == 0 { // data comes right behind it
		return nil
	}
	b.rest()
	want := []uint64{(message - 1) & mask24}
	if !moved {
		want = nil
	}
	if diff := cmp.Diff(want, b.job.put); diff != "" || b.counted["RX_"+strings.ToUpper(kind)] != 1 {
		return fmt.Errorf("endpoint %d acknowledges up to %#x: %v (-want +got):\n%s", end, message, b.counted, diff)
	}
	if free && b.job.limit != limit {
		return fmt.Errorf("limit is %#x, not %#x", b.job.limit, limit)
	}
	return nil
}

// draw draws a packet that endpoint end may send, or must not.
func (b *bench) draw(end int) frame {
	e := &b.ends[end]
	s := b.slots[e.message]
	f := frame{end: end, psn: e.psn, imm: b.rng.Uint64() & 3, se: b.rng.IntN(4) == 0, ce: b.rng.IntN(4) == 0, asks: b.rng.IntN(4) == 0}
	length := s.Mark // what a message has, if it is known
	if !s.Known {
		length = max(s.Mark, []int{0, 4 * b.rng.IntN(b.p.MessageBytes/4+1), b.p.MessageBytes, e.offset + 4 + 4*b.rng.IntN(60)}[b.rng.IntN(4)])
		if b.wrong && (int(e.message)+end)%4 == 0 || e.offset == b.p.MessageBytes { // of one message in four
			length = b.p.MessageBytes + e.mtu
		}
	}
	if e.inside {
		length = max(length, e.offset+4)
	}
	left := length - e.offset
	f.length = min(left, e.mtu)
	switch last := left <= e.mtu; {
	case last && e.inside:
		f.op = 2 + b.rng.IntN(2)
	case last:
		f.op = 4 + b.rng.IntN(2)
	case e.inside:
		f.op = 1
	}
	if !b.wrong {
		return f
	}
	switch b.rng.IntN(40) { // or something that nobody should send
	case 0:
		f.psn = (f.psn + 1 + b.rng.Uint64N(3)) & mask24
	case 1:
		f.psn = (f.psn - 1 - b.rng.Uint64N(3)) & mask24
	case 2:
		f.op = b.rng.IntN(6)
	case 3:
		f.length = b.rng.IntN(e.mtu + 1)
	case 4:
		f.length = min(e.mtu, f.length+4*b.rng.IntN(8))
	}
	return f
}

// TestReceive: packets of all endpoints in any order, right and wrong, answers in between, against the rules of docs/termination.md: what is answered, what becomes
// of the slot and the pools, which units are added to, which counters step, and in how many cycles.
func TestReceive(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, receiver())
	met := map[string]int{}
	for seed := range uint64(40) {
		b := newBench(t, lib, seed)
		steps := 250
		if b.met, b.wrong = met, seed%5 != 0; b.wrong { // and soon all are refused
			steps = 80
		}
		for range steps {
			if b.ahead != nil {
				require.NoError(t, b.data(*b.ahead), "seed %d", seed)
				continue
			}
			end := b.rng.IntN(len(b.ends))
			if b.rng.IntN(4) == 0 {
				e := b.ends[end]
				to := ahead(e.acked, (b.start+uint64(b.moved()))&mask24)
				require.NoError(t, b.reply(end, (e.acked+uint64(b.rng.IntN(max(to, 0)+1)))&mask24), "seed %d", seed)
				continue
			}
			require.NoError(t, b.data(b.draw(end)), "seed %d", seed)
		}
		b.rest()
		for range b.freed { // counted one a cycle
			b.tick()
		}
		require.Equal(t, b.freed, b.wiped, "slots freed, seed %d", seed)
		met["freed"] += int(b.freed)
	}
	for _, name := range []string{"RX_DUPLICATE", "DROP_GAP", "TX_GAP_NAK", "DROP_REFUSED", "DROP_SEQUENCE", "DROP_SEGMENT", "DROP_BAD_LENGTH", "DROP_FULL", "TX_RNR", "TX_CNP",
		"DROP_MESSAGE_SIZE", "DROP_MESSAGE_LENGTH", "AGG", "BUFFERED", "TX_RESULT", "TX_ACK", "IMM_MISMATCH", "answers", "freed", "waits for the send side", "a result that leaves at once",
		"a frame that is dropped", "a work ahead of its verdict", "works killed", "works of actions",
		"a frame comes behind one that is not decided", "an answer that may change who keeps up"} {
		require.Greater(t, met[name], 5, name)
	}
}
