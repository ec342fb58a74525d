// SPDX-License-Identifier: Apache-2.0

// Package paper has the tables of the paper's flow-level simulation (EPIC, SIGCOMM '26), files of inputs that come as near to them as its text
// allows, and prints both side by side.
//
// The text leaves out some inputs, and others cannot be what its figures were made with. So there are two files a model: stated, which
// follows the text, and inferred, which follows the figures. Each line that the text does not bear out says so.
package paper

import (
	"context"
	"embed"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"incforge/flows"
)

//go:embed inputs
var inputs embed.FS

// Cell is a figure of the paper beside ours.
type Cell struct {
	flows.Case
	Paper float64 `json:"paper_s"`
	Ours  float64 `json:"ours_s"`
}

// Off is how far ours is from the paper's, as a part of the paper's.
func (c Cell) Off() float64 { return c.Ours/c.Paper - 1 }

// Model is the part of the table that one model has.
type Model struct {
	Name   string `json:"model"`
	Inputs string `json:"inputs"`
	Cells  []Cell `json:"cells"`
	// Refused says why the inputs cannot be simulated.
	Refused string `json:"refused,omitempty"`
}

// Kinds of inputs.
const (
	Stated   = "stated"
	Inferred = "inferred"
)

// single is the paper's table of one job on 128 GPUs: by policy, completion times in seconds with 4, 8, 16 and 32 units of memory, without and
// with scale-up networks.
type single struct {
	name, file string
	rows       [4][8]float64
}

func singles() []single {
	flat := func(a, b float64) [8]float64 { return [8]float64{a, a, a, a, b, b, b, b} }
	return []single{
		{"GPT-3-175B", "gpt3-175b", [4][8]float64{flat(253, 106), flat(179, 84.6), {179, 158, 137, 137, 84.6, 63.6, 63.6, 63.6}, {158, 137, 137, 137, 84.6, 63.6, 63.6, 63.6}}},
		{"GPT-3-13B", "gpt3-13b", [4][8]float64{flat(33.6, 7.94), flat(20.7, 6.38), {20.7, 19.1, 17.5, 17.5, 6.38, 4.82, 4.82, 4.82}, {19.1, 17.5, 17.5, 17.5, 6.38, 4.82, 4.82, 4.82}}},
		{"Llama-65B", "llama-65b", [4][8]float64{flat(211, 47.6), flat(129, 39.8), {129, 121, 113, 113, 110, 39.8, 32.0, 32.0}, {121, 113, 113, 113, 110, 39.8, 32.0, 32.0}}},
		{"Llama-7B", "llama-7b", [4][8]float64{flat(37.8, 5.01), flat(21.3, 4.20), {21.3, 20.5, 19.7, 19.7, 4.20, 3.40, 3.40, 3.40}, {20.5, 19.7, 19.7, 19.7, 4.20, 3.40, 3.40, 3.40}}},
	}
}

// spec reads a file of inputs.
func spec(kind, file string) (*flows.Spec, error) {
	name := path.Join("inputs", kind, file+".yaml")
	text, err := inputs.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	return flows.Parse(path.Join("flows/paper", name), text)
}

// Single simulates the table of one job with the inputs of a kind.
func Single(ctx context.Context, kind string) ([]Model, error) {
	var all []Model
	for _, s := range singles() {
		m := Model{Name: s.name, Inputs: kind}
		sp, err := spec(kind, s.file)
		if err != nil {
			m.Refused = err.Error()
			all = append(all, m)
			continue
		}
		r, err := flows.Run(ctx, s.file, sp)
		if err != nil {
			return nil, fmt.Errorf("paper: %s: %w", s.name, err)
		}
		const memories, policies = 4, 4
		for i, c := range r.Cases { // scale-up, then policy, then memory
			up, policy, memory := i/(memories*policies), i/memories%policies, i%memories
			m.Cells = append(m.Cells, Cell{c.Case, s.rows[policy][up*memories+memory], c.Mean})
		}
		all = append(all, m)
	}
	return all, nil
}

// Worst is the cell that is farthest from the paper's.
func (m Model) Worst() Cell {
	var worst Cell
	for i, c := range m.Cells {
		if i == 0 || math.Abs(c.Off()) > math.Abs(worst.Off()) {
			worst = c
		}
	}
	return worst
}

// Within counts the cells that are no farther from the paper's than a part of it.
func (m Model) Within(part float64) int {
	n := 0
	for _, c := range m.Cells {
		if math.Abs(c.Off()) <= part {
			n++
		}
	}
	return n
}

// bar is how near a figure must be to count as the same.
const bar = 0.05

// SingleTable prints models side by side with the paper: the paper's seconds, ours, and by how much ours are off where that is beyond 5 %.
func SingleTable(models []Model) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"paper / ours, s", "policy", "4", "8", "16", "32", "4, scale-up", "8", "16", "32"})
	var notes strings.Builder
	for _, m := range models {
		if m.Refused != "" {
			fmt.Fprintf(&notes, "%s: %s\n", m.Name, m.Refused)
			continue
		}
		for p, policy := range flows.Policies() {
			row := table.Row{m.Name, policy}
			for up := range 2 {
				for _, c := range m.Cells[16*up+4*p : 16*up+4*p+4] {
					row = append(row, c.text())
				}
			}
			t.AppendRow(row)
		}
		t.AppendSeparator()
		fmt.Fprintf(&notes, "%s: %d of %d cells within %.0f %%; farthest: %s\n", m.Name, m.Within(bar), len(m.Cells), 100*bar, m.Worst().place())
	}
	return t.Render() + "\n" + notes.String()
}

func (c Cell) text() string {
	s := fmt.Sprintf("%.3g / %.3g", c.Paper, c.Ours)
	if math.Abs(c.Off()) > bar {
		s += fmt.Sprintf(" (%+.0f %%)", 100*c.Off())
	}
	return s
}

func (c Cell) place() string {
	return fmt.Sprintf("%s, %d units, scale-up %g Gbit/s, %+.1f %%", c.Policy, c.Units, c.ScaleUpGbps, 100*c.Off())
}

// Tenants is a policy's mean completion time as a part of the rings': the paper's does not say what its seconds are made of.
type Tenants struct {
	Trace  string             `json:"trace"`
	Policy string             `json:"policy"`
	Ours   float64            `json:"ours"`
	Paper  map[string]float64 `json:"paper"`
	*flows.CaseResult
}

// tenants are the paper's means in seconds, by policy, of Trace 1, 2 and 3.
func tenants() [4][3]float64 {
	return [4][3]float64{{6190, 6245, 6267}, {4108, 4635, 4666}, {3920, 4722, 4791}, {3750, 4621, 4618}}
}

// Multi simulates the files of many tenants.
func Multi(ctx context.Context) ([]Tenants, error) {
	var all []Tenants
	for _, file := range []string{"trace1", "trace1-half-core"} {
		sp, err := spec("tenants", file)
		if err != nil {
			return nil, err
		}
		r, err := flows.Run(ctx, file, sp)
		if err != nil {
			return nil, fmt.Errorf("paper: %s: %w", file, err)
		}
		for i := range r.Cases {
			c := &r.Cases[i]
			one := Tenants{Trace: file, Policy: c.Policy, Ours: c.Mean / r.Cases[0].Mean, Paper: map[string]float64{}, CaseResult: c}
			for trace := range 3 {
				one.Paper[fmt.Sprintf("trace%d", trace+1)] = tenants()[i][trace] / tenants()[0][trace]
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// MultiTable prints them.
func MultiTable(all []Tenants) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"inputs", "policy", "mean / rings'", "paper, Trace 1", "Trace 2", "Trace 3", "99 % / rings'", "on trees %"})
	var rings *flows.CaseResult
	for _, m := range all {
		if m.Policy == flows.None {
			rings = m.CaseResult
		}
		t.AppendRow(table.Row{m.Trace, m.Policy, fmt.Sprintf("%.3f", m.Ours), fmt.Sprintf("%.3f", m.Paper["trace1"]), fmt.Sprintf("%.3f", m.Paper["trace2"]),
			fmt.Sprintf("%.3f", m.Paper["trace3"]), fmt.Sprintf("%.3f", m.P99/rings.P99), fmt.Sprintf("%.0f", 100*m.TreeShare)})
	}
	return t.Render()
}

// Document is what the tables hold, for programs.
type Document struct {
	Bench   string             `json:"bench"`
	Config  string             `json:"config"`
	Metrics map[string]float64 `json:"metrics"`
	Single  []Model            `json:"single"`
	Tenants []Tenants          `json:"tenants"`
}

// All simulates everything.
func All(ctx context.Context) (*Document, error) {
	d := &Document{Bench: "flows", Config: "paper", Metrics: map[string]float64{}}
	for _, kind := range []string{Inferred, Stated} {
		models, err := Single(ctx, kind)
		if err != nil {
			return nil, err
		}
		cells, within := 0, 0
		for _, m := range models {
			cells, within = cells+len(m.Cells), within+m.Within(bar)
		}
		d.Metrics[kind+"_cells"], d.Metrics[kind+"_within_5_percent"] = float64(cells), float64(within)
		d.Single = append(d.Single, models...)
	}
	var err error
	if d.Tenants, err = Multi(ctx); err != nil {
		return nil, err
	}
	for _, t := range d.Tenants {
		d.Metrics[strings.ReplaceAll(t.Trace+"_"+t.Policy, "-", "_")+"_over_rings"] = t.Ours
	}
	return d, nil
}

// Text prints the tables.
func (d *Document) Text() string {
	var b strings.Builder
	for _, part := range []struct{ kind, title string }{
		{Inferred, "One job on 128 GPUs, 3 iterations, inputs inferred from the paper's figures (GPT-3-175B with 4 and 8 units is also its table in Policy gain):"},
		{Stated, "The same, inputs as the paper's text states them:"},
	} {
		var models []Model
		for _, m := range d.Single {
			if m.Inputs == part.kind {
				models = append(models, m)
			}
		}
		fmt.Fprintf(&b, "%s\n%s\n", part.title, SingleTable(models))
	}
	fmt.Fprintf(&b, "Jobs of many tenants on 2,048 GPUs; the paper states neither model nor times, so all is over the rings' (the jobs of its traces 2 and 3 are not published there):\n%s\n",
		MultiTable(d.Tenants))
	return b.String()
}
