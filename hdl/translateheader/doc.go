// SPDX-License-Identifier: Apache-2.0

// Package translateheader is headers of frames that the engine makes: Verilog, its description, its test.
package translateheader

import "embed"

//go:embed *.v
var files embed.FS
