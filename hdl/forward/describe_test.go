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
		flops(),
		fw{Bytes: 4, PortW: 1, BeatsW: 2, DepthW: 4},
		fw{Bytes: 8, PortW: 3, BeatsW: 7, DepthW: 6, Margin: 8},
		fw{Bytes: 16, PortW: 4, BeatsW: 8, DepthW: 7, Margin: 2},
		fw{Bytes: 32, PortW: 5, BeatsW: 9, DepthW: 10, Margin: 1},
		fw{Bytes: 64, PortW: 8, BeatsW: 10, DepthW: 5, Margin: 8, Flops: 1},
		fw{Bytes: 256, PortW: 4, BeatsW: 3, DepthW: 4, Margin: 2, Flops: 1},
	}
	bytes, beats, depth := "BYTES must be a power of two of at least 4", "BEATS_W must be 2 to 16, with FLOPS to 10", "DEPTH_W must be 4 to 10"
	margin := "MARGIN must be less than 2**BEATS_W"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *fw) { p.Bytes = 2 }), Params: []graph.Param{{Name: "BYTES", Value: 2}}, Rule: bytes},
		{Leaf: with(func(p *fw) { p.Bytes = 12 }), Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: bytes},
		{Leaf: with(func(p *fw) { p.PortW = 0 }), Params: []graph.Param{{Name: "PORT_W", Value: 0}}, Rule: "PORT_W must be at least 1"},
		{Leaf: with(func(p *fw) { p.BeatsW, p.Margin = 1, 0 }), Params: []graph.Param{{Name: "BEATS_W", Value: 1}, {Name: "MARGIN", Value: 0}}, Rule: beats},
		{Leaf: with(func(p *fw) { p.BeatsW = 17 }), Params: []graph.Param{{Name: "BEATS_W", Value: 17}}, Rule: beats},
		{Leaf: with(func(p *fw) { p.BeatsW, p.Flops = 11, 1 }), Params: []graph.Param{{Name: "BEATS_W", Value: 11}, {Name: "FLOPS", Value: 1}}, Rule: beats},
		{Leaf: with(func(p *fw) { p.Margin = 32 }), Params: []graph.Param{{Name: "MARGIN", Value: 32}}, Rule: margin},
		{Leaf: with(func(p *fw) { p.Margin = -1 }), Params: []graph.Param{{Name: "MARGIN", Value: -1}}, Rule: margin},
		{Leaf: with(func(p *fw) { p.Flops = 2 }), Params: []graph.Param{{Name: "FLOPS", Value: 2}}, Rule: "FLOPS must be 0 or 1"},
		{Leaf: with(func(p *fw) { p.DepthW = 3 }), Params: []graph.Param{{Name: "DEPTH_W", Value: 3}}, Rule: depth},
		{Leaf: with(func(p *fw) { p.DepthW = 11 }), Params: []graph.Param{{Name: "DEPTH_W", Value: 11}}, Rule: depth},
	})
}
