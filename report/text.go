// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"incforge/internal/clocked"
)

// BenchTable returns one benchmark's figures for the terminal, beside published figures and goals.
func BenchTable(b Bench) string {
	var clocks []clocked.Clock
	if b.Clock.Found() {
		clocks = append(clocks, b.Clock)
	}
	v := bench(b, clocks)
	t := newTable(b.Bench+" of "+b.Config, "here", "at the clock that holds", "paper", "goal", "", "what it measures")
	for _, r := range v.Rows {
		what := r.Label
		if r.Basis != "" {
			what += " (paper: " + r.Basis + ")"
		}
		at := ""
		for _, h := range r.Held {
			at = h.Text + " (" + h.By + ")"
		}
		t.AppendRow(table.Row{r.Key, r.Ours, at, r.Paper, r.Goal, r.Verdict, what})
	}
	return t.Render() + "\n"
}

func newTable(columns ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(columns)
	return t
}

// Table returns the headline figures for the terminal: one row per figure, one column per design.
func (r *Report) Table() string {
	header := []any{""}
	var labels []string
	values := map[string][]string{}
	for i, d := range r.Designs {
		header = append(header, d.Name)
		for _, tile := range d.tiles() {
			if values[tile.Label] == nil {
				labels = append(labels, tile.Label)
				values[tile.Label] = make([]string, len(r.Designs))
			}
			values[tile.Label][i] = tile.Value
			if (tile.Class == "bad" || tile.Class == "missed") && !strings.HasSuffix(tile.Value, clocked.Mark) {
				values[tile.Label][i] += " " + clocked.Mark
			}
		}
	}
	t := newTable(header...)
	for _, l := range labels {
		row := table.Row{l}
		for _, v := range values[l] {
			row = append(row, v)
		}
		t.AppendRow(row)
	}
	var b strings.Builder
	if len(r.Designs) > 0 {
		b.WriteString(t.Render() + "\n")
	}
	for _, s := range r.Sweeps {
		b.WriteString("sweep from " + s.Config + "\n" + s.Table(false))
	}
	for _, d := range r.Designs {
		if d.Manifest != nil {
			for _, kind := range d.stale() {
				fmt.Fprintf(&b, "%s: the results of %s are of another version of the design than the manifest\n", d.Name, kind)
			}
		}
		for _, c := range scenarios(d.Tests).failures {
			fmt.Fprintf(&b, "%s: %s on %s failed; run it again: %s\n", d.Name, c.Scenario, c.DUT, c.Replay)
		}
	}
	return b.String()
}
