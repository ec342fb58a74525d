// SPDX-License-Identifier: Apache-2.0

// Package scenario runs a model step by step, without the tables and names of the search: Replay runs the steps that lead to a violation on
// reference engines and draws a chart, Script cuts out what one switch gets, and Drive gives that to any engine of verify.
package scenario
