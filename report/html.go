// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"

	"incforge/fpga"
)

//go:embed page.tmpl
var pageText string

//go:embed page.css
var style string

// Geometry of the plots, in SVG units: bars begin at barLeft and the longest has barWidth; rows are rowHeight apart.
const (
	barLeft      = 230
	barWidth     = 360
	rowHeight    = 24
	whiskerWidth = 160
)

// WriteHTML draws the report as one self-contained page.
func (r *Report) WriteHTML(w io.Writer) error {
	unit := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	t, err := template.New("page").Funcs(template.FuncMap{
		"clockColumn": func() int { return len(fpga.Columns()) - 1 },
		"height":      func(b []barView) int { return len(b)*rowHeight + 4 },
		"row":         func(i, offset int) int { return i*rowHeight + offset },
		"bar":         func(width float64) string { return unit(max(1, width*barWidth/100)) },
		"past":        func(width float64) string { return unit(barLeft + max(1, width*barWidth/100) + 8) },
		"heat":        func(h int) string { return strconv.FormatFloat(float64(h)/100*0.75, 'f', 2, 64) },
		"whisker":     func(x float64) string { return unit(x * whiskerWidth / 100) },
		"span":        func(low, high float64) string { return unit((high - low) * whiskerWidth / 100) },
	}).Parse(sweepText + pageText)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	if err := t.Execute(w, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
