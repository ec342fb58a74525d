// SPDX-License-Identifier: Apache-2.0

// Package yamlpos says where in a YAML file something is, and what is there, for messages that point at the line to mend.
package yamlpos

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Pos is a place in a file. Line and Column count from 1; 0 means that only File is known. File is empty for values that came from no
// file, and whatever names their origin for values that came from a command line.
type Pos struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as far as known.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// In is the same place of the file with this name.
func (p Pos) In(file string) Pos {
	p.File = file
	return p
}

// Known reports that the line is known.
func (p Pos) Known() bool { return p.Line > 0 }

// Of is the place of a node, in a file whose name is still to be said (In).
func Of(n ast.Node) Pos { return at(n.GetToken()) }

func at(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{}
	}
	return Pos{Line: t.Position.Line, Column: t.Position.Column}
}

// Error is a parser's or decoder's error taken apart: its message without the lines of the file that the library draws, and its place.
// Of other errors the place is not known.
func Error(err error) (text string, p Pos) {
	var e yaml.Error
	if !errors.As(err, &e) {
		return err.Error(), Pos{}
	}
	return e.GetMessage(), at(e.GetToken())
}

// Kind names a node's type in words.
func Kind(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode:
		return "an integer"
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number with a fraction"
	case *ast.BoolNode:
		return "true or false"
	case *ast.StringNode, *ast.LiteralNode:
		return "a string"
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	default:
		return "a YAML feature that parameter files do not use"
	}
}

// Text returns a node as the user wrote it, on one line; empty for nothing.
func Text(n ast.Node) string {
	if _, null := n.(*ast.NullNode); null {
		return ""
	}
	return strings.Join(strings.Fields(n.String()), " ")
}

// Int is the value of an integer; fits is false if it has more than 32 bits, in which case the value is the nearest limit.
func Int(n *ast.IntegerNode) (v int, fits bool) {
	switch x := n.Value.(type) {
	case int64:
		if x >= math.MinInt32 && x <= math.MaxUint32 {
			return int(x), true
		}
		if x < 0 {
			return math.MinInt32, false
		}
	case uint64:
		if x <= math.MaxUint32 {
			return int(x), true
		}
	}
	return math.MaxUint32, false
}

// Mistake is something wrong at a place, as an error.
type Mistake struct {
	Pos  Pos
	Text string
}

// Error is the text alone: who knows the file adds the place.
func (m *Mistake) Error() string { return m.Text }

// Mistakef is a mistake at a node.
func Mistakef(n ast.Node, format string, args ...any) *Mistake {
	return &Mistake{Of(n), fmt.Sprintf(format, args...)}
}
