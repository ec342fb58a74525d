// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/axis"
)

// cutPorts are those of the model whose frames leave before they are whole: the stream that a MAC of that interface brings, and the beat with which a frame begins.
var cutPorts = []struct {
	name, rx  string
	mhz, gbit float64
	bytes     int
	start     int
}{{"e", "s_rxd", 156.25, 9.9, 8, 1}, {"f", "s_rxc", 240, 122, 64, 5}}

// cutPort is one of them in a run.
type cutPort struct {
	mac   *axis.MAC
	sent  [][]byte
	left  int
	err   error
	idles int // cycles since the beat with which the frame begins
	lens  []int
	base  int
}

// cutFew is a run that is short enough for every clock and every fault.
func cutFew(b *bench) error { return cut(b, 60) }

// cutMany sends as many frames through the wide port as -mac-frames says, a quarter, and a tenth of that through the narrow one.
func cutMany(t *testing.T, lib *sim.Lib) {
	b, err := newBench(lib, shape{mhz: [2]float64{250, 250}, ppm: 90, seed: 21})
	require.NoError(t, err)
	defer b.m.Close()
	require.NoError(t, cut(b, *macFrames/4))
	t.Logf("%d frames left before they were whole by a MAC of 64 bytes, %d by one of 8, in %d cycles", *macFrames/4, *macFrames/40, b.m.Now())
}

// cutLatency holds the time from a lone frame's beat with which it may begin, or its last, to its first beat out, over phases that drift, without skew.
func cutLatency(t *testing.T, lib *sim.Lib) {
	b, err := newBench(lib, shape{mhz: [2]float64{250, 250}, args: []string{"skew=0"}})
	require.NoError(t, err)
	defer b.m.Close()
	const core = 1000 * corePeriodNS
	for _, k := range cutPorts {
		base := float64(b.m.Now()) * core
		c, err := b.m.AddClock("clk_"+k.name, sim.ClockOptions{MHz: k.mhz})
		require.NoError(t, err)
		src, err := axis.NewSource(b.m, "s_tx"+k.name)
		require.NoError(t, err)
		snk, err := axis.NewSinkOn(c, "m_tx"+k.name)
		require.NoError(t, err)
		require.NoError(t, b.m.ResetFor(8))
		require.NoError(t, b.ticks(60))
		first, came := uint64(0), uint64(0)
		src.OnSent(func(f *axis.Frame) { first = f.First })
		snk.OnFrame(func(f *axis.Frame) { came = f.First })
		for n := 1; n <= 1518; n += 31 {
			was := came
			require.NoError(t, src.SendBytes(b.data(n), 0))
			require.NoError(t, b.m.Run(3000, func() bool { return came > was }))
			port := c.PeriodNS() * 1000
			took := float64(came)*port + base - float64(first+uint64(min((n+63)/64, k.start)-1))*core
			require.GreaterOrEqual(t, took, core+5*port-2, "port %s, %d bytes", k.name, n)
			require.LessOrEqual(t, took, core+6*port+2, "port %s, %d bytes", k.name, n)
		}
	}
}

// cut sends frames of all lengths to MACs that forgive no gap, the words behind those with which a frame begins now and then as late as they may come: none runs
// dry, and every frame leaves whole.
func cut(b *bench, frames int) error {
	var ports []*cutPort
	up := false
	for i, k := range cutPorts {
		c, err := b.m.AddClock("clk_"+k.name, sim.ClockOptions{MHz: k.mhz, PPM: 90})
		if err != nil {
			return err
		}
		p := &cutPort{left: max(frames/(1+9*(1-i)), 6)}
		ports = append(ports, p)
		if p.mac, err = axis.NewMAC(c, k.rx, "m_tx"+k.name, k.gbit); err != nil {
			return err
		}
		src, err := axis.NewSource(b.m, "s_tx"+k.name)
		if err != nil {
			return err
		}
		pause, err := b.m.Port("tx" + k.name + "_pause")
		if err != nil {
			return err
		}
		perWord := 64 / float64(k.bytes) * 250 / k.mhz
		slack := math.Ceil(250/k.mhz) + 1 // a cycle of the port to cross, one of drift
		worst := true
		src.SetPause(func() bool {
			n := int(src.Beats())
			for len(p.lens) > 0 && n-p.base >= p.lens[0] {
				p.base += p.lens[0]
				p.lens, p.idles, worst = p.lens[1:], 0, b.rnd.IntN(3) > 0
			}
			word := n - p.base
			if word < k.start {
				return b.rnd.IntN(3) == 0
			}
			most := int(math.Floor(perWord*float64(word)-slack)) - (word - k.start + 1)
			if p.idles < most && (worst || b.rnd.IntN(4) == 0) {
				p.idles++
				return true
			}
			return false
		})
		b.m.OnReact(func() {
			if up && p.left > 0 && src.Pending() < 3 {
				p.left--
				d := b.data(64 + b.rnd.IntN(1518-64+1))
				if b.rnd.IntN(2) == 0 {
					d = d[:60+b.rnd.IntN(min(len(d)-59, 400))]
				}
				p.sent, p.lens = append(p.sent, d), append(p.lens, (len(d)+63)/64)
				p.err = src.SendBytes(d, 0)
			}
		})
		c.OnDrive(func() { pause.SetBool(c.Now()%700 < uint64(b.rnd.IntN(40))) })
		p.mac.Out.OnFrame(func(f *axis.Frame) {
			if len(p.sent) == 0 || !slices.Equal(p.sent[0], f.Data) {
				b.m.Fail(fmt.Errorf("port %s: a frame of %d bytes left that was not due", k.name, len(f.Data)))
				return
			}
			p.sent = p.sent[1:]
		})
	}
	err := b.m.ResetFor(8)
	if err == nil {
		err = b.ticks(60)
	}
	up = true
	done := func() bool { return ports[0].left+ports[1].left+len(ports[0].sent)+len(ports[1].sent) == 0 }
	for n := 0; err == nil && !done(); n++ {
		if err = b.ticks(1); n > 600*frames+60000 {
			err = fmt.Errorf("%d and %d frames are still to come", len(ports[0].sent)+ports[0].left, len(ports[1].sent)+ports[1].left)
		}
	}
	for i, p := range ports {
		if err == nil && p.err != nil {
			err = p.err
		}
		if n := p.mac.Underruns(); err == nil && n > 0 {
			err = fmt.Errorf("port %s ran dry %d times", cutPorts[i].name, n)
		}
	}
	return err
}
