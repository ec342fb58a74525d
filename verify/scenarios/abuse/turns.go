// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needPorts is for scenarios of at least n ports.
func needPorts(n int) rig.Needs {
	return func(p contract.Params) string {
		if p.Ports >= n {
			return ""
		}
		return fmt.Sprintf("needs %d ports, the configuration has %d", n, p.Ports)
	}
}

// needOneClock is for scenarios of what comes in together.
func needOneClock(p contract.Params) string {
	if len(p.PortClockMHz) > 0 {
		return "needs ports that deliver at one rate, those of the configuration have clocks of their own"
	}
	return ""
}

// portTurns offers frames at all ports at once, of nobody. While a port has some that wait, no other port has two accepted
// between two of its own.
func portTurns(t *rig.T) {
	const each = 8
	e := t.Engine()
	ports := t.Params.Ports
	waiting := make([]int, ports)
	passed := make([][]int, ports) // how many of another port since the last of this one
	accepted := 0
	e.OnAccept = func(f dut.Frame, _ []inc.Counter) {
		accepted++
		waiting[f.Port]--
		passed[f.Port] = make([]int, ports)
		for p := range ports {
			if p == f.Port || waiting[p] == 0 {
				continue
			}
			if passed[p][f.Port]++; passed[p][f.Port] > 1 {
				t.Fatalf("port %d had two frames accepted while one waited at port %d, which has %d left", f.Port, p, waiting[p])
			}
		}
	}
	for p := range ports {
		passed[p] = make([]int, ports)
		waiting[p] = each
	}
	for range each {
		for p := range ports {
			e.Put(rig.Frame{Port: p, Data: t.Words(20)})
		}
	}
	e.Settle()
	if accepted != each*ports {
		t.Fatalf("%d frames were accepted of %d", accepted, each*ports)
	}
}

// heldUp has no port take anything while more comes in than the engine can keep: data of which most is answered or sent again, some of it the longest and
// some the shortest, and frames of nobody. Then all may leave, and nothing is lost. In the second round the ports take what is offered now and then.
func heldUp(t *rig.T) {
	const rounds, all = 4, 48
	g := t.Star()
	e, each := g.E, max(all/t.Params.Members, 3)
	e.Mute = true
	for round := range rounds {
		longest := []int{4, t.Params.MTUBytes}[round%2]
		before := g.Round(g.PSN(0), longest)
		for _, c := range g.Members() {
			e.Put(before.Frame(c))
		}
		e.SettleAsIs()
		e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: []float64{1, 1, 0.9, 0.9}[round], Burst: 32})
		var cycles uint64
		for range each {
			for _, c := range t.Shuffled(g.Members()) {
				frames := []rig.Frame{before.Frame(c), g.NAK(c, g.PSN(0)), before.Frame(c), arp(t, g.Ends[c].Port),
					g.Data(c, g.PSN(1+t.Rand.IntN(g.MW()+1)), g.Noise(longest))}
				for _, f := range frames[t.Rand.IntN(2):] {
					cycles += uint64(t.Params.Beats(len(f.Data)) + 16)
					e.Put(f)
				}
			}
		}
		e.StepTo(e.Now() + cycles)
		e.SetPauses(dut.Pauses{})
		e.SettleAsIs()
		for _, c := range g.Members() {
			e.Put(g.Ack(c, g.PSN(0)))
		}
		e.SettleAsIs()
		g.Reset()
	}
}
