// SPDX-License-Identifier: Apache-2.0

package replicatedata_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/replicatedata"
	"incforge/sim"
)

func mini() replicatedata.ReplicateData {
	return replicatedata.ReplicateData{Bytes: 8, LenW: 7, WordsW: 4, EPW: 3, EIW: 4, MaskW: 5, AddrW: 5, DepthW: 3, InBand: 1}
}

// fixed has no in-band groups.
func fixed() replicatedata.ReplicateData {
	p := mini()
	p.InBand = 0
	return p
}

// flops keeps payload words in flip-flops, no more than the longest payload here has.
func flops() replicatedata.ReplicateData {
	p := mini()
	p.AddrW, p.Flops = 3, 1
	return p
}

// decision is what CheckDuplicate pushes; words are its payload, which AggregateData sends.
type decision struct {
	kind                          uint64 // 0 plain, 1 copies of data, 2 copies of acknowledgements
	ei, mask, opcode, se, pad, ce uint64
	psn, inBand, rng, dir         uint64
	ext, plen                     uint64
	words                         []uint64
}

// request is one header to be made.
type request struct {
	ei, opcode, se, pad, ce, psn, inBand, rng, dir, ext, plen, words uint64
}

type bench struct {
	*rig.Rig
	decisions []decision
	pushed    int // decisions
	words     []uint64
	emitted   int
	push      func() bool
	emit      func() bool
	take      func() bool // headers
	drain     func() bool // words
	requests  []request
	copies    []uint64 // payload words, in order
	lost      int      // words whose word_bad was wrong
	fanout    int
	acks      int
	frames    int
	reqAt     []uint64
	emitAt    []uint64
	wordAt    []uint64
	pushAt    []uint64
}

func newBench(t *testing.T, lib *sim.Lib, seed uint64) *bench {
	yes := func() bool { return true }
	return &bench{Rig: rig.New(t, lib, seed), push: yes, emit: yes, take: yes, drain: yes}
}

func (b *bench) add(d decision) {
	b.decisions = append(b.decisions, d)
	b.words = append(b.words, d.words...)
}

// cycle passes a clock. Words of a payload come after its decision was pushed, as AggregateData's pipeline has it.
func (b *bench) cycle() {
	b.SetBool("req_ready", b.take())
	b.SetBool("word_ready", b.drain())
	b.Set("tx_valid", 0)
	b.Set("emit_valid", 0)
	b.Settle()
	pushes := b.pushed < len(b.decisions) && b.Is("tx_room") && b.push()
	due := 0 // words of the decisions pushed so far
	for _, d := range b.decisions[:b.pushed] {
		due += len(d.words)
	}
	emits := b.emitted < due && b.Is("emit_room") && b.emit()
	if pushes {
		d := b.decisions[b.pushed]
		b.Set("tx_valid", 1)
		for name, v := range map[string]uint64{"kind": d.kind, "in_band": d.inBand, "rng": d.rng, "dir": d.dir, "ei": d.ei, "mask": d.mask, "opcode": d.opcode, "se": d.se, "pad": d.pad, "ce": d.ce,
			"psn": d.psn, "ext": d.ext, "plen": d.plen, "words": uint64(len(d.words))} {
			b.Set("tx_"+name, v)
		}
	}
	if emits {
		b.Set("emit_valid", 1)
		b.Set("emit_data", b.words[b.emitted])
		b.SetBool("emit_bad", bad(b.words[b.emitted]))
	}
	b.Clock()
	if pushes {
		b.pushed++
		b.pushAt = append(b.pushAt, b.Now())
	}
	if emits {
		b.emitted++
		b.emitAt = append(b.emitAt, b.Now())
	}
	if b.Is("req_valid") && b.Is("req_ready") {
		b.reqAt = append(b.reqAt, b.Now())
		b.requests = append(b.requests, request{b.Get("req_ei"), b.Get("req_opcode"), b.Get("req_se"), b.Get("req_pad"), b.Get("req_ce"),
			b.Get("req_psn"), b.Get("req_in_band"), b.Get("req_rng"), b.Get("req_dir"), b.Get("req_ext"), b.Get("req_plen"), b.Get("req_words")})
	}
	if b.Is("word_valid") && b.Is("word_ready") {
		b.wordAt = append(b.wordAt, b.Now())
		b.copies = append(b.copies, b.Get("word_data"))
		if b.Is("word_bad") != bad(b.Get("word_data")) {
			b.lost++
		}
	}
	if b.Is("count_fanout") {
		b.fanout++
	}
	if b.Is("count_ack_copy") {
		b.acks++
	}
	if b.Is("count_frame") {
		b.frames++
	}
}

// expect is what must come out: for each decision a copy to every endpoint of its mask, in ascending order.
func (b *bench) expect(p replicatedata.ReplicateData) (requests []request, copies []uint64, fanout, acks int) {
	for _, d := range b.decisions {
		if p.InBand == 0 {
			d.inBand, d.rng, d.dir = 0, 0, 0
		}
		for e := range uint64(64) {
			if d.mask>>e&1 == 0 {
				continue
			}
			requests = append(requests, request{d.ei>>p.EPW<<p.EPW | e, d.opcode, d.se, d.pad, d.ce, d.psn, d.inBand, d.rng, d.dir, d.ext, d.plen,
				uint64(len(d.words))})
			copies = append(copies, d.words...)
			switch d.kind {
			case 1:
				fanout++
			case 2:
				acks++
			}
		}
	}
	return requests, copies, fanout, acks
}

func (b *bench) run(t *testing.T, p replicatedata.ReplicateData) {
	t.Helper()
	requests, copies, fanout, acks := b.expect(p)
	for n := 0; len(b.requests) < len(requests) || len(b.copies) < len(copies); n++ {
		require.Less(t, n, 200000, "%d of %d headers, %d of %d words", len(b.requests), len(requests), len(b.copies), len(copies))
		b.cycle()
	}
	for range 20 {
		b.cycle()
	}
	require.Equal(t, requests, b.requests)
	require.Equal(t, copies, b.copies)
	require.Zero(t, b.lost, "words that are bad where they were not, or the other way round")
	require.Equal(t, fanout, b.fanout)
	require.Equal(t, acks, b.acks)
	require.Equal(t, len(requests), b.frames)
}

// bad is what the bench says with a word: one in four is bad.
func bad(word uint64) bool { return word%4 == 0 }

func payload(rng *rand.Rand, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = rng.Uint64()
	}
	return words
}

func some(rng *rand.Rand, p replicatedata.ReplicateData) decision {
	d := decision{kind: uint64(rng.IntN(3)), inBand: uint64(rng.IntN(2)), rng: uint64(rng.IntN(4)), dir: uint64(rng.IntN(2)), ei: uint64(rng.IntN(1 << p.EIW)), mask: 1 + uint64(rng.IntN(1<<p.MaskW-1)), opcode: uint64(rng.IntN(256)),
		se: uint64(rng.IntN(2)), pad: uint64(rng.IntN(4)), ce: uint64(rng.IntN(2)), psn: uint64(rng.Uint32N(1 << 24)), ext: uint64(rng.Uint32()),
		plen: uint64(rng.IntN(1 << p.LenW))}
	switch rng.IntN(4) {
	case 0: // none
	case 1:
		d.words = payload(rng, 1+rng.IntN(2))
	default:
		d.words = payload(rng, 1+rng.IntN(8))
	}
	if rng.IntN(3) == 0 {
		d.mask = 1 << rng.IntN(p.MaskW)
	}
	return d
}

// TestAgainstModel: any decisions, any pace at the four sides.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]replicatedata.ReplicateData{"in-band": mini(), "fixed": fixed(), "flops": flops()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anything(t, p)
		})
	}
}

func anything(t *testing.T, p replicatedata.ReplicateData) {
	lib := rig.Lib(t, p)
	paces := []int{100, 100, 70, 40, 20}
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t, lib, seed)
		pace := func() func() bool {
			percent := paces[rng.IntN(len(paces))]
			return func() bool { return rng.IntN(100) < percent }
		}
		b.push, b.emit, b.take, b.drain = pace(), pace(), pace(), pace()
		for range 150 {
			b.add(some(rng, p))
		}
		b.run(t, p)
	}
}

// TestTiming: the cycles that the head of the file states.
func TestTiming(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]replicatedata.ReplicateData{"ram": mini(), "flops": flops()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing(t, p)
		})
	}
}

func timing(t *testing.T, p replicatedata.ReplicateData) {
	lib := rig.Lib(t, p)
	rng := rand.New(rand.NewPCG(1, 1))

	t.Run("latency", func(t *testing.T) {
		b := newBench(t, lib, 1)
		b.add(decision{mask: 4, words: payload(rng, 1)})
		b.run(t, p)
		require.Equal(t, b.pushAt[0]+1, b.reqAt[0])
		require.Equal(t, b.emitAt[0]+uint64(2-p.Flops), b.wordAt[0])
	})

	t.Run("headers without payload", func(t *testing.T) {
		b := newBench(t, lib, 2)
		copies := 0
		for _, mask := range []uint64{0x1F, 0x15, 0x02, 0x10, 0x1F} {
			b.add(decision{mask: mask})
			copies += bits.OnesCount64(mask)
		}
		b.run(t, p)
		require.Equal(t, uint64(copies-1), b.reqAt[copies-1]-b.reqAt[0], "bubbles")
	})

	t.Run("words", func(t *testing.T) {
		b := newBench(t, lib, 3)
		words := 0
		for i, mask := range []uint64{0x1F, 0x03, 0x04, 0x18, 0x1F, 0x01, 0x01} {
			n := 1 + i%4
			b.add(decision{mask: mask, words: payload(rng, n)})
			words += n * bits.OnesCount64(mask)
		}
		b.run(t, p)
		require.Len(t, b.wordAt, words)
		require.Equal(t, uint64(words-1), b.wordAt[words-1]-b.wordAt[0], "bubbles")
	})

	t.Run("one payload after the other", func(t *testing.T) {
		// payloads as long as the memory in flip-flops, or a quarter of that in RAM: the last copy makes room for the next
		b := newBench(t, lib, 5)
		for range 20 {
			b.add(decision{mask: 0x0B, words: payload(rng, 8)})
		}
		b.run(t, p)
		require.Equal(t, uint64(20*3*8-1), b.wordAt[20*3*8-1]-b.wordAt[0], "bubbles")
	})

	t.Run("payload kept", func(t *testing.T) {
		// nobody fetches words: 2**ADDR_W find room; copies are fetched as far as the output holds words
		b := newBench(t, lib, 4)
		b.drain = func() bool { return false }
		for range 6 {
			b.add(decision{mask: 3, words: payload(rng, 8)})
		}
		for range 200 {
			b.cycle()
		}
		require.Equal(t, 1<<p.AddrW, b.emitted)
		b.drain = func() bool { return true }
		b.run(t, p)
	})
}
