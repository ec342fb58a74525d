// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
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

// ownNetwork runs the test again as a process with a network of its own, in which it may do everything, and tells whether this is that process.
func ownNetwork(t *testing.T) bool {
	t.Helper()
	const mark = "INCFORGE_OWN_NETWORK"
	if os.Getenv(mark) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Skipf("this system gives nobody a network of his own: %v", err)
	}
	t.Log(string(out))
	require.NoError(t, err)
	return false
}

// guestOn boots a guest whose network card is one of the machine's. A guest with a lab_relay runs a program of that name when its own device is up; here
// it is a script of the shared folder.
func guestOn(t *testing.T, guest, share, card string, host int) {
	t.Helper()
	dir, name := t.TempDir(), fmt.Sprint("h", host)
	cmd := exec.Command(filepath.Join(guest, "linux"), "initrd="+filepath.Join(guest, "initrd"), "mem=64M", "con0=null", "con1=null",
		fmt.Sprintf("vec0:transport=raw,ifname=%s,mac=52:54:00:77:00:%02x,mtu=1500,depth=256", card, host+1), "hostfs="+share, "uml_dir="+dir, "umid="+name,
		"lab_name="+name, fmt.Sprintf("lab_ip=10.77.0.%d/16", host+1), "lab_mtu=1500", "lab_ttys=0", "lab_relay=1", "lab_manager=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		_ = cmd.Wait() // it was killed
	})
}

// TestLabCards: the switch's ports are network cards of this machine, at the cables of which four hosts are; here they are veth pairs. The hosts reach each
// other over the bridge, and the group's result is right.
func TestLabCards(t *testing.T) {
	guest := guests(t)
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("iproute2 is not installed")
	}
	if !ownNetwork(t) {
		return
	}
	const hosts = 4
	share := t.TempDir()
	meet := filepath.Join(share, "groups", "ints")
	require.NoError(t, os.MkdirAll(meet, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(share, "bin"), 0o700))
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o700))
		require.NoError(t, os.Rename(path+".new", path))
	}
	write(filepath.Join(meet, "group"), "hosts h0 h1 h2 h3\ncollective allreduce\ndtype INT32\nop SUM\nwindow 16\nmtu 1024\n")
	program, err := os.ReadFile(filepath.Join(guest, "bin", "allreduce"))
	require.NoError(t, err)
	write(filepath.Join(share, "bin", "allreduce"), string(program))
	write(filepath.Join(share, "bin", "relay"), "#!/bin/sh\nexec >/share/$(hostname).out 2>&1\nping -c 1 10.77.0.1 && allreduce -n 3 ints 262144\necho exit $?\n")
	args := []string{"live", labExample(t, "switch.yaml"), "--dut", "reference", "--bridge", "--groups", filepath.Join(share, "groups.yaml")}
	groups := "arp: true\ngroups:\n  - dtype: INT32\n    start: 0x123456\n    endpoints:\n"
	for h := range hosts {
		for _, line := range []string{"link add sw%d type veth peer name vm%[1]d", "link set sw%d up", "link set vm%d up"} {
			out, err := exec.Command("ip", strings.Fields(fmt.Sprintf(line, h))...).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		args = append(args, "--port", fmt.Sprintf("%d=eth:sw%[1]d", h))
		groups += fmt.Sprintf("      - {local: {ip: 10.77.255.1}, remote: {mac: 52:54:00:77:00:%02x, ip: 10.77.0.%[1]d, qpn: 17}}\n", h+1)
	}
	write(filepath.Join(share, "groups.yaml"), groups)
	ctx, stop := context.WithCancel(t.Context())
	log, ended := &testlog.Log{}, make(chan int, 1)
	go func() { ended <- run(ctx, args, io.Discard, log) }()
	log.Await(t, "live: ready", time.Minute)
	for h := range hosts {
		guestOn(t, guest, share, fmt.Sprint("vm", h), h)
	}
	// all waits until each host has written a file.
	all := func(dir, pattern string) (texts string) {
		require.Eventually(t, func() bool {
			texts = ""
			for h := range hosts {
				text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf(pattern, h)))
				if err != nil || strings.HasSuffix(pattern, "out") && !strings.Contains(string(text), "exit ") {
					return false
				}
				texts += string(text)
			}
			return true
		}, time.Minute, 5*time.Millisecond, "%s\n%s", texts, log)
		return texts
	}
	require.Equal(t, strings.Repeat("17\n", hosts), all(meet, "%d.join"), "rxe's first queue pair, as the groups file has it")
	for h := range hosts {
		write(filepath.Join(meet, fmt.Sprint(h, ".go")), fmt.Sprintf("10.77.255.1 %d %d\n", 0x100000+h, 0x123456))
	}
	all(meet, "%d.ready")
	for h := range hosts {
		write(filepath.Join(meet, fmt.Sprint(h, ".run")), "run\n")
	}
	out := all(share, "h%d.out")
	t.Log(out)
	assert.Equal(t, 3*hosts, strings.Count(out, "right"))
	assert.Equal(t, hosts, strings.Count(out, "1 packets received"))
	stop()
	require.Equal(t, exitOK, <-ended, log)
}
