// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"incforge/rtlgen"
)

// reuse compares two designs by their leaf modules.
func (a *app) reuse() *cobra.Command {
	var jsonFile string
	cmd := &cobra.Command{Use: "reuse FROM IN", Short: "How much of FROM's module library the design IN reuses unchanged, in modules and lines of code",
		Args: cobra.ExactArgs(2), RunE: func(_ *cobra.Command, args []string) error {
			var both [2]*rtlgen.Design
			for i, name := range args {
				p, err := (&configFlags{}).load(name)
				if err != nil {
					return err
				}
				if both[i], err = rtlgen.Generate(p); err != nil {
					return err
				}
			}
			r := rtlgen.ReuseOf(both[0], both[1])
			fmt.Fprint(a.out, r.Text())
			if jsonFile == "" {
				return nil
			}
			text, err := json.MarshalIndent(struct {
				rtlgen.Reuse
				ModuleShare float64 `json:"module_share"`
				LineShare   float64 `json:"line_share"`
			}{r, r.ModuleShare(), r.LineShare()}, "", "  ")
			if err != nil {
				return fmt.Errorf("print the reuse as JSON: %w", err)
			}
			return write(jsonFile, append(text, '\n'))
		}}
	bindJSON(cmd, &jsonFile)
	return cmd
}
