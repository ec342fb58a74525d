// SPDX-License-Identifier: Apache-2.0

package packetbuffer_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/internal/testcost"
	"incforge/sim"
)

// The model under test: 32 words of 8 bytes, 16 verdicts.
const (
	size     = 32
	verdicts = 16
	width    = 8
	margin   = 3 // words that may come when room has fallen
)

func compile(t *testing.T, delay int) *sim.Lib {
	t.Helper()
	lib, err := sim.Build{
		Top:    "inc_packet_buffer",
		Brief:  true,
		Files:  []string{"inc_packet_buffer.v", "../ram/inc_mem_packets.v", "../ram/inc_ram_1r1w.v", "../stream/inc_fifo.v"},
		Params: map[string]string{"BYTES": "8", "ADDR_W": "5", "DEPTH_W": "4", "EOF_DELAY": fmt.Sprint(delay), "MARGIN": fmt.Sprint(margin)},
	}.Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

// verdict is a frame's end as the writer told it.
type verdict struct {
	end               int // address behind the frame's last word
	err, lenOK, icrOK bool
	at                uint64
}

// bench drives a packet buffer at random and holds it against the plain model: words in a ring, verdicts in a list.
type bench struct {
	dut *rig.Rig
	r   *rand.Rand

	latency uint64 // of a verdict; 1

	ring      [size][]byte
	tail      int // words ever written
	oldest    int // words ever given back
	left      int // words of the frame being written; -1: between frames
	vrd       []verdict
	reading   int // next word wanted of the frame whose verdict is at the head; -1: none begun
	before    int // the oldest word as it was a cycle ago
	frameFrom int // where that frame's words begin
	promised  []byte

	read, skipped, noRoom, underWay int
}

// cycle drives one cycle. chance is how often, in percent, the writer and the reader do something.
func (b *bench) cycle(write, read int) error {
	d, r, now := b.dut, b.r, b.dut.Now()+1
	room := b.tail-b.before < size-1-margin && len(b.vrd) < verdicts-8
	if room {
		b.underWay = margin + 1 // one in this cycle
	} else {
		b.noRoom++
	}

	// the writer stops at its leisure: so many more words and verdicts may come after room fell
	pay := b.left > 0 && b.underWay > 0 && b.tail-b.oldest < size && r.IntN(100) < write
	eof := false
	if b.left < 0 && r.IntN(100) < write {
		b.left = r.IntN(7)
	}
	word := make([]byte, width)
	for i := range word {
		word[i] = byte(r.Uint32())
	}
	var v verdict
	if lastWord := pay && b.left == 1; (lastWord || b.left == 0) && b.underWay > 0 && len(b.vrd) < verdicts {
		eof = b.left == 0 || r.IntN(2) == 0 // in the last word's cycle, or later
		v = verdict{b.tail + b2i(pay), r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, now}
	}
	d.SetBool("pay_valid", pay)
	d.SetBytes("pay_data", word)
	d.SetBool("eof_valid", eof)
	d.SetBool("eof_err", v.err)
	d.SetBool("eof_len_ok", v.lenOK)
	d.SetBool("eof_icrc_ok", v.icrOK)
	if pay || eof {
		b.underWay--
	}

	// the reader takes a frame's words one by one, in any order, or skips the frame by going on behind it
	hasVerdict := len(b.vrd) > 0 && b.vrd[0].at+b.latency <= now
	pop, rd := false, false
	newest := b.tail
	rdAddr := r.IntN(size)
	var expect []byte
	var head verdict
	if hasVerdict {
		head = b.vrd[0]
		if r.IntN(100) < read {
			if b.reading < 0 {
				b.reading = b.frameFrom
				if r.IntN(3) == 0 && head.end > b.frameFrom { // skip: no rewind, only the next start
					b.reading = head.end
					b.skipped++
				}
			}
			if b.reading < head.end {
				rd, rdAddr = true, b.reading%size
				expect = b.ring[rdAddr]
				b.reading++
				b.read++
			} else {
				pop = true
			}
		}
	}
	d.SetBool("vrd_pop", pop)
	d.SetBool("rd_en", rd)
	d.Set("rd_addr", uint64(rdAddr))
	d.Set("oldest", uint64(b.oldest%size))
	d.Clock()

	switch {
	case d.Is("room") != room:
		return fmt.Errorf("cycle %d: room is %t, want %t (%d words, %d verdicts)", now, !room, room, b.tail-b.oldest, len(b.vrd))
	case d.Get("newest") != uint64(newest%size):
		return fmt.Errorf("cycle %d: newest is %d, want %d", now, d.Get("newest"), newest%size)
	case d.Is("vrd_valid") != hasVerdict:
		return fmt.Errorf("cycle %d: vrd_valid is %t, want %t", now, !hasVerdict, hasVerdict)
	case hasVerdict && (d.Get("vrd_end") != uint64(head.end%size) || d.Is("vrd_err") != head.err || d.Is("vrd_len_ok") != head.lenOK || d.Is("vrd_icrc_ok") != head.icrOK):
		return fmt.Errorf("cycle %d: verdict {%d %t %t %t}, want %+v", now, d.Get("vrd_end"), d.Is("vrd_err"), d.Is("vrd_len_ok"), d.Is("vrd_icrc_ok"), head)
	case b.promised != nil && !bytes.Equal(d.Bytes("rd_data"), b.promised):
		return fmt.Errorf("cycle %d: rd_data is %x, want %x", now, d.Bytes("rd_data"), b.promised)
	}
	if rd { // and rd_data holds until the next read
		b.promised = expect
	}
	if pay {
		b.ring[b.tail%size] = word
		b.tail++
		b.left--
	}
	if eof {
		b.vrd = append(b.vrd, v)
		b.left = -1
	}
	if pop {
		b.vrd = b.vrd[1:]
		b.frameFrom, b.reading = head.end, -1
	}
	b.before = b.oldest
	// space comes back behind the reader, some time later
	behind := b.frameFrom
	if b.reading >= 0 {
		behind = max(behind, b.reading)
	}
	if r.IntN(2) == 0 {
		b.oldest = behind
	}
	return nil
}

func b2i(v bool) int {
	if v {
		return 1
	}
	return 0
}

func run(t *testing.T, lib *sim.Lib, seed, latency uint64) (*bench, error) {
	t.Helper()
	b := &bench{dut: rig.New(t, lib, seed), r: rand.New(rand.NewPCG(seed, 1)), latency: latency, left: -1, reading: -1}
	for _, chance := range [][2]int{{100, 0}, {100, 100}, {50, 50}, {100, 30}, {30, 100}, {0, 100}, {90, 90}} {
		for range 700 {
			if err := b.cycle(chance[0], chance[1]); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	lib := compile(t, 0)
	for seed := range uint64(4) {
		b, err := run(t, lib, seed, 1)
		require.NoError(t, err)
		require.Greater(t, b.read, 500)
		require.Greater(t, b.skipped, 50)
		require.Greater(t, b.noRoom, 200)
		require.Greater(t, b.tail, 20*size, "the ring wraps")
	}
	_, err := run(t, lib, 0, 2)
	require.ErrorContains(t, err, "vrd_valid is true, want false", "a latency one too long must be found")
}

// TestFlow: a word a cycle in and out, each read in the cycle after it was written and there one cycle later.
func TestFlow(t *testing.T) {
	t.Parallel()
	dut := rig.New(t, compile(t, 0), 9)
	for n := range uint64(100) {
		dut.Set("pay_valid", 1)
		dut.Set("pay_data", n+1)
		dut.SetBool("rd_en", n >= 1)
		dut.Set("rd_addr", (n+size-1)%size)
		dut.Set("oldest", n%size)
		dut.Clock()
		if n >= 2 {
			require.Equal(t, n-1, dut.Get("rd_data"), "offered in cycle 0, on rd_data in cycle 2")
		}
		require.True(t, dut.Is("room"))
	}
}

// TestLateVerdicts: frames of no, one or two words without a gap, their verdicts EOF_DELAY cycles behind their last words. A
// frame ends where it did, though words of others have come since.
func TestLateVerdicts(t *testing.T) {
	t.Parallel()
	for _, delay := range []int{0, 1, 2, 5} {
		r := rand.New(rand.NewPCG(uint64(delay), 7))
		dut := rig.New(t, compile(t, delay), 3)
		tail, got := 0, 0
		ends, due := []int{}, map[int]bool{}
		left := r.IntN(3)
		for cycle := range 300 {
			pay := left > 0
			if pay {
				left--
				tail++
			}
			if left == 0 { // the frame ends with this cycle
				ends, due[cycle+delay] = append(ends, tail), true
				left = r.IntN(3)
			}
			dut.SetBool("pay_valid", pay)
			dut.SetBool("eof_valid", due[cycle])
			dut.Settle()
			there := dut.Is("vrd_valid")
			dut.SetBool("vrd_pop", there)
			dut.Clock()
			if there {
				require.Equal(t, uint64(ends[got]%size), dut.Get("vrd_end"), "delay %d, frame %d", delay, got)
				got++
			}
		}
		require.Greater(t, got, 150)
	}
}
