// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/internal/clocked"
)

// foundFlag names the record of the flow that found a design's clock.
type foundFlag struct{ file string }

func (f *foundFlag) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "found", "", "JSON of incforge synth, or of fpga --place, of the same configuration: give times and rates too, at the clock that holds")
}

// clock is the design's: without a record there is no clock found.
func (f *foundFlag) clock(m *contract.Manifest) (clocked.Clock, error) {
	clock := clocked.Clock{AskedMHz: float64(m.Params.ClockMHz)}
	if f.file == "" {
		return clock, nil
	}
	var tops []string
	for _, key := range sortedKeys(m.Tops) {
		tops = append(tops, m.Tops[key].Module)
	}
	found, err := clocked.Read(f.file, m.Digest, tops...)
	if err != nil {
		return clock, usageError{err}
	}
	clock.FoundMHz, clock.By = found.FoundMHz, found.By
	return clock, nil
}
