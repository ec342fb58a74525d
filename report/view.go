// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"incforge/verify/result"
)

// The view types hold finished strings and numbers; the template only places them.

type page struct {
	Designs []designView
	Sweeps  []sweepView
	Style   template.CSS
}

type designView struct {
	Name, Digest string
	Stale        []string // results measured on another version of the design
	Tiles        []tile
	Params       [][2]string
	Memories     []memoryView
	Diagrams     []diagramView
	Scenarios    []scenarioView
	DUTs         []string
	Failures     []failureView
	Skipped      []failureView
	Coverage     *coverageView
	Code         *codeView
	Mutants      []mutantsView
	Benches      []benchView
	Prices       []priceView
	FPGAs        []fpgaView
}

type diagramView struct {
	Name   string
	URL    template.URL
	Stages bool // the drawing by stages, as wide as the page
	Folded bool // of a design that has one by stages
}

// byStages ends the name of a drawing by stages.
const byStages = "_stages"

type tile struct{ Value, Label, Class string }

type memoryView struct{ Path, Role, Shape, Bits string }

type scenarioView struct {
	Name   string
	Cells  []cellView // one per DUT
	Frames string
	Cycles string
	Wall   string
}

type cellView struct{ Text, Class string }

type failureView struct{ Scenario, DUT, Seed, Message, Replay, Files string }

type coverageView struct {
	Points  int
	Drops   []chip
	Others  []chip
	Arith   []chip // type, operation, byte order and accumulate, of slots that were completed
	Opcodes matrix
	Slots   matrix
	Ends    []barView
}

type chip struct {
	Name, Count string
	Hit         bool
}

type matrix struct {
	Columns []string
	Rows    []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []heatCell
}

// heatCell has the count and its colour: 0 for no count to 100 for the largest of the matrix, on a logarithmic scale.
type heatCell struct {
	Count string
	Heat  int
	Title string
}

// barView is a bar of a plot 0…100 wide.
type barView struct {
	Label, Value, Class string
	Width               float64
}

type benchView struct {
	Name string
	Rows []benchRow
	Plot []barView // figures that the paper also gives, on one scale
}

type benchRow struct {
	Key, Label, Ours, Paper, Basis, Goal, Verdict, Class string
	Held                                                 []heldView
}

// heldView is a figure at a clock that a flow found.
type heldView struct{ Text, By, Class string }

func (r *Report) view() (page, error) {
	p := page{Style: template.CSS(style)} // our own file, embedded
	for _, d := range r.Designs {
		p.Designs = append(p.Designs, d.view())
	}
	for _, s := range r.Sweeps {
		v, err := sweepOf(s)
		if err != nil {
			return p, err
		}
		p.Sweeps = append(p.Sweeps, v)
	}
	return p, nil
}

func (d *Design) view() designView {
	v := designView{Name: d.Name, Tiles: d.tiles()}
	if m := d.Manifest; m != nil {
		v.Digest = m.Digest
		v.Stale = d.stale()
		params := m.Params.Values()
		for _, k := range sorted(params) {
			v.Params = append(v.Params, [2]string{k, plain(params[k])})
		}
		for _, mem := range m.Memories {
			v.Memories = append(v.Memories, memoryView{mem.Path, mem.Role, strconv.Itoa(mem.Words) + " × " + strconv.Itoa(mem.Bits),
				thousands(float64(mem.Words) * float64(mem.Bits))})
		}
	}
	diagrams := slices.Clone(d.Diagrams)
	slices.SortStableFunc(diagrams, func(a, b Diagram) int { // the one to look at comes first
		return -cmp.Compare(strings.Count(a.Name, byStages), strings.Count(b.Name, byStages))
	})
	overview := len(diagrams) > 0 && strings.HasSuffix(diagrams[0].Name, byStages)
	drawings := len(diagrams)
	for _, l := range d.Losses {
		diagrams = append(diagrams, Diagram{"loss, " + l.DUT + ", bus of " + figure(l.Metrics["bus_bytes"], "bytes"), l.SVG()})
	}
	for i, g := range diagrams {
		// Embedded as an object, a drawing has its own names and shows details where a pointer rests; the page's policy holds for it, too, whoever wrote it: it runs
		// and loads nothing.
		url := template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(g.SVG))
		stages := strings.HasSuffix(g.Name, byStages)
		v.Diagrams = append(v.Diagrams, diagramView{strings.TrimSuffix(g.Name, byStages), url, stages, overview && !stages && i < drawings})
	}
	sc := scenarios(d.Tests)
	v.Scenarios, v.DUTs, v.Failures, v.Skipped = sc.rows, sc.duts, sc.failures, sc.skipped
	v.Coverage, v.Code = coverage(d), codeCoverage(d.Code)
	for _, m := range d.Mutants {
		v.Mutants = append(v.Mutants, mutants(m))
	}
	for _, b := range d.Benches {
		v.Benches = append(v.Benches, bench(b, d.clocks(b)))
	}
	v.Prices = prices(d)
	for _, m := range d.FPGA {
		v.FPGAs = append(v.FPGAs, fpgaResources(m))
	}
	return v
}

// stale names the results whose digest differs from the manifest's.
func (d *Design) stale() []string {
	of := map[string]string{} // digest by kind of result
	for _, t := range d.Tests {
		of["verification ("+t.DUT+")"] = t.Digest
	}
	if d.Code != nil {
		of["code coverage"] = d.Code.Digest
	}
	for _, m := range d.Mutants {
		of["mutants (seed "+strconv.FormatUint(m.Seed, 10)+")"] = m.Digest
	}
	for _, m := range d.Synth {
		of["synthesis ("+m.Tech+")"] = m.Digest
	}
	for _, m := range d.FPGA {
		of["FPGA ("+string(m.Family)+")"] = m.Digest
	}
	return slices.DeleteFunc(sorted(of), func(kind string) bool { return of[kind] == d.Manifest.Digest })
}

// plain prints a parameter's JSON without quotes and on one line.
func plain(value json.RawMessage) string {
	return strings.NewReplacer(`"`, "", "\n", "", " ", "", ",", ", ").Replace(string(value))
}

// outcome counts tests.
type outcome struct{ pass, fail, skipped int }

func count(tests []result.Test) outcome {
	var o outcome
	for _, t := range tests {
		switch t.Verdict {
		case result.Pass:
			o.pass++
		case result.NotApplicable:
			o.skipped++
		default:
			o.fail++
		}
	}
	return o
}

// scenarioTable is the tests by scenario and DUT.
type scenarioTable struct {
	rows              []scenarioView
	duts              []string
	failures, skipped []failureView
}

func scenarios(tests []result.Test) scenarioTable {
	var v scenarioTable
	type key struct{ scenario, dut string }
	byCell := map[key][]result.Test{}
	var names []string
	for _, t := range tests {
		byCell[key{t.Scenario, t.DUT}] = append(byCell[key{t.Scenario, t.DUT}], t)
		if !slices.Contains(names, t.Scenario) {
			names = append(names, t.Scenario)
		}
		if !slices.Contains(v.duts, t.DUT) {
			v.duts = append(v.duts, t.DUT)
		}
		f := failureView{t.Scenario, t.DUT, strconv.FormatUint(t.Seed, 10), t.Message, t.Replay,
			strings.TrimSpace(t.Capture + " " + t.Waves)}
		switch t.Verdict {
		case result.Pass:
		case result.NotApplicable:
			v.skipped = append(v.skipped, f)
		default:
			v.failures = append(v.failures, f)
		}
	}
	slices.Sort(names)
	slices.Sort(v.duts)
	for _, n := range names {
		row := scenarioView{Name: n}
		var frames, cycles uint64
		var wall float64
		for _, dut := range v.duts {
			cell := byCell[key{n, dut}]
			for _, t := range cell {
				frames, cycles, wall = frames+t.Frames, cycles+t.Cycles, wall+t.WallSeconds
			}
			row.Cells = append(row.Cells, verdict(count(cell)))
		}
		row.Frames, row.Cycles = thousands(float64(frames)), thousands(float64(cycles))
		row.Wall = strconv.FormatFloat(wall, 'f', 2, 64) + " s"
		v.rows = append(v.rows, row)
	}
	return v
}

// verdict is the text of one cell of the scenario table. A cell without tests does not count as passed.
func verdict(o outcome) cellView {
	switch n := o.pass + o.fail; {
	case o.fail > 0:
		return cellView{strconv.Itoa(o.fail) + " of " + strconv.Itoa(n) + " failed", "bad"}
	case n > 0:
		return cellView{strconv.Itoa(o.pass) + " passed", "good"}
	case o.skipped > 0:
		return cellView{"not applicable", "none"}
	}
	return cellView{"not run", "none"}
}

const dropPrefix = "DROP_"

// coverage merges the coverage of a design's tests; nil if none carries any.
func coverage(d *Design) *coverageView {
	outcomes, ends, arith := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	crosses := map[string]uint64{}
	for _, t := range d.Tests {
		if t.Coverage == nil {
			continue
		}
		for k, n := range t.Coverage.Outcomes {
			outcomes[k] += n
		}
		for k, n := range t.Coverage.Ends {
			ends[k] += n
		}
		for k, n := range t.Coverage.Arith {
			arith[k] += n
		}
		for _, c := range t.Coverage.Crosses {
			crosses[c.Name] += c.Count
		}
	}
	if len(outcomes) == 0 {
		return nil
	}
	v := &coverageView{Points: len(crosses)}
	names := sorted(outcomes)
	if d.Manifest != nil { // all that the engine has, reached or not, in the manifest's order
		names = nil
		for _, c := range d.Manifest.Counters {
			if _, hit := outcomes[c]; hit || strings.HasPrefix(c, dropPrefix) {
				names = append(names, c)
			}
		}
		for _, o := range sorted(outcomes) {
			if !slices.Contains(names, o) {
				names = append(names, o)
			}
		}
	}
	for _, n := range names {
		c := chip{strings.TrimPrefix(n, dropPrefix), thousands(float64(outcomes[n])), outcomes[n] > 0}
		if strings.HasPrefix(n, dropPrefix) {
			v.Drops = append(v.Drops, c)
		} else {
			v.Others = append(v.Others, c)
		}
	}
	for _, n := range sorted(arith) { // what the configuration includes but nothing computed has 0
		v.Arith = append(v.Arith, chip{n, thousands(float64(arith[n])), arith[n] > 0})
	}
	// A cross is named opcode/class/end/slot/outcome (verify/cover).
	opcodes, slots := map[[2]string]uint64{}, map[[2]string]uint64{}
	aims := map[string]bool{} // outcomes of packets that address a slot
	for name, n := range crosses {
		if f := strings.Split(name, "/"); len(f) == 5 {
			opcodes[[2]string{f[4], opcodeColumn(f[0])}] += n
			if f[3] != "-" {
				slots[[2]string{f[4], f[3]}] += n
				aims[f[4]] = true
			}
		}
	}
	v.Opcodes = heat(names, opcodes)
	v.Slots = heat(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !aims[n] }), slots)
	keys := sorted(ends)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(leading(a), leading(b)) })
	for _, k := range keys {
		v.Ends = append(v.Ends, barView{Label: k, Value: thousands(float64(ends[k])), Class: "ours"})
	}
	scaleLog(v.Ends, func(i int) float64 { return float64(ends[keys[i]]) })
	return v
}

// opcodeColumn puts all opcodes without a name, which are dropped or bypassed, into one column.
func opcodeColumn(name string) string {
	switch {
	case strings.HasPrefix(name, "opcode "):
		return "no known opcode"
	case name == "-":
		return "none"
	}
	return name
}

// leading is a key as a number, or the largest number if it is a name, so that names come last.
func leading(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// heat arranges counts by {row, column}.
func heat(rows []string, counts map[[2]string]uint64) matrix {
	var m matrix
	largest := uint64(1)
	for k, n := range counts {
		largest = max(largest, n)
		if !slices.Contains(m.Columns, k[1]) {
			m.Columns = append(m.Columns, k[1])
		}
	}
	slices.Sort(m.Columns)
	for _, r := range rows {
		row := matrixRow{Name: r}
		for _, c := range m.Columns {
			n := counts[[2]string{r, c}]
			cell := heatCell{Title: r + " × " + c + ": " + thousands(float64(n))}
			if n > 0 {
				cell.Count = short(n)
				cell.Heat = 15 + int(85*math.Log1p(float64(n))/math.Log1p(float64(largest)))
			}
			row.Cells = append(row.Cells, cell)
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// scale sets the bars' widths in proportion to the values, the largest to 100.
func scale(bars []barView, value func(i int) float64) {
	largest := 0.0
	for i := range bars {
		largest = max(largest, value(i))
	}
	for i := range bars {
		if largest > 0 {
			bars[i].Width = math.Round(1000*value(i)/largest) / 10
		}
	}
}

// scaleLog is scale on a logarithmic scale, for counts that differ by orders of magnitude.
func scaleLog(bars []barView, value func(i int) float64) {
	scale(bars, func(i int) float64 { return math.Log1p(value(i)) })
}

// tiles are those of a design's headline figures that are known.
func (d *Design) tiles() []tile {
	var all []tile
	if len(d.Tests) > 0 {
		byDUT := map[string][]result.Test{}
		for _, t := range d.Tests {
			byDUT[t.DUT] = append(byDUT[t.DUT], t)
		}
		for _, dut := range sorted(byDUT) {
			o := count(byDUT[dut])
			class := "good"
			if o.fail > 0 || o.pass == 0 {
				class = "bad"
			}
			all = append(all, tile{strconv.Itoa(o.pass) + " of " + strconv.Itoa(o.pass+o.fail), "tests passed, " + dut, class})
		}
		var frames, cycles uint64
		for _, t := range d.Tests {
			frames, cycles = frames+t.Frames, cycles+t.Cycles
		}
		all = append(all, tile{thousands(float64(frames)), "frames judged", ""}, tile{thousands(float64(cycles)), "engine cycles simulated", ""})
	}
	if c := coverage(d); c != nil {
		hit := 0
		for _, drop := range c.Drops {
			if drop.Hit {
				hit++
			}
		}
		class := "good"
		if hit < len(c.Drops) {
			class = "warn"
		}
		all = append(all, tile{strconv.Itoa(hit) + " of " + strconv.Itoa(len(c.Drops)), "drop reasons reached", class},
			tile{thousands(float64(c.Points)), "coverage points", ""})
	}
	for _, m := range d.Mutants {
		all = append(all, mutantTile(m))
	}
	for _, b := range d.Benches {
		all = append(all, benchTiles(b, d.clocks(b))...)
	}
	return append(all, priceTiles(d)...)
}

// figure prints a number with its unit and a sensible number of digits.
func figure(x float64, unit string) string {
	digits := 0
	switch a := math.Abs(x); {
	case x == math.Trunc(x):
	case a < 1:
		digits = 4
	case a < 10:
		digits = 3
	case a < 1000:
		digits = 1
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if math.Abs(x) >= 10000 {
		s = thousands(math.Round(x))
	}
	if unit != "" {
		s += " " + unit
	}
	return s
}

// thousands prints a whole number with commas.
func thousands(x float64) string {
	s := strconv.FormatFloat(x, 'f', 0, 64)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// short prints a count in at most four characters: 999, 1.2k, 34k, 5.6M.
func short(n uint64) string {
	x := float64(n)
	for _, u := range []string{"", "k", "M", "G"} {
		switch {
		case x < 10 && u != "":
			return strconv.FormatFloat(math.Floor(x*10)/10, 'f', 1, 64) + u
		case x < 1000:
			return strconv.FormatFloat(math.Floor(x), 'f', 0, 64) + u
		}
		x /= 1000
	}
	return strconv.FormatFloat(x, 'f', 0, 64) + "T"
}
