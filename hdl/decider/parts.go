// SPDX-License-Identifier: Apache-2.0

package decider

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// FrameClass is inc_frame_class: what a frame is, by its opcode and its syndrome. Its contract is the head of inc_frame_class.v.
type FrameClass struct{}

// Module describes it.
func (FrameClass) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_frame_class")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_frame_class", Source: source, Latency: "0 cycles",
		Purpose: "what a frame is, by its opcode and its syndrome",
		Ports:   []graph.Port{leaf.In("opcode", 8), leaf.In("syndrome", 8)},
	}
	for _, name := range []string{"is_data", "is_end", "has_imm", "is_ack", "is_cnp", "syn_ack", "syn_rnr", "syn_nak"} {
		m.Ports = append(m.Ports, leaf.Out(name, 1))
	}
	return m, nil
}

// DropLadder is inc_drop_ladder: the first reasons why a frame is dropped, in their order. Its contract is the head of inc_drop_ladder.v.
type DropLadder struct{}

// Module describes it.
func (DropLadder) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_drop_ladder")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_drop_ladder", Source: source, Latency: "0 cycles",
		Purpose: "the first reasons why a frame is dropped, in their order",
	}
	for _, name := range []string{"decided", "foreign", "live", "rx_err", "sum_ok", "len_ok", "icrc_ok"} {
		m.Ports = append(m.Ports, leaf.In(name, 1))
	}
	for _, name := range []string{"drop_foreign", "drop_disabled", "drop_rx_error", "drop_checksum", "drop_length", "drop_icrc", "passed"} {
		m.Ports = append(m.Ports, leaf.Out(name, 1))
	}
	return m, nil
}

// HoldWork is inc_hold_work: keeps a work on the payload until it is taken. Its contract is the head of inc_hold_work.v.
type HoldWork struct {
	// Width: bits of a work, at least 1.
	Width int
}

// Module describes it, or says why the parameter is illegal.
func (p HoldWork) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_hold_work")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_hold_work")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_hold_work", Source: source, Latency: "1 cycle",
		Purpose: "keeps a work on the payload until it is taken",
		Params:  []graph.Param{{Name: "WIDTH", Value: p.Width}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1),
			leaf.Out("held", 1), leaf.In("put", 1), leaf.In("put_data", p.Width), leaf.In("commits", 1), leaf.In("kills", 1),
			leaf.In("op_ready", 1), leaf.Out("op_valid", 1), leaf.Out("op_spec", 1), leaf.Out("op_commit", 1), leaf.Out("op_kill", 1),
			leaf.Out("op_data", p.Width),
		},
	}, nil
}

// Parts are the modules that either block is made with.
func (p Decider) Parts() ([]*graph.Module, error) {
	var parts []*graph.Module
	for _, d := range []graph.Describer{FrameClass{}, DropLadder{}} {
		m, err := d.Module()
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	return parts, nil
}

// WorkBits are the bits of what a work says.
func (p Decider) WorkBits() int { return p.PktW + p.WordsW + p.SlotW + p.pairBits() + p.Planes + 10 }
