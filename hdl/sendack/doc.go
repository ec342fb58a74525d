// SPDX-License-Identifier: Apache-2.0

// Package sendack is the block that answers data in Mode III: Verilog, its description, its test.
package sendack

import "embed"

//go:embed *.v
var files embed.FS
