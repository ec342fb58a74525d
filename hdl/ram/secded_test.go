// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/ram"
	"incforge/internal/testcost"
	"incforge/sim"
)

// checks is how many check bits a codeword has.
func checks(data int) int { return map[int]int{32: 7, 64: 8, 128: 9, 1024: 12}[data] }

func source(t *testing.T, d graph.Describer) string {
	t.Helper()
	m, err := d.Module()
	require.NoError(t, err)
	return string(m.Source)
}

// columns reads the check matrix back from the printed encoder: the syndrome of each data bit.
func columns(t *testing.T, data int) []uint {
	t.Helper()
	rows := regexp.MustCompile(`assign check\[(\d+)\] = \^\(data & (\d+)'h([0-9a-f]+)\)`).FindAllStringSubmatch(source(t, ram.Encode{Data: data}), -1)
	require.Len(t, rows, checks(data))
	column := make([]uint, data)
	for i, row := range rows {
		require.Equal(t, strconv.Itoa(i), row[1])
		require.Equal(t, strconv.Itoa(data), row[2])
		mask, ok := new(big.Int).SetString(row[3], 16)
		require.True(t, ok)
		for k := range data {
			column[k] |= mask.Bit(k) << i
		}
	}
	return column
}

// TestMatrix holds the check matrices to the definition of the code: columns odd, different, none a check bit's, as few ones as
// there can be, and rows of equal length within one.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for data, ones := range map[int]int{32: 32 * 3, 64: 56*3 + 8*5, 128: 84*3 + 44*5, 1024: 220*3 + 792*5 + 12*7} {
		seen := map[uint]bool{}
		rows := make([]int, checks(data))
		total := 0
		for _, v := range columns(t, data) {
			weight := bits.OnesCount(v)
			require.Equal(t, 1, weight%2)
			require.Greater(t, weight, 1)
			require.False(t, seen[v])
			seen[v] = true
			total += weight
			for i := range rows {
				rows[i] += int(v >> i & 1)
			}
		}
		require.Equal(t, ones, total, "%d data bits", data)
		least, most := rows[0], rows[0]
		for _, n := range rows {
			least, most = min(least, n), max(most, n)
		}
		require.LessOrEqual(t, most-least, 1, "%d data bits: rows of %v", data, rows)
	}
}

// codecs compiles the codecs.
func codecs(t *testing.T) *sim.Lib {
	t.Helper()
	dir := t.TempDir()
	files := []string{"testdata/t_secded.v"}
	for _, data := range []int{32, 64, 128, 1024} {
		for name, d := range map[string]graph.Describer{"encode": ram.Encode{Data: data}, "decode": ram.Decode{Data: data}} {
			file := filepath.Join(dir, fmt.Sprintf("inc_secded_%s_%d.v", name, data))
			require.NoError(t, os.WriteFile(file, []byte(source(t, d)), 0o644))
			files = append(files, file)
		}
	}
	lib, err := sim.Build{Top: "t_secded", Brief: true, Files: files}.Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

// codec drives one of them.
type codec struct {
	dut  *rig.Rig
	r    *rand.Rand
	data int
}

// check sends random data through with those stored bits inverted, and says what came out.
func (c codec) check(t *testing.T, poison bool, flips ...int) (right, corrected, poisoned bool) {
	t.Helper()
	name := fmt.Sprint(c.data)
	word, flip := make([]byte, c.data/8), make([]byte, (c.data+checks(c.data)+7)/8)
	for i := range word {
		word[i] = byte(c.r.Uint32())
	}
	for _, b := range flips {
		flip[b/8] ^= 1 << (b % 8)
	}
	c.dut.SetBool("poison", poison)
	c.dut.SetBytes("data_"+name, word)
	c.dut.SetBytes("flip_"+name, flip)
	c.dut.Clock()
	return string(word) == string(c.dut.Bytes("out_"+name)), c.dut.Is("corrected_" + name), c.dut.Is("poison_" + name)
}

// TestCodec inverts no bit, every bit and every pair of bits of random codewords, of the widest code a sixteenth of the half million pairs, in its long
// form all. The code is linear: what an error does is the same for all data.
func TestCodec(t *testing.T) {
	t.Parallel()
	long := os.Getenv("INCFORGE_LONG") != ""
	lib := codecs(t)
	for _, data := range []int{32, 64, 128, 1024} {
		t.Run(fmt.Sprint(data), func(t *testing.T) {
			t.Parallel()
			c := codec{rig.New(t, lib, uint64(data)), rand.New(rand.NewPCG(uint64(data), 2)), data}
			outcome := func(poison bool, wantRight, wantCorrected, wantPoison bool, flips ...int) {
				t.Helper()
				right, corrected, poisoned := c.check(t, poison, flips...)
				if corrected != wantCorrected || poisoned != wantPoison || wantRight && !right {
					require.Failf(t, "wrong outcome", "poison %t, bits %v inverted: right %t, corrected %t, poison %t", poison, flips, right, corrected, poisoned)
				}
			}
			code := data + checks(data)
			for range 100 {
				outcome(false, true, false, false)
				outcome(true, false, false, true)
				outcome(true, false, false, true, 0)
				outcome(true, false, false, true, 0, 1)
			}
			for i := range code {
				for range 10 {
					outcome(false, true, true, false, i)
				}
				for j := range i {
					if data < 1024 || long || c.r.IntN(16) == 0 {
						outcome(false, false, false, true, i, j)
					}
				}
			}
		})
	}
}
