// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table returns the headline figures for the terminal: a row a figure, a column a design.
func (r *Report) Table() string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	header := table.Row{""}
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
			if tile.Class == "bad" {
				values[tile.Label][i] += " !"
			}
		}
	}
	t.AppendHeader(header)
	for _, l := range labels {
		row := table.Row{l}
		for _, v := range values[l] {
			row = append(row, v)
		}
		t.AppendRow(row)
	}
	var b strings.Builder
	b.WriteString(t.Render() + "\n")
	for _, d := range r.Designs {
		for _, c := range scenarios(d.Tests).failures {
			fmt.Fprintf(&b, "%s: %s on %s failed; run it again: %s\n", d.Name, c.Scenario, c.DUT, c.Replay)
		}
	}
	return b.String()
}
