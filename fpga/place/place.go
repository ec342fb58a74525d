// SPDX-License-Identifier: Apache-2.0

// Package place places and routes a mapped netlist with nextpnr, once for each seed, as many at once as there are processors, and reads
// what it found: the clock, the use of the device, the critical path by block, and where every cell lies.
package place

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"incforge/internal/tool"
)

// Options say how to place and route.
type Options struct {
	// Seeds are those of the placer, a run each.
	Seeds []int
	// Registers puts the ports behind shift registers even where the package has pads for all: paths from and to ports count then too.
	Registers bool
	// ToolDirs are folders to look in for what is not on the PATH: nextpnr, and a Yosys that is newer.
	ToolDirs []string
}

// Device is a part of a family that nextpnr knows.
type Device struct {
	// Name is the part with speed and package, Args nextpnr's flags for it.
	Name string
	Args []string
	// Programs are the names of nextpnr for the family, in order of preference.
	Programs []string
	// Mapper is the Yosys to map with, a program in Options.ToolDirs; "" is the one on the PATH.
	Mapper string
	// Pads is how many ports nextpnr finds pads for by itself; 0 is none.
	Pads int
	// Pins are constraints for the few ports of a design behind shift registers, a file that Args names; "" is none.
	PinsFile, Pins string
}

// Design is what is placed.
type Design struct {
	// File is the netlist in JSON, in the folder that Place works in: nextpnr in WebAssembly sees no other. Top is its top.
	File, Top string
	// AskedMHz is what to aim at.
	AskedMHz float64
	// Block is the path of instances in a flattened name, "" for the top's own.
	Block func(cell string) string
}

// Run is what one seed came to.
type Run struct {
	Seed       int     `json:"seed"`
	FoundMHz   float64 `json:"found_mhz"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// Step is a stretch of the critical path within one block.
type Step struct {
	Block string `json:"block"`
	Cells int    `json:"cells"` // that the path enters there
	// LogicNS and RoutingNS are what cells and wires take; a wire counts to the block that it leads to.
	LogicNS   float64 `json:"logic_ns"`
	RoutingNS float64 `json:"routing_ns"`
}

// Use is how much of a kind of the device's cells is used.
type Use struct {
	Kind      string `json:"kind"`
	Used      int    `json:"used"`
	Available int    `json:"available"`
}

// Result is what place and route found.
type Result struct {
	Device string `json:"device"`
	Tool   string `json:"tool"`
	Pins   string `json:"pins"` // how the ports are connected
	Runs   []Run  `json:"runs"`
	// FoundMHz is the lowest of the seeds, Spread what lies between the lowest and the highest over the mean.
	FoundMHz float64 `json:"found_mhz"`
	Spread   float64 `json:"spread"`
	Use      []Use   `json:"use"`
	// Path is the critical path of the seed with the lowest clock, PathNS its length.
	Path   []Step  `json:"path"`
	PathNS float64 `json:"path_ns"`
	Start  string  `json:"start"`
	End    string  `json:"end"`
	// Picture is a PNG of that placement, Legend its colours.
	Picture []byte  `json:"picture,omitempty"`
	Legend  []Entry `json:"legend,omitempty"`
}

var (
	// ErrNoClock means that nextpnr found no path between registers.
	ErrNoClock = errors.New("place and route found no clock")
	// ErrNoSeeds means that there is nothing to run.
	ErrNoSeeds = errors.New("place and route needs a seed")
)

// hint says what brings nextpnr.
const hint = "make tools-place"

// Tool finds a program in ToolDirs. Tools run in a folder of their own, so its path is absolute.
func (o Options) Tool(name string) (path string, ok bool) {
	for _, dir := range o.ToolDirs {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// find returns the program that places for a device.
func find(d Device, o Options) (string, error) {
	for _, name := range d.Programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		if path, ok := o.Tool(name); ok {
			return path, nil
		}
	}
	return "", &tool.NotFoundError{Name: d.Programs[0], Hint: hint}
}

// Available tells whether there is a nextpnr for the device.
func Available(d Device, o Options) error {
	_, err := find(d, o)
	return err
}

// Place places and routes the design on the device, in the folder work.
func Place(ctx context.Context, work string, d Design, dev Device, o Options, limit time.Duration) (*Result, error) {
	if len(o.Seeds) == 0 {
		return nil, ErrNoSeeds
	}
	program, err := find(dev, o)
	if err != nil {
		return nil, err
	}
	// nextpnr in WebAssembly is compiled when it is run first, which takes minutes on a busy machine.
	said, err := tool.Run(ctx, tool.Command{Name: program, Args: []string{"--version"}, Timeout: limit})
	if err != nil {
		return nil, fmt.Errorf("place and route: %w", err)
	}
	if dev.PinsFile != "" {
		if err := os.WriteFile(filepath.Join(work, dev.PinsFile), []byte(dev.Pins), 0o644); err != nil {
			return nil, fmt.Errorf("place and route: %w", err)
		}
	}
	r := &Result{Device: dev.Name, Tool: filepath.Base(program) + " " + version(said.Output)}
	r.Runs = make([]Run, len(o.Seeds))
	reports := make([]*report, len(o.Seeds))
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0)) // nextpnr uses one processor
	for i, seed := range o.Seeds {
		g.Go(func() (err error) {
			r.Runs[i], reports[i], err = place(each, work, program, d, dev, seed, limit)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var worst *report
	low, high, sum := math.Inf(1), 0.0, 0.0
	for i, run := range r.Runs {
		if run.FoundMHz < low {
			low, worst = run.FoundMHz, reports[i]
		}
		high, sum = max(high, run.FoundMHz), sum+run.FoundMHz
	}
	r.FoundMHz, r.Spread = low, (high-low)*float64(len(r.Runs))/sum
	r.Use = worst.use()
	r.Path, r.PathNS = worst.path(d.Block)
	cells, err := readPlacement(filepath.Join(work, placedFile(worst.seed)), d.Top)
	if err != nil {
		return nil, err
	}
	r.Start, r.End = worst.ends()
	r.Picture, r.Legend, err = paint(cells, d.Block, worst.route())
	return r, err
}

var released = regexp.MustCompile(`Version (?:nextpnr-)?(\S+?)\)`)

// version finds nextpnr's release in what it says.
func version(said []byte) string {
	if m := released.FindSubmatch(said); m != nil {
		return string(m[1])
	}
	return tool.Number(tool.Tail(said))
}

func placedFile(seed int) string { return "placed-" + strconv.Itoa(seed) + ".json" }

// place runs one seed.
func place(ctx context.Context, work, program string, d Design, dev Device, seed int, limit time.Duration) (Run, *report, error) {
	name := "report-" + strconv.Itoa(seed) + ".json"
	args := append(slices.Clone(dev.Args), "--json", d.File, "--freq", strconv.FormatFloat(d.AskedMHz, 'f', -1, 64), "--timing-allow-fail",
		"--seed", strconv.Itoa(seed), "--report", name, "--write", placedFile(seed), "--log", fmt.Sprintf("place-%d.log", seed), "--quiet")
	res, err := tool.Run(ctx, tool.Command{Name: program, Args: args, Dir: work, Timeout: limit})
	if err != nil {
		return Run{}, nil, fmt.Errorf("place and route, seed %d: %w", seed, err)
	}
	text, err := os.ReadFile(filepath.Join(work, name))
	if err != nil {
		return Run{}, nil, fmt.Errorf("place and route: %w", err)
	}
	rep, err := parseReport(text)
	if err != nil {
		return Run{}, nil, err
	}
	rep.seed = seed
	return Run{Seed: seed, FoundMHz: rep.mhz(), CPUSeconds: res.CPU.Seconds()}, rep, nil
}

// report is what nextpnr writes with --report.
type report struct {
	seed int

	Paths []struct {
		From string    `json:"from"`
		To   string    `json:"to"`
		Path []segment `json:"path"`
	} `json:"critical_paths"`
	Fmax map[string]struct {
		Achieved float64 `json:"achieved"`
	} `json:"fmax"`
	Utilization map[string]struct {
		Available int `json:"available"`
		Used      int `json:"used"`
	} `json:"utilization"`
}

// segment is a cell or a wire on a path.
type segment struct {
	Delay float64 `json:"delay"`
	From  end     `json:"from"`
	To    end     `json:"to"`
	Net   string  `json:"net"`
	Type  string  `json:"type"`
}

type end struct {
	Cell string `json:"cell"`
	Loc  [2]int `json:"loc"`
	Port string `json:"port"`
}

func parseReport(text []byte) (*report, error) {
	r := &report{}
	// nextpnr writes "nan" and "inf" for what it does not know, which is no JSON.
	for _, word := range []string{"nan", "-nan", "inf", "-inf"} {
		text = bytes.ReplaceAll(text, []byte(": "+word+","), []byte(": 0,"))
		text = bytes.ReplaceAll(text, []byte(": "+word+"\n"), []byte(": 0\n"))
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("place and route: report: %w", err)
	}
	if r.mhz() <= 0 {
		return nil, ErrNoClock
	}
	return r, nil
}

// mhz is the lowest of the clocks; an engine has one.
func (r *report) mhz() float64 {
	low := 0.0
	for _, f := range r.Fmax {
		if low == 0 || f.Achieved < low {
			low = f.Achieved
		}
	}
	return low
}

// use lists what is used, by name.
func (r *report) use() []Use {
	var all []Use
	for _, kind := range slices.Sorted(maps.Keys(r.Utilization)) {
		if u := r.Utilization[kind]; u.Used > 0 {
			all = append(all, Use{kind, u.Used, u.Available})
		}
	}
	return all
}

// critical is the longest path that begins and ends at the clock.
func (r *report) critical() []segment {
	var longest []segment
	most := -1.0
	for _, p := range r.Paths {
		if p.From != p.To || p.From == "<async>" {
			continue
		}
		sum := 0.0
		for _, s := range p.Path {
			sum += s.Delay
		}
		if sum > most {
			longest, most = p.Path, sum
		}
	}
	return longest
}

// path is the critical path by block.
func (r *report) path(block func(string) string) (steps []Step, ns float64) {
	for _, s := range r.critical() {
		b := block(s.To.Cell)
		if b == "" && len(steps) > 0 { // a cell of the top belongs to whom it comes from
			b = steps[len(steps)-1].Block
		}
		if len(steps) == 0 || steps[len(steps)-1].Block != b {
			steps = append(steps, Step{Block: b})
		}
		step := &steps[len(steps)-1]
		if ns += s.Delay; s.Type == "routing" {
			step.RoutingNS += s.Delay
			step.Cells++
		} else {
			step.LogicNS += s.Delay
		}
	}
	return steps, ns
}

// ends are the first and the last cell.
func (r *report) ends() (start, stop string) {
	if p := r.critical(); len(p) > 0 {
		return p[0].From.Cell, p[len(p)-1].To.Cell
	}
	return "", ""
}

// route is where the critical path runs.
func (r *report) route() [][2]int {
	var all [][2]int
	for _, s := range r.critical() {
		for _, at := range [][2]int{s.From.Loc, s.To.Loc} {
			if len(all) == 0 || all[len(all)-1] != at {
				all = append(all, at)
			}
		}
	}
	return all
}
