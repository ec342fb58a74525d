// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"testing"

	"incforge/hdl/cdc"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	hdltest.Check(t, []graph.Describer{cdc.Count{Width: 2}, cdc.Count{Width: 17}},
		[]hdltest.Refused{{Leaf: cdc.Count{Width: 1}, Params: param("WIDTH", 1), Rule: "WIDTH must be at least 2"}})
	hdltest.Check(t, []graph.Describer{cdc.Event{Width: 5}},
		[]hdltest.Refused{{Leaf: cdc.Event{Width: 1}, Params: param("WIDTH", 1), Rule: "WIDTH must be at least 2"}})
	hdltest.Check(t, []graph.Describer{cdc.Reset{}}, nil)
	rx := cdc.PortRx{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64, Stall: 4}
	impatient := rx
	impatient.Stall = 3
	hdltest.Check(t, []graph.Describer{rx, cdc.PortRx{PortBytes: 8, Bytes: 8, DepthW: 3, MaxBytes: 16, Stall: 4096, Drop: 1}},
		[]hdltest.Refused{{Leaf: impatient, Params: param("STALL", 3), Rule: "STALL must be at least 4"}})
	hdltest.Check(t, []graph.Describer{cdc.PortTx{PortBytes: 2, Bytes: 8, DepthW: 4}, cdc.PortTx{PortBytes: 16, Bytes: 16, DepthW: 5, Drop: 1}},
		[]hdltest.Refused{{Leaf: cdc.PortTx{PortBytes: 2, Bytes: 8, DepthW: 17}, Params: param("DEPTH_W", 17), Rule: "DEPTH_W must be 2 to 16"}})
	cut := cdc.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64, Start: 8}
	early, long := cut, cut
	early.Start, long.MaxBytes = 9, 121
	hdltest.Check(t, []graph.Describer{cut, cdc.PortTxCut{PortBytes: 8, Bytes: 8, DepthW: 3, MaxBytes: 16, Start: 1, Drop: 1}}, []hdltest.Refused{
		{Leaf: early, Params: param("START", 9), Rule: "START must be 1 to the words of MAX_BYTES"},
		{Leaf: long, Params: param("MAX_BYTES", 121), Rule: "MAX_BYTES must be two beats at least, and fit the queue with a beat to spare"},
	})
}
