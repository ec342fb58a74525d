// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"incforge/roce"
)

// at is a value of a groups file, whether the file has it, and where.
type at[T bool | int | string | []int | roce.MAC | roce.IP4] struct {
	v     T
	given bool
	pos   *token.Position
}

// or is the value, or def where the file has none.
func (a *at[T]) or(def T) T {
	if a.given {
		return a.v
	}
	return def
}

// UnmarshalYAML takes exactly the YAML type that the value has: nothing is converted.
func (a *at[T]) UnmarshalYAML(n ast.Node) error {
	a.given, a.pos = true, n.GetToken().Position
	switch v := any(&a.v).(type) {
	case *bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return wrong(n, "true or false")
		}
		*v = b.Value
	case *int:
		return integer(n, v)
	case *string:
		s, ok := n.(*ast.StringNode)
		if !ok {
			return wrong(n, "a word")
		}
		*v = s.Value
	case *[]int:
		s, ok := n.(*ast.SequenceNode)
		if !ok {
			return wrong(n, "a list of integers")
		}
		*v = make([]int, len(s.Values))
		for i, e := range s.Values {
			if err := integer(e, &(*v)[i]); err != nil {
				return err
			}
		}
	case *roce.MAC:
		return address(n, v)
	case *roce.IP4:
		return address(n, v)
	}
	return nil
}

func address(n ast.Node, v interface{ UnmarshalText([]byte) error }) error {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return wrong(n, "an address")
	}
	if err := v.UnmarshalText([]byte(s.Value)); err != nil {
		return &place{n.GetToken().Position, strings.TrimPrefix(err.Error(), "roce: ")}
	}
	return nil
}

func integer(n ast.Node, v *int) error {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return wrong(n, "an integer")
	}
	switch x := i.Value.(type) {
	case uint64:
		if x > 1<<32-1 {
			return wrong(n, "an integer of at most 32 bits")
		}
		*v = int(x)
		return nil
	}
	return wrong(n, "an integer that is not negative")
}

// place is what is wrong at a position of the file.
type place struct {
	pos  *token.Position
	text string
}

func (p *place) Error() string { return p.text }

func wrong(n ast.Node, want string) error {
	return &place{n.GetToken().Position, fmt.Sprintf("%s is not %s", strings.TrimSpace(n.String()), want)}
}

// ErrSetup is what everything that is wrong with a groups file wraps.
var ErrSetup = errors.New("groups file")

// mistakes collects what is wrong with a file.
type mistakes struct {
	file string
	all  []*place
}

func (m *mistakes) addf(pos *token.Position, format string, args ...any) {
	m.all = append(m.all, &place{pos, fmt.Sprintf(format, args...)})
}

// err is everything, a line each as FILE:LINE:COLUMN: what, in the order of the file; nil if there is nothing.
func (m *mistakes) err() error {
	if len(m.all) == 0 {
		return nil
	}
	line := func(p *place) int {
		if p.pos == nil {
			return 0
		}
		return p.pos.Line
	}
	slices.SortStableFunc(m.all, func(a, b *place) int { return line(a) - line(b) })
	var lines []string
	for _, p := range m.all {
		if where := m.file; p.pos == nil {
			lines = append(lines, fmt.Sprintf("%s: %s", where, p.text))
		} else {
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", where, p.pos.Line, p.pos.Column, p.text))
		}
	}
	return fmt.Errorf("%w: %s", ErrSetup, strings.Join(lines, "\n"))
}

// decode reads YAML into v, whose keys are all that may be there. What is wrong with it is added to m.
func (m *mistakes) decode(text []byte, v any) {
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(v)
	var (
		own   *place
		yerr  yaml.Error
		where *token.Position
	)
	switch {
	case err == nil:
	case errors.As(err, &own):
		m.all = append(m.all, own)
	case errors.As(err, &yerr):
		if t := yerr.GetToken(); t != nil {
			where = t.Position
		}
		m.addf(where, "%s", yerr.GetMessage())
	default:
		m.addf(nil, "%v", err)
	}
}
