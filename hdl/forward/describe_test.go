// SPDX-License-Identifier: Apache-2.0

package forward_test

import (
	"testing"

	"incforge/hdl/forward"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type fw = forward.Forward
	with := func(change func(*fw)) fw {
		p := mini()
		change(&p)
		return p
	}
	legal := []graph.Describer{
		mini(),
		fw{Bytes: 4, PortW: 1, AddrW: 2, DepthW: 4},
		fw{Bytes: 8, PortW: 3, AddrW: 7, DepthW: 6},
		fw{Bytes: 16, PortW: 4, AddrW: 8, DepthW: 7},
		fw{Bytes: 32, PortW: 5, AddrW: 9, DepthW: 10},
		fw{Bytes: 64, PortW: 8, AddrW: 20, DepthW: 5},
		fw{Bytes: 256, PortW: 4, AddrW: 5, DepthW: 4},
	}
	bytes, addr, depth := "BYTES must be a power of two of at least 4", "ADDR_W must be 2 to 20", "DEPTH_W must be 4 to 10"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *fw) { p.Bytes = 2 }), Params: []graph.Param{{Name: "BYTES", Value: 2}}, Rule: bytes},
		{Leaf: with(func(p *fw) { p.Bytes = 12 }), Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: bytes},
		{Leaf: with(func(p *fw) { p.PortW = 0 }), Params: []graph.Param{{Name: "PORT_W", Value: 0}}, Rule: "PORT_W must be at least 1"},
		{Leaf: with(func(p *fw) { p.AddrW = 1 }), Params: []graph.Param{{Name: "ADDR_W", Value: 1}}, Rule: addr},
		{Leaf: with(func(p *fw) { p.AddrW = 21 }), Params: []graph.Param{{Name: "ADDR_W", Value: 21}}, Rule: addr},
		{Leaf: with(func(p *fw) { p.DepthW = 3 }), Params: []graph.Param{{Name: "DEPTH_W", Value: 3}}, Rule: depth},
		{Leaf: with(func(p *fw) { p.DepthW = 11 }), Params: []graph.Param{{Name: "DEPTH_W", Value: 11}}, Rule: depth},
	})
}
