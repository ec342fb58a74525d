// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"reflect"
	"slices"

	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
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

// edit makes a case smaller, or leaves it as it is where there is nothing to take away.
type edit func(c *Case)

// round tries every kind of edit as long as it helps, and reports whether any did. Of each kind those that take away most come first.
func (s *shrinker) round() bool {
	helped := false
	for _, edits := range []func(*Case) []edit{fewerGroups, fewerResets, fewerCalls, s.smallerTree, fewerFaults, smallerData, s.plainer,
		plainerEvents} {
		for s.any(edits(&s.Case)...) {
			helped = true
		}
	}
	helped = s.toEvents() || helped
	return s.fewerEvents() || helped
}

// any keeps the first of the edits after which the case fails with the same kind.
func (s *shrinker) any(edits ...edit) bool {
	return slices.ContainsFunc(edits, func(change edit) bool {
		n := s.Case.clone()
		change(&n)
		n.Events = slices.DeleteFunc(n.Events, func(e fabric.Event) bool { return e.Link >= n.links() })
		return !reflect.DeepEqual(n, s.Case) && s.try(n)
	})
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

func fewerGroups(c *Case) (all []edit) {
	for i := range c.Groups {
		all = append(all, func(n *Case) {
			if len(n.Groups) == 1 {
				return
			}
			n.Groups = slices.Delete(n.Groups, i, i+1)
			n.Resets = slices.DeleteFunc(n.Resets, func(r Reset) bool { return r.Group == i })
			n.Parks = slices.DeleteFunc(n.Parks, func(p Park) bool { return p.Group == i })
			for j := range n.Parks {
				if n.Parks[j].Group > i {
					n.Parks[j].Group--
				}
			}
			for j := range n.Resets {
				if n.Resets[j].Group > i {
					n.Resets[j].Group--
				}
			}
		})
	}
	return all
}

func fewerResets(c *Case) (all []edit) {
	for i := range c.Resets {
		all = append(all, func(n *Case) { n.Resets = slices.Delete(n.Resets, i, i+1) })
	}
	for i := range c.Parks {
		all = append(all, func(n *Case) { n.Parks = slices.Delete(n.Parks, i, i+1) })
	}
	return all
}

func fewerCalls(c *Case) (all []edit) {
	for i := range c.Groups {
		calls := len(c.Groups[i].Calls)
		for size := calls / 2; size > 0; size /= 2 {
			for from := 0; from+size <= calls; from += size {
				all = append(all, func(n *Case) { n.Groups[i].Calls = slices.Delete(n.Groups[i].Calls, from, from+size) })
			}
		}
	}
	return all
}

// trees are the shapes to draw from and to shrink to, by number of ranks.
func trees() []topology.Tree {
	return []topology.Tree{{Levels: 2, Degree: 2}, {Levels: 2, Degree: 3}, {Levels: 2, Degree: 4}, {Levels: 3, Degree: 2}, {Levels: 2, Degree: 5},
		{Levels: 2, Degree: 8}, {Levels: 4, Degree: 2}, {Levels: 3, Degree: 3}, {Levels: 2, Degree: 16}, {Levels: 3, Degree: 4}}
}

// smallerTree also tries simpler engines. On a smaller tree random faults hit other frames, so several seeds are tried there.
func (s *shrinker) smallerTree(c *Case) (all []edit) {
	seeds := uint64(1)
	if c.Up.Random() || c.Down.Random() {
		seeds = 4
	}
	for _, t := range trees() {
		if t.Switches()*t.Ranks() >= c.Tree.Switches()*c.Tree.Ranks() {
			continue
		}
		for luck := range seeds {
			all = append(all, func(n *Case) {
				n.Seed += luck
				n.Tree = t
				for i := range n.Groups {
					for j := range n.Groups[i].Calls {
						n.Groups[i].Calls[j].Root %= t.Ranks()
					}
				}
				for i := range n.Resets {
					n.Resets[i].Rank = min(n.Resets[i].Rank, t.Ranks()-1)
				}
			})
		}
	}
	for _, e := range s.Engines {
		if e.is(c) {
			break
		}
		all = append(all, func(n *Case) { n.Config, n.Set = e.Config, e.Set })
	}
	return all
}

// plainerEvents makes losses of other faults.
func plainerEvents(c *Case) (all []edit) {
	for i := range c.Events {
		all = append(all, func(n *Case) {
			if e := &n.Events[i]; e.Kind != fabric.Lose {
				*e = fabric.Event{Link: e.Link, Down: e.Down, Frame: e.Frame, Kind: fabric.Lose}
			}
		})
	}
	return all
}

// fewerFaults takes a kind of fault away, from both directions or from one.
func fewerFaults(*Case) (all []edit) {
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
		all = append(all, func(n *Case) { clear(&n.Up); clear(&n.Down) }, func(n *Case) { clear(&n.Up) }, func(n *Case) { clear(&n.Down) })
	}
	return all
}

// smallerData makes calls shorter: one element, half, an eighth less.
func smallerData(c *Case) (all []edit) {
	for i := range c.Groups {
		for j := range c.Groups[i].Calls {
			b := c.Groups[i].Calls[j].Bytes
			for _, to := range []int{0, 4, b / 2, b - b/8} {
				all = append(all, func(n *Case) { n.Groups[i].Calls[j].Bytes = min(b, to/4*4) })
			}
		}
	}
	return all
}

// plainer removes special settings, one at a time.
func (s *shrinker) plainer(c *Case) []edit {
	all := []edit{
		func(n *Case) { n.Pauses = dut.Pauses{} },
		func(n *Case) { n.NoGapNAK = false },
		func(n *Case) { n.Pipes.NoRNR = false },
		func(n *Case) { n.Pipes.CNP = false },
		func(n *Case) {
			if n.Pipes.RNRTimer > 1 { // 0 is 1
				n.Pipes.RNRTimer = 0
			}
		},
		func(n *Case) { n.Pipes.TimeoutUS = min(n.Pipes.TimeoutUS, 0) },
		func(n *Case) { n.Latency = 40 },
	}
	if e, err := s.engine(c); err == nil {
		all = append(all, func(n *Case) { n.BytesPerCycle = float64(e.Manifest.Params.BusBytes) })
	}
	for i := range c.Groups {
		for _, change := range []func(*Group){
			func(g *Group) { g.Window = min(g.Window, 1) },
			func(g *Group) { g.Window = max(g.Window/2, min(g.Window, 1)) },
			func(g *Group) { g.Message = min(g.Message, 1) },
			func(g *Group) { g.Paced = false },
			func(g *Group) { g.Pipe = min(g.Pipe, 1) },
			func(g *Group) { g.Pipe = max(g.Pipe-1, min(g.Pipe, 1)) },
			func(g *Group) { g.PathMTU = 0 },
			func(g *Group) { g.BigEndian = false },
			func(g *Group) { g.RootLocal = false },
			func(g *Group) { g.Timeout = 0 },
			func(g *Group) { g.RangePackets = 0 },
			func(g *Group) { g.Start = new(roce.PSN) },
		} {
			all = append(all, func(n *Case) { change(&n.Groups[i]) })
		}
		for j := range c.Groups[i].Calls {
			all = append(all, func(n *Case) { n.Groups[i].Calls[j].Smooth = false }, func(n *Case) { n.Groups[i].Calls[j].Root = 0 })
		}
	}
	return all
}

// toEvents replaces probabilities by what hit in the failing run, and jitter, which is no event, by nothing if that will do.
func (s *shrinker) toEvents() bool {
	only := func(f fabric.Faults) fabric.Faults {
		return fabric.Faults{Jitter: f.Jitter, Only: fabric.Only{Jitter: f.Only.Jitter}}
	}
	up, down := only(s.Case.Up), only(s.Case.Down)
	if reflect.DeepEqual([]fabric.Faults{up, down}, []fabric.Faults{s.Case.Up, s.Case.Down}) {
		return false
	}
	named := func(n *Case) { n.Up, n.Down, n.Events = up, down, s.Outcome.Events }
	return s.any(func(n *Case) { named(n); n.Up, n.Down = fabric.Faults{}, fabric.Faults{} }, named)
}

// fewerEvents removes events, first many at a time, then one by one.
func (s *shrinker) fewerEvents() bool {
	helped := false
	for size := len(s.Case.Events); size > 0; size /= 2 {
		for from := 0; from < len(s.Case.Events); {
			to := min(from+size, len(s.Case.Events))
			if s.any(func(n *Case) { n.Events = slices.Delete(n.Events, from, to) }) {
				helped = true
			} else {
				from = to
			}
		}
	}
	return helped
}
