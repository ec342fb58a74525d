// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Loss is what `incforge bench loss` measures: throughput of AllReduce where links lose frames.
type Loss struct {
	Bench
	DUT      string        `json:"dut"`
	Variants []LossVariant `json:"variants"`
	Points   []LossPoint   `json:"loss"`
}

// LossVariant says which frames are lost and how the loss is detected.
type LossVariant struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// Mode is the engine's, 1 to 3; files from before Mode III have none.
	Mode int `json:"mode"`
	// GapNAK is CTRL.gap_nak, which Mode III ignores; TimeoutUS the NICs' time-out. All loses frames of all kinds in
	// both directions, otherwise only data on its way up is lost.
	GapNAK    bool `json:"gap_nak"`
	TimeoutUS int  `json:"timeout_us"`
	All       bool `json:"all"`
}

// LossPoint is one point of a sweep: over the loss rate of one link (rate) or over the number of lossy links (links).
// Throughputs are payload per rank in per cent of a link's rate: the network is simulated in cycles, so no clock has part in them.
type LossPoint struct {
	Sweep   string `json:"sweep"`
	Variant string `json:"variant"`
	// Rate is the fraction of frames that each of Links links loses.
	Rate  float64 `json:"rate"`
	Links int     `json:"links"`
	// Percent is the mean over the seeds, Deviation their standard deviation.
	Percent   float64 `json:"percent"`
	Deviation float64 `json:"deviation"`
	// Bound is what go-back-N leaves of the throughput without loss, Expected that less the time-outs that are needed where no NAK
	// helps: a lost retransmission and, where NAKs are lost, a lost NAK. Both are 0 where no formula is given.
	Bound    float64 `json:"bound"`
	Expected float64 `json:"expected"`
	// Paper is the published figure of the variant's mode, 0 for Mode I, which has none: its links have 100 Gbit/s.
	Paper float64 `json:"paper"`
	// Means per run: Lost frames on links, packets Resent by all ranks, and their Timeouts. Retransmitted and
	// EngineTimeouts are the engine's, in Mode III.
	Lost           float64 `json:"lost"`
	Resent         float64 `json:"resent"`
	Timeouts       float64 `json:"timeouts"`
	Retransmitted  float64 `json:"retransmitted"`
	EngineTimeouts float64 `json:"engine_timeouts"`
}

// ParseLoss reads the benchmark's JSON.
func ParseLoss(text []byte) (*Loss, error) {
	l := &Loss{}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("loss: %w", err)
	}
	return l, nil
}

// Gibi converts Gibit/s to Gbit/s: what the paper's simulation calls Gbit/s are Gibit/s.
const Gibi = 1 << 30 / 1e9

// sweeps groups the points of a variant by sweep, in the order of the file.
func (l *Loss) sweep(sweep, variant string) []LossPoint {
	var all []LossPoint
	for _, p := range l.Points {
		if p.Sweep == sweep && p.Variant == variant {
			all = append(all, p)
		}
	}
	return all
}

func percentage(x float64) string { return figure(x, "%") }

func percent(rate float64) string { return strconv.FormatFloat(100*rate, 'f', -1, 64) + " %" }

// Table is both sweeps for the terminal.
func (l *Loss) Table() string {
	var b strings.Builder
	for _, sweep := range []string{"rate", "links"} {
		for _, v := range l.Variants {
			t := newTable("loss", "links", "% of a link", "of lossless", "±", "go-back-N bound", "with time-outs", "paper, % of its links", "of its lossless", "frames lost", "resent",
				"by the engine", "time-outs")
			points := l.sweep(sweep, v.Name)
			for _, p := range points {
				bound, expected := "", ""
				if p.Bound > 0 {
					bound, expected = figure(p.Bound, ""), figure(p.Expected, "")
				}
				t.AppendRow(table.Row{percent(p.Rate), p.Links, figure(p.Percent, ""), part(p.Percent, points[0].Percent), figure(p.Deviation, ""), bound, expected,
					figure(p.Paper, ""), part(p.Paper, points[0].Paper), figure(p.Lost, ""), figure(p.Resent, ""), figure(p.Retransmitted, ""),
					figure(p.Timeouts, "")})
			}
			fmt.Fprintf(&b, "%s, %s (%s)\n%s\n", sweep, v.Name, v.Doc, t.Render())
		}
	}
	for _, sweep := range []string{"rate", "links"} {
		fmt.Fprintf(&b, "%s: goodput in %% of a link's rate, by variant\n%s\n", sweep, l.besideEachOther(sweep))
	}
	m := l.Metrics
	for _, v := range l.Variants {
		name := strings.ReplaceAll(v.Name, "-", "_")
		if _, ok := m[name+"_of_mode2"]; ok {
			fmt.Fprintf(&b, "%s: at least %s of the bound, at least %s of Mode II, %s less with 0.1 %% on one link\n", v.Name, figure(m[name+"_of_bound"], ""),
				figure(m[name+"_of_mode2"], ""), strconv.FormatFloat(100*m[name+"_drop"], 'f', 2, 64)+" %")
		}
	}
	fmt.Fprintf(&b, "%s on %s: a rank's link carries %s of its rate as payload, the engine's one stream %s a rank; packet %s cycles, round trip %s, a loss costs %s packets; %s runs of %s packets a point\n",
		l.Config, l.DUT, percentage(m["link_percent"]), percentage(m["engine_percent"]), figure(m["packet_cycles"], ""), figure(m["round_trip_cycles"], ""),
		figure(m["gobackn_packets"], ""), figure(m["seeds"], ""), figure(m["packets"], ""))
	return b.String()
}

// besideEachOther is a sweep with one column per variant, the bounds of the modes and the paper's two curves.
func (l *Loss) besideEachOther(sweep string) string {
	head := []any{"loss", "links"}
	var columns []func(p *LossPoint) float64
	var points [][]LossPoint
	add := func(name, variant string, value func(p *LossPoint) float64) {
		head, columns, points = append(head, name), append(columns, value), append(points, l.sweep(sweep, variant))
	}
	for _, v := range l.Variants {
		add(v.Name, v.Name, func(p *LossPoint) float64 { return p.Percent })
	}
	for _, v := range l.firsts() {
		add("bound of "+v.Name, v.Name, func(p *LossPoint) float64 { return p.Bound })
		if v.Mode == 1 {
			continue
		}
		add("paper, Mode "+v.roman(), v.Name, func(p *LossPoint) float64 { return p.Paper })
	}
	t := newTable(head...)
	if len(points) == 0 {
		return t.Render()
	}
	for i, p := range points[0] {
		row := table.Row{percent(p.Rate), p.Links}
		for k, value := range columns {
			text := ""
			if i < len(points[k]) {
				if x := value(&points[k][i]); x > 0 {
					text = figure(x, "")
				}
			}
			row = append(row, text)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

// firsts are the first variants of each mode, whose bound and paper's curve are shown.
func (l *Loss) firsts() []LossVariant {
	var all []LossVariant
	for _, v := range l.Variants {
		if !slices.ContainsFunc(all, func(x LossVariant) bool { return x.roman() == v.roman() }) {
			all = append(all, v)
		}
	}
	return all
}

// roman is the mode as the paper writes it.
func (v *LossVariant) roman() string {
	if v.Mode == 0 {
		return "II"
	}
	return strings.Repeat("I", v.Mode)
}

// part is x as a fraction of all.
func part(x, all float64) string { return figure(x/cmp.Or(all, 1), "") }

// Geometry of the drawing, in its own units.
const (
	lossPanel  = 420 // width and height of a panel's plot
	lossHeight = 260
	lossLeft   = 60
	lossTop    = 40
)

// SVG draws both sweeps side by side: throughput as a part of that without loss, ours by variant with bars of one deviation, the
// go-back-N bound of each mode's first variant, and the paper's curves.
func (l *Loss) SVG() []byte {
	var b strings.Builder
	width, height := 2*(lossPanel+lossLeft)+30, lossTop+lossHeight+60+18*(len(l.Variants)+2*len(l.firsts()))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for i, sweep := range []string{"rate", "links"} {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", lossLeft+i*(lossPanel+lossLeft+10), lossTop)
		l.panel(&b, sweep)
		b.WriteString("</g>\n")
	}
	y := lossTop + lossHeight + 60
	for i, s := range l.series() {
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2"%s/><text x="%d" y="%d">%s</text>`+"\n", lossLeft, y+18*i-4, lossLeft+30, y+18*i-4, s.colour,
			s.dash, lossLeft+38, y+18*i, html.EscapeString(s.label))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// lossSeries is a curve.
type lossSeries struct {
	label, variant, colour, dash string
	value                        func(p *LossPoint) float64
	bars                         bool
}

func (l *Loss) series() []lossSeries {
	colours := []string{"#1f6feb", "#2da44e", "#bf3989", "#9a6700", "#8250df", "#1b7c83", "#bc4c00", "#57606a"}
	var all []lossSeries
	for i, v := range l.Variants {
		all = append(all, lossSeries{label: v.Name + ": " + v.Doc, variant: v.Name, colour: colours[i%len(colours)], bars: true,
			value: func(p *LossPoint) float64 { return p.Percent }})
	}
	for i, v := range l.firsts() {
		dots, dashes := fmt.Sprintf(` stroke-dasharray="3 %d"`, 3+2*i), fmt.Sprintf(` stroke-dasharray="8 %d"`, 4+4*i)
		all = append(all, lossSeries{label: "bound of go-back-N for " + v.Name, variant: v.Name, colour: []string{"#1f6feb", "#8250df", "#2da44e"}[i], dash: dots,
			value: func(p *LossPoint) float64 { return p.Bound }})
		if v.Mode == 1 { // the paper has no curve of it
			continue
		}
		all = append(all, lossSeries{label: "paper, Mode " + v.roman() + ", its own simulator: selective retransmission (no bar to reach)", variant: v.Name,
			colour: []string{"#cf222e", "#ff8182"}[i], dash: dashes, value: func(p *LossPoint) float64 { return p.Paper }})
	}
	return all
}

// panel draws one sweep: x are the points of the sweep at equal distances, as in the paper; y is 0 to 1.
func (l *Loss) panel(b *strings.Builder, sweep string) {
	title := map[string]string{"rate": "one lossy link", "links": "lossy links, 0.1 % each"}[sweep] + ": throughput, as a part of that without loss"
	fmt.Fprintf(b, `<text x="%d" y="-16" text-anchor="middle" font-weight="bold">%s</text>`+"\n", lossPanel/2, title)
	y := func(part float64) float64 { return lossHeight * (1 - min(max(part, 0), 1.05)/1.05) }
	for i := 0; i <= 10; i += 2 {
		at := y(float64(i) / 10)
		fmt.Fprintf(b, `<line x1="0" y1="%.1f" x2="%d" y2="%.1f" stroke="#d0d7de"/><text x="-8" y="%.1f" text-anchor="end">%d %%</text>`+"\n", at, lossPanel, at, at+4, 10*i)
	}
	for k, s := range l.series() {
		points := l.sweep(sweep, s.variant)
		if len(points) == 0 {
			continue
		}
		x := func(i int) float64 { return 20 + float64(i)*(lossPanel-40)/float64(max(len(points)-1, 1)) }
		base := s.value(&points[0])
		if slices.ContainsFunc(points, func(p LossPoint) bool { return s.value(&p) == 0 }) || math.IsNaN(base) {
			continue
		}
		var line []string
		for i := range points {
			p := &points[i]
			at := y(s.value(p) / base)
			line = append(line, fmt.Sprintf("%.1f,%.1f", x(i), at))
			if s.bars {
				fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/><circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s</title></circle>`+"\n", x(i),
					y((p.Percent-p.Deviation)/base), x(i), y((p.Percent+p.Deviation)/base), s.colour, x(i), at, s.colour,
					html.EscapeString(fmt.Sprintf("%s, %s on %d links: %s ± %s", s.variant, percent(p.Rate), p.Links, figure(p.Percent, "%"), figure(p.Deviation, ""))))
			}
			if k == 0 {
				label := strconv.Itoa(p.Links)
				if sweep == "rate" {
					label = percent(p.Rate)
				}
				fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(i), lossHeight+18, label)
			}
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(line, " "), s.colour, s.dash)
	}
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="none" stroke="#57606a"/>`+"\n", lossPanel, lossHeight)
}
