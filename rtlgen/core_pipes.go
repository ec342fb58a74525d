// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"incforge/rtlgen/graph"
	"incforge/rtlgen/params"
	"incforge/rtlgen/regs"
)

// modeIII is not the core of Mode III yet: the ports, registers and counters of it round the blocks of Mode II, so that register map,
// manifest and reference can be worked with while the core is built.
func modeIII(p params.Params, model regs.Model) (*graph.Module, error) {
	c := translated(p, model)
	c.Output("mon_act_valid", 1, graph.Doc("a frame is decided or an action taken"))
	c.Output("mon_act_kind", 3, graph.Doc("0 frame, 1 send, 2 send one, 3 time-out, 4 resume"))
	c.Output("mon_act_ei", p.Derived().EIBits, graph.Doc("the endpoint, or group and pipe of a send"))
	for _, name := range []string{"mon_act_valid", "mon_act_kind", "mon_act_ei"} {
		c.Tie(c.Pin(name), 0)
	}
	return c.Build()
}
