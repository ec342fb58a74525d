// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"incforge/roce"
)

// Values of Group.Collective, Group.Op and Group.DType, and of the fields of a control (docs/engine.md sections 6 and 3.3).
const (
	CollectiveAllReduce = 0
	CollectiveReduce    = 1
	CollectiveBroadcast = 2
	CollectiveBarrier   = 3

	OpSum = 0
	OpMin = 1
	OpMax = 2

	DTypeFP32  = 0
	DTypeFP16  = 1
	DTypeBF16  = 2
	DTypeINT32 = 3
)

// The names of operations and types, in the order of their values.
func opNames() []string    { return []string{"SUM", "MIN", "MAX"} }
func dtypeNames() []string { return []string{"FP32", "FP16", "BF16", "INT32"} }

// Limits of Params. They are those of the register fields and of the 24-bit PSN, not of this implementation.
const (
	// MaxMembers is the largest number of members of a group: the masks have 32 bits and the parent has one of them.
	MaxMembers = 31
	// MaxPorts is the largest number of ports: EP_CTRL.port has eight bits.
	MaxPorts = 256
	// MaxGroups is the largest number of groups; with MaxMembers it leaves the QPN's upper bits to the control plane.
	MaxGroups = 4096
	// MaxMTU is the largest RoCE path MTU, in bytes.
	MaxMTU = 4096
	// Roots is the number of ranks that can be the root of a Reduce or Broadcast: a control has five bits for it.
	Roots = 32
	// MaxSlots keeps a group's window far below half the PSN space, so that serial comparison stays unambiguous
	// (protocol.md section 1; A18).
	MaxSlots = 1 << 22
	// MaxHopRTT is the longest round trip of a hop, in nanoseconds: eight of them fit PIPE_TIMEOUT, which has 16 bits for microseconds.
	MaxHopRTT = 8_191_000
	// DefaultHopRTT is what Params.HopRTT is if nobody says, in nanoseconds.
	DefaultHopRTT = 2000
	// MaxMessage is the longest message of Mode I, in bytes.
	MaxMessage = 1 << 24
	// IBTALeastMTU is the smallest path MTU of InfiniBand and RoCE, in bytes.
	IBTALeastMTU = 256
)

// Errors that the configuration methods wrap.
var (
	// ErrRange means that an index or a value lies outside what Params allows.
	ErrRange = errors.New("out of range")
	// ErrEnabled means that a group's settings were written while the group was enabled.
	ErrEnabled = errors.New("group is enabled")
	// ErrIllegalGroup means that a group was not enabled because its settings are illegal.
	ErrIllegalGroup = errors.New("illegal group settings")
	// ErrOverlap means that a group was not enabled because another one that is enabled has some of its slots.
	ErrOverlap = errors.New("slots of another group")
)

// Params is what is fixed when an engine is made, as the generator fixes it in hardware. Only what changes behaviour
// is here; bus width, lanes and clock change timing alone.
type Params struct {
	// Groups is the number of groups, 1 to MaxGroups.
	Groups int
	// Members is the number of members of a group, 1 to MaxMembers. Endpoints are 0 to Members.
	Members int
	// Ports is the number of ports, 1 to MaxPorts.
	Ports int
	// MTU is the largest payload of a packet and the size of a slot in bytes, 4 to MaxMTU, a multiple of 4.
	MTU int
	// Slots is the size of the buffer in slots, 2 to MaxSlots. A packet of a 16-bit type takes two of them.
	Slots int
	// DTypes and Ops are the types and operations the engine has: bit i is the one with value i. Neither may be empty.
	DTypes, Ops uint8
	// Reproducible makes results independent of the order in which contributions arrive: they are reduced by a fixed tree
	// over the endpoints. Otherwise each is added to its slot at once.
	Reproducible bool
	// ICRCCheck drops packets whose ICRC is wrong.
	ICRCCheck bool
	// InBand allows groups whose ranks say by control messages what comes next.
	InBand bool
	// VLAN allows frames with an 802.1Q tag, which endpoints' records say.
	VLAN bool
	// Mode is 1 (connection terminated, messages), 2 (connection translated) or 3 (connection augmented, pipes); 0 stands for 2.
	Mode int
	// MessageBytes is the longest message and the size of a slot in Mode I: a power of two from MTU to MaxMessage. Other modes have none.
	MessageBytes int
	// LeastPathMTU is the smallest path MTU that an endpoint may have in Mode I, a power of two; 0 stands for 256.
	LeastPathMTU int
	// WholeMessages keeps every message of Mode I back until it is complete, in all groups. With NoReleases a group that asks for releases is illegal.
	WholeMessages, NoReleases bool
	// HopRTT is the round trip of a hop in nanoseconds, 1 to MaxHopRTT, from which Mode III takes the reset value of its timer
	// (docs/pipes.md section 6); 0 stands for DefaultHopRTT.
	HopRTT int
	// Park lets groups be parked.
	Park bool
	// Rules are rules known to be wrong that the engine is to follow, for model checking; none otherwise.
	Rules Rules
}

// pipes tells whether the engine works in Mode III, terminates whether in Mode I.
func (p Params) pipes() bool      { return p.Mode == 3 }
func (p Params) terminates() bool { return p.Mode == 1 }

// acts tells whether the engine does something by itself.
func (p Params) acts() bool { return p.pipes() || p.terminates() }

// slotBytes is the payload of a slot: a packet, in Mode I a message.
func (p Params) slotBytes() int {
	if p.terminates() {
		return p.MessageBytes
	}
	return p.MTU
}

// EPS is the number of table records a group takes: Members+1 rounded up to a power of two (docs/engine.md section 1).
func (p Params) EPS() int { return ceilPow2(p.Members + 1) }

// TableSize is the number of endpoint records, GROUPS rounded up to a power of two times EPS. The low bits of a local
// QPN, QPN mod TableSize, are the index of its record.
func (p Params) TableSize() int { return ceilPow2(p.Groups) * p.EPS() }

// EndpointIndex is the table index ei of endpoint e of group g.
func (p Params) EndpointIndex(g, e int) int { return g*p.EPS() + e }

// Validate reports every parameter outside its range, all of them at once.
func (p Params) Validate() error {
	var errs []error
	check := func(name string, value, low, high int) {
		if value < low || value > high {
			errs = append(errs, fmt.Errorf("%s is %d, allowed are %d to %d: %w", name, value, low, high, ErrRange))
		}
	}
	check("Groups", p.Groups, 1, MaxGroups)
	check("Members", p.Members, 1, MaxMembers)
	check("Ports", p.Ports, 1, MaxPorts)
	check("MTU", p.MTU, 4, MaxMTU)
	check("Slots", p.Slots, 2, MaxSlots)
	if p.MTU%4 != 0 {
		errs = append(errs, fmt.Errorf("MTU is %d, not a multiple of the element size 4: %w", p.MTU, ErrRange))
	}
	check("DTypes", int(p.DTypes), 1, 1<<len(dtypeNames())-1)
	check("Ops", int(p.Ops), 1, 1<<len(opNames())-1)
	if p.Mode != 0 {
		check("Mode", p.Mode, 1, 3)
	}
	if p.terminates() {
		check("MessageBytes", p.MessageBytes, p.MTU, MaxMessage)
		check("LeastPathMTU", p.LeastPathMTU, 0, p.MTU)
		if bits.OnesCount(uint(p.MessageBytes)) != 1 || bits.OnesCount(uint(p.LeastPathMTU)) > 1 {
			errs = append(errs, fmt.Errorf("MessageBytes is %d, LeastPathMTU %d: must be powers of two: %w", p.MessageBytes, p.LeastPathMTU, ErrRange))
		}
	} else if p.MessageBytes != 0 || p.LeastPathMTU != 0 {
		errs = append(errs, fmt.Errorf("MessageBytes is %d, LeastPathMTU %d: Mode I alone has them: %w", p.MessageBytes, p.LeastPathMTU, ErrRange))
	}
	check("HopRTT", p.HopRTT, 0, MaxHopRTT)
	check("Rules", int(p.Rules), 0, allRules)
	return errors.Join(errs...)
}

// Endpoint is one end of an IncTree edge on this switch: the record EP_* (docs/engine.md section 6).
type Endpoint struct {
	// Valid lets packets in by this record. What the engine sends to an endpoint does not depend on it.
	Valid bool
	// Host tells that a NIC is at the other end, not another switch.
	Host bool
	// Port is the port this endpoint is reached by, 0 to Params.Ports−1; any other of MaxPorts is taken, and nothing is heard from there.
	Port int
	// LocalQPN (24 bits) must equal the record's own index in its low bits, or no packet finds it.
	LocalQPN, RemoteQPN uint32
	LocalIP, RemoteIP   roce.IP4
	LocalMAC, RemoteMAC roce.MAC
	// UDPSourcePort is what the engine sends from; what it receives from is not looked at.
	UDPSourcePort uint16
	// TTL and TOS go into the IPv4 header; the low two bits of TOS are the ECN field of packets without congestion.
	TTL, TOS uint8
	// VLAN is the 802.1Q tag of frames in both directions; its DEI does not count. CheckPCP: frames that come in have its PCP, too.
	VLAN     roce.VLAN
	CheckPCP bool
	// RQPSN and SQPSN are the first PSNs that the other end sends and is sent, PathMTU the path MTU in both directions, in Mode I.
	RQPSN, SQPSN roce.PSN
	PathMTU      int
}

// wide tells whether the engine has a type of 16 bits.
func (p Params) wide() bool { return p.DTypes&(1<<DTypeFP16|1<<DTypeBF16) != 0 }

// Route says where a root rank is: a field of GROUP_ROUTE_i.
type Route struct {
	// Valid tells that the rank exists.
	Valid bool
	// Endpoint is the one toward it, 0 to Params.Members; with any other the route counts as not valid.
	Endpoint uint8
}

// Group holds a group's settings, the registers GROUP_* (docs/engine.md section 6).
type Group struct {
	// Start is the first PSN, in both directions, of every connection of the group.
	Start roce.PSN
	// SlotBase is the first of the group's slots. It has N = 2^Log2N of them, of a 16-bit type twice as many, and so has an
	// in-band group of an engine that has such a type.
	SlotBase int
	// Log2N is at least 1: in Mode II N is twice the window MW in packets, and MW is at least one; in Mode III two pipes share the slots.
	Log2N int
	// InMask, OutMask and AckMask hold one bit an endpoint: whose data is Up data, who gets results, whose ACKs count.
	InMask, OutMask, AckMask uint32
	// Parent is the endpoint toward the root of the tree; it counts only if HasParent is set.
	Parent    int
	HasParent bool
	// Collective, Op and DType take the constants of this package.
	Collective, Op, DType uint8
	// BigEndian is the byte order of the elements; GPUs send little-endian.
	BigEndian bool
	// InBand lets the ranks' control messages say collective, operation, type and root. Collective must be AllReduce then.
	InBand bool
	// RootSends makes the root rank of an in-band Reduce one of those whose data is added up (A14).
	RootSends bool
	// Route is the way to each root rank, for in-band groups.
	Route [Roots]Route
	// PipeSlots is GROUP_PIPE.n, the number of slots of a pipe in Mode III, or of a pool in Mode I, 1 to 2^Log2N/2; 0 stands for 2^Log2N/2.
	PipeSlots int
	// WholeMessages keeps a message of Mode I back until it is complete. Release tells hosts that an iteration is over; in a fixed group
	// one has Iteration messages, 0 to 2^23−1, where 0 never ends.
	WholeMessages, Release bool
	Iteration              int
}

// window is MW, the largest number of packets a host keeps in flight.
func (g *Group) window() int { return 1 << g.Log2N >> 1 }

// packetSlots is the number of slots that a packet takes. In an in-band group nobody knows what the next range will need.
func (g *Group) packetSlots(p Params) int {
	if Wide(g.DType) || g.InBand && p.wide() {
		return 2
	}
	return 1
}

// units gives the first of a group's slots and the first behind them, counting two for a packet that takes two.
func (g *Group) units(p Params) (first, beyond int) {
	return g.SlotBase, g.SlotBase + g.packetSlots(p)<<g.Log2N
}

// contributors are the endpoints whose data may have to be added, one bit each: in an in-band group all, sooner or later.
func (g *Group) contributors() uint32 {
	if g.InBand {
		return g.tree()
	}
	return g.InMask
}

// tree is every endpoint that the registers give a part in the group, one bit each.
func (g *Group) tree() uint32 {
	t := g.InMask | g.OutMask
	if g.HasParent {
		t |= 1 << g.Parent
	}
	return t
}

// legal reports why settings may not be enabled (docs/engine.md section 6).
func (g *Group) legal(p Params) error {
	units := g.packetSlots(p)
	switch {
	case g.Collective > CollectiveBarrier:
		return fmt.Errorf("collective %d is none of AllReduce (0), Reduce (1), Broadcast (2) and Barrier (3): %w", g.Collective, ErrIllegalGroup)
	case g.InBand && !p.InBand:
		return fmt.Errorf("in_band: this engine has no in-band groups: %w", ErrIllegalGroup)
	case g.InBand && g.Collective != CollectiveAllReduce:
		return fmt.Errorf("in_band with collective %d: it must be AllReduce (0): %w", g.Collective, ErrIllegalGroup)
	case p.Ops>>g.Op&1 == 0:
		return fmt.Errorf("op %s: this engine has %s: %w", named(g.Op, opNames()), listed(p.Ops, opNames()), ErrIllegalGroup)
	case p.DTypes>>g.DType&1 == 0:
		return fmt.Errorf("dtype %s: this engine has %s: %w", named(g.DType, dtypeNames()), listed(p.DTypes, dtypeNames()),
			ErrIllegalGroup)
	case g.Log2N < 1 || g.Log2N > bits.Len(MaxSlots)-1:
		return fmt.Errorf("log2_n is %d, allowed are 1 to %d: %w", g.Log2N, bits.Len(MaxSlots)-1, ErrIllegalGroup)
	case g.SlotBase < 0 || g.SlotBase > p.Slots-units<<g.Log2N:
		return fmt.Errorf("slots %d to %d, %d for a packet of %s, do not fit a buffer of %d: %w",
			g.SlotBase, g.SlotBase+units<<g.Log2N-1, units, named(g.DType, dtypeNames()), p.Slots, ErrIllegalGroup)
	case p.acts() && (g.PipeSlots < 0 || g.PipeSlots > g.window()):
		return fmt.Errorf("a pipe has %d slots, allowed are 1 to %d, half of the group's: %w", g.PipeSlots, g.window(), ErrIllegalGroup)
	case g.HasParent && (g.Parent < 0 || g.Parent > p.Members):
		return fmt.Errorf("parent is endpoint %d, endpoints are 0 to %d: %w", g.Parent, p.Members, ErrIllegalGroup)
	case !g.HasParent && (g.Collective == CollectiveReduce || g.Collective == CollectiveBroadcast):
		return fmt.Errorf("collective %d without a parent, which is the way to the root rank: %w", g.Collective, ErrIllegalGroup)
	case p.Reproducible && p.Members%2 == 0 && g.contributors()>>p.Members&1 != 0:
		// A reproducible buffer has room for pairs of members; with an even number of them the last endpoint is in none.
		return fmt.Errorf("contributors %#x have endpoint %d among them: a reproducible engine of %d members takes endpoints 0 to %d: %w",
			g.contributors(), p.Members, p.Members, p.Members-1, ErrIllegalGroup)
	}
	return nil
}

// named is the name of a value and the value, for messages.
func named(value uint8, names []string) string {
	if int(value) < len(names) {
		return fmt.Sprintf("%d (%s)", value, names[value])
	}
	return fmt.Sprint(value)
}

// listed is the values of a set, by name, for messages.
func listed(set uint8, names []string) string {
	var in []string
	for i := range names {
		if set>>i&1 != 0 {
			in = append(in, named(uint8(i), names))
		}
	}
	return strings.Join(in, ", ")
}

// SetEndpoint writes the record of table index ei (see Params.EndpointIndex). The endpoint's group must be disabled. A record that no
// endpoint has, as the table is rounded up to a power of two, is never valid. Values wider than their register fields are refused with
// ErrRange.
func (e *Engine) SetEndpoint(ei int, ep Endpoint) error {
	group, member := ei/e.params.EPS(), ei%e.params.EPS()
	switch {
	case ei < 0 || group >= e.params.Groups:
		return fmt.Errorf("endpoint index %d: no endpoint has it: %w", ei, ErrRange)
	case e.groups[group].enabled:
		return fmt.Errorf("endpoint index %d: group %d: %w", ei, group, ErrEnabled)
	case ep.Port < 0 || ep.Port >= MaxPorts:
		return fmt.Errorf("endpoint index %d: port %d has more than eight bits: %w", ei, ep.Port, ErrRange)
	case ep.RQPSN > roce.PSNMask || ep.SQPSN > roce.PSNMask || ep.PathMTU < 0 || ep.PathMTU >= 2*MaxMTU:
		return fmt.Errorf("endpoint index %d: first PSNs %#x and %#x, path MTU %d: %w", ei, ep.RQPSN, ep.SQPSN, ep.PathMTU, ErrRange)
	case ep.VLAN.VID >= 1<<12 || ep.VLAN.PCP >= 1<<3:
		return fmt.Errorf("endpoint index %d: VID %d, PCP %d: %w", ei, ep.VLAN.VID, ep.VLAN.PCP, ErrRange)
	case ep.LocalQPN >= 1<<24 || ep.RemoteQPN >= 1<<24:
		return fmt.Errorf("endpoint index %d: a QPN has 24 bits, local is %#x, remote is %#x: %w",
			ei, ep.LocalQPN, ep.RemoteQPN, ErrRange)
	}
	ep.Valid = ep.Valid && member <= e.params.Members
	e.table[ei] = ep
	return nil
}

// SetGroup writes the settings of group g, which must be disabled. Mask bits of endpoints that do not exist are
// dropped, as the registers have no such bits. Illegal settings are taken; it is Enable that refuses them.
func (e *Engine) SetGroup(g int, settings Group) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	if e.groups[g].enabled {
		return fmt.Errorf("group %d: %w", g, ErrEnabled)
	}
	if settings.Start > roce.PSNMask {
		return fmt.Errorf("group %d: start %#x has more than 24 bits: %w", g, settings.Start, ErrRange)
	}
	if settings.Iteration < 0 || settings.Iteration > roce.PSNMask>>1 {
		return fmt.Errorf("group %d: iterations of %d messages: %w", g, settings.Iteration, ErrRange)
	}
	implemented := uint32(1)<<(e.params.Members+1) - 1
	settings.InMask &= implemented
	settings.OutMask &= implemented
	settings.AckMask &= implemented
	e.groups[g].Group = settings
	return nil
}

// Enable starts group g if it was disabled and does nothing if it is enabled already, as a write of GROUP_CTRL.enable.
// Illegal settings are refused with an error, slots that another enabled group has with ErrOverlap, and the group stays disabled.
func (e *Engine) Enable(g int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	if e.groups[g].enabled {
		return nil
	}
	if err := e.mayHaveSlots(g); err != nil {
		e.raise(CauseRefused)
		return err
	}
	e.groups[g].enabled = true
	e.start(g)
	return nil
}

// Disable stops group g: from now on its packets are dropped. What was accepted has been sent already.
func (e *Engine) Disable(g int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	e.groups[g].enabled, e.groups[g].parked = false, false
	return nil
}

// Reset starts group g again, as a write of GROUP_CTRL.reset with enable kept: everything the group held is forgotten
// and no other group is touched. A disabled group stays disabled; Enable will start it anyway. A parked one must find its slots free, as for Enable.
func (e *Engine) Reset(g int) error {
	if err := e.checkGroup(g); err != nil {
		return err
	}
	switch group := &e.groups[g]; {
	case group.parked: // it has no slots to start with
		group.enabled, group.parked = false, false
		return e.Enable(g)
	case group.enabled:
		e.start(g)
	}
	return nil
}

// Enabled tells whether group g is enabled, GROUP_STATUS.enabled. It is false for a group that does not exist.
func (e *Engine) Enabled(g int) bool { return g >= 0 && g < len(e.groups) && e.groups[g].enabled }

// SetBypassPort makes frames that are not ours and enter by port in leave by port out. Before that, in = out. What is to leave by a port
// that does not exist is lost.
func (e *Engine) SetBypassPort(in, out int) error {
	if in < 0 || in >= e.params.Ports || out < 0 || out >= MaxPorts {
		return fmt.Errorf("bypass from port %d to port %d, ports are 0 to %d: %w", in, out, e.params.Ports-1, ErrRange)
	}
	e.bypassPort[in] = out
	return nil
}

// SetIPID sets the IPv4 identification of the frames the engine makes; 0x1111 before that.
func (e *Engine) SetIPID(id uint16) { e.ipID = id }

// SetGapNAK switches CTRL.gap_nak, the one NAK that Mode II makes itself (protocol.md section 4); on before that.
func (e *Engine) SetGapNAK(on bool) { e.gapNAK = on }

// SetForeignBypass switches CTRL.foreign_bypass: frames for a known QPN from someone else leave by the bypass port
// instead of being dropped; off before that.
func (e *Engine) SetForeignBypass(on bool) { e.foreignBypass = on }

// checkGroup refuses a group number that does not exist.
func (e *Engine) checkGroup(g int) error {
	if g < 0 || g >= len(e.groups) {
		return fmt.Errorf("group %d, groups are 0 to %d: %w", g, len(e.groups)-1, ErrRange)
	}
	return nil
}

// ceilPow2 is the smallest power of two that is at least n, for n at least 1.
func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }
