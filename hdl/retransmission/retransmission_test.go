// SPDX-License-Identifier: Apache-2.0

package retransmission_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/retransmission"
	"incforge/sim"
)

func several() retransmission.Retransmission {
	return retransmission.Retransmission{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, ClockMHz: 3}
}

func single() retransmission.Retransmission {
	return retransmission.Retransmission{EPW: 2, EIW: 2, MaskW: 4, Groups: 1, ClockMHz: 1}
}

// behind writes a cycle behind a commit.
func behind(p retransmission.Retransmission) retransmission.Retransmission {
	p.Behind = 1
	return p
}

const mask24 = 1<<24 - 1

// ahead is how far b is ahead of a, serially.
func ahead(a, b uint64) int { return int(int32(uint32(b-a)<<8) >> 8) }

// side is an endpoint's send side as docs/pipes.md has it: who lags follows from it.
type side struct {
	nextUnacked, sendNext, beyond uint64 // beyond is maxSent + 1
	waits, failed                 bool
	backOff                       int
	deadline                      uint64 // microsecond
}

func (s *side) outstanding() bool { return s.nextUnacked != s.beyond }

// entry is one that stands in the queue.
type entry struct {
	pipe bool
	ei   int
}

// group is a group's state.
type group struct {
	live  bool
	out   [2]uint64 // of the pipes, disjoint
	sent  [2]uint64 // S
	limit [2]uint64
	sides []side
}

// shown is what the ports show of a look; what has no meaning is 0.
type shown struct {
	Keep, One                  uint64
	Stale, Progress            bool
	MayOne, Again, Out, Resume bool
}

// bench holds the module against that, action by action.
type bench struct {
	*rig.Rig
	p       retransmission.Retransmission
	rng     *rand.Rand
	begun   uint64
	timeout uint64
	groups  []*group
	queue   []entry
	met     map[string]int
	again   bool // now and then looks in the cycle of a commit
	idle    int  // cycles in which the queue had somebody and nothing was offered
}

func newBench(t *testing.T, lib *sim.Lib, p retransmission.Retransmission, seed uint64) *bench {
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), met: map[string]int{}}
	b.begun = b.Now()
	for range p.Groups {
		b.groups = append(b.groups, &group{sides: make([]side, 1<<p.EPW)})
	}
	return b
}

// us is the microsecond of the cycle that was clocked last.
func (b *bench) us() uint64 { return (b.Now() - b.begun - 1) / uint64(b.p.ClockMHz) }

// lags tells whether an endpoint of a pipe lags.
func (g *group) lags(pipe, e int) bool {
	s := &g.sides[e]
	return s.waits || s.failed || s.sendNext != g.sent[pipe]
}

func (g *group) keep(pipe int) (mask uint64) {
	for e := range g.sides {
		if g.out[pipe]>>e&1 != 0 && !g.lags(pipe, e) {
			mask |= 1 << e
		}
	}
	return mask
}

// pipeOf is the pipe that an endpoint hears from.
func (g *group) pipeOf(e int) int {
	if g.out[0]>>e&1 != 0 {
		return 0
	}
	return 1
}

func (b *bench) clear() {
	for _, name := range []string{"we", "ack", "send", "one", "timeout", "resume", "open", "drop", "data", "more"} {
		b.SetBool("cm_"+name, false)
	}
	b.SetBool("act_done", false)
	b.SetBool("rt_rd", false)
}

// clock passes a cycle and sees to it that what is offered is the queue's first, and offered soon.
func (b *bench) clock() error {
	live := uint64(0)
	failed := uint64(0)
	for i, g := range b.groups {
		if g.live {
			live |= 1 << i
		}
		for e := range b.p.MaskW {
			if g.sides[e].failed {
				failed |= 1 << (i*b.p.MaskW + e)
			}
		}
	}
	b.Set("grp_live", live)
	b.Set("cfg_timeout", b.timeout)
	b.Clock()
	if got := b.Get("grp_failed"); got != failed {
		return fmt.Errorf("grp_failed is %#x, expected %#x", got, failed)
	}
	if b.Is("act_valid") && !b.Is("act_timer") {
		got := entry{b.Is("act_pipe"), int(b.Get("act_ei"))}
		if len(b.queue) == 0 || b.queue[0] != got {
			return fmt.Errorf("cycle %d: offered is %v, the queue is %v", b.Now(), got, b.queue)
		}
	}
	if len(b.queue) > 0 && !b.Is("act_soon") {
		return fmt.Errorf("cycle %d: act_soon is low while %v stand in the queue", b.Now(), b.queue)
	}
	if b.Is("act_valid") && !b.Is("act_soon") {
		return fmt.Errorf("cycle %d: act_soon is low with an offer", b.Now())
	}
	if b.Is("act_valid") || len(b.queue) == 0 {
		b.idle = 0
	} else if b.idle++; b.idle > 4 {
		return fmt.Errorf("cycle %d: nothing offered of %v", b.Now(), b.queue)
	}
	return nil
}

// ack is an acknowledgement.
type ack struct {
	psn                 uint64
	isAck, isNak, isRNR bool
	code                uint64
}

var rnrTimes = [32]uint64{655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360,
	20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520}

// look reads an endpoint, or a pipe if e is negative, and checks what is shown; a is what an acknowledgement would be.
func (b *bench) look(gi, pipe, e int, a ack) error {
	ei := gi<<b.p.EPW | max(e, pipe*min(e+1, 0)*-1)
	if e < 0 {
		ei = gi<<b.p.EPW | pipe
	}
	b.clear()
	b.SetBool("rt_rd", true)
	b.Set("rt_ei", uint64(ei))
	if err := b.clock(); err != nil {
		return err
	}
	return b.see(gi, pipe, e, a)
}

// see checks what is shown of a look that was clocked.
func (b *bench) see(gi, pipe, e int, a ack) error {
	g := b.groups[gi]
	b.SetBool("rt_rd", false)
	b.Set("rt_out", g.out[pipe])
	b.Set("rt_pipe", uint64(pipe))
	b.Set("rt_sent", g.sent[pipe])
	last, next := (a.psn-1)&mask24, a.psn
	if a.isAck {
		last, next = a.psn, (a.psn+1)&mask24
	}
	b.Set("rt_last", last)
	b.Set("rt_next", next)
	b.SetBool("rt_is_ack", a.isAck)
	b.SetBool("rt_is_nak", a.isNak)
	b.SetBool("rt_is_rnr", a.isRNR)
	b.Set("rt_code", a.code)
	want := shown{Keep: g.keep(pipe)}
	b.Set("rt_self", 0)
	if e >= 0 {
		s := &g.sides[e]
		b.Set("rt_self", 1<<e)
		b.Set("rt_acked", (s.nextUnacked-1)&mask24)
		gain := ahead(s.nextUnacked, next)
		want.Stale = gain < 0 || gain == 0 && a.isAck || ahead(s.beyond, next) > 0
		want.Progress = gain > 0 && (a.isAck || a.isNak || a.isRNR)
		if g.out[pipe]>>e&1 != 0 && g.lags(pipe, e) && !s.waits && !s.failed {
			want.One, want.MayOne, want.Again = s.sendNext, true, ahead(s.sendNext, s.beyond) > 0
		}
	}
	if err := b.clock(); err != nil {
		return err
	}
	if e >= 0 {
		s := &g.sides[e]
		want.Out = s.outstanding() && !s.waits && !s.failed && b.us() >= s.deadline
		want.Resume = s.waits && b.us() >= s.deadline
	}
	got := shown{Keep: b.Get("rt_keep")}
	if want.MayOne {
		got.One = b.Get("rt_one_psn")
	}
	if err := b.clock(); err != nil {
		return err
	}
	if e >= 0 {
		got.Stale, got.Progress = b.Is("rt_stale"), b.Is("rt_progress")
		if got.MayOne = b.Is("rt_one"); got.MayOne {
			got.Again = b.Is("rt_again")
		}
		got.Out, got.Resume = b.Is("rt_timeout"), b.Is("rt_resume")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("cycle %d, group %d pipe %d endpoint %d of %+v, %+v (-want +got):\n%s", b.Now(), gi, pipe, e, g, a, diff)
	}
	return nil
}

// join lets one stand in the queue, unless it does.
func (b *bench) join(en entry) {
	if !slices.Contains(b.queue, en) {
		b.queue = append(b.queue, en)
	}
}

// commit clocks the commits that were set, done with the offer or not, and lets those who want to send stand in the queue.
func (b *bench) commit(gi, pipe, e int, changed bool) error {
	g := b.groups[gi]
	if g.live && changed {
		if g.sent[pipe] != g.limit[pipe] && g.keep(pipe) != 0 {
			b.join(entry{true, gi<<b.p.EPW | pipe})
		}
		if e >= 0 {
			if s := &g.sides[e]; g.lags(pipe, e) && !s.waits && !s.failed {
				b.join(entry{false, gi<<b.p.EPW | e})
			}
		}
	}
	b.SetBool("cm_more", g.sent[pipe] != g.limit[pipe])
	b.idle = -1
	live := uint64(0)
	for i, h := range b.groups {
		if h.live {
			live |= 1 << i
		}
	}
	b.Set("grp_live", live)
	b.SetBool("cm_we", true)
	next := b.rng.IntN(b.p.MaskW)
	if e >= 0 && b.rng.IntN(2) == 0 {
		next = e
	}
	look := b.again && g.live && g.out[g.pipeOf(next)]>>next&1 != 0 && b.rng.IntN(2) == 0
	if look {
		b.SetBool("rt_rd", true)
		b.Set("rt_ei", uint64(gi<<b.p.EPW|next))
	}
	b.Clock()
	b.clear()
	if look {
		b.met["looked at while written"]++
		return b.see(gi, g.pipeOf(next), next, ack{})
	}
	if b.again && g.live && g.out[g.pipeOf(next)]>>next&1 != 0 && b.rng.IntN(2) == 0 {
		b.met["looked at behind a commit"]++
		return b.look(gi, g.pipeOf(next), next, ack{})
	}
	return b.clock() // an endpoint joins a cycle later
}

// act takes what is offered.
func (b *bench) act() error {
	ei, timer, whole := int(b.Get("act_ei")), b.Is("act_timer"), b.Is("act_pipe")
	gi, e := ei>>b.p.EPW, ei&(1<<b.p.EPW-1)
	g := b.groups[gi]
	pipe := g.pipeOf(e)
	if whole && !timer {
		pipe, e = e, -1
	}
	if err := b.look(gi, pipe, e, ack{}); err != nil {
		return err
	}
	for range b.rng.IntN(3) { // waits for room
		if err := b.clock(); err != nil {
			return err
		}
	}
	if !timer {
		b.queue = b.queue[1:]
	}
	b.SetBool("act_done", true)
	changed := g.live
	switch {
	case !g.live:
		b.met["dead"]++
	case timer:
		s := &g.sides[e]
		switch {
		case b.Is("rt_timeout"):
			b.SetBool("cm_timeout", true)
			s.sendNext = s.nextUnacked
			s.backOff = min(s.backOff+1, 3)
			s.deadline = b.soon() + b.period()<<s.backOff
			b.met[fmt.Sprintf("time-out, back-off %d", s.backOff)]++
		case b.Is("rt_resume"):
			b.SetBool("cm_resume", true)
			s.waits, s.sendNext = false, s.nextUnacked
			s.deadline = b.soon() + b.period()<<s.backOff
			b.met["resume"]++
		default:
			changed = false
			b.met["out of date"]++
		}
	case whole:
		if keep := g.keep(pipe); keep != 0 && g.sent[pipe] != g.limit[pipe] {
			b.SetBool("cm_send", true)
			b.send(g, pipe, keep)
			b.met[fmt.Sprintf("send to %d", bits.OnesCount64(keep))]++
		} else {
			b.SetBool("cm_drop", true)
			b.met["a pipe for nothing"]++
		}
	case g.out[0]&(1<<e) == 0 && g.out[1]&(1<<e) == 0 || !b.Is("rt_one"):
		b.SetBool("cm_drop", true)
		changed = true
		b.met["an endpoint for nothing"]++
	default:
		b.SetBool("cm_one", true)
		s := &g.sides[e]
		if !s.outstanding() {
			s.deadline = b.soon() + b.period()
		}
		s.sendNext = (s.sendNext + 1) & mask24
		if ahead(s.beyond, s.sendNext) > 0 {
			s.beyond = s.sendNext
		}
		b.met["send one"]++
		if s.sendNext == g.sent[pipe] {
			b.met["caught up"]++
		}
	}
	return b.commit(gi, pipe, e, changed)
}

// send sends a pipe's next to those who keep up.
func (b *bench) send(g *group, pipe int, keep uint64) {
	g.sent[pipe] = (g.sent[pipe] + 1) & mask24
	for e := range g.sides {
		if keep>>e&1 != 0 {
			s := &g.sides[e]
			if !s.outstanding() {
				s.deadline = b.soon() + b.period()
			}
			s.sendNext, s.beyond = g.sent[pipe], g.sent[pipe]
		}
	}
}

// soon is the microsecond after that of the cycle which comes next.
func (b *bench) soon() uint64 { return (b.Now()-b.begun)/uint64(b.p.ClockMHz) + 1 }

func (b *bench) period() uint64 { return max(b.timeout, 1) }

// acknowledge lets an endpoint answer something.
func (b *bench) acknowledge(gi, pipe, e int, a ack) error {
	g := b.groups[gi]
	s := &g.sides[e]
	if err := b.look(gi, pipe, e, a); err != nil {
		return err
	}
	if b.Is("rt_stale") {
		b.met["stale"]++
		return nil
	}
	b.SetBool("cm_ack", true)
	if b.again && b.rng.IntN(8) == 0 {
		b.met["not committed"]++
		return b.clock()
	}
	next := a.psn
	if a.isAck {
		next = (next + 1) & mask24
	}
	again := ahead(next, s.beyond) > 0
	switch gain := ahead(s.nextUnacked, next); {
	case !a.isAck && !a.isNak && !a.isRNR:
		s.failed = true
		b.met["failed"]++
	default:
		if gain > 0 {
			s.nextUnacked, s.backOff = next, 0
			if ahead(s.sendNext, next) > 0 {
				s.sendNext = next
			}
			if !s.waits {
				s.deadline = b.soon() + b.period()
			}
			b.met["progress"]++
		}
		if a.isNak && again && !s.waits {
			s.sendNext = next
			b.met["back"]++
		}
		if a.isRNR && again {
			s.waits, s.deadline = true, b.soon()+rnrTimes[a.code]
			b.met["waits"]++
		}
	}
	return b.commit(gi, pipe, e, true)
}

// data lets something become complete in a pipe, which is sent at once if it can.
func (b *bench) data(gi, pipe int) error {
	g := b.groups[gi]
	if err := b.look(gi, pipe, -1, ack{}); err != nil {
		return err
	}
	b.SetBool("cm_data", true)
	keep := g.keep(pipe)
	fused := g.sent[pipe] == g.limit[pipe] && keep != 0
	g.limit[pipe] = (g.limit[pipe] + 1) & mask24
	if fused {
		b.SetBool("cm_send", true)
		b.send(g, pipe, keep)
		b.met["sent at once"]++
	}
	return b.commit(gi, pipe, -1, true)
}

// begin makes all of a group's endpoints begin at psn.
func (g *group) begin(psn uint64, forgets bool) {
	g.sent, g.limit = [2]uint64{psn, psn}, [2]uint64{psn, psn}
	for e := range g.sides {
		g.sides[e] = side{nextUnacked: psn, sendNext: psn, beyond: psn, failed: g.sides[e].failed && !forgets}
	}
}

// open opens a range, if the group is drained when everything that was sent is acknowledged.
func (b *bench) open(gi int) error {
	g := b.groups[gi]
	for pipe := range g.out {
		for e := range b.p.MaskW {
			if s := &g.sides[e]; g.out[pipe]>>e&1 != 0 && s.outstanding() {
				if err := b.acknowledge(gi, pipe, e, ack{psn: (s.beyond - 1) & mask24, isAck: true}); err != nil {
					return err
				}
			}
		}
	}
	for range 50 { // with the shortest times there may be no end
		if b.Is("act_valid") {
			if err := b.act(); err != nil {
				return err
			}
		}
	}
	for pipe := range g.out {
		for e := range g.sides {
			if g.sent[pipe] != g.limit[pipe] || g.out[pipe]>>e&1 != 0 && g.sides[e].nextUnacked != g.sent[pipe] {
				return nil
			}
		}
	}
	if err := b.look(gi, 1, -1, ack{}); err != nil {
		return err
	}
	b.SetBool("cm_open", true)
	// behind all that was sent of the range before
	last := g.sent[1]
	if ahead := (g.sent[0] - last) & mask24; ahead < 1<<23 {
		last = g.sent[0]
	}
	psn := (last + b.rng.Uint64N(5)) & mask24
	g.begin(psn, false)
	b.met["open"]++
	return b.commit(gi, 1, -1, false)
}

// start starts a group, which waits until the queue has none of its own; others go on meanwhile.
func (b *bench) start(gi int) error {
	g := b.groups[gi]
	g.live = false
	all := uint64(1)<<b.p.MaskW - 1
	b.clear()
	b.SetBool("init_valid", true)
	b.Set("init_ei", uint64(gi<<b.p.EPW))
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
	for _, en := range b.queue {
		if en.ei>>b.p.EPW == gi {
			return fmt.Errorf("group %d starts while %v stands in the queue", gi, en)
		}
	}
	for e := range 1 << b.p.EPW {
		b.SetBool("init_we", true)
		b.Set("init_ei", uint64(gi<<b.p.EPW|e))
		if err := b.clock(); err != nil {
			return err
		}
		g.begin(0, true)
	}
	b.SetBool("init_we", false)
	b.SetBool("init_valid", false)
	g.out[0] = 0
	if b.rng.IntN(2) == 0 {
		g.out[0] = 1 << b.rng.IntN(b.p.MaskW)
	}
	g.out[1] = b.rng.Uint64() & all &^ g.out[0]
	g.begin([]uint64{mask24 - 5, b.rng.Uint64() & mask24}[b.rng.IntN(2)], true)
	g.live = true
	return b.clock()
}

// step does something.
func (b *bench) step() error {
	gi := b.rng.IntN(b.p.Groups)
	g := b.groups[gi]
	pipe := b.rng.IntN(2)
	switch n := b.rng.IntN(100); {
	case b.Is("act_valid") && n < 40:
		return b.act()
	case n < 60:
		if ahead(g.sides[max(bits.TrailingZeros64(g.out[pipe])&7, 0)%len(g.sides)].nextUnacked, g.limit[pipe]) > 6 {
			return b.clock()
		}
		return b.data(gi, pipe)
	case n < 97:
		e := b.rng.IntN(b.p.MaskW)
		if pipe = g.pipeOf(e); g.out[pipe]>>e&1 == 0 {
			return b.clock()
		}
		s := &g.sides[e]
		a := ack{psn: (s.nextUnacked + b.rng.Uint64N(4) + mask24) & mask24}
		switch b.rng.IntN(40) {
		default:
			a.isAck = true
		case 0, 1, 2, 3, 4, 5, 6, 7:
			a.isNak = true
		case 8, 9, 10, 11, 12:
			a.isRNR, a.code = true, 1+b.rng.Uint64N(3)
			if b.rng.IntN(8) == 0 {
				a.code = b.rng.Uint64N(32)
			}
		case 13:
			if b.rng.IntN(5) > 0 {
				a.isAck = true
			}
		}
		return b.acknowledge(gi, pipe, e, a)
	case n == 97 && b.rng.IntN(8) == 0:
		return b.start(gi)
	case n == 98:
		b.timeout = b.rng.Uint64N(30)
		return b.clock()
	default:
		return b.open(gi)
	}
}

// TestRandom: everything in any order, against send sides as docs/pipes.md has them and a queue that is a list.
func TestRandom(t *testing.T) {
	t.Parallel()
	for _, p := range []retransmission.Retransmission{single(), several(), behind(single()), behind(several())} {
		lib := rig.Lib(t, p)
		met := map[string]int{}
		for seed := range uint64(8) {
			b := newBench(t, lib, p, seed)
			b.met, b.again = met, true
			b.timeout = 5
			for gi := range b.groups {
				require.NoError(t, b.start(gi))
			}
			for range 8000 {
				require.NoError(t, b.step(), "seed %d", seed)
			}
		}
		for _, what := range []string{"send to 1", "send to 2", "send one", "caught up", "sent at once", "resume", "time-out, back-off 1", "time-out, back-off 2",
			"time-out, back-off 3", "out of date", "failed", "stale", "progress", "back", "waits", "open", "dead", "a pipe for nothing",
			"an endpoint for nothing", "looked at while written", "looked at behind a commit", "not committed"} {
			require.Greater(t, met[what], 10, what)
		}
	}
}

// drain takes what is offered until nobody stands in the queue.
func (b *bench) drain() error {
	for len(b.queue) > 0 {
		next := b.clock
		if b.Is("act_valid") {
			next = b.act
		}
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// TestTimers: a timer is found up no earlier than its time, and no later than a microsecond and a walk after it; every RNR code of up to 5 ms.
func TestTimers(t *testing.T) {
	t.Parallel()
	for _, p := range []retransmission.Retransmission{several(), behind(several())} {
		timers(t, p)
	}
}

func timers(t *testing.T, p retransmission.Retransmission) {
	lib := rig.Lib(t, p)
	late := uint64(0)
	wait := func(b *bench, want uint64, from uint64) {
		for !b.Is("act_valid") {
			require.NoError(t, b.clock())
			require.Less(t, b.Now()-from, want*uint64(p.ClockMHz)+2000)
		}
		require.True(t, b.Is("act_timer"))
		passed := b.Now() - from
		require.GreaterOrEqual(t, passed, want*uint64(p.ClockMHz), "%d microseconds", want)
		// the offer is a register, and the walk reads a memory into one, which is written a cycle later with BEHIND
		require.LessOrEqual(t, passed, (want+1)*uint64(p.ClockMHz)+uint64(p.WalkCycles()+p.Behind)+3, "%d microseconds", want)
		late = max(late, passed-want*uint64(p.ClockMHz))
	}
	for seed := range uint64(4) {
		b := newBench(t, lib, p, seed)
		for gi := range b.groups {
			require.NoError(t, b.start(gi))
		}
		g := b.groups[2]
		g.out = [2]uint64{0, 1 << 3}
		for _, timeout := range []uint64{0, 1, 2, 7, 100} {
			b.timeout = timeout
			require.NoError(t, b.data(2, 1))
			from := b.Now() - 1
			for _, n := range []uint64{1, 2, 4, 8, 8} { // the first time, then the back-off's
				wait(b, max(timeout, 1)*n, from)
				require.NoError(t, b.act())
				from = b.Now() - 1
				require.NoError(t, b.drain())
			}
			require.NoError(t, b.acknowledge(2, 1, 3, ack{psn: (g.sent[1] - 1) & mask24, isAck: true}))
		}
		for code := uint64(1); code < 19; code++ {
			require.NoError(t, b.data(2, 1))
			psn := (g.sent[1] - 1) & mask24
			require.NoError(t, b.acknowledge(2, 1, 3, ack{psn: psn, isRNR: true, code: code}))
			wait(b, rnrTimes[code], b.Now()-1)
			require.NoError(t, b.act())
			require.NoError(t, b.drain())
			require.NoError(t, b.acknowledge(2, 1, 3, ack{psn: psn, isAck: true}))
		}
	}
	require.Greater(t, late, uint64(p.WalkCycles())/2, "nothing came late: the bound is not tried")
}

// TestFairness: of all that want to send each gets its turn, one packet each.
func TestFairness(t *testing.T) {
	t.Parallel()
	p := several()
	b := newBench(t, rig.Lib(t, p), p, 1)
	b.timeout = 60000
	for gi := range b.groups {
		require.NoError(t, b.start(gi))
	}
	for gi, g := range b.groups {
		g.out = [2]uint64{1, 0b11110}
		for range 4 {
			require.NoError(t, b.data(gi, 0))
			require.NoError(t, b.data(gi, 1))
		}
		for e := range 5 { // all but the second lag
			if e != 1 {
				require.NoError(t, b.acknowledge(gi, g.pipeOf(e), e, ack{psn: g.sides[e].nextUnacked, isNak: true}))
			}
		}
		g.limit[1] = (g.limit[1] + 9) & mask24 // a root that had no room till now
		require.NoError(t, b.acknowledge(gi, 1, 1, ack{psn: g.sides[1].nextUnacked, isAck: true}))
	}
	require.Len(t, b.queue, 15) // the laggards of each group and the pipe of the one that keeps up
	for round := range 4 {
		turn := map[entry]bool{}
		for range 15 {
			for !b.Is("act_valid") {
				require.NoError(t, b.clock())
			}
			turn[entry{b.Is("act_pipe"), int(b.Get("act_ei"))}] = true
			require.NoError(t, b.act())
		}
		require.Len(t, turn, 15, "round %d", round)
	}
}
