// SPDX-License-Identifier: Apache-2.0

// Package packetbuffer is the payload of frames under way: Verilog, its description, its test.
package packetbuffer

import "embed"

//go:embed *.v
var files embed.FS
