// SPDX-License-Identifier: Apache-2.0

// Package priority is what a port with a queue for each priority has beside the queues (docs/ports.md): Verilog, its description, its test. A frame
// finds its queue behind the engine and its turn before the MAC, so that neither engine nor queue knows of priorities.
package priority

import "embed"

//go:embed *.v
var files embed.FS
