// SPDX-License-Identifier: Apache-2.0

// Package decider has what the descriptions of inc_check_duplicate and inc_check_pipe share: parameters, their rules, and the pins to the
// blocks around. They stand in the same place of an engine's graph, one in each mode.
package decider
