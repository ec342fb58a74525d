// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"incforge/contract"
	"incforge/internal/tool"
	"incforge/synth"
	"incforge/synth/liberty"
)

// CheckOptions say what a folder is timed with.
type CheckOptions struct {
	// Liberty is the platform's library of cells, a .lib or .lib.gz file.
	Liberty string
	// WorkDir keeps netlist, script and log; "" uses a temporary folder that is removed.
	WorkDir string
	// Timeout bounds each run of a tool; 0 is two hours.
	Timeout time.Duration
}

// Timing is what OpenSTA says of a design before placement, with a folder's constraints and Liberty files. Times are in ps.
type Timing struct {
	Library   string  `json:"library"`
	AskedMHz  float64 `json:"asked_mhz"`
	FoundMHz  float64 `json:"found_mhz"` // at which every path and every macro's cycle holds, the reset left out
	SlackPS   float64 `json:"slack_ps"`  // worst of all paths
	RestPS    float64 `json:"slack_without_reset_ps"`
	Start     string  `json:"start"` // of the worst path, the reset left out
	End       string  `json:"end"`
	Group     string  `json:"group"`
	CellArea  float64 `json:"cell_area_um2"`
	MacroArea float64 `json:"macro_area_um2"`
	CycleMHz  float64 `json:"macro_cycle_mhz,omitempty"` // of the slowest macro
}

// String is the result for a terminal.
func (t *Timing) String() string {
	mark := ""
	if t.FoundMHz < t.AskedMHz {
		mark = " !"
	}
	return fmt.Sprintf("OpenSTA with %s, before placement: clock found %.1f MHz, %g asked%s; worst slack %.0f ps, without the reset's tree %.0f ps, %s to %s (%s)\n"+
		"cells %.4f mm2, macros %.4f mm2, slowest macro's cycle %.0f MHz\n",
		t.Library, t.FoundMHz, t.AskedMHz, mark, t.SlackPS, t.RestPS, t.Start, t.End, t.Group, t.CellArea/1e6, t.MacroArea/1e6, t.CycleMHz)
}

// Check maps the design beside the manifest in from onto a library, with Yosys and module by module as incforge synth does, and times
// that netlist with the constraints and the Liberty files of the folder that Write made of it in dir. The result goes into the folder's record.
func Check(ctx context.Context, from, dir string, o Options, c CheckOptions) (*Timing, error) {
	w, err := newWriter(from, o)
	if err != nil {
		return nil, err
	}
	work := c.WorkDir
	if work == "" {
		if work, err = os.MkdirTemp("", "incforge-openroad-"); err != nil {
			return nil, fmt.Errorf("openroad: %w", err)
		}
		defer os.RemoveAll(work)
	}
	if work, err = filepath.Abs(work); err != nil {
		return nil, fmt.Errorf("openroad: %w", err)
	}
	// One round: layout closes the clock, this only asks how far it is.
	m, err := synth.Run(ctx, from, synth.Options{Top: w.o.Top, Tech: c.Liberty, ClockMHz: w.o.ClockMHz, Rounds: 1, WorkDir: work, Timeout: c.Timeout})
	if err != nil {
		return nil, err
	}
	lib, err := liberty.Open(c.Liberty)
	if err != nil {
		return nil, err
	}
	if got := lib.TimeUnit * 1e12; got < 0.999*w.p.psPerUnit || got > 1.001*w.p.psPerUnit {
		return nil, fmt.Errorf("openroad: library %s counts in %g ps, the platform %s in %g", lib.Name, got, w.p.Name, w.p.psPerUnit)
	}
	t := &Timing{Library: lib.Name, AskedMHz: w.o.ClockMHz, CellArea: m.Metrics["synth__design__instance__area__stdcell"]}
	cycle := 0.0
	for _, mac := range w.macros {
		t.MacroArea += mac.area() * float64(len(mac.places))
		cycle = max(cycle, mac.Cycle)
	}
	if cycle > 0 {
		t.CycleMHz = 1e6 / cycle
	}
	text, err := w.time(ctx, work, dir, c.Timeout)
	if err != nil {
		return nil, err
	}
	sdc, err := os.ReadFile(filepath.Join(dir, sdcFile))
	if err != nil {
		return nil, fmt.Errorf("openroad: %w", err)
	}
	return t, t.read(text, shares(string(sdc)), cycle, w.p.psPerUnit)
}

// Groups of paths by what they share the period with.
const (
	groupInputs  = "inputs"
	groupOutputs = "outputs"
	groupThrough = "through"
)

// time runs OpenSTA on net.v and returns what it says.
func (w *writer) time(ctx context.Context, work, dir string, limit time.Duration) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("openroad: %w", err)
	}
	lines := []string{"read_liberty cells.lib"} // synth left it beside the netlist, uncompressed and without a wire load
	for _, m := range w.macros {
		lines = append(lines, fmt.Sprintf("read_liberty {%s}", filepath.Join(dir, filepath.FromSlash(inFolder("lib", m.Name())))))
	}
	lines = append(lines, "read_verilog net.v", "link_design "+w.top.Module, fmt.Sprintf("read_sdc {%s}", filepath.Join(dir, sdcFile)),
		"set ins [list]",
		fmt.Sprintf(`foreach p [all_inputs] { if {[get_property $p full_name] != "%s"} { lappend ins $p } }`, contract.ClockPort),
		fmt.Sprintf("group_path -name %s -from $ins", groupInputs),
		fmt.Sprintf("group_path -name %s -to [all_outputs]", groupOutputs),
		fmt.Sprintf("group_path -name %s -from $ins -to [all_outputs]", groupThrough),
		`puts "== all"`, "report_checks -path_delay max -format full -digits 5",
		fmt.Sprintf("set_false_path -from [get_ports %s]", contract.ResetPort),
		`puts "== rest"`, "report_checks -path_delay max -format full -digits 5", `puts "== end"`)
	if err := os.WriteFile(filepath.Join(work, "openroad.tcl"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("openroad: %w", err)
	}
	res, err := tool.Run(ctx, tool.Command{Name: "sta", Args: []string{"-no_splash", "-exit", "openroad.tcl"}, Dir: work, Timeout: limit})
	if err != nil {
		return "", fmt.Errorf("openroad: timing: %w", err)
	}
	// OpenSTA ends with status 0 whatever happened in the script.
	if m := staTrouble.Find(res.Output); m != nil {
		return "", fmt.Errorf("openroad: OpenSTA: %s", m)
	}
	if err := os.WriteFile(filepath.Join(work, "openroad.log"), res.Output, 0o644); err != nil {
		return "", fmt.Errorf("openroad: %w", err)
	}
	return string(res.Output), nil
}

var (
	staTrouble = regexp.MustCompile(`(?m)^(Error:|Warning: .*(?:black box|not found|[Nn]o liberty)).*$`)
	staGroup   = regexp.MustCompile(`(?m)^Path Group: (\S+)`)
	staEnd     = regexp.MustCompile(`(?m)^Endpoint: (\S+)`)
	staSlack   = regexp.MustCompile(`(?m)^\s*(-?[0-9.]+)\s+slack`)
)

// shares are the parts of the period that constraints take from every path, from inputs, and from outputs.
func shares(sdc string) (s struct{ uncertainty, input, output float64 }) {
	period := 0.0
	for _, m := range sdcTime.FindAllStringSubmatch(sdc, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		switch strings.Fields(m[1])[0] {
		case "create_clock":
			period = v
		case "set_clock_uncertainty":
			s.uncertainty = max(s.uncertainty, v/period)
		case "set_input_delay":
			s.input = max(s.input, v/period)
		case "set_output_delay":
			s.output = max(s.output, v/period)
		}
	}
	return s
}

// read takes a log apart; cycle in ps is that of the slowest macro, unit one unit of time in ps.
func (t *Timing) read(log string, s struct{ uncertainty, input, output float64 }, cycle, unit float64) error {
	_, rest, _ := strings.Cut(log, "== all\n")
	all, rest, ok := strings.Cut(rest, "== rest\n")
	if !ok {
		return fmt.Errorf("openroad: OpenSTA reported nothing:\n%s", tool.Tail([]byte(log)))
	}
	period, asked := cycle, 1e6/t.AskedMHz
	walk := func(text string, each func(slack float64, group, start, end string)) int {
		n := 0
		for report := range strings.SplitSeq(text, "Startpoint: ") {
			group, end, slack := staGroup.FindStringSubmatch(report), staEnd.FindStringSubmatch(report), staSlack.FindStringSubmatch(report)
			if group == nil || end == nil || slack == nil {
				continue
			}
			v, err := strconv.ParseFloat(slack[1], 64)
			if err != nil {
				continue
			}
			start := strings.Fields(report)[0] // a long name ends its line
			each(v*unit, group[1], strings.ReplaceAll(start, `\`, ""), strings.ReplaceAll(end[1], `\`, ""))
			n++
		}
		return n
	}
	first := true
	walk(all, func(slack float64, _, _, _ string) {
		if first || slack < t.SlackPS {
			t.SlackPS, first = slack, false
		}
	})
	n := walk(rest, func(slack float64, group, start, end string) {
		if t.End == "" || slack < t.RestPS {
			t.RestPS, t.Group, t.Start, t.End = slack, group, start, end
		}
		left := 1 - s.uncertainty
		if group == groupInputs || group == groupThrough {
			left -= s.input
		}
		if group == groupOutputs || group == groupThrough {
			left -= s.output
		}
		period = max(period, (asked*left-slack)/left)
	})
	if n == 0 {
		return errors.New("openroad: OpenSTA reported no path")
	}
	t.FoundMHz = 1e6 / period
	return nil
}
