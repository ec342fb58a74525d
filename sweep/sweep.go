// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"strings"

	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/sweep/front"
)

// Options say how to run a sweep.
type Options struct {
	// Dir keeps the records of points; what is there is not run again.
	Dir string
	// Full is how many points the tools shall have run on, −1 for all.
	Full int
	// Place is where they run.
	Place jobs.Place
	// Progress reports on a task; nil is nobody.
	Progress func(format string, args ...any) *progress.Task
}

// fewest is how many points must have been run in full for an estimate of the others to have an error bar.
const fewest = 3

// Why a point has no figures.
const (
	tooFew      = "not run in full, and fewer than 3 points were, which an estimate takes (--full)"
	interrupted = "not run in full, and nothing is estimated after an interruption: the same command goes on where it stopped"
)

// Run runs a sweep. If it is interrupted, or jobs on other machines died, the result is without their points, and the error says so; after an
// interruption nothing is estimated.
func Run(ctx context.Context, s Spec, o Options) (*front.Sweep, error) {
	points := s.Points()
	var chosen []int
	if mine, err := jobs.Asked(task, &chosen); err != nil {
		return nil, err
	} else if mine {
		return nil, s.run(ctx, o.Dir, points, chosen, o.Place, nil, nil)
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) *progress.Task { return nil }
	}
	said := o.Progress("sweep: designs")
	nand2, err := s.Understand(ctx, points, said)
	said.Stop()
	if err != nil {
		return nil, err
	}
	records, err := s.records(o.Dir, points)
	if err != nil {
		return nil, err
	}
	died := s.runChosen(ctx, points, records, o)
	var dead *jobs.DeadError
	if died != nil && !errors.As(died, &dead) && ctx.Err() == nil {
		return nil, died
	}
	result, err := s.result(ctx, points, records, nand2)
	if err != nil {
		return nil, errors.Join(died, err)
	}
	return result, died
}

// runChosen runs the points that are not known yet and shall be, and adds them to the records.
func (s *Spec) runChosen(ctx context.Context, points []Point, records map[int]*Record, o Options) error {
	had := map[int]bool{}
	for i := range records {
		had[i] = true
	}
	n := o.Full
	if n < 0 {
		n = len(points)
	}
	chosen := choose(points, n, had)
	if len(chosen) == 0 {
		return nil
	}
	said := o.Progress("sweep: points in full")
	defer said.Stop()
	return s.run(ctx, o.Dir, points, chosen, o.Place, said, func(i int, r *Record) { records[i] = r })
}

// result makes the table.
func (s *Spec) result(ctx context.Context, points []Point, records map[int]*Record, nand2 float64) (*front.Sweep, error) {
	out := &front.Sweep{Bench: front.Bench, Config: s.Base, Tech: s.tech(), Corner: s.Corner, Family: string(s.Family), Front: s.Front}
	for _, a := range s.Axes {
		x := front.Axis{Name: a.Name}
		for _, c := range a.Values {
			x.Values = append(x.Values, c.Name)
		}
		out.Axes = append(out.Axes, x)
	}
	e, guess, err := estimates(ctx, points, records, nand2)
	if err != nil {
		return nil, err
	}
	for i := range points {
		out.Points = append(out.Points, s.point(&points[i], records[i], e, guess[i], nand2))
		if p := &out.Points[i]; p.Why == tooFew && ctx.Err() != nil {
			p.Why = interrupted
		}
	}
	out.Judge()
	return out, out.Choose()
}

// estimates learns from the points that were run, and estimates each of them from the others. Both are nil if there are too few, or after an
// interruption.
func estimates(ctx context.Context, points []Point, records map[int]*Record, nand2 float64) (*estimator, map[int]map[string]float64, error) {
	var all []known
	var numbers []int
	for i := range points {
		if r := records[i]; r != nil && r.Failed == "" {
			all, numbers = append(all, known{&points[i], r}), append(numbers, i)
		}
	}
	if len(all) < fewest || ctx.Err() != nil {
		return nil, nil, nil
	}
	e, err := learn(all, nand2)
	if err != nil {
		return nil, nil, err
	}
	each, err := guesses(ctx, all, nand2)
	if err != nil {
		return nil, nil, err
	}
	guess := map[int]map[string]float64{}
	for i, g := range each {
		guess[numbers[i]] = g
	}
	return e, guess, nil
}

// point is a row of the table; guess is what the points that were run say of one of them if it is left out.
func (s *Spec) point(p *Point, r *Record, e *estimator, guess map[string]float64, nand2 float64) front.Point {
	f := front.Point{Set: p.Set, Why: p.Why, Digest: p.digest, AskedMHz: float64(p.params.ClockMHz), Values: map[string]front.Value{}}
	for a, v := range p.At {
		f.At = append(f.At, s.Axes[a].Values[v].Name)
	}
	var figures map[string]float64
	switch {
	case f.Why != "":
	case r != nil && r.Failed != "":
		f.Why, _, _ = strings.Cut(r.Failed, "\n")
	case r != nil:
		f.Full, f.FromOthers = true, guess
		figures = (&known{p, r}).figures(nand2)
	case e == nil:
		f.Why = tooFew
	default:
		var ok bool
		if figures, ok = e.figures(p); !ok {
			f.Why = "it has a block that no point has that was run in full"
		}
	}
	for key, v := range figures {
		f.Values[key] = front.Value{V: v, Low: v, High: v}
	}
	return f
}
