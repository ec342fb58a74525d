// SPDX-License-Identifier: Apache-2.0

package decider_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{decider.FrameClass{}}, nil)
	hdltest.Check(t, []graph.Describer{decider.DropLadder{}}, nil)
	hdltest.Check(t, []graph.Describer{decider.HoldWork{Width: 1}, decider.HoldWork{Width: 60}},
		[]hdltest.Refused{{Leaf: decider.HoldWork{}, Params: []graph.Param{{Name: "WIDTH", Value: 0}}, Rule: "WIDTH must be at least 1"}})
}

// TestFrameClass: every opcode, and every syndrome, by the names that docs/engine.md section 3 gives them.
func TestFrameClass(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, decider.FrameClass{}), 1)
	for v := range uint64(256) {
		b.Set("opcode", v)
		b.Set("syndrome", v)
		b.Clock()
		data := v <= 5
		require.Equal(t, data, b.Is("is_data"), v)
		require.Equal(t, v == 0x11, b.Is("is_ack"), v)
		require.Equal(t, v == 0x81, b.Is("is_cnp"), v)
		if data {
			require.Equal(t, v >= 2, b.Is("is_end"), "LAST or ONLY: %d", v)
			require.Equal(t, v == 3 || v == 5, b.Is("has_imm"), v)
		}
		require.Equal(t, v < 0x20, b.Is("syn_ack"), v)
		require.Equal(t, v >= 0x20 && v < 0x40, b.Is("syn_rnr"), v)
		require.Equal(t, v >= 0x60 && v < 0x64, b.Is("syn_nak"), v)
	}
}

// TestDropLadder: with everything that may be wrong wrong or not, the first reason of the order is told, and no other.
func TestDropLadder(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, decider.DropLadder{}), 1)
	for set := range 128 {
		is := func(n int) bool { return set>>n&1 != 0 }
		for n, name := range []string{"decided", "foreign", "live", "rx_err", "sum_ok", "len_ok", "icrc_ok"} {
			b.SetBool(name, is(n))
		}
		b.Clock()
		want := ""
		for _, reason := range []struct {
			is   bool
			name string
		}{{!is(0), "none"}, {is(1), "drop_foreign"}, {!is(2), "drop_disabled"}, {is(3), "drop_rx_error"}, {!is(4), "drop_checksum"},
			{!is(5), "drop_length"}, {!is(6), "drop_icrc"}, {true, "passed"}} {
			if reason.is && want == "" {
				want = reason.name
			}
		}
		for _, name := range []string{"drop_foreign", "drop_disabled", "drop_rx_error", "drop_checksum", "drop_length", "drop_icrc", "passed"} {
			require.Equal(t, name == want, b.Is(name), "%07b: %s", set, name)
		}
	}
}

// TestHoldWork: random works, verdicts and a taker that pauses: each is taken once, or killed, with its verdict told at the
// right time.
func TestHoldWork(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, decider.HoldWork{Width: 16}), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var (
		held, spec, open bool // one is held; it is speculative; a speculative one waits for its verdict
		data             uint64
		met              = map[string]int{}
	)
	for range 20000 {
		put := !held && !open && rng.IntN(2) == 0
		verdict := open && rng.IntN(3) == 0
		good := rng.IntN(2) == 0
		ready := rng.IntN(2) == 0
		next := rng.Uint64N(1 << 16)
		b.SetBool("put", put)
		b.Set("put_data", next)
		b.SetBool("commits", verdict && good)
		b.SetBool("kills", verdict && !good)
		b.SetBool("op_ready", ready)
		b.Clock()

		require.Equal(t, held, b.Is("held"))
		dies := verdict && !good && held
		require.Equal(t, held && ready && !dies, b.Is("op_valid"))
		if b.Is("op_valid") {
			require.Equal(t, data, b.Get("op_data"))
			require.Equal(t, spec && !verdict, b.Is("op_spec"))
			met["taken"]++
		}
		require.Equal(t, verdict && good && !held, b.Is("op_commit"))
		require.Equal(t, verdict && !good && !held, b.Is("op_kill"))
		if verdict {
			met[map[bool]string{true: "committed", false: "killed"}[good]+map[bool]string{true: " here", false: " there"}[held]]++
			open, spec = false, false
		}
		held = held && !ready && !dies
		if put {
			held, spec, open, data = true, true, true, next
		}
	}
	for _, name := range []string{"taken", "committed here", "committed there", "killed here", "killed there"} {
		require.Greater(t, met[name], 100, name)
	}
}
