// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/ram"
)

// param is one parameter with a value.
func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

// onePortOf is the memory with one port of the same shape.
func onePortOf(p ram.RAM) ram.OnePort {
	return ram.OnePort{Words: p.Words, Bits: p.Bits, AddrW: p.AddrW, Style: p.Style}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	var two, one []graph.Describer
	for _, p := range []ram.RAM{
		{Words: 2, Bits: 1, AddrW: 1}, {Words: 3, Bits: 2, AddrW: 2}, {Words: 7, Bits: 3, AddrW: 3},
		{Words: 8, Bits: 64, AddrW: 3}, {Words: 9, Bits: 65, AddrW: 4}, {Words: 1024, Bits: 1024, AddrW: 10},
		{Words: 65, Bits: 3, AddrW: 7, Style: 1}, {Words: 64, Bits: 3, AddrW: 6, Style: 2},
		{Words: 65, Bits: 3, AddrW: 7, Style: 1, Apart: 1}, {Words: 65, Bits: 3, AddrW: 7, Apart: 1}, {Words: 64, Bits: 3, AddrW: 6, Apart: 1},
	} {
		two = append(two, p)
		one = append(one, onePortOf(p))
	}
	base := ram.RAM{Words: 2, Bits: 1, AddrW: 1}
	words, bits, addr := base, base, base
	words.Words, bits.Bits = 1, 0
	addr.Words = 3
	refused := []hdltest.Refused{
		{Leaf: words, Params: param("WORDS", 1), Rule: "WORDS must be at least 2"},
		{Leaf: bits, Params: param("BITS", 0), Rule: "BITS must be at least 1"},
		{Leaf: addr, Params: param("WORDS", 3), Rule: "2**ADDR_W must be at least WORDS"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 0}, Params: param("ADDR_W", 0), Rule: "2**ADDR_W must be at least WORDS"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 1, Style: 3}, Params: param("STYLE", 3), Rule: "STYLE must be 0, 1 or 2"},
		{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 31}, Params: param("ADDR_W", 31), Rule: "2**ADDR_W must be at least WORDS"},
	}
	hdltest.Check(t, two, append(slices.Clone(refused), hdltest.Refused{Leaf: ram.RAM{Words: 2, Bits: 1, AddrW: 1, Apart: 2}, Params: param("APART", 2), Rule: "APART must be 0 or 1"}))
	for i, r := range refused {
		refused[i].Leaf = onePortOf(r.Leaf.(ram.RAM))
	}
	hdltest.Check(t, one, refused)
	hdltest.Check(t, []graph.Describer{
		ram.TwoClocks{Words: 3, Bits: 2, AddrW: 2}, ram.TwoClocks{Words: 1024, Bits: 64, AddrW: 10}, ram.TwoClocks{Words: 64, Bits: 3, AddrW: 6, Style: 2},
	}, []hdltest.Refused{{Leaf: ram.TwoClocks{Words: 2, Bits: 1, AddrW: 1, Style: 3}, Params: param("STYLE", 3), Rule: "STYLE must be 0, 1 or 2"}})
}

// TestWrappers: the rules of a wrapper are those of the memory inside.
func TestWrappers(t *testing.T) {
	t.Parallel()
	require.Len(t, ram.Wrappers(), 7)
	for _, name := range ram.Wrappers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var legal []graph.Describer
			for _, m := range []ram.Memory{{Words: 2, Bits: 1, AddrW: 1}, {Words: 3, Bits: 7, AddrW: 2}, {Words: 65, Bits: 137, AddrW: 7}, {Words: 1024, Bits: 64, AddrW: 10}} {
				m.Name = name
				legal = append(legal, m)
			}
			hdltest.Check(t, legal, nil)
			_, err := ram.Memory{Name: name, Words: 3, Bits: 1, AddrW: 1}.Module()
			require.ErrorContains(t, err, name+": inc_ram_")
			require.ErrorContains(t, err, "2**ADDR_W must be at least WORDS")
		})
	}
	_, err := ram.Memory{Name: "inc_mem_x", Words: 2, Bits: 1, AddrW: 1}.Module()
	require.EqualError(t, err, `there is no wrapper "inc_mem_x"`)
}

func TestPayloadDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, p := range []ram.Payload{
		{Rows: 2, Bits: 32, AddrW: 1, Banks: 1}, {Rows: 3, Bits: 32, AddrW: 2, Banks: 1, ECC: 1}, {Rows: 16, Bits: 64, AddrW: 4, Banks: 1, ECC: 1},
		{Rows: 9, Bits: 128, AddrW: 4, Banks: 1, ECC: 1}, {Rows: 1024, Bits: 2048, AddrW: 10, Banks: 1, ECC: 1}, {Rows: 7, Bits: 96, AddrW: 3, Banks: 1, Style: 2},
		{Rows: 4, Bits: 32, AddrW: 2, Banks: 2}, {Rows: 5, Bits: 64, AddrW: 3, Banks: 2, ECC: 1, Style: 1}, {Rows: 8, Bits: 160, AddrW: 3, Banks: 4},
		{Rows: 31, Bits: 256, AddrW: 5, Banks: 8, ECC: 1}, {Rows: 32, Bits: 32, AddrW: 5, Banks: 16}, {Rows: 4095, Bits: 1024, AddrW: 12, Banks: 16, ECC: 1}, {Rows: 4, Bits: 1152, AddrW: 2, Banks: 1, ECC: 1},
	} {
		legal = append(legal, p)
	}
	base := ram.Payload{Rows: 2, Bits: 32, AddrW: 1, Banks: 1}
	with := func(f func(p *ram.Payload)) ram.Payload {
		p := base
		f(&p)
		return p
	}
	const rows, bits, banks = "ROWS must be at least 2 * BANKS", "BITS must be a multiple of 32", "BANKS must be 1, 2, 4, 8 or 16"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *ram.Payload) { p.Rows = 1 }), Params: param("ROWS", 1), Rule: rows},
		{Leaf: with(func(p *ram.Payload) { p.Banks = 2 }), Params: param("BANKS", 2), Rule: rows},
		{Leaf: with(func(p *ram.Payload) { p.Banks = 0 }), Params: param("BANKS", 0), Rule: banks},
		{Leaf: with(func(p *ram.Payload) { p.Banks = 3 }), Params: param("BANKS", 3), Rule: banks},
		{Leaf: with(func(p *ram.Payload) { p.Banks = 32 }), Params: param("BANKS", 32), Rule: banks},
		{Leaf: with(func(p *ram.Payload) { p.Bits = 0 }), Params: param("BITS", 0), Rule: bits},
		{Leaf: with(func(p *ram.Payload) { p.Bits = 48 }), Params: param("BITS", 48), Rule: bits},
		{Leaf: with(func(p *ram.Payload) { p.Bits, p.ECC = 96, 1 }), Params: []graph.Param{{Name: "BITS", Value: 96}, {Name: "ECC", Value: 1}},
			Rule: "with ECC, BITS must be 32, 64 or a multiple of 128"},
		{Leaf: with(func(p *ram.Payload) { p.ECC = 2 }), Params: param("ECC", 2), Rule: "ECC must be 0 or 1"},
		{Leaf: with(func(p *ram.Payload) { p.AddrW = 0 }), Params: param("ADDR_W", 0), Rule: "2**ADDR_W must be at least ROWS"},
		{Leaf: with(func(p *ram.Payload) { p.Rows = 3 }), Params: param("ROWS", 3), Rule: "2**ADDR_W must be at least ROWS"},
		{Leaf: with(func(p *ram.Payload) { p.AddrW = 31 }), Params: param("ADDR_W", 31), Rule: "2**ADDR_W must be at least ROWS"},
		{Leaf: with(func(p *ram.Payload) { p.Style = 3 }), Params: param("STYLE", 3), Rule: "STYLE must be 0, 1 or 2"},
	})
}

func TestIndexDescription(t *testing.T) {
	t.Parallel()
	base := ram.EndpointIndex{EPW: 3, EIW: 4, MaskW: 5, Groups: 2}
	mask, groups := base, base
	mask.MaskW, groups.Groups = 9, 3
	hdltest.Check(t, []graph.Describer{
		base, ram.EndpointIndex{EPW: 1, EIW: 1, MaskW: 1, Groups: 1}, ram.EndpointIndex{EPW: 1, EIW: 2, MaskW: 1, Groups: 2},
		ram.EndpointIndex{EPW: 2, EIW: 2, MaskW: 4, Groups: 1}, ram.EndpointIndex{EPW: 5, EIW: 10, MaskW: 17, Groups: 32},
		ram.EndpointIndex{EPW: 3, EIW: 5, MaskW: 8, Groups: 3}, ram.EndpointIndex{EPW: 4, EIW: 10, MaskW: 9, Groups: 64},
		ram.EndpointIndex{EPW: 2, EIW: 3, MaskW: 3, Groups: 2}, ram.EndpointIndex{EPW: 4, EIW: 5, MaskW: 5, Groups: 2},
	}, []hdltest.Refused{
		{Leaf: mask, Params: param("MASK_W", 9), Rule: "MASK_W must be at most 2**EP_W, EP_W at most EI_W"},
		{Leaf: groups, Params: param("GROUPS", 3), Rule: "GROUPS must be 1 to 2**(EI_W - EP_W)"},
	})
}

func TestCodecDescription(t *testing.T) {
	t.Parallel()
	for _, data := range []int{32, 64, 128, 1024} {
		for _, d := range []graph.Describer{ram.Encode{Data: data}, ram.Decode{Data: data}} {
			hdltest.Check(t, []graph.Describer{d}, nil)
		}
	}
	for _, d := range []graph.Describer{ram.Encode{}, ram.Encode{Data: 96}, ram.Decode{Data: 256}} {
		_, err := d.Module()
		require.ErrorContains(t, err, "a codeword has 32, 64, 128 or 1,024 data bits")
	}
}
