// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// throughEngines measures the switch top of several engines. Each has a group of its own on ports of its own, as many members as that allows, all of
// which send and acknowledge at the full width of a port. By size, and with all members at the same packet (worst) or a window apart (best):
//
//	one_engine_beats_per_cycle_SIZE_ORDER_acks   beats that enter the first engine a cycle while the others rest
//	engines_beats_per_cycle_SIZE_ORDER_acks      those that enter all engines a cycle, all at work
//	engines_of_one_SIZE_ORDER_acks               the second over the first
//	engines_of_one                               the lowest of these
//
// Every frame that leaves is compared with the reference.
func throughEngines(ctx context.Context, o Options, m metrics) error {
	man, err := contract.Load(o.ManifestDir)
	if err != nil || man.Params.EngineCount() == 1 {
		return err
	}
	d, err := load(ctx, o.ManifestDir, dut.KindRTL)
	if err != nil {
		return err
	}
	s, err := newSwitchBench(ctx, d, o.Seed)
	if err != nil {
		return err
	}
	return s.t.Run(func(*rig.T) {
		for size := 64; size <= man.Params.MTUBytes; size *= 2 {
			for _, order := range []string{"best", "worst"} {
				name := fmt.Sprintf("%d_%s_acks", size, order)
				s.t.In("engines "+name, func() {
					one := s.rate(1, size, order == "worst")
					all := s.rate(man.Params.EngineCount(), size, order == "worst")
					m["one_engine_beats_per_cycle_"+name], m["engines_beats_per_cycle_"+name], m["engines_of_one_"+name] = one, all, all/one
					m.lower("engines_of_one", all/one)
					if all/one < leastOfOne*float64(man.Params.EngineCount()) {
						fail.On(fmt.Errorf("%d engines take %.3f times what one takes", man.Params.EngineCount(), all/one))
					}
				})
			}
		}
	})
}

// leastOfOne is the least part of one engine's rate that each of several must add.
const leastOfOne = 0.99

// switchBench is a rig for switch tops of several engines.
type switchBench struct {
	t *rig.T
	p contract.Params
	// members of each engine's group, which has as many ports of its own.
	members int
}

// newSwitchBench makes one; of the same seed all draw the same groups and frames.
func newSwitchBench(ctx context.Context, d design, seed uint64) (*switchBench, error) {
	s := &switchBench{p: d.man.Params}
	if s.members = min(s.p.Members, s.p.Ports/s.p.EngineCount(), 8); s.members < 2 {
		return nil, fmt.Errorf("%d engines need two ports each at least: %s has %d", s.p.EngineCount(), d.man.Name, s.p.Ports)
	}
	s.t = rig.New(ctx, d.man, "bench", seed, func(seed uint64, _ int) (dut.DUT, error) { return d.open(seed) })
	return s, nil
}

// group puts a group on an engine, on ports of its own.
func (s *switchBench) group(e *rig.Engine, engine int) *rig.Group {
	return e.Group(engine*s.p.Groups, 1, s.members, false, func(g *rig.Group) {
		for i := range g.Ends {
			g.Ends[i].Port = (engine*s.members + i) % s.p.Ports
		}
	})
}

// rate is how many beats a cycle so many engines take together.
func (s *switchBench) rate(engines, size int, worst bool) (sum float64) {
	e := s.t.Engine()
	e.Mute = true
	seen := make([]window, engines)
	for k := range engines {
		g := s.group(e, k)
		frames := traffic{bytes: size, worst: worst, every: 1}.frames(g)
		seen[k].total, seen[k].skip = len(frames), s.members*g.MW()
		e.Put(frames...)
	}
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) { seen[a.Port/s.members].note(a, s.p) }
	e.SettleAsIs()
	for k := range seen {
		sum += seen[k].rate()
	}
	return sum
}

// window counts the frames of an engine between the first and the last that do not count.
type window struct {
	total, skip, seen, beats int
	first, last              uint64
}

func (w *window) note(a dut.Frame, p contract.Params) {
	if w.seen++; w.seen == w.skip {
		w.first = a.Last
	} else if w.seen > w.skip && w.seen <= w.total-w.skip {
		w.beats += p.Beats(len(a.Data))
		w.last = a.Last
	}
}

func (w *window) rate() float64 {
	if w.last <= w.first {
		fail.Now("nothing was measured")
	}
	return float64(w.beats) / float64(w.last-w.first)
}

// abused is how many frames a switch's first engine is abused with.
const abused = 3000

// engineIsolation measures a group on the last engine while the first is abused: by frames of its group that are damaged, too early, too long, of the wrong
// role or from the wrong port, of QPNs that nobody has, and by frames that go round the engines. The abuse comes by ports of its own.
//
//	engine_alone_cycles, engine_beside_abuse_cycles   from the first frame in to the last result out
//	engine_frames            frames of the group that leave
//	engine_frames_moved      those that leave otherwise, or in another cycle, than alone
//	engine_counters_moved    counters of its engine that differ
//
// It is an error if something moved. What a neighbour costs on shared ports Isolation measures, by hosts that wait for each other.
func engineIsolation(ctx context.Context, o Options, d design, m metrics) error {
	run := func(abuse int) (w watched, err error) {
		s, err := newSwitchBench(ctx, d, o.Seed) // the same for each, so that it draws the same group and frames
		if err != nil {
			return w, err
		}
		err = s.t.Run(func(*rig.T) { w = s.beside(abuse) })
		return w, err
	}
	alone, err := run(0)
	if err != nil {
		return err
	}
	abuse, err := run(abused)
	if err != nil {
		return err
	}
	m["engine_alone_cycles"], m["engine_beside_abuse_cycles"] = alone.cycles, abuse.cycles
	frames, moved := alone.moved(abuse), 0
	for name, n := range alone.counters {
		if abuse.counters[name] != n {
			moved++
		}
	}
	m["engine_frames"], m["engine_frames_moved"], m["engine_counters_moved"] = float64(alone.frames()), float64(frames), float64(moved)
	if frames+moved > 0 || alone.frames() == 0 {
		return fmt.Errorf("%w: %d of %d frames and %d counters of another engine moved", ErrNotIsolated, frames, alone.frames(), moved)
	}
	return nil
}

// watched is what a group did.
type watched struct {
	cycles   float64
	outs     [][]dut.Frame // by port, with cycles since the first frame in
	counters map[string]uint64
}

func (w watched) frames() (n int) {
	for _, outs := range w.outs {
		n += len(outs)
	}
	return n
}

// moved is how many frames are not the same in both, in the same cycles.
func (w watched) moved(other watched) (n int) {
	for p := range w.outs {
		both := min(len(w.outs[p]), len(other.outs[p]))
		n += max(len(w.outs[p]), len(other.outs[p])) - both
		for i := range both {
			a, b := w.outs[p][i], other.outs[p][i]
			if !bytes.Equal(a.Data, b.Data) || a.First != b.First || a.Last != b.Last {
				n++
			}
		}
	}
	return n
}

// beside has the last engine's group work, beside so much abuse of the first.
func (s *switchBench) beside(abuse int) (w watched) {
	e := s.t.Engine()
	e.Mute = true
	last := s.p.EngineCount() - 1
	mine, victim := s.group(e, last), s.group(e, 0)
	e.SettleAsIs()
	work := traffic{bytes: min(256, s.p.MTUBytes), every: 1}.frames(mine)
	for n := range max(abuse, len(work)) {
		if n < abuse {
			f := s.nasty(victim, n)
			f.Port %= s.members
			e.Put(f)
		}
		if n < len(work) {
			e.Put(work[n])
		}
	}
	begin := e.Now()
	w = watched{outs: make([][]dut.Frame, s.p.Ports), counters: map[string]uint64{}}
	for _, o := range e.SettleAsIs() {
		if p, err := o.Packet(); err == nil && mine.Addressee(o.Port, p) >= 0 {
			o.First, o.Last = o.First-begin, o.Last-begin
			w.outs[o.Port] = append(w.outs[o.Port], o)
			w.cycles = max(w.cycles, float64(o.Last))
		}
	}
	for i, name := range s.t.Manifest.Counters {
		w.counters[name] = uint64(e.Read("ENGINE_COUNTER", last*len(s.t.Manifest.Counters)+i))
	}
	return w
}

// nasty is the n-th frame of the abuse.
func (s *switchBench) nasty(g *rig.Group, n int) rig.Frame {
	r, c := s.t.Rand, n%s.members
	f := g.Data(c, g.Start().Add(r.IntN(40)-20), g.Noise(64+r.IntN(s.p.MTUBytes-64)))
	switch r.IntN(8) {
	case 0: // damaged
		f.Data[20+r.IntN(len(f.Data)-20)] ^= 1 << r.IntN(8)
	case 1: // of a QPN that this engine has not
		f.Data[47] ^= 0x80
	case 2: // goes round
		f.Data[12] = 0x86
	case 3: // from another port
		f.Port++
	case 4: // err
		f.Err = true
	case 5: // cut off
		f.Data = f.Data[:1+r.IntN(len(f.Data)-1)]
	case 6: // an answer to nothing
		f = g.AETH(c, g.Start().Add(r.IntN(100)), uint8(r.IntN(256)))
	}
	return f
}
