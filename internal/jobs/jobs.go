// SPDX-License-Identifier: Apache-2.0

// Package jobs runs independent pieces of work: in this process, some at a time, or as an array of Slurm jobs on other machines. The result of
// the whole does not depend on where it ran, as long as that of each piece depends on its number alone.
//
// On Slurm the jobs of the array, the shards, run the command line of this process again. Place.Run finds out by the environment that its
// process is a shard: it then runs the shard's pieces alone, appends each result to a file, and returns ErrServed. The process that the user
// started reads these files while they grow. The folder with them must be on a file system that all machines share. Where a command has several
// tasks, a shard of a later one first runs all that comes before, here.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"incforge/internal/progress"
)

// Errors of Run, and of Task.Done.
var (
	// ErrServed is no failure: this process is a shard, and has done its part. The command must end without another word.
	ErrServed = errors.New("this process was one job of a run elsewhere, and is done")
	// ErrStop is returned by Done to say that the rest is of no interest. Run then returns nil.
	ErrStop = errors.New("the rest is not wanted")
)

// Task is a number of independent pieces of work.
type Task[R any] struct {
	// Name is that of the whole, a word.
	Name   string
	Pieces int
	// Given is what the pieces depend on and the command line does not say; nil is nothing. It goes to other machines as JSON, see Asked.
	Given any
	// Run does a piece. It is called from several goroutines at once. R is carried from machine to machine as JSON. An error means that the piece
	// could not be done, and ends the run; what the piece found out belongs into R.
	Run func(ctx context.Context, piece int) (R, error)
	// Done is told each result, in any order, by one goroutine at a time.
	Done func(piece int, result R) error

	// Progress is told how many pieces are done, and what Unit they are; nil is none. Label names a piece that runs here, Note says more about the
	// results so far, from under the same lock as Done; either may be nil.
	Progress *progress.Task
	Unit     string
	Label    func(piece int) string
	Note     func() string
}

// Place is where pieces run.
type Place struct {
	// Jobs is how many pieces run at once in one process; 0 means one.
	Jobs int
	// Slurm, if not nil, spreads the pieces over its machines.
	Slurm *Slurm
}

// Run does all pieces. It returns the error of ctx if that ended it, the first error of Run or Done, a *DeadError if jobs died, or ErrServed.
// Done has been told of everything that was done by then.
func Run[R any](ctx context.Context, p Place, t Task[R]) error {
	r := &runner[R]{Task: t, jobs: max(p.Jobs, 1)}
	if s, is, err := ownShard(os.Getenv); err != nil {
		return err
	} else if is {
		r.jobs = max(s.cpus, 1)
		asked, err := s.plan()
		if err != nil {
			return err
		}
		if asked.Task == t.Name {
			return r.serve(ctx, s, asked)
		}
	} else if p.Slurm != nil && t.Pieces > 0 {
		return r.elsewhere(ctx, p.Slurm)
	}
	return r.here(ctx, func(int) bool { return true }, r.took)
}

// runner is a task under way.
type runner[R any] struct {
	Task[R]
	jobs int

	mu      sync.Mutex
	running []string
	done    int
	machine string // what Slurm says of its jobs
	over    bool
}

// here runs those pieces in this process that wanted names, and hands each result to took.
func (r *runner[R]) here(ctx context.Context, wanted func(piece int) bool, took func(piece int, result R) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pool errgroup.Group
	pool.SetLimit(r.jobs)
	for piece := range r.Pieces {
		if !wanted(piece) {
			continue
		}
		if ctx.Err() != nil || r.isOver() {
			break
		}
		pool.Go(func() error {
			if ctx.Err() != nil || r.isOver() {
				return nil
			}
			r.begins(piece, 1)
			result, err := r.Run(ctx, piece)
			r.begins(piece, -1)
			if err == nil {
				err = took(piece, result)
			}
			if err != nil && !errors.Is(err, ErrStop) {
				cancel(err) // the others' results will not be needed
			}
			return err
		})
	}
	err := pool.Wait()
	switch {
	case err == nil || errors.Is(err, ErrStop):
		return context.Cause(ctx)
	case context.Cause(ctx) != nil:
		return context.Cause(ctx) // what came first, not what came of it
	}
	return err
}

func (r *runner[R]) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// begins notes that a piece begins, or with −1 that it has ended.
func (r *runner[R]) begins(piece, by int) {
	if r.Label == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := r.Label(piece); by > 0 {
		r.running = append(r.running, name)
		r.tell()
	} else if i := slices.Index(r.running, name); i >= 0 {
		r.running = slices.Delete(r.running, i, i+1)
	}
}

// took hands a result on.
func (r *runner[R]) took(piece int, result R) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	var err error
	if r.Done != nil {
		if err = r.Done(piece, result); err != nil {
			r.over = true
		}
	}
	r.tell()
	return err
}

// tell reports how far the run is; r is locked.
func (r *runner[R]) tell() {
	var notes []string
	if r.Note != nil {
		if note := r.Note(); note != "" {
			notes = append(notes, note)
		}
	}
	if r.machine != "" {
		notes = append(notes, r.machine)
	}
	if len(r.running) > 0 {
		notes = append(notes, "running "+strings.Join(r.running, ", "))
	}
	r.Progress.Set(uint64(r.done), uint64(r.Pieces), r.Unit, strings.Join(notes, ", "))
}

// DeadError says which jobs died, twice each.
type DeadError struct {
	Of   int // jobs there were
	Dead []Dead
}

// Dead is a job that died.
type Dead struct {
	Shard  int
	Pieces []int  // that it has not done
	State  string // Slurm's last word
	Log    string // file with what it said
	Tail   string // the end of it
}

func (d *Dead) said() string {
	if d.Tail == "" {
		return "it said nothing"
	}
	return "it said:\n" + d.Tail
}

// most is how many of the dead jobs an error quotes.
const most = 3

func (e *DeadError) Error() string {
	var b strings.Builder
	missing := 0
	for _, d := range e.Dead {
		missing += len(d.Pieces)
	}
	fmt.Fprintf(&b, "%d of %d jobs died, each of them twice; %d results are missing", len(e.Dead), e.Of, missing)
	for i, d := range e.Dead {
		if i == most {
			fmt.Fprintf(&b, "\nand %d more", len(e.Dead)-most)
			break
		}
		fmt.Fprintf(&b, "\njob %d: %s, log %s: %s", d.Shard, d.State, d.Log, d.said())
	}
	return b.String()
}
