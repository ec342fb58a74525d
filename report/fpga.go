// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"incforge/fpga"
)

// fpgaView is the resources on one FPGA family, beside the paper's rows.
type fpgaView struct {
	Title, Basis string
	Columns      []string
	Rows         []fpga.Row
	Why          string // why no row of the paper is for the same configuration
	Longest      string
	Place        *placeView
}

// placeView is what place and route found.
type placeView struct {
	Title   string
	Runs    []runView
	Spread  string
	Use     [][3]string // kind, used of available, per cent
	Steps   []stepView
	Path    string
	Picture template.URL
	Legend  []legendView
}

type runView struct{ Seed, Clock, Class, CPU string }

type stepView struct{ Block, Cells, Logic, Routing string }

type legendView struct {
	Block, Cells string
	Colour       template.CSS
}

func fpgaResources(m *fpga.Metrics) fpgaView {
	v := fpgaView{Title: m.Top + " on " + string(m.Family), Basis: m.Basis, Columns: fpga.Columns(), Rows: m.Rows(), Why: strings.Join(m.NotPaper, "; ")}
	if p := m.Longest; p != nil {
		v.Longest = fmt.Sprintf("%d LUT levels (%d LUTs, %d carry chains), from %s to %s: %s", p.Levels, p.LUTs, p.Chains, p.Start, p.End, p)
	}
	if m.Place != nil {
		v.Place = placement(m)
	}
	return v
}

func placement(m *fpga.Metrics) *placeView {
	p := m.Place
	v := &placeView{Title: fmt.Sprintf("%s on %s, %s", p.Tool, p.Device, p.Pins), Spread: strconv.FormatFloat(100*p.Spread, 'f', 1, 64) + " %"}
	for _, r := range p.Runs {
		c := m.Clock
		c.FoundMHz = r.FoundMHz
		v.Runs = append(v.Runs, runView{strconv.Itoa(r.Seed), c.String(), missedClass(c.Missed()), figure(r.CPUSeconds, "s")})
	}
	for _, u := range p.Use {
		v.Use = append(v.Use, [3]string{u.Kind, thousands(float64(u.Used)) + " of " + thousands(float64(u.Available)),
			strconv.FormatFloat(100*float64(u.Used)/float64(max(u.Available, 1)), 'f', 1, 64) + " %"})
	}
	for _, s := range p.Path {
		v.Steps = append(v.Steps, stepView{s.Block, strconv.Itoa(s.Cells), figure(s.LogicNS, "ns"), figure(s.RoutingNS, "ns")})
	}
	v.Path = fmt.Sprintf("%s → %s, %s", p.Start, p.End, figure(p.PathNS, "ns"))
	if len(p.Picture) > 0 {
		v.Picture = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(p.Picture))
	}
	for _, e := range p.Legend {
		v.Legend = append(v.Legend, legendView{e.Block, thousands(float64(e.Cells)), colour(e.Colour)})
	}
	return v
}

// colour takes nothing but #rrggbb from a record, whoever wrote it.
func colour(s string) template.CSS {
	if n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32); err == nil && len(s) == 7 && n <= 0xffffff {
		return template.CSS(s)
	}
	return "#000000"
}
