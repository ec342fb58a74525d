// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
)

// through tells whether a group has been sent, and has acknowledged, all that there is.
func (g *group) through() bool {
	for e := range g.ends {
		if s := &g.ends[e]; s.unacked.psn != s.beyond.psn || s.next != s.beyond || g.hears(e) && s.unacked.message != g.limit[g.poolOf(e)] {
			return false
		}
	}
	return g.open == [2]int{}
}

// settle has a group's endpoints acknowledge all that they get, until nothing is left or one of them does not go on.
func (b *bench) settle(gi int) error {
	g := b.groups[gi]
	b.timeout = 60000
	for range 4000 {
		if g.through() {
			return nil
		}
		for e := range g.ends {
			s := &g.ends[e]
			if sent := ahead(s.unacked.psn, s.beyond.psn); g.hears(e) && sent > 0 {
				if err := b.reply(gi, e, answer{psn: add24(s.unacked.psn, sent-1), isAck: true}); err != nil {
					return err
				}
			}
		}
		step := b.clock
		if b.Is("act_valid") {
			step = b.act
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// open begins a range in which others hear: all count from the highest number on, and on the wire they go on where they are.
func (b *bench) open(gi int, number uint64) error {
	g := b.groups[gi]
	first := g.limit[0]
	if ahead(first, g.limit[1]) > 0 {
		first = g.limit[1]
	}
	top := g.s[0].psn
	if ahead(top, g.s[1].psn) > 0 {
		top = g.s[1].psn
	}
	for e := range g.ends {
		if at := g.ends[e].beyond.psn; ahead(top, at) > 0 {
			top = at
		}
	}
	all := uint64(1)<<b.p.MaskW - 1
	g.outs = [2]uint64{1 << b.rng.IntN(b.p.MaskW), 0}
	if g.outs[1] = b.rng.Uint64() & all &^ g.outs[0]; b.rng.IntN(3) == 0 {
		g.outs[0] = 0
	}
	at := place{psn: top, message: first}
	for p := range 2 {
		g.s[p], g.limit[p], g.texts[p] = at, first, map[uint64]text{}
	}
	if b.p.Release != 0 {
		b.Set("rel_rng", number&3)
	} else {
		b.Set("open_rng", number&3)
	}
	for e := range g.ends {
		s := &g.ends[e]
		ei := gi<<b.p.EPW | e
		b.context(gi, 0, -1, uint64(ei))
		if err := b.finish(g, 0, "snd_open"); err != nil {
			return err
		}
		if b.took != 5 || b.sent != nil || b.acts != nil || b.stale || b.moved {
			return fmt.Errorf("cycle %d: a range took endpoint %d %d cycles, sent %v, acts %v", b.Now(), e, b.took, b.sent, b.acts)
		}
		if g.gone[e] = (g.gone[e] + s.beyond.psn - top) & mask24; s.beyond.psn != top {
			b.met["counts jump"]++
		}
		*s = sender{unacked: at, next: at, beyond: at, failed: s.failed, silent: s.silent}
		b.tick()
		if base := (g.sq[e] + g.gone[e]) & mask24; !b.Is("off_we") || b.Get("off_ei") != uint64(ei) || b.Get("off_rng") != number&3 || b.Get("off_in") != base || b.Get("off_out") != base {
			return fmt.Errorf("cycle %d: offset of endpoint %d in range %d is %t, %#x, not %#x", b.Now(), e, number, b.Is("off_we"), b.Get("off_out"), base)
		}
	}
	b.met["a range"]++
	return b.clock()
}

// owe begins the release of a range: every endpoint has its turn, and some are owed one, which is sent alone, under the PSN behind what the endpoint was sent, and
// acknowledged. Its PSNs on the wire are one further from then on.
func (b *bench) owe(gi int, number uint64) error {
	g := b.groups[gi]
	b.Set("rel_rng", number&3)
	for e := range g.ends {
		s, ei := &g.ends[e], uint64(gi<<b.p.EPW|e)
		owes := !s.mute() && b.rng.IntN(2) == 0
		b.SetBool("rel_owes", owes)
		b.context(gi, g.poolOf(e), -1, ei)
		b.Set("snd_self", 1<<e)
		if err := b.finish(g, g.poolOf(e), "snd_owe"); err != nil {
			return err
		}
		if b.took != g.short(e) || b.sent != nil || b.acts != nil || b.moved {
			return fmt.Errorf("cycle %d: a release took endpoint %d %d cycles, sent %v, acts %v", b.Now(), e, b.took, b.sent, b.acts)
		}
		if b.tick(); owes {
			g.gone[e] = (g.gone[e] + 1) & mask24
			b.met["a release"]++
		}
		if base := (g.sq[e] + g.gone[e]) & mask24; !b.Is("off_we") || b.Get("off_ei") != ei || b.Get("off_rng") != number&3 || b.Get("off_in") != base || b.Get("off_out") != base {
			return fmt.Errorf("cycle %d: offset of endpoint %d behind a release is %t, %#x, not %#x", b.Now(), e, b.Is("off_we"), b.Get("off_out"), base)
		}
		if !owes {
			continue
		}
		if err := b.release(gi, e); err != nil {
			return err
		}
	}
	b.SetBool("rel_owes", false)
	return nil
}

// release has an endpoint sent what it is owed, when its turn comes, and has it acknowledge that.
func (b *bench) release(gi, e int) error {
	g, ei := b.groups[gi], uint64(gi<<b.p.EPW|e)
	s, pool := &g.ends[e], g.poolOf(e)
	last := (s.unacked.psn - 1) & mask24
	b.SetBool("rel_sent", false)
	for wait := 0; !b.Is("act_valid") || b.Is("act_timer") || b.Is("act_pipe") || b.Get("act_ei") != ei; wait++ {
		if wait > 2000 {
			return fmt.Errorf("cycle %d: endpoint %d, which is owed a release, has no turn", b.Now(), e)
		}
		step := b.clock
		if b.Is("act_valid") {
			step = b.act
		}
		if err := step(); err != nil {
			return err
		}
	}
	// whatever message it is in, the release has nothing of it
	g.texts[pool][s.unacked.message] = randomText(b.rng, 1<<(b.p.OffW-1), 1)
	b.context(gi, pool, e, ei)
	b.SetBool("rel_owed", true)
	if err := b.finish(g, pool, "snd_act"); err != nil {
		return err
	}
	want := []packet{{To: 1 << e, Op: 4, PSN: last, Ask: 1 << e, Kind: 2, End: int(ei)}}
	if diff := cmp.Diff(want, b.sent, cmpopts.IgnoreFields(packet{}, "Unit")); diff != "" {
		return fmt.Errorf("cycle %d: the release of endpoint %d (-want +got):\n%s", b.Now(), e, diff)
	}
	s.silent = 0
	b.context(gi, pool, e, ei)
	b.Set("snd_psn", (last+1+g.sq[e]+g.gone[e])&mask24)
	b.SetBool("snd_is_ack", true)
	b.SetBool("snd_is_nak", false)
	b.SetBool("snd_is_rnr", false)
	told := b.finish(g, pool, "snd_ack")
	if told == nil && (b.took != g.short(e) || b.stale || b.moved || !b.told) {
		told = fmt.Errorf("cycle %d: the acknowledgement of a release took %d cycles, stale %t, moved %t, told %t", b.Now(), b.took, b.stale, b.moved, b.told)
	}
	b.tick()
	b.SetBool("rel_owed", false)
	return told
}

// TestRanges: what TestRandom does, and between it ranges in which other endpoints hear, some of which have failed: nobody is sent anything of the range
// before, PSNs on every wire go on where they are, and answers are those of the range.
func TestRanges(t *testing.T) { testRanges(t, 0) }

// TestReleasedRanges: the same where ranges are followed by releases: some endpoints are owed one, which is sent to them alone under a PSN that the range does not
// count, and acknowledged, before the next range opens.
func TestReleasedRanges(t *testing.T) { testRanges(t, 1) }

func testRanges(t *testing.T, release int) {
	t.Helper()
	t.Parallel()
	p := several()
	p.InBand, p.Release = 1, release
	lib := rig.Lib(t, p)
	met := map[string]int{}
	for seed := range uint64(4) {
		b := newBench(t, lib, p, seed)
		b.met = met
		for gi := range b.groups {
			require.NoError(t, b.start(gi))
		}
		for number := range uint64(60) {
			for range 60 {
				require.NoError(t, b.step(), "seed %d", seed)
			}
			gi := int(number) % len(b.groups)
			require.NoError(t, b.settle(gi), "seed %d", seed)
			if b.groups[gi].through() {
				if release != 0 {
					require.NoError(t, b.owe(gi, 2*number+1), "seed %d", seed)
				}
				require.NoError(t, b.open(gi, uint64(1+release)*number), "seed %d", seed)
			} else {
				met["no end"]++
				require.NoError(t, b.start(gi), "seed %d", seed)
			}
		}
		require.NoError(t, b.drain(), "seed %d", seed)
	}
	for _, what := range []string{"a range", "counts jump", "send to 1", "send to 2", "send to one that goes alone", "send one, along true, again true", "failed", "stale", "progress",
		"over several messages", "into a message", "back", "a packet made elsewhere", "no end"} {
		require.Greater(t, met[what], 5, what)
	}
	if release != 0 {
		require.Greater(t, met["a release"], 100)
	}
}
