// SPDX-License-Identifier: Apache-2.0

package score

import (
	"errors"
	"fmt"

	"incforge/verify/dut"
)

// Read reads a register of the engine and compares it with the reference's, except STATUS.busy and counters, which
// lag while frames are inside.
func (b *Board) Read(addr uint32) (uint32, error) {
	v, err := b.DUT.Read(addr)
	if err != nil {
		return 0, err
	}
	if err := b.collect(); err != nil {
		return 0, err
	}
	reg, i, ok := b.man.Find(addr)
	if !ok || reg.Name == "COUNTER" || reg.Name == "VERSION" {
		return v, nil
	}
	w, err := b.ref.Read(addr)
	if err != nil {
		return 0, err
	}
	bits := func(field string) uint32 {
		f, _ := reg.Field(field) // a field of no bits otherwise
		return f.Mask()
	}
	mask := ^uint32(0)
	switch {
	case reg.Name == "GROUP_STATUS" && v&bits("busy") != 0:
		return v, nil
	case reg.Name == "GROUP_CTRL":
		mask = bits("enable") // reset clears itself in its own time
	case reg.Name == "ECC_INJECT":
		mask = 0 // clears itself when a row is written
	}
	if v&mask != w&mask {
		b.err = fmt.Errorf("%w: register %s[%d] reads %#x, expected %#x", ErrMismatch, reg.Name, i, v, w)
		return 0, b.err
	}
	return v, nil
}

// Write writes some bytes of a register of both. Frames that the engine accepted before take effect before the write. The error is
// dut.ErrRefused if both refuse it.
func (b *Board) Write(addr, value uint32, strobes uint8) error {
	if err := b.collect(); err != nil {
		return err
	}
	refused := b.DUT.Write(addr, value, strobes)
	if refused != nil && !errors.Is(refused, dut.ErrRefused) {
		return refused
	}
	if b.pipes() { // actions reported while the bus was busy came before the write
		if err := b.collect(); err != nil {
			return err
		}
		b.resting = false
	}
	switch err := b.ref.Write(addr, value, strobes); {
	case err != nil && !errors.Is(err, dut.ErrRefused):
		return err
	case (err != nil) != (refused != nil):
		b.err = fmt.Errorf("%w: a write of %#x to address %#x, strobes %04b: the engine says %v, expected %v", ErrMismatch, value, addr, strobes, refused, err)
		return b.err
	case err != nil:
		return refused
	}
	if reg, _, ok := b.man.Find(addr); ok && reg.Name == "ECC_INJECT" && b.man.Params.ECC {
		b.injected = b.injected || value != 0
		b.doubled = b.doubled || value > 1
	}
	return b.collect()
}
