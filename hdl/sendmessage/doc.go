// SPDX-License-Identifier: Apache-2.0

// Package sendmessage is the block that sends messages in Mode I, cut for each endpoint by its own path MTU, and takes what is answered to them:
// Verilog, its description, its test.
package sendmessage

import "embed"

//go:embed *.v
var files embed.FS
