// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/ram"
	"incforge/internal/testcost"
	"incforge/sim"
)

// memory is the plain model of one instance of t_ram.
type memory struct {
	name        string
	words, bits int
	data        map[int][]byte
	out         []byte // what rdata must be; nil: unknown
}

func (m *memory) random(r *rand.Rand) []byte {
	b := make([]byte, (m.bits+7)/8)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if rest := m.bits % 8; rest != 0 {
		b[len(b)-1] &= 1<<rest - 1
	}
	return b
}

// run writes and reads at random and compares; with newWord, a wrong model expects a collision to return the new word.
func run(dut *rig.Rig, seed uint64, newWord bool) (collisions, holds int, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	var mems []*memory
	for _, m := range []memory{{name: "a", words: 2, bits: 1}, {name: "b", words: 3, bits: 7}, {name: "c", words: 9, bits: 64}, {name: "d", words: 65, bits: 130}} {
		m.data = map[int][]byte{}
		mems = append(mems, &m)
	}
	for range 1000 {
		we, re := r.IntN(2) == 0, r.IntN(2) == 0
		dut.SetBool("we", we)
		dut.SetBool("re", re)
		for _, m := range mems {
			w, a, v := r.IntN(m.words), r.IntN(m.words), m.random(r)
			dut.Set("waddr_"+m.name, uint64(w))
			dut.Set("raddr_"+m.name, uint64(a))
			dut.SetBytes("wdata_"+m.name, v)
			if we && newWord {
				m.data[w] = v
			}
			if re {
				m.out = m.data[a]
			} else {
				holds++
			}
			if we && re && a == w {
				collisions++
			}
			if we {
				m.data[w] = v
			}
		}
		dut.Clock()
		dut.SetBool("we", false)
		dut.SetBool("re", false)
		dut.Clock() // rdata is what this cycle shows
		for _, m := range mems {
			if got := dut.Bytes("rdata_" + m.name); m.out != nil && !bytes.Equal(got, m.out) {
				return collisions, holds, fmt.Errorf("cycle %d, memory %s: rdata is %x, want %x", dut.Now(), m.name, got, m.out)
			}
		}
	}
	return collisions, holds, nil
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "t_ram", Brief: true, Files: []string{"testdata/t_ram.v", "inc_ram_1r1w.v"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	for seed := range uint64(3) {
		collisions, holds, err := run(rig.New(t, lib, seed), seed, false)
		require.NoError(t, err)
		require.Greater(t, collisions, 100)
		require.Greater(t, holds, 100)
	}
	_, _, err = run(rig.New(t, lib, 0), 0, true)
	require.ErrorContains(t, err, "rdata is", "a model that returns the new word must be told apart")
}

func TestDefault(t *testing.T) {
	t.Parallel()
	m, err := ram.RAM{Words: 2, Bits: 1, AddrW: 1}.Module()
	require.NoError(t, err)
	for style := range 3 {
		text, err := ram.Default(m.Source, style)
		require.NoError(t, err)
		require.Contains(t, string(text), fmt.Sprintf("parameter STYLE  = %d\n", style))
		require.Len(t, text, len(m.Source), "nothing else changes")
	}
	_, err = ram.Default([]byte("module other;"), 1)
	require.ErrorContains(t, err, "does not hold")
}

// TestLatencyAndThroughput streams through a memory, a write and a read a cycle, and sees each word exactly one cycle after
// its read.
func TestLatencyAndThroughput(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "t_ram", Brief: true, Files: []string{"testdata/t_ram.v", "inc_ram_1r1w.v"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	dut := rig.New(t, lib, 7)
	dut.Set("we", 1)
	for n := range uint64(40) {
		dut.Set("waddr_c", n%9)
		dut.Set("wdata_c", n*0x0101010101010101)
		dut.SetBool("re", n >= 1)
		dut.Set("raddr_c", (n+8)%9) // the word written in the cycle before
		dut.Clock()
		if n >= 2 {
			require.Equal(t, (n-2)*0x0101010101010101, dut.Get("rdata_c"), "the word read in the cycle before")
		}
	}
}
