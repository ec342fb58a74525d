// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
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
		if p.sends(r.n) && r.sentOut < p.Messages {
			list = append(list, fmt.Sprintf("waits for the acknowledgement of message %d", r.sentOut))
		}
		if p.Hears(r.n) && r.arrived < p.Messages {
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
