// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"incforge/synth"
	"incforge/verify/dut"
)

// dutFlags say which implementation of the engine a command works on.
type dutFlags struct {
	kind, rtl string
	sources   []string // of a netlist
	assert    bool
}

func (d *dutFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.kind, "dut", string(dut.KindRTL), "implementation: "+strings.Join(kinds(), ", "))
	cmd.Flags().StringVar(&d.rtl, "rtl", "", "use the Verilog in this generated folder as it is, edited or not")
}

func kinds() []string {
	var all []string
	for _, k := range dut.Kinds() {
		all = append(all, string(k))
	}
	return all
}

// open returns the generated folder of the DUT; a netlist is synthesised from it.
func (d *dutFlags) open(cmd *cobra.Command, a *app, config string, flags *configFlags) (dir string, done func(), err error) {
	if !slices.Contains(kinds(), d.kind) {
		return "", nil, usagef("--dut %s: must be one of %s", d.kind, strings.Join(kinds(), ", "))
	}
	if d.rtl != "" {
		p, err := flags.load(config)
		if err != nil {
			return "", nil, err
		}
		if dir, done, err = a.edited(p, d.rtl); err != nil {
			return "", nil, err
		}
	} else if dir, done, err = a.generated(config, flags); err != nil {
		return "", nil, err
	}
	if dut.Kind(d.kind) == dut.KindNetlist {
		stop := a.working("netlist of %s", config)
		// Single-bit gates, not library cells: the same logic, and a C++ compiler finishes with it in minutes.
		file, err := synth.Netlist(cmd.Context(), dir, synth.NetlistOptions{Top: "switch", OutDir: filepath.Join(buildDir, "netlist")})
		stop()
		if err != nil {
			done()
			return "", nil, err
		}
		d.sources = []string{file}
	}
	return dir, done, nil
}

// engines is open and source for commands that need no Verilog of a reference engine, so that they take all of Mode I.
func (d *dutFlags) engines(cmd *cobra.Command, a *app, config string, flags *configFlags) (dut.Source, func(), error) {
	if d.rtl == "" && dut.Kind(d.kind) == dut.KindReference {
		return a.source(config, flags, dut.KindReference)
	}
	dir, done, err := d.open(cmd, a, config, flags)
	return d.source(dir, a), done, err
}

// source is the DUT in a folder that open returned.
func (d *dutFlags) source(dir string, a *app) dut.Source {
	return dut.Source{ManifestDir: dir, Kind: dut.Kind(d.kind), Sources: d.sources, Assert: d.assert, Log: a.log}
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
