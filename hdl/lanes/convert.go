// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Convert is what inc_widen and inc_narrow have in common.
type Convert struct {
	// Halves: number of elements, at least 1.
	Halves int
	// F16, B16: FP16, BF16 have hardware; at least one of them.
	F16, B16 bool
}

// Widen is inc_widen: 16-bit elements as FP32. Its contract is the head of inc_widen.v.
type Widen struct{ Convert }

// Narrow is inc_narrow: FP32 rounded to 16-bit elements. Its contract is the head of inc_narrow.v.
type Narrow struct{ Convert }

// Module describes it, or says every reason why the parameters are illegal.
func (p Widen) Module() (*graph.Module, error) {
	return p.module("inc_widen", "16-bit elements as FP32", 16, 32)
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Narrow) Module() (*graph.Module, error) {
	return p.module("inc_narrow", "FP32 elements rounded to 16 bits", 32, 16)
}

func (p Convert) module(name, purpose string, from, to int) (*graph.Module, error) {
	rules := leaf.NewRules(name)
	rules.Refuse(p.Halves < 1, "HALVES must be at least 1")
	rules.Refuse(!p.F16 && !p.B16, "F16 or B16 must be included")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: name, Block: "", Source: source, Latency: "0 cycles",
		Purpose: purpose,
		Params: []graph.Param{
			{Name: "HALVES", Value: p.Halves},
			{Name: "F16", Value: leaf.Bit(p.F16)},
			{Name: "B16", Value: leaf.Bit(p.B16)},
		},
		Ports: []graph.Port{
			leaf.In("is_bf16", 1),
			leaf.In("x", from*p.Halves),
			leaf.Out("y", to*p.Halves),
		},
	}, nil
}
