// SPDX-License-Identifier: Apache-2.0

package packetbuffer_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/packetbuffer"
	"incforge/sim"
)

// The models under test: 32 beats, 16 verdicts.
const (
	size     = 32
	verdicts = 16
	margin   = 3 // beats that may come when room has fallen
)

func small(width, delay int) packetbuffer.PacketBuffer {
	return packetbuffer.PacketBuffer{Bytes: width, AddrW: 5, DepthW: 4, EOFDelay: delay, Margin: margin}
}

// stored is a beat in the ring.
type stored struct {
	data []byte
	imm  bool
	ends bool // its frame's last
}

// verdict is a frame's end as the writer told it.
type verdict struct {
	end               int // address behind the frame's last beat
	err, lenOK, icrOK bool
	at                uint64 // the cycle in which it is on vrd_*
}

// bench drives a packet buffer at random and holds it against the plain model: beats in a ring, verdicts in a list. Positions count beats
// ever stored.
type bench struct {
	dut   *rig.Rig
	r     *rand.Rand
	width int
	delay int

	latency uint64 // of a verdict; 1

	ring   [size]stored
	tail   int
	newest int // position of the first word that is not there
	left   int // beats of the frame being written; 0: between frames
	imm    bool
	due    []verdict // ends under way to eof_valid, at is when that comes
	vrd    []verdict
	given  int // position behind the last frame whose verdict was popped

	oldest, from int    // what either reader wants; as they were a cycle ago
	used         [2]int // beats that count, of either reader
	underWay     int

	rdData, bypData []byte // what they must be; nil: unknown
	last            int    // position of the word that was read last
	there           bool   // it is shown

	words, beats, unstored, noRoom, again int
}

// word is the one that begins in the beat at position p, and how many of its bytes are known: those in its frame's last beat, if it ends there.
func (b *bench) word(p int) (data []byte, known int) {
	start := 54 % b.width
	beat := b.ring[p%size]
	if beat.imm {
		start = 58 % b.width
	}
	data = append(data, beat.data[start:]...)
	if beat.ends {
		return data, len(data)
	}
	return append(data, b.ring[(p+1)%size].data[:start]...), b.width
}

func (b *bench) random() []byte {
	d := make([]byte, b.width)
	for i := range d {
		d[i] = byte(b.r.Uint32())
	}
	return d
}

// cycle drives one cycle. write and read are how often, in percent, the writer and the readers do something.
func (b *bench) cycle(write, read int) error {
	d, r, now := b.dut, b.r, b.dut.Now()+1
	roomBeats := b.used[0] < size-1-margin && b.used[1] < size-1-margin
	room := roomBeats && len(b.vrd) < verdicts-8
	if room {
		b.underWay = margin + 1 // one in this cycle
	} else {
		b.noRoom++
	}

	// the writer stops at its leisure: so many more beats may come after room fell
	if b.left == 0 {
		b.left, b.imm = 1+r.IntN(7), r.IntN(2) == 0
	}
	raw := b.underWay > 0 && b.tail-min(b.oldest, b.from) < size-1 && r.IntN(100) < write
	store := r.IntN(8) > 0
	beat := stored{data: b.random(), imm: b.imm, ends: b.left == 1}
	d.SetBool("raw_valid", raw)
	d.SetBool("raw_store", store)
	d.SetBool("raw_imm", beat.imm)
	d.SetBytes("raw_data", beat.data)
	d.SetBool("raw_last", beat.ends)
	push := raw && store
	eof := len(b.due) > 0 && b.due[0].at == now
	var v verdict
	if eof {
		v = b.due[0]
	}
	d.SetBool("eof_valid", eof)
	d.SetBool("eof_err", v.err)
	d.SetBool("eof_len_ok", v.lenOK)
	d.SetBool("eof_icrc_ok", v.icrOK)

	// one reader has the port: any word that is there, and any beat
	rd, again, byp, at := false, false, false, r.IntN(size)
	if r.IntN(100) < read {
		switch first := max(b.oldest, b.from); {
		case b.words > 0 && !b.there && b.last >= first && r.IntN(2) == 0:
			rd, again = true, true
		case r.IntN(2) == 0 && first < b.newest:
			rd, at = true, first+r.IntN(b.newest-first)
		case first < b.tail:
			byp, at = true, first+r.IntN(b.tail-first)
		}
	}
	d.SetBool("rd_en", rd)
	d.SetBool("rd_again", again || !rd && r.IntN(2) == 0)
	d.SetBool("byp_re", byp)
	d.SetBool("rd_imm", rd && b.ring[at%size].imm || !rd && r.IntN(2) == 0)
	d.Set("rd_addr", uint64(at%size))
	d.Set("rd_next", uint64((at+1)%size))
	d.Set("byp_addr", uint64(at%size))
	var head verdict
	has := len(b.vrd) > 0 && b.vrd[0].at+b.latency <= now+1
	if has {
		head = b.vrd[0]
	}
	pop := has && r.IntN(100) < read
	d.SetBool("vrd_pop", pop)
	alone := r.IntN(4) == 0
	d.Set("oldest", uint64(b.oldest%size))
	d.Set("byp_from", uint64(b.from%size))
	d.SetBool("byp_alone", alone)
	d.Clock()

	tailNext := b.tail
	if push {
		tailNext++
	}
	switch {
	case d.Is("room") != room || d.Is("room_beats") != roomBeats:
		return fmt.Errorf("cycle %d: room is %t, want %t; of beats %t, want %t (%v beats, %d verdicts)", now, d.Is("room"), room, d.Is("room_beats"), roomBeats, b.used, len(b.vrd))
	case d.Get("newest") != uint64(b.newest%size) || d.Get("byp_fill") != uint64(b.tail%size):
		return fmt.Errorf("cycle %d: newest is %d, want %d; fill %d, want %d", now, d.Get("newest"), b.newest%size, d.Get("byp_fill"), b.tail%size)
	case raw && d.Get("raw_end") != uint64(tailNext%size):
		return fmt.Errorf("cycle %d: raw_end is %d, want %d", now, d.Get("raw_end"), tailNext%size)
	case d.Is("vrd_valid") != has:
		return fmt.Errorf("cycle %d: vrd_valid is %t, want %t", now, !has, has)
	case has && (d.Get("vrd_end") != uint64(head.end%size) || d.Is("vrd_err") != head.err || d.Is("vrd_len_ok") != head.lenOK || d.Is("vrd_icrc_ok") != head.icrOK):
		return fmt.Errorf("cycle %d: verdict {%d %t %t %t}, want %+v", now, d.Get("vrd_end"), d.Is("vrd_err"), d.Is("vrd_len_ok"), d.Is("vrd_icrc_ok"), head)
	case d.Is("rd_there") != b.there:
		return fmt.Errorf("cycle %d: rd_there is %t, want %t", now, !b.there, b.there)
	case !bytes.Equal(d.Bytes("rd_data")[:len(b.rdData)], b.rdData):
		return fmt.Errorf("cycle %d: rd_data is %x, want %x", now, d.Bytes("rd_data"), b.rdData)
	case !bytes.Equal(d.Bytes("byp_data")[:len(b.bypData)], b.bypData):
		return fmt.Errorf("cycle %d: byp_data is %x, want %x", now, d.Bytes("byp_data"), b.bypData)
	}

	switch { // both hold until anything is read
	case rd:
		if again {
			at = b.last
			b.again++
		}
		word, known := b.word(at)
		b.rdData, b.bypData, b.last, b.there = word[:known], nil, at, true
		b.words++
	case byp:
		b.rdData, b.bypData, b.there = nil, b.ring[at%size].data, false
		b.beats++
	}
	b.used = [2]int{tailNext - b.oldest, tailNext - b.from}
	if alone {
		b.used[0] = b.used[1]
	}
	b.write(raw, store, beat, now)
	if eof {
		b.due = b.due[1:]
		v.at = now + 1
		b.vrd = append(b.vrd, v)
	}
	if pop {
		b.vrd, b.given = b.vrd[1:], head.end
	}
	// space comes back behind the readers, some time later
	if r.IntN(3) == 0 {
		b.oldest = b.given
	}
	if r.IntN(3) == 0 {
		b.from = max(b.from, b.given-r.IntN(3))
	}
	return nil
}

// write notes a beat that came.
func (b *bench) write(raw, store bool, beat stored, now uint64) {
	if !raw {
		return
	}
	b.underWay--
	if store {
		b.ring[b.tail%size] = beat
		b.tail++
	} else {
		b.unstored++
		if beat.ends && b.tail > 0 { // nothing of this frame comes behind what there is
			b.ring[(b.tail-1)%size].ends = true
		}
	}
	b.newest = b.tail - 1
	if beat.ends {
		b.newest = b.tail
		b.due = append(b.due, verdict{b.tail, b.r.IntN(2) == 0, b.r.IntN(2) == 0, b.r.IntN(2) == 0, now + 1 + uint64(b.delay)})
	}
	b.left--
}

func run(t *testing.T, lib *sim.Lib, p packetbuffer.PacketBuffer, seed, latency uint64) (*bench, error) {
	t.Helper()
	b := &bench{dut: rig.New(t, lib, seed), r: rand.New(rand.NewPCG(seed, 1)), width: p.Bytes, delay: p.EOFDelay, latency: latency}
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
	for _, p := range []packetbuffer.PacketBuffer{small(8, 0), small(8, 3), small(16, 0), small(32, 1), small(64, 0), small(64, 2), small(256, 5)} {
		t.Run(fmt.Sprintf("%d bytes, %d late", p.Bytes, p.EOFDelay), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for seed := range uint64(4) {
				b, err := run(t, lib, p, seed, 1)
				require.NoError(t, err)
				require.Greater(t, b.words, 500)
				require.Greater(t, b.beats, 500)
				require.Greater(t, b.again, 100, "words that are read again behind a beat")
				require.Greater(t, b.unstored, 50)
				require.Greater(t, b.noRoom, 200)
				require.Greater(t, b.tail, 20*size, "the ring wraps")
			}
			_, err := run(t, lib, p, 0, 2)
			require.ErrorContains(t, err, "vrd_valid is true, want false", "a latency one too long must be found")
		})
	}
}

// TestFlow: a beat a cycle in and a word a cycle out, each read in the cycle after the beat that closes it was written, and there one cycle
// later; and the same of beats.
func TestFlow(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, small(8, 0))
	for _, beats := range []bool{false, true} {
		dut := rig.New(t, lib, 9)
		lag := uint64(2) // of a word behind the beat in which it begins, when it is read
		read, data := "rd_en", "rd_data"
		if beats {
			lag, read, data = 1, "byp_re", "byp_data"
		}
		for n := range uint64(100) {
			dut.Set("raw_valid", 1)
			dut.Set("raw_store", 1)
			dut.Set("raw_data", (n+1)<<48|n)
			dut.SetBool(read, n >= lag)
			dut.Set("rd_addr", (n+size-lag)%size)
			dut.Set("rd_next", (n+1+size-lag)%size)
			dut.Set("byp_addr", (n+size-lag)%size)
			dut.Set("byp_from", (max(n, lag)-lag)%size)
			dut.Set("oldest", (max(n, lag)-lag)%size)
			dut.Clock()
			if at := n - lag - 1; n > lag {
				want := (at+1)<<48 | at
				if !beats { // the two upper bytes of one beat, the six lower ones of the next
					want = (at + 1) | (at+1)<<16
				}
				require.Equal(t, want, dut.Get(data), "cycle %d", n)
			}
			require.True(t, dut.Is("room"))
		}
	}
}
