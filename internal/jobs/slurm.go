// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/internal/tool"
)

// InstallHint is the command that installs Slurm on this machine.
const InstallHint = "make tools-slurm"

// Slurm says how to use a cluster.
type Slurm struct {
	// Folder holds a folder for each run, with script, results and logs. All machines must see it under this name.
	Folder string
	// Shards is how many jobs the array has at most; 0 is 64.
	Shards int
	// CPUs is how many processors a job gets, and so how many of its pieces run at once; 0 is one.
	CPUs int
	// Options are further ones of sbatch, for instance --partition=long.
	Options []string
	// Args is the command line of this process without the program's name, for the jobs to run.
	Args []string
	// Log is told of jobs that die; nil is nobody.
	Log *logrus.Logger

	// Poll is the time between two looks at the results, Ask between two questions to Slurm, Grace how long results may take from another
	// machine's file system to this one's, Silence how long Slurm may give no answer, as its controller may be restarted meanwhile; 0 is 500 ms,
	// 3 s, 20 s, 5 min.
	Poll, Ask, Grace, Silence time.Duration
}

const (
	// maxShards is below the size of an array that Slurm takes unless its administrator says otherwise (MaxArraySize 1001).
	maxShards     = 1000
	defaultShards = 64
	// cancelTime is how long cancelling may take: a command that is interrupted must end within two seconds.
	cancelTime = time.Second
)

// run is a run on a cluster, without its results.
type run struct {
	Slurm
	plan   plan
	dir    string
	arrays []string // the numbers that Slurm gave to our arrays
}

// newRun makes the folder of a run, with a copy of this program: one that is built anew meanwhile must not change what later jobs run.
func newRun(s *Slurm, p plan) (*run, error) {
	r := &run{Slurm: *s, plan: p}
	for _, d := range []struct {
		at      *time.Duration
		usually time.Duration
	}{{&r.Poll, 500 * time.Millisecond}, {&r.Ask, 3 * time.Second}, {&r.Grace, 20 * time.Second}, {&r.Silence, 5 * time.Minute}} {
		if *d.at == 0 {
			*d.at = d.usually
		}
	}
	for _, program := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := tool.Find(program); err != nil {
			return nil, &tool.NotFoundError{Name: program, Hint: InstallHint}
		}
	}
	if err := r.makeFolder(); err != nil {
		return nil, fmt.Errorf("jobs: folder of the run: %w", err)
	}
	return r, nil
}

func (r *run) makeFolder() error {
	at, err := filepath.Abs(r.Folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp(at, r.plan.Task+"-"); err != nil {
		return err
	}
	text, err := json.Marshal(r.plan)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, planFile), text, 0o644); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return copyProgram(r.program(), self)
}

func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func (r *run) program() string { return filepath.Join(r.dir, "incforge") }

// submit makes one array of jobs for an attempt at the shards.
func (r *run) submit(ctx context.Context, attempt int, shards []int) error {
	var script strings.Builder
	fmt.Fprintf(&script, "#!/bin/sh\nexport %s=%s %s=%d\nexec %s", envFolder, quote(r.dir), envAttempt, attempt, quote(r.program()))
	for _, a := range r.Args {
		script.WriteString(" " + quote(a))
	}
	script.WriteString("\n")
	file := filepath.Join(r.dir, fmt.Sprintf("attempt-%d.sh", attempt))
	if err := os.WriteFile(file, []byte(script.String()), 0o755); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	// Slurm replaces %a by the number in the array. A job of a machine that dies is ours to repeat.
	args := []string{"--parsable", "--array=" + ranges(shards), "--job-name=" + filepath.Base(r.dir), "--no-requeue", "--open-mode=truncate",
		"--output=" + strings.ReplaceAll(r.dir, "%", "%%") + "/log-%a-" + strconv.Itoa(attempt), "--cpus-per-task=" + strconv.Itoa(max(r.CPUs, 1))}
	args = append(append(args, r.Options...), file)
	// Not to be interrupted: of an array whose number is not known none can be cancelled.
	res, err := tool.Run(context.WithoutCancel(ctx), tool.Command{Name: "sbatch", Args: args, Timeout: time.Minute})
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), ";") // the cluster's name may follow
	if _, err := strconv.Atoi(id); err != nil {
		return fmt.Errorf("jobs: sbatch answered %q, which is no job's number", res.Stdout)
	}
	r.arrays = append(r.arrays, id)
	return nil
}

// gone is the state of a job that Slurm no longer knows.
const gone = "forgotten by Slurm"

// states asks for the states of the jobs of the last array.
func (r *run) states(ctx context.Context) (map[int]string, error) {
	id := r.arrays[len(r.arrays)-1]
	res, err := tool.Run(ctx, tool.Command{Name: "squeue", Args: []string{"--noheader", "--array", "--states=all", "--jobs=" + id, "--format=%K %T"},
		Timeout: 30 * time.Second})
	if err != nil {
		if strings.Contains(string(res.Output), "Invalid job id") {
			return nil, nil
		}
		return nil, fmt.Errorf("jobs: %w", err)
	}
	all := map[int]string{}
	for l := range strings.Lines(string(res.Stdout)) {
		var shard int
		var state string
		if _, err := fmt.Sscan(l, &shard, &state); err != nil {
			return nil, fmt.Errorf("jobs: squeue says %q: %w", l, err)
		}
		all[shard] = state
	}
	return all, nil
}

// alive tells whether a job in a state will or may still do something.
func alive(state string) bool {
	return slices.Contains([]string{"PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING",
		"RESV_DEL_HOLD", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED"}, state)
}

// cancel ends all our jobs.
func (r *run) cancel(ctx context.Context) {
	if len(r.arrays) == 0 {
		return
	}
	_, err := tool.Run(context.WithoutCancel(ctx), tool.Command{Name: "scancel", Args: r.arrays, Timeout: cancelTime})
	if err != nil && r.Log != nil {
		r.Log.Errorf("the jobs may still run, scancel %s ends them: %v", strings.Join(r.arrays, " "), err)
	}
}

// ranges writes ascending numbers as sbatch takes them: 0-3,7.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ",")
}

// quote makes a word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
