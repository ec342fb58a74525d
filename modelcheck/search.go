// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"incforge/internal/fail"
	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
	"incforge/sim"
)

// Options say how to search; they change what it costs and, but for Reduction and Symmetry, no count.
type Options struct {
	// Symmetry takes states for one that differ only by exchanging hosts or switches.
	Symmetry bool
	// Reduction leaves out orders of independent steps (see the package comment).
	Reduction bool
	// Workers is the number of goroutines; 0 is GOMAXPROCS.
	Workers int
	// MaxStates ends the search, without a verdict, when so many states were seen; 0 is 2^31.
	MaxStates int
	// MaxBytes does so when the process would take more memory than that, by estimate; 0 is no limit.
	MaxBytes int64
	// MaxTime does so after so long; 0 is no limit.
	MaxTime time.Duration
	// Checkpoint is a file in which the search is kept at times, and from which it goes on if it is there; "" is none.
	Checkpoint string
	// Every is the time between two checkpoints; 0 is five minutes.
	Every time.Duration
	// SpillAfter is the number of the frontier's states that are kept in memory, the others in a temporary file; 0 is 2^25.
	SpillAfter int
	// Shortest searches again without Reduction when something is found, as far as that goes quickly, for a trace that is the shortest of all.
	Shortest bool
	// Notice has a search that passes followed by what Result.Notices says.
	Notice bool
	// Progress, if not nil, is told of the search often, by several goroutines at once.
	Progress func(Counts)
}

// Counts are how far a search is.
type Counts struct {
	Transitions int64 `json:"transitions"`
	Distinct    int   `json:"distinct"`
	Diameter    int   `json:"diameter"`  // steps to the farthest state
	Quiescent   int   `json:"quiescent"` // states in which nothing is on its way
	Done        int   `json:"done"`      // of those, ends
}

// Result is what a search found.
type Result struct {
	Config    model.Config `json:"config"`
	Symmetry  int          `json:"symmetry"` // automorphisms of the tree that were used
	Reduction bool         `json:"reduction"`
	Complete  bool         `json:"complete"` // all states were seen
	Counts
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Workers    int     `json:"workers"`
	// Collision is the logarithm to base 2 of a bound on the probability that two states were taken for one.
	Collision int `json:"collision_log2"`
	// Components, EngineSteps and Packets are the sizes of the tables.
	Components  int `json:"components"`
	EngineSteps int `json:"engine_steps"`
	Packets     int `json:"packets"`
	// Violation is the shortest way to what is wrong, nil if nothing is.
	Violation *scenario.Trace `json:"violation,omitempty"`
	// Notices says of a search that passed with the right rules which wrong ones it would have noticed, if that was asked for.
	Notices []Notice `json:"notices,omitempty"`
}

// search is one run.
type search struct {
	*system
	start []uint32 // the state that it begins in
	opt   Options
	seen  *visited

	mu     sync.Mutex
	counts Counts              // of the chunks of the frontier that are done with
	edges  map[uint32][]uint32 // of quiescent states
	found  []finding
}

// finding is a violation.
type finding struct {
	kind string
	text string
	at   uint32  // the state before the transition that breaks something; else the state that is wrong
	name hash128 // of the state that is wrong
}

// Check searches a model. It is an error if the model cannot be made or the search is interrupted; a property that does not hold is
// not. With the error of a context that ended comes the result as far as the search went.
func Check(ctx context.Context, c model.Config, opt Options) (*Result, error) {
	r, err := checkOnce(ctx, c, opt)
	if err != nil || r.Violation == nil || !opt.Shortest || !opt.Reduction {
		return r, err
	}
	const quickly = 1 << 20
	opt.Reduction, opt.Checkpoint, opt.MaxStates = false, "", quickly
	whole, err := checkOnce(ctx, c, opt)
	if err != nil {
		return r, err // the violation stands, if not by the shortest way
	}
	if whole.Violation != nil {
		r.Violation = whole.Violation
	}
	return r, nil
}

// newSearch makes a search at its start, with the options' defaults.
func newSearch(c model.Config, opt Options) (*search, error) {
	sys, err := newSystem(c, opt.Symmetry)
	if err != nil {
		return nil, err
	}
	opt.Workers = cmp.Or(opt.Workers, runtime.GOMAXPROCS(0))
	opt.Every = cmp.Or(opt.Every, 5*time.Minute)
	opt.SpillAfter = cmp.Or(opt.SpillAfter, 1<<25)
	opt.MaxStates = min(cmp.Or(opt.MaxStates, 1<<31), 1<<31)
	if opt.MaxBytes > 0 {
		opt.MaxStates = min(opt.MaxStates, int(opt.MaxBytes/bytesPerState)+1)
	}
	return &search{system: sys, start: sys.start, opt: opt, seen: newVisited(), edges: map[uint32][]uint32{}}, nil
}

// checkOnce is one search.
func checkOnce(ctx context.Context, c model.Config, opt Options) (*Result, error) {
	s, err := newSearch(c, opt)
	if err != nil {
		return nil, err
	}
	begin, cpu := time.Now(), sim.CPUTime()
	complete, stopped := s.explore(ctx)
	if stopped == nil && len(s.found) == 0 && complete {
		stopped = s.progressPossible(ctx)
	}
	if stopped != nil && ctx.Err() == nil {
		return nil, stopped
	}
	r := &Result{
		Config: s.Config, Symmetry: len(s.perms), Reduction: opt.Reduction, Complete: complete && stopped == nil, Workers: s.opt.Workers,
		Counts: s.counts, Collision: collision(s.seen.size()), Components: int(s.comps.n), EngineSteps: s.executed, Packets: int(s.packets.n),
	}
	r.Distinct = s.seen.size() // with the start
	if len(s.found) > 0 {
		// The order is the same for any number of workers.
		first := slices.MinFunc(s.found, func(a, b finding) int {
			return cmp.Or(-strings.Compare(a.kind, b.kind), strings.Compare(a.text, b.text), a.name.compare(b.name))
		})
		if r.Violation, err = s.trace(first); err != nil {
			return nil, err
		}
	}
	r.Seconds, r.CPUSeconds = time.Since(begin).Seconds(), (sim.CPUTime() - cpu).Seconds()
	if opt.Notice && r.Complete && r.Violation == nil && len(c.Bad) == 0 {
		r.Notices, stopped = s.notices(ctx)
	}
	return r, stopped
}

// errStopped means that a limit ended the search.
var errStopped = errors.New("a limit was reached")

// explore sees all states, level by level. It tells whether there are none left.
func (s *search) explore(ctx context.Context) (_ bool, err error) {
	defer fail.Catch(&err, "")
	limited := ctx
	if s.opt.MaxTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, s.opt.MaxTime, errStopped)
		defer cancel()
	}
	front, after := newFrontier(len(s.start)+1, s.opt.SpillAfter), newFrontier(len(s.start)+1, s.opt.SpillAfter)
	defer func() { front.close(); after.close() }()
	if !fail.Must(s.resume(front, after)) {
		rep := make([]uint32, len(s.start))
		id, _ := s.seen.insert(s.canonical(s.start, rep), nextNone)
		fail.On(front.put(append(rep, id)))
	}
	for saved := time.Now(); front.states+after.states > 0; {
		var pool errgroup.Group
		for range s.opt.Workers {
			pool.Go(func() error { return s.work(limited, front, after) })
		}
		err := pool.Wait()
		limit := errors.Is(err, errStopped)
		if (limit || ctx.Err() != nil) && len(s.found) == 0 {
			// Workers finish what they took, so what is left is a search at rest.
			fail.On(s.save(front, after))
		}
		if limit {
			return false, nil
		}
		if err != nil || len(s.found) > 0 {
			return false, err
		}
		front.close()
		front, after = after, newFrontier(len(s.start)+1, s.opt.SpillAfter)
		if front.states > 0 {
			s.counts.Diameter++
		}
		if time.Since(saved) > s.opt.Every {
			fail.On(s.save(front, after))
			saved = time.Now()
		}
	}
	return true, nil
}

// worker is one of those that expand.
type worker struct {
	*search
	after *frontier
	out   []uint32 // a chunk of it in the making
	fresh Counts   // not in the search's yet

	id    uint32 // of the state at hand
	count int    // of its transitions
	free  []uint32
	rep   []uint32 // scratch
	err   error
}

// work expands chunks of the frontier until there are none.
func (s *search) work(ctx context.Context, front, after *frontier) error {
	w := worker{search: s, after: after, out: after.chunk(), rep: make([]uint32, len(s.start))}
	states := s.expansion(s.opt.Reduction, w.reach)
	for {
		counts := s.add(&w.fresh)
		if s.opt.Progress != nil {
			s.opt.Progress(counts)
		}
		err := context.Cause(ctx)
		if err == nil && counts.Distinct >= s.opt.MaxStates {
			err = errStopped
		}
		if err != nil {
			return errors.Join(fmt.Errorf("model checking: %w", err), after.put(w.out))
		}
		chunk, err := front.take()
		if err != nil {
			return err
		}
		if chunk == nil {
			return after.put(w.out)
		}
		for at := range slices.Chunk(chunk, front.stride) {
			state := at[:len(s.start)]
			w.id, w.count, w.free = at[len(s.start)], 0, w.free[:0]
			w.leave(state, states.of(state))
		}
		if w.err != nil {
			return w.err
		}
	}
}

// add adds to the search's counts what is new and forgets it, and gives the sums.
func (s *search) add(fresh *Counts) Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Transitions += fresh.Transitions
	s.counts.Distinct += fresh.Distinct
	s.counts.Quiescent += fresh.Quiescent
	s.counts.Done += fresh.Done
	*fresh = Counts{}
	return s.counts
}

// reach is told of each transition of the state at hand.
func (w *worker) reach(_ label, next []uint32, fault error, free bool) {
	w.count++
	name := w.canonical(next, w.rep)
	if fault != nil {
		w.find(finding{scenario.KindFault, fault.Error(), w.id, name})
		return
	}
	to, isNew := w.seen.insert(name, w.id)
	if isNew {
		w.fresh.Distinct++
		if w.out = append(append(w.out, w.rep...), to); len(w.out) == cap(w.out) {
			w.err = errors.Join(w.err, w.after.put(w.out))
			w.out = w.after.chunk()
		}
	}
	if free {
		w.free = append(w.free, to)
	}
}

// leave notes in the set of states how it goes on from the state at hand, all of whose transitions were taken.
func (w *worker) leave(state []uint32, quiet bool) {
	w.fresh.Transitions += int64(w.count)
	way := nextUnknown
	switch {
	case !quiet && len(w.free) > 0:
		way = w.free[0]
	case !quiet:
	case w.count > 0:
		way = nextMany
		w.mu.Lock()
		w.edges[w.id] = slices.Clone(w.free)
		w.mu.Unlock()
	default:
		way = nextDone
		if missing, ok := w.finished(state); !ok {
			way = nextNone
			w.find(finding{scenario.KindDeadlock, missing, w.id, w.seen.at(w.id).name})
		}
	}
	if quiet {
		w.fresh.Quiescent++
	}
	if way == nextDone {
		w.fresh.Done++
	}
	w.seen.at(w.id).next = way
}

// find notes a violation.
func (s *search) find(f finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, f)
}
