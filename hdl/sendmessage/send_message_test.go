// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/sendmessage"
	"incforge/sim"
)

func several() sendmessage.SendMessage {
	return sendmessage.SendMessage{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, ClockMHz: 3, Bytes: 8, LenW: 11, WordsW: 8, OffW: 13, UnitW: 8, UnitBytes: 256}
}

func single() sendmessage.SendMessage {
	return sendmessage.SendMessage{EPW: 2, EIW: 2, MaskW: 4, Groups: 1, ClockMHz: 1, Bytes: 16, LenW: 11, WordsW: 7, OffW: 12, UnitW: 6, UnitBytes: 512}
}

// words of the register map: the bench writes what the module reads.
const (
	wordSQ  = 11
	wordMTU = 12
)

// bench holds the module against the model, job by job.
type bench struct {
	*rig.Rig
	p       sendmessage.SendMessage
	rng     *rand.Rand
	begun   uint64
	timeout uint64
	groups  []*group
	met     map[string]int
	sent    []packet
	acts    []packet // all actions of a job; of time-outs and ends of waits Kind and End alone
	asked   []uint64
	reads   int
	// of the last job: cycles from its pulse to its end, and how it ended
	took         int
	stale, moved bool
	told         bool // with Release: a release was acknowledged
	message      uint64
	// what begins in the last cycle of a job, and that it has begun
	next     *following
	follows  bool
	answered int // answers since the last look
}

// following is a job that begins in the last cycle of another: its pulse, and whose it is.
type following struct {
	pulse string
	ei    uint64
}

func newBench(t *testing.T, lib *sim.Lib, p sendmessage.SendMessage, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 7)), met: map[string]int{}, timeout: 20}
	b.begun = b.Now()
	for range p.Groups {
		b.groups = append(b.groups, newGroup(p.MaskW))
	}
	return b
}

// us is the microsecond of the cycle that was clocked last.
func (b *bench) us() uint64 { return (b.Now() - b.begun - 1) / uint64(b.p.ClockMHz) }

// tick passes a cycle with what is always driven.
func (b *bench) tick() {
	live := uint64(0)
	for i, g := range b.groups {
		if g.live {
			live |= 1 << i
		}
	}
	b.Set("grp_live", live)
	b.Set("cfg_timeout", b.timeout)
	b.Clock()
}

// clock passes a cycle in which no job is under way.
func (b *bench) clock() error {
	b.tick()
	for _, name := range []string{"snd_done", "snd_acts", "snd_tx_valid", "snd_work_put", "msg_rd"} {
		if b.Is(name) {
			return fmt.Errorf("cycle %d: %s without a job", b.Now(), name)
		}
	}
	failed := uint64(0)
	for i, g := range b.groups {
		for e := range g.ends {
			if g.ends[e].failed {
				failed |= 1 << (i*b.p.MaskW + e)
			}
		}
	}
	if got := b.Get("grp_failed"); got != failed {
		return fmt.Errorf("cycle %d: grp_failed is %#x, expected %#x", b.Now(), got, failed)
	}
	return b.stands()
}

// stands holds what is shown of a pool, as long as it is, against the model.
func (b *bench) stands() error {
	if !b.Is("see_there") || !b.Is("see_ok") {
		return nil
	}
	ei := int(b.Get("see_ei"))
	g, pool := b.groups[ei>>b.p.EPW], ei&1
	seen := place{psn: b.Get("see_psn"), message: b.Get("see_msg"), offset: int(b.Get("see_pos")) * b.p.UnitBytes}
	keeps := g.keepsUp(pool)
	if !g.live || seen != g.s[pool] || b.Get("see_keep") != keeps || b.Is("see_full") != (keeps == g.outs[pool]) {
		return fmt.Errorf("cycle %d: %+v, %#x stands of a pool with %+v, %#x", b.Now(), seen, b.Get("see_keep"), g.s[pool], keeps)
	}
	if b.answered > 0 {
		b.met["seen before an answer"]++
	}
	return nil
}

// finish passes cycles until the job is done, answers what it asks of messages, and notes what it does.
func (b *bench) finish(g *group, pool int, pulse string) error {
	b.sent, b.acts, b.asked, b.reads = nil, nil, nil, 0
	b.SetBool(pulse, !b.follows)
	room := b.rng.IntN(3) > 0 // mostly always
	wait, waited := -1, 0
	for cycle := int(bit(b.follows)); ; cycle++ {
		if b.next != nil && cycle > 0 {
			if b.Settle(); b.Is("snd_done") {
				b.Set("snd_ei", b.next.ei)
				b.SetBool(b.next.pulse, true)
			}
		}
		b.SetBool("snd_room", room || b.rng.IntN(3) == 0)
		b.SetBool("msg_valid", wait == 0)
		b.tick()
		b.SetBool(pulse, false)
		wait--
		if b.Is("msg_rd") {
			number := b.Get("msg_number")
			m, ok := g.texts[pool][number]
			if !ok {
				return fmt.Errorf("cycle %d: message %#x of pool %d is asked for, there is none", b.Now(), number, pool)
			}
			if number == g.limit[pool] { // nobody knows yet
				m.length, m.se, m.hasImm = b.rng.IntN(1<<(b.p.OffW-1)+1), b.rng.IntN(2) == 0, b.rng.IntN(2) == 0
			}
			b.Set("msg_length", uint64(m.length))
			b.SetBool("msg_se", m.se)
			b.SetBool("msg_has_imm", m.hasImm)
			b.Set("msg_imm", m.imm)
			b.SetBool("msg_ce", m.ce)
			b.Set("msg_unit", uint64(m.unit))
			wait = b.rng.IntN(4)
			waited += wait + 1
			b.reads++
		}
		b.collect()
		if next := b.Is("snd_done") && (pulse == "snd_ack" || pulse == "snd_fuse"); b.Is("snd_next") != next {
			return fmt.Errorf("cycle %d: snd_next of %s is %t", b.Now(), pulse, !next)
		}
		if b.Is("snd_done") {
			b.took = cycle
			if lanes := b.p.MaskW; pulse == "snd_act" && room && cycle > 4+3*lanes+waited+2*b.reads {
				return fmt.Errorf("cycle %d: a turn took %d cycles", b.Now(), cycle)
			}
			if limit := 3 + waited + 2*b.reads; pulse == "snd_note" && room && cycle != limit {
				return fmt.Errorf("cycle %d: news took %d cycles, not %d", b.Now(), cycle, limit)
			}
			if b.follows = b.next != nil; b.follows {
				b.SetBool(b.next.pulse, false)
				b.next = nil
			}
			b.SetBool("msg_valid", false)
			b.stale, b.moved, b.message = b.Is("snd_stale"), b.Is("snd_moved"), b.Get("snd_message")
			b.told = b.p.Release != 0 && b.Is("rel_told")
			b.Settle() // what is offered next stands behind the job's last cycle
			return nil
		}
		if cycle > 2000 {
			return fmt.Errorf("cycle %d: %s has no end", b.Now(), pulse)
		}
	}
}

// collect notes what the module does in a cycle.
func (b *bench) collect() {
	if b.Is("snd_acts") {
		b.acts = append(b.acts, packet{Kind: int(b.Get("snd_kind")), End: int(b.Get("snd_act_ei")), Again: b.Is("snd_again")})
	}
	if !b.Is("snd_tx_valid") {
		return
	}
	p := packet{To: b.Get("snd_tx_mask"), Op: b.Get("snd_tx_opcode"), PSN: b.Get("snd_tx_psn"), Imm: b.Get("snd_tx_ext"), Ask: b.Get("snd_tx_ask"),
		SE: b.Is("snd_tx_se"), CE: b.Is("snd_tx_ce"), Pad: int(b.Get("snd_tx_pad")), Size: int(b.Get("snd_tx_plen")),
		Kind: int(b.Get("snd_kind")), End: int(b.Get("snd_act_ei")), Again: b.Is("snd_again")}
	words := (p.Size + b.p.Bytes - 1) / b.p.Bytes
	if int(b.Get("snd_tx_words")) != words || b.Is("snd_work_put") != (words > 0) || words > 0 && int(b.Get("snd_work_words")) != words {
		p.Size = -words // shows as another size
	}
	if words > 0 {
		p.Unit = int(b.Get("snd_work_unit"))
	}
	b.sent = append(b.sent, p)
}

// context drives what stands still in a job.
func (b *bench) context(gi, pool, e int, ei uint64) {
	g := b.groups[gi]
	b.Set("snd_ei", ei)
	b.Set("snd_self", 0)
	if e >= 0 {
		b.Set("snd_self", 1<<e)
	}
	b.Set("snd_pipe", uint64(pool))
	b.Set("ctx_outs", g.outs[pool])
	b.Set("ctx_limit", g.limit[pool])
	b.Set("ctx_open", uint64(g.open[pool]))
	b.SetBool("ctx_wide", g.wide)
}

// period is how long an endpoint's timer takes, from the microsecond that a job began in, to the one it ended in and one more.
func (b *bench) run(s *sender, from, period uint64) {
	s.soon, s.late = from+period, b.us()+2+period
}

func (b *bench) period() uint64 { return max(b.timeout, 1) }

// more lets messages of a pool become complete, or some of the next.
func (b *bench) more(gi, pool int) error {
	g := b.groups[gi]
	most, unit := 1<<(b.p.OffW-1), b.p.UnitBytes
	for range b.rng.IntN(3) {
		if g.open[pool] == most { // what comes next is too long, and refused
			break
		}
		if _, ok := g.texts[pool][g.limit[pool]]; !ok {
			g.texts[pool][g.limit[pool]] = randomText(b.rng, most, 1<<b.p.UnitW-2*most/unit)
		}
		g.limit[pool], g.open[pool] = add24(g.limit[pool], 1), 0
	}
	m, ok := g.texts[pool][g.limit[pool]]
	if !ok {
		m = randomText(b.rng, most, 1<<b.p.UnitW-2*most/unit)
		g.texts[pool][g.limit[pool]] = m
	}
	if units := max(m.length-1, 0) / unit; b.rng.IntN(2) == 0 && units > g.open[pool]/unit {
		g.open[pool] += unit * (1 + b.rng.IntN(units-g.open[pool]/unit))
		b.met["of a message that is not complete"]++
	}
	if b.rng.IntN(100) == 0 {
		g.open[pool] = most
		b.met["of a message that cannot be completed"]++
	}
	if !g.strays(pool) && b.rng.IntN(2) == 0 {
		if err := b.look(gi, pool); err != nil {
			return err
		}
	}
	from := b.us()
	b.context(gi, pool, -1, uint64(gi<<b.p.EPW|pool))
	if err := b.finish(g, pool, "snd_note"); err != nil {
		return err
	}
	var want []packet
	if !g.strays(pool) { // who all go along are sent to at once
		want = b.poolTurn(gi, pool, gi<<b.p.EPW|pool)
		b.starts(g, want, from)
	}
	if diff := cmp.Diff(want, b.sent); diff != "" {
		return fmt.Errorf("cycle %d: news of group %d, pool %d of %+v (-want +got):\n%s", b.Now(), gi, pool, g, diff)
	}
	if len(b.acts) != len(want) || b.stale || b.moved {
		return fmt.Errorf("cycle %d: news does something else", b.Now())
	}
	b.met[fmt.Sprintf("news, %d sent", len(want))]++
	return nil
}

// look looks at a pool of which all go along. If a complete message's last packet is there and nothing behind it, or the next one within a message that
// is not complete comes now, another block makes it.
func (b *bench) look(gi, pool int) error {
	g := b.groups[gi]
	at, keeps := g.s[pool], g.keepsUp(pool)
	b.context(gi, pool, -1, uint64(gi<<b.p.EPW|pool))
	if err := b.finish(g, pool, "snd_look"); err != nil {
		return err
	}
	b.answered = 0
	if b.took != 3 || !b.Is("see_there") || b.acts != nil || b.sent != nil || b.Is("see_ok") != (keeps != 0) {
		return fmt.Errorf("cycle %d: a look took %d cycles, %v, sees somebody: %t, %#x", b.Now(), b.took, b.acts, b.Is("see_ok"), keeps)
	}
	if keeps == 0 {
		return nil
	}
	seen := place{psn: b.Get("see_psn"), message: b.Get("see_msg"), offset: int(b.Get("see_pos")) * b.p.UnitBytes}
	mtu := g.mtu[bits.TrailingZeros64(g.outs[pool])]
	if seen != at || b.Get("see_keep") != keeps || b.p.UnitBytes<<b.Get("see_code") != mtu {
		return fmt.Errorf("cycle %d: a look sees %+v, %#x, not %+v, %#x", b.Now(), seen, b.Get("see_keep"), at, keeps)
	}
	b.met["a look"]++
	for b.rng.IntN(3) == 0 {
		if err := b.replies(gi); err != nil {
			return err
		}
	}
	if err := b.clock(); err != nil || !b.Is("see_there") {
		return err
	}
	if beyond := at.offset + mtu; at.message == g.limit[pool] && at.offset >= g.open[pool] && beyond < g.texts[pool][at.message].length {
		b.met["a packet within a message made elsewhere"]++
		g.open[pool] = beyond // with the bytes that it brought
		return b.made(gi, pool, false)
	}
	if add24(at.message, 1) != g.limit[pool] || g.open[pool] > 0 {
		return nil
	}
	if _, last := g.cut(pool, at, mtu); !last {
		return nil
	}
	return b.made(gi, pool, true)
}

// made has another block make a pool's packet, its message's last or one within it, which is a job later. An answer may follow in the cycle in which that ends.
func (b *bench) made(gi, pool int, last bool) error {
	g := b.groups[gi]
	from := b.us()
	b.starts(g, b.poolTurn(gi, pool, gi<<b.p.EPW|pool), from)
	b.met["a packet made elsewhere"]++
	b.SetBool("snd_moves", true)
	b.SetBool("snd_ends", last)
	b.tick()
	b.SetBool("snd_moves", false)
	b.SetBool("snd_ended", last)
	if err := b.clock(); err != nil {
		return err
	}
	b.context(gi, pool, -1, uint64(gi<<b.p.EPW|pool))
	e, a, next := b.drawAnswer(gi)
	if next {
		b.next = &following{"snd_ack", uint64(gi<<b.p.EPW | e)}
	}
	if err := b.finish(g, pool, "snd_fuse"); err != nil {
		return err
	}
	if b.took != 4 || b.acts != nil || b.sent != nil || b.stale || b.moved {
		return fmt.Errorf("cycle %d: what was made elsewhere took %d cycles, %v, %v", b.Now(), b.took, b.acts, b.sent)
	}
	if next {
		b.met["an answer in the last cycle of a packet"]++
		return b.reply(gi, e, a)
	}
	return nil
}

// drawAnswer draws an answer of somebody in a group, if there is somebody who hears.
func (b *bench) drawAnswer(gi int) (e int, a answer, ok bool) {
	g := b.groups[gi]
	e = b.rng.IntN(b.p.MaskW)
	if !g.live || !g.hears(e) {
		return e, a, false
	}
	s := &g.ends[e]
	sent := ahead(s.unacked.psn, s.beyond.psn)
	a = answer{psn: add24(s.unacked.psn, b.rng.IntN(sent+4)-2), code: 1 + b.rng.Uint64N(3)}
	switch b.rng.IntN(80) {
	default:
		a.isAck = true
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14:
		a.isNak = true
	case 15, 16, 17, 18, 19:
		a.isRNR = true
	case 20:
	}
	return e, a, true
}

// replies lets one or two endpoints answer something, the second in the cycle in which the first's job ends.
func (b *bench) replies(gi int) error {
	e, a, ok := b.drawAnswer(gi)
	if !ok {
		return b.clock()
	}
	second := b.rng.IntN(b.p.Groups)
	e2, a2, next := b.drawAnswer(second)
	if next = next && (second != gi || e2 != e) && b.rng.IntN(2) == 0; next {
		b.next = &following{"snd_ack", uint64(second<<b.p.EPW | e2)}
		b.met["an answer in the last cycle of another"]++
	}
	if err := b.reply(gi, e, a); err != nil || !next {
		return err
	}
	return b.reply(second, e2, a2)
}

// short is the cycles of an endpoint's job that sends nothing and passes no message's end.
func (g *group) short(e int) int {
	if g.hears(e) && g.goesAlong(e) {
		return 3
	}
	return 5
}

// reply lets an endpoint answer something.
func (b *bench) reply(gi, e int, a answer) error {
	g := b.groups[gi]
	pool, s := g.poolOf(e), &g.ends[e]
	from := b.us()
	b.context(gi, pool, e, uint64(gi<<b.p.EPW|e))
	next := a.psn
	if a.isAck {
		next = add24(next, 1)
	}
	b.Set("snd_psn", (next+g.sq[e]+g.gone[e])&mask24)
	b.SetBool("snd_is_ack", a.isAck)
	b.SetBool("snd_is_nak", a.isNak)
	b.SetBool("snd_is_rnr", a.isRNR)
	b.Set("snd_code", a.code)
	if err := b.finish(g, pool, "snd_ack"); err != nil {
		return err
	}
	b.answered++
	limit, moved := g.short(e), 0
	fresh := s.fresh(a)
	packets := ahead(s.unacked.psn, next)
	moves := fresh && packets > 0 && (a.isAck || a.isNak || a.isRNR)
	if !fresh {
		b.met["stale"]++
	} else {
		before := s.unacked
		b.take(g, pool, s, a, next, packets, from)
		// in another message, and in its end or just behind that, nothing more is looked at
		if moved = ahead(before.message, s.unacked.message); moves && s.unacked.offset == 0 {
			moved--
		}
		limit += 3 * max(moved, 0)
	}
	if b.took != limit {
		return fmt.Errorf("cycle %d: an answer that passes the ends of %d messages took %d cycles, not %d", b.Now(), moved, b.took, limit)
	}
	if len(b.acts) > 0 || len(b.sent) > 0 || b.stale == fresh || b.moved != moves || moves && b.message != s.unacked.message {
		return fmt.Errorf("cycle %d: group %d, endpoint %d, %+v: stale %t (fresh %t), moved %t (%t) to message %#x (%#x), acts %v", b.Now(), gi, e, a,
			b.stale, fresh, b.moved, moves, b.message, s.unacked.message, b.acts)
	}
	return nil
}

// take is what a fresh answer does (docs/termination.md section 5).
func (b *bench) take(g *group, pool int, s *sender, a answer, next uint64, packets int, from uint64) {
	if !a.isAck && !a.isNak && !a.isRNR {
		s.failed = true
		b.met["failed"]++
		return
	}
	again := ahead(next, s.beyond.psn) > 0
	if packets > 0 {
		b.met["progress"]++
		before := s.unacked.message
		for range packets {
			s.unacked = g.behind(pool, s.unacked, g.mtu[g.index(s)])
		}
		if ahead(before, s.unacked.message) > 1 {
			b.met["over several messages"]++
		}
		if s.unacked.offset > 0 {
			b.met["into a message"]++
		}
		if ahead(s.next.psn, next) > 0 {
			s.next = s.unacked
		}
		s.backOff = 0
		if !s.waits {
			b.run(s, from, b.period())
		}
	}
	switch {
	case a.isNak && again && !s.waits:
		s.next = s.unacked
		b.met["back"]++
	case a.isRNR && again:
		s.waits, s.next = true, s.unacked
		b.run(s, from, rnrTimes[a.code])
		b.met["waits"]++
	}
}

var rnrTimes = [...]uint64{655360, 10, 20, 30}

func (g *group) index(s *sender) int {
	for e := range g.ends {
		if &g.ends[e] == s {
			return e
		}
	}
	return -1
}

// act takes what is offered.
func (b *bench) act() error {
	ei, timer, whole := int(b.Get("act_ei")), b.Is("act_timer"), b.Is("act_pipe")
	gi, e := ei>>b.p.EPW, ei&(1<<b.p.EPW-1)
	g := b.groups[gi]
	pool := g.poolOf(e)
	if whole && !timer {
		pool, e = e, -1
	}
	from := b.us()
	b.context(gi, pool, e, uint64(ei))
	if err := b.finish(g, pool, "snd_act"); err != nil {
		return err
	}
	if timer {
		return b.timerTurn(gi, e, from)
	}
	var want []packet
	switch {
	case !g.live:
		b.met["dead"]++
	case whole:
		want = b.poolTurn(gi, pool, ei)
	case g.lags(e):
		want = []packet{g.send(pool, g.ends[e].next, 1<<e, 2, ei, b.p.UnitBytes)}
		b.met[fmt.Sprintf("send one, along %t, again %t", g.goesAlong(e), want[0].Again)]++
	default:
		b.met["an endpoint for nothing"]++
	}
	if diff := cmp.Diff(want, b.sent); diff != "" {
		return fmt.Errorf("cycle %d: group %d, pool %d, endpoint %d of %+v (-want +got):\n%s", b.Now(), gi, pool, e, g, diff)
	}
	if len(b.acts) != len(want) {
		return fmt.Errorf("cycle %d: %d packets, actions %v", b.Now(), len(want), b.acts)
	}
	b.starts(g, want, from)
	return nil
}

// starts has the timers run of those that had nothing outstanding before these packets.
func (b *bench) starts(g *group, sent []packet, from uint64) {
	for _, p := range sent {
		for i := range g.ends {
			if s := &g.ends[i]; p.To>>i&1 != 0 && ahead(s.unacked.psn, s.beyond.psn) == 1 && !p.Again {
				b.run(s, from, b.period()<<s.backOff)
			}
		}
	}
}

// poolTurn is what a pool's turn sends: a packet to those who go along, and one to each that goes alone and keeps up.
func (b *bench) poolTurn(gi, pool, ei int) (want []packet) {
	g := b.groups[gi]
	along, alone := g.keep(pool)
	if along == 0 && alone == 0 {
		b.met["a pool for nothing"]++
	}
	if along != 0 {
		at := g.s[pool]
		want = append(want, g.send(pool, at, along, 1, ei, b.p.UnitBytes))
		g.s[pool] = g.behind(pool, at, g.mtu[bits.TrailingZeros64(along)])
		b.met[fmt.Sprintf("send to %d", bits.OnesCount64(along))]++
	}
	for e := range g.ends {
		if alone>>e&1 != 0 {
			want = append(want, g.send(pool, g.ends[e].next, 1<<e, 2, gi<<b.p.EPW|e, b.p.UnitBytes))
			b.met["send to one that goes alone"]++
		}
	}
	return want
}

// timerTurn checks a time-out, or the end of a wait.
func (b *bench) timerTurn(gi, e int, from uint64) error {
	g := b.groups[gi]
	s := &g.ends[e]
	runs := g.live && (s.waits || !s.failed && s.outstanding())
	if len(b.acts) == 0 {
		b.met["out of date"]++
		if runs && from >= s.late {
			return fmt.Errorf("cycle %d: group %d, endpoint %d: nothing at %d microseconds, due at %d", b.Now(), gi, e, from, s.late)
		}
		return nil
	}
	kind := 3
	if s.waits {
		kind = 4
	}
	if got := b.acts[0]; len(b.acts) != 1 || len(b.sent) > 0 || !runs || b.us() < s.soon || got.Kind != kind || got.End != gi<<b.p.EPW|e || got.Again {
		return fmt.Errorf("cycle %d: group %d, endpoint %d, %+v: %v at %d microseconds", b.Now(), gi, e, s, b.acts, b.us())
	}
	s.next = s.unacked
	if kind == 3 {
		s.backOff = min(s.backOff+1, 3)
		b.met[fmt.Sprintf("time-out, back-off %d", s.backOff)]++
	} else {
		s.waits = false
		b.met["resume"]++
	}
	b.run(s, from, b.period()<<s.backOff)
	return nil
}

// start starts a group, which waits until the queue has none of its own; others go on meanwhile.
func (b *bench) start(gi int) error {
	g := b.groups[gi]
	g.live = false
	g.wide = b.rng.IntN(2) == 0
	all := uint64(1)<<b.p.MaskW - 1
	g.outs[0] = 0
	if b.rng.IntN(2) == 0 {
		g.outs[0] = 1 << b.rng.IntN(b.p.MaskW)
	}
	g.outs[1] = (b.rng.Uint64() | b.rng.Uint64()) & all &^ g.outs[0]
	sizes := []int{512, 1024} // of path MTUs
	if b.p.UnitBytes == 256 {
		sizes = append(sizes, 256)
	}
	same := b.rng.IntN(3) == 0
	for e := range g.ends {
		if g.mtu[e] = sizes[b.rng.IntN(len(sizes))]; same {
			g.mtu[e] = g.mtu[0]
		}
		if g.sq[e] = b.rng.Uint64() & mask24; b.rng.IntN(2) == 0 {
			g.sq[e] = mask24 - b.rng.Uint64N(20)
		}
		for word, v := range map[int]uint64{wordSQ: g.sq[e], wordMTU: uint64(g.mtu[e])} {
			b.SetBool("tbl_ep_we", true)
			b.Set("tbl_index", uint64(gi<<b.p.EPW|e))
			b.Set("tbl_word", uint64(word))
			b.Set("tbl_data", v)
			if err := b.clock(); err != nil {
				return err
			}
			b.SetBool("tbl_ep_we", false)
		}
	}
	b.SetBool("init_valid", true)
	b.Set("init_ei", uint64(gi<<b.p.EPW))
	first := []uint64{mask24 - 5, b.rng.Uint64() & mask24}[b.rng.IntN(2)]
	b.Set("init_psn", first)
	for {
		if err := b.clock(); err != nil {
			return err
		}
		if b.Is("init_clean") {
			break
		}
		if b.Is("act_valid") {
			if err := b.act(); err != nil {
				return err
			}
		}
	}
	return b.init(gi, first)
}

// init writes a group's state, an endpoint at a time, and sees the offsets of its PSNs written.
func (b *bench) init(gi int, first uint64) error {
	g := b.groups[gi]
	for e := range 1 << b.p.EPW {
		b.Set("init_ei", uint64(gi<<b.p.EPW|e))
		b.SetBool("init_we", true)
		b.tick()
		b.SetBool("init_we", false)
		b.tick()
		if !b.Is("off_we") || int(b.Get("off_ei")) != gi<<b.p.EPW|e || e < b.p.MaskW && (b.Get("off_in") != g.sq[e] || b.Get("off_out") != g.sq[e]) {
			return fmt.Errorf("cycle %d: offset of endpoint %d: %t, %#x", b.Now(), e, b.Is("off_we"), b.Get("off_out"))
		}
	}
	b.SetBool("init_valid", false)
	g.begin(first)
	g.live = true
	return b.clock()
}

// step does something.
func (b *bench) step() error {
	gi := b.rng.IntN(b.p.Groups)
	g := b.groups[gi]
	pool := b.rng.IntN(2)
	switch n := b.rng.IntN(200); {
	case b.Is("act_valid") && n < 110:
		return b.act()
	case n < 130:
		if !g.live || ahead(g.start(pool), g.limit[pool]) > 3 {
			return b.clock()
		}
		return b.more(gi, pool)
	case n < 196:
		return b.replies(gi)
	case n == 196 && b.rng.IntN(10) == 0:
		return b.start(gi)
	case n == 197:
		b.timeout = 5 + b.rng.Uint64N(200)
		return b.clock()
	default:
		return b.clock()
	}
}

// drain takes what is offered until nothing is, and checks that nothing is left to do.
func (b *bench) drain() error {
	b.timeout = 60000
	for idle := 0; idle < 20; idle++ {
		if b.Is("act_valid") {
			idle = 0
			if err := b.act(); err != nil {
				return err
			}
		}
		if err := b.clock(); err != nil {
			return err
		}
	}
	for i, g := range b.groups {
		for pool := range 2 {
			along, alone := g.keep(pool)
			if g.live && (along != 0 || alone != 0) {
				return fmt.Errorf("cycle %d: group %d pool %d rests, though it may send to %#x and %#x of %+v", b.Now(), i, pool, along, alone, g)
			}
		}
		for e := range g.ends {
			if g.live && g.lags(e) {
				return fmt.Errorf("cycle %d: group %d rests, though endpoint %d lags: %+v", b.Now(), i, e, g)
			}
		}
	}
	return nil
}

// TestRandom: everything in any order, against send sides that walk packet by packet through their messages.
func TestRandom(t *testing.T) {
	t.Parallel()
	for _, p := range []sendmessage.SendMessage{single(), several()} {
		lib := rig.Lib(t, p)
		met := map[string]int{}
		for seed := range uint64(12) {
			b := newBench(t, lib, p, seed)
			b.met = met
			for gi := range b.groups {
				require.NoError(t, b.start(gi))
			}
			for i := range 4000 {
				require.NoError(t, b.step(), "seed %d", seed)
				if i%400 == 399 {
					require.NoError(t, b.drain(), "seed %d", seed)
				}
			}
		}
		for _, what := range []string{"send to 1", "send to 2", "send to one that goes alone", "send one, along true, again true", "send one, along false, again true",
			"send one, along true, again false", "resume", "time-out, back-off 1", "time-out, back-off 2", "time-out, back-off 3", "out of date", "failed", "stale",
			"progress", "over several messages", "into a message", "back", "waits", "of a message that is not complete",
			"of a message that cannot be completed", "a pool for nothing", "an endpoint for nothing", "news, 0 sent", "news, 1 sent", "a look", "a packet made elsewhere",
			"an answer in the last cycle of a packet", "an answer in the last cycle of another", "seen before an answer"} {
			require.Greater(t, met[what], 10, what)
		}
	}
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
