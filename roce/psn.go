// SPDX-License-Identifier: Apache-2.0

package roce

import "fmt"

// PSN is a packet sequence number: 24 bits that wrap (IBTA 9.2, "PSN"). Comparisons are serial, by the sign of the
// 24-bit difference, so they mean something only for numbers less than 2^23 apart. The top eight bits of the uint32 are
// ignored by every method and are zero in every result.
type PSN uint32

// PSNMask covers the 24 bits of a PSN; QPNs and MSNs are as wide.
const PSNMask = 1<<24 - 1

// Add moves n packets on, or back when n is negative.
func (p PSN) Add(n int) PSN { return PSN(uint32(p)+uint32(n)) & PSNMask }

// Next is the number after p.
func (p PSN) Next() PSN { return p.Add(1) }

// Prev is the number before p.
func (p PSN) Prev() PSN { return p.Add(-1) }

// Diff is p − q as a signed 24-bit number, in [−2^23, 2^23): how many packets p is ahead of q.
func (p PSN) Diff(q PSN) int { return int(int32(uint32(p-q)<<8) >> 8) }

// Before reports whether p comes before q, which is Diff < 0. At a distance of exactly 2^23 each is before the other.
func (p PSN) Before(q PSN) bool { return p.Diff(q) < 0 }

// Max is the later of the two; p itself at a distance of exactly 2^23, where neither is later.
func (p PSN) Max(q PSN) PSN {
	if q.Diff(p) > 0 {
		return q & PSNMask
	}
	return p & PSNMask
}

// String is hexadecimal with six digits, as Wireshark users know it from captures.
func (p PSN) String() string { return fmt.Sprintf("0x%06x", uint32(p)&PSNMask) }
