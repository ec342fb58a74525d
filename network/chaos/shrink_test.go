// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/network/fabric"
	"incforge/roce"
	"incforge/verify/dut"
)

// planted is an engine whose frames somebody meddles with: keep says whether one leaves, and may change it.
type planted struct {
	dut.DUT
	keep func(o *dut.Frame, p *roce.Packet) bool
}

func (d *planted) Out() []dut.Frame {
	return slices.DeleteFunc(d.DUT.Out(), func(o dut.Frame) bool {
		p, err := roce.Decode(o.Data)
		return err == nil && !d.keep(&o, &p)
	})
}

// key names a frame's receiver and number.
type key struct {
	mac roce.MAC
	psn roce.PSN
}

// nothingTwice sends no data a second time.
func nothingTwice() func(*dut.Frame, *roce.Packet) bool {
	sent := map[key]bool{}
	return func(_ *dut.Frame, p *roce.Packet) bool {
		k := key{p.DstMAC, p.PSN}
		again := p.Op.IsSend() && sent[k]
		sent[k] = sent[k] || p.Op.IsSend()
		return !again
	}
}

// TestShrinkPlantedFaults: an engine with a fault is found out, and what it takes to see the fault is small.
func TestShrinkPlantedFaults(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode int
		// meddle makes the fault of one engine.
		meddle func() func(o *dut.Frame, p *roce.Packet) bool
		kind   Kind
		// events is how many faults on links it takes to see it.
		events int
	}{
		{"the third acknowledgement is never sent", 2, func() func(*dut.Frame, *roce.Packet) bool {
			acks, third := 0, key{}
			return func(_ *dut.Frame, p *roce.Packet) bool {
				if p.Op != roce.Acknowledge {
					return true
				}
				if acks++; acks == 3 {
					third = key{p.DstMAC, p.PSN}
				}
				return acks < 3 || third != key{p.DstMAC, p.PSN}
			}
		}, Stuck, 0},
		{"a bit of a payload is inverted, once", 2, func() func(*dut.Frame, *roce.Packet) bool {
			results := 0
			return func(o *dut.Frame, p *roce.Packet) bool {
				if !p.Op.IsSend() || len(p.Payload) < 8 {
					return true
				}
				if results++; results == 5 {
					at := len(o.Data) - 4 - int(p.Pad) - len(p.Payload)
					if len(o.Data) > 60 { // no Ethernet padding behind it
						o.Data[at+5] ^= 0x10
						roce.Reseal(o.Data)
					}
				}
				return true
			}
		}, WrongResult, 0},
		{"nothing is ever sent again", 2, nothingTwice, Stuck, 1},
		{"nothing is ever sent again", 3, nothingTwice, Stuck, 1},
		{"what finds a pipe full is acknowledged", 3, func() func(*dut.Frame, *roce.Packet) bool {
			return func(o *dut.Frame, p *roce.Packet) bool {
				if p.Op == roce.Acknowledge && roce.SyndromeKindOf(p.Syndrome) == roce.SyndromeRNR {
					p.Syndrome = roce.AckSyndrome
					copy(o.Data, p.AppendFrame(nil))
				}
				return true
			}
		}, Stuck, 0},
		{"a NAK acknowledges what it asks for", 3, func() func(*dut.Frame, *roce.Packet) bool {
			return func(o *dut.Frame, p *roce.Packet) bool {
				if p.Op == roce.Acknowledge && p.Syndrome == roce.NAKSequence {
					p.PSN = p.PSN.Next()
					copy(o.Data, p.AppendFrame(nil))
				}
				return true
			}
		}, Stuck, 1},
	} {
		t.Run(fmt.Sprintf("mode %d %s", tc.mode, tc.name), func(t *testing.T) {
			r := standard(t, tc.mode)
			r.wrap = func(n int, d dut.DUT) dut.DUT {
				if n > 0 {
					return d
				}
				return &planted{d, tc.meddle()}
			}
			ctx := context.Background()
			var (
				c   Case
				o   Outcome
				err error
			)
			for seed := uint64(1); o.Kind != tc.kind; seed++ {
				require.Less(t, seed, uint64(60), "no seed sees it")
				if c = Draw(seed, r.Engines, Reference); c.Levels == 2 && len(c.Groups) > 1 {
					continue // let there be something to take away
				}
				o, err = r.Run(ctx, c)
				require.NoError(t, err)
			}
			s := r.Shrink(ctx, c, o, 600)
			assert.Equal(t, tc.kind, s.Outcome.Kind)
			assert.Len(t, s.Case.Events, tc.events)
			assert.Zero(t, s.Case.Up.Loss+s.Case.Down.Loss+s.Case.Up.Reorder+s.Case.Down.Reorder+s.Case.Up.Corrupt+s.Case.Down.Corrupt)
			assert.Len(t, s.Case.Groups, 1)
			assert.Empty(t, s.Case.Resets)
			assert.LessOrEqual(t, len(s.Case.Groups[0].Calls), 2)
			assert.LessOrEqual(t, s.Case.Tree.Ranks(), 4)

			text, err := s.Case.YAML()
			require.NoError(t, err)
			back, err := Parse(text)
			require.NoError(t, err)
			again, err := r.Run(ctx, back)
			require.NoError(t, err)
			assert.Equal(t, s.Outcome.Kind, again.Kind)
			assert.Equal(t, s.Outcome.Err.Error(), again.Err.Error())
			assert.Equal(t, s.Outcome.Cycles, again.Cycles)
			t.Logf("%d runs:\n%s", s.Runs, text)

			r.wrap = nil
			healthy, err := r.Run(ctx, back)
			require.NoError(t, err)
			assert.Equal(t, Passed, healthy.Kind, "%v", healthy.Err)
		})
	}
}

// TestScoreboard: on anything but the reference a scoreboard sees what the ends do not: here the time to live.
func TestScoreboard(t *testing.T) {
	r := standard(t, 2)
	r.wrap = func(_ int, d dut.DUT) dut.DUT {
		return &planted{d, func(o *dut.Frame, _ *roce.Packet) bool { o.Data[22] ^= 1; return true }}
	}
	c := Draw(3, r.Engines, Reference)
	o, err := r.Run(context.Background(), c)
	require.NoError(t, err)
	assert.NotEqual(t, Differs, o.Kind)
	r.DUT = RTL
	o, err = r.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Equal(t, Differs, o.Kind, "%v", o.Err)
}

// TestShrinkOnTheReference: what the reference does wrong as well costs the engine under test one run.
func TestShrinkOnTheReference(t *testing.T) {
	r := standard(t, 2)
	r.DUT = RTL
	opened := 0
	for i := range r.Engines {
		open := r.Engines[i].Open
		r.Engines[i].Open = func(seed uint64) (dut.DUT, error) { opened++; return open(seed) }
	}
	c := Draw(2, r.Engines, RTL)
	c.Groups[0].Window = 1 << 14 // for which there is no room
	ctx := context.Background()
	o, err := r.Run(ctx, c)
	require.NoError(t, err)
	require.Equal(t, Impossible, o.Kind)
	opened = 0
	s := r.Shrink(ctx, c, o, 300)
	assert.Equal(t, Impossible, s.Outcome.Kind)
	assert.Greater(t, s.Runs, 10)
	assert.LessOrEqual(t, opened, s.Case.Tree.Switches())
	assert.Less(t, s.Case.Tree.Ranks(), c.Tree.Ranks())
}

// TestShrinkKeeps: a case that passes is left alone, and no run is spent that was not granted.
func TestShrinkKeeps(t *testing.T) {
	r := standard(t, 2)
	c := Draw(1, r.Engines, Reference)
	o, err := r.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Zero(t, r.Shrink(context.Background(), c, o, 100).Runs)
	s := r.Shrink(context.Background(), c, Outcome{Kind: Stuck, Events: []fabric.Event{{}}}, 7)
	assert.Equal(t, 7, s.Runs)
	assert.Equal(t, c.String(), s.Case.String())
}
