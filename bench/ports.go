// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"strconv"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/sim"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// throughPorts measures the switch top of an engine whose ports have queues. Every member has a port of its own, whose MAC sends at its full
// width; where widths or clocks differ, the slowest at its full width, and no other is more than a quarter of a window ahead of it. By size, and with all members at the same packet (worst) or half a window apart (best):
//
//	switch_beats_per_cycle_SIZE_ORDER_acks   beats of the bus that enter the core a cycle
//	switch_of_core_SIZE_ORDER_acks           the same over what the core alone takes of the same frames, back to back in the order in which
//	                                         they entered, or over what all MACs deliver if that is less
//	switch_of_core                           the lowest of the latter from 128 bytes on
//
// If full queues drop, in Mode II, one member's port sends, but takes nothing for ever:
//
//	rest_of_core_SIZE_ORDER                  what the other members' MACs deliver over what they could, or over what the core alone takes
//	                                         of the same frames if that is less
//	rest_of_core                             the lowest from 128 bytes on
func throughPorts(ctx context.Context, o Options, m metrics) error {
	man, err := contract.Load(o.ManifestDir)
	if err != nil || man.Params.PortBytes == 0 {
		return err
	}
	_, lib, err := dut.Source{ManifestDir: o.ManifestDir}.Model(ctx)
	if err != nil {
		return err
	}
	_, core, err := dut.Source{ManifestDir: o.ManifestDir, Kind: dut.KindCore}.Model(ctx)
	if err != nil {
		return err
	}
	return rig.Catch(func() {
		for size := 64; size <= man.Params.MTUBytes; size *= 2 {
			for _, order := range []string{"best", "worst"} {
				r := portRun{ctx: ctx, man: man, lib: lib, core: core, seed: o.Seed, size: size, worst: order == "worst", paused: -1}
				name := strconv.Itoa(size) + "_" + order
				if man.Params.PortDrop {
					if man.Params.Mode == 2 {
						r.paused = r.members() - 1
						of := r.run().restOfCore
						if m["rest_of_core_"+name] = of; size >= 128 {
							m.lower("rest_of_core", of)
						}
					}
					continue
				}
				name += "_acks"
				in := r.run()
				of := in.beats / min(in.core, in.offered)
				m["switch_beats_per_cycle_"+name], m["switch_of_core_"+name] = in.beats, of
				if size >= 128 {
					m.lower("switch_of_core", of)
				}
			}
		}
	})
}

// portRun is one measurement.
type portRun struct {
	ctx   context.Context
	man   *contract.Manifest
	lib   *sim.Lib // of the switch
	core  *sim.Lib
	seed  uint64
	size  int
	worst bool
	// paused is the member whose port takes nothing; −1 for none.
	paused int
}

// carried is what came of it: beats of the bus that entered the core a cycle, those that the core alone takes of the same frames, those that
// all MACs together deliver, and what the MACs that are not paused got rid of over what they could at the core's rate.
type carried struct{ beats, core, offered, restOfCore float64 }

func (r portRun) members() int { return min(r.man.Params.Members, r.man.Params.Ports, 8) }

// run drives the bare engine: what ports drop cannot be compared with the reference. Instead it counts what left.
func (r portRun) run() carried {
	raw, g := r.program(r.lib, false)
	defer raw.Close()
	p := r.man.Params
	if r.paused >= 0 {
		raw.Stop(g.Ends[r.paused].Port)
	}
	rounds, lag := max(throughputRounds/g.MW(), 3)*g.MW(), g.MW()
	if g.T.Pipes() {
		lag -= lag / 4
	}
	slow := r.slowest(g)
	data, ack := len(g.Data(0, g.Start(), g.Noise(r.size)).Data), len(g.Ack(0, g.Start()).Data)
	w := offered{rounds: rounds, busBeats: p.Beats(data) + p.Beats(ack), portBeats: beatsOf(data, slow.width) + beatsOf(ack, slow.width), data: data, slow: slow}
	begin := raw.Now()
	for c := range r.members() {
		at := begin
		if !r.worst { // half a window apart at most
			at += uint64(c * g.MW() / 2 * w.portBeats / r.members())
		}
		port := g.Ends[c].Port
		ahead := pacedPort{port: port}
		for k := range rounds {
			frames := []dut.Frame{{Port: port, Data: g.Data(c, g.Start().Add(k), g.Noise(r.size)).Data, First: at}}
			if k >= lag { // the paused one too, to keep in step
				frames = append(frames, dut.Frame{Port: port, Data: g.Ack(c, g.Start().Add(k-lag)).Data})
			}
			w.total += len(frames)
			if r.speed(port) > slow.speed() {
				ahead.rounds = append(ahead.rounds, frames)
				continue
			}
			for _, f := range frames {
				raw.Offer(port, f)
			}
		}
		if len(ahead.rounds) > 0 {
			w.paced = append(w.paced, &ahead)
		} else {
			w.pacers = append(w.pacers, port)
		}
	}
	w.lead = max(g.MW()/4, 1)
	return r.measure(raw, g, w)
}

// mac is how wide a port is, and the beats that its MAC delivers in a cycle of the engine.
type mac struct {
	width int
	rate  float64
}

// speed is in bytes a cycle of the engine.
func (m mac) speed() float64 { return float64(m.width) * m.rate }

// at is the MAC of a port.
func (r portRun) at(port int) mac {
	m := mac{width: r.man.Params.PortWidth(port), rate: 1}
	if mhz := r.man.Params.PortMHz(port); mhz > 0 {
		m.rate = mhz / float64(r.man.Params.ClockMHz)
	}
	return m
}

func (r portRun) speed(port int) float64 { return r.at(port).speed() }

// slowest is the slowest MAC of a member.
func (r portRun) slowest(g *rig.Group) mac {
	slow := r.at(g.Ends[0].Port)
	for c := range r.members() {
		if m := r.at(g.Ends[c].Port); m.speed() < slow.speed() {
			slow = m
		}
	}
	return slow
}

// pacedPort is a port that is faster than the slowest, and what it has not been given yet, round by round.
type pacedPort struct {
	port   int
	rounds [][]dut.Frame
	given  int
}

// pace gives the faster ports the rounds that they may send when all of the slowest have sent so many.
func (w *offered) pace(taken []dut.Frame, offer func(port int, f dut.Frame)) {
	sent := map[int]int{}
	for _, f := range taken {
		if len(f.Data) == w.data {
			sent[f.Port]++
		}
	}
	least := w.rounds
	for _, port := range w.pacers {
		least = min(least, sent[port])
	}
	for _, p := range w.paced {
		for ; p.given < min(least+w.lead, w.rounds); p.given++ {
			for _, f := range p.rounds[p.given] {
				offer(p.port, f)
			}
		}
	}
}

// program makes an engine and programs a group, the same each time.
func (r portRun) program(lib *sim.Lib, core bool) (*dut.RTL, *rig.Group) {
	raw := fail.Must(dut.NewRTL(lib, r.man, core, sim.Options{Random: true, Seed: r.seed, SkipStill: true}))
	t := rig.New(r.ctx, r.man, "bench", r.seed, func(uint64, int) (dut.DUT, error) { return raw, nil })
	return raw, t.Engine().Group(0, 1, r.members(), false)
}

// offered is how many packets each member sends, the beats of the bus and of the slowest port that one takes with its ACK, and the number of all frames.
type offered struct {
	rounds, busBeats, portBeats, total int
	// data is the length of a frame with data.
	data int
	slow mac
	// pacers are the slowest ports, paced the others, which are at most lead rounds ahead.
	pacers []int
	paced  []*pacedPort
	lead   int
}

// measure runs the engine until everything is in, and for a while after that.
func (r portRun) measure(raw *dut.RTL, g *rig.Group, w offered) carried {
	taken, outs := r.drain(raw, &w)
	if len(taken) != w.total {
		fail.Now("%d frames of %d entered the engine", len(taken), w.total)
	}
	results := map[int]int{}
	for _, o := range outs {
		if pkt, err := o.Packet(); err == nil && pkt.Op.IsSend() {
			results[o.Port]++
		}
	}
	for c, e := range g.Ends {
		if e.Valid && c != r.paused && results[e.Port] < w.rounds {
			fail.Now("%d results of %d left by port %d", results[e.Port], w.rounds, e.Port)
		}
	}
	var in carried
	in.offered = min(1, w.slow.rate*float64(r.members()*w.busBeats)/float64(w.portBeats))
	core, _ := r.program(r.core, true)
	defer core.Close()
	for _, f := range taken {
		core.Offer(f.Port, dut.Frame{Data: f.Data})
	}
	again, _ := r.drain(core, &offered{})
	rest, restOfCore := 0.0, 0.0
	in.beats, rest = r.rates(taken, g, w.slow)
	in.core, restOfCore = r.rates(again, g, w.slow)
	in.restOfCore = rest / min(w.slow.rate, restOfCore)
	return in
}

// drain runs an engine until nothing has entered for a while, and gives faster ports what they may send.
func (r portRun) drain(raw *dut.RTL, w *offered) (taken, outs []dut.Frame) {
	step := uint64(1024)
	if len(w.paced) > 0 {
		step = 64
	}
	for quiet := uint64(0); quiet < 8*1024/step; {
		fail.On(r.ctx.Err())
		w.pace(taken, raw.Offer)
		fail.On(raw.StepTo(raw.Now() + step))
		in, out := raw.Accepted(), raw.Out()
		taken, outs = append(taken, in...), append(outs, out...)
		if quiet++; len(in) > 0 {
			quiet = 0
		}
	}
	return taken, outs
}

// rates are the beats a cycle of the bus, and those as wide as the slowest port of a port that is not paused, in the middle of what entered: members begin and end one
// after the other.
func (r portRun) rates(taken []dut.Frame, g *rig.Group, slow mac) (bus, port float64) {
	skip := len(taken) / 4
	first, last, beats, rest := taken[skip].Last, taken[len(taken)-skip].Last, 0, 0
	for _, f := range taken[skip+1 : len(taken)-skip+1] {
		beats += r.man.Params.Beats(len(f.Data))
		if r.paused < 0 || f.Port != g.Ends[r.paused].Port {
			rest += beatsOf(len(f.Data), slow.width)
		}
	}
	cycles, others := float64(last-first), r.members()
	if r.paused >= 0 {
		others--
	}
	return float64(beats) / cycles, float64(rest) / cycles / float64(others)
}

// beatsOf is the number of beats of so many bytes each.
func beatsOf(bytes, each int) int { return (bytes + each - 1) / each }
