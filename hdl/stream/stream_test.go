// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axis"
)

func compile(t *testing.T) *sim.Lib {
	t.Helper()
	files, err := filepath.Glob("*.v")
	require.NoError(t, err)
	files = append(files, "../ram/inc_mem_port.v", "../ram/inc_ram_1r1w.v", "testdata/t_stream.v")
	lib, err := sim.Build{Top: "t_stream", Brief: true, Files: files}.Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

func start(t *testing.T, lib *sim.Lib, seed uint64) *sim.Model {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// queue is the plain model of inc_fifo.
type queue struct {
	name          string
	depth, margin int
	latency       uint64 // cycles from a push to the head of an empty queue
	wide          bool   // 65 bits instead of 8
	items         [][]byte
	pushed        []uint64
	popped, full  int
}

func queues() []*queue {
	return []*queue{
		{name: "f1", depth: 2, latency: 1}, {name: "f3", depth: 8, margin: 3, latency: 1, wide: true},
	}
}

// step drives a cycle's push and pop with the given chances in percent and checks what the cycle before showed.
func (q *queue) step(dut *rig.Rig, r *rand.Rand, push, pop int) (check func() error) {
	now := dut.Now() + 1
	valid := len(q.items) > 0 && q.pushed[0]+q.latency <= now
	room := q.depth-len(q.items) > q.margin
	doPop := valid && r.IntN(100) < pop
	// the margin is for pushes under way: those come whether there is room or not, as long as there is space
	doPush := r.IntN(100) < push && (len(q.items) < q.depth || doPop)
	var want []byte
	if valid {
		want = q.items[0]
	}
	if len(q.items) == q.depth {
		q.full++
	}
	dut.SetBool(q.name+"_pop", doPop)
	dut.SetBool(q.name+"_push", doPush)
	if doPop {
		q.items, q.pushed = q.items[1:], q.pushed[1:]
		q.popped++
	}
	if doPush {
		b := []byte{byte(r.Uint32())}
		if q.wide {
			for len(b) < 8 {
				b = append(b, byte(r.Uint32()))
			}
			b = append(b, byte(r.IntN(2)))
		}
		dut.SetBytes(q.name+"_push_data", b)
		q.items, q.pushed = append(q.items, b), append(q.pushed, now)
	}
	return func() error {
		switch {
		case dut.Is(q.name+"_valid") != valid:
			return fmt.Errorf("cycle %d, %s: valid is %t, want %t", now, q.name, !valid, valid)
		case dut.Is(q.name+"_room") != room:
			return fmt.Errorf("cycle %d, %s: room is %t, want %t", now, q.name, !room, room)
		case valid && !bytes.Equal(want, dut.Bytes(q.name+"_data")):
			return fmt.Errorf("cycle %d, %s: data is %x, want %x", now, q.name, dut.Bytes(q.name+"_data"), want)
		}
		return nil
	}
}

func runQueues(dut *rig.Rig, qs []*queue, seed uint64, push, pop, cycles int) error {
	r := rand.New(rand.NewPCG(seed, uint64(push*100+pop)))
	var checks []func() error
	for range cycles {
		checks = checks[:0]
		for _, q := range qs {
			checks = append(checks, q.step(dut, r, push, pop))
		}
		dut.Clock()
		for _, c := range checks {
			if err := c(); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestQueues compares every cycle's valid, room and data with the plain model: latency, order, margin and bubbles are in it.
func TestQueues(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for seed := range uint64(3) {
		dut, qs := rig.New(t, lib, seed), queues()
		for _, chance := range [][2]int{{100, 0}, {50, 50}, {100, 100}, {0, 100}, {20, 80}, {80, 20}, {100, 50}} {
			// an empty queue takes its latency to get going
			require.NoError(t, runQueues(dut, qs, seed+100, chance[0], chance[1], 5))
			before := 0
			for _, q := range qs {
				before += q.popped
			}
			require.NoError(t, runQueues(dut, qs, seed, chance[0], chance[1], 300))
			popped := -before
			for _, q := range qs {
				popped += q.popped
			}
			if chance == [2]int{100, 100} {
				require.Equal(t, 300*len(qs), popped, "one push and one pop a cycle")
			}
		}
		for _, q := range qs {
			require.Positive(t, q.full, "%s was never full", q.name)
		}
	}
	for i, want := range []string{"f1: valid", "f3: valid"} {
		qs := queues()
		qs[i].latency++
		require.ErrorContains(t, runQueues(rig.New(t, lib, 1), qs, 1, 50, 50, 300), want, "a latency one too long must be found")
	}
	qs := queues()
	qs[1].margin--
	require.ErrorContains(t, runQueues(rig.New(t, lib, 1), qs, 1, 80, 20, 300), "f3: room")
}

// pauses pairs how the sender idles with how the receiver presses back.
var pauses = []struct {
	name     string
	in, back func(seed uint64) axis.Pause
}{
	{"neither", nothing, nothing},
	{"idle", half, nothing},
	{"pressure", nothing, half},
	{"both", half, half},
	{"bursts", bursts, bursts},
}

func nothing(uint64) axis.Pause     { return nil }
func half(seed uint64) axis.Pause   { return axis.Probability(seed, 0.5) }
func bursts(seed uint64) axis.Pause { return axis.Bursts(seed, 6, 9) }
func beats(frames []axis.Frame) (n int) { // of 8 bytes
	for _, f := range frames {
		n += (len(f.Data) + 7) / 8
	}
	return n
}

func frames(r *rand.Rand, n int, user func() uint64) []axis.Frame {
	out := make([]axis.Frame, n)
	for i := range out {
		data := make([]byte, 1+r.IntN(40))
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		u := user()
		out[i] = axis.Frame{Data: data, User: u, FirstUser: u}
	}
	return out
}

func source(t *testing.T, m *sim.Model, prefix string, p axis.Pause) *axis.Source {
	t.Helper()
	s, err := axis.NewSource(m, prefix)
	require.NoError(t, err)
	s.SetPause(p)
	return s
}

func sink(t *testing.T, m *sim.Model, prefix string, p axis.Pause) *axis.Sink {
	t.Helper()
	s, err := axis.NewSink(m, prefix)
	require.NoError(t, err)
	s.SetPause(p)
	return s
}

func send(t *testing.T, s *axis.Source, frames []axis.Frame) {
	t.Helper()
	for _, f := range frames {
		require.NoError(t, s.Send(f))
	}
}

func TestSkid(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, p := range pauses {
		for seed := range uint64(3) {
			m := start(t, lib, seed)
			src, snk := source(t, m, "s_skid", p.in(seed)), sink(t, m, "m_skid", p.back(seed+9))
			mon, err := axis.NewMonitor(m, "s_skid")
			require.NoError(t, err)
			require.NoError(t, m.ResetFor(2))
			want := frames(rand.New(rand.NewPCG(seed, 1)), 50, func() uint64 { return 0 })
			send(t, src, want)
			require.NoError(t, m.Run(5000, func() bool { return snk.Len() == len(want) }))
			var first, last uint64
			for i := range want {
				got, _ := snk.Recv()
				in, _ := mon.Recv()
				require.Equal(t, want[i].Data, got.Data, "%s, seed %d, frame %d", p.name, seed, i)
				if i == 0 {
					first = got.First
				}
				last = got.Last
				if p.name == "neither" || p.name == "idle" {
					require.Equal(t, in.Last, got.Last, "latency 0 while nothing waits")
				}
			}
			if p.name == "neither" {
				require.Equal(t, uint64(beats(want)), last-first+1, "a beat a cycle")
			}
		}
	}
}

// TestSkidStall: the receiver stops, and the sender is stopped one cycle later, having lost nothing.
func TestSkidStall(t *testing.T) {
	t.Parallel()
	dut := rig.New(t, compile(t), 3)
	dut.Clock()
	dut.Set("s_skid_tvalid", 1)
	for cycle, want := range []struct {
		mReady, sReady, mValid bool
		in, out                uint64
	}{
		{true, true, true, 1, 1},
		{false, true, true, 2, 2},  // offered, and kept
		{false, false, true, 3, 2}, // so s stops now
		{false, false, true, 3, 2}, // and what was offered holds
		{true, false, true, 3, 2},  // it goes
		{true, true, true, 3, 3},   // and the next passes at once
		{true, true, true, 4, 4},
	} {
		dut.Set("s_skid_tdata", want.in)
		dut.SetBool("m_skid_tready", want.mReady)
		dut.Clock()
		require.Equal(t, want.sReady, dut.Is("s_skid_tready"), "cycle %d", cycle)
		require.Equal(t, want.mValid, dut.Is("m_skid_tvalid"), "cycle %d", cycle)
		require.Equal(t, want.out, dut.Get("m_skid_tdata"), "cycle %d", cycle)
	}
	dut.Set("rst", 1)
	dut.Clock()
	dut.Clock()
	require.False(t, dut.Is("s_skid_tready"), "not ready in reset")
}

// TestArbiter: every port's frames whole, in order and marked with their port; nobody waits for more than one frame of each
// other port.
func TestArbiter(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	const ports, each = 3, 40
	for _, p := range pauses {
		for seed := range uint64(3) {
			m := start(t, lib, seed)
			r := rand.New(rand.NewPCG(seed, 2))
			var want [ports][]axis.Frame
			var in [ports]*axis.Monitor
			for i := range want {
				src := source(t, m, fmt.Sprintf("s_a%d", i), p.in(seed*10+uint64(i)))
				want[i] = frames(r, each, func() uint64 { return r.Uint64N(2) })
				send(t, src, want[i])
				mon, err := axis.NewMonitor(m, fmt.Sprintf("s_a%d", i))
				require.NoError(t, err)
				in[i] = mon
			}
			snk := sink(t, m, "m_arb", p.back(seed+99))
			watch := newFairness(t, m, ports)
			require.NoError(t, m.ResetFor(2))
			require.NoError(t, m.Run(20000, func() bool { return snk.Len() == ports*each }))

			var next [ports]int
			var first, last uint64
			total := 0
			for n := range ports * each {
				got, _ := snk.Recv()
				port := int(got.User >> 1)
				require.Less(t, port, ports)
				w := want[port][next[port]]
				next[port]++
				require.Equal(t, w.Data, got.Data, "%s, seed %d: port %d", p.name, seed, port)
				require.Equal(t, w.User, got.User&1, "err")
				require.Equal(t, uint64(port), got.FirstUser>>1)
				if n == 0 {
					first = got.First
				}
				last = got.Last
				total += beats([]axis.Frame{w})
				if p.name == "neither" {
					require.Equal(t, (n+1)%ports, port, "in turn, beginning behind port 0")
				}
			}
			if p.name == "neither" {
				require.Equal(t, uint64(total), last-first+1, "a beat a cycle, no bubbles between frames")
			}
			assert.Equal(t, uint64(ports*each), watch.ends)
			assert.LessOrEqual(t, watch.worst, 1, "%s, seed %d: frames of one other port while a port waited", p.name, seed)
			assert.Positive(t, watch.worst, "nobody ever waited: nothing was tested")
		}
	}
}

// TestArbiterLatency: alone, a port's frames pass in the cycle in which they come.
func TestArbiterLatency(t *testing.T) {
	t.Parallel()
	m := start(t, compile(t), 5)
	src, snk := source(t, m, "s_a2", axis.Probability(5, 0.3)), sink(t, m, "m_arb", nil)
	var sent []axis.Frame
	src.OnSent(func(f *axis.Frame) { sent = append(sent, *f) })
	require.NoError(t, m.ResetFor(2))
	send(t, src, frames(rand.New(rand.NewPCG(5, 5)), 30, func() uint64 { return 0 }))
	require.NoError(t, m.Run(2000, func() bool { return snk.Len() == 30 }))
	for i := range sent {
		got, _ := snk.Recv()
		require.Equal(t, sent[i].First, got.First, "frame %d", i)
		require.Equal(t, sent[i].Last, got.Last, "frame %d", i)
	}
}

// fairness counts, for each port whose frame was offered and has not begun, the frames of each other port that began.
type fairness struct {
	worst int
	ends  uint64
}

func newFairness(t *testing.T, m *sim.Model, ports int) *fairness {
	t.Helper()
	pin := func(name string) *sim.Port {
		p, err := m.Port(name)
		require.NoError(t, err)
		return p
	}
	w := &fairness{}
	rst := pin("rst")
	var valid, ready, last []*sim.Port
	for i := range ports {
		valid = append(valid, pin(fmt.Sprintf("s_a%d_tvalid", i)))
		ready = append(ready, pin(fmt.Sprintf("s_a%d_tready", i)))
		last = append(last, pin(fmt.Sprintf("s_a%d_tlast", i)))
	}
	mv, mr, ml, mu := pin("m_arb_tvalid"), pin("m_arb_tready"), pin("m_arb_tlast"), pin("m_arb_tuser")
	monValid, monPort := pin("mon_valid"), pin("mon_port")
	inFrame, seen := make([]bool, ports), make([]bool, ports) // of the port's input: between its beats; its first beat was offered
	offered, begun := make([]int, ports), make([]int, ports)
	passed := make([][]int, ports)
	for i := range passed {
		passed[i] = make([]int, ports)
	}
	outFrame := false
	m.OnSample(func() {
		if rst.Bool() {
			return
		}
		end := mv.Bool() && mr.Bool() && ml.Bool()
		port := int(mu.Uint64() >> 1)
		if monValid.Bool() != end || (end && int(monPort.Uint64()) != port) {
			m.Fail(fmt.Errorf("mon_valid %t, mon_port %d in cycle %d; a frame's end passes: %t, of port %d", monValid.Bool(), monPort.Uint64(), m.Now(), end, port))
			return
		}
		if end {
			w.ends++
		}
		if mv.Bool() && mr.Bool() {
			if !outFrame {
				begun[port]++
				clear(passed[port])
				for i := range ports {
					if i != port && offered[i] > begun[i] { // offered in an earlier cycle, not begun
						passed[i][port]++
						w.worst = max(w.worst, passed[i][port])
					}
				}
			}
			outFrame = !end
		}
		for i := range ports {
			if valid[i].Bool() {
				if !inFrame[i] && !seen[i] {
					offered[i]++
					seen[i] = true
				}
				if ready[i].Bool() {
					inFrame[i], seen[i] = !last[i].Bool(), false
				}
			}
		}
	})
	return w
}

// TestDemux: every frame to its port, whole and in order; those for a port that does not exist are swallowed.
func TestDemux(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	const ports = 3
	for _, p := range pauses {
		for seed := range uint64(3) {
			m := start(t, lib, seed)
			src := source(t, m, "s_dem", p.in(seed))
			var sent []axis.Frame
			src.OnSent(func(f *axis.Frame) { sent = append(sent, *f) })
			var snk [ports]*axis.Sink
			for i := range snk {
				snk[i] = sink(t, m, fmt.Sprintf("m_d%d", i), p.back(seed*10+uint64(i)))
			}
			require.NoError(t, m.ResetFor(2))
			r := rand.New(rand.NewPCG(seed, 3))
			all := frames(r, 100, func() uint64 { return r.Uint64N(8) })
			send(t, src, all)
			require.NoError(t, m.Run(20000, func() bool { return src.Pending() == 0 }))
			for range 200 { // what waits in the skids
				require.NoError(t, m.Tick())
			}
			swallowed := 0
			for i, f := range sent {
				port := int(f.User >> 1)
				if port == ports {
					swallowed++
					continue
				}
				got, ok := snk[port].Recv()
				require.True(t, ok, "%s, seed %d, frame %d to port %d is missing", p.name, seed, i, port)
				require.Equal(t, all[i].Data, got.Data, "%s, seed %d, frame %d to port %d", p.name, seed, i, port)
				require.Equal(t, f.User&1, got.User, "err")
				if p.name == "neither" || p.name == "idle" {
					require.Equal(t, f.First, got.First, "latency 0 while nothing waits")
					require.Equal(t, f.Last, got.Last)
				}
			}
			require.Positive(t, swallowed)
			for i := range snk {
				require.Zero(t, snk[i].Len(), "port %d got a frame too many", i)
			}
			if p.name == "neither" {
				require.Equal(t, uint64(beats(all)), sent[len(sent)-1].Last-sent[0].First+1, "a beat a cycle")
			}
		}
	}
}

// TestDemuxBlocks: a port that does not take its beat stops the stream one beat later, for all ports.
func TestDemuxBlocks(t *testing.T) {
	t.Parallel()
	m := start(t, compile(t), 8)
	src := source(t, m, "s_dem", nil)
	stuck, free := sink(t, m, "m_d0", axis.Always()), sink(t, m, "m_d1", nil)
	require.NoError(t, m.ResetFor(2))
	frame := func(port uint64) axis.Frame {
		return axis.Frame{Data: []byte{byte(port)}, User: port << 1, FirstUser: port << 1}
	}
	send(t, src, []axis.Frame{frame(1), frame(0), frame(1), frame(0), frame(1)})
	for range 50 {
		require.NoError(t, m.Tick())
	}
	require.Equal(t, uint64(3), src.Frames(), "the second frame for port 0 waits, and the one behind it")
	require.Equal(t, uint64(2), free.Frames())
	require.Zero(t, stuck.Frames())
	stuck.SetPause(nil)
	require.NoError(t, m.Run(50, func() bool { return stuck.Frames() == 2 && free.Frames() == 3 }))
}
