// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/scenarios"
)

// messages is Mini in Mode I: messages of four packets, pools of two, room for four groups.
func messages() contract.Params {
	p := synthetic.Mini()
	p.Mode, p.MessageBytes, p.WindowMessages, p.BufferBytes = 1, 4096, 2, 65536
	return p
}

// TestScenariosOfModeI: all scenarios run in Mode I but those about what other modes do in another way, and those of what this engine has not.
func TestScenariosOfModeI(t *testing.T) {
	t.Parallel()
	const modeII = "is about Mode II, the configuration is of Mode I"
	want := map[string]string{"ecc": "needs ecc"}
	for _, name := range []string{"ack-reflect", "duplicate-after", "no-double-recycle", "port-troubles", "stale-alias", "gap-nak", "acks-simultaneous", "inner-node", "reduce", "broadcast",
		"in-band", "in-band-controls", "in-band-before", "in-band-early", "in-band-reset", "in-band-starts", "in-band-stopped", "stops-held-up"} {
		want[name] = modeII
	}
	for _, name := range []string{"park-answers", "park-cycles", "park-illegal", "park-late", "park-messages", "park-moves", "park-random", "park-ranges", "park-refused", "park-releases", "park-share",
		"park-turns"} {
		want[name] = "needs park"
	}
	for _, name := range []string{"interrupts", "priorities", "vlan"} {
		want[name] = "needs " + name
	}
	for _, name := range []string{"in-band-rewritten", "starts-held-up", "starts-of-all-slots"} {
		want[name] = "is about packets, the configuration is of Mode I"
	}
	for _, name := range []string{"pipe-beside", "pipe-in-band-before", "pipe-in-band-starts", "pipe-late", "pipe-pace"} {
		want[name] = "is about Mode III, the configuration is of Mode I"
	}
	want["arith-pace"] = "is about reproducible sums"
	want["message-asks"] = "needs messages of more than 16 of the shortest packets, the configuration has 16"
	got := map[string]string{}
	for _, s := range scenarios.All() {
		if s.Needs == nil {
			continue
		}
		if why := s.Needs(messages()); why != "" {
			got[s.Name] = why
		}
	}
	assert.Equal(t, want, got)
}

// TestLongMessages: what asks for messages of more than 16 packets, on the reference.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	p := messages()
	p.MessageBytes, p.BufferBytes = 16384, 262144
	rep, err := Run(t.Context(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: "message-asks", Seed: 1})
	require.NoError(t, err)
	assert.Equal(t, result.Pass, rep.Tests[0].Verdict, rep.Tests[0].Message)
}

// TestGroupsTakeTurns: memory that holds one of two groups, each of which needs 72 % of it, is shared by parking; in every mode.
func TestGroupsTakeTurns(t *testing.T) {
	t.Parallel()
	for mode, c := range map[int]struct{ bytes, messageBytes, messages int }{1: {22528, 2048, 4}, 2: {bytes: 11264}, 3: {bytes: 11264}} {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) {
			t.Parallel()
			p := synthetic.Mini()
			p.Mode, p.Park, p.Groups, p.BufferBytes, p.MessageBytes, p.WindowMessages = mode, true, 2, c.bytes, c.messageBytes, c.messages
			rep, err := Run(t.Context(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: "park-share", Seed: 1})
			require.NoError(t, err)
			got := rep.Tests[0]
			require.Equal(t, result.Pass, got.Verdict, got.Message)
			assert.EqualValues(t, 72, got.Values["memory_percent"])
			assert.GreaterOrEqual(t, got.Values["goodput_percent_of_half"], uint64(90))
			t.Logf("%v", got.Values)
		})
	}
}

func TestReferencePassesEveryScenario(t *testing.T) {
	modeI, parks := messages(), synthetic.Mini()
	modeI.Park, parks.Park = true, true
	inModeIII := func(p contract.Params) contract.Params {
		p.Mode = 3
		return p
	}
	for name, p := range map[string]contract.Params{"mini": synthetic.Mini(), "mini that parks": parks, "full": synthetic.Full(), "reproducible": synthetic.Reproducible(),
		"mini in Mode III": inModeIII(synthetic.Mini()), "full in Mode III": inModeIII(synthetic.Full()),
		"reproducible in Mode III": inModeIII(synthetic.Reproducible()), "mini in Mode I that parks": modeI} {
		for _, s := range scenarios.All() {
			t.Run(name+"/"+s.Name, func(t *testing.T) {
				t.Parallel()
				rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: s.Name, Seed: 1})
				for _, r := range rep.Tests {
					require.NotEqual(t, result.Fail, r.Verdict, "%s", r.Message)
				}
				if !errors.Is(err, ErrNothingRan) {
					require.NoError(t, err)
				}
			})
		}
	}
}

// TestFailFast: a run that ends at the first failure reports the tests up to there, and one that does not reports all.
func TestFailFast(t *testing.T) {
	for _, first := range []bool{false, true} {
		rep, err := Run(context.Background(), Options{Source: dut.Source{Manifest: synthetic.Manifest(synthetic.Mini()), Kind: dut.KindReference}, Scenario: "b*", Seed: 1,
			FailFast: first, wrap: func(d dut.DUT) dut.DUT {
				return &faulty{Reference: d.(*dut.Reference), out: func(_ int, o dut.Frame) []dut.Frame {
					o.Data[len(o.Data)-1] ^= 1
					return []dut.Frame{o}
				}}
			}})
		require.ErrorIs(t, err, ErrFailed)
		if first {
			assert.Equal(t, 1, rep.Failed())
			assert.Equal(t, result.Fail, rep.Tests[len(rep.Tests)-1].Verdict)
		} else {
			assert.Greater(t, len(rep.Tests), 3)
			assert.Greater(t, rep.Failed(), 1)
		}
	}
}

// TestSameSeedSameStimulus: every scenario, run again with its seed, offers the same bytes in the same cycles, and the engine answers alike.
func TestSameSeedSameStimulus(t *testing.T) {
	for _, mode := range []int{2, 3} {
		p := synthetic.Mini()
		p.Mode = mode
		for _, s := range scenarios.All() {
			t.Run(fmt.Sprintf("mode %d/%s", mode, s.Name), func(t *testing.T) {
				t.Parallel()
				var first result.Test
				for again := range 2 {
					rep, err := Run(t.Context(), Options{Source: dut.Source{Manifest: synthetic.Manifest(p), Kind: dut.KindReference}, Scenario: s.Name, Seed: 3})
					if errors.Is(err, ErrNothingRan) {
						t.Skip(rep.Tests[0].Message)
					}
					require.NoError(t, err)
					got := rep.Tests[0]
					require.Len(t, got.Stimulus, 64)
					require.Len(t, got.Egress, 64)
					if again == 0 {
						first = got
						continue
					}
					assert.Equal(t, first.Stimulus, got.Stimulus, "stimulus")
					assert.Equal(t, first.Egress, got.Egress, "egress")
					assert.Equal(t, first.Cycles, got.Cycles, "cycles")
				}
			})
		}
	}
}
