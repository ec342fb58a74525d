// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/stream"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescriptions(t *testing.T) {
	t.Parallel()
	t.Run("skid", func(t *testing.T) {
		t.Parallel()
		var legal []graph.Describer
		for _, w := range []int{1, 2, 3, 7, 8, 9, 64, 2306} {
			legal = append(legal, stream.Skid{Width: w})
		}
		hdltest.Check(t, legal, []hdltest.Refused{
			{Leaf: stream.Skid{}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
		})
	})
	t.Run("fifo", func(t *testing.T) {
		t.Parallel()
		legal := []graph.Describer{
			stream.FIFO{Width: 1, DepthW: 1, Margin: 0}, stream.FIFO{Width: 2, DepthW: 1, Margin: 1}, stream.FIFO{Width: 3, DepthW: 2, Margin: 3},
			stream.FIFO{Width: 63, DepthW: 3, Margin: 1}, stream.FIFO{Width: 64, DepthW: 4, Margin: 8}, stream.FIFO{Width: 65, DepthW: 10, Margin: 1023},
			stream.FIFO{Width: 1, DepthW: 1, Margin: 0, Head: 1}, stream.FIFO{Width: 5, DepthW: 5, Margin: 8, Head: 5}, stream.FIFO{Width: 5, DepthW: 2, Margin: 1, Head: 2},
		}
		hdltest.Check(t, legal, []hdltest.Refused{
			{Leaf: stream.FIFO{Width: 0, DepthW: 1}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 0}, Params: param("DEPTH_W", 0), Rule: "DEPTH_W must be 1 to 10"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 11}, Params: param("DEPTH_W", 11), Rule: "DEPTH_W must be 1 to 10"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 1, Margin: 2}, Params: param("MARGIN", 2), Rule: "MARGIN must be less than 2**DEPTH_W"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 1, Margin: -1}, Params: param("MARGIN", -1), Rule: "MARGIN must be less than 2**DEPTH_W"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 1, Head: 2}, Params: param("HEAD", 2), Rule: "HEAD must be 0 to WIDTH"},
		})
	})
	t.Run("port_rx", func(t *testing.T) {
		t.Parallel()
		one := stream.PortRx{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64, Stall: 4}
		with := func(f func(p *stream.PortRx)) stream.PortRx {
			p := one
			f(&p)
			return p
		}
		const bytes, port, depth = "BYTES must be a power of two, at least 2", "PORT_BYTES must be a power of two up to BYTES", "DEPTH_W must be 2 to 16"
		const most = "MAX_BYTES must be two beats at least, and fit the queue with a beat to spare"
		hdltest.Check(t, []graph.Describer{
			one, stream.PortRx{PortBytes: 1, Bytes: 2, DepthW: 2, MaxBytes: 6, Stall: 5, Drop: 1}, stream.PortRx{PortBytes: 8, Bytes: 8, DepthW: 3, MaxBytes: 16, Stall: 4096},
		}, []hdltest.Refused{
			{Leaf: with(func(p *stream.PortRx) { p.Bytes = 12 }), Params: param("BYTES", 12), Rule: bytes},
			{Leaf: with(func(p *stream.PortRx) { p.PortBytes = 3 }), Params: param("PORT_BYTES", 3), Rule: port},
			{Leaf: with(func(p *stream.PortRx) { p.DepthW = 1 }), Params: param("DEPTH_W", 1), Rule: depth},
			{Leaf: with(func(p *stream.PortRx) { p.MaxBytes = 121 }), Params: param("MAX_BYTES", 121), Rule: most},
			{Leaf: with(func(p *stream.PortRx) { p.Stall = 3 }), Params: param("STALL", 3), Rule: "STALL must be at least 4"},
		})
	})
	t.Run("port_tx", func(t *testing.T) {
		t.Parallel()
		hdltest.Check(t, []graph.Describer{
			stream.PortTx{PortBytes: 2, Bytes: 8, DepthW: 4}, stream.PortTx{PortBytes: 1, Bytes: 2, DepthW: 2, Drop: 1},
			stream.PortTx{PortBytes: 16, Bytes: 16, DepthW: 5},
		}, []hdltest.Refused{
			{Leaf: stream.PortTx{PortBytes: 2, Bytes: 6, DepthW: 4}, Params: param("BYTES", 6), Rule: "BYTES must be a power of two, at least 2"},
			{Leaf: stream.PortTx{PortBytes: 3, Bytes: 8, DepthW: 4}, Params: param("PORT_BYTES", 3), Rule: "PORT_BYTES must be a power of two up to BYTES"},
			{Leaf: stream.PortTx{PortBytes: 2, Bytes: 8, DepthW: 17}, Params: param("DEPTH_W", 17), Rule: "DEPTH_W must be 2 to 16"},
		})
	})
	t.Run("port_regs", func(t *testing.T) {
		t.Parallel()
		hdltest.Check(t, []graph.Describer{
			stream.PortRegs{AxilW: 16, Ports: 4, Kinds: 7}, stream.PortRegs{AxilW: 18, Ports: 1, Kinds: 1},
		}, []hdltest.Refused{
			{Leaf: stream.PortRegs{AxilW: 15, Ports: 4, Kinds: 7}, Params: param("AXIL_W", 15), Rule: "AXIL_W must be 16 to 22"},
			{Leaf: stream.PortRegs{AxilW: 16, Ports: 33, Kinds: 7}, Params: param("PORTS", 33), Rule: "PORTS must be 1 to 32"},
			{Leaf: stream.PortRegs{AxilW: 16, Ports: 4, Kinds: 9}, Params: param("KINDS", 9), Rule: "KINDS must be 1 to 8"},
		})
	})
	type ports struct{ ports, portW, bytes int }
	lattice := []ports{{1, 1, 8}, {2, 1, 16}, {3, 2, 1}, {4, 2, 64}, {5, 3, 32}, {3, 8, 2}, {16, 4, 128}}
	bad := []struct {
		ports
		params []graph.Param
		rule   string
	}{
		{ports{0, 1, 8}, param("PORTS", 0), "PORTS must be 1 to 2**PORT_W"},
		{ports{3, 1, 8}, param("PORTS", 3), "PORTS must be 1 to 2**PORT_W"},
		{ports{1, 0, 8}, param("PORT_W", 0), "PORTS must be 1 to 2**PORT_W"},
		{ports{1, 1, 0}, param("BYTES", 0), "BYTES must be at least 1"},
	}
	for name, describe := range map[string]func(p ports) graph.Describer{
		"port_arbiter": func(p ports) graph.Describer {
			return stream.PortArbiter{Ports: p.ports, PortW: p.portW, Bytes: p.bytes}
		},
		"port_demux": func(p ports) graph.Describer {
			return stream.PortDemux{Ports: p.ports, PortW: p.portW, Bytes: p.bytes}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var legal []graph.Describer
			for _, p := range lattice {
				legal = append(legal, describe(p))
			}
			var refused []hdltest.Refused
			for _, b := range bad {
				refused = append(refused, hdltest.Refused{Leaf: describe(b.ports), Params: b.params, Rule: b.rule})
			}
			hdltest.Check(t, legal, refused)
		})
	}
}
