// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// TestPipeTypes runs two groups of the same type and operation, whose slots are neighbours and fill the buffer, through rings of three slots
// a pipe. A parent fills the broadcast pipe with payloads of any bits, which leave as they came. Everything is sent twice.
func TestPipeTypes(t *testing.T) {
	const count, n = 11, 3
	ranks := []int{0, 1, 2, 4} // not 3; 5 is the parent
	for _, reproducible := range []bool{false, true} {
		everyKind(func(name string, dtype, op uint8) {
			t.Run(fmt.Sprintf("%s reproducible=%t", name, reproducible), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(dtype), uint64(op)))
				p := typedParams(5, reproducible)
				p.Mode = 3
				groups := []Group{typedGroup(0, 0xFFFFFA, dtype, op), typedGroup(1, 3, dtype, op)}
				for g := range groups {
					groups[g].InMask, groups[g].OutMask, groups[g].BigEndian, groups[g].PipeSlots = 0x17, 0x17, g == 1, n
					groups[g].Parent, groups[g].HasParent = 5, true
					if !Wide(dtype) {
						groups[g].SlotBase = 16 + 8*g
					}
				}
				w := newPipes(t, p, groups...)
				give := func(g, e int, psn roce.PSN, payload []byte) {
					t.Helper()
					q := w.data(g, e, psn, payload)
					q.Pad = uint8(-len(payload) & 3)
					require.Len(t, w.send(q), 1)
				}
				for i := range count {
					results, copies := map[int][]byte{}, map[int][]byte{}
					for g := range groups {
						psn, elements := groups[g].Start.Add(i), r.IntN(p.MTU/ElementBytes(dtype)+1)
						contributions, order := make([][]byte, 6), r.Perm(len(ranks))
						for k := range order {
							order[k] = ranks[order[k]]
							contributions[order[k]] = randomPayload(r, dtype, elements)
							give(g, order[k], psn, contributions[order[k]])
						}
						results[g] = expected(p, groups[g], contributions, order)
						copies[g] = randomPayload(r, dtype, elements)
						give(g, 5, psn, copies[g])
					}
					sent := func(outs []Out) {
						t.Helper()
						require.Len(t, outs, 10)
						for _, o := range outs {
							ei := int(o.Packet.DestQP - 0x1100)
							want := copies[ei/8]
							if ei%8 == 5 {
								want = results[ei/8]
							}
							require.Equal(t, string(want), string(o.Packet.Payload))
						}
					}
					sent(w.sends())
					for _, a := range w.e.Actions(nil) {
						w.act(a)
					}
					sent(w.sends())
					for g := range groups {
						for _, e := range append([]int{5}, ranks...) {
							w.nothing(w.send(w.ack(g, e, groups[g].Start.Add(i), roce.AckSyndrome)))
						}
					}
				}
				require.Equal(t, uint64(2*2*count), w.e.counters[Wipe])
			})
		})
	}
}
