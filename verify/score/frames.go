// SPDX-License-Identifier: Apache-2.0

package score

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// bthEnd is where the BTH of a frame ends, the least that a packet of ours has.
const bthEnd = 14 + 20 + 8 + 12

// Frames leave a port in two lines an engine: those that it made, and those that it passed on. What goes round the engines is one more line. Where a
// port has priorities, it has all these lines for each of them.
const (
	made = iota
	passed
	perEngine
	maxLines = contract.MaxPriorities * (perEngine*inc.MaxEngines + 1)
)

// place is a hypothesis on how many frames of each line have left: when the same frame is next in several, only later frames
// tell which of them it was.
type place [maxLines]int32

// port holds the frames that must still leave by one port.
type port struct {
	owed   [][]dut.Frame // by line
	gone   place         // of each line, frames that are in owed no more
	places []place
	lost   uint64 // frames owed since the last reset that did not leave, where queues may drop them
}

// rest are the frames of a line that must still leave if x is right.
func (p *port) rest(x place, line int) []dut.Frame { return p.owed[line][x[line]-p.gone[line]:] }

// empty reports that no more frames are expected at the port.
func (p *port) empty() bool {
	return slices.ContainsFunc(p.places, func(x place) bool { return p.left(x) == 0 })
}

// clear forgets what must still leave.
func (p *port) clear() {
	clear(p.owed)
	p.gone, p.places = place{}, []place{{}}
}

// left is how many frames must still leave if x is right.
func (p *port) left(x place) int {
	n := 0
	for line := range p.owed {
		n += len(p.rest(x, line))
	}
	return n
}

// expect records frames that must leave.
func (b *Board) expect(outs []inc.Out) {
	for _, o := range outs {
		line := b.line(o)
		owed := &b.ports[o.Port].owed[line]
		*owed = append(*owed, dut.Frame{Data: o.Frame, Err: o.Err})
		b.ports[o.Port].lost++
	}
}

// line is where a frame that must leave stands: that of its engine and priority, or, if it went round the engines, the last.
func (b *Board) line(o inc.Out) int {
	line := o.Engine*perEngine + made
	if o.Bypass && o.Engine < b.ref.Engine().Engines() {
		line += passed
	}
	if b.man.Params.PriorityCount() > 1 {
		line += b.ref.Priority(o.Frame) * b.lines()
	}
	return line
}

// lines are those of a priority.
func (b *Board) lines() int {
	if n := b.ref.Engine().Engines(); n > 1 {
		return perEngine*n + 1
	}
	return perEngine
}

// passing tells whether a line is of frames that were passed on.
func (b *Board) passing(line int) bool {
	engines := b.ref.Engine().Engines()
	line %= b.lines()
	return line%perEngine == passed || engines > 1 && line/perEngine == engines
}

// see compares a frame that left. A bypassed frame may leave before the engine reports its decision. The comparison
// is then put off until the report, and so is that of frames leaving later by the same port.
func (b *Board) see(o dut.Frame) {
	switch {
	case slices.ContainsFunc(b.early, func(x dut.Frame) bool { return x.Port == o.Port }):
		b.early = append(b.early, o)
	case b.match(o):
		b.outs = append(b.outs, o)
	case b.undecided() == 0:
		b.unexpected(o)
	default:
		b.early = append(b.early, o)
	}
}

// match looks for a frame that left among those expected.
func (b *Board) match(o dut.Frame) bool {
	p := &b.ports[o.Port]
	var next []place
	for _, x := range p.places {
		for line := range p.owed {
			ahead := b.ahead(p.rest(x, line), &o, line)
			if ahead < 0 {
				continue
			}
			y := x
			if y[line] += int32(ahead) + 1; !slices.Contains(next, y) {
				next = append(next, y)
			}
		}
	}
	if len(next) == 0 {
		return false
	}
	p.places = next
	p.lost--
	for line := range p.owed {
		least := slices.MinFunc(next, func(x, y place) int { return cmp.Compare(x[line], y[line]) })
		p.owed[line], p.gone[line] = p.rest(least, line), least[line]
	}
	return true
}

// ahead is how many frames of a line were dropped if the one that left is of it; -1 if it is not, or nothing drops frames and another is next.
func (b *Board) ahead(rest []dut.Frame, left *dut.Frame, line int) int {
	if !b.drops {
		rest = rest[:min(1, len(rest))]
	}
	return slices.IndexFunc(rest, func(want dut.Frame) bool { return b.same(&want, left, line) })
}

// same tells whether a frame that left is the one expected, or what a memory may make of it that could not correct an error.
func (b *Board) same(want, got *dut.Frame, line int) bool {
	return want.Err == got.Err && bytes.Equal(want.Data, got.Data) ||
		b.doubled && !b.passing(line) && !got.Err && Spoilt(got.Data) && alike(want.Data, got.Data)
}

// Spoilt reports whether all bits of a frame's ICRC are inverted, as they must be if it holds a word that the memory
// could not correct: receivers then drop it.
func Spoilt(frame []byte) bool {
	good := slices.Clone(frame)
	roce.Reseal(good)
	at, ok := icrcAt(frame)
	return ok && binary.BigEndian.Uint32(frame[at:]) == ^binary.BigEndian.Uint32(good[at:])
}

// icrcAt is the offset of the ICRC in a frame that the engine made.
func icrcAt(frame []byte) (int, bool) {
	if len(frame) < bthEnd {
		return 0, false
	}
	tag := roce.HeaderAt(frame)
	at := tag + 14 + (int(frame[tag+16])<<8 | int(frame[tag+17])) - 4
	return at, at >= tag+bthEnd && at+4 <= len(frame)
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

// kind is a line's name.
func (b *Board) kind(line int) string {
	name, engines := "engine-made", b.ref.Engine().Engines()
	if b.passing(line) {
		name = "bypassed"
	}
	if b.man.Params.PriorityCount() > 1 {
		name = fmt.Sprintf("%s of priority %d", name, line/b.lines())
	}
	switch line %= b.lines(); {
	case engines == 1:
		return name
	case line/perEngine == engines:
		return name + " round the engines"
	}
	return fmt.Sprintf("%s by engine %d", name, line/perEngine)
}

// unexpected says what is expected in place of a frame that left.
func (b *Board) unexpected(o dut.Frame) {
	p := &b.ports[o.Port]
	var s strings.Builder
	fmt.Fprintf(&s, "port %d, cycle %d: unexpected frame %s", o.Port, o.Last, describe(&o))
	for line := range p.owed {
		if kind, rest := b.kind(line), p.rest(p.places[0], line); len(rest) > 0 {
			fmt.Fprintf(&s, "\nnext %s frame expected %s%s", kind, describe(&rest[0]), diff(rest[0].Data, o.Data))
		} else {
			fmt.Fprintf(&s, "\nno %s frame expected", kind)
		}
	}
	differ("%s", s.String())
}

// describe shows a frame in words and its first bytes.
func describe(f *dut.Frame) string {
	text := fmt.Sprintf("(%d bytes, err %v)", len(f.Data), f.Err)
	if p, err := f.Packet(); err == nil {
		text += " " + p.String()
	}
	return text + "\n  " + hex.EncodeToString(f.Data[:min(len(f.Data), 80)])
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
	if frame = frame[roce.HeaderAt(frame):]; len(frame) < bthEnd {
		return 0
	}
	return uint32(frame[47])<<16 | uint32(frame[48])<<8 | uint32(frame[49])
}
