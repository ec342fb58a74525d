// SPDX-License-Identifier: Apache-2.0

// Package assemble is header and payload joined: Verilog, its description, its test.
package assemble

import "embed"

//go:embed *.v
var files embed.FS
