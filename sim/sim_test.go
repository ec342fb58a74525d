// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/tool"
	"incforge/sim"
)

func counter() sim.Build {
	return sim.Build{Top: "counter", Files: []string{"testdata/counter.v"}}
}

func compile(t testing.TB, b sim.Build) *sim.Lib {
	t.Helper()
	lib, err := b.Compile(context.Background())
	require.NoError(t, err)
	return lib
}

func start(t testing.TB, lib *sim.Lib, o sim.Options) *sim.Model {
	t.Helper()
	m, err := lib.New(o)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// pins are the counter's ports.
type pins struct {
	Rst      *sim.Port `port:"rst,in,1"`
	Enable   *sim.Port `port:"enable,in"`
	Stop     *sim.Port `port:"stop,in,3"`
	WideIn   *sim.Port `port:"wide__in,100"`
	OddIn    *sim.Port `port:"odd_in,in,41"`
	Count    *sim.Port `port:"count,out,8"`
	NextZero *sim.Port `port:"next_zero,out,1"`
	WideOut  *sim.Port `port:"wide_out,out,100"`
	OddOut   *sim.Port `port:"odd_out"`
	Stale    *sim.Port `port:"stale,out,32"`
	other    int       // no tag: none of Bind's business
}

func bind(t testing.TB, m *sim.Model) *pins {
	t.Helper()
	var p pins
	p.other = 7
	require.NoError(t, m.Bind(&p))
	require.Equal(t, 7, p.other)
	return &p
}

func TestTimingRule(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	p := bind(t, m)
	require.NoError(t, m.ResetFor(1))
	p.Enable.SetBool(true)
	for i := range uint64(256) {
		require.NoError(t, m.Tick())
		// What the edge saw: the count before it, and a combinational output that
		// already follows the input driven after the edge before.
		assert.Equal(t, i, p.Count.Uint64())
		assert.Equal(t, i == 255, p.NextZero.Bool())
	}
	p.Enable.SetBool(false)
	require.NoError(t, m.Tick())
	assert.EqualValues(t, 0, p.Count.Uint64(), "wrapped")
	assert.EqualValues(t, 258, m.Now())

	require.NoError(t, m.Cycles(10))
	assert.EqualValues(t, 268, m.Now())
}

func TestPhases(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	var order []string
	m.OnDrive(func() { order = append(order, "drive") })
	m.OnReact(func() { order = append(order, "react") })
	m.OnSample(func() { order = append(order, "sample 1") })
	m.OnSample(func() { order = append(order, "sample 2") })
	m.OnDrive(func() {
		if m.Now() == 2 {
			assert.ErrorContains(t, m.Tick(), "Tick called from a callback")
		}
	})
	require.NoError(t, m.Tick())
	assert.Equal(t, []string{"sample 1", "sample 2", "react", "drive"}, order)
	assert.ErrorContains(t, m.Tick(), "Tick called from a callback")
	assert.ErrorContains(t, m.Cycles(1), "Tick called from a callback", "the first failure stays")
	assert.Equal(t, 1, m.Failures())
}

func TestPorts(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	p := bind(t, m)

	// 41 bits: one 64-bit word.
	p.OddIn.SetUint64(1<<41 - 1)
	// 100 bits: four 32-bit words.
	require.Len(t, p.WideIn.Words(), 4)
	require.Len(t, p.WideIn.Bytes(), 13)
	p.WideIn.Set([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xD})
	require.NoError(t, m.Tick())
	assert.EqualValues(t, 0, p.OddOut.Uint64(), "wraps at 41 bits")
	assert.Equal(t, []byte{0xFE, 0xFD, 0xFC, 0xFB, 0xFA, 0xF9, 0xF8, 0xF7, 0xF6, 0xF5, 0xF4, 0xF3, 2}, p.WideOut.Bytes())
	assert.Equal(t, "02f3f4f5f6f7f8f9fafbfcfdfe", p.WideOut.Hex())
	assert.Equal(t, uint32(0xFBFCFDFE), p.WideOut.Words()[0])
	assert.Equal(t, uint64(0xF7F8F9FAFBFCFDFE), p.WideOut.Uint64())

	// Bit fields, against shifting the whole value.
	whole := [2]uint64{0x0807060504030201, 0x0D0C0B0A09}
	for lo := range 100 {
		for width := 1; width <= 64 && lo+width <= 100; width++ {
			want := whole[lo/64] >> (lo % 64)
			if lo%64 != 0 && lo < 64 {
				want |= whole[1] << (64 - lo)
			}
			if width < 64 {
				want &= 1<<width - 1
			}
			require.Equal(t, want, p.WideIn.Bits(lo, width), "bits %d+:%d", lo, width)
		}
	}
	assert.Zero(t, p.WideIn.Bits(200, 8))
	assert.Zero(t, p.WideIn.Bits(-1, 8))
	for lo := range 60 {
		for _, width := range []int{1, 7, 8, 13, 32, 40} {
			before := p.WideIn.Bits(0, 64)
			v := uint64(0x5A5A5A5A5A) & (1<<width - 1)
			p.WideIn.SetBits(lo, width, v)
			require.Equal(t, v, p.WideIn.Bits(lo, width))
			p.WideIn.SetBits(0, 64, before)
			require.Equal(t, before, p.WideIn.Uint64())
		}
	}
	p.WideIn.SetUint64(77)
	assert.Equal(t, append([]byte{77}, make([]byte, 12)...), p.WideIn.Bytes())
	p.WideIn.Set([]byte{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	assert.Equal(t, append([]byte{5}, make([]byte, 12)...), p.WideIn.Bytes())
	p.Stop.SetBits(1, 2, 1)
	assert.EqualValues(t, 2, p.Stop.Uint64())
	assert.Nil(t, p.Stop.Words())
	assert.Equal(t, "stop", p.Stop.Name())
	assert.Equal(t, 3, p.Stop.Width())
	assert.Equal(t, sim.In, p.Stop.Dir())
	require.NoError(t, m.Err())
}

func TestPortsRefuse(t *testing.T) {
	lib := compile(t, counter())
	for want, do := range map[string]func(p *pins){
		"value 0x8 does not fit port stop of 3 bits":                                 func(p *pins) { p.Stop.SetUint64(8) },
		"value 0x20000000000 does not fit port odd_in of 41 bits":                    func(p *pins) { p.OddIn.SetUint64(1 << 41) },
		"value 0x10000000000000000000000000 does not fit port wide__in of 100 bits":  func(p *pins) { p.WideIn.Set([]byte{12: 0x10}) },
		"value 0x0100000000000000000000000000 does not fit port wide__in of 100 bit": func(p *pins) { p.WideIn.Set([]byte{13: 1}) },
		"value 0x1 at bits 98+:3 does not fit port wide__in":                         func(p *pins) { p.WideIn.SetBits(98, 3, 1) },
		"value 0x4 at bits 0+:2 does not fit":                                        func(p *pins) { p.WideIn.SetBits(0, 2, 4) },
		"port count is an output and cannot be driven":                               func(p *pins) { p.Count.SetUint64(0) },
	} {
		m := start(t, lib, sim.Options{})
		p := bind(t, m)
		do(p)
		require.ErrorContains(t, m.Tick(), want)
		assert.Zero(t, p.WideIn.Uint64()|p.Stop.Uint64()|p.OddIn.Uint64(), "nothing changed")
	}
}

func TestBindReportsAllMisfits(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	var wrong struct {
		A *sim.Port `port:"cuont"`
		B *sim.Port `port:"count,in"`
		C *sim.Port `port:"stop,4"`
		D *sim.Port `port:"stop,wide"`
		E int       `port:"stop"`
	}
	err := m.Bind(&wrong)
	for _, want := range []string{
		`field A: model counter has no port "cuont"; it has clk, count`,
		`field B: model counter: port "count" is out of 8 bits, want in of 8`,
		`field C: model counter: port "stop" is in of 3 bits, want in of 4`,
		`field D: tag "stop,wide": "wide" is neither in, out nor a width`,
		`field E must be exported and of type *sim.Port`,
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.ErrorContains(t, m.Bind(wrong), "want a pointer to a struct")
	_, err = m.Need(sim.PortSpec{Name: "stale", Dir: sim.Out, Width: 31})
	assert.ErrorContains(t, err, "want out of 31")
}

// TestStops: every way in which Verilog stops is an error with file and line, and the
// process lives.
func TestStops(t *testing.T) {
	lib := compile(t, counter())
	source, err := os.ReadFile("testdata/counter.v")
	require.NoError(t, err)
	lineOf := func(what string) int {
		before, _, ok := strings.Cut(string(source), what)
		require.True(t, ok)
		return strings.Count(before, "\n") + 1
	}
	for _, c := range []struct {
		stop    uint64
		code    string
		message string
		finish  bool
	}{
		{1, "$error(", "Assertion failed in TOP.counter: count is 2", false},
		{2, "assert (", "Assertion failed in TOP.counter.assert_stop", false},
		{3, "$stop;", "$stop", false},
		{4, "$finish;", "$finish", true},
		{5, "$fatal(", "giving up", false},
	} {
		m := start(t, lib, sim.Options{})
		p := bind(t, m)
		require.NoError(t, m.ResetFor(1))
		p.Enable.SetBool(true)
		require.NoError(t, m.Cycles(2))
		p.Stop.SetUint64(c.stop)
		err := m.Tick()
		var stop *sim.StopError
		require.ErrorAs(t, err, &stop, c.code)
		assert.Equal(t, "testdata/counter.v", stop.File)
		assert.Equal(t, lineOf(c.code), stop.Line)
		assert.Contains(t, stop.Message, c.message)
		assert.Equal(t, c.finish, stop.Finish)
		assert.EqualValues(t, 4, stop.Cycle)
		assert.Equal(t, fmt.Sprintf("testdata/counter.v:%d: %s (cycle 4)", stop.Line, stop.Message), err.Error())
		assert.ErrorIs(t, m.Tick(), err, "it stays")
		assert.EqualValues(t, 4, m.Now())
	}
}

func TestEndlessLoopIsAnError(t *testing.T) {
	m := start(t, compile(t, sim.Build{Top: "loop", Files: []string{"testdata/loop.v"}}), sim.Options{})
	on, err := m.Port("on")
	require.NoError(t, err)
	require.NoError(t, m.Tick())
	on.SetBool(true)
	var stop *sim.StopError
	require.ErrorAs(t, m.Tick(), &stop)
	assert.Contains(t, stop.Message, "converge")
}

func TestOutput(t *testing.T) {
	var out bytes.Buffer
	m := start(t, compile(t, counter()), sim.Options{Output: &out})
	p := bind(t, m)
	require.NoError(t, m.ResetFor(1))
	p.Enable.SetBool(true)
	p.Stop.SetUint64(6)
	require.NoError(t, m.Tick())
	assert.Equal(t, "count 0\n", out.String(), "at once")
	require.NoError(t, m.Cycles(2))
	p.Stop.SetUint64(1)
	require.Error(t, m.Tick())
	assert.Contains(t, out.String(), "count 0\ncount 1\ncount 2\n")
	assert.Contains(t, out.String(), "testdata/counter.v:", "messages name the user's path")
}

// TestSeeds: a register without reset starts by the seed, each instance for itself.
func TestSeeds(t *testing.T) {
	lib := compile(t, counter())
	stale := func(o sim.Options) uint64 {
		m := start(t, lib, o)
		p := bind(t, m)
		assert.Zero(t, p.WideIn.Uint64()|p.Enable.Uint64(), "inputs start at zero")
		require.NoError(t, m.ResetFor(2))
		return p.Stale.Uint64()
	}
	seen := map[uint64]bool{}
	for seed := range uint64(8) {
		v := stale(sim.Options{Random: true, Seed: seed})
		assert.Equal(t, v, stale(sim.Options{Random: true, Seed: seed}), "the same seed, the same start")
		seen[v] = true
	}
	assert.Len(t, seen, 8, "seeds differ")
	assert.Zero(t, stale(sim.Options{Seed: 3}), "not random: zero")

	// The seed must hold for the instance on whatever thread it is made, and whoever makes others of the same file meanwhile.
	var wg sync.WaitGroup
	for i := range 8 {
		lib := compile(t, counter())
		seed := uint64(5 + i%2)
		want := stale(sim.Options{Random: true, Seed: seed})
		wg.Go(func() {
			for range 500 {
				m, err := lib.New(sim.Options{Random: true, Seed: seed})
				if !assert.NoError(t, err) {
					return
				}
				p, err := m.Port("stale")
				assert.NoError(t, err)
				assert.NoError(t, m.Cycle())
				same := assert.Equal(t, want, p.Uint64(), "seed %d", seed)
				m.Close()
				if !same {
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestModelsLiveTogether runs instances of two libraries of the same module side by
// side in several goroutines: nothing of one may show in another.
func TestModelsLiveTogether(t *testing.T) {
	narrow := counter()
	narrow.Params = map[string]string{"WIDTH": "4"}
	libs := []*sim.Lib{compile(t, counter()), compile(t, narrow)}
	assert.NotEqual(t, libs[0].Digest, libs[1].Digest)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			lib, wrap := libs[i%2], []uint64{256, 16}[i%2]
			m, err := lib.New(sim.Options{Random: true, Seed: uint64(i)})
			if err != nil {
				errs[i] = err
				return
			}
			defer m.Close()
			enable, err1 := m.Port("enable")
			count, err2 := m.Port("count")
			if errs[i] = errors.Join(err1, err2, m.ResetFor(1)); errs[i] != nil {
				return
			}
			enable.SetBool(true)
			for k := range uint64(1000 + 100*i) {
				if err := m.Tick(); err != nil || count.Uint64() != k%wrap {
					errs[i] = fmt.Errorf("instance %d, step %d: count %d, %w", i, k, count.Uint64(), err)
					return
				}
			}
			if i == 3 { // one fails, the others go on
				stop, err := m.Port("stop")
				if err != nil {
					errs[i] = err
					return
				}
				stop.SetUint64(1)
				if m.Tick() == nil {
					errs[i] = errors.New("did not fail")
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

func TestCloseTwice(t *testing.T) {
	m, err := compile(t, counter()).New(sim.Options{})
	require.NoError(t, err)
	m.Close()
	m.Close()
	assert.ErrorContains(t, m.Tick(), "closed")
	_, err = m.Port("count")
	assert.ErrorContains(t, err, "closed")
	m.CloseWaves()
	assert.Error(t, m.Record())
}

func TestWaves(t *testing.T) {
	plain := compile(t, counter())
	_, err := plain.New(sim.Options{WavePath: "x.fst"})
	require.ErrorContains(t, err, "need a model built with Trace")

	traced := counter()
	traced.Trace = true
	lib := compile(t, traced)
	assert.True(t, lib.Traced())
	assert.NotEqual(t, plain.Digest, lib.Digest)
	dir := t.TempDir()
	path := filepath.Join(dir, "run.fst")
	m := start(t, lib, sim.Options{WavePath: path})
	p := bind(t, m)
	require.NoError(t, m.ResetFor(1))
	p.Enable.SetBool(true)
	require.NoError(t, m.Cycles(300))
	second := filepath.Join(dir, "second.fst")
	require.NoError(t, m.OpenWaves(second))
	require.NoError(t, m.Cycles(10))
	m.CloseWaves()
	for _, f := range []string{path, second} {
		head := make([]byte, 1)
		file, err := os.Open(f)
		require.NoError(t, err)
		_, err = file.Read(head)
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		file.Close()
		assert.EqualValues(t, 0, head[0], "an FST file begins with a header block")
		assert.Greater(t, info.Size(), int64(330))
	}
	assert.ErrorContains(t, m.OpenWaves(filepath.Join(dir, "no", "where.fst")), "cannot write waves")

	// Traced or not, the model behaves alike.
	assert.EqualValues(t, (311-1-1)%256, p.Count.Uint64())
}

func TestManifest(t *testing.T) {
	b, err := sim.FromManifest("testdata", "core")
	require.NoError(t, err)
	want := sim.Build{
		Top: "counter", Files: []string{"testdata/counter.v"}, Clock: "clk", Reset: "rst", PeriodNS: 4, Ports: b.Ports,
	}
	assert.Empty(t, cmp.Diff(want, b))
	assert.Len(t, b.Ports, 11)
	m := start(t, compile(t, b), sim.Options{})
	assert.Equal(t, 4.0, m.PeriodNS())

	byModule, err := sim.FromManifest("testdata/manifest.json", "counter")
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(b, byModule))

	b.Ports[3].Width = 4
	b.Ports[5].Dir = sim.Out
	b.Ports = append(b.Ports[:6], append(b.Ports[7:], sim.PortSpec{Name: "extra", Width: 1})...)
	_, err = b.Compile(context.Background())
	for _, part := range []string{
		"building a model of counter: ",
		`port "stop" is in of 3 bits, want in of 4`, `port "odd_in" is in of 41 bits, want out of 41`,
		`no port "extra"`, "a port out count, 8 bits that is not expected",
	} {
		assert.ErrorContains(t, err, part)
	}

	_, err = sim.FromManifest("testdata", "switch")
	assert.ErrorContains(t, err, `no top "switch"; it has core`)
	_, err = sim.FromManifest("nowhere", "core")
	assert.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]string{
		`{`:            "unexpected end",
		`{"schema":2}`: "schema 2, this program reads 1",
		`{"schema":1}`: "no files",
		`{"schema":1,"files":["a.v"],"tops":{"t":{"module":"t","ports":[{"name":"p","dir":"up"}]}}}`: `direction "up"`,
	} {
		path := filepath.Join(t.TempDir(), "m.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := sim.FromManifest(path, "t")
		assert.ErrorContains(t, err, want)
	}
}

func TestFileList(t *testing.T) {
	b, err := sim.FromFileList("testdata/adder.f", "adder")
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(sim.Build{
		Top: "adder", Files: []string{"testdata/adder.v"}, IncludeDirs: []string{"testdata/inc"},
		Defines: map[string]string{"BASE": "16'd3"},
	}, b))
	lib := compile(t, b)
	assert.Empty(t, lib.Clock())
	m := start(t, lib, sim.Options{})
	a, err := m.Port("a")
	require.NoError(t, err)
	y, err := m.Port("y")
	require.NoError(t, err)
	a.SetUint64(39)
	require.NoError(t, m.Eval())
	assert.EqualValues(t, 42, y.Uint64())

	for text, want := range map[string]string{"-y lib\n": ":1: option -y", "# nothing\n": "names no files"} {
		path := filepath.Join(t.TempDir(), "x.f")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := sim.FromFileList(path, "x")
		assert.ErrorContains(t, err, want)
	}
	_, err = sim.FromFileList("nowhere.f", "x")
	assert.ErrorContains(t, err, "reading file list")
}

func TestBuildRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	broken := write("broken.v", "module broken(input wire clk);\n  assign nothing = ;\nendmodule\n")
	inout := write("io.v", "module io(inout wire pad, input wire clk); endmodule\n")
	noPorts := write("none.v", "module none; endmodule\n")
	quits := write("quits.v", "module quits(input wire clk); initial $error(\"no way\"); endmodule\n")
	for name, c := range map[string]struct {
		b     sim.Build
		want  string
		alone bool // fails before C++: a cache of its own costs nothing
	}{
		"empty":     {sim.Build{}, "no Top module", false},
		"no files":  {sim.Build{Top: "x"}, "no Files", false},
		"period":    {sim.Build{Top: "x", Files: []string{broken}, PeriodNS: -1}, "PeriodNS -1", false},
		"missing":   {sim.Build{Top: "x", Files: []string{filepath.Join(dir, "gone.v")}}, "gone.v: no such file", false},
		"no folder": {sim.Build{Top: "x", Files: []string{broken}, IncludeDirs: []string{"gone"}}, "gone: no such file", false},
		"syntax":    {sim.Build{Top: "broken", Files: []string{broken}}, broken + ":2:", true},
		"wrong top": {sim.Build{Top: "other", Files: []string{quits}}, "other", true},
		"parameter": {sim.Build{Top: "quits", Files: []string{quits}, Params: map[string]string{"W": "1"}}, "W", true},
		"inout":     {sim.Build{Top: "io", Files: []string{inout}}, "pad is inout", false},
		"no ports":  {sim.Build{Top: "none", Files: []string{noPorts}}, "has no ports", true},
		"clock":     {sim.Build{Top: "quits", Files: []string{quits}, Clock: "ck"}, `clock: model quits has no port "ck"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.alone {
				c.b.CacheDir = filepath.Join(dir, "cache")
			}
			_, err := c.b.Compile(context.Background())
			require.ErrorContains(t, err, c.want)
		})
	}
	lib := compile(t, sim.Build{Top: "quits", Files: []string{quits}})
	_, err := lib.New(sim.Options{})
	var stop *sim.StopError
	require.ErrorAs(t, err, &stop)
	assert.Equal(t, quits, stop.File)
	assert.Contains(t, stop.Message, "no way")

	left, err := filepath.Glob(filepath.Join(dir, "cache", "tmp-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "failed builds leave nothing behind")
}

func TestMissingTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := counter().Compile(context.Background())
	var missing *tool.NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.ErrorContains(t, err, "`make tools`")
}

// TestCache: several processes that start the same build at once build it once; a
// later build is found, by content and not by path; another content is another
// build.
func TestCache(t *testing.T) {
	const env = "SIM_TEST_BUILD_IN"
	if cache := os.Getenv(env); cache != "" { // a child
		b := counter()
		b.CacheDir = cache
		lib := compile(t, b)
		fmt.Printf("cached=%t %s\n", lib.Cached, lib.Digest)
		m := start(t, lib, sim.Options{})
		require.NoError(t, m.Cycles(10))
		return
	}
	cache := t.TempDir()
	outs := make([]bytes.Buffer, 3)
	cmds := make([]*exec.Cmd, len(outs))
	for i := range cmds {
		cmds[i] = exec.Command(os.Args[0], "-test.run=^TestCache$", "-test.v")
		cmds[i].Env = append(os.Environ(), env+"="+cache)
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &outs[i]
		require.NoError(t, cmds[i].Start())
	}
	built := 0
	for i, cmd := range cmds {
		require.NoError(t, cmd.Wait(), outs[i].String())
		built += strings.Count(outs[i].String(), "cached=false")
	}
	assert.Equal(t, 1, built, "one built, the others waited for it")

	dir := t.TempDir()
	text, err := os.ReadFile("testdata/counter.v")
	require.NoError(t, err)
	copied := filepath.Join(dir, "counter.v")
	require.NoError(t, os.WriteFile(copied, text, 0o644))

	build := counter()
	build.CacheDir = cache
	first := compile(t, build)
	assert.True(t, first.Cached)
	assert.Contains(t, outs[0].String(), first.Digest)

	moved := build
	moved.Files = []string{copied}
	third := compile(t, moved)
	assert.True(t, third.Cached, "content counts, not the path")
	m := start(t, third, sim.Options{})
	p := bind(t, m)
	p.Stop.SetUint64(3)
	assert.ErrorContains(t, m.Tick(), copied+":", "the error still names this user's file")

	require.NoError(t, os.WriteFile(copied, append(text, "// changed\n"...), 0o644))
	changed := compile(t, moved)
	assert.False(t, changed.Cached)
	assert.NotEqual(t, first.Digest, changed.Digest)
}

func TestCompileGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := counter()
	b.CacheDir = t.TempDir()
	_, err := b.Compile(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestRawLoop: the plain loop repeats a recorded run exactly, and notices when it is
// not the same run.
func TestRawLoop(t *testing.T) {
	lib := compile(t, counter())
	run := func(seed uint64) (*sim.Model, *sim.Recording) {
		m := start(t, lib, sim.Options{Random: true, Seed: seed})
		p := bind(t, m)
		require.NoError(t, m.Record())
		require.NoError(t, m.ResetFor(2))
		for i := range uint64(1000) {
			p.Enable.SetBool(i%3 != 0)
			p.WideIn.SetUint64(i)
			require.NoError(t, m.Tick())
		}
		r, err := m.Recorded()
		require.NoError(t, err)
		return m, r
	}
	rec, r := run(1)
	assert.EqualValues(t, 1002, r.Cycles())
	raw := start(t, lib, sim.Options{Random: true, Seed: 1})
	took, err := raw.RawLoop(r, true)
	require.NoError(t, err)
	assert.Positive(t, took)
	assert.EqualValues(t, 1002, raw.Now())
	_, err = raw.RawLoop(r, true)
	assert.ErrorContains(t, err, "a raw loop needs a fresh one")

	fast := start(t, lib, sim.Options{Random: true, Seed: 2})
	_, err = fast.RawLoop(r, false)
	require.NoError(t, err)
	other := start(t, lib, sim.Options{Random: true, Seed: 2})
	_, err = other.RawLoop(r, true)
	assert.ErrorContains(t, err, "other outputs")

	assert.ErrorContains(t, rec.Record(), "before the first cycle")
	rec.Close()
	last := start(t, lib, sim.Options{Random: true, Seed: 1})
	_, err = last.RawLoop(r, true)
	assert.ErrorContains(t, err, "closed")
	_, err = last.Recorded()
	assert.ErrorContains(t, err, "nothing was recorded")
}

func TestCPUTime(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	begin := sim.CPUTime()
	time.Sleep(20 * time.Millisecond)
	slept := sim.CPUTime() - begin
	require.NoError(t, m.Cycles(1_000_000))
	assert.Greater(t, sim.CPUTime()-begin-slept, time.Millisecond, "work counts")
	assert.Less(t, slept, 20*time.Millisecond, "sleep does not")
}

func TestRunLimit(t *testing.T) {
	m := start(t, compile(t, counter()), sim.Options{})
	require.NoError(t, m.Run(10, func() bool { return m.Now() == 5 }))
	assert.ErrorContains(t, m.Run(10, func() bool { return false }), "not done after 10 cycles (cycle 15)")
}

// TestSkipStill: a model that may leave out cycles shows the same outputs in every one of them as one that may not, and does leave out
// those in which nothing can change. Counters run behind closed ports, one of them deep in a memory and without any other sign.
func TestSkipStill(t *testing.T) {
	type ports struct {
		Rst  *sim.Port `port:"rst,in,1"`
		Load *sim.Port `port:"load,in,16"`
		Spin *sim.Port `port:"spin,in,1"`
		Done *sim.Port `port:"done,out,1"`
		Full *sim.Port `port:"full,out,1"`
		Sum  *sim.Port `port:"sum,out,32"`
	}
	build := sim.Build{Top: "still", Files: []string{"testdata/still.v"}}
	timed, traced := build, build
	timed.Params = map[string]string{"TIMED": "1"}
	traced.Trace = true
	for name, c := range map[string]struct {
		build sim.Build
		waves bool
		skips bool
	}{
		"plain":                {build, false, true},
		"traced, no waves":     {traced, false, true},
		"waves":                {traced, true, false},
		"an output is a clock": {timed, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := compile(t, c.build)
			var models [2]*sim.Model
			var p [2]ports
			for i := range models {
				o := sim.Options{Random: true, Seed: 4, SkipStill: i == 1}
				if c.waves {
					o.WavePath = filepath.Join(t.TempDir(), "run.fst")
				}
				models[i] = start(t, lib, o)
				require.NoError(t, models[i].Bind(&p[i]))
				require.NoError(t, models[i].ResetFor(2))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			dones, fulls := 0, 0
			for models[0].Now() < 50_000 {
				load, spin, hold := uint64(0), rng.IntN(4) == 0, 1+rng.IntN(400)
				if rng.IntN(2) == 0 {
					load, hold = uint64(1+rng.IntN(300)), 1
				}
				for range hold {
					for i := range models {
						p[i].Load.SetUint64(load)
						p[i].Spin.SetBool(spin)
						require.NoError(t, models[i].Tick())
					}
					a, b := p[0], p[1]
					require.Equal(t, [3]uint64{a.Done.Uint64(), a.Full.Uint64(), a.Sum.Uint64()},
						[3]uint64{b.Done.Uint64(), b.Full.Uint64(), b.Sum.Uint64()}, "cycle %d", models[0].Now())
					dones, fulls = dones+int(a.Done.Uint64()), fulls+int(a.Full.Uint64())
				}
			}
			assert.Greater(t, dones, 50)
			assert.Greater(t, fulls, 50)
			assert.Equal(t, models[0].Now(), models[1].Now())
			assert.Zero(t, models[0].Skipped())
			if c.skips {
				assert.Greater(t, models[1].Skipped(), models[1].Now()/4)
			} else {
				assert.Zero(t, models[1].Skipped())
			}
		})
	}
}
