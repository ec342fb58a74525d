// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/testlog"
	"incforge/lab"
	"incforge/live"
)

// guests is the folder of what real Linux hosts boot from; make lab-test names it. Labs have a home of their own, which must be gone at the
// end.
func guests(t *testing.T) string {
	t.Helper()
	guest := os.Getenv("INCFORGE_LAB_GUEST")
	if guest == "" {
		t.Skip("make lab-test runs this, with guests")
	}
	home, err := os.MkdirTemp("", "lab")
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoDirExists(t, filepath.Join(home, "incforge-lab"))
		assert.NoError(t, os.RemoveAll(home))
	})
	t.Setenv("XDG_RUNTIME_DIR", home)
	return guest
}

// TestLabGuests runs AllReduces of real Linux hosts, and compares every element.
func TestLabGuests(t *testing.T) {
	guest := guests(t)
	const sizes = "1024 4096 65536 262144 1048576"
	for _, c := range []struct {
		file   string
		groups []string
		hosts  int
	}{{"four.yaml", []string{"ints", "floats"}, 4}, {"eight.yaml", []string{"all", "floats"}, 8}} {
		for _, loss := range []float64{0, 0.01} {
			t.Run(fmt.Sprintf("%s/loss %g", c.file, loss), func(t *testing.T) {
				file := example(t, t.TempDir(), c.file, loss)
				status, _, stderr := try(t, "lab", file, "--prepare")
				require.Equal(t, exitOK, status, stderr)
				start := time.Now()
				status, stdout, stderr := try(t, "lab", file, "--guest", guest, "--", fmt.Sprintf("set -e; for g in %s; do allreduce $g %s; done",
					strings.Join(c.groups, " "), sizes))
				t.Logf("%.1f s\n%s%s", time.Since(start).Seconds(), stdout, stderr)
				require.Equal(t, exitOK, status)
				assert.Equal(t, c.hosts*len(c.groups)*len(strings.Fields(sizes)), strings.Count(stdout, "bytes: right"))
			})
		}
	}
}

// TestLabLarge: 16 MiB through the reference, over links that lose, repeat and swap frames.
func TestLabLarge(t *testing.T) {
	text := leaf(labExample(t, "jumbo.yaml"), "  - {name: ints, hosts: [h0, h1, h2, h3], dtype: INT32}\n  - {name: floats, hosts: [h0, h1, h2, h3], dtype: FP32}\n")
	text = strings.NewReplacer("a: h2, b: leaf", "a: h2, b: leaf, loss: 0.001", "a: h3, b: leaf", "a: h3, b: leaf, reorder: 0.01, dup: 0.01", "{name: h", "{memory_mb: 160, name: h").Replace(text)
	c := startLab(t, text)
	out := c.do("set -e; allreduce ints 16777216; allreduce floats 16777216", "h0", "h1", "h2", "h3")
	t.Log(out)
	assert.Equal(t, 8, strings.Count(out, "right"))
	state, err := c.client().State(t.Context())
	require.NoError(t, err)
	p2, p3 := state.Switches[0].Ports[2], state.Switches[0].Ports[3]
	assert.Positive(t, p2.LostIn+p2.LostOut)
	assert.Positive(t, min(p3.Duplicated, p3.Reordered))
}

// cluster is a lab that runs.
type cluster struct {
	t     *testing.T
	log   *testlog.Log
	state lab.State
	stop  func()
	ended chan int
}

// startLab runs the lab of a topology file with that text until the test ends.
func startLab(t *testing.T, text string) *cluster {
	t.Helper()
	guest, dir := guests(t), t.TempDir()
	file := filepath.Join(dir, "guests.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	c := &cluster{t: t, log: &testlog.Log{}, stop: cancel, ended: make(chan int, 1)}
	go func() { c.ended <- run(ctx, []string{"lab", file, "--guest", guest}, &testlog.Log{}, c.log) }()
	t.Cleanup(func() {
		cancel()
		assert.Equal(t, exitOK, <-c.ended, c.log)
		if t.Failed() {
			t.Log(c.log)
		}
	})
	c.log.Await(t, `is up after`, time.Minute)
	c.look()
	return c
}

// look asks for the lab's state.
func (c *cluster) look() *lab.State {
	c.t.Helper()
	status, stdout, stderr := try(c.t, "lab", "state", "--json")
	require.Equal(c.t, exitOK, status, stderr)
	require.NoError(c.t, json.Unmarshal([]byte(stdout), &c.state))
	return &c.state
}

// job is a command on hosts that runs.
type job struct {
	out  *testlog.Log
	stop func()
	done chan bool // all were right
}

// begin starts a command on hosts at once.
func (c *cluster) begin(script string, hosts ...string) *job {
	ctx, cancel := context.WithCancel(c.t.Context())
	j := &job{out: &testlog.Log{}, stop: cancel, done: make(chan bool, 1)}
	right := make([]bool, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() { right[i] = run(ctx, []string{"lab", "exec", host, script}, j.out, j.out) == exitOK })
	}
	go func() {
		all.Wait()
		ok := true
		for _, r := range right {
			ok = ok && r
		}
		j.done <- ok
	}()
	return j
}

// do runs a command on hosts, which must do it without an error, and returns what it prints.
func (c *cluster) do(script string, hosts ...string) string {
	c.t.Helper()
	j := c.begin(script, hosts...)
	require.True(c.t, <-j.done, "%s: %s\n%s", script, j.out, c.log)
	return j.out.String()
}

// client is one of the switches' control socket.
func (c *cluster) client() *live.Client { return live.NewClient(c.state.Control) }

// leaf is a switch with four hosts, on the reference; groups are lines of the file.
func leaf(config, groups string) string {
	return fmt.Sprintf(`
switches: [{name: leaf, config: %s}]
hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}]
links: [{a: h0, b: leaf}, {a: h1, b: leaf}, {a: h2, b: leaf}, {a: h3, b: leaf}]
groups:
%s`, config, groups)
}
