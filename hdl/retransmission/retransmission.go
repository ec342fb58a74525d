// SPDX-License-Identifier: Apache-2.0

package retransmission

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// Retransmission is inc_retransmission: the send side of every endpoint, the timers, and the queue of who wants to send. Its contract
// is the head of inc_retransmission.v.
type Retransmission struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// ClockMHz: cycles of a microsecond, 1 to 4095.
	ClockMHz int
	// Behind: 1 if what is committed is written a cycle later, else 0.
	Behind int
}

// timeBits is the width of a time in microseconds: the longest wait, 655,360, takes less than half of its range.
const timeBits = 22

// WalkCycles is the number of cycles that a walk through all timers takes if it finds none that is up: how much later than its time
// a timer may be found, apart from a microsecond and from what is found meanwhile.
func (p Retransmission) WalkCycles() int { return p.Groups * (p.MaskW + 2) }

// Module describes it, or says every reason why the parameters are illegal.
func (p Retransmission) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_retransmission")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.ClockMHz < 1 || p.ClockMHz > 4095, "CLOCK_MHZ must be 1 to 4095")
	rules.Refuse(p.Behind < 0 || p.Behind > 1, "BEHIND must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_retransmission")
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: leaf.Pow2(p.EIW), Bits: 51, AddrW: p.EIW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_retransmission: %w", err)
	}
	groups := leaf.Pow2(max(p.EIW-p.EPW, 1))
	queue := leaf.Pow2(leaf.Clog2(p.Groups<<p.EPW + 2*p.Groups + 1))
	return &graph.Module{
		Name: "inc_retransmission", Block: "Retransmission", Source: source, Latency: "2 cycles",
		Purpose: "who keeps up, who lags, timers, and the queue of who wants to send",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "CLOCK_MHZ", Value: p.ClockMHz},
			{Name: "BEHIND", Value: p.Behind},
		},
		Ports: p.ports(),
		Memories: []graph.Memory{
			{Path: "u_sides", Words: groups, Bits: 2 + p.MaskW*(4+timeBits), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_senders", Words: leaf.Pow2(p.EIW), Bits: 51, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_queue", Words: queue, Bits: p.EIW + 1, Role: "queue", Module: "inc_ram_1r1w"},
			{Path: "u_walk", Words: groups, Bits: p.MaskW * (1 + timeBits), Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{memory},
	}, nil
}

// ports are those of the Verilog: a group's start, questions about an endpoint and their answers, what was decided,
// whose turn it is.
func (p Retransmission) ports() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("cfg_timeout", 16),
		leaf.In("grp_live", p.Groups),
		leaf.Out("grp_failed", p.Groups*p.MaskW),
		leaf.In("init_valid", 1),
		leaf.In("init_we", 1),
		leaf.In("init_ei", p.EIW),
		leaf.Out("init_clean", 1),
		leaf.In("rt_rd", 1),
		leaf.In("rt_ei", p.EIW),
		leaf.In("rt_self", p.MaskW),
		leaf.In("rt_out", p.MaskW),
		leaf.In("rt_pipe", 1),
		leaf.In("rt_sent", 24),
		leaf.In("rt_acked", 24),
		leaf.In("rt_last", 24),
		leaf.In("rt_next", 24),
		leaf.In("rt_is_ack", 1),
		leaf.In("rt_is_nak", 1),
		leaf.In("rt_is_rnr", 1),
		leaf.In("rt_code", 5),
		leaf.Out("rt_keep", p.MaskW),
		leaf.Out("rt_one_psn", 24),
		leaf.Out("rt_stale", 1),
		leaf.Out("rt_progress", 1),
		leaf.Out("rt_one", 1),
		leaf.Out("rt_again", 1),
		leaf.Out("rt_timeout", 1),
		leaf.Out("rt_resume", 1),
		leaf.In("cm_we", 1),
		leaf.In("cm_ack", 1),
		leaf.In("cm_send", 1),
		leaf.In("cm_one", 1),
		leaf.In("cm_timeout", 1),
		leaf.In("cm_resume", 1),
		leaf.In("cm_open", 1),
		leaf.In("cm_drop", 1),
		leaf.In("cm_data", 1),
		leaf.In("cm_more", 1),
		leaf.Out("act_valid", 1),
		leaf.Out("act_soon", 1),
		leaf.Out("act_timer", 1),
		leaf.Out("act_pipe", 1),
		leaf.Out("act_ei", p.EIW),
		leaf.In("act_done", 1),
	}
}
