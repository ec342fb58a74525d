// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// NewModel builds the register map of an engine with these parameters.
func NewModel(p Params) (Model, error) {
	if err := p.check(); err != nil {
		return Model{}, fmt.Errorf("build the register map: %w", err)
	}
	if !slices.Contains(Modes(), p.Mode) {
		return Model{}, fmt.Errorf("build the register map: no mode %d", p.Mode)
	}
	all := p
	p = p.OneEngine()
	b := &builder{p: p, m: Model{Name: p.Name, Counters: p.Counters()}, single: GlobalBase, group: GroupBase, endpoint: EndpointBase}
	b.identity()
	b.options()
	b.arrays()
	b.groupControl()
	b.groupSettings()
	b.routes()
	b.pipes()
	b.messages()
	b.interrupts()
	b.memories()
	b.ports()
	b.priorities()
	b.endpoints()
	if all.EngineCount() > 1 {
		return b.m.windows(all), nil
	}
	return b.m, nil
}

// builder adds registers to a map, one part after the other. Its offsets are those of the next single register, and of the next register
// of a group and of an endpoint.
type builder struct {
	p                       Params
	m                       Model
	single, group, endpoint uint32
}

// add appends a register, with its reset value made from its fields, and widens the address to reach it.
func (b *builder) add(r Register) {
	for _, f := range r.Fields {
		r.Reset |= f.Reset << f.LSB
	}
	last := r.Offset + uint32(r.Count-1)*r.Stride
	b.m.AddrBits = max(b.m.AddrBits, bits.Len32(last))
	b.m.Registers = append(b.m.Registers, r)
}

func (b *builder) addSingle(r Register) {
	r.Offset, r.Count, r.Stride = b.single, 1, 4
	b.single += 4
	b.add(r)
}

func (b *builder) addGroup(r Register) {
	r.Offset, r.Count, r.Stride, r.Index = b.group, b.p.Groups, GroupStride, "g"
	r.word = int(r.Offset-GroupBase) / 4
	b.group += 4
	b.add(r)
}

func (b *builder) addEndpoint(r Register) {
	r.Offset, r.Count, r.Stride, r.Index, r.Access = b.endpoint, b.p.Groups*b.p.EPS(), EndpointStep, "ei", RW
	r.word = int(r.Offset-EndpointBase) / 4
	b.endpoint += 4
	b.add(r)
}

// endpointMask is the only field of a register with one bit an endpoint.
func (b *builder) endpointMask() []Field {
	return []Field{{Name: "mask", LSB: 0, Width: b.p.MaskBits(), widthParam: "MASK_W", Doc: "One bit an endpoint, endpoint 0 in bit 0."}}
}

// constant adds a register that says what the engine is; param is the parameter of inc_csr that has its value.
func (b *builder) constant(name, param, doc string, value int) {
	b.addSingle(Register{Name: name, Access: RO, Doc: doc, valueParam: param, Fields: []Field{{Name: "value", Width: 32, Reset: uint32(value), Doc: doc}}})
}

// identity adds what the engine is.
func (b *builder) identity() {
	p := b.p
	b.constant("ID", "ID", `Identity: "INC1".`, Magic)
	b.addSingle(Register{Name: "VERSION", Access: RO, Doc: "Version of this register map.", valueParam: "VERSION", Fields: []Field{
		{Name: "minor", LSB: 0, Width: 16, Reset: VersionMinor, Doc: "Raised when registers or fields are added; single registers behind an added one move."},
		{Name: "major", LSB: 16, Width: 16, Reset: VersionMajor, Doc: "Raised when registers change their meaning, or arrays move."},
	}})
	b.constant("PARAM_MODE", "MODE", "Parameter mode.", p.Mode)
	b.constant("PARAM_BUS_BYTES", "BYTES", "Parameter bus_bytes.", p.BusBytes)
	b.constant("PARAM_LANES", "LANES", "Parameter lanes.", p.Lanes)
	b.constant("PARAM_GROUPS", "GROUPS", "Parameter groups.", p.Groups)
	b.constant("PARAM_MEMBERS", "MEMBERS", "Parameter members.", p.Members)
	b.constant("PARAM_PORTS", "PORTS", "Parameter ports.", p.Ports)
	b.constant("PARAM_MTU_BYTES", "MTU_BYTES", "Parameter mtu_bytes.", p.MTUBytes)
	b.constant("PARAM_SLOTS", "SLOTS", "Number of slots: buffer_bytes / mtu_bytes / PARAM_ARITH.planes.", p.Slots())
	b.constant("PARAM_WINDOW_PACKETS", "WINDOW", "Parameter window_packets.", p.WindowPackets)
	types, ops := ElementNames(), OperationNames()
	arith := []Field{
		{Name: "dtypes", LSB: 0, Width: len(types), Reset: p.DTypeMask(),
			Doc: "Parameter dtypes, one bit a type: " + strings.Join(types, ", ") + " from bit 0."},
		{Name: "ops", LSB: 8, Width: len(ops), Reset: p.OpMask(), Doc: "Parameter ops, one bit an operation: " + strings.Join(ops, ", ") + " from bit 0."},
		{Name: "reproducible", LSB: 16, Width: 1, Reset: asBit(p.Reproducible()), Doc: "Sums do not depend on the order of arrival."},
		{Name: "ecc", LSB: 17, Width: 1, Reset: asBit(p.ECC), Doc: "The payload memory has check bits."},
	}
	if p.Park { // which has no register of its own: this one has room, and an engine without park stays what it was
		arith = append(arith, Field{Name: "park", LSB: 18, Width: 1, Reset: 1, Doc: "Groups can be parked."})
	}
	arith = append(arith, Field{Name: "planes", LSB: 24, Width: 8, Reset: uint32(p.Planes()), Doc: "Payloads of a slot: 1, or one for every pair of members if reproducible."})
	b.addSingle(Register{Name: "PARAM_ARITH", Access: RO, Doc: "What the engine computes with.", valueParam: "ARITH", Fields: arith})
}

// options adds the settings of the whole engine.
func (b *builder) options() {
	ctrl := []Field{
		{Name: "gap_nak", LSB: 0, Width: 1, Reset: 1, Doc: "Answer a gap in a host's data with one NAK."},
		{Name: "foreign_bypass", LSB: 1, Width: 1, Doc: "Bypass frames with a known QPN and a foreign address instead of dropping them."},
	}
	if b.p.Park && b.p.Mode == 2 {
		ctrl = append(ctrl, Field{Name: "park_rnr", LSB: 2, Width: 1, Reset: 1, Doc: "Answer a host's new data of a parked group with an RNR NAK."},
			Field{Name: "park_timer", LSB: 8, Width: 5, Reset: 1, Doc: "Timer code of these RNR NAKs: 1 is 10 us, 0 is 655.36 ms."})
	}
	b.addSingle(Register{Name: "CTRL", Access: RW, Doc: "Options of the whole engine.", Fields: ctrl})
	b.addSingle(Register{Name: "IP_ID", Access: RW, Doc: "Identification of the IPv4 headers that the engine makes.", Fields: []Field{
		{Name: "value", LSB: 0, Width: 16, Reset: DefaultIPID, Doc: "IPv4 identification."},
	}})
	b.addSingle(Register{Name: "ECC_INJECT", Access: RW, Volatile: true,
		Doc: "Makes errors in the payload memory, to see them corrected; without check bits it does nothing.", Fields: []Field{
			{Name: "flips", LSB: 0, Width: 2, Max: maximum(2), SelfClearing: true,
				Doc: "The next row written to the payload memory has so many of its lowest stored bits inverted."},
		}})
	b.addSingle(Register{Name: "COUNTER_SNAPSHOT", Access: RW, Doc: "When the counters are copied to where they are read.", Fields: []Field{
		{Name: "hold", LSB: 0, Width: 1, Doc: "Written 1: copy all counters as they are at one moment, and keep that copy to be read. 0: a read of COUNTER copies all first."},
	}})
	if !b.p.Pipes() {
		return
	}
	b.addSingle(Register{Name: "PIPE_CTRL", Access: RW, Doc: "Mode III: how a full pipe is answered.", Fields: []Field{
		{Name: "rnr_timer", LSB: 0, Width: 5, Reset: 1, Doc: "Timer code of RNR NAKs: 1 is 10 us, 0 is 655.36 ms."},
		{Name: "rnr", LSB: 8, Width: 1, Reset: 1, Doc: "Answer data that finds its pipe full with an RNR NAK."},
		{Name: "cnp", LSB: 9, Width: 1, Doc: "Send a host that overran its pipe a congestion notification too."},
	}})
	b.addSingle(Register{Name: "PIPE_TIMEOUT", Access: RW, Doc: "Mode III: time after which unacknowledged data is sent again.", Fields: []Field{
		{Name: "microseconds", LSB: 0, Width: 16, Reset: uint32(b.p.PipeTimeoutUS()), resetText: "8·hop_rtt_ns, rounded up",
			Doc: "Time-out; 0 stands for 1. It doubles, at most three times, while nothing is acknowledged."},
	}})
	if b.p.Mode != 1 {
		return
	}
	b.constant("PARAM_MESSAGE_BYTES", "MESSAGE_BYTES", "Parameter message_bytes.", b.p.MessageBytes)
	b.constant("PARAM_WINDOW_MESSAGES", "WINDOW_MESSAGES", "Parameter window_messages.", b.p.WindowMessages)
	b.addSingle(Register{Name: "ACK_EVERY", Access: RW, Doc: "Mode I: how many packets in a row may go without an answer.", Fields: []Field{
		{Name: "packets", LSB: 0, Width: 8, Reset: 16, Doc: "The packet that is so many after the last answer is acknowledged, asked for or not; 0 stands for 1."},
	}})
}

// port is the largest number of a port.
func (b *builder) port() *uint32 { return maximum(b.p.Ports - 1) }

// arrays adds the bypass ports and the counters.
func (b *builder) arrays() {
	b.add(Register{Name: "BYPASS_PORT", Offset: BypassBase, Count: b.p.Ports, Stride: 4, Access: RW, ResetStep: 1, Index: "port",
		Doc: "Port by which frames that are not the engine's leave, by the port they came in on.", Fields: []Field{
			{Name: "port", LSB: 0, Width: 8, Max: b.port(), Doc: "Output port."},
		}})
	b.add(Register{Name: "COUNTER", Offset: CounterBase, Count: len(b.m.Counters), Stride: 4, Access: RO, Volatile: true, Index: "i",
		Doc:    "Event counters of 64 bits, low words. A read copies all counters first, unless COUNTER_SNAPSHOT.hold is set.",
		Fields: []Field{{Name: "count", LSB: 0, Width: 32, Doc: "Events since reset, modulo 2^32."}}})
	b.add(Register{Name: "COUNTER_HIGH", Offset: CounterHighBase, Count: len(b.m.Counters), Stride: 4, Access: RO, Volatile: true, Index: "i",
		Doc:    "High words of the event counters, as of the last copy: read COUNTER before.",
		Fields: []Field{{Name: "count", LSB: 0, Width: 32, Doc: "Events since reset, divided by 2^32."}}})
}

// groupControl adds what starts a group and what says how it is.
func (b *builder) groupControl() {
	ctrl := []Field{
		{Name: "enable", LSB: 0, Width: 1, Doc: "Set while it was clear: start the group. Clear: stop it. Does not stick while another register of the group is illegal."},
		{Name: "reset", LSB: 1, Width: 1, SelfClearing: true, Doc: "Written 1: start the group again."},
	}
	status := []Field{
		{Name: "busy", LSB: 0, Width: 1, Doc: "The group is starting; its frames are dropped."},
		{Name: "enabled", LSB: 1, Width: 1, Doc: "The group is enabled."},
		{Name: "overlap", LSB: 2, Width: 1, Doc: "The last start was refused: another group that is enabled has some of the slots. Clear once GROUP_CTRL is written again."},
	}
	if b.p.Park {
		status[2].Doc = "The last start or unparking was refused: another group that is enabled has some of the slots. Clear once GROUP_CTRL is written again."
		ctrl = append(ctrl, Field{Name: "park", LSB: 2, Width: 1,
			Doc: "Written with enable set and reset clear to a group that is enabled, 1: park it, 0: unpark it. Reads 1 while it is parked."})
		status = append(status, Field{Name: "parked", LSB: 3, Width: 1, Doc: "The group is enabled and has no slots."},
			Field{Name: "undrained", LSB: 4, Width: 1, Doc: "The last park was refused: the group is not drained. Clear once GROUP_CTRL is written again."})
	}
	b.addGroup(Register{Name: "GROUP_CTRL", Access: RW, Volatile: true, Doc: "Starts and stops a group.", Fields: ctrl})
	b.addGroup(Register{Name: "GROUP_STATUS", Access: RO, Volatile: true, Doc: "State of a group.", Fields: status})
}

// groupSettings adds what a group is and computes.
func (b *builder) groupSettings() {
	p := b.p
	b.addGroup(Register{Name: "GROUP_START", Access: RW, Doc: "First PSN of both directions of every queue pair of a group.", Fields: []Field{
		{Name: "psn", LSB: 0, Width: PSNBits, Doc: "START."},
	}})
	b.addGroup(Register{Name: "GROUP_SLOTS", Access: RW, Doc: slotsDoc(p), Fields: []Field{
		{Name: "base", LSB: 0, Width: 24, Max: maximum(p.Slots() - 1), Doc: "First slot."},
		{Name: "log2_n", LSB: 24, Width: Log2NBits, Max: maximum(p.MaxLog2N()), Doc: "Logarithm of the number of packets kept, twice the senders' window."},
	}})
	b.addGroup(Register{Name: "GROUP_IN_MASK", Access: RW, Doc: "Endpoints whose data is up data.", Fields: b.endpointMask()})
	b.addGroup(Register{Name: "GROUP_OUT_MASK", Access: RW, Doc: "Endpoints that get results or copies of down data.", Fields: b.endpointMask()})
	b.addGroup(Register{Name: "GROUP_ACK_MASK", Access: RW, Doc: "Endpoints whose acknowledgements count.", Fields: b.endpointMask()})
	b.addGroup(Register{Name: "GROUP_PARENT", Access: RW, Doc: "The parent of a group; none at the root of the tree.", Fields: []Field{
		{Name: "endpoint", LSB: 0, Width: 8, Max: maximum(p.Members), Doc: "Endpoint number."},
		{Name: "valid", LSB: 31, Width: 1, Doc: "There is a parent."},
	}})
	var typeDocs, opDocs, collectiveDocs []string
	for _, e := range Elements() {
		typeDocs = append(typeDocs, e.Doc)
	}
	for _, o := range Operations() {
		opDocs = append(opDocs, o.Doc)
	}
	for _, c := range Collectives() {
		collectiveDocs = append(collectiveDocs, c.Doc)
	}
	b.addGroup(Register{Name: "GROUP_COLLECTIVE", Access: RW, Doc: "What a group computes.", Fields: []Field{
		{Name: "collective", LSB: 0, Width: 3, Doc: "Collective operation.", Values: values(CollectiveNames(), CollectiveNames(), collectiveDocs)},
		{Name: "op", LSB: 8, Width: bits.Len(uint(len(opDocs) - 1)), Doc: "Reduction.", Values: values(p.Ops, OperationNames(), opDocs)},
		{Name: "dtype", LSB: 16, Width: bits.Len(uint(len(typeDocs) - 1)), Doc: "Element type.", Values: values(p.DTypes, ElementNames(), typeDocs)},
		{Name: "big_endian", LSB: 24, Width: 1, Doc: "Elements have their most significant byte first."},
		{Name: "in_band", LSB: 25, Width: 1, Doc: "Ranks say by controls what comes next. Legal with parameter in_band alone."},
		{Name: "root_sends", LSB: 26, Width: 1, Doc: "In-band: the root rank of a Reduce sends its contribution too."},
	}})
}

// routes adds where the root ranks of an in-band group are.
func (b *builder) routes() {
	const routeBits, endpointBits = 6, 5
	for i := 0; i*RoutesPerWord < Roots; i++ {
		first := i * RoutesPerWord
		last := min(first+RoutesPerWord, Roots) - 1
		r := Register{Name: fmt.Sprintf("GROUP_ROUTE_%d", i), Access: RW,
			general: fmt.Sprintf("In-band: where %d ranks are, those of GROUP_ROUTE_i from %di on, as roots of a Reduce or Broadcast; %d in all.", RoutesPerWord, RoutesPerWord, Roots),
			Doc:     fmt.Sprintf("In-band: where ranks %d to %d are, as roots of a Reduce or Broadcast.", first, last)}
		for j := range last - first + 1 {
			r.Fields = append(r.Fields,
				Field{Name: fmt.Sprintf("endpoint_%d", j), LSB: routeBits * j, Width: endpointBits, Max: maximum(b.p.Members),
					Doc: fmt.Sprintf("Endpoint toward rank %d.", first+j)},
				Field{Name: fmt.Sprintf("valid_%d", j), LSB: routeBits*j + endpointBits, Width: 1, Doc: fmt.Sprintf("There is a way to rank %d.", first+j)})
		}
		b.addGroup(r)
	}
}

// RouteOf names the register and the fields that say where a root rank is.
func RouteOf(root int) (register, endpoint, valid string) {
	i, j := root/RoutesPerWord, root%RoutesPerWord
	return fmt.Sprintf("GROUP_ROUTE_%d", i), fmt.Sprintf("endpoint_%d", j), fmt.Sprintf("valid_%d", j)
}

// pipes adds what Mode III has for a group beside its other registers.
func (b *builder) pipes() {
	if !b.p.Pipes() {
		return
	}
	b.add(Register{Name: "GROUP_PIPE", Offset: PipeBase, Count: b.p.Groups, Stride: 4, Access: RW, Index: "g", word: PipeWord,
		Doc: "Mode III: size of a group's pipes.", Fields: []Field{
			{Name: "n", LSB: 0, Width: 24, Max: maximum(1 << b.p.MaxLog2N() / 2),
				Doc: "Slots of a pipe, at most 2^log2_n / 2, which 0 stands for; more is illegal."},
		}})
	b.add(Register{Name: "GROUP_FAILED", Offset: FailedBase, Count: b.p.Groups, Stride: 4, Access: RO, Volatile: true, Index: "g",
		Doc:    "Mode III: endpoints that answered a NAK which ends the connection; nothing is sent to them until the group is started.",
		Fields: b.endpointMask()})
}

// messages adds what Mode I has for a group beside Mode III's registers.
func (b *builder) messages() {
	if b.p.Mode != 1 {
		return
	}
	b.add(Register{Name: "GROUP_MESSAGES", Offset: MessagesBase, Count: b.p.Groups, Stride: 4, Access: RW, Index: "g",
		Doc: "Mode I: how a group's messages leave.", Fields: []Field{
			{Name: "whole_messages", LSB: 0, Width: 1, Doc: "Nothing of a message leaves before it is complete."},
			{Name: "release", LSB: 1, Width: 1, Doc: "Hosts get a message of length 0 when what they sent in an iteration is acknowledged everywhere."},
		}})
	b.add(Register{Name: "GROUP_RELEASE", Offset: ReleaseBase, Count: b.p.Groups, Stride: 4, Access: RW, Index: "g",
		Doc: "Mode I: length of an iteration of a fixed group with release.", Fields: []Field{
			{Name: "messages", LSB: 0, Width: 23, Doc: "Messages of an iteration; 0: it never ends."},
		}})
	poisoned := Field{Name: "poisoned", LSB: 31, Width: 1, Doc: "A double error of the payload memory was met: the group sends nothing more."}
	b.add(Register{Name: "GROUP_REFUSED", Offset: RefusedBase, Count: b.p.Groups, Stride: 4, Access: RO, Volatile: true, Index: "g",
		Doc: "Mode I: endpoints whose packet was answered with NAK 0x61, which ended their connection.", Fields: append(b.endpointMask(), poisoned)})
}

// endpoints adds an endpoint's record.
func (b *builder) endpoints() {
	word := func(name, field string, width int, doc string) {
		b.addEndpoint(Register{Name: name, Doc: doc, Fields: []Field{{Name: field, LSB: 0, Width: width, Doc: doc}}})
	}
	b.addEndpoint(Register{Name: "EP_CTRL", general: "An endpoint; ei = EPS·g + e with e from 0 to MEMBERS.",
		Doc: fmt.Sprintf("An endpoint; ei = %d g + e with e from 0 to %d.", b.p.EPS(), b.p.Members), Fields: []Field{
			{Name: "valid", LSB: 0, Width: 1, Doc: "The endpoint is in use."},
			{Name: "host", LSB: 1, Width: 1, Doc: "A host is at the other end, not a switch."},
			{Name: "port", LSB: 8, Width: 8, Max: b.port(), Doc: "Port it is reached by."},
		}})
	word("EP_LOCAL_QPN", "qpn", QPNBits, "Queue pair number of this end; its low bits are ei.")
	word("EP_REMOTE_QPN", "qpn", QPNBits, "Queue pair number of the other end.")
	word("EP_LOCAL_IP", "address", 32, "IPv4 address of this end, first octet in the highest byte.")
	word("EP_REMOTE_IP", "address", 32, "IPv4 address of the other end, first octet in the highest byte.")
	word("EP_LOCAL_MAC_LO", "octets", 32, "Last four octets of this end's MAC address, the earliest in the highest byte.")
	word("EP_LOCAL_MAC_HI", "octets", 16, "First two octets of this end's MAC address.")
	word("EP_REMOTE_MAC_LO", "octets", 32, "Last four octets of the other end's MAC address, the earliest in the highest byte.")
	word("EP_REMOTE_MAC_HI", "octets", 16, "First two octets of the other end's MAC address.")
	b.addEndpoint(Register{Name: "EP_HEADER", Doc: "Header fields of frames sent to the endpoint.", Fields: []Field{
		{Name: "udp_source_port", LSB: 0, Width: 16, Doc: "UDP source port."},
		{Name: "ttl", LSB: 16, Width: 8, Doc: "IPv4 time to live."},
		{Name: "tos", LSB: 24, Width: 8, Doc: "IPv4 type of service: DSCP and, in the low two bits, ECN."},
	}})
	if b.p.Mode == 1 {
		word("EP_RQ_PSN", "psn", PSNBits, "Mode I: first PSN that the other end sends.")
		word("EP_SQ_PSN", "psn", PSNBits, "Mode I: first PSN that it is sent.")
		b.addEndpoint(Register{Name: "EP_PATH_MTU", Doc: "Mode I: path MTU of the queue pair, in both directions.", Fields: []Field{
			{Name: "bytes", LSB: 0, Width: 13, Max: maximum(b.p.MTUBytes), Doc: "A power of two, at least 256 and 2·bus_bytes, at most mtu_bytes."},
		}})
	}
	b.vlan()
}

// VLANWord is the place of EP_VLAN among an endpoint's words, behind Mode I's.
const VLANWord = 13

// vlan adds an endpoint's 802.1Q tag.
func (b *builder) vlan() {
	if !b.p.VLAN {
		return
	}
	b.endpoint = EndpointBase + 4*VLANWord
	b.addEndpoint(Register{Name: "EP_VLAN", Doc: "802.1Q tag of an endpoint's frames, in both directions.", Fields: []Field{
		{Name: "vid", LSB: 0, Width: 12, Doc: "VLAN identifier."},
		{Name: "pcp", LSB: 12, Width: 3, Doc: "Priority of frames sent to the endpoint."},
		{Name: "tagged", LSB: 15, Width: 1, Doc: "Frames to and from the endpoint have a tag with this VID; else they have none, or from it one with VID 0."},
		{Name: "check_pcp", LSB: 16, Width: 1, Doc: "Frames from the endpoint have this priority too, or are dropped."},
	}})
}

// slotsDoc says which slots a group has, for the types built in.
func slotsDoc(p Params) string {
	const plain = "base to base + 2^log2_n - 1"
	widened := "base to base + 2^(log2_n+1) - 1: elements are kept as FP32"
	if p.MostUnits() > 2 {
		widened = "base to base + u·2^log2_n - 1, with u = 32 / the bits of an element: elements are kept as FP32"
	}
	switch {
	case !p.Widened():
		return "The slots of a group: " + plain + ", all below PARAM_SLOTS."
	case p.LeastUnits() > 1:
		return "The slots of a group: " + widened + ". All are below PARAM_SLOTS."
	}
	inBand := ""
	if p.InBand {
		inBand = ", and in-band whatever the type,"
	}
	narrow := "16-bit"
	if p.MostUnits() > 2 {
		narrow = "narrower"
	}
	return "The slots of a group: " + plain + "; of a " + narrow + " type" + inBand + " " + widened + ". All are below PARAM_SLOTS."
}

// asBit is a truth as a number.
func asBit(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// maximum makes a Max.
func maximum(n int) *uint32 {
	v := uint32(n)
	return &v
}
