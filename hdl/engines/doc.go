// SPDX-License-Identifier: Apache-2.0

// Package engines is what joins several engines with one set of ports: Verilog, its description, its test. The contract is docs/engines.md.
package engines

import "embed"

//go:embed *.v
var files embed.FS
