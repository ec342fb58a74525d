// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/live"
	"incforge/live/groups"
	"incforge/roce"
)

func TestTopology(t *testing.T) {
	dir := t.TempDir()
	read := func(text string) (*live.Topology, error) {
		file := filepath.Join(dir, "t.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return live.ReadTopology(file)
	}
	const good = `
bridge: true
time_scale: 0.5
switches:
  - name: leaf
    config: mini
    groups: leaf.yaml
    ports:
      - {mine: sw0, peer: /tmp/vm0, loss: 0.01}
      - {port: 3, mine: sw3, peer: vm3}
  - {name: spine, config: mine.yaml, dut: reference, check: false, bridge: false, time_scale: 2, groups: /g/spine.yaml}
links:
  - {a: leaf:1, b: spine:0, dup: 0.5, reorder: 1}
`
	top, err := read(good)
	require.NoError(t, err)
	half, two, no := 0.5, 2.0, false
	assert.Equal(t, []live.Wanted{
		{Name: "leaf", Config: "mini", Groups: filepath.Join(dir, "leaf.yaml"), TimeScale: &half, Bridge: true, Ports: []live.Port{
			{Number: 0, Mine: filepath.Join(dir, "sw0"), Peer: "/tmp/vm0", Faults: live.Faults{Loss: 0.01}},
			{Number: 3, Mine: filepath.Join(dir, "sw3"), Peer: filepath.Join(dir, "vm3")}}},
		{Name: "spine", Config: filepath.Join(dir, "mine.yaml"), DUT: "reference", Check: &no, Groups: "/g/spine.yaml", TimeScale: &two},
	}, top.Switches)
	assert.Equal(t, []live.Link{{A: live.End{Switch: 0, Port: 1}, B: live.End{Switch: 1, Port: 0}, Faults: live.Faults{Duplicate: 0.5, Reorder: 1}}}, top.Links)
	m := synthetic.Manifest(synthetic.Mini())
	ports, err := top.Attached(0, m)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 3}, ports)
	m.Params.Ports = 3
	_, err = top.Attached(0, m)
	require.ErrorContains(t, err, "t.yaml:10:16: port 3: synthetic has ports 0 to 2")

	for _, c := range []struct {
		text string
		want []string
	}{
		{"bridge: true\n", []string{"t.yaml: there are no switches"}},
		{"switches: []\nlink: []\n", []string{`t.yaml:2:1: unknown key "link"`}},
		{"switches:\n  - config: mini\n    ports: [{}, {mine: a, peer: a}, {port: 1, mine: b, peer: c, loss: 2}, {mine: b, peer: d}]\n  - {name: a b, config: 1, groups: g, time_scale: 0}\n", []string{
			"switch 0 has no name", "switch 0 has no groups, and no agent", "port 0 needs mine and peer", "port 1: mine and peer are the same", "port 1 is taken by line 3 already",
			"loss is 2, it must be 0 to 1", "socket b is given twice", `name "a b": must be letters`, "1 is not a word", "time_scale is 0, allowed are"}},
		{strings.Replace(good, "- {mine: sw0, ", "- {card: eth1}\n      - {port: 2, card: eth1}\n      - {port: 4, card: eth2, mine: sw0, ", 1), []string{
			"t.yaml:10:25: card eth1 is given twice", "t.yaml:11:25: port 4 has a card, and can have no mine and peer"}},
		{strings.NewReplacer("    groups: leaf.yaml", "    dut: wood\n    groups: leaf.yaml", "dut: reference", "dut: stone").Replace(good), []string{
			`t.yaml:7:10: dut is "wood", allowed are [rtl core netlist reference]`, `t.yaml:12:43: dut is "stone", allowed are`}},
		{strings.Replace(good, "name: spine", "name: leaf", 1), []string{"switch leaf is there already", `there is no switch "spine"`}},
		{strings.Replace(good, "groups: leaf.yaml", "groups: leaf.yaml\n    agent: {listen: x, mac: 03:00:00:00:00:00}", 1), []string{
			"t.yaml:7:13: switch leaf has an agent", "t.yaml:8:21: the agent of switch leaf has no ip", `8:21: "x" must be HOST:PORT`, "8:29: mac 03:00:00:00:00:00 is an address of many"}},
		{good + "  - {a: leaf:1, b: spine}\n  - {a: leaf:2}\n  - {a: leaf:x, b: leaf:4}\n", []string{"14:9: port 1 is taken by line 13 already",
			`14:20: "spine" must be SWITCH:PORT`, "15:9: link 2 has no b", `16:9: "leaf:x" must be SWITCH:PORT`}},
		{strings.Replace(good, "bridge: false, ", "", 1) + "  - {a: leaf:2, b: spine:1}\n", []string{"t.yaml:14:9: this link closes a loop"}},
	} {
		_, err := read(c.text)
		require.ErrorIs(t, err, live.ErrTopology)
		for _, w := range c.want {
			assert.ErrorContains(t, err, w)
		}
	}
	_, err = read(good + "  - {a: leaf:2, b: spine:1}\n")
	require.NoError(t, err, "the spine does not bridge")
	top, err = read(strings.NewReplacer("groups: leaf.yaml", "agent: {listen: 127.0.0.1:0, ip: 10.0.0.1, mac: 02:00:00:00:00:00, store: leaf.db, shared: 8}",
		"peer: vm3", "peer: vm3, host: h3").Replace(good))
	require.NoError(t, err)
	assert.Equal(t, &live.WantedAgent{Listen: "127.0.0.1:0", Own: groups.Address{IP: roce.IP4{10, 0, 0, 1}, MAC: roce.MAC{2}}, Store: filepath.Join(dir, "leaf.db"),
		Shared: 8, Neighbours: map[int]string{1: "spine", 3: "h3"}}, top.Switches[0].Agent)
	_, err = live.ReadTopology(filepath.Join(dir, "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
