// SPDX-License-Identifier: Apache-2.0

// Package aggregatedata is the lanes and the payload buffer: Verilog, its description, its test.
package aggregatedata

import "embed"

//go:embed *.v
var files embed.FS
