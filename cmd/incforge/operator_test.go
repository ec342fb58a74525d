// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"incforge/control/managerpb"
	"incforge/control/member"
	"incforge/control/rpc"
)

// page is the operator's page of docs/control.md, tried out on this machine with small engines in the agents' processes.
type page struct {
	t    *testing.T
	dir  string
	text string
	here *strings.Replacer
}

// block is the block of the page that contains some words, with what is another machine's replaced.
func (p *page) block(words string) string {
	p.t.Helper()
	for _, b := range regexp.MustCompile("(?s)```(?:console|yaml)\n(.*?)```").FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(b[1], words) {
			return p.here.Replace(b[1])
		}
	}
	p.t.Fatalf("no block has %q", words)
	return ""
}

// command is the command of a block that begins so, as arguments.
func (p *page) command(begin string) []string {
	p.t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(p.block(begin), "\\\n", " ")) {
		if strings.HasPrefix(line, begin) {
			return strings.Fields(line)[1:]
		}
	}
	p.t.Fatalf("no command begins with %q", begin)
	return nil
}

// files are somebody's certificate.
func (p *page) files(name string) rpc.Files {
	return rpc.Files{CA: filepath.Join(p.dir, "ca.pem"), Cert: filepath.Join(p.dir, name+".pem"), Key: filepath.Join(p.dir, name+".key")}
}

// group has h0 and h1 make a group as the tenant.
func (p *page) group(ctx context.Context, m managerpb.ManagerClient) (groups [2]*member.Group, errs [2]error) {
	var all sync.WaitGroup
	for rank := range uint32(2) {
		all.Go(func() {
			r := &managerpb.JoinRequest{Name: "ring", Members: []string{"h0", "h1"}, Rank: rank, Options: &managerpb.Options{Mbps: 1000, LeastMbps: 1, Dtype: 3}}
			groups[rank], errs[rank] = member.Init(ctx, m, r, func(*managerpb.JoinResponse) (*managerpb.QueuePair, error) {
				return &managerpb.QueuePair{Qpn: 17 + rank, Ip: 1, Mac: 1}, nil
			})
		})
	}
	all.Wait()
	return groups, errs
}

// The operator's page, line by line: certificates by its commands, two agents, its topology file, a manager, its status; a tenant's group, a switch that fails and
// comes back. Whoever has no certificate of the authority, or one of another role, is refused.
func TestOperatorsPage(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl, with which the page makes certificates, is not installed")
	}
	text, err := os.ReadFile("../../docs/control.md")
	require.NoError(t, err)
	engine, dir := generated(t), t.TempDir()
	var pairs []string
	for _, file := range []string{"ca", "leaf0", "m0", "ann"} {
		for _, kind := range []string{".pem ", ".key ", ".pem\n", ".key\n"} {
			pairs = append(pairs, " "+file+kind, " "+filepath.Join(dir, file)+kind)
		}
	}
	p := &page{t: t, dir: dir, text: string(text), here: strings.NewReplacer(append(pairs, "192.0.2.10:7471", "127.0.0.1:0", "192.0.2.10", "127.0.0.1",
		"192.0.2.1:7470", "127.0.0.1:0", "192.0.2.1", "127.0.0.1", "127.0.0.1:7480", "127.0.0.1:0", "/var/lib/incforge", dir, "build/fpga100g", engine,
		"--registers /dev/uio0", "--simulate", "4=spine0", "2=spine0", "leaf0:4", "leaf0:2", "incforge manager topology.yaml", "incforge manager "+filepath.Join(dir, "t.yaml"))...)}
	certificates := strings.ReplaceAll(p.block("openssl req"), dir+"/", "")
	shell := exec.Command("bash", "-euc", certificates+"issue agent spine0 127.0.0.1\n"+
		"mkdir acme; mv trainer.* acme; issue rival trainer 127.0.0.1; for f in trainer.*; do mv $f rival.${f#*.}; done; mv acme/* .\n")
	shell.Dir = dir
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))

	leaf := p.command("incforge agent")
	agent, failed := started(t, leaf...)
	at := found(t, agent, `ready at (\S+)`)
	spine := background(t, "agent", engine, "--name", "spine0", "--simulate", "--ip", "10.1.0.2", "--mac", "02:49:4e:00:01:00", "--listen", "127.0.0.1:0", "--store",
		filepath.Join(dir, "spine0.db"), "--ca", p.files("spine0").CA, "--cert", p.files("spine0").Cert, "--key", p.files("spine0").Key)
	topology := strings.NewReplacer("127.0.0.1:0", at, "192.0.2.20:7471", found(t, spine, `ready at (\S+)`)).Replace(p.block("hop_rtt_ns"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(topology), 0o600))
	manager := background(t, append(p.command("incforge manager"), "--patience", "2s")...)
	address := found(t, manager, `manager: ready at (\S+)`)
	found(t, manager, `(switch leaf0: up)`)
	found(t, manager, `(switch spine0: up)`)
	show := func() string {
		var stdout, stderr bytes.Buffer
		args := p.command("incforge status")
		require.Equal(t, "127.0.0.1:0", args[2])
		args[2] = address
		require.Equal(t, exitOK, run(t.Context(), args, &stdout, &stderr), stderr.String())
		return stdout.String()
	}
	dial := func(name string) managerpb.ManagerClient {
		conn, err := rpc.Dial(address, rpc.Manager, p.files(name))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close()) })
		return managerpb.NewManagerClient(conn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	groups, errs := p.group(ctx, dial("trainer"))
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.Regexp(t, `acme/trainer/ring/\S+ .* ready .* h0 h1 .* leaf0`, show())
	p.refused(ctx, t, dial, groups[0].Offer.Group, at)
	var stdout bytes.Buffer
	require.Equal(t, exitOK, run(ctx, []string{"status", "--agent", at, "--ca", p.files("ann").CA, "--cert", p.files("ann").Cert, "--key", p.files("ann").Key}, &stdout, io.Discard))
	require.Regexp(t, `(?s)leaf0: engine .* 2 +spine0 .*acme/trainer/ring/\S+ .*installed`, stdout.String())

	failed()
	began := time.Now()
	for _, g := range groups {
		<-g.Ended()
		require.Contains(t, g.Reason(), "switch leaf0 is down")
	}
	require.Less(t, time.Since(began), 5*time.Second)
	require.Regexp(t, `acme/trainer/ring/\S+ .* removing`, show())
	_, errs = p.group(ctx, dial("trainer"))
	require.ErrorContains(t, errs[0], "leaf0 is down")
	leaf[indexOf(t, leaf, "--listen")+1] = at
	found(t, background(t, leaf...), `(ready at)`)
	require.Eventually(t, func() bool {
		groups, errs = p.group(ctx, dial("trainer"))
		return errs[0] == nil && errs[1] == nil
	}, 20*time.Second, 100*time.Millisecond, "nothing is to be done by hand")
	require.NotContains(t, show(), "removing")
	require.NoError(t, groups[0].Destroy(ctx))
}

func indexOf(t *testing.T, all []string, word string) int {
	t.Helper()
	for i := range all {
		if all[i] == word {
			return i
		}
	}
	t.Fatalf("%v has no %s", all, word)
	return -1
}

// refused: another tenant, whose common name is the same, neither sees nor ends the group; a manager listens to tenants and operators alone, an agent to no tenant;
// without certificates nobody is listened to.
func (p *page) refused(ctx context.Context, t *testing.T, dial func(string) managerpb.ManagerClient, group, agent string) {
	rival := dial("rival")
	s, err := rival.Status(ctx, &managerpb.StatusRequest{})
	require.NoError(t, err)
	require.Empty(t, s.Groups)
	_, err = rival.Destroy(ctx, &managerpb.DestroyRequest{Group: group})
	require.Equal(t, codes.NotFound, grpcstatus.Code(err))
	for _, other := range []string{"leaf0", "m0"} {
		_, err = dial(other).Status(ctx, &managerpb.StatusRequest{})
		require.Equal(t, codes.PermissionDenied, grpcstatus.Code(err))
		require.ErrorContains(t, err, other+" may not ask this")
	}
	var stderr bytes.Buffer
	require.NotEqual(t, exitOK, run(ctx, []string{"status", "--agent", agent, "--ca", p.files("rival").CA, "--cert", p.files("rival").Cert, "--key", p.files("rival").Key}, io.Discard, &stderr))
	require.Contains(t, stderr.String(), "tenant rival/trainer may not ask this")
	require.NotEqual(t, exitOK, run(ctx, []string{"status", "--agent", agent}, io.Discard, io.Discard))
}
