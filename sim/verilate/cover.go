// SPDX-License-Identifier: Apache-2.0

package verilate

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

// CoverKind is what a point counts.
type CoverKind string

// The kinds: a block of statements that was run, an arm of an if, a bit that changed.
const (
	CoverLine   CoverKind = "line"
	CoverBranch CoverKind = "branch"
	CoverToggle CoverKind = "toggle"
)

// CoverPoint is a place in the Verilog that a model with Design.Cover counts, one for all instances of the module.
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

// CoverTable is what the lines of all instances' files of counts are: Verilator writes the same lines in the same order.
type CoverTable struct {
	once   sync.Once
	points []CoverPoint
	index  []int // of a line, in points
	err    error
}

// errCover means that a file of counts is not what Verilator writes.
var errCover = errors.New("not a file of Verilator's coverage")

// read takes the points from the first file.
func (t *CoverTable) read(lines [][]byte) {
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

// Counts reads a file: a line of title, then a line a point, its count last.
func (t *CoverTable) Counts(text []byte) ([]CoverPoint, []uint64, error) {
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
