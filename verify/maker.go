// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"incforge/sim"
	"incforge/verify/dut"
)

// maker makes an engine; waves is a file for its trace, or empty.
type maker func(seed uint64, waves string) (dut.DUT, error)

// maker prepares what all engines of a run share, the compiled model for instance.
func (r *runner) maker(ctx context.Context) (maker, error) {
	switch r.opt.DUT {
	case KindReference:
		return func(uint64, string) (dut.DUT, error) { return dut.NewReference(r.man) }, nil
	case KindRTL, KindCore, KindNetlist:
		core := r.opt.DUT == KindCore
		build, err := r.build(core)
		if err != nil {
			return nil, err
		}
		lib, err := build.Compile(ctx)
		if err != nil {
			return nil, fmt.Errorf("build the model: %w", err)
		}
		traced := sync.OnceValues(func() (*sim.Lib, error) {
			b := build
			b.Trace = true
			return b.Compile(ctx)
		})
		return func(seed uint64, waves string) (dut.DUT, error) {
			l, o := lib, sim.Options{Random: true, Seed: seed, WavePath: waves, SkipStill: true}
			if waves != "" {
				var err error
				if l, err = traced(); err != nil {
					return nil, fmt.Errorf("build the traced model: %w", err)
				}
			}
			return dut.NewRTL(l, r.man, core, o)
		}, nil
	}
	return nil, fmt.Errorf("unknown kind of DUT %q, known are %v", r.opt.DUT, Kinds())
}

// build is what the simulator compiles.
func (r *runner) build(core bool) (sim.Build, error) {
	top := "switch"
	if core {
		top = "core"
	}
	b, err := sim.FromManifest(r.man.Dir, top)
	if err != nil {
		return sim.Build{}, fmt.Errorf("build the model: %w", err)
	}
	b.CacheDir = r.opt.BuildDir
	if r.opt.Log != nil {
		b.Log = logWriter{r.opt.Log}
	}
	if r.opt.DUT == KindNetlist {
		if len(r.opt.Sources) == 0 {
			return sim.Build{}, errors.New("a netlist needs its Verilog files and those of its cells")
		}
		b.Files, b.IncludeDirs = r.opt.Sources, nil
		b.Flags = append(b.Flags, "-Wno-fatal")
	}
	return b, nil
}

// logWriter hands what tools print to the log, a write at a time.
type logWriter struct{ log *logrus.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}
