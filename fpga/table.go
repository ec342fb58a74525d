// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// count prints a number of LUTs, memories and the like.
func count(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// known prints a published figure, and nothing for one that is not given.
func known(v float64) string {
	if v == 0 {
		return ""
	}
	return count(v)
}

// Columns are the heads of Rows.
func Columns() []string {
	return []string{"LUT", "of it LUTRAM", "FF", "BRAM36", "URAM", "DSP", "carry", "lanes", "LUT levels", "clock"}
}

// Row is a line of the table: a name, and cells in the order of Columns.
type Row struct {
	Name  string
	Cells []string
	// Missed tells that the clock found is below the one asked for.
	Missed bool
}

// Rows are ours and the paper's, each with its lanes.
func (m *Metrics) Rows() []Row {
	r := m.Resources
	lanes, levels := "", ""
	if m.Lanes > 0 {
		lanes = strconv.Itoa(m.Lanes)
	}
	if m.Longest != nil {
		levels = strconv.Itoa(m.Longest.Levels)
	}
	rows := []Row{{Name: string(m.Family), Missed: m.Clock.Missed(), Cells: []string{strings.TrimSpace(count(r.LUT) + " " + m.Unit), count(r.LUTRAM), count(r.FF), count(r.BRAM36), count(r.URAM), count(r.DSP),
		count(r.Carry), lanes, levels, m.Clock.String()}}}
	for _, p := range Paper() {
		lut := count(p.LUT)
		if p.Unit != "" {
			lut += " " + p.Unit
		}
		rows = append(rows, Row{Name: "paper, " + p.Name, Cells: []string{lut, known(p.LUTRAM), known(p.FF), known(p.BRAM36), "", known(p.DSP), "", p.Lanes, "", ""}})
		if m.Paper != nil && m.Paper.Name == p.Name {
			ratio := func(ours, theirs float64) string { return fmt.Sprintf("x %.3f", ours/theirs) }
			rows = append(rows, Row{Name: "ours over " + p.Name, Cells: []string{ratio(r.LUT, p.LUT), ratio(r.LUTRAM, p.LUTRAM), ratio(r.FF, p.FF), ratio(r.BRAM36, p.BRAM36), "", "", "",
				lanes + " over " + p.Lanes, "", ""}})
		}
	}
	return rows
}

// Table renders the record for people.
func (m *Metrics) Table() string {
	header := table.Row{m.Config + " (" + m.Top + ")"}
	for _, c := range Columns() {
		header = append(header, c)
	}
	t := newTable(header)
	for _, r := range m.Rows() {
		row := table.Row{r.Name}
		for _, c := range r.Cells {
			row = append(row, c)
		}
		t.AppendRow(row)
	}
	var b strings.Builder
	b.WriteString(t.Render() + "\n" + m.Basis + "\n")
	if p := m.Longest; p != nil {
		fmt.Fprintf(&b, "longest path: %d levels (%d LUTs, %d carry chains), %s to %s\n  by block: %s\n", p.Levels, p.LUTs, p.Chains, p.Start, p.End, p)
	}
	for _, w := range m.Ways {
		kept := ""
		if w.Name == m.Way {
			kept = ", kept"
		}
		fmt.Fprintf(&b, "mapped for %s: %d levels, %s LUT%s\n", w.Name, w.Levels, count(w.LUT), kept)
	}
	m.pairs(&b)
	m.placed(&b)
	if m.Resources.Latch > 0 {
		fmt.Fprintf(&b, "warning: %s latches\n", count(m.Resources.Latch))
	}
	if len(m.NotPaper) > 0 {
		b.WriteString("no row of the paper is the same configuration: " + strings.Join(m.NotPaper, "; ") + "\n")
	}
	return b.String()
}

// pairs adds the blocks between which paths are long.
func (m *Metrics) pairs(b *strings.Builder) {
	if m.Over == 0 {
		return
	}
	if len(m.Pairs) == 0 {
		fmt.Fprintf(b, "no path of more than %d levels\n", m.Over)
		return
	}
	// Yosys makes long names of what it invents; the record has them whole.
	const width = 48
	t := newTable(table.Row{fmt.Sprintf("paths of more than %d levels", m.Over), "levels", "inputs", "the longest begins at", "ends at", "pin"})
	for _, p := range m.Pairs {
		t.AppendRow(table.Row{cmp.Or(p.From, "top") + " to " + cmp.Or(p.To, "top"), p.Levels, p.Ends, text.Trim(p.Start, width), text.Trim(p.End, width), p.Pin})
	}
	b.WriteString(t.Render() + "\n")
}

// placed adds what place and route found.
func (m *Metrics) placed(b *strings.Builder) {
	p := m.Place
	if p == nil {
		return
	}
	fmt.Fprintf(b, "\nplaced and routed by %s on %s, %s\n", p.Tool, p.Device, p.Pins)
	t := newTable(table.Row{"seed", "clock", "processor s"})
	for _, r := range p.Runs {
		clock := m.Clock
		clock.FoundMHz = r.FoundMHz
		t.AppendRow(table.Row{r.Seed, clock.String(), fmt.Sprintf("%.0f", r.CPUSeconds)})
	}
	fmt.Fprintf(b, "%s\nspread over the seeds: %.1f %% of their mean; the lowest counts\n", t.Render(), 100*p.Spread)
	t = newTable(table.Row{"kind", "used", "available", "%"})
	for _, u := range p.Use {
		t.AppendRow(table.Row{u.Kind, u.Used, u.Available, fmt.Sprintf("%.1f", 100*float64(u.Used)/float64(max(u.Available, 1)))})
	}
	b.WriteString(t.Render() + "\n")
	t = newTable(table.Row{"critical path by block", "cells", "logic, ns", "wires, ns"})
	for _, s := range p.Path {
		t.AppendRow(table.Row{s.Block, s.Cells, fmt.Sprintf("%.2f", s.LogicNS), fmt.Sprintf("%.2f", s.RoutingNS)})
	}
	fmt.Fprintf(b, "%s\n%s to %s\n", t.Render(), p.Start, p.End)
}

func newTable(header table.Row) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for i := 2; i <= len(header); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}
