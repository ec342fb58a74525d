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
	_, err = ReadCluster(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Every mistake is said, with its place where the file has one.
func TestMistakes(t *testing.T) {
	for want, change := range map[string][2]string{
		`topology t.yaml:1:1: unknown field "hop_rtt"`:             {"hop_rtt_ns", "hop_rtt"},
		"topology t.yaml:1:13: cannot unmarshal":                   {"2000", "x"},
		`link 1: no node is called "leaf9"`:                        {"a: leaf0:0", "a: leaf9:0"},
		`link 1: no node is called "h7"`:                           {"b: h0", "b: h7"},
		`link 2: leaf0 is a switch: its end must be leaf0:PORT`:    {"a: leaf0:1", "a: leaf0"},
		`link 2: "leaf0:x": "x" is no port`:                        {"a: leaf0:1", "a: leaf0:x"},
		`link 2: "leaf0:-1": "-1" is no port`:                      {"a: leaf0:1", "a: leaf0:-1"},
		"two links are at port 0 of leaf0":                         {"a: leaf0:1", "a: leaf0:0"},
		"there are two nodes h0":                                   {"[h0, h1]", "[h0, h1, h0]"},
		"switch leaf0 is on level 0: levels count from 1":          {"level: 1", "level: 0"},
		"a link joins spine0 and leaf0, which are both on level 2": {"level: 1", "level: 2"},
		"the link leaf0–h0 has a rate of 0 Mbit/s":                 {"b: h0, mbps: 100000", "b: h0, mbps: 0"},
		"the round trip of a hop is 0s: it must be more than 0":    {"hop_rtt_ns: 2000", "hop_rtt_ns: 0"},
		"a link joins two hosts, h1 and h0":                        {"a: leaf0:0", "a: h1"},
		"the round trip of a hop is -2µs: it must be more than 0":  {"2000", "-2000"},
	} {
		text := strings.Replace(topologyText, change[0], change[1], 1)
		require.NotEqual(t, topologyText, text)
		_, err := ParseCluster("t.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "topology t.yaml")
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

func TestPage(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	g, err := w.make("ring")
	require.NoError(t, err)
	show := func() string {
		r := httptest.NewRecorder()
		w.m.Page().ServeHTTP(r, httptest.NewRequest("GET", "/", nil))
		return r.Body.String()
	}
	for _, want := range []string{"<td>" + g.ID + "</td><td>ready</td><td>1000</td>", "h2 h0 h1 h3", "spine0 leaf0 leaf1", "<td>leaf0</td><td>2 of 16</td>", "group " + g.ID + " is ready"} {
		assert.Contains(t, show(), want)
	}
	w.sites["leaf1"].lost = true
	w.m.destroy(w.ctx, g, `<script>`)
	w.m.Poll(w.ctx)
	assert.Contains(t, show(), "<td>removing</td>")
	assert.Contains(t, show(), `<td class="trouble">&lt;script&gt;</td>`)
	assert.Contains(t, show(), `<td class="trouble">no way</td>`)
}
