// SPDX-License-Identifier: Apache-2.0

package interrupts_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/interrupts"
	"incforge/hdl/leaf"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axil"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	full := interrupts.At(16, contract.InterruptBase, 9)
	hdltest.Check(t, []graph.Describer{full, interrupts.Interrupts{AxilW: 22, Page: 1, Causes: 32}, interrupts.Interrupts{AxilW: 18, Page: 0, Causes: 1}}, []hdltest.Refused{
		{Leaf: interrupts.Interrupts{AxilW: 15, Page: 640, Causes: 9}, Params: param("AXIL_W", 15), Rule: "AXIL_W must be 16 to 22"},
		{Leaf: interrupts.Interrupts{AxilW: 16, Page: 4096, Causes: 9}, Params: param("PAGE", 4096), Rule: "PAGE must be one of the pages of AXIL_W bits"},
		{Leaf: interrupts.Interrupts{AxilW: 16, Page: 640, Causes: 33}, Params: param("CAUSES", 33), Rule: "CAUSES must be 1 to 32"},
	})
	hdltest.Check(t, []graph.Describer{interrupts.Event{Width: 1}, interrupts.Event{Width: 9, Rise: 1}}, []hdltest.Refused{
		{Leaf: interrupts.Event{}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
		{Leaf: interrupts.Event{Width: 2, Rise: 2}, Params: param("RISE", 2), Rule: "RISE must be 0 or 1"},
	})
}

// pages are the two of the bench: where they lie, how many causes they have, and what a model of them holds.
type pageModel struct {
	at            uint64
	all           uint32
	cause, enable uint32
	events        *sim.Port
	line          *sim.Port
	was           bool // what the line must be
}

// step compares the line as it was sampled in a cycle, and takes the events that went in with it.
func (p *pageModel) step(t *testing.T) {
	require.Equal(t, p.was, p.line.Bool(), "the line of page %#x", p.at)
	p.was = p.cause&p.enable != 0
	p.cause |= uint32(p.events.Uint64())
}

const slave = 0x40

// TestInterrupts: events come at random while registers are read and written, with every fault that an access can have. Nothing is lost but what
// was cleared behind it, the line follows in the stated cycle, and what is not of a page reaches the slave behind both.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.v")
	require.NoError(t, err)
	lib, err := sim.Build{Top: "t_interrupts", Brief: true, Files: append(files, "../page/inc_page.v", "testdata/t_interrupts.v")}.Compile(testcost.Context(t))
	require.NoError(t, err)
	for name, run := range map[string]func(t *testing.T, b *bench){"registers": registers, "line": line, "meets": meets, "events": events} {
		t.Run(name, func(t *testing.T) { run(t, newBench(t, lib)) })
	}
}

type bench struct {
	*sim.Model
	bus   *axil.Master
	rnd   *rand.Rand
	pages []*pageModel
}

func newBench(t *testing.T, lib *sim.Lib) *bench {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: 7})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	b := &bench{Model: m, rnd: rand.New(rand.NewPCG(3, 4))}
	port := func(name string) *sim.Port {
		p, err := m.Port(name)
		require.NoError(t, err)
		return p
	}
	b.pages = []*pageModel{{at: 0x2800, all: 0x1F, events: port("events"), line: port("irq")}, {at: 0x4800, all: 0xFFFF_FFFF, events: port("events2"), line: port("irq2")}}
	for _, p := range b.pages {
		p.events.SetUint64(0)
	}
	b.bus, err = axil.New(m, "s_axil")
	require.NoError(t, err)
	require.NoError(t, m.ResetFor(3))
	return b
}

// registers: what is written reads back under its mask, causes and clears are no memory, and the wrong accesses are refused and do nothing.
func registers(t *testing.T, b *bench) {
	b.bus.SetPause(func() bool { return b.rnd.IntN(3) == 0 })
	var kept uint32
	for range 400 {
		p := b.pages[b.rnd.IntN(2)]
		v := b.rnd.Uint32()
		switch b.rnd.IntN(7) {
		case 0:
			require.NoError(t, b.bus.WriteReg(p.at+4+uint64(b.rnd.IntN(4)), v), "the low bits of an address do not count")
			p.enable = v & p.all
		case 1:
			require.NoError(t, b.bus.WriteReg(p.at, v))
		case 2:
			p.events.SetUint64(uint64(v & p.all))
			require.NoError(t, b.Cycle())
			p.events.SetUint64(0)
			p.cause |= v & p.all
		case 3:
			require.NoError(t, b.bus.WriteReg(p.at+8, v))
			p.cause &^= v
		case 4:
			require.NoError(t, b.bus.WriteReg(slave, v))
			kept = v
		case 5:
			at := []uint64{p.at, p.at + 4, p.at + 8, slave}[b.rnd.IntN(4)]
			refused(t, b.bus.WriteRegStrobe(at, v, uint8(b.rnd.IntN(15))))
		case 6:
			at := []uint64{p.at + 12, p.at + 16, p.at - 4, slave + 4}[b.rnd.IntN(4)]
			refused(t, b.bus.WriteReg(at, v))
			_, err := b.bus.ReadReg(at)
			refused(t, err)
		}
		for at, want := range map[uint64]uint32{p.at: p.cause, p.at + 4: p.enable, p.at + 8: 0, slave: kept} {
			got, err := b.bus.ReadReg(at)
			require.NoError(t, err)
			require.Equal(t, want, got, "address %#x", at)
		}
	}
}

func refused(t *testing.T, err error) {
	t.Helper()
	var answer *axil.ResponseError
	require.True(t, errors.As(err, &answer), "%v, expected a refusal", err)
}

// line: two cycles from an event that is enabled, and it stays.
func line(t *testing.T, b *bench) {
	for _, p := range b.pages {
		p.enable = p.all &^ 2
		require.NoError(t, b.bus.WriteReg(p.at+4, p.enable))
	}
	for range 2000 {
		for _, p := range b.pages {
			p.events.SetUint64(0)
			if b.rnd.IntN(400) == 0 {
				p.events.SetUint64(uint64(b.rnd.Uint32() & p.all & (2 | 1<<b.rnd.IntN(5))))
			}
		}
		require.NoError(t, b.Cycle())
		for _, p := range b.pages {
			p.step(t)
		}
	}
	for _, p := range b.pages {
		require.NotZero(t, p.cause)
	}
}

// meets: an event in every cycle round that of the clear is kept if it is not before it.
func meets(t *testing.T, b *bench) {
	p := b.pages[0]
	kept := 0
	for delay := range 12 {
		require.NoError(t, b.bus.WriteReg(p.at+8, p.all))
		at := b.Now() + uint64(delay)
		b.OnDrive(func() { p.events.SetUint64(uint64(leaf.Bit(b.Now() == at))) })
		require.NoError(t, b.bus.WriteReg(p.at+8, p.all))
		for range 12 {
			require.NoError(t, b.Tick())
		}
		got, err := b.bus.ReadReg(p.at)
		require.NoError(t, err)
		if kept > 0 {
			require.Equal(t, uint32(1), got, "an event after one that was kept")
		}
		kept += int(got)
	}
	assert.Greater(t, kept, 2)
	assert.Less(t, kept, 12)
}

// events: of pulses and of what rises, one cycle later.
func events(t *testing.T, b *bench) {
	from, err := b.Port("from")
	require.NoError(t, err)
	anyOf, err := b.Port("any")
	require.NoError(t, err)
	rise, err := b.Port("rise")
	require.NoError(t, err)
	from.SetUint64(0)
	require.NoError(t, b.Cycles(3))
	var before, last uint64 // what was sampled two cycles ago, and one
	for range 500 {
		now := b.rnd.Uint64() & b.rnd.Uint64() & 15
		from.SetUint64(now)
		require.NoError(t, b.Cycle())
		require.Equal(t, last != 0, anyOf.Bool())
		require.Equal(t, last&^before != 0, rise.Bool())
		before, last = last, now
	}
}
