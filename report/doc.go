// SPDX-License-Identifier: Apache-2.0

// Package report gathers what the other commands left in folders (manifest.json, result lines of verify, metrics of synth and
// fpga, benchmarks, the block diagram) and draws it: one HTML file that needs no network and no script, and a table for the
// terminal. It computes nothing that is not in those files but sums, counts and ratios of the figures shown. The same inputs
// give the same bytes.
package report
