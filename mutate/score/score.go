// SPDX-License-Identifier: Apache-2.0

// Package score is what a campaign of mutants found, as incforge mutate leaves it in JSON: a verdict of each mutant, counted by block.
package score

import (
	"cmp"
	"slices"

	"incforge/mutate/mutant"
)

// Verdict is what became of a mutant.
type Verdict string

// The verdicts.
const (
	Killed     Verdict = "killed"
	Survived   Verdict = "survived"
	Equivalent Verdict = "equivalent" // proven to change nothing
	GivenUp    Verdict = "given up"   // lived until the cap, with scenarios left to try
)

// Result is what became of a mutant.
type Result struct {
	mutant.Mutant
	Verdict Verdict `json:"verdict"`
	// By is the scenario that killed it, Why what that said, or how it was proven to be equivalent.
	By  string `json:"by,omitempty"`
	Why string `json:"why,omitempty"`
	// Wedged: the scenario took much longer than without the mutant.
	Wedged bool `json:"wedged,omitempty"`
	// Reason says of one that lives why nothing can notice it, as somebody found by reading (reasons.yaml).
	Reason string `json:"reason,omitempty"`
	// Outlived are the scenarios that noticed nothing, in the order in which they were tried.
	Outlived []string `json:"outlived,omitempty"`
	// Tried is how many scenarios were run, Seconds the processor time they took.
	Tried   int     `json:"tried,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	// Replay is the command that tries it again.
	Replay string `json:"replay,omitempty"`
}

// Counts is how many had which verdict.
type Counts struct {
	Block      string `json:"block,omitempty"`
	Mutants    int    `json:"mutants"`
	Equivalent int    `json:"equivalent"`
	Killed     int    `json:"killed"`
	Survived   int    `json:"survived"`
	GivenUp    int    `json:"given_up"`
	// Explained are those of the last two for which there is a reason.
	Explained int `json:"explained"`
}

// Live is how many nothing killed that were not proven to change nothing.
func (s Counts) Live() int { return s.Survived + s.GivenUp }

// Matter is how many mutants are not proven to change nothing.
func (s Counts) Matter() int { return s.Mutants - s.Equivalent }

// Percent is how many of those that matter were killed.
func (s Counts) Percent() float64 { return 100 * float64(s.Killed) / float64(max(s.Matter(), 1)) }

// PercentExplained is the same without those for which there is a reason.
func (s Counts) PercentExplained() float64 {
	return 100 * float64(s.Killed) / float64(max(s.Matter()-s.Explained, 1))
}

func (s *Counts) add(m Result) {
	s.Mutants++
	if m.Reason != "" {
		s.Explained++
	}
	switch m.Verdict {
	case Killed:
		s.Killed++
	case Survived:
		s.Survived++
	case Equivalent:
		s.Equivalent++
	case GivenUp:
		s.GivenUp++
	}
}

// Kind is what a report says of itself.
const Kind = "mutate"

// Report is what a campaign found.
type Report struct {
	Kind   string `json:"kind"`
	Config string `json:"config"`
	Digest string `json:"digest"`
	Seed   uint64 `json:"seed"`
	// Possible is how many mutants the design has, of which some were drawn.
	Possible int `json:"possible"`
	// Cap is the processor time that one may take, Median what one took, in seconds.
	Cap    float64  `json:"cap_seconds"`
	Median float64  `json:"median_seconds"`
	Total  Counts   `json:"total"`
	Blocks []Counts `json:"blocks"`
	// Scenarios are the mutants that each killed.
	Scenarios map[string]int `json:"scenarios"`
	Mutants   []Result       `json:"mutants"`
}

// Finish sorts and counts.
func (r *Report) Finish() {
	slices.SortFunc(r.Mutants, func(a, b Result) int { return cmp.Compare(a.Number, b.Number) })
	r.Total, r.Blocks, r.Scenarios = Counts{}, nil, map[string]int{}
	at := map[string]int{}
	var seconds []float64
	for _, m := range r.Mutants {
		i, ok := at[m.Module]
		if !ok {
			i = len(r.Blocks)
			at[m.Module] = i
			r.Blocks = append(r.Blocks, Counts{Block: m.Module})
		}
		r.Blocks[i].add(m)
		r.Total.add(m)
		if m.By != "" {
			r.Scenarios[m.By]++
		}
		if m.Verdict != Equivalent {
			seconds = append(seconds, m.Seconds)
		}
	}
	slices.SortFunc(r.Blocks, func(a, b Counts) int { return cmp.Compare(a.Block, b.Block) })
	slices.Sort(seconds)
	if len(seconds) > 0 {
		r.Median = seconds[len(seconds)/2]
	}
}

// Living are the mutants that nothing killed, and that were not proven to change nothing; those with a reason come last.
func (r *Report) Living() []Result {
	living := slices.DeleteFunc(slices.Clone(r.Mutants), func(m Result) bool { return m.Verdict == Killed || m.Verdict == Equivalent })
	slices.SortStableFunc(living, func(a, b Result) int { return cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)) })
	return living
}
