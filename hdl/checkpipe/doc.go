// SPDX-License-Identifier: Apache-2.0

// Package checkpipe is the block that decides what every frame does in Mode III, and keeps the pipes: Verilog, its description, its test.
package checkpipe

import "embed"

//go:embed *.v
var files embed.FS
