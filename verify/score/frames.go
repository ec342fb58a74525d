// SPDX-License-Identifier: Apache-2.0

package score

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// bthEnd is where the BTH of a frame ends, the least that a packet of ours has.
const bthEnd = 14 + 20 + 8 + 12

// want is a frame that is expected to leave.
type want struct {
	data []byte
	err  bool
}

// place is a hypothesis on how far the two queues of a port have been matched: when the same frame is next in both,
// only later frames tell which of the two it was.
type place struct{ made, passed int }

// port holds the frames that must still leave by one port.
type port struct {
	made, passed         []want
	madeBase, passedBase int
	places               []place
}

// empty reports that no more frames are expected at the port.
func (p *port) empty() bool {
	return slices.ContainsFunc(p.places, func(x place) bool {
		return x.made-p.madeBase == len(p.made) && x.passed-p.passedBase == len(p.passed)
	})
}

// expect records frames that must leave.
func (b *Board) expect(outs []inc.Out) {
	for _, o := range outs {
		p := &b.ports[o.Port]
		if w := (want{data: o.Frame, err: o.Err}); o.Bypass {
			p.passed = append(p.passed, w)
		} else {
			p.made = append(p.made, w)
		}
	}
}

// see compares a frame that left. A bypassed frame may leave before the engine reports its decision. The comparison
// is then put off until the report, and so is that of frames leaving later by the same port.
func (b *Board) see(o dut.Frame) error {
	if !slices.ContainsFunc(b.early, func(x dut.Frame) bool { return x.Port == o.Port }) {
		err := b.check(o)
		if err == nil {
			b.outs = append(b.outs, o)
			return nil
		}
		if len(b.pending) == 0 {
			return err
		}
	}
	b.early = append(b.early, o)
	return nil
}

// check looks for a frame that left among those expected.
func (b *Board) check(o dut.Frame) error {
	p := &b.ports[o.Port]
	var next []place
	add := func(x place) {
		if !slices.Contains(next, x) {
			next = append(next, x)
		}
	}
	is := func(q []want, i int) bool {
		return i < len(q) && q[i].err == o.Err && bytes.Equal(q[i].data, o.Data)
	}
	spoilt := func(q []want, i int) bool {
		return b.doubled && i < len(q) && !o.Err && Spoilt(o.Data) && alike(q[i].data, o.Data)
	}
	for _, x := range p.places {
		if is(p.made, x.made-p.madeBase) || spoilt(p.made, x.made-p.madeBase) {
			add(place{x.made + 1, x.passed})
		}
		if is(p.passed, x.passed-p.passedBase) {
			add(place{x.made, x.passed + 1})
		}
	}
	if len(next) == 0 {
		return b.mismatch(o)
	}
	p.places = next
	made, passed := next[0].made, next[0].passed
	for _, x := range next[1:] {
		made, passed = min(made, x.made), min(passed, x.passed)
	}
	p.made, p.madeBase = p.made[made-p.madeBase:], made
	p.passed, p.passedBase = p.passed[passed-p.passedBase:], passed
	return nil
}

// Spoilt reports whether all bits of a frame's ICRC are inverted, as they must be if it holds a word that the memory
// could not correct: receivers then drop it.
func Spoilt(frame []byte) bool {
	good := slices.Clone(frame)
	roce.Reseal(good)
	at, ok := icrcAt(frame)
	if !ok {
		return false
	}
	for i := range 4 {
		if frame[at+i] != ^good[at+i] {
			return false
		}
	}
	return true
}

// icrcAt is the offset of the ICRC in a frame that the engine made.
func icrcAt(frame []byte) (int, bool) {
	if len(frame) < bthEnd {
		return 0, false
	}
	at := 14 + (int(frame[16])<<8 | int(frame[17])) - 4
	return at, at >= bthEnd && at+4 <= len(frame)
}

// alike compares frames without payload and ICRC.
func alike(a, b []byte) bool {
	p, err := roce.Decode(a)
	if err != nil || len(a) != len(b) || !p.Op.IsSend() {
		return false
	}
	end, ok := icrcAt(a)
	if !ok {
		return false
	}
	from := end - int(p.Pad) - len(p.Payload)
	return bytes.Equal(a[:from], b[:from]) && bytes.Equal(a[end-int(p.Pad):end], b[end-int(p.Pad):end]) && bytes.Equal(a[end+4:], b[end+4:])
}

func (b *Board) mismatch(o dut.Frame) error {
	p := &b.ports[o.Port]
	var s strings.Builder
	fmt.Fprintf(&s, "port %d, cycle %d: unexpected frame %s", o.Port, o.Last, describe(o.Data, o.Err))
	x := p.places[0]
	if i := x.made - p.madeBase; i < len(p.made) {
		fmt.Fprintf(&s, "\nnext engine-made frame expected %s%s", describe(p.made[i].data, p.made[i].err), diff(p.made[i].data, o.Data))
	} else {
		s.WriteString("\nno engine-made frame expected")
	}
	if i := x.passed - p.passedBase; i < len(p.passed) {
		fmt.Fprintf(&s, "\nnext bypassed frame expected %s%s", describe(p.passed[i].data, p.passed[i].err), diff(p.passed[i].data, o.Data))
	} else {
		s.WriteString("\nno bypassed frame expected")
	}
	return fmt.Errorf("%w: %s", ErrMismatch, s.String())
}

// describe shows a frame in words and its first bytes.
func describe(data []byte, rxErr bool) string {
	head := hex.EncodeToString(data[:min(len(data), 80)])
	text := fmt.Sprintf("(%d bytes, err %v)", len(data), rxErr)
	if p, err := roce.Decode(data); err == nil {
		text += " " + p.String()
	}
	return text + "\n  " + head
}

// diff describes the first difference of two frames.
func diff(a, b []byte) string {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return fmt.Sprintf("\n  first difference at byte %d: expected %#02x, got %#02x", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("\n  same up to byte %d; expected %d bytes, got %d", n, len(a), len(b))
	}
	return ""
}

// destination is the value at the place of a RoCEv2 frame's destination QPN.
func destination(frame []byte) uint32 {
	if len(frame) < bthEnd {
		return 0
	}
	return uint32(frame[47])<<16 | uint32(frame[48])<<8 | uint32(frame[49])
}
