// SPDX-License-Identifier: Apache-2.0

// Package prove shows properties of the generated Verilog without a harness: for every input that the block's contract allows, and for all
// time or, where it says so, for a number of cycles. docs/proofs.md says what is proven and what is assumed.
//
// A block is proven where it stands, in the core of a generated design. All other instances of the core are taken away; what they drove
// can be anything. The text of blocks/NAME.vh, put before the block's endmodule, says what of "anything" the block's contract excludes
// (assume) and what is to hold (assert). Yosys makes an and-inverter graph of it, ABC searches: pdr for all time, bmc3 up to a depth.
//
// Each property has a planted fault, a change of the block's text that must break it. So a property that can never fail, and assumptions
// that contradict each other, show.
package prove
