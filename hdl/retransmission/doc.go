// SPDX-License-Identifier: Apache-2.0

// Package retransmission is the block that knows who is to be sent what again, and when, in Mode III: Verilog, its description, its test.
package retransmission

import "embed"

//go:embed *.v
var files embed.FS
