// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"incforge/internal/fail"
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
func (a *at[T]) UnmarshalYAML(n ast.Node) (err error) {
	a.given, a.pos = true, yamlpos.Of(n)
	defer fail.Catch(&err, "")
	switch v := any(&a.v).(type) {
	case *bool:
		*v = as[*ast.BoolNode](n, "true or false").Value
	case *int:
		*v = integer(n)
	case *string:
		*v = as[*ast.StringNode](n, "a word").Value
	case *[]int:
		for _, e := range as[*ast.SequenceNode](n, "a list of integers").Values {
			*v = append(*v, integer(e))
		}
	case encoding.TextUnmarshaler:
		if err := v.UnmarshalText([]byte(as[*ast.StringNode](n, "an address").Value)); err != nil {
			return yamlpos.Mistakef(n, "%s", strings.TrimPrefix(err.Error(), "roce: "))
		}
	}
	return nil
}

// as is the node as one of a type, which the message calls want.
func as[N ast.Node](n ast.Node, want string) N {
	x, ok := n.(N)
	if !ok {
		fail.On(wrong(n, want))
	}
	return x
}

func integer(n ast.Node) int {
	x, fits := yamlpos.Int(as[*ast.IntegerNode](n, "an integer"))
	switch {
	case x < 0:
		fail.On(wrong(n, "an integer that is not negative"))
	case !fits:
		fail.On(wrong(n, "an integer of at most 32 bits"))
	}
	return x
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
