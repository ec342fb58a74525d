// SPDX-License-Identifier: Apache-2.0

// Package model holds the parts that a model of modelcheck is made of: its configuration, packets, go-back-N hosts, switches, each of which is
// the reference engine put into a state and asked for the next, and the symmetries of the tree.
package model
