// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/mutate/mutant"
	"incforge/sim"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// zeros in a mutant's place is none, and registers that begin at 0, not at random.
const zeros = -1

// runner runs a scenario with a mutant on, 0 for none, for at most so many cycles.
type runner func(ctx context.Context, s rig.Scenario, number int, limit uint64) run

// bench is a compiled design, with mutants or without.
type bench struct {
	man  *contract.Manifest
	lib  *sim.Lib
	seed uint64
}

// plantIn writes the design's folder anew, with mutants in it.
func plantIn(dir string, man *contract.Manifest, d *mutant.Design, mutants []mutant.Mutant) error {
	text, err := os.ReadFile(contract.Path(man.Dir))
	if err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, contract.FileName), text, 0o644); err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	return d.Plant(dir, mutants)
}

// openBench compiles the design in a folder. The folder is not needed afterwards.
func openBench(ctx context.Context, dir string, seed uint64, log *logrus.Logger) (runner, error) {
	man, lib, err := dut.Source{ManifestDir: dir, Kind: dut.KindRTL, Log: log}.Model(ctx)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	return (&bench{man, lib, seed}).run, nil
}

// run is what a scenario made of a mutant.
type run struct {
	// applies is false if the configuration cannot hold the scenario.
	applies bool
	// err is how it failed.
	err error
	// clocked is how many cycles it took, seconds how much processor time of its thread.
	clocked uint64
	seconds float64
	// stimulus and egress are hashes of what went in and what came out.
	stimulus, egress string
}

// same tells whether the same went in and came out, in the same cycles.
func (r run) same(other run) bool { return r.stimulus == other.stimulus && r.egress == other.egress }

// run is a runner.
func (b *bench) run(ctx context.Context, s rig.Scenario, number int, limit uint64) run {
	if s.Needs != nil && s.Needs(b.man.Params) != "" {
		return run{}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadSeconds()
	budget := dut.NewBudget(ctx, limit)
	var engines []*dut.Watched
	t := rig.New(ctx, b.man, s.Name, b.seed, func(seed uint64, _ int) (dut.DUT, error) {
		o := sim.Options{Random: number != zeros, Seed: seed, SkipStill: true}
		if number > 0 {
			o.PlusArgs = []string{mutant.Choose(number)}
		}
		d, err := dut.NewRTL(b.lib, b.man, false, o)
		if err != nil {
			return nil, err
		}
		w := dut.Watch(d, budget)
		engines = append(engines, w)
		return w, nil
	})
	r := run{applies: true, err: t.Run(s.Run)}
	var lacks rig.NotApplicable
	if errors.As(r.err, &lacks) {
		return run{}
	}
	r.clocked, r.seconds = budget.Used(), threadSeconds()-begin
	r.stimulus, r.egress = dut.Digest(engines...)
	return r
}

// rusageThread asks for the calling thread's times.
const rusageThread = 1

// threadSeconds is the processor time of this thread.
func threadSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return (time.Duration(u.Utime.Nano()) + time.Duration(u.Stime.Nano())).Seconds()
}
