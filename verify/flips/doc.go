// SPDX-License-Identifier: Apache-2.0

// Package flips inverts stored bits in every memory of an engine with ecc: all, while hosts exchange messages through it, and judges what
// leaves by plain arithmetic: one wrong bit may change nothing, two may cost frames, but nothing wrong may leave that a receiver would take.
// It is no scenario, because the reference has no memories: after a word was lost the two are not the same engine any more.
package flips
