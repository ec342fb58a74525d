// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/sendmessage"
)

// releaseBench drives inc_release in the place of CheckMessage, SendMessage and the control plane.
type releaseBench struct {
	t     *testing.T
	r     *rig.Rig
	rng   *rand.Rand
	began [3]uint64 // iterations
}

// pulse has some inputs high for a cycle.
func (b *releaseBench) pulse(names ...string) {
	for _, name := range names {
		b.r.SetBool(name, true)
	}
	b.r.Clock()
	for _, name := range names {
		b.r.SetBool(name, false)
	}
}

func (b *releaseBench) write(kind string, index, word int, data uint64) {
	b.r.Set("tbl_index", uint64(index))
	b.r.Set("tbl_word", uint64(word))
	b.r.Set("tbl_data", data)
	b.pulse(kind)
}

// take has what is offered taken, and gives it: an endpoint's turn, or news of a pool.
func (b *releaseBench) take() (ei uint64, news bool) {
	r := b.r
	for wait := 0; ; wait++ {
		require.Less(b.t, wait, 10, "nothing is offered")
		if r.Settle(); r.Is("out_act_valid") && !r.Is("in_act_valid") {
			break
		}
		r.Clock()
	}
	ei, news = r.Get("out_act_ei"), r.Is("out_act_pipe")
	require.Equal(b.t, !news, r.Is("out_act_timer"))
	r.Clock()
	r.SetBool("in_snd_act", true)
	r.Settle()
	require.Equal(b.t, []bool{false, news, !news}, []bool{r.Is("out_snd_act"), r.Is("out_snd_note"), r.Is("snd_owe")})
	r.Clock()
	r.SetBool("in_snd_act", false)
	r.Set("rel_ei", ei)
	return ei, news
}

// done ends a job.
func (b *releaseBench) done() {
	for range b.rng.IntN(4) {
		b.r.Clock()
	}
	b.pulse("snd_done")
}

// bounds checks what is held back of a group whose iteration ends with message end.
func (b *releaseBench) bounds(group int, end uint64) {
	r := b.r
	r.Set("rel_ei", uint64(group<<3))
	for _, past := range []uint64{0, 1, 2, ^uint64(0)} {
		limit := (end + past) & 0xFFFFFF
		r.Set("in_ctx_limit", limit)
		r.Set("in_ctx_open", 77)
		r.Set("in_see_msg", limit)
		r.SetBool("in_see_ok", true)
		r.Settle()
		if past == ^uint64(0) {
			require.Equal(b.t, []uint64{limit, 77, 1}, []uint64{r.Get("out_ctx_limit"), r.Get("out_ctx_open"), r.Get("out_see_ok")})
		} else {
			require.Equal(b.t, []uint64{end, 0, 0}, []uint64{r.Get("out_ctx_limit"), r.Get("out_ctx_open"), r.Get("out_see_ok")})
		}
	}
}

// TestRelease: iterations of three groups in random order and of random lengths, across the wrap: nobody is owed anything before both pools are at the end; then
// every endpoint has its turn, those that sent and are hosts are owed a release; with the last that is acknowledged both pools are news, and the bound moves. From
// the end of the iteration on until then the group is not drained.
func TestRelease(t *testing.T) {
	t.Parallel()
	b := &releaseBench{t: t, rng: rand.New(rand.NewPCG(7, 8)),
		r: rig.New(t, rig.Lib(t, sendmessage.Release{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, OffW: 12, Park: 1, Counters: len(contract.Counters(1)) + 1}), 7)}
	r := b.r
	masks, parents, lengths := [3]uint64{0b01111, 0b00111, 0b01011}, [3]uint64{0, 1<<31 | 3, 1<<31 | 2}, [3]uint64{2, 1, 5}
	hosts, iteration, ends := [3]uint64{0b01101, 0b00111, 0b00011}, uint64(0), [3]uint64{}
	for g := range 3 {
		b.write("tbl_grp_we", g, 4, masks[g])
		b.write("tbl_grp_we", g, 7, parents[g])
		b.write("tbl_grp_we", g, 8, uint64(g%2)) // the second is a Reduce
		for e := range 5 {
			b.write("tbl_ep_we", g<<3|e, 0, hosts[g]>>e&1<<1)
		}
		iteration |= lengths[g] << (23 * g)
	}
	r.SetBytes("grp_iteration", []byte{byte(iteration), byte(iteration >> 8), byte(iteration >> 16), byte(iteration >> 24), byte(iteration >> 32), byte(iteration >> 40), byte(iteration >> 48), 0, 0})
	r.Set("grp_release", 0b111)
	r.Set("grp_live", 0b111)
	for g := range 3 {
		first := uint64(0xFFFFFE + g)
		r.Set("init_psn", first&0xFFFFFF)
		for e := range 8 {
			r.Set("init_ei", uint64(g<<3|e))
			b.pulse("init_we")
		}
		ends[g] = (first + lengths[g]) & 0xFFFFFF
	}
	senders := [3]uint64{masks[0], masks[1], masks[2] | 1<<2}
	drained := func(g int, want bool) {
		r.Set("park_group", uint64(g))
		r.Settle()
		require.Equal(t, want, r.Is("out_park_drained"))
	}
	r.SetBool("in_park_drained", true)
	for range 60 {
		g := b.rng.IntN(3)
		b.bounds(g, ends[g])
		drained(g, true)
		before := (ends[g] - 1) & 0xFFFFFF
		for _, starts := range [][2]uint64{{before, before}, {ends[g], before}, {before, ends[g]}} {
			if at := [3]bool{starts[1] == ends[g], starts[0] == ends[g], false}[g]; at { // a root has the second alone, a Reduce the first
				continue
			}
			r.Set("start_group", uint64(g))
			r.Set("start_a", starts[0])
			r.Set("start_b", starts[1])
			b.pulse("start_we")
			for range 6 {
				r.Settle()
				require.False(t, r.Is("out_act_valid"))
				r.Clock()
			}
		}
		r.Set("start_group", uint64(g))
		r.Set("start_a", ends[g])
		r.Set("start_b", ends[g])
		b.pulse("start_we")
		b.began[g]++
		drained(g, false)
		drained((g+1)%3, true)
		for e := range 5 {
			ei, news := b.take()
			require.Equal(t, []any{uint64(g<<3 | e), false}, []any{ei, news})
			r.Settle()
			require.Equal(t, senders[g]&hosts[g]>>e&1 != 0, r.Is("rel_owes"))
			require.Equal(t, b.began[g]&3, r.Get("rel_rng"))
			b.done()
		}
		b.bounds(g, ends[g])
		for e := range 5 {
			r.Set("rel_ei", uint64(g<<3|e))
			r.Set("tx_ei", uint64(g<<3|e))
			r.Settle()
			require.Equal(t, []bool{senders[g]&hosts[g]>>e&1 != 0, false}, []bool{r.Is("rel_owed"), r.Is("rel_owed") && r.Is("rel_sent")})
			require.Equal(t, b.began[g]&3, r.Get("tx_rng"))
			if drained(g, false); !r.Is("rel_owed") {
				continue
			}
			b.pulse("rel_puts")
			r.Settle()
			require.Equal(t, byte(1), r.Bytes("out_count")[54/8]>>(54%8)&1)
			require.True(t, r.Is("rel_sent"))
			require.False(t, r.Is("out_act_valid"), "news before the last release is acknowledged")
			b.pulse("rel_told")
		}
		for pool := range 2 {
			ei, news := b.take()
			require.Equal(t, []any{uint64(g<<3 | pool), true}, []any{ei, news})
			b.done()
		}
		ends[g] = (ends[g] + lengths[g]) & 0xFFFFFF
	}
	r.SetBool("in_park_drained", false)
	drained(0, false)
	for g := range 3 {
		assert.Greater(t, b.began[g], uint64(8))
	}
}

// TestReleaseOfRanges: in-band groups: whatever is acknowledged before the first range, nobody is owed anything. Ranges of random lengths and roles, and with each a
// number: until its release is acknowledged the group owes, if anybody who sent in it is a host; a pool that the range does not use is not waited for.
func TestReleaseOfRanges(t *testing.T) {
	t.Parallel()
	b := &releaseBench{t: t, rng: rand.New(rand.NewPCG(9, 10)),
		r: rig.New(t, rig.Lib(t, sendmessage.Release{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, OffW: 12, Park: 1, InBand: 1, Counters: len(contract.Counters(1)) + 1}), 9)}
	r := b.r
	const hosts = 0b01101
	for g := range 3 {
		b.write("tbl_grp_we", g, 4, 0b01111)
		b.write("tbl_grp_we", g, 7, 1<<31|4)
		b.write("tbl_grp_we", g, 8, 0)
		for e := range 5 {
			b.write("tbl_ep_we", g<<3|e, 0, hosts>>e&1<<1)
		}
	}
	r.Set("grp_release", 0b111)
	r.Set("grp_live", 0b111)
	start := func(g int, up, down uint64) {
		r.Set("start_group", uint64(g))
		r.Set("start_a", up&0xFFFFFF)
		r.Set("start_b", down&0xFFFFFF)
		b.pulse("start_we")
	}
	quiet := func() {
		for range 6 {
			r.Settle()
			require.False(t, r.Is("out_act_valid"))
			r.Clock()
		}
	}
	owes := func(g int, want bool) {
		r.Settle()
		require.Equal(t, want, r.Get("grp_owes")>>g&1 != 0)
	}
	number, next := [3]uint64{}, [3]uint64{0xFFFFF0, 0, 0xFFFFFE}
	for g := range 3 {
		r.Set("init_psn", next[g])
		for e := range 8 {
			r.Set("init_ei", uint64(g<<3|e))
			b.pulse("init_we")
		}
		start(g, next[g], next[g])
		quiet()
		owes(g, false)
	}
	told, untold := 0, 0
	for range 60 {
		g := b.rng.IntN(3)
		senders, pools := uint64(b.rng.IntN(32)), 1+b.rng.IntN(3)
		last := next[g] + uint64(b.rng.IntN(5))
		r.Set("rng_group", uint64(g))
		b.pulse("ctl_open")
		number[g]++
		owes(g, false)
		r.Set("rng_last", last&0xFFFFFF)
		r.Set("rng_senders", senders)
		r.SetBool("rng_a", pools&1 != 0)
		r.SetBool("rng_b", pools&2 != 0)
		for range 1 + b.rng.IntN(2) {
			b.pulse("rng_we")
		}
		hear := senders & hosts
		owes(g, hear != 0)
		require.Equal(t, hear, r.Get("grp_hears")>>(5*g)&31)
		up, down := next[g], next[g]
		if pools == 3 {
			start(g, last+1, down)
			quiet()
		}
		start(g, last, last)
		quiet()
		if pools&1 != 0 {
			up = last + 1
		}
		if pools&2 != 0 {
			down = last + 1
		}
		start(g, up, down)
		if next[g] = (last + 1) & 0xFFFFFF; hear == 0 {
			quiet()
			owes(g, false)
			untold++
			continue
		}
		number[g]++
		for e := range 5 {
			owes(g, true)
			ei, news := b.take()
			require.Equal(t, []any{uint64(g<<3 | e), false}, []any{ei, news})
			r.Settle()
			require.Equal(t, hear>>e&1 != 0, r.Is("rel_owes"))
			require.Equal(t, number[g]&3, r.Get("rel_rng"))
			b.done()
		}
		for e := range 5 {
			r.Set("rel_ei", uint64(g<<3|e))
			r.Set("tx_ei", uint64(g<<3|e))
			r.Settle()
			require.Equal(t, number[g]&3, r.Get("tx_rng"))
			if require.Equal(t, hear>>e&1 != 0, r.Is("rel_owed")); r.Is("rel_owed") {
				owes(g, true)
				b.pulse("rel_puts")
				b.pulse("rel_told")
				told++
			}
		}
		owes(g, false) // and so at once, with no news
		quiet()
		owes(g, false)
	}
	assert.Greater(t, told, 50)
	assert.Greater(t, untold, 3)
}
