// SPDX-License-Identifier: Apache-2.0

package sendmessage

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Poisoned is inc_poisoned: marks groups of which a word left that the payload memory could not correct. Its contract is the head of inc_poisoned.v.
type Poisoned struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// Groups: number of groups.
	Groups int
	// WordsW: bits of a payload's number of words.
	WordsW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Poisoned) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_poisoned")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.WordsW < 1, "WORDS_W must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_poisoned")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_poisoned", Block: "SendMessage", Source: source, Latency: "a mark 1 cycle",
		Purpose: "marks groups of which a word left that the payload memory could not correct",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW}, {Name: "EI_W", Value: p.EIW}, {Name: "GROUPS", Value: p.Groups}, {Name: "WORDS_W", Value: p.WordsW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1),
			leaf.In("grp_live", p.Groups), leaf.Out("grp_sends", p.Groups), leaf.Out("grp_poisoned", p.Groups),
			leaf.In("init_we", 1), leaf.In("init_ei", p.EIW),
			leaf.In("work_put", 1), leaf.In("work_words", p.WordsW), leaf.In("work_emit", 1), leaf.In("work_reduce", 1), leaf.In("work_ei", p.EIW), leaf.In("work_kills", 1),
			leaf.In("emit_valid", 1), leaf.In("emit_bad", 1),
			leaf.In("snd_ack", 1), leaf.In("snd_act", 1), leaf.In("snd_note", 1), leaf.In("snd_done", 1), leaf.In("snd_moves", 1),
			leaf.In("in_act_valid", 1), leaf.In("in_act_kind", 3), leaf.In("in_act_ei", p.EIW),
			leaf.Out("out_act_valid", 1), leaf.Out("out_act_kind", 3), leaf.Out("out_act_ei", p.EIW),
		},
	}, nil
}
