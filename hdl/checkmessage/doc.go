// SPDX-License-Identifier: Apache-2.0

// Package checkmessage is the block that decides what every frame does in Mode I and keeps the pools, with what it needs at its sides: the
// AckReq bits of frames, and the cutting of payloads where they meet their message. Verilog, descriptions, tests.
package checkmessage

import "embed"

//go:embed *.v
var files embed.FS
