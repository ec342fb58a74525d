// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"incforge/rtlgen/params"
)

// configFlags are the flags of every command that takes a CONFIG.
type configFlags struct {
	sets []string
}

func (c *configFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.sets, "set", nil, "override a parameter, KEY=VALUE; may be given more than once")
}

// load reads CONFIG with the overrides. Whatever is wrong with it is a matter of usage.
func (c *configFlags) load(config string) (params.Params, error) {
	p, err := params.Load(config, c.sets...)
	if err != nil {
		return params.Params{}, usageError{err}
	}
	return p, nil
}

func (a *app) config() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "List, show and describe parameter sets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	list := &cobra.Command{Use: "list", Short: "Names of the presets", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		names, err := params.Presets()
		if err != nil {
			return err
		}
		for _, n := range names {
			fmt.Fprintln(a.out, n)
		}
		return nil
	}}
	var (
		flags    configFlags
		jsonFile string
	)
	show := &cobra.Command{Use: "show CONFIG", Short: "Print every parameter as resolved, as YAML, and what the numbers come to", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := flags.load(args[0])
			if err != nil {
				return err
			}
			// The explanation is comments, so that what is printed stays a parameter file.
			fmt.Fprintf(a.out, "%s\n# %s\n", p.YAML(), strings.ReplaceAll(strings.TrimSpace(p.Explain().Text()), "\n", "\n# "))
			if jsonFile == "" {
				return nil
			}
			text, err := json.MarshalIndent(struct {
				Params    params.Params      `json:"params"`
				Derived   params.Derived     `json:"derived"`
				Explained params.Explanation `json:"explained"`
			}{p, p.Derived(), p.Explain()}, "", "  ")
			if err != nil {
				return fmt.Errorf("print the numbers as JSON: %w", err)
			}
			return write(jsonFile, append(text, '\n'))
		}}
	flags.bind(show)
	bindJSON(show, &jsonFile)
	schema := &cobra.Command{Use: "schema", Short: "Print the JSON schema of a parameter file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := params.Schema()
			if err != nil {
				return err
			}
			_, err = a.out.Write(text)
			return err
		}}
	cmd.AddCommand(list, show, schema, a.reuse())
	return cmd
}
