// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/evidence"
)

// evidenceFlags are the command line of incforge evidence.
type evidenceFlags struct {
	dir, markdown, html string
	record              []string
	from, date          string
	list                bool
}

func (a *app) evidence() *cobra.Command {
	f := evidenceFlags{}
	cmd := &cobra.Command{Use: "evidence", Short: "Build the page that has the paper's figures beside ours: docs/evidence.md and an HTML page",
		Long: `Build the page that puts the paper's figures beside ours, from the records in evidence/results: each has a command, its date and the digest
of what it measured, and a figure without one is an error. The published rules that fail are replayed on the reference.

--record runs commands of the plan (evidence/plan.yaml) first, and makes their records anew; with --from of the JSON that a run left.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			runs, err := evidence.ReadPlan(filepath.Join(f.dir, "plan.yaml"))
			switch {
			case errors.Is(err, os.ErrNotExist):
				return usageError{err}
			case err != nil:
				return err
			case f.list:
				for _, r := range runs {
					fmt.Fprintf(a.out, "%-18s %s\n", r.ID, r.Command)
				}
				return nil
			case f.from != "" && len(f.record) != 1:
				return usagef("--from needs exactly one --record")
			}
			for _, id := range f.record {
				i := slices.IndexFunc(runs, func(r evidence.Run) bool { return r.ID == id })
				if i < 0 {
					return usagef("--record %s: the plan has no such run; --list lists them", id)
				}
				if err := a.recordRun(cmd.Context(), &runs[i], &f); err != nil {
					return err
				}
			}
			return a.evidencePage(&f)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", "evidence", "folder of the page, the plan, the records and the scenarios")
	fl.StringVar(&f.markdown, "markdown", "docs/evidence.md", "document to write")
	fl.StringVarP(&f.html, "output", "o", filepath.Join(buildDir, "evidence.html"), "HTML file to write")
	fl.StringSliceVar(&f.record, "record", nil, "runs of the plan to make again")
	fl.StringVar(&f.from, "from", "", "with --record: take this JSON, which the command wrote before, instead of running it")
	fl.StringVar(&f.date, "date", "", "with --from: the day on which it did (2026-11-23)")
	fl.BoolVar(&f.list, "list", false, "list the plan's runs and end")
	return cmd
}

// evidencePage builds both pages.
func (a *app) evidencePage(f *evidenceFlags) error {
	p, err := evidence.Build(f.dir)
	if err != nil {
		return err
	}
	var html bytes.Buffer
	if err := p.WriteHTML(&html); err != nil {
		return err
	}
	if err := write(f.markdown, []byte(p.Markdown())); err != nil {
		return err
	}
	if err := write(f.html, html.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d records; drawn in %s and %s\n", len(p.Sources()), f.markdown, f.html)
	return nil
}

// recordRun makes the record of a run, by running its command or from what it left.
func (a *app) recordRun(ctx context.Context, run *evidence.Run, f *evidenceFlags) error {
	date, file := time.Now().UTC().Format(time.DateOnly), run.JSON
	switch {
	case f.from != "":
		if file = f.from; f.date == "" {
			return usagef("--from needs the day of the run: --date")
		}
		date = f.date
	default:
		args := strings.Fields(run.Command)[1:]
		if file == "" {
			file = filepath.Join(buildDir, "evidence", run.ID+".json")
			args = append(args, "--json", file)
		}
		if err := write(file, nil); err != nil { // the folder; and nothing of an earlier run is taken for this one's
			return err
		}
		if err := a.again(ctx, args); err != nil {
			return fmt.Errorf("%s: %w", run.Command, err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return usageError{fmt.Errorf("record %s: %w", run.ID, err)}
	}
	r, err := run.Record(text, date, ".")
	if err != nil {
		return err
	}
	if text, err = r.YAML(); err != nil {
		return err
	}
	return write(filepath.Join(f.dir, "results", run.ID+".yaml"), text)
}

// again runs this program with other arguments. A check that fails is a figure too.
func (a *app) again(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stdout, cmd.Stderr = a.out, a.stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != exitFailed) {
		return err
	}
	return nil
}
