// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"incforge/internal/jobs"
	"incforge/internal/progress"
)

// Failure is a seed whose case failed.
type Failure struct {
	Seed    uint64 `json:"seed"`
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Case    Case   `json:"-"`
}

// Summary is what a campaign came to.
type Summary struct {
	// Cases that were run, and of these how many calls.
	Cases int `json:"cases"`
	Calls int `json:"calls"`
	// Packets counts the frames sent on links, Lost to Corrupted what the links did to them, Resent the NICs' retransmissions.
	Packets    uint64 `json:"packets"`
	Lost       uint64 `json:"lost"`
	Duplicated uint64 `json:"duplicated"`
	Reordered  uint64 `json:"reordered"`
	Corrupted  uint64 `json:"corrupted"`
	Resent     uint64 `json:"resent"`
	// Resets counts resets of groups, Restarted the calls that they aborted and that were then repeated.
	Resets int `json:"resets"`
	// Parks counts groups that were parked by all their switches, Refused the switches that would not.
	Parks     int `json:"parks,omitempty"`
	Refused   int `json:"parks_refused,omitempty"`
	Restarted int `json:"restarted"`
	// Cycles is the sum of all cases' times.
	Cycles   uint64    `json:"cycles"`
	Failures []Failure `json:"failures"`
	// Wall time, and the rates that follow from it. They are not in the document, which is the same wherever and whenever the cases ran.
	WallSeconds      float64 `json:"-"`
	CasesPerSecond   float64 `json:"-"`
	PacketsPerSecond float64 `json:"-"`
}

// judged is a case's outcome without the faults that hit, as it comes back from another machine.
type judged struct {
	Outcome
	Message string `json:",omitempty"`
}

func (s *Summary) add(seed uint64, o *judged) {
	s.Cases++
	s.Calls += o.Calls
	s.Packets += uint64(o.Links.Frames)
	s.Lost += uint64(o.Links.Lost)
	s.Duplicated += uint64(o.Links.Duplicated)
	s.Reordered += uint64(o.Links.Reordered)
	s.Corrupted += uint64(o.Links.Corrupted)
	s.Resent += o.Resent
	s.Resets += o.Resets
	s.Parks += o.Parks
	s.Refused += o.Refused
	s.Restarted += o.Restarted
	s.Cycles += o.Cycles
	if o.Kind != Passed {
		s.Failures = append(s.Failures, Failure{Seed: seed, Kind: o.Kind, Message: o.Message})
	}
}

func (s *Summary) time(since time.Time) {
	s.WallSeconds = time.Since(since).Seconds()
	s.CasesPerSecond = float64(s.Cases) / s.WallSeconds
	s.PacketsPerSecond = float64(s.Packets) / s.WallSeconds
}

// Campaign says which seeds to run and who is told of the results.
type Campaign struct {
	// From and To are the first seed and the last.
	From, To uint64
	// Place is where the cases run.
	Place jobs.Place
	// Progress, if not nil, is told how far the campaign is.
	Progress *progress.Task
	// Failed, if not nil, is called with each failure as it is found.
	Failed func(f Failure)
}

// Campaign runs the cases of all seeds. Failures are ordered by seed. An error means that it did not come to the end, or that there is an
// engine that no case can be drawn for.
func (r *Runner) Campaign(ctx context.Context, p Campaign) (Summary, error) {
	if err := r.Check(); err != nil {
		return Summary{}, err
	}
	if n := p.To - p.From; p.To < p.From || n >= math.MaxInt {
		return Summary{}, fmt.Errorf("seeds %d to %d: too many, or none", p.From, p.To)
	}
	var sum Summary
	start := time.Now()
	err := jobs.Run(ctx, p.Place, jobs.Task[judged]{Name: "chaos", Pieces: int(p.To-p.From) + 1, Progress: p.Progress, Unit: "cases",
		Run: func(ctx context.Context, i int) (judged, error) {
			o, err := r.Run(ctx, Draw(p.From+uint64(i), r.Engines, r.DUT))
			j := judged{Outcome: o}
			if j.Events = nil; o.Err != nil {
				j.Message = o.Err.Error()
			}
			return j, err
		},
		Done: func(i int, o judged) error {
			seed := p.From + uint64(i)
			if sum.add(seed, &o); o.Kind == Passed {
				return nil
			}
			f := &sum.Failures[len(sum.Failures)-1]
			if f.Case = Draw(seed, r.Engines, r.DUT); p.Failed != nil {
				p.Failed(*f)
			}
			return nil
		},
		Note: func() string {
			sum.time(start)
			return fmt.Sprintf("%d failed, %.0f packets/s", len(sum.Failures), sum.PacketsPerSecond)
		}})
	sum.time(start)
	slices.SortFunc(sum.Failures, func(a, b Failure) int { return cmp.Compare(a.Seed, b.Seed) })
	return sum, err
}
