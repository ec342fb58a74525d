// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plot draws series over the same places.
type Plot struct {
	Title  string   `yaml:"title"`
	X      string   `yaml:"x"`
	Y      string   `yaml:"y"`
	Ticks  []string `yaml:"ticks"` // names of the places
	Bars   bool     `yaml:"bars"`  // and not lines
	Log    bool     `yaml:"log"`   // the logarithm of the figures is drawn
	Series []Series `yaml:"series"`
}

// Series is a line or a set of bars: the paper's figures, or of ours records' by name.
type Series struct {
	Name  string    `yaml:"name"`
	Paper []float64 `yaml:"paper"`
	Ours  []string  `yaml:"ours"`

	values []float64
}

// fill takes the figures of ours from their records.
func (g *Plot) fill(p *Page) error {
	var from []string
	for i := range g.Series {
		s := &g.Series[i]
		s.values = s.Paper
		for _, name := range s.Ours {
			v, _, err := p.value(name, &from)
			if err != nil {
				return fmt.Errorf("plot %s: %w", g.Title, err)
			}
			s.values = append(s.values, v)
		}
		if len(s.values) != len(g.Ticks) {
			return fmt.Errorf("%w: plot %s: %s has %d figures for %d places", errPage, g.Title, s.Name, len(s.values), len(g.Ticks))
		}
		if g.Log {
			for i, v := range s.values {
				s.values[i] = math.Log10(max(v, 1))
			}
		}
	}
	return nil
}

// Size of a plot. It is scaled to the width of the page, which is 343 pixels on a small phone: so many points are 12 cm, and text keeps its size there.
const (
	plotWidth  = 12 * vg.Centimeter
	plotHeight = 8.5 * vg.Centimeter
	plotEdge   = 0.4 * vg.Centimeter // kept free
	barSpace   = 8 * vg.Centimeter   // for all bars together
	tickSpace  = 40                  // letters that stand beside each other below a plot
)

// ticks are the names of the places, in two lines where one would run into the next; turned, in one, where a word would.
func (g *Plot) ticks() (names []string, turned bool) {
	letters := tickSpace / len(g.Ticks)
	for _, name := range g.Ticks {
		if words := strings.Fields(name); len(name) > letters && len(words) > 1 {
			first := (len(words) + 1) / 2
			name = strings.Join(words[:first], " ") + "\n" + strings.Join(words[first:], " ")
		}
		for line := range strings.SplitSeq(name, "\n") {
			if len(line) > letters {
				return g.Ticks, true
			}
		}
		names = append(names, name)
	}
	return names, false
}

// SVG draws the plot.
func (g *Plot) SVG() ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = g.Title, g.X, g.Y
	// Over the bars, under the lines; on the left, where an entry's text begins beside its mark, however wide a reader's font is.
	p.Legend.Top, p.Legend.Left = g.Bars, true
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	p.Legend.Padding = vg.Points(2)
	p.Add(plotter.NewGrid())
	highest := 0.0
	width := barSpace / vg.Length(len(g.Ticks)*(len(g.Series)+1))
	for i, s := range g.Series {
		for _, v := range s.values {
			highest = max(highest, v)
		}
		if g.Bars {
			bars, err := plotter.NewBarChart(plotter.Values(s.values), width)
			if err != nil {
				return nil, fmt.Errorf("evidence: plot %s: %w", g.Title, err)
			}
			bars.Color, bars.LineStyle.Width = plotutil.Color(i), 0
			bars.Offset = width * (vg.Length(i) - vg.Length(len(g.Series)-1)/2)
			p.Add(bars)
			p.Legend.Add(s.Name, bars)
			continue
		}
		var points plotter.XYs
		for x, v := range s.values {
			points = append(points, plotter.XY{X: float64(x), Y: v})
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("evidence: plot %s: %w", g.Title, err)
		}
		line.Color, line.Width, dots.Color, dots.Shape = plotutil.Color(i), vg.Points(1.5), plotutil.Color(i), plotutil.Shape(i)
		if len(s.Paper) > 0 {
			line.Dashes = plotutil.Dashes(1)
		}
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
	}
	names, turned := g.ticks()
	p.NominalX(names...)
	if turned {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/6, text.XRight, text.YCenter
	}
	p.Y.Min, p.Y.Max = 0, highest*1.08
	if g.Bars {
		p.X.Min, p.X.Max = -0.6, float64(len(g.Ticks))-0.4
		p.Y.Max = highest * (1.1 + 0.09*float64(len(g.Series))) // room for the legend
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(canvas), plotEdge, -3*plotEdge, plotEdge, -plotEdge))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("evidence: plot %s: %w", g.Title, err)
	}
	svg := b.String()[max(0, strings.Index(b.String(), "<svg")):]
	return []byte(strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}
