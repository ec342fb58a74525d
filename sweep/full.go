// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"incforge/bench"
	"incforge/fpga"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/synth"
)

// Record is what the tools found about a point. It is kept in a file, so that a sweep can go on where it stopped.
type Record struct {
	Set    []string `json:"set"`
	Digest string   `json:"digest"`
	// Failed says why there is no more.
	Failed string         `json:"failed,omitempty"`
	Synth  *synth.Metrics `json:"synthesis,omitempty"`
	FPGA   *fpga.Metrics  `json:"resources,omitempty"`
	// Cycles are the benchmark's figures of latency, in cycles.
	Cycles map[string]float64 `json:"cycles,omitempty"`
}

// complete tells whether the record has what the sweep wants.
func (r *Record) complete(s *Spec) bool {
	return r.Failed == "" && r.Synth != nil && (s.Family == "" || r.FPGA != nil) && (!s.Latency || r.Cycles != nil)
}

// file is where a point's record is kept.
func (s *Spec) file(dir, digest string) string {
	of := []string{s.tech(), s.Corner}
	if s.Family != "" {
		of = append(of, string(s.Family))
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == os.PathSeparator {
			return '_'
		}
		return r
	}, strings.Join(slices.DeleteFunc(of, func(x string) bool { return x == "" }), "-"))
	return filepath.Join(dir, "points", fmt.Sprintf("%.16s-%s.json", digest, name))
}

func (s *Spec) tech() string {
	if s.Tech == "" {
		return synth.Generic28
	}
	return s.Tech
}

// records reads what is there of the points, by number.
func (s *Spec) records(dir string, points []Point) (map[int]*Record, error) {
	all := map[int]*Record{}
	for i := range points {
		if points[i].Why != "" {
			continue
		}
		text, err := os.ReadFile(s.file(dir, points[i].digest))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		r := &Record{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("sweep: %s: %w", s.file(dir, points[i].digest), err)
		}
		if r.Digest == points[i].digest && r.complete(s) {
			all[i] = r
		}
	}
	return all, nil
}

// task is the name of the work on points, which is given the numbers of those to run.
const task = "sweep"

// run runs the tools on the chosen points, and keeps each record as it comes.
func (s *Spec) run(ctx context.Context, dir string, points []Point, chosen []int, place jobs.Place, said *progress.Task, took func(int, *Record)) error {
	failed := 0
	return jobs.Run(ctx, place, jobs.Task[Record]{Name: task, Pieces: len(chosen), Given: chosen, Unit: "points", Progress: said,
		Run:   func(ctx context.Context, i int) (Record, error) { return s.measure(ctx, &points[chosen[i]]) },
		Label: func(i int) string { return s.name(&points[chosen[i]]) },
		Note: func() string {
			if failed == 0 {
				return ""
			}
			return fmt.Sprintf("%d failed", failed)
		},
		Done: func(i int, r Record) error {
			if took(chosen[i], &r); r.Failed != "" {
				failed++
				return nil
			}
			return save(s.file(dir, r.Digest), &r)
		}})
}

// name is a point by its values on the axes.
func (s *Spec) name(p *Point) string {
	var parts []string
	for a, v := range p.At {
		parts = append(parts, s.Axes[a].Values[v].Name)
	}
	return strings.Join(parts, " ")
}

// save writes a file that is whole or not there.
func save(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := os.WriteFile(file+".part", text, 0o644); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// measure runs the tools on a point. What they cannot do is the record's Failed.
func (s *Spec) measure(ctx context.Context, p *Point) (Record, error) {
	r := Record{Set: p.Set}
	err := s.tools(ctx, p, &r)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Failed = err.Error()
	}
	return r, nil
}

func (s *Spec) tools(ctx context.Context, p *Point, r *Record) error {
	all, err := params.Load(s.Base, p.Set...)
	if err != nil {
		return err
	}
	d, err := rtlgen.Generate(all)
	if err != nil {
		return err
	}
	r.Digest = d.Manifest.Digest
	dir, err := os.MkdirTemp("", "incforge-sweep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := d.Write(dir); err != nil {
		return err
	}
	if r.Synth, err = synth.Run(ctx, dir, synth.Options{Tech: s.Tech, Corner: s.Corner}); err != nil {
		return err
	}
	r.Synth.CriticalPath.Trace = "" // long, and not looked at
	if s.Family != "" {
		if r.FPGA, err = fpga.Run(ctx, dir, s.Family, fpga.Options{}); err != nil {
			return err
		}
	}
	if s.Latency {
		l, err := bench.Latency(ctx, bench.Options{ManifestDir: dir, Seed: 1})
		if err != nil {
			return err
		}
		r.Cycles = l.Metrics
	}
	return nil
}
