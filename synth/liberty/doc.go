// SPDX-License-Identifier: Apache-2.0

// Package liberty makes and reads Liberty files.
//
// It makes the predictive 28 nm-class library of the project: standard cells
// (Generate) and SRAM macros (CompileSRAM, GenerateSRAM). There is no public
// 28 nm library, and none of the numbers in here come from a foundry. Gate
// counts carry over between technologies far better than gate sizes, so a
// library needs only a handful of node figures: the area of a NAND2, the delay
// of an inverter driving four of its kind (FO4), the load of a wire and the
// size of a memory cell. Those are taken from the public record and cited at
// the constants. The relative sizes and delays of the cells (template.go) are
// the means over three open libraries (Nangate 45 nm, ASAP7, SkyWater 130 nm),
// made dimensionless.
//
// Expect, at about one sigma: logic area -20/+30 %, SRAM area -20/+40 %,
// delay +/-30 %. Energies are worth a factor of two, leakage a factor of four.
//
// The reader half (Parse) understands enough of Liberty to tell the cells'
// areas, pins and functions and to drop those that must not be used in
// synthesis, keeping the rest of the text as it is.
package liberty
