// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
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
	// Spill is the folder for what of the frontier does not fit into memory, SpillAfter the number of states that do (0 is 2^25).
	Spill      string
	SpillAfter int
	// Shortest searches again without Reduction when something is found, as far as that goes quickly, for a trace that is the shortest of all.
	Shortest bool
	// Progress, if not nil, is told of the search often, by several goroutines at once.
	Progress func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	Depth, Distinct int
	Transitions     int64
}

// Result is what a search found.
type Result struct {
	Config      model.Config `json:"config"`
	Symmetry    int          `json:"symmetry"` // automorphisms of the tree that were used
	Reduction   bool         `json:"reduction"`
	Complete    bool         `json:"complete"` // all states were seen
	Transitions int64        `json:"transitions"`
	Distinct    int          `json:"distinct"`
	Diameter    int          `json:"diameter"`  // steps to the farthest state
	Quiescent   int          `json:"quiescent"` // states in which nothing is on its way
	Done        int          `json:"done"`      // of those, ends
	Seconds     float64      `json:"seconds"`
	CPUSeconds  float64      `json:"cpu_seconds"`
	Workers     int          `json:"workers"`
	// Collision is the logarithm to base 2 of a bound on the probability that two states were taken for one.
	Collision int `json:"collision_log2"`
	// Components, EngineSteps and Packets are the sizes of the tables.
	Components  int `json:"components"`
	EngineSteps int `json:"engine_steps"`
	Packets     int `json:"packets"`
	// Violation is the shortest way to what is wrong, nil if nothing is.
	Violation *scenario.Trace `json:"violation,omitempty"`
}

// label says what a transition is.
type label struct {
	kind  uint8
	node  uint8 // that does something, or that gets a packet
	from  uint8 // endpoint of the node that the packet came to; for a host 0
	index uint8 // of the packet in the queue, of the action in the node's list
}

// Places of the budgets in the last word of a state.
const (
	lossAt    = 0
	dupAt     = 4
	reorderAt = 8
	earlyAt   = 12
	rnrAt     = 16
)

func left(budget uint32, at int) bool { return budget>>at&15 != 0 }

func trailing(set uint32) int { return bits.TrailingZeros32(set) }

// quiet tells whether nothing is on its way and no engine wants to send.
func (s *system) quiet(recs []*compRecord) bool {
	for _, r := range recs {
		if r.ups|r.downs != 0 || len(r.n.sends) != 0 {
			return false
		}
	}
	return true
}

// stubborn is a set of nodes whose steps are enough to look at in a state: see the package comment. It is all of them if the order of
// packets on a link may still change.
func (s *system) stubborn(recs []*compRecord, budget uint32) uint32 {
	all := uint32(1)<<len(recs) - 1
	if left(budget, reorderAt) {
		return all
	}
	for _, h := range s.topo.Hosts {
		if recs[h].downs > 0 {
			return 1 << h
		}
	}
	best, fewest := all, 1<<30
	for seed := range recs {
		if s.hosts[seed] != nil {
			continue
		}
		set, todo := uint32(1)<<seed, uint32(1)<<seed
		moves := 0
		for todo != 0 {
			n := trailing(todo)
			todo &= todo - 1
			r := recs[n]
			// A link into the set that is empty may be filled by the node at its other end, which therefore belongs to the set.
			need := uint32(0)
			if s.topo.Nodes[n].Parent >= 0 {
				if r.downs == 0 {
					need |= 1 << s.topo.Nodes[n].Parent
				} else {
					moves++
				}
			}
			for _, c := range s.topo.Nodes[n].Children {
				if recs[c].ups == 0 {
					need |= 1 << c
				} else {
					moves++
				}
			}
			moves += len(r.n.sends)
			todo |= need &^ set
			set |= need
		}
		if moves > 0 && moves < fewest {
			best, fewest = set, moves
		}
	}
	return best
}

// expand calls f for each transition of a state: next is the state it leads to, which holds until f returns; fault is what the
// transition breaks; free transitions cost nothing of a budget.
func (s *system) expand(state []uint32, reduce bool, next []uint32, f func(l label, next []uint32, fault uint32, free bool)) (quiet bool) {
	n := len(state) - 1
	budget := state[n]
	var memory [model.MaxNodes]*compRecord
	recs := memory[:n]
	for i, c := range state[:n] {
		recs[i] = s.comps.at(c)
	}
	if quiet = s.quiet(recs); quiet {
		for i := range recs {
			s.timeouts(state, recs, i, 0, next, f)
		}
		return true
	}
	set := uint32(1)<<n - 1
	if reduce {
		set = s.stubborn(recs, budget)
	}
	for i := range recs {
		if set>>i&1 == 0 {
			continue
		}
		if s.topo.Nodes[i].Parent >= 0 && recs[i].downs > 0 {
			s.deliver(state, recs, i, false, i, next, f)
		}
		for _, c := range s.topo.Nodes[i].Children {
			if recs[c].ups > 0 {
				s.deliver(state, recs, c, true, i, next, f)
			}
		}
		for a := range recs[i].n.sends {
			copy(next, state)
			o := s.apply(next, i, codeSend+uint8(a), 0)
			f(label{kind: scenario.MoveSend, node: uint8(i), index: uint8(a)}, next, o, true)
		}
		if left(budget, earlyAt) {
			s.timeouts(state, recs, i, 1<<earlyAt, next, f)
		}
	}
	return false
}

// timeouts are the time-outs and resumptions of a node.
func (s *system) timeouts(state []uint32, recs []*compRecord, i int, cost uint32, next []uint32, f func(label, []uint32, uint32, bool)) {
	kind := uint8(scenario.MoveTimeout)
	if cost != 0 {
		kind = scenario.MoveEarly
	}
	try := func(code uint8, index int) {
		copy(next, state)
		next[len(next)-1] -= cost
		o := s.apply(next, i, code, 0)
		f(label{kind: kind, node: uint8(i), index: uint8(index)}, next, o, cost == 0)
	}
	if s.hosts[i] != nil {
		if recs[i].n.host.Outstanding() {
			try(codeTimeout, 0)
		}
		return
	}
	for a := range recs[i].n.waits {
		try(codeAction+uint8(a), a)
	}
}

// deliver is all that may happen to the packets on the link between a node and its parent, upward or downward.
func (s *system) deliver(state []uint32, recs []*compRecord, link int, up bool, to int, next []uint32, f func(label, []uint32, uint32, bool)) {
	n := len(state) - 1
	budget := state[n]
	r := recs[link]
	l := label{kind: scenario.MoveDeliver, node: uint8(to)}
	code, head, length := uint8(codeDeliver), r.headDown, int(r.downs)
	switch {
	case up:
		code, head, length = uint8(s.topo.Nodes[link].Slot), r.headUp, int(r.ups)
	case s.hosts[to] == nil:
		code = uint8(len(s.topo.Nodes[to].Children))
	}
	if code < codeAction {
		l.from = code
	}
	pop := func() uint32 {
		if up {
			return s.popUp(state[link])
		}
		return s.popDown(state[link])
	}
	rest := pop()
	do := func(kind, code uint8, comp, packet, cost uint32, index int) {
		copy(next, state)
		next[link] = comp
		next[n] -= cost
		l.kind, l.index = kind, uint8(index)
		o := s.apply(next, to, code, packet)
		f(l, next, o, cost == 0)
	}
	do(scenario.MoveDeliver, code, rest, head, 0, 0)
	if left(budget, lossAt) {
		copy(next, state)
		next[link] = rest
		next[n] -= 1 << lossAt
		l.kind, l.index = scenario.MoveLose, 0
		f(l, next, 0, false)
	}
	if left(budget, dupAt) {
		do(scenario.MoveDuplicate, code, state[link], head, 1<<dupAt, 0)
	}
	if left(budget, reorderAt) {
		q := r.down
		if up {
			q = r.up
		}
		for i := 1; i < length; i++ {
			do(scenario.MoveDeliver, code, s.take(state[link], up, i), s.queues.at(q).packets[i], 1<<reorderAt, i)
		}
	}
	if code == codeDeliver && left(budget, rnrAt) {
		if s.step(rest, codeNotReady, head).comp != s.step(rest, codeDeliver, head).comp {
			do(scenario.MoveNotReady, codeNotReady, rest, head, 1<<rnrAt, 0)
		}
	}
}

// apply does a step of a node in place.
func (s *system) apply(next []uint32, node int, code uint8, packet uint32) (fault uint32) {
	o := s.step(next[node], code, packet)
	next[node] = o.comp
	for _, d := range o.down {
		next[d.node] = s.push(next[d.node], d.queue)
	}
	return o.fault
}

// finished tells whether a quiet state without transitions is what all should end in, and what is missing if not.
func (s *system) finished(state []uint32) (string, bool) {
	for i := range s.topo.Nodes {
		if r := s.comps.at(state[i]); !r.n.idle {
			if s.hosts[i] != nil {
				h := r.n.host
				return fmt.Sprintf("nothing is on its way, no timer runs, and %s has %d of %d packets acknowledged and got %d of %d",
					s.topo.Name(i), h.Base, s.hosts[i].Send, h.Expected, s.hosts[i].Receive), false
			}
			return fmt.Sprintf("nothing is on its way, no timer runs, and %s holds unfinished slots", s.topo.Name(i)), false
		}
	}
	return "", true
}

// search is one run.
type search struct {
	*system
	opt     Options
	seen    *visited
	workers int

	transitions atomic.Int64
	quiescent   atomic.Int64
	done        atomic.Int64
	distinct    atomic.Int64 // of those expanded from, for progress and limits
	level       atomic.Int64

	mu    sync.Mutex
	edges map[uint32][]uint32 // of quiescent states
	found []finding
	depth int
}

// finding is a violation: after the state with this number, or at it.
type finding struct {
	kind string
	text string
	at   uint32
	name hash128 // of the state it leads to, for a transition that breaks something
	step bool
}

// stride is the number of words of a state in a frontier: components, budgets, number.
func (s *search) stride() int { return len(s.start) + 1 }

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

// checkOnce is one search.
func checkOnce(ctx context.Context, c model.Config, opt Options) (*Result, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	sys, err := newSystem(c, opt.Symmetry)
	if err != nil {
		return nil, err
	}
	s := &search{system: sys, opt: opt, seen: newVisited(), workers: opt.Workers, edges: map[uint32][]uint32{}}
	if s.workers <= 0 {
		s.workers = runtime.GOMAXPROCS(0)
	}
	if s.opt.Every <= 0 {
		s.opt.Every = 5 * time.Minute
	}
	if s.opt.MaxStates <= 0 || s.opt.MaxStates > 1<<31 {
		s.opt.MaxStates = 1 << 31
	}
	begin, cpu := time.Now(), cpuTime()
	complete, stopped := s.explore(ctx)
	if stopped == nil && len(s.found) == 0 && complete {
		stopped = s.progressPossible(ctx)
	}
	if stopped != nil && ctx.Err() == nil {
		return nil, stopped
	}
	r := &Result{Config: c, Symmetry: len(s.perms), Reduction: opt.Reduction, Complete: complete && stopped == nil, Workers: s.workers}
	r.Transitions, r.Distinct, r.Diameter = s.transitions.Load(), s.seen.size(), s.depth
	r.Quiescent, r.Done = int(s.quiescent.Load()), int(s.done.Load())
	r.Collision = collision(r.Distinct)
	r.Components, r.EngineSteps, r.Packets = int(s.comps.n)-1, s.executed, int(s.packets.n)
	if len(s.found) > 0 {
		slices.SortFunc(s.found, func(a, b finding) int {
			na, nb := s.order(a), s.order(b)
			return cmp.Or(-strings.Compare(a.kind, b.kind), strings.Compare(a.text, b.text), cmp.Compare(na.hi, nb.hi), cmp.Compare(na.lo, nb.lo))
		})
		if r.Violation, err = s.trace(s.found[0]); err != nil {
			return nil, err
		}
	}
	r.Seconds, r.CPUSeconds = time.Since(begin).Seconds(), cpuTime()-cpu
	return r, stopped
}

// order is what findings of the same kind are sorted by: the same for any number of workers.
func (s *search) order(f finding) hash128 {
	if f.step {
		return f.name
	}
	return s.seen.at(f.at).name
}

// cpuTime is the processor time the process has taken, in seconds.
func cpuTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// errStopped means that a limit ended the search.
var errStopped = errors.New("a limit was reached")

// explore sees all states, level by level. It tells whether there are none left.
func (s *search) explore(ctx context.Context) (bool, error) {
	begin := time.Now()
	front := newFrontier(s.stride(), s.opt.Spill, s.opt.SpillAfter)
	defer func() { front.close() }()
	after := newFrontier(s.stride(), s.opt.Spill, s.opt.SpillAfter)
	defer func() { after.close() }()
	resumed := false
	if s.opt.Checkpoint != "" {
		var err error
		if resumed, err = s.resume(front, after); err != nil {
			return false, err
		}
	}
	if !resumed {
		rep := make([]uint32, len(s.start))
		id, _ := s.seen.insert(s.canonical(s.start, rep), nextNone)
		buffer := front.writer()
		if err := errors.Join(buffer.add(rep, id), buffer.flush()); err != nil {
			return false, err
		}
		s.seen.endLevel()
	}

	var deadline time.Time
	if s.opt.MaxTime > 0 {
		deadline = begin.Add(s.opt.MaxTime)
	}
	saved := begin
	for front.size()+after.size() > 0 {
		var pool errgroup.Group
		for range s.workers {
			pool.Go(func() error { return s.work(ctx, front, after, deadline) })
		}
		if err := pool.Wait(); err != nil {
			// Workers finish what they took, so what is left is a search at rest.
			stopped := errors.Is(err, errStopped) || ctx.Err() != nil
			if stopped && s.opt.Checkpoint != "" {
				if err := s.save(front, after); err != nil {
					return false, err
				}
			}
			if errors.Is(err, errStopped) {
				return false, nil
			}
			return false, err
		}
		if len(s.found) > 0 {
			return false, nil
		}
		front.close()
		front, after = after, newFrontier(s.stride(), s.opt.Spill, s.opt.SpillAfter)
		if front.size() > 0 {
			s.depth++
			s.level.Store(int64(s.depth))
			s.seen.endLevel()
		}
		if s.opt.Checkpoint != "" && time.Since(saved) > s.opt.Every {
			if err := s.save(front, after); err != nil {
				return false, err
			}
			saved = time.Now()
		}
	}
	return true, nil
}

// work expands chunks of the frontier until there are none.
func (s *search) work(ctx context.Context, front, after *frontier, deadline time.Time) error {
	next, rep := make([]uint32, len(s.start)), make([]uint32, len(s.start))
	out := after.writer()
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(fmt.Errorf("model checking: %w", err), out.flush())
		}
		if s.overLimit(deadline) {
			return errors.Join(errStopped, out.flush())
		}
		chunk, err := front.next()
		if err != nil {
			return err
		}
		if chunk == nil {
			return out.flush()
		}
		var moves, fresh int64
		for ; len(chunk) > 0; chunk = chunk[s.stride():] {
			state, id := chunk[:len(s.start)], chunk[len(s.start)]
			way := nextUnknown
			var edges []uint32
			var full error
			count := 0
			quiet := s.expand(state, s.opt.Reduction, next, func(_ label, next []uint32, fault uint32, free bool) {
				count++
				name := s.canonical(next, rep)
				if fault != 0 {
					s.find(finding{kind: scenario.KindFault, text: s.fault(fault), at: id, name: name, step: true})
					return
				}
				to, isNew := s.seen.insert(name, id)
				if isNew {
					fresh++
					if err := out.add(rep, to); err != nil {
						full = err
					}
				}
				if !free {
					return
				}
				if way == nextUnknown {
					way = to
				}
				edges = append(edges, to)
			})
			if full != nil {
				return full
			}
			moves += int64(count)
			if quiet {
				s.quiescent.Add(1)
				way = nextMany
				if count == 0 {
					way = nextDone
					if missing, ok := s.finished(state); !ok {
						way = nextNone
						s.find(finding{kind: scenario.KindDeadlock, text: missing, at: id})
					} else {
						s.done.Add(1)
					}
				} else {
					s.mu.Lock()
					s.edges[id] = edges
					s.mu.Unlock()
				}
			}
			s.seen.setNext(id, way)
		}
		s.transitions.Add(moves)
		s.distinct.Add(fresh)
		if s.opt.Progress != nil {
			s.opt.Progress(Progress{Depth: int(s.level.Load()), Distinct: int(s.distinct.Load()), Transitions: s.transitions.Load()})
		}
	}
}

// overLimit tells whether it is time to stop.
func (s *search) overLimit(deadline time.Time) bool {
	n := s.distinct.Load()
	return n >= int64(s.opt.MaxStates) || !deadline.IsZero() && time.Now().After(deadline) ||
		s.opt.MaxBytes > 0 && n*bytesPerState > s.opt.MaxBytes
}

// find notes a violation.
func (s *search) find(f finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, f)
}

// fault is the text of a fault.
func (s *search) fault(i uint32) string {
	s.system.mu.Lock()
	defer s.system.mu.Unlock()
	return s.faults[i-1]
}
