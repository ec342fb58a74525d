// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"incforge/hdl/checkpipe"
	"incforge/hdl/graph"
	"incforge/hdl/retransmission"
	"incforge/hdl/sendack"
	"incforge/rtlgen/params"
)

// addModeIII adds the block that decides in Mode III, in CheckDuplicate's place, who answers and who sends again (docs/pipes.md).
func addModeIII(c *graph.Composite, p params.Params, counters int) modeBlocks {
	d := p.Derived()
	decide := c.Add("u_check", checkpipe.CheckPipe{Decider: decides(p, counters)})
	answer := c.Add("u_answer", sendack.SendAck{EIW: d.EIBits})
	repeat := c.Add("u_repeat", retransmission.Retransmission{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, ClockMHz: p.ClockMHz,
		Behind: behind(p)})
	return modeBlocks{decide: decide, parts: decides(p, counters).Add(c, decide), registers: 3, wire: func(b *blocks) {
		steps, slots, csrs := b.steps, b.slots, b.csrs
		c.Link(decide, answer, "rcv_")
		c.Link(answer, decide, "ans_")
		for _, name := range []string{"rcv_behind", "rcv_expected"} {
			c.Connect(answer.Pin(name), decide.Pin(name))
		}
		c.Link(decide, repeat, "rt_")
		c.Link(repeat, decide, "rt_")
		c.Link(decide, repeat, "cm_")
		c.Link(decide, repeat, "act_")
		c.Link(repeat, decide, "act_")
		c.Connect(steps.Pin("frm_waits"), decide.Pin("frm_waits"))
		for _, name := range []string{"slot_mask", "slot_opcode", "slot_plen", "slot_pad", "slot_se", "slot_ext", "slot_ce"} {
			c.Connect(slots.Pin(name), decide.Pin(name)) // of an action
		}
		c.Connect(b.live(), decide.Pin("grp_live"), repeat.Pin("grp_live"))
		c.Connect(slots.Pin("init_valid"), repeat.Pin("init_valid"))
		c.Connect(slots.Pin("init_ei"), repeat.Pin("init_ei"), answer.Pin("init_ei"))
		c.Connect(slots.Pin("init_psn"), answer.Pin("init_psn"))
		c.Connect(decide.Pin("init_take"), repeat.Pin("init_we"), answer.Pin("init_we"))
		c.Connect(repeat.Pin("init_clean"), decide.Pin("init_clean"), b.turn.Pin("init_clean"))
		c.Connect(slots.Pin("init_valid"), b.turn.Pin("init_valid"))
		c.Connect(decide.Pin("init_take"), b.turn.Pin("init_take"))

		c.Open(csrs.Pin("cfg_gap_nak"), "every gap is answered")
		for _, name := range []string{"cfg_rnr_timer", "cfg_rnr", "cfg_cnp"} {
			c.Connect(csrs.Pin(name), answer.Pin(name))
		}
		c.Connect(csrs.Pin("cfg_timeout"), repeat.Pin("cfg_timeout"))
		c.Connect(repeat.Pin("grp_failed"), csrs.Pin("grp_failed"))
		for _, name := range []string{"tbl_index", "tbl_word", "tbl_data", "tbl_grp_we"} {
			c.Connect(csrs.Pin(name), decide.Pin(name))
		}

		if b.interrupts != nil {
			b.calls(c, p, b.slots, repeat)
		}
		for _, o := range monitor(d) {
			c.Output(o.name, o.bits, graph.Doc(o.doc))
		}
		c.Link(decide, c, "mon_")
	}}
}

// signal is an output of both tops.
type signal struct {
	name string
	bits int
	doc  string
}

// monitor are the outputs that show the order in which a Mode III engine takes frames and acts (docs/pipes.md 7).
func monitor(d params.Derived) []signal {
	return []signal{
		{"mon_act_valid", 1, "a frame is decided or an action taken"},
		{"mon_act_kind", 3, "0 frame, 1 send, 2 send one, 3 time-out, 4 resume"},
		{"mon_act_ei", d.EIBits, "the endpoint, or group and pipe of a send"},
	}
}
