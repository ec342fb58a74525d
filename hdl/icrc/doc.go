// SPDX-License-Identifier: Apache-2.0

// Package icrc is the invariant CRC: check, insertion and their XOR tables: Verilog, its description, its test.
package icrc

import "embed"

//go:embed *.v
var files embed.FS
