// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// The elements of SVG that the diagram needs.
type (
	svgDoc struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		ViewBox string   `xml:"viewBox,attr"`
		Width   string   `xml:"width,attr"`
		Height  string   `xml:"height,attr"`
		Font    string   `xml:"font-family,attr"`
		Title   string   `xml:"title"`
		Style   string   `xml:"style"`
		Defs    svgDefs  `xml:"defs"`
		Items   []any
	}
	svgDefs struct {
		Markers []svgMarker `xml:"marker"`
	}
	svgMarker struct {
		ID     string  `xml:"id,attr"`
		Box    string  `xml:"viewBox,attr"`
		RefX   string  `xml:"refX,attr"`
		RefY   string  `xml:"refY,attr"`
		W      string  `xml:"markerWidth,attr"`
		H      string  `xml:"markerHeight,attr"`
		Units  string  `xml:"markerUnits,attr"`
		Orient string  `xml:"orient,attr"`
		Path   svgPath `xml:"path"`
	}
	svgGroup struct {
		XMLName xml.Name `xml:"g"`
		Class   string   `xml:"class,attr"`
		Title   string   `xml:"title,omitempty"`
		Items   []any
	}
	svgRect struct {
		XMLName xml.Name `xml:"rect"`
		X       string   `xml:"x,attr"`
		Y       string   `xml:"y,attr"`
		W       string   `xml:"width,attr"`
		H       string   `xml:"height,attr"`
		RX      string   `xml:"rx,attr,omitempty"`
		Class   string   `xml:"class,attr,omitempty"`
	}
	svgPath struct {
		XMLName xml.Name `xml:"path"`
		Class   string   `xml:"class,attr,omitempty"`
		D       string   `xml:"d,attr"`
		Start   string   `xml:"marker-start,attr,omitempty"`
		End     string   `xml:"marker-end,attr,omitempty"`
	}
	svgText struct {
		XMLName xml.Name `xml:"text"`
		X       string   `xml:"x,attr"`
		Y       string   `xml:"y,attr"`
		Class   string   `xml:"class,attr"`
		Text    string   `xml:",chardata"`
	}
)

const svgStyle = `
rect.paper { fill: #ffffff; }
.block rect { fill: #eef4fb; stroke: #2f5d8c; stroke-width: 1.3; }
.io rect { fill: #f6f3ea; stroke: #8a7a45; stroke-width: 1.1; }
text { fill: #1c2733; text-anchor: middle; }
.title { font-size: 13px; font-weight: bold; }
.sub { font-size: 11px; fill: #55606c; }
path { fill: none; }
path.stream { stroke: #1f6f54; stroke-width: 3; }
path.wires { stroke: #98a2ae; stroke-width: 1; }
path.bundle { stroke: #6a7685; stroke-width: 1.4; }
.label { font-size: 11px; fill: #134a38; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
.thin { font-size: 10px; fill: #55606c; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
.legend { font-size: 11px; fill: #55606c; text-anchor: start; }
path.streamhead { fill: #1f6f54; }
path.wirehead { fill: #6a7685; }
`

// num prints a coordinate, to a tenth: enough for a drawing, and the same bytes
// wherever it is computed.
func num(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

func arrow(id, class string, size int) svgMarker {
	return svgMarker{
		ID: id, Box: "0 0 10 10", RefX: "9", RefY: "5", W: fmt.Sprint(size), H: fmt.Sprint(size),
		Units: "userSpaceOnUse", Orient: "auto-start-reverse",
		Path: svgPath{Class: class, D: "M0 0 L10 5 L0 10 z"},
	}
}

// draw prints the placed diagram.
func (d *diagram) draw() ([]byte, error) {
	right, bottom := 0.0, 0.0
	for _, column := range d.layers {
		for _, b := range column {
			right, bottom = max(right, b.x+b.w+margin), max(bottom, b.y+b.h+margin)
		}
	}
	right = max(right, 560)
	height := bottom + legendH
	doc := svgDoc{
		ViewBox: "0 0 " + num(right) + " " + num(height), Width: num(right), Height: num(height),
		Font:  "DejaVu Sans, Verdana, sans-serif",
		Title: d.m.Name + ": " + sentence(d.m.Purpose),
		Style: svgStyle,
		Defs:  svgDefs{Markers: []svgMarker{arrow("stream", "streamhead", 13), arrow("wire", "wirehead", 8)}},
	}
	doc.Items = append(doc.Items, svgRect{X: "0", Y: "0", W: num(right), H: num(height), Class: "paper"})
	// Thin lines first, so that streams lie above them.
	for _, streams := range []bool{false, true} {
		for _, e := range d.edges {
			if e.stream == streams {
				doc.Items = append(doc.Items, e.line())
			}
		}
	}
	for _, b := range d.boxes {
		doc.Items = append(doc.Items, b.draw())
	}
	for _, e := range d.edges {
		if e.label != "" {
			doc.Items = append(doc.Items, e.text())
		}
	}
	doc.Items = append(doc.Items, legend(bottom)...)
	text, err := xml.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("diagram of %s: %w", d.m.Name, err)
	}
	return append(text, '\n'), nil
}

func (b *box) draw() svgGroup {
	g := svgGroup{Class: "block", Title: b.hover}
	rx := "3"
	if b.io {
		g.Class, rx = "io", num(b.h/3)
	}
	mid, cy := num(b.x+b.w/2), b.y+b.h/2
	g.Items = []any{
		svgRect{X: num(b.x), Y: num(b.y), W: num(b.w), H: num(b.h), RX: rx},
		svgText{X: mid, Y: num(cy - 2), Class: "title", Text: b.title},
		svgText{X: mid, Y: num(cy + 14), Class: "sub", Text: b.sub},
	}
	return g
}

// line draws an edge through the hidden boxes on its way: level across columns,
// bent between them.
func (e *edge) line() svgGroup {
	var p strings.Builder
	for i, s := range e.path {
		x0, x1 := s.a.x+s.a.w, s.b.x
		if i == 0 {
			fmt.Fprintf(&p, "M%s %s", num(x0), num(s.ya))
		} else {
			fmt.Fprintf(&p, " L%s %s", num(x0), num(s.ya))
		}
		bend := (x1 - x0) / 2
		fmt.Fprintf(&p, " C%s %s %s %s %s %s", num(x0+bend), num(s.ya), num(x1-bend), num(s.yb), num(x1), num(s.yb))
	}
	path := svgPath{Class: "wires", D: p.String()}
	head := "url(#wire)"
	switch {
	case e.stream:
		path.Class, head = "stream", "url(#stream)"
	case e.label != "":
		path.Class = "bundle"
	}
	// One bit back is the ready of a handshake and no arrow's worth.
	both := !e.stream && e.backBits > 1
	if !e.back || both {
		path.End = head
	}
	if e.back || both {
		path.Start = head
	}
	return svgGroup{Class: "edge", Title: e.hover(), Items: []any{path}}
}

func (e *edge) hover() string {
	if e.stream {
		return strings.Join(e.signals, "\n")
	}
	return fmt.Sprintf("%d bits, %d back: %s", e.bits, e.backBits, strings.Join(e.signals, " "))
}

// text puts the label into the first gap between columns, above the line.
func (e *edge) text() svgText {
	s := e.path[0]
	class := "thin"
	if e.stream {
		class = "label"
	}
	return svgText{
		X: num((s.a.x + s.a.w + s.b.x) / 2), Y: num((s.ya+s.yb)/2 - 5), Class: class, Text: e.label,
	}
}

func legend(y float64) []any {
	item := func(x float64, class, marker, text string) []any {
		return []any{
			svgPath{Class: class, D: fmt.Sprintf("M%s %s h40", num(x), num(y+10)), End: marker},
			svgText{X: num(x + 48), Y: num(y + 14), Class: "legend", Text: text},
		}
	}
	out := item(margin, "stream", "url(#stream)", "stream, bits of data")
	out = append(out, item(margin+200, "bundle", "url(#wire)", "fields")...)
	return append(out, item(margin+320, "wires", "url(#wire)", "other signals")...)
}
