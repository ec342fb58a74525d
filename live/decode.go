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

	"incforge/internal/yamlpos"
	"incforge/roce"
)

// at is a value of a groups file, whether the file has it, and where.
type at[T bool | int | string | []int | roce.MAC | roce.IP4] struct {
	v     T
	given bool
	pos   yamlpos.Pos
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
	a.given, a.pos = true, yamlpos.Of(n)
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
		return yamlpos.Mistakef(n, "%s", strings.TrimPrefix(err.Error(), "roce: "))
	}
	return nil
}

func integer(n ast.Node, v *int) error {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return wrong(n, "an integer")
	}
	x, fits := yamlpos.Int(i)
	switch {
	case x < 0:
		return wrong(n, "an integer that is not negative")
	case !fits:
		return wrong(n, "an integer of at most 32 bits")
	}
	*v = x
	return nil
}

func wrong(n ast.Node, want string) error {
	return yamlpos.Mistakef(n, "%s is not %s", strings.TrimSpace(n.String()), want)
}

// ErrSetup is what everything that is wrong with a groups file wraps.
var ErrSetup = errors.New("groups file")

// mistakes collects what is wrong with a file.
type mistakes struct {
	file string
	all  []*yamlpos.Mistake
}

func (m *mistakes) addf(pos yamlpos.Pos, format string, args ...any) {
	m.all = append(m.all, &yamlpos.Mistake{Pos: pos, Text: fmt.Sprintf(format, args...)})
}

// err is everything, a line each as FILE:LINE:COLUMN: what, in the order of the file; nil if there is nothing.
func (m *mistakes) err() error {
	if len(m.all) == 0 {
		return nil
	}
	slices.SortStableFunc(m.all, func(a, b *yamlpos.Mistake) int { return a.Pos.Line - b.Pos.Line })
	var lines []string
	for _, x := range m.all {
		lines = append(lines, fmt.Sprintf("%v: %s", x.Pos.In(m.file), x.Text))
	}
	return fmt.Errorf("%w: %s", ErrSetup, strings.Join(lines, "\n"))
}

// decode reads YAML into v, whose keys are all that may be there. What is wrong with it is added to m.
func (m *mistakes) decode(text []byte, v any) {
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(v)
	if err == nil {
		return
	}
	var own *yamlpos.Mistake
	if !errors.As(err, &own) {
		text, pos := yamlpos.Error(err)
		own = &yamlpos.Mistake{Pos: pos, Text: text}
	}
	m.all = append(m.all, own)
}
