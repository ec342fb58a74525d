// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/peer"
	"incforge/live/socket"
	"incforge/network/host"
	"incforge/roce"
)

func (r *rig) client() *live.Client { return live.NewClient(r.dir + "/control") }

// members are the lines of a groups file for a group of two ranks at ports first and first+1, whose QPNs are qpn and qpn+1.
func memberLines(first, qpn int) string {
	var b strings.Builder
	for i := range 2 {
		fmt.Fprintf(&b, "      - {port: %d, local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:0%d, ip: 10.0.0.%d, qpn: %d}}\n", first+i, first+i+2, first+i+2, qpn+i)
	}
	return b.String()
}

// pair are the two hosts of such a group, each at its own socket.
type pair struct {
	r     *rig
	first int
	hosts [2]*host.Host
	socks [2]*socket.Socket
	count int // messages done
}

// connect makes the hosts of the group that the switch has, with fresh connections.
func (r *rig) connect(t *testing.T, g *live.GroupState) *pair {
	t.Helper()
	p := &pair{r: r, first: g.Ends[0].Port}
	for i, e := range g.Ends {
		h, err := host.New(host.Config{MAC: roce.MAC{0x52, 0x54, 0, 0, 0, byte(e.Port + 2)}, PeerMAC: roce.MAC{2, 'I', 'N', 'C', 0, byte(e.Port)}, IP: e.RemoteIP,
			PeerIP: e.LocalIP, QPN: e.RemoteQPN, PeerQPN: e.LocalQPN, UDPPort: 0xC000, TTL: 64, Start: g.Start, PathMTU: 1024, Window: 2,
			Timeout: uint64(200 * time.Millisecond), RNRCode: 1, CyclesPerMicrosecond: peer.PerMicrosecond})
		require.NoError(t, err)
		s, err := socket.Listen(r.peer(e.Port))
		require.NoError(t, err)
		p.hosts[i], p.socks[i] = h, s
	}
	return p
}

func (p *pair) close() error { return errors.Join(p.socks[0].Close(), p.socks[1].Close()) }

// do has both send a message of n words, and checks what they hear: word by word join of both.
func (p *pair) do(ctx context.Context, n int, join func(a, b uint32) uint32) error {
	want := make([]byte, 4*n)
	for i := 0; i < len(want); i += 4 {
		binary.LittleEndian.PutUint32(want[i:], join(binary.LittleEndian.Uint32(values(0, n)[i:]), binary.LittleEndian.Uint32(values(1, n)[i:])))
	}
	p.count++
	var finished, all sync.WaitGroup
	finished.Add(2)
	over := make(chan struct{})
	go func() { finished.Wait(); close(over) }()
	var errs [2]error
	for i, h := range p.hosts {
		h.Post(host.Message{Payload: values(i, n)})
		once := sync.OnceFunc(finished.Done)
		all.Go(func() {
			defer once()
			errs[i] = peer.Run(ctx, p.socks[i], p.r.mine(p.first+i), h, func() bool {
				if h.Completed() == p.count && len(h.Received()) == p.count {
					once()
				}
				select {
				case <-over:
					return !h.Ready()
				default:
					return false
				}
			})
		})
	}
	all.Wait()
	for i, h := range p.hosts {
		if errs[i] == nil && !bytes.Equal(want, h.Received()[p.count-1].Payload) {
			errs[i] = fmt.Errorf("rank %d: a wrong result", i)
		}
	}
	return errors.Join(errs[:]...)
}

func sum(a, b uint32) uint32 { return a + b }

// TestControl: a group is used again and again, reset in between, changed, taken away and added, while another one works on undisturbed.
func TestControl(t *testing.T) {
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			p := synthetic.Mini()
			p.Mode, p.DTypes, p.Ops = mode, []string{contract.INT32, contract.FP32}, contract.OperationNames()
			r := runDesign(t, p, "groups:\n  - dtype: INT32\n    window: 2\n    endpoints:\n"+memberLines(0, 17)+
				"  - dtype: INT32\n    window: 2\n    endpoints:\n"+memberLines(2, 37), 4, plain)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := r.client()
			before, err := c.State(ctx)
			require.NoError(t, err)

			other := r.connect(t, &before.Switches[0].Groups[1])
			halt, busy := make(chan struct{}), make(chan error, 1)
			go func() {
				for {
					select {
					case <-halt:
						busy <- nil
						return
					default:
					}
					if err := other.do(ctx, 300, sum); err != nil {
						busy <- fmt.Errorf("the other group, message %d: %w", other.count, err)
						return
					}
				}
			}()
			use := func(g live.GroupState, join func(a, b uint32) uint32) {
				m := r.connect(t, &g)
				require.NoError(t, m.do(ctx, 700, join))
				require.NoError(t, m.close())
			}
			for range 100 {
				g, err := c.Reset(ctx, "leaf", 0)
				require.NoError(t, err)
				require.True(t, g.Enabled)
				use(g, sum)
			}
			g, err := c.Change(ctx, "leaf", 0, []byte("start: 0x800000\nop: MAX\n"))
			require.NoError(t, err)
			assert.Equal(t, "allreduce INT32 MAX", g.Kind)
			use(g, func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) })
			require.NoError(t, c.Remove(ctx, "leaf", 0))
			_, err = c.Reset(ctx, "leaf", 0)
			require.ErrorIs(t, err, live.ErrControl)
			require.ErrorContains(t, err, "there is no group 0")
			g, err = c.Add(ctx, "leaf", []byte("dtype: INT32\nwindow: 2\nendpoints:\n"+memberLines(0, 57)))
			require.NoError(t, err)
			assert.Equal(t, 0, g.Group)
			assert.Equal(t, uint32(58), g.Ends[1].RemoteQPN)
			use(g, sum)

			close(halt)
			require.NoError(t, <-busy)
			require.NoError(t, other.close())
			assert.Greater(t, other.count, 3)
			after, err := c.State(ctx)
			require.NoError(t, err)
			s := after.Switches[0]
			require.Len(t, s.Groups, 2)
			for i := range s.Groups {
				assert.Zero(t, s.Groups[i].Partial)
				assert.Nil(t, s.Groups[i].Stands)
				assert.Equal(t, 4, s.Groups[i].Units)
			}
			rep := r.end()
			require.NoError(t, r.err)
			assert.Zero(t, rep.Standstills)
			assert.Zero(t, rep.Counters["DROP_SHAPE"]+rep.Counters["DROP_FOREIGN"]+rep.Counters["IMM_MISMATCH"])
		})
	}
}

// TestKilledHost: a host dies in the middle of a collective. The others of its group get on as soon as it is back and the group was reset.
func TestKilledHost(t *testing.T) {
	for _, mode := range []int{2, 3} {
		p := synthetic.Mini()
		p.Mode = mode
		r := runDesign(t, p, "groups:\n  - window: 2\n    endpoints:\n"+memberLines(0, 17), 2, plain)
		c := r.client()
		s, err := c.State(t.Context())
		require.NoError(t, err)
		m := r.connect(t, &s.Switches[0].Groups[0])
		require.NoError(t, m.do(t.Context(), 500, sum))
		for n, h := range m.hosts { // both have sent a part when one falls silent
			h.Post(host.Message{Payload: values(n, 5000)})
			require.NoError(t, m.socks[n].Send(r.mine(n), h.Next(0)))
		}
		m.hosts[1].Kill()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		require.ErrorIs(t, peer.Run(ctx, m.socks[0], r.mine(0), m.hosts[0], func() bool { return false }), context.DeadlineExceeded)
		cancel()
		s, err = c.State(t.Context())
		require.NoError(t, err)
		assert.Positive(t, s.Switches[0].Groups[0].Partial)
		require.NoError(t, m.close())
		g, err := c.Change(t.Context(), "leaf", 0, []byte("start: 0x7FFFFF\n"))
		require.NoError(t, err)
		assert.Zero(t, g.Partial)
		m = r.connect(t, &g)
		require.NoError(t, m.do(t.Context(), 5000, sum))
		require.NoError(t, m.close())
		r.end()
		require.NoError(t, r.err)
	}
}

// TestControlRefuses: what is wrong is said, and changes nothing.
func TestControlRefuses(t *testing.T) {
	r := run(t, star, 4, plain)
	c := r.client()
	before, err := c.State(t.Context())
	require.NoError(t, err)
	for name, try := range map[string]func() error{
		"there is no switch": func() error { _, err := c.Reset(t.Context(), "spine", 0); return err },
		"groups 0 to 1":      func() error { _, err := c.Reset(t.Context(), "leaf", 2); return err },
		"group:1:8: x is not an integer\ngroup:2:1: unknown key \"wait\"": func() error {
			_, err := c.Change(t.Context(), "leaf", 0, []byte("start: x\nwait: 1"))
			return err
		},
		"group 0, endpoint 0 has the remote 10.0.0.2, qpn 0x12 already": func() error {
			_, err := c.Add(t.Context(), "leaf", []byte("endpoints: [{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 0x12}}]"))
			return err
		},
		"too large": func() error { _, err := c.Add(t.Context(), "leaf", make([]byte, 2<<20)); return err },
	} {
		require.ErrorContains(t, try(), name)
	}
	after, err := c.State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before.Switches[0].Groups, after.Switches[0].Groups)

	// What is no HTTP at all does not disturb.
	for _, text := range []string{"", "\x00\xFF", "GET\r\n\r\n", strings.Repeat("A", 100000), "POST /v1/switches/leaf/groups HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{"} {
		conn, err := net.Dial("unix", r.dir+"/control")
		require.NoError(t, err)
		_, _ = conn.Write([]byte(text)) // it may hang up before it has read all
		require.NoError(t, conn.Close())
	}
	r.allReduce(500, func(int) {})
	r.end()
	require.NoError(t, r.err)
}

// FuzzControl: whatever comes to the socket, the switch goes on, and what it answers is JSON.
func FuzzControl(f *testing.F) {
	f.Add("PATCH", "/v1/switches/leaf/groups/0", "start: 5\n")
	f.Add("POST", "/v1/switches/leaf/groups", "dtype: INT32\nendpoints: [{local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:02, ip: 10.0.0.2, qpn: 1}}]")
	f.Add("DELETE", "/v1/switches/leaf/groups/1", "")
	f.Add("POST", "/v1/switches/%2f/groups/0/reset", "{}")
	f.Fuzz(func(t *testing.T, method, path, body string) {
		h, end := live.Handled(t, star, synthetic.Manifest(synthetic.Mini()))
		defer end()
		status, answer := h(method, path, body)
		if status != 0 && status != 404 && status != 405 && status != 301 && status != 307 { // those are the library's, in plain text
			require.True(t, bytes.HasPrefix(answer, []byte("{")), "%d: %s", status, answer)
		}
		status, answer = h("GET", "/v1/state", "")
		require.Equal(t, 200, status, "%s", answer)
	})
}
