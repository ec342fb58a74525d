// SPDX-License-Identifier: Apache-2.0

package hdltest_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

//go:embed testdata/*.v
var sources embed.FS

func source(name string) []byte {
	text, err := sources.ReadFile("testdata/" + name + ".v")
	if err != nil {
		panic(err) // the embed pattern above names it
	}
	return text
}

// delay describes testdata/t_delay.v; change spoils the description.
type delay struct {
	width, depth int
	change       func(m *graph.Module)
	replace      []string // pairs, in the Verilog
	loose        bool     // takes illegal values
}

func (d delay) Module() (*graph.Module, error) {
	if (d.width < 1 || d.width > 1024) && !d.loose {
		return nil, fmt.Errorf("delay: WIDTH must be 1 to 1024 (%d)", d.width)
	}
	if bits.OnesCount(uint(d.depth)) != 1 || d.depth < 2 || d.depth > 8 {
		return nil, errors.New("delay: DEPTH must be 2, 4 or 8")
	}
	words := &graph.Module{
		Name: "t_words", Source: source("t_words"),
		Memories: []graph.Memory{{Words: d.depth, Bits: d.width, Role: "delay"}},
	}
	text := strings.NewReplacer(d.replace...).Replace(string(source("t_delay")))
	m := &graph.Module{
		Name: "t_delay", Purpose: "a word, DEPTH cycles later", Latency: "DEPTH + 1 cycles", Source: []byte(text),
		Params: []graph.Param{{Name: "WIDTH", Value: d.width}, {Name: "DEPTH", Value: d.depth}},
		Ports: []graph.Port{
			{Name: "clk", Width: 1}, {Name: "rst", Width: 1},
			{Name: "in_word", Width: d.width},
			{Name: "out_word", Dir: graph.Out, Width: d.width}, {Name: "out_valid", Dir: graph.Out, Width: 1},
		},
		Memories:   []graph.Memory{{Path: "u_words", Words: d.depth, Bits: d.width, Role: "delay"}},
		Submodules: []*graph.Module{words},
	}
	if d.change != nil {
		d.change(m)
	}
	return m, nil
}

func TestGoodLeaf(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, w := range []int{1, 2, 3, 7, 8, 9, 1024} {
		for _, d := range []int{2, 4, 8} {
			legal = append(legal, delay{width: w, depth: d})
		}
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: delay{width: 0, depth: 4}, Params: []graph.Param{{Name: "WIDTH", Value: 0}}, Rule: "WIDTH must be 1 to 1024"},
		{Leaf: delay{width: -1, depth: 4}, Params: []graph.Param{{Name: "WIDTH", Value: -1}}, Rule: "WIDTH must be 1 to 1024"},
		{Leaf: delay{width: 1025, depth: 4}, Params: []graph.Param{{Name: "WIDTH", Value: 1025}}, Rule: "WIDTH must be 1 to 1024"},
		{Leaf: delay{width: 8, depth: 3}, Params: []graph.Param{{Name: "DEPTH", Value: 3}}, Rule: "DEPTH must be 2, 4 or 8"},
	})
}

// recorder collects what Check says.
type recorder struct {
	t    *testing.T
	said []string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Errorf(f string, args ...any) { r.said = append(r.said, fmt.Sprintf(f, args...)) }
func (r *recorder) Context() context.Context     { return r.t.Context() }
func (r *recorder) TempDir() string              { return r.t.TempDir() }

// TestFindsDisagreement: every check must be able to fail, and say why.
func TestFindsDisagreement(t *testing.T) {
	t.Parallel()
	tooWide := []hdltest.Refused{{
		Leaf: delay{width: 0, depth: 4}, Params: []graph.Param{{Name: "WIDTH", Value: 0}}, Rule: "WIDTH must be 1 to 1024",
	}}
	cases := []struct {
		name    string
		leaf    delay
		refused []hdltest.Refused
		want    string
	}{
		{"width", delay{change: func(m *graph.Module) { m.Ports[2].Width++ }}, nil,
			"t_delay WIDTH=8 DEPTH=4: port 2: described as in in_word [9 bits], elaborated as in in_word [8 bits]"},
		{"direction", delay{change: func(m *graph.Module) { m.Ports[4].Dir = graph.In }}, nil,
			"port 4: described as in out_valid [1 bits], elaborated as out out_valid [1 bits]"},
		{"order", delay{change: func(m *graph.Module) { m.Ports[0], m.Ports[1] = m.Ports[1], m.Ports[0] }}, nil,
			"port 0: described as in rst [1 bits], elaborated as in clk [1 bits]"},
		{"missing", delay{change: func(m *graph.Module) { m.Ports = m.Ports[:4] }}, nil,
			"port out_valid is in the Verilog but not described"},
		{"extra", delay{change: func(m *graph.Module) { m.Ports = append(m.Ports, graph.Port{Name: "more", Width: 1}) }}, nil,
			"port more is described but not in the Verilog"},
		{"memory size", delay{change: func(m *graph.Module) { m.Memories[0].Words = 5 }}, nil,
			"memory u_words: described as 5 words of 8 bits, elaborated as 4 words of 8 bits"},
		{"memory path", delay{change: func(m *graph.Module) { m.Memories[0].Path = "u_other" }}, nil,
			"memory u_other: there is no such instance"},
		{"memory module", delay{change: func(m *graph.Module) { m.Memories[0].Module = "t_ram" }}, nil,
			"memory u_words: is a t_words, described as a t_ram"},
		{"latch", delay{replace: []string{"always @(posedge clk) begin\n        ptr", "always @(*) if (rst) begin\n        ptr"}}, nil, "LATCH"},
		{"unused", delay{replace: []string{"wire [WIDTH-1:0] oldest;", "wire [WIDTH-1:0] oldest;\n    wire nobody = rst;"}}, nil, "UNUSED"},
		{"undriven", delay{replace: []string{".wdata (in_word)", ".wdata (nothing)", "wire [WIDTH-1:0] oldest;", "wire [WIDTH-1:0] oldest;\n    wire [WIDTH-1:0] nothing;"}}, nil,
			"has no driver"},
		{"icarus", delay{replace: []string{"`ifndef __ICARUS__", "`ifndef NOTHING"}}, nil, "iverilog"},
		{"licence", delay{replace: []string{"// SPDX-License-Identifier: Apache-2.0\n", ""}}, nil, "first line is not the SPDX licence line"},
		{"contract", delay{replace: []string{"//   stall       never\n", ""}}, nil, "contract says nothing about: stall"},
		{"latency", delay{change: func(m *graph.Module) { m.Latency = "" }}, nil, "description has no Latency"},
		{"go takes it", delay{}, []hdltest.Refused{{
			Leaf: delay{width: 0, depth: 4, loose: true}, Params: tooWide[0].Params, Rule: tooWide[0].Rule}},
			"t_delay WIDTH=0 DEPTH=4: Go takes it, must refuse it: WIDTH must be 1 to 1024"},
		{"go says otherwise", delay{}, []hdltest.Refused{{
			Leaf: delay{width: 8, depth: 3}, Params: tooWide[0].Params, Rule: tooWide[0].Rule}},
			`Go refuses it for another reason than "WIDTH must be 1 to 1024": delay: DEPTH must be 2, 4 or 8`},
		{"verilog takes it", delay{replace: []string{"WIDTH > 1024", "WIDTH > 2048"}}, []hdltest.Refused{{
			Leaf: delay{width: 1025, depth: 4}, Params: []graph.Param{{Name: "WIDTH", Value: 1025}}, Rule: tooWide[0].Rule}},
			"Verilator takes it, must refuse it: t_delay: WIDTH must be 1 to 1024"},
		{"verilog says otherwise", delay{replace: []string{"t_delay: WIDTH must be 1 to 1024", "t_delay: bad"}}, tooWide,
			`Yosys refuses it for another reason than "t_delay: WIDTH must be 1 to 1024"`},
		{"no such parameter", delay{}, []hdltest.Refused{{
			Leaf: delay{width: 0, depth: 4}, Params: []graph.Param{{Name: "W", Value: 0}}, Rule: "W"}},
			"refused point 0: t_delay has no parameter W"},
		{"no rule", delay{}, []hdltest.Refused{{Leaf: delay{width: 0, depth: 4}, Params: tooWide[0].Params}}, "Rule is empty"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.leaf.width, tc.leaf.depth = 8, 4
			r := &recorder{t: t}
			hdltest.Check(r, []graph.Describer{tc.leaf}, tc.refused)
			require.Contains(t, strings.Join(r.said, "\n"), tc.want)
		})
	}
}

func TestNothingToCheckFails(t *testing.T) {
	t.Parallel()
	r := &recorder{t: t}
	hdltest.Check(r, nil, nil)
	require.Equal(t, []string{"hdltest: no legal parameter point: nothing would be checked"}, r.said)

	r = &recorder{t: t}
	hdltest.Check(r, []graph.Describer{delay{width: 0, depth: 4}}, nil)
	require.Equal(t, []string{"legal point 0: the description refuses it: delay: WIDTH must be 1 to 1024 (0)"}, r.said)
}
