// SPDX-License-Identifier: Apache-2.0

package icrc_test

import (
	"encoding/binary"
	"hash/crc32"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/icrc"
	"incforge/rtlgen/graph"
)

// register is the CRC register behind data, from any register: hash/crc32 keeps it inverted.
func register(from uint32, data []byte) uint32 { return ^crc32.Update(^from, crc32.IEEETable, data) }

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func verilog(t *testing.T, d graph.Describer) string {
	t.Helper()
	m, err := d.Module()
	require.NoError(t, err)
	return string(m.Source)
}

func hex32(t *testing.T, digits string) uint32 {
	t.Helper()
	v, err := strconv.ParseUint(digits, 16, 32)
	require.NoError(t, err)
	return uint32(v)
}

func odd(v uint32) uint32 { return uint32(bits.OnesCount32(v) & 1) }

// TestTablesAgree computes what the generated equations say, of every width, and compares with hash/crc32.
func TestTablesAgree(t *testing.T) {
	t.Parallel()
	step := regexp.MustCompile(`assign next\[(\d+)\] = \^\(state & 32'h([0-9a-f]{8})\)\s+\^ \^\(data & (\d+)'h([0-9a-f]+)\);`)
	residue := regexp.MustCompile(`(?:\d+'d(\d+)|default): residue = 32'h([0-9a-f]{8});`)
	tail := regexp.MustCompile(`(?:\d+'d\d+|default): begin|crc\[(\d+)\] = ~\^\(state & 32'h([0-9a-f]{8})\);`)
	for _, w := range []int{8, 16, 32, 64, 128, 256} {
		t.Run(strconv.Itoa(w), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(w), 1))

			rows := step.FindAllStringSubmatch(verilog(t, icrc.Step{Bytes: w}), -1)
			require.Len(t, rows, 32)
			for range 40 {
				state, data := r.Uint32(), random(r, w)
				number := make([]byte, w) // data as a Verilog number: byte 0 lowest
				for i := range data {
					number[w-1-i] = data[i]
				}
				word := new(big.Int).SetBytes(number)
				var next uint32
				for i, row := range rows {
					require.Equal(t, strconv.Itoa(i), row[1])
					require.Equal(t, strconv.Itoa(8*w), row[3])
					mask, ok := new(big.Int).SetString(row[4], 16)
					require.True(t, ok)
					sum := odd(state & hex32(t, row[2]))
					for _, limb := range mask.And(mask, word).Bits() {
						sum ^= uint32(bits.OnesCount(uint(limb)) & 1)
					}
					next |= sum << i
				}
				require.Equal(t, register(state, data), next)
			}

			rows = residue.FindAllStringSubmatch(verilog(t, icrc.Residue{Bytes: w}), -1)
			require.Len(t, rows, w)
			for n, row := range rows {
				data := random(r, 1+r.IntN(100))
				data = binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
				require.Equal(t, register(^uint32(0), append(data, make([]byte, n)...)), hex32(t, row[2]), "%d zeros", n)
			}

			index := -1
			var got [64]uint32
			var states [64]uint32
			var want [64]uint32
			count := 0
			for _, row := range tail.FindAllStringSubmatch(verilog(t, icrc.Tail{Bytes: w}), -1) {
				if row[1] == "" {
					index++
					data := random(r, 1+r.IntN(100))
					states[index], want[index] = register(^uint32(0), append(data, make([]byte, 4*index+2)...)), crc32.ChecksumIEEE(data)
					continue
				}
				i, err := strconv.Atoi(row[1])
				require.NoError(t, err)
				got[index] |= (1 ^ odd(states[index]&hex32(t, row[2]))) << i
				count++
			}
			require.Equal(t, w/4-1, index)
			require.Equal(t, 32*w/4, count)
			require.Equal(t, want, got)
		})
	}
}

// TestInit: behind the fourteen zeros of the Ethernet header the register is what eight bytes of ones leave.
func TestInit(t *testing.T) {
	t.Parallel()
	ones := []byte{255, 255, 255, 255, 255, 255, 255, 255}
	require.Equal(t, register(^uint32(0), ones), register(icrc.Init(), make([]byte, 14)))
}
