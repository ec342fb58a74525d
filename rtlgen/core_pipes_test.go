// SPDX-License-Identifier: Apache-2.0

package rtlgen_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/lint"
	"incforge/internal/testcost"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// TestPipesLint: Mode III at its corners is clean under Verilator -Wall, Icarus and Yosys: one endpoint and one group, the most of both,
// the narrowest and a wide bus, in place and as a tree, without ranges, and with check bits in all memories. The switch has the core in it.
func TestPipesLint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset, set string
	}{
		{"mini3", ""},
		{"mini3", "ecc=all memory_pins=3 vlan=true interrupts=true"},
		{"mini3", "members=1 groups=1 ports=1 window_packets=1 in_band=false clock_mhz=1"},
		{"trio3", "members=16 groups=64 ports=17 bus_bytes=128 lanes=32 window_packets=2 mtu_bytes=4096 buffer_bytes=524288 icrc_check=false memory=auto adder_stages=6 clock_mhz=1000"},
	} {
		t.Run(strings.TrimSpace(c.preset+" "+c.set), func(t *testing.T) {
			t.Parallel()
			p, err := params.Preset(c.preset, strings.Fields(c.set)...)
			require.NoError(t, err)
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

// TestPipesReplaceOneBlock: Mode III has no CheckDuplicate and nothing that is in it alone, and of the others all that Mode II has, with five
// blocks more.
func TestPipesReplaceOneBlock(t *testing.T) {
	t.Parallel()
	blocks := func(preset string) map[string]bool {
		p, err := params.Preset(preset)
		require.NoError(t, err)
		d, err := rtlgen.Generate(p)
		require.NoError(t, err)
		out := map[string]bool{}
		for _, f := range d.Manifest.Files {
			if module := f[strings.LastIndex(f, "/")+1:]; !strings.HasPrefix(module, preset) { // core and switch have the preset's name
				out[module] = true
			}
		}
		return out
	}
	two, three := blocks("mini"), blocks("mini3")
	for f := range two {
		assert.Equal(t, f != "inc_check_duplicate.v" && f != "inc_least_ack.v", three[f], f)
	}
	for f := range three {
		own := f == "inc_check_pipe.v" || f == "inc_past.v" || f == "inc_send_ack.v" || f == "inc_retransmission.v" || f == "inc_start_turn.v"
		assert.Equal(t, !own, two[f], f)
	}
}
