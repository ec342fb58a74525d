// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/sendmessage"
)

// marks is a model of inc_poisoned, cycle by cycle.
type marks struct {
	works              []emitting
	marked, calm, told [3]bool
	busy, fused        bool
	young, youngEmits  bool // the work put last may be killed yet: no word of it has left; it emits
}

// emitting is a work whose words have not all left; void: its group was started again since.
type emitting struct {
	group, words int
	void         bool
}

// stimulus is what a cycle brings.
type stimulus struct {
	put, emits, kills, emit, bad, begins, ends, acts, fuses bool
	group, words, kind                                      int
	init                                                    int // the group that starts, -1 if none does
}

// mask has a bit a group.
func mask(of [3]bool) (v uint64) {
	for g, on := range of {
		if on {
			v |= 1 << g
		}
	}
	return v
}

// tells is the group that the monitor tells of in a cycle, -1 if it tells of none.
func (m *marks) tells(s stimulus) int {
	for g := range m.calm {
		if m.calm[g] && !m.told[g] && !s.acts {
			return g
		}
	}
	return -1
}

// clock is the end of a cycle.
func (m *marks) clock(s stimulus) {
	told, idle, hit := m.tells(s), (!m.busy || s.ends) && !m.fused && !s.fuses, -1
	if s.emit {
		w := &m.works[0]
		m.young = m.young && !(m.youngEmits && len(m.works) == 1)
		if s.bad && !w.void {
			hit = w.group
		}
		if w.words--; w.words == 0 {
			m.works = m.works[1:]
		}
	}
	for g := range m.marked {
		if g == s.init {
			m.marked[g], m.calm[g], m.told[g] = false, false, false
			continue
		}
		m.calm[g] = m.calm[g] || m.marked[g] && idle
		m.marked[g] = m.marked[g] || g == hit
		m.told[g] = m.told[g] || g == told
	}
	for i := range m.works {
		m.works[i].void = m.works[i].void || m.works[i].group == s.init
	}
	if s.kills && m.youngEmits {
		m.works = m.works[:len(m.works)-1]
	}
	if m.young = m.young && !s.kills; s.put {
		m.young, m.youngEmits = true, s.emits
	}
	if s.put && s.emits {
		m.works = append(m.works, emitting{group: s.group, words: s.words})
	}
	m.busy = s.begins || m.busy && !s.ends
	m.fused = s.fuses || m.fused && !(s.acts && s.kind == 1)
}

// TestPoisoned: the mark comes a cycle after the word, to the group of its work and to no other, nor to that of one that was killed, and not if that was
// started since; the monitor tells of it
// when no job is under way that began before.
func TestPoisoned(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Lib(t, sendmessage.Poisoned{EPW: 3, EIW: 5, Groups: 3, WordsW: 4}), 5)
	rng := rand.New(rand.NewPCG(5, 6))
	m, marked, voided, told, killed := &marks{}, 0, 0, 0, 0
	for range 20000 {
		s := stimulus{group: rng.IntN(3), words: 1 + rng.IntN(6), acts: rng.IntN(3) == 0, init: -1}
		s.put, s.emits = len(m.works) < 16 && rng.IntN(4) == 0, rng.IntN(4) > 0
		if s.emit = len(m.works) > 0 && rng.IntN(3) > 0; s.emit {
			s.bad = rng.IntN(24) == 0
		}
		s.begins, s.ends = !m.busy && rng.IntN(3) == 0, m.busy && rng.IntN(4) == 0
		s.kind, s.fuses = rng.IntN(5), !m.fused && rng.IntN(6) == 0
		if rng.IntN(40) == 0 {
			s.init = rng.IntN(3)
		}
		if s.kills = !s.put && m.young && rng.IntN(12) == 0; s.kills && m.youngEmits {
			s.emit = s.emit && len(m.works) > 1
			s.bad = s.bad && s.emit
			killed++
		}
		live := rng.Uint64N(8)
		r.Set("grp_live", live)
		r.SetBool("work_put", s.put)
		r.SetBool("work_kills", s.kills)
		reduces := rng.IntN(2) == 0
		r.SetBool("work_emit", s.emits && !reduces)
		r.SetBool("work_reduce", s.emits && reduces)
		r.Set("work_words", uint64(s.words))
		r.Set("work_ei", uint64(s.group<<3)|rng.Uint64N(8))
		r.SetBool("emit_valid", s.emit)
		r.SetBool("emit_bad", s.bad || !s.emit && rng.IntN(2) == 0)
		for i, name := range []string{"snd_ack", "snd_act", "snd_note"} {
			r.SetBool(name, s.begins && (s.group+s.words)%3 == i)
		}
		r.SetBool("snd_done", s.ends)
		r.SetBool("snd_moves", s.fuses)
		r.SetBool("init_we", s.init >= 0)
		r.Set("init_ei", uint64(max(s.init, 0)<<3)|rng.Uint64N(8))
		r.SetBool("in_act_valid", s.acts)
		r.Set("in_act_kind", uint64(s.kind))
		r.Set("in_act_ei", rng.Uint64N(24))
		r.Settle()
		require.Equal(t, live&^mask(m.marked), r.Get("grp_sends"))
		require.Equal(t, mask(m.told), r.Get("grp_poisoned"))
		tells := m.tells(s)
		require.Equal(t, s.acts || tells >= 0, r.Is("out_act_valid"))
		switch {
		case s.acts:
			require.Equal(t, []uint64{r.Get("in_act_kind"), r.Get("in_act_ei")}, []uint64{r.Get("out_act_kind"), r.Get("out_act_ei")})
		case tells >= 0:
			require.Equal(t, []uint64{5, uint64(tells) << 3}, []uint64{r.Get("out_act_kind"), r.Get("out_act_ei")})
			told++
		}
		if s.bad {
			if m.works[0].void {
				voided++
			} else {
				marked++
			}
		}
		m.clock(s)
		r.Clock()
	}
	assert.Greater(t, marked, 200)
	assert.Greater(t, voided, 30)
	assert.Greater(t, told, 100)
	assert.Greater(t, killed, 100)
}
