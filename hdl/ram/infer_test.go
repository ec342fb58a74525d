// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/ram"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// infer runs Yosys up to whole memories, flattened, then what more says.
func infer(t *testing.T, d graph.Describer, more ...string) error {
	t.Helper()
	m, err := d.Module()
	require.NoError(t, err)
	files, err := verilog.Collect(m)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, files.Write(dir))
	library, err := filepath.Abs("testdata/one_port.txt")
	require.NoError(t, err)
	var script strings.Builder
	for _, f := range files.Paths() {
		fmt.Fprintf(&script, "read_verilog -defer %s\n", filepath.Join(dir, f))
	}
	script.WriteString("hierarchy -check -top " + m.Name)
	for _, p := range m.Params {
		fmt.Fprintf(&script, " -chparam %s %d", p.Name, p.Value)
	}
	script.WriteString("\nproc\nflatten\nopt\nmemory_dff\nmemory_collect\nopt_clean\n")
	for _, line := range more {
		script.WriteString(strings.ReplaceAll(line, "LIBRARY", library) + "\n")
	}
	ys := filepath.Join(dir, "infer.ys")
	require.NoError(t, os.WriteFile(ys, []byte(script.String()), 0o644))
	_, err = tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", ys}})
	return err
}

// TestInferred: Yosys sees a memory in every form and leaves no word in flops, output registers included, but the one that is corrected; a
// bank fits a memory with one port.
func TestInferred(t *testing.T) {
	t.Parallel()
	const noFlop, onePort = "select -assert-none t:$dff*", "select -assert-count 1 t:$__ONE_PORT_"
	for style := range 3 {
		two := ram.RAM{Words: 100, Bits: 8, AddrW: 7, Style: style}
		require.NoError(t, infer(t, two, "select -assert-count 1 t:$mem_v2", noFlop), "%+v", two)
		apart := two
		apart.Apart = 1
		require.NoError(t, infer(t, apart, "select -assert-count 1 t:$mem_v2", noFlop), "%+v", apart)
		require.NoError(t, infer(t, onePortOf(two), "select -assert-count 1 t:$mem_v2", noFlop), "%+v", two)
	}
	for style := range 2 {
		one := ram.OnePort{Words: 100, Bits: 8, AddrW: 7, Style: style}
		require.NoError(t, infer(t, one, "memory_libmap -lib LIBRARY", onePort, noFlop), "%+v", one)
	}
	require.Error(t, infer(t, ram.RAM{Words: 100, Bits: 8, AddrW: 7}, "memory_libmap -lib LIBRARY", onePort), "two ports do not fit in one")

	for _, ecc := range []int{0, 1} {
		one := ram.Payload{Rows: 300, Bits: 128, AddrW: 9, Banks: 1, ECC: ecc}
		corrected := fmt.Sprintf("select -assert-count %d t:$dff* r:WIDTH=137 %%i", ecc)
		require.NoError(t, infer(t, one, "select -assert-count 1 t:$mem_v2", corrected, fmt.Sprintf("select -assert-count %d t:$dff*", ecc)),
			"%+v", one)
		// The other flops say which bank was read.
		banks := ram.Payload{Rows: 300, Bits: 128, AddrW: 9, Banks: 4, ECC: ecc}
		require.NoError(t, infer(t, banks, "select -assert-count 4 t:$mem_v2", "opt_dff", corrected,
			fmt.Sprintf("select -assert-count %d t:$dff*", 4+ecc), "select -assert-count 4 t:$dff* r:WIDTH=1 %i"), "%+v", banks)
	}
}
