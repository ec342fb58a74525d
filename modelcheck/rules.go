// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"incforge/modelcheck/model"
)

// Notice says whether a model that holds would have shown that a rule known to be wrong is wrong.
type Notice struct {
	Rule string `json:"rule"`
	// Kind is that of the violation which the rule leads to in the model, "" if none was found.
	Kind string `json:"kind,omitempty"`
	// Complete is set if all states were seen without one: then the model cannot notice the rule.
	Complete bool `json:"complete"`
}

// Bounds of the searches with wrong rules: twice as many states as there are with the right ones, where these are not too many, and else
// what takes seconds.
const (
	noticeStates = 1 << 18
	noticeWhole  = 1 << 22
)

// notices says of each rule known to be wrong whether a search that passed would have ended otherwise with it. Where no step of any engine
// would have been another, neither would the search. Otherwise the model is searched with the rule.
func (s *search) notices(ctx context.Context) ([]Notice, error) {
	opt := s.opt
	opt.Checkpoint, opt.Shortest, opt.Notice, opt.Progress = "", false, false, nil
	opt.MaxStates = noticeStates
	if n := s.seen.size(); n < noticeWhole {
		opt.MaxStates = max(opt.MaxStates, 2*n)
	}
	var all []Notice
	for _, rule := range model.RulesIn(s.Config.Mode) {
		if !s.Config.Shows(rule) {
			continue
		}
		c := s.Config
		c.Bad = []string{rule}
		differs, err := s.differs(c)
		if err != nil {
			return all, fmt.Errorf("rule %s: %w", rule, err)
		}
		n := Notice{Rule: rule, Complete: true}
		if differs {
			r, err := Check(ctx, c, opt)
			if err != nil {
				return all, fmt.Errorf("rule %s: %w", rule, err)
			}
			if n.Complete = r.Complete && r.Violation == nil; r.Violation != nil {
				n.Kind = r.Violation.Kind
			}
		}
		all = append(all, n)
	}
	return all, nil
}

// differs tells whether the engines of a configuration with other rules do anything else in any state that the search has seen. A rule of
// the hosts always may.
func (s *search) differs(c model.Config) (bool, error) {
	if slices.ContainsFunc(c.Bad, model.OfHosts) {
		return true, nil
	}
	engines := make([]*model.Engine, len(s.Engines))
	for n, e := range s.Engines {
		if e == nil {
			continue
		}
		var err error
		if engines[n], err = model.NewEngine(c, s.Topo, n); err != nil {
			return false, err
		}
		if string(engines[n].Initial()) != s.comps.at(s.start[n]).n.State {
			return true, nil
		}
	}
	for a := range s.engineSteps {
		n := s.nodes.at(a.of)
		right, err := s.run(a)
		if err != nil {
			return false, err
		}
		acts, idle, err := engines[n.At].Look([]byte(n.State))
		if err != nil || idle != n.idle || !slices.Equal(acts, n.acts) {
			return true, nil // one of them cannot even have the state, or does something else by itself
		}
		var wrong model.Stepped
		if a.code < codeAction {
			wrong, err = engines[n.At].Take([]byte(n.State), int(a.code), *s.packets.at(a.packet))
		} else {
			wrong, err = engines[n.At].Act([]byte(n.State), n.acts[a.code-codeAction])
		}
		if err != nil || wrong.Err != nil || !bytes.Equal(right.State, wrong.State) || !slices.EqualFunc(right.Outs, wrong.Outs, slices.Equal) {
			return true, nil
		}
	}
	return false, nil
}

// Bounds of the models that Smallest tries: what shows a rule is small, and all models up to here are searched in seconds.
const (
	smallRequests = 5
	smallWindow   = 3
	largestSize   = 14
	smallStates   = 1 << 16
)

// smallTrees are the trees of few nodes.
func smallTrees() []string { return []string{"star-2", "chain-1", "star-3"} }

// sizeOf is the measure by which a model is small: nodes, packets of a sender, the window, a pipe's slots, and faults of the network.
func sizeOf(c model.Config) int {
	nodes := map[string]int{"star-2": 3, "chain-1": 4, "star-3": 4, "chain-2": 6}[c.Tree]
	return nodes + c.Requests + c.Window + c.Slots + faults(c) + len(c.Ranges)
}

// faults is how often the network may misbehave in a run.
func faults(c model.Config) int { return c.Loss + c.Dup + c.Reorder + c.Early + c.RNR + c.Park }

// smallModels are the models of a mode, the smallest first; of one size those with fewer faults.
func smallModels(mode int) []model.Config {
	var all []model.Config
	for c := range faultless(mode) {
		for _, budget := range budgets() {
			c.Loss, c.Reorder, c.Dup, c.Early, c.RNR = budget[0], budget[1], budget[2], budget[3], budget[4]
			if sizeOf(c) <= largestSize {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b model.Config) int {
		return cmp.Or(sizeOf(a)-sizeOf(b), faults(a)-faults(b))
	})
	return all
}

// parked are the models with switches that are parked once, where they may be.
func parked(all []model.Config) []model.Config {
	all = slices.DeleteFunc(all, func(c model.Config) bool { return c.Mode == 2 && !strings.HasPrefix(c.Tree, "star-") })
	for i := range all {
		all[i].Park = 1
	}
	return all
}

// rangedModels are the models of in-band groups of a mode, the smallest first: two ranges, or three, of every kind. What goes wrong between
// ranges takes losses and missing receives at most, and in Mode II a switch below another with several hosts.
func rangedModels(mode int) (all []model.Config) {
	for _, tree := range []string{"star-2", "chain-1", "star-3", "chain-2"} {
		for _, ranges := range sequences() {
			for _, budget := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
				for window := 1; window <= 2; window++ {
					c := model.Config{Mode: mode, Ranges: ranges, Tree: tree, Requests: 1, Window: window, Loss: budget[0], RNR: budget[1]}
					for c.Slots = range pipes(mode, window) {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// sequences are two or three collectives, one after the other, with the first two hosts as roots.
func sequences() (all [][]model.Range) {
	one := []model.Range{{Collective: model.AllReduce}}
	for root := range 2 {
		one = append(one, model.Range{Collective: model.Reduce, Root: root}, model.Range{Collective: model.Broadcast, Root: root})
	}
	for _, a := range one {
		for _, b := range one {
			all = append(all, []model.Range{a, b})
			for _, c := range one {
				all = append(all, []model.Range{a, b, c})
			}
		}
	}
	return all
}

// faultless are the models of a mode on links that lose nothing.
func faultless(mode int) iter.Seq[model.Config] {
	return func(yield func(model.Config) bool) {
		for _, tree := range smallTrees() {
			for _, collective := range []model.Collective{model.AllReduce, model.Reduce, model.Broadcast} {
				for requests := 1; requests <= smallRequests; requests++ {
					for window := 1; window <= min(requests, smallWindow); window++ {
						for slots := range pipes(mode, window) {
							c := model.Config{Mode: mode, Collective: collective, Tree: tree, Requests: requests, Window: window, Slots: slots}
							if !yield(c) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// pipes are the numbers of slots to try with a window: in Modes III and I from one to the window, in Mode II the default.
func pipes(mode, window int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if mode == 2 {
			yield(0)
			return
		}
		for slots := 1; slots <= window && yield(slots); slots++ {
		}
	}
}

// budgets are the ways to have no more than two faults: losses, overtakings, duplicates, early time-outs, missing receives.
func budgets() [][5]int {
	all := [][5]int{{}}
	for i := range 5 {
		one := [5]int{}
		one[i] = 1
		all = append(all, one)
		for j := range i + 1 {
			two := one
			two[j]++
			all = append(all, two)
		}
	}
	return all
}

// Shown is the smallest model in which rules known to be wrong show.
type Shown struct {
	// Result is nil if no model shows them.
	*Result
	// Tried is the number of models up to it, itself among them.
	Tried int `json:"tried"`
	// Undecided counts those of them whose search stopped at a limit: such a model may show the rules too.
	Undecided int `json:"undecided"`
	// Right is the search of the same model with the right rules, which passes.
	Right *Result `json:"right,omitempty"`
}

// ErrNotShown means that no small model shows a rule, of those that were searched to their ends.
var ErrNotShown = errors.New("no small model shows it")

// Smallest searches models of a mode (0: any), the smallest first, until one breaks a property with the rules known to be wrong and holds
// with the right ones. Of the options' limits only MaxStates counts, of each search; 0 is 65,536. With ErrNotShown comes how many models were tried.
func Smallest(ctx context.Context, mode int, rules []string, opt Options) (*Shown, error) {
	opt.Checkpoint, opt.MaxStates, opt.Workers = "", cmp.Or(opt.MaxStates, smallStates), 1 // models so small have nothing for two
	opt.MaxBytes, opt.MaxTime = 0, 0
	var all []model.Config
	for _, m := range []int{2, 3, 1} {
		here := model.RulesIn(m)
		if (mode == 0 || mode == m) && !slices.ContainsFunc(rules, func(rule string) bool { return !slices.Contains(here, rule) }) {
			if slices.ContainsFunc(rules, model.Ranged) {
				all = append(all, rangedModels(m)...)
			} else {
				all = append(all, smallModels(m)...)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("rules %s are not of one mode: %w", strings.Join(rules, ", "), model.ErrConfig)
	}
	if slices.ContainsFunc(rules, model.Parks) {
		all = parked(all)
	}
	slices.SortStableFunc(all, func(a, b model.Config) int { return sizeOf(a) - sizeOf(b) })
	shown := &Shown{}
	for _, c := range all {
		right := c
		c.Bad = rules
		r, err := Check(ctx, c, opt)
		if err != nil {
			return nil, err
		}
		shown.Tried++
		if r.Violation == nil {
			if !r.Complete {
				shown.Undecided++
			}
			continue
		}
		held, err := Check(ctx, right, opt)
		switch {
		case err != nil:
			return nil, err
		case held.Violation == nil && held.Complete:
			shown.Result, shown.Right = r, held
			return shown, nil
		case held.Violation == nil:
			shown.Undecided++
		}
	}
	return shown, fmt.Errorf("rule %s, %d models%s: %w", strings.Join(rules, ", "), shown.Tried, shown.Doubt(), ErrNotShown)
}

// Doubt says how many searches had no verdict; "" if all had.
func (s *Shown) Doubt() string {
	if s.Undecided == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them without a verdict: their searches stopped at a limit)", s.Undecided)
}
