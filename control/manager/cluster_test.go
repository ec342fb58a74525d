// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"incforge/control/managerpb"
	"incforge/control/placement"
	"incforge/internal/synthetic"
)

const topologyText = `hop_rtt_ns: 2000
levels: true
switches:
  - {name: leaf0, level: 1, agent: "127.0.0.1:7471"}
  - {name: spine0, level: 2}
hosts: [h0, h1]
links:
  - {a: leaf0:0, b: h0, mbps: 100000}
  - {a: leaf0:1, b: h1, mbps: 100000}
  - {a: spine0:0, b: leaf0:2, mbps: 400000}
`

func TestReadCluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "topology.yaml")
	require.NoError(t, os.WriteFile(path, []byte(topologyText), 0o600))
	c, err := ReadCluster(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"leaf0": "127.0.0.1:7471"}, c.Agents)
	assert.Equal(t, &placement.Network{Levels: true, HopRTT: 2 * time.Microsecond,
		Nodes: []placement.Node{{Name: "leaf0", Level: 1}, {Name: "spine0", Level: 2}, {Name: "h0", Host: true}, {Name: "h1", Host: true}},
		Links: []placement.Link{{Ends: [2]placement.End{{Node: 0, Port: 0}, {Node: 2}}, Mbps: 100_000}, {Ends: [2]placement.End{{Node: 0, Port: 1}, {Node: 3}}, Mbps: 100_000},
			{Ends: [2]placement.End{{Node: 1, Port: 0}, {Node: 0, Port: 2}}, Mbps: 400_000}}}, c.Network)
	c, err = ParseCluster("t.yaml", []byte(strings.Replace(topologyText, "[h0, h1]", "[h0, h1, h2]\nreported_mbps: 40000", 1)))
	require.NoError(t, err, "a host without a link may be reported")
	assert.Equal(t, 40_000, c.ReportedMbps)
	_, err = ReadCluster(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Every mistake is said, with its line and column.
func TestMistakes(t *testing.T) {
	const many = "hop_rtt_ns: 0\nlevels: true\nswitches: [{name: s0, agent: x}, {level: 0}, {name: s2, level: 1}]\nhosts: [h0, h0, 7]\nlinks: [{a: s2, b: h9}, {b: h0, mbps: 0}, {a: s2:0, b: s2:0, mbps: 1}]\n"
	for want, change := range map[string][2]string{
		`t.yaml:1:1: unknown key "hop_rtt", known are hop_rtt_ns, levels`:       {"hop_rtt_ns", "hop_rtt"},
		"t.yaml: hop_rtt_ns is missing":                                         {"hop_rtt_ns", "hop_rtt"},
		"t.yaml:1:13: x is not an integer":                                      {"2000", "x"},
		"t.yaml:1:13: 2.5 is not an integer":                                    {"2000", "2.5"},
		"t.yaml:2:9: maybe is not true or false":                                {"true", "maybe"},
		"t.yaml:2:1: hop_rtt_ns is given twice":                                 {"levels: true", "hop_rtt_ns: 3"},
		"t.yaml:3:1: switches is given twice":                                   {"levels: true", "switches: []"},
		`t.yaml:8:9: link 1: no node is called "leaf9"`:                         {"a: leaf0:0", "a: leaf9:0"},
		`t.yaml:8:21: link 1: no node is called "h7"`:                           {"b: h0", "b: h7"},
		`t.yaml:9:9: link 2: leaf0 is a switch: its end must be leaf0:PORT`:     {"a: leaf0:1", "a: leaf0"},
		`t.yaml:9:9: link 2: "leaf0:x": "x" is no port`:                         {"a: leaf0:1", "a: leaf0:x"},
		`t.yaml:9:9: link 2: "leaf0:-1": "-1" is no port`:                       {"a: leaf0:1", "a: leaf0:-1"},
		`t.yaml:9:9: link 2: "leaf0:65536": "65536" is no port`:                 {"a: leaf0:1", "a: leaf0:65536"},
		"t.yaml:9:9: two links are at port 0 of leaf0: line 8 has the other":    {"a: leaf0:1", "a: leaf0:0"},
		"t.yaml:6:17: there are two nodes h0":                                   {"[h0, h1]", "[h0, h1, h0]"},
		"t.yaml:6:17: h2 has no link":                                           {"[h0, h1]", "[h0, h1, h2]"},
		`t.yaml:6:17: name "a b": must be letters`:                              {"[h0, h1]", "[h0, h1, a b]"},
		"t.yaml:6:8: h0 is not a list":                                          {"[h0, h1]", "h0"},
		"t.yaml:4:26: switch leaf0 is on level 0: levels count from 1":          {"level: 1", "level: 0"},
		"t.yaml:4:26: -1 is not an integer that is not negative":                {"level: 1", "level: -1"},
		"t.yaml:5:12: switch spine0 has no level":                               {"spine0, level: 2", "spine0"},
		"t.yaml:4:26: switch leaf0 is on level 1, and the network has none":     {"levels: true", "levels: false"},
		`t.yaml:4:36: agent "127.0.0.1" must be HOST:PORT`:                      {"127.0.0.1:7471", "127.0.0.1"},
		"t.yaml:5:37: the agent at 127.0.0.1:7471 is leaf0's":                   {"level: 2", "level: 2, agent: \"127.0.0.1:7471\""},
		"t.yaml:10:9: a link joins spine0 and leaf0, which are both on level 2": {"level: 1", "level: 2"},
		"t.yaml:8:31: link 1 has a rate of 0 Mbit/s":                            {"b: h0, mbps: 100000", "b: h0, mbps: 0"},
		"t.yaml:8:9: link 1 has no mbps":                                        {"b: h0, mbps: 100000", "b: h0"},
		"t.yaml:8:9: link 1 has no b":                                           {"b: h0, mbps: 100000", "mbps: 1"},
		"t.yaml:1:13: the round trip of a hop is 0: it must be more":            {"hop_rtt_ns: 2000", "hop_rtt_ns: 0"},
		"t.yaml:8:9: a link joins two hosts, h1 and h0":                         {"a: leaf0:0", "a: h1"},
		"t.yaml:10:9: a link joins leaf0 to itself":                             {"a: spine0:0", "a: leaf0:3"},
		"t.yaml:1:13: -2000 is not an integer that is not negative":             {"2000", "-2000"},
		"t.yaml:2:16: links that are reported have a rate of 0 Mbit/s":          {"levels: true", "reported_mbps: 0"},
		"t.yaml: the file is empty":                                             {topologyText, "# nothing\n"},
		"t.yaml: there are no switches":                                         {topologyText, "hosts: []\n"},
		"t.yaml:3:42: switch number 2 has no name":                              {topologyText, many},
		"t.yaml:3:19: switch s0 has no level":                                   {topologyText, many},
		`t.yaml:3:30: agent "x" must be HOST:PORT`:                              {topologyText, many},
		"t.yaml:4:17: 7 is not a word":                                          {topologyText, many},
		"t.yaml:4:13: there are two nodes h0":                                   {topologyText, many},
		`t.yaml:5:20: link 1: no node is called "h9"`:                           {topologyText, many},
		"t.yaml:5:29: link 2 has no a":                                          {topologyText, many},
		"t.yaml:5:56: two links are at port 0 of s2: line 5 has the other":      {topologyText, many},
	} {
		text := strings.Replace(topologyText, change[0], change[1], 1)
		require.NotEqual(t, topologyText, text)
		_, err := ParseCluster("t.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
		assert.ErrorIs(t, err, ErrTopology)
	}
}

// A file with anything cut out or doubled is read or refused, and never ends the program.
func TestMangled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(0, len(topologyText)).Draw(t, "from")
		b := rapid.IntRange(0, len(topologyText)).Draw(t, "to")
		c, err := ParseCluster("t.yaml", []byte(topologyText[:a]+topologyText[b:]))
		if err == nil {
			_, err = placement.New(c.Network)
			require.NoError(t, err)
		}
	})
}

// What differs from switch to switch is said of each, and bytes that are no whole KiB are bytes.
func TestSlotsAndMemory(t *testing.T) {
	assert.Equal(t, "4", SlotsOf(&managerpb.GroupStatus{Switches: []string{"leaf0", "leaf1"}, Slots: []uint32{4, 4}}))
	assert.Equal(t, "leaf0 4, leaf1 8", SlotsOf(&managerpb.GroupStatus{Switches: []string{"leaf0", "leaf1"}, Slots: []uint32{4, 8}}))
	assert.Equal(t, "leaf0 4 of engine 1, leaf1 4", SlotsOf(&managerpb.GroupStatus{Switches: []string{"leaf0", "leaf1"}, Slots: []uint32{4, 4}, Engines: []uint32{1, 0}}))
	assert.Equal(t, "8 of 64 KiB", MemoryOf(&managerpb.SwitchStatus{Slots: 64, SlotBytes: 1024}, 8))
	assert.Equal(t, "100 of 3200 bytes", MemoryOf(&managerpb.SwitchStatus{Slots: 32, SlotBytes: 100}, 1))
}

func TestPage(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	show := func() string {
		r := httptest.NewRecorder()
		w.m.Page().ServeHTTP(r, httptest.NewRequest("GET", "/", nil))
		return r.Body.String()
	}
	for _, want := range []string{"<td>" + g.ID + "</td><td>ready</td><td>1000</td>", "h2 h0 h1 h3", "<td>spine0(leaf0(h0 h1) leaf1(h2 h3))</td><td>2</td>", "<td>leaf0</td><td>2 of 16</td>", "2 of 16 KiB", "group " + g.ID + " is ready"} {
		assert.Contains(t, show(), want)
	}
	w.sites["leaf1"].lost = true
	w.m.destroy(w.ctx, g, `<script>`)
	w.m.Poll(w.ctx)
	assert.Contains(t, show(), "<td>removing</td>")
	assert.Contains(t, show(), `<td class="trouble">&lt;script&gt;</td>`)
	assert.Contains(t, show(), `<td class="trouble">no way</td>`)
}
