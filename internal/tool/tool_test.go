// SPDX-License-Identifier: Apache-2.0

package tool_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/tool"
)

func sh(script string) tool.Command {
	return tool.Command{Name: "sh", Args: []string{"-c", script}}
}

func TestRunKeepsStdoutApart(t *testing.T) {
	var log bytes.Buffer
	cmd := sh("echo out; echo err >&2; cat; echo $GREETING; pwd")
	cmd.Stdin = strings.NewReader("in\n")
	cmd.Env = []string{"GREETING=hello"}
	cmd.Dir = t.TempDir()
	cmd.Log = &log
	res, err := tool.Run(context.Background(), cmd)
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(cmd.Dir)
	require.NoError(t, err)
	assert.Equal(t, "out\nin\nhello\n"+dir+"\n", string(res.Stdout))
	assert.Contains(t, string(res.Output), "err\n")
	assert.Equal(t, string(res.Output), log.String())
	assert.Positive(t, res.Elapsed)
}

func TestRunReportsFailureWithTail(t *testing.T) {
	_, err := tool.Run(context.Background(), sh("(seq 1 100; echo the reason) >&2; exit 3"))
	var exit *tool.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 3, exit.Code)
	assert.Contains(t, err.Error(), "sh: exit status 3")
	assert.Contains(t, err.Error(), "the reason")
	assert.NotContains(t, err.Error(), "\n12\n", "only the end is shown")

	_, err = tool.Run(context.Background(), sh("kill -9 $$"))
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, -1, exit.Code)
	assert.Contains(t, err.Error(), "ended by a signal (no output)")
}

func TestRunNotFound(t *testing.T) {
	_, err := tool.Run(context.Background(), tool.Command{Name: "no-such-program-here"})
	var missing *tool.NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "no-such-program-here", missing.Name)
	assert.Contains(t, err.Error(), "`make tools`")
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestTimeoutKillsTheWholeGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	cmd := sh("sleep 60 & echo $! >" + pidFile + "; echo waiting; wait")
	cmd.Timeout = 300 * time.Millisecond
	start := time.Now()
	_, err := tool.Run(context.Background(), cmd)
	var late *tool.TimeoutError
	require.ErrorAs(t, err, &late)
	assert.Contains(t, err.Error(), "killed after 300ms")
	assert.Contains(t, err.Error(), "waiting")
	assert.Less(t, time.Since(start), 10*time.Second)

	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return !alive(pid) }, 5*time.Second, 10*time.Millisecond,
		"the child of the killed program must die too")
}

func TestCallerCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := tool.Run(ctx, sh("sleep 60"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Contains(t, err.Error(), "sh: ")
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 5000) + "\nlast\n"
	for name, c := range map[string]struct{ in, want string }{
		"empty":       {"", ""},
		"short":       {"a\nb\n", "a\nb"},
		"bytes":       {long, "last"},
		"one line":    {strings.Repeat("y", 5000), strings.Repeat("y", 4096)},
		"lines":       {strings.Repeat("l\n", 50), strings.TrimRight(strings.Repeat("l\n", 20), "\n")},
		"empty lines": {"\n\n", ""},
	} {
		assert.Equal(t, c.want, tool.Tail([]byte(c.in)), name)
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	require.NoError(t, os.WriteFile(prog, []byte("#!/bin/sh\necho \"Prog 5.006 2023-01-22 $1\"; echo more\n"), 0o755))
	line, err := tool.Version(context.Background(), prog)
	require.NoError(t, err)
	assert.Equal(t, "Prog 5.006 2023-01-22 --version", line)
	assert.Equal(t, "5.006", tool.Number(line))
	line, err = tool.Version(context.Background(), prog, "-V")
	require.NoError(t, err)
	assert.Equal(t, "Prog 5.006 2023-01-22 -V", line)
	assert.Equal(t, "11.0", tool.Number("Icarus Verilog version 11.0 (stable)"))
	assert.Equal(t, "4.8.12", tool.Number("Z3 version 4.8.12 - 64 bit"))
	assert.Equal(t, "12.2.0-14+deb12u1", tool.Number("g++ (Debian 12.2.0-14+deb12u1) 12.2.0"))
	assert.Equal(t, "7", tool.Number("release 7"))
	assert.Equal(t, "", tool.Number("no number"))

	chatty := filepath.Join(dir, "chatty")
	require.NoError(t, os.WriteFile(chatty, []byte("#!/bin/sh\necho beware of 99.9 >&2; echo Chatty 1.2\n"), 0o755))
	line, err = tool.Version(context.Background(), chatty)
	require.NoError(t, err)
	assert.Equal(t, "Chatty 1.2", line)

	_, err = tool.Version(context.Background(), "true", "")
	assert.ErrorContains(t, err, "printed no version")
	_, err = tool.Version(context.Background(), "no-such-program-here")
	var missing *tool.NotFoundError
	assert.ErrorAs(t, err, &missing)
}

func TestKillEndsWhatRunsAndWhatIsStartedLater(t *testing.T) {
	ctx, running := tool.Track(context.Background())
	pidFile := filepath.Join(t.TempDir(), "pid")
	ended := make(chan error, 1)
	go func() {
		_, err := tool.Run(ctx, sh("sleep 60 & echo $! >"+pidFile+".new; mv "+pidFile+".new "+pidFile+"; wait"))
		ended <- err
	}()
	var text []byte
	require.Eventually(t, func() bool {
		var err error
		text, err = os.ReadFile(pidFile)
		return err == nil
	}, 30*time.Second, 5*time.Millisecond)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	running.Kill()
	var exit *tool.ExitError
	require.ErrorAs(t, <-ended, &exit)
	assert.Equal(t, -1, exit.Code)
	assert.Eventually(t, func() bool { return !alive(pid) }, 5*time.Second, 10*time.Millisecond, "its child must die too")
	_, err = tool.Run(ctx, sh("sleep 60"))
	require.ErrorAs(t, err, &exit)
}

// Every test that looks for a program reads the digest of the versions, or go test would take a verdict from before an upgrade.
func TestFindReadsVersions(t *testing.T) {
	const env = "TOOL_TEST_FIND"
	if os.Getenv(env) != "" { // a child
		_, err := tool.Find("sh")
		require.NoError(t, err)
		return
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := tool.Command{Name: os.Args[0], Args: []string{"-test.run=^TestFindReadsVersions$", "-test.testlogfile=" + log}, Env: []string{env + "=1"}}
	_, err := tool.Run(context.Background(), cmd)
	require.NoError(t, err)
	read, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(read), "getenv "+tool.VersionsEnv+"\n", "what go test's cache takes note of")
}

func TestMeter(t *testing.T) {
	outer, all := tool.WithMeter(context.Background())
	inner, one := tool.WithMeter(outer)
	busy := sh("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit $0")
	for code, ctx := range []context.Context{outer, inner} {
		busy.Args = append(busy.Args[:2:2], strconv.Itoa(code))
		res, err := tool.Run(ctx, busy)
		assert.Equal(t, code != 0, err != nil, "a program that fails is counted too")
		assert.Positive(t, res.CPU, "the child's time is the program's")
		if ctx == inner {
			assert.Equal(t, res.CPU, one.CPU())
		}
	}
	assert.Equal(t, 1, one.Runs())
	assert.Equal(t, 2, all.Runs())
	assert.Greater(t, all.CPU(), one.CPU())
}
