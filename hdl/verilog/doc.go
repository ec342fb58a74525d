// SPDX-License-Identifier: Apache-2.0

// Package verilog prints the structures of package graph: composites as
// Verilog-2005, and what belongs beside them (file list, FuseSoC core, SDC
// constraints, block diagram). It is the only package that knows Verilog syntax,
// and it knows nothing about the engine.
//
// Output depends on the module alone: no dates, paths, users or map order. The
// same module gives the same bytes.
//
// Emitted text passes `verilator --lint-only -Wall` without waivers, `iverilog
// -g2005`, and yosys `hierarchy -check; proc; check -assert` without latches, as
// long as the leaf modules do.
package verilog
