// SPDX-License-Identifier: Apache-2.0

// Package upset makes memories whose stored bits a test can invert while an engine runs: models of inc_ram_1r1w, inc_ram_1rw and inc_ram_2c,
// put in their places for a simulation, that are reached by the further pins which memory_pins gives every memory. A foundry's memory has
// its self-test on such pins; here they carry which memory, which word, which bits.
package upset
