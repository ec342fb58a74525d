// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/lab/folder"
	"incforge/live"
	"incforge/roce"
	"incforge/verify/dut"
)

// TestMain is the tests or, under the name of a guest's kernel, a guest: it takes commands on its terminals, which run on this machine.
// What a real guest does is tested by make lab-test.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "initrd="):
		fakeGuest(os.Args[1:])
	case os.Getenv("LAB_TO_BE_KILLED") != "":
		toBeKilled()
	default:
		os.Exit(m.Run())
	}
}

func fakeGuest(args []string) {
	share, name := "", ""
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "hostfs="); ok {
			share = v
		}
		if v, ok := strings.CutPrefix(a, "lab_name="); ok {
			name = v
		}
	}
	if _, err := os.Stat(filepath.Join(share, "..", "..", "broken")); err == nil {
		fmt.Println("panic: no init")
		os.Exit(1)
	}
	// A process of the guest's, as user-mode Linux has some.
	if err := exec.Command("sleep", "1000").Start(); err != nil {
		panic(err)
	}
	var mu sync.Mutex
	pids := map[string]int{}
	for i := range ttys {
		go func() {
			tty := os.NewFile(uintptr(4+i), "tty")
			fmt.Fprint(tty, readyText)
			for {
				line, err := readLine(tty)
				if err != nil {
					return
				}
				kind, token, two := strings.Cut(line, " ")
				if !two {
					continue
				}
				cmd := exec.Command("sh", filepath.Join(share, ".run", token))
				switch kind {
				case "shell":
					cmd = exec.Command("sh")
					cmd.Stdin = tty
				case "end":
					mu.Lock()
					_ = syscall.Kill(-pids[token], syscall.SIGKILL)
					mu.Unlock()
					fmt.Fprintf(tty, "<%s:0>", token)
					continue
				}
				cmd.Env = append(os.Environ(), "SHARE="+share, "NAME="+name)
				cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = tty, tty, &syscall.SysProcAttr{Setsid: true}
				mu.Lock()
				err = cmd.Start()
				if err == nil {
					pids[token] = cmd.Process.Pid
				}
				mu.Unlock()
				_ = cmd.Wait()
				fmt.Fprintf(tty, "<%s:%d>", token, max(cmd.ProcessState.ExitCode(), 0))
			}
		}()
	}
	select {}
}

// readLine reads a line, and no byte too many: what follows may be for a shell.
func readLine(r io.Reader) (line string, err error) {
	for b := []byte{0}; ; line += string(b) {
		if _, err = io.ReadFull(r, b); err != nil || b[0] == '\n' {
			return line, err
		}
	}
}

// guest makes a guest of this program.
func guest(t *testing.T) Guest {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "linux")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "initrd"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "hello"), []byte("#!/bin/sh\necho hello\n"), 0o700))
	return Guest(dir)
}

const pairOfHosts = `
name: duo
switches: [{name: s, config: five}]
hosts: [{name: h0}, {name: h1}]
links: [{a: h0, b: s}, {a: h1, b: s:4, capture: h1.pcapng}]
groups: [{name: sum, hosts: [h1, h0], dtype: INT32, start: 0x123456}, {name: two, hosts: [h0, h1], dtype: INT32}]
`

// options are those of a lab of two hosts, whose home is a short path.
func options(t *testing.T) (o Options, log *bytes.Buffer) {
	t.Helper()
	top, err := read(t, pairOfHosts)
	require.NoError(t, err)
	home, err := os.MkdirTemp("", "lab")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })
	engine, err := dut.NewReference(top.Switches[0].Manifest)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, engine.Close()) })
	log = &bytes.Buffer{}
	logger := logrus.New()
	logger.SetOutput(log)
	return Options{Topology: top, Engines: []dut.DUT{engine}, TimeScales: []float64{1}, Guest: guest(t), Home: filepath.Join(home, "l"), Log: logger}, log
}

// nothingLeft: no file, no process.
func nothingLeft(t *testing.T, o *Options) {
	t.Helper()
	assert.NoDirExists(t, o.Home)
	pids, err := folder.Marked(filepath.Join(o.Home, o.Topology.Name))
	require.NoError(t, err)
	assert.Empty(t, pids)
}

func TestLab(t *testing.T) {
	o, log := options(t)
	mine := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.WriteFile(mine, []byte("#!/bin/sh\necho mine\n"), 0o700))
	require.NoError(t, o.Topology.AddProgram(mine))
	o.Program = func(ctx context.Context, l *Lab) error {
		folders, err := Folders(o.Home)
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Join(o.Home, "duo")}, folders)
		c := NewClient(folders[0])
		exec := func(host, script string) (string, int) {
			var out bytes.Buffer
			status, err := c.Exec(ctx, host, script, &out)
			require.NoError(t, err)
			return out.String(), status
		}
		text, status := exec("h1", "echo I am $NAME; $SHARE/bin/hello >&2; $SHARE/bin/mine; exit 3")
		assert.Equal(t, "I am h1\nhello\nmine\n", text)
		assert.Equal(t, 3, status)
		big, _ := exec("h0", "head -c 300000 /dev/zero; printf '<'")
		assert.Len(t, big, 300001)
		_, err = c.Exec(ctx, "h7", "true", io.Discard)
		require.ErrorContains(t, err, `there is no such host: "h7"`)

		joins(t, o.Topology, exec)
		shell(ctx, t, c)
		cut(ctx, t, c)
		captured(ctx, t, c, l)

		// A guest that is killed is gone with all it runs, and comes back.
		done := make(chan error, 1)
		go func() {
			_, err := c.Exec(ctx, "h0", "echo; sleep 1000", io.Discard)
			done <- err
		}()
		for pids := []int{}; len(pids) < 5; time.Sleep(time.Millisecond) { // two guests with a process each, and sleep
			pids, err = folder.Marked(l.dir)
			require.NoError(t, err)
		}
		joined := filepath.Join(l.share, "groups", "sum", "1.join") // of a program on h0 that waits for the other
		require.NoError(t, os.WriteFile(joined, []byte("77\n"), 0o600))
		require.NoError(t, c.Kill(ctx, "h0"))
		assert.NoFileExists(t, joined)
		require.ErrorContains(t, <-done, ErrGone.Error())
		_, err = c.Exec(ctx, "h0", "true", io.Discard)
		require.ErrorContains(t, err, ErrDown.Error())
		s, err := c.State(ctx)
		require.NoError(t, err)
		assert.Equal(t, []bool{false, true}, []bool{s.Hosts[0].Up, s.Hosts[1].Up})
		require.NoError(t, c.Start(ctx, "h0"))
		require.ErrorContains(t, c.Start(ctx, "h0"), "host h0 is up")
		text, _ = exec("h0", "echo again")
		assert.Equal(t, "again\n", text)

		second := o
		_, err = Run(ctx, second)
		require.ErrorIs(t, err, folder.ErrRunning)
		return nil
	}
	rep, err := Run(t.Context(), o)
	require.NoError(t, err, log)
	require.Len(t, rep.Switches, 1)
	nothingLeft(t, &o)
}

// joins has both ranks join the group, twice; then they join another with the same queue pairs, as after a boot.
func joins(t *testing.T, top *Topology, exec func(host, script string) (string, int)) {
	t.Helper()
	const rank = `cd $SHARE/groups/$2
echo $1 >.t%[1]d; mv .t%[1]d %[1]d.join; while ! [ -e %[1]d.go ]; do sleep 0.01; done; cat %[1]d.go; rm %[1]d.go
echo >.t%[1]d; mv .t%[1]d %[1]d.ready; while ! [ -e %[1]d.run ]; do sleep 0.01; done; rm %[1]d.run`
	for _, c := range []struct {
		group, start int
		qpns         [2]int // of h0 and h1
	}{{0, 0x123456, [2]int{41, 40}}, {0, 0x123456 + startStep, [2]int{51, 50}}, {1, 0, [2]int{51, 50}}} {
		g := &top.Groups[c.group]
		var out [2]string
		var all sync.WaitGroup
		for r, h := range g.Hosts {
			all.Go(func() {
				out[r], _ = exec(top.Hosts[h].Name, fmt.Sprintf("set -- %[2]d %[3]s\n"+rank, r, c.qpns[h], g.Name))
			})
		}
		all.Wait()
		for r, text := range out {
			n, e := top.edgeOf(g, g.Hosts[r])
			assert.Equal(t, fmt.Sprintf("10.77.255.1 %d %d\n", top.localQPN(n, e), c.start), text, "rank %d", r)
		}
	}
}

func shell(ctx context.Context, t *testing.T, c *Client) {
	t.Helper()
	var out bytes.Buffer
	in, feed := io.Pipe()
	defer func() { assert.NoError(t, feed.Close()) }()
	go func() { _, _ = io.WriteString(feed, "echo $((6*7))\nexit\n") }()
	require.NoError(t, c.Shell(ctx, "h0", in, &out))
	assert.Equal(t, "42\n", out.String())
	require.ErrorContains(t, c.Shell(ctx, "nobody", in, &out), "no such host")
	// What is typed is done before the shell ends with its input; what is typed too late spoils no command.
	out.Reset()
	require.NoError(t, c.Shell(ctx, "h0", strings.NewReader("sleep 0.1; echo $((6*7))\nexit\nls"), &out))
	assert.Equal(t, "42\n", out.String())
	// The last line needs no end, and the shell ends with it.
	out.Reset()
	require.NoError(t, c.Shell(ctx, "h0", strings.NewReader("echo $((6*7))"), &out))
	assert.Equal(t, "42", strings.TrimSpace(out.String()))
	for range ttys {
		out.Reset()
		_, err := c.Exec(ctx, "h0", "echo right", &out)
		require.NoError(t, err)
		assert.Equal(t, "right\n", out.String())
	}
}

// cut: a command ends with whoever asked for it, and its terminal is free again.
func cut(ctx context.Context, t *testing.T, c *Client) {
	t.Helper()
	for range 2 * ttys {
		ctx, cancel := context.WithCancel(ctx)
		r, w := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := c.Exec(ctx, "h1", "echo $$; sleep 1000", w)
			done <- err
		}()
		line, err := bufio.NewReader(r).ReadString('\n')
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, 5*time.Second, time.Millisecond)
	}
	require.Eventually(t, func() bool {
		_, err := c.Exec(ctx, "h1", "true", io.Discard)
		return err == nil
	}, 5*time.Second, time.Millisecond)
}

// captured: frames of one link come, those of the other do not.
func captured(ctx context.Context, t *testing.T, c *Client, l *Lab) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- c.Capture(ctx, "s-h0", w) }()
	go func() { done <- c.Capture(ctx, "h0", w) }()
	require.ErrorContains(t, <-done, `there is no such link: "s-h0"`)
	frame := func(i byte) []byte { return append(make([]byte, 60), i) }
	go func() {
		for ctx.Err() == nil {
			l.taps.See(live.End{Port: 4}, time.Now(), frame(4))
			l.taps.See(live.End{Port: 0}, time.Now(), frame(0))
			time.Sleep(time.Millisecond)
		}
	}()
	capture, err := roce.NewCaptureReader(r)
	require.NoError(t, err)
	for range 3 {
		f, err := capture.Next()
		require.NoError(t, err)
		assert.Equal(t, frame(0), f.Frame)
	}
	cancel()
	require.NoError(t, r.Close())
	<-done
}

func TestNoGuest(t *testing.T) {
	o, _ := options(t)
	o.Guest = Guest(t.TempDir())
	_, err := Run(t.Context(), o)
	require.ErrorIs(t, err, ErrNoGuest)
	nothingLeft(t, &o)
}

func TestGuestThatDoesNotBoot(t *testing.T) {
	o, _ := options(t)
	require.NoError(t, os.MkdirAll(o.Home, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(o.Home, "broken"), nil, 0o600))
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "host h0 does not come up")
	require.ErrorContains(t, err, "panic: no init")
	require.NoError(t, os.Remove(filepath.Join(o.Home, "broken")))
	require.NoError(t, os.Remove(o.Home))
	nothingLeft(t, &o)
}

// toBeKilled runs a lab until it is killed.
func toBeKilled() {
	signal.Ignore(syscall.SIGTERM)
	f, err := folder.Claim(os.Getenv("LAB_TO_BE_KILLED"), "duo")
	if err == nil {
		b := boot{guest: Guest(os.Getenv("LAB_GUEST")), host: &Host{Name: "h0"}, dir: f.Path, share: f.Path, port: filepath.Join(f.Path, "p")}
		if _, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: b.port, Net: "unixpacket"}); err == nil {
			_, err = b.start()
		}
	}
	fmt.Println(err)
	select {}
}

// TestKilled: what a lab leaves that was killed, the next one takes away, and touches no other lab.
func TestKilled(t *testing.T) {
	o, _ := options(t)
	self, err := os.Executable()
	require.NoError(t, err)
	victim := exec.Command(self)
	victim.Env = append(os.Environ(), "LAB_TO_BE_KILLED="+o.Home, "LAB_GUEST="+string(o.Guest))
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", line)
	dir := filepath.Join(o.Home, "duo")
	require.Eventually(t, func() bool { // the guest and a process of its own
		pids, err := folder.Marked(dir)
		return err == nil && len(pids) == 2
	}, 10*time.Second, time.Millisecond)
	other, err := folder.Claim(o.Home, "other")
	require.NoError(t, err)
	require.DirExists(t, dir, "it runs")

	require.NoError(t, victim.Process.Kill())
	_ = victim.Wait() // it was killed
	third, err := folder.Claim(o.Home, "third")
	require.NoError(t, err)
	assert.NoDirExists(t, dir)
	assert.NoFileExists(t, dir+folder.LockSuffix)
	pids, err := folder.Marked(dir)
	require.NoError(t, err)
	assert.Empty(t, pids)
	assert.DirExists(t, other.Path)
	require.NoError(t, third.Drop())
	require.NoError(t, other.Drop())
	nothingLeft(t, &o)
}
