// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/modelcheck"
	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
	"incforge/verify/dut"
)

// modelcheckFlags are the command line of incforge modelcheck.
type modelcheckFlags struct {
	config     model.Config
	collective string
	ranges     []string

	symmetry, reduction, rules bool
	workers, maxStates, memory int
	maxTime                    time.Duration
	json, checkpoint           string
	trace, replay, on, dut     string
}

func (a *app) modelcheck() *cobra.Command {
	f := modelcheckFlags{}
	cmd := &cobra.Command{Use: "modelcheck", Short: "Model check the protocol: every state of reference engines, model hosts and faulty links", Args: cobra.NoArgs,
		Long: `Explore every order of events in a tree of reference engines and go-back-N hosts, on links that lose, duplicate and reorder a bounded
number of packets. It checks that in every state results are exact, no slot that is still needed is discarded and the engine's invariants
hold, and that from every state the collective can still complete without further faults. PSNs start at 2^24-2, so that they wrap.

Without a flag that describes a model it checks the six models of the paper: Tree-3-2, three packets from each sender, at most one loss, a
window of three (the paper does not say) and as many slots in a pipe. It prints the numbers of states beside the paper's.

With --bad and nothing else, but perhaps a mode, it looks for the smallest model that shows the rule, in searches of 65,536 states at most
(--max-states); it says how many stopped there without a verdict. A search that passes is followed by short ones with every rule known to be
wrong, and says which of them it could not have noticed (--notice=false leaves them out).

A violation is printed as a message sequence chart and saved as a scenario for --replay.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.replay != "" && f.on != "":
				return a.modelcheckDrive(cmd.Context(), &f)
			case f.replay != "":
				return a.modelcheckReplay(f.replay)
			case f.on != "":
				return usagef("--on takes the engine that a scenario is given to: --replay FILE says which")
			}
			if f.workers < 0 || f.maxStates < 0 || f.memory < 0 {
				return usagef("--workers, --max-states and --memory must not be negative")
			}
			if err := f.config.Collective.UnmarshalText([]byte(f.collective)); err != nil {
				return usageError{fmt.Errorf("--collective: %w", err)}
			}
			var err error
			if f.config.Ranges, err = model.ParseRanges(f.ranges); err != nil {
				return usageError{fmt.Errorf("--ranges: %w", err)}
			}
			switch named := cmd.Flags().Changed("mode"); {
			case changed(cmd, modelFlags()) || named && len(f.config.Bad) == 0:
				return a.modelcheckOne(cmd.Context(), &f)
			case len(f.config.Bad) > 0 && changed(cmd, searchFlags()):
				return usagef("--%s are for one model: with --bad alone there are many small ones", strings.Join(searchFlags(), ", --"))
			case len(f.config.Bad) > 0:
				return a.modelcheckSmallest(cmd.Context(), &f, named)
			}
			return a.modelcheckTable(cmd.Context(), &f)
		}}
	fl := cmd.Flags()
	c := &f.config
	fl.IntVar(&c.Mode, "mode", 3, "mode of the engines: 1, 2, 3")
	fl.StringVar(&f.collective, "collective", "allreduce", "allreduce, reduce or broadcast")
	fl.StringSliceVar(&f.ranges, "ranges", nil, "modes 2 and 3: an in-band group, whose hosts do these one after the other: allreduce, barrier, reduce:HOST, broadcast:HOST")
	fl.StringVar(&c.Tree, "tree", "3-2", "star-HOSTS, chain-HOSTS (two switches with so many each) or LEVELS-DEGREE, levels with the hosts")
	fl.IntVar(&c.Requests, "requests", 3, "packets, in mode 1 messages, each sender sends")
	fl.IntVar(&c.Window, "window", 3, "most packets, in mode 1 messages, a sender has outstanding (sent and not acknowledged)")
	fl.IntVar(&c.Slots, "slots", 0, "slots of the group, or of a pipe in modes 3 and 1 (default: the window; in mode 2 the next power of two, doubled)")
	fl.IntVar(&c.Bytes, "bytes", 0, "mode 1: bytes of a message, a multiple of 4 (default 8)")
	fl.IntSliceVar(&c.PathMTUs, "path-mtus", nil, "mode 1: the hosts' path MTUs, 4 or 8, again from the first when they are used up (default 4,8)")
	fl.IntVar(&c.Loss, "loss", 1, "most packets the links lose in a run")
	fl.IntVar(&c.Reorder, "reorder", 0, "most packets that overtake others")
	fl.IntVar(&c.Dup, "dup", 0, "most packets that are delivered twice")
	fl.IntVar(&c.Early, "timeouts", 0, "most timers that expire early; the others expire only when no packet is in flight")
	fl.IntVar(&c.Park, "park", 0, "most times a switch is parked, while it is drained, to be unparked at any time")
	fl.IntVar(&c.RNR, "rnr", 0, "most times a host has no receive posted and answers with an RNR NAK")
	fl.BoolVar(&c.Free, "free", false, "modes 3 and 1: interleave an engine's sends with everything else instead of sending at once")
	fl.BoolVar(&c.Empty, "empty", false, "send packets without payload, as a barrier does")
	fl.StringSliceVar(&c.Bad, "bad", nil, "break these rules on purpose, to see that the search finds it: A1, A2, A9, A10, B6-ack, B6-assert, B9, B10, B10-host, B15; in mode 1 by-psn, ack-full, free-first, keep-refused, B10-host; of parking park-busy, old-psn; of ranges same-offsets, one-range, no-reack, nak-speaks, undrained, eager-host, impatient-root, early-receives")
	fl.BoolVar(&f.symmetry, "symmetry", true, "symmetry reduction: explore only one of the states that differ by which host or switch is which")
	fl.BoolVar(&f.reduction, "reduction", true, "partial-order reduction: explore only one order of independent steps")
	fl.BoolVar(&f.rules, "notice", true, "after a search that passes, say which of the rules known to be wrong it could not have noticed")
	fl.IntVar(&f.workers, "workers", 0, "goroutines (default: one a processor); the counts do not depend on it")
	fl.IntVar(&f.maxStates, "max-states", 0, "stop without a verdict after this many states (default: 2^31; with --bad alone 65,536 of each model)")
	fl.IntVar(&f.memory, "memory", 8192, "stop without a verdict when the set of states takes this many MB; 0 is no limit")
	fl.DurationVar(&f.maxTime, "max-time", 0, "stop without a verdict after this time; 0 is no limit")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "save the search in this file every five minutes and when it stops; resume from it if it exists")
	fl.StringVar(&f.trace, "trace", "build/modelcheck.yaml", "file for the scenario that leads to a violation")
	fl.StringVar(&f.replay, "replay", "", "replay the scenario in this file on the reference engine")
	fl.StringVar(&f.on, "on", "", "with --replay: drive an engine of this CONFIG with what each switch receives, and compare its answers with the reference's")
	fl.StringVar(&f.dut, "dut", string(dut.KindRTL), "with --on: implementation: rtl, reference")
	bindJSON(cmd, &f.json)
	return cmd
}

// modelcheckSearch searches a model with the flags' options.
func (a *app) modelcheckSearch(ctx context.Context, f *modelcheckFlags, c model.Config, symmetry bool, format string, args ...any) (*modelcheck.Result, error) {
	task := a.progress(format, args...)
	defer task.Stop()
	return modelcheck.Check(ctx, c, modelcheck.Options{Symmetry: symmetry, Reduction: f.reduction, Workers: f.workers, MaxStates: f.maxStates,
		MaxBytes: int64(f.memory) << 20, MaxTime: f.maxTime, Checkpoint: f.checkpoint, Shortest: true,
		Notice: f.rules && symmetry == f.symmetry, Progress: func(p modelcheck.Counts) {
			task.Set(uint64(p.Distinct), 0, "states", fmt.Sprintf("%d transitions, depth %d", p.Transitions, p.Diameter))
		}})
}

// modelcheckOne checks one model.
func (a *app) modelcheckOne(ctx context.Context, f *modelcheckFlags) error {
	r, err := a.modelcheckSearch(ctx, f, f.config, f.symmetry, "modelcheck")
	if errors.Is(err, model.ErrConfig) || errors.Is(err, modelcheck.ErrCheckpoint) {
		return usageError{err}
	}
	if r == nil {
		return err
	}
	stopped := err
	a.printSearch(r)
	if err := writeJSON(f.json, r); err != nil {
		return err
	}
	switch {
	case r.Violation != nil:
		return errors.Join(stopped, a.modelcheckViolation(r, f.trace))
	case stopped != nil:
		fmt.Fprintln(a.out, "interrupted: no verdict")
		return stopped
	case !r.Complete:
		fmt.Fprintln(a.out, "stopped at a limit: no verdict")
		return errFailed
	case len(r.Config.Bad) > 0:
		fmt.Fprintf(a.out, "passed: this model does not show %s\n", strings.Join(r.Config.Bad, ", "))
		return nil
	}
	fmt.Fprintln(a.out, "passed")
	if r.Notices != nil {
		fmt.Fprintln(a.out, noticed(r.Notices))
	}
	return nil
}

// printSearch prints how large a search was and what it took.
func (a *app) printSearch(r *modelcheck.Result) {
	fmt.Fprintf(a.out, "%s\n%d states (%d transitions), diameter %d, symmetry %d, reduction %v\n", r.Config, r.Distinct, r.Transitions, r.Diameter, r.Symmetry, r.Reduction)
	fmt.Fprintf(a.out, "%d quiescent, %d ends; %d component states, %d steps of engines\n", r.Quiescent, r.Done, r.Components, r.EngineSteps)
	fmt.Fprintf(a.out, "%.1f s with %d workers, %.1f s of processor time; two states taken for one with a probability below 2^%d\n", r.Seconds, r.Workers, r.CPUSeconds, r.Collision)
}

// modelcheckViolation draws what was found, and saves it as a scenario.
func (a *app) modelcheckViolation(r *modelcheck.Result, file string) error {
	text, err := r.Violation.YAML()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "FAIL %s: %s\n\n", r.Violation.Kind, r.Violation.Text)
	if _, err := scenario.Replay(r.Violation, a.out); err != nil {
		return err
	}
	head := fmt.Sprintf("# %s: %s\n# incforge modelcheck --replay %s\n", r.Violation.Kind, r.Violation.Text, file)
	fmt.Fprintf(a.out, "\nscenario: %s\n", file)
	if err := write(file, append([]byte(head), text...)); err != nil {
		return err
	}
	return errFailed
}

// readScenario reads a scenario; whatever is wrong with it is a matter of usage.
func readScenario(file string) (*scenario.Trace, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("scenario: %w", err)}
	}
	t, err := scenario.ParseTrace(text)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return t, nil
}

// modelcheckDrive gives what each switch gets in a scenario to an engine.
func (a *app) modelcheckDrive(ctx context.Context, f *modelcheckFlags) error {
	t, err := readScenario(f.replay)
	if err != nil {
		return err
	}
	if f.dut != string(dut.KindRTL) && f.dut != string(dut.KindReference) {
		return usagef("--dut %s: must be %s or %s", f.dut, dut.KindRTL, dut.KindReference)
	}
	dir, remove, err := a.generated(f.on, &configFlags{})
	if err != nil {
		return err
	}
	defer remove()
	stop := a.working("build the model of %s", f.on)
	m, engines, err := dut.Source{ManifestDir: dir, Kind: dut.Kind(f.dut), Log: a.log}.Open(ctx)
	stop()
	if err != nil {
		return err
	}
	names, err := t.Switches()
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", f.replay, err)}
	}
	failed := false
	for _, name := range names {
		script, err := t.Script(name)
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", f.replay, err)}
		}
		d, err := engines.New(1)
		if err != nil {
			return err
		}
		done, err := script.Drive(d, m)
		closing := d.Close()
		switch {
		case errors.Is(err, scenario.ErrNoRoom):
			return usageError{fmt.Errorf("%s: %s: %w", f.on, name, err)}
		case err != nil || closing != nil:
			failed = true
			fmt.Fprintf(a.out, "FAIL %s: %v\n", name, errors.Join(err, closing))
		default:
			fmt.Fprintf(a.out, "%s: %d frames in, %d out as by the reference, %d not tried\n", name, done.Frames, done.Answers, done.Left)
		}
	}
	if failed {
		return errFailed
	}
	return nil
}

// modelcheckReplay runs a scenario.
func (a *app) modelcheckReplay(file string) error {
	t, err := readScenario(file)
	if err != nil {
		return err
	}
	same, err := scenario.Replay(t, a.out)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", file, err)}
	}
	if t.Kind == "" {
		return nil
	}
	if !same {
		fmt.Fprintf(a.out, "\nit does not come to the %s that the scenario leads to\n", t.Kind)
		return nil
	}
	return errFailed
}

// paperRow is a model of the paper's and what checking it cost there, with 75 cores.
type paperRow struct {
	mode                      int
	collective                model.Collective
	total, distinct, diameter int
	seconds                   float64
}

func paperRows() []paperRow {
	return []paperRow{
		{2, model.AllReduce, 3_981_257, 901_703, 77, 20}, {2, model.Reduce, 52_105, 14_136, 57, 3},
		{2, model.Broadcast, 1_763_880, 320_128, 60, 10}, {3, model.AllReduce, 2_242_781_644, 439_476_508, 115, 146 * 60},
		{3, model.Reduce, 2_291_727, 447_972, 65, 9}, {3, model.Broadcast, 67_902_618, 9_911_424, 67, 113},
	}
}

// modelcheckTable checks the paper's models, with symmetry and without. Interrupted, it prints the rows that are complete.
func (a *app) modelcheckTable(ctx context.Context, f *modelcheckFlags) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"model", "total", "distinct", "diameter", "s", "no symmetry: total", "distinct", "s", "paper: total", "distinct", "diameter", "s"})
	var all []*modelcheck.Result
	var stopped error
	for _, row := range paperRows() {
		both, err := a.modelcheckRow(ctx, f, row)
		if all = append(all, both...); err != nil {
			stopped = err
			break
		}
		with, without := both[0], both[1]
		t.AppendRow(table.Row{row.name(), with.Transitions, with.Distinct, with.Diameter, fmt.Sprintf("%.1f", with.Seconds), without.Transitions,
			without.Distinct, fmt.Sprintf("%.1f", without.Seconds), row.total, row.distinct, row.diameter, row.seconds})
	}
	if len(all) == 0 {
		return stopped
	}
	fmt.Fprintf(a.out, "Tree-3-2, three packets a sender, at most one loss, window 3 and, in Mode III, pipes of 3; reduction %v; %d workers\n%s\n", f.reduction, all[0].Workers, t.Render())
	fmt.Fprintf(a.out, "The models differ from the paper's: a queue a link and direction instead of one a node, NAKs, a reduction of orders that do not matter.\n")
	for _, r := range all {
		if r.Notices != nil {
			fmt.Fprintf(a.out, "%s %s: %s\n", strings.Repeat("I", r.Config.Mode), r.Config.Collective, noticed(r.Notices))
		}
	}
	if err := writeJSON(f.json, all); err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(r *modelcheck.Result) bool { return r.Violation != nil }); i >= 0 {
		fmt.Fprintf(a.out, "FAIL %s: %s: %s\n", all[i].Config, all[i].Violation.Kind, all[i].Violation.Text)
	}
	if stopped != nil {
		return stopped
	}
	if slices.ContainsFunc(all, func(r *modelcheck.Result) bool { return r.Violation != nil || !r.Complete }) {
		return errFailed
	}
	return nil
}

// name is the model in the table's first column.
func (r *paperRow) name() string {
	return fmt.Sprintf("%s %s", strings.Repeat("I", r.mode), r.collective)
}

// modelcheckRow checks one of the paper's models with symmetry and without. An error comes with what there is of both.
func (a *app) modelcheckRow(ctx context.Context, f *modelcheckFlags, row paperRow) (both []*modelcheck.Result, err error) {
	c := model.Config{Mode: row.mode, Collective: row.collective, Tree: "3-2", Requests: 3, Window: 3, Loss: 1}
	for _, symmetry := range []bool{true, false} {
		r, err := a.modelcheckSearch(ctx, f, c, symmetry, "modelcheck %s, symmetry %v", row.name(), symmetry)
		if r != nil {
			both = append(both, r)
		}
		if err != nil {
			return both, err
		}
	}
	return both, nil
}
