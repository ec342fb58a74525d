// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/internal/jobs"
	"incforge/internal/synthetic"
	"incforge/network/comm"
	"incforge/roce"
	"incforge/verify/dut"
)

// engine is the reference with the parameters that a preset with overrides has, without a generator.
func engine(t testing.TB, config string, sets []string) Engine {
	t.Helper()
	p := synthetic.Mini()
	if strings.HasPrefix(config, "trio") {
		p = synthetic.Full()
		p.BufferBytes, p.Groups, p.Members, p.Ports, p.MTUBytes, p.WindowPackets = 2048, 1, 3, 3, 256, 2
	}
	p.InBand = true
	if strings.HasSuffix(config, "3") {
		p.Mode = 3
	}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	keys := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &keys))
	for _, set := range sets {
		key, value, _ := strings.Cut(set, "=")
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(value), &v))
		keys[key] = v
	}
	text, err = json.Marshal(keys)
	require.NoError(t, err)
	var q contract.Params
	require.NoError(t, json.Unmarshal(text, &q))
	m := synthetic.Manifest(q)
	return Engine{Config: config, Set: sets, Manifest: m, Open: func(uint64) (dut.DUT, error) { return dut.NewReference(m) }}
}

// TestParking: groups are parked, and get other slots, among their calls.
func TestParking(t *testing.T) {
	t.Parallel()
	for _, mode := range contract.Modes() {
		r := &Runner{DUT: Reference}
		for _, c := range Parking(Reference, mode) {
			r.Engines = append(r.Engines, engine(t, c[0], c[1:]))
		}
		sum, err := r.Campaign(context.Background(), Campaign{From: 1, To: 12})
		require.NoError(t, err)
		assert.Empty(t, sum.Failures)
		assert.Greater(t, sum.Parks, 5)
		assert.Greater(t, sum.Refused, 5)
	}
}

// TestEngines: on switches of four engines with a group each cases are what they are on others, and the groups are at work at engines of their own.
func TestEngines(t *testing.T) {
	t.Parallel()
	for i, sets := range [][]string{{"mode=1", "message_bytes=2048", "window_messages=2"}, {"mode=2"}, {"mode=3"}} {
		mode := i + 1
		e := engine(t, "mini", append(sets, "engines=4", "groups=1", "park=true"))
		var mu sync.Mutex
		var all []*dut.Reference
		e.Open = func(uint64) (dut.DUT, error) {
			d, err := dut.NewReference(e.Manifest)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, d)
			return d, err
		}
		sum, err := (&Runner{DUT: Reference, Engines: []Engine{e}}).Campaign(context.Background(), Campaign{From: 1, To: 12})
		require.NoError(t, err)
		assert.Empty(t, sum.Failures)
		results := [4]uint64{}
		for _, d := range all {
			for i := range results {
				results[i] += d.Engine().EngineCounters(i)[inc.TxResult]
			}
		}
		assert.Positive(t, results[0], "Mode %d", mode)
		assert.Positive(t, results[1], "Mode %d", mode)
	}
}

// standard runs on the engines of Standard.
func standard(t testing.TB, mode int) *Runner {
	r := &Runner{DUT: Reference}
	for _, c := range Standard(Reference, mode) {
		r.Engines = append(r.Engines, engine(t, c[0], c[1:]))
	}
	return r
}

// inBoth runs a test in Modes II and III.
func inBoth(t *testing.T, test func(t *testing.T, mode int)) {
	t.Helper()
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) { test(t, mode) })
	}
}

// assertHarm holds that a campaign did more than least of each kind of harm to its frames, and that the hosts mended it.
func assertHarm(t *testing.T, s Summary, least uint64) {
	t.Helper()
	for what, n := range map[string]uint64{"lost": s.Lost, "duplicated": s.Duplicated, "reordered": s.Reordered, "corrupted": s.Corrupted, "sent again": s.Resent} {
		assert.Greater(t, n, least, what)
	}
}

// TestCampaign is a short one; incforge chaos runs long ones.
func TestCampaign(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		const seeds = 200
		told := 0
		s, err := standard(t, mode).Campaign(context.Background(), Campaign{From: 1, To: seeds, Place: jobs.Place{Jobs: 2}, Failed: func(Failure) { told++ }})
		require.NoError(t, err)
		for _, f := range s.Failures {
			t.Errorf("seed %d: %s: %s", f.Seed, f.Kind, f.Message)
		}
		assert.Equal(t, seeds, s.Cases)
		assert.Equal(t, len(s.Failures), told)
		assertHarm(t, s, 1000)
		assert.Greater(t, s.Resets, 10)
		assert.Greater(t, s.Restarted, s.Resets, "most resets come in the middle, and begin a call or several again")
	})
}

// TestResetsComeInTheMiddle: hardly any reset is drawn that finds its group's calls done.
func TestResetsComeInTheMiddle(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := standard(t, mode)
		resets, late := 0, 0
		for seed := uint64(1); resets < 40; seed++ {
			c := Draw(seed, r.Engines, Reference)
			if len(c.Resets) == 0 {
				continue
			}
			o, err := r.Run(context.Background(), c)
			require.NoError(t, err)
			require.Equal(t, Passed, o.Kind, "seed %d: %v", seed, o.Err)
			resets++
			if o.Restarted == 0 {
				late++
			}
		}
		assert.Less(t, late, resets/8)
	})
}

// TestCheck: engines that no case fits are refused in words; where not all groups have room, fewer are drawn.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		sets  []string
		words string
	}{
		{[]string{"members=1"}, "no tree can be made of switches with 1 members"},
		{[]string{"members=2", "accumulate=reproducible"}, ""},
		{[]string{"buffer_bytes=1024"}, "a buffer of 1 slots"},
		{[]string{"buffer_bytes=2048", "dtypes=[FP16]"}, "a window of one packet takes 4"},
		{[]string{"buffer_bytes=4096", "groups=4", "window_packets=1"}, ""},
	} {
		r := &Runner{DUT: Reference, Engines: []Engine{engine(t, "mini", tc.sets)}}
		if tc.words != "" {
			assert.ErrorContains(t, r.Check(), tc.words)
			_, err := r.Campaign(context.Background(), Campaign{From: 1, To: 1})
			assert.ErrorContains(t, err, tc.words)
			continue
		}
		require.NoError(t, r.Check(), tc.sets)
		s, err := r.Campaign(context.Background(), Campaign{From: 1, To: 50})
		require.NoError(t, err)
		assert.Equal(t, 50, s.Cases)
		assert.Empty(t, s.Failures, tc.sets)
	}
}

// TestDrawReachesOnRTL: what the engines for RTL are drawn to do; none of them is built here.
func TestDrawReachesOnRTL(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := &Runner{DUT: RTL}
		for _, c := range Standard(RTL, mode) {
			r.Engines = append(r.Engines, engine(t, c[0], c[1:]))
		}
		require.NoError(t, r.Check())
		seen := map[string]int{}
		const seeds = 400
		for seed := range uint64(seeds) {
			c := Draw(seed, r.Engines, RTL)
			seen[c.Tree.String()]++
			for _, g := range c.Groups {
				if g.packets() >= 32 {
					seen["window 32 to 64"]++
				}
				for _, call := range g.Calls {
					seen[call.DType+" "+call.Op]++
				}
			}
		}
		for _, tree := range trees() {
			assert.Positive(t, seen[tree.String()], tree)
		}
		for _, d := range []string{"FP32", "FP16", "BF16", "INT32"} {
			for _, op := range []string{"SUM", "MIN", "MAX"} {
				assert.Positive(t, seen[d+" "+op], "%s %s", d, op)
			}
		}
		assert.Greater(t, seen["window 32 to 64"], seeds/20)
	})
}

// panicky is an engine that panics at a time.
type panicky struct {
	dut.DUT
	at uint64
}

func (p *panicky) StepTo(cycle uint64) error {
	if cycle > p.at {
		panic("no such slot")
	}
	return p.DUT.StepTo(cycle)
}

// TestPanic: an engine that panics is a failing case, not the end of the campaign, with any number of workers.
func TestPanic(t *testing.T) {
	for _, workers := range []int{1, 2} {
		r := standard(t, 2)
		r.Workers = workers
		r.wrap = func(_ int, d dut.DUT) dut.DUT { return &panicky{d, 500} }
		s, err := r.Campaign(context.Background(), Campaign{From: 1, To: 3})
		require.NoError(t, err)
		require.Len(t, s.Failures, 3)
		for _, f := range s.Failures {
			assert.Equal(t, Panicked, f.Kind)
			assert.Contains(t, f.Message, "no such slot")
		}
	}
}

// TestDiscardedIsUnclean: slots that were emptied before they were complete count as what is left in them would.
func TestDiscardedIsUnclean(t *testing.T) {
	ref, err := dut.NewReference(engine(t, "mini", nil).Manifest)
	require.NoError(t, err)
	e := ref.Engine()
	hosts := [2]inc.Endpoint{}
	for i := range hosts {
		hosts[i] = inc.Endpoint{Valid: true, Host: true, Port: i, LocalQPN: uint32(16 + i), RemoteQPN: 32, LocalIP: roce.IP4{10, 1, 0, 0},
			RemoteIP: roce.IP4{10, 2, 0, byte(i)}, LocalMAC: roce.MAC{2, 1}, RemoteMAC: roce.MAC{2, 2, byte(i)}}
		require.NoError(t, e.SetEndpoint(e.Params().EndpointIndex(0, i), hosts[i]))
	}
	require.NoError(t, e.SetGroup(0, inc.Group{Log2N: 3, InMask: 3, OutMask: 3, AckMask: 3, DType: inc.DTypeINT32, InBand: true}))
	require.NoError(t, e.Enable(0))
	x := &run{c: &Case{Groups: make([]Group, 1)}, duts: []dut.DUT{ref}}
	slots := func() Outcome {
		var err error
		var v verdict
		func() {
			defer fail.Catch(&err, "")
			x.slots()
		}()
		errors.As(err, &v)
		return Outcome{Kind: v.Kind, Err: v.error}
	}
	alone := func(psn roce.PSN) error { // one host begins a Barrier
		e.Step(0, 0, roce.Packet{DestQP: hosts[0].LocalQPN, SrcIP: hosts[0].RemoteIP, DstIP: hosts[0].LocalIP, PKey: roce.DefaultPKey,
			Op: roce.SendOnlyImm, PSN: psn, Imm: inc.Control{Collective: inc.CollectiveBarrier, DType: inc.DTypeINT32}.Immediate()})
		return slots().Err
	}
	require.NoError(t, slots().Err)
	assert.ErrorContains(t, alone(0), "1 slots hold a part")
	require.Error(t, alone(1))
	require.Error(t, alone(2))
	require.NoError(t, e.Reset(0))
	assert.Equal(t, Unclean, slots().Kind)
	assert.ErrorContains(t, slots().Err, "1 slots were taken away")
}

// TestDrawReachesEverything: over some seeds every engine, collective, type, operation, kind of fault and option turns up.
func TestDrawReachesEverything(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := standard(t, mode)
		seen := map[string]int{}
		note := func(what string, is bool) {
			if is {
				seen[what]++
			}
		}
		const seeds = 2000
		for seed := range uint64(seeds) {
			c := Draw(seed, r.Engines, Reference)
			require.NoError(t, c.validate())
			seen["engine "+strings.Join(append([]string{c.Config}, c.Set...), " ")]++
			seen[c.Tree.String()]++
			note("no gap NAK", c.NoGapNAK)
			note("no RNR NAK", c.Pipes.NoRNR)
			note("CNP", c.Pipes.CNP)
			note("pipe time-out", c.Pipes.TimeoutUS > 0)
			note("pauses", c.Pauses.In > 0)
			note("resets", len(c.Resets) > 0)
			note("several groups", len(c.Groups) > 1)
			for _, f := range []struct {
				what string
				is   bool
			}{{"loss", c.Up.Loss == 0.05}, {"no loss", c.Up.Loss == 0 && c.Down.Loss == 0}, {"burst", c.Up.Burst.Enter > 0}, {"duplicate", c.Up.Duplicate > 0},
				{"reorder", c.Down.Reorder > 0}, {"corrupt", c.Down.Corrupt > 0}, {"jitter", c.Up.Jitter > 0}, {"only", c.Up.Only.Loss != 0}} {
				note(f.what, f.is)
			}
			for _, g := range c.Groups {
				note("fixed", g.Fixed)
				note("window 1", g.Window*g.Message == 1)
				note("window 64", g.packets() == 64)
				note("big endian", g.BigEndian)
				note("root local", g.RootLocal)
				note("paced", g.Paced)
				note("pipes of 1", g.Pipe == 1)
				note("long pipes", g.Pipe > 32)
				note("odd pipes", g.Pipe&(g.Pipe-1) != 0)
				note("window beyond the pipe", g.Pipe > 0 && g.packets() > g.Pipe)
				note("short ranges", g.RangePackets > 0)
				for _, call := range g.Calls {
					seen[call.Call.String()+" "+call.DType+" "+call.Op]++
					note("smooth", call.Smooth)
					note("root elsewhere", call.Root > 0)
					note("odd length", call.Bytes%4 != 0)
				}
			}
		}
		for _, c := range comm.Collectives() {
			if !c.Reduces() {
				assert.Positive(t, seen[c.String()+"  "], c)
				continue
			}
			for _, d := range []string{"FP32", "FP16", "BF16", "INT32"} {
				for _, op := range []string{"SUM", "MIN", "MAX"} {
					assert.Positive(t, seen[c.String()+" "+d+" "+op], "%s %s %s", c, d, op)
				}
			}
		}
		for _, tree := range trees() {
			assert.Positive(t, seen[tree.String()], tree)
		}
		for _, e := range r.Engines {
			assert.Positive(t, seen["engine "+strings.Join(append([]string{e.Config}, e.Set...), " ")])
		}
		own := []string{"no gap NAK"} // of the mode
		if mode == 3 {
			own = []string{"no RNR NAK", "CNP", "pipe time-out", "paced", "pipes of 1", "long pipes", "odd pipes", "window beyond the pipe"}
		}
		for _, what := range append(own, "pauses", "resets", "several groups", "loss", "no loss", "burst", "duplicate", "reorder", "corrupt", "jitter",
			"only", "fixed", "window 1", "window 64", "big endian", "root local", "short ranges", "smooth", "root elsewhere", "odd length") {
			assert.Greater(t, seen[what], seeds/200, what)
			assert.Less(t, seen[what], 3*seeds, what)
		}
	})
}

// TestWorkersMakeNoDifference: a case ends in the same cycle with the same faults however many goroutines run its switches.
func TestWorkersMakeNoDifference(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := standard(t, mode)
		several := 0
		for seed := uint64(1); several < 6; seed++ {
			c := Draw(seed, r.Engines, Reference)
			if c.Levels == 2 {
				continue
			}
			several++
			r.Workers = 1
			want, err := r.Run(context.Background(), c)
			require.NoError(t, err)
			require.NotZero(t, want.Links.Frames)
			for _, r.Workers = range []int{2, 4} {
				got, err := r.Run(context.Background(), c)
				require.NoError(t, err)
				assert.Empty(t, cmp.Diff(want, got), "seed %d, %d workers", seed, r.Workers)
			}
		}
	})
}

// TestYAML: a case is the same after it was written and read; what is no case is refused.
func TestYAML(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := standard(t, mode)
		for seed := range uint64(20) {
			c := Draw(seed, r.Engines, Reference)
			if seed < 5 { // with what befell the frames of a run
				o, err := r.Run(context.Background(), c)
				require.NoError(t, err)
				require.NotEmpty(t, o.Events)
				c.Events = o.Events
			}
			text, err := c.YAML()
			require.NoError(t, err)
			back, err := Parse(text)
			require.NoError(t, err, string(text))
			require.Empty(t, cmp.Diff(c, back, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })), string(text))
		}
		const good = "seed: 1\nconfig: mini\ndut: reference\nlevels: 2\ndegree: 2\nlatency: 1\nbytes_per_cycle: 8\ngroups:\n- {message: 1, window: 1, calls: [%s]}\n"
		for _, bad := range []struct{ call, more, words string }{
			{"{call: barrier, bytes: 0}", "levles: 3\n", "levles"},
			{"{call: barier, bytes: 0}", "", "barier"},
			{"{call: allreduce, dtype: FP33, bytes: 0}", "", "FP33"},
			{"{call: allreduce, op: ADD, bytes: 0}", "", "ADD"},
			{"{call: allreduce, dtype: INT32, bytes: 6}", "", "6 bytes"},
			{"", "", "no call"},
			{"{call: barrier, bytes: 0}", "resets: [{group: 1, rank: 0, at: 1, for: 1}]\n", "reset 0"},
			{"{call: barrier, bytes: 0}", "events: [{link: 0, frame: 1, kind: loose}]\n", "loose"},
			{"{call: barrier, bytes: 0}", "events: [{link: 2, frame: 1, kind: lose}]\n", "event 0: link 2, there are 2"},
			{"{call: barrier, bytes: 0}", "events: [{link: 1, frame: 1, kind: corrupt, bits: [-1]}]\n", "bits [-1]"},
			{"{call: barrier, bytes: 0}", "up: {loss: 1.5}\n", "loss 1.5"},
			{"{call: barrier, bytes: 0}", "down: {burst: {enter: .nan}}\n", "burst.enter NaN"},
			{"{call: barrier, bytes: 0}", "pauses: {in: -0.5}\n", "probability -0.5"},
			{"{call: reduce, root: 2, bytes: 8}", "", "root 2 of 2 ranks"},
			{"{call: broadcast, root: -1, bytes: 8}", "", "root -1"},
		} {
			_, err := Parse([]byte(strings.Replace(good, "%s", bad.call, 1) + bad.more))
			assert.ErrorContains(t, err, bad.words)
		}
		_, err := Parse([]byte(strings.Replace(good, "%s", "{call: barrier, bytes: 0}", 1)))
		assert.NoError(t, err)
	})
}

// TestImpossible: what no engine has room for is no other kind of failure.
func TestImpossible(t *testing.T) {
	r := standard(t, 2)
	c := Draw(1, r.Engines, Reference)
	c.Groups[0].Window = 1 << 12
	o, err := r.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Equal(t, Impossible, o.Kind)
	c.Config = "nowhere"
	o, err = r.Run(context.Background(), c)
	require.NoError(t, err)
	assert.ErrorContains(t, o.Err, "nowhere")
}

// TestRegressions: cases that showed a fault once, a planted one or a real one, pass.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "regress", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		c, err := Parse(text)
		require.NoError(t, err, f)
		r := &Runner{DUT: Reference, Engines: []Engine{engine(t, c.Config, c.Set)}}
		o, err := r.Run(context.Background(), c)
		require.NoError(t, err)
		assert.Equal(t, Passed, o.Kind, "%s: %v", f, o.Err)
	}
}

// TestMixed: a tree of both kinds has at least one engine that is judged and, with several switches, mostly some that are not; cases draw the same.
func TestMixed(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		r := standard(t, mode) // the references that Open makes stand for RTL here
		r.DUT = Mixed
		both := 0
		for seed, trees := uint64(1), 0; trees < 12; seed++ {
			c := Draw(seed, r.Engines, Mixed)
			if c.Levels == 2 && trees%3 > 0 {
				continue
			}
			trees++
			x := &run{Runner: r, ctx: context.Background(), c: &c}
			require.NoError(t, x.all(), "seed %d", seed)
			require.NotEmpty(t, x.boards)
			if c.Levels == 2 {
				require.Len(t, x.boards, 1)
			}
			if len(x.boards) < len(x.duts) {
				both++
			}
		}
		assert.GreaterOrEqual(t, both, 4)
	})
}
