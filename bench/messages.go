// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"incforge/contract"
	"incforge/verify/rig"
)

// MessageLoads say which messages Throughput has ranks send in Mode I: each size with each choice of path MTUs and each habit of acknowledging.
type MessageLoads struct {
	// Bytes are lengths of messages; none stands for message_bytes.
	Bytes []int
	// PathMTUs are choices of path MTUs, given to the ranks in turn; none stands for mtu_bytes at all ranks.
	PathMTUs [][]int
	// Every: a rank acknowledges every so-manyth result; none stands for 1.
	Every []int
}

func (l MessageLoads) given() bool { return len(l.Bytes)+len(l.PathMTUs)+len(l.Every) > 0 }

// Check tells why a configuration of that name cannot be measured so, by the flags of incforge bench.
func (l MessageLoads) Check(name string, p contract.Params) error {
	switch {
	case !l.given():
		return nil
	case p.Mode != 1:
		return fmt.Errorf("%s is of Mode %d: --message, --mtu and --ack-every are of Mode I, whose ranks cut messages by path MTUs of their own", name, p.Mode)
	}
	l = l.complete(p)
	for _, n := range l.Bytes {
		if n < 1 || n > p.MessageBytes || n%4 != 0 {
			return fmt.Errorf("--message %d: must be a multiple of 4, at most message_bytes of %s, %d", n, name, p.MessageBytes)
		}
	}
	for _, mtu := range slices.Concat(l.PathMTUs...) {
		if mtu < p.LeastPathMTU() || mtu > p.MTUBytes || mtu&(mtu-1) != 0 {
			return fmt.Errorf("--mtu %d: must be a power of two from %d to mtu_bytes of %s, %d", mtu, p.LeastPathMTU(), name, p.MTUBytes)
		}
		for _, n := range l.Bytes {
			if n > mtu && n%mtu != 0 {
				return fmt.Errorf("--message %d: is longer than a packet of --mtu %d, so it must be a multiple of it", n, mtu)
			}
		}
	}
	for _, n := range l.Every {
		if n < 1 || n > max(p.WindowMessages/2, 1) {
			return fmt.Errorf("--ack-every %d: must be from 1 to half of window_messages of %s, %d, as results wait for ACKs in a window", n, name, max(p.WindowMessages/2, 1))
		}
	}
	return nil
}

// complete has what l leaves out.
func (l MessageLoads) complete(p contract.Params) MessageLoads {
	if len(l.Bytes) == 0 {
		l.Bytes = []int{p.MessageBytes}
	}
	if len(l.PathMTUs) == 0 {
		l.PathMTUs = [][]int{{p.MTUBytes}}
	}
	if len(l.Every) == 0 {
		l.Every = []int{1}
	}
	return l
}

// messageLoads are those that Throughput measures unless others are asked for: the longest messages, of ranks with equal path MTUs, each there is, with
// half of them at the least and half at the largest, and with all there are; and the shortest where an ACK passes two, four, ... half a window of them.
func messageLoads(t *rig.T) []MessageLoads {
	least, most := t.Params.LeastPathMTU(), t.Params.MTUBytes
	var choices [][]int
	var all, every []int
	for mtu := least; mtu <= most; mtu *= 2 {
		choices, all = append(choices, []int{mtu}), append(all, mtu)
	}
	if len(all) > 1 {
		choices = append(choices, []int{least, most})
	}
	if len(all) > 2 {
		choices = append(choices, all)
	}
	loads := []MessageLoads{MessageLoads{PathMTUs: choices}.complete(t.Params)}
	for n := 2; n <= 1<<t.MaxLog2N(1, t.Params.MostUnits())/4; n *= 2 {
		every = append(every, n)
	}
	if len(every) > 0 {
		loads = append(loads, MessageLoads{Bytes: []int{64, 128}, Every: every}.complete(t.Params))
	}
	return loads
}

// throughMessages measures messages of Mode I as Throughput does packets, for up to eight ranks. LOAD is BYTES_MTUS_ORDER_acksN: the length of a message, the
// ranks' path MTUs in turn, joined by +, the order as in Throughput, where ranks are at the same bytes of a message or each at one of its own, and
// N, a rank's ACK for so many results. There are:
//
//	beats_per_cycle_LOAD     input beats that the core accepts per cycle; 1 is the line
//	cycles_per_result_LOAD   cycles per message
//	payload_reads_LOAD       how often a result is turned to for sending it, by what the engine reports: a reading for all ranks that go along,
//	                         and one for each that goes alone. Of a packet that leaves as it is completed the words are not read again, but count
func throughMessages(t *rig.T, m metrics, l MessageLoads) {
	loads := []MessageLoads{l.complete(t.Params)}
	if !l.given() {
		loads = messageLoads(t)
	}
	for _, l := range loads {
		for _, bytes := range l.Bytes {
			for _, mtus := range l.PathMTUs {
				for _, every := range l.Every {
					for _, order := range []string{"best", "worst"} {
						throughLoad(t, m, mtus, order, traffic{bytes: bytes, worst: order == "worst", every: every})
					}
				}
			}
		}
	}
}

// throughLoad is one measurement.
func throughLoad(t *rig.T, m metrics, mtus []int, order string, tr traffic) {
	var text []string
	for _, mtu := range mtus {
		text = append(text, strconv.Itoa(mtu))
	}
	name := fmt.Sprintf("%d_%s_%s_acks%d", tr.bytes, strings.Join(text, "+"), order, tr.every)
	t.In("throughput "+name, func() {
		g := t.Engine().Group(0, 1, min(t.Params.Members, 8), false, func(g *rig.Group) {
			for i := range g.Ends {
				g.Ends[i].PathMTU = mtus[i%len(mtus)]
			}
		})
		if tr.every > max(g.MW()/2, 1) {
			t.Fatalf("every %d. result is acknowledged, of a window of %d", tr.every, g.MW())
		}
		s := stream(g, tr)
		rate := float64(s.beats) / s.cycles
		m["beats_per_cycle_"+name], m["cycles_per_result_"+name], m["payload_reads_"+name] = rate, tr.beats(g)/rate, s.reads
	})
}
