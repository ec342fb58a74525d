// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"bytes"
	"fmt"
	"slices"

	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// random sends PSNs through pipes of every size among all kinds of trouble: at a root and under a parent, half of them across the wrap.
func random(t *rig.T) {
	for round := range 8 {
		e := t.PipeEngine(uint16((2 + t.Rand.IntN(6)) * tick(t)))
		parent := round >= 4
		members := t.Params.Members
		if parent {
			members = t.Children()
		}
		opts := []rig.GroupOption{rig.WithPipe(t.PipeSize(round))}
		if round%2 == 0 {
			opts = append(opts, rig.WithStart(roce.PSN(0).Add(-1-t.Rand.IntN(12))))
		}
		g := group{e.Group(0, 1, members, parent, opts...)}
		t.In(fmt.Sprintf("pipes of %d slots, parent %v, START %v", g.MW(), parent, g.Start()), func() { g.shake(max(t.Count(5, 40)*g.MW(), 12)) })
	}
}

// tick is how many microseconds are 100 cycles at least: an engine whose time-outs are over sooner than a frame never rests.
func tick(t *rig.T) int {
	clock := max(t.Params.ClockMHz, 1)
	return (99 + clock) / clock
}

// far is the far end of an endpoint: it loses what it gets and what it sends, answers late or not at all, and believes nothing but
// the PSNs.
type far struct {
	g       group
	c       int
	data    [][]byte // what it sends
	next    int      // number of the data that it sends next
	acked   int      // how much of its data it knows to be taken
	due     [][]byte // what it is to hear
	got     [][]byte
	nakSent bool // and nothing taken since
	answers int  // how many of 10 answers leave
	loss    int  // how many of 100 frames are lost
	refuses int  // how many of 100 packets it has no receive for
}

// String is for messages.
func (f *far) String() string {
	return fmt.Sprintf("endpoint %d: %d of %d acknowledged, %d received", f.c, f.acked, len(f.data), len(f.got))
}

// done tells whether all its data is taken, and all it hears is there.
func (f *far) done() bool { return f.acked == len(f.data) && len(f.got) == len(f.due) }

// take takes a packet that left for it and returns its answers.
func (f *far) take(p *roce.Packet) []rig.Frame {
	k := p.PSN.Diff(f.g.Start())
	switch {
	case p.Op == roce.Acknowledge:
		f.heard(k, p.Syndrome)
		return nil
	case !p.Op.IsSend() || f.g.T.Rand.IntN(100) < f.loss:
		return nil
	}
	at := len(f.got)
	switch {
	case k == at && f.g.T.Rand.IntN(100) < f.refuses:
		return []rig.Frame{f.g.AETH(f.c, p.PSN, roce.RNRSyndrome|1)}
	case k == at:
		f.got = append(f.got, bytes.Clone(p.Payload))
		f.nakSent = false
	case k > at:
		if f.nakSent {
			return nil
		}
		f.nakSent = true
		return []rig.Frame{f.g.NAK(f.c, f.g.PSN(at))}
	}
	if f.g.T.Rand.IntN(10) >= f.answers {
		return nil
	}
	return []rig.Frame{f.g.Ack(f.c, f.g.PSN(len(f.got)-1))}
}

// heard takes an ACK of number k, or a NAK or RNR NAK, which acknowledges what is before it and has the rest sent again.
func (f *far) heard(k int, syndrome uint8) {
	upTo := k
	if syndrome == roce.AckSyndrome {
		upTo++
	} else {
		f.next = k
	}
	f.acked = max(f.acked, upTo)
	f.next = max(f.next, f.acked)
}

// send returns some of what it sends next; some of that is lost on the way, some old data comes once more.
func (f *far) send() []rig.Frame {
	var all []rig.Frame
	rng := f.g.T.Rand
	for range rng.IntN(f.g.MW() + 2) {
		if f.next >= len(f.data) {
			break
		}
		k := f.next
		f.next++
		if rng.IntN(100) < f.loss {
			continue
		}
		all = append(all, f.g.Data(f.c, f.g.PSN(k), f.data[k]))
		if rng.IntN(20) == 0 {
			k = rng.IntN(k + 1)
			all = append(all, f.g.Data(f.c, f.g.PSN(k), f.data[k]))
		}
	}
	return all
}

// shake sends count PSNs through a group, in both directions if there is a parent. All must arrive, and nothing is left in the end.
func (g group) shake(count int) {
	t, e := g.T, g.E
	fars := g.fars(count)
	done := func() bool {
		next, _ := e.Reference().Timers()
		return next == dut.Never && !slices.ContainsFunc(fars, func(f *far) bool { return !f.done() })
	}
	const limit = 4000
	for turn, moved := 0, true; !done(); turn++ {
		if turn > limit {
			t.Fatalf("not done after %d turns: %v", limit, fars)
		}
		outs := e.Settle()
		if !moved { // nothing comes of waiting but time-outs, there and here
			for _, f := range fars {
				f.next = f.acked
			}
			outs = append(outs, wait(e, e.Now()+microseconds(t, uint64((1+t.Rand.IntN(12))*tick(t))))...)
		}
		frames := g.deliver(fars, outs)
		for _, f := range fars {
			if t.Rand.IntN(3) > 0 {
				frames = append(frames, f.send()...)
			}
		}
		e.Put(frames...)
		moved = len(outs) > 0 || len(frames) > 0
	}
	for _, f := range fars {
		for k, want := range f.due {
			if !bytes.Equal(f.got[k], want) {
				t.Fatalf("endpoint %d, number %d: got %x, expected %x", f.c, k, f.got[k], want)
			}
		}
	}
	g.Disable()
}

// fars makes the far ends, what they send, and what comes of that: results go up, the parent's data goes down.
func (g group) fars(count int) (fars []*far) {
	t := g.T
	for c := range g.Ends {
		fars = append(fars, &far{g: g, c: c, answers: 5 + t.Rand.IntN(6), loss: t.Rand.IntN(15), refuses: t.Rand.IntN(4)})
	}
	for k := range count {
		r := g.Round(g.PSN(k), 4*(1+t.Rand.IntN(8)))
		for _, f := range fars {
			f.data = append(f.data, r.Payload(f.c))
		}
		for _, f := range fars {
			if g.Parent < 0 || f.c == g.Parent {
				f.due = append(f.due, r.Result())
			} else {
				f.due = append(f.due, r.Payload(g.Parent))
			}
		}
	}
	return fars
}

// deliver gives every far end what left for it, and returns what they answer.
func (g group) deliver(fars []*far, outs []dut.Frame) (frames []rig.Frame) {
	for _, o := range outs {
		p := g.T.Packet(o)
		if c := g.Addressee(o.Port, p); c >= 0 {
			frames = append(frames, fars[c].take(p)...)
		}
	}
	return frames
}
