// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/fpga"
	"incforge/fpga/netlist"
	"incforge/fpga/place"
	"incforge/internal/clocked"
	"incforge/mutate/mutant"
	"incforge/mutate/score"
	"incforge/synth"
	"incforge/verify/code"
	"incforge/verify/cover"
	"incforge/verify/result"
)

const manifestText = `{"schema":1,"name":"mini","digest":"d1","params":{"bus_bytes":8,"dtypes":["INT32"]},"clock":{"mhz":250},
"tops":{"core":{"module":"mini_core"}},"files":["rtl/a.v"],"registers":[],"counters":["AGG","DROP_ICRC","DROP_GAP"],
"memories":[{"path":"u_a.u_m","words":1024,"bits":64,"role":"payload"}]}`

// folder writes files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text) + "\n"
}

// sample is a folder with one of everything, the markup in it to be escaped.
func sample(t *testing.T) string {
	covered := &cover.Summary{Outcomes: map[string]uint64{"AGG": 1500, "DROP_ICRC": 3}, Ends: map[string]uint64{"4": 9, "12": 1},
		Arith:   map[string]uint64{"FP32/SUM/little/in_place": 12, "BF16/MAX/big/in_place": 0},
		Crosses: []cover.Cross{{Name: "SEND_ONLY/up/8/partial/AGG", Count: 1500}, {Name: "opcode 0x13/invalid/0/-/DROP_ICRC", Count: 3}}}
	tests := marshal(t, result.Test{Config: "mini", Digest: "d1", DUT: "rtl", Scenario: "star", Seed: 1, Frames: 1503, Cycles: 98765,
		Verdict: result.Pass, Coverage: covered}) +
		marshal(t, result.Test{Config: "mini", Digest: "d1", DUT: "rtl", Scenario: "tree", Seed: 7, Verdict: result.Fail,
			Message: "sum is <wrong>", Replay: "incforge verify mini --scenario tree --seed 7", Capture: "tree.pcapng"}) +
		marshal(t, result.Test{Config: "mini", Digest: "d1", DUT: "rtl", Scenario: "groups", Verdict: result.NotApplicable, Message: "one group"})
	price := marshal(t, synth.Metrics{Bench: "synth", Config: "mini", Digest: "d0", Top: "mini_core", Tech: "generic28", Basis: "predictive",
		Clock: clocked.Clock{AskedMHz: 250, FoundMHz: 200, By: "generic28"},
		Metrics: map[string]float64{"synth__design__instance__area": 150000, "synth__timing__fmax__mhz": 200, "synth__timing__clock__mhz": 250,
			"synth__timing__setup__ws": -1, "synth__lane__count": 2},
		Estimates: []synth.Estimate{{Key: "synth__design__instance__area", Value: 150000, Unit: "um2", Low: 120000, High: 200000, Basis: "cells"},
			{Key: "synth__lane__area", Value: 211.6, Unit: "um2", Low: 169.3, High: 275.1, Basis: "one lane"}},
		Modules: []synth.ModuleArea{{Module: "inc_fifo__1", Source: "inc_fifo", Instances: 2, Own: 10},
			{Module: "inc_fifo__2", Source: "inc_fifo", Instances: 1, Own: 5}, {Module: "inc_csr", Source: "inc_csr", Instances: 1, Own: 30}},
		Memories:     []synth.MemoryArea{{Words: 1024, Bits: 64, Instances: 1, Storage: "macro", Shape: "1 x 1", Area: 5000, AccessNS: 0.5}},
		CriticalPath: synth.Path{Start: "u_a/x", End: "u_b/y", DelayPS: 5000, Stages: 12, Trace: "the trace"},
		Paper:        synth.Comparison{AreaMM2: 4.89, Because: []string{"2 lanes"}}})
	board := marshal(t, fpga.Metrics{Bench: "fpga", Config: "mini", Digest: "d1", Top: "mini_core", Family: fpga.XCUP, Basis: "before placement",
		Metrics: map[string]float64{}, Resources: fpga.Resources{LUT: 6310, FF: 4021}, Lanes: 2, NotPaper: []string{"16 KiB of payload"},
		Clock:   clocked.Clock{AskedMHz: 250, FoundMHz: 41.3, By: "placed"},
		Longest: &netlist.Path{Levels: 23, LUTs: 21, Chains: 1, Start: "u_a.q", End: "u_b.r", Blocks: []string{"u_a", "u_b"}},
		Place: &place.Result{Device: "LFE5U", Tool: "nextpnr 1", Pins: "pads", Runs: []place.Run{{Seed: 1, FoundMHz: 41.3}, {Seed: 2, FoundMHz: 43}}, FoundMHz: 41.3, Spread: 0.04,
			Use: []place.Use{{Kind: "TRELLIS_FF", Used: 5522, Available: 83640}}, Path: []place.Step{{Block: "u_a", Cells: 6, LogicNS: 1.4, RoutingNS: 5.5}}, PathNS: 24.2,
			Start: "u_a.q_FF", End: "u_b.r_FF", Picture: []byte("PNG"), Legend: []place.Entry{{Block: "u_a", Colour: "#1f6feb", Cells: 9}, {Block: "u_b", Colour: "red;x:y", Cells: 1}}}})
	bench := marshal(t, Bench{Bench: "latency", Config: "mini", Digest: "d0", Clock: clocked.Clock{AskedMHz: 250}, Metrics: map[string]float64{"result_cycles": 23, "result_ns": 92, "paper_result_ns": 244, "forward_cycles": 12, "extra": 7.25}})
	var hits code.Hits
	hits.Add([]uint64{1, 0, 0})
	lines := marshal(t, code.New("mini", "d0", 72, []code.Point{{File: "inc_fifo.v", Line: 1, Kind: code.Line, What: "block"}, {File: "inc_fifo.v", Line: 2, Kind: code.Branch, What: "if"},
		{File: "inc_fifo.v", Line: 3, Kind: code.Branch, What: "else"}}, hits, map[string][]string{"inc_fifo.v": {"always", "if (a < b)", "else"}},
		[]code.Excuse{{File: "inc_fifo.v", Text: "a < b", Why: "a is never less"}}))
	campaign := score.Report{Kind: score.Kind, Config: "mini", Digest: "d0", Seed: 21, Possible: 14917, Cap: 8, Mutants: []score.Result{
		{Mutant: mutant.Mutant{Number: 1, Module: "inc_fifo", File: "rtl/inc_fifo.v", Line: 9, Operator: "reset", Before: "full_reg <= 1'b0;"}, Verdict: score.GivenUp, Seconds: 9,
			Replay: "incforge mutate mini --seed 21 --mutant 1"},
		{Mutant: mutant.Mutant{Number: 2, Module: "inc_fifo", File: "rtl/inc_fifo.v", Line: 12, Operator: "comparison", Before: "a < b", After: "a <= b"}, Verdict: score.Survived, Reason: "a is never b"},
		{Mutant: mutant.Mutant{Number: 3, Module: "inc_csr"}, Verdict: score.Killed, By: "registers", Seconds: 0.5}, {Mutant: mutant.Mutant{Number: 4, Module: "inc_csr"}, Verdict: score.Equivalent},
		{Mutant: mutant.Mutant{Number: 5, Module: "inc_skid"}, Verdict: score.Survived, Reason: "nobody looks"}}}
	campaign.Finish()
	return folder(t, map[string]string{"mutate.json": marshal(t, campaign), "coverage.json": lines, "manifest.json": manifestText, "docs/mini_core.svg": "<svg><script>alert(1)</script></svg>",
		"results.json": tests, "synth.json": price, "sub/fpga.json": board, "bench.json": bench, "schema.json": `{"$schema":"x"}`, "list.json": `[1, "a"]`})
}

func TestHTML(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	draw := func() string {
		r, err := Read(dir)
		require.NoError(t, err)
		require.Len(t, r.Designs, 1)
		var b bytes.Buffer
		require.NoError(t, r.WriteHTML(&b))
		return b.String()
	}
	page := draw()
	assert.Empty(t, cmp.Diff(page, draw()), "the same inputs give the same bytes")

	for _, want := range []string{
		"1 of 1 failed", "sum is &lt;wrong&gt;", "incforge verify mini --scenario tree --seed 7", "tree.pcapng", // a failure, escaped
		"1 not applicable to this configuration", "one group",
		"1 of 2", "GAP<b>never</b>", "FP32/SUM/little/in_place<b>12</b>", "BF16/MAX/big/in_place<b>never</b>", "ICRC<b>3</b>", "no known opcode", // coverage
		"244 ns", "≤ 25 cycles", `<div class="missed">115 ns at 200 MHz found, 250 asked !`, ">met<", ">missed<", "<code>extra</code>", // the paper beside us
		`<b class="missed">-1 ns</b>`, "0.1500 mm²", "0.1200 – 0.2000 mm²", "area of one lane", "211.6 µm²", "inc_fifo ×3", "the trace", "2 lanes", // synthesis
		"6310", "16 KiB of payload", "probably 256", "23 LUT levels", "u_a → u_b", // FPGA
		`<td class="num missed">41.3 MHz found, 250 asked !</td>`, `<td class="missed">43 MHz found, 250 asked !</td>`, "4.0 %", "5,522 of 83,640", "6.6 %",
		`src="data:image/png;base64,UE5H"`, `style="background: #1f6feb"`, `style="background: #000000"`,
		"The results of code coverage are", "by 72 tests", `<td class="num warn">0.0 % of 1</td>`, "inc_fifo.v:2 branch if", "a &lt; b", "a is never less", `<td class="bad">none</td>`,
		"The results of mutants (seed 21) are", "5 of the 14,917", "at most 8 s of processor time each, 0.5000 s in the median", "mutants killed that can matter, seed 21",
		`<code>inc_csr</code></td><td class="num ">2</td><td class="num ">1</td><td class="num ">1</td><td class="num ">0</td><td class="num ">0</td><td class="num ">100.0 %</td><td class="num ">100.0 %</td>`,
		`<b>all</b></td><td class="num ">5</td><td class="num ">1</td><td class="num ">1</td><td class="num ">3</td><td class="num ">2</td><td class="num warn">25.0 %</td><td class="num warn">50.0 %</td>`,
		`<code>inc_skid</code></td><td class="num ">1</td><td class="num ">0</td><td class="num ">0</td><td class="num ">1</td><td class="num ">1</td><td class="num warn">0.0 %</td><td class="num "></td>`,
		"1 live, and nobody has said why", "rtl/inc_fifo.v:9", "full_reg &lt;= 1&#39;b0;", "left out", "given up", "incforge mutate mini --seed 21 --mutant 1",
		"2 live, with the reason", "rtl/inc_fifo.v:12", "a &lt;= b", "a is never b",
		"The results of synthesis (generic28) are of another version", "1024 × 64", "data:image/svg&#43;xml;base64,",
	} {
		assert.True(t, strings.Contains(page, want), "%q is missing", want)
	}
	assert.NotContains(t, page, "ZgotmplZ", "html/template refused a value")
	assert.NotRegexp(t, regexp.MustCompile(`(?i)<script|https?://|(src|data)="[^d]|@import`), page, "the page is offline and runs nothing")
	assert.Contains(t, page, `<object type="image/svg+xml" data="data:`, "a drawing in which the pointer can rest on something")
	assert.Regexp(t, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; [^"]*">`, page, "a drawing's script does not run")
	for _, tag := range []string{"section", "table", "tr", "td", "svg", "div", "details"} {
		opened := len(regexp.MustCompile(`<`+tag+`[\s>]`).FindAllString(page, -1))
		assert.Equal(t, opened, strings.Count(page, "</"+tag+">"), "every <%s> is closed", tag)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	r, err := Read(sample(t))
	require.NoError(t, err)
	text := r.Table()
	for _, want := range []string{`tests passed, rtl .* 1 of 2 !`, `drop reasons reached .* 1 of 2`, `result, generic28 \(paper 244 ns\) .* 115 ns at 200 MHz found, 250 asked ! `, `200 MHz !`,
		`mini: tree on rtl failed; run it again: incforge verify mini --scenario tree --seed 7`,
		`mini: the results of synthesis \(generic28\) are of another version of the design than the manifest`} {
		assert.Regexp(t, want, text)
	}
	b := r.Designs[0].Benches[0]
	bench := BenchTable(b)
	assert.Regexp(t, `forward_cycles .* 12 cycles .* 96 ns .* ≤ 6 cycles .* missed`, bench)
	assert.NotContains(t, bench, "92", "the record's time has no clock")
	assert.NotRegexp(t, `60 ns`, bench)
	b.Clock.FoundMHz, b.Clock.By = 400, "a flow"
	assert.Regexp(t, `forward_cycles .* 12 cycles .* 48 ns at 400 MHz found, 250 asked \(a flow\) .* 96 ns`, BenchTable(b))
	assert.NotContains(t, bench, "paper_result_ns", "the paper's figure has its column")
}

// Every time and rate in a report stands at a clock that a flow found, with both clocks beside it, or is the paper's, or is a delay
// that timing analysis found.
func TestClocks(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rate.json"), []byte(marshal(t, Bench{Bench: "throughput", Config: "mini", Digest: "d0",
		Metrics: map[string]float64{"ingress_bits_per_cycle": 64, "ingress_gbps": 16, "raw_bits_per_cycle": 64, "raw_gbps": 16}})), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(marshal(t, Bench{Bench: "latency", Config: "mini", Digest: "of another version",
		Metrics: map[string]float64{"result_cycles": 23, "result_ns": 92, "result_min_cycles": 21, "result_min_ns": 84}})), 0o644))
	r, err := Read(dir)
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, r.WriteHTML(&page))
	quantity := regexp.MustCompile(`[0-9] (?:ns|[GT]b/s|[GT]bit/s)`)
	excused := regexp.MustCompile(`MHz found|class="num paper"|\(paper|class="paper"|slack|Critical path|class="num access"|the trace`)
	found := 0
	// A chunk is an element with its text, so a cell, a tile or a bar.
	for _, chunk := range regexp.MustCompile(`<(?:td|tr|div|p|text|rect|section)\b`).Split(page.String(), -1) {
		if quantity.MatchString(chunk) {
			found++
			assert.Regexp(t, excused, chunk)
		}
	}
	assert.Greater(t, found, 5)
	assert.Contains(t, page.String(), `class="missed">12.8 Gbit/s at 200 MHz found, 250 asked !`, "in red")
	assert.NotContains(t, page.String(), "92 ns", "at a clock that was only asked for")
	for _, line := range strings.Split(r.Table(), "\n") {
		if quantity.MatchString(line) {
			assert.Regexp(t, `MHz found|\(paper `, line)
		}
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	_, err := Read(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Read(folder(t, map[string]string{"notes.txt": "no JSON", "a.json": "{}"}))
	require.ErrorIs(t, err, ErrNothing)
	_, err = Read(folder(t, map[string]string{"sub/broken.json": `{"name":`}))
	require.ErrorContains(t, err, "broken.json: unexpected EOF")
	_, err = Read(folder(t, map[string]string{"r.jsonl": `{"config":"a","scenario":"b","verdict":7}`}))
	require.ErrorContains(t, err, "r.jsonl: result: ")
	_, err = Read(folder(t, map[string]string{"m.json": `{"kind":"mutate","config":"a","possible":1,"mutants":7,"blocks":[]}`}))
	require.ErrorContains(t, err, "m.json: mutants: ")
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 0.12345: "0.1235", 1.5: "1.500", 23.46: "23.5", 1234: "1234", 1234.5: "1234", 12345.6: "12,346", -1234567: "-1,234,567"} {
		assert.Equal(t, want, figure(x, ""))
	}
	assert.Equal(t, "92 ns", figure(92, "ns"))
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1.0k", 1299: "1.2k", 34567: "34k", 999999: "999k", 5600000: "5.6M", 7e12: "7T"} {
		assert.Equal(t, want, short(n))
	}
}

// The core by stages comes first and open, the whole diagrams are folded; a design without one by stages has its diagrams open.
func TestDiagrams(t *testing.T) {
	drawings := func(files map[string]string) []diagramView {
		files["manifest.json"] = manifestText
		r, err := Read(folder(t, files))
		require.NoError(t, err)
		require.Len(t, r.Designs, 1)
		all := r.Designs[0].view().Diagrams
		for i := range all {
			all[i].URL = ""
		}
		return all
	}
	assert.Equal(t, []diagramView{{Name: "mini_core", Stages: true}, {Name: "mini_core", Folded: true}, {Name: "mini_switch", Folded: true}},
		drawings(map[string]string{"docs/mini_core.svg": "<svg/>", "docs/mini_core_stages.svg": "<svg/>", "docs/mini_switch.svg": "<svg/>"}))
	assert.Equal(t, []diagramView{{Name: "mini_core"}, {Name: "mini_switch"}},
		drawings(map[string]string{"docs/mini_core.svg": "<svg/>", "docs/mini_switch.svg": "<svg/>"}))
}
