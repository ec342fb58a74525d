// SPDX-License-Identifier: Apache-2.0

// Package verify runs scenarios against an engine and reports the results. The scoreboard compares every frame and
// counter with the reference engine of package inc; in scenarios with model hosts, plain arithmetic checks what the
// hosts receive.
//
// Run is the entry point. A scenario sees the engine only as a dut.DUT, so the same scenario runs on Verilog in
// Verilator, on a synthesised netlist and on the reference itself. It takes members, ports, MTU and window from the
// manifest; nothing of the generator is imported.
//
//	rig        the language that scenarios are written in
//	scenarios  the scenarios, one package for each subject
//	dut        the interface DUT and its implementations
//	score      the scoreboard: engine against reference, functional coverage
//	ctrl       programs groups and endpoints through registers
//	arith      element arithmetic written apart from the reference
//	cover      functional coverage
//	replay     replays captures
//	code       which lines, branches and bits of the Verilog were reached
//	flips      bits inverted in memories
//	result     JSON lines and JUnit
package verify
