// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"incforge/internal/tool"
)

// timing is what OpenSTA found.
type timing struct {
	slack    float64 // ps, worst of all setup checks
	tns      float64 // ps, sum of the negative slacks
	regSlack float64 // ps, worst between registers
	hasReg   bool
	path     Path
	failing  []string // modules that paths with negative slack run through
}

// Path is one timing path.
type Path struct {
	Start   string  `json:"start"`
	End     string  `json:"end"`
	DelayPS float64 `json:"delay_ps"`
	SlackPS float64 `json:"slack_ps"`
	Stages  int     `json:"stages"`
	// Trace is OpenSTA's report of the path.
	Trace string `json:"trace,omitempty"`
}

// time runs OpenSTA on map.v. Units in the script are those of the first
// library read, which is the cells'.
func (f *flow) time(ctx context.Context) (*timing, error) {
	period := 1e6 / f.o.ClockMHz / f.t.timePS
	clock := fmt.Sprintf("create_clock -name clk -period %.6f", period)
	if f.clocked { // otherwise it is a clock that only inputs and outputs know
		clock += fmt.Sprintf(" [get_ports %s]", f.d.Clock.Port)
	}
	script := []string{
		"read_liberty cells.lib", "read_liberty sram.lib", "read_verilog map.v", "link_design " + f.top,
		clock,
		// all_inputs -no_clocks does not exist in 2.0.17. The reset is left out: it is a
		// tree that layout builds, and unbuffered it would be the worst path of any design.
		"set ins [list]",
		fmt.Sprintf(`foreach p [all_inputs] { set n [get_property $p full_name]; if {$n != "%s" && $n != "%s"} { lappend ins $p } }`, f.d.Clock.Port, f.d.Clock.Reset),
		"set_input_delay 0 -clock clk $ins",
		fmt.Sprintf("set_driving_cell -lib_cell %s $ins", f.t.driver.Name),
		// Without an output delay no path to an output is reported at all.
		"set_output_delay 0 -clock clk [all_outputs]",
		fmt.Sprintf("set_load %.6f [all_outputs]", f.t.loadFF/f.t.capFF),
		fmt.Sprintf("set_timing_derate -late %g", Derate),
		`puts "== all"`, "report_checks -path_delay max -format full -digits 5",
		`puts "== tns"`, "report_tns -digits 5",
		// Of no registers at all OpenSTA makes an error.
		`puts "== reg"`, "if {[llength [all_registers -clock_pins]] > 0} { report_checks -path_delay max -from [all_registers -clock_pins] -to [all_registers -data_pins] -format full -digits 5 }",
		`puts "== failing"`,
		fmt.Sprintf("report_checks -path_delay max -slack_max 0 -group_count %d -format full", maxFailing),
	}
	if err := os.WriteFile(filepath.Join(f.dir, "sta.tcl"), []byte(strings.Join(script, "\n")+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	res, err := tool.Run(ctx, tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", "sta.tcl"}, Dir: f.dir, Timeout: f.o.Timeout})
	if err != nil {
		return nil, fmt.Errorf("synth: timing: %w", err)
	}
	out := string(res.Output)
	if err := os.WriteFile(filepath.Join(f.dir, "sta.log"), res.Output, 0o644); err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	// OpenSTA ends with status 0 whatever happened in the script; a cell that is
	// in no library becomes a black box with a warning and its paths vanish.
	if m := regexp.MustCompile(`(?m)^(Error:|Warning: .*(?:black box|not found|[Nn]o liberty)).*$`).FindString(out); m != "" {
		return nil, fmt.Errorf("synth: OpenSTA: %s", m)
	}
	t := &timing{}
	_, rest, _ := strings.Cut(out, "== all\n")
	all, rest, _ := strings.Cut(rest, "== tns\n")
	tns, rest, _ := strings.Cut(rest, "== reg\n")
	reg, failing, _ := strings.Cut(rest, "== failing\n")
	path, ok := readPath(all, f.t.timePS)
	if !ok {
		return nil, fmt.Errorf("synth: OpenSTA reported no path:\n%s", tool.Tail(res.Output))
	}
	t.path, t.slack = path, path.SlackPS
	if m := regexp.MustCompile(`tns\s+(-?[0-9.]+)`).FindStringSubmatch(tns); m != nil {
		if t.tns, err = strconv.ParseFloat(m[1], 64); err != nil {
			return nil, fmt.Errorf("synth: OpenSTA: %w", err)
		}
		t.tns *= f.t.timePS
	}
	if t.slack < 0 {
		t.failing = f.modulesOn(failing)
	}
	if p, ok := readPath(reg, f.t.timePS); ok {
		t.regSlack, t.hasReg = p.SlackPS, true
	}
	return t, nil
}

var (
	pathStart = regexp.MustCompile(`(?m)^Startpoint: (\S+)`)
	pathEnd   = regexp.MustCompile(`(?m)^Endpoint: (\S+)`)
	pathSlack = regexp.MustCompile(`(?m)^\s*(-?[0-9.]+)\s+slack`)
	pathTime  = regexp.MustCompile(`(?m)^\s*(-?[0-9.]+)\s+data arrival time`)
	pathCell  = regexp.MustCompile(`(?m)^\s*[0-9.]+\s+[0-9.]+ [v^] \S+ \(\S+\)`)
)

// readPath takes the first path of a report; unit is one time unit in ps.
func readPath(report string, unit float64) (Path, bool) {
	start, end := pathStart.FindStringSubmatch(report), pathEnd.FindStringSubmatch(report)
	slack, arrival := pathSlack.FindStringSubmatch(report), pathTime.FindStringSubmatch(report)
	if start == nil || end == nil || slack == nil || arrival == nil {
		return Path{}, false
	}
	s, err1 := strconv.ParseFloat(slack[1], 64)
	a, err2 := strconv.ParseFloat(arrival[1], 64)
	if err1 != nil || err2 != nil {
		return Path{}, false
	}
	return Path{Start: clean(start[1]), End: clean(end[1]), SlackPS: s * unit, DelayPS: a * unit,
		Stages: len(pathCell.FindAllString(report, -1)), Trace: strings.TrimSpace(report)}, true
}

// maxFailing bounds the failing endpoints looked at in one round.
const maxFailing = 1000

var pathPin = regexp.MustCompile(`(?m)^\s*[0-9.]+\s+[0-9.]+ [v^] (\S+)/[^/\s]+ \(\S+\)`)

// modulesOn returns the modules, in order, that hold a cell of a reported path.
func (f *flow) modulesOn(report string) []string {
	found := map[string]bool{}
	for _, m := range pathPin.FindAllStringSubmatch(report, -1) {
		path := strings.Split(clean(m[1]), "/")
		found[f.tree.Module(f.top, path[:len(path)-1])] = true
	}
	modules := make([]string, 0, len(found))
	for m := range found {
		modules = append(modules, m)
	}
	slices.Sort(modules)
	return modules
}

// clean drops the backslashes of escaped Verilog names.
func clean(name string) string { return strings.ReplaceAll(name, `\`, "") }
