// SPDX-License-Identifier: Apache-2.0

package resets

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// resets resets the engine in any cycle of a short traffic: while a group starts, a range opens, frames are decided. The same traffic then finds an
// engine as new. Every other round is in-band, if there are such groups, so that what one kind leaves would meet the other.
func resets(t *rig.T) {
	const rounds, longest = 8, 160
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	start := t.StartsGroup()
	for round := range rounds {
		inBand := t.Params.InBand && !t.Messages() && round%2 == 1
		t.In(fmt.Sprintf("round %d", round), func() {
			before := programmed(e, count, inBand)
			shortTraffic(before[0], inBand)
			e.Write("GROUP_CTRL", before[len(before)-1].Index, start)
			e.StepTo(e.Now() + uint64(t.Rand.IntN(longest)))
			e.Out()
			t.Check(e.Reset())
			e.Settle() // what still waited at the ports finds no group
			for _, g := range programmed(e, count, inBand) {
				shortTraffic(g, inBand)
			}
			e.Settle()
		})
	}
}

// fewResets is how many resets there may be, n or fewer: each clears all tables, which takes the longer the larger they are.
func fewResets(t *rig.T, n int) int {
	const records = 4096 // in all
	return min(n, max(3, records/t.Params.Records()))
}

// resetsInAccesses resets the engine in any cycle of a read or a write, of registers of every kind, and then finds all of them as after a reset, and what
// was written after it.
func resetsInAccesses(t *rig.T) {
	const longest = 14
	e := t.Engine()
	var all []contract.Register
	for _, r := range t.Manifest.Registers {
		all = append(all, r, r, r)
	}
	t.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, r := range all[:fewResets(t, len(all))] {
		i := t.Rand.IntN(r.Size())
		a := dut.Access{Addr: addressOf(t, r.Name, i), Value: t.Rand.Uint32()}
		a.Write = t.Rand.IntN(3) > 0 && r.Access == "rw" && r.Name != "GROUP_CTRL" && r.Name != "ECC_INJECT"
		t.In(fmt.Sprintf("a reset in an access to %s %d (a write: %v)", r.Name, i, a.Write), func() {
			_, err := e.ResetIn(a, uint64(t.Rand.IntN(longest)))
			t.Check(err)
			e.Read(r.Name, i)
			other := all[t.Rand.IntN(len(all))]
			e.Read(other.Name, t.Rand.IntN(other.Size()))
		})
	}
	t.Check(e.Reset())
	e.Group(0, 1, t.Params.Members, false).CompleteFrom(0, 2)
}

// addressOf is where element i of a register is.
func addressOf(t *rig.T, name string, i int) uint32 {
	addr, err := t.Manifest.Addr(name, i)
	t.Check(err)
	return addr
}

// resetsInTraffic resets the engine when its queues are as full as slow sinks make them, its registers are being read and, in Mode III, some data waits to
// be sent again. Frames of nobody come right behind the reset, when nothing had time to leave by itself: they alone are counted, and leave.
func resetsInTraffic(t *rig.T) {
	const rounds, each = 8, 3
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	for round := range fewResets(t, rounds) {
		t.In(fmt.Sprintf("round %d", round), func() {
			for _, g := range programmed(e, count, false) {
				longTraffic(g)
			}
			for range each {
				for p := range t.Params.Ports {
					e.Put(t.ARP(p))
				}
			}
			e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.3 * float64(round%4), Burst: 8})
			e.StepTo(e.Now() + uint64(1+t.Rand.IntN(4*t.MTUBeats())))
			e.Out()
			r := t.Manifest.Registers[t.Rand.IntN(len(t.Manifest.Registers))]
			_, err := e.ResetIn(dut.Access{Addr: addressOf(t, r.Name, t.Rand.IntN(r.Size()))}, uint64(t.Rand.IntN(24)))
			t.Check(err)
			e.SetPauses(dut.Pauses{})
			for p := range t.Params.Ports {
				e.Put(t.ARP(p))
			}
			e.Settle()
			_, err = e.Finish() // the counters
			t.Check(err)
		})
	}
	firstBehind(e)
	for _, g := range programmed(e, count, false) {
		g.CompleteFrom(0, 2)
	}
}

// firstBehind resets the engine amid a frame of nobody that is not the first. What comes first behind the reset, by another port if there is one, is of one beat, or
// longer than all that the engine keeps of what came in.
func firstBehind(e *rig.Engine) {
	const rounds = 6
	t := e.T
	for round := range fewResets(t, rounds) {
		first := t.ARP(1 % t.Params.Ports)
		if round%2 == 0 {
			first.Data = first.Data[:min(t.Params.BusBytes, len(first.Data))]
		} else {
			first.Data = append(first.Data, t.Words(min(5*t.Params.MTUBytes, 60000)/4)...)
		}
		e.Put(t.ARP(0))
		e.Settle()
		e.Put(t.ARP(0), t.ARP(0), rig.Frame{Data: append(t.ARP(0).Data, t.Words(t.Params.MTUBytes/4)...)})
		e.StepTo(e.Now() + uint64(t.Rand.IntN(t.MTUBeats())))
		e.Put(first, first) // a port may have taken the first one, which is lost then
		e.StepTo(e.Now() + 4)
		e.Out()
		t.Check(e.Reset())
		e.Settle()
		_, err := e.Finish() // the counters
		t.Check(err)
	}
}

// resetsInActions resets the engine, for one cycle or a few, in any cycle of what it does by itself: results that nobody has acknowledged are sent again for NAKs
// and time-outs, and in Mode II NAKs are passed on and copies made. In every other round no port takes anything, so that some action waits for room, all
// that it is to do decided. Nothing may leave behind the reset but frames of nobody.
func resetsInActions(t *rig.T) {
	const rounds, longest = 24, 4
	e := t.Engine()
	e.Mute, e.Timers = true, true
	count := min(rig.MaxGroups(t.Params), 2)
	for round := range fewResets(t, rounds) {
		t.In(fmt.Sprintf("round %d", round), func() {
			held, late := round%2 == 0, t.Pipes() && round%4 == 1
			inAction(e, count, held, late)
			for range []int{1, 1, 2, longest}[t.Rand.IntN(4)] {
				t.Check(e.Reset())
			}
			e.SetPauses(dut.Pauses{})
			for p := range t.Params.Ports {
				e.Put(t.ARP(p))
			}
			e.Settle()
			_, err := e.Finish() // the counters
			t.Check(err)
		})
	}
	inDecision(e, count)
	e.Mute, e.Timers = false, false
	for _, g := range programmed(e, count, false) {
		g.CompleteFrom(0, 2)
	}
}

// inDecision resets the engine for one cycle in each cycle in which a contribution that completes a packet may be decided, and, where results are kept until they are
// acknowledged, in each in which one is sent again for a NAK: no counter knows of it.
func inDecision(e *rig.Engine, count int) {
	inEachCycle(e, func() rig.Frame { // all others have come
		g := programmed(e, count, false)[0]
		m := g.Members()
		damaged := g.Data(m[0], g.Start(), g.Noise(8))
		damaged.Data = damaged.Data[:len(damaged.Data)-1]
		e.Put(damaged) // what was found of a frame before the reset is not for it
		for _, c := range m[1:] {
			e.Put(g.Data(c, g.Start(), nil))
		}
		e.SettleAsIs()
		return g.Data(m[0], g.Start(), nil)
	})
	if !e.T.Pipes() {
		return
	}
	inEachCycle(e, func() rig.Frame {
		g := programmed(e, count, false)[0]
		for _, c := range g.Members() {
			e.Put(g.Data(c, g.Start(), nil))
		}
		e.SettleAsIs()
		return g.NAK(g.Members()[0], g.Start())
	})
}

// inEachCycle resets the engine for one cycle in each of those in which a frame may be decided and what follows from it be done. last readies a new engine for the frame.
func inEachCycle(e *rig.Engine, last func() rig.Frame) {
	const longest = 24 // cycles from its last beat on
	t := e.T
	f := last()
	from := e.Now()
	came, _ := e.FirstAccepted(func() {
		e.Put(f)
		e.SettleAsIs()
	})
	t.Check(e.Reset())
	for k := range fewResets(t, longest) {
		f = last()
		e.Put(f)
		e.StepTo(e.Now() + came.Last - from + uint64(k))
		e.Out()
		t.Check(e.Reset())
		for p := range t.Params.Ports {
			e.Put(t.ARP(p))
		}
		e.Settle()
		_, err := e.Finish() // the counters
		t.Check(err)
	}
}

// inAction has groups of a new engine complete packets, which nobody acknowledges, and runs the engine into what it does about them: for a while in which
// its ports take nothing, or for some cycles, or until about when they are late.
func inAction(e *rig.Engine, count int, held, late bool) {
	const times, timeout, about = 6, 10, 300
	t := e.T
	if t.Pipes() {
		e.SetTimeout(rig.LongTimeout)
	}
	if late {
		e.SetTimeout(timeout)
	}
	groups := programmed(e, count, false)
	for _, g := range groups {
		shortTraffic(g, false)
	}
	e.SettleAsIs()
	switch {
	case late:
		next, _ := e.Reference().Timers()
		e.StepTo(max(next, e.Now()) + uint64(t.Rand.IntN(about)))
	case held:
		e.SetPauses(dut.Pauses{Ready: 1})
		e.StepTo(e.Now() + times*uint64(repeats(groups, times)))
	default:
		e.StepTo(e.Now() + uint64(t.Rand.IntN(repeats(groups, times))))
	}
	e.Out()
}

// repeats offers NAKs of what groups' members have got, ACKs, duplicates and the next packet, several times, and returns for about how many cycles that
// keeps the input.
func repeats(groups []*rig.Group, times int) (cycles int) {
	for range times {
		for _, g := range groups {
			t := g.T
			for _, c := range t.Shuffled(g.Members()) {
				all := []rig.Frame{g.NAK(c, g.PSN(0)), g.Data(c, g.PSN(0), nil), g.NAK(c, g.PSN(1)), g.Data(c, g.PSN(2), g.Noise(t.Params.MTUBytes/2)), g.Ack(c, g.PSN(0))}
				for _, f := range all[t.Rand.IntN(3):] {
					cycles += t.Params.Beats(len(f.Data))
					g.E.Put(f)
				}
			}
		}
	}
	return cycles
}

// longTraffic offers what fills queues: two windows of long and short packets, some of them twice, and NAKs and ACKs of what has left or has not.
func longTraffic(g *rig.Group) {
	t := g.T
	for k := range min(2*g.MW(), 8) {
		n := t.Rand.IntN(2) * t.Rand.IntN(t.Params.MTUBytes/4)
		for _, c := range t.Shuffled(g.Members()) {
			g.E.Put(g.Data(c, g.PSN(k), g.Noise(4*n)))
			if t.Rand.IntN(4) == 0 {
				g.E.Put(g.Data(c, g.PSN(k), g.Noise(16)), g.NAK(c, g.PSN(0)), g.Ack(c, g.PSN(k)))
			}
		}
	}
}

// programmed are so many groups, fixed or in-band.
func programmed(e *rig.Engine, count int, inBand bool) (all []*rig.Group) {
	var opts []rig.GroupOption
	if inBand {
		opts = append(opts, rig.WithInBand())
	}
	for i := range count {
		all = append(all, e.Group(i, count, e.T.Params.Members, false, opts...))
	}
	return all
}

// shortTraffic offers an AllReduce of two packets, in-band with its controls.
func shortTraffic(g *rig.Group, inBand bool) {
	k := 0
	if inBand {
		says := inc.Control{Collective: inc.CollectiveAllReduce, Op: g.Set.Op, DType: g.Set.DType, Packets: 2}
		for _, c := range g.Members() {
			g.E.Put(g.Data(c, g.PSN(0), nil, func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, says.Immediate() }))
		}
		k++
	}
	for range 2 {
		n := 4 * g.T.Rand.IntN(17)
		for _, c := range g.T.Shuffled(g.Members()) {
			g.E.Put(g.Data(c, g.PSN(k), g.Noise(n)))
		}
		k++
	}
}
