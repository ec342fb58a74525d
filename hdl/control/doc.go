// SPDX-License-Identifier: Apache-2.0

// Package control is the block that knows the ranges of in-band groups: Verilog, its description, its test.
package control

import "embed"

//go:embed *.v
var files embed.FS
