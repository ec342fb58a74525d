// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
)

// leaf makes a clocked module of the given ports, written "in NAME WIDTH" or
// "out NAME WIDTH", with an optional clock as fourth word.
func leaf(name string, ports ...string) *graph.Module {
	m := &graph.Module{Name: name, Source: []byte("module " + name)}
	for _, text := range ports {
		var p graph.Port
		var dir string
		n, _ := fmt.Sscan(text, &dir, &p.Name, &p.Width, &p.Clock)
		if n < 3 {
			panic("bad port: " + text)
		}
		if dir == "out" {
			p.Dir = graph.Out
		}
		m.Ports = append(m.Ports, p)
	}
	return m
}

func clocked(name string, ports ...string) *graph.Module {
	return leaf(name, append([]string{"in clk 1", "in rst 1"}, ports...)...)
}

func streaming(name string, in, out graph.Shape, ports ...string) *graph.Module {
	m := clocked(name, ports...)
	m.Ports = append(m.Ports, graph.StreamPorts("s_axis", graph.In, in)...)
	m.Ports = append(m.Ports, graph.StreamPorts("m_axis", graph.Out, out)...)
	m.Streams = []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}}
	return m
}

func source() *graph.Module { return clocked("src", "out a 8", "out b 4") }
func sink() *graph.Module   { return clocked("dst", "in x 8") }

func shape() graph.Shape { return graph.Shape{Data: 64, Keep: 8, User: 1, Last: true} }

// newCore starts a composite with a clock and a reset.
func newCore() *graph.Composite {
	c := graph.NewComposite("core", "a test")
	c.Clock("clk")
	c.Reset("rst")
	return c
}

// TestErrors: the text of every refusal.
func TestErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		build func(c *graph.Composite)
		want  []string
	}{
		{"widths differ", func(c *graph.Composite) {
			u, v := c.Instance("u_src", source()), c.Instance("u_dst", sink())
			c.Connect(u.Pin("b"), v.Pin("x"))
			c.Open(u.Pin("a"), "test")
		}, []string{"connect core/u_src.b[3:0] to core/u_dst.x[7:0]: widths differ (4 bits and 8 bits)"}},
		{"instance input drives", func(c *graph.Composite) {
			u, v := c.Instance("u_dst", sink()), c.Instance("u_dst2", sink())
			c.Connect(u.Pin("x"), v.Pin("x"))
		}, []string{
			"connect core/u_dst.x[7:0] to core/u_dst2.x[7:0]: core/u_dst.x[7:0] cannot drive, it is an input of the instance",
		}},
		{"instance output driven", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Tie(u.Pin("a"), 0)
			c.Open(u.Pin("b"), "test")
		}, []string{"connect 8'd0 to core/u_src.a[7:0]: core/u_src.a[7:0] cannot be driven, it is an output of the instance"}},
		{"composite output drives", func(c *graph.Composite) {
			v := c.Instance("u_dst", sink())
			c.Connect(c.Output("y", 8), v.Pin("x"))
		}, []string{"connect core.y[7:0] to core/u_dst.x[7:0]: core.y[7:0] cannot drive, it is an output of the composite"}},
		{"composite input driven", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a"), c.Input("i", 8))
			c.Open(u.Pin("b"), "test")
		}, []string{"connect core/u_src.a[7:0] to core.i[7:0]: core.i[7:0] cannot be driven, it is an input of the composite"}},
		{"constant driven", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a"), graph.Const(8, 1))
			c.Open(u.Pin("b"), "test")
		}, []string{"connect core/u_src.a[7:0] to 8'd1: a constant cannot be driven"}},
		{"second driver", func(c *graph.Composite) {
			u, v := c.Instance("u_src", source()), c.Instance("u_dst", sink())
			c.Connect(u.Pin("a"), v.Pin("x"))
			c.Connect(u.Pin("b"), v.Pin("x").Slice(5, 2))
		}, []string{"connect core/u_src.b[3:0] to core/u_dst.x[5:2]: already driven by core/u_src.a[7:0] (graph/graph_test.go:LINE)"}},
		{"missing driver", func(c *graph.Composite) {
			u, v := c.Instance("u_src", source()), c.Instance("u_dst", sink())
			c.Connect(u.Pin("b"), v.Pin("x").Slice(5, 2))
			c.Open(u.Pin("a"), "test")
			c.Output("y", 1)
		}, []string{
			"core/u_dst.x[7:6]: nothing drives it", "core/u_dst.x[1:0]: nothing drives it", "core.y: nothing drives it",
		}},
		{"unread", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a").Bit(3), c.Output("y", 1))
			c.Input("i", 2)
		}, []string{
			"core/u_src.a[7:4]: nothing reads it (Open says so on purpose)",
			"core/u_src.a[2:0]: nothing reads it (Open says so on purpose)",
			"core/u_src.b[3:0]: nothing reads it (Open says so on purpose)",
			"core.i[1:0]: nothing reads it (Open says so on purpose)",
		}},
		{"open but connected", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a").Slice(3, 0), c.Output("y", 4))
			c.Open(u.Pin("a"), "test")
			c.Open(u.Pin("b"), " ")
		}, []string{
			"open core/u_src.b[3:0]: a reason is required",
			"open core/u_src.a[3:0]: it is connected",
		}},
		{"open a sink", func(c *graph.Composite) {
			c.Open(c.Instance("u_dst", sink()).Pin("x"), "test")
		}, []string{"open core/u_dst.x[7:0]: only outputs of instances and inputs of the composite can be left open"}},
		{"no such port", func(c *graph.Composite) {
			u, v := c.Instance("u_src", source()), c.Instance("u_dst", sink())
			c.Connect(u.Pin("zz").Slice(3, 0), v.Pin("x"))
			c.Connect(c.Pin("nope"), c.Output("y", 8))
			c.Open(u.Pin("a"), "test")
			c.Open(u.Pin("b"), "test")
		}, []string{`core/u_src (src) has no port "zz"`, `core has no port "nope"`}},
		{"slice", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a").Slice(8, 1), c.Output("y", 8))
			c.Open(u.Pin("b").Slice(0, 1), "test")
			c.Open(u.Pin("a"), "test")
			c.Open(u.Pin("b"), "test")
		}, []string{
			"slice [8:1] of core/u_src.a[7:0]: must lie within its 8 bits",
			"slice [0:1] of core/u_src.b[3:0]: must lie within its 4 bits",
		}},
		{"constants", func(c *graph.Composite) {
			v := c.Instance("u_dst", sink())
			c.Tie(v.Pin("x"), 256)
			c.Connect(graph.Const(3, 8), c.Output("y", 3))
			c.Connect(graph.Concat(graph.Const(0, 0), graph.Const(3, 1)), c.Output("z", 3))
		}, []string{
			"tie core/u_dst.x[7:0] to 256: the value does not fit in 8 bits",
			"constant 8 does not fit in 3 bits",
			"constant 0: width is 0 bits, must be at least 1",
		}},
		{"nothing to connect", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Connect(u.Pin("a"))
			c.Open(u.Pin("a"), "test")
			c.Open(u.Pin("b"), "test")
		}, []string{"connect core/u_src.a[7:0]: nothing to connect it to"}},
		{"duplicates", func(c *graph.Composite) {
			u := c.Instance("u_src", source())
			c.Open(u.Pin("a"), "test")
			c.Connect(u.Pin("b"), c.Output("y", 4))
			c.Open(c.Instance("u_src", source()).Pin("a"), "test")
			c.Input("y", 4)
			c.Open(c.Input("u_src", 1), "test")
		}, []string{
			"instance core/u_src: the name is taken by another instance",
			"port core.y: the name is taken by another port",
			"port core.u_src: the name is taken by an instance",
		}},
		{"names", func(c *graph.Composite) {
			u := c.Instance("2nd", source())
			c.Connect(u.Pin("a"), c.Output("always", 8))
			c.Input("", 1)
			c.Input("in-put", 1)
			c.Input("w", 0)
			c.Instance("u_nil", nil)
			c.Instance("u_dst", sink()).Pin("x")
			c.Tie(c.Instance("u_ok", sink()).Pin("x"), 0)
		}, []string{
			`instance of src in core: "2nd" is not an identifier (letters, digits and _, no digit first)`,
			`port of core: "always" is a Verilog keyword`,
			"port of core: the name is empty",
			`port of core: "in-put" is not an identifier (letters, digits and _, no digit first)`,
			"port core.w: width is 0 bits, must be at least 1",
			"instance core/u_nil: the module is nil",
			"core/u_dst.x[7:0]: nothing drives it",
		}},
		{"another composite", func(c *graph.Composite) {
			o := graph.NewComposite("other", "a test")
			u := c.Instance("u_src", source())
			c.Connect(o.Input("i", 8), c.Output("y", 8))
			c.Connect(o.Instance("u_o", source()).Pin("a"), c.Output("z", 8))
			c.Link(u, o, "a")
			c.ConnectStream(o.InputStream("s_axis", shape()), c.OutputStream("m_axis", graph.Shape{Data: 1}))
			c.Open(u.Pin("a"), "test")
			c.Open(u.Pin("b"), "test")
		}, []string{
			"other.i[7:0] belongs to another composite than core",
			"other/u_o.a[7:0] belongs to another composite than core",
			`link "a": both ends must belong to core`,
			"connect stream other.s_axis to core.m_axis: both must belong to core",
			"core.m_axis_tdata: nothing drives it",
			"core.m_axis_tvalid: nothing drives it",
			"core.m_axis_tready: nothing reads it (Open says so on purpose)",
		}},
		{"describer", func(c *graph.Composite) {
			bad := graph.DescriberFunc(func() (*graph.Module, error) { return nil, errors.New("WIDTH must be at least 1") })
			c.Connect(c.Add("u_bad", bad).Pin("a"), c.Output("y", 8))
			c.Tie(c.Add("u_dst", graph.DescriberFunc(func() (*graph.Module, error) { return sink(), nil })).Pin("x"), 1)
		}, []string{"instance core/u_bad: WIDTH must be at least 1"}},
		{"clocks differ", func(c *graph.Composite) {
			c.Clock("clk_b")
			u := c.Instance("u_src", source())
			v := c.Instance("u_dst", leaf("other", "in clk_b 1", "in x 8 clk_b", "in y 4 async", "out z 1 clk_b"))
			c.Connect(u.Pin("a"), v.Pin("x"))
			c.Connect(u.Pin("b"), v.Pin("y"))
			c.Connect(v.Pin("z"), c.Output("z", 1))
			c.Connect(v.Pin("z"), c.Output("zb", 1, graph.OnClock("clk_b")))
			c.Connect(v.Pin("z"), c.Output("za", 1, graph.OnClock(graph.Async)))
		}, []string{
			"connect core/u_src.a[7:0] to core/u_dst.x[7:0]: clocks differ (clk and clk_b)",
			"connect core/u_dst.z to core.z: clocks differ (clk_b and clk)",
		}},
		{"clocks differ through logic", func(c *graph.Composite) {
			c.Clock("clk_b")
			v := c.Instance("u_b", leaf("other", "in clk_b 1", "out z 8 clk_b"))
			g := c.Instance("u_gates", leaf("gates", "in p 8", "in q 8", "out r 8"))
			w := c.Instance("u_dst", sink())
			c.Connect(v.Pin("z"), g.Pin("p"))
			c.Connect(c.Input("i", 8), g.Pin("q"))
			c.Connect(g.Pin("r"), w.Pin("x"))
		}, []string{
			"connect core.i[7:0] to core/u_gates.q[7:0]: clocks differ (clk and clk_b)",
			"connect core/u_gates.r[7:0] to core/u_dst.x[7:0]: clocks differ (clk_b and clk)",
		}},
		{"clock as data and data as clock", func(c *graph.Composite) {
			u := c.Instance("u_dst", sink())
			c.Connect(graph.Concat(c.Pin("clk"), c.Input("i", 7)), u.Pin("x"))
			c.Connect(c.Input("gated", 1), u.Pin("clk"))
			c.Input("j", 1, graph.OnClock("clk_c"))
			c.Open(c.Pin("j"), "test")
		}, []string{
			"port core.j: there is no clock clk_c",
			"connect core.gated to core/u_dst.clk: a clock input driven by a port not declared with Clock",
			"connect {core.clk, core.i[6:0]} to core/u_dst.x[7:0]: a clock used as data",
		}},
		{"stream clocks", func(c *graph.Composite) {
			m := streaming("m", shape(), shape())
			m.Ports[2].Clock = "rst"
			c.Instance("u_m", m)
		}, []string{"instance core/u_m: module m: stream s_axis: ports s_axis_tdata and s_axis_tkeep have different clocks (rst and clk)"}},
		{"link", func(c *graph.Composite) {
			a := c.Instance("u_a", clocked("a", "out hdr_psn 24", "out hdr_op 8", "out hdr_extra 1", "out other 1"))
			b := c.Instance("u_b", clocked("b", "in hdr_psn 24", "in hdr_op 7"))
			c.Link(a, b, "hdr_")
			c.Link(a, b, "nothing_")
			c.Open(a.Pin("other"), "test")
		}, []string{
			"connect core/u_a.hdr_op[7:0] to core/u_b.hdr_op[6:0]: widths differ (8 bits and 7 bits)",
			"link core/u_a.hdr_extra: core/u_b has no port hdr_extra to take it",
			`link "nothing_": core/u_a drives no port of that prefix which core/u_b takes`,
		}},
		{"streams", func(c *graph.Composite) {
			wide := shape()
			wide.Data, wide.Keep = 128, 16
			bare := graph.Shape{Data: 64, NoReady: true}
			a := c.Instance("u_a", streaming("a", shape(), shape()))
			b := c.Instance("u_b", streaming("b", wide, bare))
			d := c.Instance("u_d", streaming("d", shape(), shape()))
			c.ConnectStream(a.Stream("m_axis"), b.Stream("s_axis"))
			c.ConnectStream(b.Stream("m_axis"), d.Stream("s_axis"))
			c.ConnectStream(a.Stream("s_axis"), d.Stream("m_axis"))
			c.ConnectStream(a.Stream("nope"), c.Stream("nope"))
		}, []string{
			"connect stream core/u_a.m_axis to core/u_b.s_axis: tdata is 64 bits on one side and 128 bits on the other",
			"connect stream core/u_a.m_axis to core/u_b.s_axis: tkeep is 8 bits on one side and 16 bits on the other",
			"connect stream core/u_b.m_axis to core/u_d.s_axis: core/u_d.s_axis has tkeep, core/u_b.m_axis has not",
			"connect stream core/u_b.m_axis to core/u_d.s_axis: core/u_d.s_axis has tlast, core/u_b.m_axis has not",
			"connect stream core/u_b.m_axis to core/u_d.s_axis: core/u_d.s_axis has tuser, core/u_b.m_axis has not",
			"connect stream core/u_b.m_axis to core/u_d.s_axis: core/u_d.s_axis has tready, core/u_b.m_axis has not",
			"connect stream core/u_a.s_axis to core/u_d.m_axis: core/u_a.s_axis is not a source",
			"connect stream core/u_a.s_axis to core/u_d.m_axis: core/u_d.m_axis is not a sink",
			`core/u_a (a) has no stream "nope"`, `core has no stream "nope"`,
		}},
		{"empty", func(c *graph.Composite) {
			c.Open(c.Input("i", 1), "test")
		}, []string{
			"build core: no instances",
			"core.clk: nothing reads it (Open says so on purpose)", "core.rst: nothing reads it (Open says so on purpose)",
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newCore()
			tc.build(c)
			m, err := c.Build()
			require.Error(t, err)
			require.Nil(t, m)
			var all graph.Errors
			require.ErrorAs(t, err, &all)
			var got []string
			for _, e := range all {
				assert.Regexp(t, `^graph/graph_test\.go:\d+$`, e.Pos, e.Text)
				got = append(got, digitsAfter(e.Text, "graph_test.go:"))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("messages (-want +got):\n%s", d)
			}
		})
	}
}

// digitsAfter writes LINE for the number after mark.
func digitsAfter(text, mark string) string {
	head, tail, ok := strings.Cut(text, mark)
	if !ok {
		return text
	}
	return head + mark + "LINE" + strings.TrimLeft(tail, "0123456789")
}

// TestErrorPosition: the line is the call's own.
func TestErrorPosition(t *testing.T) {
	t.Parallel()
	c := newCore()
	u, v := c.Instance("u_src", source()), c.Instance("u_dst", sink())
	c.Open(u.Pin("a"), "test")
	_, file, line, _ := runtime.Caller(0)
	c.Connect(u.Pin("b"), v.Pin("x"))
	_, err := c.Build()
	require.EqualError(t, err, fmt.Sprintf("graph/%s:%d: connect core/u_src.b[3:0] to core/u_dst.x[7:0]: widths differ (4 bits and 8 bits)",
		filepath.Base(file), line+1))
	var one *graph.Error
	require.ErrorAs(t, err, &one)
}

// TestModuleCheck: what a description can get wrong on its own.
func TestModuleCheck(t *testing.T) {
	t.Parallel()
	ram := &graph.Module{Name: "ram", Source: []byte("x"), Memories: []graph.Memory{{Words: 1, Bits: 1}}}
	other := &graph.Module{Name: "ram2", Source: []byte("x"), Memories: []graph.Memory{{Words: 1, Bits: 1}}}
	cases := []struct {
		name   string
		change func(m *graph.Module)
		want   string
	}{
		{"name", func(m *graph.Module) { m.Name = "logic" }, `module: "logic" is a Verilog keyword`},
		{"source", func(m *graph.Module) { m.Source = nil }, "module m: neither Source nor structure: a leaf needs its Verilog text"},
		{"file", func(m *graph.Module) { m.File = "a/b.v" }, `module m: file "a/b.v": must be a name ending in .v without folder or space`},
		{"parameter", func(m *graph.Module) { m.Params = []graph.Param{{Name: "A"}, {Name: "A"}, {Name: "9"}} },
			"module m: parameter A is declared twice\nmodule m: parameter: \"9\" is not an identifier (letters, digits and _, no digit first)"},
		{"port", func(m *graph.Module) {
			m.Ports = append(m.Ports, graph.Port{Name: "clk", Width: 1}, graph.Port{Name: "z"})
		},
			"module m: port clk: the name is taken by another port or parameter\nmodule m: port z: width is 0 bits, must be at least 1"},
		{"clock", func(m *graph.Module) { m.Ports[1].Clock = "fast" }, "module m: port rst: clock fast is not a 1-bit input of the module"},
		{"stream", func(m *graph.Module) { m.Streams = append(m.Streams, m.Streams[0], graph.Stream{Name: "t"}) },
			"module m: stream s_axis is declared twice\nmodule m: stream t: there is no port t_tvalid"},
		{"stream direction", func(m *graph.Module) { m.Streams[0].Dir = graph.Out; m.Ports = m.Ports[:3]; m.Streams = m.Streams[:1] },
			"module m: stream s_axis: port s_axis_tdata is an input, must be an output\nmodule m: stream s_axis: there is no port s_axis_tvalid"},
		{"memory", func(m *graph.Module) { m.Memories = []graph.Memory{{Bits: 8}} }, `module m: memory "": 0 words of 8 bits, both must be at least 1`},
		{"memory module", func(m *graph.Module) {
			m.Memories = []graph.Memory{{Path: "u_m", Words: 1, Bits: 8}}
			m.Submodules = []*graph.Module{ram, other, nil}
		}, "module m: memory \"u_m\": Module is empty and not exactly one submodule is a RAM\nmodule m: submodule 2 is nil"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := streaming("m", shape(), shape())
			require.NoError(t, m.Check())
			tc.change(m)
			require.EqualError(t, m.Check(), tc.want)
		})
	}
}

// TestStructure: what the printer gets.
func TestStructure(t *testing.T) {
	t.Parallel()
	c := newCore()
	u := c.Instance("u_src", source())
	v := c.Instance("u_dst", sink())
	c.Connect(u.Pin("a").Slice(7, 4), v.Pin("x").Slice(7, 4))
	c.Connect(u.Pin("a").Slice(3, 2), v.Pin("x").Slice(3, 2))
	c.Tie(v.Pin("x").Bit(1), 1)
	c.Tie(v.Pin("x").Bit(0), 0)
	split := graph.Concat(c.Output("y", 3), c.Output("z", 5))
	c.Connect(graph.Concat(u.Pin("a").Slice(1, 0), graph.Const(2, 1), u.Pin("b")), split)
	m, err := c.Build()
	require.NoError(t, err)
	s := m.Composed()
	require.Equal(t, []graph.Part{{Inst: u, Port: "a", Hi: 7, Lo: 2}, {Hi: 1, Value: 2}}, s.Drivers(v, "x"),
		"runs of one port and neighbouring constants are joined")
	require.Equal(t, []graph.Part{{Inst: u, Port: "a", Hi: 1, Lo: 0}, {Hi: 0, Value: 0}}, s.Drivers(nil, "y"))
	require.Equal(t, []graph.Part{{Hi: 0, Value: 1}, {Inst: u, Port: "b", Hi: 3, Lo: 0}}, s.Drivers(nil, "z"))
	require.Equal(t, []graph.Part{{Port: "clk"}}, s.Drivers(v, "clk"), "clocks are joined by name")
	require.True(t, s.Used(u, "a", 7))
	require.False(t, s.Used(u, "a", 8))

	_, err = c.Build()
	require.ErrorContains(t, err, "build core: built twice")
}

// TestLinks: streams and bundles are kept for the diagram, and composites nest.
func TestLinks(t *testing.T) {
	t.Parallel()
	c := newCore()
	a := c.Instance("u_a", streaming("a", shape(), shape(), "out hdr_psn 24", "out hdr_op 8"))
	b := c.Instance("u_b", streaming("b", shape(), shape(), "in in_psn 24", "in in_op 8"))
	in := c.InputStream("s_axis", a.Stream("s_axis").Shape(), graph.Doc("frames"))
	c.ConnectStream(in, a.Stream("s_axis"))
	c.ConnectStream(a.Stream("m_axis"), b.Stream("s_axis"))
	c.ConnectStream(b.Stream("m_axis"), c.OutputStream("m_axis", shape()))
	c.LinkAs(a, "hdr_", b, "in_")
	m, err := c.Build()
	require.NoError(t, err)
	require.Equal(t, []graph.StreamLink{
		{To: a, FromStream: "s_axis", ToStream: "s_axis", Shape: shape()},
		{From: a, To: b, FromStream: "m_axis", ToStream: "s_axis", Shape: shape()},
		{From: b, FromStream: "m_axis", ToStream: "m_axis", Shape: shape()},
	}, m.Composed().Links)
	require.Equal(t, []graph.Bundle{{From: a, To: b, Prefix: "hdr_", Bits: 32}}, m.Composed().Bundles)
	require.Equal(t, shape(), m.ShapeOf("s_axis"))

	outer := newCore()
	u := outer.Instance("u_inner", m)
	outer.ConnectStream(outer.InputStream("s_axis", shape()), u.Stream("s_axis"))
	outer.ConnectStream(u.Stream("m_axis"), outer.OutputStream("m_axis", shape()))
	top, err := outer.Build()
	require.NoError(t, err)
	var names []string
	for _, m := range graph.Closure(top, top) {
		names = append(names, m.Name)
	}
	require.Equal(t, []string{"a", "b", "core", "core"}, names)
}

// TestAsyncAndLoops: combinational loops between leafs do not hang the clock check.
func TestAsyncAndLoops(t *testing.T) {
	t.Parallel()
	c := newCore()
	gates := leaf("gates", "in p 1", "in q 1", "out r 1")
	a, b := c.Instance("u_a", gates), c.Instance("u_b", gates)
	c.Connect(a.Pin("r"), b.Pin("p"))
	c.Connect(b.Pin("r"), a.Pin("p"))
	c.Connect(c.Input("i", 1), a.Pin("q"), b.Pin("q"))
	c.Connect(a.Pin("r"), c.Output("o", 1))
	u := c.Instance("u_src", source())
	c.Open(u.Pin("a"), "test")
	c.Open(u.Pin("b"), "test")
	_, err := c.Build()
	require.NoError(t, err)
}

func TestMemories(t *testing.T) {
	t.Parallel()
	ram := clocked("ram")
	ram.Memories = []graph.Memory{{Words: 16, Bits: 8, Role: "state"}}
	table := clocked("counts")
	table.Memories = []graph.Memory{{Path: "gen_a.u_ram", Words: 16, Bits: 8, Role: "state"}}
	table.Submodules = []*graph.Module{ram}
	inner := newCore()
	inner.Instance("u_table", table)
	inner.Instance("u_ram", ram)
	m, err := inner.Build()
	require.NoError(t, err)
	outer := graph.NewComposite("outer", "a test")
	outer.Clock("clk")
	outer.Reset("rst")
	outer.Instance("u_core", m)
	top, err := outer.Build()
	require.NoError(t, err)
	require.Equal(t, []graph.Memory{
		{Path: "u_core.u_table.gen_a.u_ram", Words: 16, Bits: 8, Role: "state", Module: "ram"},
		{Path: "u_core.u_ram", Words: 16, Bits: 8, Role: "state", Module: "ram"},
	}, top.AllMemories())
}

func TestDump(t *testing.T) {
	t.Parallel()
	c := newCore()
	src := source()
	src.Params = []graph.Param{{Name: "W", Value: 8}}
	u, v := c.Instance("u_src", src), c.Instance("u_dst", sink())
	c.Connect(u.Pin("a").Slice(6, 0), v.Pin("x").Slice(7, 1))
	c.Open(u.Pin("b"), "spare")
	c.Output("y", 1)
	var b strings.Builder
	require.NoError(t, c.Dump(&b))
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, digitsAfter(strings.TrimRight(line, "\n"), "graph_test.go:"))
	}
	require.Equal(t, []string{
		"composite core", "  in  clk 1 bit", "  in  rst 1 bit", "  out y 1 bit",
		"instance u_src of src W=8", "instance u_dst of dst",
		"  core/u_src.clk <- nothing", "  core/u_src.rst <- nothing",
		"  core/u_dst.clk <- nothing", "  core/u_dst.rst <- nothing",
		"  core/u_dst.x[7:1] <- core/u_src.a[6:0]  # graph/graph_test.go:LINE",
		"  core.y <- nothing",
		"  core/u_src.b[3:0] open: spare",
	}, lines)
}

func TestWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "in out Dir(7)", fmt.Sprint(graph.In, graph.Out, graph.Dir(7)))
	require.Equal(t, "m.v", leaf("m").FileName())
	_, ok := leaf("m").Stream("s")
	require.False(t, ok)
	require.Equal(t, 12, graph.Concat(graph.Const(8, 0), graph.Const(4, 0)).Width())
}
