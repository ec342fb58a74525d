// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// A slot is recycled by the first contribution to it for another PSN (docs/engine.md section 3, rule 5). Whether it may be is
// said by done, the last PSN that is complete: a contribution of PSN p, which takes the slot of p−2·MW, gets in when p−MW is
// complete.
//
// The moment is the whole point. A host sends p only after it has p−MW's result, so when every child has sent p−MW, nobody
// needs p−2·MW any more.
//   - Earlier, on any arrival, would destroy a result that a sibling still lacks (A2).
//   - On a retransmission it would wipe what a fast sibling has put there already (A3); but a retransmission is no first
//     contribution to anything.
//   - The mask goes as a whole, every child's bit: bits left standing make the new contributions look like old ones (A1).
//   - The payload may stay, since the first contribution overwrites it.

// emptySlot is a slot that nobody has contributed to. It needs no tag: every rule asks for one only of a slot whose mask is
// not 0. (docs/engine.md gives it the PSN it waits for.)
func emptySlot() slot { return slot{} }

// recycle makes the slot of a first contribution that PSN's.
func (s *slot) recycle(psn roce.PSN) { *s = slot{tag: psn} }

// complete marks slot s as complete, and so lets the slot that is a window ahead of it be recycled. Slots complete in the order of
// PSNs, but for those of a range that somebody left before it was complete, which no host does: done is the highest there is.
func (e *Engine) complete(g *group, s int, psn roce.PSN) {
	e.count(Wipe)
	e.slots[s].complete = true
	g.done = g.done.Max(psn)
}
