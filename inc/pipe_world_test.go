// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// pipes is a Mode III engine under test with a twin that takes the same by Step and ActStep, and a third engine that is put into the
// first one's state after every call. Actions are taken by hand.
type pipes struct {
	*world
	other *Engine
	now   Time
}

// pipeParams is smallParams in Mode III.
func pipeParams() Params {
	p := smallParams()
	p.Mode = 3
	return p
}

// newPipes makes an engine with these groups, all of them enabled.
func newPipes(t testing.TB, p Params, groups ...Group) *pipes {
	t.Helper()
	w := &pipes{world: newWorld(t, p, groups...), other: newWorld(t, p, groups...).e}
	w.configure(func(e *Engine) error { e.SetManual(true); return nil })
	return w
}

// newPipeStar is the root of a star with hosts at endpoints 0 to 3 and n slots a pipe.
func newPipeStar(t testing.TB, n int, start roce.PSN) *pipes {
	g := starGroup(0, start)
	g.PipeSlots = n
	return newPipes(t, pipeParams(), g, starGroup(1, 0))
}

// check compares what leaves by Handle or Act and by Step or ActStep, and verifies what must hold always.
func (w *pipes) check(outs, steps []Out) {
	w.t.Helper()
	require.Len(w.t, steps, len(outs))
	for i, step := range steps {
		require.Nil(w.t, step.Frame)
		require.Equal(w.t, outs[i].Port, step.Port)
		require.Equal(w.t, outs[i].Bypass, step.Bypass)
		if !outs[i].Bypass {
			w.checkFrame(outs[i])
			require.Equal(w.t, outs[i].Frame, bytesOf(step.Packet))
		}
	}
	state := w.e.AppendState(nil)
	require.Equal(w.t, state, w.twin.AppendState(nil))
	require.NoError(w.t, w.other.Restore(state))
	require.Equal(w.t, state, w.other.AppendState(nil))
	require.Equal(w.t, w.e.Actions(nil), w.other.Actions(nil))
	require.NoError(w.t, w.e.CheckInvariants())
	require.NoError(w.t, w.e.Counters().CheckPipeIdentities())
	require.Zero(w.t, w.e.Discarded(0))
}

// send offers a packet on the port its endpoint is reached by.
func (w *pipes) send(p roce.Packet) []Out {
	w.t.Helper()
	port := w.e.table[int(p.DestQP)%len(w.e.table)].Port
	outs := w.e.Handle(w.now, port, bytesOf(p), false)
	w.check(outs, w.twin.Step(w.now, port, p))
	return outs
}

// act takes an action that must be allowed.
func (w *pipes) act(a Action) []Out {
	w.t.Helper()
	require.Contains(w.t, w.e.Actions(nil), a)
	outs, err := w.e.Act(w.now, a)
	require.NoError(w.t, err)
	steps, err := w.twin.ActStep(w.now, a)
	require.NoError(w.t, err)
	w.check(outs, steps)
	return outs
}

// sends takes the sends that may be taken until there are none, and gives what leaves.
func (w *pipes) sends() []Out {
	w.t.Helper()
	var outs []Out
	for {
		a := w.e.Due(-1, nil)
		if len(a) == 0 {
			return outs
		}
		outs = append(outs, w.act(a[0])...)
	}
}

// said is what a packet that left says, for comparison: to whom, what, and its number.
type said struct {
	To       int
	What     string
	PSN      roce.PSN
	Payload  string
	MSN, Imm uint32
}

// heard is what left, in order.
func (w *pipes) heard(outs []Out) []said {
	var all []said
	for _, o := range outs {
		p := o.Packet
		s := said{To: int(p.DestQP-0x1100) % w.e.params.EPS(), What: p.Op.String(), PSN: p.PSN, Payload: string(p.Payload), Imm: p.Imm}
		if p.Op == roce.Acknowledge {
			s.What, s.MSN = roce.SyndromeKindOf(p.Syndrome).String(), p.MSN
		}
		all = append(all, s)
	}
	return all
}

// says compares what left with what should have.
func (w *pipes) says(outs []Out, want ...said) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.heard(outs)); diff != "" {
		w.t.Fatalf("-expected +got\n%s", diff)
	}
}

// acked is an ACK to an endpoint whose packets are all SEND ONLY from PSN start on.
func acked(to int, psn, start roce.PSN) said {
	return said{To: to, What: "ACK", PSN: psn, MSN: uint32(psn.Next()-start) & roce.PSNMask}
}

// toAll is the same SEND ONLY to each of these endpoints.
func toAll(psn roce.PSN, payload []byte, to ...int) []said {
	var all []said
	for _, e := range to {
		all = append(all, said{To: e, What: "SEND_ONLY", PSN: psn, Payload: string(payload)})
	}
	return all
}

// contribute sends the contributions of these endpoints to a PSN of group 0, and expects an ACK for each.
func (w *pipes) contribute(psn roce.PSN, from ...int) {
	w.t.Helper()
	for _, e := range from {
		w.says(w.send(w.data(0, e, psn, contribution(e, psn, 4))), acked(e, psn, w.e.groups[0].Start))
	}
}

// acks sends ACKs of a PSN from these endpoints of group 0, which must be news.
func (w *pipes) acks(psn roce.PSN, from ...int) {
	w.t.Helper()
	for _, e := range from {
		before := w.e.counters[RxAck]
		w.nothing(w.send(w.ack(0, e, psn, roce.AckSyndrome)))
		require.Equal(w.t, before+1, w.e.counters[RxAck], "ACK %v of endpoint %d", psn, e)
	}
}

// gained is what f added to each counter.
func (w *pipes) gained(f func()) map[string]uint64 {
	w.t.Helper()
	return w.counted(f)
}
