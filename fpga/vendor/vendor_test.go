// SPDX-License-Identifier: Apache-2.0

package vendor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
)

// manifest is that of a small design with files.
func manifest(t *testing.T) *contract.Manifest {
	t.Helper()
	m, err := contract.Read("../../synth/testdata/standin")
	require.NoError(t, err)
	return m
}

// Each script is Tcl as far as a parser without the vendor's commands can tell, names every file, and is complete by itself.
func TestWrite(t *testing.T) {
	m := manifest(t)
	for _, tool := range Tools() {
		t.Run(string(tool), func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, Write(m, dir, tool, Options{Part: "a [part] of $ours"}))
			text, err := os.ReadFile(filepath.Join(dir, string(tool)+".tcl"))
			require.NoError(t, err)
			script := string(text)
			assert.Contains(t, script, `set part "a \[part\] of \$ours"`)
			for _, f := range m.Files {
				assert.Contains(t, script, "rtl/"+filepath.Base(f))
				assert.FileExists(t, filepath.Join(dir, "rtl", filepath.Base(f)))
			}
			var r Record
			text, err = os.ReadFile(filepath.Join(dir, RecordFile))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &r))
			assert.Equal(t, m.Digest, r.Digest)
			assert.Equal(t, "standin_core", r.Top)
			_, err = Read(filepath.Join(dir, RecordFile))
			require.ErrorIs(t, err, ErrNoReports)
			parse(t, dir)
		})
	}
	require.ErrorIs(t, Write(m, t.TempDir(), "ise", Options{}), ErrTool)
	require.ErrorIs(t, Write(m, t.TempDir(), Vivado, Options{Top: "nothing"}), contract.ErrNoTop)
}

// parse runs every script and constraint in an interpreter whose vendor's commands do nothing but print their words, so that a missing
// brace, a wrong variable and an unknown command of Tcl's own are errors.
func parse(t *testing.T, dir string) {
	t.Helper()
	tclsh, err := exec.LookPath("tclsh")
	if err != nil {
		t.Skip("tclsh is not installed: the scripts are not parsed; make tools installs it")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.[tsx]*"))
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".tcl" && ext != ".sdc" && ext != ".xdc" {
			continue
		}
		checked++
		cmd := exec.Command(tclsh, "-")
		cmd.Dir = t.TempDir()
		cmd.Stdin = strings.NewReader(`
set f [open {` + file + `}]; set text [read $f]; close $f
if {![info complete $text]} { puts stderr "incomplete"; exit 1 }
array set quartus {args {}}
foreach vendors {read_verilog read_xdc synth_design write_checkpoint opt_design place_design phys_opt_design route_design report_utilization
    report_timing_summary report_design_analysis report_route_status create_clock get_ports set_false_path all_inputs all_outputs
    remove_from_collection derive_clock_uncertainty project_new project_close set_global_assignment set_instance_assignment export_assignments
    execute_flow} { proc $vendors args [list puts $vendors] }
rename package real_package
proc package {args} { if {![string match ::quartus::* [lindex $args 1]]} { eval real_package $args } }
set argc 0; set argv {}
if {[catch {source {` + file + `}} message]} { puts stderr $message; exit 1 }
`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", filepath.Base(file), out)
		assert.NotEmpty(t, out, filepath.Base(file))
	}
	assert.Equal(t, 2, checked)
}

// Excerpts in the form of the tools' documents, numbers made up.
const (
	vivadoUse = `Copyright 1986-2022 Xilinx, Inc. All Rights Reserved.
--------------------------------------------------------------------------------------------
| Tool Version : Vivado v.2023.2 (lin64) Build 4029153 Fri Oct 13 20:13:54 MDT 2023
| Command      : report_utilization -file reports/utilization.rpt
| Design       : standin_core
| Device       : xcvu13p-fhga2104-2-e
| Speed File   : -2
| Design State : Physopt postRoute
--------------------------------------------------------------------------------------------

1. CLB Logic
------------

+----------------------------+-------+-------+------------+-----------+-------+
|          Site Type         |  Used | Fixed | Prohibited | Available | Util% |
+----------------------------+-------+-------+------------+-----------+-------+
| CLB LUTs                   | 27310 |     0 |          0 |   1728000 |  1.58 |
|   LUT as Logic             | 25771 |     0 |          0 |   1728000 |  1.49 |
|   LUT as Memory            |  1539 |     0 |          0 |    791040 |  0.19 |
| CLB Registers              | 12325 |     0 |          0 |   3456000 |  0.36 |
| CARRY8                     |   404 |     0 |          0 |    216000 |  0.19 |
+----------------------------+-------+-------+------------+-----------+-------+
3. BLOCKRAM
+-------------------+------+-------+------------+-----------+-------+
| Block RAM Tile    | 240.5|     0 |          0 |      2688 |  8.95 |
|   RAMB36/FIFO*    |  240 |     0 |          0 |      2688 |  8.93 |
| URAM              |    2 |     0 |          0 |      1280 |  0.16 |
+-------------------+------+-------+------------+-----------+-------+
4. ARITHMETIC
| DSPs      |    3 |     0 |          0 |     12288 |  0.02 |
`
	vivadoTiming = `| Tool Version      : Vivado v.2023.2 (lin64) Build 4029153 Fri Oct 13 20:13:54 MDT 2023
| Command           : report_timing_summary -delay_type max -max_paths 10 -file reports/timing_summary.rpt
------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints
    -------      -------  ---------------------  -------------------
     -0.512     -120.204                    812                41234


Timing constraints are not met.

------------------------------------------------------------------------------------------------
| Clock Summary
| -------------
------------------------------------------------------------------------------------------------

Clock  Waveform(ns)       Period(ns)      Frequency(MHz)
-----  ------------       ----------      --------------
clk    {0.000 2.000}      4.000           250.000

Max Delay Paths
--------------------------------------------------------------------------------------
Slack (VIOLATED) :        -0.512ns  (required time - arrival time)
  Source:                 u_lookup/u_entries/head_reg[2]/C
                            (rising edge-triggered cell FDRE clocked by clk  {rise@0.000ns fall@2.000ns period=4.000ns})
  Destination:            u_check/state_reg[0]/D
  Path Group:             clk
  Data Path Delay:        4.402ns  (logic 1.201ns (27.283%)  route 3.201ns (72.717%))
  Logic Levels:           11  (CARRY8=1 LUT4=2 LUT6=8)
Slack (VIOLATED) :        -0.402ns  (required time - arrival time)
  Source:                 u_b/q_reg/C
  Logic Levels:           5  (LUT6=5)
`
	quartusFit = `Fitter Status : Successful - Sun Nov 22 12:00:00 2026
Quartus Prime Version : 23.4.0 Build 79 11/22/2023 SC Pro Edition
Revision Name : standin_core
Top-level Entity Name : standin_core
Family : Agilex 7
Device : AGFB014R24B2E2V
Timing Models : Final
Power Models : Final
Logic utilization (in ALMs) : 21,345 / 487,200 ( 4 % )
Total dedicated logic registers : 24,567
Total pins : 1 / 924 ( < 1 % )
Total virtual pins : 1,283
Total block memory bits : 8,847,360 / 145,612,800 ( 6 % )
Total RAM Blocks : 460 / 7,110 ( 6 % )
Total DSP Blocks : 16 / 4,510 ( < 1 % )
`
	quartusSTA = `------------------------------------------------------------
Timing Analyzer Summary
------------------------------------------------------------

Type  : Slow vid2 100C Model Setup 'clk'
Slack : 0.210
TNS   : 0.000

Type  : Slow vid2 0C Model Setup 'clk'
Slack : 0.105
TNS   : 0.000

Type  : Slow vid2 0C Model Hold 'clk'
Slack : 0.013
TNS   : 0.000
`
)

// folder is what a tool leaves beside its record.
func folder(t *testing.T, tool Tool, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(Record{Vendor: tool, Config: "c", Digest: "d", Top: "standin_core", Part: "p", AskedMHz: 250, Lanes: 16})
	require.NoError(t, err)
	record := filepath.Join(dir, RecordFile)
	require.NoError(t, os.WriteFile(record, text, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "reports"), 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "reports", name), []byte(text), 0o644))
	}
	return record
}

func TestVivado(t *testing.T) {
	m, err := Read(folder(t, Vivado, map[string]string{"utilization.rpt": vivadoUse, "timing_summary.rpt": vivadoTiming}))
	require.NoError(t, err)
	r := m.Resources
	assert.Equal(t, []float64{27310, 1539, 12325, 240.5, 2, 3, 404}, []float64{r.LUT, r.LUTRAM, r.FF, r.BRAM36, r.URAM, r.DSP, r.Carry})
	assert.InDelta(t, 1e3/4.512, m.Clock.FoundMHz, 1e-9)
	assert.True(t, m.Clock.Missed())
	require.NotNil(t, m.Longest)
	assert.Equal(t, 11, m.Longest.Levels)
	assert.Equal(t, []int{10, 1}, []int{m.Longest.LUTs, m.Longest.Chains})
	assert.Equal(t, "u_lookup/u_entries → u_check", m.Longest.String())
	assert.Contains(t, m.Table(), "221.6 MHz found, 250 asked !")

	for name, change := range map[string]func(files map[string]string){
		"not routed": func(f map[string]string) {
			f["utilization.rpt"] = strings.Replace(vivadoUse, "Physopt postRoute", "Synthesized", 1)
		},
		"of nobody's": func(f map[string]string) { f["utilization.rpt"] = "nothing" },
		"no registers": func(f map[string]string) {
			f["utilization.rpt"] = strings.Replace(vivadoUse, "CLB Registers", "Others", 1)
		},
		"no slack":         func(f map[string]string) { f["timing_summary.rpt"] = "nothing" },
		"no timing at all": func(f map[string]string) { delete(f, "timing_summary.rpt") },
	} {
		files := map[string]string{"utilization.rpt": vivadoUse, "timing_summary.rpt": vivadoTiming}
		change(files)
		_, err := Read(folder(t, Vivado, files))
		assert.Error(t, err, name)
	}
}

func TestQuartus(t *testing.T) {
	m, err := Read(folder(t, Quartus, map[string]string{"standin_core.fit.summary": quartusFit, "standin_core.sta.summary": quartusSTA}))
	require.NoError(t, err)
	r := m.Resources
	assert.Equal(t, []float64{21345, 24567, 240, 16}, []float64{r.LUT, r.FF, r.BRAM36, r.DSP})
	assert.InDelta(t, 1e3/3.895, m.Clock.FoundMHz, 1e-9, "the worst of the setup slacks")
	assert.False(t, m.Clock.Missed())
	assert.Contains(t, m.Table(), "21345 ALM")
	for name, files := range map[string]map[string]string{
		"failed":   {"standin_core.fit.summary": strings.Replace(quartusFit, "Successful", "Failed", 1), "standin_core.sta.summary": quartusSTA},
		"no slack": {"standin_core.fit.summary": quartusFit, "standin_core.sta.summary": "Type  : Slow Model Hold 'clk'\nSlack : 0.1\n"},
		"absent":   {"standin_core.sta.summary": quartusSTA},
	} {
		_, err := Read(folder(t, Quartus, files))
		assert.Error(t, err, name)
	}
}
