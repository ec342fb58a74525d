// SPDX-License-Identifier: Apache-2.0

// Package slurmtest starts a Slurm cluster for a test: munged, slurmctld and a slurmd a node, all on this machine, each node with a port of
// its own. Nothing of it outlives the test, and nothing else on the machine is touched.
package slurmtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Switch is the environment variable that asks for the tests with a cluster: `make slurm-test` sets it.
const Switch = "INCFORGE_SLURM"

// nodeEnv marks the processes of a node's daemon.
const nodeEnv = "INCFORGE_TEST_NODE"

// Cluster is a running one.
type Cluster struct {
	t      testing.TB
	dir    string
	conf   string
	socket string
	ended  []func()
}

// Start starts a cluster with a partition of these nodes, one processor each, and sets SLURM_CONF for the test. It skips the test where
// nobody asked for clusters or Slurm is not installed.
func Start(t testing.TB, nodes ...string) *Cluster {
	t.Helper()
	if os.Getenv(Switch) == "" {
		t.Skip("a cluster takes seconds to start: make slurm-test")
	}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo"} {
		if _, err := find(program); err != nil {
			t.Skipf("%s is missing: make tools-slurm", program)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // t.TempDir's names may be too long for a socket
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	c := &Cluster{t: t, dir: dir, conf: filepath.Join(dir, "slurm.conf"), socket: filepath.Join(dir, "munge.socket")}
	t.Cleanup(c.stop)
	c.munge()
	c.configure(nodes)
	t.Setenv("SLURM_CONF", c.conf)
	c.daemon("slurmctld", nil, "-D", "-f", c.conf)
	for _, n := range nodes {
		c.daemon("slurmd", []string{nodeEnv + "=" + n}, "-D", "-N", n, "-f", c.conf)
	}
	require.Eventually(t, func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--states=idle", "--format=%D").Output()
		return err == nil && strings.TrimSpace(string(out)) == strconv.Itoa(len(nodes))
	}, time.Minute, 200*time.Millisecond, "the nodes of the cluster are not up: %s", c.logs())
	return c
}

// find looks in the folders of daemons too, which are not in everybody's PATH.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", program))
}

// munge starts the daemon that signs messages, with a key of its own.
func (c *Cluster) munge() {
	key := make([]byte, 1024)
	_, err := rand.Read(key)
	require.NoError(c.t, err)
	private := filepath.Join(c.dir, "munge")
	require.NoError(c.t, os.Mkdir(private, 0o700))
	require.NoError(c.t, os.WriteFile(filepath.Join(private, "key"), key, 0o400))
	c.daemon("munged", nil, "--foreground", "--num-threads=2", "--key-file="+filepath.Join(private, "key"), "--socket="+c.socket,
		"--pid-file="+filepath.Join(private, "pid"), "--log-file="+filepath.Join(private, "log"), "--seed-file="+filepath.Join(private, "seed"))
	require.Eventually(c.t, func() bool {
		_, err := os.Stat(c.socket)
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "munged has no socket")
}

func (c *Cluster) configure(nodes []string) {
	t := c.t
	host, err := os.Hostname()
	require.NoError(t, err)
	me, err := user.Current()
	require.NoError(t, err)
	state := filepath.Join(c.dir, "state")
	require.NoError(t, os.Mkdir(state, 0o755))
	var b strings.Builder
	for _, line := range []string{
		"ClusterName=test", "SlurmctldHost=" + host + "(127.0.0.1)", "SlurmctldPort=" + freePort(t), "SlurmUser=" + me.Username, "SlurmdUser=" + me.Username,
		"AuthType=auth/munge", "AuthInfo=socket=" + c.socket, "CredType=cred/munge", "StateSaveLocation=" + state, "SlurmdSpoolDir=" + c.dir + "/spool-%n",
		"SlurmctldPidFile=" + c.dir + "/slurmctld.pid", "SlurmdPidFile=" + c.dir + "/slurmd-%n.pid", "SlurmctldLogFile=" + c.dir + "/slurmctld.log",
		"SlurmdLogFile=" + c.dir + "/slurmd-%n.log", "ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "MpiDefault=none", "SwitchType=switch/none",
		"SchedulerType=sched/builtin", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "AccountingStorageType=accounting_storage/none",
		"JobAcctGatherType=jobacct_gather/none", "SlurmdParameters=config_overrides", "ReturnToService=2",
		// A node that says nothing for this long is down.
		"SlurmdTimeout=5", "KillWait=2", "MinJobAge=60",
	} {
		fmt.Fprintln(&b, line)
	}
	for _, n := range nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=1\n", n, host, freePort(t))
		require.NoError(t, os.Mkdir(filepath.Join(c.dir, "spool-"+n), 0o755))
	}
	fmt.Fprintf(&b, "PartitionName=all Nodes=%s Default=YES MaxTime=INFINITE State=UP\n", strings.Join(nodes, ","))
	require.NoError(t, os.WriteFile(c.conf, []byte(b.String()), 0o644))
}

// freePort is one that nobody listens on.
func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// daemon starts a program, which ends with the test.
func (c *Cluster) daemon(program string, env []string, args ...string) {
	path, err := find(program)
	require.NoError(c.t, err)
	out, err := os.Create(filepath.Join(c.dir, fmt.Sprintf("%s-%d.out", program, len(c.ended))))
	require.NoError(c.t, err)
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Env = append(append(os.Environ(), "SLURM_CONF="+c.conf), env...)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(c.t, cmd.Start())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // it is killed in the end
	}()
	c.ended = append(c.ended, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // or it is gone already
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-gone
		}
	})
}

// Kill ends a node as a power cut would: its daemon and every process of its jobs, at once.
func (c *Cluster) Kill(node string) {
	c.t.Helper()
	require.Positive(c.t, c.killAll("SLURMD_NODENAME="+node, nodeEnv+"="+node), "node %s has no process", node)
}

// killAll kills the cluster's processes that have one of these variables, and says how many there were.
func (c *Cluster) killAll(variables ...string) (killed int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(c.t, err)
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended, or is not ours
		}
		env := append([]byte{0}, text...)
		has := func(v string) bool { return bytes.Contains(env, []byte("\x00"+v+"\x00")) }
		if !has("SLURM_CONF=" + c.conf) {
			continue
		}
		for _, v := range variables {
			if !has(v) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(c.t, err)
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil {
				killed++
			} else if !errors.Is(err, syscall.ESRCH) {
				c.t.Errorf("kill %d: %v", pid, err)
			}
			break
		}
	}
	return killed
}

// logs are the ends of the daemons' logs.
func (c *Cluster) logs() string {
	var b strings.Builder
	for _, pattern := range []string{"*.log", "*.out"} {
		files, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(f), text[max(0, len(text)-2000):])
		}
	}
	return b.String()
}

func (c *Cluster) stop() {
	if c.t.Failed() {
		c.t.Log(c.logs())
	}
	for i := len(c.ended) - 1; i >= 0; i-- {
		c.ended[i]()
	}
	c.killAll("SLURM_CONF=" + c.conf) // what jobs have left
	if err := os.RemoveAll(c.dir); err != nil {
		c.t.Log(err)
	}
}
