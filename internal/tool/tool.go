// SPDX-License-Identifier: Apache-2.0

// Package tool runs foreign programs (Verilator, Yosys, a C++ compiler) so that
// they cannot hang, leak children or fail silently: every run has a timeout, its
// own process group that dies as a whole, and an error that carries the end of
// what the program said. A program that is not installed is a *NotFoundError with
// the command that installs it.
package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// DefaultTimeout bounds a run whose Command.Timeout is zero.
const DefaultTimeout = 10 * time.Minute

// VersionsEnv names the environment variable that holds a digest of the installed programs' versions; `make test` sets it
// (incforge doctor --digest). go test keeps a verdict for as long as the files and the variables stay the same that the test read.
// It knows nothing of the programs a test ran.
const VersionsEnv = "INCFORGE_TOOLS"

// InstallHint is the command that installs everything the project calls.
const InstallHint = "make tools"

const (
	// tailBytes and tailLines bound how much of a program's output an error shows.
	tailBytes = 4096
	tailLines = 20
	// killGrace is how long pipes may stay open after the group was killed.
	killGrace = time.Second
)

// NotFoundError says that a program is not installed.
type NotFoundError struct {
	Name string // program, as it was looked up in PATH
	Hint string // command that installs it
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s: program not found in PATH; install it with `%s`", e.Name, e.Hint)
}

// ExitError says that a program ran and failed.
type ExitError struct {
	Name string   // program
	Args []string // its arguments
	Code int      // exit status; -1 when a signal ended it
	Tail string   // last lines of stdout and stderr, interleaved as written
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Code)
	if e.Code < 0 {
		how = "ended by a signal"
	}
	return describe(e.Name, how, e.Tail)
}

// TimeoutError says that a program was killed because it did not end in time.
type TimeoutError struct {
	Name  string        // program
	Limit time.Duration // the limit it passed
	Tail  string        // last lines it wrote
}

func (e *TimeoutError) Error() string {
	return describe(e.Name, fmt.Sprintf("killed after %v", e.Limit), e.Tail)
}

func describe(name, how, tail string) string {
	if tail == "" {
		return fmt.Sprintf("%s: %s (no output)", name, how)
	}
	return fmt.Sprintf("%s: %s; its last output:\n%s", name, how, tail)
}

// Command describes one run of a program.
type Command struct {
	Name    string        // program: a name looked up in PATH, or a path
	Args    []string      // arguments, without the name
	Dir     string        // working folder; empty means the caller's
	Env     []string      // KEY=VALUE added to the caller's environment
	Stdin   io.Reader     // nil means no input
	Timeout time.Duration // zero means DefaultTimeout
	Log     io.Writer     // receives all output while it is written; may be nil
}

// Result is what a successful run left behind.
type Result struct {
	Stdout  []byte        // standard output
	Output  []byte        // standard output and error, interleaved as written
	Elapsed time.Duration // wall time
	CPU     time.Duration // processor time, that of its children included
}

// Find returns the path of a program, or a *NotFoundError.
func Find(name string) (string, error) {
	// For go test alone: whatever runs a program has now read the variable.
	_ = os.Getenv(VersionsEnv)
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &NotFoundError{Name: name, Hint: InstallHint}
	}
	return path, nil
}

// Run runs the command and waits for it. The error is a *NotFoundError, an
// *ExitError, a *TimeoutError, or wraps ctx.Err() when the caller gave up; in the
// last two cases every process of the command's group has been killed. The result
// is filled as far as the run came, also with an error.
func Run(ctx context.Context, c Command) (Result, error) {
	path, err := Find(c.Name)
	if err != nil {
		return Result{}, err
	}
	limit := c.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	runCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	path, args := direct(path, c)
	cmd := exec.CommandContext(runCtx, path, args...)
	cmd.Dir = c.Dir
	cmd.Stdin = c.Stdin
	if len(c.Env) > 0 {
		cmd.Env = append(os.Environ(), c.Env...)
	}
	// A group of its own, so that what the program started dies with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killGrace

	var stdout, both bytes.Buffer
	all := io.Writer(&both)
	if c.Log != nil {
		all = io.MultiWriter(&both, c.Log)
	}
	shared := &lockedWriter{w: all}
	cmd.Stdout = io.MultiWriter(&stdout, shared)
	cmd.Stderr = shared

	start := time.Now()
	if err = cmd.Start(); err == nil {
		forget := remember(ctx, cmd.Process.Pid)
		err = cmd.Wait()
		forget()
	}
	res := Result{Stdout: stdout.Bytes(), Output: both.Bytes(), Elapsed: time.Since(start)}
	if state := cmd.ProcessState; state != nil {
		res.CPU = state.UserTime() + state.SystemTime()
		meterOf(ctx).add(res.CPU)
	}
	if err == nil {
		return res, nil
	}
	tail := Tail(res.Output)
	switch {
	case ctx.Err() != nil:
		return res, fmt.Errorf("%s: %w", c.Name, ctx.Err())
	case errors.Is(runCtx.Err(), context.DeadlineExceeded):
		return res, &TimeoutError{Name: c.Name, Limit: limit, Tail: tail}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return res, &ExitError{Name: c.Name, Args: c.Args, Code: exit.ExitCode(), Tail: tail}
	}
	return res, fmt.Errorf("%s: %w", c.Name, err)
}

// Tail returns the last lines of a program's output, at most 20 lines and 4 KiB.
func Tail(output []byte) string {
	text := strings.TrimRight(string(output), "\n")
	cut := false
	if len(text) > tailBytes {
		text, cut = text[len(text)-tailBytes:], true
	}
	lines := strings.Split(text, "\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // the first line lost its beginning
	}
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.Join(lines, "\n")
}

var (
	dottedNumber = regexp.MustCompile(`\d+(\.\d+)+[^\s()]*`)
	plainNumber  = regexp.MustCompile(`\d+`)
)

// Version asks a program for its version (`--version` unless args are given) and
// returns the first line it prints, trimmed; what it says to stderr counts when it says nothing else.
func Version(ctx context.Context, name string, args ...string) (string, error) {
	if len(args) == 0 {
		args = []string{"--version"}
	}
	res, err := Run(ctx, Command{Name: name, Args: args, Timeout: 30 * time.Second})
	if err != nil {
		return "", fmt.Errorf("asking for the version: %w", err)
	}
	said := strings.TrimSpace(string(res.Stdout))
	if said == "" {
		said = strings.TrimSpace(string(res.Output))
	}
	line, _, _ := strings.Cut(said, "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("%s %s printed no version", name, strings.Join(args, " "))
	}
	return line, nil
}

// Number returns the first version number in a line as Version returns it
// ("Verilator 5.006 2023-01-22" gives "5.006"), or "" when there is none.
func Number(versionLine string) string {
	if n := dottedNumber.FindString(versionLine); n != "" {
		return n // before a digit in the program's name
	}
	return plainNumber.FindString(versionLine)
}
