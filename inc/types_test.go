// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// expected is the result of contributions by endpoint, accepted in this order.
func expected(p Params, g Group, contributions [][]byte, order []int) []byte {
	if p.Reproducible {
		return ReduceTree(g.DType, g.Op, g.BigEndian, contributions)
	}
	var accepted [][]byte
	for _, e := range order {
		accepted = append(accepted, contributions[e])
	}
	return Reduce(g.DType, g.Op, g.BigEndian, accepted)
}

// TestEveryType runs two groups of the same type and operation, whose slots are neighbours and fill the buffer, through
// their rings more than twice, with packets of any length. Ranks contribute in any order that their windows allow, results
// are asked for again, and half way the engine is put away and restored.
func TestEveryType(t *testing.T) {
	const count, window = 20, 4
	ranks := []int{0, 1, 2, 4, 5} // not 3
	for _, reproducible := range []bool{false, true} {
		everyKind(func(name string, dtype, op uint8) {
			t.Run(fmt.Sprintf("%s reproducible=%t", name, reproducible), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(dtype), uint64(op)))
				p := typedParams(5, reproducible)
				groups := []Group{typedGroup(0, 0xFFFFFA, dtype, op), typedGroup(1, 3, dtype, op)}
				for g := range groups {
					groups[g].InMask, groups[g].OutMask, groups[g].BigEndian = 0x37, 0x3F, g == 1
					if !Wide(dtype) {
						groups[g].SlotBase = 16 + 8*g
					}
				}
				w := newWorld(t, p, groups...)

				var contributions [2][count][][]byte
				var orders [2][count][]int
				for g := range groups {
					for i := range count {
						n := r.IntN(p.MTU/ElementBytes(dtype) + 1)
						contributions[g][i] = make([][]byte, p.Members+1)
						for _, e := range ranks {
							contributions[g][i][e] = randomPayload(r, dtype, n)
						}
					}
				}
				send := func(g, i, e int) []Out {
					q := w.data(g, e, groups[g].Start.Add(i), contributions[g][i][e])
					q.Pad = uint8(-len(q.Payload) & 3)
					return w.send(q)
				}
				next, done := [2][6]int{}, [2]int{}
				for restored := false; done[0] < count || done[1] < count; {
					g, e := r.IntN(2), ranks[r.IntN(len(ranks))]
					i := next[g][e]
					if i == count || i-done[g] >= window {
						continue
					}
					next[g][e]++
					orders[g][i] = append(orders[g][i], e)
					outs := send(g, i, e)
					if len(orders[g][i]) < len(ranks) {
						w.nothing(outs)
						continue
					}
					done[g]++
					require.Len(t, outs, 6)
					want := expected(p, groups[g], contributions[g][i], orders[g][i])
					for _, out := range outs {
						require.Equal(t, want, out.Packet.Payload, "group %d, packet %d, order %v", g, i, orders[g][i])
					}
					for range 2 {
						again := w.one(send(g, i, ranks[r.IntN(len(ranks))]))
						require.Equal(t, want, again.Payload, "sent again: the same bits")
					}
					if done[0]+done[1] == count && !restored {
						restored = true
						state := w.e.AppendState(nil)
						for _, into := range []**Engine{&w.e, &w.twin} {
							fresh := newWorld(t, p, groups...).e
							fresh.counters = (*into).counters
							require.NoError(t, fresh.Restore(state))
							*into = fresh
						}
						require.Equal(t, state, w.e.AppendState(nil))
					}
				}
			})
		})
	}
}

// TestOrder: the order of arrival decides a sum in place, and does not touch a reproducible one.
func TestOrder(t *testing.T) {
	// 2^24 and its negative, 1 and 1: what is added while the large one stands is lost. The numbers of FP16 do not reach so
	// far, so it is 2^15 and 2^−9 there.
	tests := []struct {
		dtype uint8
		in    []uint32
	}{
		{DTypeFP32, []uint32{0x4B800000, 0xCB800000, 0x3F800000, 0x3F800000}},
		{DTypeFP16, []uint32{0x7800, 0xF800, 0x1800, 0x1800}},
		{DTypeBF16, []uint32{0x4B80, 0xCB80, 0x3F80, 0x3F80}},
	}
	for _, tt := range tests {
		for _, reproducible := range []bool{false, true} {
			results := map[string]bool{}
			for _, order := range permutations(4) {
				w := newWorld(t, typedParams(4, reproducible), typedGroup(0, 0, tt.dtype, OpSum))
				var outs []Out
				for _, e := range order {
					outs = w.send(w.data(0, e, 0, payloadOf(tt.dtype, false, tt.in[e], tt.in[3-e])))
				}
				require.Len(t, outs, 4)
				results[string(outs[0].Packet.Payload)] = true
			}
			if reproducible {
				assert.Len(t, results, 1, dtypeNames()[tt.dtype])
				// (large − large) + (1 + 1), and the mirror image (1 + 1) + (large − large)
				sum := map[uint8]uint32{DTypeFP32: 0x40000000, DTypeFP16: 0x1C00, DTypeBF16: 0x4000}[tt.dtype]
				assert.Contains(t, results, string(payloadOf(tt.dtype, false, sum, sum)))
			} else {
				assert.Greater(t, len(results), 1, dtypeNames()[tt.dtype])
			}
		}
	}
}

// permutations are all orders of 0 to n−1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}

// TestReproducible: random values and every order of five ranks give one result.
func TestReproducible(t *testing.T) {
	everyKind(func(name string, dtype, op uint8) {
		r := rand.New(rand.NewPCG(uint64(dtype), 77))
		g := typedGroup(0, 0, dtype, op)
		g.InMask, g.OutMask = 0x1F, 1
		w := newWorld(t, typedParams(5, true), g)
		var payloads [][]byte
		for range 5 {
			payloads = append(payloads, randomPayload(r, dtype, 16))
		}
		want := ReduceTree(dtype, op, false, payloads)
		for i, order := range permutations(5) {
			psn := roce.PSN(i)
			for _, e := range order[:4] {
				w.nothing(w.send(w.data(0, e, psn, payloads[e])))
			}
			require.Equal(t, want, w.one(w.send(w.data(0, order[4], psn, payloads[order[4]]))).Payload, "%s, order %v", name, order)
		}
	})
}

// TestBitForBit: a payload that meets no other leaves as it came, NaNs of every kind included: the only contribution, and
// what the parent sends.
func TestBitForBit(t *testing.T) {
	for _, reproducible := range []bool{false, true} {
		for _, bigEndian := range []bool{false, true} {
			everyKind(func(name string, dtype, op uint8) {
				g := typedGroup(0, 0, dtype, op)
				g.InMask, g.OutMask, g.BigEndian, g.Parent, g.HasParent = 4, 3, bigEndian, 4, true
				w := newWorld(t, typedParams(4, reproducible), g)
				for psn := range roce.PSN(64) {
					encodings := make([]uint32, 64/ElementBytes(dtype))
					for i := range encodings { // infinities and NaNs most of all
						h := 0x7C00&uint32(psn)<<10 | uint32(psn)>>1<<4 | uint32(i)
						encodings[i] = h
						if !Wide(dtype) {
							encodings[i] = h<<16 | uint32(psn)
						}
					}
					payload := payloadOf(dtype, bigEndian, encodings...)
					require.Equal(t, payload, w.one(w.send(w.data(0, 2, psn, payload))).Payload, name)
					require.Equal(t, payload, w.one(w.send(w.data(0, 2, psn, payload))).Payload, "sent again")
					for _, out := range w.send(w.data(0, 4, psn, payload)) {
						require.Equal(t, payload, out.Packet.Payload, "from the parent")
					}
				}
			})
		}
	}
}

// TestElementLength: a payload is a whole number of the group's elements.
func TestElementLength(t *testing.T) {
	for dtype, name := range dtypeNames() {
		for length := range 64 {
			for _, from := range []int{0, 4} { // a child and the parent
				g := typedGroup(0, 0, uint8(dtype), OpMax)
				g.Parent, g.HasParent = 4, true
				w := newWorld(t, typedParams(4, false), g)
				q := w.data(0, from, 0, make([]byte, length))
				q.Pad = uint8(-length & 3)
				whole := length%map[string]int{"FP32": 4, "FP16": 2, "BF16": 2, "INT32": 4}[name] == 0
				counted := w.counted(func() { w.send(q) })
				assert.Equal(t, whole, counted["DROP_BAD_LENGTH"] == 0, "%s, %d bytes", name, length)
				assert.Equal(t, whole, counted["UP_DATA"]+counted["DOWN_DATA"] == 1, "%s, %d bytes", name, length)
			}
		}
	}
}

// TestBarrierOfWideType: a barrier has no elements but takes the slots of its type.
func TestBarrierOfWideType(t *testing.T) {
	g := typedGroup(1, 0, DTypeBF16, OpMin)
	g.Collective = CollectiveBarrier
	for _, reproducible := range []bool{false, true} {
		w := newWorld(t, typedParams(4, reproducible), typedGroup(0, 0, DTypeFP32, OpSum), g)
		for psn := range roce.PSN(10) {
			var outs []Out
			for e := range 4 {
				outs = w.send(w.data(1, e, psn, nil))
			}
			require.Len(t, outs, 4)
			require.Empty(t, outs[0].Packet.Payload)
		}
	}
}

// TestRestoreRefusesSums: words that no contributions can have left in a slot.
func TestRestoreRefusesSums(t *testing.T) {
	const word = 1 + 3 + 5*13 + 1 + 3 + 4 + 1 + 2 + 1 + 4 // where the first word of the first slot begins
	const plenty = 0x40490FDB                             // π, which is of no 16-bit type
	tests := []struct {
		name         string
		reproducible bool
		dtype, op    uint8
		ranks        int
		word         uint32
		ok           bool
	}{
		{"INT32: anything", false, DTypeINT32, OpMin, 2, 0x7FC12345, true},
		{"FP32: one contribution is anything", false, DTypeFP32, OpSum, 1, 0x7F812345, true},
		{"FP32: the canonical NaN", false, DTypeFP32, OpSum, 2, canonicalNaN, true},
		{"FP32: another NaN", false, DTypeFP32, OpSum, 2, 0x7FC00001, false},
		{"FP32: a negative NaN, maximum", false, DTypeFP32, OpMax, 2, 0xFFC00000, false},
		{"FP32: kept apart, another NaN", true, DTypeFP32, OpSum, 2, 0x7FC00001, true},
		{"FP16: one contribution, widened", false, DTypeFP16, OpSum, 1, 0x3F802000, true},
		{"FP16: one contribution, a NaN", false, DTypeFP16, OpSum, 1, 0xFFC02000, true},
		{"FP16: one contribution, π", false, DTypeFP16, OpSum, 1, plenty, false},
		{"FP16: one contribution, a NaN of FP32", false, DTypeFP16, OpSum, 1, 0x7F800001, false},
		{"FP16: a sum", false, DTypeFP16, OpSum, 2, plenty, true},
		{"FP16: a sum, another NaN", false, DTypeFP16, OpSum, 2, 0xFFC02000, false},
		{"FP16: a minimum", false, DTypeFP16, OpMin, 2, 0x3F802000, true},
		{"FP16: a minimum, π", false, DTypeFP16, OpMin, 2, plenty, false},
		{"FP16: kept apart, π", true, DTypeFP16, OpSum, 2, plenty, false},
		{"FP16: kept apart, a NaN", true, DTypeFP16, OpSum, 2, 0xFFC02000, true},
		{"BF16: one contribution, widened", false, DTypeBF16, OpMax, 1, 0x40490000, true},
		{"BF16: one contribution, π", false, DTypeBF16, OpMax, 1, plenty, false},
		{"BF16: a maximum, π", false, DTypeBF16, OpMax, 2, plenty, false},
		{"BF16: a sum", false, DTypeBF16, OpSum, 2, plenty, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			groups := []Group{typedGroup(0, 0, tt.dtype, tt.op)}
			w := newWorld(t, typedParams(4, tt.reproducible), groups...)
			for e := range tt.ranks {
				w.send(w.data(0, e, 0, payloadOf(tt.dtype, false, 1, 2, 3, 4)))
			}
			state := w.e.AppendState(nil)
			before := slices.Clone(state)
			for i := range 4 {
				state[word+i] = byte(tt.word >> (24 - 8*i))
			}
			if tt.ok {
				require.NoError(t, w.e.Restore(state))
				require.Equal(t, state, w.e.AppendState(nil))
				return
			}
			require.ErrorIs(t, w.e.Restore(state), ErrState)
			require.Equal(t, before, w.e.AppendState(nil), "a state refused changes nothing")
		})
	}

	// A payload of a length that the group does not take.
	for _, tt := range []struct {
		name   string
		change func(g *Group)
		want   error
	}{
		{"the same group", func(*Group) {}, nil},
		{"a group of larger elements", func(g *Group) { g.DType = DTypeFP32 }, ErrState},
		{"a barrier", func(g *Group) { g.Collective = CollectiveBarrier }, ErrState},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := typedGroup(0, 0, DTypeBF16, OpSum)
			w := newWorld(t, typedParams(4, false), g)
			q := w.data(0, 1, 0, payloadOf(DTypeBF16, false, 1))
			q.Pad = 2
			w.send(q)
			tt.change(&g)
			require.ErrorIs(t, newWorld(t, typedParams(4, false), g).e.Restore(w.e.AppendState(nil)), tt.want)
		})
	}
}

// TestStateOfContributions: before a reproducible slot is complete its state tells contributions apart, and not their order.
func TestStateOfContributions(t *testing.T) {
	state := func(ranks ...int) []byte {
		w := newWorld(t, typedParams(4, true), typedGroup(0, 0, DTypeFP16, OpSum))
		for _, e := range ranks {
			w.send(w.data(0, e, 0, payloadOf(DTypeFP16, false, 0x3C00, uint32(e))))
		}
		return w.e.AppendState(nil)
	}
	assert.Equal(t, state(0, 3, 1), state(3, 1, 0))
	assert.NotEqual(t, state(0, 3, 1), state(0, 3, 2))
}

// TestChaosOfTypes is TestChaos for every type and operation, in place and reproducible: a star without order, whose
// results do not depend on it, either because its sums are exact or because the engine is reproducible.
func TestChaosOfTypes(t *testing.T) {
	for _, reproducible := range []bool{false, true} {
		everyKind(func(name string, dtype, op uint8) {
			t.Run(fmt.Sprintf("%s reproducible=%t", name, reproducible), func(t *testing.T) {
				n := newNetwork(t, 5, 0xFFFFF0, false, 40)
				n.loss, n.shuffle = 20, true
				n.nodes = []*world{newWorld(t, typedParams(4, reproducible), typedGroup(0, n.start, dtype, op))}
				n.contribute = func(rank int, psn roce.PSN) []byte {
					r := rand.New(rand.NewPCG(uint64(rank), uint64(psn)))
					if reproducible || op != OpSum || dtype == DTypeINT32 {
						return randomPayload(r, dtype, 16)
					}
					w := make([]uint32, 16)
					for i := range w { // small whole numbers: 1 to 1.875 in eighths, times 8
						w[i] = map[uint8]uint32{
							DTypeFP32: 0x41000000 + uint32(r.IntN(8))<<20, DTypeFP16: 0x4800 + uint32(r.IntN(8))<<7, DTypeBF16: 0x4100 + uint32(r.IntN(8))<<4,
						}[dtype]
					}
					return payloadOf(dtype, false, w...)
				}
				n.want = func(psn roce.PSN) []byte {
					var all [][]byte
					for rank := range n.hosts {
						all = append(all, n.contribute(rank, psn))
					}
					if reproducible {
						return ReduceTree(dtype, op, false, all)
					}
					return Reduce(dtype, op, false, all)
				}
				n.run(50)
				require.NotZero(t, n.nodes[0].e.counters[TxResend])
			})
		})
	}
}
