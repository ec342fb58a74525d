// SPDX-License-Identifier: Apache-2.0

// Package ram is the memory of the engine: two memories, a wrapper for each big one, the payload memory with its error-correcting
// code: Verilog, descriptions, tests.
package ram

import "embed"

//go:embed *.v
var files embed.FS
