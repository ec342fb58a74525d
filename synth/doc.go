// SPDX-License-Identifier: Apache-2.0

// Package synth prices a generated engine as an ASIC: Yosys and ABC map the
// Verilog beside a manifest onto a cell library, memories become SRAM macros,
// OpenSTA times the result, and Run returns areas, timing and what they are
// worth as a METRICS2.1-style record.
//
// Each module is synthesised by a process of its own and kept by content, so a
// second run takes what did not change; docs/synthesis.md tells the steps.
//
// The default library is the project's own predictive 28 nm-class one (package
// liberty). Nothing is placed or routed: wires are a load a sink, and every
// absolute figure carries an error bar in the output.
//
// Long: the steps of one flow, which hand on its state; what stands by itself (netlist, liberty, rtlil, yosys, design) is below.
package synth
