// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/graph"
)

// Sizes of the diagram, in SVG user units.
const (
	charW     = 6.6 // width of a character of the small font, generously
	titleW    = 7.6 // width of a character of the bold font
	minBoxW   = 110 // narrowest block
	boxH      = 48  // block with one edge a side
	pinPitch  = 13  // distance of two edges at a block's side
	rowGap    = 22  // between blocks of a column
	columnGap = 92  // between columns: room for the labels
	margin    = 24  // round everything
	legendH   = 34  // below everything
	sweeps    = 24  // rounds of ordering and of straightening
)

// Diagram draws a composite as SVG: blocks with the names the paper gives them, thick
// lines for streams with their data width, thin ones for everything else (hover shows
// the signals). Clocks and resets are left out. Beats flow from left to right.
func Diagram(m *graph.Module) ([]byte, error) {
	if m == nil || m.Composed() == nil {
		return nil, fmt.Errorf("diagram: not a composite")
	}
	d := newDiagram(m)
	d.rank()
	d.splitLong()
	d.order()
	d.place()
	return d.draw()
}

// box is a block, a bundle of the composite's own ports, or (hidden) the place
// where a long edge crosses a column.
type box struct {
	title, sub, hover string
	io, hidden        bool
	last              bool // belongs into the last column

	layer, index int
	x, y, w, h   float64
	in, out      []*segmentEdge
}

// edge joins two boxes.
type edge struct {
	from, to *box
	stream   bool
	label    string
	signals  []string
	bits     int // of an edge of wires, from from to to
	backBits int // and the other way

	back bool // drawn against the direction of the layout, to break a cycle
	path []*segmentEdge
}

// segmentEdge is the part of an edge between two neighbouring columns.
type segmentEdge struct {
	edge   *edge
	a, b   *box
	ya, yb float64
}

type diagram struct {
	m      *graph.Module
	boxes  []*box
	edges  []*edge
	layers [][]*box
	byInst map[*graph.Instance]*box
	byPort map[string]*box // composite's port name to its box
}

func newDiagram(m *graph.Module) *diagram {
	d := &diagram{m: m, byInst: map[*graph.Instance]*box{}, byPort: map[string]*box{}}
	for _, s := range m.Streams {
		b := &box{title: s.Name, sub: "stream", hover: s.Doc, io: true, last: s.Dir == graph.Out}
		d.boxes = append(d.boxes, b)
		for _, p := range m.StreamPorts(s.Name) {
			d.byPort[p.Name] = b
		}
	}
	for _, inst := range m.Composed().Instances {
		title := inst.Module.Block
		if title == "" {
			title = inst.Module.Name
		}
		b := &box{title: title, sub: inst.Name, hover: instanceHover(inst)}
		d.boxes = append(d.boxes, b)
		d.byInst[inst] = b
	}
	d.groupPorts()
	d.connect()
	d.boxes = slices.DeleteFunc(d.boxes, func(b *box) bool {
		return !slices.ContainsFunc(d.edges, func(e *edge) bool { return e.from == b || e.to == b }) && b.io
	})
	for _, b := range d.boxes {
		b.w = max(minBoxW, titleW*float64(len(b.title))+20, charW*float64(len(b.sub))+20)
		b.h = boxH
	}
	return d
}

func instanceHover(inst *graph.Instance) string {
	text := inst.Module.Name
	for _, p := range inst.Module.Params {
		text += fmt.Sprintf(" %s=%d", p.Name, p.Value)
	}
	if p := sentence(inst.Module.Purpose); p != "" {
		text += "\n" + p
	}
	if l := sentence(inst.Module.Latency); l != "" {
		text += "\nLatency: " + l
	}
	return text
}

// groupPorts makes one box of the ports that share the words before their last
// underscore. The box stands left if most of its ports are inputs.
func (d *diagram) groupPorts() {
	type group struct {
		box     *box
		in, out int
		names   []string
	}
	groups := map[string]*group{}
	var order []*group
	for _, p := range d.m.Ports {
		if d.byPort[p.Name] != nil || d.isClockOrReset(p) {
			continue
		}
		key := p.Name
		if i := strings.LastIndexByte(key, '_'); i > 0 {
			key = key[:i]
		}
		g := groups[key]
		if g == nil {
			g = &group{box: &box{title: key, sub: "ports", io: true}}
			groups[key] = g
			order = append(order, g)
			d.boxes = append(d.boxes, g.box)
		}
		if p.Dir == graph.In {
			g.in++
		} else {
			g.out++
		}
		g.names = append(g.names, p.Name)
		d.byPort[p.Name] = g.box
	}
	for _, g := range order {
		g.box.last = g.out > g.in
		g.box.hover = strings.Join(g.names, " ")
		if len(g.names) == 1 {
			g.box.title, g.box.sub = g.names[0], "port"
		}
	}
}

// isClockOrReset tells the ports that every clocked instance gets: inputs of one
// bit that go to like-named inputs only.
func (d *diagram) isClockOrReset(p graph.Port) bool {
	if p.Dir != graph.In || p.Width != 1 {
		return false
	}
	found := false
	for _, inst := range d.m.Composed().Instances {
		for _, q := range inst.Module.Ports {
			if q.Dir != graph.In {
				continue
			}
			for _, part := range d.m.Composed().Drivers(inst, q.Name) {
				if part.Inst == nil && part.Port == p.Name {
					if q.Name != p.Name {
						return false
					}
					found = true
				}
			}
		}
	}
	return found
}

// boxOf returns the box of a port, nil for a clock or reset.
func (d *diagram) boxOf(inst *graph.Instance, port string) *box {
	if inst != nil {
		return d.byInst[inst]
	}
	return d.byPort[port]
}

// connect makes one edge a stream link, and one edge for all other wires between
// two boxes, named after its bundles if it has any.
func (d *diagram) connect() {
	s := d.m.Composed()
	inStream := map[net]bool{}
	for _, l := range s.Links {
		e := &edge{
			from: d.boxOf(l.From, l.FromStream+"_tvalid"), to: d.boxOf(l.To, l.ToStream+"_tvalid"),
			stream: true, label: dataLabel(max(l.Shape.Data, l.Shape.Side)),
			signals: []string{l.FromStream + " to " + l.ToStream + ": " + shape(l.Shape)},
		}
		d.edges = append(d.edges, e)
		for _, p := range streamSinks(l) {
			inStream[p] = true
		}
	}
	wires := map[[2]*box]*edge{}
	pair := func(from, to *box) *edge {
		if e := wires[[2]*box{from, to}]; e != nil {
			return e
		}
		return wires[[2]*box{to, from}]
	}
	add := func(inst *graph.Instance, p graph.Port) {
		if inStream[net{inst, p.Name}] {
			return
		}
		to := d.boxOf(inst, p.Name)
		for _, part := range s.Drivers(inst, p.Name) {
			from := d.boxOf(part.Inst, part.Port)
			if part.IsConst() || from == nil || to == nil || from == to {
				continue
			}
			e := pair(from, to)
			if e == nil {
				e = &edge{from: from, to: to}
				wires[[2]*box{from, to}] = e
				d.edges = append(d.edges, e)
			}
			if e.from == from {
				e.bits += part.Width()
			} else {
				e.backBits += part.Width()
			}
			if !slices.Contains(e.signals, part.Port) {
				e.signals = append(e.signals, part.Port)
			}
		}
	}
	for _, inst := range s.Instances {
		for _, p := range inst.Module.Ports {
			if p.Dir == graph.In {
				add(inst, p)
			}
		}
	}
	for _, p := range d.m.Ports {
		if p.Dir == graph.Out {
			add(nil, p)
		}
	}
	for _, e := range d.edges {
		if !e.stream && e.backBits > e.bits {
			e.turn()
		}
	}
	d.nameBundles(pair)
	d.ownStreams()
}

// turn makes the edge run the other way.
func (e *edge) turn() {
	e.from, e.to = e.to, e.from
	e.bits, e.backBits = e.backBits, e.bits
}

func dataLabel(bits int) string {
	if bits == 0 {
		return ""
	}
	return fmt.Sprintf("%d b", bits)
}

// nameBundles labels the edges of wires with the prefixes that were linked. A
// bundle that carries beats, PREFIXdata with PREFIXvalid, is drawn as a stream.
func (d *diagram) nameBundles(pair func(from, to *box) *edge) {
	names := map[*edge][]string{}
	for _, b := range d.m.Composed().Bundles {
		from, to := d.byInst[b.From], d.byInst[b.To]
		if from == nil || to == nil {
			continue
		}
		e := pair(from, to)
		if e == nil {
			continue
		}
		data, _ := b.From.Module.Port(b.Prefix + "data")
		if valid, ok := b.From.Module.Port(b.Prefix + "valid"); ok && valid.Dir == graph.Out && data.Width > 1 && data.Dir == graph.Out && !e.stream {
			if e.from != from {
				e.turn()
			}
			e.stream, e.label = true, dataLabel(data.Width)
		}
		if name := strings.TrimSuffix(b.Prefix, "_"); !slices.Contains(names[e], name) {
			names[e] = append(names[e], name)
		}
	}
	for _, e := range d.edges {
		if !e.stream {
			e.label = strings.Join(names[e], ", ")
		}
	}
}

// ownStreams draws a stream of the composite as one even where its signals are
// connected one by one.
func (d *diagram) ownStreams() {
	for _, s := range d.m.Streams {
		b := d.byPort[s.Name+"_tvalid"]
		for _, e := range d.edges {
			if e.stream || e.from != b && e.to != b {
				continue
			}
			if (s.Dir == graph.In) != (e.from == b) {
				e.turn()
			}
			e.stream, e.label = true, dataLabel(d.m.ShapeOf(s.Name).Data)
		}
	}
}

// streamSinks returns the ports that a stream link drives on either side.
func streamSinks(l graph.StreamLink) []net {
	out := []net{{l.From, l.FromStream + "_tready"}}
	for _, p := range graph.StreamPorts(l.ToStream, graph.In, l.Shape) {
		if p.Dir == graph.In {
			out = append(out, net{l.To, p.Name})
		}
	}
	return out
}

// rank gives every box a column: right of all it is fed from. Edges that would
// close a cycle are turned round; streams choose their direction first.
func (d *diagram) rank() {
	succ := map[*box][]*box{}
	reaches := func(from, to *box) bool {
		seen := map[*box]bool{}
		stack := []*box{from}
		for len(stack) > 0 {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if b == to {
				return true
			}
			if !seen[b] {
				seen[b] = true
				stack = append(stack, succ[b]...)
			}
		}
		return false
	}
	byWeight := slices.Clone(d.edges)
	slices.SortStableFunc(byWeight, func(a, b *edge) int {
		return cmp.Or(weight(b)-weight(a), b.bits-a.bits)
	})
	for _, e := range byWeight {
		if reaches(e.to, e.from) {
			e.back = true
			succ[e.to] = append(succ[e.to], e.from)
		} else {
			succ[e.from] = append(succ[e.from], e.to)
		}
	}
	// Longest path; the graph has no cycle now, so that this ends.
	last := 0
	for changed := true; changed; {
		changed = false
		for _, b := range d.boxes {
			for _, n := range succ[b] {
				if n.layer <= b.layer {
					n.layer = b.layer + 1
					changed = true
				}
			}
			last = max(last, b.layer)
		}
	}
	// What only feeds others stands directly before them, outputs stand last.
	for range d.boxes {
		for _, b := range d.boxes {
			if b.last && len(succ[b]) == 0 {
				b.layer = last
				continue
			}
			if fed := slices.ContainsFunc(d.edges, func(e *edge) bool { return e.head() == b }); fed || len(succ[b]) == 0 {
				continue
			}
			next := last
			for _, n := range succ[b] {
				next = min(next, n.layer-1)
			}
			b.layer = max(b.layer, next)
		}
	}
}

func weight(e *edge) int {
	switch {
	case e.from.io && !e.from.last || e.to.io && e.to.last:
		return 3 // what enters stands left, what leaves stands right
	case e.stream:
		return 2
	case e.label != "":
		return 1
	default:
		return 0
	}
}

// tail and head are the edge's ends in the direction of the layout.
func (e *edge) tail() *box {
	if e.back {
		return e.to
	}
	return e.from
}

func (e *edge) head() *box {
	if e.back {
		return e.from
	}
	return e.to
}

// splitLong puts a hidden box into every column that an edge crosses.
func (d *diagram) splitLong() {
	layers := 0
	for _, b := range d.boxes {
		layers = max(layers, b.layer+1)
	}
	d.layers = make([][]*box, layers)
	for _, b := range d.boxes {
		d.layers[b.layer] = append(d.layers[b.layer], b)
	}
	for _, e := range d.edges {
		at := e.tail()
		for l := at.layer + 1; l < e.head().layer; l++ {
			h := &box{hidden: true, layer: l, h: 4}
			d.layers[l] = append(d.layers[l], h)
			d.join(e, at, h)
			at = h
		}
		d.join(e, at, e.head())
	}
	for _, column := range d.layers {
		for i, b := range column {
			b.index = i
			if !b.hidden {
				b.h = max(b.h, pinPitch*float64(max(len(b.in), len(b.out))+1))
			}
		}
	}
}

func (d *diagram) join(e *edge, a, b *box) {
	s := &segmentEdge{edge: e, a: a, b: b}
	e.path = append(e.path, s)
	a.out = append(a.out, s)
	b.in = append(b.in, s)
}

// order sorts each column by the mean place of its neighbours, to and fro, and
// keeps the order with the fewest crossings.
func (d *diagram) order() {
	best, bestOrder := d.crossings(), d.snapshot()
	for round := range sweeps {
		if round%2 == 0 {
			for _, column := range d.layers {
				sortByMean(column, func(b *box) []float64 { return indices(b.in, func(s *segmentEdge) *box { return s.a }) })
			}
		} else {
			for _, column := range slices.Backward(d.layers) {
				sortByMean(column, func(b *box) []float64 { return indices(b.out, func(s *segmentEdge) *box { return s.b }) })
			}
		}
		if n := d.crossings(); n < best {
			best, bestOrder = n, d.snapshot()
		}
	}
	for l, column := range bestOrder {
		d.layers[l] = column
		for i, b := range column {
			b.index = i
		}
	}
}

func (d *diagram) snapshot() [][]*box {
	out := make([][]*box, len(d.layers))
	for i, column := range d.layers {
		out[i] = slices.Clone(column)
	}
	return out
}

func indices(segs []*segmentEdge, other func(*segmentEdge) *box) []float64 {
	var out []float64
	for _, s := range segs {
		out = append(out, float64(other(s).index))
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func sortByMean(column []*box, neighbours func(*box) []float64) {
	key := map[*box]float64{}
	for _, b := range column {
		key[b] = float64(b.index)
		if n := neighbours(b); len(n) > 0 {
			key[b] = mean(n)
		}
	}
	slices.SortStableFunc(column, func(a, b *box) int { return cmp.Compare(key[a], key[b]) })
	for i, b := range column {
		b.index = i
	}
}

func (d *diagram) crossings() int {
	n := 0
	for _, column := range d.layers {
		var segs []*segmentEdge
		for _, b := range column {
			segs = append(segs, b.out...)
		}
		for i, s := range segs {
			for _, t := range segs[i+1:] {
				if (s.a.index-t.a.index)*(s.b.index-t.b.index) < 0 {
					n++
				}
			}
		}
	}
	return n
}

// place gives coordinates: columns as wide as their widest box, boxes near the
// mean of their neighbours without overlap, edges spread over the boxes' sides.
func (d *diagram) place() {
	x := float64(margin)
	for _, column := range d.layers {
		widest, y := 0.0, float64(margin)
		for _, b := range column {
			widest = max(widest, b.w)
			b.y = y
			y += b.h + rowGap
		}
		for _, b := range column {
			b.x = x
			if b.hidden {
				b.w = widest
			} else {
				b.x += (widest - b.w) / 2
			}
		}
		x += widest + columnGap
	}
	for range sweeps {
		for _, column := range d.layers {
			settle(column)
		}
		for _, column := range slices.Backward(d.layers) {
			settle(column)
		}
	}
	top := 1e9
	for _, b := range d.boxes {
		top = min(top, b.y)
	}
	for _, column := range d.layers {
		for _, b := range column {
			top = min(top, b.y)
		}
	}
	for _, column := range d.layers {
		for _, b := range column {
			b.y += margin - top
		}
	}
	for _, column := range d.layers {
		for _, b := range column {
			spread(b, b.in, func(s *segmentEdge) float64 { return s.a.y + s.a.h/2 }, func(s *segmentEdge, y float64) { s.yb = y })
			spread(b, b.out, func(s *segmentEdge) float64 { return s.b.y + s.b.h/2 }, func(s *segmentEdge, y float64) { s.ya = y })
		}
	}
}

// settle moves the boxes of one column towards the mean centre of their
// neighbours, streams pulling harder, and pushes overlapping ones apart.
func settle(column []*box) {
	want := make([]float64, len(column))
	for i, b := range column {
		sum, n := 0.0, 0.0
		pull := func(s *segmentEdge, o *box) {
			f := 1.0
			if s.edge.stream {
				f = 6
			}
			sum += f * (o.y + o.h/2)
			n += f
		}
		for _, s := range b.in {
			pull(s, s.a)
		}
		for _, s := range b.out {
			pull(s, s.b)
		}
		want[i] = b.y
		if n > 0 {
			want[i] = sum/n - b.h/2
		}
	}
	// Halfway between the lowest and the highest places that keep the order and
	// the gaps, so that no side of the column is preferred.
	down, up := make([]float64, len(column)), make([]float64, len(column))
	for i, b := range column {
		down[i] = want[i]
		if i > 0 {
			down[i] = max(want[i], down[i-1]+column[i-1].h+gap(column[i-1], b))
		}
	}
	for i := len(column) - 1; i >= 0; i-- {
		up[i] = want[i]
		if i+1 < len(column) {
			up[i] = min(want[i], up[i+1]-column[i].h-gap(column[i], column[i+1]))
		}
	}
	for i, b := range column {
		b.y = (down[i] + up[i]) / 2
	}
}

func gap(a, b *box) float64 {
	if a.hidden && b.hidden {
		return pinPitch
	}
	return rowGap
}

// spread gives the edges at one side of a box their heights, in the order of
// their other ends.
func spread(b *box, segs []*segmentEdge, other func(*segmentEdge) float64, set func(*segmentEdge, float64)) {
	sorted := slices.Clone(segs)
	slices.SortStableFunc(sorted, func(s, t *segmentEdge) int { return cmp.Compare(other(s), other(t)) })
	for i, s := range sorted {
		set(s, b.y+b.h*float64(i+1)/float64(len(sorted)+1))
	}
}
