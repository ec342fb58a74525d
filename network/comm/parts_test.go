// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTreeNumbers(t *testing.T) {
	for _, c := range []struct {
		text            string
		ranks, switches int
	}{{"2-4", 4, 1}, {"Tree-2-16", 16, 1}, {"3-2", 4, 3}, {"4-2", 8, 7}, {"3-4", 16, 5}, {"5-3", 81, 40}} {
		tree, err := ParseTree(c.text)
		require.NoError(t, err)
		assert.Equal(t, c.ranks, tree.Ranks())
		assert.Equal(t, c.switches, tree.Switches())
		leaves := 0
		for s := range tree.Switches() {
			if tree.Leaf(s) {
				leaves++
				continue
			}
			for i := range tree.Degree {
				p, child, ok := tree.Parent(tree.Child(s, i))
				assert.True(t, ok)
				assert.Equal(t, []int{s, i}, []int{p, child})
			}
		}
		assert.Equal(t, tree.Ranks()/tree.Degree, leaves)
		for r := range tree.Ranks() {
			leaf, e := tree.Host(r)
			assert.True(t, tree.Leaf(leaf))
			assert.Equal(t, r, tree.Rank(leaf, e))
		}
	}
	for _, bad := range []string{"", "3", "3-x", "1-4", "3-1", "40-2", "2-100000", "a-2"} {
		_, err := ParseTree(bad)
		assert.Error(t, err, bad)
	}
}

// TestToward: whoever follows the endpoints from any switch arrives at the rank.
func TestToward(t *testing.T) {
	for _, tree := range []Tree{{2, 5}, {3, 2}, {3, 3}, {4, 2}} {
		for s := range tree.Switches() {
			for r := range tree.Ranks() {
				at, steps := s, 0
				for {
					e := tree.Toward(at, r)
					require.NotZero(t, tree.edges(at)>>e&1)
					if steps++; steps > 2*tree.Levels {
						t.Fatalf("%s: no way from switch %d to rank %d", tree, s, r)
					}
					if e == tree.Degree {
						at, _, _ = tree.Parent(at)
						continue
					}
					if tree.Leaf(at) {
						require.Equal(t, r, tree.Rank(at, e))
						break
					}
					at = tree.Child(at, e)
				}
			}
		}
	}
}

func TestPiecesCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 1000} {
		total := 0
		for r := range 7 {
			piece := Pieces(n, 7, r+1) - Pieces(n, 7, r)
			assert.Contains(t, []int{n / 7, n/7 + 1}, piece)
			total += piece
		}
		assert.Equal(t, n, total)
	}
}

func TestCollectiveNames(t *testing.T) {
	for _, c := range Collectives() {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back Collective
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c, back)
	}
	_, err := ParseCollective("gather")
	assert.ErrorContains(t, err, "allreduce")
	assert.Equal(t, "collective 77", Collective(77).String())
}

// TestIdentities: every counter that a relation has is missed when it is one off.
func TestIdentities(t *testing.T) {
	good := func() map[string]uint32 {
		return map[string]uint32{"RX_FRAMES": 31, "BYPASS": 1, "UP_DATA": 11, "DOWN_DATA": 4, "RX_ACK": 5, "RX_NAK": 1, "RX_RNR": 1, "RX_CNP": 1, "TX_REACK": 2,
			"DROP_ICRC": 2, "DROP_RANGE": 3, "DROP_GAP": 1, "DROP_STALE": 1, "DROP_WINDOW": 1, "DROP_SHAPE": 1, "AGG": 5, "TX_RESEND": 2, "BUFFERED": 3,
			"TX_RESULT": 2, "WIPE": 2, "TX_FANOUT": 4, "TX_FRAMES": 10}
	}
	require.NoError(t, Identities(2, good()))
	for _, name := range []string{"RX_FRAMES", "UP_DATA", "AGG", "BUFFERED", "WIPE", "TX_RESULT", "TX_FRAMES", "DROP_ICRC", "DROP_GAP", "TX_REACK", "TX_RESEND"} {
		c := good()
		c[name] += 3
		assert.Error(t, Identities(2, c), name)
	}
	pipes := func() map[string]uint32 {
		return map[string]uint32{"RX_FRAMES": 44, "BYPASS": 1, "UP_DATA": 11, "DOWN_DATA": 7, "RX_ACK": 9, "RX_NAK": 2, "RX_RNR": 3, "RX_CNP": 1, "DROP_ICRC": 4,
			"DROP_RANGE": 6, "DROP_GAP": 3, "DROP_FULL": 2, "DROP_SHAPE": 1, "AGG": 6, "DOWN_TAKEN": 4, "RX_DUPLICATE": 2, "TX_ACK": 12, "BUFFERED": 4, "TX_RESULT": 2,
			"WIPE": 1, "TX_FANOUT": 8, "TX_GAP_NAK": 2, "TX_RNR": 2, "TX_CNP": 1, "TX_FRAMES": 25}
	}
	require.NoError(t, Identities(3, pipes()))
	for name := range pipes() {
		if name == "WIPE" { // those that are still to be freed are nowhere
			continue
		}
		c := pipes()
		c[name] += 5
		assert.Error(t, Identities(3, c), name)
	}
	assert.Equal(t, 2, bits.OnesCount32(Tree{3, 2}.children()))
}
