// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/verify/arith"
)

// A group that comes later takes slots that nobody has, those of a parked group among them, at each switch by itself; the parked one gets others, or waits until there are some.
func TestGroupAfterPark(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		p := inMode(mode, engine(2))
		p.Park, p.Groups, p.BufferBytes = true, 5, 12*p.MTUBytes*p.MostUnits()
		w := world(t, shape(3, 2), p)
		rng := rand.New(rand.NewPCG(5, uint64(mode)))
		sum := Request{Collective: AllReduce, DType: arith.INT32}
		allReduce := func(g *Group) {
			t.Helper()
			r := sum
			r.In = tensors(rng, r, g.Ranks(), 4096)
			c, err := g.Queue(r)
			require.NoError(t, err)
			finish(t, w, c)
		}
		make4 := func() *Group {
			g, err := w.NewGroup(GroupConfig{Window: 2, Pipe: map[int]int{3: 2}[mode]})
			require.NoError(t, err)
			allReduce(g)
			return g
		}
		park := func(g *Group, switches ...int) {
			for _, s := range switches {
				parked, err := g.Park(s)
				require.NoError(t, err)
				require.True(t, parked)
			}
		}
		unpark := func(g *Group, s int, last bool) bool {
			done, err := g.Unpark(s, last)
			require.NoError(t, err)
			return done
		}
		unit := p.MostUnits()
		a, b := make4(), make4()
		require.Equal(t, []int{4 * unit, 4 * unit, 4 * unit}, b.base)
		park(b, 2, 1, 0)
		require.True(t, unpark(b, 0, true))
		require.True(t, unpark(b, 1, true))
		require.True(t, unpark(b, 2, false))
		require.Equal(t, []int{8 * unit, 8 * unit, 4 * unit}, b.base)
		park(a, 2, 1, 0)
		c, d := make4(), make4()
		require.Equal(t, []int{0, 0, 0}, c.base)
		require.Equal(t, []int{4 * unit, 4 * unit, 8 * unit}, d.base)
		_, err := w.NewGroup(GroupConfig{Window: 2, Pipe: map[int]int{3: 2}[mode]})
		require.ErrorContains(t, err, "are 0 left")
		require.False(t, unpark(a, 0, false))
		park(d, 2, 1, 0)
		for s := range w.Switches() {
			require.True(t, unpark(a, s, false))
		}
		require.Equal(t, []int{4 * unit, 4 * unit, 8 * unit}, a.base)
		allReduce(a)
		allReduce(b)
		allReduce(c)
	})
}
