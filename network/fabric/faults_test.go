// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

func all(p float64) Faults {
	return Faults{Loss: p, Duplicate: p, Reorder: p, Corrupt: p, Jitter: 20, FlagErrors: 0.5}
}

// TestLinksHaveTheirOwnCoins: what one link does, or whether it does anything, moves no coin of another.
func TestLinksHaveTheirOwnCoins(t *testing.T) {
	first := func(other Faults, messages int) []Event {
		b := newBench(t, 3, 60, &Link{Latency: 50, Up: all(0.1)}, &Link{Latency: 50, Up: other})
		for range messages {
			b.hosts[1].Post(host.Message{})
		}
		b.run(t)
		assert.NotEqual(t, b.of(0, Lose), b.of(1, Lose))
		return b.of(0, Lose, Duplicate, Reorder, Corrupt)
	}
	want := first(all(0.1), 0)
	require.NotEmpty(t, want)
	assert.Empty(t, cmp.Diff(want, first(all(0.3), 0)))
	assert.Empty(t, cmp.Diff(want, first(all(0.1), 50)))
}

// TestKindsHaveTheirOwnCoins: a kind that is switched off leaves the others what they hit.
func TestKindsHaveTheirOwnCoins(t *testing.T) {
	b := newBench(t, 3, 60, &Link{Latency: 50, Up: all(0.1)})
	b.run(t)
	for kind, f := range map[Kind]Faults{Lose: {Loss: 0.1}, Duplicate: {Duplicate: 0.1, Loss: 0.1}, Reorder: {Reorder: 0.1, Loss: 0.1}} {
		c := newBench(t, 3, 60, &Link{Latency: 50, Up: f})
		c.run(t)
		require.NotEmpty(t, b.of(0, kind), kind)
		assert.Empty(t, cmp.Diff(b.of(0, kind), c.of(0, kind)), kind)
	}
}

// TestScriptRepeatsARun: the events of a run, as a script, make the same run without a coin.
func TestScriptRepeatsARun(t *testing.T) {
	f := all(0.1)
	f.Jitter = 0
	b := newBench(t, 5, 60, &Link{Latency: 50, Up: f})
	b.run(t)
	c := newBench(t, 6, 60, &Link{Latency: 50})
	c.Script(b.events)
	c.run(t)
	assert.Empty(t, cmp.Diff(b.events, c.events))
	assert.Equal(t, b.m.seen, c.m.seen)

	d := newBench(t, 6, 60, &Link{Latency: 50})
	d.Script([]Event{{Frame: 7, Kind: Lose}, {Frame: 9, Kind: Corrupt, Bits: []int{400, 1 << 20}}})
	d.run(t)
	assert.Equal(t, 1, d.Stats.Corrupted)
	assert.Len(t, d.m.seen, 59)
}

// TestBurst: losses come in runs of the length that Leave says, as often as Enter says.
func TestBurst(t *testing.T) {
	const frames = 20000
	b := newBench(t, 1, 0, &Link{Latency: 50, Up: Faults{Burst: Burst{Enter: 0.02, Leave: 0.25}}})
	for range frames {
		b.carry(timed[frame]{what: frame{p: b.links[0][0], data: make([]byte, 60)}})
	}
	runs, lost := 0, b.of(0, Lose)
	for i, e := range lost {
		if i == 0 || e.Frame != lost[i-1].Frame+1 {
			runs++
		}
	}
	assert.InDelta(t, 1/0.25, float64(len(lost))/float64(runs), 0.5)
	assert.InDelta(t, 0.02/(0.02+0.25), float64(len(lost))/frames, 0.012)
	assert.Equal(t, frames, len(lost)+b.InFlight())
}

// frames are one of each class.
func frames() map[Class][]byte {
	make := func(op roce.Opcode, syndrome uint8, payload int) []byte {
		p := roce.Packet{Op: op, PKey: roce.DefaultPKey, Syndrome: syndrome, Payload: make([]byte, payload)}
		return p.AppendFrame(nil)
	}
	return map[Class][]byte{
		ClassData:    make(roce.SendOnly, 0, 64),
		ClassResult:  make(roce.SendLastImm, 0, 0),
		ClassControl: make(roce.SendOnlyImm, 0, 0),
		ClassACK:     make(roce.Acknowledge, roce.AckSyndrome, 0),
		ClassNAK:     make(roce.Acknowledge, roce.NAKSequence, 0),
		ClassOther:   make(roce.CNP, 0, 0),
	}
}

func TestClassify(t *testing.T) {
	for want, f := range frames() {
		assert.Equal(t, want, Classify(f, want == ClassResult), want)
	}
	p := roce.Packet{Op: roce.SendOnlyImm, Payload: make([]byte, 4)}
	assert.Equal(t, ClassData, Classify(p.AppendFrame(nil), false), "an immediate with payload is data")
	assert.Equal(t, ClassData, Classify((&roce.Packet{Op: roce.SendOnly}).AppendFrame(nil), false), "a barrier's packet is data")
	assert.Equal(t, ClassNAK, Classify((&roce.Packet{Op: roce.Acknowledge, Syndrome: 0x2A}).AppendFrame(nil), true), "RNR NAK")
	for n := range 60 {
		assert.Equal(t, ClassOther, Classify(make([]byte, n), false), n)
	}
}

func TestClassText(t *testing.T) {
	for _, c := range []Class{0, ClassACK, ClassData | ClassResult | ClassOther} {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back Class
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c, back)
	}
	var c Class
	assert.ErrorContains(t, c.UnmarshalText([]byte("data+acks")), `"acks"`)
	for k := Lose; k <= Corrupt; k++ {
		var back Kind
		require.NoError(t, back.UnmarshalText([]byte(k.String())))
		assert.Equal(t, k, back)
	}
	assert.ErrorContains(t, new(Kind).UnmarshalText([]byte("lost")), "lose")
}

// TestOnly: every kind of fault hits every frame of its classes and no other.
func TestOnly(t *testing.T) {
	const one = ClassACK | ClassResult
	for name, f := range map[string]Faults{
		"loss":      {Loss: 1, Only: Only{Loss: one}},
		"burst":     {Burst: Burst{Enter: 1}, Only: Only{Burst: one}},
		"duplicate": {Duplicate: 1, Only: Only{Duplicate: one}},
		"reorder":   {Reorder: 1, Only: Only{Reorder: one}},
		"corrupt":   {Corrupt: 1, Only: Only{Corrupt: one}},
		"jitter":    {Jitter: 1 << 30, Only: Only{Jitter: one}},
	} {
		t.Run(name, func(t *testing.T) {
			n := New(1)
			n.AddSwitch(newMirror(t))
			n.AddHost(0, 0, newHost(t, 1), &Link{Latency: 10, Down: f})
			p := n.links[0][1]
			for class, data := range frames() {
				lost, events := n.Stats.Lost, 0
				n.flight, p.last = nil, 0
				n.OnFault = func(Event) { events++ }
				n.carry(timed[frame]{1, frame{p: p, data: data}})
				late := n.Stats.Lost == lost && n.flight[0].at > 1<<20
				down := class &^ ClassData // a SEND that goes down is a result
				if class == ClassData {
					down = ClassResult
				}
				assert.Equal(t, down&one != 0, events > 0 || late, class)
			}
		})
	}
}

// TestMTU: longer frames are lost and counted.
func TestMTU(t *testing.T) {
	b := newBench(t, 1, 10, &Link{Latency: 50, MTU: 143}) // 20 + 8 + 12 + 100 + 4 bytes are 144
	b.run(t)
	assert.Empty(t, b.m.seen)
	assert.Equal(t, Stats{Frames: 10, TooLong: 10}, b.Stats)
	b = newBench(t, 1, 10, &Link{Latency: 50, MTU: 144})
	b.run(t)
	assert.Len(t, b.m.seen, 10)
}

// TestHooks: a link loses everything for a while, a host comes back, at the cycle that was asked for, and an error ends the run.
func TestHooks(t *testing.T) {
	l := &Link{Latency: 50, BytesPerCycle: 8}
	b := newBench(t, 1, 60, l)
	var at []uint64
	hook := func(f func()) func() error {
		return func() error { at = append(at, b.Now()); f(); return nil }
	}
	b.At(700, hook(func() { l.Up.Loss = 0 }))
	b.At(300, hook(func() { l.Up.Loss = 1 }))
	b.At(5000, hook(func() {
		h := b.hosts[0]
		h.Kill()
		h.Reconnect(7, 98, 0)
		h.Post(host.Message{Payload: make([]byte, 4)})
	}))
	b.run(t)
	assert.InDelta(t, 61-400.0/23, float64(len(b.m.seen)), 4)
	assert.Greater(t, len(b.of(0, Lose)), 12)
	p, err := roce.Decode(b.m.seen[len(b.m.seen)-1].Data)
	require.NoError(t, err)
	assert.EqualValues(t, 98, p.DestQP)
	require.Len(t, at, 3)
	for i, want := range []uint64{300, 700, 5000} {
		assert.InDelta(t, float64(want), float64(at[i]), 50)
	}
	turns := 0
	var again func() error
	again = func() error { turns++; b.At(0, again); return nil }
	b.At(0, again)
	require.NoError(t, b.Step())
	require.NoError(t, b.Step())
	assert.Equal(t, 2, turns, "once a quantum, whatever it plans")

	stop := errors.New("enough")
	b.At(0, func() error { return stop })
	assert.ErrorIs(t, b.Step(), stop)
}

// TestJoinShares: two pairs of addresses between the same ports are one wire, which carries one frame at a time.
func TestJoinShares(t *testing.T) {
	n := New(1)
	a, b := newMirror(t), newMirror(t)
	n.AddSwitch(a)
	n.AddSwitch(b)
	l := &Link{Latency: 10, BytesPerCycle: 8}
	first := n.Join(0, 1, roce.MAC{2, 10}, 1, 0, roce.MAC{2, 20}, l)
	assert.Equal(t, first, n.Join(0, 1, roce.MAC{2, 11}, 1, 0, roce.MAC{2, 21}, l))
	n.Join(0, 1, roce.MAC{2, 12}, 1, 2, roce.MAC{2, 22}, l) // another port: another wire
	for _, m := range []byte{20, 21, 22, 23} {
		p := roce.Packet{DstMAC: roce.MAC{2, m}, Op: roce.SendOnly, Payload: make([]byte, 100)}
		a.Offer(1, dut.Frame{Data: p.AppendFrame(nil)})
	}
	type got struct{ node, port int }
	seen := map[got]int{}
	n.OnDeliver = func(_ uint64, node, port int, _ []byte, _ bool) { seen[got{node, port}]++ }
	require.NoError(t, n.Run(context.Background(), 2000, func() bool { return len(b.seen) == 3 }))
	assert.Equal(t, 2, len(n.links))
	assert.Equal(t, map[got]int{{1, 0}: 2, {1, 2}: 1}, seen)
}

// trace runs six engines in a ring of bypassed ports, with faults everywhere, and returns a digest of everything that arrived.
func trace(t *testing.T, workers int) (string, Stats) {
	t.Helper()
	n := New(9)
	n.Workers = workers
	const switches = 6
	var ms []*mirror
	for range switches {
		m := newMirror(t)
		ms = append(ms, m)
		n.AddSwitch(m)
	}
	for i, m := range ms {
		a, err := synthetic.Manifest(synthetic.Mini()).Addr("BYPASS_PORT", 0)
		require.NoError(t, err)
		require.NoError(t, m.Write(a, 1, ctrl.AllBytes)) // what hosts send goes to the next engine, and comes back from there
		l := &Link{Latency: 30 + i, BytesPerCycle: 4, Up: all(0.05), Down: all(0.05)}
		h := newHost(t, byte(i+1))
		for range 200 {
			h.Post(host.Message{Payload: make([]byte, 40+i)})
		}
		n.AddHost(i, 0, h, l)
		n.Join(i, 1, roce.MAC{}, (i+1)%switches, 2, roce.MAC{}, l)
	}
	sum := sha256.New()
	n.OnDeliver = func(at uint64, node, port int, frame []byte, err bool) {
		fmt.Fprintln(sum, at, node, port, err)
		sum.Write(frame)
	}
	require.ErrorIs(t, n.Run(context.Background(), 30000, func() bool { return false }), ErrTimeout)
	for _, m := range ms {
		require.NoError(t, binary.Write(sum, binary.LittleEndian, uint64(len(m.seen))))
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), n.Stats
}

// TestWorkersMakeNoDifference: one goroutine or several, every frame arrives in the same cycle.
func TestWorkersMakeNoDifference(t *testing.T) {
	want, stats := trace(t, 1)
	require.Greater(t, stats.Frames, 1000)
	require.Positive(t, stats.Lost)
	for _, workers := range []int{1, 2, 4, 9} {
		got, s := trace(t, workers)
		assert.Equal(t, want, got, workers)
		assert.Equal(t, stats, s, workers)
	}
}
