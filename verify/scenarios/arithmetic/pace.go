// SPDX-License-Identifier: Apache-2.0

package arithmetic

import (
	"cmp"
	"fmt"
	"math"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// What docs/engine.md section 9 promises of a result of r rows, paceRows and more, of S pairs: the last beat of its first copy leaves at most r * (1 + S) + paceCycles
// cycles behind its last contribution's.
const (
	paceRows   = 32
	paceCycles = 12
)

// needPace is for engines for which that holds.
func needPace(p contract.Params) string {
	if !p.Reproducible() {
		return "is about reproducible sums"
	}
	if p.EagerTree || p.ECC || p.PayloadBanks != 1 || p.Planes() > 2 || p.BusBytes > 64 || p.MTUBytes < paceRows*p.RowBytes() || p.Mode != 2 {
		return "is about Mode II with at most two pairs, a payload memory of two ports without ecc, no eager tree, buses up to 64 bytes, and results of 32 rows"
	}
	return cmp.Or(rig.NeedOneWidth(p), rig.NeedBare(p))
}

// pace holds the reduction of a long result to a number of cycles: the tree begins when the last row of its last contribution is being added.
func pace(t *rig.T) {
	e := t.Engine()
	for _, kind := range oneOfEach(t) {
		g := e.MakeGroup(0, 1, t.Params.Members, false, rig.WithKind(kind))
		g.Program()
		k := 0
		for n := t.Params.MTUBytes; n >= paceRows*t.Params.RowBytes(); n /= 2 {
			t.In(fmt.Sprintf("%v, %d bytes", kind, n), func() { leavesInTime(g, g.PSN(k), n) })
			k++
		}
		g.Disable()
	}
}

// leavesInTime completes a PSN of so many bytes when nothing else is under way.
func leavesInTime(g *rig.Group, psn roce.PSN, n int) {
	t, e, r := g.T, g.E, g.Round(psn, n)
	m := t.Shuffled(g.Members())
	for _, c := range m[1:] {
		e.Exchange(r.Frame(c))
	}
	last, first := uint64(0), uint64(math.MaxUint64) // beats: the contribution's, and that of the first copy
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) { last = a.Last }
	for _, o := range e.Exchange(r.Frame(m[0])) {
		first = min(first, o.Last)
	}
	e.OnAccept = nil
	rows := n / t.Params.RowBytes() * g.Units()
	most := uint64(rows*(1+t.Params.Planes()) + paceCycles)
	t.Promise(first-last <= most, "%d rows took %d cycles, expected at most %d", rows, first-last, most)
	for _, c := range g.Members() {
		e.Exchange(g.Ack(c, psn))
	}
}
