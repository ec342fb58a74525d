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

// shown is what the ports show of an answer; what has no meaning is 0.
type shown struct {
	Ack, Nak, RNR, CNP bool
	PSN, Syndrome, MSN uint64
}

// frame is one that is looked at, or that has gone on and waits for its verdict.
type frame struct {
	ei         int
	psn        uint64
	host, ends bool
	follows    bool // takes the one ahead for committed
	age        int  // cycles since its look
	want       shown
	next       side
	writes     bool
}

// bench holds the module against arrays of numbers, with a frame that is looked at and one that has gone on.
type bench struct {
	*rig.Rig
	rng        *rand.Rand
	sides      []side
	look, gone *frame
	met        map[string]int
}

// ahead is the state of an endpoint if what has gone on is committed, and after that `going`.
func (b *bench) ahead(ei int, going *frame) side {
	for _, f := range []*frame{going, b.gone} {
		if f != nil && f.ei == ei && f.writes {
			return f.next
		}
	}
	return b.sides[ei]
}

// answer draws what the frame that goes on is taken for, and says what follows from that.
func (b *bench) answer(f *frame) (kind int) {
	s := b.ahead(f.ei, nil)
	d := int(int32(uint32(f.psn-s.EPSN)<<8) >> 8)
	kind = b.rng.IntN(2)
	switch {
	case d < 0:
		kind *= duplicate
	case d > 0:
		kind *= gap
	case kind != nothing:
		kind = full + b.rng.IntN(2)
	}
	rnr, cnp, timer := b.rng.IntN(3) > 0, b.rng.IntN(2) == 0, b.rng.Uint64N(32)
	b.SetBool("cfg_rnr", rnr)
	b.SetBool("cfg_cnp", cnp)
	b.Set("cfg_rnr_timer", timer)
	f.want = shown{Ack: kind == duplicate || kind == accept, Nak: kind == gap && !s.NakSent, RNR: kind == full && rnr, CNP: kind == full && cnp && f.host}
	f.next = s
	switch kind {
	case duplicate:
		f.want.PSN, f.want.Syndrome = (s.EPSN-1)&mask24, 0x1F
	case gap:
		f.want.PSN, f.want.Syndrome = s.EPSN, 0x60
		f.next.NakSent = true
	case full:
		f.want.PSN, f.want.Syndrome = f.psn, 0x20|timer
		f.next.NakSent = true
	case accept:
		f.want.PSN, f.want.Syndrome = f.psn, 0x1F
		f.next = side{EPSN: (s.EPSN + 1) & mask24, MSN: s.MSN}
		if f.ends {
			f.next.MSN = (s.MSN + 1) & mask24
		}
	}
	f.writes = kind == gap || kind == full || kind == accept
	f.want.MSN = f.next.MSN
	if !f.want.Ack && !f.want.Nak && !f.want.RNR {
		f.want.PSN, f.want.Syndrome, f.want.MSN = 0, 0, 0
	}
	b.met[fmt.Sprintf("kind %d", kind)]++
	if kind == gap && s.NakSent {
		b.met["a gap seen before"]++
	}
	return kind
}

// cycle passes one: the frame that has gone on may be decided, the one that is looked at may go on, another may be looked at.
func (b *bench) cycle() error {
	decided := b.gone != nil && b.rng.IntN(2) == 0
	good := decided && b.rng.IntN(4) > 0
	takes := b.look != nil && b.gone != nil && b.look.follows && b.gone.writes
	// CheckPipe has a frame looked at again behind others of its group too
	redo := decided && !good && (takes || (b.look != nil && b.rng.IntN(2) == 0))
	seen := b.look != nil && b.look.age >= 2
	goes := seen && (b.gone == nil || decided) && !redo && b.rng.IntN(4) > 0
	kind := nothing
	if seen {
		// both are registers
		d := int(int32(uint32(b.look.psn-b.ahead(b.look.ei, nil).EPSN)<<8) >> 8)
		b.Settle()
		if b.Is("rcv_behind") != (d < 0) || b.Is("rcv_expected") != (d == 0) {
			return fmt.Errorf("endpoint %d, PSN %#x, %+v: behind is %v, expected is %v", b.look.ei, b.look.psn, b.ahead(b.look.ei, nil),
				b.Is("rcv_behind"), b.Is("rcv_expected"))
		}
	}
	if goes {
		kind = b.answer(b.look)
	}
	for i, name := range []string{"", "duplicate", "gap", "full", "accept"} {
		if name != "" {
			b.SetBool("rcv_"+name, goes && i == kind)
		}
	}
	b.SetBool("rcv_go", goes)
	b.SetBool("rcv_we", good)
	b.SetBool("rcv_redo", redo)

	var next *frame
	if (b.look == nil || goes) && b.rng.IntN(4) > 0 {
		next = &frame{ei: b.rng.IntN(len(b.sides)), host: b.rng.IntN(2) == 0, ends: b.rng.IntN(2) == 0}
		for _, f := range []*frame{b.look, b.gone} {
			if f != nil && b.rng.IntN(2) == 0 {
				next.ei = f.ei
			}
		}
		going := b.look
		if !goes {
			going = nil
		}
		next.psn = (b.ahead(next.ei, going).EPSN + []uint64{0, 0, 0, 1, 2, mask24, mask24 - 1, 1<<23 - 1, 1 << 23, b.rng.Uint64()}[b.rng.IntN(10)]) & mask24
		next.follows = going != nil && going.ei == next.ei || going == nil && !decided && b.gone != nil && b.gone.ei == next.ei
		b.SetBool("rcv_written", good && b.gone.ei == next.ei)
		b.SetBool("rcv_follows", next.follows)
		b.Set("rcv_ei", uint64(next.ei))
	}
	b.SetBool("rcv_rd", next != nil)

	starts, start := b.rng.IntN(len(b.sides)), b.rng.Uint64()&mask24
	init := !good && b.rng.IntN(20) == 0
	for _, f := range []*frame{b.look, b.gone, next} {
		init = init && (f == nil || f.ei != starts)
	}
	b.SetBool("init_we", init)
	b.Set("init_ei", uint64(starts))
	b.Set("init_psn", start)
	b.Clock()

	if b.gone != nil {
		got := shown{Ack: b.Is("ans_ack"), Nak: b.Is("ans_nak"), RNR: b.Is("ans_rnr"), CNP: b.Is("ans_cnp")}
		if got.Ack || got.Nak || got.RNR {
			got.PSN, got.Syndrome, got.MSN = b.Get("ans_psn"), b.Get("ans_syndrome"), b.Get("ans_msn")
		}
		if diff := cmp.Diff(b.gone.want, got); diff != "" {
			return fmt.Errorf("endpoint %d, PSN %#x (-want +got):\n%s", b.gone.ei, b.gone.psn, diff)
		}
	}
	return b.after(init, starts, start, decided, good, redo, goes, next)
}

// after lets frames go on.
func (b *bench) after(init bool, starts int, start uint64, decided, good, redo, goes bool, next *frame) error {
	if init {
		b.sides[starts] = side{EPSN: start}
	}
	if good && b.gone.writes {
		b.sides[b.gone.ei] = b.gone.next
	}
	if decided {
		b.met[fmt.Sprintf("committed: %v", good)]++
		b.gone = nil
	}
	if redo {
		b.met["looked at again"]++
		b.look.age = 0
		b.look.follows = false
	}
	if goes {
		b.gone, b.look = b.look, nil
	}
	if next != nil {
		b.look = next
		if next.follows {
			b.met["follows"]++
		}
		b.Set("rcv_psn", next.psn)
		b.SetBool("rcv_host", next.host)
		b.SetBool("rcv_ends", next.ends)
	}
	if b.look != nil {
		b.look.age++
	}
	return nil
}

// TestRandom: looks, commits and starts in any order, with a frame behind one that is not decided, against arrays; the answers of every
// kind of data.
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
			b.SetBool("init_we", false)
			for range 20000 {
				require.NoError(t, b.cycle())
			}
		}
		for kind := range kinds {
			require.Greater(t, met[fmt.Sprintf("kind %d", kind)], 100)
		}
		for _, name := range []string{"a gap seen before", "committed: true", "committed: false", "looked at again", "follows"} {
			require.Greater(t, met[name], 20, name)
		}
	}
}
