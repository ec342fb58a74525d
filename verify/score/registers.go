// SPDX-License-Identifier: Apache-2.0

package score

import (
	"errors"
	"strings"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/verify/dut"
)

// Read reads a register of the engine and compares it with the reference's, except STATUS.busy and counters, which
// lag while frames are inside.
func (b *Board) Read(addr uint32) (uint32, error) {
	v, err := b.DUT.Read(addr)
	if err != nil {
		return 0, err
	}
	return v, b.guard(func() {
		b.collect()
		b.compare(addr, v)
	})
}

// wrote notes what makes engine and reference differ by right from now on.
func (b *Board) wrote(reg *contract.Register, value uint32) {
	switch {
	case reg.Name == "ECC_INJECT" && b.man.Params.ECC:
		b.injected = b.injected || value != 0
		b.doubled = b.doubled || value > 1
	case reg.Name == "IRQ_CLEAR" && value != 0 && !b.Rests(): // what is inside may be counted before or after
		b.uncertain = true
	}
}

// mask has the bits of a register's field; none if it has no such field.
func mask(reg *contract.Register, field string) uint32 {
	f, _ := reg.Field(field)
	return f.Mask()
}

// compare compares what the engine has in a register with the reference.
func (b *Board) compare(addr, v uint32) {
	reg, i, ok := b.man.Find(addr)
	if !ok || reg.Name == "COUNTER" || reg.Name == "IRQ_CAUSE" || reg.Name == "VERSION" || reg.Top != "" && !strings.HasPrefix(reg.Name, "PRIORITY_") { // the reference has no ports of its own
		return
	}
	known := ^uint32(0)
	switch {
	case reg.Name == "GROUP_STATUS" && v&mask(reg, "busy") != 0:
		return
	case reg.Name == "GROUP_CTRL":
		known = mask(reg, "enable") // reset clears itself in its own time
	case reg.Name == "ECC_INJECT":
		known = 0 // clears itself when a row is written
	}
	if w := fail.Must(b.ref.Read(addr)); v&known != w&known {
		differ("register %s[%d] reads %#x, expected %#x", reg.Name, i, v, w)
	}
}

// Write writes some bytes of a register of both. Frames that the engine accepted before take effect before the write, but for those that had waited
// inside an engine in which nothing moved: it is the write that sets them free, some cycles before it is answered. The error is dut.ErrRefused if both
// refuse it.
func (b *Board) Write(addr, value uint32, strobes uint8) error {
	before := b.collect
	if reg, _, ok := b.man.Find(addr); ok && strings.HasPrefix(reg.Name, "PRIORITY_") { // nothing inside may change its priority
		before = b.settle
	}
	if err := b.guard(before); err != nil {
		return err
	}
	stuck := b.stuck()
	if err := b.guard(func() { b.counts(stuck) }); err != nil {
		return err
	}
	refused := b.DUT.Write(addr, value, strobes)
	if refused != nil && !errors.Is(refused, dut.ErrRefused) {
		return refused
	}
	err := b.guard(func() {
		if b.pipes() {
			if !stuck { // actions reported while the bus was busy came before the write
				b.collect()
			}
			b.resting = false
		}
		reg, i, ok := b.man.Find(addr)
		starts := ok && reg.Name == "GROUP_CTRL" && (!b.ref.Engine().Enabled(i) || value&mask(reg, "reset") != 0)
		err := b.ref.Write(addr, value, strobes)
		if starts && b.ref.Engine().Enabled(i) {
			b.started(i)
		}
		if err != nil && !errors.Is(err, dut.ErrRefused) {
			fail.On(err)
		}
		if (err != nil) != (refused != nil) {
			differ("a write of %#x to address %#x, strobes %04b: the engine says %v, expected %v", value, addr, strobes, refused, err)
		}
		if refused == nil && ok {
			b.wrote(reg, value)
		}
		b.collect()
	})
	if err != nil {
		return err
	}
	return refused
}

// started has the frames of a group that came in before it was started be dropped, however late they are decided.
func (b *Board) started(group int) {
	for _, frames := range b.pending {
		for i := range frames {
			frames[i].stale = frames[i].stale || b.ref.Engine().GroupOf(frames[i].Data) == group
		}
	}
}
