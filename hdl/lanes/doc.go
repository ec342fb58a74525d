// SPDX-License-Identifier: Apache-2.0

// Package lanes is the arithmetic on elements: adder, lanes, conversion of 16-bit types: Verilog, its description, its test.
package lanes

import "embed"

//go:embed *.v
var files embed.FS
