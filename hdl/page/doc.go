// SPDX-License-Identifier: Apache-2.0

// Package page is the front of a block of registers that stands before others on the register bus: Verilog and its description. Blocks of registers
// that are new have it inside and say no more than what their words are, so that the bus's protocol is not written once more for each.
package page

import "embed"

//go:embed *.v
var files embed.FS
