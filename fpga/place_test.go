// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/fpga/place"
	"incforge/internal/tool"
)

var placing = flag.Bool("place", false, "place and route small designs: make place")

// onBoard is how a test places; it is skipped unless asked for, and where nextpnr is not installed.
func onBoard(t *testing.T, f Family, seeds ...int) *place.Options {
	t.Helper()
	if !*placing {
		t.Skip("nextpnr takes a minute of a processor: make place, or -place")
	}
	o := &place.Options{Seeds: seeds, ToolDirs: []string{filepath.Join("..", "build", "place-tools", "bin")}}
	dev, err := f.Device()
	require.NoError(t, err)
	if err := place.Available(dev, *o); err != nil {
		t.Skipf("%v: make tools-place installs it", err)
	}
	return o
}

// A small design, placed and routed with two seeds: a clock, and every block in the picture.
func TestPlace(t *testing.T) {
	m, err := Run(context.Background(), standin, ECP5, Options{Place: onBoard(t, ECP5, 1, 2)})
	require.NoError(t, err)
	p := m.Place
	require.NotNil(t, p)
	require.Len(t, p.Runs, 2)
	assert.Equal(t, min(p.Runs[0].FoundMHz, p.Runs[1].FoundMHz), p.FoundMHz)
	assert.Equal(t, p.FoundMHz, m.Clock.FoundMHz)
	// Sums of 32 bits on an ECP5: tens to hundreds of MHz.
	assert.Greater(t, p.FoundMHz, 40.0)
	assert.Less(t, p.FoundMHz, 600.0)
	assert.InDelta(t, 1e3/p.FoundMHz, p.PathNS, 0.05*p.PathNS, "the critical path is the period")
	assert.NotEmpty(t, p.Path)
	assert.NotEmpty(t, p.Picture)
	assert.NotEmpty(t, p.Legend)
	assert.Equal(t, "each port at a pad", p.Pins)
	table := m.Table()
	assert.Contains(t, table, m.Clock.String())
	assert.Contains(t, table, "spread over the seeds")
	assert.NotEmpty(t, m.Tools[strings.Fields(p.Tool)[0]])
}

// Where nextpnr finds no pads a design is placed behind shift registers, whose names do not show in the blocks.
func TestPlaceBehindRegisters(t *testing.T) {
	o := onBoard(t, Nexus, 1)
	m, err := Run(context.Background(), standin, Nexus, Options{Place: o})
	require.NoError(t, err)
	p := m.Place
	assert.Contains(t, p.Pins, "behind shift registers")
	assert.Greater(t, p.FoundMHz, 40.0)
	require.NotEmpty(t, p.Path)
	for _, s := range p.Path {
		assert.NotContains(t, s.Block, wrappedInstance)
	}
	for _, e := range p.Legend {
		assert.NotContains(t, e.Block, wrappedInstance)
	}
}

func TestPlaceErrors(t *testing.T) {
	_, err := XCUP.Device()
	require.ErrorIs(t, err, ErrNoPlace)
	m := &Metrics{Family: ECP5}
	o := Options{Place: &place.Options{Seeds: []int{1}, ToolDirs: []string{t.TempDir()}}}
	t.Setenv("PATH", "")
	_, err = m.Family.Device()
	require.NoError(t, err)
	dev, _ := ECP5.Device()
	var missing *tool.NotFoundError
	require.ErrorAs(t, place.Available(dev, *o.Place), &missing)
	assert.Contains(t, missing.Error(), "make tools-place")
}

// The wrapper has a few ports, and connects every port of the top.
func TestWrapper(t *testing.T) {
	text := wrapper(contract.Top{Module: "e", Ports: []contract.Port{{Name: "clk", Dir: "in", Width: 1}, {Name: "a", Dir: "in", Width: 8}, {Name: "b", Dir: "in", Width: 2},
		{Name: "y", Dir: "out", Width: 4}, {Name: "z", Dir: "out", Width: 1}}}, "clk")
	assert.Contains(t, text, "e engine (.clk(clk), .a(in[7:0]), .b(in[9:8]), .y(out[3:0]), .z(out[4:4]));")
	assert.Contains(t, text, "reg [9:0] in;")
	assert.Contains(t, text, "wire [4:0] out;")
}
