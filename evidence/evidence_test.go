// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const document = "../docs/evidence.md"

// The document in docs is what the records and the page say, every figure in its column of ours has a command, and every run of the page is one of the
// plan, with its command and its figures.
func TestDocument(t *testing.T) {
	p, err := Build(".")
	require.NoError(t, err)
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Equal(t, string(text), p.Markdown(), "run incforge evidence")

	plan, err := ReadPlan("plan.yaml")
	require.NoError(t, err)
	runs := map[string]Run{}
	for _, r := range plan {
		assert.NotContains(t, runs, r.ID)
		runs[r.ID] = r
	}
	for _, r := range p.Sources() {
		run, ok := runs[r.ID]
		if assert.True(t, ok, "no run of the plan makes record %s", r.ID) && r.Copied == "" {
			assert.Equal(t, run.Command, r.Command)
			for name := range r.Figures {
				assert.Contains(t, run.Take, name, r.ID)
			}
		}
	}

	var html bytes.Buffer
	require.NoError(t, p.WriteHTML(&html))
	has := func(text string) bool { return strings.Contains(html.String(), text) }
	assert.True(t, has(`<meta name="viewport"`))
	assert.True(t, has("data:image/svg&#43;xml;base64,"))
	assert.False(t, has("ZgotmplZ"))
	assert.False(t, regexp.MustCompile(`(src|href)="?(https?:)?//`).MatchString(html.String()), "the page needs nothing else")
}

const (
	goodRecord = "command: incforge bench latency\ndate: \"2026-11-23\"\ndigest: 0123456789abcdef\nof: fpga100g\nfigures: {cycles: 25, big: 1234567.25}\n"
	goodClock  = "command: incforge synth fpga100g\ndate: \"2026-11-23\"\ndigest: 0123456789abcdef\nof: fpga100g\n" +
		"clock: {asked_mhz: 600, found_mhz: 500, by: generic28}\nfigures: {area: 1}\n"
)

// build makes a page of one row and these records.
func build(t *testing.T, ours string, records map[string]string) (*Page, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "results"), 0o755))
	page := "title: T\nsections:\n- title: S\n  rows:\n  - {what: w, paper: 244 in the paper, ours: \"" + ours + "\"}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page.yaml"), []byte(page), 0o644))
	for name, text := range records {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "results", name+".yaml"), []byte(text), 0o644))
	}
	return Build(dir)
}

// A figure without a command, a date or a digest fails the build.
func TestUnfounded(t *testing.T) {
	without := func(line string) map[string]string {
		text := regexp.MustCompile(`(?m)^`+line+`: .*\n`).ReplaceAllString(goodRecord, "")
		require.NotEqual(t, goodRecord, text)
		return map[string]string{"lat": text}
	}
	copied := func(from, digest string) map[string]string {
		return map[string]string{"lat": strings.Replace(goodRecord, "digest: 0123456789abcdef\n", digest+"copied: "+from+"\n", 1)}
	}
	good := map[string]string{"lat": goodRecord}
	for _, c := range []struct {
		name, ours, want string
		records          map[string]string
	}{
		{"typed", "25 cycles", "a figure that no record has", nil},
		{"typed beside a place", "{lat.cycles} of 30", "a figure that no record has", good},
		{"no record", "{lat.cycles}", "there is no record lat", nil},
		{"no figure", "{lat.time}", "has no figure time", good},
		{"no command", "{lat.cycles}", "the command is missing", without("command")},
		{"no date", "{lat.cycles}", "the date is missing", without("date")},
		{"no digest", "{lat.cycles}", "the digest is missing", without("digest")},
		{"copied from anywhere", "{lat.cycles}", "it does not say that it was copied", copied("from memory", "")},
		{"copied, with a digest", "{lat.cycles}", "a digest that the run did not leave", copied(copiedFrom, "digest: 0123456789abcdef\n")},
		{"digest of nothing", "{lat.cycles}", "of what the digest is", without("of")},
		{"no clock", "{lat.cycles @synth}", "no such record", good},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := build(t, c.ours, c.records)
			require.ErrorIs(t, err, ErrUnfounded)
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := build(t, "nothing", good)
	require.ErrorIs(t, err, errPage, "a record that stands nowhere")
	p, err := build(t, "{lat.cycles}", copied(copiedFrom+", which has it", ""))
	require.NoError(t, err)
	assert.Contains(t, p.Markdown(), "| fpga100g | unknown |")
}

func TestPlaces(t *testing.T) {
	records := map[string]string{"lat": goodRecord, "synth": goodClock}
	for ours, want := range map[string]string{
		"{lat.cycles}, {synth.area}":               "25, 1",
		"{lat.big} {synth.area}":                   "1,234,567.25 1",
		"{lat.big 1e6 2} mm² {synth.area 1 1}":     "1.23 mm² 1.0",
		"{lat.cycles @synth}":                      "25 cycles, 50 ns at 500 MHz found, 600 asked !",
		"{lat.cycles 10 0} and {synth.area 0.5 0}": "2 and 2",
	} {
		p, err := build(t, ours, records)
		require.NoError(t, err, ours)
		assert.Equal(t, want, p.Sections[0].Rows[0].Ours)
		assert.ElementsMatch(t, []string{"lat", "synth"}, p.Sections[0].Rows[0].From)
	}
}

func TestRunRecord(t *testing.T) {
	run := Run{ID: "r", Command: "incforge bench loss", Take: map[string]string{"other": "count:points.[*kind!=x]", "without": "count:points.[*gone=,kind=x]",
		"one": "metrics.a", "second": "points.[at=2,kind=x].v", "all": "count:points.[*kind=x]", "place": "points.[2].v", "area": "sum:points at*v"}}
	text := `{"config":"mini","digest":"0123456789abcdef","clock":{"asked_mhz":250,"found_mhz":300,"by":"t"},"metrics":{"a":1.5}}
{"points":[{"at":1,"kind":"x","v":10},{"at":2,"kind":"x","v":20},{"at":3,"kind":"y","v":30}]}`
	r, err := run.Record([]byte(text), "2026-11-23", ".")
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"other": 1, "without": 2, "one": 1.5, "second": 20, "all": 2, "place": 30, "area": 140}, r.Figures)
	assert.Equal(t, &Clock{250, 300, "t"}, r.Clock)
	assert.Equal(t, "mini", r.Of)

	run.Take["gone"] = "points.[3].v"
	_, err = run.Record([]byte(text), "2026-11-23", ".")
	require.ErrorIs(t, err, errNoFigure)
	run.Take["gone"] = "metrics.b"
	_, err = run.Record([]byte(text), "2026-11-23", ".")
	require.ErrorIs(t, err, errNoFigure)
	_, err = (&Run{ID: "r", Command: "incforge x", Take: map[string]string{"n": "n"}}).Record([]byte(`{"n":1}`), "2026-11-23", ".")
	require.ErrorIs(t, err, ErrUnfounded, "JSON without a digest")
	r, err = (&Run{ID: "r", Command: "incforge x", Sources: []string{"evidence"}, Take: map[string]string{"n": "[k=2].n"}}).Record([]byte(`[{"k":1,"n":1},{"k":2,"n":7}]`), "2026-11-23", "..")
	require.NoError(t, err)
	assert.Len(t, r.Digest, 64)
	assert.InDelta(t, 7, r.Figures["n"], 0)
}

// What makes a figure is in its digest: the packages named, all that they import and what these embed.
func TestSources(t *testing.T) {
	plan, err := ReadPlan("plan.yaml")
	require.NoError(t, err)
	of := map[string][]string{}
	for _, run := range plan {
		if len(run.Sources) > 0 {
			of[run.ID], err = sources("..", run.Sources)
			require.NoError(t, err, run.ID)
			assert.NotContains(t, strings.Join(of[run.ID], " "), "_test.go")
		}
	}
	assert.Subset(t, of["model-ii-reduce"], []string{"inc/engine.go", "modelcheck/search.go", "modelcheck/model/symmetry.go", "network/topology/topology.go", "roce/packet.go"})
	assert.Subset(t, of["reuse"], []string{"contract/map.go", "hdl/csr/csr.go", "rtlgen/design.go", "configs/mini.yaml"})
	assert.Subset(t, of["loss"], []string{"bench/loss.go", "inc/engine.go", "network/host/host.go", "configs/fpga100g.yaml"})
}
