// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/control/managerpb"
)

// managedLab starts the example with a manager and CommLib's program on its hosts, until the test ends.
func managedLab(t *testing.T) *cluster {
	t.Helper()
	programs := os.Getenv("INCFORGE_GUEST_PROGRAMS")
	if programs == "" {
		t.Skip("make commlib-lab-test runs this, with guests")
	}
	text, err := os.ReadFile("../../lab/examples/managed.yaml")
	require.NoError(t, err)
	return startLab(t, strings.ReplaceAll(string(text), "config: inband.yaml", "config: "+labExample(t, "inband.yaml"))+"programs: ["+programs+"/incforge]\n")
}

// manager is what the lab's manager says.
func (c *cluster) manager() *managerpb.StatusResponse {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "status.json")
	status, _, stderr := try(c.t, "status", "--manager", c.state.Manager, "--json", file)
	require.Equal(c.t, exitOK, status, stderr)
	text, err := os.ReadFile(file)
	require.NoError(c.t, err)
	var s managerpb.StatusResponse
	require.NoError(c.t, json.Unmarshal(text, &s))
	return &s
}

// perfOf is a command that makes a group of hosts and uses it.
func perfOf(name, members, more string) string {
	return "incforge perf $(hostname) --mbps 50 --least 1 --iterations 1 --warmup 0 --type int32 --group " + name + " --members " + members + " " + more
}

// figure is a number of what a command prints on a host.
func (c *cluster) figure(host, script string) int {
	c.t.Helper()
	out := c.do(script, host)
	n, err := strconv.Atoi(strings.TrimSpace(out))
	require.NoError(c.t, err, "%s: %s", script, out)
	return n
}

// A group of real Linux hosts on both leaves is made, used and destroyed a hundred times through the manager, by programs that stay, while others have
// theirs: nothing leaks in the hosts, the programs, the switches or the manager's account, and no queue pair number comes twice.
func TestManagedGuestsAgain(t *testing.T) {
	c := managedLab(t)
	hosts := []string{"h0", "h1", "h4", "h5"}
	const members = "h0,h1,h4,h5"
	other := c.begin(perfOf("other", "h2,h6", "--collective allreduce --bytes 16Ki --groups 100000"), "h2", "h6")
	other.out.Await(t, `(?s)(is ready.*){4}`, 20*time.Second)

	ring := perfOf("ring", members, "--collective allreduce,allgather --bytes 20000")
	c.do(ring+" --groups 10", hosts...)
	before, open := c.held(), files(t)
	start := time.Now()
	long := c.begin(ring+" --groups 90", hosts...)
	program := func() (fds, kB int) {
		return c.figure("h0", "ls /proc/$(pidof incforge)/fd | wc -l"), c.figure("h0", "sed -n 's/VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$(pidof incforge)/status")
	}
	long.out.Await(t, `(?s)(is ready.*){40}`, 3*time.Minute)
	fds, kB := program()
	long.out.Await(t, `(?s)(is ready.*){340}`, 8*time.Minute)
	laterFDs, laterKB := program()
	require.True(t, <-long.done, long.out)
	t.Logf("90 groups in %v; h0's program after 10 and after 85: %d and %d descriptors, %d and %d kB", time.Since(start), fds, laterFDs, kB, laterKB)
	assert.LessOrEqual(t, laterFDs, fds+4, "a group that is there has some")
	assert.LessOrEqual(t, laterKB, kB+8<<10)

	qpns := regexp.MustCompile(`host (h\d): .* toward \S+ queue pair (0x\w+)`).FindAllStringSubmatch(long.out.String(), -1)
	require.Len(t, qpns, 360)
	seen := map[string]bool{}
	for _, q := range qpns {
		require.False(t, seen[q[1]+q[2]], "%s had queue pair %s before", q[1], q[2])
		seen[q[1]+q[2]] = true
	}
	other.stop()
	<-other.done
	require.Contains(t, other.out.String(), "is ready")
	require.NotContains(t, other.out.String(), "the group has ended: rank", "nobody disturbed it")

	after := c.held()
	t.Logf("after 10: %+v\nafter 100: %+v", before, after)
	for i, h := range c.state.Hosts {
		if h.Name != "h2" && h.Name != "h6" {
			assert.Equal(t, before.objects[i], after.objects[i], h.Name)
			assert.GreaterOrEqual(t, after.memory[i], before.memory[i]-2048, h.Name)
		}
	}
	assert.Eventually(t, func() bool { return files(t) <= open }, 5*time.Second, 20*time.Millisecond, "connections may end a little later")
	assert.LessOrEqual(t, after.heap, before.heap+8<<20)
	assert.Eventually(t, func() bool { return len(c.manager().Groups) == 0 }, 15*time.Second, 100*time.Millisecond)
	s := c.manager()
	require.Len(t, s.Switches, 3)
	for _, sw := range s.Switches {
		assert.Equal(t, sw.Slots, sw.Free, sw.Name)
		assert.Zero(t, sw.Groups, sw.Name)
		assert.Empty(t, sw.Trouble, sw.Name)
	}
	assert.NotContains(t, c.log.String(), "sends to QPN", "a group's last frames are nothing to tell of")
	live, err := c.client().State(t.Context())
	require.NoError(t, err)
	for _, sw := range live.Switches {
		assert.Empty(t, sw.Groups, sw.Name)
	}
}

// told is how soon every host of a group must hear that it has ended.
const told = 5 * time.Second

// A host that dies amid collectives, and a port that goes down under a group at rest, end the groups on them, with the reason at every host; another group
// goes on, a new one of those that are left works at once, and with all of them when the host and the port are back.
func TestManagedGuestsFail(t *testing.T) {
	c := managedLab(t)
	other := c.begin(perfOf("other", "h2,h3", "--collective allreduce --bytes 64Ki --iterations 60"), "h2", "h3")
	other.out.Await(t, `(?s)(is ready.*){2}`, 20*time.Second)
	hold := func(script string) *job {
		j := c.begin(script, "h0", "h4", "h5")
		j.out.Await(t, `(?s)(is ready.*){3}`, 20*time.Second)
		return j
	}
	works := func(name string, hosts ...string) {
		t.Helper()
		out := c.do(perfOf(name, strings.Join(hosts, ","), "--wait 20s --bytes 4Ki"), hosts...)
		assert.Contains(t, out, "allgather")
	}
	group := hold(perfOf("held", "h0,h4,h5", "--collective allreduce --bytes 64Ki --iterations 1000000"))
	results := func() uint64 {
		s, err := c.client().State(t.Context())
		require.NoError(t, err)
		return s.Switches[1].Counters["TX_RESULT"]
	}
	begun := results()
	require.Eventually(t, func() bool { return results() > begun+640 }, 30*time.Second, 50*time.Millisecond, "h4 and h5, alone below leaf1, are not at work")
	status, _, stderr := try(t, "lab", "kill", "h5")
	require.Equal(t, exitOK, status, stderr)
	dead := time.Now()
	for _, who := range []string{`rank 0 \(h0\)`, `rank 1 \(h4\)`} {
		group.out.Await(t, who+`, (allreduce int32 sum of 65536|barrier of 0) bytes[^\n]*: the group has ended: (rank 2, h5, is gone|the link leaf1–h5 is down|the link h5–leaf1 is down)`, 2*told)
	}
	t.Logf("a dead host: said after %v", time.Since(dead))
	assert.LessOrEqual(t, time.Since(dead), told)
	<-group.done
	works("survivors", "h0", "h4")
	status, _, stderr = try(t, "lab", "start", "h5")
	require.Equal(t, exitOK, status, stderr)
	works("all", "h0", "h4", "h5")

	group = hold("incforge host $(hostname) --mbps 50 --least 1 --group held --members h0,h4,h5")
	status, _, stderr = try(t, "live", "ctl", "down", c.state.Control, "0", "--switch", "leaf1")
	require.Equal(t, exitOK, status, stderr)
	dead = time.Now()
	group.out.Await(t, `(?s)(the group has ended: the link \S+ is down.*){3}`, 2*told)
	t.Logf("a dead port: said after %v", time.Since(dead))
	assert.LessOrEqual(t, time.Since(dead), told)
	<-group.done
	works("rest", "h0", "h5")
	status, _, stderr = try(t, "live", "ctl", "up", c.state.Control, "0", "--switch", "leaf1")
	require.Equal(t, exitOK, status, stderr)
	works("again", "h0", "h4", "h5")
	require.True(t, <-other.done, other.out)
	assert.NotContains(t, other.out.String(), "has ended")
}
