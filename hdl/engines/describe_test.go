// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"testing"

	"incforge/hdl/engines"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescriptions(t *testing.T) {
	t.Parallel()
	const bytes, between, ei = "BYTES must be a power of two, at least 8", "ENGINES must be 2 to 8", "EI_W must be 1 to 21"
	t.Run("steer", func(t *testing.T) {
		t.Parallel()
		hdltest.Check(t, []graph.Describer{
			engines.Steer{Bytes: 8, Engines: 2, EIW: 1}, engines.Steer{Bytes: 16, Engines: 3, EIW: 21}, engines.Steer{Bytes: 64, Engines: 8, EIW: 11},
			engines.Steer{Bytes: 1024, Engines: 5, EIW: 7}, engines.Steer{Bytes: 8, Engines: 4, EIW: 5, Tags: true}, engines.Steer{Bytes: 64, Engines: 2, EIW: 20, Tags: true},
		}, []hdltest.Refused{
			{Leaf: engines.Steer{Bytes: 4, Engines: 2, EIW: 4}, Params: param("BYTES", 4), Rule: bytes},
			{Leaf: engines.Steer{Bytes: 24, Engines: 2, EIW: 4}, Params: param("BYTES", 24), Rule: bytes},
			{Leaf: engines.Steer{Bytes: 8, Engines: 1, EIW: 4}, Params: param("ENGINES", 1), Rule: between},
			{Leaf: engines.Steer{Bytes: 8, Engines: 9, EIW: 4}, Params: param("ENGINES", 9), Rule: between},
			{Leaf: engines.Steer{Bytes: 8, Engines: 2, EIW: 0}, Params: param("EI_W", 0), Rule: ei},
			{Leaf: engines.Steer{Bytes: 8, Engines: 2, EIW: 22}, Params: param("EI_W", 22), Rule: ei},
		})
	})
	t.Run("cross", func(t *testing.T) {
		t.Parallel()
		hdltest.Check(t, []graph.Describer{
			engines.Cross{Inputs: 1, InputW: 1, Bytes: 8}, engines.Cross{Inputs: 3, InputW: 2, Bytes: 64}, engines.Cross{Inputs: 16, InputW: 4, Bytes: 1},
		}, []hdltest.Refused{
			{Leaf: engines.Cross{Inputs: 0, InputW: 2, Bytes: 8}, Params: param("INPUTS", 0), Rule: "INPUTS must be 1 to 2**INPUT_W"},
			{Leaf: engines.Cross{Inputs: 5, InputW: 2, Bytes: 8}, Params: param("INPUTS", 5), Rule: "INPUTS must be 1 to 2**INPUT_W"},
			{Leaf: engines.Cross{Inputs: 4, InputW: 2, Bytes: 0}, Params: param("BYTES", 0), Rule: "BYTES must be at least 1"},
		})
	})
	for name, describe := range map[string]func(ports, portW, bytes int) graph.Describer{
		"fan": func(ports, portW, bytes int) graph.Describer {
			return engines.Fan{Ports: ports, PortW: portW, Bytes: bytes}
		},
		"round": func(ports, portW, bytes int) graph.Describer {
			return engines.Round{Ports: ports, PortW: portW, Bytes: bytes}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hdltest.Check(t, []graph.Describer{describe(1, 1, 8), describe(3, 2, 64), describe(16, 4, 1)}, []hdltest.Refused{
				{Leaf: describe(0, 2, 8), Params: param("PORTS", 0), Rule: "PORTS must be 1 to 2**PORT_W"},
				{Leaf: describe(5, 2, 8), Params: param("PORTS", 5), Rule: "PORTS must be 1 to 2**PORT_W"},
				{Leaf: describe(4, 2, 0), Params: param("BYTES", 0), Rule: "BYTES must be at least 1"},
			})
		})
	}
	t.Run("regs", func(t *testing.T) {
		t.Parallel()
		one := engines.Regs{AxilW: 18, EngW: 16, Engines: 2, Ports: 4, PortW: 2, Counters: 46, RX: 0, Bypass: 1, Snapshot: 60}
		with := func(f func(p *engines.Regs)) engines.Regs {
			p := one
			f(&p)
			return p
		}
		const axil = "AXIL_W must reach a window of ENG_W bits, at least 16, for each engine and one more"
		hdltest.Check(t, []graph.Describer{
			one, engines.Regs{AxilW: 22, EngW: 18, Engines: 8, Ports: 32, PortW: 5, Counters: 256, RX: 3, Bypass: 255, Snapshot: 60},
			engines.Regs{AxilW: 19, EngW: 17, Engines: 3, Ports: 1, PortW: 1, Counters: 2, RX: 1, Bypass: 0, Snapshot: 64},
		}, []hdltest.Refused{
			{Leaf: with(func(p *engines.Regs) { p.Engines = 1 }), Params: param("ENGINES", 1), Rule: between},
			{Leaf: with(func(p *engines.Regs) { p.Engines = 4 }), Params: param("ENGINES", 4), Rule: axil},
			{Leaf: with(func(p *engines.Regs) { p.AxilW = 16 }), Params: param("AXIL_W", 16), Rule: axil},
			{Leaf: with(func(p *engines.Regs) { p.Ports = 5 }), Params: param("PORTS", 5), Rule: "PORTS must be 1 to 32, and to 2**PORT_W"},
			{Leaf: with(func(p *engines.Regs) { p.Counters = 1 }), Params: param("COUNTERS", 1), Rule: "COUNTERS must be 2 to 256, with RX and BYPASS among them"},
			{Leaf: with(func(p *engines.Regs) { p.Bypass = 46 }), Params: param("BYPASS", 46), Rule: "COUNTERS must be 2 to 256, with RX and BYPASS among them"},
		})
	})
}
