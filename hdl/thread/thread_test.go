// SPDX-License-Identifier: Apache-2.0

package thread_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/thread"
)

// memory is an end: m_old, in whose place m_new comes, which has the signals.
func memory(name string, bits int, more ...graph.Port) *graph.Module {
	return &graph.Module{Name: name, Purpose: "a memory", Source: []byte("module " + name + " #(parameter BITS = 1) (input wire clk);\nendmodule\n"),
		Params: []graph.Param{{Name: "BITS", Value: bits}}, Ports: append([]graph.Port{leaf.In("clk", 1)}, more...),
		Memories: []graph.Memory{{Words: 4, Bits: bits, Role: "memory"}}}
}

func spec() thread.Spec {
	signals := []thread.Signal{{Name: "in", Width: 3, Doc: "in"}, {Name: "out", Out: true, Doc: "out"}}
	return thread.Spec{
		Signals: signals,
		End: func(_, m *graph.Module) (*graph.Module, error) {
			if m.Name != "m_old" {
				return nil, nil
			}
			return memory("m_new", 9, leaf.In("in", 3), leaf.Out("out", 1)), nil
		},
		Params: func(inside string, _ *graph.Module) []graph.Param {
			return []graph.Param{{Name: "KIND", Value: len(inside)}}
		},
		Memory: func(_ string, mem graph.Memory) graph.Memory {
			mem.Path += ".u_in"
			return mem
		},
		Skip: func(m *graph.Module) bool { return m.Name == "skipped" },
	}
}

const holder = `// module of a comment: m_old #(.BITS(1)) u_none (.clk(clk));
module holder #(
    parameter A = (1 + 2)
) (
    input  wire clk
);
    /* m_old #(.BITS(1)) u_none2 (.clk(clk)); */
    generate
        if (A > 2) begin : gen_a
            m_old #(.BITS(2)) u_m (
                .clk(clk));
        end else begin : gen_b
            m_old #(.BITS(3)) u_m (.clk(clk));
        end
    endgenerate
    always @(posedge clk) begin
        if (A) begin
        end
    end
    m_old #(.BITS(4)) u_last (.clk(clk));
    other #(.X(1)) u_other (.clk(clk));
endmodule
`

const threaded = `// module of a comment: m_old #(.BITS(1)) u_none (.clk(clk));
module holder #(
    parameter A = (1 + 2)
) (
    input  wire [2:0] in,
    output wire out,

    input  wire clk
);
    wire [1:0] each_out;
    assign out = |each_out;

    /* m_old #(.BITS(1)) u_none2 (.clk(clk)); */
    generate
        if (A > 2) begin : gen_a
            m_new #(.KIND(6), .BITS(2)) u_m (.in(in), .out(each_out[0]), 
                .clk(clk));
        end else begin : gen_b
            m_new #(.KIND(6), .BITS(3)) u_m (.in(in), .out(each_out[0]), .clk(clk));
        end
    endgenerate
    always @(posedge clk) begin
        if (A) begin
        end
    end
    m_new #(.KIND(6), .BITS(4)) u_last (.in(in), .out(each_out[1]), .clk(clk));
    other #(.X(1)) u_other (.clk(clk));
endmodule
`

// module is a leaf that holds m_old at paths, and a module that has nothing to do with it.
func module(name, text string, paths ...string) *graph.Module {
	m := &graph.Module{Name: name, Source: []byte(text), Ports: []graph.Port{leaf.In("clk", 1)},
		Submodules: []*graph.Module{memory("m_old", 2), {Name: "other", Source: []byte("module other #(parameter X = 1) (input wire clk);\nendmodule\n")}}}
	for _, p := range paths {
		m.Memories = append(m.Memories, graph.Memory{Path: p, Words: 4, Bits: 2, Role: "state", Module: "m_old"})
	}
	return m
}

func TestThrough(t *testing.T) {
	t.Parallel()
	m := module("holder", holder, "gen_a.u_m", "u_last")
	got, err := thread.Through(m, spec())
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(threaded, string(got.Source)))
	assert.Equal(t, holder, string(m.Source), "what was given stays")
	assert.Equal(t, []graph.Port{leaf.In("clk", 1), {Name: "in", Width: 3, Doc: "in"}, {Name: "out", Width: 1, Dir: graph.Out, Doc: "out"}}, got.Ports)
	assert.Equal(t, "gen_a.u_m.u_in", got.Memories[0].Path)
	assert.Equal(t, []string{"m_new", "other"}, []string{got.Submodules[0].Name, got.Submodules[1].Name})

	above := &graph.Module{Name: "above", Source: []byte("module above (input wire clk);\n    holder #(.A(3)) u_h (.clk(clk));\nendmodule\n"), Ports: m.Ports,
		Submodules: []*graph.Module{m}, Memories: []graph.Memory{{Path: "u_h.gen_a.u_m", Words: 4, Bits: 2}, {Path: "u_h.u_last", Words: 4, Bits: 2}}}
	got, err = thread.Through(above, spec())
	require.NoError(t, err)
	assert.Contains(t, string(got.Source), "holder #(.A(3)) u_h (.in(in), .out(each_out[0]), .clk(clk));")
	assert.Equal(t, "u_h.gen_a.u_m.u_in", got.Memories[0].Path, "a memory in a module of a module")
}

const loop = `module loop (input wire clk);
    m_old #(.BITS(2)) u_first (.clk(clk));
    genvar e;
    generate
        for (e = 0; e < 3; e = e + 1) begin : gen_turn
            m_old #(.BITS(2)) u_m (.clk(clk));
        end
    endgenerate
    m_old #(.BITS(2)) u_last (.clk(clk));
endmodule
`

// TestThroughLoop: each turn of a loop says for itself what it has to.
func TestThroughLoop(t *testing.T) {
	t.Parallel()
	got, err := thread.Through(module("loop", loop, "u_first", "gen_turn[0].u_m", "gen_turn[1].u_m", "gen_turn[2].u_m", "u_last"), spec())
	require.NoError(t, err)
	for _, want := range []string{"u_first (.in(in), .out(each_out[0])", "u_m (.in(in), .out(each_out[1 + e])", "u_last (.in(in), .out(each_out[4])", "wire [4:0] each_out;"} {
		assert.Contains(t, string(got.Source), want)
	}
	assert.Equal(t, "gen_turn[2].u_m.u_in", got.Memories[3].Path)
}

func TestThroughLeavesOthers(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*graph.Module{
		"no memory": {Name: "plain", Source: []byte("module plain (input wire clk);\nendmodule\n")},
		"skipped":   module("skipped", holder, "gen_a.u_m"),
	} {
		got, err := thread.Through(m, spec())
		require.NoError(t, err, name)
		assert.Same(t, m, got, name)
	}
}

func TestThroughRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		paths []string
		want  string
	}{
		"no loop":   {holder, []string{"gen_a[0].u_m", "gen_a[1].u_m"}, "is built more than once"},
		"from 1":    {strings.Replace(loop, "e = 0", "e = 1", 1), []string{"gen_turn[1].u_m", "gen_turn[2].u_m"}, "is built more than once"},
		"none":      {holder, nil, "none is built"},
		"no module": {"// nothing\n", []string{"u"}, "no module in the text"},
		"no end":    {"module holder (input wire clk", []string{"u"}, "has no end"},
		"end":       {"module holder (input wire clk);\nend\nendmodule\n", []string{"u"}, "without its begin"},
	} {
		_, err := thread.Through(module("holder", c.text, c.paths...), spec())
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	got, err := thread.Ended(memory("m", 2), []thread.Signal{{Name: "pins", Width: 5}})
	require.NoError(t, err)
	assert.Equal(t, "module m #(parameter BITS = 1) (\n    input  wire [4:0] pins,\ninput wire clk);\n    wire unused_pins = &{1'b0, pins};\n\nendmodule\n", string(got.Source))
	_, err = thread.Ended(memory("m", 2), []thread.Signal{{Name: "pins", Out: true}})
	require.ErrorContains(t, err, "is an output")
}
