// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// The environment that tells a process that it is a shard; the first two are set by the script, the others by Slurm.
const (
	envFolder  = "INCFORGE_SHARD_FOLDER"
	envAttempt = "INCFORGE_SHARD_ATTEMPT"
	envNumber  = "SLURM_ARRAY_TASK_ID"
	envCPUs    = "SLURM_CPUS_PER_TASK"
)

// plan is what a run and its shards must agree on. Shard k has the pieces k, k + Shards, k + 2·Shards and so on.
type plan struct {
	Task   string          `json:"task"`
	Pieces int             `json:"pieces"`
	Shards int             `json:"shards"`
	Given  json.RawMessage `json:"given,omitempty"`
}

// planFile lies in the folder of a run.
const planFile = "plan.json"

// attempts is how often a shard is run at most.
const attempts = 2

// resultsFile has a line for each result of an attempt at a shard; logFile is what it printed.
func resultsFile(dir string, shard, attempt int) string {
	return filepath.Join(dir, fmt.Sprintf("results-%d-%d.jsonl", shard, attempt))
}

func logFile(dir string, shard, attempt int) string {
	return filepath.Join(dir, fmt.Sprintf("log-%d-%d", shard, attempt))
}

// line is a result in the file.
type line struct {
	Piece  int             `json:"piece"`
	Result json.RawMessage `json:"result"`
}

// shard is what this process is to do.
type shard struct {
	folder          string
	number, attempt int
	cpus            int
}

// ownShard reads the environment; is says whether this process is a shard at all.
func ownShard(env func(string) string) (s shard, is bool, err error) {
	if s.folder = env(envFolder); s.folder == "" {
		return s, false, nil
	}
	var errs [2]error
	s.number, errs[0] = strconv.Atoi(env(envNumber))
	s.attempt, errs[1] = strconv.Atoi(env(envAttempt))
	if err := errors.Join(errs[:]...); err != nil {
		return s, true, fmt.Errorf("jobs: %s is set, but not by Slurm: %w", envFolder, err)
	}
	if s.cpus, err = strconv.Atoi(env(envCPUs)); err != nil {
		s.cpus = 1 // Slurm says nothing where nobody asked for more
	}
	return s, true, nil
}

// Shard tells whether this process runs a part of what another one asked for.
func Shard() bool { return os.Getenv(envFolder) != "" }

// Asked tells whether this process is a shard of the task of that name, and reads what the task was Given.
func Asked(task string, given any) (bool, error) {
	s, is, err := ownShard(os.Getenv)
	if err != nil || !is {
		return false, err
	}
	p, err := s.plan()
	if err != nil || p.Task != task {
		return false, err
	}
	if err := json.Unmarshal(p.Given, given); err != nil {
		return false, fmt.Errorf("jobs: what %s was given: %w", task, err)
	}
	return true, nil
}

// plan reads what the process wants that waits.
func (s shard) plan() (plan, error) {
	var p plan
	text, err := os.ReadFile(filepath.Join(s.folder, planFile))
	if err != nil {
		return p, fmt.Errorf("jobs: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("jobs: %s: %w", planFile, err)
	}
	return p, nil
}

// serve does the pieces of a shard that an earlier attempt has not done, and leaves their results in its file.
func (r *runner[R]) serve(ctx context.Context, s shard, p plan) error {
	if p.Pieces != r.Pieces {
		return fmt.Errorf("jobs: this process makes %d pieces of %s, the one that asks for them %d: do all machines have the same files?", r.Pieces,
			r.Name, p.Pieces)
	}
	finished := map[int]bool{}
	for a := 1; a < s.attempt; a++ {
		lines, _, err := readLines(resultsFile(s.folder, s.number, a), 0)
		if err != nil {
			return err
		}
		for _, l := range lines {
			finished[l.Piece] = true
		}
	}
	f, err := os.OpenFile(resultsFile(s.folder, s.number, s.attempt), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	var mu sync.Mutex
	keep := func(piece int, result R) error {
		text, err := json.Marshal(struct {
			Piece  int `json:"piece"`
			Result R   `json:"result"`
		}{piece, result})
		if err != nil {
			return fmt.Errorf("jobs: result %d: %w", piece, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if _, err := f.Write(append(text, '\n')); err != nil { // in one call, so that a job that is killed tears the last line at most
			return fmt.Errorf("jobs: result %d: %w", piece, err)
		}
		return nil
	}
	err = r.here(ctx, func(piece int) bool { return piece%p.Shards == s.number && !finished[piece] }, keep)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return ErrServed
}

// readLines reads the complete lines of a results file that begin at or after an offset, and says where the next one will begin. A file that is
// not there has none. What is not a result was torn when a machine died, and is left out.
func readLines(file string, from int64) (lines []line, next int64, err error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, from, nil
	}
	if err != nil {
		return nil, from, fmt.Errorf("jobs: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, 1<<62))
	if err != nil {
		return nil, from, fmt.Errorf("jobs: %w", err)
	}
	for {
		l, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return lines, from, nil
		}
		from += int64(len(l)) + 1
		text = rest
		var x line
		if json.Unmarshal(l, &x) == nil && x.Result != nil {
			lines = append(lines, x)
		}
	}
}
