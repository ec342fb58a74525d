// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/icrc"
	"incforge/hdl/leaf"
	"incforge/hdl/vlan"
	"incforge/rtlgen/params"
)

// tags are the blocks of 802.1Q tags (docs/vlan.md): a tag is taken off before the parser, goes beside the frame's port through the blocks, and is put
// on behind Forward. A nil one stands for an engine without, in which the same ends are joined directly.
type tags struct {
	strip, check, pick, put, regs *graph.Instance
	portBits                      int
}

// tagBits are the bits by which a port's number is wider where a tag goes beside it.
func tagBits(p params.Params) int {
	if p.VLAN {
		return vlan.TagBits
	}
	return 0
}

// endDelay is how many cycles the end of a frame waits: for its ICRC, and with tags for the record of its endpoint.
func endDelay(p params.Params) int {
	delay := icrc.CheckDelay(p.BusBytes)
	if p.VLAN {
		return max(delay, 1)
	}
	return delay
}

// blockCounters are the names of the counters that the mode's blocks and inc_csr have: all but that of vlan.
func blockCounters(p params.Params) []string {
	without := p.Contract()
	without.VLAN = false
	return without.CounterNames()
}

func addTags(c *graph.Composite, p params.Params, model contract.Model) (*tags, error) {
	d := p.Derived()
	counters := blockCounters(p)
	snapshot, err := model.Registers.Register("COUNTER_SNAPSHOT")
	if err != nil {
		return nil, fmt.Errorf("802.1Q tags: %w", err)
	}
	table := vlan.Table{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups}
	return &tags{
		strip: c.Add("u_vlan_strip", vlan.Strip{Bytes: p.BusBytes, PortW: d.PortBits}),
		check: c.Add("u_vlan_check", vlan.Check{Table: table, DepthW: d.HeaderAddrBits, Late: leaf.Bit(icrc.CheckDelay(p.BusBytes) == 0),
			Counters: len(counters), RxError: slices.Index(counters, "DROP_RX_ERROR")}),
		pick: c.Add("u_vlan_pick", vlan.Pick{Table: table}),
		put:  c.Add("u_vlan_tag", vlan.Tag{Bytes: p.BusBytes, PortW: d.PortBits}),
		regs: c.Add("u_vlan_regs", vlan.Regs{Table: table, AxilW: model.AddrBits, Counters: len(counters), AtEP: contract.EndpointBase,
			AtCounter: contract.CounterBase, AtCounterHigh: contract.CounterHighBase, AtSnapshot: int(snapshot.Offset), Word: contract.VLANWord}),
		portBits: d.PortBits,
	}, nil
}

// in connects the way in, to where a frame and its end are known.
func (t *tags) in(c *graph.Composite, b *blocks, in graph.StreamEnd) {
	c.Link(b.parse, b.lookup, "seek_")
	if t == nil {
		c.ConnectStream(in, b.parse.Stream("s_axis"))
		c.Link(b.parse, b.packets, "eof_")
		c.Link(b.parse, b.lookup, "hdr_")
		c.Connect(b.icrcCheck.Pin("icrc_ok"), b.packets.Pin("eof_icrc_ok"))
		b.ways(c)
		return
	}
	c.ConnectStream(in, t.strip.Stream("s_axis"))
	c.ConnectStream(t.strip.Stream("m_axis"), b.parse.Stream("s_axis"))
	for _, port := range b.parse.Module.Ports {
		if port.Dir == graph.Out && strings.HasPrefix(port.Name, "hdr_") && port.Name != "hdr_port" {
			c.Connect(b.parse.Pin(port.Name), b.lookup.Pin(port.Name))
		}
	}
	number := b.parse.Pin("hdr_port")
	c.Connect(number.Slice(t.portBits-1, 0), b.lookup.Pin("hdr_port"))
	c.Connect(number.Slice(t.portBits+vlan.TagBits-1, t.portBits), t.check.Pin("hdr_tag"))
	c.Connect(b.parse.Pin("hdr_valid"), t.check.Pin("hdr_valid"))
	c.Connect(b.parse.Pin("hdr_qpn"), t.check.Pin("hdr_qpn"))
	c.Connect(b.lookup.Pin("fwd_valid"), b.send.Pin("fwd_valid"))
	c.Connect(b.bypass(), b.send.Pin("fwd_bypass"))
	c.Connect(graph.Concat(t.check.Pin("fwd_tag"), b.lookup.Pin("fwd_port")), b.send.Pin("fwd_port"))
	c.Connect(b.parse.Pin("eof_valid"), b.packets.Pin("eof_valid"), t.check.Pin("eof_valid"))
	c.Connect(b.parse.Pin("eof_err"), t.check.Pin("eof_err"))
	c.Connect(b.parse.Pin("eof_len_ok"), b.packets.Pin("eof_len_ok"))
	c.Connect(b.icrcCheck.Pin("icrc_ok"), t.check.Pin("eof_icrc_ok"))
	c.Connect(t.check.Pin("end_err"), b.packets.Pin("eof_err"))
	c.Connect(t.check.Pin("end_icrc_ok"), b.packets.Pin("eof_icrc_ok"))
	c.Connect(b.decide.Pin("vrd_pop"), t.check.Pin("vrd_pop"))
}

// header connects what begins a frame that the engine makes.
func (t *tags) header(c *graph.Composite, b *blocks) {
	if t == nil {
		c.Link(b.translate, b.join, "hdr_")
		return
	}
	for _, port := range b.translate.Module.Ports {
		if port.Dir == graph.Out && strings.HasPrefix(port.Name, "hdr_") && port.Name != "hdr_port" {
			c.Connect(b.translate.Pin(port.Name), b.join.Pin(port.Name))
		}
	}
	c.Connect(t.headerPort(c, b), b.join.Pin("hdr_port"))
}

// headerPort is the port of a frame that the engine makes, with the tag that goes beside it.
func (t *tags) headerPort(c *graph.Composite, b *blocks) graph.Pin {
	if t == nil {
		return b.translate.Pin("hdr_port")
	}
	c.Connect(b.replicate.Pin("req_valid"), t.pick.Pin("req_valid"))
	c.Connect(b.replicate.Pin("req_ei"), t.pick.Pin("req_ei"))
	c.Connect(b.translate.Pin("req_ready"), t.pick.Pin("req_ready"))
	c.Connect(b.join.Pin("hdr_pop"), t.pick.Pin("hdr_pop"))
	return graph.Concat(t.pick.Pin("hdr_tag"), b.translate.Pin("hdr_port"))
}

// out connects what leaves.
func (t *tags) out(c *graph.Composite, b *blocks, out graph.StreamEnd) {
	if t == nil {
		c.ConnectStream(b.send.Stream("m_axis"), out)
		return
	}
	c.ConnectStream(b.send.Stream("m_axis"), t.put.Stream("s_axis"))
	c.ConnectStream(t.put.Stream("m_axis"), out)
}

// registers connects the register bus with the first of the mode's registers, and what is counted with those that have the counters.
func (t *tags) registers(c *graph.Composite, b *blocks, first *graph.Instance) {
	if t == nil {
		b.registerBus(c, first)
		c.Connect(b.count(), b.csrs.Pin("count"))
		return
	}
	b.registerBus(c, t.regs)
	c.LinkAs(t.regs, "m_axil_", first, "s_axil_")
	c.LinkAs(first, "s_axil_", t.regs, "m_axil_")
	c.Connect(b.count(), t.check.Pin("count"))
	c.Connect(t.check.Pin("counted"), b.csrs.Pin("count"))
	c.Connect(t.check.Pin("dropped"), t.regs.Pin("dropped"))
	c.Connect(b.csrs.Pin("ready"), t.regs.Pin("ready"))
	c.Connect(b.csrs.Pin("grp_enable"), t.regs.Pin("grp_enable"))
	c.Connect(b.csrs.Pin("tbl_ep_we"), t.regs.Pin("clr_we"))
	c.Connect(b.csrs.Pin("tbl_index"), t.regs.Pin("clr_index"))
	c.Connect(b.csrs.Pin("tbl_word"), t.regs.Pin("clr_word"))
	for _, name := range []string{"tbl_we", "tbl_index", "tbl_data"} {
		c.Connect(t.regs.Pin(name), t.check.Pin(name), t.pick.Pin(name))
	}
}
