// SPDX-License-Identifier: Apache-2.0

// Package recyclebuffer is slot state and its reuse: Verilog, its description, its test.
package recyclebuffer

import "embed"

//go:embed *.v
var files embed.FS
