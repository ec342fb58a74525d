// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/ram"
)

// row is what the model knows of a row: nothing before it is written.
type row struct {
	data      []byte
	poison    bool // all codewords spoilt
	injected  int  // of the lowest bits
	corrected bool // what a read must say
	bad       bool
}

// dataBits is how many data bits a codeword has.
func dataBits(p ram.Payload) int {
	if p.Bits%1024 == 0 {
		return 1024
	}
	return min(p.Bits, 128)
}

// payloadRun writes and reads p at random for some cycles and compares with the plain model, every cycle. How often things
// happened is in seen.
func payloadRun(dut *rig.Rig, p ram.Payload, seed uint64, seen map[string]int) error {
	r := rand.New(rand.NewPCG(seed, 3))
	// Some rows of all, the first and the last among them, so that each is used often.
	some := min(p.Rows, 48)
	pick := func() int { return r.IntN(some) * (p.Rows - 1) / (some - 1) }
	rows := make([]*row, p.Rows)
	var read *row // leaves the memory; nil: unknown
	var out *row  // at the outputs
	word := dataBits(p) / 8
	for range 4000 {
		we, re := r.IntN(4) != 0, r.IntN(4) != 0
		w, a := pick(), pick()
		if r.IntN(4) == 0 {
			a = w
		}
		next := &row{data: make([]byte, p.Bits/8)}
		for i := range next.data {
			next.data[i] = byte(r.Uint32())
		}
		inject := 0
		if r.IntN(2) == 0 {
			inject = r.IntN(4)
		}
		next.poison, next.injected = r.IntN(6) == 0, min(inject, 2)
		if p.ECC == 1 {
			next.bad = next.poison || next.injected == 2
			next.corrected = next.injected == 1 && !next.bad
		}
		dut.SetBool("we", we)
		dut.Set("waddr", uint64(w))
		dut.SetBytes("wdata", next.data)
		dut.SetBool("wpoison", next.poison)
		dut.Set("inject", uint64(inject))
		dut.SetBool("re", re)
		dut.Set("raddr", uint64(a))
		move := r.IntN(4) != 0
		dut.SetBool("move", move)
		dut.Clock()

		ready := p.Banks == 1 || !we || w%p.Banks != a%p.Banks
		if got := dut.Is("re_ready"); got != ready {
			return fmt.Errorf("cycle %d: re_ready is %t, want %t: write %t %d, read %t %d", dut.Now(), got, ready, we, w, re, a)
		}
		if out != nil {
			corrected, bad := dut.Is("r_corrected"), dut.Is("r_poison")
			if corrected != out.corrected || bad != out.bad {
				return fmt.Errorf("cycle %d: corrected %t, poison %t, want %t, %t", dut.Now(), corrected, bad, out.corrected, out.bad)
			}
			from := 0
			switch {
			case p.ECC == 0:
			case out.poison:
				from = len(out.data)
			case out.bad:
				from = word // only the lowest codeword is spoilt
			}
			if got := dut.Bytes("rdata"); !bytes.Equal(got[from:], out.data[from:]) {
				return fmt.Errorf("cycle %d: rdata is %x, want %x from byte %d", dut.Now(), got, out.data, from)
			}
			switch {
			case out.poison && out.injected != 0:
				seen["poison and inject"]++
			case out.poison:
				seen["poison"]++
			default:
				seen[fmt.Sprint("inject ", out.injected)]++
			}
			if re && !ready {
				seen["not taken"]++
			}
			if !re && we {
				seen["hold"]++
			}
			if p.ECC == 1 && !move && out != read {
				seen["waits"]++
			}
		}
		if p.ECC == 1 && move {
			out = read
		}
		if re && ready {
			read = rows[a]
			if we && a == w && read != nil {
				seen["collision"]++
			}
			if we {
				seen["write and read"]++
			}
		}
		if p.ECC == 0 {
			out = read
		}
		if we {
			rows[w] = next
		}
	}
	return nil
}

// swapped is a payload memory with the wrapper of that name replaced, and a macro in it if there is one.
type swapped struct {
	ram.Payload
	name           string
	wrapper, macro []byte
}

func (s swapped) Module() (*graph.Module, error) {
	m, err := s.Payload.Module()
	if err != nil {
		return nil, err
	}
	for i, sub := range m.Submodules {
		if sub.Name == s.name {
			other := *sub
			other.Source, other.Submodules = s.wrapper, nil
			if s.macro != nil {
				other.Submodules = []*graph.Module{{Name: "sram_1rw_1024x137", Source: s.macro}}
			}
			m.Submodules[i] = &other
		}
	}
	return m, nil
}

// TestMacros runs the example of docs/memories.md, macros two wide and three deep, in the place of the wrapper.
func TestMacros(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/memories.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```verilog\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 2)
	p := ram.Payload{Rows: 4500, Bits: 256, AddrW: 13, Banks: 2, ECC: 1}
	lib := rig.Lib(t, swapped{p, "inc_mem_payload_1p", blocks[0][1], blocks[1][1]})
	seen := map[string]int{}
	for seed := range uint64(3) {
		require.NoError(t, payloadRun(rig.New(t, lib, seed), p, seed, seen))
	}
	require.Greater(t, seen["hold"], 500)
}

// TestAnyCodeword: errors in any codeword of a row are corrected or told, not only in the lowest, where errors can be injected.
func TestAnyCodeword(t *testing.T) {
	t.Parallel()
	wrapper, err := os.ReadFile("testdata/faulty.v")
	require.NoError(t, err)
	for _, bits := range []int{512, 2048} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			t.Parallel()
			p := ram.Payload{Rows: 256, Bits: bits, AddrW: 8, Banks: 1, ECC: 1}
			code := []byte(fmt.Sprint("localparam CODE = ", dataBits(p)+checks(dataBits(p)), ";"))
			require.Equal(t, 1, bytes.Count(wrapper, []byte("localparam CODE = 137;")))
			dut := rig.New(t, rig.Lib(t, swapped{p, "inc_mem_payload_2p", bytes.Replace(wrapper, []byte("localparam CODE = 137;"), code, 1), nil}), 9)
			m := memory{bits: p.Bits}
			r := rand.New(rand.NewPCG(9, 5))
			for a := range p.Rows {
				want := m.random(r)
				dut.Set("waddr", uint64(a))
				dut.SetBytes("wdata", want)
				dut.Set("we", 1)
				dut.Clock()
				dut.Set("we", 0)
				dut.Set("re", 1)
				dut.Set("raddr", uint64(a))
				dut.Clock()
				dut.Set("re", 0)
				dut.Set("move", 1)
				dut.Clock()
				dut.Set("move", 0)
				dut.Clock()
				require.Equal(t, a%2 == 1, dut.Is("r_corrected"), "row %d", a)
				require.Equal(t, a%4 == 2, dut.Is("r_poison"), "row %d", a)
				if a%4 != 2 {
					require.Equal(t, want, dut.Bytes("rdata"), "row %d", a)
				}
			}
		})
	}
}

func TestPayload(t *testing.T) {
	t.Parallel()
	for _, p := range []ram.Payload{
		{Rows: 16, Bits: 64, AddrW: 4, Banks: 1},
		{Rows: 9, Bits: 64, AddrW: 4, Banks: 1, ECC: 1, Style: 1},
		{Rows: 16, Bits: 256, AddrW: 4, Banks: 1, ECC: 1, Style: 2},
		{Rows: 11, Bits: 160, AddrW: 4, Banks: 2},
		{Rows: 8, Bits: 32, AddrW: 3, Banks: 2, ECC: 1, Style: 1},
		{Rows: 16, Bits: 96, AddrW: 4, Banks: 4, Style: 2},
		{Rows: 300, Bits: 384, AddrW: 9, Banks: 4, ECC: 1},
		{Rows: 33, Bits: 128, AddrW: 6, Banks: 16, ECC: 1},
		{Rows: 33, Bits: 1152, AddrW: 6, Banks: 1, ECC: 1},
		{Rows: 33, Bits: 1536, AddrW: 6, Banks: 2, ECC: 1},
	} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			seen := map[string]int{}
			for seed := range uint64(3) {
				require.NoError(t, payloadRun(rig.New(t, lib, seed), p, seed, seen))
			}
			want := []string{"hold", "write and read", "inject 0", "inject 1", "inject 2", "poison", "poison and inject"}
			if p.Banks == 1 {
				want = append(want, "collision")
			} else {
				want = append(want, "not taken")
			}
			if p.ECC == 1 {
				want = append(want, "waits")
			}
			for _, what := range want {
				require.Greater(t, seen[what], 50, what)
			}
			require.Equal(t, len(want), len(seen), "%v", seen)
		})
	}
}

// TestOnePort writes and reads inc_ram_1rw at random and compares with a plain model, every cycle.
func TestOnePort(t *testing.T) {
	t.Parallel()
	for _, p := range []ram.OnePort{
		{Words: 2, Bits: 1, AddrW: 1}, {Words: 9, Bits: 64, AddrW: 4, Style: 1}, {Words: 7, Bits: 7, AddrW: 3, Style: 2}, {Words: 65, Bits: 137, AddrW: 7},
	} {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			t.Parallel()
			dut := rig.New(t, rig.Lib(t, p), 5)
			r := rand.New(rand.NewPCG(5, 4))
			m := memory{bits: p.Bits, data: map[int][]byte{}}
			var idle, writes int // with a known word at the output
			for range 3000 {
				en, we, a, v := r.IntN(4) != 0, r.IntN(2) == 0, r.IntN(p.Words), m.random(r)
				dut.SetBool("en", en)
				dut.SetBool("we", we)
				dut.Set("addr", uint64(a))
				dut.SetBytes("wdata", v)
				dut.Clock()
				if m.out != nil {
					require.Equal(t, m.out, dut.Bytes("rdata"), "cycle %d", dut.Now())
					if !en {
						idle++
					} else if we {
						writes++
					}
				}
				switch {
				case en && we:
					m.data[a] = v
				case en:
					m.out = m.data[a]
				}
			}
			require.Greater(t, idle, 100)
			require.Greater(t, writes, 100)
		})
	}
}
