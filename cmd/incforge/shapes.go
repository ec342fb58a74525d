// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/internal/lint"
	"incforge/verify"
	"incforge/verify/dut"
	"incforge/verify/result"
)

// shapeScenarios are what every shape must pass: every way through the switch, in and out, with trouble at the ports.
const shapeScenarios = "lengths,bypass,messages,port-troubles,port-turns"

// shape is a drawn shape of ports, and what came of it.
type shape struct {
	Seed   uint64   `json:"seed"`
	Config string   `json:"config"`
	Set    []string `json:"set"`
	// Digest is of its parameters and Verilog, Scenario the pattern that was run, Seconds how long it took.
	Digest   string  `json:"digest"`
	Scenario string  `json:"scenario"`
	Seconds  float64 `json:"seconds"`
	// Findings are those of lint; Passed, Failed and Skipped the scenarios.
	Findings int      `json:"findings"`
	Passed   int      `json:"passed"`
	Failed   []string `json:"failed,omitempty"`
	Skipped  int      `json:"not_applicable"`
	Error    string   `json:"error,omitempty"`
}

// bad tells whether anything was wrong.
func (s *shape) bad() bool { return s.Findings > 0 || len(s.Failed) > 0 || s.Error != "" }

// drawShape draws the shape of a seed: 1 to 4 engines, 1 to 16 ports with queues, 8 to 64 bytes wide, with the engine's clock of 250 MHz, one of their own for
// all, or one each, from 50 to 400 MHz, before a bus of 8 to 64 bytes. All else is small, so that a simulator compiles it in seconds.
func drawShape(seed uint64) shape {
	r := rand.New(rand.NewPCG(seed, 0x73686170))
	s := shape{Seed: seed, Config: []string{"mini", "mini", "mini3"}[r.IntN(3)]}
	bus := 8 << r.IntN(4)
	port := 8 << r.IntN(4)
	bus = max(bus, port)
	ports, engines := 1+r.IntN(16), 1+r.IntN(4)
	set := func(key string, value any) { s.Set = append(s.Set, fmt.Sprintf("%s=%v", key, value)) }
	set("name", "shape"+strconv.FormatUint(seed, 10))
	set("bus_bytes", bus)
	set("lanes", bus/4)
	set("mtu_bytes", 256)
	set("window_packets", 2)
	set("buffer_bytes", 8*256)
	set("groups", 1+r.IntN(2))
	set("members", 1+r.IntN(4))
	set("ports", ports)
	set("engines", engines)
	set("port_bytes", port)
	clock := func() string { return strconv.FormatFloat(float64(50000+r.IntN(350001))/1000, 'f', -1, 64) }
	switch r.IntN(3) {
	case 1:
		set("port_clock_mhz", "["+clock()+"]")
	case 2:
		clocks := make([]string, ports)
		for i := range clocks {
			clocks[i] = clock()
		}
		set("port_clock_mhz", "["+strings.Join(clocks, ", ")+"]")
	}
	return s
}

func (a *app) shapes() *cobra.Command {
	var (
		seeds, scenario, jsonFile string
		draw, resume              bool
	)
	cmd := &cobra.Command{Use: "shapes", Short: "Draw shapes of ports, clocks and engines; lint each and run some scenarios",
		Long: `Each seed is a switch: 1 to 4 engines, 1 to 16 ports of 8 to 64 bytes with queues, in the engine's clock of 250 MHz or in clocks of 50 to
400 MHz, before a bus of 8 to 64 bytes. Its Verilog must be clean and pass some scenarios, every frame compared with the reference.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			from, to, err := seedRange(seeds)
			if err != nil {
				return err
			}
			if draw {
				for seed := from; seed <= to; seed++ {
					s := drawShape(seed)
					fmt.Fprintln(a.out, seed, s.Config, strings.Join(s.Set, " "))
				}
				return nil
			}
			earlier, err := soundShapes(jsonFile, resume)
			if err != nil {
				return err
			}
			all, err := a.tryShapes(cmd.Context(), from, to, scenario, jsonFile, earlier)
			if err != nil {
				return err
			}
			bad := 0
			for _, s := range all {
				if s.bad() {
					bad++
				}
			}
			fmt.Fprintf(a.out, "%d shapes, %d bad\n", len(all), bad)
			if bad > 0 {
				return fmt.Errorf("%w: %d of %d shapes", errFailed, bad, len(all))
			}
			return nil
		}}
	f := cmd.Flags()
	f.StringVar(&seeds, "seeds", "1:200", "first and last seed, FROM:TO, or one")
	f.StringVar(&scenario, "scenario", shapeScenarios, "patterns of scenario names, separated by commas")
	f.BoolVar(&draw, "draw", false, "say what would be tried, and try nothing")
	f.BoolVar(&resume, "resume", false, "keep what --json FILE says of shapes that passed, if Verilog and scenarios are the same; a changed harness wants the file removed")
	bindJSON(cmd, &jsonFile)
	return cmd
}

// soundShapes are those that an earlier run left in the file and that passed, by seed.
func soundShapes(file string, resume bool) (map[uint64]shape, error) {
	if !resume {
		return nil, nil
	}
	if file == "" {
		return nil, usagef("--resume goes with --json FILE")
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	var all []shape
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("resume: %s: %w", file, err)
	}
	sound := map[uint64]shape{}
	for _, s := range all {
		if !s.bad() {
			sound[s.Seed] = s
		}
	}
	return sound, nil
}

// tryShapes tries one shape after the other, but for those of an earlier run, and writes the file after each.
func (a *app) tryShapes(ctx context.Context, from, to uint64, scenario, jsonFile string, earlier map[uint64]shape) (all []shape, err error) {
	for seed := from; seed <= to && ctx.Err() == nil; seed++ {
		s := drawShape(seed)
		s.Scenario = scenario
		start := time.Now()
		if err := a.tryShape(ctx, &s, earlier[seed]); err != nil {
			s.Error = err.Error()
		}
		if ctx.Err() != nil { // what was cut off is no finding
			break
		}
		if s.Seconds == 0 {
			s.Seconds = math.Round(10*time.Since(start).Seconds()) / 10
		}
		all = append(all, s)
		fmt.Fprintln(a.out, s.line())
		if err := writeJSON(jsonFile, all); err != nil {
			return nil, err
		}
	}
	return all, ctx.Err()
}

// line is what came of a shape, for people.
func (s *shape) line() string {
	verdict := fmt.Sprintf("lint %d, %d passed, %d not applicable", s.Findings, s.Passed, s.Skipped)
	for _, f := range s.Failed {
		verdict += "\n  FAIL " + f
	}
	if s.Error != "" {
		verdict += "\n  " + s.Error
	}
	return fmt.Sprintf("%d %s %s: %s", s.Seed, s.Config, strings.Join(s.Set, " "), verdict)
}

// tryShape generates a shape, lints it and runs the scenarios, unless it is as it was when it passed.
func (a *app) tryShape(ctx context.Context, s *shape, old shape) error {
	dir, done, err := a.generated(s.Config, &configFlags{sets: s.Set})
	if err != nil {
		return err
	}
	defer done()
	m, err := contract.Read(dir)
	if err != nil {
		return err
	}
	if s.Digest = m.Digest; s.Digest == old.Digest && s.Scenario == old.Scenario {
		*s = old
		return nil
	}
	rep, err := lint.Dir(ctx, dir)
	if err != nil {
		return err
	}
	s.Findings = len(rep.Findings)
	tests, err := verify.RunAll(ctx, []verify.Engine{{Source: dut.Source{ManifestDir: dir, Kind: dut.KindRTL, Brief: true, Log: a.log}, Config: s.Config}},
		verify.Options{Scenario: s.Scenario, Seed: s.Seed, Log: a.log})
	for _, t := range tests.Tests {
		switch t.Verdict {
		case result.Pass:
			s.Passed++
		case result.NotApplicable:
			s.Skipped++
		default:
			first, _, _ := strings.Cut(t.Message, "\n")
			s.Failed = append(s.Failed, t.Scenario+": "+first)
		}
	}
	if errors.Is(err, verify.ErrFailed) {
		return nil
	}
	return err
}
