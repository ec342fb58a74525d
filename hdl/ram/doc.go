// SPDX-License-Identifier: Apache-2.0

// Package ram is the memory module of the engine: Verilog, its description, its test.
package ram

import "embed"

//go:embed *.v
var files embed.FS
