// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"slices"
	"strings"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// Missing returns an error if the reference sent frames that the idle engine did not.
func (b *Board) Missing() error { return b.guard(b.missing) }

func (b *Board) missing() {
	b.counts(false) // what rests is not held up
	switch sends := b.sends(); {
	case len(b.early) > 0:
		b.unexpected(b.early[0])
	case len(b.acts) > 0:
		differ("the engine decided a frame in cycle %d and has taken none", b.acts[0].At)
	case b.undecided() > 0:
		for e := range b.pending {
			if p := b.pending[e]; len(p) > 0 {
				differ("%d frames were taken and never decided, the first in cycle %d: %s", len(p), p[0].Last, describe(&p[0].Frame))
			}
		}
	case len(sends) > 0:
		differ("the engine rests, but docs/pipes.md section 3 requires the actions %v", sends)
	}
	for i := range b.ports {
		p := &b.ports[i]
		if p.empty() {
			continue
		}
		if b.drops { // PORT_TX_FULL says in the end whether they were
			p.clear()
			continue
		}
		var count [perEngine]int
		var first string
		for line := range p.owed {
			rest := p.rest(p.places[0], line)
			if len(rest) == 0 {
				continue
			}
			first += "\n" + b.kind(line) + ": " + describe(&rest[0])
			if b.passing(line) {
				count[passed] += len(rest)
			} else {
				count[made] += len(rest)
			}
		}
		differ("port %d: %d engine-made and %d bypassed frames never left; the first:%s", i, count[made], count[passed], first)
	}
}

// Finish settles, compares every counter with the reference's and checks the identities of docs/engine.md section 7, in Mode III of
// docs/pipes.md section 6, in Mode I of docs/termination.md section 8, and then the reference's invariants too. In Modes III and I groups
// with something outstanding are disabled first: time-outs would step counters while they are read. What it returns are the counters.
func (b *Board) Finish() (all map[string]uint64, err error) {
	err = b.guard(func() {
		b.settle()
		if b.pipes() {
			b.stop()
		}
		all = fail.Must(ctrl.New(b.DUT, b.man).Counters())
		b.counted(all)
		b.dropped()
		b.called()
		if err := ctrl.Identities(b.man.Params.Mode, all); err != nil {
			differ("%w", err)
		}
	})
	return all, err
}

// counted compares counters with the reference's. What it has no counter for must be 0.
func (b *Board) counted(all map[string]uint64) {
	var wrong []string
	expect, counters := map[string]uint64{}, b.ref.Engine().Counters()
	for c := range b.ref.Engine().Params().Counters() {
		expect[c.String()] = counters[c]
		if _, ok := all[c.String()]; !ok {
			wrong = append(wrong, "the manifest has no counter "+c.String())
		}
	}
	for name, v := range all {
		known := b.injected && strings.HasPrefix(name, "ECC_") // the scenario knows what it wrote
		if v != expect[name] && !known {
			wrong = append(wrong, fmt.Sprintf("%s is %d, expected %d", name, v, expect[name]))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		differ("counters: %s", strings.Join(wrong, "; "))
	}
}

// dropped compares what did not leave with what the ports' queues counted.
func (b *Board) dropped() {
	if !b.drops {
		return
	}
	for i := range b.ports {
		full := fail.Must(ctrl.New(b.DUT, b.man).Read("PORT_TX_FULL", i))
		if lost := b.ports[i].lost; uint64(full) != lost {
			differ("port %d: %d frames did not leave, and PORT_TX_FULL is %d", i, lost, full)
		}
	}
}

// PortDrops is how many frames the ports' queues have dropped, on the way in and out; zero where they never do.
func (b *Board) PortDrops() (n uint64, err error) {
	defer fail.Catch(&err, "")
	if !b.drops {
		return 0, nil
	}
	c := ctrl.New(b.DUT, b.man)
	for i := range b.ports {
		n += uint64(fail.Must(c.Read("PORT_RX_FULL", i))) + uint64(fail.Must(c.Read("PORT_TX_FULL", i)))
	}
	return n, nil
}

// called compares the causes of interrupts with the reference's.
func (b *Board) called() {
	if !b.man.Params.Interrupts || b.uncertain {
		return
	}
	for e := range b.man.Params.EngineCount() {
		v := fail.Must(ctrl.New(b.DUT, b.man).Read("IRQ_CAUSE", e))
		known := uint32(0)
		if b.injected { // the scenario knows what it wrote
			for _, c := range []inc.Cause{inc.CauseCorrected, inc.CauseDouble} {
				f, _ := b.man.Registers.Field("IRQ_CAUSE", c.String())
				known |= f.Mask()
			}
		}
		if want := b.ref.Causes(e); (v^want)&^known != 0 {
			differ("IRQ_CAUSE[%d] is %#x, expected %#x", e, v, want)
		}
	}
}

// stop checks the invariants and disables groups for which a timer runs.
func (b *Board) stop() {
	if err := b.ref.Engine().CheckInvariants(); err != nil {
		differ("%w", err)
	}
	if b.deadline() == dut.Never {
		return
	}
	control := ctrl.New(b, b.man)
	for g := range b.man.Params.AllGroups() {
		if b.ref.Engine().Enabled(g) {
			fail.On(control.Disable(g))
		}
	}
	b.settle()
}
