// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

func TestParams(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *Params)
		names  []string // what the error must name
	}{
		{"no groups", func(p *Params) { p.Groups = 0 }, []string{"Groups is 0"}},
		{"no members", func(p *Params) { p.Members = 0 }, []string{"Members is 0"}},
		{"members", func(p *Params) { p.Members = 32 }, []string{"Members is 32, allowed are 1 to 31"}},
		{"no ports", func(p *Params) { p.Ports = 0 }, []string{"Ports is 0"}},
		{"ports", func(p *Params) { p.Ports = 257 }, []string{"Ports is 257"}},
		{"no MTU", func(p *Params) { p.MTU = 0 }, []string{"MTU is 0"}},
		{"odd MTU", func(p *Params) { p.MTU = 1022 }, []string{"MTU is 1022, not a multiple"}},
		{"MTU", func(p *Params) { p.MTU = 8192 }, []string{"MTU is 8192"}},
		{"one slot", func(p *Params) { p.Slots = 1 }, []string{"Slots is 1"}},
		{"no types", func(p *Params) { p.DTypes = 0 }, []string{"DTypes is 0, allowed are 1 to 15"}},
		{"a fifth type", func(p *Params) { p.DTypes = 0x10 }, []string{"DTypes is 16"}},
		{"no operations", func(p *Params) { p.Ops = 0 }, []string{"Ops is 0, allowed are 1 to 7"}},
		{"a fourth operation", func(p *Params) { p.Ops = 9 }, []string{"Ops is 9"}},
		{"all at once", func(p *Params) { *p = Params{Groups: -1} }, []string{"Groups", "Members", "Ports", "MTU", "Slots", "DTypes", "Ops"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := smallParams()
			tt.change(&p)
			_, err := New(p)
			require.ErrorIs(t, err, ErrRange)
			for _, name := range tt.names {
				assert.ErrorContains(t, err, name)
			}
		})
	}
}

func TestIndices(t *testing.T) {
	tests := []struct{ groups, members, eps, table int }{
		{1, 1, 2, 2}, {1, 3, 4, 4}, {2, 4, 8, 16}, {3, 7, 8, 32}, {4, 8, 16, 64}, {64, 16, 32, 2048}, {5, 31, 32, 256},
	}
	for _, tt := range tests {
		p := Params{Groups: tt.groups, Members: tt.members, Ports: 1, MTU: 4, Slots: 2, DTypes: 8, Ops: 1}
		assert.Equal(t, tt.eps, p.EPS())
		assert.Equal(t, tt.table, p.TableSize())
		assert.Equal(t, (tt.groups-1)*tt.eps+tt.members, p.EndpointIndex(tt.groups-1, tt.members))
		e, err := New(p)
		require.NoError(t, err)
		assert.Equal(t, p, e.Params())
		// The record with the highest index is found, and no record beyond it is there to be written.
		ep := Endpoint{Valid: true, LocalQPN: uint32(p.EndpointIndex(tt.groups-1, tt.members)) + uint32(tt.table)}
		require.NoError(t, e.SetEndpoint(int(ep.LocalQPN)-tt.table, ep))
		require.ErrorIs(t, e.SetEndpoint(tt.table, ep), ErrRange)
		require.ErrorIs(t, e.SetEndpoint(-1, ep), ErrRange)
		e.Step(0, 0, roce.Packet{DestQP: ep.LocalQPN, PKey: 0xFFFF})
		assert.Equal(t, Counters{RxFrames: 1, DropGroupDisabled: 1}, e.Counters())
	}
}

func TestEndpointSettings(t *testing.T) {
	w := newWorld(t, smallParams(), starGroup(0, 0))
	good := endpointAt(w.e.params, 1, 0)
	assert.NoError(t, w.e.SetEndpoint(8, good))
	assert.ErrorIs(t, w.e.SetEndpoint(0, good), ErrEnabled)
	for _, change := range []func(ep *Endpoint){
		func(ep *Endpoint) { ep.Port = 256 }, func(ep *Endpoint) { ep.Port = -1 },
		func(ep *Endpoint) { ep.LocalQPN = 1 << 24 }, func(ep *Endpoint) { ep.RemoteQPN = 1 << 24 },
	} {
		bad := good
		change(&bad)
		assert.ErrorIs(t, w.e.SetEndpoint(8, bad), ErrRange)
		assert.Equal(t, good, w.e.table[8])
	}
	assert.ErrorIs(t, w.e.SetBypassPort(5, 0), ErrRange)
	assert.ErrorIs(t, w.e.SetBypassPort(0, -1), ErrRange)
	assert.ErrorIs(t, w.e.SetBypassPort(0, 256), ErrRange)
}

// TestHolesAreNeverValid: the table is rounded up to a power of two, and what is written to a record that no endpoint has lets nothing in.
func TestHolesAreNeverValid(t *testing.T) {
	w := newWorld(t, smallParams(), starGroup(0, 0))
	for hole := 5; hole < 8; hole++ {
		ep := endpointAt(w.e.params, 1, 0)
		ep.LocalQPN = ep.LocalQPN&^15 | uint32(8+hole)
		require.NoError(t, w.e.SetEndpoint(8+hole, ep))
		outs := w.e.Step(0, ep.Port, roce.Packet{Op: roce.SendOnly, DestQP: ep.LocalQPN, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, PKey: 0xFFFF})
		require.Len(t, outs, 1)
		assert.True(t, outs[0].Bypass)
	}
	assert.Equal(t, Counters{RxFrames: 3, Bypass: 3}, w.e.Counters())
}

// TestPortsThatAreNone: of a port's number the low bits count on the way out, all on the way in; what is sent to a port that does not exist
// is counted and gone.
func TestPortsThatAreNone(t *testing.T) {
	for _, tt := range []struct{ ports, named, by int }{ // by −1: lost
		{4, 5, 1}, {4, 255, 3}, {3, 3, -1}, {3, 6, 2}, {3, 255, -1}, {1, 1, -1}, {1, 2, 0}, {5, 8, 0}, {5, 7, -1},
	} {
		p := smallParams()
		p.Ports = tt.ports
		e, err := New(p)
		require.NoError(t, err)
		require.NoError(t, e.SetBypassPort(0, tt.named))
		for m := range 2 {
			ep := endpointAt(p, 0, m)
			ep.Port = m * tt.named
			require.NoError(t, e.SetEndpoint(m, ep))
		}
		g := starGroup(0, 0)
		g.InMask, g.OutMask = 1, 3
		require.NoError(t, e.SetGroup(0, g))
		require.NoError(t, e.Enable(0))
		passed := e.Step(0, 0, roce.Packet{DestQP: 0xABCDEF, PKey: 0xFFFF})
		from := endpointAt(p, 0, 0)
		made := e.Step(0, 0, roce.Packet{Op: roce.SendOnly, DestQP: from.LocalQPN, SrcIP: from.RemoteIP, DstIP: from.LocalIP, PKey: 0xFFFF, Payload: make([]byte, 4)})
		assert.Equal(t, []uint64{1, 2}, []uint64{e.Counters()[Bypass], e.Counters()[TxFrames]})
		if tt.by < 0 {
			assert.Empty(t, passed)
			assert.Len(t, made, 1)
			continue
		}
		require.Len(t, passed, 1)
		require.Len(t, made, 2)
		assert.Equal(t, []int{tt.by, 0, tt.by}, []int{passed[0].Port, made[0].Port, made[1].Port})
		heard := endpointAt(p, 0, 1)
		e.Step(0, tt.by, roce.Packet{Op: roce.SendOnly, DestQP: heard.LocalQPN, SrcIP: heard.RemoteIP, DstIP: heard.LocalIP, PKey: 0xFFFF})
		assert.Equal(t, uint64(1), e.Counters()[DropForeign], "nothing is heard from a port by its low bits")
	}
}

// TestOverlap: a group does not get slots that another one that is enabled has.
func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, log2 int
		dtype      uint8
		ok         bool
	}{
		{"behind", 12, 2, DTypeINT32, true}, {"before", 0, 2, DTypeINT32, true}, {"the same", 4, 3, DTypeINT32, false},
		{"its last slot", 11, 1, DTypeINT32, false}, {"its first slot", 3, 1, DTypeINT32, false}, {"inside", 6, 1, DTypeINT32, false},
		{"around", 0, 4, DTypeINT32, false}, {"before, of 16 bits", 0, 1, DTypeFP16, true}, {"into it, of 16 bits", 1, 1, DTypeFP16, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := smallParams()
			p.DTypes = 1<<DTypeINT32 | 1<<DTypeFP16
			e, err := New(p)
			require.NoError(t, err)
			first, second := starGroup(0, 0), starGroup(0, 0)
			first.SlotBase, second.SlotBase, second.Log2N, second.DType = 4, tt.base, tt.log2, tt.dtype
			require.NoError(t, e.SetGroup(0, first))
			require.NoError(t, e.SetGroup(1, second))
			require.NoError(t, e.Enable(0))
			if tt.ok {
				require.NoError(t, e.Enable(1))
				require.NoError(t, e.Reset(1))
				return
			}
			require.ErrorIs(t, e.Enable(1), ErrOverlap)
			assert.False(t, e.Enabled(1))
			require.NoError(t, e.Disable(0))
			require.NoError(t, e.Enable(1), "what nobody has any more")
			require.ErrorIs(t, e.Enable(0), ErrOverlap)
		})
	}
}

func TestIllegalGroupsStayDisabled(t *testing.T) {
	tests := []struct {
		name   string
		change func(g *Group)
		legal  bool
	}{
		{"AllReduce", func(*Group) {}, true},
		{"Barrier", func(g *Group) { g.Collective = 3 }, true},
		{"Reduce without a parent", func(g *Group) { g.Collective = 1 }, false},
		{"Reduce", func(g *Group) { g.Collective, g.Parent, g.HasParent = 1, 2, true }, true},
		{"Broadcast without a parent", func(g *Group) { g.Collective = 2 }, false},
		{"Broadcast", func(g *Group) { g.Collective, g.HasParent = 2, true }, true},
		{"Reduce with parent 5", func(g *Group) { g.Collective, g.Parent, g.HasParent = 1, 5, true }, false},
		{"collective 4", func(g *Group) { g.Collective = 4 }, false},
		{"in-band in an engine without", func(g *Group) { g.InBand = true }, false},
		{"a parent below 0", func(g *Group) { g.Parent, g.HasParent = -1, true }, false},
		{"collective 7", func(g *Group) { g.Collective = 7 }, false},
		{"MIN", func(g *Group) { g.Op = OpMin }, false},
		{"op 3", func(g *Group) { g.Op = 3 }, false},
		{"op 8", func(g *Group) { g.Op = 8 }, false},
		{"FP32", func(g *Group) { g.DType = DTypeFP32 }, false},
		{"dtype 11", func(g *Group) { g.DType = 11 }, false},
		{"the whole buffer", func(g *Group) { g.SlotBase, g.Log2N = 0, 4 }, true},
		{"the last two slots", func(g *Group) { g.SlotBase, g.Log2N = 14, 1 }, true},
		{"an odd base", func(g *Group) { g.SlotBase, g.Log2N = 3, 3 }, true},
		{"one slot beyond the buffer", func(g *Group) { g.SlotBase, g.Log2N = 15, 1 }, false},
		{"twice the buffer", func(g *Group) { g.SlotBase, g.Log2N = 0, 5 }, false},
		{"a base far away", func(g *Group) { g.SlotBase = 0xFFFFFF }, false},
		{"a base below 0", func(g *Group) { g.SlotBase = -1 }, false},
		{"one slot, no window", func(g *Group) { g.Log2N = 0 }, false},
		{"log2_n 31", func(g *Group) { g.Log2N = 31 }, false},
		{"log2_n below 0", func(g *Group) { g.Log2N = -1 }, false},
		{"parent 5", func(g *Group) { g.Parent, g.HasParent = 5, true }, false},
		{"parent 5, but none", func(g *Group) { g.Parent = 5 }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := New(smallParams())
			require.NoError(t, err)
			g := starGroup(1, 0xFFFFF9)
			tt.change(&g)
			require.NoError(t, e.SetGroup(1, g))
			if tt.legal {
				require.NoError(t, e.Enable(1))
			} else {
				require.ErrorIs(t, e.Enable(1), ErrIllegalGroup)
			}
			assert.Equal(t, tt.legal, e.Enabled(1))
			assert.False(t, e.Enabled(0))
		})
	}
}

// TestLegalTypes is about groups whose settings are legal in some engines only.
func TestLegalTypes(t *testing.T) {
	group := func(change func(g *Group)) Group {
		g := typedGroup(0, 0, DTypeINT32, OpSum)
		change(&g)
		return g
	}
	tests := []struct {
		name    string
		members int
		change  func(p *Params)
		group   Group
		err     []string // what the error must name; none: legal
	}{
		{"an op that is there", 4, func(p *Params) { p.Ops = 1<<OpMin | 1<<OpMax }, group(func(g *Group) { g.Op = OpMax }), nil},
		{"an op that is not", 4, func(p *Params) { p.Ops = 1<<OpMin | 1<<OpMax }, group(func(*Group) {}),
			[]string{"op 0 (SUM)", "1 (MIN), 2 (MAX)"}},
		{"an op that nobody has", 4, func(*Params) {}, group(func(g *Group) { g.Op = 3 }), []string{"op 3: "}},
		{"a type that is there", 4, func(p *Params) { p.DTypes = 1 << DTypeBF16 }, group(func(g *Group) { g.DType = DTypeBF16 }), nil},
		{"a type that is not", 4, func(p *Params) { p.DTypes = 1<<DTypeBF16 | 1<<DTypeFP32 }, group(func(g *Group) { g.DType = DTypeFP16 }),
			[]string{"dtype 1 (FP16)", "0 (FP32), 2 (BF16)"}},
		{"a barrier of a type that is not", 4, func(p *Params) { p.DTypes = 1 }, group(func(g *Group) { g.Collective = CollectiveBarrier }),
			[]string{"dtype 3 (INT32)"}},
		{"the whole buffer for 32 bits", 4, func(*Params) {}, group(func(g *Group) { g.Log2N = 5 }), nil},
		{"the whole buffer for 16 bits", 4, func(*Params) {}, group(func(g *Group) { g.DType, g.Log2N = DTypeFP16, 4 }), nil},
		{"twice the buffer for 16 bits", 4, func(*Params) {}, group(func(g *Group) { g.DType, g.Log2N = DTypeFP16, 5 }),
			[]string{"slots 0 to 63, 2 for a packet of 1 (FP16)", "a buffer of 32"}},
		{"the last slots for 16 bits", 4, func(*Params) {}, group(func(g *Group) { g.DType, g.SlotBase = DTypeBF16, 16 }), nil},
		{"one beyond for 16 bits", 4, func(*Params) {}, group(func(g *Group) { g.DType, g.SlotBase = DTypeBF16, 17 }),
			[]string{"slots 17 to 32"}},
		{"one beyond for 32 bits", 4, func(*Params) {}, group(func(g *Group) { g.SlotBase = 25 }), []string{"slots 25 to 32, 1 for"}},
		{"every endpoint, in place", 4, func(*Params) {}, group(func(g *Group) { g.InMask = 0x1F }), nil},
		{"the odd one out, reproducible", 4, func(p *Params) { p.Reproducible = true }, group(func(g *Group) { g.InMask = 0x1F }),
			[]string{"contributors 0x1f have endpoint 4", "4 members", "endpoints 0 to 3"}},
		{"all but the odd one out, reproducible", 4, func(p *Params) { p.Reproducible = true }, group(func(*Group) {}), nil},
		{"no odd one out, reproducible", 3, func(p *Params) { p.Reproducible = true }, group(func(g *Group) { g.InMask = 0xF }), nil},
		{"no pair but one, reproducible", 1, func(p *Params) { p.Reproducible = true }, group(func(g *Group) { g.InMask = 3 }), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := typedParams(tt.members, false)
			tt.change(&p)
			e, err := New(p)
			require.NoError(t, err)
			require.NoError(t, e.SetGroup(0, tt.group))
			err = e.Enable(0)
			assert.Equal(t, tt.err == nil, e.Enabled(0))
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrIllegalGroup)
			for _, part := range tt.err {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

func TestGroupControl(t *testing.T) {
	w := newStar(t)
	for _, g := range []int{-1, 2} {
		assert.ErrorIs(t, w.e.SetGroup(g, starGroup(0, 0)), ErrRange)
		assert.ErrorIs(t, w.e.Enable(g), ErrRange)
		assert.ErrorIs(t, w.e.Disable(g), ErrRange)
		assert.ErrorIs(t, w.e.Reset(g), ErrRange)
		assert.False(t, w.e.Enabled(g))
	}
	assert.ErrorIs(t, w.e.SetGroup(0, starGroup(0, 0)), ErrEnabled)
	fresh := w.e.AppendState(nil)

	w.round(0, 0, 1, 2, 3)
	w.round(1, 0, 2)
	w.round(3, 1)
	w.send(w.ack(0, 2, 0, 0x1F))
	used := w.e.AppendState(nil)
	w.configure(func(e *Engine) error { return e.Enable(0) })
	assert.Equal(t, used, w.e.AppendState(nil), "enabling what is enabled does not start it again")
	w.configure(func(e *Engine) error { return e.Reset(0) })
	assert.Equal(t, fresh, w.e.AppendState(nil), "a reset leaves nothing behind")
	w.result(w.round(0, 2, 3, 0, 1), 0, 0, 1, 2, 3)

	w.configure(func(e *Engine) error { return e.Disable(0) })
	w.configure(func(e *Engine) error { return e.Reset(0) })
	assert.False(t, w.e.Enabled(0), "a reset enables nothing")
	w.configure(func(e *Engine) error { return e.SetGroup(0, starGroup(0, 0x123456)) })
	w.configure(func(e *Engine) error { return e.Enable(0) })
	for _, end := range w.e.groups[0].ends {
		assert.Equal(t, endpointState{ePSN: 0x123456, acked: 0x123455}, end)
	}
	for i := range 8 {
		assert.Equal(t, emptySlot(), w.e.slots[i], "slot %d", i)
	}
	w.result(w.round(0x123456, 3, 2, 0, 1), 0x123456, 0, 1, 2, 3)

	g := starGroup(0, 1<<24)
	w.configure(func(e *Engine) error { return e.Disable(0) })
	assert.ErrorIs(t, w.e.SetGroup(0, g), ErrRange)
	g = starGroup(0, 0)
	g.InMask = 0xFFFFFFFF
	require.NoError(t, w.e.SetGroup(0, g))
	assert.Equal(t, uint32(0x1F), w.e.groups[0].InMask, "there are five endpoints")
}
