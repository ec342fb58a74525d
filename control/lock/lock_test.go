// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/control/store"
)

var seeds = flag.Int("interleavings", 400, "interleavings that TestInterleavings draws")

// world runs groups, a manager and agents in an order that is drawn: one of them at a time goes on, from one message to the next.
type world struct {
	t      testing.TB
	rng    *rand.Rand
	now    time.Time
	sites  []*site
	groups []*leader
	mail   []func() // requests that arrive late
	epoch  int      // of managers
	number uint64   // the managers' clock
	calm   bool     // nothing fails any more
	failed error    // what must not be
	parks  bool     // engines can park groups

	running   *leader
	granted   int
	refused   int
	evicted   int // stopped
	parked    int // by force, and drained
	undrained int
	crashes   int
}

// site is a switch's agent, as the keepers see it.
type site struct {
	w     *world
	name  string
	slots int
	file  store.Store
	runs  bool   // its engine parks groups
	table *Table // nil while the agent is down
	// The engine, which outlives agents: what groups have of the memory, and who has something there that is still wanted.
	using  map[string]run
	wanted map[string]bool
	gone   map[string]bool // groups that were removed, of which no turn is heard any more
	halves int             // crashes after which engine and store may differ, until the next call
}

// run is what a group has of a switch's memory.
type run struct{ base, n int }

// leader is a group's first member, with the manager's keeper for it.
type leader struct {
	w      *world
	number int
	name   string
	sites  []*site
	need   []int // slots by site
	// parents are the sites above in the tree: only those that are above none know whether the group is drained. nil: every site knows.
	parents []int
	keeper  *Keeper
	epoch   int
	lost    bool // the group was stopped at a switch, or its turn was ended
	// granted: a collective is under way. stands: it has lost slots.
	granted, stands bool
	left            int // collectives
	// sequence counts those of the instance; unsaid is the one of which the manager has not heard that it is over, 0 if there is none.
	sequence uint64
	unsaid   uint64
	// spent is the time that the manager has waited for switches on behalf of the group.
	spent  time.Duration
	resume chan struct{}
	paused chan struct{}
	over   bool
}

var (
	errGone    = errors.New("nobody answers")
	errCrashed = errors.New("the agent crashes")
	errWrite   = errors.New("the store has failed")
)

// killed is what a manager's calls end with when it dies.
type killed struct{}

const (
	lease    = 10 * time.Second
	callTime = time.Second // after which a call has failed
	wait     = 3 * time.Second
	pause    = 100 * time.Millisecond // between two attempts
)

// yield lets others go on.
func (g *leader) yield() {
	g.paused <- struct{}{}
	<-g.resume
}

// yield is called wherever something else could happen, by what runs for a group. In a manager that has died it does not return.
func (w *world) yield() {
	g := w.running
	g.yield()
	if g.keeper != nil && g.epoch != w.epoch {
		panic(killed{})
	}
}

// crashing is a store at whose writes an agent can crash, before or after, or that says that a write has failed, which it may have done all the same.
type crashing struct{ *site }

func (c crashing) Put(name string, text []byte) error {
	switch c.w.fate(60) {
	case 0:
		c.halves++
		c.crash()
		return errCrashed
	case 1:
		_ = c.file.Put(name, text)
		c.crash()
		return errCrashed
	case 2:
		c.halves++
		return errWrite
	case 3:
		c.halves++
		_ = c.file.Put(name, text)
		return errWrite
	}
	return c.file.Put(name, text)
}
func (c crashing) Delete(name string) error     { return c.file.Delete(name) }
func (c crashing) All() ([]store.Record, error) { return c.file.All() }
func (c crashing) Close() error                 { return nil }

// fate is a number below n, but n−1 when all is calm.
func (w *world) fate(n int) int {
	if w.calm {
		return n - 1
	}
	return w.rng.IntN(n)
}

func (s *site) crash() {
	s.table = nil
	s.w.crashes++
}

// start starts an agent. What its engine has the store knows.
func (s *site) start() {
	s.table = &Table{Slots: s.slots, Runs: s.runs, Memory: s, Store: crashing{s}, Now: func() time.Time { return s.w.now }}
	require.NoError(s.w.t, s.table.Load())
	for group, has := range s.using {
		if turn, ok := s.table.Turn(group); !ok || (run{turn.Base, turn.Slots}) != has {
			s.w.failed = fmt.Errorf("%s has %v in the engine and %v in the store of %s", s.name, has, turn, group)
		}
	}
}

// engine is a change of the engine, before or after which the agent can crash.
func (s *site) engine(change func()) error {
	fate := s.w.fate(60)
	if fate != 0 {
		change()
	}
	if fate < 2 {
		s.halves++
		s.crash()
		return errCrashed
	}
	return nil
}

func (s *site) Give(group string, base, slots int) error {
	return s.engine(func() {
		if has, ok := s.using[group]; ok && has != (run{base, slots}) {
			s.w.failed = fmt.Errorf("%s moves %s from %v to %d while it has them", s.name, group, has, base)
		}
		s.using[group] = run{base, slots}
	})
}

// above tells whether a site has other switches of the group's tree below it, and therefore does not know what they still want.
func (g *leader) above(s *site) bool {
	return g.parents != nil && slices.Contains(g.parents, slices.Index(g.sites, s))
}

// Take is what the engine does. It fails if somebody below may still ask for results.
func (s *site) Take(group string) (drained bool, err error) {
	g := s.w.leader(group)
	if _, has := s.using[group]; has && s.runs && s.wanted[group] {
		s.w.undrained++
		return false, s.engine(func() {})
	}
	for i, below := range g.sites {
		for at := i; g.parents != nil && at >= 0; at = g.parents[at] {
			if _, has := s.using[group]; has && at != i && g.sites[at] == s && below.wanted[group] {
				s.w.failed = fmt.Errorf("%s takes from %s what %s may ask for", s.name, group, below.name)
			}
		}
	}
	return true, s.engine(func() { delete(s.using, group) })
}

// Evict stops a group in the engine, or parks it where that is safe.
func (s *site) Evict(group string) error {
	for _, turn := range s.table.Turns() {
		if turn.Group == group && s.w.now.Before(turn.Expires) {
			s.w.failed = fmt.Errorf("%s stops %s before its lease is over", s.name, group)
		}
	}
	g := s.w.leader(group)
	if s.runs && !g.above(s) && !s.wanted[group] {
		s.w.parked++
		return s.engine(func() { delete(s.using, group) })
	}
	s.w.evicted++
	return s.engine(func() {
		delete(s.using, group)
		delete(s.wanted, group)
		g.lost = true
	})
}

// leader is the one of a group that lives, or another that nobody hears of.
func (w *world) leader(group string) *leader {
	for _, g := range w.groups {
		if g.name == group {
			return g
		}
	}
	return &leader{}
}

// call is a call from the manager: it can be lost, come late, or its answer be lost.
func (s *site) call(do func(t *Table) error) error {
	w := s.w
	w.yield()
	fate := w.fate(40)
	if fate < 3 {
		w.running.spent += callTime
	}
	late := func() {
		if s.table != nil {
			_ = do(s.table)
		}
	}
	switch {
	case fate == 0:
		w.now = w.now.Add(callTime)
		return errGone
	case fate == 1:
		w.now = w.now.Add(callTime)
		w.mail = append(w.mail, late)
		return errGone
	case fate == 2:
		late()
		w.now = w.now.Add(callTime)
		return errGone
	case s.table == nil:
		return errGone
	}
	err := do(s.table)
	w.yield()
	if s.table == nil {
		return errGone
	}
	return err
}

// port is a site as one group's keeper sees it.
type port struct {
	*site
	slots int
}

func (p port) Name() string { return p.name }
func (p port) Lock(_ context.Context, group string, fence uint64, lease time.Duration, prolong bool) error {
	return p.call(func(t *Table) error {
		if p.gone[group] {
			return ErrStale
		}
		return t.Lock(group, fence, p.slots, lease, prolong)
	})
}
func (p port) Unlock(_ context.Context, group string, fence uint64) error {
	return p.call(func(t *Table) error {
		if p.gone[group] {
			return nil
		}
		return t.Unlock(group, fence)
	})
}

// check finds memory that is in two hands.
func (w *world) check() {
	for _, s := range w.sites {
		sum, owner := 0, make([]string, s.slots)
		for group, has := range s.using {
			if sum += has.n; !s.runs {
				continue
			}
			for i := has.base; i < has.base+has.n; i++ {
				if i >= s.slots || owner[i] != "" {
					w.fail("%s: slot %d of %d is %s's and %s's", s.name, i, s.slots, owner[min(i, s.slots-1)], group)
					return
				}
				owner[i] = group
			}
		}
		if sum > s.slots {
			w.fail("%s has %d slots to share, in use are %v", s.name, s.slots, s.using)
		}
		if s.table != nil && s.table.Free() < 0 {
			w.fail("%s has given away %d slots too many", s.name, -s.table.Free())
		}
	}
}

// fail notes the first thing that must not be.
func (w *world) fail(format string, args ...any) {
	if w.failed == nil {
		w.failed = fmt.Errorf(format, args...)
	}
}

// work lets data pass, and acknowledgements. Without a slot somewhere the collective does not get on.
func (g *leader) work() {
	for i, s := range g.sites {
		has, ok := s.using[g.name]
		if !ok || has.n != g.need[i] {
			if s.table != nil && !g.lost {
				if turn, still := s.table.Turn(g.name); still && !turn.Over && s.halves == 0 {
					g.w.fail("%s has a turn at %s and %v in its engine", g.name, s.name, has)
				}
			}
			g.stands = true
		}
	}
	for _, s := range g.sites {
		if _, ok := s.using[g.name]; ok && !g.stands && s.runs && !g.above(s) {
			s.wanted[g.name] = g.w.rng.IntN(3) > 0
		}
	}
}

// manager has a manager do something for a group. It reports whether it lived as long.
func (g *leader) manager(do func(k *Keeper)) (lived bool) {
	if g.keeper == nil || g.epoch != g.w.epoch {
		g.epoch = g.w.epoch
		g.keeper = &Keeper{Group: g.name, Parents: g.parents, Lease: lease, Next: func() uint64 { g.w.number++; return g.w.number },
			Pause: func(context.Context) error {
				g.w.now, g.spent = g.w.now.Add(pause), g.spent+pause
				g.w.yield()
				return nil
			}}
		for i, s := range g.sites {
			g.keeper.Sites = append(g.keeper.Sites, port{s, g.need[i]})
		}
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			g.keeper = nil
		}
	}()
	do(g.keeper)
	return true
}

// ask asks once, as commlib does. No answer, because the manager dies, or is late, or is not heard, is a refusal, but the manager is to be told. Whoever is late does not
// begin to ask the switches once more.
func (g *leader) ask(sequence uint64) (a Answer) {
	began, attempts := g.w.now, 0
	late := func() bool { return g.w.now.Sub(began) >= wait }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fate := g.w.fate(40)
	calls := time.Duration(len(g.sites)) * callTime
	g.spent = 0
	lived := g.manager(func(k *Keeper) {
		next := k.Next
		k.Next = func() uint64 {
			if attempts++; attempts > 1 && late() {
				g.w.failed = fmt.Errorf("%s asks once more after %v", g.name, g.w.now.Sub(began))
			}
			if fate == 0 {
				cancel() // the leader waits no longer
			}
			return next()
		}
		defer func() { k.Next = next }()
		var err error
		a, err = k.Ask(ctx, sequence, late)
		require.NoError(g.w.t, err)
		if fate > 0 && g.spent > wait+pause+3*calls {
			g.w.fail("%s has its answer after %v", g.name, g.spent)
		}
		if fate == 0 && k.fence != 0 {
			g.w.failed = fmt.Errorf("%s has a turn that nobody waited for", g.name)
		}
	})
	if !lived || fate < 3 {
		g.unsaid = sequence
		g.say(g.w.rng.IntN(4))
		return Answer{}
	}
	return a
}

// say tells the manager that a turn is over, until it has heard it, or has not so many times.
func (g *leader) say(times int) {
	for ; times > 0 && g.unsaid != 0; times-- {
		g.yield()
		if g.spent = 0; g.w.fate(8) > 0 && g.manager(func(k *Keeper) { k.Done(context.Background(), g.unsaid) }) {
			g.unsaid = 0
			if g.spent > drains*pause+time.Duration(len(g.sites))*callTime {
				g.w.fail("%s gives its turn back for %v", g.name, g.spent)
			}
		}
	}
}

// life is what a group does: collectives with a turn, or without one.
func (g *leader) life() {
	<-g.resume
	w := g.w
	defer func() { g.over = true; g.paused <- struct{}{} }()
	if w.calm {
		if g.lost {
			g.remove()
		}
		g.settled()
	}
	for ; g.left > 0; g.left-- {
		if g.lost || w.fate(15) == 0 {
			g.remove()
		}
		g.sequence++
		g.unsaid = 0 // what is asked now stands for it
		a := g.ask(g.sequence)
		if !a.Granted {
			w.refused++
			g.yield()
			continue
		}
		w.granted++
		g.granted, g.stands = true, false
		for g.work(); w.rng.IntN(4) > 0; g.work() {
			w.check()
			g.yield()
			switch w.rng.IntN(6) {
			case 0, 1:
				g.manager(func(k *Keeper) {
					if _, err := k.Prolong(context.Background(), g.sequence); errors.Is(err, ErrStale) {
						g.lost = true
					}
				})
			case 2:
				g.manager(func(k *Keeper) { k.Settle(context.Background(), g.forgotten()) })
			}
		}
		g.granted = false
		if g.lost = g.lost || g.stands; g.lost {
			continue // its members end it
		}
		g.unsaid = g.sequence
		g.say(1 + w.rng.IntN(4))
	}
}

// forgotten tells whether some switch has a turn that has run out.
func (g *leader) forgotten() bool {
	for _, s := range g.sites {
		if s.table == nil {
			continue
		}
		if turn, ok := s.table.Turn(g.name); ok && !g.w.now.Before(turn.Expires) {
			return true
		}
	}
	return false
}

// settled finds memory that nobody takes care of: between turns, what a manager that lives has to say is said, and then no switch holds anything for the group.
func (g *leader) settled() {
	g.say(mostSteps)
	if g.keeper == nil || g.epoch != g.w.epoch {
		return
	}
	g.manager(func(k *Keeper) { k.Settle(context.Background(), g.forgotten()) })
	for _, s := range g.sites {
		for _, turn := range s.table.Turns() {
			if turn.Group == g.name && g.w.failed == nil {
				g.w.failed = fmt.Errorf("%s has %d slots of %s, whose turn is over", s.name, turn.Slots, g.name)
			}
		}
	}
}

// remove ends the group, with which it has failed or its leader has died, at every switch, and makes another.
func (g *leader) remove() {
	for _, s := range g.sites {
		for {
			g.yield()
			if s.table == nil {
				continue
			}
			delete(s.using, g.name)
			delete(s.wanted, g.name)
			s.gone[g.name] = true
			if s.table.Forget(g.name) == nil {
				break
			}
		}
	}
	g.w.rename(g)
	g.lost, g.keeper, g.sequence, g.unsaid = false, nil, 0, 0
}

// rename gives a group the name of its next instance.
func (w *world) rename(g *leader) {
	w.number++
	g.name = fmt.Sprintf("g%d/%d", g.number, w.number)
}

// step lets something happen.
func (w *world) step() {
	switch w.fate(60) {
	case 0:
		if s := w.sites[w.rng.IntN(len(w.sites))]; s.table != nil {
			s.crash()
		}
	case 1:
		w.epoch++
		w.crashes++
	case 2:
		w.now = w.now.Add(time.Duration(w.rng.IntN(int(lease))))
	case 3, 4:
		if len(w.mail) > 0 {
			i := w.rng.IntN(len(w.mail))
			late := w.mail[i]
			w.mail = slices.Delete(w.mail, i, i+1)
			late()
		}
	}
	for _, g := range w.groups { // acknowledgements come in the end
		for _, s := range g.sites {
			if !g.granted && (w.calm || w.rng.IntN(4) == 0) {
				delete(s.wanted, g.name)
			}
		}
	}
	for _, s := range w.sites {
		if s.table == nil && (w.calm || w.rng.IntN(8) == 0) {
			s.start()
		}
	}
	w.check()
	var able []*leader
	for _, g := range w.groups {
		if !g.over {
			able = append(able, g)
		}
	}
	w.running = able[w.rng.IntN(len(able))]
	w.running.resume <- struct{}{}
	<-w.running.paused
}

// mostSteps is more than any run has that does not stand.
const mostSteps = 100_000

// run lets groups live until all have done what they wanted.
func (w *world) run(collectives int) error {
	for _, g := range w.groups {
		g.left, g.over, g.resume, g.paused = collectives, false, make(chan struct{}), make(chan struct{})
		go g.life()
	}
	for steps := 0; slices.ContainsFunc(w.groups, func(g *leader) bool { return !g.over }); steps++ {
		if w.step(); w.failed != nil {
			return w.failed
		}
		if steps > mostSteps {
			return errors.New("they stand")
		}
	}
	return nil
}

// draw makes switches and groups. Two groups of a switch often want more than there is.
func draw(t testing.TB, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 21)), now: time.Unix(1_800_000_000, 0)}
	w.parks = w.rng.IntN(4) > 0
	trees := w.parks && w.rng.IntN(2) == 0 // in which only the lowest know
	for i := range 1 + w.rng.IntN(5) {
		s := &site{w: w, name: fmt.Sprint("s", i), slots: 4 + w.rng.IntN(13), file: store.NewMemory(), runs: w.parks, using: map[string]run{},
			wanted: map[string]bool{}, gone: map[string]bool{}}
		s.start()
		w.sites = append(w.sites, s)
	}
	for i := range 1 + w.rng.IntN(5) {
		g := &leader{w: w, number: i}
		w.rename(g)
		for _, s := range w.sites { // the order that all share
			if w.rng.IntN(3) > 0 || len(w.sites) == 1 {
				g.sites, g.need = append(g.sites, s), append(g.need, 1+w.rng.IntN(s.slots))
			}
		}
		if trees {
			g.parents = make([]int, len(g.sites))
			for k, order := 0, w.rng.Perm(len(g.sites)); k < len(order); k++ {
				g.parents[order[k]] = -1
				if k > 0 {
					g.parents[order[k]] = order[w.rng.IntN(k)]
				}
			}
		}
		w.groups = append(w.groups, g)
	}
	return w
}

// Interleavings of up to five groups over up to five switches, with managers, agents and leaders that crash at any message or write, messages that are lost or come
// late, and leases that run out: memory is never in two hands, nobody waits for ever, and when all is calm every slot is there again.
func TestInterleavings(t *testing.T) {
	granted, refused, evicted, parked, undrained, crashes := 0, 0, 0, 0, 0, 0
	for seed := range uint64(*seeds) {
		w := draw(t, seed)
		require.NoError(t, w.run(4), "seed %d", seed)
		w.calm = true
		for _, late := range w.mail {
			late()
		}
		w.mail = nil
		require.NoError(t, w.run(2), "seed %d, when all is calm", seed)
		for _, g := range w.groups {
			require.Empty(t, g.keeper.owed)
		}
		for _, s := range w.sites {
			require.Equal(t, s.slots, s.table.Free(), "seed %d: %s has lost memory: %v", seed, s.name, s.table.Turns())
			require.Empty(t, s.using, "seed %d: %s", seed, s.name)
		}
		granted, refused, evicted, crashes = granted+w.granted, refused+w.refused, evicted+w.evicted, crashes+w.crashes
		parked, undrained = parked+w.parked, undrained+w.undrained
	}
	t.Logf("%d interleavings: %d turns, %d refusals, %d groups stopped, %d parked when their leases had run out, %d not drained when asked, %d crashes", *seeds, granted, refused,
		evicted, parked, undrained, crashes)
	require.Greater(t, min(granted, refused, crashes), *seeds)
	require.Greater(t, min(evicted, parked, undrained), *seeds/50)
}

// alone has a manager do something for the first group of a world in which nothing fails.
func (w *world) alone(do func(k *Keeper)) {
	g := w.groups[0]
	done := make(chan struct{})
	g.resume, g.paused, w.running = make(chan struct{}), make(chan struct{}), g
	go func() {
		defer close(done)
		<-g.resume
		g.manager(do)
	}()
	for g.resume <- struct{}{}; ; {
		select {
		case <-g.paused:
			g.resume <- struct{}{}
			continue
		case <-done:
		}
		return
	}
}

// Whoever has asked and gone has no turn.
func TestNobodyWaits(t *testing.T) {
	w := draw(t, 1)
	w.calm = true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.alone(func(k *Keeper) {
		a, err := k.Ask(ctx, 1, func() bool { return false })
		require.NoError(t, err)
		require.Equal(t, Answer{Reason: "nobody waits for the turn any more"}, a)
	})
	for _, s := range w.groups[0].sites {
		require.Equal(t, s.slots, s.table.Free())
	}
}

// A manager that comes later goes on with a turn that the group has, and begins none: not if what prolongs it comes when the turn is over. What the one before has left is
// given back once nobody prolongs it, and whoever does so after that hears that it is over, each time.
func TestLateProlong(t *testing.T) {
	w := draw(t, 1)
	w.calm = true
	ctx, never := context.Background(), func() bool { return true }
	ask := func(sequence uint64) {
		w.alone(func(k *Keeper) {
			a, err := k.Ask(ctx, sequence, never)
			require.NoError(t, err)
			require.True(t, a.Granted, a.Reason)
		})
	}
	prolong := func(k *Keeper) error {
		_, err := k.Prolong(ctx, k.sequence)
		return err
	}
	held := func() (n int) {
		for _, s := range w.groups[0].sites {
			n += len(s.table.Turns())
		}
		return n
	}
	ask(1)
	w.alone(func(k *Keeper) { k.Done(ctx, 1) })
	w.epoch++
	w.alone(func(k *Keeper) {
		_, err := k.Prolong(ctx, 1)
		require.ErrorIs(t, err, ErrStale)
		require.ErrorIs(t, prolong(k), ErrStale)
	})
	require.Zero(t, held())
	ask(2)
	w.epoch++
	w.alone(func(k *Keeper) {
		a, err := k.Prolong(ctx, 2)
		require.NoError(t, err)
		require.True(t, a.Granted)
		k.Settle(ctx, true)
	})
	require.Equal(t, len(w.groups[0].sites), held(), "it knows of the turn")
	w.epoch++
	w.alone(func(k *Keeper) { k.Settle(ctx, false) })
	require.Equal(t, len(w.groups[0].sites), held(), "its leader may be at work")
	w.alone(func(k *Keeper) {
		k.Settle(ctx, true)
		_, err := k.Prolong(ctx, 2)
		require.ErrorIs(t, err, ErrStale)
	})
	require.Zero(t, held())
	ask(3)
}
