// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/internal/progress"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/sweep/scale"
	"incforge/synth"
)

// Point is a configuration, and what is known of it without a tool.
type Point struct {
	At  []int // the value on each axis, by number
	Set []string
	// Why says why there is no such design.
	Why string

	digest string
	params contract.Params
	blocks []block
	// design are features of the whole.
	design scale.Features
	// macros is the area of all memory macros in um2, memoryBits those of all memories.
	macros     float64
	memoryBits int
	cycleNS    float64 // the slowest macro's
}

// block is an instance in the core.
type block struct {
	module string
	// kind is the module's name without the number that some end in, which is a feature then.
	kind   string
	x      scale.Features
	macros float64 // um2 of the memory macros in it
}

// aggregator is the block with the lanes, whose area is looked at apart from its own.
const aggregator = "inc_aggregate_data"

// Understand generates the design of every point, to see what it is made of. nand2 is the area of the smallest NAND in um2.
func (s *Spec) Understand(ctx context.Context, points []Point, task *progress.Task) (nand2 float64, err error) {
	dir, err := os.MkdirTemp("", "incforge-sweep-")
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	defer os.RemoveAll(dir)
	model, err := synth.NewMemoryModel(ctx, dir, synth.Options{Tech: s.Tech, Corner: s.Corner})
	if err != nil {
		return 0, err
	}
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	done := make(chan struct{}, len(points))
	for i := range points {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := points[i].understand(s.Base, model)
			done <- struct{}{}
			task.Set(uint64(len(done)), uint64(len(points)), "designs", "")
			return err
		})
	}
	return model.NAND2(), g.Wait()
}

// load reads the point's parameters; a combination that is not allowed sets Why.
func (p *Point) load(base string) (params.Params, bool) {
	all, err := params.Load(base, p.Set...)
	if err != nil {
		p.Why = reason(err)
		return all, false
	}
	return all, true
}

// reason is why parameters do not go together, in a line.
func reason(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func (p *Point) understand(base string, model *synth.MemoryModel) error {
	all, ok := p.load(base)
	if !ok {
		return nil
	}
	d, err := rtlgen.Generate(all)
	if err != nil {
		return fmt.Errorf("sweep: %s: %w", strings.Join(p.Set, " "), err)
	}
	p.params, p.digest = d.Manifest.Params, d.Manifest.Digest
	memories, err := model.Memories(&d.Manifest, float64(p.params.ClockMHz))
	if err != nil {
		return fmt.Errorf("sweep: %s: %w", strings.Join(p.Set, " "), err)
	}
	areas := map[[3]int]float64{}
	for _, m := range memories {
		ports := 2
		if m.Ports == "1rw" {
			ports = 1
		}
		areas[[3]int{m.Words, m.Bits, ports}] = m.Area
		p.cycleNS = max(p.cycleNS, m.CycleNS)
	}
	p.features(d.Core, areas)
	return nil
}

// features takes the core apart.
func (p *Point) features(core *graph.Module, areas map[[3]int]float64) {
	q := p.params
	arithmetic := scale.Features{}
	for _, t := range []string{"FP32", "FP16", "BF16", "INT32"} {
		arithmetic[t] = 0
	}
	for _, t := range q.DTypes {
		arithmetic[t] = 1
	}
	p.design = scale.Features{"mode": float64(q.Mode), "bus_bytes": float64(q.BusBytes), "lanes": float64(q.Lanes), "buffer_bytes": float64(q.BufferBytes),
		"slots": float64(q.Slots()), "members": float64(q.Members), "groups": float64(q.Groups), "ports": float64(q.Ports), "mtu_bytes": float64(q.MTUBytes),
		"reproducible": truth(q.Reproducible()), "ecc": truth(q.ECC), "clock_mhz": float64(q.ClockMHz), "window_packets": float64(q.WindowPackets),
		"ops": float64(len(q.Ops)), "icrc": truth(q.ICRCCheck), "row_bytes": float64(q.RowBytes()),
		"beats a packet": float64(q.MTUBytes) / float64(q.BusBytes)} // no sum of positive terms in the bus falls with it, as time does
	for t, is := range arithmetic {
		p.design[t] = is
	}
	kbits := 0.0
	memories := core.AllMemories()
	for _, i := range core.Composed().Instances {
		b := block{module: i.Module.Name, x: scale.Features{"clock_mhz": float64(q.ClockMHz)}}
		if b.kind = strings.TrimRight(b.module, "0123456789"); b.kind != b.module {
			n, err := strconv.Atoi(b.module[len(b.kind):])
			if err != nil {
				n = 0
			}
			b.x["number in the name"] = float64(n)
		}
		for _, v := range i.Module.Params {
			b.x[v.Name] = float64(v.Value)
		}
		if b.module == aggregator { // these are no parameters of it, or sums of several
			b.x["LANES"], b.x["TYPES"] = float64(q.Lanes), float64(len(q.DTypes))
		}
		flops := 0
		for _, m := range memories {
			if !strings.HasPrefix(m.Path, i.Name+".") {
				continue
			}
			ports := 2
			if m.OnePort {
				ports = 1
			}
			a := areas[[3]int{m.Words, m.Bits, ports}]
			if b.macros += a; a == 0 {
				flops += m.Words * m.Bits
			}
		}
		b.x["memory bits in flops"] = float64(flops)
		p.macros += b.macros
		p.blocks = append(p.blocks, b)
	}
	for _, m := range memories {
		p.memoryBits += m.Words * m.Bits
		kbits += float64(m.Words*m.Bits) / 1024
	}
	p.design["memory kbit"] = kbits
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// lane are the features of a lane, and nothing else's.
func (p *Point) lane() scale.Features {
	x := scale.Features{}
	for _, name := range []string{"FP32", "FP16", "BF16", "INT32", "ops", "reproducible", "clock_mhz", "ecc"} {
		x[name] = p.design[name]
	}
	for _, b := range p.blocks {
		if s, ok := b.x["STAGES"]; ok && b.module == aggregator {
			x["STAGES"] = s
		}
	}
	return x
}
