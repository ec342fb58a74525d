// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// recycle empties the slot half a ring ahead of psn, whose slot has just become complete, and tags it for psn+MW
// (docs/engine.md section 3, rule 5; protocol.md section 4).
//
// The moment is the whole point. A host sends psn only after it has psn−MW's result, so when every child has sent psn,
// nobody needs slot psn−MW any more, and that is the slot of psn+MW, there being 2·MW of them.
//   - Earlier, on each arrival, would destroy a result that a sibling still lacks (A2).
//   - Again, on a retransmission, would wipe what a fast sibling has put there already (A3).
//   - The mask goes as a whole, every child's bit: bits left standing make the new contributions look like old ones (A1).
//   - The payload may stay, since the first contribution overwrites it.
func (e *Engine) recycle(g *group, psn roce.PSN) {
	e.count(Wipe)
	next := psn.Add(g.window())
	e.slots[g.slotOf(next)] = slot{tag: next}
}
