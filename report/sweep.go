// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"incforge/sweep/front"
)

//go:embed sweep.tmpl
var sweepText string

// sweepView is a sweep's table and drawings.
type sweepView struct {
	Config, Lead, Front string
	Drawings            []diagramView
	Best, All           pointsView
	Errors              [][]string
	Without             [][2]string // why, and how many points
}

type pointsView struct {
	Axes, Figures []string
	Rows          []pointView
}

type pointView struct {
	How   string
	At    []string
	Cells []cellView
}

func sweepOf(s *front.Sweep) (sweepView, error) {
	v := sweepView{Config: s.Config}
	drawings, err := s.Draw()
	if err != nil {
		return v, fmt.Errorf("report: %w", err)
	}
	for _, d := range drawings {
		v.Drawings = append(v.Drawings, diagramView{Name: strings.ReplaceAll(d.Name, "-over-", " over "),
			URL: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.SVG))}) // drawn by us, from numbers
	}
	var names []string
	for _, key := range s.Front {
		m, _ := front.Find(key)
		names = append(names, m.Label)
	}
	v.Front = strings.Join(names, " and ")
	full := 0
	why := map[string]int{}
	for i := range s.Points {
		p := &s.Points[i]
		if p.Why != "" {
			why[p.Why]++
		}
		if p.Full {
			full++
		}
	}
	v.Best, v.All = points(s, true), points(s, false)
	v.Lead = fmt.Sprintf("%d points, %d of them run in full, %d estimated from these. %s %s %s. Rates and times are at the lower of the clock asked for and the clock found.",
		len(s.Points), full, len(v.All.Rows)-full, s.Tech, s.Corner, s.Family)
	for _, e := range s.Errors {
		m, _ := front.Find(e.Key)
		v.Errors = append(v.Errors, []string{m.Label, strconv.Itoa(e.Points), fmt.Sprintf("%.1f %%", 100*e.RMS), fmt.Sprintf("%.1f %%", 100*e.Worst)})
	}
	for _, w := range sorted(why) {
		v.Without = append(v.Without, [2]string{w, strconv.Itoa(why[w])})
	}
	return v, nil
}

func points(s *front.Sweep, best bool) pointsView {
	var v pointsView
	for _, a := range s.Axes {
		v.Axes = append(v.Axes, a.Name)
	}
	columns := s.Columns()
	for _, m := range columns {
		label := m.Label
		if m.Unit != "" {
			label += ", " + strings.Replace(m.Unit, "mm2", "mm²", 1)
		}
		v.Figures = append(v.Figures, label)
	}
	for _, p := range s.Sorted() {
		if best && !p.Best {
			continue
		}
		row := pointView{How: "estimated", At: slices.Clone(p.At)}
		if p.Full {
			row.How = "full"
		}
		for _, m := range columns {
			c := cellView{Text: p.Cell(m)}
			if p.Missed() && (m.Key == front.Found || m.Key == front.Gbps || m.Key == front.NS) {
				c.Class = "bad"
			}
			row.Cells = append(row.Cells, c)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
