// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"slices"

	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/verify/dut"
)

// Shrunk is what Shrink came to.
type Shrunk struct {
	Case    Case
	Outcome Outcome
	// Runs is how many cases were tried.
	Runs int
}

// Shrink reduces a case that fails, with the outcome of its run, to a smaller one that fails in the same way; it tries runs cases at most
// and returns the best so far when the context ends. A case that passed stays as it is. What the reference does wrong too is shrunk there,
// which is a hundred times as fast as RTL, and then tried on the engine itself.
func (r *Runner) Shrink(ctx context.Context, c Case, o Outcome, runs int) Shrunk {
	s := &shrinker{Runner: r, ctx: ctx, limit: runs, Shrunk: Shrunk{Case: c.clone(), Outcome: o}}
	if o.Kind == Passed {
		return s.Shrunk
	}
	if r.DUT != Reference {
		quick := *r
		quick.DUT, quick.Engines = Reference, nil
		for _, e := range r.Engines {
			e.Open = func(uint64) (dut.DUT, error) { return dut.NewReference(e.Manifest) }
			quick.Engines = append(quick.Engines, e)
		}
		if q, err := quick.Run(ctx, c); err == nil && q.Kind == o.Kind {
			small := quick.Shrink(ctx, c, q, runs-1)
			s.limit, s.Runs = s.limit+1, small.Runs+1
			if s.try(small.Case) {
				return s.Shrunk
			}
		}
	}
	for s.round() {
	}
	return s.Shrunk
}

type shrinker struct {
	*Runner
	ctx   context.Context
	limit int
	Shrunk
}

// step lists smaller cases, the smallest first.
type step func(c Case) []Case

// round tries every step as long as it helps, and reports whether any did.
func (s *shrinker) round() bool {
	helped := false
	for _, next := range []step{fewerGroups, fewerResets, fewerCalls, s.smallerTree, fewerFaults, smallerData, s.plainer, plainerEvents} {
		for s.any(next(s.Case)) {
			helped = true
		}
	}
	helped = s.toEvents() || helped
	return s.fewerEvents() || helped
}

// any keeps the first of the cases that fails with the same kind.
func (s *shrinker) any(cases []Case) bool {
	return slices.ContainsFunc(cases, s.try)
}

func (s *shrinker) try(c Case) bool {
	if s.Runs >= s.limit || s.ctx.Err() != nil {
		return false
	}
	s.Runs++
	o, err := s.Run(s.ctx, c)
	if err != nil || o.Kind != s.Outcome.Kind {
		return false
	}
	s.Case, s.Outcome = c.clone(), o
	return true
}

// variant is a changed copy, without the events on links that it no longer has.
func variant(c Case, change func(*Case)) Case {
	n := c.clone()
	change(&n)
	n.Events = slices.DeleteFunc(n.Events, func(e fabric.Event) bool { return e.Link >= n.links() })
	return n
}

func fewerGroups(c Case) []Case {
	var out []Case
	for i := range c.Groups {
		if len(c.Groups) == 1 {
			break
		}
		out = append(out, variant(c, func(n *Case) {
			n.Groups = slices.Delete(n.Groups, i, i+1)
			n.Resets = slices.DeleteFunc(n.Resets, func(r Reset) bool { return r.Group == i })
			for j := range n.Resets {
				if n.Resets[j].Group > i {
					n.Resets[j].Group--
				}
			}
		}))
	}
	return out
}

func fewerResets(c Case) []Case {
	var out []Case
	for i := range c.Resets {
		out = append(out, variant(c, func(n *Case) { n.Resets = slices.Delete(n.Resets, i, i+1) }))
	}
	return out
}

func fewerCalls(c Case) []Case {
	var out []Case
	for i := range c.Groups {
		calls := len(c.Groups[i].Calls)
		for size := calls / 2; size > 0; size /= 2 {
			for from := 0; from+size <= calls; from += size {
				out = append(out, variant(c, func(n *Case) { n.Groups[i].Calls = slices.Delete(n.Groups[i].Calls, from, from+size) }))
			}
		}
	}
	return out
}

// trees are the shapes to draw from and to shrink to, by number of ranks.
func trees() []topology.Tree {
	return []topology.Tree{{Levels: 2, Degree: 2}, {Levels: 2, Degree: 3}, {Levels: 2, Degree: 4}, {Levels: 3, Degree: 2}, {Levels: 2, Degree: 5},
		{Levels: 2, Degree: 8}, {Levels: 4, Degree: 2}, {Levels: 3, Degree: 3}, {Levels: 2, Degree: 16}, {Levels: 3, Degree: 4}}
}

// smallerTree also tries simpler engines.
func (s *shrinker) smallerTree(c Case) []Case {
	var out []Case
	for _, t := range trees() {
		if t.Switches()*t.Ranks() >= c.Tree().Switches()*c.Tree().Ranks() {
			continue
		}
		for luck := range seedsPerTree(&c) {
			out = append(out, variant(c, func(n *Case) {
				n.Seed += luck
				n.Levels, n.Degree = t.Levels, t.Degree
				for i := range n.Groups {
					for j := range n.Groups[i].Calls {
						n.Groups[i].Calls[j].Root %= t.Ranks()
					}
				}
				for i := range n.Resets {
					n.Resets[i].Rank = min(n.Resets[i].Rank, t.Ranks()-1)
				}
			}))
		}
	}
	for _, e := range s.Engines {
		if e.Config == c.Config && slices.Equal(e.Set, c.Set) {
			break
		}
		out = append(out, variant(c, func(n *Case) { n.Config, n.Set = e.Config, e.Set }))
	}
	return out
}

// seedsPerTree is how many seeds are tried on a smaller tree, where the random faults hit other frames.
func seedsPerTree(c *Case) uint64 {
	if c.Up.Random() || c.Down.Random() {
		return 4
	}
	return 1
}

// plainerEvents makes losses of other faults.
func plainerEvents(c Case) []Case {
	var out []Case
	for i := range c.Events {
		if c.Events[i].Kind != fabric.Lose {
			out = append(out, variant(c, func(n *Case) {
				e := &n.Events[i]
				*e = fabric.Event{Link: e.Link, Down: e.Down, Frame: e.Frame, Kind: fabric.Lose}
			}))
		}
	}
	return out
}

// fewerFaults takes a kind of fault away, from both directions or from one.
func fewerFaults(c Case) []Case {
	var out []Case
	for _, clear := range []func(*fabric.Faults){
		func(f *fabric.Faults) { *f = fabric.Faults{} },
		func(f *fabric.Faults) { f.Loss, f.Only.Loss = 0, 0 },
		func(f *fabric.Faults) { f.Burst, f.Only.Burst = fabric.Burst{}, 0 },
		func(f *fabric.Faults) { f.Duplicate, f.Only.Duplicate = 0, 0 },
		func(f *fabric.Faults) { f.Reorder, f.Only.Reorder = 0, 0 },
		func(f *fabric.Faults) { f.Corrupt, f.FlagErrors, f.Only.Corrupt = 0, 0, 0 },
		func(f *fabric.Faults) { f.Jitter, f.Only.Jitter = 0, 0 },
		func(f *fabric.Faults) {
			if f.Duplicate == 0 && f.Reorder == 0 {
				f.ReorderDelay = 0
			}
		},
	} {
		for _, dirs := range [][2]bool{{true, true}, {true, false}, {false, true}} {
			n := c.clone()
			if dirs[0] {
				clear(&n.Up)
			}
			if dirs[1] {
				clear(&n.Down)
			}
			if !sameFaults(&n.Up, &c.Up) || !sameFaults(&n.Down, &c.Down) {
				out = append(out, n)
			}
		}
	}
	return out
}

// sameFaults compares what can be compared; a case has no Drop.
func sameFaults(a, b *fabric.Faults) bool {
	x, y := *a, *b
	return x.Loss == y.Loss && x.Burst == y.Burst && x.Duplicate == y.Duplicate && x.Reorder == y.Reorder && x.Corrupt == y.Corrupt &&
		x.Jitter == y.Jitter && x.ReorderDelay == y.ReorderDelay && x.FlagErrors == y.FlagErrors && x.Only == y.Only
}

// smallerData makes calls shorter: one element, half, an eighth less.
func smallerData(c Case) []Case {
	var out []Case
	for i := range c.Groups {
		for j := range c.Groups[i].Calls {
			b := c.Groups[i].Calls[j].Bytes
			for _, to := range []int{0, 4, b / 2, b - b/8} {
				if to = to / 4 * 4; to < b {
					out = append(out, variant(c, func(n *Case) { n.Groups[i].Calls[j].Bytes = to }))
				}
			}
		}
	}
	return out
}

// plainer removes special settings, one at a time.
func (s *shrinker) plainer(c Case) []Case {
	var out []Case
	offer := func(special bool, change func(*Case)) {
		if special {
			out = append(out, variant(c, change))
		}
	}
	offer(c.Pauses != dut.Pauses{}, func(n *Case) { n.Pauses = dut.Pauses{} })
	offer(c.NoGapNAK, func(n *Case) { n.NoGapNAK = false })
	offer(c.Pipes.NoRNR, func(n *Case) { n.Pipes.NoRNR = false })
	offer(c.Pipes.CNP, func(n *Case) { n.Pipes.CNP = false })
	offer(c.Pipes.RNRTimer > 1, func(n *Case) { n.Pipes.RNRTimer = 0 })
	offer(c.Pipes.TimeoutUS > 0, func(n *Case) { n.Pipes.TimeoutUS = 0 })
	offer(c.Latency != 40, func(n *Case) { n.Latency = 40 })
	if e, err := s.engine(&c); err == nil {
		bus := float64(e.Manifest.Params.BusBytes)
		offer(c.BytesPerCycle != bus, func(n *Case) { n.BytesPerCycle = bus })
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		change := func(special bool, f func(*Group)) { offer(special, func(n *Case) { f(&n.Groups[i]) }) }
		change(g.Window > 1, func(g *Group) { g.Window = 1 })
		change(g.Window > 1, func(g *Group) { g.Window /= 2 })
		change(g.Message > 1, func(g *Group) { g.Message = 1 })
		change(g.Paced, func(g *Group) { g.Paced = false })
		change(g.Pipe > 1, func(g *Group) { g.Pipe = 1 })
		change(g.Pipe > 1, func(g *Group) { g.Pipe-- })
		change(g.PathMTU != 0, func(g *Group) { g.PathMTU = 0 })
		change(g.BigEndian, func(g *Group) { g.BigEndian = false })
		change(g.RootLocal, func(g *Group) { g.RootLocal = false })
		change(g.Timeout != 0, func(g *Group) { g.Timeout = 0 })
		change(g.RangePackets != 0, func(g *Group) { g.RangePackets = 0 })
		zero := uint32(0)
		change(g.Start == nil || *g.Start != 0, func(g *Group) { g.Start = &zero })
		for j := range g.Calls {
			change(g.Calls[j].Smooth, func(g *Group) { g.Calls[j].Smooth = false })
			change(g.Calls[j].Root != 0, func(g *Group) { g.Calls[j].Root = 0 })
		}
	}
	return out
}

// toEvents replaces probabilities by what hit in the failing run, and jitter, which is no event, by nothing if that will do.
func (s *shrinker) toEvents() bool {
	only := func(f fabric.Faults) fabric.Faults {
		return fabric.Faults{Jitter: f.Jitter, Only: fabric.Only{Jitter: f.Only.Jitter}}
	}
	named := variant(s.Case, func(n *Case) { n.Up, n.Down, n.Events = only(n.Up), only(n.Down), s.Outcome.Events })
	if sameFaults(&named.Up, &s.Case.Up) && sameFaults(&named.Down, &s.Case.Down) {
		return false
	}
	steady := variant(named, func(n *Case) { n.Up, n.Down = fabric.Faults{}, fabric.Faults{} })
	return s.any([]Case{steady, named})
}

// fewerEvents removes events, first many at a time, then one by one.
func (s *shrinker) fewerEvents() bool {
	helped := false
	for size := len(s.Case.Events); size > 0; size /= 2 {
		for from := 0; from < len(s.Case.Events); {
			to := min(from+size, len(s.Case.Events))
			if s.try(variant(s.Case, func(n *Case) { n.Events = slices.Delete(n.Events, from, to) })) {
				helped = true
				continue
			}
			from = to
		}
	}
	return helped
}
