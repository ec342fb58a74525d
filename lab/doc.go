// SPDX-License-Identifier: Apache-2.0

// Package lab starts a cluster of Linux guests on simulated switches, from one file: guests in user-mode Linux with RoCE in software,
// switches by package live, links between them with rate, delay and faults, groups over trees of switches. It runs commands on the guests,
// joins their queue pairs to groups, and takes away all that it made.
package lab
