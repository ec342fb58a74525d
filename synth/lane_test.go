// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var laneTable = flag.Bool("lane-table", false, "measure a lane at every number of stages: the tables of hdl/lanes/README.md")

// laneBench writes a design of one lane of FP32 and INT32 with all operations between registers, and returns its folder.
func laneBench(t *testing.T, stages int, mhz float64) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": fmt.Sprintf(`{"schema": 1, "name": "lane", "clock": {"port": "clk", "reset": "rst", "mhz": %g},
			"params": {"lanes": 1, "dtypes": ["FP32", "INT32"], "ops": ["SUM", "MIN", "MAX"]}, "tops": {"core": {"module": "bench", "ports": []}},
			"files": ["inc_lane_cut.v", "inc_lane.v", "bench.v"], "memories": []}`, mhz),
		"bench.v": fmt.Sprintf(`module bench (input wire clk, input wire en, input wire [1:0] op, input wire is_int, input wire [31:0] a, input wire [31:0] b,
				output wire [31:0] y);
			reg [67:0] q;
			always @(posedge clk) q <= {en, op, is_int, a, b};
			inc_lane #(.STAGES(%d)) u_lane (.clk(clk), .en(q[67]), .op(q[66:65]), .is_int(q[64]), .a(q[63:32]), .b(q[31:0]), .y(y));
			endmodule`, stages),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, name := range []string{"inc_lane.v", "inc_lane_cut.v"} {
		text, err := os.ReadFile("../hdl/lanes/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return dir
}

// TestLane: a lane is one module with its registers, counted and priced; cells and lanes agree with the areas by module.
func TestLane(t *testing.T) {
	t.Parallel()
	m, err := Run(context.Background(), laneBench(t, 3, 500), Options{Script: ScriptDefault})
	require.NoError(t, err)
	assert.Equal(t, []string{"bench", "inc_lane"}, modules(m), "the cuts are a part of the lane")
	v := m.Metrics
	require.NotNil(t, m.Lanes)
	assert.Equal(t, 1, m.Lanes.Count)
	assert.Equal(t, 1.0, v["synth__lane__count"])
	lane := m.Modules[1]
	assert.InDelta(t, lane.Area, v["synth__lane__area"], 1e-3)
	assert.InDelta(t, lane.Area/v["synth__design__nand2__area"], v["synth__lane__nand2"], 1e-3)
	assert.InDelta(t, lane.Area/v["synth__design__instance__area__stdcell"], v["synth__lane__cells__share"], 1e-5)
	// The registers of its two cuts and its output; a bit or two may be merged or constant.
	assert.InDelta(t, 72+45+32, lane.Flops, 4)
	table := m.Table()
	assert.Contains(t, table, "area a lane")
	assert.Contains(t, table, "lanes: 1 of ")
	assert.Contains(t, table, "paper: 4.89 mm2 for 512 FP32 and 512 UINT ALUs")
}

func TestLaneArea(t *testing.T) {
	all := []ModuleArea{
		{Source: "inc_lane", Instances: 3, Total: 3000}, {Source: "inc_lane", Instances: 1, Total: 1400},
		{Source: "inc_lanes", Instances: 2, Total: 4400}, {Source: "inc_lane_cut", Instances: 9, Total: 90},
	}
	assert.Equal(t, &LaneArea{Count: 4, Area: 1100, Share: 0.44}, lanes(all, 10000))
	assert.Nil(t, lanes(all[2:], 10000))
}

// TestLaneTable prints area and shortest period of a lane at every number of stages, mapped for area and for speed.
func TestLaneTable(t *testing.T) {
	if !*laneTable {
		t.Skip("measured with -lane-table")
	}
	ctx := context.Background()
	var b strings.Builder
	for stages := 1; stages <= 6; stages++ {
		f, done, err := start(ctx, laneBench(t, stages, 1000), Options{})
		require.NoError(t, err)
		require.NoError(t, f.elaborate(ctx))
		gates, err := f.ladders(ctx)
		require.NoError(t, err)
		for _, try := range []struct {
			script string
			mhz    float64
		}{{ScriptDefault, 200}, {ScriptDefault, 4000}, {ScriptFastest, 4000}} {
			f.o.ClockMHz = try.mhz
			ladders := map[string][]effort{}
			for module := range gates {
				ladders[module] = []effort{{try.script, 1, easyGain}}
			}
			area, period := f.point(ctx, t, ladders)
			fmt.Fprintf(&b, "%d stages, %s at %g MHz: %.0f um2, %.3f ns, %.0f MHz\n", stages, try.script, try.mhz, area, period, 1e3/period)
		}
		done()
	}
	t.Log("\n" + b.String())
}

// point maps the design and returns the area of its lane in um2 and the shortest period in ns.
func (f *flow) point(ctx context.Context, t *testing.T, ladders map[string][]effort) (area, period float64) {
	t.Helper()
	r, err := f.try(ctx, ladders, state{})
	require.NoError(t, err)
	m, err := f.measure(r.stat, r.timing)
	require.NoError(t, err)
	return m.Metrics["synth__lane__area"], 1e3/f.o.ClockMHz - m.Metrics["synth__timing__setup__ws"]
}
