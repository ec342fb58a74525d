// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axis"
)

// fault is a mistake in a crossing, and the run that finds it.
type fault struct {
	name      string
	file      string
	old, with string
	also      []string // pairs of the same file
	found     func(b *bench) error
}

// faults are planted into the model all at once; a plusarg chooses one. A synchroniser of one flip-flop in place of two is not among them: it
// behaves the same in any simulation, and only its mean time between failures tells it from a good one.
func faults() []fault {
	return []fault{
		{name: "counts cross in binary", file: "inc_cdc_count.v", old: "next ^ (next >> 1)", with: "next",
			also: []string{"^(sync_reg >> g)", "sync_reg[g]"}, found: count},
		{name: "a queue behind a MAC takes one word too many", file: "../stream/inc_port_take.v",
			old: "used != {1'b1, {DEPTH_W{1'b0}}}", with: "used != {1'b1, {(DEPTH_W-1){1'b0}}, 1'b1}", found: full},
		{name: "a queue before a MAC takes one word too many", file: "../stream/inc_port_put.v",
			old: "(tail_reg ^ head) != {1'b1, {DEPTH_W{1'b0}}}", with: "(tail_reg - head) != {1'b1, {(DEPTH_W-1){1'b0}}, 1'b1}", found: full},
		{name: "the engine reads a frame more than there are", file: "inc_port_rx_cdc.v",
			old: "frames != taken_reg", with: "frames + 1'b1 != taken_reg", found: traffic},
		{name: "the MAC is sent a frame more than there are", file: "inc_port_tx_cdc.v",
			old: "frames != taken_reg", with: "frames + 1'b1 != taken_reg", found: traffic},
		{name: "a frame stops until the next is whole", file: "inc_port_tx_cdc.v", old: "!begins", with: "1'b0", found: dry},
		{name: "a frame begins a word before it may", file: "inc_port_tx_cut_cdc.v", old: "between ? ENOUGH : {{(COUNT_W-1){1'b0}}, 1'b1}",
			with: "between ? ENOUGH - 1'b1 : {{(COUNT_W-1){1'b0}}, 1'b1}", found: cutFew},
		{name: "a frame that is whole waits for words", file: "inc_port_tx_cut_cdc.v", old: "whole || enough", with: "enough", found: cutFew},
		{name: "a frame begins though none is there", file: "inc_port_tx_cut_cdc.v", old: "ahead != {COUNT_W{1'b0}}", with: "1'b1", found: cutFew},
		{name: "the engine's side is out of reset before the port's", file: "inc_cdc_reset.v", old: "rst || near_reg[1]", with: "rst", found: stillReset},
		{name: "the port's reset needs its clock", file: "inc_cdc_reset.v", old: "if (rst_reg)", with: "if (rst_reg && far_clk)", found: stillReset},
		{name: "two events at once count as one", file: "inc_cdc_event.v",
			old: "seen_reg + {{(WIDTH-1){1'b0}}, 1'b1}", with: "count", found: bursts},
	}
}

// uneven is how a model takes a count: of an edge of src_clk that came since the last of dst_clk, the bits that changed with it may be taken as
// they were before, each by itself. That is what wires of different length and flip-flops in the middle of a change do, and what simulation
// without times does not show.
const uneven = `
    reg  [WIDTH-1:0] before_reg;
    reg  [WIDTH-1:0] pick;
    reg  [31:0]      edges, seen;
    integer skew;
    initial if (!$value$plusargs("skew=%d", skew)) skew = 1;
    always @(posedge src_clk) begin
        before_reg <= src_rst ? {WIDTH{1'b0}} : gray_reg;
        edges      <= edges + 1;
    end
    always @(posedge dst_clk) begin
        pick <= skew != 0 ? $random : {WIDTH{1'b0}};
        seen <= edges;
    end
    wire [WIDTH-1:0] caught = edges == seen ? gray_reg : (gray_reg & ~pick) | (before_reg & pick);
`

// model is the compiled bench, with skew and faults in it.
func model(t *testing.T) *sim.Lib {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"inc_cdc_count.v", "inc_cdc_event.v", "inc_cdc_reset.v", "inc_port_rx_cdc.v", "inc_port_tx_cdc.v", "inc_port_tx_cut_cdc.v",
		"testdata/t_cdc.v", "../stream/inc_port_admit.v",
		"../stream/inc_port_take.v", "../stream/inc_port_put.v", "../stream/inc_port_send.v", "../ram/inc_mem_port_2c.v", "../ram/inc_ram_2c.v"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		text := string(data)
		swap := func(old, by string) {
			require.Equal(t, 1, strings.Count(text, old), "%s: %s", name, old)
			text = strings.Replace(text, old, by, 1)
		}
		chosen := false
		for i, f := range faults() {
			if f.file != name {
				continue
			}
			chosen = true
			pairs := append([]string{f.old, f.with}, f.also...)
			for k := 0; k < len(pairs); k += 2 {
				if rest, ok := strings.CutPrefix(pairs[k], "if "); ok { // a condition of its own
					by, _ := strings.CutPrefix(pairs[k+1], "if ")
					swap(pairs[k], fmt.Sprintf("if (fault == %d ? %s : %s)", i+1, by, rest))
					continue
				}
				swap(pairs[k], fmt.Sprintf("(fault == %d ? (%s) : (%s))", i+1, pairs[k+1], pairs[k]))
			}
		}
		head := ""
		if chosen {
			head = "\n    integer fault;\n    initial if (!$value$plusargs(\"fault=%d\", fault)) fault = 0;\n"
		}
		if name == "inc_cdc_count.v" {
			swap("meta_reg   <= gray_reg;", "meta_reg   <= caught;")
			swap("    (* ASYNC_REG = \"TRUE\" *) reg [WIDTH-1:0] meta_reg;", uneven+"    reg [WIDTH-1:0] meta_reg;")
		}
		if head != "" {
			swap("\n);\n", "\n);\n"+head)
		}
		files = append(files, filepath.Join(dir, filepath.Base(name)))
		require.NoError(t, os.WriteFile(files[len(files)-1], []byte(text), 0o644))
	}
	lib, err := sim.Build{Top: "t_cdc", Brief: true, Files: files, PeriodNS: corePeriodNS}.Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

const (
	corePeriodNS = 4.0 // of the engine's clock
	longest      = 64  // bytes of a frame
	patience     = 20  // cycles
)

// queue is one queue of the model under test: what sends to it, what takes from it, and what it said.
type queue struct {
	src    *axis.Source
	snk    *axis.Sink
	got    [][]byte
	sent   uint64 // time of the last beat in, ps
	came   uint64 // time of the first beat out, ps
	counts []int
}

// bench is a model with its two ports' clocks. rx and tx have the queues of port a and of port b.
type bench struct {
	m      *sim.Model
	clocks [2]*sim.Clock
	rx, tx [2]*queue
	pause  [2]*sim.Port
	ends   [2]int
	drops  [2]int
	rnd    *rand.Rand
	err    error
}

// shape is how a run's clocks are: MHz of port a and b, how far they are off, how much their edges vary.
type shape struct {
	mhz    [2]float64
	ppm    float64
	jitter float64
	seed   uint64
	args   []string
}

func newBench(lib *sim.Lib, s shape) (*bench, error) {
	m, err := lib.New(sim.Options{Random: true, Seed: s.seed, PlusArgs: s.args})
	if err != nil {
		return nil, err
	}
	if err := m.Cycle(); err != nil { // a reset that begins high has no edge, by which it could set anything without a clock
		return nil, err
	}
	b := &bench{m: m, rnd: rand.New(rand.NewPCG(s.seed, 1))}
	note := func(err error) {
		if b.err == nil {
			b.err = err
		}
	}
	port := func(name string) *sim.Port {
		p, err := m.Port(name)
		note(err)
		return p
	}
	rst := port("rst")
	for i, name := range []string{"a", "b"} {
		c, err := m.AddClock("clk_"+name, sim.ClockOptions{MHz: s.mhz[i], PPM: s.ppm, JitterPS: s.jitter, Seed: s.seed})
		if err != nil {
			return nil, err
		}
		b.clocks[i] = c
		rx, tx := &queue{counts: make([]int, 5)}, &queue{counts: make([]int, 2)}
		b.rx[i], b.tx[i] = rx, tx
		rx.src, err = axis.NewSourceOn(c, "s_rx"+name)
		note(err)
		rx.snk, err = axis.NewSink(m, "m_rx"+name)
		note(err)
		tx.src, err = axis.NewSource(m, "s_tx"+name)
		note(err)
		tx.snk, err = axis.NewSinkOn(c, "m_tx"+name)
		note(err)
		if b.err != nil {
			return b, b.err
		}
		farPS, nearPS := func(n uint64) uint64 { return uint64((float64(n)*c.PeriodNS() + corePeriodNS) * 1000) }, func(n uint64) uint64 { return n * corePeriodNS * 1000 }
		rx.watch(farPS, nearPS)
		tx.watch(nearPS, farPS)
		ungapped(m, m, "m_rx"+name, port, rst)
		ungapped(m, c, "m_tx"+name, port, rst)
		for k, q := range []*queue{rx, tx} {
			p := port([]string{"rx", "tx"}[k] + name + "_count")
			m.OnSample(func() {
				for k := range q.counts {
					if !rst.Bool() {
						q.counts[k] += int(p.Uint64() >> k & 1)
					}
				}
			})
		}
		b.pause[i] = port("tx" + name + "_pause")
		end, drop := port("rx"+name+"_end"), port("rx"+name+"_drop")
		c.OnSample(func() {
			if !rst.Bool() && b.ends[i] >= 0 {
				b.ends[i] += int(end.Uint64())
				b.drops[i] += int(drop.Uint64())
			}
		})
	}
	note(b.reset())
	return b, b.err
}

// reset holds the reset long enough for the slowest clock of these tests, and waits until its end has crossed.
func (b *bench) reset() error {
	if err := b.m.ResetFor(4); err != nil {
		return err
	}
	if err := b.ticks(80); err != nil {
		return err
	}
	b.ends, b.drops = [2]int{}, [2]int{}
	for _, q := range slices.Concat(b.rx[:], b.tx[:]) {
		clear(q.counts)
	}
	return nil
}

func (b *bench) ticks(n int) error {
	for range n {
		if err := b.m.Tick(); err != nil {
			return err
		}
	}
	return nil
}

// watch keeps what comes out, and the times, where in and out tell the time of a cycle on either side.
func (q *queue) watch(in, out func(cycle uint64) uint64) {
	q.src.OnSent(func(f *axis.Frame) { q.sent = in(f.Last) })
	q.snk.OnFrame(func(f *axis.Frame) {
		q.got = append(q.got, slices.Clone(f.Data))
		q.came = out(f.First)
	})
}

// ungapped fails the model when a frame leaves with a hole in it.
func ungapped(m *sim.Model, c interface{ OnSample(func()) }, prefix string, port func(string) *sim.Port, rst *sim.Port) {
	valid, last := port(prefix+"_tvalid"), port(prefix+"_tlast")
	inside, cut := false, 0
	m.OnSample(func() {
		if rst.Bool() {
			cut = 2 // it takes an edge of the other clock until the beat is gone
		}
	})
	c.OnSample(func() {
		switch {
		case cut > 0:
			cut--
			inside = false
		case inside && !valid.Bool():
			m.Fail(fmt.Errorf("%s: tvalid fell inside a frame", prefix))
		case valid.Bool():
			inside = !last.Bool()
		}
	})
}

// data of so many bytes.
func (b *bench) data(n int) []byte {
	d := make([]byte, n)
	for i := range d {
		d[i] = byte(b.rnd.Uint32())
	}
	return d
}

// settle runs until no frame waits to be sent, and then for so many cycles.
func (b *bench) settle(cycles int) error {
	waits := func() bool {
		return b.rx[0].src.Pending()+b.rx[1].src.Pending()+b.tx[0].src.Pending()+b.tx[1].src.Pending() > 0
	}
	for n := 0; waits(); n++ {
		if n > 200000 {
			return fmt.Errorf("frames wait for ever")
		}
		if err := b.ticks(1); err != nil {
			return err
		}
	}
	return b.ticks(cycles)
}

// same compares what came out with what should have.
func same(what string, want, got [][]byte) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s: %d frames came out, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			return fmt.Errorf("%s: frame %d is %x, want %x", what, i, got[i], want[i])
		}
	}
	return nil
}

// traffic sends frames of all lengths through all queues at once, some of them bad, and holds what comes out and every count to what went in.
func traffic(b *bench) error {
	var want [4][][]byte
	var counts [2][]int
	const all = 120
	for i := range 2 {
		counts[i] = make([]int, 5)
		for n := range all {
			f := axis.Frame{Data: b.data(1 + b.rnd.IntN(longest+8)), User: uint64(b.rnd.IntN(5) / 4)}
			switch {
			case len(f.Data) > longest:
				counts[i][2]++
			case f.User != 0:
				counts[i][1]++
			default:
				counts[i][0]++
				want[i] = append(want[i], f.Data)
			}
			if i == 1 { // this port's queues drop what they have no room for
				f.NotBefore = b.clocks[1].Now() + uint64(30*n)
			}
			if err := b.rx[i].src.Send(f); err != nil {
				return err
			}
			out := b.data(1 + n%longest)
			want[2+i] = append(want[2+i], out)
			f = axis.Frame{Data: out}
			if i == 1 {
				f.NotBefore = b.m.Now() + uint64(40*n)
			}
			if err := b.tx[i].src.Send(f); err != nil {
				return err
			}
		}
		b.rx[i].src.SetPause(axis.Probability(uint64(i), 0.3))
	}
	if err := b.settle(1500); err != nil {
		return err
	}
	for i, name := range []string{"a", "b"} {
		if err := same("rx"+name, want[i], b.rx[i].got); err != nil {
			return err
		}
		if err := same("tx"+name, want[2+i], b.tx[i].got); err != nil {
			return err
		}
		if !slices.Equal(counts[i], b.rx[i].counts) || !slices.Equal([]int{all, 0}, b.tx[i].counts) {
			return fmt.Errorf("port %s counts %v and %v, want %v and %v", name, b.rx[i].counts, b.tx[i].counts, counts[i], []int{all, 0})
		}
		if want := []int{all, counts[i][1] + counts[i][2]}; !slices.Equal(want, []int{b.ends[i], b.drops[i]}) {
			return fmt.Errorf("port %s tells of %d ends and %d drops, want %v", name, b.ends[i], b.drops[i], want)
		}
	}
	return nil
}

// full sends more than the queues hold to an engine and MACs that take nothing, and then take slowly, so that queues stay at the brink: what
// comes out is what was kept, unharmed.
func full(b *bench) error {
	var want [4][][]byte
	for i := range 2 {
		b.rx[i].snk.SetPause(axis.Always())
		b.tx[i].snk.SetPause(axis.Always())
		for range 80 {
			for k, q := range []*queue{b.rx[i], b.tx[i]} {
				d := b.data(1 + b.rnd.IntN(longest))
				want[2*k+i] = append(want[2*k+i], d)
				if err := q.src.SendBytes(d, 0); err != nil {
					return err
				}
			}
		}
	}
	if err := b.ticks(1500); err != nil {
		return err
	}
	for i, q := range slices.Concat(b.rx[:], b.tx[:]) {
		q.snk.SetPause(axis.Bursts(uint64(i), 4, 6))
		for range 80 {
			d := b.data(1 + b.rnd.IntN(longest))
			want[i] = append(want[i], d)
			if err := q.src.SendBytes(d, 0); err != nil {
				return err
			}
		}
	}
	if err := b.settle(1500); err != nil {
		return err
	}
	for i, q := range slices.Concat(b.rx[:], b.tx[:]) {
		if i%2 == 0 { // it holds: nothing is lost
			if err := same("a queue that holds", want[i], q.got); err != nil {
				return err
			}
			continue
		}
		lost := q.counts[len(q.counts)-1]
		if lost == 0 || len(q.got)+lost != len(want[i]) {
			return fmt.Errorf("a queue that drops: %d frames came out of %d, %d count as dropped", len(q.got), len(want[i]), lost)
		}
		next := 0
		for _, d := range q.got { // some of those sent, in their order
			for ; next < len(want[i]) && !slices.Equal(d, want[i][next]); next++ {
			}
			if next++; next > len(want[i]) {
				return fmt.Errorf("a queue that drops: %x is none of the frames sent, or out of order", d)
			}
		}
	}
	return nil
}

// stillReset resets the engine while the ports' clocks stand still and frames lie in the queues: nothing of them leaves after it, and new
// frames pass.
func stillReset(b *bench) error {
	for i := range 2 {
		b.rx[i].snk.SetPause(axis.Always())
		b.tx[i].snk.SetPause(axis.Always())
		for range 3 {
			for _, q := range []*queue{b.rx[i], b.tx[i]} {
				if err := q.src.SendBytes(b.data(longest/2), 0); err != nil {
					return err
				}
			}
		}
	}
	if err := b.settle(200); err != nil {
		return err
	}
	for i := range 2 {
		b.clocks[i].Stop()
		b.rx[i].snk.SetPause(nil)
		b.tx[i].snk.SetPause(nil)
		b.rx[i].got, b.tx[i].got = nil, nil
	}
	if err := b.m.ResetFor(1); err != nil {
		return err
	}
	if err := b.ticks(200); err != nil {
		return err
	}
	for i := range 2 {
		b.clocks[i].Start()
	}
	if err := b.reset2(); err != nil {
		return err
	}
	for i := range 2 {
		if n := len(b.rx[i].got) + len(b.tx[i].got); n > 0 {
			return fmt.Errorf("%d frames of before the reset left after it", n)
		}
	}
	return traffic(b)
}

// reset2 waits until the end of a reset has crossed, and forgets what was counted.
func (b *bench) reset2() error {
	if err := b.ticks(200); err != nil {
		return err
	}
	b.ends, b.drops = [2]int{}, [2]int{}
	for _, q := range slices.Concat(b.rx[:], b.tx[:]) {
		clear(q.counts)
	}
	return nil
}

// bursts sends frames of one beat behind each other through a port that is faster than the engine: every one counts.
func bursts(b *bench) error {
	const all = 16
	for range all {
		if err := b.rx[1].src.SendBytes(b.data(8), 1); err != nil {
			return err
		}
	}
	if err := b.settle(200); err != nil {
		return err
	}
	if got := b.rx[1].counts[1]; got != all {
		return fmt.Errorf("%d frames with err count as %d", all, got)
	}
	return nil
}

// count steps a counter at random: on the other side it is never ahead, never goes back, and is there at last. Its users only ask whether two
// counts differ, and would not see it run wild for a cycle.
func count(b *bench) error {
	step, err := b.m.Port("n_step")
	if err != nil {
		return err
	}
	src, err := b.m.Port("n_src")
	if err != nil {
		return err
	}
	dst, err := b.m.Port("n_dst")
	if err != nil {
		return err
	}
	steps, seen := uint64(0), uint64(0)
	b.clocks[1].OnSample(func() {
		now := dst.Uint64()
		if ahead, back := (src.Uint64()-now)%64, (now-seen)%64; ahead >= 32 || back >= 32 {
			b.m.Fail(fmt.Errorf("a count of %d reads %d, after %d", src.Uint64(), now, seen))
		}
		seen = now
	})
	b.m.OnDrive(func() {
		more := steps < 400 && b.rnd.IntN(4) > 0
		step.SetBool(more)
		if more {
			steps++
		}
	})
	if err := b.ticks(800); err != nil {
		return err
	}
	if seen != steps%64 {
		return fmt.Errorf("%d steps arrive as %d", steps, seen)
	}
	return nil
}

// shapes are slow and fast ports, and ports of the engine's frequency whose phases drift over it.
func shapes() []shape {
	return []shape{
		{mhz: [2]float64{50, 400}, seed: 1}, {mhz: [2]float64{250, 250}, ppm: 200, seed: 2}, {mhz: [2]float64{156.25, 322.265625}, ppm: -3000, jitter: 1000, seed: 4},
	}
}

// TestPorts: over slow and fast clocks, with phases that drift and counts taken in the middle of a step, queues lose nothing that they do
// not count, whatever is full and whatever stands still.
func TestPorts(t *testing.T) {
	t.Parallel()
	lib := model(t)
	for _, s := range shapes() {
		for i, run := range []func(*bench) error{traffic, full, stillReset, bursts, count, dry, cutFew} {
			b, err := newBench(lib, s)
			require.NoError(t, err)
			require.NoError(t, run(b), "%s, %+v", []string{"traffic", "full", "still reset", "bursts", "count", "dry", "cut"}[i], s)
			b.m.Close()
		}
	}
	for i, f := range faults() {
		caught := false
		for _, s := range shapes() {
			s.args = []string{fmt.Sprintf("fault=%d", i+1)}
			b, err := newBench(lib, s)
			if err == nil {
				err = f.found(b)
			}
			b.m.Close()
			if caught = err != nil; caught {
				break
			}
		}
		require.True(t, caught, "%s: not found", f.name)
	}
	t.Run("latency", func(t *testing.T) { latency(t, lib) })
	t.Run("clock stops", func(t *testing.T) { stops(t, lib) })
	t.Run("hangs", func(t *testing.T) { hangs(t, lib) })
	t.Run("cut through", func(t *testing.T) { cutMany(t, lib) })
	t.Run("cut latency", func(t *testing.T) { cutLatency(t, lib) })
	t.Run("MACs", func(t *testing.T) { macs(t, lib) })
	t.Run("impatient", func(t *testing.T) { impatient(t, lib) })
	t.Run("brief reset", func(t *testing.T) { brief(t, lib) })
}

// latency holds the time that a crossing adds to the contracts, over phases that drift: of lone frames, without skew.
func latency(t *testing.T, lib *sim.Lib) {
	for _, s := range []shape{{mhz: [2]float64{50, 400}}, {mhz: [2]float64{156.25, 322.265625}}, {mhz: [2]float64{249.9, 250.1}}} {
		s.args = []string{"skew=0"}
		b, err := newBench(lib, s)
		require.NoError(t, err)
		const core = 1000 * corePeriodNS
		for i := range 2 {
			port := 1000 * b.clocks[i].PeriodNS()
			for n := range longest {
				for _, way := range []struct {
					q        *queue
					from, to float64
				}{{b.rx[i], 2*port + 4*core, 2*port + 5*core}, {b.tx[i], core + 5*port, core + 6*port}} {
					before := len(way.q.got)
					require.NoError(t, way.q.src.SendBytes(b.data(1+n%longest), 0))
					require.NoError(t, b.m.Run(3000, func() bool { return len(way.q.got) > before }))
					took := float64(way.q.came) - float64(way.q.sent)
					require.GreaterOrEqual(t, took, way.from-2, "%+v, port %d", s, i)
					require.LessOrEqual(t, took, way.to+2, "%+v, port %d", s, i)
				}
			}
		}
		b.m.Close()
	}
}

// stops: a port whose clock stands still for a while, in the middle of frames in both directions, loses nothing and costs the other port
// nothing.
func stops(t *testing.T, lib *sim.Lib) {
	b, err := newBench(lib, shape{mhz: [2]float64{125, 322.265625}, seed: 9})
	require.NoError(t, err)
	defer b.m.Close()
	want := [2][][]byte{}
	for i := range 2 {
		for range 6 {
			d := b.data(longest)
			want[i] = append(want[i], d)
			require.NoError(t, b.rx[i].src.Send(axis.Frame{Data: d, NotBefore: b.clocks[i].Now() + uint64(20*len(want[i]))}))
			require.NoError(t, b.tx[i].src.Send(axis.Frame{Data: d, NotBefore: b.m.Now() + uint64(100*len(want[i]))}))
		}
	}
	require.NoError(t, b.m.Run(4000, func() bool { return b.tx[0].snk.InFrame() && b.rx[0].src.Beats()%32 > 3 }))
	b.clocks[0].Stop()
	require.NoError(t, b.ticks(2000))
	require.NoError(t, same("the other port's rx", want[1], b.rx[1].got))
	require.NoError(t, same("the other port's tx", want[1], b.tx[1].got))
	require.Less(t, len(b.tx[0].got), len(want[0]))
	b.clocks[0].Start()
	require.NoError(t, b.settle(1500))
	require.NoError(t, same("rx", want[0], b.rx[0].got))
	require.NoError(t, same("tx", want[0], b.tx[0].got))
}

// hangs: a frame that stands still is given up after so many cycles of the port's clock and not before.
func hangs(t *testing.T, lib *sim.Lib) {
	for _, still := range []int{patience - 1, patience} {
		b, err := newBench(lib, shape{mhz: [2]float64{50, 400}, seed: 11})
		require.NoError(t, err)
		for i := range 2 {
			left, src := 0, b.rx[i].src
			src.SetPause(func() bool {
				if src.Beats() == 3 && left < still {
					left++
					return true
				}
				return false
			})
			require.NoError(t, src.SendBytes(b.data(longest), 0))
			require.NoError(t, src.SendBytes(b.data(9), 0))
		}
		require.NoError(t, b.settle(300))
		for i := range 2 {
			want := []int{2, 0, 0, 0, 0}
			if still == patience {
				want = []int{1, 0, 0, 1, 0}
			}
			require.Equal(t, want, b.rx[i].counts, "%d cycles, port %d", still, i)
		}
		b.m.Close()
	}
}
