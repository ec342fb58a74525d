// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"incforge/report"
)

func (a *app) report() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "report DIR... -o FILE.html", Short: "Draw results and metrics as one HTML file, and print their summary",
		Args: cobra.MinimumNArgs(1), RunE: func(_ *cobra.Command, dirs []string) error {
			r, err := report.Read(dirs...)
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, report.ErrNothing) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			var html bytes.Buffer
			if err := r.WriteHTML(&html); err != nil {
				return err
			}
			if err := write(file, html.Bytes()); err != nil {
				return err
			}
			fmt.Fprint(a.out, r.Table())
			fmt.Fprintln(a.out, "drawn in", file)
			return nil
		}}
	cmd.Flags().StringVarP(&file, "output", "o", "", "HTML file to write")
	required(cmd, "output")
	return cmd
}
