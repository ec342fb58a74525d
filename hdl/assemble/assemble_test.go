// SPDX-License-Identifier: Apache-2.0

package assemble_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/assemble"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/leaf"
	"incforge/roce"
	"incforge/sim"
)

// longest is the longest payload tested, in bytes.
func longest(bytes int) int { return max(320, 3*bytes) }

func of(bytes int) assemble.Assemble {
	n := longest(bytes)
	return assemble.Assemble{Bytes: bytes, PortW: 2, LenW: leaf.Clog2(n + 1), WordsW: leaf.Clog2(n/bytes + 1)}
}

// lengths are all payload lengths, and for wide beats those about the beats' ends and some between.
func lengths(bytes int) []int {
	var out []int
	for n := range longest(bytes) + 1 {
		if at := (n + 72) % bytes; bytes <= 64 || at < 24 || n < 12 || n%(bytes/8+1) == 0 { // headers and ICRC are 58 or 62 bytes
			out = append(out, n)
		}
	}
	return out
}

// widths are those that the tests go through; the widest takes a compiler a minute (make long).
func widths() []int {
	all := []int{8, 16, 32, 64, 128, 512}
	if os.Getenv("INCFORGE_LONG") != "" {
		all = append(all, 2048)
	}
	return all
}

// frame is what goes in and what must come out.
type frame struct {
	port    uint64
	header  []byte // 58, zeros behind a short one
	long    bool
	payload []byte
	want    []byte // with zeros for the ICRC
	covered int
	sumA    uint16 // their one's complement sum is the inverse of the IP checksum
	sumB    uint16
	bad     int // which payload word, -1 for none
}

func newFrame(rng *rand.Rand, op roce.Opcode, length int, pad uint8) frame {
	p := roce.Packet{DstMAC: roce.MACFromUint64(rng.Uint64()), SrcMAC: roce.MACFromUint64(rng.Uint64()), TOS: uint8(rng.Uint32()), TTL: 64,
		SrcIP: roce.IP4FromUint32(rng.Uint32()), DstIP: roce.IP4FromUint32(rng.Uint32()), SrcPort: uint16(rng.Uint32()), Op: op, Pad: pad,
		PKey: roce.DefaultPKey, DestQP: rng.Uint32N(1 << 24), PSN: roce.PSN(rng.Uint32N(1 << 24)), Imm: rng.Uint32(), MSN: rng.Uint32N(1 << 24)}
	f := frame{port: rng.Uint64N(4), long: op.HasImm() || op.HasAETH(), bad: -1}
	if op.IsSend() {
		f.payload = make([]byte, length)
		for i := range f.payload {
			f.payload[i] = byte(1 + rng.IntN(255))
		}
		p.Payload = f.payload
	}
	f.want = p.AppendFrameWith(nil, roce.FrameOptions{FixLengths: true, FixChecksum: true, MinFrame: roce.MinFrame})
	f.covered = 14 + int(f.want[16])<<8 + int(f.want[17]) - 4
	f.header = make([]byte, 58)
	n := 54
	if f.long {
		n = 58
	}
	copy(f.header, f.want[:n])
	sum := ^binary.BigEndian.Uint16(f.header[24:])
	f.sumA = uint16(rng.Uint32())
	f.sumB = sum - f.sumA
	if sum < f.sumA { // a carry comes back in
		f.sumB--
	}
	return f
}

type bench struct {
	*rig.Rig
	bytes   int
	rng     *rand.Rand
	frames  []frame
	head    int
	word    int // of the head frame, next
	header  func() bool
	words   func() bool
	ready   func() bool
	offered bool // a word, since it was not taken yet
	shown   bool // a header, likewise

	got    [][]byte
	part   []byte
	beats  int
	beatAt []uint64
}

func newBench(t *testing.T, lib *sim.Lib, bytes int, seed uint64) *bench {
	yes := func() bool { return true }
	return &bench{Rig: rig.New(t, lib, seed), bytes: bytes, rng: rand.New(rand.NewPCG(seed, 1)), header: yes, words: yes, ready: yes}
}

func (b *bench) count(f frame) int { return (len(f.payload) + b.bytes - 1) / b.bytes }

// cycle passes a clock and checks the beat that leaves.
func (b *bench) cycle(t *testing.T) {
	b.shown = b.head < len(b.frames) && (b.shown || b.header())
	b.SetBool("hdr_valid", b.shown)
	b.SetBool("word_valid", false)
	if b.shown {
		f := b.frames[b.head]
		b.Set("hdr_port", f.port)
		// the checksum comes as two numbers of which it is the inverted sum
		header := slices.Clone(f.header)
		clear(header[24:26])
		b.SetBytes("hdr_bytes", header)
		b.Set("hdr_sum_a", uint64(f.sumA))
		b.Set("hdr_sum_b", uint64(f.sumB))
		b.SetBool("hdr_long", f.long)
		b.Set("hdr_plen", uint64(len(f.payload)))
		b.Set("hdr_words", uint64(b.count(f)))
		b.Set("hdr_covered", uint64(f.covered))
		b.Set("hdr_total", uint64(len(f.want)))
	}
	// A word may come before its header, and its bytes behind the payload's end are anything.
	if frame, at := b.nextWord(); frame < len(b.frames) {
		b.offered = b.offered || b.words()
		b.SetBool("word_valid", b.offered)
		w := make([]byte, b.bytes)
		n := copy(w, b.frames[frame].payload[at*b.bytes:])
		for i := n; i < len(w); i++ {
			w[i] = 0xDB
		}
		b.SetBytes("word_data", w)
		b.SetBool("word_bad", at == b.frames[frame].bad)
	} else {
		b.SetBool("word_bad", true) // of no word
	}
	b.SetBool("m_ready", b.ready())
	b.Clock()
	if b.Is("word_ready") {
		require.True(t, b.Is("word_valid"), "a word was taken that is not there")
		b.word++
		b.offered = false
	}
	if b.Is("hdr_pop") {
		require.True(t, b.shown, "a header was taken that is not there")
		require.Equal(t, b.count(b.frames[b.head]), b.word, "frame %d: words taken", b.head)
		b.head++
		b.word, b.shown = 0, false
	}
	if b.Is("m_valid") && b.Is("m_ready") {
		b.beat(t)
	}
}

// nextWord finds the word after the ones taken.
func (b *bench) nextWord() (frame, at int) {
	frame, at = b.head, b.word
	for frame < len(b.frames) && at >= b.count(b.frames[frame]) {
		frame, at = frame+1, 0
	}
	return frame, at
}

func (b *bench) beat(t *testing.T) {
	f := b.frames[len(b.got)]
	b.beatAt = append(b.beatAt, b.Now())
	at := b.beats * b.bytes
	require.Equal(t, b.beats == 0, b.Is("m_first"), "first")
	require.Equal(t, uint64(1)<<b.beats&(1<<max(64/b.bytes, 1)-1), b.Get("m_front"), "front")
	require.Equal(t, uint64(f.covered-at)&0x1FFFF, b.Get("m_left"), "left")
	require.Equal(t, f.port, b.Get("m_port"), "port")
	header := 54
	if f.long {
		header = 58
	}
	require.Equal(t, f.bad >= 0 && b.beats >= header/b.bytes+f.bad, b.Is("m_bad"), "bad in beat %d, word %d was", b.beats, f.bad)
	if f.bad >= 0 && at+b.bytes > f.covered {
		require.True(t, b.Is("m_bad"), "known where the ICRC begins")
	}
	kept := min(b.bytes, len(f.want)-at)
	data := b.Bytes("m_data")
	require.Equal(t, uint64(len(f.want)%b.bytes), b.Get("m_size"), "size of the last beat")
	check := uint16(b.Get("m_check"))
	if place := 24 - at; place >= 0 && place < b.bytes {
		require.Zero(t, data[place]|data[place+1], "the checksum's place")
		data[place], data[place+1] = byte(check), byte(check>>8)
	} else {
		require.Zero(t, check, "a checksum in beat %d", b.beats)
	}
	for i := range data {
		if i >= kept && data[i] != 0 {
			require.Fail(t, "data", "byte %d, which is not kept", i)
		}
	}
	b.part = append(b.part, data[:kept]...)
	b.beats++
	last := b.beats*b.bytes >= len(f.want)
	require.Equal(t, last, b.Is("m_last"), "last")
	if last {
		require.Equal(t, f.want, b.part, "%d bytes of payload", len(f.payload))
		b.got = append(b.got, b.part)
		b.part, b.beats = nil, 0
	}
}

func (b *bench) run(t *testing.T) {
	t.Helper()
	for n := 0; len(b.got) < len(b.frames); n++ {
		require.Less(t, n, 200000, "%d frames of %d", len(b.got), len(b.frames))
		b.cycle(t)
	}
	for range 10 {
		b.cycle(t)
	}
}

// TestFrames: every payload length, in both header forms, at any pace of headers, words and output, against roce's bytes.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, bytes := range widths() {
		t.Run(fmt.Sprintf("%d bytes", bytes), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, of(bytes))
			seeds := uint64(4)
			if bytes > 64 {
				seeds = 2
			}
			for seed := range seeds {
				b := newBench(t, lib, bytes, seed)
				pace := func() func() bool {
					percent := []int{100, 100, 60, 25}[b.rng.IntN(4)]
					return func() bool { return b.rng.IntN(100) < percent }
				}
				if seed > 0 {
					b.header, b.words, b.ready = pace(), pace(), pace()
				}
				for _, length := range lengths(bytes) {
					// all lengths, multiples of 4 with pad bytes or without: body bytes are a multiple of 4
					pad := uint8(-length & 3)
					b.frames = append(b.frames, newFrame(b.rng, roce.SendOnly, length, pad), newFrame(b.rng, roce.SendLastImm, length, pad))
					if n := len(b.frames) - 1; length > 0 && b.rng.IntN(3) == 0 {
						b.frames[n].bad = b.rng.IntN((length + bytes - 1) / bytes)
					}
					if length%16 == 0 {
						b.frames = append(b.frames, newFrame(b.rng, roce.Acknowledge, 0, 0), newFrame(b.rng, roce.CNP, 0, 0))
					}
				}
				b.rng.Shuffle(len(b.frames), func(i, j int) { b.frames[i], b.frames[j] = b.frames[j], b.frames[i] })
				b.run(t)
				if seed == 0 { // nothing ever waits: a beat in every cycle
					n := len(b.beatAt)
					require.Equal(t, uint64(n-1), b.beatAt[n-1]-b.beatAt[0], "bubbles")
				}
			}
		})
	}
}

// TestLatency: one cycle from the header, and from the word if the first beat needs it, to the first beat.
func TestLatency(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{8, 64} {
		lib := rig.Lib(t, of(bytes))
		b := newBench(t, lib, bytes, 9)
		asked, words := uint64(0), uint64(0)
		b.header = func() bool { asked = b.Now() + 1; return true }
		b.words = func() bool { words = b.Now() + 1; return b.Now() > 20 }
		b.frames = []frame{newFrame(b.rng, roce.SendOnly, 16, 0)}
		b.run(t)
		first := asked
		if bytes == 64 {
			first = words // byte 54 is in the first beat
		}
		require.Equal(t, first+1, b.beatAt[0], "%d bytes", bytes)
	}
}
