// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"slices"
	"strings"

	"incforge/internal/fail"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// Missing returns an error if the reference sent frames that the idle engine did not.
func (b *Board) Missing() error { return b.guard(b.missing) }

func (b *Board) missing() {
	switch sends := b.sends(); {
	case len(b.early) > 0:
		b.unexpected(b.early[0])
	case len(b.acts) > 0:
		differ("the engine decided a frame in cycle %d and has taken none", b.acts[0].At)
	case len(b.pending) > 0:
		differ("%d frames were taken and never decided, the first in cycle %d: %s", len(b.pending), b.pending[0].Last, describe(&b.pending[0]))
	case len(sends) > 0:
		differ("the engine rests, but docs/pipes.md section 3 requires the actions %v", sends)
	}
	for i := range b.ports {
		p := &b.ports[i]
		if p.empty() {
			continue
		}
		var count [lines]int
		var first string
		for line, kind := range kinds() {
			rest := p.rest(p.places[0], line)
			if count[line] = len(rest); len(rest) > 0 {
				first += "\n" + kind + ": " + describe(&rest[0])
			}
		}
		differ("port %d: %d engine-made and %d bypassed frames never left; the first:%s", i, count[made], count[passed], first)
	}
}

// Finish settles, compares every counter with the reference's and checks the identities of docs/engine.md section 7 or, in Mode III,
// docs/pipes.md section 6, and then the reference's invariants too. Groups of a Mode III engine with something outstanding are disabled
// first: time-outs would step counters while they are read. What it returns are the counters.
func (b *Board) Finish() (map[string]uint64, error) {
	all := map[string]uint64{}
	err := b.guard(func() {
		b.settle()
		if b.pipes() {
			b.stop()
		}
		for name, v := range fail.Must(ctrl.New(b.DUT, b.man).Counters()) {
			all[name] = uint64(v)
		}
		b.counted(all)
		check := identities
		if b.pipes() {
			check = pipeIdentities
		}
		if err := check(all); err != nil {
			differ("%w", err)
		}
	})
	return all, err
}

// counted compares counters with the reference's.
func (b *Board) counted(all map[string]uint64) {
	var wrong []string
	names := map[string]bool{}
	expect := b.ref.Engine().Counters()
	for c := range b.ref.Engine().Params().Counters() {
		name, want := c.String(), uint64(expect[c])
		names[name] = true
		switch v, ok := all[name]; {
		case b.injected && strings.HasPrefix(name, "ECC_"): // the scenario knows what it wrote
		case !ok:
			wrong = append(wrong, "the manifest has no counter "+name)
		case v != want:
			wrong = append(wrong, fmt.Sprintf("%s is %d, expected %d", name, v, want))
		}
	}
	for name, v := range all {
		if !names[name] {
			wrong = append(wrong, fmt.Sprintf("%s is %d, expected 0", name, v))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		differ("counters: %s", strings.Join(wrong, "; "))
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
	for g := range b.man.Params.Groups {
		if b.ref.Engine().Enabled(g) {
			fail.On(control.Disable(g))
		}
	}
	b.settle()
}

// counts are counters by the engine's own names.
type counts map[string]uint64

func (c counts) sum(names ...string) (s uint64) {
	for _, n := range names {
		s += c[n]
	}
	return s
}

// drops are all frames dropped, whatever the reason.
func (c counts) drops() (s uint64) {
	for name, v := range c {
		if strings.HasPrefix(name, "DROP_") {
			s += v
		}
	}
	return s
}

// identity is an equation of counters that holds for any run.
type identity struct {
	name        string
	left, right uint64
}

// holds returns an error for the first equation that does not hold.
func holds(all ...identity) error {
	for _, e := range all {
		if e.left != e.right {
			return fmt.Errorf("counter identity of %s fails: %d is not %d", e.name, e.left, e.right)
		}
	}
	return nil
}

// pipeIdentities checks the equations of docs/pipes.md section 6 that hold for any run.
func pipeIdentities(c counts) error {
	for _, name := range []string{"TX_RESEND", "TX_REFLECT", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK", "DROP_STALE", "DROP_WINDOW"} {
		if c[name] != 0 {
			return fmt.Errorf("counter %s is %d in Mode III, which does not have that", name, c[name])
		}
	}
	dataDrops := c.sum("DROP_GAP", "DROP_FULL", "DROP_SHAPE")
	frames := c.sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP")
	taken := c.sum("AGG", "DOWN_TAKEN", "RX_DUPLICATE")
	return holds(
		identity{"RX_FRAMES", c["RX_FRAMES"], frames + c.drops() - dataDrops},
		identity{"UP_DATA + DOWN_DATA", c.sum("UP_DATA", "DOWN_DATA"), taken + dataDrops},
		identity{"TX_ACK", c["TX_ACK"], taken},
		identity{"AGG", c["AGG"], c.sum("BUFFERED", "TX_RESULT")},
		identity{"TX_FRAMES", c["TX_FRAMES"], c.sum("TX_FANOUT", "TX_ACK", "TX_GAP_NAK", "TX_RNR", "TX_CNP")},
	)
}

// identities checks the equations of docs/engine.md section 7. TX_RESULT is part of TX_FRAMES only on a node with a parent, which a
// switch may be in one group and not in another: the sum lies between.
func identities(c counts) error {
	low := c.sum("TX_FANOUT", "TX_RESEND", "TX_REFLECT", "TX_GAP_NAK", "TX_CNP", "TX_ACK_COPY", "TX_ACK_UP", "TX_REACK")
	if c["TX_FRAMES"] < low || c["TX_FRAMES"] > low+c["TX_RESULT"] {
		return fmt.Errorf("counter identity of TX_FRAMES fails: %d is not within %d to %d", c["TX_FRAMES"], low, low+c["TX_RESULT"])
	}
	upDrops := c.sum("DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE")
	frames := c.sum("BYPASS", "UP_DATA", "DOWN_DATA", "RX_ACK", "RX_NAK", "RX_RNR", "RX_CNP", "TX_REACK")
	return holds(
		identity{"RX_FRAMES", c["RX_FRAMES"], frames + c.drops() - upDrops},
		identity{"UP_DATA", c["UP_DATA"], c.sum("AGG", "TX_RESEND") + upDrops},
		identity{"AGG", c["AGG"], c.sum("BUFFERED", "TX_RESULT")},
		identity{"TX_RESULT", c["TX_RESULT"], c["WIPE"]},
	)
}
