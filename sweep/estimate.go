// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"incforge/internal/clocked"
	"incforge/sweep/front"
	"incforge/sweep/scale"
	"incforge/synth"
)

// um2 are in a mm2.
const um2 = 1e6

// Keys of synth's and fpga's figures.
const (
	keyCells  = "synth__design__instance__area__stdcell"
	keyMacros = "synth__design__instance__area__macros"
	keyFound  = "synth__timing__fmax__mhz"
	keyLevels = "fpga__levels"
	keyCycles = "result_cycles"
)

// known is a point that the tools have run on.
type known struct {
	*Point
	*Record
}

// estimator predicts figures of points from those that were run.
type estimator struct {
	cells  map[string]*scale.Law // by block; in um2, without memory macros and lanes
	rest   *scale.Law            // what belongs to no block
	lane   *scale.Law            // one lane
	others map[string]*scale.Law // by key of front: figures of the whole design
	met    map[string]bool       // blocks of measured points
	nand2  float64
}

// least keeps quantities above 0, where laws with relative errors live.
const least = 1e-3

// areas splits a record's cells: by block, the lanes, and the rest.
func (k *known) areas() (blocks map[string]float64, lane float64, rest float64) {
	blocks = map[string]float64{}
	if l := k.Synth.Lanes; l != nil {
		lane = l.Area
	}
	rest = k.Synth.Metrics[keyCells]
	for _, b := range k.blocks {
		m := k.only(b.module)
		if m == nil {
			continue
		}
		a := m.Area - b.macros
		rest -= a
		if b.module == aggregator {
			a -= lane * float64(k.params.Lanes)
		}
		blocks[b.kind] = max(a, least)
	}
	return blocks, lane, max(rest, least)
}

// only finds a module of the core among the synthesised ones, if there is no doubt which it is.
func (k *known) only(module string) (found *synth.ModuleArea) {
	instances := 0
	for _, b := range k.blocks {
		if b.module == module {
			instances++
		}
	}
	for i := range k.Synth.Modules {
		m := &k.Synth.Modules[i]
		if m.Source != module {
			continue
		}
		if found != nil || m.Instances != instances {
			return nil
		}
		found = m
	}
	return found
}

// whole are the figures that are estimated for the design as a whole.
func (k *known) whole() map[string]float64 {
	all := map[string]float64{}
	if mhz := k.Synth.Metrics[keyFound]; mhz > 0 {
		all[front.Found] = mhz
	}
	if k.FPGA != nil {
		r := k.FPGA.Resources
		all[front.LUT], all[front.FF], all[front.BRAM36] = r.LUT, r.FF, r.BRAM36
		if levels, ok := k.FPGA.Metrics[keyLevels]; ok {
			all[front.Levels] = levels
		}
	}
	if k.Cycles != nil {
		all[front.Cycles] = k.Cycles[keyCycles]
	}
	return all
}

// learn finds the laws.
func learn(all []known, nand2 float64) (*estimator, error) {
	if len(all) == 0 {
		return nil, errors.New("sweep: no point was run in full, so there is nothing to estimate from")
	}
	e := &estimator{cells: map[string]*scale.Law{}, others: map[string]*scale.Law{}, met: map[string]bool{}, nand2: nand2}
	samples := map[string][]scale.Sample{}
	add := func(kind string, x scale.Features, y float64) {
		samples[kind] = append(samples[kind], scale.Sample{X: x, Y: max(y, least)})
	}
	for _, k := range all {
		blocks, lane, rest := k.areas()
		for _, b := range k.blocks {
			if e.met[b.kind] = true; blocks[b.kind] > 0 {
				add("block "+b.kind, b.x, blocks[b.kind])
			}
		}
		if add("rest", k.design, rest); lane > 0 {
			add("lane", k.Point.lane(), lane)
		}
		for key, v := range k.whole() {
			if key == front.Found {
				v = 1e3 / v // of the period: delays add up, and a wider design's is longer
			}
			add("whole "+key, k.design, v)
		}
	}
	for kind, s := range samples {
		law, err := scale.Find(s)
		if err != nil {
			return nil, fmt.Errorf("sweep: %s: %w", kind, err)
		}
		switch {
		case kind == "rest":
			e.rest = law
		case kind == "lane":
			e.lane = law
		default:
			if name, is := strings.CutPrefix(kind, "block "); is {
				e.cells[name] = law
			} else {
				e.others[strings.TrimPrefix(kind, "whole ")] = law
			}
		}
	}
	return e, nil
}

// cellArea predicts the cells of a point in um2; ok is false if it has a block that no measured point has.
func (e *estimator) cellArea(p *Point) (area float64, ok bool) {
	area = max(e.rest.At(p.design), 0)
	ok = true
	for _, b := range p.blocks {
		if law := e.cells[b.kind]; law != nil { // else it is in the rest
			area += max(law.At(b.x), 0)
		}
		ok = ok && e.met[b.kind]
	}
	if e.lane != nil {
		area += e.lane.At(p.lane()) * float64(p.params.Lanes)
	}
	return area, ok
}

// figures predicts all figures of a point.
func (e *estimator) figures(p *Point) (map[string]float64, bool) {
	cells, ok := e.cellArea(p)
	if !ok {
		return nil, false
	}
	all := map[string]float64{}
	for key, law := range e.others {
		all[key] = law.At(p.design)
	}
	if ns, has := all[front.Found]; has {
		all[front.Found] = bounded(1e3/ns, p.cycleNS)
	}
	return p.derive(cells, p.macros, e.nand2, all), true
}

// bounded is a clock that memories of that cycle time can keep.
func bounded(mhz, cycleNS float64) float64 {
	if cycleNS > 0 {
		return min(mhz, 1e3/cycleNS)
	}
	return mhz
}

// figures are those of a point that was run.
func (k *known) figures(nand2 float64) map[string]float64 {
	return k.derive(k.Synth.Metrics[keyCells], k.Synth.Metrics[keyMacros], nand2, k.whole())
}

// derive adds to figures of the whole those that follow from others.
func (p *Point) derive(cells, macros, nand2 float64, all map[string]float64) map[string]float64 {
	all[front.Cells], all[front.Macros] = cells/um2, macros/um2
	all[front.Raw], all[front.Placed] = (cells+macros)/um2, synth.Placed(cells, macros)/um2
	all[front.NAND2] = (cells + macros) / nand2
	clock := clocked.Clock{AskedMHz: float64(p.params.ClockMHz), FoundMHz: all[front.Found]}
	if v, ok := clocked.BitsPerCycle(8*float64(min(p.params.BusBytes, p.params.RowBytes())), clock).Real(); ok {
		all[front.Gbps] = v
	}
	if c, has := all[front.Cycles]; has {
		if v, ok := clocked.Cycles(c, clock).Real(); ok {
			all[front.NS] = v
		}
	}
	if p.params.BufferBytes > 0 {
		all[front.BitsPerBit] = float64(p.memoryBits) / float64(8*p.params.BufferBytes)
	}
	return all
}

// guesses estimates each point that was run from the others; by number, none for one with a block that no other has.
func guesses(ctx context.Context, all []known, nand2 float64) ([]map[string]float64, error) {
	guess := make([]map[string]float64, len(all))
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i := range all {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, err := learn(slices.Delete(slices.Clone(all), i, i+1), nand2)
			if err != nil {
				return err
			}
			guess[i], _ = e.figures(all[i].Point)
			return nil
		})
	}
	return guess, g.Wait()
}
