// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// EndpointIndex is inc_endpoint_index: where a table keeps an endpoint. Its contract is the head of inc_endpoint_index.v.
type EndpointIndex struct {
	// EPW: bits of an endpoint's number in its group.
	EPW int
	// EIW: bits of {group, number}.
	EIW int
	// MaskW: endpoints of a group.
	MaskW int
	// Groups: groups.
	Groups int
}

// Words is the number of words of a table of endpoints.
func (p EndpointIndex) Words() int { return p.Groups * p.MaskW }

// IndexW is the number of bits of an address in it.
func (p EndpointIndex) IndexW() int { return leaf.IndexBits(p.Words()) }

// Module describes it, or says every reason why the parameters are illegal.
func (p EndpointIndex) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_endpoint_index")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W, EP_W at most EI_W")
	rules.Refuse(p.Groups < 1 || p.Groups > leaf.Pow2(max(p.EIW-p.EPW, 0)), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_endpoint_index")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_endpoint_index", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "where a table keeps an endpoint",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "INDEX_W", Value: p.IndexW()},
		},
		Ports: []graph.Port{
			leaf.In("ei", p.EIW),
			leaf.Out("index", p.IndexW()),
			leaf.Out("present", 1),
		},
	}, nil
}
