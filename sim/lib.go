// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"incforge/sim/verilate"
)

// Lib is a compiled model: a factory of instances. Its methods may be called from
// several goroutines.
type Lib struct {
	Digest string // of everything the library was made from
	Cached bool   // it came from the cache

	lib      *library
	top      string
	sources  verilate.Sources
	clock    string // resolved: "" means the model has none
	reset    string
	periodNS float64
	cover    verilate.CoverTable
}

func load(path string) (*Lib, error) {
	l, err := openLibrary(path)
	if err != nil {
		return nil, err
	}
	for _, p := range l.ports {
		if p.inout {
			return nil, fmt.Errorf("port %s is inout, which is not supported; split it into two ports", p.Name)
		}
	}
	return &Lib{lib: l}, nil
}

// settleClock resolves the default names of clock and reset.
func (l *Lib) settleClock() error {
	resolve := func(name, usual, what string) (string, error) {
		switch name {
		case "-":
			return "", nil
		case "":
			if i := l.index(usual); i >= 0 && l.lib.ports[i].Width == 1 && l.lib.ports[i].Dir == In {
				return usual, nil
			}
			return "", nil
		}
		if err := l.check(PortSpec{Name: name, Dir: In, Width: 1}); err != nil {
			return "", fmt.Errorf("%s: %w", what, err)
		}
		return name, nil
	}
	var err1, err2 error
	l.clock, err1 = resolve(l.clock, "clk", "clock")
	l.reset, err2 = resolve(l.reset, "rst", "reset")
	if l.periodNS == 0 {
		l.periodNS = defaultPeriodNS
	}
	return errors.Join(err1, err2)
}

// Ports lists the model's ports in the order of the top module's header.
func (l *Lib) Ports() []PortSpec {
	specs := make([]PortSpec, len(l.lib.ports))
	for i, p := range l.lib.ports {
		specs[i] = p.PortSpec
	}
	return specs
}

// Clock and Reset return the names of the clock and reset inputs; "" means none.
func (l *Lib) Clock() string { return l.clock }

// Reset returns the name of the reset input; "" means none.
func (l *Lib) Reset() string { return l.reset }

// Covered reports whether the model counts what it comes through.
func (l *Lib) Covered() bool { return l.lib.covered() }

// Traced reports whether the model can write waves.
func (l *Lib) Traced() bool { return l.lib.traced() }

func (l *Lib) index(name string) int {
	return slices.IndexFunc(l.lib.ports, func(p portInfo) bool { return p.Name == name })
}

// check compares one port with what somebody expects of it.
func (l *Lib) check(want PortSpec) error {
	i := l.index(want.Name)
	if i < 0 {
		return fmt.Errorf("model %s has no port %q; %s", l.top, want.Name, l.near(want.Name))
	}
	if got := l.lib.ports[i].PortSpec; got != want {
		return fmt.Errorf("model %s: port %q is %s of %d bits, want %s of %d", l.top, want.Name, got.Dir, got.Width, want.Dir, want.Width)
	}
	return nil
}

// near lists the ports whose names begin like name, or all of them.
func (l *Lib) near(name string) string {
	for n := min(len(name), 12); n >= 0; n-- {
		var found []string
		for _, p := range l.lib.ports {
			if strings.HasPrefix(p.Name, name[:n]) {
				found = append(found, p.Name)
			}
		}
		if len(found) > 0 {
			const most = 12
			if len(found) > most {
				return fmt.Sprintf("it has %s and %d more", strings.Join(found[:most], ", "), len(found)-most)
			}
			return "it has " + strings.Join(found, ", ")
		}
	}
	return "it has none"
}

func (l *Lib) checkPorts(want []PortSpec) error {
	var errs []error
	known := map[string]bool{}
	for _, w := range want {
		known[w.Name] = true
		if err := l.check(w); err != nil {
			errs = append(errs, err)
		}
	}
	for _, p := range l.lib.ports {
		if !known[p.Name] {
			errs = append(errs, fmt.Errorf("model %s has a port %s that is not expected", l.top, p.PortSpec))
		}
	}
	return errors.Join(errs...)
}

// Options say how an instance starts.
type Options struct {
	Random   bool      // registers without initial value start at random, else at zero
	Seed     uint64    // of the random start; the same seed gives the same start
	WavePath string    // FST file to write from the beginning; needs Build.Trace
	Output   io.Writer // receives what the model prints ($display and the like); nil drops it
	PlusArgs []string  // what $test$plusargs and $value$plusargs find, without the plus sign: "NAME=VALUE"; of this instance alone

	// SkipStill leaves out the evaluation of cycles that cannot change anything: a cycle has ended in the very state in which it began,
	// and no input has changed since. What a bench sees is the same, cycle by cycle; a still model costs next to nothing. Models whose
	// Verilog looks at the time, draws random numbers, uses files, or keeps state in queues or strings are evaluated always, and so is
	// one that writes waves. Leave it off where the speed of evaluation is what is measured.
	SkipStill bool
}

// New makes an instance. The clock is low, all inputs are zero (or random), initial
// blocks have run. Errors: waves asked of a model built without Trace, an unwritable
// WavePath, a model that stops in its initial blocks.
func (l *Lib) New(o Options) (*Model, error) {
	if o.WavePath != "" && !l.Traced() {
		return nil, fmt.Errorf("model %s: waves need a model built with Trace", l.top)
	}
	periodPS := uint64(math.Round(l.periodNS * 1000))
	inst, err := l.lib.create(mixSeed(o.Seed), o.Random, l.index(l.clock), periodPS, o.SkipStill, o.PlusArgs)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", l.top, err)
	}
	m := &Model{lib: l, inst: inst, periodPS: periodPS, out: o.Output}
	m.ports = make([]*Port, len(l.lib.ports))
	for i, p := range l.lib.ports {
		m.ports[i] = newPort(m, p, inst.port(i))
	}
	if o.Random { // inputs too are the bench's business: they start at zero
		for _, p := range m.ports {
			if p.spec.Dir == In {
				clear(p.memory())
			}
		}
	}
	if err := m.Cycles(0); err != nil {
		m.Close()
		return nil, err
	}
	if o.WavePath != "" {
		if err := m.OpenWaves(o.WavePath); err != nil {
			m.Close()
			return nil, err
		}
	}
	return m, nil
}

// mixSeed spreads a seed over the 31 bits that the run-time library takes, never 0,
// which it would replace by the time of day. (The finaliser of SplitMix64.)
func mixSeed(seed uint64) uint32 {
	z := seed + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	if s := uint32(z) & 0x7FFFFFFF; s != 0 {
		return s
	}
	return 1
}
