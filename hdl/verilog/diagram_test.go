// SPDX-License-Identifier: Apache-2.0

package verilog_test

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/verilog"
)

// block describes a made-up leaf: streams in and out by name, other ports as
// "in NAME WIDTH".
func block(paperName string, in, out []string, ports ...string) *graph.Module {
	name := "x_" + strings.ToLower(strings.ReplaceAll(paperName, " ", "_"))
	m := &graph.Module{Name: name, Block: paperName, Purpose: "stands for " + paperName, Source: []byte("module " + name), Ports: clocked()}
	for _, s := range in {
		m.Ports = append(m.Ports, graph.StreamPorts(s, graph.In, beat(512, 1))...)
		m.Streams = append(m.Streams, graph.Stream{Name: s, Dir: graph.In})
	}
	for _, s := range out {
		m.Ports = append(m.Ports, graph.StreamPorts(s, graph.Out, beat(512, 1))...)
		m.Streams = append(m.Streams, graph.Stream{Name: s, Dir: graph.Out})
	}
	for _, text := range ports {
		var dir string
		var p graph.Port
		if n, err := fmt.Sscan(text, &dir, &p.Name, &p.Width); n != 3 {
			panic(err)
		}
		if dir == "out" {
			p.Dir = graph.Out
		}
		m.Ports = append(m.Ports, p)
	}
	return m
}

// engine is a composite of about the size and shape of a real engine.
func engine(t *testing.T) *graph.Module {
	c := graph.NewComposite("t_engine", "blocks of an engine, to look at the diagram")
	c.Clock("clk")
	c.Reset("rst")
	parser := c.Instance("u_parser", block("Parser", []string{"s_axis"}, []string{"m_axis"}, "out raw_data 512", "out raw_valid 1", "in raw_ready 1", "out hdr_psn 24", "out hdr_qpn 24", "out hdr_opcode 8"))
	lookup := c.Instance("u_lookup", block("Lookup Table", nil, nil, "in hdr_psn 24", "in hdr_qpn 24", "in hdr_opcode 8", "out rec_group 4", "out rec_slot 16", "in cfg_wdata 32"))
	check := c.Instance("u_check", block("Check Duplicate", []string{"s_axis"}, []string{"data", "ack"}, "in rec_group 4", "in rec_slot 16", "out st_mask 16", "in recycled 16"))
	icrc := c.Instance("u_icrc", block("ICRC check", []string{"s_axis"}, []string{"m_axis"}))
	agg := c.Instance("u_agg", block("Aggregate Data", []string{"s_axis"}, []string{"m_axis"}, "in st_mask 16", "out done 16", "in rdata 512", "out wdata 512"))
	ram := c.Instance("u_ram", block("Payload RAM", nil, nil, "in wdata 512", "out rdata 512"))
	rec := c.Instance("u_recycle", block("Recycle Buffer", nil, nil, "in done 16", "out recycled 16"))
	rep := c.Instance("u_replicate", block("Replicate Data", []string{"s_axis"}, []string{"m_axis"}, "in cfg_wdata 32"))
	tr := c.Instance("u_translate", block("Translate Header", []string{"data", "ack"}, []string{"m_axis"}, "in cfg_wdata 32"))
	arb := c.Instance("u_forward", block("Forward", []string{"made"}, []string{"m_axis"}, "in raw_data 512", "in raw_valid 1", "out raw_ready 1"))
	csr := c.Instance("u_csr", block("Registers", nil, nil, "in axil_awaddr 12", "in axil_awvalid 1", "out axil_awready 1", "in axil_wdata 32", "out cfg_wdata 32"))
	c.ConnectStream(c.InputStream("s_axis", beat(512, 1)), parser.Stream("s_axis"))
	c.ConnectStream(parser.Stream("m_axis"), icrc.Stream("s_axis"))
	c.ConnectStream(icrc.Stream("m_axis"), check.Stream("s_axis"))
	c.ConnectStream(check.Stream("data"), agg.Stream("s_axis"))
	c.ConnectStream(check.Stream("ack"), tr.Stream("ack"))
	c.ConnectStream(agg.Stream("m_axis"), rep.Stream("s_axis"))
	c.ConnectStream(rep.Stream("m_axis"), tr.Stream("data"))
	c.ConnectStream(tr.Stream("m_axis"), arb.Stream("made"))
	c.Link(parser, arb, "raw_")
	c.Link(arb, parser, "raw_")
	out := c.OutputStream("m_axis", beat(512, 1))
	for _, signal := range []string{"tdata", "tkeep", "tlast", "tuser", "tvalid"} {
		c.Connect(arb.Stream("m_axis").Pin(signal), out.Pin(signal))
	}
	c.Connect(out.Pin("tready"), arb.Stream("m_axis").Pin("tready"))
	c.Link(parser, lookup, "hdr_")
	c.Link(lookup, check, "rec_")
	c.Connect(check.Pin("st_mask"), agg.Pin("st_mask"))
	c.Connect(agg.Pin("done"), rec.Pin("done"))
	c.Connect(rec.Pin("recycled"), check.Pin("recycled"))
	c.Connect(agg.Pin("wdata"), ram.Pin("wdata"))
	c.Connect(ram.Pin("rdata"), agg.Pin("rdata"))
	for _, u := range []*graph.Instance{lookup, rep, tr} {
		c.Link(csr, u, "cfg_")
	}
	for _, p := range []string{"awaddr 12", "awvalid 1", "wdata 32"} {
		name, width, _ := strings.Cut(p, " ")
		var w int
		_, err := fmt.Sscan(width, &w)
		require.NoError(t, err)
		c.Connect(c.Input("s_axil_"+name, w), csr.Pin("axil_"+name))
	}
	c.Connect(csr.Pin("axil_awready"), c.Output("s_axil_awready", 1))
	m, err := c.Build()
	require.NoError(t, err)
	return m
}

type drawn struct {
	Groups []struct {
		Class string `xml:"class,attr"`
		Rect  struct {
			X float64 `xml:"x,attr"`
			Y float64 `xml:"y,attr"`
			W float64 `xml:"width,attr"`
			H float64 `xml:"height,attr"`
		} `xml:"rect"`
		Texts []string `xml:"text"`
		Paths []struct {
			Class string `xml:"class,attr"`
		} `xml:"path"`
	} `xml:"g"`
	Box string `xml:"viewBox,attr"`
}

// TestDiagram: every block once, none on top of another, all within the picture,
// every stream drawn; a stream is one also where it was linked as fields (raw_data,
// raw_valid) or connected signal by signal.
func TestDiagram(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		m       *graph.Module
		streams int
	}{{engine(t), 10}, {core(t, "t_core", 64), 4}, {top(t), 3}} {
		m := tc.m
		text, err := verilog.Diagram(m)
		require.NoError(t, err)
		again, err := verilog.Diagram(m)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		golden(t, m.Name+".svg", text)

		var d drawn
		require.NoError(t, xml.Unmarshal(text, &d))
		var x0, y0, width, height float64
		_, err = fmt.Sscan(d.Box, &x0, &y0, &width, &height)
		require.NoError(t, err)
		var names []string
		streams := 0
		for i, g := range d.Groups {
			if g.Class == "edge" {
				require.Len(t, g.Paths, 1)
				if g.Paths[0].Class == "stream" {
					streams++
				}
				continue
			}
			names = append(names, g.Texts[1])
			r := g.Rect
			assert.True(t, r.X >= 0 && r.Y >= 0 && r.X+r.W <= width && r.Y+r.H <= height, "%s: %v lies outside", m.Name, g.Texts)
			for _, o := range d.Groups[i+1:] {
				q := o.Rect
				overlap := r.X < q.X+q.W && q.X < r.X+r.W && r.Y < q.Y+q.H && q.Y < r.Y+r.H
				assert.False(t, o.Class != "edge" && overlap, "%s: %v covers %v", m.Name, g.Texts, o.Texts)
			}
		}
		for _, inst := range m.Composed().Instances {
			assert.True(t, slices.Contains(names, inst.Name), "%s: no block %s", m.Name, inst.Name)
		}
		assert.Equal(t, tc.streams, streams, m.Name)
	}
}

// TestOverview: the blocks of the stages once, none on top of another and all within the picture, left to right by stage; streams and wide
// connections are drawn, the others told in the hover text; a block that no stage has is left out.
func TestOverview(t *testing.T) {
	t.Parallel()
	m := engine(t)
	stages := []verilog.Stage{{Name: "in", Blocks: []string{"Parser", "ICRC check", "Lookup Table"}}, {Name: "decide", Blocks: []string{"Check Duplicate"}},
		{Name: "sum", Blocks: []string{"Aggregate Data", "Replicate Data"}}, {Name: "out", Blocks: []string{"Translate Header", "Forward"}},
		{Name: "control", Blocks: []string{"Registers", "Recycle Buffer"}}}
	text, err := verilog.Overview(m, stages)
	require.NoError(t, err)
	again, err := verilog.Overview(m, stages)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	var d drawn
	require.NoError(t, xml.Unmarshal(text, &d))
	var x0, y0, width, height float64
	_, err = fmt.Sscan(d.Box, &x0, &y0, &width, &height)
	require.NoError(t, err)
	at := map[string]float64{}
	streams, others := 0, 0
	for i, g := range d.Groups {
		switch {
		case g.Class == "stage":
			continue
		case g.Class == "edge" && g.Paths[0].Class == "stream":
			streams++
			continue
		case g.Class == "edge":
			others++
			continue
		}
		r := g.Rect
		assert.NotContains(t, at, g.Texts[0])
		at[g.Texts[0]] = r.X
		assert.True(t, r.X >= 0 && r.Y >= 0 && r.X+r.W <= width && r.Y+r.H <= height, "%v lies outside", g.Texts)
		for _, o := range d.Groups[i+1:] {
			q := o.Rect
			overlap := r.X < q.X+q.W && q.X < r.X+r.W && r.Y < q.Y+q.H && q.Y < r.Y+r.H
			assert.False(t, o.Class != "edge" && overlap, "%v covers %v", g.Texts, o.Texts)
		}
	}
	for _, s := range stages {
		for _, b := range s.Blocks {
			assert.Contains(t, at, b)
		}
	}
	assert.NotContains(t, at, "Payload RAM")
	for _, pair := range [][2]string{{"s_axis", "Check Duplicate"}, {"Check Duplicate", "Aggregate Data"}, {"Aggregate Data", "Forward"}} {
		assert.Less(t, at[pair[0]], at[pair[1]], "%v", pair)
	}
	assert.Equal(t, 10, streams)
	assert.Equal(t, 5, others, "three blocks have no wide connection: their two widest, if they have two, and one of them is in both")
	assert.Contains(t, string(text), "Payload RAM u_ram: ", "what is not drawn is told")

	_, err = verilog.Overview(regModule(t, 8), stages)
	require.EqualError(t, err, "overview: not a composite with stages")
}

func TestDiagramRefuses(t *testing.T) {
	t.Parallel()
	_, err := verilog.Diagram(regModule(t, 8))
	require.EqualError(t, err, "diagram: not a composite")
}
