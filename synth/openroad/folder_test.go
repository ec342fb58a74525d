// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

const shippedSDC = `# Timing constraints of standin_core. Generated; do not edit. Times are in nanoseconds.
set_units -time ns

create_clock -name clk -period 1.429 [get_ports clk]
set_clock_uncertainty 0.043 [get_clocks clk]
set_input_delay 0.429 -clock clk [get_ports {
    rst
    in_valid
    in_first
    in_slot[*]
    in_data[*]
}]
set_output_delay 0.429 -clock clk [get_ports {
    out_valid
    out_data[*]
    out_count[*]
    out_crc[*]
}]
`

// standin is a folder with a small design and the constraints that the generator would ship.
func standin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/standin")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "standin_core.sdc"), []byte(shippedSDC), 0o644))
	return dir
}

// banked adds a memory with one port, as two banks.
func banked(t *testing.T, dir string) {
	t.Helper()
	leaf, err := os.ReadFile("../../hdl/ram/inc_ram_1rw.v")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rtl", "inc_ram_1rw.v"), leaf, 0o644))
	m, err := contract.Read(dir)
	require.NoError(t, err)
	m.Files = append(m.Files, "rtl/inc_ram_1rw.v")
	for _, path := range []string{"u_core.u_bank.gen_bank[0].u_ram", "u_core.u_bank.gen_bank[1].u_ram"} {
		m.Memories = append(m.Memories, contract.Memory{Module: "inc_ram_1rw", Path: path, Words: 128, Bits: 40, Role: "payload", Ports: 1})
	}
	text, err := m.JSON()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(contract.Path(dir), text, 0o644))
}

// written writes a folder for a platform.
func written(t *testing.T, from, platform string) (dir string, r *Record) {
	t.Helper()
	dir = t.TempDir()
	r, err := Write(from, dir, Options{Platform: platform})
	require.NoError(t, err)
	return dir, r
}

// files reads a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, rerr := filepath.Rel(dir, path)
		require.NoError(t, rerr)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

// run runs a foreign program in a folder.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	res, err := tool.Run(testcost.Context(t), tool.Command{Name: name, Args: args, Dir: dir})
	require.NoError(t, err)
	return string(res.Output)
}

func TestWriteIsTheSame(t *testing.T) {
	from := standin(t)
	banked(t, from)
	for _, name := range Names() {
		a, r := written(t, from, name)
		b, _ := written(t, from, name)
		first := files(t, a)
		assert.Empty(t, cmp.Diff(first, files(t, b)), name)
		assert.ElementsMatch(t, append(slices.Clone(r.Files), recordFile), slices.Collect(maps.Keys(first)), name)
		for file, text := range first {
			assert.NotContains(t, text, a, "%s knows where it lies", file)
			assert.NotContains(t, text, from, "%s knows where it comes from", file)
		}
	}
}

// known reads a list of variables: names, and names that one platform alone has.
func known(t *testing.T, file, platform string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if of, rest, ok := strings.Cut(line, ":"); ok {
			if of != platform {
				continue
			}
			line = rest
		}
		for _, name := range strings.Fields(line) {
			require.False(t, names[name], "%s twice", name)
			names[name] = true
		}
	}
	require.Greater(t, len(names), 200)
	return names
}

// Every variable of config.mk, the one in a comment too, is one that OpenROAD-flow-scripts documents.
func TestConfigVariables(t *testing.T) {
	from := standin(t)
	for _, name := range Names() {
		dir, _ := written(t, from, name)
		names := known(t, "orfs_variables.txt", name)
		assert.False(t, names["MACRO_PLACE_CHANNEL"], "a variable of earlier releases")
		text, err := os.ReadFile(filepath.Join(dir, "config.mk"))
		require.NoError(t, err)
		found := regexp.MustCompile(`(?m)^(?:# )?export (?:override )?(\w+) *=`).FindAllStringSubmatch(string(text), -1)
		require.Greater(t, len(found), 12)
		for _, m := range found {
			assert.True(t, names[m[1]], "%s: %s is not known", name, m[1])
		}
	}
}

// Every key of config.json is a variable of LibreLane.
func TestLibreLaneVariables(t *testing.T) {
	from := standin(t)
	names := known(t, "librelane_variables.txt", "")
	for _, p := range Platforms() {
		dir, r := written(t, from, p.Name)
		if p.pdk == "" {
			assert.NotContains(t, r.Files, "config.json")
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "config.json"))
		require.NoError(t, err)
		var c map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &c))
		for key := range c {
			assert.True(t, names[key] || key == "meta", "%s: %s is not known", p.Name, key)
		}
		var macros map[string]map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(c["MACROS"], &macros))
		require.Len(t, macros, len(r.Macros))
		for name, m := range macros {
			for key := range m {
				assert.True(t, names["MACROS."+key], "%s: %s", name, key)
			}
			var places map[string]map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(m["instances"], &places))
			for path, place := range places {
				for key := range place {
					assert.True(t, names["MACROS.instances."+key], "%s: %s", path, key)
				}
			}
		}
	}
}

// LibreLane itself reads the configuration.
func TestLibreLaneReads(t *testing.T) {
	python := openroadTools(t)
	from := standin(t)
	for _, p := range Platforms() {
		if p.pdk == "" {
			continue
		}
		dir, _ := written(t, from, p.Name)
		out := run(t, ".", python, "testdata/read_config.py", dir)
		var read []string
		require.NoError(t, json.Unmarshal([]byte(out), &read), out)
		assert.Contains(t, read, "MACROS")
		assert.Contains(t, read, "VERILOG_FILES")
	}
}

// openroadTools is the interpreter with KLayout and LibreLane.
func openroadTools(t *testing.T) string {
	t.Helper()
	python, err := filepath.Abs("../../build/openroad-tools/bin/python")
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		t.Skip("KLayout and LibreLane are not there: make tools-openroad installs them")
	}
	return python
}

// make reads config.mk from anywhere, all files it names are there, and a platform that comes later does not undo it.
func TestMakeReadsTheConfiguration(t *testing.T) {
	from := standin(t)
	for _, name := range Names() {
		dir, r := written(t, from, name)
		elsewhere := t.TempDir()
		list := []string{"DESIGN_NAME", "PLATFORM", "VERILOG_FILES", "SDC_FILE", "ADDITIONAL_LEFS", "ADDITIONAL_LIBS", "GDS_ALLOW_EMPTY", "PDN_TCL", "ADDITIONAL_TYP_LIBS",
			"ABC_CLOCK_PERIOD_IN_PS", "SYNTH_MEMORY_MAX_BITS"}
		text := "include $(DESIGN_CONFIG)\nexport GDS_ALLOW_EMPTY = fakeram.*\nall:\n"
		for _, v := range list {
			text += "\t@echo " + v + " $(" + v + ")\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "Makefile"), []byte(text), 0o644))
		out := run(t, elsewhere, "make", "--no-print-directory", "DESIGN_CONFIG="+filepath.Join(dir, "config.mk"))
		value := map[string][]string{}
		for line := range strings.Lines(out) {
			words := strings.Fields(line)
			value[words[0]] = words[1:]
		}
		assert.Equal(t, []string{"standin_core"}, value["DESIGN_NAME"])
		assert.Equal(t, []string{name}, value["PLATFORM"])
		assert.Equal(t, []string{"inc_sram_.*"}, value["GDS_ALLOW_EMPTY"])
		assert.Equal(t, []string{"1429"}, value["ABC_CLOCK_PERIOD_IN_PS"])
		assert.Equal(t, []string{strconv.Itoa(leastMaxBits)}, value["SYNTH_MEMORY_MAX_BITS"])
		assert.Len(t, value["ADDITIONAL_LEFS"], len(r.Macros))
		assert.Len(t, value["VERILOG_FILES"], 5)
		for _, v := range []string{"VERILOG_FILES", "SDC_FILE", "ADDITIONAL_LEFS", "ADDITIONAL_LIBS", "PDN_TCL", "ADDITIONAL_TYP_LIBS"} {
			for _, file := range value[v] {
				assert.FileExists(t, file, v)
			}
		}
		if name == "ihp-sg13g2" {
			assert.Equal(t, value["ADDITIONAL_LIBS"], value["ADDITIONAL_TYP_LIBS"])
			assert.Len(t, value["PDN_TCL"], 1)
		}
	}
}

func TestConstraints(t *testing.T) {
	p, err := ByName("asap7")
	require.NoError(t, err)
	text, err := constraints(shippedSDC, p, 500)
	require.NoError(t, err)
	for _, want := range []string{"set_units -time ps\n", "-period 2000.000 [get_ports clk]", "set_clock_uncertainty 60.182 ", "set_input_delay 600.420 -clock",
		"Times are in picoseconds, the unit of asap7."} {
		assert.Contains(t, text, want)
	}
	p, err = ByName("sky130hd")
	require.NoError(t, err)
	text, err = constraints(shippedSDC, p, 50)
	require.NoError(t, err)
	assert.Contains(t, text, "set_units -time ns\n")
	assert.Contains(t, text, "-period 20.000 [get_ports clk]")
	for _, bad := range []string{"", "set_units -time ns\n", shippedSDC + shippedSDC, strings.ReplaceAll(shippedSDC, "time ns", "time ps"), strings.ReplaceAll(shippedSDC, "1.429", "0")} {
		_, err = constraints(bad, p, 50)
		assert.Error(t, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	from := standin(t)
	for want, o := range map[string]Options{
		`unknown platform "gf180"`: {Platform: "gf180"},
		`no top "switch"`:          {Platform: "asap7", Top: "switch"},
		"clock of -1 MHz":          {Platform: "asap7", ClockMHz: -1},
	} {
		_, err := Write(from, t.TempDir(), o)
		assert.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(filepath.Join(from, "standin_core.sdc")))
	_, err := Write(from, t.TempDir(), Options{Platform: "asap7"})
	assert.ErrorContains(t, err, "constraints")
}
