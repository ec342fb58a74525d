// SPDX-License-Identifier: Apache-2.0

// Package contract is what crosses from the generator to everybody else, said once: registers by field, counters by name, element
// types and operations, tops, clock, and the manifest that carries them. The generator fills it; simulation, verification, synthesis,
// reports and drivers read it. It imports nothing of this module.
//
// What other languages need is printed from it: the C header, SystemRDL, Markdown, the Go driver, and the constants inside the leaf
// modules' Verilog and the tables inside the documents. The last two stand between marks in files that people write (Fill), so that every
// such file is complete as it lies: a module has no include file, and no tool needs a search path. Printing happens again whenever a
// module's source is taken (leaf.Source), so a design is never behind the contract; `go generate ./contract` brings the files up to date,
// and a test says when they are not.
//
// Long: half of it is the one map, written out register by register, and half its printers, a file each. They read fields of a register that
// nobody else sees; as packages they would have to export those.
package contract

//go:generate go test -run ^Test(Printed|Golden)$ . -update
