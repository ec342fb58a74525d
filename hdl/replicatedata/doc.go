// SPDX-License-Identifier: Apache-2.0

// Package replicatedata is results and copies: Verilog, its description, its test.
package replicatedata

import "embed"

//go:embed *.v
var files embed.FS
