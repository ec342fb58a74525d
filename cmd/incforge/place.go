// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"incforge/fpga"
	"incforge/fpga/place"
)

// placeTools is where make tools-place installs nextpnr.
const placeTools = "place-tools/bin"

// placeFlags say whether and how a design is placed and routed.
type placeFlags struct {
	place bool
	seeds int
}

func (p *placeFlags) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.place, "place", false, "place and route the top with nextpnr (make tools-place), at the configuration's clock")
	cmd.Flags().IntVar(&p.seeds, "seeds", 3, "of --place: runs, with the seeds 1, 2, …")
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
	o.Place = &place.Options{ToolDirs: []string{filepath.Join(buildDir, placeTools)}}
	for seed := range p.seeds {
		o.Place.Seeds = append(o.Place.Seeds, seed+1)
	}
	return nil
}
