// SPDX-License-Identifier: Apache-2.0

// Package fourstate runs a generated engine in a simulator that knows X, Icarus Verilog: registers and memories begin unknown, as they do
// for everybody who simulates the Verilog that way, and nothing unknown may leave. A testbench in plain Verilog programs groups, sends frames
// of every length, lets the receivers hesitate, resets the engine in traffic, and reads registers; from the end of the first reset on it
// looks at every output in every cycle.
//
// What belongs to a beat or an answer is looked at while that is valid, and of a beat's data the bytes that tkeep names. Inputs of the register
// bus are X while their valid is low. The streams' are 0 then, and in bytes that tkeep does not name: the parser takes both into the words
// behind a payload's end, whose check bits, in an engine that has such, then are known, and into the header of a frame that is shorter
// than one.
package fourstate

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
)

// Finding is the first unknown output, or why the run did not come to its end.
type Finding struct {
	Top   string `json:"top"`
	Port  string `json:"port,omitempty"`
	Cycle int    `json:"cycle"`
	Phase string `json:"phase"`
	// Frame is the one that began to go in last.
	Frame string `json:"frame,omitempty"`
	Text  string `json:"text"`
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s in cycle %d (%s)", f.Top, f.Text, f.Cycle, f.Phase)
	if f.Frame != "" {
		s += ", last frame in: " + f.Frame
	}
	return s
}

// Run is one top that was simulated.
type Run struct {
	Top     string  `json:"top"`
	Cycles  int     `json:"cycles"`
	In      int     `json:"frames_in"`
	Out     int     `json:"frames_out"`
	Made    int     `json:"frames_made"` // those of Out that went to somebody's queue pair
	Seconds float64 `json:"seconds"`
}

// Report is what was seen of one generated folder.
type Report struct {
	Name     string    `json:"name"`
	Digest   string    `json:"digest"`
	Version  string    `json:"version"` // of Icarus Verilog
	Runs     []Run     `json:"runs"`
	Findings []Finding `json:"findings"`
}

// Clean reports whether nothing unknown left.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// Options say what Dir does.
type Options struct {
	// Tops are the tops to simulate, by their names in the manifest; none: all.
	Tops []string
	// Brief leaves out what an 8-byte bus gets beside every remainder of its width: all lengths up to the MTU.
	Brief bool
	// Limit bounds the simulation of one top; 0 stands for an hour.
	Limit time.Duration
}

// Dir simulates the tops of a generated folder. The error is about the simulation itself (no manifest, no simulator, Verilog that does not
// compile); what was seen is in the Report.
func Dir(ctx context.Context, dir string, o Options) (Report, error) {
	m, err := contract.Load(dir)
	if err != nil {
		return Report{}, err
	}
	version, err := tool.Version(ctx, "iverilog", "-V")
	if err != nil {
		return Report{}, err
	}
	rep := Report{Name: m.Name, Digest: m.Digest, Version: version}
	if o.Limit == 0 {
		o.Limit = time.Hour
	}
	if len(o.Tops) == 0 {
		o.Tops = []string{"core", "switch"}
	}
	for _, name := range o.Tops {
		top, ok := m.Tops[name]
		if !ok {
			return Report{}, fmt.Errorf("four-state: %s has no top %q", dir, name)
		}
		run, found, err := simulate(ctx, m, top, name == "core", o)
		if err != nil {
			return Report{}, fmt.Errorf("four-state: %s: %w", top.Module, err)
		}
		rep.Runs = append(rep.Runs, run)
		rep.Findings = append(rep.Findings, found...)
	}
	return rep, nil
}

// simulate compiles and runs one top.
func simulate(ctx context.Context, m *contract.Manifest, top contract.Top, core bool, o Options) (Run, []Finding, error) {
	work, err := os.MkdirTemp("", "incforge-x-")
	if err != nil {
		return Run{}, nil, err
	}
	defer os.RemoveAll(work)
	s, err := newStimulus(m, core, o.Brief)
	if err != nil {
		return Run{}, nil, err
	}
	b, err := newBench(m, top, s)
	if err != nil {
		return Run{}, nil, err
	}
	for name, text := range b.files() {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			return Run{}, nil, err
		}
	}
	args := []string{"-g2005", "-o", "t.vvp", "-s", benchModule, benchFile}
	for _, f := range m.Files {
		path, err := filepath.Abs(filepath.Join(m.Dir, f))
		if err != nil {
			return Run{}, nil, err
		}
		args = append(args, path)
	}
	if _, err := tool.Run(ctx, tool.Command{Name: "iverilog", Args: args, Dir: work}); err != nil {
		return Run{}, nil, err
	}
	res, err := tool.Run(ctx, tool.Command{Name: "vvp", Args: []string{"-n", "t.vvp"}, Dir: work, Timeout: o.Limit})
	if err != nil {
		return Run{}, nil, err
	}
	run, found, err := s.parse(top.Module, string(res.Stdout))
	run.Seconds = res.Elapsed.Seconds()
	return run, found, err
}

var (
	unknown = regexp.MustCompile(`(?m)^(X|STUCK|REFUSED) (\S+) cycle (\d+) phase (\d+) source (-?\d+) beat (-?\d+)$`)
	done    = regexp.MustCompile(`(?m)^DONE cycles (\d+) in (\d+) out (\d+) made (\d+)$`)
)

// errSilent means that the testbench ended without a word.
var errSilent = errors.New("the testbench did not say how it ended")

// parse reads what the testbench wrote.
func (s *stimulus) parse(top, output string) (Run, []Finding, error) {
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // matched as digits
		return n
	}
	run := Run{Top: top}
	if m := unknown.FindStringSubmatch(output); m != nil {
		f := Finding{Top: top, Port: m[2], Cycle: number(m[3]), Phase: s.phases[number(m[4])].name, Frame: s.describe(number(m[5]), number(m[6]))}
		switch m[1] {
		case "X":
			f.Text = m[2] + " is X"
		case "STUCK":
			f.Text = m[2] + " takes nothing any more"
		case "REFUSED":
			f.Text = "the access to " + m[2] + " was refused"
		}
		run.Cycles = f.Cycle
		return run, []Finding{f}, nil
	}
	m := done.FindStringSubmatch(output)
	if m == nil {
		return run, nil, fmt.Errorf("%w: %s", errSilent, strings.TrimSpace(tool.Tail([]byte(output))))
	}
	run.Cycles, run.In, run.Out, run.Made = number(m[1]), number(m[2]), number(m[3]), number(m[4])
	if run.Made == 0 {
		return run, []Finding{{Top: top, Cycle: run.Cycles, Phase: "at the end", Text: "no frame of the engine's own left"}}, nil
	}
	return run, nil, nil
}
