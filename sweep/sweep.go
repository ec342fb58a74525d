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
	var all []known
	for i := range points {
		if r := records[i]; r != nil && r.Failed == "" {
			all = append(all, known{&points[i], r})
		}
	}
	var e *estimator
	var errs map[string]front.Error
	if len(all) >= fewest && ctx.Err() == nil {
		var err error
		if e, err = learn(all, nand2); err != nil {
			return nil, err
		}
		if errs, err = errorsOf(ctx, all, nand2); err != nil {
			return nil, err
		}
	}
	for _, m := range front.Metrics() {
		if x, ok := errs[m.Key]; ok {
			out.Errors = append(out.Errors, x)
		}
	}
	for i := range points {
		p := s.point(&points[i], records[i], e, errs, nand2)
		if p.Why == tooFew && ctx.Err() != nil {
			p.Why = interrupted
		}
		out.Points = append(out.Points, p)
	}
	return out, out.Choose()
}

// point is a row of the table.
func (s *Spec) point(p *Point, r *Record, e *estimator, errs map[string]front.Error, nand2 float64) front.Point {
	f := front.Point{Set: p.Set, Why: p.Why, Digest: p.digest, AskedMHz: float64(p.params.ClockMHz), Values: map[string]front.Value{}}
	for a, v := range p.At {
		f.At = append(f.At, s.Axes[a].Values[v].Name)
	}
	switch {
	case f.Why != "":
	case r != nil && r.Failed != "":
		f.Why, _, _ = strings.Cut(r.Failed, "\n")
	case r != nil:
		f.Full = true
		k := known{p, r}
		for key, v := range k.figures(nand2) {
			f.Values[key] = front.Value{V: v, Low: v, High: v}
		}
	case e == nil:
		f.Why = tooFew
	default:
		all, ok := e.figures(p)
		if !ok {
			f.Why = "it has a block that no point has that was run in full"
			break
		}
		for key, v := range all {
			f.Values[key] = front.Value{V: v, Low: v * max(1-errs[key].RMS, 0), High: v * (1 + errs[key].RMS)}
		}
	}
	return f
}
