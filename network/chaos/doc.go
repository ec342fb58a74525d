// SPDX-License-Identifier: Apache-2.0

// Package chaos draws cases from seeds, runs them, judges them, and reduces those that fail.
//
// A Case is everything about a run: engine, tree, groups and their calls, link, faults, resets. Draw makes one from a seed; Run builds a
// world of package comm from it, runs the calls and judges: every result exact in the sense of the specification, no QP in error, every
// queue and every slot empty, nothing left on its way, the counters' identities, and, where the engine is not the reference itself, every
// frame and every counter equal to the reference's. Campaign does that for many seeds at once.
//
// Shrink reduces a failing case: fewer groups and calls, less data, a smaller tree, fewer kinds of faults; then it replaces probabilities by
// the list of faults that hit in the failing run, and takes those away one by one. What is left is small, still fails in the same way, and
// is a YAML file that says everything.
package chaos
