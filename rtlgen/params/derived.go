// SPDX-License-Identifier: Apache-2.0

package params

import (
	"math/bits"
	"slices"

	"incforge/contract"
)

// Widths that the protocol fixes, in bits (IBTA volume 1: BTH and AETH; RFC 791 for the IPv4 total length).
const (
	PSNBits    = contract.PSNBits   // packet sequence number, BTH
	MSNBits    = 24                 // message sequence number, AETH
	QPNBits    = contract.QPNBits   // queue pair number, BTH
	LenBits    = 16                 // byte counts of IP and UDP length fields
	Log2NBits  = contract.Log2NBits // GROUP_SLOTS.log2_n, docs/engine.md section 6
	LaneBits   = contract.LaneBits  // an element as it is added; narrower ones are widened
	maxFrameOv = 62                 // Ethernet 14, IPv4 20, UDP 8, BTH 12, ImmDt 4, ICRC 4: bytes round the payload of the longest data frame
)

// Derived is every number that follows from Params. All widths are in bits, all depths in entries of the thing named.
// Nothing else in the project computes a width from parameters. Where a switch has several engines, they are those of each.
type Derived struct {
	// BusBits is the width of tdata: 8·bus_bytes.
	BusBits int `json:"bus_bits"`
	// KeepBits is the width of tkeep: bus_bytes.
	KeepBits int `json:"keep_bits"`
	// BusShift is log2(bus_bytes): bytes to beats.
	BusShift int `json:"bus_shift"`
	// BeatBytesBits holds a count of valid bytes in a beat, 0…bus_bytes: BusShift + 1.
	BeatBytesBits int `json:"beat_bytes_bits"`
	// Lanes is the number of adders; LaneBits is the width of each.
	Lanes    int `json:"lanes"`
	LaneBits int `json:"lane_bits"`
	// AdderStages is the number of pipeline stages of an adder, as given or as chosen: 1 to 6. The register that ecc adds is
	// not among them.
	AdderStages int `json:"adder_stages"`
	// DecisionStages is the number of register stages from what a frame's header finds to its work for the adders, in Mode II, as given or as chosen: 4 or 5.
	DecisionStages int `json:"decision_stages"`
	// DTypeMask has bit i set if the element type of code i is built in, OpMask likewise for reductions.
	DTypeMask int `json:"dtype_mask"`
	OpMask    int `json:"op_mask"`
	// HasFP, HasWide and HasInt tell that a floating-point type, one narrower than a lane, an integer type is built in.
	HasFP   bool `json:"has_fp"`
	HasWide bool `json:"has_wide"`
	HasInt  bool `json:"has_int"`

	// EPs is the number of endpoint places a group has in the tables: 2^ceil(log2(members+1)).
	EPs int `json:"eps"`
	// EPBits is the width of an endpoint number within its group: log2(EPs), at least 1 since members ≥ 1.
	EPBits int `json:"ep_bits"`
	// MaskBits is the width of an endpoint mask: members+1. Endpoint numbers from MaskBits to EPs−1 do not exist.
	MaskBits int `json:"mask_bits"`
	// GroupsPow2 is the number of group places in the tables: groups rounded up to a power of two.
	GroupsPow2 int `json:"groups_pow2"`
	// GroupIndexBits is the part of an endpoint index that names the group: log2(GroupsPow2). 0 for one group.
	GroupIndexBits int `json:"group_index_bits"`
	// GroupBits is the width of a group number on a port or in a sideband: GroupIndexBits, but at least 1, because Verilog
	// has no vectors of width 0. For one group the bit is always 0 and is not part of ei.
	GroupBits int `json:"group_bits"`
	// EIs is the number of records of the endpoint table: GroupsPow2·EPs.
	EIs int `json:"eis"`
	// EIBits is the width of an endpoint index ei = group·EPs + e: GroupIndexBits + EPBits. ei is the low EIBits of the QPN.
	EIBits int `json:"ei_bits"`

	// Places is the number of payloads in the buffer: buffer_bytes / mtu_bytes, in Mode I of messages: buffer_bytes / message_bytes, rounded down.
	Places int `json:"places"`
	// Planes is the number of payloads of a slot: 1 in place, ceil(members/2) if reproducible. Plane i holds the sum of
	// endpoints 2i and 2i+1.
	Planes int `json:"planes"`
	// TreeLevels is the number of levels of the tree above the planes: ceil(log2(Planes)).
	TreeLevels int `json:"tree_levels"`
	// Slots is the number of slots: floor(Places / Planes). It need not be a power of two; places left over are not built.
	Slots int `json:"slots"`
	// SlotBits is the width of a slot number 0…Slots−1: ceil(log2(Slots)).
	SlotBits int `json:"slot_bits"`
	// MaxLog2N is the largest legal GROUP_SLOTS.log2_n: floor(log2(Slots)), one less where only 16-bit types are built in.
	MaxLog2N int `json:"max_log2_n"`
	// GroupSlots is the number of slots a group of a 32-bit type needs for the configured window: 2·window_packets, in Mode I 2·window_messages.
	GroupSlots int `json:"group_slots"`
	// GroupLog2N is GROUP_SLOTS.log2_n for GroupSlots.
	GroupLog2N int `json:"group_log2_n"`
	// WideGroupSlots is the number of slots a group of a 16-bit type needs for the configured window: 2·GroupSlots. Its log2_n
	// is GroupLog2N too: each of its packets takes two slots of payload.
	WideGroupSlots int `json:"wide_group_slots"`
	// Log2NBits is the width of GROUP_SLOTS.log2_n: 5, whatever the size of the buffer.
	Log2NBits int `json:"log2_n_bits"`
	// WindowBits is the width of a packet count 0…window_packets.
	WindowBits int `json:"window_bits"`
	// PipeSlots is N in Modes III and I, the slots of a pipe or pool, at the configured window. 0 in Mode II, as the two below.
	PipeSlots int `json:"pipe_slots,omitempty"`
	// HopPackets is the number of full packets that the bus moves in hop_rtt_ns, rounded up: pipes of so many slots keep a link of
	// that rate busy.
	HopPackets int `json:"hop_packets,omitempty"`
	// PipeTimeoutUS is the reset value of PIPE_TIMEOUT in microseconds: 8·hop_rtt_ns rounded up.
	PipeTimeoutUS int `json:"pipe_timeout_us,omitempty"`

	// UnitBytes is the unit of payload in which Mode I counts: the least path MTU. UnitBits is the width of a unit's number in the buffer:
	// SlotBits and those of a unit's number in a message. MessageLenBits is the width of a message's length, 0…message_bytes, AddsBits
	// that of a number of units of a message. All are 0 in other modes.
	UnitBytes      int `json:"unit_bytes,omitempty"`
	UnitBits       int `json:"unit_bits,omitempty"`
	MessageLenBits int `json:"message_len_bits,omitempty"`
	AddsBits       int `json:"adds_bits,omitempty"`

	// PortBits is the width of a port number: ceil(log2(ports)), at least 1.
	PortBits int `json:"port_bits"`
	// TUserBits is the width of the core's tuser, {port, err}: PortBits + 1.
	TUserBits int `json:"tuser_bits"`

	// PortFrameBytes is the longest frame that a port's queues take, PortAddrBits the log2 of their depth in beats of the bus; 0 without queues.
	PortFrameBytes int `json:"port_frame_bytes,omitempty"`
	PortAddrBits   int `json:"port_addr_bits,omitempty"`
	// PortStartWords is how many words of a frame, in beats of the bus, are in a port's queue when it begins to leave; 0 where frames are stored whole.
	PortStartWords int `json:"port_start_words,omitempty"`

	// MTUWords is the number of beats of a full payload: mtu_bytes / bus_bytes.
	MTUWords int `json:"mtu_words"`
	// WordBits is the width of a beat number within a slot, 0…MTUWords−1: log2(MTUWords).
	WordBits int `json:"word_bits"`
	// WordCountBits is the width of a beat count 0…MTUWords: WordBits + 1.
	WordCountBits int `json:"word_count_bits"`
	// RowBytes is the width of the payload memory, a row, in data bytes: what the lanes take in a cycle of 32-bit elements,
	// min(4·lanes, bus_bytes) in place and 2·lanes if reproducible. It divides bus_bytes.
	RowBytes int `json:"row_bytes"`
	// LaneBanks is 2 if a 16-bit beat, two rows of FP32, is added in one cycle, else 1: 2 iff in place with 4·lanes = 2·bus_bytes.
	LaneBanks int `json:"lane_banks"`
	// MTURows is the number of rows of a full payload: mtu_bytes / RowBytes.
	MTURows int `json:"mtu_rows"`
	// PayloadRows is the depth of the payload memory in rows: Slots·Planes·MTURows, in Mode I with the rows of a message for MTURows.
	PayloadRows int `json:"payload_rows"`
	// PayloadAddrBits is the width of a row's address: ceil(log2(PayloadRows)), the low log2(MTURows) of them within a payload.
	PayloadAddrBits int `json:"payload_addr_bits"`
	// PayloadLenBits is the width of a payload length in bytes, 0…mtu_bytes: log2(mtu_bytes) + 1.
	PayloadLenBits int `json:"payload_len_bits"`
	// LenBits is the width of IP and UDP lengths: 16.
	LenBits int `json:"len_bits"`

	// PSNBits, MSNBits and QPNBits are 24.
	PSNBits int `json:"psn_bits"`
	MSNBits int `json:"msn_bits"`
	QPNBits int `json:"qpn_bits"`

	// FrameBytes is the longest frame the engine makes or takes as its own, in bytes without FCS: mtu_bytes + 62
	// (Ethernet 14, IPv4 20, UDP 8, BTH 12, ImmDt 4, ICRC 4).
	FrameBytes int `json:"frame_bytes"`
	// FrameWords is the same in beats: ceil(FrameBytes / bus_bytes).
	FrameWords int `json:"frame_words"`
	// PacketWords is the depth of the packet buffer in beats: the next power of two from 4·MTUWords, at least 32:
	// beats stay until their frame's verdict is known and they are added, which on a wide bus is longer than the frame, or have left.
	// It holds two frames of FrameWords, and what is kept of one that is longer.
	PacketWords int `json:"packet_words"`
	// PacketAddrBits is log2(PacketWords).
	PacketAddrBits int `json:"packet_addr_bits"`
	// ReplayWords is the depth of the replay buffer in beats: the next power of two from 2·MTUWords, at least 8. One payload is copied
	// while the next comes in; twice as much made nothing faster in either order of arrival of incforge bench throughput. Where
	// flip-flops for one payload, MTUWords, take less area than that memory, it is those: ReplayFlops. On an FPGA at most 64, if the bus is wide and
	// a payload has no more words, in what is read like flip-flops and is distributed memory. The last copy makes room word by word for the next payload.
	ReplayWords int  `json:"replay_words"`
	ReplayFlops bool `json:"replay_flops"`
	// BlockTables: tables that are read once a header, and not late in their cycle, are block RAM: on an FPGA with a wide bus, which has few LUTs to
	// give to memory and, for its payload, many block RAMs.
	BlockTables bool `json:"block_tables"`
	// ReplayAddrBits is log2(ReplayWords).
	ReplayAddrBits int `json:"replay_addr_bits"`
	// FramesApart: a frame is decided in 3 cycles, not in 2: on a bus so narrow no frame has fewer beats than that.
	FramesApart bool `json:"frames_apart"`
	// OneBeatFrames: a frame may be of one beat, so that TranslateHeader has to make a header a cycle.
	OneBeatFrames bool `json:"one_beat_frames"`
	// HeaderEntries is the depth of the FIFOs that hold one entry a packet (parsed headers, results, replies).
	HeaderEntries int `json:"header_entries"`
	// HeaderAddrBits is log2(HeaderEntries).
	HeaderAddrBits int `json:"header_addr_bits"`
}

// headerEntries is the depth of per-packet FIFOs: four full packets fill the packet buffer, and behind each of them a few
// acknowledgements, which take no payload words, should fit without stopping the input.
const headerEntries = 32

// Derived computes every width. p must have passed Validate; for parameters that it refuses the zero Derived is returned.
//
// Long: most of it is one line for each number of Derived, in that order.
func (p Params) Derived() Derived {
	if len(p.check(nil)) > 0 {
		return Derived{}
	}
	p = p.OneEngine() // each of them
	c := p.Contract()
	eps, records := c.EPS(), c.Records()
	groups := records / eps
	places, planes, slots, row := p.BufferBytes/p.placeBytes(), c.Planes(), c.Slots(), c.RowBytes()
	payloadRows := p.payloadRows()
	stages, _ := p.resolveStages() // check has refused what has none
	words := p.MTUBytes / p.BusBytes
	frame := p.MTUBytes + maxFrameOv
	frameWords := (frame + p.BusBytes - 1) / p.BusBytes
	packetWords := 1 << clog2(max(4*words, 32))
	replay := p.replay()
	portBits := max(clog2(p.Ports), 1)
	pipeSlots, hopPackets := 0, 0
	if c.Pipes() {
		pipeSlots = c.GroupSlots() / 2
		hopPackets = ceil(p.BusBytes*p.ClockMHz*p.HopRTTNS, 1000*p.MTUBytes)
	}
	portFrame, portAddr := 0, 0
	if p.PortBytes > 0 {
		portFrame, portAddr = c.PortFrameBytes(), clog2(c.PortQueueBeats())
	}
	unit, unitBits, lengthBits, addsBits := 0, 0, 0, 0
	if p.Mode == 1 {
		unit = c.LeastPathMTU()
		inner := clog2(p.MessageBytes / unit)
		unitBits, lengthBits, addsBits = clog2(slots)+inner, clog2(p.MessageBytes)+1, inner+1
	}
	return Derived{
		BusBits:        8 * p.BusBytes,
		KeepBits:       p.BusBytes,
		BusShift:       clog2(p.BusBytes),
		BeatBytesBits:  clog2(p.BusBytes) + 1,
		Lanes:          p.Lanes,
		LaneBits:       LaneBits,
		AdderStages:    stages,
		FramesApart:    c.FramePace() > 2,
		OneBeatFrames:  c.OneBeatFrames(),
		DecisionStages: p.decisionStages(),
		DTypeMask:      int(c.DTypeMask()),
		OpMask:         int(c.OpMask()),
		HasFP:          p.hasFloat(),
		HasWide:        p.hasWide(),
		HasInt:         slices.ContainsFunc(p.DTypes, func(t DType) bool { return !t.Element().Float() }),

		EPs:            eps,
		EPBits:         clog2(eps),
		MaskBits:       c.MaskBits(),
		GroupsPow2:     groups,
		GroupIndexBits: clog2(groups),
		GroupBits:      max(clog2(groups), 1),
		EIs:            records,
		EIBits:         clog2(groups) + clog2(eps),

		Places:         places,
		Planes:         planes,
		TreeLevels:     clog2(planes),
		Slots:          slots,
		SlotBits:       clog2(slots),
		MaxLog2N:       c.MaxLog2N(),
		GroupSlots:     c.GroupSlots(),
		GroupLog2N:     clog2(c.GroupSlots()),
		WideGroupSlots: 2 * c.GroupSlots(),
		Log2NBits:      Log2NBits,
		WindowBits:     clog2(p.WindowPackets) + 1,
		PipeSlots:      pipeSlots,
		HopPackets:     hopPackets,
		PipeTimeoutUS:  c.PipeTimeoutUS(),

		UnitBytes:      unit,
		UnitBits:       unitBits,
		MessageLenBits: lengthBits,
		AddsBits:       addsBits,

		PortBits:  portBits,
		TUserBits: portBits + 1,

		PortFrameBytes: portFrame,
		PortAddrBits:   portAddr,
		PortStartWords: p.cutStart(),

		MTUWords:        words,
		WordBits:        clog2(words),
		WordCountBits:   clog2(words) + 1,
		RowBytes:        row,
		LaneBanks:       c.LaneBanks(),
		MTURows:         p.MTUBytes / row,
		PayloadRows:     payloadRows,
		PayloadAddrBits: clog2(payloadRows),
		PayloadLenBits:  clog2(p.MTUBytes) + 1,
		LenBits:         LenBits,

		PSNBits: PSNBits,
		MSNBits: MSNBits,
		QPNBits: QPNBits,

		FrameBytes:     frame,
		FrameWords:     frameWords,
		PacketWords:    packetWords,
		PacketAddrBits: clog2(packetWords),
		ReplayWords:    replay.words,
		ReplayAddrBits: clog2(replay.words),
		ReplayFlops:    replay.flops,
		BlockTables:    p.wideFPGA(),
		HeaderEntries:  headerEntries,
		HeaderAddrBits: clog2(headerEntries),
	}
}

// placeBytes returns the size of a payload in the buffer: a packet's, in Mode I a message's.
func (p Params) placeBytes() int { return p.Contract().SlotBytes() }

// planes returns the payloads of a slot.
func (p Params) planes() int { return p.Contract().Planes() }

// rowBytes returns the data bytes of a row of the payload memory.
func (p Params) rowBytes() int { return p.Contract().RowBytes() }

// payloadRows returns the rows of the payload memory; places that make no whole slot are not built.
func (p Params) payloadRows() int {
	slots := p.BufferBytes / p.placeBytes() / p.planes()
	return slots * p.planes() * (p.placeBytes() / p.rowBytes())
}

// ceil returns a/b rounded up, for a ≥ 0 and b > 0.
func ceil(a, b int) int { return (a + b - 1) / b }

// clog2 returns ceil(log2(n)): the width of an index below n. clog2(1) is 0, and so is clog2 of anything less.
func clog2(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}
