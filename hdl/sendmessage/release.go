// SPDX-License-Identifier: Apache-2.0

package sendmessage

import (
	"slices"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Release is inc_release: has hosts told that an iteration is acknowledged, and holds back what comes after it. Its contract is the head of inc_release.v.
type Release struct {
	// EPW: bits of an endpoint's index in its group, at least 1. EIW: in the table. MaskW: of an endpoint mask; at most 2**EPW.
	EPW, EIW, MaskW int
	// Groups: number of groups.
	Groups int
	// OffW: bits of a message's length.
	OffW int
	// Park: 1 if groups can be parked, else 0.
	Park int
	// InBand: 1 if there are in-band groups, else 0.
	InBand int
	// Counters: number of counters.
	Counters int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Release) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_release")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.OffW < 1, "OFF_W must be at least 1")
	rules.Refuse(p.Counters != len(contract.Params{Mode: 1, Park: p.Park != 0}.Counters()), "COUNTERS must be the number of the mode's counters")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	if p.Park != 0 {
		macros = append(macros, leaf.ParkMacro)
	}
	if p.InBand != 0 {
		macros = append(macros, leaf.MessageRangesMacro)
	}
	source, err := leaf.SourceWith(files, "inc_release", macros...)
	if err != nil {
		return nil, err
	}
	in, out, masks := leaf.In, leaf.Out, p.Groups*p.MaskW
	groups := max(p.EIW-p.EPW, 1)
	var parks, ranges []graph.Port
	if p.Park != 0 {
		parks = []graph.Port{in("park_group", groups), in("in_park_drained", 1), out("out_park_drained", 1)}
	}
	if p.InBand != 0 {
		ranges = []graph.Port{in("ctl_open", 1), in("rng_group", groups), in("rng_we", 1), in("rng_last", 24), in("rng_senders", p.MaskW), in("rng_a", 1), in("rng_b", 1),
			out("grp_owes", p.Groups)}
	}
	return &graph.Module{
		Name: "inc_release", Block: "SendMessage", Source: source, Latency: "0 cycles",
		Purpose: "has hosts told that an iteration is acknowledged, and holds back what comes after it",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW}, {Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "GROUPS", Value: p.Groups},
			{Name: "OFF_W", Value: p.OffW}, {Name: "COUNTERS", Value: p.Counters},
		},
		Ports: slices.Concat([]graph.Port{
			in("clk", 1), in("rst", 1), in("tbl_grp_we", 1), in("tbl_ep_we", 1), in("tbl_index", p.EIW), in("tbl_word", 4), in("tbl_data", 32),
			in("grp_release", p.Groups), in("grp_iteration", 23*p.Groups), in("grp_live", p.Groups), out("grp_hears", masks),
		}, parks, []graph.Port{
			in("init_we", 1), in("init_ei", p.EIW), in("init_psn", 24),
			in("start_we", 1), in("start_group", groups), in("start_a", 24), in("start_b", 24),
		}, ranges, []graph.Port{
			in("in_act_valid", 1), in("in_act_soon", 1), in("in_act_timer", 1), in("in_act_pipe", 1), in("in_act_ei", p.EIW),
			out("out_act_valid", 1), out("out_act_soon", 1), out("out_act_timer", 1), out("out_act_pipe", 1), out("out_act_ei", p.EIW),
			in("in_snd_act", 1), in("in_snd_note", 1), in("snd_done", 1), out("out_snd_act", 1), out("out_snd_note", 1), out("snd_owe", 1),
			out("rel_owes", 1), out("rel_rng", 2), in("rel_ei", p.EIW), out("rel_owed", 1), out("rel_sent", 1), in("rel_puts", 1), in("rel_told", 1),
			in("in_ctx_limit", 24), in("in_ctx_open", p.OffW), out("out_ctx_limit", 24), out("out_ctx_open", p.OffW),
			in("in_see_ok", 1), in("in_see_msg", 24), out("out_see_ok", 1), in("tx_ei", p.EIW), out("tx_rng", 2),
			in("in_count", p.Counters), out("out_count", p.Counters),
		}),
	}, nil
}
