// SPDX-License-Identifier: Apache-2.0

// Package csr is the registers: Verilog, its description, its test.
package csr

import "embed"

//go:embed *.v
var files embed.FS
