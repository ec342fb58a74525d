// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/inc"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
)

// chartOf replays a trace, which must come to what it says.
func chartOf(t *testing.T, tr *Trace) string {
	t.Helper()
	var b bytes.Buffer
	same, err := Replay(tr, &b)
	require.NoError(t, err)
	require.True(t, same, b.String())
	return b.String()
}

// bad are models in which a rule known to be wrong shows. Without the rule they hold.
func bad() []struct {
	Config
	kind string
} {
	return []struct {
		Config
		kind string
	}{
		{Config{Mode: 2, Collective: AllReduce, Tree: "star-2", Requests: 5, Window: 2, Bad: []string{"A1"}}, kindLivelock},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 5, Window: 2, Bad: []string{"A1"}}, kindLivelock},
		{Config{Mode: 2, Collective: AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Bad: []string{"A2"}}, kindLivelock},
		{Config{Mode: 2, Collective: AllReduce, Tree: "3-2", Requests: 2, Window: 1, Loss: 1, Bad: []string{"A2"}}, kindLivelock},
		{Config{Mode: 2, Collective: Broadcast, Tree: "star-3", Requests: 1, Window: 1, Loss: 1, Bad: []string{"A9"}}, kindLivelock},
		{Config{Mode: 2, Collective: Broadcast, Tree: "star-3", Requests: 3, Window: 3, Loss: 2, Bad: []string{"A10"}}, kindLivelock},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 2, Window: 2, Loss: 1, Bad: []string{"B6-ack"}}, kindLivelock},
		{Config{Mode: 3, Collective: AllReduce, Tree: "chain-1", Requests: 2, Window: 2, Reorder: 2, Bad: []string{"B6-assert"}}, kindFault},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Bad: []string{"B9"}}, kindFault},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 2, Window: 1, Slots: 1, Loss: 1, Bad: []string{"B10"}}, kindLivelock},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 2, Window: 1, Slots: 1, Loss: 1, Bad: []string{badSilentHost}}, kindLivelock},
		{Config{Mode: 3, Collective: Reduce, Tree: "star-3", Requests: 4, Window: 2, Slots: 2, Loss: 1, Bad: []string{"B15"}}, kindFault},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Loss: 1, Bad: []string{"B15"}}, kindDeadlock},
		{Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Free: true, Bad: []string{"B9"}}, kindFault},
	}
}

// A checker that never finds anything proves nothing: every rule known to be wrong is found, with all ways of searching, the model holds
// without it, and the scenario written down comes to the same on the reference.
func TestRulesKnownToBeWrongAreFound(t *testing.T) {
	known := badRules()
	for _, c := range bad() {
		for _, name := range c.Bad {
			delete(known, name)
		}
		t.Run(c.String(), func(t *testing.T) {
			var shortest int
			for i, o := range []Options{{}, {Symmetry: true}, {Reduction: true}, {Symmetry: true, Reduction: true, Workers: 3}} {
				if i == 0 && c.Tree == "3-2" {
					continue // millions of states
				}
				r := check(t, c.Config, o)
				require.NotNil(t, r.Violation, "%+v", o)
				assert.Equal(t, c.kind, r.Violation.Kind)
				chart := chartOf(t, r.Violation)
				if i == 0 {
					shortest = len(r.Violation.Steps)
				}
				if i == 1 && shortest > 0 && c.kind != kindLivelock { // a livelock's steps go on
					assert.Len(t, r.Violation.Steps, shortest)
				}

				if o.Reduction && shortest > 0 && c.kind == kindFault {
					o.Shortest = true
					assert.Len(t, check(t, c.Config, o).Violation.Steps, shortest)
				}

				text, err := r.Violation.YAML()
				require.NoError(t, err)
				back, err := ParseTrace(text)
				require.NoError(t, err)
				assert.Empty(t, cmp.Diff(r.Violation, back))
				assert.Equal(t, chart, chartOf(t, back))
			}
			good := c.Config
			good.Bad = nil
			r := check(t, good, Options{Symmetry: true, Reduction: true})
			assert.True(t, r.Complete)
			assert.Nil(t, r.Violation)
		})
	}
	assert.Empty(t, known, "rules that no model here shows")
}

// Random runs of the world, which has no tables, no symmetry and no names, never come to a state that the search has not seen.
func TestSearchSeesEveryRun(t *testing.T) {
	for _, c := range append(small()[:10],
		Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1, Early: 1, RNR: 1},
		Config{Mode: 2, Collective: Broadcast, Tree: "star-3", Requests: 3, Window: 2, Reorder: 1, Dup: 1}) {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			c, err := c.withDefaults()
			require.NoError(t, err)
			sys, err := newSystem(c, true)
			require.NoError(t, err)
			s := &search{system: sys, opt: Options{Symmetry: true, MaxStates: 1 << 31}, seen: newVisited(), workers: 1, edges: map[uint32][]uint32{}}
			complete, err := s.explore(context.Background())
			require.NoError(t, err)
			require.True(t, complete)
			require.Empty(t, s.found)
			for seed := range uint64(30) {
				rng := rand.New(rand.NewPCG(seed, 1))
				w, err := newWorld(c)
				require.NoError(t, err)
				steps, last := 0, happening{}
				for ; steps < 500; steps++ {
					name := s.canonical(s.stateOf(t, w), make([]uint32, len(s.start)))
					_, seen := s.seen.find(name)
					require.True(t, seen, "seed %d, step %d: %+v", seed, steps, last)
					h, ok := w.random(rng)
					if !ok {
						break
					}
					require.NoError(t, h.fault)
					last = h
				}
				_, stalled := w.stalled()
				assert.False(t, stalled)
			}
		})
	}
}

// random takes some step that may be taken; ok is false if there is none.
func (w *world) random(rng *rand.Rand) (h happening, ok bool) {
	var steps []Step
	for n := range w.topo.nodes {
		name := w.topo.name(n)
		if p := w.topo.nodes[n].parent; p >= 0 {
			for i := range w.up[n] {
				for _, do := range []string{"deliver", "deliver", "deliver", "lose", "duplicate"} {
					steps = append(steps, Step{Do: do, At: w.topo.name(p), From: name, Index: i})
				}
			}
			for i := range w.down[n] {
				for _, do := range []string{"deliver", "deliver", "deliver", "lose", "duplicate"} {
					steps = append(steps, Step{Do: do, At: name, From: w.topo.name(p), Index: i})
				}
				if p := w.down[n][i]; w.roles[n] != nil && p.op != roce.Acknowledge && p.psn == int16(w.hosts[n].expected) {
					steps = append(steps, Step{Do: "not-ready", At: name, From: w.topo.name(w.topo.nodes[n].parent), Index: i})
				}
			}
		}
		for _, do := range []string{"timeout", "early"} {
			if w.roles[n] != nil {
				steps = append(steps, Step{Do: do, At: name})
				continue
			}
			for _, a := range []string{"time-out", "resume"} {
				for e := range w.engines[n].members + 1 {
					if to := w.topo.neighbour(n, e); to >= 0 {
						steps = append(steps, Step{Do: do, At: name, Action: a + " " + w.topo.name(to)})
					}
				}
			}
		}
		if w.cfg.Free && w.engines[n] != nil {
			for _, p := range []inc.Pipe{inc.PipeAggregation, inc.PipeBroadcast} {
				steps = append(steps, Step{Do: "send", At: name, Action: "send " + p.String()})
			}
			for e := range w.engines[n].members + 1 {
				if to := w.topo.neighbour(n, e); to >= 0 {
					steps = append(steps, Step{Do: "send", At: name, Action: "send one " + w.topo.name(to)})
				}
			}
		}
	}
	rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, s := range steps {
		plain := s.Do == "deliver" || s.Do == "send" || s.Do == "timeout" || s.Do == "early"
		if s.Index > 0 && !plain || s.Index > 0 && w.budget["reorder"] == 0 || s.Do == "early" && (w.budget["early"] == 0 || w.quiet()) {
			continue
		}
		if !plain && w.budget[s.Do] == 0 {
			continue
		}
		if h, err := w.do(s); err == nil {
			return h, true
		}
	}
	return happening{}, false
}

// stateOf is the world's state in the tables.
func (s *search) stateOf(t *testing.T, w *world) []uint32 {
	t.Helper()
	s.system.mu.Lock()
	defer s.system.mu.Unlock()
	var state []uint32
	for n := range w.topo.nodes {
		bytes := w.hosts[n].append(nil)
		if w.engines[n] != nil {
			bytes = w.states[n]
		}
		id, ok := s.nodeIDs[nodeKey(imageState{n, string(bytes)})]
		require.True(t, ok, "a state of %s that the search never saw", w.topo.name(n))
		state = append(state, s.internComp(id, s.internQueue(s.internPackets(w.up[n])), s.internQueue(s.internPackets(w.down[n]))))
	}
	b := w.budget
	return append(state, uint32(b["lose"]|b["duplicate"]<<dupAt|b["reorder"]<<reorderAt|b["early"]<<earlyAt|b["not-ready"]<<rnrAt))
}

// A chart, whole.
func TestChart(t *testing.T) {
	r := check(t, Config{Mode: 2, Collective: Broadcast, Tree: "star-3", Requests: 1, Window: 1, Loss: 1, Bad: []string{"A9"}}, Options{Symmetry: true, Reduction: true})
	require.NotNil(t, r.Violation)
	want := `mode 2 broadcast tree star-3 requests 1 window 1 slots 2 loss 1 bad A9

 h0           s0           h1           h2
  |            |            |            |   h2 sends DATA(0)
  |            |<--------DATA(0)---------|   s0 sends DATA(0) to h0, DATA(0) to h1
  |<-DATA(0)---|            |            |   h0 sends ACK(0) to s0
  |            |--DATA(0)-->|            |   h1 sends ACK(0) to s0
  |---ACK(0)-->|            |            |
  |            |<--ACK(0)---|            |   s0 sends ACK(0) to h2
  |            |---------ACK(0)---------x|   lose

livelock: after 6 steps nothing leads to the end, whatever is delivered and whichever timer expires
`
	assert.Empty(t, cmp.Diff(want, chartOf(t, r.Violation)))
}

// Scenarios that cannot happen are refused, in words.
func TestReplayRefuses(t *testing.T) {
	c := Config{Mode: 3, Collective: AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1}
	for want, steps := range map[string][]Step{
		"comes DATA(0), not DATA(1)":           {{Do: "deliver", At: "s0", From: "h0", Packet: "DATA(1)"}},
		"there is no \"h7\"":                   {{Do: "deliver", At: "s0", From: "h7"}},
		"no neighbours":                        {{Do: "deliver", At: "h1", From: "h0"}},
		"there are 0 packets":                  {{Do: "deliver", At: "h1", From: "s0"}},
		"\"fly\" is nothing that happens":      {{Do: "fly", At: "s0"}},
		"once more than the model allows":      {{Do: "lose", At: "s0", From: "h0"}, {Do: "lose", At: "s0", From: "h1"}},
		"while something is on its way":        {{Do: "timeout", At: "h0"}},
		"may not do \"send broadcast\"":        {{Do: "send", At: "s0", Action: "send broadcast"}},
		"early once more than":                 {{Do: "early", At: "h0"}},
		"step 2: duplicate once more than the": {{Do: "deliver", At: "s0", From: "h0"}, {Do: "duplicate", At: "h0", From: "s0"}},
	} {
		_, err := Replay(&Trace{Config: c, Steps: steps}, &bytes.Buffer{})
		require.ErrorIs(t, err, errScenario, want)
		assert.ErrorContains(t, err, want)
	}
	_, err := ParseTrace([]byte("stepps: []"))
	require.Error(t, err)
}

// wrong is an engine that puts a bit of a frame wrong.
type wrong struct{ dut.DUT }

func (w wrong) Out() []dut.Frame {
	outs := w.DUT.Out()
	for i := range outs {
		outs[i].Data[len(outs[i].Data)-1] ^= 1
	}
	return outs
}

// A script drives any DUT: the reference behind registers answers as it should, whatever the scenario's rules; one that answers wrong is
// found; one without room is refused.
func TestDrive(t *testing.T) {
	for _, c := range bad() {
		t.Run(c.String(), func(t *testing.T) {
			p := synthetic.Mini()
			p.Mode = c.Mode
			m := synthetic.Manifest(p)
			r := check(t, c.Config, Options{Symmetry: true, Reduction: true})
			require.NotNil(t, r.Violation)
			names, err := r.Violation.Switches()
			require.NoError(t, err)
			frames := 0
			for _, name := range names {
				s, err := r.Violation.Script(name)
				require.NoError(t, err)
				d, err := dut.NewReference(m)
				require.NoError(t, err)
				done, err := s.Drive(d, m)
				if c.Free {
					require.ErrorIs(t, err, ErrNoRoom)
					return
				}
				require.NoError(t, err)
				frames += done.Frames
				if done.Answers > 0 {
					d, err := dut.NewReference(m)
					require.NoError(t, err)
					_, err = s.Drive(wrong{d}, m)
					require.ErrorContains(t, err, "came out, and should be")
				}
				p := p
				p.Mode = 5 - c.Mode
				_, err = s.Drive(d, synthetic.Manifest(p))
				require.ErrorIs(t, err, ErrNoRoom)
				p.Mode, p.Ports = c.Mode, 1
				_, err = s.Drive(d, synthetic.Manifest(p))
				require.ErrorIs(t, err, ErrNoRoom)
			}
			assert.Positive(t, frames)
		})
	}
}

// What a switch sees in a scenario, as frames: an engine set up by the script alone gives the same answers.
func TestScript(t *testing.T) {
	for _, c := range bad() {
		r := check(t, c.Config, Options{Symmetry: true, Reduction: true})
		require.NotNil(t, r.Violation)
		s, err := r.Violation.Script("s0")
		require.NoError(t, err)
		e, err := inc.New(s.Params)
		require.NoError(t, err)
		for i, end := range s.Endpoints {
			require.NoError(t, e.SetEndpoint(i, end))
		}
		require.NoError(t, e.SetGroup(0, s.Group))
		require.NoError(t, e.Enable(0))
		e.SetManual(true)
		answers := 0
		for _, x := range s.Exchanges {
			var outs []inc.Out
			if x.Frame != nil {
				assert.True(t, roce.CheckICRC(x.Frame))
				outs = e.Handle(0, x.Port, x.Frame, false)
			} else {
				outs, err = e.Act(0, x.Action)
				require.NoError(t, err)
			}
			assert.Empty(t, cmp.Diff(x.Outs, framesOf(outs)))
			answers += len(outs)
		}
		assert.Positive(t, answers, c.Config)
		assert.Zero(t, s.Params.Rules)
		_, err = r.Violation.Script("h0")
		require.ErrorIs(t, err, errScenario)
	}
}
