// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
)

// The lengths of messages that are searched: on the path MTUs 4 and 8, which the hosts have in turn, they are one packet and one, two and one, three and two.
var lengths = []int{4, 8, 12}

// most is how many states a search may have: without this one that grew would take all memory.
const most = 2e7

// holds searches a model in which nothing is wrong to its end.
func holds(t *testing.T, c model.Config) *Result {
	t.Helper()
	r := check(t, c, Options{Symmetry: true, Reduction: true, Workers: 1, MaxStates: most})
	if r.Violation != nil {
		t.Fatal(r.Violation.Text, "\n", chartOf(t, r.Violation))
	}
	require.True(t, r.Complete)
	assert.Positive(t, r.Done)
	t.Logf("%d states, diameter %d", r.Distinct, r.Diameter)
	return r
}

// Mode I on a star, with messages of one, two and three packets, windows of one and of two messages, and one thing that goes wrong in each run: a
// packet is lost, comes twice, overtakes others, a timer expires too early, a receive is missing. Three messages are more than there are slots.
func TestMessages(t *testing.T) {
	for _, bytes := range lengths {
		for window := 1; window <= 2; window++ {
			for _, wrong := range []model.Config{{Loss: 1}, {Dup: 1}, {Reorder: 1}, {Early: 1}, {RNR: 1}} {
				c := wrong
				c.Mode, c.Collective, c.Tree, c.Requests, c.Window, c.Bytes = 1, model.AllReduce, "star-2", 3, window, bytes
				t.Run(c.String(), func(t *testing.T) {
					t.Parallel()
					holds(t, c)
				})
			}
		}
	}
}

// Messages of three packets and two, or of three each, where two things go wrong in one run, sends come at any time, the collective is another, or a switch
// is below another.
func TestMessagesOfThreePackets(t *testing.T) {
	for _, c := range []model.Config{
		{Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Dup: 1, Early: 1},
		{Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1, Early: 1},
		{Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Dup: 1, Reorder: 1},
		{Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Reorder: 1},
		{Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, PathMTUs: []int{4}, Loss: 1, Dup: 1},
		{Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Loss: 1, Free: true},
		{Collective: model.AllReduce, Tree: "chain-1", Requests: 1, Window: 1, Reorder: 1},
		{Collective: model.AllReduce, Tree: "chain-1", Requests: 2, Window: 2, Loss: 1},
		{Collective: model.AllReduce, Tree: "3-2", Requests: 1, Window: 1, Dup: 1},
		{Collective: model.Reduce, Tree: "star-2", Requests: 3, Window: 2, Dup: 1, Reorder: 1},
		{Collective: model.Reduce, Tree: "star-3", Requests: 2, Window: 2, Dup: 1, Early: 1},
		{Collective: model.Broadcast, Tree: "star-2", Requests: 3, Window: 2, Loss: 1, Dup: 1, Early: 1},
		{Collective: model.Broadcast, Tree: "star-3", Requests: 2, Window: 2, Loss: 1, Reorder: 1},
	} {
		c.Mode, c.Bytes = 1, 12
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			holds(t, c)
		})
	}
}

// throughATree is two messages through Tree-3-2 with a loss, half of the hosts sending each in two packets, half in one.
func throughATree(window int) model.Config {
	return model.Config{Mode: 1, Collective: model.AllReduce, Tree: "3-2", Requests: 2, Window: window, Bytes: 8, Loss: 1}
}

func TestMessagesThroughATree(t *testing.T) { holds(t, throughATree(2)) }

var larger = flag.Bool("larger", false, "search models of Mode I that take most of a minute of a processor")

// Models whose search costs some seconds each, the last one half a minute.
func TestLargerMessages(t *testing.T) {
	if !*larger {
		t.Skip("asked for with -larger")
	}
	star := model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Bytes: 12, Requests: 2, Window: 2, Dup: 1, Reorder: 1}
	again := model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Bytes: 12, Requests: 3, Window: 2, Slots: 1, Loss: 1, Reorder: 1}
	chain := model.Config{Mode: 1, Collective: model.AllReduce, Tree: "chain-1", Bytes: 12, Requests: 2, Window: 2, Dup: 1, Early: 1}
	for _, c := range []model.Config{throughATree(1), star, again, chain} {
		t.Run(c.String(), func(t *testing.T) { holds(t, c) })
	}
}
