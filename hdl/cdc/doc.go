// SPDX-License-Identifier: Apache-2.0

// Package cdc is the crossings between the engine's clock and those of ports: Verilog, its description, its test.
package cdc

import "embed"

//go:embed *.v
var files embed.FS
