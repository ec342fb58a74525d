// SPDX-License-Identifier: Apache-2.0

package front

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Drawing is a plot.
type Drawing struct {
	Name string
	SVG  []byte
}

// Size of a plot.
const (
	plotWidth  = 22 * vg.Centimeter
	plotHeight = 14 * vg.Centimeter
)

// Draw draws every pair of the figures of Front: the points, their error bars, and a line through the best. A pair that fewer than two
// points have is left out.
func (s *Sweep) Draw() ([]Drawing, error) {
	var all []Drawing
	for i, x := range s.Front {
		for _, y := range s.Front[i+1:] {
			d, err := s.draw(x, y)
			if err != nil {
				return nil, fmt.Errorf("sweep: draw %s over %s: %w", y, x, err)
			}
			if d != nil {
				all = append(all, *d)
			}
		}
	}
	return all, nil
}

// cloud is the points of one kind with their error bars.
type cloud struct {
	plotter.XYs
	plotter.XErrors
	plotter.YErrors
}

func (c *cloud) add(x, y Value) {
	c.XYs = append(c.XYs, plotter.XY{X: x.V, Y: y.V})
	c.XErrors = append(c.XErrors, struct{ Low, High float64 }{x.Low - x.V, x.High - x.V})
	c.YErrors = append(c.YErrors, struct{ Low, High float64 }{y.Low - y.V, y.High - y.V})
}

func (s *Sweep) draw(x, y string) (*Drawing, error) {
	mx, _ := Find(x)
	my, _ := Find(y)
	var full, estimated cloud
	var best plotter.XYs
	positive := true
	for i := range s.Points {
		p := &s.Points[i]
		vx, okx := p.Values[x]
		vy, oky := p.Values[y]
		if !okx || !oky {
			continue
		}
		positive = positive && min(vx.V, vx.Low, vy.V, vy.Low) > 0
		if p.Full {
			full.add(vx, vy)
		} else {
			estimated.add(vx, vy)
		}
		if p.Best {
			best = append(best, plotter.XY{X: vx.V, Y: vy.V})
		}
	}
	if len(full.XYs)+len(estimated.XYs) < 2 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = s.Config + ": " + my.Label + " over " + mx.Label
	p.X.Label.Text, p.Y.Label.Text = label(mx), label(my)
	if positive { // sweeps go over powers of two
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks{}, ticks{}
	}
	p.Add(plotter.NewGrid())
	blue, grey, red := color.RGBA{0x1f, 0x6f, 0xeb, 0xff}, color.RGBA{0x8c, 0x95, 0x9f, 0xff}, color.RGBA{0xcf, 0x22, 0x2e, 0xff}
	if len(best) > 0 && len(s.Front) == 2 {
		slices.SortFunc(best, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		line, err := plotter.NewLine(best)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = red, vg.Points(1.5)
		p.Add(line)
		p.Legend.Add("no other point beats these", line)
	}
	if err := scatter(p, "estimated", &estimated, grey, draw.RingGlyph{}); err != nil {
		return nil, err
	}
	if err := scatter(p, "run in full", &full, blue, draw.CircleGlyph{}); err != nil {
		return nil, err
	}
	p.Legend.Top, p.Legend.Left = true, true
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return &Drawing{Name: y + "-over-" + x, SVG: b.Bytes()}, nil
}

// ticks are 1, 2 and 5 times the powers of ten; LogTicks has labels at the powers alone, of which a sweep may meet none.
type ticks struct{}

// Ticks lists those between two values.
func (ticks) Ticks(low, high float64) []plot.Tick {
	var all []plot.Tick
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
		for n := 1.0; n < 10; n++ {
			v := n * decade
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if n == 1 || n == 2 || n == 5 {
				t.Label = strconv.FormatFloat(v, 'g', 6, 64)
			}
			all = append(all, t)
		}
	}
	return all
}

func label(m Metric) string {
	if m.Unit == "" {
		return m.Label
	}
	return m.Label + ", " + m.Unit
}

// scatter adds a cloud to a plot.
func scatter(p *plot.Plot, name string, c *cloud, colour color.Color, shape draw.GlyphDrawer) error {
	if len(c.XYs) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(c.XYs)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(3), Shape: shape}
	xs, err := plotter.NewXErrorBars(c)
	if err != nil {
		return err
	}
	ys, err := plotter.NewYErrorBars(c)
	if err != nil {
		return err
	}
	for _, style := range []*draw.LineStyle{&xs.LineStyle, &ys.LineStyle} {
		style.Color, style.Width = colour, vg.Points(0.4)
	}
	p.Add(xs, ys, s)
	p.Legend.Add(name, s)
	return nil
}
