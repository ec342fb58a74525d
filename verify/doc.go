// SPDX-License-Identifier: Apache-2.0

// Package verify runs scenarios against an engine and reports what they found: which passed, which failed and how to repeat them, what was
// covered. Run is the front door.
//
// A scenario knows the engine as a dut.DUT only, so the same scenario runs on Verilated RTL, on a synthesised netlist and on the
// reference. What it needs it takes from the manifest: members, ports, MTU, window; nothing of the generator is imported.
//
//	dut        the contract, and its implementations
//	score      scoreboard: engine against reference
//	rig        the language that scenarios are written in
//	scenarios  the scenarios, a package a subject
//	replay     captures through an engine
//	arith      element arithmetic apart from the reference
//	ctrl       programming groups and endpoints through registers
//	cover      functional coverage
//	result     JSON lines and JUnit
package verify
