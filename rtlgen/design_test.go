// SPDX-License-Identifier: Apache-2.0

package rtlgen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/lint"
	"incforge/internal/testcost"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

func preset(t testing.TB, name string) params.Params {
	t.Helper()
	p, err := params.Preset(name)
	require.NoError(t, err)
	return p
}

func presets(t testing.TB) []string {
	t.Helper()
	names, err := params.Presets()
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

// asText compares files line by line; byte by byte takes ten times as long.
var asText = cmp.Transformer("text", func(data []byte) string { return string(data) })

// TestSameBytesTwice: a design depends on its parameters and on nothing else.
func TestSameBytesTwice(t *testing.T) {
	t.Parallel()
	for _, name := range presets(t) {
		first, err := rtlgen.Generate(preset(t, name))
		require.NoError(t, err)
		second, err := rtlgen.Generate(preset(t, name))
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(first.Files, second.Files, asText), name)
	}
}

// TestManifest: what the manifest says is there, and what is there is said.
func TestManifest(t *testing.T) {
	t.Parallel()
	for _, name := range presets(t) {
		d, err := rtlgen.Generate(preset(t, name))
		require.NoError(t, err)
		files := d.Files.Map()
		var got contract.Manifest
		require.NoError(t, json.Unmarshal(files[contract.FileName], &got))
		again, err := json.MarshalIndent(got, "", "  ")
		require.NoError(t, err)
		assert.Equal(t, string(files[contract.FileName]), string(again)+"\n", "%s: nothing in the file that the type does not know", name)

		var verilog []string
		for _, f := range d.Files {
			if strings.HasSuffix(f.Path, ".v") {
				verilog = append(verilog, f.Path)
				module := strings.TrimSuffix(f.Path[strings.LastIndex(f.Path, "/")+1:], ".v")
				assert.Equal(t, 1, strings.Count(string(f.Data), "\nmodule "+module+" "), "%s: one module a file", f.Path)
			}
		}
		assert.Equal(t, verilog, got.Files, name)
		assert.Equal(t, strings.Join(verilog, "\n")+"\n", string(files["files.f"]), name)
		assert.Equal(t, name+"_core", got.Tops["core"].Module)
		assert.Equal(t, name+"_switch", got.Tops["switch"].Module)

		var payload, others int
		for _, m := range got.Memories {
			if m.Role == "payload" {
				payload += m.Words * m.Bits
			} else {
				others += m.Words * m.Bits
			}
		}
		derived := d.Params.Derived()
		want := 8 * derived.Slots * derived.Planes * d.Params.Contract().SlotBytes() * d.Params.Engines
		if d.Params.ECC {
			word := min(8*derived.RowBytes, 128)
			if derived.RowBytes%128 == 0 {
				word = 1024
			}
			want += want / word * map[int]int{32: 7, 64: 8, 128: 9, 1024: 12}[word]
		}
		assert.Equal(t, want, payload, "%s: the payload memory is the buffer, as far as it makes whole slots, and its check bits", name)
		assert.NotZero(t, others)
	}
}

// TestDigest: every parameter changes it.
func TestDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, set := range []string{"name=mini2", "members=3", "ports=5", "window_packets=2", "icrc_check=false", "clock_mhz=200", "mtu_bytes=512",
		"groups=1", "buffer_bytes=32768", "bus_bytes=16", "memory=ram", "engines=2"} {
		p, err := params.Preset("mini", set)
		require.NoError(t, err)
		d, err := rtlgen.Generate(p)
		require.NoError(t, err)
		assert.Empty(t, seen[d.Manifest.Digest], set)
		seen[d.Manifest.Digest] = set
	}
}

// TestPortClocks: every crossing of a switch whose ports have clocks is in its constraints, and the core has one clock.
func TestPortClocks(t *testing.T) {
	t.Parallel()
	p, err := params.Preset("mini", "port_bytes=2", "port_clock_mhz=[50, 400, 156.25, 322.265625]")
	require.NoError(t, err)
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	files := d.Files.Map()
	sdc, xdc := string(files["mini.sdc"]), string(files["mini.xdc"])
	for i, want := range []struct{ period, most string }{{"20.000", "4.000"}, {"2.500", "2.500"}, {"6.400", "4.000"}, {"3.103", "3.103"}} {
		clock := contract.PortClock(i)
		assert.Contains(t, sdc, fmt.Sprintf("create_clock -name %s -period %s ", clock, want.period))
		for _, way := range []string{"-from [get_clocks clk] -to [get_clocks " + clock + "]", "-from [get_clocks " + clock + "] -to [get_clocks clk]"} {
			assert.Contains(t, sdc, "set_max_delay "+want.most+" "+way)
			assert.Contains(t, xdc, "set_max_delay -datapath_only "+way+" "+want.most)
		}
		for _, skew := range []struct{ path, most string }{
			{"u_rx_p%d/u_frames", want.period}, {"u_rx_p%d/u_head", "4.000"}, {"u_tx_p%d/u_frames", "4.000"}, {"u_tx_p%d/u_head", want.period},
			{"u_tx_p%d/u_sent/u_count", want.period}, {"u_rx_p%d/gen_event[4].u_event/u_count", want.period},
		} {
			path := fmt.Sprintf(skew.path, i)
			assert.Contains(t, xdc, fmt.Sprintf("set_bus_skew -from [get_cells {%[1]s/gray_reg_reg[*]}] -to [get_cells {%[1]s/meta_reg_reg[*]}] %[2]s\n", path, skew.most))
		}
	}
	const counts = 7 + 3 // of a port's two queues
	assert.Equal(t, p.Ports*counts, strings.Count(xdc, "set_bus_skew"))
	assert.Equal(t, 2*p.Ports, strings.Count(xdc, "u_reset/far_reg_reg[*]/PRE"))
	assert.NotContains(t, string(files["mini_core.sdc"]), "clk_p")
	assert.NotContains(t, d.Files.Map(), "mini_core.xdc")
	plain, err := rtlgen.Generate(preset(t, "mini"))
	require.NoError(t, err)
	assert.NotContains(t, plain.Files.Map(), "mini.xdc")
	assert.Contains(t, string(files["mini.core"]), "      - mini.xdc\n    file_type: xdc\n")
	assert.NotContains(t, string(plain.Files.Map()["mini.core"]), "xdc")
}

// TestRefusedBeforeAnything: all problems at once, no design.
func TestRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	p := preset(t, "mini")
	p.BusBytes, p.Members = 12, 99
	d, err := rtlgen.Generate(p)
	assert.Nil(t, d)
	var problems params.Problems
	require.ErrorAs(t, err, &problems)
	assert.GreaterOrEqual(t, len(problems), 2)
}

// shape draws legal parameters from the whole range, the corners more often than the middle.
func shape(rng *rand.Rand, i int) params.Params {
	pick := func(from ...int) int { return from[rng.IntN(len(from))] }
	p := params.Params{
		Name: fmt.Sprintf("shape%d", i), Mode: 2, BusBytes: pick(8, 16, 32, 64), DTypes: []params.DType{contract.INT32}, Ops: []params.Op{contract.SUM},
		Accumulate: params.InPlace, Groups: pick(1, 2, 3, 5, 64), Members: pick(1, 2, 3, 4, 7, 8, 15, 16), Ports: pick(1, 2, 3, 4, 17, 32),
		MTUBytes: pick(256, 512, 1024, 2048, 4096), WindowPackets: pick(1, 2, 4, 16), ClockMHz: pick(1, 250, 2000),
		ICRCCheck: rng.IntN(4) != 0, Memory: params.MemoryAuto, Technology: params.FPGA, PayloadBanks: 1, InBand: rng.IntN(4) != 0, Priorities: 1, Engines: 1,
	}
	p.Lanes = p.BusBytes / 4
	p.BufferBytes = p.MTUBytes * (2*p.WindowPackets + pick(0, 0, 1, 3, 32))
	return p
}

// TestAnyShapeLints: whatever is not refused is clean under Verilator -Wall, Icarus and Yosys. The switch has the core in it.
func TestAnyShapeLints(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3 {
		p := shape(rng, i)
		if i == 1 {
			p.Ports, p.PortBytes, p.PortClockMHz = 2, p.BusBytes/4, []float64{322.265625, 100}
		}
		if i == 2 {
			p.Engines, p.Groups = 3, 2
		}
		t.Run(strings.ReplaceAll(strings.TrimSpace(string(p.YAML())), "\n", " "), func(t *testing.T) {
			t.Parallel()
			d, err := rtlgen.Generate(p)
			require.NoError(t, err)
			dir := t.TempDir()
			require.NoError(t, d.Write(dir))
			report, err := lint.Dir(testcost.Context(t), dir, "switch")
			require.NoError(t, err)
			assert.NotEmpty(t, report.Runs)
			assert.Empty(t, report.Findings)
		})
	}
}

// BenchmarkGenerate is the time to make all files of a preset, in memory.
func BenchmarkGenerate(b *testing.B) {
	for _, name := range presets(b) {
		b.Run(name, func(b *testing.B) {
			p := preset(b, name)
			for b.Loop() {
				if _, err := rtlgen.Generate(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
