// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"incforge/rtlgen"
	"incforge/rtlgen/reuse"
)

// reuse compares designs by their leaf modules: two in words, more in a table.
func (a *app) reuse() *cobra.Command {
	var jsonFile string
	cmd := &cobra.Command{Use: "reuse FROM IN...", Short: "How much of FROM's module library the design IN reuses unchanged, in modules and lines of code",
		Long: `Compare the leaf Verilog of designs, byte for byte: how much of FROM's modules and lines of code IN instantiates unchanged, and which modules only
one of them has. With three designs or more, such as mini, mini3 and mini1, a preset in each mode: a table of how much of each one every other one has, and what all have.`,
		Args: cobra.MinimumNArgs(2), RunE: func(_ *cobra.Command, args []string) error {
			var all []*rtlgen.Design
			for _, name := range args {
				p, err := (&configFlags{}).load(name)
				if err != nil {
					return err
				}
				d, err := rtlgen.Generate(p)
				if err != nil {
					return err
				}
				all = append(all, d)
			}
			text, figures := reuseOf(all)
			fmt.Fprint(a.out, text)
			if jsonFile == "" {
				return nil
			}
			out, err := json.MarshalIndent(figures, "", "  ")
			if err != nil {
				return fmt.Errorf("print the reuse as JSON: %w", err)
			}
			return write(jsonFile, append(out, '\n'))
		}}
	bindJSON(cmd, &jsonFile)
	return cmd
}

// reuseOf is what is printed of two designs or more, in words and as figures.
func reuseOf(all []*rtlgen.Design) (string, any) {
	if len(all) > 2 {
		t := reuse.Among(all...)
		return t.Text(), t
	}
	r := reuse.Of(all[0], all[1])
	return r.Text(), r
}
