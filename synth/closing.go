// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/sirupsen/logrus"

	"incforge/internal/jobs"
	"incforge/synth/netlist"
	"incforge/synth/yosys"
)

// ffFO4 is what a clock period loses to the flops: clock to output with a load,
// and setup. ABC sees only what lies between.
const ffFO4 = 6

// effort is how hard a module is made fast: its script for ABC, the part of the clock period that ABC is given, and what a cell may
// drive afterwards, in inverters for each unit of its drive.
type effort struct {
	script string
	part   float64
	gain   float64
}

// A cell may drive so much where paths hold their clock, where they fail, and where they fail again.
const (
	easyGain  = 12
	briskGain = 8
	hardGain  = 5
)

// efforts returns the ladder that a module climbs while paths through it fail.
func efforts(script string, xor bool) []effort {
	if script != ScriptAuto {
		return []effort{{script, 1, easyGain}, {script, 1, hardGain}}
	}
	first := ScriptQuick
	if xor {
		first = ScriptXOR
	}
	return []effort{{first, 1, easyGain}, {ScriptDefault, 1, briskGain}, {ScriptDefault, 0.8, hardGain}, {ScriptFast, 0.7, hardGain}, {ScriptFastest, 0.6, hardGain}}
}

// maxRounds bounds how often the design is mapped and timed, if the user does not; worthwhile is what a round must bring of the slack
// that is missing.
const maxRounds, worthwhile = 6, 0.05

// state is the step of the ladder that each module stands on.
type state map[string]int

// round is a mapped and timed design.
type round struct {
	at      state
	modules []*netlist.Module
	stat    *yosys.Stat
	timing  *timing
	verilog []byte
	resized int // cells that sizing changed
}

// better tells whether a round is closer to the clock than another.
func (r *round) better(than *round) bool {
	if r.timing.slack != than.timing.slack {
		return r.timing.slack > than.timing.slack
	}
	return r.timing.tns > than.timing.tns
}

// close maps and times the design. While it misses its clock, the modules on failing paths are mapped again with more effort: ABC sees
// one module at a time, so only the whole design's timing tells which of them must be fast. A step that makes the design slower is
// taken back, and the modules' next steps are tried in its place: no round starts from anything but the best one. It ends, too, when two
// rounds in a row bring little.
func (f *flow) close(ctx context.Context) (*yosys.Stat, *timing, error) {
	if err := f.elaborate(ctx); err != nil {
		return nil, nil, err
	}
	ladders, err := f.ladders(ctx)
	if err != nil {
		return nil, nil, err
	}
	var asked state
	if mine, err := jobs.Asked(taskCells, &asked); err != nil {
		return nil, nil, err
	} else if mine {
		_, err := f.stitch(ctx, ladders, asked)
		return nil, nil, err
	}
	var best *round
	next := state{} // the step to try
	wasted := 0     // rounds in a row that brought little
	for n := range cmp.Or(f.o.Rounds, maxRounds) {
		at, moved := best.climb(next, ladders)
		if !moved {
			break
		}
		r, err := f.try(ctx, ladders, at)
		if err != nil {
			return nil, nil, err
		}
		kept := best == nil || r.better(best)
		idle := best != nil && r.timing.slack-best.timing.slack < -worthwhile*best.timing.slack
		f.log.WithFields(logrus.Fields{"round": n + 1, "slack_ps": int(r.timing.slack), "failing_modules": len(r.timing.failing), "kept": kept}).Info("mapped")
		if kept {
			best = r
		}
		// One round may bring nothing because other modules' paths have to follow; two end it.
		if wasted++; !idle {
			wasted = 0
		}
		if best.timing.slack >= 0 || wasted == 2 {
			break
		}
	}
	return best.stat, best.timing, f.keep(best)
}

// climb returns the steps that follow a round: its failing modules one further than they tried. It tells whether there is any; before
// the first round there is one.
func (r *round) climb(next state, ladders map[string][]effort) (at state, moved bool) {
	if r == nil {
		return state{}, true
	}
	at = maps.Clone(r.at)
	for _, module := range r.timing.failing {
		if next[module]+1 < len(ladders[module]) {
			next[module]++
			at[module], moved = next[module], true
		}
	}
	return at, moved
}

// keep writes the files of a round.
func (f *flow) keep(r *round) error {
	for name, text := range map[string][]byte{"net.v": r.verilog, "sta.log": r.timing.log, "sta.tcl": r.timing.script} {
		if err := os.WriteFile(filepath.Join(f.dir, name), text, 0o644); err != nil {
			return fmt.Errorf("synth: %w", err)
		}
	}
	return nil
}

// elaborate takes the design apart.
func (f *flow) elaborate(ctx context.Context) error {
	e := front{d: f.d, choice: f.choice, leaves: f.rams, flat: f.o.Flatten, limit: f.o.Timeout, store: f.shop.store, yosys: f.shop.yosys,
		ram: map[string]string{"read_verilog -sv -defer ram.v": ramVerilog(f.rams, f.memories), "read_verilog macros.v": macroOutlines(f.memories)}}
	done, err := e.run(ctx)
	if err != nil {
		return err
	}
	f.top, f.parts, f.names, f.clocked = done.top, done.parts, done.names, done.clocked
	return nil
}

// Tasks of a flow.
const (
	taskGates = "gates"
	taskCells = "cells" // which is given a state
)

// each calls do for every part, several at once and the largest first, as they take longest. On a cluster do is first called there, for what it
// leaves in the cache.
func each(ctx context.Context, place jobs.Place, task string, given any, parts []*part, do func(ctx context.Context, i int, p *part) error) error {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(parts[b].text) - len(parts[a].text) })
	work := jobs.Task[struct{}]{Name: task, Given: given, Pieces: len(order), Run: func(ctx context.Context, n int) (struct{}, error) {
		return struct{}{}, do(ctx, order[n], parts[order[n]])
	}}
	if place.Slurm != nil && !jobs.Shard() {
		if err := jobs.Run(ctx, place, work); err != nil {
			return err
		}
	}
	return jobs.Run(ctx, jobs.Place{Jobs: cmp.Or(place.Jobs, runtime.NumCPU())}, work)
}

// ladders synthesises all modules to gates and returns what each may climb, by readable name.
func (f *flow) ladders(ctx context.Context) (map[string][]effort, error) {
	all := make([][]effort, len(f.parts))
	modules := make([]*netlist.Module, len(f.parts))
	same := func(typ string) string { return typ }
	err := each(ctx, f.o.Place, taskGates, nil, f.parts, func(ctx context.Context, i int, p *part) error {
		text, err := f.shop.gatesOf(ctx, p)
		if err != nil {
			return err
		}
		if modules[i], err = netlist.Parse(text, p.id, same); err != nil {
			return err
		}
		all[i] = efforts(f.o.Script, netlist.MostlyXOR(modules[i].Count()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	netlist.Simplify(modules, f.sizer.Outputs)
	if gone := netlist.Merge(modules); gone > 0 {
		f.log.WithField("flops", gone).Info("equal flops merged")
		netlist.Simplify(modules, f.sizer.Outputs)
	}
	byID := map[string]*netlist.Module{}
	for _, m := range modules {
		byID[m.Name] = m
	}
	f.gates = make([]string, len(f.parts))
	ladders := map[string][]effort{}
	for i, p := range f.parts {
		f.gates[i] = f.prepared(p, modules[i], byID)
		ladders[p.name] = all[i]
	}
	return ladders, nil
}

// try maps every module as its step says and times the design.
func (f *flow) try(ctx context.Context, ladders map[string][]effort, at state) (*round, error) {
	r, err := f.stitch(ctx, ladders, at)
	if err != nil {
		return nil, err
	}
	r.timing, err = f.time(ctx, r.verilog)
	return r, err
}

// stitch maps every module as its step says and puts the netlist together.
func (f *flow) stitch(ctx context.Context, ladders map[string][]effort, at state) (*round, error) {
	r := &round{at: at, modules: make([]*netlist.Module, len(f.parts))}
	rename := func(typ string) string {
		if name, ok := f.names[typ]; ok {
			return name
		}
		return typ
	}
	err := each(ctx, f.o.Place, taskCells, at, f.parts, func(ctx context.Context, i int, p *part) error {
		text, err := f.mapped(ctx, p, f.gates[i], ladders[p.name][at[p.name]])
		if err != nil {
			return err
		}
		r.modules[i], err = netlist.Parse(text, p.id, rename)
		return err
	})
	if err != nil {
		return nil, err
	}
	macros := map[string]bool{}
	for _, m := range f.memories {
		if m.macro != nil {
			macros[m.macro.Name()] = true
		}
	}
	netlist.Sweep(r.modules, f.sizer.Outputs, func(typ string) bool { return macros[typ] })
	r.resized = f.sizer.Size(r.modules, f.t.loadFF/f.t.capFF, func(module string) float64 { return ladders[module][at[module]].gain })
	r.stat = &yosys.Stat{Modules: map[string]map[string]int{}}
	f.tree = yosys.Tree{}
	for _, m := range r.modules {
		r.stat.Modules[m.Name] = m.Count()
	}
	for _, m := range r.modules {
		inside := m.Instances()
		maps.DeleteFunc(inside, func(_, typ string) bool { return r.stat.Modules[typ] == nil })
		f.tree[m.Name] = inside
	}
	var text bytes.Buffer
	if err := netlist.WriteVerilog(&text, r.modules); err != nil {
		return nil, err
	}
	r.verilog = text.Bytes()
	return r, nil
}
