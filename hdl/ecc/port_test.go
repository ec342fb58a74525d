// SPDX-License-Identifier: Apache-2.0

package ecc_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/hdl/cdc"
	"incforge/hdl/ecc"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/stream"
	"incforge/hdl/thread"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

func TestPortDescriptions(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{ecc.PortMemory{In: "inc_ram_1r1w", Words: 16, Bits: 68, AddrW: 4}, ecc.PortMemory{In: "inc_ram_1r1w", Words: 4, Bits: 18, AddrW: 2}}, nil)
	hdltest.Check(t, []graph.Describer{ecc.PortMemory{In: "inc_ram_2c", Words: 16, Bits: 519, AddrW: 4}}, nil)
	hdltest.Check(t, []graph.Describer{ecc.Leave{}}, nil)
	hdltest.Check(t, []graph.Describer{cdc.Errors{}}, nil)
	regs := ecc.PortRegs{AxilW: 16, Ports: 32}.At(contract.PortMemoryBase)
	many := regs
	many.Ports = 33
	hdltest.Check(t, []graph.Describer{regs, ecc.PortRegs{AxilW: 22, Page: 1, Ports: 1}}, []hdltest.Refused{
		{Leaf: many, Params: []graph.Param{{Name: "PORTS", Value: 33}}, Rule: "PORTS must be 1 to 32"}})
	_, err := ecc.PortMemory{In: "inc_ram_1rw", Words: 2, Bits: 18, AddrW: 1}.Module()
	require.ErrorContains(t, err, `no memory of a port's queue with check bits for "inc_ram_1rw"`)
}

// hitting inverts bits of a memory's words as they are written: 40 of the words that begin with 16 bits of the pins, and 41 too if they say two.
func hitting(m *graph.Module) (*graph.Module, error) {
	pins := []thread.Signal{{Name: "pins", Width: 18}}
	return thread.Through(m, thread.Spec{Signals: pins, End: func(_, m *graph.Module) (*graph.Module, error) {
		if m.Name != "inc_ram_1r1w" && m.Name != "inc_ram_2c" {
			return nil, nil
		}
		out, err := thread.Ended(m, pins)
		if err != nil {
			return nil, err
		}
		out.Source = bytes.Replace(out.Source, []byte("    wire unused_pins = &{1'b0, pins};\n"), []byte(`    wire [BITS-1:0] one = 1;
    wire [BITS-1:0] hit = wdata[15:0] == pins[15:0] ? ({BITS{pins[16]}} & (one << 40)) | ({BITS{pins[17]}} & (one << 41)) : {BITS{1'b0}};
`), 1)
		out.Source = bytes.ReplaceAll(out.Source, []byte("<= wdata;"), []byte("<= wdata ^ hit;"))
		return out, nil
	}})
}

// portFiles are the files of the bench, its queues with check bits and memories that can be hit.
func portFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	written := map[string][]byte{}
	var write func(m *graph.Module)
	write = func(m *graph.Module) {
		if old, ok := written[m.Name]; ok {
			require.Equal(t, string(old), string(m.Source), m.Name)
			return
		}
		written[m.Name] = m.Source
		files = append(files, filepath.Join(dir, m.Name+".v"))
		require.NoError(t, os.WriteFile(files[len(files)-1], m.Source, 0o644))
		for _, sub := range m.Submodules {
			write(sub)
		}
	}
	for _, c := range []struct {
		d           graph.Describer
		write, read string
	}{
		{stream.PortRx{PortBytes: 4, Bytes: 8, DepthW: 5, MaxBytes: 128, Stall: 4096}, "clk", "clk"},
		{stream.PortTx{PortBytes: 4, Bytes: 8, DepthW: 5}, "clk", "clk"},
		{cdc.PortRx{PortBytes: 8, Bytes: 8, DepthW: 5, MaxBytes: 128, Stall: 4096}, "port_clk", "clk"},
		{cdc.PortTxCut{PortBytes: 8, Bytes: 8, DepthW: 5, MaxBytes: 128, Start: 8}, "clk", "port_clk"},
	} {
		m, err := c.d.Module()
		require.NoError(t, err)
		m, err = ecc.ProtectQueue(m, c.write, c.read)
		require.NoError(t, err)
		m, err = hitting(m)
		require.NoError(t, err)
		write(m)
	}
	for _, d := range []graph.Describer{ecc.Leave{}, cdc.Errors{}, ecc.PortRegs{AxilW: 16, Page: 74, Ports: 2}} {
		m, err := d.Module()
		require.NoError(t, err)
		write(m)
	}
	return append(files, "testdata/t_port.v")
}

// TestPortQueues sends frames through the queues of two ports, of which words of one frame each are hit in one queue each, by one bit or two. With one every
// frame leaves as it came; with two every frame has its length, and the one that was hit, and no other, has err. What was read so is counted at its port.
func TestPortQueues(t *testing.T) {
	t.Parallel()
	lib, err := sim.Build{Top: "t_port", Brief: true, Files: portFiles(t, t.TempDir()), Flags: []string{"-Wno-PINCONNECTEMPTY"}}.Compile(testcost.Context(t))
	require.NoError(t, err)
	for seed := range uint64(3) {
		m, err := lib.New(sim.Options{Random: true, Seed: seed})
		require.NoError(t, err)
		b := &portBench{Model: m, rnd: rand.New(rand.NewPCG(seed, 1))}
		b.run(t)
		m.Close()
	}
}

type portBench struct {
	*sim.Model
	rnd  *rand.Rand
	next uint16
	sent [2][][]byte
	bad  [2]map[uint16]bool // frames that must leave with err
	left [2]int
}

func (b *portBench) run(t *testing.T) {
	clk, err := b.AddClock("clk_b", sim.ClockOptions{MHz: 70 + 60*b.rnd.Float64()})
	require.NoError(t, err)
	bus, err := axil.New(b.Model, "s_axil")
	require.NoError(t, err)
	var src [2]*axis.Source
	var snk [2]*axis.Sink
	src[0], err = axis.NewSource(b.Model, "s_a")
	require.NoError(t, err)
	snk[0], err = axis.NewSink(b.Model, "m_a")
	require.NoError(t, err)
	src[1], err = axis.NewSourceOn(clk, "s_b")
	require.NoError(t, err)
	snk[1], err = axis.NewSinkOn(clk, "m_b")
	require.NoError(t, err)
	hits, err := b.Port("hits")
	require.NoError(t, err)
	for p := range snk {
		snk[p].SetPause(func() bool { return b.rnd.IntN(3) == 0 })
		snk[p].OnFrame(func(f *axis.Frame) { b.leaves(t, p, f) })
	}
	require.NoError(t, b.ResetFor(3))
	var corrected, lost [2]uint32
	for range 60 {
		pins := make([]byte, 9)
		ids := [4]uint16{}
		two := b.rnd.IntN(2)
		for p := range src {
			b.sent[p], b.left[p], b.bad[p] = nil, 0, map[uint16]bool{}
			words := [6]uint32{}
			for i := range words {
				f := make([]byte, 8+b.rnd.IntN(112))
				words[i] = uint32(len(f)+7) / 8
				b.next++
				for at := range f {
					f[at] = byte(b.rnd.Uint32())
					if at%8 == 0 {
						f[at] = byte(b.next)
					} else if at%8 == 1 {
						f[at] = byte(b.next >> 8)
					}
				}
				if len(f)%8 == 1 { // its last word would have another name
					f = append(f, byte(b.next>>8))
				}
				b.sent[p] = append(b.sent[p], f)
				require.NoError(t, src[p].SendBytes(f, 0))
			}
			for q := range 2 { // one in the queue in, another in the queue out
				i := 3*q + b.rnd.IntN(3)
				id := binary.LittleEndian.Uint16(b.sent[p][i])
				ids[2*p+q] = id
				if two != 0 {
					b.bad[p][id] = true
					lost[p] += words[i]
				} else {
					corrected[p] += words[i]
				}
			}
		}
		for i, id := range ids {
			for bit, v := 0, uint32(id)|1<<16|uint32(two)<<17; bit < 18; bit++ {
				if v>>bit&1 != 0 {
					pins[(18*i+bit)/8] |= 1 << ((18*i + bit) % 8)
				}
			}
		}
		hits.Set(pins)
		require.NoError(t, b.Model.Run(3000, func() bool { return b.left[0] == 6 && b.left[1] == 6 }))
	}
	require.NoError(t, b.Cycles(20))
	for p := range src {
		for k, want := range []uint32{corrected[p], lost[p]} {
			got, err := bus.ReadReg(uint64(contract.PortMemoryBase + contract.PortStride*k + 4*p))
			require.NoError(t, err)
			// a word of either queue in one cycle is one
			assert.LessOrEqual(t, got, want, "port %d, counter %d", p, k)
			assert.Greater(t, got, want*9/10, "port %d, counter %d", p, k)
		}
	}
	for _, at := range []uint64{contract.PortMemoryBase + 8, contract.PortMemoryBase + contract.PortStride + 8, 0x40} {
		_, err := bus.ReadReg(at)
		require.Error(t, err, "%#x is no register", at)
	}
}

// leaves compares a frame that left with what it must be.
func (b *portBench) leaves(t *testing.T, p int, f *axis.Frame) {
	want := b.sent[p][b.left[p]]
	bad := b.bad[p][binary.LittleEndian.Uint16(want)]
	require.Equal(t, bad, f.User&1 != 0, "port %d, frame %d", p, b.left[p])
	require.Len(t, f.Data, len(want))
	if !bad {
		require.True(t, bytes.Equal(want, f.Data), "port %d, frame %d", p, b.left[p])
	}
	b.left[p]++
}
