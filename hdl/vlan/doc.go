// SPDX-License-Identifier: Apache-2.0

// Package vlan is what an engine with 802.1Q tags has beside the others' blocks: Verilog, its description, its test. The tags are taken off before
// the parser and put on behind Forward, so that no other block knows of them.
package vlan

import "embed"

//go:embed *.v
var files embed.FS
