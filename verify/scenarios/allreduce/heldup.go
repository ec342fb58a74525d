// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"incforge/verify/dut"
	"incforge/verify/rig"
)

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
				frames := []rig.Frame{before.Frame(c), g.NAK(c, g.PSN(0)), before.Frame(c), {Port: g.Ends[c].Port, Data: t.Words(16)},
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

// heldUpDamaged has the ports take nothing, and later little, while contributions come of which many are damaged. Each waits to be decided until there is
// room for what it would have sent, and behind it waits a frame that would be taken for another if it were good: the endpoint's next contribution, another
// member's to the same packet, a packet further than the window, a result that is asked for again.
func heldUpDamaged(t *rig.T) {
	g := t.Star()
	e, fills := g.E, []int{4, 8, 16, 24, 32, 48}
	e.Mute = true
	for round := range t.Count(12, 48) {
		before := g.Round(g.PSN(0), []int{4, 64}[round%2])
		for _, c := range g.Members() {
			e.Put(before.Frame(c))
		}
		e.SettleAsIs()
		e.SetPauses(dut.Pauses{Ready: 1})
		for range fills[round%len(fills)] {
			putInOrder(t, e, before.Frame(g.Members()[t.Rand.IntN(t.Params.Members)]))
		}
		for k := 1; k < min(g.MW(), 8); k++ {
			contributeDamaged(g, before, k)
			if k == 2 {
				e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.9, Burst: 32})
			}
		}
		e.SetPauses(dut.Pauses{})
		e.SettleAsIs()
		g.Reset()
	}
}

// contributeDamaged has all members contribute to packet k, some of them damaged first.
func contributeDamaged(g *rig.Group, before *rig.Round, k int) {
	t, members := g.T, g.T.Shuffled(g.Members())
	now := g.Round(g.PSN(k), []int{4, 16, 96}[t.Rand.IntN(3)]).Draw(members...)
	for i, c := range members {
		frames := []rig.Frame{now.Frame(c)}
		if i == len(members)-1 || t.Rand.IntN(2) == 0 {
			other := members[t.Rand.IntN(len(members))]
			behind := []rig.Frame{g.Data(c, g.PSN(k+1), g.Noise(16)), now.Frame(other), g.Data(other, g.PSN(k+g.MW()), g.Noise(16)), before.Frame(other)}
			frames = []rig.Frame{cut(now.Frame(c)), behind[t.Rand.IntN(len(behind))], now.Frame(c), before.Frame(c)}
		}
		for _, f := range frames {
			putInOrder(t, g.E, f)
		}
	}
}

// cut is a frame that lost its last byte, which its lengths tell when it ends.
func cut(f rig.Frame) rig.Frame {
	f.Data = f.Data[:len(f.Data)-1]
	return f
}

// putInOrder has a frame come in before the next one comes, whatever their ports, unless the engine takes no more.
func putInOrder(t *rig.T, e *rig.Engine, f rig.Frame) {
	e.Put(f)
	e.StepTo(e.Now() + uint64(t.Params.Beats(len(f.Data))+2))
}
