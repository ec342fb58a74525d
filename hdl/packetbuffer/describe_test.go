// SPDX-License-Identifier: Apache-2.0

package packetbuffer_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/packetbuffer"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescription(t *testing.T) {
	t.Parallel()
	type pb = packetbuffer.PacketBuffer
	hdltest.Check(t, []graph.Describer{
		pb{Bytes: 8, AddrW: 5, DepthW: 4, Margin: 7}, pb{Bytes: 16, AddrW: 9, DepthW: 5, Margin: 7}, pb{Bytes: 32, AddrW: 7, DepthW: 4, Margin: 7},
		pb{Bytes: 64, AddrW: 9, DepthW: 10, Margin: 7}, pb{Bytes: 128, AddrW: 8, DepthW: 5, Margin: 7}, pb{Bytes: 256, AddrW: 8, DepthW: 5, Margin: 7}, pb{Bytes: 64, AddrW: 20, DepthW: 4, Margin: 7},
		pb{Bytes: 2048, AddrW: 5, DepthW: 5, EOFDelay: 1, Margin: 7}, pb{Bytes: 1024, AddrW: 6, DepthW: 4, EOFDelay: 2, Margin: 7}, pb{Bytes: 8, AddrW: 5, DepthW: 4, EOFDelay: 15, Margin: 7}, pb{Bytes: 64, AddrW: 4, DepthW: 5, EOFDelay: 2, Margin: 3},
	}, []hdltest.Refused{
		{Leaf: pb{Bytes: 4, AddrW: 5, DepthW: 4, Margin: 7}, Params: param("BYTES", 4), Rule: "BYTES must be a power of two of at least 8"},
		{Leaf: pb{Bytes: 12, AddrW: 5, DepthW: 4, Margin: 7}, Params: param("BYTES", 12), Rule: "BYTES must be a power of two of at least 8"},
		{Leaf: pb{Bytes: 8, AddrW: 3, DepthW: 4, Margin: 6}, Params: append(param("ADDR_W", 3), graph.Param{Name: "MARGIN", Value: 6}), Rule: "ADDR_W must be 4 to 20"},
		{Leaf: pb{Bytes: 8, AddrW: 5, DepthW: 4}, Params: param("MARGIN", 0), Rule: "MARGIN must be 1 to 2**ADDR_W - 2"},
		{Leaf: pb{Bytes: 8, AddrW: 5, DepthW: 4, Margin: 31}, Params: param("MARGIN", 31), Rule: "MARGIN must be 1 to 2**ADDR_W - 2"},
		{Leaf: pb{Bytes: 8, AddrW: 21, DepthW: 4, Margin: 7}, Params: param("ADDR_W", 21), Rule: "ADDR_W must be 4 to 20"},
		{Leaf: pb{Bytes: 8, AddrW: 5, DepthW: 3, Margin: 7}, Params: param("DEPTH_W", 3), Rule: "DEPTH_W must be 4 to 10"},
		{Leaf: pb{Bytes: 8, AddrW: 5, DepthW: 11, Margin: 7}, Params: param("DEPTH_W", 11), Rule: "DEPTH_W must be 4 to 10"},
		{Leaf: pb{Bytes: 8, AddrW: 5, DepthW: 4, EOFDelay: 16, Margin: 7}, Params: param("EOF_DELAY", 16), Rule: "EOF_DELAY must be 0 to 15"},
	})
}
