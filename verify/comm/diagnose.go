// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"errors"
	"fmt"
	"strings"
)

// Diagnose says, a line a rank that is not through, who has come how far and what it waits for; then what the links did.
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

// waits says what a rank waits for, and the state of its NIC.
func (r *rank) waits() string {
	var list []string
	if err := r.host.Err(); err != nil {
		list = append(list, err.Error())
	}
	if len(r.queue) > 0 {
		p := r.queue[0]
		if p.sends(r.n) && r.sentOut < len(p.sizes) {
			list = append(list, fmt.Sprintf("waits for the acknowledgement of message %d", r.sentOut))
		}
		if p.hears(r.n) && r.arrived < len(p.sizes) {
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

// Identities reports which relations between the counters of one switch do not hold (docs/engine.md section 7). What leaves is not
// compared: with groups that have a parent and others that have none it takes more than counters.
func Identities(c map[string]uint32) error {
	var drops uint32
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			drops += v
		}
	}
	judged := c["DROP_GAP"] + c["DROP_STALE"] + c["DROP_WINDOW"] + c["DROP_SHAPE"]
	var errs []error
	equal := func(left string, right uint32, what string) {
		if c[left] != right {
			errs = append(errs, fmt.Errorf("%s is %d, %s is %d", left, c[left], what, right))
		}
	}
	equal("RX_FRAMES", c["BYPASS"]+c["UP_DATA"]+c["DOWN_DATA"]+c["RX_ACK"]+c["RX_NAK"]+c["RX_RNR"]+c["RX_CNP"]+c["TX_REACK"]+drops-judged,
		"BYPASS + UP_DATA + DOWN_DATA + RX_ACK + RX_NAK + RX_RNR + RX_CNP + TX_REACK + drops before those of up data")
	equal("UP_DATA", c["AGG"]+c["TX_RESEND"]+judged, "AGG + TX_RESEND + DROP_GAP + DROP_STALE + DROP_WINDOW + DROP_SHAPE")
	equal("AGG", c["BUFFERED"]+c["TX_RESULT"], "BUFFERED + TX_RESULT")
	equal("TX_RESULT", c["WIPE"], "WIPE")
	made := c["TX_FANOUT"] + c["TX_RESEND"] + c["TX_REFLECT"] + c["TX_GAP_NAK"] + c["TX_CNP"] + c["TX_ACK_COPY"] + c["TX_ACK_UP"] + c["TX_REACK"]
	if up := c["TX_FRAMES"] - made; up > c["TX_RESULT"] {
		errs = append(errs, fmt.Errorf("TX_FRAMES is %d, its parts are %d and up to %d results that go up", c["TX_FRAMES"], made, c["TX_RESULT"]))
	}
	return errors.Join(errs...)
}
