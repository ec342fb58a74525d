// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// lastWordsWait has the last word of a contribution wait to be added when everything is full, for results of some lengths and for some moments.
func (g group) lastWordsWait() {
	const rounds, shortest, longest, apart = 4, 3, 7, 12 // packets, words, words, cycles
	if g.MW() < rounds {
		return
	}
	for short := shortest; short <= longest; short++ {
		for open := uint64(apart / 2); open < 3*apart; open += apart {
			g.lastWordWaits(short, open)
		}
	}
}

// lastWordWaits has results of two of the longest packets fill the memory of what is to leave, but for two words, when one of so few words completes: its last word
// waits to be added while a stranger that came right behind it begins to leave. Then no port takes anything until more has come in than the engine keeps. The
// word is read once more behind the stranger, and must be there.
func (g group) lastWordWaits(short int, open uint64) {
	const lacking, strangers = 2, 5
	t, e, m := g.T, g.E, g.Members()
	longest, word := t.Params.MTUBytes/t.Params.BusBytes, t.Params.BusBytes
	full := uint64((strangers + 1) * (t.MTUBeats() + 16))
	c, rounds := m[0], []*rig.Round{}
	for k, words := range []int{longest, longest - lacking, short, 1} {
		r := g.Round(g.PSN(k), min(max(words, 1), longest)*word).Draw(m...)
		rounds = append(rounds, r)
		for _, other := range rig.AllBut(m, c) {
			e.Put(r.Frame(other))
		}
		e.SettleAsIs()
	}
	stranger := func(bytes int) rig.Frame { return rig.Frame{Port: g.Ends[c].Port, Data: t.Words(bytes / 4)} }
	e.SetPauses(dut.Pauses{Ready: 1})
	e.Put(rounds[0].Frame(c), rounds[1].Frame(c), rounds[2].Frame(c), stranger(min(48*word, t.Params.MTUBytes)), rounds[3].Frame(c))
	for range strangers {
		e.Put(stranger(t.Params.MTUBytes))
	}
	e.StepTo(e.Now() + full)
	e.SetPauses(dut.Pauses{})
	e.StepTo(e.Now() + open)
	e.SetPauses(dut.Pauses{Ready: 1})
	e.StepTo(e.Now() + full)
	g.release()
	g.Reset()
}
