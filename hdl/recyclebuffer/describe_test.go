// SPDX-License-Identifier: Apache-2.0

package recyclebuffer_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/recyclebuffer"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type rb = recyclebuffer.RecycleBuffer
	legal := []graph.Describer{
		mini(),
		rb{Slots: 2, SlotW: 1, Groups: 1, EPW: 1, EIW: 1, MaskW: 2, LenW: 4, DTypes: 1, Ops: 1, Pending: 1},
		rb{Slots: 3, SlotW: 2, Groups: 1, EPW: 2, EIW: 2, MaskW: 3, LenW: 9, DTypes: 2, Ops: 2, Tree: 1, Pending: 2},
		rb{Slots: 31, SlotW: 5, Groups: 2, EPW: 2, EIW: 3, MaskW: 4, LenW: 11, DTypes: 4, Ops: 4, Tree: 1, Pending: 31},
		rb{Slots: 32, SlotW: 5, Groups: 3, EPW: 3, EIW: 5, MaskW: 5, LenW: 11, DTypes: 15, Ops: 7, Tree: 1, Pending: 32},
		rb{Slots: 33, SlotW: 6, Groups: 5, EPW: 3, EIW: 6, MaskW: 8, LenW: 13, DTypes: 8, Ops: 7, Tree: 1, Pending: 33},
		rb{Slots: 256, SlotW: 8, Groups: 64, EPW: 5, EIW: 11, MaskW: 17, LenW: 13, DTypes: 7, Ops: 5, InBand: 1, Pending: 255},
		inBand(15, 0), inBand(15, 1),
		with(func(p *rb) { p.Pipes = 1 }), with(func(p *rb) { p.Pipes, p.Groups, p.EIW = 1, 1, p.EPW }),
	}
	arithmetic, tree := "DTYPES must be 1 to 15 and OPS 1 to 7", "TREE must be 0 or 1"
	slots, groups, pending := "SLOTS must be 2 to 2**SLOT_W", "GROUPS must be 1 to 2**(EI_W - EP_W)", "PENDING must be 1 to 255"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *rb) { p.Slots = 1 }), Params: []graph.Param{{Name: "SLOTS", Value: 1}}, Rule: slots},
		{Leaf: with(func(p *rb) { p.Slots = 33 }), Params: []graph.Param{{Name: "SLOTS", Value: 33}}, Rule: slots},
		{Leaf: with(func(p *rb) { p.SlotW = 24 }), Params: []graph.Param{{Name: "SLOT_W", Value: 24}}, Rule: slots},
		{Leaf: with(func(p *rb) { p.Groups = 5 }), Params: []graph.Param{{Name: "GROUPS", Value: 5}}, Rule: groups},
		{Leaf: with(func(p *rb) { p.Groups = 0 }), Params: []graph.Param{{Name: "GROUPS", Value: 0}}, Rule: groups},
		{Leaf: with(func(p *rb) { p.DTypes = 0 }), Params: []graph.Param{{Name: "DTYPES", Value: 0}}, Rule: arithmetic},
		{Leaf: with(func(p *rb) { p.DTypes = 16 }), Params: []graph.Param{{Name: "DTYPES", Value: 16}}, Rule: arithmetic},
		{Leaf: with(func(p *rb) { p.Ops = 0 }), Params: []graph.Param{{Name: "OPS", Value: 0}}, Rule: arithmetic},
		{Leaf: with(func(p *rb) { p.Ops = 8 }), Params: []graph.Param{{Name: "OPS", Value: 8}}, Rule: arithmetic},
		{Leaf: with(func(p *rb) { p.Tree = 2 }), Params: []graph.Param{{Name: "TREE", Value: 2}}, Rule: tree},
		{Leaf: with(func(p *rb) { p.Tree = -1 }), Params: []graph.Param{{Name: "TREE", Value: -1}}, Rule: tree},
		{Leaf: with(func(p *rb) { p.InBand = 2 }), Params: []graph.Param{{Name: "IN_BAND", Value: 2}}, Rule: "IN_BAND must be 0 or 1"},
		{Leaf: with(func(p *rb) { p.Pending = 0 }), Params: []graph.Param{{Name: "PENDING", Value: 0}}, Rule: pending},
		{Leaf: with(func(p *rb) { p.Pending = 256 }), Params: []graph.Param{{Name: "PENDING", Value: 256}}, Rule: pending},
		{Leaf: with(func(p *rb) { p.Pipes = 2 }), Params: []graph.Param{{Name: "PIPES", Value: 2}}, Rule: "PIPES must be 0 or 1"},
	})
}

// With groups that can be parked the module has more pins.
func TestParkingDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{with(func(p *recyclebuffer.RecycleBuffer) { p.Park = 1 })}, nil)
}
