// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"incforge/internal/yamlpos"
)

// Problems are all mistakes of a file, in the order of its lines.
type Problems []Problem

// Problem is one.
type Problem struct {
	yamlpos.Pos
	Text string
}

func (p Problems) Error() string {
	var lines []string
	for _, one := range p {
		lines = append(lines, one.Pos.String()+": "+one.Text)
	}
	return strings.Join(lines, "\n")
}

// reader reads a file and goes on after a mistake.
type reader struct {
	file     string
	problems Problems
}

func (r *reader) bad(at yamlpos.Pos, format string, args ...any) {
	r.problems = append(r.problems, Problem{at.In(r.file), fmt.Sprintf(format, args...)})
}

// document is the file's mapping; nil if it has none.
func (r *reader) document(text []byte) ast.Node {
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		what, at := yamlpos.Error(err)
		r.bad(at, "%s", what)
		return nil
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.bad(yamlpos.Pos{}, "%d documents, some of them empty: one is needed", len(file.Docs))
		return nil
	}
	return file.Docs[0].Body
}

// mapping is a mapping in the making: what is asked for is taken, and what is left at the end has no meaning.
type mapping struct {
	r     *reader
	name  string // of the mapping, for messages
	at    yamlpos.Pos
	nodes map[string]ast.Node
	asked []string
	// void: there is no mapping, which is reported once.
	void bool
}

// mapping reads a mapping; a missing one has no keys.
func (r *reader) mapping(name string, n ast.Node, at yamlpos.Pos) *mapping {
	m := &mapping{r: r, name: name, at: at, nodes: map[string]ast.Node{}}
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case nil:
		m.void = true
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		m.void = true
		r.bad(yamlpos.Of(n), "%s is %s: a mapping is needed", name, yamlpos.Kind(n))
	}
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		if _, again := m.nodes[key]; again {
			r.bad(yamlpos.Of(p.Key), "%s is there twice", m.full(key))
			continue
		}
		m.nodes[key] = p.Value
	}
	return m
}

func (m *mapping) full(key string) string {
	if m.name == "" {
		return key
	}
	return m.name + "." + key
}

// get is a key's value; ok is false if it is not there.
func (m *mapping) get(key string, needed bool) (ast.Node, bool) {
	m.asked = append(m.asked, key)
	n, ok := m.nodes[key]
	if !ok && needed && !m.void {
		m.r.bad(m.at, "%s is missing", m.full(key))
	}
	return n, ok
}

// sub is a mapping in this one.
func (m *mapping) sub(key string, needed bool) *mapping {
	n, ok := m.get(key, needed)
	at := m.at
	if ok {
		at = yamlpos.Of(n)
	}
	return m.r.mapping(m.full(key), n, at)
}

// done reports the keys that nobody asked for.
func (m *mapping) done() {
	for key, n := range m.nodes {
		if !slices.Contains(m.asked, key) {
			m.r.bad(yamlpos.Of(n), "%s means nothing: there are %s", m.full(key), strings.Join(m.asked, ", "))
		}
	}
}

// number reads a number of at least least; fallback if it is not there.
func (m *mapping) number(key string, least, fallback float64) float64 {
	n, ok := m.get(key, math.IsNaN(fallback))
	switch {
	case ok:
		return m.r.number(m.full(key), n, least)
	case math.IsNaN(fallback):
		return least
	}
	return fallback
}

func (r *reader) number(name string, n ast.Node, least float64) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.GetToken().Value, "_", ""), 64)
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		err = strconv.ErrSyntax
	}
	if err != nil || math.IsNaN(v) || v < least || v > most {
		r.bad(yamlpos.Of(n), "%s is %s: it must be a number from %g to %g", name, text(n), least, float64(most))
		return least
	}
	return v
}

// most bounds every number of a file.
const most = 1e12

// needed is the fallback of a number that must be there.
func needed() float64 { return math.NaN() }

func (m *mapping) integer(key string, least int, fallback float64) int {
	v := m.number(key, float64(least), fallback)
	if v != math.Trunc(v) {
		m.r.bad(yamlpos.Of(m.nodes[key]), "%s is %g: it must be a whole number", m.full(key), v)
	}
	return int(v)
}

// list are the values of a list, or one value.
func (m *mapping) list(key string, needed bool) []ast.Node {
	n, ok := m.get(key, needed)
	if !ok {
		return nil
	}
	s, many := n.(*ast.SequenceNode)
	if !many {
		return []ast.Node{n}
	}
	if len(s.Values) == 0 {
		m.r.bad(yamlpos.Of(n), "%s is empty", m.full(key))
	}
	return s.Values
}

func (m *mapping) numbers(key string, least float64, needed bool) []float64 {
	var all []float64
	for _, n := range m.list(key, needed) {
		all = append(all, m.r.number(m.full(key), n, least))
	}
	return all
}

func (m *mapping) integers(key string, least int, needed bool) []int {
	var all []int
	for _, n := range m.list(key, needed) {
		v := m.r.number(m.full(key), n, float64(least))
		if v != math.Trunc(v) {
			m.r.bad(yamlpos.Of(n), "%s is %g: it must be a whole number", m.full(key), v)
		}
		all = append(all, int(v))
	}
	return all
}

// words reads one or several of the words there are.
func (m *mapping) words(key string, of ...string) []string {
	var all []string
	for _, n := range m.list(key, false) {
		word := text(n)
		if !slices.Contains(of, word) {
			m.r.bad(yamlpos.Of(n), "%s is %s: it must be one of %s", m.full(key), word, strings.Join(of, ", "))
		}
		if slices.Contains(all, word) {
			m.r.bad(yamlpos.Of(n), "%s has %s twice", m.full(key), word)
		}
		all = append(all, word)
	}
	if len(all) == 0 {
		return of[:1]
	}
	return all
}

func (m *mapping) word(key string, of ...string) string {
	all := m.words(key, of...)
	if len(all) > 1 {
		m.r.bad(yamlpos.Of(m.nodes[key]), "%s is a list: one of %s is needed", m.full(key), strings.Join(of, ", "))
	}
	return all[0]
}

// text is what is written there.
func text(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode, *ast.NullNode:
		return yamlpos.Kind(n)
	}
	return n.GetToken().Value
}
