// SPDX-License-Identifier: Apache-2.0

package mac_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/mac"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axis"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	const number = "PRIORITIES must be 1 to 8"
	for name, x := range map[string]struct {
		legal   []graph.Describer
		refused []hdltest.Refused
	}{
		"guard": {[]graph.Describer{mac.Guard{Bytes: 8}}, []hdltest.Refused{{Leaf: mac.Guard{}, Params: param("BYTES", 0), Rule: "BYTES must be at least 1"}}},
		"pause": {[]graph.Describer{mac.Pause{Priorities: 1}, mac.Pause{Priorities: 8}}, []hdltest.Refused{{Leaf: mac.Pause{Priorities: 9}, Params: param("PRIORITIES", 9), Rule: number}}},
		"cmac":  {[]graph.Describer{mac.CMAC{Priorities: 4}}, []hdltest.Refused{{Leaf: mac.CMAC{Priorities: 9}, Params: param("PRIORITIES", 9), Rule: number}}},
		"taxi":  {[]graph.Describer{mac.Taxi{Priorities: 1}}, []hdltest.Refused{{Leaf: mac.Taxi{Priorities: 9}, Params: param("PRIORITIES", 9), Rule: number}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hdltest.Check(t, x.legal, x.refused)
		})
	}
}

// line is a MAC and its line at a port of the bench.
type line struct {
	name       string
	clk, from  *sim.Clock // of the port, and of what the line brings
	rate, next float64    // bytes of the line in a cycle, and the cycle in which the next frame may begin
	src        *axis.Source
	snk        *axis.Sink
	mac        *axis.MAC
	sent       [][]byte
	came, lost int
	brought    int // frames that a monitor saw on the line
}

type bench struct {
	*sim.Model
	rnd  *rand.Rand
	c, d *line
	in   map[string]*sim.Port
}

// newBench brings both lines up. The two directions of the open MAC have clocks that differ by 200 ppm.
func newBench(t *testing.T, lib *sim.Lib, seed uint64) *bench {
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	b := &bench{Model: m, rnd: rand.New(rand.NewPCG(seed, 9)), in: map[string]*sim.Port{}}
	for _, name := range []string{"hold", "rst_c", "rst_d", "c_aligned", "c_req", "d_up"} {
		b.in[name], err = m.Port(name)
		require.NoError(t, err)
		b.in[name].SetUint64(0)
	}
	for _, name := range []string{"c_lost", "d_lost", "c_up", "c_rfi", "c_ack", "c_ask"} {
		b.in[name], err = m.Port(name)
		require.NoError(t, err)
	}
	b.in["rst_c"].SetUint64(1)
	b.in["rst_d"].SetUint64(1)
	require.NoError(t, m.Cycle())
	clock := func(name string, mhz, ppm float64) *sim.Clock {
		c, err := m.AddClock(name, sim.ClockOptions{MHz: mhz, PPM: ppm, Seed: seed})
		require.NoError(t, err)
		return c
	}
	b.c = &line{name: "c", clk: clock("clk_c", 322.265625, 60)}
	b.d = &line{name: "d", clk: clock("clk_d", 156.25, -100)}
	b.c.mac, err = axis.NewMAC(b.c.clk, "rxc", "txc", 100)
	require.NoError(t, err)
	b.c.src, b.c.snk = b.c.mac.In, b.c.mac.Out
	b.c.from, b.d.from = b.c.clk, clock("clk_r", 156.25, 100)
	b.c.rate, b.d.rate = 12.5*b.c.clk.PeriodNS(), 8
	b.d.src, err = axis.NewSourceOn(b.d.from, "rxd")
	require.NoError(t, err)
	b.d.snk, err = axis.NewSinkOn(b.d.clk, "txd")
	require.NoError(t, err)
	watch, err := axis.NewMonitorOn(b.d.from, "rxd")
	require.NoError(t, err)
	watch.OnFrame(func(*axis.Frame) { b.d.brought++ })
	for _, l := range []*line{b.c, b.d} {
		lost := b.in[l.name+"_lost"]
		l.clk.OnSample(func() { l.lost += int(lost.Uint64()) })
		l.snk.OnFrame(func(f *axis.Frame) {
			at := slices.IndexFunc(l.sent, func(s []byte) bool { return slices.Equal(s, f.Data) })
			if at < 0 {
				m.Fail(fmt.Errorf("line %s: a frame of %d bytes was never sent", l.name, len(f.Data)))
				return
			}
			l.sent = l.sent[at+1:]
			l.came++
			wide := l.snk.Bytes()
			if err := f.Data[(len(f.Data)-1)/wide*wide] & 1; uint64(err) != f.User {
				m.Fail(fmt.Errorf("line %s: the MAC got err %d with a frame that has %d", l.name, f.User, err))
			}
		})
	}
	require.NoError(t, m.ResetFor(20))
	b.run(t, 20)
	b.in["rst_c"].SetUint64(0)
	b.in["rst_d"].SetUint64(0)
	require.True(t, b.in["c_rfi"].Bool(), "a line that is not aligned")
	b.run(t, 40)
	require.False(t, b.in["c_up"].Bool())
	b.in["c_aligned"].SetUint64(1)
	b.in["d_up"].SetUint64(1)
	b.run(t, 40)
	require.True(t, b.in["c_up"].Bool())
	require.False(t, b.in["c_rfi"].Bool())
	return b
}

func (b *bench) run(t *testing.T, cycles int) {
	t.Helper()
	for range cycles {
		require.NoError(t, b.Tick())
	}
}

// send has a line bring a frame.
func (b *bench) send(t *testing.T, l *line, n int) {
	f := make([]byte, n)
	for i := range f {
		f[i] = byte(b.rnd.Uint32())
	}
	l.sent = append(l.sent, f)
	begin := max(l.next, float64(l.from.Now()))
	// The line is not full all the time, or what a frame in turn behind a long one waits could never be made up for.
	l.next = begin + float64(n+24)*(1+0.2*b.rnd.Float64())/l.rate // preamble, FCS and gap
	require.NoError(t, l.src.Send(axis.Frame{Data: f, NotBefore: uint64(begin)}))
}

// TestMACs: behind either wrapper frames of all lengths come and leave at the line's rate; none is lost, and no MAC runs dry.
func TestMACs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.v")
	require.NoError(t, err)
	for _, name := range []string{"cdc/inc_cdc_count", "cdc/inc_cdc_event", "cdc/inc_cdc_reset", "cdc/inc_port_rx_cdc", "cdc/inc_port_tx_cdc", "stream/inc_port_take",
		"stream/inc_port_put", "stream/inc_port_send", "ram/inc_mem_port_2c", "ram/inc_ram_2c"} {
		files = append(files, "../"+name+".v")
	}
	lib, err := sim.Build{Top: "t_mac", Brief: true, PeriodNS: 4, Files: append(files, "testdata/t_mac.v"), Flags: []string{"-Wno-PINCONNECTEMPTY"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	for name, run := range map[string]func(t *testing.T, b *bench){"rate": rate, "pauses": pauses, "torn": torn, "down": down} {
		t.Run(name, func(t *testing.T) { run(t, newBench(t, lib, 3)) })
	}
}

// gapless fails when a frame to a line stops inside, while the sink takes.
func gapless(t *testing.T, b *bench, l *line) {
	valid, err := b.Port("tx" + l.name + "_tvalid")
	require.NoError(t, err)
	last, err := b.Port("tx" + l.name + "_tlast")
	require.NoError(t, err)
	inside := false
	l.clk.OnSample(func() {
		if inside && !valid.Bool() {
			b.Fail(fmt.Errorf("line %s: a frame stopped inside", l.name))
		}
		inside = valid.Bool() && !last.Bool()
	})
}

// rate: both lines full but for the gaps that Ethernet has.
func rate(t *testing.T, b *bench) {
	gapless(t, b, b.d)
	counts, err := b.Port("c_count")
	require.NoError(t, err)
	var counted [5]int // kept, err, long, hung, full
	b.OnSample(func() {
		for i := range counted {
			counted[i] += int(counts.Uint64() >> i & 1)
		}
	})
	const frames = 150
	for i := range frames {
		b.send(t, b.c, 60+b.rnd.IntN(1459))
		if i%10 == 0 {
			b.send(t, b.d, 60+b.rnd.IntN(1459))
		}
	}
	b.run(t, 30000)
	require.Equal(t, [5]int{frames}, counted)
	require.Equal(t, []int{frames, frames / 10, 0, 0}, []int{b.c.came, b.d.came, b.c.lost, b.d.lost})
	require.Equal(t, frames/10, b.d.brought)
	require.Zero(t, b.c.mac.Underruns())
}

// pauses: while the line says so no frame begins, and the MAC is told so; a queue that fills asks the line to pause, for 64 cycles at least.
func pauses(t *testing.T, b *bench) {
	b.in["c_req"].SetUint64(0x100)
	b.run(t, 10)
	require.Equal(t, uint64(0x100), b.in["c_ack"].Uint64())
	for range 3 {
		b.send(t, b.c, 100)
	}
	b.run(t, 400)
	require.Zero(t, b.c.came)
	b.in["c_req"].SetUint64(0x001) // a class of PFC: a port without priorities does not look at it
	b.run(t, 400)
	require.Equal(t, 3, b.c.came)
	require.Zero(t, b.in["c_ack"].Uint64())
	var changes []uint64
	was := uint64(0)
	b.c.clk.OnSample(func() {
		if v := b.in["c_ask"].Uint64(); v != was {
			was, changes = v, append(changes, b.c.clk.Now())
		}
	})
	for range 6 {
		b.in["hold"].SetUint64(1)
		for range 30 {
			b.send(t, b.c, 100)
		}
		b.run(t, 150)
		b.in["hold"].SetUint64(0)
		b.run(t, 150)
	}
	require.Greater(t, len(changes), 4)
	for i := 1; i < len(changes); i++ {
		require.GreaterOrEqual(t, changes[i]-changes[i-1], uint64(64))
	}
}

// torn: a port that holds up a MAC costs the frames of which a beat is gone, and the one behind, and no other comes back changed.
func torn(t *testing.T, b *bench) {
	b.in["hold"].SetUint64(1)
	for range 40 {
		b.send(t, b.d, 400)
	}
	b.run(t, 4000)
	require.Positive(t, b.d.lost)
	b.in["hold"].SetUint64(0)
	b.run(t, 4000)
	before := b.d.came
	require.Positive(t, before)
	b.send(t, b.d, 60) // whose end may be that of a frame that was torn
	for range 5 {
		b.send(t, b.d, 200)
	}
	b.run(t, 2000)
	require.GreaterOrEqual(t, b.d.came, before+5)
	require.Zero(t, b.c.lost, "the other port")
}

// down: a line that is no longer aligned gets no frame, and remote faults.
func down(t *testing.T, b *bench) {
	b.in["c_aligned"].SetUint64(0)
	b.run(t, 10)
	require.True(t, b.in["c_rfi"].Bool())
	for range 3 {
		b.send(t, b.c, 100)
	}
	b.run(t, 400)
	require.Zero(t, b.c.came)
	was := b.c.clk.Now()
	b.in["c_aligned"].SetUint64(1)
	var up []uint64
	b.c.clk.OnSample(func() {
		if len(up) == 0 && b.in["c_up"].Bool() {
			up = append(up, b.c.clk.Now()-was)
		}
	})
	b.run(t, 400)
	require.Equal(t, 3, b.c.came)
	require.Equal(t, []uint64{18}, up, "17 cycles behind the first that sees it aligned")
}
