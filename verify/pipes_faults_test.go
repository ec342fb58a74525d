// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/jobs"
	"incforge/internal/synthetic"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/rig"
)

// faultyPipes is a Mode III engine with something wrong with what it says that it does, or with what leaves.
type faultyPipes struct {
	*faulty
	acts func(all []dut.Act) []dut.Act
}

func (f *faultyPipes) Acts() []dut.Act {
	all := f.Reference.Acts()
	if f.acts != nil {
		all = f.acts(all)
	}
	return all
}

// TestPipeFaultsAreFound plants faults that only Mode III can have in the reference and expects a scenario to fail with these words.
func TestPipeFaultsAreFound(t *testing.T) {
	man := func() contract.Params {
		p := synthetic.Mini()
		p.Mode = 3
		return p
	}
	isData := func(o dut.Frame) bool {
		p, err := roce.Decode(o.Data)
		return err == nil && p.Op.IsSend()
	}
	isAnswer := func(o dut.Frame, syndrome uint8) bool {
		p, err := roce.Decode(o.Data)
		return err == nil && p.Op == roce.Acknowledge && p.Syndrome == syndrome
	}
	drop := func(is func(o dut.Frame) bool) func(int, dut.Frame) []dut.Frame {
		return func(_ int, o dut.Frame) []dut.Frame {
			if is(o) {
				return nil
			}
			return []dut.Frame{o}
		}
	}
	without := func(kind inc.ActionKind) func([]dut.Act) []dut.Act {
		return func(all []dut.Act) []dut.Act {
			return slices.DeleteFunc(all, func(a dut.Act) bool { return a.Kind == uint8(kind) })
		}
	}
	changed := func(change func(a *dut.Act)) func([]dut.Act) []dut.Act {
		return func(all []dut.Act) []dut.Act {
			for i := range all {
				change(&all[i])
			}
			return all
		}
	}
	m := synthetic.Manifest(man())
	at := func(name string) uint32 {
		a, err := m.Addr(name, 0)
		require.NoError(t, err)
		return a
	}
	written := func(name string, change func(v uint32) uint32) func(addr, v uint32) uint32 {
		return func(addr, v uint32) uint32 {
			if addr == at(name) {
				return change(v)
			}
			return v
		}
	}
	timer := bits(t, m, "PIPE_CTRL", "rnr_timer")
	for _, c := range []struct {
		name, scenario, want string
		faulty               faulty
		acts                 func([]dut.Act) []dut.Act
	}{
		{name: "sends without saying so", scenario: "pipe-answers", want: "unexpected frame", acts: without(inc.ActSend)},
		{name: "never sends", scenario: "pipe-answers", want: "docs/pipes.md section 3 requires the actions", acts: without(inc.ActSend),
			faulty: faulty{out: drop(isData)}},
		{name: "sends without leave", scenario: "pipe-nak", want: "does not allow now",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActSendOne) {
					a.EI ^= 1
				}
			})},
		{name: "another pipe", scenario: "pipe-inner", want: "does not allow now",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActSend) {
					a.EI ^= 1
				}
			})},
		{name: "an action that there is not", scenario: "pipe-answers", want: "kind 7",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActSend) {
					a.Kind = 7
				}
			})},
		{name: "an endpoint that there is not", scenario: "pipe-lost-ack", want: "does not allow now",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActTimeout) {
					a.EI |= 7
				}
			})},
		{name: "a cycle early", scenario: "pipe-timers", want: "does not allow before cycle",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActTimeout) {
					a.At--
				}
			})},
		{name: "a wait too short", scenario: "pipe-rnr", want: "does not allow before cycle",
			acts: changed(func(a *dut.Act) {
				if a.Kind == uint8(inc.ActResume) {
					a.At--
				}
			})},
		{name: "time-outs too late", scenario: "pipe-timers", want: "time-outs by cycle", faulty: faulty{write: written("PIPE_TIMEOUT", func(v uint32) uint32 { return v + 2 })}},
		{name: "no time-outs", scenario: "pipe-lost-ack", want: "never left", faulty: faulty{write: written("PIPE_TIMEOUT", func(uint32) uint32 { return rig.LongTimeout })}},
		{name: "a frame of another endpoint", scenario: "pipe-answers", want: "and named",
			acts: changed(func(a *dut.Act) {
				if a.Kind == dut.ActFrame {
					a.EI ^= 1
				}
			})},
		{name: "a frame never decided", scenario: "pipe-answers", want: "unexpected frame", acts: func(all []dut.Act) []dut.Act {
			return slices.DeleteFunc(all, func(a dut.Act) bool { return a.Kind == dut.ActFrame })
		}},
		{name: "a frame decided twice", scenario: "pipe-answers", want: "has taken none", acts: func(all []dut.Act) []dut.Act {
			for i, a := range all {
				if a.Kind == dut.ActFrame {
					return slices.Insert(all, i, a)
				}
			}
			return all
		}},
		{name: "no ACK", scenario: "pipe-answers", want: "never left", faulty: faulty{out: drop(func(o dut.Frame) bool { return isAnswer(o, roce.AckSyndrome) })}},
		{name: "no NAK", scenario: "pipe-answers", want: "never left", faulty: faulty{out: drop(func(o dut.Frame) bool { return isAnswer(o, roce.NAKSequence) })}},
		{name: "another RNR timer", scenario: "pipe-full", want: "unexpected frame", faulty: faulty{write: written("PIPE_CTRL", func(v uint32) uint32 { return v ^ timer.Put(2) })}},
		{name: "pipes of another size", scenario: "pipe-full", want: "differ", faulty: faulty{write: written("GROUP_PIPE", func(uint32) uint32 { return 0 })}},
		{name: "who failed is not shown", scenario: "pipe-failed", want: "GROUP_FAILED", faulty: faulty{read: func(addr, v uint32) uint32 {
			if addr == at("GROUP_FAILED") {
				return 0
			}
			return v
		}}},
		{name: "a result altered when it is sent again", scenario: "pipe-nak", want: "unexpected frame", faulty: faulty{out: func() func(int, dut.Frame) []dut.Frame {
			var seen [][]byte
			return func(_ int, o dut.Frame) []dut.Frame {
				if isData(o) {
					if slices.ContainsFunc(seen, func(b []byte) bool { return bytes.Equal(b, o.Data) }) {
						o.Data[len(o.Data)-5] ^= 1
						roce.Reseal(o.Data)
					} else {
						seen = append(seen, slices.Clone(o.Data))
					}
				}
				return []dut.Frame{o}
			}
		}()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: m, Kind: dut.KindReference}, Scenario: c.scenario, Seed: 1, wrap: func(d dut.DUT) dut.DUT {
				f := c.faulty
				f.Reference = d.(*dut.Reference)
				return &faultyPipes{faulty: &f, acts: c.acts}
			}})
			require.ErrorIs(t, err, ErrFailed)
			require.Len(t, rep.Tests, 1)
			assert.Equal(t, result.Fail, rep.Tests[0].Verdict)
			assert.Contains(t, rep.Tests[0].Message, c.want)
		})
	}
}

// TestPipeCoverage asks that Mode III's scenarios together meet every action, every reason to drop that there is, every answer.
func TestPipeCoverage(t *testing.T) {
	p := synthetic.Mini()
	p.Mode = 3
	rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Place: jobs.Place{Jobs: 2}, Seed: 1})
	require.NoError(t, err)
	s := rep.Coverage.Summary()
	for _, want := range []string{"BYPASS", "BUFFERED", "TX_RESULT", "DOWN_TAKEN", "RX_DUPLICATE", "RX_ACK", "RX_NAK", "RX_RNR", "RANGE_OPEN",
		inc.ActSend.String(), inc.ActSendOne.String(), inc.ActTimeout.String(), inc.ActResume.String()} {
		assert.Positive(t, s.Outcomes[want], want)
	}
	for c := range inc.PipeCounters {
		if name := c.String(); len(name) > 5 && name[:5] == "DROP_" && c != inc.DropStale && c != inc.DropWindow {
			assert.Positive(t, s.Outcomes[name], name)
		}
	}
	assert.Empty(t, holes(s))
}
