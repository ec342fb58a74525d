// SPDX-License-Identifier: Apache-2.0

// Package forward is bypass and output: Verilog, its description, its test.
package forward

import "embed"

//go:embed *.v
var files embed.FS
