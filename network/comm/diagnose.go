// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"errors"
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

// Identities reports which relations between the counters of one switch do not hold (docs/engine.md section 7, in Mode III docs/pipes.md section
// 6). In Mode II what leaves is not compared: with groups that have a parent and others that have none it takes more than counters.
func Identities(mode int, c map[string]uint32) error {
	i := identities{c: c}
	if mode == 3 {
		i.modeIII()
	} else {
		i.modeII()
	}
	return errors.Join(i.errs...)
}

// identities collects what does not hold.
type identities struct {
	c    map[string]uint32
	errs []error
}

// sum adds counters up.
func (i *identities) sum(names ...string) uint32 {
	n := uint32(0)
	for _, name := range names {
		n += i.c[name]
	}
	return n
}

// equal compares a counter with the sum of others and more.
func (i *identities) equal(left string, more uint32, right ...string) {
	if want := i.sum(right...) + more; i.c[left] != want {
		text := strings.Join(right, " + ")
		if more > 0 {
			text += fmt.Sprintf(" + %d", more)
		}
		i.errs = append(i.errs, fmt.Errorf("%s is %d, %s is %d", left, i.c[left], text, want))
	}
}

// drops is the sum of all drops but those of data that was judged.
func (i *identities) drops(judged []string) uint32 {
	n := uint32(0)
	for name, v := range i.c {
		if strings.HasPrefix(name, "DROP_") {
			n += v
		}
	}
	return n - i.sum(judged...)
}

func (i *identities) modeII() {
	judged := []string{"DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE"}
	i.equal("RX_FRAMES", i.drops(judged), "BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REACK")
	i.equal("UP_DATA", 0, append(judged, "AGG", "TX_RESEND")...)
	i.equal("AGG", 0, "BUFFERED", "TX_RESULT")
	i.equal("TX_RESULT", 0, "WIPE")
	made := i.sum("TX_FANOUT", "TX_RESEND", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK")
	if up := i.c["TX_FRAMES"] - made; up > i.c["TX_RESULT"] {
		i.errs = append(i.errs, fmt.Errorf("TX_FRAMES is %d, its parts are %d and up to %d results that go up", i.c["TX_FRAMES"], made, i.c["TX_RESULT"]))
	}
}

func (i *identities) modeIII() {
	judged := []string{"DROP_GAP", "DROP_FULL", "DROP_SHAPE"}
	taken := []string{"AGG", "DOWN_TAKEN", "RX_DUPLICATE"}
	i.equal("RX_FRAMES", i.drops(judged), "BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP")
	if data := i.sum("UP_DATA", "DOWN_DATA"); data != i.sum(judged...)+i.sum(taken...) {
		i.errs = append(i.errs, fmt.Errorf("UP_DATA + DOWN_DATA is %d, what became of it %d", data, i.sum(judged...)+i.sum(taken...)))
	}
	i.equal("TX_ACK", 0, taken...)
	i.equal("AGG", 0, "BUFFERED", "TX_RESULT")
	i.equal("TX_FRAMES", 0, "TX_FANOUT", "TX_ACK", "TX_GAP_NAK", "TX_RNR", "TX_CNP")
}
