// SPDX-License-Identifier: Apache-2.0

// Package verify runs scenarios against an engine and judges it: frame by frame and counter by counter against the reference
// engine of package inc, and end to end against plain arithmetic at model hosts.
//
// Run is the front door. A scenario knows the engine as a dut.DUT only, so the same scenario runs on Verilated RTL, on a
// synthesised netlist and on the reference itself. What a scenario needs it takes from the manifest: members, ports, MTU,
// window; nothing of the generator is imported.
//
//	dut       the contract, and its implementations
//	score     scoreboard: engine against reference, functional coverage
//	ctrl      programming groups and endpoints through registers
//	host      a NIC: reliable connection, go-back-N, as rxe was measured
//	net       links with delays and faults, one deterministic scheduler
//	cover     functional coverage
//	manifest  what the generator says about a design
//	result    JSON lines and JUnit
package verify
