// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// CoverKind is what a point counts.
type CoverKind string

// The kinds: a block of statements that was run, an arm of an if, a bit that changed.
const (
	CoverLine   CoverKind = "line"
	CoverBranch CoverKind = "branch"
	CoverToggle CoverKind = "toggle"
)

// CoverPoint is a place in the Verilog that a model built with Build.Cover counts, one for all instances of the module.
type CoverPoint struct {
	File   string    `json:"file"` // without folder
	Line   int       `json:"line"`
	Column int       `json:"column"`
	Kind   CoverKind `json:"kind"`
	What   string    `json:"what"` // if, else, block, case; of a toggle the bit
}

func (p CoverPoint) compare(o CoverPoint) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column), cmp.Compare(p.Kind, o.Kind), cmp.Compare(p.What, o.What))
}

// coverTable is what the lines of all instances' files of counts are: Verilator writes the same lines in the same order.
type coverTable struct {
	once   sync.Once
	points []CoverPoint
	index  []int // of a line, in points
	err    error
}

// errCover means that a file of counts is not what Verilator writes.
var errCover = errors.New("not a file of Verilator's coverage")

// read takes the points from the first file.
func (t *coverTable) read(lines [][]byte) {
	var all []CoverPoint
	for n, line := range lines {
		p, err := parsePoint(line)
		if err != nil {
			t.err = fmt.Errorf("line %d: %w", n+2, err)
			return
		}
		all = append(all, p)
	}
	t.points = slices.CompactFunc(slices.SortedFunc(slices.Values(all), CoverPoint.compare), func(a, b CoverPoint) bool { return a == b })
	for _, p := range all {
		i, _ := slices.BinarySearchFunc(t.points, p, CoverPoint.compare)
		t.index = append(t.index, i)
	}
}

// parsePoint reads a line without its count: C '\001key\002value...'.
func parsePoint(line []byte) (p CoverPoint, err error) {
	text, ok := strings.CutPrefix(string(line), "C '")
	if !ok {
		return p, errCover
	}
	for _, field := range strings.Split(text, "\x01")[1:] {
		key, value, _ := strings.Cut(field, "\x02")
		switch key {
		case "f":
			p.File = filepath.Base(value)
		case "l":
			p.Line, err = strconv.Atoi(value)
		case "n":
			p.Column, err = strconv.Atoi(value)
		case "o":
			p.What = value
		case "page":
			kind, _, _ := strings.Cut(strings.TrimPrefix(value, "v_"), "/")
			p.Kind = CoverKind(kind)
		}
		if err != nil {
			return p, fmt.Errorf("%w: %w", errCover, err)
		}
	}
	return p, nil
}

// Coverage returns the points of the model's library, the same for all of its instances, and how often this one came to each.
func (m *Model) Coverage() ([]CoverPoint, []uint64, error) {
	switch {
	case m.closed:
		return nil, nil, errClosed
	case !m.lib.Covered():
		return nil, nil, fmt.Errorf("model %s was not built to be covered", m.lib.top)
	}
	dir, err := os.MkdirTemp("", "incsim-cover-")
	if err != nil {
		return nil, nil, fmt.Errorf("coverage: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "counts")
	if !m.inst.coverWrite(file) {
		return nil, nil, fmt.Errorf("coverage: model %s cannot write to %s", m.lib.top, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("coverage: %w", err)
	}
	points, counts, err := m.lib.cover.counts(text)
	if err != nil {
		return nil, nil, fmt.Errorf("coverage of %s: %w", m.lib.top, err)
	}
	return points, counts, nil
}

// counts reads a file: a line of title, then a line a point, its count last.
func (t *coverTable) counts(text []byte) ([]CoverPoint, []uint64, error) {
	var names [][]byte
	var numbers []uint64
	for i, line := range bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n")) {
		if i == 0 {
			continue
		}
		end := bytes.LastIndex(line, []byte("' "))
		if end < 0 {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, errCover)
		}
		n, err := strconv.ParseUint(string(line[end+2:]), 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w: %w", i+1, errCover, err)
		}
		names, numbers = append(names, line[:end]), append(numbers, n)
	}
	t.once.Do(func() { t.read(names) })
	switch {
	case t.err != nil:
		return nil, nil, t.err
	case len(numbers) != len(t.index):
		return nil, nil, fmt.Errorf("%w: %d points, not %d", errCover, len(numbers), len(t.index))
	}
	counts := make([]uint64, len(t.points))
	for i, n := range numbers {
		counts[t.index[i]] += n
	}
	return t.points, counts, nil
}
