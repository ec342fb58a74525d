// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"slices"
	"strings"

	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// Missing returns an error if the reference sent frames that the idle engine did not.
func (b *Board) Missing() error {
	if b.err != nil {
		return b.err
	}
	switch sends := b.sends(); {
	case len(b.early) > 0:
		b.err = b.mismatch(b.early[0])
	case len(b.acts) > 0:
		b.err = fmt.Errorf("%w: the engine decided a frame in cycle %d and has taken none", ErrMismatch, b.acts[0].At)
	case len(b.pending) > 0:
		b.err = fmt.Errorf("%w: %d frames were taken and never decided, the first in cycle %d: %s", ErrMismatch, len(b.pending), b.pending[0].Last,
			describe(b.pending[0].Data, b.pending[0].Err))
	case len(sends) > 0:
		b.err = fmt.Errorf("%w: the engine rests, but docs/pipes.md section 3 requires the actions %v", ErrMismatch, sends)
	}
	if b.err != nil {
		return b.err
	}
	for i := range b.ports {
		p := &b.ports[i]
		if p.empty() {
			continue
		}
		x := p.places[0]
		made, passed := p.made[x.made-p.madeBase:], p.passed[x.passed-p.passedBase:]
		var first string
		if len(made) > 0 {
			first += "\nengine-made: " + describe(made[0].data, made[0].err)
		}
		if len(passed) > 0 {
			first += "\nbypassed: " + describe(passed[0].data, passed[0].err)
		}
		b.err = fmt.Errorf("%w: port %d: %d engine-made and %d bypassed frames never left; the first:%s", ErrMismatch, i,
			len(made), len(passed), first)
		return b.err
	}
	return nil
}

// Finish settles, compares every counter with the reference's and checks the identities of docs/engine.md section 7 or, in Mode III,
// docs/pipes.md section 6, and then the reference's invariants too. Groups of a Mode III engine with something outstanding are disabled
// first: time-outs would step counters while they are read.
func (b *Board) Finish() (map[string]uint64, error) {
	outs := b.outs
	if err := b.Settle(); err != nil {
		return nil, err
	}
	b.outs = append(outs, b.outs...)
	if b.pipes() {
		if err := b.stop(); err != nil {
			return nil, err
		}
	}
	all := map[string]uint64{}
	expect := b.ref.Engine().Counters()
	names := map[string]uint32{}
	for c := range b.ref.Engine().Params().Counters() {
		names[c.String()] = expect[c]
	}
	var wrong []string
	for i, name := range b.man.Counters {
		a, err := b.man.Addr("COUNTER", i)
		if err != nil {
			return nil, err
		}
		v, err := b.DUT.Read(a)
		if err != nil {
			return nil, fmt.Errorf("read counter %s: %w", name, err)
		}
		all[name] = uint64(v)
		if b.injected && strings.HasPrefix(name, "ECC_") {
			delete(names, name)
			continue // the scenario knows what it wrote
		}
		if want, ok := names[name]; !ok || v != want {
			wrong = append(wrong, fmt.Sprintf("%s is %d, expected %d", name, v, want))
		}
		delete(names, name)
	}
	for name := range names {
		wrong = append(wrong, "the manifest has no counter "+name)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		b.err = fmt.Errorf("%w: counters: %s", ErrMismatch, strings.Join(wrong, "; "))
		return all, b.err
	}
	check := identities
	if b.pipes() {
		check = pipeIdentities
	}
	if err := check(all); err != nil {
		b.err = fmt.Errorf("%w: %w", ErrMismatch, err)
		return all, b.err
	}
	return all, nil
}

// stop checks the invariants and disables groups for which a timer runs.
func (b *Board) stop() error {
	if err := b.ref.Engine().CheckInvariants(); err != nil {
		b.err = fmt.Errorf("%w: %w", ErrMismatch, err)
		return b.err
	}
	if b.deadline() == dut.Never {
		return nil
	}
	outs := b.outs
	b.outs = nil
	for g := range b.man.Params.Groups {
		if !b.ref.Engine().Enabled(g) {
			continue
		}
		addr, err := b.man.Addr("GROUP_CTRL", g)
		if err != nil {
			return err
		}
		if err := b.Write(addr, 0, ctrl.AllBytes); err != nil {
			return err
		}
	}
	err := b.Settle()
	b.outs = append(outs, b.outs...)
	return err
}

// pipeIdentities checks the equations of docs/pipes.md section 6 that hold for any run, by the names of the engine's own counters.
func pipeIdentities(c map[string]uint64) error {
	sum := func(names ...string) uint64 {
		var s uint64
		for _, n := range names {
			s += c[n]
		}
		return s
	}
	dataDrops := sum("DROP_GAP", "DROP_FULL", "DROP_SHAPE")
	var drops uint64
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			drops += v
		}
	}
	for _, e := range []struct {
		name        string
		left, right uint64
	}{
		{"RX_FRAMES", c["RX_FRAMES"], sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP") + drops - dataDrops},
		{"UP_DATA + DOWN_DATA", sum("UP_DATA", "DOWN_DATA"), sum("AGG", "DOWN_TAKEN", "RX_DUPLICATE") + dataDrops},
		{"TX_ACK", c["TX_ACK"], sum("AGG", "DOWN_TAKEN", "RX_DUPLICATE")},
		{"AGG", c["AGG"], sum("BUFFERED", "TX_RESULT")},
		{"TX_FRAMES", c["TX_FRAMES"], sum("TX_FANOUT", "TX_ACK", "TX_GAP_NAK", "TX_RNR", "TX_CNP")},
	} {
		if e.left != e.right {
			return fmt.Errorf("counter identity of %s fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	for _, name := range []string{"TX_RESEND", "TX_REFLECT", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK", "DROP_STALE", "DROP_WINDOW"} {
		if c[name] != 0 {
			return fmt.Errorf("counter %s is %d in Mode III, which does not have that", name, c[name])
		}
	}
	return nil
}

// identities checks the equations that hold for any run, by the names of the engine's own counters. TX_RESULT is part of
// TX_FRAMES only on a node with a parent, which a switch may be in one group and not in another: the sum lies between.
func identities(c map[string]uint64) error {
	sum := func(names ...string) uint64 {
		var s uint64
		for _, n := range names {
			s += c[n]
		}
		return s
	}
	upDrops := sum("DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE")
	var drops uint64
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			drops += v
		}
	}
	for _, e := range []struct {
		name        string
		left, right uint64
	}{
		{"RX_FRAMES", c["RX_FRAMES"], sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REACK") + drops - upDrops},
		{"UP_DATA", c["UP_DATA"], sum("AGG", "TX_RESEND") + upDrops},
		{"AGG", c["AGG"], sum("BUFFERED", "TX_RESULT")},
		{"TX_RESULT", c["TX_RESULT"], c["WIPE"]},
	} {
		if e.left != e.right {
			return fmt.Errorf("counter identity of %s fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	low := sum("TX_FANOUT", "TX_RESEND", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK")
	if c["TX_FRAMES"] < low || c["TX_FRAMES"] > low+c["TX_RESULT"] {
		return fmt.Errorf("counter identity of TX_FRAMES fails: %d is not within %d to %d", c["TX_FRAMES"], low, low+c["TX_RESULT"])
	}
	return nil
}
