// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"testing"

	"incforge/hdl/hdltest"
	"incforge/hdl/leaf"
	"incforge/hdl/parser"
	"incforge/rtlgen/graph"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

// of has the derived widths right.
func of(bytes, portW, mtu int) parser.Parser {
	return parser.Parser{Bytes: bytes, PortW: portW, MTUBytes: mtu, LenW: leaf.Clog2(mtu + 1), WordsW: leaf.Clog2(mtu/bytes + 1)}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	base := of(8, 1, 16)
	change := func(f func(p *parser.Parser)) parser.Parser { p := base; f(&p); return p }
	hdltest.Check(t, []graph.Describer{
		base, of(8, 3, 16384), of(16, 1, 16), of(32, 2, 4096), of(64, 4, 64), of(256, 9, 256),
	}, []hdltest.Refused{
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 0 }), Params: param("BYTES", 0), Rule: "BYTES must be a power of two, 8 to 256"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 4 }), Params: param("BYTES", 4), Rule: "BYTES must be a power of two, 8 to 256"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 12 }), Params: param("BYTES", 12), Rule: "BYTES must be a power of two, 8 to 256"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 512 }), Params: param("BYTES", 512), Rule: "BYTES must be a power of two, 8 to 256"},
		{Leaf: change(func(p *parser.Parser) { p.PortW = 0 }), Params: param("PORT_W", 0), Rule: "PORT_W must be at least 1"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 8 }), Params: param("MTU_BYTES", 8), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 20 }), Params: param("MTU_BYTES", 20), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 16392 }), Params: param("MTU_BYTES", 16392), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.LenW = 4 }), Params: param("LEN_W", 4), Rule: "LEN_W must hold 0 to MTU_BYTES"},
		{Leaf: change(func(p *parser.Parser) { p.WordsW = 3 }), Params: param("WORDS_W", 3), Rule: "WORDS_W must hold 0 to MTU_BYTES / BYTES"},
	})
}

func TestGateDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{parser.Gate{Width: 1}, parser.Gate{Width: 2}, parser.Gate{Width: 33}}, []hdltest.Refused{
		{Leaf: parser.Gate{}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
	})
}
