// SPDX-License-Identifier: Apache-2.0

package rtlgen

import "incforge/hdl/verilog"

// stages are the columns in which the core's overview shows its blocks, of either mode.
func stages() []verilog.Stage {
	return []verilog.Stage{
		{Name: "receive", Blocks: []string{"Parser", "Parser (ICRC)", "PacketBuffer"}},
		{Name: "look up", Blocks: []string{"LookupTable", "FrameSteps"}},
		{Name: "decide", Blocks: []string{"CheckDuplicate", "CheckPipe", "ReceiveACK", "Retransmission", "SendAck", "OfferWork"}},
		{Name: "aggregate", Blocks: []string{"AggregateData", "ReplicateData"}},
		{Name: "send", Blocks: []string{"TranslateHeader", "Forward (assemble)", "Forward (ICRC)", "Forward"}},
		{Name: "control plane", Blocks: []string{"Registers", "Control", "RecycleBuffer"}},
	}
}
