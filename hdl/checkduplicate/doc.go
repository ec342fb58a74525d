// SPDX-License-Identifier: Apache-2.0

// Package checkduplicate is the block that decides what every frame does: Verilog, its description, its test.
package checkduplicate

import "embed"

//go:embed *.v
var files embed.FS
