// SPDX-License-Identifier: Apache-2.0

// Package messagecsr has the registers and counters that Mode I adds to those of Mode III: Verilog, its description, its test.
package messagecsr

import "embed"

//go:embed *.v
var files embed.FS
