// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tree that adds at once whatever the load, modelled and not built: a contribution that completes a node is added to the node's sibling, if that
// is complete, and so on up. What follows is the plan of one contribution, and the time that plans take: why the tree that is built (inc_eager_tree)
// merges in cycles that nobody else wants (docs/rationale.md).

// climb is what one contribution does to its slot.
type climb struct {
	pair    int
	partner bool  // the other of the pair is there: the first addition
	reads   []int // places of the siblings that are added, from the leaves up
	lower   []bool
	place   int // where the sum is kept
	root    bool
}

// newClimb plans the contribution of an endpoint; have are the contributions so far, its own included, of all that the group has.
func newClimb(endpoint int, have, all uint64) climb {
	c := climb{pair: endpoint / 2, place: endpoint / 2, partner: have>>(endpoint^1)&1 != 0}
	complete := func(from, pairs int) bool {
		mask := (uint64(1)<<(2*pairs) - 1) << (2 * from)
		return all&^have&mask == 0
	}
	if !complete(c.pair, 1) {
		return c
	}
	span := 1 << bits.Len(uint((bits.Len64(all)-1)/2))
	for size := 1; size < span; size *= 2 {
		sibling := c.pair&^(size-1) ^ size
		if !complete(sibling, size) {
			return c
		}
		if all>>(2*sibling)&(1<<(2*size)-1) != 0 {
			c.reads, c.lower = append(c.reads, sibling), append(c.lower, sibling < c.pair)
		}
		c.place = c.pair &^ (2*size - 1)
	}
	c.root = true
	return c
}

// fixed is the sum of engine.md 3.1 as a term: endpoints from to from+n-1.
func fixed(from, n int, all uint64) string {
	if n == 1 {
		if all>>from&1 != 0 {
			return fmt.Sprint(from)
		}
		return ""
	}
	return joined(fixed(from, n/2, all), fixed(from+n/2, n/2, all))
}

func joined(left, right string) string {
	if left == "" || right == "" {
		return left + right
	}
	return "(" + left + "+" + right + ")"
}

// TestEagerPlaces: whatever the members and the order, half as many places as members are enough, every sum is that of the fixed tree, and
// a payload of n contributions is read n-1 times and written n times.
func TestEagerPlaces(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	memory := map[int]string{}
	for range 20000 {
		members := 1 + rng.IntN(20)
		all := uint64(0)
		for all == 0 {
			all = rng.Uint64() & (1<<members - 1)
			if rng.IntN(2) == 0 {
				all |= rng.Uint64() & (1<<members - 1)
			}
		}
		var have uint64
		reads, writes := 0, 0
		order := rng.Perm(members)
		for _, e := range order {
			if all>>e&1 == 0 {
				continue
			}
			have |= 1 << e
			c := newClimb(e, have, all)
			sum := fmt.Sprint(e)
			if c.partner {
				reads++
				if e%2 == 0 {
					sum = joined(sum, memory[c.pair])
				} else {
					sum = joined(memory[c.pair], sum)
				}
			}
			for i, sibling := range c.reads {
				reads++
				if c.lower[i] {
					sum = joined(memory[sibling], sum)
				} else {
					sum = joined(sum, memory[sibling])
				}
			}
			require.Less(t, c.place, (members+1)/2)
			memory[c.place] = sum
			writes++
			require.Equal(t, have == all, c.root)
			if c.root {
				require.Equal(t, fixed(0, 32, all), sum, "order %v of %b", order, all)
				require.Zero(t, c.place)
			}
		}
		require.Equal(t, bits.OnesCount64(all)-1, reads)
		require.Equal(t, bits.OnesCount64(all), writes)
	}
}

// machine is where plans are carried out: a pipeline that adds pairs, one adder for all levels above with a register at each level where a
// row may wait for it, and one memory. A row is read in the first cycle in which all that it is going to need is free, so that nothing
// waits but in these registers, and nothing is decided twice.
type machine struct {
	stages, ecc int
	banks       int // of one port, a place's rows in turn and the next place's one further; 1: a memory of two ports
	planes      int
	wait        int // cycles that a row may wait at a level

	read, write map[int]int     // the row's address, by cycle
	enter       map[int]bool    // the adder above takes a row
	kept        map[[2]int]bool // a row waits, by level and cycle
	written     map[int]int     // when a row was written
	paired      map[int]bool    // by the pipeline of pairs, which can hand it on
	last        int             // when the row before was read
	emitted     int             // when the last result left
}

func newMachine(stages, ecc, banks, planes, wait int) *machine {
	return &machine{stages: stages, ecc: ecc, banks: banks, planes: planes, wait: wait, read: map[int]int{}, write: map[int]int{},
		enter: map[int]bool{}, kept: map[[2]int]bool{}, written: map[int]int{}, paired: map[int]bool{}, last: -1, emitted: -1}
}

// rowsOfPlace is how far places lie apart.
const rowsOfPlace = 8

func (m *machine) address(unit, place, row int) int { return (unit*m.planes+place)*rowsOfPlace + row }

func (m *machine) bank(address int) int { return (address + address/rowsOfPlace) % m.banks }

// operands is how long a read takes to be an operand, sum until a pair is added, level from one sum to the next: a register and the adder.
func (m *machine) operands() int { return 1 + m.ecc }
func (m *machine) sum() int      { return m.operands() + m.stages + m.ecc }
func (m *machine) level() int    { return 1 + m.stages }

// free tells whether the memory can be read in a cycle, and whether what is read was written before.
func (m *machine) free(cycle, address int) bool {
	if _, taken := m.read[cycle]; taken {
		return false
	}
	w, writes := m.write[cycle]
	return m.written[address] < cycle && !(writes && m.banks > 1 && m.bank(w) == m.bank(address))
}

// joins returns when the additions above begin for a row whose pair is added at cycle at, and when the last is done; none if it does not fit.
func (m *machine) joins(at, unit, row int, c climb, level int) (begins []int, done int, ok bool) {
	if level == len(c.reads) {
		w := m.address(unit, c.place, row)
		_, taken := m.write[at]
		r, reading := m.read[at]
		if taken || c.root && at <= m.emitted || reading && m.banks > 1 && m.bank(r) == m.bank(w) {
			return nil, 0, false
		}
		return nil, at, true
	}
	for begin := at; begin <= at+m.wait && (begin == at || !m.kept[[2]int{level, begin - 1}]); begin++ {
		if m.enter[begin] || !m.free(begin-m.operands(), m.address(unit, c.reads[level], row)) {
			continue
		}
		if later, done, ok := m.joins(begin+m.level(), unit, row, c, level+1); ok {
			return append([]int{begin}, later...), done, true
		}
	}
	return nil, 0, false
}

// do begins a row as early as it fits, not before cycle from, and returns when its sum is there.
func (m *machine) do(from, unit, row int, c climb) int {
	for t := max(from, m.last+1); ; t++ {
		a := m.address(unit, c.pair, row)
		handed := m.paired[a] && m.written[a] == t+m.operands()
		if _, taken := m.read[t]; c.partner && !(m.free(t, a) || handed && !taken) {
			continue
		}
		begins, done, ok := m.joins(t+m.sum(), unit, row, c, 0)
		if !ok {
			continue
		}
		m.last = t
		if c.partner {
			m.read[t] = a
		}
		at := t + m.sum()
		for level, begin := range begins {
			m.read[begin-m.operands()] = m.address(unit, c.reads[level], row)
			m.enter[begin] = true
			for cycle := at; cycle < begin; cycle++ {
				m.kept[[2]int{level, cycle}] = true
			}
			at = begin + m.level()
		}
		a = m.address(unit, c.place, row)
		m.write[done], m.written[a], m.paired[a] = a, done, len(begins) == 0
		if c.root {
			m.emitted = done
		}
		return done
	}
}

// traffic has members contribute to slots: all to one slot before the next, or each to all slots in turn. A work of so many rows comes
// every so many cycles. It returns cycles per work.
func (m *machine) traffic(members, rows, every int, worst bool) float64 {
	const slots, rounds = 8, 20
	all := uint64(1)<<members - 1
	works := 0
	for range rounds {
		have := make([]uint64, slots)
		for i := range slots * members {
			slot, e := i%slots, i/slots
			if worst {
				slot, e = i/members, i%members
			}
			have[slot] |= 1 << e
			c := newClimb(e, have[slot], all)
			for row := range rows {
				m.do(works*every, slot, row, c)
			}
			works++
		}
	}
	return float64(m.last+1) / float64(works)
}

// TestEagerLatency: from a contribution that is there to the sum, in a chip28: a cycle until it is read, the pair, and each level above.
func TestEagerLatency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ members, want int }{{2, 6}, {4, 9}, {8, 12}, {16, 15}} {
		orders := rand.New(rand.NewPCG(3, 4))
		for range 50 {
			m := newMachine(2, 1, 2, c.members/2, 8)
			all, have, done := uint64(1)<<c.members-1, uint64(0), 0
			for i, e := range orders.Perm(c.members) {
				have |= 1 << e
				done = m.do(200*i, 0, 0, newClimb(e, have, all)) - 200*i
			}
			require.Equal(t, c.want, 1+done, "%d members", c.members)
		}
	}
}

// TestEagerSchedule: cycles a work in a chip28, for memories of two ports, of two banks and of four, beside the cycles in which works come:
// the table of docs/rationale.md. No work takes less than it is rows, and on average a row takes as many reads as (members - 1) / members.
func TestEagerSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members, rows, every int
		worst                bool
		want                 [3]string
	}{
		{8, 1, 2, false, [3]string{"2.00", "2.00", "2.00"}},
		{8, 1, 2, true, [3]string{"2.00", "2.25", "2.25"}},
		{8, 4, 5, false, [3]string{"5.49", "5.78", "5.63"}},
		{8, 4, 5, true, [3]string{"6.25", "6.37", "6.37"}},
		{16, 1, 2, false, [3]string{"2.00", "2.00", "2.00"}},
		{16, 1, 2, true, [3]string{"2.06", "2.37", "2.37"}},
		{16, 4, 5, false, [3]string{"5.71", "6.02", "5.85"}},
		{16, 4, 5, true, [3]string{"6.50", "6.62", "6.62"}},
	} {
		for i, banks := range []int{1, 2, 4} {
			m := newMachine(2, 1, banks, c.members/2, 4)
			got := m.traffic(c.members, c.rows, c.every, c.worst)
			require.Equal(t, c.want[i], fmt.Sprintf("%.2f", got), "%+v, %d banks", c, banks)
			require.LessOrEqual(t, float64(c.rows*(c.members-1))/float64(c.members), got)
		}
	}
}
