// SPDX-License-Identifier: Apache-2.0

package ecc

import (
	"incforge/hdl/graph"
	"incforge/hdl/thread"
)

// kindIn is what a lost word of a memory is, by the module that the memory is in.
func kindIn(module string) Kind {
	switch module {
	case "inc_mem_packets":
		return Flagged
	case "inc_mem_replay":
		return Marked
	}
	return Zero
}

// Protect puts memories with check bits in the places of those without, in a leaf and all that it has inside, and leads what they say out of
// it. Those of the payload have check bits of their own and stay.
func Protect(m *graph.Module) (*graph.Module, error) {
	return thread.Through(m, thread.Spec{
		Signals: []thread.Signal{
			{Name: "ecc_rst", Width: 1, Doc: "nothing has been read"},
			{Name: "ecc_init", Width: 1, Doc: "word ecc_at of memories is cleared"},
			{Name: "ecc_at", Width: AddressBits, Doc: "the word that is cleared"},
			{Name: "ecc_fixed", Out: true, Doc: "a word was read and corrected"},
			{Name: "ecc_lost", Out: true, Doc: "a word was read that could not be corrected"},
		},
		End: func(inside, m *graph.Module) (*graph.Module, error) {
			if _, ok := protected()[m.Name]; !ok {
				return nil, nil
			}
			p := Memory{In: m.Name, Kind: kindIn(inside.Name)}
			for _, param := range m.Params {
				switch param.Name {
				case "WORDS":
					p.Words = param.Value
				case "BITS":
					p.Bits = param.Value
				case "ADDR_W":
					p.AddrW = param.Value
				case "STYLE":
					p.Style = param.Value
				case "APART":
					p.Apart = param.Value
				}
			}
			return p.Module()
		},
		Params: func(inside string, _ *graph.Module) []graph.Param {
			return []graph.Param{{Name: "KIND", Value: int(kindIn(inside))}}
		},
		Memory: func(inside string, mem graph.Memory) graph.Memory {
			mem.Path += ".u_ram"
			mem.Bits = kindIn(inside).Stored(mem.Bits)
			return mem
		},
		Skip: func(m *graph.Module) bool { return m.Name == "inc_payload_memory" },
	})
}
