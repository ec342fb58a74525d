// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/commlib/perf"
	"incforge/control/managerpb"
	"incforge/control/rpc"
	"incforge/internal/testlog"
)

// found waits for a pattern in a log, and returns what stands in its brackets.
func found(t *testing.T, log *testlog.Log, pattern string) string {
	t.Helper()
	return log.Await(t, pattern, time.Minute)[1] // a machine with much else to do takes that long to begin
}

// background runs a command until the test ends, and returns its log.
func background(t *testing.T, args ...string) *testlog.Log {
	t.Helper()
	log, _ := started(t, args...)
	return log
}

// started runs a command until it is stopped, or the test ends.
func started(t *testing.T, args ...string) (log *testlog.Log, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, status := &testlog.Log{}, make(chan int, 1)
	go func() { status <- run(ctx, args, io.Discard, log) }()
	want := exitInterrupted
	if args[0] == "live" { // which a signal ends as it should
		want = exitOK
	}
	stop = sync.OnceFunc(func() { cancel(); assert.Equal(t, want, <-status) })
	t.Cleanup(stop)
	return log, stop
}

// generated generates a small engine.
func generated(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.Equal(t, exitOK, run(t.Context(), []string{"gen", "mini", "-o", dir}, io.Discard, io.Discard))
	return dir
}

// An agent, a manager and a status, each as a command; two hosts make a group.
func TestAgentAndManager(t *testing.T) {
	dir := generated(t)
	agent := background(t, "agent", dir, "--name", "leaf0", "--ip", "10.0.0.1", "--mac", "02:00:00:00:00:00", "--simulate", "--listen", "127.0.0.1:0",
		"--store", filepath.Join(dir, "agent.db"), "--neighbour", "0=h0", "--neighbour", "1=h1")
	at := found(t, agent, `ready at (\S+)`)
	topology := filepath.Join(dir, "t.yaml")
	require.NoError(t, os.WriteFile(topology, fmt.Appendf(nil, `hop_rtt_ns: 100
switches: [{name: leaf0, agent: "%s"}]
hosts: [h0, h1]
links: [{a: leaf0:0, b: h0, mbps: 1000}, {a: leaf0:1, b: h1, mbps: 1000}]
`, at), 0o600))
	manager := background(t, "manager", topology, "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "manager.db"), "--page", "127.0.0.1:0")
	address := found(t, manager, `manager: ready at (\S+)`)
	found(t, manager, `(switch leaf0: up)`)

	conn, err := rpc.Dial(address, rpc.Manager, rpc.Files{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	m := managerpb.NewManagerClient(conn)
	var all sync.WaitGroup
	for rank := range 2 {
		all.Go(func() {
			r, err := m.Join(t.Context(), &managerpb.JoinRequest{Name: "ring", Members: []string{"h0", "h1"}, Rank: uint32(rank), Options: &managerpb.Options{Mbps: 100, Dtype: 3}})
			if assert.NoError(t, err) {
				_, err = m.Report(t.Context(), &managerpb.ReportRequest{Group: r.Group, Rank: uint32(rank), Own: &managerpb.QueuePair{Qpn: 17, Ip: 1, Mac: 1}})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, run(t.Context(), []string{"status", "--manager", address, "--json", filepath.Join(dir, "status.json")}, &stdout, &stderr), stderr.String())
	for _, want := range []string{"local/ring/", "ready", "h0 h1", "leaf0(h0 h1)", "KiB", "switch leaf0: up"} {
		assert.Contains(t, stdout.String(), want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "status.json"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"state": "ready"`)
	page, err := http.Get("http://" + found(t, manager, `page at http://(\S+)`))
	require.NoError(t, err)
	body, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	assert.Contains(t, string(body), "local/ring/")
}

// What is wrong with a command line is said at once.
func TestControlUsage(t *testing.T) {
	dir := generated(t)
	const leaf = "switches: [{name: leaf0, agent: \"127.0.0.1:1\"}]\nlinks: [{a: leaf0:0, b: h0, mbps: 1000}]\n"
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("hop_rtt_ns: 1\nhosts: [h0, h0]\n"+leaf), 0o600))
	agent := []string{"agent", dir, "--name", "a", "--ip", "10.0.0.1", "--mac", "02:00:00:00:00:00", "--store", filepath.Join(dir, "a.db")}
	good := filepath.Join(dir, "good.yaml")
	require.NoError(t, os.WriteFile(good, []byte("hop_rtt_ns: 1\nhosts: [h0]\n"+leaf), 0o600))
	for want, args := range map[string][]string{
		"one of --registers and --simulate is needed":          agent,
		"--neighbour 0: must be N=NAME, each port once":        append(agent[:len(agent):len(agent)], "--simulate", "--neighbour", "0"),
		"without certificates only loopback is allowed":        append(agent[:len(agent):len(agent)], "--simulate", "--listen", "0.0.0.0:0"),
		"an authority, a certificate and a key are needed":     append(agent[:len(agent):len(agent)], "--simulate", "--ca", "x"),
		"there are two nodes h0":                               {"manager", bad},
		"--lease must be more than twice --call":               {"manager", good, "--lease", "1s"},
		"dial 192.0.2.1:1: without certificates only loopback": {"status", "--manager", "192.0.2.1:1"},
	} {
		var stderr bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line")
	}
}

// A cluster as its operator starts it: two leaves and a spine in one process, each with an agent, a manager, and four hosts that run all collectives and check
// them. Then a group is held, a port is taken down, and all four say why it has ended.
func TestCluster(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("net.yaml", `
switches:
  - {name: leaf0, config: mini, agent: {listen: "127.0.0.1:0", ip: 10.1.0.1, mac: "02:00:00:00:01:00"}, ports: [{mine: s0, peer: h0, host: h0}, {mine: s1, peer: h1, host: h1}]}
  - {name: leaf1, config: mini, agent: {listen: "127.0.0.1:0", ip: 10.1.0.2, mac: "02:00:00:00:02:00"}, ports: [{mine: s2, peer: h2, host: h2}, {mine: s3, peer: h3, host: h3}]}
  - {name: spine0, config: mini, agent: {listen: "127.0.0.1:0", ip: 10.1.0.3, mac: "02:00:00:00:03:00"}}
links: [{a: "leaf0:2", b: "spine0:0"}, {a: "leaf1:2", b: "spine0:1"}]
`)
	ctl := filepath.Join(dir, "ctl")
	engines := background(t, "live", "--dut", "reference", "--topology", filepath.Join(dir, "net.yaml"), "--control", ctl)
	var at []any
	for _, sw := range []string{"leaf0", "leaf1", "spine0"} {
		at = append(at, found(t, engines, "agent "+sw+`: ready at (\S+)`))
	}
	manager := background(t, "manager", write("cluster.yaml", fmt.Sprintf(`
hop_rtt_ns: 20000
levels: true
switches: [{name: leaf0, level: 1, agent: %q}, {name: leaf1, level: 1, agent: %q}, {name: spine0, level: 2, agent: %q}]
hosts: [h0, h1, h2, h3]
links:
  - {a: "leaf0:0", b: h0, mbps: 1000}
  - {a: "leaf0:1", b: h1, mbps: 1000}
  - {a: "leaf1:0", b: h2, mbps: 1000}
  - {a: "leaf1:1", b: h3, mbps: 1000}
  - {a: "spine0:0", b: "leaf0:2", mbps: 1000}
  - {a: "spine0:1", b: "leaf1:2", mbps: 1000}
`, at...)), "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "manager.db"))
	address := found(t, manager, `manager: ready at (\S+)`)
	hosts := func(command string, more ...string) (status []int, out, log []*testlog.Log) {
		var all sync.WaitGroup
		status = make([]int, 4)
		for i := range 4 {
			out, log = append(out, &testlog.Log{}), append(log, &testlog.Log{})
			args := []string{command, fmt.Sprint("h", i), "--manager", address, "--nic", fmt.Sprintf("unix:%s/h%d,%s/s%d,10.1.1.%d,02:00:00:01:00:0%d", dir, i, dir, i, i, i), "--group", "ring", "--members", "h0,h1,h2,h3", "--mbps", "100", "--wait", "1m"}
			all.Go(func() { status[i] = run(t.Context(), append(args, more...), out[i], log[i]) })
		}
		t.Cleanup(all.Wait)
		if command == "perf" {
			all.Wait()
		} else {
			for i := range 4 {
				found(t, log[i], "(is ready: rank)")
			}
			var text bytes.Buffer
			require.Equal(t, exitOK, run(t.Context(), []string{"live", "ctl", "down", ctl, "1", "--switch", "leaf1"}, &text, io.Discard))
			require.Contains(t, text.String(), "port 1 is down")
			all.Wait()
		}
		return status, out, log
	}
	status, out, log := hosts("perf", "--bytes", "1Ki,10000:20000", "--type", "int32", "--iterations", "1", "--json", filepath.Join(dir, "perf.json"))
	for i := range 4 {
		require.Equal(t, exitOK, status[i], log[i].String())
	}
	for _, want := range []string{"reducescatter", "allgather", "barrier", " 20000 "} {
		require.Contains(t, out[0].String(), want)
	}
	require.Empty(t, out[1].String(), "rank 0 prints for all")
	var rows []perf.Row
	text, err := os.ReadFile(filepath.Join(dir, "perf.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &rows))
	require.Len(t, rows, 5*3+1)
	for _, r := range rows {
		require.Positive(t, r.Out.Microsec)
		require.Zero(t, r.Wrong())
	}
	status, _, log = hosts("host")
	for i := range 4 {
		require.Equal(t, exitFailed, status[i])
		require.Contains(t, log[i].String(), "the link leaf1–h3 is down")
	}
}
