// SPDX-License-Identifier: Apache-2.0

// Package rig puts a leaf module on the bench: it builds a model from a leaf's Go
// description and drives it port by port, one clock at a time. It is for the
// behavioural tests of hdl/*; those of streams use sim/axis besides.
package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/sim"
)

// Lib compiles the module that d describes, from its own sources and parameters.
func Lib(t testing.TB, d graph.Describer) *sim.Lib {
	t.Helper()
	m, err := d.Module()
	if err != nil {
		t.Fatal(err)
	}
	files, err := verilog.Collect(m)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(t.TempDir(), "rtl")
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	b := sim.Build{Top: m.Name, Brief: true, Params: map[string]string{}}
	for _, p := range files.Paths() {
		b.Files = append(b.Files, filepath.Join(dir, filepath.FromSlash(p)))
	}
	for _, p := range m.Params {
		b.Params[p.Name] = fmt.Sprint(p.Value)
	}
	for _, p := range verilog.Ports(m) {
		spec := sim.PortSpec{Name: p.Name, Width: p.Width}
		if p.Dir == "out" {
			spec.Dir = sim.Out
		}
		b.Ports = append(b.Ports, spec)
	}
	lib, err := b.Compile(testcost.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// Rig is a model with its ports by name. Inputs are driven with Set, Clock passes a
// cycle, and Get then shows the outputs as they were at its end with those inputs:
// what registers clocked by that edge have seen.
type Rig struct {
	*sim.Model
	t     testing.TB
	ports map[string]*sim.Port
}

// New makes an instance whose registers hold random values by seed, and, if it has a
// reset, resets it for two cycles with all other inputs low. It is closed with the test.
func New(t testing.TB, lib *sim.Lib, seed uint64) *Rig {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	r := &Rig{Model: m, t: t, ports: map[string]*sim.Port{}}
	for _, p := range lib.Ports() {
		if r.ports[p.Name], err = m.Port(p.Name); err != nil {
			t.Fatal(err)
		}
	}
	if lib.Reset() != "" {
		r.Set(lib.Reset(), 1)
		r.Clock()
		r.Clock()
		r.Set(lib.Reset(), 0)
	}
	return r
}

// Pin is the port of that name.
func (r *Rig) Pin(name string) *sim.Port {
	p, ok := r.ports[name]
	if !ok {
		r.t.Helper()
		r.t.Fatalf("there is no port %s", name)
	}
	return p
}

// Set drives an input of at most 64 bits.
func (r *Rig) Set(name string, v uint64) { r.Pin(name).SetUint64(v) }

// SetBool drives an input of one bit.
func (r *Rig) SetBool(name string, v bool) { r.Pin(name).SetBool(v) }

// Get is a port's value, its low 64 bits.
func (r *Rig) Get(name string) uint64 { return r.Pin(name).Uint64() }

// Is reports whether bit 0 of a port is set.
func (r *Rig) Is(name string) bool { return r.Pin(name).Bool() }

// Bytes is a copy of a wide port, byte i holding bits 8i+7 to 8i.
func (r *Rig) Bytes(name string) []byte { return append([]byte(nil), r.Pin(name).Bytes()...) }

// SetBytes drives a wide input, byte i being bits 8i+7 to 8i.
func (r *Rig) SetBytes(name string, v []byte) { r.Pin(name).Set(v) }

// Clock passes one cycle; a failure of the model or of a bus model ends the test.
func (r *Rig) Clock() {
	if err := r.Tick(); err != nil {
		r.t.Helper()
		r.t.Fatal(err)
	}
}

// Settle lets outputs that follow from inputs at once do so within the cycle, for a
// bench that drives one input by what an output says.
func (r *Rig) Settle() {
	if err := r.Eval(); err != nil {
		r.t.Helper()
		r.t.Fatal(err)
	}
}

// Expose makes ports of a composite of its instances' pins, of the same names and one a name, so that a bench can drive several modules
// that are connected with each other. Left out are clock and reset, pins whose names begin with one of the inner prefixes, and inputs
// that another of the instances drives.
func Expose(c *graph.Composite, inner []string, instances ...*graph.Instance) {
	driven, made := map[string]bool{}, map[string]bool{}
	isInner := func(name string) bool {
		return name == "clk" || name == "rst" || slices.ContainsFunc(inner, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	for _, inst := range instances {
		for _, p := range inst.Module.Ports {
			driven[p.Name] = driven[p.Name] || p.Dir == graph.Out
		}
	}
	for _, inst := range instances {
		for _, p := range inst.Module.Ports {
			switch {
			case isInner(p.Name) || p.Dir == graph.In && driven[p.Name]:
			case p.Dir == graph.Out:
				c.Output(p.Name, p.Width)
				c.Connect(inst.Pin(p.Name), c.Pin(p.Name))
			default:
				if !made[p.Name] {
					c.Input(p.Name, p.Width)
					made[p.Name] = true
				}
				c.Connect(c.Pin(p.Name), inst.Pin(p.Name))
			}
		}
	}
}
