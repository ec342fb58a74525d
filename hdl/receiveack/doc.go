// SPDX-License-Identifier: Apache-2.0

// Package receiveack is the block that keeps what every endpoint has acknowledged, and finds the minimum: Verilog, its description, its test.
package receiveack

import "embed"

//go:embed *.v
var files embed.FS
