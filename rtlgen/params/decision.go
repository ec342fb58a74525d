// SPDX-License-Identifier: Apache-2.0

package params

// leastDecisionStages and mostDecisionStages are the register stages that a decision may take, from what a frame's header finds to its work for the
// adders, in Mode II: where it belongs, what is known of it (two cycles), what it does; and one in which the work waits.
const leastDecisionStages, mostDecisionStages = 4, 5

// shortDecisionMHz is the clock up to which an FPGA with a wide bus takes the fewest: fpga100g and its like have 8 LUT levels and fewer everywhere then
// (incforge fpga --family xcup), which is what 250 MHz take. Where a bus is narrow a packet is longer than its decision, and a small FPGA's clock has no room.
const shortDecisionMHz = 250

// decisionStages is the number of stages of a decision: as given, or as few as the clock leaves time for.
func (p Params) decisionStages() int {
	switch {
	case p.DecisionStages > 0:
		return p.DecisionStages
	case p.Technology == FPGA && p.BusBytes >= wideBus && p.ClockMHz <= shortDecisionMHz:
		return leastDecisionStages
	default:
		return mostDecisionStages
	}
}
