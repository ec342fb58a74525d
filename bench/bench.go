// SPDX-License-Identifier: Apache-2.0

// Package bench measures the figures of incforge bench: latency and throughput in cycles, the simulator's speed,
// isolation of groups, and the cost of loss and congestion.
package bench

import (
	"context"
	"maps"
	"math"
	"strconv"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/clocked"
	"incforge/report"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// Options say what a benchmark measures.
type Options struct {
	// ManifestDir is the generated folder.
	ManifestDir string
	// NoICRCDir is the same configuration with icrc_check false, for Latency's result_min_cycles; may be empty.
	NoICRCDir string
	// Seed determines the model's random initial state.
	Seed uint64
	// Members is how many members Latency measures with at most; 0 stands for eight, as the paper has.
	Members int
	// Messages are those that Throughput measures in Mode I, and nothing else then; the zero value stands for MessageLoads besides the rest.
	Messages MessageLoads
	// Found is the clock that a flow found for this design; the zero value gives figures in cycles alone.
	Found clocked.Clock
}

// record begins what is measured of a design. The clock asked for is the configuration's, whatever a flow was asked.
func (o Options) record(name string, m *contract.Manifest) report.Bench {
	clock := o.Found
	clock.AskedMHz = float64(m.Params.ClockMHz)
	return report.Bench{Bench: name, Config: m.Name, Digest: m.Digest, Clock: clock, Metrics: map[string]float64{}}
}

// What the paper prints for its FPGA engine (EPIC, SIGCOMM '26), in ns. Their basis is unstated.
const (
	paperResultNS  = 244 // last contribution in to result out, VU13P, FP32
	paperForwardNS = 96  // a packet that is only forwarded
	paperCoreNS    = 53  // the aggregation core alone, Agilex, 8 ranks
)

// benchPayload is the payload of latency figures in bytes.
const benchPayload = 1024

// design is a generated configuration and its engines.
type design struct {
	man  *contract.Manifest
	open dut.Maker
}

// load reads a generated folder and prepares its engines. They fail as soon as ctx ends, even in the middle of a long step.
func load(ctx context.Context, dir string, kind dut.Kind) (design, error) {
	man, engines, err := dut.Source{ManifestDir: dir, Kind: kind}.Open(ctx)
	if err != nil {
		return design{}, err
	}
	endless := dut.NewBudget(ctx, math.MaxUint64)
	return design{man, func(seed uint64) (dut.DUT, error) {
		d, err := engines.New(seed)
		if err != nil {
			return nil, err
		}
		return dut.Watch(d, endless), nil
	}}, nil
}

// until runs what cannot be stopped, and leaves it behind when ctx ends.
func until(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}

// metrics are figures by name.
type metrics map[string]float64

// worst is a time in cycles; of several the longest counts.
func (m metrics) worst(name string, cycles uint64) {
	m[name+"_cycles"] = max(float64(cycles), m[name+"_cycles"])
}

// lower keeps the lowest of several.
func (m metrics) lower(name string, v float64) {
	if old, ok := m[name]; !ok || v < old {
		m[name] = v
	}
}

// atClock adds times in ns to those in cycles, and rates in Gbit/s to those in bits a cycle, if a flow has found the clock.
func (m metrics) atClock(c clocked.Clock) {
	for key, value := range maps.Clone(m) {
		if name, ok := strings.CutSuffix(key, "_cycles"); ok {
			m.add(name+"_ns", clocked.Cycles(value, c))
		}
		if name, ok := strings.CutSuffix(key, "_bits_per_cycle"); ok {
			m.add(name+"_gbps", clocked.BitsPerCycle(value, c))
		}
	}
}

func (m metrics) add(name string, f clocked.Figure) {
	if value, ok := f.Real(); ok {
		m[name] = value
	}
}

// onCore runs a measurement on the cores of a generated folder. It fails as a scenario does, and its engines are checked as a scenario's.
func onCore(ctx context.Context, name, dir string, o Options, measure func(t *rig.T, m metrics)) (report.Bench, error) {
	d, err := load(ctx, dir, dut.KindCore)
	if err != nil {
		return report.Bench{}, err
	}
	t := rig.New(ctx, d.man, "bench", o.Seed, func(seed uint64, _ int) (dut.DUT, error) { return d.open(seed) })
	b := o.record(name, d.man)
	m := metrics(b.Metrics)
	return b, t.Run(func(t *rig.T) {
		measure(t, m)
		m.atClock(b.Clock)
	})
}

// members are those of Latency's group in an engine that has so many.
func (o Options) members(most int) int {
	if o.Members == 0 {
		return min(most, 8)
	}
	return min(most, o.Members)
}

// Latency measures the core with its single stream, an idle output, payloads of 1,024 bytes and up to eight members, or as many as Options say.
// Of several copies the first counts:
//
//	result_cycles             last contribution's first beat in to result's first beat out
//	result_after_last_cycles  last contribution's last beat in to result's first beat out
//	result_total_cycles       last contribution's first beat in to result's last beat out
//	ack_cycles                Mode III: last contribution's first beat in to the first beat out of its ACK, which leaves before the result
//	forward_cycles            bypassed frame's first beat in to first beat out
//	result_64_cycles          result_cycles with 64 bytes of payload
//	result_min_cycles         result_cycles of the configuration without ICRC check
//	core_cycles               the aggregator alone: last contribution's payload word in to sum out; core_CLASS_cycles by element type
//
// each also in ns if Options.Found has a clock, and the paper's figures. Several runs must agree to the cycle; the worst counts.
func Latency(ctx context.Context, o Options) (report.Bench, error) {
	b, err := onCore(ctx, "latency", o.ManifestDir, o, func(t *rig.T, m metrics) {
		m["paper_result_ns"], m["paper_forward_ns"] = paperResultNS, paperForwardNS
		latency(t, m, o)
		core(t, m, o)
	})
	if err != nil || o.NoICRCDir == "" {
		return b, err
	}
	unchecked, err := onCore(ctx, "latency", o.NoICRCDir, o, func(t *rig.T, m metrics) { latency(t, m, o) })
	for _, unit := range []string{"_cycles", "_ns"} {
		if value, ok := unchecked.Metrics["result"+unit]; ok {
			b.Metrics["result_min"+unit] = value
		}
	}
	return b, err
}

// latency has a group complete one PSN after the other, and then lets other frames pass.
func latency(t *rig.T, m metrics, o Options) {
	e := t.Engine()
	e.Mute = true // the benchmark itself sends all acknowledgements
	members, payload := o.members(t.Params.Members), min(benchPayload, t.Params.MTUBytes)
	m["members"], m["payload_bytes"] = float64(members), float64(payload)
	g := e.Group(0, 1, members, false)
	var in dut.Frame
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) { in = a }
	// complete has all members send PSN k with so many bytes, and acknowledge it.
	complete := func(k, bytes int) (last, ack, result dut.Frame) {
		var outs []dut.Frame
		for _, c := range g.Members() {
			outs = e.Exchange(g.Data(c, g.Start().Add(k), g.Noise(bytes)))
		}
		last = in
		if t.Pipes() {
			if len(outs) == 0 {
				t.Fatalf("no ACK")
			}
			ack, outs = outs[0], outs[1:]
			for _, c := range g.Members() {
				e.Exchange(g.Ack(c, g.Start().Add(k)))
			}
		}
		if len(outs) != members {
			t.Fatalf("%d results instead of %d", len(outs), members)
		}
		return last, ack, outs[0]
	}
	for k := range 3 * g.MW() {
		last, ack, result := complete(k, payload)
		if t.Pipes() {
			m.worst("ack", ack.First-last.First)
		}
		m.worst("result", result.First-last.First)
		m.worst("result_after_last", result.First-min(last.Last, result.First))
		m.worst("result_total", result.Last-last.First)
	}
	for k := range 8 {
		last, _, result := complete(3*g.MW()+k, 64)
		m.worst("result_64", result.First-last.First)
	}
	for range 8 {
		outs := e.Exchange(g.Data(0, 0, g.Noise(payload), func(p *roce.Packet) { p.DestQP ^= 0x800000 }))
		if len(outs) != 1 {
			t.Fatalf("a stranger left %d times", len(outs))
		}
		m.worst("forward", outs[0].First-in.First)
	}
}

// Throughput measures how many input beats per cycle the core accepts while its input never pauses and its output is
// never stalled, for an AllReduce over up to eight members with payloads from 64 bytes to the MTU. The keys are
// beats_per_cycle_SIZE_ORDER[_acks]: ORDER is worst (all members' packets of one slot back to back) or best (members
// in turn, each at its own slot). With acks, every member also acknowledges every result, a window later, between the
// data. raw_bits_per_cycle is the bus; ingress_bits_per_cycle and egress_bits_per_cycle are what frames take of it at the largest
// payload up to 1,024 bytes in the worst order, each also in Gbit/s if Options.Found has a clock. In Mode III results must be acknowledged, so all measurements are with acks, three quarters of a window after the data, and
// members are at most half a window apart. Then no packet finds its pipe full and no result waits for an ACK.
// In Mode I such a packet is a message, and messages of several packets are measured too: throughMessages.
// Where ports have queues or there are several engines, the switch top is measured too: throughPorts, throughEngines.
func Throughput(ctx context.Context, o Options) (report.Bench, error) {
	b, err := onCore(ctx, "throughput", o.ManifestDir, o, func(t *rig.T, m metrics) {
		for size := 64; size <= t.Params.MTUBytes && !o.Messages.given(); size *= 2 {
			for _, order := range []string{"best", "worst"} {
				if !t.Pipes() {
					throughput(t, m, size, order, false)
				}
				throughput(t, m, size, order, true)
			}
		}
		if t.Messages() {
			throughMessages(t, m, o.Messages)
		}
	})
	if err != nil || o.Messages.given() {
		return b, err
	}
	if err := throughPorts(ctx, o, metrics(b.Metrics)); err != nil {
		return b, err
	}
	return b, throughEngines(ctx, o, metrics(b.Metrics))
}

// one is an ACK for each result, or none.
func one(acks bool) int {
	if acks {
		return 1
	}
	return 0
}

// throughput is one measurement.
func throughput(t *rig.T, m metrics, size int, order string, acks bool) {
	name := strconv.Itoa(size) + "_" + order
	if acks {
		name += "_acks"
	}
	t.In("throughput "+name, func() {
		s := stream(t.Engine().Group(0, 1, min(t.Params.Members, 8), false), traffic{bytes: size, worst: order == "worst", every: one(acks)})
		in, out := float64(s.beats)/s.cycles, float64(s.outBeats)/s.cycles
		m["beats_per_cycle_"+name] = in
		if order == "worst" && acks == t.Pipes() && size <= 1024 {
			bus := float64(8 * t.Params.BusBytes)
			m["raw_bits_per_cycle"], m["ingress_bits_per_cycle"], m["egress_bits_per_cycle"] = bus, in*bus, out*bus
		}
	})
}
