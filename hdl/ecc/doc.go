// SPDX-License-Identifier: Apache-2.0

// Package ecc protects the memories of an engine, and of the queues of its ports, with ecc: all: memories with check bits in the places of those without, the block that
// contains what could not be corrected, and its registers: Verilog, descriptions, tests.
package ecc

import "embed"

//go:embed *.v
var files embed.FS
