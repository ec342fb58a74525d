// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// someEngines is a switch of three engines with two groups of three members each: an index in an engine has 3 bits.
func someEngines(t *testing.T) *Switch {
	t.Helper()
	s, err := NewSwitch(3, Params{Groups: 2, Members: 3, Ports: 4, MTU: 256, Slots: 8, DTypes: 1 << DTypeINT32, Ops: 1 << OpSum, ICRCCheck: true})
	require.NoError(t, err)
	return s
}

// place of a group: its endpoints, with QPNs that have other bits above.
func install(t *testing.T, s *Switch, g int) []Endpoint {
	t.Helper()
	var ends []Endpoint
	for e := range 2 {
		ei := g*4 + e
		ends = append(ends, Endpoint{Valid: true, Host: true, Port: e, LocalQPN: 0xAA00 | uint32(ei), RemoteQPN: uint32(100*g + e), LocalIP: roce.IP4{10, 0, byte(g), 0},
			RemoteIP: roce.IP4{10, 1, byte(g), byte(e)}})
		require.NoError(t, s.SetEndpoint(ei, ends[e]))
	}
	require.NoError(t, s.SetGroup(g, Group{Log2N: 2, InMask: 3, OutMask: 3, AckMask: 3, DType: DTypeINT32}))
	require.NoError(t, s.Enable(g))
	return ends
}

func partOf(ep Endpoint, qpn uint32) []byte {
	p := roce.Packet{DestQP: qpn, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, PKey: roce.DefaultPKey, Op: roce.SendOnly, Payload: []byte{1, 0, 0, 0}, TTL: 1, DF: true}
	return p.AppendFrame(nil)
}

// TestSwitchSteers: the bits above an engine's index name it; what names none, or is nobody's by its bytes, goes round.
func TestSwitchSteers(t *testing.T) {
	t.Parallel()
	s := someEngines(t)
	for _, c := range []struct {
		name string
		qpn  uint32
		to   int
	}{
		{"engine 0, first record", 0xAA00, 0}, {"engine 0, last record", 7, 0}, {"engine 1", 8, 1}, {"engine 2", 0xFFFF17, 2}, {"no engine", 24, 3}, {"no engine, bits above", 0x1238, 3},
		{"wraps", 32, 0},
	} {
		frame := partOf(Endpoint{}, c.qpn)
		assert.Equal(t, c.to, s.Steer(frame), c.name)
		short := frame[:53]
		assert.Equal(t, 3, s.Steer(short), "%s, cut off", c.name)
		frame[12] = 0x86
		assert.Equal(t, 3, s.Steer(frame), "%s, no IPv4", c.name)
	}
	one, err := NewSwitch(1, s.Params())
	require.NoError(t, err)
	assert.Zero(t, one.Steer([]byte{1}), "a switch of one engine is that engine")
}

// TestSwitchKeepsEnginesApart: groups work on their engines with the same slots, each counted there, and the sums are the sums.
func TestSwitchKeepsEnginesApart(t *testing.T) {
	t.Parallel()
	s := someEngines(t)
	var ends [6][]Endpoint
	for _, g := range []int{0, 2, 5} { // engines 0, 1 and 2, all from slot 0
		ends[g] = install(t, s, g)
	}
	require.NoError(t, s.SetGroup(1, Group{Log2N: 2, InMask: 3, OutMask: 3, DType: DTypeINT32}))
	require.ErrorIs(t, s.Enable(1), ErrOverlap, "group 0's slots, in its own engine")
	for _, g := range []int{0, 2, 5} {
		for e := range 2 {
			outs := s.Handle(0, e, partOf(ends[g][e], ends[g][e].LocalQPN), false)
			if e == 0 {
				require.Empty(t, outs)
				assert.Equal(t, 1, s.Unfinished(g))
				continue
			}
			require.Len(t, outs, 2)
			for _, o := range outs {
				assert.Equal(t, g/2, o.Engine)
				assert.Equal(t, []byte{2, 0, 0, 0}, o.Packet.Payload)
			}
		}
	}
	require.NoError(t, s.SetBypassPort(2, 3))
	outs := s.Handle(0, 2, []byte{1, 2, 3}, true)
	assert.Equal(t, []Out{{Port: 3, Frame: []byte{1, 2, 3}, Err: true, Bypass: true, Engine: 3}}, outs)
	outs = s.Handle(0, 2, partOf(ends[2][0], 0xBB00|8), false) // a stranger to engine 1
	require.Len(t, outs, 1)
	assert.True(t, outs[0].Bypass && outs[0].Engine == 1)
	for e := range 3 {
		assert.Equal(t, uint64(2), s.EngineCounters(e)[Agg], "engine %d", e)
	}
	sum := s.Counters()
	assert.Equal(t, []uint64{6, 8, 2}, []uint64{sum[Agg], sum[RxFrames], sum[Bypass]})
	assert.Equal(t, uint64(1), s.Round())
	require.NoError(t, s.Disable(5))
	assert.Equal(t, []bool{true, false, true, false, false, false}, []bool{s.Enabled(0), s.Enabled(1), s.Enabled(2), s.Enabled(3), s.Enabled(4), s.Enabled(5)})
}

// TestSwitchStale: what came in before its group was started is dropped when it is decided later, what is nobody's is not.
func TestSwitchStale(t *testing.T) {
	t.Parallel()
	s := someEngines(t)
	end := install(t, s, 2)[0]
	ours, nobodys := partOf(end, end.LocalQPN), partOf(end, 0xBB00|8)
	assert.Equal(t, []int{2, 2, 6, 6}, []int{s.GroupOf(ours), s.GroupOf(nobodys), s.GroupOf(ours[:20]), s.GroupOf(partOf(end, 24))})
	require.Empty(t, s.HandleStale(0, 0, ours, false))
	require.Len(t, s.HandleStale(0, 0, nobodys, false), 1)
	require.Len(t, s.HandleStale(0, 0, ours[:20], false), 1)
	sum := s.Counters()
	assert.Equal(t, []uint64{1, 0, 2}, []uint64{sum[DropGroupDisabled], sum[Agg], sum[Bypass]})
	require.Empty(t, s.Handle(0, 0, ours, false))
	assert.Equal(t, uint64(1), s.Counters()[Agg])
}

// TestSwitchRefuses: numbers beyond the last engine, and engines that cannot be.
func TestSwitchRefuses(t *testing.T) {
	t.Parallel()
	s := someEngines(t)
	for _, g := range []int{-1, 6, 100} {
		require.ErrorIs(t, s.SetGroup(g, Group{}), ErrRange)
		require.ErrorIs(t, s.Enable(g), ErrRange)
		require.ErrorIs(t, s.SetEndpoint(g*4, Endpoint{}), ErrRange)
		assert.False(t, s.Enabled(g))
	}
	_, ok := s.Look(-1, 0)
	assert.False(t, ok)
	for engines, groups := range map[int]int{0: 1, 9: 1, 2: 3} {
		_, err := NewSwitch(engines, Params{Groups: groups, Members: 1, Ports: 1, MTU: 256, Slots: 2, DTypes: 8, Ops: 1})
		require.ErrorIs(t, err, ErrRange, "%d engines of %d groups", engines, groups)
	}
}
