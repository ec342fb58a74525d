// SPDX-License-Identifier: Apache-2.0

// Package report collects the output of the other commands from folders (manifest.json, result lines of verify,
// metrics of synth and fpga, benchmarks, the block diagram) and draws it: one HTML file that needs no network and no
// script, and a table for the terminal. It computes only sums, counts and ratios of figures in those files. The same
// inputs give the same bytes.
package report
