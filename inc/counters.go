// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"iter"
)

// Counter names one of the engine's event counters (docs/engine.md section 7). Registers are found by the name: the numeric value
// means nothing outside this package, but that those of Mode III, then those of Mode I, then DropParked and DropVLAN come last and that the drops from
// DropForeign to DropShape stand together.
type Counter uint8

// The counters, one for each action and one for each reason to drop (docs/engine.md section 7).
const (
	// RxFrames counts every frame that came in, whatever became of it.
	RxFrames Counter = iota
	// Bypass counts frames that are none of the engine's business and left unchanged.
	Bypass
	// UpData counts data packets from children, accepted or not.
	UpData
	// Agg counts contributions that entered a slot.
	Agg
	// Buffered counts contributions that did not complete their slot.
	Buffered
	// Wipe counts recycled slots, one for each completion.
	Wipe
	// TxResult counts completed slots whose result was sent, once a slot however many copies.
	TxResult
	// TxFanout counts copies sent to members of out_mask: results at the root, copied parent data elsewhere, and in a Broadcast.
	TxFanout
	// TxResend counts stored results sent again because a child retransmitted.
	TxResend
	// DownData counts data packets from the parent.
	DownData
	// RxAck counts ACKs.
	RxAck
	// RxNak counts NAKs, syndromes 0x60 to 0x63.
	RxNak
	// RxRnr counts RNR NAKs.
	RxRnr
	// RxCnp counts congestion notifications.
	RxCnp
	// RxCe counts frames of ours marked CE that arrived whole and undamaged, those among them that are dropped for what they say.
	RxCe
	// TxReflect counts ACKs, NAKs and RNR NAKs returned to the host they came from.
	TxReflect
	// TxGapNak counts NAKs the engine made because a host left a gap.
	TxGapNak
	// TxCnp counts congestion notifications returned to the host they came from, and in a Broadcast those sent on to the parent.
	TxCnp
	// TxFrames counts every frame the engine made; bypassed frames are not among them.
	TxFrames
	// ImmMismatch counts accepted contributions whose SE or immediate differs from the slot's first one.
	ImmMismatch
	// DropForeign counts frames whose QPN is known but whose addresses, port or P_Key are not the endpoint's.
	DropForeign
	// DropGroupDisabled counts frames for a group that is not enabled.
	DropGroupDisabled
	// DropRxError counts frames that arrived with the error bit on their last beat.
	DropRxError
	// DropIPChecksum counts frames with a wrong IPv4 header checksum.
	DropIPChecksum
	// DropLengthMismatch counts frames whose lengths contradict each other.
	DropLengthMismatch
	// DropICRC counts frames with a wrong invariant CRC.
	DropICRC
	// DropTVer counts frames with a BTH transport version other than 0.
	DropTVer
	// DropOpcode counts frames with an opcode that Mode II does not take.
	DropOpcode
	// DropTooLong counts data packets with more payload than one slot holds.
	DropTooLong
	// DropBadLength counts data packets that are no whole number of elements, or not empty in a Barrier group.
	DropBadLength
	// DropWrongRole counts data, ACKs and CNPs on an endpoint that has no such role.
	DropWrongRole
	// DropSyndrome counts AETH syndromes that are no ACK, RNR NAK or NAK known to RC.
	DropSyndrome
	// DropGap counts data packets ahead of what the engine expects from that child.
	DropGap
	// DropStale counts retransmissions whose result is not, or no longer, in the buffer.
	DropStale
	// DropWindow counts in-order data packets more than a window after the last PSN that is complete: the host overran its window.
	DropWindow
	// DropShape counts in-order data packets whose opcode, length or pad count differ from the slot's.
	DropShape
	// EccCorrected counts single errors that the payload memory corrected. The reference's memory has none.
	EccCorrected
	// EccDouble counts frames that left with their ICRC inverted because of a double error. The reference's memory has none.
	EccDouble
	// RangeOpen counts controls that opened a range.
	RangeOpen
	// TxAckCopy counts copies of a Reduce's ACKs, NAKs, RNR NAKs and CNPs to those who contribute.
	TxAckCopy
	// TxAckUp counts the ACKs and NAKs that a Broadcast sends to the parent.
	TxAckUp
	// TxReack counts data of the range before the current one that was answered with an ACK of that whole range, since everybody
	// has it. Such data counts in no other counter but RxFrames.
	TxReack
	// DropRange counts data that is in neither range and opens none.
	DropRange
	// DropBadControl counts controls that would open a range and say something illegal.
	DropBadControl
	// DropControl counts controls that contradict the range they are in, or stand inside it, and data in the place of a control.
	DropControl
	// DropStaleAck counts ACKs, NAKs and RNR NAKs whose number is in neither range.
	DropStaleAck

	// NumCounters is the number of Mode II's counters. Those of Mode III come after them.
	NumCounters
)

// The counters that Mode III adds (docs/pipes.md section 6). See Params.Counters.
const (
	// TxAck counts ACKs of data, accepted or seen before.
	TxAck = NumCounters + iota
	// TxRnr counts RNR NAKs of data that found its pipe full.
	TxRnr
	// TxRetransmit counts data sent to an endpoint again; TxFanout counts it too.
	TxRetransmit
	// Timeout counts time-outs of endpoints that did not acknowledge.
	Timeout
	// RxDuplicate counts data that was accepted before, and acknowledged again.
	RxDuplicate
	// DownTaken counts data from the parent that entered a slot.
	DownTaken
	// DropFull counts data that found its pipe full.
	DropFull

	// PipeCounters is the number of counters with those of Mode III.
	PipeCounters
)

// The counters that Mode I adds to Mode III's (docs/termination.md section 8).
const (
	// TxInvalid counts NAKs 0x61, which end their receiver's connection.
	TxInvalid = PipeCounters + iota
	// TxRelease counts releases, sent first and again; TxFanout counts them too.
	TxRelease
	// DropRefused counts data in order of an endpoint whose connection was ended.
	DropRefused
	// DropSequence counts packets that begin a message inside one, or go on with one outside.
	DropSequence
	// DropSegment counts packets that are not as long as their opcode and the path MTU ask.
	DropSegment
	// DropMessageSize counts packets whose message is longer than a slot.
	DropMessageSize
	// DropMessageLength counts packets that show that their message has not the length of others'.
	DropMessageLength

	// modeCounters is the number of counters with those of Modes III and I.
	modeCounters
)

// The counters that options add: parking (docs/parking.md), with which Mode II has TxRnr, too, and 802.1Q tags (docs/vlan.md).
const (
	// DropParked counts data that needs a slot while its group is parked.
	DropParked = modeCounters + iota
	// DropVLAN counts frames that have not the 802.1Q tag of their endpoint.
	DropVLAN

	// AllCounters is the number of counters that there are.
	AllCounters
)

// Counters are the counters that an engine with these parameters has: those up to NumCounters in Mode II, up to PipeCounters in Mode III, up to
// DropMessageLength in Mode I, with Park TxRnr, which Modes III and I have anyway, and DropParked, and with VLAN DropVLAN.
func (p Params) Counters() iter.Seq[Counter] {
	most := Counter(NumCounters)
	switch {
	case p.terminates():
		most = modeCounters
	case p.pipes():
		most = PipeCounters
	}
	return func(yield func(Counter) bool) {
		for c := range AllCounters {
			if (c < most || p.Park && (c == DropParked || c == TxRnr) || p.VLAN && c == DropVLAN) && !yield(c) {
				return
			}
		}
	}
}

// String gives the counter's name in docs/engine.md section 7 and in the manifest, such as "DROP_STALE".
func (c Counter) String() string {
	names := [AllCounters]string{
		RxFrames: "RX_FRAMES", Bypass: "BYPASS",
		UpData: "UP_DATA", Agg: "AGG", Buffered: "BUFFERED", Wipe: "WIPE",
		TxResult: "TX_RESULT", TxFanout: "TX_FANOUT", TxResend: "TX_RESEND", DownData: "DOWN_DATA",
		RxAck: "RX_ACK", RxNak: "RX_NAK", RxRnr: "RX_RNR", RxCnp: "RX_CNP", RxCe: "RX_CE",
		TxReflect: "TX_REFLECT", TxGapNak: "TX_GAP_NAK", TxCnp: "TX_CNP", TxFrames: "TX_FRAMES",
		ImmMismatch: "IMM_MISMATCH",
		DropForeign: "DROP_FOREIGN", DropGroupDisabled: "DROP_GROUP_DISABLED", DropRxError: "DROP_RX_ERROR",
		DropIPChecksum: "DROP_IP_CHECKSUM", DropLengthMismatch: "DROP_LENGTH_MISMATCH", DropICRC: "DROP_ICRC",
		DropTVer: "DROP_TVER", DropOpcode: "DROP_OPCODE", DropTooLong: "DROP_TOO_LONG",
		DropBadLength: "DROP_BAD_LENGTH", DropWrongRole: "DROP_WRONG_ROLE", DropSyndrome: "DROP_SYNDROME",
		DropGap: "DROP_GAP", DropStale: "DROP_STALE", DropWindow: "DROP_WINDOW", DropShape: "DROP_SHAPE",
		EccCorrected: "ECC_CORRECTED", EccDouble: "ECC_DOUBLE",
		RangeOpen: "RANGE_OPEN", TxAckCopy: "TX_ACK_COPY", TxAckUp: "TX_ACK_UP", TxReack: "TX_REACK",
		DropRange: "DROP_RANGE", DropBadControl: "DROP_BAD_CONTROL", DropControl: "DROP_CONTROL", DropStaleAck: "DROP_STALE_ACK",
		TxAck: "TX_ACK", TxRnr: "TX_RNR", TxRetransmit: "TX_RETRANSMIT", Timeout: "TIMEOUT",
		RxDuplicate: "RX_DUPLICATE", DownTaken: "DOWN_TAKEN", DropFull: "DROP_FULL",
		TxInvalid: "TX_INVALID", TxRelease: "TX_RELEASE", DropRefused: "DROP_REFUSED", DropSequence: "DROP_SEQUENCE", DropSegment: "DROP_SEGMENT",
		DropMessageSize: "DROP_MESSAGE_SIZE", DropMessageLength: "DROP_MESSAGE_LENGTH", DropParked: "DROP_PARKED", DropVLAN: "DROP_VLAN",
	}
	if c >= AllCounters {
		return fmt.Sprintf("Counter(%d)", uint8(c))
	}
	return names[c]
}

// Counters holds the value of every counter; each is 64 bits wide and wraps, as the registers do.
type Counters [AllCounters]uint64

// CheckIdentities verifies the equations of docs/engine.md section 7 that hold for every run of Mode II, lossless or not. up and down
// tell where results may have gone: up to a parent, as one frame each, or down to out_mask as copies that are counted for
// themselves. With only one of them the number of frames sent follows exactly, else it lies between two bounds. It returns
// an error that names the first equation that fails.
func (c Counters) CheckIdentities(up, down bool) error {
	var drops uint64
	for i := range AllCounters {
		if i.drops() {
			drops += c[i]
		}
	}
	upDrops := c[DropGap] + c[DropStale] + c[DropWindow] + c[DropShape]
	equations := []equation{
		{"RX_FRAMES = BYPASS + accepted classes + drops before them", c[RxFrames],
			c[Bypass] + c[UpData] + c[DownData] + c[RxAck] + c[RxNak] + c[RxRnr] + c[RxCnp] + c[TxReack] + drops - upDrops},
		{"UP_DATA = AGG + TX_RESEND + drops of up data", c[UpData], c[Agg] + c[TxResend] + upDrops},
		{"AGG = BUFFERED + TX_RESULT", c[Agg], c[Buffered] + c[TxResult]},
		{"TX_RESULT = WIPE", c[TxResult], c[Wipe]},
	}
	if err := checkEquations(equations); err != nil {
		return err
	}
	low := c[TxFanout] + c[TxResend] + c[TxReflect] + c[TxGapNak] + c[TxCnp] + c[TxAckCopy] + c[TxAckUp] + c[TxReack] + c[TxRnr]
	high := low
	if up {
		high += c[TxResult]
	}
	if !down {
		low = high
	}
	if sent := c[TxFrames]; sent-low > high-low {
		return fmt.Errorf("counter identity \"TX_FRAMES = sum of what is sent\" fails: %d is not within %d to %d", sent, low, high)
	}
	return nil
}

// CheckPipeIdentities verifies the equations of docs/pipes.md section 6 that hold for every run of Mode III. It returns an error that
// names the first one that fails.
func (c Counters) CheckPipeIdentities() error {
	var drops uint64
	for i := range AllCounters {
		if i.drops() {
			drops += c[i]
		}
	}
	dataDrops := c[DropGap] + c[DropFull] + c[DropShape]
	return checkEquations([]equation{
		{"RX_FRAMES = BYPASS + accepted classes + drops before them", c[RxFrames],
			c[Bypass] + c[UpData] + c[DownData] + c[RxAck] + c[RxNak] + c[RxRnr] + c[RxCnp] + drops - dataDrops},
		{"UP_DATA + DOWN_DATA = AGG + DOWN_TAKEN + RX_DUPLICATE + drops of data", c[UpData] + c[DownData],
			c[Agg] + c[DownTaken] + c[RxDuplicate] + dataDrops},
		{"TX_ACK = AGG + DOWN_TAKEN + RX_DUPLICATE", c[TxAck], c[Agg] + c[DownTaken] + c[RxDuplicate]},
		{"AGG = BUFFERED + TX_RESULT", c[Agg], c[Buffered] + c[TxResult]},
		{"TX_FRAMES = sum of what is sent", c[TxFrames], c[TxFanout] + c[TxAck] + c[TxGapNak] + c[TxRnr] + c[TxCnp]},
	})
}

// CheckMessageIdentities verifies what docs/termination.md section 8 says of every run of Mode I. It returns an error that names the first
// thing that does not hold.
func (c Counters) CheckMessageIdentities() error {
	var drops uint64
	for i := range AllCounters {
		if i.drops() {
			drops += c[i]
		}
	}
	taken := c[Agg] + c[DownTaken]
	if c[TxAck] < c[RxDuplicate] || c[TxAck] > taken+c[RxDuplicate] {
		return fmt.Errorf("counter identity \"RX_DUPLICATE <= TX_ACK <= AGG + DOWN_TAKEN + RX_DUPLICATE\" fails: %d is not within %d to %d",
			c[TxAck], c[RxDuplicate], taken+c[RxDuplicate])
	}
	return checkEquations([]equation{
		{"RX_FRAMES = BYPASS + accepted classes + drops before them", c[RxFrames],
			c[Bypass] + c[UpData] + c[DownData] + c[RxAck] + c[RxNak] + c[RxRnr] + c[RxCnp] + drops - c[DropGap] - c[DropFull]},
		{"UP_DATA + DOWN_DATA = AGG + DOWN_TAKEN + RX_DUPLICATE + DROP_GAP + DROP_FULL", c[UpData] + c[DownData], taken + c[RxDuplicate] + c[DropGap] + c[DropFull]},
		{"AGG = BUFFERED + TX_RESULT", c[Agg], c[Buffered] + c[TxResult]},
		{"TX_INVALID = sum of what is refused", c[TxInvalid],
			c[DropRefused] + c[DropSequence] + c[DropSegment] + c[DropBadLength] + c[DropMessageSize] + c[DropMessageLength]},
		{"TX_FRAMES = sum of what is sent", c[TxFrames], c[TxFanout] + c[TxAck] + c[TxGapNak] + c[TxRnr] + c[TxInvalid] + c[TxCnp]},
	})
}

// equation is what must be equal.
type equation struct {
	name        string
	left, right uint64
}

// checkEquations gives an error for the first that does not hold.
func checkEquations(equations []equation) error {
	for _, e := range equations {
		if e.left != e.right {
			return fmt.Errorf("counter identity %q fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	return nil
}

// drops tells whether c counts frames that are dropped.
func (c Counter) drops() bool {
	return c >= DropForeign && c <= DropShape || c >= DropRange && c <= DropStaleAck || c == DropFull || c >= DropRefused && c <= DropVLAN
}
