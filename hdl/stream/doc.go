// SPDX-License-Identifier: Apache-2.0

// Package stream is queues and stream plumbing: Verilog, its description, its test.
package stream

import "embed"

//go:embed *.v
var files embed.FS
