// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/groups"
	"incforge/live/socket"
	"incforge/roce"
	"incforge/verify/dut"
)

// tree is two leaves with two hosts each, at ports 0 and 1, under a spine: leaf n's port 2 leads to the spine's port n.
func tree(t *testing.T, mode int, faults live.Faults) *rig {
	t.Helper()
	p := synthetic.Mini()
	p.Mode = mode
	m := synthetic.Manifest(p)
	r := &rig{t: t, dir: t.TempDir(), done: make(chan struct{})}
	head := "groups:\n  - start: 0xFFFFFE\n    window: 2\n"
	if mode == 3 {
		head = "pipes: {timeout_us: 60000}\n" + head
	}
	leaf := func(n int) string {
		text := "arp: true\n" + head + "    parent: 2\n    endpoints:\n"
		for e := range 2 {
			host := 2*n + e
			text += fmt.Sprintf("      - {local: {ip: 10.0.0.1}, remote: {mac: 52:54:00:00:00:0%d, ip: 10.0.0.%d, qpn: %d}}\n", host+2, host+2, 17+host)
		}
		return text + fmt.Sprintf("      - {local: {ip: 10.1.%d.2, mac: 02:00:00:00:0%d:02}, remote: {mac: 02:00:00:00:0%d:01, ip: 10.1.%d.1, qpn: %#x}}\n", n, n, n, n, 0x100000+n)
	}
	spine := head + "    endpoints:\n"
	for n := range 2 {
		spine += fmt.Sprintf("      - {host: false, local: {ip: 10.1.%d.1, mac: 02:00:00:00:0%d:01}, remote: {mac: 02:00:00:00:0%d:02, ip: 10.1.%d.2, qpn: 0x100002}}\n", n, n, n, n)
	}
	o := live.Options{Log: logrus.New(), Seed: 5, Control: filepath.Join(r.dir, "control"), Capture: &r.capture}
	o.Log.SetOutput(&r.log)
	for i, text := range []string{leaf(0), leaf(1), spine} {
		d, err := dut.NewReference(m)
		require.NoError(t, err)
		s, err := groups.Parse(fmt.Sprintf("switch%d.yaml", i), []byte(text), m, nil)
		require.NoError(t, err)
		sw := live.Switch{Name: []string{"leaf0", "leaf1", "spine"}[i], Manifest: m, Engine: d, Setup: s, Bridge: true}
		for e := range 2 {
			if i < 2 {
				sw.Ports = append(sw.Ports, live.Port{Number: e, Mine: r.mine(2*i + e), Peer: r.peer(2*i + e), Faults: faults})
			}
		}
		o.Switches = append(o.Switches, sw)
	}
	o.Links = []live.Link{{A: live.End{Switch: 0, Port: 2}, B: live.End{Switch: 2, Port: 0}, Faults: faults}, {A: live.End{Switch: 1, Port: 2}, B: live.End{Switch: 2, Port: 1}, Faults: faults}}
	// The rig's hosts are those of a star whose endpoints lead to the leaves' ports.
	set, ends := o.Switches[0].Setup.Groups[0].Set, map[int]inc.Endpoint{}
	for host := range ranks {
		ends[host] = o.Switches[host/2].Setup.Groups[0].Ends[host%2]
	}
	r.setup = &groups.Setup{Groups: []groups.Group{{Set: set, Ends: ends}}}
	r.start(o)
	return r
}

// TestTree: an AllReduce of four hosts over three switches, with and without frames lost on ports and links.
func TestTree(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   int
		faults live.Faults
		words  int
	}{{"mode 2", 2, live.Faults{}, 5000}, {"mode 3", 3, live.Faults{}, 5000}, {"mode 2, faults", 2, live.Faults{Loss: 0.01, Duplicate: 0.01, Reorder: 0.01}, 4000},
		{"mode 3, faults", 3, live.Faults{Loss: 0.01, Duplicate: 0.01, Reorder: 0.01}, 4000}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := tree(t, c.mode, c.faults)
			r.window = 2
			r.allReduce(c.words, func(int) {})
			s, err := r.client().State(t.Context())
			require.NoError(t, err)
			require.Len(t, s.Switches, 3)
			r.end()
			require.NoError(t, r.err)
			hit := uint64(0)
			for i := range r.rep.Switches {
				sw := &r.rep.Switches[i]
				assert.GreaterOrEqual(t, sw.Counters["TX_RESULT"], uint64((4*c.words+1023)/1024), sw.Name)
				for _, p := range sw.Ports {
					hit += p.LostIn + p.LostOut + p.Duplicated + p.Reordered
				}
			}
			assert.Equal(t, c.faults != live.Faults{}, hit > 0)
			_, names, err := roce.ReadCapture(r.captureFile())
			require.NoError(t, err)
			assert.Equal(t, []string{"leaf0:p0", "leaf0:p1", "leaf1:p0", "leaf1:p1", "leaf0:p2", "spine:p0", "leaf1:p2", "spine:p1"}, names)
		})
	}
}

// TestBridgedFrames: what is not for the engines goes from host to host, first to all and then where the receiver is.
func TestBridgedFrames(t *testing.T) {
	r := tree(t, 2, live.Faults{})
	var socks [ranks]*socket.Socket
	for i := range socks {
		var err error
		socks[i], err = socket.Listen(r.peer(i))
		require.NoError(t, err)
	}
	hear := func(rank int) []byte {
		require.NoError(t, socks[rank].SetReceiveDeadline(time.Now().Add(10*time.Second)))
		buf := make([]byte, 2000)
		n, err := socks[rank].Receive(buf)
		require.NoError(t, err)
		return buf[:n]
	}
	frame := func(to, from int, text string) []byte {
		f := []byte{0x52, 0x54, 0, 0, 0, byte(to + 2), 0x52, 0x54, 0, 0, 0, byte(from + 2), 8, 0}
		return append(f, text...)
	}
	ask := frame(3, 0, "who?")
	require.NoError(t, socks[0].Send(r.mine(0), ask))
	for rank := 1; rank < ranks; rank++ {
		assert.Equal(t, ask, hear(rank), "to all, as nobody knows rank 3")
	}
	answer := frame(0, 3, "me")
	require.NoError(t, socks[3].Send(r.mine(3), answer))
	assert.Equal(t, answer, hear(0))
	again := frame(3, 0, "again")
	require.NoError(t, socks[0].Send(r.mine(0), again))
	assert.Equal(t, again, hear(3))
	// Rank 1 hears broadcasts and what is meant for it, and has heard nothing of the rest.
	all := append([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, frame(0, 2, "all")[6:]...)
	require.NoError(t, socks[2].Send(r.mine(2), all))
	for _, rank := range []int{0, 1, 3} {
		assert.Equal(t, all, hear(rank))
	}
	r.end()
	require.NoError(t, r.err)
	for _, sw := range r.rep.Switches {
		assert.Positive(t, sw.Bridged, sw.Name)
		assert.Zero(t, sw.Counters["RX_FRAMES"], sw.Name)
	}
	for _, s := range socks {
		require.NoError(t, s.Close())
	}
}
