// SPDX-License-Identifier: Apache-2.0

package icrc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/icrc"
	"incforge/internal/testcost"
	"incforge/roce"
	"incforge/sim"
)

const mtu = 1024

// long is whether the widest models are compiled as well, which takes minutes: make long.
func long() bool { return os.Getenv("INCFORGE_LONG") != "" }

func widest() map[string]string { return map[string]string{"WIDEST": ""} }

// set is widths that one model has, and what defines it.
type set struct {
	widths  []int
	defines map[string]string
}

func sets() []set {
	all := []set{{[]int{8, 16, 32, 64}, nil}, {[]int{128, 256}, map[string]string{"WIDE": ""}}}
	if long() {
		all = append(all, set{[]int{512, 2048}, widest()})
	}
	return all
}

// late is how many cycles more check and insertion take at that width.
func late(w int) int {
	if w > 64 {
		return 1
	}
	return 0
}

// compile builds a top of testdata with the tables of these widths.
func compile(t *testing.T, top string, widths []int, params, defines map[string]string) *sim.Lib {
	t.Helper()
	b := sim.Build{Top: top, Brief: true, Files: []string{"testdata/" + top + ".sv", "inc_icrc_check.v", "inc_icrc_insert.v"}, Params: params, Defines: defines}
	dir := t.TempDir()
	for _, w := range widths {
		for _, d := range []graph.Describer{icrc.Step{Bytes: w}, icrc.Residue{Bytes: w}, icrc.Tail{Bytes: w}} {
			m, err := d.Module()
			require.NoError(t, err)
			name := filepath.Join(dir, m.Name+".v")
			require.NoError(t, os.WriteFile(name, m.Source, 0o644))
			b.Files = append(b.Files, name)
		}
	}
	lib, err := b.Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

// pair builds check and insertion of a set's widths.
func pair(t *testing.T, s set) *sim.Lib {
	t.Helper()
	return compile(t, "t_icrc", s.widths, map[string]string{"INIT": fmt.Sprintf("32'h%08x", icrc.Init())}, s.defines)
}

// each runs f for every width, with the model that has it.
func each(t *testing.T, f func(t *testing.T, lib *sim.Lib, w int)) {
	t.Helper()
	for _, s := range sets() {
		lib := pair(t, s)
		for _, w := range s.widths {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				f(t, lib, w)
			})
		}
	}
}

func packet(r *rand.Rand, op roce.Opcode, payload int) *roce.Packet {
	p := &roce.Packet{
		DstMAC: roce.MACFromUint64(r.Uint64()), SrcMAC: roce.MACFromUint64(r.Uint64()), TOS: uint8(r.Uint32()), TTL: uint8(r.Uint32()),
		IPID: uint16(r.Uint32()), DF: true, SrcIP: roce.IP4FromUint32(r.Uint32()), DstIP: roce.IP4FromUint32(r.Uint32()),
		SrcPort: uint16(r.Uint32()), Op: op, SE: r.IntN(2) == 0, PKey: 0xFFFF, BECN: r.IntN(2) == 0, DestQP: r.Uint32() >> 8,
		AckReq: r.IntN(2) == 0, PSN: roce.PSN(r.Uint32() >> 8), Syndrome: uint8(r.Uint32()), MSN: r.Uint32() >> 8, Imm: r.Uint32(),
	}
	if op.IsSend() {
		p.Payload = random(r, payload)
		p.Pad = uint8(-payload & 3)
	}
	return p
}

// traffic is frames of every payload length in steps of four, without and with immediate, odd ones with pad bytes, and ACKs
// and CNPs; short ones are padded to 60 bytes, or not. For wide beats it is the lengths about the ends of the first few beats,
// and some between.
func traffic(r *rand.Rand, w int) [][]byte {
	var out [][]byte
	bare := roce.GoodFrame()
	bare.MinFrame = 0
	add := func(n int) {
		out = append(out, packet(r, roce.SendMiddle, n).AppendFrame(nil), packet(r, roce.SendLastImm, n).AppendFrame(nil))
		if n < 100 {
			out = append(out, packet(r, roce.SendOnly, n+1+r.IntN(3)).AppendFrame(nil), packet(r, roce.SendOnly, n).AppendFrameWith(nil, bare))
			out = append(out, packet(r, roce.Acknowledge, 0).AppendFrame(nil), packet(r, roce.CNP, 0).AppendFrame(nil))
		}
	}
	if w <= 64 {
		for n := 0; n <= mtu; n += 4 {
			add(n)
		}
	} else {
		for n := 0; n < 100; n += 8 {
			add(n)
		}
		for beat := w; beat <= 3*w; beat += w {
			for n := beat - 80; n < beat-40; n += 4 { // 54 or 58 bytes of headers, 4 of ICRC
				add(n)
			}
			for range 10 {
				add(beat - 4 - 4*r.IntN(w/4))
			}
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// end is where the frame's IP datagram ends.
func end(f []byte) int { return 14 + int(binary.BigEndian.Uint16(f[16:])) }

// mask is the datagram as the parser hands it to the check: zeros for the Ethernet header, ones for what may change.
func mask(f []byte) []byte {
	m := bytes.Clone(f[:end(f)])
	clear(m[:14])
	for _, i := range []int{15, 22, 24, 25, 40, 41, 46} {
		m[i] = 0xFF
	}
	return m
}

func part(b []byte, from, n int) []byte {
	out := make([]byte, n)
	if from < len(b) {
		copy(out, b[from:])
	}
	return out
}

// TestCheckAgainstRoCE sends frames back to back, and with cycles between beats in which nothing is valid.
func TestCheckAgainstRoCE(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lib *sim.Lib, w int) {
		dut := rig.New(t, lib, uint64(w))
		dut.Set("checking", 1)
		pin := func(name string) string { return fmt.Sprintf("n%d_%s", w, name) }
		r := rand.New(rand.NewPCG(uint64(w), 2))
		good, bad := 0, 0
		held := uint64(0) // crc_tail of the beat before: at wide ones it comes a cycle later
		type verdict struct {
			cycle uint64
			ok    bool
			frame []byte
		}
		var due []verdict
		clock := func(tail uint64) {
			if late(w) > 0 {
				tail, held = held, tail
			}
			dut.Set(pin("crc_tail"), tail)
			dut.Clock()
			for len(due) > 0 && due[0].cycle == dut.Now() {
				require.Equal(t, due[0].ok, dut.Is(pin("icrc_ok")), "%d bytes wide, frame %x", w, due[0].frame)
				due = due[1:]
			}
		}
		anything := func() uint64 { return r.Uint64N(uint64(w)) }
		idle := func() { // a cycle without crc_valid changes nothing
			dut.Set(pin("crc_valid"), 0)
			dut.SetBool(pin("crc_first"), r.IntN(2) == 0)
			dut.SetBytes(pin("crc_data"), random(r, w))
			clock(anything())
		}
		for n, f := range traffic(r, w) {
			switch r.IntN(4) {
			case 0: // a bit anywhere in the datagram, which may be one that does not count, or one of the ICRC; not in
				// the lengths, which are the parser's business
				bit := 8*18 + r.IntN(8*(end(f)-18))
				f[bit/8] ^= 1 << (bit % 8)
			case 1: // what routers may change
				f[[]int{15, 22, 24, 25, 40, 41, 46}[r.IntN(7)]] ^= byte(1 + r.IntN(255))
			}
			want := roce.CheckICRC(f)
			covered := mask(f)
			for at := 0; at < len(covered); at += w {
				for n/20%2 == 1 && r.IntN(2) == 0 {
					idle()
				}
				dut.Set(pin("crc_valid"), 1)
				dut.SetBool(pin("crc_first"), at == 0)
				dut.SetBytes(pin("crc_data"), part(covered, at, w))
				tail := anything()
				if at+w >= len(covered) {
					tail = uint64(-len(covered) & (w - 1))
				}
				clock(tail)
			}
			due = append(due, verdict{dut.Now() + 1 + uint64(late(w)), want, f})
			if want {
				good++
			} else {
				bad++
			}
		}
		for range 3 {
			idle()
		}
		require.Empty(t, due)
		require.Greater(t, good, 60)
		require.Greater(t, bad, 20)
	})
}

// TestInsertAgainstRoCE sends frames without an ICRC and gets what package roce makes, two cycles later, with beats of 64 bytes one, and without
// bubbles while nothing presses back, and beats that hold while something does.
func TestInsertAgainstRoCE(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, lib *sim.Lib, w int) {
		for name, c := range map[string]struct{ idle, pressure int }{"back to back": {}, "pressure": {0, 40}, "idle": {40, 0}, "both": {30, 50}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				frames := traffic(rand.New(rand.NewPCG(uint64(w), 3)), w)
				if name != "back to back" {
					frames = frames[:min(200, len(frames))]
				}
				latency := uint64(2)
				if w == 64 {
					latency = 1
				}
				require.NoError(t, insert(rig.New(t, lib, uint64(w+c.idle)), w, frames, c.idle, c.pressure, latency))
			})
		}
	})
	lib := pair(t, sets()[0])
	r := rand.New(rand.NewPCG(1, 1))
	require.ErrorContains(t, insert(rig.New(t, lib, 1), 8, traffic(r, 8)[:9], 0, 0, 3), "want it in cycle", "a latency one too long must be found")
	f := packet(r, roce.SendOnly, 40).AppendFrame(nil)
	f[len(f)-2] ^= 1
	require.ErrorContains(t, insert(rig.New(t, lib, 1), 8, [][]byte{f}, 0, 0, 2), "want", "a wrong ICRC must be found")
}

// insert sends the frames with their ICRCs taken out and compares what comes. Percentages say how often the sender idles and
// the receiver presses back; with no pressure every beat must take latency cycles.
func insert(dut *rig.Rig, w int, frames [][]byte, idle, pressure int, latency uint64) error {
	pin := func(name string) string { return fmt.Sprintf("n%d_%s", w, name) }
	r := rand.New(rand.NewPCG(uint64(w), uint64(idle*100+pressure)))
	type beat struct {
		data       []byte
		last       bool
		port, size uint64
		taken      uint64
	}
	var want []beat // sent, not come out
	offered := false
	first, last := uint64(0), uint64(0)
	beats, out := 0, 0
	bad := r.IntN(2) == 0 // the frame that is being sent
	var held []byte       // what m showed while it was not taken
	for n, at := 0, 0; n < len(frames) || len(want) > 0; {
		var next beat
		if n < len(frames) {
			f := frames[n]
			stop := end(f) - 4 // where the ICRC lies
			bare := bytes.Clone(f)
			clear(bare[stop:])
			clear(bare[24:26])
			if bad {
				f = bytes.Clone(f)
				for i := range 4 {
					f[stop+i] ^= 0xFF
				}
			}
			next = beat{data: part(f, at, w), last: at+w >= len(f), port: uint64(n % 8), size: uint64(len(f) % w)}
			offered = offered || r.IntN(100) >= idle
			dut.SetBool(pin("s_valid"), offered)
			check := uint64(0) // the IP checksum, which comes beside the bytes
			if place := 24 - at; place >= 0 && place < w {
				check = uint64(binary.LittleEndian.Uint16(f[24:]))
			}
			dut.Set(pin("s_check"), check)
			dut.SetBytes(pin("s_data"), part(bare, at, w))
			dut.Set(pin("s_size"), next.size)
			dut.SetBool(pin("s_first"), at == 0)
			dut.SetBool(pin("s_last"), next.last)
			dut.Set(pin("s_port"), next.port)
			dut.Set(pin("s_front"), uint64(1)<<(at/w)&(1<<max(64/w, 1)-1))
			dut.Set(pin("s_left"), uint64(stop-at)&0x1FFFF)
			// Before the first byte of the ICRC nobody looks.
			dut.SetBool(pin("s_bad"), bad || (stop-at >= w && r.IntN(2) == 0))
		} else {
			dut.Set(pin("s_valid"), 0)
		}
		dut.SetBool(pin("m_ready"), r.IntN(100) >= pressure)
		dut.Clock()

		now := dut.Now()
		if dut.Is(pin("m_valid")) {
			got := append(dut.Bytes(pin("m_data")), byte(dut.Get(pin("m_size"))), byte(dut.Get(pin("m_size"))>>8),
				byte(dut.Get(pin("m_port"))), byte(dut.Get(pin("m_last"))))
			if held != nil && !bytes.Equal(held, got) {
				return fmt.Errorf("cycle %d: a beat changed while it waited", now)
			}
			held = got
			if dut.Is(pin("m_ready")) {
				held = nil
				if len(want) == 0 {
					return fmt.Errorf("cycle %d: a beat that nobody sent", now)
				}
				e := want[0]
				want = want[1:]
				full := append(bytes.Clone(e.data), byte(e.size), byte(e.size>>8), byte(e.port), byte(b2i(e.last)))
				if !bytes.Equal(full, got) {
					return fmt.Errorf("cycle %d, %d bytes wide: got beat\n%x, want\n%x", now, w, got, full)
				}
				if pressure == 0 && now != e.taken+latency {
					return fmt.Errorf("cycle %d: a beat taken in cycle %d, want it in cycle %d", now, e.taken, e.taken+latency)
				}
				out++
				last = now
			}
		} else if held != nil {
			return fmt.Errorf("cycle %d: a beat vanished while it waited", now)
		}
		if n < len(frames) && offered && dut.Is(pin("s_ready")) {
			next.taken = now
			want = append(want, next)
			offered = false
			if beats++; beats == 1 {
				first = now
			}
			if at += w; next.last {
				n, at, bad = n+1, 0, r.IntN(3) == 0
			}
		}
		if now > 500000 {
			return fmt.Errorf("stuck: %d of %d frames sent", n, len(frames))
		}
	}
	if idle == 0 && pressure == 0 && last-first+1 != uint64(out)+latency {
		return fmt.Errorf("%d beats took %d cycles: there were bubbles", out, last-first+1-latency)
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
