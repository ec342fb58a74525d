// SPDX-License-Identifier: Apache-2.0

// Package place has the flags of the commands whose work is in independent pieces: where, and how many at once.
package place

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"incforge/internal/jobs"
)

// Places for pieces of work.
const (
	here  = "here"
	slurm = "slurm"
)

// Flags say where the pieces of a command run.
type Flags struct {
	cmd     *cobra.Command
	Jobs    int // how many at once
	on      string
	shards  int
	options []string
	folder  string
}

// Bind defines the flags; what is the pieces' name in the help, build the folder for what is made.
func (p *Flags) Bind(cmd *cobra.Command, what, build string) {
	p.cmd = cmd
	f := cmd.Flags()
	f.IntVarP(&p.Jobs, "jobs", "j", runtime.NumCPU(), what+" to run at once; on Slurm in each job, which is given so many processors (default there: 1)")
	f.StringVar(&p.on, "on", here, "where to run: "+here+", or "+slurm+", as an array of Slurm jobs that see the same files")
	f.IntVar(&p.shards, "shards", 0, "on Slurm: most jobs in the array (default 64)")
	f.StringArrayVar(&p.options, "sbatch", nil, "on Slurm: a further option of sbatch, as --sbatch=--partition=long; may be given more than once")
	f.StringVar(&p.folder, "shared", filepath.Join(build, "jobs"), "on Slurm: folder that all machines see, for scripts, results and logs")
}

// Elsewhere tells whether the pieces are to run on other machines.
func (p *Flags) Elsewhere() bool { return p.on != here }

// Place is where to run. args is the command line without the program's name; log is told of jobs that die. An error is one of usage.
func (p *Flags) Place(args []string, log *logrus.Logger) (jobs.Place, error) {
	given := p.cmd.Flags().Changed
	switch {
	case p.Jobs < 1:
		return jobs.Place{}, fmt.Errorf("--jobs %d: must be at least 1", p.Jobs)
	case p.on == here:
		for _, flag := range []string{"shards", "sbatch", "shared"} {
			if given(flag) {
				return jobs.Place{}, fmt.Errorf("--%s is for --on %s", flag, slurm)
			}
		}
		return jobs.Place{Jobs: p.Jobs}, nil
	case p.on != slurm:
		return jobs.Place{}, fmt.Errorf("--on %s: must be %s or %s", p.on, here, slurm)
	case p.shards < 0:
		return jobs.Place{}, fmt.Errorf("--shards %d: must not be negative", p.shards)
	}
	s := &jobs.Slurm{Folder: p.folder, Shards: p.shards, Options: p.options, Args: args, Log: log}
	if given("jobs") {
		s.CPUs = p.Jobs
	}
	return jobs.Place{Jobs: p.Jobs, Slurm: s}, nil
}
