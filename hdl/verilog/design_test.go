// SPDX-License-Identifier: Apache-2.0

package verilog_test

import (
	"embed"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
)

//go:embed testdata/leaf/*.v
var leafs embed.FS

// leaf makes a description with the text of testdata/leaf/NAME.v.
func leaf(t *testing.T, m graph.Module) *graph.Module {
	t.Helper()
	src, err := leafs.ReadFile("testdata/leaf/" + m.Name + ".v")
	require.NoError(t, err)
	m.Source = src
	require.NoError(t, m.Check())
	return &m
}

func clocked(ports ...graph.Port) []graph.Port {
	return append([]graph.Port{{Name: "clk", Width: 1}, {Name: "rst", Width: 1}}, ports...)
}

func streamThrough(shape graph.Shape, more ...graph.Port) []graph.Port {
	ports := append(graph.StreamPorts("s_axis", graph.In, shape), graph.StreamPorts("m_axis", graph.Out, shape)...)
	return clocked(append(ports, more...)...)
}

func beat(dataW, userW int) graph.Shape {
	return graph.Shape{Data: dataW, Keep: dataW / 8, User: userW, Last: true}
}

func inOut() []graph.Stream {
	return []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}}
}

func regModule(t *testing.T, dataW int) *graph.Module {
	return leaf(t, graph.Module{
		Name: "t_reg", Purpose: "one stage of a stream", Block: "Parser", Latency: "1 cycle",
		Params:  []graph.Param{{Name: "DATA_W", Value: dataW}, {Name: "USER_W", Value: 1}},
		Ports:   streamThrough(beat(dataW, 1)),
		Streams: inOut(),
	})
}

func headerModule(t *testing.T, dataW int) *graph.Module {
	return leaf(t, graph.Module{
		Name: "t_header", Purpose: "shows fields of a frame's first beat", Block: "Header Translation", Latency: "0 cycles",
		Params: []graph.Param{{Name: "DATA_W", Value: dataW}},
		Ports: streamThrough(beat(dataW, 1),
			graph.Port{Name: "hdr_valid", Dir: graph.Out, Width: 1},
			graph.Port{Name: "hdr_psn", Dir: graph.Out, Width: 24},
			graph.Port{Name: "hdr_opcode", Dir: graph.Out, Width: 8}),
		Streams: inOut(),
	})
}

func tableModule(t *testing.T, addrW int) *graph.Module {
	ram := leaf(t, graph.Module{
		Name: "t_ram", Purpose: "one write port, one read port",
		Params: []graph.Param{{Name: "ADDR_W", Value: addrW}},
		Ports: []graph.Port{
			{Name: "clk", Width: 1},
			{Name: "raddr", Width: addrW}, {Name: "rdata", Dir: graph.Out, Width: 32},
			{Name: "wen", Width: 1}, {Name: "waddr", Width: addrW}, {Name: "wdata", Width: 32},
		},
		Memories: []graph.Memory{{Words: 1 << addrW, Bits: 32, Role: "counts"}},
	})
	return leaf(t, graph.Module{
		Name: "t_table", Purpose: "counts headers by PSN", Block: "Lookup Table", Latency: "1 cycle",
		Params: []graph.Param{{Name: "ADDR_W", Value: addrW}},
		Ports: clocked(
			graph.Port{Name: "hdr_valid", Width: 1},
			graph.Port{Name: "hdr_psn", Width: 24},
			graph.Port{Name: "hdr_opcode", Width: 8},
			graph.Port{Name: "mode", Width: 3},
			graph.Port{Name: "seen", Dir: graph.Out, Width: 32},
			graph.Port{Name: "age", Dir: graph.Out, Width: 16}),
		Memories:   []graph.Memory{{Path: "u_counts", Words: 1 << addrW, Bits: 32, Role: "counts"}},
		Submodules: []*graph.Module{ram},
	})
}

func flipModule(t *testing.T, width int) *graph.Module {
	return leaf(t, graph.Module{
		Name: "t_flip", Purpose: "turns a word round", Latency: "0 cycles",
		Params: []graph.Param{{Name: "WIDTH", Value: width}},
		Ports:  []graph.Port{{Name: "in_word", Width: width}, {Name: "out_word", Dir: graph.Out, Width: width}},
	})
}

// core is a small composite that uses every kind of connection.
func core(t *testing.T, name string, dataW int) *graph.Module {
	c := graph.NewComposite(name, "a stream that is watched, counted and passed on, to try every kind of connection")
	c.Latency = "2 cycles from s_axis to m_axis"
	c.Block = "IncEngine"
	c.Notes = []string{"data width 64 bits"}
	c.Clock("clk", graph.Doc("rising edge"))
	c.Reset("rst", graph.Doc("synchronous, active high"))
	in := c.InputStream("s_axis", beat(dataW, 1), graph.Doc("frames in"))
	out := c.OutputStream("m_axis", beat(dataW, 1), graph.Doc("frames out"))
	scratch := c.Input("scratch", 8, graph.Doc("bits 3:0 are passed on, the rest is spare"))

	a := c.Instance("u_in", regModule(t, dataW))
	h := c.Instance("u_header", headerModule(t, dataW))
	tab := c.Instance("u_table", tableModule(t, 4))
	flip := c.Instance("u_flip", flipModule(t, 8))
	b := c.Instance("u_out", regModule(t, dataW))

	c.ConnectStream(in, a.Stream("s_axis"))
	c.ConnectStream(a.Stream("m_axis"), h.Stream("s_axis"))
	c.ConnectStream(h.Stream("m_axis"), b.Stream("s_axis"))
	c.ConnectStream(b.Stream("m_axis"), out)
	c.Link(h, tab, "hdr_")
	c.Tie(tab.Pin("mode"), 5)
	c.Connect(tab.Pin("seen").Slice(7, 0), flip.Pin("in_word"))
	c.Connect(tab.Pin("seen"), c.Output("seen", 32, graph.Doc("word of the last header")))
	c.Connect(graph.Concat(graph.Const(72, 0xDEADBEEF), flip.Pin("out_word").Slice(7, 4), scratch.Slice(3, 0)),
		c.Output("mixed", 80, graph.Doc("constants, a slice and an input")))
	c.Connect(h.Pin("hdr_valid"), c.Output("hdr_seen", 1))
	c.Open(tab.Pin("age"), "only the software model uses it")
	c.Open(flip.Pin("out_word").Slice(3, 0), "the upper half is enough")
	c.Open(scratch.Slice(7, 4), "spare")

	m, err := c.Build()
	require.NoError(t, err)
	return m
}

// top instantiates two cores, so that there is a hierarchy of composites.
func top(t *testing.T) *graph.Module {
	inner := core(t, "t_core", 64)
	c := graph.NewComposite("t_top", "two cores in a row")
	c.Clock("clk")
	c.Reset("rst")
	first, second := c.Instance("u_first", inner), c.Instance("u_second", inner)
	c.ConnectStream(c.InputStream("s_axis", first.Stream("s_axis").Shape()), first.Stream("s_axis"))
	c.ConnectStream(first.Stream("m_axis"), second.Stream("s_axis"))
	c.ConnectStream(second.Stream("m_axis"), c.OutputStream("m_axis", second.Stream("m_axis").Shape()))
	c.Tie(first.Pin("scratch"), 0)
	c.Connect(graph.Concat(first.Pin("hdr_seen"), first.Pin("seen").Slice(6, 0)), second.Pin("scratch"))
	c.Open(first.Pin("seen").Slice(31, 7), "seven bits are enough")
	c.Open(first.Pin("mixed"), "not needed here")
	c.Open(second.Pin("mixed"), "not needed here")
	c.Open(second.Pin("hdr_seen"), "not needed here")
	c.Connect(second.Pin("seen"), c.Output("seen", 32))
	m, err := c.Build()
	require.NoError(t, err)
	return m
}
