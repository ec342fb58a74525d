// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"

	"incforge/roce"
	"incforge/verify/rig"
)

// failed has one endpoint end its connection. The others get what there is until the pipes are full, and a start makes the group whole.
func failed(t *rig.T) {
	for _, syndrome := range []uint8{roce.NAKInvalidRequest, roce.NAKRemoteAccess, roce.NAKRemoteOperational} {
		t.In(fmt.Sprintf("NAK %#x", syndrome), func() { ended(t, syndrome) })
	}
}

func ended(t *rig.T, syndrome uint8) {
	const timeout = 10
	e := t.PipeEngine(timeout)
	g := group{e.Group(0, 1, t.Params.Members, false)}
	m, n := g.Members(), g.MW()
	c := m[t.Rand.IntN(len(m))]
	others := rig.AllBut(m, c)
	g.shown(0)
	setTimeout(e, rig.LongTimeout)
	g.collective(g.psn(0), m...)
	g.Send(g.AETH(c, g.psn(0), syndrome)).As("a NAK that ends the connection").Expect()
	g.shown(1 << c)
	g.acknowledge(g.psn(0), others...)
	for k := 1; k < n; k++ {
		g.collective(g.psn(k), others...)
		g.acknowledge(g.psn(k), others...)
	}
	for k := n; k < 2*n; k++ { // complete, but it cannot move
		g.collective(g.psn(k))
	}
	g.Send(g.Data(m[0], g.psn(2*n), g.Values(16))).As("beyond the pipes").Expect(refusalTo(m[0], g.psn(2*n)))
	g.Send(g.nak(c, g.psn(0))).As("a NAK of who failed").Expect()
	setTimeout(e, timeout)
	if outs := wait(e, e.Now()+3*microseconds(t, timeout)); len(outs) > 0 {
		t.Fatalf("%d frames left to an endpoint that failed", len(outs))
	}
	g.Reset()
	g.shown(0)
	setTimeout(e, rig.LongTimeout)
	g.collective(g.psn(0), m...)
	g.acknowledge(g.psn(0), m...)
}

// shown checks which endpoints the register shows as failed.
func (g group) shown(want uint32) {
	if got := g.E.Field("GROUP_FAILED", g.Index, "mask"); got != want {
		g.T.Fatalf("GROUP_FAILED is %#x, expected %#x", got, want)
	}
}
