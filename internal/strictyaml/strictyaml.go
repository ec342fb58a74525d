// SPDX-License-Identifier: Apache-2.0

// Package strictyaml reads YAML into structs and says everything that is wrong with it at once, each mistake with its line and column.
// Nothing is converted: a number in quotes is no number. Unknown keys, keys given twice, anchors, tags and more than one document are
// mistakes.
package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"incforge/internal/yamlpos"
)

// Value is a scalar, or a list of integers or words, of a file: what it says, whether the file has it, and where. One that has a mistake counts as
// given and is zero.
type Value[T any] struct {
	V     T
	Given bool
	Pos   yamlpos.Pos
}

// Or is the value, or def where the file has none.
func (a *Value[T]) Or(def T) T {
	if a.Given {
		return a.V
	}
	return def
}

// bind takes a node's value. It takes exactly the YAML type that T has.
func (a *Value[T]) bind(n ast.Node) error {
	a.Given, a.Pos = true, yamlpos.Of(n)
	return scalar(n, any(&a.V))
}

// scalar reads a node into what v points at.
func scalar(n ast.Node, v any) (err error) {
	switch v := v.(type) {
	case *bool:
		var b *ast.BoolNode
		if b, err = as[*ast.BoolNode](n, "true or false"); err == nil {
			*v = b.Value
		}
	case *int:
		*v, err = integer(n)
	case *float64:
		*v, err = number(n)
	case *string:
		*v, err = word(n, "a word")
	case *[]int:
		*v, err = list(n, "a list of integers", integer)
	case *[]string:
		*v, err = list(n, "a list of words", func(n ast.Node) (string, error) { return word(n, "a word") })
	case encoding.TextUnmarshaler:
		var text string
		if text, err = word(n, "a word"); err != nil {
			break
		}
		if err := v.UnmarshalText([]byte(text)); err != nil {
			return yamlpos.Mistakef(n, "%s", strings.TrimPrefix(err.Error(), "roce: "))
		}
	default:
		panic(fmt.Sprintf("strictyaml: a value of type %T", v))
	}
	return err
}

// as is the node as one of a type, which the message calls want.
func as[N ast.Node](n ast.Node, want string) (N, error) {
	x, ok := n.(N)
	if !ok {
		return x, wrong(n, want)
	}
	return x, nil
}

func word(n ast.Node, want string) (string, error) {
	s, err := as[*ast.StringNode](n, want)
	if err != nil {
		return "", err
	}
	return s.Value, nil
}

func integer(n ast.Node) (int, error) {
	node, err := as[*ast.IntegerNode](n, "an integer")
	if err != nil {
		return 0, err
	}
	x, fits := yamlpos.Int(node)
	switch {
	case x < 0:
		return 0, wrong(n, "an integer that is not negative")
	case !fits:
		return 0, wrong(n, "an integer of at most 32 bits")
	}
	return x, nil
}

func number(n ast.Node) (float64, error) {
	if f, ok := n.(*ast.FloatNode); ok {
		return f.Value, nil
	}
	node, err := as[*ast.IntegerNode](n, "a number")
	if err != nil {
		return 0, err
	}
	x, fits := yamlpos.Int(node)
	if !fits {
		return 0, wrong(n, "an integer of at most 32 bits")
	}
	return float64(x), nil
}

// list reads a list, all that is wrong with it.
func list[T any](n ast.Node, want string, one func(n ast.Node) (T, error)) ([]T, error) {
	nodes, err := as[*ast.SequenceNode](n, want)
	if err != nil {
		return nil, err
	}
	var all []T
	var errs []error
	for _, e := range nodes.Values {
		x, err := one(e)
		all, errs = append(all, x), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func wrong(n ast.Node, want string) error {
	text := yamlpos.Text(n)
	if text == "" {
		text = "nothing"
	}
	return yamlpos.Mistakef(n, "%s is not %s", text, want)
}

// Mistakes collects what is wrong with a file.
type Mistakes struct {
	// File names it in messages.
	File string
	all  []*yamlpos.Mistake
	bad  map[yamlpos.Pos]bool // where a scalar is that could not be read
}

// Addf adds what is wrong at a place. What follows from a scalar that could not be read is no mistake of its own.
func (m *Mistakes) Addf(pos yamlpos.Pos, format string, args ...any) {
	if m.bad[pos] {
		return
	}
	m.all = append(m.all, &yamlpos.Mistake{Pos: pos, Text: fmt.Sprintf(format, args...)})
}

// add adds the mistakes that errors are.
func (m *Mistakes) add(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			m.add(e)
		}
		return
	}
	var one *yamlpos.Mistake
	if errors.As(err, &one) {
		m.all = append(m.all, one)
	}
}

// Err is everything, a line each as FILE:LINE:COLUMN: what, in the order of the file; nil if there is nothing.
func (m *Mistakes) Err() error {
	if len(m.all) == 0 {
		return nil
	}
	all := slices.Clone(m.all)
	slices.SortStableFunc(all, func(a, b *yamlpos.Mistake) int {
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Column - b.Pos.Column
	})
	var lines []string
	for _, x := range all {
		lines = append(lines, fmt.Sprintf("%v: %s", x.Pos.In(m.File), x.Text))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Read reads YAML into v, a pointer to a struct of Values, structs and lists of structs. A key is its field's name in lower case, unless
// the tag yaml says otherwise. It reports whether the form is right: if not, mappings and lists are missing, and it makes no sense to look
// for other mistakes. Wrong scalars and unknown keys are mistakes of m but leave the form right.
func (m *Mistakes) Read(text []byte, v any) (formed bool) {
	m.bad = map[yamlpos.Pos]bool{}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		what, pos := yamlpos.Error(err)
		m.Addf(pos, "%s", what)
		return false
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType:
		case body != nil:
			m.Addf(yamlpos.Of(d.Body), "a second document")
			return false
		default:
			body = d.Body
		}
	}
	if body == nil {
		m.Addf(yamlpos.Pos{}, "the file is empty")
		return false
	}
	return m.fill(body, reflect.ValueOf(v).Elem())
}

// binder is a Value.
type binder interface{ bind(n ast.Node) error }

// fill reads a node into v.
func (m *Mistakes) fill(n ast.Node, v reflect.Value) bool {
	if b, ok := v.Addr().Interface().(binder); ok {
		if err := b.bind(n); err != nil {
			m.add(err)
			m.bad[yamlpos.Of(n)] = true
		}
		return true
	}
	if v.Kind() == reflect.Slice {
		list, err := as[*ast.SequenceNode](n, "a list")
		if err != nil {
			m.add(err)
			return false
		}
		formed := true
		v.Set(reflect.MakeSlice(v.Type(), 0, len(list.Values))) // an empty list is given, too
		for _, e := range list.Values {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			formed = m.fill(e, v.Index(v.Len()-1)) && formed
		}
		return formed
	}
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		m.add(wrong(n, "a mapping"))
		return false
	}
	return m.pairs(pairs, v)
}

// pairs reads a mapping into a struct.
func (m *Mistakes) pairs(pairs []*ast.MappingValueNode, v reflect.Value) bool {
	fields, names := map[string]reflect.Value{}, []string(nil)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		fields[name], names = v.Field(i), append(names, name)
	}
	formed, seen := true, map[string]bool{}
	for _, p := range pairs {
		name := p.Key.String()
		if key, ok := p.Key.(*ast.StringNode); ok {
			name = key.Value
		}
		at := yamlpos.Of(p.Key)
		field, known := fields[name]
		switch {
		case !known:
			m.Addf(at, "unknown key %q, known are %s", name, strings.Join(names, ", "))
		case seen[name]:
			m.Addf(at, "%s is given twice", name)
		default:
			seen[name] = true
			formed = m.fill(p.Value, field) && formed
		}
	}
	return formed
}
