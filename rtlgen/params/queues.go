// SPDX-License-Identifier: Apache-2.0

package params

import "incforge/synth/liberty"

// queue is a queue of words as wide as the bus: how many it holds, a power of two, and whether they are read like flip-flops: on an ASIC they
// are some, on an FPGA distributed memory.
type queue struct {
	words int
	flops bool
}

// replay is the queue at the way out, as wide as the bus. A memory is paid for by the column: of one of 32 words, its periphery is four
// fifths. So on an ASIC a few words in flip-flops may take less. The packet buffer is no such queue: some ten beats come until a frame is
// decided, and flip-flops for those and for what follows take as much as its memory. On an FPGA a queue of up to 64 words is in distributed
// memory, which a wide bus reads in the cycle in which it asks, as if it were flip-flops; a deeper one as wide as 64 bytes takes eight block RAMs
// and uses a quarter of them.
func (p Params) replay() queue {
	words := p.MTUBytes / p.BusBytes
	replay := p.smaller(pow2(max(2*words, 8)), pow2(words), 8*p.BusBytes+1)
	if p.wideFPGA() && !p.ECCAll && words <= distributed {
		return queue{min(replay.words, distributed), true}
	}
	return replay
}

// distributed is how many words an FPGA keeps without block RAM (inc_ram_1r1w). wideBus is from how many bytes on that counts.
const distributed, wideBus = 64, 64

// wideFPGA tells whether the engine is for an FPGA, its bus wide, and which memory is built of what left to us.
func (p Params) wideFPGA() bool {
	return p.Technology == FPGA && p.BusBytes >= wideBus && p.Memory == MemoryAuto
}

// smaller is a queue of so many words in a memory, or of that few in flip-flops, if those take less.
func (p Params) smaller(deep, few, bits int) queue {
	if few < deep && p.takesLess(few, deep, bits) {
		return queue{few, true}
	}
	return queue{deep, false}
}

// takesLess tells whether flip-flops for few words take less area than a memory of so many. An FPGA has memory for nothing.
func (p Params) takesLess(few, deep, bits int) bool {
	if p.Technology != ASIC || p.Memory == MemoryRAM {
		return false
	}
	if p.Memory == MemoryRegisters {
		return true
	}
	mhz := float64(p.ClockMHz)
	macro, err := liberty.CompileSRAM(deep, bits, liberty.SRAMOptions{Ports: liberty.OneR1W, Cell: liberty.CellFor(mhz), Corner: liberty.Typical(), MaxCycle: 1e6 / mhz})
	return err == nil && liberty.FlopsArea(few, bits) < macro.Area+macro.BankMuxArea
}

// pow2 is the next power of two from n.
func pow2(n int) int { return 1 << clog2(n) }
