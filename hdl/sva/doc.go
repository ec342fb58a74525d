// SPDX-License-Identifier: Apache-2.0

// Package sva has the assertions that go with the Verilog: a checker a block, which reads the block's signals and judges them in every
// cycle. docs/assertions.md says what they say and how tools use them.
//
// A checker is a module of Verilog-2005 but for its immediate assertions, each in a block of its own name, which is what Verilator, Yosys,
// Icarus Verilog and commercial simulators all read. It comes into the design by bind or, for tools without, by an instance in the text
// of its block.
package sva

import "embed"

//go:embed checkers/*.sv
var checkers embed.FS
