// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/internal/doctor"
	"incforge/internal/tool"
)

func (a *app) doctor() *cobra.Command {
	var jsonFile string
	var digest bool
	cmd := &cobra.Command{Use: "doctor", Short: "Which tools were found, which versions, what is missing and how to get it",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := doctor.Look(cmd.Context(), doctor.Programs())
			if err != nil {
				return err
			}
			if err := writeJSON(jsonFile, found); err != nil {
				return err
			}
			if digest {
				fmt.Fprintln(a.out, doctor.Digest(found))
				return nil
			}
			t := newTable("program", "state", "version", "tested", "for", "get it with")
			for _, f := range found {
				get := ""
				if !f.Found {
					get = f.Install
				}
				t.AppendRow(table.Row{f.Name, f.State(), f.Version, f.Tested, f.Need, get})
			}
			fmt.Fprintln(a.out, t.Render())
			if advice := doctor.Advice(found); advice != "" {
				fmt.Fprintln(a.out, advice)
			}
			if err := doctor.Missing(found); err != nil {
				fmt.Fprintf(a.out, "`%s` installs all of them.\n", tool.InstallHint)
				return err
			}
			return nil
		}}
	bindJSON(cmd, &jsonFile)
	cmd.Flags().BoolVar(&digest, "digest", false, "print one word that changes with any version, and nothing else")
	return cmd
}

// newTable is the one look of tables on the terminal.
func newTable(columns ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = 0
	t.SetStyle(style)
	row := make(table.Row, len(columns))
	for i, c := range columns {
		row[i] = c
	}
	t.AppendHeader(row)
	return t
}

func bindJSON(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "json", "", "write the results to this file as JSON")
}

// writeJSON writes v to file, indented; an empty file name writes nothing.
func writeJSON(file string, v any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return write(file, append(text, '\n'))
}
