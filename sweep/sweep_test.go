// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sweep/front"
	"incforge/synth"
)

const specText = `
base: mini
set: {mtu_bytes: 512, window_packets: 4}
parameters:
  bus_bytes: {from: 8, to: 32, times: 2}
  lanes: [2, 4, 8]
  accumulate: [in_place, reproducible]
  types: [{dtypes: [INT32], buffer_bytes: 32768}, {dtypes: [FP32, INT32], buffer_bytes: 65536}]
`

func spec(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse([]byte(text))
	require.NoError(t, err)
	return s
}

func TestParse(t *testing.T) {
	s := spec(t, specText)
	points := s.Points()
	require.Len(t, points, 36)
	assert.Equal(t, []string{"mtu_bytes=512", "window_packets=4", "bus_bytes=8", "lanes=2", "accumulate=in_place", "dtypes=[INT32]", "buffer_bytes=32768"}, points[0].Set)
	assert.Equal(t, []int{0, 0, 0, 1}, points[1].At)
	assert.Equal(t, "[FP32, INT32]/65536", s.Axes[3].Values[1].Name)
	assert.Equal(t, []string{front.Raw, front.Gbps}, s.Front)

	s = spec(t, "base: mini\nparameters: {clock_mhz: {from: 100, to: 400, step: 150}}\nfpga: ecp5\nlatency: true\nfront: [fpga_lut, result_ns]\n")
	assert.Equal(t, []string{"100", "250", "400"}, []string{s.Axes[0].Values[0].Name, s.Axes[0].Values[1].Name, s.Axes[0].Values[2].Name})
}

func TestParseRefuses(t *testing.T) {
	for words, text := range map[string]string{
		"base is missing":               "parameters: {lanes: [2]}",
		"parameters is missing":         "base: mini",
		"unknown field":                 "base: mini\nparametres: {lanes: [2]}",
		"must be a list of values":      "base: mini\nparameters: {lanes: 2}",
		"2 stands there twice":          "base: mini\nparameters: {lanes: [2, 2]}",
		"either times":                  "base: mini\nparameters: {lanes: {from: 2, to: 8}}",
		"has whole numbers":             "base: mini\nparameters: {lanes: {from: 2, to: 8, by: 2}}",
		"there is no figure \"beauty\"": "base: mini\nparameters: {lanes: [2]}\nfront: [beauty]",
		"fpga: virtex: must be one of":  "base: mini\nparameters: {lanes: [2]}\nfpga: virtex",
		"more than 100000 points":       "base: mini\nparameters: {lanes: {from: 1, to: 1000, step: 1}, groups: {from: 1, to: 1000, step: 1}}",
		"is no value of a parameter":    "base: mini\nset: {lanes: {a: 1}}\nparameters: {lanes: [2]}",
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, words, text)
	}
}

// measured makes the records that synthesis would leave if modules had areas of this kind: sums of a constant and of what is proportional to
// a parameter or two.
func measured(p *Point) *Record {
	m := &synth.Metrics{Metrics: map[string]float64{}, Lanes: &synth.LaneArea{Area: 250 + 900*p.design["FP32"]}}
	cells := 1000.0 // of the core itself
	for _, b := range p.blocks {
		a := 800 + 35*b.x["BYTES"] + 3*b.x["memory bits in flops"]
		if b.module == aggregator {
			a += 20*b.x["ROW"]*(1+b.x["TREE"]) + m.Lanes.Area*float64(p.params.Lanes)
		}
		m.Modules = append(m.Modules, synth.ModuleArea{Module: b.module, Source: b.module, Instances: 1, Area: a + b.macros})
		cells += a
	}
	m.Metrics[keyCells], m.Metrics[keyMacros], m.Metrics[keyFound] = cells, p.macros, 300-0.5*p.design["bus_bytes"]
	return &Record{Set: p.Set, Digest: p.digest, Synth: m}
}

// understood are the points of a spec with their features.
func understood(t *testing.T, s *Spec) ([]Point, float64) {
	t.Helper()
	points := s.Points()
	nand2, err := s.Understand(t.Context(), points, nil)
	require.NoError(t, err)
	return points, nand2
}

// TestEstimate: from a few points whose modules follow simple laws all others come out, and the error bar says how well.
func TestEstimate(t *testing.T) {
	s := spec(t, specText)
	points, nand2 := understood(t, &s)
	records := map[int]*Record{}
	for _, i := range choose(points, 10, nil) {
		records[i] = measured(&points[i])
	}
	require.Len(t, records, 10)
	out, err := s.result(t.Context(), points, records, nand2)
	require.NoError(t, err)
	estimated, impossible := 0, 0
	for i := range out.Points {
		p := &out.Points[i]
		if p.Why != "" {
			impossible++
			assert.Contains(t, p.Why, "would stand idle")
			continue
		}
		truth := (&known{&points[i], measured(&points[i])}).figures(nand2)
		for key, v := range p.Values {
			assert.InEpsilon(t, truth[key], v.V, 0.1, "%s of %s", key, out.Name(p))
			assert.LessOrEqual(t, v.Low, v.V)
			assert.GreaterOrEqual(t, v.High, v.V)
		}
		assert.Equal(t, records[i] != nil, p.Full)
		if !p.Full {
			estimated++
		}
		assert.InDelta(t, p.Values[front.Raw].V, p.Values[front.Cells].V+p.Values[front.Macros].V, 1e-9)
	}
	assert.Equal(t, 8, impossible)
	assert.Equal(t, 18, estimated)
	for _, e := range out.Errors {
		assert.Less(t, e.RMS, 0.1, e.Key)
		if e.Key == front.Macros || e.Key == front.BitsPerBit {
			assert.Zero(t, e.Worst, "the model of memories is the one that synthesis uses")
		}
	}
	drawings, err := out.Draw()
	require.NoError(t, err)
	require.Len(t, drawings, 1)
	assert.Contains(t, string(drawings[0].SVG), "<svg")
	assert.Contains(t, out.Table(false), "18 estimated")
}

// A design has blocks that no measured one has: no figure is made up for it.
func TestUnseenBlocks(t *testing.T) {
	s := spec(t, "base: mini\nparameters: {mode: [2, 3], groups: [1, 2, 4]}")
	points, nand2 := understood(t, &s)
	records := map[int]*Record{}
	for i := range points {
		if points[i].params.Mode == 2 {
			records[i] = measured(&points[i])
		}
	}
	out, err := s.result(t.Context(), points, records, nand2)
	require.NoError(t, err)
	for _, p := range out.Points[3:] {
		assert.Equal(t, "it has a block that no point has that was run in full", p.Why)
		assert.Empty(t, p.Values)
	}
}

// What was run is kept, and is not run again; of another design it is not believed.
func TestRecords(t *testing.T) {
	s := spec(t, "base: mini\nparameters: {groups: [1, 2]}")
	points, _ := understood(t, &s)
	dir := t.TempDir()
	require.NoError(t, save(s.file(dir, points[0].digest), measured(&points[0])))
	have, err := s.records(dir, points)
	require.NoError(t, err)
	require.Len(t, have, 1)
	assert.Equal(t, measured(&points[0]), have[0])
	assert.Equal(t, []int{1}, choose(points, 2, map[int]bool{0: true}))

	s.Family = "xcup" // more is wanted
	have, err = s.records(dir, points)
	require.NoError(t, err)
	assert.Empty(t, have)
	s.Family = ""
	require.NoError(t, os.Rename(s.file(dir, points[0].digest), s.file(dir, points[1].digest)))
	have, err = s.records(dir, points)
	require.NoError(t, err)
	assert.Empty(t, have)
}

// TestChoose: the chosen points are spread over all values, and few of them are among the dearest.
func TestChoose(t *testing.T) {
	text, err := os.ReadFile("../docs/sweep.yaml")
	require.NoError(t, err)
	s := spec(t, string(text))
	points := s.Points()
	require.Len(t, points, 192)
	for i := range points {
		all, ok := points[i].load(s.Base)
		require.True(t, ok, points[i].Why)
		points[i].params = all.Contract()
		points[i].design = map[string]float64{"lanes": float64(all.Lanes), "bus_bytes": float64(all.BusBytes)}
	}
	chosen := choose(points, 12, nil)
	require.Len(t, chosen, 12)
	count := map[string]int{}
	for _, i := range chosen {
		for _, set := range points[i].Set {
			count[set]++
		}
	}
	assert.LessOrEqual(t, count["lanes=512"], 2)
	assert.Positive(t, count["lanes=512"])
	shapes := map[int]bool{}
	for _, i := range chosen {
		shapes[points[i].At[0]] = true
	}
	lanes := 0
	for _, n := range []string{"lanes=16", "lanes=32", "lanes=64", "lanes=128", "lanes=256"} {
		lanes += min(count[n], 1)
	}
	assert.GreaterOrEqual(t, lanes, 4)
	assert.GreaterOrEqual(t, len(shapes), 6, "pairs of lanes and bus")
	for _, a := range s.Axes[1:] {
		for _, v := range a.Values {
			assert.GreaterOrEqual(t, count[v.Set[0]], 4, v.Set[0])
		}
	}
}

// TestDocument: what is written is read again.
func TestDocument(t *testing.T) {
	s := spec(t, specText)
	points, nand2 := understood(t, &s)
	records := map[int]*Record{}
	for _, i := range choose(points, 6, nil) {
		records[i] = measured(&points[i])
	}
	out, err := s.result(t.Context(), points, records, nand2)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, out.Write(&text))
	back, err := front.Parse([]byte(text.String()))
	require.NoError(t, err)
	want, err := json.Marshal(out)
	require.NoError(t, err)
	got, err := json.Marshal(back)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
}
