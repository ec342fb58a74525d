// SPDX-License-Identifier: Apache-2.0

package yamlpos

import (
	"errors"
	"math"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// values are the nodes of a mapping, by key.
func values(t *testing.T, text string) map[string]ast.Node {
	t.Helper()
	file, err := parser.ParseBytes([]byte(text), 0)
	require.NoError(t, err)
	all := map[string]ast.Node{}
	for _, pair := range file.Docs[0].Body.(*ast.MappingNode).Values {
		all[pair.Key.GetToken().Value] = pair.Value
	}
	return all
}

func TestKindTextPlace(t *testing.T) {
	nodes := values(t, "a: 7\nb: 1.5\nc: true\nd: word\ne:\nf: [1,   2]\ng: {x: 1, y: 2}\nh: |\n  text\n")
	for key, want := range map[string]struct {
		kind, text string
		pos        Pos
	}{
		"a": {"an integer", "7", Pos{"f", 1, 4}}, "b": {"a number with a fraction", "1.5", Pos{"f", 2, 4}}, "c": {"true or false", "true", Pos{"f", 3, 4}},
		"d": {"a string", "word", Pos{"f", 4, 4}}, "f": {"a list", "[1, 2]", Pos{"f", 6, 4}}, "g": {"a mapping", "{x: 1, y: 2}", Pos{"f", 7, 4}},
		"h": {"a string", "| text", Pos{"f", 8, 4}},
	} {
		n := nodes[key]
		assert.Equal(t, want.kind, Kind(n), key)
		assert.Equal(t, want.text, Text(n), key)
		assert.Equal(t, want.pos, Of(n).In("f"), key)
	}
	assert.Equal(t, "nothing", Kind(nodes["e"]))
	assert.Empty(t, Text(nodes["e"]))
	assert.Equal(t, "f:4:4", Of(nodes["d"]).In("f").String())
	assert.Equal(t, "--set x=1", Pos{File: "--set x=1"}.String())
	assert.False(t, Pos{File: "f"}.Known())
	m := Mistakef(nodes["a"], "%d is odd", 7)
	assert.EqualError(t, m, "7 is odd")
	assert.Equal(t, Pos{"", 1, 4}, m.Pos)
}

func TestInt(t *testing.T) {
	nodes := values(t, "a: 0xFFFFFFFF\nb: 0x100000000\nc: -2147483648\nd: -2147483649\ne: 18446744073709551615\nf: 0\n")
	for key, want := range map[string]struct {
		v    int
		fits bool
	}{"a": {math.MaxUint32, true}, "b": {math.MaxUint32, false}, "c": {math.MinInt32, true}, "d": {math.MinInt32, false}, "e": {math.MaxUint32, false}, "f": {0, true}} {
		v, fits := Int(nodes[key].(*ast.IntegerNode))
		assert.Equal(t, want.v, v, key)
		assert.Equal(t, want.fits, fits, key)
	}
}

func TestError(t *testing.T) {
	_, err := parser.ParseBytes([]byte("a: 1\nb: [1,\n"), 0)
	require.Error(t, err)
	text, pos := Error(err)
	assert.NotContains(t, text, "\n", "the library draws the lines below its message")
	assert.True(t, pos.Known())
	var v struct{ A int }
	text, pos = Error(yaml.UnmarshalWithOptions([]byte("a: 1\nzz: 2\n"), &v, yaml.Strict()))
	assert.Equal(t, `unknown field "zz"`, text)
	assert.Equal(t, 2, pos.Line)
	text, pos = Error(errors.New("other"))
	assert.Equal(t, "other", text)
	assert.False(t, pos.Known())
}
