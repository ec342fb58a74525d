// SPDX-License-Identifier: Apache-2.0

package sendack_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/sendack"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{sendack.SendAck{EIW: 4}, sendack.SendAck{EIW: 1}, sendack.SendAck{EIW: 11}}, []hdltest.Refused{
		{Leaf: sendack.SendAck{}, Params: []graph.Param{{Name: "EI_W", Value: 0}}, Rule: "EI_W must be 1 to 23"},
		{Leaf: sendack.SendAck{EIW: 24}, Params: []graph.Param{{Name: "EI_W", Value: 24}}, Rule: "EI_W must be 1 to 23"},
	})
}
