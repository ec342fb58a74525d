// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
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
	c.Clock(contract.ClockPort, graph.Doc("clock"))
	c.Reset(contract.ResetPort, graph.Doc("synchronous reset, active high"))
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

// pending is how many frames can lie between LookupTable's tables and the decision: the queue, what is on its way to it, and the steps of
// the decision.
func pending(d params.Derived) int { return d.HeaderEntries + 20 }

// ackStages are the register stages of the minimum over acknowledgements. One more is a cycle more for the acknowledgements of a Broadcast;
// in Mode II more than nine endpoints, three comparisons one after the other, are worth two: one for each, and the memory has one to itself.
func ackStages(p params.Params, d params.Derived) int {
	if p.Mode == 2 && d.MaskBits > 9 {
		return 4
	}
	return 2
}

// ranges adds the block that knows the ranges of in-band groups, or ties off what it would drive.
// In Mode I SendMessage writes the offsets.
func ranges(c *graph.Composite, p params.Params, d params.Derived, b *blocks) {
	steps, decide, slots, translate := b.steps, b.decide, b.slots, b.translate
	if !p.InBand {
		c.Open(slots.Pin("ranges_valid"), "no in-band groups")
		c.Tie(slots.Pin("ranges_take"), 0)
		for _, from := range []*graph.Instance{steps, decide} {
			for _, port := range from.Module.Ports {
				if port.Dir == graph.Out && (strings.HasPrefix(port.Name, "ctl_") || strings.HasPrefix(port.Name, "ask_")) {
					c.Open(from.Pin(port.Name), "no in-band groups")
				}
			}
		}
		for _, to := range []*graph.Instance{steps, translate} {
			for _, port := range to.Module.Ports {
				offset := strings.HasPrefix(port.Name, "off_") && p.Mode != 1
				if port.Dir == graph.In && (port.Name == "ctl_busy" || strings.HasPrefix(port.Name, "map_") || offset) {
					c.Tie(to.Pin(port.Name), 0)
				}
			}
		}
		return
	}
	ctl := c.Add("u_control", control.Control{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, DTypes: d.DTypeMask, Ops: d.OpMask, Messages: leaf.Bit(p.Mode == 1),
		OnePort: onePort(p)})
	if p.Mode == 1 {
		b.messages.ranges(c, b, ctl)
	} else {
		c.LinkAs(steps, "ask_", ctl, "ent_")
		c.Link(steps, ctl, "ctl_")
		c.Link(decide, ctl, "ctl_")
		c.Link(ctl, steps, "ctl_")
		c.Link(ctl, steps, "map_")
		c.Link(ctl, translate, "off_")
	}
	c.LinkAs(slots, "ranges_", ctl, "init_")
	c.Connect(slots.Pin("init_ei"), ctl.Pin("init_ei"))
	c.Connect(slots.Pin("init_psn"), ctl.Pin("init_psn"))
	c.Connect(ctl.Pin("init_take"), slots.Pin("ranges_take"))
}

// composeCore is the core of an engine: one stream in, one stream out (protocol.md sections 4 and 5). What decides is the mode's; it
// stands in the same place of the graph in all three.
func composeCore(p params.Params, model contract.Model) (*graph.Module, error) {
	d := p.Derived()
	version, err := model.Registers.Register("VERSION")
	if err != nil {
		return nil, err
	}
	arith, err := model.Registers.Register("PARAM_ARITH")
	if err != nil {
		return nil, err
	}
	c := graph.NewComposite(p.Name+"_core",
		fmt.Sprintf("Mode %s engine: one AXI4-Stream in, one out, tuser = {port, err}", strings.Repeat("I", p.Mode)))
	c.Change(changes(p))
	ports(c, model.AddrBits)
	beat := graph.Shape{Data: d.BusBits, Keep: d.KeepBits, Last: true, User: d.TUserBits}
	in := c.InputStream("s_axis", beat, graph.Doc("frames in"))
	out := c.OutputStream("m_axis", beat, graph.Doc("frames out"))

	tree, inBand, pipes := leaf.Bit(p.Accumulate == params.Reproducible), leaf.Bit(p.InBand), leaf.Bit(p.Mode != 2)
	asic, offsets := leaf.Bit(p.Technology == params.ASIC), leaf.Bit(p.InBand || p.Mode == 1)
	// a 32-bit pattern as the signed integer that Verilog's plain parameters are
	init := int(int32(icrc.Init()))

	parse := c.Add("u_parser", parser.Parser{Bytes: p.BusBytes, PortW: d.PortBits + tagBits(p), MTUBytes: p.MTUBytes, LenW: d.PayloadLenBits,
		WordsW: d.WordCountBits, EOFDelay: endDelay(p)})
	icrcCheck := c.Add("u_icrc_check", icrc.Check{Bytes: p.BusBytes, Init: init})
	rxStep := c.Add("u_crc_rx", icrc.Step{Bytes: p.BusBytes})
	rxResidue := c.Add("u_residue", icrc.Residue{Bytes: p.BusBytes})
	lookup := c.Add("u_lookup", lookuptable.LookupTable{PortW: d.PortBits, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, SlotW: d.SlotBits, Ports: p.Ports, DepthW: d.HeaderAddrBits, InBand: inBand,
		OnePort: asic, ECC: p.ECCAll})
	packets := c.Add("u_packets", packetbuffer.PacketBuffer{Bytes: p.BusBytes, AddrW: d.PacketAddrBits, DepthW: d.HeaderAddrBits,
		EOFDelay: endDelay(p), Margin: parser.BeatsBehind, ECC: p.ECCAll})
	mode := addMode(c, p, model.AddrBits, len(blockCounters(p)))
	acks := c.Add("u_acks", receiveack.ReceiveAck{EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, Stages: ackStages(p, d),
		OnePort: onePort(p), Behind: behind(p)})
	slots := c.Add("u_recycle", recyclebuffer.RecycleBuffer{Slots: d.Slots, SlotW: d.SlotBits, Groups: p.Groups, EPW: d.EPBits,
		EIW: d.EIBits, MaskW: d.MaskBits, LenW: d.PayloadLenBits, DTypes: d.DTypeMask, Ops: d.OpMask, Tree: tree, InBand: inBand, Pending: pending(d), Pipes: pipes,
		Park: leaf.Bit(p.Park)})
	aggregate := c.Add("u_aggregate", aggregates(p))
	replicate := c.Add("u_replicate", replicatedata.ReplicateData{Bytes: p.BusBytes, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, AddrW: d.ReplayAddrBits, DepthW: d.HeaderAddrBits, InBand: offsets,
		Flops: leaf.Bit(d.ReplayFlops)})
	translate := c.Add("u_translate", translateheader.TranslateHeader{PortW: d.PortBits, LenW: d.PayloadLenBits, WordsW: d.WordCountBits,
		EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits, Groups: p.Groups, InBand: offsets,
		Single: leaf.Bit(p.Mode == 1 && !p.InBand && p.NoReleases), Late: asic, OnePort: asic, Block: leaf.Bit(d.BlockTables), OneBeat: leaf.Bit(d.OneBeatFrames)})
	join := c.Add("u_assemble", assemble.Assemble{Bytes: p.BusBytes, PortW: d.PortBits + tagBits(p), LenW: d.PayloadLenBits, WordsW: d.WordCountBits})
	icrcInsert := c.Add("u_icrc_insert", icrc.Insert{Bytes: p.BusBytes, PortW: d.PortBits + tagBits(p), Init: init})
	txStep := c.Add("u_crc_tx", icrc.Step{Bytes: p.BusBytes})
	txTail := c.Add("u_tail", icrc.Tail{Bytes: p.BusBytes})
	send := c.Add("u_forward", forward.Forward{Bytes: p.BusBytes, PortW: d.PortBits + tagBits(p), AddrW: d.PacketAddrBits, DepthW: d.HeaderAddrBits,
		ECC: p.ECCAll})
	gate := c.Add("u_gate", parser.Gate{Width: 4 + leaf.Bit(p.ECCAll) + leaf.Bit(p.Mode == 3)})
	gateRaw := c.Add("u_gate_raw", parser.Gate{Width: 2})
	csrs := c.Add("u_csr", csr.CSR{AxilW: model.AddrBits, ID: contract.Magic, Version: int(version.Reset), Mode: mode.registers, Bytes: p.BusBytes,
		Lanes: p.Lanes, Groups: p.Groups, Members: p.Members, Ports: p.Ports, MTUBytes: p.MTUBytes, Slots: d.Slots,
		Window: p.WindowPackets, Arith: int(int32(arith.Reset)), IPID: contract.DefaultIPID, PortW: d.PortBits, EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits,
		Counters: len(contract.Params{Mode: p.Mode, Park: p.Park}.Counters()), Park: leaf.Bit(p.Park), Timeout: d.PipeTimeoutUS})

	b := blocks{gate: gate, gateRaw: gateRaw, parse: parse, icrcCheck: icrcCheck, rxStep: rxStep, rxResidue: rxResidue, lookup: lookup, packets: packets,
		steps: mode.parts.Steps, decide: mode.decide, work: mode.parts.Work, messages: mode.messages, acks: acks, slots: slots, aggregate: aggregate,
		replicate: replicate, translate: translate, join: join, icrcInsert: icrcInsert, txStep: txStep, txTail: txTail, send: send, csrs: csrs}
	if err := b.options(c, p, model); err != nil {
		return nil, err
	}
	b.guard = addGuard(c, p, model.AddrBits)
	b.receive(c, in)
	b.judge(c)
	ranges(c, p, d, &b)
	b.add(c)
	b.emit(c, out)
	b.control(c)
	mode.wire(&b)
	if p.Park {
		b.park(c, p)
	}
	b.guard.protect(c, &b)
	pins(c, p)
	return c.Build()
}

// options adds what an engine has only in a mode, or if it is asked for.
func (b *blocks) options(c *graph.Composite, p params.Params, model contract.Model) (err error) {
	if p.Mode == 3 {
		b.turn = c.Add("u_start_turn", recyclebuffer.StartTurn{})
	}
	if p.Interrupts {
		b.interrupts = addInterrupts(c, p, model.AddrBits)
	}
	if p.VLAN {
		b.tags, err = addTags(c, p, model)
	}
	return err
}

// addMode adds what is the mode's own.
func addMode(c *graph.Composite, p params.Params, addrBits, counters int) modeBlocks {
	switch p.Mode {
	case 1:
		return addModeI(c, p, addrBits, counters)
	case 2:
		return addModeII(c, p, counters)
	default:
		return addModeIII(c, p, counters)
	}
}

// modeBlocks are what a mode adds to the graph.
type modeBlocks struct {
	decide *graph.Instance
	parts  decider.Parts
	// messages are what only Mode I has, nil in other modes.
	messages *messageBlocks
	// registers is the mode whose registers inc_csr has.
	registers int
	// wire gives the mode's blocks what only they have, once all blocks are there.
	wire func(*blocks)
}

// aggregates are the parameters of what adds payloads. Its unit is a packet's payload, in Mode I that of the least path MTU.
func aggregates(p params.Params) aggregatedata.AggregateData {
	d := p.Derived()
	a := aggregatedata.AggregateData{Bytes: p.BusBytes, Row: d.RowBytes, Double: d.LaneBanks - 1,
		Slots: d.Slots, SlotW: d.SlotBits, Planes: d.Planes, MTUWords: d.MTUWords, WordsW: d.WordCountBits, PktW: d.PacketAddrBits,
		Tree: leaf.Bit(p.Accumulate == params.Reproducible), Eager: p.EagerTree, Stages: d.AdderStages, ECC: leaf.Bit(p.ECC), Flagged: p.ECCAll, Banks: p.PayloadBanks,
		F32: slices.Contains(p.DTypes, contract.FP32), F16: slices.Contains(p.DTypes, contract.FP16), B16: slices.Contains(p.DTypes, contract.BF16),
		Sum: slices.Contains(p.Ops, contract.SUM), Min: slices.Contains(p.Ops, contract.MIN), Max: slices.Contains(p.Ops, contract.MAX)}
	if p.Mode == 1 {
		a.Slots, a.SlotW = d.Slots*p.MessageBytes/d.UnitBytes, d.UnitBits
		a.MTUWords, a.WordsW = d.UnitBytes/p.BusBytes, leaf.Clog2(d.UnitBytes/p.BusBytes)+1
	}
	return a
}

// blocks are the blocks of a core, to be connected.
type blocks struct {
	// in
	gate, gateRaw, parse, icrcCheck, rxStep, rxResidue, lookup, packets *graph.Instance
	// decide and add
	steps, decide, work, acks, slots, aggregate *graph.Instance
	messages                                    *messageBlocks
	// out
	replicate, translate, join, icrcInsert, txStep, txTail, send *graph.Instance
	// registers
	csrs *graph.Instance
	// 802.1Q tags, if there are any
	tags *tags
	// Mode III's, which keeps frames out when a start has waited long
	turn *graph.Instance
	// the interrupts, if there are any
	interrupts *graph.Instance
	// what stands beside memories with check bits, if all have them
	guard *guard
}

// receive connects the way in: beats go to all who need them, as long as all have room.
func (b *blocks) receive(c *graph.Composite, in graph.StreamEnd) {
	b.tags.in(c, b, in)
	c.Connect(b.rooms(), b.gate.Pin("each"))
	c.Connect(b.gate.Pin("all"), b.parse.Pin("room"))
	c.Connect(graph.Concat(b.packets.Pin("room_beats"), b.send.Pin("room")), b.gateRaw.Pin("each"))
	c.Connect(b.gateRaw.Pin("all"), b.parse.Pin("room_raw"))
	c.Connect(b.lookup.Pin("fwd_valid"), b.parse.Pin("fwd_valid"))
	c.Connect(b.bypass(), b.parse.Pin("fwd_bypass"))
	for _, name := range []string{"raw_valid", "raw_last"} {
		c.Connect(b.parse.Pin(name), b.packets.Pin(name), b.send.Pin(name))
	}
	for _, name := range []string{"raw_store", "raw_imm", "raw_data"} {
		c.Connect(b.parse.Pin(name), b.packets.Pin(name))
	}
	for _, name := range []string{"raw_keep", "raw_err"} {
		c.Connect(b.parse.Pin(name), b.send.Pin(name))
	}
	c.Connect(b.packets.Pin("raw_end"), b.send.Pin("raw_end"))
	c.Link(b.parse, b.icrcCheck, "crc_")
	c.LinkAs(b.icrcCheck, "step_", b.rxStep, "")
	c.Connect(b.rxStep.Pin("next"), b.icrcCheck.Pin("step_next"))
	c.Connect(b.icrcCheck.Pin("residue_tail"), b.rxResidue.Pin("tail"))
	c.Connect(b.rxResidue.Pin("residue"), b.icrcCheck.Pin("residue"))
}

// judge connects what decides a frame with the tables and the state that it asks.
func (b *blocks) judge(c *graph.Composite) {
	c.Link(b.lookup, b.steps, "ent_")
	c.Link(b.steps, b.lookup, "ent_")
	c.LinkAs(b.lookup, "route_", b.steps, "ent_route_")
	c.Connect(b.lookup.Pin("root_sends"), b.steps.Pin("ent_root_sends"))
	c.Connect(b.steps.Pin("frm_waits"), b.slots.Pin("frm_waits"))
	c.Connect(b.decide.Pin("vrd_pop"), b.slots.Pin("frm_gone"), b.packets.Pin("vrd_pop"), b.send.Pin("byp_done"))
	c.Connect(b.packets.Pin("vrd_valid"), b.decide.Pin("vrd_valid"))
	for _, name := range []string{"vrd_err", "vrd_len_ok", "vrd_icrc_ok"} {
		c.Connect(b.packets.Pin(name), b.steps.Pin(name))
	}
	c.Connect(b.packets.Pin("vrd_end"), b.work.Pin("vrd_end"))
	c.Link(b.decide, b.slots, "rd_")
	c.Link(b.decide, b.slots, "wr_")
	if b.messages == nil {
		c.Link(b.steps, b.slots, "wr_")
		c.Link(b.slots, b.steps, "slot_")
	} else {
		c.Link(b.slots, b.decide, "slot_")
	}
	c.Link(b.slots, b.decide, "init_")
	c.Link(b.decide, b.slots, "init_")
	c.Link(b.decide, b.acks, "ack_")
	c.Link(b.acks, b.decide, "ack_")
	c.Connect(b.slots.Pin("init_psn"), b.acks.Pin("init_psn"))
	c.Connect(b.slots.Pin("acks_group"), b.acks.Pin("init_group"))
	if b.messages == nil {
		c.Connect(b.slots.Pin("acks_valid"), b.acks.Pin("init_valid"))
		c.Connect(b.acks.Pin("init_take"), b.slots.Pin("acks_take"))
	} else {
		b.messages.startOfAcks(c, b)
	}
	if _, ok := b.decide.Module.Port("ack_waits"); ok {
		c.Connect(b.acks.Pin("init_waits"), b.decide.Pin("ack_waits"))
	} else {
		c.Open(b.acks.Pin("init_waits"), "a memory of two ports has room for a start")
	}
}

// add connects what adds payloads.
func (b *blocks) add(c *graph.Composite) {
	if b.messages == nil {
		c.Link(b.work, b.aggregate, "op_")
		c.Link(b.aggregate, b.work, "op_")
		c.Connect(b.work.Pin("pkt_start"), b.aggregate.Pin("pkt_start"))
	}
	c.Connect(b.packets.Pin("newest"), b.aggregate.Pin("newest"))
	c.Connect(b.aggregate.Pin("oldest"), b.packets.Pin("oldest"), b.send.Pin("byp_oldest"))
	c.Connect(b.aggregate.Pin("rd_en"), b.packets.Pin("rd_en"), b.send.Pin("rd_en"))
	c.Connect(b.aggregate.Pin("rd_again"), b.packets.Pin("rd_again"))
	c.Connect(b.aggregate.Pin("rd_imm"), b.packets.Pin("rd_imm"))
	c.Connect(b.aggregate.Pin("rd_addr"), b.packets.Pin("rd_addr"))
	c.Connect(b.aggregate.Pin("rd_next"), b.packets.Pin("rd_next"))
	c.Connect(b.aggregate.Pin("rd_wants"), b.send.Pin("rd_wants"))
	c.Connect(b.send.Pin("rd_ready"), b.aggregate.Pin("rd_ready"))
	c.Link(b.packets, b.aggregate, "rd_")
	c.Link(b.packets, b.send, "byp_")
	c.Link(b.send, b.packets, "byp_")
}

// frames connects what decides with who makes frames. The numbers of Mode I's releases are not for it to know.
func (b *blocks) frames(c *graph.Composite) {
	if b.messages == nil || b.messages.release == nil {
		c.Link(b.decide, b.replicate, "tx_")
		return
	}
	for _, port := range b.decide.Module.Ports {
		switch {
		case port.Name == "tx_rng":
			c.Open(b.decide.Pin(port.Name), "iterations have numbers")
			c.Connect(b.messages.release.Pin(port.Name), b.replicate.Pin(port.Name))
		case port.Dir == graph.Out && strings.HasPrefix(port.Name, "tx_"):
			c.Connect(b.decide.Pin(port.Name), b.replicate.Pin(port.Name))
		}
	}
}

// count is what is counted.
func (b *blocks) count() graph.Pin {
	if b.messages != nil && b.messages.release != nil {
		return b.messages.release.Pin("out_count")
	}
	return b.decide.Pin("count")
}

// emit connects the way out.
func (b *blocks) emit(c *graph.Composite, out graph.StreamEnd) {
	b.frames(c)
	c.Link(b.replicate, b.decide, "tx_")
	c.Link(b.aggregate, b.replicate, "emit_")
	c.Link(b.replicate, b.aggregate, "emit_")
	c.Link(b.replicate, b.translate, "req_")
	c.Link(b.translate, b.replicate, "req_")
	if b.messages == nil {
		b.tags.header(c, b)
	}
	c.Link(b.join, b.translate, "hdr_")
	c.Link(b.replicate, b.join, "word_")
	c.Link(b.join, b.replicate, "word_")
	c.LinkAs(b.join, "m_", b.icrcInsert, "s_")
	c.LinkAs(b.icrcInsert, "s_", b.join, "m_")
	c.LinkAs(b.icrcInsert, "step_", b.txStep, "")
	c.Connect(b.txStep.Pin("next"), b.icrcInsert.Pin("step_next"))
	c.LinkAs(b.icrcInsert, "tail_", b.txTail, "")
	c.Connect(b.txTail.Pin("crc"), b.icrcInsert.Pin("tail_crc"))
	b.leave(c)
	b.tags.out(c, b, out)
}

// control connects the registers.
func (b *blocks) control(c *graph.Composite) {
	c.Connect(b.live(), b.steps.Pin("grp_live"))
	c.Connect(b.slots.Pin("grp_live"), b.csrs.Pin("grp_live"))
	if b.messages == nil {
		b.tags.registers(c, b, b.csrs)
		c.Connect(b.slots.Pin("grp_refused"), b.csrs.Pin("grp_refused"))
		c.Connect(b.slots.Pin("grp_overlap"), b.csrs.Pin("grp_overlap"))
	}
	c.Connect(b.csrs.Pin("cfg_foreign_bypass"), b.lookup.Pin("cfg_foreign_bypass"))
	c.Connect(b.csrs.Pin("cfg_bypass_port"), b.lookup.Pin("cfg_bypass_port"))
	c.Connect(b.csrs.Pin("cfg_ip_id"), b.translate.Pin("cfg_ip_id"))
	for _, name := range []string{"tbl_index", "tbl_word", "tbl_data"} {
		c.Connect(b.csrs.Pin(name), b.lookup.Pin(name), b.slots.Pin(name), b.translate.Pin(name))
	}
	c.Connect(b.csrs.Pin("tbl_ep_we"), b.lookup.Pin("tbl_ep_we"), b.translate.Pin("tbl_ep_we"))
	c.Connect(b.lookup.Pin("tbl_waits"), b.csrs.Pin("tbl_waits"))
	c.Connect(b.csrs.Pin("tbl_grp_we"), b.lookup.Pin("tbl_grp_we"), b.slots.Pin("tbl_grp_we"))
	c.Connect(b.csrs.Pin("get_index"), b.lookup.Pin("get_index"), b.translate.Pin("get_index"))
	c.Connect(b.csrs.Pin("get_word"), b.lookup.Pin("get_word"), b.translate.Pin("get_word"))
	b.tables(c, "lookup", b.lookup)
	b.tables(c, "translate", b.translate)
	c.Connect(b.csrs.Pin("grp_enable"), b.slots.Pin("grp_enable"))
	c.Connect(b.csrs.Pin("grp_start"), b.slots.Pin("grp_start"))
	c.Connect(b.slots.Pin("grp_busy"), b.csrs.Pin("grp_busy"))
	c.Link(b.replicate, b.csrs, "count_")
	c.Link(b.aggregate, b.csrs, "count_")
	c.Link(b.csrs, b.aggregate, "inject_")
}

// park connects what parks groups: the registers ask RecycleBuffer, and that asks the block that decides.
func (b *blocks) park(c *graph.Composite, p params.Params) {
	for _, name := range []string{"grp_park", "grp_unpark"} {
		c.Connect(b.csrs.Pin(name), b.slots.Pin(name))
	}
	c.Connect(b.slots.Pin("grp_parked"), b.csrs.Pin("grp_parked"), b.decide.Pin("grp_parked"))
	c.Connect(b.slots.Pin("grp_undrained"), b.csrs.Pin("grp_undrained"))
	c.Link(b.slots, b.decide, "park_")
	if b.messages == nil || b.messages.release == nil {
		c.Link(b.decide, b.slots, "park_")
	} else {
		c.Connect(b.decide.Pin("park_take"), b.slots.Pin("park_take"))
		b.messages.pass(c, b.decide, b.slots, "park_drained")
		c.Connect(b.slots.Pin("park_group"), b.messages.release.Pin("park_group"))
	}
	for _, name := range []string{"cfg_park_rnr", "cfg_park_timer"} {
		if p.Mode == 2 {
			c.Connect(b.csrs.Pin(name), b.decide.Pin(name))
		} else {
			c.Open(b.csrs.Pin(name), "as PIPE_CTRL says")
		}
	}
}

// tables connects a block from whose tables the registers read the words of endpoints.
func (b *blocks) tables(c *graph.Composite, name string, keeper *graph.Instance) {
	c.Connect(b.csrs.Pin("get_"+name), keeper.Pin("get_valid"))
	c.Connect(keeper.Pin("got"), b.csrs.Pin("got_"+name))
	c.Connect(keeper.Pin("got_data"), b.csrs.Pin("got_"+name+"_data"))
}

// decides are the parameters that what decides has in both modes.
func decides(p params.Params, counters int) decider.Decider {
	d := p.Derived()
	return decider.Decider{LenW: d.PayloadLenBits, WordsW: d.WordCountBits, Bytes: p.BusBytes, EPW: d.EPBits, EIW: d.EIBits, MaskW: d.MaskBits,
		SlotW: d.SlotBits, Planes: d.Planes, Tree: leaf.Bit(p.Accumulate == params.Reproducible), Halves: leaf.Bit(d.HasWide), Groups: p.Groups,
		PktW: d.PacketAddrBits, ICRC: leaf.Bit(p.ICRCCheck), InBand: leaf.Bit(p.InBand), Park: leaf.Bit(p.Park), OnePort: onePort(p),
		Apart: leaf.Bit(d.FramesApart), Prompt: leaf.Bit(d.DecisionStages == 4), Counters: counters}
}

// onePort is 1 if what is acknowledged and what a frame is decided by are in memories of one port: with the block of Mode II, which lets a
// start have its turn.
func onePort(p params.Params) int { return leaf.Bit(p.Technology == params.ASIC && p.Mode == 2) }

// behind is 1 if acknowledgements and the send side are written a cycle behind their commit: where frames are a cycle apart too, for the clock of a
// small FPGA.
func behind(p params.Params) int { return leaf.Bit(p.Derived().FramesApart && onePort(p) == 0) }

// addModeII adds the block that decides in Mode II.
func addModeII(c *graph.Composite, p params.Params, counters int) modeBlocks {
	decide := c.Add("u_check", checkduplicate.CheckDuplicate(decides(p, counters)))
	return modeBlocks{decide: decide, parts: decides(p, counters).Add(c, decide), registers: 2, wire: func(b *blocks) {
		c.Connect(b.csrs.Pin("cfg_gap_nak"), decide.Pin("cfg_gap_nak"))
		for _, name := range []string{"cfg_rnr_timer", "cfg_rnr", "cfg_cnp", "cfg_timeout"} {
			c.Open(b.csrs.Pin(name), "no pipes")
		}
		c.Tie(b.csrs.Pin("grp_failed"), 0)
		if b.interrupts != nil {
			b.calls(c, p, b.slots, nil)
		}
	}}
}
