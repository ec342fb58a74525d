// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

const (
	execArg  = "exec"                // first argument of the form that go test calls
	costMark = "testtimes: cost_ns=" // begins the line that execTest adds
)

// execTest runs a test program, adds what it cost to its output, and returns its exit status.
func execTest(args []string) int {
	// The kernel sends Pdeathsig when the thread ends that started the child.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)

	cmd := exec.Command(args[0], slices.Concat(inputsArg(args), args[1:])...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// go test kills what it started itself, which is this program; the test dies with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		return 1
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // the test may have ended
		}
	}()
	_ = cmd.Wait() // its state says how it ended
	state := cmd.ProcessState
	fmt.Printf("%s%d\n", costMark, (state.UserTime() + state.SystemTime()).Nanoseconds())
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		fmt.Fprintln(os.Stderr, "signal:", status.Signal())
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// actionFolder is the name of the folder in which go test works on a package.
var actionFolder = regexp.MustCompile(`^b\d+$`)

// inputsArg makes the test list the files and variables that it reads, where go test looks for the list; without one, it keeps no
// verdict. It asks for the list itself when it starts the test itself, but not of a program for -exec, which may run the test on
// another machine.
func inputsArg(args []string) []string {
	const flag = "-test.testlogfile="
	dir := filepath.Dir(args[0])
	if !actionFolder.MatchString(filepath.Base(dir)) || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, flag) }) {
		return nil
	}
	return []string{flag + filepath.Join(dir, "testlog.txt")}
}
