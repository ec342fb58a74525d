// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"incforge/internal/tool"
)

// maxPieces bounds the memory that keeps account of them.
const maxPieces = 100_000_000

// job is what the process that waits knows of a shard.
type job struct {
	missing int // results
	read    [attempts]int64
	state   string
	ended   time.Time // when Slurm first said that the job is over; zero while it may still do something
}

// watch is a run elsewhere, seen from here.
type watch[R any] struct {
	*runner[R]
	*run
	jobs     []job
	have     []bool // by piece
	attempt  int
	answered time.Time // when Slurm last did
}

// elsewhere runs the pieces on a cluster.
func (r *runner[R]) elsewhere(ctx context.Context, s *Slurm) error {
	if r.Pieces > maxPieces {
		return fmt.Errorf("jobs: %d pieces: at most %d are counted one by one", r.Pieces, maxPieces)
	}
	shards := s.Shards
	if shards <= 0 {
		shards = defaultShards
	}
	p := plan{Task: r.Name, Pieces: r.Pieces, Shards: min(shards, r.Pieces, maxShards)}
	if r.Given != nil {
		var err error
		if p.Given, err = json.Marshal(r.Given); err != nil {
			return fmt.Errorf("jobs: what %s is given: %w", r.Name, err)
		}
	}
	run, err := newRun(s, p)
	if err != nil {
		return err
	}
	w := &watch[R]{runner: r, run: run, jobs: make([]job, p.Shards), have: make([]bool, p.Pieces)}
	for piece := range p.Pieces {
		w.jobs[piece%p.Shards].missing++
	}
	err = w.all(ctx)
	if err != nil {
		w.cancel(ctx)
	}
	var dead *DeadError
	switch {
	case errors.As(err, &dead):
		return err // the logs are wanted
	case errors.Is(err, ErrStop):
		err = nil
	}
	if rerr := os.RemoveAll(run.dir); rerr != nil && r.complete(w.have) && s.Log != nil { // jobs that were cancelled may still write there
		s.Log.Warnf("the folder of the run stays: %v", rerr)
	}
	return err
}

func (r *runner[R]) complete(have []bool) bool { return r.done == len(have) }

// all makes the attempts.
func (w *watch[R]) all(ctx context.Context) error {
	for w.attempt = 1; ; w.attempt++ {
		var shards []int
		for i := range w.jobs {
			if w.jobs[i].missing > 0 {
				shards = append(shards, i)
				w.jobs[i].state, w.jobs[i].ended = "PENDING", time.Time{}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.submit(ctx, w.attempt, shards); err != nil {
			return err
		}
		w.answered = time.Now()
		over, err := w.wait(ctx)
		if err != nil || over {
			return err
		}
		dead := w.dead()
		if w.attempt == attempts {
			return dead
		}
		if w.Log != nil {
			d := dead.Dead[0]
			w.Log.Warnf("%d of %d jobs died and run again; job %d: %s, %s", len(dead.Dead), w.plan.Shards, d.Shard, d.State, d.said())
		}
	}
}

// wait reads results until all are there, which is over, or nobody is left to write more.
func (w *watch[R]) wait(ctx context.Context) (over bool, err error) {
	tick := time.NewTicker(w.Poll)
	defer tick.Stop()
	var asked time.Time
	for {
		if err := w.read(); err != nil {
			return false, err
		}
		if w.complete(w.have) {
			return true, nil
		}
		if time.Since(asked) >= w.Ask {
			if err := w.ask(ctx); err != nil {
				return false, err
			}
			asked = time.Now()
		}
		if !w.anybody() {
			return false, w.read() // the last words
		}
		select {
		case <-ctx.Done():
			return false, errors.Join(ctx.Err(), w.read()) // what is done counts
		case <-tick.C:
		}
	}
}

// read takes the results that are new.
func (w *watch[R]) read() error {
	for i := range w.jobs {
		j := &w.jobs[i]
		for a := range w.attempt { // a machine that was given up may still write
			if j.missing == 0 {
				break
			}
			lines, next, err := readLines(resultsFile(w.dir, i, a+1), j.read[a])
			if err != nil {
				return err
			}
			j.read[a] = next
			for _, l := range lines {
				if err := w.take(j, l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *watch[R]) take(j *job, l line) error {
	if l.Piece < 0 || l.Piece >= len(w.have) || w.have[l.Piece] {
		return nil
	}
	var result R
	if err := json.Unmarshal(l.Result, &result); err != nil {
		return fmt.Errorf("jobs: result %d: %w", l.Piece, err)
	}
	w.have[l.Piece] = true
	j.missing--
	return w.took(l.Piece, result)
}

// ask brings the jobs' states up to date.
func (w *watch[R]) ask(ctx context.Context) error {
	states, err := w.states(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(w.answered) > w.Silence {
			return fmt.Errorf("jobs: no answer from Slurm for %v: %w", w.Silence, err)
		}
		return nil
	}
	w.answered = time.Now()
	count := map[string]int{}
	for i := range w.jobs {
		j := &w.jobs[i]
		if j.missing == 0 {
			continue
		}
		if state, known := states[i]; known {
			j.state = state
		} else if alive(j.state) { // else it is some time since it ended, and how it did is what is of interest
			j.state = gone
		}
		if count[j.state]++; alive(j.state) {
			j.ended = time.Time{}
		} else if j.ended.IsZero() {
			j.ended = time.Now()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machine = fmt.Sprintf("%d jobs running, %d waiting", count["RUNNING"], count["PENDING"])
	w.tell()
	return nil
}

// anybody tells whether a job is left that may bring what is missing.
func (w *watch[R]) anybody() bool {
	for i := range w.jobs {
		if j := &w.jobs[i]; j.missing > 0 && (j.ended.IsZero() || time.Since(j.ended) < w.Grace) {
			return true
		}
	}
	return false
}

// dead lists the jobs that left results undone.
func (w *watch[R]) dead() *DeadError {
	e := &DeadError{Of: w.plan.Shards}
	for i := range w.jobs {
		if w.jobs[i].missing == 0 {
			continue
		}
		d := Dead{Shard: i, State: w.jobs[i].state, Log: logFile(w.dir, i, w.attempt)}
		for piece := i; piece < w.plan.Pieces; piece += w.plan.Shards {
			if !w.have[piece] {
				d.Pieces = append(d.Pieces, piece)
			}
		}
		if text, err := os.ReadFile(d.Log); err == nil {
			d.Tail = tool.Tail(text)
		}
		e.Dead = append(e.Dead, d)
	}
	return e
}
