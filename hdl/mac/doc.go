// SPDX-License-Identifier: Apache-2.0

// Package mac is what stands between a port of the switch top and an Ethernet MAC (docs/ports.md): thin wrappers for AMD's CMAC and for open MACs with
// AXI4-Stream, and the parts that they share. The switch top has none of them inside: whoever builds a board takes the one that fits.
package mac

import "embed"

//go:embed *.v
var files embed.FS
