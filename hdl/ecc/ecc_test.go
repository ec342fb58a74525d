// SPDX-License-Identifier: Apache-2.0

package ecc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/ecc"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/ram"
	"incforge/internal/testcost"
	"incforge/sim"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	hdltest.Check(t, []graph.Describer{
		ecc.Memory{In: "inc_ram_1r1w", Words: 3, Bits: 1, AddrW: 2}, ecc.Memory{In: "inc_ram_1r1w", Words: 16, Bits: 69, AddrW: 4, Kind: ecc.Beat},
		ecc.Memory{In: "inc_ram_1r1w", Words: 4, Bits: 256, AddrW: 2, Kind: ecc.Flagged},
	}, nil)
	hdltest.Check(t, []graph.Describer{ecc.Memory{In: "inc_ram_1rw", Words: 5, Bits: 48, AddrW: 3}}, nil)
	regs := ecc.Regs{AxilW: 16, Kinds: 5, Halts: 3, Groups: 2, AtW: 4, IdleW: 11}.At(contract.MemoryBase)
	idle := regs
	idle.IdleW = 17
	hdltest.Check(t, []graph.Describer{regs}, []hdltest.Refused{{Leaf: idle, Params: param("IDLE_W", 17), Rule: "IDLE_W must be 2 to 16"}})
	hdltest.Check(t, []graph.Describer{ecc.Contain{Width: 9, Groups: 1}}, []hdltest.Refused{
		{Leaf: ecc.Contain{Groups: 1}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"}})
	_, err := ecc.Memory{In: "inc_ram_x", Words: 2, Bits: 1, AddrW: 1}.Module()
	require.ErrorContains(t, err, `no memory with check bits for "inc_ram_x"`)
	_, err = ecc.Memory{In: "inc_ram_1r1w", Words: 2, Bits: 1, AddrW: 17}.Module()
	require.ErrorContains(t, err, "ADDR_W must be at most 16")
}

func TestStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       ecc.Kind
		bits, want int
	}{
		{ecc.Zero, 1, 8}, {ecc.Zero, 32, 39}, {ecc.Zero, 33, 41}, {ecc.Zero, 64, 72}, {ecc.Zero, 65, 74}, {ecc.Zero, 128, 137}, {ecc.Zero, 129, 145},
		{ecc.Flagged, 512, 548}, {ecc.Marked, 513, 556}, {ecc.Beat, 69, 96}, {ecc.Beat, 512 + 8, 548 + 30}, {ecc.Beat, 20, 45},
	} {
		assert.Equal(t, c.want, c.kind.Stored(c.bits), "%d bits of kind %d", c.bits, c.kind)
	}
}

// path is one of the bench's: the bits of its data codewords in what is stored, and of all of it.
type path struct {
	kind         ecc.Kind
	bits, stored int
	data         [][2]int
	// last is the bit that ends a frame, -1 if there is none.
	last  int
	taint bool
	word  *sim.Port
}

func paths() []*path {
	return []*path{
		{kind: ecc.Zero, bits: 10, stored: 17, data: [][2]int{{0, 17}}, last: -1},
		{kind: ecc.Beat, bits: 69, stored: 96, data: [][2]int{{0, 72}}, last: 67},
		{kind: ecc.Flagged, bits: 130, stored: 146, data: [][2]int{{0, 137}, {137, 146}}, last: -1},
		{kind: ecc.Marked, bits: 65, stored: 74, data: [][2]int{{0, 74}}, last: -1},
		{kind: ecc.Beat, bits: 20, stored: 45, data: [][2]int{{0, 23}}, last: 18},
	}
}

// TestWords: of each kind, every stored bit inverted alone is corrected and counted, and every two either are or make the word lost, which then says
// so as its kind does; a frame's end is right in any case, and a frame with a lost beat is marked to its end and no further.
func TestWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []string{"inc_ecc_in.v", "inc_ecc_out.v", "testdata/t_ecc.v"}
	for _, data := range []int{32, 64, 128} {
		for _, d := range []graph.Describer{ram.Encode{Data: data}, ram.Decode{Data: data}} {
			m, err := d.Module()
			require.NoError(t, err)
			files = append(files, filepath.Join(dir, m.Name+".v"))
			require.NoError(t, os.WriteFile(files[len(files)-1], m.Source, 0o644))
		}
	}
	lib, err := sim.Build{Top: "t_ecc", Brief: true, Files: files}.Compile(testcost.Context(t))
	require.NoError(t, err)
	m, err := lib.New(sim.Options{Random: true, Seed: 3})
	require.NoError(t, err)
	defer m.Close()
	var in struct {
		Re    *sim.Port `port:"re,in"`
		Data  *sim.Port `port:"data,in"`
		Flip  *sim.Port `port:"flip,in"`
		Fixed *sim.Port `port:"fixed,out"`
		Lost  *sim.Port `port:"lost,out"`
	}
	require.NoError(t, m.Bind(&in))
	all := paths()
	for i, p := range all {
		p.word, err = m.Port(fmt.Sprintf("word%d", i))
		require.NoError(t, err)
	}
	require.NoError(t, m.ResetFor(3))
	r := rand.New(rand.NewPCG(1, 2))
	try := func(flips ...int) {
		t.Helper()
		data := make([]byte, 20)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		flip := make([]byte, 24)
		for _, f := range flips {
			flip[f/8] ^= 1 << (f % 8)
		}
		in.Data.Set(data)
		in.Flip.Set(flip)
		in.Re.SetBool(true)
		require.NoError(t, m.Cycle())
		in.Re.SetBool(false)
		require.NoError(t, m.Cycle())
		for i, p := range all {
			p.check(t, data, flips, in.Fixed.Uint64()>>i&1 != 0, in.Lost.Uint64()>>i&1 != 0)
		}
	}
	try()
	for a := range 146 {
		try(a)
	}
	for range 6000 {
		of := all[r.IntN(len(all))].stored
		a := r.IntN(of)
		try(a, (a+1+r.IntN(of-1))%of)
	}
}

// check compares what came back with what it must be.
func (p *path) check(t *testing.T, data []byte, flips []int, fixed, lost bool) {
	t.Helper()
	inside := func(from, to int) (n int) {
		for _, f := range flips {
			if f >= from && f < to {
				n++
			}
		}
		return n
	}
	bad := slices.ContainsFunc(p.data, func(c [2]int) bool { return inside(c[0], c[1]) > 1 })
	require.Equal(t, bad, lost, "kind %d, %v: lost", p.kind, flips)
	require.Equal(t, !bad && inside(0, p.stored) > 0, fixed, "kind %d, %v: corrected", p.kind, flips)
	bit := func(b []byte, i int) bool { return b[i/8]>>(i%8)&1 != 0 }
	word := p.word.Bytes()
	from := 0
	switch {
	case !bad:
	case p.last >= 0:
		from = 1 << 4 // the frame's bits alone are right
		for from*2 < p.bits {
			from *= 2
		}
	default:
		from = p.bits
	}
	marked := bad || p.taint
	for i := from; i < p.bits; i++ {
		want := bit(data, i) || p.kind == ecc.Beat && i == p.bits-1 && marked
		require.Equal(t, want, bit(word, i), "kind %d, %v: bit %d", p.kind, flips, i)
	}
	switch p.kind {
	case ecc.Zero:
		for i := range p.bits {
			require.False(t, bad && bit(word, i), "kind 0, %v: a lost word is 0", flips)
		}
	case ecc.Marked:
		require.True(t, !bad || bit(word, p.bits-1), "kind 3, %v: a lost word has its highest bit", flips)
	case ecc.Flagged:
		require.Equal(t, marked, bit(word, p.bits), "kind %d, %v: the bit above", p.kind, flips)
	}
	if p.last >= 0 {
		p.taint = marked && !bit(data, p.last)
	}
}
