// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/synth/yosys"
)

var laneTable = flag.Bool("lane-table", false, "count a lane's LUTs and levels at every number of stages: the tables of hdl/lanes/README.md")

// The rule for a period on UltraScale+ before placement: a level, a LUT or a whole carry chain, with the wire to it, and
// what a clock period loses to a flop's output and setup. In ns.
const (
	levelNS = 0.45
	flopNS  = 0.5
)

// laneNet is what Yosys's write_json says of one module.
type laneNet struct {
	Cells map[string]struct {
		Type       string            `json:"type"`
		Directions map[string]string `json:"port_directions"`
		Bits       map[string][]any  `json:"connections"` // numbers, or "0", "1", "x"
	} `json:"cells"`
}

// levels returns the most LUTs and carry chains between registers, inputs and outputs.
func (n *laneNet) levels() int {
	driver := map[float64]string{}
	for name, c := range n.Cells {
		for port, bits := range c.Bits {
			for _, b := range bits {
				if net, ok := b.(float64); ok && c.Directions[port] == "output" {
					driver[net] = name
				}
			}
		}
	}
	combinational := func(kind string) bool {
		return strings.HasPrefix(kind, "LUT") || kind == "CARRY4" || kind == "INV"
	}
	depth := map[string]int{}
	var at func(name string) int
	at = func(name string) int {
		if d, ok := depth[name]; ok {
			return d
		}
		c := n.Cells[name]
		if !combinational(c.Type) {
			return 0
		}
		deepest, chain := 0, 0
		for port, bits := range c.Bits {
			if c.Directions[port] != "input" {
				continue
			}
			for _, b := range bits {
				net, ok := b.(float64)
				if !ok || driver[net] == "" {
					continue
				}
				if from := driver[net]; port == "CI" && n.Cells[from].Type == "CARRY4" {
					chain = max(chain, at(from)) // the same level: carries run on at a few hundredths of a ns
				} else {
					deepest = max(deepest, at(from))
				}
			}
		}
		if c.Type != "INV" { // absorbed by what it drives
			deepest++
		}
		depth[name] = max(deepest, chain)
		return depth[name]
	}
	most := 0
	for name := range n.Cells {
		most = max(most, at(name))
	}
	return most
}

// lane maps one lane of FP32 and INT32 with all operations.
func lane(t *testing.T, stages int) (Resources, int) {
	t.Helper()
	dir := t.TempDir()
	var sources []string
	for _, f := range []string{"inc_lane_cut.v", "inc_lane.v"} {
		path, err := filepath.Abs("../hdl/lanes/" + f)
		require.NoError(t, err)
		sources = append(sources, "read_verilog -sv -defer "+path)
	}
	script := append(sources, fmt.Sprintf("hierarchy -top inc_lane -chparam STAGES %d", stages),
		"synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut -flatten", "tee -q -o cells.json stat -json", "write_json net.json")
	require.NoError(t, yosys.Run(context.Background(), dir, "lane", script, 10*time.Minute))
	stat, err := yosys.ReadStat(filepath.Join(dir, "cells.json"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "net.json"))
	require.NoError(t, err)
	var design struct {
		Modules map[string]*laneNet `json:"modules"`
	}
	require.NoError(t, json.Unmarshal(text, &design))
	for name, cells := range stat.Modules {
		if yosys.BaseName(name) == "inc_lane" {
			r, err := Count(XCUP, cells)
			require.NoError(t, err)
			for key, n := range design.Modules {
				if yosys.BaseName(yosys.Plain(key)) == "inc_lane" {
					return r, n.levels()
				}
			}
		}
	}
	require.Fail(t, "no lane in the result")
	return Resources{}, 0
}

func TestLevels(t *testing.T) {
	var n laneNet
	require.NoError(t, json.Unmarshal([]byte(`{"cells": {
		"ff": {"type": "FDRE", "port_directions": {"D": "input", "Q": "output"}, "connections": {"D": [9], "Q": [1]}},
		"l1": {"type": "LUT2", "port_directions": {"I0": "input", "I1": "input", "O": "output"}, "connections": {"I0": [1], "I1": ["0"], "O": [2]}},
		"c1": {"type": "CARRY4", "port_directions": {"S": "input", "CI": "input", "CO": "output"}, "connections": {"S": [2, "x"], "CI": ["0"], "CO": [3]}},
		"c2": {"type": "CARRY4", "port_directions": {"S": "input", "CI": "input", "O": "output"}, "connections": {"S": [1], "CI": [3], "O": [4]}},
		"i":  {"type": "INV", "port_directions": {"I": "input", "O": "output"}, "connections": {"I": [4], "O": [5]}},
		"l2": {"type": "LUT1", "port_directions": {"I0": "input", "O": "output"}, "connections": {"I0": [5], "O": [9]}}}}`), &n))
	assert.Equal(t, 3, n.levels(), "a LUT, a chain of two carries, a LUT")
}

// TestLaneTable prints LUTs, flops and the estimated clock of a lane at every number of stages.
func TestLaneTable(t *testing.T) {
	if !*laneTable {
		t.Skip("measured with -lane-table")
	}
	var b strings.Builder
	for stages := 1; stages <= 6; stages++ {
		r, levels := lane(t, stages)
		period := levelNS*float64(levels) + flopNS
		fmt.Fprintf(&b, "%d stages: %.0f LUT, %.0f FF, %.0f CARRY4, %d levels, %.2f ns, %.0f MHz\n", stages, r.LUT, r.FF, r.Carry, levels, period, 1e3/period)
	}
	t.Log("\n" + b.String())
}
