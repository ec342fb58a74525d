// SPDX-License-Identifier: Apache-2.0

// Package interrupts is how hardware calls software (docs/interrupts.md): Verilog, its description, its test. It looks at what other blocks count and
// report anyway, and stands before their registers, so that none of them knows of it.
package interrupts

import "embed"

//go:embed *.v
var files embed.FS
