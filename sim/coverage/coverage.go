// SPDX-License-Identifier: Apache-2.0

// Package coverage reads the files of counts that models write which were built to count where their Verilog was come through.
package coverage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is what a point counts.
type Kind string

// The kinds: a block of statements that was run, an arm of an if, a bit that changed.
const (
	Line   Kind = "line"
	Branch Kind = "branch"
	Toggle Kind = "toggle"
)

// Point is a place in the Verilog that a model counts, one for all instances of the module.
type Point struct {
	File   string `json:"file"` // without folder
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Kind   Kind   `json:"kind"`
	What   string `json:"what"` // if, else, block, case; of a toggle the bit
}

func (p Point) compare(o Point) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Line, o.Line), cmp.Compare(p.Column, o.Column), cmp.Compare(p.Kind, o.Kind), cmp.Compare(p.What, o.What))
}

// Table is what the lines of all instances' files of counts are: Verilator writes the same lines in the same order. The zero value is ready.
type Table struct {
	once   sync.Once
	points []Point
	index  []int // of a line, in points
	err    error
}

// errFormat means that a file of counts is not what Verilator writes.
var errFormat = errors.New("not a file of Verilator's coverage")

// read takes the points from the first file.
func (t *Table) read(lines [][]byte) {
	var all []Point
	for n, line := range lines {
		p, err := parsePoint(line)
		if err != nil {
			t.err = fmt.Errorf("line %d: %w", n+2, err)
			return
		}
		all = append(all, p)
	}
	t.points = slices.CompactFunc(slices.SortedFunc(slices.Values(all), Point.compare), func(a, b Point) bool { return a == b })
	for _, p := range all {
		i, _ := slices.BinarySearchFunc(t.points, p, Point.compare)
		t.index = append(t.index, i)
	}
}

// parsePoint reads a line without its count: C '\001key\002value...'.
func parsePoint(line []byte) (p Point, err error) {
	text, ok := strings.CutPrefix(string(line), "C '")
	if !ok {
		return p, errFormat
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
			p.Kind = Kind(kind)
		}
		if err != nil {
			return p, fmt.Errorf("%w: %w", errFormat, err)
		}
	}
	return p, nil
}

// Counts reads a file: a line of title, then a line a point, its count last.
func (t *Table) Counts(text []byte) ([]Point, []uint64, error) {
	var names [][]byte
	var numbers []uint64
	for i, line := range bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n")) {
		if i == 0 {
			continue
		}
		end := bytes.LastIndex(line, []byte("' "))
		if end < 0 {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, errFormat)
		}
		n, err := strconv.ParseUint(string(line[end+2:]), 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w: %w", i+1, errFormat, err)
		}
		names, numbers = append(names, line[:end]), append(numbers, n)
	}
	t.once.Do(func() { t.read(names) })
	switch {
	case t.err != nil:
		return nil, nil, t.err
	case len(numbers) != len(t.index):
		return nil, nil, fmt.Errorf("%w: %d points, not %d", errFormat, len(numbers), len(t.index))
	}
	counts := make([]uint64, len(t.points))
	for i, n := range numbers {
		counts[t.index[i]] += n
	}
	return t.points, counts, nil
}
