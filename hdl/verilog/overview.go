// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"

	"incforge/hdl/graph"
)

// Stage is a column of an overview: blocks by the names that the paper gives them.
type Stage struct {
	Name   string
	Blocks []string
}

// Sizes of an overview.
const (
	wideBits      = 64 // narrower connections are left to the hover texts and to Diagram
	overviewBox   = 160
	overviewGap   = 84 // between columns
	overviewRow   = 84 // from box to box in a column
	overviewHead  = 30 // for a stage's name
	overviewPad   = 14 // of a stage's frame
	overviewLane  = 16 // between connections that pass over stages
	overviewBelow = 80 // from the stages to the row below
	labelLine     = 12 // height of a label
	labelLetter   = 7  // width of its letters
)

const overviewStyle = svgStyle + `
.stage rect { fill: #f7f9fb; stroke: #c4ccd6; stroke-width: 1; }
.stage text { fill: #55606c; font-size: 13px; }
`

// overview is a drawing in the making.
type overview struct {
	*diagram
	column map[*box]int // the last is the row below
	last   int
	frames []svgGroup
	bottom float64 // of the stages
	pitch  float64 // from block to block in the row below
	over   int     // connections that pass over stages
	shown  []*edge
	feet   map[int]int // connections that end at the foot of a stage
	bows   map[int]int // and that bow out of it from one of its blocks to another
	items  []any
	labels []spot // of connections
}

// spot is the middle of a label's line of text, and half its width.
type spot struct{ x, y, half float64 }

// Overview draws a composite's blocks by stage, the last stage as a row below the others, with streams and connections of many bits alone.
// Whatever else a block is connected with is in its hover text. Blocks that are in no stage are left out: Diagram has all of them.
func Overview(m *graph.Module, stages []Stage) ([]byte, error) {
	if m == nil || m.Composed() == nil || len(stages) < 2 {
		return nil, fmt.Errorf("overview: not a composite with stages")
	}
	o := &overview{diagram: newDiagram(m), column: map[*box]int{}, last: len(stages) - 1, feet: map[int]int{}, bows: map[int]int{}}
	columns := o.assign(stages)
	o.choose()
	o.lay(columns, stages)
	o.connectAll()
	return o.print()
}

// assign puts blocks into the stages that name them, streams into the first and the last but one, other ports into the row below.
func (o *overview) assign(stages []Stage) [][]*box {
	columns := make([][]*box, len(stages))
	put := func(b *box, i int) { o.column[b], columns[i] = i, append(columns[i], b) }
	for _, b := range o.boxes {
		if b.io && b.sub == "stream" && !b.last {
			put(b, 0)
		}
	}
	for _, b := range o.boxes {
		if b.io && b.sub != "stream" && !b.last {
			put(b, o.last)
		}
	}
	for i, s := range stages {
		for _, name := range s.Blocks {
			for _, b := range o.boxes {
				if _, done := o.column[b]; !done && !b.io && b.title == name {
					put(b, i)
				}
			}
		}
	}
	for _, b := range o.boxes {
		switch {
		case !b.io || !b.last:
		case b.sub == "stream":
			put(b, o.last-1)
		default:
			put(b, o.last)
		}
	}
	return columns
}

// choose takes the edges that are drawn, and tells the others in the hover texts of their blocks.
func (o *overview) choose() {
	inside := func(e *edge) bool {
		_, from := o.column[e.from]
		_, to := o.column[e.to]
		return from && to
	}
	width := func(e *edge) int { return max(e.bits, e.backBits) }
	drawn := map[*edge]bool{}
	for _, e := range o.edges {
		drawn[e] = inside(e) && (e.stream || width(e) >= wideBits)
	}
	// A block with narrow connections alone has its two widest.
	for _, b := range o.boxes {
		mine := slices.DeleteFunc(slices.Clone(o.edges), func(e *edge) bool { return e.from != b && e.to != b || !inside(e) })
		if _, in := o.column[b]; !in || slices.ContainsFunc(mine, func(e *edge) bool { return drawn[e] }) {
			continue
		}
		slices.SortStableFunc(mine, func(a, b *edge) int { return width(b) - width(a) })
		for _, e := range mine[:min(2, len(mine))] {
			drawn[e] = true
		}
	}
	for _, e := range o.edges {
		if drawn[e] {
			o.shown = append(o.shown, e)
			if o.passesOver(e) {
				o.over++
			}
			continue
		}
		note := func(b, other *box) { b.hover += fmt.Sprintf("\n%s %s: %s", other.title, other.sub, e.hover()) }
		note(e.from, e.to)
		note(e.to, e.from)
	}
}

// passesOver tells of a connection between stages that are not beside each other.
func (o *overview) passesOver(e *edge) bool {
	a, b := o.column[e.from], o.column[e.to]
	return a != o.last && b != o.last && max(a-b, b-a) > 1
}

// lay gives the boxes their places and draws the frames of the stages.
func (o *overview) lay(columns [][]*box, stages []Stage) {
	top := float64(margin + overviewLane*o.over)
	tallest := 0
	for _, column := range columns[:o.last] {
		tallest = max(tallest, len(column))
	}
	height := overviewHead + float64(tallest)*overviewRow
	o.bottom = top + height
	frame := func(name string, x, y, w, h float64) {
		o.frames = append(o.frames, svgGroup{Class: "stage", Items: []any{
			svgRect{X: num(x), Y: num(y), W: num(w), H: num(h), RX: "6"},
			svgText{X: num(x + w/2), Y: num(y + 20), Class: "stagename", Text: name},
		}})
	}
	place := func(b *box, x, y float64) { b.x, b.y, b.w, b.h = x, y, overviewBox, boxH }
	for i, column := range columns[:o.last] {
		x := float64(margin + i*(overviewBox+overviewGap))
		frame(stages[i].Name, x-overviewPad, top, overviewBox+2*overviewPad, height)
		for row, b := range column {
			place(b, x, top+overviewHead+float64(row)*overviewRow+(overviewRow-boxH)/2)
		}
	}
	y := o.bottom + overviewBelow
	across := float64((o.last-1)*(overviewBox+overviewGap) + overviewBox)
	frame(stages[o.last].Name, margin-overviewPad, y, across+2*overviewPad, overviewHead+overviewRow)
	below := columns[o.last]
	o.pitch = across / float64(max(1, len(below)))
	for i, b := range below {
		place(b, margin+o.pitch*(float64(i)+0.5)-overviewBox/2, y+overviewHead+(overviewRow-boxH)/2)
	}
}

// connectAll draws the edges.
func (o *overview) connectAll() {
	lane, side := 0, map[*box]int{}
	for _, e := range o.shown {
		a, b := e.from, e.to
		ca, cb := o.column[a], o.column[b]
		// Ends on one side of a box stand apart.
		height := func(x *box) float64 {
			side[x]++
			return x.y + 9 + float64((side[x]*10)%(boxH-14))
		}
		switch {
		case ca == o.last && cb == o.last:
			left, right := a, b
			if a.x > b.x {
				left, right = b, a
			}
			if right.x-left.x > o.pitch+1 { // below the blocks between them
				y := left.y + left.h
				o.path(e, fmt.Sprintf("M%s %s V%s H%s V%s", num(left.x+left.w/2), num(y), num(y+12), num(right.x+right.w/2), num(y)), left != a, (left.x+left.w+right.x)/2, y+9)
				continue
			}
			y := height(a)
			o.path(e, fmt.Sprintf("M%s %s H%s", num(left.x+left.w), num(y), num(right.x)), left != a, (left.x+left.w+right.x)/2, y-5)
		case ca == o.last || cb == o.last:
			o.toFoot(e, ca == o.last)
		case ca == cb && (a.y-b.y == overviewRow || b.y-a.y == overviewRow):
			upper, lower := a, b
			if a.y > b.y {
				upper, lower = b, a
			}
			side[upper]++
			x := a.x + a.w/2 + float64(side[upper]%3-1)*24
			o.path(e, fmt.Sprintf("M%s %s V%s", num(x), num(upper.y+upper.h), num(lower.y)), upper != a, x+26, (upper.y+upper.h+lower.y)/2+4)
		case ca == cb:
			x, ya, yb := a.x+a.w, height(a), height(b)
			o.bows[ca]++
			out := x + 20 + 14*float64(o.bows[ca])
			o.path(e, fmt.Sprintf("M%s %s C%s %s %s %s %s %s", num(x), num(ya), num(out), num(ya), num(out), num(yb), num(x), num(yb)), false,
				x+0.75*(out-x)+8, (ya+yb)/2+8-16*float64(o.bows[ca]%3))
		case o.passesOver(e):
			lane++
			y := float64(margin) + float64(lane-1)*overviewLane
			xa, xb := a.x+a.w+10+float64(lane)*4, b.x-10-float64(lane)*4
			if cb < ca {
				xa, xb = a.x-10-float64(lane)*4, b.x+b.w+10+float64(lane)*4
			}
			ya, yb := height(a), height(b)
			from, to := a.x+a.w, b.x
			if cb < ca {
				from, to = a.x, b.x+b.w
			}
			o.path(e, fmt.Sprintf("M%s %s H%s V%s H%s V%s H%s", num(from), num(ya), num(xa), num(y), num(xb), num(yb), num(to)), false, (xa+xb)/2, y-4)
		default:
			xa, xb := a.x+a.w, b.x
			if cb < ca {
				xa, xb = a.x, b.x+b.w
			}
			ya, yb := height(a), height(b)
			mid := (xa + xb) / 2
			o.path(e, fmt.Sprintf("M%s %s C%s %s %s %s %s %s", num(xa), num(ya), num(mid), num(ya), num(mid), num(yb), num(xb), num(yb)), false, mid, (ya+yb)/2-5)
		}
	}
}

// toFoot draws a connection with a block of the row below to the foot of the stage that its other end is in.
func (o *overview) toFoot(e *edge, fromBelow bool) {
	below, other := e.to, e.from
	if fromBelow {
		below, other = e.from, e.to
	}
	c := o.column[other]
	o.feet[c]++
	x := other.x + float64(o.feet[c])*52 - 40
	lean := min(max((x-below.x-below.w/2)*0.12, -below.w/2+12), below.w/2-12)
	start := below.x + below.w/2 + lean
	middle := (o.bottom + below.y) / 2
	d := fmt.Sprintf("M%s %s C%s %s %s %s %s %s", num(start), num(below.y), num(start), num(middle), num(x), num(middle), num(x), num(o.bottom))
	o.path(e, d, !fromBelow, x+22, o.bottom+14)
}

// path adds a line; turned tells that it is drawn from the edge's end to its beginning.
func (o *overview) path(e *edge, d string, turned bool, labelX, labelY float64) {
	class, head := "bundle", "url(#wire)"
	label := fmt.Sprintf("%d b", max(e.bits, e.backBits))
	if e.stream {
		class, head, label = "stream", "url(#stream)", e.label
	}
	p := svgPath{Class: class, D: d}
	if turned {
		p.Start = head
	} else {
		p.End = head
	}
	labelY = o.apart(label, labelX, labelY)
	title := e.from.title + " to " + e.to.title + "\n" + e.hover()
	o.items = append(o.items, svgGroup{Class: "edge", Title: title, Items: []any{p,
		svgText{X: num(labelX), Y: num(labelY), Class: "label", Text: label}}})
}

// apart returns the height nearest to y at which a label covers none that is there already.
func (o *overview) apart(label string, x, y float64) float64 {
	s := spot{x, y, labelLetter * float64(len(label)) / 2}
	covers := func(t spot) bool {
		return math.Abs(s.x-t.x) < s.half+t.half && math.Abs(s.y-t.y) < labelLine
	}
	for i := 1; slices.ContainsFunc(o.labels, covers); i++ { // up, down, further up, ...
		step := float64((i+1)/2) * labelLine
		if i%2 == 1 {
			step = -step
		}
		s.y = y + step
	}
	o.labels = append(o.labels, s)
	return s.y
}

// print puts the drawing together.
func (o *overview) print() ([]byte, error) {
	right, bottom := 560.0, 0.0
	for b := range o.column {
		right, bottom = max(right, b.x+b.w+margin), max(bottom, b.y+b.h+margin+overviewPad)
	}
	doc := svgDoc{
		ViewBox: "0 0 " + num(right) + " " + num(bottom+legendH), Width: num(right), Height: num(bottom + legendH),
		Font:  "DejaVu Sans, Verdana, sans-serif",
		Title: o.m.Name + ": " + sentence(o.m.Purpose),
		Style: overviewStyle,
		Defs:  svgDefs{Markers: []svgMarker{arrow("stream", "streamhead", 13), arrow("wire", "wirehead", 8)}},
	}
	doc.Items = append(doc.Items, svgRect{X: "0", Y: "0", W: num(right), H: num(bottom + legendH), Class: "paper"})
	for _, f := range o.frames {
		doc.Items = append(doc.Items, f)
	}
	streams := func(want bool) {
		for i, e := range o.shown {
			if e.stream == want {
				doc.Items = append(doc.Items, o.items[i])
			}
		}
	}
	streams(false)
	streams(true)
	for _, b := range o.boxes {
		if _, in := o.column[b]; in {
			doc.Items = append(doc.Items, b.draw())
		}
	}
	doc.Items = append(doc.Items, slices.Concat(legend(bottom)[:2], []any{
		svgPath{Class: "bundle", D: fmt.Sprintf("M%d %s h40", margin+200, num(bottom+10)), End: "url(#wire)"},
		svgText{X: num(margin + 248), Y: num(bottom + 14), Class: "legend", Text: fmt.Sprintf("%d bits and more, or a block's widest; the whole diagram has the others", wideBits)},
	})...)
	text, err := xml.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("overview of %s: %w", o.m.Name, err)
	}
	return append(text, '\n'), nil
}
