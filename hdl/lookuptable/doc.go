// SPDX-License-Identifier: Apache-2.0

// Package lookuptable is the block that finds a frame's endpoint and group: Verilog, its description, its test.
package lookuptable

import "embed"

//go:embed *.v
var files embed.FS
