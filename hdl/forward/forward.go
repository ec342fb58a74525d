// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// Forward is inc_forward: takes frames that are not the engine's out of the ring and shares the output. Its contract is the head of inc_forward.v.
type Forward struct {
	// Bytes: bytes of a beat, a power of two of at least 4.
	Bytes int
	// PortW: bits of a port number.
	PortW int
	// AddrW: bits of a beat's address in the ring, 2 to 20.
	AddrW int
	// DepthW: log2 of the number of decisions, and of ends of frames, that may wait, 4 to 10.
	DepthW int
	// ECC: the ring's memories have check bits (package ecc), and say of a beat that it is lost.
	ECC bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Forward) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_forward")
	rules.Refuse(p.Bytes < 4 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, "BYTES must be a power of two of at least 4")
	rules.Refuse(p.PortW < 1, "PORT_W must be at least 1")
	rules.Refuse(p.AddrW < 2 || p.AddrW > 20, "ADDR_W must be 2 to 20")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	macros, bad := []string{}, []graph.Port{}
	if p.ECC {
		macros, bad = append(macros, leaf.ECCMacro), append(bad, leaf.In("byp_bad", 1))
	}
	source, err := leaf.SourceWith(files, "inc_forward", macros...)
	if err != nil {
		return nil, err
	}
	size := leaf.Clog2(p.Bytes)
	inside := []*graph.Module{}
	for _, width := range []int{p.PortW + 1, p.AddrW + 1 + size} { // decisions, and ends of frames
		fifo, err := stream.FIFO{Width: width, DepthW: p.DepthW, Margin: 8, Head: width}.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_forward: %w", err)
		}
		inside = append(inside, fifo)
	}
	skid, err := stream.Skid{Width: 8*p.Bytes + p.marks() + p.PortW + 2}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	return &graph.Module{
		Name: "inc_forward", Block: "Forward", Source: source, Latency: "3 cycles for a bypassed frame, 0 for the engine's",
		Purpose: "bypasses frames that are not the engine's and shares the output",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "DEPTH_W", Value: p.DepthW},
		},
		Ports: append([]graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.Out("room", 1),
			leaf.In("raw_valid", 1),
			leaf.In("raw_keep", p.Bytes),
			leaf.In("raw_last", 1),
			leaf.In("raw_err", 1),
			leaf.In("raw_end", p.AddrW),
			leaf.In("fwd_valid", 1),
			leaf.In("fwd_bypass", 1),
			leaf.In("fwd_port", p.PortW),
			leaf.In("byp_fill", p.AddrW),
			leaf.Out("byp_re", 1),
			leaf.Out("byp_addr", p.AddrW),
			leaf.In("byp_data", 8*p.Bytes),
			leaf.Out("byp_from", p.AddrW),
			leaf.Out("byp_alone", 1),
			leaf.In("byp_oldest", p.AddrW),
			leaf.In("byp_done", 1),
			leaf.In("rd_wants", 1),
			leaf.In("rd_en", 1),
			leaf.Out("rd_ready", 1),
			leaf.In("eng_valid", 1),
			leaf.Out("eng_ready", 1),
			leaf.In("eng_data", 8*p.Bytes),
			leaf.In("eng_size", size),
			leaf.In("eng_last", 1),
			leaf.In("eng_port", p.PortW),
			leaf.Out("m_axis_tdata", 8*p.Bytes),
			leaf.Out("m_axis_tkeep", p.Bytes),
			leaf.Out("m_axis_tvalid", 1),
			leaf.In("m_axis_tready", 1),
			leaf.Out("m_axis_tlast", 1),
			leaf.Out("m_axis_tuser", p.PortW+1),
		}, bad...),
		Streams:    []graph.Stream{{Name: "m_axis", Dir: graph.Out}},
		Submodules: append(inside, skid),
	}, nil
}

// marks is what tkeep is made of, in bits.
func (p Forward) marks() int {
	size := leaf.Clog2(p.Bytes)
	return 1 + 2*leaf.Pow2(size-size/2) + leaf.Pow2(size/2)
}
