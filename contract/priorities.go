// SPDX-License-Identifier: Apache-2.0

package contract

import "math/bits"

// The table of priorities: a word a DSCP, then a word a PCP.
const (
	PriorityBase    = 0x4C00
	dscps           = 64
	pcps            = 8
	PriorityEntries = dscps + pcps
)

// MaxPriorities is how many priorities a port may have: those of 802.1Q.
const MaxPriorities = pcps

// PriorityCount is how many queues a port has on the way out, one a priority.
func (p Params) PriorityCount() int { return max(p.Priorities, 1) }

// PriorityBits is the width of a priority's number; 0 if there is one alone.
func (p Params) PriorityBits() int { return bits.Len(uint(p.PriorityCount() - 1)) }

// priorities adds the table.
func (b *builder) priorities() {
	if b.p.PriorityCount() == 1 {
		return
	}
	for _, r := range []Register{
		{Name: "PRIORITY_DSCP", Offset: PriorityBase, Count: dscps, Index: "dscp", Doc: "Priority, on the way out of a port, of IPv4 packets without a tag, by DSCP."},
		{Name: "PRIORITY_PCP", Offset: PriorityBase + 4*dscps, Count: pcps, Index: "pcp",
			Doc: "Priority, on the way out of a port, of frames with an 802.1Q tag, by PCP; of all that is neither it is that of PCP 0."},
	} {
		r.Stride, r.Access, r.Top = 4, RW, TopSwitch
		r.Fields = []Field{{Name: "priority", Width: b.p.PriorityBits(), Doc: "The priority, 0 the lowest."}}
		b.add(r)
	}
}
