// SPDX-License-Identifier: Apache-2.0

package score

import (
	"errors"
	"strings"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/verify/ctrl"
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
	if w, same := b.agrees(addr, v); !same {
		reg, i, _ := b.man.Find(addr)
		differ("register %s[%d] reads %#x, expected %#x", reg.Name, i, v, w)
	}
}

// agrees tells whether the reference has that in a register, and what it has if not.
func (b *Board) agrees(addr, v uint32) (want uint32, same bool) {
	reg, _, ok := b.man.Find(addr)
	if !ok || reg.Name == "COUNTER" || reg.Name == "IRQ_CAUSE" || reg.Name == "VERSION" || reg.Top != "" && !strings.HasPrefix(reg.Name, "PRIORITY_") { // the reference has no ports of its own
		return v, true
	}
	known := ^uint32(0)
	switch {
	case reg.Name == "GROUP_STATUS" && v&mask(reg, "busy") != 0:
		return v, true
	case reg.Name == "GROUP_CTRL":
		known = mask(reg, "enable") // reset clears itself in its own time
	case reg.Name == "ECC_INJECT":
		known = 0 // clears itself when a row is written
	}
	want = fail.Must(b.ref.Read(addr))
	return want, v&known == want&known
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
			if !stuck { // what Acts returns in the cycle of the answer was decided before the write took effect
				b.collect()
			}
			b.resting = false
		}
		b.repeat(addr, value, strobes, refused != nil)
		b.collect()
	})
	if err != nil {
		return err
	}
	return refused
}

// repeat does in the reference what was written to the engine.
func (b *Board) repeat(addr, value uint32, strobes uint8, refused bool) {
	reg, i, ok := b.man.Find(addr)
	starts := ok && reg.Name == "GROUP_CTRL" && (!b.ref.Engine().Enabled(i) || value&mask(reg, "reset") != 0)
	err := b.ref.Write(addr, value, strobes)
	if starts && b.ref.Engine().Enabled(i) {
		b.started(i)
	}
	if err != nil && !errors.Is(err, dut.ErrRefused) {
		fail.On(err)
	}
	if (err != nil) != refused {
		differ("a write of %#x to address %#x, strobes %04b: refused %v, expected %v", value, addr, strobes, refused, err)
	}
	if !refused && ok {
		b.wrote(reg, value)
	}
}

// Together has several accesses to registers of both under way at once, when the engine has come to rest. A read gives what some number of the writes
// have made of its register, no fewer than for the read before.
func (b *Board) Together(accesses []dut.Access) (answers []dut.Answer, err error) {
	err = b.guard(func() {
		b.settle()
		answers = fail.Must(b.DUT.Together(accesses))
		b.together(accesses, answers)
		b.resting = false
		b.collect()
	})
	return answers, err
}

// together repeats the writes, and each read as soon as its answer is right.
func (b *Board) together(accesses []dut.Access, answers []dut.Answer) {
	var reads []int
	for i, a := range accesses {
		if !a.Write {
			reads = append(reads, i)
		}
	}
	explain := func() {
		for len(reads) > 0 {
			i := reads[0]
			addr, v := accesses[i].Addr, answers[i]
			if _, _, there := b.man.Find(addr); there == v.Refused {
				differ("a read of address %#x: refused %v, expected the opposite", addr, v.Refused)
			}
			if _, same := b.agrees(addr, v.Value); !same {
				return
			}
			reads = reads[1:]
		}
	}
	explain()
	for i, a := range accesses {
		if a.Write {
			b.repeat(a.Addr, a.Value, ctrl.AllBytes, answers[i].Refused)
			explain()
		}
	}
	if len(reads) > 0 {
		reg, i, _ := b.man.Find(accesses[reads[0]].Addr)
		differ("register %s[%d] reads %#x beside writes, which none of them explains", reg.Name, i, answers[reads[0]].Value)
	}
}

// started has the frames of a group that came in before it was started be dropped, however late they are decided.
func (b *Board) started(group int) {
	for _, frames := range b.pending {
		for i := range frames {
			frames[i].stale = frames[i].stale || b.ref.Engine().GroupOf(frames[i].Data) == group
		}
	}
}
