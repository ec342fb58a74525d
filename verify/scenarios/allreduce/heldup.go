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
