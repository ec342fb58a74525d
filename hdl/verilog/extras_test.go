// SPDX-License-Identifier: Apache-2.0

package verilog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

func TestFuseSoC(t *testing.T) {
	t.Parallel()
	files, err := verilog.Collect(top(t))
	require.NoError(t, err)
	text, err := verilog.FuseSoC(verilog.Core{
		Name: "t", Version: "1.0.0", Description: `two "cores": in a row`, Toplevel: "t_top",
		Files: files.Paths(), SDC: "t_top.sdc",
	})
	require.NoError(t, err)
	golden(t, "t.core", text)

	head, body, ok := strings.Cut(string(text), "\n")
	require.True(t, ok)
	require.Equal(t, "CAPI=2:", head, "FuseSoC knows the file by its first line")
	type target struct {
		Filesets    []string                  `yaml:"filesets"`
		Toplevel    string                    `yaml:"toplevel"`
		DefaultTool string                    `yaml:"default_tool"`
		Description string                    `yaml:"description"`
		Tools       map[string]map[string]any `yaml:"tools"`
	}
	var core struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
		Filesets    map[string]struct {
			Files    []string `yaml:"files"`
			FileType string   `yaml:"file_type"`
		} `yaml:"filesets"`
		Targets map[string]target `yaml:"targets"`
	}
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(body), &core, yaml.Strict()))
	require.Equal(t, "incforge:engine:t:1.0.0", core.Name)
	require.Equal(t, `two "cores": in a row`, core.Description)
	require.Equal(t, files.Paths(), core.Filesets["rtl"].Files)
	require.Equal(t, "SDC", core.Filesets["constraints"].FileType)
	for _, name := range []string{"default", "lint", "sim", "synth"} {
		require.Equal(t, "t_top", core.Targets[name].Toplevel, name)
		require.Contains(t, core.Targets[name].Filesets, "rtl", name)
	}
	require.Equal(t, "lint-only", core.Targets["lint"].Tools["verilator"]["mode"])
	require.Contains(t, core.Targets["synth"].Filesets, "constraints")
}

func TestFuseSoCRefuses(t *testing.T) {
	t.Parallel()
	good := verilog.Core{Name: "t", Version: "1.0.0", Toplevel: "t", Files: []string{"rtl/t.v"}}
	text, err := verilog.FuseSoC(good)
	require.NoError(t, err)
	require.NotContains(t, string(text), "constraints:")
	for want, change := range map[string]func(c *verilog.Core){
		`core file: name "a:b": must be letters, digits, _ and -`:               func(c *verilog.Core) { c.Name = "a:b" },
		`core file: version "1": must be three numbers joined by dots`:          func(c *verilog.Core) { c.Version = "1" },
		`core file of t: no files or no top`:                                    func(c *verilog.Core) { c.Files = nil },
		`core file of t: "rtl/a b.v" holds a character that YAML could misread`: func(c *verilog.Core) { c.Files = []string{"rtl/a b.v"} },
		`core file of t: "{x}" holds a character that YAML could misread`:       func(c *verilog.Core) { c.Toplevel = "{x}" },
		`core file of t: "x.sdc: {}" holds a character that YAML could misread`: func(c *verilog.Core) { c.SDC = "x.sdc: {}" },
	} {
		c := good
		change(&c)
		_, err := verilog.FuseSoC(c)
		require.EqualError(t, err, want)
	}
}

// clocksModule has two clocks and static pins.
func clocksModule() *graph.Module {
	return &graph.Module{Name: "t_two", Source: []byte("x"), Ports: []graph.Port{
		{Name: "clk", Width: 1}, {Name: "clk_b", Width: 1},
		{Name: "a", Width: 8}, {Name: "b", Width: 1, Clock: "clk_b"}, {Name: "mode", Width: 2, Clock: graph.Async},
		{Name: "y", Dir: graph.Out, Width: 8, Clock: "clk_b"}, {Name: "busy", Dir: graph.Out, Width: 1, Clock: graph.Async},
	}}
}

func TestSDC(t *testing.T) {
	t.Parallel()
	one, err := verilog.SDC(top(t), verilog.Clock{Port: "clk", MHz: 250})
	require.NoError(t, err)
	golden(t, "t_top.sdc", one)
	two, err := verilog.SDC(clocksModule(), verilog.Clock{Port: "clk", MHz: 1000}, verilog.Clock{Port: "clk_b", MHz: 322.265625})
	require.NoError(t, err)
	golden(t, "t_two.sdc", two)

	_, err = verilog.SDC(top(t), verilog.Clock{Port: "rst_n", MHz: 1})
	require.EqualError(t, err, "sdc of t_top: clock rst_n is not a 1-bit input")
	_, err = verilog.SDC(top(t), verilog.Clock{Port: "clk"})
	require.EqualError(t, err, "sdc of t_top: clock clk: 0 MHz, must be more than 0")
	_, err = verilog.SDC(clocksModule(), verilog.Clock{Port: "clk", MHz: 1})
	require.EqualError(t, err, "sdc of t_two: port b belongs to clock clk_b, whose frequency is not given")
}

// TestSDCInOpenSTA reads the constraints with the tool they are for and finds the
// slack that they imply: 4 ns less 3 % uncertainty, 30 % output delay and the flop's
// 0.2 ns; from the input there is more, its set-up time being 0.1 ns.
func TestSDCInOpenSTA(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &graph.Module{Name: "t_flop", Source: []byte("x"), Ports: []graph.Port{
		{Name: "clk", Width: 1}, {Name: "d", Width: 2}, {Name: "q", Dir: graph.Out, Width: 2},
	}}
	sdc, err := verilog.SDC(m, verilog.Clock{Port: "clk", MHz: 250})
	require.NoError(t, err)
	for name, data := range map[string]string{
		"t_flop.sdc": string(sdc),
		"t_flop.v": `module t_flop (clk, d, q); input clk; input [1:0] d; output [1:0] q;
DFF f0 (.CK(clk), .D(d[0]), .Q(q[0])); DFF f1 (.CK(clk), .D(d[1]), .Q(q[1])); endmodule`,
		"run.tcl": `read_liberty flop.lib
read_verilog t_flop.v
link_design t_flop
read_sdc t_flop.sdc
check_setup -verbose
puts [format {worst slack %.3f} [worst_slack -max]]
exit
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
	}
	lib, err := os.ReadFile("testdata/flop.lib")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "flop.lib"), lib, 0o644))
	res, err := tool.Run(testcost.Context(t), tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", "run.tcl"}, Dir: dir})
	require.NoError(t, err)
	require.NotContains(t, string(res.Output), "Warning")
	require.NotContains(t, string(res.Output), "Error")
	require.Equal(t, "worst slack 2.480", strings.TrimSpace(string(res.Output)))
}
