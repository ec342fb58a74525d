// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// Kinds of engines that cases run on.
const (
	Reference = "reference"
	RTL       = "rtl"
	// Mixed is RTL and references in one tree; a single switch is RTL.
	Mixed = "mixed"
)

// Kind classifies failures. Shrinking keeps a smaller case only if it fails with the same kind.
type Kind string

// The kinds of failures.
const (
	// Passed is no failure.
	Passed Kind = ""
	// Impossible: the world cannot be made, for instance because the buffer is too small for a window.
	Impossible Kind = "impossible"
	// Stuck: the calls do not end, or frames do not stop.
	Stuck Kind = "stuck"
	// WrongResult: a call's result differs from plain arithmetic.
	WrongResult Kind = "wrong result"
	// Broken: a NIC is in the error state, or received what no correct peer sends.
	Broken Kind = "broken connection"
	// Unclean: after the calls a queue or a slot is not empty, or counters are inconsistent.
	Unclean Kind = "not clean at the end"
	// Differs: the engine's behaviour differs from the reference's, or its interface broke a protocol rule.
	Differs Kind = "differs from the reference"
	// Panicked: the model or the engine did.
	Panicked Kind = "panic"
)

// verdict is the error, of package fail, that ends the run of a case that fails.
type verdict struct {
	Kind
	error
}

func (v verdict) Unwrap() error { return v.error }

// on ends the run as a failure of this kind if there is an error.
func (k Kind) on(err error) {
	if err != nil {
		fail.On(verdict{k, err})
	}
}

// when ends the run as a failure of this kind if something is the case that must not be.
func (k Kind) when(bad bool, format string, args ...any) {
	if bad {
		k.on(fmt.Errorf(format, args...))
	}
}

// Outcome is what a run found.
type Outcome struct {
	Kind Kind
	// Err says more; nil if the case passed.
	Err error `json:"-"`
	// Links counts frames and faults, Cycles is the time at the end, Resent counts all NICs' retransmissions.
	Links  fabric.Stats
	Cycles uint64
	Resent uint64
	Calls  int
	// Resets counts resets, Restarted the calls that they aborted.
	Resets    int
	Restarted int
	// Parks counts groups that were parked by all their switches, Refused the switches that would not.
	Parks   int
	Refused int
	// Events are the faults that hit, in order.
	Events []fabric.Event
}

// Runner runs cases on engines.
type Runner struct {
	// Engines are those that cases name.
	Engines []Engine
	// DUT is Reference, RTL or Mixed. RTL engines are compared with the reference frame by frame.
	DUT string
	// Workers is the number of goroutines that simulate the switches of one case; 0 means one.
	Workers int
	// wrap lets this package's tests plant a fault in switch n.
	wrap func(n int, d dut.DUT) dut.DUT
}

// is reports that the engine is the one that a case names.
func (e *Engine) is(c *Case) bool { return e.Config == c.Config && slices.Equal(e.Set, c.Set) }

// engine finds what a case names.
func (r *Runner) engine(c *Case) (*Engine, error) {
	i := slices.IndexFunc(r.Engines, func(e Engine) bool { return e.is(c) })
	if i < 0 {
		return nil, fmt.Errorf("no engine for %s %v", c.Config, c.Set)
	}
	return &r.Engines[i], nil
}

// run is one case under way.
type run struct {
	*Runner
	ctx    context.Context
	c      *Case
	e      *Engine
	world  *comm.World
	duts   []dut.DUT
	boards []*score.Board
	queued [][]*comm.Call // by group
	out    Outcome
	// resetting: groups that wait for a reset, and are not parked meanwhile.
	resetting []bool
}

// Run runs a case and judges it. A panic in it is its failure. The error of a context that ended is no verdict on the case, so it
// is returned apart.
func (r *Runner) Run(ctx context.Context, c Case) (Outcome, error) {
	x := &run{Runner: r, ctx: ctx, c: &c}
	var v verdict
	if errors.As(x.all(), &v) {
		x.out.Kind, x.out.Err = v.Kind, v.error
	}
	if w := x.world; w != nil {
		x.count()
		if err := w.Close(); err != nil && x.out.Err == nil {
			x.out.Kind, x.out.Err = Differs, err
		}
	}
	return x.out, ctx.Err()
}

// all builds and judges; its error is a verdict.
func (x *run) all() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = verdict{Panicked, fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	defer fail.Catch(&err, "")
	Impossible.on(x.build())
	x.judge()
	return nil
}

// count fills in the statistics, however the run ended.
func (x *run) count() {
	x.out.Links, x.out.Cycles = x.world.Net().Stats, x.world.Now()
	for _, h := range x.world.Hosts() {
		x.out.Resent += uint64(h.Stats.Resent)
	}
	for _, q := range x.queued {
		x.out.Calls += len(q)
	}
}

// build makes the world with its groups, and queues the calls.
func (x *run) build() (err error) {
	defer fail.Catch(&err, "")
	fail.On(x.c.validate())
	x.resetting = make([]bool, len(x.c.Groups))
	x.e = fail.Must(x.engine(x.c))
	p := x.e.Manifest.Params
	link := x.c.Link
	link.MTU = p.MTUBytes + headers
	x.world = fail.Must(comm.New(comm.Config{Manifest: x.e.Manifest, Tree: x.c.Tree, Switch: x.open, Seed: x.c.Seed,
		Link: func(comm.Edge) *fabric.Link { return &link }, NoGapNAK: x.c.NoGapNAK, Pipes: x.c.Pipes}))
	n := x.world.Net()
	n.Workers = x.Workers
	n.Script(x.c.Events)
	n.OnFault = func(e fabric.Event) { x.out.Events = append(x.out.Events, e) }
	for i := range x.c.Groups {
		x.group(i)
	}
	for _, d := range x.duts { // registers are written before interfaces hesitate
		p := x.c.Pauses
		p.Seed += uint64(len(x.boards))
		d.SetPauses(p)
	}
	for _, r := range x.c.Resets {
		x.schedule(r)
	}
	before := make([]*parking, len(x.c.Groups))
	for _, p := range x.c.Parks {
		before[p.Group] = x.schedulePark(p, before[p.Group])
	}
	x.watch()
	if p.Pipes() {
		quanta := 0
		n.OnQuantum = func(uint64) error {
			if quanta++; quanta%checkEvery == 0 {
				return x.invariants()
			}
			return nil
		}
	}
	return nil
}

// checkEvery is the number of quanta between two checks of the engines' invariants.
const checkEvery = 61

func (x *run) invariants() error {
	for s, e := range x.engines() {
		if err := e.CheckInvariants(); err != nil {
			return fmt.Errorf("switch %d: %w", s, err)
		}
	}
	return nil
}

// patience is how many of the longest time-outs may pass without any host making progress.
const patience = 60

// watch ends a run that makes no progress.
func (x *run) watch() {
	every, last := uint64(1), -1
	for _, g := range x.world.Groups() {
		every = max(every, patience*g.Config().Timeout)
	}
	every = max(every, patience*8*x.world.PipeTimeout()) // backed off three times
	n := x.world.Net()
	var look func() error
	look = func() error {
		done := 0
		for _, h := range x.world.Hosts() {
			done += h.Acknowledged() + h.Stats.Accepted
		}
		if done == last {
			return fmt.Errorf("%w: no packet was acknowledged or taken for %d time-outs", comm.ErrStuck, patience)
		}
		last = done
		n.At(n.Now()+every, look)
		return nil
	}
	n.At(every, look)
}

// headers is what the longest frame of ours has besides payload in its IP datagram: IPv4, UDP, BTH, immediate, ICRC. Links let nothing
// longer pass.
const headers = 20 + 8 + 12 + 4 + 4

// open makes switch n.
func (x *run) open(n int) (_ dut.DUT, err error) {
	defer fail.Catch(&err, "")
	open, judged := x.e.Open, x.DUT != Reference
	coin := rand.New(rand.NewPCG(x.c.Seed, uint64(n)))
	seed := coin.Uint64()
	verilog := int(x.c.Seed % uint64(x.c.Switches())) // the switch of a mixed tree that is always RTL
	if x.DUT == Mixed && x.c.Levels > 2 && n != verilog && coin.IntN(2) == 0 {
		judged = false
		open = func(uint64) (dut.DUT, error) { return dut.NewReference(x.e.Manifest) }
	}
	d := fail.Must(open(seed))
	if x.wrap != nil {
		d = x.wrap(n, d)
	}
	if judged {
		b, err := score.New(d, x.e.Manifest)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		x.boards = append(x.boards, b)
		d = b
	}
	x.duts = append(x.duts, d)
	return d, nil
}

// group makes a group and queues its calls.
func (x *run) group(i int) {
	g := &x.c.Groups[i]
	cfg := g.GroupConfig
	if g.Paced {
		cfg.Rate = x.pace()
	}
	if g.Fixed {
		first := g.request(&g.Calls[0])
		cfg.Fixed = &first
	}
	group := fail.Must(x.world.NewGroup(cfg))
	x.queued = append(x.queued, nil)
	for j := range g.Calls {
		fail.On(x.queue(i, group, &g.Calls[j]))
	}
}

// pace is a rate control that cuts deep and recovers fast, so that there is much of both in a short case.
func (x *run) pace() *host.RateControl {
	us := x.e.Manifest.Params.CyclesPerMicrosecond()
	line := x.c.BytesPerCycle
	if line <= 0 {
		line = float64(x.e.Manifest.Params.BusBytes)
	}
	return &host.RateControl{Line: line, Least: line / 20, Increase: line / 20, Hold: 5 * us, Update: 5 * us, Gain: 1.0 / 16, FastSteps: 3}
}

// queue queues a call on a group, with data from the call's seed.
func (x *run) queue(i int, group *comm.Group, call *Call) error {
	g := &x.c.Groups[i]
	r := g.request(call)
	if call.Call != comm.Barrier {
		r.In = data(call, g.kind(call), group.Ranks())
	}
	c, err := group.Queue(r)
	if err == nil {
		x.queued[i] = append(x.queued[i], c)
	}
	return err
}

// request is a call without its data.
func (g *Group) request(c *Call) comm.Request {
	k := g.kind(c)
	return comm.Request{Collective: c.Call, Root: c.Root, DType: k.DType, Op: k.Op}
}

// data is each rank's contribution.
func data(call *Call, k arith.Kind, ranks int) [][]byte {
	rng := rand.New(rand.NewPCG(call.Seed, 0x64617461))
	salt := rng.Uint64()
	in := make([][]byte, ranks)
	for r := range in {
		switch {
		case !call.Call.Reduces():
			in[r] = make([]byte, call.Bytes)
			for i := range in[r] {
				in[r][i] = byte(rng.Uint32())
			}
		case call.Smooth:
			in[r] = k.Smooth(rng, call.Bytes)
		default:
			in[r] = k.Values(rng, salt, ranks, call.Bytes)
		}
	}
	return in
}

// schedule kills a host and, later, brings it back and resets its group.
func (x *run) schedule(r Reset) {
	g, n := x.world.Groups()[r.Group], x.world.Net()
	at := n.Now() + r.At // writing registers took time
	n.At(at, func() error {
		if r.Rank >= 0 {
			g.Host(r.Rank).Kill()
		}
		return nil
	})
	var back func() error
	back = func() (err error) {
		// A group is reset with the slots that it has.
		x.resetting[r.Group] = true
		if g.Parked() {
			n.At(n.Now()+drain, back)
			return nil
		}
		// What an engine decides after it was disabled is dropped, but the reference is fed what was accepted before. Idle would be too much to ask:
		// an engine of Mode III never gives up a host that is dead.
		if slices.ContainsFunc(x.boards, func(b *score.Board) bool { return !b.Rests() }) {
			n.At(n.Now()+drain, back)
			return nil
		}
		defer fail.Catch(&err, "")
		fail.On(g.Reset())
		x.resetting[r.Group] = false
		x.out.Resets++
		for i, c := range x.queued[r.Group] {
			if errors.Is(c.Err, comm.ErrReset) {
				x.queued[r.Group][i] = fail.Must(g.Queue(c.Request))
				x.out.Restarted++
			}
		}
		return nil
	}
	n.At(at+r.For, back)
}

// drain is the number of cycles after which a reset checks again whether the engines are idle.
const drain = 64

// judge runs the calls and checks everything.
func (x *run) judge() {
	x.calls("")
	x.world.Net().Calm()
	for i, g := range x.world.Groups() { // everything must still work
		Unclean.on(x.queue(i, g, x.c.Groups[i].last()))
	}
	x.calls("after the faults: ")
	for i, d := range x.duts {
		if b, ok := d.(*score.Board); ok {
			_, err := b.Finish()
			Differs.when(err != nil, "switch %d: %w", i, err)
		}
	}
	Unclean.when(x.world.Net().Stats.TooLong > 0, "%d frames are longer than any that was sent", x.world.Net().Stats.TooLong)
	x.slots()
}

// last is a short call that shows that a group still works.
func (g *Group) last() *Call {
	c := Call{Call: comm.AllReduce, DType: g.Calls[0].DType, Op: g.Calls[0].Op, Bytes: 8, Seed: 1}
	if g.Fixed {
		c = g.Calls[0]
		c.Bytes = min(c.Bytes, 8)
	} else if !g.Calls[0].Call.Reduces() {
		c = Call{Call: comm.Barrier}
	}
	return &c
}

// calls runs the queued calls and checks their results; when says in messages what came before.
func (x *run) calls(when string) {
	err := x.world.Run(x.ctx)
	if err == nil {
		err = x.world.Finish(x.ctx)
	}
	if err != nil {
		x.why(err).on(fmt.Errorf("%s%w", when, err))
	}
	for _, q := range x.queued {
		for _, c := range q {
			err := c.Check()
			WrongResult.when(err != nil, "%s%w", when, err)
		}
	}
}

// why classifies an error of the world.
func (x *run) why(err error) Kind {
	switch {
	case errors.Is(err, fabric.ErrPanic):
		return Panicked
	case slices.ContainsFunc(x.world.Hosts(), func(h *host.Host) bool { return h.Err() != nil }):
		return Broken
	case errors.Is(err, score.ErrMismatch):
		return Differs
	case errors.Is(err, comm.ErrStuck):
		return Stuck
	case errors.Is(err, comm.ErrWrong):
		return WrongResult
	}
	return Unclean
}

// slots reports what engines still hold, or took away unfinished: slots with a part of a result, which nobody will ever complete, and, in Modes III and I,
// whatever an engine would still do by itself. On RTL the reference beside it is asked: no register shows a slot.
func (x *run) slots() {
	for s, e := range x.engines() {
		for g := range x.c.Groups {
			n := e.Unfinished(g)
			Unclean.when(n > 0, "switch %d group %d: %d slots hold a part of a result", s, g, n)
			n = e.Discarded(g)
			Unclean.when(n > 0, "switch %d group %d: %d slots were taken away with a part of a result in them", s, g, n)
			failed := e.Failed(g)
			Unclean.when(failed != 0, "switch %d group %d: endpoints %#x have failed", s, g, failed)
			refused := e.Refused(g)
			Unclean.when(refused != 0, "switch %d group %d: endpoints %#x were refused", s, g, refused)
		}
		if left := e.Actions(nil); len(left) > 0 {
			Unclean.when(true, "switch %d: %v is still to be done, %d actions in all", s, left[0], len(left))
		}
	}
	Unclean.on(x.invariants())
}

// engines are the reference engines that are, or are beside, the switches, by switch; where a fault is planted in front there is none.
func (x *run) engines() iter.Seq2[int, *inc.Switch] {
	return func(yield func(int, *inc.Switch) bool) {
		for s, d := range x.duts {
			ref, ok := d.(*dut.Reference)
			if b, board := d.(*score.Board); board {
				ref, ok = b.Reference(), true
			}
			if ok && !yield(s, ref.Engine()) {
				return
			}
		}
	}
}
