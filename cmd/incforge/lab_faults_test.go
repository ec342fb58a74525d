// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live"
	"incforge/roce"
)

// held is what a lab holds that must not grow: the heap of this process, memory in kB and RDMA objects of each host, and of each group what
// it has on its switch.
type held struct {
	heap    int
	memory  []int
	objects []string
	groups  string
}

// files is the number of descriptors of this process.
func files(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func (c *cluster) held() (h held) {
	c.t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap = int(m.HeapAlloc)
	for i := range c.state.Hosts {
		out := c.do("sync; echo 3 >/proc/sys/vm/drop_caches; grep MemAvailable /proc/meminfo; rdma resource show", c.state.Hosts[i].Name)
		free := regexp.MustCompile(`MemAvailable: +(\d+) kB\n`).FindStringSubmatch(out)
		require.NotNil(c.t, free, out)
		kB, err := strconv.Atoi(free[1])
		require.NoError(c.t, err)
		h.memory = append(h.memory, kB)
		h.objects = append(h.objects, strings.Replace(out, free[0], "", 1))
	}
	s, err := c.client().State(c.t.Context())
	require.NoError(c.t, err)
	for _, g := range s.Switches[0].Groups {
		h.groups += fmt.Sprintf("group %d: slots %d+%d", g.Group, g.SlotBase, g.Units)
		for _, e := range g.Ends {
			h.groups += fmt.Sprintf(", %#x", e.LocalQPN)
		}
		h.groups += "\n"
	}
	return h
}

// TestLabAgain uses a group a hundred times, with a reset over the control socket in between: nothing leaks.
func TestLabAgain(t *testing.T) {
	c := startLab(t, leaf(labExample(t, "switch.yaml"), `  - {name: ints, hosts: [h0, h1, h2, h3], dtype: INT32}
  - {name: floats, hosts: [h0, h1], dtype: FP32}
`))
	var before held
	var open int
	for i := range 100 {
		out := c.do("allreduce ints 16384", "h0", "h1", "h2", "h3")
		require.Equal(t, 4, strings.Count(out, "right"), out)
		_, err := c.client().Reset(t.Context(), "leaf", 0)
		require.NoError(t, err)
		if i == 9 {
			before, open = c.held(), files(t)
		}
	}
	assert.Equal(t, 100, c.look().Groups[0].Joined)
	after := c.held()
	t.Logf("after 10: %+v\nafter 100: %+v", before, after)
	assert.Equal(t, before.objects, after.objects)
	assert.Equal(t, before.groups, after.groups)
	assert.Eventually(t, func() bool { return files(t) <= open }, 5*time.Second, 20*time.Millisecond, "connections may end a little later")
	assert.LessOrEqual(t, after.heap, before.heap+4<<20)
	for i := range before.memory {
		assert.GreaterOrEqual(t, after.memory[i], before.memory[i]-1024, "h%d", i)
	}
}

// named is how long a group may stand until it is said why.
const named = 3 * time.Second

// TestLabKilled kills a host in the middle of a collective: it is said within 3 s, another group goes on, and when the host is back the group
// works again.
func TestLabKilled(t *testing.T) {
	c := startLab(t, leaf(labExample(t, "switch.yaml"), `  - {name: three, hosts: [h0, h1, h2], dtype: INT32}
  - {name: pair, hosts: [h1, h3], dtype: FP32}
`))
	long := c.begin("allreduce -n 100000 three 262144", "h0", "h1", "h2")
	other := c.begin("allreduce -n 400 pair 65536", "h1", "h3")
	long.out.Await(t, `(?s)(right.*){9}`, 20*time.Second)
	other.out.Await(t, `(?s)(right.*){9}`, 20*time.Second)
	status, _, stderr := try(t, "lab", "kill", "h2")
	require.Equal(t, exitOK, status, stderr)
	dead := time.Now()
	c.log.Await(t, `(?s)group 0 .* has stood for .*10\.77\.0\.3 qpn 0x\w+\) (is waited for|has not acknowledged)`, 2*named)
	t.Logf("said %v after the kill", time.Since(dead))
	assert.LessOrEqual(t, time.Since(dead), named)
	require.True(t, <-other.done, other.out)
	assert.Equal(t, 800, strings.Count(other.out.String(), "right"))
	status, _, stderr = try(t, "lab", "start", "h2")
	require.Equal(t, exitOK, status, stderr)
	long.stop()
	require.False(t, <-long.done)
	assert.NotContains(t, long.out.String(), "must be", "no wrong element")
	again := c.do("allreduce three 1024 1048576", "h0", "h1", "h2") + c.do("allreduce pair 1048576", "h1", "h3")
	assert.Equal(t, 8, strings.Count(again, "right"), again)
	assert.NotContains(t, c.log.String(), "group 1 (allreduce FP32 SUM) has stood")
}

// TestLabStandstills: hosts that do what they must not make a group stand, and it is said why within 3 s, in Mode II by the reference and in Mode III by Verilog.
func TestLabStandstills(t *testing.T) {
	t.Run("Mode II", func(t *testing.T) {
		standstills(t, labExample(t, "switch.yaml"), `has more packets under way than the group's window of 16: .*DROP_WINDOW \+\d+`)
	})
	t.Run("Mode III", func(t *testing.T) {
		standstills(t, "mini3, dut: rtl", `is further ahead of the others than its pipe has room for, .* window of 4 \(DROP_FULL \+\d+`)
	})
}

// standstills makes groups of a design stand; window is what is said of too many packets.
func standstills(t *testing.T, config, window string) {
	t.Helper()
	c := startLab(t, leaf(config, `  - {name: fixed, hosts: [h0, h1, h2], dtype: INT32, start: 0x100}
  - {name: asks, hosts: [h1, h3], in_band: true}
`))
	for _, s := range []struct{ name, wrong, right, group, want string }{
		{"idle", "h0", "h1 h2", "fixed", `group 0 .* has stood .*10\.77\.0\.1 qpn 0x\w+\) is waited for: its next packet is PSN .* see whether its program runs`},
		{"shape", "h0", "h1 h2", "fixed", `group 0 .* has stood .*\) sends a packet of another kind or length .*DROP_SHAPE \+\d+`},
		{"window", "h0", "", "fixed", `group 0 .* has stood .*10\.77\.0\.1 qpn 0x\w+\) ` + window},
		{"start", "h0", "h1 h2", "fixed",
			`group 0 .* has stood .*10\.77\.0\.1 qpn 0x\w+\) sends PSN .*, and none of its data was ever taken: .* START .*; connect it anew`},
		{"control", "h3", "h1", "asks", `group 1 .* has stood .*10\.77\.0\.4 qpn 0x\w+\) (sends data where a control must begin the next|.* has no control where one must be)`},
	} {
		t.Run(s.name, func(t *testing.T) {
			mark := len(c.log.String())
			rest := c.begin("allreduce -n 1000 "+s.group+" 16384", strings.Fields(s.right)...)
			if s.name == "window" { // nobody else sends, or the group would go on
				rest = c.begin("wrong idle "+s.group, "h1", "h2")
			}
			bad := c.begin("wrong "+s.name+" "+s.group, s.wrong)
			bad.out.Await(t, "begins", 10*time.Second)
			start, want := time.Now(), regexp.MustCompile("(?s)"+s.want)
			require.Eventually(t, func() bool { return want.MatchString(c.log.String()[mark:]) }, 2*named, 5*time.Millisecond, "%s\nis not in\n%s", want, c.log)
			t.Logf("said after %v", time.Since(start))
			assert.LessOrEqual(t, time.Since(start), named)
			bad.stop()
			rest.stop()
			<-bad.done
			<-rest.done
			// The group works when all begin anew.
			hosts := strings.Fields(s.wrong + " " + s.right)
			if s.name == "window" {
				hosts = []string{"h0", "h1", "h2"}
			}
			out := c.do("allreduce "+s.group+" 65536", hosts...)
			assert.Equal(t, len(hosts), strings.Count(out, "right"), out)
		})
	}
}

// TestLabGarbage: in a host's place somebody sends 100,000 frames that make no sense and as many controls that are right but for what they say, and the
// control socket gets as many requests, while a group of the other hosts works and two of them speak TCP.
func TestLabGarbage(t *testing.T) {
	const count = 100_000
	c := startLab(t, leaf(labExample(t, "switch.yaml"), "  - {name: ints, hosts: [h0, h1, h2], dtype: INT32}\n  - {name: asks, hosts: [h1, h3], in_band: true}\n"))
	r := rand.New(rand.NewPCG(1, 1))
	c.do("allreduce asks 1024", "h1", "h3")
	work := c.begin("allreduce -n 40 ints 262144", "h0", "h1", "h2")
	work.out.Await(t, "right", 20*time.Second)
	c.tcp("h0", "h1", "10.77.0.2")
	before, err := c.client().State(t.Context())
	require.NoError(t, err)
	status, _, stderr := try(t, "lab", "kill", "h3")
	require.Equal(t, exitOK, status, stderr)
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: filepath.Join(filepath.Dir(c.state.Control), "leaf.3"), Net: "unixpacket"})
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, conn) }() // until it is closed
	start := time.Now()
	for range count {
		_, err := conn.Write(spoil(r, samples()))
		require.NoError(t, err)
		_, err = conn.Write(anyControl(r, &before.Switches[0].Groups[1]))
		require.NoError(t, err)
	}
	require.NoError(t, conn.Close())
	t.Logf("frames: %v", time.Since(start))
	requests(t, c.state.Control, r, count)
	require.True(t, <-work.done, "%s\n%s", work.out, c.log)
	state, err := c.client().State(t.Context())
	require.NoError(t, err)
	port := state.Switches[0].Ports[3]
	assert.GreaterOrEqual(t, port.In+port.Short+port.ARP+port.BridgeIn, uint64(2*count))
	refused := uint64(0)
	for _, counter := range []string{"DROP_BAD_CONTROL", "DROP_CONTROL", "DROP_RANGE", "DROP_GAP", "DROP_STALE", "DROP_WINDOW", "DROP_SHAPE", "TX_RESEND", "DROP_WRONG_ROLE"} {
		refused += state.Switches[0].Counters[counter] - before.Switches[0].Counters[counter]
	}
	assert.Greater(t, refused, uint64(count*9/10), "of the controls")
	t.Logf("%+v\n%v", port, state.Switches[0].Counters)
	assert.Equal(t, 1, c.look().Groups[0].Joined, "no request was taken for one that makes sense")
	status, _, stderr = try(t, "lab", "start", "h3")
	require.Equal(t, exitOK, status, stderr)
	c.do("ping -c 1 10.77.0.1", "h3")
	assert.Equal(t, 3, strings.Count(c.do("allreduce ints 1048576", "h0", "h1", "h2"), "right"))
	assert.Equal(t, 2, strings.Count(c.do("allreduce asks 65536", "h1", "h3"), "right"))
}

// tcp sends 1 MiB from a host to another, of that address, by TCP.
func (c *cluster) tcp(from, to, address string) {
	c.t.Helper()
	take := c.begin("mkfifo /tmp/open; nc -l -p 7000 0<>/tmp/open >/tmp/taken; sha256sum </tmp/taken; wc -c </tmp/taken", to)
	sent := c.do("dd if=/dev/urandom of=/tmp/given bs=65536 count=16 2>/dev/null; until nc "+address+" 7000 </tmp/given; do usleep 100000; done; sha256sum </tmp/given; wc -c </tmp/given", from)
	select {
	case ok := <-take.done:
		require.True(c.t, ok, take.out)
	case <-time.After(time.Minute):
		require.Fail(c.t, "TCP", take.out)
	}
	require.Contains(c.t, sent, "1048576")
	require.Equal(c.t, strings.ReplaceAll(sent, from+": ", ""), strings.ReplaceAll(take.out.String(), to+": ", ""))
}

// anyControl is a frame of a group's last endpoint without a fault, whose control says anything.
func anyControl(r *rand.Rand, g *live.GroupState) []byte {
	ep := g.Ends[len(g.Ends)-1]
	p := roce.Packet{DstMAC: roce.MAC{2, 0x49, 0x4E, 0x43, 1, byte(ep.Port)}, SrcMAC: roce.MAC{0x52, 0x54, 0, 0x77, 0, byte(ep.Port + 1)}, TTL: 64, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xC000,
		Op: roce.SendOnlyImm, PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: *ep.Expected, Imm: r.Uint32()}
	p.PSN = p.PSN.Add(r.IntN(32) - 16)
	return p.AppendFrame(nil)
}

// samples are frames of the group's to begin with: as a host sends them, but for the ICRC.
func samples() [][]byte {
	frame := append([]byte{2, 0x49, 0x4E, 0x43, 1, 0, 0x52, 0x54, 0, 0x77, 0, 1, 8, 0, 0x45, 0, 0, 92, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 255, 1,
		0xC0, 0, 0x12, 0xB7, 0, 72, 0, 0, 4, 0, 0xFF, 0xFF, 0, 0x10, 0, 0, 0x80, 0, 0, 0}, make([]byte, 52)...)
	arp := append([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x52, 0x54, 0, 0x77, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, make([]byte, 38)...)
	return [][]byte{frame, arp}
}

// spoil makes garbage: bytes at random, or a frame with some of them changed, cut or lengthened.
func spoil(r *rand.Rand, frames [][]byte) []byte {
	random := func(b []byte) []byte {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	if r.IntN(4) == 0 {
		b := random(make([]byte, 1+r.IntN(2000)))
		b[0] |= 1 // to many, so that no address is learnt for one of the hosts
		return b
	}
	f := bytes.Clone(frames[r.IntN(len(frames))])
	for range 1 + r.IntN(4) {
		f[12+r.IntN(len(f)-12)] ^= byte(1 + r.IntN(255)) // the addresses stay, or a host would be looked for at another port
	}
	if r.IntN(4) == 0 {
		f = f[:1+r.IntN(len(f))]
	}
	return f
}

// requests sends a control socket requests that make no sense, each of which it must refuse.
func requests(t *testing.T, path string, r *rand.Rand, count int) {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: time.Minute}
	methods := []string{"GET", "POST", "PATCH", "DELETE", "PUT"}
	paths := []string{"/", "/v1", "/v1/states", "/v1/switches/leaf/groups", "/v1/switches/leaf/groups/0", "/v1/switches/no/groups/0/reset",
		"/v1/switches/leaf/groups/77", "/v1/switches/leaf/groups/-1/reset", "/v1/switches/leaf/ports/99/down", "/v1/switches/leaf/ports/x/up"}
	bodies := []string{"group: 1\nendpoints: []\n", "{", "start: -1\n", "\x00\xff", "[1, 2]", "start: 1\nstart: 2\n", "endpoints: [{port: 99}]\n", "dtype: FP9\n",
		strings.Repeat("[", 5000), "a: &a [*a]\n", "colour: red\n"}
	start := time.Now()
	sent := 0
	for sent < count {
		method, at := methods[r.IntN(len(methods))], paths[r.IntN(len(paths))]
		if at == "/v1/switches/leaf/groups/0" && method == "DELETE" {
			continue // which makes sense
		}
		req, err := http.NewRequest(method, "http://live"+at, strings.NewReader(bodies[r.IntN(len(bodies))]))
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err, "request %d", sent)
		require.GreaterOrEqual(t, resp.StatusCode, 400, "%s %s", method, at)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		sent++
	}
	client.CloseIdleConnections()
	t.Logf("%d requests: %v", sent, time.Since(start))
	// What is not even HTTP.
	for range 1000 {
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		b := make([]byte, 200)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		_, err = conn.Write(b)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	_, err := live.NewClient(path).State(t.Context())
	require.NoError(t, err)
}
