// SPDX-License-Identifier: Apache-2.0

package ctrl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// relations hold between the counters of one switch (docs/engine.md section 7, in Mode III docs/pipes.md section 6, in Mode I docs/termination.md
// section 8). DROP_OTHER is all drops
// but those that are named here, of data that was judged. In Mode II what leaves has bounds only: with groups that have a parent and others
// that have none it takes more than counters.
func relations(mode int) []string {
	if mode == 1 {
		const refused = "DROP_REFUSED + DROP_SEQUENCE + DROP_SEGMENT + DROP_BAD_LENGTH + DROP_MESSAGE_SIZE + DROP_MESSAGE_LENGTH"
		return []string{
			"TX_RESEND + TX_REFLECT + TX_ACK_COPY + TX_ACK_UP + TX_REACK + DROP_STALE + DROP_WINDOW + DROP_SHAPE = 0",
			"RX_FRAMES = DROP_OTHER + " + refused + " + BYPASS + UP_DATA + DOWN_DATA + RX_ACK + RX_NAK + RX_RNR + RX_CNP",
			"UP_DATA + DOWN_DATA = DROP_GAP + DROP_FULL + AGG + DOWN_TAKEN + RX_DUPLICATE",
			"TX_ACK <= AGG + DOWN_TAKEN + RX_DUPLICATE",
			"RX_DUPLICATE <= TX_ACK",
			"AGG = BUFFERED + TX_RESULT",
			"TX_INVALID = " + refused,
			"TX_FRAMES = TX_FANOUT + TX_ACK + TX_GAP_NAK + TX_RNR + TX_INVALID + TX_CNP",
		}
	}
	if mode == 3 {
		return []string{
			"TX_RESEND + TX_REFLECT + TX_ACK_COPY + TX_ACK_UP + TX_REACK + DROP_STALE + DROP_WINDOW = 0", // Mode III has nothing of that
			"RX_FRAMES = DROP_OTHER + BYPASS + UP_DATA + DOWN_DATA + RX_ACK + RX_NAK + RX_RNR + RX_CNP",
			"UP_DATA + DOWN_DATA = DROP_GAP + DROP_FULL + DROP_SHAPE + AGG + DOWN_TAKEN + RX_DUPLICATE",
			"TX_ACK = AGG + DOWN_TAKEN + RX_DUPLICATE",
			"AGG = BUFFERED + TX_RESULT",
			"TX_FRAMES = TX_FANOUT + TX_ACK + TX_GAP_NAK + TX_RNR + TX_CNP",
		}
	}
	const made = "TX_FANOUT + TX_RESEND + TX_REFLECT + TX_GAP_NAK + TX_CNP + TX_ACK_COPY + TX_ACK_UP + TX_REACK + TX_RNR"
	return []string{
		"RX_FRAMES = DROP_OTHER + BYPASS + UP_DATA + DOWN_DATA + RX_ACK + RX_NAK + RX_RNR + RX_CNP + TX_REACK",
		"UP_DATA = DROP_GAP + DROP_STALE + DROP_WINDOW + DROP_SHAPE + AGG + TX_RESEND",
		"AGG = BUFFERED + TX_RESULT",
		"TX_RESULT = WIPE",
		made + " <= TX_FRAMES",
		"TX_FRAMES <= TX_RESULT + " + made, // a result that goes up is in no other counter
	}
}

// Identities reports which relations between the counters of one switch do not hold.
func Identities(mode int, counters map[string]uint64) error {
	named := strings.Fields(strings.Join(relations(mode), " "))
	sum := func(side []string) (n uint64) {
		for _, name := range side {
			n += counters[name]
			for other, v := range counters {
				if name == "DROP_OTHER" && strings.HasPrefix(other, "DROP_") && !slices.Contains(named, other) {
					n += v
				}
			}
		}
		return n
	}
	var errs []error
	for _, r := range relations(mode) {
		left, right, equal := strings.Cut(r, " = ")
		if !equal {
			left, right, _ = strings.Cut(r, " <= ")
		}
		a, b := sum(strings.Split(left, " + ")), sum(strings.Split(right, " + "))
		if equal && a != b || int64(b-a) < 0 { // counters wrap
			errs = append(errs, fmt.Errorf("%s does not hold: %s is %d, %s is %d", r, left, a, right, b))
		}
	}
	return errors.Join(errs...)
}
