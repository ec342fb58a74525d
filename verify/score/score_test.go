// SPDX-License-Identifier: Apache-2.0

package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/verify/dut"
)

// scripted is an engine that accepts and emits what a test says.
type scripted struct {
	*dut.Reference
	accepted []dut.Frame
	out      []dut.Frame
}

func (s *scripted) StepTo(uint64) error   { return nil }
func (s *scripted) Accepted() []dut.Frame { a := s.accepted; s.accepted = nil; return a }
func (s *scripted) Out() []dut.Frame      { o := s.out; s.out = nil; return o }

func newScripted(t *testing.T) (*Board, *scripted) { return newScriptedOf(t, synthetic.Mini()) }

func newScriptedOf(t *testing.T, p contract.Params) (*Board, *scripted) {
	t.Helper()
	m := synthetic.Manifest(p)
	ref, err := dut.NewReference(m)
	require.NoError(t, err)
	s := &scripted{Reference: ref}
	b, err := New(s, m)
	require.NoError(t, err)
	return b, s
}

func frame(n byte) []byte { return append(make([]byte, 20), n) }

// TestOrder: bypassed frames of a port keep their order; of different ports they need not.
func TestOrder(t *testing.T) {
	b, s := newScripted(t)
	s.accepted = []dut.Frame{{Port: 0, Data: frame(1)}, {Port: 1, Data: frame(2)}, {Port: 0, Data: frame(3)}}
	s.out = []dut.Frame{{Port: 1, Data: frame(2)}, {Port: 0, Data: frame(1)}}
	require.ErrorContains(t, b.StepTo(1), "1 bypassed frames never left", "the engine is still and owes a frame")

	b, s = newScripted(t)
	s.accepted = []dut.Frame{{Port: 0, Data: frame(1)}, {Port: 0, Data: frame(3)}}
	s.out = []dut.Frame{{Port: 0, Data: frame(3)}}
	require.ErrorContains(t, b.StepTo(1), "first difference at byte 20: expected 0x01, got 0x03")
	require.ErrorIs(t, b.StepTo(2), ErrMismatch, "the first difference stays")
}

// dropping is an engine behind queues that drop.
type dropping struct {
	*scripted
	man  *contract.Manifest
	full uint32 // PORT_TX_FULL of port 0; PORT_RX_FULL of port 1 is 5
}

func (d *dropping) TakesErrors() bool { return false }

func (d *dropping) Read(addr uint32) (uint32, error) {
	reg, i, ok := d.man.Find(addr)
	switch {
	case ok && reg.Name == "PORT_TX_FULL" && i == 0:
		return d.full, nil
	case ok && reg.Name == "PORT_RX_FULL" && i == 1:
		return 5, nil
	}
	return d.scripted.Read(addr)
}

// TestDrops: where a queue drops, frames may be missing, in their order and as many as it counts.
func TestDrops(t *testing.T) {
	p := synthetic.Mini()
	p.PortBytes, p.PortDrop = 2, true
	for name, c := range map[string]struct {
		left []byte
		full uint32
		says string
	}{
		"none":             {[]byte{1, 2, 3}, 0, ""},
		"inside":           {[]byte{1, 3}, 1, ""},
		"the last":         {[]byte{1}, 2, ""},
		"not counted":      {[]byte{1, 3}, 0, "port 0: 1 frames did not leave, and PORT_TX_FULL is 0"},
		"counted too much": {[]byte{1, 3}, 2, "port 0: 1 frames did not leave, and PORT_TX_FULL is 2"},
		"out of order":     {[]byte{2, 1, 3}, 0, "unexpected frame"},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := newScriptedOf(t, p)
			m := synthetic.Manifest(p)
			b, err := New(&dropping{s, m, c.full}, m)
			require.NoError(t, err)
			for i := range byte(3) {
				s.accepted = append(s.accepted, dut.Frame{Data: frame(i + 1)})
				s.Handle(0, 0, frame(i+1), false) // which counts
			}
			for _, n := range c.left {
				s.out = append(s.out, dut.Frame{Data: frame(n)})
			}
			_, err = b.Finish()
			if c.says == "" {
				require.NoError(t, err)
				drops, err := b.PortDrops()
				require.NoError(t, err)
				require.EqualValues(t, c.full+5, drops)
				return
			}
			require.ErrorIs(t, err, ErrMismatch)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestLookalikes: the same bytes are expected from both queues of a port, and only what follows tells which it was.
func TestLookalikes(t *testing.T) {
	for _, order := range [][]byte{{1, 2, 1, 3}, {1, 3, 1, 2}, {1, 1, 2, 3}, {1, 1, 3, 2}} {
		b, s := newScripted(t)
		b.ports[0].owed[made] = []dut.Frame{{Data: frame(1)}, {Data: frame(2)}}
		b.ports[0].owed[passed] = []dut.Frame{{Data: frame(1)}, {Data: frame(3)}}
		for _, n := range order {
			s.out = append(s.out, dut.Frame{Port: 0, Data: frame(n)})
		}
		require.NoError(t, b.StepTo(1), "%v", order)
		require.NoError(t, b.Missing(), "%v", order)
	}
	b, s := newScripted(t)
	b.ports[0].owed[made] = []dut.Frame{{Data: frame(1)}, {Data: frame(2)}}
	b.ports[0].owed[passed] = []dut.Frame{{Data: frame(1)}, {Data: frame(3)}}
	s.out = []dut.Frame{{Data: frame(1)}, {Data: frame(2)}, {Data: frame(3)}}
	require.Error(t, b.StepTo(1), "3 cannot leave before the bypassed 1")
}

// TestPrioritiesOfEngines: where a switch has several engines and its ports priorities, frames of one priority that go round the engines keep their order; of two they
// need not.
func TestPrioritiesOfEngines(t *testing.T) {
	p := synthetic.Mini()
	p.PortBytes, p.Priorities, p.Engines = 4, 2, 2
	tagged := func(n byte) []byte { // PCP 1
		f := frame(n)
		f[12], f[14] = 0x81, 1<<5
		return f
	}
	for _, c := range []struct {
		name      string
		two, left [][]byte
		wrong     string
	}{
		{"two priorities", [][]byte{frame(1), tagged(2)}, [][]byte{tagged(2), frame(1)}, ""},
		{"in order", [][]byte{tagged(1), tagged(2)}, [][]byte{tagged(1), tagged(2)}, ""},
		{"one priority", [][]byte{tagged(1), tagged(2)}, [][]byte{tagged(2), tagged(1)}, "bypassed of priority 1 round the engines"},
	} {
		b, s := newScriptedOf(t, p)
		table, err := b.man.Registers.Register("PRIORITY_PCP")
		require.NoError(t, err)
		require.NoError(t, b.Write(table.Offset+table.Stride, 1, 15))
		for i := range c.two {
			s.accepted = append(s.accepted, dut.Frame{Data: c.two[i]})
			s.out = append(s.out, dut.Frame{Data: c.left[i]})
		}
		if err := b.StepTo(1); c.wrong == "" {
			require.NoError(t, err, c.name)
			require.NoError(t, b.Missing(), c.name)
		} else {
			require.ErrorContains(t, err, c.wrong, c.name)
		}
	}
}

func TestErrorBitCounts(t *testing.T) {
	b, s := newScripted(t)
	s.accepted = []dut.Frame{{Port: 2, Data: frame(1), Err: true}}
	s.out = []dut.Frame{{Port: 2, Data: frame(1)}}
	require.ErrorContains(t, b.StepTo(1), "err true")
}

// garbling is an engine that answers the n-th of several accesses to registers with that.
type garbling struct {
	*scripted
	n      int
	answer dut.Answer
}

func (g *garbling) Together(accesses []dut.Access) ([]dut.Answer, error) {
	answers, err := g.Reference.Together(accesses)
	answers[g.n] = g.answer
	return answers, err
}

// TestTogether: a read beside writes may give what any number of them has made, no fewer than the read before.
func TestTogether(t *testing.T) {
	addr, err := synthetic.Manifest(synthetic.Mini()).Addr("IP_ID", 0)
	require.NoError(t, err)
	read, write := dut.Access{Addr: addr}, func(v uint32) dut.Access { return dut.Access{Addr: addr, Write: true, Value: v} }
	all := []dut.Access{read, write(7), read, write(8), read, {Addr: addr + 1<<15}}
	for _, c := range []struct {
		n      int
		answer dut.Answer
		says   string
	}{
		{0, dut.Answer{Value: contract.DefaultIPID}, ""},
		{0, dut.Answer{Value: 7}, ""},
		{0, dut.Answer{Value: 8}, "register IP_ID[0] reads 0x7 beside writes"},
		{2, dut.Answer{Value: contract.DefaultIPID}, ""},
		{2, dut.Answer{Value: 8}, ""},
		{2, dut.Answer{Value: 9}, "register IP_ID[0] reads 0x9 beside writes"},
		{4, dut.Answer{Value: 7}, ""},
		{4, dut.Answer{Value: contract.DefaultIPID}, "register IP_ID[0] reads 0x1111 beside writes"},
		{4, dut.Answer{Refused: true}, "refused true"},
		{3, dut.Answer{Refused: true}, "refused true, expected"},
		{5, dut.Answer{}, "refused false"},
	} {
		_, s := newScripted(t)
		b, err := New(&garbling{s, c.n, c.answer}, synthetic.Manifest(synthetic.Mini()))
		require.NoError(t, err)
		if _, err = b.Together(all); c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrMismatch)
		require.ErrorContains(t, err, c.says)
	}
}

// stopping is an engine that decides its oldest frame while a register is written. It reports that, or has counted nothing before.
type stopping struct {
	*scripted
	reports bool
	acts    []dut.Act
}

func (s *stopping) Acts() []dut.Act { a := s.acts; s.acts = nil; return a }

func (s *stopping) Write(addr, value uint32, strobes uint8) error {
	if s.reports {
		s.acts = append(s.acts, dut.Act{At: s.Now()})
	}
	return s.Reference.Write(addr, value, strobes)
}

// TestWritesSetFree: what is decided while a register is written was decided before, unless nothing had moved for long: then it is the write that has
// set it free.
func TestWritesSetFree(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  int
		still uint64 // short of the board's patience
		port  int
	}{{"stuck", 3, 0, 1}, {"not stuck", 3, 1, 0}, {"stuck, and counts", 2, 0, 1}, {"not stuck, and counts", 2, 1, 0}} {
		p := synthetic.Mini()
		p.Mode = c.mode
		m := synthetic.Manifest(p)
		ref, err := dut.NewReference(m)
		require.NoError(t, err)
		s := &stopping{scripted: &scripted{Reference: ref}, reports: p.Pipes()}
		b, err := New(s, m)
		require.NoError(t, err)
		b.HoldUp()
		s.accepted = []dut.Frame{{Port: 0, Data: frame(1), Last: s.Now()}}
		b.collect()
		s.SkipTo(s.Now() + b.Patience() - c.still)
		bypass, err := m.Registers.Register("BYPASS_PORT")
		require.NoError(t, err)
		require.NoError(t, b.Write(bypass.Offset, 1, 15), c.name)
		require.NoError(t, b.LetGo(), c.name)
		s.out = []dut.Frame{{Port: c.port, Data: frame(1)}}
		require.NoError(t, b.StepTo(s.Now()), c.name)
		require.NoError(t, b.Missing(), c.name)
	}
}
