// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/assemble"
	"incforge/hdl/checkduplicate"
	"incforge/hdl/control"
	"incforge/hdl/csr"
	"incforge/hdl/decider"
	"incforge/hdl/forward"
	"incforge/hdl/graph"
	"incforge/hdl/icrc"
	"incforge/hdl/leaf"
	"incforge/hdl/lookuptable"
	"incforge/hdl/packetbuffer"
	"incforge/hdl/parser"
	"incforge/hdl/receiveack"
	"incforge/hdl/recyclebuffer"
	"incforge/hdl/replicatedata"
	"incforge/hdl/translateheader"
	"incforge/rtlgen/params"
	"incforge/rtlgen/regs"
)

// axil are the signals of an AXI4-Lite slave, by direction seen from it, with their width; 0 stands for the address's.
var axil = [...]struct {
	name string
	out  bool
	bits int
}{
	{"awaddr", false, 0}, {"awvalid", false, 1}, {"awready", true, 1},
	{"wdata", false, 32}, {"wstrb", false, 4}, {"wvalid", false, 1}, {"wready", true, 1},
	{"bresp", true, 2}, {"bvalid", true, 1}, {"bready", false, 1},
	{"araddr", false, 0}, {"arvalid", false, 1}, {"arready", true, 1},
	{"rdata", true, 32}, {"rresp", true, 2}, {"rvalid", true, 1}, {"rready", false, 1},
}

// ports declares the ports every top has: clock, reset and the register bus.
func ports(c *graph.Composite, addrBits int) {
	c.Clock("clk", graph.Doc("clock"))
	c.Reset("rst", graph.Doc("synchronous reset, active high"))
	for _, s := range axil {
		bits := s.bits
		if bits == 0 {
			bits = addrBits
		}
		if s.out {
			c.Output("s_axil_"+s.name, bits, graph.Doc("AXI4-Lite "+s.name))
		} else {
			c.Input("s_axil_"+s.name, bits, graph.Doc("AXI4-Lite "+s.name))
		}
	}
}

// pending is how many frames can lie between LookupTable's tables and CheckDuplicate's decision: the queue and what is on its way.
func pending(d params.Derived) int { return d.HeaderEntries + 16 }

// ackStages are the register stages of the minimum over acknowledgements: one more is a cycle more for the acknowledgements of a Broadcast.
const ackStages = 2

// ranges adds the block that knows the ranges of in-band groups, or ties off what it would drive.
func ranges(c *graph.Composite, p params.Params, d params.Derived, lookup, decide, slots, translate *graph.Instance) {
	if !p.InBand {
		for _, name := range []string{"route_valid", "route_mask", "root_sends"} {
			c.Open(lookup.Pin(name), "no in-band groups")
		}
		c.Open(slots.Pin("ranges_valid"), "no in-band groups")
		c.Tie(slots.Pin("ranges_take"), 0)
		for _, name := range []string{"ctl_rd", "ctl_open"} {
			c.Open(decide.Pin(name), "no in-band groups")
		}
		for _, to := range []*graph.Instance{decide, translate} {
			for _, port := range to.Module.Ports {
				if port.Dir == graph.In && (port.Name == "ctl_busy" || strings.HasPrefix(port.Name, "map_") || strings.HasPrefix(port.Name, "off_")) {
					c.Tie(to.Pin(port.Name), 0)
				}
			}
		}
		return
	}
	ctl := c.Add("u_control", control.Control{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, DTypes: d.DTypeMask, Ops: d.OpMask})
	for _, name := range []string{"ei", "psn", "opcode", "empty", "ext", "in_mask", "out_mask", "ack_mask", "parent_mask"} {
		c.Connect(lookup.Pin("ent_"+name), ctl.Pin("ent_"+name))
	}
	c.LinkAs(lookup, "route_", ctl, "ent_route_")
	c.Connect(lookup.Pin("root_sends"), ctl.Pin("ent_root_sends"))
	c.Link(decide, ctl, "ctl_")
	c.Link(ctl, decide, "ctl_")
	c.Link(ctl, decide, "map_")
	c.Link(ctl, translate, "off_")
	c.LinkAs(slots, "ranges_", ctl, "init_")
	c.Connect(slots.Pin("init_ei"), ctl.Pin("init_ei"))
	c.Connect(slots.Pin("init_psn"), ctl.Pin("init_psn"))
	c.Connect(ctl.Pin("init_take"), slots.Pin("ranges_take"))
}

// composeCore is the core of an engine: one stream in, one stream out (protocol.md sections 4 and 5). What decides is the mode's; it
// stands in the same place of the graph in both.
func composeCore(p params.Params, model regs.Model) (*graph.Module, error) {
	d := p.Derived()
	version, _ := model.Register("VERSION")
	c := graph.NewComposite(p.Name+"_core",
		fmt.Sprintf("Mode %s engine: one AXI4-Stream in, one out, tuser = {port, err}", strings.Repeat("I", p.Mode)))
	ports(c, model.AddrBits)
	beat := graph.Shape{Data: d.BusBits, Keep: d.KeepBits, Last: true, User: d.TUserBits}
	in := c.InputStream("s_axis", beat, graph.Doc("frames in"))
	out := c.OutputStream("m_axis", beat, graph.Doc("frames out"))

	tree, inBand, pipes := leaf.Bit(p.Accumulate == params.Reproducible), leaf.Bit(p.InBand), leaf.Bit(p.Mode == 3)
	arith, _ := model.Register("PARAM_ARITH")
	// a 32-bit pattern as the signed integer that Verilog's plain parameters are
	init := int(int32(icrc.Init()))

	parse := c.Add("u_parser", parser.Parser{Bytes: p.BusBytes, PortW: d.PortBits, MTUBytes: p.MTUBytes, LenW: d.PayloadLenBits,
		WordsW: d.WordCountBits, EOFDelay: icrc.CheckDelay(p.BusBytes)})
	icrcCheck := c.Add("u_icrc_check", icrc.Check{Bytes: p.BusBytes, Init: init})
	rxStep := c.Add("u_crc_rx", icrc.Step{Bytes: p.BusBytes})
	rxResidue := c.Add("u_residue", icrc.Residue{Bytes: p.BusBytes})
	lookup := c.Add("u_lookup", lookuptable.LookupTable{PortW: d.PortBits, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, SlotW: d.SlotBits, Ports: p.Ports, DepthW: d.HeaderAddrBits, InBand: inBand})
	packets := c.Add("u_packets", packetbuffer.PacketBuffer{Bytes: p.BusBytes, AddrW: d.PacketAddrBits, DepthW: d.HeaderAddrBits,
		EOFDelay: icrc.CheckDelay(p.BusBytes)})
	addMode := addModeII
	if p.Mode == 3 {
		addMode = addModeIII
	}
	decide, wire := addMode(c, p, len(model.Counters))
	acks := c.Add("u_acks", receiveack.ReceiveAck{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, Stages: ackStages})
	slots := c.Add("u_recycle", recyclebuffer.RecycleBuffer{Slots: d.Slots, SlotW: d.SlotBits, Groups: p.Groups, EPW: d.EPBits,
		EIW: d.EIBits, MaskW: d.MaskBits, LenW: d.PayloadLenBits, DTypes: d.DTypeMask, Ops: d.OpMask, Tree: tree, InBand: inBand, Pending: pending(d), Pipes: pipes})
	aggregate := c.Add("u_aggregate", aggregatedata.AggregateData{Bytes: p.BusBytes, Row: d.RowBytes, Double: d.LaneBanks - 1,
		Slots: d.Slots, SlotW: d.SlotBits, Planes: d.Planes, MTUWords: d.MTUWords, WordsW: d.WordCountBits, PktW: d.PacketAddrBits,
		Tree: tree, Stages: d.AdderStages, ECC: leaf.Bit(p.ECC), Banks: p.PayloadBanks,
		F32: slices.Contains(p.DTypes, params.FP32), F16: slices.Contains(p.DTypes, params.FP16), B16: slices.Contains(p.DTypes, params.BF16),
		Sum: slices.Contains(p.Ops, params.SUM), Min: slices.Contains(p.Ops, params.MIN), Max: slices.Contains(p.Ops, params.MAX)})
	replicate := c.Add("u_replicate", replicatedata.ReplicateData{Bytes: p.BusBytes, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, AddrW: d.ReplayAddrBits, DepthW: d.HeaderAddrBits, InBand: inBand})
	translate := c.Add("u_translate", translateheader.TranslateHeader{PortW: d.PortBits, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EIW: d.EIBits, InBand: inBand})
	join := c.Add("u_assemble", assemble.Assemble{Bytes: p.BusBytes, PortW: d.PortBits, LenW: d.PayloadLenBits, WordsW: d.WordCountBits})
	icrcInsert := c.Add("u_icrc_insert", icrc.Insert{Bytes: p.BusBytes, PortW: d.PortBits, Init: init})
	txStep := c.Add("u_crc_tx", icrc.Step{Bytes: p.BusBytes})
	txTail := c.Add("u_tail", icrc.Tail{Bytes: p.BusBytes})
	send := c.Add("u_forward", forward.Forward{Bytes: p.BusBytes, PortW: d.PortBits, BeatsW: d.ForwardAddrBits, DepthW: d.HeaderAddrBits})
	gate := c.Add("u_gate", parser.Gate{Width: 4})
	csrs := c.Add("u_csr", csr.CSR{AxilW: model.AddrBits, ID: regs.Magic, Version: int(version.Reset), Mode: p.Mode, Bytes: p.BusBytes,
		Lanes: p.Lanes, Groups: p.Groups, Members: p.Members, Ports: p.Ports, MTUBytes: p.MTUBytes, Slots: d.Slots,
		Window: p.WindowPackets, Arith: int(int32(arith.Reset)), IPID: regs.DefaultIPID, PortW: d.PortBits, EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits,
		Counters: len(model.Counters), Timeout: d.PipeTimeoutUS})

	// in: beats to all who need them, as long as all have room
	c.ConnectStream(in, parse.Stream("s_axis"))
	c.Connect(graph.Concat(csrs.Pin("ready"), send.Pin("room"), packets.Pin("room"), lookup.Pin("room")), gate.Pin("each"))
	c.Connect(gate.Pin("all"), parse.Pin("room"))
	c.Connect(send.Pin("room"), parse.Pin("room_raw"))
	c.Connect(lookup.Pin("fwd_valid"), parse.Pin("fwd_valid"))
	c.Connect(lookup.Pin("fwd_bypass"), parse.Pin("fwd_bypass"))
	c.Link(parse, send, "raw_")
	c.Link(parse, icrcCheck, "crc_")
	c.Link(parse, packets, "pay_")
	c.Link(parse, packets, "eof_")
	c.Link(parse, lookup, "hdr_")
	c.LinkAs(icrcCheck, "step_", rxStep, "")
	c.Connect(rxStep.Pin("next"), icrcCheck.Pin("step_next"))
	c.Connect(icrcCheck.Pin("residue_tail"), rxResidue.Pin("tail"))
	c.Connect(rxResidue.Pin("residue"), icrcCheck.Pin("residue"))
	c.Connect(icrcCheck.Pin("icrc_ok"), packets.Pin("eof_icrc_ok"))

	// decide
	c.Link(lookup, send, "fwd_")
	c.Link(lookup, decide, "ent_")
	c.Link(decide, lookup, "ent_")
	c.Connect(lookup.Pin("ent_valid"), slots.Pin("ent_valid"))
	c.Connect(decide.Pin("ent_pop"), slots.Pin("ent_pop"))
	c.Link(packets, decide, "vrd_")
	c.Link(decide, packets, "vrd_")
	c.Link(decide, slots, "rd_")
	c.Link(decide, slots, "wr_")
	c.Link(slots, decide, "slot_")
	c.Link(slots, decide, "init_")
	c.Link(decide, slots, "init_")
	c.Link(decide, acks, "ack_")
	c.Link(acks, decide, "ack_")
	c.LinkAs(slots, "acks_", acks, "init_")
	c.Connect(slots.Pin("init_psn"), acks.Pin("init_psn"))
	c.Connect(acks.Pin("init_take"), slots.Pin("acks_take"))
	ranges(c, p, d, lookup, decide, slots, translate)
	c.Connect(slots.Pin("grp_live"), decide.Pin("grp_live"), csrs.Pin("grp_live"))

	// add
	c.Link(decide, aggregate, "op_")
	c.Link(aggregate, decide, "op_")
	c.Connect(decide.Pin("pkt_start"), aggregate.Pin("pkt_start"))
	c.Connect(packets.Pin("newest"), aggregate.Pin("newest"))
	c.Connect(aggregate.Pin("oldest"), packets.Pin("oldest"))
	c.Link(aggregate, packets, "rd_")
	c.Link(packets, aggregate, "rd_")

	// send
	c.Link(decide, replicate, "tx_")
	c.Link(replicate, decide, "tx_")
	c.Link(aggregate, replicate, "emit_")
	c.Link(replicate, aggregate, "emit_")
	c.Link(replicate, translate, "req_")
	c.Link(translate, replicate, "req_")
	c.Link(translate, join, "hdr_")
	c.Link(join, translate, "hdr_")
	c.Link(replicate, join, "word_")
	c.Link(join, replicate, "word_")
	c.LinkAs(join, "m_", icrcInsert, "s_")
	c.LinkAs(icrcInsert, "s_", join, "m_")
	c.LinkAs(icrcInsert, "step_", txStep, "")
	c.Connect(txStep.Pin("next"), icrcInsert.Pin("step_next"))
	c.LinkAs(icrcInsert, "tail_", txTail, "")
	c.Connect(txTail.Pin("crc"), icrcInsert.Pin("tail_crc"))
	c.LinkAs(icrcInsert, "m_", send, "eng_")
	c.LinkAs(send, "eng_", icrcInsert, "m_")
	c.ConnectStream(send.Stream("m_axis"), out)

	// control
	c.Link(c, csrs, "s_axil_")
	c.Link(csrs, c, "s_axil_")
	c.Connect(csrs.Pin("cfg_foreign_bypass"), lookup.Pin("cfg_foreign_bypass"))
	c.Connect(csrs.Pin("cfg_bypass_port"), lookup.Pin("cfg_bypass_port"))
	c.Connect(csrs.Pin("cfg_ip_id"), translate.Pin("cfg_ip_id"))
	for _, name := range []string{"tbl_index", "tbl_word", "tbl_data"} {
		c.Connect(csrs.Pin(name), lookup.Pin(name), slots.Pin(name), translate.Pin(name))
	}
	c.Connect(csrs.Pin("tbl_ep_we"), lookup.Pin("tbl_ep_we"), translate.Pin("tbl_ep_we"))
	c.Connect(csrs.Pin("tbl_grp_we"), lookup.Pin("tbl_grp_we"), slots.Pin("tbl_grp_we"))
	c.Connect(csrs.Pin("grp_enable"), slots.Pin("grp_enable"))
	c.Connect(csrs.Pin("grp_start"), slots.Pin("grp_start"))
	c.Connect(slots.Pin("grp_busy"), csrs.Pin("grp_busy"))
	c.Connect(slots.Pin("grp_refused"), csrs.Pin("grp_refused"))
	c.Connect(slots.Pin("grp_overlap"), csrs.Pin("grp_overlap"))
	c.Connect(decide.Pin("count"), csrs.Pin("count"))
	c.Link(replicate, csrs, "count_")
	c.Link(aggregate, csrs, "count_")
	c.Link(csrs, aggregate, "inject_")
	wire(slots, csrs)
	return c.Build()
}

// decides are the parameters that what decides has in both modes.
func decides(p params.Params, counters int) decider.Decider {
	d := p.Derived()
	return decider.Decider{LenW: d.PayloadLenBits, WordsW: d.WordCountBits, Bytes: p.BusBytes, EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits,
		SlotW: d.SlotBits, Planes: d.Planes, Tree: leaf.Bit(p.Accumulate == params.Reproducible), Halves: leaf.Bit(d.HasWide), Groups: p.Groups,
		PktW: d.PacketAddrBits, ICRC: leaf.Bit(p.ICRCCheck), InBand: leaf.Bit(p.InBand), Counters: counters}
}

// addModeII adds the block that decides in Mode II. wire gives it what only Mode II has, once the other blocks are there.
func addModeII(c *graph.Composite, p params.Params, counters int) (decide *graph.Instance, wire func(slots, csrs *graph.Instance)) {
	decide = c.Add("u_check", checkduplicate.CheckDuplicate(decides(p, counters)))
	return decide, func(_, csrs *graph.Instance) {
		c.Connect(csrs.Pin("cfg_gap_nak"), decide.Pin("cfg_gap_nak"))
		for _, name := range []string{"cfg_rnr_timer", "cfg_rnr", "cfg_cnp", "cfg_timeout"} {
			c.Open(csrs.Pin(name), "no pipes")
		}
		c.Tie(csrs.Pin("grp_failed"), 0)
	}
}
