// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Diagnose describes, in a line per rank that is not done, how far it is and what it waits for; then the links' statistics.
func (w *World) Diagnose() string {
	var b strings.Builder
	for _, g := range w.groups {
		for _, r := range g.ranks {
			if len(r.queue) == 0 && r.host.Err() == nil && !r.host.Dead() {
				continue
			}
			fmt.Fprintf(&b, "group %d %s%s\n", g.index, r, r.waits())
		}
	}
	s := w.net.Stats
	fmt.Fprintf(&b, "links: %d frames, %d lost, %d duplicated, %d reordered, %d corrupted, %d under way", s.Frames, s.Lost, s.Duplicated,
		s.Reordered, s.Corrupted, w.net.InFlight())
	return b.String()
}

// waits describes what a rank waits for, and the state of its NIC.
func (r *rank) waits() string {
	var list []string
	if err := r.host.Err(); err != nil {
		list = append(list, err.Error())
	}
	if len(r.queue) > 0 {
		p := r.queue[0]
		if p.sends(r.n) && r.sentOut < len(p.messages) {
			list = append(list, fmt.Sprintf("waits for the acknowledgement of message %d", r.sentOut))
		}
		if p.hears(r.n) && r.arrived < len(p.messages) {
			list = append(list, fmt.Sprintf("waits for message %d%s", r.arrived, r.behind(p)))
		}
	}
	h := r.host
	list = append(list, fmt.Sprintf("NIC: %d packets acknowledged, %d not, %d receives posted, %d sent again, %d time-outs",
		h.Acknowledged(), h.Unacknowledged(), h.Receives(), h.Stats.Resent, h.Stats.Timeouts))
	return "; " + strings.Join(list, "; ")
}

// behind lists the ranks that have not sent that message of the range yet.
func (r *rank) behind(p *rangePlan) string {
	var late []string
	for _, o := range r.g.ranks {
		switch {
		case o == r || !p.sends(o.n):
		case len(o.queue) > len(r.queue), len(o.queue) == len(r.queue) && (!o.begun || o.posted <= r.arrived):
			late = append(late, fmt.Sprint(o.n))
		}
	}
	if late == nil {
		return ", which all have sent"
	}
	return ", which these ranks have not sent: " + strings.Join(late, ", ")
}

// relations hold between the counters of one switch (docs/engine.md section 7, in Mode III docs/pipes.md section 6). DROP_OTHER is all drops
// but those that are named here, of data that was judged. In Mode II what leaves has bounds only: with groups that have a parent and others
// that have none it takes more than counters.
func relations(mode int) []string {
	if mode == 3 {
		return []string{
			"RX_FRAMES = DROP_OTHER + BYPASS + UP_DATA + DOWN_DATA + RX_ACK + RX_NAK + RX_RNR + RX_CNP",
			"UP_DATA + DOWN_DATA = DROP_GAP + DROP_FULL + DROP_SHAPE + AGG + DOWN_TAKEN + RX_DUPLICATE",
			"TX_ACK = AGG + DOWN_TAKEN + RX_DUPLICATE",
			"AGG = BUFFERED + TX_RESULT",
			"TX_FRAMES = TX_FANOUT + TX_ACK + TX_GAP_NAK + TX_RNR + TX_CNP",
		}
	}
	const made = "TX_FANOUT + TX_RESEND + TX_REFLECT + TX_GAP_NAK + TX_CNP + TX_ACK_COPY + TX_ACK_UP + TX_REACK"
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
func Identities(mode int, counters map[string]uint32) error {
	named := strings.Fields(strings.Join(relations(mode), " "))
	sum := func(side []string) (n uint32) {
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
		if equal && a != b || int32(b-a) < 0 { // counters wrap
			errs = append(errs, fmt.Errorf("%s does not hold: %s is %d, %s is %d", r, left, a, right, b))
		}
	}
	return errors.Join(errs...)
}
