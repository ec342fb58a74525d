// SPDX-License-Identifier: Apache-2.0

// Package code says which lines, branches and bits of the Verilog a regression came through, and excuses, with a reason each, what it cannot come
// through. cover counts what packets met; this counts the text, which shows code that no packet of any kind has reached.
package code

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is what a point is.
type Kind string

// The kinds: a block of statements, an arm of an if, a bit that changes.
const (
	Line   Kind = "line"
	Branch Kind = "branch"
	Toggle Kind = "toggle"
)

// Point is a place in the Verilog, one for all instances of a module. It is sim/coverage's once more: a report, which draws these, must not reach sim.
type Point struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Kind   Kind   `json:"kind"`
	// What is which arm or block it is, of a toggle the bit.
	What string `json:"what"`
}

// Hits has a bit for each of a design's points, that of point i in byte i/8: set if something came there. The zero value has none set.
type Hits []byte

// Add sets the bits of the counts that are not 0.
func (h *Hits) Add(counts []uint64) {
	h.grow((len(counts) + 7) / 8)
	for i, n := range counts {
		if n > 0 {
			(*h)[i/8] |= 1 << (i % 8)
		}
	}
}

// Merge sets the bits that o has set.
func (h *Hits) Merge(o Hits) {
	h.grow(len(o))
	for i, b := range o {
		(*h)[i] |= b
	}
}

func (h *Hits) grow(n int) {
	if n > len(*h) {
		*h = append(*h, make(Hits, n-len(*h))...)
	}
}

// Has tells whether something came to point i.
func (h Hits) Has(i int) bool { return i/8 < len(h) && h[i/8]>>(i%8)&1 == 1 }

// Tally counts points of a kind.
type Tally struct {
	Points  int `json:"points"`
	Hit     int `json:"hit"`
	Excused int `json:"excused"`
}

// Percent is how many of the points that are not excused were hit.
func (t Tally) Percent() float64 {
	if t.Points == t.Excused {
		return 100
	}
	return 100 * float64(t.Hit) / float64(t.Points-t.Excused)
}

func (t *Tally) add(hit, excused bool) {
	t.Points++
	switch {
	case hit:
		t.Hit++
	case excused:
		t.Excused++
	}
}

// Score is the coverage of a file, or of all.
type Score struct {
	File   string `json:"file,omitempty"`
	Line   Tally  `json:"line"`
	Branch Tally  `json:"branch"`
	Toggle Tally  `json:"toggle"`
}

func (s *Score) of(k Kind) *Tally {
	switch k {
	case Line:
		return &s.Line
	case Branch:
		return &s.Branch
	default:
		return &s.Toggle
	}
}

// Missed is a point that nothing came to.
type Missed struct {
	Point
	// Text is the line, Why the reason that excuses the point, if one does.
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
}

// Report is the coverage of a design by one regression, or by several.
type Report struct {
	Kind   string `json:"kind"` // "code coverage"
	Config string `json:"config"`
	Digest string `json:"digest"`
	// Tests is how many tests it is of.
	Tests int     `json:"tests"`
	Total Score   `json:"total"`
	Files []Score `json:"files"`
	// Missed are the points without a hit: lines and branches, and of toggles those that are excused.
	Missed []Missed `json:"missed"`
	// Stale are excuses for lines of the design that were all hit, or that it does not have.
	Stale []Excuse `json:"stale,omitempty"`
	// Points is a digest of the points, Hits what was hit of them: enough to merge the report with another of the same design.
	Points string `json:"points"`
	Hits   Hits   `json:"hits"`
}

// ReportKind marks a report in JSON.
const ReportKind = "code coverage"

// New makes a report. lines has the text of each file by its name.
func New(config, digest string, tests int, points []Point, hits Hits, lines map[string][]string, excuses []Excuse) *Report {
	r := &Report{Kind: ReportKind, Config: config, Digest: digest, Tests: tests, Points: digestOf(points), Hits: hits}
	files := map[string]*Score{}
	used := make([]bool, len(excuses))
	for i, p := range points {
		text := ""
		if of := lines[p.File]; p.Line >= 1 && p.Line <= len(of) {
			text = strings.TrimSpace(of[p.Line-1])
		}
		n := slices.IndexFunc(excuses, func(e Excuse) bool { return e.holds(config, p, text) })
		hit, why := hits.Has(i), ""
		if n >= 0 && !hit {
			used[n], why = true, excuses[n].Why
		}
		f := files[p.File]
		if f == nil {
			f = &Score{File: p.File}
			files[p.File] = f
		}
		f.of(p.Kind).add(hit, n >= 0)
		r.Total.of(p.Kind).add(hit, n >= 0)
		if !hit && (p.Kind != Toggle || why != "") {
			r.Missed = append(r.Missed, Missed{p, text, why})
		}
	}
	for _, f := range files {
		r.Files = append(r.Files, *f)
	}
	slices.SortFunc(r.Files, func(a, b Score) int { return cmp.Compare(a.File, b.File) })
	for i, e := range excuses {
		if !used[i] && e.of(config) && files[e.File] != nil {
			r.Stale = append(r.Stale, e)
		}
	}
	return r
}

// ErrOther means that reports are of different Verilog.
var ErrOther = errors.New("coverage of another design")

// Merge adds what another report has hit; New with the hits then makes the report anew.
func (r *Report) Merge(o *Report) error {
	if o.Points != r.Points || o.Digest != r.Digest {
		return fmt.Errorf("%w: %s, digest %.12s, not %s, digest %.12s", ErrOther, o.Config, o.Digest, r.Config, r.Digest)
	}
	r.Hits.Merge(o.Hits)
	r.Tests += o.Tests
	return nil
}

// digestOf names a list of points.
func digestOf(points []Point) string {
	h := sha256.New()
	for _, p := range points {
		fmt.Fprintln(h, p)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
