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
	behindStranger(g)
}

// behindStranger has no port take anything when a frame of nobody comes right behind one of the longest contributions. It begins to leave, and the
// contribution's words wait to be read until it has left, for as long as more comes in than the engine can keep.
func behindStranger(g *rig.Group) {
	const most, after = 8, 8 // packets, cycles
	t, e := g.T, g.E
	lead := g.Members()[t.Rand.IntN(t.Params.Members)]
	var rounds []*rig.Round
	for k := range min(g.MW(), most) {
		rounds = append(rounds, g.Round(g.PSN(k), t.Params.MTUBytes))
	}
	e.SetPauses(dut.Pauses{Ready: 1})
	frames := []rig.Frame{rounds[0].Frame(lead), {Port: g.Ends[lead].Port, Data: t.Words(16)}}
	for _, r := range rounds[1:] {
		frames = append(frames, r.Frame(lead))
	}
	e.Put(frames...)
	e.StepTo(e.Now() + uint64(2*t.MTUBeats()))
	for _, r := range rounds {
		for _, c := range rig.AllBut(g.Members(), lead) {
			e.Put(r.Frame(c))
		}
	}
	e.StepTo(e.Now() + uint64((len(rounds)+4)*(t.MTUBeats()+after)))
	e.SetPauses(dut.Pauses{})
	e.SettleAsIs()
	g.Reset()
}

// heldUpDamaged has the ports take nothing, and later little, while contributions come of which many are damaged. Each waits to be decided until there is
// room for what it would have sent, and behind it waits a frame that would be taken for another if it were good: the endpoint's next contribution, another
// member's to the same packet, a packet further than the window, a result that is asked for again.
func heldUpDamaged(t *rig.T) {
	for range 4 { // their registers begin with other values
		g := t.Star()
		g.E.Mute = true
		for round := range max(t.Count(48, 96)/t.Params.Members, 2) {
			d := &damagedRound{Group: g, lead: g.Members()[t.Rand.IntN(t.Params.Members)], apart: []int{1, 16, 32, 64}[round%4]}
			d.run(round)
			g.Reset()
		}
	}
}

// damagedRound is a group that begins anew: what its members contribute, who of them is a window ahead, and how many cycles are between frames at most.
type damagedRound struct {
	*rig.Group
	rounds []*rig.Round
	lead   int
	apart  int
}

// run has a packet complete, asks for its result again until nothing can leave, and goes on with the next packets.
func (d *damagedRound) run(round int) {
	const most = 8 // packets
	t, e, fills := d.T, d.E, []int{4, 8, 16, 24, 32, 48}
	for range 2 * d.MW() {
		d.rounds = append(d.rounds, d.Round(d.PSN(len(d.rounds)), []int{4, 16, 96}[t.Rand.IntN(3)]))
	}
	for _, c := range d.Members() {
		e.Put(d.rounds[0].Frame(c))
	}
	e.SettleAsIs()
	e.SetPauses(dut.Pauses{Ready: 1})
	for range fills[round%len(fills)] {
		d.put(d.rounds[0].Frame(d.Members()[t.Rand.IntN(t.Params.Members)]))
	}
	for k := 1; k <= d.MW(); k++ {
		d.put(d.rounds[k].Frame(d.lead))
	}
	for k := 1; k < min(d.MW(), most); k++ {
		if k == 1+round%3 {
			e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: []float64{0.9, 0.5}[round%2], Burst: 32})
		}
		d.contribute(k)
	}
	e.SetPauses(dut.Pauses{})
	e.SettleAsIs()
}

// contribute has all members but the one that is ahead contribute to packet k, some of them damaged first, and that one to the packet a window further.
func (d *damagedRound) contribute(k int) {
	t, members := d.T, d.T.Shuffled(rig.AllBut(d.Members(), d.lead))
	now, beyond := d.rounds[k], d.rounds[k+d.MW()].Frame(d.lead)
	for i, c := range members {
		if i == len(members)-1 || t.Rand.IntN(2) == 0 {
			other := members[t.Rand.IntN(len(members))]
			behind := []rig.Frame{d.rounds[k+1].Frame(c), now.Frame(other), now.Frame(d.lead), beyond, d.rounds[0].Frame(other)}
			d.put(cut(now.Frame(c)), behind[t.Rand.IntN(len(behind))])
		}
		d.put(now.Frame(c))
	}
	d.put(d.rounds[0].Frame(d.lead), beyond)
}

// cut is a frame that lost its last byte, which its lengths tell when it ends.
func cut(f rig.Frame) rig.Frame {
	f.Data = f.Data[:len(f.Data)-1]
	return f
}

// put has frames come in one after the other, whatever their ports, as long as the engine takes any.
func (d *damagedRound) put(frames ...rig.Frame) {
	for _, f := range frames {
		d.E.Put(f)
		d.E.StepTo(d.E.Now() + uint64(d.T.Params.Beats(len(f.Data))+2+d.T.Rand.IntN(d.apart)))
	}
}
