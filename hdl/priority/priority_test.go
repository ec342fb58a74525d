// SPDX-License-Identifier: Apache-2.0

package priority_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/priority"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

func TestDescriptions(t *testing.T) {
	t.Parallel()
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	const width, number = "WIDTH must be 1 to 3", "PRIORITIES must be 2 to 8"
	for name, x := range map[string]struct {
		legal   []graph.Describer
		refused []hdltest.Refused
	}{
		"regs": {[]graph.Describer{priority.At(16, contract.PriorityBase, 1), priority.At(22, contract.PriorityBase, 3)}, []hdltest.Refused{
			{Leaf: priority.Regs{AxilW: 16, Page: 38, Width: 4}, Params: param("WIDTH", 4), Rule: width},
			{Leaf: priority.Regs{AxilW: 15, Page: 38, Width: 1}, Params: param("AXIL_W", 15), Rule: "AXIL_W must be 16 to 22"},
			{Leaf: priority.Regs{AxilW: 16, Page: 128, Width: 1}, Params: param("PAGE", 128), Rule: "PAGE must be one of the pages of AXIL_W bits"}}},
		"class": {[]graph.Describer{priority.Class{Bytes: 8, Width: 1}, priority.Class{Bytes: 64, Width: 3, Err: 1}}, []hdltest.Refused{
			{Leaf: priority.Class{Bytes: 12, Width: 1}, Params: param("BYTES", 12), Rule: "BYTES must be a power of two, at least 8"},
			{Leaf: priority.Class{Bytes: 8, Width: 4}, Params: param("WIDTH", 4), Rule: width},
			{Leaf: priority.Class{Bytes: 8, Width: 1, Err: 2}, Params: param("ERR", 2), Rule: "ERR must be 0 or 1"}}},
		"pick": {[]graph.Describer{priority.Pick{Bytes: 1, Priorities: 2}, priority.Pick{Bytes: 8, Priorities: 8, Err: 1}}, []hdltest.Refused{
			{Leaf: priority.Pick{Priorities: 2}, Params: param("BYTES", 0), Rule: "BYTES must be at least 1"},
			{Leaf: priority.Pick{Bytes: 1, Priorities: 9}, Params: param("PRIORITIES", 9), Rule: number},
			{Leaf: priority.Pick{Bytes: 1, Priorities: 2, Err: 2}, Params: param("ERR", 2), Rule: "ERR must be 0 or 1"}}},
		"count": {[]graph.Describer{priority.Count{Priorities: 2}, priority.Count{Priorities: 8}}, []hdltest.Refused{
			{Leaf: priority.Count{Priorities: 1}, Params: param("PRIORITIES", 1), Rule: number}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hdltest.Check(t, x.legal, x.refused)
		})
	}
}

// table is the test's own rule of priorities.
type table struct{ dscp, pcp []int }

func (x table) of(f []byte) int {
	switch {
	case len(f) < 16:
	case f[12] == 0x81 && f[13] == 0:
		return x.pcp[f[14]>>5]
	case f[12] == 8 && f[13] == 0 && f[14]>>4 == 4:
		return x.dscp[f[15]>>2]
	}
	return x.pcp[0]
}

// TestPriorities sends frames of all kinds and lengths through a port's queues, with pauses a priority that come and go: each leaves once, in the order of
// its priority, or was counted as without room; none begins while its priority is paused; of frames that wait the highest leave first; none has a gap.
func TestPriorities(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{8, 32} {
		t.Run(fmt.Sprintf("%d bytes", bytes), func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob("*.v")
			require.NoError(t, err)
			for _, name := range []string{"page/inc_page", "stream/inc_fifo", "stream/inc_port_tx", "stream/inc_port_put", "stream/inc_port_send", "ram/inc_mem_port", "ram/inc_ram_1r1w"} {
				files = append(files, "../"+name+".v")
			}
			lib, err := sim.Build{Top: "t_priority", Brief: true, Files: append(files, "testdata/t_priority.v"), Params: map[string]string{"BYTES": fmt.Sprint(bytes)},
				Flags: []string{"-Wno-PINCONNECTEMPTY"}}.Compile(testcost.Context(t))
			require.NoError(t, err)
			for seed := range uint64(4) {
				run(t, lib, seed)
			}
			latencies(t, lib, bytes)
		})
	}
}

func run(t *testing.T, lib *sim.Lib, seed uint64) {
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	require.NoError(t, err)
	defer m.Close()
	rnd := rand.New(rand.NewPCG(seed, 5))
	bus, err := axil.New(m, "s_axil")
	require.NoError(t, err)
	src, err := axis.NewSource(m, "s_axis")
	require.NoError(t, err)
	snk, err := axis.NewSink(m, "m_axis")
	require.NoError(t, err)
	ports := map[string]*sim.Port{}
	for _, name := range []string{"pause", "count_frame", "count_full", "m_axis_tvalid", "m_axis_tlast", "wrong"} {
		ports[name], err = m.Port(name)
		require.NoError(t, err)
	}
	ports["pause"].SetUint64(0)
	require.NoError(t, m.ResetFor(3))
	x := program(t, bus, rnd)
	counts := map[string]int{}
	m.OnSample(func() {
		for _, name := range []string{"count_frame", "count_full"} {
			counts[name] += int(ports[name].Uint64())
		}
	})
	waiting := make([][][]byte, 4) // by priority, of those that may still come
	var came int
	inside := false
	m.OnSample(func() {
		if ports["wrong"].Bool() {
			m.Fail(fmt.Errorf("a beat left without its err"))
		}
		valid := ports["m_axis_tvalid"].Bool()
		if inside && !valid {
			m.Fail(fmt.Errorf("a gap in a frame"))
		}
		inside = valid && !ports["m_axis_tlast"].Bool() // the sink never pauses
	})
	snk.OnFrame(func(f *axis.Frame) {
		k := x.of(f.Data)
		at := slices.IndexFunc(waiting[k], func(w []byte) bool { return slices.Equal(w, f.Data) })
		if at < 0 {
			m.Fail(fmt.Errorf("a frame of priority %d left that was not due", k))
			return
		}
		waiting[k] = waiting[k][at+1:] // those before were dropped, and are counted
		came++
	})
	sent := 0
	for range 400 {
		f := frame(rnd)
		k := x.of(f)
		waiting[k] = append(waiting[k], f)
		require.NoError(t, src.SendBytes(f, 0))
		sent++
		if rnd.IntN(6) == 0 {
			ports["pause"].SetUint64(uint64(rnd.IntN(16)))
		}
		for range rnd.IntN(40) {
			require.NoError(t, m.Tick())
		}
	}
	ports["pause"].SetUint64(0)
	for range 6000 {
		require.NoError(t, m.Tick())
	}
	require.Equal(t, came, counts["count_frame"])
	require.Equal(t, sent, came+counts["count_full"])
	require.Positive(t, counts["count_full"])
	strict(t, m, src, snk, ports["pause"], x, rnd)
}

// strict lets one frame of each priority wait, frees all but one, and then that one: the highest leave first, and the one does not begin before.
func strict(t *testing.T, m *sim.Model, src *axis.Source, snk *axis.Sink, pause *sim.Port, x table, rnd *rand.Rand) {
	var order []int
	snk.OnFrame(func(f *axis.Frame) { order = append(order, x.of(f.Data)) })
	for held := range 4 {
		order = nil
		pause.SetUint64(15)
		for k := range 4 {
			f := frame(rnd)
			for x.of(f) != k {
				f = frame(rnd)
			}
			require.NoError(t, src.SendBytes(f, 0))
		}
		for range 400 {
			require.NoError(t, m.Tick())
		}
		require.Empty(t, order, "all are paused")
		pause.SetUint64(1 << held)
		for range 400 {
			require.NoError(t, m.Tick())
		}
		pause.SetUint64(0)
		for range 400 {
			require.NoError(t, m.Tick())
		}
		want := append(slices.DeleteFunc([]int{3, 2, 1, 0}, func(k int) bool { return k == held }), held)
		assert.Equal(t, want, order)
	}
}

// latencies holds what a lone frame takes from its last beat in to its first out: the queue's 3 cycles, none to be picked, and before them the class's. That holds
// beats back until the 16th byte is there and then lets one through a cycle, the last one as late as the first was. It counts as sent 2 cycles behind its last beat: one of
// the queue's, one until the counter's line is high.
func latencies(t *testing.T, lib *sim.Lib, bytes int) {
	m, err := lib.New(sim.Options{Random: true, Seed: 9})
	require.NoError(t, err)
	defer m.Close()
	src, err := axis.NewSource(m, "s_axis")
	require.NoError(t, err)
	snk, err := axis.NewSink(m, "m_axis")
	require.NoError(t, err)
	count, err := m.Port("count_frame")
	require.NoError(t, err)
	pause, err := m.Port("pause")
	require.NoError(t, err)
	pause.SetUint64(0)
	var sent, first, last, counted uint64
	src.OnSent(func(f *axis.Frame) { sent = f.Last })
	snk.OnFrame(func(f *axis.Frame) { first, last = f.First, f.Last })
	m.OnSample(func() {
		if count.Bool() {
			counted = m.Now()
		}
	})
	require.NoError(t, m.ResetFor(3))
	for n := 1; n <= 120; n++ {
		sent, first, counted = 0, 0, 0
		require.NoError(t, src.SendBytes(make([]byte, n), 0))
		require.NoError(t, m.Run(400, func() bool { return first > 0 && counted > last }))
		class := uint64(1)
		if bytes == 8 && n > 8 { // the first beat waits for the second
			class = 2
		}
		require.Equal(t, sent+class+3, first, "%d bytes", n)
		require.Equal(t, last+2, counted, "%d bytes", n)
	}
}

// program writes the table so that every priority has entries, and reads it back; what is beside it is refused.
func program(t *testing.T, bus *axil.Master, rnd *rand.Rand) table {
	x := table{make([]int, 64), make([]int, 8)}
	for i := range contract.PriorityEntries {
		v := (i + rnd.IntN(2)) % 4
		require.NoError(t, bus.WriteReg(contract.PriorityBase+4*uint64(i), uint32(v)|rnd.Uint32()<<2))
		if i < 64 {
			x.dscp[i] = v
		} else {
			x.pcp[i-64] = v
		}
	}
	for i, want := range append(slices.Clone(x.dscp), x.pcp...) {
		got, err := bus.ReadReg(contract.PriorityBase + 4*uint64(i))
		require.NoError(t, err)
		require.Equal(t, uint32(want), got)
	}
	require.Error(t, bus.WriteReg(contract.PriorityBase+4*contract.PriorityEntries, 0))
	_, err := bus.ReadReg(contract.PriorityBase + 4*contract.PriorityEntries)
	require.Error(t, err)
	require.Error(t, bus.WriteReg(contract.PriorityBase-4, 0), "the slave behind it")
	return x
}

// frame is one of 1 to 120 bytes, of which every fourth ends within what says its priority or just behind it: with a tag, an IPv4 packet, of another IP version, or
// anything.
func frame(rnd *rand.Rand) []byte {
	f := make([]byte, 1+rnd.IntN(120))
	if rnd.IntN(4) == 0 {
		f = f[:min(len(f), 13+rnd.IntN(8))]
	}
	for i := range f {
		f[i] = byte(rnd.Uint32())
	}
	kind := [][]byte{{0x81, 0}, {8, 0, 0x45}, {8, 0, 0x65}, {0x88, 0xA8}, nil}[rnd.IntN(5)]
	if len(f) > 12 {
		copy(f[12:], kind)
	}
	return f
}
