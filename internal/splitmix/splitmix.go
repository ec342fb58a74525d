// SPDX-License-Identifier: Apache-2.0

// Package splitmix makes of numbers that are close to each other, such as counts, numbers that have nothing in common (SplitMix64, by Steele,
// Lea and Flood).
package splitmix

// Mix spreads x over all 64 bits. Different x give different results.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// At is number i, from 0, of the sequence that seed begins.
func At(seed, i uint64) uint64 { return Mix(seed + (i+1)*0x9E3779B97F4A7C15) }
