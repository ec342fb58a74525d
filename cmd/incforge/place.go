// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/fpga"
	"incforge/fpga/place"
	"incforge/fpga/vendor"
)

// placeTools is where make tools-place installs nextpnr.
const placeTools = "place-tools/bin"

// placeFlags say whether and how a design is placed and routed.
type placeFlags struct {
	place, registers    bool
	seeds               int
	scripts, vendor     string
	part, quartusFamily string
}

func (p *placeFlags) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.place, "place", false, "place and route the top with nextpnr (make tools-place), at the configuration's clock")
	f := cmd.Flags()
	f.BoolVar(&p.registers, "registers", false, "of --place: put the ports behind shift registers, as is done where the package has too few pads")
	f.StringVar(&p.scripts, "scripts", "", "instead: write the scripts of a vendor's tool, constraints and Verilog into this folder; incforge report reads what the tool leaves there")
	f.StringVar(&p.vendor, "vendor", string(vendor.Vivado), fmt.Sprintf("of --scripts: %v", vendor.Tools()))
	f.StringVar(&p.part, "part", "", "of --scripts: the device (default: the paper's VU13P, or an Agilex 7)")
	f.StringVar(&p.quartusFamily, "part-family", "", "of --scripts: Quartus's name of the device's family")
	f.IntVar(&p.seeds, "seeds", 3, "of --place: runs, with the seeds 1, 2, …")
}

// write writes the scripts of a vendor's tool.
func (p *placeFlags) write(a *app, dir, top string) error {
	m, err := contract.Load(dir)
	if err != nil {
		return err
	}
	err = vendor.Write(m, p.scripts, vendor.Tool(p.vendor), vendor.Options{Top: top, Part: p.part, Family: p.quartusFamily})
	if errors.Is(err, vendor.ErrTool) || errors.Is(err, contract.ErrNoTop) {
		return usageError{err}
	}
	if err == nil {
		fmt.Fprintf(a.out, "scripts of %s in %s: how to run them stands at the head of %s.tcl\n", p.vendor, p.scripts, p.vendor)
	}
	return err
}

// set adds them to the options.
func (p *placeFlags) set(o *fpga.Options, family fpga.Family) error {
	if !p.place {
		return nil
	}
	if p.seeds < 1 {
		return usagef("--seeds %d: must be at least 1", p.seeds)
	}
	if _, err := family.Device(); err != nil {
		return usageError{err}
	}
	o.Place = &place.Options{Registers: p.registers, ToolDirs: []string{filepath.Join(buildDir, placeTools)}}
	for seed := range p.seeds {
		o.Place.Seeds = append(o.Place.Seeds, seed+1)
	}
	return nil
}
