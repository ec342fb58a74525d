// SPDX-License-Identifier: Apache-2.0

// Package axis drives, receives and watches AXI4-Stream interfaces of a simulated
// model: [Source], [Sink] and [Monitor], each with the protocol checker always on.
//
// An interface is bound by its prefix: "s_axis" finds s_axis_tvalid, s_axis_tready and
// s_axis_tdata, and, where the model has them, s_axis_tkeep, s_axis_tlast and
// s_axis_tuser. Without tkeep every byte counts; without tlast every beat is a frame.
// Byte i of a beat is tdata[8i+7:8i]. Widths: tdata 1 to 2048 bytes, tuser up to 64
// bits. If the model has a reset (sim.Build.Reset), frames cut off by it are dropped
// by receivers and begun again by sources, and nothing is checked before its first
// assertion.
//
// An interface is in the model's first clock, or, made by [NewSourceOn], [NewSinkOn] or [NewMonitorOn], in another; then its cycles are
// that clock's. The reset is still that of the first clock, and takes a few cycles to get there.
//
// Everything happens inside sim.Model.Tick. A beat costs a copy and no allocation; a
// frame none either, when its buffer comes back by Release, OnFrame or OnSent.
package axis

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"

	"incforge/sim"
)

// Limits of an interface.
const (
	MaxBytes    = 2048 // of tdata
	MaxUserBits = 64
)

// Frame is a packet: the bytes of all beats up to tlast.
type Frame struct {
	Data      []byte
	User      uint64 // tuser of the last beat
	FirstUser uint64 // tuser of the first beat; a Source drives it on all beats but the last
	First     uint64 // cycle in which the first beat was taken
	Last      uint64 // cycle in which the last beat was taken
	NotBefore uint64 // Source only: no beat is taken before this cycle
}

// clock is what an interface runs on: the model's first clock, which is the model itself, or another.
type clock interface {
	Now() uint64
	OnSample(func())
	OnDrive(func())
}

// bus is a bound interface: pointers into the model's memory.
type bus struct {
	m      *sim.Model
	clk    clock
	prefix string
	valid  *byte
	ready  *byte
	last   *byte // nil: every beat is the last of its frame
	rst    *byte // nil: no reset
	data   []byte
	keep   *sim.Port // nil: all bytes count
	user   *sim.Port // nil: none
	keeps  []byte    // tkeep's memory
	full   []byte    // keep of a full beat
}

// bind finds the ports. forward is the direction of tvalid and the payload.
func bind(m *sim.Model, clk clock, prefix string, forward, backward sim.Dir) (bus, error) {
	b := bus{m: m, clk: clk, prefix: prefix}
	var errs []error
	port := func(name string, dir sim.Dir, check func(width int) string) *sim.Port {
		p, err := m.Port(prefix + "_" + name)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		if p.Dir() != dir {
			errs = append(errs, fmt.Errorf("port %s is an %sput of the model, want %sput", p.Name(), p.Dir(), dir))
			return nil
		}
		if wrong := check(p.Width()); wrong != "" {
			errs = append(errs, fmt.Errorf("port %s has %d bits, want %s", p.Name(), p.Width(), wrong))
			return nil
		}
		return p
	}
	one := func(width int) string {
		if width != 1 {
			return "1"
		}
		return ""
	}
	bit := func(name string, dir sim.Dir) *byte {
		if p := port(name, dir, one); p != nil {
			return &p.Bytes()[0]
		}
		return nil
	}
	b.valid = bit("tvalid", forward)
	b.ready = bit("tready", backward)
	if p := port("tdata", forward, func(w int) string {
		if w%8 != 0 || w > 8*MaxBytes {
			return fmt.Sprintf("whole bytes, %d at most", MaxBytes)
		}
		return ""
	}); p != nil {
		b.data = p.Bytes()
	}
	if m.Has(prefix + "_tlast") {
		b.last = bit("tlast", forward)
	}
	if b.data != nil && m.Has(prefix+"_tkeep") {
		b.keep = port("tkeep", forward, func(w int) string {
			if w != len(b.data) {
				return fmt.Sprintf("%d, one for every byte of tdata", len(b.data))
			}
			return ""
		})
		if b.keep != nil {
			b.keeps = b.keep.Bytes()
		}
		b.full = make([]byte, (len(b.data)+7)/8)
		for i := range len(b.data) {
			b.full[i/8] |= 1 << (i % 8)
		}
	}
	if m.Has(prefix + "_tuser") {
		b.user = port("tuser", forward, func(w int) string {
			if w > MaxUserBits {
				return fmt.Sprintf("%d at most", MaxUserBits)
			}
			return ""
		})
	}
	if name := m.Lib().Reset(); name != "" {
		p, err := m.Port(name)
		if err != nil {
			errs = append(errs, err)
		} else {
			b.rst = &p.Bytes()[0]
		}
	}
	if err := errors.Join(errs...); err != nil {
		return b, fmt.Errorf("binding AXI4-Stream %s: %w", prefix, err)
	}
	return b, nil
}

// Prefix returns the prefix the interface was bound by.
func (b *bus) Prefix() string { return b.prefix }

// Bytes returns the width of tdata in bytes.
func (b *bus) Bytes() int { return len(b.data) }

// UserBits returns the width of tuser, 0 if there is none.
func (b *bus) UserBits() int {
	if b.user == nil {
		return 0
	}
	return b.user.Width()
}

func (b *bus) isLast() bool { return b.last == nil || *b.last != 0 }

func (b *bus) userValue() uint64 {
	if b.user == nil {
		return 0
	}
	return b.user.Uint64()
}

// kept returns the number of bytes that count in the beat, and whether tkeep is
// contiguous from bit 0.
func (b *bus) kept() (n int, contiguous bool) {
	if b.keep == nil {
		return len(b.data), true
	}
	if len(b.data) <= 64 {
		k := b.keep.Uint64()
		return bits.OnesCount64(k), k&(k+1) == 0
	}
	contiguous = true
	ended := false
	for _, k := range b.keeps {
		n += bits.OnesCount8(k)
		if ended && k != 0 || k&(k+1) != 0 {
			contiguous = false
		}
		ended = ended || k != 0xFF
	}
	return n, contiguous
}

// keptFull reports whether all bytes of the beat count.
func (b *bus) keptFull() bool { return b.keep == nil || bytes.Equal(b.keeps, b.full) }
