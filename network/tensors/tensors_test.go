// SPDX-License-Identifier: Apache-2.0

package tensors

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/clocked"
	"incforge/internal/synthetic"
	"incforge/network/comm"
	"incforge/network/topology"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// file is safetensors text with this header and so many bytes of data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestParse(t *testing.T) {
	b := file(`{"b":{"dtype":"I32","shape":[2,1],"data_offsets":[4,12]},"__metadata__":{"format":"pt"},
		"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"none":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},
		"one":{"dtype":"F32","shape":[],"data_offsets":[12,16]}}   `, 16)
	b[len(b)-16] = 7
	f, err := Parse(b)
	require.NoError(t, err)
	want := File{{"a", "BF16", []int{2}, []byte{7, 0, 0, 0}}, {"none", "F32", []int{0, 3}, []byte{}},
		{"b", "I32", []int{2, 1}, make([]byte, 8)}, {"one", "F32", []int{}, make([]byte, 4)}}
	assert.Empty(t, cmp.Diff(want, f))

	back, err := f.Append(nil)
	require.NoError(t, err)
	assert.Zero(t, binary.LittleEndian.Uint64(back)%8)
	again, err := Parse(back)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(f, again))
}

func TestParseRefuses(t *testing.T) {
	one := func(s string) string { return `{"a":` + s + `}` }
	for want, b := range map[string][]byte{
		"3 bytes":               {1, 2, 3},
		"a header of":           binary.LittleEndian.AppendUint64(nil, 9),
		"a header of 184467":    binary.LittleEndian.AppendUint64(nil, 1<<64-1),
		"the header":            file("[]", 0),
		"__metadata__":          file(`{"__metadata__":{"a":1}}`, 0),
		"unknown type":          file(one(`{"dtype":"F12","shape":[1],"data_offsets":[0,1]}`), 1),
		"unknown field":         file(one(`{"dtype":"F32","shape":[1],"offsets":[0,4]}`), 4),
		"offsets 0 to 8":        file(one(`{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`), 4),
		"offsets 4 to 0":        file(one(`{"dtype":"F32","shape":[1],"data_offsets":[4,0]}`), 4),
		"offsets -4 to 0":       file(one(`{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}`), 4),
		"shape [-1]":            file(one(`{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}`), 4),
		"shape [9223372036854":  file(one(`{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,4]}`), 4),
		"[2] of F32 are 8":      file(one(`{"dtype":"F32","shape":[2],"data_offsets":[0,4]}`), 4),
		"the tensors have 4":    file(one(`{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`), 5),
		"begins at 1":           file(one(`{"dtype":"F32","shape":[1],"data_offsets":[1,5]}`), 5),
		"the one before it end": file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3),
	} {
		_, err := Parse(b)
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, want)
	}
}

// save writes a file of the test's folder.
func save(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, b, 0o644))
	return path
}

// floats are n FP32 elements between 1 and 4.
func floats(seed uint64, n int) []byte {
	return arith.Kind{}.Smooth(rand.New(rand.NewPCG(seed, 1)), 4*n)
}

func run(t *testing.T, tree topology.Tree, o Options) Report {
	t.Helper()
	p := synthetic.Full()
	m := synthetic.Manifest(p)
	w, err := comm.New(comm.Config{Manifest: m, Tree: tree, Seed: 1, Switch: func(int) (dut.DUT, error) { return dut.NewReference(m) }})
	require.NoError(t, err)
	g, err := w.NewGroup(comm.GroupConfig{})
	require.NoError(t, err)
	in, err := Load(o, g.Ranks())
	require.NoError(t, err)
	o.Clock = clocked.Clock{AskedMHz: float64(p.ClockMHz), FoundMHz: 100}
	rep, err := Run(context.Background(), w, g, in, o)
	require.NoError(t, err)
	return rep
}

// TestFileARank: a file a rank; results have the inputs' names and shapes, and what is in them is the sum.
func TestFileARank(t *testing.T) {
	dir := t.TempDir()
	want := make([]float64, 30)
	for r := range 4 {
		f := File{{"w", "F32", []int{5, 6}, floats(uint64(r), 30)}, {"n", "I32", []int{3}, []byte{byte(r), 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 1, 1}}}
		for i := range want {
			want[i] += arith.Kind{}.Number(f[0].Data, i)
		}
		b, err := f.Append(nil)
		require.NoError(t, err)
		save(t, dir, fmt.Sprintf("in-%d.safetensors", r), b)
	}
	rep := run(t, topology.Tree{Levels: 3, Degree: 2}, Options{Call: comm.AllReduce, Inputs: []string{filepath.Join(dir, "in-*")}, Output: filepath.Join(dir, "out")})
	require.True(t, rep.Passed())
	require.Len(t, rep.Rows, 2)
	require.Len(t, rep.Outputs, 4)
	assert.Equal(t, 120, rep.Rows[0].Bytes)
	row := rep.Rows[0]
	assert.Positive(t, row.BitsPerCycle)
	assert.InDelta(t, row.BitsPerCycle/10, row.Gbps, 1e-9, "at 100 MHz")
	assert.InDelta(t, float64(10*row.Cycles), row.NS, 1e-9)
	assert.Less(t, rep.Rows[0].MaxULP, 4.0)
	assert.Zero(t, rep.Rows[1].MaxAbs)
	for _, name := range rep.Outputs {
		f, err := Read(name, arith.FP32)
		require.NoError(t, err)
		require.Equal(t, []int{5, 6}, f[0].Shape)
		for i := range want {
			assert.InEpsilon(t, want[i], arith.Kind{}.Number(f[0].Data, i), 1e-6)
		}
		assert.Equal(t, []byte{6, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4}, f[1].Data)
	}
}

// TestOneFile: one raw file for all ranks, in all ways.
func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	b := floats(1, 41)
	in := save(t, dir, "x.bin", b)
	for _, one := range []One{Perturb, Cut, Same} {
		o := Options{Call: comm.AllGather, Inputs: []string{in}, One: one, Output: filepath.Join(dir, string(one))}
		rep := run(t, topology.Tree{Levels: 2, Degree: 4}, o)
		require.True(t, rep.Passed())
		got, err := os.ReadFile(filepath.Join(o.Output, "rank-3.bin"))
		require.NoError(t, err)
		switch one {
		case Same:
			assert.Equal(t, append(append(append(append([]byte(nil), b...), b...), b...), b...), got)
		case Cut:
			assert.Equal(t, b[:160], got)
		case Perturb:
			require.Len(t, got, 4*len(b))
			assert.Equal(t, b, got[:len(b)])
			assert.NotEqual(t, b, got[len(b):2*len(b)])
			for i := range 41 {
				assert.InEpsilon(t, arith.Kind{}.Number(b, i), arith.Kind{}.Number(got, 41+i), 0.0101)
			}
		}
	}
}

// TestCalls: roots, pieces, and who gets nothing writes nothing.
func TestCalls(t *testing.T) {
	dir := t.TempDir()
	in := save(t, dir, "x.bin", floats(1, 50))
	o := Options{Call: comm.Reduce, Root: 2, Op: arith.Max, Inputs: []string{in}, One: Same, Output: filepath.Join(dir, "reduce")}
	rep := run(t, topology.Tree{Levels: 2, Degree: 4}, o)
	require.True(t, rep.Passed())
	assert.Equal(t, []string{filepath.Join(o.Output, "rank-2.bin")}, rep.Outputs)
	assert.Equal(t, "MAX", rep.Op)
	assert.Equal(t, 2, *rep.Root)

	o = Options{Call: comm.ReduceScatter, Inputs: []string{in}, One: Same, Output: filepath.Join(dir, "scatter")}
	rep = run(t, topology.Tree{Levels: 2, Degree: 4}, o)
	require.True(t, rep.Passed())
	total := 0
	for _, name := range rep.Outputs {
		info, err := os.Stat(name)
		require.NoError(t, err)
		total += int(info.Size())
	}
	assert.Equal(t, 200, total)

	rep = run(t, topology.Tree{Levels: 2, Degree: 4}, Options{Call: comm.Barrier})
	assert.True(t, rep.Passed())
	assert.Zero(t, rep.Total.Bytes)
	assert.Positive(t, rep.Total.Cycles)
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	st := func(name, typ string, bytes int) string {
		n := typeBytes(typ)
		b, err := File{{"t", typ, []int{bytes / n}, make([]byte, bytes)}}.Append(nil)
		require.NoError(t, err)
		return save(t, dir, name+extension, b)
	}
	a, b, c, d := st("a", "F32", 8), st("b", "F32", 12), st("c", "I64", 8), st("d", "I32", 8)
	odd := save(t, dir, "odd.bin", make([]byte, 7))
	for _, x := range []struct {
		o    Options
		want string
	}{
		{Options{}, "0 input files"},
		{Options{Inputs: []string{filepath.Join(dir, "no")}}, "no such file"},
		{Options{Inputs: []string{"["}}, "syntax error"},
		{Options{Inputs: []string{a, a, a}}, "3 input files, 2 ranks"},
		{Options{Inputs: []string{a, b}}, "12 bytes of F32"},
		{Options{Inputs: []string{a, d}}, "8 bytes of I32"},
		{Options{Inputs: []string{c, c}}, "is of I64"},
		{Options{Inputs: []string{odd}}, "no whole elements"},
		{Options{Inputs: []string{a}, One: "half"}, "no way to share"},
		{Options{Inputs: []string{a}, Tensor: "x*"}, "no tensor has a name"},
		{Options{Inputs: []string{a}, Tensor: "["}, "syntax error"},
	} {
		_, err := Load(x.o, 2)
		require.ErrorContains(t, err, x.want)
	}
	in, err := Load(Options{Inputs: []string{a}, One: Same, Tensor: "t"}, 2)
	require.NoError(t, err)
	dtype, err := in.DType()
	require.NoError(t, err)
	assert.Equal(t, arith.FP32, dtype)
}

// FuzzParse: whatever the bytes are, Parse does not panic, and what it takes is the same after writing and reading it again.
func FuzzParse(f *testing.F) {
	f.Add(file(`{"b":{"dtype":"I32","shape":[2,1],"data_offsets":[4,12]},"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 12))
	f.Add(file(`{"__metadata__":{"x":"y"},"":{"dtype":"U8","shape":[0,9999999999],"data_offsets":[0,0]}}`, 0))
	f.Add(file(`{"a":null}`, 0))
	f.Add(file(`null`, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		text, err := got.Append(nil)
		require.NoError(t, err)
		again, err := Parse(text)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(got, again, cmpopts.EquateEmpty()))
	})
}
