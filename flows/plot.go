// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"bytes"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Draw draws for every case which part of the jobs was over after which time.
func (r *Result) Draw() ([]byte, error) {
	p := plot.New()
	p.Title.Text = r.Config + ": jobs by completion time"
	p.X.Label.Text, p.Y.Label.Text = "completion time, s", "part of the jobs"
	p.Add(plotter.NewGrid())
	for i, c := range r.Cases {
		var times []float64
		for _, j := range c.Jobs {
			times = append(times, j.Seconds)
		}
		slices.Sort(times)
		steps := plotter.XYs{{X: 0, Y: 0}}
		for n, t := range times {
			steps = append(steps, plotter.XY{X: t, Y: float64(n+1) / float64(len(times))})
		}
		line, err := plotter.NewLine(steps)
		if err != nil {
			return nil, fmt.Errorf("flows: draw %s: %w", c.key(), err)
		}
		line.StepStyle, line.Color, line.Width = plotter.PostStep, plotutil.Color(i), vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(c.key(), line)
	}
	p.Legend.Left = false
	canvas := vgsvg.New(22*vg.Centimeter, 14*vg.Centimeter)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("flows: draw: %w", err)
	}
	return b.Bytes(), nil
}
