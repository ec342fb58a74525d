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
		}
		hdltest.Check(t, legal, []hdltest.Refused{
			{Leaf: stream.FIFO{Width: 0, DepthW: 1}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 0}, Params: param("DEPTH_W", 0), Rule: "DEPTH_W must be 1 to 10"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 11}, Params: param("DEPTH_W", 11), Rule: "DEPTH_W must be 1 to 10"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 1, Margin: 2}, Params: param("MARGIN", 2), Rule: "MARGIN must be less than 2**DEPTH_W"},
			{Leaf: stream.FIFO{Width: 1, DepthW: 1, Margin: -1}, Params: param("MARGIN", -1), Rule: "MARGIN must be less than 2**DEPTH_W"},
		})
	})
	t.Run("stream_fifo", func(t *testing.T) {
		t.Parallel()
		legal := []graph.Describer{
			stream.StreamFIFO{Width: 1, DepthW: 2, Margin: 0}, stream.StreamFIFO{Width: 2, DepthW: 3, Margin: 7},
			stream.StreamFIFO{Width: 74, DepthW: 9, Margin: 8}, stream.StreamFIFO{Width: 577, DepthW: 16, Margin: 1},
		}
		hdltest.Check(t, legal, []hdltest.Refused{
			{Leaf: stream.StreamFIFO{Width: 0, DepthW: 2}, Params: param("WIDTH", 0), Rule: "WIDTH must be at least 1"},
			{Leaf: stream.StreamFIFO{Width: 1, DepthW: 1}, Params: param("DEPTH_W", 1), Rule: "DEPTH_W must be 2 to 16"},
			{Leaf: stream.StreamFIFO{Width: 1, DepthW: 17}, Params: param("DEPTH_W", 17), Rule: "DEPTH_W must be 2 to 16"},
			{Leaf: stream.StreamFIFO{Width: 1, DepthW: 2, Margin: 4}, Params: param("MARGIN", 4), Rule: "MARGIN must be less than 2**DEPTH_W"},
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
