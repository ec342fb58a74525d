// SPDX-License-Identifier: Apache-2.0

package decider

import (
	"slices"

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
	// Prompt: 1 if a work is offered in the cycle in which it is put, 0 if in the next.
	Prompt int
}

// Module describes it, or says why the parameter is illegal.
func (p HoldWork) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_hold_work")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	rules.Refuse(p.Prompt < 0 || p.Prompt > 1, "PROMPT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_hold_work")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_hold_work", Source: source, Latency: offered(p.Prompt),
		Purpose: "keeps a work on the payload until it is taken",
		Params:  []graph.Param{{Name: "WIDTH", Value: p.Width}, {Name: "PROMPT", Value: p.Prompt}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1),
			leaf.Out("held", 1), leaf.In("put", 1), leaf.In("put_data", p.Width), leaf.In("commits", 1), leaf.In("kills", 1),
			leaf.In("op_ready", 1), leaf.Out("op_valid", 1), leaf.Out("op_spec", 1), leaf.Out("op_commit", 1), leaf.Out("op_kill", 1),
			leaf.Out("op_data", p.Width),
		},
	}, nil
}

// offered is the latency of a work.
func offered(prompt int) string {
	if prompt != 0 {
		return "0 cycles"
	}
	return "1 cycle"
}

// LookAhead is inc_look_ahead: a word of state for a frame whose predecessor may be about to write it. Its contract is the head of
// inc_look_ahead.v.
type LookAhead struct {
	// Bits: bits of the word, at least 1.
	Bits int
}

// Module describes it, or says why the parameter is illegal.
func (p LookAhead) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_look_ahead")
	rules.Refuse(p.Bits < 1, "BITS must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_look_ahead")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_look_ahead", Source: source, Latency: "0 cycles",
		Purpose: "a word of state for a frame whose predecessor may be about to write it",
		Params:  []graph.Param{{Name: "BITS", Value: p.Bits}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("read", 1), leaf.In("follows", 1), leaf.In("written", 1), leaf.In("redo", 1),
			leaf.In("ram", p.Bits), leaf.In("writes", 1), leaf.In("next", p.Bits), leaf.Out("takes", 1), leaf.Out("word", p.Bits),
		},
	}, nil
}

// Past is inc_past: how far a number is past another one and some places more. Its contract is the head of inc_past.v.
type Past struct{}

// Module describes it.
func (Past) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_past")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_past", Source: source, Latency: "0 cycles",
		Purpose: "how far a number is past another one and some places more, with one carry",
		Ports:   []graph.Port{leaf.In("number", 24), leaf.In("from", 24), leaf.In("places", 24), leaf.Out("past", 24)},
	}, nil
}

// FrameEntry is inc_frame_entry: the step in which a frame comes to be decided. Its contract is the head of inc_frame_entry.v.
type FrameEntry Decider

// Module describes it, or says every reason why the parameters are illegal.
func (p FrameEntry) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_frame_entry")
	Decider(p).CountGroups(rules)
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.InBand < 0 || p.InBand > 1, "IN_BAND must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_frame_entry")
	if err != nil {
		return nil, err
	}
	d := Decider(p)
	ports := slices.Concat([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("grp_live", p.Groups)}, d.entryPorts(), d.rangePorts())
	return &graph.Module{
		Name: "inc_frame_entry", Source: source, Latency: "0 cycles, in an in-band group 2",
		Purpose: "the step in which a frame comes to be decided",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "EP_W", Value: p.EPW}, {Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW}, {Name: "GROUPS", Value: p.Groups}, {Name: "IN_BAND", Value: p.InBand},
			{Name: "FRAME_W", Value: d.frameBits()}, {Name: "VIEW_W", Value: d.viewBits()},
		},
		Ports: append(ports,
			leaf.Out("waits", 1), leaf.Out("valid", 1), leaf.In("ready", 1), leaf.Out("live", 1), leaf.Out("ei", p.EIW),
			leaf.Out("frame", d.frameBits()), leaf.Out("view", d.viewBits()),
			leaf.Out("opcode", 8), leaf.Out("ext", 32), leaf.Out("up", 1), leaf.Out("spreads", 1), leaf.Out("root", 1), leaf.Out("from_parent", 1), leaf.Out("self", p.MaskW),
			leaf.Out("ranged", 1), leaf.Out("psn", 24), leaf.Out("dtype", 2), leaf.Out("base", p.SlotW), leaf.Out("log2_n", 5),
			leaf.In("opens", 1), leaf.In("opener", 1), leaf.In("opening", 1), leaf.In("done", 1)),
	}, nil
}
