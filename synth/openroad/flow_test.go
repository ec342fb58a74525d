// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/testcost"
	"incforge/internal/tool"
	"incforge/synth/liberty"
)

// asFlow reads a folder as OpenROAD-flow-scripts has Yosys read it: black boxes from Liberty, the Verilog deferred, memories counted.
func asFlow(t *testing.T, dir string, verilog []string, macros []macro, top string) (instances []string, largest int) {
	t.Helper()
	var s strings.Builder
	for _, m := range macros {
		fmt.Fprintf(&s, "read_liberty -overwrite -setattr liberty_cell -lib -ignore_miss_func %s\n", inFolder("lib", m.Name()))
	}
	for _, f := range verilog {
		fmt.Fprintf(&s, "read_verilog -defer -sv %s\n", f)
	}
	fmt.Fprintf(&s, "hierarchy -check -top %s\nopt_clean -purge\nproc\nflatten\nopt_clean\nmemory_collect\nwrite_json flat.json\n", top)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "flat.ys"), []byte(s.String()), 0o644))
	run(t, dir, "yosys", "-q", "-s", "flat.ys")
	text, err := os.ReadFile(filepath.Join(dir, "flat.json"))
	require.NoError(t, err)
	var design struct {
		Modules map[string]struct {
			Cells map[string]struct {
				Type        string
				Parameters  map[string]any
				Connections map[string][]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &design))
	for name, c := range design.Modules[top].Cells {
		number := func(key string) int {
			bits, ok := c.Parameters[key].(string)
			require.True(t, ok, "%s of %s", key, name)
			v, err := strconv.ParseInt(bits, 2, 64)
			require.NoError(t, err)
			return int(v)
		}
		if strings.HasPrefix(c.Type, "$mem") {
			largest = max(largest, number("SIZE")*number("WIDTH"))
		}
		i := slices.IndexFunc(macros, func(m macro) bool { return m.Name() == c.Type })
		if i < 0 {
			continue
		}
		instances = append(instances, name)
		connected := 0
		for _, bits := range c.Connections {
			connected += len(bits)
		}
		assert.Len(t, macros[i].pins, connected, "%s: pins of %s that Yosys connected", name, c.Type)
	}
	return instances, largest
}

// The Verilog of a folder has the macros where the configurations say, with all pins connected, and no memory of flops above the limit.
func TestYosysReadsAsTheFlowDoes(t *testing.T) {
	from := standin(t)
	p := Platforms()[0]
	w, err := newWriter(from, Options{Platform: p.Name})
	require.NoError(t, err)
	dir, _ := written(t, from, p.Name)
	require.NoError(t, w.fill())
	instances, largest := asFlow(t, dir, w.verilog, w.macros, "standin_core")
	var want []string
	for _, s := range w.floor.spots {
		want = append(want, s.path)
	}
	assert.ElementsMatch(t, want, instances)
	assert.Equal(t, w.plan.LargestFlops(), largest)
	assert.LessOrEqual(t, largest, w.memoryMaxBits())
}

// The placement script finds every instance, however synthesis called it, and places it where the arrangement has it.
func TestMacroPlaceRuns(t *testing.T) {
	from := standin(t)
	banked(t, from)
	dir, _ := written(t, from, "nangate45")
	stubs := `
namespace eval ord { proc get_db_block {} { return block } }
proc core {what} { return [expr {$what eq "xMin" ? 20000 : 30000}] }
proc block {what} { switch $what { getCoreArea { return core } getDefUnits { return 2000 } getInsts { return $::insts } } }
proc master {what} { return 1 }
proc cell {what} { return 0 }
proc place_macro {args} { puts $args }
`
	names := `
set insts {}
foreach {n name kind} {0 {u_bank/gen_bank\[0\].u_ram.gen_128x40/u_macro} master 1 {u_bank.gen_bank[1].u_ram.gen_128x40.u_macro} master
    2 {\u_payload.gen_256x64.u_macro } master 3 {_123_} cell} {
    proc inst$n {what} [string map [list NAME [string trim $name] KIND $kind] { if {$what eq "getName"} { return {NAME} } ; return KIND }]
    lappend insts inst$n
}
`
	script := filepath.Join(dir, "try.tcl")
	require.NoError(t, os.WriteFile(script, []byte(stubs+names+"source macro_place.tcl\n"), 0o644))
	out := run(t, dir, "tclsh", script)
	assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 3, out)
	w, err := newWriter(from, Options{Platform: "nangate45"})
	require.NoError(t, err)
	for _, s := range w.floor.spots {
		at := fmt.Sprintf("-location {%s %s} -orientation R0", trim(float64(s.x)/1e3+10), trim(float64(s.y)/1e3+15))
		assert.Contains(t, out, at, s.path)
	}
	for edit, want := range map[string]string{"set insts {inst0 inst1}\n": "not in the design", "proc cell {what} { return 1 }\n": "knows no place for _123_"} {
		require.NoError(t, os.WriteFile(script, []byte(stubs+names+edit+"source macro_place.tcl\n"), 0o644))
		_, err := tool.Run(testcost.Context(t), tool.Command{Name: "tclsh", Args: []string{script}, Dir: dir})
		assert.ErrorContains(t, err, want)
	}
}

// trim prints a number as Tcl does.
func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// A folder is timed with its own constraints and Liberty files; the library is one in ps, so that it stands for asap7's.
func TestCheck(t *testing.T) {
	from := standin(t)
	lib := filepath.Join(t.TempDir(), "cells.lib")
	text, err := liberty.Generate(liberty.Options{Corner: liberty.Typical()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(lib, text, 0o644))
	o := Options{Platform: "asap7", ClockMHz: 500}
	dir, work := t.TempDir(), t.TempDir()
	_, err = Write(from, dir, o)
	require.NoError(t, err)
	timing, err := Check(testcost.Context(t), from, dir, o, CheckOptions{Liberty: lib, WorkDir: work})
	require.NoError(t, err)
	assert.Equal(t, 500.0, timing.AskedMHz)
	assert.Greater(t, timing.CellArea, 500.0)
	assert.Greater(t, timing.FoundMHz, 400.0)
	assert.Less(t, timing.FoundMHz, 3000.0)
	assert.LessOrEqual(t, timing.SlackPS, timing.RestPS)
	assert.Equal(t, timing.RestPS >= 0, timing.FoundMHz >= 500 || timing.CycleMHz < 500)
	log, err := os.ReadFile(filepath.Join(work, "openroad.log"))
	require.NoError(t, err)
	assert.NotContains(t, string(log), "Warning")

	// A slower memory makes a slower design: the timing runs through the folder's own Liberty file.
	file := filepath.Join(dir, inFolder("lib", "inc_sram_1r1w_256x64"))
	slow, err := os.ReadFile(file)
	require.NoError(t, err)
	w, err := newWriter(from, o)
	require.NoError(t, err)
	access := fmt.Sprintf("%.3f", w.macros[0].Access)
	require.Contains(t, string(slow), access)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(slow), access, "1700.000")), 0o644))
	slower, err := Check(testcost.Context(t), from, dir, o, CheckOptions{Liberty: lib})
	require.NoError(t, err)
	assert.Less(t, slower.RestPS, timing.RestPS-300)
	assert.Contains(t, slower.Start, "u_payload")

	_, err = Check(testcost.Context(t), from, dir, Options{Platform: "sky130hd", ClockMHz: 500}, CheckOptions{Liberty: lib})
	assert.ErrorContains(t, err, "counts in 1 ps")
}

func TestTimingRead(t *testing.T) {
	timing := &Timing{AskedMHz: 250}
	s := shares(shippedSDC)
	assert.InDelta(t, 0.03, s.uncertainty, 1e-3)
	assert.InDelta(t, 0.3, s.input, 1e-3)
	assert.InDelta(t, 0.3, s.output, 1e-3)
	path := func(start, end, group, slack string) string {
		return fmt.Sprintf("Startpoint: %s (x)\nEndpoint: %s (y)\nPath Group: %s\nPath Type: max\n  %s   slack (MET)\n\n", start, end, group, slack)
	}
	log := "== all\n" + path("rst", "u_a/_1_", groupInputs, "-1.0") + path("u_b/_2_\n ", `\u_c/_3_`, "clk", "0.5") + "== rest\n" + path("in_with_a_long_name\n    ", "u_a/_1_", groupInputs, "-0.67") +
		path("u_b/_2_", `\u_c/_3_`, "clk", "0.5") + "== end\n"
	s.uncertainty, s.input, s.output = 0.03, 0.3, 0.3
	require.NoError(t, timing.read(log, s, 0, 1000))
	assert.Equal(t, -1000.0, timing.SlackPS)
	assert.Equal(t, -670.0, timing.RestPS)
	assert.Equal(t, []string{"in_with_a_long_name", "u_a/_1_", groupInputs}, []string{timing.Start, timing.End, timing.Group})
	// An input has 67 % of 4 ns and misses 0.67 ns: it needs a period of 5 ns.
	assert.InDelta(t, 200, timing.FoundMHz, 1e-6)
	assert.Contains(t, timing.String(), "200.0 MHz, 250 asked !")
	require.NoError(t, timing.read(log, s, 10000, 1000), "a macro's cycle is a bound")
	assert.InDelta(t, 100, timing.FoundMHz, 1e-6)
	for _, bad := range []string{"", "== all\n== rest\n== end\n"} {
		assert.Error(t, (&Timing{AskedMHz: 250}).read(bad, s, 0, 1000))
	}
}

// The flow is found by FLOW_HOME, beside openroad, or as librelane; what it says is kept.
func TestRun(t *testing.T) {
	from := standin(t)
	dir, _ := written(t, from, "sky130hd")
	home := filepath.Join(t.TempDir(), "flow")
	require.NoError(t, os.Mkdir(home, 0o755))
	makefile := "include $(DESIGN_CONFIG)\nall:\n\t@echo flow of $(DESIGN_NAME) on $(PLATFORM) with $(OPENROAD_EXE)\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "Makefile"), []byte(makefile), 0o644))
	path := os.Getenv("PATH")
	said := func() string {
		log, err := Run(testcost.Context(t), dir, "sky130hd")
		require.NoError(t, err)
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		return string(text)
	}
	t.Setenv(FlowHomeEnv, home)
	assert.Contains(t, said(), "flow of standin_core on sky130hd with\n")
	t.Setenv(FlowHomeEnv, filepath.Join(home, "none"))
	_, err := Run(testcost.Context(t), dir, "sky130hd")
	assert.ErrorContains(t, err, "the flow")

	t.Setenv(FlowHomeEnv, "")
	var absent *tool.NotFoundError
	_, err = Run(testcost.Context(t), dir, "sky130hd")
	require.ErrorAs(t, err, &absent)
	assert.Contains(t, err.Error(), FlowHomeEnv)

	bin := filepath.Join(filepath.Dir(home), filepath.Dir(installed))
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "openroad"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", bin+":"+path)
	assert.Contains(t, said(), "on sky130hd with\n", "it knows its own")
	alone := t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(bin, "openroad"), filepath.Join(alone, "openroad")))
	t.Setenv("PATH", alone+":"+path)
	t.Setenv(FlowHomeEnv, home)
	assert.Contains(t, said(), "with "+filepath.Join(alone, "openroad"))
	t.Setenv(FlowHomeEnv, "")

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "librelane"), []byte("#!/bin/sh\necho librelane \"$@\"\n"), 0o755))
	t.Setenv("PATH", other+":"+path)
	assert.Contains(t, said(), "librelane --pdk sky130A --to OpenROAD.STAPostPNR config.json")
	dir, _ = written(t, from, "asap7")
	_, err = Run(testcost.Context(t), dir, "asap7")
	assert.ErrorAs(t, err, &absent, "LibreLane has no asap7")
}
