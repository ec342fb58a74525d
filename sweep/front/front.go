// SPDX-License-Identifier: Apache-2.0

// Package front is what a sweep over configurations found: a table of points, some measured and some estimated, those of them that no
// other point beats, and drawings.
package front

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"incforge/internal/clocked"
)

// Bench is the document's kind.
const Bench = "sweep"

// Metric is a figure of a point.
type Metric struct {
	Key, Label, Unit string
	// More says that more of it is better.
	More bool
}

// Keys of figures.
const (
	Raw        = "area_raw_mm2"
	Placed     = "area_placed_mm2"
	NAND2      = "area_nand2"
	Cells      = "cells_mm2"
	Macros     = "macros_mm2"
	Found      = "found_mhz"
	Gbps       = "gbps"
	Cycles     = "result_cycles"
	NS         = "result_ns"
	LUT        = "fpga_lut"
	FF         = "fpga_ff"
	BRAM36     = "fpga_bram36"
	Levels     = "fpga_levels"
	BitsPerBit = "memory_bits_per_payload_bit"
)

// Metrics are the figures in the order of tables.
func Metrics() []Metric {
	return []Metric{
		{Raw, "area, raw", "mm2", false},
		{Placed, "placed", "mm2", false},
		{NAND2, "NAND2 eq.", "k", false},
		{Cells, "cells", "mm2", false},
		{Macros, "macros", "mm2", false},
		{Found, "clock found", "MHz", true},
		{Gbps, "payload at the clock that holds", clocked.Gbps, true},
		{Cycles, "result", "cycles", false},
		{NS, "result at the clock that holds", clocked.NS, false},
		{LUT, "LUT", "", false},
		{FF, "FF", "", false},
		{BRAM36, "BRAM36", "", false},
		{Levels, "LUT levels", "", false},
		{BitsPerBit, "memory bits a payload bit", "", false},
	}
}

// Find returns the metric of a key.
func Find(key string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Key == key {
			return m, true
		}
	}
	return Metric{}, false
}

// Sweep is the document.
type Sweep struct {
	Bench  string `json:"bench"`
	Config string `json:"config"` // what every point begins with
	Tech   string `json:"tech"`
	Corner string `json:"corner,omitempty"`
	Family string `json:"family,omitempty"` // of FPGA
	Axes   []Axis `json:"axes"`
	// Front are the keys of the figures between which a user must choose.
	Front  []string `json:"front"`
	Points []Point  `json:"points"`
	// Errors say how well estimates are, by figure.
	Errors []Error `json:"errors,omitempty"`
}

// Axis is a parameter and its values.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Point is a configuration.
type Point struct {
	// At are the values on the axes, in their order.
	At []string `json:"at"`
	// Set are the parameters that differ from the base, as --set takes them.
	Set      []string `json:"set"`
	Digest   string   `json:"digest,omitempty"`
	AskedMHz float64  `json:"asked_mhz,omitempty"`
	// Full says that the tools have run on it; otherwise figures are estimated.
	Full bool `json:"full"`
	// Why says why there are no figures: the parameters do not go together, or a tool failed.
	Why    string           `json:"why,omitempty"`
	Values map[string]Value `json:"values,omitempty"`
	// FromOthers are the figures of a point that the tools have run on, estimated from the other such points.
	FromOthers map[string]float64 `json:"from_others,omitempty"`
	// Best says that no other point is as good in every figure of Front and better in one.
	Best bool `json:"best"`
}

// Value is a figure and its error bar.
type Value struct {
	V    float64 `json:"v"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Missed tells whether the clock found is below the one asked for.
func (p *Point) Missed() bool {
	return clocked.Clock{AskedMHz: p.AskedMHz, FoundMHz: p.Values[Found].V}.Missed()
}

// Error is how far off estimates of a figure are: each point that the tools have run on, estimated from the others.
type Error struct {
	Key    string  `json:"key"`
	Points int     `json:"points"`
	RMS    float64 `json:"rms"` // relative
	Worst  float64 `json:"worst"`
}

// off is how far a figure of a point that the tools have run on is from its estimate from the others, relative to the figure.
func (p *Point) off(key string) (off float64, ok bool) {
	guess, has := p.FromOthers[key]
	v := p.Values[key].V
	return guess/v - 1, has && v > 0
}

// Judge says how well estimates are, and gives those of the table their error bars.
func (s *Sweep) Judge() {
	s.Errors = nil
	for _, m := range Metrics() {
		e := Error{Key: m.Key}
		sum := 0.0
		for i := range s.Points {
			if d, ok := s.Points[i].off(m.Key); ok {
				e.Points++
				sum += d * d
				e.Worst = max(e.Worst, math.Abs(d))
			}
		}
		if e.Points == 0 {
			continue
		}
		e.RMS = math.Sqrt(sum / float64(e.Points))
		s.Errors = append(s.Errors, e)
		for i := range s.Points {
			if v, has := s.Points[i].Values[m.Key]; has && !s.Points[i].Full {
				s.Points[i].Values[m.Key] = Value{V: v.V, Low: v.V * max(1-e.RMS, 0), High: v.V * (1 + e.RMS)}
			}
		}
	}
}

// Choose marks the points that no other point beats. A point without one of the figures takes no part.
func (s *Sweep) Choose() error {
	var metrics []Metric
	for _, key := range s.Front {
		m, ok := Find(key)
		if !ok {
			return fmt.Errorf("there is no figure %q", key)
		}
		metrics = append(metrics, m)
	}
	// beats: a is as good as b everywhere, and better somewhere.
	beats := func(a, b *Point) bool {
		some := false
		for _, m := range metrics {
			x, y := a.Values[m.Key].V, b.Values[m.Key].V
			if m.More {
				x, y = -x, -y
			}
			if x > y {
				return false
			}
			some = some || x < y
		}
		return some
	}
	var in []*Point
	for i := range s.Points {
		p := &s.Points[i]
		p.Best = false
		if !slices.ContainsFunc(metrics, func(m Metric) bool { _, has := p.Values[m.Key]; return !has }) {
			in = append(in, p)
		}
	}
	for _, p := range in {
		p.Best = !slices.ContainsFunc(in, func(q *Point) bool { return beats(q, p) })
	}
	return nil
}

// Write writes the document, indented.
func (s *Sweep) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// Parse reads a document that Write wrote.
func Parse(text []byte) (*Sweep, error) {
	s := &Sweep{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	for _, key := range s.Front {
		if _, ok := Find(key); !ok {
			return nil, fmt.Errorf("sweep: there is no figure %q", key)
		}
	}
	return s, nil
}

// Name is a point in words.
func (s *Sweep) Name(p *Point) string {
	var parts []string
	for i, a := range s.Axes {
		parts = append(parts, a.Name+" "+p.At[i])
	}
	return strings.Join(parts, ", ")
}
