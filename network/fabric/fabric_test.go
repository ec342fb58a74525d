// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/dut"
)

// mirror is an engine without groups: every frame leaves by the port it came in by, or by the other one.
type mirror struct {
	*dut.Reference
	seen []dut.Frame
}

func (m *mirror) Idle() bool { return m.Still() > 0 }

func (m *mirror) Timers() (uint64, bool) { return host.Never, true }

func (m *mirror) Accepted() []dut.Frame { return nil }

func (m *mirror) StepTo(c uint64) error {
	err := m.Reference.StepTo(c)
	m.seen = append(m.seen, m.Reference.Accepted()...)
	return err
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	ref, err := dut.NewReference(synthetic.Manifest(synthetic.Mini()))
	require.NoError(t, err)
	return &mirror{Reference: ref}
}

func newHost(t *testing.T, n byte) *host.Host {
	t.Helper()
	h, err := host.New(host.Config{MAC: roce.MAC{2, n}, PeerMAC: roce.MAC{2, 99}, IP: roce.IP4{10, 0, 0, n}, PeerIP: roce.IP4{10, 0, 0, 99},
		QPN: uint32(n), PeerQPN: 99, PathMTU: 256, Window: 64, Timeout: 1 << 40, CyclesPerMicrosecond: 250})
	require.NoError(t, err)
	return h
}

// bench is an engine without groups and hosts that send to it; its answers are all lost.
type bench struct {
	*Net
	m      *mirror
	events []Event
}

// newBench joins a host a link, each with messages of 100 bytes to send.
func newBench(t *testing.T, seed uint64, messages int, links ...*Link) *bench {
	t.Helper()
	b := &bench{Net: New(seed), m: newMirror(t)}
	b.OnFault = func(e Event) {
		if !e.Down {
			b.events = append(b.events, e)
		}
	}
	sw := b.AddSwitch(b.m)
	for i, l := range links {
		l.Down = Faults{Loss: 1}
		h := newHost(t, byte(i+1))
		b.AddHost(sw, i, h, l)
		for range messages {
			h.Post(host.Message{Payload: make([]byte, 100)})
		}
	}
	return b
}

// run runs until everything is where it goes to.
func (b *bench) run(t *testing.T) {
	t.Helper()
	require.ErrorIs(t, b.Run(context.Background(), 100000, func() bool { return false }), ErrTimeout)
}

// of are the events of a link and of some kinds.
func (b *bench) of(link int, kinds ...Kind) []Event {
	var out []Event
	for _, e := range b.events {
		if e.Link == link && slices.Contains(kinds, e.Kind) {
			out = append(out, e)
		}
	}
	return out
}

// run sends 60 packets of one host to an engine and returns when they got there.
func run(t *testing.T, seed uint64, f Faults) ([]dut.Frame, Stats) {
	t.Helper()
	b := newBench(t, seed, 60, &Link{Latency: 50, BytesPerCycle: 8, Up: f})
	b.run(t)
	return b.m.seen, b.Stats
}

func TestLinkHasLatencyAndBandwidth(t *testing.T) {
	seen, _ := run(t, 1, Faults{})
	require.Len(t, seen, 60)
	// 158 bytes and 24 of preamble, FCS and gap at 8 a cycle
	assert.InDelta(t, 50+23, float64(seen[0].First), 4)
	for i := 1; i < len(seen); i++ {
		assert.InDelta(t, 23, float64(seen[i].First-seen[i-1].First), 2)
	}
}

func TestFaultsAreSeeded(t *testing.T) {
	f := Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Corrupt: 0.1, Jitter: 20}
	a, as := run(t, 7, f)
	b, bs := run(t, 7, f)
	_, cs := run(t, 8, f)
	assert.Equal(t, a, b)
	assert.Equal(t, as, bs)
	assert.NotEqual(t, as, cs)
	assert.Positive(t, as.Lost)
	assert.Positive(t, as.Duplicated)
	assert.Positive(t, as.Reordered)
	assert.Positive(t, as.Corrupted)
	// the mirror's answers are all lost on the way back
	assert.Equal(t, 60+as.Duplicated-(as.Lost-len(a)), len(a))
}

// TestSharedPort: on a port with several hosts a frame goes to the one it is for, and to nobody if it is for nobody.
func TestSharedPort(t *testing.T) {
	m, n := newMirror(t), New(1)
	sw := n.AddSwitch(m)
	a, b := newHost(t, 1), newHost(t, 2)
	l := &Link{Latency: 10}
	n.AddHost(sw, 0, a, l)
	n.AddHost(sw, 0, b, l)
	for _, n := range []byte{2, 1, 3} {
		p := roce.Packet{DstMAC: roce.MAC{2, n}, SrcIP: roce.IP4{10, 0, 0, 99}, DstIP: roce.IP4{10, 0, 0, n}, Op: roce.SendOnly, PKey: 0xFFFF, DestQP: uint32(n), AckReq: true}
		m.Offer(0, dut.Frame{Data: p.AppendFrame(nil)})
	}
	require.ErrorIs(t, n.Run(context.Background(), 5000, func() bool { return false }), ErrTimeout)
	assert.Len(t, a.Received(), 1)
	assert.Len(t, b.Received(), 1)
	assert.True(t, n.Quiet())
}

// TestClockJumps: with nothing to do but a timer far away, a run takes no time.
func TestClockJumps(t *testing.T) {
	m, n := newMirror(t), New(1)
	sw := n.AddSwitch(m)
	h := newHost(t, 1)
	n.AddHost(sw, 0, h, &Link{Latency: 10, Up: Faults{Loss: 1}})
	h.Post(host.Message{})
	steps := 0
	n.OnQuantum = func(uint64) error { steps++; return nil }
	require.NoError(t, n.Run(context.Background(), 1<<41, func() bool { return h.Stats.Timeouts > 0 }))
	assert.GreaterOrEqual(t, n.Now(), uint64(1<<40))
	assert.Less(t, steps, 100)
	assert.Equal(t, n.Now(), m.Now())
}

// bomb is an engine that panics when it is to run beyond a time.
type bomb struct {
	*mirror
	at uint64
}

func (b *bomb) Idle() bool { return false }

func (b *bomb) StepTo(c uint64) error {
	if c > b.at {
		panic("out of order")
	}
	return b.mirror.StepTo(c)
}

// TestPanicIsAnError: an engine that panics ends the run with an error, the same with any number of workers.
func TestPanicIsAnError(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		n := New(1)
		n.Workers = workers
		for _, at := range []uint64{1 << 20, 1000, 1 << 20} {
			n.AddSwitch(&bomb{newMirror(t), at})
		}
		err := n.Run(context.Background(), 5000, func() bool { return false })
		require.ErrorIs(t, err, ErrPanic, "%d workers", workers)
		assert.ErrorContains(t, err, "switch 1: panic: out of order")
		assert.ErrorContains(t, err, "StepTo")
		assert.Equal(t, uint64(3*256), n.Now(), "%d workers", workers)
	}
}

// TestFaultsValidate: what is no probability is refused, NaN too.
func TestFaultsValidate(t *testing.T) {
	good := Faults{Loss: 1, Duplicate: 0.5, Burst: Burst{Enter: 0.1, Leave: 1}, FlagErrors: 1, Jitter: 3}
	require.NoError(t, good.Validate())
	for words, f := range map[string]Faults{
		"loss -0.1":        {Loss: -0.1},
		"duplicate NaN":    {Duplicate: math.NaN()},
		"reorder 1.5":      {Reorder: 1.5},
		"corrupt +Inf":     {Corrupt: math.Inf(1)},
		"burst.enter NaN":  {Burst: Burst{Enter: math.NaN()}},
		"burst.leave 2":    {Burst: Burst{Leave: 2}},
		"flag_errors 1.01": {FlagErrors: 1.01},
		"jitter -1":        {Jitter: -1},
		"reorder_delay -2": {ReorderDelay: -2},
	} {
		assert.ErrorContains(t, f.Validate(), words)
	}
}

// alarm is an engine that does something by itself every period.
type alarm struct {
	*mirror
	next, period uint64
	rang         []uint64
}

func (a *alarm) Timers() (uint64, bool) { return a.next, true }

func (a *alarm) StepTo(c uint64) error {
	for a.next <= c {
		a.rang = append(a.rang, a.next)
		if a.next += a.period; len(a.rang) == 3 {
			a.next = host.Never
		}
	}
	return a.mirror.StepTo(c)
}

func (a *alarm) SkipTo(c uint64) {
	if a.next < c {
		panic("slept too long")
	}
	a.mirror.SkipTo(c)
}

// TestTimed: an idle engine is not skipped beyond its deadline, neither in a quantum nor in a jump, and is not quiet while there is one.
func TestTimed(t *testing.T) {
	for _, period := range []uint64{1, 255, 256, 257, 1_000_000} {
		n := New(1)
		a := &alarm{mirror: newMirror(t), next: 100_000, period: period}
		n.AddSwitch(a)
		require.False(t, n.Quiet())
		steps := 0
		n.OnQuantum = func(uint64) error { steps++; return nil }
		require.NoError(t, n.Run(context.Background(), 1<<30, n.Quiet))
		assert.Equal(t, []uint64{100_000, 100_000 + period, 100_000 + 2*period}, a.rang)
		assert.Less(t, steps, 20, "the clock jumps to deadlines")
	}
}
