// SPDX-License-Identifier: Apache-2.0

package flips

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/verify/dut"
	"incforge/verify/dut/upset"
)

// Options say what to do.
type Options struct {
	Source dut.Source
	// Count is how many times bits are inverted, of each kind of memory (one bit, and two) all its memories together.
	Count int
	Seed  uint64
	// Kinds are those whose memories are tried, none if all are.
	Kinds []string
	// Progress, if not nil, is told after each piece of work.
	Progress func(text string)
}

// Result is what came of inverting one bit or two, in memories of one kind.
type Result struct {
	Kind     string `json:"kind"`
	Bits     int    `json:"bits"`
	Memories int    `json:"memories"`
	// Injected: bits were inverted; Seen: a counter of the kind said so before the word was written again or put back.
	Injected int `json:"injected"`
	Seen     int `json:"seen"`
	// Lost: a word was lost, and counted so.
	Lost int `json:"lost"`
	// Halts: the engine stopped, and went on after its groups were started again. Spoilt: frames left that no receiver takes.
	Halts  int `json:"halts"`
	Spoilt int `json:"spoilt"`
	// Missing: bypassed frames that did not leave. Messages: those that all hosts got, all of them right.
	Missing  int `json:"missing"`
	Messages int `json:"messages"`
	// Cycles of the model.
	Cycles uint64 `json:"cycles"`
	// Same: with one bit, the same stimulus without any bit inverted gave the same frames in the same cycles.
	Same bool `json:"same,omitempty"`
}

// campaign is a run.
type campaign struct {
	o       Options
	man     *contract.Manifest
	make    dut.Engines
	targets map[string][]upset.Target
}

// Run inverts bits in the memories of each kind. The first violation ends it.
func Run(ctx context.Context, o Options) ([]Result, error) {
	o.Source.Upsets = true
	man, engines, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	c := &campaign{o: o, man: man, make: engines, targets: map[string][]upset.Target{}}
	if !man.Params.ECCAll {
		return nil, errors.New("bits are inverted in memories with check bits: the design needs ecc: all")
	}
	top := contract.TopSwitch
	if o.Source.Kind == dut.KindCore {
		top = contract.TopCore
	}
	all, err := upset.Targets(man, top)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		block, _, _ := strings.Cut(strings.TrimPrefix(t.Path, "u_core."), ".")
		if t.Role != "payload" && block != "u_csr" {
			kind := contract.MemoryKindOf(block)
			c.targets[kind] = append(c.targets[kind], t)
		}
	}
	var out []Result
	for _, kind := range append(contract.MemoryKinds(), contract.PortMemories()) {
		if len(c.targets[kind.Name]) == 0 || len(o.Kinds) > 0 && !slices.Contains(o.Kinds, kind.Name) {
			continue
		}
		for bits := 1; bits <= 2; bits++ {
			r, err := c.kind(ctx, kind, bits)
			out = append(out, r)
			if err != nil {
				return out, fmt.Errorf("%d bits in %s, after %d: %w", bits, kind.Name, r.Injected, err)
			}
			if o.Progress != nil {
				o.Progress(r.String())
			}
		}
	}
	return out, nil
}

// String is a line of the table.
func (r Result) String() string {
	return fmt.Sprintf("%-8s %d bit: %6d in %2d memories, %6d seen, %6d lost, %5d halts, %5d frames spoilt, %4d bypassed frames lost, %6d messages right, %9d cycles",
		r.Kind, r.Bits, r.Injected, r.Memories, r.Seen, r.Lost, r.Halts, r.Spoilt, r.Missing, r.Messages, r.Cycles)
}

// kind inverts bits of one kind of memory. With one bit it does the same without any, too.
func (c *campaign) kind(ctx context.Context, kind contract.MemoryKind, bits int) (Result, error) {
	e, r, err := c.run(ctx, kind, bits, true)
	if err != nil || bits > 1 {
		return r, err
	}
	twin, _, err := c.run(ctx, kind, bits, false)
	if err != nil {
		return r, fmt.Errorf("without inverted bits: %w", err)
	}
	if r.Same = twin.left == e.left; !r.Same {
		return r, fmt.Errorf("%w: one wrong bit changed what left, or when", ErrWrong)
	}
	return r, nil
}

// stays is how many cycles pass before the counters are looked at, after how many an engine that lost a word is watched.
const (
	stays = 100
	after = 120
)

// looks is how often the counters are looked at before a word is put back. With one bit it is always as often, so that the engine without
// inverted bits has the same stimulus.
func (c *campaign) looks(r *Result) int {
	if r.Bits == 1 {
		return 1
	}
	return 6
}

// enough is from how many inverted bits on some must have been read.
const enough = 100

// run is one engine's life.
func (c *campaign) run(ctx context.Context, kind contract.MemoryKind, bits int, flip bool) (*engine, Result, error) {
	r := Result{Kind: kind.Name, Bits: bits, Memories: len(c.targets[kind.Name])}
	d, err := c.make(c.o.Seed, "")
	if err != nil {
		return nil, r, err
	}
	defer d.Close()
	model, ok := d.(*dut.RTL)
	if !ok {
		return nil, r, errors.New("bits are inverted in Verilog")
	}
	e := newEngine(model, c.man, c.o.Seed)
	if err := e.start(); err != nil {
		return e, r, err
	}
	targets := c.targets[kind.Name]
	for i := range c.o.Count {
		if err := ctx.Err(); err != nil {
			return e, r, err
		}
		if err := c.once(e, targets[i%len(targets)], kind, &r, flip); err != nil {
			return e, r, err
		}
	}
	err = e.end(&r)
	if err == nil && flip && c.o.Count >= enough && (r.Seen == 0 || bits > 1 && r.Lost == 0) {
		err = fmt.Errorf("%w: bits were inverted %d times, and the counters say that %d words were corrected or lost, and %d lost", ErrWrong, r.Injected, r.Seen, r.Lost)
	}
	r.Spoilt, r.Cycles = e.spoilt, e.Now()
	return e, r, err
}

// once inverts bits of a memory and sees what comes of it.
func (c *campaign) once(e *engine, t upset.Target, kind contract.MemoryKind, r *Result, flip bool) error {
	a := e.rand.IntN(t.Bits)
	b := (a + 1 + e.rand.IntN(max(t.Bits-1, 1))) % t.Bits
	command := upset.Command{Memory: t.ID, Word: e.rand.IntN(t.Words), A: a, B: b, Two: r.Bits == 2, Flip: flip, Next: e.rand.IntN(2) == 0}
	before, err := e.counts(kind)
	if err != nil {
		return err
	}
	calls, err := e.listen(kind, before)
	if err != nil {
		return err
	}
	if err := e.Upset(command); err != nil {
		return err
	}
	r.Injected++
	now := before
	for range c.looks(r) {
		if err := e.run(stays); err != nil {
			return fmt.Errorf("%s word %d bits %d, %d: %w", t.Path, command.Word, a, b, err)
		}
		if now, err = e.counts(kind); err != nil {
			return err
		}
		if r.Bits == 2 && now != before {
			break
		}
	}
	if err := calls.heard(e, now); err != nil {
		return fmt.Errorf("%s: %w", t.Path, err)
	}
	if now != before {
		r.Seen++
	}
	if r.Bits == 1 && (now.lost != before.lost || now.halted) {
		return fmt.Errorf("%w: one bit of %s, and a word is lost", ErrWrong, t.Path)
	}
	if now.lost == before.lost {
		return e.Upset(upset.Command{Memory: t.ID, Word: command.Word, Restore: flip})
	}
	r.Lost++
	if now.halted != kind.Halts {
		return fmt.Errorf("%w: a word of %s is lost, and ECC_STATUS.halted is %v", ErrWrong, t.Path, now.halted)
	}
	if err := e.run(after); err != nil {
		return fmt.Errorf("%s word %d bits %d, %d, lost: %w", t.Path, command.Word, a, b, err)
	}
	if kind.Halts || kind.Name == "packets" || r.Seen%64 == 0 {
		return e.again(r, kind.Halts)
	}
	return nil
}

// counts are what an engine says of a kind of memory.
type counts struct {
	corrected, lost uint32
	halted          bool
}

func (e *engine) counts(kind contract.MemoryKind) (c counts, err error) {
	each := 1
	if kind.Name == contract.PortMemories().Name {
		each = e.man.Params.Ports
	}
	for i := range each {
		corrected, err := e.ctl.Read(kind.CorrectedRegister(), i)
		if err != nil {
			return c, err
		}
		lost, err := e.ctl.Read(kind.LostRegister(), i)
		if err != nil {
			return c, err
		}
		c.corrected, c.lost = c.corrected+corrected, c.lost+lost
	}
	halted, err := e.ctl.Get("ECC_STATUS", 0, "halted")
	c.halted = halted != 0
	return c, err
}

// again stops all groups and starts them again, as the control plane would; nothing but that heals the engine.
func (e *engine) again(r *Result, halted bool) error {
	if err := e.tally(r); err != nil {
		return err
	}
	if halted { // it goes on only when nobody is enabled
		if err := e.ctl.Set("ECC_CLEAR", 0, "clear", 1); err != nil {
			return err
		}
		if on, err := e.ctl.Get("ECC_STATUS", 0, "halted"); err != nil || on == 0 {
			return errors.Join(err, fmt.Errorf("%w: ECC_CLEAR let an engine go on whose groups are enabled", ErrWrong))
		}
		r.Halts++
	}
	if err := e.silence(); err != nil {
		return err
	}
	if e.rand.IntN(2) == 0 { // else frames are inside when ECC_CLEAR is written
		if err := e.drained(); err != nil {
			return err
		}
	}
	if err := e.clear(); err != nil {
		return err
	}
	if err := e.drained(); err != nil {
		return err
	}
	r.Missing += e.missing
	e.missing = 0
	return e.start()
}

// idle is how many cycles without a frame an engine waits before it goes on.
const idle = 2048

// clear writes ECC_CLEAR and waits until the engine goes on, which it must not do before nothing can be inside.
func (e *engine) clear() error {
	e.cleared = true
	if err := e.ctl.Set("ECC_CLEAR", 0, "clear", 1); err != nil {
		return err
	}
	from := e.Now()
	for tries := 0; ; tries++ {
		status, err := e.ctl.Read("ECC_STATUS", 0)
		if err != nil {
			return err
		}
		if status == 0 {
			if waited := e.Now() - from; waited < idle {
				return fmt.Errorf("%w: ECC_STATUS is 0 %d cycles behind ECC_CLEAR", ErrWrong, waited)
			}
			return nil
		}
		if tries > 100 {
			return fmt.Errorf("%w: ECC_STATUS stays %#x", ErrWrong, status)
		}
		if err := e.quiet(256); err != nil {
			return err
		}
	}
}

// tally counts the messages that hosts got.
func (e *engine) tally(r *Result) error {
	if err := e.received(); err != nil {
		return err
	}
	for _, x := range e.groups {
		least := len(x.expected)
		for _, h := range x.hosts {
			least = min(least, len(h.Received()))
		}
		r.Messages += least
	}
	return nil
}

// end has every host get something more: with one bit at a time on the same connections, else after a last start.
func (e *engine) end(r *Result) error {
	if r.Bits > 1 {
		if err := e.again(r, false); err != nil {
			return err
		}
	}
	least := func() int {
		n := len(e.groups[0].expected)
		for _, x := range e.groups {
			for _, h := range x.hosts {
				n = min(n, len(h.Received()))
			}
		}
		return n
	}
	from := least()
	for range 40 {
		if err := e.run(timeout / 4); err != nil {
			return err
		}
		if least() >= from+8 {
			return e.tally(r)
		}
	}
	return fmt.Errorf("%w: hosts got %d more messages in %d cycles: the engine is stuck", ErrWrong, least()-from, 10*timeout)
}
