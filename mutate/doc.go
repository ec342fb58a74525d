// SPDX-License-Identifier: Apache-2.0

// Package mutate measures the harness: it makes mistakes in the generated Verilog (package mutant), one at a time, and counts how many of them
// some scenario notices. All mutants of a campaign are in one model; which one is on is chosen when a simulation begins.
//
// A mutant is killed if a scenario fails that passes without it. One that makes the engine stand still is killed, too: a scenario that is
// clocked for several times as long as without the mutant has failed. Before anything is simulated, Yosys takes out those mutants whose choice makes no
// difference in this configuration: code that it leaves constant or unused. What is left and lives is a hole, or a mistake that cannot be
// seen from outside and that nobody has proven to be one.
package mutate
