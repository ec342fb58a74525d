// SPDX-License-Identifier: Apache-2.0

// Package graph holds designs as typed structure: modules with ports, parameters
// and AXI4-Stream bundles; composites that join instances of them.
//
// A leaf module is Verilog text with a Go description. A composite is built by
// calls on a Composite (Instance, Connect, ConnectStream, Link, Tie, Open) and
// becomes a Module with Build, which checks everything at once: widths,
// directions, one driver a bit, no missing driver, no forgotten output, no mixed
// clocks, legal and unique names. Every error names both ends by path and the Go
// file and line of the call that asked for the connection.
//
// The package knows no Verilog syntax (package verilog prints) and no engine
// (package rtlgen composes). It has no mutable package state: composites may be
// built in parallel.
package graph
