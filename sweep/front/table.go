// SPDX-License-Identifier: Apache-2.0

package front

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"incforge/internal/clocked"
)

// Columns are the figures that any point has, in order.
func (s *Sweep) Columns() []Metric {
	return slices.DeleteFunc(Metrics(), func(m Metric) bool {
		return !slices.ContainsFunc(s.Points, func(p Point) bool { _, has := p.Values[m.Key]; return has })
	})
}

// Cell is a figure in words; a clock has the one asked for beside it.
func (p *Point) Cell(m Metric) string {
	v, ok := p.Values[m.Key]
	if !ok {
		return ""
	}
	if m.Key == NAND2 {
		v.V /= 1000
	}
	s := number(v.V)
	if slices.Contains([]string{Cycles, LUT, FF, Levels}, m.Key) { // they are counted
		s = fmt.Sprintf("%.0f", v.V)
	}
	if m.Key == Found {
		s += " of " + number(p.AskedMHz)
		if p.Missed() {
			s += " " + clocked.Mark
		}
	}
	return s
}

// number prints three digits at least.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// Table renders the points that have figures, the best first in the order of the first figure of Front; only those, unless all are asked for.
func (s *Sweep) Table(all bool) string {
	columns := s.Columns()
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{""}
	for _, a := range s.Axes {
		header = append(header, a.Name)
	}
	for _, m := range columns {
		label := m.Label
		if m.Unit != "" {
			label += ", " + m.Unit
		}
		header = append(header, label)
	}
	t.AppendHeader(header)
	var config []table.ColumnConfig
	for i := range header {
		c := table.ColumnConfig{Number: i + 1, WidthMaxEnforcer: text.WrapSoft}
		if i > len(s.Axes) {
			c.Align, c.AlignHeader, c.WidthMax = text.AlignRight, text.AlignRight, 12
		}
		config = append(config, c)
	}
	t.SetColumnConfigs(config)
	for _, p := range s.Sorted() {
		if !all && !p.Best {
			continue
		}
		how := "estimated"
		if p.Full {
			how = "full"
		}
		if p.Best && all {
			how += ", best"
		}
		row := table.Row{how}
		for _, v := range p.At {
			row = append(row, v)
		}
		for _, m := range columns {
			row = append(row, p.Cell(m))
		}
		t.AppendRow(row)
	}
	return t.Render() + "\n" + s.notes() + s.trust()
}

// Sorted are the points with figures in the order of the first figure of Front.
func (s *Sweep) Sorted() []*Point {
	var in []*Point
	for i := range s.Points {
		if len(s.Points[i].Values) > 0 {
			in = append(in, &s.Points[i])
		}
	}
	if len(s.Front) > 0 {
		key := s.Front[0]
		slices.SortStableFunc(in, func(a, b *Point) int {
			switch x, y := a.Values[key].V, b.Values[key].V; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return in
}

// notes say what the table rests on.
func (s *Sweep) notes() string {
	var b strings.Builder
	full, estimated, missed := 0, 0, 0
	why := map[string]int{}
	var reasons []string
	for i := range s.Points {
		p := &s.Points[i]
		switch {
		case p.Why != "":
			if why[p.Why]++; why[p.Why] == 1 {
				reasons = append(reasons, p.Why)
			}
		case p.Full:
			full++
		default:
			estimated++
		}
		if p.Missed() {
			missed++
		}
	}
	fmt.Fprintf(&b, "%d points: %d run in full, %d estimated, %d without figures; %s %s\n", len(s.Points), full, estimated, len(s.Points)-full-estimated,
		s.Tech, s.Corner)
	if missed > 0 {
		fmt.Fprintf(&b, "%s: the clock found is below the one asked for (%d points); rates and times are at the lower of the two\n", clocked.Mark, missed)
	}
	slices.SortStableFunc(reasons, func(x, y string) int { return why[y] - why[x] })
	for i, r := range reasons {
		if i == 5 {
			fmt.Fprintf(&b, "and %d more reasons\n", len(reasons)-i)
			break
		}
		fmt.Fprintf(&b, "%d points: %s\n", why[r], r)
	}
	return b.String()
}

// trust says how far estimates can be trusted: a line a figure, and for the first figure of Front one for each point that was run.
func (s *Sweep) trust() string {
	if len(s.Errors) == 0 {
		return ""
	}
	errs := lines("of the estimate from the others", "points", "root of the mean square", "worst")
	for _, e := range s.Errors {
		m, _ := Find(e.Key)
		errs.AppendRow(table.Row{m.Label, e.Points, fmt.Sprintf("%.1f %%", 100*e.RMS), fmt.Sprintf("%.1f %%", 100*e.Worst)})
	}
	text := "Each point run in full, estimated from the others; errors:\n" + errs.Render() + "\n"
	if len(s.Front) == 0 {
		return text
	}
	m, _ := Find(s.Front[0])
	each := lines(m.Label+", "+m.Unit, "found", "estimated", "off")
	for _, p := range s.Sorted() {
		if d, ok := p.off(m.Key); ok {
			each.AppendRow(table.Row{strings.Join(p.At, ", "), number(p.Values[m.Key].V), number(p.FromOthers[m.Key]), fmt.Sprintf("%+.1f %%", 100*d)})
		}
	}
	return text + each.Render() + "\n"
}

// lines is a table whose columns but the first are of numbers.
func lines(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var config []table.ColumnConfig
	for i := range header[1:] {
		config = append(config, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(config)
	return t
}
