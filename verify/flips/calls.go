// SPDX-License-Identifier: Apache-2.0

package flips

import (
	"fmt"

	"incforge/contract"
)

// calls are the causes of interrupts of a kind of memory, since they were cleared: with one bit and with two they are looked at as often, so that the
// stimulus is the same.
type calls struct {
	kind contract.MemoryKind
	// page is the name before _CAUSE, "" without interrupts; corrected and lost are the causes.
	page, corrected, lost string
	// from is what the counters said no later than the causes were cleared, since what they said no sooner.
	from, since counts
}

// listen clears the causes of a kind of memory.
func (e *engine) listen(kind contract.MemoryKind, from counts) (calls, error) {
	c := calls{kind: kind, from: from, page: "IRQ", corrected: "ecc_corrected", lost: "ecc_double"}
	if kind.Name == contract.PortMemories().Name {
		c.page, c.lost = "PORT_IRQ", "ecc_lost"
	}
	if !e.man.Params.Interrupts {
		c.page = ""
		return c, nil
	}
	for _, cause := range []string{c.corrected, c.lost} {
		if err := e.ctl.Set(c.page+"_CLEAR", 0, cause, 1); err != nil {
			return c, err
		}
	}
	var err error
	c.since, err = e.counts(kind)
	return c, err
}

// heard looks at the causes: what was counted since they were cleared, up to now, set its own, and nothing else did.
func (c calls) heard(e *engine, now counts) error {
	if c.page == "" {
		return nil
	}
	corrected, err := e.ctl.Get(c.page+"_CAUSE", 0, c.corrected)
	if err != nil {
		return err
	}
	lost, err := e.ctl.Get(c.page+"_CAUSE", 0, c.lost)
	if err != nil {
		return err
	}
	after, err := e.counts(c.kind)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name                   string
		set                    bool
		from, since, now, last uint32
	}{
		{c.corrected, corrected != 0, c.from.corrected, c.since.corrected, now.corrected, after.corrected},
		{c.lost, lost != 0, c.from.lost, c.since.lost, now.lost, after.lost},
	} {
		if x.now != x.since && !x.set {
			return fmt.Errorf("%w: %d words more are counted, and %s_CAUSE.%s is not set", ErrWrong, x.now-x.since, c.page, x.name)
		}
		if x.set && x.last == x.from {
			return fmt.Errorf("%w: %s_CAUSE.%s is set, and nothing is counted", ErrWrong, c.page, x.name)
		}
	}
	return nil
}
