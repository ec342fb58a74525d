// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"fmt"
	"time"
)

// Syndromes of the AETH (IBTA 9.7.5.2): bits 6:5 say what it is, bits 4:0 carry the credit count, timer or NAK code.
const (
	AckSyndrome          uint8 = 0x1F // positive, credits not limited
	RNRSyndrome          uint8 = 0x20 // receiver not ready; OR in the timer code
	NAKSequence          uint8 = 0x60 // PSN sequence error: go back to the AETH's PSN
	NAKInvalidRequest    uint8 = 0x61
	NAKRemoteAccess      uint8 = 0x62
	NAKRemoteOperational uint8 = 0x63
	maxRNRCode           uint8 = 31
	syndromeCode         uint8 = 0x1F
)

// SyndromeKind is what an AETH syndrome means to a requester.
type SyndromeKind uint8

// The kinds. Codes that IBTA 9.7.5.2 reserves, and 0x64 (invalid RD request, never seen on RC), are SyndromeReserved.
const (
	SyndromeReserved SyndromeKind = iota
	SyndromeAck
	SyndromeRNR
	SyndromeNAK
)

// SyndromeKindOf sorts a syndrome: 0x00–0x1F ACK, 0x20–0x3F RNR NAK, 0x60–0x63 NAK, all else reserved.
func SyndromeKindOf(s uint8) SyndromeKind {
	switch {
	case s <= 0x1F:
		return SyndromeAck
	case s <= 0x3F:
		return SyndromeRNR
	case s >= NAKSequence && s <= NAKRemoteOperational:
		return SyndromeNAK
	}
	return SyndromeReserved
}

// String is the kind's short name.
func (k SyndromeKind) String() string {
	switch k {
	case SyndromeAck:
		return "ACK"
	case SyndromeRNR:
		return "RNR NAK"
	case SyndromeNAK:
		return "NAK"
	}
	return "reserved"
}

// RNRDuration is how long a requester waits that got RNR NAK timer code 0 to 31; higher bits are ignored, so a whole
// syndrome may be given. The values are the table of IBTA 9.7.5.2.8: 1 is 10 µs, from there on two codes to a doubling
// in the manner 2^k, 1.5·2^k, and 0 is the longest, 655.36 ms.
func RNRDuration(code uint8) time.Duration {
	hundredths := [...]uint32{ // of a millisecond
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	}
	return time.Duration(hundredths[code&syndromeCode]) * 10 * time.Microsecond
}

// RNRCode is the timer code of the shortest wait that is at least d (codes 1 to 31, then 0 for up to 655.36 ms).
// A longer d is an error; zero and negative ones give code 1.
func RNRCode(d time.Duration) (uint8, error) {
	for code := uint8(1); code <= maxRNRCode; code++ {
		if RNRDuration(code) >= d {
			return code, nil
		}
	}
	if d > RNRDuration(0) {
		return 0, fmt.Errorf("roce: RNR wait of %v is longer than the longest code, %v", d, RNRDuration(0))
	}
	return 0, nil
}
