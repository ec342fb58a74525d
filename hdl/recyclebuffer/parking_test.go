// SPDX-License-Identifier: Apache-2.0

package recyclebuffer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/recyclebuffer"
	"incforge/sim"
)

// parks is mini with groups that can be parked.
func parks() recyclebuffer.RecycleBuffer {
	return with(func(p *recyclebuffer.RecycleBuffer) { p.Park = 1 })
}

// live is a bench on which group 1 has been started.
func live(t *testing.T, lib *sim.Lib, log2 uint64) *bench {
	b := newBench(t, lib, parks(), log2)
	b.configure(1, group{start: 0xFFFFFD, base: 3, log2: log2, collective: allReduce})
	b.enable = 2
	b.cycle(2)
	b.untilIdle(100)
	return b
}

// decided is who decides: it says in the cycle that is so many behind the first of park_valid whether the group is drained.
type decided struct {
	after   int
	drained bool
}

// ask passes cycles from the one on in which park or unpark stands for group 1, until the group is no longer busy, and returns how many.
// So many cycles in which the slots of an unparking would be set have the write port taken.
func (b *bench) ask(pin string, by decided, writes int) (cycles int) {
	b.Set(pin, 2)
	b.Clock()
	b.Set(pin, 0)
	asked := -1
	for n := 1; n < 200; n++ {
		if asked >= 0 {
			asked++
		} else if b.Settle(); b.Is("park_valid") {
			asked = 0
			require.Equal(b.t, uint64(1), b.Get("park_group"))
		}
		take := asked == by.after
		b.SetBool("park_take", take)
		b.SetBool("park_drained", take && by.drained)
		b.SetBool("wr_en", n > 20+b.p.Groups && n <= 20+b.p.Groups+writes)
		b.Set("wr_slot", 0) // nobody's
		b.Clock()
		if take {
			asked = -1
		}
		if b.Get("grp_busy") == 0 {
			b.SetBool("wr_en", false)
			return n
		}
		require.NotZero(b.t, b.Get("grp_live")&2, "a group that is parked or unparked lives")
	}
	require.Fail(b.t, "busy for ever")
	return 0
}

// TestParkingTakes: the cycles that the head of the file states, and what a group has then.
func TestParkingTakes(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, parks())
	for log2 := uint64(1); log2 <= 4; log2++ {
		for _, after := range []int{0, 2, 7} {
			t.Run(fmt.Sprintf("%d slots, answered after %d cycles", 1<<log2, after), func(t *testing.T) {
				t.Parallel()
				b := live(t, lib, log2)
				assert.Equal(t, 3+after, b.ask("grp_park", decided{after, false}, 0), "a park that is refused")
				assert.Equal(t, []uint64{0, 2}, []uint64{b.Get("grp_parked"), b.Get("grp_undrained")})
				b.Clock()
				assert.Zero(t, b.Get("grp_undrained"), "for a cycle only")
				assert.Equal(t, 3+after, b.ask("grp_park", decided{after, true}, 0), "a park")
				assert.Equal(t, []uint64{2, 0}, []uint64{b.Get("grp_parked"), b.Get("grp_undrained")})

				b.configure(2, group{start: 9, base: 4, log2: 1, collective: allReduce}) // slots that were the other's
				b.enable = 6
				b.cycle(4)
				b.untilIdle(100)
				require.Zero(t, b.refused)
				require.NotEqual(t, 0, b.ask("grp_unpark", decided{}, 0))
				assert.Equal(t, uint64(2), b.Get("grp_parked"), "given what another has")
				assert.Equal(t, uint64(2), b.Get("grp_overlap"))
				b.enable = 2
				b.cycle(0)

				for _, writes := range []int{0, 3} {
					assert.Equal(t, 20+b.p.Groups+1<<log2+writes, b.ask("grp_unpark", decided{}, writes), "an unpark, %d slots written meanwhile", writes)
					assert.Zero(t, b.Get("grp_parked"))
					delete(b.slots, 0)
					for i := range 1 << log2 {
						b.slots[3+i] = word{tag: b.groups[1].tag(i)}
					}
					b.readAll()
					require.Equal(t, 3+after, b.ask("grp_park", decided{after, true}, 0))
				}
			})
		}
	}
}
