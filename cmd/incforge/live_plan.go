// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/live"
	"incforge/live/groups"
)

// livePlan is a switch of incforge live, of the command line or of a topology file.
type livePlan struct {
	live.Wanted
	top   *live.Topology // nil: of the command line
	index int            // in it
	links []live.Link
	which dutFlags
	dir   string
	sw    live.Switch
}

// plans are the switches that the command line asks for.
func (l *liveFlags) plans(args []string) ([]livePlan, error) {
	if !(l.scale >= 0 && l.scale <= live.MaxTimeScale) || l.scale > 0 && l.scale < 1/live.MaxTimeScale {
		return nil, usagef("--time-scale %g: must be %g to %g, or 0", l.scale, 1/live.MaxTimeScale, live.MaxTimeScale)
	}
	if l.topology == "" {
		if len(args) == 0 {
			return nil, usagef("it takes a CONFIG, or a --topology")
		}
		ports, err := l.parsed()
		w := live.Wanted{Config: args[0], Groups: l.groups, Ports: ports, Bridge: l.bridge}
		return []livePlan{{Wanted: w, which: l.dut}}, err
	}
	if len(args) > 0 || l.groups != "" || len(l.ports)+len(l.loss)+len(l.dup)+len(l.reorder) > 0 || l.bridge {
		return nil, usagef("--topology takes the place of CONFIG, --groups, --port, --bridge, --loss, --dup and --reorder: the file has them")
	}
	top, err := live.ReadTopology(l.topology)
	if err != nil {
		return nil, usageError{err}
	}
	var all []livePlan
	for i, w := range top.Switches {
		p := livePlan{Wanted: w, top: top, index: i, links: top.Links, which: l.dut}
		if w.DUT != "" {
			p.which.kind = w.DUT
		}
		all = append(all, p)
	}
	return all, nil
}

// read reads the design and the groups file.
func (p *livePlan) read(cmd *cobra.Command, a *app, l *liveFlags) (done func(), err error) {
	if p.dir, done, err = p.which.open(cmd, a, p.Config, &l.config); err != nil {
		return nil, err
	}
	p.sw = live.Switch{Name: p.Name, Ports: p.Ports, Unchecked: !l.check, Bridge: p.Bridge}
	if p.Check != nil {
		p.sw.Unchecked = !*p.Check
	}
	if p.sw.Manifest, err = contract.Load(p.dir); err != nil || l.prepare {
		return done, err
	}
	m, attached := p.sw.Manifest, numbers(p.Ports)
	if p.top == nil {
		p.sw.Name = m.Name
		for _, n := range attached {
			if n >= m.Params.Ports {
				return done, usagef("--port %d: %s has ports 0 to %d", n, m.Name, m.Params.Ports-1)
			}
		}
	} else if attached, err = p.top.Attached(p.index, m); err != nil {
		return done, usageError{err}
	}
	if p.Agent != nil {
		p.sw.Setup, p.sw.Agent = groups.Managed(m, p.Agent.Own), a.agentBeside(p.Name, m, p.Agent, l.files)
	} else if p.sw.Setup, err = groups.Read(p.Groups, m, attached); err != nil {
		return done, usageError{err}
	}
	switch p.sw.TimeScale = l.scale; {
	case p.TimeScale != nil:
		p.sw.TimeScale = *p.TimeScale
	case l.scale == 0:
		p.sw.TimeScale = timeScale(m.Params.Mode, p.which.kind)
	}
	return done, nil
}

// build makes the engine; nil if it was only to be compiled.
func (p *livePlan) build(cmd *cobra.Command, a *app, l *liveFlags) (*live.Switch, error) {
	start := time.Now()
	stop := a.working("build %s", p.Config)
	_, engines, err := p.which.source(p.dir, a).Open(cmd.Context())
	stop()
	if err != nil {
		return nil, err
	}
	if l.prepare {
		a.log.Infof("live: the %s engine of %s is ready to run, %.1f s", p.which.kind, p.sw.Manifest.Name, time.Since(start).Seconds())
		return nil, nil
	}
	if p.sw.Engine, err = engines.New(l.seed); err != nil {
		return nil, fmt.Errorf("%s: %w", p.sw.Name, err)
	}
	return &p.sw, nil
}

// parsed checks the flags of a single switch and returns the ports with their faults.
func (l *liveFlags) parsed() ([]live.Port, error) {
	ports, err := parsePorts(l.ports)
	if err != nil || l.prepare {
		return nil, err
	}
	var missing []string
	for _, f := range []struct {
		name string
		has  bool
	}{{"groups", l.groups != ""}, {"port", len(ports) > 0}} {
		if !f.has {
			missing = append(missing, strconv.Quote(f.name))
		}
	}
	if missing != nil {
		return nil, usagef("required flag(s) %s not set", strings.Join(missing, ", "))
	}
	for _, f := range []struct {
		name string
		args []string
		at   func(f *live.Faults) *float64
	}{
		{"loss", l.loss, func(f *live.Faults) *float64 { return &f.Loss }},
		{"dup", l.dup, func(f *live.Faults) *float64 { return &f.Duplicate }},
		{"reorder", l.reorder, func(f *live.Faults) *float64 { return &f.Reorder }},
	} {
		for _, arg := range f.args {
			if err := setFault(ports, f.name, arg, f.at); err != nil {
				return nil, err
			}
		}
	}
	return ports, nil
}
