// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/leaf"
	"incforge/hdl/parser"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

const delayRule = "EOF_DELAY must be 0 to 15, and at least 1 where BYTES is above 64"

// of has the derived widths right.
func of(bytes, portW, mtu int) parser.Parser {
	delay := 0
	if bytes > 64 {
		delay = 1 + bytes%3 // any does
	}
	return parser.Parser{Bytes: bytes, PortW: portW, MTUBytes: mtu, LenW: leaf.Clog2(mtu + 1), WordsW: leaf.Clog2(mtu/bytes + 1), EOFDelay: delay}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	base := of(8, 1, 16)
	change := func(f func(p *parser.Parser)) parser.Parser { p := base; f(&p); return p }
	hdltest.Check(t, []graph.Describer{
		base, of(8, 3, 16384), of(16, 1, 16), of(32, 2, 4096), of(64, 4, 64), of(256, 9, 256), of(512, 1, 1024), of(2048, 2, 16384),
	}, []hdltest.Refused{
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 0 }), Params: param("BYTES", 0), Rule: "BYTES must be a power of two, 8 to 2048"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 4 }), Params: param("BYTES", 4), Rule: "BYTES must be a power of two, 8 to 2048"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 12 }), Params: param("BYTES", 12), Rule: "BYTES must be a power of two, 8 to 2048"},
		{Leaf: change(func(p *parser.Parser) { p.Bytes = 2056 }), Params: param("BYTES", 2056), Rule: "BYTES must be a power of two, 8 to 2048"},
		{Leaf: change(func(p *parser.Parser) { p.PortW = 0 }), Params: param("PORT_W", 0), Rule: "PORT_W must be at least 1"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 8 }), Params: param("MTU_BYTES", 8), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 20 }), Params: param("MTU_BYTES", 20), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.MTUBytes = 16392 }), Params: param("MTU_BYTES", 16392), Rule: "MTU_BYTES must be a multiple of BYTES, 16 to 16384"},
		{Leaf: change(func(p *parser.Parser) { p.LenW = 4 }), Params: param("LEN_W", 4), Rule: "LEN_W must hold 0 to MTU_BYTES"},
		{Leaf: change(func(p *parser.Parser) { p.WordsW = 3 }), Params: param("WORDS_W", 3), Rule: "WORDS_W must hold 0 to MTU_BYTES / BYTES"},
		{Leaf: change(func(p *parser.Parser) { p.EOFDelay = 16 }), Params: param("EOF_DELAY", 16), Rule: delayRule},
		{Leaf: change(func(p *parser.Parser) { p.Bytes, p.MTUBytes, p.LenW, p.WordsW = 128, 256, 9, 2 }),
			Params: []graph.Param{{Name: "BYTES", Value: 128}, {Name: "MTU_BYTES", Value: 256}, {Name: "LEN_W", Value: 9}, {Name: "WORDS_W", Value: 2}}, Rule: delayRule},
	})
}

func TestGateDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{parser.Gate{Width: 1}, parser.Gate{Width: 2}, parser.Gate{Width: 33}}, []hdltest.Refused{
		{Leaf: parser.Gate{}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
	})
}
