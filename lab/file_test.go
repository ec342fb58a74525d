// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/wire"
	"incforge/roce"
)

// five has five ports and a type more than one.
func five() contract.Params {
	p := synthetic.Full()
	p.Ports = 5
	return p
}

func load(config, dut string) (*contract.Manifest, error) {
	if filepath.Base(config) != "five" {
		return nil, errors.New("no such design: " + filepath.Base(config) + " of " + dut)
	}
	return synthetic.Manifest(five()), nil
}

// read reads a topology file with that text.
func read(t *testing.T, text string) (*Topology, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	top, err := Read(file, load)
	if err != nil {
		require.ErrorIs(t, err, ErrFile)
		err = errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), ErrFile.Error()+": "), file, "two.yaml"))
	}
	return top, err
}

// tree is two leaves with two hosts each, and a spine.
const tree = `
time_scale: 0.5
switches:
  - {name: l0, config: five}
  - {name: l1, config: five, dut: rtl}
  - {name: spine, config: five, check: true, ip: 10.1.0.1}
hosts:
  - {name: h0}
  - {name: h1, ip: 10.77.3.4, mac: "52:54:00:00:00:09", memory_mb: 128}
  - {name: h2}
  - {name: h3}
links:
  - {a: h0, b: l0}
  - {a: l0:3, b: h1, rate_mbit: 100, delay_us: 20, loss: 0.1}
  - {a: h2, b: l1}
  - {a: h3, b: l1}
  - {a: l0, b: spine, capture: up.pcapng}
  - {a: l1, b: spine}
groups:
  - {name: sum, hosts: [h3, h0, h1, h2], dtype: INT32}
  - {name: pair, hosts: [h1, h0], dtype: FP16, op: MAX, window: 2, start: 7}
`

func TestRead(t *testing.T) {
	top, err := read(t, tree)
	require.NoError(t, err)
	assert.Equal(t, "two", top.Name)
	assert.Equal(t, 0.5, top.TimeScale)
	assert.True(t, top.Bridge)
	assert.Equal(t, []bool{false, true, true}, []bool{top.Switches[0].Check, top.Switches[1].Check, top.Switches[2].Check})
	assert.Equal(t, roce.IP4{10, 77, 255, 2}, top.Switches[1].IP)
	assert.Equal(t, Host{"h1", roce.IP4{10, 77, 3, 4}, roce.MAC{0x52, 0x54, 0, 0, 0, 9}, 128}, top.Hosts[1])
	assert.Equal(t, Host{"h2", roce.IP4{10, 77, 0, 3}, roce.MAC{0x52, 0x54, 0, 0x77, 0, 3}, defaultMemory}, top.Hosts[2])
	assert.Equal(t, Link{Name: "l0-h1", A: End{-1, 0, 3}, B: End{1, -1, 0}, Faults: live.Faults{Loss: 0.1}, Shape: wire.Shape{RateMbit: 100, DelayUS: 20}},
		top.Links[1])
	assert.Equal(t, "up.pcapng", filepath.Base(top.Links[4].Capture))
	assert.True(t, filepath.IsAbs(top.Links[4].Capture))
	// Ports that the file leaves open are the first that are free.
	assert.Equal(t, [][]port{{{0, 0}, {1, 4}, {3, 1}}, {{0, 2}, {1, 3}, {2, 5}}, {{0, 4}, {1, 5}}}, top.ports)
}

func TestTrees(t *testing.T) {
	top, err := read(t, tree)
	require.NoError(t, err)
	sum := &top.Groups[0]
	// The root is the spine, from which no host is farther than a leaf. Parents come last.
	assert.Empty(t, cmp.Diff([]Node{
		{Switch: 0, Parent: 2, Edges: []Edge{{0, 0, -1, 0}, {3, 1, -1, 0}, {1, -1, 2, 0}}},
		{Switch: 1, Parent: 2, Edges: []Edge{{0, 2, -1, 0}, {1, 3, -1, 0}, {2, -1, 2, 1}}},
		{Switch: 2, Parent: -1, Edges: []Edge{{0, -1, 0, 2}, {1, -1, 1, 2}}},
	}, sum.Nodes))
	assert.Equal(t, 4, sum.Window)
	assert.Equal(t, 1024, sum.MTU)
	pair := &top.Groups[1]
	assert.Empty(t, cmp.Diff([]Node{{Switch: 0, Group: 1, Parent: -1, Edges: []Edge{{0, 0, -1, 0}, {3, 1, -1, 0}}}}, pair.Nodes))
	assert.Equal(t, 2, pair.Window)

	// Both ends of a link between switches know each other.
	for i := range sum.Nodes {
		n := &sum.Nodes[i]
		set := top.Switches[n.Switch].Setup.Groups[0]
		for e, edge := range n.Edges {
			here := set.Ends[e]
			assert.Equal(t, edge.Host >= 0, here.Host)
			if edge.Host >= 0 {
				assert.Equal(t, top.Hosts[edge.Host].IP, here.RemoteIP)
				continue
			}
			far := top.Switches[sum.Nodes[edge.Node].Switch].Setup.Groups[0].Ends[edge.Endpoint]
			assert.Equal(t, []any{here.LocalMAC, here.LocalIP, here.LocalQPN}, []any{far.RemoteMAC, far.RemoteIP, far.RemoteQPN})
		}
	}
	// Until programs join, a group has numbers that no queue pair has.
	two := top.Switches[0].Setup.Groups[1]
	assert.Equal(t, []uint32{0xFF0001, 0xFF0001}, []uint32{two.Ends[0].RemoteQPN, two.Ends[1].RemoteQPN})
	assert.Equal(t, roce.PSN(7), two.Set.Start)
	n, e := top.edgeOf(sum, 3)
	assert.Equal(t, []int{1, 1}, []int{n.Switch, e})
}

func TestRoots(t *testing.T) {
	text := strings.Split(tree, "groups:")[0]
	top, err := read(t, text+`groups:
  - {name: down, hosts: [h0, h2, h3], collective: broadcast, root: h2, dtype: INT32}
  - {name: any, hosts: [h0, h2, h3], in_band: true, root: l1}
`)
	require.NoError(t, err)
	down := &top.Groups[0]
	assert.Equal(t, []int{1, 2, 1}, []int{down.Nodes[0].Parent, down.Nodes[1].Parent, down.Nodes[2].Parent})
	assert.Equal(t, 2, down.Nodes[1].Edges[2].Host, "the root's switch has the root for a parent")
	in := &top.Groups[1]
	assert.Equal(t, []int{1, -1, 1}, []int{in.Nodes[0].Parent, in.Nodes[1].Parent, in.Nodes[2].Parent})
	route := top.Switches[2].Setup.Groups[1].Set.Route
	assert.Equal(t, []uint8{0, 1, 1}, []uint8{route[0].Endpoint, route[1].Endpoint, route[2].Endpoint})
}

// What a manager and its agents are told of a network.
func TestManaged(t *testing.T) {
	top, err := read(t, `
switches: [{name: s, config: five, shared: 24}, {name: t, config: five, ip: 10.77.255.9}]
hosts: [{name: h0}, {name: h1}]
links: [{a: h0, b: s:3}, {a: h1, b: t}, {a: s, b: t:2, rate_mbit: 40}]
manager: {hop_rtt_us: 250, page: "127.0.0.1:7480"}
`)
	require.NoError(t, err)
	assert.Equal(t, &Manager{HopRTT: 250 * time.Microsecond, Mbps: 1000, Page: "127.0.0.1:7480"}, top.Manager)
	assert.Equal(t, []int{24, 0}, []int{top.Switches[0].Shared, top.Switches[1].Shared})
	assert.Equal(t, map[int]string{3: "h0", 0: "t"}, top.Neighbours(0))
	assert.Equal(t, map[int]string{0: "h1", 2: "s"}, top.Neighbours(1))
	own := top.Own(1)
	assert.Equal(t, "10.77.255.9", own.IP.String())
	assert.Equal(t, switchMAC(1, 4), own.At(4), "the same as without an agent")
}

// TestMistakes: everything that is wrong is said at once, each with its place.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"much", `
name: a_b
time_scale: 0
switches:
  - {name: s, config: fife}
  - {name: s, config: five, ip: 10.77.0.1}
  - {config: five, dut: wood}
  - {name: t}
hosts:
  - {name: h0}
  - {name: h 1, memory_mb: 1}
  - {name: h2, mac: "01:00:00:00:00:01", colour: red}
links:
  - {a: h0, b: s:1}
  - {a: h0, b: s}
  - {a: s:1, b: t}
  - {a: s, b: h0:1}
  - {a: h2, b: h0, loss: 2, rate_mbit: 0, delay_us: -1}
  - {a: q, b: s:x}
  - {a: s}
groups:
  - {name: g, hosts: [h0, h9, h0], dtype: FP8, op: XOR, root: nobody}
  - {name: g, hosts: [], collective: gather, start: 16777216}
  - {hosts: [h0], collective: reduce}
programs: [/dev/null, /bin/sh, /bin/sh]
`, `two.yaml:2:7: name "a_b": must be letters, digits and hyphens, a letter or digit first, at most 24
two.yaml:3:13: time_scale is 0, allowed are 1e-06 to 1e+06
two.yaml:5:23: no such design: fife of reference
two.yaml:6:12: s is there already
two.yaml:7:14: switch 2 has no name
two.yaml:7:25: dut is "wood", allowed are [rtl core netlist reference]
two.yaml:8:12: switch 3 has no config
two.yaml:10:12: 10.77.0.1 is the address of s
two.yaml:11:12: name "h 1": must be letters, digits and hyphens, a letter or digit first, at most 24
two.yaml:11:12: host h 1 has no link
two.yaml:11:28: memory_mb is 1, allowed are 40 to 4096
two.yaml:12:12: host h2 has no link
two.yaml:12:21: mac 01:00:00:00:00:01 is an address of many
two.yaml:12:42: unknown key "colour", known are name, ip, mac, memory_mb
two.yaml:15:9: h0 has a link already: a host has one
two.yaml:16:9: port 1 of s has a link already
two.yaml:17:15: "h0:1": a host has one port, and no number for it
two.yaml:18:16: h0 has a link already: a host has one
two.yaml:18:26: loss is 2, it must be 0 to 1
two.yaml:18:40: rate_mbit is 0, it must be 0.001 to 1e+06
two.yaml:18:53: delay_us is -1, it must be 0 to 1e+07
two.yaml:19:9: there is no host and no switch "q"
two.yaml:19:15: "s:x" must be HOST, SWITCH or SWITCH:PORT
two.yaml:20:9: a link needs a and b, each a HOST, a SWITCH or SWITCH:PORT
two.yaml:22:22: there is no host "h9"
two.yaml:22:22: host h0 is in the group twice
two.yaml:22:43: dtype is "FP8", allowed are FP32, FP16, BF16, INT32
two.yaml:22:52: op is "XOR", allowed are SUM, MIN, MAX
two.yaml:22:63: there is no host and no switch "nobody"
two.yaml:23:12: group g is there already
two.yaml:23:22: group g has no hosts
two.yaml:23:38: collective is "gather", allowed are allreduce, reduce, broadcast, barrier
two.yaml:23:53: start is 16777216, allowed are 0 to 16777215
two.yaml:24:13: group 2 has no name
two.yaml:24:13: a reduce needs a root, one of its hosts
two.yaml:25:11: program /dev/null: it is no file that can be run
two.yaml:25:11: program /bin/sh: there is one of that name already
`},
		{"loop", `
switches:
  - {name: s, config: five}
  - {name: t, config: five}
hosts:
  - {name: h0}
links:
  - {a: h0, b: s}
  - {a: s, b: t}
  - {a: t, b: s}
`, "two.yaml:10:9: this link closes a loop, in which bridged frames would go round for ever: take one away, or set bridge: false\n"},
		{"a design's", `
switches: [{name: s, config: five}, {name: t, config: five}]
hosts: [{name: h0}, {name: h1}, {name: h2}]
links: [{a: h0, b: s}, {a: h1, b: s}, {a: h2, b: t}]
groups:
  - {name: no-type, hosts: [h0, h1]}
  - {name: wide, hosts: [h0, h1], dtype: FP32, window: 64}
  - {name: third, hosts: [h0, h1], dtype: FP32}
`, `two.yaml:6:12: group no-type on switch s (synthetic): group 0 has no dtype: this design has FP32, FP16, BF16, INT32
two.yaml:7:12: group wide on switch s (synthetic): group 1: a window of 64 packets takes 128 units; the buffer has 32, all free
two.yaml:8:12: group third on switch s (synthetic): group is 2, allowed are 0 to 1
`},
		{"far", `
switches: [{name: s, config: five}, {name: t, config: five}]
hosts: [{name: h0}, {name: h2}]
links: [{a: h0, b: s}, {a: h2, b: t}]
groups:
  - {name: split, hosts: [h0, h2], dtype: FP32}
`, "two.yaml:6:12: group split: there is no way between s and h2\n"},
		{"turns", `
switches: [{name: s, config: five, shared: 8}]
hosts: [{name: h0}, {name: h1}]
links: [{a: h0, b: s}, {a: h1, b: s}]
`, "two.yaml:2:44: switch s shares slots, and there is no manager that would give groups their turns\n"},
		{"manager", `
switches: [{name: s, config: five, shared: 33}]
hosts: [{name: h0}, {name: h1}]
links: [{a: h0, b: s}, {a: h1, b: s}]
manager: {mbps: 0, pages: 1}
groups:
  - {name: g, hosts: [h0, h1], dtype: FP32}
`, `two.yaml:2:44: shared is 33, allowed are 0 to 32, the slots of synthetic
two.yaml:5:17: a manager needs hop_rtt_us, the round trip over a link and the switch at its end, of at least 1
two.yaml:5:17: mbps is 0, it must be more
two.yaml:5:20: unknown key "pages", known are hop_rtt_us, mbps, page
two.yaml:7:12: there is a manager: hosts ask it for groups, and the file can have none
`},
		{"empty", "hosts: []\n", "two.yaml: there are 0 switches, allowed are 1 to 64\ntwo.yaml: there are 0 hosts, allowed are 1 to 64\n"},
		{"no form", "hosts: {a: 1}\n", "two.yaml:1:8: {a: 1} is not a list\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, c.text)
			require.Error(t, err)
			assert.Equal(t, strings.TrimSuffix(c.want, "\n"), err.Error())
		})
	}
}
