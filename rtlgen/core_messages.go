// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"
	"strings"

	"incforge/hdl/checkmessage"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/messagecsr"
	"incforge/hdl/sendmessage"
	"incforge/rtlgen/params"
)

// noVerilog refuses what the reference engine alone has of Mode I (docs/termination.md section 11).
func noVerilog(p params.Params) error {
	if p.Mode == 1 && p.MessageBytes > 1<<23 {
		return fmt.Errorf("message_bytes is %d, with mode 1 it must be at most 8388608: a slot has 24 bits for the length of its message: %w", p.MessageBytes, ErrNoVerilog)
	}
	return nil
}

// messageBlocks are what only Mode I has.
type messageBlocks struct {
	send, cut, asked, ask, front *graph.Instance
	// poisoned marks groups that met a double error of the payload memory; nil without ecc.
	poisoned *graph.Instance
	// release has hosts told that an iteration is acknowledged; nil with no_releases.
	release *graph.Instance
}

// checks is the block that decides in Mode I.
func checks(p params.Params, counters int) checkmessage.CheckMessage {
	d := p.Derived()
	return checkmessage.CheckMessage{Decider: decides(p, counters), MessageBytes: p.MessageBytes, UnitBytes: d.UnitBytes, UnitW: d.UnitBits,
		Open: leaf.Bit(!p.WholeMessages && p.MessageBytes > d.UnitBytes), Release: leaf.Bit(!p.NoReleases)}
}

// addModeI adds the block that decides in Mode I, in CheckPipe's place, who sends messages, what stands beside the blocks of Mode III, and
// the registers that Mode I adds (docs/termination.md).
func addModeI(c *graph.Composite, p params.Params, addrBits, counters int) modeBlocks {
	d, check := p.Derived(), checks(p, counters)
	works := decides(p, counters)
	works.SlotW = d.UnitBits
	decide := c.Add("u_check", check)
	m := &messageBlocks{
		send: c.Add("u_send", sendmessage.SendMessage{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, ClockMHz: p.ClockMHz,
			Bytes: p.BusBytes, LenW: d.PayloadLenBits, WordsW: d.WordCountBits, OffW: d.MessageLenBits, UnitW: d.UnitBits, UnitBytes: d.UnitBytes,
			Release: leaf.Bit(!p.NoReleases), InBand: leaf.Bit(p.InBand)}),
		cut: c.Add("u_cut", checkmessage.CutWork{UnitWords: d.UnitBytes / p.BusBytes, WordsW: d.WordCountBits, AddsW: d.AddsBits, UnitW: d.UnitBits,
			Planes: d.Planes, PktW: d.PacketAddrBits, Tree: works.Tree, Halves: works.Halves}),
		asked: c.Add("u_asked", checkmessage.AckAsked{Bytes: p.BusBytes, DepthW: d.HeaderAddrBits + 1}),
		ask:   c.Add("u_ask", sendmessage.AskAck{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, DepthW: d.HeaderAddrBits}),
	}
	parts := decides(p, counters).AddParts(c, decide, works)
	m.front = c.Add("u_front", messagecsr.MessageCSR{AxilW: addrBits, MessageBytes: p.MessageBytes, Window: p.WindowMessages, MTUBytes: p.MTUBytes, Least: d.UnitBytes,
		Groups: p.Groups, EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Poison: leaf.Bit(p.ECC), Release: leaf.Bit(!p.NoReleases)})
	if p.ECC {
		m.poisoned = c.Add("u_poisoned", sendmessage.Poisoned{EPW: d.EPBits, EIW: d.EIBits, Groups: p.Groups, WordsW: d.WordCountBits})
	}
	if !p.NoReleases {
		m.release = c.Add("u_release", sendmessage.Release{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, OffW: d.MessageLenBits, Park: leaf.Bit(p.Park), InBand: leaf.Bit(p.InBand), Counters: counters})
	}
	return modeBlocks{decide: decide, parts: parts, messages: m, registers: 3, wire: func(b *blocks) {
		m.decision(c, b)
		m.sending(c, b)
		m.payload(c, b)
		m.headers(c, b)
		m.registers(c, b)
		if b.interrupts != nil {
			b.calls(c, p, m.front, m.send)
		}
		for _, o := range monitor(d) {
			c.Output(o.name, o.bits, graph.Doc(o.doc))
		}
		m.poison(c, b)
	}}
}

// poison connects what marks groups, and stands between the send side and the groups that run, and before the monitor; without it these are joined directly.
func (m *messageBlocks) poison(c *graph.Composite, b *blocks) {
	if m.poisoned == nil {
		c.Connect(b.live(), m.send.Pin("grp_live"))
		c.Link(b.decide, c, "mon_")
		c.Open(b.decide.Pin("put_ei"), "no works are followed")
		return
	}
	c.Connect(b.live(), m.poisoned.Pin("grp_live"))
	c.Connect(m.poisoned.Pin("grp_sends"), m.send.Pin("grp_live"))
	c.Connect(m.poisoned.Pin("grp_poisoned"), m.front.Pin("grp_poisoned"))
	c.Connect(b.decide.Pin("init_take"), m.poisoned.Pin("init_we"))
	c.Connect(b.slots.Pin("init_ei"), m.poisoned.Pin("init_ei"))
	for _, name := range []string{"work_put", "work_words", "work_emit", "work_reduce", "work_kills"} {
		c.Connect(b.decide.Pin(name), m.poisoned.Pin(name))
	}
	c.Connect(b.decide.Pin("put_ei"), m.poisoned.Pin("work_ei"))
	for _, name := range []string{"emit_valid", "emit_bad"} {
		c.Connect(b.aggregate.Pin(name), m.poisoned.Pin(name))
	}
	for _, name := range []string{"snd_ack", "snd_act", "snd_note", "snd_moves"} {
		c.Connect(b.decide.Pin(name), m.poisoned.Pin(name))
	}
	c.Connect(m.send.Pin("snd_done"), m.poisoned.Pin("snd_done"))
	c.LinkAs(b.decide, "mon_act_", m.poisoned, "in_act_")
	c.LinkAs(m.poisoned, "out_act_", c, "mon_act_")
}

// decision connects what decides with what it asks of a frame, and of its slot.
func (m *messageBlocks) decision(c *graph.Composite, b *blocks) {
	c.Connect(b.steps.Pin("frm_waits"), b.decide.Pin("frm_waits"))
	for _, name := range []string{"raw_valid", "raw_data", "raw_last"} {
		c.Connect(b.parse.Pin(name), m.asked.Pin(name))
	}
	c.Connect(b.decide.Pin("vrd_pop"), m.asked.Pin("frm_gone"))
	c.Connect(m.asked.Pin("frm_asks"), b.decide.Pin("frm_asks"))
	for _, port := range b.steps.Module.Ports { // the slot's word is for who decides
		switch {
		case strings.HasPrefix(port.Name, "slot_"):
			c.Tie(b.steps.Pin(port.Name), 0)
		case strings.HasPrefix(port.Name, "wr_"):
			c.Open(b.steps.Pin(port.Name), "the slot's word is for who decides")
		}
	}
}

// sending connects who sends messages.
func (m *messageBlocks) sending(c *graph.Composite, b *blocks) {
	for _, prefix := range []string{"snd_", "msg_"} {
		m.link(c, b.decide, m.send, prefix)
		c.Link(m.send, b.decide, prefix)
	}
	m.link(c, b.decide, m.send, "ctx_")
	m.link(c, m.send, b.decide, "see_")
	for _, name := range []string{"act_valid", "act_soon", "act_timer", "act_pipe", "act_ei"} {
		m.pass(c, m.send, b.decide, name)
	}
	if m.release != nil {
		m.releases(c, b)
	}
	c.Link(m.send, b.translate, "off_")
	c.Connect(b.live(), b.decide.Pin("grp_live"))
	for _, name := range []string{"init_valid", "init_ei", "init_psn"} {
		c.Connect(b.slots.Pin(name), m.send.Pin(name))
	}
	c.Connect(b.decide.Pin("init_take"), m.send.Pin("init_we"))
	c.Connect(m.send.Pin("init_clean"), b.decide.Pin("init_clean"))
}

// startOfAcks has a start set what a group's endpoints have acknowledged with each of them, and not before the first: an ACK of many messages is on its
// way to ReceiveACK for longer than a start waits for frames, but CheckMessage begins with an endpoint only when there is none.
func (m *messageBlocks) startOfAcks(c *graph.Composite, b *blocks) {
	c.Connect(b.decide.Pin("init_take"), b.acks.Pin("init_valid"))
	c.Open(b.slots.Pin("acks_valid"), "set with the endpoints")
	c.Tie(b.slots.Pin("acks_take"), 1)
	c.Open(b.acks.Pin("init_take"), "CheckMessage takes an endpoint only while no answer is under way, so nothing is read or written then")
}

// link joins the outputs of one block that begin so with the inputs of another, through the block that knows of releases where that is between them.
func (m *messageBlocks) link(c *graph.Composite, from, to *graph.Instance, prefix string) {
	if m.release == nil {
		c.Link(from, to, prefix)
		return
	}
	for _, port := range from.Module.Ports {
		if port.Dir == graph.Out && strings.HasPrefix(port.Name, prefix) {
			m.pass(c, from, to, port.Name)
		}
	}
}

// pass is link for one signal.
func (m *messageBlocks) pass(c *graph.Composite, from, to *graph.Instance, name string) {
	if m.release != nil {
		if _, between := m.release.Module.Port("out_" + name); between {
			c.Connect(from.Pin(name), m.release.Pin("in_"+name))
			c.Connect(m.release.Pin("out_"+name), to.Pin(name))
			return
		}
	}
	c.Connect(from.Pin(name), to.Pin(name))
}

// releases connects the block that knows of releases with all that pass does not.
func (m *messageBlocks) releases(c *graph.Composite, b *blocks) {
	r := m.release
	c.Connect(b.csrs.Pin("tbl_grp_we"), r.Pin("tbl_grp_we"))
	c.LinkAs(m.front, "out_ep", r, "tbl_ep")
	for _, name := range []string{"index", "word", "data"} {
		c.Connect(m.front.Pin("out_"+name), r.Pin("tbl_"+name))
	}
	c.Connect(m.front.Pin("grp_release"), r.Pin("grp_release"))
	c.Connect(m.front.Pin("grp_iteration"), r.Pin("grp_iteration"))
	c.Connect(b.live(), r.Pin("grp_live"))
	c.Connect(r.Pin("grp_hears"), b.decide.Pin("grp_releases"))
	c.Connect(b.decide.Pin("init_take"), r.Pin("init_we"))
	for _, name := range []string{"init_ei", "init_psn"} {
		c.Connect(b.slots.Pin(name), r.Pin(name))
	}
	c.Link(b.decide, r, "start_")
	if _, ranges := r.Module.Port("grp_owes"); ranges {
		c.Link(b.decide, r, "rng_")
		c.Connect(r.Pin("grp_owes"), b.decide.Pin("grp_owes"))
		c.Connect(b.decide.Pin("ctl_open"), r.Pin("ctl_open"))
	}
	c.Connect(m.send.Pin("snd_done"), r.Pin("snd_done"))
	c.Connect(r.Pin("snd_owe"), m.send.Pin("snd_owe"))
	c.Link(r, m.send, "rel_")
	c.Link(m.send, r, "rel_")
	c.Connect(m.send.Pin("see_msg"), r.Pin("in_see_msg"))
	c.Connect(b.decide.Pin("tx_ei"), r.Pin("tx_ei"))
	c.Connect(b.decide.Pin("count"), r.Pin("in_count"))
}

// ranges connects what stands in another place than in Modes II and III: where an endpoint is in its range is for who decides, who keeps frames out
// until everybody has begun the next one.
func (m *messageBlocks) ranges(c *graph.Composite, b *blocks, ctl *graph.Instance) {
	c.Link(b.steps, ctl, "ctl_")
	c.Connect(b.decide.Pin("ctl_open"), ctl.Pin("ctl_open"))
	c.Connect(b.decide.Pin("ctl_busy"), b.steps.Pin("ctl_busy"))
	c.Link(ctl, b.steps, "map_")
	if m.release == nil {
		c.Connect(ctl.Pin("open_rng"), m.send.Pin("open_rng"))
	} else {
		c.Open(ctl.Pin("open_rng"), "iterations have numbers")
	}
	for _, port := range b.steps.Module.Ports {
		if name, asks := strings.CutPrefix(port.Name, "ask_"); name == "psn" {
			c.Open(b.steps.Pin(port.Name), "messages have numbers of their own")
		} else if asks {
			c.Connect(b.steps.Pin(port.Name), ctl.Pin("ent_"+name))
		}
	}
	for _, name := range []string{"map_previous", "map_opens_up", "map_base", "map_psn"} {
		c.Tie(b.steps.Pin(name), 0)
	}
}

// payload connects what cuts works on payload.
func (m *messageBlocks) payload(c *graph.Composite, b *blocks) {
	c.Open(b.work.Pin("op_read"), "a unit may be added, and the next not")
	for _, name := range []string{"valid", "spec", "commit", "kill", "start", "imm", "words", "slot", "pair", "take", "write", "emit", "reduce", "pairs", "function", "dtype", "big_endian"} {
		c.Connect(b.work.Pin("op_"+name), m.cut.Pin("in_"+name))
	}
	c.Connect(m.cut.Pin("in_ready"), b.work.Pin("op_ready"))
	c.Connect(b.decide.Pin("adds"), m.cut.Pin("in_adds"))
	c.Connect(b.work.Pin("pkt_start"), m.cut.Pin("in_oldest"))
	c.Link(m.cut, b.aggregate, "op_")
	c.Link(b.aggregate, m.cut, "op_")
	c.Connect(m.cut.Pin("oldest"), b.aggregate.Pin("pkt_start"))
}

// headers connects what takes AckReq out of headers.
func (m *messageBlocks) headers(c *graph.Composite, b *blocks) {
	c.Connect(b.decide.Pin("tx_valid"), m.ask.Pin("tx_valid"))
	c.Connect(b.decide.Pin("tx_mask"), m.ask.Pin("tx_mask"))
	c.Connect(b.decide.Pin("copies_asked"), m.ask.Pin("tx_ask"))
	c.Connect(b.replicate.Pin("req_valid"), m.ask.Pin("req_valid"))
	c.Connect(b.replicate.Pin("req_ei"), m.ask.Pin("req_ei"))
	c.Connect(b.translate.Pin("req_ready"), m.ask.Pin("req_ready"))
	c.Connect(b.join.Pin("hdr_pop"), m.ask.Pin("hdr_pop"))
	for _, port := range b.translate.Module.Ports {
		switch {
		case port.Dir != graph.Out || !strings.HasPrefix(port.Name, "hdr_"):
		case port.Name == "hdr_bytes":
			c.Connect(b.translate.Pin(port.Name), m.ask.Pin(port.Name))
			c.Connect(m.ask.Pin("asked_bytes"), b.join.Pin(port.Name))
		case port.Name == "hdr_port":
			c.Connect(b.tags.headerPort(c, b), b.join.Pin(port.Name))
		default:
			c.Connect(b.translate.Pin(port.Name), b.join.Pin(port.Name))
		}
	}
}

// registers connects those that Mode I adds, before Mode III's.
func (m *messageBlocks) registers(c *graph.Composite, b *blocks) {
	b.tags.registers(c, b, m.front)
	c.LinkAs(m.front, "m_axil_", b.csrs, "s_axil_")
	c.LinkAs(b.csrs, "s_axil_", m.front, "m_axil_")
	c.Connect(b.csrs.Pin("ready"), m.front.Pin("ready"))
	c.Connect(b.csrs.Pin("grp_enable"), m.front.Pin("grp_enable"))
	c.Connect(b.csrs.Pin("grp_start"), m.front.Pin("grp_start"))
	c.Connect(b.slots.Pin("grp_refused"), m.front.Pin("in_refused"))
	c.Connect(m.front.Pin("grp_refused"), b.csrs.Pin("grp_refused"))
	c.Connect(b.slots.Pin("grp_overlap"), m.front.Pin("in_overlap"))
	c.Connect(m.front.Pin("grp_overlap"), b.csrs.Pin("grp_overlap"))
	c.Connect(b.decide.Pin("grp_invalid"), m.front.Pin("grp_invalid"))
	c.Connect(m.send.Pin("grp_failed"), b.csrs.Pin("grp_failed"))
	c.Link(b.csrs, m.front, "tbl_")
	c.Connect(b.csrs.Pin("tbl_grp_we"), b.decide.Pin("tbl_grp_we"))
	for _, to := range []*graph.Instance{b.decide, m.send} {
		c.LinkAs(m.front, "out_ep", to, "tbl_ep")
		for _, name := range []string{"index", "word", "data"} {
			c.Connect(m.front.Pin("out_"+name), to.Pin("tbl_"+name))
		}
	}
	c.Connect(m.front.Pin("grp_whole"), b.decide.Pin("grp_whole"))
	c.Connect(m.front.Pin("cfg_ack_every"), b.decide.Pin("cfg_ack_every"))
	c.Open(b.csrs.Pin("cfg_gap_nak"), "every gap is answered")
	for _, name := range []string{"cfg_rnr_timer", "cfg_rnr", "cfg_cnp"} {
		c.Connect(b.csrs.Pin(name), b.decide.Pin(name))
	}
	c.Connect(b.csrs.Pin("cfg_timeout"), m.send.Pin("cfg_timeout"))
}
