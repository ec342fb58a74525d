// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"testing"

	"incforge/hdl/hdltest"
	"incforge/hdl/ram"
	"incforge/rtlgen/graph"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, p := range []ram.RAM{
		{Words: 2, Bits: 1, AddrW: 1}, {Words: 3, Bits: 2, AddrW: 2}, {Words: 7, Bits: 3, AddrW: 3},
		{Words: 8, Bits: 64, AddrW: 3}, {Words: 9, Bits: 65, AddrW: 4}, {Words: 1024, Bits: 8192, AddrW: 10},
		{Words: 65, Bits: 3, AddrW: 7, Style: 1}, {Words: 64, Bits: 3, AddrW: 6, Style: 2},
	} {
		legal = append(legal, p)
	}
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	base := ram.RAM{Words: 2, Bits: 1, AddrW: 1}
	words, bits, addr := base, base, base
	words.Words, bits.Bits = 1, 0
	addr.Words = 3
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: words, Params: param("WORDS", 1), Rule: "WORDS must be at least 2"},
		{Leaf: bits, Params: param("BITS", 0), Rule: "BITS must be at least 1"},
		{Leaf: addr, Params: param("WORDS", 3), Rule: "2**ADDR_W must be at least WORDS"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 0}, Params: param("ADDR_W", 0), Rule: "2**ADDR_W must be at least WORDS"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 1, Style: 3}, Params: param("STYLE", 3), Rule: "STYLE must be 0, 1 or 2"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 31}, Params: param("ADDR_W", 31), Rule: "2**ADDR_W must be at least WORDS"},
	})
}
