// SPDX-License-Identifier: Apache-2.0

package icrc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/icrc"
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

// TestTablesAgree compares the tables of every width with hash/crc32: random beats, and all residues and tails. The two widest take a compiler
// minutes (make long).
func TestTablesAgree(t *testing.T) {
	t.Parallel()
	all := []int{8, 16, 32, 64, 128, 256, 512}
	var defines map[string]string
	if long() {
		all, defines = append(all, 1024, 2048), widest()
	}
	dut := rig.New(t, compile(t, "t_tables", all, nil, defines), 1)
	r := rand.New(rand.NewPCG(1, 1))
	type held struct { // what the registers have: the values of the last cycle with en
		data  []byte
		index int
	}
	regs := map[int]held{}
	for n := range 2 * all[len(all)-1] {
		state, en := r.Uint32(), n == 0 || r.IntN(4) != 0
		dut.Set("state", uint64(state))
		dut.SetBool("en", en)
		now := map[int]held{}
		for _, w := range all {
			now[w] = held{random(r, w), n / 2 % (w / 4)}
			dut.SetBytes(fmt.Sprintf("n%d_data", w), now[w].data)
			dut.Set(fmt.Sprintf("n%d_index", w), uint64(now[w].index))
			dut.Set(fmt.Sprintf("n%d_tail", w), uint64(n%w))
		}
		dut.Clock()
		message := random(r, 1+r.IntN(100))
		message = binary.LittleEndian.AppendUint32(message, crc32.ChecksumIEEE(message))
		for _, w := range all {
			residue := uint32(dut.Get(fmt.Sprintf("n%d_residue", w)))
			require.Equal(t, register(^uint32(0), append(bytes.Clone(message), make([]byte, n%w)...)), residue, "%d bytes, %d zeros", w, n%w)
			data := now[w].data
			if w > 64 {
				data = regs[w].data
			}
			if n > 0 {
				require.Equal(t, register(state, data), uint32(dut.Get(fmt.Sprintf("n%d_next", w))), "%d bytes", w)
				crc := uint32(dut.Get(fmt.Sprintf("n%d_crc", w)))
				require.Equal(t, state, register(^crc, make([]byte, 4*regs[w].index+2)), "%d bytes, index %d", w, regs[w].index)
			}
			if en {
				regs[w] = now[w]
			}
		}
	}
}

// TestInit: behind the fourteen zeros of the Ethernet header the register is what eight bytes of ones leave.
func TestInit(t *testing.T) {
	t.Parallel()
	ones := []byte{255, 255, 255, 255, 255, 255, 255, 255}
	require.Equal(t, register(^uint32(0), ones), register(icrc.Init(), make([]byte, 14)))
}
