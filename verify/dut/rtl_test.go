// SPDX-License-Identifier: Apache-2.0

package dut_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/sim"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

func loop(t *testing.T, seed uint64, waves string, plusArgs ...string) *dut.RTL {
	t.Helper()
	lib, err := sim.Build{Top: "loop_switch", Files: []string{filepath.Join("testdata", "loop_switch.v")}, Trace: waves != ""}.Compile(context.Background())
	require.NoError(t, err)
	m := &contract.Manifest{Params: contract.Params{Ports: 2, BusBytes: 4, MTUBytes: 256}, Clock: contract.Clock{Port: "clk", Reset: "rst", MHz: 250}}
	d, err := dut.NewRTL(lib, m, false, sim.Options{Random: true, Seed: seed, WavePath: waves, PlusArgs: plusArgs})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func TestRTLPassesFramesInTheOrderItTells(t *testing.T) {
	d := loop(t, 1, "")
	r := rand.New(rand.NewPCG(1, 2))
	var want [2][]dut.Frame
	for _, p := range []dut.Pauses{{}, {Seed: 5, In: 0.3, Ready: 0.5, Registers: 0.3, Burst: 4}} {
		d.SetPauses(p)
		for range 50 {
			port := r.IntN(2)
			f := dut.Frame{Data: make([]byte, 1+r.IntN(40)), Err: r.IntN(4) == 0, First: d.Now() + uint64(r.IntN(300))}
			for i := range f.Data {
				f.Data[i] = byte(r.Uint32())
			}
			want[port] = append(want[port], f)
			d.Offer(port, f)
		}
		assert.Equal(t, 50, d.Waiting())
		assert.Zero(t, d.Still())
		var accepted []dut.Frame
		var outs []dut.Frame
		for d.Still() < 50 {
			require.NoError(t, d.StepTo(d.Now()+10))
			accepted = append(accepted, d.Accepted()...)
			outs = append(outs, d.Out()...)
		}
		require.Len(t, accepted, 50)
		require.Len(t, outs, 50)
		var in, out [2]int
		for i, a := range accepted {
			w := want[a.Port][in[a.Port]]
			in[a.Port]++
			assert.True(t, bytes.Equal(w.Data, a.Data) && w.Err == a.Err)
			assert.GreaterOrEqual(t, a.First, w.First)
			assert.GreaterOrEqual(t, a.Last, a.First)
			if i > 0 {
				assert.Greater(t, a.Last, accepted[i-1].Last)
			}
		}
		for _, o := range outs {
			w := want[o.Port][out[o.Port]]
			out[o.Port]++
			assert.True(t, bytes.Equal(w.Data, o.Data) && w.Err == o.Err)
		}
		want = [2][]dut.Frame{}
	}
	n, err := d.Read(8)
	require.NoError(t, err)
	assert.EqualValues(t, 100, n)
}

// TestRTLKeepsWhatItFinds: what the harness itself finds wrong in the middle of a step ends the run, as what a protocol checker finds does.
func TestRTLKeepsWhatItFinds(t *testing.T) {
	d := loop(t, 4, "", "lie=1")
	d.Offer(0, dut.Frame{Data: make([]byte, 20)})
	require.ErrorContains(t, d.StepTo(d.Now()+100), "mon_port reports port 1")
	require.Error(t, d.StepTo(d.Now()+100), "and it stays so")
}

func TestRTLRegistersResetAndSkippedTime(t *testing.T) {
	d := loop(t, 2, "")
	require.NoError(t, d.Write(0, 0xCAFE, ctrl.AllBytes))
	v, err := d.Read(0)
	require.NoError(t, err)
	assert.EqualValues(t, 0xCAFE, v)
	_, err = d.Read(0x40)
	require.Error(t, err)
	require.Error(t, d.Write(0x40, 1, ctrl.AllBytes))

	now := d.Now()
	d.SkipTo(now + 5000)
	assert.Equal(t, now+5000, d.Now())
	d.Offer(1, dut.Frame{Data: make([]byte, 400), First: d.Now() + 20})
	require.NoError(t, d.StepTo(now+5060))
	require.NoError(t, d.Reset(), "in the middle of the frame")
	assert.Empty(t, d.Out())
	assert.Equal(t, 1, d.Waiting(), "the source begins the frame again")
	require.NoError(t, d.StepTo(d.Now()+200))
	outs := d.Out()
	require.Len(t, outs, 1)
	assert.Len(t, outs[0].Data, 400)
	assert.Greater(t, outs[0].First, now+5060)
	v, err = d.Read(0)
	require.NoError(t, err)
	assert.EqualValues(t, contract.DefaultIPID, v)
}

func TestRTLWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loop.fst")
	d := loop(t, 3, file)
	d.Offer(0, dut.Frame{Data: make([]byte, 8)})
	require.NoError(t, d.StepTo(d.Now()+50))
	require.NoError(t, d.Close())
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Positive(t, info.Size())
}

func TestResetInAnAccess(t *testing.T) {
	d := loop(t, 1, "")
	before, after := false, false // that the access was begun once more, and that it was over
	for cycles := range uint64(8) {
		d.SetPauses(dut.Pauses{})
		require.NoError(t, d.Write(0, 5, ctrl.AllBytes))
		again, err := d.ResetIn(dut.Access{Addr: 4, Write: true, Value: 9}, cycles)
		require.NoError(t, err)
		v, err := d.Read(0)
		require.NoError(t, err)
		assert.EqualValues(t, 0x1111, v, "written before the reset")
		v, err = d.Read(4)
		require.NoError(t, err)
		before, after = before || again, after || !again
		assert.Equal(t, again, v == 9, "written after the reset if the access was begun once more")
		_, err = d.ResetIn(dut.Access{Addr: 12}, cycles)
		assert.ErrorIs(t, err, dut.ErrRefused, "nothing is there")
	}
	assert.True(t, before && after, "a reset amid an access, and one behind it")
}
