// SPDX-License-Identifier: Apache-2.0

package params

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"incforge/internal/yamlpos"
)

// draft is a parameter set in the making: values, where each came from, and what was wrong so far.
type draft struct {
	p        Params
	file     string
	lines    []string
	at       map[string]Pos  // keys given, by file or by --set
	bad      map[string]bool // keys already reported
	problems Problems
}

// Parse reads one YAML mapping of parameters and applies the overrides, each key=value. file names the text in messages.
// Keys left out take their defaults. The error is a Problems.
func Parse(file string, text []byte, sets ...string) (Params, error) {
	d := newDraft(file, text)
	d.decode(text)
	return d.finish(sets)
}

// ApplySet returns p with the overrides applied, each key=value with the value in YAML; a list may be written without
// brackets. Later ones win. lanes follows bus_bytes and accumulate unless it is set too, keys that only one mode has follow mode. The error is a Problems.
func (p Params) ApplySet(sets []string) (Params, error) {
	d := newDraft("", nil)
	d.p = p
	for _, f := range fields() {
		if f.key == "lanes" && p.Lanes == p.defaultLanes() {
			continue
		}
		if len(f.modes) > 0 && (!f.in(p.Mode) || f.get(&p) == f.def) { // it may come or go with the mode
			continue
		}
		d.at[f.key] = Pos{}
	}
	return d.finish(sets)
}

func newDraft(file string, text []byte) *draft {
	return &draft{
		file:  file,
		lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"),
		at:    map[string]Pos{},
		bad:   map[string]bool{},
	}
}

// finish applies overrides and defaults, checks, and puts the problems in order.
func (d *draft) finish(sets []string) (Params, error) {
	for _, s := range sets {
		d.set(s)
	}
	// Text that is no mapping misses every key; saying so would bury the cause.
	broken := slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == "" })
	for _, f := range fields() {
		if _, given := d.at[f.key]; given || d.bad[f.key] || broken {
			continue
		}
		switch {
		case f.req:
			d.add(Problem{Pos: Pos{File: d.file}, Key: f.key, Allowed: f.must(), Reason: "the key is missing"})
			d.bad[f.key] = true
		case f.key == "lanes": // follows other keys, below
		case !f.in(d.p.Mode) && f.kind == kindBool: // of another mode that was overridden
			f.setBool(&d.p, false)
		case !f.in(d.p.Mode):
			f.setInt(&d.p, 0)
		default:
			d.value(f, f.def, Pos{})
		}
	}
	if _, given := d.at["lanes"]; !given && !broken && !d.bad["lanes"] {
		d.p.Lanes = d.p.defaultLanes()
		for _, key := range []string{"bus_bytes", "accumulate"} {
			d.bad["lanes"] = d.bad["lanes"] || d.bad[key] || !fieldOf(key).accepts(&d.p)
		}
	}
	if !broken {
		for _, p := range d.p.check(d.bad) {
			p.Pos = d.at[p.Key]
			d.add(p)
		}
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return order(a.Pos) - order(b.Pos) })
	if len(d.problems) > 0 {
		return Params{}, d.problems
	}
	return d.p, nil
}

// order sorts places: lines of the file first, then whatever has no line.
func order(p Pos) int {
	if p.Line == 0 {
		return math.MaxInt32
	}
	return p.Line
}

// add appends a problem, with its line of the file.
func (d *draft) add(p Problem) {
	if p.Pos.Line > 0 && p.Pos.Line <= len(d.lines) && p.Source == "" {
		p.Source = d.lines[p.Pos.Line-1]
	}
	d.problems = append(d.problems, p)
}

// decode reads the file's mapping.
func (d *draft) decode(text []byte) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err, Pos{File: d.file})
		return
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			d.add(Problem{Pos: d.pos(doc.Body), Reason: "a second document: a parameter file holds one"})
			return
		}
		body = doc.Body
	}
	var pairs []*ast.MappingValueNode
	switch n := body.(type) {
	case nil:
		d.add(Problem{Pos: Pos{File: d.file}, Reason: "the file is empty: a list of key: value lines was expected"})
		return
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		d.add(Problem{Pos: d.pos(body), Reason: "the file is " + yamlpos.Kind(body) + ": a list of key: value lines was expected"})
		return
	}
	for _, pair := range pairs {
		d.pair(pair)
	}
}

// pair takes one line.
func (d *draft) pair(pair *ast.MappingValueNode) {
	key, pos := pair.Key.GetToken().Value, d.pos(pair.Key)
	f := fieldOf(key)
	if f == nil {
		d.unknown(key, pos)
		return
	}
	if first, again := d.at[key]; again {
		d.add(Problem{Pos: pos, Key: key, Reason: fmt.Sprintf("the key is given twice, first in line %d", first.Line)})
		return
	}
	d.at[key] = d.pos(pair.Value)
	if _, null := pair.Value.(*ast.NullNode); null {
		d.at[key] = pos
	}
	d.node(*f, pair.Value, d.at[key])
}

// set takes one override.
func (d *draft) set(arg string) {
	pos := Pos{File: "--set " + arg}
	key, value, found := strings.Cut(arg, "=")
	key = strings.TrimSpace(key)
	if !found || key == "" {
		d.add(Problem{Pos: pos, Key: key, Allowed: "key=value", Reason: "there is no value"})
		return
	}
	f := fieldOf(key)
	if f == nil {
		d.unknown(key, pos)
		return
	}
	d.forget(key)
	d.at[key] = pos
	if (f.kind == kindList || f.kind == kindNumbers) && !strings.HasPrefix(strings.TrimSpace(value), "[") {
		value = "[" + value + "]"
	}
	d.value(*f, value, pos)
}

// forget drops what was said against an earlier value of a key that is now overridden. A key given twice stays an error.
func (d *draft) forget(key string) {
	if !d.bad[key] {
		return
	}
	delete(d.bad, key)
	d.problems = slices.DeleteFunc(d.problems, func(p Problem) bool { return p.Key == key && p.Allowed != "" })
}

// value parses one value from YAML text.
func (d *draft) value(f field, text string, pos Pos) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		d.syntax(err, pos)
		d.bad[f.key] = true
		return
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		d.wrong(f, text, "it is empty", pos)
		return
	}
	d.node(f, file.Docs[0].Body, pos)
}

// node stores a parsed value.
func (d *draft) node(f field, n ast.Node, pos Pos) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		if f.kind != kindInt {
			break
		}
		text := n.Token.Value
		if digits := strings.TrimLeft(text, "+-"); len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
			d.wrong(f, text, "a leading zero makes it octal for some readers and decimal for others", pos)
			return
		}
		v, fits := yamlpos.Int(n)
		if !fits || v > math.MaxInt32 {
			d.wrongRange(f, text, pos)
			return
		}
		f.setInt(&d.p, v)
		return
	case *ast.BoolNode:
		if f.kind == kindBool || f.kind == kindSwitch {
			f.setBool(&d.p, n.Value)
			return
		}
	case *ast.StringNode:
		if f.kind == kindString || f.kind == kindSwitch && n.Value == f.words[len(f.words)-1] {
			f.setStr(&d.p, n.Value)
			return
		}
	case *ast.SequenceNode:
		if f.kind == kindNumbers {
			d.numbers(f, n, pos)
			return
		}
		if f.kind != kindList {
			break
		}
		var names []string
		for _, e := range n.Values {
			s, ok := e.(*ast.StringNode)
			if !ok {
				d.wrong(f, yamlpos.Text(n), "one entry is "+yamlpos.Kind(e), pos)
				return
			}
			names = append(names, s.Value)
		}
		f.setList(&d.p, names)
		return
	}
	d.wrong(f, yamlpos.Text(n), "this is "+yamlpos.Kind(n), pos)
}

// numbers stores a list of numbers; an empty one is none.
func (d *draft) numbers(f field, n *ast.SequenceNode, pos Pos) {
	var list []float64
	for _, e := range n.Values {
		v, err := strconv.ParseFloat(e.GetToken().Value, 64)
		_, whole := e.(*ast.IntegerNode)
		if _, broken := e.(*ast.FloatNode); !broken && !whole || err != nil {
			d.wrong(f, yamlpos.Text(n), "one entry is "+yamlpos.Kind(e), pos)
			return
		}
		list = append(list, v)
	}
	f.setNums(&d.p, list)
}

// wrong refuses a value of the wrong type.
func (d *draft) wrong(f field, value, reason string, pos Pos) {
	d.bad[f.key] = true
	d.add(Problem{Pos: pos, Key: f.key, Value: value, Allowed: f.kind.String(), Reason: reason})
}

// wrongRange refuses an integer too big to be kept.
func (d *draft) wrongRange(f field, value string, pos Pos) {
	d.bad[f.key] = true
	d.add(Problem{Pos: pos, Key: f.key, Value: value, Allowed: f.must(), Reason: f.reason(value)})
}

// unknown refuses a key.
func (d *draft) unknown(key string, pos Pos) {
	var keys []string
	for _, f := range fields() {
		keys = append(keys, f.key)
	}
	p := Problem{Pos: pos, Key: key, Reason: "there is no such parameter", Hint: nearest(key, keys)}
	if p.Hint == "" {
		p.Reason += "; there are " + strings.Join(keys, ", ")
	}
	d.add(p)
}

// syntax refuses text that is no YAML.
func (d *draft) syntax(err error, pos Pos) {
	msg, where := yamlpos.Error(err)
	if where.Known() && !pos.Known() && pos.File == d.file {
		pos = where.In(d.file)
	}
	d.add(Problem{Pos: pos, Reason: "not YAML: " + msg})
}

func (d *draft) pos(n ast.Node) Pos { return yamlpos.Of(n).In(d.file) }

// scalar prints a string as YAML would need it: plain if that is read back as the same string, else quoted.
func scalar(s string) string {
	file, err := parser.ParseBytes([]byte(s), 0)
	if err == nil && len(file.Docs) == 1 {
		if n, ok := file.Docs[0].Body.(*ast.StringNode); ok && n.Value == s && n.Token.Value == s && n.Token.Type == token.StringType {
			return s
		}
	}
	return fmt.Sprintf("%q", s)
}

// fieldOf returns the field of a key, or nil.
func fieldOf(key string) *field {
	for _, f := range fields() {
		if f.key == key {
			return &f
		}
	}
	return nil
}
