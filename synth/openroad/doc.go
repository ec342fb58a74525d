// SPDX-License-Identifier: Apache-2.0

// Package openroad writes what OpenROAD's flows need to place and route an engine: a design folder for OpenROAD-flow-scripts, with
// constraints in the platform's unit of time and abstracts (LEF, Liberty) of the memory macros, and for platforms that LibreLane knows a
// configuration of it. It checks a folder without OpenROAD: Yosys maps the design onto a library that the user names, OpenSTA times that
// netlist with the folder's constraints and Liberty files.
//
// The macros are predictive. No foundry's compiler made them, so nothing here can be taped out.
package openroad
