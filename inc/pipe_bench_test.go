// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// BenchmarkPipeState counts a state put away and taken up again, as in model checking: two children, two slots a pipe, one element.
func BenchmarkPipeState(b *testing.B) {
	p := pipeParams()
	p.Members, p.MTU, p.Groups = 3, 4, 1
	w := newWorld(b, p, Group{Log2N: 2, InMask: 3, OutMask: 3, Parent: 2, HasParent: true, DType: DTypeINT32})
	w.e.SetManual(true)
	w.e.Step(0, 0, w.data(0, 0, 0, le(1)))
	w.e.Step(0, 1, w.data(0, 1, 0, le(2)))
	w.e.Step(0, 1, w.data(0, 1, 1, le(2)))
	w.e.Step(0, 2, w.data(0, 2, 0, le(5)))
	state := w.e.AppendState(nil)
	b.ReportMetric(float64(len(state)), "bytes/state")
	b.ReportAllocs()
	scratch := make([]byte, 0, 256)
	for b.Loop() {
		if err := w.e.Restore(state); err != nil {
			b.Fatal(err)
		}
		scratch = w.e.AppendState(scratch[:0])
	}
	require.Equal(b, state, scratch)
}

// BenchmarkPipeStep counts packets, actions included.
func BenchmarkPipeStep(b *testing.B) {
	p := pipeParams()
	p.Members, p.MTU, p.Groups = 3, 4, 1
	w := newWorld(b, p, Group{Log2N: 2, InMask: 3, OutMask: 3, DType: DTypeINT32})
	w.e.SetManual(true)
	var psn roce.PSN
	var actions []Action
	payload := le(3)
	data := []roce.Packet{w.data(0, 0, 0, payload), w.data(0, 1, 0, payload)}
	acks := []roce.Packet{w.ack(0, 0, 0, roce.AckSyndrome), w.ack(0, 1, 0, roce.AckSyndrome)}
	b.ReportAllocs()
	for b.Loop() {
		for e := range data {
			data[e].PSN, acks[e].PSN = psn, psn
			w.e.Step(0, e, data[e])
		}
		actions = w.e.Actions(actions[:0])
		if _, err := w.e.ActStep(0, actions[0]); err != nil {
			b.Fatal(err)
		}
		for e := range acks {
			w.e.Step(0, e, acks[e])
		}
		psn = psn.Next()
	}
	require.Equal(b, uint64(psn), w.e.counters[TxResult])
}
