// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"incforge/inc"
	"incforge/live/groups"
	"incforge/live/reasons"
	"incforge/roce"
	"incforge/verify/dut"
)

// watchTime is the time between two looks at the groups, standTime how long a group that has something to do may stand before it is
// reported, and timeouts how many time-outs of a Mode III engine it must have stood as well if it waits for acknowledgements.
const (
	watchTime = 250 * time.Millisecond
	standTime = 2500 * time.Millisecond
	timeouts  = 4
)

// watch finds groups that stand, and says why.
type watch struct {
	l      *loop
	groups map[int]*watched
	found  uint64
	// strangers are the QPNs, by port, that packets were for and no endpoint has; each is told once.
	strangers map[stranger]bool
	// ended are the local QPNs of groups that were stopped, and when.
	ended map[uint32]time.Time
}

type stranger struct {
	port int
	qpn  uint32
}

// mostStrangers bounds how many are told. For lateTime what is sent to a group that has ended is no stranger's: frames that were under way, and those of
// members that have not heard of the end. mostEnded is from when on older ones are forgotten.
const (
	mostStrangers = 16
	lateTime      = 10 * time.Second
	mostEnded     = 4096
)

// watched is what is known of a group since it advanced last.
type watched struct {
	since  time.Time
	cycle  uint64
	before inc.Standing
	moved  bool // without a reference: something new left
	ends   map[int]*endWatched
	why    []string          // the report, if the group stands
	base   map[string]uint64 // without a reference: the engine's counters soon after it advanced
}

// endWatched is what came from an endpoint since its group advanced last.
type endWatched struct {
	first, last time.Time // of its data
	data        int
	fates       reasons.Fates
	// These are kept: when anything came last, and, without a reference, the PSN behind the last data and the last ACK that left for it.
	heard       time.Time
	sent, acked roce.PSN
}

func newWatch(l *loop) *watch {
	w := &watch{l: l, groups: map[int]*watched{}, strangers: map[stranger]bool{}, ended: map[uint32]time.Time{}}
	if l.board != nil {
		l.board.OnAccept = w.accepted
	} else if ref, ok := l.sw.Engine.(*dut.Reference); ok {
		ref.OnAccept = w.accepted
	}
	return w
}

// of is what is known of a group.
func (w *watch) of(group int) *watched {
	g := w.groups[group]
	if g == nil {
		g = &watched{since: time.Now(), cycle: w.l.eng.Now(), ends: map[int]*endWatched{}}
		w.groups[group] = g
	}
	return g
}

// end is what is known of an endpoint.
func (g *watched) end(e int) *endWatched {
	if g.ends[e] == nil {
		g.ends[e] = &endWatched{fates: reasons.Fates{}}
	}
	return g.ends[e]
}

// forget begins anew with a group that is about to be started, changed or taken away.
func (w *watch) forget(group int) {
	delete(w.groups, group)
	at, now := w.l.setup.At(group), time.Now()
	if at < 0 {
		return
	}
	for _, ep := range w.l.setup.Groups[at].Ends {
		w.ended[ep.LocalQPN] = now
	}
	if len(w.ended) > mostEnded {
		maps.DeleteFunc(w.ended, func(_ uint32, when time.Time) bool { return now.Sub(when) > lateTime })
	}
}

// Where a RoCEv2 frame has its opcode, destination QPN and PSN.
const (
	opcodeAt = 42
	qpnAt    = 47
	psnAt    = 51
	bthEnd   = 54
	ipProto  = 23
)

// number is what 24 bits of a frame say.
func number(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// roceIn tells whether a frame looks like RoCEv2: whether it is one the engine decides.
func roceIn(frame []byte) bool {
	return len(frame) >= bthEnd && frame[12] == 8 && frame[13] == 0 && frame[14] == 0x45 && frame[ipProto] == 17 &&
		int(frame[36])<<8|int(frame[37]) == roce.UDPPort
}

// came notes a frame that goes into the engine.
func (w *watch) came(port int, frame []byte, when time.Time) {
	if !roceIn(frame) {
		return
	}
	g, e, ok := w.l.setup.EndpointOf(number(frame[qpnAt:]))
	if !ok {
		w.stray(port, frame, when)
		return
	}
	end := w.of(g.Index).end(e)
	end.heard = when
	if !roce.Opcode(frame[opcodeAt]).IsSend() {
		return
	}
	if end.data > 0 && when.Sub(end.last) > 2*standTime { // what was long ago has been forgotten by its sender
		end.data, end.fates = 0, reasons.Fates{}
	}
	if end.data++; end.data == 1 {
		end.first = when
	}
	end.last = when
}

// stray tells of a packet that is sent to the engine's address and to no queue pair that it has.
func (w *watch) stray(port int, frame []byte, when time.Time) {
	who := stranger{port, number(frame[qpnAt:])}
	end, ended := w.ended[who.qpn]
	if w.strangers[who] || len(w.strangers) >= mostStrangers || !w.l.setup.Local(roce.MAC(frame[:6])) || ended && when.Sub(end) < lateTime {
		return
	}
	w.strangers[who] = true
	why := "which no endpoint has as its local QPN: connect it to the QPN that ctl state, or local: qpn: in the groups file, says"
	if ended {
		why = fmt.Sprintf("of a group that ended %.0f s ago: end the program that goes on", when.Sub(end).Seconds())
	}
	w.l.whole.o.Log.Warnf("live: %sport %d: %v sends to QPN %#x, %s", w.l.whole.of(w.l), port, roce.IP4(frame[26:30]), who.qpn, why)
}

// left notes a frame that leaves. Without a reference a group advances when data leaves, or is acknowledged, that has not been before.
func (w *watch) left(port int, frame []byte) {
	if w.l.look != nil || !roceIn(frame) {
		return
	}
	op, psn := roce.Opcode(frame[opcodeAt]), roce.PSN(number(frame[psnAt:])).Next()
	for i := range w.l.setup.Groups {
		g := &w.l.setup.Groups[i]
		for e, ep := range g.Ends {
			if ep.Port != port || ep.RemoteQPN != number(frame[qpnAt:]) || ep.RemoteIP != roce.IP4(frame[30:34]) {
				continue
			}
			of := w.of(g.Index)
			end := of.end(e)
			switch {
			case op.IsSend() && psn.Diff(end.sent) > 0:
				end.sent, of.moved = psn, true
			case op == roce.Acknowledge && psn.Diff(end.acked) > 0:
				end.acked, of.moved = psn, true
			}
		}
	}
}

// accepted notes what became of a frame.
func (w *watch) accepted(f dut.Frame, changed []inc.Counter) {
	if !roceIn(f.Data) {
		return
	}
	g, e, ok := w.l.setup.EndpointOf(number(f.Data[qpnAt:]))
	if !ok {
		return
	}
	for _, c := range changed {
		if telling(c.String()) {
			fates := w.of(g.Index).end(e).fates
			fates[c.String()] = reasons.Fate{Times: fates[c.String()].Times + 1, PSN: roce.PSN(number(f.Data[psnAt:]))}
		}
	}
}

// dropped tells whether a counter is of dropped frames, telling whether one says something of a group that stands.
func dropped(counter string) bool { return strings.HasPrefix(counter, "DROP_") }
func telling(counter string) bool {
	return dropped(counter) || slices.Contains([]string{"TX_RESEND", "RX_DUPLICATE", "RX_RNR", "RX_NAK", "TX_RNR"}, counter)
}

// check looks at every group.
func (w *watch) check(now time.Time) {
	for i := range w.l.setup.Groups {
		g := &w.l.setup.Groups[i]
		of := w.of(g.Index)
		var s inc.Standing
		advanced, ok := of.moved, true
		if w.l.look != nil {
			s, ok = w.l.look.Standing(g.Index)
			advanced = !reflect.DeepEqual(s, of.before)
		}
		switch {
		case !ok:
		case advanced:
			if of.why != nil {
				w.l.whole.o.Log.Warnf("live: %sgroup %d goes on after %.1f s", w.l.whole.of(w.l), g.Index, now.Sub(of.since).Seconds())
			}
			of.advance(g, &s, now, w.l.eng.Now())
			of.before, of.base = s, nil
		case w.l.look == nil && of.base == nil && of.heard():
			of.base = w.l.counters()
		case of.why == nil && (w.stands(of, &s, now) || of.astray(g, &s, now)):
			w.found++
			of.why = w.explain(g, of, &s, now)
			for _, line := range of.why {
				w.l.whole.o.Log.Warnf("live: %s%s", w.l.whole.of(w.l), line)
			}
		}
	}
}

// advance forgets what was since the group advanced before, but for data of a queue pair that was connected anew: in Mode III it is acknowledged,
// and does not come again.
func (g *watched) advance(group *groups.Group, s *inc.Standing, now time.Time, cycle uint64) {
	g.since, g.cycle, g.moved, g.why = now, cycle, false, nil
	for e, end := range g.ends {
		before, known := knownEnd(&g.before, e), knownEnd(s, e)
		end.data = 0
		maps.DeleteFunc(end.fates, func(counter string, f reasons.Fate) bool {
			return !reasons.BegunAnew(counter, group, f.PSN, known) || before != nil && before.Expected != known.Expected
		})
	}
}

// astray tells whether an endpoint was connected anew at START while the group rested, which otherwise has nothing to do.
func (g *watched) astray(group *groups.Group, s *inc.Standing, now time.Time) bool {
	for e, end := range g.ends {
		if end.data == 0 || now.Sub(end.first) < standTime-watchTime || end.first.Sub(g.since) < watchTime { // a frame that was late
			continue
		}
		for counter, f := range end.fates {
			if reasons.BegunAnew(counter, group, f.PSN, knownEnd(s, e)) && reasons.AtStart(group, f.PSN) {
				return true
			}
		}
	}
	return false
}

// heard tells whether data has come since the group advanced.
func (g *watched) heard() bool {
	for _, end := range g.ends {
		if end.data > 0 {
			return true
		}
	}
	return false
}

// stands tells whether a group that has not advanced has something to do, for long enough.
func (w *watch) stands(of *watched, s *inc.Standing, now time.Time) bool {
	long := now.Sub(of.since) >= standTime
	if long && s.Partial > 0 {
		return true
	}
	waited := uint64(0)
	if p := w.l.setup.Pipes; p != nil {
		waited = timeouts * uint64(p.Timeout(w.l.scale)) * w.l.man.Params.CyclesPerMicrosecond()
	}
	data := 0
	var first, last time.Time
	for _, e := range sortedKeys(of.ends) {
		if end := of.ends[e]; end.data > 0 {
			if data += end.data; first.IsZero() || end.first.Before(first) {
				first = end.first
			}
			if end.last.After(last) {
				last = end.last
			}
		}
	}
	if data > 1 && now.Sub(last) < standTime && now.Sub(first) >= standTime-watchTime && long {
		return true
	}
	return long && w.l.eng.Now()-of.cycle >= waited && slices.ContainsFunc(s.Ends, func(e inc.EndStanding) bool { return e.Owed > 0 })
}

// explain says what a group waits for and what to do.
func (w *watch) explain(g *groups.Group, of *watched, s *inc.Standing, now time.Time) []string {
	at := ""
	if w.l.look != nil && s.Ranged {
		at = fmt.Sprintf(" at PSN %v", s.Next)
	}
	lines := []string{fmt.Sprintf("group %d (%s) has stood for %.1f s%s", g.Index, g.Kind(), now.Sub(of.since).Seconds(), at)}
	add := func(e int, format string, args ...any) {
		ep, link := g.Ends[e], ""
		if p := w.l.ports[ep.Port]; p != nil && p.far != nil {
			link = ", the link to " + p.counts.Peer
		}
		lines = append(lines, fmt.Sprintf("  endpoint %d (port %d%s, %v qpn %#x) ", e, ep.Port, link, ep.RemoteIP, ep.RemoteQPN)+fmt.Sprintf(format, args...))
	}
	told := map[int]bool{}
	for _, e := range sortedKeys(of.ends) { // what is wrong in itself
		end, known := of.ends[e], knownEnd(s, e)
		for _, c := range slices.Sorted(maps.Keys(end.fates)) {
			if text := reasons.Of(c, g, end.fates, known); text != "" {
				told[e] = true
				add(e, "%s (%s +%d at PSN %v)", text, c, end.fates[c].Times, end.fates[c].PSN)
			}
		}
	}
	for e := range s.Ends {
		end, ours := &s.Ends[e], of.end(e)
		switch {
		case end.Failed:
			add(e, "has refused with a NAK that ends the connection: see why in its program (a receive too small?), then reset the group")
		case end.Owed > 0:
			add(e, "has not acknowledged PSN %v, %d sent%s: %s", end.Unacknowledged, end.Owed, silence(ours, now), deaf(ours))
		case s.Partial > 0 && end.Sends && !s.Next.Before(end.Sent) && !told[e]:
			add(e, "is waited for: its next packet is PSN %v%s; see whether its program runs and has begun this collective with as many packets as the others; "+
				"if it is gone, let all begin anew and reset the group", end.Expected, silence(ours, now))
		case w.l.man.Params.Mode == 2 && end.Hears && s.Collective != inc.CollectiveAllReduce && s.Collective != inc.CollectiveBarrier && w.behind(s, end):
			add(e, "has not acknowledged PSN %v%s: %s", end.Unacknowledged, silence(ours, now), deaf(ours))
		}
	}
	if w.l.look == nil {
		for _, e := range sortedKeys(g.Ends) {
			if ours := of.end(e); ours.data == 0 && !told[e] {
				add(e, "has sent nothing since%s; if its program is to send, see whether it runs", silence(ours, now))
			}
		}
	}
	return append(lines, w.rising(g, of, s)...)
}

// knownEnd is what the engine knows of an endpoint, nil if it cannot be looked into.
func knownEnd(s *inc.Standing, e int) *inc.EndStanding {
	if e >= len(s.Ends) {
		return nil
	}
	return &s.Ends[e]
}

// behind tells whether a receiver has acknowledged less than any other that is waited for.
func (w *watch) behind(s *inc.Standing, end *inc.EndStanding) bool {
	if s.Collective == inc.CollectiveReduce {
		return true
	}
	return !slices.ContainsFunc(s.Ends, func(o inc.EndStanding) bool { return o.Hears && o.Unacknowledged.Before(end.Unacknowledged) })
}

// rising names what the repeats of those who wait count under.
func (w *watch) rising(g *groups.Group, of *watched, s *inc.Standing) []string {
	var all []string
	for _, e := range sortedKeys(of.ends) {
		for _, c := range slices.Sorted(maps.Keys(of.ends[e].fates)) {
			if reasons.Of(c, g, of.ends[e].fates, knownEnd(s, e)) == "" {
				all = append(all, fmt.Sprintf("%s +%d (endpoint %d repeats PSN %v)", c, of.ends[e].fates[c].Times, e, of.ends[e].fates[c].PSN))
			}
		}
	}
	whole := ""
	if w.l.look == nil {
		whole = " (of the whole engine; with the reference beside it, of each endpoint)"
		for c, n := range w.l.counters() {
			if n -= of.base[c]; telling(c) && n > 0 {
				all = append(all, fmt.Sprintf("%s +%d", c, n))
			}
		}
		slices.Sort(all)
	}
	if all == nil {
		return nil
	}
	return []string{"  rising meanwhile" + whole + ": " + strings.Join(all, ", ")}
}

// silence says for how long nothing has come.
func silence(end *endWatched, now time.Time) string {
	if end.heard.IsZero() {
		return ", nothing has ever come from it"
	}
	return fmt.Sprintf(", the last frame came from it %.1f s ago", now.Sub(end.heard).Seconds())
}

// deaf says what to do about an endpoint that does not acknowledge.
func deaf(end *endWatched) string {
	if end.fates["RX_RNR"].Times > 0 {
		return "it answers that it is not ready; let its program post receives"
	}
	return "see whether its host runs, and whether its queue pair has the group's START as its first PSN to receive; then let all begin anew and reset the group"
}
