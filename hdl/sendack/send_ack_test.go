// SPDX-License-Identifier: Apache-2.0

package sendack_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/sendack"
)

const mask24 = 1<<24 - 1

// side is an endpoint's receive side.
type side struct {
	EPSN, MSN uint64
	NakSent   bool
}

// what a frame is taken for
const (
	nothing = iota
	duplicate
	gap
	full
	accept
	kinds
)

// shown is what the ports show of a frame; what has no meaning is 0.
type shown struct {
	Behind, Ahead      bool
	EPSN               uint64
	Ack, Nak, RNR, CNP bool
	PSN, Syndrome, MSN uint64
	Answers            bool
}

// bench holds the module against arrays of numbers.
type bench struct {
	*rig.Rig
	rng   *rand.Rand
	sides []side
	met   map[string]int
}

// frame passes one: a look, the cycles after it, and its commit, if any; meanwhile others start.
func (b *bench) frame() error {
	ei := b.rng.IntN(len(b.sides))
	s := &b.sides[ei]
	psn := (s.EPSN + []uint64{0, 0, 0, 1, 2, mask24, mask24 - 1, 1<<23 - 1, 1 << 23, b.rng.Uint64()}[b.rng.IntN(10)]) & mask24
	d := int(int32(uint32(psn-s.EPSN)<<8) >> 8)
	kind := b.rng.IntN(2)
	switch {
	case d < 0:
		kind *= duplicate
	case d > 0:
		kind *= gap
	case kind != nothing:
		kind = full + b.rng.IntN(2)
	}
	host, ends, rnr, cnp, timer := b.rng.IntN(2) == 0, b.rng.IntN(2) == 0, b.rng.IntN(3) > 0, b.rng.IntN(2) == 0, b.rng.Uint64N(32)
	b.SetBool("cfg_rnr", rnr)
	b.SetBool("cfg_cnp", cnp)
	b.Set("cfg_rnr_timer", timer)
	b.Set("rcv_ei", uint64(ei))
	b.Set("rcv_psn", psn)
	b.SetBool("rcv_host", host)
	b.SetBool("rcv_ends", ends)
	for i, name := range []string{"", "duplicate", "gap", "full", "accept"} {
		if name != "" {
			b.SetBool("rcv_"+name, i == kind)
		}
	}
	b.SetBool("rcv_rd", true)
	b.SetBool("rcv_we", false)
	b.SetBool("init_we", false)
	b.Clock()
	b.SetBool("rcv_rd", false)

	want := shown{Behind: d < 0, Ahead: d > 0, EPSN: s.EPSN, Ack: kind == duplicate || kind == accept, Nak: kind == gap && !s.NakSent,
		RNR: kind == full && rnr, CNP: kind == full && cnp && host}
	next := *s
	switch kind {
	case duplicate:
		want.PSN, want.Syndrome = (s.EPSN-1)&mask24, 0x1F
	case gap:
		want.PSN, want.Syndrome = s.EPSN, 0x60
		next.NakSent = true
	case full:
		want.PSN, want.Syndrome = psn, 0x20|timer
		next.NakSent = true
	case accept:
		want.PSN, want.Syndrome = psn, 0x1F
		next = side{EPSN: (s.EPSN + 1) & mask24, MSN: s.MSN}
		if ends {
			next.MSN = (s.MSN + 1) & mask24
		}
	}
	want.MSN = next.MSN
	want.Answers = want.Ack || want.Nak || want.RNR
	if !want.Answers {
		want.PSN, want.Syndrome, want.MSN = 0, 0, 0
	}
	b.met[fmt.Sprintf("kind %d", kind)]++
	if kind == gap && s.NakSent {
		b.met["a gap seen before"]++
	}
	commits := kind != nothing && kind != duplicate && b.rng.IntN(4) > 0
	for wait := b.rng.IntN(3); wait >= 0; wait-- {
		write := wait == 0 && commits
		b.SetBool("rcv_we", write)
		starts, start := b.rng.IntN(len(b.sides)), b.rng.Uint64()&mask24
		init := !write && starts != ei && b.rng.IntN(20) == 0
		b.SetBool("init_we", init)
		b.Set("init_ei", uint64(starts))
		b.Set("init_psn", start)
		b.Clock()
		if init {
			b.sides[starts] = side{EPSN: start}
		}
		got := shown{Behind: b.Is("rcv_behind"), Ahead: b.Is("rcv_ahead"), EPSN: b.Get("rcv_epsn"), Ack: b.Is("ans_ack"), Nak: b.Is("ans_nak"),
			RNR: b.Is("ans_rnr"), CNP: b.Is("ans_cnp"), Answers: want.Answers}
		if want.Answers {
			got.PSN, got.Syndrome, got.MSN = b.Get("ans_psn"), b.Get("ans_syndrome"), b.Get("ans_msn")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("endpoint %d, %+v, PSN %#x, kind %d (-want +got):\n%s", ei, *s, psn, kind, diff)
		}
	}
	if commits {
		*s = next
	}
	return nil
}

// TestRandom: looks, commits and starts in any order, against arrays; the answers of every kind of data.
func TestRandom(t *testing.T) {
	t.Parallel()
	for _, p := range []sendack.SendAck{{EIW: 1}, {EIW: 4}} {
		lib := rig.Lib(t, p)
		met := map[string]int{}
		for seed := range uint64(3) {
			b := &bench{Rig: rig.New(t, lib, seed), rng: rand.New(rand.NewPCG(seed, 1)), sides: make([]side, 1<<p.EIW), met: met}
			for i := range b.sides {
				b.sides[i] = side{EPSN: []uint64{mask24 - 3, 0, b.rng.Uint64() & mask24}[i%3]}
				b.SetBool("init_we", true)
				b.Set("init_ei", uint64(i))
				b.Set("init_psn", b.sides[i].EPSN)
				b.Clock()
			}
			for range 4000 {
				require.NoError(t, b.frame())
			}
		}
		for kind := range kinds {
			require.Greater(t, met[fmt.Sprintf("kind %d", kind)], 100)
		}
		require.Greater(t, met["a gap seen before"], 20)
	}
}
