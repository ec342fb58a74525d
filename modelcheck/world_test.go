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
	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
	"incforge/roce"
	"incforge/verify/dut"
)

// chartOf replays a trace, which must come to what it says.
func chartOf(t *testing.T, tr *scenario.Trace) string {
	t.Helper()
	var b bytes.Buffer
	same, err := scenario.Replay(tr, &b)
	require.NoError(t, err)
	require.True(t, same, b.String())
	return b.String()
}

// bad are models in which a rule known to be wrong shows. Without the rule they hold.
func bad() []struct {
	model.Config
	kind string
} {
	return []struct {
		model.Config
		kind string
	}{
		{model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 2, Bad: []string{"A1"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 2, Bad: []string{"A1"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Bad: []string{"A2"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.AllReduce, Tree: "3-2", Requests: 2, Window: 1, Loss: 1, Bad: []string{"A2"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 1, Window: 1, Loss: 1, Bad: []string{"A9"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 3, Window: 3, Loss: 2, Bad: []string{"A10"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Loss: 1, Bad: []string{"B6-ack"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 1, Window: 1, Park: 1, Bad: []string{"park-busy"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Park: 1, Bad: []string{"old-psn"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 1, Window: 1, Park: 1, Bad: []string{"park-busy"}}, scenario.KindFault},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "chain-1", Requests: 2, Window: 2, Reorder: 2, Bad: []string{"B6-assert"}}, scenario.KindFault},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Bad: []string{"B9"}}, scenario.KindFault},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Slots: 1, Loss: 1, Bad: []string{"B10"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Slots: 1, Loss: 1, Bad: []string{model.BadSilentHost}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Collective: model.Reduce, Tree: "star-3", Requests: 4, Window: 2, Slots: 2, Loss: 1, Bad: []string{"B15"}}, scenario.KindFault},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Loss: 1, Bad: []string{"B15"}}, scenario.KindDeadlock},
		{model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Free: true, Bad: []string{"B9"}}, scenario.KindFault},
		{model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Bad: []string{"by-psn"}}, scenario.KindFault},
		{model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 1, Window: 1, Park: 1, Bad: []string{"park-busy"}}, scenario.KindFault},
		{model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Bad: []string{"ack-full"}}, scenario.KindLivelock},
		{model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Bad: []string{"free-first"}}, scenario.KindDeadlock},
		{model.Config{Mode: 1, Collective: model.AllReduce, Tree: "chain-1", Requests: 2, Window: 2, Slots: 1, Loss: 1, Bad: []string{"keep-refused"}}, scenario.KindFault},
		{model.Config{Mode: 2, Ranges: ranges("reduce:0", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Bad: []string{"same-offsets"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Ranges: ranges("reduce:0", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Bad: []string{"same-offsets"}}, scenario.KindFault},
		{model.Config{Mode: 2, Ranges: ranges("allreduce", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Bad: []string{"one-range"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Ranges: ranges("reduce:0", "broadcast:1"), Tree: "star-3", Requests: 1, Window: 1, Loss: 1, Bad: []string{"no-reack"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Ranges: ranges("broadcast:0", "broadcast:1"), Tree: "chain-2", Requests: 1, Window: 1, Loss: 1, RNR: 1, Bad: []string{"nak-speaks"}}, scenario.KindLivelock},
		{model.Config{Mode: 3, Ranges: ranges("allreduce", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, Bad: []string{"undrained"}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Ranges: ranges("allreduce", "reduce:0", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Bad: []string{model.BadEagerHost}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Ranges: ranges("reduce:1", "broadcast:0", "allreduce"), Tree: "star-3", Requests: 1, Window: 2, Loss: 1, Bad: []string{model.BadImpatientRoot}}, scenario.KindLivelock},
		{model.Config{Mode: 2, Ranges: ranges("allreduce", "reduce:0"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, Bad: []string{model.BadEarlyReceives}}, scenario.KindLivelock},
	}
}

// A checker that never finds anything proves nothing: every rule known to be wrong is found, with all ways of searching, the model holds
// without it, and the scenario written down comes to the same on the reference.
func TestRulesKnownToBeWrongAreFound(t *testing.T) {
	known := model.BadRules()
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
				if i == 1 && shortest > 0 && c.kind != scenario.KindLivelock { // a livelock's steps go on
					assert.Len(t, r.Violation.Steps, shortest)
				}

				if o.Reduction && shortest > 0 && c.kind == scenario.KindFault {
					o.Shortest = true
					assert.Len(t, check(t, c.Config, o).Violation.Steps, shortest)
				}

				text, err := r.Violation.YAML()
				require.NoError(t, err)
				back, err := scenario.ParseTrace(text)
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
		model.Config{Mode: 2, Ranges: ranges("allreduce", "reduce:0", "broadcast:1"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, RNR: 1},
		model.Config{Mode: 3, Ranges: ranges("reduce:0", "barrier", "broadcast:1"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, Early: 1},
		model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1, Early: 1, RNR: 1},
		model.Config{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 3, Window: 2, Reorder: 1, Dup: 1},
		model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Slots: 1, Loss: 1, Early: 1, Dup: 1}) {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			s, err := newSearch(c, Options{Symmetry: true, Workers: 1})
			require.NoError(t, err)
			complete, err := s.explore(context.Background())
			require.NoError(t, err)
			require.True(t, complete)
			require.Empty(t, s.found)
			for seed := range uint64(30) {
				rng := rand.New(rand.NewPCG(seed, 1))
				w, err := scenario.NewWorld(c)
				require.NoError(t, err)
				steps, last := 0, scenario.Happening{}
				for ; steps < 500; steps++ {
					name := s.canonical(s.stateOf(t, w), make([]uint32, len(s.start)))
					require.NotZero(t, *s.seen.shards[name.hi>>(64-shardBits)].cell(name), "seed %d, step %d: %+v", seed, steps, last)
					h, ok := random(w, rng)
					if !ok {
						break
					}
					require.NoError(t, h.Fault)
					last = h
				}
				_, stalled := w.Stalled()
				assert.False(t, stalled)
			}
		})
	}
}

// random takes some step that may be taken; ok is false if there is none.
func random(w *scenario.World, rng *rand.Rand) (h scenario.Happening, ok bool) {
	var steps []scenario.Step
	for n := range w.Topo.Nodes {
		name := w.Topo.Name(n)
		if p := w.Topo.Nodes[n].Parent; p >= 0 {
			for i := range w.Up[n] {
				for _, do := range []string{"deliver", "deliver", "deliver", "lose", "duplicate"} {
					steps = append(steps, scenario.Step{Do: do, At: w.Topo.Name(p), From: name, Index: i})
				}
			}
			for i := range w.Down[n] {
				for _, do := range []string{"deliver", "deliver", "deliver", "lose", "duplicate"} {
					steps = append(steps, scenario.Step{Do: do, At: name, From: w.Topo.Name(p), Index: i})
				}
				if p := w.Down[n][i]; w.Roles[n] != nil && p.Op != roce.Acknowledge && p.PSN == int16(w.Hosts[n].Expected) {
					steps = append(steps, scenario.Step{Do: "not-ready", At: name, From: w.Topo.Name(w.Topo.Nodes[n].Parent), Index: i})
				}
			}
		}
		for _, do := range []string{"timeout", "early"} {
			if w.Roles[n] != nil {
				steps = append(steps, scenario.Step{Do: do, At: name})
				continue
			}
			for _, a := range []string{"time-out", "resume"} {
				for e := range w.Engines[n].Members + 1 {
					if to := w.Topo.Neighbour(n, e); to >= 0 {
						steps = append(steps, scenario.Step{Do: do, At: name, Action: a + " " + w.Topo.Name(to)})
					}
				}
			}
		}
		if w.Config.Free && w.Engines[n] != nil {
			for _, p := range []inc.Pipe{inc.PipeAggregation, inc.PipeBroadcast} {
				steps = append(steps, scenario.Step{Do: "send", At: name, Action: "send " + p.String()})
			}
			for e := range w.Engines[n].Members + 1 {
				if to := w.Topo.Neighbour(n, e); to >= 0 {
					steps = append(steps, scenario.Step{Do: "send", At: name, Action: "send one " + w.Topo.Name(to)})
				}
			}
		}
	}
	rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, s := range steps {
		plain := s.Do == "deliver" || s.Do == "send" || s.Do == "timeout" || s.Do == "early"
		if s.Index > 0 && !plain || s.Index > 0 && w.Budget["reorder"] == 0 || s.Do == "early" && (w.Budget["early"] == 0 || w.Quiet()) {
			continue
		}
		if !plain && w.Budget[s.Do] == 0 {
			continue
		}
		if h, err := w.Do(s); err == nil {
			return h, true
		}
	}
	return scenario.Happening{}, false
}

// stateOf is the world's state in the tables.
func (s *search) stateOf(t *testing.T, w *scenario.World) []uint32 {
	t.Helper()
	s.system.mu.Lock()
	defer s.system.mu.Unlock()
	var state []uint32
	for n := range w.Topo.Nodes {
		bytes := w.Hosts[n].Append(nil)
		if w.Engines[n] != nil {
			bytes = w.States[n]
		}
		id, ok := s.nodes.ids[nodeKey{n, string(bytes)}]
		require.True(t, ok, "a state of %s that the search never saw", w.Topo.Name(n))
		state = append(state, s.internComp(compKey{id, [2]uint32{s.internPackets(w.Up[n]), s.internPackets(w.Down[n])}}))
	}
	b := w.Budget
	return append(state, uint32(b["lose"]|b["duplicate"]<<dupAt|b["reorder"]<<reorderAt|b["early"]<<earlyAt|b["not-ready"]<<rnrAt))
}

// A chart, whole.
func TestChart(t *testing.T) {
	r := check(t, model.Config{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 1, Window: 1, Loss: 1, Bad: []string{"A9"}}, Options{Symmetry: true, Reduction: true})
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
			if p.Mode = c.Mode; c.Mode == 1 {
				p.MessageBytes, p.WindowMessages = 1024, 4
			}
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
				if c.Free || c.Mode == 1 { // whose paths no engine has
					require.ErrorIs(t, err, scenario.ErrNoRoom)
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
				require.ErrorIs(t, err, scenario.ErrNoRoom)
				p.Mode, p.Ports = c.Mode, 1
				_, err = s.Drive(d, synthetic.Manifest(p))
				require.ErrorIs(t, err, scenario.ErrNoRoom)
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
		e, err := inc.New(s.Reference.Params())
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
			assert.Empty(t, cmp.Diff(x.Outs, scenario.FramesOf(outs)))
			answers += len(outs)
		}
		if c.Config.Mode != 1 || c.Config.Park == 0 { // in Mode I a park goes wrong before anything is answered
			assert.Positive(t, answers, c.Config)
		}
		assert.Zero(t, s.Reference.Params().Rules)
		_, err = r.Violation.Script("h0")
		require.ErrorIs(t, err, scenario.ErrScenario)
	}
}
