// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live"
	"incforge/live/peer"
	"incforge/live/socket"
	"incforge/network/host"
	"incforge/roce"
)

// TestLiveRTL: three ranks at sockets do an AllReduce of INT32 through the Verilog, with ARP first; in Mode III, whose timers go by the hosts'
// time, with frames lost and without the reference beside it, too.
func TestLiveRTL(t *testing.T) {
	for _, c := range []struct {
		config string
		flags  []string
		words  int
	}{{"mini", nil, 700}, {"mini", []string{"--check=false"}, 5000}, {"mini3", nil, 700}, {"mini3", []string{"--loss", "0.02", "--dup", "0.02", "--reorder", "0.02"}, 10000},
		{"mini3", []string{"--check=false", "--loss", "0.02"}, 10000}} {
		t.Run(c.config+strings.Join(c.flags, " "), func(t *testing.T) { liveRTL(t, c.config, c.words, c.flags) })
	}
}

func liveRTL(t *testing.T, config string, words int, flags []string) {
	const ranks, start = 3, 0xFFFFFE
	lossless := !strings.Contains(strings.Join(flags, " "), "loss")
	dir := t.TempDir()
	groups := "arp: true\ngroups:\n  - start: 0xFFFFFE\n    dtype: INT32\n    endpoints:\n"
	args := []string{"live", config, "--groups", filepath.Join(dir, "g.yaml"), "--json", filepath.Join(dir, "live.json")}
	for r := range ranks {
		groups += fmt.Sprintf("      - {local: {ip: 10.0.%d.1}, remote: {mac: 52:54:00:00:00:%02x, ip: 10.0.%d.2, qpn: %d}}\n", r, r, r, 17+r)
		args = append(args, "--port", fmt.Sprintf("%d=unix:%s/sw%d,%s/vm%d", r, dir, r, dir, r))
	}
	args = append(args, flags...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "g.yaml"), []byte(groups), 0o600))

	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // a model may have to be built
	defer stop()
	socks := sockets(t, dir, ranks)
	var stdout bytes.Buffer
	status := begin(ctx, t, args, &stdout)

	// Rank 0 asks who has 10.0.0.1, and is told the MAC that its frames must have.
	ask := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x52, 0x54, 0, 0, 0, 0, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
		0x52, 0x54, 0, 0, 0, 0, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1}
	mac, buf := roce.MAC{2, 'I', 'N', 'C', 0, 0}, make([]byte, live.MaxFrame)
	var err error
	if lossless {
		require.NoError(t, socks[0].Send(dir+"/sw0", ask))
		require.NoError(t, socks[0].SetReceiveDeadline(time.Now().Add(time.Minute)))
		_, err = socks[0].Receive(buf)
		require.NoError(t, err)
		assert.Equal(t, mac, roce.MAC(buf[6:12]))
	}

	exchange(ctx, t, dir, socks, words, func(r int) host.Config {
		mac[5] = byte(r)
		return host.Config{PeerMAC: mac, PeerQPN: uint32(0x100000 + r), Start: start}
	})
	stop()
	require.Equal(t, exitOK, <-status)
	text, err := os.ReadFile(filepath.Join(dir, "live.json"))
	require.NoError(t, err)
	var rep live.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	assert.Equal(t, uint64((4*words+1023)/1024), rep.Switches[0].Counters["TX_RESULT"], "a packet of 1,024 bytes each, and one of the rest")
	if lossless {
		assert.Equal(t, uint64(1), rep.Switches[0].Ports[0].ARP)
		assert.Zero(t, rep.Switches[0].Counters["TIMEOUT"])
	}
	assert.Equal(t, !strings.Contains(strings.Join(flags, " "), "check"), rep.Switches[0].Checked)
	assert.Contains(t, stdout.String(), "TX_FANOUT")
	left, err := filepath.Glob(dir + "/sw*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestLiveMessages: in Mode I three ranks with path MTUs and first PSNs of their own do an AllReduce of one message, with frames lost. The Verilog is
// run by hand: --dut rtl.
func TestLiveMessages(t *testing.T) {
	const ranks, words = 3, 512
	dir := t.TempDir()
	text := "arp: true\npipes: {ack_every: 3}\ngroups:\n  - start: 7\n    dtype: INT32\n    endpoints:\n"
	args := []string{"live", "mini1", "--dut", "reference", "--loss", "0.02", "--groups", filepath.Join(dir, "g.yaml"), "--json", filepath.Join(dir, "live.json")}
	for r := range ranks {
		text += fmt.Sprintf("      - {rq_psn: %d, sq_psn: %d, path_mtu: %d, local: {ip: 10.0.%d.1}, remote: {mac: 52:54:00:00:00:%02x, ip: 10.0.%d.2, qpn: %d}}\n",
			(0xFFFFFE+r)&roce.PSNMask, 100*r, 256<<r, r, r, r, 17+r)
		args = append(args, "--port", fmt.Sprintf("%d=unix:%s/sw%d,%s/vm%d", r, dir, r, dir, r))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "g.yaml"), []byte(text), 0o600))
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	socks := sockets(t, dir, ranks)
	var stdout bytes.Buffer
	status := begin(ctx, t, args, &stdout)
	exchange(ctx, t, dir, socks, words, func(r int) host.Config {
		expect := roce.PSN(100 * r)
		return host.Config{PeerMAC: roce.MAC{2, 'I', 'N', 'C', 0, byte(r)}, PeerQPN: uint32(0x100000 + r), Start: roce.PSN((0xFFFFFE + r) & roce.PSNMask), Expect: &expect,
			Strict: true, PathMTU: 256 << r}
	})
	stop()
	require.Equal(t, exitOK, <-status)
	report, err := os.ReadFile(filepath.Join(dir, "live.json"))
	require.NoError(t, err)
	var rep live.Report
	require.NoError(t, json.Unmarshal(report, &rep))
	counters := rep.Switches[0].Counters
	assert.Equal(t, []uint64{1, 8 + 4 + 2, 0}, []uint64{counters["TX_RESULT"], counters["AGG"], counters["TX_INVALID"]})
	assert.True(t, rep.Switches[0].Checked)
}

// sockets are those of the ranks, vm0 and on.
func sockets(t *testing.T, dir string, ranks int) []*socket.Socket {
	socks := make([]*socket.Socket, ranks)
	for r := range socks {
		var err error
		socks[r], err = socket.Listen(fmt.Sprintf("%s/vm%d", dir, r))
		require.NoError(t, err)
	}
	return socks
}

// begin starts a command line of incforge live and returns when it is ready. Its exit status comes when it ends.
func begin(ctx context.Context, t *testing.T, args []string, stdout io.Writer) <-chan int {
	ready, status := make(chan struct{}), make(chan int, 1)
	go func() {
		status <- run(ctx, args, stdout, &watch{"live: ready", sync.OnceFunc(func() { close(ready) })})
	}()
	select {
	case <-ready:
	case s := <-status:
		t.Fatalf("exit status %d", s)
	}
	return status
}

// exchange has rank r, at 10.0.r.2 with QPN 17 + r, send so many words to socket sw<r>, and checks the sums that come. to says where it is
// connected. The sockets are closed at the end.
func exchange(ctx context.Context, t *testing.T, dir string, socks []*socket.Socket, words int, to func(rank int) host.Config) {
	want := make([]byte, 4*words)
	hosts := make([]*host.Host, len(socks))
	for r := range hosts {
		data := make([]byte, 4*words)
		for i := range words {
			v := uint32(i*i+r) << (8 * r)
			binary.LittleEndian.PutUint32(data[4*i:], v)
			binary.LittleEndian.PutUint32(want[4*i:], binary.LittleEndian.Uint32(want[4*i:])+v)
		}
		c := to(r)
		c.MAC, c.IP, c.PeerIP, c.QPN = roce.MAC{0x52, 0x54, 0, 0, 0, byte(r)}, roce.IP4{10, 0, byte(r), 2}, roce.IP4{10, 0, byte(r), 1}, uint32(17+r)
		c.UDPPort, c.TTL, c.PathMTU, c.Window, c.Timeout = 0xC000, 64, cmp.Or(c.PathMTU, 1024), 4, uint64(500*time.Millisecond)
		c.RNRCode, c.CyclesPerMicrosecond = 1, peer.PerMicrosecond
		var err error
		hosts[r], err = host.New(c)
		require.NoError(t, err)
		hosts[r].Post(host.Message{Payload: data})
	}
	begun := time.Now()
	var all, finished sync.WaitGroup
	finished.Add(len(hosts))
	over := make(chan struct{})
	go func() { finished.Wait(); close(over) }()
	errs := make([]error, len(hosts))
	for r, h := range hosts {
		once := sync.OnceFunc(finished.Done)
		all.Go(func() {
			defer once()
			errs[r] = peer.Run(ctx, socks[r], fmt.Sprintf("%s/sw%d", dir, r), h, func() bool {
				if h.Completed() == 1 && len(h.Received()) == 1 {
					once()
				}
				select {
				case <-over: // until then somebody may want an ACK
					return true
				default:
					return false
				}
			})
		})
	}
	all.Wait()
	t.Logf("%d bytes in %v", 4*words, time.Since(begun))
	for r, h := range hosts {
		require.NoError(t, errs[r])
		assert.True(t, bytes.Equal(want, h.Received()[0].Payload), "rank %d", r)
		require.NoError(t, socks[r].Close())
	}
}

// TestLiveTree: four ranks on two leaves of Verilog under a spine of the reference, in both modes, with frames lost on the links.
func TestLiveTree(t *testing.T) {
	for _, config := range []string{"mini", "mini3"} {
		t.Run(config, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			top, spine := "switches:\n", "groups:\n  - endpoints:\n"
			for leaf := range 2 {
				text := "groups:\n  - parent: 2\n    endpoints:\n"
				top += fmt.Sprintf("  - {name: leaf%d, config: %s, groups: leaf%d.yaml, ports: [{mine: sw%d, peer: vm%d}, {mine: sw%d, peer: vm%d}]}\n", leaf, config, leaf,
					2*leaf, 2*leaf, 2*leaf+1, 2*leaf+1)
				for r := 2 * leaf; r < 2*leaf+2; r++ {
					text += fmt.Sprintf("      - {local: {ip: 10.0.%d.1}, remote: {mac: 52:54:00:00:00:%02x, ip: 10.0.%d.2, qpn: %d}}\n", r, r, r, 17+r)
				}
				write(fmt.Sprintf("leaf%d.yaml", leaf), text+fmt.Sprintf("      - {local: {ip: 10.1.%d.2}, remote: {mac: 02:00:00:00:00:0%d, ip: 10.1.%d.1, qpn: %#x}}\n",
					leaf, leaf, leaf, 0x100000+leaf))
				spine += fmt.Sprintf("      - {host: false, local: {ip: 10.1.%d.1, mac: 02:00:00:00:00:0%d}, remote: {mac: 02:49:4e:43:00:02, ip: 10.1.%d.2, qpn: 0x100002}}\n", leaf, leaf, leaf)
			}
			write("spine.yaml", spine)
			write("net.yaml", top+fmt.Sprintf("  - {name: spine, config: %s, dut: reference, groups: spine.yaml}\n", config)+
				"links:\n  - {a: leaf0:2, b: spine:0, loss: 0.03}\n  - {a: leaf1:2, b: spine:1, loss: 0.03}\n")
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
			defer stop()
			socks := sockets(t, dir, 4)
			file := filepath.Join(dir, "live.json")
			status := begin(ctx, t, []string{"live", "--topology", filepath.Join(dir, "net.yaml"), "--json", file}, io.Discard)
			exchange(ctx, t, dir, socks, 10000, func(r int) host.Config {
				return host.Config{PeerMAC: roce.MAC{2, 'I', 'N', 'C', 0, byte(r % 2)}, PeerQPN: uint32(0x100000 + r%2)}
			})
			stop()
			require.Equal(t, exitOK, <-status)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var rep live.Report
			require.NoError(t, json.Unmarshal(text, &rep))
			lost := uint64(0)
			for _, sw := range rep.Switches {
				assert.Equal(t, uint64(40), sw.Counters["TX_RESULT"], sw.Name)
				for _, p := range sw.Ports {
					lost += p.LostOut
				}
			}
			assert.Positive(t, lost)
		})
	}
}

// TestLiveControl: ctl looks into a running switch and changes it, and says what is refused.
func TestLiveControl(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "g.yaml")
	require.NoError(t, os.WriteFile(file, []byte("groups:\n  - endpoints:\n"+
		"      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 0x12}}\n"), 0o600))
	more := filepath.Join(dir, "more.yaml")
	require.NoError(t, os.WriteFile(more, []byte("window: 1\nendpoints: [{port: 0, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 0x13}}]\n"), 0o600))
	sock := filepath.Join(dir, "ctl")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	status := begin(ctx, t, []string{"live", "mini", "--dut", "reference", "--groups", file, "--port", "0=unix:" + dir + "/sw0," + dir + "/vm0", "--control", sock}, io.Discard)
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{"state SOCKET", exitOK, []string{"mini: mini, Mode 2, beside the reference", "allreduce INT32 SUM", "10.0.0.2", "0x000000"}},
		{"add SOCKET " + more, exitOK, []string{"    1  enabled"}},
		{"add SOCKET " + more, exitFailed, []string{"refused: groups file: group"}},
		{"set SOCKET 0 collective=barrier start=0x123", exitOK, []string{"barrier", "0x000123"}},
		{"set SOCKET 0 collective=barier", exitFailed, []string{`group:1:13: collective is "barier"`}},
		{"set SOCKET 0 collective", exitUsage, []string{"must be KEY=VALUE"}},
		{"reset SOCKET 1", exitOK, []string{"    1  enabled"}},
		{"remove SOCKET 1", exitOK, []string{"group 1 is taken away"}},
		{"reset SOCKET 1", exitFailed, []string{"there is no group 1"}},
		{"counters SOCKET", exitOK, []string{"counter"}},
		{"state SOCKET --json", exitOK, []string{`"kind": "barrier"`, `"start": `}},
		{"state SOCKET --switch spine", exitUsage, []string{`there is no switch "spine"`}},
		{"reset SOCKET 0 --switch spine", exitFailed, []string{`there is no switch "spine"`}},
	} {
		var out bytes.Buffer
		args := append([]string{"live", "ctl"}, strings.Fields(strings.ReplaceAll(c.args, "SOCKET", sock))...)
		assert.Equal(t, c.status, run(t.Context(), args, &out, &out), c.args)
		for _, w := range c.want {
			assert.Contains(t, out.String(), w, c.args)
		}
	}
	stop()
	require.Equal(t, exitOK, <-status)
	assert.NoFileExists(t, sock)
}

// watch calls seen when a write holds the text, and keeps nothing.
type watch struct {
	text string
	seen func()
}

func (w *watch) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.seen()
	}
	return io.Discard.Write(b)
}
