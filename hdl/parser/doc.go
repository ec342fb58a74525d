// SPDX-License-Identifier: Apache-2.0

// Package parser is the block that takes frames apart: Verilog, its description, its test.
package parser

import "embed"

//go:embed *.v
var files embed.FS
