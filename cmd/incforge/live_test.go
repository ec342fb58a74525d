// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
	"incforge/network/host"
	"incforge/roce"
)

// TestLiveRTL: three ranks at sockets do an AllReduce of INT32 through the Verilog of mini, with ARP first.
func TestLiveRTL(t *testing.T) {
	const ranks, words, start = 3, 700, 0xFFFFFE
	dir := t.TempDir()
	groups := "arp: true\ngroups:\n  - start: 0xFFFFFE\n    dtype: INT32\n    endpoints:\n"
	args := []string{"live", "mini", "--groups", filepath.Join(dir, "g.yaml"), "--json", filepath.Join(dir, "live.json")}
	for r := range ranks {
		groups += fmt.Sprintf("      - {local: {ip: 10.0.%d.1}, remote: {mac: 52:54:00:00:00:%02x, ip: 10.0.%d.2, qpn: %d}}\n", r, r, r, 17+r)
		args = append(args, "--port", fmt.Sprintf("%d=unix:%s/sw%d,%s/vm%d", r, dir, r, dir, r))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "g.yaml"), []byte(groups), 0o600))

	socks := make([]*live.Socket, ranks)
	for r := range socks {
		var err error
		socks[r], err = live.Listen(fmt.Sprintf("%s/vm%d", dir, r))
		require.NoError(t, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // a model may have to be built
	defer stop()
	ready := make(chan struct{})
	var stdout bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, args, &stdout, &watch{"live: ready", sync.OnceFunc(func() { close(ready) })})
	}()
	select {
	case <-ready:
	case s := <-status:
		t.Fatalf("exit status %d", s)
	}

	// Rank 0 asks who has 10.0.0.1, and is told the MAC that its frames must have.
	ask := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x52, 0x54, 0, 0, 0, 0, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
		0x52, 0x54, 0, 0, 0, 0, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1}
	require.NoError(t, socks[0].Send(dir+"/sw0", ask))
	buf := make([]byte, live.MaxFrame)
	require.NoError(t, socks[0].SetReceiveDeadline(time.Now().Add(time.Minute)))
	_, err := socks[0].Receive(buf)
	require.NoError(t, err)
	mac := roce.MAC(buf[6:12])
	assert.Equal(t, roce.MAC{2, 'I', 'N', 'C', 0, 0}, mac)

	want := make([]byte, 4*words)
	hosts := make([]*host.Host, ranks)
	for r := range hosts {
		data := make([]byte, 4*words)
		for i := range words {
			v := uint32(i*i+r) << (8 * r)
			binary.LittleEndian.PutUint32(data[4*i:], v)
			binary.LittleEndian.PutUint32(want[4*i:], binary.LittleEndian.Uint32(want[4*i:])+v)
		}
		mac[5] = byte(r)
		hosts[r], err = host.New(host.Config{MAC: roce.MAC{0x52, 0x54, 0, 0, 0, byte(r)}, PeerMAC: mac, IP: roce.IP4{10, 0, byte(r), 2},
			PeerIP: roce.IP4{10, 0, byte(r), 1}, QPN: uint32(17 + r), PeerQPN: uint32(0x100000 + r), UDPPort: 0xC000, TTL: 64, Start: start,
			PathMTU: 1024, Window: 4, Timeout: uint64(time.Second), RNRCode: 1, CyclesPerMicrosecond: peer.PerMicrosecond})
		require.NoError(t, err)
		hosts[r].Post(host.Message{Payload: data})
	}
	var all, finished sync.WaitGroup
	finished.Add(ranks)
	over := make(chan struct{})
	go func() { finished.Wait(); close(over) }()
	errs := make([]error, ranks)
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
	for r, h := range hosts {
		require.NoError(t, errs[r])
		assert.True(t, bytes.Equal(want, h.Received()[0].Payload), "rank %d", r)
		require.NoError(t, socks[r].Close())
	}
	stop()
	require.Equal(t, exitOK, <-status)
	text, err := os.ReadFile(filepath.Join(dir, "live.json"))
	require.NoError(t, err)
	var rep live.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	assert.Equal(t, uint64(3), rep.Counters["TX_RESULT"], "packets of 1,024, 1,024 and 752 bytes")
	assert.Equal(t, uint64(1), rep.Ports[0].ARP)
	assert.Contains(t, stdout.String(), "TX_FANOUT")
	left, err := filepath.Glob(dir + "/sw*")
	require.NoError(t, err)
	assert.Empty(t, left)
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
