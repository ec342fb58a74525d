// SPDX-License-Identifier: Apache-2.0

// Command testtimes runs go test, prints what it always prints, and writes down what each package and each test cost:
//
//	testtimes -o build/test-times.json go test ./...
//
// A package's processor time is that of its test program and of everything that ran under it, as the kernel counts it. go test starts
// each test program through this command (-exec), which adds the figure to the program's output: a verdict from go test's cache so
// brings along what it cost when it was made. A test's time by the clock is go test's; that of the compilers and other programs a
// test ran is what internal/testcost noted.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(execTest(os.Args[2:]))
	}
	out := flag.String("o", "", "write the times to this `file`")
	flag.Parse()
	code, err := run(*out, flag.Args(), os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs `go test` as the arguments say, and returns its exit status.
func run(out string, args []string, stdout, stderr io.Writer) (int, error) {
	if len(args) < 2 || args[1] != "test" {
		return 1, errors.New("want a command that begins with go test")
	}
	self, err := os.Executable()
	if err != nil {
		return 1, fmt.Errorf("this program's path: %w", err)
	}
	cmd := exec.Command(args[0], slices.Concat([]string{"test", "-json", "-exec", self + " " + execArg}, args[2:])...)
	cmd.Stderr = stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if out != "" {
		// A new file changes its folder, whose date a test may have read: then go test would not keep that test's verdict.
		if err := os.WriteFile(out, nil, 0o644); err != nil {
			return 1, err
		}
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	l := newLedger(stdout)
	reading := l.read(events)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	if reading != nil {
		return 1, fmt.Errorf("reading what go test says: %w", reading)
	}
	t := l.times()
	t.WallS = seconds(time.Since(begin))
	t.GoCPUS = seconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() - l.spent)
	fmt.Fprintf(stdout, "tests: %.0f s, %.0f s of processor in %d packages and %.0f s in go; %d packages from the cache\n",
		t.WallS, t.CPUS, t.Ran, t.GoCPUS, t.Cached)
	if out != "" {
		text, err := json.MarshalIndent(t, "", " ")
		if err != nil {
			return 1, err
		}
		if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
			return 1, err
		}
	}
	return cmd.ProcessState.ExitCode(), nil
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// read takes in go test's events; what is no event is printed as it comes.
func (l *ledger) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if bad := json.Unmarshal(line, &e); bad != nil || e.Action == "" {
				fmt.Fprintf(l.w, "%s", line)
			} else {
				l.take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
