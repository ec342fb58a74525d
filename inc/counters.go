// SPDX-License-Identifier: Apache-2.0

package inc

import "fmt"

// Counter names one of the engine's event counters. Its numeric value is the index i of register COUNTER[i]; the
// order is that of docs/engine.md section 7.
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
	// TxFanout counts copies sent to members of out_mask: results at the root, copied parent data elsewhere.
	TxFanout
	// TxResend counts stored results sent again because a child retransmitted.
	TxResend
	// DownData counts data packets from the parent.
	DownData
	// RxAck counts ACKs from hosts.
	RxAck
	// RxNak counts NAKs (syndromes 0x60 to 0x63) from hosts.
	RxNak
	// RxRnr counts RNR NAKs from hosts.
	RxRnr
	// RxCnp counts congestion notifications from hosts.
	RxCnp
	// TxReflect counts ACKs, NAKs and RNR NAKs returned to the host they came from.
	TxReflect
	// TxGapNak counts NAKs the engine made because a host left a gap.
	TxGapNak
	// TxCnp counts congestion notifications returned to the host they came from.
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
	// DropWindow counts in-order data packets whose slot still belongs to an older PSN: the host overran its window.
	DropWindow
	// DropShape counts in-order data packets whose opcode, length or pad count differ from the slot's.
	DropShape
	// EccCorrected counts single errors that the payload memory corrected. The reference's memory has none.
	EccCorrected
	// EccDouble counts frames that left with their ICRC inverted because of a double error. The reference's memory has none.
	EccDouble

	// NumCounters is the number of counters.
	NumCounters
)

// String gives the counter's name in docs/engine.md section 7 and in the manifest, such as "DROP_STALE".
func (c Counter) String() string {
	names := [NumCounters]string{
		RxFrames: "RX_FRAMES", Bypass: "BYPASS",
		UpData: "UP_DATA", Agg: "AGG", Buffered: "BUFFERED", Wipe: "WIPE",
		TxResult: "TX_RESULT", TxFanout: "TX_FANOUT", TxResend: "TX_RESEND", DownData: "DOWN_DATA",
		RxAck: "RX_ACK", RxNak: "RX_NAK", RxRnr: "RX_RNR", RxCnp: "RX_CNP",
		TxReflect: "TX_REFLECT", TxGapNak: "TX_GAP_NAK", TxCnp: "TX_CNP", TxFrames: "TX_FRAMES",
		ImmMismatch: "IMM_MISMATCH",
		DropForeign: "DROP_FOREIGN", DropGroupDisabled: "DROP_GROUP_DISABLED", DropRxError: "DROP_RX_ERROR",
		DropIPChecksum: "DROP_IP_CHECKSUM", DropLengthMismatch: "DROP_LENGTH_MISMATCH", DropICRC: "DROP_ICRC",
		DropTVer: "DROP_TVER", DropOpcode: "DROP_OPCODE", DropTooLong: "DROP_TOO_LONG",
		DropBadLength: "DROP_BAD_LENGTH", DropWrongRole: "DROP_WRONG_ROLE", DropSyndrome: "DROP_SYNDROME",
		DropGap: "DROP_GAP", DropStale: "DROP_STALE", DropWindow: "DROP_WINDOW", DropShape: "DROP_SHAPE",
		EccCorrected: "ECC_CORRECTED", EccDouble: "ECC_DOUBLE",
	}
	if c >= NumCounters {
		return fmt.Sprintf("Counter(%d)", uint8(c))
	}
	return names[c]
}

// Counters holds the value of every counter; each is 32 bits wide and wraps, as the registers do.
type Counters [NumCounters]uint32

// CheckIdentities verifies the equations of docs/engine.md section 7 that hold for every run, lossless or not.
// hasParent tells whether every group of the engine has a valid parent (true) or none has (false): only on a node with
// a parent is a result one frame of its own. It returns an error that names the first equation that fails.
func (c Counters) CheckIdentities(hasParent bool) error {
	var drops uint32
	for i := DropForeign; i <= DropShape; i++ {
		drops += c[i]
	}
	upDrops := c[DropGap] + c[DropStale] + c[DropWindow] + c[DropShape]
	txFrames := c[TxFanout] + c[TxResend] + c[TxReflect] + c[TxGapNak] + c[TxCnp]
	if hasParent {
		txFrames += c[TxResult]
	}
	equations := []struct {
		name        string
		left, right uint32
	}{
		{"RX_FRAMES = BYPASS + accepted classes + drops before them", c[RxFrames],
			c[Bypass] + c[UpData] + c[DownData] + c[RxAck] + c[RxNak] + c[RxRnr] + c[RxCnp] + drops - upDrops},
		{"UP_DATA = AGG + TX_RESEND + drops of up data", c[UpData], c[Agg] + c[TxResend] + upDrops},
		{"AGG = BUFFERED + TX_RESULT", c[Agg], c[Buffered] + c[TxResult]},
		{"TX_RESULT = WIPE", c[TxResult], c[Wipe]},
		{"TX_REFLECT = RX_ACK + RX_NAK + RX_RNR", c[TxReflect], c[RxAck] + c[RxNak] + c[RxRnr]},
		{"TX_CNP = RX_CNP", c[TxCnp], c[RxCnp]},
		{"TX_FRAMES = sum of what is sent", c[TxFrames], txFrames},
	}
	for _, e := range equations {
		if e.left != e.right {
			return fmt.Errorf("counter identity %q fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	return nil
}
