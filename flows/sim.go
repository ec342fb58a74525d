// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// event is something that happens to a job: it comes, a timer of its phase ends, or a flow does, if it still has the rate that it had then.
type event struct {
	at   float64
	job  *running
	flow *sent
	turn int
	n    int // the order in which events were made; of two at one time the first comes first
}

// sent is a collective under way as a flow.
type sent struct {
	flow
	job *running
	*group
	locked bool
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), a[i].n-a[j].n) < 0
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	*a = (*a)[:last]
	return e
}

// moment is how close events are one: what rounding moves is far less, what a network resolves far more.
const moment = 1e-9

// simulation is one policy on one cluster.
type simulation struct {
	*cluster
	*engines
	spec    *Spec
	scaleUp float64 // bytes a second; 0 is none

	now    float64
	agenda agenda
	made   int // events
	flows  int // under way

	waiting []*running
	free    []int // hosts, in the order in which they are given out
	inUse   []bool
	done    []*running
}

// prepare makes a simulation in which nothing has happened yet.
func prepare(s *Spec, c Case) (*simulation, error) {
	shape := s.Network
	limit := c.Units + c.BufferKiB*1024/max(s.Payload, 1)
	shape.Engine = s.engine(c.Units, c.BufferKiB)
	// Temporal settles before each collective who has the memory, so trees may be more than it. Under edge-disjoint each port has a buffer of its own.
	if c.Policy == Temporal || c.Policy == EdgeDisjoint {
		shape.Engine = s.engine(0, 0)
	}
	net, err := newCluster(shape, s.Seed)
	if err != nil {
		return nil, err
	}
	m := &simulation{cluster: net, spec: s, scaleUp: c.ScaleUpGbps * 1e9 / 8}
	if m.engines, err = net.engines(s, c.Policy, limit); err != nil {
		return nil, err
	}
	m.comeIn()
	return m, nil
}

// simulate runs all jobs to their ends.
func simulate(ctx context.Context, s *Spec, c Case) (*simulation, error) {
	m, err := prepare(s, c)
	if err != nil {
		return nil, err
	}
	for m.agenda.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("flows: %w", err)
		}
		if err := m.step(); err != nil {
			return nil, err
		}
	}
	if len(m.waiting) > 0 || m.flows > 0 {
		return nil, fmt.Errorf("flows: %d jobs and %d flows are left over: this is a mistake of the program", len(m.waiting), m.flows)
	}
	slices.SortFunc(m.done, func(a, b *running) int { return a.id - b.id })
	return m, nil
}

// comeIn puts the jobs and the hosts in order.
func (m *simulation) comeIn() {
	random := rand.New(rand.NewPCG(m.spec.Seed, 0))
	m.inUse = make([]bool, m.shape.Hosts())
	server := max(m.spec.Server, 1)
	order := make([]int, (m.shape.Hosts()+server-1)/server)
	for i := range order {
		order[i] = i
	}
	if m.spec.Hosts == Scattered {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, first := range order {
		for h := first * server; h < min((first+1)*server, m.shape.Hosts()); h++ {
			m.free = append(m.free, h)
		}
	}
	var all []*running
	for i := range m.spec.Jobs {
		j := &m.spec.Jobs[i]
		for n := range j.Count {
			all = append(all, &running{Job: j, name: fmt.Sprintf("%s.%d.%d", j.Name, i, n)})
		}
	}
	if m.spec.Order == Shuffled {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	slices.SortStableFunc(all, func(a, b *running) int { return cmp.Compare(a.Start, b.Start) })
	for i, r := range all {
		r.id = i
		m.at(event{at: r.Start, job: r})
	}
}

func (m *simulation) at(e event) {
	e.n = m.made
	m.made++
	heap.Push(&m.agenda, e)
}

// step takes all events of a moment, lets jobs go on, and shares the links anew.
func (m *simulation) step() error {
	m.now = m.agenda[0].at
	var moved []*running
	for m.agenda.Len() > 0 && m.agenda[0].at <= m.now+moment {
		e := heap.Pop(&m.agenda).(event)
		switch {
		case e.flow != nil && e.turn != e.flow.turn: // it has another rate by now
			continue
		case e.flow != nil:
			m.end(e.flow)
			e.job.open--
		case e.job.hosts == nil:
			m.waiting = append(m.waiting, e.job)
			continue
		default:
			e.job.open--
		}
		if e.job.open == 0 {
			moved = append(moved, e.job)
		}
	}
	slices.SortFunc(moved, func(a, b *running) int { return a.id - b.id })
	for _, r := range moved {
		r.phase++
		m.goOn(r)
	}
	if err := m.admit(); err != nil {
		return err
	}
	m.rates()
	return nil
}

// admit starts jobs in the order in which they came, as long as there are hosts for the next.
func (m *simulation) admit() error {
	for len(m.waiting) > 0 {
		r := m.waiting[0]
		var hosts []int
		for _, h := range m.free {
			if !m.inUse[h] && len(hosts) < r.Ranks() {
				hosts = append(hosts, h)
			}
		}
		if len(hosts) < r.Ranks() {
			return nil
		}
		for _, h := range hosts {
			m.inUse[h] = true
		}
		m.waiting = m.waiting[1:]
		r.started = m.now
		r.setUp(hosts)
		if m.policy != None {
			for _, k := range []kind{tensor, data} {
				for _, g := range r.groups[k] {
					if m.scaled(g) {
						continue
					}
					if err := m.place(m.cluster, g); err != nil {
						return err
					}
				}
			}
		}
		m.goOn(r)
	}
	return nil
}

// scaled tells that a group has a scale-up network to itself.
func (m *simulation) scaled(g *group) bool { return m.scaleUp > 0 && g.inServer(m.spec.Server) }

// goOn starts the next phase that has something to do, or ends the job.
func (m *simulation) goOn(r *running) {
	for ; ; r.phase++ {
		if r.phase == kinds {
			r.phase = compute
			if r.iteration++; r.iteration == r.Iterations {
				m.finish(r)
				return
			}
		}
		if r.phase == compute {
			r.open = 1
			m.at(event{at: m.now + r.floating(), job: r})
			return
		}
		for _, g := range r.groups[r.phase] {
			m.start(r, g)
		}
		if r.open > 0 {
			return
		}
	}
}

func (m *simulation) finish(r *running) {
	r.ended = m.now
	for _, h := range r.hosts {
		m.inUse[h] = false
	}
	m.release(r.groups)
	m.done = append(m.done, r)
}

// start begins a collective: over the scale-up network, on its tree, or as a ring.
func (m *simulation) start(r *running, g *group) {
	r.open++
	if m.scaled(g) {
		r.inServers++
		share := 1.0
		if g.kind != pipeline {
			share = g.share(m.spec.Ring)
		}
		m.at(event{at: m.now + g.bytes*share/m.scaleUp, job: r})
		return
	}
	m.flows++
	f := &sent{job: r, group: g}
	f.flow = flow{id: m.made, owner: f, since: m.now, left: g.bytes, cap: math.Inf(1)}
	m.made++
	switch {
	case g.kind == pipeline:
		for _, l := range m.route(g.hosts[0], g.hosts[1], m.spec.Routes, nil) {
			f.flow.uses = append(f.flow.uses, use{l, 1})
		}
	case m.lock(g):
		r.onTrees++
		f.locked, f.flow.uses, f.flow.cap = true, g.uses, g.cap
	default:
		r.onRings++
		server := 0
		if m.scaleUp > 0 {
			server, f.flow.cap = m.spec.Server, m.scaleUp
		}
		f.flow.left *= g.share(m.spec.Ring)
		f.flow.uses = m.ring(g.hosts, server, m.spec.Routes)
	}
	m.add(&f.flow)
}

// end takes a flow off its links.
func (m *simulation) end(f *sent) {
	m.flows--
	f.turn++
	m.remove(&f.flow)
	if f.locked {
		m.unlock(f.group)
	}
}

// rates shares the links on which something changed, and foresees the ends of the flows there.
func (m *simulation) rates() {
	flows, used := m.touched()
	was := make([]float64, len(flows))
	for i, f := range flows {
		was[i] = f.rate
	}
	m.fill(flows, used)
	for i, f := range flows {
		if f.rate == was[i] {
			continue
		}
		f.left = max(f.left-was[i]*(m.now-f.since), 0)
		f.since = m.now
		f.turn++
		m.at(event{at: m.now + f.left/f.rate, job: f.owner.job, flow: f.owner, turn: f.turn})
	}
}
