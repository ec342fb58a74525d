// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// Engine is a configuration to draw cases for, and how to get instances of it.
type Engine struct {
	// Config and Set are as a Case names them.
	Config   string
	Set      []string
	Manifest *contract.Manifest
	Open     dut.Maker
}

// Standard are configurations for campaigns in a mode, as preset and overrides. Those of Mode I with Verilog have fixed groups and no releases. On the reference: every type and operation, both ways of
// adding, narrow and wide buses, room for windows or pipes of 64 packets and for 16 children. On RTL: what a simulator compiles in seconds, one engine
// with every type and operation, such windows and 16 children among it; its packets are short, so that its buffer is small.
func Standard(kind string, mode int) [][]string {
	if mode == 1 {
		return standardMessages(kind)
	}
	mini, trio, named := "mini", "trio", "name=chaos_"
	if mode == 3 {
		mini, trio, named = "mini3", "trio3", "name=chaos3_"
	}
	small := [][]string{{mini}, {trio}}
	if kind != Reference {
		return append(small, []string{mini, named + "narrow", "bus_bytes=16", "lanes=4", "dtypes=[FP32, INT32]", "accumulate=reproducible",
			"members=5", "ports=3", "groups=2", "mtu_bytes=256", "buffer_bytes=49152", "window_packets=16"},
			[]string{mini, named + "wide", "bus_bytes=32", "lanes=8", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "members=16",
				"ports=16", "groups=2", "mtu_bytes=256", "buffer_bytes=131072", "window_packets=64"})
	}
	return append(small,
		[]string{mini, named + "types", "bus_bytes=32", "lanes=8", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "members=16", "ports=5",
			"groups=4", "mtu_bytes=256", "buffer_bytes=262144", "window_packets=64"},
		[]string{mini, named + "tree", "bus_bytes=64", "lanes=16", "dtypes=[FP32, INT32]", "ops=[SUM, MIN]", "accumulate=reproducible",
			"members=5", "ports=6", "groups=3", "mtu_bytes=512", "buffer_bytes=786432", "window_packets=64"},
		[]string{mini, named + "half", "bus_bytes=16", "lanes=4", "dtypes=[FP16, BF16]", "accumulate=reproducible", "members=16", "ports=3",
			"groups=2", "mtu_bytes=256", "buffer_bytes=1048576", "window_packets=64"},
		[]string{mini, named + "fcs", "bus_bytes=128", "lanes=8", "dtypes=[BF16, INT32]", "members=8", "ports=9", "groups=8", "mtu_bytes=1024",
			"buffer_bytes=524288", "window_packets=32", "icrc_check=false"})
}

// Parking is Standard with groups that can be parked.
func Parking(kind string, mode int) [][]string {
	all := Standard(kind, mode)
	for i := range all {
		all[i] = append(all[i], "park=true")
	}
	return all
}

// standardMessages is Standard for Mode I: narrow and wide buses, path MTUs from 256 to 4,096, messages of 2 to 16 KiB, pools of up to 64 messages.
// What needs Verilog has fixed groups without releases, and packets short enough for small buffers.
func standardMessages(kind string) [][]string {
	set := func(name string, more ...string) []string {
		return append([]string{"mini", "mode=1", "name=chaos1_" + name}, more...)
	}
	if kind != Reference {
		fixed := func(name string, more ...string) []string {
			return append(set(name, "in_band=false", "no_releases=true"), more...)
		}
		return [][]string{
			fixed("fixed", "message_bytes=2048", "window_messages=2"),
			fixed("narrow", "bus_bytes=16", "lanes=4", "dtypes=[FP32, INT32]", "accumulate=reproducible", "members=5", "ports=3", "groups=2",
				"mtu_bytes=512", "message_bytes=2048", "window_messages=8", "buffer_bytes=393216"),
			fixed("wide", "bus_bytes=32", "lanes=8", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "members=16", "ports=16", "groups=2",
				"mtu_bytes=512", "message_bytes=2048", "window_messages=8", "buffer_bytes=262144"),
		}
	}
	return [][]string{
		set("mini", "message_bytes=2048", "window_messages=2"),
		set("types", "bus_bytes=32", "lanes=8", "dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "members=16", "ports=5", "groups=4",
			"mtu_bytes=1024", "message_bytes=4096", "window_messages=8", "buffer_bytes=1048576"),
		set("tree", "bus_bytes=64", "lanes=16", "dtypes=[FP32, INT32]", "ops=[SUM, MIN]", "accumulate=reproducible", "members=5", "ports=6", "groups=3",
			"mtu_bytes=512", "message_bytes=2048", "window_messages=8", "buffer_bytes=786432"),
		set("half", "bus_bytes=16", "lanes=4", "dtypes=[FP16, BF16]", "accumulate=reproducible", "members=16", "ports=3", "groups=2", "mtu_bytes=256",
			"message_bytes=2048", "window_messages=8", "buffer_bytes=1048576"),
		set("fcs", "bus_bytes=128", "lanes=8", "dtypes=[BF16, INT32]", "members=8", "ports=9", "groups=8", "mtu_bytes=4096", "message_bytes=16384",
			"window_messages=4", "buffer_bytes=2097152", "icrc_check=false"),
	}
}

// drawer makes one case.
type drawer struct {
	*rand.Rand
	c Case
	p contract.Params
}

// Check returns an error if no case can be drawn for one of the engines.
func (r *Runner) Check() (err error) {
	defer fail.Catch(&err, "")
	for i := range r.Engines {
		e := &r.Engines[i]
		p, name := e.Manifest.Params, strings.Join(append([]string{e.Config}, e.Set...), " ")
		some := slices.ContainsFunc(trees(), func(t topology.Tree) bool { return fits(p, t) })
		fail.If(!some, "%s: no tree can be made of switches with %d members and %d ports", name, p.Members, p.Ports)
		fail.If(mostGroups(p) == 0, "%s: a buffer of %d slots is too small for any group: a window of one packet takes %d", name, p.Slots(),
			2*p.MostUnits())
	}
	return nil
}

// mostGroups is the number of groups that the engine's buffer has room for.
func mostGroups(p contract.Params) int { return min(p.AllGroups(), 4, p.Slots()/2/p.MostUnits()) }

// Draw makes the case of a seed for one of the engines, all of which must pass Check; the same seed and engines make the same case.
func Draw(seed uint64, engines []Engine, kind string) Case {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 0x6368616f73))}
	e := engines[d.IntN(len(engines))]
	d.p = e.Manifest.Params
	d.c = Case{Seed: seed, Config: e.Config, Set: e.Set, DUT: kind, NoGapNAK: d.chance(4)}
	d.c.Latency = []int{1, 10, 40, 200}[d.IntN(4)]
	d.c.BytesPerCycle = float64(d.p.BusBytes) * []float64{0.5, 1, 1, 2}[d.IntN(4)]
	fit := slices.DeleteFunc(trees(), func(t topology.Tree) bool { return !fits(d.p, t) })
	d.c.Tree = fit[d.IntN(len(fit))]
	d.c.Up = d.direction()
	if d.c.Down = d.c.Up; d.chance(2) {
		d.c.Down = d.direction()
	}
	if d.pipes() {
		d.c.NoGapNAK = false // it is nothing to them
		// When a pipe is full engines answer with RNR NAKs, whose waits are 10 to 60 µs, with CNPs, or with silence.
		d.c.Pipes = comm.Pipes{NoRNR: d.chance(4), RNRTimer: uint8(1 + d.IntN(5)), CNP: d.chance(2)}
		if d.messages() {
			d.c.Pipes.AckEvery = uint8(1 + d.IntN(40))
		}
	}
	d.groups()
	if d.p.Park {
		d.parks()
	}
	if d.pipes() && d.chance(3) { // as with hosts': now and then nothing was lost
		least := uint64(0)
		for i := range d.c.Groups {
			least = max(least, d.windowTime(&d.c.Groups[i], len(d.c.Groups)))
		}
		d.c.Pipes.TimeoutUS = int((least+d.Uint64N(least))/d.p.CyclesPerMicrosecond()) + 1
	}
	if d.chance(3) {
		d.c.Pauses = dut.Pauses{Seed: d.Uint64(), In: 0.2 * d.Float64(), Ready: 0.3 * d.Float64(), Registers: 0.3, Burst: 1 + d.IntN(12)}
	}
	return d.c
}

// pipes tells that the engine works in Mode III or I, messages that it is Mode I.
func (d *drawer) pipes() bool    { return d.p.Pipes() }
func (d *drawer) messages() bool { return d.p.Mode == 1 }

// pipe draws the slots of a pipe, 1 to 64 of the most that there is room for, often few or no power of two, and the window of hosts, which has no room to
// keep to. Where nobody says that a pipe is full each packet too many costs a time-out, and a full window to be sent again.
func (d *drawer) pipe(most int) (pipe, window int) {
	limit := floorPow2(min(most, 64))
	pipe = 1 + d.IntN(limit)
	if d.chance(3) {
		pipe = min(1+d.IntN(3), limit)
	}
	if window = 1 << d.IntN(7); d.c.Pipes.NoRNR {
		window = min(window, 4*pipe)
	}
	return pipe, window
}

// message draws what Mode I has: messages of some packets, path MTUs and habits that differ from rank to rank.
func (d *drawer) message(g *Group, mw int) {
	for g.PathMTU = d.p.LeastPathMTU(); g.PathMTU < d.p.MTUBytes && d.chance(2); {
		g.PathMTU *= 2
	}
	g.Message = 1 + d.IntN(d.p.MessageBytes/g.PathMTU)
	g.Window = min(mw, 4*g.Pipe)
	// An engine sends all of a pool before it waits for an acknowledgement, so its time-out grows with the packets of a pool, and with it what a lost ACK costs.
	for poolPackets < g.Message*g.PathMTU/d.p.LeastPathMTU()*max(g.Window, g.Pipe) {
		if g.Message > 1 {
			g.Message /= 2
		} else {
			g.Pipe, g.Window = max(g.Pipe/2, 1), max(g.Window/2, 1)
		}
	}
	g.Mixed, g.Whole = !d.chance(4), d.chance(3)
	g.Release = !g.Fixed && d.chance(3)
}

// poolPackets is the most packets of the least path MTU that a pool has.
const poolPackets = 192

// floorPow2 is the largest power of two up to n, which is at least 1.
func floorPow2(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// chance is true in one of n cases.
func (d *drawer) chance(n int) bool { return d.IntN(n) == 0 }

// fits reports that the engine has endpoints for the tree, and a port for the parent that is not child 0's too: frames that are nobody's
// are sent there, and would run in circles. A reproducible engine has no pair for endpoint MEMBERS if MEMBERS is even.
func fits(p contract.Params, t topology.Tree) bool {
	last, most := t.Degree-1, p.Members
	if t.Levels > 2 {
		last = t.Degree
	}
	if p.Reproducible() && p.Members%2 == 0 {
		most--
	}
	return t.Degree <= p.Members && last <= most && (t.Levels == 2 || t.Degree%p.Ports != 0)
}

// direction draws what links do in one direction: each kind with one chance in three, on all frames or on some class.
func (d *drawer) direction() fabric.Faults {
	var f fabric.Faults
	class := func() fabric.Class {
		if d.chance(3) {
			return 1 << d.IntN(6)
		}
		return 0
	}
	switch d.IntN(4) {
	case 0:
		f.Loss = 0.05
	case 1:
		f.Loss = 0.05 * d.Float64()
	case 2:
		f.Loss = 0.01
	}
	f.Only.Loss = class()
	some := func(p *float64, only *fabric.Class, most float64) {
		if d.chance(3) {
			*p, *only = most*d.Float64(), class()
		}
	}
	some(&f.Duplicate, &f.Only.Duplicate, 0.05)
	some(&f.Reorder, &f.Only.Reorder, 0.05)
	some(&f.Corrupt, &f.Only.Corrupt, 0.03)
	if some(&f.Burst.Enter, &f.Only.Burst, 0.01); f.Burst.Enter > 0 {
		f.Burst.Leave = 0.15 + 0.5*d.Float64()
	}
	if d.chance(3) {
		f.Jitter, f.Only.Jitter = 1+d.IntN(400), class()
	}
	f.ReorderDelay = []int{100, 1500, 20000}[d.IntN(3)]
	if f.FlagErrors = 0.3; !d.p.ICRCCheck { // then the Ethernet FCS must find all of it
		f.FlagErrors = 1
	}
	return f
}

// groups draws the communicators, as many as the buffer has room for, and their calls.
func (d *drawer) groups() {
	count := 1
	if d.chance(3) {
		count = min(1+d.IntN(min(d.p.AllGroups(), 4)), mostGroups(d.p))
	}
	budget := packetBudget / (count * d.c.Tree.Ranks() * d.c.Levels)
	for range count {
		most := d.p.Slots() / count / 2 / d.p.MostUnits()
		mw, pipe := min(1<<d.IntN(7), floorPow2(most)), 0
		if d.pipes() {
			pipe, mw = d.pipe(most)
		}
		g := Group{Paced: d.c.Pipes.CNP && d.chance(2)}
		g.Pipe, g.Message, g.BigEndian = pipe, 1+d.IntN(min(mw, 4)), d.chance(4)
		g.Fixed, g.RootLocal = !d.p.InBand || d.chance(4), d.chance(4)
		g.Window = max(mw/g.Message, 1)
		if d.messages() {
			d.message(&g, mw)
		} else if d.chance(3) {
			g.PathMTU = 4 * (1 + d.IntN(d.p.MTUBytes/4))
		}
		if d.chance(2) {
			start := roce.PSN(0).Add(-d.IntN(40))
			g.Start = &start
		}
		if d.chance(3) { // soon enough that now and then nothing was lost, and no sooner than a window can be through
			least := d.windowTime(&g, count)
			g.Timeout = least + d.Uint64N(least)
		}
		if d.chance(3) {
			g.RangePackets = 1 + d.IntN(20)
		}
		d.calls(&g, budget)
		d.c.Groups = append(d.c.Groups, g)
	}
	if d.chance(8) {
		r := Reset{Group: d.IntN(count), Rank: d.IntN(d.c.Tree.Ranks()+1) - 1}
		r.At = d.Uint64N(d.leastTime(&d.c.Groups[r.Group]))
		if r.Rank >= 0 { // with nobody dead the calls would go on, and be over
			r.For = 1000 + d.Uint64N(20000)
		}
		d.c.Resets = append(d.c.Resets, r)
	}
}

// mtu is the payload of a group's full packets.
func (d *drawer) mtu(g *Group) int { return cmp.Or(g.PathMTU, d.p.MTUBytes) }

// leastTime is about how many cycles the group's calls take if nothing is lost and no other group is in the way, rather fewer; at least 1.
// A reset that is drawn from it comes in the middle.
func (d *drawer) leastTime(g *Group) uint64 {
	trip := 2 * (d.c.Levels - 1) * d.c.Latency
	cycles := 0.0
	for i := range g.Calls {
		bytes := g.Calls[i].Bytes
		if g.Calls[i].Call == comm.AllGather {
			bytes *= d.c.Tree.Ranks()
		}
		windows := bytes / d.mtu(g) / (g.Message * g.Window)
		cycles += float64((1+windows)*trip) + float64(bytes)/d.c.BytesPerCycle
	}
	return uint64(cycles) + 1
}

// windowTime is about how many cycles a window, or pipe, of all hosts takes through one switch and back at the pace of the slowest of link, bus and
// adders.
func (d *drawer) windowTime(g *Group, groups int) uint64 {
	pace := min(d.c.BytesPerCycle, float64(d.p.BusBytes)/float64(d.p.CyclesPerBeat()))
	packet := int(float64(d.mtu(g)+90)/pace) + 30
	packets := max(g.packets(), g.Pipe)
	if d.messages() { // of the shortest
		packets = g.Message * d.mtu(g) / d.p.LeastPathMTU() * max(g.Window, g.Pipe)
	}
	return uint64(2*d.c.Levels*(d.c.Latency+200+max(d.c.Up.Jitter, d.c.Down.Jitter)) + packet*packets*(d.c.Degree+1)*groups)
}

// packetBudget is how many packets, over all ranks, levels and groups, a case has about, so that no seed takes much longer than another.
const packetBudget = 1500

// calls draws a group's calls until the budget of packets a rank is used up.
func (d *drawer) calls(g *Group, budget int) {
	mtu, ranks := d.mtu(g), d.c.Tree.Ranks()
	kinds := arith.Kinds(d.p.DTypeMask(), d.p.OpMask())
	for n := 1 + d.IntN(6); n > 0 && budget > 0; n-- {
		k := kinds[d.IntN(len(kinds))]
		c := Call{Call: comm.Collectives()[d.IntN(6)], Root: d.IntN(ranks), DType: k.DType.String(), Op: k.Op.String(), Seed: d.Uint64() >> 1}
		if g.Fixed && len(g.Calls) > 0 {
			first := &g.Calls[0]
			c.Call, c.Root, c.DType, c.Op = first.Call, first.Root, first.DType, first.Op
			k = g.kind(first)
		} else if g.Fixed {
			c.Call = comm.Collectives()[d.IntN(4)]
		}
		packets := 0
		switch d.IntN(3) {
		case 0:
			packets = 1 + d.IntN(4)
		case 1:
			packets = 1 + d.IntN(budget)
		}
		packets = min(packets, budget)
		unit := 1
		if c.Call.Reduces() {
			unit = k.DType.Size()
		} else if g.Fixed { // whole elements here too
			unit = 4
		} else {
			c.DType, c.Op = "", ""
		}
		if c.Call != comm.Barrier {
			c.Bytes = max(packets*mtu-d.IntN(mtu), 0) / unit * unit
		}
		c.Smooth = c.Call.Reduces() && k.DType.Float() && k.Op == arith.Sum && d.chance(4)
		budget -= packets + 1
		if c.Call == comm.AllGather {
			c.Bytes /= ranks
		}
		if c.Call == comm.ReduceScatter || c.Call == comm.AllGather {
			budget -= ranks
		}
		if !c.Call.Rooted() {
			c.Root = 0
		}
		g.Calls = append(g.Calls, c)
	}
}
