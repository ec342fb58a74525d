// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/lanes"
)

const (
	badStages = "STAGES must be 1 to 6"
	badTypes  = "FP or INT must be included"
	badOps    = "SUM, MIN or MAX must be included"
)

func all() lanes.Include { return lanes.Include{FP: true, Int: true, Sum: true, Min: true, Max: true} }

// includes are all legal choices of types and operations.
func includes() []lanes.Include {
	var out []lanes.Include
	for types := 1; types < 4; types++ {
		for ops := 1; ops < 8; ops++ {
			out = append(out, lanes.Include{FP: types&1 != 0, Int: types&2 != 0, Sum: ops&1 != 0, Min: ops&2 != 0, Max: ops&4 != 0})
		}
	}
	return out
}

// noTypes is a choice without types, and the parameters that make it.
func noTypes() (lanes.Include, []graph.Param) {
	p := all()
	p.FP, p.Int = false, false
	return p, []graph.Param{{Name: "FP", Value: 0}, {Name: "INT", Value: 0}}
}

// noOps is a choice without operations, and the parameters that make it.
func noOps() (lanes.Include, []graph.Param) {
	p := all()
	p.Sum, p.Min, p.Max = false, false, false
	return p, []graph.Param{{Name: "SUM", Value: 0}, {Name: "MIN", Value: 0}, {Name: "MAX", Value: 0}}
}

func TestLaneDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for stages := 1; stages <= lanes.MaxStages; stages++ {
		legal = append(legal, lanes.Lane{Stages: stages, Include: all()})
	}
	for i, inc := range includes() {
		legal = append(legal, lanes.Lane{Stages: 1 + i%lanes.MaxStages, Include: inc})
	}
	types, typeParams := noTypes()
	ops, opParams := noOps()
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: lanes.Lane{Stages: 0, Include: all()}, Params: []graph.Param{{Name: "STAGES", Value: 0}}, Rule: badStages},
		{Leaf: lanes.Lane{Stages: 7, Include: all()}, Params: []graph.Param{{Name: "STAGES", Value: 7}}, Rule: badStages},
		{Leaf: lanes.Lane{Stages: 1, Include: types}, Params: typeParams, Rule: badTypes},
		{Leaf: lanes.Lane{Stages: 1, Include: ops}, Params: opParams, Rule: badOps},
	})
}

func TestLanesDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for i, n := range []int{1, 2, 3, 7, 8, 9, 33} {
		legal = append(legal, lanes.Lanes{Lanes: n, Stages: 1 + i%lanes.MaxStages, Include: all()})
	}
	for i, inc := range includes() {
		legal = append(legal, lanes.Lanes{Lanes: 1 + i%3, Stages: 1 + i%lanes.MaxStages, Include: inc})
	}
	types, typeParams := noTypes()
	ops, opParams := noOps()
	lanesRule := "LANES must be 1 to 1024"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: lanes.Lanes{Lanes: 0, Stages: 1, Include: all()}, Params: []graph.Param{{Name: "LANES", Value: 0}}, Rule: lanesRule},
		{Leaf: lanes.Lanes{Lanes: 1025, Stages: 1, Include: all()}, Params: []graph.Param{{Name: "LANES", Value: 1025}}, Rule: lanesRule},
		{Leaf: lanes.Lanes{Lanes: 1, Stages: 0, Include: all()}, Params: []graph.Param{{Name: "STAGES", Value: 0}}, Rule: badStages},
		{Leaf: lanes.Lanes{Lanes: 1, Stages: 7, Include: all()}, Params: []graph.Param{{Name: "STAGES", Value: 7}}, Rule: badStages},
		{Leaf: lanes.Lanes{Lanes: 1, Stages: 1, Include: types}, Params: typeParams, Rule: badTypes},
		{Leaf: lanes.Lanes{Lanes: 1, Stages: 1, Include: ops}, Params: opParams, Rule: badOps},
	})
}

func TestFP32AddDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for stages := 1; stages <= lanes.MaxStages; stages++ {
		legal = append(legal, lanes.FP32Add{Stages: stages})
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: lanes.FP32Add{Stages: 0}, Params: []graph.Param{{Name: "STAGES", Value: 0}}, Rule: badStages},
		{Leaf: lanes.FP32Add{Stages: 7}, Params: []graph.Param{{Name: "STAGES", Value: 7}}, Rule: badStages},
	})
}

func TestCutDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, width := range []int{1, 2, 3, 31, 32, 33} {
		legal = append(legal, lanes.Cut{Width: width, Registers: true}, lanes.Cut{Width: width})
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: lanes.Cut{Width: 0}, Params: []graph.Param{{Name: "WIDTH", Value: 0}}, Rule: "WIDTH must be at least 1"},
	})
}

func TestConvertDescription(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(lanes.Convert) graph.Describer{
		"widen":  func(c lanes.Convert) graph.Describer { return lanes.Widen{Convert: c} },
		"narrow": func(c lanes.Convert) graph.Describer { return lanes.Narrow{Convert: c} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var legal []graph.Describer
			for _, halves := range []int{1, 2, 3, 7, 8, 9} {
				for types := 1; types < 4; types++ {
					legal = append(legal, of(lanes.Convert{Halves: halves, F16: types&1 != 0, B16: types&2 != 0}))
				}
			}
			hdltest.Check(t, legal, []hdltest.Refused{
				{Leaf: of(lanes.Convert{Halves: 0, F16: true}), Params: []graph.Param{{Name: "HALVES", Value: 0}}, Rule: "HALVES must be at least 1"},
				{Leaf: of(lanes.Convert{Halves: 1}), Params: []graph.Param{{Name: "F16", Value: 0}, {Name: "B16", Value: 0}}, Rule: "F16 or B16 must be included"},
			})
		})
	}
}
