// SPDX-License-Identifier: Apache-2.0

package checkpipe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/checkpipe"
	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/receiveack"
	"incforge/hdl/retransmission"
	"incforge/hdl/sendack"
	"incforge/sim"
)

// trio is CheckPipe with the three blocks that know endpoints, as the core has them; the rest of the core is the bench's.
type trio struct{ checkpipe.CheckPipe }

// clockMHz makes microseconds short.
const clockMHz = 5

// Module is the composite; what is not between its blocks is a port of the same name.
func (p trio) Module() (*graph.Module, error) {
	c := graph.NewComposite("check_pipe_bench", "CheckPipe and the blocks that know endpoints")
	c.Clock("clk")
	c.Reset("rst")
	check := c.Add("u_check", p.CheckPipe)
	answer := c.Add("u_answer", sendack.SendAck{EIW: p.EIW})
	repeat := c.Add("u_repeat", retransmission.Retransmission{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups, ClockMHz: clockMHz})
	acks := c.Add("u_acks", receiveack.ReceiveAck{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups, Stages: 2})
	parts := p.Add(c, check)
	c.Connect(parts.Steps.Pin("frm_waits"), check.Pin("frm_waits"))
	rig.Expose(c, append(decider.InnerPins(), "rcv_", "ans_", "rt_", "cm_", "act_", "ack_", "init_clean"), check, parts.Steps, parts.Work)
	c.Link(check, answer, "rcv_")
	c.Link(answer, check, "ans_")
	for _, name := range []string{"rcv_behind", "rcv_expected"} {
		c.Connect(answer.Pin(name), check.Pin(name))
	}
	for _, prefix := range []string{"rt_", "act_"} {
		c.Link(check, repeat, prefix)
		c.Link(repeat, check, prefix)
	}
	c.Link(check, repeat, "cm_")
	c.Link(check, acks, "ack_")
	c.Link(acks, check, "ack_")
	c.Connect(c.Pin("init_valid"), repeat.Pin("init_valid"))
	c.Connect(c.Pin("init_ei"), repeat.Pin("init_ei"), answer.Pin("init_ei"))
	c.Connect(c.Pin("init_psn"), answer.Pin("init_psn"), acks.Pin("init_psn"))
	c.Connect(check.Pin("init_take"), repeat.Pin("init_we"), answer.Pin("init_we"))
	c.Connect(repeat.Pin("init_clean"), check.Pin("init_clean"))
	c.Connect(c.Pin("grp_live"), repeat.Pin("grp_live"))
	c.Output("grp_failed", p.Groups*p.MaskW)
	c.Connect(repeat.Pin("grp_failed"), c.Pin("grp_failed"))
	for name, width := range map[string]int{"cfg_rnr_timer": 5, "cfg_rnr": 1, "cfg_cnp": 1} {
		c.Input(name, width)
		c.Connect(c.Pin(name), answer.Pin(name))
	}
	c.Input("cfg_timeout", 16)
	c.Connect(c.Pin("cfg_timeout"), repeat.Pin("cfg_timeout"))
	c.Input("acks_valid", 1)
	c.Connect(c.Pin("acks_valid"), acks.Pin("init_valid"))
	c.Input("acks_group", max(p.EIW-p.EPW, 1))
	c.Connect(c.Pin("acks_group"), acks.Pin("init_group"))
	c.Output("acks_take", 1)
	c.Connect(acks.Pin("init_take"), c.Pin("acks_take"))
	c.Open(acks.Pin("init_waits"), "a memory of two ports has room for a start")
	return c.Build()
}

func tree() checkpipe.CheckPipe {
	return with(func(p *checkpipe.CheckPipe) { p.Tree, p.Planes = 1, 2 })
}

func lonely() checkpipe.CheckPipe {
	return at(decider.Decider{LenW: 8, WordsW: 3, Bytes: 32, EPW: 2, EIW: 2, MaskW: 3, SlotW: 4, Planes: 1, Groups: 1, PktW: 5, ICRC: 1,
		Counters: counters})
}

// counterNames are the counters that this model knows and these benches step; the others that it knows must not step. One that is added later
// is the scenarios' to check.
var (
	counterNames = []string{
		"RX_FRAMES", "BYPASS", "UP_DATA", "AGG", "BUFFERED", "WIPE", "TX_RESULT", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP",
		"TX_GAP_NAK", "TX_CNP", "IMM_MISMATCH", "DROP_FOREIGN", "DROP_GROUP_DISABLED", "DROP_ICRC", "DROP_BAD_LENGTH", "DROP_WRONG_ROLE",
		"DROP_SYNDROME", "DROP_GAP", "DROP_SHAPE", "DROP_STALE_ACK", "TX_ACK", "TX_RNR", "TX_RETRANSMIT", "TIMEOUT", "RX_DUPLICATE", "DOWN_TAKEN",
		"DROP_FULL",
	}
	neverStep = []string{
		"TX_FANOUT", "TX_RESEND", "TX_REFLECT", "TX_FRAMES", "DROP_RX_ERROR", "DROP_IP_CHECKSUM", "DROP_LENGTH_MISMATCH", "DROP_TVER",
		"DROP_OPCODE", "DROP_TOO_LONG", "DROP_STALE", "DROP_WINDOW", "ECC_CORRECTED", "ECC_DOUBLE", "RANGE_OPEN", "TX_ACK_COPY", "TX_ACK_UP",
		"TX_REACK", "DROP_RANGE", "DROP_BAD_CONTROL", "DROP_CONTROL",
	}
)

// allCounters are those of the mode, in the order of their bits.
var allCounters = contract.CounterNames(3)

// word is a slot's word as the module wrote it.
type word struct{ tag, mask, opcode, plen, pad, ext, complete, se, ce uint64 }

// bench is everything round the blocks: queues, slot words, and who takes work and frames.
type bench struct {
	*rig.Rig
	p        checkpipe.CheckPipe
	rng      *rand.Rand
	m        *model
	words    map[uint64]word
	readSlot int
	head     *frame   // at the head of LookupTable's queue
	waits    []*frame // taken from there and not decided, the oldest first
	start    uint64   // of the next frame's payload
	more     func() *frame
	rush     bool // all is ready, and verdicts are there
	counts   map[string]int
	sends    []send
	works    []work
	spec     *work
	popAt    []uint64
	kinds    map[string]int
	salt     uint64
	quiet    int
}

func newBench(t *testing.T, lib *sim.Lib, p checkpipe.CheckPipe, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), words: map[uint64]word{}, readSlot: -1, counts: map[string]int{},
		kinds: map[string]int{}, more: func() *frame { return nil }}
	b.m = &model{bytes: uint64(p.Bytes), tree: p.Tree != 0, halves: p.Halves != 0, epW: p.EPW, counts: map[string]int{}, fused: -1, rnr: true, timer: 1}
	for range p.Groups {
		b.m.groups = append(b.m.groups, &group{ends: make([]endpoint, p.MaskW)})
	}
	b.Set("cfg_timeout", 60)
	b.salt = b.rng.Uint64()
	return b
}

// draw gives a group random settings.
func (b *bench) draw(gi int) {
	g := b.m.groups[gi]
	all := uint64(1)<<b.p.MaskW - 1
	children := all
	if b.p.Tree != 0 && b.p.MaskW%2 != 0 {
		children >>= 1 // the last one has no pair
	}
	space := uint64(1) << b.p.SlotW / uint64(b.p.Groups)
	*g = group{in: 1 + b.rng.Uint64N(children), collective: []uint64{allReduce, allReduce, reduce, broadcast, barrier}[b.rng.IntN(5)],
		bigEndian: b.rng.IntN(2) == 0, dtype: 3 * b.rng.Uint64N(2), ends: make([]endpoint, b.p.MaskW)}
	if b.p.Halves != 0 {
		g.dtype = b.rng.Uint64N(4)
	}
	g.out = g.in
	if b.rng.IntN(3) == 0 {
		g.out = 1 + b.rng.Uint64N(all)
	}
	if g.collective == reduce || g.collective == broadcast || b.rng.IntN(2) == 0 {
		g.parent = 1 << b.rng.IntN(b.p.MaskW)
	}
	g.log2 = 1 + b.rng.Uint64N(4)
	for units := uint64(2); units<<g.log2 > space; {
		g.log2--
	}
	g.n = b.rng.Uint64N(1<<g.log2/2 + 1)
	g.base = uint64(gi)*space + b.rng.Uint64N(space-2<<g.log2+1)
	g.start = []uint64{b.rng.Uint64() & mask24, mask24 - b.rng.Uint64N(20)}[b.rng.IntN(2)]
}

// begin starts a group, endpoint by endpoint.
func (b *bench) begin(gi int) error {
	g := b.m.groups[gi]
	b.SetBool("tbl_grp_we", true)
	b.Set("tbl_index", uint64(gi))
	pipe := regs.Of("GROUP_PIPE")
	b.Set("tbl_word", uint64(pipe.Word()))
	b.Set("tbl_data", uint64(pipe.Put("n", g.n)))
	if err := b.cycle(); err != nil {
		return err
	}
	b.SetBool("tbl_grp_we", false)
	b.Set("init_psn", g.start)
	b.SetBool("acks_valid", true)
	b.Set("acks_group", uint64(gi))
	for taken := false; !taken; taken = b.Is("acks_take") {
		if err := b.cycle(); err != nil {
			return err
		}
	}
	b.SetBool("acks_valid", false)
	for e := range 1 << b.p.EPW {
		b.SetBool("init_valid", true)
		b.Set("init_ei", uint64(gi<<b.p.EPW|e))
		for taken := false; !taken; taken = b.Is("init_take") {
			if err := b.cycle(); err != nil {
				return err
			}
		}
	}
	b.SetBool("init_valid", false)
	g.begin()
	g.live = true
	return nil
}

// some is true one time of n, never in a rush.
func (b *bench) some(n int) bool { return !b.rush && b.rng.IntN(n) == 0 }

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// oldest is the frame that is decided next.
func (b *bench) oldest() *frame {
	if len(b.waits) > 0 {
		return b.waits[0]
	}
	return b.head
}

// expected is the PSN that an endpoint's data has next if all of its that is not decided yet is accepted.
func (b *bench) expected(gi, e int) uint64 {
	psn := b.m.groups[gi].ends[e].ePSN
	for _, f := range b.waits {
		if f.group == gi && f.endpoint == e && f.opcode <= 5 && f.psn == psn && f.icrcOK && f.whole && !f.bypass && !f.foreign {
			psn = next(psn)
		}
	}
	return psn
}

// drive shows the entry at the head of the queue and the verdict of the oldest frame, or nonsense where there is none.
func (b *bench) drive() {
	f := b.head
	entry := f != nil && f.entered >= f.entryWait
	b.SetBool("ent_valid", entry)
	if f == nil {
		f = &frame{}
	}
	g := b.m.groups[f.group]
	for name, v := range map[string]uint64{"bypass": bit(f.bypass), "foreign": bit(f.foreign), "ei": uint64(f.group<<b.p.EPW | f.endpoint), "host": bit(f.host),
		"up": bit(g.up(f.endpoint)), "down": bit(g.down(f.endpoint)), "sum_ok": 1, "len_ok": 1, "tver_ok": 1, "too_long": 0, "in_band": 0,
		"whole": bit(f.whole), "empty": bit(f.plen == 0), "opcode": f.opcode, "se": bit(f.se), "pad": 0, "ce": bit(f.ce), "psn": f.psn, "ext": f.ext,
		"plen": f.plen, "words": b.m.words(f.plen), "base": g.base, "log2_n": g.log2, "in_mask": g.in, "out_mask": g.out, "parent_mask": g.parent,
		"collective": g.collective, "function": 0, "dtype": g.dtype, "big_endian": bit(g.bigEndian)} {
		p := b.Pin("ent_" + name)
		if !entry {
			v = b.rng.Uint64() & (1<<p.Width() - 1)
		}
		p.SetUint64(v)
	}
	oldest := b.oldest()
	b.SetBool("vrd_valid", oldest != nil && oldest.ended >= oldest.verdictWait)
	if oldest == nil {
		oldest = &frame{}
	}
	b.SetBool("vrd_err", false)
	b.SetBool("vrd_len_ok", true)
	b.SetBool("vrd_icrc_ok", oldest.icrcOK)
	b.Set("vrd_end", (oldest.start+b.m.words(oldest.plen))%(1<<b.p.PktW))
	if b.readSlot >= 0 {
		w := b.words[uint64(b.readSlot)]
		for name, v := range map[string]uint64{"tag": w.tag, "mask": w.mask, "opcode": w.opcode, "plen": w.plen, "pad": w.pad, "ext": w.ext,
			"complete": w.complete, "se": w.se, "ce": w.ce} {
			b.Set("slot_"+name, v)
		}
		b.readSlot = -1
	}
	live := uint64(0)
	for i, g := range b.m.groups {
		live |= bit(g.live) << i
	}
	b.Set("grp_live", live)
	b.SetBool("cfg_rnr", b.m.rnr)
	b.SetBool("cfg_cnp", b.m.cnp)
	b.Set("cfg_rnr_timer", b.m.timer)
	b.SetBool("op_ready", !b.some(3))
	b.SetBool("tx_room", !b.some(3))
}

// cycle passes a clock, repeats in the model what the module says it did, and compares all that it does.
func (b *bench) cycle() error {
	if b.head == nil {
		if b.head = b.more(); b.head != nil {
			b.head.start = b.start
			b.start = (b.start + b.m.words(b.head.plen)) % (1 << b.p.PktW)
		}
	}
	b.drive()
	b.Clock()
	for i, name := range allCounters {
		switch {
		case b.Bytes("count")[i/8]>>(i%8)&1 == 0:
		case slices.Contains(counterNames, name):
			b.counts[name]++
		case slices.Contains(neverStep, name):
			return fmt.Errorf("counter %s steps", name)
		}
	}
	if b.Is("rd_en") {
		b.readSlot = int(b.Get("rd_slot"))
	}
	if b.Is("wr_en") {
		b.words[b.Get("wr_slot")] = word{b.Get("wr_tag"), b.Get("wr_mask"), b.Get("wr_opcode"), b.Get("wr_plen"), b.Get("wr_pad"), b.Get("wr_ext"),
			b.Get("wr_complete"), b.Get("wr_se"), b.Get("wr_ce")}
	}
	b.quiet++
	if err := b.work(); err != nil {
		return err
	}
	if b.Is("tx_valid") {
		if b.Get("tx_in_band") != 0 {
			return fmt.Errorf("a fixed group has offsets")
		}
		b.sends = append(b.sends, send{b.Get("tx_kind"), b.Get("tx_ei") >> b.p.EPW, b.Get("tx_mask"), b.Get("tx_opcode"), b.Get("tx_psn"), b.Get("tx_ext"),
			b.Get("tx_plen"), b.Get("tx_words"), b.Is("tx_se"), b.Is("tx_ce")})
	}
	if b.Is("mon_act_valid") {
		b.quiet = 0
		kind, ei := int(b.Get("mon_act_kind")), int(b.Get("mon_act_ei"))
		if kind == 0 {
			if b.m.fused >= 0 {
				return fmt.Errorf("cycle %d: a frame before the result of the one before is out", b.Now())
			}
			if !b.Is("vrd_valid") || len(b.waits) == 0 {
				return fmt.Errorf("cycle %d: decided without a verdict", b.Now())
			}
			b.m.decide(b.waits[0])
			b.popAt = append(b.popAt, b.Now())
		} else if err := b.m.act(kind, ei>>b.p.EPW, ei&(1<<b.p.EPW-1)); err != nil {
			return fmt.Errorf("cycle %d: %w", b.Now(), err)
		}
		b.kinds[fmt.Sprint("kind ", kind)]++
	}
	for i := range b.works {
		if i >= len(b.m.works) {
			return fmt.Errorf("cycle %d: work %+v, expected is none", b.Now(), b.works[i])
		}
		got := b.works[i]
		if !b.m.works[i].Placed {
			got.Pair = 0
		}
		got.Placed = b.m.works[i].Placed
		if !b.m.works[i].Reduce {
			got.Pairs = 0
		}
		if !b.m.works[i].Take {
			got.Start = 0
		}
		if d := cmp.Diff(b.m.works[i], got); d != "" {
			return fmt.Errorf("cycle %d: work (-want +got):\n%s", b.Now(), d)
		}
	}
	b.m.works, b.works = b.m.works[len(b.works):], b.works[:0]
	for i := range b.sends {
		if i >= len(b.m.sends) {
			return fmt.Errorf("cycle %d: sends %+v, expected is nothing", b.Now(), b.sends[i])
		}
		if d := cmp.Diff(b.m.sends[i], b.sends[i]); d != "" {
			return fmt.Errorf("cycle %d: send (-want +got):\n%s", b.Now(), d)
		}
	}
	b.m.sends, b.sends = b.m.sends[len(b.sends):], b.sends[:0]
	if b.head != nil {
		b.head.entered++
		b.head.ended++
	}
	for _, f := range b.waits {
		f.ended++
	}
	if b.Is("vrd_pop") != (b.Is("mon_act_valid") && b.Get("mon_act_kind") == 0) {
		return fmt.Errorf("cycle %d: the monitor does not show what was decided", b.Now())
	}
	if b.Is("vrd_pop") {
		b.waits = b.waits[1:]
	}
	if b.Is("ent_pop") {
		b.waits = append(b.waits, b.head)
		b.head = nil
	}
	return nil
}

// work notes what is given to the payload, and that it is committed or killed once.
func (b *bench) work() error {
	if b.Is("op_commit") || b.Is("op_kill") {
		if b.spec == nil || b.Is("op_commit") && b.Is("op_kill") {
			return fmt.Errorf("cycle %d: a commit or kill of nothing", b.Now())
		}
		if b.Is("op_commit") {
			b.works = append(b.works, *b.spec)
		} else {
			b.kinds["killed"]++
		}
		b.spec = nil
	}
	if !b.Is("op_valid") {
		return nil
	}
	w := work{Start: b.Get("op_start"), Words: b.Get("op_words"), Slot: b.Get("op_slot"), DType: b.Get("op_dtype"), Pairs: b.Get("op_pairs"), Read: b.Is("op_read"),
		Take: b.Is("op_take"), Write: b.Is("op_write"), Emit: b.Is("op_emit"), Reduce: b.Is("op_reduce"), BigEndian: b.Is("op_big_endian"),
		Pair: b.Get("op_pair")}
	switch {
	case !b.Is("op_ready") || b.spec != nil:
		return fmt.Errorf("cycle %d: work that cannot be taken", b.Now())
	case b.Is("op_spec"):
		b.spec = &w
		b.kinds["speculative"]++
	default:
		b.works = append(b.works, w)
	}
	return nil
}

// shape is what a PSN's payload looks like, so that contributions agree.
func (b *bench) shape(g *group, psn uint64) (opcode, plen, ext uint64) {
	r := rand.New(rand.NewPCG(b.salt, psn))
	opcode, plen = r.Uint64N(6), 4*r.Uint64N(uint64(4*b.p.Bytes)/4+1)
	if opcode == 3 || opcode == 5 {
		ext = r.Uint64N(1 << 32)
	}
	if g.collective == barrier {
		plen = 0
	}
	return opcode, plen, ext
}

// frame is a random one, mostly one that something comes of.
func (b *bench) frame() *frame {
	f := &frame{group: b.rng.IntN(b.p.Groups), endpoint: b.rng.IntN(b.p.MaskW), icrcOK: b.rng.IntN(15) > 0, whole: b.rng.IntN(30) > 0,
		bypass: b.rng.IntN(20) == 0, foreign: b.rng.IntN(40) == 0, host: b.rng.IntN(2) == 0, se: b.rng.IntN(20) == 0, ce: b.rng.IntN(4) == 0}
	if !b.rush {
		f.entryWait = b.rng.IntN(3)
		f.verdictWait = f.entryWait + b.rng.IntN(12)*b.rng.IntN(2) + 40*(b.rng.IntN(8)/7)
	}
	g := b.m.groups[f.group]
	e := &g.ends[f.endpoint]
	if g.pipeTo(f.endpoint) >= 0 && b.rng.IntN(2) == 0 || b.rng.IntN(30) == 0 {
		f.opcode = 0x11
		syndrome := []uint64{0x1F, 0x1F, 0x1F, 0x1F, 0x1F, 0x00, 0x60, 0x60, 0x21, 0x22}[b.rng.IntN(10)]
		if b.rng.IntN(60) == 0 {
			syndrome = b.rng.Uint64N(256)
		}
		f.psn = (e.nextUnacked + b.rng.Uint64N(4) - 1) & mask24
		if b.rng.IntN(3) == 0 {
			f.psn = prev(e.beyond)
		}
		f.ext = syndrome<<24 | b.rng.Uint64N(1<<24)
		return f
	}
	if b.rng.IntN(60) == 0 {
		f.opcode = 0x81
		return f
	}
	f.psn = b.expected(f.group, f.endpoint)
	if b.rng.IntN(6) == 0 {
		f.psn = (f.psn + b.rng.Uint64N(6) - 3) & mask24
	}
	f.opcode, f.plen, f.ext = b.shape(g, f.psn)
	switch b.rng.IntN(60) {
	case 0:
		f.opcode ^= 1
	case 1:
		f.ext ^= 4
	}
	return f
}

// idle passes cycles until nothing has happened for a while; no frame comes meanwhile.
func (b *bench) idle() error {
	b.more = func() *frame { return nil }
	for b.quiet = 0; b.quiet < 60 || b.oldest() != nil; {
		if err := b.cycle(); err != nil {
			return err
		}
	}
	if len(b.m.sends)+len(b.m.works) > 0 || b.spec != nil {
		return fmt.Errorf("left undone: %+v, %+v", b.m.sends, b.m.works)
	}
	for gi, g := range b.m.groups {
		for p := range g.pipes {
			if g.live && g.pipes[p].sent != g.limit(p) && g.keep(p) != 0 {
				return fmt.Errorf("group %d, pipe %d can send and does not: %+v", gi, p, g.pipes[p])
			}
		}
		for e := range g.ends {
			if s, p := &g.ends[e], g.pipeTo(e); g.live && p >= 0 && !s.waits && !s.failed && s.sendNext != g.pipes[p].sent {
				return fmt.Errorf("group %d, endpoint %d lags and nothing is sent: %+v", gi, e, *s)
			}
		}
	}
	for n := 0; n < 200 || b.quiet < 2; n++ { // slots freed are counted one a cycle, and everything a cycle late
		if err := b.cycle(); err != nil {
			return err
		}
	}
	if d := cmp.Diff(b.m.counts, b.counts); d != "" {
		return fmt.Errorf("counters (-want +got):\n%s", d)
	}
	return nil
}

// TestRandom: random frames and whatever the module does by itself, repeated by a model in the order that the monitor tells; groups of all
// collectives, of any number of slots, restarted in between.
func TestRandom(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkpipe.CheckPipe{"in place": mini(), "tree": tree(), "one group": lonely()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, trio{p})
			met := map[string]int{}
			for seed := range uint64(8) {
				b := newBench(t, lib, p, seed)
				b.rush = seed%4 == 3
				for range 5 {
					for gi, g := range b.m.groups {
						if b.rng.IntN(3) > 0 || g.pipes[0].slots == nil {
							g.live = false
							b.more = b.frame
							for range 100 {
								require.NoError(t, b.cycle(), "seed %d", seed)
							}
							require.NoError(t, b.idle())
							b.draw(gi)
							require.NoError(t, b.begin(gi), "seed %d", seed)
						}
					}
					b.m.rnr, b.m.cnp, b.m.timer = b.rng.IntN(4) > 0, b.rng.IntN(2) == 0, 1+b.rng.Uint64N(3)
					b.Set("cfg_timeout", 20+b.rng.Uint64N(100))
					b.more = b.frame
					for range 4000 {
						require.NoError(t, b.cycle(), "seed %d", seed)
					}
					b.Set("cfg_timeout", 60000)
					require.NoError(t, b.idle(), "seed %d", seed)
				}
				for n, c := range b.counts {
					met[n] += c
				}
				for n, c := range b.kinds {
					met[n] += c
				}
			}
			for _, n := range counterNames {
				if n != "BYPASS" {
					require.Greater(t, met[n], 10, n)
				}
			}
			for _, n := range []string{"kind 0", "kind 1", "kind 2", "kind 3", "kind 4", "killed", "speculative"} {
				require.Greater(t, met[n], 10, n)
			}
		})
	}
}

// TestTiming: the cycles that the head of the file states; a frame of a fixed group takes no more in an engine that has in-band groups too.
func TestTiming(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkpipe.CheckPipe{"fixed": mini(), "in-band": with(func(p *checkpipe.CheckPipe) { p.InBand = 1 })} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing(t, p)
		})
	}
}

func timing(t *testing.T, p checkpipe.CheckPipe) {
	lib := rig.Lib(t, trio{p})
	calm := func(members uint64) *bench {
		b := newBench(t, lib, p, 1)
		b.rush = true
		b.Set("cfg_timeout", 60000)
		g := b.m.groups[0]
		*g = group{base: 4, log2: 3, in: members, out: members, start: mask24 - 1, ends: make([]endpoint, 5), dtype: 3}
		require.NoError(t, b.begin(0))
		return b
	}
	data := func(b *bench, e int) func() *frame {
		return func() *frame {
			return &frame{endpoint: e, icrcOK: true, whole: true, opcode: 4, psn: b.expected(0, e), plen: 16}
		}
	}
	ack := func(e int, psn uint64) func() *frame {
		return func() *frame {
			return &frame{endpoint: e, icrcOK: true, whole: true, opcode: 0x11, psn: psn & mask24, ext: 0x1F << 24}
		}
	}
	bypassed := func() *frame { return &frame{bypass: true} }
	play := func(b *bench, frames ...func() *frame) []uint64 {
		n := 0
		b.more = func() *frame {
			if n == len(frames) {
				return nil
			}
			n++
			return frames[n-1]()
		}
		b.popAt = nil
		for len(b.popAt) < len(frames) {
			require.NoError(t, b.cycle())
			require.Less(t, b.Now(), uint64(2000))
		}
		gaps := make([]uint64, len(frames)-1)
		for i := range gaps {
			gaps[i] = b.popAt[i+1] - b.popAt[i]
		}
		return gaps
	}

	t.Run("frames", func(t *testing.T) {
		b := calm(0b111)
		// data, whether it completes its slot or not, and acknowledgements, whether they move the start or not: 2 cycles each; bypassed
		// ones leave the steps behind them empty
		const first, second = mask24 - 1, mask24
		gaps := play(b, data(b, 0), data(b, 1), data(b, 2), data(b, 0), data(b, 1), data(b, 2), ack(1, first), ack(1, second), ack(0, second),
			ack(2, second), bypassed, bypassed, data(b, 2))
		require.Equal(t, []uint64{2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 4}, gaps)
		require.NoError(t, b.idle())
		require.Equal(t, 4, b.counts["WIPE"])
	})
	t.Run("verdicts", func(t *testing.T) {
		for wait := range 9 {
			b := calm(0b11)
			play(b, data(b, 0))
			require.NoError(t, b.cycle())
			begun := b.Now()
			play(b, func() *frame { f := data(b, 1)(); f.verdictWait = wait; return f })
			require.Equal(t, begun+1+uint64(max(wait, 6)), b.popAt[0], "a verdict after %d cycles", wait)
		}
	})
	t.Run("actions", func(t *testing.T) {
		// 0 lags after a NAK of everything: what it gets again goes out in turn with frames, one each
		b := calm(0b1)
		play(b, data(b, 0), data(b, 0), data(b, 0), data(b, 0))
		nak := func() *frame {
			return &frame{endpoint: 0, icrcOK: true, whole: true, opcode: 0x11, psn: mask24 - 1, ext: 0x60 << 24}
		}
		frames := []func() *frame{nak}
		foreign := func() *frame { return &frame{foreign: true} }
		for range 10 {
			frames = append(frames, foreign)
		}
		gaps := play(b, frames...)
		require.Equal(t, 4, b.kinds["kind 2"])
		// one frame passes the first action on its way; then they take turns: 5 cycles, and 2 to begin, and a frame 2
		require.Equal(t, []uint64{2, 10, 9, 9, 9, 2, 2, 2, 2, 2}, gaps)
		require.NoError(t, b.idle())
	})
	t.Run("a frame that does not end", func(t *testing.T) {
		// its speculative work is killed, and what lags is sent
		b := calm(0b1)
		play(b, data(b, 0), data(b, 0))
		play(b, func() *frame {
			return &frame{endpoint: 0, icrcOK: true, whole: true, opcode: 0x11, psn: mask24 - 1, ext: 0x60 << 24}
		})
		b.Set("cfg_timeout", 10)
		b.more = func() *frame { f := data(b, 0)(); f.verdictWait = 1000; return f }
		for range 900 {
			require.NoError(t, b.cycle())
		}
		require.Equal(t, 2, b.kinds["kind 2"])
		require.Zero(t, b.counts["TIMEOUT"], "the time-out was set before")
		b.more = func() *frame { return nil }
		require.NoError(t, b.idle())
	})
}
