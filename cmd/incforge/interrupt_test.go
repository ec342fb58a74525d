// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"incforge/internal/testlog"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long are commands that take hours, with a text on stderr that says that they are at it, and what they print when they are
// interrupted there.
func long(dir string) []struct {
	name, args, busy, known string
	written                 string // file with the results so far
} {
	return []struct{ name, args, busy, known, written string }{
		{"chaos", "chaos -j 1 --seeds 1:100000000 --json " + dir + "/chaos.json", "chaos: ", " cases, 0 failed", dir + "/chaos.json"},
		{"verify", "verify mini --dut reference --seeds 100000 --json " + dir + "/verify.json", "tests", " passed, 0 failed", dir + "/verify.json"},
		{"modelcheck", "modelcheck --mode 3 --requests 50 --window 3 --loss 6 --dup 2 --timeouts 2 --json " + dir + "/model.json", "modelcheck: ",
			"interrupted: no verdict", dir + "/model.json"},
		{"collective", "collective mini --dut reference --tree 4-2 --dtype int32 --input " + dir + "/a.bin --one same", "allreduce on ", "", ""},
		{"synth", "synth fpga100g", "synthesis of ", "", ""},
		{"sweep", "sweep " + dir + "/spec.yaml --full all -o " + dir + "/sweep", "points in full: ", "nothing is estimated after an interruption", dir + "/sweep/sweep.json"},
	}
}

// The first signal ends a command in good order: it prints what it knows, writes its files, and returns. Here the context is
// cancelled as the first signal would; how long it takes is bounded generously, because the machine may be busy.
func TestInterruptedCommandsSayWhatTheyKnow(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.bin"), make([]byte, 64<<20), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte("base: fpga100g\nparameters: {groups: [1, 2]}\n"), 0o600))
	t.Chdir(dir)
	for _, c := range long(dir) {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "synth" || c.name == "sweep" {
				if _, err := exec.LookPath("yosys"); err != nil {
					t.Skip("yosys is missing: make tools")
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout, stderr testlog.Log
			status := make(chan int, 1)
			go func() { status <- run(ctx, strings.Fields(c.args), &stdout, &stderr) }()
			require.Eventually(t, func() bool { return strings.Contains(stderr.String(), c.busy) || len(status) > 0 }, time.Minute, 10*time.Millisecond)
			require.Empty(t, status, "it ended by itself: %s", &stderr)
			cancel()
			select {
			case s := <-status:
				assert.Equal(t, exitInterrupted, s, "%s", &stderr)
			case <-time.After(20 * time.Second):
				t.Fatal("it goes on")
			}
			assert.Equal(t, 1, strings.Count(stderr.String(), "incforge: interrupted\n"), "%s", &stderr)
			assert.Contains(t, stdout.String(), c.known)
			if c.written != "" {
				assert.FileExists(t, c.written)
			}
		})
	}
}

// start runs the program itself, and waits until it is busy.
func start(t *testing.T, busy string, args ...string) (cmd *exec.Cmd, stderr *testlog.Log) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	// testscript makes this test binary the program when it is called by the program's name.
	name := filepath.Join(t.TempDir(), "incforge")
	require.NoError(t, os.Symlink(exe, name))
	cmd, stderr = exec.Command(name, args...), &testlog.Log{}
	cmd.Dir, cmd.Stderr = t.TempDir(), stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // only after a failure above
			_ = cmd.Wait()
		}
	})
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), busy) }, time.Minute, 10*time.Millisecond, "%s", stderr)
	return cmd, stderr
}

// A signal ends the program itself, and says so once.
func TestSignals(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			cmd, stderr := start(t, "chaos: ", "chaos", "--seeds", "1:100000000")
			begin := time.Now()
			require.NoError(t, cmd.Process.Signal(s))
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit)
			assert.Equal(t, exitInterrupted, exit.ExitCode())
			assert.Less(t, time.Since(begin), 10*time.Second, "two on a machine that is not busy")
			assert.Equal(t, 1, strings.Count(stderr.String(), "interrupted"), "%s", stderr)
		})
	}
}

// A command that does not look at its context is ended by the second signal, or when the grace is over; the foreign programs die
// first.
func TestSecondSignalAndGrace(t *testing.T) {
	for _, c := range []struct {
		name    string
		grace   time.Duration
		signals int
		says    string
	}{
		{"second signal", time.Hour, 2, "interrupted twice"},
		{"grace", 10 * time.Millisecond, 1, "still busy after 10ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			signals, did, stderr := make(chan os.Signal, 2), make(chan string, 3), &testlog.Log{}
			i := interrupts{signals: signals, stderr: stderr, grace: c.grace,
				cancel: func() { did <- "cancel" }, kill: func() { did <- "kill" },
				exit: func(status int) {
					assert.Equal(t, exitInterrupted, status)
					did <- "exit"
				}}
			go i.watch(make(chan struct{}))
			for range c.signals {
				signals <- os.Interrupt
			}
			for _, want := range []string{"cancel", "kill", "exit"} {
				assert.Equal(t, want, <-did)
			}
			assert.Contains(t, stderr.String(), c.says)
		})
	}
}

// A command that is done in time is left alone.
func TestEndInTime(t *testing.T) {
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	i := interrupts{signals: signals, stderr: io.Discard, grace: time.Hour, cancel: cancel,
		kill: func() { t.Error("kill") }, exit: func(int) { t.Error("exit") }}
	ended := make(chan struct{})
	go func() { i.watch(done); close(ended) }()
	signals <- os.Interrupt
	<-ctx.Done()
	close(done)
	<-ended
	assert.True(t, errors.Is(ctx.Err(), context.Canceled))
}
