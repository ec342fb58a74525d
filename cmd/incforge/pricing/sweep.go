// SPDX-License-Identifier: Apache-2.0

// Package pricing is the command that prices many configurations.
package pricing

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/internal/progress"
	"incforge/sweep"
	"incforge/sweep/front"
)

// Program is what commands share.
type Program struct {
	Out      io.Writer
	Log      *logrus.Logger
	Args     []string // the command line
	BuildDir string   // for what is made
	Progress func(format string, args ...any) *progress.Task
	Write    func(path string, text []byte) error // makes the folder too
	Usage    func(error) error                    // marks an error in what the user asked for
}

// Sweep is the command incforge sweep.
func Sweep(program func() Program) *cobra.Command {
	var (
		where     place.Flags
		dir, full string
		all       bool
	)
	build := program().BuildDir
	cmd := &cobra.Command{Use: "sweep SPEC.yaml", Short: "Price every combination of parameters' values, some in full, the others by estimate",
		Long: `Price every combination of the values that SPEC.yaml lists. The tools run on --full of them, chosen so that they lie far apart; the others are
estimated from these: memories by the model of synthesis, cells block by block. Each of the points that were run is also estimated from the
others; that is the error bar. What was run is kept in the output folder, so that a sweep goes on where it stopped.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			p := program()
			text, err := os.ReadFile(args[0])
			if err != nil {
				return p.Usage(fmt.Errorf("sweep: %w", err))
			}
			spec, err := sweep.Parse(text)
			if err != nil {
				return p.Usage(err)
			}
			o := sweep.Options{Dir: dir, Full: -1, Progress: p.Progress}
			if full != "all" {
				if o.Full, err = strconv.Atoi(full); err != nil || o.Full < 0 {
					return p.Usage(fmt.Errorf("--full %s: must be a number of points, or all", full))
				}
			}
			if o.Place, err = where.Place(p.Args, p.Log); err != nil {
				return p.Usage(err)
			}
			found, died := sweep.Run(cmd.Context(), spec, o)
			if found == nil {
				return died
			}
			if err := save(found, dir, p.Write); err != nil {
				return err
			}
			fmt.Fprintf(p.Out, "%stable and drawings in %s\n", found.Table(all), dir)
			return died
		}}
	f := cmd.Flags()
	f.StringVarP(&dir, "output", "o", filepath.Join(build, "sweep"), "folder for the table, the drawings, and what was run")
	f.StringVar(&full, "full", "12", "points for the tools to run on, or all; 0 runs none and estimates from what is in the folder")
	f.BoolVar(&all, "all", false, "print all points, not only those that no other point beats")
	where.Bind(cmd, "points", build)
	return cmd
}

// save leaves the document and its drawings in a folder.
func save(found *front.Sweep, dir string, write func(string, []byte) error) error {
	var doc bytes.Buffer
	if err := found.Write(&doc); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "sweep.json"), doc.Bytes()); err != nil {
		return err
	}
	drawings, err := found.Draw()
	if err != nil {
		return err
	}
	for _, d := range drawings {
		if err := write(filepath.Join(dir, d.Name+".svg"), d.SVG); err != nil {
			return err
		}
	}
	return nil
}
