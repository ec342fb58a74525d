// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// forger is an engine that changes some of the packets it sends, with a good ICRC.
type forger struct {
	*dut.Reference
	change func(p *roce.Packet) bool
}

func (f *forger) Out() []dut.Frame {
	outs := f.Reference.Out()
	for i := range outs {
		if p, err := roce.Decode(outs[i].Data); err == nil && f.change(&p) {
			outs[i].Data = p.AppendFrame(nil)
		}
	}
	return outs
}

// TestEnginesThatLie: what no correct engine sends is noticed where it arrives, by hosts, by the ranks, by Check, or by the scoreboard.
func TestEnginesThatLie(t *testing.T) {
	type change func() func(p *roce.Packet) bool // a new one for each run
	once := func(is func(p *roce.Packet) bool, do func(p *roce.Packet)) change {
		return func() func(p *roce.Packet) bool {
			hit := false
			return func(p *roce.Packet) bool {
				if hit || !is(p) {
					return false
				}
				hit = true
				do(p)
				return true
			}
		}
	}
	data := func(p *roce.Packet) bool { return p.Op.IsSend() && len(p.Payload) > 0 }
	for _, c := range []struct {
		name   string
		change change
		want   string
	}{
		{"payload", once(data, func(p *roce.Packet) { p.Payload[3] ^= 4 }), "wrong result"},
		{"short", once(data, func(p *roce.Packet) { p.Payload = p.Payload[4:] }), "message 1 has 252 bytes, expected 256"},
		{"long", once(data, func(p *roce.Packet) { p.Payload = append(p.Payload, 0, 0, 0, 0) }), "longer than the 256 bytes"},
		{"control", once(func(p *roce.Packet) bool { return p.Op == roce.SendOnlyImm }, func(p *roce.Packet) { p.Imm++ }), "control 0x9 (immediate: true), expected 0x8"},
		{"immediate", once(data, func(p *roce.Packet) { p.Op = roce.SendOnlyImm }), "message 1 has an immediate"},
		{"no immediate", once(func(p *roce.Packet) bool { return p.Op == roce.SendOnlyImm }, func(p *roce.Packet) { p.Op = roce.SendOnly }), "(immediate: false)"},
		{"opcode", once(data, func(p *roce.Packet) { p.Op = roce.SendLast }), "a message is not open"},
		{"fatal NAK", once(func(p *roce.Packet) bool { return p.Op == roce.Acknowledge }, func(p *roce.Packet) { p.Syndrome = roce.NAKRemoteAccess }), "fatal NAK"},
		{"ACK of the future", once(func(p *roce.Packet) bool { return p.Op == roce.Acknowledge }, func(p *roce.Packet) { p.PSN = p.PSN.Add(100) }), "never sent"},
		{"nothing", once(func(*roce.Packet) bool { return false }, nil), ""},
	} {
		for _, watched := range []bool{false, true} {
			ctx := context.Background()
			w := world(t, shape(2, 4), engine(4), func(cfg *Config) {
				cfg.Switch = func(int) (dut.DUT, error) {
					ref, err := dut.NewReference(cfg.Manifest)
					if err != nil || !watched {
						return &forger{ref, c.change()}, err
					}
					return score.New(&forger{ref, c.change()}, cfg.Manifest)
				}
			})
			g, err := w.NewGroup(GroupConfig{Window: 4})
			require.NoError(t, err)
			call, err := g.Queue(Request{Collective: AllReduce, In: values(rand.New(rand.NewPCG(1, 1)), arith.Kind{}, 4, 2000)})
			require.NoError(t, err)
			err = w.Run(ctx)
			if err == nil {
				err = call.Check()
			}
			switch {
			case c.want == "":
				require.NoError(t, err)
				require.NoError(t, w.Finish(ctx))
			case watched:
				require.ErrorIs(t, err, score.ErrMismatch, c.name)
			default:
				require.ErrorContains(t, err, c.want, c.name)
			}
		}
	}
}

// TestLateCompletion: a message that nobody waits for is an error of the run, and a reset of the group ends that too.
func TestLateCompletion(t *testing.T) {
	ctx := context.Background()
	w := world(t, shape(2, 4), engine(4))
	g, err := w.NewGroup(GroupConfig{Window: 4, Fixed: &Request{Collective: Broadcast}})
	require.NoError(t, err)
	in := values(rand.New(rand.NewPCG(1, 1)), arith.Kind{}, 4, 100)
	for r := 1; r < 4; r++ {
		g.Host(r).PostReceive(-1)
	}
	require.ErrorContains(t, w.Finish(ctx), "queues are not empty")
	g.Host(0).Post(host.Message{Payload: in[0]})
	require.NoError(t, w.run(ctx, func() bool { return w.err != nil }))
	call, err := g.Queue(Request{Collective: Broadcast, In: in})
	require.NoError(t, err)
	require.ErrorContains(t, w.Run(ctx), "nothing is under way")
	require.NoError(t, g.Reset())
	require.ErrorIs(t, call.Err, ErrReset)
	again, err := g.Queue(Request{Collective: Broadcast, In: in})
	require.NoError(t, err)
	finish(t, w, again)
}

// TestFigures: what a call says about itself.
func TestFigures(t *testing.T) {
	w := world(t, shape(2, 4), engine(4))
	g, err := w.NewGroup(GroupConfig{Window: 8})
	require.NoError(t, err)
	assert.Equal(t, []*Group{g}, w.Groups())
	assert.Equal(t, shape(2, 4), w.Tree())
	assert.Equal(t, 256, g.Config().PathMTU)
	in := values(rand.New(rand.NewPCG(1, 1)), arith.Kind{DType: arith.INT32}, 4, 1600)
	for k, bytes := range map[Collective]int{AllReduce: 1600, Reduce: 1600, Broadcast: 1600, ReduceScatter: 1600, AllGather: 6400} {
		c, err := g.Queue(Request{Collective: k, In: in, DType: arith.INT32})
		require.NoError(t, err)
		assert.Zero(t, c.BitsPerCycle())
		finish(t, w, c)
		assert.Equal(t, bytes, c.Bytes())
		assert.InEpsilon(t, float64(bytes)*8/float64(c.End-c.Start), c.BitsPerCycle(), 1e-9)
		abs, ulp := c.Deviation()
		assert.Zero(t, abs)
		assert.Zero(t, ulp)
		if k.Reduces() {
			c.kind().Set(c.Out[0], 0, c.kind().Number(c.Out[0], 0)-7)
			abs, ulp = c.Deviation()
			assert.Equal(t, []float64{7, 7}, []float64{abs, ulp})
		}
	}
	none := make([][]byte, 4)
	for _, k := range []Collective{AllReduce, Reduce, Broadcast, ReduceScatter, AllGather} {
		c, err := g.Queue(Request{Collective: k, In: none})
		require.NoError(t, err)
		finish(t, w, c)
	}
	require.NoError(t, w.Close())
}
