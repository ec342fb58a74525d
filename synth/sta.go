// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"incforge/internal/cache"
	"incforge/internal/tool"
)

// timing is what OpenSTA found.
type timing struct {
	slack    float64 // ps, worst of all setup checks
	tns      float64 // ps, sum of the negative slacks
	regSlack float64 // ps, worst between registers
	hasReg   bool
	period   float64 // ps, the shortest that every path holds, with the shares of it that the constraints take
	path     Path
	failing  []string // modules that paths with negative slack run through
	log      []byte
	script   []byte
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

// The groups that paths are reported by: what begins at an input or ends at an output shares the period with the world outside.
const (
	groupRegisters = "clk" // OpenSTA's own, after the clock
	groupInputs    = "inputs"
	groupOutputs   = "outputs"
	groupThrough   = "through"
)

// staScript returns the commands that time net.v with constraints.sdc.
func (f *flow) staScript() []string {
	return []string{
		// Units in the script are those of the first library read, which is the cells'.
		"read_liberty cells.lib", "read_liberty sram.lib", "read_verilog net.v", "link_design " + f.top,
		"source constraints.tcl",
		"set ins [list]",
		fmt.Sprintf(`foreach p [all_inputs] { set n [get_property $p full_name]; if {$n != "%s" && $n != "%s"} { lappend ins $p } }`, f.d.Clock.Port, f.d.Clock.Reset),
		fmt.Sprintf("set_driving_cell -lib_cell %s $ins", f.t.driver.Name),
		fmt.Sprintf("set_load %.6f [all_outputs]", f.t.loadFF/f.t.capFF),
		fmt.Sprintf("set_timing_derate -late %g", Derate),
		fmt.Sprintf("group_path -name %s -from $ins", groupInputs),
		fmt.Sprintf("group_path -name %s -to [all_outputs]", groupOutputs),
		fmt.Sprintf("group_path -name %s -from $ins -to [all_outputs]", groupThrough),
		`puts "== all"`, "report_checks -path_delay max -format full -digits 5",
		`puts "== tns"`, "report_tns -digits 5",
		`puts "== failing"`,
		fmt.Sprintf("report_checks -path_delay max -slack_max 0 -group_count %d -format full", maxFailing),
	}
}

// time runs OpenSTA on a netlist. What it says of the same netlist, libraries and script is kept.
func (f *flow) time(ctx context.Context, verilog []byte) (*timing, error) {
	c, err := f.constraints()
	if err != nil {
		return nil, err
	}
	script := []byte(strings.Join(f.staScript(), "\n") + "\n")
	files := map[string][]byte{"net.v": verilog, "constraints.tcl": []byte(c.tcl), "sta.tcl": script}
	for _, name := range []string{"cells.lib", "sram.lib"} {
		if files[name], err = os.ReadFile(filepath.Join(f.dir, name)); err != nil {
			return nil, fmt.Errorf("synth: %w", err)
		}
	}
	k := cache.NewKey()
	k.Add("incforge timing 1", f.tools["opensta"])
	for _, name := range slices.Sorted(maps.Keys(files)) {
		k.Add(name, string(files[name]))
	}
	dir, _, err := f.shop.store.Get(ctx, "timed-"+k.Sum(), func(dir string) error {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
		res, err := tool.Run(ctx, tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", "sta.tcl"}, Dir: dir, Timeout: f.o.Timeout})
		if err != nil {
			return err
		}
		// OpenSTA ends with status 0 whatever happened in the script; a cell that is
		// in no library becomes a black box with a warning and its paths vanish.
		if m := staTrouble.Find(res.Output); m != nil {
			return fmt.Errorf("OpenSTA: %s", m)
		}
		for name := range files {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(dir, "sta.log"), res.Output, 0o644)
	})
	if err != nil {
		return nil, fmt.Errorf("synth: timing: %w", err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "sta.log"))
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	t, err := f.read(string(log), c)
	if err != nil {
		return nil, err
	}
	t.log, t.script = log, script
	return t, nil
}

var (
	staTrouble = regexp.MustCompile(`(?m)^(Error:|Warning: .*(?:black box|not found|[Nn]o liberty)).*$`)
	staGroup   = regexp.MustCompile(`(?m)^Path Group: (\S+)`)
	staTNS     = regexp.MustCompile(`tns\s+(-?[0-9.]+)`)
)

// read takes a log apart.
func (f *flow) read(log string, c *constraints) (*timing, error) {
	t := &timing{}
	_, rest, _ := strings.Cut(log, "== all\n")
	all, rest, _ := strings.Cut(rest, "== tns\n")
	tns, failing, _ := strings.Cut(rest, "== failing\n")
	for report := range strings.SplitSeq(all, "Startpoint: ") {
		path, ok := readPath("Startpoint: "+report, f.t.timePS)
		group := staGroup.FindStringSubmatch(report)
		if !ok || group == nil {
			continue
		}
		if t.path.Start == "" || path.SlackPS < t.slack {
			t.path, t.slack = path, path.SlackPS
		}
		if group[1] == groupRegisters {
			t.regSlack, t.hasReg = path.SlackPS, true
		}
		// What the constraints take is a share of the period, so a shorter period leaves less of it to a path.
		left := 1 - c.share(group[1])
		t.period = max(t.period, (c.period*left-path.SlackPS)/left)
	}
	if t.path.Start == "" {
		return nil, fmt.Errorf("synth: OpenSTA reported no path:\n%s", tool.Tail([]byte(log)))
	}
	if m := staTNS.FindStringSubmatch(tns); m != nil {
		var err error
		if t.tns, err = strconv.ParseFloat(m[1], 64); err != nil {
			return nil, fmt.Errorf("synth: OpenSTA: %w", err)
		}
		t.tns *= f.t.timePS
	}
	if t.slack < 0 {
		t.failing = f.modulesOn(failing)
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
